/*
 * support/calls/aggregate_calls.c -- aggregations and distinct values as text.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/document_of.h"

#include "support/calls/query_calls.h"
#include "support/check.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char answer[1 << 16];

const char *aggregate_answer(tansu_status status, tansu_buffer *result, const tansu_error *error) {
    bson_t doc;
    if (status != TANSU_OK) {
        snprintf(answer, sizeof answer, "%s %s", tansu_status_name(status), error->context);
    } else {
        REQUIRE(bson_init_static(&doc, result->data, result->size));
        char *json = bson_as_relaxed_extended_json(&doc, NULL);
        snprintf(answer, sizeof answer, "%s", json);
        bson_free(json);
    }
    tansu_buffer_free(result);
    return answer;
}

const char *aggregate_text(tansu_db *db, const char *query, const char *group, const char *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t *q = bson_from_text(query), *g = bson_from_text(group), *h = bson_from_text(hints);
    tansu_status status = tansu_aggregate(db, NULL, "c", document_of(q), document_of(g),
                                          document_of(h), &result, &error);
    bson_destroy(q);
    bson_destroy(g);
    bson_destroy(h);
    return aggregate_answer(status, &result, &error);
}

const char *distinct_text(tansu_db *db, const char *path, const char *query, const char *hints) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_status status =
        tansu_distinct(db, NULL, "c", path, document_of(q), document_of(h), &result, &error);
    bson_destroy(q);
    bson_destroy(h);
    return aggregate_answer(status, &result, &error);
}
