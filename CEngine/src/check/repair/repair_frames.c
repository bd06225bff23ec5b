/*
 * check/repair/repair_frames.c -- finding the frames of every segment, at whatever offset they lie,
 * and the records between them.
 */
#include "check/repair/repair_internal.h"

#include "log/scan.h"
#include "util/array.h"
#include "util/error.h"

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
    uint64_t skips;  /* adjacent frames whose commits do not follow each other */
    uint64_t breaks; /* ends of runs */
    bool dense;      /* compaction has dropped no commit */
} search;

/* A misdirected write makes at least one break for each skip, except at the segment's end. */
#define SKIPS_LEAST 2

/* last_run -- the segment's last run, or NULL. */
static repair_run *last_run(const search *k) {
    return k->s->run_count == 0 ? NULL : &k->r->runs[k->r->run_count - 1];
}

/* run_add -- begins a run. */
static bool run_add(search *k, repair_run run) {
    repair *r = k->r;
    if (!ARRAY_RESERVE(r->runs, r->run_count, r->run_capacity, 1))
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

/* continues -- whether a frame at the end of a run belongs to it. Only compaction drops commits,
 * and it never writes a commit before an earlier one. */
static bool continues(search *k, const repair_run *run, uint64_t sequence) {
    if (sequence == run->last + 1)
        return true;
    if (sequence <= run->last || k->dense ||
        (k->s->header && covers(k->s, sequence) != covers(k->s, run->first)))
        return false;
    k->skips++;
    return true;
}

/* take_frame -- adds a frame to the segment's runs. */
static bool take_frame(search *k, const frame_header *frame, uint64_t offset) {
    repair_run *run = last_run(k);
    log_location location = (uint64_t)k->s->number << 32 | offset;
    if (run != NULL && run->to == offset && continues(k, run, frame->sequence)) {
        if (!repair_mark_frame(k->r, location, frame->sequence, false))
            return false;
        run->to = (uint32_t)(offset + frame->size);
        run->frames++;
        run->last = frame->sequence;
        return true;
    }
    k->breaks += run != NULL;
    if (!repair_mark_frame(k->r, location, frame->sequence, true))
        return false;
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

/* blank -- whether there is no frame header at an offset. */
static bool blank(const search *k, uint64_t offset) {
    for (uint64_t i = offset; i < k->end && i < offset + FRAME_HEADER_SIZE; i++)
        if (k->bytes[i] != 0)
            return false;
    return true;
}

/* take_gap -- adds a gap and the records in it. */
static bool take_gap(search *k, uint64_t from, uint64_t to) {
    repair *r = k->r;
    bool tail = to == k->end;
    uint64_t zeros = tail ? zero_from(k, from, to) : to;
    if (zeros == from)
        return true;
    if (!ARRAY_RESERVE(r->gaps, r->gap_count, r->gap_capacity, 1))
        return false;
    repair_gap *gap = &r->gaps[r->gap_count++];
    *gap = (repair_gap){.segment = k->index,
                        .from = (uint32_t)from,
                        .to = (uint32_t)zeros,
                        .tail = tail,
                        .unfinished = tail && blank(k, from)};
    k->s->gap_bytes += zeros - from;
    for (uint64_t at = from; (at = scan_salvage(k->bytes, at, to)) < to;) {
        const record_header *record = (const record_header *)(k->bytes + at);
        if (!ARRAY_RESERVE(r->orphans, r->orphan_count, r->orphan_capacity, 1))
            return false;
        r->orphans[r->orphan_count++] =
            (repair_orphan){.sequence = record_visible_from(record),
                            .location = (uint64_t)k->s->number << 32 | at,
                            .gap = r->gap_count - 1};
        at += record->size;
    }
    return true;
}

/* search_bytes -- searches the whole segment. */
static tansu_status search_bytes(search *k, tansu_error *error) {
    /* Where another block overwrote the header, frames may begin at any offset. */
    uint64_t offset = k->s->header ? SEGMENT_HEADER_SIZE : 0, reported = 0;
    uint32_t seed = k->r->crc_seed;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && offset < k->end) {
        const frame_header *frame = scan_frame(seed, k->bytes, k->end, offset);
        bool done;
        if (frame != NULL && frame->sequence != 0 && frame->sequence <= INT64_MAX) {
            done = take_frame(k, frame, offset);
            offset += frame->size;
        } else {
            uint64_t to = scan_find(seed, k->bytes, k->end, offset + 8, 1);
            /* A corrupt header is a problem of its own. */
            uint64_t from = offset == 0 ? SEGMENT_HEADER_SIZE : offset;
            if (scan_frame(seed, k->bytes, k->end, to) == NULL)
                to = k->end;
            done = to <= from || take_gap(k, from, to);
            offset = to;
        }
        if (!done)
            status = error_memory(error);
        if (status == TANSU_OK && offset - reported >= PROGRESS_BYTES) {
            status = repair_progress(k->r, offset - reported, error);
            reported = offset;
        }
    }
    return status == TANSU_OK && reported < k->s->size
               ? repair_progress(k->r, k->s->size - reported, error)
               : status;
}

/* search_segment -- reads a segment and searches it. Without a header, a second pass assumes that
 * no commits are dropped in it unless the first has shown that they are. */
static tansu_status search_segment(repair *r, uint32_t index, tansu_error *error) {
    repair_segment *s = &r->segments[index];
    uint8_t *bytes;
    tansu_status status = repair_read_segment(r, s, 0, s->size, &bytes, error);
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
    size_t runs = r->run_count, gaps = r->gap_count, orphans = r->orphan_count;
    size_t marks = r->mark_count;
    uint64_t done = r->done;
    s->run = runs;
    status = search_bytes(&k, error);
    if (status == TANSU_OK && !s->header && k.skips != 0 && k.skips <= 2 * k.breaks + SKIPS_LEAST) {
        r->run_count = runs;
        r->gap_count = gaps;
        r->orphan_count = orphans;
        r->mark_count = marks;
        r->done = done;
        s->run_count = 0;
        s->gap_bytes = 0;
        k.dense = true;
        status = search_bytes(&k, error);
    }
    if (status == TANSU_OK && !k.dense)
        status = repair_split_runs(r, s, bytes, error);
    free(bytes);
    return status;
}

tansu_status repair_find_frames(repair *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        if (!r->segments[i].left_out)
            status = search_segment(r, (uint32_t)i, error);
    return status;
}
