/*
 * query/pipeline/stage_densify.c -- $densify: documents for the values that a field lacks in a
 * range, at a step.
 *
 * The values of a partition are at a distance of whole steps from its first one, from the first one
 * of all, or from the lower bound. Each partition knows the next value that it lacks; a document
 * with a greater value comes behind those that are made up to it.
 */
#include "query/pipeline/document_sorter.h"
#include "query/pipeline/sort_pattern.h"
#include "query/pipeline/window_bounds.h"

#include "bson/decimal_arithmetic.h"
#include "query/util/date_unit.h"
#include "query/util/key_set.h"
#include "query/util/numeric_sum.h"

#include <string.h>

/* More documents are not made, as in MongoDB. */
#define DENSIFY_MAX 500000

enum densify_bounds { DENSIFY_FULL, DENSIFY_PARTITION, DENSIFY_RANGE };

/* A partition. */
typedef struct densified {
    key_set_item head; /* the key of its fields */
    number next;       /* the next value that it lacks; of type 0: none is known */
    doc_value fields;  /* those by which it is one */
} densified;

typedef struct densify_state {
    const char *field;
    size_t field_size;
    const char **partition_fields;
    uint32_t partition_count;
    computed_fields *partition; /* a document of them; NULL: there are none */
    computed_fields *made;      /* sets the field to the variable */
    uint32_t slot;
    const sort_pattern *order;
    enum densify_bounds bounds;
    number step, low, high;
    bool has_unit;
    date_unit unit;
    int64_t unit_step;
    /* While running. */
    document_sorter *sorter; /* NULL: nothing was read */
    tansu_buffer key;
    tansu_buffer fields; /* of the present document, or empty */
    arena memory;
    size_t used;
    key_set partitions;
    densified one;      /* without fields */
    densified *current; /* the partition that values are made of; NULL: none */
    number limit;       /* up to this one */
    bool inclusive;     /* itself, too */
    doc_value waiting;  /* the document that comes then; or missing */
    number first, last; /* of all; of type 0: no document has a value */
    bool ended;
    uint64_t count;
} densify_state;

/* ---- Compiling ---- */

/* read_path -- the name of a field. */
static tansu_status read_path(stage *s, const char *part, const doc_value *value, const char **text,
                              size_t *size) {
    if (value->type != DOC_STRING)
        return stage_error(s, part, "Must be a path");
    const char *from = doc_string(value, size);
    if (*size == 0 || from[0] == '$' || memchr(from, 0, *size))
        return stage_error(s, part, "A path is not empty, has no NUL and does not begin with $");
    *text = arena_copy(&s->p->memory, from, *size);
    return *text ? TANSU_OK : error_memory(s->p->error);
}

/* is_within -- whether a path is another one, or leads into it. */
static bool is_within(const char *path, size_t size, const char *other, size_t other_size) {
    return size >= other_size && memcmp(path, other, other_size) == 0 &&
           (size == other_size || path[other_size] == '.');
}

/* read_partition_fields -- "partitionByFields". */
static tansu_status read_partition_fields(stage *s, densify_state *state, const doc_value *list) {
    doc_iter iter;
    uint32_t count = 0;
    if (list->type == DOC_MISSING)
        return TANSU_OK;
    if (list->type != DOC_ARRAY)
        return stage_error(s, "partitionByFields", "Must be an array of paths");
    for (doc_iter_value(&iter, list); doc_iter_next(&iter);)
        count++;
    state->partition_fields = stage_alloc(s, (count + 1) * sizeof *state->partition_fields);
    if (!state->partition_fields)
        return TANSU_E_MEMORY;
    for (doc_iter_value(&iter, list); doc_iter_next(&iter); state->partition_count++) {
        const char **path = &state->partition_fields[state->partition_count];
        size_t size = 0;
        tansu_status status = read_path(s, "partitionByFields", &iter.value, path, &size);
        if (status != TANSU_OK)
            return status;
        if (is_within(*path, size, state->field, state->field_size) ||
            is_within(state->field, state->field_size, *path, size))
            return stage_error(s, "partitionByFields",
                               "Path \"%.100s\" and the field are within one another", *path);
    }
    return TANSU_OK;
}

