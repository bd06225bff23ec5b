/*
 * query/pipeline/pipeline.c -- compiling a pipeline, and running it.
 */
#include "query/pipeline/pipeline_internal.h"

#include "bson/number.h"
#include "query/match/regex.h"
#include "query/parse/parsed_query.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More stages are an error. */
#define STAGES_MAX 1000
/* Pipelines in stages of pipelines. */
#define PIPELINE_DEPTH_MAX 20

static const stage_kind *const kinds[] = {
    &stage_add_fields,   &stage_bucket,
    &stage_bucket_auto,  &stage_count,
    &stage_densify,      &stage_documents,
    &stage_facet,        &stage_fill,
    &stage_graph_lookup, &stage_group,
    &stage_limit,        &stage_lookup,
    &stage_match,        &stage_merge,
    &stage_out,          &stage_project,
    &stage_redact,       &stage_replace_root,
    &stage_replace_with, &stage_sample,
    &stage_set,          &stage_set_window_fields,
    &stage_skip,         &stage_sort_by_count,
    &stage_sort_kind,    &stage_union_with,
    &stage_unset,        &stage_unwind,
};

/* ---- Errors ---- */

/* prefix_error -- puts number and name of a stage before the context of an error. */
static void prefix_error(const stage *s) {
    char prefix[64];
    if (!s->kind->name)
        return;
    snprintf(prefix, sizeof prefix, "%u.%s", (unsigned)(s - s->p->stages), s->kind->name);
    error_prefix(s->p->error, prefix);
}

void stage_blame(const stage *s) {
    pipeline *p = s->p;
    const char *name = s->kind->name;
    size_t size = name ? strlen(name) : 0;
    if (p->failed)
        return;
    p->failed = true;
    const char *context = p->error->context;
    if (name && strncmp(context, name, size) == 0 &&
        (context[size] == '\0' || context[size] == '.')) {
        char number[16];
        snprintf(number, sizeof number, "%u", (unsigned)(s - p->stages));
        error_prefix(p->error, number);
    } else {
        prefix_error(s);
    }
    if (p->part)
        error_prefix(p->error, p->part);
}

tansu_status stage_error(const stage *s, const char *part, const char *format, ...) {
    char message[sizeof s->p->error->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(s->p->error, TANSU_E_INVALID_QUERY, part, "%s", message);
}

/* ---- Compiling ---- */

void *stage_alloc(stage *s, size_t size) {
    void *memory = arena_alloc(&s->p->memory, size);
    if (!memory)
        error_memory(s->p->error);
    return memory;
}

tansu_status stage_expression(stage *s, const char *part, const doc_value *value,
                              const expression **result) {
    tansu_status status = expression_compile(&s->p->compiler, value, result);
    if (status != TANSU_OK && part)
        error_prefix(s->p->error, part);
    return status;
}

tansu_status stage_members(const stage *s, const doc_value *spec, const char *names,
                           doc_value *values) {
    doc_iter iter;
    uint32_t count = 0;
    for (const char *at = names; *at; at += strcspn(at, " "), at += strspn(at, " "))
        values[count++] = (doc_value){NULL, 0, DOC_MISSING};
    if (spec->type != DOC_DOCUMENT)
        return stage_error(s, NULL, "Takes a document with the members: %s", names);
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        uint32_t i = 0;
        const char *at = names;
        for (; *at; at += strcspn(at, " "), at += strspn(at, " "), i++) {
            if (strcspn(at, " !") == iter.key_size && memcmp(at, iter.key, iter.key_size) == 0)
                break;
        }
        if (!*at || values[i].type != DOC_MISSING)
            return stage_error(s, iter.key, "Member is %s; the members are: %s",
                               *at ? "given twice" : "unknown", names);
        values[i] = iter.value;
    }
    uint32_t i = 0;
    for (const char *at = names; *at; at += strcspn(at, " "), at += strspn(at, " "), i++) {
        size_t size = strcspn(at, " !");
        if (at[size] == '!' && values[i].type == DOC_MISSING)
            return stage_error(s, NULL, "Member \"%.*s\" is required", (int)size, at);
    }
    return TANSU_OK;
}

/* in_facet -- whether a pipeline is within $facet, at any depth. */
static bool in_facet(const pipeline *p) {
    for (; p; p = p->outer) {
        if (p->inner == INNER_FACET)
            return true;
    }
    return false;
}

/* ---- Scores of $text ---- */

