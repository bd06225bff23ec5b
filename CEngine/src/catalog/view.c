/*
 * catalog/view.c -- reading documents as of a version.
 */
#include "catalog/view.h"

#include "base/error.h"
#include "catalog/pending.h"
#include "log/walk.h"

/* A reference into the unfinished frame rather than the committed log. */
#define REF_PENDING ((uint64_t)1 << 63)

/* prefetch_record -- the four cache lines that most documents fit in. */
static inline void prefetch_record(const view *v, log_place place) {
    if (place == 0)
        return;
    const char *record = (const char *)log_record(v->log, place);
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
    __builtin_prefetch(record + 128);
    __builtin_prefetch(record + 192);
}

/* Stands for a place that a damaged record led to. */
#define ASTRAY UINT64_MAX

/* earlier -- the place of the version before a record that is newer than the view; 0 when there is none. */
static log_place earlier(const view *v, const record_header *record, uint64_t where) {
    if (record->where != where ||
        (record->previous != 0 && !log_known(v->log, (uint32_t)(record->previous >> 32))))
        return ASTRAY;
    return record->previous;
}

/* lost -- whether a record is in a page that could not be read. */
static inline bool lost(const view *v, const record_header *record, uint64_t size) {
    return log_lost(v->log, record, size);
}

/* committed -- follows a place back to the record that the view may see; 0 when there is none. */
static log_place committed(const view *v, log_place place, uint64_t where) {
    while (place != 0 && place != ASTRAY) {
        const record_header *record = log_record(v->log, place);
        /* Zeros are older than any view. */
        if (record->sequence <= v->sequence) {
            if ((place & PLACE_DELETED) == 0)
                return place; /* found() looks whether it could be read */
            return lost(v, record, RECORD_HEADER_SIZE) ? ASTRAY : 0;
        }
        place = earlier(v, record, where);
    }
    return place;
}

/* found -- the document of a reference; NULL when there is none that makes sense, or it could not be read. */
static inline const uint8_t *found(const view *v, log_place place, uint64_t where, uint32_t *size) {
    const record_header *record = log_record(v->log, place);
    const uint8_t *doc = record_document(record, where, size);
    return doc == NULL || lost(v, record, (uint64_t)(doc - (const uint8_t *)record) + *size) ? NULL
                                                                                             : doc;
}

/* dropped -- whether the system fails to write the log: it may then have dropped bytes from memory that
 * never came to the disk, which is no damage of what is there. */
static bool dropped(const view *v) {
    const struct log *l = v->log;
    if (l->read_only || l->folder == NULL)
        return false;
    return log_failed(v->log) ||
           log_sync(v->log, __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE), NULL) != TANSU_OK;
}

/* damaged -- the error for a place that does not lead to a document. */
static tansu_status damaged(const view *v, const collection_state *collection, uint64_t docno,
                            log_place place, tansu_error *error) {
    char name[32];
    if (log_faults(v->log) != 0)
        return log_read_error(v->log, error);
    segment_name((uint32_t)(place >> 32), name);
    if (dropped(v))
        return error_at(
            error, TANSU_E_IO, name, (int64_t)((uint32_t)place & PLACE_MASK),
            "The system could not write \"%s\" and has dropped what was at offset %llu; "
            "check the disk, close the database and open it again",
            name, (unsigned long long)((uint32_t)place & PLACE_MASK));
    return error_at(
        error, TANSU_E_CORRUPT, name, (int64_t)((uint32_t)place & PLACE_MASK),
        "document number %llu of '%s' is damaged at %s, offset %llu: restore a backup or "
        "salvage what is readable",
        (unsigned long long)docno, collection->name, name,
        (unsigned long long)((uint32_t)place & PLACE_MASK));
}

tansu_status view_find(const view *v, const collection_state *collection, uint64_t docno,
                       doc_ref *ref, tansu_error *error) {
    if (docno >= collection->next_docno)
        return TANSU_DONE;
    if (v->pending != NULL) {
        uint64_t at = pending_find(v->pending, record_where(collection->id, docno));
        if (at != 0) {
            *ref = (at & PLACE_MASK) | REF_PENDING;
            return at & PLACE_DELETED ? TANSU_DONE : TANSU_OK;
        }
    }
    log_place place;
    tansu_status status = places_get(collection->places, docno, &place, error);
    if (status != TANSU_OK)
        return status;
    uint64_t where = record_where(collection->id, docno);
    uint32_t size;
    *ref = committed(v, place, where);
    if (*ref == 0)
        return TANSU_DONE;
    if (*ref == ASTRAY || found(v, *ref, where, &size) == NULL)
        return damaged(v, collection, docno, place, error);
    return TANSU_OK;
}

