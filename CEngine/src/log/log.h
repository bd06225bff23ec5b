/*
 * log/log.h -- the append-only log: segments, frames, group commit, replay. Part log; may call base.
 *
 * The log is the truth: everything else can be made again from it. One writer at a time builds a
 * frame in place, in the mapped head segment, behind the last commit; until its header is written
 * the bytes are no frame. Readers look at records through places and need no lock: a segment, once
 * mapped, stays where it is.
 */
#ifndef TANSU_LOG_LOG_H
#define TANSU_LOG_LOG_H

#include "base/fs.h"
#include "base/guard.h"
#include "base/retire.h"
#include "log/record.h"

#include <pthread.h>

#define LOG_TABLE_BITS 12
#define LOG_TABLE_SIZE (1u << LOG_TABLE_BITS)

typedef struct log log;

typedef struct segment {
    uint32_t number;
    uint64_t first; /* the first commit that it covers */
    uint64_t last;  /* compacted: the last commit that it covers; otherwise 0 */
    int fd;         /* open in the head, and until what was written is on the disk; otherwise -1 */
    uint8_t *base;
    uint64_t mapped;    /* bytes of address space: of the head all that it may grow to */
    uint64_t allocated; /* bytes of file, all with room on the disk */
    uint64_t used;      /* bytes up to the end of the last commit */
    uint64_t populated; /* bytes whose pages were brought in for writing */
} segment;

/* What a writer before has left in the file TAIL (log/tail.h); all zero when it says nothing. */
typedef struct log_marks {
    uint64_t written; /* all commits up to this one were in the log; 0: not known */
    uint64_t synced;  /* and up to this one on the disk */
    bool settled;     /* no sync was under way, and none had failed */
    bool failed;      /* one had */
    bool
        lost; /* what was never forced to the disk may be gone: neither a clean end nor that page cache */
    bool
        same_cache; /* the page cache that the marks were made in is still there, and the log's bytes with it */
} log_marks;

typedef struct segment_list {
    segment **items;
    uint32_t count;
    uint32_t room;
} segment_list;

struct log {
    const fs *calls;
    char *folder; /* NULL: a memory store */
    char *aside_folder;
    char cache[64]; /* fs_cache_id() of the folder */
    bool read_only;
    bool guarded; /* pages that can't be read are counted in `tally` instead of raising SIGBUS */
    guard_tally tally;
    guard_tally tail_tally; /* of the marks' page, whose faults matter to nobody */
    bool sparse;            /* as in log_options */
    uint8_t uuid[16];
    uint32_t crc_seed;
    uint64_t segment_size;

    /* Which segments make up the log; changed by the writer and at opening, with the mutex held. */
    segment_list force;      /* in the log's order (by first commit, then number), the head last */
    segment_list aside;      /* at opening: compacted ones of which it is not known yet */
    segment_list superseded; /* at opening: those that a compacted one covers */
    uint32_t *doomed;        /* numbers of files to remove after the next checkpoint */
    uint32_t doomed_count;
    uint32_t doomed_room;
    uint32_t last_number; /* the highest that was ever given to a segment */
    uint32_t
        *blank; /* numbers of files without a whole header, rising: replay decides what they are */
    uint32_t blank_count, blank_room;
    /* The readers' way from number to memory. */
    uint8_t **tables[LOG_TABLE_SIZE];

    /* Room that is kept (log/reserve.h). */
    pthread_mutex_t reserve_mutex;
    uint64_t reserve;   /* bytes; guarded by its mutex */
    bool reserve_spent; /* and not filled up since */

    /* The frame being built. */
    bool building;
    bool urgent; /* what is to be written gives room back: it may spend the reserve. The writer's */
    uint64_t frame_size;
    uint32_t frame_records;
    uint64_t frame_started; /* bytes of it that are being written to the disk already */

    /* Group commit. */
    pthread_mutex_t mutex;
    pthread_cond_t synced_changed;
    bool syncing;
    bool failed; /* a sync or a write failed: what is on the disk is not known any more; atomic */
    int failed_errno;
    uint64_t appended;  /* last commit in the log; the writer's, stored atomically */
    uint64_t synced;    /* last commit known to be on the disk; stored atomically */
    uint64_t witnessed; /* opening: the cabinet saw commits up to this one in the log */
    bool unbroken;   /* opening: the page cache is still the one that the log was last written to */
    log_marks found; /* opening */
    struct tail_file *tail; /* the file of marks, mapped; NULL: there is none */
    uint32_t tail_crc;
    bool tail_begun;
    uint32_t sync_segment; /* the first segment that may have unsynced bytes */
};