/*
 * There is one score at a time, of the document that the collection gave last. So it is there for
 * stages that compute while they read, and behind those that make documents of one at a time.
 */

static const stage_kind *const passing[] = {
    &stage_match,        &stage_project,      &stage_add_fields,   &stage_set,   &stage_unset,
    &stage_replace_root, &stage_replace_with, &stage_unwind,       &stage_limit, &stage_skip,
    &stage_redact,       &stage_lookup,       &stage_graph_lookup,
};
static const stage_kind *const reading[] = {&stage_sort_kind, &stage_group, &stage_bucket,
                                            &stage_sort_by_count};

/* is_among -- whether a list has a kind. */
static bool is_among(const stage_kind *kind, const stage_kind *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == kind)
            return true;
    }
    return false;
}
#define IS_AMONG(kind, list) is_among(kind, list, sizeof(list) / sizeof *(list))

/* is_taken -- whether the query of the collection does what a $sort does. */
static bool is_taken(const pipeline *p, const stage *s) {
    bool leads = s->kind == &stage_sort_kind && is_plain_order(&s->spec);
    for (const stage *before = p->stages; leads && before < s; before++)
        leads = before->kind == &stage_match && !match_tests_score(before);
    return leads;
}

/* end_score -- before a stage is compiled that has no score, or (`behind`) whose documents have
 * none. */
static void end_score(pipeline *p, const stage *s, bool behind) {
    bool kept =
        IS_AMONG(s->kind, passing) || (behind ? is_taken(p, s) : IS_AMONG(s->kind, reading));
    if (p->compiler.score == SCORE_THERE && !kept)
        p->compiler.score = SCORE_BEHIND;
}

/* compile_stage -- {"$name": spec}. */
static tansu_status compile_stage(pipeline *p, stage *s, const doc_value *value) {
    doc_iter iter, rest;
    s->p = p;
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)(s - p->stages));
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        (rest = iter, doc_iter_next(&rest)))
        return error_set(p->error, TANSU_E_INVALID_QUERY, number,
                         "A stage must be a document with one member, its name");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i]->name, iter.key) == 0)
            s->kind = kinds[i];
    }
    if (!s->kind)
        return error_set(p->error, TANSU_E_INVALID_QUERY, number, "There is no stage \"%.100s\"",
                         iter.key);
    bool first = (s->kind->place & 3) == STAGE_FIRST;
    bool is_first = s == p->stages;
    tansu_status status = TANSU_OK;
    if (first && (!is_first || p->collection || p->inner != INNER_COLLECTION))
        status = stage_error(s, NULL, "Must be the first stage of a pipeline without a collection");
    else if (!first && is_first && !p->collection && p->inner == INNER_COLLECTION)
        status =
            stage_error(s, NULL, "Needs a collection; without one the first stage is $documents");
    if (status == TANSU_OK && (s->kind->place & STAGE_NOT_IN_FACET) && in_facet(p))
        status = stage_error(s, NULL, "Is not allowed within $facet");
    if (status == TANSU_OK && p->outer && (s->kind->place & 3) == STAGE_LAST)
        status = stage_error(s, NULL, "Is not allowed within another stage");
    s->spec = iter.value;
    end_score(p, s, false);
    if (status == TANSU_OK)
        status = s->kind->compile(s, &iter.value);
    if (status != TANSU_OK) {
        prefix_error(s);
        return status;
    }
    if (is_first && match_searches(s))
        p->compiler.score = SCORE_THERE;
    end_score(p, s, true);
    return TANSU_OK;
}

/* compile_stages -- the stages of a BSON array. The source is before them. */
static tansu_status compile_stages(pipeline *p, const doc_value *stages) {
    doc_iter iter;
    uint32_t count = 0;
    for (doc_iter_value(&iter, stages); doc_iter_next(&iter);)
        count++;
    if (count > STAGES_MAX)
        return error_set(p->error, TANSU_E_INVALID_QUERY, "pipeline",
                         "Pipeline has %u stages; at most %d are allowed", (unsigned)count,
                         STAGES_MAX);
    if (count == 0 && !p->collection && p->inner == INNER_COLLECTION)
        return error_set(p->error, TANSU_E_INVALID_QUERY, "pipeline",
                         "Pipeline is empty; without a collection it begins with $documents");
    p->stages = arena_alloc(&p->memory, (count + 1) * sizeof *p->stages);
    if (!p->stages)
        return error_memory(p->error);
    doc_iter_value(&iter, stages);
    for (; p->count < count && doc_iter_next(&iter); p->count++) {
        stage *s = &p->stages[p->count];
        tansu_status status = compile_stage(p, s, &iter.value);
        if (status != TANSU_OK)
            return status;
        if (p->count + 1 < count && (s->kind->place & 3) == STAGE_LAST) {
            status = stage_error(s, NULL, "Must be the last stage");
            prefix_error(s);
            return status;
        }
    }
    /* The collection is read by a stage behind the others in memory, before them in order. */
    stage *first = &p->stages[0];
    if (count == 0 || (first->kind->place & 3) != STAGE_FIRST) {
        stage *source = &p->stages[p->count];
        *source = (stage){.kind = &stage_source, .p = p};
        tansu_status status = source->kind->compile(source, NULL);
        return status == TANSU_OK ? pipeline_optimise(p, source) : status;
    }
    return pipeline_optimise(p, NULL);
}

