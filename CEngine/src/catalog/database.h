/*
 * catalog/database.h -- an open database: its versions, its one writer, its background worker. Part
 * catalog; may call index, log and base.
 */
#ifndef TANSU_CATALOG_DATABASE_H
#define TANSU_CATALOG_DATABASE_H

#include "catalog/version.h"
#include "catalog/view.h"
#include "log/log.h"

#include <pthread.h>

/* What the MANIFEST says (catalog/manifest.h). */
typedef struct manifest {
    uint8_t uuid[16];
    bool compacted;        /* the log may hold compacted segments: format 2 */
    bool index_open;       /* index files were being written and may not be whole on the disk */
    bool index_damaged;    /* they were found to be wrong: the next opening makes them anew */
    char boot[64];         /* of the machine's start when they were */
    uint64_t end_sequence; /* the log is on the disk up to this commit */
} manifest;

/* A collection's stored chunks that the next checkpoint removes from the cabinet. */
typedef struct dropped_places {
    uint32_t collection;
    uint64_t count;
} dropped_places;

/* Where the eviction of index blocks goes on. */
typedef struct eviction_place {
    uint32_t collection; /* in the order of names */
    uint32_t tree;       /* 0: the `_id` index */
    uint64_t entry;
} eviction_place;

typedef struct database {
    const fs *calls;
    const index_filter_calls *filters; /* of partial indexes */
    tansu_store store;
    bool read_only;
    bool abandoned; /* opening failed: closing only frees */
    tansu_durability durability;
    uint32_t interval_ms;
    uint32_t busy_timeout_ms;
    uint64_t checkpoint_bytes;
    uint64_t index_cache_bytes;
    uint32_t compaction_percent; /* 0: no compaction in the background */
    uint32_t compaction_share;
    char *folder; /* NULL in a memory store */
    int lock_fd;
    int folder_fd; /* locked as well; -1 where folders can't be */
    manifest manifest; /* the checkpointer's, and at opening and closing */

    struct log *log;
    usage *written;  /* bytes of documents and deletions that were written to each segment; what
                                is not among the collections' places_live() is dead */
    uint32_t *named; /* at opening: the segments that the checkpoint lists, NULL without one */
    uint32_t named_count;
    tree_store *trees;
    bool index_damaged; /* what is in the index files is not trusted any more; atomic */
    char rebuilt[256];  /* why opening made the index files anew; empty: it did not */
    cabinet *cab; /* NULL in a memory store, and until the first checkpoint of a new database */

    /* Versions, oldest to newest; guarded by version_mutex. */
    pthread_mutex_t version_mutex;
    version *oldest;
    version *visible; /* what new readers get */
    version *head;    /* what the next writer builds on: not visible before it is durable */
    dropped_places *dropped;
    size_t dropped_count;
    size_t dropped_room;

    /* The writer's turn, handles, and the worker's orders; guarded by state_mutex. */
    pthread_mutex_t state_mutex;
    pthread_cond_t state_changed;
    bool writing;
    pthread_t
        writer_thread; /* valid while `writing`: for telling a thread that it waits for itself */
    uint64_t handles;  /* open transactions and cursors */
    bool closing;      /* tansu_close() was called while handles were open; stored atomically */
    pthread_cond_t worker_wanted;
    bool worker_running;
    bool worker_stop;
    pthread_t worker;
    bool checkpoint_wanted;
    bool checkpoint_busy;   /* one is under way; also read atomically */
    bool checkpoint_failed; /* the last one did; also read atomically */
    uint64_t write_stalls;  /* writers that waited for a checkpoint, see memory_wait(); atomic */
    uint64_t write_stall_us;
    bool sync_wanted; /* commits wait for the interval's end; atomic */

    /* The thread that compacts in the background; guarded by state_mutex. */
    pthread_cond_t compactor_wanted;
    bool compactor_running;
    bool compactor_stop;
    bool compaction_wanted;
    pthread_t compactor;
    uint64_t compactions; /* since opening; atomic */

    /* One compaction at a time, and none while the log's segments are copied or checked: taken before
     * the version that is worked on is held. Guarded by state_mutex; changes signal state_changed. */
    enum upkeep { UPKEEP_NONE, UPKEEP_BACKGROUND, UPKEEP_ASKED } upkeep;
    uint32_t upkeep_waiting;          /* tasks that the background gives way to */
    pthread_mutex_t checkpoint_mutex; /* one checkpoint at a time */
    pthread_mutex_t evict_mutex;      /* one eviction at a time; guards evict_at */
    eviction_place evict_at;
    uint64_t checkpoint_sequence; /* the commit up to which the cabinet holds everything */
    uint64_t installed_sequence;  /* the commit of the last compaction: places name its segment, so
                                         that no version before can be written to the cabinet */
    uint64_t checkpoint_at;       /* log_written when a checkpoint was last ordered; atomic */
    uint64_t log_written;         /* bytes of commits since opening; atomic */

    /* The feeds that are open, and those waiting (catalog/feed.h); guarded by feed_mutex. */
    pthread_mutex_t feed_mutex;
    pthread_cond_t feed_changed;
    uint32_t feed_waiters; /* changed with the mutex held, read atomically by every commit */
    struct feed *feeds;
    uint64_t feed_floor; /* deletions up to this commit may have been compacted away */

    /* The writer's. */
    struct change *spare; /* of the last change, with its memory, for the next */
    uint64_t next_epoch;
    uint32_t next_collection;
    uint32_t next_index;
} database;

