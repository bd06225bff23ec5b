/*
 * query/pipeline/stage_bucket_auto.c -- $bucketAuto: documents in the order of a value, in buckets
 * of about the same size.
 */
#include "query/pipeline/granularity.h"
#include "query/pipeline/stage_bucket.h"

#include <string.h>

typedef struct bucket_auto_state {
    const expression *group_by;
    const granularity *granularity; /* NULL: none */
    uint32_t bucket_count;
    accumulated_fields fields;

    accumulating c;
    uint8_t *states; /* of the bucket that is being made */
    external_sort *sort;
    tansu_buffer key, payload;
    tansu_buffer min, max; /* of the bucket: type, bytes */
    tansu_buffer previous; /* with a granularity: the end of the bucket before, which is set */
    sort_record record;    /* the next document */
    bool has_record;
    uint64_t documents;
    uint32_t made; /* buckets */
} bucket_auto_state;

/* ---- Compiling ---- */

/* read_granularity -- the name of a series. */
static tansu_status read_granularity(stage *s, bucket_auto_state *state, const doc_value *spec) {
    size_t size;
    if (spec->type == DOC_MISSING)
        return TANSU_OK;
    if (spec->type == DOC_STRING && strlen(doc_string(spec, &size)) == spec->size - 5)
        state->granularity = granularity_find(doc_string(spec, &size));
    return state->granularity
               ? TANSU_OK
               : stage_error(s, "granularity",
                             "Must be R5, R10, R20, R40, R80, 1-2-5, E6, E12, E24, E48, E96, E192 "
                             "or POWERSOF2");
}

static tansu_status bucket_auto_compile(stage *s, const doc_value *spec) {
    doc_value values[4];
    int64_t count;
    bucket_auto_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    state->c.s = s;
    tansu_status status = stage_members(s, spec, "groupBy! buckets! output granularity", values);
    if (status == TANSU_OK)
        status = bucket_key_compile(s, &values[0], &state->group_by);
    if (status == TANSU_OK && (!doc_as_int64(&values[1], &count) || count < 1 || count > INT32_MAX))
        return stage_error(s, "buckets", "Must be a whole number, at least 1 and below 2147483648");
    /* Unlike that of $bucket, an empty output counts the documents. */
    if (values[2].type == DOC_DOCUMENT && values[2].size <= 5)
        values[2].type = DOC_MISSING;
    if (status == TANSU_OK)
        status = bucket_output_compile(s, &values[2], &state->fields);
    if (status != TANSU_OK)
        return status;
    state->bucket_count = (uint32_t)count;
    return read_granularity(s, state, &values[3]);
}

/* ---- Sorting ---- */

/* check_number -- what a granularity needs: a number, not negative, finite. */
static tansu_status check_number(stage *s, const doc_value *value) {
    static const doc_value zero = {(const uint8_t *)"\0\0\0", 4, DOC_INT32};
    uint8_t key[NUMBER_KEY_MAX];
    bool fits = doc_is_number(value) && number_compare(value, &zero) >= 0;
    if (fits)
        number_key(key, value);
    if (fits && key[0] != NUMBER_POSITIVE_INFINITY)
        return TANSU_OK;
    return stage_error(s, s->kind->name,
                       "With \"granularity\" all values must be finite numbers, none negative");
}

/* put_value -- replaces the content of a buffer by type and bytes. */
static tansu_status put_value(stage *s, tansu_buffer *to, const doc_value *value) {
    to->size = 0;
    return buffer_append_byte(to, value->type) && buffer_append(to, value->data, value->size)
               ? TANSU_OK
               : error_memory(s->p->error);
}

/* get_value -- the value again. */
static doc_value get_value(const tansu_buffer *from) {
    return (doc_value){from->data + 1, (uint32_t)from->size - 1, from->data[0]};
}

/* add_document -- a document under its value: size and type of the value, its bytes, the document.
 */
