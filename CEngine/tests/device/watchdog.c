/*
 * device/watchdog.c -- detects calls that do not return, and an end of the process by others.
 */
#include "workload.h"

#include "ack_log.h"

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
} slots[WATCHDOG_SLOTS];

static unsigned most_seconds;
static atomic_uint fault_count;

/* exit_called -- runs when exit() is called, which this program does not do. */
static void exit_called(void) {
    printf("FAULT the library ended the process\n");
    fflush(stdout);
    _exit(EXIT_ENDED);
}

/* watch_calls -- the thread of the watchdog. */
static void *watch_calls(void *context) {
    (void)context;
    for (;;) {
        usleep(200000);
        uint64_t now = ack_now();
        for (unsigned i = 0; i < WATCHDOG_SLOTS; i++) {
            uint64_t since = atomic_load(&slots[i].since);
            if (since == 0 || now < since || now - since < most_seconds * 1000000000ull)
                continue;
            printf("FAULT %s did not return within %u s\n", atomic_load(&slots[i].name),
                   most_seconds);
            fflush(stdout);
            _exit(EXIT_HUNG);
        }
    }
    return NULL;
}

void watchdog_start(unsigned seconds) {
    pthread_t thread;
    most_seconds = seconds;
    if (atexit(exit_called) != 0 || pthread_create(&thread, NULL, watch_calls, NULL) != 0) {
        perror("watchdog");
        _exit(EXIT_HARNESS);
    }
    pthread_detach(thread);
}

void watchdog_enter(unsigned slot, const char *name) {
    atomic_store(&slots[slot].name, name);
    atomic_store(&slots[slot].since, ack_now());
}

void watchdog_leave(unsigned slot) {
    atomic_store(&slots[slot].since, 0);
}

void watchdog_exit(int code) {
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
