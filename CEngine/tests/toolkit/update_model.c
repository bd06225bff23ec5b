/*
 * toolkit/update_model.c -- see update_model.h.
 */
#include "update_model.h"
#include "check.h"
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHILDREN 200
#define MAX_PARTS 8
#define MAX_PLACES 400

/* A value: of a document or array its children, of anything else a bson_t with the one field "v". */
typedef struct value {
    char key[24];
    bson_type_t type;
    bson_t *scalar;
    struct value *children[MAX_CHILDREN];
    unsigned count;
} value;

typedef struct place {
    char parts[MAX_PARTS][24];
    unsigned count;
    bson_iter_t operand;
    const char *operator_name;
    bool source; /* what $rename takes away */
} place;

/* ---- Values ---- */

static void value_free(value *v) {
    if (v == NULL)
        return;
    for (unsigned i = 0; i < v->count; i++)
        value_free(v->children[i]);
    if (v->scalar != NULL)
        bson_destroy(v->scalar);
    free(v);
}

static value *value_new(bson_type_t type) {
    value *v = calloc(1, sizeof *v);
    REQUIRE(v != NULL);
    v->type = type;
    return v;
}

static bool is_list(const value *v) {
    return v->type == BSON_TYPE_DOCUMENT || v->type == BSON_TYPE_ARRAY;
}

static value *value_from(const bson_iter_t *iter) {
    value *v = value_new(bson_iter_type(iter));
    bson_iter_t child;
    if (!is_list(v)) {
        v->scalar = bson_new();
        bson_append_iter(v->scalar, "v", 1, iter);
        return v;
    }
    REQUIRE(bson_iter_recurse(iter, &child));
    while (bson_iter_next(&child)) {
        REQUIRE(v->count < MAX_CHILDREN);
        v->children[v->count] = value_from(&child);
        strncpy(v->children[v->count]->key, bson_iter_key(&child), sizeof v->key - 1);
        v->count++;
    }
    return v;
}

static void value_append(const value *v, const char *key, bson_t *doc);

static void append_children(const value *v, bson_t *doc) {
    for (unsigned i = 0; i < v->count; i++) {
        char number[12];
        snprintf(number, sizeof number, "%u", i);
        value_append(v->children[i], v->type == BSON_TYPE_ARRAY ? number : v->children[i]->key,
                     doc);
    }
}

static void value_append(const value *v, const char *key, bson_t *doc) {
    bson_t inner;
    bson_iter_t iter;
    if (v->type == BSON_TYPE_DOCUMENT) {
        bson_append_document_begin(doc, key, -1, &inner);
        append_children(v, &inner);
        bson_append_document_end(doc, &inner);
    } else if (v->type == BSON_TYPE_ARRAY) {
        bson_append_array_begin(doc, key, -1, &inner);
        append_children(v, &inner);
        bson_append_array_end(doc, &inner);
    } else {
        REQUIRE(bson_iter_init_find(&iter, v->scalar, "v"));
        bson_append_iter(doc, key, -1, &iter);
    }
}

static int compare(const value *a, const value *b) {
    bson_t pair = BSON_INITIALIZER;
    bson_iter_t left, right;
    value_append(a, "a", &pair);
    value_append(b, "b", &pair);
    REQUIRE(bson_iter_init_find(&left, &pair, "a") && bson_iter_init_find(&right, &pair, "b"));
    int order = model_compare(&left, &right);
    bson_destroy(&pair);
    return order;
}

/* become -- takes over another value, whose shell goes. */
static void become(value *v, value *other) {
    char key[24];
    memcpy(key, v->key, sizeof key);
    for (unsigned i = 0; i < v->count; i++)
        value_free(v->children[i]);
    if (v->scalar != NULL)
        bson_destroy(v->scalar);
    *v = *other;
    memcpy(v->key, key, sizeof key);
    free(other);
}

static value *null_new(void) {
    value *v = value_new(BSON_TYPE_NULL);
    v->scalar = bson_new();
    bson_append_null(v->scalar, "v", 1);
    return v;
}

