/*
 * report.h -- the results of all rows, as a table for people or as JSON for programs.
 */
#ifndef REPORT_H
#define REPORT_H

#include "rows.h"

#define REPORT_REPETITIONS 99

/* The samples of one row, in the order of `engines`. */
struct report_line {
    const struct row *row;
    unsigned subjects; /* the engines that ran it */
    size_t repetitions;
    double samples[ENGINES][REPORT_REPETITIONS];
    double floor[REPORT_REPETITIONS]; /* of a row that has one */
};

/* The medians of a row, and the ratios to Tansu's: of the medians, and the least of any pair of runs. */
struct report_ratio {
    double median[ENGINES];
    double ratio[ENGINES]; /* 0: the row has none */
    double least[ENGINES];
    double floor;       /* 0: the row has none */
    double above_floor; /* Tansu / floor */
};

struct report_ratio report_ratio(const struct report_line *line);

/* The names and versions of the engines, without a newline. */
void report_versions(void);

/* The table's head, for a set of engines, and one line of it. */
void report_table_head(unsigned subjects);
void report_table_line(const struct report_line *line, unsigned subjects);

/* Everything as one JSON object. */
void report_json(const struct report_line *lines, size_t count, size_t documents);

#endif
