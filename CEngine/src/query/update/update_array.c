/*
 * query/update/update_array.c -- operators on arrays: $push, $addToSet, $pull, $pop and variants.
 */
#include "bson/value.h"
#include "bson/writer.h"
#include "query/exec/sort.h"
#include "query/update/update_internal.h"
#include "query/util/merge_sort.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Parsing ---- */

/* take_values -- takes the elements of an array as the values to insert. */
static tansu_status take_values(update *u, operation *o, const doc_value *list,
                                tansu_error *error) {
    doc_iter iter;
    array_change *change = o->array;
    if (list->type != DOC_ARRAY)
        return bad_update(error, o, "Values to insert must be an array");
    doc_iter_value(&iter, list);
    while (doc_iter_next(&iter))
        change->count++;
    change->values = arena_alloc(&u->memory, (change->count + 1) * sizeof *change->values);
    if (change->values == NULL)
        return error_memory(error);
    doc_iter_value(&iter, list);
    for (uint32_t i = 0; doc_iter_next(&iter); i++)
        change->values[i] = iter.value;
    return TANSU_OK;
}

/* take_whole -- a whole number of any number type. */
static tansu_status take_whole(const operation *o, const char *name, const doc_value *value,
                               int64_t *result, tansu_error *error) {
    return doc_as_int64(value, result)
               ? TANSU_OK
               : bad_update(error, o, "\"%s\" must be a whole number", name);
}

/* take_direction -- 1 or -1. */
static tansu_status take_direction(const operation *o, const doc_value *value, bool *descending,
                                   tansu_error *error) {
    int64_t direction;
    if (!doc_as_int64(value, &direction) || (direction != 1 && direction != -1))
        return bad_update(error, o,
                          "\"$sort\" must be 1 or -1, or a document of paths, each 1 or -1");
    *descending = direction < 0;
    return TANSU_OK;
}

/* take_sort -- a direction, or an order of paths within the elements. */
static tansu_status take_sort(update *u, operation *o, const doc_value *value, tansu_error *error) {
    doc_iter iter;
    array_change *change = o->array;
    change->has_sort = true;
    if (value->type != DOC_DOCUMENT)
        return take_direction(o, value, &change->descending, error);
    char context[sizeof error->context];
    snprintf(context, sizeof context, "%s.%s.$sort", o->name, o->path->text);
    change->order = arena_alloc(&u->memory, MAX_ORDER_PATHS * sizeof *change->order);
    if (change->order == NULL)
        return error_memory(error);
    doc_iter_value(&iter, value);
    while (doc_iter_next(&iter)) {
        if (change->order_count == MAX_ORDER_PATHS)
            return bad_update(error, o, "\"$sort\" has more than %d paths; remove some",
                              MAX_ORDER_PATHS);
        order_path *by = &change->order[change->order_count++];
        tansu_status status = take_direction(o, &iter.value, &by->descending, error);
        if (status == TANSU_OK)
            status = update_path(u, iter.key, iter.key_size, context, &by->path, error);
        if (status != TANSU_OK)
            return status;
    }
    return change->order_count != 0
               ? TANSU_OK
               : bad_update(error, o, "\"$sort\" is empty; give 1, -1 or a document of paths");
}

/* take_modifier -- $each and the modifiers next to it. */
static tansu_status take_modifier(update *u, operation *o, const doc_iter *iter, bool *each,
                                  tansu_error *error) {
    array_change *change = o->array;
    if (strcmp(iter->key, "$each") == 0) {
        if (*each)
            return bad_update(error, o, "\"$each\" is given twice; remove one of them");
        *each = true;
        return take_values(u, o, &iter->value, error);
    }
    if (o->kind == OPERATOR_PUSH && strcmp(iter->key, "$slice") == 0) {
        change->has_slice = true;
        return take_whole(o, "$slice", &iter->value, &change->slice, error);
    }
    if (o->kind == OPERATOR_PUSH && strcmp(iter->key, "$position") == 0) {
        change->has_position = true;
        return take_whole(o, "$position", &iter->value, &change->position, error);
    }
    if (o->kind == OPERATOR_PUSH && strcmp(iter->key, "$sort") == 0)
        return take_sort(u, o, &iter->value, error);
    return bad_update(error, o,
                      "Unknown modifier \"%.60s\" of \"%s\"; docs/query-language.md lists "
                      "all modifiers",
                      iter->key, o->name);
}

