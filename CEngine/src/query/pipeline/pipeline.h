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

#include "bson/document.h"
#include "query/match/collation.h"
#include "query/util/deadline.h"
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

/* ---- Writing ---- */

#define OUTPUT_FIELDS 32

/* What is done with a document of $merge. */
enum when_matched { MATCHED_MERGE, MATCHED_REPLACE, MATCHED_KEEP, MATCHED_FAIL, MATCHED_PIPELINE };
enum when_not_matched { NOT_MATCHED_INSERT, NOT_MATCHED_DISCARD, NOT_MATCHED_FAIL };

/* Where the documents of a pipeline go that ends with $out or $merge. */
typedef struct pipeline_output {
    enum { OUTPUT_REPLACE, OUTPUT_MERGE } kind;
    const char *collection;
    const char *on[OUTPUT_FIELDS]; /* $merge: the fields by which documents are the same */
    uint32_t on_count;
    enum when_matched when_matched;
    enum when_not_matched when_not_matched;
} pipeline_output;

/* pipeline_get_output -- NULL: the pipeline ends with neither. Otherwise its documents are to be
 * written; once the first was shown, the pipeline reads nothing but its own memory. */
const pipeline_output *pipeline_get_output(const pipeline *p);

/* pipeline_check -- errors: TIMEOUT and CANCELLED, while its documents are written. */
tansu_status pipeline_check(const pipeline *p, tansu_error *error);

/* pipeline_merge_matched -- what the pipeline of "whenMatched" makes of an existing document and one
 * of the pipeline's. Errors: those of pipeline_next(). */
tansu_status pipeline_merge_matched(pipeline *p, tansu_document document, tansu_document existing,
                                    tansu_buffer *out, tansu_error *error);

/* pipeline_compile_update -- a pipeline that updates one document after the other: an array of the
 * stages $set, $unset, $project, $replaceRoot and $replaceWith. Its expressions see the
 * variables in `scope`, whose values are known (NULL: none). Errors: those of pipeline_compile(). */
struct expression_compiler;
tansu_status pipeline_compile_update(const doc_value *stages,
                                     const struct expression_compiler *scope,
                                     const collation *collation, pipeline **result,
                                     tansu_error *error);

/* pipeline_update -- replaces `out` by the document that the update makes of one. `stop` may be
 * NULL. Errors: those of pipeline_next(). */
tansu_status pipeline_update(pipeline *p, const uint8_t *doc, size_t size, const deadline *stop,
                             tansu_buffer *out, tansu_error *error);

/* pipeline_end_timeout -- ends the timeout ($maxTimeMS) of the steps to come. */
void pipeline_end_timeout(pipeline *p);

/* pipeline_free -- NULL is allowed. */
void pipeline_free(pipeline *p);

#endif
