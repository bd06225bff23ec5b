/*
 * query/expression/operators_set.c -- arrays as sets: in which values count once, and their order
 * does not count.
 */
#include "query/expression/expression_internal.h"

#include "query/util/key_set.h"

/* A value of a set. */
typedef struct set_item {
    key_set_item head; /* its key */
    doc_value value;   /* the first of those that are equal */
    uint32_t mark;     /* of the operator */
} set_item;

/* A set in the memory of the evaluation; what the evaluation makes while there is one is freed with
 * it. */
typedef struct value_set {
    evaluation *ev;
    const expression *e;
    arena_mark start;
    key_set keys;
} value_set;

static void set_begin(evaluation *ev, const expression *e, value_set *s) {
    *s = (value_set){.ev = ev, .e = e, .start = arena_get_mark(&ev->memory)};
}

/* set_add -- the item of a value, added if there is none; *added says so. NULL: *status is set. */
static set_item *set_add(value_set *s, const doc_value *value, bool *added, tansu_status *status) {
    evaluation *ev = s->ev;
    tansu_buffer *key = &ev->collated[1];
    size_t used = 0;
    key->size = 0;
    *status = expression_key(ev, key, value, false) ? evaluation_step(ev, 1 + key->size / 64)
                                                    : error_memory(ev->error);
    if (*status != TANSU_OK)
        return NULL;
    set_item *item = (set_item *)key_set_add(&s->keys, &ev->memory, key->data, key->size,
                                             sizeof *item, added, &used);
    if (!item)
        *status = evaluation_too_large(ev, s->e);
    else if (*added)
        item->value = *value;
    return item;
}

/* set_end -- the array of the items that have a mark, if `status` is OK; else returns that. */
static tansu_status set_end(value_set *s, tansu_status status, uint32_t mark, doc_value *result) {
    build b;
    if (status != TANSU_OK)
        return status;
    build_begin(s->ev, &b);
    for (const key_set_item *at = s->keys.first; at; at = at->next) {
        const set_item *item = (const set_item *)at;
        if (item->mark == mark)
            build_add(&b, &item->value);
    }
    arena_release(&s->ev->memory, s->start);
    return build_end(s->ev, s->e, &b, DOC_ARRAY, result);
}

/* sorted_end -- the same, in the order of the values. */
static tansu_status sorted_end(value_set *s, uint32_t mark, doc_value *result) {
    static const deadline none;
    key_set_item **items = NULL;
    build b;
    tansu_status status =
        key_set_sorted(&s->keys, s->ev->deadline ? s->ev->deadline : &none, &items, s->ev->error);
    if (status != TANSU_OK)
        return status;
    build_begin(s->ev, &b);
    for (size_t i = 0; i < s->keys.count; i++) {
        const set_item *item = (const set_item *)items[i];
        if (item->mark == mark)
            build_add(&b, &item->value);
    }
    free(items);
    arena_release(&s->ev->memory, s->start);
    return build_end(s->ev, s->e, &b, DOC_ARRAY, result);
}

/* array_argument -- the value of an operand that must be an array, or null if `null`. */
static tansu_status array_argument(evaluation *ev, const expression *e, uint32_t i, bool null,
                                   doc_value *array) {
    tansu_status status = argument(ev, e, i, array);
    if (status != TANSU_OK || (null && is_nullish(array)))
        return status;
    return array->type == DOC_ARRAY
               ? TANSU_OK
               : evaluation_error(ev, e, "Takes arrays, not %s", type_name(array));
}

/* ---- Sets of sets ---- */

static tansu_status set_union(evaluation *ev, const expression *e, doc_value *result) {
    value_set set;
    tansu_status status = TANSU_OK;
    set_begin(ev, e, &set);
    for (uint32_t i = 0; status == TANSU_OK && i < e->count; i++) {
        doc_value array;
        doc_iter iter;
        bool added;
        status = array_argument(ev, e, i, true, &array);
        if (status != TANSU_OK || is_nullish(&array))
            return status == TANSU_OK ? result_null(result) : status;
        doc_iter_value(&iter, &array);
        while (status == TANSU_OK && doc_iter_next(&iter))
            set_add(&set, &iter.value, &added, &status);
    }
    return set_end(&set, status, 0, result);
}

/* set_intersection -- sorted, as in MongoDB. */
static tansu_status set_intersection(evaluation *ev, const expression *e, doc_value *result) {
    value_set set;
    tansu_status status = TANSU_OK;
    set_begin(ev, e, &set);
    /* An item's mark is the number of the operands up to the last one that has it, if all before
     * have it, too. */
    for (uint32_t i = 0; status == TANSU_OK && i < e->count; i++) {
        doc_value array;
        doc_iter iter;
        status = array_argument(ev, e, i, true, &array);
        if (status != TANSU_OK || is_nullish(&array))
            return status == TANSU_OK ? result_null(result) : status;
        doc_iter_value(&iter, &array);
        while (status == TANSU_OK && doc_iter_next(&iter)) {
            bool added;
            set_item *item = set_add(&set, &iter.value, &added, &status);
            if (item && item->mark == i)
                item->mark = i + 1;
        }
    }
    return status == TANSU_OK ? sorted_end(&set, e->count, result) : status;
}

