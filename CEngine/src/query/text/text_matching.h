/*
 * query/text/text_matching.h -- the terms of an index that begin with a prefix, or are near a word.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_MATCHING_H
#define TANSU_QUERY_TEXT_TEXT_MATCHING_H

#include "index/postings.h"
#include "query/text/text_query.h"
#include "query/util/deadline.h"

/* The terms of a leaf, one after the other. */
typedef struct text_matching {
    const text_reader *reader;
    const text_node *node;
    const deadline *deadline;
    uint32_t looked; /* at so many terms */
    text_terms terms;
    tansu_buffer begin; /* of all of them */
    /* FUZZY. */
    uint32_t *word; /* its characters */
    size_t word_size, word_capacity;
    struct edit_step *steps; /* of the term before, as far as it was read */
    size_t step_count, step_capacity;
    uint8_t *rows; /* of the table of edit distances: one before the first step, one after each */
    size_t row_capacity;
    tansu_buffer skipped; /* to where */
} text_matching;

/* text_matching_begin, text_matching_next -- to the first term of a PREFIX or FUZZY leaf, and to the next
 * one, in the order of their bytes: m->terms.term, NULL at the end. text_matching_end() is due
 * whatever the result. Errors: MEMORY, IO, CORRUPT, TIMEOUT, CANCELLED. */
tansu_status text_matching_begin(text_matching *m, const text_reader *reader, const text_node *node,
                                 const deadline *deadline, tansu_error *error);
tansu_status text_matching_next(text_matching *m, tansu_error *error);
void text_matching_end(text_matching *m);

#endif
