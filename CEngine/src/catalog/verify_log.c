/*
 * catalog/verify_log.c -- every frame and record of the log up to the version's commit.
 */
#include "base/error.h"
#include "catalog/verify_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* Frames between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* No frame is smaller. */
#define FRAME_LEAST (FRAME_HEADER_SIZE + RECORD_HEADER_SIZE + 8)

/* note -- a problem at an offset of a segment. */
static void note(verification *c, const log_extent *e, uint64_t offset, int64_t size,
                 const char *message) {
    char name[32];
    segment_name(e->number, name);
    finding where = {.file = name, .offset = (int64_t)offset, .size = size};
    findings_add(&c->problems, &where, "%s at %s, offset %llu", message, name,
                 (unsigned long long)offset);
}

/* note_record -- the same for a record. */
static void note_record(verification *c, const log_extent *e, uint64_t offset,
                        const record_header *record, const char *fault) {
    char message[160];
    snprintf(message, sizeof message, "a record of type %u, document %llu, of commit %llu %s",
             record->type, (unsigned long long)record_docno(record),
             (unsigned long long)record->sequence, fault);
    note(c, e, offset, record->size, message);
}

/* check_place -- whether a document's place names this record or a newer one. A damaged chunk of
 * places is told when the documents are gone through. */
static tansu_status check_place(verification *c, const log_extent *e, uint64_t offset,
                                const record_header *record, tansu_error *error) {
    const collection_state *state = version_collection_by_id(c->v, record_collection(record));
    if (state == NULL || record->sequence > c->v->sequence)
        return TANSU_OK;
    uint64_t docno = record_docno(record), word;
    if (docno >= state->next_docno) {
        note_record(c, e, offset, record, "has a number that was never given out");
        return TANSU_OK;
    }
    tansu_status status = places_get(state->places, docno, &word, error);
    if (status == TANSU_E_CORRUPT)
        return TANSU_OK;
    verify_holding holding;
    if (status == TANSU_OK)
        status = verify_resolve(c, state, docno, word, &holding, error);
    if (status != TANSU_OK || holding.fault != NULL)
        return status;
    /* Compaction forgets deletions that nothing is left of. */
    bool lost = holding.record == NULL ? record->type == RECORD_PUT
                                       : holding.record->sequence < record->sequence;
    if (lost)
        note_record(c, e, offset, record, "is newer than what the places say");
    return TANSU_OK;
}

/* check_frame -- the records of a frame whose CRC is right. */
static tansu_status check_frame(verification *c, const log_extent *e, uint64_t offset,
                                const frame_header *frame, tansu_error *error) {
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    c->frames++;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = walk_record(record, frame->size - at, frame->sequence);
        c->log_damaged = c->log_damaged || fault != NULL;
        if (fault != NULL)
            note_record(c, e, offset + at, record, fault);
        else if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
            status = check_place(c, e, offset + at, record, error);
        c->records++;
        at += record_step(record);
    }
    return status;
}

/* tell_gap -- commits that are not where they should be. */
static tansu_status tell_gap(verification *c, const log_extent *e, uint64_t offset, uint64_t size,
                             uint64_t first, uint64_t behind, tansu_error *error) {
    verify_stretch *list = realloc(c->stretches, (c->stretch_count + 1) * sizeof *list);
    if (list == NULL)
        return error_memory(error);
    c->stretches = list;
    list[c->stretch_count++] =
        (verify_stretch){.number = e->number, .from = offset, .to = offset + size};
    char message[160];
    if (behind == first + 1)
        snprintf(message, sizeof message, "commit %llu is damaged", (unsigned long long)first);
    else if (behind > first)
        snprintf(message, sizeof message, "the commits %llu to %llu are damaged",
                 (unsigned long long)first, (unsigned long long)behind - 1);
    else
        snprintf(message, sizeof message, "a frame is damaged");
    note(c, e, offset, (int64_t)size, message);
    c->log_damaged = true;
    return TANSU_OK;
}

