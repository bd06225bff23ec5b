/*
 * query/update_filter.c -- array filters: what `$[name]` stands for. An element is laid into a document
 * of one field, the filter's name, and that document is asked, so that a filter means what it would
 * mean as a query.
 */
#include "query/update_parts.h"
#include "query/writer.h"

struct element_query {
    query *query;
    char name[64]; /* of the field */
    size_t name_size;
};

/* wrap -- makes a document of one field. */
static bool wrap(tansu_buffer *out, const char *name, size_t name_size, const doc_value *value) {
    out->size = 0;
    if (!buffer_append(out, "\0\0\0", 4) || !buffer_append_byte(out, value->type) ||
        !buffer_append(out, name, name_size) || !buffer_append_byte(out, 0) ||
        !buffer_append(out, value->data, value->size) || !buffer_append_byte(out, 0))
        return false;
    store_u32(out->data, (uint32_t)out->size);
    return true;
}

/* filter_name -- the one name that all paths of a filter begin with; *size 0 when there is none yet. */
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
            return bad_context(error, "hints.$arrayFilters",
                               "An array filter speaks of one element: it names \"%.60s\" and "
                               "\"%.60s\".",
                               *name, iter.key);
        *name = iter.key;
        *size = length;
    }
    return TANSU_OK;
}

/* write_collation -- the hint that makes a filter compare strings as the whole update does. */
static bool write_collation(const collation *by, tansu_buffer *hints) {
    writer w = {.out = hints};
    size_t start = writer_begin(&w);
    size_t names = writer_open(&w, "$collation", DOC_DOCUMENT);
    writer_bool(&w, "caseInsensitive", by != NULL && by->fold);
    writer_bool(&w, "numeric", by != NULL && by->numeric);
    writer_end(&w, names);
    writer_end(&w, start);
    return !w.failed;
}

/* read_filter -- one array filter. */
static tansu_status read_filter(update *u, const doc_value *filter, tansu_error *error) {
    if (filter->type != DOC_DOCUMENT)
        return bad_context(error, "hints.$arrayFilters", "An array filter must be a document.");
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
        return bad_context(error, "hints.$arrayFilters",
                           "An array filter needs a name of 1 to 63 bytes, as in "
                           "{\"x.price\": {\"$gt\": 5}} for the path \"items.$[x]\".");
    memcpy(q->name, name, size);
    q->name_size = size;
    if (filters_find(u, name, size) != NULL)
        return bad_context(error, "hints.$arrayFilters",
                           "There are two array filters for \"%s\": join them with $and.", q->name);
    *f = (array_filter){.next = u->filters, .name = q->name, .name_size = size, .query = q};
    u->filters = f;
    tansu_buffer hints = TANSU_BUFFER_INIT;
    status = write_collation(u->collation, &hints)
                 ? query_compile(filter->data, filter->size, hints.data, hints.size, NULL,
                                 &q->query, error)
                 : error_memory(error);
    tansu_buffer_free(&hints);
    return status;
}

tansu_status filters_read(update *u, const doc_value *filters, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (filters->type != DOC_ARRAY)
        return bad_context(error, "hints.$arrayFilters", "The array filters must be an array.");
    doc_iter_value(&iter, filters);
    for (uint32_t count = 0; status == TANSU_OK && doc_iter_next(&iter); count++)
        status = count < MAX_FILTERS
                     ? read_filter(u, &iter.value, error)
                     : bad_context(error, "hints.$arrayFilters",
                                   "There are at most %d array filters.", MAX_FILTERS);
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
    if (!wrap(&doc, q->name, q->name_size, element))
        return error_memory(error);
    *passes = query_matches(q->query, context, doc.data, doc.size);
    tansu_buffer_free(&doc);
    return match_context_status(context, error);
}

void filters_free(update *u) {
    for (array_filter *f = u->filters; f != NULL; f = f->next)
        query_free(f->query->query);
}
