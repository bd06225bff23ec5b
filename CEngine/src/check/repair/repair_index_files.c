/*
 * check/repair/repair_index_files.c -- the index files as a second source of information: how far
 * the log reached, which documents there were at the last checkpoint, and where.
 *
 * The MANIFEST of a database that was not closed does not know the end of the log, and commits that
 * are missing at the end leave no trace in it. The index files do know it.
 *
 * Record ids are never used twice, so a deletion that the index files know is a fact, however old
 * the block that holds it. Nothing else that they say decides what is salvaged: a document that was
 * found is newer than what they know, or is what they know, or a newer version of it is lost.
 */
#include "check/repair/repair_internal.h"

#include "bson/document.h"
#include "index/locations.h"
#include "index/tree/rid_suffix.h"
#include "store/checkpoint/stored_catalog.h"
#include "store/collection.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_STORE_NAME "blocks.tch"
#define COPY_STEP ((size_t)256 * 1024)

/* Missing chunks of the location table that are looked for, besides one for each word that fits in
 * the file: a forged number of documents costs no more than that. */
#define CHUNKS_ABSENT 65536

/* copy_bytes -- copies all of a file into another; false when that fails. */
static bool copy_bytes(const fs *calls, int from, int to, uint8_t *step) {
    for (off_t at = 0;;) {
        ssize_t got = calls->read(from, step, COPY_STEP, at);
        if (got <= 0)
            return got == 0;
        if (fs_write_all(calls, to, step, (size_t)got, (uint64_t)at) != 0)
            return false;
        at += got;
    }
}

/* The block store and its journals. */
static const char *const names[] = {BLOCK_STORE_NAME, BLOCK_STORE_NAME ".wal",
                                    BLOCK_STORE_NAME ".redo.0", BLOCK_STORE_NAME ".redo.1"};

/* copy_file -- copies a file of the corrupt database's index folder to `folder`. A file that does
 * not exist is not copied. */
static bool copy_file(const repair *r, const char *index, const char *folder, const char *name) {
    char *from = fs_join(index, name), *to = fs_join(folder, name);
    uint8_t *step = malloc(COPY_STEP);
    bool done = false;
    if (from != NULL && to != NULL && step != NULL) {
        int in = r->calls->open(r->calls, from, O_RDONLY, 0);
        done = in < 0 && errno == ENOENT;
        int out = in < 0 ? -1 : r->calls->open(r->calls, to, O_RDWR | O_CREAT | O_TRUNC, FS_MODE);
        done = done || (out >= 0 && copy_bytes(r->calls, in, out, step));
        if (in >= 0)
            r->calls->close(in);
        if (out >= 0)
            r->calls->close(out);
    }
    free(step);
    free(from);
    free(to);
    return done;
}

/* number_of -- a whole number of the META record; false without one. */
static bool number_of(const uint8_t *doc, size_t size, const char *key, uint64_t *result) {
    doc_value value;
    int64_t number;
    if (!doc_find(doc, size, key, strlen(key), &value) || !doc_as_int64(&value, &number) ||
        number < 0)
        return false;
    *result = (uint64_t)number;
    return true;
}

/* usable -- whether a META record is one of this database. */
static bool usable(const repair *r, const tansu_buffer *meta) {
    doc_value uuid;
    return meta_check(meta->data, meta->size) &&
           doc_find(meta->data, meta->size, "uuid", 4, &uuid) && uuid.type == DOC_BINARY &&
           uuid.size == 21 && memcmp(uuid.data + 5, r->uuid, 16) == 0;
}

/* read_meta -- what the copied block store knows of the log. */
static void read_meta(repair *r) {
    tansu_buffer meta = TANSU_BUFFER_INIT;
    uint64_t seen;
    bool good = block_store_get(r->index_files, BLOCK_STORE_META, 0, &meta, NULL) == TANSU_OK &&
                usable(r, &meta) && number_of(meta.data, meta.size, "sequence", &r->checkpoint);
    if (good && number_of(meta.data, meta.size, "witnessed", &seen) && seen > r->end_sequence)
        r->end_sequence = seen;
    tansu_buffer_free(&meta);
    if (good)
        return;
    block_store_close(r->index_files, NULL);
    r->index_files = NULL;
}

