/*
 * index/text_entries.h -- changing an index of words.
 *
 * What a document has in the index is a set of entries, as in every index (index_entries_make()):
 *
 *     00 4C, record id (5 bytes), length (varint)
 *     term, 00, record id (5 bytes), length (varint), posting
 *
 * They are gathered (index/index_batch.h, index/index_build.h) and then merged, term by term, into
 * the chunks of the tree (index/text_chunk.h).
 */
#ifndef TANSU_INDEX_TEXT_ENTRIES_H
#define TANSU_INDEX_TEXT_ENTRIES_H

#include "index/definition.h"
#include "index/tree/tree.h"

#define TEXT_RID_SIZE 5
/* What follows the 00 of an entry that is no term's. */
enum { TEXT_LENGTHS = 0x4C, TEXT_TOTALS = 0x4E };

/* text_rid_put, text_rid_get -- a record id, or the number of a block, in order of bytes. */
static inline void text_rid_put(uint8_t *at, uint64_t rid) {
    for (int i = TEXT_RID_SIZE - 1; i >= 0; i--, rid >>= 8)
        at[i] = (uint8_t)rid;
}
static inline uint64_t text_rid_get(const uint8_t *at) {
    uint64_t rid = 0;
    for (int i = 0; i < TEXT_RID_SIZE; i++)
        rid = rid << 8 | at[i];
    return rid;
}

/* text_entries_make -- index_entries_make() for an index of words. Errors: those of
 * text_document_read(). */
tansu_status text_entries_make(index_entries *entries, const index_definition *definition,
                               const uint8_t *doc, size_t size, uint64_t rid, tansu_error *error);

/* text_scratch_free -- what text_entries_make() kept in entries->text; fine on NULL. */
void text_scratch_free(struct text_scratch *scratch);

/* Entries that are added or removed, in the order of their bytes. False at the end. */
typedef bool (*text_changes)(void *context, const uint8_t **entry, uint32_t *size, bool *removes);

/* text_apply -- makes changes. What is to be removed but is not there is passed over. Errors: those
 * of tree_insert(). */
tansu_status text_apply(const index_definition *definition, text_changes next, void *context,
                        tree_writer *writer, tree *t, tansu_error *error);

/* Behind an entry that is read are so many bytes, which may be read with its last ones. */
#define TEXT_SPARE 8

/* text_entry_pad -- adds them to an entry, whose size stays. False when memory is exhausted. */
bool text_entry_pad(tansu_buffer *entry);

/* text_entry_take -- copies the entry that a cursor is on, with the bytes behind it, if it begins with
 * a prefix: *found. Nothing else is copied: entries of other words may have megabytes. False when
 * memory is exhausted. */
bool text_entry_take(const tree_cursor *cursor, const uint8_t *prefix, size_t size,
                     tansu_buffer *entry, bool *found);

/* text_lengths_read -- the lengths of the TEXT_BLOCK documents of an entry, 0 for what is none. False:
 * it is damaged. */
bool text_lengths_read(const uint8_t *entry, size_t size, uint32_t *lengths);

/* text_totals_read -- how many documents there are, and their lengths together; 0 in an empty
 * index. False: the entry is damaged. */
bool text_totals_read(const uint8_t *entry, size_t size, uint64_t *documents, uint64_t *length);

#endif
