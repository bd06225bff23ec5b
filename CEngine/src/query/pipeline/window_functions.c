/*
 * query/pipeline/window_functions.c -- the table of window functions, their operands, and
 * accumulators as window functions.
 */
#include "query/pipeline/window_functions.h"

#include "bson/json/json.h"

#include <string.h>

/* ---- Partitions ---- */

tansu_status partition_read(const partition *p, partition_reader *r, doc_value *doc) {
    tansu_status status = document_list_next(&p->list, &r->reader, doc);
    r->index += status == TANSU_OK;
    return status;
}

tansu_status partition_peek(const partition *p, partition_reader *r, doc_value *doc) {
    uint64_t at = r->reader.at;
    tansu_status status = document_list_next(&p->list, &r->reader, doc);
    r->reader.at = at;
    return status;
}

/* ---- Values ---- */

tansu_status window_value(const window_function *f, const expression *e, const doc_value *doc,
                          doc_value *result) {
    return stage_evaluate(f->p->s, e, doc, result);
}

tansu_status window_keep(window_function *f, const doc_value *value) {
    f->result = *value;
    if (value->size == 0)
        return TANSU_OK;
    if (!buffer_set(&f->value, value->data, value->size))
        return error_memory(f->p->s->p->error);
    f->result.data = f->value.data;
    return TANSU_OK;
}

tansu_status window_formula_compile(stage *s, window_function *f, const char *names,
                                    const char *json) {
    expression_compiler *c = &s->p->compiler;
    uint32_t variables = c->variable_count, slots = c->slot_count, count = 0;
    tansu_buffer doc = TANSU_BUFFER_INIT;
    tansu_status status = json_parse(json, strlen(json), 4096, 32, &doc, s->p->error);
    for (const char *at = names; status == TANSU_OK && *at;
         at += strcspn(at, " "), at += strspn(at, " "))
        status = expression_variable(c, at, strcspn(at, " "), &f->variables[count++]);
    if (status == TANSU_OK) {
        const doc_value value = {doc.data, (uint32_t)doc.size, DOC_DOCUMENT};
        status = expression_compile(c, &value, &f->formula);
    }
    tansu_buffer_free(&doc);
    c->variable_count = variables;
    c->slot_count = slots;
    return status;
}

tansu_status window_formula(window_function *f, const doc_value *values, doc_value *result) {
    evaluation *ev = &f->p->s->p->ev;
    for (uint32_t i = 0; i < FORMULA_VARIABLES; i++) {
        if (f->variables[i] != 0)
            ev->variables[f->variables[i]] = values[i];
    }
    return expression_evaluate(ev, f->formula, result);
}

/* ---- Accumulators ---- */

static tansu_status accumulates_add(window_function *f, const doc_value *doc, bool tied) {
    accumulator_input input;
    (void)tied;
    tansu_status status = accumulation_evaluate(&f->memory, &f->accumulation, doc, &input);
    return status == TANSU_OK ? accumulation_add(&f->memory, &f->accumulation, f->state, &input)
                              : status;
}

static tansu_status accumulates_result(window_function *f) {
    tansu_status status = accumulation_result(&f->memory, &f->accumulation, f->state, &f->result);
    if (f->result.type == DOC_MISSING)
        f->result = (doc_value){NULL, 0, DOC_NULL};
    return status;
}

const window_kind window_accumulates = {
    .scope = SCOPE_WINDOW, .add = accumulates_add, .result = accumulates_result};

/* compile_accumulator -- {"$sum": operand}. Unlike in $group the operand may be an array. */
static tansu_status compile_accumulator(stage *s, window_function *f, const char *name,
                                        const doc_value *operand) {
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer w = {.out = &doc};
    size_t start = writer_begin(&w);
    if (operand->type == DOC_ARRAY) {
        size_t wrapped = writer_open(&w, name, DOC_DOCUMENT);
        size_t list = writer_open(&w, "$ifNull", DOC_ARRAY);
        const doc_value null = {NULL, 0, DOC_NULL};
        writer_index_value(&w, 0, operand);
        writer_index_value(&w, 1, &null);
        writer_end(&w, list);
        writer_end(&w, wrapped);
    } else {
        writer_value(&w, name, operand);
    }
    writer_end(&w, start);
    doc_value spec = {NULL, (uint32_t)doc.size, DOC_DOCUMENT};
    spec.data = w.failed ? NULL : arena_copy(&s->p->memory, doc.data, doc.size);
    tansu_buffer_free(&doc);
    return spec.data ? accumulation_compile(s, NULL, &spec, &f->accumulation)
                     : error_memory(s->p->error);
}

/* ---- Compiling ---- */

