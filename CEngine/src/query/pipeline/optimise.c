/*
 * query/pipeline/optimise.c -- the order in which the stages of a pipeline run, and what the query that
 * reads the collection does instead of the first ones.
 *
 * A $match moves before stages that change none of its fields, and $skip and $limit before those that
 * make one document of each. Then the query selects, with indexes, what leading $match stages do, and
 * those conditions of later ones that could lead; it orders as a $sort after them does, by an index or
 * by references instead of documents; and it cuts as $skip and $limit after that do, so that a sort
 * keeps few. What is computed of a document that a later stage drops may so not be computed, nor fail:
 * as in MongoDB.
 *
 * A stage keeps its place in p->stages, by which errors and explain name it.
 */
#include "query/pipeline/needed_fields.h"

#include "bson/number.h"

#include <string.h>

/* ---- What moves ---- */

/* begins_with_field -- whether the first name of a path is a field. */
static bool begins_with_field(const char *path, size_t path_size, const char *field, size_t size) {
    return path_size >= size && memcmp(path, field, size) == 0 &&
           (path_size == size || path[size] == '.');
}

/* value_names_field -- the same of a string, or of one of an array, with $ before the path or not. */
static bool value_names_field(const doc_value *value, const char *field, size_t size) {
    doc_iter iter;
    if (value->type == DOC_STRING) {
        size_t length;
        const char *path = doc_string(value, &length);
        size_t dollar = length != 0 && path[0] == '$';
        return begins_with_field(path + dollar, length - dollar, field, size);
    }
    bool found = false;
    for (bool valid = value->type == DOC_ARRAY && doc_iter_value(&iter, value);
         valid && !found && doc_iter_next(&iter);)
        found = value_names_field(&iter.value, field, size);
    return found;
}

/* member_names_field -- the same of a member of what a stage takes. */
static bool member_names_field(const doc_value *spec, const char *name, const char *field,
                               size_t size) {
    doc_value value;
    return spec->type == DOC_DOCUMENT &&
           doc_find(spec->data, spec->size, name, (uint32_t)strlen(name), &value) &&
           value_names_field(&value, field, size);
}

/* is_flag -- whether a value of $project includes or excludes; *on which. */
static bool is_flag(const doc_value *value, bool *on) {
    *on = expression_is_true(value);
    return value->type == DOC_BOOL || doc_is_number(value);
}

/* project_keeps -- whether $project leaves a field of the document as it is. */
static bool project_keeps(const doc_value *spec, const char *field, size_t size) {
    bool is_id = size == 3 && memcmp(field, "_id", 3) == 0;
    bool named = false, excludes = true, on;
    doc_iter iter;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        bool flag = is_flag(&iter.value, &on);
        if (begins_with_field(iter.key, iter.key_size, field, size)) {
            if (iter.key_size == size && flag)
                return on;
            named = true;
        }
        excludes = excludes && flag && (!on || strcmp(iter.key, "_id") == 0);
    }
    return !named && (excludes || is_id);
}

/* keeps_field -- whether a stage lets a condition on a field pass: in the documents that it makes of
 * one, the field is what it is there, and the others are in their order. */
static bool keeps_field(const stage *s, const char *field, size_t size) {
    doc_iter iter;
    if (s->kind == &stage_match || s->kind == &stage_sort_kind)
        return true;
    if (s->kind == &stage_unset)
        return !value_names_field(&s->spec, field, size);
    if (s->kind == &stage_project)
        return project_keeps(&s->spec, field, size);
    if (s->kind == &stage_lookup || s->kind == &stage_graph_lookup)
        return !member_names_field(&s->spec, "as", field, size);
    if (s->kind == &stage_unwind)
        return !value_names_field(&s->spec, field, size) &&
               !member_names_field(&s->spec, "path", field, size) &&
               !member_names_field(&s->spec, "includeArrayIndex", field, size);
    bool kept = s->kind == &stage_add_fields || s->kind == &stage_set;
    for (doc_iter_value(&iter, &s->spec); kept && doc_iter_next(&iter);)
        kept = !begins_with_field(iter.key, iter.key_size, field, size);
    return kept;
}

