/*
 * rows.h -- the rows of the table: what each measures, in which unit, and its goal.
 */
#ifndef ROWS_H
#define ROWS_H

#include "lab.h"

struct row {
    const char *key; /* for --rows and --json */
    const char *title;
    const char *unit;
    double goal;  /* SQLite / Tansu to reach; 0: none of its own, but never below 1 */
    bool once;    /* repeating it would give the same figure */
    int argument; /* lets one function serve several rows */
    int (*run)(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
};

/* All rows in the order in which they run; *count: how many. */
const struct row *rows_all(size_t *count);

int row_commit(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_bulk(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_bulk_close(struct lab *lab, struct side *side, const struct row *row,
                   struct outcome *outcome);
int row_get(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_find(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_count(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_index(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_update(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_remove(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_reopen(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_reopen_killed(struct lab *lab, struct side *side, const struct row *row,
                      struct outcome *outcome);
int row_size(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);
int row_memory(struct lab *lab, struct side *side, const struct row *row, struct outcome *outcome);

#endif
