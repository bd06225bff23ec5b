/*
 * catalog/verify_documents.c -- the documents of a collection, and its indexes against them.
 *
 * What an index should hold is not looked up entry by entry: the entries that the documents make and
 * those that the tree holds are each counted and added up as checksums, in whatever order they come.
 * Only if the two differ are they compared one by one.
 */
#include "base/buffer.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/value.h"
#include "catalog/verify_parts.h"
#include "index/form.h"

#include <stdlib.h>
#include <zlib.h>

/* Work between two calls of the progress function. */
#define PROGRESS_EVERY 1024
#define DOCUMENT_WORK 128
#define ENTRY_WORK 32

/* The same for every order of the same entries. */
typedef struct tally {
    uint64_t count;
    uint64_t crc;
    uint64_t adler;
} tally;

/* One index of the collection at hand; the first is that of `_id`. */
typedef struct checked_index {
    const index_definition *definition; /* NULL: `_id` */
    const tree *entries;
    bool multikey;
    bool unique;
    tally expected;
    tally found;
    bool sound;          /* the tree could be walked without a problem */
    bool arrays_told;    /* that an array was met which the index does not know of */
    index_entries made;  /* of one document */
    tansu_buffer before; /* the entry before, in a unique tree */
} checked_index;

typedef struct collection_check {
    verification *c;
    const collection_state *state;
    checked_index *indexes;
    uint32_t index_count;
    checked_index *at; /* the index whose tree is walked */
    tansu_buffer key;
    uint64_t count;   /* documents */
    uint64_t faulty;  /* that can't be read, or that no checksum protects */
    uint64_t pending; /* work that was not told yet */
    bool damaged;     /* some documents can't be told, so that indexes can't be compared */
} collection_check;

static void tally_add(tally *t, const uint8_t *bytes, size_t size) {
    t->count++;
    t->crc += (uint64_t)crc32_z(0, bytes, size);
    t->adler += (uint64_t)adler32_z(1, bytes, size);
}

static bool tally_equal(const tally *a, const tally *b) {
    return a->count == b->count && a->crc == b->crc && a->adler == b->adler;
}

/* worked -- adds to the work done, and tells it now and then. */
static tansu_status worked(collection_check *k, uint64_t work, tansu_error *error) {
    uint64_t before = k->pending;
    k->pending += work;
    if (before / (PROGRESS_EVERY * ENTRY_WORK) == k->pending / (PROGRESS_EVERY * ENTRY_WORK))
        return TANSU_OK;
    work = k->pending;
    k->pending = 0;
    return verify_tell(k->c, work, error);
}

/* index_name -- of the index, for the report. */
static const char *index_name(const checked_index *index) {
    return index->definition == NULL ? "_id" : index->definition->name;
}

/* note_document -- a problem with what a docno holds. */
static void note_document(collection_check *k, uint64_t docno, log_place place, const char *what) {
    char name[32];
    segment_name((uint32_t)(place >> 32), name);
    finding where = {.file = name,
                     .offset = (int64_t)((uint32_t)place & PLACE_MASK),
                     .size = -1,
                     .collection = k->state->name};
    findings_add(&k->c->problems, &where, "document number %llu %s", (unsigned long long)docno,
                 what);
}

/* note_entry -- a problem with an entry of an index. */
static void note_entry(collection_check *k, const checked_index *index, uint64_t docno,
                       const char *what) {
    finding where = {.file = CABINET_FILE,
                     .offset = -1,
                     .size = -1,
                     .collection = k->state->name,
                     .index = index_name(index)};
    findings_add(&k->c->problems, &where, "index '%s': document number %llu %s", index_name(index),
                 (unsigned long long)docno, what);
}

