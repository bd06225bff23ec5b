/*
 * query/parse/projection.h -- $fields as parsed: a tree of the keys that a projection names.
 *
 * A projection includes or excludes, never both. `_id` is the exception: it is included unless it
 * is excluded. Three forms select a part of an array. {path: {"$slice": n}} leaves the rest of the
 * document as it is unless something is included; {path: {"$elemMatch": {...}}} includes, unless
 * something is excluded; "path.$" includes, and so does
 * "path.$.below", a part of the element.
 */
#ifndef TANSU_QUERY_PARSE_PROJECTION_H
#define TANSU_QUERY_PARSE_PROJECTION_H

#include "bson/document.h"
#include "query/expression/computed_fields.h"
#include "query/parse/parsed_query.h"

/* ---- The operand of $slice: which elements of an array are kept ---- */

typedef struct array_slice {
    int64_t skip; /* elements to skip; negative: start that many before the end */
    int64_t count;
} array_slice;

/* array_slice_parse -- reads n (the first ones; negative: the last ones) or [skip, count]. Errors:
 * INVALID_QUERY at `context`. */
tansu_status array_slice_parse(array_slice *slice, const doc_value *value, const char *context,
                               tansu_error *error);

enum field_form { FORM_WHOLE, FORM_SLICE, FORM_ELEMENT, FORM_POSITION };

/* A key that the projection names. Without children it stands for everything below it. The children
 * of a POSITION are those of the element. */
typedef struct field {
    key_set_item head; /* the name, for key_set_find_name() */
    key_set children;
    bool has_positions; /* a child may be the position of an array element */
    bool has_names;     /* a child is something else */
    enum field_form form;
    array_slice slice;             /* SLICE */
    const subcondition *condition; /* ELEMENT */
    const path *array; /* the path of this field, if a POSITION is here or below; or NULL */
} field;

struct projection {
    bool exclude;
    bool keep_id;                    /* an inclusion that contains `_id` without naming it */
    bool drop_id;                    /* `_id: 0` */
    const computed_fields *computed; /* fields are computed: this is all there is; or NULL */
    key_set fields;
};

/* projection_parse -- parses $fields; *result is NULL when it selects whole documents. Errors:
 * INVALID_QUERY, MEMORY. */
tansu_status projection_parse(query *q, const doc_value *fields, projection **result,
                              tansu_error *error);

/* projection_find -- the field of that name in a list, or NULL. */
static inline const field *projection_find(const key_set *fields, const char *name, uint32_t size) {
    return (const field *)key_set_find_name(fields, name, size);
}

/* projection_covered -- whether the projection includes some of the paths and nothing else. Sets
 * included[i] for each of them. */
bool projection_covered(const projection *p, const path *paths, uint32_t count, bool *included);

#endif
