/*
 * test_matcher.c -- one document asked by a query, without a database.
 */
#include "support/calls/call.h"
#include "support/check.h"

#include <string.h>

/* bson -- JSON with single quotes as BSON; the caller frees it. */
static tansu_buffer bson(const char *json) {
    char text[1000];
    size_t size = strlen(json);
    for (size_t i = 0; i <= size; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_json_to_bson(text, SIZE_MAX, &result, &call_error), &call_error);
    return result;
}

static tansu_status compile(const char *query, tansu_matcher **matcher) {
    tansu_buffer q = bson(query);
    tansu_status status = tansu_matcher_new((tansu_document){q.data, q.size}, matcher, &call_error);
    tansu_buffer_free(&q);
    return status;
}

static tansu_status ask(tansu_matcher *matcher, const char *document, int *matches) {
    tansu_buffer d = bson(document);
    tansu_status status =
        tansu_matcher_ask(matcher, (tansu_document){d.data, d.size}, matches, &call_error);
    tansu_buffer_free(&d);
    return status;
}

static bool matches(const char *query, const char *document) {
    tansu_matcher *matcher;
    int answer = -1;
    CHECK_OK(compile(query, &matcher), &call_error);
    CHECK_OK(ask(matcher, document, &answer), &call_error);
    tansu_matcher_free(matcher);
    return answer == 1;
}

static void queries_mean_what_they_mean_in_a_database(void) {
    CHECK(matches("{}", "{}"));
    CHECK(matches("{'a.b': {'$gt': 1}}", "{'a': [{'b': 1}, {'b': 2}]}"));
    CHECK(!matches("{'a.b': {'$gt': 2}}", "{'a': [{'b': 1}, {'b': 2}]}"));
    CHECK(matches("{'s': {'$regex': '^\\\\d{3}$'}}", "{'s': '123'}"));
    CHECK(!matches("{'s': {'$regex': '^\\\\d{3}$'}}", "{'s': '1234'}"));
    CHECK(matches("{'v': {'$in': [{'k': 1}]}}", "{'v': {'k': {'$numberDouble': '1.0'}}}"));
    CHECK(matches("{'v': {'$in': [{'k': [1, 2]}]}}", "{'v': {'k': [1, 2]}}"));
    CHECK(!matches("{'v': {'$in': [{'k': 1}]}}", "{'v': {'k': [1, 2]}}"));
}

static void a_matcher_is_asked_again_and_again(void) {
    tansu_matcher *matcher;
    int answer;
    CHECK_OK(compile("{'s': {'$regex': '^(a+)+$'}}", &matcher), &call_error);
    /* The cost of one match is bounded, and the matcher stays usable after a match that costs
     * too much. */
    const char *hard = "{'s': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'}";
    CHECK_STATUS(TANSU_E_INVALID_QUERY, ask(matcher, hard, &answer));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(ask(matcher, i % 2 ? "{'s': 'aa'}" : "{'s': 'ab'}", &answer), &call_error);
        CHECK_INT(i % 2, answer);
    }
    tansu_matcher_free(matcher);
    tansu_matcher_free(NULL);
}

static void bad_input_is_an_error(void) {
    tansu_matcher *matcher;
    int answer;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, compile("{'a': {'$nope': 1}}", &matcher));
    CHECK(matcher == NULL);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, compile("{'a': {'$regex': '('}}", &matcher));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, compile("{'$do': {}}", &matcher));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_matcher_new((tansu_document){"junk", 4}, &matcher, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_matcher_new(TANSU_NO_DOCUMENT, NULL, &call_error));
    CHECK_OK(tansu_matcher_new(TANSU_NO_DOCUMENT, &matcher, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_matcher_ask(matcher, (tansu_document){"junk", 4}, &answer, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_matcher_ask(matcher, TANSU_NO_DOCUMENT, &answer, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_matcher_ask(NULL, (tansu_document){"", 0}, &answer, NULL));
    tansu_matcher_free(matcher);
}

int main(void) {
    RUN(queries_mean_what_they_mean_in_a_database);
    RUN(a_matcher_is_asked_again_and_again);
    RUN(bad_input_is_an_error);
    return check_finish();
}
