/*
 * support/model/update_model.h -- the reference model of updates: a second implementation, as
 * plain as possible, on copies of the documents as lists of lists, with libbson. Written from
 * docs/query-language.md, not from the engine; differential tests compare the two.
 */
#ifndef SUPPORT_UPDATE_MODEL_H
#define SUPPORT_UPDATE_MODEL_H

#include "tansu.h"

#include <bson/bson.h>

/* What $currentDate writes in the model, which has no clock: a date or timestamp of this. */
#define UPDATE_MODEL_NOW INT64_C(4242424242424)
#define UPDATE_MODEL_NOW_SECONDS UINT32_C(4242424242)

/* The problems with a call, as a set: which of several an engine reports first is its own
 * affair. */
#define UPDATE_MODEL_REFUSES(status) (UINT64_C(1) << (unsigned)(status))

/* What an operator may need to know besides the document and its operand. */
typedef struct update_model_case {
    const bson_t *query; /* what `$` is about; may be NULL */
    const bson_t *hints; /* $collation and $arrayFilters */
    const bson_t *doc;   /* as it was before */
    bool inserting;      /* $setOnInsert counts */
} update_model_case;

/* update_model -- the document after the operators, or NULL and the problems. */
bson_t *update_model(const update_model_case *c, const bson_t *operations, uint64_t *problems);

/* update_model_is_good -- whether the operators are well-formed and no two want one place. */
bool update_model_is_good(const update_model_case *c, const bson_t *operations);

/* update_model_seed -- what the equalities of a query make: the document that an upsert begins
 * with; NULL when two contradict each other. */
bson_t *update_model_seed(const bson_t *query);

/* ---- Whole collections ---- */

/* A unique index: its paths, and the options of its creation. */
typedef struct update_model_unique {
    const bson_t *keys;
    const bson_t *options;
} update_model_unique;

/* A collection: documents in the order of insertion. The caller owns them. */
typedef struct update_model_collection {
    bson_t **docs;
    size_t count;
    const update_model_unique *unique;
    size_t unique_count;
} update_model_collection;

/* A call: any of the documents may be NULL. */
typedef struct update_model_call {
    const bson_t *query;
    const bson_t *update;
    const bson_t *hints;
    int mode; /* a tansu_modify_mode, or -1: tansu_update() */
} update_model_call;

typedef struct update_model_result {
    uint64_t problems; /* 0: it succeeds */
    int64_t matched;
    int64_t modified;
    int64_t removed;  /* -1: not reported */
    bool upserted;    /* the last document is a new one */
    bool named;       /* its `_id` is known; else any ObjectID will do, and it has none */
    bson_t *returned; /* by find-and-modify; NULL: none */
} update_model_result;

/* update_model_run -- changes the collection, or nothing of it when there is a problem. The caller
 * ends result->returned. */
void update_model_run(update_model_collection *differential, const update_model_call *call,
                      update_model_result *result);

/* update_model_same_ids -- whether two documents have equal `_id`s. */
bool update_model_same_ids(const bson_t *a, const bson_t *b);

/* update_model_may_save -- whether no unique index is against a document in place of the one at
 * `at` (SIZE_MAX: with all). */
bool update_model_may_save(const update_model_collection *differential, const bson_t *doc,
                           size_t at);

#endif
