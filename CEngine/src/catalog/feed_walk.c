/*
 * catalog/feed_walk.c -- a feed's way through the segments of the log (see feed.h).
 */
#include "base/error.h"
#include "catalog/feed.h"
#include "log/walk.h"

#include <stdlib.h>

tansu_status feed_damage(uint32_t number, uint64_t offset, const char *fault, tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(
        error, TANSU_E_CORRUPT, name, (int64_t)offset,
        "a record of the log %s at %s, offset %llu: restore a backup or salvage what is "
        "readable",
        fault, name, (unsigned long long)offset);
}

/* lost -- the error for a commit that is not where it must be. */
static tansu_status lost(const log_extent *e, uint64_t offset, uint64_t sequence,
                         tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(
        error, TANSU_E_CORRUPT, name, (int64_t)offset,
        "commit %llu is damaged at %s, offset %llu: restore a backup or salvage what is readable",
        (unsigned long long)sequence, name, (unsigned long long)offset);
}

/* tell -- says up to where it has come; compactions look at that. */
static void tell(feed_position *p, uint64_t sequence) {
    __atomic_store_n(&p->told, sequence, __ATOMIC_RELAXED);
}

tansu_status feed_hold(feed *f, tansu_error *error) {
    f->held = database_hold(f->db);
    f->position.extent = 0;
    f->position.offset = 0;
    if (f->held->sequence <= f->position.told)
        return TANSU_DONE;
    return log_from(f->db->log, f->position.told + 1, &f->extents, &f->extent_count, error);
}

void feed_release(feed *f) {
    if (f->held == NULL)
        return;
    free(f->extents);
    f->extents = NULL;
    f->extent_count = 0;
    database_release(f->db, f->held);
    f->held = NULL;
}

/* seek -- the offset of the first frame that is not told in the segment at hand. Only the headers are
 * looked at: what is passed over matters to nobody. */
static tansu_status seek(const feed *f, feed_position *p, tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    if ((uint32_t)(f->hint >> 32) == e->number) {
        p->offset = (uint32_t)f->hint;
        return TANSU_OK;
    }
    p->offset = SEGMENT_HEADER_SIZE;
    for (uint64_t passed = e->first - 1; passed < p->told && p->offset < e->end;) {
        const frame_header *frame = (const frame_header *)(e->bytes + p->offset);
        if (e->end - p->offset < FRAME_HEADER_SIZE || frame->magic != FRAME_MAGIC ||
            frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
            frame->size > e->end - p->offset || frame->sequence <= passed)
            return lost(e, p->offset, passed + 1, error);
        if (frame->sequence > p->told)
            break;
        passed = frame->sequence;
        p->offset += frame->size;
    }
    return TANSU_OK;
}

/* frame_due -- the next frame in the segment at hand; DONE at its end, or that of the version. */
static tansu_status frame_due(const feed *f, feed_position *p, const frame_header **frame,
                              tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    tansu_status status = p->offset == 0 ? seek(f, p, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    uint64_t due = p->told + 1;
    if (due > f->held->sequence || (e->compacted ? p->offset >= e->end : due > e->last))
        return TANSU_DONE;
    *frame = walk_frame(f->db->log->crc_seed, e->bytes, e->end, p->offset);
    if (*frame == NULL || (*frame)->sequence > e->last ||
        (e->compacted ? (*frame)->sequence < due : (*frame)->sequence != due))
        return lost(e, p->offset, due, error);
    return (*frame)->sequence > f->held->sequence ? TANSU_DONE : TANSU_OK;
}

/* next_frame -- the next frame of the version that is held; DONE at its end. */
static tansu_status next_frame(const feed *f, feed_position *p, const frame_header **frame,
                               tansu_error *error) {
    while (p->extent < f->extent_count) {
        tansu_status status = frame_due(f, p, frame, error);
        if (status != TANSU_DONE)
            return status;
        /* Of the last commits of a compacted segment nothing may be left. */
        uint64_t last = f->extents[p->extent].last;
        if (last >= f->held->sequence)
            break;
        tell(p, last);
        p->extent++;
        p->offset = SEGMENT_HEADER_SIZE;
    }
    tell(p, f->held->sequence);
    return TANSU_DONE;
}

/* pass -- goes behind a frame. */
static void pass(feed_position *p, const frame_header *frame) {
    p->offset += frame->size;
    tell(p, frame->sequence);
}

/* survey_record -- the first that says what a collection was called says it for all before. */
static bool survey_record(feed *f, const record_header *record) {
    if (record->type != RECORD_COLLECTION_DROP && record->type != RECORD_COLLECTION_RENAME)
        return true;
    const char *name = feed_record_text(record, "name");
    return name == NULL || feed_names_set(&f->names, record_collection(record), name, false);
}

tansu_status feed_survey(feed *f, tansu_error *error) {
    bool complete = f->position.told == 0;
    for (uint32_t i = 0; i < f->extent_count; i++)
        complete = complete && !f->extents[i].compacted;
    if (complete) /* every collection's creation comes before its documents */
        return TANSU_OK;
    feed_position p = f->position;
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &p, &frame, error)) == TANSU_OK) {
        const uint8_t *at = (const uint8_t *)frame, *end = at + frame->size;
        for (at += FRAME_HEADER_SIZE; at < end; at += record_step((const record_header *)at))
            if (!survey_record(f, (const record_header *)at))
                return error_memory(error);
        pass(&p, frame);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status feed_frame_next(feed *f, tansu_error *error) {
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &f->position, &frame, error)) == TANSU_OK) {
        status = feed_frame_begin(f, frame, f->extents[f->position.extent].number,
                                  f->position.offset, error);
        if (status != TANSU_DONE || interrupt_asked(&f->interrupt))
            return status;
        pass(&f->position, frame);
        f->hint = (log_place)f->at.number << 32 | (uint32_t)f->position.offset;
    }
    if (status == TANSU_DONE)
        f->hint = f->held->position;
    return status;
}

void feed_frame_end(feed *f) {
    pass(&f->position, f->at.frame);
    f->hint = (log_place)f->at.number << 32 | (uint32_t)f->position.offset;
    f->at.frame = NULL;
}
