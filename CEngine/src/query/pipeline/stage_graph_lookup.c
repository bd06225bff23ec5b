/*
 * query/pipeline/stage_graph_lookup.c -- $graphLookup: to each document those of a collection that
 * are reached from it, step by step, over a field that leads to another one.
 */
#include "query/pipeline/pipeline_internal.h"

#include "query/util/key_set.h"

#include <string.h>

typedef struct graph_state {
    const char *from;
    const expression *start;
    const char *to; /* connectToField */
    path connect_from;
    int64_t max_depth;       /* -1: none */
    nested_path depth_field; /* of no parts: none */
    pipeline *step;          /* over what a query finds */
    nested_path as;

    /* Of one document. */
    arena memory;
    size_t used;
    key_set asked;         /* values that were looked for */
    key_set reached;       /* `_id` of the documents in the result */
    tansu_buffer frontier; /* an array of values to look for; its document is not ended */
    uint32_t frontier_count;
    tansu_buffer next;
    tansu_buffer selector;
    tansu_buffer result;
    tansu_buffer key, scratch;
} graph_state;

/* text_of -- a member that is a non-empty string without a NUL. */
static tansu_status text_of(const stage *s, const char *name, const doc_value *value,
                            const char **text) {
    size_t size = 0;
    if (value->type == DOC_STRING)
        *text = doc_string(value, &size);
    if (size == 0 || strlen(*text) != size || (*text)[0] == '$')
        return stage_error(s, name, "Must be a string that is not empty and does not begin with $");
    return TANSU_OK;
}

/* read_nested -- a member that is the path of a field to set. */
static tansu_status read_nested(stage *s, const char *name, const doc_value *value,
                                nested_path *path) {
    const char *text = NULL;
    tansu_status status = text_of(s, name, value, &text);
    return status == TANSU_OK ? nested_path_compile(s, name, text, strlen(text), path) : status;
}

/* compile_step -- the pipeline of each step: the documents that a query finds, and of these what the
 * restriction selects. */
static tansu_status compile_step(stage *s, graph_state *state, const doc_value *restriction) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    writer w = {.out = &list};
    size_t start = writer_begin(&w);
    if (restriction->type != DOC_MISSING) {
        size_t match = writer_open_index(&w, 0, DOC_DOCUMENT);
        writer_value(&w, "$match", restriction);
        writer_end(&w, match);
    }
    writer_end(&w, start);
    /* What is compiled points to it. */
    const uint8_t *copy = w.failed ? NULL : arena_copy(&s->p->memory, list.data, list.size);
    const doc_value stages = {copy, (uint32_t)list.size, DOC_ARRAY};
    tansu_buffer_free(&list);
    return copy ? pipeline_compile_inner(s, "restrictSearchWithMatch", state->from,
                                         INNER_COLLECTION, &stages, &state->step)
                : error_memory(s->p->error);
}

static tansu_status graph_compile(stage *s, const doc_value *spec) {
    enum { FROM, START, CONNECT_FROM, CONNECT_TO, AS, MAX_DEPTH, DEPTH_FIELD, RESTRICT, MEMBERS };
    doc_value members[MEMBERS];
    const char *text = NULL;
    graph_state *state = s->state = stage_alloc(s, sizeof *state);
    if (!state)
        return TANSU_E_MEMORY;
    tansu_status status = stage_members(s, spec,
                                        "from! startWith! connectFromField! connectToField! as! "
                                        "maxDepth depthField restrictSearchWithMatch",
                                        members);
    if (status == TANSU_OK)
        status = text_of(s, "from", &members[FROM], &state->from);
    if (status == TANSU_OK)
        status = stage_expression(s, "startWith", &members[START], &state->start);
    if (status == TANSU_OK)
        status = text_of(s, "connectToField", &members[CONNECT_TO], &state->to);
    if (status == TANSU_OK)
        status = text_of(s, "connectFromField", &members[CONNECT_FROM], &text);
    if (status == TANSU_OK)
        status = path_parse(&state->connect_from, &s->p->memory, text, strlen(text), s->p->error);
    if (status != TANSU_OK)
        return status;
    state->max_depth = -1;
    if (members[MAX_DEPTH].type != DOC_MISSING &&
        (!doc_as_int64(&members[MAX_DEPTH], &state->max_depth) || state->max_depth < 0))
        return stage_error(s, "maxDepth", "Must be a whole number, 0 or greater");
    if (members[DEPTH_FIELD].type != DOC_MISSING)
        status = read_nested(s, "depthField", &members[DEPTH_FIELD], &state->depth_field);
    if (status == TANSU_OK)
        status = compile_step(s, state, &members[RESTRICT]);
    if (status == TANSU_OK)
        status = read_nested(s, "as", &members[AS], &state->as);
    if (state->step)
        state->step->selector = &state->selector;
    return status;
}

