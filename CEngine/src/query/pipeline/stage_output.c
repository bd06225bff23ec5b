/*
 * query/pipeline/stage_output.c -- $out and $merge: what is written, and how. The part above writes
 * it, for a pipeline only reads: their stage reads all documents, and then lets them through, so
 * that the collection may be changed meanwhile.
 */
#include "query/pipeline/document_list.h"

#include <stdio.h>
#include <string.h>

typedef struct output_state {
    pipeline_output output;
    const expression **let_values; /* of `let` */
    pipeline *when_matched;        /* of a pipeline */
    uint32_t first_slot;
    uint32_t let_count;
    document_list documents;
    document_reader reader;
    bool read;
} output_state;

/* read_name -- the name of a collection: a string, or {"coll": name}, or with "db", of which there
 * is one. */
static tansu_status read_name(stage *s, const doc_value *spec, const char **name) {
    doc_value members[2] = {*spec, {NULL, 0, DOC_MISSING}};
    size_t size = 0;
    if (spec->type != DOC_STRING) {
        tansu_status status = stage_members(s, spec, "coll! db", members);
        if (status != TANSU_OK)
            return status;
    }
    bool none = members[1].type == DOC_NULL && s->kind == &stage_merge;
    if (members[1].type != DOC_MISSING && !none)
        return error_set(s->p->error, TANSU_E_UNSUPPORTED, "db",
                         "A database is one folder, and has no name; leave out \"db\"");
    if (members[0].type == DOC_STRING)
        *name = doc_string(&members[0], &size);
    if (size == 0 || strlen(*name) != size)
        return stage_error(s, NULL, "Takes the name of a collection");
    return TANSU_OK;
}

static tansu_status out_compile(stage *s, const doc_value *spec) {
    output_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    state->output.kind = OUTPUT_REPLACE;
    return read_name(s, spec, &state->output.collection);
}

/* read_on -- "on": a field, or an array of fields. */
static tansu_status read_on(stage *s, output_state *state, const doc_value *on) {
    pipeline_output *o = &state->output;
    doc_iter iter;
    bool one = on->type == DOC_STRING;
    if (on->type == DOC_MISSING) {
        o->on[o->on_count++] = "_id";
        return TANSU_OK;
    }
    if (!one && (on->type != DOC_ARRAY || on->size <= 5))
        return stage_error(s, "on", "Must be a field, or an array of at least one field");
    if (!one)
        doc_iter_value(&iter, on);
    while (one || doc_iter_next(&iter)) {
        const doc_value *value = one ? on : &iter.value;
        size_t size = 0;
        const char *text = value->type == DOC_STRING ? doc_string(value, &size) : "";
        if (size == 0 || strlen(text) != size || text[0] == '$')
            return stage_error(s, "on", "A field must be a string that does not begin with $");
        for (uint32_t i = 0; i < o->on_count; i++) {
            if (strcmp(o->on[i], text) == 0)
                return stage_error(s, "on", "Names a field twice");
        }
        if (o->on_count == OUTPUT_FIELDS)
            return stage_error(s, "on", "Names more than %d fields", OUTPUT_FIELDS);
        o->on[o->on_count++] = text;
        if (one)
            break;
    }
    return TANSU_OK;
}

/* read_choice -- the number of a word in a list, or the default. */
static tansu_status read_choice(stage *s, const char *member, const doc_value *value,
                                const char *const *words, int *choice) {
    size_t size = 0;
    if (value->type == DOC_MISSING)
        return TANSU_OK;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : "";
    for (int i = 0; words[i]; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0) {
            *choice = i;
            return TANSU_OK;
        }
    }
    return stage_error(s, member, "Is none of what it may be");
}

/* read_update -- the pipeline of "whenMatched", and its variables: those of "let", or $$new, which
 * is the document. */
