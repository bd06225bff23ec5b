/*
 * check/repair/repair_state.h -- the state of a repair, which its phases fill in one after the
 * other.
 *
 * Memory: 32 to 64 bytes a document, one segment, and what repair_log.h says of the log.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_STATE_H
#define TANSU_CHECK_REPAIR_REPAIR_STATE_H

#include "check/problem_list.h"
#include "check/repair/repair_log.h"
#include "check/repair/repair_salvage.h"
#include "store/manifest.h"
#include "store/write_txn/write_txn.h"

typedef struct repair {
    const fs *calls;
    const index_filter_calls *filters;
    const tansu_options *settings; /* of the new database */
    const char *from;
    const char *temporary; /* the folder of temporary files */
    char *log_folder;
    tansu_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;
    problem_list problems;

    /* repair_find_segments() */
    bool manifest_read; /* the MANIFEST is valid */
    manifest manifest;
    uint64_t end_sequence; /* the log reached this commit at least; 0: unknown */
    uint8_t uuid[16];
    uint32_t crc_seed;
    repair_segment *segments; /* in the order of commits */
    size_t segment_count;
    size_t segment_capacity;

    /* repair_find_frames() */
    repair_run *runs; /* by segment and offset */
    size_t run_count;
    size_t run_capacity;
    repair_gap *gaps;
    size_t gap_count;
    size_t gap_capacity;
    repair_mark *marks; /* by location, once the history is built */
    size_t mark_count;
    size_t mark_capacity;
    repair_orphan *orphans; /* by commit, once the history is built */
    size_t orphan_count;
    size_t orphan_capacity;

    /* repair_build_history() */
    repair_slice *slices; /* in the order of commits, then those of which only deletions count */
    size_t slice_count;
    size_t slice_capacity;
    repair_range *missing;
    size_t missing_count;
    size_t missing_capacity;
    uint64_t last_missing; /* no later commit can be missing; 0: none is */
    uint64_t last_known;   /* the last commit of all */
    bool uncertain;        /* some slices are */

    /* repair_replay() */
    pending locations; /* record id to the location of its newest record */
    repair_record *records;
    size_t record_count;
    size_t record_capacity;
    uint64_t strays; /* documents whose record id can't be right */

    /* repair_index_files_open() and repair_index_files_compare() */
    block_store *index_files; /* a copy, or NULL */
    uint64_t checkpoint;      /* the commit as of which they are complete */
    repair_known_collection *known_collections;
    size_t known_count;
    size_t known_capacity;

    /* repair_build_catalog() */
    repair_collection *collections; /* by id */
    size_t collection_count;
    size_t collection_capacity;
    catalog_page names; /* those that have a name and are not dropped, one for each name */

    /* repair_rebuild() */
    database *db; /* the new one */
    uint64_t documents;
    uint64_t unprotected;
    uint64_t collections_made;
    uint64_t indexes_made;
    uint64_t lost_bytes;
    uint64_t lost_commits;
    report_list suspects; /* documents that may differ from what they were */
} repair;

/* repair_free -- frees all but the new database, which the driver closes. */
void repair_free(repair *r);

/* repair_progress -- counts `work` units as done and calls the progress function. Errors:
 * CANCELLED. */
tansu_status repair_progress(repair *r, uint64_t work, tansu_error *error);

/* repair_segment_path -- the path of a segment's file in new memory; NULL when it is exhausted. */
char *repair_segment_path(const repair *r, uint32_t number);

/* repair_segment_open -- opens it, or the image of a compressed one; -1 with errno. */
int repair_segment_open(const repair *r, uint32_t number);

/* repair_segment_name -- its name in messages. */
void repair_segment_name(const repair *r, uint32_t number, char name[64]);

#endif
