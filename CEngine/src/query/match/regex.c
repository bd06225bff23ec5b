/*
 * query/match/regex.c -- regular expressions: options, limits, errors and prefixes. What compiles
 * and runs them is behind regex_code.h.
 */
#include "query/match/regex.h"
#include "util/error.h"
#include <stdlib.h>

#define MAX_PATTERN 32764 /* bytes */

struct regex {
    regex *next; /* in the list */
    void *code;
    const char *pattern;
    size_t size;
    uint32_t options;
};

/* ---- Compiling ---- */

/* read_options -- option letters to flags; false for an unknown letter. */
static bool read_options(const char *letters, uint32_t *options) {
    for (; *letters; letters++) {
        switch (*letters) {
        case 'i': *options |= REGEX_IGNORE_CASE; break;
        case 'm': *options |= REGEX_LINES; break;
        case 's': *options |= REGEX_DOT_ALL; break;
        case 'x': *options |= REGEX_EXTENDED; break;
        case 'u': break;
        default: return false;
        }
    }
    return true;
}

/* refused -- the error for a pattern that could not be compiled. */
static tansu_status refused(tansu_status status, const regex_fault *fault, const char *context,
                            tansu_error *error) {
    static const char advice[] = "correct it, or escape special characters with a backslash";
    if (status == TANSU_E_MEMORY)
        return error_memory(error);
    if (status == TANSU_E_UNSUPPORTED)
        return error_set(error, status, context, "%s", fault->message);
    if (fault->offset < 0)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Regular expression is invalid: %s; %s", fault->message, advice);
    return error_at(error, TANSU_E_INVALID_QUERY, context, fault->offset,
                    "Regular expression is invalid at byte %lld: %s; %s", (long long)fault->offset,
                    fault->message, advice);
}

tansu_status regex_compile(arena *memory, regex **list, const regex_source *source,
                           const deadline *deadline, const regex **result, tansu_error *error) {
    uint32_t flags = source->ignore_case ? REGEX_IGNORE_CASE : 0;
    if (!read_options(source->options, &flags))
        return error_set(error, TANSU_E_INVALID_QUERY, source->error_context,
                         "Regular expression has unknown options \"%.32s\"; use the letters i, m, "
                         "s, x and u",
                         source->options);
    if (source->size > MAX_PATTERN)
        return error_set(error, TANSU_E_INVALID_QUERY, source->error_context,
                         "Regular expression is longer than %d bytes; shorten it or split it with "
                         "\"$or\"",
                         MAX_PATTERN);
    regex *r = arena_alloc(memory, sizeof *r);
    if (!r)
        return error_memory(error);
    regex_fault fault = {.offset = -1};
    size_t code_size = 0;
    tansu_status status =
        regex_code_new(source->pattern, source->size, flags, &r->code, &code_size, &fault);
    if (status != TANSU_OK)
        return refused(status, &fault, source->error_context, error);
    r->next = *list;
    *list = r;
    r->pattern = source->pattern;
    r->size = source->size;
    r->options = flags;
    if (!arena_charge(memory, code_size))
        return error_memory(error);
    *result = r;
    return deadline_check(deadline, error);
}

void regex_free_all(regex *first) {
    for (; first; first = first->next)
        regex_code_free(first->code);
}

/* literal_at -- the size of the literal character at `at` in the pattern, 0 when there is none.
 * *skip: bytes of an escape before it. */
static size_t literal_at(const regex *r, size_t at, size_t *skip) {
    *skip = 0;
    unsigned char c = (unsigned char)r->pattern[at];
    if (c == '\\') {
        if (at + 1 == r->size)
            return 0;
        c = (unsigned char)r->pattern[at + 1];
        bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        *skip = 1;
        return letter || c >= 0x80 ? 0 : 1;
    }
    if (c == 0 || strchr("^$.[]|()?*+{}#", c))
        return 0;
    size_t size = 1;
    while (c >= 0xC0 && at + size < r->size &&
           ((unsigned char)r->pattern[at + size] & 0xC0) == 0x80)
        size++;
    return size;
}

/* The literal characters after a leading ^, up to the first that is optional or repeated. */
bool regex_prefix(const regex *r, tansu_buffer *out) {
    out->size = 0;
    if (r->options & (REGEX_IGNORE_CASE | REGEX_LINES | REGEX_EXTENDED) || r->size == 0 ||
        r->pattern[0] != '^' || memchr(r->pattern, '|', r->size))
        return true;
    for (size_t at = 1; at < r->size;) {
        size_t skip, size = literal_at(r, at, &skip);
        if (size == 0)
            break;
        size_t next = at + skip + size;
        if (next < r->size && memchr("?*{", r->pattern[next], 3))
            break; /* optional */
        if (!buffer_append(out, r->pattern + at + skip, size))
            return false;
        at = next;
    }
    return true;
}

/* ---- Matching ---- */

/* matched -- whether a result is a match; errors go to the match context. */
static bool matched(enum regex_result result, match_context *c, const char *error_context) {
    switch (result) {
    case REGEX_MATCH: return true;
    case REGEX_NO_MATCH: return false;
    case REGEX_MEMORY: return match_fail(c, TANSU_E_MEMORY, error_context, NULL);
    case REGEX_STEPS: break;
    }
    return match_fail(c, TANSU_E_INVALID_QUERY, error_context,
                      "Regular expression exceeds the step limit of one match; simplify it, "
                      "nested repetitions first");
}

bool regex_matches(const regex *r, match_context *c, const char *text, size_t size,
                   const char *error_context) {
    return matched(regex_code_match(r->code, &c->regex, text, size), c, error_context);
}

bool regex_groups(const regex *r, uint32_t *count) {
    return regex_code_groups(r->code, count);
}

bool regex_find(const regex *r, match_context *c, const char *text, size_t size, size_t from,
                regex_span *spans, const char *error_context) {
    uint32_t groups = 0;
    (void)regex_code_groups(r->code, &groups);
    return matched(regex_code_find(r->code, &c->regex, text, size, from, spans, groups + 1), c,
                   error_context);
}
