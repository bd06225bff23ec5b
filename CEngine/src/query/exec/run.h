/*
 * query/exec/run.h -- one run of a query: scan, residual filter, sort, window, projection.
 */
#ifndef TANSU_QUERY_EXEC_RUN_H
#define TANSU_QUERY_EXEC_RUN_H

#include "bson/writer.h"
#include "query/exec/cursor.h"
#include "query/exec/index_scan.h"
#include "query/exec/sort.h"

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

    matcher *matcher; /* NULL: the plan is exact */
    match_context match;
    bool materialized; /* all results are in `sorter` or `hits` */
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

#endif
