/*
 * test_json_commands.c -- commands in JSON form: requests are validated, and transactions are
 * atomic.
 */
#include "log/format.h"
#include "support/check.h"
#include "support/doc_examples.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* open_memory -- a new database. */
static tansu_db *open_memory(void) {
    tansu_db *db = NULL;
    REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
    return db;
}

/* requests_are_validated -- each fault is named. */
static void requests_are_validated(void) {
    tansu_db *db = open_memory();
    static const char *const cases[][2] = {
        {"", "{\"ok\": false, \"error\": {\"code\": \"INVALID_JSON\", …, \"offset\": 0}}"},
        {"[]", "{\"ok\": false, \"error\": {\"code\": \"INVALID_JSON\", …\"offset\": 0}}"},
        {"{}", "…\"INVALID_COMMAND\"…needs the member \\\"op\\\"…"},
        {"{\"op\": 1}", "…\"INVALID_COMMAND\"…\\\"op\\\" must be a text…\"path\": \"op\"…"},
        {"{\"op\": \"find\\u0000\", \"collection\": \"c\"}", "…\"INVALID_COMMAND\"…"},
        {"{\"op\": \"Find\", \"collection\": \"c\"}", "…\"INVALID_COMMAND\"…\"path\": \"Find\"…"},
        {"{\"op\": \"find\", \"collection\": \"c\\u0000d\"}", "…\"INVALID_COMMAND\"…NUL…"},
        {"{\"op\": \"find\", \"collection\": \"c\", \"query\": []}", "…must be an object…"},
        {"{\"op\": \"find\", \"collection\": \"c\", \"hints\": 1}", "…must be an object…"},
        {"{\"op\": \"find\", \"collection\": \"c\", \"canonical\": 1}", "…must be true or false…"},
        {"{\"op\": \"find\", \"collection\": \"c\", \"id\": 1}", "…has no member \\\"id\\\"…"},
        {"{\"op\": \"get\", \"collection\": \"c\"}", "…needs \\\"id\\\", or \\\"ids\\\"…"},
        {"{\"op\": \"save\", \"collection\": \"c\", \"documents\": {}}", "…must be an array…"},
        {"{\"op\": \"save\", \"collection\": \"c\", \"documents\": [{}, 1]}",
         "…\"INVALID_COMMAND\"…\"path\": \"documents\", \"document\": 1}}"},
        {"{\"op\": \"remove\", \"collection\": \"c\", \"id\": 1, \"query\": {}}",
         "…\"id\\\" alone…"},
        {"{\"op\": \"remove\", \"collection\": \"c\", \"id\": 1, \"hints\": {}}",
         "…\"id\\\" alone…"},
        {"{\"op\": \"sync\", \"collection\": \"c\"}", "…has no member \\\"collection\\\"…"},
        {"{\"op\": \"transaction\"}", "…needs the member \\\"commands\\\"…"},
        {"{\"op\": \"transaction\", \"commands\": [1]}",
         "…\"path\": \"commands\", \"command\": 0…"},
        {"{\"op\": \"find\", \"op\": \"find\"}", "…\"INVALID_JSON\"…\\\"op\\\" comes twice…"},
        {"{\"op\": \"verify\", \"collection\": \"c\"}", "…has no member \\\"collection\\\"…"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        examples_ask(db, cases[i][0], cases[i][1]);
    examples_ask(db, "{\"op\": \"collections\"}", "{\"ok\": true, \"collections\": []}");
    char *answer = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_execute_json(db, NULL, &answer));
    CHECK(answer != NULL);
    tansu_free(answer);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_execute_json(NULL, "{\"op\": \"sync\"}", &answer));
    CHECK(answer != NULL);
    tansu_free(answer);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_execute_json(db, "{}", NULL));
    tansu_close(db);
}

/* transactions_are_whole -- whatever command fails, nothing of any is kept, and the next may
 * write. */
