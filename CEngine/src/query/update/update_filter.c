/*
 * query/update/update_filter.c -- array filters: the elements of `$[name]`. A filter is evaluated
 * as a query on a document with one field, which has the name of the filter and the element as its
 * value.
 */
#include "bson/writer.h"
#include "query/update/update_internal.h"

struct element_query {
    query *query;
    char name[64];
    size_t name_size;
};

/* filter_name -- the name that all paths of a filter must begin with; *size is 0 until one is
 * found. */
static tansu_status filter_name(const doc_value *filter, const char **name, size_t *size,
                                tansu_error *error) {
    doc_iter iter;
    doc_iter_value(&iter, filter);
    while (doc_iter_next(&iter)) {
        if (iter.key[0] == '$') {
            doc_iter branches;
            if (iter.value.type != DOC_ARRAY && iter.value.type != DOC_DOCUMENT)
                continue;
            if (iter.value.type == DOC_DOCUMENT) {
                tansu_status status = filter_name(&iter.value, name, size, error);
                if (status != TANSU_OK)
                    return status;
                continue;
            }
            doc_iter_value(&branches, &iter.value);
            while (doc_iter_next(&branches)) {
                if (branches.value.type != DOC_DOCUMENT)
                    continue;
                tansu_status status = filter_name(&branches.value, name, size, error);
                if (status != TANSU_OK)
                    return status;
            }
            continue;
        }
        size_t length = strcspn(iter.key, ".");
        if (*size != 0 && (*size != length || memcmp(*name, iter.key, length) != 0))
            return bad_context(
                error, "hints.$arrayFilters",
                "Array filter has paths of two elements, \"%.60s\" and \"%.60s\"; use one "
                "filter for each",
                *name, iter.key);
        *name = iter.key;
        *size = length;
    }
    return TANSU_OK;
}

/* write_collation -- hints with the collation of the update. */
static bool write_collation(const collation *c, tansu_buffer *hints) {
    writer w = {.out = hints};
    size_t start = writer_begin(&w);
    size_t names = writer_open(&w, "$collation", DOC_DOCUMENT);
    writer_bool(&w, "caseInsensitive", c != NULL && c->fold);
    writer_bool(&w, "numeric", c != NULL && c->numeric);
    writer_end(&w, names);
    writer_end(&w, start);
    return !w.failed;
}

/* read_filter -- parses an array filter. */
static tansu_status read_filter(update *u, const doc_value *filter, tansu_error *error) {
    if (filter->type != DOC_DOCUMENT)
        return bad_context(error, "hints.$arrayFilters", "Array filter must be a document");
    const char *name = NULL;
    size_t size = 0;
    tansu_status status = filter_name(filter, &name, &size, error);
    if (status != TANSU_OK)
        return status;
    element_query *q = arena_alloc(&u->memory, sizeof *q);
    array_filter *f = arena_alloc(&u->memory, sizeof *f);
    if (q == NULL || f == NULL)
        return error_memory(error);
    if (size == 0 || size >= sizeof q->name)
        return bad_context(
            error, "hints.$arrayFilters",
            "Array filter needs a name of 1 to 63 bytes, such as \"x\" in {\"x.price\": "
            "{\"$gt\": 5}} for the path \"items.$[x]\"");
    memcpy(q->name, name, size);
    q->name_size = size;
    if (filters_find(u, name, size) != NULL)
        return bad_context(error, "hints.$arrayFilters",
                           "Two array filters have the name \"%s\"; combine them with \"$and\"",
                           q->name);
    *f = (array_filter){.next = u->filters, .name = q->name, .name_size = size, .query = q};
    u->filters = f;
    tansu_buffer hints = TANSU_BUFFER_INIT;
    status = write_collation(u->collation, &hints)
                 ? query_compile_filter(filter->data, filter->size, hints.data, hints.size,
                                        &q->query, error)
                 : error_memory(error);
    tansu_buffer_free(&hints);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(error, "hints.$arrayFilters");
    return status;
}

tansu_status filters_read(update *u, const doc_value *filters, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (filters->type != DOC_ARRAY)
        return bad_context(error, "hints.$arrayFilters",
                           "\"$arrayFilters\" must be an array of documents");
    doc_iter_value(&iter, filters);
    for (uint32_t count = 0; status == TANSU_OK && doc_iter_next(&iter); count++)
        status = count < MAX_FILTERS
                     ? read_filter(u, &iter.value, error)
                     : bad_context(error, "hints.$arrayFilters",
                                   "\"$arrayFilters\" has more than %d filters; remove some",
                                   MAX_FILTERS);
    return status;
}

array_filter *filters_find(const update *u, const char *name, size_t size) {
    for (array_filter *f = u->filters; f != NULL; f = f->next) {
        if (f->name_size == size && memcmp(f->name, name, size) == 0)
            return f;
    }
    return NULL;
}

tansu_status filter_passes(const array_filter *filter, match_context *context,
                           const doc_value *element, bool *passes, tansu_error *error) {
    const element_query *q = filter->query;
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer w = {.out = &doc};
    size_t start = writer_begin(&w);
    writer_element(&w, q->name, q->name_size, element);
    writer_end(&w, start);
    if (!w.failed)
        *passes = query_matches(q->query, context, doc.data, doc.size);
    tansu_buffer_free(&doc);
    return w.failed ? error_memory(error) : match_context_status(context, error);
}

void filters_free(update *u) {
    for (array_filter *f = u->filters; f != NULL; f = f->next)
        query_free(f->query->query);
}