static bool query_moves(const doc_value *query, const stage *before);

/* condition_moves -- whether a member of a query can be tested before a stage. $expr cannot. */
static bool condition_moves(const doc_iter *member, const stage *before) {
    if (strcmp(member->key, "$and") == 0 || strcmp(member->key, "$or") == 0 ||
        strcmp(member->key, "$nor") == 0) {
        doc_iter branch;
        bool moves = doc_iter_value(&branch, &member->value);
        while (moves && doc_iter_next(&branch))
            moves = query_moves(&branch.value, before);
        return moves;
    }
    return member->key[0] != '$' && !strpbrk(member->key, "\\*") &&
           keeps_field(before, member->key, strcspn(member->key, "."));
}

/* query_moves -- the same of all members of a query. */
static bool query_moves(const doc_value *query, const stage *before) {
    doc_iter member;
    bool moves = query->type == DOC_DOCUMENT && doc_iter_value(&member, query);
    while (moves && doc_iter_next(&member))
        moves = condition_moves(&member, before);
    return moves;
}

/* makes_one -- whether a stage makes one document of each. */
static bool makes_one(const stage *s) {
    return s->kind == &stage_project || s->kind == &stage_add_fields || s->kind == &stage_set ||
           s->kind == &stage_unset || s->kind == &stage_replace_root ||
           s->kind == &stage_replace_with || s->kind == &stage_lookup ||
           s->kind == &stage_graph_lookup;
}

/* moves -- whether a stage can run before another. */
static bool moves(const stage *s, const stage *before) {
    if (s->kind == &stage_match)
        return query_moves(&s->spec, before);
    return (s->kind == &stage_limit || s->kind == &stage_skip) && makes_one(before);
}

/* arrange -- moves stages as far ahead as they can. Two $match stages stay in their order unless the
 * second goes further. */
static void arrange(stage **order, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        stage *s = order[i];
        uint32_t to = i;
        for (uint32_t j = i; j > 0 && moves(s, order[j - 1]); j--) {
            if (order[j - 1]->kind != &stage_match)
                to = j - 1;
        }
        memmove(&order[to + 1], &order[to], (i - to) * sizeof *order);
        order[to] = s;
    }
}

/* ---- What the query of the source does ---- */

bool is_plain_order(const doc_value *spec) {
    doc_iter iter;
    uint32_t count = 0, scores = 0;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter); count++) {
        int64_t direction;
        if (expression_is_score(&iter.value)) {
            scores++;
            continue;
        }
        if (!doc_is_number(&iter.value) || !doc_as_int64(&iter.value, &direction) ||
            (direction != 1 && direction != -1))
            return false;
        for (uint32_t i = 0; i < iter.key_size; i++) {
            if (iter.key[i] == '\\' || iter.key[i] == '*' || iter.key[i] == '$')
                return false;
        }
    }
    return scores <= 1 && count - scores <= 1;
}

/* push_number -- a hint that is a whole number. */
static tansu_status push_number(stage *source, const char *hint, uint64_t number) {
    uint8_t bytes[8];
    store_u64(bytes, number);
    const doc_value value = {bytes, sizeof bytes, DOC_INT64};
    return source_push_hint(source, hint, &value);
}

/* push_conditions -- the query also has those conditions of a $match at a place that could be tested
 * before all other stages. The $match has them still. */
