/*
 * store/write_txn/unique_conflict.c -- the error for a value that a unique index already holds.
 */
#include "store/write_txn/unique_conflict.h"

#include "util/buffer.h"
#include "util/error.h"

#include <bson/bson.h>

/* Bytes of JSON that a message shows of a value. */
#define SHOWN 160

/* value_document -- appends {path: value, …} as BSON. */
static bool value_document(const index_definition *definition, const doc_value *values,
                           tansu_buffer *bson) {
    static const uint8_t head[4] = {0};
    bool done = buffer_append(bson, head, sizeof head);
    for (uint32_t i = 0; done && i < definition->path_count; i++) {
        const char *text = definition->paths[i].text;
        uint8_t type = values[i].type == DOC_MISSING ? DOC_NULL : values[i].type;
        done = buffer_append_byte(bson, type) && buffer_append(bson, text, strlen(text) + 1) &&
               buffer_append(bson, values[i].data, values[i].size);
    }
    if (!done || !buffer_append_byte(bson, 0) || bson->size > INT32_MAX)
        return false;
    store_u32(bson->data, (uint32_t)bson->size);
    return true;
}

/* shorten -- cuts a text that is too long, between two characters. */
static void shorten(char *text) {
    size_t size = strlen(text);
    if (size <= SHOWN)
        return;
    size = SHOWN - 3;
    while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80)
        size--;
    memcpy(text + size, "...", 4);
}

tansu_status unique_conflict_error(const char *collection, const index_definition *definition,
                                   const uint8_t *doc, size_t doc_size, const uint8_t *entry,
                                   size_t size, tansu_error *error) {
    doc_value values[TANSU_MAX_INDEX_PATHS];
    tansu_buffer bson = TANSU_BUFFER_INIT;
    bson_t view;
    char *json = NULL;
    if (doc != NULL && error != NULL) {
        index_entry_values(definition, doc, doc_size, entry, size, values);
        if (value_document(definition, values, &bson) &&
            bson_init_static(&view, bson.data, bson.size))
            json = bson_as_relaxed_extended_json(&view, NULL);
    }
    tansu_buffer_free(&bson);
    if (json != NULL)
        shorten(json);
    error_set(error, TANSU_E_NOT_UNIQUE, definition->name,
              "Unique index \"%s\" of collection \"%s\" would contain %s twice; give every "
              "document in it a value of its own",
              definition->name, collection, json != NULL ? json : "a value");
    bson_free(json);
    return TANSU_E_NOT_UNIQUE;
}

tansu_status unique_conflict_of_build(const read_context *rctx, const collection_state *collection,
                                      const index_definition *definition,
                                      const index_conflict *conflict, tansu_error *error) {
    doc_ref ref;
    uint32_t size = 0;
    const uint8_t *doc = NULL;
    if (read_find(rctx, collection, conflict->rid, &ref, NULL) == TANSU_OK)
        doc = read_document(rctx, ref, &size);
    return unique_conflict_error(collection->name, definition, doc, size, conflict->entry.data,
                                 conflict->entry.size, error);
}
