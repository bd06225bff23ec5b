/*
 * support/model/update_model_check.c -- which statements are well-formed. See update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/update_model_internal.h"

#include <math.h>
#include <string.h>

/* is_whole -- an int32 or int64. */
static bool is_whole(const bson_iter_t *iter) {
    return BSON_ITER_HOLDS_INT32(iter) || BSON_ITER_HOLDS_INT64(iter);
}

/* is_one -- 1 or -1, of any type. */
static bool is_one(const bson_iter_t *iter) {
    return (BSON_ITER_HOLDS_NUMBER(iter) || BSON_ITER_HOLDS_DECIMAL128(iter)) &&
           fabs(model_number_double(iter)) == 1;
}

/* has_operator -- whether a value is a document with a key that begins with `$`. */
static bool has_operator(const bson_iter_t *operand) {
    bson_iter_t inner;
    bool has = false;
    if (!BSON_ITER_HOLDS_DOCUMENT(operand) || !bson_iter_recurse(operand, &inner))
        return false;
    while (bson_iter_next(&inner))
        has = has || bson_iter_key(&inner)[0] == '$';
    return has;
}

/* good_sort -- 1, -1, or paths with such. */
static bool good_sort(const bson_iter_t *operand) {
    bson_iter_t inner;
    bool any = false, good = true;
    if (!BSON_ITER_HOLDS_DOCUMENT(operand))
        return is_one(operand);
    REQUIRE(bson_iter_recurse(operand, &inner));
    while (bson_iter_next(&inner)) {
        place p;
        any = true;
        good = good && is_one(&inner) && model_path_split(bson_iter_key(&inner), &p);
    }
    return any && good;
}

/* good_each -- {$each: […]}, and with it what $push knows. */
static bool good_each(const bson_iter_t *operand, bool push) {
    bson_iter_t inner;
    bool each = false, good = true;
    REQUIRE(bson_iter_recurse(operand, &inner));
    while (bson_iter_next(&inner)) {
        const char *key = bson_iter_key(&inner);
        if (strcmp(key, "$each") == 0)
            each = BSON_ITER_HOLDS_ARRAY(&inner);
        else if (push && (strcmp(key, "$position") == 0 || strcmp(key, "$slice") == 0))
            good = good && is_whole(&inner);
        else if (push && strcmp(key, "$sort") == 0)
            good = good && good_sort(&inner);
        else
            good = false;
    }
    return each && good;
}

/* good_bits -- one or more of and, or, xor. */
static bool good_bits(const bson_iter_t *operand) {
    bson_iter_t inner;
    bool any = false, good = true;
    if (!BSON_ITER_HOLDS_DOCUMENT(operand) || !bson_iter_recurse(operand, &inner))
        return false;
    while (bson_iter_next(&inner)) {
        const char *key = bson_iter_key(&inner);
        any = true;
        good = good && is_whole(&inner) &&
               (strcmp(key, "and") == 0 || strcmp(key, "or") == 0 || strcmp(key, "xor") == 0);
    }
    return any && good;
}

/* good_date -- true or false, or {$type: "date" | "timestamp"}. */
static bool good_date(const bson_iter_t *operand) {
    bson_iter_t inner;
    if (BSON_ITER_HOLDS_BOOL(operand))
        return true;
    if (!BSON_ITER_HOLDS_DOCUMENT(operand) || !bson_iter_recurse(operand, &inner) ||
        !bson_iter_next(&inner) || strcmp(bson_iter_key(&inner), "$type") != 0 ||
        !BSON_ITER_HOLDS_UTF8(&inner))
        return false;
    const char *kind = bson_iter_utf8(&inner, NULL);
    return (strcmp(kind, "date") == 0 || strcmp(kind, "timestamp") == 0) && !bson_iter_next(&inner);
}