static tansu_status read_update(stage *s, output_state *state, const doc_value *stages,
                                const doc_value *let) {
    static const uint8_t root[] = "\25\0\0\0\2new\0\7\0\0\0$$ROOT\0";
    const doc_value new_is_root = {root, sizeof root, DOC_DOCUMENT};
    expression_compiler *c = &s->p->compiler;
    uint32_t variables = c->variable_count, slots = c->slot_count;
    tansu_status status = TANSU_OK;
    doc_iter iter;
    doc_value own;
    if (let->type != DOC_MISSING && let->type != DOC_DOCUMENT)
        return stage_error(s, "let", "Must be a document of variables");
    /* $$new is the document, with other variables, too. */
    if (let->type == DOC_MISSING) {
        let = &new_is_root;
    } else if (doc_find(let->data, let->size, "new", 3, &own)) {
        size_t size = 0;
        const char *text = own.type == DOC_STRING ? doc_string(&own, &size) : "";
        if (size != 6 || memcmp(text, "$$ROOT", 6) != 0)
            return stage_error(s, "let.new", "Variable $$new is the document; name another one");
    } else {
        tansu_buffer both = TANSU_BUFFER_INIT;
        writer w = {.out = &both};
        size_t start = writer_begin(&w);
        writer_string(&w, "new", "$$ROOT");
        for (doc_iter_value(&iter, let); doc_iter_next(&iter);)
            writer_copy(&w, &iter);
        writer_end(&w, start);
        const uint8_t *copy = w.failed ? NULL : arena_copy(&s->p->memory, both.data, both.size);
        own = (doc_value){copy, (uint32_t)both.size, DOC_DOCUMENT};
        tansu_buffer_free(&both);
        if (!copy)
            return error_memory(s->p->error);
        let = &own;
    }
    for (doc_iter_value(&iter, let); doc_iter_next(&iter);)
        state->let_count++;
    state->let_values = stage_alloc(s, (state->let_count + 1) * sizeof *state->let_values);
    if (!state->let_values)
        return TANSU_E_MEMORY;
    uint32_t i = 0;
    for (doc_iter_value(&iter, let); status == TANSU_OK && doc_iter_next(&iter); i++)
        status = stage_expression(s, "let", &iter.value, &state->let_values[i]);
    state->first_slot = c->slot_count;
    for (doc_iter_value(&iter, let); status == TANSU_OK && doc_iter_next(&iter);) {
        uint32_t slot;
        status = expression_variable(c, iter.key, iter.key_size, &slot);
    }
    if (status == TANSU_OK)
        status =
            pipeline_compile_inner(s, "whenMatched", NULL, INNER_FED, stages, &state->when_matched);
    if (status == TANSU_OK) {
        status = pipeline_check_update(state->when_matched);
        if (status != TANSU_OK)
            error_prefix(s->p->error, "whenMatched");
    }
    c->variable_count = variables;
    c->slot_count = slots;
    return status;
}

static tansu_status merge_compile(stage *s, const doc_value *spec) {
    enum { INTO, ON, LET, MATCHED, NOT_MATCHED, MEMBERS };
    static const char *const matched[] = {"merge", "replace", "keepExisting", "fail", NULL};
    static const char *const not_matched[] = {"insert", "discard", "fail", NULL};
    doc_value members[MEMBERS] = {*spec};
    output_state *state = s->state = stage_alloc(s, sizeof *state);
    int choice = 0, other = 0;
    if (!state)
        return TANSU_E_MEMORY;
    for (uint32_t i = ON; i < MEMBERS; i++)
        members[i] = (doc_value){NULL, 0, DOC_MISSING};
    tansu_status status = TANSU_OK;
    if (spec->type != DOC_STRING)
        status = stage_members(s, spec, "into! on let whenMatched whenNotMatched", members);
    state->output.kind = OUTPUT_MERGE;
    if (members[LET].type == DOC_NULL)
        members[LET].type = DOC_MISSING;
    if (status == TANSU_OK)
        status = read_name(s, &members[INTO], &state->output.collection);
    if (status == TANSU_OK)
        status = read_on(s, state, &members[ON]);
    if (status == TANSU_OK && members[MATCHED].type == DOC_ARRAY) {
        choice = MATCHED_PIPELINE;
        status = read_update(s, state, &members[MATCHED], &members[LET]);
    } else if (status == TANSU_OK && members[LET].type != DOC_MISSING) {
        status = stage_error(s, "let", "Needs a pipeline in \"whenMatched\"");
    } else if (status == TANSU_OK) {
        status = read_choice(s, "whenMatched", &members[MATCHED], matched, &choice);
    }
    if (status == TANSU_OK)
        status = read_choice(s, "whenNotMatched", &members[NOT_MATCHED], not_matched, &other);
    if (status == TANSU_OK && choice == MATCHED_FAIL && other == NOT_MATCHED_DISCARD)
        status = stage_error(s, NULL, "\"fail\" and \"discard\" together write nothing");
    state->output.when_matched = (enum when_matched)choice;
    state->output.when_not_matched = (enum when_not_matched)other;
    return status;
}

static tansu_status output_begin(stage *s) {
    output_state *state = s->state;
    document_list_init(&state->documents, s, pipeline_memory(s->p));
    state->reader = (document_reader){.at = 0};
    state->read = false;
    return TANSU_OK;
}

static tansu_status output_next(stage *s, doc_value *doc) {
    output_state *state = s->state;
    tansu_status status = deadline_check(&s->p->deadline, s->p->error);
    while (status == TANSU_OK && !state->read) {
        status = stage_next(s, doc);
        state->read = status == TANSU_DONE;
        if (status == TANSU_OK)
            status = document_list_add(&state->documents, doc);
    }
    if (status != TANSU_OK && status != TANSU_DONE)
        return status;
    return document_list_next(&state->documents, &state->reader, doc);
}

