/*
 * test_reader_protocol.c -- a model of how a reader opens a database while another
 * process writes it (docs/readers.md), checked in every interleaving of their steps.
 *
 * The writer appends commits, begins segments, writes checkpoints, compacts, rewrites the block
 * store and may be killed before any step. Each step is one thing that another process can see:
 * a record, half a journal, one word. The reader takes a stamp, maps segments, copies the block
 * store and compares the stamp, one file or word a step. Whenever it accepts what it has, that must
 * be the files of one point in time: records of one checkpoint, every segment that they lead to,
 * and a log that reaches the last commit before the reader began.
 *
 * The same search with a rule of the protocol left out must find a violation: so the model can
 * fail.
 */
#include "support/check.h"
#include "support/model/explored_states.h"

#include <stdio.h>
#include <string.h>

#define SEGMENTS 6
#define SLOTS 4
#define RECORDS 2 /* META, and a chunk of locations */
#define MISSING 0xff

/* ---- The files ---- */

typedef struct record {
    uint8_t commit;   /* the checkpoint that wrote it */
    uint8_t sequence; /* the log's last commit in it */
    uint8_t segments; /* bits: those that it refers to */
} record;

/* A journal: which slot each record is in after its commit. */
typedef struct journal {
    uint8_t commit; /* 0: there is none */
    uint8_t session;
    uint8_t whole; /* it is written in two steps */
    uint8_t words[RECORDS];
} journal;

typedef struct block_file {
    uint8_t session, commit; /* the head */
    uint8_t words[RECORDS];
    record slots[SLOTS];
} block_file;

typedef struct segment_file {
    uint8_t exists, first, last; /* the commits that it holds; last < first: none */
    uint8_t replaces;            /* bits: compacted */
} segment_file;

typedef struct files {
    block_file block[2]; /* the second: after the store was rewritten */
    uint8_t current;     /* which of them has the name */
    journal journals[2];
    segment_file segments[SEGMENTS];
    uint8_t head; /* the segment that is appended to */
    uint8_t last; /* commit */
} files;

/* ---- The writer: a program of visible steps ---- */

typedef enum action {
    APPEND,
    ROLL,    /* a new head */
    RECORD0, /* a checkpoint: META to a free slot */
    RECORD1,
    JOURNAL0, /* half of it */
    JOURNAL1,
    WORD0,
    WORD1,
    HEAD,
    COMPACT, /* the compacted segment appears */
    INSTALL, /* and is made known in the log */
    UNLINK0, /* what it replaced goes, once a checkpoint lists it */
    UNLINK1,
    RENAME,  /* the store is rewritten */
    FORGET0, /* its journals go */
    FORGET1,
    END
} action;

#define CHECKPOINT RECORD0, RECORD1, JOURNAL0, JOURNAL1, WORD0, WORD1, HEAD

static const action programs[][48] = {
    {APPEND, CHECKPOINT, APPEND, ROLL, APPEND, CHECKPOINT, APPEND, CHECKPOINT, END},
    {APPEND, ROLL, APPEND, COMPACT, INSTALL, APPEND, CHECKPOINT, UNLINK0, UNLINK1, ROLL, APPEND,
     CHECKPOINT, APPEND, END},
    {COMPACT, INSTALL, CHECKPOINT, UNLINK0, UNLINK1, APPEND, RENAME, FORGET0, FORGET1, ROLL, APPEND,
     CHECKPOINT, CHECKPOINT, END},
    {CHECKPOINT, RENAME, FORGET0, FORGET1, CHECKPOINT, APPEND, CHECKPOINT, ROLL, APPEND, CHECKPOINT,
     END},
};

/* live -- the segments that make up the log, as bits. */
static uint8_t live(const files *f) {
    uint8_t bits = 0, replaced = 0;
    for (int i = 0; i < SEGMENTS; i++)
        if (f->segments[i].exists && (f->segments[i].replaces == 0 || f->segments[i].exists == 2))
            bits |= (uint8_t)(1 << i), replaced |= f->segments[i].replaces;
    return bits & (uint8_t)~replaced;
}

/* free_slot -- one that neither the last commit nor the one in progress uses. */
static uint8_t free_slot(const block_file *b, uint8_t taken) {
    for (uint8_t i = 0; i < SLOTS; i++)
        if (i != b->words[0] && i != b->words[1] && i != taken)
            return i;
    return MISSING;
}

/* The writer's own memory. */
typedef struct writer {
    uint8_t next; /* step of the program */
    uint8_t commit;
    uint8_t slots[RECORDS];
} writer;

