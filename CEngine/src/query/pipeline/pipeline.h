/*
 * query/pipeline/pipeline.h -- MongoDB's aggregation pipelines (docs/pipelines.md): stages that each
 * take the documents of the one before.
 *
 * Documents are pulled: asking the last stage for its next document asks the one before, and so on,
 * down to the collection. A stage that needs all documents (a sort, groups) reads them at the first
 * call.
 */
#ifndef TANSU_QUERY_PIPELINE_PIPELINE_H
#define TANSU_QUERY_PIPELINE_PIPELINE_H

#include "store/read_context.h"

/* A compiled pipeline, which may be run once. */
typedef struct pipeline pipeline;

/* BSON of the caller; NULL is empty. */
typedef struct pipeline_text {
    const uint8_t *data;
    size_t size;
} pipeline_text;

/*
 * pipeline_compile -- `stages` is a BSON array of stages, `hints` a document with $maxTimeMS,
 * $collation, $allowDiskUse, $maxMemory, $index and $let (variables of all stages). `collection`
 * is the collection's name; NULL if the first stage is $documents. Errors: INVALID_BSON,
 * INVALID_QUERY (context: number and name of the stage, such as "2.$group._id"), TOO_LARGE,
 * TIMEOUT, CANCELLED, UNSUPPORTED, MEMORY.
 */
tansu_status pipeline_compile(const char *collection, pipeline_text stages, pipeline_text hints,
                              const interrupt *stop, pipeline **result, tansu_error *error);

/* pipeline_start -- begins to read. What is given outlives the pipeline. Errors: those of a query's
 * run. */
tansu_status pipeline_start(pipeline *p, const snapshot *snapshot, const read_context *rctx,
                            tansu_error *error);

/* pipeline_next -- the next document, which lives until the next call. TANSU_DONE at the end.
 * Errors: INVALID_QUERY (an expression, context: the operator), TOO_LARGE, and those of a query's
 * run. */
tansu_status pipeline_next(pipeline *p, tansu_document *document, tansu_error *error);

/* pipeline_end_timeout -- ends the timeout ($maxTimeMS) of the steps to come. */
void pipeline_end_timeout(pipeline *p);

/* pipeline_free -- NULL is allowed. */
void pipeline_free(pipeline *p);

#endif
