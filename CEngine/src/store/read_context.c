/*
 * store/read_context.c -- reading documents as of a snapshot.
 */
#include "store/read_context.h"

#include "bson/document.h"
#include "log/scan.h"
#include "store/database_internal.h"
#include "store/pending.h"
#include "util/error.h"

#include <stdlib.h>

/* A reference into the unfinished frame rather than the committed log. */
#define REF_PENDING ((uint64_t)1 << 63)

/* prefetch_record -- the four cache lines that most documents fit in. */
static inline void prefetch_record(const read_context *rctx, log_location location) {
    if (location != 0)
        log_prefetch(rctx->log, location, 4, rctx->sequence);
}

/* prefetch_lines -- the same of a record in memory, from the line that begins at `at` on. */
static inline void prefetch_lines(const void *record, size_t at) {
    for (; at < 256; at += 64)
        __builtin_prefetch((const uint8_t *)record + at);
}

/* Stands for a location that a damaged record led to. */
#define ASTRAY UINT64_MAX

/* certain -- whether a call that copies what it reads may believe the record at a location: the
 * record's number decides which version it sees. Frames after the snapshot are not looked at. */
static __attribute__((noinline)) bool certain(const read_context *rctx, log_location location) {
    log_intact *checked = rctx->intact;
    bool later = (uint32_t)(location >> 32) == (uint32_t)(checked->position >> 32) &&
                 (uint32_t)location >= (uint32_t)checked->position;
    bool intact = true;
    if (!later && log_first(rctx->log, location) <= rctx->sequence &&
        log_intact_at(checked, location, &intact, NULL) != TANSU_OK)
        checked->no_memory = true;
    return intact && !checked->no_memory;
}

/* earlier -- the location of the version before a record that is newer than the read context, of
 * which `room` bytes may be read. There is one: record ids that the read context does not have are
 * not asked for. *newest: the commit that the record must be older than, so that links end; then
 * the record's own. ASTRAY: the record is not such a one. */
static log_location earlier(const read_context *rctx, const record_header *record, uint64_t room,
                            uint64_t where, uint64_t *newest) {
    uint64_t commit = record_visible_from(record);
    uint64_t last = __atomic_load_n(&rctx->log->appended, __ATOMIC_ACQUIRE);
    if (record->where != where || room < RECORD_HEADER_SIZE || commit >= *newest ||
        (commit > last && !rctx->log->concurrent))
        return ASTRAY;
    *newest = commit;
    log_location previous = record_previous(record);
    return previous == 0 ? ASTRAY : previous;
}

/* lost -- whether a record is in a page that could not be read. */
static inline bool lost(const read_context *rctx, const record_header *record, uint64_t size) {
    return log_unreadable(rctx->log, record, size);
}

/* is_deletion -- whether a record says that the document was deleted. Where it does not, whether it
 * is newer than the read context is not known either: the system has dropped what it could not
 * write, or the log is damaged. */
static bool is_deletion(const read_context *rctx, const record_header *record, uint64_t where) {
    return record->where == where && record->type == RECORD_DELETE &&
           record_visible_from(record) != 0 && !lost(rctx, record, RECORD_HEADER_SIZE);
}

/* walk -- follows a location back to the record that the read context may see, past `most` newer
 * ones at most; 0 when there is none. *steps counts the newer ones. */
static inline log_location walk(const read_context *rctx, log_pins *pins, log_location location,
                                uint64_t where, uint32_t *steps, uint32_t most) {
    uint64_t newest = UINT64_MAX;
    for (; location != 0 && location != ASTRAY && *steps < most; ++*steps) {
        uint64_t room;
        const record_header *record = log_record(rctx->log, pins, location, &room);
        /* Until the header is here, which says where the document begins, the processor cannot ask
         * for the rest itself. */
        prefetch_lines(record, 64);
        if (rctx->intact != NULL && !certain(rctx, location))
            return ASTRAY;
        /* Zeros are older than any read context. Record ids that it does not have are not asked
         * for. */
        if (record_visible_from(record) <= rctx->sequence) {
            if ((location & LOCATION_DELETED) == 0)
                return location; /* found() checks whether it could be read */
            return is_deletion(rctx, record, where) ? 0 : ASTRAY;
        }
        location = earlier(rctx, record, room, where, &newest);
    }
    return location;
}

/* So many newer versions are passed once: where they lead is kept with the snapshot. */
#define STEPS_MOST 32

