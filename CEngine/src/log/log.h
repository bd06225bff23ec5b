/*
 * log/log.h -- the append-only log: segments, frames, group commit, replay.
 *
 * This is the log-structured storage of the database: it holds every committed record, and indexes
 * and locations can be rebuilt from it. A record is never overwritten in place; compaction
 * (compact/compact.h) reclaims the space of dead ones.
 *
 * One writer at a time builds a frame in place, in the mapped head segment, after the last commit.
 * The bytes become a frame when its header is written; the header's CRC covers them. Commits that
 * wait for the disk share one sync (group commit). Readers reach records through locations and need
 * no lock: once mapped, a segment never moves.
 *
 * Opening replays the frames after the last checkpoint. The first invalid frame is the end of the
 * log, unless something shows that commits followed it: then the log is corrupt, and opening fails
 * rather than lose them.
 */
#ifndef TANSU_LOG_LOG_H
#define TANSU_LOG_LOG_H

#include "crypt/keyring.h"
#include "log/compressed/compressed_segment.h"
#include "log/format.h"
#include "util/aligned_u64.h"
#include "util/fs.h"
#include "util/retire.h"
#include "util/sigbus_guard.h"

#include <pthread.h>

#define LOG_TABLE_BITS 12
#define LOG_TABLE_SIZE (1u << LOG_TABLE_BITS)

typedef struct log log;

typedef struct segment {
    uint32_t number;
    uint64_t first; /* the first commit that it covers */
    uint64_t last;  /* compacted: the last commit that it covers; otherwise 0 */
    bool reduced;   /* SEGMENT_REDUCED */
    int fd;         /* open in the head, and until what was written is on the disk; otherwise -1 */
    uint8_t *base;
    bool writable;         /* the mapping is */
    uint64_t mapped;       /* bytes of address space: of the head all that it may grow to */
    aligned_u64 allocated; /* bytes of file, all with disk space */
    uint64_t used;         /* bytes up to the end of the last commit */
    uint64_t populated;    /* bytes whose pages were brought in for writing */
    compressed_segment *compressed; /* `used` counts bytes of its image then; otherwise NULL */
    /* What `base` is the image of, when that is in memory: the file of a segment of an encrypted
     * database (log/sealed_segment.h); otherwise NULL. */
    struct sealed_file *sealed;
    /* Of one that a compaction has replaced: snapshots of these commits need it still. */
    uint64_t needed_from;
    uint64_t needed_before;
} segment;

/* What an earlier writer recorded in the file TAIL (log/tail.h); all zero without a valid file. */
typedef struct log_marks {
    bool valid;
    uint64_t written; /* all commits up to this one were in the log; 0: not known */
    uint64_t synced;  /* and up to this one on the disk */
    bool settled;     /* no sync was in progress, and none had failed */
    bool failed;      /* one had */
    bool lost; /* what was never synced may be lost: neither a clean end nor the same page cache */
    /* settled, and the page cache that the marks were made in is still there, and the log's bytes
     * with it */
    bool page_cache_holds;
    char cache[64]; /* the identity of that page cache */
} log_marks;

/* What a reader of another process has seen of the file TAIL, as it is stored
 * (log/follow/follow.h). */
typedef struct log_seen {
    aligned_u64 written;
    aligned_u64 sessions;
    aligned_u64 resets;
} log_seen;

/* An entry of the readers' table. Of a segment that is mapped again, at a larger size, the memory
 * is stored before the size, and read after it. */
typedef struct segment_entry {
    uint8_t *memory;   /* a compressed_segment with bit 0 set; NULL: no segment has that number */
    aligned_u64 size;  /* bytes of address space there; of a compressed one UINT64_MAX */
    aligned_u64 first; /* the first commit that it covers; stays when the segment is unmapped */
} segment_entry;

typedef struct segment_list {
    segment **items;
    uint32_t count;
    uint32_t capacity;
} segment_list;

