/*
 * log/set_aside.h -- segments that recovery removes from the log although they may contain commits:
 * they are moved to the folder `set-aside` and never deleted. Private to the log.
 */
#ifndef TANSU_LOG_SET_ASIDE_H
#define TANSU_LOG_SET_ASIDE_H

#include "log/segment.h"

/* bytes_not_zero -- whether a segment's bytes from `offset` on (SEGMENT_HEADER_SIZE or more) are
 * anything but zeros. */
bool bytes_not_zero(const uint8_t *bytes, uint64_t size, uint64_t offset);

/* set_aside_move -- moves a segment's file into the folder. Errors: IO, FULL, MEMORY. */
tansu_status set_aside_move(log *l, uint32_t number, tansu_error *error);

/* set_aside_copy -- puts a copy of a segment's file into the folder, synced, if a valid frame lies
 * after `offset`. Errors: IO, FULL, MEMORY. */
tansu_status set_aside_copy(log *l, segment *s, uint64_t offset, tansu_error *error);

/* What lies in a segment whose header is not whole. */
typedef struct headerless_content {
    bool holds;   /* anything but zeros, after the header */
    bool damaged; /* commits that must be there: its header was whole once */
} headerless_content;

/* headerless_inspect -- examines a segment without a header. `expected` is the commit that is due
 * at the log's end. Errors: IO, MEMORY. */
tansu_status headerless_inspect(log *l, uint32_t number, uint64_t expected,
                                headerless_content *content, tansu_error *error);

#endif
