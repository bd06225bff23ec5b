/*
 * query/pipeline/windowing.c -- compiling $setWindowFields, and its documents one by one.
 */
#include "query/pipeline/window_functions.h"

#include <stdio.h>
#include <string.h>

struct windowing {
    stage *s;
    window_input input;
    value_reader by; /* the value of "sortBy"; without an expression: no path, or several */
    bool has_range;
    window_function *functions;
    uint32_t count;
    uint32_t first_slot;           /* of the variables of their results, */
    const computed_fields *fields; /* which are set as fields; NULL: there are none */
    bool streams;
    /* While running. */
    partition partition;
    partition_reader reader; /* of the present document */
    window_document ahead;   /* the first document of the next partition */
    bool has_ahead;
    bool begun, done;
};

/* ---- Compiling ---- */

/* compile_place -- the value of a path of "sortBy". */
static tansu_status compile_place(windowing *w, const doc_iter *path) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    writer out = {.out = &text};
    size_t start = writer_begin_string(&out);
    writer_bytes(&out, "$", 1);
    writer_bytes(&out, path->key, path->key_size);
    writer_end_string(&out, start);
    const doc_value value = {text.data, (uint32_t)text.size, DOC_STRING};
    const expression *e;
    tansu_status status =
        out.failed ? error_memory(w->s->p->error) : stage_expression(w->s, "sortBy", &value, &e);
    tansu_buffer_free(&text);
    return status == TANSU_OK ? value_reader_init(w->s, e, &w->by) : status;
}

/* compile_order -- "sortBy". */
static tansu_status compile_order(windowing *w, const doc_value *spec, window_order *order) {
    stage *s = w->s;
    doc_iter iter;
    *order = (window_order){.given = spec->type == DOC_DOCUMENT};
    if (spec->type == DOC_MISSING || spec->type == DOC_NULL)
        return TANSU_OK;
    if (spec->type != DOC_DOCUMENT)
        return stage_error(s, "sortBy", "Must be a document of paths");
    if (spec->size <= 5)
        return TANSU_OK;
    tansu_status status = sort_pattern_compile(s, "sortBy", spec, &w->input.sort_by);
    if (status != TANSU_OK)
        return status;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);)
        order->count++;
    doc_iter_value(&iter, spec);
    doc_iter_next(&iter);
    order->descending = number_to_double(&iter.value) < 0;
    if (order->count == 1)
        status = compile_place(w, &iter);
    order->by = w->by.expression;
    return status;
}

/* compile_partition -- "partitionBy". A constant makes one partition. */
static tansu_status compile_partition(windowing *w, const doc_value *spec) {
    const expression *e;
    doc_value value;
    if (spec->type == DOC_MISSING)
        return TANSU_OK;
    tansu_status status = stage_expression(w->s, "partitionBy", spec, &e);
    if (status != TANSU_OK)
        return status;
    if (!expression_constant(e, &value))
        return value_reader_init(w->s, e, &w->input.partition);
    return value.type != DOC_ARRAY ? TANSU_OK
                                   : stage_error(w->s, "partitionBy", "Cannot be an array");
}

/* compile_fields -- sets the fields to variables, which are in scope until the caller sets them
 * back. */
static tansu_status compile_fields(windowing *w, const doc_value *output) {
    stage *s = w->s;
    doc_iter iter;
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer out = {.out = &doc};
    tansu_status status = TANSU_OK;
    uint32_t i = 0;
    size_t start = writer_begin(&out);
    for (doc_iter_value(&iter, output); status == TANSU_OK && doc_iter_next(&iter); i++) {
        char name[32];
        uint32_t slot;
        int size = snprintf(name, sizeof name, "$$window%u", (unsigned)i);
        status = expression_variable(&s->p->compiler, name + 2, (size_t)size - 2, &slot);
        if (i == 0)
            w->first_slot = slot;
        writer_string(&out, iter.key, name);
    }
    writer_end(&out, start);
    doc_value spec = {NULL, (uint32_t)doc.size, DOC_DOCUMENT};
    /* The names of the fields are those of the document. */
    if (status == TANSU_OK) {
        spec.data = out.failed ? NULL : arena_copy(&s->p->memory, doc.data, doc.size);
        status = spec.data ? computed_fields_compile(&s->p->compiler, &spec, COMPUTE_ADD,
                                                     (computed_fields **)&w->fields)
                           : error_memory(s->p->error);
    }
    tansu_buffer_free(&doc);
    return status;
}

