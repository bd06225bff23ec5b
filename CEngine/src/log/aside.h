/*
 * log/aside.h -- what opening takes out of the log and what may hold commits: it goes into a folder of its own,
 * never away. Private to the log part.
 */
#ifndef TANSU_LOG_ASIDE_H
#define TANSU_LOG_ASIDE_H

#include "log/segment.h"

/* aside_holds -- whether a segment's bytes from `offset` on (SEGMENT_HEADER_SIZE or more) are anything but
 * zeros. */
bool aside_holds(const uint8_t *bytes, uint64_t size, uint64_t offset);

/* aside_move -- moves a segment's file into the folder. Errors: IO, FULL, MEMORY. */
tansu_status aside_move(log *l, uint32_t number, tansu_error *error);

/* aside_copy -- puts a copy of a segment's file into the folder, forced to the disk, if a frame that checks
 * out lies behind `offset`. Errors: IO, FULL, MEMORY. */
tansu_status aside_copy(log *l, const segment *s, uint64_t offset, tansu_error *error);

/* What lies in a segment whose header is not whole. */
typedef struct blank_look {
    bool holds;   /* anything but zeros, behind the header */
    bool damaged; /* commits that must be there: its header was whole once */
} blank_look;

/* aside_look -- looks at a segment without a header. `expected` is the commit that is due at the log's end.
 * Errors: IO, MEMORY. */
tansu_status aside_look(log *l, uint32_t number, uint64_t expected, blank_look *look,
                        tansu_error *error);

#endif
