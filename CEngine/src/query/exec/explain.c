/*
 * query/exec/explain.c -- the plan of a run as a document, in terms of the query language: {plan:
 * {kind, index, path (of a wildcard index), direction, ranges: {path: [{operator: value}, …]},
 * rangeCount, search: {index, terms and their groups, bound, scored, readsDocuments}, intersected: {index,
 * ranges, …}, exact, sort, merged, covered}, candidates: [{kind, index, intersected, path, sort, merged,
 * covered, keys, cost, chosen}, …], skipped, keysExamined, documentsExamined, returned,
 * milliseconds, suggestion, subqueries: [{path, collection, field, values, and the plan document of
 * the subquery}, …]}.
 */
#include "bson/writer.h"
#include "index/definition.h"
#include "query/exec/text_scan.h"
#include "query/parse/subquery_spec.h"
#include "util/error.h"

#include <math.h>

#define MAX_LISTED 50 /* intervals of one path */

/* kind_name -- the name of a plan's kind. */
static const char *kind_name(enum plan_kind kind) {
    static const char *const names[] = {"none", "scan", "index", "union", "intersection", "text"};
    return names[kind];
}

/* sort_name -- the name of what provides the order. */
static const char *sort_name(enum plan_sort sort) {
    static const char *const names[] = {"none", "index", "memory", "score"};
    return names[sort];
}

/* write_interval -- {"$gt": 5, "$lte": 9}. */
static void write_interval(writer *w, uint32_t number, const interval *i) {
    size_t start = writer_open_index(w, number, DOC_DOCUMENT);
    if (i->lower.op)
        writer_value(w, i->lower.op, i->lower.value);
    bool same = i->lower.op && i->upper.op && strcmp(i->lower.op, i->upper.op) == 0;
    if (i->upper.op && !same)
        writer_value(w, i->upper.op, i->upper.value);
    writer_end(w, start);
}

/* write_access -- the index and the bounds of its paths. */
static void write_access(writer *w, const access_path *a) {
    writer_string(w, "index", a->name);
    if (a->wildcard)
        writer_string(w, "path", a->paths[0].text);
    size_t ranges = writer_open(w, "ranges", DOC_DOCUMENT);
    for (uint32_t p = 0; p < a->bound_paths; p++) {
        const interval_list *list = &a->bounds[p];
        size_t array = writer_open(w, a->paths[p].text, DOC_ARRAY);
        for (uint32_t i = 0; i < list->count && i < MAX_LISTED; i++)
            write_interval(w, i, &list->items[i]);
        writer_end(w, array);
    }
    writer_end(w, ranges);
    writer_int64(w, "rangeCount", a->range_count);
}

/* write_capabilities -- what provides the order, the number of merged streams, whether the index
 * covers the query. */
static void write_capabilities(writer *w, const plan *p) {
    writer_string(w, "sort", sort_name(p->sort));
    if (p->streams > 1)
        writer_int64(w, "merged", p->streams);
    if (p->covered)
        writer_bool(w, "covered", true);
}

/* write_plan -- the chosen plan. */
static void write_plan(writer *w, const query_run *run) {
    const plan *p = run->plan;
    size_t start = writer_open(w, "plan", DOC_DOCUMENT);
    writer_string(w, "kind", kind_name(p->kind));
    if (p->kind == PLAN_INDEX) {
        write_access(w, p->accesses[0]);
        writer_string(w, "direction", p->backward ? "backward" : "forward");
    }
    if (p->kind == PLAN_TEXT)
        writer_string(w, "index", run->text->access.definition->name);
    if (run->text)
        text_scan_explain(run->text, w);
    if (p->kind == PLAN_TEXT && p->access_count != 0) {
        size_t other = writer_open(w, "intersected", DOC_DOCUMENT);
        write_access(w, p->accesses[0]);
        writer_end(w, other);
    }
    if (p->kind == PLAN_UNION || p->kind == PLAN_INTERSECTION) {
        size_t array = writer_open(w, "branches", DOC_ARRAY);
        for (uint32_t i = 0; i < p->access_count && i < MAX_LISTED; i++) {
            size_t branch = writer_open_index(w, i, DOC_DOCUMENT);
            write_access(w, p->accesses[i]);
            writer_end(w, branch);
        }
        writer_end(w, array);
    }
    writer_bool(w, "exact", p->exact);
    write_capabilities(w, p);
    writer_end(w, start);
}

/* write_candidates -- all candidate plans with their costs in the units of the planner. */
static void write_candidates(writer *w, const planner *p) {
    size_t array = writer_open(w, "candidates", DOC_ARRAY);
    uint32_t number = 0;
    for (const plan *c = p->candidates; c; c = c->next) {
        size_t start = writer_open_index(w, number++, DOC_DOCUMENT);
        writer_string(w, "kind", kind_name(c->kind));
        if (c->kind == PLAN_INDEX)
            writer_string(w, "index", c->accesses[0]->name);
        if (c->kind == PLAN_TEXT)
            writer_string(w, "index", p->text->definition->name);
        if (c->kind == PLAN_TEXT && c->access_count != 0)
            writer_string(w, "intersected", c->accesses[0]->name);
        if (c->kind == PLAN_INDEX && c->accesses[0]->wildcard)
            writer_string(w, "path", c->accesses[0]->paths[0].text);
        write_capabilities(w, c);
        writer_int64(w, "keys", (int64_t)c->keys);
        writer_double(w, "cost", c->cost);
        writer_bool(w, "chosen", c == p->chosen);
        writer_end(w, start);
    }
    writer_end(w, array);
    if (p->skipped != 0)
        writer_int64(w, "skipped", p->skipped);
}

