/*
 * catalog/repair_parts.h -- what the parts of repair share. Private to catalog/repair*.c.
 *
 * First every segment is read by itself, in the order of commits: of each document it is kept in mind
 * where its newest record lies, and the catalog's records are copied. Then the documents are read
 * once more, one by one, and saved in a new database, and the indexes are made.
 */
#ifndef TANSU_CATALOG_REPAIR_PARTS_H
#define TANSU_CATALOG_REPAIR_PARTS_H

#include "catalog/change.h"
#include "catalog/findings.h"
#include "log/walk.h"

/* Set in a place beside PLACE_DELETED: no checksum vouches for the record. */
#define PLACE_UNSURE ((uint64_t)2)

/* One segment file. */
typedef struct repair_segment {
    uint32_t number;
    uint64_t size;
    bool header; /* it checks out */
    uint64_t
        first; /* the first commit, by the header, or else by the first frame; UINT64_MAX: unknown */
    uint64_t last; /* of a compacted segment whose header checks out */
    uint64_t end;  /* and where its frames end */
    bool left_out;
} repair_segment;

/* A record of the catalog. */
typedef struct repair_record {
    uint64_t sequence;
    uint8_t type;
    uint32_t collection;
    log_place place;
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
    bool dropped;
    uint64_t named_by; /* commit that gave the name */
    char name[TANSU_MAX_NAME + 1];
    repair_index *indexes;
    size_t index_count;
} repair_collection;

typedef struct repair {
    const fs *calls;
    const index_filter_calls *filters;
    const tansu_options *settings; /* of the new database */
    const char *from;
    char *log_folder;
    tansu_task_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;
    findings problems;

    bool manifest_read; /* it checks out */
    manifest manifest;
    uint64_t end_sequence; /* the log went at least up to this commit; 0: unknown */
    uint8_t uuid[16];
    uint32_t crc_seed;
    repair_segment *segments; /* in the order of commits */
    size_t segment_count;
    size_t segment_room;
    bool no_memory; /* while the folder was listed */

    pending places; /* docno to where its newest record lies */
    repair_record *records;
    size_t record_count;
    size_t record_room;
    repair_collection *collections; /* by id */
    size_t collection_count;
    uint64_t strays; /* documents whose number can't be right */

    database *db; /* the new one */
    uint64_t documents;
    uint64_t unprotected;
    uint64_t collections_made;
    uint64_t indexes_made;
    uint64_t lost_bytes;
} repair;

/* repair_tell -- counts `work` units as done and calls the progress function. Errors: CANCELLED. */
tansu_status repair_tell(repair *r, uint64_t work, tansu_error *error);

/* repair_path -- the path of a segment's file in new memory; NULL when it is exhausted. */
char *repair_path(const repair *r, uint32_t number);

/* repair_survey -- finds the segments, whose database they are of, and their order
 * (catalog/repair_survey.c). Errors: NOT_FOUND, VERSION, IO, MEMORY. */
tansu_status repair_survey(repair *r, tansu_error *error);

/* repair_load -- a segment's bytes; unreadable ones are zero, and told. Errors: IO (it can't be opened),
 * MEMORY. */
tansu_status repair_load(repair *r, const repair_segment *s, uint8_t **bytes, tansu_error *error);

/* Reads single records out of segments. */
typedef struct repair_reader {
    const repair *r;
    uint32_t number; /* of the segment that is open */
    int fd;          /* -1: none */
    tansu_buffer record;
} repair_reader;

/* repair_read -- the record at a place, in reader->record. False when there is no sound one (or memory is
 * exhausted: *status). */
bool repair_read(repair_reader *reader, log_place place, const record_header **record,
                 tansu_status *status, tansu_error *error);
void repair_reader_end(repair_reader *reader);

/* repair_witness -- raises r->end_sequence to what the index files saw of the log
 * (catalog/repair_witness.c); they are looked at in a copy in that folder, which is gone afterwards. Errors:
 * IO, MEMORY (it is not); what can't be copied or read is no error. */
tansu_status repair_witness(repair *r, const char *folder, tansu_error *error);

/* repair_scan -- reads all segments (catalog/repair_scan.c). */
tansu_status repair_scan(repair *r, tansu_error *error);

/* repair_catalog -- what collections and indexes there were (catalog/repair_catalog.c). */
tansu_status repair_catalog(repair *r, tansu_error *error);

/* repair_collection_of -- the collection of that number, NULL when nothing tells of it. */
repair_collection *repair_collection_of(const repair *r, uint32_t id);

/* repair_write -- fills the new database (catalog/repair_write.c). */
tansu_status repair_write(repair *r, tansu_error *error);

#endif