/* make_entries -- the entries of a document in one index, in index->made. */
static tansu_status make_entries(collection_check *k, checked_index *index, uint64_t docno,
                                 const uint8_t *doc, uint32_t size, tansu_error *error) {
    if (index->definition != NULL)
        return index_entries_make(&index->made, index->definition, doc, size, docno, error);
    doc_value id;
    uint8_t tail[INDEX_TAIL_SIZE];
    bool found = doc_find(doc, size, "_id", 3, &id);
    tail_put(tail, docno, index_form(&id, 1));
    k->key.size = 0;
    if (!found || !value_key(&k->key, &id, false) || !buffer_append(&k->key, tail, sizeof tail))
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

/* Sees each document of the version. */
typedef tansu_status (*document_visitor)(collection_check *k, uint64_t docno, log_place place,
                                         const uint8_t *doc, uint32_t size, tansu_error *error);

/* each_document -- goes through the places; problems are told if `tell`. */
static tansu_status each_document(collection_check *k, bool tell, document_visitor visit,
                                  tansu_error *error) {
    uint64_t end = k->state->next_docno;
    const uint64_t *words = NULL;
    for (uint64_t docno = 0; docno < end; docno++) {
        tansu_status status = TANSU_OK;
        if (docno % PLACES_CHUNK == 0) {
            status = places_chunk(k->state->places, docno / PLACES_CHUNK, &words, error);
            if (status == TANSU_E_CORRUPT) {
                k->damaged = true;
                finding where = {
                    .file = CABINET_FILE, .offset = -1, .size = -1, .collection = k->state->name};
                if (tell)
                    findings_add(&k->c->problems, &where,
                                 "the places of the documents from number %llu on are damaged",
                                 (unsigned long long)docno);
                words = NULL;
            } else if (status != TANSU_OK) {
                return status;
            }
            if (words == NULL) {
                docno += PLACES_CHUNK - 1;
                continue;
            }
        }
        verify_holding holding;
        status = verify_resolve(k->c, k->state, docno, places_load(&words[docno % PLACES_CHUNK]),
                                &holding, error);
        if (status != TANSU_OK)
            return status;
        if (holding.fault == NULL &&
            (holding.record == NULL || holding.record->type == RECORD_DELETE))
            continue;
        const uint8_t *doc = holding.record == NULL ? NULL : record_payload(holding.record);
        if (holding.fault == NULL)
            holding.fault = walk_record(holding.record, holding.record->size, 0);
        if (holding.fault != NULL) {
            k->damaged = true;
            k->faulty += tell;
            if (tell)
                note_document(k, docno, holding.place, holding.fault);
            continue;
        }
        k->faulty += tell && verify_in_damage(k->c, holding.place);
        status = visit(k, docno, holding.place, doc, load_u32(doc), error);
        if (status == TANSU_OK)
            status = worked(k, DOCUMENT_WORK, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* count_document -- adds up the entries that a document makes. */
static tansu_status count_document(collection_check *k, uint64_t docno, log_place place,
                                   const uint8_t *doc, uint32_t size, tansu_error *error) {
    k->count++;
    for (uint32_t i = 0; i < k->index_count; i++) {
        checked_index *index = &k->indexes[i];
        tansu_status status = make_entries(k, index, docno, doc, size, error);
        if (status == TANSU_E_TOO_LARGE) {
            note_document(k, docno, place, "makes too many entries in an index");
            k->damaged = true;
            continue;
        }
        if (status != TANSU_OK)
            return status;
        if (index->made.multikey && !index->multikey && !index->arrays_told) {
            note_entry(k, index, docno, "has an array, of which the index does not know");
            index->arrays_told = true;
        }
        for (uint32_t e = 0; e < entry_count(index); e++) {
            size_t entry_size;
            const uint8_t *entry = entry_bytes(k, index, e, &entry_size);
            tally_add(&index->expected, entry, entry_size);
        }
    }
    return TANSU_OK;
}

/* ---- Trees ---- */

/* see_entry -- adds up what a tree holds, and looks for a value that two documents have. */
static tansu_status see_entry(void *context, const uint8_t *key, size_t size, tansu_error *error) {
    collection_check *k = context;
    checked_index *index = k->at;
    tally_add(&index->found, key, size);
    k->c->entries++;
    uint64_t docno = size < INDEX_TAIL_SIZE ? UINT64_MAX : tail_docno(key + size - INDEX_TAIL_SIZE);
    if (docno >= k->state->next_docno)
        note_entry(k, index, docno, "was never given out and has an entry");
    if (index->unique && size >= INDEX_TAIL_SIZE) {
        if (index->before.size == size && size > INDEX_TAIL_SIZE &&
            memcmp(index->before.data, key, size - INDEX_TAIL_SIZE) == 0)
            note_entry(k, index, docno, "has a value that another document has, too");
        if (!buffer_set(&index->before, key, size))
            return error_memory(error);
    }
    return worked(k, ENTRY_WORK, error);
}

/* see_problem -- a block that does not check out. */
static void see_problem(void *context, const tansu_error *problem) {
    collection_check *k = context;
    finding where = {.file = CABINET_FILE,
                     .offset = -1,
                     .size = -1,
                     .collection = k->state->name,
                     .index = index_name(k->at)};
    findings_add(&k->c->problems, &where, "%s (%s)", problem->message, problem->context);
}

/* walk_tree -- counts the entries of one index. */
static tansu_status walk_tree(collection_check *k, checked_index *index, tansu_error *error) {
    tree_visitor visitor = {.entry = see_entry, .problem = see_problem, .context = k};
    k->at = index;
    tansu_status status = tree_walk(k->c->db->trees, index->entries, &visitor, error);
    index->sound = status == TANSU_OK;
    return status == TANSU_E_CORRUPT ? TANSU_OK : status;
}

/* ---- Culprits ---- */

/* seek_entries -- looks for each entry of a document in the tree. */
static tansu_status seek_entries(collection_check *k, uint64_t docno, log_place place,
                                 const uint8_t *doc, uint32_t size, tansu_error *error) {
    (void)place;
    checked_index *index = k->at;
    tansu_status status = make_entries(k, index, docno, doc, size, error);
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
            note_entry(k, index, docno, "has no entry for one of its values");
    }
    return status;
}

/* match_entry -- looks whether the document of an entry makes it. */
static tansu_status match_entry(void *context, const uint8_t *key, size_t size,
                                tansu_error *error) {
    collection_check *k = context;
    checked_index *index = k->at;
    uint64_t docno = size < INDEX_TAIL_SIZE ? UINT64_MAX : tail_docno(key + size - INDEX_TAIL_SIZE);
    uint64_t word = 0;
    verify_holding holding;
    if (docno >= k->state->next_docno)
        return TANSU_OK; /* told already */
    tansu_status status = places_get(k->state->places, docno, &word, error);
    if (status == TANSU_OK)
        status = verify_resolve(k->c, k->state, docno, word, &holding, error);
    if (status != TANSU_OK)
        return status;
    if (holding.record == NULL || holding.record->type == RECORD_DELETE) {
        note_entry(k, index, docno, "is not there and has an entry");
        return TANSU_OK;
    }
    const uint8_t *doc = record_payload(holding.record);
    status = make_entries(k, index, docno, doc, load_u32(doc), error);
    if (status != TANSU_OK)
        return status == TANSU_E_TOO_LARGE ? TANSU_OK : status;
    for (uint32_t e = 0; e < entry_count(index); e++) {
        size_t made_size;
        const uint8_t *made = entry_bytes(k, index, e, &made_size);
        if (made_size == size && memcmp(made, key, size) == 0)
            return TANSU_OK;
    }
    note_entry(k, index, docno, "has an entry for a value that it does not hold");
    return TANSU_OK;
}

/* find_culprits -- compares an index with the documents one by one. */
static tansu_status find_culprits(collection_check *k, checked_index *index, tansu_error *error) {
    uint64_t before = k->c->problems.count;
    tree_visitor visitor = {.entry = match_entry, .context = k};
    k->at = index;
    tansu_status status = each_document(k, false, seek_entries, error);
    if (status == TANSU_OK)
        status = tree_walk(k->c->db->trees, index->entries, &visitor, error);
    if (status == TANSU_OK && k->c->problems.count == before)
        note_entry(k, index, 0, "and others: the entries are not those of the documents");
    return status;
}

/* ---- The collection ---- */

/* check_counts -- what the catalog says of the number of documents. */
static void check_counts(collection_check *k) {
    finding where = {.file = CABINET_FILE, .offset = -1, .size = -1, .collection = k->state->name};
    if (!k->damaged && k->count != k->state->count)
        findings_add(&k->c->problems, &where, "the collection counts %llu documents and has %llu",
                     (unsigned long long)k->state->count, (unsigned long long)k->count);
    if (k->state->ids.count != k->state->count)
        findings_add(&k->c->problems, &where,
                     "the collection counts %llu documents and has %llu `_id`s",
                     (unsigned long long)k->state->count, (unsigned long long)k->state->ids.count);
}

/* check_indexes -- the trees, and what they hold against what they should. */
static tansu_status check_indexes(collection_check *k, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < k->index_count; i++) {
        checked_index *index = &k->indexes[i];
        status = walk_tree(k, index, error);
        if (status == TANSU_OK && index->sound && !k->damaged &&
            !tally_equal(&index->expected, &index->found))
            status = find_culprits(k, index, error);
    }
    return status;
}

/* report_collection -- its figures. */
static tansu_status report_collection(const collection_check *k, tansu_error *error) {
    verification *c = k->c;
    char key[16];
    const char *at;
    bson_t one;
    size_t length = bson_uint32_to_string(c->collection_count++, &at, key, sizeof key);
    bool done = bson_append_document_begin(&c->collections, at, (int)length, &one) &&
                BSON_APPEND_UTF8(&one, "name", k->state->name) &&
                BSON_APPEND_INT64(&one, "documents", (int64_t)k->count) &&
                BSON_APPEND_INT64(&one, "damaged", (int64_t)k->faulty) &&
                bson_append_document_end(&c->collections, &one);
    return done ? TANSU_OK : error_memory(error);
}

tansu_status verify_collection(verification *c, const collection_state *state, tansu_error *error) {
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
    }
    tansu_status status = each_document(&k, true, count_document, error);
    c->documents += k.count;
    c->damaged += k.faulty;
    if (status == TANSU_OK)
        status = report_collection(&k, error);
    if (status == TANSU_OK)
        check_counts(&k);
    if (status == TANSU_OK)
        status = check_indexes(&k, error);
    if (status == TANSU_OK)
        status = verify_tell(c, k.pending, error);
    for (uint32_t i = 0; i < k.index_count; i++) {
        index_entries_free(&k.indexes[i].made);
        tansu_buffer_free(&k.indexes[i].before);
    }
    free(k.indexes);
    tansu_buffer_free(&k.key);
    return status;
}
