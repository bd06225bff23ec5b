/*
 * bson/path.h -- dotted paths and the values they find in a document (rule 2 of
 * docs/query-language.md).
 *
 * Matching, sorting and index keys all use the walks below, so that they cannot disagree.
 */
#ifndef TANSU_BSON_PATH_H
#define TANSU_BSON_PATH_H

#include "bson/document.h"
#include "util/arena.h"

typedef struct path_part {
    const char *name;
    uint32_t size;
    int32_t index; /* the name as an array position, or -1 */
} path_part;

typedef struct path {
    path_part *parts;
    uint32_t count;
    char *text; /* as it was given, NUL-terminated; for messages */
} path;

/* Limit of parts that may be array positions. Such a part may also be a key of the documents in the
 * array, and both are followed, so the work grows exponentially with their number. */
#define PATH_MAX_INDEXES 16

/* path_parse -- parses a dotted path (`\.` is a dot inside a key, `\\` a backslash, `\*` an
 * asterisk). It is allocated in an arena, or with NULL by itself, to be freed with path_free().
 * Errors:
 * INVALID_QUERY (empty path or part, depth over TANSU_MAX_DEPTH, stray backslash, a NUL, more than
 * PATH_MAX_INDEXES parts that may be array positions), MEMORY. */
tansu_status path_parse(path *path, arena *memory, const char *text, size_t size,
                        tansu_error *error);

/* path_parse_keys -- the same for a path that only looks for values: an empty part is the key "".
 */
tansu_status path_parse_keys(path *path, arena *memory, const char *text, size_t size,
                             tansu_error *error);

/* path_has_wildcard -- whether a part of the text is only asterisks, such as "*" or "a.**". A key
 * of that name is written with a backslash, "\\*". */
bool path_has_wildcard(const char *text, size_t size);

/* path_free -- of one that is in no arena; a zero-initialized path is allowed. */
void path_free(path *path);

/* path_equal -- whether two paths have the same parts. */
bool path_equal(const path *a, const path *b);

/* Called for each value. value->type is DOC_MISSING where a document has no such key or the path
 * leads through a scalar. Returns false to end the walk. */
typedef bool (*path_visitor)(void *context, const doc_value *value);

/*
 * path_walk -- calls the visitor for every value that the path finds, in document order. An array
 * at the end of the path is one value. An array before the end is traversed: each element that is a
 * document is entered, and other elements (including nested arrays) yield nothing; when the next
 * part is an array position that exists, that element is entered (or visited) as well. A document
 * without the key, or a scalar that is not in an array, yields one DOC_MISSING value. So an empty
 * array before the end yields nothing at all. *through_array (may be NULL): set to true when an
 * array was traversed. False when the visitor ended the walk.
 */
bool path_walk(const path *path, const uint8_t *doc, size_t size, path_visitor visitor,
               void *context, bool *through_array);

/*
 * path_walk_positions -- path_walk() for what may take one value only (sorts, unique indexes): with
 * a path that has positions, missing values are not visited, so that they count only where nothing
 * else is found. So "v.0.y" in {v: [{y: 1}, {y: 2}]} is 1, although the documents in the array do
 * not have the key "0" either. Groups and distinct values take no missing values in any case.
 */
bool path_walk_positions(const path *path, const uint8_t *doc, size_t size, path_visitor visitor,
                         void *context, bool *through_array);

/* path_has_positions -- whether a part of the path may be an array position. */
bool path_has_positions(const path *path);

/* path_get -- a fast path for paths without arrays: the only value, or DOC_MISSING; false when
 * there is an array before the end of the path (then use path_walk()). */
bool path_get(const path *path, const uint8_t *doc, size_t size, doc_value *value);

#endif
