/*
 * query/pipeline/group_query.c -- running groups of queries and distinct values.
 *
 * A pipeline of one stage makes the groups. They are put in the order of $orderby, and then of their
 * keys, by what $sort sorts with, and written as members of one document.
 */
#include "query/pipeline/group_query_internal.h"

#include "query/exec/sort.h"
#include "query/pipeline/document_sorter.h"
#include "util/clock.h"

#include <stdlib.h>

/* The limit of a result; above it the error is TOO_LARGE. */
#define RESULT_MAX ((size_t)256 * 1024 * 1024)

/* ---- Rows ---- */

/* put_values -- the values of "by" as members of a row, and their keys behind the order of
 * $orderby. */
static bool put_values(group_query *q, const doc_value *id, writer *w, tansu_buffer *key) {
    evaluation *ev = &q->pipeline->ev;
    doc_iter iter;
    if (q->key.count == 1) {
        writer_value(w, q->key.names[0], id);
        return q->ordered || collation_key(ev->collation, &ev->collated[0], key, id, false);
    }
    bool valid = q->key.count != 0 && doc_iter_value(&iter, id);
    while (valid && doc_iter_next(&iter)) {
        writer_element(w, iter.key, iter.key_size, &iter.value);
        if (!collation_key(ev->collation, &ev->collated[0], key, &iter.value, false))
            return false;
    }
    return true;
}

/* make_row -- a group as it is shown, in q->row, and the key by which it is sorted. */
static tansu_status make_row(group_query *q, const doc_value *group) {
    evaluation *ev = &q->pipeline->ev;
    doc_iter iter;
    writer w = {.out = &q->row};
    q->row.size = q->sort_key.size = q->group_key.size = 0;
    size_t start = writer_begin(&w);
    doc_iter_value(&iter, group);
    doc_iter_next(&iter);
    bool made = put_values(q, &iter.value, &w, &q->group_key);
    while (doc_iter_next(&iter))
        writer_element(&w, iter.key, iter.key_size, &iter.value);
    writer_end(&w, start);
    made = made && !w.failed &&
           (q->order_count == 0 || sort_key(q->order, q->order_count, ev->collation, ev->collated,
                                            q->row.data, q->row.size, &q->sort_key)) &&
           buffer_append(&q->sort_key, q->group_key.data, q->group_key.size);
    return made ? TANSU_OK : error_memory(q->pipeline->error);
}

/* ---- The result ---- */

/* result_too_large -- the error for a result over RESULT_MAX. */
static tansu_status result_too_large(const group_query *q) {
    return error_set(
        q->pipeline->error, TANSU_E_TOO_LARGE, q->pipeline->stages[0].kind->name,
        "Result exceeds %zu MiB; narrow the query, or read it in parts with \"$skip\" and \"$max\"",
        RESULT_MAX / (1024 * 1024));
}

/* put_row -- a row as an element of the result; of distinct values their value. */
static tansu_status put_row(const group_query *q, writer *w, uint32_t number,
                            const doc_value *row) {
    doc_iter iter;
    if (q->values && doc_iter_value(&iter, row) && doc_iter_next(&iter))
        writer_index_value(w, number, &iter.value);
    else
        writer_index_value(w, number, row);
    if (w->failed)
        return error_memory(q->pipeline->error);
    return w->out->size > RESULT_MAX ? result_too_large(q) : TANSU_OK;
}

/* Whence write_rows() has the rows, in their order. */
typedef tansu_status (*row_source)(group_query *q, document_sorter *sorter, doc_value *row);

/* next_made -- the next group as it is made. */
static tansu_status next_made(group_query *q, document_sorter *sorter, doc_value *row) {
    stage *s = &q->pipeline->stages[0];
    (void)sorter;
    tansu_status status = grouping_next(s, s->state, row);
    if (status != TANSU_OK)
        return status;
    q->groups++;
    status = make_row(q, row);
    *row = (doc_value){q->row.data, (uint32_t)q->row.size, DOC_DOCUMENT};
    return status;
}

/* next_sorted -- the next group in the order of the sorter. */
static tansu_status next_sorted(group_query *q, document_sorter *sorter, doc_value *row) {
    (void)q;
    return document_sorter_next(sorter, row);
}

