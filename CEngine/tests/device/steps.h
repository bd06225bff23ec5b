/*
 * device/steps.h -- a deterministic workload and its reference model. Each thread has a collection
 * "w<n>", and its step number k, one commit, follows from seed, thread and k. Document -1 of a
 * collection has the number of its last step, so that after a crash all of it can be compared with
 * the model.
 */
#ifndef DEVICE_STEPS_H
#define DEVICE_STEPS_H

#include <tansu.h>

#include <bson/bson.h>
#include <stdbool.h>
#include <stdint.h>

/* document_of -- a document made with libbson, as calls of tansu.h take it. */
static inline tansu_document document_of(const bson_t *bson) {
    return (tansu_document){bson_get_data(bson), bson->len};
}

#define STEP_THREADS 3
#define STEP_IDS 90
#define STEP_OPERATIONS 8

/* A text in every document, and so in every few sectors of the log, but in no block of an index:
 * the device can be asked to fail writes that contain it. */
#define STEP_MARK "TANSU-DEVICE-DATA"

typedef struct step_cell {
    bool there;
    int32_t v;
    int32_t n;
} step_cell;

/* The reference model of a thread's collection. */
typedef struct step_model {
    uint64_t step;
    uint64_t across; /* the last step that was a transaction over two collections */
    step_cell cells[STEP_IDS];
} step_model;

typedef enum step_kind { STEP_SAVE, STEP_INCREASE, STEP_REMOVE } step_kind;

typedef struct step_operation {
    step_kind kind;
    int32_t from, to; /* ids; a save has one */
    int32_t v;
} step_operation;

typedef struct step {
    bool across; /* a transaction over two collections; otherwise one call of tansu_save() */
    unsigned count;
    step_operation operations[STEP_OPERATIONS];
} step;

/* step_make -- the step from number - 1 to number of a thread. */
void step_make(uint64_t seed, uint32_t thread, uint64_t number, step *s);

/* step_apply -- applies it to the model. */
void step_apply(step_model *model, const step *s);

/* step_model_at -- the model after `number` steps. */
void step_model_at(uint64_t seed, uint32_t thread, uint64_t number, step_model *model);

/* step_sum -- the sum of all numbers in the documents; document -1 has it, too. */
int64_t step_sum(const step_model *model);

/* step_collection -- the name of a thread's collection, in `name` (of 16 bytes). */
const char *step_collection(uint32_t thread, char *name);

/* step_prepare -- creates collections and indexes unless they exist. */
tansu_status step_prepare(tansu_db *db, tansu_error *error);

/* step_run -- runs the next step of a thread; `after` is the model after it. *sequence is 0 when
 * the call does not return it. */
tansu_status step_run(tansu_db *db, uint32_t thread, const step *s, const step_model *after,
                      tansu_durability durability, uint64_t *sequence, tansu_error *error);

/* step_read -- reads a thread's collection. OK, with `why` (of 256 bytes) filled in when no number
 * of steps leads to what it holds; or the error. */
tansu_status step_read(tansu_db *db, tansu_txn *txn, uint32_t thread, step_model *model, char *why,
                       tansu_error *error);

/* step_same -- compares what was read with the model; `why`: the first difference. */
bool step_same(const step_model *expected, const step_model *actual, char *why);

#endif
