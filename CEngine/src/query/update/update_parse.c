/*
 * query/update/update_parse.c -- parses operations to a list of operators on paths. Everything
 * unknown, malformed or conflicting is an error that names it.
 */
#include "bson/value.h"
#include "query/update/update_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

tansu_status bad_update(tansu_error *error, const operation *o, const char *format, ...) {
    char context[sizeof error->context], message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(context, sizeof context, "%s.%s", o->name, o->path != NULL ? o->path->text : "");
    return error_set(error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

/* ---- Paths ---- */

tansu_status update_path(update *u, const char *text, size_t size, const char *context,
                         const path **result, tansu_error *error) {
    path *parsed = arena_alloc(&u->memory, sizeof *parsed);
    if (parsed == NULL)
        return error_memory(error);
    if (path_has_wildcard(text, size))
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Path \"%.100s\" has a part of asterisks only; write a key of that name "
                         "with a backslash, \\*",
                         text);
    tansu_status status = path_parse(parsed, &u->memory, text, size, error);
    if (status == TANSU_E_INVALID_QUERY)
        return error_set(error, status, context,
                         "Path \"%.100s\" is invalid; use non-empty parts with single dots between "
                         "them",
                         text);
    if (status != TANSU_OK)
        return status;
    *result = parsed;
    return TANSU_OK;
}

/* is_dynamic -- whether a part is `$` or in the form of `$[]`; other parts that begin with `$` are
 * keys. */
static bool is_dynamic(const path_part *part) {
    return part->name[0] == '$' && (part->size == 1 || part->name[1] == '[');
}

/* read_dynamic -- parses a part that is_dynamic(). */
static tansu_status read_dynamic(update *u, operation *o, uint32_t number, tansu_error *error) {
    const path_part *part = &o->path->parts[number];
    if (o->dynamics == NULL) {
        o->dynamics = arena_alloc(&u->memory, o->path->count);
        o->filters = arena_alloc(&u->memory, o->path->count * sizeof *o->filters);
        if (o->dynamics == NULL || o->filters == NULL)
            return error_memory(error);
    }
    u->dynamic = true;
    if (part->size == 1) {
        if (memchr(o->dynamics, DYNAMIC_FIRST, number) != NULL)
            return bad_update(
                error, o, "Path has more than one $; use \"$[]\" or \"$[name]\" for the others");
        o->dynamics[number] = DYNAMIC_FIRST;
        u->facts.positional = true;
        return TANSU_OK;
    }
    if (part->name[part->size - 1] != ']')
        return bad_update(error, o, "Part \"%.60s\" of the path is invalid; use $, $[] or $[name]",
                          part->name);
    if (part->size == 3) {
        o->dynamics[number] = DYNAMIC_ALL;
        return TANSU_OK;
    }
    array_filter *filter = filters_find(u, part->name + 2, part->size - 3);
    if (filter == NULL)
        return bad_update(error, o,
                          "Array filter for \"%.60s\" is missing; add it to the hint "
                          "\"$arrayFilters\"",
                          part->name);
    filter->used = true;
    o->dynamics[number] = DYNAMIC_FILTERED;
    o->filters[number] = filter;
    return TANSU_OK;
}

/* read_path -- parses the path of an operator and its `$` parts. */
static tansu_status read_path(update *u, operation *o, const doc_iter *field, tansu_error *error) {
    char context[sizeof error->context];
    snprintf(context, sizeof context, "%s.%s", o->name, field->key);
    tansu_status status = update_path(u, field->key, field->key_size, context, &o->path, error);
    /* A new document may have such keys at its top level. */
    if (status == TANSU_OK && o->path->parts[0].name[0] == '$' &&
        (o->kind != OPERATOR_SET_ON_INSERT || is_dynamic(&o->path->parts[0])))
        return bad_update(error, o,
                          "Path begins with $; begin it with the name of a field, or change such a "
                          "key by $setField in a pipeline");
    for (uint32_t i = 1; status == TANSU_OK && i < o->path->count; i++) {
        if (is_dynamic(&o->path->parts[i]))
            status = read_dynamic(u, o, i, error);
    }
    return status;
}

/* ---- Operands ---- */

typedef tansu_status (*operand_parser)(update *u, operation *o, tansu_error *error);

/* take_number -- $inc and $mul. */
static tansu_status take_number(update *u, operation *o, tansu_error *error) {
    (void)u;
    return doc_is_number(&o->operand) ? TANSU_OK : bad_update(error, o, "Operand must be a number");
}

/* take_rename -- the new path. */
static tansu_status take_rename(update *u, operation *o, tansu_error *error) {
    char context[sizeof error->context];
    size_t size;
    if (o->operand.type != DOC_STRING)
        return bad_update(error, o, "Operand must be a string, the new path");
    const char *text = doc_string(&o->operand, &size);
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    tansu_status status = update_path(u, text, size, context, &o->to, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; i < o->to->count; i++) {
        if (is_dynamic(&o->to->parts[i]) || (i == 0 && o->to->parts[i].name[0] == '$'))
            return bad_update(error, o,
                              "New path begins with $, or has a part $, $[] or $[name]; use the "
                              "names of fields");
    }
    if (o->to->count == 1 && strcmp(o->to->parts[0].name, "_id") == 0)
        return error_set(error, TANSU_E_INVALID_ID, "_id",
                         "No field can become \"_id\", which is immutable; save the document with "
                         "the new \"_id\" and remove this one");
    return o->dynamics == NULL
               ? TANSU_OK
               : bad_update(error, o,
                            "\"$rename\" does not work in arrays; use \"$set\" and \"$unset\"");
}

/* take_current_date -- true (or false, which says no more), or the type of the time. */
static tansu_status take_current_date(update *u, operation *o, tansu_error *error) {
    static const char *const message =
        "Operand must be true, {\"$type\": \"date\"} or {\"$type\": \"timestamp\"}";
    (void)u;
    doc_iter iter;
    if (o->operand.type == DOC_BOOL)
        return TANSU_OK;
    if (o->operand.type != DOC_DOCUMENT || !doc_iter_value(&iter, &o->operand) ||
        !doc_iter_next(&iter) || strcmp(iter.key, "$type") != 0 || iter.value.type != DOC_STRING)
        return bad_update(error, o, "%s", message);
    size_t size;
    const char *type = doc_string(&iter.value, &size);
    o->timestamp = size == 9 && memcmp(type, "timestamp", 9) == 0;
    if ((!o->timestamp && !(size == 4 && memcmp(type, "date", 4) == 0)) || doc_iter_next(&iter))
        return bad_update(error, o, "%s", message);
    return TANSU_OK;
}

/* take_pop -- 1 or -1. */
static tansu_status take_pop(update *u, operation *o, tansu_error *error) {
    (void)u;
    int64_t number;
    if (!doc_as_int64(&o->operand, &number) || (number != 1 && number != -1))
        return bad_update(error, o, "Operand must be 1 (the last element) or -1 (the first)");
    return TANSU_OK;
}

/* collate_operand -- replaces the operand, which is only compared, by the collated one. */
static tansu_status collate_operand(update *u, operation *o, tansu_error *error) {
    tansu_buffer collated = TANSU_BUFFER_INIT;
    doc_value value;
    if (u->collation == NULL || !collation_applies(&o->operand))
        return TANSU_OK;
    bool done = collation_value(u->collation, &collated, &o->operand, &value);
    if (done) {
        o->operand = value;
        o->operand.data = arena_copy(&u->memory, value.data, value.size);
        done = o->operand.data != NULL;
    }
    tansu_buffer_free(&collated);
    return done ? TANSU_OK : error_memory(error);
}

/* compare_values -- value_compare() for qsort(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* take_pull_all -- the values to remove. */
static tansu_status take_pull_all(update *u, operation *o, tansu_error *error) {
    if (o->operand.type != DOC_ARRAY)
        return bad_update(error, o, "Operand must be an array");
    tansu_status status = collate_operand(u, o, error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    uint32_t count = 0;
    for (bool valid = doc_iter_value(&iter, &o->operand); valid && doc_iter_next(&iter);)
        count++;
    o->values = arena_alloc(&u->memory, (count + 1) * sizeof *o->values);
    if (o->values == NULL)
        return error_memory(error);
    for (bool valid = doc_iter_value(&iter, &o->operand); valid && doc_iter_next(&iter);)
        o->values[o->value_count++] = iter.value;
    qsort(o->values, o->value_count, sizeof *o->values, compare_values);
    return TANSU_OK;
}

/* take_pull -- a value, or a condition on the elements: any document but a DBRef, and a regex. */
static tansu_status take_pull(update *u, operation *o, tansu_error *error) {
    char context[sizeof error->context];
    doc_iter iter;
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    if (o->operand.type == DOC_DOCUMENT) {
        doc_iter_value(&iter, &o->operand);
        if (doc_iter_next(&iter) && strcmp(iter.key, "$ref") == 0)
            return collate_operand(u, o, error);
    } else if (o->operand.type != DOC_REGEX) {
        return collate_operand(u, o, error);
    }
    return condition_compile(&o->operand, context, u->collation, &o->test, error);
}

/* take_bit -- {"and" | "or" | "xor": whole number, …}. */
static tansu_status take_bit(update *u, operation *o, tansu_error *error) {
    (void)u;
    doc_iter iter;
    bool any = false;
    if (o->operand.type == DOC_DOCUMENT) {
        doc_iter_value(&iter, &o->operand);
        for (; doc_iter_next(&iter); any = true) {
            bool known = strcmp(iter.key, "and") == 0 || strcmp(iter.key, "or") == 0 ||
                         strcmp(iter.key, "xor") == 0;
            if (!known || (iter.value.type != DOC_INT32 && iter.value.type != DOC_INT64))
                return bad_update(
                    error, o,
                    "Member \"%.60s\" is invalid; use \"and\", \"or\" or \"xor\" with a "
                    "whole number",
                    iter.key);
        }
    }
    return any ? TANSU_OK : bad_update(error, o, "Operand must be a document such as {\"and\": 5}");
}

static const struct known_operator {
    const char *name;
    enum operator_kind kind;
    operand_parser parse; /* NULL: any operand */
} known_operators[] = {
    {"$set", OPERATOR_SET, NULL},
    {"$unset", OPERATOR_UNSET, NULL},
    {"$inc", OPERATOR_INC, take_number},
    {"$mul", OPERATOR_MUL, take_number},
    {"$min", OPERATOR_MIN, NULL},
    {"$max", OPERATOR_MAX, NULL},
    {"$rename", OPERATOR_RENAME, take_rename},
    {"$currentDate", OPERATOR_CURRENT_DATE, take_current_date},
    {"$setOnInsert", OPERATOR_SET_ON_INSERT, NULL},
    {"$push", OPERATOR_PUSH, array_change_parse},
    {"$pushAll", OPERATOR_PUSH_ALL, array_change_parse},
    {"$addToSet", OPERATOR_ADD_TO_SET, array_change_parse},
    {"$addToSetAll", OPERATOR_ADD_TO_SET_ALL, array_change_parse},
    {"$pull", OPERATOR_PULL, take_pull},
    {"$pullAll", OPERATOR_PULL_ALL, take_pull_all},
    {"$pop", OPERATOR_POP, take_pop},
    {"$bit", OPERATOR_BIT, take_bit},
};

/* ---- Operators ---- */

/* read_field -- parses a path of an operator and its operand. */
static tansu_status read_field(update *u, const struct known_operator *known, const char *name,
                               const doc_iter *field, tansu_error *error) {
    operation *o = arena_alloc(&u->memory, sizeof *o);
    if (o == NULL)
        return error_memory(error);
    o->name = name;
    o->kind = known->kind;
    o->operand = field->value;
    if (u->last != NULL)
        u->last->next = o;
    else
        u->first = o;
    u->last = o;
    u->count++;
    tansu_status status = read_path(u, o, field, error);
    return status == TANSU_OK && known->parse != NULL ? known->parse(u, o, error) : status;
}

/* read_fields -- parses all paths of an operator. */
static tansu_status read_fields(update *u, const struct known_operator *known, const char *name,
                                const doc_value *fields, tansu_error *error) {
    doc_iter field;
    if (fields->type != DOC_DOCUMENT)
        return bad_context(error, name, "Operand of \"%s\" must be a document of paths", name);
    doc_iter_value(&field, fields);
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && doc_iter_next(&field))
        status = read_field(u, known, name, &field, error);
    return status;
}

/* read_upsert -- $upsert: true or false, or EJDB's document. */
static tansu_status read_upsert(update *u, const doc_value *value, tansu_error *error) {
    if (u->facts.inserts || u->facts.upsert.type != DOC_MISSING)
        return bad_context(error, "$upsert", "\"$upsert\" is given twice; remove one of them");
    if (value->type == DOC_DOCUMENT) {
        u->facts.upsert = *value;
        u->facts.inserts = true;
        return read_fields(u, &known_operators[0], "$upsert", value, error);
    }
    return doc_as_bool(value, &u->facts.inserts)
               ? TANSU_OK
               : bad_context(error, "$upsert", "\"$upsert\" must be true, false or a document");
}

/* read_replacement -- $replace: the whole document. */
static tansu_status read_replacement(update *u, const doc_value *value, tansu_error *error) {
    doc_iter iter;
    if (u->facts.replaces)
        return bad_context(error, "$replace", "\"$replace\" is given twice; remove one of them");
    if (value->type != DOC_DOCUMENT)
        return bad_context(error, "$replace", "Operand of \"$replace\" must be a document");
    u->facts.replaces = true;
    u->replacement = *value;
    for (bool valid = doc_iter_value(&iter, value); valid && doc_iter_next(&iter);) {
        if (iter.key[0] == '$')
            return bad_context(error, "$replace",
                               "Document has the operator \"%.60s\" instead of a field; use the "
                               "operator without \"$replace\", or save a document that has such a "
                               "key",
                               iter.key);
    }
    return TANSU_OK;
}

/* read_pipeline -- $pipeline: an array of stages. */
static tansu_status read_pipeline(update *u, const doc_value *value, tansu_error *error) {
    if (u->pipeline != NULL)
        return bad_context(error, "$pipeline", "\"$pipeline\" is given twice; remove one of them");
    if (value->type != DOC_ARRAY)
        return bad_context(error, "$pipeline",
                           "Operand of \"$pipeline\" must be an array of stages");
    tansu_status status =
        pipeline_compile_update(value, u->scope, u->collation, &u->pipeline, error);
    if (status != TANSU_OK)
        error_prefix(error, "$pipeline");
    return status;
}

/* read_operator -- one operator. */
static tansu_status read_operator(update *u, const doc_iter *iter, tansu_error *error) {
    if (strcmp(iter->key, "$replace") == 0)
        return read_replacement(u, &iter->value, error);
    if (strcmp(iter->key, "$pipeline") == 0)
        return read_pipeline(u, &iter->value, error);
    if (strcmp(iter->key, "$upsert") == 0)
        return read_upsert(u, &iter->value, error);
    if (strcmp(iter->key, "$dropall") == 0)
        return doc_as_bool(&iter->value, &u->facts.drops)
                   ? TANSU_OK
                   : bad_context(error, "$dropall", "\"$dropall\" must be true or false");
    for (size_t i = 0; i < sizeof known_operators / sizeof *known_operators; i++) {
        if (strcmp(known_operators[i].name, iter->key) == 0)
            return read_fields(u, &known_operators[i], known_operators[i].name, &iter->value,
                               error);
    }
    if (iter->key[0] == '$')
        return bad_context(error, iter->key,
                           "Unknown update operator \"%.60s\"; docs/query-language.md lists all "
                           "operators",
                           iter->key);
    return bad_context(error, iter->key,
                       "Update mixes operators and the field \"%.60s\"; use \"$set\" for the field",
                       iter->key);
}

/* read_operations -- the operators. */
static tansu_status read_operations(update *u, bool none, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    bool any = doc_iter_init(&iter, u->document, u->size) && doc_iter_next(&iter);
    if (any && iter.key[0] != '$')
        return bad_context(
            error, iter.key,
            "Update has the field \"%.60s\" where an operator should be; use \"$set\" "
            "to change fields, or \"$replace\" to replace the whole document",
            iter.key);
    u->empty = !any && !none;
    for (; any && status == TANSU_OK; any = doc_iter_next(&iter))
        status = read_operator(u, &iter, error);
    return status;
}

/* make_targets -- the targets of all operators as they are written; they must not conflict. */
static tansu_status make_targets(update *u, tansu_error *error) {
    u->targets = arena_alloc(&u->memory, (2 * (size_t)u->count + 1) * sizeof *u->targets);
    if (u->targets == NULL)
        return error_memory(error);
    for (const operation *o = u->first; o != NULL; o = o->next) {
        target *t = &u->targets[u->target_count++];
        *t = (target){.operation = o, .parts = o->path->parts, .count = o->path->count};
        if (o->kind != OPERATOR_RENAME)
            continue;
        t->source = true;
        u->targets[u->target_count++] =
            (target){.operation = o, .parts = o->to->parts, .count = o->to->count};
    }
    return targets_check(u->targets, u->target_count, error);
}

/* check_combination -- rejects operators that exclude each other. */
static tansu_status check_combination(const update *u, tansu_error *error) {
    for (const array_filter *f = u->filters; f != NULL; f = f->next) {
        if (!f->used)
            return bad_context(
                error, "hints.$arrayFilters",
                "Array filter \"%s\" is unused; use it in a path as $[name], or remove it",
                f->name);
    }
    bool given = u->facts.drops || u->facts.upsert.type != DOC_MISSING;
    if (u->empty && !given)
        return bad_context(error, "update",
                           "Update is empty; use \"$set\" to change fields, or \"$replace\" to "
                           "replace the whole document");
    if (u->facts.drops && (u->count != 0 || u->facts.inserts || u->facts.replaces))
        return bad_context(error, "$dropall",
                           "\"$dropall\" excludes other operators; use it alone");
    if (u->facts.replaces && u->facts.upsert.type != DOC_MISSING)
        return bad_context(error, "$upsert",
                           "\"$upsert\" with a document excludes \"$replace\"; set \"$upsert\" to "
                           "true");
    if (u->pipeline != NULL && (u->count != 0 || u->facts.replaces || u->facts.drops))
        return bad_context(error, "$pipeline",
                           "\"$pipeline\" excludes other operators; put them into its stages");
    if (u->facts.replaces && u->count != 0)
        return bad_context(error, "$replace",
                           "\"$replace\" excludes other operators; put their fields into its "
                           "document");
    return TANSU_OK;
}

/* compile -- runs all stages; `none`: there are no operations except those in `options`. */
static tansu_status compile(update *u, bool none, const doc_value *options,
                            const doc_value *filters, tansu_error *error) {
    tansu_status status = TANSU_OK;
    doc_iter iter;
    if (filters->type != DOC_MISSING)
        status = filters_read(u, filters, error);
    if (status == TANSU_OK)
        status = read_operations(u, none, error);
    if (status == TANSU_OK && options->type != DOC_MISSING) {
        void *copy = arena_copy(&u->memory, options->data, options->size);
        if (copy == NULL)
            return error_memory(error);
        doc_iter_init(&iter, copy, options->size);
        while (status == TANSU_OK && doc_iter_next(&iter))
            status = read_operator(u, &iter, error);
    }
    if (status == TANSU_OK)
        status = check_combination(u, error);
    if (status == TANSU_OK)
        status = make_targets(u, error);
    return status;
}

/* bad_size -- the error for operations that exceed the memory limit. */
static tansu_status bad_size(tansu_error *error) {
    return error_set(
        error, TANSU_E_TOO_LARGE, "update",
        "Update needs more than %zu MiB of memory to compile; use fewer operators or shorter paths",
        UPDATE_MEMORY / (1024 * 1024));
}

tansu_status update_compile(const uint8_t *operations, size_t size, const doc_value *options,
                            const doc_value *filters, const query *q, update **result,
                            tansu_error *error) {
    static const uint8_t empty[5] = {5};
    update *u = calloc(1, sizeof *u);
    if (u == NULL)
        return error_memory(error);
    bool none = operations == NULL;
    u->collation = q->collation;
    u->scope = q->scope;
    u->memory.limit = UPDATE_MEMORY;
    u->size = none ? sizeof empty : size;
    u->document = arena_copy(&u->memory, none ? empty : operations, u->size);
    tansu_status status =
        u->document != NULL ? compile(u, none, options, filters, error) : error_memory(error);
    if (status == TANSU_E_MEMORY && u->memory.full)
        status = bad_size(error);
    if (status != TANSU_OK) {
        update_free(u);
        return status;
    }
    *result = u;
    return TANSU_OK;
}

void update_free(update *u) {
    if (u == NULL)
        return;
    filters_free(u);
    for (operation *o = u->first; o != NULL; o = o->next)
        condition_free(o->test);
    pipeline_free(u->pipeline);
    arena_free(&u->memory);
    free(u);
}

const update_facts *update_get_facts(const update *u) {
    return &u->facts;
}
