/*
 * query/pipeline/stage_redact.c -- $redact: an expression decides for each document, and for each
 * document within it, whether it is kept ($$KEEP), left out ($$PRUNE), or kept as far as the
 * documents within it are ($$DESCEND).
 */
#include "query/pipeline/pipeline_internal.h"

#include <string.h>

static tansu_status redact_compile(stage *s, const doc_value *spec) {
    expression_compiler *c = &s->p->compiler;
    c->redact = true;
    tansu_status status = stage_expression(s, NULL, spec, (const expression **)&s->state);
    c->redact = false;
    return status;
}

static tansu_status redact_document(stage *s, const doc_value *doc, writer *w, bool *kept);

/* redact_value -- a value within a document that is kept by $$DESCEND. */
static tansu_status redact_value(stage *s, const doc_value *value, writer *w, bool *kept) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    *kept = true;
    if (value->type == DOC_DOCUMENT)
        return redact_document(s, value, w, kept);
    if (value->type != DOC_ARRAY) {
        writer_bytes(w, value->data, value->size);
        return TANSU_OK;
    }
    size_t start = writer_begin(w);
    uint32_t count = 0;
    for (doc_iter_value(&iter, value); status == TANSU_OK && doc_iter_next(&iter);) {
        bool element;
        size_t before = w->out->size;
        writer_index_head(w, iter.value.type, count);
        status = redact_value(s, &iter.value, w, &element);
        if (element)
            count++;
        else
            w->out->size = before;
    }
    writer_end(w, start);
    return status;
}

/* redact_document -- a document, as the expression decides. The recursion is as deep as a document
 * may be. */
static tansu_status redact_document(stage *s, const doc_value *doc, writer *w, bool *kept) {
    evaluation *ev = &s->p->ev;
    doc_value decision;
    doc_iter iter;
    tansu_status status = stage_step(s);
    if (status != TANSU_OK)
        return status;
    ev->variables[VARIABLE_CURRENT] = *doc;
    status = expression_evaluate(ev, s->state, &decision);
    if (status != TANSU_OK)
        return status;
    size_t size = 0;
    const char *name = decision.type == DOC_STRING ? doc_string(&decision, &size) : "";
    *kept = size != 5 || memcmp(name, "prune", 5) != 0;
    if (!*kept)
        return TANSU_OK;
    if (size == 4 && memcmp(name, "keep", 4) == 0) {
        writer_bytes(w, doc->data, doc->size);
        return TANSU_OK;
    }
    if (size != 7 || memcmp(name, "descend", 7) != 0)
        return stage_error(s, s->kind->name,
                           "The expression must yield $$KEEP, $$PRUNE or $$DESCEND");
    size_t start = writer_begin(w);
    for (doc_iter_value(&iter, doc); status == TANSU_OK && doc_iter_next(&iter);) {
        bool field;
        size_t before = w->out->size;
        writer_head(w, iter.value.type, iter.key, iter.key_size);
        status = redact_value(s, &iter.value, w, &field);
        if (!field)
            w->out->size = before;
    }
    writer_end(w, start);
    return status;
}

static tansu_status redact_next(stage *s, doc_value *doc) {
    for (;;) {
        writer w = {.out = &s->out};
        bool kept = true;
        tansu_status status = stage_next(s, doc);
        if (status != TANSU_OK)
            return status;
        s->out.size = 0;
        evaluation_document(&s->p->ev, doc->data, doc->size);
        status = redact_document(s, doc, &w, &kept);
        if (status != TANSU_OK || kept)
            return status == TANSU_OK ? stage_show(s, &w, doc) : status;
    }
}

const stage_kind stage_redact = {.name = "$redact", .compile = redact_compile, .next = redact_next};
