/*
 * support/mongo/mongo_scope.h -- which commands of MongoDB have no counterpart here, by rule. Each
 * rule names a thing that the engine does not offer (docs/coming-from.md lists them); no rule names
 * a case.
 */
#ifndef SUPPORT_MONGO_SCOPE_H
#define SUPPORT_MONGO_SCOPE_H

#include <bson/bson.h>
#include <stdbool.h>

/* scope_of_command -- why a command cannot be asked here, whatever it says; NULL: it can. `fails`:
 * an error is expected. */
const char *scope_of_command(const bson_t *command, bool fails);

/* scope_of_query -- the same of a query, at any depth. */
const char *scope_of_query(const bson_iter_t *query);

/* scope_of_projection -- the same of a projection of find. */
const char *scope_of_projection(const bson_iter_t *projection);

/* scope_of_index -- the same of one index of createIndexes. */
const char *scope_of_index(const bson_t *index, bool fails);

#endif
