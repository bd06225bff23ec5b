/*
 * check/repair/repair_replay.c -- replaying the records of the history in the order of commits.
 *
 * All records of a frame with a valid checksum are applied. Records that no checksum protects are
 * applied where their commit is missing, if they are consistent with what is known of their
 * document by then.
 */
#include "check/repair/repair_replay.h"

#include "bson/value.h"
#include "check/repair/repair_history.h"
#include "check/repair/repair_read.h"
#include "log/scan.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* The state of the replay. */
typedef struct replay {
    repair *r;
    uint8_t *bytes; /* of the run that was read last */
    size_t run;
    size_t next; /* orphan */
    repair_reader reader;
    repair_reader known; /* reads the newest record of a document so far */
} replay;

/* Record ids that no document was ever given, for documents whose own can't be right. */
#define STRAY_RID ((uint64_t)1 << 39)

/* note -- a problem of a record; `message` is a sentence. */
static void note(replay *k, log_location location, uint64_t size, const char *message) {
    char name[64];
    repair_segment_name(k->r, repair_number(location), name);
    problem_location where = {
        .file = name, .offset = (int64_t)repair_offset(location), .size = (int64_t)size};
    problem_list_add(&k->r->problems, &where, "%s (\"%s\", offset %u)", message, name,
                     repair_offset(location));
}

/* same_id -- whether two records are of documents with one `_id`. */
static bool same_id(const record_header *a, const record_header *b) {
    doc_value x, y;
    const uint8_t *p = record_payload(a), *q = record_payload(b);
    return doc_find_id(p, load_u32(p), &x) && doc_find_id(q, load_u32(q), &y) &&
           value_compare(&x, &y) == 0;
}

/* follows -- whether a record that no checksum protects is consistent with the newest known record
 * of its document; otherwise its record id, which decides what it replaces, may be corrupt. *older:
 * it is from before that record. */
static tansu_status follows(replay *k, const record_header *record, log_location known, bool *fits,
                            bool *older, tansu_error *error) {
    const record_header *before;
    tansu_status status;
    log_location previous = record_previous(record);
    *fits = *older = false;
    if (known == 0) {
        *fits = record->type == RECORD_PUT;
        return TANSU_OK;
    }
    if (repair_read_record(&k->known, known, &before, &status, error)) {
        *older = record_visible_from(before) > record_visible_from(record);
        *fits = before->where == record->where && same_id(before, record) &&
                (previous != 0 || record_same_commit(before, record));
    }
    if (status != TANSU_OK || !*fits || previous == 0 ||
        (previous & LOCATION_MASK) == (known & LOCATION_MASK))
        return status;
    /* The record that it replaced may be lost, and then its location says nothing. */
    if (repair_read_record(&k->known, previous, &before, &status, error))
        *fits = before->where == record->where;
    return status;
}

/* take_unprotected -- a put or a deletion that no checksum protects. */
static tansu_status take_unprotected(replay *k, const record_header *record, log_location location,
                                     tansu_error *error) {
    repair *r = k->r;
    bool fits, older;
    uint64_t where = record->where;
    tansu_status status =
        follows(k, record, pending_find(&r->locations, where), &fits, &older, error);
    if (status != TANSU_OK || (fits && older))
        return status;
    if (!fits && record->type == RECORD_DELETE) {
        note(k, location, record->size, "An inconsistent deletion was left out");
        return TANSU_OK;
    }
    if (!fits) /* as a document of its own; one with the same `_id` is found later */
        where = record_where(record_collection(record), STRAY_RID + r->strays++);
    if (!pending_reserve(&r->locations))
        return error_memory(error);
    pending_set(&r->locations, where, location | LOCATION_UNPROTECTED);
    return TANSU_OK;
}

/* take_document -- a put or a deletion. */
static tansu_status take_document(replay *k, const record_header *record, log_location location,
                                  bool checksummed, tansu_error *error) {
    if (record->type == RECORD_DELETE)
        location |= LOCATION_DELETED;
    if (!checksummed)
        return take_unprotected(k, record, location, error);
    if (!pending_reserve(&k->r->locations))
        return error_memory(error);
    pending_set(&k->r->locations, record->where, location);
    return TANSU_OK;
}

