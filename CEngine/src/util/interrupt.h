/*
 * util/interrupt.h -- cancelling a long call from another thread.
 */
#ifndef TANSU_UTIL_INTERRUPT_H
#define TANSU_UTIL_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed, nobody asked yet. */
typedef struct interrupt {
    atomic_bool asked;
    const struct interrupt *outer; /* what stops this one too, or NULL */
} interrupt;

/* interrupt_ask -- asks the call to stop; cannot be undone; from any thread. */
static inline void interrupt_ask(interrupt *i) {
    atomic_store_explicit(&i->asked, true, memory_order_relaxed);
}

/* interrupt_asked -- whether somebody did; fine on NULL. */
static inline bool interrupt_asked(const interrupt *i) {
    for (; i != NULL; i = i->outer) {
        if (atomic_load_explicit(&i->asked, memory_order_relaxed))
            return true;
    }
    return false;
}

#endif
