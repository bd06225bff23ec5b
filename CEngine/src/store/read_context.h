/*
 * store/read_context.h -- reading documents as of a snapshot, or as of a write transaction's own
 * state. With store/snapshot.h and the trees this is all that the query parts see of the storage.
 */
#ifndef TANSU_STORE_READ_CONTEXT_H
#define TANSU_STORE_READ_CONTEXT_H

#include "log/format.h"
#include "store/snapshot.h"
#include "util/interrupt.h"

struct log;
struct log_intact;
struct log_pins;
struct pending;

/* What a read needs. Plain data: copy it freely; whoever made it keeps the snapshot alive. */
typedef struct read_context {
    struct log *log;
    struct log_pins *pins; /* keep what is read in memory (log/compressed/compressed_segment.h) */
    tree_store *trees;
    uint64_t sequence;             /* records up to this commit are seen */
    struct pending **kept;         /* of the snapshot (store/snapshot.h); NULL: of the newest */
    const struct pending *pending; /* a write transaction's own changes, or NULL */
    const interrupt *interrupt;    /* what stops a long read, or NULL; outlives the read context */
    const struct fs *calls;        /* for temporary files; NULL: a read that makes none */
    const char *folder;            /* where they go; NULL in a memory store */
    struct keyring *keys;          /* what they are encrypted with; NULL: they are not */
    size_t sort_memory;            /* what a sort takes before it makes them */
    size_t group_memory;           /* what groups take */
    /* Of calls that copy what they read: documents that are not intact, by the checksums of their
     * frames and as BSON, are CORRUPT. NULL: what is read is trusted. */
    struct log_intact *intact;
} read_context;

/* A document's stored version: where it lies. Stays valid as long as the read context (also when a
 * write transaction continues); never 0. */
typedef uint64_t doc_ref;

/* read_find -- the reference of a record id's document as of the read context. TANSU_DONE when
 * there is none. Errors: IO, CORRUPT, MEMORY. */
tansu_status read_find(const read_context *rctx, const collection_state *collection, uint64_t rid,
                       doc_ref *ref, tansu_error *error);

/* read_keep_version -- keeps the version of a document with the snapshot of the read context, which
 * has its record id, from the location of a version on (0: there is none): unless it is kept, or
 * `most` are. False when that fails, also for want of memory. */
bool read_keep_version(const read_context *rctx, uint64_t location, uint64_t where, uint64_t most);

/* read_find_document -- the same, and the document as read_document() returns it. */
tansu_status read_find_document(const read_context *rctx, const collection_state *collection,
                                uint64_t rid, doc_ref *ref, const uint8_t **doc, uint32_t *size,
                                tansu_error *error);

/* read_document -- the BSON that a reference leads to, in place (8-byte aligned). Always succeeds
 * for references of the same read context; an unreadable document is an empty one, and log_faults()
 * counts it. The pointer is valid until the pins are released, or LOG_PINS documents more were read
 * with them, or, in a write transaction, until its next write: whoever reads other documents while
 * it uses one reads them with other pins. */
const uint8_t *read_document(const read_context *rctx, doc_ref ref, uint32_t *size);

/* read_prefetch -- prefetches the documents that follow `rids[next]`, which is about to be read:
 * call it for each `next` from 0 on. */
void read_prefetch(const read_context *rctx, const collection_state *collection,
                   const uint64_t *rids, size_t count, size_t next);

/* read_prefetch_locations, read_prefetch_records -- what read_prefetch() does at first, in two
 * parts: the second waits for what the first has asked for, unless there was something else to do
 * between them. */
void read_prefetch_locations(const collection_state *collection, const uint64_t *rids,
                             size_t count);
void read_prefetch_records(const read_context *rctx, const collection_state *collection,
                           const uint64_t *rids, size_t count);

/* A scan over all documents of a collection in record id order, with prefetch. */
typedef struct table_scan {
    const read_context *rctx;
    const collection_state *collection;
    uint64_t rid;        /* the next to examine */
    uint64_t first, end; /* of the record ids whose locations `words` has; none at first */
    const aligned_u64 *words;
    /* The segment of the document before, in which most likely the next one is as well, and its
     * entry in the log's table; NULL: none. */
    uint32_t segment;
    const struct segment_entry *entry;
} table_scan;

void table_scan_init(table_scan *scan, const read_context *rctx,
                     const collection_state *collection);

/* table_scan_next -- the next document: its record id, reference and bytes. TANSU_DONE at the
 * end. */
tansu_status table_scan_next(table_scan *scan, uint64_t *rid, doc_ref *ref, const uint8_t **doc,
                             uint32_t *size, tansu_error *error);

/* ---- Versions that older snapshots see ---- */

/*
 * The versions of documents that older snapshots see, kept with them
 * while a compaction removes segments that are newer than they are.
 *
 * A snapshot reaches its version of a document by the links from the newest record back, and those
 * lead through segments that were written after it. So that it does not keep these segments, each
 * document in them is looked up once, and its version noted (snapshot.kept). Then the snapshot
 * needs only the segments that have a commit that it sees.
 */

/* With more snapshots, or more versions of one, the segments stay as long as the snapshots. */
#define KEPT_SNAPSHOTS 64
#define KEPT_VERSIONS (1u << 20)

typedef struct kept_versions {
    database *db;
    struct {
        snapshot *snapshot;
        const collection_state *last; /* found last */
    } held[KEPT_SNAPSHOTS];
    uint32_t count;
    bool incomplete;
} kept_versions;

/* kept_begin -- holds the snapshots that see no commit from `first` on. */
void kept_begin(kept_versions *k, database *db, uint64_t first);

/* kept_note -- keeps the versions of the document that a record of the removed segments is of. */
void kept_note(kept_versions *k, const record_header *record);

/* kept_birth -- the epoch from which on snapshots need the removed segments; 0: all do. */
uint64_t kept_birth(const kept_versions *k);

/* kept_end -- releases the snapshots. */
void kept_end(kept_versions *k);

#endif
