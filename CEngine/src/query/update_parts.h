/*
 * query/update_parts.h -- what the files of updates share. Private to query/update*.c.
 */
#ifndef TANSU_QUERY_UPDATE_PARTS_H
#define TANSU_QUERY_UPDATE_PARTS_H

#include "query/collation.h"
#include "query/internal.h"
#include "query/update.h"
#include "query/update_number.h"

/* What compiling an update takes at most, and what applying it to one document does. */
#define UPDATE_MEMORY QUERY_MEMORY
#define APPLY_MEMORY ((size_t)1024 * 1024 * 1024)

/* Array filters of one update: each is asked about every element. */
#define MAX_FILTERS 100

/* Nulls that an array may be filled up with in front of an element that is set behind its end. */
#define MAX_FILLING 100000

enum operator_kind {
    OPERATOR_SET,
    OPERATOR_UNSET,
    OPERATOR_INC,
    OPERATOR_MUL,
    OPERATOR_MIN,
    OPERATOR_MAX,
    OPERATOR_RENAME,
    OPERATOR_CURRENT_DATE,
    OPERATOR_SET_ON_INSERT,
    OPERATOR_PUSH,
    OPERATOR_PUSH_ALL,
    OPERATOR_ADD_TO_SET,
    OPERATOR_ADD_TO_SET_ALL,
    OPERATOR_PULL,
    OPERATOR_PULL_ALL,
    OPERATOR_POP,
    OPERATOR_BIT
};

/* A query on a document of one field, which an element is laid into; see update_filter.c. */
typedef struct element_query element_query;

/* `$[name]` and the condition that its elements fulfil. */
typedef struct array_filter {
    struct array_filter *next;
    const char *name;
    size_t name_size;
    element_query *query;
    bool used;
} array_filter;

/* How $push and $addToSet put elements into an array. */
typedef struct array_change {
    doc_value *values;
    uint32_t count;
    int64_t position;
    int64_t slice;
    bool placed; /* $position is given */
    bool sliced; /* $slice is given */
    bool sorted; /* $sort is given: by `order`, or by the elements themselves */
    bool descending;
    order_path *order;
    uint32_t order_count;
} array_change;

enum dynamic { DYNAMIC_NONE, DYNAMIC_FIRST, DYNAMIC_ALL, DYNAMIC_FILTERED };

/* One operator on one path. */
typedef struct operation {
    struct operation *next;
    const char *name; /* "$inc" */
    enum operator_kind kind;
    const path *path;
    uint8_t *dynamics;            /* an enum dynamic for each part; NULL: none is */
    const array_filter **filters; /* of DYNAMIC_FILTERED parts */
    doc_value operand; /* PULL_ALL, and PULL without a condition: in the collation's form */
    doc_value *values; /* PULL_ALL: those of `operand`, sorted */
    uint32_t value_count;
    const path *to;      /* RENAME */
    bool timestamp;      /* CURRENT_DATE */
    condition *test;     /* PULL with a condition */
    array_change *array; /* PUSH ADD_TO_SET */
} operation;

/* A place of one document that an operator is for. */
typedef struct target {
    const operation *operation;
    const path_part *parts;
    uint32_t count;
    bool source; /* $rename takes it away: the target does nothing by itself */
} target;

struct update {
    arena memory;
    path_link *paths;
    const uint8_t *document;
    size_t size;
    const collation *collation; /* how strings compare; NULL: by bytes */
    update_facts facts;
    operation *first;
    operation *last;
    uint32_t count;
    bool dynamic; /* some path has `$`, `$[]` or `$[name]` */
    array_filter *filters;
    target *targets; /* sorted; when not dynamic */
    uint32_t target_count;
};

