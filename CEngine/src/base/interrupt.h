/*
 * base/interrupt.h -- asking a long call to stop, from another thread. Part base.
 */
#ifndef TANSU_BASE_INTERRUPT_H
#define TANSU_BASE_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed, nobody asked yet. */
typedef struct interrupt {
    atomic_bool asked;
    const struct interrupt *outer; /* what stops this one too, or NULL */
} interrupt;

/* interrupt_ask -- for good; from any thread. */
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
