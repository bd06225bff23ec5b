/*
 * index/text_entries.c -- the entries of a document in an index of words.
 */
#include "index/text_entries.h"

#include "index/index_batch.h"
#include "index/text_chunk.h"
#include "index/text_document.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* What entries are made with, kept from document to document. */
typedef struct text_scratch {
    text_document document;
    tansu_buffer keys; /* term, 00, field, position (4 bytes, big-endian) of each occurrence */
    batch_item *items;
    size_t count, capacity;
} text_scratch;

/* After the term of an occurrence. */
#define OCCURRENCE_TAIL 6

void text_scratch_free(struct text_scratch *s) {
    if (!s)
        return;
    text_document_free(&s->document);
    tansu_buffer_free(&s->keys);
    free(s->items);
    free(s);
}

/* add_occurrence -- notes where a term is; false when memory is exhausted. */
static bool add_occurrence(text_scratch *s, const uint8_t *term, uint32_t size, uint32_t field,
                           uint32_t position) {
    if (!ARRAY_RESERVE(s->items, s->count, s->capacity, 1) ||
        !buffer_reserve(&s->keys, size + OCCURRENCE_TAIL))
        return false;
    s->items[s->count++] = (batch_item){.offset = (uint32_t)s->keys.size,
                                        .size = (size + OCCURRENCE_TAIL) & INT32_MAX};
    uint8_t *at = s->keys.data + s->keys.size;
    memcpy(at, term, size);
    at[size] = 0;
    at[size + 1] = (uint8_t)field;
    store_be32(at + size + 2, position);
    s->keys.size += size + OCCURRENCE_TAIL;
    return true;
}

/* sort_occurrences -- all occurrences of a document, by term, field and position. */
static bool sort_occurrences(text_scratch *s) {
    const text_document *d = &s->document;
    s->keys.size = 0;
    s->count = 0;
    for (uint32_t i = 0; i < d->string_count; i++) {
        const text_string *string = &d->strings[i];
        for (uint32_t k = 0; k < string->count; k++) {
            const text_token *token = &d->tokens.items[string->first + k];
            if (!add_occurrence(s, d->tokens.terms.data + token->term, token->term_size,
                                string->field, token->position))
                return false;
        }
    }
    return batch_sort(s->keys.data, s->items, s->count, NULL);
}

/* put_varint -- appends one; there is room. */
static void put_varint(tansu_buffer *out, uint64_t number) {
    out->size = (size_t)(varint_put(out->data + out->size, number) - out->data);
}

/* An entry that is being made. */
typedef struct making {
    index_entries *entries;
    const text_scratch *s;
    uint32_t fields; /* of the index */
    bool positions;
    uint64_t length;
    uint8_t rid[TEXT_RID_SIZE];
} making;

/* end_entry -- the entry that began at `start`. */
static bool end_entry(making *m, size_t start) {
    index_entries *entries = m->entries;
    if (!ARRAY_RESERVE(entries->list, entries->count, entries->capacity, 1))
        return false;
    entries->list[entries->count++] =
        (struct index_entry){(uint32_t)start, (uint32_t)(entries->bytes.size - start)};
    return true;
}

/* position_of, field_of -- of an occurrence. */
static uint32_t position_of(const text_scratch *s, size_t i) {
    return load_be32(s->keys.data + s->items[i].offset + s->items[i].size - 4);
}
static uint8_t field_of(const text_scratch *s, size_t i) {
    return s->keys.data[s->items[i].offset + s->items[i].size - 5];
}

/* same_term -- whether two occurrences are of one term. */
static bool same_term(const text_scratch *s, size_t i, size_t k) {
    const batch_item *a = &s->items[i], *b = &s->items[k];
    return a->size == b->size && bytes_equal(s->keys.data + a->offset, s->keys.data + b->offset,
                                             a->size - OCCURRENCE_TAIL);
}

/* put_term -- the entry of the term with the occurrences from `from` to `end`. A word whose stem is
 * that of its part is at one position twice. */
