/*
 * query/pipeline/stage_group.c -- $group, $count and $sortByCount.
 */
#include "query/pipeline/document_sorter.h"
#include "query/pipeline/group_index.h"

#include "bson/number.h"

#include <string.h>

/* ---- $group ---- */

static tansu_status group_compile(stage *s, const doc_value *spec) {
    return grouping_compile(s, spec, (grouping **)&s->state);
}

static tansu_status group_from(stage *s, query_source *from, bool *done) {
    return group_from_index(s, s->state, from, done);
}

static tansu_status group_next(stage *s, doc_value *doc) {
    return grouping_next(s, s->state, doc);
}

static void group_end(stage *s) {
    grouping_end(s->state);
}

static void group_free(stage *s) {
    grouping_free(s->state);
}

const stage_kind stage_group = {.name = "$group",
                                .compile = group_compile,
                                .from_index = group_from,
                                .next = group_next,
                                .end = group_end,
                                .free = group_free};

/* ---- $count ---- */

typedef struct count_state {
    const char *name;
    bool done;
    bool counted; /* by the query */
    uint64_t count;
} count_state;

static tansu_status count_compile(stage *s, const doc_value *spec) {
    count_state *state = s->state = stage_alloc(s, sizeof *state);
    size_t size = 0;
    if (!state)
        return TANSU_E_MEMORY;
    const char *text = spec->type == DOC_STRING ? doc_string(spec, &size) : "";
    if (size == 0 || text[0] == '$' || memchr(text, 0, size) || memchr(text, '.', size))
        return stage_error(
            s, NULL,
            "Takes the name of a field: a string without dots and NULs that does not "
            "begin with $");
    if (strcmp(text, "_id") == 0)
        return stage_error(s, NULL, "The field cannot be named \"_id\"");
    state->name = arena_copy(&s->p->memory, text, size);
    return state->name ? TANSU_OK : error_memory(s->p->error);
}

static tansu_status count_begin(stage *s) {
    ((count_state *)s->state)->done = false;
    return TANSU_OK;
}

/* count_from -- a count needs no documents where an index is exact. */
static tansu_status count_from(stage *s, query_source *from, bool *done) {
    count_state *state = s->state;
    state->counted = *done = true;
    return count_from_index(s, from, &state->count);
}

static void count_end(stage *s) {
    ((count_state *)s->state)->counted = false;
}

/* count_next -- one document, or none when there are none. */
static tansu_status count_next(stage *s, doc_value *doc) {
    count_state *state = s->state;
    uint64_t count = state->count;
    tansu_status status = TANSU_DONE;
    if (state->done)
        return TANSU_DONE;
    if (!state->counted) {
        for (count = 0; (status = stage_next(s, doc)) == TANSU_OK;)
            count++;
    }
    if (status != TANSU_DONE || count == 0)
        return status;
    state->done = true;
    writer w = {.out = &s->out};
    s->out.size = 0;
    size_t start = writer_begin(&w);
    if (count <= INT32_MAX)
        writer_int32(&w, state->name, (int32_t)count);
    else
        writer_int64(&w, state->name, (int64_t)count);
    writer_end(&w, start);
    return stage_show(s, &w, doc);
}

const stage_kind stage_count = {.name = "$count",
                                .compile = count_compile,
                                .begin = count_begin,
                                .from_index = count_from,
                                .next = count_next,
                                .end = count_end};

/* ---- $sortByCount ---- */

typedef struct by_count_state {
    grouping *groups;
    document_sorter *sorter; /* NULL: nothing was read */
    tansu_buffer key;
} by_count_state;

/* by_count_compile -- as {"$group": {"_id": …, "count": {"$sum": 1}}}. */
static tansu_status by_count_compile(stage *s, const doc_value *spec) {
    by_count_state *state = s->state = stage_alloc(s, sizeof *state);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    writer w = {.out = &bytes};
    doc_iter iter;
    if (!state)
        return TANSU_E_MEMORY;
    bool path = spec->type == DOC_STRING && spec->data[4] == '$';
    bool is_operator = spec->type == DOC_DOCUMENT && doc_iter_value(&iter, spec) &&
                       doc_iter_next(&iter) && iter.key[0] == '$';
    if (!path && !is_operator)
        return stage_error(s, NULL, "Takes a path with $ before it, or an operator");
    size_t start = writer_begin(&w);
    writer_value(&w, "_id", spec);
    size_t count = writer_open(&w, "count", DOC_DOCUMENT);
    writer_int32(&w, "$sum", 1);
    writer_end(&w, count);
    writer_end(&w, start);
    const doc_value group = {bytes.data, (uint32_t)bytes.size, DOC_DOCUMENT};
    tansu_status status =
        w.failed ? error_memory(s->p->error) : grouping_compile(s, &group, &state->groups);
    tansu_buffer_free(&bytes);
    return status;
}

/* sort_groups -- makes the groups and sorts them. */
static tansu_status sort_groups(stage *s, by_count_state *state) {
    doc_value doc, count;
    tansu_status status = TANSU_OK;
    state->sorter = document_sorter_new(s, stages_wanted(s), pipeline_memory(s->p) / 4);
    if (!state->sorter)
        return error_memory(s->p->error);
    while (status == TANSU_OK && (status = grouping_next(s, state->groups, &doc)) == TANSU_OK) {
        int64_t number = 0;
        uint8_t bytes[8];
        doc_find(doc.data, doc.size, "count", 5, &count);
        doc_as_int64(&count, &number);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t) ~((uint64_t)number >> (56 - 8 * i));
        if (!buffer_set(&state->key, bytes, sizeof bytes))
            return error_memory(s->p->error);
        status = document_sorter_add(state->sorter, &state->key, &doc);
    }
    grouping_end(state->groups);
    return status == TANSU_DONE ? TANSU_OK : status;
}

static tansu_status by_count_from(stage *s, query_source *from, bool *done) {
    return group_from_index(s, ((by_count_state *)s->state)->groups, from, done);
}

static tansu_status by_count_next(stage *s, doc_value *doc) {
    by_count_state *state = s->state;
    tansu_status status = state->sorter ? stage_step(s) : sort_groups(s, state);
    return status == TANSU_OK ? document_sorter_next(state->sorter, doc) : status;
}

static void by_count_end(stage *s) {
    by_count_state *state = s->state;
    grouping_end(state->groups);
    document_sorter_free(state->sorter);
    state->sorter = NULL;
}

static void by_count_free(stage *s) {
    by_count_state *state = s->state;
    if (!state)
        return;
    grouping_free(state->groups);
    tansu_buffer_free(&state->key);
}

const stage_kind stage_sort_by_count = {.name = "$sortByCount",
                                        .compile = by_count_compile,
                                        .from_index = by_count_from,
                                        .next = by_count_next,
                                        .end = by_count_end,
                                        .free = by_count_free};
