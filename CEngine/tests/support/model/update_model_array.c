/*
 * support/model/update_model_array.c -- the operators on arrays. See update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/model/update_model_internal.h"

#include <stdlib.h>
#include <string.h>

/* modifier -- finds what stands with $each. */
static bool modifier(const bson_iter_t *operand, const char *name, bson_iter_t *result) {
    return BSON_ITER_HOLDS_DOCUMENT(operand) && bson_iter_recurse(operand, result) &&
           bson_iter_find(result, name);
}

/* values_of -- an array of what is to be put in: the values of $each, of an array, or the
 * operand. */
static value *values_of(const char *name, const bson_iter_t *operand) {
    bson_iter_t each;
    if (strcmp(name, "$pushAll") == 0 || strcmp(name, "$addToSetAll") == 0)
        return model_value_from(operand);
    if (modifier(operand, "$each", &each))
        return model_value_from(&each);
    value *list = model_value_new(BSON_TYPE_ARRAY);
    model_value_insert(list, 0, model_value_from(operand));
    return list;
}

/* append_collation -- that of other hints. */
static void append_collation(bson_t *hints, const bson_t *from) {
    bson_iter_t collation;
    if (from != NULL && bson_iter_init_find(&collation, from, "$collation"))
        bson_append_iter(hints, "$collation", -1, &collation);
}

/* sort_whole -- by the elements as they are. */
static void sort_whole(value *list, int64_t direction, const bson_t *in) {
    for (unsigned i = 1; i < list->count; i++) {
        for (unsigned k = i; k > 0; k--) {
            value *a = list->children[k - 1], *b = list->children[k];
            if (model_value_compare(a, b, in) * direction <= 0)
                break;
            list->children[k - 1] = b;
            list->children[k] = a;
        }
    }
}

/* sort_by_paths -- as $orderby sorts documents; what is none has no fields. */
static void sort_by_paths(value *list, const bson_iter_t *order, const bson_t *in) {
    bson_t **docs = bson_malloc0((list->count + 1) * sizeof(bson_t *));
    size_t *places = bson_malloc0((list->count + 1) * sizeof *places);
    value **sorted = bson_malloc0((list->count + 1) * sizeof(value *));
    bson_t hints = BSON_INITIALIZER, all = BSON_INITIALIZER;
    bson_append_iter(&hints, "$orderby", -1, order);
    append_collation(&hints, in);
    for (unsigned i = 0; i < list->count; i++)
        docs[i] = list->children[i]->type == BSON_TYPE_DOCUMENT
                      ? model_value_document(list->children[i])
                      : bson_new();
    REQUIRE(model_find(docs, list->count, &all, &hints, places) == list->count);
    for (unsigned i = 0; i < list->count; i++)
        sorted[i] = list->children[places[i]];
    for (unsigned i = 0; i < list->count; i++) {
        list->children[i] = sorted[i];
        bson_destroy(docs[i]);
    }
    bson_destroy(&hints);
    bson_destroy(&all);
    bson_free(docs);
    bson_free(places);
    bson_free(sorted);
}

/* push -- puts in, then sorts, then cuts. */
static void push(value *v, const char *name, const bson_iter_t *operand, const bson_t *in) {
    value *values = values_of(name, operand);
    int64_t position = v->count;
    bson_iter_t beside;
    if (modifier(operand, "$position", &beside)) {
        int64_t count = v->count;
        position = bson_iter_as_int64(&beside);
        if (position < 0)
            position = position + count < 0 ? 0 : position + count;
        if (position > count)
            position = count;
    }
    while (values->count != 0)
        model_value_insert(v, (unsigned)position++, model_value_take(values, 0));
    model_value_free(values);
    if (modifier(operand, "$sort", &beside)) {
        if (BSON_ITER_HOLDS_DOCUMENT(&beside))
            sort_by_paths(v, &beside, in);
        else
            sort_whole(v, model_number_double(&beside) < 0 ? -1 : 1, in);
    }
    if (modifier(operand, "$slice", &beside)) {
        int64_t slice = bson_iter_as_int64(&beside);
        while ((int64_t)v->count > llabs(slice))
            model_value_free(model_value_take(v, slice < 0 ? 0 : v->count - 1));
    }
}

/* is_among -- whether an array has an element that is equal. */
static bool is_among(const value *list, const value *v, const bson_t *in) {
    for (unsigned i = 0; i < list->count; i++) {
        if (model_value_compare(list->children[i], v, in) == 0)
            return true;
    }
    return false;
}

/* add_to_set -- each value that is not there. */
static void add_to_set(value *v, const char *name, const bson_iter_t *operand, const bson_t *in) {
    value *values = values_of(name, operand);
    while (values->count != 0) {
        value *one = model_value_take(values, 0);
        if (is_among(v, one, in))
            model_value_free(one);
        else
            model_value_insert(v, v->count, one);
    }
    model_value_free(values);
}

/* meets -- whether an element meets the condition of $pull: operators ask it like the value of a
 * field, a query on fields asks it when it is a document. */
static bool meets(const value *element, const bson_iter_t *condition, const bson_t *hints) {
    bson_t only = BSON_INITIALIZER, doc = BSON_INITIALIZER, query = BSON_INITIALIZER, fields;
    bson_t *docs[1] = {&doc};
    bson_iter_t first;
    const uint8_t *data;
    uint32_t size;
    size_t hit;
    model_value_append(element, "e", &doc);
    append_collation(&only, hints);
    REQUIRE(bson_iter_recurse(condition, &first));
    bool operators = bson_iter_next(&first) && bson_iter_key(&first)[0] == '$';
    if (operators) {
        bson_append_iter(&query, "e", 1, condition);
    } else {
        bson_iter_document(condition, &size, &data);
        REQUIRE(bson_init_static(&fields, data, size));
        model_compare_whole(&fields, "e.", &query);
    }
    bool result = (operators || element->type == BSON_TYPE_DOCUMENT) &&
                  model_find(docs, 1, &query, &only, &hit) == 1;
    bson_destroy(&only);
    bson_destroy(&doc);
    bson_destroy(&query);
    return result;
}

/* pull -- takes elements out. */
static void pull(value *v, const char *name, const bson_iter_t *operand,
                 const update_model_case *c) {
    value *given = model_value_from(operand);
    for (unsigned i = v->count; i-- > 0;) {
        const value *element = v->children[i];
        bool pulled = strcmp(name, "$pullAll") == 0 ? is_among(given, element, c->hints)
                      : given->type == BSON_TYPE_DOCUMENT
                          ? meets(element, operand, c->hints)
                          : model_value_compare(element, given, c->hints) == 0;
        if (pulled)
            model_value_free(model_value_take(v, i));
    }
    model_value_free(given);
}

void model_array_apply(value *v, const char *name, const bson_iter_t *operand,
                       const update_model_case *c) {
    if (strncmp(name, "$push", 5) == 0)
        push(v, name, operand, c->hints);
    else if (strncmp(name, "$addToSet", 9) == 0)
        add_to_set(v, name, operand, c->hints);
    else if (strncmp(name, "$pull", 5) == 0)
        pull(v, name, operand, c);
    else if (v->count != 0)
        model_value_free(model_value_take(v, model_number_double(operand) < 0 ? 0 : v->count - 1));
}
