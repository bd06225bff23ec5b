/*
 * toolkit/update_model.h -- update operators a second time, as plainly as possible: on a copy of the
 * document as a list of lists, with libbson. Written from docs/query-language.md and not from the
 * engine; tests hold the two against each other.
 */
#ifndef TOOLKIT_UPDATE_MODEL_H
#define TOOLKIT_UPDATE_MODEL_H

#include <bson/bson.h>

/*
 * update_model -- the document after the operations, or NULL when they can't be applied to it. It knows
 * $set $unset $inc $mul (of int32, int64 and double) $min $max $rename $push (with $each, $position,
 * $slice, $sort: 1 or -1) $addToSet (also with $each) $pull and $pullAll (values) $pop $bit, on plain paths
 * and such with `$[]`. Values must be such as model_compare() can compare.
 */
bson_t *update_model(const bson_t *doc, const bson_t *operations);

#endif
