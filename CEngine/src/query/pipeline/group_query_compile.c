/*
 * query/pipeline/group_query_compile.c -- from a group document and hints to a pipeline.
 *
 *     {"by": "countrycode", "fields": {"n": {"$count": true}, "people": {"$sum": "population"}}}
 */
#include "query/pipeline/group_index.h"
#include "query/pipeline/group_query_internal.h"

#include "bson/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request that is being compiled. */
typedef struct compiling {
    group_query *to;
    query *query;
    stage *stage;
    tansu_error *error;
} compiling;

/* bad -- INVALID_QUERY with a context. */
static tansu_status bad(tansu_error *error, const char *context, const char *message) {
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* ---- Names ---- */

/* has_name -- whether a member of the groups has a name. */
static bool has_name(const group_query *q, const char *name, size_t size) {
    for (uint32_t i = 0; i < q->key.count; i++) {
        if (strlen(q->key.names[i]) == size && memcmp(q->key.names[i], name, size) == 0)
            return true;
    }
    for (uint32_t i = 0; i < q->fields.count; i++) {
        const char *other = q->fields.fields[i].name;
        if (strlen(other) == size && memcmp(other, name, size) == 0)
            return true;
    }
    return false;
}

/* check_name -- the name of a member of a group: not empty, without a leading `$`, unique. */
static tansu_status check_name(const compiling *c, const char *name, const char *context) {
    if (name[0] == '\0' || name[0] == '$')
        return bad(c->error, context,
                   "Name of a member is empty or begins with $; use another name");
    return has_name(c->to, name, strlen(name))
               ? bad(c->error, context, "Two members have this name; rename one of them")
               : TANSU_OK;
}

/* read_path -- a string that is a path. */
static tansu_status read_path(const compiling *c, const doc_value *value, const char *context,
                              const path **result) {
    char inner[2 * sizeof c->error->context];
    size_t size;
    const char *text = doc_string(value, &size);
    snprintf(inner, sizeof inner, "%s.%.*s", context, (int)sizeof c->error->context - 1, text);
    return query_path(c->query, text, size, inner, result, c->error);
}

/* ---- "by" ---- */

/* read_trunc -- {"$dateTrunc": {…}}; *path is the path in it. */
static tansu_status read_trunc(const compiling *c, date_trunc **trunc, const doc_value *value,
                               const char *context, doc_value *path) {
    char inner[sizeof c->error->context];
    doc_iter iter, rest;
    if (!doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        strcmp(iter.key, "$dateTrunc") != 0 || (rest = iter, doc_iter_next(&rest)))
        return bad(c->error, context,
                   "A document in \"by\" must be {\"$dateTrunc\": {\"date\": path, \"unit\": "
                   "\"month\"}}");
    snprintf(inner, sizeof inner, "%.*s.$dateTrunc", (int)sizeof inner - 16, context);
    return date_trunc_parse(&iter.value, inner, trunc, path, c->error);
}

/* add_by -- adds a path, or a truncated date, to group by; `name` NULL: the path's own text. */
static tansu_status add_by(compiling *c, const char *name, const doc_value *value,
                           const char *context) {
    group_query *q = c->to;
    const uint32_t number = q->key.count;
    doc_value text = *value;
    const path *path;
    if (value->type != DOC_STRING && value->type != DOC_DOCUMENT)
        return bad(c->error, context,
                   "\"by\" must be a path, an array of paths, or a document {name: path}");
    if (number == MAX_GROUP_PATHS)
        return bad(c->error, context, "\"by\" has more than 32 paths; remove some");
    tansu_status status = TANSU_OK;
    if (value->type == DOC_DOCUMENT)
        status = read_trunc(c, &q->truncs[number], value, context, &text);
    if (status == TANSU_OK)
        status = read_path(c, &text, context, &path);
    if (status != TANSU_OK)
        return status;
    q->key.names[number] = name ? name : path->text;
    status = check_name(c, q->key.names[number], context);
    if (status == TANSU_OK)
        status = value_reader_path(c->stage, path, false, q->truncs[number], &q->key.parts[number]);
    q->key.count += status == TANSU_OK;
    return status;
}

/* members_of -- how many members a document or array has, at most `most`, and at least one. */
static uint32_t members_of(const doc_value *value, uint32_t most) {
    uint32_t count = 0;
    doc_iter iter;
    bool nested = value->type == DOC_DOCUMENT || value->type == DOC_ARRAY;
    bool valid = nested && doc_iter_value(&iter, value);
    while (valid && count < most && doc_iter_next(&iter))
        count++;
    return count != 0 ? count : 1;
}

/* make_parts -- memory for so many parts of the group key. */
static tansu_status make_parts(compiling *c, uint32_t count) {
    grouping_key *key = &c->to->key;
    key->parts = stage_alloc(c->stage, count * sizeof *key->parts);
    key->names = stage_alloc(c->stage, count * sizeof *key->names);
    return key->parts && key->names ? TANSU_OK : TANSU_E_MEMORY;
}

/* read_by -- a path, an array of paths, or {name: path, …}. */
static tansu_status read_by(compiling *c, const doc_value *value) {
    doc_iter iter;
    tansu_status status = make_parts(c, members_of(value, MAX_GROUP_PATHS));
    if (status == TANSU_OK && value->type != DOC_ARRAY && value->type != DOC_DOCUMENT)
        return add_by(c, NULL, value, "group.by");
    bool valid = doc_iter_value(&iter, value);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        char context[sizeof c->error->context];
        snprintf(context, sizeof context, "group.by.%s", iter.key);
        status = add_by(c, value->type == DOC_DOCUMENT ? iter.key : NULL, &iter.value, context);
    }
    return status;
}