bool model_operand_is_good(const char *name, const bson_iter_t *operand) {
    static const char *const any[] = {"$set", "$unset", "$min", "$max", "$setOnInsert", "$pull"};
    place p;
    for (unsigned i = 0; i < sizeof any / sizeof *any; i++) {
        if (strcmp(name, any[i]) == 0)
            return true;
    }
    if (strcmp(name, "$inc") == 0 || strcmp(name, "$mul") == 0)
        return BSON_ITER_HOLDS_NUMBER(operand) || BSON_ITER_HOLDS_DECIMAL128(operand);
    if (strcmp(name, "$push") == 0 || strcmp(name, "$addToSet") == 0)
        return !has_operator(operand) || good_each(operand, name[1] == 'p');
    if (strcmp(name, "$pushAll") == 0 || strcmp(name, "$addToSetAll") == 0 ||
        strcmp(name, "$pullAll") == 0)
        return BSON_ITER_HOLDS_ARRAY(operand);
    if (strcmp(name, "$pop") == 0)
        return is_one(operand);
    if (strcmp(name, "$bit") == 0)
        return good_bits(operand);
    if (strcmp(name, "$currentDate") == 0)
        return good_date(operand);
    return strcmp(name, "$rename") == 0 && BSON_ITER_HOLDS_UTF8(operand) &&
           strchr(bson_iter_utf8(operand, NULL), '$') == NULL &&
           strcmp(bson_iter_utf8(operand, NULL), "_id") != 0 &&
           model_path_split(bson_iter_utf8(operand, NULL), &p);
}

/* is_named -- whether a part is `$[name]`, and its name the first part of a filter's key. */
static bool is_named(const char *part, const char *key) {
    size_t size = strlen(part);
    return size > 3 && strncmp(part, "$[", 2) == 0 && part[size - 1] == ']' &&
           strncmp(part + 2, key, size - 3) == 0 && (key[size - 3] == '\0' || key[size - 3] == '.');
}

/* filters_for -- how many array filters have the name that a part asks for. */
static unsigned filters_for(const char *part, const bson_t *filters) {
    bson_iter_t each, first;
    unsigned count = 0;
    if (filters == NULL)
        return 0;
    REQUIRE(bson_iter_init(&each, filters));
    while (bson_iter_next(&each)) {
        if (BSON_ITER_HOLDS_DOCUMENT(&each) && bson_iter_recurse(&each, &first) &&
            bson_iter_next(&first))
            count += is_named(part, bson_iter_key(&first));
    }
    return count;
}

/* good_path -- whether the parts are names, and positions in arrays where they may be. */
static bool good_path(const place *p, const char *operator_name, const bson_t *filters) {
    unsigned firsts = 0;
    for (unsigned i = 0; i < p->count; i++) {
        const char *part = p->parts[i];
        if (part[0] != '$')
            continue;
        firsts += strcmp(part, "$") == 0;
        if (i == 0 || firsts > 1 || strcmp(operator_name, "$rename") == 0)
            return false;
        if (strcmp(part, "$") != 0 && strcmp(part, "$[]") != 0 && filters_for(part, filters) != 1)
            return false;
    }
    return true;
}

/* is_used -- whether any path asks for the filter with this first key. */
static bool is_used(const char *key, const bson_t *operations) {
    bson_iter_t operators, field;
    place p;
    REQUIRE(bson_iter_init(&operators, operations));
    while (bson_iter_next(&operators)) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&operators))
            continue;
        REQUIRE(bson_iter_recurse(&operators, &field));
        while (bson_iter_next(&field)) {
            if (!model_path_split(bson_iter_key(&field), &p))
                continue;
            for (unsigned i = 0; i < p.count; i++) {
                if (is_named(p.parts[i], key))
                    return true;
            }
        }
    }
    return false;
}

/* good_filters -- whether each is a document about one name that a path asks for. */
static bool good_filters(const bson_t *filters, const bson_t *operations) {
    bson_iter_t each, first;
    if (filters == NULL)
        return true;
    REQUIRE(bson_iter_init(&each, filters));
    while (bson_iter_next(&each)) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&each) || !bson_iter_recurse(&each, &first) ||
            !bson_iter_next(&first) || !is_used(bson_iter_key(&first), operations))
            return false;
    }
    return true;
}

bool model_statement_is_good(const bson_t *operations, const bson_t *filters) {
    bson_iter_t operators, field;
    REQUIRE(bson_iter_init(&operators, operations));
    while (bson_iter_next(&operators)) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&operators))
            return false;
        REQUIRE(bson_iter_recurse(&operators, &field));
        while (bson_iter_next(&field)) {
            const char *name = bson_iter_key(&operators);
            place p;
            if (!model_path_split(bson_iter_key(&field), &p) ||
                !model_operand_is_good(name, &field) || !good_path(&p, name, filters))
                return false;
        }
    }
    return good_filters(filters, operations);
}
