/*
 * support/model/schema_model.c -- checks one document by one schema, with libbson.
 */
#include "support/model/schema_model.h"

#include "support/check.h"
#include "support/model/query_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 128

/* A value, where it is, and the schema that it must satisfy. */
typedef struct subject {
    const bson_t *schema;
    const bson_iter_t *value;
    const char *path;
    text *found; /* the lines of the violations */
} subject;

static void check_value(const bson_t *schema, const bson_iter_t *value, const char *path,
                        text *found);

/* ---- Parts of documents ---- */

static void violation(const subject *s, const char *path, const char *rule) {
    put(s->found, "%s: %s\n", path, rule);
}

/* inside -- the document or array that a value is; valid as long as the value. */
static void inside(const bson_iter_t *value, bson_t *result) {
    const uint8_t *data;
    uint32_t size;
    if (BSON_ITER_HOLDS_ARRAY(value))
        bson_iter_array(value, &size, &data);
    else
        bson_iter_document(value, &size, &data);
    REQUIRE(bson_init_static(result, data, size));
}

static uint32_t size_of(const bson_iter_t *value) {
    bson_t members;
    inside(value, &members);
    return bson_count_keys(&members);
}

/* find -- a field by its name, which may have dots. */
static bool find(const bson_t *doc, const char *name, bson_iter_t *result) {
    return bson_iter_init_find(result, doc, name);
}

/* path_to -- the path of a member of the subject. */
static void path_to(const subject *s, const char *name, char path[PATH_SIZE]) {
    int size = snprintf(path, PATH_SIZE, "%s%s%s", s->path, *s->path ? "." : "", name);
    REQUIRE(size < PATH_SIZE);
}

/* check_member -- checks a member of the subject by a schema that is the value of a keyword. */
static void check_member(const subject *s, const bson_iter_t *schema, const bson_iter_t *member) {
    char path[PATH_SIZE];
    bson_t inner;
    inside(schema, &inner);
    path_to(s, bson_iter_key(member), path);
    check_value(&inner, member, path, s->found);
}

/* ---- Any value ---- */

static bool is_number(const bson_iter_t *value) {
    return BSON_ITER_HOLDS_NUMBER(value) || BSON_ITER_HOLDS_DECIMAL128(value);
}

/* is_integer -- whether a number is whole. */
static bool is_integer(const bson_iter_t *value) {
    char digits[BSON_DECIMAL128_STRING];
    bson_decimal128_t decimal;
    double number = 0;
    if (BSON_ITER_HOLDS_DOUBLE(value)) {
        number = bson_iter_double(value);
    } else if (bson_iter_decimal128(value, &decimal)) {
        bson_decimal128_to_string(&decimal, digits);
        number = strtod(digits, NULL);
    }
    return is_number(value) && isfinite(number) && number == floor(number);
}

/* is_of_type -- by a name of JSON's or BSON's. */
static bool is_of_type(const bson_iter_t *value, const char *name) {
    static const struct {
        const char *name;
        bson_type_t type;
    } types[] = {
        {"string", BSON_TYPE_UTF8},         {"object", BSON_TYPE_DOCUMENT},
        {"array", BSON_TYPE_ARRAY},         {"boolean", BSON_TYPE_BOOL},
        {"null", BSON_TYPE_NULL},           {"bool", BSON_TYPE_BOOL},
        {"int", BSON_TYPE_INT32},           {"long", BSON_TYPE_INT64},
        {"double", BSON_TYPE_DOUBLE},       {"decimal", BSON_TYPE_DECIMAL128},
        {"date", BSON_TYPE_DATE_TIME},      {"objectId", BSON_TYPE_OID},
        {"binData", BSON_TYPE_BINARY},      {"regex", BSON_TYPE_REGEX},
        {"minKey", BSON_TYPE_MINKEY},       {"maxKey", BSON_TYPE_MAXKEY},
        {"timestamp", BSON_TYPE_TIMESTAMP},
    };
    if (strcmp(name, "number") == 0)
        return is_number(value);
    if (strcmp(name, "integer") == 0)
        return is_integer(value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(name, types[i].name) == 0)
            return bson_iter_type(value) == types[i].type;
    }
    check_note("The model does not know the type %s", name);
    REQUIRE(false);
    return false;
}

