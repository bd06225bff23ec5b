/*
 * index/text_check.c -- the entries of documents in the chunks of an index of words.
 */
#include "index/text_check.h"

#include "index/text_entries.h"
#include "util/bytes.h"

#include <stdlib.h>
#include <string.h>

const char text_check_memory[] = "memory is exhausted";
static const char invalid[] = "an entry is invalid";

void text_check_begin(text_check *check, const index_definition *definition) {
    *check = (text_check){.form = text_form_of(definition)};
}

void text_check_end(text_check *check) {
    tansu_buffer_free(&check->entry);
    tansu_buffer_free(&check->bytes);
    tansu_buffer_free(&check->padded);
    free(check->counts);
    check->counts = NULL;
}

bool text_check_document(text_check *check, const uint8_t *entry, size_t size,
                         text_check_visitor visit, void *context) {
    if (entry[0] == 0) {
        visit(context, entry, size);
        return true;
    }
    const uint8_t *term_end = memchr(entry, 0, size), *end = entry + size;
    const uint8_t *at = term_end + 1 + TEXT_RID_SIZE, *head = at;
    uint64_t length;
    if (!varint_take(&at, end, &length) ||
        !buffer_set(&check->entry, entry, (size_t)(head - entry)) ||
        !buffer_append(&check->entry, at, (size_t)(end - at)))
        return false;
    visit(context, check->entry.data, check->entry.size);
    return true;
}

/* check_lengths -- the lengths of a block. */
static const char *check_lengths(text_check *check, const uint8_t *entry, size_t size,
                                 text_check_visitor visit, void *context) {
    const size_t head = 2 + TEXT_RID_SIZE;
    uint8_t made[2 + TEXT_RID_SIZE + VARINT_MAX] = {0, TEXT_LENGTHS};
    uint32_t lengths[TEXT_BLOCK];
    if (!text_lengths_read(entry, size, lengths))
        return invalid;
    for (uint32_t i = 0; i < TEXT_BLOCK; i++) {
        if (lengths[i] == 0)
            continue;
        text_rid_put(made + 2, text_rid_get(entry + 2) * TEXT_BLOCK + i);
        visit(context, made, (size_t)(varint_put(made + head, lengths[i]) - made));
        check->documents++;
        check->length += lengths[i];
    }
    return NULL;
}

/* check_chunk -- the documents of a chunk. */
static const char *check_chunk(text_check *check, const uint8_t *entry, size_t prefix, size_t size,
                               text_check_visitor visit, void *context) {
    const size_t head = prefix + TEXT_RID_SIZE;
    text_chunk chunk;
    text_posting postings[TEXT_CHUNK_MOST];
    if (!check->counts)
        check->counts = malloc(TEXT_CHUNK_MOST * check->form.fields * sizeof *check->counts);
    if (!check->counts || !buffer_set(&check->padded, entry, size) ||
        !text_entry_pad(&check->padded))
        return text_check_memory;
    chunk.counts = check->counts;
    check->bytes.size = 0;
    if (size <= head ||
        !text_chunk_open(&chunk, &check->form, check->padded.data + head, size - head,
                         text_rid_get(entry + prefix)) ||
        !text_chunk_decode(&chunk) || !text_chunk_postings(&chunk, postings, &check->bytes))
        return invalid;
    for (uint32_t i = 0; i < chunk.count; i++) {
        uint8_t rid[TEXT_RID_SIZE];
        text_rid_put(rid, postings[i].rid);
        if (!buffer_set(&check->entry, entry, prefix) ||
            !buffer_append(&check->entry, rid, sizeof rid) ||
            !buffer_append(&check->entry, postings[i].bytes, postings[i].size))
            return text_check_memory;
        visit(context, check->entry.data, check->entry.size);
    }
    return NULL;
}

const char *text_check_entry(text_check *check, const uint8_t *entry, size_t size,
                             text_check_visitor visit, void *context) {
    if (size >= 2 && entry[0] == 0 && entry[1] == TEXT_LENGTHS)
        return check_lengths(check, entry, size, visit, context);
    if (size >= 2 && entry[0] == 0 && entry[1] == TEXT_TOTALS)
        return text_totals_read(entry, size, &check->total_documents, &check->total_length)
                   ? NULL
                   : invalid;
    const uint8_t *end = memchr(entry, 0, size);
    if (!end || end == entry)
        return invalid;
    return check_chunk(check, entry, (size_t)(end - entry) + 1, size, visit, context);
}

bool text_check_totals(const text_check *check) {
    return check->documents == check->total_documents && check->length == check->total_length;
}