/* sort_groups -- makes all groups and sorts them. */
static tansu_status sort_groups(group_query *q, document_sorter *sorter) {
    doc_value row;
    tansu_status status;
    while ((status = next_made(q, NULL, &row)) == TANSU_OK) {
        status = document_sorter_add(sorter, &q->sort_key, &row);
        if (status != TANSU_OK)
            return status;
    }
    grouping_end(q->pipeline->stages[0].state);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* write_rows -- those that remain after $skip and $max. */
static tansu_status write_rows(group_query *q, row_source next, document_sorter *sorter,
                               writer *w) {
    size_t array = writer_open(w, q->values ? "values" : "groups", DOC_ARRAY);
    uint32_t number = 0;
    tansu_status status = TANSU_OK;
    doc_value row;
    for (uint64_t at = 0; status == TANSU_OK && number < q->max; at++) {
        status = next(q, sorter, &row);
        if (status == TANSU_OK && at >= q->skip)
            status = put_row(q, w, number++, &row);
    }
    writer_end(w, array);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* write_explanation -- where the groups come from, and the plan. */
static tansu_status write_explanation(group_query *q, clock_time began, writer *w) {
    pipeline *p = q->pipeline;
    const stage *source = p->stages[0].source;
    tansu_buffer plan = TANSU_BUFFER_INIT;
    doc_iter iter;
    tansu_status status =
        source_explain(p->stages[0].source, (double)(clock_now() - began) / 1e6, &plan);
    size_t inner = writer_open(w, "aggregate", DOC_DOCUMENT);
    writer_string(w, "from", source_query(source)->index ? "index" : "documents");
    writer_int64(w, q->values ? "values" : "groups", (int64_t)q->groups);
    if (p->spilled != 0)
        writer_int64(w, "spilledBytes", (int64_t)p->spilled);
    writer_end(w, inner);
    bool valid = status == TANSU_OK && doc_iter_init(&iter, plan.data, plan.size);
    while (valid && doc_iter_next(&iter))
        writer_value(w, iter.key, &iter.value);
    tansu_buffer_free(&plan);
    return status;
}

/* write_result -- the groups or values, or with $explain the plan. */
static tansu_status write_result(group_query *q, clock_time began, writer *w) {
    pipeline *p = q->pipeline;
    q->ordered = source_query(p->stages[0].source)->ordered && q->order_count == 0 && !p->explain;
    if (q->ordered)
        return write_rows(q, next_made, NULL, w);
    uint64_t keep = q->max > UINT64_MAX - q->skip ? UINT64_MAX : q->max + q->skip;
    size_t memory = p->no_disk ? pipeline_memory(p) : pipeline_memory(p) / 4;
    document_sorter *sorter = document_sorter_new(&p->stages[0], keep, memory);
    tansu_status status = sorter ? sort_groups(q, sorter) : error_memory(p->error);
    if (status == TANSU_OK && !p->explain)
        status = write_rows(q, next_sorted, sorter, w);
    document_sorter_free(sorter);
    return status == TANSU_OK && p->explain ? write_explanation(q, began, w) : status;
}

tansu_status group_query_run(group_query *q, const snapshot *snapshot, const read_context *rctx,
                             tansu_buffer *result, tansu_error *error) {
    tansu_error own;
    pipeline *p = q->pipeline;
    clock_time began = clock_now();
    tansu_status status = pipeline_start(p, snapshot, rctx, error);
    if (status != TANSU_OK)
        return status;
    p->error = p->ev.error = error ? error : &own;
    writer w = {.out = result};
    size_t start = writer_begin(&w);
    status = write_result(q, began, &w);
    writer_end(&w, start);
    if (status == TANSU_OK && w.failed)
        status = error_memory(p->error);
    return status == TANSU_OK ? deadline_check(&p->deadline, p->error) : status;
}

void group_query_free(group_query *q) {
    if (!q)
        return;
    pipeline_free(q->pipeline);
    for (uint32_t i = 0; i < MAX_GROUP_PATHS; i++)
        date_trunc_free(q->truncs[i]);
    tansu_buffer_free(&q->row);
    tansu_buffer_free(&q->sort_key);
    tansu_buffer_free(&q->group_key);
    free(q);
}