static void output_end(stage *s) {
    output_state *state = s->state;
    document_list_free(&state->documents);
    document_reader_free(&state->reader);
    if (state->when_matched)
        pipeline_end_inner(state->when_matched);
}

static void output_free(stage *s) {
    output_state *state = s->state;
    if (state)
        pipeline_free(state->when_matched);
}

const stage_kind stage_out = {.name = "$out",
                              .place = STAGE_LAST | STAGE_NOT_IN_FACET,
                              .compile = out_compile,
                              .begin = output_begin,
                              .next = output_next,
                              .end = output_end,
                              .free = output_free};
const stage_kind stage_merge = {.name = "$merge",
                                .place = STAGE_LAST | STAGE_NOT_IN_FACET,
                                .compile = merge_compile,
                                .begin = output_begin,
                                .next = output_next,
                                .end = output_end,
                                .free = output_free};

const pipeline_output *pipeline_get_output(const pipeline *p) {
    /* $explain only reads. */
    const stage *s = p->count != 0 && !p->explain ? &p->stages[p->count - 1] : NULL;
    return s && (s->kind == &stage_out || s->kind == &stage_merge)
               ? &((const output_state *)s->state)->output
               : NULL;
}

tansu_status pipeline_check(const pipeline *p, tansu_error *error) {
    return deadline_check(&p->deadline, error);
}

/* ---- Updates by a pipeline ---- */

tansu_status pipeline_check_update(const pipeline *p) {
    static const char *const allowed[] = {"$set",     "$addFields",   "$unset",
                                          "$project", "$replaceRoot", "$replaceWith"};
    for (uint32_t i = 0; i < p->count; i++) {
        bool known = fill_is_update(&p->stages[i]);
        for (size_t j = 0; j < sizeof allowed / sizeof *allowed; j++)
            known = known || strcmp(p->stages[i].kind->name, allowed[j]) == 0;
        if (!known) {
            char context[64];
            snprintf(context, sizeof context, "%u.%s", (unsigned)i, p->stages[i].kind->name);
            return error_set(p->error, TANSU_E_INVALID_QUERY, context,
                             "An update has the stages $set, $unset, $project and $replaceWith");
        }
    }
    return TANSU_OK;
}

/* feed_one -- the document that is updated, once. */
static tansu_status feed_one(void *context, doc_value *doc) {
    doc_value *one = context;
    *doc = *one;
    one->type = DOC_MISSING;
    return doc->type == DOC_DOCUMENT ? TANSU_OK : TANSU_DONE;
}

/* run_once -- the document that an update pipeline, which has begun, makes of one. */
static tansu_status run_once(pipeline *p, const doc_value *doc, tansu_buffer *out) {
    doc_value one = *doc, result;
    p->feed = feed_one;
    p->feed_context = &one;
    tansu_status status = pipeline_next_inner(p, &result);
    if (status != TANSU_OK)
        return status;
    return buffer_set(out, result.data, result.size) ? TANSU_OK : error_memory(p->error);
}

tansu_status pipeline_merge_matched(pipeline *p, tansu_document document, tansu_document existing,
                                    tansu_buffer *out, tansu_error *error) {
    stage *s = &p->stages[p->count - 1];
    output_state *state = s->state;
    evaluation *ev = &p->ev;
    const doc_value old = {existing.data, (uint32_t)existing.size, DOC_DOCUMENT};
    tansu_error own;
    p->error = ev->error = error ? error : &own;
    evaluation_document(ev, document.data, document.size);
    for (uint32_t i = 0; i < state->let_count; i++) {
        tansu_status status =
            expression_evaluate(ev, state->let_values[i], &ev->variables[state->first_slot + i]);
        if (status != TANSU_OK) {
            stage_blame(s);
            return status;
        }
    }
    tansu_status status = pipeline_begin_inner(state->when_matched, s);
    if (status == TANSU_OK)
        status = run_once(state->when_matched, &old, out);
    pipeline_end_inner(state->when_matched);
    if (status != TANSU_OK)
        stage_blame(s);
    return status;
}

tansu_status pipeline_update(pipeline *p, const uint8_t *doc, size_t size, const deadline *deadline,
                             tansu_buffer *out, tansu_error *error) {
    const doc_value old = {doc, (uint32_t)size, DOC_DOCUMENT};
    tansu_error own;
    p->error = error ? error : &own;
    if (deadline)
        p->deadline = *deadline;
    tansu_status status = pipeline_begin_fed(p);
    if (status == TANSU_OK)
        status = run_once(p, &old, out);
    return status;
}
