/*
 * index/definition_describe.c -- the values of a document that an entry was made from, for
 * messages.
 */
#include "index/definition.h"

#include "bson/case_fold.h"
#include "bson/value.h"
#include "util/buffer.h"

/* A look for the value that has a given key. */
typedef struct search {
    const index_definition *definition;
    uint32_t at; /* number of the path */
    const uint8_t *entry;
    size_t size;
    tansu_buffer key;
    tansu_buffer folded;
    doc_value value;
    bool found;
} search;

/* try_value -- whether the entry goes on with this value's key: no key is the beginning of
 * another. */
static bool try_value(search *s, const doc_value *value) {
    doc_value folded = *value;
    s->key.size = 0;
    if (s->definition->fold && !fold_value(&s->folded, value, &folded))
        return false;
    if (!value_key(&s->key, &folded, s->definition->descending[s->at]) || s->key.size > s->size ||
        memcmp(s->key.data, s->entry, s->key.size) != 0)
        return false;
    s->value = *value;
    s->found = true;
    return true;
}

/* visit -- a value that the path shows and, of an array, its elements. */
static bool visit(void *context, const doc_value *value) {
    search *s = context;
    doc_iter iter;
    if (try_value(s, value))
        return false;
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (doc_iter_next(&iter)) {
            if (try_value(s, &iter.value))
                return false;
        }
    }
    return true;
}

void index_entry_values(const index_definition *definition, const uint8_t *doc, size_t doc_size,
                        const uint8_t *entry, size_t size, doc_value *values) {
    search s = {.definition = definition, .entry = entry, .size = size};
    for (uint32_t i = 0; i < definition->path_count; i++) {
        s.at = i;
        s.found = false;
        values[i] = (doc_value){NULL, 0, DOC_MISSING};
        (void)path_walk(&definition->paths[i], doc, doc_size, visit, &s, NULL);
        if (s.found)
            values[i] = s.value;
        /* A path that yields nothing at all has a key of one byte. */
        size_t used = s.found ? s.key.size : 1;
        used = used < s.size ? used : s.size;
        s.entry += used;
        s.size -= used;
    }
    tansu_buffer_free(&s.key);
    tansu_buffer_free(&s.folded);
}