tansu_status array_change_parse(update *u, operation *o, tansu_error *error) {
    doc_iter iter;
    o->array = arena_alloc(&u->memory, sizeof *o->array);
    if (o->array == NULL)
        return error_memory(error);
    if (o->kind == OPERATOR_PUSH_ALL || o->kind == OPERATOR_ADD_TO_SET_ALL)
        return take_values(u, o, &o->operand, error);
    /* Without $each, a document is the value itself, whatever its keys are. */
    doc_value values;
    if (o->operand.type != DOC_DOCUMENT ||
        !doc_find(o->operand.data, o->operand.size, "$each", 5, &values)) {
        o->array->values = &o->operand;
        o->array->count = 1;
        return TANSU_OK;
    }
    bool each = false;
    tansu_status status = TANSU_OK;
    doc_iter_value(&iter, &o->operand);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = take_modifier(u, o, &iter, &each, error);
    return status;
}

/* ---- Sorting ---- */

/* An element and its sort key. */
typedef struct sort_element {
    item *item;
    uint32_t number;
    uint8_t *key;
    size_t size;
} sort_element;

/* make_key -- appends the sort key of an element. One that is not a document has none of the
 * paths. */
static bool make_key(applying *a, const array_change *change, const doc_value *element,
                     tansu_buffer *key) {
    static const uint8_t empty[5] = {5};
    const collation *collation = a->update->collation;
    if (change->order == NULL)
        return collation_key(collation, &a->collated[0], key, element, change->descending);
    bool document = element->type == DOC_DOCUMENT;
    return sort_key(change->order, change->order_count, collation, a->collated,
                    document ? element->data : empty, document ? element->size : sizeof empty, key);
}

/* compare_elements -- by key, and equal keys by position. */
static int compare_elements(const void *left, const void *right) {
    const sort_element *a = left, *b = right;
    int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);
    if (order == 0)
        order = (a->size > b->size) - (a->size < b->size);
    return order != 0 ? order : a->number < b->number ? -1 : 1;
}

/* goes_on -- counts a value that is about to be read. False when the update is over. */
static bool goes_on(applying *a, const doc_value *value) {
    return match_read(a->how->context, value->size);
}

/* ended -- why a function returned false: the deadline, or exhausted memory. */
static tansu_status ended(applying *a) {
    tansu_status status = match_context_status(a->how->context, a->error);
    return status == TANSU_OK ? error_memory(a->error) : status;
}

/* sort_list -- sorts elements by their keys. */
static tansu_status sort_list(applying *a, sort_element *list, size_t count) {
    static const deadline none;
    const deadline *until = a->how->context->deadline;
    return merge_sort(list, count, sizeof *list, compare_elements, until ? until : &none, a->error);
}

/* sort_elements -- sorts an open array. */
static tansu_status sort_elements(applying *a, const array_change *change, item *at) {
    tansu_buffer key = TANSU_BUFFER_INIT;
    sort_element *list = arena_alloc(&a->memory, (at->count + 1) * sizeof *list);
    bool done = list != NULL;
    for (uint32_t i = 0; done && i < at->count; i++) {
        doc_value value;
        key.size = 0;
        list[i].item = at->children[i];
        list[i].number = i;
        done = item_raw(&a->memory, at->children[i], &value) && goes_on(a, &value) &&
               make_key(a, change, &value, &key);
        list[i].size = key.size;
        if (done)
            list[i].key = arena_copy(&a->memory, key.data, key.size);
        done = done && list[i].key != NULL;
    }
    tansu_buffer_free(&key);
    tansu_status status = done ? sort_list(a, list, at->count) : ended(a);
    for (uint32_t i = 0; status == TANSU_OK && i < at->count; i++)
        at->children[i] = list[i].item;
    return status;
}

/* ---- Applying ---- */

/* insert_values -- inserts values into an open array. False when memory is exhausted. */
static bool insert_values(applying *a, item *at, uint32_t position, const doc_value *values,
                          uint32_t count) {
    item **children = arena_alloc(&a->memory, ((size_t)at->count + count + 1) * sizeof *children);
    if (children == NULL)
        return false;
    if (at->count != 0) {
        memcpy(children, at->children, position * sizeof *children);
        memcpy(children + position + count, at->children + position,
               (at->count - position) * sizeof *children);
    }
    for (uint32_t i = 0; i < count; i++) {
        children[position + i] = item_new(&a->memory, &values[i]);
        if (children[position + i] == NULL)
            return false;
    }
    at->children = children;
    at->count += count;
    at->capacity = at->count;
    return true;
}

