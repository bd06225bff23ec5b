/*
 * query/expression/operators_array.c -- arrays: their elements, parts, and making them.
 */
#include "query/expression/field_set.h"

#include <string.h>

/* ---- Operands ---- */

/* array_or_null -- the value of an operand that is an array, or null. */
static tansu_status array_or_null(evaluation *ev, const expression *e, uint32_t i,
                                  doc_value *array) {
    tansu_status status = argument(ev, e, i, array);
    if (status != TANSU_OK || is_nullish(array))
        return status;
    if (array->type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not %s", type_name(array));
    return evaluation_step(ev, 1 + array->size / 64);
}

/* array_only -- the same; null is an error. */
static tansu_status array_only(evaluation *ev, const expression *e, uint32_t i, doc_value *array) {
    tansu_status status = array_or_null(ev, e, i, array);
    if (status == TANSU_OK && is_nullish(array))
        return evaluation_error(ev, e, "Takes an array, not %s", type_name(array));
    return status;
}

/* as_int32 -- a number that is a whole int32. */
static tansu_status as_int32(evaluation *ev, const expression *e, const char *what,
                             const doc_value *value, int32_t *result) {
    int64_t whole;
    if (!doc_is_number(value) || !doc_as_int64(value, &whole) || whole < INT32_MIN ||
        whole > INT32_MAX)
        return evaluation_error(ev, e, "%s must be a whole number of 32 bits, not %s", what,
                                doc_is_number(value) ? "another number" : type_name(value));
    *result = (int32_t)whole;
    return TANSU_OK;
}

/* int32_argument -- an operand that must be one. */
static tansu_status int32_argument(evaluation *ev, const expression *e, uint32_t i,
                                   const char *what, int32_t *result) {
    doc_value value;
    tansu_status status = argument(ev, e, i, &value);
    return status == TANSU_OK ? as_int32(ev, e, what, &value, result) : status;
}

/* cursor_of -- the cursor at an array, or before its first element. Those of arrays that are no
 * part of the document, whose memory may be another value's soon, are `own`. */
static array_cursor *cursor_of(evaluation *ev, const doc_value *array, array_cursor *own) {
    const doc_value *root = &ev->variables[VARIABLE_ROOT];
    bool stays = root->type == DOC_DOCUMENT && (uintptr_t)array->data >= (uintptr_t)root->data &&
                 (uintptr_t)array->data < (uintptr_t)root->data + root->size;
    array_cursor *cursor = stays ? &ev->cursor : own;
    if (!stays || cursor->array != array->data) {
        *cursor = (array_cursor){.array = array->data, .at = -1, .count = -1};
        doc_iter_value(&cursor->iter, array);
    }
    return cursor;
}

/* count_elements -- of an array. */
static tansu_status count_elements(evaluation *ev, const doc_value *array, int64_t *count) {
    array_cursor own, *cursor = cursor_of(ev, array, &own);
    uint32_t counted;
    tansu_status status = TANSU_OK;
    if (cursor->count < 0) {
        doc_array_size(array, &counted);
        cursor->count = counted;
        status = evaluation_step(ev, 1 + array->size / 64);
    }
    *count = cursor->count;
    return status;
}

/* element_at -- the element at a position; missing if there is none. */
static tansu_status element_at(evaluation *ev, const doc_value *array, int64_t at,
                               doc_value *result) {
    array_cursor own, *cursor = cursor_of(ev, array, &own);
    const uint8_t *from = cursor->iter.next;
    if (at < cursor->at || at < 0) {
        cursor->at = -1;
        doc_iter_value(&cursor->iter, array);
        from = cursor->iter.next;
    }
    while (cursor->at < at && doc_iter_next(&cursor->iter))
        cursor->at++;
    *result = cursor->at == at ? cursor->iter.value : (doc_value){NULL, 0, DOC_MISSING};
    return evaluation_step(ev, 1 + (uint64_t)(cursor->iter.next - from) / 64);
}

/* ---- Elements ---- */

static tansu_status is_array(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    return status == TANSU_OK ? result_bool(value.type == DOC_ARRAY, result) : status;
}

static tansu_status array_size(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    int64_t count;
    tansu_status status = argument(ev, e, 0, &array);
    if (status != TANSU_OK)
        return status;
    if (array.type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not %s", type_name(&array));
    status = count_elements(ev, &array, &count);
    return status == TANSU_OK ? result_int32(ev, (int32_t)count, result) : status;
}

static tansu_status array_element(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array, position;
    int32_t index;
    int64_t count = 0;
    tansu_status status = argument(ev, e, 0, &array);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &position);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&array) || is_nullish(&position))
        return result_null(result);
    if (array.type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not %s", type_name(&array));
    status = as_int32(ev, e, "Position", &position, &index);
    if (status == TANSU_OK && index < 0)
        status = count_elements(ev, &array, &count);
    if (status != TANSU_OK)
        return status;
    return index + count < 0 ? result_missing(result)
                             : element_at(ev, &array, index + count, result);
}