static void check_type(const subject *s, const bson_iter_t *operand) {
    bool one = BSON_ITER_HOLDS_UTF8(operand);
    bool holds = one && is_of_type(s->value, bson_iter_utf8(operand, NULL));
    bson_iter_t name;
    if (!one && bson_iter_recurse(operand, &name)) {
        while (bson_iter_next(&name))
            holds = holds || is_of_type(s->value, bson_iter_utf8(&name, NULL));
    }
    if (!holds)
        violation(s, s->path, bson_iter_key(operand));
}

static bool equal(const bson_iter_t *a, const bson_iter_t *b);

/* equal_members -- documents by names, whatever the order; arrays by positions. */
static bool equal_members(const bson_iter_t *a, const bson_iter_t *b) {
    bson_t other;
    inside(b, &other);
    bson_iter_t x, y;
    if (size_of(a) != size_of(b) || !bson_iter_recurse(a, &x))
        return false;
    while (bson_iter_next(&x)) {
        if (!find(&other, bson_iter_key(&x), &y) || !equal(&x, &y))
            return false;
    }
    return true;
}

/* equal -- numbers by value, all else with its type. */
static bool equal(const bson_iter_t *a, const bson_iter_t *b) {
    if (is_number(a) && is_number(b))
        return model_compare(a, b) == 0;
    if (bson_iter_type(a) != bson_iter_type(b))
        return false;
    bool members = BSON_ITER_HOLDS_DOCUMENT(a) || BSON_ITER_HOLDS_ARRAY(a);
    return members ? equal_members(a, b) : model_compare(a, b) == 0;
}

static void check_enum(const subject *s, const bson_iter_t *operand) {
    bson_iter_t value;
    REQUIRE(bson_iter_recurse(operand, &value));
    while (bson_iter_next(&value)) {
        if (equal(&value, s->value))
            return;
    }
    violation(s, s->path, "enum");
}

/* ---- Documents ---- */

static void check_required(const subject *s, const bson_iter_t *operand) {
    bson_t members;
    bson_iter_t name, member;
    char path[PATH_SIZE];
    inside(s->value, &members);
    REQUIRE(bson_iter_recurse(operand, &name));
    while (bson_iter_next(&name)) {
        if (find(&members, bson_iter_utf8(&name, NULL), &member))
            continue;
        path_to(s, bson_iter_utf8(&name, NULL), path);
        violation(s, path, "required");
    }
}

/* schema_of -- the schema that `properties` has for a name. */
static bool schema_of(const subject *s, const char *name, bson_iter_t *result) {
    bson_iter_t properties;
    bson_t schemas;
    if (!find(s->schema, "properties", &properties))
        return false;
    inside(&properties, &schemas);
    return find(&schemas, name, result);
}

/* check_additional -- a member that has no schema of its own. */
static void check_additional(const subject *s, const bson_iter_t *member) {
    bson_iter_t additional;
    char path[PATH_SIZE];
    bool is_id = *s->path == 0 && strcmp(bson_iter_key(member), "_id") == 0;
    if (is_id || !find(s->schema, "additionalProperties", &additional))
        return;
    if (BSON_ITER_HOLDS_DOCUMENT(&additional)) {
        check_member(s, &additional, member);
    } else if (!bson_iter_bool(&additional)) {
        path_to(s, bson_iter_key(member), path);
        violation(s, path, "additionalProperties");
    }
}

/* is_first -- whether a keyword comes before another, or that is not there. */
static bool is_first(const subject *s, const char *keyword, const char *other) {
    bson_iter_t iter;
    REQUIRE(bson_iter_init(&iter, s->schema));
    while (bson_iter_next(&iter) && strcmp(bson_iter_key(&iter), keyword) != 0) {
        if (strcmp(bson_iter_key(&iter), other) == 0)
            return false;
    }
    return true;
}

/* check_members -- by `properties` and `additionalProperties` together, at the first of them. */
static void check_members(const subject *s, const bson_iter_t *operand) {
    bool named = strcmp(bson_iter_key(operand), "properties") == 0;
    bson_iter_t member, schema;
    if (!is_first(s, bson_iter_key(operand), named ? "additionalProperties" : "properties"))
        return;
    REQUIRE(bson_iter_recurse(s->value, &member));
    while (bson_iter_next(&member)) {
        if (schema_of(s, bson_iter_key(&member), &schema))
            check_member(s, &schema, &member);
        else
            check_additional(s, &member);
    }
}

