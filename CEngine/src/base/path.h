/*
 * base/path.h -- dotted paths and what they find in a document (rule 2 of docs/query-language.md).
 * Part base; uses base/doc.h and base/error.h.
 *
 * Matching, sorting and index keys all ask this one walker, so that they cannot disagree.
 */
#ifndef TANSU_BASE_PATH_H
#define TANSU_BASE_PATH_H

#include "base/doc.h"

typedef struct path_part {
    const char *name;
    uint32_t size;
    int32_t index; /* the name as an array index, or -1 when it is not one */
} path_part;

typedef struct path {
    path_part *parts;
    uint32_t count;
    char *text; /* as it was given, NUL-terminated; for messages */
} path;

/* A part that may be an array position may also be a key of the documents in the array. Both ways
 * are gone, so that without this bound a hostile path and document could keep a walk busy for
 * years. */
#define PATH_MAX_INDEXES 16

/* path_parse -- takes a dotted path apart (`\.` is a dot inside a key, `\\` a backslash). Errors:
 * INVALID_QUERY (empty path or part, depth over TANSU_MAX_DEPTH, stray backslash, a NUL, more than
 * PATH_MAX_INDEXES parts that may be array positions), MEMORY. */
tansu_status path_parse(path *path, const char *text, size_t size, tansu_error *error);

/* path_free -- fine on a zeroed one. */
void path_free(path *path);

/* Sees one value. value->type is DOC_MISSING where a document has no such key or the path leads
 * into a scalar. Returns false to end the walk. */
typedef bool (*path_visitor)(void *context, const doc_value *value);

/*
 * path_walk -- shows the visitor every value that the path finds, in document order. An array at
 * the path's end is shown whole (the visitor looks at its elements if it cares). On the way, an
 * array is walked through: each element that is a document is entered, other elements (also nested
 * arrays) yield nothing; and when the next part is an array index that exists, that element is
 * entered (or shown) as well. A document without the key, or a scalar that is not inside an array,
 * yields one DOC_MISSING value. So an empty array on the way yields nothing at all.
 * *through_array (may be NULL): set to true when an array was walked through.
 * False when the visitor ended the walk.
 */
bool path_walk(const path *path, const uint8_t *doc, size_t size, path_visitor visitor,
               void *context, bool *through_array);

/* path_get -- the quick way where no array is in the way: the one value at the path, DOC_MISSING
 * when it is not there; false when an array stands on the way (then use path_walk()). */
bool path_get(const path *path, const uint8_t *doc, size_t size, doc_value *value);

#endif
