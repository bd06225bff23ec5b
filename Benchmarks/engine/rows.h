/*
 * rows.h -- the rows of the table: what each measures, in which unit, and its goal.
 */
#ifndef ROWS_H
#define ROWS_H

#include "floor.h"

struct row {
    const char *key; /* for --rows and --json */
    const char *title;
    const char *unit;
    double goal;           /* SQLite / Tansu to reach; 0: none of its own, but never below 1. With
                              BENCH_ENCRYPTION: what the encrypted may take of the plain one's */
    bool once;             /* repeating it would give the same figure */
    int argument;          /* lets one function serve several rows */
    enum floor_kind floor; /* what the machine needs at least for it */
    int (*run)(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);
};

/* row_suits -- whether a row is made for an engine: LMDB has neither queries nor memory of its own. */
bool row_suits(const struct row *row, const struct engine *engine);

/* All rows in the order in which they run; *count: how many. */
const struct row *rows_all(size_t *count);

int row_commit(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);
int row_bulk(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome);
int row_bulk_close(struct fixture *fixture, struct subject *subject, const struct row *row,
                   struct outcome *outcome);
int row_get(struct fixture *fixture, struct subject *subject, const struct row *row,
            struct outcome *outcome);
int row_get_cold(struct fixture *fixture, struct subject *subject, const struct row *row,
                 struct outcome *outcome);
int row_find(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome);
int row_count(struct fixture *fixture, struct subject *subject, const struct row *row,
              struct outcome *outcome);
int row_index(struct fixture *fixture, struct subject *subject, const struct row *row,
              struct outcome *outcome);
int row_update(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);
int row_remove(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);
int row_reopen(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);
int row_reopen_killed(struct fixture *fixture, struct subject *subject, const struct row *row,
                      struct outcome *outcome);
int row_size(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome);
int row_memory(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome);

#endif
