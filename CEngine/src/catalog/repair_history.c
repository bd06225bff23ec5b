/*
 * catalog/repair_history.c -- what is taken of the runs, and which commits are missing.
 *
 * Where runs have the same commits, the longest is taken, and of equally long ones that which lies where it
 * was written. A compacted segment stands for all commits that it covers, as far as it is whole: of what was
 * there before it, only deletions count, for compaction may have left those out together with what they
 * deleted.
 */
#include "base/error.h"
#include "catalog/repair_parts.h"

#include <stdlib.h>

/* A stretch of commits that a compacted segment covers. */
typedef struct proof {
    uint64_t first;
    uint64_t last;
    uint32_t number; /* of the segment */
    bool sure;       /* it is whole there, and stands for all of them */
} proof;

/* What is at work. */
typedef struct history {
    repair *r;
    proof *proofs; /* by commit, none over another */
    size_t proof_count;
    size_t proof_room;
    repair_piece *heap; /* what may be taken, the earliest on top */
    size_t heap_count;
    size_t heap_room;
    repair_piece *removals;
    size_t removal_count;
    size_t removal_room;
} history;

/* ---- What compacted segments stand for ---- */

/* proof_from -- the first of them that ends with a commit or later. */
static size_t proof_from(const history *h, uint64_t sequence) {
    size_t low = 0, high = h->proof_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->proofs[middle].last < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* proof_add -- one more, over what earlier segments stand for. */
static bool proof_add(history *h, proof p) {
    size_t at = proof_from(h, p.first);
    /* Two at most are split or shortened; those between go. */
    proof left = {.first = 1}, right = {.first = 1};
    size_t end = at;
    while (end < h->proof_count && h->proofs[end].first <= p.last) {
        if (h->proofs[end].first < p.first)
            left = (proof){h->proofs[end].first, p.first - 1, h->proofs[end].number,
                           h->proofs[end].sure};
        if (h->proofs[end].last > p.last)
            right = (proof){p.last + 1, h->proofs[end].last, h->proofs[end].number,
                            h->proofs[end].sure};
        end++;
    }
    proof made[3];
    size_t count = 0;
    if (left.last != 0)
        made[count++] = left;
    made[count++] = p;
    if (right.last != 0)
        made[count++] = right;
    while (h->proof_room < h->proof_count + 3)
        if (!repair_grow(&h->proofs, h->proof_room, &h->proof_room, sizeof *h->proofs))
            return false;
    memmove(h->proofs + at + count, h->proofs + end, (h->proof_count - end) * sizeof *h->proofs);
    memcpy(h->proofs + at, made, count * sizeof *made);
    h->proof_count += at + count - end;
    return true;
}

/* prove -- what one compacted segment stands for: all but what lies between runs that do not meet. */
static bool prove(history *h, const repair_segment *s) {
    if (!proof_add(h, (proof){s->first, s->last, s->named, false}))
        return false;
    uint64_t from = s->first, last = 0, at = SEGMENT_HEADER_SIZE;
    for (size_t i = 0; i < s->run_count; i++) {
        const repair_run *run = &h->r->runs[s->run + i];
        if (!run->home)
            continue;
        if (run->from != at) { /* what lies before it is damaged */
            if (last != 0 && !proof_add(h, (proof){from, last, s->named, true}))
                return false;
            from = run->first;
        }
        last = run->last;
        at = run->to;
    }
    if (at == s->end)
        last = s->last;
    return last == 0 || proof_add(h, (proof){from, last, s->named, true});
}

/* by_number -- for sorting segments. */
static int by_number(const void *a, const void *b) {
    const repair_segment *const *x = a, *const *y = b;
    return (*x)->named < (*y)->named ? -1 : (*x)->named > (*y)->named;
}

/* prove_all -- of all compacted segments, the later over the earlier. */
static tansu_status prove_all(history *h, tansu_error *error) {
    repair *r = h->r;
    const repair_segment **list = malloc((r->segment_count + 1) * sizeof *list);
    if (list == NULL)
        return error_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < r->segment_count; i++)
        if (!r->segments[i].left_out && r->segments[i].header && r->segments[i].last != 0 &&
            r->segments[i].file == NULL)
            list[count++] = &r->segments[i];
    if (count > 1)
        qsort(list, count, sizeof *list, by_number);
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = prove(h, list[i]);
    free(list);
    return done ? TANSU_OK : error_memory(error);
}

