/*
 * query/match/regex_code.h -- what compiles and runs regular expressions. A build has one of two:
 * PCRE2 (regex_pcre2.c, with WITH_LIBPCRE2_8), or the functions of the program that links the
 * library (regex_host.c).
 */
#ifndef TANSU_QUERY_MATCH_REGEX_CODE_H
#define TANSU_QUERY_MATCH_REGEX_CODE_H

#include "tansu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of an expression. */
enum {
    REGEX_IGNORE_CASE = 1,
    REGEX_LINES = 2,   /* ^ and $ match at lines */
    REGEX_DOT_ALL = 4, /* a dot matches newlines */
    REGEX_EXTENDED = 8 /* white space in the pattern is ignored, and comments */
};

/* Why a pattern could not be compiled. */
typedef struct regex_fault {
    int64_t offset; /* of the byte at fault, or -1 */
    char message[200];
} regex_fault;

/* What a match came to. */
enum regex_result {
    REGEX_NO_MATCH,
    REGEX_MATCH,
    REGEX_STEPS, /* it exceeds the limits */
    REGEX_MEMORY /* memory is exhausted */
};

/* Memory that matches need and that is used by one thread at a time. */
struct regex_memory;

/* regex_code_new -- compiles a pattern; *memory: what the code takes of it, where that is known.
 * Errors, with *fault: INVALID_QUERY; UNSUPPORTED (nothing compiles regular expressions; the message
 * is a whole sentence); without: MEMORY. */
tansu_status regex_code_new(const char *pattern, size_t size, uint32_t flags, void **code,
                            size_t *memory, regex_fault *fault);

/* regex_code_free -- frees the code. */
void regex_code_free(void *code);

/* regex_code_match -- whether a part of the text matches. *memory is created when it is NULL;
 * regex_memory_free() of regex.h frees it. */
enum regex_result regex_code_match(void *code, struct regex_memory **memory, const char *text,
                                   size_t size);

/* Where a part of a text is; REGEX_NOWHERE in both for a group that took no part in the match. */
typedef struct regex_span {
    size_t start, end;
} regex_span;

#define REGEX_NOWHERE SIZE_MAX

/* regex_code_groups -- the number of groups that capture; false when what runs expressions does not
 * tell where they match. */
bool regex_code_groups(void *code, uint32_t *count);

/* regex_code_find -- as regex_code_match(), from the byte `from` on, but what is before it can be
 * looked behind at; and where the match and its groups are: `count` spans, 1 more than groups. */
enum regex_result regex_code_find(void *code, struct regex_memory **memory, const char *text,
                                  size_t size, size_t from, regex_span *spans, uint32_t count);

/* regex_platform_set -- makes the functions of a program the ones to use: tansu_platform_set(), with
 * an argument that was checked. */
tansu_status regex_platform_set(const tansu_platform *platform, tansu_error *error);

#endif