/* ---- "fields" ---- */

/* add_field -- an accumulator, whose kind and operand are set. */
static void add_field(group_query *q, const char *name) {
    accumulated_field *field = &q->fields.fields[q->fields.count++];
    field->name = name;
    field->offset = q->fields.size;
    q->fields.size += accumulation_size(&field->accumulation);
}

/* read_operand -- the operand of an accumulator: a path; or `true` for $count, a number for
 * $sum. */
static tansu_status read_operand(const compiling *c, const char *name, accumulation *a,
                                 const doc_value *value, const char *context) {
    const path *path;
    const expression *constant;
    int64_t number;
    bool yes = false, count = strcmp(name, "$count") == 0, sum = strcmp(name, "$sum") == 0;
    bool whole = strcmp(name, "$first") == 0 || strcmp(name, "$last") == 0;
    a->kind = count                            ? &accumulate_documents
              : sum                            ? &accumulate_total
              : strcmp(name, "$distinct") == 0 ? &accumulate_distinct
                                               : accumulation_kind_find(name);
    if (value->type == DOC_STRING) {
        if (count)
            a->kind = &accumulate_values;
        tansu_status status = read_path(c, value, context, &path);
        return status == TANSU_OK ? value_reader_path(c->stage, path, !whole, NULL, &a->input)
                                  : status;
    }
    if (count)
        return value->type == DOC_BOOL && doc_as_bool(value, &yes) && yes
                   ? TANSU_OK
                   : bad(c->error, context,
                         "\"$count\" must be true (documents) or a path (its values)");
    if (!sum || !doc_is_number(value))
        return bad(c->error, context, "Operand must be a path");
    if ((value->type == DOC_INT32 || value->type == DOC_INT64) && doc_as_int64(value, &number) &&
        number == 1) {
        /* Counting is the same, and faster. */
        a->kind = &accumulate_documents;
        return TANSU_OK;
    }
    pipeline *p = c->to->pipeline;
    tansu_status status = TANSU_OK;
    if (!p->compiler.constant)
        status = expression_compiler_init(&p->compiler, &p->memory, &p->regexes, p->collation,
                                          &p->deadline, c->error);
    if (status == TANSU_OK)
        status = stage_expression(c->stage, NULL, value, &constant);
    return status == TANSU_OK ? value_reader_init(c->stage, constant, &a->input) : status;
}

/* read_accumulator -- {"$sum": "population"}. */
static tansu_status read_accumulator(compiling *c, const doc_iter *member) {
    static const char *const names[] = {"$count", "$sum",   "$avg",  "$min",
                                        "$max",   "$first", "$last", "$distinct"};
    group_query *q = c->to;
    char context[sizeof c->error->context];
    snprintf(context, sizeof context, "group.fields.%s", member->key);
    doc_iter iter, rest;
    if (member->value.type != DOC_DOCUMENT || !doc_iter_value(&iter, &member->value) ||
        !doc_iter_next(&iter) || (rest = iter, doc_iter_next(&rest)))
        return bad(c->error, context,
                   "Field must be a document with one operator, such as {\"$sum\": path}");
    if (q->fields.count == MAX_GROUP_FIELDS)
        return bad(c->error, context, "\"fields\" has more than 100 members; remove some");
    tansu_status status = check_name(c, member->key, context);
    if (status != TANSU_OK)
        return status;
    snprintf(context, sizeof context, "group.fields.%s.%s", member->key, iter.key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], iter.key) != 0)
            continue;
        status = read_operand(c, iter.key, &q->fields.fields[q->fields.count].accumulation,
                              &iter.value, context);
        if (status == TANSU_OK)
            add_field(q, member->key);
        return status;
    }
    return bad(c->error, context,
               "Unknown operator of a group; docs/query-language.md lists all operators");
}

