/*
 * support/model/query_model.c -- evaluates a query on one document, with libbson.
 */
#include "support/model/query_model_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Order of values ---- */

/* kind_of -- the rank of a type in rule 8. */
static int kind_of(const bson_iter_t *value) {
    switch (value ? bson_iter_type(value) : BSON_TYPE_NULL) {
    case BSON_TYPE_MINKEY: return 0;
    case BSON_TYPE_NULL:
    case BSON_TYPE_UNDEFINED: return 1;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_DECIMAL128: return 2;
    case BSON_TYPE_UTF8:
    case BSON_TYPE_SYMBOL: return 3;
    case BSON_TYPE_DOCUMENT: return 4;
    case BSON_TYPE_ARRAY: return 5;
    case BSON_TYPE_BINARY: return 6;
    case BSON_TYPE_OID: return 7;
    case BSON_TYPE_BOOL: return 8;
    case BSON_TYPE_DATE_TIME: return 9;
    case BSON_TYPE_TIMESTAMP: return 10;
    case BSON_TYPE_REGEX: return 11;
    case BSON_TYPE_DBPOINTER: return 12;
    case BSON_TYPE_CODE: return 13;
    case BSON_TYPE_CODEWSCOPE: return 14;
    default: return 20;
    }
}

/* A number in two exact parts. */
typedef struct number {
    int rank; /* NaN, -infinity, finite, infinity */
    int64_t whole;
    double rest; /* 0 to below 1 */
} number;

/* split -- takes a number apart. */
static number split(const bson_iter_t *value) {
    double real = 0;
    if (BSON_ITER_HOLDS_INT32(value))
        return (number){2, bson_iter_int32(value), 0};
    if (BSON_ITER_HOLDS_INT64(value))
        return (number){2, bson_iter_int64(value), 0};
    if (BSON_ITER_HOLDS_DOUBLE(value)) {
        real = bson_iter_double(value);
    } else {
        bson_decimal128_t decimal;
        char text[BSON_DECIMAL128_STRING];
        bson_iter_decimal128(value, &decimal);
        bson_decimal128_to_string(&decimal, text);
        real = strtod(text, NULL);
    }
    if (isnan(real))
        return (number){0, 0, 0};
    if (isinf(real))
        return (number){real < 0 ? 1 : 3, 0, 0};
    return (number){2, (int64_t)floor(real), real - floor(real)};
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* compare_numbers -- by exact value. */
static int compare_numbers(const bson_iter_t *a, const bson_iter_t *b) {
    number x = split(a), y = split(b);
    if (x.rank != y.rank || x.rank != 2)
        return ORDER(x.rank, y.rank);
    return x.whole != y.whole ? ORDER(x.whole, y.whole) : ORDER(x.rest, y.rest);
}

/* compare_bytes -- by bytes, then by length. */
static int compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size) {
    size_t least = a_size < b_size ? a_size : b_size;
    int order = least == 0 ? 0 : memcmp(a, b, least);
    return order != 0 ? order : ORDER(a_size, b_size);
}

/* text_of -- the bytes of a string or symbol. */
static const char *text_of(const bson_iter_t *value, uint32_t *size) {
    return BSON_ITER_HOLDS_SYMBOL(value) ? bson_iter_symbol(value, size)
                                         : bson_iter_utf8(value, size);
}

/* compare_inside -- element by element; keys count in documents only. */
static int compare_inside(const bson_iter_t *a, const bson_iter_t *b, bool keys) {
    bson_iter_t x, y;
    bson_iter_recurse(a, &x);
    bson_iter_recurse(b, &y);
    for (;;) {
        bool more_x = bson_iter_next(&x), more_y = bson_iter_next(&y);
        if (!more_x || !more_y)
            return (int)more_x - (int)more_y;
        int order = ORDER(kind_of(&x), kind_of(&y));
        if (order == 0 && keys)
            order = strcmp(bson_iter_key(&x), bson_iter_key(&y));
        if (order == 0)
            order = model_compare(&x, &y);
        if (order != 0)
            return order;
    }
}

/* compare_binary -- by length, subtype, bytes. */
static int compare_binary(const bson_iter_t *a, const bson_iter_t *b) {
    bson_subtype_t a_type, b_type;
    uint32_t a_size, b_size;
    const uint8_t *x, *y;
    bson_iter_binary(a, &a_type, &a_size, &x);
    bson_iter_binary(b, &b_type, &b_size, &y);
    if (a_size != b_size)
        return ORDER(a_size, b_size);
    return a_type != b_type ? ORDER(a_type, b_type) : compare_bytes(x, a_size, y, b_size);
}

