/*
 * query/query_collections.c -- which collections a query reads.
 */
#include "query/parse/join_spec.h"
#include "query/parse/subquery_spec.h"
#include "query/query.h"
#include "util/error.h"

typedef struct names {
    key_set set;
    arena memory;
    bool failed;
} names;

/* add_name -- adds a name, unless it is there. */
static void add_name(names *n, const char *name) {
    bool added;
    size_t used = 0;
    if (!n->failed)
        n->failed = !key_set_add(&n->set, &n->memory, (const uint8_t *)name, strlen(name) + 1,
                                 sizeof(key_set_item), &added, &used);
}

/* add_joins -- the depth that doc_check() allows bounds the recursion. */
static void add_joins(names *n, const key_set *joins) {
    for (key_set_item *item = joins->first; item; item = item->next) {
        const join_spec *join = (const join_spec *)item;
        if (join->collection)
            add_name(n, join->collection);
        add_joins(n, &join->children);
    }
}

/* add_subqueries -- MAX_SUBQUERY_DEPTH bounds the recursion. */
static void add_subqueries(names *n, const query *q) {
    for (const subquery *s = q->subqueries; s; s = s->next) {
        add_name(n, s->collection);
        add_subqueries(n, s->inner);
    }
}

tansu_status query_collections(const query *q, const char *own, writer *w, tansu_error *error) {
    names n = {.failed = false};
    add_name(&n, own);
    if (q->hints.joins)
        add_joins(&n, q->hints.joins);
    add_subqueries(&n, q);
    size_t array = writer_open(w, "collections", DOC_ARRAY);
    uint32_t index = 0;
    for (key_set_item *item = n.set.first; item; item = item->next) {
        writer_index_head(w, DOC_STRING, index++);
        size_t text = writer_begin_string(w);
        writer_bytes(w, item->key, item->key_size - 1);
        writer_end_string(w, text);
    }
    writer_end(w, array);
    arena_free(&n.memory);
    return n.failed || w->failed ? error_memory(error) : TANSU_OK;
}
