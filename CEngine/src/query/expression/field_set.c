/*
 * query/expression/field_set.c -- the fields by name, in the order in which they came first.
 */
#include "query/expression/field_set.h"

/* A field. */
typedef struct field {
    key_set_item head; /* its name, with the NUL */
    doc_value value;
} field;

void field_set_begin(evaluation *ev, const expression *e, field_set *f) {
    *f = (field_set){.ev = ev, .e = e, .mark = arena_get_mark(&ev->memory)};
}

tansu_status field_set_put(field_set *f, const char *name, size_t size, const doc_value *value) {
    size_t used = 0;
    bool added;
    field *item = (field *)key_set_add(&f->names, &f->ev->memory, (const uint8_t *)name, size + 1,
                                       sizeof *item, &added, &used);
    if (!item)
        return evaluation_too_large(f->ev, f->e);
    item->value = *value;
    return evaluation_step(f->ev, 1);
}

tansu_status field_set_end(field_set *f, tansu_status status, doc_value *result) {
    build b;
    if (status != TANSU_OK)
        return status;
    build_begin(f->ev, &b);
    for (const key_set_item *item = f->names.first; item; item = item->next) {
        writer_element(&b.w, (const char *)item->key, item->key_size - 1,
                       &((const field *)item)->value);
    }
    arena_release(&f->ev->memory, f->mark);
    return build_end(f->ev, f->e, &b, DOC_DOCUMENT, result);
}
