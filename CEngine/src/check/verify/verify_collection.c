/*
 * check/verify/verify_collection.c -- verifying the documents of a collection, and its indexes
 * against them.
 *
 * Index entries are not looked up one by one. The entries that the documents make and those that a
 * tree holds are each counted and summed up as checksums, in whatever order they come. Only when
 * the two sums differ are the entries compared one by one.
 */
#include "check/verify/verify_internal.h"

#include "bson/document.h"
#include "bson/value.h"
#include "index/text_check.h"
#include "index/type_tag.h"
#include "store/database_internal.h"
#include "store/index_backlog/index_backlog.h"
#include "store/snapshot.h"
#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <stdlib.h>
#include <zlib.h>

/* Work between two calls of the progress function. */
#define PROGRESS_EVERY 1024

/* A checksum of a set of entries, which does not depend on their order. */
typedef struct tally {
    uint64_t count;
    uint64_t crc;
    uint64_t adler;
} tally;

/* An index of the collection; the first one is that of `_id`. */
typedef struct checked_index {
    const index_definition *definition; /* NULL: `_id` */
    const tree *entries;
    bool multikey;
    bool unique;
    tally expected;
    tally found;
    bool sound;           /* the tree was scanned without a problem */
    bool arrays_reported; /* an array was found that the index does not know of */
    index_entries made;   /* of one document */
    tansu_buffer before;  /* the previous entry, in a unique tree */
    text_check words;     /* of an index of words */
} checked_index;

typedef struct collection_check {
    verification *c;
    const collection_state *state;
    checked_index *indexes;
    uint32_t index_count;
    checked_index *at; /* the index whose tree is scanned */
    tansu_buffer key;
    uint64_t count;   /* documents */
    uint64_t corrupt; /* that can't be read, or that no checksum protects */
    uint64_t pending; /* work that is not counted as done yet */
    bool incomplete;  /* some documents can't be read, so that indexes can't be compared */
} collection_check;

static void tally_add(tally *t, const uint8_t *bytes, size_t size) {
    t->count++;
    t->crc += checksum(0, bytes, size);
    t->adler += (uint64_t)adler32_z(1, bytes, size);
}

static bool tally_equal(const tally *a, const tally *b) {
    return a->count == b->count && a->crc == b->crc && a->adler == b->adler;
}

/* worked -- adds to the work done, and calls the progress function every now and then. */
static tansu_status worked(collection_check *k, uint64_t work, tansu_error *error) {
    uint64_t before = k->pending;
    k->pending += work;
    if (before / (PROGRESS_EVERY * ENTRY_WORK) == k->pending / (PROGRESS_EVERY * ENTRY_WORK))
        return TANSU_OK;
    work = k->pending;
    k->pending = 0;
    return verify_progress(k->c, work, error);
}

/* index_name -- of the index, for the report. */
static const char *index_name(const checked_index *index) {
    return index->definition == NULL ? "_id" : index->definition->name;
}

/* note_document -- a problem of what a record id leads to. */
static void note_document(collection_check *k, uint64_t rid, log_location location,
                          const char *what) {
    char name[32];
    segment_name((uint32_t)(location >> 32), name);
    problem_location where = {.file = name,
                              .offset = (int64_t)((uint32_t)location & LOCATION_MASK),
                              .size = -1,
                              .collection = k->state->name};
    problem_list_add(&k->c->problems, &where, "The document with record id %llu %s",
                     (unsigned long long)rid, what);
}

/* note_entry -- a problem of an index entry. */
static void note_entry(collection_check *k, const checked_index *index, uint64_t rid,
                       const char *what) {
    problem_location where = {.file = BLOCK_STORE_FILE,
                              .offset = -1,
                              .size = -1,
                              .collection = k->state->name,
                              .index = index_name(index)};
    problem_list_add(&k->c->problems, &where, "Index \"%s\": the document with record id %llu %s",
                     index_name(index), (unsigned long long)rid, what);
}