/* find_element -- the position of a value from one position to before another; -1 if it is not
 * there. */
static tansu_status find_element(evaluation *ev, const doc_value *array, const doc_value *value,
                                 int32_t from, int32_t to, int32_t *found) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    int32_t at = 0;
    *found = -1;
    for (doc_iter_value(&iter, array); at < to && doc_iter_next(&iter); at++) {
        int order;
        if (at < from)
            continue;
        uint32_t size = value->size < iter.value.size ? value->size : iter.value.size;
        status = evaluation_step(ev, 1 + size / 64);
        if (status != TANSU_OK)
            return status;
        if (!expression_compare(ev, &iter.value, value, &order))
            return error_memory(ev->error);
        if (order == 0) {
            *found = at;
            break;
        }
    }
    return status;
}

static tansu_status in_array(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value, array;
    int32_t found;
    tansu_status status = argument(ev, e, 0, &value);
    if (status == TANSU_OK)
        status = array_only(ev, e, 1, &array);
    if (status == TANSU_OK)
        status = find_element(ev, &array, &value, 0, INT32_MAX, &found);
    return status == TANSU_OK ? result_bool(found >= 0, result) : status;
}

/* bound_argument -- the first position of $indexOfArray, or the one after the last. */
static tansu_status bound_argument(evaluation *ev, const expression *e, uint32_t i,
                                   const char *what, int32_t *bound) {
    if (i >= e->count)
        return TANSU_OK;
    tansu_status status = int32_argument(ev, e, i, what, bound);
    if (status == TANSU_OK && *bound < 0)
        return evaluation_error(ev, e, "%s must not be negative", what);
    return status;
}

