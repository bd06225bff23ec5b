/*
 * query/expression/operators_miscellaneous.c -- $rand, $meta, sizes, hashes, timestamps.
 */
#include "query/expression/expression_internal.h"

#include "bson/number.h"
#include "util/checksum/md5.h"

#include <string.h>

/* ---- Random numbers ---- */

/* compile_rand -- no operands: {} or []. */
static tansu_status compile_rand(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_iter iter;
    if ((operand->type == DOC_DOCUMENT || operand->type == DOC_ARRAY) &&
        doc_iter_value(&iter, operand) && !doc_iter_next(&iter))
        return compile_args(c, e, 0);
    return compile_error(c, e->op->name, "Takes no operands: {\"$rand\": {}}");
}

/* random_number -- from 0 to less than 1, by the generator splitmix64. */
static tansu_status random_number(evaluation *ev, const expression *e, doc_value *result) {
    (void)e;
    ev->random += 0x9E3779B97F4A7C15u;
    uint64_t x = ev->random;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return result_double(ev, (double)(x >> 11) / 9007199254740992.0, result);
}

/* ---- Metadata ---- */

static const char text_score[] = "textScore";

bool expression_is_score(const doc_value *value) {
    doc_iter iter, rest;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        strcmp(iter.key, "$meta") != 0 || iter.value.type != DOC_STRING)
        return false;
    size_t size;
    const char *name = doc_string(&iter.value, &size);
    rest = iter;
    return size == sizeof text_score - 1 && memcmp(name, text_score, size) == 0 &&
           !doc_iter_next(&rest);
}

/* document_score -- of the document in the search. */
static tansu_status document_score(evaluation *ev, const expression *e, doc_value *result) {
    (void)e;
    return result_double(ev, ev->score, result);
}

/* compile_score -- {"$meta": "textScore"}. */
static tansu_status compile_score(expression_compiler *c, expression *e) {
    if (c->score == SCORE_THERE) {
        c->reads_score = c->reads_document = true;
        return compile_args(c, e, 0);
    }
    return compile_error(c, e->op->name, "%s",
                         c->score == SCORE_BEHIND ? EXPRESSION_SCORE_BEHIND : EXPRESSION_NO_SCORE);
}

/* compile_meta -- of all metadata documents have a score only. */
static tansu_status compile_meta(expression_compiler *c, const doc_value *operand, expression *e) {
    static const char *const names[] = {"searchScore",
                                        "searchHighlights",
                                        "searchScoreDetails",
                                        "geoNearDistance",
                                        "sortKey",
                                        "vectorSearchScore",
                                        "searchSequenceToken",
                                        "geoNearPoint",
                                        "randVal",
                                        "recordId",
                                        "indexKey",
                                        "score",
                                        "scoreDetails"};
    size_t size;
    if (operand->type != DOC_STRING)
        return compile_error(c, e->op->name, "Takes the name of metadata, not a value of type %s",
                             type_name(operand));
    const char *name = doc_string(operand, &size);
    if (size == sizeof text_score - 1 && memcmp(name, text_score, size) == 0)
        return compile_score(c, e);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return error_set(c->error, TANSU_E_UNSUPPORTED, e->op->name,
                             "Metadata \"%s\" are not there; documents have \"textScore\" only",
                             names[i]);
    }
    return compile_error(c, e->op->name, "There are no metadata \"%.100s\"", name);
}

/* ---- Sizes ---- */

static tansu_status binary_size(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return result_null(result);
    if (value.type == DOC_STRING)
        return result_int32(ev, (int32_t)(value.size - 5), result);
    if (value.type == DOC_BINARY)
        return result_int32(ev, (int32_t)load_u32(value.data), result);
    return evaluation_error(ev, e, "Takes a string or binary data, not a value of type %s",
                            type_name(&value));
}

static tansu_status bson_size(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return result_null(result);
    if (value.type == DOC_DOCUMENT)
        return result_int32(ev, (int32_t)value.size, result);
    return evaluation_error(ev, e, "Takes a document, not a value of type %s", type_name(&value));
}

/* ---- Hashes ---- */

/* Deeper than documents are, with what expressions nest around them. */
#define HASH_DEPTH_MAX 1000

/* add_int32, add_int64 -- numbers as bytes. */
static void add_int32(md5 *m, int32_t number) {
    uint8_t bytes[4];
    store_u32(bytes, (uint32_t)number);
    md5_add(m, bytes, sizeof bytes);
}
static void add_int64(md5 *m, int64_t number) {
    uint8_t bytes[8];
    store_u64(bytes, (uint64_t)number);
    md5_add(m, bytes, sizeof bytes);
}