/* compile_output -- the functions, and the fields of their results. */
static tansu_status compile_output(windowing *w, const doc_value *output,
                                   const window_order *order) {
    stage *s = w->s;
    expression_compiler *c = &s->p->compiler;
    uint32_t variables = c->variable_count, slots = c->slot_count, count = 0;
    doc_iter iter;
    if (output->type != DOC_DOCUMENT)
        return stage_error(s, "output", "Must be a document of fields");
    for (doc_iter_value(&iter, output); doc_iter_next(&iter);)
        count++;
    w->functions = stage_alloc(s, (count + 1) * sizeof *w->functions);
    if (!w->functions)
        return TANSU_E_MEMORY;
    w->streams = true;
    for (doc_iter_value(&iter, output); doc_iter_next(&iter); w->count++) {
        window_function *f = &w->functions[w->count];
        tansu_status status = window_function_compile(s, iter.key, &iter.value, order, f);
        if (status != TANSU_OK) {
            error_prefix(s->p->error, "output");
            return status;
        }
        f->p = &w->partition;
        f->place = &w->by;
        w->streams = w->streams && window_function_streams(f);
        w->has_range = w->has_range || f->bounds.range;
    }
    if (count == 0)
        return TANSU_OK;
    tansu_status status = compile_fields(w, output);
    if (status != TANSU_OK)
        error_prefix(s->p->error, "output");
    c->variable_count = variables;
    c->slot_count = slots;
    return status;
}

tansu_status windowing_compile(stage *s, const windowing_spec *spec, windowing **result) {
    window_order order;
    windowing *w = *result = stage_alloc(s, sizeof *w);
    if (!w)
        return TANSU_E_MEMORY;
    w->s = w->input.s = w->partition.s = s;
    tansu_status status = compile_partition(w, &spec->partition_by);
    if (status == TANSU_OK)
        status = compile_order(w, &spec->sort_by, &order);
    return status == TANSU_OK ? compile_output(w, &spec->output, &order) : status;
}

/* ---- Partitions ---- */

/* begin_functions -- for a new partition. */
static tansu_status begin_functions(windowing *w) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < w->count; i++)
        status = window_function_begin(&w->functions[i]);
    return status;
}

/* begin -- makes the run ready. */
static void begin(windowing *w) {
    w->begun = true;
    document_list_init(&w->partition.list, w->s, pipeline_memory(w->s->p) / 4);
}

/* next_document -- of the input. */
static tansu_status next_document(windowing *w, window_document *result) {
    if (w->has_ahead) {
        w->has_ahead = false;
        *result = w->ahead;
        return TANSU_OK;
    }
    size_t memory = pipeline_memory(w->s->p);
    return window_input_next(&w->input, w->streams ? memory : memory / 2, result);
}

/* put_document -- adds a document to the list. */
static tansu_status put_document(windowing *w, const window_document *document) {
    partition *p = &w->partition;
    uint64_t i = p->list.count;
    if (i % 8 == 0 && !buffer_append_byte(&p->ties, 0))
        return error_memory(w->s->p->error);
    if (document->tied)
        p->ties.data[i / 8] |= (uint8_t)(1u << i % 8);
    return document_list_add(&p->list, &document->doc);
}

/* read_partition -- lists the documents of the next partition. TANSU_DONE when there are none. */
static tansu_status read_partition(windowing *w) {
    partition *p = &w->partition;
    tansu_status status = document_list_clear(&p->list);
    p->ties.size = 0;
    w->reader.reader.at = w->reader.index = 0;
    w->reader.reader.window.size = 0;
    while (status == TANSU_OK && !w->done) {
        window_document document;
        status = next_document(w, &document);
        w->done = status == TANSU_DONE;
        if (status == TANSU_OK && document.begins && p->list.count != 0) {
            w->ahead = document;
            w->has_ahead = true;
            break;
        }
        if (status == TANSU_OK)
            status = put_document(w, &document);
    }
    if (status == TANSU_DONE)
        status = TANSU_OK;
    if (status == TANSU_OK && p->list.count == 0)
        return TANSU_DONE;
    return status == TANSU_OK ? begin_functions(w) : status;
}

/* is_tied -- whether a document is in the same place as the one before. */
static bool is_tied(const partition *p, uint64_t i) {
    return (p->ties.data[i / 8] >> i % 8 & 1) != 0;
}

/* ---- Windows ---- */

/* compare_to -- the order of the value of "sortBy" of a document and an end of the window. */
static tansu_status compare_to(window_function *f, const doc_value *doc, window_end *end,
                               int *order, bool *expected) {
    stage *s = f->p->s;
    doc_value place;
    evaluation_document(&s->p->ev, doc->data, doc->size);
    tansu_status status = value_read(&s->p->ev, f->place, doc, &place);
    if (status != TANSU_OK)
        return status;
    *expected = window_is_expected(&f->bounds, &place);
    return window_end_compare(s, end, &place, order);
}