static const window_kind *const kinds[] = {&window_rank,
                                           &window_dense_rank,
                                           &window_document_number,
                                           &window_exp_moving_avg,
                                           &window_locf,
                                           &window_linear_fill,
                                           &window_first,
                                           &window_last,
                                           &window_shift,
                                           &window_derivative,
                                           &window_integral,
                                           &window_covariance_pop,
                                           &window_covariance_samp,
                                           &window_min_max_scaler};

/* compile_kind -- the function of a name. */
static tansu_status compile_kind(stage *s, window_function *f, const window_order *order,
                                 const char *name, const doc_value *operand,
                                 const doc_value *window) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            f->kind = kinds[i];
    }
    f->by = order->by;
    f->has_window = window->type != DOC_MISSING;
    if (f->kind && f->kind->scope != SCOPE_WINDOW && f->has_window)
        return stage_error(s, name, "Has no window");
    tansu_status status = window_bounds_compile(s, "window", window, order, &f->bounds);
    if (status != TANSU_OK)
        return status;
    if (f->kind)
        return f->kind->compile(s, f, order, operand);
    status = compile_accumulator(s, f, name, operand);
    if (status != TANSU_OK)
        return status;
    f->kind = &window_accumulates;
    if (f->bounds.lower.kind != BOUND_UNBOUNDED) {
        const window_kind *moving = window_moving_kind(f->accumulation.kind->name);
        f->kind = moving ? moving : f->kind;
    }
    return TANSU_OK;
}

tansu_status window_function_compile(stage *s, const char *part, const doc_value *spec,
                                     const window_order *order, window_function *result) {
    const char *name = NULL;
    doc_value operand = {NULL, 0, DOC_MISSING}, window = operand;
    doc_iter iter;
    tansu_status status = TANSU_OK;
    *result = (window_function){.kind = NULL};
    if (spec->type != DOC_DOCUMENT)
        return stage_error(s, part, "Must be a document with a function, such as {\"$sum\": 1}");
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        if (iter.key[0] == '$' && !name) {
            name = iter.key;
            operand = iter.value;
        } else if (strcmp(iter.key, "window") == 0 && window.type == DOC_MISSING) {
            window = iter.value;
        } else {
            return stage_error(s, part, "Has one function and at most a \"window\", no \"%.100s\"",
                               iter.key);
        }
    }
    if (!name)
        return stage_error(s, part, "Has no function, such as {\"$sum\": 1}");
    status = compile_kind(s, result, order, name, &operand, &window);
    if (status == TANSU_OK) {
        const window_kind *kind = result->kind;
        size_t size = kind->size != 0 ? kind->size : 1;
        if (kind == &window_accumulates)
            size = accumulation_size(&result->accumulation);
        result->state = stage_alloc(s, size);
        status = result->state ? TANSU_OK : TANSU_E_MEMORY;
    }
    if (status != TANSU_OK)
        error_prefix(s->p->error, part);
    result->memory.s = s;
    return status;
}

bool window_function_streams(const window_function *f) {
    const window_bounds *b = &f->bounds;
    if (f->kind->scope != SCOPE_WINDOW)
        return f->kind->scope == SCOPE_BEFORE;
    bool current =
        b->upper.kind == BOUND_CURRENT || (b->upper.kind == BOUND_OFFSET && b->upper.offset == 0);
    return f->kind->add && !b->range && b->lower.kind == BOUND_UNBOUNDED && current;
}

/* ---- States ---- */

/* clear_state -- frees what the state has. */
static void clear_state(window_function *f) {
    size_t size = f->kind->size;
    if (f->kind == &window_accumulates) {
        size = accumulation_size(&f->accumulation);
        accumulation_end(&f->accumulation, f->state);
    } else if (f->kind->free) {
        f->kind->free(f->state);
    }
    memset(f->state, 0, size);
    f->memory.used = 0;
    f->removed = 0;
    f->drifts = f->inexact = false;
    f->changed = true;
}

/* restart -- puts a reader before the first document; the list may have changed. */
static void restart(partition_reader *r) {
    r->reader.window.size = 0;
    r->reader.at = 0;
    r->index = 0;
}

tansu_status window_function_clear(window_function *f) {
    clear_state(f);
    if (f->kind != &window_accumulates)
        return TANSU_OK;
    evaluation_document(&f->p->s->p->ev, NULL, 0);
    return accumulation_begin(&f->memory, &f->accumulation, f->state);
}

tansu_status window_function_begin(window_function *f) {
    restart(&f->lower);
    restart(&f->upper);
    restart(&f->scan);
    return window_function_clear(f);
}

void window_function_end(window_function *f) {
    if (!f->state)
        return;
    clear_state(f);
    accumulating_free(&f->memory);
    document_reader_free(&f->lower.reader);
    document_reader_free(&f->upper.reader);
    document_reader_free(&f->scan.reader);
    f->lower = f->upper = f->scan = (partition_reader){.index = 0};
    tansu_buffer_free(&f->value);
}
