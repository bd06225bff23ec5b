/*
 * query/parse/query_compile.c -- compiles and frees queries.
 */
#include "query/parse/query_compile.h"
#include "bson/writer.h"
#include "query/match/regex.h"
#include "query/parse/join_spec.h"
#include "query/parse/selector.h"
#include "query/parse/subquery_spec.h"
#include "util/error.h"
#include <stdlib.h>

/* keep_document -- validates a document and copies it for the life of the query. */
static tansu_status keep_document(query *q, const uint8_t *doc, size_t size, const uint8_t **copy,
                                  tansu_error *error) {
    tansu_status status = doc_check(doc, size, DOC_CHECK_BSON, error);
    if (status != TANSU_OK)
        return status;
    *copy = arena_copy(&q->memory, doc, size);
    return *copy ? TANSU_OK : error_memory(error);
}

/* extract_joins -- $do may be in the query as well as in the hints: parses it and replaces
 * *selector by a copy without it. */
static tansu_status extract_joins(query *q, const uint8_t **selector, size_t *size,
                                  tansu_error *error) {
    tansu_buffer rest = TANSU_BUFFER_INIT;
    writer w = {.out = &rest};
    doc_value join;
    doc_iter iter;
    /* Many selectors have no operator at all. */
    if (memchr(*selector, '$', *size) == NULL || !doc_find(*selector, *size, "$do", 3, &join))
        return TANSU_OK;
    tansu_status status = TANSU_OK;
    size_t start = writer_begin(&w);
    bool valid = doc_iter_init(&iter, *selector, *size);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        if (strcmp(iter.key, "$do") == 0)
            status = join_parse(q, &iter.value, "$do", error);
        else
            writer_value(&w, iter.key, &iter.value);
    }
    writer_end(&w, start);
    if (status == TANSU_OK) {
        *size = rest.size;
        *selector = w.failed ? NULL : arena_copy(&q->memory, rest.data, rest.size);
        if (!*selector)
            status = error_memory(error);
    }
    tansu_buffer_free(&rest);
    return status;
}

/* finish -- normal form and matcher. */
static tansu_status finish(query *q, tansu_error *error) {
    q->root = normalise(q->root);
    tansu_status status = q->runs ? TANSU_OK : query_make_matcher(q, error);
    if (status == TANSU_OK)
        status = implied_tests_add(q, &q->planned, error);
    return status == TANSU_OK ? deadline_check(&q->deadline, error) : status;
}

/* compile -- runs all stages. */
static tansu_status compile(query *q, const uint8_t *selector, size_t selector_size,
                            const uint8_t *hints, size_t hints_size, tansu_error *error) {
    static const uint8_t empty[5] = {5};
    const uint8_t *copy = NULL, *hints_copy = NULL;
    q->hints.max = UINT64_MAX;
    if (!selector && selector_size == 0) {
        selector = empty;
        selector_size = sizeof empty;
    }
    tansu_status status = keep_document(q, selector, selector_size, &copy, error);
    if (status == TANSU_OK && !q->outer)
        status = extract_joins(q, &copy, &selector_size, error);
    if (status == TANSU_OK && (hints || hints_size != 0))
        status = keep_document(q, hints, hints_size, &hints_copy, error);
    if (status == TANSU_OK && hints) {
        hints_parse_deadline(q, hints_copy, hints_size);
        status = hints_parse_collation(q, hints_copy, hints_size, error);
        if (status == TANSU_OK)
            status = hints_parse_let(q, hints_copy, hints_size, error);
    }
    if (status == TANSU_OK)
        status = selector_parse(q, copy, selector_size, error);
    q->selector = (doc_value){copy, (uint32_t)selector_size, DOC_DOCUMENT};
    q->takes_subqueries = false; /* $fields has conditions, too */
    if (status == TANSU_OK && hints)
        status = hints_parse(q, hints_copy, hints_size, error);
    if (status == TANSU_OK)
        status = join_check_projection(q, error);
    if (status != TANSU_OK)
        return status;
    status = finish(q, error);
    q->spent = deadline_spent(&q->deadline);
    return status;
}

tansu_status query_too_large(const arena *memory, tansu_status status, tansu_error *error) {
    if (status != TANSU_E_MEMORY || !memory->full)
        return status;
    return error_set(
        error, TANSU_E_TOO_LARGE, "query",
        "Query needs more than %zu MiB of memory to compile; use fewer operands or shorter paths",
        QUERY_MEMORY / (1024 * 1024));
}