static tansu_status add_document(stage *s, bucket_auto_state *state, const doc_value *doc) {
    evaluation *ev = &s->p->ev;
    doc_value value;
    uint8_t head[5];
    tansu_status status = stage_evaluate(s, state->group_by, doc, &value);
    if (status == TANSU_OK && state->granularity)
        status = check_number(s, &value);
    if (status != TANSU_OK)
        return status;
    if (value.type == DOC_MISSING)
        value.type = DOC_NULL;
    store_u32(head, value.size);
    head[4] = value.type;
    state->key.size = state->payload.size = 0;
    if (!collation_key(ev->collation, &ev->collated[0], &state->key, &value, false) ||
        !buffer_append(&state->payload, head, sizeof head) ||
        !buffer_append(&state->payload, value.data, value.size) ||
        !buffer_append(&state->payload, doc->data, doc->size))
        return error_memory(s->p->error);
    const sort_record r = {state->key.data, state->key.size, state->documents++,
                           state->payload.data, state->payload.size};
    return external_sort_add(state->sort, &r, s->p->error);
}

/* next_record -- the next document in order. */
static tansu_status next_record(stage *s, bucket_auto_state *state) {
    tansu_status status = external_sort_next(state->sort, &state->record, s->p->error);
    state->has_record = status == TANSU_OK;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* read_all -- the documents of the stage before. */
static tansu_status read_all(stage *s, bucket_auto_state *state) {
    doc_value doc;
    tansu_status status = TANSU_OK;
    state->states = calloc(1, state->fields.size + 1);
    state->sort = stage_sort(s, pipeline_memory(s->p) / 2);
    if (!state->sort || !state->states)
        return error_memory(s->p->error);
    while (status == TANSU_OK && (status = stage_next(s, &doc)) == TANSU_OK)
        status = add_document(s, state, &doc);
    if (status == TANSU_DONE)
        status = external_sort_finish(state->sort, s->p->error);
    return status == TANSU_OK ? next_record(s, state) : status;
}

/* ---- Buckets ---- */

/* value_of -- the value of the next document. */
static doc_value value_of(const bucket_auto_state *state) {
    const uint8_t *head = state->record.payload;
    return (doc_value){head + 5, load_u32(head), head[4]};
}

/* take -- adds the next document to the bucket. */
static tansu_status take(stage *s, bucket_auto_state *state) {
    const doc_value value = value_of(state);
    size_t before = 5 + (size_t)value.size;
    const doc_value doc = {state->record.payload + before,
                           (uint32_t)(state->record.payload_size - before), DOC_DOCUMENT};
    tansu_status status = put_value(s, &state->max, &value);
    if (status == TANSU_OK)
        status = stage_step(s);
    evaluation_document(&s->p->ev, doc.data, doc.size);
    if (status == TANSU_OK)
        status = accumulated_add(&state->c, &state->fields, state->states, &doc);
    if (status == TANSU_OK)
        status = accumulated_within(&state->c, state->c.used, pipeline_memory(s->p));
    return status == TANSU_OK ? next_record(s, state) : status;
}

/* compare_next -- the order of the next document's value and another one. */
static tansu_status compare_next(stage *s, const bucket_auto_state *state, const doc_value *other,
                                 int *order) {
    const doc_value value = value_of(state);
    return expression_compare(&s->p->ev, &value, other, order) ? TANSU_OK
                                                               : error_memory(s->p->error);
}

/* take_equal -- adds the documents whose values are equal to the last one's. */
static tansu_status take_equal(stage *s, bucket_auto_state *state) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && state->has_record) {
        const doc_value max = get_value(&state->max);
        int order = 0;
        status = compare_next(s, state, &max, &order);
        if (status != TANSU_OK || order != 0)
            return status;
        status = take(s, state);
    }
    return status;
}

/* take_to_granule -- adds the documents below the next number of the series, where the bucket ends.
 */
static tansu_status take_to_granule(stage *s, bucket_auto_state *state) {
    static const doc_value zero = {(const uint8_t *)"\0\0\0", 4, DOC_INT32};
    number end;
    doc_value max = get_value(&state->max), value;
    granularity_up(state->granularity, &max, &end);
    doc_value boundary = number_value(&end);
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && state->has_record) {
        int order = 0;
        status = compare_next(s, state, &boundary, &order);
        if (status != TANSU_OK || order >= 0)
            break;
        status = take(s, state);
    }
    if (status == TANSU_OK && state->has_record && number_compare(&boundary, &zero) == 0) {
        /* The bucket of zeros ends where the next one begins. */
        value = value_of(state);
        granularity_down(state->granularity, &value, &end);
        boundary = number_value(&end);
    }
    return status == TANSU_OK ? put_value(s, &state->max, &boundary) : status;
}

