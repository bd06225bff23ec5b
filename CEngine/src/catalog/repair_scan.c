/*
 * catalog/repair_scan.c -- taking the records of the history, in the order of commits.
 *
 * A frame whose checksum is right is taken whole. Records that no checksum protects are taken where their
 * commit is missing, if they go on with what is known of their document then.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "base/value.h"
#include "catalog/repair_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* The course through the history. */
typedef struct scan {
    repair *r;
    uint8_t *bytes; /* of the segment that a run was read of last */
    uint32_t segment;
    size_t next; /* of the records that no checksum protects */
    repair_reader reader;
    repair_reader known; /* for what is known of a document */
} scan;

/* Numbers that no document was ever given, for those whose own can't be right. */
#define STRAY_DOCNO ((uint64_t)1 << 39)

/* note -- a problem with a record. */
static void note(scan *k, log_place place, uint64_t size, const char *message) {
    char name[64];
    repair_name(k->r, repair_number(place), name);
    finding where = {.file = name, .offset = (int64_t)repair_offset(place), .size = (int64_t)size};
    findings_add(&k->r->problems, &where, "%s, offset %u: %s", name, repair_offset(place), message);
}

/* same_id -- whether two records are of documents with one `_id`. */
static bool same_id(const record_header *a, const record_header *b) {
    doc_value x, y;
    const uint8_t *p = record_payload(a), *q = record_payload(b);
    return doc_find(p, load_u32(p), "_id", 3, &x) && doc_find(q, load_u32(q), "_id", 3, &y) &&
           value_compare(&x, &y) == 0;
}

/* follows -- whether a record that no checksum protects goes on with what is known of its document: else
 * its number, which decides what it replaces, may be what is damaged. *older: it is from before that. */
static tansu_status follows(scan *k, const record_header *record, log_place known, bool *fits,
                            bool *older, tansu_error *error) {
    const record_header *before;
    tansu_status status;
    *fits = *older = false;
    if (known == 0) {
        *fits = record->type == RECORD_PUT;
        return TANSU_OK;
    }
    if (repair_read(&k->known, known, &before, &status, error)) {
        *older = before->sequence > record->sequence;
        *fits = before->where == record->where && same_id(before, record) &&
                (record->previous != 0 || before->sequence == record->sequence);
    }
    if (status != TANSU_OK || !*fits || record->previous == 0 ||
        (record->previous & PLACE_MASK) == (known & PLACE_MASK))
        return status;
    /* What it replaced may have been lost, and then its place says nothing. */
    if (repair_read(&k->known, record->previous, &before, &status, error))
        *fits = before->where == record->where;
    return status;
}

/* take_unsure -- a put or a deletion that no checksum protects. */
static tansu_status take_unsure(scan *k, const record_header *record, log_place place,
                                tansu_error *error) {
    repair *r = k->r;
    bool fits, older;
    uint64_t where = record->where;
    tansu_status status = follows(k, record, pending_find(&r->places, where), &fits, &older, error);
    if (status != TANSU_OK || (fits && older))
        return status;
    if (!fits && record->type == RECORD_DELETE) {
        note(k, place, record->size,
             "a deletion does not fit what is known of its document and was left out");
        return TANSU_OK;
    }
    if (!fits) /* as a document of its own; one with the same `_id` is told from it later */
        where = record_where(record_collection(record), STRAY_DOCNO + r->strays++);
    if (!pending_reserve(&r->places))
        return error_memory(error);
    pending_set(&r->places, where, place | PLACE_UNSURE);
    return TANSU_OK;
}

/* take_document -- a put or a deletion. */
static tansu_status take_document(scan *k, const record_header *record, log_place place, bool sure,
                                  tansu_error *error) {
    if (record->type == RECORD_DELETE)
        place |= PLACE_DELETED;
    if (!sure)
        return take_unsure(k, record, place, error);
    if (!pending_reserve(&k->r->places))
        return error_memory(error);
    pending_set(&k->r->places, record->where, place);
    return TANSU_OK;
}

/* take_record -- any record that makes sense. */
static tansu_status take_record(scan *k, const record_header *record, log_place place, bool sure,
                                tansu_error *error) {
    repair *r = k->r;
    if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
        return take_document(k, record, place, sure, error);
    if (record->type == RECORD_COMPACTION)
        return TANSU_OK;
    if (!repair_grow(&r->records, r->record_count, &r->record_room, sizeof *r->records))
        return error_memory(error);
    const uint8_t *payload = record_payload(record);
    repair_record *taken = &r->records[r->record_count];
    *taken = (repair_record){.sequence = record->sequence,
                             .type = record->type,
                             .collection = record_collection(record),
                             .place = sure ? place : place | PLACE_UNSURE};
    if (!buffer_set(&taken->payload, payload, load_u32(payload)))
        return error_memory(error);
    r->record_count++;
    return TANSU_OK;
}

/* removes -- whether a record only takes something away. */
static bool removes(const record_header *record) {
    return record->type == RECORD_DELETE || record->type == RECORD_COLLECTION_DROP ||
           record->type == RECORD_INDEX_DROP;
}

/* outdate -- a version that compaction has left out: what is older than it is not there any more, either. It may
 * be the last that is left of the document, should a later one be lost. */
