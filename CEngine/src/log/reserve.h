/*
 * log/reserve.h -- a file that holds nothing but room on the disk: what gives room back (deletions, compactions)
 * takes it when there is no other. Part log; may call base.
 *
 * While the reserve is spent, the log grows for nothing else: it has to be filled up first. So deletions
 * and compactions go on working on a disk that is full, and not only once.
 */
#ifndef TANSU_LOG_RESERVE_H
#define TANSU_LOG_RESERVE_H

#include "log/log.h"

/* What a checkpoint after a compaction may need. */
#define RESERVE_CHECKPOINT (1536u * 1024u)

/* reserve_find -- looks, at opening, for what an earlier one has left. */
void reserve_find(log *l);

/* reserve_keep -- makes the reserve as large as the log's size asks for. 0; an errno when the disk has
 * no room for that: for what was spent, or for the least that there is to be otherwise. What else keeps it from
 * being made is no matter. */
int reserve_keep(log *l);

/* reserve_is_spent -- whether it was, and not filled up since. */
bool reserve_is_spent(log *l);

/* reserve_spend -- gives the reserve to the file system; of a large one only what a compaction does not need, unless
 * `all`. Returns how many bytes that were. */
uint64_t reserve_spend(log *l, bool all);

#endif
