/*
 * device/workload.h -- what the files of device-workload share: the options of every opening, the
 * watchdog for calls that hang, and the report of violations.
 */
#ifndef DEVICE_WORKLOAD_H
#define DEVICE_WORKLOAD_H

#include <tansu.h>

#include <stdbool.h>
#include <stdint.h>

/* The exit codes of the program. */
enum {
    EXIT_FINE = 0,
    EXIT_FAULT = 1, /* a promise was broken; the output says which */
    EXIT_HUNG = 3,  /* a call did not return */
    EXIT_ENDED = 4, /* the library ended the process */
    EXIT_USAGE = 64,
    EXIT_HARNESS = 70 /* the harness itself failed */
};

/* ---- watchdog.c ---- */

#define WATCHDOG_SLOTS 16

/* watchdog_start -- starts the watchdog: a call that takes longer than `seconds` ends the program
 * with EXIT_HUNG and its name. An exit() that the program did not ask for becomes EXIT_ENDED. */
void watchdog_start(unsigned seconds);

/* watchdog_enter, watchdog_leave -- the thread of a slot enters a call, and has returned. The name
 * is a literal. */
void watchdog_enter(unsigned slot, const char *name);
void watchdog_leave(unsigned slot);

/* watchdog_exit -- ends the program. */
void watchdog_exit(int code) __attribute__((noreturn));

/* fault -- reports a broken promise and counts it; any thread. */
void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned faults_so_far(void);

/* ---- workload.c and inspect.c ---- */

/* set_form -- whether databases are encrypted: "plain" or "encrypted"; false for another text. */
bool set_form(const char *form);

/* the_key -- the key of all of them; NULL: they are not encrypted. */
const tansu_key *the_key(void);

/* set_options -- small segments, checkpoints and caches, so that a second of work has many of each.
 * */
void set_options(tansu_options *options, const char *path, tansu_durability durability);

/* stat_value -- a whole number or boolean of tansu_stats(), by its name; `otherwise` when there is
 * none. */
int64_t stat_value(tansu_db *db, const char *name, int64_t otherwise);

/* workload_run -- runs the workload until standard input says to end. */
int workload_run(const char *path, const char *ack_log, uint64_t seed, tansu_durability durability,
                 const char *backups);

/* workload_inspect -- opens the database and compares it with what was acknowledged before a time;
 * backups are restored to `scratch`. `process_only`: commits that survive only the end of the
 * process must exist, too. */
int workload_inspect(const char *path, const char *ack_log, uint64_t seed, uint64_t before,
                     bool process_only, const char *backups, const char *scratch);

#endif
