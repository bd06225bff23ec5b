/*
 * generate.c -- see generate.h.
 */
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 4

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* pick -- one entry of an array. */
#define pick(bytes, array) ((array)[fuzz_choose(bytes, COUNT(array))])

static const char *const keys[] = {"a", "b", "c", "d", "x.y", "0"};
static const char *const paths[] = {"a",   "b",   "c",   "d",       "_id",   "a.b", "a.0",
                                    "b.a", "a.a", "a.1", "a.0.b",   "x\\.y", "c.d", "a.b.c",
                                    "**",  "*",   "0",   "a.b.0.c", "e"};
static const char *const texts[] = {"a",  "A",  "b", "ab",       "",      "Ab c, d", "aBC",
                                    "c",  "10", "9", "a10",      "a9",    "Straße",  "STRASSE",
                                    "ba", "d",  "i", "\xC4\xB0", "abcabc"};

void fuzz_require(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "finding: %s\n", what);
    abort();
}

unsigned fuzz_choose(fuzz_bytes *bytes, unsigned n) {
    if (bytes->size == 0 || n == 0)
        return 0;
    bytes->size--;
    return *bytes->data++ % n;
}

tansu_document fuzz_take_document(fuzz_bytes *bytes) {
    size_t size = bytes->size;
    if (size >= 4) {
        uint32_t length = bytes->data[0] | (uint32_t)bytes->data[1] << 8 |
                          (uint32_t)bytes->data[2] << 16 | (uint32_t)bytes->data[3] << 24;
        if (length >= 5 && length < size)
            size = length;
    }
    tansu_document document = {bytes->data, size};
    bytes->data += size;
    bytes->size -= size;
    return document;
}

tansu_document fuzz_of(const bson_t *doc) {
    return (tansu_document){bson_get_data(doc), doc->len};
}

/* ---- Values ---- */

/* append_number -- numbers that are near each other, in all four types. */
static void append_number(fuzz_bytes *bytes, bson_t *doc, const char *key) {
    static const double doubles[] = {0.5,      1,      -0.0,         NAN,
                                     INFINITY, -1e300, 2147483648.0, 9007199254740992.0};
    static const int64_t longs[] = {1, 9007199254740993, INT64_MAX, INT64_MIN, 2147483648, 3};
    static const char *const decimals[] = {"1", "0.5", "1E+6000", "NaN", "-0", "9007199254740993"};
    bson_decimal128_t decimal;
    switch (fuzz_choose(bytes, 8)) {
    case 4: bson_append_double(doc, key, -1, pick(bytes, doubles)); break;
    case 5: bson_append_int64(doc, key, -1, pick(bytes, longs)); break;
    case 6:
        bson_decimal128_from_string(pick(bytes, decimals), &decimal);
        bson_append_decimal128(doc, key, -1, &decimal);
        break;
    case 7: bson_append_int32(doc, key, -1, fuzz_choose(bytes, 2) ? INT32_MAX : INT32_MIN); break;
    default: bson_append_int32(doc, key, -1, (int32_t)fuzz_choose(bytes, 12) - 2); break;
    }
}

static void append_value(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth);

/* append_array -- up to three values. */
static void append_array(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    bson_t array = BSON_INITIALIZER;
    unsigned count = fuzz_choose(bytes, 4);
    char index[12];
    for (unsigned i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%u", i);
        append_value(bytes, &array, index, depth + 1);
    }
    bson_append_array(doc, key, -1, &array);
    bson_destroy(&array);
}

/* append_fields -- up to three fields, none twice. */
static void append_fields(fuzz_bytes *bytes, bson_t *doc, unsigned most, int depth) {
    unsigned count = fuzz_choose(bytes, most + 1);
    for (unsigned i = 0; i < count; i++) {
        const char *key = pick(bytes, keys);
        if (!bson_has_field(doc, key) && (strchr(key, '.') == NULL || depth == 0))
            append_value(bytes, doc, key, depth + 1);
    }
}

