/*
 * catalog/witness.h -- what the cabinet's META tells of the log at the time of its checkpoint, so that
 * damage which opening would not look at is noticed. Part catalog.
 *
 * Opening reads the log from the checkpoint on. A segment before that which was cut short is noticed
 * by its size. And places are written beside the writer, so that some may be of commits after the
 * checkpoint's: those must be in the log as well, for a killed process leaves all that it wrote.
 */
#ifndef TANSU_CATALOG_WITNESS_H
#define TANSU_CATALOG_WITNESS_H

#include "catalog/database.h"

#include <bson/bson.h>

/* witness_append -- adds {"witnessed": commit, "extents": [{"segment", "end"}, …]} to a META; to be called
 * after all places were written. False when memory is exhausted. */
bool witness_append(database *db, const version *v, bson_t *meta);

/* witness_holds -- whether the log's segments are what the META says, and has the log's replay insist on
 * the commits that were seen. */
bool witness_holds(database *db, const uint8_t *meta, size_t size);

#endif
