/*
 * log/segment_copy.c -- copying the log's bytes, segment by segment, for a backup.
 */
#include "log/segment_copy.h"

#include "log/scan.h"
#include "log/segment_reader.h"
#include "util/error.h"

#include <stdlib.h>

/* A segment that is being copied. */
typedef struct copying {
    const log_extent *e;
    const log_copy_target *target;
    log_reader reader;
    uint8_t *buffer; /* small frames, handed over together */
    uint64_t buffered;
} copying;

/* damage -- the error for bytes that are invalid. */
static tansu_status damage(const log_extent *e, uint64_t offset, uint64_t sequence,
                           tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu is corrupt at \"%s\", offset %llu; verify the database and "
                    "salvage what is readable",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}

/* flush -- hands over what is buffered. */
static tansu_status flush(copying *c, tansu_error *error) {
    uint64_t size = c->buffered;
    c->buffered = 0;
    return size == 0 ? TANSU_OK
                     : c->target->bytes(c->target->context, c->buffer, (size_t)size, error);
}

/* put -- hands bytes over, in steps. */
static tansu_status put(copying *c, const uint8_t *bytes, uint64_t size, tansu_error *error) {
    tansu_status status = c->buffered + size > LOG_COPY_STEP ? flush(c, error) : TANSU_OK;
    while (status == TANSU_OK && size > LOG_COPY_STEP) {
        status = c->target->bytes(c->target->context, bytes, LOG_COPY_STEP, error);
        bytes += LOG_COPY_STEP;
        size -= LOG_COPY_STEP;
    }
    if (status == TANSU_OK) {
        memcpy(c->buffer + c->buffered, bytes, size);
        c->buffered += size;
    }
    return status;
}

/* copy_header -- a segment's header, if it is valid and is of this database and number. */
static tansu_status copy_header(copying *c, const log *l, tansu_error *error) {
    const uint8_t *bytes;
    tansu_status status = reader_at(&c->reader, 0, SEGMENT_HEADER_SIZE, &bytes, error);
    if (status != TANSU_OK)
        return status;
    segment_header header;
    memcpy(&header, bytes, sizeof header);
    if (!scan_header(&header) || header.number != c->e->number ||
        memcmp(header.uuid, l->uuid, sizeof header.uuid) != 0)
        return damage(c->e, 0, c->e->first, error);
    status = c->target->begin(c->target->context, c->e, error);
    return status == TANSU_OK ? put(c, bytes, SEGMENT_HEADER_SIZE, error) : status;
}

/* first_fault -- the offset in a frame of the first record that is not valid; 0: all are. */
static uint64_t first_fault(const frame_header *frame) {
    for (uint64_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        if (scan_record(record, frame->size - at, frame->sequence) != NULL)
            return at;
        at += record_step(record);
    }
    return 0;
}

/* copy_frames -- a segment's frames and their records, checked. */
static tansu_status copy_frames(copying *c, tansu_error *error) {
    const log_extent *e = c->e;
    uint64_t at = SEGMENT_HEADER_SIZE, covered = e->first - 1;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (e->compacted ? at < e->end : covered < e->last)) {
        const frame_header *frame;
        status = reader_frame(&c->reader, at, &frame, error);
        if (status != TANSU_OK)
            return status;
        if (frame == NULL || frame->sequence <= covered || frame->sequence > e->last ||
            (!e->compacted && frame->sequence != covered + 1))
            return damage(e, at, covered + 1, error);
        uint64_t fault = first_fault(frame);
        if (fault != 0)
            return damage(e, at + fault, frame->sequence, error);
        at += frame->size;
        covered = frame->sequence;
        status = put(c, (const uint8_t *)frame, frame->size, error);
    }
    return status == TANSU_OK ? flush(c, error) : status;
}

tansu_status log_copy(log *l, uint64_t sequence, uint64_t position, const log_copy_target *target,
                      tansu_error *error) {
    log_extent *list = NULL;
    uint32_t count = 0;
    if (sequence == 0)
        return TANSU_OK;
    tansu_status status = log_extents(l, sequence, position, &list, &count, error);
    copying c = {.target = target, .buffer = malloc(LOG_COPY_STEP)};
    if (status == TANSU_OK && c.buffer == NULL)
        status = error_memory(error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++) {
        c.e = &list[i];
        status = reader_open(&c.reader, l, c.e->number, c.e->bytes, c.e->end, error);
        if (status == TANSU_OK)
            status = copy_header(&c, l, error);
        if (status == TANSU_OK)
            status = copy_frames(&c, error);
        if (status == TANSU_OK)
            status = target->end(target->context, error);
    }
    reader_close(&c.reader);
    free(c.buffer);
    free(list);
    return status;
}
