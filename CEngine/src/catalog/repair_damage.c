/*
 * catalog/repair_damage.c -- telling what is wrong with the log: damaged stretches, blocks that came from
 * elsewhere, and commits that are missing.
 */
#include "catalog/repair_parts.h"

#include <stdio.h>

/* note -- a problem with a stretch of a segment. */
static void note(repair *r, const repair_segment *s, uint64_t offset, uint64_t size,
                 const char *message) {
    char name[64];
    repair_name(r, s->number, name);
    finding where = {.file = name, .offset = (int64_t)offset, .size = (int64_t)size};
    findings_add(&r->problems, &where, "%s, offset %llu: %s", name, (unsigned long long)offset,
                 message);
}

/* commits_text -- "commit 7" or "commits 7 to 9". */
static void commits_text(char text[64], uint64_t first, uint64_t last) {
    if (first == last)
        snprintf(text, 64, "commit %llu", (unsigned long long)first);
    else
        snprintf(text, 64, "commits %llu to %llu", (unsigned long long)first,
                 (unsigned long long)last);
}

/* mark_told -- that the lost commits from one to another need no problem of their own. */
static void mark_told(repair *r, uint64_t first, uint64_t last) {
    size_t low = 0, high = r->lost_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->lost[middle].last < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->lost_count && r->lost[low].first <= last; low++)
        r->lost[low].told = true;
}

/* tell_hole -- a stretch that is no frame. */
static void tell_hole(repair *r, const repair_hole *hole) {
    const repair_segment *s = &r->segments[hole->segment];
    uint64_t size = hole->to - hole->from, first = 0, last = 0;
    uint64_t to = hole->high == UINT64_MAX ? UINT64_MAX : hole->high - 1;
    uint64_t missing = repair_missing(r, hole->low + 1, to, &first, &last);
    if (missing == 0 && hole->tail && hole->high == UINT64_MAX)
        return; /* of a commit that was never finished, or that lies elsewhere, too */
    char commits[64], message[256];
    if (missing == 0) {
        note(r, s, hole->from, size, "damage, of which all commits were found elsewhere");
        return;
    }
    commits_text(commits, first, last);
    snprintf(message, sizeof message,
             "damage in %s%s: %llu records were taken that no checksum protects, %llu bytes were "
             "lost",
             commits, s->last != 0 ? ", as far as compaction had left them" : "",
             (unsigned long long)hole->taken, (unsigned long long)(size - hole->taken_bytes));
    r->lost_bytes += size - hole->taken_bytes;
    note(r, s, hole->from, size, message);
    mark_told(r, first, last);
}

/* tell_stranger -- frames where others were. */
static void tell_stranger(repair *r, const repair_run *run) {
    const repair_segment *s = &r->segments[run->segment];
    char commits[64], message[160];
    commits_text(commits, run->first, run->last);
    snprintf(message, sizeof message,
             "%u bytes are of %s, which belong elsewhere, and lie over others", run->to - run->from,
             commits);
    note(r, s, run->from, run->to - run->from, message);
    if (r->lost_count != 0)
        r->lost_bytes += run->to - run->from;
}

/* tell_missing -- commits of which nothing is left, not even a damaged place. *piece: where to look on for what
 * follows them. */
static void tell_missing(repair *r, const repair_range *range, size_t *piece) {
    char commits[64], message[128];
    commits_text(commits, range->first, range->last);
    const char *are = range->first == range->last ? "is" : "are";
    while (*piece < r->piece_count && !r->pieces[*piece].removals &&
           r->pieces[*piece].first <= range->last)
        ++*piece;
    if (*piece < r->piece_count && !r->pieces[*piece].removals) {
        const repair_run *run = &r->runs[r->pieces[*piece].run];
        bool whole = run->from == SEGMENT_HEADER_SIZE && run->first == r->pieces[*piece].first;
        snprintf(message, sizeof message, "the %s before %s %s missing", commits,
                 whole ? "this segment" : "this", are);
        note(r, &r->segments[run->segment], whole ? 0 : run->from, 0, message);
        return;
    }
    finding where = {.file = "log", .offset = -1, .size = -1};
    findings_add(&r->problems, &where, "the %s %s missing at the log's end", commits, are);
}

/* count_missing -- how many commits are lost. In a compacted segment many of those that it lacks had nothing
 * left: no more than its damaged bytes have room for. */
static void count_missing(repair *r) {
    for (size_t i = 0; i < r->lost_count; i++)
        r->lost_commits += r->lost[i].last - r->lost[i].first + 1;
    for (size_t i = 0; i < r->segment_count; i++) {
        const repair_segment *s = &r->segments[i];
        uint64_t first, last;
        if (s->left_out || !s->header || s->last == 0 || s->file != NULL)
            continue;
        uint64_t missing = repair_missing(r, s->first, s->last, &first, &last);
        uint64_t gone = s->size < s->end ? s->end - s->size : 0;
        for (size_t k = 0; k < s->run_count; k++)
            if (!r->runs[s->run + k].home)
                gone += r->runs[s->run + k].to - r->runs[s->run + k].from;
        uint64_t most = (s->hole_bytes + gone) / (FRAME_HEADER_SIZE + RECORD_HEADER_SIZE) + 1;
        if (missing > most)
            r->lost_commits -= missing - most;
    }
}

void repair_tell_damage(repair *r) {
    for (size_t i = 0; i < r->hole_count; i++)
        if (r->segments[r->holes[i].segment].file == NULL)
            tell_hole(r, &r->holes[i]);
    for (size_t i = 0; i < r->run_count; i++)
        if (!r->runs[i].home && r->segments[r->runs[i].segment].file == NULL)
            tell_stranger(r, &r->runs[i]);
    size_t piece = 0;
    for (size_t i = 0; i < r->lost_count; i++)
        if (!r->lost[i].told)
            tell_missing(r, &r->lost[i], &piece);
    count_missing(r);
}
