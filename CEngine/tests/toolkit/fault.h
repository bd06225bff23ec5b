/*
 * toolkit/fault.h -- file calls that count, and fail when they are told to: a table to open a database or
 * a log with in place of the operating system's. One set of orders for the whole program.
 */
#ifndef TOOLKIT_FAULT_H
#define TOOLKIT_FAULT_H

#include "base/fs.h"

#include <stdatomic.h>

typedef struct fault_orders {
    atomic_uint syncs;         /* calls of sync so far */
    atomic_uint syncs_failed;  /* those that were made to fail */
    atomic_uint folder_syncs;  /* calls of sync_folder so far */
    atomic_int sync_errno;     /* not 0: every sync fails with it */
    atomic_int sync_wait_ms;   /* how long a sync takes */
    atomic_int allocate_errno; /* not 0: every allocate fails with it */
    atomic_int truncate_errno;
    atomic_int rename_errno;
    atomic_int open_errno; /* every open for writing */
} fault_orders;

extern fault_orders faults;

/* The calls. Those without an order are the operating system's. */
extern const fs fault_calls;

/* fault_reset -- no orders, all counts zero. */
void fault_reset(void);

#endif
