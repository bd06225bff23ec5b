/*
 * bson/validate/shape.c -- the shape of a collection's documents.
 */
#include "bson/validate/shape.h"

#include "bson/validate/value_check.h"

/* ---- Documents of the shape ---- */

static bool level_fits(shape *f, uint32_t at, uint32_t end, const uint8_t *doc, size_t size,
                       uint32_t depth);

/* same_key -- whether the element at `at`, where `left` bytes follow up to the NUL that ends the
 * level, and of which `word` is the beginning, has a key, whatever its type is. */
static inline bool same_key(const shape *f, const shape_key *key, const uint8_t *at, size_t left,
                            uint64_t word) {
    const known_element *e = &key->element;
    return ((word ^ e->word) & e->mask & ~(uint64_t)0xFF) == 0 && e->size <= left &&
           (e->size <= KNOWN_ELEMENT_WORD ||
            bytes_equal(at + KNOWN_ELEMENT_WORD, f->rest + key->rest, known_element_rest(e)));
}

/* key_at -- the first of the keys first..end that an element has; NULL when it has none of them. */
static const shape_key *key_at(const shape *f, uint32_t first, uint32_t end, const uint8_t *at,
                               size_t left) {
    uint64_t word = 0;
    memcpy(&word, at, left < 8 ? left : 8);
    for (uint32_t i = first; i < end; i = f->keys[i].next) {
        if (same_key(f, &f->keys[i], at, left, word))
            return &f->keys[i];
    }
    return NULL;
}

/* array_fits -- whether an array is valid. The keys of arrays are not compared with any: they only
 * have to be UTF-8. at, end: the keys of documents in it. */
static bool array_fits(shape *f, uint32_t at, uint32_t end, const doc_value *array,
                       uint32_t depth) {
    doc_iter iter;
    if (load_u32(array->data) != array->size || !doc_iter_value(&iter, array))
        return false;
    while (doc_iter_next(&iter)) {
        if (!utf8_is_valid((const uint8_t *)iter.key, iter.key_size))
            return false;
        if (value_is_plain(&iter.value))
            continue;
        if (iter.value.type == DOC_DOCUMENT && at < end
                ? !level_fits(f, at, end, iter.value.data, iter.value.size, depth + 1)
                : !value_may_be_stored(&iter.value, depth, false))
            return false;
    }
    return !iter.malformed;
}

/* value_fits -- whether the value of a key is valid, in addition to its size. */
static bool value_fits(shape *f, const shape_key *key, const doc_value *value, uint32_t depth) {
    uint32_t below = (uint32_t)(key - f->keys) + 1;
    if (key->id)
        return value_may_be_stored(value, depth, true);
    if (value->type == DOC_ARRAY && depth < SHAPE_DEPTH)
        return array_fits(f, below, key->next, value, depth + 1);
    if (value->type == DOC_DOCUMENT && below < key->next)
        return level_fits(f, below, key->next, value->data, value->size, depth + 1);
    return value_may_be_stored(value, depth, false);
}

/* as_before -- whether the element at `at`, where `left` bytes follow up to the NUL that ends the
 * level, has a key and a value of the type that it had, which is in the level. */
static inline bool as_before(const shape *f, const shape_key *key, const uint8_t *at, size_t left,
                             doc_value *value) {
    uint64_t size;
    if (!known_element_fits(&key->element, f->rest + key->rest, at, left, &size))
        return false;
    *value = (doc_value){at + key->element.size, (uint32_t)size, (uint8_t)key->element.word};
    return true;
}

/* as_key -- the same with a value of any type, and one of the keys first..end: which one, or
 * NULL. */
static const shape_key *as_key(const shape *f, uint32_t first, uint32_t end, const uint8_t *at,
                               size_t left, doc_value *value) {
    const shape_key *key = key_at(f, first, end, at, left);
    if (key == NULL)
        return NULL;
    *value = (doc_value){.data = at + key->element.size, .type = *at};
    return doc_value_size(*at, value->data, value->data + left - key->element.size, &value->size)
               ? key
               : NULL;
}

/* level_fits -- whether a document is valid and has no keys but first..end, in this order. */
static bool level_fits(shape *f, uint32_t first, uint32_t end, const uint8_t *doc, size_t size,
                       uint32_t depth) {
    if (size < 5 || load_u32(doc) != size || doc[size - 1] != 0)
        return false;
    const uint8_t *at = doc + 4, *terminator = doc + size - 1;
    while (at < terminator) {
        size_t left = (size_t)(terminator - at);
        const shape_key *key = &f->keys[first];
        doc_value value;
        if (first >= end || !as_before(f, key, at, left, &value)) {
            key = as_key(f, first, end, at, left, &value);
            if (key == NULL)
                return false;
            first = (uint32_t)(key - f->keys);
        }
        if ((key->id && doc_check_id(&value, NULL) != TANSU_OK) ||
            (!value_is_plain(&value) && !value_fits(f, key, &value, depth)))
            return false;
        at = value.data + value.size;
        first = key->next;
    }
    return true;
}