/* kept_find -- what is kept of a document with the snapshot; 0: nothing. `passing` is held. */
static log_location kept_find(const read_context *rctx, uint64_t where) {
    return rctx->kept == NULL || *rctx->kept == NULL ? 0 : pending_find(*rctx->kept, where);
}

/* kept_set -- keeps a version; false when `most` are kept, or memory is exhausted. */
static bool kept_set(const read_context *rctx, uint64_t where, log_location location,
                     uint64_t most) {
    pthread_rwlock_wrlock(&rctx->log->passing);
    if (*rctx->kept == NULL)
        *rctx->kept = calloc(1, sizeof **rctx->kept);
    bool done = *rctx->kept != NULL && (*rctx->kept)->count < most && pending_reserve(*rctx->kept);
    if (done)
        pending_set(*rctx->kept, where, location == 0 ? LOCATION_DELETED : location);
    pthread_rwlock_unlock(&rctx->log->passing);
    return done;
}

/* pass -- walk() from a segment that is newer than the read context, which does not keep it: a
 * compaction may unmap the segment, and keeps the version with the snapshot before. *kept: it was
 * kept. */
static log_location pass(const read_context *rctx, log_location location, uint64_t where,
                         uint32_t *steps, bool *kept) {
    log_pins pins = {.next = 0}; /* of segments that may go when `passing` is released */
    pthread_rwlock_rdlock(&rctx->log->passing);
    log_location found = kept_find(rctx, where);
    *kept = found != 0;
    if (found == 0)
        found = walk(rctx, &pins, location, where, steps, UINT32_MAX);
    log_pins_release(&pins);
    pthread_rwlock_unlock(&rctx->log->passing);
    return found == LOCATION_DELETED ? 0 : found;
}

/* committed_far -- committed() of a document with many newer versions, or in a newer segment. */
static __attribute__((noinline)) log_location
committed_far(const read_context *rctx, log_location location, uint64_t where, uint32_t steps) {
    bool kept;
    location = pass(rctx, location, where, &steps, &kept);
    if (!kept && steps >= STEPS_MOST && location != ASTRAY && rctx->kept != NULL)
        (void)kept_set(rctx, where, location, UINT64_MAX);
    return location;
}

/* committed -- follows a location back to the record that the read context may see; 0 when there is
 * none. */
static inline log_location committed(const read_context *rctx, log_location location,
                                     uint64_t where) {
    uint32_t steps = 0;
    if (__builtin_expect(log_first(rctx->log, location) <= rctx->sequence, 1)) {
        location = walk(rctx, rctx->pins, location, where, &steps, STEPS_MOST);
        if (__builtin_expect(steps < STEPS_MOST, 1))
            return location;
    }
    return committed_far(rctx, location, where, steps);
}

bool read_keep_version(const read_context *rctx, log_location location, uint64_t where,
                       uint64_t most) {
    uint32_t steps = 0;
    bool kept;
    location = pass(rctx, location, where, &steps, &kept);
    return kept || (location != ASTRAY && kept_set(rctx, where, location, most));
}

/* found -- the document of a reference; NULL when there is none that is valid, or it could not be
 * read. */
static inline const uint8_t *found(const read_context *rctx, log_location location, uint64_t where,
                                   uint32_t *size) {
    uint64_t room;
    const record_header *record = log_record(rctx->log, rctx->pins, location, &room);
    const uint8_t *doc = record_document(record, room, where, size);
    return doc == NULL || lost(rctx, record, (uint64_t)(doc - (const uint8_t *)record) + *size)
               ? NULL
               : doc;
}

/* damaged -- the error for a location that does not lead to a document. */
static tansu_status damaged(const read_context *rctx, const collection_state *collection,
                            uint64_t rid, log_location location, tansu_error *error) {
    char name[32];
    if (rctx->intact != NULL && rctx->intact->no_memory)
        return error_memory(error);
    if (log_faults(rctx->log) != 0)
        return log_read_error(rctx->log, error);
    if (log_cannot_be_written(rctx->log))
        return log_dropped_error((uint32_t)(location >> 32), (uint32_t)location & LOCATION_MASK,
                                 error);
    segment_name((uint32_t)(location >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)((uint32_t)location & LOCATION_MASK),
                    "Record %llu of collection \"%s\" is corrupt at \"%s\", offset %llu; restore a "
                    "backup or salvage what is readable with \"tansu repair\"",
                    (unsigned long long)rid, collection->name, name,
                    (unsigned long long)((uint32_t)location & LOCATION_MASK));
}

