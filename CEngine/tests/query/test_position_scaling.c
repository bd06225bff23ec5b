/*
 * test_position_scaling.c -- which element of an array made a query match (`path.$`) takes work in
 * proportion to the query plus the array: each is made with n and with 2 n parts, and the tests and
 * values that are looked at may grow to a little more than twice as many. No times are measured.
 */
#include "query/match/first_element.h"
#include "query/parse/parsed_query.h"
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTS 1500

/* bson_of -- a document out of pieces, which may have their number in them. */
static bson_t *bson_of(const char *open, const char *before, const char *after, const char *close,
                       int parts) {
    size_t room = 100 + (size_t)parts * 60, size;
    char *json = malloc(room);
    REQUIRE(json != NULL);
    size = (size_t)snprintf(json, room, "%s", open);
    for (int i = 0; i < parts; i++)
        size += (size_t)snprintf(json + size, room - size, "%s%s%d%s", i == 0 ? "" : ",", before, i,
                                 after);
    snprintf(json + size, room - size, "%s", close);
    bson_t *doc = bson_from_text(json);
    free(json);
    return doc;
}

/* position_steps -- the tests and values that finding the element of "a.$" looks at. */
static uint64_t position_steps(const bson_t *query, const bson_t *doc) {
    struct query *q;
    tansu_error error;
    match_context context = {.status = TANSU_OK};
    uint32_t position;
    path array;
    REQUIRE(CHECK_OK(query_compile(bson_get_data(query), query->len, NULL, 0, NULL, &q, &error),
                     &error));
    REQUIRE(path_parse(&array, NULL, "a", 1, &error) == TANSU_OK);
    CHECK(match_first_element(q->root, &context, bson_get_data(doc), doc->len, &array, true,
                              &position));
    CHECK_STATUS(TANSU_OK, context.status);
    uint64_t steps = context.steps;
    path_free(&array);
    match_context_free(&context);
    query_free(q);
    return steps;
}

static void a_position_takes_no_product_of_query_and_array(void) {
    static const char *const queries[][4] = {
        {"{'$and':[", "{'a':", "}", "]}"},
        {"{'a':{'$all':[", "", "", "]}}"},
        {"{'$or':[", "{'a':", "}", "]}"},
        {"{'$and':[", "{'a':{'$gte':", "}}", "]}"},
        {"{'$and':[", "{'a':{'$lte':", "}}", "]}"},
        {"{'$and':[", "{'a':{'$ne':-", "}}", ",{'a':7}]}"},
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        uint64_t steps[2];
        for (int turn = 0; turn < 2; turn++) {
            bson_t *query =
                bson_of(queries[i][0], queries[i][1], queries[i][2], queries[i][3], PARTS << turn);
            bson_t *doc = bson_of("{'a':[", "", "", "]}", PARTS << turn);
            steps[turn] = position_steps(query, doc);
            bson_destroy(query);
            bson_destroy(doc);
        }
        if (!CHECK(steps[0] > PARTS / 2 && steps[1] <= 27 * (steps[0] + 100) / 10))
            check_note("%s%s: %llu steps, then %llu", queries[i][0], queries[i][1],
                       (unsigned long long)steps[0], (unsigned long long)steps[1]);
    }
}

int main(void) {
    RUN(a_position_takes_no_product_of_query_and_array);
    return check_finish();
}
