/*
 * interrupt.h -- Ctrl-C in a long call of the main thread.
 *
 * Python runs a signal's handler when the call of C has returned. So a handler of SIGINT before
 * Python's cancels what the main thread is doing; the call returns CANCELLED, and Python raises
 * what its handler raises. The handler wakes a thread that cancels, because tansu_txn_cancel()
 * takes a lock.
 */
#ifndef TANSU_PYTHON_INTERRUPT_H
#define TANSU_PYTHON_INTERRUPT_H

#include "tansu.h"

#include <stdbool.h>

/* A running call of the main thread. Those that callbacks make are within others. */
typedef struct interrupt_call {
    bool active; /* false: of another thread */
    tansu_txn *txn;
    tansu_cursor *cursor;
    struct interrupt_call *outer;
} interrupt_call;

/* interrupt_init -- tells the main thread. interrupt_install -- has SIGINT call us, unless it is
 * ignored or kills; interrupt_begin() does it again from time to time. */
void interrupt_init(uintptr_t main_thread);
void interrupt_install(void);

/* interrupt_begin -- a call begins that SIGINT ends by cancelling `txn` and `cursor`, which may be
 * NULL. interrupt_end -- it has ended; neither may be freed before. */
void interrupt_begin(interrupt_call *call, tansu_txn *txn, tansu_cursor *cursor);
void interrupt_end(interrupt_call *call);

/* interrupt_is_main -- whether this is the main thread. */
bool interrupt_is_main(void);

/* interrupt_asked -- whether SIGINT came since the outermost running call of the main thread
 * began. */
bool interrupt_asked(void);

/* interrupt_forks -- how many forks lie between the process that called interrupt_init() and this
 * one. */
unsigned interrupt_forks(void);

#endif
