/*
 * query/pipeline/value_reader.c -- finding out which expressions are plain fields; values by the
 * paths of queries.
 */
#include "query/pipeline/value_reader.h"

#include <string.h>

/* begin_trail -- a trail for the path, unless it has array positions. */
static tansu_status begin_trail(stage *s, value_reader *r) {
    if (path_has_positions(&r->path))
        return TANSU_OK;
    r->trail = stage_alloc(s, sizeof *r->trail);
    if (!r->trail)
        return TANSU_E_MEMORY;
    trail_begin(r->trail, r);
    return TANSU_OK;
}

tansu_status value_reader_init(stage *s, const expression *e, value_reader *result) {
    const char *text = expression_field(e);
    *result = (value_reader){.expression = e};
    /* What is special in the paths of queries is not in those of expressions. */
    if (!text || strpbrk(text, "\\*"))
        return TANSU_OK;
    tansu_status status = path_parse(&result->path, &s->p->memory, text, strlen(text), s->p->error);
    return status == TANSU_OK ? begin_trail(s, result) : status;
}

/* ---- Paths of queries ---- */

tansu_status value_reader_path(stage *s, const path *path, bool elements, const date_trunc *trunc,
                               value_reader *result) {
    *result = (value_reader){.path = *path, .elements = elements, .trunc = trunc};
    return trunc ? TANSU_OK : begin_trail(s, result);
}

/* The values that a path finds, as an array. */
typedef struct collecting {
    writer w;
    uint32_t count;
    bool elements;
    doc_value last;
} collecting;

/* collect -- appends a value, or the elements of an array. */
static bool collect(void *context, const doc_value *value) {
    collecting *c = context;
    doc_iter iter;
    if (value->type == DOC_ARRAY && c->elements) {
        for (doc_iter_value(&iter, value); doc_iter_next(&iter);)
            writer_index_value(&c->w, c->count++, &iter.value);
    } else if (value->type != DOC_MISSING) {
        writer_index_value(&c->w, c->count++, value);
        c->last = *value;
    }
    return !c->w.failed;
}

/* collect_all -- all values that the path finds. */
static tansu_status collect_all(evaluation *ev, const value_reader *r, const doc_value *doc,
                                doc_value *result) {
    tansu_buffer array = TANSU_BUFFER_INIT;
    collecting c = {.w = {.out = &array}, .elements = r->elements};
    size_t start = writer_begin(&c.w);
    path_walk(&r->path, doc->data, doc->size, collect, &c, NULL);
    writer_end(&c.w, start);
    const uint8_t *bytes = c.w.failed ? NULL : arena_copy(&ev->memory, array.data, array.size);
    *result = (doc_value){bytes, (uint32_t)array.size, DOC_ARRAY};
    if (!r->elements && c.count <= 1 && path_has_positions(&r->path))
        *result = c.count == 1 ? c.last : (doc_value){NULL, 0, DOC_MISSING};
    tansu_buffer_free(&array);
    return bytes ? TANSU_OK : error_memory(ev->error);
}

tansu_status value_walk(evaluation *ev, const value_reader *r, const doc_value *doc,
                        doc_value *result) {
    if (!path_get(&r->path, doc->data, doc->size, result)) {
        tansu_status status = collect_all(ev, r, doc, result);
        if (status != TANSU_OK)
            return status;
    }
    if (!r->trunc)
        return TANSU_OK;
    /* Of what is no date it is null. */
    uint8_t *date = result->type == DOC_DATE ? arena_alloc(&ev->memory, 8) : NULL;
    if (!date && result->type == DOC_DATE)
        return error_memory(ev->error);
    if (date)
        store_u64(date, (uint64_t)date_trunc_apply(r->trunc, doc_int64(result)));
    *result = date ? (doc_value){date, 8, DOC_DATE} : (doc_value){NULL, 0, DOC_NULL};
    return TANSU_OK;
}