struct log {
    const fs *calls;
    char *folder; /* NULL: a memory store */
    char *set_aside_folder;
    char cache[64]; /* fs_cache_id() of the folder */
    bool read_only;
    bool concurrent; /* as in log_options */
    bool guarded;    /* pages that can't be read are counted in `tally` instead of raising SIGBUS */
    guard_tally tally;
    guard_tally tail_tally; /* of the marks' page, whose faults are ignored */
    bool sparse;            /* as in log_options */
    uint8_t uuid[16];
    uint32_t crc_seed;
    keyring *keys; /* of an encrypted database; otherwise NULL */
    uint64_t segment_size;

    /* Which segments make up the log; changed by the writer and at opening, with the mutex held. */
    segment_list active;     /* in the log's order (by first commit, then number), the head last */
    segment_list inactive;   /* at opening: compacted ones that may not be active */
    segment_list superseded; /* at opening: those that a compacted one covers */
    segment_list replaced;   /* by compactions, and mapped for snapshots still; the mutex is held */
    /* Held for reading by whoever reads a record in a segment that is newer than the reader's
     * snapshot, which does not keep the segment; for writing to unmap such a segment. */
    pthread_rwlock_t passing;
    /* What transactions that check documents have checked; NULL: nothing (log/scan.h). */
    pthread_mutex_t checked_mutex;
    struct log_intact *checked;
    uint32_t *obsolete; /* numbers of files to remove after the next checkpoint */
    uint32_t obsolete_count;
    uint32_t obsolete_capacity;
    uint32_t last_number; /* the highest that was ever assigned to a segment */
    /* numbers of files without a complete header, rising: replay decides what they are */
    uint32_t *headerless;
    uint32_t headerless_count, headerless_capacity;
    segment_entry *tables[LOG_TABLE_SIZE]; /* the readers' table, from segment number */

    /* Blocks of compressed segments. */
    block_cache blocks;

    /* Reserved disk space (log/reserve.h). */
    pthread_mutex_t reserve_mutex;
    uint64_t reserve;   /* bytes; guarded by its mutex */
    bool reserve_spent; /* and not filled up since */

    /* The frame being built. */
    bool building;
    bool urgent; /* what is written frees space, so it may use the reserve; the writer's */
    uint64_t frame_size;
    uint32_t frame_records;
    uint64_t frame_started; /* bytes of it that are being written to the disk already */

    /* Group commit. */
    pthread_mutex_t mutex;
    pthread_cond_t synced_changed;
    bool syncing;
    bool failed; /* a sync or a write failed: what is on the disk is not known any more; atomic */
    bool abandoned; /* see log_abandon(); atomic */
    int failed_errno;
    aligned_u64 appended;  /* last commit in the log; the writer's, stored atomically */
    aligned_u64 synced;    /* last commit known to be on the disk; stored atomically */
    uint64_t expected_end; /* opening: the block store saw commits up to this one in the log */
    log_marks found;       /* opening */
    bool end_rewritten;    /* opening: commits after the last one on the disk may be missing */
    /* Memory that segments have had, which snapshots may still use. */
    segment_list outgrown;
    /* While another process writes (log/follow/follow.h). */
    struct tail_file *watched; /* its file of marks, mapped and not written; NULL: there is none */
    log_seen seen;
    uint32_t retiring[2];   /* how many of `superseded` and `outgrown` log_follow_retire() moved */
    aligned_u64 retired;    /* bytes of the files of mappings that only snapshots use; atomic */
    struct tail_file *tail; /* the file of marks, mapped; NULL: there is none */
    uint32_t tail_crc;
    bool tail_begun;
    uint64_t max_pinned;   /* as in log_options */
    uint32_t sync_segment; /* the first segment that may have unsynced bytes */
};

