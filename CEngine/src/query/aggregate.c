/*
 * query/aggregate.c -- reading what to aggregate: the group document, and the hints beside it.
 *
 *     {"by": "countrycode", "fields": {"n": {"$count": true}, "people": {"$sum": "population"}}}
 */
#include "query/aggregate_parts.h"
#include <stdio.h>
#include <stdlib.h>

/* bad -- INVALID_QUERY at a place. */
static tansu_status bad(tansu_error *error, const char *place, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, place, "%s", message);
}

/* ---- Names ---- */

/* check_name -- a member of the answer: not empty, no `$` in front, no two alike. */
static tansu_status check_name(const aggregation *a, const char *name, const char *place,
                               tansu_error *error) {
    if (name[0] == '\0' || name[0] == '$')
        return bad(error, place,
                   "A member of the answer may not have an empty name, or one that "
                   "begins with $.");
    bool taken = false;
    for (uint32_t i = 0; i < a->by_count; i++)
        taken = taken || strcmp(a->by[i].name, name) == 0;
    for (uint32_t i = 0; i < a->field_count; i++)
        taken = taken || strcmp(a->fields[i].name, name) == 0;
    return taken ? bad(error, place, "Two members of the answer have this name.") : TANSU_OK;
}

/* read_path -- a text that is a path. */
static tansu_status read_path(aggregation *a, const doc_value *value, const char *place,
                              const path **result, tansu_error *error) {
    size_t size;
    const char *text = doc_string(value, &size);
    return query_path(a->q, text, size, place, result, error);
}

/* ---- "by" ---- */

/* add_by -- one path to group by; `name` NULL: the path's own text. */
static tansu_status add_by(aggregation *a, const char *name, const doc_value *value,
                           const char *place, tansu_error *error) {
    if (value->type != DOC_STRING)
        return bad(error, place,
                   "Groups are made by a path, an array of paths, or a document "
                   "{name: path}.");
    if (a->by_count == MAX_GROUP_PATHS)
        return bad(error, place, "Groups are made by at most 32 paths.");
    group_path *by = &a->by[a->by_count];
    tansu_status status = read_path(a, value, place, &by->path, error);
    if (status != TANSU_OK)
        return status;
    by->name = name ? name : by->path->text;
    status = check_name(a, by->name, place, error);
    if (status == TANSU_OK)
        a->by_count++;
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
        char place[sizeof error->context];
        snprintf(place, sizeof place, "group.by.%s", iter.key);
        status =
            add_by(a, value->type == DOC_DOCUMENT ? iter.key : NULL, &iter.value, place, error);
    }
    return status;
}

/* ---- "fields" ---- */

static const struct {
    const char *name;
    enum figure figure;
} known_figures[] = {
    {"$count", FIGURE_COUNT}, {"$sum", FIGURE_SUM},           {"$avg", FIGURE_AVG},
    {"$min", FIGURE_MIN},     {"$max", FIGURE_MAX},           {"$first", FIGURE_FIRST},
    {"$last", FIGURE_LAST},   {"$distinct", FIGURE_DISTINCT},
};

/* read_operand -- what a figure is about: a path; or `true` for $count, a number for $sum. */
static tansu_status read_operand(aggregation *a, figure_field *field, const doc_value *value,
                                 const char *place, tansu_error *error) {
    bool yes = false;
    if (value->type == DOC_STRING)
        return read_path(a, value, place, &field->path, error);
    if (field->figure == FIGURE_COUNT)
        return value->type == DOC_BOOL && doc_as_bool(value, &yes) && yes
                   ? TANSU_OK
                   : bad(error, place, "$count counts documents (true), or the values of a path.");
    if (field->figure != FIGURE_SUM || !doc_is_number(value))
        return bad(error, place, "The operand must be a path, as a text.");
    field->constant = *value;
    return TANSU_OK;
}

