/*
 * query/exec/run.h -- one run of a query: scan, residual filter, sort, window, joins, projection.
 */
#ifndef TANSU_QUERY_EXEC_RUN_H
#define TANSU_QUERY_EXEC_RUN_H

#include "bson/writer.h"
#include "query/exec/cursor.h"
#include "query/exec/rid_list.h"
#include "query/exec/sort.h"
#include "query/parse/join_spec.h"
#include "query/util/deadline.h"
#include "store/read_context.h"

/* ---- Index scans ---- */

/*
 * Index scans in key order, forward or backward.
 *
 * Documents that are equal in $orderby come in record id order, whatever the direction and whatever
 * further paths the index has: they form a group, whose record ids are collected and sorted.
 */

typedef struct index_scan {
    const query_run *run; /* for the read context and the deadline */
    const access_path *access;
    const key_range *ranges; /* of the access path: all, or some adjacent ones */
    uint32_t range_count;
    bool backward;
    uint32_t group_paths; /* 0: entries in their order, without groups */

    uint32_t range;      /* number of the current range; range_count: the scan is at its end */
    tansu_buffer resume; /* where the rest of the current range begins (backward: ends) */
    bool resume_set;     /* false: all of the current range is left */
    tree_cursor cursor;
    bool on_entry; /* the cursor is on the next entry of the current range */

    rid_list batch;
    size_t next;
    size_t batch_size; /* of the next batch: grows, so that a small limit reads little */
    tansu_buffer key;
    tansu_buffer group;     /* the common prefix of the entries of the group */
    tansu_buffer group_end; /* the first key after the group */
    bool group_ends;
    uint64_t keys_examined;
} index_scan;

/* What to read of an index, and how. */
typedef struct index_scan_options {
    const access_path *access;
    const key_range *ranges;
    uint32_t range_count;
    uint32_t group_paths; /* leading paths that determine the order; 0: none */
    bool backward;
    bool keep_entries; /* besides the record ids */
} index_scan_options;

/* index_scan_init -- positions the scan before the first entry. The run outlives the scan. */
void index_scan_init(index_scan *scan, const query_run *run, const index_scan_options *options);

/* index_scan_free -- a zero-initialised scan is allowed. */
void index_scan_free(index_scan *scan);

/* index_scan_next -- the next record id. TANSU_DONE at the end. Errors: MEMORY, IO, CORRUPT, and
 * those of run_check(). */
tansu_status index_scan_next(index_scan *scan, uint64_t *rid, tansu_error *error);

/* index_scan_entry -- the entry of the last record id, if entries are kept. */
static inline entry_bytes index_scan_entry(const index_scan *scan) {
    return rid_list_entry(&scan->batch, scan->next - 1);
}

/* index_scan_key -- the keys of the paths that determine the order, of the last record id; entries
 * are kept. */
static inline entry_bytes index_scan_key(const index_scan *scan) {
    if (scan->group_paths != 0)
        return (entry_bytes){scan->group.data, scan->group.size};
    entry_bytes entry = index_scan_entry(scan);
    return (entry_bytes){entry.data, entry.size - RID_SUFFIX_SIZE};
}

/* ---- A k-way merge of several scans of one index ---- */

/*
 * Each scan fixes the leading paths to one value, and the merge is in the order of the paths that
 * follow: {a: {$in: […]}} in the order of b, from an index on a and b.
 */

typedef struct merge_stream {
    index_scan index_scan;
    size_t fixed; /* size of the keys that the stream fixes */
    uint64_t rid; /* of its next document */
} merge_stream;

/* Zero-initialised, it is empty. */
typedef struct merge_scan {
    merge_stream *streams;
    merge_stream **heap; /* the stream with the next document is first */
    uint32_t stream_count;
    uint32_t count; /* streams in the heap */
    bool backward;
    bool started;
    uint64_t keys_examined;
} merge_scan;

/* merge_scan_init -- divides the ranges equally among the streams, each of which fixes the first
 * `fixed_paths` paths. Errors: MEMORY, CORRUPT. */
tansu_status merge_scan_init(merge_scan *m, const query_run *run, const index_scan_options *options,
                             uint32_t streams, uint32_t fixed_paths, tansu_error *error);

/* merge_scan_free -- a zero-initialised merge is allowed. */
void merge_scan_free(merge_scan *m);

/* merge_scan_next -- as index_scan_next(). */
tansu_status merge_scan_next(merge_scan *m, uint64_t *rid, tansu_error *error);

/* merge_scan_entry -- as index_scan_entry(). */
static inline entry_bytes merge_scan_entry(const merge_scan *m) {
    return index_scan_entry(&m->heap[0]->index_scan);
}

/* ---- Runs ---- */

/* Smaller than what malloc keeps in lists of the thread (util/arena.c): what few runs need is
 * elsewhere. */
struct query_run {
    const query *q;
    read_context rctx;
    const collection_state *collection;
    enum plan_purpose purpose;
    arena memory;
    planner planner;
    const plan *plan;

    table_scan scan;
    rid_list rids; /* of the index ranges, sorted */
    size_t next_rid;
    index_scan *index_scan; /* NULL: the plan has none, or several, or no entry is read */
    merge_scan merge;
    entry_bytes entry;   /* of the current record id, where entries are kept */
    tansu_buffer values; /* restored from an entry */

    struct text_scan *text; /* of a query with $text (text_scan.h); else NULL */
    matcher *matcher;       /* NULL: the plan is exact */
    match_context match;
    bool materialized; /* all results are in `sorter` or `hits`, or `text` ranks them */
    sorter *sorter;
    hit last_hit;     /* of the sorter */
    bool unread;      /* `last_hit` is returned again */
    uint64_t spilled; /* bytes in temporary files */
    hit_list hits;
    uint64_t to_skip;
    uint64_t left; /* results still to return */