/* compile_order -- by the partitions, unless they are mixed, and the field. */
static tansu_status compile_order(stage *s, densify_state *state) {
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer w = {.out = &doc};
    size_t start = writer_begin(&w);
    for (uint32_t i = 0; state->bounds != DENSIFY_FULL && i < state->partition_count; i++)
        writer_int32(&w, state->partition_fields[i], 1);
    writer_int32(&w, state->field, 1);
    writer_end(&w, start);
    const doc_value spec = {doc.data, (uint32_t)doc.size, DOC_DOCUMENT};
    tansu_status status = w.failed ? error_memory(s->p->error)
                                   : sort_pattern_compile(s, "field", &spec, &state->order);
    tansu_buffer_free(&doc);
    return status;
}

/* compile_set -- fields set to "$path", or for one field to "$$value". */
static tansu_status compile_set(stage *s, const char **paths, uint32_t count, const char *value,
                                computed_fields **result) {
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer w = {.out = &doc};
    size_t start = writer_begin(&w);
    for (uint32_t i = 0; i < count; i++) {
        size_t size = strlen(paths[i]);
        write_path(&w, paths[i], size, value ? value : paths[i], value ? strlen(value) : size);
    }
    writer_end(&w, start);
    doc_value spec = {NULL, (uint32_t)doc.size, DOC_DOCUMENT};
    spec.data = w.failed ? NULL : arena_copy(&s->p->memory, doc.data, doc.size);
    tansu_buffer_free(&doc);
    return spec.data ? computed_fields_compile(&s->p->compiler, &spec, COMPUTE_ADD, result)
                     : error_memory(s->p->error);
}

/* compile_fields -- what is computed of the paths. */
static tansu_status compile_fields(stage *s, densify_state *state) {
    expression_compiler *c = &s->p->compiler;
    uint32_t variables = c->variable_count, slots = c->slot_count;
    tansu_status status = compile_order(s, state);
    if (status == TANSU_OK && state->partition_count != 0)
        status = compile_set(s, state->partition_fields, state->partition_count, NULL,
                             &state->partition);
    if (status == TANSU_OK)
        status = expression_variable(c, "value", 5, &state->slot);
    if (status == TANSU_OK)
        status = compile_set(s, &state->field, 1, "$value", &state->made);
    c->variable_count = variables;
    c->slot_count = slots;
    return status;
}

/* read_range -- the bounds [low, high]. */
static tansu_status read_range(stage *s, densify_state *state, const doc_value *list) {
    doc_iter iter;
    doc_value ends[2];
    uint32_t count = 0;
    for (doc_iter_value(&iter, list); doc_iter_next(&iter); count++) {
        if (count < 2)
            ends[count] = iter.value;
    }
    if (count != 2)
        return stage_error(s, "range.bounds", "Must be an array of two");
    if (ends[0].type != ends[1].type || (ends[0].type != DOC_DATE && !doc_is_number(&ends[0])))
        return stage_error(s, "range.bounds", "Must be two dates, or two numbers of one type");
    if (state->has_unit != (ends[0].type == DOC_DATE))
        return stage_error(s, "range.bounds", "Dates need a unit, and numbers have none");
    if (!state->has_unit && ends[0].type != state->step.type)
        return stage_error(s, "range.bounds", "Must be numbers of the type of the step");
    window_copy(&ends[0], &state->low);
    window_copy(&ends[1], &state->high);
    if (ends[0].type == DOC_DATE ? doc_int64(&ends[0]) > doc_int64(&ends[1])
                                 : number_compare(&ends[0], &ends[1]) > 0)
        return stage_error(s, "range.bounds", "The lower bound exceeds the upper one");
    return TANSU_OK;
}

