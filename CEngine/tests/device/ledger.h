/*
 * device/ledger.h -- what a database has acknowledged, kept in a file outside of the device: records that
 * outlive the process that wrote them, each with the time at which it was known.
 */
#ifndef DEVICE_LEDGER_H
#define DEVICE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_kind {
    LEDGER_FULL = 1,   /* a step was acknowledged and survives power loss */
    LEDGER_SOFT = 2,   /* one that survives the death of the process */
    LEDGER_OPENED = 3, /* a thread found itself at this step when the database was opened */
    LEDGER_BACKUP = 4  /* backup number `step` was acknowledged; it is as of `sequence` */
};

typedef struct ledger_record {
    uint64_t nanoseconds; /* CLOCK_MONOTONIC, taken when the call had returned */
    uint32_t kind;
    uint32_t thread;
    uint64_t step;
    uint64_t sequence; /* of the commit; 0: not known */
} ledger_record;

/* ledger_now -- the clock of the records. */
uint64_t ledger_now(void);

/* ledger_open -- opens the file to append; false when it can't be. One a program. */
bool ledger_open(const char *path);

/* ledger_add -- appends a record with the time of now; any thread. Ends the program when it can't. */
void ledger_add(enum ledger_kind kind, uint32_t thread, uint64_t step, uint64_t sequence);

/* ledger_read -- all records before a moment, in the order of their writing; the caller frees them. */
bool ledger_read(const char *path, uint64_t moment, ledger_record **records, size_t *count);

#endif