/* ---- The heap ---- */

/* heap_swap -- exchanges two items. */
static void heap_swap(history *h, size_t a, size_t b) {
    repair_piece saved = h->heap[a];
    h->heap[a] = h->heap[b];
    h->heap[b] = saved;
}

/* heap_push -- adds a piece. */
static bool heap_push(history *h, repair_piece piece) {
    if (!repair_grow(&h->heap, h->heap_count, &h->heap_room, sizeof *h->heap))
        return false;
    size_t at = h->heap_count++;
    h->heap[at] = piece;
    for (; at > 0 && h->heap[(at - 1) / 2].first > h->heap[at].first; at = (at - 1) / 2)
        heap_swap(h, at, (at - 1) / 2);
    return true;
}

/* heap_pop -- takes the earliest away. */
static repair_piece heap_pop(history *h) {
    repair_piece top = h->heap[0];
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

/* ---- Pieces ---- */

/* own_number -- which compacted segments do not stand for a run: those with numbers up to this. */
static uint32_t own_number(const repair *r, const repair_run *run) {
    const repair_segment *s = &r->segments[run->segment];
    return run->home && s->header && s->last != 0 ? s->named : 0;
}

/* push_run -- a run, without what a compacted segment stands for. */
static bool push_run(history *h, size_t index) {
    const repair_run *run = &h->r->runs[index];
    uint32_t number = own_number(h->r, run);
    uint64_t at = run->first;
    for (size_t i = proof_from(h, at); i < h->proof_count && h->proofs[i].first <= run->last; i++) {
        const proof *p = &h->proofs[i];
        if (p->number <= number)
            continue;
        uint64_t from = p->first > at ? p->first : at,
                 to = p->last < run->last ? p->last : run->last;
        if (from > at && !heap_push(h, (repair_piece){.first = at, .last = from - 1, .run = index}))
            return false;
        at = to + 1;
        if (!p->sure) {
            h->r->doubted = true;
            if (!heap_push(
                    h, (repair_piece){.first = from, .last = to, .run = index, .doubted = true}))
                return false;
            continue;
        }
        if (!repair_grow(&h->removals, h->removal_count, &h->removal_room, sizeof *h->removals))
            return false;
        h->removals[h->removal_count++] =
            (repair_piece){.first = from, .last = to, .run = index, .removals = true};
    }
    return at > run->last ||
           heap_push(h, (repair_piece){.first = at, .last = run->last, .run = index});
}

/* better -- whether a run is taken rather than another. */
static bool better(const repair *r, size_t a, size_t b) {
    const repair_run *x = &r->runs[a], *y = &r->runs[b];
    const repair_segment *s = &r->segments[x->segment], *t = &r->segments[y->segment];
    /* What was set aside may have been written anew since. */
    if ((s->file == NULL) != (t->file == NULL))
        return s->file == NULL;
    if (x->frames != y->frames)
        return x->frames > y->frames;
    if (x->home != y->home)
        return x->home;
    return s->header != t->header ? s->header : a < b;
}

/* take_piece -- adds to the history. */
static bool take_piece(repair *r, repair_piece piece) {
    if (!repair_grow(&r->pieces, r->piece_count, &r->piece_room, sizeof *r->pieces))
        return false;
    r->pieces[r->piece_count++] = piece;
    return true;
}

/* choose -- of all pieces, those that are taken, in the order of commits. */
static bool choose(history *h) {
    repair *r = h->r;
    while (h->heap_count != 0) {
        repair_piece piece = heap_pop(h);
        while (h->heap_count != 0 && h->heap[0].first <= piece.last) {
            repair_piece other = heap_pop(h);
            bool wins = better(r, other.run, piece.run);
            const repair_piece *winner = wins ? &other : &piece;
            repair_piece rest = wins ? piece : other; /* what of the loser lies behind the winner */
            if (rest.last > winner->last) {
                rest.first = winner->last + 1;
                if (!heap_push(h, rest))
                    return false;
            }
            if (!wins)
                continue;
            /* And what of it lies before. */
            if (other.first > piece.first) {
                piece.last = other.first - 1;
                if (!take_piece(r, piece))
                    return false;
            }
            piece = other;
        }
        if (!take_piece(r, piece))
            return false;
    }
    for (size_t i = 0; i < h->removal_count; i++)
        if (!take_piece(r, h->removals[i]))
            return false;
    return true;
}

/* ---- What is missing ---- */

/* lost_add -- commits that no run has and no compacted segment stands for. */
static bool lost_add(repair *r, uint64_t first, uint64_t last) {
    if (!repair_grow(&r->lost, r->lost_count, &r->lost_room, sizeof *r->lost))
        return false;
    r->lost[r->lost_count++] = (repair_range){.first = first, .last = last};
    r->last_lost = last;
    return true;
}

/* find_lost -- all of them. */
static bool find_lost(history *h) {
    repair *r = h->r;
    uint64_t known = 0;
    size_t piece = 0, p = 0;
    for (;;) {
        while (piece < r->piece_count && r->pieces[piece].removals)
            piece++;
        while (p < h->proof_count && !h->proofs[p].sure)
            p++;
        bool more = piece < r->piece_count, proved = p < h->proof_count;
        if (!more && !proved)
            break;
        bool first = more && (!proved || r->pieces[piece].first <= h->proofs[p].first);
        uint64_t from = first ? r->pieces[piece].first : h->proofs[p].first;
        uint64_t to = first ? r->pieces[piece].last : h->proofs[p].last;
        if (from > known + 1 && !lost_add(r, known + 1, from - 1))
            return false;
        if (to > known)
            known = to;
        piece += first;
        p += !first;
    }
    if (r->end_sequence > known && !lost_add(r, known + 1, r->end_sequence))
        return false;
    r->last_known = known > r->end_sequence ? known : r->end_sequence;
    return true;
}

uint64_t repair_missing(const repair *r, uint64_t from, uint64_t to, uint64_t *first,
                        uint64_t *last) {
    size_t low = 0, high = r->lost_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->lost[middle].last < from)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t count = 0;
    for (; low < r->lost_count && r->lost[low].first <= to; low++) {
        uint64_t a = r->lost[low].first > from ? r->lost[low].first : from;
        uint64_t b = r->lost[low].last < to ? r->lost[low].last : to;
        if (count == 0)
            *first = a;
        *last = b;
        count += b - a + 1;
    }
    return count;
}