static tansu_status push_conditions(stage *source, stage *const *order, uint32_t place,
                                    const doc_value *query) {
    tansu_status status = TANSU_OK;
    tansu_buffer one = TANSU_BUFFER_INIT;
    doc_iter member, branch;
    bool valid = doc_iter_value(&member, query);
    while (valid && status == TANSU_OK && doc_iter_next(&member)) {
        bool leads = true;
        for (uint32_t i = place; leads && i > 0; i--)
            leads = condition_moves(&member, order[i - 1]);
        if (leads) {
            one.size = 0;
            status = writer_single(&one, member.key, &member.value)
                         ? TANSU_OK
                         : error_memory(source->p->error);
            const doc_value value = {one.data, (uint32_t)one.size, DOC_DOCUMENT};
            if (status == TANSU_OK)
                status = source_push_match(source, &value);
        } else if (strcmp(member.key, "$and") == 0) {
            doc_iter_value(&branch, &member.value);
            while (status == TANSU_OK && doc_iter_next(&branch))
                status = push_conditions(source, order, place, &branch.value);
        }
    }
    tansu_buffer_free(&one);
    return status;
}

/* push_window -- $skip and $limit at the beginning; *taken grows by their number. */
static tansu_status push_window(stage *source, stage *const *order, uint32_t count,
                                uint32_t *taken) {
    uint64_t skip = 0, limit = UINT64_MAX;
    tansu_status status = TANSU_OK;
    for (; *taken < count; ++*taken) {
        const stage *s = order[*taken];
        int64_t number;
        if ((s->kind != &stage_skip && s->kind != &stage_limit) || !doc_as_int64(&s->spec, &number))
            break;
        if (s->kind == &stage_limit) {
            limit = (uint64_t)number < limit ? (uint64_t)number : limit;
        } else {
            if (skip > INT64_MAX - (uint64_t)number)
                break;
            skip += (uint64_t)number;
            if (limit != UINT64_MAX)
                limit = limit > (uint64_t)number ? limit - (uint64_t)number : 0;
        }
    }
    if (skip != 0)
        status = push_number(source, "$skip", skip);
    /* A limit of 0 would be none. */
    source->p->empty = limit == 0;
    if (status == TANSU_OK && limit != UINT64_MAX && limit != 0)
        status = push_number(source, "$max", limit);
    return status;
}

/* take_over -- gives work to the query of the source; *taken is how many stages at the beginning it
 * does. */
static tansu_status take_over(stage *source, stage *const *order, uint32_t count, uint32_t *taken) {
    const pipeline *p = source->p;
    uint32_t i = 0;
    tansu_status status = TANSU_OK;
    if (p->index.type != DOC_MISSING)
        status = source_push_hint(source, "$index", &p->index);
    for (; status == TANSU_OK && i < count && order[i]->kind == &stage_match &&
           !match_tests_score(order[i]);
         i++)
        status = source_push_match(source, &order[i]->spec);
    for (uint32_t later = i + 1; status == TANSU_OK && later < count; later++) {
        if (order[later]->kind == &stage_match)
            status = push_conditions(source, order, later, &order[later]->spec);
    }
    if (status == TANSU_OK && i < count && order[i]->kind == &stage_sort_kind &&
        is_plain_order(&order[i]->spec))
        status = source_push_hint(source, "$orderby", &order[i++]->spec);
    if (status == TANSU_OK)
        status = push_window(source, order, count, &i);
    *taken = i;
    return status;
}

tansu_status pipeline_optimise(pipeline *p, stage *source) {
    stage **order = arena_alloc(&p->memory, (p->count + 1) * sizeof *order);
    uint32_t taken = 0;
    tansu_status status = TANSU_OK;
    if (!order)
        return error_memory(p->error);
    for (uint32_t i = 0; i < p->count; i++)
        order[i] = &p->stages[i];
    arrange(order, p->count);
    if (source && p->inner == INNER_COLLECTION)
        status = take_over(source, order, p->count, &taken);
    p->last = source;
    for (uint32_t i = 0; i < p->count; i++) {
        order[i]->taken = i < taken;
        if (i < taken)
            continue;
        order[i]->source = p->last;
        if (p->last)
            p->last->next = order[i];
        p->last = order[i];
    }
    for (uint32_t i = taken; status == TANSU_OK && i < p->count; i++) {
        if (order[i]->kind == &stage_sort_kind || order[i]->kind == &stage_set_window_fields)
            status = needed_fields_find(order[i]);
    }
    return status;
}