/* is_before -- whether the document at an index is before the window. */
static tansu_status is_before(window_function *f, const doc_value *doc, uint64_t index,
                              bool *result) {
    const window_bound *bound = &f->bounds.lower;
    int64_t distance = (int64_t)(index - f->p->index);
    bool expected;
    int order = 0;
    *result = false;
    if (bound->kind == BOUND_UNBOUNDED)
        return TANSU_OK;
    if (!f->bounds.range || bound->kind == BOUND_CURRENT) {
        *result = distance < (bound->kind == BOUND_CURRENT ? 0 : bound->offset);
        return TANSU_OK;
    }
    tansu_status status = compare_to(f, doc, &f->low, &order, &expected);
    *result = order < 0;
    return status;
}

/* is_behind -- whether it is behind the window. */
static tansu_status is_behind(window_function *f, const doc_value *doc, uint64_t index,
                              bool *result) {
    const window_bound *bound = &f->bounds.upper;
    int64_t distance = (int64_t)(index - f->p->index);
    bool expected = true;
    int order = 0;
    *result = false;
    if (bound->kind == BOUND_UNBOUNDED && !f->bounds.range)
        return TANSU_OK;
    if (bound->kind != BOUND_UNBOUNDED && (!f->bounds.range || bound->kind == BOUND_CURRENT)) {
        *result = distance > (bound->kind == BOUND_CURRENT ? 0 : bound->offset);
        return TANSU_OK;
    }
    tansu_status status = compare_to(f, doc, &f->high, &order, &expected);
    *result = !expected || (bound->kind == BOUND_OFFSET && order > 0);
    return status;
}

/* check_memory -- errors: TOO_LARGE, when a state exceeds half of the stage's memory. */
static tansu_status check_memory(const window_function *f) {
    stage *s = f->p->s;
    size_t limit = pipeline_memory(s->p) / 2;
    if (f->memory.used <= limit)
        return TANSU_OK;
    return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                     "A window has more than %zu bytes of values; raise \"$maxMemory\", or make "
                     "the window smaller",
                     limit);
}

/* add_document -- takes a document into the state. */
static tansu_status add_document(window_function *f, const doc_value *doc, bool tied) {
    evaluation_document(&f->p->s->p->ev, doc->data, doc->size);
    f->changed = true;
    tansu_status status = f->kind->add(f, doc, tied);
    return status == TANSU_OK ? check_memory(f) : status;
}

/* recomputes -- whether the window is added up anew whenever it changes. */
static bool recomputes(const window_function *f) {
    return f->kind->add && !f->kind->remove && f->bounds.lower.kind != BOUND_UNBOUNDED;
}