typedef struct log_options {
    const fs *calls;
    const char *folder; /* of the segments; NULL for a memory store */
    /* of what may contain commits and is not used; created on demand */
    const char *set_aside_folder;
    bool read_only;
    /* read-only, and another process may be appending: what follows the last whole frame is being
     * written, and files may be removed while they are mapped */
    bool concurrent;
    bool unguarded; /* a page that can't be read raises SIGBUS */
    /* compaction ran once, so a gap in the numbers is not a missing segment; otherwise it is one,
     * unless the commits continue after it */
    bool sparse;
    keyring *keys; /* NULL: nothing is encrypted */
    uint64_t segment_size;
    uint64_t block_cache_bytes; /* bound of the blocks that nobody has pinned */
    uint64_t max_pinned_bytes;  /* told to readers of other processes; 0: no limit */
    uint8_t uuid[16];
} log_options;

/* log_open -- maps the segments that are there. Compacted ones are inactive before
 * log_activate_segments(). Errors: IO, CORRUPT (a header that is invalid, a segment that is
 * missing), VERSION. */
tansu_status log_open(const log_options *options, log **result, tansu_error *error);

/* log_marked_end -- the commit that the log in a folder must reach, by its file TAIL; 0: not
 * known. */
uint64_t log_marked_end(const fs *calls, const char *folder, const uint8_t uuid[16]);

/* log_marked_uuid -- the database that the log in a folder is of, by its file TAIL; false when the
 * file is missing or invalid. */
bool log_marked_uuid(const fs *calls, const char *folder, uint8_t uuid[16]);

/* log_clear_marks -- clears the marks of the file TAIL at a clean end, when the MANIFEST records
 * the end of the log. */
void log_clear_marks(log *l);

/* log_close -- trims the head segment to what is used (unless a sync failed), and frees everything.
 * Errors: IO; the log is freed in any case. */
tansu_status log_close(log *l, tansu_error *error);

/*
 * log_activate_segments -- decides at opening which segments are active: all ordinary ones but
 * those that an active compacted one covers. `named` are the numbers that a checkpoint lists: those
 * must exist, and compacted ones that are not among them stay inactive until replay reaches their
 * installation (log_activate()). NULL: every compacted segment counts, the newest where two cover
 * the same commits. Errors: CORRUPT (a segment is missing), NOT_FOUND (the last ones are: the
 * checkpoint is ahead of the log), MEMORY.
 */
tansu_status log_activate_segments(log *l, const uint32_t *named, size_t count, tansu_error *error);

/* log_compacted -- whether the log holds a compacted segment, so that not all of history is
 * there. */
bool log_compacted(const log *l);

/* log_max_rid -- an upper bound of the record ids that the log can have used, all collections
 * together: those of documents that were in it once (a segment holds a limited number of them), and
 * those of insertions that were rolled back, which leave no record. */
uint64_t log_max_rid(const log *l);

/* log_activate -- in a replay that reaches the installation of a compacted segment: activates it if
 * it is inactive. Errors: MEMORY. */
tansu_status log_activate(log *l, uint32_t number, bool *adopted, tansu_error *error);

/* log_drop_inactive -- removes, at the end of opening, compacted segments that did not become
 * active. */
void log_drop_inactive(log *l);

/* log_remove_obsolete -- removes the files that compacted segments have replaced. Called when a
 * checkpoint lists the active ones. A file that can't be removed is tried again at the next
 * call. */
void log_remove_obsolete(log *l);

/* log_sync_removed -- forces to the disk that the files of compacted segments were removed. Errors: IO
 * (also when one could not be removed). */
tansu_status log_sync_removed(log *l, tansu_error *error);

/* log_numbers -- the numbers of the active segments, in order, in new memory, which the caller
 * frees; NULL when it is exhausted. A segment without commits is left out: it may be missing after
 * power loss, and nothing would be lost. */
uint32_t *log_numbers(log *l, uint32_t *count);