/* bad_update -- INVALID_QUERY at an operator and its path. */
tansu_status bad_update(tansu_error *error, const operation *o, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* bad_context -- the same with a context of one's own. */
#define bad_context(error, context, ...) \
    error_set(error, TANSU_E_INVALID_QUERY, context, __VA_ARGS__)

/* ---- Array filters (update_filter.c) ---- */

/* filters_read -- reads the hint $arrayFilters. Errors: INVALID_QUERY, MEMORY. */
tansu_status filters_read(update *u, const doc_value *filters, tansu_error *error);
/* filters_find -- the filter of a name, or NULL. */
array_filter *filters_find(const update *u, const char *name, size_t size);
/* filter_passes -- whether an element passes. Errors: those of a match_context. */
tansu_status filter_passes(const array_filter *filter, match_context *context,
                           const doc_value *element, bool *passes, tansu_error *error);
void filters_free(update *u);

/* ---- Targets (update_target.c) ---- */

/* targets_check -- sorts targets and refuses two of which one is, or is within, the other. */
tansu_status targets_check(target *targets, uint32_t count, tansu_error *error);

/* targets_find -- the places in one document; in the arena. */
tansu_status targets_find(const update *u, arena *memory, const uint8_t *doc, size_t size,
                          const update_case *how, target **targets, uint32_t *count,
                          tansu_error *error);

/* ---- A document as a tree (update_tree.c) ---- */

/* A value of a document. What is not open is as it was; an open one has been taken apart. */
typedef struct item {
    const char *key; /* of a document's item; NUL-terminated */
    uint32_t key_size;
    doc_value value;
    bool open;
    struct item **children; /* NULL: one that was taken out of a document that has `names` */
    uint32_t count;
    uint32_t room;
    keyset *names; /* of a document with many: key to place; NULL: there is none */
} item;

/* item_new -- NULL when memory is exhausted. The value is not copied. */
item *item_new(arena *memory, const doc_value *value);
/* item_open -- takes a document or array apart. False when memory is exhausted. */
bool item_open(arena *memory, item *i);
/* item_find -- the child of that key (document) or position (array), or NULL; `at` is its place. In a document
 * of many keys it makes a list of names in the arena, if there is memory for it. */
item *item_find(arena *memory, item *i, const path_part *part, uint32_t *at);
/* item_insert -- puts a child in; false when memory is exhausted. */
bool item_insert(arena *memory, item *parent, uint32_t at, item *child);
void item_remove(item *parent, uint32_t at);
/* item_set -- makes it another value. */
void item_set(item *i, const doc_value *value);
/* item_raw -- the value of an item in BSON form, in the arena when it has to be written. False when
 * memory is exhausted. */
bool item_raw(arena *memory, const item *i, doc_value *value);
/* item_write -- replaces `out` by an open document. Errors: TOO_LARGE, MEMORY. */
tansu_status item_write(const item *root, tansu_buffer *out, tansu_error *error);

/* ---- Applying ---- */

/* One document being updated. */
typedef struct applying {
    const update *update;
    const update_case *how;
    arena memory;
    item *root;
    tansu_buffer forms[2]; /* of values in the collation */
    tansu_error *error;
} applying;

/* place_make -- the item at the parts, making documents where there is nothing; new items are null.
 * Errors: INVALID_QUERY (a scalar, or an array without a position, is in the way), MEMORY. */
tansu_status place_make(arena *memory, item *root, const path_part *parts, uint32_t count,
                        const char *context, item **result, bool *is_new, tansu_error *error);

/* array_change_parse -- reads the operand of $push, $pushAll, $addToSet or $addToSetAll. */
tansu_status array_change_parse(update *u, operation *o, tansu_error *error);

/* array_apply -- an operator on an array. Errors: INVALID_QUERY (not an array), MEMORY. */
tansu_status array_apply(applying *a, const operation *o, item *at);

/* update_path -- parses and keeps a path whose parts may begin with `$`. */
tansu_status update_path(update *u, const char *text, size_t size, const char *context,
                         const path **result, tansu_error *error);

#endif