/* append_value -- of any kind that may be stored. */
static void append_value(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    static const uint8_t binary[2] = {1, 0};
    bson_t inner = BSON_INITIALIZER;
    bson_oid_t oid = {{0}};
    unsigned kind = fuzz_choose(bytes, depth < DEEPEST ? 16 : 12);
    switch (kind) {
    case 3:
    case 4:
    case 5: bson_append_utf8(doc, key, -1, pick(bytes, texts), -1); break;
    case 6: bson_append_null(doc, key, -1); break;
    case 7: bson_append_bool(doc, key, -1, fuzz_choose(bytes, 2)); break;
    case 8: bson_append_date_time(doc, key, -1, (int64_t)fuzz_choose(bytes, 3) - 1); break;
    case 9:
        oid.bytes[11] = (uint8_t)fuzz_choose(bytes, 2);
        bson_append_oid(doc, key, -1, &oid);
        break;
    case 10: bson_append_binary(doc, key, -1, 0, binary, fuzz_choose(bytes, 3)); break;
    case 11: bson_append_timestamp(doc, key, -1, fuzz_choose(bytes, 2), 1); break;
    case 12:
    case 13: append_array(bytes, doc, key, depth); break;
    case 14:
        append_fields(bytes, &inner, 3, depth + 1);
        bson_append_document(doc, key, -1, &inner);
        break;
    case 15:
        if (fuzz_choose(bytes, 4) == 3)
            bson_append_regex(doc, key, -1, "^a", "i");
        else
            append_array(bytes, doc, key, depth);
        break;
    default: append_number(bytes, doc, key); break;
    }
    bson_destroy(&inner);
}

void fuzz_append_value(fuzz_bytes *bytes, bson_t *doc, const char *key) {
    append_value(bytes, doc, key, 1);
}

bson_t *fuzz_document(fuzz_bytes *bytes, int32_t id) {
    bson_t *doc = bson_new();
    bson_append_int32(doc, "_id", -1, id);
    append_fields(bytes, doc, 5, 0);
    return doc;
}

/* ---- Queries ---- */

enum operand {
    VALUE,
    VALUES,
    SUBQUERY,
    PAIR,
    TEXT,
    TEXTS,
    REGEX,
    ICASE,
    FLAG,
    SIZE,
    TYPE,
    MOD,
    WITHIN,
    NOT,
    EITHER
};

static const struct {
    const char *name;
    enum operand operand;
} operators[] = {
    {"$eq", VALUE},         {"$ne", VALUE},          {"$gt", VALUE},    {"$gte", VALUE},
    {"$lt", VALUE},         {"$lte", VALUE},         {"$in", VALUES},   {"$nin", VALUES},
    {"$bt", PAIR},          {"$between", PAIR},      {"$begin", TEXTS}, {"$beginsWith", TEXT},
    {"$endsWith", TEXTS},   {"$contains", TEXTS},    {"$regex", REGEX}, {"$icase", ICASE},
    {"$strand", TEXTS},     {"$stror", TEXTS},       {"$all", VALUES},  {"$size", SIZE},
    {"$elemMatch", WITHIN}, {"$allMatch", WITHIN},   {"$exists", FLAG}, {"$type", TYPE},
    {"$mod", MOD},          {"$keyMapMatch", ICASE}, {"$not", NOT},     {"$or", EITHER},
    {"$and", EITHER},       {"$nor", EITHER},        {"$in", SUBQUERY}, {"$nin", SUBQUERY},
};

static void append_condition(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth);
static void append_selector(fuzz_bytes *bytes, bson_t *doc, int depth);

/* append_list -- an array of `count` values, or of texts. */
static void append_list(fuzz_bytes *bytes, bson_t *doc, const char *key, unsigned count,
                        bool of_texts, int depth) {
    bson_t array = BSON_INITIALIZER;
    char index[12];
    for (unsigned i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%u", i);
        if (of_texts)
            bson_append_utf8(&array, index, -1, pick(bytes, texts), -1);
        else
            append_value(bytes, &array, index, depth);
    }
    bson_append_array(doc, key, -1, &array);
    bson_destroy(&array);
}

