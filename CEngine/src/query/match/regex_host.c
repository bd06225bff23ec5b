/*
 * query/match/regex_host.c -- regular expressions by the functions that the program supplies, in a
 * build without PCRE2.
 */
#ifndef WITH_LIBPCRE2_8

#include "query/match/regex.h"
#include "util/error.h"

#include <stdatomic.h>
#include <stdio.h>

/* The platform belongs to the process. It is set once, and read without a lock. */
enum { PLATFORM_NONE, PLATFORM_COPYING, PLATFORM_SET };
static atomic_int platform_state;
static tansu_platform platform;

_Static_assert(sizeof(regex_span) == 2 * sizeof(size_t), "spans are pairs of numbers");

tansu_status regex_platform_set(const tansu_platform *given, tansu_error *error) {
    int none = PLATFORM_NONE;
    if (!atomic_compare_exchange_strong(&platform_state, &none, PLATFORM_COPYING))
        return error_set(error, TANSU_E_INVALID_STATE, "platform",
                         "The platform is set already, and stays for the life of the process; set "
                         "it once, when the program starts");
    platform = *given;
    atomic_store_explicit(&platform_state, PLATFORM_SET, memory_order_release);
    return TANSU_OK;
}

/* letters_of -- the letters of flags. */
static void letters_of(uint32_t flags, char letters[5]) {
    if (flags & REGEX_IGNORE_CASE)
        *letters++ = 'i';
    if (flags & REGEX_LINES)
        *letters++ = 'm';
    if (flags & REGEX_DOT_ALL)
        *letters++ = 's';
    if (flags & REGEX_EXTENDED)
        *letters++ = 'x';
    *letters = 0;
}

tansu_status regex_code_new(const char *pattern, size_t size, uint32_t flags, void **code,
                            size_t *memory, regex_fault *fault) {
    char letters[5];
    *memory = 0;
    if (atomic_load_explicit(&platform_state, memory_order_acquire) != PLATFORM_SET) {
        snprintf(
            fault->message, sizeof fault->message, "%s",
            "This build of the library has no regular expressions; use one that was built with "
            "libpcre2-8, or supply them with tansu_platform_set()");
        return TANSU_E_UNSUPPORTED;
    }
    letters_of(flags, letters);
    tansu_status status = platform.regex_compile(pattern, size, letters, code, &fault->offset,
                                                 fault->message, sizeof fault->message);
    fault->message[sizeof fault->message - 1] = 0;
    if (fault->offset > (int64_t)size)
        fault->offset = -1;
    return status == TANSU_OK || status == TANSU_E_MEMORY ? status : TANSU_E_INVALID_QUERY;
}

void regex_code_free(void *code) {
    platform.regex_free(code);
}

/* The program's functions keep their own memory. */
void regex_memory_free(struct regex_memory *memory) {
    (void)memory;
}

/* result_of -- what a function's result stands for. */
static enum regex_result result_of(int found) {
    return found == 0                    ? REGEX_NO_MATCH
           : found > 0                   ? REGEX_MATCH
           : found == TANSU_REGEX_MEMORY ? REGEX_MEMORY
                                         : REGEX_STEPS;
}

enum regex_result regex_code_match(void *code, struct regex_memory **memory, const char *text,
                                   size_t size) {
    (void)memory;
    return result_of(platform.regex_matches(code, text, size));
}

bool regex_code_groups(void *code, uint32_t *count) {
    size_t groups = platform.regex_groups ? platform.regex_groups(code) : 0;
    *count = groups < UINT16_MAX ? (uint32_t)groups : UINT16_MAX;
    return platform.regex_groups != NULL;
}

/* is_within -- whether a span that the program gave is one of the text. */
static bool is_within(const regex_span *span, size_t size) {
    return span->start <= span->end && span->end <= size;
}

enum regex_result regex_code_find(void *code, struct regex_memory **memory, const char *text,
                                  size_t size, size_t from, regex_span *spans, uint32_t count) {
    (void)memory;
    enum regex_result result =
        result_of(platform.regex_find(code, text, size, from, (size_t *)spans, count));
    if (result == REGEX_MATCH && !is_within(&spans[0], size))
        return REGEX_NO_MATCH;
    for (uint32_t i = 1; result == REGEX_MATCH && i < count; i++) {
        if (!is_within(&spans[i], size))
            spans[i] = (regex_span){REGEX_NOWHERE, REGEX_NOWHERE};
    }
    return result;
}

#endif
