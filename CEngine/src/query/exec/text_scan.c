/*
 * query/exec/text_scan.c -- the matches of a search, and their order by scores.
 */
#include "query/exec/text_scan.h"

#include "util/error.h"

#include <stdlib.h>

#define FIRST_BATCH 16

/* The most results that text_search_top() is asked for; of more, all matches are sorted. */
#define TOP_MOST 10000

/* A result of the search for the best. */
typedef struct text_result {
    hit hit;
    double score;
} text_result;

tansu_status text_scan_begin(query_run *run, tansu_error *error) {
    text_scan *t = run->text = calloc(1, sizeof *t);
    if (!t)
        return error_memory(error);
    t->batch_size = FIRST_BATCH;
    run->planner.text = &t->access;
    return text_access_begin(&run->planner, &run->deadline, &t->access);
}

void text_scan_planned(query_run *run) {
    text_scan *t = run->text;
    const plan *p = run->plan;
    bool ordered = p->sort == PLAN_SORT_MEMORY || p->sort == PLAN_SORT_SCORE;
    t->ranks = t->access.scored && p->kind == PLAN_TEXT && (ordered || run->rctx.pending);
    run->materialized = t->ranks;
    t->restricted = p->kind == PLAN_TEXT && p->access_count != 0;
}

void text_scan_close(text_scan *t) {
    text_access_end(&t->access);
}

void text_scan_end(text_scan *t) {
    if (!t)
        return;
    text_access_free(&t->access);
    rid_list_free(&t->among);
    key_sorter_free(t->sorter);
    tansu_buffer_free(&t->key);
    tansu_buffer_free(&t->collated[0]);
    tansu_buffer_free(&t->collated[1]);
    free(t->top);
    free(t);
}

/* ---- The other index ---- */

/* restrict_matches -- reads the record ids of the other index. When they are too many for the memory
 * of a sort, its conditions are tested instead. */
static tansu_status restrict_matches(query_run *run, tansu_error *error) {
    text_scan *t = run->text;
    t->among.limit = hints_sort_memory(&run->q->hints, &run->rctx);
    tansu_status status = rid_list_add_access(&t->among, run, run->plan->accesses[0], error);
    if (status == TANSU_OK && !rid_list_sort(&t->among))
        status = error_memory(error);
    run->keys_examined += t->among.count;
    if (status != TANSU_OK || !t->among.full)
        return status;
    plan *alone = arena_alloc(&run->memory, sizeof *alone);
    if (!alone)
        return error_memory(error);
    *alone = *run->plan;
    alone->access_count = 0;
    alone->exact = false;
    run->plan = alone;
    rid_list_free(&t->among);
    t->restricted = false;
    return run->matcher ? TANSU_OK : run_make_matcher(run, error);
}

/* is_member -- whether the other index has a match. Matches mostly ascend. */
static bool is_member(text_scan *t, uint64_t rid) {
    const uint64_t *items = t->among.items;
    size_t low = t->member, high = t->among.count, step = 1;
    if (low != 0 && items[low - 1] >= rid)
        low = 0;
    while (low + step < high && items[low + step] < rid) {
        low += step;
        step *= 2;
    }
    high = low + step < high ? low + step + 1 : high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle] < rid)
            low = middle + 1;
        else
            high = middle;
    }
    t->member = low;
    return low < t->among.count && items[low] == rid;
}

/* begin -- before the first match. */
static tansu_status begin(query_run *run, tansu_error *error) {
    const text_scan *t = run->text;
    return t->restricted && t->among.capacity == 0 ? restrict_matches(run, error) : TANSU_OK;
}

/* ---- Matches in record id order ---- */

/* fill_batch -- finds the next matches. */
static tansu_status fill_batch(query_run *run, tansu_error *error) {
    text_scan *t = run->text;
    tansu_status status = TANSU_OK;
    t->count = t->next = 0;
    while (t->count < t->batch_size && !t->over) {
        text_hit found;
        status = run_step(run, error);
        if (status == TANSU_OK)
            status = text_search_next(t->access.search, t->access.scored, &found, error);
        t->over = status == TANSU_DONE;
        if (status != TANSU_OK)
            break;
        run->keys_examined++;
        if (t->restricted && !is_member(t, found.rid))
            continue;
        t->batch[t->count] = found.rid;
        t->scores[t->count++] = found.score;
    }
    t->batch_size = TEXT_BATCH;
    return t->over ? TANSU_OK : status;
}

