/*
 * store/database_internal.h -- the parts of an open database. For the files that touch them;
 * others include the header of what they call.
 *
 * A part is in the header of its subject. Here are those that belong to parts of the engine above
 * this one, for which a header cannot be included.
 */
#ifndef TANSU_STORE_DATABASE_INTERNAL_H
#define TANSU_STORE_DATABASE_INTERNAL_H

#include "crypt/keyring.h"
#include "log/log.h"
#include "store/declared_indexes.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/manifest.h"
#include "store/memory.h"
#include "store/snapshot.h"
#include "store/write_lock.h"
#include "util/aligned_u64.h"
#include "util/fork.h"
#include "util/interrupt.h"

#include <pthread.h>

/* What the options say, with defaults filled in. */
typedef struct database_options {
    tansu_store store;
    bool read_only;  /* also where the file system is */
    bool concurrent; /* read-only, without a lock: another process may be writing */
    bool follow;     /* and each read is to see the newest commit */
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
} database_options;

/* ---- The index files ---- */

/* What the block store has of the catalog (store/checkpoint/stored_catalog.h). */
typedef struct stored_record {
    aligned_u64 epoch; /* of the writer that changed one of its collections last; atomic */
    bool there;
} stored_record;
typedef struct stored_catalog {
    stored_record *records; /* the array is guarded by snapshots.mutex */
    uint32_t count;
    uint32_t capacity;
    uint64_t epoch; /* of the snapshot of the last checkpoint; guarded by checkpoints.mutex */
} stored_catalog;

/* The stored chunks of a dropped collection's location table, which the next checkpoint removes
 * from the block store. */
typedef struct dropped_locations {
    uint32_t collection;
    uint64_t count;
} dropped_locations;

/* Those of all dropped collections; guarded by snapshots.mutex. */
typedef struct dropped_list {
    dropped_locations *items;
    size_t count;
    size_t reserved; /* those on retire lists included: each drop reserves one */
    size_t capacity;
} dropped_list;

/* Writing the block store (store/checkpoint/checkpoint.h). */
typedef struct checkpoint_state {
    pthread_mutex_t mutex; /* one checkpoint at a time */
    bool busy;   /* one is running; guarded by the database's mutex, also read atomically */
    bool failed; /* the last one did; likewise */
    bool tried;  /* one was, since opening; guarded by `mutex` */
    aligned_u64 sequence; /* the commit up to which the block store holds everything */
    /* the commit of the last compaction: locations name its segment, so that no earlier snapshot
     * can be written to the block store */
    uint64_t installed_sequence;
    bool index_was_open; /* the index files were in use when the process before ended */
    char rebuilt[256];   /* why opening rebuilt the index files; empty: it did not */
    /* at opening: the segments that the checkpoint lists, NULL without one */
    uint32_t *segments;
    uint32_t segment_count;
} checkpoint_state;

/* ---- The background threads (store/background/background.h) ---- */

/* Guarded by the database's mutex, but for what is atomic. */
typedef struct worker_thread {
    pthread_t thread;
    pthread_cond_t wanted;
    bool running;
    bool stop;
    bool checkpoint_wanted;
    bool sync_wanted;          /* commits wait for the sync interval to end; atomic */
    aligned_u64 checkpoint_at; /* log_written at the last request of a checkpoint; atomic */
    aligned_u64 log_written;   /* since the checkpoint at opening, as background.c counts; atomic */
} worker_thread;

/* Guarded by the database's mutex, but for what is atomic. */
typedef struct compactor_thread {
    pthread_t thread;
    pthread_cond_t wanted;
    const struct compactor_calls *calls; /* NULL: it is not enabled */
    bool running;
    bool stop;
    bool compaction_wanted;
    bool catching_up;          /* and the next writer waits for it; also read atomically */
    uint64_t until;            /* closing: when the thread ends; otherwise 0 */
    aligned_u64 removed_bytes; /* of documents, since they last requested a compaction; atomic */
    aligned_u64 compactions;   /* since opening, also those that were called; atomic */
} compactor_thread;

/* Guarded by the database's mutex. */
typedef struct expirer_thread {
    pthread_t thread;
    pthread_cond_t wanted;
    bool (*run)(database *db); /* NULL: it is not enabled */
    bool running;
    bool pass_wanted;
    interrupt stop;    /* the thread's work */
    uint64_t interval; /* nanoseconds from the end of a pass to the next one */
} expirer_thread;

/* ---- Change feeds (feed/feed.h) ---- */

/* The open ones; guarded by `mutex`. */
typedef struct feed_list {
    pthread_mutex_t mutex;
    struct feed *first;
    uint64_t floor; /* deletions up to this commit may have been compacted away */
} feed_list;

/* ---- Reading while another process writes (store/open/instances.h) ---- */

/* What an instance keeps on the disk that nobody else needs, when that was last measured. */
typedef struct instance_pins {
    uint64_t copied;      /* bytes of its copy of the index file */
    uint64_t mapped;      /* bytes of the segments that it has mapped */
    aligned_u64 removed;  /* of them, those that have no name any more; atomic */
    aligned_u64 bytes;    /* log_removals.bytes then; atomic */
    aligned_u64 sessions; /* log_removals.sessions then; atomic */
} instance_pins;

/* A root has the first two, its instances the others; other databases have none but `current`. */
typedef struct reader_instances {
    database *current;     /* what calls read; guarded by the root's mutex */
    struct instances *all; /* NULL: not a root */
    uint64_t calls_inside; /* guarded by the root's mutex */
    database *next;        /* of the root; guarded by its pins_mutex */
    instance_pins pins;
    bool keeps_segments; /* a refresh may not change which segments are active */
} reader_instances;

/* ---- The database ---- */

struct database {
    fork_stamp opened_in; /* the process; its forks may not use what it had opened */
    bool discard;         /* closing only frees: nothing is written */
    database *root;       /* of a handle that may have several instances; otherwise itself */
    reader_instances instances;
    tansu_status (*close)(database *db, tansu_error *error); /* database_close() */
    tansu_db *handle;                      /* the public one (api/handles.h), or NULL */
    void (*free_handle)(tansu_db *handle); /* when the database was closed */
    const query_hooks *hooks;              /* of partial indexes and validators */
    aligned_u64 validation_warnings;       /* since opening (store/validators); atomic */
    database_options options;
    database_files files;
    manifest_file manifest;
    keyring *keys;    /* NULL: the database is not encrypted */
    bool keys_shared; /* they are freed by somebody else: an instance uses its root's */

    /* Guards what says "the database's mutex": the write lock, the count of handles, and requests
     * to the background threads. `changed` is signalled when one of them ends. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    database_writer writer;
    open_handles handles;
    maintenance maintenance;
    worker_thread worker;
    compactor_thread compactor;
    expirer_thread expirer;

    struct log *log;
    /* Bytes of documents and deletions that were written to each segment. What is not among the
     * collections' locations_live() is dead. */
    segment_usage *written;

    tree_store *trees;
    block_store *bs; /* NULL in a memory store, and until the first checkpoint of a new database */
    struct index_backlog *backlogs; /* of the collections' states that recovery made */
    eviction eviction;
    checkpoint_state checkpoints;
    stored_catalog catalog;
    dropped_list dropped;

    snapshot_list snapshots;
    commit_waiters commits;
    declared_indexes declared;
    feed_list feeds;
};

#endif
