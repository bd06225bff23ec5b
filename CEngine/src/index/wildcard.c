/*
 * index/wildcard.c -- the paths in the entries of wildcard indexes, and which paths have entries.
 */
#include "index/definition.h"

#include "util/buffer.h"

#include <stdlib.h>
#include <string.h>

/* free_path -- frees one path. */
static void free_path(wildcard_path *p) {
    path_free(&p->path);
    tansu_buffer_free(&p->bytes);
}

/* free_list -- frees a list of paths. */
static void free_list(wildcard_path *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        free_path(&list[i]);
    free(list);
}

void wildcard_scope_free(wildcard_scope *scope) {
    free_path(&scope->base);
    free_list(scope->only, scope->only_count);
    free_list(scope->except, scope->except_count);
    *scope = (wildcard_scope){.only = NULL};
}

/* same_bytes -- whether two paths are the same. */
static bool same_bytes(const tansu_buffer *a, const tansu_buffer *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* same_list -- whether two lists are the same. */
static bool same_list(const wildcard_path *a, uint32_t a_count, const wildcard_path *b,
                      uint32_t b_count) {
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++) {
        if (!same_bytes(&a[i].bytes, &b[i].bytes))
            return false;
    }
    return true;
}

bool wildcard_scope_equal(const wildcard_scope *a, const wildcard_scope *b) {
    return same_bytes(&a->base.bytes, &b->base.bytes) &&
           same_list(a->only, a->only_count, b->only, b->only_count) &&
           same_list(a->except, a->except_count, b->except, b->except_count);
}

bool wildcard_put_key(tansu_buffer *bytes, const char *name, size_t size) {
    return (bytes->size == 0 || buffer_append_byte(bytes, WILDCARD_KEY)) &&
           buffer_append(bytes, name, size) && buffer_append_byte(bytes, 0);
}

bool wildcard_put_element(tansu_buffer *bytes) {
    return buffer_append_byte(bytes, WILDCARD_ELEMENT) && buffer_append_byte(bytes, 0);
}

bool wildcard_put_path(tansu_buffer *bytes, const path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        if (!wildcard_put_key(bytes, path->parts[i].name, path->parts[i].size))
            return false;
    }
    return true;
}

/* begins_with -- whether a path is at another one or below it. Parts end with 00, which no key
 * contains. */
static bool begins_with(const uint8_t *bytes, size_t size, const tansu_buffer *other) {
    return other->size <= size &&
           (other->size == 0 || memcmp(bytes, other->data, other->size) == 0);
}

/* is_above -- whether another path is at a path or below it. */
static bool is_above(const uint8_t *bytes, size_t size, const tansu_buffer *other) {
    return size <= other->size && memcmp(bytes, other->data, size) == 0;
}

bool wildcard_has(const wildcard_scope *scope, const uint8_t *bytes, size_t size, bool below) {
    bool has = scope->only_count == 0;
    if (!begins_with(bytes, size, &scope->base.bytes))
        return false;
    for (uint32_t i = 0; !has && i < scope->only_count; i++)
        has = begins_with(bytes, size, &scope->only[i].bytes);
    for (uint32_t i = 0; has && i < scope->except_count; i++)
        has = !begins_with(bytes, size, &scope->except[i].bytes) &&
              !(below && is_above(bytes, size, &scope->except[i].bytes));
    return has;
}

bool wildcard_leads_to(const wildcard_scope *scope, const uint8_t *bytes, size_t size) {
    bool leads = scope->only_count == 0;
    if (!begins_with(bytes, size, &scope->base.bytes) && !is_above(bytes, size, &scope->base.bytes))
        return false;
    for (uint32_t i = 0; !leads && i < scope->only_count; i++)
        leads = begins_with(bytes, size, &scope->only[i].bytes) ||
                is_above(bytes, size, &scope->only[i].bytes);
    for (uint32_t i = 0; leads && i < scope->except_count; i++)
        leads = !begins_with(bytes, size, &scope->except[i].bytes);
    return leads;
}

size_t wildcard_path_size(const uint8_t *entry, size_t size) {
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(entry + at, 0, size - at);
        if (end == NULL || (size_t)(end - entry) + 1 == size)
            return 0;
        at = (size_t)(end - entry) + 1;
        uint8_t next = entry[at];
        if (next == WILDCARD_ARRAY || next == WILDCARD_VALUE)
            return at;
        if (next != WILDCARD_KEY && next != WILDCARD_ELEMENT)
            return 0;
        at++;
    }
    return 0;
}

bool wildcard_text(const char *text, size_t size, size_t *base) {
    *base = 0;
    if (size == 2)
        return memcmp(text, "**", 2) == 0;
    if (size < 4 || memcmp(text + size - 3, ".**", 3) != 0)
        return false;
    size_t backslashes = 0;
    *base = size - 3;
    while (backslashes < *base && text[*base - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 0;
}
