/*
 * support/calls/update_calls.c -- updates as text.
 */
#include "support/calls/update_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

/* operations_of -- BSON from JSON by the engine's reader: libbson's takes $type for a kind of
 * value. */
static bson_t *operations_of(const char *json) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    if (json == NULL)
        return NULL;
    char *text = bson_strdup(json);
    for (char *p = text; *p != '\0'; p++) {
        if (*p == '\'')
            *p = '"';
    }
    REQUIRE(CHECK_OK(tansu_json_to_bson(text, SIZE_MAX, &bytes, &call_error), &call_error));
    bson_t *doc = bson_new_from_data(bytes.data, bytes.size);
    REQUIRE(doc != NULL);
    tansu_buffer_free(&bytes);
    bson_free(text);
    return doc;
}

/* outcome -- the answer of a call as relaxed JSON, or the status and the error's context. */
static const char *outcome(tansu_status status, const tansu_buffer *result) {
    static char text[1 << 16];
    bson_t doc;
    if (status != TANSU_OK) {
        snprintf(text, sizeof text, "%s %s", tansu_status_name(status), call_error.context);
    } else if (result->size == 0) {
        text[0] = '\0';
    } else {
        REQUIRE(bson_init_static(&doc, result->data, result->size));
        char *json = bson_as_relaxed_extended_json(&doc, NULL);
        snprintf(text, sizeof text, "%s", json);
        bson_free(json);
    }
    return text;
}

const char *update_text(tansu_db *db, tansu_txn *txn, const char *query, const char *operations,
                        const char *hints) {
    bson_t *q = bson_from_text(query), *u = operations_of(operations), *h = bson_from_text(hints);
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_update(db, txn, "c", document_of(q), document_of(u), document_of(h),
                                       &result, &call_error);
    const char *text = outcome(status, &result);
    tansu_buffer_free(&result);
    bson_destroy(q);
    bson_destroy(u);
    bson_destroy(h);
    return text;
}

const char *find_and_modify_text(tansu_db *db, const char *query, const char *operations,
                                 const char *hints, tansu_modify_mode mode) {
    bson_t *q = bson_from_text(query), *u = operations_of(operations), *h = bson_from_text(hints);
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_find_and_modify(db, NULL, "c", document_of(q), document_of(u),
                                                document_of(h), mode, &result, &call_error);
    const char *text = outcome(status, &result);
    tansu_buffer_free(&result);
    bson_destroy(q);
    bson_destroy(u);
    bson_destroy(h);
    return text;
}
