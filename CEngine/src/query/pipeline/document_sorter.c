/*
 * query/pipeline/document_sorter.c -- documents in the order of their keys.
 */
#include "query/pipeline/document_sorter.h"

#include "query/exec/key_sorter.h"

struct document_sorter {
    stage *s;
    key_sorter *sorter;
    uint64_t number; /* of the next document */
};

document_sorter *document_sorter_new(stage *s, uint64_t keep, size_t memory) {
    document_sorter *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    const external_sort_options how = stage_sort_options(s, memory);
    *d = (document_sorter){.s = s, .sorter = key_sorter_new(&how, keep)};
    if (!d->sorter) {
        free(d);
        return NULL;
    }
    return d;
}

void document_sorter_free(document_sorter *d) {
    if (!d)
        return;
    d->s->p->spilled += key_sorter_spilled(d->sorter);
    key_sorter_free(d->sorter);
    free(d);
}

tansu_status document_sorter_add(document_sorter *d, const tansu_buffer *key,
                                 const doc_value *doc) {
    const sort_record r = {key->data, key->size, d->number++, doc->data, doc->size};
    return key_sorter_add(d->sorter, &r, d->s->p->error);
}

tansu_status document_sorter_next(document_sorter *d, doc_value *doc) {
    sort_record r;
    tansu_status status = key_sorter_next(d->sorter, &r, d->s->p->error);
    if (status == TANSU_OK)
        *doc = (doc_value){r.payload, (uint32_t)r.payload_size, DOC_DOCUMENT};
    return status;
}
