/*
 * index/postings.c -- reading the chunks of an index of words.
 */
#include "index/postings.h"

#include "index/text_entries.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* damaged -- an entry that no index of words has. */
static tansu_status damaged(const text_reader *reader, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, reader->definition->name,
                     "Index \"%s\" has an invalid entry; rebuild it", reader->definition->name);
}

tansu_status text_reader_open(text_reader *reader, tree_store *store, const tree *entries,
                              const index_definition *definition, tansu_error *error) {
    const uint8_t key[] = {0, TEXT_TOTALS};
    tree_cursor cursor;
    tansu_buffer entry = TANSU_BUFFER_INIT;
    bool valid, found;
    *reader = (text_reader){.store = store,
                            .entries = entries,
                            .definition = definition,
                            .form = text_form_of(definition)};
    tree_cursor_init(&cursor, store, entries);
    tansu_status status = tree_cursor_seek(&cursor, key, sizeof key, &valid, error);
    if (status == TANSU_OK && valid) {
        if (!text_entry_take(&cursor, key, sizeof key, &entry, &found))
            status = error_memory(error);
        else if (found &&
                 !text_totals_read(entry.data, entry.size, &reader->documents, &reader->length))
            status = damaged(reader, error);
    }
    tree_cursor_end(&cursor);
    tansu_buffer_free(&entry);
    return status;
}

/* ---- The documents that have a term ---- */

/* open_chunk -- takes the chunk that the cursor is on, or is at the end. */
static tansu_status open_chunk(postings *p, bool valid, tansu_error *error) {
    const size_t head = p->prefix.size + TEXT_RID_SIZE;
    p->decoded = false;
    p->rid = NO_RID;
    bool found = false;
    if (valid && !text_entry_take(&p->cursor, p->prefix.data, p->prefix.size, &p->entry, &found))
        return error_memory(error);
    if (!found)
        return TANSU_OK;
    if (p->entry.size <= head ||
        !text_chunk_open(&p->chunk, &p->reader->form, p->entry.data + head, p->entry.size - head,
                         text_rid_get(p->entry.data + p->prefix.size)))
        return damaged(p->reader, error);
    p->rid = p->chunk.first;
    return TANSU_OK;
}

/* decode -- the documents of the chunk. */
static tansu_status decode(postings *p, tansu_error *error) {
    if (p->decoded)
        return TANSU_OK;
    if (!text_chunk_decode(&p->chunk))
        return damaged(p->reader, error);
    p->decoded = true;
    p->at = 0;
    p->rid = p->chunk.rids[0];
    return TANSU_OK;
}

tansu_status postings_begin(postings *p, const text_reader *reader, const uint8_t *term,
                            size_t size, tansu_error *error) {
    bool valid;
    p->reader = reader;
    p->prefix.size = 0;
    p->rid = NO_RID;
    tree_cursor_init(&p->cursor, reader->store, reader->entries);
    if (!p->chunk.counts)
        p->chunk.counts = malloc(TEXT_CHUNK_MOST * reader->form.fields * sizeof(uint32_t));
    if (!p->chunk.counts || !buffer_append(&p->prefix, term, size) ||
        !buffer_append_byte(&p->prefix, 0))
        return error_memory(error);
    tansu_status status =
        tree_cursor_seek(&p->cursor, p->prefix.data, p->prefix.size, &valid, error);
    if (status == TANSU_OK)
        status = open_chunk(p, valid, error);
    return status == TANSU_OK && p->rid != NO_RID ? decode(p, error) : status;
}

void postings_end(postings *p) {
    tree_cursor_end(&p->cursor);
    tansu_buffer_free(&p->prefix);
    tansu_buffer_free(&p->entry);
    free(p->chunk.counts);
    *p = (postings){.rid = NO_RID};
}

/* next_chunk -- opens the chunk behind the current one. */
static tansu_status next_chunk(postings *p, tansu_error *error) {
    bool valid;
    tansu_status status = tree_cursor_next(&p->cursor, &valid, error);
    return status == TANSU_OK ? open_chunk(p, valid, error) : status;
}

/* Further than so many chunks away, a descent from the root is faster. */
#define CHUNKS_NEAR 4

/* find_chunk -- opens the chunk that has the first document from `rid` on. */
static tansu_status find_chunk(postings *p, uint64_t rid, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (int i = 0; i < CHUNKS_NEAR && status == TANSU_OK; i++) {
        if (p->rid == NO_RID || p->chunk.last >= rid)
            return TANSU_OK;
        status = next_chunk(p, error);
    }
    if (status != TANSU_OK || p->rid == NO_RID || p->chunk.last >= rid)
        return status;
    bool valid;
    const size_t prefix = p->prefix.size;
    if (rid >> (8 * TEXT_RID_SIZE) != 0) {
        p->rid = NO_RID;
        return TANSU_OK;
    }
    if (!buffer_reserve(&p->prefix, TEXT_RID_SIZE))
        return error_memory(error);
    text_rid_put(p->prefix.data + prefix, rid);
    status = tree_cursor_seek(&p->cursor, p->prefix.data, prefix + TEXT_RID_SIZE, &valid, error);
    return status == TANSU_OK ? open_chunk(p, valid, error) : status;
}