/* has_words -- whether it is an index of words. */
static bool has_words(const checked_index *index) {
    return index->definition != NULL && index->definition->text != NULL;
}

/* note_words -- a problem of an index of words. */
static void note_words(collection_check *k, const checked_index *index, const char *what) {
    problem_location where = {.file = BLOCK_STORE_FILE,
                              .offset = -1,
                              .size = -1,
                              .collection = k->state->name,
                              .index = index_name(index)};
    problem_list_add(&k->c->problems, &where, "Index \"%s\": %s", index_name(index), what);
}

/* make_entries -- makes the entries of a document in one index, in index->made. */
static tansu_status make_entries(collection_check *k, checked_index *index, uint64_t rid,
                                 const uint8_t *doc, uint32_t size, tansu_error *error) {
    if (index->definition != NULL)
        return index_entries_make(&index->made, index->definition, doc, size, rid, error);
    doc_value id;
    uint8_t suffix[RID_SUFFIX_SIZE];
    bool found = doc_find_id(doc, size, &id);
    suffix_put(suffix, rid, type_tag_make(&id, 1));
    k->key.size = 0;
    if (!found || !value_key(&k->key, &id, false) || !buffer_append(&k->key, suffix, sizeof suffix))
        return error_memory(error);
    return TANSU_OK;
}

/* entry_count, entry_bytes -- what make_entries() made. */
static uint32_t entry_count(const checked_index *index) {
    return index->definition == NULL ? 1 : index->made.count;
}
static const uint8_t *entry_bytes(const collection_check *k, const checked_index *index, uint32_t i,
                                  size_t *size) {
    if (index->definition == NULL) {
        *size = k->key.size;
        return k->key.data;
    }
    *size = index->made.list[i].size;
    return index->made.bytes.data + index->made.list[i].offset;
}

/* ---- Documents ---- */

/* Is called with each document of the snapshot. */
typedef tansu_status (*document_visitor)(collection_check *k, uint64_t rid, log_location location,
                                         const uint8_t *doc, uint32_t size, tansu_error *error);

