/*
 * index/tree/tree_build.c -- building a tree from sorted entries, from the leaves up.
 */
#include "index/tree/tree_change.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* Space that is left in each block for later insertions: a tenth. */
#define BUILD_LEAF (TREE_BLOCK_BYTES - TREE_BLOCK_BYTES / 10 - (uint64_t)offsetof(tree_leaf, page))
#define BUILD_INNER (INNER_MAX - INNER_MAX / 10)
/* A leaf of that many bytes has fewer entries than this, each having a slot and a length. */
#define BUILD_REFS (TREE_BLOCK_BYTES / 9)

/* The inner block of one level that is being filled. */
typedef struct build_level {
    uint32_t children;
    tree_block *child[BUILD_INNER];
    uint64_t count[BUILD_INNER];
    /* Separators in front of each child, the first included: it goes up with the block. */
    tansu_buffer separators;
    size_t end[BUILD_INNER]; /* of each in the buffer */
} build_level;

typedef struct builder {
    tree_writer *writer;
    /* Keys of the leaf that is being filled, one after the other. */
    tansu_buffer keys;
    size_t end[BUILD_REFS];
    uint32_t count;
    uint32_t common;   /* what all of them share */
    uint64_t suffixes; /* heap bytes that they took if nothing was shared */
    tansu_buffer last; /* the last key of the leaf before */
    uint64_t total;
    uint32_t height;
    build_level *level[TREE_MAX_HEIGHT]; /* [0]: the parents of leaves */
} builder;

static bool level_push(builder *b, uint32_t at, const uint8_t *separator, size_t size,
                       tree_block *child, uint64_t count);

/* level_flush -- makes the level's block and pushes it one level up; a lone child goes up itself
 * when the tree ends here. */
static bool level_flush(builder *b, uint32_t at) {
    build_level *level = b->level[at];
    tree_store *store = b->writer->store;
    uint32_t children = level->children;
    tree_ref refs[BUILD_INNER];
    uint64_t count = 0;
    for (uint32_t i = 0; i < children; i++) {
        count += level->count[i];
        if (i > 0) {
            const uint8_t *from = level->separators.data + level->end[i - 1];
            refs[i - 1] = (tree_ref){from, NULL, (uint32_t)(level->end[i] - level->end[i - 1]), 0};
        }
    }
    uint32_t prefix;
    uint64_t bytes = page_measure(refs, children - 1, &prefix);
    tree_content *content = content_inner(store, bytes);
    if (content == NULL)
        return false;
    tree_inner *inner = inner_of(content);
    content->level = at + 1;
    page_fill(&inner->keys, inner->keys.capacity, (uint8_t)(at + 1), refs, children - 1, prefix);
    memcpy(inner->child, level->child, children * sizeof(inner->child[0]));
    memcpy(inner->count, level->count, children * sizeof(inner->count[0]));
    tree_block *block = block_new(store, b->writer->epoch, content, 0);
    if (block == NULL) {
        content_free(store, content);
        return false;
    }
    b->writer->bytes += block_memory(block);
    level->children = 0; /* they hang from the block now */
    bool pushed = level_push(b, at + 1, level->separators.data, level->end[0], block, count);
    level->separators.size = 0;
    return pushed;
}

/* level_push -- adds a child, which it owns also when it fails; `separator` precedes it. */
static bool level_push(builder *b, uint32_t at, const uint8_t *separator, size_t size,
                       tree_block *child, uint64_t count) {
    bool ready = at < TREE_MAX_HEIGHT - 1;
    if (ready && b->level[at] == NULL) {
        b->level[at] = calloc(1, sizeof(build_level));
        ready = b->level[at] != NULL;
        if (ready)
            b->height = at + 1;
    }
    build_level *level = ready ? b->level[at] : NULL;
    if (ready && (level->children == BUILD_INNER ||
                  (level->children >= 4 && level->separators.size + size > INNER_LARGE)))
        ready = level_flush(b, at);
    if (!ready || !buffer_append(&level->separators, separator, size)) {
        tree discarded = {child, count};
        tree_discard(b->writer, &discarded);
        return false;
    }
    level->end[level->children] = level->separators.size;
    level->child[level->children] = child;
    level->count[level->children++] = count;
    return true;
}

