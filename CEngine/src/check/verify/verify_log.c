/*
 * check/verify/verify_log.c -- verifying every frame and record of the log up to the snapshot.
 */
#include "check/verify/verify_internal.h"

#include "log/sealed_check.h"
#include "log/sealed_segment.h"
#include "log/segment_reader.h"
#include "store/database_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* No frame is smaller. */
#define FRAME_LEAST (FRAME_HEADER_SIZE + RECORD_SIZE_LEAST)

/* note -- a problem at an offset of a segment; `message` begins the sentence. */
static void note(verification *c, const log_extent *e, uint64_t offset, int64_t size,
                 const char *message) {
    char name[32];
    segment_name(e->number, name);
    problem_location where = {.file = name, .offset = (int64_t)offset, .size = size};
    problem_list_add(&c->problems, &where, "%s (\"%s\", offset %llu)", message, name,
                     (unsigned long long)offset);
}

/* note_record -- the same for a record. */
static void note_record(verification *c, const log_extent *e, uint64_t offset,
                        const record_header *record, uint64_t commit, const char *fault) {
    char message[160];
    snprintf(message, sizeof message, "A record of type %u of commit %llu with record id %llu %s",
             record->type, (unsigned long long)commit, (unsigned long long)record_rid(record),
             fault);
    note(c, e, offset, record->size, message);
}

/* check_location -- whether the location table names this record or a newer one. A corrupt chunk of
 * the table is a problem of its collection. */
static tansu_status check_location(verification *c, const log_extent *e, uint64_t offset,
                                   const record_header *record, uint64_t commit,
                                   tansu_error *error) {
    const collection_state *state = snapshot_collection_by_id(c->v, record_collection(record));
    if (state == NULL || commit > c->v->sequence)
        return TANSU_OK;
    uint64_t rid = record_rid(record), word;
    if (rid >= state->next_rid) {
        note_record(c, e, offset, record, commit, "has a record id that was never assigned");
        return TANSU_OK;
    }
    tansu_status status = locations_get(state->locations, rid, &word, error);
    if (status == TANSU_E_CORRUPT)
        return TANSU_OK;
    verify_resolved resolved;
    if (status == TANSU_OK)
        status = verify_resolve(c, state, rid, word, &resolved, error);
    if (status != TANSU_OK || resolved.fault != NULL)
        return status;
    /* Compaction drops deletions of documents of which nothing is left. */
    bool lost = resolved.record == NULL
                    ? record->type == RECORD_PUT
                    : record_visible_from(resolved.record) < record_visible_from(record);
    if (lost)
        note_record(c, e, offset, record, commit, "is newer than the one in the location table");
    return TANSU_OK;
}

/* check_frame -- the records of a frame with a valid checksum. */
static tansu_status check_frame(verification *c, const log_extent *e, uint64_t offset,
                                const frame_header *frame, tansu_error *error) {
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    c->frames++;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = scan_record(record, frame->size - at, frame->sequence);
        c->log_corrupt = c->log_corrupt || fault != NULL;
        if (fault != NULL)
            note_record(c, e, offset + at, record, frame->sequence, fault);
        else if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
            status = check_location(c, e, offset + at, record, frame->sequence, error);
        c->records++;
        at += record_step(record);
    }
    return status;
}

/* add_gap -- a byte range without the frames that should be there: commits from `first` up to, but
 * not including, `next`. */
static tansu_status add_gap(verification *c, const log_extent *e, uint64_t offset, uint64_t size,
                            uint64_t first, uint64_t after, tansu_error *error) {
    if (!ARRAY_RESERVE(c->corrupt_ranges, c->corrupt_range_count, c->corrupt_range_capacity, 1))
        return error_memory(error);
    c->corrupt_ranges[c->corrupt_range_count++] =
        (verify_corrupt_range){.number = e->number, .from = offset, .to = offset + size};
    char message[160];
    if (after == first + 1)
        snprintf(message, sizeof message, "Commit %llu is corrupt", (unsigned long long)first);
    else if (after > first)
        snprintf(message, sizeof message, "The commits %llu to %llu are corrupt",
                 (unsigned long long)first, (unsigned long long)after - 1);
    else
        snprintf(message, sizeof message, "A frame is corrupt");
    note(c, e, offset, (int64_t)size, message);
    c->log_corrupt = true;
    return TANSU_OK;
}

/* next_frame -- the offset of the first frame after a corrupt one that is where it belongs: the
 * commits between must fit in the bytes between, or a misdirected write would make everything after
 * it look corrupt. e->end when there is none. */
