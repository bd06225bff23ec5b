/*
 * log/replay.c -- walking the log's tail at opening, and deciding where the log ends.
 */
#include "base/error.h"
#include "log/aside.h"
#include "log/frame.h"
#include "log/settle.h"
#include "log/tail.h"

#include <errno.h>

/*
 * later_witness -- looks behind the end of the log for a valid frame that was written when commit
 * `sequence` was already on the disk: then the bad place is damage, not a torn end. As long as the
 * machine was not off, any frame that follows tells that: a killed process leaves all that it wrote.
 */
static bool later_witness(const log *l, uint32_t index, uint64_t offset, uint64_t sequence) {
    for (; index < l->force.count; index++) {
        const segment *s = l->force.items[index];
        if (s->last != 0 && s->first > sequence) /* made of commits that were on the disk */
            return true;
        while (offset + FRAME_HEADER_SIZE <= s->allocated) {
            if (load_u32(s->base + offset) == FRAME_MAGIC) {
                const frame_header *frame = frame_at(l, s, offset);
                if (frame != NULL && frame->sequence > sequence &&
                    (l->unbroken || frame->synced >= sequence))
                    return true;
            }
            offset += 8;
        }
        offset = SEGMENT_HEADER_SIZE;
    }
    return false;
}

/* remove_blank -- takes the segments without a header away, the last first. `due`: the commit that the log ends
 * before. */
static tansu_status remove_blank(log *l, uint64_t due, tansu_error *error) {
    while (l->blank_count != 0 && !l->read_only) {
        uint32_t number = l->blank[l->blank_count - 1];
        blank_look look;
        tansu_status status = aside_look(l, number, due, &look, error);
        if (status == TANSU_OK)
            status = look.holds ? aside_move(l, number, error) : segment_unlink(l, number, error);
        if (status != TANSU_OK)
            return status;
        segment_give_back(l, number);
        l->blank_count--;
    }
    return TANSU_OK;
}

/* remove_behind -- takes the segments behind the log's end away, the last first. */
static tansu_status remove_behind(log *l, uint32_t index, uint64_t due, bool *changed,
                                  tansu_error *error) {
    while (l->force.count > index + 1) {
        if (l->read_only) { /* they stay on the disk; this opening does not look at them */
            segment_close(l, l->force.items[--l->force.count]);
            continue;
        }
        const segment *s = segment_head(l);
        tansu_status status = TANSU_OK;
        if (aside_holds(s->base, s->allocated, SEGMENT_HEADER_SIZE))
            status = aside_move(l, s->number, error);
        if (status == TANSU_OK)
            status = segment_remove_last(l, error);
        if (status != TANSU_OK)
            return status;
        *changed = true;
    }
    *changed = *changed || l->blank_count != 0;
    return remove_blank(l, due, error);
}

/* cut -- makes the log end at a place: what is behind reads as zero and later segments are gone. */
static tansu_status cut(log *l, uint32_t index, uint64_t offset, uint64_t due, tansu_error *error) {
    bool changed = false;
    tansu_status status = remove_behind(l, index, due, &changed, error);
    if (status != TANSU_OK)
        return status;
    segment *s = l->force.items[index];
    s->used = offset;
    if (l->read_only)
        return TANSU_OK;
    bool holds = aside_holds(s->base, s->allocated, offset) || s->allocated % 8 != 0;
    if ((holds || changed) && segment_descriptor(l, s) < 0)
        return error_errno(error, l->folder, "open", errno);
    if (holds) {
        status = aside_copy(l, s, offset, error);
        if (status != TANSU_OK)
            return status;
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

/* A walk over the log's frames. */
typedef struct walk {
    log *l;
    uint32_t index; /* of the segment */
    uint64_t offset;
    uint64_t expected; /* the next commit */
    uint64_t synced;   /* the last commit that one of the frames knew to be on the disk */
    uint64_t done;     /* bytes of segments before */
    uint64_t total;
    log_visitor visitor;
    void *context;
    tansu_progress progress;
    void *progress_context;
} walk;

/* walk_frame -- shows a frame to the visitor and goes behind it. */
static tansu_status walk_frame(walk *w, const segment *s, const frame_header *frame,
                               tansu_error *error) {
    if (!frame_records_valid(frame))
        return frame_damage(s->number, w->offset, frame->sequence, error);
    log_place place = (uint64_t)s->number << 32 | w->offset;
    tansu_status status = w->visitor(w->context, frame, place + FRAME_HEADER_SIZE, error);
    if (status != TANSU_OK)
        return status;
    w->offset += frame->size;
    w->expected = frame->sequence + 1;
    if (frame->synced > w->synced)
        w->synced = frame->synced;
    if (w->progress != NULL && (w->expected & 1023) == 0)
        w->progress(w->progress_context, w->done + w->offset, w->total);
    return TANSU_OK;
}

/* walk_compacted -- all of a compacted segment, in which every bad frame is damage. */
static tansu_status walk_compacted(walk *w, const segment *s, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && w->offset < s->used) {
        const frame_header *frame = frame_at(w->l, s, w->offset);
        if (frame == NULL || frame->sequence < w->expected || frame->sequence > s->last ||
            frame->size > s->used - w->offset)
            return frame_damage(s->number, w->offset, w->expected, error);
        status = walk_frame(w, s, frame, error);
    }
    w->expected = s->last + 1;
    return status;
}

/* segment_anywhere -- a segment in force or one that was. */
static const segment *segment_anywhere(const log *l, uint32_t number) {
    for (uint32_t i = 0; i < l->superseded.count; i++)
        if (l->superseded.items[i]->number == number)
            return l->superseded.items[i];
    return segment_get(l, number);
}

tansu_status log_walk(log *l, uint32_t number, log_visitor visitor, void *context,
                      tansu_error *error) {
    const segment *s = segment_anywhere(l, number);
    if (s == NULL)
        return error_set(error, TANSU_E_NOT_FOUND, l->folder,
                         "segment %08u.seg of the log is missing", number);
    walk w = {.l = l,
              .offset = SEGMENT_HEADER_SIZE,
              .expected = s->first,
              .visitor = visitor,
              .context = context};
    if (s->last != 0)
        return walk_compacted(&w, s, error);
    const frame_header *frame;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (frame = frame_at(l, s, w.offset)) != NULL &&
           frame->sequence == w.expected)
        status = walk_frame(&w, s, frame, error);
    return status;
}

