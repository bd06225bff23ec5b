/*
 * query/pipeline/explain.c -- how the run of a pipeline went: for each stage the documents that it
 * returned, its time, and the memory of those that keep documents.
 */
#include "query/pipeline/pipeline_internal.h"

#include "util/clock.h"

tansu_status stage_measure(stage *s, doc_value *doc) {
    clock_time began = clock_now();
    tansu_status status = s->kind->next(s, doc);
    s->nanoseconds += clock_now() - began;
    return status;
}

/* put_stage -- one stage. The time is its own, without those before it. */
static void put_stage(const stage *s, uint64_t before, writer *w) {
    writer_string(w, "stage", s->kind->name);
    if (s->taken) {
        /* The query that reads the collection does what it does. */
        writer_string(w, "by", "query");
        return;
    }
    if (s->indexed)
        writer_string(w, "from", "index");
    writer_int64(w, "returned", (int64_t)s->returned);
    writer_double(w, "milliseconds",
                  (double)(s->nanoseconds > before ? s->nanoseconds - before : 0) / 1e6);
    if (s->memory != 0)
        writer_int64(w, "memory", (int64_t)s->memory);
}

/* put_stages -- the array of all stages. */
static void put_stages(const pipeline *p, writer *w) {
    size_t list = writer_open(w, "stages", DOC_ARRAY);
    for (uint32_t i = 0; i < p->count; i++) {
        const stage *s = &p->stages[i];
        size_t one = writer_open_index(w, i, DOC_DOCUMENT);
        put_stage(s, s->source ? s->source->nanoseconds : 0, w);
        writer_end(w, one);
    }
    writer_end(w, list);
}

tansu_status pipeline_explain(pipeline *p, tansu_buffer *out, doc_value *doc) {
    writer w = {.out = out};
    tansu_buffer plan = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    clock_time began = clock_now();
    if (out->size != 0)
        return TANSU_DONE;
    while ((status = pipeline_next_inner(p, doc)) == TANSU_OK)
        ;
    if (status != TANSU_DONE)
        return status;
    size_t start = writer_begin(&w);
    put_stages(p, &w);
    stage *source = &p->stages[p->count];
    status = source->kind && p->collection
                 ? source_explain(source, (double)source->nanoseconds / 1e6, &plan)
                 : TANSU_OK;
    if (plan.size != 0)
        writer_document(&w, "plan", plan.data, plan.size);
    tansu_buffer_free(&plan);
    writer_int64(&w, "spilledBytes", (int64_t)p->spilled);
    writer_double(&w, "milliseconds", (double)(clock_now() - began) / 1e6);
    writer_end(&w, start);
    if (status == TANSU_OK && w.failed)
        status = error_memory(p->error);
    *doc = (doc_value){out->data, (uint32_t)out->size, DOC_DOCUMENT};
    return status;
}
