/*
 * log/replay.c -- replaying the log at opening, and deciding where it ends.
 */
#include "log/scan.h"
#include "log/sealed_segment.h"
#include "log/segment_reader.h"
#include "log/set_aside.h"
#include "log/tail.h"
#include "util/error.h"

#include <errno.h>

/* examine -- the image of a segment that is written commit by commit, which is examined from an offset
 * on, and how much of it may be. One that cannot be read is counted as a fault. */
static uint64_t examine(log *l, const segment *s, uint64_t offset, segment_image *image) {
    *image = (segment_image){.bytes = s->base};
    if (s->compressed == NULL)
        return s->allocated;
    if (offset >= s->used)
        return offset;
    if (image_open(l, s->number, NULL, true, image, NULL) == TANSU_OK)
        return s->used;
    block_failed(&l->blocks, TANSU_E_MEMORY, s->number, SEGMENT_HEADER_SIZE);
    return 0;
}

/* frame_after -- the next valid frame of a commit after `sequence` in the image of a segment that is
 * written commit by commit, from *offset on, which moves to it; NULL: there is none, and *offset is
 * where the segment ends. */
static const frame_header *frame_after(const log *l, const uint8_t *bytes, uint64_t size,
                                       uint64_t *offset, uint64_t sequence) {
    while ((*offset = scan_zeros(bytes, size, *offset)) + FRAME_HEADER_SIZE <= size) {
        if (load_u32(bytes + *offset) == FRAME_MAGIC) {
            const frame_header *frame = frame_in(l, bytes, size, *offset);
            if (frame != NULL && frame->sequence > sequence)
                return frame;
        }
        *offset += 8;
    }
    return NULL;
}

/*
 * zeros_end -- scan_zeros() of the segment that the log ends in. What nobody has written yet of the
 * disk space that is allocated ahead is up to megabytes: that they are zeros is asked of the file
 * system, because reading them makes a page for each 4 KiB, which takes longer than replaying most
 * logs. Not while another process writes there.
 */
static uint64_t zeros_end(log *l, segment *s, uint64_t offset) {
    uint64_t begin, end;
    bool asks = l->folder != NULL && s->last == 0 && l->calls->hole != NULL && !l->read_only &&
                !l->concurrent && !sealed_log(l) && segment_descriptor(l, s) >= 0;
    while (asks && l->calls->hole(s->fd, offset, &begin, &end)) {
        begin = align8(begin < offset ? offset : begin);
        if (end > s->allocated)
            end = s->allocated;
        end -= end % 8;
        if (begin >= end)
            break;
        offset = scan_zeros(s->base, begin, offset);
        if (offset < begin)
            return offset;
        offset = end;
    }
    return scan_zeros(s->base, s->allocated, offset);
}

/*
 * later_frame_exists -- searches after the end of the log for a valid frame that proves that commit
 * `sequence` is corrupt and no torn end. *zeros: all bytes of the first segment from `offset` on
 * are zero.
 */
static bool later_frame_exists(log *l, uint32_t index, uint64_t offset, uint64_t sequence,
                               bool *zeros) {
    *zeros = false;
    for (uint32_t first = index; index < l->active.count; index++) {
        segment *s = l->active.items[index];
        if (s->last != 0 && s->first > sequence) /* made of commits that were on the disk */
            return true;
        if (s->compressed != NULL && s->last != 0) { /* likewise */
            if (s->last >= sequence)
                return true;
            offset = SEGMENT_HEADER_SIZE;
            continue;
        }
        segment_image image;
        uint64_t size = examine(l, s, offset, &image);
        offset = index + 1 == l->active.count && s->compressed == NULL
                     ? zeros_end(l, s, offset)
                     : scan_zeros(image.bytes, size, offset);
        *zeros = *zeros || (index == first && offset == size);
        bool proven = false;
        for (const frame_header *frame;
             !proven && (frame = frame_after(l, image.bytes, size, &offset, sequence)) != NULL;
             offset += 8)
            proven = frame_proves(l, frame, sequence);
        image_close(&image);
        if (proven)
            return true;
        offset = SEGMENT_HEADER_SIZE;
    }
    return false;
}

/* marks_are_stale -- whether the log has a valid frame after its end that the marks do not know of
 * (tail_is_stale()). */
static bool marks_are_stale(log *l, uint32_t index, uint64_t offset) {
    for (; index < l->active.count; index++, offset = SEGMENT_HEADER_SIZE) {
        const segment *s = l->active.items[index];
        if (s->last != 0)
            continue;
        segment_image image;
        uint64_t size = examine(l, s, offset, &image);
        bool there = frame_after(l, image.bytes, size, &offset, l->found.written + 1) != NULL;
        image_close(&image);
        if (there)
            return true;
    }
    return false;
}

