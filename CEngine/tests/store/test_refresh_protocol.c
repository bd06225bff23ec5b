/*
 * test_refresh_protocol.c -- a model of how a reader goes on to the commits of another process
 * (docs/readers.md), checked in every interleaving of their steps. test_reader_protocol.c has the
 * model of an opening; of that, only what concerns the end of the log is here.
 *
 * The writer commits, begins segments, compacts, removes segments, ends cleanly, fails to sync, is
 * killed before any step, and begins again. Each step is one thing that another process can see:
 * half a frame, one mark, one name. The reader refreshes or follows: it loads the marks one by one,
 * reads frame by frame, and opens the files again where it has to.
 *
 * Whatever the order: a refresh sees each commit that had returned before it began; every state is
 * a committed prefix; a reader never goes back except where commits were dropped from the log; what
 * it needs is never missing for good; and it examines no frame that is being written.
 *
 * The same search with a rule of the protocol left out must find a violation: so the model can
 * fail. All loads and stores are in one order here: the model does not show that the barriers are
 * those that a processor needs.
 */
#include "support/check.h"
#include "support/model/explored_states.h"
#include "support/model/refresh_model.h"

#include <string.h>

#define COMMIT BODY, HEADER, MARK, RETURN
#define DURABLE BODY, HEADER, MARK, SYNC_BEGINS, SYNC_ENDS, RETURN
#define UNSYNCED BODY, HEADER, MARK
#define COMPACTING                                                                                 \
    CUT, MARKS, COMMIT, ROLL, BEGIN, COMMIT, COMMIT, ROLL, BEGIN, COMPACT, BODY, RELOCATION, MARK, \
        RETURN, FILE_LATE, CHECKPOINT, UNLINK
#define MARKS COUNT_RESET, MARK_END, MARK_IDLE, COUNT_SESSION

static const program programs[] = {
    /* Two writers that end cleanly, each with one commit. */
    {{CUT, MARKS, COMMIT, CHECKPOINT, MANIFEST, CLEAR, NEXT, CUT, AGAIN, MARKS, COMMIT, CHECKPOINT,
      MANIFEST, CLEAR, END},
     2,
     false,
     0},
    /* New segments. */
    {{CUT, MARKS, COMMIT, ROLL, BEGIN, COMMIT, ROLL, BEGIN, COMMIT, NEXT, CUT, AGAIN, MARKS, COMMIT,
      MANIFEST, CLEAR, END},
     2,
     false,
     0},
    /* Compactions, whose segments are removed: of the segment that the reader is in, and of later
     * ones. */
    {{COMPACTING, COMMIT, NEXT, CUT, AGAIN, MARKS, COMMIT, END}, 2, false, 1},
    {{COMPACTING, COMMIT, END}, 2, false, 2},
    /* A failed sync: the writer after it drops what was lost, and writes the end to a new file. */
    {{CUT, MARKS, DURABLE, UNSYNCED, UNSYNCED, SYNC_BEGINS, SYNC_FAILS, LOSE, NEXT, CUT, RENEW,
      MARKS, DURABLE, DURABLE, END},
     2,
     true,
     0},
    /* The same, where it has no disk space for a new file. */
    {{CUT, MARKS, DURABLE, UNSYNCED, UNSYNCED, SYNC_BEGINS, SYNC_FAILS, LOSE, NEXT, CUT, AGAIN,
      MARKS, DURABLE, DURABLE, END},
     2,
     true,
     0},
    {{CUT, MARKS, UNSYNCED, SYNC_BEGINS, SYNC_FAILS, LOSE, NEXT, CUT, AGAIN, MARKS, DURABLE,
      MANIFEST, CLEAR, NEXT, CUT, AGAIN, MARKS, DURABLE, END},
     2,
     true,
     0},
    /* A commit with the number of one that was dropped. */
    {{CUT, MARKS, UNSYNCED, SYNC_BEGINS, SYNC_FAILS, LOSE, NEXT, CUT, AGAIN, MARKS, DURABLE, END},
     3,
     true,
     0},
};

