/*
 * log/copy.c -- reading the log's bytes out, segment by segment, for a backup.
 */
#include "log/copy.h"

#include "base/error.h"
#include "log/walk.h"

#include <stdlib.h>

/* header_right -- whether a segment's header checks out and is of this database and number. */
static bool header_right(const log *l, const log_extent *e) {
    const segment_header *header = (const segment_header *)e->bytes;
    return walk_header(header) && header->number == e->number &&
           memcmp(header->uuid, l->uuid, sizeof header->uuid) == 0;
}

/* damage -- the error for bytes that do not check out. */
static tansu_status damage(const log_extent *e, uint64_t offset, uint64_t sequence,
                           tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "commit %llu is damaged at %s, offset %llu: verify the database and salvage "
                    "what is readable",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}

/* hand_over -- gives the target the bytes from *done up to `end`, in steps. */
static tansu_status hand_over(const log_extent *e, const log_copy_target *target, uint64_t *done,
                              uint64_t end, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && *done < end) {
        uint64_t size = end - *done < LOG_COPY_STEP ? end - *done : LOG_COPY_STEP;
        status = target->bytes(target->context, e->bytes + *done, (size_t)size, error);
        *done += size;
    }
    return status;
}

/* copy_frames -- a segment's header and frames, checked. */
static tansu_status copy_frames(const log *l, const log_extent *e, const log_copy_target *target,
                                tansu_error *error) {
    uint64_t at = SEGMENT_HEADER_SIZE, done = 0, covered = e->first - 1;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (e->compacted ? at < e->end : covered < e->last)) {
        const frame_header *frame = walk_frame(l->crc_seed, e->bytes, e->end, at);
        if (frame == NULL || frame->sequence <= covered || frame->sequence > e->last ||
            (!e->compacted && frame->sequence != covered + 1))
            return damage(e, at, covered + 1, error);
        at += frame->size;
        covered = frame->sequence;
        if (at - done >= LOG_COPY_STEP)
            status = hand_over(e, target, &done, at, error);
    }
    return status == TANSU_OK ? hand_over(e, target, &done, at, error) : status;
}

tansu_status log_copy(log *l, uint64_t sequence, uint64_t position, const log_copy_target *target,
                      tansu_error *error) {
    log_extent *list = NULL;
    uint32_t count = 0;
    if (sequence == 0)
        return TANSU_OK;
    tansu_status status = log_extents(l, sequence, position, &list, &count, error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++) {
        const log_extent *e = &list[i];
        if (!header_right(l, e))
            status = damage(e, 0, e->first, error);
        if (status == TANSU_OK)
            status = target->begin(target->context, e, error);
        if (status == TANSU_OK)
            status = copy_frames(l, e, target, error);
        if (status == TANSU_OK)
            status = target->end(target->context, error);
    }
    free(list);
    return status;
}