static void transactions_are_whole(void) {
    static const char *const failing[] = {
        "{\"op\": \"insert\", \"collection\": \"a\", \"documents\": [{\"_id\": 1}]}",
        "{\"op\": \"find\", \"collection\": \"a\", \"query\": {\"$no\": 1}}",
        "{\"op\": \"dropCollection\", \"collection\": \"none\"}",
        "{\"op\": \"sync\"}",
        "{\"op\": \"verify\"}",
        "{\"op\": \"compact\"}",
        "{\"op\": \"no\"}",
        "{\"op\": \"update\"}",
        "7",
    };
    tansu_db *db = open_memory();
    examples_ask(
        db, "{\"op\": \"save\", \"collection\": \"a\", \"documents\": [{\"_id\": 1, \"n\": 1}]}",
        "{\"ok\": true, \"ids\": [1]}");
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        char request[1024];
        snprintf(
            request, sizeof request,
            "{\"op\": \"transaction\", \"commands\": [{\"op\": \"remove\", \"collection\": \"a\", "
            "\"query\": {}}, {\"op\": \"createIndex\", \"collection\": \"b\", \"keys\": "
            "{\"x\": 1}}, {\"op\": \"save\", \"collection\": \"a\", \"documents\": "
            "[{\"_id\": 1}]}, %s]}",
            failing[i]);
        examples_ask(db, request, "{\"ok\": false, …\"command\": 3…}}");
        examples_ask(db, "{\"op\": \"find\", \"collection\": \"a\"}",
                     "{\"ok\": true, \"documents\": [{\"_id\": 1, \"n\": 1}]}");
        examples_ask(db, "{\"op\": \"collections\"}",
                     "{\"ok\": true, \"collections\": [{\"name\": \"a\", …}]}");
    }
    examples_ask(
        db,
        "{\"op\": \"transaction\", \"canonical\": true, \"commands\": [{\"op\": \"get\", "
        "\"collection\": \"a\", \"id\": 1}, {\"op\": \"get\", \"collection\": \"a\", \"id\": 1, "
        "\"canonical\": false}]}",
        "{\"ok\": true, \"results\": [{\"ok\": true, \"document\": {\"_id\": {\"$numberInt\": "
        "\"1\"}, "
        "\"n\": {\"$numberInt\": \"1\"}}}, {\"ok\": true, \"document\": {\"_id\": 1, \"n\": 1}}]}");
    tansu_close(db);
}

/* a_damaged_database_is_reported -- the error and all that was found. */
static void a_damaged_database_is_reported(void) {
    char *folder = folder_new();
    tansu_db *db = NULL;
    REQUIRE(tansu_open_path(folder, &db, NULL) == TANSU_OK);
    examples_ask(
        db, "{\"op\": \"save\", \"collection\": \"a\", \"documents\": [{\"_id\": 1, \"n\": 1}]}",
        "{\"ok\": true, \"ids\": [1]}");
    file_flip(folder_join(folder, "log/00000001.seg"), SEGMENT_HEADER_SIZE + 60, 2);
    examples_ask(
        db, "{\"op\": \"verify\"}",
        "{\"ok\": false, \"error\": {\"code\": \"CORRUPT\", \"message\": \"…\", \"path\": "
        "\"log/00000001.seg\", \"offset\": 64}, \"report\": {\"ok\": false, …\"problems\": "
        "[{\"file\": \"log/00000001.seg\", \"offset\": 64, …}], \"problemCount\": 1}}");
    tansu_close(db);
    folder_end(folder);
}

/* documents_may_be_as_deep_as_anywhere -- what lies around them in a request does not count. */
static void documents_may_be_as_deep_as_anywhere(void) {
    tansu_db *db = open_memory();
    for (int depth = TANSU_MAX_DEPTH; depth <= TANSU_MAX_DEPTH + 1; depth++) {
        char document[2048] = "{\"_id\": 1", request[4096];
        for (int i = 1; i < depth; i++)
            strcat(document, i == 1 ? ", \"a\": {" : "\"a\": {");
        for (int i = 0; i < depth; i++)
            strcat(document, "}");
        snprintf(
            request, sizeof request,
            "{\"op\": \"transaction\", \"commands\": [{\"op\": \"save\", \"collection\": \"c\", "
            "\"documents\": [%s]}]}",
            document);
        examples_ask(db, request, depth == TANSU_MAX_DEPTH ? "{\"ok\": true…" : "…\"TOO_LARGE\"…");
    }
    tansu_close(db);
}

/* answers_may_be_long -- twenty thousand documents in one request and in one answer. */
static void answers_may_be_long(void) {
    enum { COUNT = 20000 };
    tansu_db *db = open_memory();
    char *request = malloc((size_t)COUNT * 64 + 100), *to = request, *answer = NULL;
    to += sprintf(to, "{\"op\": \"save\", \"collection\": \"c\", \"documents\": [");
    for (int i = 0; i < COUNT; i++)
        to += sprintf(to, "%s{\"_id\": %d, \"text\": \"some text \\u00e9\"}", i > 0 ? ", " : "", i);
    strcpy(to, "]}");
    CHECK_STATUS(TANSU_OK, tansu_execute_json(db, request, &answer));
    tansu_free(answer);
    CHECK_STATUS(TANSU_OK,
                 tansu_execute_json(db, "{\"op\": \"find\", \"collection\": \"c\"}", &answer));
    tansu_buffer bson = TANSU_BUFFER_INIT;
    CHECK_STATUS(TANSU_OK, tansu_json_to_bson(answer, SIZE_MAX, &bson, NULL));
    int found = 0;
    for (const char *p = answer; (p = strstr(p, "\"some text é\"")) != NULL; p++)
        found++;
    CHECK_INT(COUNT, found);
    tansu_buffer_free(&bson);
    tansu_free(answer);
    free(request);
    tansu_close(db);
}

int main(void) {
    RUN(requests_are_validated);
    RUN(transactions_are_whole);
    RUN(a_damaged_database_is_reported);
    RUN(documents_may_be_as_deep_as_anywhere);
    RUN(answers_may_be_long);
    return check_finish();
}