static tansu_status set_difference(evaluation *ev, const expression *e, doc_value *result) {
    doc_value arrays[2];
    value_set set;
    set_begin(ev, e, &set);
    tansu_status status = argument(ev, e, 0, &arrays[0]);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &arrays[1]);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&arrays[0]) || is_nullish(&arrays[1]))
        return result_null(result);
    for (int i = 1; i >= 0; i--) {
        doc_iter iter;
        if (arrays[i].type != DOC_ARRAY)
            return evaluation_error(ev, e, "Takes arrays, not %s", type_name(&arrays[i]));
        doc_iter_value(&iter, &arrays[i]);
        while (status == TANSU_OK && doc_iter_next(&iter)) {
            bool added;
            set_item *item = set_add(&set, &iter.value, &added, &status);
            if (item && added)
                item->mark = (uint32_t)i;
        }
    }
    return set_end(&set, status, 0, result);
}

/* ---- Comparing sets ---- */

/* compile_equals -- constants that are no arrays are errors, even where an evaluation would end
 * before them. */
static tansu_status compile_equals(expression_compiler *c, const doc_value *operand,
                                   expression *e) {
    tansu_status status = compile_operands(c, operand, e, 2, ANY_COUNT);
    for (uint32_t i = 0; status == TANSU_OK && i < e->count; i++) {
        doc_value value;
        if (expression_constant(e->args[i], &value) && value.type != DOC_ARRAY)
            status = compile_error(c, e->op->name, "Takes arrays, not %s", type_name(&value));
    }
    return status;
}

/* count_common -- the number of values of an array, and of those that the set has; each value
 * counts once. `mark` is one that no item has. */
static tansu_status count_common(value_set *set, const doc_value *array, uint32_t mark,
                                 size_t *common, bool *others) {
    tansu_status status = TANSU_OK;
    doc_iter iter;
    *common = 0;
    *others = false;
    for (doc_iter_value(&iter, array); !*others && doc_iter_next(&iter);) {
        set_item *item = set_add(set, &iter.value, others, &status);
        if (!item)
            return status;
        *common += item->mark != mark;
        item->mark = mark;
    }
    return TANSU_OK;
}

/* set_fill -- adds all values of an array. */
static tansu_status set_fill(value_set *set, const doc_value *array) {
    tansu_status status = TANSU_OK;
    doc_iter iter;
    bool added;
    doc_iter_value(&iter, array);
    while (status == TANSU_OK && doc_iter_next(&iter))
        set_add(set, &iter.value, &added, &status);
    return status;
}

static tansu_status set_equals(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    value_set set;
    bool equal = true;
    set_begin(ev, e, &set);
    tansu_status status = array_argument(ev, e, 0, false, &array);
    if (status == TANSU_OK)
        status = set_fill(&set, &array);
    size_t count = set.keys.count, common;
    for (uint32_t i = 1; status == TANSU_OK && equal && i < e->count; i++) {
        bool others;
        status = array_argument(ev, e, i, false, &array);
        if (status == TANSU_OK)
            status = count_common(&set, &array, i, &common, &others);
        equal = status == TANSU_OK && !others && common == count;
    }
    if (status != TANSU_OK)
        return status;
    arena_release(&ev->memory, set.start);
    return result_bool(equal, result);
}

static tansu_status set_is_subset(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array, whole;
    value_set set;
    size_t common;
    bool others;
    set_begin(ev, e, &set);
    tansu_status status = array_argument(ev, e, 0, false, &array);
    if (status == TANSU_OK)
        status = array_argument(ev, e, 1, false, &whole);
    if (status == TANSU_OK)
        status = set_fill(&set, &whole);
    if (status == TANSU_OK)
        status = count_common(&set, &array, 1, &common, &others);
    if (status != TANSU_OK)
        return status;
    arena_release(&ev->memory, set.start);
    return result_bool(!others, result);
}

/* ---- Elements as truth values ---- */

/* any_element -- whether one element is as true as the variant says; the complement of that for
 * $allElementsTrue. */
static tansu_status any_element(evaluation *ev, const expression *e, doc_value *result) {
    bool wanted = e->op->variant != 0;
    doc_value array;
    doc_iter iter;
    tansu_status status = array_argument(ev, e, 0, false, &array);
    if (status == TANSU_OK)
        status = evaluation_step(ev, 1 + array.size / 64);
    if (status != TANSU_OK)
        return status;
    for (doc_iter_value(&iter, &array); doc_iter_next(&iter);) {
        if (expression_is_true(&iter.value) == wanted)
            return result_bool(wanted, result);
    }
    return result_bool(!wanted, result);
}

const operator_info operators_set[] = {
    {.name = "$setUnion", .evaluate = set_union, .compile = compile_commutative},
    {.name = "$setIntersection", .evaluate = set_intersection, .compile = compile_commutative},
    {.name = "$setDifference", .evaluate = set_difference, .min = 2, .max = 2},
    {.name = "$setEquals", .evaluate = set_equals, .compile = compile_equals},
    {.name = "$setIsSubset", .evaluate = set_is_subset, .min = 2, .max = 2},
    {.name = "$anyElementTrue", .evaluate = any_element, .min = 1, .max = 1, .variant = 1},
    {.name = "$allElementsTrue", .evaluate = any_element, .min = 1, .max = 1, .variant = 0},
    {.name = NULL},
};