typedef struct log_options {
    const fs *calls;
    const char *folder; /* of the segments; NULL for a memory store */
    const char
        *aside; /* folder for what may hold commits and is not used; made when it is needed */
    bool read_only;
    bool unguarded; /* a page that can't be read raises SIGBUS */
    bool
        sparse; /* compaction was at work once: a gap in the numbers is no sign of a segment that is
                    missing. Otherwise it is one unless the commits go on behind it */
    uint64_t segment_size;
    uint8_t uuid[16];
} log_options;

/* log_open -- maps the segments that are there. Compacted ones are aside before log_arrange(). Errors:
 * IO, CORRUPT (a header that does not check out, a segment that is missing), VERSION. */
tansu_status log_open(const log_options *options, log **result, tansu_error *error);

/* log_marked_end -- the commit up to which the log in a folder has to go by its file of marks; 0: they say
 * nothing. */
uint64_t log_marked_end(const fs *calls, const char *folder, const uint8_t uuid[16]);

/* log_forget_marks -- at a clean end, when the MANIFEST says how far the log goes: the file TAIL says nothing
 * any more. */
void log_forget_marks(log *l);

/* log_close -- trims the head segment to what is used (unless a sync failed), and frees everything.
 * Errors: IO; the log is freed in any case. */
tansu_status log_close(log *l, tansu_error *error);

/*
 * log_arrange -- decides at opening which segments are in force: all ordinary ones but those that a
 * compacted one in force covers. `named` are the numbers that a checkpoint lists: those must be there,
 * and compacted ones that are not among them stay aside until the replay meets their installation
 * (log_adopt()). NULL: every compacted segment counts, the newest where two cover the same.
 * Errors: CORRUPT (a segment is missing), NOT_FOUND (the last ones are: the checkpoint is ahead of the
 * log), MEMORY.
 */
tansu_status log_arrange(log *l, const uint32_t *named, size_t count, tansu_error *error);

/* log_compacted -- whether the log holds a compacted segment, so that not all of history is there. */
bool log_compacted(const log *l);

/* log_gapped -- whether one is compacted, or the numbers of those in force have gaps: compaction was at work
 * once, though perhaps cancelled. */
bool log_gapped(log *l);

/* log_docnos_most -- how many numbers of documents the log can have passed over, all collections together: those of
 * documents that were in it once (a segment holds so many at the most, and none had a higher number), and of
 * insertions that were rolled back, which leave no record. A greater number was never given out. */
uint64_t log_docnos_most(const log *l);

/* log_adopt -- in a replay that meets the installation of a compacted segment: puts it in force if it is
 * aside. Errors: MEMORY. */
tansu_status log_adopt(log *l, uint32_t number, bool *adopted, tansu_error *error);

/* log_drop_aside -- removes, at the end of opening, compacted segments that did not come into force. */
void log_drop_aside(log *l);

/* log_discard -- removes the files that compacted segments have taken the place of. Called when a
 * checkpoint lists those in force. A file that can't be removed is tried again at the next call. */
void log_discard(log *l);

/* log_numbers -- the numbers of the segments in force, in order, without one that no commit was written to (it may
 * not be there after power loss, and nothing would be missing), in new memory for free(); NULL when it
 * is exhausted. */
uint32_t *log_numbers(log *l, uint32_t *count);

/* A segment in force. Its frames are those from SEGMENT_HEADER_SIZE on up to and with commit `last`:
 * bytes behind that frame mean nothing. In a compacted one they lie back to back up to `end`, with gaps
 * between their sequence numbers. */
typedef struct log_extent {
    uint32_t number;
    bool compacted;
    const uint8_t *bytes; /* mapped */
    uint64_t end;         /* none of its frames ends behind this offset */
    uint64_t first;       /* the commits that it covers; first - 1 = last: none */
    uint64_t last;
} log_extent;

/*
 * log_extents -- the segments in force that hold the commits up to `sequence`, which ended at
 * `position` (a version's), in order, in new memory for free(). From any thread that has kept
 * compaction away (catalog/database.h) since before it took hold of that version: so long they stay
 * as they are. Errors: MEMORY, NOT_FOUND (the position is in no segment in force).
 */
tansu_status log_extents(log *l, uint64_t sequence, uint64_t position, log_extent **list,
                         uint32_t *count, tansu_error *error);

/* Sees one valid frame during replay, `place` being that of its first record. */
typedef tansu_status (*log_visitor)(void *context, const frame_header *frame, log_place place,
                                    tansu_error *error);

/* log_sealed -- the segments in force in order, in new memory for free(): all but the head, or
 * (`with_head`, in the writer's turn) with it. Errors: MEMORY. */
