/*
 * check/problem_list.c -- the problems that verification and repair find.
 */
#include "check/problem_list.h"

#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>

/* append -- one problem as a document of the list. */
static void append(problem_list *p, const problem_location *where, const char *message) {
    writer w;
    size_t document = report_list_begin(&p->list, &w);
    if (where->file != NULL)
        writer_string(&w, "file", where->file);
    if (where->offset >= 0)
        writer_int64(&w, "offset", where->offset);
    if (where->size >= 0)
        writer_int64(&w, "size", where->size);
    if (where->collection != NULL)
        writer_string(&w, "collection", where->collection);
    if (where->index != NULL)
        writer_string(&w, "index", where->index);
    writer_string(&w, "message", message);
    report_list_end(&p->list, &w, document);
}

void problem_list_add(problem_list *p, const problem_location *where, const char *format, ...) {
    char message[sizeof p->first.message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (p->count == 0)
        error_at(&p->first, TANSU_E_CORRUPT,
                 where->file != NULL    ? where->file
                 : where->index != NULL ? where->index
                                        : where->collection,
                 where->offset, "%s", message);
    if (p->count < PROBLEMS_LISTED)
        append(p, where, message);
    p->count++;
}

void problem_list_append(problem_list *p, writer *w) {
    report_list_append(&p->list, w, "problems");
    writer_int64(w, "problemCount", (int64_t)p->count);
}

void problem_list_free(problem_list *p) {
    report_list_free(&p->list);
}

/* ---- An array of documents in a report ---- */

/* list_writer -- a writer that appends to the list, which has begun. */
static writer list_writer(report_list *l) {
    writer w = {.out = &l->bytes, .failed = l->failed};
    if (l->bytes.size == 0)
        writer_begin(&w);
    return w;
}

size_t report_list_begin(report_list *l, writer *w) {
    *w = list_writer(l);
    return writer_open_index(w, l->count++, DOC_DOCUMENT);
}

void report_list_end(report_list *l, writer *w, size_t document) {
    writer_end(w, document);
    l->failed = w->failed;
}

void report_list_append(report_list *l, writer *w, const char *key) {
    writer list = list_writer(l);
    writer_end(&list, 0);
    l->failed = list.failed;
    w->failed = w->failed || l->failed;
    doc_value value = {.type = DOC_ARRAY, .data = l->bytes.data, .size = l->bytes.size};
    if (!w->failed)
        writer_value(w, key, &value);
}

void report_list_free(report_list *l) {
    tansu_buffer_free(&l->bytes);
    *l = (report_list){.count = 0};
}
