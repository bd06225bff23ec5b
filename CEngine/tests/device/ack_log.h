/*
 * device/ack_log.h -- the log of acknowledgements: what a database has acknowledged, in a file that
 * is not on the device. Records outlive the process that wrote them; each has the time at which the
 * call had returned.
 */
#ifndef DEVICE_ACK_LOG_H
#define DEVICE_ACK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ack_kind {
    ACK_FULL = 1,    /* a step was acknowledged and survives power loss */
    ACK_PROCESS = 2, /* one that survives the end of the process only */
    ACK_OPENED = 3,  /* a thread found this step when the database was opened */
    ACK_BACKUP = 4   /* backup number `step` was acknowledged; it is as of `sequence` */
};

typedef struct ack_record {
    uint64_t nanoseconds; /* CLOCK_MONOTONIC, taken when the call had returned */
    uint32_t kind;
    uint32_t thread;
    uint64_t step;
    uint64_t sequence; /* of the commit; 0: not known */
} ack_record;

/* ack_now -- the clock of the records. */
uint64_t ack_now(void);

/* ack_log_open -- opens the file for appending; false when that fails. One a program. */
bool ack_log_open(const char *path);

/* ack_log_add -- appends a record with the current time; any thread. Ends the program when that
 * fails. */
void ack_log_add(enum ack_kind kind, uint32_t thread, uint64_t step, uint64_t sequence);

/* ack_log_read -- all records before a time, in the order of writing; the caller frees them. */
bool ack_log_read(const char *path, uint64_t before, ack_record **records, size_t *count);

#endif