/* check -- checked() of a call that copies what it reads. */
static tansu_status check(const read_context *rctx, const collection_state *collection,
                          uint64_t rid, log_location location, const uint8_t *doc, uint32_t size,
                          tansu_error *error) {
    bool intact;
    tansu_status status = log_intact_at(rctx->intact, location, &intact, error);
    if (status != TANSU_OK)
        return status;
    intact = intact && doc_check(doc, size, DOC_CHECK_BSON, NULL) == TANSU_OK;
    return intact ? TANSU_OK : damaged(rctx, collection, rid, location, error);
}

/* checked -- the status of a document that was found. */
static inline tansu_status checked(const read_context *rctx, const collection_state *collection,
                                   uint64_t rid, log_location location, const uint8_t *doc,
                                   uint32_t size, tansu_error *error) {
    return __builtin_expect(rctx->intact == NULL, 1)
               ? TANSU_OK
               : check(rctx, collection, rid, location, doc, size, error);
}

/* expected -- the document at a location if the read context sees that version and it is not in a
 * compressed segment: what committed() and found() say, for most documents. NULL: ask those. */
static inline const uint8_t *expected(const read_context *rctx, log_location location,
                                      uint64_t where, uint32_t *size) {
    const segment_entry *entry = log_entry(rctx->log, (uint32_t)(location >> 32));
    uint64_t room, offset = (uint32_t)location & LOCATION_MASK;
    if (__atomic_load_n(&entry->first, __ATOMIC_RELAXED) > rctx->sequence ||
        (location & LOCATION_DELETED) != 0)
        return NULL;
    const uint8_t *memory = log_memory(entry, &room);
    if (log_compressed(memory) != NULL || offset + RECORD_SIZE_LEAST > room)
        return NULL;
    const record_header *record = (const record_header *)(memory + offset);
    prefetch_lines(record, 64);
    if (record_visible_from(record) > rctx->sequence)
        return NULL;
    const uint8_t *doc = record_document(record, room - offset, where, size);
    return doc == NULL || lost(rctx, record, (uint64_t)(doc - (const uint8_t *)record) + *size)
               ? NULL
               : doc;
}

/* find_document -- read_find() and read_find_document(); the document only if it is committed. */
static inline tansu_status find_document(const read_context *rctx,
                                         const collection_state *collection, uint64_t rid,
                                         doc_ref *ref, const uint8_t **doc, uint32_t *size,
                                         tansu_error *error) {
    if (rid >= collection->next_rid)
        return TANSU_DONE;
    if (rctx->pending != NULL) {
        uint64_t at = pending_find(rctx->pending, record_where(collection->id, rid));
        if (at != 0) {
            *ref = (at & LOCATION_MASK) | REF_PENDING;
            return at & LOCATION_DELETED ? TANSU_DONE : TANSU_OK;
        }
    }
    log_location location;
    tansu_status status = locations_get(collection->locations, rid, &location, error);
    if (status != TANSU_OK)
        return status;
    uint64_t where = record_where(collection->id, rid);
    *ref = location;
    *doc = expected(rctx, location, where, size);
    if (__builtin_expect(*doc != NULL, 1))
        return checked(rctx, collection, rid, location, *doc, *size, error);
    *ref = committed(rctx, location, where);
    if (*ref == 0)
        return TANSU_DONE;
    if (*ref == ASTRAY || (*doc = found(rctx, *ref, where, size)) == NULL)
        return damaged(rctx, collection, rid, location, error);
    return checked(rctx, collection, rid, *ref, *doc, *size, error);
}

tansu_status read_find(const read_context *rctx, const collection_state *collection, uint64_t rid,
                       doc_ref *ref, tansu_error *error) {
    const uint8_t *doc;
    uint32_t size;
    return find_document(rctx, collection, rid, ref, &doc, &size, error);
}

tansu_status read_find_document(const read_context *rctx, const collection_state *collection,
                                uint64_t rid, doc_ref *ref, const uint8_t **doc, uint32_t *size,
                                tansu_error *error) {
    tansu_status status = find_document(rctx, collection, rid, ref, doc, size, error);
    if (status == TANSU_OK && *ref & REF_PENDING)
        *doc = read_document(rctx, *ref, size);
    return status;
}