/* leaf_flush -- makes the leaf of the keys that were gathered. */
static bool leaf_flush(builder *b) {
    tree_ref refs[BUILD_REFS];
    size_t from = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        refs[i] = (tree_ref){b->keys.data + from, NULL, (uint32_t)(b->end[i] - from), 0};
        from = b->end[i];
    }
    tree_ref last = {b->last.data, NULL, (uint32_t)b->last.size, 0};
    size_t separator = b->total == 0 ? 0 : ref_common(&last, &refs[0]) + 1;
    tree_content *content = refs_leaf(b->writer->store, refs, b->count);
    if (content == NULL)
        return false;
    tree_block *block = block_new(b->writer->store, b->writer->epoch, content, 0);
    if (block == NULL) {
        content_free(b->writer->store, content);
        return false;
    }
    b->writer->bytes += block_memory(block);
    if (!level_push(b, 0, b->keys.data, separator, block, b->count))
        return false;
    const tree_ref *end = &refs[b->count - 1];
    if (!buffer_set(&b->last, end->prefix, end->prefix_size))
        return false;
    b->total += b->count;
    b->count = 0;
    b->keys.size = 0;
    b->suffixes = 0;
    return true;
}

/* build_add -- one more key; the leaf before it is made when this one no longer fits in. */
static bool build_add(builder *b, const uint8_t *key, size_t size) {
    uint64_t entry = sizeof(tree_slot) + page_entry_size((uint32_t)size);
    uint32_t common = (uint32_t)size;
    if (b->count > 0) {
        uint32_t limit = b->common < size ? b->common : (uint32_t)size;
        for (common = 0; common < limit && key[common] == b->keys.data[common]; common++)
            ;
        uint64_t bytes = sizeof(tree_page) + b->suffixes + entry - (uint64_t)common * b->count;
        if ((bytes > BUILD_LEAF && b->count >= 4) || bytes > LEAF_LARGE / 2 ||
            b->count == BUILD_REFS) {
            if (!leaf_flush(b))
                return false;
            common = (uint32_t)size;
        }
    }
    if (!buffer_append(&b->keys, key, size))
        return false;
    b->end[b->count++] = b->keys.size;
    b->common = common;
    b->suffixes += entry;
    return true;
}

/* build_finish -- closes all levels; what is left is the root. */
static bool build_finish(builder *b, tree *result) {
    if (b->count > 0 && !leaf_flush(b))
        return false;
    for (uint32_t at = 0; at < b->height; at++) {
        build_level *level = b->level[at];
        if (at + 1 == b->height && level->children == 1) {
            *result = (tree){level->child[0], level->count[0]};
            level->children = 0;
            return true;
        }
        if (level->children > 0 && !level_flush(b, at))
            return false;
    }
    return true;
}

/* tree_build -- keeps one leaf's keys and one inner block a level while it goes. */
tansu_status tree_build(tree_writer *writer, tree_source next, void *context, tree *result,
                        tansu_error *error) {
    *result = (tree){NULL, 0};
    builder *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return error_memory(error);
    b->writer = writer;
    tansu_status status = TANSU_OK;
    const uint8_t *key;
    size_t size;
    while (status == TANSU_OK && next(context, &key, &size)) {
        if (size == 0 || size > KEY_MAX)
            status = error_set(error, TANSU_E_TOO_LARGE, NULL,
                               "An index entry has %zu bytes; use 1 to %u", size, KEY_MAX);
        else if (!build_add(b, key, size))
            status = error_memory(error);
    }
    if (status == TANSU_OK && !build_finish(b, result))
        status = error_memory(error);
    for (uint32_t at = 0; at < TREE_MAX_HEIGHT && b->level[at] != NULL; at++) {
        for (uint32_t i = 0; i < b->level[at]->children; i++) {
            tree discarded = {b->level[at]->child[i], b->level[at]->count[i]};
            tree_discard(writer, &discarded);
        }
        tansu_buffer_free(&b->level[at]->separators);
        free(b->level[at]);
    }
    tansu_buffer_free(&b->keys);
    tansu_buffer_free(&b->last);
    free(b);
    return status;
}
