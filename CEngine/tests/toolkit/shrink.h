/*
 * toolkit/shrink.h -- makes a failing case small: takes away whole BSON documents, then fields and
 * elements of them, as long as the case still fails. Knows nothing of the engine.
 *
 * A case is a list of parts: say documents, then index definitions, hints and the query; they are
 * reduced in that order, again and again until nothing more can go or the steps are used up.
 */
#ifndef TOOLKIT_SHRINK_H
#define TOOLKIT_SHRINK_H

#include <bson/bson.h>
#include <stdbool.h>
#include <stddef.h>

/* One part of a case. */
typedef struct shrink_part {
    const char *role; /* printed before it, and for the callback to know it by; not copied */
    bson_t *value;    /* belongs to the case */
    bool whole;       /* may go as a whole, as a document may; else it only gets fewer fields */
} shrink_part;

typedef struct shrink_case {
    shrink_part *parts;
    size_t count;
} shrink_case;

/* Whether a case still fails, tried from scratch each time. Must say false of a case that makes no
 * sense (a document without `_id`, a query that is refused), for such ones are tried too. */
typedef bool (*shrink_fails)(const shrink_case *smaller, void *context);

/* shrink_add -- appends a part with a copy of the value; `c` starts as {NULL, 0}. */
void shrink_add(shrink_case *c, const char *role, const bson_t *value, bool whole);

/* shrink -- reduces the case in place with at most `steps` calls of `fails`; the number of calls
 * made. The case must fail at first; one that does not is left as it is. */
size_t shrink(shrink_case *c, shrink_fails fails, void *context, size_t steps);

/* shrink_print -- a line of canonical extended JSON for each part, as notes of the check. */
void shrink_print(const shrink_case *c);

/* shrink_end -- frees the parts. */
void shrink_end(shrink_case *c);

#endif
