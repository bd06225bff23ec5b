/*
 * query/pipeline/needed_fields.c -- reading in the stages which fields they read.
 *
 * It is found in what stands after the names of stages, not in what was compiled of it: every string
 * that begins with $ counts as a path, wherever it stands. Too many fields cost memory only.
 */
#include "query/pipeline/needed_fields.h"

#include <string.h>

/* More are not looked for in each document. */
#define NEEDED_MOST 16

struct needed_fields {
    uint32_t count;
    bool all;
    struct {
        const char *name;
        uint32_t size;
    } fields[NEEDED_MOST];
};

/* need_path -- the field that a path begins with. */
static void need_path(needed_fields *n, const char *path, size_t size) {
    const char *dot = memchr(path, '.', size);
    size = dot ? (size_t)(dot - path) : size;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->fields[i].size == size && memcmp(n->fields[i].name, path, size) == 0)
            return;
    }
    if (n->count == NEEDED_MOST || memchr(path, '\\', size) || memchr(path, '*', size)) {
        n->all = true;
        return;
    }
    n->fields[n->count].name = path;
    n->fields[n->count++].size = (uint32_t)size;
}

/* need_keys -- the fields that the keys of a document begin with. */
static void need_keys(needed_fields *n, const doc_value *document) {
    doc_iter iter;
    bool valid = document->type == DOC_DOCUMENT && doc_iter_value(&iter, document);
    while (valid && doc_iter_next(&iter))
        need_path(n, iter.key, iter.key_size);
}

/* need_expression -- what the expressions in a value read. */
static void need_expression(needed_fields *n, const doc_value *value) {
    doc_iter iter;
    size_t size;
    if (value->type == DOC_STRING) {
        const char *text = doc_string(value, &size);
        if (size > 1 && text[0] == '$' && text[1] != '$')
            need_path(n, text + 1, size - 1);
        else if (size > 1 && text[0] == '$')
            n->all = n->all || (size >= 6 && memcmp(text, "$$ROOT", 6) == 0) ||
                     (size >= 9 && memcmp(text, "$$CURRENT", 9) == 0);
        return;
    }
    bool valid =
        (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) && doc_iter_value(&iter, value);
    while (valid && !n->all && doc_iter_next(&iter)) {
        /* Its field is one of the document unless it says of what. */
        if (strcmp(iter.key, "$getField") == 0)
            n->all = true;
        if (strcmp(iter.key, "sortBy") == 0)
            need_keys(n, &iter.value);
        need_expression(n, &iter.value);
    }
}

/* need_query -- what a query reads. */
static void need_query(needed_fields *n, const doc_value *query) {
    doc_iter iter, branch;
    bool valid = query->type == DOC_DOCUMENT && doc_iter_value(&iter, query);
    n->all = n->all || !valid;
    while (valid && !n->all && doc_iter_next(&iter)) {
        if (strcmp(iter.key, "$expr") == 0) {
            need_expression(n, &iter.value);
        } else if (strcmp(iter.key, "$and") == 0 || strcmp(iter.key, "$or") == 0 ||
                   strcmp(iter.key, "$nor") == 0) {
            for (valid = doc_iter_value(&branch, &iter.value); valid && doc_iter_next(&branch);)
                need_query(n, &branch.value);
        } else if (iter.key[0] == '$') {
            n->all = true;
        } else {
            need_path(n, iter.key, iter.key_size);
        }
    }
}

/* includes -- whether a value makes a $project one that leaves out what it does not name; documents
 * without operators may do either. */
static bool includes(const doc_value *value) {
    doc_iter iter;
    if (value->type == DOC_DOCUMENT)
        return doc_iter_value(&iter, value) && doc_iter_next(&iter) && iter.key[0] == '$';
    return value->type == DOC_STRING || expression_is_true(value);
}

/* need_projection -- what $project reads; false if it leaves out what it does not name. */
static bool need_projection(needed_fields *n, const doc_value *spec) {
    bool others = true, id = true;
    doc_iter iter;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "_id") == 0)
            id = expression_is_true(&iter.value);
        else
            others = others && !includes(&iter.value);
    }
    need_keys(n, spec);
    need_expression(n, spec);
    if (id)
        need_path(n, "_id", 3);
    n->all = n->all || others;
    return others;
}

/* need_stage -- what a stage reads; false if the documents after it have nothing else of those before
 * it. */
static bool need_stage(needed_fields *n, const stage *s) {
    doc_value local;
    if (s->kind == &stage_match) {
        need_query(n, &s->spec);
        return true;
    }
    if (s->kind == &stage_project)
        return need_projection(n, &s->spec);
    if (s->kind == &stage_sort_kind) {
        need_keys(n, &s->spec);
        return true;
    }
    need_expression(n, &s->spec);
    if (s->kind == &stage_group || s->kind == &stage_count || s->kind == &stage_sort_by_count ||
        s->kind == &stage_bucket)
        return false;
    if (s->kind == &stage_lookup &&
        doc_find(s->spec.data, s->spec.size, "localField", 10, &local) &&
        local.type == DOC_STRING) {
        size_t size;
        const char *path = doc_string(&local, &size);
        need_path(n, path, size);
    }
    n->all = n->all ||
             !(s->kind == &stage_lookup || s->kind == &stage_unwind || s->kind == &stage_unset ||
               s->kind == &stage_add_fields || s->kind == &stage_set || s->kind == &stage_skip ||
               s->kind == &stage_limit || s->kind == &stage_set_window_fields);
    return true;
}

tansu_status needed_fields_find(stage *s) {
    needed_fields n = {.count = 0};
    const stage *at = s->kind == &stage_sort_kind ? s->next : s;
    while (at && !n.all && need_stage(&n, at))
        at = at->next;
    if (!at || n.all)
        return TANSU_OK;
    needed_fields *kept = stage_alloc(s, sizeof *kept);
    if (!kept)
        return TANSU_E_MEMORY;
    *kept = n;
    s->needed = kept;
    return TANSU_OK;
}

/* is_needed -- whether a document's element is. */
static bool is_needed(const needed_fields *n, const doc_iter *element) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->fields[i].size == element->key_size &&
            memcmp(n->fields[i].name, element->key, element->key_size) == 0)
            return true;
    }
    return false;
}

tansu_status needed_fields_take(stage *s, doc_value *doc) {
    doc_iter iter;
    if (!s->needed)
        return TANSU_OK;
    writer w = {.out = &s->out};
    s->out.size = 0;
    size_t start = writer_begin(&w);
    for (doc_iter_value(&iter, doc); doc_iter_next(&iter);) {
        if (is_needed(s->needed, &iter))
            writer_copy(&w, &iter);
    }
    writer_end(&w, start);
    *doc = (doc_value){s->out.data, (uint32_t)s->out.size, DOC_DOCUMENT};
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}
