/*
 * query/aggregate_parts.h -- what the files of aggregates share. Inner header of part query.
 *
 *   aggregate.c         group and hints documents → an aggregation, every unknown thing an error
 *   accumulate.c        figures: one accumulator fed with documents
 *   aggregate_run.c     documents → groups → the answer, in order
 *   aggregate_index.c   the same groups from an index, where that can't differ
 *   aggregate_spill.c   the same answer when memory can't hold the groups
 */
#ifndef TANSU_QUERY_AGGREGATE_PARTS_H
#define TANSU_QUERY_AGGREGATE_PARTS_H

#include "query/aggregate.h"
#include "query/collation.h"
#include "query/keyset.h"
#include "query/run.h"
#include "query/sum.h"
#include "query/writer.h"

#define MAX_GROUP_PATHS 32
#define MAX_GROUP_FIELDS 100

enum figure {
    FIGURE_COUNT, /* of documents when it has no path, otherwise of values */
    FIGURE_SUM,
    FIGURE_AVG,
    FIGURE_MIN,
    FIGURE_MAX,
    FIGURE_FIRST,
    FIGURE_LAST,
    FIGURE_DISTINCT
};

/* One member of the answer's groups. */
typedef struct figure_field {
    enum figure figure;
    const char *name;
    const path *path;   /* NULL: none */
    doc_value constant; /* FIGURE_SUM without a path: what each document adds */
} figure_field;

/* One path that groups are made by. */
typedef struct group_path {
    const char *name;
    const path *path;
} group_path;

/* A value with its own bytes. */
typedef struct kept_value {
    uint8_t *data;
    size_t capacity;
    uint32_t size;
    uint8_t type;
    bool set;
} kept_value;

/* One distinct value. */
typedef struct distinct_item {
    keyset_item head;
    uint64_t number; /* in the order in which they came */
    doc_value value;
} distinct_item;

/* What an accumulator has so far. */
typedef struct accumulator {
    uint64_t count;
    sum sum;
    kept_value kept;
    kept_value form; /* $min, $max: of the kept value, when there is a collation */
    keyset values;   /* of distinct_item */
    run_sort *more;  /* those that memory could not hold, once or more; NULL: it held all */
} accumulator;

typedef struct group {
    keyset_item head;
    kept_value *keys; /* one a path: the values of the group's first document */
    accumulator accumulators[];
} group;

struct aggregation {
    query *q;
    aggregate_text selector; /* copies in the query's memory, to make other queries of */
    aggregate_text hints;
    bool values; /* the answer is a list of distinct values */
    bool explain;
    uint64_t skip;
    uint64_t max;
    order_path order[MAX_ORDER_PATHS];
    uint32_t order_count;
    group_path by[MAX_GROUP_PATHS];
    uint32_t by_count;
    figure_field fields[MAX_GROUP_FIELDS];
    uint32_t field_count;

    /* While running. */
    const view *view;
    const collection_state *collection;
    tansu_error *error;
    watch watch;
    arena memory;
    size_t used; /* bytes that groups take, values of $distinct aside */
    arena value_memory;
    size_t value_used;
    uint64_t value_number; /* of the next one */
    double started;        /* milliseconds, of milliseconds_now() */
    bool no_index;         /* the groups are made of documents alone */
    bool from_index;       /* they are being made from an index */
    bool sorting;          /* groups are made one by one, of documents sorted by their keys */
    bool again;            /* the groups can't be held: they are to be made so */
    uint64_t group_number; /* when sorting: of the next group */
    uint64_t spilled;      /* bytes in temporary files */
    keyset groups;
    tansu_buffer key;
    tansu_buffer scratch;
    tansu_buffer form;
    const char *index;      /* that the figures come from; NULL: from documents */
    tansu_buffer plan;      /* explanation of the run over documents */
    uint64_t keys_examined; /* in an index */
    uint64_t documents_examined;
};

/* ---- accumulate.c ---- */

/* accumulate -- feeds a document, and what stands for it `times` alike documents, to one
 * accumulator. Errors: MEMORY, TOO_LARGE. */
tansu_status accumulate(aggregation *a, const figure_field *field, accumulator *to,
                        const uint8_t *doc, size_t size, uint64_t times);

/* accumulate_kept -- sets a value to a copy of another. Errors: MEMORY. */
tansu_status accumulate_keep(aggregation *a, kept_value *kept, const doc_value *value);

/* whole_value -- the one value that stands for what a path finds: itself, or where the path leads
 * through an array the array of values found. In place, or in a->scratch. False: memory. */
bool whole_value(aggregation *a, const path *path, const uint8_t *doc, size_t size,
                 doc_value *value);

/* accumulator_write -- appends the figure as a member of the answer. Errors: MEMORY, TIMEOUT,
 * CANCELLED. */
tansu_status accumulator_write(aggregation *a, writer *w, const figure_field *field,
                               accumulator *from);

void accumulator_free(accumulator *a);

/* ---- aggregate_run.c ---- */

/* group_of -- the group of a document, made if need be. Errors: MEMORY, TOO_LARGE. */
tansu_status group_of(aggregation *a, const uint8_t *doc, size_t size, group **result);

/* group_key -- replaces a->key by the key of a document's group. False: memory. */
bool group_key(aggregation *a, const uint8_t *doc, size_t size);

/* write_group -- appends one group as a document. Errors: MEMORY, TIMEOUT, CANCELLED, IO, FULL, TOO_LARGE. */
tansu_status write_group(aggregation *a, group *g, writer *w);

/* groups_clear -- lets go of all groups. */
void groups_clear(aggregation *a);

/* ---- aggregate_spill.c ---- */

/* within_memory -- makes room when the groups take too much. TOO_LARGE when there can be none; with a->again set,
 * which is no error yet: the groups are to be made again by add_sorted(). Other errors: MEMORY, IO, FULL,
 * TIMEOUT, CANCELLED. */
tansu_status within_memory(aggregation *a);

/* too_long -- the error for an answer over AGGREGATE_MEMORY. */
tansu_status too_long(aggregation *a);

/* next_distinct -- what an accumulator has of different values, in order, also those that were spilled; `place` is
 * zeroed first. TANSU_DONE at the end. */
typedef struct distinct_place {
    keyset_item **sorted; /* to be freed */
    size_t next;
    bool begun;
    tansu_buffer last; /* key of the value before, to be freed */
} distinct_place;
tansu_status next_distinct(aggregation *a, accumulator *from, distinct_place *place,
                           doc_value *value);
void distinct_end(distinct_place *place);

/* write_sorted -- appends {"groups": [...]} of documents that are sorted by the keys of their groups; `w` NULL:
 * nothing, for an explanation. */
tansu_status write_sorted(aggregation *a, writer *w);

/* milliseconds_now -- of a clock that only goes forward. */
double milliseconds_now(void);

/* ---- aggregate_index.c ---- */

/* aggregate_from_index -- makes all groups from indexes; *done false when that would not be exact,
 * or the hints do not want it. Errors: those of a run. */
tansu_status aggregate_from_index(aggregation *a, bool *done);

#endif