tansu_status postings_next(postings *p, tansu_error *error) {
    tansu_status status = decode(p, error);
    if (status != TANSU_OK || p->rid == NO_RID)
        return status;
    if (++p->at < p->chunk.count) {
        p->rid = p->chunk.rids[p->at];
        return TANSU_OK;
    }
    status = next_chunk(p, error);
    return status == TANSU_OK && p->rid != NO_RID ? decode(p, error) : status;
}

tansu_status postings_move(postings *p, uint64_t rid, tansu_error *error) {
    if (p->rid == NO_RID || (p->decoded && p->rid >= rid))
        return TANSU_OK;
    tansu_status status = find_chunk(p, rid, error);
    if (status == TANSU_OK && p->rid != NO_RID)
        status = decode(p, error);
    if (status != TANSU_OK || p->rid == NO_RID)
        return status;
    uint32_t low = p->at, high = p->chunk.count - 1; /* the last one is not less */
    uint32_t step = 1;
    while (low + step < high && p->chunk.rids[low + step] < rid)
        step *= 2;
    high = low + step < high ? low + step : high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->chunk.rids[middle] < rid)
            low = middle + 1;
        else
            high = middle;
    }
    p->at = low;
    p->rid = p->chunk.rids[low];
    return TANSU_OK;
}

tansu_status postings_shallow(postings *p, uint64_t rid, uint64_t *last,
                              const text_impact **impacts, uint32_t *count, tansu_error *error) {
    tansu_status status = find_chunk(p, rid, error);
    if (status != TANSU_OK)
        return status;
    *last = p->rid == NO_RID ? NO_RID : p->chunk.last;
    *impacts = p->chunk.impacts;
    *count = p->rid == NO_RID ? 0 : p->chunk.impact_count;
    return TANSU_OK;
}

tansu_status postings_positions(postings *p, uint32_t field, uint32_t *positions,
                                tansu_error *error) {
    return text_chunk_positions(&p->chunk, p->at, field, positions) ? TANSU_OK
                                                                    : damaged(p->reader, error);
}

tansu_status text_term_documents(const text_reader *reader, const uint8_t *term, size_t size,
                                 uint64_t *count, tansu_error *error) {
    tree_cursor cursor;
    tansu_buffer prefix = TANSU_BUFFER_INIT, entry = TANSU_BUFFER_INIT;
    bool valid = false, found;
    *count = 0;
    tree_cursor_init(&cursor, reader->store, reader->entries);
    tansu_status status = buffer_append(&prefix, term, size) && buffer_append_byte(&prefix, 0)
                              ? tree_cursor_seek(&cursor, prefix.data, prefix.size, &valid, error)
                              : error_memory(error);
    while (status == TANSU_OK && valid) {
        if (!text_entry_take(&cursor, prefix.data, prefix.size, &entry, &found)) {
            status = error_memory(error);
            break;
        }
        if (!found)
            break;
        if (entry.size <= prefix.size + TEXT_RID_SIZE) {
            status = damaged(reader, error);
            break;
        }
        *count += text_chunk_count(entry.data + prefix.size + TEXT_RID_SIZE);
        status = tree_cursor_next(&cursor, &valid, error);
    }
    tree_cursor_end(&cursor);
    tansu_buffer_free(&prefix);
    tansu_buffer_free(&entry);
    return status;
}

/* ---- The lengths of documents ---- */

/* find_block -- the entry of the block of a document. */
static tansu_status find_block(text_lengths *lengths, const text_reader *reader, uint64_t block,
                               tansu_error *error) {
    uint8_t key[2 + TEXT_RID_SIZE] = {0, TEXT_LENGTHS};
    bool valid = false, found = false;
    text_rid_put(key + 2, block);
    tansu_status status = TANSU_OK;
    if (lengths->block != 0 && lengths->there && block == lengths->block) { /* the next one */
        status = tree_cursor_next(&lengths->cursor, &valid, error);
        if (status == TANSU_OK && valid &&
            !text_entry_take(&lengths->cursor, key, sizeof key, &lengths->entry, &found))
            return error_memory(error);
    }
    if (status == TANSU_OK && !found) {
        tree_cursor_end(&lengths->cursor);
        tree_cursor_init(&lengths->cursor, reader->store, reader->entries);
        status = tree_cursor_seek(&lengths->cursor, key, sizeof key, &valid, error);
        if (status == TANSU_OK && valid &&
            !text_entry_take(&lengths->cursor, key, sizeof key, &lengths->entry, &found))
            return error_memory(error);
    }
    lengths->block = block + 1;
    lengths->there = status == TANSU_OK && found && lengths->entry.size > sizeof key;
    return status;
}

