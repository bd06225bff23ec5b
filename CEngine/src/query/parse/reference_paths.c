/*
 * query/parse/reference_paths.c -- replaces conditions on what references lead to by subqueries.
 *
 * It follows the structure that selector.c gives a selector. The result is flat: its keys may
 * repeat, and the parser joins them by AND. The depth that doc_check() allows bounds the recursion.
 */
#include "bson/writer.h"
#include "query/parse/selector.h"
#include "query/parse/subquery_spec.h"
#include "util/error.h"

typedef struct expansion {
    const reference_list *references;
    writer *w;
    bool changed;
    tansu_buffer path; /* of the current condition in the document, as text */
    size_t base;       /* where the part of it begins that the selector has: 0, or the element of
                          an $elemMatch or $allMatch */
    tansu_error *error;
} expansion;

/* A reference on a path. */
typedef struct hop {
    const reference *to;
    size_t own;  /* bytes of the path up to the reference, and the positions in its array */
    size_t rest; /* where the path in the referenced document begins; the path's size: nowhere */
} hop;

static tansu_status expand_members(expansion *e, const doc_value *selector);
static tansu_status expand_condition(expansion *e, const doc_value *value);

/* ---- Paths ---- */

/* part_end -- where the part of a path that begins at `from` ends: at a dot, or at the end. */
static size_t part_end(const tansu_buffer *path, size_t from) {
    while (from < path->size && path->data[from] != '.')
        from += path->data[from] == '\\' && from + 1 < path->size ? 2 : 1;
    return from;
}

/* follows -- how many parts of a path lead to a reference: its own, and array positions between and
 * after them. 0: it does not lead there. */
static uint32_t follows(const path *path, const struct path *reference) {
    uint32_t at = 0, matched = 0;
    for (; at < path->count && matched < reference->count; at++) {
        const path_part *part = &path->parts[at], *wanted = &reference->parts[matched];
        if (part->size == wanted->size && memcmp(part->name, wanted->name, part->size) == 0)
            matched++;
        else if (at == 0 || part->index < 0)
            return 0;
    }
    if (matched < reference->count)
        return 0;
    while (at < path->count && path->parts[at].index >= 0)
        at++;
    return at;
}

/* is_dbref_key -- whether a part is a key of a DBRef, which is in the document itself. */
static bool is_dbref_key(const path_part *part) {
    return part->name[0] == '$';
}

/* find_hop -- the reference on the current path, the longest if there are several. */
static tansu_status find_hop(expansion *e, hop *result) {
    *result = (hop){0};
    const char *text = (const char *)e->path.data;
    if (path_has_wildcard(text, e->path.size))
        return TANSU_OK;
    path parsed = {0};
    uint32_t longest = 0;
    tansu_status status = path_parse_keys(&parsed, NULL, text, e->path.size, e->error);
    for (uint32_t i = 0; status == TANSU_OK && i < e->references->count; i++) {
        uint32_t parts = follows(&parsed, &e->references->items[i].path);
        if (parts <= longest || (parts < parsed.count && is_dbref_key(&parsed.parts[parts])))
            continue;
        longest = parts;
        size_t own = part_end(&e->path, 0);
        for (uint32_t part = 1; part < parts; part++)
            own = part_end(&e->path, own + 1);
        *result = (hop){.to = &e->references->items[i],
                        .own = own,
                        .rest = parts < parsed.count ? own + 1 : e->path.size};
    }
    path_free(&parsed);
    return status;
}

/* ---- Subqueries ---- */

/* holds_without_values -- whether a document without any field satisfies a selector. A subquery
 * counts as empty. */
static tansu_status holds_without_values(const tansu_buffer *selector, bool *holds,
                                         tansu_error *error) {
    static const uint8_t empty[5] = {5};
    query *q;
    const deadline none = deadline_begin(NULL, 0);
    tansu_status status = query_compile(selector->data, selector->size, NULL, 0, NULL, &q, error);
    if (status != TANSU_OK)
        return status;
    match_context context = {0};
    if (q->subqueries)
        status = query_compile_resolved(q, &none, error);
    if (status == TANSU_OK)
        status = query_make_matcher(q, error);
    if (status == TANSU_OK) {
        *holds = query_matches(q, &context, empty, sizeof empty);
        status = match_context_status(&context, error);
    }
    match_context_free(&context);
    query_free(q);
    return status;
}

/* write_subquery -- the condition that a referenced document satisfies a selector; with `holds`,
 * that none violates it. */
