/*
 * catalog/view.h -- reading documents as of a version, or as of a write transaction's own state. Part
 * catalog; all that the query part sees of storage, together with catalog/version.h and the trees.
 */
#ifndef TANSU_CATALOG_VIEW_H
#define TANSU_CATALOG_VIEW_H

#include "base/interrupt.h"
#include "catalog/version.h"

struct log;
struct pending;

/* A moment to read at. Plain data: copy it freely; whoever made it keeps the version alive. */
typedef struct view {
    struct log *log;
    tree_store *trees;
    uint64_t sequence;             /* records up to this commit are seen */
    const struct pending *pending; /* a write transaction's own changes, or NULL */
    const interrupt *interrupt;    /* what stops a long read, or NULL; outlives the view */
    const struct fs *calls;        /* for temporary files; NULL: a read that makes none */
    const char *folder;            /* where they go; NULL in a memory store */
} view;

/* A document's stored version: where it lies. Stays valid as long as the view (also when a write
 * transaction goes on); never 0. */
typedef uint64_t doc_ref;

/* view_find -- the reference of a docno's document as of the view. TANSU_DONE when there is none.
 * Errors: IO, CORRUPT, MEMORY. */
tansu_status view_find(const view *v, const collection_state *collection, uint64_t docno,
                       doc_ref *ref, tansu_error *error);

/* view_document -- the BSON behind a reference, in place (8-byte aligned). Always succeeds for
 * references of the same view; what can't be read any more is an empty document, and log_faults() tells. The pointer is valid until the view ends or, in a write transaction,
 * until its next write. */
const uint8_t *view_document(const view *v, doc_ref ref, uint32_t *size);

/* view_prefetch -- asks memory early for the documents that come after `docnos[next]`, which is about to
 * be read: call it for each `next` from 0 on. */
void view_prefetch(const view *v, const collection_state *collection, const uint64_t *docnos,
                   size_t count, size_t next);

/* A walk over all documents of a collection in docno order, with prefetch. */
typedef struct view_scan {
    const view *view;
    const collection_state *collection;
    uint64_t docno; /* the next to look at */
    uint64_t chunk; /* number of the chunk that `words` is, or UINT64_MAX */
    const uint64_t *words;
} view_scan;

void view_scan_init(view_scan *scan, const view *v, const collection_state *collection);

/* view_scan_next -- the next document: its docno, reference and bytes. TANSU_DONE at the end. */
tansu_status view_scan_next(view_scan *scan, uint64_t *docno, doc_ref *ref, const uint8_t **doc,
                            uint32_t *size, tansu_error *error);

#endif