/* take_record -- any valid record. */
static tansu_status take_record(replay *k, const record_header *record, log_location location,
                                bool checksummed, tansu_error *error) {
    repair *r = k->r;
    if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
        return take_document(k, record, location, checksummed, error);
    if (record->type == RECORD_COMPACTION)
        return TANSU_OK;
    if (!ARRAY_RESERVE(r->records, r->record_count, r->record_capacity, 1))
        return error_memory(error);
    const uint8_t *payload = record_payload(record);
    repair_record *taken = &r->records[r->record_count];
    *taken = (repair_record){.sequence = record_visible_from(record),
                             .type = record->type,
                             .collection = record_collection(record),
                             .location = checksummed ? location : location | LOCATION_UNPROTECTED};
    if (!buffer_set(&taken->payload, payload, load_u32(payload)))
        return error_memory(error);
    r->record_count++;
    return TANSU_OK;
}

/* removes -- whether a record only removes something. */
static bool removes(const record_header *record) {
    return record->type == RECORD_DELETE || record->type == RECORD_COLLECTION_DROP ||
           record->type == RECORD_INDEX_DROP;
}

/* mark_outdated -- a version that compaction has dropped: older versions are not current, either.
 * It may be the last one that is left of the document if a later one is lost. */
static tansu_status mark_outdated(replay *k, const record_header *record, uint64_t commit,
                                  log_location location, tansu_error *error) {
    repair *r = k->r;
    const record_header *known;
    tansu_status status;
    log_location at = pending_find(&r->locations, record->where);
    if (at == 0 || (at & LOCATION_DELETED) != 0 ||
        !repair_read_record(&k->known, at, &known, &status, error))
        return at == 0 || (at & LOCATION_DELETED) != 0 ? TANSU_OK : status;
    if (repair_commit(r, at, known) >= commit)
        return TANSU_OK;
    pending_set(&r->locations, record->where,
                r->last_missing > commit ? location | LOCATION_UNCERTAIN : at | LOCATION_DELETED);
    return TANSU_OK;
}

/* take_frame -- the records of a frame with a valid checksum, or only its deletions. */
static tansu_status take_frame(replay *k, const frame_header *frame, log_location location,
                               const repair_slice *slice, tansu_error *error) {
    bool removals = slice->removals;
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = scan_record(record, frame->size - at, frame->sequence);
        if (fault == NULL && (!removals || removes(record))) {
            status = take_record(
                k, record, slice->uncertain ? (location + at) | LOCATION_UNCERTAIN : location + at,
                true, error);
        } else if (fault == NULL && record->type == RECORD_PUT) {
            status = mark_outdated(k, record, frame->sequence, location + at, error);
        } else if (fault != NULL && !removals) {
            char message[160];
            snprintf(message, sizeof message, "A record that %s was left out", fault);
            note(k, location + at, record->size, message);
            k->r->lost_bytes += record->size;
        }
        at += record->size;
    }
    return status;
}

/* ---- Records that no checksum protects ---- */

/* by_commit -- for sorting them. */
static int by_commit(const void *a, const void *b) {
    const repair_orphan *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* date_inserts -- fills in the commits of those that are inserts. */
static tansu_status date_inserts(replay *k, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < k->r->orphan_count; i++) {
        repair_orphan *orphan = &k->r->orphans[i];
        const record_header *record;
        if (orphan->sequence == 0 &&
            repair_read_record(&k->reader, orphan->location, &record, &status, error))
            orphan->sequence = repair_commit(k->r, orphan->location, record);
    }
    return status;
}

/* is_missing -- whether the commit of an orphan is one that is missing: a known one, or one at the
 * log's end, where it may be the last of several. */
