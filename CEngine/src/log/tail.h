/*
 * log/tail.h -- the file TAIL, which records how far the log was written and how far it was synced.
 * Private to the log.
 *
 * It is one page, mapped while the database is open for writing, so that setting a mark costs one
 * store. A process that crashes leaves the marks in the page cache, exact to the commit. After
 * power loss the disk holds them as of some earlier time: the mark of the last sync is still true,
 * for it is set after the sync; the mark of the last write means nothing then. The identity of the
 * page cache that the marks were made in (fs_cache_id()) distinguishes the two cases.
 */
#ifndef TANSU_LOG_TAIL_H
#define TANSU_LOG_TAIL_H

#include "log/log.h"
#include "log/segment.h"
#include "util/aligned_u64.h"

#define TAIL_NAME "TAIL"
#define TAIL_MAGIC "TANSUEND"
#define TAIL_FORMAT 1u
#define TAIL_FILE_SIZE 4096u

/* A mark is a number below 2^48 and 16 bits that check it, so that it is stored in one piece. 0:
 * not known. */
typedef struct tail_file {
    uint8_t magic[8];
    uint32_t format;
    uint32_t crc;        /* of `uuid` and `cache`; also makes the marks those of this writer */
    uint8_t uuid[16];    /* of the database */
    char cache[64];      /* fs_cache_id() of the writer */
    aligned_u64 written; /* mark: the log holds all commits up to this one */
    aligned_u64 synced;  /* mark: they are on the disk up to this one */
    aligned_u64 state;   /* mark: an enum tail_state */
    /* For processes that read meanwhile; plain numbers. */
    aligned_u64 sessions; /* writers that began; set after the marks */
    aligned_u64 resets;   /* those that may have dropped unsynced commits; set before the marks */
    aligned_u64 removed;  /* bytes of segments whose files were removed while there was this file */
    aligned_u64 max_pinned;   /* log_options.max_pinned_bytes of the last writer */
    aligned_u64 segment_size; /* up to which its last segment grows; 0: not known */
} tail_file;

_Static_assert(sizeof(tail_file) == 160, "TAIL layout");

enum tail_state {
    TAIL_IDLE = 1, /* no sync is in progress, and none has failed */
    TAIL_SYNCING = 2,
    TAIL_FAILED = 3 /* what is in the page cache after `synced` may count as written and be lost */
};

/* tail_crc -- what `crc` must be. */
uint32_t tail_crc(const tail_file *file);

/* tail_mark -- a number as it is stored in the field at that offset of the file. */
static inline uint64_t tail_mark(uint32_t crc, size_t field, uint64_t number) {
    uint64_t mixed = (number + crc + ((uint64_t)field << 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return number >> 48 != 0 ? 0 : number << 16 | mixed >> 48;
}

/* tail_number -- the number of a mark; 0 when it is invalid. */
static inline uint64_t tail_number(uint32_t crc, size_t field, uint64_t mark) {
    uint64_t number = mark >> 16;
    return tail_mark(crc, field, number) == mark ? number : 0;
}

/* tail_read -- reads the file when the log is opened. A missing or invalid one says nothing.
 * Errors: IO, MEMORY. */
tansu_status tail_read(log *l, tansu_error *error);

/* tail_is_stale -- whether the marks that were found are older than the log, whose last commit is
 * `last` and whose last one on the disk l->synced: though the page cache is the same. A mark is set
 * with each commit; so the system could not write the marks' page and dropped it, and what they say
 * of syncs is no longer true. */
bool tail_is_stale(log *l, uint64_t last);

/* tail_begin -- maps the file for the writer that begins, making it if there is none, and sets the
 * marks to what the log says. On a full disk there may be none. Called with the first frame, for
 * most openings never write, and at opening when marks were found. Errors: IO, MEMORY. */
tansu_status tail_begin(log *l, tansu_error *error);

/* tail_mark_unknown -- when the log's end could not be made durable at opening: the next one knows
 * nothing of its syncs. */
void tail_mark_unknown(log *l);

/* tail_end -- unmaps it; the marks stay. */
void tail_end(log *l);

/* tail_written, tail_synced, tail_state_is -- set a mark. By the writer; with the mutex held; with
 * the mutex held or at opening. */
static inline void tail_written(log *l, uint64_t sequence) {
    if (l->tail != NULL)
        __atomic_store_n(&l->tail->written,
                         tail_mark(l->tail_crc, offsetof(tail_file, written), sequence),
                         __ATOMIC_RELEASE);
}
void tail_synced(log *l, uint64_t sequence);

/* tail_removed -- the file of a segment of that size has been removed; with the mutex held. */
static inline void tail_removed(log *l, uint64_t size) {
    __atomic_add_fetch(&l->tail->removed, size, __ATOMIC_RELEASE);
}
void tail_state_is(log *l, enum tail_state state);

/* tail_sync -- tries to have the marks on the disk, after a sync of the log that failed: the system
 * may drop the page, and what is on the disk may be older. With the mutex held, which is released
 * meanwhile. */
void tail_sync(log *l);

/* ---- Tail flush ---- */

/*
 * Making the end of the log durable at opening, when an earlier writer may have
 * failed to. Private to the log.
 *
 * After an fdatasync that failed, the kernel counts pages as written that are not on the disk:
 * another fdatasync succeeds and proves nothing. So the end of the log is written again before
 * anything depends on it.
 */

/*
 * tail_flush -- writes all bytes after commit `sure` (which is on the disk) again and syncs them:
 * into a new file of the segment where a sync has failed, else in place. The frame of commit `due`
 * lies at `offset` of segment `number`, where replay began. Errors: IO, FULL, MEMORY.
 */
tansu_status tail_flush(log *l, uint64_t sure, uint32_t number, uint64_t offset, uint64_t due,
                        tansu_error *error);

#endif