static const char *const rule_names[RULES] = {
    "all",
    "frame before mark",
    "mark before return",
    "manifest before cleared mark",
    "resets before sessions",
    "end before idle",
    "compacted segment before relocation",
    "checkpoint before unlink",
    "sessions are counted",
    "resets are counted",
    "end of the log before sessions",
    "sessions are loaded first",
    "resets are loaded last",
    "resets are compared",
    "resets are compared after replaying",
    "resets are compared after opening",
    "manifest is read after the marks",
    "manifest is read where the mark is cleared",
    "nothing after the mark",
    "checksum",
    "no compacted segment is continued with",
};

/* ---- The search ---- */

typedef struct search {
    const program *program;
    rule without;
    enum mode mode;
    bool first; /* ends with the first violation */
    explored_states explored;
    size_t count;
    uint64_t readings, reopened, violations;
} search;

/* contains -- whether the log up to commit `later` has `earlier`. */
static bool contains(const history *h, uint8_t later, uint8_t earlier) {
    while (later > earlier)
        later = h->before[later];
    return later == earlier;
}

/* sound -- whether the reading that just ended, or a step of it, keeps what is promised. */
static bool sound(const state *before, const state *now, const program *p) {
    const reader *r = &now->r;
    if (r->missing || (r->met && !p->fails))
        return false;
    if (r->phase != IDLE_READER)
        return true;
    if (r->bad)
        return false;
    uint8_t last = before->r.published;
    return contains(&now->h, r->published, r->due) &&
           (contains(&now->h, r->published, last) || (now->h.dropped >> last & 1) != 0);
}

/* go -- from a state on, each way. */
static void go(search *s, const state *from) {
    if ((s->first && s->violations != 0) || !explored_add(&s->explored, from, sizeof *from))
        return;
    state next = *from;
    if (from->r.phase != IDLE_READER || from->r.readings < s->program->readings) {
        model_read(from, &next.r, s->mode, s->without);
        s->readings += next.r.phase == IDLE_READER;
        s->reopened += next.r.phase == OPEN_MAP;
        if (!sound(from, &next, s->program))
            s->violations++;
        else
            go(s, &next);
        next = *from;
    }
    if (model_write(&next, s->program, s->without))
        go(s, &next);
    next = *from;
    if (model_kill(&next.w, s->program))
        go(s, &next);
}

/* begin -- a log of two commits, after a clean end. */
static state begin(void) {
    state s;
    memset(&s, 0, sizeof s);
    s.f.segments[0] = (segment_file){.number = 1, .named = 1, .header = 1, .first = 1, .count = 1};
    s.f.segments[1] = (segment_file){.number = 2, .named = 1, .header = 1, .first = 2, .count = 1};
    s.f.segments[0].frames[0] = 1;
    s.f.segments[1].frames[0] = 2;
    s.h.made = s.h.returned = 2;
    s.h.before[2] = 1;
    s.f.manifest_end = 2;
    s.f.checkpoint = s.r.at = (position){1, 1, 2, 2};
    s.r.published = 2;
    s.r.seen.written = NONE;
    return s;
}

/* search_all -- every interleaving of every program. */
static search search_all(rule without, bool first) {
    search total = {0};
    for (size_t i = 0; i < MODES * sizeof programs / sizeof programs[0]; i++) {
        search s = {.program = &programs[i / MODES],
                    .without = without,
                    .mode = (enum mode)(i % MODES),
                    .first = first};
        state from = begin();
        if (s.mode == OPENS) {
            from.r.phase = OPEN_MARKS;
            from.r.readings = 1;
            from.r.due = from.r.published;
        }
        go(&s, &from);
        total.count += s.explored.count;
        total.readings += s.readings;
        total.reopened += s.reopened;
        total.violations += s.violations;
        explored_free(&s.explored);
    }
    return total;
}

static void readings_keep_what_is_promised(void) {
    search s = search_all(ALL, false);
    check_note("%zu states, %llu ends of readings, %llu times the files were opened again", s.count,
               (unsigned long long)s.readings, (unsigned long long)s.reopened);
    CHECK_INT(0, s.violations);
    CHECK(s.readings > 0);
    CHECK(s.reopened > 0);
}

static void each_rule_is_needed(void) {
    for (rule without = ALL + 1; without < RULES; without++)
        if (!CHECK(search_all(without, true).violations > 0))
            check_note("    without the rule \"%s\" nothing is found", rule_names[without]);
}

int main(void) {
    RUN(readings_keep_what_is_promised);
    RUN(each_rule_is_needed);
    return check_finish();
}