/* An active segment. Its frames are those from SEGMENT_HEADER_SIZE up to and including commit
 * `last`: bytes after that frame have no meaning. In a compacted one they lie back to back up to
 * `end`, with gaps between their sequence numbers. */
typedef struct log_extent {
    uint32_t number;
    bool compacted;
    bool compressed;
    const uint8_t *bytes; /* in memory; NULL in one that is read by blocks (log/segment_reader.h) */
    uint64_t end;         /* none of its frames ends after this offset */
    uint64_t first;       /* the commits that it covers; first - 1 = last: none */
    uint64_t last;
} log_extent;

/*
 * log_extents -- the active segments that hold the commits up to `sequence`, which ended at
 * `position` (a snapshot's), in order, in new memory, which the caller frees. From any thread that
 * has locked out compaction (store/handle.h) since before it acquired that snapshot: while it
 * does, the segments do not change. Errors: MEMORY, NOT_FOUND (the position is in no active
 * segment).
 */
tansu_status log_extents(log *l, uint64_t sequence, uint64_t position, log_extent **list,
                         uint32_t *count, tansu_error *error);

/* Called for one valid frame during replay; `location` is that of its first record. */
typedef tansu_status (*log_visitor)(void *context, const frame_header *frame, log_location location,
                                    tansu_error *error);

/* log_sealed -- the active segments in order, in new memory, which the caller frees: all but the
 * head, or (`with_head`, with the write lock held) with it. Errors: MEMORY. */
tansu_status log_sealed(log *l, bool with_head, log_extent **list, uint32_t *count,
                        tansu_error *error);

/* log_scan -- calls the visitor for the frames of one segment, active or not, up to the first
 * offset without a frame. Errors: CORRUPT, NOT_FOUND, and the visitor's. */
tansu_status log_scan(log *l, uint32_t number, log_visitor visitor, void *context,
                      tansu_error *error);

/*
 * log_replay -- calls the visitor for the frames that follow commit `sequence`, which ended at
 * `position` (segment << 32 | offset; 0: the log's beginning), and sets the head after the last.
 * The first invalid frame is the end of the log unless more commits must have followed. It is
 * corruption when it lies before `sure_sequence` (which the MANIFEST records as synced), or when a
 * valid frame after it was written when it was known to be on the disk. *reached: false when the
 * log does not even contain `sequence` at `position` (an index that is ahead). Errors: CORRUPT
 * (context: file, offset), IO, and the visitor's.
 */
tansu_status log_replay(log *l, uint64_t sequence, uint64_t position, uint64_t sure_sequence,
                        log_visitor visitor, void *context, tansu_progress progress,
                        void *progress_context, bool *reached, tansu_error *error);

/* log_last -- the last commit in the log. The writer's, and at opening. */
uint64_t log_last(const log *l);

/* log_position -- where the next frame would begin. */
uint64_t log_position(const log *l);

/* The size of the log. */
typedef struct log_statistics {
    uint64_t bytes; /* of all segments' files */
    uint32_t segments;
    uint64_t compressed; /* bytes of the files of compressed segments */
    uint64_t images;     /* and what they were before */
} log_statistics;

/* log_measure -- from any thread. */
log_statistics log_measure(log *l);

/* What an active segment takes on the disk. */
typedef struct log_segment_size {
    uint32_t number;
    uint64_t bytes;      /* of its file */
    uint64_t compressed; /* its bytes before they were compressed; 0: they are not */
} log_segment_size;

/* log_segment_sizes -- of all active segments in order, in new memory, which the caller frees; NULL
 * when it is exhausted. From any thread. */
log_segment_size *log_segment_sizes(log *l, uint32_t *count);

/* log_pinned -- bytes of the segments that compactions have replaced and that snapshots of a commit
 * need still; `sequence` UINT64_MAX: of any. From any thread. */
uint64_t log_pinned(log *l, uint64_t sequence);

