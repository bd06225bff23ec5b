/*
 * support/random/random_query.c -- random queries and hints.
 */
#include "support/random/random_query.h"
#include "support/random/random_operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const paths[] = {"a",   "b",     "c",     "a.b", "a.c", "b.0",  "a.b.c",
                                    "c.a", "a.0.b", "b.1.a", "_id", "u",   "u.0.n"};
#define PATHS (sizeof paths / sizeof *paths)

/* pick_path -- one of the paths; the first few more often. */
static const char *pick_path(random_source *r) {
    return paths[random_below(r, random_chance(r, 60) ? 3 : PATHS)];
}

/* ---- Random documents ---- */

/* put_number -- a small number of any type, sometimes a hard one. */
static void put_number(random_source *r, bson_t *doc, const char *key) {
    int64_t small = random_between(r, -2, 4);
    bson_decimal128_t decimal;
    char text[40];
    switch (random_below(r, 8)) {
    case 0: bson_append_int64(doc, key, -1, small); break;
    case 1: bson_append_double(doc, key, -1, (double)small / 2); break;
    case 2:
        snprintf(text, sizeof text, "%d.%d", (int)small, random_chance(r, 50) ? 5 : 0);
        bson_decimal128_from_string(text, &decimal);
        bson_append_decimal128(doc, key, -1, &decimal);
        break;
    case 3: {
        static const double hard[] = {NAN, INFINITY, -INFINITY, -0.0, 9007199254740992.0};
        bson_append_double(doc, key, -1, hard[random_below(r, 5)]);
        break;
    }
    case 4: bson_append_int64(doc, key, -1, (INT64_C(1) << 53) + random_between(r, -1, 1)); break;
    default: bson_append_int32(doc, key, -1, (int32_t)small);
    }
}

/* put_rare -- a value of the kinds that few documents have. */
static void put_rare(random_source *r, bson_t *doc, const char *key) {
    bson_oid_t oid;
    bson_t scope;
    const char *text = random_chance(r, 50) ? "a" : "ab";
    switch (random_below(r, 9)) {
    case 0: bson_append_undefined(doc, key, -1); break;
    case 1: bson_append_minkey(doc, key, -1); break;
    case 2: bson_append_maxkey(doc, key, -1); break;
    case 3: bson_append_symbol(doc, key, -1, text, -1); break;
    case 4: bson_append_timestamp(doc, key, -1, 1, (uint32_t)random_below(r, 2)); break;
    case 5: bson_append_code(doc, key, -1, text); break;
    case 6:
        bson_init(&scope);
        bson_append_int32(&scope, "a", 1, (int32_t)random_below(r, 2));
        bson_append_code_with_scope(doc, key, -1, text, &scope);
        bson_destroy(&scope);
        break;
    case 7:
        memset(&oid, (int)random_below(r, 2), sizeof oid);
        bson_append_dbpointer(doc, key, -1, text, &oid);
        break;
    default:
        bson_append_binary(doc, key, -1,
                           random_chance(r, 70) ? BSON_SUBTYPE_BINARY : BSON_SUBTYPE_USER,
                           (const uint8_t *)"xy", (uint32_t)random_below(r, 3));
    }
}

static void put_value(random_source *r, bson_t *doc, const char *key, int depth);

/* put_stored -- a value of any kind: of itself a regex is one only where it is no operand. */
static void put_stored(random_source *r, bson_t *doc, const char *key, int depth) {
    if (random_chance(r, 3))
        random_regex_value(r, doc, key);
    else
        put_value(r, doc, key, depth);
}

/* put_value -- a value out of few, so that two are often equal. */
static void put_value(random_source *r, bson_t *doc, const char *key, int depth) {
    bson_t inner;
    bson_oid_t oid;
    uint64_t kind = random_below(r, depth > 0 ? 20 : 14);
    switch (kind) {
    case 0: bson_append_null(doc, key, -1); break;
    case 1: bson_append_bool(doc, key, -1, random_chance(r, 50)); break;
    case 2: bson_append_date_time(doc, key, -1, random_between(r, -1, 1)); break;
    case 3:
        memset(&oid, (int)random_below(r, 2), sizeof oid);
        bson_append_oid(doc, key, -1, &oid);
        break;
    case 4: put_rare(r, doc, key); break;
    case 5:
    case 6:
    case 7:
    case 8: bson_append_utf8(doc, key, -1, random_short_text(r), -1); break;
    case 14:
    case 15:
    case 16:
        bson_append_document_begin(doc, key, -1, &inner);
        for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
            if (random_chance(r, 50))
                put_stored(r, &inner, name, depth - 1);
        }
        bson_append_document_end(doc, &inner);
        break;
    case 17:
    case 18:
    case 19: {
        bson_append_array_begin(doc, key, -1, &inner);
        uint64_t count = random_below(r, 4);
        for (uint64_t i = 0; i < count; i++) {
            char name[12];
            snprintf(name, sizeof name, "%d", (int)i);
            put_stored(r, &inner, name, depth - 1);
        }
        bson_append_array_end(doc, &inner);
        break;
    }
    default: put_number(r, doc, key);
    }
}

