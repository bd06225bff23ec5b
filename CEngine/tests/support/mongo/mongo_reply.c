/*
 * support/mongo/mongo_reply.c -- holds replies against what was recorded.
 */
#include "support/mongo/mongo_reply.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why_text[1 << 16];

bool iter_document(const bson_iter_t *iter, bson_t *doc) {
    uint32_t size;
    const uint8_t *data;
    if (BSON_ITER_HOLDS_DOCUMENT(iter))
        bson_iter_document(iter, &size, &data);
    else if (BSON_ITER_HOLDS_ARRAY(iter))
        bson_iter_array(iter, &size, &data);
    else
        return false;
    return bson_init_static(doc, data, size);
}

bool member_document(const bson_t *doc, const char *name, bson_t *member) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, name) && iter_document(&iter, member);
}

/* ---- Equality ---- */

/* How values are compared. */
typedef struct comparison {
    bool part;            /* the expected documents may lack members */
    bool about;           /* numbers may differ a little */
    bool any_order;       /* arrays may be in any order, everywhere below */
    const bson_t *set_of; /* or those of these members; NULL: none */
} comparison;

static bool same(const bson_iter_t *expected, const bson_iter_t *actual, const comparison *how);

/* about_same -- as pytest.approx(), with which the cases were recorded, compares by default. */
static bool about_same(double expected, double actual) {
    return expected == actual || fabs(expected - actual) <= fmax(1e-6 * fabs(expected), 1e-12);
}

/* same_scalar -- two values of one type that are neither documents nor arrays. */
static bool same_scalar(const bson_iter_t *a, const bson_iter_t *b, const comparison *how) {
    if (BSON_ITER_HOLDS_DOUBLE(a)) {
        double x = bson_iter_double(a), y = bson_iter_double(b);
        if (isnan(x) && isnan(y))
            return true;
        return how->about ? about_same(x, y) : x == y && signbit(x) == signbit(y);
    }
    bson_t one = BSON_INITIALIZER, other = BSON_INITIALIZER;
    bson_append_iter(&one, "v", 1, a);
    bson_append_iter(&other, "v", 1, b);
    bool equal = bson_equal(&one, &other);
    bson_destroy(&one);
    bson_destroy(&other);
    return equal;
}

/* same_members -- documents, whose members may be in any order. */
static bool same_members(const bson_t *a, const bson_t *b, const comparison *how) {
    bson_iter_t expected, actual;
    if (!how->part && bson_count_keys(a) != bson_count_keys(b))
        return false;
    for (bson_iter_init(&expected, a); bson_iter_next(&expected);) {
        const char *key = bson_iter_key(&expected);
        comparison inner = *how;
        bson_iter_t name;
        if (how->set_of && bson_iter_init(&name, how->set_of)) {
            while (bson_iter_next(&name))
                inner.any_order = inner.any_order || strcmp(bson_iter_utf8(&name, NULL), key) == 0;
        }
        if (!bson_iter_init_find(&actual, b, key) || !same(&expected, &actual, &inner))
            return false;
    }
    return true;
}

/* same_set -- arrays in any order. */
static bool same_set(const bson_t *a, const bson_t *b, const comparison *how) {
    uint32_t count = bson_count_keys(a);
    bson_iter_t expected, actual;
    if (count != bson_count_keys(b))
        return false;
    bool *used = calloc(count + 1, 1), all = true;
    REQUIRE(used != NULL);
    for (bson_iter_init(&expected, a); all && bson_iter_next(&expected);) {
        uint32_t at = 0;
        bool found = false;
        for (bson_iter_init(&actual, b); !found && bson_iter_next(&actual); at++) {
            found = !used[at] && same(&expected, &actual, how);
            used[at] = used[at] || found;
        }
        all = found;
    }
    free(used);
    return all;
}

/* same_list -- arrays in order. */
static bool same_list(const bson_t *a, const bson_t *b, const comparison *how) {
    bson_iter_t expected, actual;
    bson_iter_init(&expected, a);
    bson_iter_init(&actual, b);
    for (;;) {
        bool more = bson_iter_next(&expected);
        if (more != bson_iter_next(&actual))
            return false;
        if (!more)
            return true;
        if (!same(&expected, &actual, how))
            return false;
    }
}

