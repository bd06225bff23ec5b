/*
 * query/pipeline/group_query_internal.h -- what the compiler of groups of queries gives their runs.
 */
#ifndef TANSU_QUERY_PIPELINE_GROUP_QUERY_INTERNAL_H
#define TANSU_QUERY_PIPELINE_GROUP_QUERY_INTERNAL_H

#include "query/parse/parsed_query.h"
#include "query/pipeline/group_query.h"
#include "query/pipeline/grouping.h"

#define MAX_GROUP_PATHS 32
#define MAX_GROUP_FIELDS 100

struct group_query {
    pipeline *pipeline; /* of one stage, whose state is a grouping; its source has the query */
    bool values;        /* the result is a list of distinct values */
    uint64_t skip;
    uint64_t max;
    order_path order[MAX_ORDER_PATHS];
    uint32_t order_count;
    grouping_key key;
    date_trunc *truncs[MAX_GROUP_PATHS]; /* of the parts of the key; NULL: none */
    accumulated_fields fields;

    /* While running. */
    uint64_t groups;
    bool ordered; /* they are made in their order */
    tansu_buffer row, sort_key, group_key;
};

#endif
