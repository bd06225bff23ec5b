/*
 * gauges.h -- what a run is measured by once a second: memory, disk, descriptors, and every number that
 * tansu_stats() tells, whatever it is called; and the file of comma-separated values that it goes into.
 */
#ifndef GAUGES_H
#define GAUGES_H

#include <stdint.h>
#include <stdio.h>
#include <tansu.h>

#define GAUGES_STATS 48
#define GAUGES_NAME 48

struct memory {
    uint64_t resident, anonymous, peak; /* bytes; 0 where the system does not tell */
};

/* memory_now -- of this process. */
struct memory memory_now(void);

/* descriptors_now -- how many this process has open; -1 where the system does not tell. */
int descriptors_now(void);

/* One number of tansu_stats(). */
struct stat_figure {
    char name[GAUGES_NAME];
    double value;
};

/* stats_now -- the numbers and truths at the top of tansu_stats(); how many. */
size_t stats_now(tansu_db *db, struct stat_figure figures[GAUGES_STATS]);

/* stats_figure -- one of them; `otherwise` when it is not there. */
double stats_figure(tansu_db *db, const char *name, double otherwise);

/* A file of samples: columns of the program's own, then memory, descriptors and disk, then stats. */
struct samples {
    FILE *file;
    const char *folder; /* of the database */
    char names[GAUGES_STATS][GAUGES_NAME];
    size_t name_count;
    uint64_t limit;       /* bytes of anonymous memory (resident, where that is not known) */
    uint64_t most_memory; /* that was seen */
};

/* samples_begin -- writes the first line; `columns` are the own ones, with commas between. The columns of
 * tansu_stats() are those that it has now. 0, or -1 when the file can't be made. */
int samples_begin(struct samples *s, const char *path, const char *folder, const char *columns,
                  tansu_db *db, uint64_t limit);

/* samples_add -- a line, which begins with this text. 0, or -1 when memory is over the limit or the file can't be
 * written: standard error tells which. */
int samples_add(struct samples *s, const char *own, tansu_db *db);

/* samples_end -- closes the file. */
void samples_end(struct samples *s);

#endif