/* compare_pointers -- by collection, then id. */
static int compare_pointers(const bson_iter_t *a, const bson_iter_t *b) {
    uint32_t a_size, b_size;
    const char *x, *y;
    const bson_oid_t *a_oid, *b_oid;
    bson_iter_dbpointer(a, &a_size, &x, &a_oid);
    bson_iter_dbpointer(b, &b_size, &y, &b_oid);
    int order = compare_bytes(x, a_size, y, b_size);
    return order != 0 ? order : memcmp(a_oid, b_oid, 12);
}

/* compare_code -- by text, then by scope, where a code without one stands by itself. */
static int compare_code(const bson_iter_t *a, const bson_iter_t *b) {
    uint32_t a_size, b_size, a_more, b_more;
    const uint8_t *a_scope, *b_scope;
    if (BSON_ITER_HOLDS_CODE(a)) {
        const char *x = bson_iter_code(a, &a_size), *y = bson_iter_code(b, &b_size);
        return compare_bytes(x, a_size, y, b_size);
    }
    const char *x = bson_iter_codewscope(a, &a_size, &a_more, &a_scope);
    const char *y = bson_iter_codewscope(b, &b_size, &b_more, &b_scope);
    int order = compare_bytes(x, a_size, y, b_size);
    if (order != 0)
        return order;
    bson_t x_holder = BSON_INITIALIZER, y_holder = BSON_INITIALIZER, scope;
    bson_iter_t x_scope, y_scope;
    bson_init_static(&scope, a_scope, a_more);
    bson_append_document(&x_holder, "v", 1, &scope);
    bson_init_static(&scope, b_scope, b_more);
    bson_append_document(&y_holder, "v", 1, &scope);
    bson_iter_init_find(&x_scope, &x_holder, "v");
    bson_iter_init_find(&y_scope, &y_holder, "v");
    order = compare_inside(&x_scope, &y_scope, true);
    bson_destroy(&x_holder);
    bson_destroy(&y_holder);
    return order;
}

int model_compare(const bson_iter_t *a, const bson_iter_t *b) {
    int kind = kind_of(a);
    if (kind != kind_of(b))
        return ORDER(kind, kind_of(b));
    uint32_t a_size, b_size, a_more, b_more;
    switch (kind) {
    case 2: return compare_numbers(a, b);
    case 3: {
        const char *x = text_of(a, &a_size), *y = text_of(b, &b_size);
        return model_order_texts(x, a_size, y, b_size);
    }
    case 4: return compare_inside(a, b, true);
    case 5: return compare_inside(a, b, false);
    case 6: return compare_binary(a, b);
    case 7: return memcmp(bson_iter_oid(a), bson_iter_oid(b), 12);
    case 8: return (int)bson_iter_bool(a) - (int)bson_iter_bool(b);
    case 9: return ORDER(bson_iter_date_time(a), bson_iter_date_time(b));
    case 10:
        bson_iter_timestamp(a, &a_size, &a_more);
        bson_iter_timestamp(b, &b_size, &b_more);
        return a_size != b_size ? ORDER(a_size, b_size) : ORDER(a_more, b_more);
    case 11: {
        const char *x, *y;
        int order = strcmp(bson_iter_regex(a, &x), bson_iter_regex(b, &y));
        return order != 0 ? order : strcmp(x, y);
    }
    case 12: return compare_pointers(a, b);
    case 13:
    case 14: return compare_code(a, b);
    default: return 0;
    }
}

/* ---- Matching ---- */

/* is_nan -- of either type that has one. */
static bool is_nan(const bson_iter_t *value) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (!value)
        return false;
    if (BSON_ITER_HOLDS_DOUBLE(value))
        return isnan(bson_iter_double(value));
    if (!bson_iter_decimal128(value, &decimal))
        return false;
    bson_decimal128_to_string(&decimal, text);
    return strcmp(text, "NaN") == 0;
}

bool model_passes(const bson_iter_t *value, const char *op, const bson_iter_t *operand) {
    if (strcmp(op, "$in") == 0) {
        bson_iter_t each;
        bson_iter_recurse(operand, &each);
        while (bson_iter_next(&each)) {
            if (BSON_ITER_HOLDS_REGEX(&each) ? model_passes(value, "$regex", &each)
                                             : model_compare(value, &each) == 0)
                return true;
        }
        return false;
    }
    bool known, special = model_special(value, op, operand, &known);
    if (known)
        return special;
    if (kind_of(value) != kind_of(operand))
        return (BSON_ITER_HOLDS_MINKEY(operand) && op[1] == 'g') ||
               (BSON_ITER_HOLDS_MAXKEY(operand) && op[1] == 'l');
    int order = model_compare(value, operand);
    if (is_nan(value) != is_nan(operand))
        return false;
    if (strcmp(op, "$gt") == 0)
        return order > 0;
    if (strcmp(op, "$gte") == 0)
        return order >= 0;
    if (strcmp(op, "$lt") == 0)
        return order < 0;
    if (strcmp(op, "$lte") == 0)
        return order <= 0;
    return order == 0;
}

