/*
 * query/run.h -- one run of a query: source → filter → sort → window → projection. Part query.
 */
#ifndef TANSU_QUERY_RUN_H
#define TANSU_QUERY_RUN_H

#include "query/interrupt.h"
#include "query/merge.h"
#include "query/sort.h"

struct query_run {
    const query *q;
    view view;
    const collection_state *collection;
    enum plan_purpose purpose;
    arena memory;
    planner planner;
    const plan *plan;

    view_scan scan;
    docno_list docnos; /* the docnos that index ranges gave, ascending */
    size_t next_docno;
    walk walk;
    merge merge;
    entry_bytes entry;   /* of the present docno, where entries are kept */
    tansu_buffer values; /* read back from an entry */

    match_context match;
    bool fixed; /* the answer is in `sorter`, or in `hits` */
    sorter *sorter;
    hit last_hit;     /* that the sorter gave */
    bool put_back;    /* it is the next one */
    uint64_t spilled; /* bytes in temporary files */
    hit *hits;
    size_t hit_count;
    size_t next_hit;
    uint64_t to_skip;
    uint64_t left; /* results still to give */

    const version *version; /* with the collections that $do names */
    tansu_buffer joined;    /* a document with others in place of ids */
    tansu_buffer answer;    /* of a pending view with joins: all results, one behind the other */
    size_t next_answer;
    bool answered;

    tansu_buffer output; /* a projected document, or the one document of a count or a plan */
    bool one_document;
    bool done;

    watch watch;    /* what stops it */
    bool watched;   /* whether there is anything that may */
    uint32_t steps; /* since the start, to ask now and then only */

    uint64_t keys_examined;
    uint64_t documents_examined;
    uint64_t returned;
};

/* run_begin -- plans, and opens the source. *run: to be ended with query_end(), also on an
 * error. */
tansu_status run_begin(const query *q, const view *v, const collection_state *collection,
                       enum plan_purpose purpose, query_run **run, tansu_error *error);

/* run_park -- closes what is read of indexes: the answer has been made. */
void run_park(query_run *run);

/* run_hit -- the next document of the answer, within $skip and $max. Where the purpose needs no
 * documents, h->ref may be 0 and *doc NULL. With PLAN_PROJECTED *doc is NULL when run->entry has all
 * that $fields shows. TANSU_DONE at the end. */
tansu_status run_hit(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                     tansu_error *error);

/* run_count -- how many run_hit() would give, from the index alone where it can tell. */
tansu_status run_count(query_run *run, uint64_t *count, tansu_error *error);

/* run_watch -- starts the clock of $maxTimeMS, or lets it run on from compiling. */
static inline void run_watch(query_run *run) {
    run->watch = watch_begin(run->view.interrupt, run->q->hints.max_milliseconds);
    watch_shorten(&run->watch, run->q->spent);
    run->watched = watch_wanted(&run->watch);
}

/* run_check -- errors: TIMEOUT, CANCELLED. */
static inline tansu_status run_check(const query_run *run, tansu_error *error) {
    return watch_check(&run->watch, error);
}

/* run_step -- the same at every 64th call; to be called for each document or key looked at. */
static inline tansu_status run_step(query_run *run, tansu_error *error) {
    return run->watched && run->steps++ % 64 == 0 ? run_check(run, error) : TANSU_OK;
}

/* explain_write -- appends the plan document of a run that is over. */
tansu_status explain_write(const query_run *run, double milliseconds, tansu_buffer *result,
                           tansu_error *error);

#endif
