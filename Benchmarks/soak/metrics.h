/*
 * metrics.h -- the metrics that a load samples once a second: memory, disk space, descriptors, and
 * every number of tansu_stats(); and the file of comma-separated values that they are written to.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdint.h>
#include <stdio.h>
#include <tansu.h>

#define STATS_MOST 48
#define STATS_NAME 48

struct memory {
    uint64_t resident, anonymous, peak; /* bytes; 0 where the system does not report it */
};

/* memory_now -- of this process. */
struct memory memory_now(void);

/* descriptors_now -- how many this process has open; -1 where the system does not report it. */
int descriptors_now(void);

/* One number of tansu_stats(). */
struct stat {
    char name[STATS_NAME];
    double value;
};

/* stats_now -- the numbers and booleans at the top level of tansu_stats(); returns how many. */
size_t stats_now(tansu_db *db, struct stat stats[STATS_MOST]);

/* stats_value -- one of them; `otherwise` when there is none with that name. */
double stats_value(tansu_db *db, const char *name, double otherwise);

/* A file of samples: columns of the program's own, then memory, descriptors and disk, then stats.
 * */
struct samples {
    FILE *file;
    const char *folder; /* of the database */
    char names[STATS_MOST][STATS_NAME];
    size_t name_count;
    uint64_t limit;       /* bytes of anonymous memory (resident, where that is not known) */
    uint64_t peak_memory; /* that was seen */
};

/* samples_begin -- writes the header line; `columns` are the names of the program's own columns,
 * with commas between. The columns of tansu_stats() are those that it has now. 0, or -1 when the
 * file can't be created. */
int samples_begin(struct samples *s, const char *path, const char *folder, const char *columns,
                  tansu_db *db, uint64_t limit);

/* samples_add -- writes a line, which begins with `own`. 0, or -1 when memory exceeds the limit or
 * the file can't be written; standard error says which. */
int samples_add(struct samples *s, const char *own, tansu_db *db);

/* samples_end -- closes the file. */
void samples_end(struct samples *s);

#endif