/* write_checkpoint -- one of its steps. */
static void write_checkpoint(files *f, writer *w, action a) {
    block_file *b = &f->block[f->current];
    journal *j = &f->journals[(w->commit + 1) % 2];
    switch (a) {
    case RECORD0: w->slots[0] = free_slot(b, MISSING); break;
    case RECORD1: w->slots[1] = free_slot(b, w->slots[0]); break;
    case JOURNAL0:
        *j = (journal){(uint8_t)(w->commit + 1), b->session, 0, {w->slots[0], w->slots[1]}};
        break;
    case JOURNAL1: j->whole = 1; break;
    case WORD0: b->words[0] = w->slots[0]; break;
    case WORD1: b->words[1] = w->slots[1]; break;
    default: b->commit = ++w->commit; break;
    }
    if (a == RECORD0 || a == RECORD1)
        b->slots[w->slots[a - RECORD0]] = (record){(uint8_t)(w->commit + 1), f->last, live(f)};
}

/* write_step -- the writer's next step; false at its end. */
static bool write_step(files *f, writer *w, const action *program) {
    action a = program[w->next];
    if (a == END)
        return false;
    w->next++;
    switch (a) {
    case APPEND:
    case INSTALL:
        f->segments[f->head].last = ++f->last;
        if (a == INSTALL)
            for (int i = 0; i < SEGMENTS; i++)
                if (f->segments[i].replaces != 0)
                    f->segments[i].exists = 2;
        break;
    case ROLL:
        f->head++;
        while (f->segments[f->head].exists)
            f->head++;
        f->segments[f->head] = (segment_file){1, (uint8_t)(f->last + 1), f->last, 0};
        break;
    case COMPACT: f->segments[SEGMENTS - 1] = (segment_file){1, 1, f->segments[1].last, 3}; break;
    case UNLINK0: f->segments[0].exists = 0; break;
    case UNLINK1: f->segments[1].exists = 0; break;
    case RENAME:
        f->block[1] = f->block[0];
        f->block[1].session = 2;
        f->block[1].commit = 0;
        f->current = 1;
        w->commit = 0;
        break;
    case FORGET0: f->journals[0] = (journal){0}; break;
    case FORGET1: f->journals[1] = (journal){0}; break;
    default: write_checkpoint(f, w, a); break;
    }
    return true;
}

/* ---- The reader ---- */

/* What a stamp holds. */
typedef struct stamp {
    uint8_t session[2], commit[2]; /* the head, which is read first and once more last */
    journal journals[2];
} stamp;

/* The rules of the protocol, each of which can be left out. */
typedef struct rules {
    bool compare;      /* the stamp is compared at the end */
    bool journals;     /* it contains the journals */
    bool whole;        /* to their ends */
    bool after_copy;   /* they are read after the block store was copied */
    bool stamp_first;  /* it is taken before segments are mapped */
    bool head_last;    /* its last part is the head once more */
    bool through_copy; /* words of the newest whole journal count before those in the file */
} rules;

typedef struct reader {
    uint8_t next; /* step */
    uint8_t due;  /* the last commit before it began */
    stamp before, after;
    uint8_t mapped; /* segments, as bits; those are readable even when their names go */
    uint8_t file;   /* whose descriptor it has */
    block_file copy;
    journal journals[2];
} reader;

typedef struct state {
    files f;
    writer w;
    reader r;
} state;

#define STEPS_STAMP 4
#define STEPS_COPY (1 + RECORDS + SLOTS / 2)

/* take_stamp -- one of its steps. */
static void take_stamp(const files *f, stamp *s, const rules *rules, int step) {
    if (step == 0 || step == 3) {
        if (step == 3 && !rules->head_last)
            return;
        s->session[step / 3] = f->block[f->current].session;
        s->commit[step / 3] = f->block[f->current].commit;
        return;
    }
    journal *j = &s->journals[step - 1];
    if (rules->journals)
        *j = f->journals[step - 1];
    if (!rules->whole)
        j->whole = 0;
}

/* map_segments -- those that are there: one at a time would only add moments at which a file can be
 * missing, which the reader sees as an error. */
static void map_segments(const files *f, reader *r) {
    for (int i = 0; i < SEGMENTS; i++)
        if (f->segments[i].exists)
            r->mapped |= (uint8_t)(1 << i);
}

/* copy_step -- the head, then words, then records, each by itself. */
static void copy_step(const files *f, reader *r, int step) {
    if (step == 0) {
        r->file = f->current;
        r->copy.session = f->block[r->file].session;
        r->copy.commit = f->block[r->file].commit;
    } else if (step <= RECORDS) {
        r->copy.words[step - 1] = f->block[r->file].words[step - 1];
    } else {
        int at = 2 * (step - 1 - RECORDS);
        memcpy(r->copy.slots + at, f->block[r->file].slots + at, 2 * sizeof(record));
    }
}

