/*
 * support/calls/dump_calls.c -- dumps in memory, and loads from there.
 */
#include "support/calls/dump_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

/* append -- a writer of a dump. */
static int append(void *context, const void *bytes, size_t size) {
    tansu_buffer *text = context;
    const size_t all = text->size + size;
    uint8_t *data = realloc(text->data, all);
    if (data == NULL)
        return 0;
    memcpy(data + text->size, bytes, size);
    *text = (tansu_buffer){.data = data, .size = all, .capacity = all};
    return 1;
}

tansu_buffer dump_all(tansu_db *db) {
    tansu_buffer dump = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_dump(db, NULL, append, &dump, TANSU_NO_DOCUMENT, NULL, NULL, NULL, &call_error),
             &call_error);
    return dump;
}

/* What is still to be loaded. */
typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static ptrdiff_t give(void *context, void *bytes, size_t size) {
    source *s = context;
    const size_t part = size < s->left ? size : s->left;
    memcpy(bytes, s->at, part);
    s->at += part;
    s->left -= part;
    return (ptrdiff_t)part;
}

tansu_status load_bytes(tansu_db *db, const void *text, size_t size, tansu_document options) {
    source s = {text, size};
    return tansu_load(db, give, &s, options, NULL, NULL, NULL, &call_error);
}

tansu_status load_text(tansu_db *db, const void *text, size_t size, const char *options) {
    bson_t *o = bson_from_text(options);
    tansu_status status = load_bytes(db, text, size, document_of(o));
    bson_destroy(o);
    return status;
}
