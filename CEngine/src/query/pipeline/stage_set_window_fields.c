/*
 * query/pipeline/stage_set_window_fields.c -- $setWindowFields, and $fill, which is it and
 * $addFields.
 */
#include "query/pipeline/windowing.h"

#include <string.h>

/* ---- $setWindowFields ---- */

static tansu_status window_compile(stage *s, const doc_value *spec) {
    doc_value members[3];
    tansu_status status = stage_members(s, spec, "partitionBy sortBy output!", members);
    const windowing_spec windows = {members[0], members[1], members[2]};
    return status == TANSU_OK ? windowing_compile(s, &windows, (windowing **)&s->state) : status;
}

static tansu_status window_next(stage *s, doc_value *doc) {
    return windowing_next(s->state, doc);
}

static void window_end(stage *s) {
    windowing_end(s->state);
}

const stage_kind stage_set_window_fields = {.name = "$setWindowFields",
                                            .compile = window_compile,
                                            .next = window_next,
                                            .end = window_end,
                                            .free = window_end};

/* ---- $fill ---- */

typedef struct fill_state {
    windowing *windows;      /* the fields with a method; NULL: there are none */
    computed_fields *values; /* those with a value; NULL: there are none */
    tansu_buffer windowed;   /* the document with the former */
} fill_state;

/* is_text -- whether a value is a certain string. */
static bool is_text(const doc_value *value, const char *text) {
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *string = doc_string(value, &size);
    return size == strlen(text) && memcmp(string, text, size) == 0;
}

/* put_field -- one field of "output": into what $setWindowFields sets, {"$locf": "$field"}, or into
 * what $addFields does, {"$ifNull": ["$field", value]}. */
static tansu_status put_field(stage *s, const doc_iter *field, writer *windows, writer *values) {
    enum { METHOD, VALUE, MEMBERS };
    doc_value members[MEMBERS];
    tansu_status status = stage_members(s, &field->value, "method value", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, "output");
        return status;
    }
    const doc_value *method = &members[METHOD];
    if ((method->type == DOC_MISSING) == (members[VALUE].type == DOC_MISSING))
        return stage_error(s, "output", "A field has either a method or a value");
    if (method->type == DOC_MISSING) {
        size_t start = writer_open(values, field->key, DOC_DOCUMENT);
        size_t list = writer_open(values, "$ifNull", DOC_ARRAY);
        write_path(values, "0", 1, field->key, field->key_size);
        writer_index_value(values, 1, &members[VALUE]);
        writer_end(values, list);
        writer_end(values, start);
        return TANSU_OK;
    }
    if (!is_text(method, "locf") && !is_text(method, "linear"))
        return stage_error(s, "output", "A method is \"linear\" or \"locf\"");
    const char *name = is_text(method, "locf") ? "$locf" : "$linearFill";
    size_t start = writer_open(windows, field->key, DOC_DOCUMENT);
    write_path(windows, name, strlen(name), field->key, field->key_size);
    writer_end(windows, start);
    return TANSU_OK;
}

/* read_partition_fields -- the expression of "partitionByFields": a document of the fields. */
static tansu_status read_partition_fields(stage *s, const doc_value *fields, writer *w) {
    doc_iter iter;
    if (fields->type != DOC_ARRAY)
        return stage_error(s, "partitionByFields", "Must be an array of paths");
    size_t start = writer_begin(w);
    for (doc_iter_value(&iter, fields); doc_iter_next(&iter);) {
        size_t size;
        if (iter.value.type != DOC_STRING)
            return stage_error(s, "partitionByFields", "Must be an array of paths");
        const char *text = doc_string(&iter.value, &size);
        if (size == 0 || text[0] == '$' || memchr(text, 0, size))
            return stage_error(s, "partitionByFields",
                               "A path is not empty, has no NUL and does not begin with $");
        write_path(w, text, size, text, size);
    }
    writer_end(w, start);
    return TANSU_OK;
}

/* keep_document -- a document that was written, in the memory of the pipeline, where its names stay.
 */
static tansu_status keep_document(stage *s, const writer *w, doc_value *result) {
    *result = (doc_value){NULL, (uint32_t)w->out->size, DOC_DOCUMENT};
    result->data = w->failed ? NULL : arena_copy(&s->p->memory, w->out->data, w->out->size);
    return result->data ? TANSU_OK : error_memory(s->p->error);
}

enum { FILL_BY, FILL_BY_FIELDS, FILL_SORT, FILL_OUTPUT, FILL_MEMBERS };

