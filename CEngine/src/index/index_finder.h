/*
 * index/index_finder.h -- finding the values of an index's paths in one document after the other,
 * faster than by a search, where the documents have mostly the same keys.
 */
#ifndef TANSU_INDEX_INDEX_FINDER_H
#define TANSU_INDEX_INDEX_FINDER_H

#include "bson/trail.h"
#include "bson/validate/form.h"
#include "bson/validate/turn.h"
#include "index/definition.h"

/* Memory for one index after another. Zeroed, it is nobody's. */
typedef struct index_finder {
    turn turn;         /* the owner is the serial of an index's definition */
    uint32_t capacity; /* of the arrays, which have an item for each path */
    trail *trails;
    form_place *places;
    const form *form; /* which the document at hand has; NULL: it is not known to have one */
} index_finder;

/* index_finder_of -- prepares for the next document of an index. `form`: it has just been accepted
 * by form_check(), which has found that it has this form; or NULL. Returns the finder for
 * index_entries_make(), or NULL: there is none, because the index is a wildcard index, another
 * index has the place (which it loses when it is not asked for any more), or memory is
 * exhausted. */
index_finder *index_finder_of(index_finder *finder, const index_definition *definition,
                              const form *form);

void index_finder_free(index_finder *finder);

#endif