/* read_fields -- {name: accumulator, …}. */
static tansu_status read_fields(compiling *c, const doc_value *value) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return bad(c->error, "group.fields",
                   "\"fields\" must be a document such as {\"n\": {\"$count\": true}}");
    accumulated_fields *fields = &c->to->fields;
    fields->fields =
        stage_alloc(c->stage, members_of(value, MAX_GROUP_FIELDS) * sizeof *fields->fields);
    if (!fields->fields)
        return TANSU_E_MEMORY;
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_accumulator(c, &iter);
    return status;
}

/* read_group -- the group document: "by" first, so that names in "fields" can be compared with
 * it. */
static tansu_status read_group(compiling *c, const doc_value *group) {
    doc_iter iter;
    doc_value value;
    tansu_status status = TANSU_OK;
    if (doc_find(group->data, group->size, "by", 2, &value))
        status = read_by(c, &value);
    bool valid = doc_iter_value(&iter, group);
    uint32_t by = 0, fields = 0;
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        char context[sizeof c->error->context];
        snprintf(context, sizeof context, "group.%s", iter.key);
        if (strcmp(iter.key, "by") == 0 && by++ == 0)
            continue;
        if (strcmp(iter.key, "fields") != 0 || fields++ != 0)
            return bad(
                c->error, context,
                "Unknown or repeated member of a group; use \"by\" and \"fields\", each once");
        status = read_fields(c, &iter.value);
    }
    if (status == TANSU_OK && c->to->key.count + c->to->fields.count == 0)
        return bad(c->error, "group", "Group is empty; give \"by\" or \"fields\"");
    return status;
}

/* ---- Hints ---- */

/* take_hints -- moves the hints that apply to groups out of the query, which then returns all
 * matches. */
static tansu_status take_hints(compiling *c) {
    group_query *q = c->to;
    hints *h = &c->query->hints;
    if (h->fields)
        return bad(c->error, "hints.$fields",
                   "\"$fields\" does not apply to groups and distinct values; remove it");
    if (h->joins)
        return bad(c->error, "$do",
                   "\"$do\" does not apply to groups and distinct values; remove it");
    if (h->only_count)
        return bad(c->error, "hints.$onlycount",
                   "\"$onlycount\" does not apply to groups and distinct values; remove it");
    if (h->score_place != 0)
        return bad(c->error, "hints.$orderby",
                   "The score does not order groups and distinct values; remove it");
    if (q->values && h->order_count != 0)
        return bad(
            c->error, "hints.$orderby",
            "\"$orderby\" does not apply to distinct values, which are always sorted; remove it");
    memcpy(q->order, h->order, sizeof q->order);
    q->order_count = h->order_count;
    q->skip = h->skip;
    q->max = h->max;
    q->pipeline->explain = h->explain;
    h->order_count = 0;
    h->skip = 0;
    h->max = UINT64_MAX;
    h->explain = false;
    for (uint32_t i = 0; i < q->order_count; i++) {
        const path_part *part = &q->order[i].path->parts[0];
        if (!has_name(q, part->name, part->size))
            return bad(c->error, "hints.$orderby",
                       "\"$orderby\" of groups must name members of \"by\" or \"fields\"; escape a "
                       "dot inside a name with a backslash");
    }
    return TANSU_OK;
}

/* write_hints -- those of the hints that are not of the groups; not ended. The variables of $let have
 * their values already. */
static tansu_status write_hints(const compiling *c, pipeline_text given, tansu_buffer *out) {
    static const char *const others[] = {"$orderby", "$skip", "$max", "$limit", "$explain", "$let"};
    writer w = {.out = out};
    doc_iter iter;
    bool valid = given.data && doc_iter_init(&iter, given.data, given.size);
    writer_begin(&w);
    while (valid && doc_iter_next(&iter)) {
        bool other = false;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            other = other || strcmp(others[i], iter.key) == 0;
        if (!other)
            writer_value(&w, iter.key, &iter.value);
    }
    return w.failed ? error_memory(c->error) : TANSU_OK;
}

/* ---- The pipeline ---- */

static tansu_status from_index(stage *s, query_source *from, bool *done) {
    return group_from_index(s, s->state, from, done);
}