/* compile_fields -- what the two stages make of "output". */
static tansu_status compile_fields(stage *s, const doc_value *members, writer *windows,
                                   writer *values) {
    fill_state *state = s->state;
    windowing_spec spec = {members[FILL_BY], members[FILL_SORT], members[FILL_OUTPUT]};
    doc_iter iter;
    doc_value fields;
    tansu_buffer by = TANSU_BUFFER_INIT;
    writer by_writer = {.out = &by};
    size_t starts[2] = {writer_begin(windows), writer_begin(values)};
    tansu_status status = TANSU_OK;
    for (doc_iter_value(&iter, &members[FILL_OUTPUT]); status == TANSU_OK && doc_iter_next(&iter);)
        status = put_field(s, &iter, windows, values);
    writer_end(windows, starts[0]);
    writer_end(values, starts[1]);
    if (status == TANSU_OK && members[FILL_BY_FIELDS].type != DOC_MISSING) {
        status = read_partition_fields(s, &members[FILL_BY_FIELDS], &by_writer);
        if (status == TANSU_OK)
            status = keep_document(s, &by_writer, &spec.partition_by);
        tansu_buffer_free(&by);
    }
    if (status == TANSU_OK && (windows->failed || windows->out->size > 5)) {
        status = keep_document(s, windows, &spec.output);
        if (status == TANSU_OK)
            status = windowing_compile(s, &spec, &state->windows);
    }
    if (status == TANSU_OK && (values->failed || values->out->size > 5)) {
        status = keep_document(s, values, &fields);
        if (status == TANSU_OK)
            status = computed_fields_compile(&s->p->compiler, &fields, COMPUTE_ADD, &state->values);
    }
    return status;
}

static tansu_status fill_compile(stage *s, const doc_value *spec) {
    doc_value members[FILL_MEMBERS];
    tansu_buffer buffers[2] = {TANSU_BUFFER_INIT, TANSU_BUFFER_INIT};
    writer windows = {.out = &buffers[0]}, values = {.out = &buffers[1]};
    fill_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    tansu_status status =
        stage_members(s, spec, "partitionBy partitionByFields sortBy output!", members);
    if (status != TANSU_OK)
        return status;
    const doc_value *by = &members[FILL_BY];
    if (members[FILL_OUTPUT].type != DOC_DOCUMENT || members[FILL_OUTPUT].size <= 5)
        return stage_error(s, "output", "Must be a document that names at least one field");
    if (by->type != DOC_MISSING && members[FILL_BY_FIELDS].type != DOC_MISSING)
        return stage_error(s, NULL, "Has either \"partitionBy\" or \"partitionByFields\"");
    if (by->type != DOC_MISSING && by->type != DOC_STRING && by->type != DOC_DOCUMENT)
        return stage_error(s, "partitionBy", "Must be a path with $ before it, or a document");
    if (members[FILL_SORT].type != DOC_MISSING && members[FILL_SORT].type != DOC_DOCUMENT)
        return stage_error(s, "sortBy", "Must be a document of paths");
    status = compile_fields(s, members, &windows, &values);
    tansu_buffer_free(&buffers[0]);
    tansu_buffer_free(&buffers[1]);
    return status;
}

static tansu_status fill_next(stage *s, doc_value *doc) {
    fill_state *state = s->state;
    doc_value before;
    tansu_status status =
        state->windows ? windowing_next(state->windows, &before) : stage_next(s, &before);
    if (status != TANSU_OK)
        return status;
    *doc = before;
    if (!state->values)
        return TANSU_OK;
    if (state->windows) {
        /* The document is where the next one is written. */
        if (!buffer_set(&state->windowed, before.data, before.size))
            return error_memory(s->p->error);
        before.data = state->windowed.data;
    }
    writer w = {.out = &s->out};
    s->out.size = 0;
    evaluation_document(&s->p->ev, before.data, before.size);
    status = computed_fields_apply(&s->p->ev, state->values, &before, &w);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

static void fill_end(stage *s) {
    fill_state *state = s->state;
    if (!state)
        return;
    windowing_end(state->windows);
    tansu_buffer_free(&state->windowed);
}

bool fill_is_update(const stage *s) {
    return s->kind == &stage_fill && !((const fill_state *)s->state)->windows;
}

const stage_kind stage_fill = {
    .name = "$fill", .compile = fill_compile, .next = fill_next, .end = fill_end, .free = fill_end};
