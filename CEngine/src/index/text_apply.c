/*
 * index/text_apply.c -- merging the entries of documents into the chunks of an index of words.
 *
 * Changes come in order, so all of one term together. Most are of documents that are newer than all
 * others of the term: they go to the end of its last chunk. For the others the chunk that they
 * belong to is written anew, as several where it gets too large.
 */
#include "index/text_chunk.h"
#include "index/text_entries.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* A change of one term, or of lengths. */
typedef struct change {
    uint64_t rid;
    const uint8_t *bytes; /* after the record id */
    uint32_t size;
    bool removes;
} change;

/* A merge. */
typedef struct merge {
    text_form form;
    text_changes next;
    void *context;
    tree_writer *writer;
    tree *t;
    /* The next change, which belongs to what follows. */
    const uint8_t *entry;
    uint32_t entry_size;
    bool removes, more;
    tansu_buffer prefix; /* of the current term's entries */
    change *changes;
    size_t count, capacity;
    uint64_t documents, length; /* the totals */
    bool totals_changed;
    tansu_buffer old; /* the entry of a chunk that is replaced */
    tansu_buffer made;
    tansu_buffer bytes; /* of decoded postings */
    text_scratch_bits bits;
    uint32_t *counts;
    text_chunk chunk;
    text_posting *merged;
    size_t merged_capacity;
    tansu_error *error;
} merge;

/* damaged -- an entry of the tree that no index of words has. */
static tansu_status damaged(merge *m) {
    return error_set(m->error, TANSU_E_CORRUPT, NULL,
                     "An index of words has an invalid entry; rebuild the index");
}

/* ---- Reading and writing entries of the tree ---- */

/* find -- m->old becomes the first entry that is not less than a key, if it begins with the prefix; if
 * not and `last` is not NULL, the one before, if that does: *last then. */
static tansu_status find(merge *m, const uint8_t *key, size_t size, const tansu_buffer *prefix,
                         bool *found, bool *last) {
    tree_cursor cursor;
    bool valid = false;
    *found = false;
    tree_cursor_init(&cursor, m->writer->store, m->t);
    tansu_status status = tree_cursor_seek(&cursor, key, size, &valid, m->error);
    if (status == TANSU_OK && valid)
        status = text_entry_take(&cursor, prefix->data, prefix->size, &m->old, found)
                     ? TANSU_OK
                     : error_memory(m->error);
    if (status == TANSU_OK && !*found && last) {
        status = valid ? tree_cursor_previous(&cursor, &valid, m->error)
                       : tree_cursor_seek_before(&cursor, key, size, &valid, m->error);
        if (status == TANSU_OK && valid)
            status = text_entry_take(&cursor, prefix->data, prefix->size, &m->old, found)
                         ? TANSU_OK
                         : error_memory(m->error);
        *last = *found;
    }
    tree_cursor_end(&cursor);
    return status;
}

/* replace -- takes m->old out (`had`), and puts m->made in, if it has anything. */
static tansu_status replace(merge *m, bool had) {
    tansu_status status = TANSU_OK;
    if (had && m->old.size == m->made.size && memcmp(m->old.data, m->made.data, m->old.size) == 0)
        return TANSU_OK;
    if (had)
        status = tree_remove(m->writer, m->t, m->old.data, m->old.size, NULL, m->error);
    if (status == TANSU_OK && m->made.size != 0)
        status = tree_insert(m->writer, m->t, m->made.data, m->made.size, NULL, m->error);
    return status;
}

/* ---- Lengths and totals ---- */

/* length_put -- one of the lengths of a block. */
static void length_put(uint8_t *lengths, uint32_t width, uint32_t i, uint32_t length) {
    for (uint32_t k = 0; k < width; k++, length >>= 8)
        lengths[i * width + k] = (uint8_t)length;
}

/* write_lengths -- m->made becomes the entry of a block; nothing if it has no document. */
static bool write_lengths(merge *m, uint64_t block, const uint32_t *lengths) {
    uint32_t last = TEXT_BLOCK, most = 0;
    while (last > 0 && lengths[last - 1] == 0)
        last--;
    for (uint32_t i = 0; i < last; i++)
        most = lengths[i] > most ? lengths[i] : most;
    uint32_t width = most < 1u << 8 ? 1 : most < 1u << 16 ? 2 : 4;
    m->made.size = 0;
    if (last == 0)
        return true;
    size_t head = 2 + TEXT_RID_SIZE + 1;
    if (!buffer_reserve(&m->made, head + last * width))
        return false;
    uint8_t *at = m->made.data;
    at[0] = 0;
    at[1] = TEXT_LENGTHS;
    text_rid_put(at + 2, block);
    at[head - 1] = (uint8_t)width;
    for (uint32_t i = 0; i < last; i++)
        length_put(at + head, width, i, lengths[i]);
    m->made.size = head + last * width;
    return true;
}

