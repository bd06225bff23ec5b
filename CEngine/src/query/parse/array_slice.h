/*
 * query/parse/array_slice.h -- the operand of $slice: which elements of an array are kept.
 */
#ifndef TANSU_QUERY_PARSE_ARRAY_SLICE_H
#define TANSU_QUERY_PARSE_ARRAY_SLICE_H

#include "bson/document.h"

typedef struct array_slice {
    int64_t skip; /* elements to skip; negative: start that many before the end */
    int64_t count;
} array_slice;

/* array_slice_parse -- reads n (the first ones; negative: the last ones) or [skip, count]. Errors:
 * INVALID_QUERY at `context`. */
tansu_status array_slice_parse(array_slice *slice, const doc_value *value, const char *context,
                               tansu_error *error);

#endif