/* remove_copy -- removes a file of the copy. */
static tansu_status remove_copy(const repair *r, const char *folder, const char *name,
                                tansu_error *error) {
    char *path = fs_join(folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (r->calls->unlink(r->calls, path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    free(path);
    return status;
}

/* index_files_current -- whether the index files belong to the last state of the log: power loss
 * may have left them ahead of it. */
static bool index_files_current(const repair *r) {
    char boot[64];
    fs_cache_id(r->from, boot);
    return r->manifest_read && !r->manifest.index_damaged &&
           (!r->manifest.index_open || strcmp(boot, r->manifest.boot) == 0);
}

/* read_end_marks -- raises r->end_sequence to what the log's own marks say of its end. */
static void read_end_marks(repair *r) {
    char *log = fs_join(r->from, "log");
    uint64_t marked = log == NULL ? 0 : log_marked_end(r->calls, log, r->uuid);
    free(log);
    if (marked > r->end_sequence)
        r->end_sequence = marked;
}

void repair_index_files_open(repair *r, const char *folder) {
    read_end_marks(r);
    if (!index_files_current(r))
        return;
    char *index = fs_join(r->from, "index"), *path = fs_join(folder, BLOCK_STORE_NAME);
    /* Opening finishes the last transaction in the file. */
    bool copied = index != NULL && path != NULL;
    for (size_t i = 0; copied && i < sizeof names / sizeof *names; i++)
        copied = copy_file(r, index, folder, names[i]);
    if (copied && block_store_open(r->calls, path, 0, r->keys, &r->index_files, NULL) == TANSU_OK)
        read_meta(r);
    free(index);
    free(path);
}

tansu_status repair_index_files_close(repair *r, const char *folder, tansu_error *error) {
    block_store_close(r->index_files, NULL);
    r->index_files = NULL;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < sizeof names / sizeof *names; i++)
        status = remove_copy(r, folder, names[i], error);
    return status;
}

/* ---- Documents ---- */

/* The comparison of a collection. */
typedef struct comparison {
    repair *r;
    uint32_t collection;
    uint64_t lost;
    repair_reader found; /* reads what the log has */
    repair_reader named; /* reads what the index files name */
} comparison;

/* segment_of -- the segment with a number; NULL when there is none. */
static const repair_segment *segment_of(const repair *r, uint32_t number) {
    for (size_t i = 0; i < r->segment_count; i++)
        if (r->segments[i].number == number && !r->segments[i].left_out)
            return &r->segments[i];
    return NULL;
}

/* run_at -- the run that a record lies in; NULL when it lies in none. */
static const repair_run *run_at(const repair *r, log_location location) {
    const repair_segment *s = segment_of(r, repair_number(location));
    if (s == NULL)
        return NULL;
    const repair_run *runs = r->runs + s->run;
    size_t at = BISECT(runs, s->run_count, repair_run, to, repair_offset(location) + 1);
    return at < s->run_count && runs[at].from < repair_offset(location) ? &runs[at] : NULL;
}

/* lies_in_order -- whether a record lies where it was written. */
static bool lies_in_order(const repair *r, log_location location) {
    const repair_run *run = run_at(r, location);
    return run != NULL && run->in_order;
}

/* is_misplaced -- whether a misdirected write put a whole frame there: it says nothing of what was
 * written there. */
static bool is_misplaced(const repair *r, log_location location) {
    const repair_run *run = run_at(r, location);
    return run != NULL && !run->in_order;
}

/* compare_location -- the flag for a document whose record was found at another location than the
 * one that the index files name, or there, but misplaced. */
static tansu_status compare_location(comparison *q, uint64_t where, log_location found,
                                     log_location named, uint64_t *mark, tansu_error *error) {
    const repair *r = q->r;
    const record_header *record, *newest;
    tansu_status status;
    *mark = 0;
    if (!repair_read_record(&q->found, found, &record, &status, error))
        return status;
    uint64_t sequence = repair_commit(r, found, record);
    bool there = !is_misplaced(r, named) &&
                 repair_read_record(&q->named, named, &newest, &status, error) &&
                 newest->where == where;
    uint64_t last = there ? repair_commit(r, named, newest) : 0;
    if (there && last == sequence)
        *mark = LOCATION_CONFIRMED;
    else if (there && last > sequence)
        *mark = LOCATION_OUTDATED;
    if (there || status != TANSU_OK)
        return status;
    /* The record that the index files name is gone. It is another and so a newer record if the one
     * that was found lies where it was written and no compaction has moved it there. */
    const repair_segment *s = segment_of(r, repair_number(named));
    if (sequence <= r->checkpoint && sequence < r->last_missing && lies_in_order(r, found) &&
        s != NULL && s->header && (s->last == 0 || sequence < s->first || sequence > s->last))
        *mark = LOCATION_OUTDATED;
    return TANSU_OK;
}

/* compare_absent -- the location of a document that the index files do not know. Compaction has
 * dropped the deletion, too, or the document was saved later. Blocks of the index files may be
 * older than the others, so that alone proves no removal. */
static tansu_status compare_absent(comparison *q, log_location *found, tansu_error *error) {
    const record_header *record;
    tansu_status status;
    if ((*found & LOCATION_UNCERTAIN) != 0)
        *found |= LOCATION_DELETED;
    else if (repair_read_record(&q->found, *found, &record, &status, error))
        *found |= repair_commit(q->r, *found, record) <= q->r->checkpoint ? LOCATION_UNCERTAIN : 0;
    else
        return status;
    return TANSU_OK;
}

/* compare_document -- compares one document. */
static tansu_status compare_document(comparison *q, uint64_t rid, uint64_t word,
                                     tansu_error *error) {
    repair *r = q->r;
    uint64_t where = record_where(q->collection, rid);
    uint64_t found = pending_find(&r->locations, where);
    if ((found & LOCATION_DELETED) != 0)
        return TANSU_OK;
    if (word == 0) {
        tansu_status status = found == 0 ? TANSU_OK : compare_absent(q, &found, error);
        if (status == TANSU_OK && found != 0)
            pending_set(&r->locations, where, found); /* replaces, so it can't fail */
        return status;
    }
    if (found == 0) {
        q->lost += (word & LOCATION_DELETED) == 0;
        return TANSU_OK;
    }
    uint64_t mark = LOCATION_CONFIRMED;
    if ((word & LOCATION_DELETED) != 0) {
        mark = LOCATION_DELETED;
    } else if ((word & LOCATION_MASK) != (found & LOCATION_MASK) || is_misplaced(r, found)) {
        tansu_status status = compare_location(q, where, found, word, &mark, error);
        if (status != TANSU_OK)
            return status;
    }
    pending_set(&r->locations, where, found | mark); /* replaces, so it can't fail */
    return TANSU_OK;
}

/* add_known_collection -- adds what the index files know of a collection. */
static bool add_known_collection(repair *r, const comparison *q, const doc_value *part) {
    doc_value name, local;
    size_t length;
    if (!ARRAY_RESERVE(r->known_collections, r->known_count, r->known_capacity, 1))
        return false;
    repair_known_collection *known = &r->known_collections[r->known_count++];
    *known = (repair_known_collection){.collection = q->collection, .documents = q->lost};
    known->local = doc_find(part->data, part->size, "local", 5, &local) && local.type == DOC_BOOL &&
                   doc_bool(&local);
    if (doc_find(part->data, part->size, "name", 4, &name) && name.type == DOC_STRING &&
        name_check(doc_string(&name, &length), "collection", NULL) == TANSU_OK)
        snprintf(known->name, sizeof known->name, "%s", doc_string(&name, &length));
    return true;
}

/* by_collection -- for sorting what is known. */
static int by_collection(const void *a, const void *b) {
    const repair_known_collection *x = a, *y = b;
    return (x->collection > y->collection) - (x->collection < y->collection);
}

const repair_known_collection *repair_known_collection_find(const repair *r, uint32_t collection) {
    const repair_known_collection key = {.collection = collection};
    return r->known_count == 0
               ? NULL
               : bsearch(&key, r->known_collections, r->known_count, sizeof key, by_collection);
}

/* compare_collection -- compares all documents of a collection, a chunk of the location table at a
 * time. */
static tansu_status compare_collection(void *context, uint32_t record, const doc_value *part,
                                       tansu_error *error) {
    repair *r = context;
    uint64_t id, end;
    (void)record;
    if (part->type != DOC_DOCUMENT || !number_of(part->data, part->size, "id", &id) ||
        !number_of(part->data, part->size, "nextDocno", &end) || id == 0 ||
        id > RECORD_MAX_COLLECTION || end > MAX_RID)
        return TANSU_OK;
    comparison q = {.r = r,
                    .collection = (uint32_t)id,
                    .found = repair_reader_of(r),
                    .named = repair_reader_of(r)};
    tansu_buffer chunk = TANSU_BUFFER_INIT;
    uint64_t words[LOCATIONS_CHUNK];
    tansu_status status = TANSU_OK;
    uint64_t absent = 0, most = CHUNKS_ABSENT + block_store_size(r->index_files) / sizeof(uint64_t);
    for (uint64_t i = 0; status == TANSU_OK && i * LOCATIONS_CHUNK < end && absent < most; i++) {
        chunk.size = 0;
        bool there = block_store_get(r->index_files, BLOCK_STORE_LOCATIONS, id << 40 | i, &chunk,
                                     NULL) == TANSU_OK &&
                     locations_decode(words, chunk.data, chunk.size);
        absent += !there;
        if (there)
            for (uint64_t k = 0; status == TANSU_OK && k < LOCATIONS_CHUNK; k++)
                status = compare_document(&q, i * LOCATIONS_CHUNK + k, words[k], error);
        if (status == TANSU_OK && i % 64 == 0)
            status = repair_progress(r, 0, error);
    }
    if (status == TANSU_OK && !add_known_collection(r, &q, part))
        status = error_memory(error);
    tansu_buffer_free(&chunk);
    repair_reader_end(&q.found);
    repair_reader_end(&q.named);
    return status;
}

tansu_status repair_index_files_compare(repair *r, tansu_error *error) {
    tansu_buffer meta = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    /* When no commit is missing, the log is complete and there is nothing to learn. */
    if (r->index_files != NULL && (r->last_missing != 0 || r->uncertain) &&
        block_store_get(r->index_files, BLOCK_STORE_META, 0, &meta, NULL) == TANSU_OK &&
        usable(r, &meta))
        status =
            stored_catalog_each(r->index_files, meta.data, meta.size, compare_collection, r, error);
    tansu_buffer_free(&meta);
    if (r->known_count > 1)
        qsort(r->known_collections, r->known_count, sizeof *r->known_collections, by_collection);
    /* What cannot be read is not known. */
    return status == TANSU_E_CORRUPT ? TANSU_OK : status;
}
