/*
 * query/parse/hints.c -- parses the hints document.
 */
#include "query/parse/hints.h"
#include "bson/number.h"
#include "query/expression/expression.h"
#include "query/match/collation.h"
#include "query/parse/join_spec.h"
#include "query/parse/projection.h"
#include "util/error.h"
#include <stdio.h>

#define MAX_MILLISECONDS INT32_MAX

typedef tansu_status (*hint_parser)(query *q, const char *context, const doc_value *value,
                                    tansu_error *error);

/* bad -- INVALID_QUERY at a hint. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* read_score_order -- {"$meta": "textScore"} in $orderby, under any name. */
static tansu_status read_score_order(query *q, const char *context, const doc_value *value,
                                     tansu_error *error) {
    if (!expression_is_score(value))
        return bad(
            error, context,
            "Direction must be 1 (ascending), -1 (descending) or {\"$meta\": \"textScore\"}");
    if (!q->text)
        return bad(error, context, EXPRESSION_NO_SCORE);
    if (q->hints.score_place != 0)
        return bad(error, context, "\"$orderby\" has the score twice; remove one of them");
    q->hints.score_place = q->hints.order_count + 1;
    return TANSU_OK;
}

/* read_orderby -- {path: 1 | -1, …}. */
static tansu_status read_orderby(query *q, const char *context, const doc_value *value,
                                 tansu_error *error) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, context,
                   "\"$orderby\" must be a document of paths; set each path to 1 (ascending) or -1 "
                   "(descending)");
    while (doc_iter_next(&iter)) {
        char inner[sizeof error->context];
        snprintf(inner, sizeof inner, "%s.%s", context, iter.key);
        int64_t direction;
        if (iter.value.type == DOC_DOCUMENT) {
            tansu_status scored = read_score_order(q, inner, &iter.value, error);
            if (scored != TANSU_OK)
                return scored;
            continue;
        }
        if (!number_whole(&iter.value, FRACTION_HALF_EVEN, &direction) ||
            (direction != 1 && direction != -1))
            return bad(error, inner, "Direction must be 1 (ascending) or -1 (descending)");
        if (q->hints.order_count == MAX_ORDER_PATHS)
            return bad(error, inner, "\"$orderby\" has more than 32 paths; remove some");
        order_path *by = &q->hints.order[q->hints.order_count];
        tansu_status status = query_path(q, iter.key, iter.key_size, inner, &by->path, error);
        if (status != TANSU_OK)
            return status;
        by->descending = direction < 0;
        for (uint32_t i = 0; i < q->hints.order_count; i++) {
            if (path_equal(q->hints.order[i].path, by->path))
                return bad(error, inner, "\"$orderby\" names this path twice; remove one of them");
        }
        q->hints.order_count++;
    }
    return TANSU_OK;
}

/* read_count -- a non-negative whole number. */
static tansu_status read_count(const char *context, const doc_value *value, uint64_t *result,
                               tansu_error *error) {
    int64_t number;
    if (!doc_as_int64(value, &number) || number < 0)
        return bad(error, context, "Value must be a whole number, 0 or greater");
    *result = (uint64_t)number;
    return TANSU_OK;
}

/* read_skip -- the number of results to skip; a fraction is disregarded. */
static tansu_status read_skip(query *q, const char *context, const doc_value *value,
                              tansu_error *error) {
    int64_t number;
    if (!number_whole(value, FRACTION_HALF_EVEN, &number) || number < 0)
        return bad(error, context, "Value must be a number, 0 or greater");
    q->hints.skip = (uint64_t)number;
    return TANSU_OK;
}

/* read_max -- the maximum number of results; 0 is no limit. */
static tansu_status read_max(query *q, const char *context, const doc_value *value,
                             tansu_error *error) {
    if (q->hints.max_given)
        return bad(error, context,
                   "\"$max\" and \"$limit\" are the same hint; use one of them, once");
    q->hints.max_given = true;
    tansu_status status = read_count(context, value, &q->hints.max, error);
    if (status == TANSU_OK && q->hints.max == 0)
        q->hints.max = UINT64_MAX;
    return status;
}

/* read_fields -- the projection. */
static tansu_status read_fields(query *q, const char *context, const doc_value *value,
                                tansu_error *error) {
    (void)context;
    return projection_parse(q, value, &q->hints.fields, error);
}

/* read_flag -- a bool, or a number as a bool. */
static tansu_status read_flag(const char *context, const doc_value *value, bool *result,
                              tansu_error *error) {
    return doc_as_bool(value, result) ? TANSU_OK
                                      : bad(error, context, "Value must be true or false");
}

