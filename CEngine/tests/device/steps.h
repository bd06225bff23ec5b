/*
 * device/steps.h -- work of which everybody knows what it comes to: each thread has a collection "w<n>", and its
 * step number k, one commit, follows from seed, thread and k. The collection tells in its document -1 at
 * which step it is, so that after a crash all of it can be held against a model.
 */
#ifndef DEVICE_STEPS_H
#define DEVICE_STEPS_H

#include <tansu.h>

#include <bson/bson.h>
#include <stdbool.h>
#include <stdint.h>

#define STEP_THREADS 3
#define STEP_IDS 90
#define STEP_OPERATIONS 8

/* A text that is in every document's data, and so in every sector-sized neighbourhood of the log, but in no
 * block of an index: the device can be told to fail writes that contain it. */
#define STEP_MARK "TANSU-DEVICE-DATA"

typedef struct step_cell {
    bool there;
    int32_t v;
    int32_t n;
} step_cell;

/* What a thread's collection holds after so many steps. */
typedef struct step_world {
    uint64_t step;
    uint64_t across; /* the last step that was a transaction over two collections */
    step_cell cells[STEP_IDS];
} step_world;

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

/* step_make -- the step that takes a thread from number - 1 to number. */
void step_make(uint64_t seed, uint32_t thread, uint64_t number, step *s);

/* step_apply -- what it makes of the model. */
void step_apply(step_world *world, const step *s);

/* step_world_at -- the model after so many steps. */
void step_world_at(uint64_t seed, uint32_t thread, uint64_t number, step_world *world);

/* step_sum -- of all numbers in the documents; document -1 carries it. */
int64_t step_sum(const step_world *world);

/* step_collection -- the name of a thread's collection, in `name` (of 16 bytes). */
const char *step_collection(uint32_t thread, char *name);

/* step_prepare -- collections and indexes, unless they are there. */
tansu_status step_prepare(tansu_db *db, tansu_error *error);

/* step_run -- makes the next step of a thread: `after` is the model behind it. *sequence is 0 when the call does
 * not tell. */
tansu_status step_run(tansu_db *db, uint32_t thread, const step *s, const step_world *after,
                      tansu_durability durability, uint64_t *sequence, tansu_error *error);

/* step_read -- reads a thread's collection whole. OK, with `why` (of 256 bytes) filled in when what is there
 * can't be the work of any steps; or the error. */
tansu_status step_read(tansu_db *db, tansu_txn *txn, uint32_t thread, step_world *world, char *why,
                       tansu_error *error);

/* step_same -- whether what was read is the model; `why` tells the first difference. */
bool step_same(const step_world *expected, const step_world *actual, char *why);

#endif