/* ---- The index that would help ---- */

/* A list of distinct paths with directions. */
typedef struct suggestion {
    const path *paths[TANSU_MAX_INDEX_PATHS];
    bool descending[TANSU_MAX_INDEX_PATHS];
    uint32_t count;
} suggestion;

/* suggests -- whether an index would have bounds for a test. */
static bool suggests(const test *t) {
    return t->path && !t->negated && !t->special && t->wild == WILD_NONE && t->op != TEST_EXISTS;
}

/* suggest -- adds a path, unless it is in the list or the list is full. */
static void suggest(suggestion *s, const path *path, bool descending) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (path_equal(s->paths[i], path))
            return;
    }
    if (s->count == TANSU_MAX_INDEX_PATHS)
        return;
    s->paths[s->count] = path;
    s->descending[s->count++] = descending;
}

/* suggest_tests -- adds the paths of equalities, or of ranges. */
static void suggest_tests(suggestion *s, const node *root, bool equalities) {
    const node *n = root->kind == NODE_AND ? root->first : root;
    for (; n; n = root->kind == NODE_AND ? n->next : NULL) {
        if (n->kind != NODE_TEST || !suggests(n->test))
            continue;
        bool equality = n->test->op == TEST_EQ || n->test->op == TEST_IN;
        uint32_t before = s->count;
        if (equality == equalities)
            suggest(s, n->test->path, false);
        if (!equalities && s->count > before)
            return; /* only one range can be used */
    }
}

/* leads_with -- whether an index begins with the suggested paths: the first `equalities` of them in
 * any order and direction, the others in this order, with their directions or all reversed. */
static bool leads_with(const index_definition *d, const suggestion *s, uint32_t equalities) {
    bool decided = false, reversed = false;
    if (d->path_count < s->count || d->sparse || d->fold || d->filter || d->text)
        return false;
    for (uint32_t i = 0; i < equalities; i++) {
        bool found = false;
        for (uint32_t k = 0; !found && k < equalities; k++)
            found = path_equal(s->paths[i], &d->paths[k]);
        if (!found)
            return false;
    }
    for (uint32_t i = equalities; i < s->count; i++) {
        bool against = d->descending[i] != s->descending[i];
        if (!path_equal(s->paths[i], &d->paths[i]) || (decided && against != reversed))
            return false;
        decided = true;
        reversed = against;
    }
    return true;
}

/* exists -- whether the collection already has such an index, which then does not help: it is
 * multikey, or costs more. */
static bool exists(const collection_state *collection, const suggestion *s, uint32_t equalities) {
    for (uint32_t i = 0; i < collection->index_count; i++) {
        if (leads_with(collection->indexes[i].definition, s, equalities))
            return true;
    }
    return s->count == 1 && strcmp(s->paths[0]->text, "_id") == 0;
}

/* write_suggestion -- for table scans and sorts in memory: equalities first, then the order, then a
 * range. */
static void write_suggestion(writer *w, const query_run *run) {
    const plan *p = run->plan;
    const hints *h = &run->q->hints;
    if (p->kind != PLAN_SCAN && p->sort != PLAN_SORT_MEMORY)
        return;
    suggestion s = {.count = 0};
    suggest_tests(&s, run->q->planned, true);
    uint32_t equalities = s.count;
    for (uint32_t i = 0; i < h->order_count && !run->q->collation; i++)
        suggest(&s, h->order[i].path, h->order[i].descending);
    if (h->order_count == 0)
        suggest_tests(&s, run->q->planned, false);
    if (s.count == 0 || exists(run->collection, &s, equalities))
        return;
    size_t start = writer_open(w, "suggestion", DOC_DOCUMENT);
    for (uint32_t i = 0; i < s.count; i++)
        writer_int32(w, s.paths[i]->text, s.descending[i] ? -1 : 1);
    writer_end(w, start);
}

void explain_subqueries(const query *q, writer *w) {
    if (!q->subqueries)
        return;
    uint32_t number = 0;
    size_t array = writer_open(w, "subqueries", DOC_ARRAY);
    for (const subquery *s = q->subqueries; s; s = s->next) {
        size_t one = writer_open_index(w, number++, DOC_DOCUMENT);
        writer_string(w, "path", s->context);
        writer_string(w, "collection", s->collection);
        writer_string(w, "field", s->field->text);
        writer_int64(w, "values", s->count);
        doc_iter iter;
        bool valid = s->plan.size != 0 && doc_iter_init(&iter, s->plan.data, s->plan.size);
        while (valid && doc_iter_next(&iter))
            writer_value(w, iter.key, &iter.value);
        writer_end(w, one);
    }
    writer_end(w, array);
}

tansu_status explain_write(const query_run *run, double milliseconds, tansu_buffer *result,
                           tansu_error *error) {
    writer w = {.out = result};
    size_t start = writer_begin(&w);
    write_plan(&w, run);
    write_candidates(&w, &run->planner);
    writer_int64(&w, "keysExamined", (int64_t)run_keys_examined(run));
    writer_int64(&w, "documentsExamined", (int64_t)run->documents_examined);
    writer_int64(&w, "returned", (int64_t)run->returned);
    if (run->spilled != 0)
        writer_int64(&w, "spilledBytes", (int64_t)run->spilled);
    writer_double(&w, "milliseconds", round(milliseconds * 1000) / 1000);
    join_explain(run->q->hints.joins, &w);
    write_suggestion(&w, run);
    explain_subqueries(run->q, &w);
    writer_end(&w, start);
    return w.failed ? error_memory(error) : TANSU_OK;
}