/* put_mark -- a value that is hardly in two documents, as a number of any type, a string in either
 * case, or an array of numbers or documents. */
static void put_mark(random_source *r, bson_t *doc, const char *key, int id, bool plain) {
    bson_decimal128_t decimal;
    bson_t list, inner;
    char text[16];
    switch (random_below(r, plain ? 7 : 9)) {
    case 0: bson_append_int64(doc, key, -1, id); break;
    case 1: bson_append_double(doc, key, -1, id); break;
    case 2:
        snprintf(text, sizeof text, "%d.0", id);
        bson_decimal128_from_string(text, &decimal);
        bson_append_decimal128(doc, key, -1, &decimal);
        break;
    case 3:
    case 4:
        snprintf(text, sizeof text, "%c%d", random_chance(r, 50) ? 'a' : 'A', id);
        bson_append_utf8(doc, key, -1, text, -1);
        break;
    case 8:
        bson_append_array_begin(doc, key, -1, &list);
        for (int i = 0; i < 2; i++) {
            bson_append_document_begin(&list, i == 0 ? "0" : "1", 1, &inner);
            bson_append_int32(&inner, "n", 1, id + 100 * i);
            bson_append_document_end(&list, &inner);
        }
        bson_append_array_end(doc, &list);
        break;
    case 7:
        bson_append_array_begin(doc, key, -1, &list);
        bson_append_int32(&list, "0", 1, id);
        bson_append_int32(&list, "1", 1, id + 100);
        bson_append_array_end(doc, &list);
        break;
    default: bson_append_int32(doc, key, -1, id);
    }
}

bson_t *random_case_document(random_source *r, int id, bool plain) {
    bson_t *doc = bson_new();
    bson_append_int32(doc, "_id", 3, id);
    for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
        if (random_chance(r, 80))
            put_stored(r, doc, name, plain ? 0 : 3);
    }
    if (random_chance(r, 99)) {
        bool other = random_chance(r, 2);
        put_mark(r, doc, "u", other ? (int)random_below(r, 60) : id, plain);
    }
    return doc;
}

/* ---- Random queries ---- */

static void put_condition(random_source *r, bson_t *doc, const char *key, int depth);

/* put_list -- an array of values for $in. */
static void put_list(random_source *r, bson_t *doc, const char *key, bool texts) {
    bson_t list;
    uint64_t count = random_below(r, 4) + (texts ? 1 : 0);
    bson_append_array_begin(doc, key, -1, &list);
    for (uint64_t i = 0; i < count; i++) {
        char name[12];
        snprintf(name, sizeof name, "%d", (int)i);
        if (texts)
            bson_append_utf8(&list, name, -1, random_chance(r, 50) ? "a" : "ab", -1);
        else
            put_value(r, &list, name, 2);
    }
    bson_append_array_end(doc, &list);
}

/* put_choices -- an array for $in of queries, where a regex may be among the values. */
static void put_choices(random_source *r, bson_t *doc, const char *key) {
    bson_t list;
    if (random_chance(r, 70)) {
        put_list(r, doc, key, false);
        return;
    }
    bson_append_array_begin(doc, key, -1, &list);
    random_regex_value(r, &list, "0");
    put_value(r, &list, "1", 0);
    bson_append_array_end(doc, &list);
}