/* any_passes -- whether any value at a path, or any element of an array there, passes. */
static bool any_passes(const bson_t *doc, const char *path, const char *op,
                       const bson_iter_t *operand) {
    model_finds f;
    bool result = false;
    if (strncmp(path, "**.", 3) == 0)
        model_path_named(doc, path + 3, &f);
    else if (path[0] == '*')
        model_path_all(doc, strcmp(path, "**") == 0, &f);
    else
        model_path(doc, path, &f);
    for (size_t i = 0; i < f.count && !result; i++) {
        const bson_iter_t *value = f.list[i].there ? &f.list[i].value : NULL;
        bson_iter_t each;
        if (strcmp(op, "$exists") == 0) {
            result = value != NULL;
            continue;
        }
        result = model_passes(value, op, operand);
        if (!value || !BSON_ITER_HOLDS_ARRAY(value) || model_speaks_of_arrays(op))
            continue;
        bson_iter_recurse(value, &each);
        while (!result && bson_iter_next(&each))
            result = model_passes(&each, op, operand);
    }
    return result;
}

static bool meets(const bson_t *doc, const char *path, const bson_iter_t *condition);

/* meets_each -- $and, $or, $nor over selectors (path NULL) or conditions. */
static bool meets_each(const bson_t *doc, const char *path, const char *op,
                       const bson_iter_t *operand) {
    bson_iter_t each;
    bool all = true, any = false;
    bson_iter_recurse(operand, &each);
    while (bson_iter_next(&each)) {
        bool one;
        if (path) {
            one = meets(doc, path, &each);
        } else {
            const uint8_t *data;
            uint32_t size;
            bson_t selector;
            bson_iter_document(&each, &size, &data);
            bson_init_static(&selector, data, size);
            one = model_matches(doc, &selector);
        }
        all = all && one;
        any = any || one;
    }
    return strcmp(op, "$and") == 0 ? all : strcmp(op, "$or") == 0 ? any : !any;
}

/* meets_list -- $all and $strand: each of the operands, by whatever element. */
static bool meets_list(const bson_t *doc, const char *path, const char *op,
                       const bson_iter_t *operand) {
    bson_iter_t each, inside;
    bool any = false;
    bson_iter_recurse(operand, &each);
    while (bson_iter_next(&each)) {
        any = true;
        bool result;
        if (strcmp(op, "$strand") == 0)
            result = any_passes(doc, path, "$stror", &each);
        else if (BSON_ITER_HOLDS_DOCUMENT(&each) && bson_iter_recurse(&each, &inside) &&
                 bson_iter_next(&inside) && bson_iter_key(&inside)[0] == '$')
            result = any_passes(doc, path, bson_iter_key(&inside), &inside);
        else
            result = any_passes(doc, path, "$eq", &each);
        if (!result)
            return false;
    }
    return any;
}

/* meets_operator -- one operator on a path. */
static bool meets_operator(const bson_t *doc, const char *path, const bson_iter_t *operator) {
    const char *op = bson_iter_key(operator);
    if (strcmp(op, "$options") == 0)
        return true;
    if (strcmp(op, "$all") == 0 || strcmp(op, "$strand") == 0)
        return meets_list(doc, path, op, operator);
    if (strcmp(op, "$icase") == 0) {
        bool outer = model_now.icase;
        model_now.icase = true;
        bool result = meets(doc, path, operator);
        model_now.icase = outer;
        return result;
    }
    if (strcmp(op, "$not") == 0)
        return !meets(doc, path, operator);
    if (strcmp(op, "$ne") == 0)
        return !any_passes(doc, path, "$eq", operator);
    if (strcmp(op, "$nin") == 0)
        return !any_passes(doc, path, "$in", operator);
    if (strcmp(op, "$exists") == 0)
        return any_passes(doc, path, op, operator) == bson_iter_as_bool(operator);
    if (strcmp(op, "$and") == 0 || strcmp(op, "$or") == 0 || strcmp(op, "$nor") == 0)
        return meets_each(doc, path, op, operator);
    return any_passes(doc, path, op, operator);
}

/* meets -- whether a path meets a condition: a value, operators, or a sub-query. */
static bool meets(const bson_t *doc, const char *path, const bson_iter_t *condition) {
    bson_iter_t each;
    if (!BSON_ITER_HOLDS_DOCUMENT(condition) || !bson_iter_recurse(condition, &each) ||
        !bson_iter_next(&each))
        return any_passes(doc, path, "$eq", condition);
    do {
        const char *key = bson_iter_key(&each);
        if (key[0] == '$') {
            bson_iter_t beside;
            bson_iter_recurse(condition, &beside);
            model_now.options =
                bson_iter_find(&beside, "$options") ? bson_iter_utf8(&beside, NULL) : NULL;
            if (!meets_operator(doc, path, &each))
                return false;
            continue;
        }
        char *longer = bson_strdup_printf("%s.%s", path, key);
        bool result = meets(doc, longer, &each);
        bson_free(longer);
        if (!result)
            return false;
    } while (bson_iter_next(&each));
    return true;
}