static tansu_status index_of(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array, value;
    int32_t from = 0, to = INT32_MAX, found;
    tansu_status status = array_or_null(ev, e, 0, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    status = argument(ev, e, 1, &value);
    if (status == TANSU_OK)
        status = bound_argument(ev, e, 2, "First position", &from);
    if (status == TANSU_OK)
        status = bound_argument(ev, e, 3, "Last position", &to);
    if (status == TANSU_OK)
        status = find_element(ev, &array, &value, from, to, &found);
    return status == TANSU_OK ? result_int32(ev, found, result) : status;
}

/* ---- Parts ---- */

static tansu_status slice(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array, first, length;
    int32_t number, limit = 0;
    uint32_t count;
    doc_iter iter;
    build b;
    tansu_status status = argument(ev, e, 0, &array);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &first);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&array) || is_nullish(&first))
        return result_null(result);
    if (array.type != DOC_ARRAY)
        return evaluation_error(ev, e, "Takes an array, not %s", type_name(&array));
    status = as_int32(ev, e, e->count == 2 ? "Number of elements" : "Position", &first, &number);
    if (status == TANSU_OK && e->count == 3) {
        status = argument(ev, e, 2, &length);
        if (status == TANSU_OK && is_nullish(&length))
            return result_null(result);
        if (status == TANSU_OK)
            status = as_int32(ev, e, "Number of elements", &length, &limit);
        if (status == TANSU_OK && limit <= 0)
            return evaluation_error(ev, e, "Number of elements must be positive");
    }
    if (status == TANSU_OK)
        status = evaluation_step(ev, 1 + array.size / 32);
    if (status != TANSU_OK)
        return status;
    doc_array_size(&array, &count);
    int64_t from = number, to = count;
    if (from < 0)
        from = from + count < 0 ? 0 : from + count;
    else if (e->count == 2) {
        to = from;
        from = 0;
    }
    if (e->count == 3)
        to = from + limit;
    build_begin(ev, &b);
    int64_t at = 0;
    for (doc_iter_value(&iter, &array); at < to && doc_iter_next(&iter); at++) {
        if (at >= from)
            build_add(&b, &iter.value);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

static tansu_status reverse(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    uint32_t count, at;
    doc_iter iter;
    build b;
    tansu_status status = array_or_null(ev, e, 0, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    doc_array_size(&array, &count);
    arena_mark mark = arena_get_mark(&ev->memory);
    doc_value *values = arena_alloc(&ev->memory, (size_t)count * sizeof *values + 1);
    if (!values)
        return evaluation_too_large(ev, e);
    at = count;
    for (doc_iter_value(&iter, &array); at > 0 && doc_iter_next(&iter);)
        values[--at] = iter.value;
    build_begin(ev, &b);
    for (; at < count; at++)
        build_add(&b, &values[at]);
    arena_release(&ev->memory, mark);
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

static tansu_status concat(evaluation *ev, const expression *e, doc_value *result) {
    build b;
    build_begin(ev, &b);
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value array;
        doc_iter iter;
        tansu_status status = array_or_null(ev, e, i, &array);
        if (status != TANSU_OK || is_nullish(&array)) {
            build_cancel(ev, &b);
            return status == TANSU_OK ? result_null(result) : status;
        }
        for (doc_iter_value(&iter, &array); doc_iter_next(&iter);)
            build_add(&b, &iter.value);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* ---- Making arrays ---- */

static tansu_status range(evaluation *ev, const expression *e, doc_value *result) {
    int32_t from, to, step = 1;
    build b;
    tansu_status status = int32_argument(ev, e, 0, "Start", &from);
    if (status == TANSU_OK)
        status = int32_argument(ev, e, 1, "End", &to);
    if (status == TANSU_OK && e->count == 3)
        status = int32_argument(ev, e, 2, "Step", &step);
    if (status == TANSU_OK && step == 0)
        return evaluation_error(ev, e, "Step must not be 0");
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    for (int64_t at = from; !b.w.failed && (step > 0 ? at < to : at > to); at += step) {
        uint8_t bytes[4];
        const doc_value value = {bytes, sizeof bytes, DOC_INT32};
        store_u32(bytes, (uint32_t)at);
        build_add(&b, &value);
        status = evaluation_step(ev, 1);
        if (status != TANSU_OK) {
            build_cancel(ev, &b);
            return status;
        }
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* What $zip has besides its operands, which are the inputs, and then the defaults. */
typedef struct zip_form {
    uint32_t inputs;
    bool longest;
} zip_form;

/* compile_zip -- {"inputs": […], "defaults": […], "useLongestLength": …}. */
static tansu_status compile_zip(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_value inputs = {NULL, 0, DOC_MISSING}, defaults = inputs;
    uint32_t defaults_count = 0, i = 0;
    doc_iter iter;
    zip_form *form = arena_alloc(c->memory, sizeof *form);
    if (!form)
        return error_memory(c->error);
    e->extra = form;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name, "Takes a document with the member \"inputs\"");
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        bool is_inputs = strcmp(iter.key, "inputs") == 0;
        if (is_inputs || strcmp(iter.key, "defaults") == 0) {
            if (iter.value.type != DOC_ARRAY)
                return compile_error(c, e->op->name, "Member \"%s\" must be an array", iter.key);
            *(is_inputs ? &inputs : &defaults) = iter.value;
        } else if (strcmp(iter.key, "useLongestLength") == 0) {
            if (iter.value.type != DOC_BOOL)
                return compile_error(c, e->op->name,
                                     "Member \"useLongestLength\" must be true or false");
            form->longest = doc_bool(&iter.value);
        } else {
            return compile_error(c, e->op->name, "Member \"%.100s\" is unknown", iter.key);
        }
    }
    doc_array_size(&inputs, &form->inputs);
    doc_array_size(&defaults, &defaults_count);
    if (inputs.type == DOC_MISSING || form->inputs == 0)
        return compile_error(c, e->op->name, "Member \"inputs\" must have at least one array");
    if (defaults_count != 0 && !form->longest)
        return compile_error(c, e->op->name,
                             "Member \"defaults\" needs \"useLongestLength\": true");
    if (defaults_count != 0 && defaults_count != form->inputs)
        return compile_error(c, e->op->name,
                             "Members \"inputs\" and \"defaults\" must be of the same length");
    tansu_status status = compile_args(c, e, form->inputs + defaults_count);
    doc_iter_value(&iter, &inputs);
    while (status == TANSU_OK && i < e->count) {
        if (i == form->inputs)
            doc_iter_value(&iter, &defaults);
        doc_iter_next(&iter);
        status = expression_compile(c, &iter.value, &e->args[i++]);
    }
    return status;
}

/* zip_rows -- the arrays of the n-th elements. A default is used where an input has ended. */
static tansu_status zip_rows(evaluation *ev, const expression *e, doc_iter *inputs,
                             const doc_value *defaults, build *b) {
    const zip_form *form = e->extra;
    for (;;) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < form->inputs; i++) {
            if (doc_iter_next(&inputs[i]))
                left++;
            else
                inputs[i].value.type = DOC_MISSING;
        }
        if (left == 0 || (!form->longest && left < form->inputs))
            return TANSU_OK;
        size_t start = writer_open_index(&b->w, b->count++, DOC_ARRAY);
        for (uint32_t i = 0; i < form->inputs; i++) {
            bool ended = inputs[i].value.type == DOC_MISSING;
            writer_index_value(&b->w, i, ended ? &defaults[i] : &inputs[i].value);
        }
        writer_end(&b->w, start);
        tansu_status status = evaluation_step(ev, form->inputs);
        if (status != TANSU_OK || b->w.failed)
            return status;
    }
}

static tansu_status zip(evaluation *ev, const expression *e, doc_value *result) {
    const zip_form *form = e->extra;
    doc_iter *inputs = arena_alloc(&ev->memory, form->inputs * sizeof *inputs);
    doc_value *defaults = arena_alloc(&ev->memory, form->inputs * sizeof *defaults), value;
    build b;
    if (!inputs || !defaults)
        return evaluation_too_large(ev, e);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; i < form->inputs; i++) {
        status = array_or_null(ev, e, i, &value);
        if (status != TANSU_OK || is_nullish(&value))
            return status == TANSU_OK ? result_null(result) : status;
        doc_iter_value(&inputs[i], &value);
        defaults[i] = (doc_value){NULL, 0, DOC_NULL};
    }
    for (uint32_t i = form->inputs; status == TANSU_OK && i < e->count; i++) {
        doc_value *to = &defaults[i - form->inputs];
        status = argument(ev, e, i, to);
        if (to->type == DOC_MISSING)
            result_null(to);
    }
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    status = zip_rows(ev, e, inputs, defaults, &b);
    if (status == TANSU_OK)
        return build_end(ev, e, &b, DOC_ARRAY, result);
    build_cancel(ev, &b);
    return status;
}

/* ---- Documents and arrays of their fields ---- */

static tansu_status object_to_array(evaluation *ev, const expression *e, doc_value *result) {
    doc_value object;
    doc_iter iter;
    build b;
    tansu_status status = argument(ev, e, 0, &object);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&object))
        return result_null(result);
    if (object.type != DOC_DOCUMENT)
        return evaluation_error(ev, e, "Takes a document, not %s", type_name(&object));
    status = evaluation_step(ev, 1 + object.size / 16);
    if (status != TANSU_OK)
        return status;
    build_begin(ev, &b);
    for (doc_iter_value(&iter, &object); doc_iter_next(&iter);) {
        size_t start = writer_open_index(&b.w, b.count++, DOC_DOCUMENT);
        writer_head(&b.w, DOC_STRING, "k", 1);
        size_t text = writer_begin_string(&b.w);
        writer_bytes(&b.w, iter.key, iter.key_size);
        writer_end_string(&b.w, text);
        writer_element(&b.w, "v", 1, &iter.value);
        writer_end(&b.w, start);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* read_pair -- the two parts of an element: [k, v], or {"k": k, "v": v}. */
static tansu_status read_pair(evaluation *ev, const expression *e, const doc_value *element,
                              doc_value *key, doc_value *value) {
    doc_iter iter;
    uint32_t count = 0;
    *key = *value = (doc_value){NULL, 0, DOC_MISSING};
    for (doc_iter_value(&iter, element); doc_iter_next(&iter); count++) {
        bool array = element->type == DOC_ARRAY;
        if (array ? count == 0 : strcmp(iter.key, "k") == 0)
            *key = iter.value;
        else if (array ? count == 1 : strcmp(iter.key, "v") == 0)
            *value = iter.value;
    }
    if (count != 2 || key->type == DOC_MISSING || value->type == DOC_MISSING)
        return evaluation_error(ev, e,
                                "An element must be an array of two values, or a document with "
                                "the fields \"k\" and \"v\"");
    if (key->type != DOC_STRING)
        return evaluation_error(ev, e, "The key of an element must be a string, not %s",
                                type_name(key));
    return TANSU_OK;
}

static tansu_status array_to_object(evaluation *ev, const expression *e, doc_value *result) {
    doc_value array;
    doc_iter iter;
    uint8_t form = 0;
    field_set fields;
    tansu_status status = array_or_null(ev, e, 0, &array);
    if (status != TANSU_OK || is_nullish(&array))
        return status == TANSU_OK ? result_null(result) : status;
    field_set_begin(ev, e, &fields);
    for (doc_iter_value(&iter, &array); status == TANSU_OK && doc_iter_next(&iter);) {
        doc_value key, value;
        size_t size;
        uint8_t type = iter.value.type;
        if (type != DOC_ARRAY && type != DOC_DOCUMENT)
            return evaluation_error(ev, e, "An element must be an array or a document, not %s",
                                    type_name(&iter.value));
        if (form != 0 && form != type)
            return evaluation_error(ev, e, "Elements must be all arrays, or all documents");
        form = type;
        status = read_pair(ev, e, &iter.value, &key, &value);
        if (status != TANSU_OK)
            return status;
        const char *name = doc_string(&key, &size);
        if (memchr(name, 0, size))
            return evaluation_error(ev, e, "The key of an element has a NUL");
        status = field_set_put(&fields, name, size, &value);
    }
    return field_set_end(&fields, status, result);
}

const operator_info operators_array[] = {
    {.name = "$isArray", .evaluate = is_array, .min = 1, .max = 1},
    {.name = "$size", .evaluate = array_size, .min = 1, .max = 1},
    {.name = "$arrayElemAt", .evaluate = array_element, .min = 2, .max = 2},
    {.name = "$in", .evaluate = in_array, .min = 2, .max = 2},
    {.name = "$indexOfArray", .evaluate = index_of, .min = 2, .max = 4},
    {.name = "$slice", .evaluate = slice, .min = 2, .max = 3},
    {.name = "$reverseArray", .evaluate = reverse, .min = 1, .max = 1},
    {.name = "$concatArrays", .evaluate = concat, .compile = compile_associative},
    {.name = "$range", .evaluate = range, .min = 2, .max = 3},
    {.name = "$zip", .evaluate = zip, .compile = compile_zip, .fails_late = true},
    {.name = "$objectToArray", .evaluate = object_to_array, .min = 1, .max = 1},
    {.name = "$arrayToObject", .evaluate = array_to_object, .min = 1, .max = 1},
    {.name = NULL},
};
