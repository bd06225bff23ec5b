/*
 * query/pipeline/accumulators_n.c -- accumulators that keep n values: the first and the last ones,
 * the least and the greatest ones, and those of the documents that are first and last in an order.
 *
 * Those with an order keep a heap, the first one to be dropped on top. Of equal keys the earlier
 * ones are kept.
 */
#include "query/pipeline/accumulators.h"

#include "query/util/merge_sort.h"
#include "util/array.h"

/* A value, behind its key. */
typedef struct kept_item {
    uint8_t *bytes;
    uint32_t capacity;
    uint32_t key_size;
    uint32_t value_size;
    uint8_t type;
    uint64_t number; /* of arrival */
} kept_item;

typedef struct n_state {
    int64_t n; /* set by accumulation_begin() */
    kept_item *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t first;   /* of $lastN: the oldest item */
    uint64_t arrived; /* values so far */
} n_state;

/* The variants: which keys are dropped first, and in which order the result is. */
enum { KEEP_LEAST = 1, KEEP_GREATEST = 2, REVERSED = 4 };

/* set_item -- copies a key and a value. */
static tansu_status set_item(accumulating *c, kept_item *item, const uint8_t *key, size_t key_size,
                             const doc_value *value, uint64_t number) {
    size_t size = key_size + value->size;
    if (size > UINT32_MAX)
        return error_memory(c->s->p->error);
    if (size > item->capacity) {
        uint8_t *bytes = realloc(item->bytes, size);
        if (!bytes)
            return error_memory(c->s->p->error);
        c->used += size - item->capacity;
        item->bytes = bytes;
        item->capacity = (uint32_t)size;
    }
    if (key_size != 0)
        memcpy(item->bytes, key, key_size);
    if (value->size != 0)
        memcpy(item->bytes + key_size, value->data, value->size);
    item->key_size = (uint32_t)key_size;
    item->value_size = value->size;
    item->type = value->type == DOC_MISSING ? DOC_NULL : value->type;
    item->number = number;
    return TANSU_OK;
}

/* new_item -- room for another item, which is the last one. */
static kept_item *new_item(accumulating *c, n_state *s) {
    uint32_t before = s->capacity;
    if (!ARRAY_RESERVE(s->items, s->count, s->capacity, 1)) {
        error_memory(c->s->p->error);
        return NULL;
    }
    c->used += (s->capacity - before) * sizeof *s->items;
    s->items[s->count] = (kept_item){.bytes = NULL};
    return &s->items[s->count++];
}

/* ---- $firstN and $lastN ---- */

static tansu_status first_n_add(accumulating *c, const accumulation *a, void *state,
                                const accumulator_input *input) {
    n_state *s = state;
    (void)a;
    if (s->count >= s->n)
        return TANSU_OK;
    kept_item *item = new_item(c, s);
    return item ? set_item(c, item, NULL, 0, &input->value, 0) : TANSU_E_MEMORY;
}

/* last_n_add -- the items are a ring once there are n. */
static tansu_status last_n_add(accumulating *c, const accumulation *a, void *state,
                               const accumulator_input *input) {
    n_state *s = state;
    kept_item *item;
    (void)a;
    if (s->count < s->n) {
        item = new_item(c, s);
    } else {
        item = &s->items[s->first];
        s->first = (s->first + 1) % s->count;
    }
    return item ? set_item(c, item, NULL, 0, &input->value, 0) : TANSU_E_MEMORY;
}

/* ---- Those with an order ---- */

