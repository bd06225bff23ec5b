/*
 * device/workload.h -- what the files of device-workload share: the options that every opening uses, the
 * watch over calls that hang, and what counts as a fault.
 */
#ifndef DEVICE_WORKLOAD_H
#define DEVICE_WORKLOAD_H

#include <tansu.h>

#include <stdbool.h>
#include <stdint.h>

/* The exit codes of the program. */
enum {
    EXIT_FINE = 0,
    EXIT_FAULT = 1, /* a promise was broken; the output tells which */
    EXIT_HUNG = 3,  /* a call did not come back */
    EXIT_ENDED = 4, /* the library ended the process */
    EXIT_USAGE = 64,
    EXIT_HARNESS = 70 /* the harness itself could not go on */
};

/* ---- watch.c ---- */

#define WATCH_SLOTS 16

/* watch_start -- looks after calls from now on: one that takes longer than so many seconds ends the program with
 * EXIT_HUNG and its name. The end of the program by anyone else ends it with EXIT_ENDED. */
void watch_start(unsigned seconds);

/* watch_call / watch_back -- this slot's thread goes into a call, and came back. The name is a literal. */
void watch_call(unsigned slot, const char *name);
void watch_back(unsigned slot);

/* watch_finish -- ends the program on purpose. */
void watch_finish(int code) __attribute__((noreturn));

/* fault -- tells of a broken promise and counts it; any thread. */
void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned faults_so_far(void);

/* ---- workload.c and inspect.c ---- */

/* set_options -- small segments, checkpoints and caches, so that a second of work has many of each. */
void set_options(tansu_options *options, const char *path, tansu_durability durability);

/* figure -- a whole number or a truth of tansu_stats(), by its name; `otherwise` when it is not there. */
int64_t figure(tansu_db *db, const char *name, int64_t otherwise);

/* workload_run -- works on the database until standard input tells to end. */
int workload_run(const char *path, const char *ledger, uint64_t seed, tansu_durability durability,
                 const char *backups);

/* workload_inspect -- opens what is left and compares it with what was acknowledged before `moment`; backups
 * are restored to `scratch`. `soft`: commits that only survive a killed process must be there, too. */
int workload_inspect(const char *path, const char *ledger, uint64_t seed, uint64_t moment,
                     bool soft, const char *backups, const char *scratch);

#endif
