/*
 * query/parse/subquery_spec.c -- parses subqueries.
 */
#include "query/parse/subquery_spec.h"
#include "bson/writer.h"
#include "query/match/collation.h"
#include "store/collection.h"
#include "util/error.h"
#include <stdio.h>

/* The members of a subquery; DOC_MISSING: not given. */
typedef struct members {
    doc_value from;
    doc_value field;
    doc_value query;
} members;

/* bad -- INVALID_QUERY at a member. */
static tansu_status bad(tansu_error *error, const char *context, const char *member,
                        const char *message) {
    char where[sizeof error->context];
    snprintf(where, sizeof where, "%s.%s", context, member);
    return error_set(error, TANSU_E_INVALID_QUERY, where, "%s", message);
}

/* read_members -- takes a subquery apart. */
static tansu_status read_members(const doc_value *operand, const char *context, members *m,
                                 tansu_error *error) {
    const doc_value missing = {NULL, 0, DOC_MISSING};
    *m = (members){missing, missing, missing};
    doc_iter iter;
    bool valid = doc_iter_value(&iter, operand);
    while (valid && doc_iter_next(&iter)) {
        doc_value *member = strcmp(iter.key, "$from") == 0    ? &m->from
                            : strcmp(iter.key, "$field") == 0 ? &m->field
                            : strcmp(iter.key, "$query") == 0 ? &m->query
                                                              : NULL;
        if (!member)
            return bad(error, context, iter.key,
                       "Unknown member of a subquery; use \"$from\", \"$field\" and \"$query\"");
        if (member->type != DOC_MISSING)
            return bad(error, context, iter.key, "Member of a subquery is given twice");
        *member = iter.value;
    }
    return TANSU_OK;
}

/* check_limits -- how deep and how many subqueries are. */
static tansu_status check_limits(query *q, const char *context, tansu_error *error) {
    query *outermost = q;
    uint32_t depth = 1;
    for (; outermost->outer; depth++)
        outermost = outermost->outer;
    if (depth > MAX_SUBQUERY_DEPTH)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "More than %d subqueries are inside each other; split the query",
                         MAX_SUBQUERY_DEPTH);
    if (++outermost->subquery_total > MAX_SUBQUERIES)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Query has more than %d subqueries; split the query", MAX_SUBQUERIES);
    return TANSU_OK;
}

/* read_from -- the name of the collection. */
static tansu_status read_from(query *q, const doc_value *from, subquery *s, tansu_error *error) {
    static const char wrong[] = "\"$from\" must be the name of a collection: 1 to 120 bytes, no "
                                "control character, and no $ at the front";
    if (from->type == DOC_MISSING)
        return bad(error, s->context, "$from",
                   "Subquery has no \"$from\"; name the collection that it reads");
    if (from->type != DOC_STRING)
        return bad(error, s->context, "$from", wrong);
    size_t size;
    const char *name = doc_string(from, &size);
    if (strlen(name) != size || name_check(name, "collection", NULL) != TANSU_OK)
        return bad(error, s->context, "$from", wrong);
    s->collection = arena_copy(&q->memory, name, size);
    return s->collection ? TANSU_OK : error_memory(error);
}

/* read_field -- the path whose values are taken; `_id` when it is not given. */
static tansu_status read_field(query *q, const doc_value *field, subquery *s, tansu_error *error) {
    char where[sizeof error->context];
    snprintf(where, sizeof where, "%s.$field", s->context);
    if (field->type == DOC_MISSING)
        return query_path(q, "_id", 3, where, &s->field, error);
    if (field->type != DOC_STRING)
        return bad(error, s->context, "$field", "\"$field\" must be a path, such as \"author\"");
    size_t size;
    const char *text = doc_string(field, &size);
    return query_path(q, text, size, where, &s->field, error);
}

/* write_hints -- of the inner query: the collation of the whole call; and the one field, so that a
 * covering index may be used. */
static bool write_hints(const query *q, const path *field, tansu_buffer *out) {
    writer w = {.out = out};
    size_t start = writer_begin(&w);
    size_t fields = writer_open(&w, "$fields", DOC_DOCUMENT);
    writer_int32(&w, field->text, 1);
    if (strcmp(field->text, "_id") != 0)
        writer_int32(&w, "_id", 0);
    writer_end(&w, fields);
    if (q->collation) {
        size_t collation = writer_open(&w, "$collation", DOC_DOCUMENT);
        writer_bool(&w, "caseInsensitive", q->collation->fold);
        writer_bool(&w, "numeric", q->collation->numeric);
        writer_end(&w, collation);
    }
    writer_end(&w, start);
    return !w.failed;
}

/* read_query -- compiles the inner query. */
static tansu_status read_query(query *q, const doc_value *given, subquery *s, tansu_error *error) {
    static const uint8_t empty[5] = {5};
    doc_value selector = *given;
    if (given->type == DOC_MISSING)
        selector = (doc_value){empty, sizeof empty, DOC_DOCUMENT};
    else if (given->type != DOC_DOCUMENT)
        return bad(error, s->context, "$query", "\"$query\" must be a query, a document");
    tansu_buffer hints = TANSU_BUFFER_INIT;
    tansu_status status = write_hints(q, s->field, &hints) ? TANSU_OK : error_memory(error);
    if (status == TANSU_OK) {
        status = query_compile_inner(q, &selector, &hints, &s->inner, error);
        if (status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE) {
            error_prefix(error, "$query");
            error_prefix(error, s->context);
        }
    }
    tansu_buffer_free(&hints);
    return status;
}

tansu_status subquery_parse(query *q, const doc_value *operand, const char *context,
                            tansu_error *error) {
    if (!q->takes_subqueries)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Subquery is not allowed here, where no collection can be read; use an "
                         "array of values");
    subquery *s = arena_alloc(&q->memory, sizeof *s);
    const char *where = s ? arena_copy(&q->memory, context, strlen(context)) : NULL;
    if (!where)
        return error_memory(error);
    s->context = where;
    if (q->last_subquery)
        q->last_subquery->next = s;
    else
        q->subqueries = s;
    q->last_subquery = s;
    members m;
    tansu_status status = read_members(operand, where, &m, error);
    if (status == TANSU_OK)
        status = check_limits(q, where, error);
    if (status == TANSU_OK)
        status = read_from(q, &m.from, s, error);
    if (status == TANSU_OK)
        status = read_field(q, &m.field, s, error);
    return status == TANSU_OK ? read_query(q, &m.query, s, error) : status;
}
