/*
 * query/pipeline/stage_bucket.c -- $bucket: groups between boundaries.
 */
#include "query/pipeline/stage_bucket.h"

#include "bson/value.h"
#include "query/pipeline/grouping.h"

/* ---- What both kinds of buckets have ---- */

tansu_status bucket_key_compile(stage *s, const doc_value *spec, const expression **result) {
    doc_iter iter;
    bool path = spec->type == DOC_STRING && spec->data[4] == '$';
    bool is_operator = spec->type == DOC_DOCUMENT && doc_iter_value(&iter, spec) &&
                       doc_iter_next(&iter) && iter.key[0] == '$';
    if (!path && !is_operator)
        return stage_error(s, "groupBy", "Must be a path with $ before it, or an operator");
    return stage_expression(s, "groupBy", spec, result);
}

tansu_status bucket_output_compile(stage *s, const doc_value *spec, accumulated_fields *result) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    doc_value output = *spec;
    if (spec->type != DOC_DOCUMENT && spec->type != DOC_MISSING)
        return stage_error(s, "output", "Must be a document of accumulators");
    if (spec->type == DOC_MISSING) {
        writer w = {.out = &bytes};
        size_t start = writer_begin(&w), count = writer_open(&w, "count", DOC_DOCUMENT);
        writer_int32(&w, "$sum", 1);
        writer_end(&w, count);
        writer_end(&w, start);
        if (w.failed) {
            tansu_buffer_free(&bytes);
            return error_memory(s->p->error);
        }
        output = (doc_value){bytes.data, (uint32_t)bytes.size, DOC_DOCUMENT};
    }
    tansu_status status = accumulated_fields_compile(s, "output", &output, result);
    tansu_buffer_free(&bytes);
    return status;
}

/* ---- $bucket ---- */

typedef struct bucket_state {
    const expression *group_by;
    doc_value *boundaries; /* ascending; a bucket begins at each but the last */
    uint32_t boundary_count;
    doc_value other;   /* `_id` of the bucket of all other values; missing: they are an error */
    uint32_t other_at; /* its place among the buckets when they are shown */
    accumulated_fields fields;

    accumulating c;
    uint8_t *states; /* of all buckets, that of the others last */
    bool *used;      /* buckets with documents */
    size_t begun;    /* bytes of their states, without what these allocate */
    bool read;
    uint32_t next;
} bucket_state;

/* bucket_count -- of the buckets, with that of the others. */
static uint32_t bucket_count(const bucket_state *state) {
    return state->boundary_count - 1 + (state->other.type != DOC_MISSING);
}

/* read_constant -- an expression that is a constant. */
static tansu_status read_constant(stage *s, const char *part, const doc_value *spec,
                                  doc_value *result) {
    const expression *e;
    tansu_status status = stage_expression(s, part, spec, &e);
    if (status == TANSU_OK && !expression_constant(e, result))
        return stage_error(s, part, "Must be constant");
    return status;
}

/* read_boundaries -- at least two values of one kind, ascending. */
static tansu_status read_boundaries(stage *s, bucket_state *state, const doc_value *spec) {
    doc_iter iter;
    uint32_t count = 0;
    if (spec->type != DOC_ARRAY)
        return stage_error(s, "boundaries", "Must be an array of values");
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);)
        count++;
    if (count < 2)
        return stage_error(s, "boundaries", "Must be at least two values");
    state->boundaries = stage_alloc(s, count * sizeof *state->boundaries);
    if (!state->boundaries)
        return TANSU_E_MEMORY;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter); state->boundary_count++) {
        doc_value *value = &state->boundaries[state->boundary_count];
        int order = -1;
        tansu_status status = read_constant(s, "boundaries", &iter.value, value);
        if (status != TANSU_OK)
            return status;
        if (state->boundary_count == 0)
            continue;
        if (value_kind_of(value->type) != value_kind_of(value[-1].type))
            return stage_error(s, "boundaries", "Values must be of one type");
        if (!expression_compare(s->p->compiler.constant, &value[-1], value, &order))
            return error_memory(s->p->error);
        if (order >= 0)
            return stage_error(s, "boundaries", "Values must be ascending, and none twice");
    }
    return TANSU_OK;
}

/* read_other -- the bucket of the other values, which is outside of the boundaries. */
static tansu_status read_other(stage *s, bucket_state *state, const doc_value *spec) {
    int below, above;
    const doc_value *lowest = &state->boundaries[0];
    const doc_value *highest = &state->boundaries[state->boundary_count - 1];
    state->other = (doc_value){NULL, 0, DOC_MISSING};
    if (spec->type == DOC_MISSING)
        return TANSU_OK;
    tansu_status status = read_constant(s, "default", spec, &state->other);
    if (status != TANSU_OK)
        return status;
    if (state->other.type == DOC_MISSING)
        state->other.type = DOC_NULL;
    if (!expression_compare(s->p->compiler.constant, &state->other, lowest, &below) ||
        !expression_compare(s->p->compiler.constant, &state->other, highest, &above))
        return error_memory(s->p->error);
    if (below >= 0 && above < 0)
        return stage_error(s, "default",
                           "Must be less than the lowest boundary, or not less than the highest");
    state->other_at = below < 0 ? 0 : state->boundary_count - 1;
    return TANSU_OK;
}

