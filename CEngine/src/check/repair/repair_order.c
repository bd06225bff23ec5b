/*
 * check/repair/repair_order.c -- which runs of a segment lie where they were written.
 *
 * Commits rise within a segment. The runs of the longest rising chain, counted in frames, are the
 * segment's own. The others overwrote it: misdirected writes, or an older content of the file.
 *
 * Compaction drops commits, so in its segments adjacent frames may be of one run although their
 * commits do not follow each other, or because a misdirected write put one of them exactly where
 * another frame began. The latter is possible where a frame of a commit between theirs exists in
 * the segment, or where the segment has only one of the two twice. Runs are split there first.
 */
#include "check/repair/repair_order.h"

#include "log/format.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- Splitting ---- */

/* The commits of all frames of a segment, sorted. */
typedef struct commit_list {
    uint64_t *items;
    size_t count;
} commit_list;

/* by_value -- for sorting commits. */
static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* count_before -- how many frames are of an earlier commit. */
static size_t count_before(const commit_list *list, uint64_t sequence) {
    return bisect_u64(list->items, sizeof *list->items, 0, list->count, sequence);
}

/* is_twice -- whether there are several frames of a commit. */
static bool is_twice(const commit_list *list, uint64_t sequence) {
    return count_before(list, sequence + 1) - count_before(list, sequence) > 1;
}

/* belong_together -- whether two adjacent frames were adjacent when they were written. */
static bool belong_together(const commit_list *list, uint64_t before, uint64_t after) {
    return after == before + 1 || (count_before(list, after) == count_before(list, before + 1) &&
                                   is_twice(list, before) == is_twice(list, after));
}

/* list_commits -- the commits of the frames of some runs. Errors: MEMORY. */
static tansu_status list_commits(const repair_run *runs, size_t count, const uint8_t *bytes,
                                 commit_list *list, tansu_error *error) {
    size_t frames = 0;
    for (size_t i = 0; i < count; i++)
        frames += runs[i].frames;
    *list = (commit_list){.items = malloc(frames * sizeof *list->items)};
    if (list->items == NULL)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = runs[i].from; at < runs[i].to;) {
            const frame_header *frame = (const frame_header *)(bytes + at);
            list->items[list->count++] = frame->sequence;
            at += frame->size;
        }
    qsort(list->items, list->count, sizeof *list->items, by_value);
    return TANSU_OK;
}

/* split_run -- adds a run in parts. False when memory is exhausted. */
static bool split_run(repair *r, repair_segment *s, const repair_run *run, const uint8_t *bytes,
                      const commit_list *list) {
    repair_run part = {.segment = run->segment, .from = run->from, .to = run->from};
    while (part.to < run->to) {
        const frame_header *frame = (const frame_header *)(bytes + part.to);
        if (part.frames == 0) {
            part.first = frame->sequence;
        } else if (!belong_together(list, part.last, frame->sequence)) {
            if (!ARRAY_RESERVE(r->runs, r->run_count, r->run_capacity, 1))
                return false;
            r->runs[r->run_count++] = part;
            s->run_count++;
            part = (repair_run){
                .segment = run->segment, .from = part.to, .to = part.to, .first = frame->sequence};
        }
        part.last = frame->sequence;
        part.to += frame->size;
        part.frames++;
    }
    if (!ARRAY_RESERVE(r->runs, r->run_count, r->run_capacity, 1))
        return false;
    r->runs[r->run_count++] = part;
    s->run_count++;
    return true;
}

tansu_status repair_split_runs(repair *r, repair_segment *s, const uint8_t *bytes,
                               tansu_error *error) {
    size_t count = s->run_count;
    if (count < 2)
        return TANSU_OK;
    commit_list list;
    repair_run *whole = malloc(count * sizeof *whole);
    if (whole == NULL)
        return error_memory(error);
    memcpy(whole, r->runs + s->run, count * sizeof *whole);
    tansu_status status = list_commits(whole, count, bytes, &list, error);
    bool done = status == TANSU_OK;
    r->run_count = s->run;
    s->run_count = 0;
    for (size_t i = 0; done && i < count; i++)
        done = split_run(r, s, &whole[i], bytes, &list);
    free(whole);
    free(list.items);
    return done || status != TANSU_OK ? status : error_memory(error);
}

/* ---- The order ---- */

/* The chain is searched among up to this many runs; in a segment with more, the longest run
 * decides, with those that rise from it to both sides. */
#define RUNS_COMPARED 1024

/* A run as the last of a chain. */
typedef struct chain {
    uint64_t frames; /* of the longest chain */
    size_t before;   /* the run before it in that; SIZE_MAX: none */
} chain;

/* fits -- whether the segment may hold the run at all. */
static bool fits(const repair_segment *s, const repair_run *run, uint64_t bound) {
    return !s->header || (run->first >= s->first && run->last <= bound);
}

/* compare_all -- finds the longest chain; quadratic in the runs. */
static tansu_status compare_all(repair_run *runs, const repair_segment *s, uint64_t bound,
                                tansu_error *error) {
    chain *chains = malloc(s->run_count * sizeof *chains);
    if (chains == NULL)
        return error_memory(error);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->run_count; i++) {
        chains[i] = (chain){.frames = runs[i].frames, .before = SIZE_MAX};
        if (!fits(s, &runs[i], bound)) {
            chains[i].frames = 0;
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (chains[k].frames != 0 && runs[k].last < runs[i].first &&
                chains[k].frames + runs[i].frames > chains[i].frames)
                chains[i] = (chain){.frames = chains[k].frames + runs[i].frames, .before = k};
        if (best == SIZE_MAX || chains[i].frames > chains[best].frames)
            best = i;
    }
    for (; best != SIZE_MAX; best = chains[best].before)
        runs[best].in_order = true;
    free(chains);
    return TANSU_OK;
}

/* compare_some -- takes the longest run and what rises to both sides of it. */
static void compare_some(repair_run *runs, const repair_segment *s, uint64_t bound) {
    size_t longest = SIZE_MAX;
    for (size_t i = 0; i < s->run_count; i++)
        if (fits(s, &runs[i], bound) &&
            (longest == SIZE_MAX || runs[i].frames > runs[longest].frames))
            longest = i;
    if (longest == SIZE_MAX)
        return;
    runs[longest].in_order = true;
    uint64_t last = runs[longest].last, first = runs[longest].first;
    for (size_t i = longest + 1; i < s->run_count; i++) {
        if (!fits(s, &runs[i], bound) || runs[i].first <= last)
            continue;
        runs[i].in_order = true;
        last = runs[i].last;
    }
    for (size_t i = longest; i > 0; i--) {
        if (!fits(s, &runs[i - 1], bound) || runs[i - 1].last >= first)
            continue;
        runs[i - 1].in_order = true;
        first = runs[i - 1].first;
    }
}

tansu_status repair_order_runs(repair *r, repair_segment *s, uint64_t bound, tansu_error *error) {
    if (s->run_count == 0 || s->file != NULL)
        return TANSU_OK;
    if (s->run_count <= RUNS_COMPARED)
        return compare_all(r->runs + s->run, s, bound, error);
    compare_some(r->runs + s->run, s, bound);
    return TANSU_OK;
}
