/*
 * query/pipeline/stage_lookup.c -- $lookup: to each document the array of those of another
 * collection that have one of its values, or that a pipeline with its values makes.
 *
 * With a field the documents are found by a query for each, if there is an index and few are asked
 * for; otherwise the collection is read once into a table by that field. Should that exceed its
 * memory, they are found by queries after all.
 */
#include "query/pipeline/join_table.h"

#include <stdlib.h>
#include <string.h>

/* A query costs about as much as reading so many documents into the table. */
#define QUERY_COST 16

/* The stages of a $lookup with a field are compiled twice, and so are those of a $lookup in them: so
 * deep inside of other pipelines it makes no table. */
#define TABLE_DEPTH 4

typedef struct lookup_state {
    const char *from; /* NULL: the pipeline begins with $documents */
    path local;       /* no parts: none is given */
    path foreign;
    const char *foreign_text;
    /* Variables of "let". */
    const expression **values;
    uint32_t first_slot;
    uint32_t value_count;
    pipeline *by_query; /* over the collection, or what a query finds of it */
    pipeline *by_table; /* over what the table finds; NULL: there are no stages for it */
    bool no_stages;     /* it cannot be used: there would be stages for it */
    bool uncorrelated;  /* the pipeline makes the same documents for each */
    nested_path as;

    /* Of a run. */
    join_table *table;
    bool no_table; /* it exceeds its memory */
    bool indexed;
    uint64_t documents; /* of the collection */
    uint64_t asked;     /* by queries */
    bool cached;        /* `result` is the one of all documents */
    tansu_buffer selector;
    tansu_buffer result;
    size_t found, next; /* of those that the table found */
} lookup_state;

/* ---- Compiling ---- */

/* read_text -- a member that is a non-empty string without a NUL. */
static tansu_status read_text(const stage *s, const char *name, const doc_value *value,
                              const char **text) {
    size_t size = 0;
    if (value->type == DOC_STRING)
        *text = doc_string(value, &size);
    if (size == 0 || strlen(*text) != size)
        return stage_error(s, name, "Must be a string that is not empty");
    return TANSU_OK;
}

/* read_path -- a member that is a path. */
static tansu_status read_path(stage *s, const char *name, const doc_value *value, path *result) {
    const char *text = NULL;
    tansu_status status = read_text(s, name, value, &text);
    if (status == TANSU_OK && text[0] == '$')
        status = stage_error(s, name, "A path does not begin with $");
    return status == TANSU_OK ? path_parse(result, &s->p->memory, text, strlen(text), s->p->error)
                              : status;
}