/* database_open -- all of tansu_open(), over the given file calls. `filters` (NULL: databases with
 * partial indexes can't be opened) comes from the query part, which this part may not call. */
tansu_status database_open(const tansu_options *options, const fs *calls,
                           const index_filter_calls *filters, database **result,
                           tansu_error *error);

/* database_close -- ends the worker, writes a checkpoint, syncs, frees. No handles may be open. */
tansu_status database_close(database *db, tansu_error *error);

/* ---- Versions (catalog/versions.c) ---- */

/* database_hold -- the newest visible version, held for the caller. */
version *database_hold(database *db);
/* database_hold_head -- the newest version, visible or not. */
version *database_hold_head(database *db);
/* database_release -- lets a version go, and frees what nobody sees any more. */
void database_release(database *db, version *v);
/* database_publish -- makes `v` the head; `retired` (emptied) is what it replaced of the head before. */
void database_publish(database *db, version *v, retire_list *retired, bool visible);
/* database_show -- makes the versions up to that commit visible. */
void database_show(database *db, uint64_t sequence);
/* database_count_held -- how many versions older than the visible one are there for those who hold
 * them; *oldest: the commit of the oldest. */
uint32_t database_count_held(database *db, uint64_t *oldest);
/* database_versions_free -- frees all versions and what only they hold (closing). */
void database_versions_free(database *db);

/* ---- Handles and the writer's turn (catalog/turns.c) ---- */

/* database_enter -- counts a handle. Errors: CLOSED. */
tansu_status database_enter(database *db, tansu_error *error);
/* database_check_open -- for calls too short to count. Errors: CLOSED. */
tansu_status database_check_open(database *db, tansu_error *error);
/* database_leave -- ends one; closes a database whose tansu_close() waited for it. */
void database_leave(database *db);
/* database_begin_writing -- waits for the writer's turn; `stop`, which may be NULL, ends that. Errors:
 * BUSY, READ_ONLY, FAILED, CANCELLED. */
tansu_status database_begin_writing(database *db, const interrupt *stop, tansu_error *error);
/* database_look_again -- lets those who wait see that they are to stop. */
void database_look_again(database *db);
void database_end_writing(database *db);
/* database_check_turn -- the errors of database_begin_writing() that waiting can't mend: READ_ONLY,
 * BUSY when this thread itself is writing. */
tansu_status database_check_turn(database *db, tansu_error *error);

/* ---- Worker and checkpoints (catalog/worker.c, catalog/checkpoint.c) ---- */

/* worker_stop -- ends the thread, which the first order of worker_note_commit() starts. */
void worker_stop(database *db);
/* worker_note_commit -- called by the writer after each commit of that many log bytes. `sync_later`:
 * it is to be on the disk within the interval. */
void worker_note_commit(database *db, uint64_t bytes, bool sync_later);

/* checkpoint_write_locked -- checkpoint_write() with checkpoint_mutex held. */
tansu_status checkpoint_write_locked(database *db, tansu_error *error);
/* checkpoint_shrink -- makes the cabinet smaller when much of it is free. Errors: as above. */
tansu_status checkpoint_shrink(database *db, tansu_error *error);
/* checkpoint_write -- brings the cabinet up to the visible version. Errors: IO, FULL, MEMORY. */
tansu_status checkpoint_write(database *db, tansu_error *error);
/* checkpoint_load -- opens the cabinet and makes the version that it holds; *v NULL when there is none
 * that can be used (then it has been removed and everything is replayed; db->rebuilt says why). */
tansu_status checkpoint_load(database *db, version **v, tansu_error *error);
/* checkpoint_settle -- at a clean end: closes the cabinet, forces it to the disk, and says in the
 * MANIFEST that both it and the log are whole. */
tansu_status checkpoint_settle(database *db, tansu_error *error);

/* ---- Index files that are wrong (catalog/doubt.c) ---- */

/* checkpoint_doubt -- from now on the index files are not written any more, and the next opening for
 * writing makes them anew out of the log. */
void checkpoint_doubt(database *db);
/* checkpoint_doubted -- whether the index files were found to be wrong. */
bool checkpoint_doubted(const database *db);
/* checkpoint_pass_doubt -- checkpoint_doubt() if something that did not check out was read from them. Does
 * not wait: a checkpoint that is under way finds out by itself. */
void checkpoint_pass_doubt(database *db);
/* checkpoint_check_doubt -- the error for what must not be done with wrong ones: CORRUPT. */
tansu_status checkpoint_check_doubt(const database *db, tansu_error *error);

/* ---- Opening and closing the index files (catalog/checkpoint.c) ---- */

/* checkpoint_discard -- closes the cabinet and (unless read-only) makes an empty one in its place. */
tansu_status checkpoint_discard(database *db, tansu_error *error);

#endif
