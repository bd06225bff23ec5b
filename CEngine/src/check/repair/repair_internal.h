/*
 * check/repair/repair_internal.h -- locations of records while a database is repaired: flags that
 * repair adds to a location of the log.
 *
 * A location has 32 bits for the offset, whose lowest three are zero and hold flags, and 28 for the
 * number of the segment. The bits above the number hold what the index files say of the document
 * and, once it is saved, why it may differ from what the application wrote last.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_INTERNAL_H
#define TANSU_CHECK_REPAIR_REPAIR_INTERNAL_H

#include "check/problem_list.h"
#include "log/compressed/codec.h"
#include "log/format.h"
#include "store/key_file.h"
#include "store/manifest.h"
#include "store/write_txn/write_txn.h"
#include "util/buffer.h"

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
    return (uint32_t)(location & LOCATION_MASK);
}

/* ---- Repair log ---- */

/*
 * What repair finds in the files of a log: segments, runs of intact
 * frames, gaps between them, and records in the gaps.
 *
 * Memory: about 130 bytes a run, 48 a gap, 24 an orphan. An intact segment is one run. While a
 * compacted segment that is not intact is split into runs, 8 bytes for each of its frames.
 */

/* Files that are no segment of the log by their name have numbers from this one on. */
#define REPAIR_LEFTOVER ((uint32_t)1 << 27)

/* A segment file. */
typedef struct repair_segment {
    uint32_t number;
    char *file;     /* of a leftover: its path in the database's folder; otherwise NULL */
    uint32_t named; /* the number in the file's name, or in the header if that is another */
    struct repair_image *image; /* of one that consists of blocks; NULL: the file itself */
    uint64_t size;              /* of the image, if there is one, and so are all offsets */
    bool header;                /* the header is valid, and that of this segment */
    uint64_t first; /* first commit, by the header or the first frame; UINT64_MAX: unknown */
    uint64_t last;  /* of a compacted segment with a valid header */
    uint64_t end;   /* where the frames of such a segment end */
    bool left_out;
    bool waits; /* its header is corrupt: a vote says whose it is and whether it has an image */
    size_t run; /* index of its first run */
    size_t run_count;
    uint64_t gap_bytes;
} repair_segment;

/* Adjacent frames with valid checksums and rising commits. */
typedef struct repair_run {
    uint32_t segment; /* index in the list */
    uint32_t from;    /* offsets in its file */
    uint32_t to;
    uint32_t frames;
    uint64_t first; /* commits */
    uint64_t last;
    bool in_order; /* it lies where it was written, and no misdirected write put it there */
} repair_run;

/* Bytes of a segment that are no valid frame. */
typedef struct repair_gap {
    uint32_t segment;
    uint32_t from;
    uint32_t to; /* before zeros that reach to the segment's end */
    uint32_t taken_bytes;
    uint64_t taken; /* records */
    uint64_t low;   /* the gap's commits are after this one and before `high` */
    uint64_t high;
    bool tail;       /* no frame follows in the segment */
    bool unfinished; /* there is no frame header: the commit was never acknowledged */
} repair_gap;

/* The frames from a location on, up to the next mark, are of that commit or of few later ones
 * (repair_read.h). */
typedef struct repair_mark {
    log_location location;
    uint64_t commit;
} repair_mark;

/* A record in a gap, which no checksum protects. */
typedef struct repair_orphan {
    uint64_t sequence; /* of an insert: 0 until the history is built */
    log_location location;
    uint64_t gap; /* index */
} repair_orphan;

/* Commits that are read from a run. */
typedef struct repair_slice {
    uint64_t first;
    uint64_t last;
    size_t run;
    bool removals;  /* only deletions count: compaction has dropped the rest since */
    bool uncertain; /* compaction may have dropped it: the compacted segment is corrupt there */
} repair_slice;

/* A range of commits that are missing. */
typedef struct repair_range {
    uint64_t first;
    uint64_t last;
    bool reported; /* the problem of a gap names them */
} repair_range;

/* ---- Repair salvage ---- */

/*
 * What repair makes of the log's records: the catalog of the new
 * database, and the documents that may differ from what they were.
 */

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
    const repair_record *options[OPTION_COUNT]; /* the records that set them; NULL: none */
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

/* ---- The state of a repair, which its phases fill in one after the other ---- */

/*
 * Memory: 32 to 64 bytes a document, one segment, and what repair_log.h says of the log.
 */

