/*
 * store/memory.h -- keeps the memory of index blocks within its limit.
 *
 * options.index_cache_bytes limits the blocks that are stored (clean) and those that are not yet
 * (dirty) together. When a quarter of it is dirty, a checkpoint is requested; at three quarters
 * writers wait, before they begin, for the running checkpoint; and whoever loads a block past the
 * limit first evicts clean leaves that have not been used lately. What collections take in addition
 * to their trees counts, but a quarter of the limit is left to blocks in any case. Not counted are
 * the blocks of one open write transaction (options.transaction_memory_bytes limits these), those
 * of an index while it is built, the inner blocks of the trees (some 3 % of an index), 48 bytes for
 * each leaf that was ever loaded, and for each held snapshot the blocks that were dirty when it was
 * acquired.
 */
#ifndef TANSU_STORE_MEMORY_H
#define TANSU_STORE_MEMORY_H

#include "store/database.h"
#include "util/aligned_u64.h"
#include "util/interrupt.h"

#include <pthread.h>

/* Where the eviction of index blocks resumes. */
typedef struct eviction_position {
    char collection[TANSU_MAX_NAME + 1];
    uint32_t tree; /* 0: the `_id` index */
    uint64_t entry;
} eviction_position;

typedef struct eviction {
    pthread_mutex_t mutex; /* one eviction at a time */
    eviction_position at;
    aligned_u64 write_stalls; /* writers that waited for a checkpoint, or a compaction; atomic */
    aligned_u64 write_stall_us;
} eviction;

/* memory_init -- before other threads use the database. */
void memory_init(database *db);

/* memory_checkpoint_due -- whether enough is dirty for a checkpoint, and the last one did not
 * fail. */
bool memory_checkpoint_due(database *db);

/* memory_checkpoint_started, memory_checkpoint_ended -- of each checkpoint; wakes the writers that
 * wait. */
void memory_checkpoint_started(database *db);
void memory_checkpoint_ended(database *db, bool succeeded);

/* memory_wait -- a writer that is about to begin waits while too much is dirty and a checkpoint is
 * in progress. Ends early when `stop` (may be NULL) says so: the caller asks it again. */
void memory_wait(database *db, const interrupt *stop);

/* memory_relieve -- drops clean leaves if more is in memory than the bound allows. Any thread. */
void memory_relieve(database *db);

#endif
