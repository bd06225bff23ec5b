/*
 * support/model/refresh_model.h -- a model of how a reader goes on to the commits of another
 * process (docs/readers.md): the files, and the steps of a writer and of a reader, of which each is
 * one thing that the other process can see. test_refresh_protocol.c searches their interleavings.
 *
 * Each rule of the protocol can be left out.
 */
#ifndef TANSU_TESTS_MODEL_REFRESH_MODEL_H
#define TANSU_TESTS_MODEL_REFRESH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define FILES 6  /* segments, in the order in which they were made */
#define FRAMES 8 /* in one of them */
#define COMMITS 16
#define NONE 0xff

/* ---- The files ---- */

typedef struct segment_file {
    uint8_t number;         /* 0: it was not made */
    uint8_t named;          /* it has its name */
    uint8_t header;         /* it has one */
    uint8_t first, last;    /* commits; `last` only of a compacted one */
    uint8_t count;          /* complete frames */
    uint8_t half;           /* one more is being written */
    uint8_t lost;           /* bits: the system dropped the page */
    uint8_t frames[FRAMES]; /* identities of the commits */
} segment_file;

enum tail_state { IDLE, SYNCING, FAILED };

/* The file TAIL. */
typedef struct tail_marks {
    uint8_t written; /* 0: cleared */
    uint8_t sessions, resets, state;
} tail_marks;

/* A place in the log, and what the log contains up to it. */
typedef struct position {
    uint8_t file, frame; /* the next one */
    uint8_t number;      /* of the last commit */
    uint8_t commit;      /* its identity */
} position;

typedef struct files {
    segment_file segments[FILES];
    tail_marks tail;
    uint8_t manifest_end;
    position checkpoint;
} files;

/* What happened: nobody reads it, it is what the reader is compared with. A number of a commit may
 * be used again when the first one was dropped; an identity is not. */
typedef struct history {
    uint8_t made;             /* identities */
    uint8_t before[COMMITS];  /* the commit before */
    uint8_t segment[COMMITS]; /* of a compaction: 1 + its file */
    uint8_t returned;         /* the last commit whose call has returned */
    uint16_t dropped;         /* bits: commits that the log does not have any more */
} history;

/* ---- The writer: a program of visible steps ---- */

typedef enum action {
    END,
    BODY,   /* a frame without its header */
    HEADER, /* makes it valid */
    MARK,   /* `written` in TAIL */
    RETURN, /* of the call */
    SYNC_BEGINS,
    SYNC_ENDS,
    SYNC_FAILS,
    LOSE,       /* the system drops the first page that was not synced */
    ROLL,       /* a new segment: its name */
    BEGIN,      /* its header */
    COMPACT,    /* the compacted segment, with its name */
    RELOCATION, /* the HEADER of the commit that makes it known */
    FILE_LATE,  /* COMPACT, with that rule left out */
    CHECKPOINT,
    UNLINK, /* what was compacted */
    MANIFEST,
    CLEAR, /* `written`, at a clean end */
    NEXT,  /* another process begins; the one before may have been killed at any step */
    CUT,   /* the log ends where a frame is not valid */
    RENEW, /* after a failed sync, the last segment is copied to a new file */
    AGAIN, /* or its end is written again */
    COUNT_RESET,
    COUNT_SESSION,
    MARK_END, /* `written` */
    MARK_IDLE
} action;

typedef struct program {
    action steps[64];
    uint8_t readings; /* by one reader */
    bool fails;       /* a sync does */
    uint8_t compacts; /* the first file that is compacted */
} program;

/* The rules of the protocol, each of which can be left out. */
typedef enum rule {
    ALL,
    /* of the writer */
    FRAME_BEFORE_MARK,
    MARK_BEFORE_RETURN,
    MANIFEST_BEFORE_CLEAR,
    RESET_BEFORE_SESSION,
    END_BEFORE_IDLE,
    COMPACTED_BEFORE_RELOCATION,
    CHECKPOINT_BEFORE_UNLINK,
    SESSIONS_ARE_COUNTED,
    RESETS_ARE_COUNTED,
    END_BEFORE_SESSION,
    /* of the reader */
    SESSIONS_FIRST,
    RESETS_LAST,
    RESETS_COMPARED,
    RESETS_COMPARED_AFTER,
    RESETS_COMPARED_OPENING,
    MANIFEST_AFTER_MARKS,
    MANIFEST_WHERE_CLEARED,
    NOT_AFTER_MARK,
    CHECKSUM,
    NO_COMPACTED_SEGMENT,
    RULES
} rule;

/* The writer's own memory. */
typedef struct writer {
    uint8_t next; /* step of the program */
    uint8_t synced;
    uint8_t rewritten; /* it had to write the end of the log again */
    uint8_t replaced;  /* bits: files that were compacted */
    position end;      /* of the log */
} writer;

/* The reader. */
enum phase {
    IDLE_READER,
    LOAD_WRITTEN, /* of a follower, which compares them with what it has seen */
    LOAD_SESSIONS,
    LOOK_MANIFEST, /* with the rule left out that it comes later */
    LOOK_FIRST,
    LOOK_WRITTEN,
    LOOK_LAST,
    LOOK_END,
    READ_FRAME,
    LOOK_AFTER,
    OPEN_MARKS,
    OPEN_MAP,
    OPEN_FRAME,
    OPEN_AFTER
};

typedef struct reader {
    uint8_t phase;
    uint8_t readings;
    uint8_t due;       /* the last commit that had returned when the reading began */
    uint8_t published; /* commit that can be read */
    uint8_t to;        /* the last commit of the log, by number */
    uint8_t manifest;
    uint8_t mapped;  /* bits: files, at an opening */
    uint8_t bad;     /* it read what is no committed prefix */
    uint8_t met;     /* it examined a frame that was being written */
    uint8_t missing; /* what it needs is not there, and will not be */
    position at;
    tail_marks seen, look;
} reader;

typedef struct state {
    files f;
    history h;
    writer w;
    reader r;
} state;

/* How a reader goes on. The last one opens, refreshes, and follows. */
enum mode { REFRESHES, FOLLOWS, OPENS, MODES };

/* ---- Steps ---- */

/* frame_valid -- whether a complete frame is there. */
static inline bool frame_valid(const segment_file *s, uint8_t frame) {
    return frame < s->count && (s->lost >> frame & 1) == 0;
}

/* model_write -- the writer's next step; false at its end. */
bool model_write(state *s, const program *p, rule without);

/* model_kill -- the next writer begins instead of any step; false where there is none. */
bool model_kill(writer *w, const program *p);

/* model_read -- the reader's next step; from IDLE_READER it begins a reading. */
void model_read(const state *s, reader *r, enum mode mode, rule without);

#endif
