/*
 * catalog/repair_parts.h -- what the parts of repair share. Private to catalog/repair*.c.
 *
 * First every segment is read by itself: which stretches of it ("runs") are frames with right checksums, of which
 * commits, and which records lie between them. A frame is of the commit that its checksum vouches for,
 * wherever it lies, so a block that was written to another place costs only what it was written over. Of
 * all runs the longest consistent history is made, and its records are gone through in the order of
 * commits: of each document it is kept in mind where its newest record lies, and the catalog's records are
 * copied. The index files are asked which documents there were. Then the documents are read once more, one
 * by one, and saved in a new database, and the indexes are made.
 *
 * Memory: 32 to 64 bytes a document, one segment, and what damage makes: about 130 bytes a run, 48 a damaged
 * stretch, 24 a record that no checksum protects; without damage a segment is one run.
 */
#ifndef TANSU_CATALOG_REPAIR_PARTS_H
#define TANSU_CATALOG_REPAIR_PARTS_H

#include "catalog/change.h"
#include "catalog/findings.h"
#include "log/walk.h"

/* Set in a place beside PLACE_DELETED: no checksum vouches for the record. */
#define PLACE_UNSURE ((uint64_t)2)

/* And this: compaction may have left the record out since. */
#define PLACE_DOUBTED ((uint64_t)4)

/* Set above a segment's number, which takes 28 bits: what the index files say of the document. */
#define PLACE_CONFIRMED ((uint64_t)1 << 63) /* this was its newest record at their checkpoint */
#define PLACE_OUTDATED ((uint64_t)1 << 62)  /* there was a newer one */

/* Above them, in documents that were saved: why they may not be what they were (PLACE_DOUBT of them). */
enum repair_doubt {
    DOUBT_NONE,
    DOUBT_UNPROTECTED, /* no checksum vouches for the record */
    DOUBT_OLDER,       /* a newer version is known to be lost */
    DOUBT_UNCERTAIN,   /* a commit that is lost may have changed or deleted it */
    DOUBT_KINDS
};
#define PLACE_DOUBT_SHIFT 60
#define PLACE_DOUBT ((uint64_t)3 << PLACE_DOUBT_SHIFT)

static inline uint32_t repair_number(log_place place) {
    return (uint32_t)(place >> 32) & 0x0fffffffu;
}
static inline uint32_t repair_offset(log_place place) {
    return (uint32_t)place & PLACE_MASK;
}

/* Files that are no segment of the log by their name have numbers from this one on. */
#define REPAIR_LEFTOVER ((uint32_t)1 << 27)

/* One segment file. */
typedef struct repair_segment {
    uint32_t number;
    char *file;     /* of a leftover: its path in the database's folder; otherwise NULL */
    uint32_t named; /* the number in the file's name */
    uint64_t size;
    bool header; /* it checks out, and is this segment's */
    uint64_t
        first; /* the first commit, by the header, or else by the first frame; UINT64_MAX: unknown */
    uint64_t last; /* of a compacted segment whose header checks out */
    uint64_t end;  /* and where its frames end */
    bool left_out;
    size_t run; /* the first of its runs, and how many there are */
    size_t run_count;
    uint64_t hole_bytes;
} repair_segment;

/* Frames with right checksums and rising commits, back to back. */
typedef struct repair_run {
    uint32_t segment; /* index in the list */
    uint32_t from;    /* offsets in its file */
    uint32_t to;
    uint32_t frames;
    uint64_t first; /* commits */
    uint64_t last;
    bool home;   /* it lies where it was written */
    bool sparse; /* commits between are not in it */
} repair_run;

/* Bytes of a segment that are no frame. */
typedef struct repair_hole {
    uint32_t segment;
    uint32_t from;
    uint32_t to; /* where they end, or zeros that go on to the segment's end begin */
    uint32_t taken_bytes;
    uint64_t taken; /* records */
    uint64_t low;   /* commits behind this one and below `high` are missing here */
    uint64_t high;
    bool tail;       /* no frame follows in the segment */
    bool unfinished; /* there is no header of a frame: one that was never committed has none */
} repair_hole;

/* A record in a hole. */
typedef struct repair_loose {
    uint64_t sequence;
    log_place place;
    uint64_t hole; /* index */
} repair_loose;

/* Commits that come from a run. */
typedef struct repair_piece {
    uint64_t first;
    uint64_t last;
    size_t run;
    bool removals; /* only deletions count: what else is in it, compaction has left out since */
    bool doubted;  /* compaction may have left it out: the segment that tells is damaged there */
} repair_piece;

/* Commits from one to another. */
typedef struct repair_range {
    uint64_t first;
    uint64_t last;
    bool told; /* a problem tells of them */
} repair_range;