/* put_operator -- one operator, not yet in `used`. */
static void put_operator(random_source *r, bson_t *doc, uint32_t *used, int depth) {
    static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
    uint64_t which = random_below(r, depth > 0 ? 14 : 11);
    bool special = random_chance(r, 35);
    if (special) {
        which = random_below(r, RANDOM_OPERATORS);
        if (*used & 1u << (which + 14))
            return;
        *used |= 1u << (which + 14);
        random_operator(r, doc, which);
        return;
    }
    if (*used & 1u << which)
        return;
    *used |= 1u << which;
    switch (which) {
    case 6: put_choices(r, doc, "$in"); break;
    case 7: put_choices(r, doc, "$nin"); break;
    case 8: bson_append_bool(doc, "$exists", -1, random_chance(r, 50)); break;
    case 9: bson_append_utf8(doc, "$begin", -1, random_chance(r, 50) ? "a" : "ab", -1); break;
    case 10: put_list(r, doc, "$begin", true); break;
    case 11:
    case 12: put_condition(r, doc, "$not", depth - 1); break;
    case 13: {
        bson_t list;
        bson_append_array_begin(doc, random_chance(r, 70) ? "$or" : "$nor", -1, &list);
        for (int i = 0; i < 2; i++) {
            bson_t one;
            uint32_t inner = 0;
            bson_append_document_begin(&list, i == 0 ? "0" : "1", 1, &one);
            put_operator(r, &one, &inner, 0);
            bson_append_document_end(&list, &one);
        }
        bson_append_array_end(doc, &list);
        break;
    }
    default: put_value(r, doc, compares[which], 2);
    }
}

/* put_mark_condition -- on the path of marks: one, several, or those between two. */
static void put_mark_condition(random_source *r, bson_t *doc, const char *key) {
    bson_t inner, list;
    uint64_t form = random_below(r, 4);
    if (form == 0) {
        put_mark(r, doc, key, (int)random_below(r, 60), false);
        return;
    }
    bson_append_document_begin(doc, key, -1, &inner);
    if (form == 1) {
        put_mark(r, &inner, "$gte", (int)random_below(r, 60), true);
        put_mark(r, &inner, "$lt", (int)random_below(r, 60), true);
    } else {
        bson_append_array_begin(&inner, "$in", -1, &list);
        for (int i = 0; i < 4; i++) {
            char name[12];
            snprintf(name, sizeof name, "%d", i);
            put_mark(r, &list, name, (int)random_below(r, 60), random_chance(r, 70));
        }
        bson_append_array_end(&inner, &list);
    }
    bson_append_document_end(doc, &inner);
}

/* put_condition -- a value, a sub-query or operators. */
static void put_condition(random_source *r, bson_t *doc, const char *key, int depth) {
    bson_t inner;
    if (key[0] == 'u' && random_chance(r, 70)) {
        put_mark_condition(r, doc, key);
        return;
    }
    uint64_t form = random_below(r, 10);
    if (form < 2) {
        put_value(r, doc, key, 0);
        return;
    }
    bson_append_document_begin(doc, key, -1, &inner);
    if (form == 2 && depth > 0) {
        put_condition(r, &inner, random_chance(r, 50) ? "a" : "b", depth - 1);
    } else {
        uint32_t used = 0;
        uint64_t count = 1 + random_below(r, 2);
        for (uint64_t i = 0; i < count; i++)
            put_operator(r, &inner, &used, depth);
    }
    bson_append_document_end(doc, &inner);
}

/* put_named -- a condition on the fields of one name, at any depth. */
static void put_named(random_source *r, bson_t *doc) {
    static const char *const names[] = {"**.a", "**.b", "**.n", "**.k", "**._id"};
    put_condition(r, doc, names[random_below(r, 5)], 0);
}

