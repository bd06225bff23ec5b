/*
 * query/pipeline/stage_facet.c -- $facet and $unionWith.
 */
#include "query/pipeline/document_list.h"

#include <string.h>

/* ---- $facet: several pipelines over the same documents ---- */

typedef struct facet_part {
    doc_value name; /* its bytes, without a NUL */
    pipeline *pipeline;
} facet_part;

typedef struct facet_state {
    facet_part *parts;
    uint32_t count;
    bool done;
    document_list documents;
    document_reader reader;
} facet_state;

/* feed -- the next of the documents, for a part. */
static tansu_status feed(void *context, doc_value *doc) {
    facet_state *state = context;
    return document_list_next(&state->documents, &state->reader, doc);
}

static tansu_status facet_compile(stage *s, const doc_value *spec) {
    facet_state *state = s->state = stage_alloc(s, sizeof *state);
    doc_iter iter;
    uint32_t count = 0;
    if (!state)
        return TANSU_E_MEMORY;
    if (spec->type != DOC_DOCUMENT || spec->size <= 5)
        return stage_error(s, NULL, "Takes a document of pipelines, at least one");
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);)
        count++;
    state->parts = stage_alloc(s, count * sizeof *state->parts);
    if (!state->parts)
        return TANSU_E_MEMORY;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        facet_part *part = &state->parts[state->count];
        if (iter.key_size == 0 || iter.key[0] == '$' || memchr(iter.key, '.', iter.key_size))
            return stage_error(s, iter.key,
                               "Name of a pipeline is empty, begins with $ or has a dot");
        for (uint32_t i = 0; i < state->count; i++) {
            if (state->parts[i].name.size == iter.key_size &&
                memcmp(state->parts[i].name.data, iter.key, iter.key_size) == 0)
                return stage_error(s, iter.key, "Two pipelines have this name");
        }
        part->name = (doc_value){(const uint8_t *)iter.key, iter.key_size, DOC_STRING};
        tansu_status status =
            pipeline_compile_inner(s, iter.key, NULL, INNER_FACET, &iter.value, &part->pipeline);
        if (status != TANSU_OK)
            return status;
        part->pipeline->feed = feed;
        part->pipeline->feed_context = state;
        state->count++;
    }
    return TANSU_OK;
}

static tansu_status facet_begin(stage *s) {
    facet_state *state = s->state;
    state->done = false;
    document_list_init(&state->documents, s, pipeline_memory(s->p) / 2);
    return TANSU_OK;
}

/* run_part -- the array of the documents that a part makes. */
static tansu_status run_part(stage *s, facet_part *part, writer *w) {
    facet_state *state = s->state;
    doc_value doc;
    uint32_t count = 0;
    state->reader.at = 0;
    state->reader.window.size = 0;
    tansu_status status = pipeline_begin_inner(part->pipeline, s);
    writer_head(w, DOC_ARRAY, (const char *)part->name.data, part->name.size);
    size_t start = writer_begin(w);
    while (status == TANSU_OK) {
        status = pipeline_next_inner(part->pipeline, &doc);
        if (status == TANSU_OK)
            writer_index_value(w, count++, &doc);
        if (status == TANSU_OK && (w->failed || w->out->size > TANSU_MAX_DOCUMENT_SIZE))
            status = stage_show(s, w, &doc);
    }
    writer_end(w, start);
    pipeline_end_inner(part->pipeline);
    return status == TANSU_DONE ? TANSU_OK : status;
}

static tansu_status facet_next(stage *s, doc_value *doc) {
    facet_state *state = s->state;
    writer w = {.out = &s->out};
    tansu_status status;
    if (state->done)
        return TANSU_DONE;
    state->done = true;
    while ((status = stage_next(s, doc)) == TANSU_OK) {
        status = document_list_add(&state->documents, doc);
        if (status != TANSU_OK)
            return status;
    }
    if (status != TANSU_DONE)
        return status;
    s->out.size = 0;
    size_t start = writer_begin(&w);
    status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < state->count; i++)
        status = run_part(s, &state->parts[i], &w);
    writer_end(&w, start);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

static void facet_end(stage *s) {
    facet_state *state = s->state;
    document_list_free(&state->documents);
    document_reader_free(&state->reader);
}

static void facet_free(stage *s) {
    facet_state *state = s->state;
    for (uint32_t i = 0; state && state->parts && i < state->count; i++)
        pipeline_free(state->parts[i].pipeline);
}

const stage_kind stage_facet = {.name = "$facet",
                                .place = STAGE_NOT_IN_FACET,
                                .compile = facet_compile,
                                .begin = facet_begin,
                                .next = facet_next,
                                .end = facet_end,
                                .free = facet_free};

/* ---- $unionWith: the documents, and then those of another pipeline ---- */

typedef struct union_state {
    pipeline *pipeline;
    bool other; /* the documents of the stage before are at their end */
} union_state;

static tansu_status union_compile(stage *s, const doc_value *spec) {
    union_state *state = s->state = stage_alloc(s, sizeof *state);
    doc_value members[2] = {*spec, {NULL, 0, DOC_MISSING}};
    tansu_status status = TANSU_OK;
    if (!state)
        return TANSU_E_MEMORY;
    if (spec->type != DOC_STRING)
        status = stage_members(s, spec, "coll pipeline", members);
    if (status != TANSU_OK)
        return status;
    const char *collection = NULL;
    size_t size = 0;
    if (members[0].type == DOC_STRING)
        collection = doc_string(&members[0], &size);
    else if (members[0].type != DOC_MISSING)
        return stage_error(s, "coll", "Must be the name of a collection");
    if (collection && (size == 0 || strlen(collection) != size))
        return stage_error(s, "coll", "Name of a collection is empty, or has a NUL");
    if (!collection && members[1].type == DOC_MISSING)
        return stage_error(s, NULL, "Member \"coll\" or \"pipeline\" is required");
    return pipeline_compile_inner(s, "pipeline", collection, INNER_COLLECTION, &members[1],
                                  &state->pipeline);
}

static tansu_status union_begin(stage *s) {
    ((union_state *)s->state)->other = false;
    return TANSU_OK;
}

static tansu_status union_next(stage *s, doc_value *doc) {
    union_state *state = s->state;
    if (!state->other) {
        tansu_status status = stage_next(s, doc);
        if (status != TANSU_DONE)
            return status;
        state->other = true;
        status = pipeline_begin_inner(state->pipeline, s);
        if (status != TANSU_OK)
            return status;
    }
    return pipeline_next_inner(state->pipeline, doc);
}

static void union_end(stage *s) {
    union_state *state = s->state;
    if (state->pipeline)
        pipeline_end_inner(state->pipeline);
}

static void union_free(stage *s) {
    union_state *state = s->state;
    if (state)
        pipeline_free(state->pipeline);
}

const stage_kind stage_union_with = {.name = "$unionWith",
                                     .compile = union_compile,
                                     .begin = union_begin,
                                     .next = union_next,
                                     .end = union_end,
                                     .free = union_free};
