/*
 * query/exec/text_scan.h -- running a query with $text: the matches of the search in record id
 * order, their scores, and the order by scores.
 */
#ifndef TANSU_QUERY_EXEC_TEXT_SCAN_H
#define TANSU_QUERY_EXEC_TEXT_SCAN_H

#include "query/exec/run.h"
#include "query/plan/text_access.h"

/* Matches that are found before their documents are read. */
#define TEXT_BATCH 64

/* What a run with $text has besides others. */
typedef struct text_scan {
    text_access access;
    tansu_error error; /* of testing a document */
    double score;      /* of the current result */
    uint64_t batch[TEXT_BATCH];
    double scores[TEXT_BATCH];
    uint32_t batch_size; /* of the next batch: grows, so that a small limit reads little */
    uint32_t count, next;
    bool over;      /* the search is at its end */
    rid_list among; /* record ids of the other index of the plan, sorted */
    size_t member;  /* those before are less than the last match's */
    bool restricted;
    bool ranks; /* results are in `top` or `sorter`, with their scores */
    bool ranked;
    key_sorter *sorter; /* NULL: they are in `top` */
    tansu_buffer key, collated[2];
    struct text_result *top;
    uint32_t top_count, top_next;
} text_scan;

/* text_scan_begin -- before planning: begins the search. Errors: those of text_access_begin(). */
tansu_status text_scan_begin(query_run *run, tansu_error *error);

/* text_scan_planned -- once the plan is chosen. */
void text_scan_planned(query_run *run);

/* text_scan_end -- frees all. text_scan_close -- ends the search: once all results are found, the
 * tree may change. */
void text_scan_end(text_scan *t);
void text_scan_close(text_scan *t);

/* text_scan_next -- the next match of a PLAN_TEXT that passes the residual filter, as the matches of
 * other plans. Errors: those of text_search_next(), and of reading documents. */
tansu_status text_scan_next(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                            tansu_error *error);

/* text_scan_holds -- whether a document that another plan came upon matches. Errors go to the match
 * context. */
bool text_scan_holds(query_run *run, const uint8_t *doc, size_t size);

/* text_scan_rank -- finds and orders all results, or the first ones that are wanted. Errors: those
 * of text_scan_next(), and of sorting. */
tansu_status text_scan_rank(query_run *run, tansu_error *error);

/* text_scan_next_ranked -- the next of them. TANSU_DONE at the end. */
tansu_status text_scan_next_ranked(query_run *run, hit *h, tansu_error *error);

/* text_scan_explain -- appends "search": the index, the terms, and the bound of matches. */
void text_scan_explain(const text_scan *t, writer *w);

/* text_score_key -- appends the sort key of a score, the highest first. False when memory is
 * exhausted. */
bool text_score_key(tansu_buffer *key, double score);

#endif
