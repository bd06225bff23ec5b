/*
 * bson/path.c -- dotted paths and the values they find in a document.
 */
#include "bson/path.h"

#include "util/error.h"

#include <stdlib.h>

/* array_index -- a part's name as an array position: decimal digits without a leading zero. */
static int32_t array_index(const char *name, uint32_t size) {
    if (size == 0 || size > 10 || (size > 1 && name[0] == '0'))
        return -1;
    int64_t index = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        index = index * 10 + (name[i] - '0');
    }
    return index <= INT32_MAX ? (int32_t)index : -1;
}

/* refuse -- sets the error, and frees an invalid path that is not in an arena. */
static tansu_status refuse(path *path, const arena *memory, const char *reason,
                           tansu_error *error) {
    tansu_status status = error_set(error, TANSU_E_INVALID_QUERY, path->text, "%s", reason);
    if (memory == NULL)
        path_free(path);
    *path = (struct path){NULL, 0, NULL};
    return status;
}

/* finish_part -- adds the part that ends at `end`. Returns NULL, or an error message. */
static const char *finish_part(path *path, char *start, char *end, bool empty_keys,
                               uint32_t *indexes) {
    if (end == start && !empty_keys)
        return "Path has an empty part; remove the dot, or escape a dot inside a key with a "
               "backslash";
    if (path->count == TANSU_MAX_DEPTH)
        return "Path has more than 100 parts, the maximum depth of a document; shorten it";
    *end = '\0';
    path_part *part = &path->parts[path->count++];
    part->name = start;
    part->size = (uint32_t)(end - start);
    part->index = array_index(start, part->size);
    if (part->index >= 0 && ++*indexes > PATH_MAX_INDEXES)
        return "Path has more than 16 parts that are array positions; shorten it";
    return NULL;
}

/* parse -- path_parse() and path_parse_keys(). Parts, names and text are in one allocation. */
static tansu_status parse(path *path, arena *memory, const char *text, size_t size, bool empty_keys,
                          tansu_error *error) {
    *path = (struct path){NULL, 0, NULL};
    if (size == 0 && !empty_keys)
        return error_set(error, TANSU_E_INVALID_QUERY, "",
                         "Path is empty; use the name of a field");
    if (size > TANSU_MAX_DOCUMENT_SIZE)
        return error_set(error, TANSU_E_INVALID_QUERY, "",
                         "Path is longer than a document may be; shorten it");
    size_t most = 1;
    for (size_t i = 0; i < size; i++)
        most += text[i] == '.';
    if (most > TANSU_MAX_DEPTH)
        most = TANSU_MAX_DEPTH;
    size_t bytes = most * sizeof *path->parts + 2 * (size + 1);
    path->parts = memory == NULL ? malloc(bytes) : arena_alloc(memory, bytes);
    if (path->parts == NULL)
        return error_memory(error);
    char *name = (char *)(path->parts + most);
    path->text = name + size + 1;
    if (size != 0)
        memcpy(path->text, text, size);
    path->text[size] = '\0';
    if (size != 0 && memchr(text, 0, size) != NULL)
        return refuse(path, memory, "Path contains a NUL character, which no key has; remove it",
                      error);

    char *out = name;
    uint32_t indexes = 0;
    const char *fault = NULL;
    for (size_t i = 0; i < size && fault == NULL; i++) {
        if (text[i] == '.') {
            fault = finish_part(path, name, out, empty_keys, &indexes);
            name = ++out;
        } else if (text[i] == '\\') {
            i++;
            if (i == size || (text[i] != '.' && text[i] != '\\' && text[i] != '*'))
                fault = "Backslash in a path must precede a dot, an asterisk or a backslash; write "
                        "it as \\\\";
            else
                *out++ = text[i];
        } else {
            *out++ = text[i];
        }
    }
    if (fault == NULL)
        fault = finish_part(path, name, out, empty_keys, &indexes);
    return fault == NULL ? TANSU_OK : refuse(path, memory, fault, error);
}

tansu_status path_parse(path *path, arena *memory, const char *text, size_t size,
                        tansu_error *error) {
    return parse(path, memory, text, size, false, error);
}

tansu_status path_parse_keys(path *path, arena *memory, const char *text, size_t size,
                             tansu_error *error) {
    return parse(path, memory, text, size, true, error);
}

bool path_has_wildcard(const char *text, size_t size) {
    size_t asterisks = 0, begin = 0;
    if (size == 0 || memchr(text, '*', size) == NULL)
        return false;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != '.') {
            asterisks += text[i] == '*';
            i += text[i] == '\\';
            continue;
        }
        if (i > begin && asterisks == i - begin)
            return true;
        begin = i + 1;
        asterisks = 0;
    }
    return false;
}

void path_free(path *path) {
    free(path->parts);
    *path = (struct path){NULL, 0, NULL};
}

