/*
 * toolkit/mirror_parts.h -- what the files of the mirror share.
 */
#ifndef TOOLKIT_MIRROR_PARTS_H
#define TOOLKIT_MIRROR_PARTS_H

#include "mirror.h"

#include <bson/bson.h>

/* mirror_name -- of a collection, by number. */
const char *mirror_name(unsigned collection);

/* mirror_index_name -- of an index, by number. */
const char *mirror_index_name(unsigned index);

/* mirror_bson -- the document that an entry of the mirror stands for; the caller ends it. */
bson_t *mirror_bson(int32_t id, const mirror_document *d);

#endif