tansu_status text_scan_next(query_run *run, hit *h, const uint8_t **doc, uint32_t *size,
                            tansu_error *error) {
    text_scan *t = run->text;
    tansu_status status = begin(run, error);
    bool fetched = !run->plan->exact || run_needs_documents(run) || t->ranks;
    if (status != TANSU_OK)
        return status;
    do {
        if (t->next == t->count) {
            status = t->over ? TANSU_DONE : fill_batch(run, error);
            if (status == TANSU_OK && t->count == 0)
                status = TANSU_DONE;
            if (status != TANSU_OK)
                return status;
        }
        if (fetched)
            read_prefetch(&run->rctx, run->collection, t->batch, t->count, t->next);
        h->rid = t->batch[t->next];
        t->score = t->scores[t->next++];
        if (!fetched) {
            h->ref = 0;
            *doc = NULL;
            *size = 0;
            return TANSU_OK;
        }
        status = run_fetch(run, h, doc, size, error);
        if (status != TANSU_OK || run->plan->exact)
            return status;
    } while (!run_matches(run, *doc, *size));
    return match_context_status(&run->match, error);
}

bool text_scan_holds(query_run *run, const uint8_t *doc, size_t size) {
    text_scan *t = run->text;
    bool holds = false;
    tansu_status status = text_access_test(&t->access, doc, size, &holds, &t->error);
    if (status == TANSU_OK)
        return holds;
    return match_fail(&run->match, status, t->error.context,
                      status == TANSU_E_MEMORY ? NULL : t->error.message);
}

/* ---- The order by scores ---- */

/* accepts -- the residual filter of text_search_top(). */
static tansu_status accepts(void *context, uint64_t rid, bool *accepted, tansu_error *error) {
    query_run *run = context;
    hit h = {.rid = rid};
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_step(run, error);
    run->keys_examined++;
    *accepted = !run->text->restricted || is_member(run->text, rid);
    if (status != TANSU_OK || !*accepted || run->plan->exact)
        return status;
    status = run_fetch(run, &h, &doc, &size, error);
    if (status != TANSU_OK)
        return status;
    *accepted = run_matches(run, doc, size);
    return match_context_status(&run->match, error);
}

/* find_top -- the first results by score alone. */
static tansu_status find_top(query_run *run, tansu_error *error) {
    text_scan *t = run->text;
    uint32_t most = (uint32_t)run->planner.limit;
    text_hit *hits = malloc((most + (size_t)1) * sizeof *hits);
    t->top = malloc((most + (size_t)1) * sizeof *t->top);
    tansu_status status = hits && t->top ? TANSU_OK : error_memory(error);
    if (status == TANSU_OK)
        status = text_search_top(t->access.search, most, accepts, run, hits, &t->top_count, error);
    for (uint32_t i = 0; status == TANSU_OK && i < t->top_count; i++) {
        text_result *result = &t->top[i];
        *result = (text_result){.hit = {.rid = hits[i].rid}, .score = hits[i].score};
        status = read_find(&run->rctx, run->collection, hits[i].rid, &result->hit.ref, error);
        if (status == TANSU_DONE)
            status = run_missing(run, error);
    }
    free(hits);
    return status;
}

bool text_score_key(tansu_buffer *key, double score) {
    uint8_t bytes[8];
    memcpy(bytes, &score, sizeof bytes);
    const doc_value value = {bytes, sizeof bytes, DOC_DOUBLE};
    return value_key(key, &value, true);
}

/* add_result -- adds a match to the sorter. Its place among those of equal keys is that of its
 * record id. */
static tansu_status add_result(query_run *run, const hit *h, const uint8_t *doc, uint32_t size,
                               tansu_error *error) {
    text_scan *t = run->text;
    const hints *o = &run->q->hints;
    uint32_t before = o->score_place == 0 ? o->order_count : o->score_place - 1;
    const collation *by = run->q->collation;
    uint8_t payload[16];
    t->key.size = 0;
    if (!sort_key(o->order, before, by, t->collated, doc, size, &t->key) ||
        (o->score_place != 0 && !text_score_key(&t->key, t->score)) ||
        !sort_key(o->order + before, o->order_count - before, by, t->collated, doc, size, &t->key))
        return error_memory(error);
    store_u64(payload, h->ref);
    memcpy(payload + 8, &t->score, 8);
    const sort_record r = {t->key.data, t->key.size, h->rid, payload, sizeof payload};
    return key_sorter_add(t->sorter, &r, error);
}

