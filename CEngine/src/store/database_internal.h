/*
 * store/database_internal.h -- the members of an open database. For the files that touch them;
 * others include the header of what they call.
 */
#ifndef TANSU_STORE_DATABASE_INTERNAL_H
#define TANSU_STORE_DATABASE_INTERNAL_H

#include "log/log.h"
#include "store/database.h"
#include "store/manifest.h"
#include "store/readers/reader_slots.h"
#include "store/snapshot.h"
#include "util/fork.h"
#include "util/table.h"

#include <pthread.h>

/* The stored chunks of a dropped collection's location table, which the next checkpoint removes
 * from the block store. */
typedef struct dropped_locations {
    uint32_t collection;
    uint64_t count;
} dropped_locations;

/* Where the eviction of index blocks resumes. */
typedef struct eviction_position {
    char collection[TANSU_MAX_NAME + 1];
    uint32_t tree; /* 0: the `_id` index */
    uint64_t entry;
} eviction_position;

/* What the block store has of the catalog (store/checkpoint/stored_catalog.h). */
typedef struct stored_record {
    uint64_t epoch; /* of the writer that changed one of its collections last; atomic */
    bool there;
} stored_record;
typedef struct stored_catalog {
    stored_record *records; /* the array is guarded by snapshot_mutex */
    uint32_t count;
    uint32_t capacity;
    uint64_t epoch; /* of the snapshot of the last checkpoint; guarded by checkpoint_mutex */
} stored_catalog;

/* Where operations that take long are reported (options.log), and when one of them began. */
typedef struct slow_log {
    tansu_log function; /* NULL: nowhere */
    void *context;
    uint32_t milliseconds;
    uint64_t began;
} slow_log;

/* A cursor, transaction or feed that a JSON command left open (api/session.h). */
typedef struct command_session {
    int64_t number;
    int64_t txn; /* the number of the transaction that a cursor belongs to, or 0 */
    void *handle;
    int kind;
    bool busy; /* a command uses it */
} command_session;

/* See store/files.h. */
typedef struct files_stamp {
    uint64_t parts[6][2];
} files_stamp;

/* What a state keeps on the disk that nobody else needs, when that was last measured. */
typedef struct state_pins {
    uint64_t copied;   /* bytes of its copy of the index file */
    uint64_t mapped;   /* bytes of the segments that it has mapped */
    uint64_t removed;  /* of them, those that have no name any more; atomic */
    uint64_t bytes;    /* log_removals.bytes then; atomic */
    uint64_t sessions; /* log_removals.sessions then; atomic */
} state_pins;

struct database {
    fs files;             /* anchored to the folder, and to those of the log and the index in it */
    const fs *calls;      /* the same */
    bool anchored;        /* by this database, which frees the paths: states use their root's */
    fork_stamp opened_in; /* the process; its forks may not use what it had opened */
    const index_filter_calls *filters; /* of partial indexes */
    tansu_store store;
    bool read_only;
    bool concurrent; /* read-only, without a lock: another process may be writing */
    bool follow;     /* and each read is to see the newest commit */
    /* Of a handle that may have several states (store/open/states.h); otherwise itself. */
    struct database *root;
    struct database *current;    /* the root's: what calls read; guarded by its state_mutex */
    struct states *states;       /* the root's; NULL in other databases */
    uint64_t calls_inside;       /* this state; guarded by the root's state_mutex */
    bool keeps_segments;         /* a refresh may not change which segments are active */
    struct database *next_state; /* of the root; guarded by its pins_mutex */
    state_pins pins;             /* this state; see store/open/states.h */
    files_stamp stamp;           /* of what such a one opened */
    bool discard;                /* closing only frees: nothing is written */
    tansu_durability durability;
    uint32_t interval_ms;
    uint32_t busy_timeout_ms;
    uint64_t checkpoint_bytes;
    uint64_t index_cache_bytes;
    size_t sort_memory_bytes;
    size_t group_memory_bytes;
    uint64_t transaction_memory_bytes; /* 0: no limit */
    uint64_t max_pinned_bytes;         /* of one snapshot of this process; 0: no limit */
    uint32_t compaction_percent;       /* 0: no compaction in the background */
    uint32_t compaction_share;
    slow_log slow_log;
    char *folder; /* NULL in a memory store */
    int lock_fd;
    int folder_fd; /* locked as well, except with `concurrent`; -1 where folders can't be opened */
    uint64_t folder_checked; /* the tick of the clock of the last check that found it; atomic */
    manifest manifest;       /* guarded by checkpoint_mutex; also used at opening and closing */
    /* Whether the file is still this handle's (manifest_moved()); guarded by manifest_mutex, which
     * is held as well by who writes the file and then `manifest`. */
    pthread_mutex_t manifest_mutex;
    struct manifest manifest_tried; /* what was last written, or failed to be */
    fs_identity manifest_file;      /* that holds one of them; zeros: not known */
    tansu_status (*close)(database *db, tansu_error *error); /* database_close() */

