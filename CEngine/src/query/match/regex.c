/*
 * query/match/regex.c -- compiles and runs regular expressions with PCRE2.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "query/match/regex.h"
#include "util/error.h"
#include <pcre2.h>
#include <stdlib.h>

#define MAX_PATTERN 32764     /* bytes */
#define MATCH_LIMIT 5000000   /* backtracking steps of one match */
#define DEPTH_LIMIT 100000    /* without JIT: nested backtracking points */
#define HEAP_LIMIT 20000      /* without JIT: KiB of heap */
#define MIN_STACK (32 * 1024) /* bytes of the JIT stack */
#define MAX_STACK (1024 * 1024)

struct regex {
    regex *next; /* in the list */
    pcre2_code *code;
    const char *pattern;
    size_t size;
    uint32_t options;
};

/* Match data, shared by all expressions of a query. */
struct regex_memory {
    pcre2_match_data *data;
    pcre2_match_context *bounds;
    pcre2_jit_stack *stack;
};

/* ---- Compiling ---- */

/* read_options -- option letters to flags; false for an unknown letter. */
static bool read_options(const char *letters, uint32_t *options) {
    for (; *letters; letters++) {
        switch (*letters) {
        case 'i': *options |= PCRE2_CASELESS; break;
        case 'm': *options |= PCRE2_MULTILINE; break;
        case 's': *options |= PCRE2_DOTALL; break;
        case 'x': *options |= PCRE2_EXTENDED; break;
        case 'u': break;
        default: return false;
        }
    }
    return true;
}

tansu_status regex_compile(arena *memory, regex **list, const regex_source *source,
                           const deadline *deadline, const regex **result, tansu_error *error) {
    uint32_t flags = source->ignore_case ? PCRE2_CASELESS : 0;
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
    int code;
    PCRE2_SIZE offset;
    r->code = pcre2_compile((PCRE2_SPTR)source->pattern, source->size,
                            flags | PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &offset, NULL);
    if (!r->code) {
        PCRE2_UCHAR text[200];
        if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
            return error_memory(error);
        if (pcre2_get_error_message(code, text, sizeof text) < 0)
            text[0] = 0;
        return error_at(error, TANSU_E_INVALID_QUERY, source->error_context, (int64_t)offset,
                        "Regular expression is invalid at byte %zu: %s; correct it, or escape "
                        "special characters with a backslash",
                        (size_t)offset, (const char *)text);
    }
    r->next = *list;
    *list = r;
    r->pattern = source->pattern;
    r->size = source->size;
    r->options = flags;
    /* Where JIT is not available (on this machine, or for this pattern), the interpreter runs
     * it. */
    (void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
    size_t code_size = 0, jit_size = 0;
    if (pcre2_pattern_info(r->code, PCRE2_INFO_SIZE, &code_size) != 0)
        code_size = 0;
    if (pcre2_pattern_info(r->code, PCRE2_INFO_JITSIZE, &jit_size) != 0)
        jit_size = 0;
    if (!arena_charge(memory, code_size + jit_size))
        return error_memory(error);
    *result = r;
    return deadline_check(deadline, error);
}

void regex_free_all(regex *first) {
    for (; first; first = first->next)
        pcre2_code_free(first->code);
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
    if (r->options & (PCRE2_CASELESS | PCRE2_MULTILINE | PCRE2_EXTENDED) || r->size == 0 ||
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

void regex_memory_free(struct regex_memory *memory) {
    if (!memory)
        return;
    pcre2_match_data_free(memory->data);
    pcre2_match_context_free(memory->bounds);
    pcre2_jit_stack_free(memory->stack);
    free(memory);
}

/* memory_of -- the match data of a context, created at the first match. NULL when memory is
 * exhausted. */
static struct regex_memory *memory_of(match_context *c) {
    if (c->regex)
        return c->regex;
    struct regex_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->data = pcre2_match_data_create(1, NULL);
    memory->bounds = pcre2_match_context_create(NULL);
    memory->stack = pcre2_jit_stack_create(MIN_STACK, MAX_STACK, NULL);
    if (!memory->data || !memory->bounds) {
        regex_memory_free(memory);
        return NULL;
    }
    pcre2_set_match_limit(memory->bounds, MATCH_LIMIT);
    pcre2_set_depth_limit(memory->bounds, DEPTH_LIMIT);
    pcre2_set_heap_limit(memory->bounds, HEAP_LIMIT);
    if (memory->stack)
        pcre2_jit_stack_assign(memory->bounds, NULL, memory->stack);
    c->regex = memory;
    return memory;
}

/* Strings of stored documents are valid UTF-8, so PCRE2 need not check them. */
bool regex_matches(const regex *r, match_context *c, const char *text, size_t size,
                   const char *error_context) {
    struct regex_memory *memory = memory_of(c);
    if (!memory)
        return match_fail(c, TANSU_E_MEMORY, error_context, NULL);
    int found = pcre2_match(r->code, (PCRE2_SPTR)text, size, 0, PCRE2_NO_UTF_CHECK, memory->data,
                            memory->bounds);
    if (found >= 0)
        return true;
    if (found == PCRE2_ERROR_NOMATCH)
        return false;
    if (found == PCRE2_ERROR_NOMEMORY)
        return match_fail(c, TANSU_E_MEMORY, error_context, NULL);
    return match_fail(c, TANSU_E_INVALID_QUERY, error_context,
                      "Regular expression exceeds the step limit of one match; simplify it, "
                      "nested repetitions first");
}
