/*
 * check/verify/verify_internal.h -- the state of a verification.
 *
 * Verification checks one snapshot while the database is in use. The snapshot is held and
 * compaction is kept from starting, so that nothing that it refers to moves or goes away. The
 * location table is shared with later commits: their records are followed back to the one that the
 * snapshot sees.
 */
#ifndef TANSU_CHECK_VERIFY_VERIFY_INTERNAL_H
#define TANSU_CHECK_VERIFY_VERIFY_INTERNAL_H

#include "check/problem_list.h"
#include "log/scan.h"
#include "store/database.h"
#include "store/snapshot.h"

#define BLOCK_STORE_FILE "index/blocks.tch"

/* Units of progress, in bytes of the log: a document, and an index entry. */
#define DOCUMENT_WORK 128
#define ENTRY_WORK 32

/* How many bytes of a segment may be read. */
typedef struct verify_segment {
    uint32_t number;
    uint64_t size;
} verify_segment;

/* Bytes of a segment that are no valid frame and should be. */
typedef struct verify_corrupt_range {
    uint32_t number;
    uint64_t from;
    uint64_t to;
} verify_corrupt_range;

typedef struct verification {
    database *db;
    const snapshot *v;
    tansu_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;
    problem_list problems;
    bool log_corrupt; /* some problems are of the log's own bytes */

    log_extent *extents; /* the segments with the snapshot's commits, in the log's order */
    uint32_t extent_count;
    verify_segment *segments; /* of segments that locations led to, by number */
    size_t segment_count;
    size_t segment_capacity;

    uint64_t frames;
    uint64_t records;
    uint64_t documents;
    uint64_t entries;
    verify_corrupt_range *corrupt_ranges; /* by segment and offset */
    size_t corrupt_range_count;
    size_t corrupt_range_capacity;
    uint64_t corrupt_documents; /* that can't be read, or lie in such a range */
    report_list collections;    /* counts of each, for the report */
    log_pins pins;              /* of records that locations lead to */
} verification;

/* verify_free -- frees what the phases have allocated. */
void verify_free(verification *c);

/* verify_progress -- counts `work` units as done and calls the progress function. Errors:
 * CANCELLED, CLOSED. */
tansu_status verify_progress(verification *c, uint64_t work, tansu_error *error);

/* What a record id leads to in the snapshot. */
typedef struct verify_resolved {
    const record_header *record; /* put or deletion; NULL when there is none */
    log_location location;
    const char *fault; /* what is wrong with the location or the record; NULL: nothing */
} verify_resolved;

/* verify_resolve -- follows a word of the location table to the record that the snapshot sees.
 * Errors: MEMORY. */
tansu_status verify_resolve(verification *c, const collection_state *state, uint64_t rid,
                            uint64_t word, verify_resolved *resolved, tansu_error *error);

/* ---- Verifying a collection: its documents, its location table and its indexes ---- */

/* verify_collection -- checks one collection; verify_log() has run before. Errors: IO, MEMORY,
 * CANCELLED. */
tansu_status verify_collection(verification *c, const collection_state *state, tansu_error *error);

/* ---- Verifying the log: every frame and record up to the snapshot ---- */

/* verify_log -- checks checksums, the order of commits, records, and that the location table knows
 * each record or a newer one. Errors: IO, MEMORY, CANCELLED. */
tansu_status verify_log(verification *c, tansu_error *error);

/* verify_in_corrupt_range -- whether a location lies in a corrupt range of the log, where no
 * checksum protects a record. verify_log() has run before. */
bool verify_in_corrupt_range(const verification *c, log_location location);

#endif