/* read_bounds -- "bounds". */
static tansu_status read_bounds(stage *s, densify_state *state, const doc_value *value) {
    size_t size = 0;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (value->type == DOC_ARRAY) {
        state->bounds = DENSIFY_RANGE;
        return read_range(s, state, value);
    }
    if (size == 9 && memcmp(text, "partition", size) == 0)
        state->bounds = DENSIFY_PARTITION;
    else if (size != 4 || memcmp(text, "full", size) != 0)
        return stage_error(s, "range.bounds",
                           "Must be \"full\", \"partition\", or an array of two");
    return TANSU_OK;
}

/* read_step -- "range". */
static tansu_status read_step(stage *s, densify_state *state, const doc_value *range) {
    enum { STEP, BOUNDS, UNIT, MEMBERS };
    doc_value members[MEMBERS];
    number zero;
    tansu_status status = stage_members(s, range, "step! bounds! unit", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, "range");
        return status;
    }
    number_int32(0, &zero);
    const doc_value least = number_value(&zero), *step = &members[STEP];
    if (!doc_is_number(step) || number_compare(step, &least) <= 0)
        return stage_error(s, "range.step", "Must be a number above 0");
    window_copy(step, &state->step);
    state->has_unit = members[UNIT].type != DOC_MISSING;
    if (state->has_unit && !date_unit_read(&members[UNIT], &state->unit))
        return stage_error(s, "range.unit", "Must name a unit of time, such as \"day\"");
    if (state->has_unit && !doc_as_int64(step, &state->unit_step))
        return stage_error(s, "range.step", "Must be a whole number of units");
    return read_bounds(s, state, &members[BOUNDS]);
}

static tansu_status densify_compile(stage *s, const doc_value *spec) {
    enum { FIELD, PARTITION, RANGE, MEMBERS };
    doc_value members[MEMBERS];
    densify_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    tansu_status status = stage_members(s, spec, "field! partitionByFields range!", members);
    if (status == TANSU_OK)
        status = read_path(s, "field", &members[FIELD], &state->field, &state->field_size);
    if (status == TANSU_OK)
        status = read_partition_fields(s, state, &members[PARTITION]);
    if (status == TANSU_OK)
        status = read_step(s, state, &members[RANGE]);
    if (status != TANSU_OK)
        return status;
    if (state->bounds == DENSIFY_PARTITION && state->partition_count == 0)
        return stage_error(s, "range.bounds", "\"partition\" needs \"partitionByFields\"");
    return compile_fields(s, state);
}

/* ---- Values ---- */

/* compare -- the order of two numbers, or of two dates. */
static int compare(const number *a, const number *b) {
    const doc_value left = number_value(a), right = number_value(b);
    if (a->type != DOC_DATE)
        return number_compare(&left, &right);
    int64_t x = doc_int64(&left), y = doc_int64(&right);
    return (x > y) - (x < y);
}

/* add_step -- the value a step later. */
static tansu_status add_step(stage *s, const densify_state *state, number *value) {
    const doc_value from = number_value(value), step = number_value(&state->step);
    int64_t date;
    number sum;
    if (state->has_unit) {
        if (!date_add(NULL, doc_int64(&from), state->unit, state->unit_step, &date))
            return stage_error(s, s->kind->name, "A value is beyond the dates that can be stored");
        number_int64(date, value);
        value->type = DOC_DATE;
        return TANSU_OK;
    }
    if (number_add(&from, &step, &sum) != NUMBER_OK)
        number_double(number_to_double(&from) + number_to_double(&step), &sum);
    *value = sum;
    return TANSU_OK;
}

/* read_value -- the value of the field of a document; arrays are no part of a path. Its type is 0
 * when it is null or missing. Errors: INVALID_QUERY. */
static tansu_status read_value(stage *s, const densify_state *state, const doc_value *doc,
                               number *result) {
    const char *text = state->field, *end = text + state->field_size;
    doc_value value = *doc;
    result->type = 0;
    for (;;) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        size_t size = (size_t)((dot ? dot : end) - text);
        if (value.type != DOC_DOCUMENT)
            return TANSU_OK;
        doc_find(value.data, value.size, text, size, &value);
        if (!dot)
            break;
        text = dot + 1;
    }
    if (value.type == DOC_NULL || value.type == DOC_MISSING || value.type == DOC_UNDEFINED)
        return TANSU_OK;
    if (state->has_unit ? value.type != DOC_DATE : !doc_is_number(&value))
        return stage_error(s, s->kind->name,
                           "The field must have dates when there is a unit, and numbers otherwise");
    window_copy(&value, result);
    return TANSU_OK;
}