const uint8_t *read_document(const read_context *rctx, doc_ref ref, uint32_t *size) {
    uint64_t room;
    const record_header *record =
        ref & REF_PENDING ? (const record_header *)(log_frame(rctx->log) + (ref & ~REF_PENDING))
                          : log_record(rctx->log, rctx->pins, ref, &room);
    /* A page that can't be read again is zeros now. Whoever reads on is stopped at the call's
     * end. */
    static const uint8_t empty[8] = {5};
    const uint8_t *doc = record_payload(record);
    *size = load_u32(doc);
    if (__builtin_expect(*size < 5, 0)) {
        doc = empty;
        *size = 5;
    }
    return doc;
}

void table_scan_init(table_scan *scan, const read_context *rctx,
                     const collection_state *collection) {
    *scan = (table_scan){.rctx = rctx, .collection = collection};
}

/* Documents ahead whose records are asked for; their locations are asked for as long before. */
#define RIDS_AHEAD 12

/* prefetch_rid -- asks for the record of a record id. */
static inline void prefetch_rid(const read_context *rctx, const collection_state *collection,
                                uint64_t rid) {
    const aligned_u64 *word = locations_word(collection->locations, rid);
    if (word != NULL)
        prefetch_record(rctx, locations_load(word));
}

void read_prefetch_locations(const collection_state *collection, const uint64_t *rids,
                             size_t count) {
    for (size_t i = 0; i <= 2 * RIDS_AHEAD && i < count; i++)
        __builtin_prefetch(locations_word(collection->locations, rids[i]));
}

void read_prefetch_records(const read_context *rctx, const collection_state *collection,
                           const uint64_t *rids, size_t count) {
    for (size_t i = 0; i <= RIDS_AHEAD && i < count; i++)
        prefetch_rid(rctx, collection, rids[i]);
}

void read_prefetch(const read_context *rctx, const collection_state *collection,
                   const uint64_t *rids, size_t count, size_t next) {
    if (next == 0) {
        read_prefetch_locations(collection, rids, count);
        read_prefetch_records(rctx, collection, rids, count);
        return;
    }
    if (next + 2 * RIDS_AHEAD < count)
        __builtin_prefetch(locations_word(collection->locations, rids[next + 2 * RIDS_AHEAD]));
    if (next + RIDS_AHEAD < count)
        prefetch_rid(rctx, collection, rids[next + RIDS_AHEAD]);
}

/* scan_bytes -- what a location leads to, if it is in the segment of the document before, and that
 * is not compressed, and how many bytes may be read there, at least RECORD_SIZE_LEAST; otherwise
 * NULL. The entry is loaded after the location was, each time: where another process writes, more
 * of the segment may have been mapped since. */
static inline const uint8_t *scan_bytes(const table_scan *scan, log_location location,
                                        uint64_t *room) {
    if ((uint32_t)(location >> 32) != scan->segment || scan->entry == NULL)
        return NULL;
    uint64_t size, offset = (uint32_t)location & LOCATION_MASK;
    const uint8_t *memory = log_memory(scan->entry, &size);
    *room = size - offset;
    return log_compressed(memory) == NULL && offset + RECORD_SIZE_LEAST <= size ? memory + offset
                                                                                : NULL;
}

/* scan_expected -- the document at a location, if it is in the segment of the one before, and the
 * read context sees that version: what committed() and found() say, for most documents of most
 * scans. NULL: ask those. */
static inline const uint8_t *scan_expected(const table_scan *scan, log_location location,
                                           uint64_t where, uint32_t *size) {
    uint64_t room;
    const record_header *record = (const record_header *)scan_bytes(scan, location, &room);
    if (record == NULL || (location & ~LOCATION_MASK) != 0 ||
        record_visible_from(record) > scan->rctx->sequence)
        return NULL;
    const uint8_t *doc = record_document(record, room, where, size);
    return doc == NULL ||
                   lost(scan->rctx, record, (uint64_t)(doc - (const uint8_t *)record) + *size)
               ? NULL
               : doc;
}

/* Records ahead of the scan that are asked for early; about as many as memory can deliver in the
 * time that matching takes. */
#define PREFETCH 6

/* scan_prefetch -- asks for the record at a location. */
static inline void scan_prefetch(const table_scan *scan, log_location location) {
    uint64_t room;
    const uint8_t *bytes = scan_bytes(scan, location, &room);
    if (bytes == NULL)
        prefetch_record(scan->rctx, location);
    else
        prefetch_lines(bytes, 0);
}

/* scan_to_words -- moves to the next record id whose chunk has words; where there are none, no record
 * id has a location, nor will get one in the transaction that it is prepared for. TANSU_DONE at the
 * end. */
