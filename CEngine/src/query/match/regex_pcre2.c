/*
 * query/match/regex_pcre2.c -- compiles and runs regular expressions with PCRE2.
 */
#ifdef WITH_LIBPCRE2_8

#define PCRE2_CODE_UNIT_WIDTH 8
#include "query/match/regex.h"
#include "util/error.h"
#include <pcre2.h>
#include <stdlib.h>

#define MATCH_LIMIT 5000000   /* backtracking steps of one match */
#define DEPTH_LIMIT 100000    /* without JIT: nested backtracking points */
#define HEAP_LIMIT 20000      /* without JIT: KiB of heap */
#define MIN_STACK (32 * 1024) /* bytes of the JIT stack */
#define MAX_STACK (1024 * 1024)

/* Match data, shared by all expressions of a query. */
struct regex_memory {
    pcre2_match_data *data;
    pcre2_match_context *bounds;
    pcre2_jit_stack *stack;
};

/* ---- Compiling ---- */

/* code_memory -- what compiled code takes. */
static size_t code_memory(const pcre2_code *code) {
    size_t code_size = 0, jit_size = 0;
    if (pcre2_pattern_info(code, PCRE2_INFO_SIZE, &code_size) != 0)
        code_size = 0;
    if (pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &jit_size) != 0)
        jit_size = 0;
    return code_size + jit_size;
}

tansu_status regex_code_new(const char *pattern, size_t size, uint32_t flags, void **code,
                            size_t *memory, regex_fault *fault) {
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
    int number;
    PCRE2_SIZE offset;
    options |= flags & REGEX_IGNORE_CASE ? PCRE2_CASELESS : 0;
    options |= flags & REGEX_LINES ? PCRE2_MULTILINE : 0;
    options |= flags & REGEX_DOT_ALL ? PCRE2_DOTALL : 0;
    options |= flags & REGEX_EXTENDED ? PCRE2_EXTENDED : 0;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, size, options, &number, &offset, NULL);
    if (!compiled) {
        if (number == PCRE2_ERROR_NOMEMORY || number == PCRE2_ERROR_HEAP_FAILED)
            return TANSU_E_MEMORY;
        fault->offset = (int64_t)offset;
        if (pcre2_get_error_message(number, (PCRE2_UCHAR *)fault->message, sizeof fault->message) <
            0)
            fault->message[0] = 0;
        return TANSU_E_INVALID_QUERY;
    }
    /* Where JIT is not available (on this machine, or for this pattern), the interpreter runs
     * it. */
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    *code = compiled;
    *memory = code_memory(compiled);
    return TANSU_OK;
}

void regex_code_free(void *code) {
    pcre2_code_free(code);
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

/* memory_new -- the match data of a context. NULL when memory is exhausted. */
static struct regex_memory *memory_new(void) {
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
    return memory;
}

/* run -- matches from the byte `from` on. Strings of stored documents are valid UTF-8, so PCRE2 need
 * not check them. */
static enum regex_result run(void *code, struct regex_memory *memory, const char *text, size_t size,
                             size_t from) {
    int found = pcre2_match(code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK, memory->data,
                            memory->bounds);
    return found >= 0                      ? REGEX_MATCH
           : found == PCRE2_ERROR_NOMATCH  ? REGEX_NO_MATCH
           : found == PCRE2_ERROR_NOMEMORY ? REGEX_MEMORY
                                           : REGEX_STEPS;
}

enum regex_result regex_code_match(void *code, struct regex_memory **memory, const char *text,
                                   size_t size) {
    if (!*memory && !(*memory = memory_new()))
        return REGEX_MEMORY;
    return run(code, *memory, text, size, 0);
}

bool regex_code_groups(void *code, uint32_t *count) {
    return pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, count) == 0;
}

enum regex_result regex_code_find(void *code, struct regex_memory **memory, const char *text,
                                  size_t size, size_t from, regex_span *spans, uint32_t count) {
    if (!*memory && !(*memory = memory_new()))
        return REGEX_MEMORY;
    if (pcre2_get_ovector_count((*memory)->data) < count) {
        pcre2_match_data *data = pcre2_match_data_create(count, NULL);
        if (!data)
            return REGEX_MEMORY;
        pcre2_match_data_free((*memory)->data);
        (*memory)->data = data;
    }
    enum regex_result result = run(code, *memory, text, size, from);
    const PCRE2_SIZE *found = pcre2_get_ovector_pointer((*memory)->data);
    for (uint32_t i = 0; result == REGEX_MATCH && i < count; i++) {
        size_t start = found[2 * (size_t)i], end = found[2 * (size_t)i + 1];
        /* A \K may have moved the start behind the end. */
        spans[i] = start == PCRE2_UNSET ? (regex_span){REGEX_NOWHERE, REGEX_NOWHERE}
                                        : (regex_span){start, end < start ? start : end};
    }
    return result;
}

tansu_status regex_platform_set(const tansu_platform *platform, tansu_error *error) {
    (void)platform;
    return error_set(error, TANSU_E_UNSUPPORTED, "platform",
                     "This build of the library has PCRE2, which it goes on to use: the functions "
                     "for regular expressions are not needed");
}

#endif
