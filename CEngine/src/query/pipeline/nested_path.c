/*
 * query/pipeline/nested_path.c -- a field within nested documents that a stage sets as a whole: what
 * $unwind, $lookup and $graphLookup write.
 */
#include "query/pipeline/pipeline_internal.h"

#include <string.h>

tansu_status nested_path_compile(stage *s, const char *member, const char *text, size_t size,
                                 nested_path *path) {
    char *copy = arena_copy(&s->p->memory, text, size);
    uint32_t count = 1;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '.';
    if (count > TANSU_MAX_DEPTH)
        return stage_error(s, member, "Path is more than %d deep", TANSU_MAX_DEPTH);
    struct nested_name *names = stage_alloc(s, count * sizeof *names);
    if (!copy || !names)
        return error_memory(s->p->error);
    if (memchr(text, 0, size))
        return stage_error(s, member, "Path has a NUL");
    for (uint32_t i = 0; i < count; i++) {
        names[i] = (struct nested_name){copy, strcspn(copy, ".")};
        if (names[i].size == 0 || copy[0] == '$')
            return stage_error(s, member, "A part of the path is empty or begins with $");
        copy += names[i].size + 1;
    }
    *path = (nested_path){count, names};
    return TANSU_OK;
}

/* put -- nested_path_put() with the part of the path from one of its names on. */
static void put(writer *w, const doc_value *doc, const nested_path *path, uint32_t from,
                const doc_value *value) {
    const struct nested_name *name = &path->names[from];
    size_t start = writer_begin(w);
    bool found = false, last = from + 1 == path->count;
    doc_iter iter = {.next = NULL};
    const doc_value none = {NULL, 0, DOC_MISSING};
    if (doc->type == DOC_DOCUMENT)
        doc_iter_value(&iter, doc);
    for (bool more = doc_iter_next(&iter);; more = doc_iter_next(&iter)) {
        bool same = more && !found && iter.key_size == name->size &&
                    memcmp(iter.key, name->text, name->size) == 0;
        if (!same && more) {
            writer_copy(w, &iter);
            continue;
        }
        if (same || !found) {
            found = true;
            if (last && value->type != DOC_MISSING)
                writer_element(w, name->text, name->size, value);
            if (!last && (same || value->type != DOC_MISSING)) {
                writer_head(w, DOC_DOCUMENT, name->text, name->size);
                put(w, same ? &iter.value : &none, path, from + 1, value);
            }
        }
        if (!more)
            break;
    }
    writer_end(w, start);
}

void nested_path_put(writer *w, const doc_value *doc, const nested_path *path,
                     const doc_value *value) {
    put(w, doc, path, 0, value);
}

tansu_status nested_path_show(stage *s, const nested_path *path, const tansu_buffer *array,
                              doc_value *doc) {
    const doc_value value = {array->data, (uint32_t)array->size, DOC_ARRAY};
    writer w = {.out = &s->out};
    s->out.size = 0;
    nested_path_put(&w, doc, path, &value);
    return stage_show(s, &w, doc);
}