static void write_subquery(expansion *e, const hop *h, const tansu_buffer *selector, bool holds) {
    writer *w = e->w;
    writer_head(w, DOC_DOCUMENT, (const char *)e->path.data + e->base, h->own - e->base);
    size_t condition = writer_begin(w);
    size_t subquery = writer_open(w, holds ? "$nin" : "$in", DOC_DOCUMENT);
    writer_string(w, "$from", h->to->to);
    if (holds) {
        size_t query = writer_open(w, "$query", DOC_DOCUMENT);
        size_t branches = writer_open(w, "$nor", DOC_ARRAY);
        writer_index_head(w, DOC_DOCUMENT, 0);
        writer_bytes(w, selector->data, selector->size);
        writer_end(w, branches);
        writer_end(w, query);
    } else {
        writer_document(w, "$query", selector->data, selector->size);
    }
    writer_end(w, subquery);
    writer_end(w, condition);
    e->changed = true;
}

/* follow -- a condition on the current path, which goes on after a reference. */
static tansu_status follow(expansion *e, const hop *h, const doc_value *value) {
    tansu_buffer selector = TANSU_BUFFER_INIT;
    writer w = {.out = &selector};
    size_t start = writer_begin(&w);
    writer_element(&w, (const char *)e->path.data + h->rest, e->path.size - h->rest, value);
    writer_end(&w, start);
    bool holds = false;
    tansu_status status =
        w.failed ? error_memory(e->error) : holds_without_values(&selector, &holds, e->error);
    if (status == TANSU_OK)
        write_subquery(e, h, &selector, holds);
    tansu_buffer_free(&selector);
    return status;
}

/* ---- Structure ---- */

/* write_path -- the key of a condition on the current path. */
static void write_path(expansion *e, uint8_t type) {
    writer_head(e->w, type, (const char *)e->path.data + e->base, e->path.size - e->base);
}

/* push -- appends a key, which is path text itself, to the current path. */
static bool push(expansion *e, const char *key, size_t size) {
    return (e->path.size == e->base || buffer_append_byte(&e->path, '.')) &&
           buffer_append(&e->path, key, size);
}

/* expand_field -- the condition of a key below the current path. */
static tansu_status expand_field(expansion *e, const doc_iter *iter) {
    size_t before = e->path.size;
    tansu_status status = push(e, iter->key, iter->key_size) ? expand_condition(e, &iter->value)
                                                             : error_memory(e->error);
    e->path.size = before;
    return status;
}

/* expand_branches -- the operand of $and, $or and $nor: selectors, or below a path conditions. */
static tansu_status expand_branches(expansion *e, const char *name, const doc_value *branches,
                                    tansu_status (*expand)(expansion *e, const doc_value *branch)) {
    doc_iter iter;
    uint32_t at = 0;
    tansu_status status = TANSU_OK;
    size_t array = writer_open(e->w, name, DOC_ARRAY);
    bool valid = doc_iter_value(&iter, branches);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        size_t branch = writer_open_index(e->w, at++, DOC_DOCUMENT);
        status = expand(e, &iter.value);
        writer_end(e->w, branch);
    }
    writer_end(e->w, array);
    return status;
}

/* expand_elements -- $elemMatch or $allMatch with a selector for the elements. */
static tansu_status expand_elements(expansion *e, const char *name, const doc_value *selector) {
    hop h;
    tansu_status status = find_hop(e, &h);
    if (status != TANSU_OK)
        return status;
    if (h.to) { /* the elements are references: one document satisfies all of it, or all do */
        const tansu_buffer whole = {.data = (uint8_t *)selector->data, .size = selector->size};
        write_subquery(e, &h, &whole, false);
        if (strcmp(name, "$allMatch") == 0)
            write_subquery(e, &h, &whole, true);
        return TANSU_OK;
    }
    size_t before = e->path.size, base = e->base;
    write_path(e, DOC_DOCUMENT);
    size_t condition = writer_begin(e->w);
    size_t inner = writer_open(e->w, name, DOC_DOCUMENT);
    if (!buffer_append_byte(&e->path, '.'))
        return error_memory(e->error);
    e->base = e->path.size;
    status = expand_members(e, selector);
    e->base = base;
    e->path.size = before;
    writer_end(e->w, inner);
    writer_end(e->w, condition);
    return status;
}

/* is_branches -- whether an operator takes conditions on the same path: $and, $or, $nor, and $all
 * with $elemMatch, which is a conjunction. */
