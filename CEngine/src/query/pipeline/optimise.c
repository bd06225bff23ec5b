/*
 * query/pipeline/optimise.c -- what the query that reads the collection does instead of the first
 * stages: it selects, with indexes, what leading $match stages do; it orders as a $sort after them
 * does, by an index or by references instead of documents; and it cuts as $skip and $limit after
 * that do, so that a sort keeps few.
 *
 * A stage that is taken over keeps its place, by which errors and explain name the others.
 */
#include "query/pipeline/pipeline_internal.h"

#include "bson/number.h"

#include <string.h>

/* is_stage -- whether a stage has a name. */
static bool is_stage(const stage *s, const char *name) {
    return s->kind->name && strcmp(s->kind->name, name) == 0;
}

/* take_over -- the query does what a stage does: the one after it asks the source. */
static void take_over(stage *s) {
    s->taken = true;
}

/* is_plain_order -- whether a $sort is one that queries order alike: one path with 1 or -1. With
 * several, one element of an array gives the values of all paths, and queries take each by itself. */
static bool is_plain_order(const doc_value *spec) {
    doc_iter iter;
    uint32_t count = 0;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter); count++) {
        int64_t direction;
        if (!doc_is_number(&iter.value) || !doc_as_int64(&iter.value, &direction) ||
            (direction != 1 && direction != -1))
            return false;
        for (uint32_t i = 0; i < iter.key_size; i++) {
            if (iter.key[i] == '\\' || iter.key[i] == '*' || iter.key[i] == '$')
                return false;
        }
    }
    return count == 1;
}

/* push_number -- a hint that is a whole number. */
static tansu_status push_number(stage *source, const char *hint, uint64_t number) {
    uint8_t bytes[8];
    store_u64(bytes, number);
    const doc_value value = {bytes, sizeof bytes, DOC_INT64};
    return source_push_hint(source, hint, &value);
}

tansu_status pipeline_optimise(pipeline *p) {
    stage *source = &p->stages[p->count];
    uint32_t i = 0;
    tansu_status status = TANSU_OK;
    uint64_t skip = 0, limit = UINT64_MAX;
    if (p->inner != INNER_COLLECTION)
        return TANSU_OK;
    if (p->index.type != DOC_MISSING)
        status = source_push_hint(source, "$index", &p->index);
    for (; status == TANSU_OK && i < p->count && is_stage(&p->stages[i], "$match"); i++) {
        status = source_push_match(source, &p->stages[i].spec);
        take_over(&p->stages[i]);
    }
    if (status == TANSU_OK && i < p->count && is_stage(&p->stages[i], "$sort") &&
        is_plain_order(&p->stages[i].spec)) {
        status = source_push_hint(source, "$orderby", &p->stages[i].spec);
        take_over(&p->stages[i++]);
    }
    for (; status == TANSU_OK && i < p->count; i++) {
        stage *s = &p->stages[i];
        int64_t number;
        if ((!is_stage(s, "$skip") && !is_stage(s, "$limit")) || !doc_as_int64(&s->spec, &number))
            break;
        if (is_stage(s, "$limit")) {
            limit = (uint64_t)number < limit ? (uint64_t)number : limit;
        } else {
            if (skip > INT64_MAX - (uint64_t)number)
                break;
            skip += (uint64_t)number;
            if (limit != UINT64_MAX)
                limit = limit > (uint64_t)number ? limit - (uint64_t)number : 0;
        }
        take_over(s);
    }
    if (status == TANSU_OK && skip != 0)
        status = push_number(source, "$skip", skip);
    /* A limit of 0 would be none. */
    p->empty = limit == 0;
    if (status == TANSU_OK && limit != UINT64_MAX && limit != 0)
        status = push_number(source, "$max", limit);
    /* The first stage that is left reads the source. */
    if (i < p->count && i != 0)
        p->stages[i].source = source;
    return status;
}