tansu_status text_length(text_lengths *lengths, const text_reader *reader, uint64_t rid,
                         uint32_t *length, tansu_error *error) {
    const size_t head = 2 + TEXT_RID_SIZE;
    if (lengths->block != rid / TEXT_BLOCK + 1) {
        tansu_status status = find_block(lengths, reader, rid / TEXT_BLOCK, error);
        if (status != TANSU_OK)
            return status;
    }
    uint32_t width = lengths->there ? lengths->entry.data[head] : 0;
    size_t at = head + 1 + rid % TEXT_BLOCK * width;
    if ((width != 1 && width != 2 && width != 4) || at + width > lengths->entry.size)
        return damaged(reader, error);
    uint32_t number = load_u32(lengths->entry.data + at); /* there are bytes behind the entry */
    *length = width == 4 ? number : number & (((uint32_t)1 << (8 * width)) - 1);
    return TANSU_OK;
}

void text_lengths_end(text_lengths *lengths) {
    tree_cursor_end(&lengths->cursor);
    tansu_buffer_free(&lengths->entry);
    *lengths = (text_lengths){.block = 0};
}

/* ---- Terms ---- */

/* take_term -- the term of the entry that the cursor is on. */
static tansu_status take_term(text_terms *terms, bool valid, tansu_error *error) {
    terms->term = NULL;
    if (!valid)
        return TANSU_OK;
    const uint8_t any = 0;
    bool found;
    if (!text_entry_take(&terms->cursor, &any, 0, &terms->entry, &found))
        return error_memory(error);
    const uint8_t *end = memchr(terms->entry.data, 0, terms->entry.size);
    if (!end || end == terms->entry.data)
        return damaged(terms->reader, error);
    terms->term = terms->entry.data;
    terms->size = (size_t)(end - terms->entry.data);
    return TANSU_OK;
}

/* seek -- to the first entry from terms->key on. */
static tansu_status seek(text_terms *terms, tansu_error *error) {
    bool valid;
    tansu_status status =
        tree_cursor_seek(&terms->cursor, terms->key.data, terms->key.size, &valid, error);
    return status == TANSU_OK ? take_term(terms, valid, error) : status;
}

tansu_status text_terms_seek(text_terms *terms, const text_reader *reader, const uint8_t *from,
                             size_t size, tansu_error *error) {
    const uint8_t first = 1; /* behind what is no term's */
    if (!terms->reader) {
        terms->reader = reader;
        tree_cursor_init(&terms->cursor, reader->store, reader->entries);
    }
    if (!buffer_set(&terms->key, size == 0 ? &first : from, size == 0 ? 1 : size))
        return error_memory(error);
    return seek(terms, error);
}

tansu_status text_terms_next(text_terms *terms, tansu_error *error) {
    bool valid;
    if (!terms->term)
        return TANSU_OK;
    /* Most terms have one chunk. */
    if (!buffer_set(&terms->key, terms->term, terms->size) || !buffer_append_byte(&terms->key, 1))
        return error_memory(error);
    tansu_status status = tree_cursor_next(&terms->cursor, &valid, error);
    if (status == TANSU_OK)
        status = take_term(terms, valid, error);
    bool same = status == TANSU_OK && terms->term && terms->size == terms->key.size - 1 &&
                memcmp(terms->term, terms->key.data, terms->size) == 0;
    return same ? seek(terms, error) : status;
}

tansu_status text_terms_count(text_terms *terms, uint64_t *documents, tansu_error *error) {
    tansu_status status = TANSU_OK;
    bool same = true;
    *documents = 0;
    if (!buffer_set(&terms->key, terms->term, terms->size))
        return error_memory(error);
    while (status == TANSU_OK && same) {
        const size_t head = terms->size + 1 + TEXT_RID_SIZE;
        bool valid;
        if (terms->entry.size <= head)
            return damaged(terms->reader, error);
        *documents += text_chunk_count(terms->entry.data + head);
        status = tree_cursor_next(&terms->cursor, &valid, error);
        if (status == TANSU_OK)
            status = take_term(terms, valid, error);
        same = status == TANSU_OK && terms->term && terms->size == terms->key.size &&
               memcmp(terms->term, terms->key.data, terms->size) == 0;
    }
    return status;
}

void text_terms_end(text_terms *terms) {
    tree_cursor_end(&terms->cursor);
    tansu_buffer_free(&terms->entry);
    tansu_buffer_free(&terms->key);
    *terms = (text_terms){.reader = NULL};
}
