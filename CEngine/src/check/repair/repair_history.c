/*
 * check/repair/repair_history.c -- which run each commit is read from, and which commits are
 * missing.
 *
 * Where runs have the same commits, the longest run wins, and of equally long ones the run that
 * lies where it was written. A compacted segment replaces all commits that it covers, as far as it
 * is intact: of the segments before it only deletions count, because compaction may have dropped
 * those together with what they deleted.
 */
#include "check/repair/repair_internal.h"
#include "log/format.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/error.h"

#include <stdlib.h>

/* Commits that a compacted segment covers. */
typedef struct covered_range {
    uint64_t first;
    uint64_t last;
    const repair_segment *segment;
    bool intact; /* the segment is intact there, and replaces all of them */
} covered_range;

/* The state of the search. */
typedef struct history {
    repair *r;
    covered_range *covered; /* by commit, without overlaps */
    size_t covered_count;
    size_t covered_capacity;
    repair_slice *heap; /* candidates, the earliest on top */
    size_t heap_count;
    size_t heap_capacity;
    repair_slice *removals;
    size_t removal_count;
    size_t removal_capacity;
} history;

/* ---- What compacted segments cover ---- */

/* bound_of -- the last commit that a segment may hold; UINT64_MAX: any. */
static uint64_t bound_of(const repair *r, size_t index) {
    const repair_segment *s = &r->segments[index];
    if (s->header && s->last != 0)
        return s->last;
    for (size_t i = index + 1; i < r->segment_count; i++) {
        const repair_segment *next = &r->segments[i];
        if (!next->left_out && next->header && next->file == NULL && next->first > s->first)
            return next->first - 1;
    }
    return UINT64_MAX;
}

/* covered_from -- the first covered range that ends with a commit or later. */
static size_t covered_from(const history *h, uint64_t sequence) {
    return BISECT(h->covered, h->covered_count, covered_range, last, sequence);
}

/* covered_add -- adds a range, which replaces what earlier segments cover. */
static bool covered_add(history *h, covered_range p) {
    size_t at = covered_from(h, p.first);
    /* At most two ranges are split or shortened; those between them go. */
    covered_range left = {.first = 1}, right = {.first = 1};
    size_t end = at;
    while (end < h->covered_count && h->covered[end].first <= p.last) {
        if (h->covered[end].first < p.first)
            left = (covered_range){h->covered[end].first, p.first - 1, h->covered[end].segment,
                                   h->covered[end].intact};
        if (h->covered[end].last > p.last)
            right = (covered_range){p.last + 1, h->covered[end].last, h->covered[end].segment,
                                    h->covered[end].intact};
        end++;
    }
    covered_range made[3];
    size_t count = 0;
    if (left.last != 0)
        made[count++] = left;
    made[count++] = p;
    if (right.last != 0)
        made[count++] = right;
    if (!ARRAY_RESERVE(h->covered, h->covered_count, h->covered_capacity, 3))
        return false;
    memmove(h->covered + at + count, h->covered + end,
            (h->covered_count - end) * sizeof *h->covered);
    memcpy(h->covered + at, made, count * sizeof *made);
    h->covered_count += at + count - end;
    return true;
}

/* has_rival -- whether the run next to one is a misdirected write with the same commits. Nothing
 * says which of the two lies where it was written and which overwrote other frames. */
static bool has_rival(const repair_run *run, const repair_run *next) {
    return !next->in_order && next->first <= run->last && run->first <= next->last;
}

/* is_torn -- whether frames may be lost between two runs of a compacted segment, although they are
 * adjacent. `i`: the latter of them, or the number of runs. */
static bool is_torn(const repair_run *runs, size_t i, size_t count) {
    return (i >= 2 && has_rival(&runs[i - 1], &runs[i - 2])) ||
           (i + 1 < count && has_rival(&runs[i], &runs[i + 1]));
}

/* cover_segment -- adds what a compacted segment covers. It is intact except between runs that are
 * not adjacent. */
static bool cover_segment(history *h, const repair_segment *s) {
    if (!covered_add(h, (covered_range){s->first, s->last, s, false}))
        return false;
    uint64_t from = s->first, last = 0, at = SEGMENT_HEADER_SIZE;
    const repair_run *runs = h->r->runs + s->run;
    for (size_t i = 0; i < s->run_count; i++) {
        const repair_run *run = &runs[i];
        if (!run->in_order)
            continue;
        if (run->from != at || is_torn(runs, i, s->run_count)) { /* the bytes before it are lost */
            if (last != 0 && !covered_add(h, (covered_range){from, last, s, true}))
                return false;
            from = run->first;
        }
        last = run->last;
        at = run->to;
    }
    if (at == s->end && !is_torn(runs, s->run_count, s->run_count))
        last = s->last;
    return last == 0 || covered_add(h, (covered_range){from, last, s, true});
}

