/*
 * support/differential/update_differential_internal.h -- what the files of update_differential
 * share. Private to update_differential*.c.
 */
#ifndef SUPPORT_UPDATE_DIFFERENTIAL_INTERNAL_H
#define SUPPORT_UPDATE_DIFFERENTIAL_INTERNAL_H

#include "support/differential/update_differential.h"
#include "support/model/update_model.h"
#include "tansu.h"

/* One collection has the unique index only, the other one all. */
#define PLAIN "plain"
#define INDEXED "indexed"

typedef struct update_run {
    tansu_db *db;
    update_model_collection differential;
    update_model_unique unique;
    update_differential_result *result;
    int64_t from; /* milliseconds: the call at hand was made between these */
    int64_t to;
} update_run;

/* update_run_note -- keeps the first difference. Returns false. */
bool update_run_note(update_run *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* update_run_same -- whether the engine's document is the model's; a date that $currentDate set
 * is one between two times, and a document without `_id` has any ObjectID. */
bool update_run_same(const update_run *p, const bson_t *engine, const bson_t *model);

/* update_run_compare -- whether a collection is the model's, with a note when not. */
bool update_run_compare(update_run *p, const char *collection);

/* update_run_settle -- puts fixed values in place of those that a clock or a counter made. */
bool update_run_settle(update_run *p);

/* update_run_create_indexes -- creates all indexes of random_update_index();
 * update_run_query_indexes -- asks each some queries, and counts its entries again after it was
 * rebuilt. */
bool update_run_create_indexes(update_run *p);
bool update_run_query_indexes(update_run *p, uint64_t seed);

/* update_run_call -- one call on both collections and the model. */
bool update_run_call(update_run *p, const bson_t *call);

#endif
