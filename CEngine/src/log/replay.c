/*
 * log/replay.c -- walking the log's tail at opening, and deciding where the log ends.
 */
#include "base/error.h"
#include "log/segment.h"

#include <errno.h>
#include <stdio.h>
#include <zlib.h>

/* frame_at -- the frame at an offset, if its header, bounds and CRC check out; otherwise NULL. */
static const frame_header *frame_at(const log *l, const segment *s, uint64_t offset) {
    if (offset + FRAME_HEADER_SIZE > s->allocated)
        return NULL;
    const frame_header *frame = (const frame_header *)(s->base + offset);
    if (frame->magic != FRAME_MAGIC || frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
        frame->size > s->allocated - offset)
        return NULL;
    uint32_t crc = (uint32_t)crc32_z(l->crc_seed, s->base + offset + 8, (z_size_t)frame->size - 8);
    return crc == frame->crc ? frame : NULL;
}

/* records_valid -- whether the records of a frame fill it exactly. */
static bool records_valid(const frame_header *frame) {
    uint64_t at = FRAME_HEADER_SIZE;
    uint32_t count = 0;
    while (at < frame->size) {
        if (frame->size - at < RECORD_HEADER_SIZE)
            return false;
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        uint64_t least = RECORD_HEADER_SIZE + (uint64_t)record->meta_words * 8 + 5;
        if (record->size % 8 != 0 || record->size < least || record->size > frame->size - at)
            return false;
        at += record->size;
        count++;
    }
    return count == frame->count;
}

/*
 * later_witness -- looks behind the end of the log for a valid frame that was written when commit
 * `sequence` was already on the disk: then the bad place is damage, not a torn end.
 */
static bool later_witness(const log *l, uint32_t number, uint64_t offset, uint64_t sequence) {
    for (;;) {
        const segment *s = segment_get(l, number);
        if (s == NULL)
            return false;
        while (offset + FRAME_HEADER_SIZE <= s->allocated) {
            if (load_u32(s->base + offset) == FRAME_MAGIC) {
                const frame_header *frame = frame_at(l, s, offset);
                if (frame != NULL && frame->sequence > sequence && frame->synced >= sequence)
                    return true;
            }
            offset += 8;
        }
        number++;
        offset = SEGMENT_HEADER_SIZE;
    }
}

/* cut -- makes the log end at a place: what is behind reads as zero and later segments are gone. */
static tansu_status cut(log *l, uint32_t number, uint64_t offset, tansu_error *error) {
    bool changed = false;
    while (l->segment_count > 0 && segment_head(l)->number > number) {
        if (l->read_only) { /* they stay on the disk; this opening does not look at them */
            segment *s = segment_head(l);
            l->segment_count--;
            segment_close(l, s);
            continue;
        }
        tansu_status status = segment_remove_last(l, error);
        if (status != TANSU_OK)
            return status;
        changed = true;
    }
    segment *s = segment_head(l);
    if (s == NULL)
        return TANSU_OK;
    s->used = offset;
    if (l->read_only)
        return TANSU_OK;
    bool zero = true;
    for (uint64_t i = offset; zero && i + 8 <= s->allocated; i += 8)
        zero = load_u64(s->base + i) == 0;
    if (!zero || s->allocated % 8 != 0) {
        if (l->calls->truncate(s->fd, offset) != 0)
            return error_errno(error, l->folder, "trim", errno);
        s->allocated = offset;
        changed = true;
    }
    /* What was cut off must stay away: a frame written here later could else be followed by an old
     * one that happens to fit. */
    if (changed &&
        (l->calls->sync(s->fd, s->base, s->mapped) != 0 || l->calls->sync_folder(l->folder) != 0))
        return error_errno(error, l->folder, "sync", errno);
    return TANSU_OK;
}

/* damage -- the error for a bad frame that was once on the disk. */
static tansu_status damage(const log *l, uint32_t number, uint64_t offset, uint64_t sequence,
                           tansu_error *error) {
    (void)l;
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    return error_at(
        error, TANSU_E_CORRUPT, name, (int64_t)offset,
        "commit %llu was on the disk and is damaged at %s, offset %llu: restore a backup "
        "or salvage what is readable",
        (unsigned long long)sequence, name, (unsigned long long)offset);
}

tansu_status log_replay(log *l, uint64_t sequence, uint64_t position, uint64_t sure_sequence,
                        log_visitor visitor, void *context, tansu_progress progress,
                        void *progress_context, bool *reached, tansu_error *error) {
    *reached = true;
    if (l->segment_count == 0) {
        *reached = sequence == 0;
        if (*reached && sure_sequence > 0)
            return damage(l, 1, 0, 1, error);
        l->appended = l->synced = sequence;
        return TANSU_OK;
    }
    uint32_t number = position == 0 ? l->first_segment : (uint32_t)(position >> 32);
    uint64_t offset = position == 0 ? SEGMENT_HEADER_SIZE : (uint32_t)position;
    segment *s = segment_get(l, number);
    if (s == NULL || offset < SEGMENT_HEADER_SIZE || offset > s->allocated || offset % 8 != 0) {
        *reached = false;
        return TANSU_OK;
    }
    uint64_t expected = sequence + 1;
    if (position == 0 && ((const segment_header *)s->base)->base != expected)
        return damage(l, number, 0, expected, error); /* the log's beginning is missing */
    uint64_t total = 0, done = 0;
    for (uint32_t i = number; segment_get(l, i) != NULL; i++)
        total += segment_get(l, i)->allocated;
    for (;;) {
        const frame_header *frame = frame_at(l, s, offset);
        if (frame != NULL && frame->sequence == expected) {
            if (!records_valid(frame))
                return damage(l, number, offset, expected, error);
            tansu_status status = visitor(
                context, frame, ((uint64_t)number << 32 | offset) + FRAME_HEADER_SIZE, error);
            if (status != TANSU_OK)
                return status;
            offset += frame->size;
            expected++;
            if (progress != NULL && (expected & 1023) == 0)
                progress(progress_context, done + offset, total);
            continue;
        }
        const segment *next = segment_get(l, number + 1);
        if (next == NULL || ((const segment_header *)next->base)->base != expected)
            break;
        /* The next segment begins with the commit that is due here only if this one is whole. */
        s->used = offset;
        done += s->allocated;
        s = segment_get(l, ++number);
        offset = SEGMENT_HEADER_SIZE;
    }
    if (expected <= sure_sequence || later_witness(l, number, offset, expected))
        return damage(l, number, offset, expected, error);
    tansu_status status = cut(l, number, offset, error);
    if (status != TANSU_OK)
        return status;
    l->appended = expected - 1;
    /* Bytes of a killed process may still be only in the page cache. */
    l->synced = sure_sequence < l->appended ? sure_sequence : l->appended;
    l->sync_segment = l->synced == l->appended ? number : l->first_segment;
    if (progress != NULL)
        progress(progress_context, total, total);
    return TANSU_OK;
}