/* each_document -- visits the documents by record id; adds problems if `report`. */
static tansu_status each_document(collection_check *k, bool report, document_visitor visit,
                                  tansu_error *error) {
    uint64_t end = k->state->next_rid, first = 0, last = 0;
    const aligned_u64 *words = NULL;
    for (uint64_t rid = 0; rid < end; rid++) {
        tansu_status status = TANSU_OK;
        if (rid == last) {
            first = rid;
            status = locations_words(k->state->locations, rid, &words, &last, error);
            if (status == TANSU_E_CORRUPT) {
                k->incomplete = true;
                problem_location where = {.file = BLOCK_STORE_FILE,
                                          .offset = -1,
                                          .size = -1,
                                          .collection = k->state->name};
                if (report)
                    problem_list_add(&k->c->problems, &where,
                                     "The location table is corrupt from record id %llu on",
                                     (unsigned long long)rid);
                words = NULL;
            } else if (status != TANSU_OK) {
                return status;
            }
            if (words == NULL) {
                rid = last - 1;
                continue;
            }
        }
        verify_resolved resolved;
        status = verify_resolve(k->c, k->state, rid, locations_load(&words[rid - first]), &resolved,
                                error);
        if (status != TANSU_OK)
            return status;
        if (resolved.fault == NULL &&
            (resolved.record == NULL || resolved.record->type == RECORD_DELETE))
            continue;
        const uint8_t *doc = resolved.record == NULL ? NULL : record_payload(resolved.record);
        if (resolved.fault == NULL)
            resolved.fault = scan_record(resolved.record, resolved.record->size, 0);
        if (resolved.fault != NULL) {
            k->incomplete = true;
            k->corrupt += report;
            if (report)
                note_document(k, rid, resolved.location, resolved.fault);
            continue;
        }
        k->corrupt += report && verify_in_corrupt_range(k->c, resolved.location);
        status = visit(k, rid, resolved.location, doc, load_u32(doc), error);
        if (status == TANSU_OK)
            status = worked(k, DOCUMENT_WORK, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* add_expected, add_found -- entries of an index of words, as its documents have them. */
static void add_expected(void *index, const uint8_t *entry, size_t size) {
    tally_add(&((checked_index *)index)->expected, entry, size);
}
static void add_found(void *index, const uint8_t *entry, size_t size) {
    tally_add(&((checked_index *)index)->found, entry, size);
}

/* count_document -- sums up the entries that a document makes. */
static tansu_status count_document(collection_check *k, uint64_t rid, log_location location,
                                   const uint8_t *doc, uint32_t size, tansu_error *error) {
    k->count++;
    for (uint32_t i = 0; i < k->index_count; i++) {
        checked_index *index = &k->indexes[i];
        tansu_status status = make_entries(k, index, rid, doc, size, error);
        if (status == TANSU_E_TOO_LARGE) {
            note_document(k, rid, location, "makes too many entries in an index");
            k->incomplete = true;
            continue;
        }
        if (status != TANSU_OK)
            return status;
        if (index->made.multikey && !index->multikey && !index->arrays_reported) {
            note_entry(k, index, rid, "has an array that the index does not know of");
            index->arrays_reported = true;
        }
        for (uint32_t e = 0; e < entry_count(index); e++) {
            size_t entry_size;
            const uint8_t *entry = entry_bytes(k, index, e, &entry_size);
            if (!has_words(index))
                tally_add(&index->expected, entry, entry_size);
            else if (!text_check_document(&index->words, entry, entry_size, add_expected, index))
                return error_memory(error);
        }
    }
    return TANSU_OK;
}

/* ---- Trees ---- */

/* count_entry -- sums up an entry of a tree, and finds a value that two documents share. */
static tansu_status count_entry(void *context, const uint8_t *key, size_t size,
                                tansu_error *error) {
    collection_check *k = context;
    checked_index *index = k->at;
    k->c->entries++;
    if (has_words(index)) {
        const char *fault = text_check_entry(&index->words, key, size, add_found, index);
        if (fault == text_check_memory)
            return error_memory(error);
        if (fault != NULL)
            note_words(k, index, fault);
        return worked(k, ENTRY_WORK, error);
    }
    tally_add(&index->found, key, size);
    uint64_t rid = size < RID_SUFFIX_SIZE ? UINT64_MAX : suffix_rid(key + size - RID_SUFFIX_SIZE);
    if (rid >= k->state->next_rid)
        note_entry(k, index, rid, "was never saved and has an entry");
    if (index->unique && size >= RID_SUFFIX_SIZE) {
        if (index->before.size == size && size > RID_SUFFIX_SIZE &&
            memcmp(index->before.data, key, size - RID_SUFFIX_SIZE) == 0)
            note_entry(k, index, rid, "has a value that another document has as well");
        if (!buffer_set(&index->before, key, size))
            return error_memory(error);
    }
    return worked(k, ENTRY_WORK, error);
}

/* add_tree_problem -- a corrupt block. */
static void add_tree_problem(void *context, const tansu_error *problem) {
    collection_check *k = context;
    problem_location where = {.file = BLOCK_STORE_FILE,
                              .offset = -1,
                              .size = -1,
                              .collection = k->state->name,
                              .index = index_name(k->at)};
    problem_list_add(&k->c->problems, &where, "%s (%s)", problem->message, problem->context);
}

/* count_entries -- sums up the entries of an index. */
static tansu_status count_entries(collection_check *k, checked_index *index, tansu_error *error) {
    tree_visitor visitor = {.entry = count_entry, .problem = add_tree_problem, .context = k};
    k->at = index;
    tansu_status status = tree_visit(k->c->db->trees, index->entries, &visitor, error);
    index->sound = status == TANSU_OK;
    return status == TANSU_E_CORRUPT ? TANSU_OK : status;
}

/* ---- Comparing entries ---- */

/* find_document_entries -- looks up each entry of a document in the tree. */
static tansu_status find_document_entries(collection_check *k, uint64_t rid, log_location location,
                                          const uint8_t *doc, uint32_t size, tansu_error *error) {
    (void)location;
    checked_index *index = k->at;
    tansu_status status = make_entries(k, index, rid, doc, size, error);
    if (status == TANSU_E_TOO_LARGE)
        return TANSU_OK;
    for (uint32_t e = 0; status == TANSU_OK && e < entry_count(index); e++) {
        size_t entry_size;
        const uint8_t *entry = entry_bytes(k, index, e, &entry_size);
        tree_cursor cursor;
        bool valid;
        tree_cursor_init(&cursor, k->c->db->trees, index->entries);
        status = tree_cursor_seek(&cursor, entry, entry_size, &valid, error);
        if (status == TANSU_OK && valid && !tree_cursor_key(&cursor, &index->before))
            status = error_memory(error);
        tree_cursor_end(&cursor);
        if (status == TANSU_OK && (!valid || index->before.size != entry_size ||
                                   memcmp(index->before.data, entry, entry_size) != 0))
            note_entry(k, index, rid, "has no entry for one of its values");
    }
    return status;
}

/* match_entry -- whether the document of an entry makes it. */
static tansu_status match_entry(void *context, const uint8_t *key, size_t size,
                                tansu_error *error) {
    collection_check *k = context;
    checked_index *index = k->at;
    uint64_t rid = size < RID_SUFFIX_SIZE ? UINT64_MAX : suffix_rid(key + size - RID_SUFFIX_SIZE);
    uint64_t word = 0;
    verify_resolved resolved;
    if (rid >= k->state->next_rid)
        return TANSU_OK; /* count_entry() has reported it */
    tansu_status status = locations_get(k->state->locations, rid, &word, error);
    if (status == TANSU_OK)
        status = verify_resolve(k->c, k->state, rid, word, &resolved, error);
    if (status != TANSU_OK)
        return status;
    if (resolved.record == NULL || resolved.record->type == RECORD_DELETE) {
        note_entry(k, index, rid, "does not exist and has an entry");
        return TANSU_OK;
    }
    const uint8_t *doc = record_payload(resolved.record);
    status = make_entries(k, index, rid, doc, load_u32(doc), error);
    if (status != TANSU_OK)
        return status == TANSU_E_TOO_LARGE ? TANSU_OK : status;
    for (uint32_t e = 0; e < entry_count(index); e++) {
        size_t made_size;
        const uint8_t *made = entry_bytes(k, index, e, &made_size);
        if (made_size == size && memcmp(made, key, size) == 0)
            return TANSU_OK;
    }
    note_entry(k, index, rid, "has an entry for a value that it does not hold");
    return TANSU_OK;
}

/* compare_entries -- compares an index with the documents, entry by entry. */
static tansu_status compare_entries(collection_check *k, checked_index *index, tansu_error *error) {
    uint64_t before = k->c->problems.count;
    if (has_words(index)) {
        note_words(k, index, "its words are not those of the documents");
        return TANSU_OK;
    }
    tree_visitor visitor = {.entry = match_entry, .context = k};
    k->at = index;
    tansu_status status = each_document(k, false, find_document_entries, error);
    if (status == TANSU_OK)
        status = tree_visit(k->c->db->trees, index->entries, &visitor, error);
    if (status == TANSU_OK && k->c->problems.count == before)
        note_entry(k, index, 0, "or others do not have the entries of the index");
    return status;
}

/* ---- The collection ---- */

/* check_counts -- the number of documents in the catalog. */
static void check_counts(collection_check *k) {
    problem_location where = {
        .file = BLOCK_STORE_FILE, .offset = -1, .size = -1, .collection = k->state->name};
    if (!k->incomplete && k->count != k->state->count)
        problem_list_add(&k->c->problems, &where,
                         "The catalog counts %llu documents and the collection has %llu",
                         (unsigned long long)k->state->count, (unsigned long long)k->count);
    if (k->state->ids.count != k->state->count)
        problem_list_add(&k->c->problems, &where,
                         "The catalog counts %llu documents and the index of _id has %llu entries",
                         (unsigned long long)k->state->count,
                         (unsigned long long)k->state->ids.count);
}

/* check_indexes -- sums up the trees and compares the sums with those of the documents. */
static tansu_status check_indexes(collection_check *k, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < k->index_count; i++) {
        checked_index *index = &k->indexes[i];
        status = count_entries(k, index, error);
        if (status == TANSU_OK && index->sound && has_words(index) &&
            !text_check_totals(&index->words))
            note_words(k, index, "its totals are not those of its documents");
        if (status == TANSU_OK && index->sound && !k->incomplete &&
            !tally_equal(&index->expected, &index->found))
            status = compare_entries(k, index, error);
    }
    return status;
}

/* report_collection -- the counts of the collection. */
static void report_collection(const collection_check *k) {
    writer w;
    size_t document = report_list_begin(&k->c->collections, &w);
    writer_string(&w, "name", k->state->name);
    writer_int64(&w, "documents", (int64_t)k->count);
    writer_int64(&w, "damaged", (int64_t)k->corrupt);
    report_list_end(&k->c->collections, &w, document);
}

/* make_current -- brings the indexes up to date. One that cannot be is compared as it is. */
static tansu_status make_current(verification *c, const collection_state *state,
                                 tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i <= state->index_count; i++) {
        tansu_error found;
        status = index_current(state, i, &found);
        if (status == TANSU_E_CORRUPT) {
            const index_definition *definition = i == 0 ? NULL : state->indexes[i - 1].definition;
            problem_location where = {.file = BLOCK_STORE_FILE,
                                      .offset = -1,
                                      .size = -1,
                                      .collection = state->name,
                                      .index = definition == NULL ? "_id" : definition->name};
            problem_list_add(&c->problems, &where, "%s", found.message);
            status = TANSU_OK;
        } else if (status != TANSU_OK && error != NULL) {
            *error = found;
        }
    }
    return status;
}

tansu_status verify_collection(verification *c, const collection_state *state, tansu_error *error) {
    tansu_status waited = make_current(c, state, error);
    if (waited != TANSU_OK)
        return waited;
    collection_check k = {.c = c, .state = state, .index_count = state->index_count + 1};
    k.indexes = calloc(k.index_count, sizeof *k.indexes);
    if (k.indexes == NULL)
        return error_memory(error);
    k.indexes[0] = (checked_index){.entries = &state->ids, .unique = true, .multikey = true};
    for (uint32_t i = 0; i < state->index_count; i++) {
        const collection_index *index = &state->indexes[i];
        k.indexes[i + 1] = (checked_index){.definition = index->definition,
                                           .entries = &index->entries,
                                           .unique = index->definition->unique,
                                           .multikey = index->multikey};
        if (index->definition->text != NULL)
            text_check_begin(&k.indexes[i + 1].words, index->definition);
    }
    tansu_status status = each_document(&k, true, count_document, error);
    c->documents += k.count;
    c->corrupt_documents += k.corrupt;
    if (status == TANSU_OK) {
        report_collection(&k);
        check_counts(&k);
    }
    if (status == TANSU_OK)
        status = check_indexes(&k, error);
    if (status == TANSU_OK)
        status = verify_progress(c, k.pending, error);
    for (uint32_t i = 0; i < k.index_count; i++) {
        index_entries_free(&k.indexes[i].made);
        text_check_end(&k.indexes[i].words);
        tansu_buffer_free(&k.indexes[i].before);
    }
    free(k.indexes);
    tansu_buffer_free(&k.key);
    return status;
}
