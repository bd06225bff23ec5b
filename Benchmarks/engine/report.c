#include "report.h"

#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* compare_doubles -- the order of qsort(). */
static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* median -- the middle sample, or the mean of the two in the middle. */
static double median(const double *samples, size_t count) {
    double sorted[REPORT_REPETITIONS];
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* report_ratio -- medians and ratios of a row. */
struct report_ratio report_ratio(const struct report_line *line) {
    struct report_ratio ratio = {.tansu = median(line->samples[0], line->repetitions),
                                 .sqlite = median(line->samples[1], line->repetitions)};
    ratio.ratio = ratio.tansu > 0 ? ratio.sqlite / ratio.tansu : 0;
    if (line->row->floor != FLOOR_NONE)
        ratio.floor = median(line->floor, line->repetitions);
    ratio.above_floor = ratio.floor > 0 ? ratio.tansu / ratio.floor : 0;
    for (size_t i = 0; i < line->repetitions; i++) {
        double tansu = line->samples[0][i], sqlite = line->samples[1][i];
        double pair = tansu > 0 ? sqlite / tansu : 0;
        if (i == 0 || pair < ratio.least)
            ratio.least = pair;
    }
    return ratio;
}

/* print_number -- a number with about three significant digits. */
static void print_number(double value) {
    printf(" %10.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
}

/* print_floor -- the floor and how far above it Tansu is; empty columns in a row without one. */
static void print_floor(const struct report_ratio *ratio) {
    if (ratio->floor <= 0) {
        printf(" %10s %8s", "", "");
        return;
    }
    print_number(ratio->floor);
    if (ratio->tansu > 0)
        printf(" %8.2f", ratio->above_floor);
    else
        printf(" %8s", "");
}

/* verdict -- how a ratio compares with its goal. */
static const char *verdict(const struct row *row, double ratio) {
    if (ratio < 1)
        return "slower than SQLite";
    if (row->goal > 0 && ratio < row->goal)
        return "below goal";
    return row->goal > 0 ? "reached" : "";
}

/* report_table_head -- the table's first two lines. */
void report_table_head(int subjects) {
    printf("%-40s %10s %10s %-4s %10s %8s", "", subjects & 1 ? "Tansu" : "",
           subjects & 2 ? "SQLite" : "", "unit", "floor", subjects & 1 ? "above" : "");
    if (subjects == 3)
        printf(" %8s %8s %6s", "ratio", "least", "goal");
    printf("\n");
    for (int i = 0; i < (subjects == 3 ? 111 : 86); i++)
        putchar('-');
    printf("\n");
    fflush(stdout);
}

/* report_table_line -- one row. */
void report_table_line(const struct report_line *line, int subjects) {
    struct report_ratio ratio = report_ratio(line);
    printf("%-40s", line->row->title);
    if (subjects & 1)
        print_number(ratio.tansu);
    else
        printf(" %10s", "");
    if (subjects & 2)
        print_number(ratio.sqlite);
    else
        printf(" %10s", "");
    printf(" %-4s", line->row->unit);
    print_floor(&ratio);
    if (subjects == 3) {
        printf(" %8.2f %8.2f", ratio.ratio, ratio.least);
        if (line->row->goal > 0)
            printf(" %6g", line->row->goal);
        else
            printf(" %6s", "");
        printf("  %s", verdict(line->row, ratio.ratio));
    }
    printf("\n");
    fflush(stdout);
}

/* report_samples -- samples of one engine, or of the floor, as a JSON array. */
static void report_samples(const char *name, const double *samples, size_t count) {
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.6g", i == 0 ? "" : ", ", samples[i]);
    printf("]");
}

/* report_json -- everything as one JSON object. */
void report_json(const struct report_line *lines, size_t count, size_t documents, int subjects) {
    char machine[256];
    system_describe(machine, sizeof machine);
    printf("{\"machine\": \"%s\", \"documents\": %zu, \"tansuVersion\": \"%s\", "
           "\"sqliteVersion\": \"%s\", \"rows\": [",
           machine, documents, tansu_engine.version(), sqlite_engine.version());
    for (size_t i = 0; i < count; i++) {
        struct report_ratio ratio = report_ratio(&lines[i]);
        printf("%s\n  {\"key\": \"%s\", \"title\": \"%s\", \"unit\": \"%s\"", i == 0 ? "" : ",",
               lines[i].row->key, lines[i].row->title, lines[i].row->unit);
        if (subjects & 1)
            report_samples("tansu", lines[i].samples[0], lines[i].repetitions);
        if (subjects & 2)
            report_samples("sqlite", lines[i].samples[1], lines[i].repetitions);
        if (subjects == 3)
            printf(", \"ratio\": %.6g, \"leastRatio\": %.6g", ratio.ratio, ratio.least);
        if (ratio.floor > 0) {
            report_samples("floor", lines[i].floor, lines[i].repetitions);
            if (subjects & 1)
                printf(", \"aboveFloor\": %.6g", ratio.above_floor);
        }
        if (lines[i].row->goal > 0)
            printf(", \"goal\": %g", lines[i].row->goal);
        printf("}");
    }
    printf("\n]}\n");
}