/* read_let -- the variables, which come into scope. */
static tansu_status read_let(stage *s, lookup_state *state, const doc_value *let) {
    doc_iter iter;
    uint32_t i = 0;
    if (let->type == DOC_MISSING)
        return TANSU_OK;
    if (let->type != DOC_DOCUMENT)
        return stage_error(s, "let", "Must be a document of variables");
    for (doc_iter_value(&iter, let); doc_iter_next(&iter);)
        state->value_count++;
    state->values = stage_alloc(s, (state->value_count + 1) * sizeof *state->values);
    if (!state->values)
        return TANSU_E_MEMORY;
    for (doc_iter_value(&iter, let); doc_iter_next(&iter); i++) {
        tansu_status status = stage_expression(s, "let", &iter.value, &state->values[i]);
        if (status != TANSU_OK)
            return status;
    }
    state->first_slot = s->p->compiler.slot_count;
    for (doc_iter_value(&iter, let); doc_iter_next(&iter);) {
        uint32_t slot;
        tansu_status status = expression_variable(&s->p->compiler, iter.key, iter.key_size, &slot);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* compile_parts -- the pipelines. */
static tansu_status compile_parts(stage *s, lookup_state *state, const doc_value *stages) {
    expression_compiler *c = &s->p->compiler;
    uint32_t lowest = c->lowest_slot, scope = c->slot_count;
    c->lowest_slot = VARIABLES_MAX;
    tansu_status status = pipeline_compile_inner(s, "pipeline", state->from, INNER_COLLECTION,
                                                 stages, &state->by_query);
    /* What $text finds is not looked for in a table. */
    bool searches = status == TANSU_OK && state->by_query->count != 0 &&
                    match_searches(state->by_query->stages);
    bool twice = state->foreign.count != 0 && stages->type != DOC_MISSING;
    uint32_t depth = 0;
    for (const pipeline *at = s->p; at->outer; at = at->outer)
        depth++;
    state->no_stages = twice && (searches || depth >= TABLE_DEPTH);
    if (status == TANSU_OK && twice && !state->no_stages)
        status = pipeline_compile_inner(s, "pipeline", NULL, INNER_FED, stages, &state->by_table);
    state->uncorrelated = state->foreign.count == 0 && c->lowest_slot >= scope;
    if (lowest < c->lowest_slot)
        c->lowest_slot = lowest;
    return status;
}

static tansu_status lookup_compile(stage *s, const doc_value *spec) {
    enum { FROM, LOCAL, FOREIGN, LET, PIPELINE, AS, MEMBERS };
    doc_value members[MEMBERS];
    lookup_state *state = s->state = stage_alloc(s, sizeof *state);
    expression_compiler *c = &s->p->compiler;
    if (!state)
        return TANSU_E_MEMORY;
    tansu_status status =
        stage_members(s, spec, "from localField foreignField let pipeline as!", members);
    if (status == TANSU_OK && members[FROM].type != DOC_MISSING)
        status = read_text(s, "from", &members[FROM], &state->from);
    if (status != TANSU_OK)
        return status;
    /* A null is no member. */
    for (uint32_t i = LOCAL; i <= LET; i++) {
        if (members[i].type == DOC_NULL)
            members[i].type = DOC_MISSING;
    }
    bool fields = members[LOCAL].type != DOC_MISSING;
    if (fields != (members[FOREIGN].type != DOC_MISSING))
        return stage_error(s, NULL, "\"localField\" and \"foreignField\" go together");
    if (!fields && members[PIPELINE].type == DOC_MISSING)
        return stage_error(s, NULL, "Needs \"localField\" and \"foreignField\", or \"pipeline\"");
    if (members[LET].type != DOC_MISSING && members[PIPELINE].type == DOC_MISSING)
        return stage_error(s, NULL, "\"let\" needs a \"pipeline\"");
    if (!state->from && (fields || members[PIPELINE].type == DOC_MISSING))
        return stage_error(s, NULL, "Member \"from\" is required");
    if (fields) {
        status = read_path(s, "localField", &members[LOCAL], &state->local);
        if (status == TANSU_OK)
            status = read_path(s, "foreignField", &members[FOREIGN], &state->foreign);
        if (status == TANSU_OK)
            state->foreign_text = state->foreign.text;
    }
    uint32_t variables = c->variable_count, slots = c->slot_count;
    if (status == TANSU_OK)
        status = read_let(s, state, &members[LET]);
    if (status == TANSU_OK)
        status = compile_parts(s, state, &members[PIPELINE]);
    c->variable_count = variables;
    c->slot_count = slots;
    const char *as = NULL;
    if (status == TANSU_OK)
        status = read_text(s, "as", &members[AS], &as);
    return status == TANSU_OK ? nested_path_compile(s, "as", as, strlen(as), &state->as) : status;
}

/* ---- Finding by the fields ---- */

/* has_index -- whether a query for values of the field reads an index. */
static bool has_index(const lookup_state *state, const collection_state *collection) {
    if (strcmp(state->foreign_text, "_id") == 0)
        return true;
    for (uint32_t i = 0; i < collection->index_count; i++) {
        const index_definition *d = collection->indexes[i].definition;
        if (!d->sparse && !d->filter_bson && !d->wildcard && !d->text &&
            strcmp(d->paths[0].text, state->foreign_text) == 0)
            return true;
    }
    return false;
}

static tansu_status lookup_begin(stage *s) {
    lookup_state *state = s->state;
    const collection_state *collection = NULL;
    state->asked = 0;
    state->cached = false;
    if (state->foreign.count == 0)
        return TANSU_OK;
    tansu_status status = snapshot_find(s->p->snapshot, state->from, &collection, s->p->error);
    state->documents = collection ? collection->count : 0;
    state->indexed = collection && has_index(state, collection);
    state->by_query->selector = &state->selector;
    return status;
}

/* fill_table -- reads the collection into the table. */
static tansu_status fill_table(stage *s) {
    lookup_state *state = s->state;
    pipeline *p = s->p;
    const doc_value none = {NULL, 0, DOC_MISSING};
    pipeline *all;
    doc_value doc;
    bool full = false;
    state->table = join_table_new(&state->foreign, p->collation, pipeline_memory(p) / 2);
    if (!state->table)
        return error_memory(p->error);
    tansu_status status =
        pipeline_compile_inner(s, "from", state->from, INNER_COLLECTION, &none, &all);
    if (status != TANSU_OK)
        return status;
    status = pipeline_begin_inner(all, s);
    while (status == TANSU_OK && !full) {
        status = pipeline_next_inner(all, &doc);
        if (status == TANSU_OK)
            status = join_table_add(state->table, &doc, &full, p->error);
    }
    pipeline_free(all);
    if (full) {
        join_table_free(state->table);
        state->table = NULL;
        state->no_table = true;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* The values of the local field. */
typedef struct local_values {
    lookup_state *state;
    writer *w; /* an array that takes them; NULL: the table is asked */
    uint32_t count;
    bool by_eq; /* there is one among them that $in does not take */
    bool failed;
} local_values;

/* take_value -- one of them. */
static void take_value(local_values *v, const doc_value *value) {
    v->count++;
    v->by_eq = v->by_eq || !in_takes(value);
    if (v->w)
        writer_index_value(v->w, v->count - 1, value);
    else
        v->failed = v->failed || !join_table_find(v->state->table, value);
}

static bool visit_local(void *context, const doc_value *value) {
    local_values *v = context;
    doc_iter iter;
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (!v->failed && doc_iter_next(&iter))
            take_value(v, &iter.value);
    } else if (value->type != DOC_MISSING) {
        take_value(v, value);
    }
    return !v->failed;
}

/* walk_local -- all values of the local field; null if there is none. */
static void walk_local(local_values *v, const doc_value *doc) {
    const doc_value null = {NULL, 0, DOC_NULL};
    path_walk(&v->state->local, doc->data, doc->size, visit_local, v, NULL);
    if (v->count == 0)
        take_value(v, &null);
}

/* make_selector -- {field: {"$in": values}}, or where $in does not take one {"$or": [{field: {"$eq":
 * value}}, …]}. */
static tansu_status make_selector(stage *s, const doc_value *doc) {
    lookup_state *state = s->state;
    tansu_buffer list = TANSU_BUFFER_INIT;
    writer values = {.out = &list}, w = {.out = &state->selector};
    local_values v = {.state = state, .w = &values};
    doc_iter iter;
    size_t start = writer_begin(&values);
    walk_local(&v, doc);
    writer_end(&values, start);
    state->selector.size = 0;
    start = writer_begin(&w);
    const doc_value all = {list.data, (uint32_t)list.size, DOC_ARRAY};
    if (!v.by_eq) {
        size_t field = writer_open(&w, state->foreign_text, DOC_DOCUMENT);
        writer_value(&w, "$in", &all);
        writer_end(&w, field);
    } else {
        size_t any = writer_open(&w, "$or", DOC_ARRAY);
        uint32_t i = 0;
        for (doc_iter_value(&iter, &all); !values.failed && doc_iter_next(&iter); i++) {
            size_t one = writer_open_index(&w, i, DOC_DOCUMENT);
            size_t field = writer_open(&w, state->foreign_text, DOC_DOCUMENT);
            writer_value(&w, "$eq", &iter.value);
            writer_end(&w, field);
            writer_end(&w, one);
        }
        writer_end(&w, any);
    }
    writer_end(&w, start);
    tansu_buffer_free(&list);
    return w.failed || values.failed ? error_memory(s->p->error) : TANSU_OK;
}

/* ---- Running ---- */

/* put_all -- the documents of a part become the result. */
static tansu_status put_all(stage *s, pipeline *part, writer *w, uint32_t *count) {
    doc_value doc;
    tansu_status status = pipeline_begin_inner(part, s);
    while (status == TANSU_OK) {
        status = pipeline_next_inner(part, &doc);
        if (status != TANSU_OK)
            break;
        writer_index_value(w, (*count)++, &doc);
        if (w->failed)
            status = error_memory(s->p->error);
        else if (w->out->size > TANSU_MAX_DOCUMENT_SIZE)
            status = error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                               "Documents joined to one exceed %d MiB; unwind or limit them in "
                               "its \"pipeline\"",
                               TANSU_MAX_DOCUMENT_SIZE / (1024 * 1024));
    }
    pipeline_end_inner(part);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* feed -- the next document that the table found. */
static tansu_status feed(void *context, doc_value *doc) {
    lookup_state *state = context;
    if (state->next >= state->found)
        return TANSU_DONE;
    *doc = join_table_at(state->table, state->next++);
    return TANSU_OK;
}

/* from_table -- the documents that the table finds. */
static tansu_status from_table(stage *s, const doc_value *doc, writer *w, uint32_t *count) {
    lookup_state *state = s->state;
    local_values v = {.state = state};
    join_table_clear(state->table);
    walk_local(&v, doc);
    if (v.failed)
        return error_memory(s->p->error);
    state->found = join_table_found(state->table);
    if (state->by_table) {
        state->next = 0;
        state->by_table->feed = feed;
        state->by_table->feed_context = state;
        return put_all(s, state->by_table, w, count);
    }
    for (size_t i = 0; i < state->found; i++) {
        doc_value joined = join_table_at(state->table, i);
        writer_index_value(w, (*count)++, &joined);
        if (w->failed || w->out->size > TANSU_MAX_DOCUMENT_SIZE)
            break;
    }
    return w->failed ? error_memory(s->p->error) : TANSU_OK;
}

/* join -- the array for one document, in state->result. */
static tansu_status join(stage *s, const doc_value *doc) {
    lookup_state *state = s->state;
    writer w = {.out = &state->result};
    uint32_t count = 0;
    tansu_status status = TANSU_OK;
    if (state->cached)
        return TANSU_OK;
    if (state->foreign.count != 0 && !state->table && !state->no_table && !state->no_stages &&
        (!state->indexed || state->asked * QUERY_COST > state->documents))
        status = fill_table(s);
    state->asked++;
    evaluation_document(&s->p->ev, doc->data, doc->size);
    for (uint32_t i = 0; status == TANSU_OK && i < state->value_count; i++)
        status = expression_evaluate(&s->p->ev, state->values[i],
                                     &s->p->ev.variables[state->first_slot + i]);
    if (status != TANSU_OK)
        return status;
    state->result.size = 0;
    size_t start = writer_begin(&w);
    if (state->table) {
        status = from_table(s, doc, &w, &count);
    } else {
        if (state->foreign.count != 0)
            status = make_selector(s, doc);
        if (status == TANSU_OK)
            status = put_all(s, state->by_query, &w, &count);
    }
    writer_end(&w, start);
    state->cached = state->uncorrelated;
    return status == TANSU_OK && w.failed ? error_memory(s->p->error) : status;
}

static tansu_status lookup_next(stage *s, doc_value *doc) {
    lookup_state *state = s->state;
    tansu_status status = stage_next(s, doc);
    if (status == TANSU_OK)
        status = join(s, doc);
    return status == TANSU_OK ? nested_path_show(s, &state->as, &state->result, doc) : status;
}

static void lookup_end(stage *s) {
    lookup_state *state = s->state;
    join_table_free(state->table);
    state->table = NULL;
    state->no_table = false;
    if (state->by_query)
        pipeline_end_inner(state->by_query);
    if (state->by_table)
        pipeline_end_inner(state->by_table);
}

static void lookup_free(stage *s) {
    lookup_state *state = s->state;
    if (!state)
        return;
    pipeline_free(state->by_query);
    pipeline_free(state->by_table);
    tansu_buffer_free(&state->selector);
    tansu_buffer_free(&state->result);
}

const stage_kind stage_lookup = {.name = "$lookup",
                                 .compile = lookup_compile,
                                 .begin = lookup_begin,
                                 .next = lookup_next,
                                 .end = lookup_end,
                                 .free = lookup_free};
