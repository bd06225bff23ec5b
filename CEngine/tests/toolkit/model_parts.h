/*
 * toolkit/model_parts.h -- what the files of the model share. Private to model*.c.
 */
#ifndef TOOLKIT_MODEL_PARTS_H
#define TOOLKIT_MODEL_PARTS_H

#include "model.h"

/* How strings are compared just now: the collation of the query, and whether $icase is around. */
typedef struct model_mode {
    bool fold;
    bool numeric;
    bool icase;
    const char *options; /* beside $regex */
} model_mode;

extern model_mode model_now;

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