/* is_sparse -- whether compaction has dropped commits between the first and the last of a run. */
static bool is_sparse(const repair_run *run) {
    return run->last - run->first >= run->frames;
}

/* cover_unknown -- adds what a compacted segment may cover whose header is lost. That it is one
 * shows in adjacent frames whose commits do not follow each other; its first and last commits may
 * have been dropped as well, and nothing tells whether it is intact. */
static bool cover_unknown(history *h, size_t index) {
    const repair *r = h->r;
    const repair_segment *s = &r->segments[index];
    uint64_t last = 0, bound = bound_of(r, index);
    bool compacted = false;
    for (size_t i = 0; i < s->run_count; i++) {
        const repair_run *run = &r->runs[s->run + i];
        if (!run->in_order)
            continue;
        compacted = compacted || is_sparse(run);
        last = run->last;
    }
    if (bound != UINT64_MAX && bound > last)
        last = bound;
    return !compacted || covered_add(h, (covered_range){1, last, s, false});
}

/* by_number -- for sorting segments. Of two files of one segment, the one with another name is
 * intact. */
static int by_number(const void *a, const void *b) {
    const repair_segment *const *x = a, *const *y = b;
    if ((*x)->named != (*y)->named)
        return (*x)->named < (*y)->named ? -1 : 1;
    return ((*x)->number != (*x)->named) - ((*y)->number != (*y)->named);
}

/* cover_all -- adds all compacted segments, the later over the earlier. */
static tansu_status cover_all(history *h, tansu_error *error) {
    repair *r = h->r;
    const repair_segment **list = malloc((r->segment_count + 1) * sizeof *list);
    if (list == NULL)
        return error_memory(error);
    size_t count = 0;
    bool done = true;
    for (size_t i = 0; done && i < r->segment_count; i++) {
        const repair_segment *s = &r->segments[i];
        if (s->left_out || s->file != NULL)
            continue;
        if (!s->header)
            done = cover_unknown(h, i);
        else if (s->last != 0)
            list[count++] = s;
    }
    if (count > 1)
        qsort(list, count, sizeof *list, by_number);
    for (size_t i = 0; done && i < count; i++)
        done = cover_segment(h, list[i]);
    free(list);
    return done ? TANSU_OK : error_memory(error);
}

/* ---- The heap ---- */

/* heap_swap -- exchanges two items. */
static void heap_swap(history *h, size_t a, size_t b) {
    repair_slice saved = h->heap[a];
    h->heap[a] = h->heap[b];
    h->heap[b] = saved;
}

/* heap_push -- adds a slice. */
static bool heap_push(history *h, repair_slice slice) {
    if (!ARRAY_RESERVE(h->heap, h->heap_count, h->heap_capacity, 1))
        return false;
    size_t at = h->heap_count++;
    h->heap[at] = slice;
    for (; at > 0 && h->heap[(at - 1) / 2].first > h->heap[at].first; at = (at - 1) / 2)
        heap_swap(h, at, (at - 1) / 2);
    return true;
}

/* heap_pop -- removes the earliest. */
static repair_slice heap_pop(history *h) {
    repair_slice top = h->heap[0];
    h->heap[0] = h->heap[--h->heap_count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t k = 2 * at + 1; k <= 2 * at + 2; k++)
            if (k < h->heap_count && h->heap[k].first < h->heap[least].first)
                least = k;
        if (least == at)
            return top;
        heap_swap(h, at, least);
        at = least;
    }
}

/* ---- Slices ---- */

/* replaces -- whether a compacted segment covers the commits of a run: all of other segments, and
 * those that lie where they were written in an earlier compacted one. */
static bool replaces(const repair *r, const repair_segment *s, const repair_run *run) {
    const repair_segment *own = &r->segments[run->segment];
    if (!s->header)
        return s != own;
    return !run->in_order || !own->header || own->last == 0 || s->named > own->named;
}

/* removals_add -- adds the deletions of a run. */
static bool removals_add(history *h, size_t run, uint64_t first, uint64_t last) {
    if (!ARRAY_RESERVE(h->removals, h->removal_count, h->removal_capacity, 1))
        return false;
    h->removals[h->removal_count++] =
        (repair_slice){.first = first, .last = last, .run = run, .removals = true};
    return true;
}

