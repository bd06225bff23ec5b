/*
 * catalog/verify_parts.h -- what the parts of verify share. Private to catalog/verify*.c.
 *
 * A version is held and compaction kept away meanwhile, so that nothing that it refers to goes away or
 * moves. Places and records of later commits are met all the same, and followed back.
 */
#ifndef TANSU_CATALOG_VERIFY_PARTS_H
#define TANSU_CATALOG_VERIFY_PARTS_H

#include "catalog/database.h"
#include "catalog/findings.h"
#include "log/walk.h"

#define CABINET_FILE "index/blocks.tch"

/* How many bytes of a segment may be looked at. */
typedef struct verify_room {
    uint32_t number;
    uint64_t size;
} verify_room;

/* Bytes of a segment that are no frame and should be. */
typedef struct verify_stretch {
    uint32_t number;
    uint64_t from;
    uint64_t to;
} verify_stretch;

typedef struct verification {
    database *db;
    const version *v;
    tansu_task_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;
    findings problems;
    bool log_damaged; /* some of them are of the log's own bytes */

    log_extent *extents; /* the segments that the version's commits are in, in the log's order */
    uint32_t extent_count;
    verify_room *rooms; /* segments that places led to, by number */
    size_t room_count;

    uint64_t frames;
    uint64_t records;
    uint64_t documents;
    uint64_t entries;
    verify_stretch *stretches; /* of the log that are damaged, by segment and offset */
    size_t stretch_count;
    uint64_t damaged;   /* documents that can't be read, or lie in such a stretch */
    bson_t collections; /* figures of each, for the report */
    uint32_t collection_count;
} verification;

/* verify_tell -- counts `work` units as done and calls the progress function. Errors: CANCELLED. */
tansu_status verify_tell(verification *c, uint64_t work, tansu_error *error);

/* What a docno holds as of the version. */
typedef struct verify_holding {
    const record_header *record; /* put or deletion; NULL when there is none */
    log_place place;
    const char *fault; /* not NULL: the place or what it leads to makes no sense */
} verify_holding;

/* verify_resolve -- follows the word of a docno to the record that the version sees. Errors: MEMORY. */
tansu_status verify_resolve(verification *c, const collection_state *state, uint64_t docno,
                            uint64_t word, verify_holding *holding, tansu_error *error);

/* verify_in_damage -- whether a place lies in a damaged stretch of the log: no checksum protects what is there. */
bool verify_in_damage(const verification *c, log_place place);

/* verify_log -- frames and records (catalog/verify_log.c). */
tansu_status verify_log(verification *c, tansu_error *error);

/* verify_collection -- documents, places and indexes of one (catalog/verify_documents.c). */
tansu_status verify_collection(verification *c, const collection_state *state, tansu_error *error);

#endif
