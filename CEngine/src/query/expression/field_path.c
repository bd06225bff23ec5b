/*
 * query/expression/field_path.c -- the paths of expressions, "$a.b": unlike those of queries they
 * name no array positions, and have no escapes.
 */
#include "query/expression/expression_internal.h"

#include <string.h>

bool field_name_is_dollar(const char *name, size_t size) {
    static const char *const allowed[] = {"$ref", "$id", "$db"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (strlen(allowed[i]) == size && memcmp(allowed[i], name, size) == 0)
            return false;
    }
    return size != 0 && name[0] == '$';
}

tansu_status field_path_compile(expression_compiler *c, const char *text, size_t size,
                                const field_path **result) {
    field_path *path = arena_alloc(c->memory, sizeof *path);
    char *copy = arena_copy(c->memory, text, size);
    uint32_t count = 1;
    if (!path || !copy)
        return error_memory(c->error);
    for (size_t i = 0; i < size; i++)
        count += text[i] == '.';
    if (memchr(text, 0, size))
        return compile_error(c, NULL, "Path \"$%.100s\" has a NUL", copy);
    if (count > TANSU_MAX_DEPTH)
        return compile_error(c, NULL, "Path \"$%.100s…\" is more than %d deep", copy,
                             TANSU_MAX_DEPTH);
    struct field_name *names = arena_alloc(c->memory, count * sizeof *names);
    if (!names)
        return error_memory(c->error);
    const char *at = copy;
    for (uint32_t i = 0; i < count; i++) {
        names[i].name = at;
        names[i].size = (uint32_t)strcspn(at, ".");
        if (names[i].size == 0)
            return compile_error(c, NULL, "Path \"$%.100s\" has an empty name", copy);
        if (field_name_is_dollar(at, names[i].size))
            return compile_error(c, NULL,
                                 "Path \"$%.100s\" has a name that begins with $; $getField reads "
                                 "such a field",
                                 copy);
        at += names[i].size + 1;
    }
    *path = (field_path){.text = copy, .count = count, .names = names};
    *result = path;
    return TANSU_OK;
}

/* get_in_array -- the array of what the rest of the path finds in the documents of an array. */
static tansu_status get_in_array(evaluation *ev, const expression *e, const field_path *path,
                                 uint32_t from, const doc_value *array, doc_value *result) {
    doc_iter iter;
    build b;
    build_begin(ev, &b);
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);) {
        doc_value value;
        tansu_status status = evaluation_step(ev, 1);
        if (status == TANSU_OK && iter.value.type == DOC_DOCUMENT) {
            status = field_path_get(ev, e, path, from, &iter.value, &value);
            if (status == TANSU_OK && value.type != DOC_MISSING)
                build_add(&b, &value);
        }
        if (status != TANSU_OK) {
            build_cancel(ev, &b);
            return status;
        }
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

tansu_status field_path_get(evaluation *ev, const expression *e, const field_path *path,
                            uint32_t from, const doc_value *value, doc_value *result) {
    doc_value at = *value;
    for (uint32_t i = from; i < path->count; i++) {
        if (at.type == DOC_ARRAY)
            return get_in_array(ev, e, path, i, &at, result);
        if (at.type != DOC_DOCUMENT)
            return result_missing(result);
        /* A large document is searched from its beginning, perhaps in a loop. */
        tansu_status status = at.size < 64 * 64 ? TANSU_OK : evaluation_step(ev, at.size / 64);
        if (status != TANSU_OK)
            return status;
        doc_find(at.data, at.size, path->names[i].name, path->names[i].size, &at);
    }
    *result = at;
    return TANSU_OK;
}