/* begin_bucket -- the least value of the bucket, and its states. */
static tansu_status begin_bucket(stage *s, bucket_auto_state *state) {
    number begin;
    doc_value min = value_of(state);
    accumulated_end(&state->fields, state->states);
    memset(state->states, 0, state->fields.size);
    state->c.used = 0;
    if (state->granularity && state->previous.size != 0) {
        min = get_value(&state->previous);
    } else if (state->granularity) {
        granularity_down(state->granularity, &min, &begin);
        min = number_value(&begin);
    }
    evaluation_document(&s->p->ev, NULL, 0);
    tansu_status status = accumulated_begin(&state->c, &state->fields, state->states);
    return status == TANSU_OK ? put_value(s, &state->min, &min) : status;
}

/* make_bucket -- the documents of the next bucket, and where it ends. */
static tansu_status make_bucket(stage *s, bucket_auto_state *state) {
    uint64_t count = state->bucket_count;
    /* Rounded, half up; the last bucket takes all that is left. */
    uint64_t size = state->documents / count + (state->documents % count >= count - count / 2);
    bool last = ++state->made == count;
    tansu_status status = begin_bucket(s, state);
    for (uint64_t i = 0; status == TANSU_OK && state->has_record; i++) {
        if (i != 0 && i >= size && !last)
            break;
        status = take(s, state);
    }
    if (status == TANSU_OK)
        status = state->granularity ? take_to_granule(s, state) : take_equal(s, state);
    if (status != TANSU_OK)
        return status;
    if (state->granularity) {
        const doc_value max = get_value(&state->max);
        return put_value(s, &state->previous, &max);
    }
    if (!state->has_record)
        return TANSU_OK;
    const doc_value next = value_of(state);
    return put_value(s, &state->max, &next);
}

static tansu_status bucket_auto_next(stage *s, doc_value *doc) {
    bucket_auto_state *state = s->state;
    tansu_status status = state->sort ? TANSU_OK : read_all(s, state);
    if (status == TANSU_OK && (!state->has_record || state->made == state->bucket_count))
        return TANSU_DONE;
    if (status == TANSU_OK)
        status = make_bucket(s, state);
    if (status != TANSU_OK)
        return status;
    writer w = {.out = &s->out};
    s->out.size = 0;
    size_t start = writer_begin(&w), id = writer_open(&w, "_id", DOC_DOCUMENT);
    const doc_value min = get_value(&state->min), max = get_value(&state->max);
    writer_value(&w, "min", &min);
    writer_value(&w, "max", &max);
    writer_end(&w, id);
    status = accumulated_write(&state->c, &state->fields, state->states, &w);
    writer_end(&w, start);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

static void bucket_auto_end(stage *s) {
    bucket_auto_state *state = s->state;
    if (state->sort)
        s->p->spilled += external_sort_spilled(state->sort);
    external_sort_free(state->sort);
    if (state->states)
        accumulated_end(&state->fields, state->states);
    free(state->states);
    state->states = NULL;
    state->sort = NULL;
    state->has_record = false;
    state->documents = state->made = 0;
    state->previous.size = 0;
    state->c.used = 0;
}

static void bucket_auto_free(stage *s) {
    bucket_auto_state *state = s->state;
    if (!state)
        return;
    accumulating_free(&state->c);
    tansu_buffer_free(&state->key);
    tansu_buffer_free(&state->payload);
    tansu_buffer_free(&state->min);
    tansu_buffer_free(&state->max);
    tansu_buffer_free(&state->previous);
}

const stage_kind stage_bucket_auto = {.name = "$bucketAuto",
                                      .compile = bucket_auto_compile,
                                      .next = bucket_auto_next,
                                      .end = bucket_auto_end,
                                      .free = bucket_auto_free};