/* read_collation -- the hint $collation, which an empty query reads. */
static tansu_status read_collation(pipeline *p, const doc_iter *hint) {
    tansu_buffer hints = TANSU_BUFFER_INIT;
    if (!writer_single(&hints, hint->key, &hint->value))
        return error_memory(p->error);
    tansu_status status =
        query_compile(NULL, 0, hints.data, hints.size, NULL, &p->collating, p->error);
    tansu_buffer_free(&hints);
    if (status == TANSU_OK)
        p->collation = p->collating->collation;
    return status;
}

/* compile_let -- the hint $let: constants, which are variables of all stages. */
static tansu_status compile_let(pipeline *p) {
    doc_iter iter;
    uint32_t count = 0, slot;
    tansu_status status = TANSU_OK;
    if (p->let.type == DOC_MISSING)
        return TANSU_OK;
    if (p->let.type != DOC_DOCUMENT)
        return error_set(p->error, TANSU_E_INVALID_QUERY, "hints.$let",
                         "Must be a document of variables");
    for (doc_iter_value(&iter, &p->let); doc_iter_next(&iter);)
        count++;
    p->let_values = arena_alloc(&p->memory, (count + 1) * sizeof *p->let_values);
    if (!p->let_values)
        return error_memory(p->error);
    for (doc_iter_value(&iter, &p->let); status == TANSU_OK && doc_iter_next(&iter);) {
        status = expression_let(&p->compiler, &iter, &p->let_values[p->let_count], &slot);
        p->let_count += status == TANSU_OK;
    }
    if (status != TANSU_OK)
        error_prefix(p->error, "hints.$let");
    return status;
}

