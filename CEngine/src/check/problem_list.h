/*
 * check/problem_list.h -- the problems that verification and repair find, as a part of their
 * reports.
 */
#ifndef TANSU_CHECK_PROBLEM_LIST_H
#define TANSU_CHECK_PROBLEM_LIST_H

#include "bson/writer.h"

/* ---- Report list ---- */

/*
 * An array of documents in the report of a verification or a repair, which
 * is filled in while they run.
 */

/* Zeroed, it is an empty list. */
typedef struct report_list {
    tansu_buffer bytes;
    uint32_t count;
    bool failed; /* memory was exhausted */
} report_list;

/* report_list_begin -- begins the next document, whose elements are then appended to *w. Returns
 * its position, for report_list_end(). */
size_t report_list_begin(report_list *l, writer *w);
void report_list_end(report_list *l, writer *w, size_t document);

/* report_list_append -- ends the list and appends it to a document. */
void report_list_append(report_list *l, writer *w, const char *key);

void report_list_free(report_list *l);

/* Problems that are listed one by one; all are counted. */
#define PROBLEMS_LISTED 1000

/* Zeroed, it is an empty list. */
typedef struct problem_list {
    report_list list;
    uint64_t count;
    tansu_error first;
} problem_list;

/* Where a problem is. Texts may be NULL and numbers -1; the report then lacks them. */
typedef struct problem_location {
    const char *file;
    int64_t offset;
    int64_t size;
    const char *collection;
    const char *index;
} problem_location;

/* problem_list_add -- adds a problem; the first one is also kept as an error of CORRUPT. */
void problem_list_add(problem_list *p, const problem_location *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* problem_list_append -- appends "problems", an array, and "problemCount" to a report. */
void problem_list_append(problem_list *p, writer *w);

void problem_list_free(problem_list *p);

#endif
