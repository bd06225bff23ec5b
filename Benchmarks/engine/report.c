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

/* ran -- whether an engine ran a row. */
static bool ran(const struct report_line *line, int engine) {
    return (line->subjects & (1u << engine)) != 0;
}

/* least_ratio -- of an engine to Tansu, the least of any pair of runs. */
static double least_ratio(const struct report_line *line, int engine) {
    double least = 0;
    for (size_t i = 0; i < line->repetitions; i++) {
        double tansu = line->samples[0][i];
        double pair = tansu > 0 ? line->samples[engine][i] / tansu : 0;
        if (i == 0 || pair < least)
            least = pair;
    }
    return least;
}

/* report_ratio -- medians and ratios of a row. */
struct report_ratio report_ratio(const struct report_line *line) {
    struct report_ratio ratio = {.floor = 0};
    for (int s = 0; s < ENGINES; s++)
        if (ran(line, s))
            ratio.median[s] = median(line->samples[s], line->repetitions);
    double tansu = ratio.median[0];
    for (int s = 1; s < ENGINES && tansu > 0; s++)
        if (ran(line, s)) {
            ratio.ratio[s] = ratio.median[s] / tansu;
            ratio.least[s] = least_ratio(line, s);
        }
    if (line->row->floor != FLOOR_NONE)
        ratio.floor = median(line->floor, line->repetitions);
    ratio.above_floor = ratio.floor > 0 ? tansu / ratio.floor : 0;
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
    if (ratio->above_floor > 0)
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

/* report_versions -- the engines. */
void report_versions(void) {
    for (int s = 0; s < ENGINES; s++)
        printf("%s%s %s", s == 0 ? "" : ", ", engines[s]->name, engines[s]->version());
}

/* report_table_head -- the table's first two lines. */
void report_table_head(unsigned subjects) {
    int width = printf("%-40s", "");
    for (int s = 0; s < ENGINES; s++)
        if ((subjects & (1u << s)) != 0)
            width += printf(" %10s", engines[s]->name);
    width += printf(" %-4s %10s %8s", "unit", "floor", subjects & TANSU_BIT ? "above" : "");
    if ((subjects & TANSU_BIT) != 0 && (subjects & LMDB_BIT) != 0)
        width += printf(" %8s", "to LMDB");
    if ((subjects & TANSU_BIT) != 0 && (subjects & SQLITE_BIT) != 0)
        width += printf(" %8s %8s %6s", "ratio", "least", "goal");
    printf("\n");
    while (width-- > 0)
        putchar('-');
    printf("\n");
    fflush(stdout);
}

/* report_table_line -- one row. */
void report_table_line(const struct report_line *line, unsigned subjects) {
    struct report_ratio ratio = report_ratio(line);
    printf("%-40s", line->row->title);
    for (int s = 0; s < ENGINES; s++) {
        if ((subjects & (1u << s)) == 0)
            continue;
        if (ran(line, s))
            print_number(ratio.median[s]);
        else
            printf(" %10s", "");
    }
    printf(" %-4s", line->row->unit);
    print_floor(&ratio);
    if ((subjects & TANSU_BIT) != 0 && (subjects & LMDB_BIT) != 0) {
        if (ratio.ratio[ENGINES - 1] > 0 && ran(line, ENGINES - 1))
            printf(" %8.2f", ratio.ratio[ENGINES - 1]);
        else
            printf(" %8s", "");
    }
    if ((subjects & TANSU_BIT) != 0 && (subjects & SQLITE_BIT) != 0) {
        printf(" %8.2f %8.2f", ratio.ratio[1], ratio.least[1]);
        if (line->row->goal > 0)
            printf(" %6g", line->row->goal);
        else
            printf(" %6s", "");
        printf("  %s", verdict(line->row, ratio.ratio[1]));
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

/* report_ratios -- the ratios of an engine to Tansu; those of the first one have no prefix. */
static void report_ratios(const char *prefix, double ratio, double least) {
    bool is_first = prefix[0] == '\0';
    printf(", \"%s%s\": %.6g, \"%s%s\": %.6g", prefix, is_first ? "ratio" : "Ratio", ratio, prefix,
           is_first ? "leastRatio" : "LeastRatio", least);
}

/* report_json -- everything as one JSON object. */
void report_json(const struct report_line *lines, size_t count, size_t documents) {
    char machine[256];
    system_describe(machine, sizeof machine);
    printf("{\"machine\": \"%s\", \"documents\": %zu", machine, documents);
    for (int s = 0; s < ENGINES; s++)
        printf(", \"%sVersion\": \"%s\"", engines[s]->key, engines[s]->version());
    printf(", \"rows\": [");
    for (size_t i = 0; i < count; i++) {
        struct report_ratio ratio = report_ratio(&lines[i]);
        printf("%s\n  {\"key\": \"%s\", \"title\": \"%s\", \"unit\": \"%s\"", i == 0 ? "" : ",",
               lines[i].row->key, lines[i].row->title, lines[i].row->unit);
        for (int s = 0; s < ENGINES; s++)
            if (ran(&lines[i], s))
                report_samples(engines[s]->key, lines[i].samples[s], lines[i].repetitions);
        for (int s = 1; s < ENGINES; s++)
            if (ratio.ratio[s] > 0)
                report_ratios(s == 1 ? "" : engines[s]->key, ratio.ratio[s], ratio.least[s]);
        if (ratio.floor > 0) {
            report_samples("floor", lines[i].floor, lines[i].repetitions);
            if (ratio.above_floor > 0)
                printf(", \"aboveFloor\": %.6g", ratio.above_floor);
        }
        if (lines[i].row->goal > 0)
            printf(", \"goal\": %g", lines[i].row->goal);
        printf("}");
    }
    printf("\n]}\n");
}
