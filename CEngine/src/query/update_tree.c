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

item *item_find(const item *i, const path_part *part, uint32_t *at) {
    if (i->value.type == DOC_ARRAY) {
        *at = (uint32_t)part->index;
        return part->index >= 0 && *at < i->count ? i->children[*at] : NULL;
    }
    for (*at = 0; *at < i->count; ++*at) {
        const item *child = i->children[*at];
        if (child->key_size == part->size && memcmp(child->key, part->name, part->size) == 0)
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
    parent->count++;
    return true;
}

void item_remove(item *parent, uint32_t at) {
    parent->count--;
    memmove(parent->children + at, parent->children + at + 1,
            (parent->count - at) * sizeof *parent->children);
}

void item_set(item *i, const doc_value *value) {
    i->value = *value;
    i->open = false;
    i->children = NULL;
    i->count = i->room = 0;
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