/* move_upper -- takes the documents up to the end of the window. */
static tansu_status move_upper(window_function *f) {
    const partition *p = f->p;
    bool adds = f->kind->add && !recomputes(f);
    while (f->upper.index < p->list.count) {
        bool behind, before = false;
        doc_value doc;
        tansu_status status = partition_peek(p, &f->upper, &doc);
        if (status == TANSU_OK)
            status = is_behind(f, &doc, f->upper.index, &behind);
        if (status != TANSU_OK || behind)
            return status;
        if (window_count(f) == 0)
            status = is_before(f, &doc, f->upper.index, &before);
        if (status == TANSU_OK && !before && adds)
            status = add_document(f, &doc, is_tied(p, f->upper.index));
        f->last = f->upper.reader.at;
        f->changed = true;
        if (status == TANSU_OK)
            status = partition_read(p, &f->upper, &doc);
        if (status == TANSU_OK && before)
            status = partition_read(p, &f->lower, &doc);
        if (status == TANSU_OK)
            status = stage_step(p->s);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* move_lower -- removes the documents that the window has left. */
static tansu_status move_lower(window_function *f) {
    const partition *p = f->p;
    while (f->lower.index < f->upper.index) {
        bool before;
        doc_value doc;
        tansu_status status = partition_peek(p, &f->lower, &doc);
        if (status == TANSU_OK)
            status = is_before(f, &doc, f->lower.index, &before);
        if (status != TANSU_OK || !before)
            return status;
        if (f->kind->remove) {
            evaluation_document(&p->s->p->ev, doc.data, doc.size);
            status = f->kind->remove(f, &doc);
            f->removed++;
        }
        f->changed = true;
        if (status == TANSU_OK)
            status = partition_read(p, &f->lower, &doc);
        if (status == TANSU_OK)
            status = stage_step(p->s);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* add_up -- makes the state of the window anew. */
static tansu_status add_up(window_function *f) {
    const partition *p = f->p;
    uint64_t end = f->upper.index, at = f->upper.reader.at;
    tansu_status status = window_function_clear(f);
    f->scan.reader.at = f->lower.reader.at;
    f->scan.index = f->lower.index;
    while (status == TANSU_OK && f->scan.index < end) {
        doc_value doc;
        uint64_t index = f->scan.index;
        status = partition_read(p, &f->scan, &doc);
        /* Functions take the index of the document from there. */
        f->upper.index = index;
        if (status == TANSU_OK)
            status = add_document(f, &doc, is_tied(p, index));
        if (status == TANSU_OK)
            status = stage_step(p->s);
    }
    f->upper.index = end;
    f->upper.reader.at = at;
    return status;
}

/* move_window -- moves the window of a function to the present document. */
static tansu_status move_window(window_function *f) {
    const partition *p = f->p;
    tansu_status status = TANSU_OK;
    if (f->bounds.range) {
        const doc_value base =
            p->has_base ? number_value(&p->base) : (doc_value){NULL, 0, DOC_NULL};
        status = window_check_base(p->s, &f->bounds, &base);
        if (status == TANSU_OK)
            status = window_end_begin(p->s, &f->bounds, &f->bounds.lower, &p->base, &f->low);
        if (status == TANSU_OK)
            status = window_end_begin(p->s, &f->bounds, &f->bounds.upper, &p->base, &f->high);
    }
    if (status == TANSU_OK)
        status = move_upper(f);
    if (status == TANSU_OK)
        status = move_lower(f);
    if (status != TANSU_OK || !f->changed)
        return status;
    /* Doing it after as many documents as the window has keeps the work linear. */
    if (recomputes(f) || f->inexact || (f->drifts && f->removed > 64 + window_count(f)))
        return add_up(f);
    return TANSU_OK;
}

/* ---- Documents ---- */

/* read_base -- the value of "sortBy" of the present document, for ranges. */
static tansu_status read_base(windowing *w) {
    partition *p = &w->partition;
    doc_value value;
    p->has_base = false;
    if (!w->has_range)
        return TANSU_OK;
    evaluation_document(&w->s->p->ev, p->doc.data, p->doc.size);
    tansu_status status = value_read(&w->s->p->ev, &w->by, &p->doc, &value);
    if (status == TANSU_OK && (doc_is_number(&value) || value.type == DOC_DATE)) {
        window_copy(&value, &p->base);
        p->has_base = true;
    }
    return status;
}

/* compute -- the result of a function for the present document. */
static tansu_status compute(window_function *f, bool listed, bool tied) {
    enum window_scope scope = f->kind->scope;
    tansu_status status = TANSU_OK;
    if (!listed || scope == SCOPE_BEFORE)
        status = add_document(f, &f->p->doc, tied);
    else if (scope != SCOPE_SERIES)
        status = move_window(f);
    if (status != TANSU_OK || (scope == SCOPE_WINDOW && !f->changed))
        return status;
    f->changed = false;
    return f->kind->result(f);
}

/* show -- the present document with the results. */
static tansu_status show(windowing *w, bool tied, doc_value *doc) {
    stage *s = w->s;
    const doc_value present = w->partition.doc;
    tansu_status status = read_base(w);
    for (uint32_t i = 0; status == TANSU_OK && i < w->count; i++)
        status = compute(&w->functions[i], !w->streams, tied);
    if (status != TANSU_OK)
        return status;
    *doc = present;
    if (w->count == 0)
        return TANSU_OK;
    writer out = {.out = &s->out};
    s->out.size = 0;
    evaluation_document(&s->p->ev, present.data, present.size);
    for (uint32_t i = 0; i < w->count; i++)
        s->p->ev.variables[w->first_slot + i] = w->functions[i].result;
    status = computed_fields_apply(&s->p->ev, w->fields, &present, &out);
    return status == TANSU_OK ? stage_show(s, &out, doc) : status;
}

tansu_status windowing_next(windowing *w, doc_value *doc) {
    partition *p = &w->partition;
    window_document document;
    tansu_status status;
    if (!w->begun)
        begin(w);
    if (w->streams) {
        status = next_document(w, &document);
        if (status == TANSU_OK && document.begins)
            status = begin_functions(w);
        p->doc = document.doc;
        return status == TANSU_OK ? show(w, document.tied, doc) : status;
    }
    status = stage_step(w->s);
    while (status == TANSU_OK) {
        p->index = w->reader.index;
        status = partition_read(p, &w->reader, &p->doc);
        if (status == TANSU_OK)
            return show(w, is_tied(p, p->index), doc);
        if (status == TANSU_DONE)
            status = read_partition(w);
    }
    return status;
}

void windowing_end(windowing *w) {
    if (!w)
        return;
    window_input_end(&w->input);
    for (uint32_t i = 0; i < w->count; i++)
        window_function_end(&w->functions[i]);
    document_list_free(&w->partition.list);
    tansu_buffer_free(&w->partition.ties);
    document_reader_free(&w->reader.reader);
    w->reader = (partition_reader){.index = 0};
    w->has_ahead = w->begun = w->done = false;
}
