/*
 * support/model/update_model_internal.h -- what the files of the update model share. Private to
 * update_model*.c.
 */
#ifndef SUPPORT_UPDATE_MODEL_INTERNAL_H
#define SUPPORT_UPDATE_MODEL_INTERNAL_H

#include "support/model/update_model.h"

#define MAX_PARTS 10
#define MAX_PATHS 1000

/* ---- Values (update_model_value.c) ---- */

/* A value: of a document or array its children, of anything else a bson_t with the one field
 * "v". */
typedef struct value {
    char key[32];
    bson_type_t type; /* BSON_TYPE_EOD: a place just made, with nothing in it yet */
    bson_t *scalar;
    struct value **children;
    unsigned count;
    unsigned room;
} value;

value *model_value_new(bson_type_t type);
value *model_value_null(void);
value *model_value_from(const bson_iter_t *iter);
value *model_value_from_document(const bson_t *doc);
void model_value_free(value *v);
bool model_value_is_list(const value *v);

/* model_value_append -- appends it to a document. */
void model_value_append(const value *v, const char *key, bson_t *doc);

/* model_value_document -- a document or array as BSON. */
bson_t *model_value_document(const value *v);

/* model_value_number -- an iterator over a number that lasts as long as it; false: it is none. */
bool model_value_number(const value *v, bson_iter_t *number);

/* model_value_compare -- the order of two values (rules 7 and 8), exact for all numbers, in the
 * collation of the hints (NULL: none). */
int model_value_compare(const value *a, const value *b, const bson_t *hints);

/* model_value_become -- takes over another value, whose shell goes; the key stays. */
void model_value_become(value *v, value *other);

/* model_value_take -- takes a child out; model_value_insert puts one in. */
value *model_value_take(value *list, unsigned at);
void model_value_insert(value *list, unsigned at, value *v);

/* model_value_child -- the child that a part of a path names, and where it is; NULL: none. */
value *model_value_child(const value *v, const char *part, unsigned *at);

/* model_value_index -- the position in an array that a part of a path names; -1: none. */
long model_value_index(const char *part);

/* model_compare_whole -- appends the fields of a selector, with something in front of their paths;
 * nested documents without operators as operands of $eq. */
void model_compare_whole(const bson_t *selector, const char *front, bson_t *to);

/* ---- Numbers (update_model_number.c) ---- */

/* model_number_calculate -- appends sum or product as "v"; false when it is refused. */
bool model_number_calculate(const bson_iter_t *a, const bson_iter_t *b, bool add, bson_t *result);

/* model_number_compare -- by exact value; NaN is below all others. */
int model_number_compare(const bson_iter_t *a, const bson_iter_t *b);

/* model_number_double -- the nearest double. */
double model_number_double(const bson_iter_t *iter);

/* ---- Places (update_model_place.c) ---- */

typedef struct place {
    char parts[MAX_PARTS][32];
    unsigned count;
    bson_iter_t operand;
    const char *operator_name;
    bool source; /* what $rename takes away */
} place;

typedef struct places {
    place list[MAX_PATHS];
    unsigned count;
} places;

/* model_path_split -- the parts of a path; false when it has an empty one. */
bool model_path_split(const char *path, place *p);

/* model_paths_conflict -- whether any two are in each other's way. */
bool model_paths_conflict(const places *all);

/* model_paths_sort -- in the order in which new fields come: by name, numbers first and by
 * value. */
void model_paths_sort(places *all);

/* model_paths_expand -- appends a place for each element where there is `$[]` or `$[name]`, and
 * the one for `$`. False when there is no array, or no element that matched. */
bool model_paths_expand(const place *p, const value *root, const update_model_case *c, places *all);

/* model_path_find -- the value at a place, making it when asked to. False: something is in the
 * way. */
bool model_path_find(value *root, const place *p, bool make, value **parent, unsigned *at,
                     value **result);

/* ---- Operators ---- */

/* model_operand_is_good -- whether an operator knows such an operand (update_model_check.c). */
bool model_operand_is_good(const char *name, const bson_iter_t *operand);

/* model_statement_is_good -- whether the operators are well-formed, apart from conflicts. */
bool model_statement_is_good(const bson_t *operations, const bson_t *filters);

/* model_operator_apply -- changes the value at a place (update_model_operator.c); false: it does
 * not fit. */
bool model_operator_apply(value *root, const place *p, const update_model_case *c);

/* model_array_apply -- the operators on arrays (update_model_array.c); `v` is an array. */
void model_array_apply(value *v, const char *name, const bson_iter_t *operand,
                       const update_model_case *c);

#endif
