/*
 * query/update_tree.c -- a document as a tree of items, taken apart only where it changes.
 */
#include "query/update_parts.h"

#include <stdio.h>

item *item_new(arena *memory, const doc_value *value) {
    item *i = arena_alloc(memory, sizeof *i);
    if (i != NULL)
        i->value = *value;
    return i;
}

/* reserve -- room for one more child. */
static bool reserve(arena *memory, item *parent) {
    if (parent->count < parent->room)
        return true;
    uint32_t room = parent->room < 8 ? 16 : parent->room * 2;
    item **children = arena_alloc(memory, room * sizeof *children);
    if (children == NULL)
        return false;
    if (parent->count != 0)
        memcpy(children, parent->children, parent->count * sizeof *children);
    parent->children = children;
    parent->room = room;
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

#define FEW_CHILDREN 16 /* up to here a key is looked for in the document itself */

/* A key and its place among the children. */
typedef struct named {
    keyset_item head;
    uint32_t at;
} named;

/* put_name -- notes the place of a key. `again`: also when the key is there already. */
static bool put_name(arena *memory, item *i, uint32_t at, bool again) {
    const item *child = i->children[at];
    bool added;
    size_t used = 0;
    named *n = (named *)keyset_add(i->names, memory, (const uint8_t *)child->key,
                                   child->key_size + 1, sizeof *n, &added, &used);
    if (n == NULL)
        return false;
    if (added || again)
        n->at = at;
    return true;
}

/* make_names -- lists the names of a document with many. Without memory for it there is no list. */
static void make_names(arena *memory, item *i) {
    i->names = arena_alloc(memory, sizeof *i->names);
    for (uint32_t at = 0; i->names != NULL && at < i->count; at++) {
        if (i->children[at] != NULL && !put_name(memory, i, at, false))
            i->names = NULL;
    }
}

item *item_find(arena *memory, item *i, const path_part *part, uint32_t *at) {
    if (i->value.type == DOC_ARRAY) {
        *at = (uint32_t)part->index;
        return part->index >= 0 && *at < i->count ? i->children[*at] : NULL;
    }
    if (i->names == NULL && i->count > FEW_CHILDREN)
        make_names(memory, i);
    if (i->names != NULL) {
        const named *n = (const named *)keyset_name(i->names, part->name, part->size);
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
    /* A list of names is right as long as only the end grows. */
    if (at != parent->count++)
        parent->names = NULL;
    return parent->names == NULL || put_name(memory, parent, at, true);
}

void item_remove(item *parent, uint32_t at) {
    if (parent->names != NULL) {
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
    i->count = i->room = 0;
    i->names = NULL;
}

/* write_value -- appends an item's value; as deep as the document is, and a path adds. */
static tansu_status write_value(const item *i, tansu_buffer *out) {
    if (!i->open)
        return buffer_append(out, i->value.data, i->value.size) ? TANSU_OK : TANSU_E_MEMORY;
    size_t start = out->size;
    if (!buffer_append(out, "\0\0\0", 4))
        return TANSU_E_MEMORY;
    for (uint32_t n = 0; n < i->count; n++) {
        const item *child = i->children[n];
        if (child == NULL)
            continue;
        char position[12];
        const char *key = child->key;
        size_t key_size = child->key_size;
        if (i->value.type == DOC_ARRAY) {
            key_size = (size_t)snprintf(position, sizeof position, "%u", n);
            key = position;
        }
        if (!buffer_append_byte(out, child->value.type) || !buffer_append(out, key, key_size + 1))
            return TANSU_E_MEMORY;
        tansu_status status = write_value(child, out);
        if (status != TANSU_OK)
            return status;
        /* An operand may come into very many elements: no reason to write all of that. */
        if (out->size > TANSU_MAX_DOCUMENT_SIZE)
            return TANSU_E_TOO_LARGE;
    }
    if (!buffer_append_byte(out, 0))
        return TANSU_E_MEMORY;
    store_u32(out->data + start, (uint32_t)(out->size - start));
    return TANSU_OK;
}

bool item_raw(arena *memory, const item *i, doc_value *value) {
    *value = i->value;
    if (!i->open)
        return true;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    bool done = write_value(i, &bytes) == TANSU_OK;
    value->size = (uint32_t)bytes.size;
    value->data = done ? arena_copy(memory, bytes.data, bytes.size) : NULL;
    tansu_buffer_free(&bytes);
    return value->data != NULL;
}

tansu_status item_write(const item *root, tansu_buffer *out, tansu_error *error) {
    out->size = 0;
    tansu_status status = write_value(root, out);
    if (status == TANSU_E_TOO_LARGE)
        return error_set(error, status, NULL,
                         "The updated document would be larger than the %d bytes allowed.",
                         TANSU_MAX_DOCUMENT_SIZE);
    return status == TANSU_OK ? TANSU_OK : error_memory(error);
}