/* append_branches -- an array of conditions, or of whole selectors. */
static void append_branches(fuzz_bytes *bytes, bson_t *doc, const char *key, bool selectors,
                            int depth) {
    bson_t array = BSON_INITIALIZER, inner;
    char index[12];
    unsigned count = 1 + fuzz_choose(bytes, 3);
    for (unsigned i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%u", i);
        if (selectors) {
            bson_init(&inner);
            append_selector(bytes, &inner, depth + 1);
            bson_append_document(&array, index, -1, &inner);
            bson_destroy(&inner);
        } else {
            append_condition(bytes, &array, index, depth + 1);
        }
    }
    bson_append_array(doc, key, -1, &array);
    bson_destroy(&array);
}

/* append_subquery -- of the same collection, or of none. */
static void append_subquery(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    bson_t sub = BSON_INITIALIZER, inner = BSON_INITIALIZER;
    append_selector(bytes, &inner, depth + 2);
    bson_append_utf8(&sub, "$from", -1, fuzz_choose(bytes, 8) == 7 ? "none" : "c", -1);
    bson_append_utf8(&sub, "$field", -1, pick(bytes, paths), -1);
    bson_append_document(&sub, "$query", -1, &inner);
    bson_append_document(doc, key, -1, &sub);
    bson_destroy(&inner);
    bson_destroy(&sub);
}

/* append_mod -- [divisor, remainder]. */
static void append_mod(fuzz_bytes *bytes, bson_t *doc, const char *key) {
    bson_t array = BSON_INITIALIZER;
    bson_append_int32(&array, "0", -1, (int32_t)fuzz_choose(bytes, 5) - 1);
    bson_append_int32(&array, "1", -1, (int32_t)fuzz_choose(bytes, 3));
    bson_append_array(doc, key, -1, &array);
    bson_destroy(&array);
}

/* append_operator -- an operator with an operand that fits it; now and then with any value. */
static void append_operator(fuzz_bytes *bytes, bson_t *doc, int depth) {
    static const char *const patterns[] = {"^a", "b$",    "[ab]c", "^ab|c",
                                           ".",  "^\\d+", "(?i)A", "("};
    static const char *const types[] = {"number", "string", "array", "object",
                                        "null",   "int",    "bool",  "none"};
    static const char *const of_texts[] = {"$eq",       "$begin", "$contains",
                                           "$endsWith", "$gt",    "$regex"};
    unsigned which = fuzz_choose(bytes, COUNT(operators));
    const char *name = operators[which].name;
    bson_t inner = BSON_INITIALIZER;
    if (bson_has_field(doc, name) || depth > 6) {
        bson_destroy(&inner);
        return;
    }
    switch (fuzz_choose(bytes, 24) == 23 ? VALUE : operators[which].operand) {
    case VALUE: append_value(bytes, doc, name, depth); break;
    case VALUES: append_list(bytes, doc, name, fuzz_choose(bytes, 4), false, depth); break;
    case SUBQUERY: append_subquery(bytes, doc, name, depth); break;
    case PAIR: append_list(bytes, doc, name, 2, false, depth); break;
    case TEXTS:
        if (fuzz_choose(bytes, 2)) {
            append_list(bytes, doc, name, 1 + fuzz_choose(bytes, 2), true, depth);
            break;
        }
        /* fallthrough */
    case TEXT: bson_append_utf8(doc, name, -1, pick(bytes, texts), -1); break;
    case REGEX:
        bson_append_utf8(doc, name, -1, pick(bytes, patterns), -1);
        if (fuzz_choose(bytes, 2))
            bson_append_utf8(doc, "$options", -1, "i", -1);
        break;
    case ICASE:
        bson_append_utf8(&inner, pick(bytes, of_texts), -1, pick(bytes, texts), -1);
        bson_append_document(doc, name, -1, &inner);
        break;
    case FLAG: bson_append_bool(doc, name, -1, fuzz_choose(bytes, 2)); break;
    case SIZE: bson_append_int32(doc, name, -1, (int32_t)fuzz_choose(bytes, 4)); break;
    case TYPE: bson_append_utf8(doc, name, -1, pick(bytes, types), -1); break;
    case MOD: append_mod(bytes, doc, name); break;
    case WITHIN:
        if (fuzz_choose(bytes, 2)) {
            append_selector(bytes, &inner, depth + 1);
            bson_append_document(doc, name, -1, &inner);
            break;
        }
        /* fallthrough */
    case NOT: append_condition(bytes, doc, name, depth + 1); break;
    case EITHER: append_branches(bytes, doc, name, false, depth); break;
    }
    bson_destroy(&inner);
}

