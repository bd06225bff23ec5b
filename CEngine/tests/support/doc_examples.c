/*
 * support/doc_examples.c -- reads the examples of a page and compares the answers.
 */
#include "support/doc_examples.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* matches -- whether a text is what a pattern says, in which an ellipsis stands for anything. */
static bool matches(const char *pattern, const char *text) {
    static const char ellipsis[] = "…";
    const char *wild = strstr(pattern, ellipsis);
    if (wild == NULL)
        return strcmp(pattern, text) == 0;
    size_t head = (size_t)(wild - pattern);
    if (strncmp(pattern, text, head) != 0)
        return false;
    for (const char *rest = text + head;; rest++) {
        if (matches(wild + sizeof ellipsis - 1, rest))
            return true;
        if (*rest == '\0')
            return false;
    }
}

/* object_end -- after the JSON object that a text begins with, or NULL. */
static const char *object_end(const char *text) {
    unsigned depth = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && *text == '{')
            depth++;
        else if (!quoted && *text == '}' && --depth == 0)
            return text + 1;
    }
    return NULL;
}

/* command_of -- the command that a request in short stands for; the caller frees it. */
static char *command_of(const char *request) {
    const char *query = strchr(request, '{');
    const char *end = query != NULL ? object_end(query) : NULL;
    const char *hints = end != NULL && *end == ' ' ? end + 1 : "{}";
    if (!CHECK(end != NULL && query > request && query[-1] == ' ' && *hints == '{'))
        check_note("not an example: %s", request);
    REQUIRE(end != NULL && query > request && *hints == '{');
    size_t room = strlen(request) + 200;
    char *command = malloc(room);
    REQUIRE(command != NULL);
    snprintf(command, room,
             "{\"op\": \"find\", \"collection\": \"%.*s\", \"query\": %.*s, \"hints\": "
             "{\"$fields\": {\"_id\": 1}%s%s}",
             (int)(query - 1 - request), request, (int)(end - query), query,
             hints[1] == '}' ? "" : ", ", hints + 1);
    return command;
}

/* keep_ids -- of an answer with documents of an `_id` each, turns the text into the array of
 * ids. */
static void keep_ids(char *answer) {
    static const char head[] = "{\"ok\": true, \"documents\": ", id[] = "{\"_id\": ";
    char *to = answer;
    if (strncmp(answer, head, sizeof head - 1) != 0)
        return;
    for (const char *from = answer + sizeof head - 1; *from != '\0';) {
        const char *end = strncmp(from, id, sizeof id - 1) == 0 ? object_end(from) : NULL;
        if (end != NULL) {
            from += sizeof id - 1;
            memmove(to, from, (size_t)(end - 1 - from));
            to += end - 1 - from;
            from = end;
        } else {
            *to++ = *from++;
        }
    }
    to[-1] = '\0'; /* the brace of the whole answer */
}

/* same -- a failed check, with what was asked, unless an answer is as it should be. */
static void same(const char *request, const char *expected, const char *answer) {
    if (!CHECK(matches(expected, answer)))
        check_note("%s\nshould be %s\nis        %s", request, expected, answer);
}

/* run_command -- runs a command; the answer's code must be that of the status. */
static char *run_command(tansu_db *db, const char *command) {
    char *answer = NULL, code[100];
    tansu_status status = tansu_execute_json(db, command, &answer);
    REQUIRE(answer != NULL);
    snprintf(code, sizeof code, "\"code\": \"%s\"", tansu_status_name(status));
    CHECK(status == TANSU_OK
              ? strncmp(answer, "{\"ok\": true", 11) == 0
              : strncmp(answer, "{\"ok\": false", 12) == 0 && strstr(answer, code) != NULL);
    tansu_buffer bson = TANSU_BUFFER_INIT;
    CHECK_STATUS(TANSU_OK, tansu_json_to_bson(answer, SIZE_MAX, &bson, NULL));
    tansu_buffer_free(&bson);
    return answer;
}

void examples_ask(tansu_db *db, const char *request, const char *expected) {
    char *answer = run_command(db, request);
    same(request, expected, answer);
    tansu_free(answer);
}

/* ask_short -- the same for a query in short. */
static void ask_short(tansu_db *db, const char *request, const char *expected) {
    char *command = command_of(request), *answer = run_command(db, command);
    keep_ids(answer);
    same(request, expected, answer);
    tansu_free(answer);
    free(command);
}

unsigned examples_run(const char *page) {
    size_t size;
    char *text = repo_file_read(page, &size), *request = NULL;
    tansu_db *db = NULL;
    unsigned examples = 0;
    bool fenced = false;
    /* The index of words of this page has stems. */
    bool stems = strstr(page, "query-language") != NULL;
    REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        if (strncmp(line, "```", 3) == 0) {
            fenced = !fenced && strcmp(line, "```json") == 0;
            CHECK(request == NULL);
        } else if (fenced && request != NULL) {
            if ((strstr(request, "$regex") == NULL || library_pcre2()) &&
                (!stems || strstr(request, "notes") == NULL || library_stemmer()))
                (*request == '{' ? examples_ask : ask_short)(db, request, line);
            request = NULL;
            examples++;
        } else if (fenced && CHECK(strncmp(line, "> ", 2) == 0)) {
            request = line + 2;
        }
    }
    tansu_close(db);
    free(text);
    return examples;
}