/* read_figure -- {"$sum": "population"}. */
static tansu_status read_figure(aggregation *a, const doc_iter *member, tansu_error *error) {
    char place[sizeof error->context];
    snprintf(place, sizeof place, "group.fields.%s", member->key);
    doc_iter iter, rest;
    if (member->value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &member->value) ||
        !doc_iter_next(&iter) || (rest = iter, doc_iter_next(&rest)))
        return bad(error, place,
                   "A field is a document of one operator, such as {\"$sum\": path}.");
    if (a->field_count == MAX_GROUP_FIELDS)
        return bad(error, place, "A group has at most 100 fields.");
    tansu_status status = check_name(a, member->key, place, error);
    if (status != TANSU_OK)
        return status;
    snprintf(place, sizeof place, "group.fields.%s.%s", member->key, iter.key);
    for (size_t i = 0; i < sizeof known_figures / sizeof *known_figures; i++) {
        if (strcmp(known_figures[i].name, iter.key) != 0)
            continue;
        figure_field *field = &a->fields[a->field_count];
        *field = (figure_field){.figure = known_figures[i].figure, .name = member->key};
        status = read_operand(a, field, &iter.value, place, error);
        if (status == TANSU_OK)
            a->field_count++;
        return status;
    }
    return bad(error, place, "There is no such operator on a group.");
}

/* read_fields -- {name: figure, …}. */
static tansu_status read_fields(aggregation *a, const doc_value *value, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(error, "group.fields", "The fields must be a document of names and figures.");
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_figure(a, &iter, error);
    return status;
}

/* read_group -- the group document: "by" first, so that names are held against it. */
static tansu_status read_group(aggregation *a, aggregate_text group, tansu_error *error) {
    doc_iter iter;
    doc_value value;
    tansu_status status = TANSU_OK;
    if (doc_find(group.data, group.size, "by", 2, &value))
        status = read_by(a, &value, error);
    bool valid = doc_iter_init(&iter, group.data, group.size);
    uint32_t by = 0, fields = 0;
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        char place[sizeof error->context];
        snprintf(place, sizeof place, "group.%s", iter.key);
        if (strcmp(iter.key, "by") == 0 && by++ == 0)
            continue;
        if (strcmp(iter.key, "fields") != 0 || fields++ != 0)
            return bad(error, place, "A group has the members \"by\" and \"fields\", each once.");
        status = read_fields(a, &iter.value, error);
    }
    if (status == TANSU_OK && a->by_count + a->field_count == 0)
        return bad(error, "group", "The group asks for nothing: give it \"by\" or \"fields\".");
    return status;
}

/* ---- Hints ---- */

/* check_order -- $orderby speaks of members of the answer. */
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
                       "The order of groups is by members of the answer: one of \"by\" or "
                       "\"fields\" (a dot inside of a name is written \\.).");
    }
    return TANSU_OK;
}

/* take_hints -- moves what is about groups out of the query, which then gives all its matches. */
static tansu_status take_hints(aggregation *a, tansu_error *error) {
    hints *h = &a->q->hints;
    if (h->fields)
        return bad(error, "hints.$fields", "$fields says nothing about groups or distinct values.");
    if (h->joins)
        return bad(error, "$do", "$do says nothing about groups or distinct values.");
    if (h->only_count)
        return bad(error, "hints.$onlycount",
                   "$onlycount says nothing about groups or distinct values.");
    if (a->values && h->order_count != 0)
        return bad(error, "hints.$orderby", "Distinct values come in the order of values.");
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

/* begin -- a new aggregation over a query. */
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

/* finish -- hands out the aggregation, or frees it. */
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

/* aggregate_compile -- see aggregate.h. */
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

/* distinct_compile -- see aggregate.h: the one figure is $distinct. */
tansu_status distinct_compile(aggregate_text query, const char *path, aggregate_text hints,
                              const interrupt *stop, aggregation **result, tansu_error *error) {
    aggregation *a;
    tansu_status status = begin(query, hints, stop, &a, error);
    if (status == TANSU_OK) {
        a->values = true;
        a->fields[0] = (figure_field){.figure = FIGURE_DISTINCT, .name = "values"};
        a->field_count = 1;
        status = query_path(a->q, path, strlen(path), "path", &a->fields[0].path, error);
    }
    return finish(a, status, result, error);
}