/* compile_new -- fills in a zeroed query, or frees it. */
static tansu_status compile_new(query *q, const uint8_t *selector, size_t selector_size,
                                const uint8_t *hints, size_t hints_size, const interrupt *stop,
                                query **result, tansu_error *error) {
    if ((selector == NULL && selector_size != 0) || (hints == NULL && hints_size != 0)) {
        query_free(q);
        const char *what = selector == NULL && selector_size != 0 ? "query" : "hints";
        return error_set(error, TANSU_E_INVALID_ARGUMENT, what,
                         "The argument \"%s\" is NULL, and its size is not 0", what);
    }
    q->memory.limit = QUERY_MEMORY;
    q->deadline = q->outer ? q->outer->deadline : deadline_begin(stop, 0);
    tansu_status status = compile(q, selector, selector_size, hints, hints_size, error);
    status = query_too_large(&q->memory, status, error);
    q->deadline.interrupt = NULL; /* it may be shorter-lived than the query */
    if (status != TANSU_OK) {
        query_free(q);
        return status;
    }
    *result = q;
    return TANSU_OK;
}

tansu_status query_compile(const uint8_t *selector, size_t selector_size, const uint8_t *hints,
                           size_t hints_size, const interrupt *stop, query **result,
                           tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    q->takes_subqueries = true;
    q->takes_text = true;
    q->runs = true;
    return compile_new(q, selector, selector_size, hints, hints_size, stop, result, error);
}

tansu_status query_compile_in(expression_compiler *scope, const uint8_t *selector,
                              size_t selector_size, const uint8_t *hints, size_t hints_size,
                              const interrupt *stop, query **result, tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    q->scope = scope;
    q->collation = scope->collation;
    q->takes_text = true;
    q->runs = true;
    return compile_new(q, selector, selector_size, hints, hints_size, stop, result, error);
}

tansu_status query_compile_alone(const uint8_t *selector, size_t size, query **result,
                                 tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    return compile_new(q, selector, size, NULL, 0, NULL, result, error);
}

tansu_status query_compile_alone_in(expression_compiler *scope, const uint8_t *selector,
                                    size_t size, bool takes_text, query **result,
                                    tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    q->scope = scope;
    q->collation = scope->collation;
    q->takes_text = takes_text;
    return compile_new(q, selector, size, NULL, 0, NULL, result, error);
}

tansu_status query_compile_inner(query *outer, const doc_value *selector, const tansu_buffer *hints,
                                 query **result, tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    q->outer = outer;
    q->scope = outer->scope;
    q->takes_subqueries = true;
    q->takes_text = true;
    q->runs = true;
    return compile_new(q, selector->data, selector->size, hints->data, hints->size, NULL, result,
                       error);
}

tansu_status query_compile_resolved(query *q, const deadline *d, tansu_error *error) {
    q->deadline = *d;
    q->resolved = q->subqueries;
    tansu_status status = selector_parse(q, q->selector.data, q->selector.size, error);
    if (status == TANSU_OK)
        status = finish(q, error);
    q->deadline.interrupt = NULL; /* it may be shorter-lived than the query */
    return query_too_large(&q->memory, status, error);
}

tansu_status query_compile_filter(const uint8_t *selector, size_t selector_size,
                                  const uint8_t *hints, size_t hints_size, query **result,
                                  tansu_error *error) {
    query *q = zeroed_alloc(sizeof *q);
    if (!q)
        return error_memory(error);
    q->exact_documents = true;
    return compile_new(q, selector, selector_size, hints, hints_size, NULL, result, error);
}

/* free_subqueries -- returns how many there were, at any depth. */
static uint32_t free_subqueries(query *q) {
    uint32_t count = 0;
    for (subquery *s = q->subqueries; s; s = s->next) {
        count += 1 + (s->inner ? free_subqueries(s->inner) : 0);
        query_free(s->inner);
        free(s->values);
        arena_free(&s->memory);
        tansu_buffer_free(&s->plan);
    }
    q->subqueries = q->last_subquery = NULL;
    return count;
}

tansu_status query_compile_expanded(query *q, const tansu_buffer *selector, const deadline *d,
                                    tansu_error *error) {
    query *outermost = q;
    while (outermost->outer)
        outermost = outermost->outer;
    outermost->subquery_total -= free_subqueries(q);
    const uint8_t *copy = arena_copy(&q->memory, selector->data, selector->size);
    tansu_status status = copy ? TANSU_OK : error_memory(error);
    q->deadline = *d;
    if (status == TANSU_OK) {
        q->selector = (doc_value){copy, (uint32_t)selector->size, DOC_DOCUMENT};
        q->takes_subqueries = true;
        status = selector_parse(q, copy, selector->size, error);
        q->takes_subqueries = false;
    }
    q->deadline.interrupt = NULL; /* it may be shorter-lived than the query */
    return query_too_large(&q->memory, status, error);
}

void query_free_members(query *q) {
    free_subqueries(q);
    regex_free_all(q->regexes);
    arena_free(&q->memory);
}

doc_value query_selector(const query *q) {
    return q->selector;
}

void query_free(query *q) {
    if (!q)
        return;
    query_free_members(q);
    free(q);
}

tansu_status query_make_matcher(query *q, tansu_error *error) {
    q->matcher = matcher_compile(&q->memory, q->root);
    return q->matcher ? TANSU_OK : error_memory(error);
}

bool query_matches(const query *q, match_context *context, const uint8_t *doc, size_t size) {
    return matcher_run(q->matcher, context, doc, size);
}
