/*
 * util/error.h -- filling in tansu_error.
 */
#ifndef TANSU_UTIL_ERROR_H
#define TANSU_UTIL_ERROR_H

#include "tansu.h"

#if defined(__GNUC__) || defined(__clang__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* error_set -- fills `error` (NULL is fine) and returns `code`, so that callers can `return
 * error_set(...)`. `context` may be NULL; `format` makes the one-sentence message. */
tansu_status error_set(tansu_error *error, tansu_status code, const char *context,
                       const char *format, ...) PRINTF_LIKE(4, 5);

/* error_at -- the same with a byte offset. */
tansu_status error_at(tansu_error *error, tansu_status code, const char *context, int64_t offset,
                      const char *format, ...) PRINTF_LIKE(5, 6);

/* error_prefix -- puts a part before the context, which is a dotted path: "a.$gt" becomes
 * "prefix.a.$gt". `error` may be NULL. */
void error_prefix(tansu_error *error, const char *prefix);

/* error_memory -- out of memory; returns TANSU_E_MEMORY. */
tansu_status error_memory(tansu_error *error);

/* error_errno -- a failed system call: `what` was tried on `path` and failed with `number` (an
 * errno). Returns TANSU_E_FULL for ENOSPC and EDQUOT, TANSU_E_READ_ONLY for EROFS, TANSU_E_MEMORY
 * for ENOMEM, otherwise TANSU_E_IO. */
tansu_status error_errno(tansu_error *error, const char *path, const char *what, int number);

#endif
