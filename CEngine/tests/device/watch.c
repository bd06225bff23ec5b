/*
 * device/watch.c -- looks after calls that do not come back, and after the end of the process.
 */
#include "workload.h"

#include "ledger.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_FAULTS_SHOWN 12

static struct {
    atomic_uint_fast64_t since; /* 0: not in a call */
    _Atomic(const char *) name;
} slots[WATCH_SLOTS];

static unsigned most_seconds;
static atomic_uint fault_count;

/* ended -- runs when exit() is called, which nobody here does. */
static void ended(void) {
    printf("FAULT the library ended the process\n");
    fflush(stdout);
    _exit(EXIT_ENDED);
}

/* look -- the watching thread. */
static void *look(void *context) {
    (void)context;
    for (;;) {
        usleep(200000);
        uint64_t now = ledger_now();
        for (unsigned i = 0; i < WATCH_SLOTS; i++) {
            uint64_t since = atomic_load(&slots[i].since);
            if (since == 0 || now < since || now - since < most_seconds * 1000000000ull)
                continue;
            printf("FAULT %s did not come back within %u s\n", atomic_load(&slots[i].name),
                   most_seconds);
            fflush(stdout);
            _exit(EXIT_HUNG);
        }
    }
    return NULL;
}

void watch_start(unsigned seconds) {
    pthread_t thread;
    most_seconds = seconds;
    if (atexit(ended) != 0 || pthread_create(&thread, NULL, look, NULL) != 0) {
        perror("watch");
        _exit(EXIT_HARNESS);
    }
    pthread_detach(thread);
}

void watch_call(unsigned slot, const char *name) {
    atomic_store(&slots[slot].name, name);
    atomic_store(&slots[slot].since, ledger_now());
}

void watch_back(unsigned slot) {
    atomic_store(&slots[slot].since, 0);
}

void watch_finish(int code) {
    fflush(stdout);
    _exit(code);
}

void fault(const char *format, ...) {
    char text[1024];
    va_list arguments;
    if (atomic_fetch_add(&fault_count, 1) >= MOST_FAULTS_SHOWN)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("FAULT %s\n", text);
    fflush(stdout);
}

unsigned faults_so_far(void) {
    return atomic_load(&fault_count);
}
