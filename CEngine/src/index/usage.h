/*
 * index/usage.h -- how many bytes lie in each segment of the log. Part index; may call base.
 *
 * A heuristic for compaction and for figures: when memory is exhausted, or after a killed process, it
 * may be a little wrong, and nothing but the choice of what to compact depends on it. Any thread.
 */
#ifndef TANSU_INDEX_USAGE_H
#define TANSU_INDEX_USAGE_H

#include "tansu.h"
#include <stdbool.h>

typedef struct usage usage;

/* usage_new -- NULL when memory is exhausted. */
usage *usage_new(void);
void usage_free(usage *u);

/* usage_add -- so many bytes more (or less) in a segment; never below zero. */
void usage_add(usage *u, uint32_t segment, int64_t bytes);

/* usage_get -- 0 for a segment that was never named. */
uint64_t usage_get(usage *u, uint32_t segment);

/* usage_forget -- takes a segment out. */
void usage_forget(usage *u, uint32_t segment);

/* usage_encode -- appends everything as bytes; false when memory is exhausted. */
bool usage_encode(usage *u, tansu_buffer *bytes);

/* usage_decode -- takes over what usage_encode() wrote; false when it makes no sense, or memory is
 * exhausted. */
bool usage_decode(usage *u, const uint8_t *bytes, size_t size);

#endif
