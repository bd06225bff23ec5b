/*
 * query/expression/operators_miscellaneous.c -- $rand, $meta, sizes, timestamps.
 */
#include "query/expression/expression_internal.h"

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

/* compile_meta -- is always an error: documents have no metadata. */
static tansu_status compile_meta(expression_compiler *c, const doc_value *operand, expression *e) {
    static const char *const names[] = {
        "textScore",       "searchScore", "searchHighlights",  "searchScoreDetails",
        "geoNearDistance", "sortKey",     "vectorSearchScore", "searchSequenceToken",
        "geoNearPoint",    "randVal",     "recordId",          "indexKey",
        "score",           "scoreDetails"};
    size_t size;
    if (operand->type != DOC_STRING)
        return compile_error(c, e->op->name, "Takes the name of metadata, not a value of type %s",
                             type_name(operand));
    const char *name = doc_string(operand, &size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return error_set(c->error, TANSU_E_UNSUPPORTED, e->op->name,
                             "Metadata \"%s\" are not there; documents have none", names[i]);
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
    {.name = "$meta", .compile = compile_meta},
    {.name = "$binarySize", .evaluate = binary_size, .min = 1, .max = 1},
    {.name = "$bsonSize", .evaluate = bson_size, .min = 1, .max = 1},
    {.name = "$tsSecond", .evaluate = timestamp_part, .min = 1, .max = 1, .variant = 4},
    {.name = "$tsIncrement", .evaluate = timestamp_part, .min = 1, .max = 1, .variant = 0},
    {.name = NULL},
};
