/*
 * check/report_list.h -- an array of documents in the report of a verification or a repair, which
 * is filled in while they run.
 */
#ifndef TANSU_CHECK_REPORT_LIST_H
#define TANSU_CHECK_REPORT_LIST_H

#include "bson/writer.h"

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

#endif
