/*
 * query/aggregate/aggregate_parse.c -- parses the group document and the hints.
 *
 *     {"by": "countrycode", "fields": {"n": {"$count": true}, "people": {"$sum": "population"}}}
 */
#include "query/aggregate/aggregate_internal.h"
#include <stdio.h>
#include <stdlib.h>

/* bad -- INVALID_QUERY with a context. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* ---- Names ---- */

/* check_name -- the name of a member of a group: not empty, without a leading `$`, unique. */
static tansu_status check_name(const aggregation *a, const char *name, const char *context,
                               tansu_error *error) {
    if (name[0] == '\0' || name[0] == '$')
        return bad(error, context, "Name of a member is empty or begins with $; use another name");
    bool taken = false;
    for (uint32_t i = 0; i < a->by_count; i++)
        taken = taken || strcmp(a->by[i].name, name) == 0;
    for (uint32_t i = 0; i < a->field_count; i++)
        taken = taken || strcmp(a->fields[i].name, name) == 0;
    return taken ? bad(error, context, "Two members have this name; rename one of them") : TANSU_OK;
}

/* read_path -- a string that is a path. */
static tansu_status read_path(aggregation *a, const doc_value *value, const char *context,
                              const path **result, tansu_error *error) {
    char inner[2 * sizeof error->context];
    size_t size;
    const char *text = doc_string(value, &size);
    snprintf(inner, sizeof inner, "%s.%.*s", context, (int)sizeof error->context - 1, text);
    return query_path(a->q, text, size, inner, result, error);
}

/* ---- "by" ---- */

/* read_trunc -- {"$dateTrunc": {…}}; *path is the path in it. */
static tansu_status read_trunc(group_path *by, const doc_value *value, const char *context,
                               doc_value *path, tansu_error *error) {
    char inner[sizeof error->context];
    doc_iter iter, rest;
    if (!doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        strcmp(iter.key, "$dateTrunc") != 0 || (rest = iter, doc_iter_next(&rest)))
        return bad(error, context,
                   "A document in \"by\" must be {\"$dateTrunc\": {\"date\": path, \"unit\": "
                   "\"month\"}}");
    snprintf(inner, sizeof inner, "%.*s.$dateTrunc", (int)sizeof inner - 16, context);
    return date_trunc_parse(&iter.value, inner, &by->trunc, path, error);
}

/* add_by -- adds a path, or a truncated date, to group by; `name` NULL: the path's own text. */
static tansu_status add_by(aggregation *a, const char *name, const doc_value *value,
                           const char *context, tansu_error *error) {
    doc_value text = *value;
    if (value->type != DOC_STRING && value->type != DOC_DOCUMENT)
        return bad(error, context,
                   "\"by\" must be a path, an array of paths, or a document {name: path}");
    if (a->by_count == MAX_GROUP_PATHS)
        return bad(error, context, "\"by\" has more than 32 paths; remove some");
    group_path *by = &a->by[a->by_count];
    tansu_status status = TANSU_OK;
    if (value->type == DOC_DOCUMENT)
        status = read_trunc(by, value, context, &text, error);
    if (status == TANSU_OK)
        status = read_path(a, &text, context, &by->path, error);
    if (status == TANSU_OK) {
        by->name = name ? name : by->path->text;
        status = check_name(a, by->name, context, error);
    }
    if (status == TANSU_OK) {
        a->by_count++;
    } else {
        date_trunc_free(by->trunc);
        by->trunc = NULL;
    }
    return status;
}

/* read_by -- a path, an array of paths, or {name: path, …}. */
static tansu_status read_by(aggregation *a, const doc_value *value, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_ARRAY && value->type != DOC_DOCUMENT)
        return add_by(a, NULL, value, "group.by", error);
    bool valid = doc_iter_value(&iter, value);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        char context[sizeof error->context];
        snprintf(context, sizeof context, "group.by.%s", iter.key);
        status =
            add_by(a, value->type == DOC_DOCUMENT ? iter.key : NULL, &iter.value, context, error);
    }
    return status;
}

/* ---- "fields" ---- */

