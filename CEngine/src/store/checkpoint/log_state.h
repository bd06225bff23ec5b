/*
 * store/checkpoint/log_state.h -- what the META record says of the log at the time of its
 * checkpoint, so that damage to segments that opening does not read is detected.
 *
 * Opening reads the log from the checkpoint on. An older segment that was truncated is detected by
 * its size. And locations are written concurrently with the writer, so that some may belong to
 * commits after the checkpoint's: those commits must be in the log as well, for a process that
 * crashes leaves all that it wrote.
 */
#ifndef TANSU_STORE_CHECKPOINT_LOG_STATE_H
#define TANSU_STORE_CHECKPOINT_LOG_STATE_H

#include "bson/writer.h"
#include "store/snapshot.h"

/* log_state_append -- adds {"witnessed": commit, "extents": [{"segment", "end"}, …]} to a META
 * record; called after all locations were written. */
void log_state_append(database *db, const snapshot *v, writer *meta);

/* log_state_matches -- whether the log's segments are those of the META record; also sets the
 * commit that replay must reach. */
bool log_state_matches(database *db, const uint8_t *meta, size_t size);

#endif
