/*
 * query/pipeline/join_table.c -- documents one after the other, and a set of keys with the numbers
 * of those that have them.
 */
#include "query/pipeline/join_table.h"

#include "query/util/key_set.h"

#include <stdlib.h>

/* A value, and the documents that have it, as a list in `links` from the last to the first. */
typedef struct join_key {
    key_set_item head;
    uint32_t last; /* the number of a link plus 1 */
} join_key;

typedef struct join_link {
    uint32_t document;
    uint32_t before; /* the number of a link plus 1; 0: none */
} join_link;

struct join_table {
    const path *field;
    const collation *collation;
    size_t memory;
    tansu_buffer documents;
    tansu_buffer offsets; /* uint64_t of each document */
    tansu_buffer links;
    arena keys_memory;
    size_t keys_used;
    key_set keys;
    uint32_t count;
    tansu_buffer key, scratch;
    bool failed;
    tansu_buffer found; /* uint32_t */
};

join_table *join_table_new(const path *field, const collation *collation, size_t memory) {
    join_table *t = calloc(1, sizeof *t);
    if (t)
        *t = (join_table){.field = field, .collation = collation, .memory = memory};
    return t;
}

void join_table_free(join_table *t) {
    if (!t)
        return;
    tansu_buffer_free(&t->documents);
    tansu_buffer_free(&t->offsets);
    tansu_buffer_free(&t->links);
    arena_free(&t->keys_memory);
    tansu_buffer_free(&t->key);
    tansu_buffer_free(&t->scratch);
    tansu_buffer_free(&t->found);
    free(t);
}

/* make_key -- replaces t->key by the key of a value. */
static bool make_key(join_table *t, const doc_value *value) {
    t->key.size = 0;
    return collation_key(t->collation, &t->scratch, &t->key, value, false);
}

/* add_value -- the document that is being added has a value. */
static bool add_value(join_table *t, const doc_value *value) {
    bool added;
    join_link link = {.document = t->count};
    join_key *key = make_key(t, value)
                        ? (join_key *)key_set_add(&t->keys, &t->keys_memory, t->key.data,
                                                  t->key.size, sizeof *key, &added, &t->keys_used)
                        : NULL;
    if (!key)
        return false;
    const join_link *links = (const join_link *)(const void *)t->links.data;
    if (key->last != 0 && links[key->last - 1].document == t->count)
        return true;
    link.before = key->last;
    if (!buffer_append(&t->links, &link, sizeof link))
        return false;
    key->last = (uint32_t)(t->links.size / sizeof link);
    return true;
}

/* visit -- a value at the path: it, and if it is an array its elements. */
static bool visit(void *context, const doc_value *value) {
    join_table *t = context;
    doc_iter iter;
    t->failed = t->failed || !add_value(t, value);
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (!t->failed && doc_iter_next(&iter))
            t->failed = !add_value(t, &iter.value);
    }
    return !t->failed;
}

tansu_status join_table_add(join_table *t, const doc_value *doc, bool *full, tansu_error *error) {
    uint64_t offset = t->documents.size;
    size_t used = t->documents.size + t->offsets.size + t->links.size + t->keys_used;
    *full = used + doc->size > t->memory || t->count == UINT32_MAX - 1;
    if (*full)
        return TANSU_OK;
    if (!buffer_append(&t->documents, doc->data, doc->size) ||
        !buffer_append(&t->offsets, &offset, sizeof offset))
        return error_memory(error);
    path_walk(t->field, doc->data, doc->size, visit, t, NULL);
    t->count++;
    return t->failed ? error_memory(error) : TANSU_OK;
}

bool join_table_find(join_table *t, const doc_value *value) {
    bool added;
    if (!make_key(t, value))
        return false;
    /* The set has no search by key alone: a key that is not there is added, without documents. */
    join_key *key = (join_key *)key_set_add(&t->keys, &t->keys_memory, t->key.data, t->key.size,
                                            sizeof *key, &added, &t->keys_used);
    if (!key)
        return false;
    const join_link *links = (const join_link *)(const void *)t->links.data;
    for (uint32_t at = key->last; at != 0; at = links[at - 1].before) {
        if (!buffer_append(&t->found, &links[at - 1].document, sizeof(uint32_t)))
            return false;
    }
    return true;
}

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

size_t join_table_found(join_table *t) {
    uint32_t *numbers = (uint32_t *)(void *)t->found.data;
    size_t size = t->found.size / sizeof *numbers, kept = 0;
    if (size > 1)
        qsort(numbers, size, sizeof *numbers, by_number);
    for (size_t i = 0; i < size; i++) {
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    }
    t->found.size = kept * sizeof *numbers;
    return kept;
}

doc_value join_table_at(const join_table *t, size_t number) {
    const uint32_t *numbers = (const uint32_t *)(const void *)t->found.data;
    const uint64_t *offsets = (const uint64_t *)(const void *)t->offsets.data;
    const uint8_t *data = t->documents.data + offsets[numbers[number]];
    return (doc_value){data, load_u32(data), DOC_DOCUMENT};
}

void join_table_clear(join_table *t) {
    t->found.size = 0;
}