    const snapshot *snapshot; /* with the collections that $do names */
    tansu_buffer joined;      /* a document with its ids replaced */
    tansu_buffer results;     /* in a write transaction with joins: all results */
    size_t next_result;
    bool joined_all; /* `results` is complete */

    tansu_buffer output; /* a projected document, or the one document of $onlycount or $explain */
    bool one_document;
    bool done;

    deadline deadline;
    bool cancellable; /* the deadline is active */
    uint32_t steps;   /* left until the next check of the deadline */

    uint64_t keys_examined;
    uint64_t documents_examined;
    uint64_t returned;
};

/* run_begin -- plans and opens the scan. *run must be ended with query_end(), also after an
 * error. */
tansu_status run_begin(const query *q, const read_context *rctx, const collection_state *collection,
                       enum plan_purpose purpose, query_run **run, tansu_error *error);

/* run_close_indexes -- closes index scans, once the results are materialized. */
void run_close_indexes(query_run *run);

/* run_hit -- the next document of the results, within $skip and $max. Where the purpose needs no
 * documents, h->ref may be 0 and *doc NULL. With PLAN_PROJECTED *doc is NULL when run->entry covers
 * $fields. TANSU_DONE at the end. */
tansu_status run_hit(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                     tansu_error *error);

/* run_needs_documents -- whether documents must be read: to return them, or to sort them. */
static inline bool run_needs_documents(const query_run *run) {
    return plan_returns_documents(run->purpose) || run->plan->sort == PLAN_SORT_MEMORY;
}

/* run_make_matcher -- for a plan with a residual filter. Errors: MEMORY, TOO_LARGE. */
tansu_status run_make_matcher(query_run *run, tansu_error *error);

/* run_fetch -- reads the document of h->rid. Errors: IO, CORRUPT, MEMORY, TIMEOUT, CANCELLED. */
tansu_status run_fetch(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                       tansu_error *error);

/* run_missing -- the error where an index has a document that is not there. */
tansu_status run_missing(const query_run *run, tansu_error *error);

/* run_matches -- the residual filter. Also true when matching fails, so that the search ends there;
 * the context has the error. */
static inline bool run_matches(query_run *run, const uint8_t *doc, size_t size) {
    return matcher_run(run->matcher, &run->match, doc, size) || run->match.status != TANSU_OK;
}

/* run_score -- that of the last result, of a query that needs scores. */
double run_score(const query_run *run);

/* run_keys_examined -- how many keys the run has examined. */
static inline uint64_t run_keys_examined(const query_run *run) {
    return run->keys_examined + (run->index_scan ? run->index_scan->keys_examined : 0);
}

/* run_count -- the number of documents that run_hit() would return; from the index alone where that
 * is exact. */
tansu_status run_count(query_run *run, uint64_t *count, tansu_error *error);

/* run_begin_deadline -- starts the clock of $maxTimeMS, less the time that compiling took. */
static inline void run_begin_deadline(query_run *run) {
    run->deadline = deadline_begin(run->rctx.interrupt, run->q->hints.max_milliseconds);
    deadline_shorten(&run->deadline, run->q->spent);
    run->cancellable = deadline_active(&run->deadline);
}

/* run_check -- errors: TIMEOUT, CANCELLED. */
static inline tansu_status run_check(const query_run *run, tansu_error *error) {
    return deadline_check(&run->deadline, error);
}

#define RUN_STEPS 64   /* between two checks of the deadline */
#define RUN_BYTES 1024 /* of a document that count as one step */

/* run_work -- the same after every RUN_STEPS steps. */
static inline tansu_status run_work(query_run *run, uint32_t steps, tansu_error *error) {
    if (!run->cancellable)
        return TANSU_OK;
    if (run->steps > steps) {
        run->steps -= steps;
        return TANSU_OK;
    }
    run->steps = RUN_STEPS;
    return run_check(run, error);
}

/* run_step -- to be called for each document or key examined. */
static inline tansu_status run_step(query_run *run, tansu_error *error) {
    return run_work(run, 1, error);
}

/* run_read -- to be called for each document that was read. */
static inline tansu_status run_read(query_run *run, uint32_t size, tansu_error *error) {
    return run_work(run, size / RUN_BYTES, error);
}

/* explain_subqueries -- appends "subqueries": [{"path": ..., "collection": ..., "field": ...,
 * "values": n, and the members of the plan document}, ...]; nothing without subqueries. */
void explain_subqueries(const query *q, writer *w);

/* explain_write -- appends the plan document of a completed run. */
tansu_status explain_write(const query_run *run, double milliseconds, tansu_buffer *result,
                           tansu_error *error);

/* ---- Joins ---- */

/*
 * $do: replaces ids in results by documents of other collections, and slices
 * arrays.
 *
 * A join is applied after the match, $orderby and the window, and before $fields, so it changes the
 * contents of the results only.
 */

/* join_apply -- replaces `out` by the document with its ids replaced. `snapshot` has the other
 * collections. Errors: TOO_LARGE (the result exceeds the limits of a document), IO, CORRUPT,
 * MEMORY, and those of deadline_check(). */
tansu_status join_apply(const key_set *joins, const snapshot *snapshot, const read_context *rctx,
                        const deadline *deadline, const tansu_document *document, tansu_buffer *out,
                        tansu_error *error);

/* join_explain -- appends "joins": [{"path": ..., "collection": ...} or {"path": ..., "skip": ...,
 * "count": ...}, ...]; nothing without $do. */
void join_explain(const key_set *joins, writer *w);

#endif
