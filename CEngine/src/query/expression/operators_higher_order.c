/*
 * query/expression/operators_higher_order.c -- operators that go over the elements of an array with
 * an expression: $map, $filter, $reduce; and $sortArray.
 *
 * The memory of what the expression computes for one element is freed before the next one.
 */
#include "query/expression/expression_internal.h"

#include "query/util/merge_sort.h"

#include <string.h>

/* ---- Forms ---- */

/* The operands of $map and $filter: the array, what is computed for each element, the limit. */
enum { OPERAND_INPUT, OPERAND_EACH, OPERAND_LIMIT };

/* compile_scoped -- an operand that sees one more variable, whose slot becomes e->slot. */
static tansu_status compile_scoped(expression_compiler *c, const char *name, size_t size,
                                   const doc_value *operand, expression *e, uint32_t i) {
    uint32_t scope = c->variable_count, slots = c->slot_count;
    tansu_status status = expression_variable(c, name, size, &e->slot);
    if (status == TANSU_OK)
        status = expression_compile(c, operand, &e->args[i]);
    c->variable_count = scope;
    c->slot_count = slots;
    return status;
}

/* compile_each -- {"input": …, "as": …, EACH: …, "limit": …}: EACH is "in" of $map, "cond" of
 * $filter, which alone has "limit". */
static tansu_status compile_each(expression_compiler *c, const doc_value *operand, expression *e,
                                 const char *each, bool limited) {
    static const doc_value missing = {NULL, 0, DOC_MISSING};
    const char *const names[] = {"input", each, "limit", "as"};
    doc_value values[] = {missing, missing, missing, missing};
    size_t size = 4;
    doc_iter iter;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name,
                             "Takes a document with the members \"input\" and \"%s\"", each);
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        uint32_t i = 0;
        while (i < 4 && (strcmp(names[i], iter.key) != 0 || (i == OPERAND_LIMIT && !limited)))
            i++;
        if (i == 4)
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
        values[i] = iter.value;
    }
    for (uint32_t i = OPERAND_INPUT; i <= OPERAND_EACH; i++) {
        if (values[i].type == DOC_MISSING)
            return compile_error(c, e->op->name, "Member \"%s\" is required", names[i]);
    }
    const doc_value *as = &values[3];
    if (as->type != DOC_MISSING && as->type != DOC_STRING)
        return compile_error(c, e->op->name, "Member \"as\" must be a string");
    const char *variable = as->type == DOC_STRING ? doc_string(as, &size) : "this";
    tansu_status status = compile_args(c, e, limited ? 3 : 2);
    if (status == TANSU_OK)
        status = expression_compile(c, &values[OPERAND_INPUT], &e->args[OPERAND_INPUT]);
    if (status == TANSU_OK && values[OPERAND_LIMIT].type != DOC_MISSING)
        status = expression_compile(c, &values[OPERAND_LIMIT], &e->args[OPERAND_LIMIT]);
    return status == TANSU_OK
               ? compile_scoped(c, variable, size, &values[OPERAND_EACH], e, OPERAND_EACH)
               : status;
}

static tansu_status compile_map(expression_compiler *c, const doc_value *operand, expression *e) {
    return compile_each(c, operand, e, "in", false);
}

static tansu_status compile_filter(expression_compiler *c, const doc_value *operand,
                                   expression *e) {
    return compile_each(c, operand, e, "cond", true);
}

/* input_array -- the value of the first operand, an array or null. */
static tansu_status input_array(evaluation *ev, const expression *e, doc_value *array) {
    tansu_status status = argument(ev, e, OPERAND_INPUT, array);
    if (status != TANSU_OK || is_nullish(array) || array->type == DOC_ARRAY)
        return status;
    return evaluation_error(ev, e, "Member \"input\" must be an array, not %s", type_name(array));
}

/* ---- $map and $filter ---- */

