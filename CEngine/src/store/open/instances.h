/*
 * store/open/instances.h -- a handle that reads while another process writes (allow_writer).
 *
 * What such a handle reads is an opened database of its own, its *instance*. A refresh applies the
 * commits that came since to the instance, as the next snapshot. Where that is not possible any
 * more, or the instance has grown too large, another one is opened from the files, and takes the
 * place of the first. Calls, cursors, transactions and feeds keep the instance that they began
 * with; the last of them frees it.
 *
 * The database behind the handle is the *root*. Of a handle without allow_writer, root and instance
 * are the same.
 */
#ifndef TANSU_STORE_OPEN_INSTANCES_H
#define TANSU_STORE_OPEN_INSTANCES_H

#include "store/database_internal.h"
#include "store/readers/reader_registry.h"
#include "util/aligned_u64.h"
#include "util/clock.h"

/* instances_open -- a root with its first instance. Errors: those of database_open(). */
tansu_status instances_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                            database **result, tansu_error *error);

/* instances_close -- closes the instance, or defers that to its last user. */
void instances_close(database *root);

/* instances_end -- database_close() of a root. */
void instances_end(database *root);

/* instances_handles -- the transactions, cursors and feeds that are open; mutex is held. */
uint64_t instances_handles(const database *root);

/* instances_refresh -- tansu_refresh(); on any database. */
tansu_status instances_refresh(database *db, bool *changed, uint64_t *sequence, tansu_error *error);

/* How often the newest commit became another one since opening. */
typedef struct instances_statistics {
    uint64_t refreshes;
    uint64_t replacements; /* of the instance, among them */
} instances_statistics;

/* instances_measure -- of a root with instances. */
instances_statistics instances_measure(const database *root);

/* instances_enter, instances_leave -- see database_enter(), for roots with instances. */
tansu_status instances_enter(database *root, database **instance, tansu_error *error);
void instances_leave(database *instance);

/* database_enter -- what a call on a handle reads: it stays until database_leave(). With the option
 * `follow`, it has the newest commit. Errors: those of tansu_refresh(), CLOSED. */
static inline tansu_status database_enter(database *db, database **instance, tansu_error *error) {
    *instance = db;
    return db->instances.all == NULL ? TANSU_OK : instances_enter(db, instance, error);
}

static inline void database_leave(database *instance) {
    if (instance->root != instance)
        instances_leave(instance);
}

/* database_enter_handle -- the same for what lasts longer: until handle_release(). Errors: those of
 * handle_acquire() as well. */
tansu_status database_enter_handle(database *db, database **instance, tansu_error *error);

/* ---- What a root has that other databases do not ---- */

struct instances {
    tansu_options options; /* of the next instance */
    pthread_mutex_t mutex; /* one refresh at a time; guards the following */
    bool unusable;         /* the current instance cannot be continued */
    uint64_t dirty_limit;  /* in bytes: then it is examined whether there is a newer checkpoint */
    aligned_u64 refreshes; /* that found commits; atomic */
    aligned_u64 replacements; /* of the instance; atomic */
    /* The current instance was dropped because it kept too much on the disk; this was its commit.
     * Guarded by the root's mutex. */
    bool expired;
    uint64_t expired_commit;
    /* What the instances keep on the disk (store/open/instances.h); taken after `mutex`. */
    pthread_mutex_t pins_mutex;
    database *first_instance; /* all that are not closed */
    reader_entry *entry;      /* NULL where none can be written */
    reader_report report;
};

/* ---- Instance pins ---- */

/*
 * What the instances of a reader keep on the disk that nobody else needs:
 * copies of the index file, and segments that the writer has removed. It is told to other processes
 * (store/readers/reader_registry.h), and may be limited (max_pinned_bytes).
 */

/* instance_pins_enter, instance_pins_leave -- the root's entry in the registry. */
void instance_pins_enter(database *root);
void instance_pins_leave(database *root);

/* instance_pins_add -- a new instance, which is the root's. Errors: TOO_LARGE (its copy alone
 * exceeds the limit). */
tansu_status instance_pins_add(database *root, database *instance, tansu_error *error);

/* instance_pins_remove -- before one that was added is closed. */
void instance_pins_remove(database *instance);

/* instance_pins_refreshed -- the root's current instance, which the caller is in, has that commit.
 * The mutex of the root's instances is held. */
void instance_pins_refreshed(database *root, database *instance, uint64_t commit);

/* instance_pins_exceeded, snapshot_pins_exceeded -- instance_pins_check() for an instance of a root
 * with instances, and for a snapshot of another database with a limit. */
tansu_status instance_pins_exceeded(database *instance, tansu_error *error);
tansu_status snapshot_pins_exceeded(database *db, const snapshot *v, tansu_error *error);

/* instance_pins_check -- TOO_LARGE when what an instance keeps on the disk exceeds the limit, or
 * what a snapshot of the writer's process does; `v` NULL: none is held. Without a limit, two
 * comparisons, and for an instance some loads. */
static inline tansu_status instance_pins_check(database *instance, const snapshot *v,
                                               tansu_error *error) {
    if (instance->root != instance)
        return instance_pins_exceeded(instance, error);
    return __builtin_expect(instance->options.max_pinned_bytes == 0, 1) || v == NULL
               ? TANSU_OK
               : snapshot_pins_exceeded(instance, v, error);
}

#endif