/* check_count -- by minProperties, maxItems and the like: a count against the least or the most. */
static void check_count(const subject *s, const bson_iter_t *operand, int64_t count) {
    bool least = strncmp(bson_iter_key(operand), "min", 3) == 0;
    int64_t bound = bson_iter_as_int64(operand);
    if (least ? count < bound : count > bound)
        violation(s, s->path, bson_iter_key(operand));
}

static void check_member_count(const subject *s, const bson_iter_t *operand) {
    check_count(s, operand, size_of(s->value));
}

/* ---- Numbers ---- */

/* is_within -- whether the subject is on the right side of a bound; NaN is in no range. */
static bool is_within(const subject *s, const bson_iter_t *bound, bool least, bool exclusive) {
    bool is_nan = BSON_ITER_HOLDS_DOUBLE(s->value) && isnan(bson_iter_double(s->value));
    int order = model_compare(s->value, bound);
    return !is_nan && ((least ? order > 0 : order < 0) || (order == 0 && !exclusive));
}

/* check_bound -- by minimum or maximum, which the keyword beside it may make exclusive. */
static void check_bound(const subject *s, const bson_iter_t *operand) {
    bool least = strcmp(bson_iter_key(operand), "minimum") == 0;
    const char *other = least ? "exclusiveMinimum" : "exclusiveMaximum";
    bson_iter_t flag;
    bool exclusive = find(s->schema, other, &flag) && BSON_ITER_HOLDS_BOOL(&flag);
    if (!is_within(s, operand, least, exclusive))
        violation(s, s->path, exclusive ? other : bson_iter_key(operand));
}

static void check_exclusive(const subject *s, const bson_iter_t *operand) {
    bool least = strcmp(bson_iter_key(operand), "exclusiveMinimum") == 0;
    if (is_number(operand) && !is_within(s, operand, least, true))
        violation(s, s->path, bson_iter_key(operand));
}

/* ---- Strings ---- */

static void check_length(const subject *s, const bson_iter_t *operand) {
    int64_t count = 0;
    for (const char *c = bson_iter_utf8(s->value, NULL); *c; c++)
        count += ((unsigned char)*c & 0xC0) != 0x80;
    check_count(s, operand, count);
}

/* matches -- a pattern: characters, or a set of them, one of which is enough; "^" and "$". */
static bool matches(const char *pattern, const char *string) {
    bool first = *pattern == '^';
    char part[16];
    snprintf(part, sizeof part, "%s", pattern + first);
    size_t size = strlen(part), length = strlen(string);
    bool last = size > 0 && part[size - 1] == '$';
    if (part[0] == '[') {
        part[strcspn(part, "]")] = 0;
        return strpbrk(string, part + 1) != NULL;
    }
    if (last)
        part[--size] = 0;
    if (first && last)
        return strcmp(string, part) == 0;
    if (first)
        return strncmp(string, part, size) == 0;
    return last ? length >= size && strcmp(string + length - size, part) == 0
                : strstr(string, part) != NULL;
}

static void check_pattern(const subject *s, const bson_iter_t *operand) {
    if (!matches(bson_iter_utf8(operand, NULL), bson_iter_utf8(s->value, NULL)))
        violation(s, s->path, "pattern");
}

/* ---- Arrays ---- */

static void check_items(const subject *s, const bson_iter_t *operand) {
    bson_t schemas;
    inside(operand, &schemas);
    bson_iter_t element, one;
    REQUIRE(bson_iter_recurse(s->value, &element));
    while (bson_iter_next(&element)) {
        if (BSON_ITER_HOLDS_DOCUMENT(operand))
            check_member(s, operand, &element);
        else if (find(&schemas, bson_iter_key(&element), &one))
            check_member(s, &one, &element);
    }
}

static void check_unique(const subject *s, const bson_iter_t *operand) {
    bson_iter_t a, b;
    REQUIRE(bson_iter_recurse(s->value, &a));
    while (bson_iter_bool(operand) && bson_iter_next(&a)) {
        for (b = a; bson_iter_next(&b);) {
            if (equal(&a, &b)) {
                violation(s, s->path, "uniqueItems");
                return;
            }
        }
    }
}