/* read_step -- the reader's next step; false when it has all. */
static bool read_step(const files *f, reader *r, const rules *rules) {
    int step = r->next++;
    if (step == 0) {
        r->due = f->last;
        return true;
    }
    step--;
    if (!rules->stamp_first) { /* the segments come first */
        if (step == 0) {
            map_segments(f, r);
            return true;
        }
        step--;
    }
    if (step < STEPS_STAMP) {
        take_stamp(f, &r->before, rules, step);
        return true;
    }
    step -= STEPS_STAMP;
    if (rules->stamp_first) {
        if (step == 0) {
            map_segments(f, r);
            return true;
        }
        step--;
    }
    if (step < STEPS_COPY + 2) {
        int number = rules->after_copy ? step - STEPS_COPY : step;
        if (number == 0 || number == 1)
            r->journals[number] = f->journals[number];
        else
            copy_step(f, r, rules->after_copy ? step : step - 2);
        return true;
    }
    step -= STEPS_COPY + 2;
    if (step < STEPS_STAMP)
        take_stamp(f, &r->after, rules, step);
    return step < STEPS_STAMP;
}

/* reachable -- the last commit of the log from `from` on, through the mapped segments. */
static uint8_t reachable(const files *f, const reader *r, uint8_t from) {
    for (bool on = true; on;) {
        on = false;
        for (int i = 0; i < SEGMENTS; i++) {
            const segment_file *s = &f->segments[i];
            if ((r->mapped >> i & 1) != 0 && s->first <= from + 1 && s->last > from) {
                from = s->last;
                on = true;
            }
        }
    }
    return from;
}

/* sound -- whether what an accepting reader has are the files of one point in time. */
static bool sound(const files *f, const reader *r, const rules *rules) {
    const uint8_t *words = r->copy.words;
    const journal *newest = NULL;
    for (int i = 0; i < 2; i++) {
        const journal *j = &r->journals[i];
        if (j->commit != 0 && j->whole && j->session == r->copy.session &&
            (newest == NULL || j->commit > newest->commit))
            newest = j;
    }
    if (newest != NULL && rules->through_copy)
        words = newest->words;
    record meta = r->copy.slots[words[0]], chunk = r->copy.slots[words[1]];
    return meta.commit == chunk.commit && (meta.segments & ~r->mapped) == 0 &&
           (chunk.segments & ~r->mapped) == 0 && reachable(f, r, meta.sequence) >= r->due;
}

/* ---- The search ---- */

typedef struct search {
    const action *program;
    rules rules;
    bool first; /* ends with the first violation */
    explored_states explored;
    size_t count;
    uint64_t accepted, rejected, violations;
} search;

/* go -- from a state on, each way. */
static void go(search *s, const state *from) {
    if ((s->first && s->violations != 0) || !explored_add(&s->explored, from, sizeof *from))
        return;
    state next = *from;
    if (read_step(&next.f, &next.r, &s->rules)) {
        go(s, &next);
    } else if (s->rules.compare &&
               memcmp(&from->r.before, &from->r.after, sizeof from->r.before) != 0) {
        s->rejected++;
        return;
    } else {
        s->accepted++;
        s->violations += !sound(&from->f, &from->r, &s->rules);
        return;
    }
    next = *from; /* a writer that is killed here is one that takes no further step */
    if (write_step(&next.f, &next.w, s->program))
        go(s, &next);
}

/* search_all -- every interleaving of every program. */
static search search_all(rules rules, bool first) {
    search total = {0};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        search s = {.program = programs[i], .rules = rules, .first = first};
        state begin;
        memset(&begin, 0, sizeof begin);
        begin.f.head = 2;
        begin.f.last = 3;
        for (uint8_t k = 0; k < 3; k++)
            begin.f.segments[k] = (segment_file){1, (uint8_t)(k + 1), (uint8_t)(k + 1), 0};
        begin.f.block[0].session = 1;
        begin.f.block[0].commit = begin.w.commit = 1;
        begin.f.block[0].words[1] = 1;
        begin.f.block[0].slots[0] = begin.f.block[0].slots[1] = (record){1, 3, 7};
        begin.f.journals[1] = (journal){1, 1, 1, {0, 1}};
        go(&s, &begin);
        total.count += s.explored.count;
        total.accepted += s.accepted;
        total.rejected += s.rejected;
        total.violations += s.violations;
        explored_free(&s.explored);
    }
    return total;
}

static const rules all_rules = {true, true, true, true, true, true, true};

static void what_a_reader_accepts_is_of_one_moment(void) {
    search s = search_all(all_rules, false);
    check_note("%llu states, %llu ends accepted, %llu rejected", (unsigned long long)s.count,
               (unsigned long long)s.accepted, (unsigned long long)s.rejected);
    CHECK_INT(0, s.violations);
    CHECK(s.accepted > 0);
    CHECK(s.rejected > 0);
}

static void each_rule_is_needed(void) {
    rules without[] = {all_rules, all_rules, all_rules, all_rules, all_rules, all_rules};
    without[0].compare = false;
    without[1].journals = false;
    without[2].stamp_first = false;
    without[3].head_last = false;
    without[4].through_copy = false;
    /* Either of these two is enough. */
    without[5].whole = without[5].after_copy = false;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (!CHECK(search_all(without[i], true).violations > 0))
            check_note("    without rule %zu nothing is found", i);
}

int main(void) {
    RUN(what_a_reader_accepts_is_of_one_moment);
    RUN(each_rule_is_needed);
    return check_finish();
}