/* filter_limit -- the number of elements that are wanted. */
static tansu_status filter_limit(evaluation *ev, const expression *e, int64_t *limit) {
    doc_value value;
    tansu_status status = argument(ev, e, OPERAND_LIMIT, &value);
    *limit = INT64_MAX;
    if (status != TANSU_OK || is_nullish(&value))
        return status;
    if (!doc_is_number(&value) || !doc_as_int64(&value, limit) || *limit < 1 || *limit > INT32_MAX)
        return evaluation_error(ev, e,
                                "Member \"limit\" must be a positive whole number of 32 bits");
    return TANSU_OK;
}

/* each_element -- $map, and $filter if `limit` is not NULL. */
static tansu_status each_element(evaluation *ev, const expression *e, const doc_value *array,
                                 const int64_t *limit, doc_value *result) {
    build b;
    doc_iter iter;
    arena_mark mark = arena_get_mark(&ev->memory);
    build_begin(ev, &b);
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);) {
        doc_value value;
        ev->variables[e->slot] = iter.value;
        tansu_status status = evaluation_step(ev, 1);
        if (status == TANSU_OK)
            status = argument(ev, e, OPERAND_EACH, &value);
        if (status != TANSU_OK) {
            build_cancel(ev, &b);
            return status;
        }
        if (!limit)
            build_add(&b, &value);
        else if (expression_is_true(&value))
            build_add(&b, &iter.value);
        arena_release(&ev->memory, mark);
        if (b.w.failed || (limit && b.count == *limit))
            break;
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

static tansu_status map(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    tansu_status status = input_array(ev, e, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    return each_element(ev, e, &array, NULL, result);
}

static tansu_status filter(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    int64_t limit;
    tansu_status status = input_array(ev, e, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    status = filter_limit(ev, e, &limit);
    return status == TANSU_OK ? each_element(ev, e, &array, &limit, result) : status;
}

/* ---- $reduce ---- */

enum { REDUCE_INPUT, REDUCE_INITIAL, REDUCE_IN };

/* Where memory is freed between two elements: what the last one needed at least, and what is copied
 * at most for that in one $reduce. An expression whose values grow with each element, such as
 * $concatArrays, needs time by the square of their number; it fails when it has copied so much. */
#define REDUCE_GARBAGE ((size_t)64 * 1024)
#define REDUCE_COPIES ((uint64_t)1024 * 1024 * 1024)

/* compile_reduce -- {"input": …, "initialValue": …, "in": …}; e->slot is that of "this", the next
 * one that of "value". */
static tansu_status compile_reduce(expression_compiler *c, const doc_value *operand,
                                   expression *e) {
    doc_value values[3] = {{NULL, 0, DOC_MISSING}, {NULL, 0, DOC_MISSING}, {NULL, 0, DOC_MISSING}};
    static const char *const names[] = {"input", "initialValue", "in"};
    uint32_t scope = c->variable_count, slots = c->slot_count, slot;
    doc_iter iter;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name,
                             "Takes a document with the members: input! initialValue! in!");
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        uint32_t i = 0;
        while (i < 3 && strcmp(names[i], iter.key) != 0)
            i++;
        if (i == 3)
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
        values[i] = iter.value;
    }
    tansu_status status = compile_args(c, e, 3);
    for (uint32_t i = 0; status == TANSU_OK && i < 3; i++) {
        if (values[i].type == DOC_MISSING)
            status = compile_error(c, e->op->name, "Member \"%s\" is required", names[i]);
        else if (i != REDUCE_IN)
            status = expression_compile(c, &values[i], &e->args[i]);
    }
    if (status == TANSU_OK)
        status = expression_variable(c, "this", 4, &e->slot);
    if (status == TANSU_OK)
        status = expression_variable(c, "value", 5, &slot);
    if (status == TANSU_OK)
        status = expression_compile(c, &values[REDUCE_IN], &e->args[REDUCE_IN]);
    c->variable_count = scope;
    c->slot_count = slots;
    return status;
}

/* free_garbage -- frees what was computed since a mark, but for a value, which is copied. */
static tansu_status free_garbage(evaluation *ev, const expression *e, arena_mark mark,
                                 doc_value *value) {
    build b;
    build_begin(ev, &b);
    writer_bytes(&b.w, value->data, value->size);
    arena_release(&ev->memory, mark);
    tansu_status status = evaluation_step(ev, value->size / 64);
    if (status == TANSU_OK && !b.w.failed)
        status =
            result_bytes(ev, value->type, b.buffer->bytes.data + b.start + 4, value->size, value);
    else if (status == TANSU_OK)
        status = evaluation_too_large(ev, e);
    build_cancel(ev, &b);
    return status;
}

static tansu_status reduce(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array, value;
    doc_iter iter;
    uint64_t copied = 0;
    tansu_status status = input_array(ev, e, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    arena_mark mark = arena_get_mark(&ev->memory);
    status = argument(ev, e, REDUCE_INITIAL, &value);
    for (doc_iter_value(&iter, &array); status == TANSU_OK && doc_iter_next(&iter);) {
        ev->variables[e->slot] = iter.value;
        ev->variables[e->slot + 1] = value;
        status = evaluation_step(ev, 1);
        if (status == TANSU_OK)
            status = argument(ev, e, REDUCE_IN, &value);
        if (status == TANSU_OK && ev->memory.used - mark.used > REDUCE_GARBAGE + 2 * value.size &&
            copied < REDUCE_COPIES) {
            copied += value.size;
            status = free_garbage(ev, e, mark, &value);
        }
    }
    *result = value;
    return status;
}

/* ---- $sortArray ---- */

/* A part of the order: a path into the elements that are documents, or the whole elements. */
typedef struct sort_path {
    const char *text; /* NULL: the whole element */
    size_t size;
    bool descending;
} sort_path;

typedef struct sort_form {
    uint32_t count;
    sort_path *paths;
} sort_form;

/* sort_direction -- of 1 or -1. */
static bool sort_direction(const doc_value *value, bool *descending) {
    int64_t number;
    if (!doc_is_number(value) || !doc_as_int64(value, &number) || (number != 1 && number != -1))
        return false;
    *descending = number < 0;
    return true;
}

/* compile_order -- the member "sortBy". */
static tansu_status compile_order(expression_compiler *c, const doc_value *order,
                                  const expression *e, sort_form *form) {
    doc_iter iter;
    bool whole = order->type != DOC_DOCUMENT;
    form->count = whole;
    if (!whole) {
        for (doc_iter_value(&iter, order); doc_iter_next(&iter);)
            form->count++;
    }
    if (form->count == 0)
        return compile_error(c, e->op->name, "Member \"sortBy\" names no field");
    form->paths = arena_alloc(c->memory, form->count * sizeof *form->paths);
    if (!form->paths)
        return error_memory(c->error);
    if (whole) {
        form->paths[0] = (sort_path){0};
        return sort_direction(order, &form->paths[0].descending)
                   ? TANSU_OK
                   : compile_error(c, e->op->name,
                                   "Member \"sortBy\" must be 1, -1 or a document of fields");
    }
    doc_iter_value(&iter, order);
    for (uint32_t i = 0; doc_iter_next(&iter); i++) {
        sort_path *path = &form->paths[i];
        path->text = iter.key;
        path->size = iter.key_size;
        if (!sort_direction(&iter.value, &path->descending))
            return compile_error(c, e->op->name, "Field \"%.100s\" of \"sortBy\" must be 1 or -1",
                                 iter.key);
        if (iter.key_size == 0 || iter.key[0] == '.' || iter.key[iter.key_size - 1] == '.' ||
            strstr(iter.key, ".."))
            return compile_error(c, e->op->name, "Path \"%.100s\" of \"sortBy\" has an empty name",
                                 iter.key);
    }
    return TANSU_OK;
}

/* compile_sort -- {"input": …, "sortBy": …}. */
static tansu_status compile_sort(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_value input = {NULL, 0, DOC_MISSING}, order = {NULL, 0, DOC_MISSING};
    doc_iter iter;
    sort_form *form = arena_alloc(c->memory, sizeof *form);
    if (!form)
        return error_memory(c->error);
    e->extra = form;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name, "Takes a document with the members: input! sortBy!");
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        if (strcmp(iter.key, "input") == 0)
            input = iter.value;
        else if (strcmp(iter.key, "sortBy") == 0)
            order = iter.value;
        else
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
    }
    if (input.type == DOC_MISSING || order.type == DOC_MISSING)
        return compile_error(c, e->op->name, "Members \"input\" and \"sortBy\" are required");
    tansu_status status = compile_args(c, e, 1);
    if (status == TANSU_OK)
        status = expression_compile(c, &input, &e->args[0]);
    return status == TANSU_OK ? compile_order(c, &order, e, form) : status;
}