static void list_insert(value *list, unsigned at, value *v) {
    REQUIRE(list->count < MAX_CHILDREN && at <= list->count);
    memmove(list->children + at + 1, list->children + at,
            (list->count - at) * sizeof *list->children);
    list->children[at] = v;
    list->count++;
}

static void list_remove(value *list, unsigned at) {
    value_free(list->children[at]);
    list->count--;
    memmove(list->children + at, list->children + at + 1,
            (list->count - at) * sizeof *list->children);
}

/* ---- Places ---- */

static long number_of(const char *part) {
    char *end;
    if (*part < '0' || *part > '9' || (*part == '0' && part[1] != '\0'))
        return -1;
    long number = strtol(part, &end, 10);
    return *end == '\0' ? number : -1;
}

static int place_compare(const place *a, const place *b) {
    for (unsigned i = 0; i < a->count && i < b->count; i++) {
        long x = number_of(a->parts[i]), y = number_of(b->parts[i]);
        int order = strcmp(a->parts[i], b->parts[i]);
        if (x >= 0 && y >= 0)
            order = x < y ? -1 : x > y;
        else if (x >= 0 || y >= 0)
            order = x >= 0 ? -1 : 1;
        if (order != 0)
            return order;
    }
    return (int)a->count - (int)b->count;
}

static bool within(const place *inner, const place *outer) {
    if (inner->count < outer->count)
        return false;
    for (unsigned i = 0; i < outer->count; i++) {
        if (strcmp(inner->parts[i], outer->parts[i]) != 0)
            return false;
    }
    return true;
}

/* conflicts -- whether any two are in each other's way. */
static bool conflicts(const place *places, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < count; k++) {
            if (i != k && within(&places[i], &places[k]))
                return true;
        }
    }
    return false;
}

static void split(const char *path, place *p) {
    char copy[200];
    snprintf(copy, sizeof copy, "%s", path);
    p->count = 0;
    for (char *part = copy, *next; part != NULL; part = next) {
        next = strchr(part, '.');
        if (next != NULL)
            *next++ = '\0';
        REQUIRE(p->count < MAX_PARTS);
        snprintf(p->parts[p->count++], sizeof p->parts[0], "%.23s", part);
    }
}

static value *child_of(const value *v, const char *part, unsigned *at) {
    for (*at = 0; *at < v->count; ++*at) {
        if (v->type == BSON_TYPE_ARRAY ? number_of(part) == (long)*at
                                       : strcmp(v->children[*at]->key, part) == 0)
            return v->children[*at];
    }
    return NULL;
}

/* expand -- a place for each element where there is `$[]`. False when there is no array. */
static bool expand(const place *p, unsigned depth, const value *at, place *places,
                   unsigned *count) {
    unsigned i;
    while (depth < p->count && strcmp(p->parts[depth], "$[]") != 0) {
        bool more = false;
        for (i = depth; i < p->count; i++)
            more = more || strcmp(p->parts[i], "$[]") == 0;
        if (!more)
            break;
        at = at != NULL && is_list(at) ? child_of(at, p->parts[depth], &i) : NULL;
        depth++;
    }
    if (depth == p->count || strcmp(p->parts[depth], "$[]") != 0) {
        REQUIRE(*count < MAX_PLACES);
        places[(*count)++] = *p;
        return true;
    }
    if (at == NULL || at->type != BSON_TYPE_ARRAY)
        return false;
    for (i = 0; i < at->count; i++) {
        place concrete = *p;
        snprintf(concrete.parts[depth], sizeof concrete.parts[0], "%u", i);
        if (!expand(&concrete, depth + 1, at->children[i], places, count))
            return false;
    }
    return true;
}

/* find -- the value at a place, making it when asked to. False: something is in the way. */
static bool find(value *root, const place *p, bool make, value **parent, unsigned *at,
                 value **result) {
    *result = root;
    for (unsigned i = 0; i < p->count; i++) {
        value *v = *result;
        long number = number_of(p->parts[i]);
        *parent = v;
        *result = NULL;
        if (v->type != BSON_TYPE_DOCUMENT && (v->type != BSON_TYPE_ARRAY || number < 0))
            return false;
        value *child = child_of(v, p->parts[i], at);
        if (child == NULL && !make)
            return true;
        if (child == NULL) {
            while (v->type == BSON_TYPE_ARRAY && (long)v->count < number)
                list_insert(v, v->count, null_new());
            child = i + 1 < p->count ? value_new(BSON_TYPE_DOCUMENT) : value_new(BSON_TYPE_EOD);
            strcpy(child->key, p->parts[i]);
            list_insert(v, v->count, child);
        }
        *result = child;
    }
    return true;
}