bool model_matches(const bson_t *doc, const bson_t *selector) {
    bson_iter_t each;
    bson_iter_init(&each, selector);
    while (bson_iter_next(&each)) {
        const char *key = bson_iter_key(&each);
        bool result;
        if (strcmp(key, "$not") == 0) {
            const uint8_t *data;
            uint32_t size;
            bson_t inner;
            bson_iter_document(&each, &size, &data);
            bson_init_static(&inner, data, size);
            result = !model_matches(doc, &inner);
        } else if (key[0] == '$') {
            result = meets_each(doc, NULL, key, &each);
        } else {
            result = meets(doc, key, &each);
        }
        if (!result)
            return false;
    }
    return true;
}

/* ---- Order and window ---- */

/* extreme -- the least (greatest) value that a path finds, elements of arrays counted one by
 * one. */
static model_found extreme(const bson_t *doc, const char *path, bool greatest) {
    model_finds f, all;
    model_found best = {.there = false};
    model_path_positions(doc, path, &f);
    all.count = 0;
    for (size_t i = 0; i < f.count; i++) {
        bson_iter_t each;
        if (!f.list[i].there || !BSON_ITER_HOLDS_ARRAY(&f.list[i].value)) {
            model_add(&all, f.list[i].there ? &f.list[i].value : NULL);
            continue;
        }
        bson_iter_recurse(&f.list[i].value, &each);
        while (bson_iter_next(&each))
            model_add(&all, &each);
    }
    for (size_t i = 0; i < all.count; i++) {
        model_found *one = &all.list[i];
        int order = model_compare(one->there ? &one->value : NULL, best.there ? &best.value : NULL);
        if (i == 0 || (greatest ? order > 0 : order < 0))
            best = *one;
    }
    return best;
}

/* compare_documents -- in the order of $orderby. */
static int compare_documents(const bson_t *a, const bson_t *b, bson_iter_t order) {
    while (bson_iter_next(&order)) {
        bool down = bson_iter_as_int64(&order) < 0;
        model_found x = extreme(a, bson_iter_key(&order), down);
        model_found y = extreme(b, bson_iter_key(&order), down);
        int result = model_compare(x.there ? &x.value : NULL, y.there ? &y.value : NULL);
        if (result != 0)
            return down ? -result : result;
    }
    return 0;
}

/* take_mode -- the collation of the hints, or none. */
static void take_mode(const bson_t *hints) {
    bson_iter_t collation, inside;
    model_now = (model_mode){false, false, false, NULL};
    if (!bson_iter_init_find(&collation, hints, "$collation") ||
        !bson_iter_recurse(&collation, &inside))
        return;
    while (bson_iter_next(&inside)) {
        if (strcmp(bson_iter_key(&inside), "numeric") == 0)
            model_now.numeric = bson_iter_bool(&inside);
        else
            model_now.feed_model = bson_iter_bool(&inside);
    }
}

int model_compare_in(const bson_iter_t *a, const bson_iter_t *b, const bson_t *hints) {
    take_mode(hints);
    int order = model_compare(a, b);
    model_now = (model_mode){false, false, false, NULL};
    return order;
}

/* model_find -- The sort is an insertion sort, because that is plainly stable. */
size_t model_find(bson_t *const *docs, size_t count, const bson_t *selector, const bson_t *hints,
                  size_t *result) {
    bson_iter_t order, inside;
    size_t matches = 0;
    take_mode(hints);
    bool sorted =
        bson_iter_init_find(&order, hints, "$orderby") && bson_iter_recurse(&order, &inside);
    for (size_t i = 0; i < count; i++) {
        if (!model_matches(docs[i], selector))
            continue;
        size_t at = matches++;
        for (; sorted && at > 0 && compare_documents(docs[i], docs[result[at - 1]], inside) < 0;
             at--)
            result[at] = result[at - 1];
        result[at] = i;
    }
    size_t skip =
        bson_iter_init_find(&order, hints, "$skip") ? (size_t)bson_iter_as_int64(&order) : 0;
    size_t most =
        bson_iter_init_find(&order, hints, "$max") ? (size_t)bson_iter_as_int64(&order) : 0;
    if (skip > matches)
        skip = matches;
    memmove(result, result + skip, (matches - skip) * sizeof *result);
    model_now = (model_mode){false, false, false, NULL};
    return most == 0 || matches - skip < most ? matches - skip : most;
}