/* change_length -- of one document, in the lengths of its block. */
static bool change_length(merge *m, uint32_t *lengths, const change *c) {
    const uint8_t *at = c->bytes;
    uint64_t length;
    uint32_t *place = &lengths[c->rid % TEXT_BLOCK];
    if (!varint_take(&at, c->bytes + c->size, &length) || length == 0 || length > UINT32_MAX)
        return false;
    if (c->removes ? *place != length : *place != 0)
        return true;
    *place = c->removes ? 0 : (uint32_t)length;
    m->documents += c->removes ? (uint64_t)-1 : 1;
    m->length += c->removes ? 0 - length : length;
    m->totals_changed = true;
    return true;
}

/* removals_first -- orders changes of one document: what it had goes before what it gets. */
static void removals_first(change *changes, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) {
        if (changes[i].rid == changes[i + 1].rid && !changes[i].removes) {
            change moved = changes[i];
            changes[i] = changes[i + 1];
            changes[i + 1] = moved;
        }
    }
}

/* merge_lengths -- all changes of lengths. */
static tansu_status merge_lengths(merge *m) {
    tansu_status status = TANSU_OK;
    removals_first(m->changes, m->count);
    for (size_t from = 0, end; status == TANSU_OK && from < m->count; from = end) {
        uint64_t block = m->changes[from].rid / TEXT_BLOCK;
        uint32_t lengths[TEXT_BLOCK] = {0};
        uint8_t key[2 + TEXT_RID_SIZE] = {0, TEXT_LENGTHS};
        const tansu_buffer prefix = {.data = key, .size = sizeof key};
        bool found;
        text_rid_put(key + 2, block);
        status = find(m, key, sizeof key, &prefix, &found, NULL);
        if (status == TANSU_OK && found && !text_lengths_read(m->old.data, m->old.size, lengths))
            status = damaged(m);
        for (end = from;
             status == TANSU_OK && end < m->count && m->changes[end].rid / TEXT_BLOCK == block;
             end++)
            if (!change_length(m, lengths, &m->changes[end]))
                status = damaged(m);
        if (status == TANSU_OK && !write_lengths(m, block, lengths))
            status = error_memory(m->error);
        if (status == TANSU_OK)
            status = replace(m, found);
    }
    return status;
}

/* totals_entry -- m->made becomes the entry of the totals; nothing in an empty index. */
static bool totals_entry(merge *m) {
    m->made.size = 0;
    if (m->documents == 0)
        return true;
    if (!buffer_reserve(&m->made, 2 + 2 * VARINT_MAX))
        return false;
    uint8_t *at = m->made.data;
    *at++ = 0;
    *at++ = TEXT_TOTALS;
    at = varint_put(at, m->documents);
    m->made.size = (size_t)(varint_put(at, m->length) - m->made.data);
    return true;
}

/* find_totals -- m->old becomes the entry of the totals. */
static tansu_status find_totals(merge *m, bool *found) {
    uint8_t key[2] = {0, TEXT_TOTALS};
    const tansu_buffer prefix = {.data = key, .size = sizeof key};
    return find(m, key, sizeof key, &prefix, found, NULL);
}

/* ---- Terms ---- */

/* open_old -- m->chunk becomes that of the entry m->old. */
static bool open_old(merge *m) {
    size_t head = m->prefix.size + TEXT_RID_SIZE;
    m->chunk.counts = m->counts;
    return m->old.size > head &&
           text_chunk_open(&m->chunk, &m->form, m->old.data + head, m->old.size - head,
                           text_rid_get(m->old.data + m->prefix.size));
}

/* begin_entry -- m->made becomes the beginning of an entry of the term. */
static bool begin_entry(merge *m, uint64_t last) {
    m->made.size = 0;
    if (!buffer_append(&m->made, m->prefix.data, m->prefix.size) ||
        !buffer_reserve(&m->made, TEXT_RID_SIZE))
        return false;
    text_rid_put(m->made.data + m->made.size, last);
    m->made.size += TEXT_RID_SIZE;
    return true;
}