/* blank_behind -- the first segment without a header that has a greater number; 0: there is none. */
static uint32_t blank_behind(const log *l, uint32_t number) {
    for (uint32_t i = 0; i < l->blank_count; i++)
        if (l->blank[i] > number)
            return l->blank[i];
    return 0;
}

/*
 * walk_gap -- where the log does not go on with the next segment, or with the one that was never begun
 * (`next`: its number). A log that no compaction has touched numbers its segments without gaps: so one is
 * missing there. The numbers alone do not tell that: a compaction that was cancelled took one, and earlier
 * versions did not say so in a backup's MANIFEST.
 */
static tansu_status walk_gap(const walk *w, uint32_t next, tansu_error *error) {
    const segment *s = w->l->force.items[w->index];
    uint32_t blank = blank_behind(w->l, s->number);
    if (w->l->sparse || next == s->number + 1 || blank == s->number + 1)
        return TANSU_OK;
    return w->offset + 8 <= s->allocated && load_u64(s->base + w->offset) != 0
               ? frame_damage(s->number, w->offset, w->expected, error)
               : segment_missing(w->l, s->number + 1, error);
}

/* walk_on -- to the first place that is no frame that is due. */
static tansu_status walk_on(walk *w, tansu_error *error) {
    for (;;) {
        segment *s = w->l->force.items[w->index];
        tansu_status status = TANSU_OK;
        if (s->last != 0) {
            status = walk_compacted(w, s, error);
        } else {
            const frame_header *frame;
            while (status == TANSU_OK && (frame = frame_at(w->l, s, w->offset)) != NULL &&
                   frame->sequence == w->expected)
                status = walk_frame(w, s, frame, error);
        }
        w->index = segment_index(w->l, s->number); /* a compaction may have been met */
        if (status != TANSU_OK)
            return status;
        if (w->index + 1 == w->l->force.count)
            return blank_behind(w->l, s->number) == 0 ? TANSU_OK : walk_gap(w, UINT32_MAX, error);
        /* The next segment begins with the commit that is due here only if this one is whole. */
        const segment *next = w->l->force.items[w->index + 1];
        if (next->first != w->expected)
            return s->last == 0 ? walk_gap(w, next->number, error)
                                : frame_damage(next->number, 0, w->expected, error);
        s->used = w->offset;
        w->done += s->allocated;
        w->index++;
        w->offset = SEGMENT_HEADER_SIZE;
    }
}

/* walk_start -- where to begin; false when the log does not hold that. */
static bool walk_start(walk *w, uint64_t position) {
    const log *l = w->l;
    w->offset = SEGMENT_HEADER_SIZE;
    if (position != 0) {
        w->index = segment_index(l, (uint32_t)(position >> 32));
        w->offset = (uint32_t)position;
        if (w->index == UINT32_MAX || w->offset < SEGMENT_HEADER_SIZE ||
            w->offset > l->force.items[w->index]->allocated || w->offset % 8 != 0)
            return false;
        /* Only at its end: a checkpoint is never in the middle of what was compacted. */
        const segment *s = l->force.items[w->index];
        if (s->last != 0 && (w->offset != s->used || w->expected != s->last + 1))
            return false;
    }
    for (uint32_t i = w->index; i < l->force.count; i++)
        w->total += l->force.items[i]->allocated;
    return true;
}

