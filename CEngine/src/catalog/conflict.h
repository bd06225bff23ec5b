/*
 * catalog/conflict.h -- the error for a value that a unique index already holds. Part catalog.
 */
#ifndef TANSU_CATALOG_CONFLICT_H
#define TANSU_CATALOG_CONFLICT_H

#include "catalog/view.h"
#include "index/build.h"

/* conflict_error -- NOT_UNIQUE: the context names the index, the message collection and value, taken
 * from the document that has it. `doc` NULL: the value is not told. */
tansu_status conflict_error(const char *collection, const index_definition *definition,
                            const uint8_t *doc, size_t doc_size, const uint8_t *entry, size_t size,
                            tansu_error *error);

/* conflict_of_build -- the same for what index_build() met, read in the view that it read. */
tansu_status conflict_of_build(const view *v, const collection_state *collection,
                               const index_definition *definition, const index_conflict *conflict,
                               tansu_error *error);

#endif