/* ---- Learning a shape ---- */

/* insert_key -- makes a key the one at a place, and those from there on the next ones. The caller
 * corrects where the levels end that contain it. False when there is no room. */
static bool insert_key(shape *f, uint32_t at, const doc_iter *iter, bool id) {
    known_element element = known_element_of(iter);
    uint32_t rest = known_element_rest(&element);
    if (f->count == SHAPE_KEYS || f->bytes + rest > SHAPE_BYTES)
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        f->keys[i].next += i >= at || f->keys[i].next > at;
    memmove(f->keys + at + 1, f->keys + at, (f->count - at) * sizeof *f->keys);
    f->keys[at] =
        (shape_key){.element = element, .rest = f->bytes, .next = (uint16_t)(at + 1), .id = id};
    memcpy(f->rest + f->bytes, iter->value.data - rest, rest);
    f->bytes = (uint16_t)(f->bytes + rest);
    f->count++;
    return true;
}

static bool learn_level(shape *f, uint32_t first, uint32_t *end, const doc_value *doc,
                        uint32_t depth);

/* learn_below -- adds the keys of what a value contains to those up to *end. */
static bool learn_below(shape *f, uint32_t first, uint32_t *end, const doc_value *value,
                        uint32_t depth) {
    doc_iter iter;
    if (depth >= SHAPE_DEPTH)
        return true;
    if (value->type == DOC_DOCUMENT)
        return learn_level(f, first, end, value, depth + 1);
    if (value->type != DOC_ARRAY)
        return true;
    doc_iter_value(&iter, value);
    while (doc_iter_next(&iter)) {
        if (iter.value.type == DOC_DOCUMENT && !learn_below(f, first, end, &iter.value, depth + 1))
            return false;
    }
    return true;
}

/* learn_level -- adds the keys of a valid document to those from `first` to *end, which is moved.
 * False when they do not fit, or their order is another one: a key may be there only once. The shape
 * is not valid then. */
static bool learn_level(shape *f, uint32_t first, uint32_t *end, const doc_value *doc,
                        uint32_t depth) {
    uint32_t at = first;
    doc_iter iter;
    doc_iter_value(&iter, doc);
    while (doc_iter_next(&iter)) {
        const uint8_t *element = (const uint8_t *)iter.key - 1;
        size_t left = (size_t)(iter.end - element);
        const shape_key *key = key_at(f, at, *end, element, left);
        if (key == NULL) {
            bool id = depth == 1 && iter.key_size == 3 && memcmp(iter.key, "_id", 3) == 0;
            if (key_at(f, first, at, element, left) != NULL || !insert_key(f, at, &iter, id))
                return false;
            key = &f->keys[at];
            (*end)++;
        }
        at = (uint32_t)(key - f->keys);
        uint32_t before = key->next, below = before;
        if (!learn_below(f, at + 1, &below, &iter.value, depth))
            return false;
        *end += below - before;
        f->keys[at].next = (uint16_t)below;
        at = below;
    }
    return true;
}

/* forget -- no keys. */
static void forget(shape *f) {
    f->count = f->bytes = 0;
}

/* learn -- adds the keys of a valid document; if that cannot be done, its keys replace them. */
static void learn(shape *f, const uint8_t *doc, size_t size) {
    const doc_value whole = {doc, (uint32_t)size, DOC_DOCUMENT};
    uint32_t end = f->count;
    if (learn_level(f, 0, &end, &whole, 1))
        return;
    forget(f);
    end = 0;
    if (!learn_level(f, 0, &end, &whole, 1))
        forget(f);
}

tansu_status shape_check(shape *f, const uint8_t *doc, size_t size, tansu_error *error) {
    bool tried = !backoff_passes_over(&f->trying);
    if (tried && doc != NULL && size <= TANSU_MAX_DOCUMENT_SIZE &&
        level_fits(f, 0, f->count, doc, size, 1)) {
        backoff_succeeded(&f->trying);
        return TANSU_OK;
    }
    tansu_status status = doc_check(doc, size, DOC_CHECK_STORE, error);
    if (status == TANSU_OK && tried) {
        learn(f, doc, size);
        backoff_failed(&f->trying);
    }
    return status;
}

/* ---- Shapes of several collections ---- */

/* Requests for other collections after which a slot changes its owner. */
#define OTHERS_MOST 32

shape *shape_of(shape_table *table, uint32_t owner) {
    shape *f = &table->slots[owner % SHAPE_SLOTS];
    if (f->owner == owner) {
        f->others = 0;
        return f;
    }
    if (f->owner != 0 && ++f->others < OTHERS_MOST)
        return NULL;
    forget(f);
    f->owner = owner;
    f->others = 0;
    f->trying = (backoff){0};
    return f;
}