/* same -- whether a value is as expected. */
static bool same(const bson_iter_t *expected, const bson_iter_t *actual, const comparison *how) {
    bson_t a, b;
    if (bson_iter_type(expected) != bson_iter_type(actual))
        return how->about && BSON_ITER_HOLDS_NUMBER(expected) && BSON_ITER_HOLDS_NUMBER(actual) &&
               about_same(bson_iter_as_double(expected), bson_iter_as_double(actual));
    if (!iter_document(expected, &a) || !iter_document(actual, &b))
        return same_scalar(expected, actual, how);
    if (BSON_ITER_HOLDS_DOCUMENT(expected))
        return same_members(&a, &b, how);
    return how->any_order ? same_set(&a, &b, how) : same_list(&a, &b, how);
}

bool values_same(const bson_iter_t *a, const bson_iter_t *b) {
    static const comparison exactly = {.part = false};
    return same(a, b, &exactly);
}

/* ---- Properties ---- */

/* find_path -- a value by dotted path; "" is the document itself and is not found. */
static bool find_path(const bson_t *doc, const char *path, bson_iter_t *value) {
    bson_iter_t iter;
    return bson_iter_init(&iter, doc) && bson_iter_find_descendant(&iter, path, value);
}

/* type_name -- the name that $type has for a value. */
static const char *type_name(const bson_iter_t *iter) {
    switch (bson_iter_type(iter)) {
    case BSON_TYPE_DATE_TIME: return "date";
    case BSON_TYPE_TIMESTAMP: return "timestamp";
    case BSON_TYPE_OID: return "objectId";
    case BSON_TYPE_UTF8: return "string";
    case BSON_TYPE_INT32: return "int";
    case BSON_TYPE_INT64: return "long";
    case BSON_TYPE_DOUBLE: return "double";
    case BSON_TYPE_DOCUMENT: return "object";
    case BSON_TYPE_ARRAY: return "array";
    case BSON_TYPE_BOOL: return "bool";
    default: return "?";
    }
}

/* keys_in_order -- whether a document has exactly these keys in this order. */
static bool keys_in_order(const bson_t *doc, const bson_t *keys) {
    bson_iter_t key, field;
    bson_iter_init(&key, keys);
    bson_iter_init(&field, doc);
    for (;;) {
        bool more = bson_iter_next(&key);
        if (more != bson_iter_next(&field))
            return false;
        if (!more)
            return true;
        if (strcmp(bson_iter_utf8(&key, NULL), bson_iter_key(&field)) != 0)
            return false;
    }
}

/* has_property -- one [path, check, operand]. */
static bool has_property(const bson_t *doc, const bson_t *property) {
    bson_iter_t path, check, operand, value;
    bson_t inner, list;
    REQUIRE(bson_iter_init_find(&path, property, "0") &&
            bson_iter_init_find(&check, property, "1"));
    bool has_operand = bson_iter_init_find(&operand, property, "2");
    const char *name = bson_iter_utf8(&check, NULL), *text = bson_iter_utf8(&path, NULL);
    bool found = *text != '\0' && find_path(doc, text, &value);
    if (strcmp(name, "NotExists") == 0)
        return !found;
    if (strcmp(name, "OrderedKeys") == 0) {
        REQUIRE(has_operand && iter_document(&operand, &list));
        return *text == '\0'
                   ? keys_in_order(doc, &list)
                   : found && iter_document(&value, &inner) && keys_in_order(&inner, &list);
    }
    if (!found || strcmp(name, "Exists") == 0)
        return found;
    REQUIRE(has_operand);
    if (strcmp(name, "Eq") == 0)
        return values_same(&operand, &value);
    if (strcmp(name, "Ne") == 0)
        return !values_same(&operand, &value);
    if (strcmp(name, "IsType") == 0)
        return strcmp(type_name(&value), bson_iter_utf8(&operand, NULL)) == 0;
    if (strcmp(name, "Len") == 0)
        return iter_document(&value, &inner) &&
               (int64_t)bson_count_keys(&inner) == bson_iter_as_int64(&operand);
    /* What it was greater than could not be recorded. */
    if (strcmp(name, "Gt") == 0 && BSON_ITER_HOLDS_NULL(&operand))
        return !BSON_ITER_HOLDS_NULL(&value);
    bool numbers = BSON_ITER_HOLDS_NUMBER(&operand) && BSON_ITER_HOLDS_NUMBER(&value);
    double bound = bson_iter_as_double(&operand), number = bson_iter_as_double(&value);
    if (strcmp(name, "Gt") == 0)
        return numbers && number > bound;
    if (strcmp(name, "Gte") == 0)
        return numbers && number >= bound;
    if (strcmp(name, "Lte") == 0)
        return numbers && number <= bound;
    snprintf(why_text, sizeof why_text, "property %s is unknown", name);
    return false;
}

