/*
 * util/error.c -- filling in tansu_error.
 */
#include "util/error.h"

#include "tansu.h"
#include "util/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* drop_invalid -- leaves out bytes that are no UTF-8: a text may have been cut within a character,
 * also by whoever completed a message with a part of it. */
static void drop_invalid(char *text) {
    size_t size = strlen(text), at = 0;
    while ((at += utf8_valid((const uint8_t *)text + at, size - at)) < size)
        memmove(text + at, text + at + 1, size-- - at);
}

/* check_style -- in builds for tests: a message is a sentence with a capital first letter and no full
 * stop (CONTRIBUTING.md). What it is completed with is of others. */
static void check_style(const char *format) {
#ifdef TANSU_CHECK_MESSAGES
    size_t size = strlen(format);
    if (islower((unsigned char)format[0]) || (size != 0 && format[size - 1] == '.')) {
        fprintf(stderr, "no sentence, or one with a full stop: %s\n", format);
        abort();
    }
#else
    (void)format;
#endif
}

/* fill -- writes all fields of an error that is there. */
static tansu_status fill(tansu_error *error, tansu_status code, const char *context, int64_t offset,
                         const char *format, va_list arguments) {
    check_style(format);
    if (error == NULL)
        return code;
    error->code = code;
    error->sys_errno = 0;
    error->offset = offset;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0)
        error->message[0] = '\0';
    drop_invalid(error->message);
    if (context != error->context)
        snprintf(error->context, sizeof error->context, "%s", context != NULL ? context : "");
    drop_invalid(error->context);
    return code;
}

/* error_set -- fills in an error without an offset and returns its code. */
tansu_status error_set(tansu_error *error, tansu_status code, const char *context,
                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, context, -1, format, arguments);
    va_end(arguments);
    return code;
}

/* error_at -- fills in an error with a byte offset and returns its code. */
tansu_status error_at(tansu_error *error, tansu_status code, const char *context, int64_t offset,
                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, context, offset, format, arguments);
    va_end(arguments);
    return code;
}

void error_prefix(tansu_error *error, const char *prefix) {
    char context[sizeof error->context];
    if (error == NULL)
        return;
    memcpy(context, error->context, sizeof context);
    int size =
        snprintf(error->context, sizeof error->context, "%s%s", prefix, context[0] == 0 ? "" : ".");
    if (size >= 0 && (size_t)size < sizeof error->context)
        snprintf(error->context + size, sizeof error->context - (size_t)size, "%s", context);
}

/* error_memory -- fills in an out-of-memory error. */
tansu_status error_memory(tansu_error *error) {
    return error_set(error, TANSU_E_MEMORY, NULL, "Out of memory; nothing was changed");
}

/* system_text -- what the system calls an errno, written to `text` without shared state. */
static void system_text(int number, char *text, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    /* glibc's own variant returns the text, which need not be in the memory it was given. */
    char memory[128];
    snprintf(text, size, "%s", strerror_r(number, memory, sizeof memory));
#else
    if (strerror_r(number, text, size) != 0)
        snprintf(text, size, "error %d", number);
#endif
}

/* error_errno -- fills in an error for a failed system call and returns the status that fits. */
tansu_status error_errno(tansu_error *error, const char *path, const char *what, int number) {
    tansu_status code = TANSU_E_IO;
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        code = TANSU_E_FULL;
    else if (number == EROFS)
        code = TANSU_E_READ_ONLY;
    else if (number == ENOMEM)
        code = TANSU_E_MEMORY;
    else if (number == EOVERFLOW)
        code = TANSU_E_UNSUPPORTED;
    if (error == NULL)
        return code;
    char text[160];
    system_text(number, text, sizeof text);
    if (number == ESPIPE) /* what fs.open() says of such a file */
        error_set(error, code, path,
                  "Could not %s \"%s\", which is a pipe, a socket or a device; remove it, or name "
                  "a file or folder instead",
                  what, path == NULL ? "" : path);
    else if (number == EOVERFLOW) /* what fs.map() says of such a file */
        error_set(error, code, path,
                  "Could not %s \"%s\", which is too large for a process of 32 bits; open the "
                  "database in a process of 64 bits",
                  what, path == NULL ? "" : path);
    else
        error_set(error, code, path, "Could not %s%s%s%s: %s", what, path == NULL ? "" : " \"",
                  path == NULL ? "" : path, path == NULL ? "" : "\"", text);
    error->sys_errno = number;
    return code;
}

/* ---- The names of status codes ---- */

/* tansu_status_name -- the lasting name of a status. */
const char *tansu_status_name(tansu_status status) {
    switch (status) {
    case TANSU_OK: return "OK";
    case TANSU_DONE: return "DONE";
    case TANSU_E_MEMORY: return "MEMORY";
    case TANSU_E_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case TANSU_E_CLOSED: return "CLOSED";
    case TANSU_E_IO: return "IO";
    case TANSU_E_FULL: return "FULL";
    case TANSU_E_LOCKED: return "LOCKED";
    case TANSU_E_BUSY: return "BUSY";
    case TANSU_E_READ_ONLY: return "READ_ONLY";
    case TANSU_E_CORRUPT: return "CORRUPT";
    case TANSU_E_VERSION: return "VERSION";
    case TANSU_E_NOT_FOUND: return "NOT_FOUND";
    case TANSU_E_EXISTS: return "EXISTS";
    case TANSU_E_NOT_UNIQUE: return "NOT_UNIQUE";
    case TANSU_E_INVALID_NAME: return "INVALID_NAME";
    case TANSU_E_INVALID_BSON: return "INVALID_BSON";
    case TANSU_E_INVALID_DOCUMENT: return "INVALID_DOCUMENT";
    case TANSU_E_INVALID_ID: return "INVALID_ID";
    case TANSU_E_INVALID_QUERY: return "INVALID_QUERY";
    case TANSU_E_INVALID_INDEX: return "INVALID_INDEX";
    case TANSU_E_INVALID_JSON: return "INVALID_JSON";
    case TANSU_E_INVALID_COMMAND: return "INVALID_COMMAND";
    case TANSU_E_TOO_LARGE: return "TOO_LARGE";
    case TANSU_E_CANCELLED: return "CANCELLED";
    case TANSU_E_TIMEOUT: return "TIMEOUT";
    case TANSU_E_SYNC_FAILED: return "SYNC_FAILED";
    case TANSU_E_UNSUPPORTED: return "UNSUPPORTED";
    case TANSU_E_INVALID_STATE: return "INVALID_STATE";
    case TANSU_E_REFERENCED: return "REFERENCED";
    case TANSU_E_MOVED: return "MOVED";
    case TANSU_E_ENCRYPTED: return "ENCRYPTED";
    case TANSU_E_WRONG_KEY: return "WRONG_KEY";
    }
    return "UNKNOWN";
}
