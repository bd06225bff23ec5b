/*
 * feed/feed_log.c -- reading the commits of the log from a feed's position on.
 */
#include "feed/feed_log.h"

#include "feed/feed_commit.h"
#include "store/database_internal.h"
#include "util/error.h"

#include <stdlib.h>

/* missing_commit -- the error for a commit that is not where it must be. */
static tansu_status missing_commit(const log_extent *e, uint64_t offset, uint64_t sequence,
                                   tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu is corrupt (\"%s\", offset %llu); restore a backup or salvage "
                    "what is readable",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}

tansu_status feed_acquire(feed *f, tansu_error *error) {
    f->snapshot = snapshot_acquire(f->db);
    f->position.extent = 0;
    f->position.offset = 0;
    if (f->snapshot->sequence <= f->position.delivered)
        return TANSU_DONE;
    return log_from(f->db->log, f->position.delivered + 1, &f->extents, &f->extent_count, error);
}

void feed_release(feed *f) {
    if (f->snapshot == NULL)
        return;
    log_pins_release(&f->pins);
    image_close(&f->image);
    f->image_number = 0;
    free(f->extents);
    f->extents = NULL;
    f->extent_count = 0;
    snapshot_release(f->db, f->snapshot);
    f->snapshot = NULL;
}

/* frames_of -- the bytes of a segment: those in memory, or decompressed ones. What is skipped may
 * be corrupt. */
static tansu_status frames_of(feed *f, const log_extent *e, const uint8_t **bytes,
                              tansu_error *error) {
    tansu_status status = TANSU_OK;
    *bytes = e->bytes;
    if (!e->compressed)
        return TANSU_OK;
    if (f->image_number != e->number) {
        image_close(&f->image);
        f->image_number = 0;
        status = image_open(f->db->log, e->number, NULL, true, &f->image, error);
        if (status == TANSU_OK)
            f->image_number = e->number;
    }
    *bytes = f->image.bytes;
    return status;
}

/* seek -- sets the offset of the first frame in the current segment that is not delivered. Only
 * frame headers are read: corruption in what is skipped is nobody's problem. */
static tansu_status seek(const feed *f, const uint8_t *bytes, feed_position *p,
                         tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    if ((uint32_t)(f->hint >> 32) == e->number) {
        p->offset = (uint32_t)f->hint;
        return TANSU_OK;
    }
    p->offset = SEGMENT_HEADER_SIZE;
    for (uint64_t passed = e->first - 1; passed < p->delivered && p->offset < e->end;) {
        const frame_header *frame = (const frame_header *)(bytes + p->offset);
        if (e->end - p->offset < FRAME_HEADER_SIZE || frame->magic != FRAME_MAGIC ||
            frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
            frame->size > e->end - p->offset || frame->sequence <= passed)
            return missing_commit(e, p->offset, passed + 1, error);
        if (frame->sequence > p->delivered)
            break;
        passed = frame->sequence;
        p->offset += frame->size;
    }
    return TANSU_OK;
}

/* frame_in_segment -- the next frame in the current segment; DONE at its end, or that of the
 * snapshot. */
static tansu_status frame_in_segment(feed *f, feed_position *p, const frame_header **frame,
                                     tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    const uint8_t *bytes;
    tansu_status status = frames_of(f, e, &bytes, error);
    if (status == TANSU_OK && p->offset == 0)
        status = seek(f, bytes, p, error);
    if (status != TANSU_OK)
        return status;
    uint64_t due = p->delivered + 1;
    if (due > f->snapshot->sequence || (e->compacted ? p->offset >= e->end : due > e->last))
        return TANSU_DONE;
    *frame = scan_frame(f->db->log->crc_seed, bytes, e->end, p->offset);
    if (*frame == NULL || (*frame)->sequence > e->last ||
        (e->compacted ? (*frame)->sequence < due : (*frame)->sequence != due))
        return missing_commit(e, p->offset, due, error);
    return (*frame)->sequence > f->snapshot->sequence ? TANSU_DONE : TANSU_OK;
}

/* next_frame -- the next frame of the snapshot; DONE at its end. */
static tansu_status next_frame(feed *f, feed_position *p, const frame_header **frame,
                               tansu_error *error) {
    while (p->extent < f->extent_count) {
        tansu_status status = frame_in_segment(f, p, frame, error);
        if (status != TANSU_DONE)
            return status;
        /* Compaction may have dropped the last commits of the segment. */
        uint64_t last = f->extents[p->extent].last;
        if (last >= f->snapshot->sequence)
            break;
        feed_set_delivered(p, last);
        p->extent++;
        p->offset = SEGMENT_HEADER_SIZE;
    }
    feed_set_delivered(p, f->snapshot->sequence);
    return TANSU_DONE;
}

/* find_names_in -- the first record that names a collection names it for all records before. */
static bool find_names_in(feed *f, const record_header *record) {
    if (record->type != RECORD_COLLECTION_DROP && record->type != RECORD_COLLECTION_RENAME)
        return true;
    const char *name = feed_record_text(record, "name");
    return name == NULL || feed_names_note(&f->names, record_collection(record), name);
}

tansu_status feed_find_names(feed *f, tansu_error *error) {
    bool complete = f->position.delivered == 0;
    for (uint32_t i = 0; i < f->extent_count; i++)
        complete = complete && !f->extents[i].compacted;
    if (complete) /* the log has the creation of every collection */
        return TANSU_OK;
    feed_position p = f->position;
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &p, &frame, error)) == TANSU_OK) {
        const uint8_t *at = (const uint8_t *)frame, *end = at + frame->size;
        for (at += FRAME_HEADER_SIZE; at < end; at += record_step((const record_header *)at))
            if (!find_names_in(f, (const record_header *)at))
                return error_memory(error);
        feed_advance(&p, frame);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status feed_next_commit(feed *f, tansu_error *error) {
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &f->position, &frame, error)) == TANSU_OK) {
        status = feed_begin_commit(f, frame, f->extents[f->position.extent].number,
                                   f->position.offset, error);
        if (status != TANSU_DONE || interrupt_asked(&f->interrupt))
            return status;
        feed_advance(&f->position, frame);
        f->hint = (log_location)f->commit.number << 32 | (uint32_t)f->position.offset;
    }
    if (status == TANSU_DONE)
        f->hint = f->snapshot->position;
    return status;
}