/* ---- Partitions ---- */

/* keep_partition -- the partition of the fields that were read, which it keeps. */
static tansu_status keep_partition(stage *s, densify_state *state, densified **result) {
    evaluation *ev = &s->p->ev;
    const doc_value fields = {state->fields.data, (uint32_t)state->fields.size, DOC_DOCUMENT};
    bool added;
    state->key.size = 0;
    if (!collation_key(ev->collation, &ev->collated[0], &state->key, &fields, false))
        return error_memory(s->p->error);
    densified *p = (densified *)key_set_add(&state->partitions, &state->memory, state->key.data,
                                            state->key.size, sizeof *p, &added, &state->used);
    if (p && added) {
        p->fields = fields;
        p->fields.data = arena_copy(&state->memory, fields.data, fields.size);
        state->used += fields.size;
    }
    if (!p || !p->fields.data)
        return error_memory(s->p->error);
    if (state->used > pipeline_memory(s->p) / 2)
        return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                         "The partitions exceed %zu bytes; raise \"$maxMemory\", or let fewer "
                         "documents reach the stage",
                         pipeline_memory(s->p) / 2);
    *result = p;
    return TANSU_OK;
}

/* find_partition -- the partition of a document. */
static tansu_status find_partition(stage *s, densify_state *state, const doc_value *doc,
                                   densified **result) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    const doc_value none = {empty, sizeof empty, DOC_DOCUMENT};
    writer w = {.out = &state->fields};
    *result = &state->one;
    state->fields.size = 0;
    if (!state->partition)
        return buffer_set(&state->fields, empty, sizeof empty) ? TANSU_OK
                                                               : error_memory(s->p->error);
    evaluation_document(&s->p->ev, doc->data, doc->size);
    tansu_status status = computed_fields_apply(&s->p->ev, state->partition, &none, &w);
    if (status == TANSU_OK && w.failed)
        status = error_memory(s->p->error);
    return status == TANSU_OK ? keep_partition(s, state, result) : status;
}

/* ---- Documents ---- */

/* make -- shows the document of the next value of the present partition. */
static tansu_status make(stage *s, densify_state *state, const doc_value *fields, doc_value *doc) {
    evaluation *ev = &s->p->ev;
    writer w = {.out = &s->out};
    const number value = state->current->next;
    if (++state->count > DENSIFY_MAX)
        return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                         "More than %d documents would be made; use a greater step, or smaller "
                         "bounds",
                         DENSIFY_MAX);
    tansu_status status = add_step(s, state, &state->current->next);
    if (status != TANSU_OK)
        return status;
    s->out.size = 0;
    evaluation_document(ev, fields->data, fields->size);
    ev->variables[state->slot] = number_value(&value);
    status = computed_fields_apply(&s->p->ev, state->made, fields, &w);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

/* is_lacking -- whether the present partition lacks its next value. */
static bool is_lacking(const densify_state *state) {
    int order = compare(&state->current->next, &state->limit);
    return order < 0 || (order == 0 && state->inclusive);
}

/* take -- a document from the sort: values that lack before it are made first. */
static tansu_status take(stage *s, densify_state *state, const doc_value *doc) {
    densified *p;
    number value;
    state->waiting = *doc;
    tansu_status status = read_value(s, state, doc, &value);
    if (status != TANSU_OK || value.type == 0)
        return status;
    status = find_partition(s, state, doc, &p);
    if (status != TANSU_OK)
        return status;
    if (state->first.type == 0)
        state->first = value;
    state->last = value;
    if (p->next.type == 0)
        p->next = state->bounds == DENSIFY_RANGE       ? state->low
                  : state->bounds == DENSIFY_PARTITION ? value
                                                       : state->first;
    state->current = p;
    state->inclusive = false;
    state->limit = value;
    if (state->bounds == DENSIFY_RANGE && compare(&value, &state->high) > 0)
        state->limit = state->high;
    return TANSU_OK;
}

