/*
 * support/random/random_schema.c -- random schemas and documents for them.
 */
#include "support/random/random_schema.h"

#include "support/calls/query_calls.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEEPEST 3        /* levels of values below a document's own */
#define DEEPEST_SCHEMA 4 /* levels of schemas below the whole one */
#define DEEPEST_FAULT 6  /* levels above an invalid keyword; its path fits an error's context */

#define PICK(r, array) ((array)[random_below(r, sizeof(array) / sizeof *(array))])

/* The last one is a name like others in documents that are within. */
static const char *const names[] = {"a", "b", "c", "\xC3\xA9", "a.b", "_id"};
#define NAMES (sizeof names / sizeof *names)

/* has -- whether there is a field of a name, which may have dots. */
static bool has(const bson_t *doc, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, name);
}

/* ---- Documents ---- */

/* append_number -- one of few values, in any type, or two that differ beyond a double's digits. */
static void append_number(random_source *r, bson_t *doc, const char *key) {
    bson_decimal128_t decimal;
    int64_t number = random_between(r, 0, 3);
    char digits[32];
    switch (random_below(r, 10)) {
    case 0: BSON_APPEND_INT64(doc, key, number); break;
    case 1: BSON_APPEND_DOUBLE(doc, key, (double)number / 2); break;
    case 2: BSON_APPEND_DOUBLE(doc, key, 0x1p53); break;
    case 3: BSON_APPEND_INT64(doc, key, (INT64_C(1) << 53) + number - 1); break;
    case 4:
        snprintf(digits, sizeof digits, "%d.%d0", (int)number, random_chance(r, 50) ? 5 : 0);
        REQUIRE(bson_decimal128_from_string(digits, &decimal));
        BSON_APPEND_DECIMAL128(doc, key, &decimal);
        break;
    default: BSON_APPEND_INT32(doc, key, (int32_t)number);
    }
}

static void append_string(random_source *r, bson_t *doc, const char *key) {
    static const char *const characters[] = {"a", "b", "c", "\xC3\xA9", "\xF0\x9D\x84\x9E"};
    char string[16] = "";
    for (uint64_t left = random_below(r, 4); left > 0; left--)
        strcat(string, PICK(r, characters));
    BSON_APPEND_UTF8(doc, key, string);
}

/* append_rare -- a value that few keywords are about. */
static void append_rare(random_source *r, bson_t *doc, const char *key) {
    const bson_oid_t oid = {{0}};
    switch (random_below(r, 6)) {
    case 0: BSON_APPEND_NULL(doc, key); break;
    case 1: BSON_APPEND_OID(doc, key, &oid); break;
    case 2: BSON_APPEND_DATE_TIME(doc, key, random_between(r, 0, 1)); break;
    case 3: BSON_APPEND_DOUBLE(doc, key, NAN); break;
    default: BSON_APPEND_BOOL(doc, key, random_chance(r, 50));
    }
}

static void append_fields(random_source *r, bson_t *doc, int depth);

static void append_value(random_source *r, bson_t *doc, const char *key, int depth);

/* append_values -- elements; in many arrays some of them are equal. */
static void append_values(random_source *r, bson_t *array, uint64_t count, int depth) {
    bool alike = random_chance(r, 40);
    for (uint32_t i = 0; i < count; i++) {
        char index[12];
        snprintf(index, sizeof index, "%u", (unsigned)i);
        if (!alike)
            append_value(r, array, index, depth);
        else if (random_chance(r, 50))
            BSON_APPEND_INT32(array, index, (int32_t)random_below(r, 2));
        else
            BSON_APPEND_DOUBLE(array, index, (double)random_below(r, 2));
    }
}

static void append_value(random_source *r, bson_t *doc, const char *key, int depth) {
    bson_t inner = BSON_INITIALIZER;
    switch (random_below(r, depth > 0 ? 10 : 6)) {
    case 0:
    case 1:
    case 2: append_number(r, doc, key); break;
    case 3:
    case 4: append_string(r, doc, key); break;
    case 5: append_rare(r, doc, key); break;
    case 6:
    case 7:
        append_values(r, &inner, random_below(r, 4), depth - 1);
        BSON_APPEND_ARRAY(doc, key, &inner);
        break;
    default: append_fields(r, &inner, depth - 1); BSON_APPEND_DOCUMENT(doc, key, &inner);
    }
    bson_destroy(&inner);
}