/* ---- Operators ---- */

static value *scalar_new(const bson_t *doc) {
    bson_iter_t iter;
    REQUIRE(bson_iter_init_find(&iter, doc, "v"));
    return value_from(&iter);
}

static bool calculate(value *v, const bson_iter_t *operand, bool add) {
    bson_iter_t own;
    bson_t result = BSON_INITIALIZER;
    bool done = true;
    if (v->type == BSON_TYPE_EOD) {
        if (add) {
            become(v, value_from(operand));
        } else {
            if (bson_iter_type(operand) == BSON_TYPE_INT32)
                bson_append_int32(&result, "v", 1, 0);
            else if (bson_iter_type(operand) == BSON_TYPE_INT64)
                bson_append_int64(&result, "v", 1, 0);
            else
                bson_append_double(&result, "v", 1, 0);
            become(v, scalar_new(&result));
        }
        bson_destroy(&result);
        return true;
    }
    if (v->scalar == NULL || !bson_iter_init_find(&own, v->scalar, "v") ||
        !BSON_ITER_HOLDS_NUMBER(&own))
        return false;
    if (BSON_ITER_HOLDS_DOUBLE(&own) || BSON_ITER_HOLDS_DOUBLE(operand)) {
        double x = bson_iter_as_double(&own), y = bson_iter_as_double(operand);
        bson_append_double(&result, "v", 1, add ? x + y : x * y);
        /* Random whole numbers here are small, or at the ends of int64, which no double holds. */
        done = (BSON_ITER_HOLDS_DOUBLE(&own) || fabs(x) < 9e15) &&
               (BSON_ITER_HOLDS_DOUBLE(operand) || fabs(y) < 9e15);
    } else {
        __int128 x = bson_iter_as_int64(&own), y = bson_iter_as_int64(operand);
        __int128 z = add ? x + y : x * y;
        done = z >= INT64_MIN && z <= INT64_MAX;
        if (BSON_ITER_HOLDS_INT32(&own) && BSON_ITER_HOLDS_INT32(operand) && z >= INT32_MIN &&
            z <= INT32_MAX)
            bson_append_int32(&result, "v", 1, (int32_t)z);
        else
            bson_append_int64(&result, "v", 1, (int64_t)z);
    }
    if (done)
        become(v, scalar_new(&result));
    bson_destroy(&result);
    return done;
}

static bool combine_bits(value *v, const bson_iter_t *operand) {
    bson_iter_t own, mask;
    int64_t bits = 0;
    bool wide = v->type == BSON_TYPE_INT64;
    if (v->type != BSON_TYPE_EOD) {
        if ((v->type != BSON_TYPE_INT32 && !wide) || !bson_iter_init_find(&own, v->scalar, "v"))
            return false;
        bits = bson_iter_as_int64(&own);
    }
    REQUIRE(bson_iter_recurse(operand, &mask) && bson_iter_next(&mask));
    int64_t other = bson_iter_as_int64(&mask);
    const char *how = bson_iter_key(&mask);
    bits = strcmp(how, "and") == 0  ? bits & other
           : strcmp(how, "or") == 0 ? bits | other
                                    : bits ^ other;
    bson_t result = BSON_INITIALIZER;
    if (wide)
        bson_append_int64(&result, "v", 1, bits);
    else
        bson_append_int32(&result, "v", 1, (int32_t)bits);
    become(v, scalar_new(&result));
    bson_destroy(&result);
    return true;
}

