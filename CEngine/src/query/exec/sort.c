/*
 * query/exec/sort.c -- sorting by concatenated value keys, so that one memcmp() compares two
 * documents by all paths.
 */
#include "query/exec/sort.h"
#include "bson/path.h"
#include "bson/value.h"
#include "util/bytes.h"
#include "util/error.h"
#include <stdlib.h>

struct sorter {
    sorter_options options;
    key_sorter *sorter;
    tansu_buffer key;
    tansu_buffer collated[2]; /* scratch of sort_key() */
};

sorter *sorter_new(const sorter_options *options) {
    const external_sort_options how = {
        .rctx = options->rctx,
        .deadline = options->deadline,
        .memory = options->memory,
        .may_spill = options->may_spill,
        .refusal = {.context = "hints.$orderby",
                    .what = "Sort",
                    .limit = options->memory,
                    .advice = "create an index on the paths of \"$orderby\", lower \"$max\""}};
    sorter *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->sorter = key_sorter_new(&how, options->keep);
    if (!s->sorter) {
        free(s);
        return NULL;
    }
    return s;
}

void sorter_free(sorter *s) {
    if (!s)
        return;
    key_sorter_free(s->sorter);
    tansu_buffer_free(&s->key);
    tansu_buffer_free(&s->collated[0]);
    tansu_buffer_free(&s->collated[1]);
    free(s);
}

/* ---- Keys ---- */

/* The least or greatest value that a path has found so far. */
typedef struct extreme {
    const collation *collation;
    tansu_buffer *scratch; /* of `value`, and of the one that is compared with it */
    doc_value value;       /* collated */
    bool failed;           /* memory was exhausted */
    bool found;
    bool greatest;
} extreme;

/* consider -- keeps the more extreme of two values. */
static void consider(extreme *e, const doc_value *value) {
    doc_value collated = *value;
    if (e->collation && !collation_value(e->collation, &e->scratch[1], value, &collated)) {
        e->failed = true;
        return;
    }
    int order = e->found ? value_compare(&collated, &e->value) : 0;
    if (!e->found || (e->greatest ? order > 0 : order < 0)) {
        tansu_buffer kept = e->scratch[1];
        e->scratch[1] = e->scratch[0];
        e->scratch[0] = kept;
        e->value = collated;
    }
    e->found = true;
}

/* visit -- considers a value at a path's end, or the elements of an array. An empty array has none
 * and so sorts like a missing field. */
static bool visit(void *context, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY) {
        consider(context, value);
    } else if (doc_iter_value(&iter, value)) {
        while (doc_iter_next(&iter))
            consider(context, &iter.value);
    }
    return true;
}

bool sort_key(const order_path *order, uint32_t order_count, const collation *collation,
              tansu_buffer scratch[2], const uint8_t *doc, size_t size, tansu_buffer *key) {
    for (uint32_t i = 0; i < order_count; i++) {
        const order_path *path = &order[i];
        extreme e = {.collation = collation,
                     .scratch = scratch,
                     .value = {NULL, 0, DOC_MISSING},
                     .greatest = path->descending};
        doc_value value;
        if (!path_get(path->path, doc, size, &value) || value.type == DOC_ARRAY)
            path_walk_positions(path->path, doc, size, visit, &e, NULL);
        else if (collation)
            consider(&e, &value);
        else
            e.value = value;
        if (e.failed || !value_key(key, &e.value, path->descending))
            return false;
    }
    return true;
}

/* ---- Sorting ---- */

tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error) {
    uint8_t ref[8];
    s->key.size = 0;
    if (!sort_key(s->options.order, s->options.order_count, s->options.collation, s->collated, doc,
                  size, &s->key))
        return error_memory(error);
    store_u64(ref, h->ref);
    const sort_record r = {s->key.data, s->key.size, h->rid, ref, sizeof ref};
    return key_sorter_add(s->sorter, &r, error);
}

tansu_status sorter_finish(sorter *s, tansu_error *error) {
    return key_sorter_finish(s->sorter, error);
}

tansu_status sorter_next(sorter *s, hit *h, tansu_error *error) {
    sort_record r;
    tansu_status status = key_sorter_next(s->sorter, &r, error);
    if (status == TANSU_OK)
        *h = (hit){.rid = r.tie_breaker, .ref = load_u64(r.payload)};
    return status;
}

uint64_t sorter_spilled(const sorter *s) {
    return key_sorter_spilled(s->sorter);
}