/* read_onlycount -- the count instead of the documents. */
static tansu_status read_onlycount(query *q, const char *context, const doc_value *value,
                                   tansu_error *error) {
    return read_flag(context, value, &q->hints.only_count, error);
}

/* read_explain -- the plan instead of the documents. */
static tansu_status read_explain(query *q, const char *context, const doc_value *value,
                                 tansu_error *error) {
    return read_flag(context, value, &q->hints.explain, error);
}

/* read_disk_use -- whether sorts and groups may use temporary files. */
static tansu_status read_disk_use(query *q, const char *context, const doc_value *value,
                                  tansu_error *error) {
    bool allowed = false;
    tansu_status status = read_flag(context, value, &allowed, error);
    q->hints.no_disk = status == TANSU_OK && !allowed;
    return status;
}

/* read_max_memory -- bytes that a sort, and groups, take before they spill. */
static tansu_status read_max_memory(query *q, const char *context, const doc_value *value,
                                    tansu_error *error) {
    tansu_status status = read_count(context, value, &q->hints.max_memory, error);
    if (status == TANSU_OK &&
        (q->hints.max_memory < TANSU_MIN_QUERY_MEMORY || q->hints.max_memory > SIZE_MAX / 4))
        return bad(error, context, "Memory limit is out of bounds; use at least 65536 bytes");
    return status;
}

/* read_index -- the name of an index; null or false for none. */
static tansu_status read_index(query *q, const char *context, const doc_value *value,
                               tansu_error *error) {
    if (value->type == DOC_NULL || (value->type == DOC_BOOL && !doc_bool(value))) {
        q->hints.index_choice = INDEX_NONE;
        return TANSU_OK;
    }
    if (value->type != DOC_STRING)
        return bad(error, context, "Value must be the name of an index, or false to use none");
    size_t size;
    const char *name = doc_string(value, &size);
    if (memchr(name, 0, size) != NULL)
        return bad(error, context, "Name of an index has a NUL character; remove it");
    q->hints.index_choice = INDEX_NAMED;
    q->hints.index_name = arena_copy(&q->memory, name, size);
    return q->hints.index_name ? TANSU_OK : error_memory(error);
}

/* read_do -- the joins, which may be in the query as well. */
static tansu_status read_do(query *q, const char *context, const doc_value *value,
                            tansu_error *error) {
    return join_parse(q, value, context, error);
}

/* read_max_time -- the time limit; 0 is none. */
static tansu_status read_max_time(query *q, const char *context, const doc_value *value,
                                  tansu_error *error) {
    tansu_status status = read_count(context, value, &q->hints.max_milliseconds, error);
    if (status == TANSU_OK && q->hints.max_milliseconds > MAX_MILLISECONDS)
        return bad(error, context,
                   "Time limit is too large; use at most 2147483647 milliseconds, or 0 for none");
    return status;
}

/* read_before -- hints_parse_collation() or hints_parse_let() has parsed it before the selector. */
static tansu_status read_before(query *q, const char *context, const doc_value *value,
                                tansu_error *error) {
    (void)q;
    (void)context;
    (void)value;
    (void)error;
    return TANSU_OK;
}

/* collation_flag -- the member of that name, or NULL. */
static bool *collation_flag(collation *c, const char *name) {
    if (strcmp(name, "caseInsensitive") == 0)
        return &c->fold;
    return strcmp(name, "numeric") == 0 ? &c->numeric : NULL;
}

void hints_parse_deadline(query *q, const uint8_t *doc, size_t size) {
    doc_value value;
    int64_t number;
    if (doc_find(doc, size, "$maxTimeMS", 10, &value) && doc_as_int64(&value, &number) &&
        number > 0 && number <= MAX_MILLISECONDS)
        q->deadline = deadline_begin(q->deadline.interrupt, (uint64_t)number);
}

