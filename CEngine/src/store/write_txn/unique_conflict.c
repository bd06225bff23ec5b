/*
 * store/write_txn/unique_conflict.c -- the error for a value that a unique index already holds.
 */
#include "store/write_txn/unique_conflict.h"

#include "bson/json/json.h"
#include "bson/value.h"
#include "bson/writer.h"
#include "util/buffer.h"
#include "util/error.h"

/* Bytes of JSON that a message shows of a value. */
#define SHOWN 160

/* value_text -- appends {path: value, …} as JSON. */
static bool value_text(const index_definition *definition, const doc_value *values,
                       tansu_buffer *json) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    writer w = {.out = &bson};
    size_t document = writer_begin(&w);
    for (uint32_t i = 0; i < definition->path_count; i++)
        writer_value(&w, definition->paths[i].text, &values[i]);
    bool done = writer_finish(&w, document) &&
                json_write_document(json, bson.data, bson.size, false) &&
                buffer_append_byte(json, 0);
    tansu_buffer_free(&bson);
    return done;
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

/* advice -- what to do about the values: documents without a field are the usual surprise. */
static const char *advice(const index_definition *definition, const doc_value *values) {
    uint32_t nulls = 0, missing = 0;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        nulls += value_kind_of(values[i].type) == KIND_NULL;
        missing += values[i].type == DOC_MISSING;
    }
    if (nulls == 0)
        return "give every document in it a value of its own";
    if (missing == definition->path_count && !definition->sparse)
        return "a missing field counts as null: create the index with the option \"sparse\", which "
               "leaves such documents out, or give every document a value of its own";
    if (nulls == definition->path_count)
        return definition->sparse
                   ? "remove the field instead of storing null, or give every document in it a "
                     "value of its own"
                   : "create the index with the option \"sparse\" and remove the field instead of "
                     "storing null, or give every document a value of its own";
    return "a missing field counts as null: create the index with a \"partialFilter\" that leaves "
           "such documents out, or give every document in it values of its own";
}

tansu_status unique_conflict_error(const char *collection, const index_definition *definition,
                                   const uint8_t *doc, size_t doc_size, const uint8_t *entry,
                                   size_t size, tansu_error *error) {
    doc_value values[TANSU_MAX_INDEX_PATHS];
    tansu_buffer json = TANSU_BUFFER_INIT;
    const char *shown = "a value", *remedy = "give every document in it a value of its own";
    if (doc != NULL && error != NULL) {
        index_entry_values(definition, doc, doc_size, entry, size, values);
        remedy = advice(definition, values);
        if (value_text(definition, values, &json)) {
            shown = (const char *)json.data;
            shorten((char *)json.data);
        }
    }
    error_set(error, TANSU_E_NOT_UNIQUE, definition->name,
              "Unique index \"%s\" of collection \"%s\" would contain %s twice; %s",
              definition->name, collection, shown, remedy);
    tansu_buffer_free(&json);
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
