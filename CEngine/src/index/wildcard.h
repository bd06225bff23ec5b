/*
 * index/wildcard.h -- wildcard indexes: entries that begin with the path of their value.
 *
 * The definition {"**": 1} has an entry for each scalar of a document, {"path.**": 1} for those at
 * a path and below it. An entry is
 *
 *     path           for each key on the way: its bytes and 00; 02 before each but the first, and
 *                    03 00 where an array is directly in an array (see below)
 *     01, key        a scalar, or a document without fields, with value_key() of it
 *     00             instead: an array is here, or was on the way
 *     rid suffix
 *
 * So all entries at a path are adjacent, and so are those at a path and below it. Arrays on the way
 * leave no trace in the path, as in paths of queries, except that the elements of an array that is
 * itself an element are below a part of their own, 03: paths of queries lead to them by position
 * only. An entry for each array (not for each element) says that a path may have several values.
 *
 * No path numbers: a path is repeated in neither memory nor file, because entries lie in the order
 * of their paths, and leaves and stored blocks leave out what entries have in common.
 *
 * A scalar `_id` has no entry, because the index on `_id` has it; only if strings are folded.
 */
#ifndef TANSU_INDEX_WILDCARD_H
#define TANSU_INDEX_WILDCARD_H

#include "bson/path.h"
#include "util/buffer.h"

/* What follows the 00 after a part. */
enum { WILDCARD_ARRAY = 0x00, WILDCARD_VALUE = 0x01, WILDCARD_KEY = 0x02, WILDCARD_ELEMENT = 0x03 };

/* Limit of the paths of `only` and `except` together. */
#define WILDCARD_MAX_PATHS 100

/* A path of `only` or `except`, or that of the index itself. */
typedef struct wildcard_path {
    path path;
    tansu_buffer bytes; /* as entries begin that are at the path or below it */
} wildcard_path;

/* Which paths have entries: those at or below the base, at or below a path of `only`, if it has
 * any, and not at or below a path of `except`. */
typedef struct wildcard_scope {
    wildcard_path base; /* no bytes: the whole document */
    wildcard_path *only;
    wildcard_path *except;
    uint32_t only_count;
    uint32_t except_count;
} wildcard_scope;

void wildcard_scope_free(wildcard_scope *scope);

/* wildcard_scope_equal -- the same paths in the same order. */
bool wildcard_scope_equal(const wildcard_scope *a, const wildcard_scope *b);

/* wildcard_put_key, wildcard_put_element -- appends a part to the bytes of a path. False when
 * memory is exhausted. */
bool wildcard_put_key(tansu_buffer *bytes, const char *name, size_t size);
bool wildcard_put_element(tansu_buffer *bytes);

/* wildcard_put_path -- appends all parts of a path. */
bool wildcard_put_path(tansu_buffer *bytes, const path *path);

/* wildcard_has -- whether values at a path have entries; `below`: and all those below it. */
bool wildcard_has(const wildcard_scope *scope, const uint8_t *bytes, size_t size, bool below);

/* wildcard_leads_to -- whether values at a path or below it may have entries. */
bool wildcard_leads_to(const wildcard_scope *scope, const uint8_t *bytes, size_t size);

/* wildcard_has_all -- whether every value of a document has an entry. */
static inline bool wildcard_has_all(const wildcard_scope *scope) {
    return scope->base.bytes.size == 0 && scope->only_count == 0 && scope->except_count == 0;
}

/* wildcard_path_size -- the size of the path at the beginning of an entry, with the 00 after its
 * last part; 0 if there is no valid one. */
size_t wildcard_path_size(const uint8_t *entry, size_t size);

/* wildcard_text -- whether the path of a key is that of a wildcard index: "**", or "path.**". *base
 * is the size of the path before it, 0 for "**". */
bool wildcard_text(const char *text, size_t size, size_t *base);

#endif
