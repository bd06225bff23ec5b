/*
 * store/snapshot.h -- snapshots (MVCC): the immutable state of all collections as of one commit.
 *
 * A commit publishes a new snapshot that shares everything unchanged with its predecessor. Readers
 * acquire a snapshot, mostly in a slot of their thread (store/readers/reader_slots.h), and need no
 * lock while they read. What a commit replaced is kept in the retire list of the newest snapshot
 * that can reach it. When that snapshot ends, the objects that its predecessor cannot reach are
 * freed, and the others move to the predecessor's list (epoch-based reclamation). So a snapshot
 * that is held for long keeps what it can reach, and nothing that was created and replaced after
 * it.
 */
#ifndef TANSU_STORE_SNAPSHOT_H
#define TANSU_STORE_SNAPSHOT_H

#include "index/definition.h"
#include "index/locations.h"
#include "index/tree/tree.h"
#include "log/compressed/codec.h"
#include "store/catalog/catalog.h"
#include "store/database.h"
#include "store/readers/reader_slots.h"
#include "util/retire.h"

#include <pthread.h>
#include <stdatomic.h>

/* One secondary index as of a snapshot. */
typedef struct collection_index {
    const index_definition *definition;
    tree entries;
    bool multikey; /* some document ever had more than one entry, or an array on a path */
} collection_index;

/* The number and the name of a collection, from its creation or renaming on. */
typedef struct collection_name {
    uint32_t id;
    char text[];
} collection_name;

/* The options of a collection that are objects (store/collection_options.h). */
enum option_number {
    OPTION_REFERENCES,
    OPTION_TIMESTAMPS,
    OPTION_TRACKING,
    OPTION_VALIDATOR,
    OPTION_VALIDATION,
    OPTION_COUNT
};

/* One collection as of a snapshot. Immutable once published. */
typedef struct collection_state {
    uint64_t epoch;   /* the writer that made this copy */
    uint32_t id;      /* unique in the database, never used again */
    uint32_t changes; /* of recovery: its list of changes, from 1 */
    bool local;       /* never replicated */
    enum codec codec; /* of its documents in compacted segments */
    union {
        struct {
            const struct reference_list *references;   /* to other collections; NULL: none */
            const struct timestamp_fields *timestamps; /* that saves set; NULL: none */
            const struct change_tracking *tracking;    /* of changed documents; NULL: none */
            const struct validator *validator;         /* of every document; NULL: none */
            const struct validation *validation;       /* its level; NULL: strict */
        };
        const void *options[OPTION_COUNT];
    };
    collection_name *named;
    const char *name;              /* its text */
    locations *locations;          /* shared by all snapshots */
    uint64_t next_rid;             /* record ids 0 … next_rid - 1 have been assigned */
    uint64_t count;                /* documents */
    tree ids;                      /* value_key(_id) and record id */
    struct index_backlog *backlog; /* by which indexes are brought up to date; NULL: all are */
    const atomic_bool *current;    /* with a backlog: which indexes are, that of `_id` first */
    uint32_t index_count;
    collection_index indexes[]; /* in order of creation */
} collection_state;

typedef struct snapshot {
    uint64_t sequence; /* number of the commit that made it */
    uint64_t position; /* end of that commit in the log (log_position()) */
    uint32_t count;    /* of collections */
    uint32_t expiring; /* of their indexes, those by which documents expire */
    uint64_t epoch;    /* of the transaction that made it: rises from snapshot to snapshot */
    /* The following are guarded by the database's list. */
    uint64_t references; /* of readers, but for those in store/readers/reader_slots.h */
    uint64_t heirs;      /* ended snapshots after it, whose retired objects it may have to take */
    struct snapshot *previous, *next; /* the live snapshots before and after it */
    retire_list retired;              /* what it can reach and no later snapshot can */
    /* Versions of documents that are not to be found by their links any more, or are far back there
     * (store/read_context.h): locations; LOCATION_DELETED: it does not have the document. NULL:
     * none. Guarded by the log's `passing`. */
    struct pending *kept;
    struct snapshot *more; /* snapshots that ended and whose `retired` belongs here, too:
                                         there was no memory to join the lists */
    catalog_page states;   /* the collections' states by name */
    catalog_page numbers;  /* their collection_name by number */
    catalog_page holders;  /* that of those with references by name */
} snapshot;

