/*
 * report.h -- the results of all rows, as a table for people or as JSON for programs.
 */
#ifndef REPORT_H
#define REPORT_H

#include "rows.h"

#define REPORT_REPETITIONS 99

/* The samples of one row: [0] Tansu's, [1] SQLite's. */
struct report_line {
    const struct row *row;
    size_t repetitions;
    double samples[2][REPORT_REPETITIONS];
    double floor[REPORT_REPETITIONS]; /* of a row that has one */
};

/* The medians of a row, and the ratios SQLite / Tansu: of the medians, and the least of any pair of runs. */
struct report_ratio {
    double tansu;
    double sqlite;
    double ratio;
    double least;
    double floor;       /* 0: the row has none */
    double above_floor; /* Tansu / floor */
};

struct report_ratio report_ratio(const struct report_line *line);

/* The table's head and one line of it; `subjects`: 1 for Tansu, 2 for SQLite, 3 for both. */
void report_table_head(int subjects);
void report_table_line(const struct report_line *line, int subjects);

/* Everything as one JSON object. */
void report_json(const struct report_line *lines, size_t count, size_t documents, int subjects);

#endif