/* modifier -- a whole number beside $each. */
static bool modifier(const bson_iter_t *operand, const char *name, int64_t *result) {
    bson_iter_t inner;
    if (!BSON_ITER_HOLDS_DOCUMENT(operand) || !bson_iter_recurse(operand, &inner) ||
        !bson_iter_find(&inner, name))
        return false;
    *result = bson_iter_as_int64(&inner);
    return true;
}

/* values_of -- what is to be put in: the values of $each, or the operand. */
static unsigned values_of(const bson_iter_t *operand, value **values) {
    bson_iter_t inner;
    if (BSON_ITER_HOLDS_DOCUMENT(operand) && bson_iter_recurse(operand, &inner) &&
        bson_iter_find(&inner, "$each")) {
        value *all = value_from(&inner);
        unsigned count = all->count;
        memcpy(values, all->children, count * sizeof *values);
        all->count = 0;
        value_free(all);
        return count;
    }
    values[0] = value_from(operand);
    return 1;
}

static void sort(value *list, int64_t direction) {
    for (unsigned i = 1; i < list->count; i++) {
        for (unsigned k = i; k > 0; k--) {
            value *a = list->children[k - 1], *b = list->children[k];
            if (compare(a, b) * direction <= 0)
                break;
            list->children[k - 1] = b;
            list->children[k] = a;
        }
    }
}

static void push(value *v, const bson_iter_t *operand) {
    value *values[MAX_CHILDREN];
    unsigned count = values_of(operand, values);
    int64_t position = v->count, slice, direction;
    if (modifier(operand, "$position", &position)) {
        if (position < 0)
            position = position + (int64_t)v->count < 0 ? 0 : position + (int64_t)v->count;
        if (position > (int64_t)v->count)
            position = v->count;
    }
    for (unsigned i = 0; i < count; i++)
        list_insert(v, (unsigned)position + i, values[i]);
    if (modifier(operand, "$sort", &direction))
        sort(v, direction);
    if (modifier(operand, "$slice", &slice)) {
        while ((int64_t)v->count > llabs(slice))
            list_remove(v, slice < 0 ? 0 : v->count - 1);
    }
}

static void add_to_set(value *v, const bson_iter_t *operand) {
    value *values[MAX_CHILDREN];
    unsigned count = values_of(operand, values);
    for (unsigned i = 0; i < count; i++) {
        bool there = false;
        for (unsigned k = 0; k < v->count; k++)
            there = there || compare(v->children[k], values[i]) == 0;
        if (there)
            value_free(values[i]);
        else
            list_insert(v, v->count, values[i]);
    }
}

static void pull(value *v, const bson_iter_t *operand, bool all) {
    value *given = value_from(operand);
    for (unsigned i = v->count; i-- > 0;) {
        bool pulled = !all && compare(v->children[i], given) == 0;
        for (unsigned k = 0; all && k < given->count; k++)
            pulled = pulled || compare(v->children[i], given->children[k]) == 0;
        if (pulled)
            list_remove(v, i);
    }
    value_free(given);
}

static bool rename_field(value *root, const place *to) {
    place from = {.count = 0};
    value *parent = NULL, *v, *target, *target_parent = NULL;
    unsigned at, target_at;
    split(bson_iter_key(&to->operand), &from);
    if (!find(root, &from, false, &parent, &at, &v))
        return false;
    if (v == NULL)
        return true;
    if (!find(root, to, false, &target_parent, &target_at, &target))
        return false;
    /* Neither may lead through an array. */
    for (unsigned turn = 0; turn < 2; turn++) {
        const place *p = turn == 0 ? &from : to;
        value *step = root;
        for (unsigned i = 0; i < p->count && step != NULL; i++) {
            unsigned ignored;
            if (step->type == BSON_TYPE_ARRAY)
                return false;
            step = is_list(step) ? child_of(step, p->parts[i], &ignored) : NULL;
        }
    }
    memmove(parent->children + at, parent->children + at + 1,
            (parent->count - at - 1) * sizeof *parent->children);
    parent->count--;
    REQUIRE(find(root, to, true, &target_parent, &target_at, &target));
    become(target, v);
    return true;
}

