/*
 * query/pipeline/stage_unwind.c -- $unwind: a document for each element of an array.
 */
#include "query/pipeline/pipeline_internal.h"

#include <string.h>

typedef struct unwind_state {
    nested_path path;
    nested_path index; /* where the position goes; empty: nowhere */
    bool preserve;     /* documents without elements are kept */

    /* The document whose array is being unwound. */
    tansu_buffer doc;
    size_t array, array_size; /* of the array's value in `doc` */
    tansu_buffer changed;     /* with the element, but not its position */
    doc_iter elements;
    int64_t position;
    bool unwinding;
} unwind_state;

/* ---- Compiling ---- */

static tansu_status unwind_compile(stage *s, const doc_value *spec) {
    unwind_state *state = s->state = stage_alloc(s, sizeof *state);
    doc_value values[3] = {*spec};
    size_t size;
    tansu_status status = TANSU_OK;
    if (!state)
        return TANSU_E_MEMORY;
    if (spec->type != DOC_STRING)
        status =
            stage_members(s, spec, "path! includeArrayIndex preserveNullAndEmptyArrays", values);
    if (status != TANSU_OK)
        return status;
    const char *text = values[0].type == DOC_STRING ? doc_string(&values[0], &size) : "";
    if (text[0] != '$')
        return stage_error(s, "path", "Must be a path with $ before it, such as \"$tags\"");
    status = nested_path_compile(s, "path", text + 1, size - 1, &state->path);
    if (status == TANSU_OK && values[1].type != DOC_MISSING) {
        if (values[1].type != DOC_STRING)
            return stage_error(s, "includeArrayIndex", "Must be a path, without $ before it");
        text = doc_string(&values[1], &size);
        status = nested_path_compile(s, "includeArrayIndex", text, size, &state->index);
    }
    if (status == TANSU_OK && values[2].type != DOC_MISSING) {
        if (values[2].type != DOC_BOOL)
            return stage_error(s, "preserveNullAndEmptyArrays", "Must be true or false");
        state->preserve = doc_bool(&values[2]);
    }
    return status;
}

/* ---- Changing a document ---- */

/* put_element -- as nested_path_put() with a field of the document itself: what is before and after it is
 * copied as a whole, for each element. */
static void put_element(writer *w, const unwind_state *state) {
    const struct nested_name *name = &state->path.names[0];
    const uint8_t *doc = state->doc.data;
    size_t field = state->array - name->size - 2, after = state->array + state->array_size;
    size_t start = writer_begin(w);
    writer_bytes(w, doc + 4, field - 4);
    writer_element(w, name->text, name->size, &state->elements.value);
    writer_bytes(w, doc + after, state->doc.size - 1 - after);
    writer_end(w, start);
}

/* find -- the value at the path; arrays are not on the way. */
static void find(const nested_path *path, const doc_value *doc, doc_value *value) {
    *value = *doc;
    for (uint32_t i = 0; i < path->count; i++) {
        if (value->type != DOC_DOCUMENT) {
            value->type = DOC_MISSING;
            return;
        }
        doc_find(value->data, value->size, path->names[i].text, path->names[i].size, value);
    }
}

/* show -- a document with the position, or null where there is none. */
static tansu_status show(stage *s, unwind_state *state, const doc_value *changed, bool element,
                         doc_value *doc) {
    uint8_t bytes[8];
    writer w = {.out = &s->out};
    s->out.size = 0;
    if (state->index.count == 0) {
        writer_bytes(&w, changed->data, changed->size);
        return stage_show(s, &w, doc);
    }
    store_u64(bytes, (uint64_t)state->position);
    const doc_value position = {bytes, sizeof bytes, DOC_INT64}, null = {NULL, 0, DOC_NULL};
    nested_path_put(&w, changed, &state->index, element ? &position : &null);
    return stage_show(s, &w, doc);
}

/* show_element -- the document with the element that the iterator is at. */
static tansu_status show_element(stage *s, unwind_state *state, doc_value *doc) {
    const doc_value whole = {state->doc.data, (uint32_t)state->doc.size, DOC_DOCUMENT};
    tansu_buffer *out = state->index.count != 0 ? &state->changed : &s->out;
    writer w = {.out = out};
    out->size = 0;
    if (state->path.count == 1)
        put_element(&w, state);
    else
        nested_path_put(&w, &whole, &state->path, &state->elements.value);
    if (state->index.count == 0)
        return stage_show(s, &w, doc);
    if (w.failed)
        return error_memory(s->p->error);
    const doc_value changed = {out->data, (uint32_t)out->size, DOC_DOCUMENT};
    return show(s, state, &changed, true, doc);
}

/* show_empty -- a document whose array is empty, without it. */
static tansu_status show_empty(stage *s, unwind_state *state, const doc_value *whole,
                               doc_value *doc) {
    const doc_value missing = {NULL, 0, DOC_MISSING};
    writer w = {.out = &state->changed};
    state->changed.size = 0;
    nested_path_put(&w, whole, &state->path, &missing);
    if (w.failed)
        return error_memory(s->p->error);
    const doc_value changed = {state->changed.data, (uint32_t)state->changed.size, DOC_DOCUMENT};
    return show(s, state, &changed, false, doc);
}

/* ---- Running ---- */

static tansu_status unwind_begin(stage *s) {
    unwind_state *state = s->state;
    state->unwinding = false;
    return TANSU_OK;
}

static tansu_status unwind_next(stage *s, doc_value *doc) {
    unwind_state *state = s->state;
    for (;;) {
        doc_value value;
        tansu_status status = stage_step(s);
        if (status != TANSU_OK)
            return status;
        if (state->unwinding && doc_iter_next(&state->elements)) {
            state->position++;
            return show_element(s, state, doc);
        }
        state->unwinding = false;
        status = stage_next(s, doc);
        if (status != TANSU_OK)
            return status;
        find(&state->path, doc, &value);
        bool empty = value.type == DOC_ARRAY && value.size <= 5;
        bool nothing =
            value.type == DOC_MISSING || value.type == DOC_NULL || value.type == DOC_UNDEFINED;
        if ((empty || nothing) && !state->preserve)
            continue;
        if (empty)
            return show_empty(s, state, doc, doc);
        if (value.type != DOC_ARRAY)
            return state->index.count != 0 ? show(s, state, doc, false, doc) : TANSU_OK;
        size_t offset = (size_t)(value.data - doc->data);
        if (!buffer_set(&state->doc, doc->data, doc->size))
            return error_memory(s->p->error);
        doc_iter_init(&state->elements, state->doc.data + offset, value.size);
        state->array = offset;
        state->array_size = value.size;
        state->position = -1;
        state->unwinding = true;
    }
}

static void unwind_free(stage *s) {
    unwind_state *state = s->state;
    if (!state)
        return;
    tansu_buffer_free(&state->doc);
    tansu_buffer_free(&state->changed);
}

const stage_kind stage_unwind = {.name = "$unwind",
                                 .compile = unwind_compile,
                                 .begin = unwind_begin,
                                 .next = unwind_next,
                                 .free = unwind_free};