/* append_condition -- what a path must be. */
static void append_condition(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    bson_t inner = BSON_INITIALIZER;
    unsigned kind = fuzz_choose(bytes, 8), count;
    switch (kind) {
    case 6: append_value(bytes, doc, key, depth); break;
    case 7:
        if (depth < DEEPEST)
            append_selector(bytes, &inner, depth + 1);
        bson_append_document(doc, key, -1, &inner);
        break;
    default:
        count = 1 + (kind == 5);
        for (unsigned i = 0; i < count; i++)
            append_operator(bytes, &inner, depth);
        bson_append_document(doc, key, -1, &inner);
        break;
    }
    bson_destroy(&inner);
}

/* append_selector -- up to three paths, and sometimes logic. */
static void append_selector(fuzz_bytes *bytes, bson_t *doc, int depth) {
    static const char *const logic[] = {"$or", "$and", "$nor"};
    unsigned count = fuzz_choose(bytes, 4);
    for (unsigned i = 0; i < count; i++) {
        bool is_logic = depth < DEEPEST && fuzz_choose(bytes, 5) == 4;
        const char *key = is_logic ? pick(bytes, logic) : pick(bytes, paths);
        if (bson_has_field(doc, key))
            continue;
        if (is_logic)
            append_branches(bytes, doc, key, true, depth);
        else
            append_condition(bytes, doc, key, depth);
    }
}

bson_t *fuzz_query(fuzz_bytes *bytes) {
    bson_t *doc = bson_new();
    append_selector(bytes, doc, 0);
    return doc;
}

/* ---- Hints and indexes ---- */

/* append_paths -- one to three paths, each 1 or -1. */
static void append_paths(fuzz_bytes *bytes, bson_t *doc) {
    unsigned count = 1 + fuzz_choose(bytes, 3);
    for (unsigned i = 0; i < count; i++) {
        const char *path = pick(bytes, paths);
        if (*path != '*')
            bson_append_int32(doc, path, -1, fuzz_choose(bytes, 2) ? -1 : 1);
    }
}

/* append_field_choice -- a projection. */
static void append_projection(fuzz_bytes *bytes, bson_t *doc) {
    bson_t fields = BSON_INITIALIZER, inner = BSON_INITIALIZER;
    unsigned count = fuzz_choose(bytes, 3), mode = fuzz_choose(bytes, 2);
    for (unsigned i = 0; i < count; i++)
        bson_append_int32(&fields, pick(bytes, paths), -1, (int32_t)mode);
    switch (fuzz_choose(bytes, 4)) {
    case 1:
        bson_append_int32(&inner, "$slice", -1, (int32_t)fuzz_choose(bytes, 5) - 2);
        bson_append_document(&fields, "a", -1, &inner);
        break;
    case 2:
        append_condition(bytes, &inner, "$elemMatch", 1);
        bson_append_document(&fields, "b", -1, &inner);
        break;
    case 3: bson_append_int32(&fields, "a.$", -1, 1); break;
    default: break;
    }
    bson_append_document(doc, "$fields", -1, &fields);
    bson_destroy(&fields);
    bson_destroy(&inner);
}

