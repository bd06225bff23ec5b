/*
 * query/update/update_tree.c -- a document as a tree of items, expanded only where it changes.
 */
#include "bson/writer.h"
#include "query/update/update_internal.h"
#include "query/util/key_set.h"

item *item_new(arena *memory, const doc_value *value) {
    item *i = arena_alloc(memory, sizeof *i);
    if (i != NULL)
        i->value = *value;
    return i;
}

/* reserve -- ensures capacity for one more child. */
static bool reserve(arena *memory, item *parent) {
    if (parent->count < parent->capacity)
        return true;
    uint32_t capacity = parent->capacity < 8 ? 16 : parent->capacity * 2;
    item **children = arena_alloc(memory, capacity * sizeof *children);
    if (children == NULL)
        return false;
    if (parent->count != 0)
        memcpy(children, parent->children, parent->count * sizeof *children);
    parent->children = children;
    parent->capacity = capacity;
    return true;
}

bool item_open(arena *memory, item *i) {
    doc_iter iter;
    if (i->open)
        return true;
    doc_iter_value(&iter, &i->value);
    while (doc_iter_next(&iter)) {
        item *child = item_new(memory, &iter.value);
        if (child == NULL || !reserve(memory, i))
            return false;
        child->key = iter.key;
        child->key_size = iter.key_size;
        i->children[i->count++] = child;
    }
    i->open = true;
    return true;
}

#define FEW_CHILDREN 16 /* are searched one by one */

/* A key and its position among the children. */
typedef struct named {
    key_set_item head;
    uint32_t at;
} named;

/* put_name -- adds the position of a key. `replace`: also when the key has one. */
static bool put_name(arena *memory, item *i, uint32_t at, bool replace) {
    const item *child = i->children[at];
    bool added;
    size_t used = 0;
    named *n = (named *)key_set_add(i->by_name, memory, (const uint8_t *)child->key,
                                    child->key_size + 1, sizeof *n, &added, &used);
    if (n == NULL)
        return false;
    if (added || replace)
        n->at = at;
    return true;
}

/* make_names -- builds the set of the keys of a document with many. Without memory there is
 * none. */
static void make_names(arena *memory, item *i) {
    i->by_name = arena_alloc(memory, sizeof *i->by_name);
    for (uint32_t at = 0; i->by_name != NULL && at < i->count; at++) {
        if (i->children[at] != NULL && !put_name(memory, i, at, false))
            i->by_name = NULL;
    }
}

item *item_find(arena *memory, item *i, const path_part *part, uint32_t *at) {
    if (i->value.type == DOC_ARRAY) {
        *at = (uint32_t)part->index;
        return part->index >= 0 && *at < i->count ? i->children[*at] : NULL;
    }
    if (i->by_name == NULL && i->count > FEW_CHILDREN)
        make_names(memory, i);
    if (i->by_name != NULL) {
        const named *n = (const named *)key_set_find_name(i->by_name, part->name, part->size);
        *at = n != NULL ? n->at : i->count;
        return n != NULL ? i->children[n->at] : NULL;
    }
    for (*at = 0; *at < i->count; ++*at) {
        const item *child = i->children[*at];
        if (child != NULL && child->key_size == part->size &&
            memcmp(child->key, part->name, part->size) == 0)
            return i->children[*at];
    }
    return NULL;
}

bool item_insert(arena *memory, item *parent, uint32_t at, item *child) {
    if (!reserve(memory, parent))
        return false;
    memmove(parent->children + at + 1, parent->children + at,
            (parent->count - at) * sizeof *parent->children);
    parent->children[at] = child;
    /* The set of keys stays valid as long as children are only appended. */
    if (at != parent->count++)
        parent->by_name = NULL;
    return parent->by_name == NULL || put_name(memory, parent, at, true);
}

void item_remove(item *parent, uint32_t at) {
    if (parent->by_name != NULL) {
        parent->children[at] = NULL;
        return;
    }
    parent->count--;
    memmove(parent->children + at, parent->children + at + 1,
            (parent->count - at) * sizeof *parent->children);
}

void item_set(item *i, const doc_value *value) {
    i->value = *value;
    i->open = false;
    i->children = NULL;
    i->count = i->capacity = 0;
    i->by_name = NULL;
}

/* An operand may be copied to many elements, so writing stops at the limit. */
#define MAX_ITEM_SIZE ((size_t)TANSU_MAX_DOCUMENT_SIZE)

/* write_value -- appends the value of an item whose type and key are written. The depth of the
 * document and of the paths bounds the recursion. */
static void write_value(const item *i, writer *w) {
    if (!i->open) {
        writer_bytes(w, i->value.data, i->value.size);
        return;
    }
    size_t start = writer_begin(w);
    for (uint32_t n = 0; n < i->count && !w->failed; n++) {
        const item *child = i->children[n];
        if (child == NULL)
            continue;
        if (i->value.type == DOC_ARRAY)
            writer_index_head(w, child->value.type, n);
        else
            writer_head(w, child->value.type, child->key, child->key_size);
        write_value(child, w);
    }
    writer_end(w, start);
}

bool item_raw(arena *memory, const item *i, doc_value *value) {
    *value = i->value;
    if (!i->open)
        return true;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    writer w = {.out = &bytes, .limit = MAX_ITEM_SIZE};
    write_value(i, &w);
    bool done = !w.failed;
    value->size = (uint32_t)bytes.size;
    value->data = done ? arena_copy(memory, bytes.data, bytes.size) : NULL;
    tansu_buffer_free(&bytes);
    return value->data != NULL;
}

tansu_status item_write(const item *root, tansu_buffer *out, tansu_error *error) {
    out->size = 0;
    writer w = {.out = out, .limit = MAX_ITEM_SIZE};
    write_value(root, &w);
    if (w.over_limit)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "Updated document would exceed %d bytes; split it into several documents",
                         TANSU_MAX_DOCUMENT_SIZE);
    return w.failed ? error_memory(error) : TANSU_OK;
}