/* log_append -- reserves `size` bytes for a record (a multiple of eight) in the frame being built,
 * beginning one if there is none. *offset counts from the frame's start and stays right when the
 * frame must move to another segment; pointers do not. Errors: FULL, IO, TOO_LARGE, MEMORY (the
 * frame so far stays). */
tansu_status log_append(log *l, uint64_t size, uint64_t *offset, uint8_t **bytes,
                        tansu_error *error);

/* log_frame -- the memory of the frame being built. */
uint8_t *log_frame(const log *l);

/* log_shrink -- truncates the frame to `size` bytes and `records` records: rolling back to a
 * savepoint. */
void log_shrink(log *l, uint64_t size, uint32_t records);

/* log_commit -- writes the frame's header and advances the head. *location: the frame's; that of a
 * record is this plus its offset. Errors: IO (the head's file was truncated: the frame is for
 * log_abort(), and the log accepts no more). */
tansu_status log_commit(log *l, uint64_t sequence, log_location *location, tansu_error *error);

/* log_retire -- leaves to the list of a commit the memory that segments have had before it, for
 * when no snapshot uses it any more; where memory is short, to that of the next one. */
void log_retire(log *l, retire_list *retired);

/* log_abort -- drops the frame being built. */
void log_abort(log *l);

/* log_sync -- returns when commit `sequence` is on the disk; callers share the system calls.
 * Errors: IO, FULL (at this or an earlier call: the log accepts no more). */
tansu_status log_sync(log *l, uint64_t sequence, tansu_error *error);

/* log_fail -- a write failed with that errno: the log accepts no more. */
void log_fail(log *l, int number);

/* log_failed -- whether a sync or a write ever failed. */
bool log_failed(log *l);

/* log_head_removed -- whether the file that commits are written to has no name any more: nobody
 * would find them. From any thread. */
bool log_head_removed(log *l);

/* log_abandon -- the files have become those of another database: neither a frame that is dropped
 * nor closing touches their bytes from now on. The caller lets nothing be written. */
void log_abandon(log *l);

/* log_abandoned -- whether that was called. */
static inline bool log_abandoned(const log *l) {
    return __atomic_load_n(&l->abandoned, __ATOMIC_RELAXED);
}

/* log_cannot_be_written -- the same, found out now by a sync. The system may then have dropped from
 * memory what never reached the disk, which is no corruption of what is on it. */
bool log_cannot_be_written(log *l);

/* log_dropped_error -- the error for bytes that were dropped so: IO. */
tansu_status log_dropped_error(uint32_t number, uint64_t offset, tansu_error *error);

/* ---- Pages that could not be read (util/sigbus_guard.h) ---- */

/* log_faults -- the number of pages and blocks that could not be read so far. A call that reads
 * the log remembers it and passes it to log_check() at its end: what it read in between may be
 * zeros. */
static inline uint64_t log_faults(const log *l) {
    return guard_faults(&l->tally) + __atomic_load_n(&l->blocks.faults, __ATOMIC_RELAXED);
}

/* log_unreadable -- whether these bytes of the log contain an unreadable page; to be called after
 * reading them. */
static inline bool log_unreadable(const log *l, const void *bytes, uint64_t size) {
    return __builtin_expect(guard_faults(&l->tally) != 0, 0) && !guard_readable(bytes, size);
}

/* log_read_error -- the error for the newest of them: IO, or of a block CORRUPT or MEMORY. */
tansu_status log_read_error(const log *l, tansu_error *error);

/* log_check -- the status of a call, or log_read_error() when there is a fault that was not there
 * `before`. */
static inline tansu_status log_check(const log *l, uint64_t before, tansu_status status,
                                     tansu_error *error) {
    return log_faults(l) == before ? status : log_read_error(l, error);
}

/* log_entry -- a segment's entry in the readers' table, which stays where it is; an empty one when
 * no segment can have that number. It was stored before any location in the segment was. */