/* is_new -- whether a value is not yet in a set, to which it is added. False with *failed when
 * memory is exhausted. */
static bool is_new(stage *s, graph_state *state, key_set *set, const doc_value *value,
                   bool *failed) {
    bool added = false;
    state->key.size = 0;
    if (!collation_key(s->p->collation, &state->scratch, &state->key, value, false) ||
        !key_set_add(set, &state->memory, state->key.data, state->key.size, sizeof(key_set_item),
                     &added, &state->used))
        *failed = true;
    return added;
}

/* Values to look for next. */
typedef struct spreading {
    stage *s;
    writer w;
    uint32_t count;
    bool failed;
} spreading;

/* spread -- adds a value, or those of an array, that were not looked for before. */
static bool spread(void *context, const doc_value *value) {
    spreading *to = context;
    graph_state *state = to->s->state;
    doc_iter iter;
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (!to->failed && doc_iter_next(&iter)) {
            if (is_new(to->s, state, &state->asked, &iter.value, &to->failed))
                writer_index_value(&to->w, to->count++, &iter.value);
        }
    } else if (value->type != DOC_MISSING &&
               is_new(to->s, state, &state->asked, value, &to->failed)) {
        writer_index_value(&to->w, to->count++, value);
    }
    to->failed = to->failed || to->w.failed;
    return !to->failed;
}

/* make_selector -- {"$or": [{to: {"$in": frontier}}, {to: {"$eq": value}}, …]}, the latter for values
 * that $in does not take. */