/* remove_headerless -- takes the segments without a header away, the last first. `due`: the commit
 * that the log ends before. */
static tansu_status remove_headerless(log *l, uint64_t due, tansu_error *error) {
    while (l->headerless_count != 0 && !l->read_only) {
        uint32_t number = l->headerless[l->headerless_count - 1];
        headerless_content content;
        tansu_status status = headerless_inspect(l, number, due, &content, error);
        if (status == TANSU_OK)
            status =
                content.holds ? set_aside_move(l, number, error) : segment_unlink(l, number, error);
        if (status != TANSU_OK)
            return status;
        segment_return_number(l, number);
        l->headerless_count--;
    }
    return TANSU_OK;
}

/* remove_after -- takes the segments after the log's end away, the last first. */
static tansu_status remove_after(log *l, uint32_t index, uint64_t due, bool *changed,
                                 tansu_error *error) {
    while (l->active.count > index + 1) {
        if (l->read_only) { /* they stay on the disk; this opening does not examine them */
            segment_close(l, l->active.items[--l->active.count]);
            continue;
        }
        segment *s = segment_head(l);
        const segment *disk = segment_disk(s);
        tansu_status status = TANSU_OK;
        if (bytes_not_zero(disk->base, disk->allocated, SEGMENT_HEADER_SIZE))
            status = set_aside_move(l, s->number, error);
        if (status == TANSU_OK)
            status = segment_remove_last(l, error);
        if (status != TANSU_OK)
            return status;
        *changed = true;
    }
    *changed = *changed || l->headerless_count != 0;
    return remove_headerless(l, due, error);
}

/* cut -- truncates the log at an offset: the bytes after it read as zero (`zeros`: they are known
 * to) and later segments are removed. */
static tansu_status cut(log *l, uint32_t index, uint64_t offset, bool zeros, uint64_t due,
                        tansu_error *error) {
    bool changed = false;
    tansu_status status = remove_after(l, index, due, &changed, error);
    if (status != TANSU_OK)
        return status;
    segment *s = l->active.items[index], *disk = segment_disk(s);
    s->used = offset;
    if (l->read_only)
        return TANSU_OK;
    uint64_t end = offset;
    if (s->sealed != NULL)
        (void)sealed_position(s, offset, &end); /* check_place() */
    /* A segment that is read by blocks ends where its frames do. That the image of one that was
     * decrypted has zeros says nothing of blocks that are not valid. */
    bool holds = s->compressed == NULL && !(zeros && s->sealed == NULL) &&
                 (bytes_not_zero(disk->base, disk->allocated, end) || disk->allocated % 8 != 0);
    if ((holds || changed) && segment_descriptor(l, disk) < 0)
        return error_errno(error, l->folder, "open", errno);
    if (holds) {
        status = set_aside_copy(l, s, offset, error);
        if (status != TANSU_OK)
            return status;
        if (l->calls->truncate(disk->fd, end) != 0)
            return error_errno(error, l->folder, "trim", errno);
        disk->allocated = end;
        changed = true;
    }
    if (s->sealed != NULL)
        sealed_cut(s, offset, end);
    /* The truncation must be durable: a frame written here later could otherwise be followed by an
     * old one that happens to fit. */
    if (changed && (l->calls->sync(disk->fd, disk->base, disk->mapped) != 0 ||
                    l->calls->sync_folder(l->calls, l->folder) != 0))
        return error_errno(error, l->folder, "sync", errno);
    return TANSU_OK;
}

/* A scan over the log's frames. */
typedef struct replay {
    log *l;
    uint32_t index; /* of the segment */
    uint64_t offset;
    uint64_t expected; /* the next commit */
    uint64_t synced;   /* the last commit that one of the frames knew to be on the disk */
    bool zeros;        /* the segment's bytes from the end of the log on */
    uint64_t done;     /* bytes of segments before */
    uint64_t total;
    log_visitor visitor;
    void *context;
    tansu_progress progress;
    void *progress_context;
} replay;

/* report_progress -- how many bytes are read. Errors: CANCELLED. */
static tansu_status report_progress(const replay *w, uint64_t done, tansu_error *error) {
    if (w->progress == NULL || w->progress(w->progress_context, done, w->total))
        return TANSU_OK;
    return error_set(error, TANSU_E_CANCELLED, w->l->folder, "The opening was cancelled");
}