tansu_status hints_parse_collation(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    static const char context[] = "hints.$collation";
    doc_value value;
    doc_iter iter;
    if (!doc_find(doc, size, "$collation", 10, &value))
        return TANSU_OK;
    collation *c = arena_alloc(&q->memory, sizeof *c);
    if (!c)
        return error_memory(error);
    if (value.type == DOC_STRING) {
        size_t length;
        const char *name = doc_string(&value, &length);
        bool *flag = collation_flag(c, name);
        if (!flag && strcmp(name, "binary") != 0)
            return bad(error, context,
                       "Unknown collation; use \"binary\", \"caseInsensitive\" or \"numeric\"");
        if (flag)
            *flag = true;
    } else if (value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &value)) {
        return bad(error, context,
                   "Collation must be a name, or a document such as {\"caseInsensitive\": true, "
                   "\"numeric\": true}");
    } else {
        while (doc_iter_next(&iter)) {
            bool *flag = collation_flag(c, iter.key);
            if (!flag || !doc_as_bool(&iter.value, flag))
                return bad(
                    error, context,
                    "Unknown member of the collation; use \"caseInsensitive\" and \"numeric\", "
                    "each true or false");
        }
    }
    q->collation = c->fold || c->numeric ? c : NULL;
    return TANSU_OK;
}

/* set_variable -- brings a variable into scope, and sets its value, which lives as long as the
 * query. */
static tansu_status set_variable(expression_compiler *c, evaluation *known, const doc_iter *member,
                                 tansu_error *error) {
    const expression *e;
    doc_value value;
    uint32_t slot;
    tansu_status status = expression_let(c, member, &e, &slot);
    if (status != TANSU_OK)
        return status;
    evaluation_document(c->constant, NULL, 0);
    status = expression_evaluate(c->constant, e, &value);
    if (status != TANSU_OK) {
        error_prefix(error, member->key);
        return status;
    }
    if (value.size != 0) {
        value.data = arena_copy(c->memory, value.data, value.size);
        if (!value.data)
            return error_memory(error);
    }
    known->variables[slot] = value;
    c->known_count = c->slot_count;
    return TANSU_OK;
}

tansu_status hints_parse_let(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    static const char context[] = "hints.$let";
    doc_value value;
    doc_iter iter;
    if (!doc_find(doc, size, "$let", 4, &value))
        return TANSU_OK;
    if (value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &value))
        return bad(error, context, "Value must be a document of variables");
    expression_compiler *c = arena_alloc(&q->memory, sizeof *c);
    evaluation *known = arena_alloc(&q->memory, sizeof *known);
    if (!c || !known)
        return error_memory(error);
    tansu_status status =
        expression_compiler_init(c, &q->memory, &q->regexes, q->collation, &q->deadline, error);
    c->known = known;
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = set_variable(c, known, &iter, error);
    if (status != TANSU_OK)
        error_prefix(error, context);
    expression_compiler_free(c);
    q->scope = c;
    return status;
}

/* All hints of the language. `parse` NULL: of updates, which remove them from the hints before. */
static const struct hint {
    const char *name;
    hint_parser parse;
} known_hints[] = {
    {"$orderby", read_orderby},
    {"$skip", read_skip},
    {"$max", read_max},
    {"$limit", read_max},
    {"$fields", read_fields},
    {"$onlycount", read_onlycount},
    {"$explain", read_explain},
    {"$index", read_index},
    {"$maxTimeMS", read_max_time},
    {"$allowDiskUse", read_disk_use},
    {"$maxMemory", read_max_memory},
    {"$collation", read_before},
    {"$let", read_before},
    {"$do", read_do},
    {"$upsert", NULL},
    {"$dropall", NULL},
};

/* read_hint -- one hint. */
static tansu_status read_hint(query *q, const doc_iter *iter, uint64_t *seen, tansu_error *error) {
    char context[sizeof error->context];
    snprintf(context, sizeof context, "hints.%s", iter->key);
    for (size_t i = 0; i < sizeof known_hints / sizeof *known_hints; i++) {
        if (strcmp(known_hints[i].name, iter->key) != 0)
            continue;
        if (!known_hints[i].parse)
            return error_set(error, TANSU_E_INVALID_QUERY, context,
                             "Hint \"%s\" is for updates only; remove it", iter->key);
        if (*seen & (uint64_t)1 << i)
            return bad(error, context, "Hint is given twice; remove one of them");
        *seen |= (uint64_t)1 << i;
        return known_hints[i].parse(q, context, &iter->value, error);
    }
    return bad(error, context, "Unknown hint; docs/query-language.md lists all hints");
}

tansu_status hints_parse(query *q, const uint8_t *doc, size_t size, tansu_error *error) {
    doc_iter iter;
    uint64_t seen = 0;
    tansu_status status = TANSU_OK;
    if (doc_iter_init(&iter, doc, size)) {
        while (status == TANSU_OK && doc_iter_next(&iter))
            status = read_hint(q, &iter, &seen, error);
    }
    return status;
}
