/*
 * support/model/store_model_internal.h -- what the files of the store model share.
 */
#ifndef SUPPORT_STORE_MODEL_INTERNAL_H
#define SUPPORT_STORE_MODEL_INTERNAL_H

#include "support/model/store_model.h"

#include <bson/bson.h>

/* store_model_name -- of a collection, by number. */
const char *store_model_name(unsigned collection);

/* store_model_index_name -- of an index, by number. */
const char *store_model_index_name(unsigned index);

/* store_model_bson -- the document that an entry of the model stands for; the caller ends it. */
bson_t *store_model_bson(int32_t id, const store_model_document *d);

#endif