/* ---- Holes ---- */

/* bound_holes -- between which commits the holes of a segment lie. */
static void bound_holes(repair *r, uint32_t index, uint64_t bound, size_t *at) {
    const repair_segment *s = &r->segments[index];
    size_t run = 0;
    uint64_t low = s->header ? s->first - 1 : 0;
    for (; *at < r->hole_count && r->holes[*at].segment == index; ++*at) {
        repair_hole *hole = &r->holes[*at];
        for (; run < s->run_count && r->runs[s->run + run].from < hole->from; run++)
            if (r->runs[s->run + run].home)
                low = r->runs[s->run + run].last;
        size_t next = run;
        while (next < s->run_count && !r->runs[s->run + next].home)
            next++;
        hole->low = low;
        hole->high = next < s->run_count   ? r->runs[s->run + next].first
                     : bound == UINT64_MAX ? UINT64_MAX
                                           : bound + 1;
    }
}

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

/* note_tail -- a commit at the log's very end of which a header was there. */
static bool note_tail(repair *r) {
    for (size_t i = 0; i < r->hole_count; i++) {
        const repair_hole *hole = &r->holes[i];
        if (hole->tail && !hole->unfinished && hole->high == UINT64_MAX &&
            hole->low == r->last_known && r->segments[hole->segment].file == NULL)
            return lost_add(r, r->last_known + 1, r->last_known + 1);
    }
    return true;
}

/* ---- The course ---- */

tansu_status repair_history(repair *r, tansu_error *error) {
    history h = {.r = r};
    tansu_status status = TANSU_OK;
    size_t hole = 0;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        if (!r->segments[i].left_out)
            status = repair_home(r, &r->segments[i], bound_of(r, i), error);
    if (status == TANSU_OK)
        status = prove_all(&h, error);
    bool done = true;
    for (size_t i = 0; done && status == TANSU_OK && i < r->run_count; i++)
        done = push_run(&h, i);
    done = done && status == TANSU_OK && choose(&h) && find_lost(&h);
    for (size_t i = 0; done && i < r->segment_count; i++)
        bound_holes(r, (uint32_t)i, bound_of(r, i), &hole);
    done = done && note_tail(r);
    free(h.proofs);
    free(h.heap);
    free(h.removals);
    return done || status != TANSU_OK ? status : error_memory(error);
}