typedef struct repair {
    const fs *calls;
    const query_hooks *hooks;
    const tansu_options *settings; /* of the new database */
    user_key key;                  /* of an encrypted one */
    const char *from;
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
    keyring *keys;            /* of an encrypted database; NULL: it is not */
    uint32_t iterations;      /* with which its key is derived from a passphrase */
    uint64_t decrypted;       /* blocks of its segments */
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

/* repair_segment_find -- the segment of a number; NULL when there is none. */
const repair_segment *repair_segment_find(const repair *r, uint32_t number);

/* repair_segment_open -- opens its file; -1 with errno. */
int repair_segment_open(const repair *r, uint32_t number);

/* repair_segment_name -- its name in messages. */
void repair_segment_name(const repair *r, uint32_t number, char name[64]);

/* ---- Repair read ---- */

/*
 * Reading the segments of a corrupt database: bytes that can't be
 * read become zeros and a problem, not an error.
 */

/* repair_read_bytes -- `size` bytes of an open segment file; those that can't be read are zero. */
void repair_read_bytes(repair *r, const repair_segment *s, int fd, uint8_t *bytes, uint64_t offset,
                       size_t size);

/* repair_read_segment -- `size` bytes of a segment in new memory. Errors: IO (the file can't be
 * opened), MEMORY. */
tansu_status repair_read_segment(repair *r, const repair_segment *s, uint64_t from, uint64_t size,
                                 uint8_t **bytes, tansu_error *error);

/* ---- Segments that consist of blocks: compressed ones, and those of encrypted databases ----
 *
 * Where the blocks lie whose checksum, or tag, is valid is found once. What is read of the image is
 * decompressed and decrypted each time: nothing decrypted is written to the disk. */

typedef struct repair_block {
    uint32_t offset; /* in the image */
    uint32_t size;
    uint32_t position; /* of its header in the file, in eights of bytes */
    uint32_t stored;   /* bytes after the header */
} repair_block;

typedef struct repair_image {
    segment_header header; /* the image begins with it */
    uint32_t crc_seed;     /* of blocks that are not sealed */
    repair_block *blocks;  /* by offset, without an overlap; between them the image is zero */
    size_t count;
    size_t capacity;
} repair_image;

/* repair_image_make -- finds the blocks of an open segment file if it is a compressed one of that
 * database; *header becomes that of the image. What is lost is a problem. Errors: MEMORY,
 * UNSUPPORTED (a codec that this build lacks). */
tansu_status repair_image_make(repair *r, repair_segment *s, int fd, const uint8_t uuid[16],
                               segment_header *header, tansu_error *error);

/* repair_image_decrypt -- the same of a segment file of an encrypted database. The blocks tell the
 * segment's number if the file's name does not, and the table its header. */
tansu_status repair_image_decrypt(repair *r, repair_segment *s, int fd, segment_header *header,
                                  tansu_error *error);

/* repair_image_block -- whether the bytes of a segment file without a header are those of a
 * compressed one of that database. */
bool repair_image_block(const uint8_t *bytes, uint64_t size, const uint8_t uuid[16]);

/* repair_image_free -- fine on NULL. */
void repair_image_free(repair_image *image);

/* Reads an image by its blocks, and keeps the last. */
typedef struct repair_block_reader {
    const repair *r;
    const repair_segment *s;
    int fd;                    /* of the segment's file */
    const repair_block *block; /* whose bytes are in `bytes`; NULL: none */
    tansu_buffer stored, bytes;
} repair_block_reader;

/* repair_image_read -- a part of an image. Errors: MEMORY. */
tansu_status repair_image_read(repair_block_reader *reader, uint64_t offset, uint64_t size,
                               uint8_t *out, tansu_error *error);

/* repair_block_reader_end -- frees its buffers; the file stays open. */
void repair_block_reader_end(repair_block_reader *reader);

/* ---- Single records ---- */

/* Reads them; keeps the segment's file open. */
typedef struct repair_reader {
    repair_block_reader blocks;
    tansu_buffer record;
} repair_reader;

/* repair_reader_of -- a reader that has read nothing yet. */
static inline repair_reader repair_reader_of(const repair *r) {
    return (repair_reader){.blocks = {.r = r, .fd = -1}};
}

/* repair_read_record -- the record at a location, in reader->record. False when there is no valid
 * one, or when memory is exhausted (*status). */
bool repair_read_record(repair_reader *reader, log_location location, const record_header **record,
                        tansu_status *status, tansu_error *error);
void repair_reader_end(repair_reader *reader);

/* ---- Commits ----
 *
 * An insert has only the low bits of its commit's number. The others follow from the frames before
 * it in its segment, or from what is known of the gap that it was found in: commits rise with
 * offsets. */

/* repair_mark_frame -- notes a frame. `begins`: it is the first of a run. False when memory is
 * exhausted. */
bool repair_mark_frame(repair *r, log_location location, uint64_t commit, bool begins);

/* repair_mark_gaps -- notes the gaps, when their bounds are known; records can be asked for from
 * then on. Errors: MEMORY. */
tansu_status repair_mark_gaps(repair *r, tansu_error *error);

/* repair_commit -- the commit of a record. */
uint64_t repair_commit(const repair *r, log_location location, const record_header *record);

/* ---- Repair problems ---- */

/*
 * The problems of the log: corrupt byte ranges, misdirected
 * writes, and missing commits.
 */

/* repair_add_log_problems -- adds them to r->problems, and counts what is lost. */
void repair_add_log_problems(repair *r);

/* ---- The collections and indexes of the new database ---- */

/* repair_build_catalog -- fills in r->collections. Errors: MEMORY. */
tansu_status repair_build_catalog(repair *r, tansu_error *error);

/* repair_find_collection -- the collection with an id; NULL when no record names it. */
repair_collection *repair_find_collection(const repair *r, uint32_t id);

/* ---- Repair frames ---- */

/*
 * The intact frames of every segment, at whatever offset they lie,
 * and the records in the gaps between them.
 */

/* repair_find_frames -- fills in r->runs, r->gaps and r->orphans. Errors: IO, MEMORY, CANCELLED. */
tansu_status repair_find_frames(repair *r, tansu_error *error);

/* ---- Which run each commit is read from, and which commits are missing ---- */

/* repair_build_history -- fills in r->slices and r->missing. Errors: MEMORY. */
tansu_status repair_build_history(repair *r, tansu_error *error);

/* repair_missing_from -- the index of the first missing range that ends with a commit or later. */
size_t repair_missing_from(const repair *r, uint64_t sequence);

/* repair_count_missing -- how many commits between `from` and `to` are missing; *first and *last:
 * the first and the last of them. */
uint64_t repair_count_missing(const repair *r, uint64_t from, uint64_t to, uint64_t *first,
                              uint64_t *last);

/* ---- Repair index files ---- */

/*
 * The index files as a second source of information: how far
 * the log reached, and which documents there were.
 */

/* repair_index_files_open -- copies the index files to `folder`, opens the copy, and raises
 * r->end_sequence to what they know of the log. Files that can't be copied or read are not used. */
void repair_index_files_open(repair *r, const char *folder);

/* repair_index_files_compare -- flags the locations of the documents with what the index files say
 * of them, and counts those that the log lost. Errors: MEMORY, CANCELLED. */
tansu_status repair_index_files_compare(repair *r, tansu_error *error);

/* repair_known_collection_find -- what the index files know of a collection; NULL: nothing. */
const repair_known_collection *repair_known_collection_find(const repair *r, uint32_t collection);

/* repair_index_files_close -- removes the copy. Errors: IO, MEMORY (the copy is still there). */
tansu_status repair_index_files_close(repair *r, const char *folder, tansu_error *error);

/* ---- Which runs of a segment lie where they were written ---- */

/* repair_split_runs -- splits the runs of the last segment that was read, of which `bytes` are the
 * content, where a misdirected write may have joined frames. Errors: MEMORY. */
tansu_status repair_split_runs(repair *r, repair_segment *s, const uint8_t *bytes,
                               tansu_error *error);

/* repair_order_runs -- sets `in_order` of a segment's runs. `bound`: the last commit that the
 * segment may hold. Errors: MEMORY. */
tansu_status repair_order_runs(repair *r, repair_segment *s, uint64_t bound, tansu_error *error);

/* ---- Filling the new database: documents first, then indexes ---- */

/* repair_rebuild -- saves every salvaged document in r->db and builds the indexes. Errors: those of
 * write transactions, MEMORY, CANCELLED. */
tansu_status repair_rebuild(repair *r, tansu_error *error);

/* ---- Replaying the records of the history in the order of commits ---- */

/* repair_replay -- fills in r->locations and r->records. Errors: IO, MEMORY, CANCELLED. */
tansu_status repair_replay(repair *r, tansu_error *error);

/* ---- The report of a repair ---- */

/* repair_report -- writes the report, a BSON document, to an empty buffer. Errors: MEMORY. */
tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error);

/* ---- Repair segments ---- */

/*
 * The segment files that may belong to the database, their
 * headers, and their order.
 */

/* repair_find_segments -- reads the MANIFEST and lists the segments. Errors: NOT_FOUND (there is no
 * database), VERSION, IO, MEMORY. */
tansu_status repair_find_segments(repair *r, tansu_error *error);

#endif