bson_t *fuzz_hints(fuzz_bytes *bytes) {
    bson_t *doc = bson_new(), order = BSON_INITIALIZER;
    unsigned which = fuzz_choose(bytes, 64);
    if (which & 1) {
        append_paths(bytes, &order);
        bson_append_document(doc, "$orderby", -1, &order);
    }
    if (which & 2)
        bson_append_int32(doc, "$skip", -1, (int32_t)fuzz_choose(bytes, 4));
    if (which & 4)
        bson_append_int32(doc, "$max", -1, (int32_t)fuzz_choose(bytes, 6));
    if (which & 8)
        append_projection(bytes, doc);
    if (which & 16)
        bson_append_utf8(doc, "$collation", -1,
                         fuzz_choose(bytes, 2) ? "caseInsensitive" : "numeric", -1);
    if ((which & 32) && fuzz_choose(bytes, 2))
        bson_append_bool(doc, "$onlycount", -1, true);
    bson_destroy(&order);
    return doc;
}

bson_t *fuzz_index_keys(fuzz_bytes *bytes) {
    bson_t *doc = bson_new();
    append_paths(bytes, doc);
    return doc;
}

bson_t *fuzz_index_options(fuzz_bytes *bytes, bool unique) {
    static const char *const comparisons[] = {"$gt", "$lt", "$gte", "$eq", "$lte"};
    bson_t *doc = bson_new(), filter = BSON_INITIALIZER, test = BSON_INITIALIZER;
    unsigned which = fuzz_choose(bytes, 16);
    if ((which & 1) && unique)
        bson_append_bool(doc, "unique", -1, true);
    if (which & 2)
        bson_append_bool(doc, "sparse", -1, true);
    if (which & 4)
        bson_append_bool(doc, "caseInsensitive", -1, true);
    if (which & 8) {
        if (fuzz_choose(bytes, 3) == 2)
            bson_append_bool(&test, "$exists", -1, true);
        else
            append_value(bytes, &test, pick(bytes, comparisons), DEEPEST);
        bson_append_document(&filter, pick(bytes, paths), -1, &test);
        bson_append_document(doc, "partialFilter", -1, &filter);
    }
    bson_destroy(&filter);
    bson_destroy(&test);
    return doc;
}

/* ---- Updates ---- */

enum change { ANY, NUMBER, TO_PATH, MANY, EACH, END, BITS, CONDITION };

static const struct {
    const char *name;
    enum change operand;
} updates[] = {
    {"$set", ANY},        {"$unset", ANY},    {"$inc", NUMBER},     {"$mul", NUMBER},
    {"$min", ANY},        {"$max", ANY},      {"$rename", TO_PATH}, {"$setOnInsert", ANY},
    {"$push", EACH},      {"$pushAll", MANY}, {"$addToSet", EACH},  {"$addToSetAll", MANY},
    {"$pull", CONDITION}, {"$pullAll", MANY}, {"$pop", END},        {"$bit", BITS},
    {"$upsert", ANY},
};

/* append_each -- a value, or {"$each": […]} with modifiers. */
static void append_each(fuzz_bytes *bytes, bson_t *doc, const char *path) {
    bson_t inner = BSON_INITIALIZER;
    unsigned which = fuzz_choose(bytes, 16);
    if (which < 4) {
        append_value(bytes, doc, path, 2);
    } else {
        append_list(bytes, &inner, "$each", fuzz_choose(bytes, 4), false, 2);
        if (which & 1)
            bson_append_int32(&inner, "$position", -1, (int32_t)fuzz_choose(bytes, 6) - 3);
        if (which & 2)
            bson_append_int32(&inner, "$sort", -1, fuzz_choose(bytes, 2) ? 1 : -1);
        if (which & 4)
            bson_append_int32(&inner, "$slice", -1, (int32_t)fuzz_choose(bytes, 6) - 3);
        bson_append_document(doc, path, -1, &inner);
    }
    bson_destroy(&inner);
}