/* An element that is sorted. */
typedef struct sorted_element {
    const uint8_t *key; /* whose bytes are in the order; none is a prefix of another */
    uint32_t key_size;
    uint32_t position;
    doc_value value;
} sorted_element;

/* compare_elements -- by key; those that are equal keep their order. */
static int compare_elements(const void *left, const void *right) {
    const sorted_element *a = left, *b = right;
    int order = memcmp(a->key, b->key, a->key_size < b->key_size ? a->key_size : b->key_size);
    if (order != 0)
        return order;
    return (a->position > b->position) - (a->position < b->position);
}

/* sort_value -- what a path finds in an element: names of documents, and positions of arrays. */
static void sort_value(const sort_path *path, const doc_value *element, doc_value *value) {
    *value = *element;
    if (!path->text)
        return;
    if (element->type != DOC_DOCUMENT)
        value->type = DOC_MISSING;
    for (const char *name = path->text, *end = path->text + path->size;
         name <= end && (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY);) {
        size_t size = strcspn(name, ".");
        doc_find(value->data, value->size, name, size, value);
        name += size + 1;
        if (name <= end && value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
            value->type = DOC_MISSING;
    }
    if (value->type == DOC_MISSING)
        *value = (doc_value){NULL, 0, DOC_NULL};
}

/* sort_key -- the key of an element, in the memory of the evaluation. */
static tansu_status sort_key(evaluation *ev, const expression *e, sorted_element *element) {
    const sort_form *form = e->extra;
    tansu_buffer *key = &ev->collated[1];
    key->size = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        doc_value value;
        sort_value(&form->paths[i], &element->value, &value);
        if (!expression_key(ev, key, &value, form->paths[i].descending))
            return error_memory(ev->error);
    }
    element->key_size = (uint32_t)key->size;
    element->key = arena_copy(&ev->memory, key->data, key->size);
    return element->key ? evaluation_step(ev, 1 + key->size / 64) : evaluation_too_large(ev, e);
}