const uint8_t *view_document(const view *v, doc_ref ref, uint32_t *size) {
    const record_header *record =
        ref & REF_PENDING ? (const record_header *)(log_frame(v->log) + (ref & ~REF_PENDING))
                          : log_record(v->log, ref);
    /* A page that can't be read again is zeros now. Whoever reads on is stopped at the call's end. */
    static const uint8_t empty[8] = {5};
    const uint8_t *doc = record_payload(record);
    *size = load_u32(doc);
    if (__builtin_expect(*size < 5, 0)) {
        doc = empty;
        *size = 5;
    }
    return doc;
}

void view_scan_init(view_scan *scan, const view *v, const collection_state *collection) {
    *scan = (view_scan){.view = v, .collection = collection, .chunk = UINT64_MAX};
}

/* Documents ahead whose records are asked for; their places are asked for as long before. */
#define DOCNOS_AHEAD 12

void view_prefetch(const view *v, const collection_state *collection, const uint64_t *docnos,
                   size_t count, size_t next) {
    size_t from = next == 0 ? 0 : next + 2 * DOCNOS_AHEAD, to = next + 2 * DOCNOS_AHEAD + 1;
    for (size_t i = from; i < to && i < count; i++)
        __builtin_prefetch(places_word(collection->places, docnos[i]));
    from = next == 0 ? 0 : next + DOCNOS_AHEAD;
    to = next + DOCNOS_AHEAD + 1;
    for (size_t i = from; i < to && i < count; i++) {
        const uint64_t *word = places_word(collection->places, docnos[i]);
        if (word != NULL)
            prefetch_record(v, places_load(word));
    }
}

/* Records ahead of the scan that are asked for early; about as many as memory can deliver in the
 * time that matching takes. */
#define PREFETCH 6

/* scan_pending -- one step in a write transaction that has changed documents. */
static tansu_status scan_pending(view_scan *scan, uint64_t *docno, doc_ref *ref,
                                 const uint8_t **doc, uint32_t *size, tansu_error *error) {
    while (scan->docno < scan->collection->next_docno) {
        uint64_t number = scan->docno++;
        tansu_status status = view_find(scan->view, scan->collection, number, ref, error);
        if (status == TANSU_DONE)
            continue;
        if (status == TANSU_OK) {
            *docno = number;
            *doc = view_document(scan->view, *ref, size);
        }
        return status;
    }
    return TANSU_DONE;
}

tansu_status view_scan_next(view_scan *scan, uint64_t *docno, doc_ref *ref, const uint8_t **doc,
                            uint32_t *size, tansu_error *error) {
    const view *v = scan->view;
    if (v->pending != NULL && v->pending->count != 0)
        return scan_pending(scan, docno, ref, doc, size, error);
    uint64_t end = scan->collection->next_docno;
    while (scan->docno < end) {
        uint64_t number = scan->docno;
        uint64_t chunk = number / PLACES_CHUNK, i = number % PLACES_CHUNK;
        if (chunk != scan->chunk) {
            tansu_status status =
                places_chunk(scan->collection->places, chunk, &scan->words, error);
            if (status != TANSU_OK)
                return status;
            scan->chunk = chunk;
        }
        if (scan->words == NULL) {
            scan->docno = (chunk + 1) * PLACES_CHUNK;
            continue;
        }
        scan->docno++;
        if (i + PREFETCH < PLACES_CHUNK)
            prefetch_record(v, places_load(&scan->words[i + PREFETCH]));
        uint64_t where = record_where(scan->collection->id, number);
        log_place newest = places_load(&scan->words[i]), place = committed(v, newest, where);
        if (place == 0)
            continue;
        *docno = number;
        *ref = place;
        *doc = place == ASTRAY ? NULL : found(v, place, where, size);
        return *doc != NULL ? TANSU_OK : damaged(v, scan->collection, number, newest, error);
    }
    return TANSU_DONE;
}