/* slice_elements -- keeps the first elements, or for a negative number the last. */
static void slice_elements(item *at, int64_t slice) {
    if (slice >= 0 && slice < at->count)
        at->count = (uint32_t)slice;
    if (slice < 0 && slice > -(int64_t)at->count) {
        at->children += at->count + slice;
        at->count = at->capacity = (uint32_t)-slice;
    }
}

/* push -- inserts, sorts, slices. */
static tansu_status push(applying *a, const operation *o, item *at) {
    const array_change *change = o->array;
    int64_t position = change->has_position ? change->position : at->count;
    if (position < 0)
        position = position > -(int64_t)at->count ? at->count + position : 0;
    if (position > at->count)
        position = at->count;
    if (!insert_values(a, at, (uint32_t)position, change->values, change->count))
        return error_memory(a->error);
    tansu_status status = change->has_sort ? sort_elements(a, change, at) : TANSU_OK;
    if (change->has_slice)
        slice_elements(at, change->slice);
    return status;
}

/* key_compare -- by key. */
static int key_compare(const void *left, const void *right) {
    const doc_value *a = left, *b = right;
    int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* add_one -- adds a value unless an open array has it. False when memory is exhausted, or the
 * update is over. */
static bool add_one(applying *a, item *at, const doc_value *value) {
    for (uint32_t i = 0; i < at->count; i++) {
        if (!match_step(a->how->context, 1))
            return false;
        if (value_compare(&at->children[i]->value, value) == 0)
            return true;
    }
    return insert_values(a, at, at->count, value, 1);
}

/* add_few -- adds values that an open array does not have, comparing them with each element. */
static bool add_few(applying *a, item *at, const doc_value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!add_one(a, at, &values[i]))
            return false;
    }
    return true;
}

/* A value to add, and whether the array has it. */
typedef struct wanted {
    doc_value key; /* first, for key_compare() */
    uint32_t number;
    bool held;
} wanted;

/* wanted_compare -- by key, and equal keys in the order given. */
static int wanted_compare(const void *left, const void *right) {
    const wanted *a = left, *b = right;
    int order = key_compare(left, right);
    return order != 0 ? order : a->number < b->number ? -1 : 1;
}

/* take_key -- the key of a value, in the arena. */
static bool take_key(applying *a, const doc_value *value, tansu_buffer *key, doc_value *result) {
    key->size = 0;
    if (!collation_key(a->update->collation, &a->collated[0], key, value, false))
        return false;
    *result = (doc_value){.data = arena_copy(&a->memory, key->data, key->size),
                          .size = (uint32_t)key->size};
    return result->data != NULL;
}