/* append_change -- one path of an operator. */
static void append_change(fuzz_bytes *bytes, bson_t *doc, enum change operand) {
    static const char *const paths[] = {"a",   "b",      "c",     "a.b",     "a.0", "a.$", "a.$[]",
                                        "d.e", "a.$[i]", "b.$.c", "b.$[].a", "_id", "a.3", "x\\.y"};
    const char *path = pick(bytes, paths);
    bson_t inner = BSON_INITIALIZER;
    if (bson_has_field(doc, path)) {
        bson_destroy(&inner);
        return;
    }
    switch (operand) {
    case ANY: append_value(bytes, doc, path, 1); break;
    case NUMBER: append_number(bytes, doc, path); break;
    case TO_PATH: bson_append_utf8(doc, path, -1, pick(bytes, paths), -1); break;
    case MANY: append_list(bytes, doc, path, fuzz_choose(bytes, 4), false, 1); break;
    case EACH: append_each(bytes, doc, path); break;
    case END: bson_append_int32(doc, path, -1, fuzz_choose(bytes, 2) ? 1 : -1); break;
    case BITS:
        bson_append_int32(&inner, fuzz_choose(bytes, 2) ? "xor" : "and", -1, 6);
        bson_append_document(doc, path, -1, &inner);
        break;
    case CONDITION: append_condition(bytes, doc, path, 2); break;
    }
    bson_destroy(&inner);
}

bson_t *fuzz_update(fuzz_bytes *bytes) {
    bson_t *doc = bson_new(), inner;
    unsigned count = fuzz_choose(bytes, 4);
    if (fuzz_choose(bytes, 16) == 15) {
        append_fields(bytes, doc, 3, 0);
        return doc;
    }
    for (unsigned i = 0; i <= count; i++) {
        unsigned which = fuzz_choose(bytes, COUNT(updates));
        unsigned paths_count = 1 + fuzz_choose(bytes, 2);
        if (bson_has_field(doc, updates[which].name))
            continue;
        bson_init(&inner);
        for (unsigned k = 0; k < paths_count; k++)
            append_change(bytes, &inner, updates[which].operand);
        bson_append_document(doc, updates[which].name, -1, &inner);
        bson_destroy(&inner);
    }
    return doc;
}

/* ---- The database ---- */

tansu_db *fuzz_open(void) {
    tansu_options options;
    tansu_db *db = NULL;
    tansu_options_init(&options);
    options.store = TANSU_STORE_MEMORY;
    options.segment_size = 1024 * 1024;
    fuzz_require(tansu_open(&options, &db, NULL) == TANSU_OK, "a memory store does not open");
    return db;
}

void fuzz_close(tansu_db *db) {
    fuzz_require(tansu_shutdown(db, NULL) == TANSU_OK, "the database does not close");
}

void fuzz_save(tansu_db *db, tansu_document document) {
    tansu_status valid = tansu_validate(document, NULL);
    tansu_status saved = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, NULL);
    fuzz_require((valid == TANSU_OK) == (saved == TANSU_OK) || saved == TANSU_E_NOT_UNIQUE,
                 "a document is saved though it is not valid, or the other way round");
}

tansu_status fuzz_find(tansu_db *db, tansu_txn *txn, tansu_document query, tansu_document hints,
                       const char *index, tansu_buffer *answer) {
    bson_t *more = NULL;
    tansu_cursor *cursor = NULL;
    tansu_document document;
    answer->size = 0;
    if (index != NULL && hints.size >= 5) {
        more = bson_new_from_data(hints.data, hints.size);
        fuzz_require(more != NULL, "valid hints are expected here");
        bson_append_utf8(more, "$index", -1, index, -1);
        hints = fuzz_of(more);
    }
    tansu_status status = tansu_find(db, txn, "c", query, hints, &cursor, NULL);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, NULL)) == TANSU_OK) {
        size_t size = answer->size + document.size;
        if (size > answer->capacity) {
            uint8_t *data = realloc(answer->data, 2 * size);
            fuzz_require(data != NULL, "no memory");
            answer->data = data;
            answer->capacity = 2 * size;
        }
        memcpy(answer->data + answer->size, document.data, document.size);
        answer->size = size;
    }
    tansu_cursor_close(cursor);
    if (more != NULL)
        bson_destroy(more);
    return status == TANSU_DONE ? TANSU_OK : status;
}

bool fuzz_same(const tansu_buffer *a, const tansu_buffer *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}
