/*
 * store/write_txn/write_txn_batch.c -- index entries that wait to be inserted or removed together.
 *
 * A large transaction changes entries of an index in the order of its documents, each in another
 * leaf: at every one the processor waits for a leaf that is in no cache, and recovery reads it from
 * the block store. So what documents add and remove waits here, up to BATCH_BYTES, and is done
 * in the order of the index: neighbours are in the same leaf. Nobody sees that. It is done before
 * anything reads the index or changes the list of indexes, before a document is changed a second
 * time, and before the commit (write_txn_flush()); unique indexes and that of `_id`, which each
 * save reads, do not wait.
 */
#include "store/write_txn/write_txn_internal.h"

#include "store/database_internal.h"
#include "util/error.h"

#include <stdlib.h>

/* Entries wait in transactions that have that many records already: smaller ones gain nothing. The
 * tests pass with 1 as well, where those of every transaction wait. */
#ifndef BATCH_FROM
#define BATCH_FROM 256u
#endif
/* They take at most so much memory, in all indexes of the collection together. */
#define BATCH_BYTES ((size_t)4 * 1024 * 1024)

/* batches_for -- room for the entries of a collection's indexes, of which no other collection's
 * wait. */
static tansu_status batches_for(write_txn *wtxn, const collection_state *state,
                                tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (wtxn->batched != state->id)
        status = write_txn_flush(wtxn, error);
    if (status != TANSU_OK || wtxn->batch_count >= state->index_count)
        return status;
    index_batch *batches = realloc(wtxn->batches, state->index_count * sizeof *batches);
    if (batches == NULL)
        return error_memory(error);
    memset(batches + wtxn->batch_count, 0,
           (state->index_count - wtxn->batch_count) * sizeof *batches);
    wtxn->batches = batches;
    wtxn->batch_count = state->index_count;
    return TANSU_OK;
}

bool write_txn_batches(const write_txn *wtxn, const index_definition *definition, bool existing) {
    if (wtxn->replay)
        return !definition->unique && !existing; /* the next commit may change the same document */
    return !definition->unique && wtxn->records >= BATCH_FROM;
}

tansu_status write_txn_batch(write_txn *wtxn, collection_state *state, uint32_t i,
                             const uint8_t *entry, uint32_t size, bool removes,
                             tansu_error *error) {
    tansu_status status = batches_for(wtxn, state, error);
    if (status != TANSU_OK)
        return status;
    wtxn->batched = state->id;
    size_t before = index_batch_memory(&wtxn->batches[i]);
    if (!index_batch_add(&wtxn->batches[i], entry, size, removes))
        return error_memory(error);
    wtxn->batched_bytes += index_batch_memory(&wtxn->batches[i]) - before;
    return wtxn->batched_bytes < BATCH_BYTES ? TANSU_OK : write_txn_flush(wtxn, error);
}

tansu_status write_txn_flush(write_txn *wtxn, tansu_error *error) {
    if (wtxn->batched == 0)
        return TANSU_OK;
    collection_state *state = write_txn_collection_by_id(wtxn, wtxn->batched);
    tansu_status status = TANSU_OK;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
    for (uint32_t i = 0; i < wtxn->batch_count; i++) {
        index_batch *batch = &wtxn->batches[i];
        if (status == TANSU_OK && batch->count != 0 && state != NULL && i < state->index_count)
            status = index_batch_apply(batch, &wtxn->writer, &state->indexes[i].entries, error);
        batch->count = batch->bytes.size = 0;
    }
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

void write_txn_batches_free(write_txn *wtxn) {
    for (uint32_t i = 0; i < wtxn->batch_count; i++)
        index_batch_free(&wtxn->batches[i]);
    free(wtxn->batches);
    wtxn->batches = NULL;
    wtxn->batch_count = 0;
    wtxn->batched = 0;
    wtxn->batched_bytes = 0;
}
