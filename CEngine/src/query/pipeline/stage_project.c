/*
 * query/pipeline/stage_project.c -- $project, $addFields ($set), $unset, and $replaceRoot
 * ($replaceWith).
 */
#include "query/pipeline/pipeline_internal.h"

/* ---- Fields ---- */

static tansu_status project_compile(stage *s, const doc_value *spec) {
    return computed_fields_compile(&s->p->compiler, spec, COMPUTE_PROJECT,
                                   (computed_fields **)&s->state);
}

static tansu_status add_compile(stage *s, const doc_value *spec) {
    return computed_fields_compile(&s->p->compiler, spec, COMPUTE_ADD,
                                   (computed_fields **)&s->state);
}

static tansu_status unset_compile(stage *s, const doc_value *spec) {
    return computed_fields_exclude(&s->p->compiler, spec, (computed_fields **)&s->state);
}

static tansu_status fields_next(stage *s, doc_value *doc) {
    writer w = {.out = &s->out};
    tansu_status status = stage_next(s, doc);
    if (status != TANSU_OK)
        return status;
    s->out.size = 0;
    evaluation_document(&s->p->ev, doc->data, doc->size);
    status = computed_fields_apply(&s->p->ev, s->state, doc, &w);
    return status == TANSU_OK ? stage_show(s, &w, doc) : status;
}

const stage_kind stage_project = {
    .name = "$project", .compile = project_compile, .next = fields_next};
const stage_kind stage_add_fields = {
    .name = "$addFields", .compile = add_compile, .next = fields_next};
const stage_kind stage_set = {.name = "$set", .compile = add_compile, .next = fields_next};
const stage_kind stage_unset = {.name = "$unset", .compile = unset_compile, .next = fields_next};

/* ---- $replaceRoot ---- */

static tansu_status replace_root_compile(stage *s, const doc_value *spec) {
    doc_value root;
    tansu_status status = stage_members(s, spec, "newRoot!", &root);
    return status == TANSU_OK
               ? stage_expression(s, "newRoot", &root, (const expression **)&s->state)
               : status;
}

static tansu_status replace_with_compile(stage *s, const doc_value *spec) {
    return stage_expression(s, NULL, spec, (const expression **)&s->state);
}

static tansu_status replace_next(stage *s, doc_value *doc) {
    doc_value value;
    tansu_status status = stage_next(s, doc);
    if (status == TANSU_OK)
        status = stage_evaluate(s, s->state, doc, &value);
    if (status != TANSU_OK)
        return status;
    if (value.type != DOC_DOCUMENT)
        return stage_error(s, s->kind->name, "The new root is no document");
    /* The value may be in memory that the next evaluation frees. */
    writer w = {.out = &s->out};
    s->out.size = 0;
    writer_bytes(&w, value.data, value.size);
    return stage_show(s, &w, doc);
}

const stage_kind stage_replace_root = {
    .name = "$replaceRoot", .compile = replace_root_compile, .next = replace_next};
const stage_kind stage_replace_with = {
    .name = "$replaceWith", .compile = replace_with_compile, .next = replace_next};
