/*
 * query/pipeline/window_input.c -- sorting by partition and order.
 *
 * The key of a document is that of its partition, that of its place in the order, and the size of
 * the first one.
 */
#include "query/pipeline/window_input.h"

#include "query/pipeline/needed_fields.h"

/* put_key -- replaces the key by that of a document. */
static tansu_status put_key(window_input *in, const doc_value *doc) {
    stage *s = in->s;
    evaluation *ev = &s->p->ev;
    doc_value value;
    uint8_t size[4] = {0};
    tansu_status status = TANSU_OK;
    in->key.size = 0;
    if (in->partition.expression) {
        evaluation_document(ev, doc->data, doc->size);
        status = value_read(ev, &in->partition, doc, &value);
        if (status != TANSU_OK)
            return status;
        if (value.type == DOC_ARRAY)
            return stage_error(s, s->kind->name, "The value of \"partitionBy\" is an array");
        if (value.type == DOC_MISSING)
            value = (doc_value){NULL, 0, DOC_NULL};
        if (!collation_key(ev->collation, &ev->collated[0], &in->key, &value, false))
            return error_memory(s->p->error);
        store_u32(size, (uint32_t)in->key.size);
    }
    if (in->sort_by)
        status = sort_pattern_key(s, in->sort_by, doc, &in->key);
    if (status == TANSU_OK && !buffer_append(&in->key, size, sizeof size))
        status = error_memory(s->p->error);
    return status;
}

/* read_all -- sorts the documents of the stage before. */
static tansu_status read_all(window_input *in, size_t memory) {
    stage *s = in->s;
    sort_record r = {.tie_breaker = 0};
    doc_value doc;
    tansu_status status;
    in->sort = stage_sort(s, memory);
    if (!in->sort)
        return error_memory(s->p->error);
    while ((status = stage_next(s, &doc)) == TANSU_OK) {
        status = put_key(in, &doc);
        if (status == TANSU_OK)
            status = needed_fields_take(s, &doc);
        if (status != TANSU_OK)
            return status;
        r.key = in->key.data;
        r.key_size = in->key.size;
        r.payload = doc.data;
        r.payload_size = doc.size;
        status = external_sort_add(in->sort, &r, s->p->error);
        if (status != TANSU_OK)
            return status;
        r.tie_breaker++;
    }
    return status == TANSU_DONE ? external_sort_finish(in->sort, s->p->error) : status;
}

tansu_status window_input_next(window_input *in, size_t memory, window_document *result) {
    bool first = in->before.size == 0;
    sort_record r;
    *result = (window_document){.begins = first};
    if (!in->partition.expression && !in->sort_by) {
        tansu_status status = stage_next(in->s, &result->doc);
        if (status == TANSU_OK && first && !buffer_append_byte(&in->before, 0))
            status = error_memory(in->s->p->error);
        return status;
    }
    tansu_status status = in->sort ? stage_step(in->s) : read_all(in, memory);
    if (status == TANSU_OK)
        status = external_sort_next(in->sort, &r, in->s->p->error);
    if (status != TANSU_OK)
        return status;
    result->doc = (doc_value){r.payload, (uint32_t)r.payload_size, DOC_DOCUMENT};
    if (!first && r.key_size == in->before.size &&
        memcmp(r.key, in->before.data, r.key_size) == 0) {
        result->tied = true;
        return TANSU_OK;
    }
    const uint8_t *end = r.key + r.key_size - 4;
    size_t size = load_u32(end);
    result->begins = first || memcmp(end, in->before.data + in->before.size - 4, 4) != 0 ||
                     (size != 0 && memcmp(r.key, in->before.data, size) != 0);
    return buffer_set(&in->before, r.key, r.key_size) ? TANSU_OK : error_memory(in->s->p->error);
}

void window_input_end(window_input *in) {
    if (in->sort)
        in->s->p->spilled += external_sort_spilled(in->sort);
    external_sort_free(in->sort);
    in->sort = NULL;
    tansu_buffer_free(&in->key);
    tansu_buffer_free(&in->before);
    in->key = in->before = (tansu_buffer)TANSU_BUFFER_INIT;
}
