/*
 * test_matcher.c -- one document asked by a query, without a database.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"
#include "support/random/random_operator.h"

#include <stdio.h>
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
    CHECK(matches("{'s': {'$regex': '^[0-9]{3}$'}}", "{'s': '123'}"));
    CHECK(!matches("{'s': {'$regex': '^[0-9]{3}$'}}", "{'s': '1234'}"));
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

/* random_condition -- a condition on one path: a value or an operator. */
static void random_condition(random_source *r, bson_t *query, const char *path) {
    bson_t operators;
    if (random_chance(r, 50)) {
        random_append_value(r, query, path, -1, 1);
        return;
    }
    BSON_APPEND_DOCUMENT_BEGIN(query, path, &operators);
    random_operator(r, &operators, random_next(r));
    bson_append_document_end(query, &operators);
}

/* answer_of -- 0 or 1, or -1 when the query or its cost is refused. */
static int answer_of(const bson_t *query, const bson_t *document) {
    tansu_matcher *matcher;
    int answer = -1;
    if (tansu_matcher_new(document_of(query), &matcher, &call_error) != TANSU_OK)
        return -1;
    if (tansu_matcher_ask(matcher, document_of(document), &answer, &call_error) != TANSU_OK)
        answer = -1;
    tansu_matcher_free(matcher);
    return answer;
}

/* A query with one field takes another way through the document than a query with several. Here the
 * second field is one that no document has, so both must have one answer: also when keys occur
 * twice, as they may in documents that are only asked, or values are of different kinds, in arrays,
 * or missing. */
static void one_field_means_the_same_as_with_another_that_is_missing(void) {
    static const char *const paths[] = {"a", "b", "c", "a.b", "a.0", "b.a.b", "zz"};
    random_source r = random_start(13);
    int answers[3] = {0};
    for (int round = 0; round < 20000; round++) {
        bson_t document = BSON_INITIALIZER, one = BSON_INITIALIZER;
        for (uint64_t fields = random_below(&r, 7); fields > 0; fields--)
            random_append_value(&r, &document, paths[random_below(&r, 3)], -1, 2);
        random_condition(&r, &one, paths[random_below(&r, sizeof paths / sizeof paths[0])]);
        bson_t *two = bson_copy(&one), absent;
        BSON_APPEND_DOCUMENT_BEGIN(two, "no such field", &absent);
        BSON_APPEND_BOOL(&absent, "$exists", false);
        bson_append_document_end(two, &absent);
        int answer = answer_of(&one, &document);
        if (!CHECK_INT(answer_of(two, &document), answer)) {
            char *query_text = bson_as_relaxed_extended_json(&one, NULL);
            char *text = bson_as_relaxed_extended_json(&document, NULL);
            fprintf(stderr, "query %s, document %s\n", query_text, text);
            bson_free(query_text);
            bson_free(text);
        }
        answers[answer + 1]++;
        bson_destroy(two);
        bson_destroy(&one);
        bson_destroy(&document);
    }
    CHECK(answers[1] > 500); /* both answers are frequent enough to mean something */
    CHECK(answers[2] > 500);
}

int main(void) {
    library_regex_start();
    RUN(one_field_means_the_same_as_with_another_that_is_missing);
    RUN(queries_mean_what_they_mean_in_a_database);
    if (library_pcre2())
        RUN(a_matcher_is_asked_again_and_again);
    RUN(bad_input_is_an_error);
    return check_finish();
}
