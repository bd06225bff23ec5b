/*
 * support/model/tree_model.h -- what trees are compared with: a plain sorted array of byte strings,
 * and keys for both. For the tests of index/tree/tree.h.
 */
#ifndef SUPPORT_TREE_MODEL_H
#define SUPPORT_TREE_MODEL_H

#include "index/tree/tree.h"
#include "support/random/random.h"

typedef struct model_item {
    uint32_t size;
    uint8_t *bytes; /* freed by model_end() only: copies of a model share them */
} model_item;

typedef struct model {
    model_item *items;
    size_t count, capacity;
} model;

/* What a kind of key is made to try out. */
enum key_kind {
    SHORT_KEYS, /* few letters, also 0x00 and 0xFF: many are prefixes of others */
    USUAL_KEYS,
    NEAR_KEYS, /* one value, many documents: nothing but the record id differs */
    LONG_KEYS, /* some have hundreds or thousands of bytes and differ at the end only */
    KEY_KINDS
};

#define MODEL_KEY_MAX 80000

/* model_key -- a random key of that kind; returns its size. */
size_t model_key(random_source *random, enum key_kind kind, uint8_t *key);

/* model_insert, model_remove -- true when they changed something. */
bool model_insert(model *m, const uint8_t *key, size_t size);
bool model_remove(model *m, const uint8_t *key, size_t size);

/* model_rank -- how many items are less than the key. */
size_t model_rank(const model *m, const uint8_t *key, size_t size);

model model_copy(const model *m);

/* model_end -- frees the bytes of all items of all models. */
void model_end(void);

/* model_change -- inserts a key or removes it, in tree and model: both say the same. */
void model_change(tree_writer *writer, tree *t, model *m, const uint8_t *key, size_t size,
                  bool inserts);

/* model_look_up -- tree_look_up() of the bytes, which an entry may begin with, finds what the model
 * has. */
void model_look_up(tree_writer *writer, const tree *t, const model *m, const uint8_t *key,
                   size_t size);

/* model_step -- inserts (in this many of a hundred cases) or removes a random key, in tree and
 * model. */
void model_step(random_source *random, enum key_kind kind, tree_writer *writer, tree *t, model *m,
                unsigned inserts);

/* model_same -- tree and model have the same entries: by a cursor forwards and backwards, and by
 * the quick way. */
void model_same(tree_store *store, const tree *t, const model *m);

/* model_same_at -- all that can be asked about one key, or two, has the right answer. */
void model_same_at(tree_store *store, const tree *t, const model *m, const uint8_t *key,
                   size_t size, const uint8_t *bound, size_t bound_size);

/* Keys in rising order, with their number as record id. */
typedef struct counting {
    uint32_t next, count;
    uint8_t key[16];
} counting;

/* counted_key -- the key with that number; returns its size. */
size_t counted_key(uint32_t n, uint8_t *to);

/* next_counted -- a tree_source over a `counting`. */
bool next_counted(void *context, const uint8_t **bytes, size_t *size);

/* tree_model_discard_retired -- the other half of an aborted transaction: frees the blocks on the
 * list that the writer itself created, in its epoch or a later one, from item `first` on, and
 * empties the list from there. */
void tree_model_discard_retired(tree_writer *writer, retire_list *retired, size_t first);

#endif