/* must_hold -- the commit up to which the log has to be whole, by all that was written down elsewhere. */
static uint64_t must_hold(const log *l, uint64_t sure_sequence) {
    uint64_t least = sure_sequence > l->witnessed ? sure_sequence : l->witnessed;
    if (l->found.synced > least)
        least = l->found.synced;
    /* Of what was only written nothing is lost as long as the page cache is the same. */
    return l->found.same_cache && l->found.written > least ? l->found.written : least;
}

/* check_end -- whether the log may end where the walk did. */
static tansu_status check_end(const walk *w, uint64_t sure_sequence, tansu_error *error) {
    log *l = w->l;
    bool damaged = w->expected <= must_hold(l, sure_sequence);
    uint32_t number = l->force.count == 0 ? 0 : l->force.items[w->index]->number;
    for (uint32_t i = 0; i < l->blank_count && !damaged; i++) {
        blank_look look;
        tansu_status status = aside_look(l, l->blank[i], w->expected, &look, error);
        if (status != TANSU_OK)
            return status;
        damaged = look.damaged;
    }
    if (!damaged && (l->force.count == 0 || !later_witness(l, w->index, w->offset, w->expected)))
        return TANSU_OK;
    /* The one without a header should go on where the one before it ends. */
    uint32_t blank = blank_behind(l, number);
    bool next = blank != 0 && (l->force.count == 0 || w->index + 1 == l->force.count ||
                               blank < l->force.items[w->index + 1]->number);
    if (next)
        number = blank;
    return frame_damage(number == 0 ? 1 : number, next ? 0 : w->offset, w->expected, error);
}

/* doubtful -- whether bytes behind the last sure commit may be in the page cache alone, and count as written
 * there: then they must be written once more. Otherwise a sync that succeeds proves that they are on the disk. */
static bool doubtful(const log *l, uint64_t manifest_sequence) {
    return !l->found.settled && (l->found.failed || l->appended > manifest_sequence);
}

/* begin_writing -- makes what the walk found durable where that is in doubt, and begins to keep marks. */
static tansu_status begin_writing(walk *w, const walk *began, uint32_t began_number,
                                  uint64_t sure_sequence, tansu_error *error) {
    log *l = w->l;
    uint64_t sure = sure_sequence > l->found.synced ? sure_sequence : l->found.synced;
    if (w->synced > sure)
        sure = w->synced;
    l->synced = sure < l->appended ? sure : l->appended;
    uint32_t first = l->force.count;
    while (first > 1 && l->force.items[first - 1]->first > l->synced + 1)
        first--;
    l->sync_segment = first == 0 ? 0 : l->force.items[first - 1]->number;
    if (l->read_only)
        return TANSU_OK;
    if (l->force.count != 0 && doubtful(l, sure_sequence)) {
        tansu_status status =
            log_settle(l, l->synced, began_number, began->offset, began->expected, error);
        if (status != TANSU_OK)
            return status;
        l->synced = l->appended;
        l->sync_segment = segment_head(l)->number;
    }
    return l->found.settled && l->found.written == 0 ? TANSU_OK : tail_begin(l, error);
}

tansu_status log_replay(log *l, uint64_t sequence, uint64_t position, uint64_t sure_sequence,
                        log_visitor visitor, void *context, tansu_progress progress,
                        void *progress_context, bool *reached, tansu_error *error) {
    *reached = true;
    l->unbroken = l->unbroken || l->found.same_cache;
    walk w = {.l = l,
              .offset = SEGMENT_HEADER_SIZE,
              .expected = sequence + 1,
              .visitor = visitor,
              .context = context,
              .progress = progress,
              .progress_context = progress_context};
    bool empty = l->force.count == 0;
    if (empty ? sequence != 0 : !walk_start(&w, position)) {
        *reached = false;
        return TANSU_OK;
    }
    if (!empty && position == 0 && l->force.items[0]->first != w.expected)
        return frame_damage(l->force.items[0]->number, 0, w.expected,
                            error); /* its beginning is missing */
    walk began = w;
    uint32_t began_number = empty ? 1 : l->force.items[w.index]->number;
    uint64_t faults = log_faults(l);
    tansu_status status = empty ? TANSU_OK : walk_on(&w, error);
    if (status == TANSU_OK)
        status = check_end(&w, sure_sequence, error);
    /* What could not be read looks like damage, or like the log's end, and must not be cut off for that. */
    status = log_check(l, faults, status, error);
    if (status != TANSU_OK)
        return status;
    status =
        empty ? remove_blank(l, w.expected, error) : cut(l, w.index, w.offset, w.expected, error);
    if (status == TANSU_OK && !empty)
        status = segment_ready(l, l->force.items[w.index], error);
    if (status == TANSU_OK) {
        l->appended = w.expected - 1;
        status = begin_writing(&w, &began, began_number, sure_sequence, error);
    }
    if (status != TANSU_OK) {
        tail_doubt(l);
        return status;
    }
    if (progress != NULL && !empty)
        progress(progress_context, w.total, w.total);
    return TANSU_OK;
}