/* push_run -- adds the slices of a run: what no compacted segment covers, and the deletions of the
 * rest. */
static bool push_run(history *h, size_t index) {
    const repair_run *run = &h->r->runs[index];
    uint64_t at = run->first;
    for (size_t i = covered_from(h, at); i < h->covered_count && h->covered[i].first <= run->last;
         i++) {
        const covered_range *p = &h->covered[i];
        if (!replaces(h->r, p->segment, run))
            continue;
        uint64_t from = p->first > at ? p->first : at,
                 to = p->last < run->last ? p->last : run->last;
        if (from > at && !heap_push(h, (repair_slice){.first = at, .last = from - 1, .run = index}))
            return false;
        at = to + 1;
        if (!p->intact) {
            h->r->uncertain = true;
            if (!heap_push(
                    h, (repair_slice){.first = from, .last = to, .run = index, .uncertain = true}))
                return false;
            continue;
        }
        if (!removals_add(h, index, from, to))
            return false;
    }
    return at > run->last ||
           heap_push(h, (repair_slice){.first = at, .last = run->last, .run = index});
}

/* better -- whether a commit is read from run `a` rather than `b`. */
static bool better(const repair *r, size_t a, size_t b) {
    const repair_run *x = &r->runs[a], *y = &r->runs[b];
    const repair_segment *s = &r->segments[x->segment], *t = &r->segments[y->segment];
    /* The log may have replaced what recovery moved out of it. */
    if ((s->file == NULL) != (t->file == NULL))
        return s->file == NULL;
    if (x->frames != y->frames)
        return x->frames > y->frames;
    if (x->in_order != y->in_order)
        return x->in_order;
    return s->header != t->header ? s->header : a < b;
}

/* slice_add -- adds to the history. */
static bool slice_add(repair *r, repair_slice slice) {
    if (!ARRAY_RESERVE(r->slices, r->slice_count, r->slice_capacity, 1))
        return false;
    r->slices[r->slice_count++] = slice;
    return true;
}

/* choose -- of all slices those that are read, in the order of commits. */
static bool choose(history *h) {
    repair *r = h->r;
    while (h->heap_count != 0) {
        repair_slice slice = heap_pop(h);
        while (h->heap_count != 0 && h->heap[0].first <= slice.last) {
            repair_slice other = heap_pop(h);
            bool wins = better(r, other.run, slice.run);
            const repair_slice *winner = wins ? &other : &slice;
            repair_slice rest = wins ? slice : other; /* the part of the loser after the winner */
            /* Compaction may have dropped deletions that the loser has. */
            if (is_sparse(&r->runs[winner->run]) &&
                !removals_add(h, rest.run, other.first,
                              rest.last < winner->last ? rest.last : winner->last))
                return false;
            if (rest.last > winner->last) {
                rest.first = winner->last + 1;
                if (!heap_push(h, rest))
                    return false;
            }
            if (!wins)
                continue;
            /* And the part before it. */
            if (other.first > slice.first) {
                slice.last = other.first - 1;
                if (!slice_add(r, slice))
                    return false;
            }
            slice = other;
        }
        if (!slice_add(r, slice))
            return false;
    }
    for (size_t i = 0; i < h->removal_count; i++)
        if (!slice_add(r, h->removals[i]))
            return false;
    return true;
}

/* ---- What is missing ---- */

/* missing_add -- commits that no run has and no compacted segment covers. */
static bool missing_add(repair *r, uint64_t first, uint64_t last) {
    if (!ARRAY_RESERVE(r->missing, r->missing_count, r->missing_capacity, 1))
        return false;
    r->missing[r->missing_count++] = (repair_range){.first = first, .last = last};
    r->last_missing = last;
    return true;
}

/* find_missing -- all missing commits. */
static bool find_missing(history *h) {
    repair *r = h->r;
    uint64_t known = 0;
    size_t slice = 0, p = 0;
    for (;;) {
        while (slice < r->slice_count && r->slices[slice].removals)
            slice++;
        while (p < h->covered_count && !h->covered[p].intact)
            p++;
        bool more = slice < r->slice_count, more_covered = p < h->covered_count;
        if (!more && !more_covered)
            break;
        bool first = more && (!more_covered || r->slices[slice].first <= h->covered[p].first);
        uint64_t from = first ? r->slices[slice].first : h->covered[p].first;
        uint64_t to = first ? r->slices[slice].last : h->covered[p].last;
        if (from > known + 1 && !missing_add(r, known + 1, from - 1))
            return false;
        if (to > known)
            known = to;
        slice += first;
        p += !first;
    }
    if (r->end_sequence > known && !missing_add(r, known + 1, r->end_sequence))
        return false;
    r->last_known = known > r->end_sequence ? known : r->end_sequence;
    return true;
}