static const struct {
    const char *name;
    enum accumulator_kind kind;
} accumulators[] = {
    {"$count", ACCUMULATE_COUNT}, {"$sum", ACCUMULATE_SUM},           {"$avg", ACCUMULATE_AVG},
    {"$min", ACCUMULATE_MIN},     {"$max", ACCUMULATE_MAX},           {"$first", ACCUMULATE_FIRST},
    {"$last", ACCUMULATE_LAST},   {"$distinct", ACCUMULATE_DISTINCT},
};

/* read_operand -- the operand of an accumulator: a path; or `true` for $count, a number for
 * $sum. */
static tansu_status read_operand(aggregation *a, group_field *field, const doc_value *value,
                                 const char *context, tansu_error *error) {
    bool yes = false;
    if (value->type == DOC_STRING)
        return read_path(a, value, context, &field->path, error);
    if (field->kind == ACCUMULATE_COUNT)
        return value->type == DOC_BOOL && doc_as_bool(value, &yes) && yes
                   ? TANSU_OK
                   : bad(error, context,
                         "\"$count\" must be true (documents) or a path (its values)");
    if (field->kind != ACCUMULATE_SUM || !doc_is_number(value))
        return bad(error, context, "Operand must be a path");
    field->constant = *value;
    return TANSU_OK;
}

/* read_accumulator -- {"$sum": "population"}. */
static tansu_status read_accumulator(aggregation *a, const doc_iter *member, tansu_error *error) {
    char context[sizeof error->context];
    snprintf(context, sizeof context, "group.fields.%s", member->key);
    doc_iter iter, rest;
    if (member->value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &member->value) ||
        !doc_iter_next(&iter) || (rest = iter, doc_iter_next(&rest)))
        return bad(error, context,
                   "Field must be a document with one operator, such as {\"$sum\": path}");
    if (a->field_count == MAX_GROUP_FIELDS)
        return bad(error, context, "\"fields\" has more than 100 members; remove some");
    tansu_status status = check_name(a, member->key, context, error);
    if (status != TANSU_OK)
        return status;
    snprintf(context, sizeof context, "group.fields.%s.%s", member->key, iter.key);
    for (size_t i = 0; i < sizeof accumulators / sizeof *accumulators; i++) {
        if (strcmp(accumulators[i].name, iter.key) != 0)
            continue;
        group_field *field = &a->fields[a->field_count];
        *field = (group_field){.kind = accumulators[i].kind, .name = member->key};
        status = read_operand(a, field, &iter.value, context, error);
        if (status == TANSU_OK)
            a->field_count++;
        return status;
    }
    return bad(error, context,
               "Unknown operator of a group; docs/query-language.md lists all operators");
}

/* read_fields -- {name: accumulator, …}. */
static tansu_status read_fields(aggregation *a, const doc_value *value, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, "group.fields",
                   "\"fields\" must be a document such as {\"n\": {\"$count\": true}}");
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_accumulator(a, &iter, error);
    return status;
}

/* read_group -- the group document: "by" first, so that names in "fields" can be compared with
 * it. */
static tansu_status read_group(aggregation *a, aggregate_text group, tansu_error *error) {
    doc_iter iter;
    doc_value value;
    tansu_status status = TANSU_OK;
    if (doc_find(group.data, group.size, "by", 2, &value))
        status = read_by(a, &value, error);
    bool valid = doc_iter_init(&iter, group.data, group.size);
    uint32_t by = 0, fields = 0;
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        char context[sizeof error->context];
        snprintf(context, sizeof context, "group.%s", iter.key);
        if (strcmp(iter.key, "by") == 0 && by++ == 0)
            continue;
        if (strcmp(iter.key, "fields") != 0 || fields++ != 0)
            return bad(
                error, context,
                "Unknown or repeated member of a group; use \"by\" and \"fields\", each once");
        status = read_fields(a, &iter.value, error);
    }
    if (status == TANSU_OK && a->by_count + a->field_count == 0)
        return bad(error, "group", "Group is empty; give \"by\" or \"fields\"");
    return status;
}

/* ---- Hints ---- */