static void end(stage *s) {
    if (s->state)
        grouping_end(s->state);
}

static void free_state(stage *s) {
    grouping_free(s->state);
}

/* Its documents are asked for by grouping_next(). The names are the contexts of errors. */
static const stage_kind stage_of_groups = {
    .name = "group", .from_index = from_index, .end = end, .free = free_state};
static const stage_kind stage_of_values = {
    .name = "distinct", .from_index = from_index, .end = end, .free = free_state};

/* give_query -- gives the query to the source of the pipeline. */
static tansu_status give_query(compiling *c, pipeline_text query, pipeline_text hints) {
    pipeline *p = c->to->pipeline;
    tansu_buffer others = TANSU_BUFFER_INIT;
    tansu_status status = write_hints(c, hints, &others);
    const doc_value selector = {query.data, (uint32_t)query.size, DOC_DOCUMENT};
    const doc_value rest = {others.data, (uint32_t)others.size, DOC_DOCUMENT};
    /* The source frees the query, whatever happens. */
    tansu_status used = source_use(c->stage->source, c->query, &selector, &rest);
    if (status == TANSU_OK)
        status = used;
    tansu_buffer_free(&others);
    p->collation = c->query->collation;
    p->no_disk = c->query->hints.no_disk;
    p->max_memory = (size_t)c->query->hints.max_memory;
    p->deadline = deadline_begin(p->stop, c->query->hints.max_milliseconds);
    deadline_shorten(&p->deadline, c->query->spent);
    return status;
}

/* begin -- a request with its pipeline, which has the query. */
static tansu_status begin(compiling *c, const char *collection, pipeline_text query,
                          pipeline_text hints, bool values, const interrupt *stop) {
    group_query *q = c->to = calloc(1, sizeof *q);
    if (!q)
        return error_memory(c->error);
    q->values = values;
    tansu_status status = pipeline_of_stage(
        collection, values ? &stage_of_values : &stage_of_groups, stop, &q->pipeline, c->error);
    if (status != TANSU_OK)
        return status;
    c->stage = &q->pipeline->stages[0];
    status =
        query_compile(query.data, query.size, hints.data, hints.size, stop, &c->query, c->error);
    if (status != TANSU_OK)
        return status;
    return give_query(c, query, hints);
}

/* finish -- makes the grouping and returns the request, or frees it after an error. */
static tansu_status finish(compiling *c, tansu_status status, group_query **result) {
    group_query *q = c->to;
    if (status == TANSU_OK)
        status = take_hints(c);
    if (status == TANSU_OK)
        status = grouping_of_query(c->stage, &q->key, &q->fields, (grouping **)&c->stage->state);
    if (q && q->pipeline)
        expression_compiler_free(&q->pipeline->compiler);
    if (status != TANSU_OK) {
        group_query_free(q);
        q = NULL;
    }
    *result = q;
    return status;
}

tansu_status group_query_compile(const char *collection, pipeline_text query, pipeline_text group,
                                 pipeline_text hints, const interrupt *stop, group_query **result,
                                 tansu_error *error) {
    tansu_error own;
    compiling c = {.error = error ? error : &own};
    tansu_status status = doc_check(group.data, group.size, DOC_CHECK_BSON, c.error);
    if (status != TANSU_OK)
        return status;
    status = begin(&c, collection, query, hints, false, stop);
    if (status == TANSU_OK) {
        const uint8_t *kept = arena_copy(&c.to->pipeline->memory, group.data, group.size);
        const doc_value document = {kept, (uint32_t)group.size, DOC_DOCUMENT};
        status = kept ? read_group(&c, &document) : error_memory(c.error);
    }
    return finish(&c, status, result);
}

tansu_status group_query_compile_distinct(const char *collection, pipeline_text query,
                                          const char *path_text, pipeline_text hints,
                                          const interrupt *stop, group_query **result,
                                          tansu_error *error) {
    tansu_error own;
    compiling c = {.error = error ? error : &own};
    const path *path;
    tansu_status status = begin(&c, collection, query, hints, true, stop);
    if (status == TANSU_OK)
        status = query_path_keys(c.query, path_text, strlen(path_text), "path", &path, c.error);
    if (status == TANSU_OK)
        status = make_parts(&c, 1);
    if (status == TANSU_OK)
        status = value_reader_path(c.stage, path, true, NULL, c.to->key.parts);
    if (status == TANSU_OK) {
        c.to->key.names[0] = "value";
        c.to->key.count = 1;
    }
    return finish(&c, status, result);
}
