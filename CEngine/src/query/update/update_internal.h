/*
 * query/update/update_internal.h -- what the files of this folder share.
 */
#ifndef TANSU_QUERY_UPDATE_UPDATE_INTERNAL_H
#define TANSU_QUERY_UPDATE_UPDATE_INTERNAL_H

#include "bson/number.h"
#include "query/match/collation.h"
#include "query/parse/parsed_query.h"
#include "query/parse/selector.h"
#include "query/pipeline/pipeline.h"
#include "query/update/update.h"
#include "util/error.h"

/* The memory limits of compiling an update, and of applying it to one document. */
#define UPDATE_MEMORY QUERY_MEMORY
#define APPLY_MEMORY ((size_t)1024 * 1024 * 1024)

/* Limit of array filters: each is evaluated for every element. */
#define MAX_FILTERS 100

/* Limit of nulls that fill the gap before an element that is set beyond the end of an array. */
#define MAX_FILL 100000

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

/* A query on a document with one field, which is the element. */
typedef struct element_query element_query;

/* `$[name]` and the condition on its elements. */
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
    bool has_position; /* $position is given */
    bool has_slice;    /* $slice is given */
    bool has_sort;     /* $sort is given: by `order`, or by the elements themselves */
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
    uint8_t *dynamics;            /* an enum dynamic for each part; NULL: all are DYNAMIC_NONE */
    const array_filter **filters; /* of DYNAMIC_FILTERED parts */
    doc_value operand;            /* PULL_ALL, and PULL without a condition: collated */
    doc_value *values;            /* PULL_ALL: those of `operand`, sorted */
    uint32_t value_count;
    const path *to;      /* RENAME */
    bool timestamp;      /* CURRENT_DATE */
    condition *test;     /* PULL with a condition */
    array_change *array; /* PUSH ADD_TO_SET */
} operation;

/* A path in one document that an operator changes. */
typedef struct target {
    const operation *operation;
    const path_part *parts;
    uint32_t count;
    bool source; /* of $rename: removed when the other target is applied */
} target;

struct update {
    arena memory;
    const uint8_t *document;
    size_t size;
    doc_value replacement; /* of $replace */
    pipeline *pipeline;    /* of $pipeline; NULL: none */
    bool empty;            /* the document is: an error, unless the query has $upsert or $dropall */
    const collation *collation;       /* of strings; NULL: by bytes */
    const expression_compiler *scope; /* with the variables of $let; NULL: none */
    update_facts facts;
    operation *first;
    operation *last;
    uint32_t count;
    bool dynamic; /* some path has `$`, `$[]` or `$[name]` */
    array_filter *filters;
    target *targets; /* sorted; when not dynamic */
    uint32_t target_count;
};

/* bad_update -- INVALID_QUERY with operator and path as context. */
tansu_status bad_update(tansu_error *error, const operation *o, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* bad_context -- the same with another context. */
#define bad_context(error, context, ...) \
    error_set(error, TANSU_E_INVALID_QUERY, context, __VA_ARGS__)

/* ---- Array filters (update_filter.c) ---- */

/* filters_read -- parses the hint $arrayFilters. Errors: INVALID_QUERY, MEMORY. */
tansu_status filters_read(update *u, const doc_value *filters, tansu_error *error);

/* filters_find -- the filter with a name, or NULL. */
array_filter *filters_find(const update *u, const char *name, size_t size);

/* filter_passes -- whether an element passes. Errors: those of matching. */
tansu_status filter_passes(const array_filter *filter, match_context *context,
                           const doc_value *element, bool *passes, tansu_error *error);

void filters_free(update *u);

/* ---- Targets (update_target.c) ---- */

/* targets_check -- sorts targets and rejects two of which one equals, or is within, the other.
 * Errors: INVALID_QUERY. */
tansu_status targets_check(target *targets, uint32_t count, tansu_error *error);

/* targets_find -- finds the targets in one document; they live in the arena. Errors: INVALID_QUERY,
 * MEMORY, those of matching. */
tansu_status targets_find(const update *u, arena *memory, const uint8_t *doc, size_t size,
                          const update_case *how, target **targets, uint32_t *count,
                          tansu_error *error);

/* ---- A document as a tree (update_tree.c) ---- */

/* A value of a document. It is unchanged unless it is open, that is, expanded into children. */
typedef struct item {
    const char *key; /* of a document's item; NUL-terminated */
    uint32_t key_size;
    doc_value value;
    bool open;
    struct item **children; /* an entry is NULL if it was removed while there is `by_name` */
    uint32_t count;
    uint32_t capacity;
    key_set *by_name; /* of a document with many keys: key to position; NULL: none */
} item;

/* item_new -- NULL when memory is exhausted. The value is not copied. */
item *item_new(arena *memory, const doc_value *value);

/* item_open -- expands a document or array. False when memory is exhausted. */
bool item_open(arena *memory, item *i);

/* item_find -- the child with that key (document) or position (array), or NULL; *at is its
 * position. For a document with many keys it builds a set of them in the arena, memory
 * permitting. */
item *item_find(arena *memory, item *i, const path_part *part, uint32_t *at);

/* item_insert -- inserts a child. False when memory is exhausted. */
bool item_insert(arena *memory, item *parent, uint32_t at, item *child);

void item_remove(item *parent, uint32_t at);

/* item_set -- replaces the value. */
void item_set(item *i, const doc_value *value);

/* item_raw -- the value of an item as BSON, in the arena if it is open. False when memory is
 * exhausted. */
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
    tansu_buffer collated[2]; /* scratch for collated values */
    tansu_error *error;
} applying;

/* target_create -- finds the item at a path, or creates it and the documents that lead to it; new
 * items are null. Errors: INVALID_QUERY (the path leads through a scalar, or through an array
 * without a position), MEMORY. */
tansu_status target_create(arena *memory, item *root, const path_part *parts, uint32_t count,
                           const char *context, item **result, bool *is_new, tansu_error *error);

/* array_change_parse -- parses the operand of $push, $pushAll, $addToSet or $addToSetAll. */
tansu_status array_change_parse(update *u, operation *o, tansu_error *error);

/* array_apply -- an operator on an array. Errors: INVALID_QUERY (not an array), MEMORY. */
tansu_status array_apply(applying *a, const operation *o, item *at);

/* update_path -- parses a path whose parts may begin with `$`; it lives as long as the update. */
tansu_status update_path(update *u, const char *text, size_t size, const char *context,
                         const path **result, tansu_error *error);

#endif
