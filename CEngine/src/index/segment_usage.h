/*
 * index/segment_usage.h -- bytes of live or written records by segment of the log.
 *
 * The numbers are a heuristic for compaction and for statistics: when memory is exhausted, or after
 * a crash, they may be slightly wrong, and only the choice of what to compact depends on them. Any
 * thread reads them; one at a time changes them, which is who holds the write lock, or opens the
 * database.
 */
#ifndef TANSU_INDEX_SEGMENT_USAGE_H
#define TANSU_INDEX_SEGMENT_USAGE_H

#include "tansu.h"
#include <stdbool.h>

typedef struct segment_usage segment_usage;

/* segment_usage_new -- NULL when memory is exhausted. */
segment_usage *segment_usage_new(void);
void segment_usage_free(segment_usage *u);

/* segment_usage_add -- that many bytes more (or less) in a segment; never below zero. */
void segment_usage_add(segment_usage *u, uint32_t segment, int64_t bytes);

/* segment_usage_get -- 0 for a segment that was never named. */
uint64_t segment_usage_get(segment_usage *u, uint32_t segment);

/* segment_usage_sum -- of all segments. */
uint64_t segment_usage_sum(segment_usage *u);

/* segment_usage_forget -- takes a segment out. */
void segment_usage_forget(segment_usage *u, uint32_t segment);

/* segment_usage_add_all -- adds what another one has in each segment. */
void segment_usage_add_all(segment_usage *u, segment_usage *from);

/* segment_usage_encode -- appends everything as bytes: for each segment two varints, how much
 * greater its number is than the one before, and its bytes. False when memory is exhausted. */
bool segment_usage_encode(segment_usage *u, tansu_buffer *bytes);

/* segment_usage_decode -- reads what segment_usage_encode() wrote; false when it is invalid, or
 * memory is exhausted. */
bool segment_usage_decode(segment_usage *u, const uint8_t *bytes, size_t size);

#endif