/* append_fields -- with different names, in any order; at the top without an `_id`. */
static void append_fields(random_source *r, bson_t *doc, int depth) {
    for (uint64_t left = random_below(r, 5); left > 0; left--) {
        const char *name = names[random_below(r, depth == DEEPEST ? NAMES - 1 : NAMES)];
        if (!has(doc, name))
            append_value(r, doc, name, depth);
    }
}

bson_t *random_schema_document(random_source *r, int id) {
    bson_t *doc = bson_new();
    if (!random_chance(r, 10))
        BSON_APPEND_INT32(doc, "_id", id);
    append_fields(r, doc, DEEPEST);
    return doc;
}

/* ---- Keywords ---- */

static void append_schema(random_source *r, bson_t *to, const char *key, int depth);

/* append_names -- one of these names, or an array of up to three different ones. */
static void append_names(random_source *r, bson_t *schema, const char *key,
                         const char *const *choices, uint64_t count, bool array) {
    bson_t list = BSON_INITIALIZER;
    uint64_t first = random_below(r, count), size = random_between(r, 1, 3);
    if (!array && random_chance(r, 60)) {
        BSON_APPEND_UTF8(schema, key, choices[first]);
    } else {
        for (uint32_t i = 0; i < size; i++) {
            char index[12];
            snprintf(index, sizeof index, "%u", (unsigned)i);
            BSON_APPEND_UTF8(&list, index, choices[(first + i) % count]);
        }
        BSON_APPEND_ARRAY(schema, key, &list);
    }
    bson_destroy(&list);
}

static void append_type(random_source *r, bson_t *schema, const char *key, int depth) {
    static const char *const choices[] = {"string", "number", "integer", "boolean",
                                          "object", "array",  "null"};
    (void)depth;
    append_names(r, schema, key, choices, sizeof choices / sizeof *choices, false);
}

static void append_bson_type(random_source *r, bson_t *schema, const char *key, int depth) {
    static const char *const choices[] = {
        "int",  "long",     "double", "string", "object",  "number",    "array",  "decimal", "bool",
        "null", "objectId", "date",   "regex",  "binData", "timestamp", "maxKey", "minKey"};
    (void)depth;
    append_names(r, schema, key, choices, sizeof choices / sizeof *choices, false);
}

static void append_enum(random_source *r, bson_t *schema, const char *key, int depth) {
    bson_t list = BSON_INITIALIZER;
    append_values(r, &list, random_between(r, 1, 8), depth > 1 ? 2 : depth);
    BSON_APPEND_ARRAY(schema, key, &list);
    bson_destroy(&list);
}

static void append_required(random_source *r, bson_t *schema, const char *key, int depth) {
    (void)depth;
    append_names(r, schema, key, names, NAMES, true);
}

static void append_properties(random_source *r, bson_t *schema, const char *key, int depth) {
    bson_t properties = BSON_INITIALIZER;
    for (int64_t left = random_between(r, 0, 3); left > 0; left--) {
        const char *name = PICK(r, names);
        if (!has(&properties, name))
            append_schema(r, &properties, name, depth);
    }
    BSON_APPEND_DOCUMENT(schema, key, &properties);
    bson_destroy(&properties);
}

static void append_additional(random_source *r, bson_t *schema, const char *key, int depth) {
    if (random_chance(r, 30))
        BSON_APPEND_BOOL(schema, key, false);
    else
        append_schema(r, schema, key, depth);
}

/* append_count -- a bound that many values keep. */
static void append_count(random_source *r, bson_t *schema, const char *key, int depth) {
    bool least = strncmp(key, "min", 3) == 0;
    int64_t count = least ? random_between(r, 0, 2) : random_between(r, 1, 4);
    (void)depth;
    switch (random_below(r, 5)) {
    case 0: BSON_APPEND_INT64(schema, key, count); break;
    case 1: BSON_APPEND_DOUBLE(schema, key, (double)count); break;
    default: BSON_APPEND_INT32(schema, key, (int32_t)count);
    }
}

static void append_bound(random_source *r, bson_t *schema, const char *key, int depth) {
    (void)depth;
    append_number(r, schema, key);
}

/* append_exclusive -- a number, or true beside the other keyword, which may be there. */
static void append_exclusive(random_source *r, bson_t *schema, const char *key, int depth) {
    const char *other = strcmp(key, "exclusiveMinimum") == 0 ? "minimum" : "maximum";
    if (random_chance(r, 50)) {
        append_bound(r, schema, key, depth);
        return;
    }
    BSON_APPEND_BOOL(schema, key, true);
    if (!has(schema, other))
        append_bound(r, schema, other, depth);
}

