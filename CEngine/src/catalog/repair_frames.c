/*
 * catalog/repair_frames.c -- finding the frames of every segment, wherever in it they lie, and the records
 * between them.
 */
#include "base/error.h"
#include "catalog/repair_parts.h"

#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* One segment being searched. */
typedef struct search {
    repair *r;
    repair_segment *s;
    uint32_t index; /* of the segment */
    const uint8_t *bytes;
    uint64_t end;
    uint64_t highest; /* commit of all runs before the one at hand */
    uint64_t gaps;    /* frames back to back whose commits do not follow each other */
    uint64_t breaks;  /* and places where runs end */
    bool dense;       /* compaction has left no commit out */
} search;

/* A block that came from elsewhere makes one break at least for each gap, but at the segment's end. */
#define GAPS_LEAST 2

/* run_at_hand -- the segment's last run, or NULL. */
static repair_run *run_at_hand(const search *k) {
    return k->s->run_count == 0 ? NULL : &k->r->runs[k->r->run_count - 1];
}

/* run_add -- begins a run. */
static bool run_add(search *k, repair_run run) {
    repair *r = k->r;
    if (!repair_grow(&r->runs, r->run_count, &r->run_room, sizeof *r->runs))
        return false;
    if (k->s->run_count++ == 0)
        k->s->run = r->run_count;
    r->runs[r->run_count++] = run;
    return true;
}

/* covers -- whether a compacted segment covers a commit. */
static bool covers(const repair_segment *s, uint64_t sequence) {
    return sequence >= s->first && sequence <= s->last;
}

/* goes_on -- whether a frame goes on with a run that ends where it begins. Only compaction leaves commits out;
 * and of those that it does not, none lies before an earlier one. */
static bool goes_on(search *k, const repair_run *run, uint64_t sequence) {
    if (sequence == run->last + 1)
        return true;
    if (sequence <= run->last)
        return false;
    if (k->dense || (k->s->header && covers(k->s, sequence) != covers(k->s, run->first)))
        return false;
    if (run->last < k->highest && k->highest < sequence)
        return false;
    k->gaps++;
    return true;
}

/* split -- of a run in which commits are missing, what lies behind `sequence`, which was met only after it: that
 * came from elsewhere. */
static bool split(search *k, uint64_t sequence) {
    repair_run *run = run_at_hand(k);
    uint64_t at = run->from, last = run->first;
    uint32_t frames = 0;
    while (at < run->to) {
        const frame_header *frame = (const frame_header *)(k->bytes + at);
        if (frame->sequence >= sequence)
            break;
        last = frame->sequence;
        frames++;
        at += frame->size;
    }
    if (frames == 0 || at == run->to)
        return true;
    repair_run behind = *run;
    run->to = behind.from = (uint32_t)at;
    run->frames = frames;
    behind.frames -= frames;
    behind.first = ((const frame_header *)(k->bytes + at))->sequence;
    run->last = last;
    run->sparse = run->last - run->first >= run->frames;
    behind.sparse = behind.last - behind.first >= behind.frames;
    k->breaks++;
    return run_add(k, behind);
}

/* take_frame -- adds a frame to the segment's runs. */
static bool take_frame(search *k, const frame_header *frame, uint64_t offset) {
    repair_run *run = run_at_hand(k);
    if (run != NULL && run->to == offset && goes_on(k, run, frame->sequence)) {
        run->to = (uint32_t)(offset + frame->size);
        run->frames++;
        run->last = frame->sequence;
        run->sparse = run->last - run->first >= run->frames;
        return true;
    }
    if (run != NULL) {
        k->breaks++;
        if (run->sparse && frame->sequence <= run->last && frame->sequence > run->first &&
            !split(k, frame->sequence))
            return false;
        run = run_at_hand(k);
        if (run->last > k->highest)
            k->highest = run->last;
    }
    return run_add(k, (repair_run){.segment = k->index,
                                   .from = (uint32_t)offset,
                                   .to = (uint32_t)(offset + frame->size),
                                   .frames = 1,
                                   .first = frame->sequence,
                                   .last = frame->sequence});
}

/* zero_from -- where the zeros before `to` begin, not before `offset`. */
static uint64_t zero_from(const search *k, uint64_t offset, uint64_t to) {
    uint64_t end = to;
    while (end > offset && k->bytes[end - 1] == 0)
        end--;
    end = align8(end);
    return end < to ? end : to;
}

