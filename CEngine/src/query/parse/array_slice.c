/*
 * query/parse/array_slice.c -- parses the operand of $slice.
 */
#include "query/parse/array_slice.h"
#include "bson/number.h"
#include "util/error.h"

tansu_status array_slice_parse(array_slice *slice, const doc_value *value, const char *context,
                               tansu_error *error) {
    doc_iter iter;
    if (number_whole(value, FRACTION_HALF_EVEN, &slice->count)) {
        /* A negative number counts from the end. */
        slice->skip = slice->count < 0 ? slice->count : 0;
        if (slice->count < 0)
            slice->count = INT64_MAX;
        return TANSU_OK;
    }
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        !number_whole(&iter.value, FRACTION_HALF_EVEN, &slice->skip) || !doc_iter_next(&iter) ||
        !number_whole(&iter.value, FRACTION_HALF_EVEN, &slice->count) || slice->count <= 0 ||
        doc_iter_next(&iter))
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "\"$slice\" must be a number, or an array [skip, count] with a count "
                         "greater than 0");
    return TANSU_OK;
}
