/*
 * growth.h -- databases of growing size: filling one, and measuring it. Each step runs in a process
 * of its own, so that its memory is its own.
 */
#ifndef GROWTH_H
#define GROWTH_H

#include <stdbool.h>
#include <stdint.h>
#include <tansu.h>

#define COLLECTION "c"
#define GROUP 10 /* documents with one value of the indexed key */

/* One database: made documents, or a file of documents that is loaded GROUP times. */
struct data {
    const char *folder; /* of the database */
    uint64_t documents;
    const char *places; /* newline-delimited JSON; NULL: made documents */
};

/* What the steps have measured; all times in microseconds, all sizes in bytes. */
struct figures {
    double fill_seconds;
    double open_clean, open_killed; /* with the first get */
    double get, get_99;
    double query; /* GROUP documents by an index */
    double range; /* a hundred keys of it */
    uint64_t documents, anonymous, resident, disk;
    bool right;
};

/* key_of -- the path of the indexed key. */
const char *key_of(const struct data *d);

/* fill -- makes the database, closes it and sets f->fill_seconds. */
void fill(const struct data *d, struct figures *f);

/* measure -- gets, queries and ranges of a database, of `calls` each; with `cache` bytes of index
 * cache (0: the default). */
void measure(const struct data *d, uint64_t calls, uint64_t cache, struct figures *f);

/* commit_and_die -- commits a thousand documents one by one and ends the process by SIGKILL. */
void commit_and_die(const struct data *d, struct figures *f);

/* measure_opening -- opens it, gets one document, and sets f->open_killed. */
void measure_opening(const struct data *d, struct figures *f);

/* limit_enter -- puts this process into a new control group with so much memory, pages of files
 * included. False where the system has none, or does not allow it; *why says so. limit_leave --
 * removes the groups of a process that has ended. */
bool limit_enter(uint64_t bytes, const char **why);
void limit_leave(int process);

/* drop_pages -- writes back and drops the cached pages of a folder's files. */
void drop_pages(const char *folder);

#endif