/* blank -- whether there is no header of a frame at an offset. */
static bool blank(const search *k, uint64_t offset) {
    for (uint64_t i = offset; i < k->end && i < offset + FRAME_HEADER_SIZE; i++)
        if (k->bytes[i] != 0)
            return false;
    return true;
}

/* take_hole -- the records in bytes that are no frame. */
static bool take_hole(search *k, uint64_t from, uint64_t to) {
    repair *r = k->r;
    bool tail = to == k->end;
    uint64_t zeros = tail ? zero_from(k, from, to) : to;
    if (zeros == from)
        return true;
    if (!repair_grow(&r->holes, r->hole_count, &r->hole_room, sizeof *r->holes))
        return false;
    repair_hole *hole = &r->holes[r->hole_count++];
    *hole = (repair_hole){.segment = k->index,
                          .from = (uint32_t)from,
                          .to = (uint32_t)zeros,
                          .tail = tail,
                          .unfinished = tail && blank(k, from)};
    k->s->hole_bytes += zeros - from;
    for (uint64_t at = from; (at = walk_salvage(k->bytes, at, to)) < to;) {
        const record_header *record = (const record_header *)(k->bytes + at);
        if (!repair_grow(&r->loose, r->loose_count, &r->loose_room, sizeof *r->loose))
            return false;
        r->loose[r->loose_count++] = (repair_loose){.sequence = record->sequence,
                                                    .place = (uint64_t)k->s->number << 32 | at,
                                                    .hole = r->hole_count - 1};
        at += record->size;
    }
    return true;
}

/* search_bytes -- all of a segment that was read. */
static tansu_status search_bytes(search *k, tansu_error *error) {
    /* Where another block lies over the header, frames may begin anywhere. */
    uint64_t offset = k->s->header ? SEGMENT_HEADER_SIZE : 0, told = 0;
    uint32_t seed = k->r->crc_seed;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && offset < k->end) {
        const frame_header *frame = walk_frame(seed, k->bytes, k->end, offset);
        bool done;
        if (frame != NULL && frame->sequence != 0) {
            done = take_frame(k, frame, offset);
            offset += frame->size;
        } else {
            uint64_t to = walk_find(seed, k->bytes, k->end, offset + 8, 1);
            /* What is wrong with a header is told as such. */
            uint64_t from = offset == 0 ? SEGMENT_HEADER_SIZE : offset;
            if (walk_frame(seed, k->bytes, k->end, to) == NULL)
                to = k->end;
            done = to <= from || take_hole(k, from, to);
            offset = to;
        }
        if (!done)
            status = error_memory(error);
        if (status == TANSU_OK && offset - told >= PROGRESS_BYTES) {
            status = repair_tell(k->r, offset - told, error);
            told = offset;
        }
    }
    return status == TANSU_OK && told < k->s->size ? repair_tell(k->r, k->s->size - told, error)
                                                   : status;
}

/* search_segment -- reads one. Without a header it has to show that commits are left out in it. */
static tansu_status search_segment(repair *r, uint32_t index, tansu_error *error) {
    repair_segment *s = &r->segments[index];
    uint8_t *bytes;
    tansu_status status = repair_load(r, s, &bytes, error);
    if (status != TANSU_OK)
        return status;
    search k = {.r = r,
                .s = s,
                .index = index,
                .bytes = bytes,
                .end = s->size,
                .dense = s->header && s->last == 0};
    if (s->last != 0 && s->end < k.end)
        k.end = s->end;
    size_t runs = r->run_count, holes = r->hole_count, loose = r->loose_count;
    uint64_t done = r->done;
    s->run = runs;
    status = search_bytes(&k, error);
    if (status == TANSU_OK && !s->header && k.gaps != 0 && k.gaps <= 2 * k.breaks + GAPS_LEAST) {
        r->run_count = runs;
        r->hole_count = holes;
        r->loose_count = loose;
        r->done = done;
        s->run_count = 0;
        s->hole_bytes = 0;
        k.highest = 0;
        k.dense = true;
        status = search_bytes(&k, error);
    }
    free(bytes);
    return status;
}

tansu_status repair_frames(repair *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        if (!r->segments[i].left_out)
            status = search_segment(r, (uint32_t)i, error);
    return status;
}
