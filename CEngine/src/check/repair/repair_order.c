/*
 * check/repair/repair_order.c -- which runs of a segment lie where they were written.
 *
 * Commits rise within a segment. The runs of the longest rising chain, counted in frames, are the
 * segment's own. The others overwrote it: misdirected writes, or an older content of the file.
 */
#include "check/repair/repair_order.h"

#include "util/error.h"

#include <stdlib.h>

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