void random_selector(random_source *r, bson_t *doc, int depth) {
    uint64_t count = random_below(r, 4);
    for (uint64_t i = 0; i < count; i++)
        put_condition(r, doc, pick_path(r), 2);
    if (random_chance(r, 12))
        put_condition(r, doc, random_chance(r, 30) ? "*" : "**", 0);
    if (random_chance(r, 12))
        put_named(r, doc);
    if (depth == 0 || random_chance(r, 55))
        return;
    static const char *const logic[] = {"$or", "$or", "$and", "$nor"};
    bson_t list, one;
    bson_append_array_begin(doc, logic[random_below(r, 4)], -1, &list);
    count = 1 + random_below(r, 3);
    for (uint64_t i = 0; i < count; i++) {
        char name[12];
        snprintf(name, sizeof name, "%d", (int)i);
        bson_append_document_begin(&list, name, -1, &one);
        random_selector(r, &one, depth - 1);
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(doc, &list);
}

/* put_paths -- up to `most` different paths with directions. */
static void put_paths(random_source *r, bson_t *doc, uint64_t most) {
    uint64_t count = 1 + random_below(r, most);
    for (uint64_t i = 0; i < count; i++) {
        const char *path = pick_path(r);
        if (!bson_has_field(doc, path) && !strchr(path, '.'))
            bson_append_int32(doc, path, -1, random_chance(r, 60) ? 1 : -1);
        else if (bson_empty(doc))
            bson_append_int32(doc, path, -1, random_chance(r, 60) ? 1 : -1);
    }
}

bson_t *random_hints(random_source *r, bool folded) {
    bson_t *hints = bson_new(), order;
    if (random_chance(r, 50)) {
        bson_append_document_begin(hints, "$orderby", -1, &order);
        put_paths(r, &order, 3);
        bson_append_document_end(hints, &order);
    }
    if (folded && random_chance(r, 50)) {
        bson_append_document_begin(hints, "$collation", -1, &order);
        bson_append_bool(&order, "caseInsensitive", -1, true);
        bson_append_document_end(hints, &order);
    } else if (random_chance(r, 20)) {
        random_collation(r, hints);
    }
    if (random_chance(r, 25))
        bson_append_int32(hints, "$skip", -1, (int32_t)random_below(r, 6));
    if (random_chance(r, 35))
        bson_append_int64(hints, "$max", -1, (int64_t)random_below(r, 8));
    return hints;
}

/* ---- Random indexes ---- */

/* put_filter -- a partial filter of a form that queries often imply. */
static void put_filter(random_source *r, bson_t *options) {
    static const char *const compares[] = {"$gt", "$gte", "$lte", "$eq", "$ne"};
    bson_t filter, inner;
    bson_append_document_begin(options, "partialFilter", -1, &filter);
    bson_append_document_begin(&filter, pick_path(r), -1, &inner);
    switch (random_below(r, 4)) {
    case 0: bson_append_bool(&inner, "$exists", -1, random_chance(r, 70)); break;
    case 1: put_list(r, &inner, "$in", false); break;
    default: put_value(r, &inner, compares[random_below(r, 5)], 0);
    }
    bson_append_document_end(&filter, &inner);
    bson_append_document_end(options, &filter);
}

/* put_scope -- an option of a wildcard index with paths. */
static void put_scope(random_source *r, bson_t *options, const char *name) {
    bson_t list;
    char key[12];
    bson_append_array_begin(options, name, -1, &list);
    for (uint32_t i = 0, count = 1 + (uint32_t)random_below(r, 3); i < count; i++) {
        snprintf(key, sizeof key, "%u", i);
        bson_append_utf8(&list, key, -1, pick_path(r), -1);
    }
    bson_append_array_end(options, &list);
}

/* put_wildcard -- a wildcard index, of the whole documents or of a part. */
static void put_wildcard(random_source *r, bson_t *keys, bson_t *options) {
    char path[64] = "**";
    if (random_chance(r, 20))
        snprintf(path, sizeof path, "%s.**", pick_path(r));
    bson_append_int32(keys, path, -1, 1);
    if (random_chance(r, 15))
        put_scope(r, options, "only");
    if (random_chance(r, 20))
        put_scope(r, options, "except");
}

/* random_index -- Most have no options; unique ones are mostly over marks, for
 * else no collection allows them. */
void random_index(random_source *r, bson_t **keys, bson_t **options) {
    *keys = bson_new();
    *options = bson_new();
    static const char *const marks[] = {"u", "u", "u", "u.0", "u.0.n", "u.1.n"};
    const char *mark = marks[random_below(r, 6)];
    bool marked = random_chance(r, 15);
    bool wildcard = !marked && random_chance(r, 25);
    if (wildcard)
        put_wildcard(r, *keys, *options);
    if (marked)
        bson_append_int32(*keys, mark, -1, random_chance(r, 50) ? 1 : -1);
    if (bson_empty(*keys) || (!wildcard && random_chance(r, 30)))
        put_paths(r, *keys, 3);
    if (!wildcard && random_chance(r, marked ? 60 : 5))
        bson_append_bool(*options, "unique", -1, true);
    if (!wildcard && random_chance(r, 25))
        bson_append_bool(*options, "sparse", -1, true);
    if (random_chance(r, 20))
        bson_append_bool(*options, "caseInsensitive", -1, true);
    if (random_chance(r, 30))
        put_filter(r, *options);
}
