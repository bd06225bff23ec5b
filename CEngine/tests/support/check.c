/*
 * support/check.c -- counting checks and printing failures.
 */
#include "support/check.h"

#include "support/plain_only.h"
#include "support/random/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A broken invariant in a loop would print the same line a million times. */
#define MOST_PRINTED 40

static atomic_uint_fast64_t checks;
static atomic_uint_fast64_t failures;
static atomic_uint_fast64_t skipped;

/* fail -- counts a failure; whether it is to be printed. */
static bool fail(const char *file, int line, const char *what) {
    uint64_t before = atomic_fetch_add(&failures, 1);
    if (before == MOST_PRINTED)
        fprintf(stderr, "further failures are counted, not shown\n");
    if (before >= MOST_PRINTED)
        return false;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    return true;
}

/* check_that -- counts, and reports what does not hold. */
bool check_that(bool holds, const char *file, int line, const char *what) {
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    if (!holds)
        fail(file, line, what);
    return holds;
}

/* check_int -- compares integers. */
bool check_int(int64_t expected, int64_t actual, const char *file, int line, const char *what) {
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    if (expected == actual)
        return true;
    if (fail(file, line, what))
        fprintf(stderr, "    expected %" PRId64 ", is %" PRId64 "\n", expected, actual);
    return false;
}

/* check_text -- compares texts. */
bool check_text(const char *expected, const char *actual, const char *file, int line,
                const char *what) {
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    if (expected == NULL || actual == NULL ? expected == actual : strcmp(expected, actual) == 0)
        return true;
    if (fail(file, line, what))
        fprintf(stderr, "    expected \"%s\"\n    is       \"%s\"\n",
                expected != NULL ? expected : "(NULL)", actual != NULL ? actual : "(NULL)");
    return false;
}

/* print_hex -- prints the beginning of a byte string. */
static void print_hex(const char *label, const uint8_t *bytes, size_t size) {
    fprintf(stderr, "    %s (%zu bytes)", label, size);
    for (size_t i = 0; i < size && i < 96; i++)
        fprintf(stderr, " %02X", bytes[i]);
    fprintf(stderr, "%s\n", size > 96 ? " ..." : "");
}

/* check_bytes -- compares byte strings. */
bool check_bytes(const void *expected, size_t expected_size, const void *actual, size_t actual_size,
                 const char *file, int line, const char *what) {
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    if (expected_size == actual_size &&
        (actual_size == 0 || memcmp(expected, actual, actual_size) == 0))
        return true;
    if (fail(file, line, what)) {
        print_hex("expected", expected, expected_size);
        print_hex("is      ", actual, actual_size);
    }
    return false;
}

/* check_status -- compares status codes. */
bool check_status(tansu_status expected, tansu_status actual, const tansu_error *error,
                  const char *file, int line, const char *what) {
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    if (expected == actual)
        return true;
    if (fail(file, line, what)) {
        fprintf(stderr, "    expected %s, is %s\n", tansu_status_name(expected),
                tansu_status_name(actual));
        if (error != NULL && actual != TANSU_OK)
            fprintf(stderr, "    %s (context \"%s\", offset %" PRId64 ", errno %d)\n",
                    error->message, error->context, error->offset, error->sys_errno);
    }
    return false;
}

/* check_stop -- ends the program with a failure. */
void check_stop(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: cannot go on without: %s\n", file, line, what);
    atomic_fetch_add(&failures, 1);
    exit(check_finish());
}

/* check_run -- runs a test and names it when it failed. */
void check_run(const char *file, const char *name, void (*test)(void)) {
    const char *reason = plain_only(file, name);
    if (reason != NULL) {
        atomic_fetch_add(&checks, 1); /* the list has a reason */
        check_skip("%s: %s", name, reason);
        return;
    }
    uint64_t failed = atomic_load(&failures);
    uint64_t done = atomic_load(&checks) + atomic_load(&skipped);
    test();
    if (atomic_load(&checks) + atomic_load(&skipped) == done)
        fail(__FILE__, __LINE__, "a test makes at least one check");
    if (atomic_load(&failures) != failed)
        fprintf(stderr, "  ^ in %s\n", name);
}

/* print_line -- prints a formatted line. */
static void print_line(const char *format, va_list arguments) {
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* check_note -- prints a line. */
void check_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

/* check_skip -- prints a line and counts. */
void check_skip(const char *format, ...) {
    va_list arguments;
    atomic_fetch_add(&skipped, 1);
    fputs("skipped: ", stderr);
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

/* check_failures -- how many so far. */
uint64_t check_failures(void) {
    return atomic_load(&failures);
}

/* check_finish -- prints the totals. */
int check_finish(void) {
    if (atomic_load(&checks) == 0 && atomic_load(&skipped) == 0)
        fail(__FILE__, __LINE__, "a test program makes a check, or says why not");
    uint64_t failed = atomic_load(&failures);
    printf("%" PRIu64 " checks, %" PRIu64 " failed", (uint64_t)atomic_load(&checks), failed);
    if (atomic_load(&skipped) != 0)
        printf(", %" PRIu64 " skipped", (uint64_t)atomic_load(&skipped));
    printf("\n");
    if (failed != 0 && random_seed_was_used())
        printf("run again with TANSU_SEED=%" PRIu64 "\n", random_seed());
    fflush(stdout);
    return failed == 0 ? 0 : 1;
}
