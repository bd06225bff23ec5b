/*
 * rules/deny_error.c -- the error for documents whose removal a reference denies.
 */
#include "rules/deny_error.h"

#include "bson/json/json.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>

/* Documents that a message names. */
#define NAMED 5

/* append_id -- appends the `_id` of a document as JSON to a list; nothing if it cannot be read. */
static bool append_id(const collection_state *state, const read_context *rctx, uint64_t rid,
                      tansu_buffer *text) {
    doc_ref ref;
    uint32_t size;
    doc_value id;
    if (read_find(rctx, state, rid, &ref, NULL) != TANSU_OK)
        return true;
    const uint8_t *doc = read_document(rctx, ref, &size);
    return !doc_find_id(doc, size, &id) || ((text->size == 0 || buffer_append(text, ", ", 2)) &&
                                            json_write_value(text, &id, false));
}

/* describe -- the error for `first` and the others like it. */
static tansu_status describe(const denial *first, const denial *end, const document_set *removed,
                             const snapshot *v, const read_context *rctx, tansu_error *error) {
    const collection_state *state = snapshot_collection_by_id(v, first->place.collection);
    tansu_buffer ids = TANSU_BUFFER_INIT;
    size_t count = 0;
    bool written = true;
    for (const denial *d = first; d < end; d++) {
        if (d->by != first->by || document_set_has(removed, d->place))
            continue;
        if (count++ < NAMED)
            written = written && append_id(state, rctx, d->place.rid, &ids);
    }
    char more[40] = "";
    if (count > NAMED)
        snprintf(more, sizeof more, " and %zu more", count - NAMED);
    const bool shown = written && ids.size <= 240 && buffer_append_byte(&ids, 0);
    error_set(
        error, TANSU_E_REFERENCED, state->name,
        "Documents of \"%s\" refer by \"%.60s\" to documents of \"%s\" that would be removed%s"
        "%s%s; remove or change them first",
        state->name, first->by->path.text, first->by->to, shown ? ": " : "",
        shown ? (const char *)ids.data : "", more);
    tansu_buffer_free(&ids);
    return TANSU_E_REFERENCED;
}

tansu_status deny_check(const denial *denials, size_t count, const document_set *removed,
                        const snapshot *v, const read_context *rctx, tansu_error *error) {
    for (size_t i = 0; i < count; i++)
        if (!document_set_has(removed, denials[i].place))
            return describe(&denials[i], denials + count, removed, v, rctx, error);
    return TANSU_OK;
}
