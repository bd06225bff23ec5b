/*
 * query/aggregate/aggregate_internal.h -- what the files of this folder share.
 *
 *   aggregate_parse.c   group document and hints to an aggregation; everything unknown is an error
 *   accumulate.c        accumulators
 *   aggregate_run.c     documents to groups, groups to the result
 *   aggregate_index.c   the same groups from an index, where these cannot differ
 *   aggregate_spill.c   the same result when the groups exceed the memory limit
 */
#ifndef TANSU_QUERY_AGGREGATE_AGGREGATE_INTERNAL_H
#define TANSU_QUERY_AGGREGATE_AGGREGATE_INTERNAL_H

#include "bson/writer.h"
#include "query/aggregate/aggregate.h"
#include "query/exec/run.h"
#include "query/match/collation.h"
#include "query/util/date_trunc.h"
#include "query/util/exact_sum.h"
#include "query/util/key_set.h"
#include "util/error.h"

#define MAX_GROUP_PATHS 32
#define MAX_GROUP_FIELDS 100

enum accumulator_kind {
    ACCUMULATE_COUNT, /* documents, or with a path values */
    ACCUMULATE_SUM,
    ACCUMULATE_AVG,
    ACCUMULATE_MIN,
    ACCUMULATE_MAX,
    ACCUMULATE_FIRST,
    ACCUMULATE_LAST,
    ACCUMULATE_DISTINCT
};

/* One member of "fields". */
typedef struct group_field {
    enum accumulator_kind kind;
    const char *name;
    const path *path;   /* NULL: none */
    doc_value constant; /* ACCUMULATE_SUM without a path: what each document adds */
} group_field;

/* One path of "by". */
typedef struct group_path {
    const char *name;
    const path *path;
    date_trunc *trunc; /* the date at the path is truncated; NULL: the value as it is */
} group_path;

/* A value that owns its bytes. */
typedef struct owned_value {
    uint8_t *data;
    size_t capacity;
    uint32_t size;
    uint8_t type;
    bool set;
} owned_value;

/* One distinct value. */
typedef struct distinct_item {
    key_set_item head;
    uint64_t number; /* in order of arrival */
    doc_value value;
} distinct_item;

/* The state of one accumulator. */
typedef struct accumulator {
    uint64_t count;
    sum sum;
    owned_value kept;
    owned_value collated;   /* $min, $max: of `kept`, with a collation */
    key_set values;         /* of distinct_item */
    external_sort *spilled; /* values that exceeded the memory limit; NULL: none did */
} accumulator;

typedef struct group {
    key_set_item head;
    owned_value *keys; /* the value of each path in the first document of the group */
    accumulator accumulators[];
} group;

struct aggregation {
    query *q;
    aggregate_text selector; /* copies in the query's memory, to compile other queries from */
    aggregate_text hints;
    bool values; /* the result is a list of distinct values */
    bool explain;
    uint64_t skip;
    uint64_t max;
    order_path order[MAX_ORDER_PATHS];
    uint32_t order_count;
    group_path by[MAX_GROUP_PATHS];
    uint32_t by_count;
    group_field fields[MAX_GROUP_FIELDS];
    uint32_t field_count;

    /* While running. */
    const read_context *rctx;
    const collection_state *collection;
    tansu_error *error;
    deadline deadline;
    arena memory;
    size_t memory_limit; /* of the groups and values, before they spill */
    size_t used;         /* bytes of the groups, without the values of $distinct */
    arena value_memory;
    size_t value_used;
    uint64_t value_number; /* of the next one */
    double started;        /* milliseconds, of milliseconds_now() */
    bool no_index;         /* groups are made from documents only */
    bool from_index;       /* groups are being made from an index */
    bool sorting;          /* groups are made one by one, from documents sorted by group key */
    bool retry_sorted;     /* the groups exceed the memory limit: start again, sorting */
    uint64_t group_number; /* when sorting: number of the next group */
    uint64_t spilled;      /* bytes in temporary files */
    key_set groups;
    tansu_buffer key;
    tansu_buffer scratch;
    tansu_buffer collated;
    uint8_t date[8];        /* of by_value() */
    const char *index;      /* used instead of documents; NULL: none */
    tansu_buffer plan;      /* of the run over documents, for explain */
    uint64_t keys_examined; /* in an index */
    uint64_t documents_examined;
};

/* ---- accumulate.c ---- */

/* accumulate -- adds a document, which represents `times` documents with the same group key, to an
 * accumulator. Errors: MEMORY, TOO_LARGE. */
tansu_status accumulate(aggregation *a, const group_field *field, accumulator *to,
                        const uint8_t *doc, size_t size, uint64_t times);

/* owned_value_set -- copies a value. Errors: MEMORY. */
tansu_status owned_value_set(aggregation *a, owned_value *owned, const doc_value *value);

/* path_value -- the value at a path; where the path leads through an array, the array of all values
 * it finds. In place, or in a->scratch. False when memory is exhausted. */
bool path_value(aggregation *a, const path *path, const uint8_t *doc, size_t size,
                doc_value *value);

/* accumulator_write -- appends the result as a member of a group. Errors: MEMORY, TIMEOUT,
 * CANCELLED. */
tansu_status accumulator_write(aggregation *a, writer *w, const group_field *field,
                               accumulator *from);

void accumulator_free(accumulator *a);

/* ---- aggregate_run.c ---- */

/* group_of -- finds or adds the group of a document. Errors: MEMORY, TOO_LARGE. */
tansu_status group_of(aggregation *a, const uint8_t *doc, size_t size, group **result);

/* group_key -- replaces a->key by the group key of a document. False when memory is exhausted. */
bool group_key(aggregation *a, const uint8_t *doc, size_t size);

/* write_group -- appends a group as a document. Errors: MEMORY, TIMEOUT, CANCELLED, IO, FULL,
 * TOO_LARGE. */
tansu_status write_group(aggregation *a, group *g, writer *w);

/* groups_clear -- frees all groups. */
void groups_clear(aggregation *a);

/* ---- aggregate_spill.c ---- */

/* within_memory -- spills values of $distinct when the groups exceed the memory limit. TOO_LARGE
 * when that does not help; if it sets a->retry_sorted, the caller starts again with write_sorted().
 * Other errors: MEMORY, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status within_memory(aggregation *a);

/* result_too_large -- the error for a result over AGGREGATE_MEMORY. */
tansu_status result_too_large(aggregation *a);

/* A position among the distinct values of an accumulator. Zero-initialised, it is at the
 * beginning. */
typedef struct distinct_cursor {
    key_set_item **sorted;
    size_t next;
    bool begun;
    tansu_buffer last; /* key of the previous value */
} distinct_cursor;

/* next_distinct -- the next distinct value in order, including those that were spilled. TANSU_DONE
 * at the end. */
tansu_status next_distinct(aggregation *a, accumulator *from, distinct_cursor *at,
                           doc_value *value);

/* distinct_end -- frees the memory of a position. */
void distinct_end(distinct_cursor *at);

/* write_sorted -- appends {"groups": [...]}, made from documents sorted by group key. `w` NULL:
 * makes the groups only, for explain. */
tansu_status write_sorted(aggregation *a, writer *w);

/* milliseconds_now -- of a monotonic clock. */
double milliseconds_now(void);

/* ---- aggregate_index.c ---- */

/* aggregate_from_index -- makes all groups from indexes; *done is false when that would not be
 * exact, or the hints forbid it. Errors: those of a run. */
tansu_status aggregate_from_index(aggregation *a, bool *done);

#endif