size_t repair_missing_from(const repair *r, uint64_t sequence) {
    return BISECT(r->missing, r->missing_count, repair_range, last, sequence);
}

uint64_t repair_count_missing(const repair *r, uint64_t from, uint64_t to, uint64_t *first,
                              uint64_t *last) {
    uint64_t count = 0;
    for (size_t i = repair_missing_from(r, from); i < r->missing_count && r->missing[i].first <= to;
         i++) {
        uint64_t a = r->missing[i].first > from ? r->missing[i].first : from;
        uint64_t b = r->missing[i].last < to ? r->missing[i].last : to;
        if (count == 0)
            *first = a;
        *last = b;
        count += b - a + 1;
    }
    return count;
}

/* ---- Gaps ---- */

/* bound_gaps -- between which commits the gaps of a segment lie. */
static void bound_gaps(repair *r, uint32_t index, uint64_t bound, size_t *at) {
    const repair_segment *s = &r->segments[index];
    size_t run = 0;
    uint64_t low = s->header ? s->first - 1 : 0;
    for (; *at < r->gap_count && r->gaps[*at].segment == index; ++*at) {
        repair_gap *gap = &r->gaps[*at];
        for (; run < s->run_count && r->runs[s->run + run].from < gap->from; run++)
            if (r->runs[s->run + run].in_order)
                low = r->runs[s->run + run].last;
        size_t next = run;
        while (next < s->run_count && !r->runs[s->run + next].in_order)
            next++;
        gap->low = low;
        gap->high = next < s->run_count   ? r->runs[s->run + next].first
                    : bound == UINT64_MAX ? UINT64_MAX
                                          : bound + 1;
    }
}

/* follows_own -- whether a gap begins where a run of its segment ends that lies where it was
 * written: what follows a misdirected write may be a part of what that overwrote. */
static bool follows_own(const repair *r, const repair_gap *gap) {
    const repair_segment *s = &r->segments[gap->segment];
    for (size_t i = s->run_count; i > 0; i--)
        if (r->runs[s->run + i - 1].to <= gap->from)
            return r->runs[s->run + i - 1].in_order;
    return true;
}

/* note_log_end -- adds a commit at the log's very end of which a frame header exists. */
static bool note_log_end(repair *r) {
    for (size_t i = 0; i < r->gap_count; i++) {
        const repair_gap *gap = &r->gaps[i];
        if (gap->tail && !gap->unfinished && gap->high == UINT64_MAX && gap->low == r->last_known &&
            r->segments[gap->segment].file == NULL && follows_own(r, gap))
            return missing_add(r, r->last_known + 1, r->last_known + 1);
    }
    return true;
}

/* ---- All of it ---- */

tansu_status repair_build_history(repair *r, tansu_error *error) {
    history h = {.r = r};
    tansu_status status = TANSU_OK;
    size_t gap = 0;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        if (!r->segments[i].left_out)
            status = repair_order_runs(r, &r->segments[i], bound_of(r, i), error);
    if (status == TANSU_OK)
        status = cover_all(&h, error);
    bool done = true;
    for (size_t i = 0; done && status == TANSU_OK && i < r->run_count; i++)
        done = push_run(&h, i);
    done = done && status == TANSU_OK && choose(&h) && find_missing(&h);
    for (size_t i = 0; done && i < r->segment_count; i++)
        bound_gaps(r, (uint32_t)i, bound_of(r, i), &gap);
    done = done && note_log_end(r);
    free(h.covered);
    free(h.heap);
    free(h.removals);
    if (!done && status == TANSU_OK)
        status = error_memory(error);
    return status == TANSU_OK ? repair_mark_gaps(r, error) : status;
}

/* ---- Which runs of a segment lie where they were written ---- */

/*
 * Commits rise within a segment. The runs of the longest rising chain, counted in frames, are the
 * segment's own. The others overwrote it: misdirected writes, or an older content of the file.
 *
 * Compaction drops commits, so in its segments adjacent frames may be of one run although their
 * commits do not follow each other, or because a misdirected write put one of them exactly where
 * another frame began. The latter is possible where a frame of a commit between theirs exists in
 * the segment, or where the segment has only one of the two twice. Runs are split there first.
 */

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
    return bisect(list->items, sizeof *list->items, 0, true, list->count, sequence);
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