/* hash_type -- the number that MongoDB's hashes have of a type; those that compare as equal have
 * one. */
static int32_t hash_type(uint8_t type) {
    static const uint8_t types[] = {
        [DOC_DOUBLE] = 10,    [DOC_STRING] = 15,   [DOC_DOCUMENT] = 20,   [DOC_ARRAY] = 25,
        [DOC_BINARY] = 30,    [DOC_UNDEFINED] = 0, [DOC_OID] = 35,        [DOC_BOOL] = 40,
        [DOC_DATE] = 45,      [DOC_NULL] = 5,      [DOC_REGEX] = 50,      [DOC_DBPOINTER] = 55,
        [DOC_CODE] = 60,      [DOC_SYMBOL] = 15,   [DOC_CODE_SCOPE] = 65, [DOC_INT32] = 10,
        [DOC_TIMESTAMP] = 47, [DOC_INT64] = 10,    [DOC_DECIMAL128] = 10};
    return type < sizeof types ? types[type] : (int8_t)type;
}

/* hash_number -- the whole number that a number counts as. */
static int64_t hash_number(const doc_value *value) {
    static const uint8_t zero[4] = {0};
    const doc_value nothing = {zero, sizeof zero, DOC_INT32};
    int64_t number;
    if (number_whole(value, FRACTION_HALF_EVEN, &number))
        return number;
    if (number_is_nan(value))
        return 0;
    /* 2^63 as a double is what a processor makes of it. */
    bool below = number_compare(value, &nothing) < 0 ||
                 (value->type == DOC_DOUBLE && doc_double(value) == 9223372036854775808.0);
    return below ? INT64_MIN : INT64_MAX;
}

/* add_value -- a value with its type, and the names of its members. False when it is too deep. */
static bool add_value(md5 *m, const doc_value *value, const char *name, size_t name_size,
                      int depth) {
    doc_value members = *value;
    if (depth > HASH_DEPTH_MAX)
        return false;
    add_int32(m, hash_type(value->type));
    md5_add(m, name, name_size);
    if (doc_is_number(value)) {
        add_int64(m, hash_number(value));
        return true;
    }
    if (value->type == DOC_CODE_SCOPE) {
        /* The size of all, that of the text, the text, the scope. */
        uint32_t size = load_u32(value->data + 4);
        md5_add(m, value->data + 8, size);
        members = (doc_value){value->data + 8 + size, value->size - 8 - size, DOC_DOCUMENT};
    } else if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) {
        md5_add(m, value->data, value->size);
        return true;
    }
    doc_iter iter;
    for (doc_iter_value(&iter, &members); doc_iter_next(&iter);) {
        if (!add_value(m, &iter.value, iter.key, iter.key_size + 1, depth + 1))
            return false;
    }
    add_int32(m, 0); /* the end */
    return true;
}

/* hashed_key -- the key of a value in a hashed index of MongoDB. */
static tansu_status hashed_key(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status == TANSU_OK)
        status = evaluation_step(ev, 1 + value.size / 64);
    if (status != TANSU_OK)
        return status;
    if (value.type == DOC_MISSING)
        (void)result_null(&value);
    uint8_t digest[16];
    md5 m;
    md5_begin(&m);
    add_int32(&m, 0); /* the seed */
    if (!add_value(&m, &value, "", 0, 0))
        return evaluation_error(ev, e, "The value is nested more than %d deep", HASH_DEPTH_MAX);
    md5_end(&m, digest);
    return result_int64(ev, (int64_t)load_u64(digest), result);
}

/* ---- Timestamps ---- */

/* timestamp_part -- the seconds of a timestamp, or its number among those of the same second. */
static tansu_status timestamp_part(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return result_null(result);
    if (value.type != DOC_TIMESTAMP)
        return evaluation_error(ev, e, "Takes a timestamp, not a value of type %s",
                                type_name(&value));
    return result_int64(ev, load_u32(value.data + e->op->variant), result);
}

const operator_info operators_miscellaneous[] = {
    {.name = "$rand", .evaluate = random_number, .compile = compile_rand, .varies = true},
    {.name = "$meta", .evaluate = document_score, .compile = compile_meta, .varies = true},
    {.name = "$binarySize", .evaluate = binary_size, .min = 1, .max = 1},
    {.name = "$bsonSize", .evaluate = bson_size, .min = 1, .max = 1},
    {.name = "$toHashedIndexKey", .evaluate = hashed_key, .min = 1, .max = 1},
    {.name = "$tsSecond", .evaluate = timestamp_part, .min = 1, .max = 1, .variant = 4},
    {.name = "$tsIncrement", .evaluate = timestamp_part, .min = 1, .max = 1, .variant = 0},
    {.name = NULL},
};