/* read_hints -- the hints of the whole pipeline. */
static tansu_status read_hints(pipeline *p, const doc_value *hints) {
    doc_iter iter;
    for (doc_iter_value(&iter, hints); doc_iter_next(&iter);) {
        int64_t number;
        bool flag;
        tansu_status status = TANSU_OK;
        if (strcmp(iter.key, "$allowDiskUse") == 0 && doc_as_bool(&iter.value, &flag)) {
            p->no_disk = !flag;
        } else if (strcmp(iter.key, "$maxTimeMS") == 0 && doc_as_int64(&iter.value, &number) &&
                   number >= 0 && number <= INT32_MAX) {
            p->max_milliseconds = (uint64_t)number;
        } else if (strcmp(iter.key, "$explain") == 0 && doc_as_bool(&iter.value, &flag)) {
            p->explain = flag;
        } else if (strcmp(iter.key, "$collation") == 0) {
            status = read_collation(p, &iter);
        } else if (strcmp(iter.key, "$let") == 0) {
            p->let = iter.value;
        } else if (strcmp(iter.key, "$index") == 0) {
            p->index = iter.value;
        } else if (strcmp(iter.key, "$maxMemory") == 0 && doc_as_int64(&iter.value, &number) &&
                   number >= TANSU_MIN_QUERY_MEMORY && (uint64_t)number <= SIZE_MAX / 4) {
            p->max_memory = (size_t)number;
        } else {
            status = error_set(p->error, TANSU_E_INVALID_QUERY, iter.key,
                               "Hint is unknown to a pipeline, or its value is of a wrong kind");
            error_prefix(p->error, "hints");
        }
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* keep -- validates a document of the caller and copies it. */
static tansu_status keep(pipeline *p, pipeline_text text, uint8_t type, doc_value *result) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    if (!text.data)
        text = (pipeline_text){empty, sizeof empty};
    tansu_status status = doc_check(text.data, text.size, DOC_CHECK_BSON, p->error);
    if (status != TANSU_OK)
        return status;
    uint8_t *copy = arena_copy(&p->memory, text.data, text.size);
    *result = (doc_value){copy, (uint32_t)text.size, type};
    return copy ? TANSU_OK : error_memory(p->error);
}

tansu_status pipeline_compile(const char *collection, pipeline_text stages, pipeline_text hints,
                              const interrupt *stop, pipeline **result, tansu_error *error) {
    tansu_error own;
    doc_value list;
    pipeline *p = calloc(1, sizeof *p);
    *result = NULL;
    if (!p)
        return error_memory(error);
    p->error = error ? error : &own;
    p->stop = stop;
    p->memory.limit = QUERY_MEMORY;
    tansu_status status = keep(p, stages, DOC_ARRAY, &list);
    if (status == TANSU_OK)
        status = keep(p, hints, DOC_DOCUMENT, &p->hints);
    if (status == TANSU_OK)
        status = read_hints(p, &p->hints);
    if (status == TANSU_OK && collection) {
        p->collection = arena_copy(&p->memory, collection, strlen(collection));
        status = p->collection ? TANSU_OK : error_memory(error);
    }
    p->deadline = deadline_begin(stop, p->max_milliseconds);
    if (status == TANSU_OK)
        status = expression_compiler_init(&p->compiler, &p->memory, &p->regexes, p->collation,
                                          &p->deadline, p->error);
    if (status == TANSU_OK)
        status = compile_let(p);
    if (status == TANSU_OK)
        status = compile_stages(p, &list);
    status = query_too_large(&p->memory, status, p->error);
    expression_compiler_free(&p->compiler);
    if (status != TANSU_OK) {
        pipeline_free(p);
        return status;
    }
    *result = p;
    return TANSU_OK;
}

tansu_status pipeline_of_stage(const char *collection, const stage_kind *kind,
                               const interrupt *stop, pipeline **result, tansu_error *error) {
    pipeline *p = *result = calloc(1, sizeof *p);
    if (!p)
        return error_memory(error);
    p->error = error;
    p->stop = stop;
    p->memory.limit = QUERY_MEMORY;
    p->deadline = deadline_begin(stop, 0);
    p->collection = arena_copy(&p->memory, collection, strlen(collection));
    p->stages = arena_alloc(&p->memory, 2 * sizeof *p->stages);
    if (!p->collection || !p->stages)
        return error_memory(error);
    p->stages[0] = (stage){.kind = kind, .p = p, .source = &p->stages[1]};
    p->stages[1] = (stage){.kind = &stage_source, .p = p};
    p->count = 1;
    return stage_source.compile(&p->stages[1], NULL);
}

void pipeline_free(pipeline *p) {
    if (!p)
        return;
    pipeline_end_inner(p);
    for (uint32_t i = 0; p->stages && i <= p->count; i++) {
        stage *s = &p->stages[i];
        if (s->kind && s->kind->free)
            s->kind->free(s);
        tansu_buffer_free(&s->out);
    }
    expression_compiler_free(&p->compiler);
    regex_free_all(p->regexes);
    query_free(p->collating);
    tansu_buffer_free(&p->explained);
    arena_free(&p->memory);
    if (p->outer)
        p->outer->memory.used -= p->charged;
    free(p);
}

/* ---- Running ---- */

/* begin -- begins all stages. */
static tansu_status begin(pipeline *p) {
    p->begun = true;
    p->failed = false;
    for (uint32_t i = 0; i <= p->count; i++) {
        /* The source, which is behind the others, first. */
        stage *s = &p->stages[i == 0 ? p->count : i - 1];
        if (!s->kind || s->taken)
            continue;
        if (!p->explain)
            s->returned = 0;
        tansu_status status = s->kind->begin ? s->kind->begin(s) : TANSU_OK;
        if (status != TANSU_OK) {
            stage_blame(s);
            return status;
        }
    }
    return TANSU_OK;
}

void pipeline_end_inner(pipeline *p) {
    if (!p->begun)
        return;
    for (uint32_t i = 0; p->stages && i <= p->count; i++) {
        stage *s = &p->stages[i];
        if (s->kind && s->kind->end)
            s->kind->end(s);
    }
    evaluation_free(&p->ev);
    p->begun = false;
}

/* keep_variable -- sets a variable to a value that lives as long as the pipeline. */
static tansu_status keep_variable(pipeline *p, uint32_t slot, const doc_value *value) {
    p->ev.variables[slot] = *value;
    if (value->size == 0)
        return TANSU_OK;
    const uint8_t *copy = arena_copy(&p->memory, value->data, value->size);
    p->ev.variables[slot].data = copy;
    return copy ? TANSU_OK : error_memory(p->error);
}

/* evaluate_let -- sets the variables of all stages. */
static tansu_status evaluate_let(pipeline *p) {
    evaluation_document(&p->ev, NULL, 0);
    for (uint32_t i = 0; i < p->let_count; i++) {
        doc_value value;
        tansu_status status = expression_evaluate(&p->ev, p->let_values[i], &value);
        if (status == TANSU_OK)
            status = keep_variable(p, VARIABLE_USER + i, &value);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

tansu_status pipeline_start(pipeline *p, const snapshot *snapshot, const read_context *rctx,
                            tansu_error *error) {
    tansu_error own;
    p->error = error ? error : &own;
    p->snapshot = snapshot;
    p->rctx = *rctx;
    p->deadline.interrupt = rctx->interrupt;
    evaluation_init(&p->ev, p->collation, &p->deadline, p->error);
    tansu_status status = evaluate_let(p);
    if (status == TANSU_OK)
        status = begin(p);
    p->error = NULL;
    return status;
}

tansu_status pipeline_next(pipeline *p, tansu_document *document, tansu_error *error) {
    tansu_error own;
    doc_value doc;
    p->error = p->ev.error = error ? error : &own;
    tansu_status status =
        p->explain ? pipeline_explain(p, &p->explained, &doc) : pipeline_next_inner(p, &doc);
    if (status == TANSU_OK)
        *document = (tansu_document){doc.data, doc.size};
    return status;
}

tansu_status pipeline_next_inner(pipeline *p, doc_value *doc) {
    return stage_ask(p->last, doc);
}

void pipeline_end_timeout(pipeline *p) {
    p->deadline.milliseconds = 0;
}

/* is_shallow -- whether a value is nested at most `depth` deep. */
static bool is_shallow(const doc_value *value, uint32_t depth) {
    doc_iter iter;
    /* A level has at least a type, the end of a key, a size and its own end. */
    if (value->size <= (size_t)depth * 7)
        return true;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);) {
        if ((iter.value.type == DOC_DOCUMENT || iter.value.type == DOC_ARRAY) &&
            (depth == 0 || !is_shallow(&iter.value, depth - 1)))
            return false;
    }
    return true;
}

tansu_status stage_show(stage *s, const writer *w, doc_value *doc) {
    if (w->failed)
        return error_memory(s->p->error);
    if (s->out.size > TANSU_MAX_DOCUMENT_SIZE)
        return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                         "A document that it makes exceeds %d MiB",
                         TANSU_MAX_DOCUMENT_SIZE / (1024 * 1024));
    *doc = (doc_value){s->out.data, (uint32_t)s->out.size, DOC_DOCUMENT};
    if (!is_shallow(doc, TANSU_MAX_DEPTH))
        return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                         "A document that it makes is nested more than %d deep", TANSU_MAX_DEPTH);
    return TANSU_OK;
}