tansu_status log_sealed(log *l, bool with_head, log_extent **list, uint32_t *count,
                        tansu_error *error);

/* log_walk -- shows the frames of one segment, in force or not, up to the first place that is none. Errors:
 * CORRUPT, NOT_FOUND, and the visitor's. */
tansu_status log_walk(log *l, uint32_t number, log_visitor visitor, void *context,
                      tansu_error *error);

/*
 * log_replay -- walks the frames that follow commit `sequence`, which ended at `position` (segment
 * << 32 | offset; 0: the log's beginning), shows each to the visitor, and sets the head behind the
 * last. The first bad frame ends the log if nothing says that more was there: but when it lies
 * before `sure_sequence` (what the MANIFEST knows to be on the disk), or a valid frame behind it was
 * written when it was known to be on the disk, it is damage.
 * *reached: false when the log does not even hold `sequence` at `position` (an index that is ahead).
 * Errors: CORRUPT (context: file, offset), IO, and the visitor's.
 */
tansu_status log_replay(log *l, uint64_t sequence, uint64_t position, uint64_t sure_sequence,
                        log_visitor visitor, void *context, tansu_progress progress,
                        void *progress_context, bool *reached, tansu_error *error);

/* log_last -- the last commit in the log. The writer's, and at opening. */
uint64_t log_last(const log *l);

/* log_position -- where the next frame would begin. */
uint64_t log_position(const log *l);

/* What the log takes up. */
typedef struct log_figures {
    uint64_t bytes; /* of all segments' files */
    uint32_t segments;
} log_figures;

/* log_measure -- from any thread. */
log_figures log_measure(log *l);

/* log_append -- room for a record of `size` bytes (a multiple of eight) in the frame being built,
 * beginning one if there is none. *offset counts from the frame's start and stays right when the
 * frame must move to another segment; pointers do not. Errors: FULL, IO, TOO_LARGE, MEMORY (the
 * frame so far stays). */
tansu_status log_append(log *l, uint64_t size, uint64_t *offset, uint8_t **bytes,
                        tansu_error *error);

/* log_frame -- the memory of the frame being built. */
uint8_t *log_frame(const log *l);

/* log_shrink -- takes the frame back to `size` bytes and `records` records: a savepoint. */
void log_shrink(log *l, uint64_t size, uint32_t records);

/* log_commit -- writes the frame's header and moves the head. *place: the frame's; that of a record is this
 * plus its offset. Errors: IO (the head's memory has lost its file: the frame is for log_abort(), and the log
 * accepts no more). */
tansu_status log_commit(log *l, uint64_t sequence, log_place *place, tansu_error *error);

/* log_abort -- drops the frame being built. */
void log_abort(log *l);

/* log_sync -- returns when commit `sequence` is on the disk; callers share the system calls. Errors:
 * IO, FULL (at this or an earlier call: the log accepts no more). */
tansu_status log_sync(log *l, uint64_t sequence, tansu_error *error);

/* log_fail -- a write failed with that errno: the log accepts no more. */
void log_fail(log *l, int number);

/* log_failed -- whether a sync or a write ever failed. */
bool log_failed(log *l);

/* ---- Pages that could not be read (base/guard.h) ---- */

/* log_faults -- how many there were so far. A call that reads the log remembers it, and asks log_check() at its
 * end: what it read in between may be zeros. */
static inline uint64_t log_faults(const log *l) {
    return guard_faults(&l->tally);
}

/* log_lost -- whether a page of these bytes of the log is one of them; to be asked behind the reading. */
static inline bool log_lost(const log *l, const void *bytes, uint64_t size) {
    return __builtin_expect(log_faults(l) != 0, 0) && !guard_sound(bytes, size);
}

/* log_read_error -- the error for the newest of them: IO. */
tansu_status log_read_error(const log *l, tansu_error *error);

/* log_check -- the status that a call came to, or IO when there is one that was not there `before`. */
static inline tansu_status log_check(const log *l, uint64_t before, tansu_status status,
                                     tansu_error *error) {
    return log_faults(l) == before ? status : log_read_error(l, error);
}

/* log_record -- the record at a place. The table's entry was stored before any place in it was. */
static inline const record_header *log_record(const log *l, log_place place) {
    uint32_t number = (uint32_t)(place >> 32);
    uint8_t **table = __atomic_load_n(&l->tables[number >> LOG_TABLE_BITS], __ATOMIC_ACQUIRE);
    uint8_t *base = __atomic_load_n(&table[number & (LOG_TABLE_SIZE - 1)], __ATOMIC_ACQUIRE);
    return (const record_header *)(base + ((uint32_t)place & PLACE_MASK));
}

#endif