static bool put_term(making *m, size_t from, size_t end) {
    tansu_buffer *out = &m->entries->bytes;
    const text_scratch *s = m->s;
    const batch_item *first = &s->items[from];
    size_t start = out->size, term = first->size - OCCURRENCE_TAIL + 1;
    if (!buffer_reserve(out, term + TEXT_RID_SIZE + 2 * VARINT_MAX + (end - from) * 5 +
                                 TANSU_MAX_INDEX_PATHS * VARINT_MAX))
        return false;
    memcpy(out->data + start, s->keys.data + first->offset, term);
    memcpy(out->data + start + term, m->rid, TEXT_RID_SIZE);
    out->size += term + TEXT_RID_SIZE;
    put_varint(out, m->length);
    uint32_t fields = 0;
    for (size_t i = from; i < end; i++)
        fields |= (uint32_t)1 << field_of(s, i);
    for (size_t i = from, next; i < end; i = next) {
        uint32_t count = 1;
        for (next = i + 1; next < end && field_of(s, next) == field_of(s, i); next++)
            count += position_of(s, next) != position_of(s, next - 1);
        put_varint(out, i == from && m->fields > 1 ? (uint64_t)(count - 1) << m->fields | fields
                                                   : count - 1);
        if (!m->positions)
            continue;
        put_varint(out, position_of(s, i));
        for (size_t k = i + 1; k < next; k++)
            if (position_of(s, k) != position_of(s, k - 1))
                put_varint(out, position_of(s, k) - position_of(s, k - 1) - 1);
    }
    return end_entry(m, start);
}

/* put_length -- the entry of the document's length. */
static bool put_length(making *m) {
    tansu_buffer *out = &m->entries->bytes;
    const uint8_t head[] = {0, TEXT_LENGTHS};
    size_t start = out->size;
    if (!buffer_append(out, head, sizeof head) || !buffer_append(out, m->rid, TEXT_RID_SIZE) ||
        !buffer_reserve(out, VARINT_MAX))
        return false;
    put_varint(out, m->length);
    return end_entry(m, start);
}

tansu_status text_entries_make(index_entries *entries, const index_definition *definition,
                               const uint8_t *doc, size_t size, uint64_t rid, tansu_error *error) {
    if (!entries->text)
        entries->text = calloc(1, sizeof *entries->text);
    text_scratch *s = entries->text;
    if (!s)
        return error_memory(error);
    tansu_status status = text_document_read(&s->document, definition, doc, size, error);
    if (status != TANSU_OK || s->document.tokens.count == 0)
        return status;
    uint64_t length = text_document_length(&s->document, definition);
    making m = {.entries = entries,
                .s = s,
                .fields = text_fields(definition),
                .positions = !definition->text->leaves_positions,
                .length = length > UINT32_MAX ? UINT32_MAX : length};
    text_rid_put(m.rid, rid);
    if (!sort_occurrences(s) || !put_length(&m))
        return error_memory(error);
    for (size_t from = 0, end; from < s->count; from = end) {
        for (end = from + 1; end < s->count && same_term(s, from, end);)
            end++;
        if (!put_term(&m, from, end))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* ---- Entries of the tree ---- */

bool text_entry_pad(tansu_buffer *entry) {
    if (!buffer_reserve(entry, TEXT_SPARE))
        return false;
    memset(entry->data + entry->size, 0, TEXT_SPARE);
    return true;
}

bool text_entry_take(const tree_cursor *cursor, const uint8_t *prefix, size_t size,
                     tansu_buffer *entry, bool *found) {
    *found = tree_cursor_begins(cursor, prefix, size);
    return !*found || (tree_cursor_key(cursor, entry) && text_entry_pad(entry));
}

bool text_lengths_read(const uint8_t *entry, size_t size, uint32_t *lengths) {
    const size_t head = 2 + TEXT_RID_SIZE + 1;
    if (size < head)
        return false;
    const uint8_t *at = entry + head;
    uint32_t width = entry[head - 1];
    if ((width != 1 && width != 2 && width != 4) || (size - head) % width != 0 ||
        (size - head) / width > TEXT_BLOCK)
        return false;
    memset(lengths, 0, TEXT_BLOCK * sizeof *lengths);
    for (uint32_t i = 0; i < (size - head) / width; i++, at += width)
        lengths[i] = width == 1 ? *at : width == 2 ? (uint32_t)(at[0] | at[1] << 8) : load_u32(at);
    return true;
}

bool text_totals_read(const uint8_t *entry, size_t size, uint64_t *documents, uint64_t *length) {
    const uint8_t *at = entry + 2, *end = entry + size;
    return size > 2 && varint_take(&at, end, documents) && varint_take(&at, end, length) &&
           at == end;
}