static bool is_missing(const repair *r, const repair_orphan *orphan) {
    uint64_t first, last;
    if (repair_count_missing(r, orphan->sequence, orphan->sequence, &first, &last) != 0)
        return true;
    const repair_gap *gap = &r->gaps[orphan->gap];
    uint64_t most = (gap->to - gap->from) / (FRAME_HEADER_SIZE + RECORD_SIZE_LEAST);
    return gap->high == UINT64_MAX && !gap->unfinished && orphan->sequence > r->last_known &&
           orphan->sequence <= r->last_known + 1 + most;
}

/* take_orphans -- applies those of commits before `limit`. */
static tansu_status take_orphans(replay *k, uint64_t limit, tansu_error *error) {
    repair *r = k->r;
    tansu_status status = TANSU_OK;
    for (; status == TANSU_OK && k->next < r->orphan_count && r->orphans[k->next].sequence < limit;
         k->next++) {
        const repair_orphan *orphan = &r->orphans[k->next];
        const record_header *record;
        if (is_missing(r, orphan) &&
            repair_read_record(&k->reader, orphan->location, &record, &status, error) &&
            record_is_of(record, orphan->sequence)) {
            repair_gap *gap = &r->gaps[orphan->gap];
            uint64_t end = repair_offset(orphan->location) + record->size;
            /* A record may end with zeros. */
            if (end > gap->to)
                gap->to = (uint32_t)end;
            gap->taken++;
            gap->taken_bytes += record->size;
            status = take_record(k, record, orphan->location, false, error);
        }
    }
    return status;
}

/* ---- The history ---- */

/* load_run -- reads a run's bytes unless they are in memory. */
static tansu_status load_run(replay *k, size_t index, tansu_error *error) {
    const repair_run *run = &k->r->runs[index];
    if (k->bytes != NULL && k->run == index)
        return TANSU_OK;
    free(k->bytes);
    k->bytes = NULL;
    k->run = index;
    return repair_read_segment(k->r, &k->r->segments[run->segment], run->from, run->to - run->from,
                               &k->bytes, error);
}

/* replay_slice -- the frames of a run from one commit to another. */
static tansu_status replay_slice(replay *k, const repair_slice *slice, tansu_error *error) {
    repair *r = k->r;
    const repair_run *run = &r->runs[slice->run];
    uint64_t size = run->to - run->from, reported = 0;
    tansu_status status = load_run(k, slice->run, error);
    log_location location = (uint64_t)r->segments[run->segment].number << 32 | run->from;
    for (uint64_t at = 0; status == TANSU_OK && at < size;) {
        const frame_header *frame = scan_frame(r->crc_seed, k->bytes, size, at);
        if (frame == NULL) {
            note(k, location + at, size - at,
                 "Frames that were read before can't be read any more");
            r->lost_bytes += size - at;
            break;
        }
        if (frame->sequence > slice->last)
            break;
        if (frame->sequence >= slice->first)
            status = take_frame(k, frame, location + at, slice, error);
        at += frame->size;
        if (status == TANSU_OK && at - reported >= PROGRESS_BYTES) {
            status = repair_progress(r, at - reported, error);
            reported = at;
        }
    }
    return status;
}

tansu_status repair_replay(repair *r, tansu_error *error) {
    replay k = {.r = r, .reader = {.r = r, .fd = -1}, .known = {.r = r, .fd = -1}};
    tansu_status status = date_inserts(&k, error);
    if (r->orphan_count > 1)
        qsort(r->orphans, r->orphan_count, sizeof *r->orphans, by_commit);
    bool removals = false;
    for (size_t i = 0; status == TANSU_OK && i < r->slice_count; i++) {
        const repair_slice *slice = &r->slices[i];
        removals = removals || slice->removals;
        status = take_orphans(&k, removals ? UINT64_MAX : slice->first, error);
        if (status == TANSU_OK)
            status = replay_slice(&k, slice, error);
    }
    if (status == TANSU_OK)
        status = take_orphans(&k, UINT64_MAX, error);
    free(k.bytes);
    repair_reader_end(&k.reader);
    repair_reader_end(&k.known);
    return status;
}