static tansu_status outdate(scan *k, const record_header *record, log_place place,
                            tansu_error *error) {
    repair *r = k->r;
    const record_header *known;
    tansu_status status;
    log_place at = pending_find(&r->places, record->where);
    if (at == 0 || (at & PLACE_DELETED) != 0 || !repair_read(&k->known, at, &known, &status, error))
        return at == 0 || (at & PLACE_DELETED) != 0 ? TANSU_OK : status;
    if (known->sequence >= record->sequence)
        return TANSU_OK;
    pending_set(&r->places, record->where,
                r->last_lost > record->sequence ? place | PLACE_DOUBTED : at | PLACE_DELETED);
    return TANSU_OK;
}

/* take_frame -- the records of a frame whose checksum is right, or only its deletions. */
static tansu_status take_frame(scan *k, const frame_header *frame, log_place place,
                               const repair_piece *piece, tansu_error *error) {
    bool removals = piece->removals;
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = walk_record(record, frame->size - at, frame->sequence);
        if (fault == NULL && (!removals || removes(record))) {
            status = take_record(
                k, record, piece->doubted ? (place + at) | PLACE_DOUBTED : place + at, true, error);
        } else if (fault == NULL && record->type == RECORD_PUT) {
            status = outdate(k, record, place + at, error);
        } else if (fault != NULL && !removals) {
            char message[160];
            snprintf(message, sizeof message, "a record %s and was left out", fault);
            note(k, place + at, record->size, message);
            k->r->lost_bytes += record->size;
        }
        at += record->size;
    }
    return status;
}

/* ---- Records that no checksum protects ---- */

/* by_commit -- for sorting them. */
static int by_commit(const void *a, const void *b) {
    const repair_loose *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* is_missing -- whether the commit of such a record is one that is missing: there, or at the log's end, where
 * it may be the last of several. */
static bool is_missing(const repair *r, const repair_loose *loose) {
    uint64_t first, last;
    if (repair_missing(r, loose->sequence, loose->sequence, &first, &last) != 0)
        return true;
    const repair_hole *hole = &r->holes[loose->hole];
    uint64_t most = (hole->to - hole->from) / (FRAME_HEADER_SIZE + RECORD_HEADER_SIZE);
    return hole->high == UINT64_MAX && !hole->unfinished && loose->sequence > r->last_known &&
           loose->sequence <= r->last_known + 1 + most;
}

/* take_loose -- those of commits before `limit`. */
static tansu_status take_loose(scan *k, uint64_t limit, tansu_error *error) {
    repair *r = k->r;
    tansu_status status = TANSU_OK;
    for (; status == TANSU_OK && k->next < r->loose_count && r->loose[k->next].sequence < limit;
         k->next++) {
        const repair_loose *loose = &r->loose[k->next];
        const record_header *record;
        if (is_missing(r, loose) &&
            repair_read(&k->reader, loose->place, &record, &status, error) &&
            record->sequence == loose->sequence) {
            repair_hole *hole = &r->holes[loose->hole];
            uint64_t end = repair_offset(loose->place) + record->size;
            /* The end of a record may be zero, too. */
            if (end > hole->to)
                hole->to = (uint32_t)end;
            hole->taken++;
            hole->taken_bytes += record->size;
            status = take_record(k, record, loose->place, false, error);
        }
    }
    return status;
}

/* ---- The course ---- */

/* load_segment -- has a segment's bytes at hand. */
static tansu_status load_segment(scan *k, uint32_t segment, tansu_error *error) {
    if (k->bytes != NULL && k->segment == segment)
        return TANSU_OK;
    free(k->bytes);
    k->bytes = NULL;
    k->segment = segment;
    return repair_load(k->r, &k->r->segments[segment], &k->bytes, error);
}

/* scan_piece -- the frames of a run from one commit to another. */
static tansu_status scan_piece(scan *k, const repair_piece *piece, tansu_error *error) {
    repair *r = k->r;
    const repair_run *run = &r->runs[piece->run];
    tansu_status status = load_segment(k, run->segment, error);
    log_place place = (uint64_t)r->segments[run->segment].number << 32;
    uint64_t told = run->from;
    for (uint64_t at = run->from; status == TANSU_OK && at < run->to;) {
        const frame_header *frame =
            walk_frame(r->crc_seed, k->bytes, r->segments[run->segment].size, at);
        if (frame == NULL) {
            note(k, place + at, run->to - at, "what was read before can't be read any more");
            r->lost_bytes += run->to - at;
            break;
        }
        if (frame->sequence > piece->last)
            break;
        if (frame->sequence >= piece->first)
            status = take_frame(k, frame, place + at, piece, error);
        at += frame->size;
        if (status == TANSU_OK && at - told >= PROGRESS_BYTES) {
            status = repair_tell(r, at - told, error);
            told = at;
        }
    }
    return status;
}

tansu_status repair_scan(repair *r, tansu_error *error) {
    scan k = {.r = r, .reader = {.r = r, .fd = -1}, .known = {.r = r, .fd = -1}};
    tansu_status status = TANSU_OK;
    if (r->loose_count > 1)
        qsort(r->loose, r->loose_count, sizeof *r->loose, by_commit);
    bool removals = false;
    for (size_t i = 0; status == TANSU_OK && i < r->piece_count; i++) {
        const repair_piece *piece = &r->pieces[i];
        removals = removals || piece->removals;
        status = take_loose(&k, removals ? UINT64_MAX : piece->first, error);
        if (status == TANSU_OK)
            status = scan_piece(&k, piece, error);
    }
    if (status == TANSU_OK)
        status = take_loose(&k, UINT64_MAX, error);
    free(k.bytes);
    repair_reader_end(&k.reader);
    repair_reader_end(&k.known);
    return status;
}