/* replay_frame -- shows a frame to the visitor and advances past it. */
static tansu_status replay_frame(replay *w, const segment *s, const frame_header *frame,
                                 tansu_error *error) {
    if (!frame_records_valid(frame))
        return frame_damaged_error(s->number, w->offset, frame->sequence, error);
    log_location location = (uint64_t)s->number << 32 | w->offset;
    tansu_status status = w->visitor(w->context, frame, location + FRAME_HEADER_SIZE, error);
    if (status != TANSU_OK)
        return status;
    w->offset += frame->size;
    w->expected = frame->sequence + 1;
    if (frame->synced > w->synced)
        w->synced = frame->synced;
    return (w->expected & 1023) == 0 ? report_progress(w, w->done + w->offset, error) : TANSU_OK;
}

/* is_whole -- whether all frames of a segment are known to be there: every bad one is damage. */
static bool is_whole(const segment *s) {
    return s->last != 0 || s->compressed != NULL;
}

/* replay_whole -- the rest of a segment that is whole. */
static tansu_status replay_whole(replay *w, const segment *s, tansu_error *error) {
    segment_image image = {0};
    tansu_status status = TANSU_OK;
    if (w->offset < s->used)
        status = image_open(w->l, s->number, s->base, false, &image, error);
    while (status == TANSU_OK && w->offset < s->used) {
        const frame_header *frame = frame_in(w->l, image.bytes, segment_room(s), w->offset);
        uint64_t last = s->last != 0 ? s->last : w->expected;
        if (frame == NULL || frame->sequence < w->expected || frame->sequence > last ||
            frame->size > s->used - w->offset)
            status = frame_damaged_error(s->number, w->offset, w->expected, error);
        else
            status = replay_frame(w, s, frame, error);
    }
    image_close(&image);
    if (s->last != 0)
        w->expected = s->last + 1;
    return status;
}

/* segment_anywhere -- a active segment or one that was. */
static const segment *segment_anywhere(const log *l, uint32_t number) {
    for (uint32_t i = 0; i < l->superseded.count; i++)
        if (l->superseded.items[i]->number == number)
            return l->superseded.items[i];
    return segment_get(l, number);
}

tansu_status log_scan(log *l, uint32_t number, log_visitor visitor, void *context,
                      tansu_error *error) {
    const segment *s = segment_anywhere(l, number);
    if (s == NULL)
        return error_set(error, TANSU_E_NOT_FOUND, l->folder,
                         "Segment \"%08u.seg\" of the log is missing; restore a backup or salvage "
                         "what is readable with \"tansu repair\"",
                         number);
    replay w = {.l = l,
                .offset = SEGMENT_HEADER_SIZE,
                .expected = s->first,
                .visitor = visitor,
                .context = context};
    if (is_whole(s))
        return replay_whole(&w, s, error);
    const frame_header *frame;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (frame = frame_at(l, s, w.offset)) != NULL &&
           frame->sequence == w.expected)
        status = replay_frame(&w, s, frame, error);
    return status;
}

/* headerless_after -- the first segment without a header that has a greater number; 0: there is
 * none. */
static uint32_t headerless_after(const log *l, uint32_t number) {
    for (uint32_t i = 0; i < l->headerless_count; i++)
        if (l->headerless[i] > number)
            return l->headerless[i];
    return 0;
}

/*
 * replay_gap -- where the log does not continue with the next segment, or with one that was never
 * begun (`next`: its number). Without compaction segments are numbered without gaps: so one is
 * missing there.
 */
static tansu_status replay_gap(const replay *w, uint32_t next, tansu_error *error) {
    const segment *s = w->l->active.items[w->index];
    uint32_t headerless = headerless_after(w->l, s->number);
    if (w->l->sparse || next == s->number + 1 || headerless == s->number + 1)
        return TANSU_OK;
    return s->compressed == NULL && w->offset + 8 <= s->allocated &&
                   load_u64(s->base + w->offset) != 0
               ? frame_damaged_error(s->number, w->offset, w->expected, error)
               : segment_missing(w->l, s->number + 1, error);
}