static bool is_branches(const doc_iter *item) {
    doc_iter elements, element;
    if (item->value.type != DOC_ARRAY)
        return false;
    if (strcmp(item->key, "$and") == 0 || strcmp(item->key, "$or") == 0 ||
        strcmp(item->key, "$nor") == 0)
        return true;
    return strcmp(item->key, "$all") == 0 && doc_iter_value(&elements, &item->value) &&
           doc_iter_next(&elements) && elements.value.type == DOC_DOCUMENT &&
           doc_iter_value(&element, &elements.value) && doc_iter_next(&element) &&
           strcmp(element.key, "$elemMatch") == 0;
}

/* is_selector -- whether the operand of $elemMatch or $allMatch is a selector for the elements. */
static bool is_selector(const doc_iter *item) {
    return (strcmp(item->key, "$elemMatch") == 0 || strcmp(item->key, "$allMatch") == 0) &&
           item->value.type == DOC_DOCUMENT && !condition_is_on_value(&item->value);
}

/* is_negation -- whether it is a $not of a condition, and not of a regular expression. */
static bool is_negation(const doc_iter *item) {
    return strcmp(item->key, "$not") == 0 && item->value.type == DOC_DOCUMENT;
}

/* expand_operators -- the operators on the current path: those that contain conditions one by one,
 * the others together. */
static tansu_status expand_operators(expansion *e, const doc_value *value) {
    doc_iter iter;
    uint32_t others = 0;
    tansu_status status = TANSU_OK;
    bool valid = doc_iter_value(&iter, value);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        if (is_branches(&iter)) {
            status = expand_branches(e, strcmp(iter.key, "$all") == 0 ? "$and" : iter.key,
                                     &iter.value, expand_condition);
        } else if (is_negation(&iter)) {
            size_t negation = writer_open(e->w, "$not", DOC_DOCUMENT);
            status = expand_condition(e, &iter.value);
            writer_end(e->w, negation);
        } else if (is_selector(&iter)) {
            status = expand_elements(e, iter.key, &iter.value);
        } else {
            others++;
        }
    }
    if (status != TANSU_OK || others == 0)
        return status;
    write_path(e, DOC_DOCUMENT);
    size_t condition = writer_begin(e->w);
    valid = doc_iter_value(&iter, value);
    while (valid && doc_iter_next(&iter)) {
        if (!is_branches(&iter) && !is_negation(&iter) && !is_selector(&iter))
            writer_copy(e->w, &iter);
    }
    writer_end(e->w, condition);
    return status;
}

/* expand_condition -- the condition on the current path. */
static tansu_status expand_condition(expansion *e, const doc_value *value) {
    hop h;
    tansu_status status = find_hop(e, &h);
    if (status != TANSU_OK)
        return status;
    if (h.to && h.rest < e->path.size)
        return follow(e, &h, value);
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter)) {
        write_path(e, value->type);
        writer_bytes(e->w, value->data, value->size);
        return TANSU_OK;
    }
    if (iter.key[0] == '$')
        return expand_operators(e, value);
    do {
        status = expand_field(e, &iter);
    } while (status == TANSU_OK && doc_iter_next(&iter));
    return status;
}

/* expand_members -- the keys of a selector. */
static tansu_status expand_members(expansion *e, const doc_value *selector) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    bool valid = doc_iter_value(&iter, selector);
    while (valid && status == TANSU_OK && doc_iter_next(&iter)) {
        if (iter.key[0] != '$') {
            status = expand_field(e, &iter);
        } else if (is_branches(&iter)) {
            status = expand_branches(e, iter.key, &iter.value, expand_members);
        } else if (is_negation(&iter)) {
            size_t negation = writer_open(e->w, "$not", DOC_DOCUMENT);
            status = expand_members(e, &iter.value);
            writer_end(e->w, negation);
        } else {
            writer_copy(e->w, &iter);
        }
    }
    return status;
}

tansu_status reference_paths_expand(const doc_value *selector, const reference_list *references,
                                    tansu_buffer *out, tansu_error *error) {
    writer w = {.out = out};
    expansion e = {.references = references, .w = &w, .error = error};
    out->size = 0;
    size_t start = writer_begin(&w);
    tansu_status status = expand_members(&e, selector);
    writer_end(&w, start);
    tansu_buffer_free(&e.path);
    if (status == TANSU_OK && w.failed)
        status = error_memory(error);
    if (status != TANSU_OK || !e.changed)
        out->size = 0;
    return status;
}
