/*
 * query/pipeline/accumulated_fields.c -- the fields of a group that accumulators make.
 */
#include "query/pipeline/grouping.h"

#include <string.h>

tansu_status accumulated_fields_compile(stage *s, const char *part, const doc_value *spec,
                                        accumulated_fields *result) {
    doc_iter iter, before;
    uint32_t count = 0;
    *result = (accumulated_fields){.count = 0};
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);)
        count++;
    result->fields = stage_alloc(s, (count + 1) * sizeof *result->fields);
    if (!result->fields)
        return TANSU_E_MEMORY;
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        accumulated_field *field = &result->fields[result->count];
        if (strcmp(iter.key, "_id") == 0) {
            if (part)
                return stage_error(s, part, "The stage itself makes the field \"_id\"");
            continue;
        }
        if (iter.key[0] == '$' || memchr(iter.key, '.', iter.key_size))
            return stage_error(s, part, "Name \"%.100s\" of a field begins with $ or has a dot",
                               iter.key);
        for (doc_iter_value(&before, spec); doc_iter_next(&before) && before.key != iter.key;) {
            if (strcmp(before.key, iter.key) == 0)
                return stage_error(s, part, "Two fields are named \"%.100s\"", iter.key);
        }
        tansu_status status = accumulation_compile(s, iter.key, &iter.value, &field->accumulation);
        if (status != TANSU_OK) {
            if (part)
                error_prefix(s->p->error, part);
            return status;
        }
        field->name = arena_copy(&s->p->memory, iter.key, iter.key_size);
        if (!field->name)
            return error_memory(s->p->error);
        field->offset = result->size;
        result->size += accumulation_size(&field->accumulation);
        result->count++;
    }
    return TANSU_OK;
}

tansu_status accumulated_begin(accumulating *c, const accumulated_fields *f, uint8_t *states) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < f->count; i++)
        status = accumulation_begin(c, &f->fields[i].accumulation, states + f->fields[i].offset);
    return status;
}

tansu_status accumulated_add(accumulating *c, const accumulated_fields *f, uint8_t *states,
                             const doc_value *doc) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < f->count; i++) {
        const accumulated_field *field = &f->fields[i];
        accumulator_input input;
        status = accumulation_evaluate(c, &field->accumulation, doc, &input);
        if (status == TANSU_OK)
            status = accumulation_add(c, &field->accumulation, states + field->offset, &input);
    }
    return status;
}

tansu_status accumulated_write(accumulating *c, const accumulated_fields *f, uint8_t *states,
                               writer *w) {
    for (uint32_t i = 0; i < f->count; i++) {
        const accumulated_field *field = &f->fields[i];
        doc_value value;
        tansu_status status =
            accumulation_result(c, &field->accumulation, states + field->offset, &value);
        if (status != TANSU_OK)
            return status;
        writer_value(w, field->name, &value);
    }
    return TANSU_OK;
}

/* What the states of a group may always have, however little memory a stage is given. */
#define STATES_LEAST ((size_t)64 * 1024)

tansu_status accumulated_within(const accumulating *c, size_t used, size_t limit) {
    const stage *s = c->s;
    if (used <= limit || used <= STATES_LEAST)
        return TANSU_OK;
    return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                     "Values of %s exceed the memory of the stage, %zu bytes; raise "
                     "\"$maxMemory\", or let fewer documents reach it, by $match before it",
                     s->kind == &stage_bucket ? "all buckets" : "one group", pipeline_memory(s->p));
}

void accumulated_end(const accumulated_fields *f, uint8_t *states) {
    for (uint32_t i = 0; i < f->count; i++)
        accumulation_end(&f->fields[i].accumulation, states + f->fields[i].offset);
}
