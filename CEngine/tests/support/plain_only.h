/*
 * support/plain_only.h -- the tests that do not run in the build whose databases are all encrypted
 * (VARIANT=encrypted), each with the reason. All others pass in it.
 */
#ifndef SUPPORT_PLAIN_ONLY_H
#define SUPPORT_PLAIN_ONLY_H

/* plain_only -- why a test of a source file is skipped; NULL: it runs. */
const char *plain_only(const char *file, const char *test);

#endif