/* posting_of -- what a change adds. False if it is invalid. */
static bool posting_of(const change *c, text_posting *posting) {
    const uint8_t *at = c->bytes, *end = c->bytes + c->size;
    uint64_t length;
    if (!varint_take(&at, end, &length) || length > UINT32_MAX)
        return false;
    *posting = (text_posting){c->rid, (uint32_t)length, (uint32_t)(end - at), at};
    return true;
}

/* write_chunks -- puts documents into chunks of even sizes; m->old was taken out. */
static tansu_status write_chunks(merge *m, const text_posting *postings, size_t count,
                                 const text_impact *impacts, uint32_t impact_count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += postings[i].size + 1;
    size_t parts = (count + TEXT_CHUNK_MOST - 1) / TEXT_CHUNK_MOST;
    size_t by_bytes = bytes / (TEXT_CHUNK_BYTES + TEXT_CHUNK_BYTES / 2) + 1;
    parts = by_bytes > parts ? by_bytes : parts;
    parts = parts > count ? count : parts;
    tansu_status status = TANSU_OK;
    for (size_t part = 0, from = 0; status == TANSU_OK && part < parts; part++) {
        size_t end = count * (part + 1) / parts;
        if (!begin_entry(m, postings[end - 1].rid) ||
            !text_chunk_write(&m->made, &m->bits, &m->form, postings + from, (uint32_t)(end - from),
                              impacts, impact_count))
            status = error_memory(m->error);
        else
            status = tree_insert(m->writer, m->t, m->made.data, m->made.size, NULL, m->error);
        from = end;
    }
    return status;
}

/* merge_chunk -- makes changes of documents that belong to the chunk m->old (`found`). */
static tansu_status merge_chunk(merge *m, bool found, size_t from, size_t end) {
    uint32_t old_count = 0, impact_count = 0;
    text_posting old[TEXT_CHUNK_MOST];
    size_t count = 0;
    m->bytes.size = 0;
    if (found) {
        if (!text_chunk_decode(&m->chunk) || !text_chunk_postings(&m->chunk, old, &m->bytes))
            return damaged(m);
        old_count = m->chunk.count;
        impact_count = m->chunk.impact_count;
    }
    if (!ARRAY_RESERVE(m->merged, (size_t)0, m->merged_capacity, old_count + (end - from)))
        return error_memory(m->error);
    for (uint32_t i = 0; i < old_count || from < end;) {
        bool gone = false, added = false;
        uint64_t rid = i == old_count                      ? m->changes[from].rid
                       : from == end                       ? old[i].rid
                       : old[i].rid < m->changes[from].rid ? old[i].rid
                                                           : m->changes[from].rid;
        text_posting posting = {.rid = 0};
        for (; from < end && m->changes[from].rid == rid; from++) {
            const change *c = &m->changes[from];
            gone = gone || c->removes;
            if (!c->removes) {
                added = true;
                if (!posting_of(c, &posting))
                    return damaged(m);
            }
        }
        bool there = i < old_count && old[i].rid == rid;
        if (added)
            m->merged[count++] = posting;
        else if (there && !gone)
            m->merged[count++] = old[i];
        i += there;
    }
    tansu_status status = TANSU_OK;
    if (found)
        status = tree_remove(m->writer, m->t, m->old.data, m->old.size, NULL, m->error);
    return status == TANSU_OK ? write_chunks(m, m->merged, count, m->chunk.impacts, impact_count)
                              : status;
}

/* append -- documents behind all others of the term, as many as fit into its last chunk; *end: which
 * are left. */
static tansu_status append(merge *m, size_t from, size_t *end) {
    text_posting postings[TEXT_CHUNK_MOST];
    uint32_t room = text_chunk_room(&m->chunk), count = 0;
    *end = from;
    if (m->old.size - m->prefix.size >= TEXT_CHUNK_BYTES)
        return TANSU_OK;
    for (; count < room && *end < m->count && !m->changes[*end].removes &&
           (count == 0 || m->changes[*end].rid != postings[count - 1].rid);
         count++, ++*end)
        if (!posting_of(&m->changes[*end], &postings[count]))
            return damaged(m);
    /* One that changes, or what would make the chunk grow too much, is for merge_chunk(). */
    if (count == 0 || (*end < m->count && count < room)) {
        *end = from;
        return TANSU_OK;
    }
    if (!begin_entry(m, postings[count - 1].rid) ||
        !text_chunk_append(&m->made, &m->bits, &m->chunk, postings, count))
        return error_memory(m->error);
    return replace(m, true);
}