/* has_properties -- all of a list. */
static bool has_properties(const bson_t *doc, const bson_t *properties) {
    bson_iter_t iter;
    bson_t property;
    for (bson_iter_init(&iter, properties); bson_iter_next(&iter);) {
        if (!iter_document(&iter, &property) || !has_property(doc, &property))
            return false;
    }
    return true;
}

/* ---- Expectations ---- */

/* text -- a member that is a text, or "". */
static const char *text(const bson_t *doc, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, name) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

/* flag -- a member that is true. */
static bool flag(const bson_t *doc, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, name) && bson_iter_as_bool(&iter);
}

/* first_batch -- the documents of a reply; of a reply without a cursor, the empty list. */
static void first_batch(const mongo_reply *reply, bson_t *batch) {
    bson_t cursor;
    if (!member_document(&reply->doc, "cursor", &cursor) ||
        !member_document(&cursor, "firstBatch", batch))
        bson_init(batch);
}

/* matches_properties -- {"k": "props"}. */
static bool matches_properties(const mongo_reply *reply, const bson_t *expected, const bson_t *v) {
    bson_t batch, doc, own;
    bson_iter_t iter, each;
    if (flag(expected, "raw"))
        return has_properties(&reply->doc, v);
    first_batch(reply, &batch);
    bool per = flag(expected, "per");
    if (per && bson_count_keys(&batch) != bson_count_keys(v))
        return false;
    bson_iter_init(&each, v);
    for (bson_iter_init(&iter, &batch); bson_iter_next(&iter);) {
        if (!iter_document(&iter, &doc) ||
            (per && (!bson_iter_next(&each) || !iter_document(&each, &own))) ||
            !has_properties(&doc, per ? &own : v))
            return false;
    }
    return bson_count_keys(&batch) > 0;
}

/* matches_one -- one expectation. */
static bool matches_one(const mongo_reply *reply, const bson_t *expected) {
    const char *kind = text(expected, "k");
    bson_iter_t error;
    bool has_write_error = bson_iter_init_find(&error, &reply->doc, "writeErrors");
    if (strcmp(kind, "err") == 0)
        return reply->failed || has_write_error;
    if (reply->failed)
        return false;
    if (strcmp(kind, "ok") == 0)
        return !has_write_error;
    bson_t v, batch;
    bson_t names = BSON_INITIALIZER;
    comparison how = {.part = strcmp(kind, "part") == 0,
                      .about = flag(expected, "approx"),
                      .any_order = flag(expected, "anyOrder")};
    REQUIRE(member_document(expected, "v", &v));
    if (member_document(expected, "anyOrderIn", &names))
        how.set_of = &names;
    if (strcmp(kind, "props") == 0)
        return matches_properties(reply, expected, &v);
    if (strcmp(kind, "raw") == 0 || how.part)
        return same_members(&v, &reply->doc, &how);
    REQUIRE(strcmp(kind, "docs") == 0);
    if (how.any_order) {
        how.any_order = false;
        first_batch(reply, &batch);
        return same_set(&v, &batch, &how);
    }
    first_batch(reply, &batch);
    return same_list(&v, &batch, &how);
}

bool reply_matches(const mongo_reply *reply, const bson_iter_t *expected, const char **why) {
    bson_t x, one;
    bson_iter_t iter;
    bool all = true;
    REQUIRE(iter_document(expected, &x));
    if (BSON_ITER_HOLDS_ARRAY(expected)) {
        for (bson_iter_init(&iter, &x); all && bson_iter_next(&iter);) {
            REQUIRE(iter_document(&iter, &one));
            all = matches_one(reply, &one);
        }
    } else {
        all = matches_one(reply, &x);
    }
    if (!all) {
        char *wanted = bson_as_canonical_extended_json(&x, NULL);
        char *is = bson_as_canonical_extended_json(&reply->doc, NULL);
        snprintf(why_text, sizeof why_text, "  should be %.8000s\n  is        %.8000s", wanted,
                 reply->failed ? reply->message : is);
        bson_free(wanted);
        bson_free(is);
    }
    *why = why_text;
    return all;
}

bool reply_expects_error(const bson_iter_t *expected) {
    bson_t x, one;
    bson_iter_t iter;
    if (!iter_document(expected, &x))
        return false;
    if (!BSON_ITER_HOLDS_ARRAY(expected))
        return strcmp(text(&x, "k"), "err") == 0;
    for (bson_iter_init(&iter, &x); bson_iter_next(&iter);) {
        if (iter_document(&iter, &one) && strcmp(text(&one, "k"), "err") == 0)
            return true;
    }
    return false;
}
