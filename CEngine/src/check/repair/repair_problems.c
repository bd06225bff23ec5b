/*
 * check/repair/repair_problems.c -- the problems of the log: gaps, misdirected writes, and commits
 * that are missing.
 */
#include "check/repair/repair_problems.h"

#include "check/repair/repair_history.h"

#include <stdio.h>

/* note -- a problem of a byte range of a segment. */
static void note(repair *r, const repair_segment *s, uint64_t offset, uint64_t size,
                 const char *message) {
    char name[64];
    repair_segment_name(r, s->number, name);
    problem_location where = {.file = name, .offset = (int64_t)offset, .size = (int64_t)size};
    problem_list_add(&r->problems, &where, "Segment \"%s\" at offset %llu: %s", name,
                     (unsigned long long)offset, message);
}

/* commits_text -- "commit 7" or "commits 7 to 9". */
static void commits_text(char text[64], uint64_t first, uint64_t last) {
    if (first == last)
        snprintf(text, 64, "commit %llu", (unsigned long long)first);
    else
        snprintf(text, 64, "commits %llu to %llu", (unsigned long long)first,
                 (unsigned long long)last);
}

/* mark_reported -- the missing commits from one to another need no problem of their own. */
static void mark_reported(repair *r, uint64_t first, uint64_t last) {
    for (size_t i = repair_missing_from(r, first);
         i < r->missing_count && r->missing[i].first <= last; i++)
        r->missing[i].reported = true;
}

/* add_gap_problem -- a gap. */
static void add_gap_problem(repair *r, const repair_gap *gap) {
    const repair_segment *s = &r->segments[gap->segment];
    uint64_t size = gap->to - gap->from, first = 0, last = 0;
    uint64_t to = gap->high == UINT64_MAX ? UINT64_MAX : gap->high - 1;
    uint64_t missing = repair_count_missing(r, gap->low + 1, to, &first, &last);
    if (missing == 0 && gap->tail && gap->high == UINT64_MAX)
        return; /* of a commit that was never acknowledged, or that another file has, too */
    char commits[64], message[256];
    if (missing == 0) {
        note(r, s, gap->from, size, "corrupt bytes, whose commits were all found elsewhere");
        return;
    }
    commits_text(commits, first, last);
    snprintf(message, sizeof message,
             "corruption in %s%s; %llu records that no checksum protects were salvaged and %llu "
             "bytes were lost",
             commits, s->last != 0 ? ", of which compaction had kept a part" : "",
             (unsigned long long)gap->taken, (unsigned long long)(size - gap->taken_bytes));
    r->lost_bytes += size - gap->taken_bytes;
    note(r, s, gap->from, size, message);
    mark_reported(r, first, last);
}

/* add_misdirected_problem -- a misdirected write. */
static void add_misdirected_problem(repair *r, const repair_run *run) {
    const repair_segment *s = &r->segments[run->segment];
    char commits[64], message[160];
    commits_text(commits, run->first, run->last);
    snprintf(message, sizeof message,
             "%u bytes of %s were written to the wrong offset and overwrote others",
             run->to - run->from, commits);
    note(r, s, run->from, run->to - run->from, message);
    if (r->missing_count != 0)
        r->lost_bytes += run->to - run->from;
}

/* add_missing_problem -- commits of which nothing is left, not even corrupt bytes. *slice: where to
 * continue the search for the commit after them. */
static void add_missing_problem(repair *r, const repair_range *range, size_t *slice) {
    char commits[64], message[128];
    commits_text(commits, range->first, range->last);
    const char *are = range->first == range->last ? "is" : "are";
    while (*slice < r->slice_count && !r->slices[*slice].removals &&
           r->slices[*slice].first <= range->last)
        ++*slice;
    if (*slice < r->slice_count && !r->slices[*slice].removals) {
        const repair_run *run = &r->runs[r->slices[*slice].run];
        bool whole = run->from == SEGMENT_HEADER_SIZE && run->first == r->slices[*slice].first;
        snprintf(message, sizeof message, "the %s before %s %s missing", commits,
                 whole ? "this segment" : "this offset", are);
        note(r, &r->segments[run->segment], whole ? 0 : run->from, 0, message);
        return;
    }
    problem_location where = {.file = "log", .offset = -1, .size = -1};
    problem_list_add(&r->problems, &where, "The %s at the end of the log %s missing", commits, are);
}

/* count_missing -- how many commits are lost. Compaction may have dropped many of those that a
 * compacted segment lacks: no more are lost than fit in its corrupt bytes. */
static void count_missing(repair *r) {
    for (size_t i = 0; i < r->missing_count; i++)
        r->lost_commits += r->missing[i].last - r->missing[i].first + 1;
    for (size_t i = 0; i < r->segment_count; i++) {
        const repair_segment *s = &r->segments[i];
        uint64_t first, last;
        if (s->left_out || !s->header || s->last == 0 || s->file != NULL)
            continue;
        uint64_t missing = repair_count_missing(r, s->first, s->last, &first, &last);
        uint64_t gone = s->size < s->end ? s->end - s->size : 0;
        for (size_t k = 0; k < s->run_count; k++)
            if (!r->runs[s->run + k].in_order)
                gone += r->runs[s->run + k].to - r->runs[s->run + k].from;
        uint64_t most = (s->gap_bytes + gone) / (FRAME_HEADER_SIZE + RECORD_SIZE_LEAST) + 1;
        if (missing > most)
            r->lost_commits -= missing - most;
    }
}

void repair_add_log_problems(repair *r) {
    for (size_t i = 0; i < r->gap_count; i++)
        if (r->segments[r->gaps[i].segment].file == NULL)
            add_gap_problem(r, &r->gaps[i]);
    for (size_t i = 0; i < r->run_count; i++)
        if (!r->runs[i].in_order && r->segments[r->runs[i].segment].file == NULL)
            add_misdirected_problem(r, &r->runs[i]);
    size_t slice = 0;
    for (size_t i = 0; i < r->missing_count; i++)
        if (!r->missing[i].reported)
            add_missing_problem(r, &r->missing[i], &slice);
    count_missing(r);
}
