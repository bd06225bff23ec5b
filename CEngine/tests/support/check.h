/*
 * support/check.h -- the checks of the test programs: each counts, and a failed one prints where it
 * stands and goes on, so that one run shows all failures.
 *
 *     static void keeps_order(void) { CHECK(a < b); }
 *     int main(void) { RUN(keeps_order); return check_finish(); }
 *
 * Checks may be made by several threads at once. For every test program; calls only the C library.
 */
#ifndef SUPPORT_CHECK_H
#define SUPPORT_CHECK_H

#include "tansu.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CHECK -- the condition holds. Its value is the condition's, so that a test can stop early. */
#define CHECK(condition) check_that((condition) ? true : false, __FILE__, __LINE__, #condition)

/* CHECK_INT -- two integers are equal; prints both when not. */
#define CHECK_INT(expected, actual) \
    check_int((int64_t)(expected), (int64_t)(actual), __FILE__, __LINE__, #actual)

/* CHECK_TEXT -- two NUL-terminated texts are equal; NULL equals only NULL. */
#define CHECK_TEXT(expected, actual) check_text((expected), (actual), __FILE__, __LINE__, #actual)

/* CHECK_BYTES -- two byte strings are equal; prints both in hex when not. */
#define CHECK_BYTES(expected, expected_size, actual, actual_size) \
    check_bytes((expected), (expected_size), (actual), (actual_size), __FILE__, __LINE__, #actual)

/* CHECK_STATUS -- a call came to the expected status. */
#define CHECK_STATUS(expected, call) \
    check_status((expected), (call), NULL, __FILE__, __LINE__, #call)

/* CHECK_OK -- a call succeeded; `error` (a tansu_error*, may be NULL) is printed if it did not. */
#define CHECK_OK(call, error) check_status(TANSU_OK, (call), (error), __FILE__, __LINE__, #call)

/* REQUIRE -- like CHECK, but ends the program if it fails: for what the rest cannot do without. */
#define REQUIRE(condition) \
    ((void)((condition) ? true : (check_stop(__FILE__, __LINE__, #condition), false)))

/* RUN -- runs one test function and names it when a check in it failed. A test that makes no check
 * and skips nothing fails. In the build whose databases are encrypted, those that
 * support/plain_only.h lists are skipped. */
#define RUN(test) check_run(__FILE__, #test, test)

/* check_note -- prints a line that explains a failure. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* check_skip -- prints why a test does not run: the system lacks something (a mount, a linker
 * option), or the test takes so long that it runs on request only. A missing file of the
 * repository is a failure. */
void check_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* check_failures -- how many checks have failed so far. */
uint64_t check_failures(void);

/* check_finish -- prints the totals (and the seed when anything failed); what main returns. A
 * program that made no check fails. */
int check_finish(void);

bool check_that(bool holds, const char *file, int line, const char *what);
bool check_int(int64_t expected, int64_t actual, const char *file, int line, const char *what);
bool check_text(const char *expected, const char *actual, const char *file, int line,
                const char *what);
bool check_bytes(const void *expected, size_t expected_size, const void *actual, size_t actual_size,
                 const char *file, int line, const char *what);
bool check_status(tansu_status expected, tansu_status actual, const tansu_error *error,
                  const char *file, int line, const char *what);
void check_stop(const char *file, int line, const char *what) __attribute__((noreturn));
void check_run(const char *file, const char *name, void (*test)(void));

#endif
