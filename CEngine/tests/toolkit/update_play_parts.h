/*
 * toolkit/update_play_parts.h -- what the files of update_play share. Private to update_play*.c.
 */
#ifndef TOOLKIT_UPDATE_PLAY_PARTS_H
#define TOOLKIT_UPDATE_PLAY_PARTS_H

#include "tansu.h"
#include "update_model.h"
#include "update_play.h"

/* One collection has the unique index only, the other one all. */
#define PLAIN "plain"
#define INDEXED "indexed"

typedef struct play {
    tansu_db *db;
    update_model_world world;
    update_model_unique unique;
    update_play_result *result;
    int64_t from; /* milliseconds: the call at hand was made between these */
    int64_t to;
} play;

/* play_note -- keeps the first difference. Returns false. */
bool play_note(play *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* play_same -- whether the engine's document is the model's; a date that $currentDate set is one
 * between two times, and a document without `_id` has any ObjectID. */
bool play_same(const play *p, const bson_t *engine, const bson_t *model);

/* play_compare -- whether a collection is the model's, with a note when not. */
bool play_compare(play *p, const char *collection);

/* play_settle -- puts fixed values in place of those that a clock or a counter made. */
bool play_settle(play *p);

/* play_indexes -- creates all indexes of random_update_index(); play_ask_indexes -- asks each some
 * queries, and counts its entries again after it was made anew. */
bool play_indexes(play *p);
bool play_ask_indexes(play *p, uint64_t seed);

/* play_call -- one call on both collections and the model. */
bool play_call(play *p, const bson_t *call);

#endif