static inline tansu_status scan_to_words(table_scan *scan, tansu_error *error) {
    while (scan->rid < scan->collection->next_rid) {
        if (scan->rid >= scan->end) {
            tansu_status status = locations_words(scan->collection->locations, scan->rid,
                                                  &scan->words, &scan->end, error);
            if (status != TANSU_OK)
                return status;
            scan->first = scan->rid;
        }
        if (scan->words != NULL)
            return TANSU_OK;
        scan->rid = scan->end;
    }
    return TANSU_DONE;
}

/* scan_pending -- one step in a write transaction that has changed documents. */
static tansu_status scan_pending(table_scan *scan, uint64_t *rid, doc_ref *ref, const uint8_t **doc,
                                 uint32_t *size, tansu_error *error) {
    tansu_status status;
    while ((status = scan_to_words(scan, error)) == TANSU_OK) {
        *rid = scan->rid++;
        status = read_find_document(scan->rctx, scan->collection, *rid, ref, doc, size, error);
        if (status != TANSU_DONE)
            return status;
    }
    return status;
}

tansu_status table_scan_next(table_scan *scan, uint64_t *rid, doc_ref *ref, const uint8_t **doc,
                             uint32_t *size, tansu_error *error) {
    const read_context *rctx = scan->rctx;
    if (rctx->pending != NULL && !pending_empty(rctx->pending))
        return scan_pending(scan, rid, ref, doc, size, error);
    tansu_status status;
    while ((status = scan_to_words(scan, error)) == TANSU_OK) {
        uint64_t number = scan->rid++;
        uint64_t i = number - scan->first;
        if (number + PREFETCH < scan->end)
            scan_prefetch(scan, locations_load(&scan->words[i + PREFETCH]));
        uint64_t where = record_where(scan->collection->id, number);
        log_location newest = locations_load(&scan->words[i]);
        *rid = number;
        *ref = newest;
        *doc = scan_expected(scan, newest, where, size);
        if (*doc != NULL)
            return checked(rctx, scan->collection, number, newest, *doc, *size, error);
        log_location location = committed(rctx, newest, where);
        if (location == 0)
            continue;
        if (location != ASTRAY) {
            scan->segment = (uint32_t)(location >> 32);
            scan->entry = log_entry(rctx->log, scan->segment);
        }
        *ref = location;
        *doc = location == ASTRAY ? NULL : found(rctx, location, where, size);
        return *doc != NULL ? checked(rctx, scan->collection, number, location, *doc, *size, error)
                            : damaged(rctx, scan->collection, number, newest, error);
    }
    return status;
}

/* ---- Versions that older snapshots see ---- */

void kept_begin(kept_versions *k, database *db, uint64_t first) {
    *k = (kept_versions){.db = db};
    pthread_mutex_lock(&db->snapshots.mutex);
    for (snapshot *v = db->snapshots.oldest; v != NULL && v->sequence < first; v = v->next) {
        if (k->count == KEPT_SNAPSHOTS) {
            k->incomplete = true;
            break;
        }
        v->references++;
        k->held[k->count++].snapshot = v;
    }
    pthread_mutex_unlock(&db->snapshots.mutex);
}

/* keep -- the version of one snapshot; false when that fails. */
static bool keep(kept_versions *k, uint32_t i, const record_header *record) {
    snapshot *v = k->held[i].snapshot;
    uint32_t id = record_collection(record);
    if (k->held[i].last == NULL || k->held[i].last->id != id)
        k->held[i].last = snapshot_collection_by_id(v, id);
    if (k->held[i].last == NULL || record_rid(record) >= k->held[i].last->next_rid)
        return true;
    const read_context rctx = {.log = k->db->log, .sequence = v->sequence, .kept = &v->kept};
    return read_keep_version(&rctx, record_previous(record), record->where, KEPT_VERSIONS);
}

void kept_note(kept_versions *k, const record_header *record) {
    /* Snapshots before an insert do not have its record id. */
    if ((record->type != RECORD_PUT && record->type != RECORD_DELETE) || record_is_insert(record))
        return;
    for (uint32_t i = 0; i < k->count && !k->incomplete; i++)
        k->incomplete = !keep(k, i, record);
}

uint64_t kept_birth(const kept_versions *k) {
    return k->incomplete || k->count == 0 ? 0 : k->held[k->count - 1].snapshot->epoch + 1;
}

void kept_end(kept_versions *k) {
    for (uint32_t i = 0; i < k->count; i++)
        snapshot_release(k->db, k->held[i].snapshot);
    k->count = 0;
}