/* replay_active -- to the first offset that holds no expected frame. */
static tansu_status replay_active(replay *w, tansu_error *error) {
    for (;;) {
        segment *s = w->l->active.items[w->index];
        tansu_status status = TANSU_OK;
        uint64_t began = w->offset;
        if (is_whole(s))
            status = replay_whole(w, s, error);
        /* A disk that lost power may have the table and not all blocks: then it is as without. */
        if (status == TANSU_E_CORRUPT && s->last == 0 && sealed_log(w->l) && w->offset == began)
            status = sealed_to_damaged_image(w->l, s, error);
        if (status == TANSU_OK && !is_whole(s)) {
            const frame_header *frame;
            while (status == TANSU_OK && (frame = frame_at(w->l, s, w->offset)) != NULL &&
                   frame->sequence == w->expected)
                status = replay_frame(w, s, frame, error);
        }
        w->index = segment_index(w->l, s->number); /* a compaction may have been replayed */
        if (status != TANSU_OK)
            return status;
        if (w->index == UINT32_MAX) /* which replaced the segment that it is in */
            return frame_damaged_error(s->number, w->offset, w->expected, error);
        if (w->index + 1 == w->l->active.count)
            return headerless_after(w->l, s->number) == 0 ? TANSU_OK
                                                          : replay_gap(w, UINT32_MAX, error);
        /* The next segment begins with the commit that is due here only if this one is whole. */
        const segment *next = w->l->active.items[w->index + 1];
        if (next->first != w->expected)
            return s->last == 0 ? replay_gap(w, next->number, error)
                                : frame_damaged_error(next->number, 0, w->expected, error);
        s->used = w->offset;
        w->done += s->allocated;
        w->index++;
        w->offset = SEGMENT_HEADER_SIZE;
    }
}

/* replay_start -- where to begin; false when the log does not hold that. */
static bool replay_start(replay *w, uint64_t position) {
    const log *l = w->l;
    w->offset = SEGMENT_HEADER_SIZE;
    if (position != 0) {
        w->index = segment_index(l, (uint32_t)(position >> 32));
        w->offset = (uint32_t)position;
        if (w->index == UINT32_MAX || w->offset < SEGMENT_HEADER_SIZE ||
            w->offset > segment_room(l->active.items[w->index]) || w->offset % 8 != 0)
            return false;
        /* Only at its end: a checkpoint is never in the middle of what was compacted. */
        const segment *s = l->active.items[w->index];
        if (s->last != 0 && (w->offset != s->used || w->expected != s->last + 1))
            return false;
    }
    for (uint32_t i = w->index; i < l->active.count; i++)
        w->total += l->active.items[i]->allocated;
    return true;
}

/* required -- whether the log must hold the commit that is due, by all that was written down
 * elsewhere, or by what a compaction counted on. *stale: the marks are found to be. */
static bool required(const replay *w, uint64_t sure_sequence, bool *stale) {
    log *l = w->l;
    if (w->expected <= sure_sequence || w->expected <= l->expected_end ||
        w->expected <= l->found.synced || w->expected <= w->synced)
        return true;
    /* Of what was only written nothing is lost as long as the page cache holds it. */
    if (!l->found.page_cache_holds || w->expected > l->found.written)
        return false;
    *stale = !l->concurrent && l->active.count != 0 && marks_are_stale(l, w->index, w->offset);
    return !*stale;
}

/* passed_over -- whether a later frame proves that the one at the end is corrupt, though another
 * process may be appending: unless it has become valid by now, for frames do so in their order. */
static bool passed_over(const replay *w) {
    log *l = w->l;
    bool zeros;
    if (l->active.count == 0 || !later_frame_exists(l, w->index, w->offset, w->expected, &zeros))
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const frame_header *frame = frame_at(l, l->active.items[w->index], w->offset);
    return frame == NULL || frame->sequence != w->expected;
}

/* check_end -- whether the log may end where the scan did. Notes whether zeros follow, so that they
 * are read once. */
static tansu_status check_end(replay *w, uint64_t sure_sequence, tansu_error *error) {
    log *l = w->l;
    bool stale = false, damaged = required(w, sure_sequence, &stale);
    if (stale)
        l->found.settled = false;
    uint32_t number = l->active.count == 0 ? 0 : l->active.items[w->index]->number;
    if (l->concurrent && !damaged) {
        if (!passed_over(w))
            return TANSU_OK;
        damaged = true;
    }
    for (uint32_t i = 0; i < l->headerless_count && !damaged; i++) {
        headerless_content content;
        tansu_status status = headerless_inspect(l, l->headerless[i], w->expected, &content, error);
        if (status != TANSU_OK)
            return status;
        damaged = content.damaged;
    }
    if (!damaged && (l->active.count == 0 ||
                     !later_frame_exists(l, w->index, w->offset, w->expected, &w->zeros)))
        return TANSU_OK;
    /* The one without a header should continue where the one before it ends. */
    uint32_t headerless = headerless_after(l, number);
    bool next = headerless != 0 && (l->active.count == 0 || w->index + 1 == l->active.count ||
                                    headerless < l->active.items[w->index + 1]->number);
    if (next)
        number = headerless;
    return frame_damaged_error(number == 0 ? 1 : number, next ? 0 : w->offset, w->expected, error);
}

