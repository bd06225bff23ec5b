/*
 * query/query_hooks.c -- the table of what lower parts call.
 */
#include "query/query_hooks.h"

#include "query/collection_validator.h"
#include "query/plan/partial_filter.h"

const query_hooks engine_query_hooks = {
    .filter_compile = partial_filter_compile,
    .filter_matches = partial_filter_matches,
    .filter_free = partial_filter_free,
    .validator_compile = collection_validator_compile,
    .validator_check = collection_validator_check,
    .validator_free = collection_validator_free,
};
