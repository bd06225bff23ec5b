/*
 * log/frame.c -- validating one frame in a mapped segment.
 */
#include "log/frame.h"

#include "log/scan.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

const frame_header *frame_in(const log *l, const uint8_t *bytes, uint64_t size, uint64_t offset) {
    if (offset + FRAME_HEADER_SIZE > size)
        return NULL;
    const frame_header *frame = (const frame_header *)(bytes + offset);
    if (frame->magic != FRAME_MAGIC || frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
        frame->size > size - offset)
        return NULL;
    uint32_t crc = checksum(l->crc_seed, bytes + offset + 8, frame->size - 8);
    return crc == frame->crc ? frame : NULL;
}

const frame_header *frame_at(const log *l, const segment *s, uint64_t offset) {
    return frame_in(l, s->base, s->allocated, offset);
}

bool frame_proves(const log *l, const frame_header *frame, uint64_t sequence) {
    return frame->synced >= sequence || (l->concurrent && l->found.page_cache_holds);
}

bool frame_records_valid(const frame_header *frame) {
    uint64_t at = FRAME_HEADER_SIZE;
    uint32_t count = 0;
    while (at < frame->size) {
        if (frame->size - at < RECORD_SIZE_LEAST)
            return false;
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        uint64_t least = (uint64_t)record_front(record) + 5;
        if (record->size % 8 != 0 || record->size < least || record->size > frame->size - at)
            return false;
        at += record->size;
        count++;
    }
    return count == frame->count;
}

tansu_status frame_damaged_error(uint32_t number, uint64_t offset, uint64_t sequence,
                                 tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu was written and is corrupt at \"%s\", offset %llu; restore a "
                    "backup or salvage "
                    "what is readable with \"tansu repair\"",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}