static void append_pattern(random_source *r, bson_t *schema, const char *key, int depth) {
    static const char *const patterns[] = {"a",   "b",     "^a", "a$", "^b", "c$",
                                           "^a$", "[ab]+", "ab", "^",  "$",  "\xC3\xA9"};
    /* The macros of libbson use their arguments twice. */
    const char *pattern = PICK(r, patterns);
    (void)depth;
    BSON_APPEND_UTF8(schema, key, pattern);
}

/* append_schemas -- an array of one to three. */
static void append_schemas(random_source *r, bson_t *schema, const char *key, int depth) {
    bson_t list = BSON_INITIALIZER;
    uint64_t count = random_between(r, 1, 3);
    for (uint32_t i = 0; i < count; i++) {
        char index[12];
        snprintf(index, sizeof index, "%u", (unsigned)i);
        append_schema(r, &list, index, depth);
    }
    BSON_APPEND_ARRAY(schema, key, &list);
    bson_destroy(&list);
}

static void append_items(random_source *r, bson_t *schema, const char *key, int depth) {
    (random_chance(r, 60) ? append_schema : append_schemas)(r, schema, key, depth);
}

static void append_flag(random_source *r, bson_t *schema, const char *key, int depth) {
    (void)depth;
    BSON_APPEND_BOOL(schema, key, random_chance(r, 80));
}

static void append_text(random_source *r, bson_t *schema, const char *key, int depth) {
    (void)depth;
    append_string(r, schema, key);
}

/* Those that have schemas within come last. */
static const struct {
    const char *name;
    void (*append)(random_source *r, bson_t *schema, const char *key, int depth);
} keywords[] = {
    {"type", append_type},
    {"bsonType", append_bson_type},
    {"enum", append_enum},
    {"required", append_required},
    {"minProperties", append_count},
    {"maxProperties", append_count},
    {"minimum", append_bound},
    {"maximum", append_bound},
    {"exclusiveMinimum", append_exclusive},
    {"exclusiveMaximum", append_exclusive},
    {"minLength", append_count},
    {"maxLength", append_count},
    {"pattern", append_pattern},
    {"minItems", append_count},
    {"maxItems", append_count},
    {"uniqueItems", append_flag},
    {"title", append_text},
    {"description", append_text},
    {"properties", append_properties},
    {"properties", append_properties},
    {"properties", append_properties},
    {"properties", append_properties},
    {"additionalProperties", append_additional},
    {"items", append_items},
    {"items", append_items},
    {"allOf", append_schemas},
    {"anyOf", append_schemas},
    {"oneOf", append_schemas},
    {"not", append_schema},
};
#define NESTING 11 /* how many have schemas within */
#define KEYWORDS (sizeof keywords / sizeof *keywords)

/* append_keywords -- up to so many; with `depth` 0 none that has schemas within. */
static void append_keywords(random_source *r, bson_t *schema, int64_t most, int depth) {
    for (int64_t left = random_between(r, 0, most); left > 0; left--) {
        size_t which = random_below(r, depth > 0 ? KEYWORDS : KEYWORDS - NESTING);
        if (depth > 0 && random_chance(r, 20 * (unsigned)depth))
            which = KEYWORDS - NESTING + random_below(r, NESTING);
        if (!has(schema, keywords[which].name))
            keywords[which].append(r, schema, keywords[which].name, depth - 1);
    }
}

static void append_schema(random_source *r, bson_t *to, const char *key, int depth) {
    bson_t schema = BSON_INITIALIZER;
    append_keywords(r, &schema, 3, depth);
    BSON_APPEND_DOCUMENT(to, key, &schema);
    bson_destroy(&schema);
}

bson_t *random_schema(random_source *r) {
    bson_t *schema = bson_new();
    append_keywords(r, schema, 4, DEEPEST_SCHEMA);
    return schema;
}

/* ---- Invalid schemas ---- */