tansu_status stage_step(stage *s) {
    /* A large document is work for each stage that takes it. */
    uint64_t before = s->p->ev.steps;
    s->p->ev.steps += 64 + s->out.size / 64;
    return (before ^ s->p->ev.steps) < 4096 ? TANSU_OK
                                            : deadline_check(&s->p->deadline, s->p->error);
}

size_t pipeline_memory(const pipeline *p) {
    return p->max_memory != 0 ? p->max_memory : p->rctx.group_memory;
}

external_sort_options stage_sort_options(stage *s, size_t memory) {
    const pipeline *p = s->p;
    return (external_sort_options){
        .rctx = &p->rctx,
        .deadline = &p->deadline,
        .memory = memory,
        .may_spill = !p->no_disk,
        .refusal = {.context = s->kind->name,
                    .what = "The stage",
                    .limit = pipeline_memory(p),
                    .advice = "let fewer documents reach it, by $match before it"}};
}

external_sort *stage_sort(stage *s, size_t memory) {
    const external_sort_options options = stage_sort_options(s, memory);
    return external_sort_new(&options);
}

/* ---- Inner pipelines ---- */

tansu_status pipeline_compile_inner(stage *s, const char *part, const char *collection,
                                    enum inner_source inner, const doc_value *stages,
                                    pipeline **result) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    static const doc_value no_stages = {empty, sizeof empty, DOC_ARRAY};
    pipeline *outer = s->p;
    uint32_t depth = 0;
    *result = NULL;
    for (const pipeline *at = outer; at; at = at->outer)
        depth++;
    if (depth >= PIPELINE_DEPTH_MAX)
        return stage_error(s, part, "Pipelines are nested more than %d deep", PIPELINE_DEPTH_MAX);
    if (stages->type == DOC_MISSING)
        stages = &no_stages;
    if (stages->type != DOC_ARRAY)
        return stage_error(s, part, "Must be an array of stages");
    pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(outer->error);
    *p = (pipeline){.outer = outer,
                    .part = part,
                    .collation = outer->collation,
                    .max_memory = outer->max_memory,
                    .no_disk = outer->no_disk,
                    .explain = outer->explain,
                    .stop = outer->stop,
                    .inner = inner,
                    .deadline = outer->deadline,
                    .error = outer->error};
    /* All of them together have the memory of one. */
    p->memory.limit = outer->memory.limit - outer->memory.used;
    tansu_status status = deadline_check(&outer->deadline, p->error);
    if (status == TANSU_OK)
        status = expression_compiler_init(&p->compiler, &p->memory, &p->regexes, p->collation,
                                          &outer->deadline, p->error);
    expression_scope(&p->compiler, &outer->compiler);
    if (status == TANSU_OK && collection) {
        p->collection = arena_copy(&p->memory, collection, strlen(collection));
        status = p->collection ? TANSU_OK : error_memory(p->error);
    }
    if (status == TANSU_OK)
        status = compile_stages(p, stages);
    if (status == TANSU_OK && arena_charge(&outer->memory, sizeof *p + p->memory.used)) {
        p->charged = sizeof *p + p->memory.used;
    } else if (status == TANSU_OK) {
        p->memory.full = true;
        status = error_memory(p->error);
    }
    status = query_too_large(&p->memory, status, p->error);
    if (p->compiler.lowest_slot < outer->compiler.lowest_slot)
        outer->compiler.lowest_slot = p->compiler.lowest_slot;
    expression_compiler_free(&p->compiler);
    if (status != TANSU_OK) {
        if (part)
            error_prefix(outer->error, part);
        pipeline_free(p);
        return status;
    }
    *result = p;
    return TANSU_OK;
}