/* check_place -- whether the log can be written on where the scan ended: the blocks of an encrypted
 * segment must lie there in their order, or cutting and continuing the file would lose commits. */
static tansu_status check_place(const replay *w, tansu_error *error) {
    const segment *s = w->l->active.items[w->index];
    uint64_t position;
    return s->sealed == NULL || w->l->read_only || sealed_position(s, w->offset, &position)
               ? TANSU_OK
               : frame_damaged_error(s->number, w->offset, w->expected - 1, error);
}

/* needs_flush -- whether bytes after the last commit that is surely on the disk may be in the page
 * cache alone, and count as written there: then they must be written again. Otherwise a sync that
 * succeeds proves that they are on the disk. */
static bool needs_flush(const log *l, uint64_t manifest_sequence) {
    return !l->found.settled && (l->found.failed || l->appended > manifest_sequence);
}

/* begin_writing -- makes the end of the log durable where that is uncertain, and begins to keep
 * marks. */
static tansu_status begin_writing(replay *w, const replay *began, uint32_t began_number,
                                  uint64_t sure_sequence, tansu_error *error) {
    log *l = w->l;
    uint64_t sure = sure_sequence > l->found.synced ? sure_sequence : l->found.synced;
    if (w->synced > sure)
        sure = w->synced;
    l->synced = sure < l->appended ? sure : l->appended;
    uint32_t first = l->active.count;
    while (first > 1 && l->active.items[first - 1]->first > l->synced + 1)
        first--;
    l->sync_segment = first == 0 ? 0 : l->active.items[first - 1]->number;
    if (l->read_only)
        return TANSU_OK;
    if (l->found.settled && tail_is_stale(l, l->appended))
        l->found.settled = false;
    if (l->active.count != 0 && needs_flush(l, sure_sequence)) {
        l->end_rewritten = true;
        tansu_status status =
            tail_flush(l, l->synced, began_number, began->offset, began->expected, error);
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
    replay w = {.l = l,
                .offset = SEGMENT_HEADER_SIZE,
                .expected = sequence + 1,
                .visitor = visitor,
                .context = context,
                .progress = progress,
                .progress_context = progress_context};
    bool empty = l->active.count == 0;
    if (empty ? sequence != 0 : !replay_start(&w, position)) {
        *reached = false;
        return TANSU_OK;
    }
    if (!empty && position == 0 && l->active.items[0]->first != w.expected)
        return frame_damaged_error(l->active.items[0]->number, 0, w.expected,
                                   error); /* its beginning is missing */
    replay began = w;
    uint32_t began_number = empty ? 1 : l->active.items[w.index]->number;
    uint64_t faults = log_faults(l);
    tansu_status status = empty ? TANSU_OK : replay_active(&w, error);
    if (status == TANSU_OK)
        status = check_end(&w, sure_sequence, error);
    if (status == TANSU_OK && !empty)
        status = check_place(&w, error);
    /* Cancelling ends here: the steps below change the log. */
    if (status == TANSU_OK && !empty)
        status = report_progress(&w, w.total, error);
    /* What could not be read looks like corruption, or like the log's end, and must not be
     * truncated for that. */
    status = log_check(l, faults, status, error);
    if (status != TANSU_OK)
        return status;
    status = empty ? remove_headerless(l, w.expected, error)
                   : cut(l, w.index, w.offset, w.zeros, w.expected, error);
    if (status == TANSU_OK && !empty)
        status = segment_open_for_writing(l, l->active.items[w.index], error);
    /* Those of an encrypted database whose table is torn as well, wherever the scan began. */
    for (uint32_t i = 0; status == TANSU_OK && i < w.index; i++)
        segment_seal(l, l->active.items[i]);
    segment *head = status == TANSU_OK && !empty ? l->active.items[w.index] : NULL;
    if (head != NULL && l->concurrent && sealed_log(l) && head->compressed != NULL &&
        head->last == 0) /* another process may write it on */
        status = sealed_to_image(l, head, error);
    if (status == TANSU_OK) {
        l->appended = w.expected - 1;
        status = begin_writing(&w, &began, began_number, sure_sequence, error);
    }
    if (status != TANSU_OK) {
        tail_mark_unknown(l);
        return status;
    }
    return TANSU_OK;
}