/* compare_keys -- the order of two items by their keys. */
static int compare_keys(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    size_t size = a_size < b_size ? a_size : b_size;
    int order = size != 0 ? memcmp(a, b, size) : 0;
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* compare_ascending -- by key, and equal keys by arrival. */
static int compare_ascending(const void *left, const void *right) {
    const kept_item *a = left, *b = right;
    int order = compare_keys(a->bytes, a->key_size, b->bytes, b->key_size);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* compare_descending -- the greatest key first, and equal keys by arrival. */
static int compare_descending(const void *left, const void *right) {
    const kept_item *a = left, *b = right;
    int order = compare_keys(b->bytes, b->key_size, a->bytes, a->key_size);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

typedef int (*item_order)(const void *, const void *);

/* order_of -- the order in which the items are worth keeping. */
static item_order order_of(const accumulation *a) {
    return a->kind->variant & KEEP_LEAST ? compare_ascending : compare_descending;
}

/* sift_down -- restores the heap below its first item. */
static void sift_down(n_state *s, item_order order) {
    kept_item moved = s->items[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < s->count; at = child) {
        if (child + 1 < s->count && order(&s->items[child], &s->items[child + 1]) < 0)
            child++;
        if (order(&moved, &s->items[child]) >= 0)
            break;
        s->items[at] = s->items[child];
    }
    s->items[at] = moved;
}

/* sift_up -- restores the heap above its last item. */
static void sift_up(n_state *s, item_order order) {
    uint32_t at = s->count - 1;
    kept_item moved = s->items[at];
    for (; at > 0 && order(&moved, &s->items[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        s->items[at] = s->items[(at - 1) / 2];
    s->items[at] = moved;
}

/* ordered_add -- keeps the n best items. */
static tansu_status ordered_add(accumulating *c, const accumulation *a, n_state *s,
                                const uint8_t *key, size_t key_size, const doc_value *value) {
    item_order order = order_of(a);
    uint64_t number = s->arrived++;
    if (s->count < s->n) {
        kept_item *item = new_item(c, s);
        tansu_status status =
            item ? set_item(c, item, key, key_size, value, number) : TANSU_E_MEMORY;
        if (status == TANSU_OK)
            sift_up(s, order);
        return status;
    }
    int kept = compare_keys(key, key_size, s->items[0].bytes, s->items[0].key_size);
    if (a->kind->variant & KEEP_LEAST ? kept >= 0 : kept <= 0)
        return TANSU_OK;
    tansu_status status = set_item(c, &s->items[0], key, key_size, value, number);
    if (status == TANSU_OK)
        sift_down(s, order);
    return status;
}

/* extreme_n_add -- $minN and $maxN, which take no null values. */
static tansu_status extreme_n_add(accumulating *c, const accumulation *a, void *state,
                                  const accumulator_input *input) {
    evaluation *ev = &c->s->p->ev;
    uint8_t type = input->value.type;
    if (type == DOC_MISSING || type == DOC_NULL || type == DOC_UNDEFINED)
        return TANSU_OK;
    c->key.size = 0;
    if (!collation_key(ev->collation, &ev->collated[0], &c->key, &input->value, false))
        return error_memory(c->s->p->error);
    return ordered_add(c, a, state, c->key.data, c->key.size, &input->value);
}

/* top_add -- $top, $bottom and those with n. */
static tansu_status top_add(accumulating *c, const accumulation *a, void *state,
                            const accumulator_input *input) {
    return ordered_add(c, a, state, input->order, input->order_size, &input->value);
}

/* ---- Results ---- */

/* value_of -- the value of an item. */
static doc_value value_of(const kept_item *item) {
    return (doc_value){item->bytes ? item->bytes + item->key_size : NULL, item->value_size,
                       item->type};
}

/* sort_items -- puts those with an order into that of the result. */
static tansu_status sort_items(accumulating *c, const accumulation *a, n_state *s) {
    bool ascending = (a->kind->variant & KEEP_LEAST) != 0;
    if (a->kind->variant & REVERSED)
        ascending = !ascending;
    return merge_sort(s->items, s->count, sizeof *s->items,
                      ascending ? compare_ascending : compare_descending, &c->s->p->deadline,
                      c->s->p->error);
}

/* restore_heap -- after the items were sorted for a result. */
static void restore_heap(n_state *s, item_order order) {
    uint32_t count = s->count;
    for (s->count = 0; s->count < count;) {
        s->count++;
        sift_up(s, order);
    }
}

static tansu_status n_result(accumulating *c, const accumulation *a, void *state,
                             doc_value *result) {
    n_state *s = state;
    writer w = {.out = &c->result};
    tansu_status status = a->kind->variant != 0 ? sort_items(c, a, s) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    c->result.size = 0;
    size_t start = writer_begin(&w);
    for (uint32_t i = 0; i < s->count; i++) {
        const doc_value value = value_of(&s->items[(s->first + i) % s->count]);
        writer_index_value(&w, i, &value);
    }
    writer_end(&w, start);
    if (a->kind->variant != 0)
        restore_heap(s, order_of(a));
    *result = (doc_value){c->result.data, (uint32_t)c->result.size, DOC_ARRAY};
    return w.failed ? error_memory(c->s->p->error) : TANSU_OK;
}

/* one_result -- of $top and $bottom. */
static tansu_status one_result(accumulating *c, const accumulation *a, void *state,
                               doc_value *result) {
    const n_state *s = state;
    (void)c;
    (void)a;
    *result = s->count != 0 ? value_of(&s->items[0]) : (doc_value){NULL, 0, DOC_NULL};
    return TANSU_OK;
}

static void n_free(void *state) {
    n_state *s = state;
    for (uint32_t i = 0; i < s->count; i++)
        free(s->items[i].bytes);
    free(s->items);
}

#define KEEPS(text, kind_form, function, shows, kind_variant)                            \
    {                                                                                    \
        .name = (text), .form = (kind_form), .size = sizeof(n_state), .add = (function), \
        .result = (shows), .free = n_free, .variant = (kind_variant)                     \
    }

const accumulation_kind accumulate_first_n =
    KEEPS("$firstN", ACCUMULATOR_N, first_n_add, n_result, 0);
const accumulation_kind accumulate_last_n = KEEPS("$lastN", ACCUMULATOR_N, last_n_add, n_result, 0);
const accumulation_kind accumulate_min_n =
    KEEPS("$minN", ACCUMULATOR_N, extreme_n_add, n_result, KEEP_LEAST);
const accumulation_kind accumulate_max_n =
    KEEPS("$maxN", ACCUMULATOR_N, extreme_n_add, n_result, KEEP_GREATEST);
const accumulation_kind accumulate_top =
    KEEPS("$top", ACCUMULATOR_TOP, top_add, one_result, KEEP_LEAST);
const accumulation_kind accumulate_bottom =
    KEEPS("$bottom", ACCUMULATOR_TOP, top_add, one_result, KEEP_GREATEST);
const accumulation_kind accumulate_top_n =
    KEEPS("$topN", ACCUMULATOR_TOP_N, top_add, n_result, KEEP_LEAST);
const accumulation_kind accumulate_bottom_n =
    KEEPS("$bottomN", ACCUMULATOR_TOP_N, top_add, n_result, KEEP_GREATEST | REVERSED);
