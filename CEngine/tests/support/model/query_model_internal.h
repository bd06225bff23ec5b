/*
 * support/model/query_model_internal.h -- what the files of the model share. Private to model*.c.
 */
#ifndef SUPPORT_QUERY_MODEL_INTERNAL_H
#define SUPPORT_QUERY_MODEL_INTERNAL_H

#include "support/model/query_model.h"

/* How strings are compared just now: the collation of the query, and whether $icase is around. */
typedef struct model_mode {
    bool feed_model;
    bool numeric;
    bool icase;
    const char *options; /* with $regex */
} model_mode;

extern model_mode model_now;

#define MODEL_VALUES 256 /* that one path may find; on the stack, and each has 256 bytes */

/* One value, or a missing one. */
typedef struct model_found {
    bool there;
    bson_iter_t value;
} model_found;

typedef struct model_finds {
    model_found list[MODEL_VALUES];
    size_t count;
} model_finds;

/* model_add -- notes a value (NULL: missing). */
void model_add(model_finds *f, const bson_iter_t *value);

/* model_path -- everything that a path finds; nothing at all in an array without such elements. */
void model_path(const bson_t *doc, const char *path, model_finds *f);

/* model_path_positions -- the same for sorts and unique indexes: with a path that has a number,
 * without what is missing. */
void model_path_positions(const bson_t *doc, const char *path, model_finds *f);

/* model_path_all -- what the paths "*" and, deep, "**" find. */
void model_path_all(const bson_t *doc, bool deep, model_finds *f);

/* model_path_named -- what the path "**.name" finds. */
void model_path_named(const bson_t *doc, const char *name, model_finds *f);

/* model_order_texts -- two strings in the present mode. */
int model_order_texts(const char *a, size_t a_size, const char *b, size_t b_size);

/* model_passes -- whether one value (NULL: missing), not looked into, passes an operator that says
 * something good of a value. */
bool model_passes(const bson_iter_t *value, const char *op, const bson_iter_t *operand);

/* model_special -- the same for the operators of model_operators.c; *known false: another. */
bool model_special(const bson_iter_t *value, const char *op, const bson_iter_t *operand,
                   bool *known);

/* model_speaks_of_arrays -- whether an operator is asked of whole arrays and not of elements. */
bool model_speaks_of_arrays(const char *op);

#endif