static tansu_status sort(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    uint32_t count, i = 0;
    doc_iter iter;
    build b;
    static const deadline none;
    tansu_status status = input_array(ev, e, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    doc_array_size(&array, &count);
    arena_mark mark = arena_get_mark(&ev->memory);
    sorted_element *elements = arena_alloc(&ev->memory, (size_t)count * sizeof *elements + 1);
    if (!elements)
        return evaluation_too_large(ev, e);
    doc_iter_value(&iter, &array);
    for (; status == TANSU_OK && doc_iter_next(&iter); i++) {
        elements[i] = (sorted_element){.position = i, .value = iter.value};
        status = sort_key(ev, e, &elements[i]);
    }
    if (status == TANSU_OK)
        status = merge_sort(elements, count, sizeof *elements, compare_elements,
                            ev->deadline ? ev->deadline : &none, ev->error);
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    for (i = 0; i < count; i++)
        build_add(&b, &elements[i].value);
    arena_release(&ev->memory, mark);
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

const operator_info operators_higher_order[] = {
    {.name = "$map", .evaluate = map, .compile = compile_map, .fails_late = true},
    {.name = "$filter", .evaluate = filter, .compile = compile_filter, .fails_late = true},
    {.name = "$reduce", .evaluate = reduce, .compile = compile_reduce, .fails_late = true},
    {.name = "$sortArray", .evaluate = sort, .compile = compile_sort, .fails_late = true},
    {.name = NULL},
};
