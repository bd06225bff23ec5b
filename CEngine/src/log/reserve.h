/*
 * log/reserve.h -- a file of reserved disk space, which deletions and compactions may use when the
 * disk is full.
 *
 * Both need to write before they free space. While the reserve is spent, the log does not grow for
 * anything else: the reserve is refilled first. So deletions and compactions keep working on a full
 * disk.
 */
#ifndef TANSU_LOG_RESERVE_H
#define TANSU_LOG_RESERVE_H

#include "log/log.h"

/* What a checkpoint after a compaction may need. */
#define RESERVE_CHECKPOINT (1536u * 1024u)

/* reserve_find -- finds, at opening, the reserve of an earlier opening. */
void reserve_find(log *l);

/* reserve_keep -- creates or refills the reserve, as large as the log's size requires. Returns 0,
 * or an errno when the disk is too full for that: for what was spent, or for the minimum otherwise.
 * Other failures are ignored. */
int reserve_keep(log *l);

/* reserve_cut_back -- makes the reserve no larger than the log's size requires. */
void reserve_cut_back(log *l);

/* reserve_is_spent -- whether it was used and not refilled since. */
bool reserve_is_spent(log *l);

/* reserve_spend -- frees the reserve's disk space; of a large one only what a compaction does not
 * need, unless `all`. Returns the number of bytes. */
uint64_t reserve_spend(log *l, bool all);

#endif
