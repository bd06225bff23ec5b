/*
 * check/repair/repair_salvage.h -- what repair makes of the log's records: the catalog of the new
 * database, and the documents that may differ from what they were.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_SALVAGE_H
#define TANSU_CHECK_REPAIR_REPAIR_SALVAGE_H

#include "check/repair/repair_location.h"
#include "log/compressed/codec.h"
#include "util/buffer.h"

/* A collection as the index files know it. */
typedef struct repair_known_collection {
    uint32_t collection;
    uint64_t documents; /* that the log does not hold any more */
    bool local;
    char name[TANSU_MAX_NAME + 1]; /* empty: not a valid name */
} repair_known_collection;

/* A record of the catalog. */
typedef struct repair_record {
    uint64_t sequence;
    uint8_t type;
    uint32_t collection;
    log_location location;
    tansu_buffer payload;
} repair_record;

typedef struct repair_index {
    char name[TANSU_MAX_NAME + 1];
    const repair_record *record;
} repair_index;

typedef struct repair_collection {
    uint32_t id;
    bool named;
    bool local;
    enum codec codec;
    const repair_record *references; /* the record that sets them; NULL: none */
    const repair_record *timestamps; /* the same */
    bool dropped;
    uint64_t named_by; /* the commit that gave the name */
    bool doubtful;     /* no checksum protects that record */
    char name[TANSU_MAX_NAME + 1];
    repair_index *indexes;
    size_t index_count;
    size_t index_capacity;
    uint64_t documents; /* in the new database */
    uint64_t suspects[REASON_COUNT];
    uint64_t lost; /* left out because of a corrupt `_id` */
} repair_collection;

#endif