static bool apply(value *root, const place *p) {
    const char *name = p->operator_name;
    value *parent = NULL, *v = NULL;
    unsigned at = 0;
    if (p->source)
        return true;
    if (strcmp(name, "$rename") == 0)
        return rename_field(root, p);
    if (strcmp(name, "$unset") == 0) {
        if (!find(root, p, false, &parent, &at, &v) || v == NULL)
            return true;
        if (parent->type == BSON_TYPE_ARRAY)
            become(v, null_new());
        else
            list_remove(parent, at);
        return true;
    }
    bool takes = strncmp(name, "$pull", 5) == 0 || strcmp(name, "$pop") == 0;
    if (!find(root, p, !takes, &parent, &at, &v))
        return false;
    if (v == NULL)
        return true;
    if (strcmp(name, "$inc") == 0 || strcmp(name, "$mul") == 0)
        return calculate(v, &p->operand, name[1] == 'i');
    if (strcmp(name, "$bit") == 0)
        return combine_bits(v, &p->operand);
    if (strcmp(name, "$set") == 0 || strcmp(name, "$min") == 0 || strcmp(name, "$max") == 0) {
        value *given = value_from(&p->operand);
        int order = v->type == BSON_TYPE_EOD || name[1] == 's' ? 0 : compare(given, v);
        bool takes_place =
            v->type == BSON_TYPE_EOD || name[1] == 's' || (name[2] == 'i' ? order < 0 : order > 0);
        if (takes_place)
            become(v, given);
        else
            value_free(given);
        return true;
    }
    if (v->type == BSON_TYPE_EOD)
        v->type = BSON_TYPE_ARRAY;
    if (v->type != BSON_TYPE_ARRAY)
        return false;
    if (strcmp(name, "$push") == 0)
        push(v, &p->operand);
    else if (strcmp(name, "$addToSet") == 0)
        add_to_set(v, &p->operand);
    else if (strcmp(name, "$pop") != 0)
        pull(v, &p->operand, strcmp(name, "$pullAll") == 0);
    else if (v->count != 0)
        list_remove(v, bson_iter_as_int64(&p->operand) < 0 ? 0 : v->count - 1);
    return true;
}

/* ---- All of it ---- */

/* read_places -- the places as they are written, and (for `root`) as they are in the document. */
static bool read_places(const bson_t *operations, const value *root, place *places,
                        unsigned *count) {
    bson_iter_t operators, field;
    REQUIRE(bson_iter_init(&operators, operations));
    while (bson_iter_next(&operators)) {
        REQUIRE(bson_iter_recurse(&operators, &field));
        while (bson_iter_next(&field)) {
            place p = {.operand = field, .operator_name = bson_iter_key(&operators)};
            split(bson_iter_key(&field), &p);
            if (strcmp(p.operator_name, "$rename") == 0) {
                p.source = true;
                places[(*count)++] = p;
                p.source = false;
                split(bson_iter_utf8(&field, NULL), &p);
            }
            if (root == NULL)
                places[(*count)++] = p;
            else if (!expand(&p, 0, root, places, count))
                return false;
        }
    }
    return true;
}

bson_t *update_model(const bson_t *doc, const bson_t *operations) {
    static place places[MAX_PLACES];
    unsigned count = 0;
    bson_t wrapped = BSON_INITIALIZER;
    bson_iter_t iter;
    bson_append_document(&wrapped, "d", 1, doc);
    REQUIRE(bson_iter_init_find(&iter, &wrapped, "d"));
    value *root = value_from(&iter);
    bool done = read_places(operations, NULL, places, &count) && !conflicts(places, count);
    count = 0;
    done = done && read_places(operations, root, places, &count) && !conflicts(places, count);
    for (unsigned i = 1; done && i < count; i++) {
        for (unsigned k = i; k > 0 && place_compare(&places[k - 1], &places[k]) > 0; k--) {
            place swap = places[k];
            places[k] = places[k - 1];
            places[k - 1] = swap;
        }
    }
    for (unsigned i = 0; done && i < count; i++)
        done = apply(root, &places[i]);
    bson_t *result = done ? bson_new() : NULL;
    if (done)
        append_children(root, result);
    value_free(root);
    bson_destroy(&wrapped);
    return result;
}