/* merge_at -- makes changes from `from` on that belong to one chunk; *end: which are left. */
static tansu_status merge_at(merge *m, size_t from, size_t *end) {
    size_t head = m->prefix.size;
    bool found, last = false;
    if (!buffer_reserve(&m->prefix, TEXT_RID_SIZE))
        return error_memory(m->error);
    text_rid_put(m->prefix.data + head, m->changes[from].rid);
    tansu_status status = find(m, m->prefix.data, head + TEXT_RID_SIZE, &m->prefix, &found, &last);
    if (status == TANSU_OK && found && !open_old(m))
        return damaged(m);
    *end = from;
    if (status == TANSU_OK && last && m->count - from <= text_chunk_room(&m->chunk))
        status = append(m, from, end);
    if (status != TANSU_OK || *end != from)
        return status;
    bool full = last && (m->chunk.count == TEXT_CHUNK_MOST ||
                         m->old.size - m->prefix.size >= TEXT_CHUNK_BYTES);
    for (*end = from; *end < m->count && (!found || last || m->changes[*end].rid <= m->chunk.last);)
        ++*end;
    return merge_chunk(m, found && !full, from, *end);
}

/* merge_term -- all changes of a term. */
static tansu_status merge_term(merge *m) {
    tansu_status status = TANSU_OK;
    for (size_t from = 0; status == TANSU_OK && from < m->count;)
        status = merge_at(m, from, &from);
    return status;
}

/* ---- The order of changes ---- */

/* advance -- takes the next change from the source. */
static void advance(merge *m) {
    m->more = m->next(m->context, &m->entry, &m->entry_size, &m->removes);
}

/* prefix_size -- what the entries of a group begin with: a term and 00, or 00 and a letter. */
static size_t prefix_size(const uint8_t *entry, uint32_t size) {
    if (size >= 2 && entry[0] == 0)
        return 2;
    const uint8_t *end = memchr(entry, 0, size);
    return end ? (size_t)(end - entry) + 1 : size;
}

/* gather -- the changes of the next group. False when memory is exhausted. */
static bool gather(merge *m) {
    m->count = 0;
    if (!buffer_set(&m->prefix, m->entry, prefix_size(m->entry, m->entry_size)))
        return false;
    while (m->more && m->entry_size >= m->prefix.size + TEXT_RID_SIZE &&
           memcmp(m->entry, m->prefix.data, m->prefix.size) == 0) {
        if (!ARRAY_RESERVE(m->changes, m->count, m->capacity, 1))
            return false;
        const uint8_t *rid = m->entry + m->prefix.size;
        m->changes[m->count++] =
            (change){text_rid_get(rid), rid + TEXT_RID_SIZE,
                     m->entry_size - (uint32_t)m->prefix.size - TEXT_RID_SIZE, m->removes};
        advance(m);
    }
    return true;
}

/* write_totals -- replaces the totals, if they changed. */
static tansu_status write_totals(merge *m) {
    bool found;
    if (!m->totals_changed)
        return TANSU_OK;
    tansu_status status = find_totals(m, &found);
    if (status == TANSU_OK && !totals_entry(m))
        status = error_memory(m->error);
    return status == TANSU_OK ? replace(m, found) : status;
}

/* run -- all groups. */
static tansu_status run(merge *m) {
    bool found;
    tansu_status status = find_totals(m, &found);
    if (status == TANSU_OK && found &&
        !text_totals_read(m->old.data, m->old.size, &m->documents, &m->length))
        status = damaged(m);
    advance(m);
    while (status == TANSU_OK && m->more) {
        if (!gather(m))
            status = error_memory(m->error);
        else if (m->count == 0)
            status = damaged(m);
        else
            status = m->prefix.data[0] == 0 ? merge_lengths(m) : merge_term(m);
    }
    return status == TANSU_OK ? write_totals(m) : status;
}

tansu_status text_apply(const index_definition *definition, text_changes next, void *context,
                        tree_writer *writer, tree *t, tansu_error *error) {
    merge m = {.form = text_form_of(definition),
               .next = next,
               .context = context,
               .writer = writer,
               .t = t,
               .error = error};
    m.counts = malloc(TEXT_CHUNK_MOST * m.form.fields * sizeof *m.counts);
    tansu_status status = m.counts ? run(&m) : error_memory(error);
    free(m.counts);
    free(m.changes);
    free(m.merged);
    tansu_buffer_free(&m.prefix);
    tansu_buffer_free(&m.old);
    tansu_buffer_free(&m.made);
    tansu_buffer_free(&m.bytes);
    tansu_buffer_free(&m.bits.documents);
    tansu_buffer_free(&m.bits.positions);
    return status;
}