tansu_status pipeline_compile_update(const doc_value *stages, const expression_compiler *scope,
                                     const collation *collation, pipeline **result,
                                     tansu_error *error) {
    doc_value list;
    tansu_error own;
    pipeline *p = calloc(1, sizeof *p);
    *result = NULL;
    if (!p)
        return error_memory(error);
    p->error = error ? error : &own;
    p->inner = INNER_FED;
    p->collation = collation;
    p->memory.limit = QUERY_MEMORY;
    tansu_status status = keep(p, (pipeline_text){stages->data, stages->size}, DOC_ARRAY, &list);
    if (status == TANSU_OK)
        status = expression_compiler_init(&p->compiler, &p->memory, &p->regexes, p->collation,
                                          &p->deadline, p->error);
    expression_scope(&p->compiler, scope);
    if (status == TANSU_OK)
        status = compile_stages(p, &list);
    if (status == TANSU_OK)
        status = pipeline_check_update(p);
    status = query_too_large(&p->memory, status, p->error);
    expression_compiler_free(&p->compiler);
    if (status != TANSU_OK) {
        pipeline_free(p);
        return status;
    }
    *result = p;
    return TANSU_OK;
}

tansu_status pipeline_begin_fed(pipeline *p) {
    p->ev.error = p->error;
    if (p->begun)
        return TANSU_OK;
    evaluation_init(&p->ev, p->collation, &p->deadline, p->error);
    return begin(p);
}

tansu_status pipeline_begin_inner(pipeline *p, stage *s) {
    pipeline *outer = s->p;
    pipeline_end_inner(p);
    p->snapshot = outer->snapshot;
    p->rctx = outer->rctx;
    p->deadline = outer->deadline;
    p->error = outer->error;
    evaluation_init(&p->ev, p->collation, &p->deadline, p->error);
    memcpy(p->ev.variables + VARIABLE_NOW, outer->ev.variables + VARIABLE_NOW,
           (VARIABLES_MAX - VARIABLE_NOW) * sizeof *p->ev.variables);
    return begin(p);
}