/* snapshot_new -- a snapshot without collections; NULL when memory is exhausted. */
snapshot *snapshot_new(void);

/* snapshot_free -- frees the struct; pages of its catalog, and the collections' states, belong to
 * retire lists. */
void snapshot_free(snapshot *v);

/* snapshot_take -- a successor of a snapshot for a transaction of that epoch, with the same
 * collections, and a retire list that is empty but may have memory: mostly in that of a snapshot
 * that has ended. */
snapshot *snapshot_take(database *db, const snapshot *base, uint64_t epoch);

/* snapshot_discard -- frees what transaction made that is not published: the pages of its epoch, of
 * all if that is UINT64_MAX. `see` gets the collections' states on those and on the roots. */
void snapshot_discard(snapshot *v, uint64_t epoch, retire_free see, void *context);

/* The orders of the catalog's trees: states by name, names by number, and names by themselves. The
 * keys are a text and the address of a uint32_t. */
int order_of_states(const void *item, const void *key);
int order_of_numbers(const void *item, const void *key);
int order_of_holders(const void *item, const void *key);

/* snapshot_from -- for snapshot_next(): the collections in the order of their names, from that one
 * on (NULL: from the first). */
static inline catalog_cursor snapshot_from(const snapshot *v, const char *name) {
    return catalog_from(&v->states, order_of_states, name);
}
static inline const collection_state *snapshot_next(catalog_cursor *cursor) {
    return catalog_next(cursor);
}

/* snapshot_documents -- how many documents all collections have. */
uint64_t snapshot_documents(const snapshot *v);

/* collection_expiring -- how many of a collection's indexes documents expire by. */
uint32_t collection_expiring(const collection_state *state);

/* snapshot_next_holder -- for a cursor over `holders`: the next collection with references. */
const collection_state *snapshot_next_holder(const snapshot *v, catalog_cursor *cursor);

/* snapshot_collection -- the collection of that name, or NULL. */
const collection_state *snapshot_collection(const snapshot *v, const char *name);

/* snapshot_find -- the same with a name that a caller gave; *state is NULL when there is none of
 * that name. Errors: INVALID_NAME (there cannot be one). */
tansu_status snapshot_find(const snapshot *v, const char *name, const collection_state **state,
                           tansu_error *error);

/* snapshot_missing -- the error for a collection that is not there: INVALID_NAME when there cannot
 * be one, or NOT_FOUND. */
tansu_status snapshot_missing(const char *name, tansu_error *error);

/* snapshot_collection_by_id -- the collection of that number, or NULL. */
const collection_state *snapshot_collection_by_id(const snapshot *v, uint32_t id);

/* ---- The database's snapshots ---- */

/* From oldest to newest; guarded by `mutex`. */
typedef struct snapshot_list {
    pthread_mutex_t mutex;
    snapshot *oldest;
    snapshot *visible;    /* what new readers get; also read atomically */
    snapshot *head;       /* what the next writer builds on: not visible before it is durable */
    snapshot *spare;      /* memory of one that has ended, for the next; atomic */
    reader_slots readers; /* references that are taken without the mutex */
} snapshot_list;

/* snapshot_acquire -- the newest visible snapshot; end it with snapshot_release(). */
snapshot *snapshot_acquire(database *db);

/* snapshot_acquire_head -- the newest snapshot, visible or not. */
snapshot *snapshot_acquire_head(database *db);

/* snapshot_release -- ends the caller's reference, and frees what no snapshot can reach any
 * more. */
void snapshot_release(database *db, snapshot *v);

/* snapshot_publish -- makes `v` the head; `retired` (emptied) is what it replaced of the head
 * before. */
void snapshot_publish(database *db, snapshot *v, retire_list *retired, bool visible);

/* snapshot_make_visible -- makes the snapshots up to that commit visible. */
void snapshot_make_visible(database *db, uint64_t sequence);

/* snapshot_count_acquired -- the number of snapshots older than the visible one, which live because
 * readers hold them; *oldest: the commit of the oldest. */
uint32_t snapshot_count_acquired(database *db, uint64_t *oldest);

/* snapshot_commits -- the commits of the oldest of them, at most `most`; returns how many. */
uint32_t snapshot_commits(database *db, uint64_t *commits, uint32_t most);

/* snapshot_free_all -- frees all snapshots and what only they reach (closing). */
void snapshot_free_all(database *db);

#endif