static inline const segment_entry *log_entry(const log *l, uint32_t number) {
    static const segment_entry none;
    uint32_t top = number >> LOG_TABLE_BITS;
    if (__builtin_expect(top >= LOG_TABLE_SIZE, 0))
        return &none;
    const segment_entry *table = __atomic_load_n(&l->tables[top], __ATOMIC_ACQUIRE);
    return __builtin_expect(table == NULL, 0) ? &none : &table[number & (LOG_TABLE_SIZE - 1)];
}

/* log_first -- the first commit of the segment of a location, which may be unmapped by now. */
static inline uint64_t log_first(const log *l, log_location location) {
    return __atomic_load_n(&log_entry(l, (uint32_t)(location >> 32))->first, __ATOMIC_RELAXED);
}

/* log_memory -- the memory of an entry, and how many bytes of address space it has. */
static inline const uint8_t *log_memory(const segment_entry *entry, uint64_t *size) {
    *size = __atomic_load_n(&entry->size, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&entry->memory, __ATOMIC_ACQUIRE);
}

/* log_compressed -- the compressed segment that an entry's memory is; NULL: it is memory. */
static inline const compressed_segment *log_compressed(const uint8_t *memory) {
    return ((uintptr_t)memory & 1) == 0 ? NULL
                                        : (const compressed_segment *)(const void *)(memory - 1);
}

/* log_compressed_of -- the compressed segment of that number; NULL: it is none. */
static inline const compressed_segment *log_compressed_of(const log *l, uint32_t number) {
    uint64_t size;
    return log_compressed(log_memory(log_entry(l, number), &size));
}

/* log_no_record -- zeros, for a record that is not there, and how many. */
const record_header *log_no_record(uint64_t *room);

/* log_compressed_record -- the record at an offset of a compressed segment, and how many bytes
 * of its block follow from there. One that cannot be read is of zeros, and counted. */
const record_header *log_compressed_record(const compressed_segment *s, log_pins *pins,
                                           uint64_t offset, uint64_t *room);

/* log_record -- the record at a location, and how many bytes may be read from there on, at least
 * RECORD_SIZE_LEAST: valid as long as the segment is, or, in a compressed one, as long as `pins`
 * hold it (log/compressed/compressed_segment.h). One that could not be read is of zeros, and so is
 * what a location outside its segment leads to: locations come from files, which are not read as a
 * whole at opening. */
static inline const record_header *log_record(const log *l, log_pins *pins, log_location location,
                                              uint64_t *room) {
    uint64_t size, offset = (uint32_t)location & LOCATION_MASK;
    const uint8_t *memory = log_memory(log_entry(l, (uint32_t)(location >> 32)), &size);
    if (__builtin_expect(offset + RECORD_SIZE_LEAST > size, 0))
        return log_no_record(room);
    if (__builtin_expect(log_compressed(memory) != NULL, 0))
        return log_compressed_record(log_compressed(memory), pins, offset, room);
    *room = size - offset;
    return (const record_header *)(memory + offset);
}

/* log_prefetch -- loads cache lines of the record at a location before it is read. `kept`: the caller
 * keeps segments whose first commit is no later; what others are read by may go meanwhile. */
static inline void log_prefetch(const log *l, log_location location, uint32_t lines,
                                uint64_t kept) {
    uint64_t size, offset = (uint32_t)location & LOCATION_MASK;
    const segment_entry *entry = log_entry(l, (uint32_t)(location >> 32));
    const uint8_t *memory = log_memory(entry, &size);
    if (offset >= size)
        return;
    if (__builtin_expect(log_compressed(memory) != NULL, 0)) {
        if (__atomic_load_n(&entry->first, __ATOMIC_RELAXED) <= kept)
            compressed_prefetch(log_compressed(memory), offset, lines);
        return;
    }
    for (uint32_t i = 0; i < lines; i++)
        __builtin_prefetch(memory + offset + (size_t)i * 64);
}

#endif