/* ---- Combinations ---- */

static void check_all(const subject *s, const bson_iter_t *operand) {
    bson_iter_t one;
    REQUIRE(bson_iter_recurse(operand, &one));
    while (bson_iter_next(&one)) {
        bson_t schema;
        inside(&one, &schema);
        check_value(&schema, s->value, s->path, s->found);
    }
}

/* satisfies -- whether the subject satisfies another schema. */
static bool satisfies(const subject *s, const bson_iter_t *other) {
    bson_t schema;
    inside(other, &schema);
    text found;
    found.size = 0;
    check_value(&schema, s->value, s->path, &found);
    return found.size == 0;
}

static void check_some(const subject *s, const bson_iter_t *operand) {
    bool any = strcmp(bson_iter_key(operand), "anyOf") == 0;
    unsigned satisfied = 0;
    bson_iter_t one;
    REQUIRE(bson_iter_recurse(operand, &one));
    while (bson_iter_next(&one))
        satisfied += satisfies(s, &one);
    if (any ? satisfied == 0 : satisfied != 1)
        violation(s, s->path, bson_iter_key(operand));
}

static void check_not(const subject *s, const bson_iter_t *operand) {
    if (satisfies(s, operand))
        violation(s, s->path, "not");
}

/* ---- Keywords ---- */

/* The values that a keyword is about. */
typedef enum value_kind { ANY, DOCUMENTS, NUMBERS, STRINGS, ARRAYS } value_kind;

static const struct {
    const char *name;
    value_kind of;
    void (*check)(const subject *s, const bson_iter_t *operand);
} keywords[] = {
    {"type", ANY, check_type},
    {"bsonType", ANY, check_type},
    {"enum", ANY, check_enum},
    {"required", DOCUMENTS, check_required},
    {"properties", DOCUMENTS, check_members},
    {"additionalProperties", DOCUMENTS, check_members},
    {"minProperties", DOCUMENTS, check_member_count},
    {"maxProperties", DOCUMENTS, check_member_count},
    {"minimum", NUMBERS, check_bound},
    {"maximum", NUMBERS, check_bound},
    {"exclusiveMinimum", NUMBERS, check_exclusive},
    {"exclusiveMaximum", NUMBERS, check_exclusive},
    {"minLength", STRINGS, check_length},
    {"maxLength", STRINGS, check_length},
    {"pattern", STRINGS, check_pattern},
    {"items", ARRAYS, check_items},
    {"minItems", ARRAYS, check_member_count},
    {"maxItems", ARRAYS, check_member_count},
    {"uniqueItems", ARRAYS, check_unique},
    {"allOf", ANY, check_all},
    {"anyOf", ANY, check_some},
    {"oneOf", ANY, check_some},
    {"not", ANY, check_not},
};

static value_kind kind_of(const bson_iter_t *value) {
    switch (bson_iter_type(value)) {
    case BSON_TYPE_DOCUMENT: return DOCUMENTS;
    case BSON_TYPE_ARRAY: return ARRAYS;
    case BSON_TYPE_UTF8: return STRINGS;
    default: return is_number(value) ? NUMBERS : ANY;
    }
}

static void check_keyword(const subject *s, const bson_iter_t *operand) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        bool meant = keywords[i].of == ANY || keywords[i].of == kind_of(s->value);
        if (meant && strcmp(keywords[i].name, bson_iter_key(operand)) == 0)
            keywords[i].check(s, operand);
    }
}

static void check_value(const bson_t *schema, const bson_iter_t *value, const char *path,
                        text *found) {
    const subject s = {schema, value, path, found};
    bson_iter_t operand;
    REQUIRE(bson_iter_init(&operand, schema));
    while (bson_iter_next(&operand))
        check_keyword(&s, &operand);
}

void schema_model_check(const bson_t *schema, const bson_t *doc, text *found) {
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t value;
    BSON_APPEND_DOCUMENT(&holder, "document", doc);
    REQUIRE(bson_iter_init_find(&value, &holder, "document"));
    check_value(schema, &value, "", found);
    bson_destroy(&holder);
}
