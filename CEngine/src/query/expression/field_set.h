/*
 * query/expression/field_set.h -- a document that is made field by field, where a later value of a
 * name replaces the earlier one, in its place.
 *
 *     field_set f;
 *     field_set_begin(ev, e, &f);
 *     status = field_set_put(&f, name, size, &value);    // several times
 *     return field_set_end(&f, status, result);
 */
#ifndef TANSU_QUERY_EXPRESSION_FIELD_SET_H
#define TANSU_QUERY_EXPRESSION_FIELD_SET_H

#include "query/expression/expression_internal.h"
#include "query/util/key_set.h"

typedef struct field_set {
    evaluation *ev;
    const expression *e;
    arena_mark mark;
    key_set names;
} field_set;

/* field_set_begin -- no fields. What the evaluation makes from here on lives until
 * field_set_end(). */
void field_set_begin(evaluation *ev, const expression *e, field_set *f);

/* field_set_put -- sets a field. `name` has a NUL behind it, and none within. Errors: MEMORY,
 * TOO_LARGE, those of the deadline. */
tansu_status field_set_put(field_set *f, const char *name, size_t size, const doc_value *value);

/* field_set_end -- the document, if `status` is OK; else returns that. Errors: MEMORY,
 * TOO_LARGE. */
tansu_status field_set_end(field_set *f, tansu_status status, doc_value *result);

#endif