static tansu_status bucket_compile(stage *s, const doc_value *spec) {
    doc_value values[4];
    bucket_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    state->c.s = s;
    tansu_status status = stage_members(s, spec, "groupBy! boundaries! default output", values);
    if (status == TANSU_OK)
        status = bucket_key_compile(s, &values[0], &state->group_by);
    if (status == TANSU_OK)
        status = read_boundaries(s, state, &values[1]);
    if (status == TANSU_OK)
        status = read_other(s, state, &values[2]);
    return status == TANSU_OK ? bucket_output_compile(s, &values[3], &state->fields) : status;
}

/* bucket_of -- the number of a value's bucket; UINT32_MAX: none. */
static tansu_status bucket_of(stage *s, const bucket_state *state, const doc_value *value,
                              uint32_t *result) {
    /* Boundaries that the value is not below. */
    uint32_t low = 0, high = state->boundary_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order;
        if (!expression_compare(&s->p->ev, value, &state->boundaries[middle], &order))
            return error_memory(s->p->error);
        if (order >= 0)
            low = middle + 1;
        else
            high = middle;
    }
    *result = low - 1;
    if (low != 0 && low != state->boundary_count)
        return TANSU_OK;
    *result = state->boundary_count - 1;
    if (state->other.type != DOC_MISSING)
        return TANSU_OK;
    return stage_error(s, s->kind->name,
                       "A value is in no bucket; \"default\" makes one for such values");
}

/* add_document -- adds a document to its bucket. */
static tansu_status add_document(stage *s, bucket_state *state, const doc_value *doc) {
    doc_value value;
    uint32_t number = 0;
    tansu_status status = stage_evaluate(s, state->group_by, doc, &value);
    if (status == TANSU_OK)
        status = bucket_of(s, state, &value, &number);
    if (status != TANSU_OK)
        return status;
    uint8_t *states = state->states + number * state->fields.size;
    if (!state->used[number]) {
        state->used[number] = true;
        state->begun += state->fields.size;
        evaluation_document(&s->p->ev, NULL, 0);
        status = accumulated_begin(&state->c, &state->fields, states);
        evaluation_document(&s->p->ev, doc->data, doc->size);
    }
    if (status == TANSU_OK)
        status = accumulated_add(&state->c, &state->fields, states, doc);
    return status == TANSU_OK
               ? accumulated_within(&state->c, state->begun + state->c.used, pipeline_memory(s->p))
               : status;
}

/* read_all -- the documents of the stage before. */
static tansu_status read_all(stage *s, bucket_state *state) {
    doc_value doc;
    tansu_status status = TANSU_OK;
    uint32_t count = bucket_count(state);
    state->read = true;
    state->states = calloc(count, state->fields.size + 1);
    state->used = calloc(count, sizeof *state->used);
    if (!state->states || !state->used)
        return error_memory(s->p->error);
    while (status == TANSU_OK && (status = stage_next(s, &doc)) == TANSU_OK)
        status = add_document(s, state, &doc);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* bucket_at -- the bucket that is shown at a position. */
static uint32_t bucket_at(const bucket_state *state, uint32_t at) {
    uint32_t other = state->boundary_count - 1;
    if (state->other.type == DOC_MISSING || at < state->other_at)
        return at;
    return at == state->other_at ? other : at - 1;
}

static tansu_status bucket_next(stage *s, doc_value *doc) {
    bucket_state *state = s->state;
    uint32_t count = bucket_count(state), number = 0;
    tansu_status status = state->read ? TANSU_OK : read_all(s, state);
    if (status != TANSU_OK)
        return status;
    while (state->next < count && !state->used[number = bucket_at(state, state->next)])
        state->next++;
    if (state->next == count)
        return TANSU_DONE;
    state->next++;
    writer w = {.out = &s->out};
    s->out.size = 0;
    size_t start = writer_begin(&w);
    writer_value(&w, "_id",
                 number == state->boundary_count - 1 ? &state->other : &state->boundaries[number]);
    status = accumulated_write(&state->c, &state->fields,
                               state->states + number * state->fields.size, &w);
    writer_end(&w, start);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

static void bucket_end(stage *s) {
    bucket_state *state = s->state;
    for (uint32_t i = 0; state->states && state->used && i < bucket_count(state); i++)
        accumulated_end(&state->fields, state->states + i * state->fields.size);
    free(state->states);
    free(state->used);
    state->states = NULL;
    state->used = NULL;
    state->read = false;
    state->next = 0;
    state->begun = 0;
    state->c.used = 0;
}

static void bucket_free(stage *s) {
    bucket_state *state = s->state;
    if (state)
        accumulating_free(&state->c);
}

const stage_kind stage_bucket = {.name = "$bucket",
                                 .compile = bucket_compile,
                                 .next = bucket_next,
                                 .end = bucket_end,
                                 .free = bucket_free};