/* add_many -- the same with sorted keys, which avoids quadratic work and supports collations. */
static bool add_many(applying *a, item *at, const doc_value *values, uint32_t count) {
    tansu_buffer key = TANSU_BUFFER_INIT;
    wanted *list = arena_alloc(&a->memory, (count + 1) * sizeof *list);
    bool *add = arena_alloc(&a->memory, count + 1);
    bool done = list != NULL && add != NULL;
    for (uint32_t i = 0; done && i < count; i++) {
        list[i].number = i;
        done = goes_on(a, &values[i]) && take_key(a, &values[i], &key, &list[i].key);
    }
    if (done)
        qsort(list, count, sizeof *list, wanted_compare);
    /* Of equal keys the first is kept, since the search below may find any of them. */
    uint32_t kept = 0;
    for (uint32_t i = 0; done && i < count; i++) {
        if (kept == 0 || key_compare(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    }
    for (uint32_t i = 0; done && i < at->count; i++) {
        wanted element;
        key.size = 0;
        done = goes_on(a, &at->children[i]->value) &&
               collation_key(a->update->collation, &a->collated[0], &key, &at->children[i]->value,
                             false);
        element.key = (doc_value){.data = key.data, .size = (uint32_t)key.size};
        wanted *same = done ? bsearch(&element, list, kept, sizeof *list, key_compare) : NULL;
        if (same != NULL)
            same->held = true;
    }
    tansu_buffer_free(&key);
    for (uint32_t i = 0; done && i < kept; i++)
        add[list[i].number] = !list[i].held;
    doc_value *fresh = done ? arena_alloc(&a->memory, (count + 1) * sizeof *fresh) : NULL;
    uint32_t fresh_count = 0;
    for (uint32_t i = 0; fresh != NULL && i < count; i++) {
        if (add[i])
            fresh[fresh_count++] = values[i];
    }
    return fresh != NULL && insert_values(a, at, at->count, fresh, fresh_count);
}

/* add_to_set -- inserts values that are missing. */
static tansu_status add_to_set(applying *a, const operation *o, item *at) {
    const array_change *change = o->array;
    bool few = change->count <= 4 && a->update->collation == NULL;
    bool done = few ? add_few(a, at, change->values, change->count)
                    : add_many(a, at, change->values, change->count);
    return done ? TANSU_OK : ended(a);
}

/* compare_values -- value_compare() for bsearch(). */
static int compare_values(const void *a, const void *b) {
    return value_compare(a, b);
}

/* is_pulled -- whether $pull or $pullAll removes an element. */
static tansu_status is_pulled(applying *a, const operation *o, const doc_value *element,
                              bool *pulled) {
    *pulled = false;
    if (!goes_on(a, element))
        return match_context_status(a->how->context, a->error);
    if (o->test != NULL) {
        *pulled = condition_holds(o->test, a->how->context, element);
        return match_context_status(a->how->context, a->error);
    }
    doc_value collated = *element;
    if (a->update->collation != NULL &&
        !collation_value(a->update->collation, &a->collated[0], element, &collated))
        return error_memory(a->error);
    if (o->kind == OPERATOR_PULL) {
        *pulled = value_compare(&collated, &o->operand) == 0;
        return TANSU_OK;
    }
    *pulled =
        bsearch(&collated, o->values, o->value_count, sizeof collated, compare_values) != NULL;
    return TANSU_OK;
}

/* pull -- removes elements. */
static tansu_status pull(applying *a, const operation *o, item *at) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        bool pulled;
        tansu_status status = is_pulled(a, o, &at->children[i]->value, &pulled);
        if (status != TANSU_OK)
            return status;
        if (!pulled)
            at->children[kept++] = at->children[i];
    }
    at->count = kept;
    return TANSU_OK;
}

/* pop -- removes the first or last element. */
static void pop(const operation *o, item *at) {
    int64_t end = 0;
    doc_as_int64(&o->operand, &end);
    if (at->count != 0)
        item_remove(at, end < 0 ? 0 : at->count - 1);
}

tansu_status array_apply(applying *a, const operation *o, item *at) {
    if (at->value.type != DOC_ARRAY)
        return bad_update(a->error, o,
                          "Value in the document is not an array; set it to one with \"$set\"");
    if (!item_open(&a->memory, at))
        return error_memory(a->error);
    switch (o->kind) {
    case OPERATOR_PUSH:
    case OPERATOR_PUSH_ALL: return push(a, o, at);
    case OPERATOR_ADD_TO_SET:
    case OPERATOR_ADD_TO_SET_ALL: return add_to_set(a, o, at);
    case OPERATOR_POP: pop(o, at); return TANSU_OK;
    default: return pull(a, o, at);
    }
}

/* ---- Array filters: the elements of `$[name]` ---- */

/*
 * A filter is evaluated as a query on a document with one field, which has the name of the filter and the element as its value.
 */

struct element_query {
    query *query;
    char name[64];
    size_t name_size;
};

/* filter_name -- the name that all paths of a filter must begin with; *size is 0 until one is
 * found. */
static tansu_status filter_name(const doc_value *filter, const char **name, size_t *size,
                                tansu_error *error) {
    doc_iter iter;
    doc_iter_value(&iter, filter);
    while (doc_iter_next(&iter)) {
        if (iter.key[0] == '$') {
            doc_iter branches;
            if (iter.value.type != DOC_ARRAY && iter.value.type != DOC_DOCUMENT)
                continue;
            if (iter.value.type == DOC_DOCUMENT) {
                tansu_status status = filter_name(&iter.value, name, size, error);
                if (status != TANSU_OK)
                    return status;
                continue;
            }
            doc_iter_value(&branches, &iter.value);
            while (doc_iter_next(&branches)) {
                if (branches.value.type != DOC_DOCUMENT)
                    continue;
                tansu_status status = filter_name(&branches.value, name, size, error);
                if (status != TANSU_OK)
                    return status;
            }
            continue;
        }
        size_t length = strcspn(iter.key, ".");
        if (*size != 0 && (*size != length || memcmp(*name, iter.key, length) != 0))
            return bad_context(
                error, "hints.$arrayFilters",
                "Array filter has paths of two elements, \"%.60s\" and \"%.60s\"; use one "
                "filter for each",
                *name, iter.key);
        *name = iter.key;
        *size = length;
    }
    return TANSU_OK;
}