/* check_order -- the paths of $orderby must be members of the groups. */
static tansu_status check_order(const aggregation *a, tansu_error *error) {
    for (uint32_t i = 0; i < a->order_count; i++) {
        const path_part *part = &a->order[i].path->parts[0];
        bool known = false;
        for (uint32_t k = 0; k < a->by_count; k++)
            known = known || (strlen(a->by[k].name) == part->size &&
                              memcmp(a->by[k].name, part->name, part->size) == 0);
        for (uint32_t k = 0; k < a->field_count; k++)
            known = known || (strlen(a->fields[k].name) == part->size &&
                              memcmp(a->fields[k].name, part->name, part->size) == 0);
        if (!known)
            return bad(error, "hints.$orderby",
                       "\"$orderby\" of groups must name members of \"by\" or \"fields\"; escape a "
                       "dot inside a name with a backslash");
    }
    return TANSU_OK;
}

/* take_hints -- moves the hints that apply to groups out of the query, which then returns all
 * matches. */
static tansu_status take_hints(aggregation *a, tansu_error *error) {
    hints *h = &a->q->hints;
    if (h->fields)
        return bad(error, "hints.$fields",
                   "\"$fields\" does not apply to groups and distinct values; remove it");
    if (h->joins)
        return bad(error, "$do", "\"$do\" does not apply to groups and distinct values; remove it");
    if (h->only_count)
        return bad(error, "hints.$onlycount",
                   "\"$onlycount\" does not apply to groups and distinct values; remove it");
    if (a->values && h->order_count != 0)
        return bad(
            error, "hints.$orderby",
            "\"$orderby\" does not apply to distinct values, which are always sorted; remove it");
    memcpy(a->order, h->order, sizeof a->order);
    a->order_count = h->order_count;
    a->skip = h->skip;
    a->max = h->max;
    a->explain = h->explain;
    h->order_count = 0;
    h->skip = 0;
    h->max = UINT64_MAX;
    h->explain = false;
    return check_order(a, error);
}

/* keep -- a copy that lives as long as the query. */
static tansu_status keep(aggregation *a, aggregate_text *text, tansu_error *error) {
    if (!text->data)
        return TANSU_OK;
    text->data = arena_copy(&a->q->memory, text->data, text->size);
    return text->data ? TANSU_OK : error_memory(error);
}

/* begin -- a new aggregation of a query. */
static tansu_status begin(aggregate_text query, aggregate_text hints, const interrupt *stop,
                          aggregation **result, tansu_error *error) {
    aggregation *a = calloc(1, sizeof *a);
    *result = a;
    if (!a)
        return error_memory(error);
    a->selector = query;
    a->hints = hints;
    tansu_status status =
        query_compile(query.data, query.size, hints.data, hints.size, stop, &a->q, error);
    if (status == TANSU_OK)
        status = keep(a, &a->selector, error);
    return status == TANSU_OK ? keep(a, &a->hints, error) : status;
}

/* finish -- returns the aggregation, or frees it after an error. */
static tansu_status finish(aggregation *a, tansu_status status, aggregation **result,
                           tansu_error *error) {
    if (status == TANSU_OK)
        status = take_hints(a, error);
    if (status != TANSU_OK) {
        aggregate_free(a);
        return status;
    }
    *result = a;
    return TANSU_OK;
}

tansu_status aggregate_compile(aggregate_text query, aggregate_text group, aggregate_text hints,
                               const interrupt *stop, aggregation **result, tansu_error *error) {
    aggregation *a;
    tansu_status status = doc_check(group.data, group.size, DOC_CHECK_BSON, error);
    if (status != TANSU_OK)
        return status;
    status = begin(query, hints, stop, &a, error);
    if (status == TANSU_OK)
        status = keep(a, &group, error);
    if (status == TANSU_OK)
        status = read_group(a, group, error);
    return finish(a, status, result, error);
}

/* The only accumulator is $distinct. */
tansu_status distinct_compile(aggregate_text query, const char *path, aggregate_text hints,
                              const interrupt *stop, aggregation **result, tansu_error *error) {
    aggregation *a;
    tansu_status status = begin(query, hints, stop, &a, error);
    if (status == TANSU_OK) {
        a->values = true;
        a->fields[0] = (group_field){.kind = ACCUMULATE_DISTINCT, .name = "values"};
        a->field_count = 1;
        status = query_path_keys(a->q, path, strlen(path), "path", &a->fields[0].path, error);
    }
    return finish(a, status, result, error);
}
