/*
 * check/report_list.c -- an array of documents in a report.
 */
#include "check/report_list.h"

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
