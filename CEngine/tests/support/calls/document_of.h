/*
 * support/calls/document_of.h -- a document made with libbson, as calls of tansu.h take it.
 */
#ifndef SUPPORT_DOCUMENT_OF_H
#define SUPPORT_DOCUMENT_OF_H

#include "tansu.h"

#include <bson/bson.h>

/* document_of -- valid as long as `bson` is. NULL: no document. */
static inline tansu_document document_of(const bson_t *bson) {
    return bson != NULL ? (tansu_document){bson_get_data(bson), bson->len} : TANSU_NO_DOCUMENT;
}

#endif