/* write_collation -- hints with the collation of the update. */
static bool write_collation(const collation *c, tansu_buffer *hints) {
    writer w = {.out = hints};
    size_t start = writer_begin(&w);
    size_t names = writer_open(&w, "$collation", DOC_DOCUMENT);
    writer_bool(&w, "caseInsensitive", c != NULL && c->fold);
    writer_bool(&w, "numeric", c != NULL && c->numeric);
    writer_end(&w, names);
    writer_end(&w, start);
    return !w.failed;
}

/* read_filter -- parses an array filter. */
static tansu_status read_filter(update *u, const doc_value *filter, tansu_error *error) {
    if (filter->type != DOC_DOCUMENT)
        return bad_context(error, "hints.$arrayFilters", "Array filter must be a document");
    const char *name = NULL;
    size_t size = 0;
    tansu_status status = filter_name(filter, &name, &size, error);
    if (status != TANSU_OK)
        return status;
    element_query *q = arena_alloc(&u->memory, sizeof *q);
    array_filter *f = arena_alloc(&u->memory, sizeof *f);
    if (q == NULL || f == NULL)
        return error_memory(error);
    if (size == 0 || size >= sizeof q->name)
        return bad_context(
            error, "hints.$arrayFilters",
            "Array filter needs a name of 1 to 63 bytes, such as \"x\" in {\"x.price\": "
            "{\"$gt\": 5}} for the path \"items.$[x]\"");
    memcpy(q->name, name, size);
    q->name_size = size;
    if (filters_find(u, name, size) != NULL)
        return bad_context(error, "hints.$arrayFilters",
                           "Two array filters have the name \"%s\"; combine them with \"$and\"",
                           q->name);
    *f = (array_filter){.next = u->filters, .name = q->name, .name_size = size, .query = q};
    u->filters = f;
    tansu_buffer hints = TANSU_BUFFER_INIT;
    status = write_collation(u->collation, &hints)
                 ? query_compile_filter(filter->data, filter->size, hints.data, hints.size,
                                        &q->query, error)
                 : error_memory(error);
    tansu_buffer_free(&hints);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(error, "hints.$arrayFilters");
    return status;
}

tansu_status filters_read(update *u, const doc_value *filters, tansu_error *error) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (filters->type != DOC_ARRAY)
        return bad_context(error, "hints.$arrayFilters",
                           "\"$arrayFilters\" must be an array of documents");
    doc_iter_value(&iter, filters);
    for (uint32_t count = 0; status == TANSU_OK && doc_iter_next(&iter); count++)
        status = count < MAX_FILTERS
                     ? read_filter(u, &iter.value, error)
                     : bad_context(error, "hints.$arrayFilters",
                                   "\"$arrayFilters\" has more than %d filters; remove some",
                                   MAX_FILTERS);
    return status;
}

array_filter *filters_find(const update *u, const char *name, size_t size) {
    for (array_filter *f = u->filters; f != NULL; f = f->next) {
        if (f->name_size == size && memcmp(f->name, name, size) == 0)
            return f;
    }
    return NULL;
}

tansu_status filter_passes(const array_filter *filter, match_context *context,
                           const doc_value *element, bool *passes, tansu_error *error) {
    const element_query *q = filter->query;
    tansu_buffer doc = TANSU_BUFFER_INIT;
    writer w = {.out = &doc};
    size_t start = writer_begin(&w);
    writer_element(&w, q->name, q->name_size, element);
    writer_end(&w, start);
    if (!w.failed)
        *passes = query_matches(q->query, context, doc.data, doc.size);
    tansu_buffer_free(&doc);
    return w.failed ? error_memory(error) : match_context_status(context, error);
}

void filters_free(update *u) {
    for (array_filter *f = u->filters; f != NULL; f = f->next)
        query_free(f->query->query);
}