static uint64_t next_frame(const verification *c, const log_extent *e, const uint8_t *bytes,
                           uint64_t offset, uint64_t expected) {
    uint32_t seed = c->db->log->crc_seed;
    for (uint64_t next = offset + 8;; next += 8) {
        next = scan_find(seed, bytes, e->end, next, expected);
        const frame_header *frame = scan_frame(seed, bytes, e->end, next);
        if (frame == NULL)
            return e->end;
        if (frame->sequence <= e->last &&
            (e->compacted || frame->sequence - expected <= (next - offset) / FRAME_LEAST))
            return next;
    }
}

/* check_segment -- the frames of a segment, which are those of the commits that it covers. */
static tansu_status check_segment(verification *c, const log_extent *e, const uint8_t *bytes,
                                  tansu_error *error) {
    uint32_t seed = c->db->log->crc_seed;
    uint64_t offset = SEGMENT_HEADER_SIZE, reported = offset, expected = e->first;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (e->compacted ? offset < e->end : expected <= e->last)) {
        const frame_header *frame = scan_frame(seed, bytes, e->end, offset);
        if (frame == NULL || frame->sequence > e->last ||
            (e->compacted ? frame->sequence < expected : frame->sequence != expected)) {
            /* In a compacted segment, only this frame shows that the ones before it were
             * misdirected. */
            uint64_t least = e->compacted ? e->first : expected;
            uint64_t next = next_frame(c, e, bytes, offset, least);
            const frame_header *found = scan_frame(seed, bytes, e->end, next);
            uint64_t after = found != NULL ? found->sequence : e->last + 1;
            status = add_gap(c, e, offset, next - offset, expected, e->compacted ? expected : after,
                             error);
            expected = after;
            offset = next;
            if (found == NULL)
                break;
            continue;
        }
        status = check_frame(c, e, offset, frame, error);
        expected = frame->sequence + 1;
        offset += frame->size;
        if (status == TANSU_OK && offset - reported >= PROGRESS_BYTES) {
            status = verify_progress(c, offset - reported, error);
            reported = offset;
        }
    }
    return status == TANSU_OK ? verify_progress(c, e->end - reported, error) : status;
}

/* by_location -- for sorting corrupt ranges. */
static int by_location(const void *a, const void *b) {
    const verify_corrupt_range *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

bool verify_in_corrupt_range(const verification *c, log_location location) {
    uint32_t number = (uint32_t)(location >> 32);
    uint64_t offset = (uint32_t)location & LOCATION_MASK;
    size_t low = 0, high = c->corrupt_range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const verify_corrupt_range *s = &c->corrupt_ranges[middle];
        if (s->number < number || (s->number == number && s->to <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->corrupt_range_count && c->corrupt_ranges[low].number == number &&
           c->corrupt_ranges[low].from <= offset;
}

/* A segment whose file is checked. */
typedef struct file_check {
    verification *c;
    const log_extent *e;
} file_check;

/* note_fault -- a sealed_fault. */
static void note_fault(void *context, uint64_t offset, uint64_t size, const char *what) {
    const file_check *f = context;
    f->c->log_corrupt = true;
    note(f->c, f->e, offset, (int64_t)size, what);
}

/* check_file -- of an encrypted database, the file that the image of a segment comes from, or was
 * written to. */
static tansu_status check_file(verification *c, const log_extent *e, const segment_image *image,
                               tansu_error *error) {
    file_check f = {.c = c, .e = e};
    bool last = e == &c->extents[c->extent_count - 1];
    return sealed_log(c->db->log) ? sealed_check(c->db->log, e, last, image->bytes,
                                                 image->owned != NULL, note_fault, &f, error)
                                  : TANSU_OK;
}

tansu_status verify_log(verification *c, tansu_error *error) {
    uint64_t expected = 1;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < c->extent_count; i++) {
        const log_extent *e = &c->extents[i];
        segment_image image;
        status = image_open(c->db->log, e->number, e->bytes, true, &image, error);
        if (status != TANSU_OK)
            break;
        const segment_header *header = (const segment_header *)(const void *)image.bytes;
        const char *fault = NULL;
        if (!scan_header(header) || header->number != e->number ||
            memcmp(header->uuid, c->db->log->uuid, sizeof header->uuid) != 0)
            fault = "The header of a segment is corrupt";
        else if (e->first != expected)
            fault = "A segment begins with another commit than the next one";
        c->log_corrupt = c->log_corrupt || fault != NULL;
        if (fault != NULL)
            note(c, e, 0, SEGMENT_HEADER_SIZE, fault);
        status = check_file(c, e, &image, error);
        if (status == TANSU_OK)
            status = check_segment(c, e, image.bytes, error);
        image_close(&image);
        expected = e->last + 1;
    }
    if (c->corrupt_range_count > 1)
        qsort(c->corrupt_ranges, c->corrupt_range_count, sizeof *c->corrupt_ranges, by_location);
    return status;
}