/* sort_all -- all matches, by all of $orderby. */
static tansu_status sort_all(query_run *run, tansu_error *error) {
    text_scan *t = run->text;
    size_t memory = hints_sort_memory(&run->q->hints, &run->rctx);
    const external_sort_options how = {.rctx = &run->rctx,
                                       .deadline = &run->deadline,
                                       .memory = memory,
                                       .may_spill = !run->q->hints.no_disk,
                                       .refusal = {.context = "$text",
                                                   .what = "The list of results with their scores",
                                                   .limit = memory,
                                                   .advice = "narrow the query, set \"$max\""}};
    t->sorter = key_sorter_new(&how, run->planner.limit);
    tansu_status status = t->sorter ? TANSU_OK : error_memory(error);
    while (status == TANSU_OK) {
        hit h;
        const uint8_t *doc;
        uint32_t size;
        status = text_scan_next(run, &h, &doc, &size, error);
        if (status == TANSU_OK)
            status = add_result(run, &h, doc, size, error);
    }
    return status == TANSU_DONE ? key_sorter_finish(t->sorter, error) : status;
}

tansu_status text_scan_rank(query_run *run, tansu_error *error) {
    text_scan *t = run->text;
    tansu_status status = begin(run, error);
    t->ranked = true;
    if (status != TANSU_OK)
        return status;
    bool top = run->plan->sort == PLAN_SORT_SCORE && run->planner.limit <= TOP_MOST;
    return top ? find_top(run, error) : sort_all(run, error);
}

tansu_status text_scan_next_ranked(query_run *run, hit *h, tansu_error *error) {
    text_scan *t = run->text;
    tansu_status status = t->ranked ? TANSU_OK : text_scan_rank(run, error);
    if (status != TANSU_OK)
        return status;
    if (t->top) {
        if (t->top_next == t->top_count)
            return TANSU_DONE;
        const text_result *result = &t->top[t->top_next++];
        t->score = result->score;
        *h = result->hit;
        return TANSU_OK;
    }
    sort_record r;
    status = key_sorter_next(t->sorter, &r, error);
    run->spilled = key_sorter_spilled(t->sorter);
    if (status != TANSU_OK)
        return status;
    memcpy(&t->score, r.payload + 8, 8);
    *h = (hit){.rid = r.tie_breaker, .ref = load_u64(r.payload)};
    return TANSU_OK;
}

/* ---- Explain ---- */

/* put_text -- a string that has no end of its own; bytes that are no UTF-8 cannot be. */
static void put_text(writer *w, uint32_t number, const uint8_t *bytes, size_t size) {
    writer_index_head(w, DOC_STRING, number);
    size_t start = writer_begin_string(w);
    writer_bytes(w, bytes, size);
    writer_end_string(w, start);
}

/* leaf_name -- how a kind of leaf is called. */
static const char *leaf_name(enum text_kind kind) {
    switch (kind) {
    case TEXT_PREFIX: return "prefix";
    case TEXT_FUZZY: return "fuzzy";
    case TEXT_PHRASE: return "phrase";
    case TEXT_NEAR: return "near";
    default: return "term";
    }
}

static void put_node(writer *w, const text_node *n);

/* put_nodes -- an array of nodes, if there are any. */
static void put_nodes(writer *w, const char *name, text_node *const *nodes, uint32_t count) {
    if (count == 0)
        return;
    size_t array = writer_open(w, name, DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++) {
        size_t start = writer_open_index(w, i, DOC_DOCUMENT);
        put_node(w, nodes[i]);
        writer_end(w, start);
    }
    writer_end(w, array);
}

/* put_node -- the members of a node. The depth of $text bounds the recursion. */
static void put_node(writer *w, const text_node *n) {
    if (n->kind == TEXT_ALL || n->kind == TEXT_ANY) {
        put_nodes(w, n->kind == TEXT_ALL ? "all" : "any", n->children, n->child_count);
    } else if (n->kind == TEXT_NOTHING) {
        writer_bool(w, "nothing", true);
    } else {
        size_t array = writer_open(w, leaf_name(n->kind), DOC_ARRAY);
        for (uint32_t i = 0; i < n->word_count; i++)
            put_text(w, i, n->words[i].bytes, n->words[i].size);
        writer_end(w, array);
        if (n->kind == TEXT_FUZZY)
            writer_int64(w, "distance", n->distance);
        if (n->kind == TEXT_NEAR)
            writer_int64(w, "within", n->within);
    }
    put_nodes(w, "without", n->without, n->without_count);
    put_nodes(w, "optional", n->optional, n->optional_count);
}

void text_scan_explain(const text_scan *t, writer *w) {
    size_t start = writer_open(w, "search", DOC_DOCUMENT);
    writer_string(w, "index", t->access.definition->name);
    put_node(w, t->access.query->root);
    writer_int64(w, "bound", (int64_t)t->access.bound);
    if (t->access.scored)
        writer_bool(w, "scored", true);
    if (text_query_needs_document(t->access.query))
        writer_bool(w, "readsDocuments", true);
    writer_end(w, start);
}
