/*
 * catalog/memory.h -- keeps the memory of index blocks within its bound. Part catalog; may call index
 * and base.
 *
 * options.index_cache_bytes bounds blocks that are stored (clean) and blocks that are not yet (dirty)
 * together. A quarter of it dirty orders a checkpoint; at three quarters writers wait, before they
 * begin, for the checkpoint that is under way; and whoever loads a block past the bound first drops
 * clean leaves that have not been used lately. Not bounded by it are the blocks of one open write
 * transaction, those of an index while it is built, the inner blocks of the trees (some 3 % of an
 * index), 48 bytes for each leaf that was ever looked at, and for each held snapshot the blocks that
 * were dirty when it was taken.
 */
#ifndef TANSU_CATALOG_MEMORY_H
#define TANSU_CATALOG_MEMORY_H

#include "catalog/database.h"

/* memory_init -- before anybody else knows the database. */
void memory_init(database *db);

/* memory_checkpoint_due -- whether enough is dirty for a checkpoint, and the last one did not fail. */
bool memory_checkpoint_due(database *db);

/* memory_checkpoint_begun, memory_checkpoint_ended -- of each checkpoint; wakes the writers that wait. */
void memory_checkpoint_begun(database *db);
void memory_checkpoint_ended(database *db, bool succeeded);

/* memory_wait -- a writer that is about to begin waits while too much is dirty and a checkpoint is
 * under way. Ends early when `stop` (may be NULL) says so: the caller asks it again. */
void memory_wait(database *db, const interrupt *stop);

/* memory_relieve -- drops clean leaves if more is in memory than the bound allows. Any thread. */
void memory_relieve(database *db);

/* memory_note_freed -- what index blocks took before and after a number of them were freed: much of it
 * goes back to the system. */
void memory_note_freed(uint64_t before, uint64_t after);

#endif
