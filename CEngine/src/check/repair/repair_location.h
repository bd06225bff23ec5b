/*
 * check/repair/repair_location.h -- locations of records while a database is repaired: flags that
 * repair adds to a location of the log.
 *
 * A location has 32 bits for the offset, whose lowest three are zero and hold flags, and 28 for the
 * number of the segment. The bits above the number hold what the index files say of the document
 * and, once it is saved, why it may differ from what the application wrote last.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_LOCATION_H
#define TANSU_CHECK_REPAIR_REPAIR_LOCATION_H

#include "log/format.h"

/* Beside LOCATION_DELETED: no checksum protects the record. */
#define LOCATION_UNPROTECTED ((uint64_t)2)

/* Compaction may have dropped the record since. */
#define LOCATION_UNCERTAIN ((uint64_t)4)

/* The index files name this record as the newest one at their checkpoint. */
#define LOCATION_CONFIRMED ((uint64_t)1 << 63)

/* The index files know a newer record. */
#define LOCATION_OUTDATED ((uint64_t)1 << 62)

/* Why a saved document may differ from what it was, as bits of its location. */
enum repair_reason {
    REASON_NONE,
    REASON_UNPROTECTED, /* no checksum protects the record */
    REASON_OLDER,       /* a newer version is known to be lost */
    REASON_UNCERTAIN,   /* a commit that is lost may have changed or removed the document */
    REASON_COUNT
};
#define LOCATION_REASON_SHIFT 60
#define LOCATION_REASON ((uint64_t)3 << LOCATION_REASON_SHIFT)

/* repair_number, repair_offset -- the segment's number and the offset in it, without the flags. */
static inline uint32_t repair_number(log_location location) {
    return (uint32_t)(location >> 32) & 0x0fffffffu;
}
static inline uint32_t repair_offset(log_location location) {
    return (uint32_t)location & LOCATION_MASK;
}

#endif