/* pass -- shows the document that waits. Its value is no longer lacking. */
static tansu_status pass(stage *s, densify_state *state, doc_value *doc) {
    densified *p = state->current;
    *doc = state->waiting;
    state->waiting.type = DOC_MISSING;
    state->current = NULL;
    return p && compare(&p->next, &state->limit) == 0 ? add_step(s, state, &p->next) : TANSU_OK;
}

/* read_all -- sorts the documents of the stage before. */
static tansu_status read_all(stage *s, densify_state *state) {
    doc_value doc;
    tansu_status status = TANSU_OK;
    state->sorter = document_sorter_new(s, UINT64_MAX, pipeline_memory(s->p) / 2);
    if (!state->sorter)
        return error_memory(s->p->error);
    while (status == TANSU_OK && (status = stage_next(s, &doc)) == TANSU_OK) {
        state->key.size = 0;
        status = sort_pattern_key(s, state->order, &doc, &state->key);
        if (status == TANSU_OK)
            status = document_sorter_add(state->sorter, &state->key, &doc);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* begin_end -- behind the last document: the partitions are completed, one after the other. */
static void begin_end(densify_state *state) {
    bool fed = state->first.type != 0;
    state->ended = true;
    state->current = NULL;
    state->inclusive = false;
    if (state->bounds == DENSIFY_RANGE) {
        state->limit = state->high;
        if (!state->partition) {
            state->current = &state->one;
            if (!fed)
                state->one.next = state->low;
            /* As in MongoDB, of no documents there is at least one. */
            state->inclusive = !fed && compare(&state->low, &state->high) == 0;
        }
    } else {
        state->limit = state->last;
        state->inclusive = true;
    }
    if (state->partition && fed && state->bounds != DENSIFY_PARTITION)
        state->current = (densified *)state->partitions.first;
}

/* next_end -- a document of the end. */
static tansu_status next_end(stage *s, densify_state *state, doc_value *doc) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    const doc_value none = {empty, sizeof empty, DOC_DOCUMENT};
    for (; state->current; state->current = (densified *)state->current->head.next) {
        tansu_status status = stage_step(s);
        if (status != TANSU_OK)
            return status;
        if (is_lacking(state))
            return make(s, state, state->partition ? &state->current->fields : &none, doc);
    }
    return TANSU_DONE;
}

static tansu_status densify_next(stage *s, doc_value *doc) {
    densify_state *state = s->state;
    tansu_status status = state->sorter ? stage_step(s) : read_all(s, state);
    if (status == TANSU_OK && !state->ended && state->waiting.type == DOC_MISSING) {
        doc_value next;
        status = document_sorter_next(state->sorter, &next);
        if (status == TANSU_OK)
            status = take(s, state, &next);
    }
    if (status == TANSU_DONE) {
        begin_end(state);
        status = TANSU_OK;
    }
    if (status != TANSU_OK)
        return status;
    if (state->ended)
        return next_end(s, state, doc);
    const doc_value fields = {state->fields.data, (uint32_t)state->fields.size, DOC_DOCUMENT};
    if (state->current && is_lacking(state))
        return make(s, state, &fields, doc);
    return pass(s, state, doc);
}

static void densify_end(stage *s) {
    densify_state *state = s->state;
    if (!state)
        return;
    document_sorter_free(state->sorter);
    state->sorter = NULL;
    tansu_buffer_free(&state->key);
    tansu_buffer_free(&state->fields);
    arena_free(&state->memory);
    state->partitions = (key_set){.count = 0};
    state->one = (densified){.fields.data = NULL};
    state->current = NULL;
    state->waiting = (doc_value){NULL, 0, DOC_MISSING};
    state->first.type = 0;
    state->ended = false;
    state->used = 0;
    state->count = 0;
}

const stage_kind stage_densify = {.name = "$densify",
                                  .compile = densify_compile,
                                  .next = densify_next,
                                  .end = densify_end,
                                  .free = densify_end};