/* next_frame -- the offset of the first frame behind a damaged place that belongs there: all commits that are missing
 * must have had room before it, or a block that came from elsewhere would make all behind it look damaged.
 * e->end when there is none. */
static uint64_t next_frame(const verification *c, const log_extent *e, uint64_t offset,
                           uint64_t expected) {
    uint32_t seed = c->db->log->crc_seed;
    for (uint64_t next = offset + 8;; next += 8) {
        next = walk_find(seed, e->bytes, e->end, next, expected);
        const frame_header *frame = walk_frame(seed, e->bytes, e->end, next);
        if (frame == NULL)
            return e->end;
        if (frame->sequence <= e->last &&
            (e->compacted || frame->sequence - expected <= (next - offset) / FRAME_LEAST))
            return next;
    }
}

/* check_segment -- the frames of one segment, which are those of the commits that it covers. */
static tansu_status check_segment(verification *c, const log_extent *e, tansu_error *error) {
    uint32_t seed = c->db->log->crc_seed;
    uint64_t offset = SEGMENT_HEADER_SIZE, told = offset, expected = e->first;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (e->compacted ? offset < e->end : expected <= e->last)) {
        const frame_header *frame = walk_frame(seed, e->bytes, e->end, offset);
        if (frame == NULL || frame->sequence > e->last ||
            (e->compacted ? frame->sequence < expected : frame->sequence != expected)) {
            /* In a compacted segment it is seen only here that what lay before came from elsewhere. */
            uint64_t least = e->compacted ? e->first : expected;
            uint64_t next = next_frame(c, e, offset, least);
            const frame_header *found = walk_frame(seed, e->bytes, e->end, next);
            uint64_t behind = found != NULL ? found->sequence : e->last + 1;
            status = tell_gap(c, e, offset, next - offset, expected,
                              e->compacted ? expected : behind, error);
            expected = behind;
            offset = next;
            if (found == NULL)
                break;
            continue;
        }
        status = check_frame(c, e, offset, frame, error);
        expected = frame->sequence + 1;
        offset += frame->size;
        if (status == TANSU_OK && offset - told >= PROGRESS_BYTES) {
            status = verify_tell(c, offset - told, error);
            told = offset;
        }
    }
    return status == TANSU_OK ? verify_tell(c, e->end - told, error) : status;
}

/* by_place -- for sorting damaged stretches. */
static int by_place(const void *a, const void *b) {
    const verify_stretch *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

bool verify_in_damage(const verification *c, log_place place) {
    uint32_t number = (uint32_t)(place >> 32);
    uint64_t offset = (uint32_t)place & PLACE_MASK;
    size_t low = 0, high = c->stretch_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const verify_stretch *s = &c->stretches[middle];
        if (s->number < number || (s->number == number && s->to <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->stretch_count && c->stretches[low].number == number &&
           c->stretches[low].from <= offset;
}

tansu_status verify_log(verification *c, tansu_error *error) {
    uint64_t expected = 1;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < c->extent_count; i++) {
        const log_extent *e = &c->extents[i];
        const segment_header *header = (const segment_header *)e->bytes;
        const char *fault = NULL;
        if (!walk_header(header) || header->number != e->number ||
            memcmp(header->uuid, c->db->log->uuid, sizeof header->uuid) != 0)
            fault = "the header of a segment does not check out";
        else if (e->first != expected)
            fault = "a segment begins with another commit than the one that is due";
        c->log_damaged = c->log_damaged || fault != NULL;
        if (fault != NULL)
            note(c, e, 0, SEGMENT_HEADER_SIZE, fault);
        status = check_segment(c, e, error);
        expected = e->last + 1;
    }
    if (c->stretch_count > 1)
        qsort(c->stretches, c->stretch_count, sizeof *c->stretches, by_place);
    return status;
}