    struct log *log;
    /* Bytes of documents and deletions that were written to each segment. What is not among the
     * collections' locations_live() is dead. */
    segment_usage *written;
    /* at opening: those that the checkpoint lists, NULL without one */
    uint32_t *checkpoint_segments;
    uint32_t checkpoint_segment_count;
    tree_store *trees;
    struct index_tail *tails; /* of the collections' states that recovery made */
    bool index_damaged;       /* the index files are not trusted any more; atomic */
    char rebuilt[256];        /* why opening rebuilt the index files; empty: it did not */
    block_store *bs; /* NULL in a memory store, and until the first checkpoint of a new database */

    /* Snapshots, oldest to newest; guarded by snapshot_mutex. */
    pthread_mutex_t snapshot_mutex;
    snapshot *oldest;
    snapshot *visible;        /* what new readers get; also read atomically */
    snapshot *head;           /* what the next writer builds on: not visible before it is durable */
    snapshot *spare_snapshot; /* memory of one that has ended, for the next; atomic */
    reader_slots readers;     /* references to snapshots that are taken without the mutex */
    stored_catalog catalog;
    dropped_locations *dropped;
    size_t dropped_count;
    size_t dropped_reserved; /* those on retire lists included: each drop reserves one */
    size_t dropped_capacity;

    /* The write lock, handles, and requests to the worker; guarded by state_mutex. */
    pthread_mutex_t state_mutex;
    pthread_cond_t state_changed;
    bool write_locked;
    /* valid while `write_locked`: detects a thread that waits for itself */
    pthread_t writer_thread;
    uint64_t handles; /* open transactions, cursors and feeds */
    bool closing;     /* tansu_close() was called while handles were open; stored atomically */
    command_session *sessions; /* their handles are counted in `handles` */
    uint32_t session_count;
    uint32_t session_capacity;
    int64_t last_session; /* number */
    pthread_cond_t worker_wanted;
    bool worker_running;
    bool worker_stop;
    pthread_t worker;
    bool checkpoint_wanted;
    bool checkpoint_busy;   /* one is running; also read atomically */
    bool checkpoint_failed; /* the last one did; also read atomically */
    uint64_t write_stalls;  /* writers that waited for a checkpoint in memory_wait(); atomic */
    uint64_t write_stall_us;
    bool sync_wanted; /* commits wait for the sync interval to end; atomic */

    /* The thread that compacts in the background; guarded by state_mutex. */
    const struct compactor_calls *compactor_calls; /* NULL: it is not enabled */
    pthread_cond_t compactor_wanted;
    bool compactor_running;
    bool compactor_stop;
    bool compaction_wanted;
    uint64_t compactor_until; /* closing: when the thread ends; otherwise 0 */
    bool catching_up;         /* and the next writer waits for it; also read atomically */
    uint64_t removed_bytes;   /* of documents, since they last requested a compaction; atomic */
    pthread_t compactor;
    uint64_t compactions; /* since opening; atomic */

    /* One compaction at a time, and none while the log's segments are copied or checked: taken
     * before the snapshot that is worked on is acquired. Guarded by state_mutex; changes signal
     * state_changed. */
    enum maintenance { MAINTENANCE_NONE, MAINTENANCE_BACKGROUND, MAINTENANCE_CALLED } maintenance;
    uint32_t maintenance_waiting;     /* tasks that background compaction yields to */
    pthread_mutex_t checkpoint_mutex; /* one checkpoint at a time */
    pthread_mutex_t evict_mutex;      /* one eviction at a time; guards evict_at */
    eviction_position evict_at;
    bool index_was_open;          /* the index files were in use when the process before ended */
    bool has_checkpointed;        /* a checkpoint was tried; guarded by checkpoint_mutex */
    uint64_t checkpoint_sequence; /* the commit up to which the block store holds everything */
    /* the commit of the last compaction: locations name its segment, so that no earlier snapshot
     * can be written to the block store */
    uint64_t installed_sequence;
    uint64_t checkpoint_at; /* log_written at the last request of a checkpoint; atomic */
    uint64_t log_written;   /* since the checkpoint at opening, as worker.c counts bytes; atomic */

    /* Those that wait for a commit to become visible (store/write_lock.h). */
    pthread_mutex_t commit_mutex;
    pthread_cond_t commit_visible;
    uint32_t commit_waiters; /* changed with the mutex held, read atomically by every commit */

    /* The open change feeds; guarded by feed_mutex. */
    pthread_mutex_t feed_mutex;
    struct feed *feeds;
    uint64_t feed_floor; /* deletions up to this commit may have been compacted away */

    /* Indexes that collections get when they are created; guarded by declared_mutex. */
    pthread_mutex_t declared_mutex;
    table declared;
    struct declared_index *declared_suspended;

    /* The writer's. */
    struct write_txn *spare;    /* of the last transaction, with its memory, for the next */
    struct shape_table *shapes; /* of the collections' documents; NULL before the first */
    uint64_t next_epoch;
    uint32_t next_collection;
    uint32_t next_index;
};

#endif
