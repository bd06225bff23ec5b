/*
 * compact/compact_catalog.c -- which records of indexes and options of a collection are kept.
 *
 * The creation of an index is needed while the index is there. Its removal is needed as long as the
 * log may hold the creation, so no longer than until both are in one run. An index is built of what
 * its collection holds, so nothing else depends on one that is gone.
 *
 * Of the records that set an option, the log needs one that sets the present value, behind all that
 * set another: the first in the run that does, once those behind it are left out.
 *
 * Change feeds and other processes do not read these records in what is compacted.
 */
#include "compact/compact.h"

#include "bson/document.h"
#include "store/collection_options.h"
#include "store/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many are noted, about 60 bytes each: of more, the log keeps some records longer. */
#define SETTLED_MOST 65536u

/* An index that is not there at this place of the run, or an option that has its present value:
 * whatever precedes it in the log. */
typedef struct settled_name {
    table_link link;
    uint32_t collection;
    char name[]; /* of an index, which does not begin with `$`, or `$` and the option */
} settled_name;

/* settled_hash -- of a name. */
static uint32_t settled_hash(uint32_t collection, const char *name) {
    return table_hash(name, strlen(name)) ^ table_hash_number(collection);
}

/* is_settled -- whether it was noted. */
static bool is_settled(const table *settled, uint32_t collection, const char *name) {
    uint32_t hash = settled_hash(collection, name);
    for (const table_link *at = table_chain(settled, hash); at != NULL; at = at->next) {
        const settled_name *item = (const settled_name *)at;
        if (at->hash == hash && item->collection == collection && strcmp(item->name, name) == 0)
            return true;
    }
    return false;
}

/* settle -- notes it. Memory that is exhausted costs no more than some bytes of the log. */
static void settle(table *settled, uint32_t collection, const char *name) {
    if (is_settled(settled, collection, name) || settled->count >= SETTLED_MOST ||
        !table_reserve(settled))
        return;
    size_t size = strlen(name) + 1;
    settled_name *item = malloc(sizeof *item + size);
    if (item == NULL)
        return;
    item->collection = collection;
    memcpy(item->name, name, size);
    table_add(settled, &item->link, settled_hash(collection, name));
}

/* find -- an element of a record's document. */
static bool find(const record_header *record, const char *key, doc_value *value) {
    return doc_find(record_payload(record), record->size - record_front(record), key, strlen(key),
                    value);
}

/* text_of -- a string of a record's document; NULL without one. */
static const char *text_of(const record_header *record, const char *key) {
    doc_value value;
    size_t length;
    if (!find(record, key, &value) || value.type != DOC_STRING)
        return NULL;
    const char *text = doc_string(&value, &length);
    return strlen(text) == length ? text : NULL;
}

/* has_index -- whether the collection has the index that a record creates. */
static bool has_index(const collection_state *state, const record_header *record) {
    doc_value id;
    int64_t number;
    if (!find(record, "id", &id) || !doc_as_int64(&id, &number))
        return true;
    for (uint32_t i = 0; i < state->index_count; i++)
        if (state->indexes[i].definition->id == number)
            return true;
    return false;
}

/* keeps_index -- for the creation or the removal of an index. */
static bool keeps_index(table *settled, const collection_state *state, const record_header *record,
                        bool from_start) {
    const char *name = text_of(record, "name");
    if (name == NULL)
        return true;
    bool keep = record->type == RECORD_INDEX_CREATE
                    ? has_index(state, record)
                    : !from_start && !is_settled(settled, state->id, name);
    /* Of the index that is created and not kept nothing is in the new log, and none of that name
     * was there before it. */
    if (record->type == RECORD_INDEX_DROP || !keep)
        settle(settled, state->id, name);
    return keep;
}

/* has_option -- whether the collection has what a record sets, or that cannot be said. */
static bool has_option(const collection_state *state, enum option_number number,
                       const doc_value *value) {
    const collection_option *kind = &collection_options[number];
    void *option = NULL;
    bool same = kind->parse(value, &option, NULL) != TANSU_OK ||
                kind->equal(state->options[number], option);
    kind->free(NULL, option);
    return same;
}

/* keeps_option -- for a record that sets an option. */
static bool keeps_option(table *settled, const collection_state *state,
                         const record_header *record) {
    doc_value value;
    const char *compression = text_of(record, "compression");
    char settles[1 + 32] = "$compression"; /* as the name of no index is */
    bool keep;
    if (compression != NULL) {
        enum codec codec;
        (void)codec_of_name(compression, &codec); /* an unknown one is none */
        keep = state->codec == codec;
    } else {
        int i = 0;
        while (i < OPTION_COUNT && !find(record, collection_options[i].name, &value))
            i++;
        if (i == OPTION_COUNT)
            return true;
        snprintf(settles, sizeof settles, "$%s", collection_options[i].name);
        keep = has_option(state, i, &value);
    }
    keep = keep && !is_settled(settled, state->id, settles);
    if (keep)
        settle(settled, state->id, settles);
    return keep;
}

bool compact_keeps_setting(table *settled, const collection_state *state,
                           const record_header *record, bool from_start) {
    switch (record->type) {
    case RECORD_INDEX_CREATE:
    case RECORD_INDEX_DROP: return keeps_index(settled, state, record, from_start);
    case RECORD_COLLECTION_OPTIONS: return keeps_option(settled, state, record);
    default: return true;
    }
}