/* Documents of a collection that the index files know and of which nothing was found. */
typedef struct repair_loss {
    uint32_t collection;
    uint64_t documents;
    char name[TANSU_MAX_NAME + 1];
} repair_loss;

/* Documents that may not be what they were, by name. */
typedef struct repair_doubts {
    bson_t list;
    uint64_t told;
    bool no_memory;
} repair_doubts;

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
    uint64_t documents; /* in the new database */
    uint64_t doubt[DOUBT_KINDS];
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
    const char *listed; /* the folder that is listed, in the database's */
    bool no_memory;     /* while the folder was listed */

    repair_run *runs; /* by segment and offset */
    size_t run_count;
    size_t run_room;
    repair_hole *holes;
    size_t hole_count;
    size_t hole_room;
    repair_loose *loose; /* by commit, once the history is made */
    size_t loose_count;
    size_t loose_room;
    repair_piece
        *pieces; /* the history, in the order of commits; and what only removes behind it */
    size_t piece_count;
    size_t piece_room;
    repair_range *lost;
    size_t lost_count;
    size_t lost_room;
    uint64_t last_lost;  /* no later commit can be missing; 0: none is */
    uint64_t last_known; /* the last commit of all */
    bool doubted;        /* some pieces are */

    cabinet *witness;    /* the index files, or NULL */
    uint64_t checkpoint; /* what they say is true as of this commit */
    repair_loss *losses; /* by collection */
    size_t loss_count;

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
    uint64_t lost_commits;
    repair_doubts doubts;
} repair;

/* repair_tell -- counts `work` units as done and calls the progress function. Errors: CANCELLED. */
tansu_status repair_tell(repair *r, uint64_t work, tansu_error *error);

/* repair_path -- the path of a segment's file in new memory; NULL when it is exhausted. */
char *repair_path(const repair *r, uint32_t number);

/* repair_name -- what messages call it. */
void repair_name(const repair *r, uint32_t number, char name[64]);

/* repair_grow -- makes room for one more item in a list; false when memory is exhausted. */
bool repair_grow(void *list, size_t count, size_t *room, size_t item);

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

/* repair_witness_open -- raises r->end_sequence to what the index files saw of the log
 * (catalog/repair_witness.c); they are looked at in a copy in that folder. What can't be copied or read is no
 * error: there is no witness then. */
void repair_witness_open(repair *r, const char *folder);

/* repair_witness_ask -- marks the documents that were found with what the index files say of them, and counts
 * those that were not. Errors: MEMORY, CANCELLED. */
tansu_status repair_witness_ask(repair *r, tansu_error *error);

/* repair_witness_close -- removes the copy. Errors: IO, MEMORY (it is not gone). */
tansu_status repair_witness_close(repair *r, const char *folder, tansu_error *error);

/* repair_frames -- finds the runs of all segments, and what lies between them (catalog/repair_frames.c). */
tansu_status repair_frames(repair *r, tansu_error *error);

/* repair_home -- which runs of a segment lie where they were written (catalog/repair_home.c). Errors: MEMORY. */
tansu_status repair_home(repair *r, repair_segment *s, uint64_t bound, tansu_error *error);

/* repair_history -- what is taken of the runs, and which commits are missing (catalog/repair_history.c).
 * Errors: MEMORY. */
tansu_status repair_history(repair *r, tansu_error *error);

/* repair_missing -- how many commits from one to another are missing; *first, *last: which. */
uint64_t repair_missing(const repair *r, uint64_t from, uint64_t to, uint64_t *first,
                        uint64_t *last);

/* repair_scan -- takes the records of the history (catalog/repair_scan.c). */
tansu_status repair_scan(repair *r, tansu_error *error);

/* repair_tell_damage -- the problems that damage to the log makes (catalog/repair_damage.c). */
void repair_tell_damage(repair *r);

/* repair_catalog -- what collections and indexes there were (catalog/repair_catalog.c). */
tansu_status repair_catalog(repair *r, tansu_error *error);

/* repair_collection_of -- the collection of that number, NULL when nothing tells of it. */
repair_collection *repair_collection_of(const repair *r, uint32_t id);

/* So many documents that may not be what they were are named; all are counted. */
#define DOUBTS_TOLD 1000

/* repair_doubt_name -- names a document of a collection that may not be what it was. */
void repair_doubt_name(repair *r, const repair_collection *c, enum repair_doubt doubt,
                       const uint8_t *doc);

/* repair_report -- what came of it all (catalog/repair_report.c). Errors: MEMORY. */
tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error);

/* repair_write -- fills the new database (catalog/repair_write.c). */
tansu_status repair_write(repair *r, tansu_error *error);

#endif