bool path_equal(const path *a, const path *b) {
    if (a->count != b->count)
        return false;
    /* Tests of one field share a path; comparing a long one for each of many tests would be
     * quadratic. */
    if (a->parts == b->parts)
        return true;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->parts[i].size != b->parts[i].size ||
            memcmp(a->parts[i].name, b->parts[i].name, a->parts[i].size) != 0)
            return false;
    }
    return true;
}

/* The state of a walk. */
typedef struct walk {
    const path *path;
    path_visitor visitor;
    void *context;
    bool values; /* what is missing is not visited */
    bool through_array;
} walk;

static const doc_value missing = {NULL, 0, DOC_MISSING};

static bool walk_array(walk *walk, uint32_t at, const doc_value *array, uint32_t depth);

/* part_is_key -- whether the element that the iterator is at has the part's name. */
static inline bool part_is_key(const path_part *part, const doc_iter *iter) {
    return iter->key_size == part->size && iter->key[0] == part->name[0] &&
           memcmp(iter->key, part->name, part->size) == 0;
}

/* visit_missing -- a document without the key, or a scalar where one is needed. */
static bool visit_missing(const walk *walk) {
    return walk->values || walk->visitor(walk->context, &missing);
}

/* walk_document -- follows the path from part `at` on in a document. */
static bool walk_document(walk *walk, uint32_t at, const uint8_t *doc, size_t size,
                          uint32_t depth) {
    for (;; at++, depth++) {
        const path_part *part = &walk->path->parts[at];
        doc_iter iter;
        bool found = false;
        if (depth < TANSU_MAX_DEPTH && doc_iter_init(&iter, doc, size)) {
            while (!found && doc_iter_next(&iter))
                found = part_is_key(part, &iter);
        }
        if (!found)
            return visit_missing(walk);
        if (at + 1 == walk->path->count)
            return walk->visitor(walk->context, &iter.value);
        if (iter.value.type == DOC_ARRAY)
            return walk_array(walk, at + 1, &iter.value, depth + 1);
        if (iter.value.type != DOC_DOCUMENT)
            return visit_missing(walk);
        doc = iter.value.data;
        size = iter.value.size;
    }
}

/* walk_array -- traverses an array before part `at`: enters each element that is a document, and
 * the element that the part names by position. */
static bool walk_array(walk *walk, uint32_t at, const doc_value *array, uint32_t depth) {
    walk->through_array = true;
    const path_part *part = &walk->path->parts[at];
    doc_iter iter;
    if (depth >= TANSU_MAX_DEPTH || !doc_iter_value(&iter, array))
        return true;
    for (int64_t position = 0; doc_iter_next(&iter); position++) {
        const doc_value *element = &iter.value;
        if (element->type == DOC_DOCUMENT &&
            !walk_document(walk, at, element->data, element->size, depth + 1))
            return false;
        if (position != part->index)
            continue;
        if (at + 1 == walk->path->count) {
            if (!walk->visitor(walk->context, element))
                return false;
        } else if (element->type == DOC_DOCUMENT) {
            if (!walk_document(walk, at + 1, element->data, element->size, depth + 1))
                return false;
        } else if (element->type == DOC_ARRAY) {
            if (!walk_array(walk, at + 1, element, depth + 1))
                return false;
        }
    }
    return true;
}

bool path_walk(const path *path, const uint8_t *doc, size_t size, path_visitor visitor,
               void *context, bool *through_array) {
    walk walk = {.path = path, .visitor = visitor, .context = context};
    bool whole = walk_document(&walk, 0, doc, size, 0);
    if (through_array != NULL)
        *through_array = walk.through_array;
    return whole;
}

bool path_walk_positions(const path *path, const uint8_t *doc, size_t size, path_visitor visitor,
                         void *context, bool *through_array) {
    walk walk = {.path = path, .visitor = visitor, .context = context};
    walk.values = path_has_positions(path);
    bool whole = walk_document(&walk, 0, doc, size, 0);
    if (through_array != NULL)
        *through_array = walk.through_array;
    return whole;
}

bool path_has_positions(const path *path) {
    for (uint32_t i = 1; i < path->count; i++) {
        if (path->parts[i].index >= 0)
            return true;
    }
    return false;
}

bool path_get(const path *path, const uint8_t *doc, size_t size, doc_value *value) {
    const path_part *part = path->parts;
    const path_part *last = part + path->count - 1;
    doc_iter iter;
    for (;; part++) {
        if (!doc_iter_init(&iter, doc, size))
            break;
        do {
            if (!doc_iter_next(&iter)) {
                *value = missing;
                return true;
            }
        } while (!part_is_key(part, &iter));
        if (part == last) {
            *value = iter.value;
            return true;
        }
        if (iter.value.type == DOC_ARRAY) {
            *value = missing;
            return false;
        }
        if (iter.value.type != DOC_DOCUMENT)
            break;
        doc = iter.value.data;
        size = iter.value.size;
    }
    *value = missing;
    return true;
}
