/*
 * store/memory.c -- keeps the memory of index blocks within its limit.
 */
#include "store/memory.h"

#include "store/collection.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/snapshot.h"
#include "util/clock.h"
#include "util/heap.h"

/* Dirty bytes that order a checkpoint, and that make writers wait, in eighths of the bound. */
#define DUE_EIGHTHS 2
#define WAIT_EIGHTHS 6
/* How long a waiting writer sleeps before it checks whether it was cancelled. */
#define POLL_MS 100
/* A smaller bound than this is not kept to by writing: there would be a checkpoint for each
 * commit. */
#define DIRTY_LEAST ((uint64_t)1024 * 1024)
/* How much more must be in memory, at least, for relief to be tried again after it failed. */
#define RETRY_BYTES ((uint64_t)256 * 1024)

/* As much evicted at one time is worth giving back to the system. */
#define TRIM_BYTES ((uint64_t)16 * 1024 * 1024)

/* dirty_over -- whether that many eighths of the bound are dirty. */
static bool dirty_over(const database *db, uint64_t eighths) {
    uint64_t bound =
        db->options.index_cache_bytes < DIRTY_LEAST ? DIRTY_LEAST : db->options.index_cache_bytes;
    return db->options.store != TANSU_STORE_MEMORY &&
           tree_store_dirty(db->trees) > bound / 8 * eighths;
}

/* relieve -- the tree store's call of memory_relieve(). */
static void relieve(void *context) {
    memory_relieve(context);
}

void memory_init(database *db) {
    if (db->options.store == TANSU_STORE_MEMORY)
        return;
    tree_store_set_relief(db->trees, relieve, db);
    tree_store_relieve_at(db->trees, db->options.index_cache_bytes);
}

bool memory_checkpoint_due(database *db) {
    return dirty_over(db, DUE_EIGHTHS) &&
           !__atomic_load_n(&db->checkpoints.busy, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&db->checkpoints.failed, __ATOMIC_RELAXED);
}

void memory_checkpoint_started(database *db) {
    pthread_mutex_lock(&db->mutex);
    __atomic_store_n(&db->checkpoints.busy, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->mutex);
}

void memory_checkpoint_ended(database *db, bool succeeded) {
    pthread_mutex_lock(&db->mutex);
    __atomic_store_n(&db->checkpoints.busy, false, __ATOMIC_RELAXED);
    __atomic_store_n(&db->checkpoints.failed, !succeeded, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&db->changed);
    pthread_mutex_unlock(&db->mutex);
}

void memory_wait(database *db, const interrupt *stop) {
    if (!dirty_over(db, WAIT_EIGHTHS) || interrupt_asked(stop))
        return;
    clock_time since = clock_now();
    bool waited = false;
    pthread_mutex_lock(&db->mutex);
    /* Without a checkpoint in progress or ordered, waiting would not help. */
    while ((db->checkpoints.busy || db->worker.checkpoint_wanted) && dirty_over(db, WAIT_EIGHTHS) &&
           !db->worker.stop && !interrupt_asked(stop)) {
        (void)clock_wait(&db->changed, &db->mutex, clock_in(POLL_MS));
        waited = true;
    }
    pthread_mutex_unlock(&db->mutex);
    if (waited) {
        __atomic_add_fetch(&db->eviction.write_stalls, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&db->eviction.write_stall_us, (clock_now() - since) / 1000,
                           __ATOMIC_RELAXED);
    }
}

/* tree_at -- a collection's tree: the `_id` index, then the others; NULL after the last. One that
 * is not current counts as empty: it is changed meanwhile. */
static const tree *tree_at(const collection_state *state, uint32_t number) {
    static const tree empty;
    if (number <= state->index_count && index_waits(state, number))
        return &empty;
    if (number == 0)
        return &state->ids;
    return number <= state->index_count ? &state->indexes[number - 1].entries : NULL;
}

/* evict -- continues through the snapshot's trees from where the last time ended, at most twice
 * round: the first time round a leaf that was used only loses its mark. */
static void evict(database *db, const snapshot *v, uint64_t limit) {
    eviction_position *at = &db->eviction.at;
    catalog_cursor all = snapshot_from(v, at->collection);
    const collection_state *state = snapshot_next(&all);
    for (uint64_t ends = 0; v->count != 0 && ends <= 2 * (uint64_t)v->count;) {
        if (state == NULL) {
            all = snapshot_from(v, NULL);
            state = snapshot_next(&all);
        }
        const tree *t = tree_at(state, at->tree);
        if (t == NULL) {
            at->tree = 0;
            state = snapshot_next(&all);
            ends++;
            continue;
        }
        at->entry = tree_evict(db->trees, t, at->entry, limit);
        if (tree_store_memory(db->trees) <= limit) {
            memcpy(at->collection, state->name, strlen(state->name) + 1);
            return;
        }
        at->entry = 0;
        at->tree++;
    }
}

/* bound_of -- the bound, or as much more as leaves a quarter of it to blocks. */
static uint64_t bound_of(const database *db) {
    uint64_t least = tree_store_counted(db->trees) + db->options.index_cache_bytes / 4;
    return least > db->options.index_cache_bytes ? least : db->options.index_cache_bytes;
}

void memory_relieve(database *db) {
    uint64_t bound = bound_of(db), before = tree_store_memory(db->trees);
    if (db->options.store == TANSU_STORE_MEMORY || before <= bound ||
        pthread_mutex_trylock(&db->eviction.mutex) != 0)
        return;
    /* What is evicted could not be loaded again from damaged index files. */
    if (!index_files_damaged(db)) {
        snapshot *v = snapshot_acquire(db);
        evict(db, v, bound - db->options.index_cache_bytes / 8);
        snapshot_release(db, v);
    }
    uint64_t left = tree_store_memory(db->trees);
    /* What could not go now (dirty, or being read) is not asked for again at each load. */
    uint64_t more = db->options.index_cache_bytes / 16;
    if (more < RETRY_BYTES)
        more = RETRY_BYTES;
    tree_store_relieve_at(db->trees, left <= bound ? bound : left + more);
    pthread_mutex_unlock(&db->eviction.mutex);
    /* After a large transaction: with fewer, those that follow take the memory. */
    if (before > left && before - left >= TRIM_BYTES)
        heap_trim();
}