/* Keywords with values that they cannot have. */
static const char *const faults[] = {
    "{'what': 1}",
    "{'Type': 'string'}",
    "{'$ref': '#/nowhere'}",
    "{'format': 1}",
    "{'propertyNames': 1}",
    "{'title': 'a', 'title': 'b'}",
    "{'type': 'int'}",
    "{'type': 1}",
    "{'type': []}",
    "{'type': ['string', 'string']}",
    "{'type': ['string', 1]}",
    "{'bsonType': 'integer'}",
    "{'bsonType': 'boolean'}",
    "{'bsonType': {}}",
    "{'bsonType': ['int', 'x']}",
    "{'enum': []}",
    "{'enum': 1}",
    "{'enum': {}}",
    "{'required': []}",
    "{'required': 'a'}",
    "{'required': [1]}",
    "{'properties': 1}",
    "{'properties': []}",
    "{'additionalProperties': 1}",
    "{'additionalProperties': 'x'}",
    "{'minProperties': -1}",
    "{'maxProperties': '1'}",
    "{'minProperties': 1.5}",
    "{'minimum': 'x'}",
    "{'maximum': null}",
    "{'minimum': {}}",
    "{'maximum': true}",
    "{'exclusiveMinimum': true}",
    "{'exclusiveMaximum': true}",
    "{'exclusiveMaximum': 'x'}",
    "{'minLength': -1}",
    "{'maxLength': 1.5}",
    "{'minLength': null}",
    "{'pattern': 1}",
    "{'pattern': '('}",
    "{'pattern': '[a'}",
    "{'items': 1}",
    "{'items': 'x'}",
    "{'minItems': -1}",
    "{'maxItems': {}}",
    "{'uniqueItems': 1}",
    "{'uniqueItems': 'x'}",
    "{'allOf': {}}",
    "{'anyOf': []}",
    "{'oneOf': 1}",
    "{'not': 1}",
    "{'not': 'x'}",
};

/* is_bound -- of minimum and the like, of which one may make another valid. */
static bool is_bound(const char *name) {
    return strstr(name, "inimum") != NULL || strstr(name, "aximum") != NULL;
}

/* clash -- whether a valid schema's keyword must not stand beside the invalid one. */
static bool clash(const char *a, const char *b) {
    return strcmp(a, b) == 0 || (is_bound(a) && is_bound(b));
}

/* surround -- a new schema of valid keywords, and among them the invalid one. */
static bson_t *surround(random_source *r, const bson_t *fault) {
    bson_t valid = BSON_INITIALIZER, *schema = bson_new();
    bson_iter_t iter, invalid;
    append_keywords(r, &valid, 3, 1);
    REQUIRE(bson_iter_init(&invalid, fault) && bson_iter_next(&invalid));
    const char *name = bson_iter_key(&invalid);
    bool first = random_chance(r, 50);
    if (first)
        bson_concat(schema, fault);
    REQUIRE(bson_iter_init(&iter, &valid));
    while (bson_iter_next(&iter)) {
        if (!clash(bson_iter_key(&iter), name))
            bson_append_iter(schema, NULL, 0, &iter);
    }
    if (!first)
        bson_concat(schema, fault);
    bson_destroy(&valid);
    return schema;
}

/* enclose -- a new keyword with an invalid schema within; `step` becomes the way to it. */
static bson_t *enclose(random_source *r, const bson_t *schema, const char **step) {
    static const struct {
        const char *step, *keyword, *member;
        bool array;
    } ways[] = {
        {"properties.a", "properties", "a", false},
        {"items.0", "items", "0", true},
        {"allOf.0", "allOf", "0", true},
        {"anyOf.0", "anyOf", "0", true},
        {"oneOf.0", "oneOf", "0", true},
        {"items", "items", NULL, false},
        {"not", "not", NULL, false},
        {"additionalProperties", "additionalProperties", NULL, false},
    };
    bson_t *result = bson_new(), inner = BSON_INITIALIZER;
    size_t way = random_below(r, sizeof ways / sizeof *ways);
    *step = ways[way].step;
    if (ways[way].member == NULL) {
        BSON_APPEND_DOCUMENT(result, ways[way].keyword, schema);
    } else {
        BSON_APPEND_DOCUMENT(&inner, ways[way].member, schema);
        if (ways[way].array)
            BSON_APPEND_ARRAY(result, ways[way].keyword, &inner);
        else
            BSON_APPEND_DOCUMENT(result, ways[way].keyword, &inner);
    }
    bson_destroy(&inner);
    return result;
}

bson_t *random_invalid_schema(random_source *r, char *path, size_t path_size) {
    bson_t *fault = bson_from_text(PICK(r, faults));
    bson_iter_t iter;
    REQUIRE(bson_iter_init(&iter, fault) && bson_iter_next(&iter));
    snprintf(path, path_size, "%s", bson_iter_key(&iter));
    for (int depth = 0;; depth++) {
        bson_t *schema = surround(r, fault);
        bson_destroy(fault);
        if (depth == DEEPEST_FAULT || random_chance(r, 40))
            return schema;
        const char *step;
        char longer[512];
        fault = enclose(r, schema, &step);
        bson_destroy(schema);
        REQUIRE(snprintf(longer, sizeof longer, "%s.%s", step, path) < (int)sizeof longer);
        REQUIRE(snprintf(path, path_size, "%s", longer) < (int)path_size);
    }
}