static tansu_status make_selector(stage *s, graph_state *state) {
    writer w = {.out = &state->selector};
    const doc_value values = {state->frontier.data, (uint32_t)state->frontier.size, DOC_ARRAY};
    doc_iter iter;
    uint32_t i = 0;
    state->selector.size = 0;
    size_t start = writer_begin(&w);
    size_t any = writer_open(&w, "$or", DOC_ARRAY);
    size_t in = writer_open_index(&w, i++, DOC_DOCUMENT);
    size_t field = writer_open(&w, state->to, DOC_DOCUMENT);
    size_t list = writer_open(&w, "$in", DOC_ARRAY);
    uint32_t count = 0;
    for (doc_iter_value(&iter, &values); doc_iter_next(&iter);) {
        if (in_takes(&iter.value))
            writer_index_value(&w, count++, &iter.value);
    }
    writer_end(&w, list);
    writer_end(&w, field);
    writer_end(&w, in);
    for (doc_iter_value(&iter, &values); doc_iter_next(&iter);) {
        if (in_takes(&iter.value))
            continue;
        size_t one = writer_open_index(&w, i++, DOC_DOCUMENT);
        field = writer_open(&w, state->to, DOC_DOCUMENT);
        writer_value(&w, "$eq", &iter.value);
        writer_end(&w, field);
        writer_end(&w, one);
    }
    writer_end(&w, any);
    writer_end(&w, start);
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

/* add_reached -- a document that was found, with its depth. */
static tansu_status add_reached(stage *s, graph_state *state, const doc_value *doc, int64_t depth,
                                writer *result, uint32_t *count) {
    bool failed = false;
    doc_value id;
    doc_find_id(doc->data, doc->size, &id);
    bool fresh = is_new(s, state, &state->reached, &id, &failed);
    if (failed)
        return error_memory(s->p->error);
    if (!fresh)
        return TANSU_OK;
    if (state->depth_field.count == 0) {
        writer_index_value(result, (*count)++, doc);
    } else {
        uint8_t bytes[8];
        store_u64(bytes, (uint64_t)depth);
        const doc_value value = {bytes, sizeof bytes, DOC_INT64};
        writer_index_head(result, DOC_DOCUMENT, (*count)++);
        nested_path_put(result, doc, &state->depth_field, &value);
    }
    if (result->failed)
        return error_memory(s->p->error);
    if (result->out->size + state->used > pipeline_memory(s->p) ||
        result->out->size > TANSU_MAX_DOCUMENT_SIZE)
        return error_set(s->p->error, TANSU_E_TOO_LARGE, s->kind->name,
                         "Documents that are reached from one exceed its memory; set \"maxDepth\" "
                         "or \"restrictSearchWithMatch\"");
    return TANSU_OK;
}

/* take_step -- the documents that the frontier leads to, and the next frontier. */
static tansu_status take_step(stage *s, graph_state *state, int64_t depth, writer *result,
                              uint32_t *count) {
    doc_value doc;
    spreading to = {.s = s, .w = {.out = &state->next}};
    state->next.size = 0;
    tansu_status status = make_selector(s, state);
    size_t start = writer_begin(&to.w);
    if (status == TANSU_OK)
        status = pipeline_begin_inner(state->step, s);
    while (status == TANSU_OK) {
        status = pipeline_next_inner(state->step, &doc);
        if (status == TANSU_OK)
            status = add_reached(s, state, &doc, depth, result, count);
        if (status == TANSU_OK)
            path_walk(&state->connect_from, doc.data, doc.size, spread, &to, NULL);
        if (to.failed)
            status = error_memory(s->p->error);
    }
    pipeline_end_inner(state->step);
    writer_end(&to.w, start);
    tansu_buffer before = state->frontier;
    state->frontier = state->next;
    state->next = before;
    state->frontier_count = to.count;
    if (status == TANSU_DONE)
        status = to.w.failed ? error_memory(s->p->error) : TANSU_OK;
    return status;
}

/* search -- all documents that are reached from one, in state->result. */
static tansu_status search(stage *s, const doc_value *doc) {
    graph_state *state = s->state;
    doc_value value;
    uint32_t count = 0;
    writer result = {.out = &state->result};
    spreading from = {.s = s, .w = {.out = &state->frontier}};
    arena_free(&state->memory);
    state->used = 0;
    state->asked = state->reached = (key_set){.count = 0};
    state->frontier.size = state->result.size = 0;
    tansu_status status = stage_evaluate(s, state->start, doc, &value);
    if (status != TANSU_OK)
        return status;
    size_t start = writer_begin(&from.w);
    const doc_value null = {NULL, 0, DOC_NULL};
    spread(&from, value.type == DOC_MISSING ? &null : &value);
    writer_end(&from.w, start);
    if (from.failed || from.w.failed)
        return error_memory(s->p->error);
    state->frontier_count = from.count;
    start = writer_begin(&result);
    for (int64_t depth = 0; status == TANSU_OK && state->frontier_count != 0 &&
                            (state->max_depth < 0 || depth <= state->max_depth);
         depth++)
        status = take_step(s, state, depth, &result, &count);
    writer_end(&result, start);
    return status == TANSU_OK && result.failed ? error_memory(s->p->error) : status;
}

static tansu_status graph_next(stage *s, doc_value *doc) {
    graph_state *state = s->state;
    tansu_status status = stage_next(s, doc);
    if (status == TANSU_OK)
        status = search(s, doc);
    return status == TANSU_OK ? nested_path_show(s, &state->as, &state->result, doc) : status;
}

static void graph_end(stage *s) {
    graph_state *state = s->state;
    if (state->step)
        pipeline_end_inner(state->step);
}

static void graph_free(stage *s) {
    graph_state *state = s->state;
    if (!state)
        return;
    pipeline_free(state->step);
    arena_free(&state->memory);
    tansu_buffer_free(&state->frontier);
    tansu_buffer_free(&state->next);
    tansu_buffer_free(&state->selector);
    tansu_buffer_free(&state->result);
    tansu_buffer_free(&state->key);
    tansu_buffer_free(&state->scratch);
}

const stage_kind stage_graph_lookup = {.name = "$graphLookup",
                                       .compile = graph_compile,
                                       .next = graph_next,
                                       .end = graph_end,
                                       .free = graph_free};
