/*
 * query/pipeline/stage_bucket.h -- the members that $bucket and $bucketAuto both have.
 */
#ifndef TANSU_QUERY_PIPELINE_STAGE_BUCKET_H
#define TANSU_QUERY_PIPELINE_STAGE_BUCKET_H

#include "query/pipeline/grouping.h"

/* bucket_key_compile -- "groupBy", a path or an operator. Errors: as stage_expression(). */
tansu_status bucket_key_compile(stage *s, const doc_value *spec, const expression **result);

/* bucket_output_compile -- "output"; when it is missing, the number of documents. Errors: as
 * accumulated_fields_compile(). */
tansu_status bucket_output_compile(stage *s, const doc_value *spec, accumulated_fields *result);

#endif
