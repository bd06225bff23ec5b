/*
 * bson/validate/form.c -- the form of a collection's documents.
 */
#include "bson/validate/form.h"

#include "bson/validate/value_check.h"

/* ---- Documents of the form ---- */

static bool level_fits(form *f, uint32_t at, uint32_t end, const uint8_t *doc, size_t size,
                       uint32_t depth);

/* same_key -- whether the element at `at`, where `left` bytes follow up to the NUL that ends the
 * level, and of which `word` is the beginning, has a key, whatever its type is. */
static inline bool same_key(const form *f, const form_key *key, const uint8_t *at, size_t left,
                            uint64_t word) {
    const known_element *e = &key->element;
    return ((word ^ e->word) & e->mask & ~(uint64_t)0xFF) == 0 && e->size <= left &&
           (e->size <= KNOWN_ELEMENT_WORD ||
            bytes_equal(at + KNOWN_ELEMENT_WORD, f->rest + key->rest, known_element_rest(e)));
}

/* key_at -- the first of the keys first..end that an element has; NULL when it has none of them. */
static const form_key *key_at(const form *f, uint32_t first, uint32_t end, const uint8_t *at,
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
static bool array_fits(form *f, uint32_t at, uint32_t end, const doc_value *array, uint32_t depth) {
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
                : !value_may_be_stored(&iter.value, depth))
            return false;
    }
    return !iter.malformed;
}

/* value_fits -- whether the value of a key is valid, in addition to its size. */
static bool value_fits(form *f, const form_key *key, const doc_value *value, uint32_t depth) {
    uint32_t below = (uint32_t)(key - f->keys) + 1;
    if (value->type == DOC_ARRAY && depth < FORM_DEPTH)
        return array_fits(f, below, key->next, value, depth + 1);
    if (value->type == DOC_DOCUMENT && below < key->next)
        return level_fits(f, below, key->next, value->data, value->size, depth + 1);
    return value_may_be_stored(value, depth);
}

/* as_before -- whether the element at `at`, where `left` bytes follow up to the NUL that ends the
 * level, has a key and a value of the type that it had, which is in the level. */
static inline bool as_before(const form *f, const form_key *key, const uint8_t *at, size_t left,
                             doc_value *value) {
    uint64_t size;
    if (!known_element_fits(&key->element, f->rest + key->rest, at, left, &size))
        return false;
    *value = (doc_value){at + key->element.size, (uint32_t)size, (uint8_t)key->element.word};
    return true;
}

/* as_key -- the same with a value of any type, and one of the keys first..end: which one, or
 * NULL. */
static const form_key *as_key(const form *f, uint32_t first, uint32_t end, const uint8_t *at,
                              size_t left, doc_value *value) {
    const form_key *key = key_at(f, first, end, at, left);
    if (key == NULL)
        return NULL;
    *value = (doc_value){.data = at + key->element.size, .type = *at};
    return doc_value_size(*at, value->data, value->data + left - key->element.size, &value->size)
               ? key
               : NULL;
}

/* level_fits -- whether a document is valid and has no keys but first..end, in this order. Notes
 * their values. */
static bool level_fits(form *f, uint32_t first, uint32_t end, const uint8_t *doc, size_t size,
                       uint32_t depth) {
    if (size < 5 || load_u32(doc) != size || doc[size - 1] != 0)
        return false;
    const uint8_t *at = doc + 4, *terminator = doc + size - 1;
    while (at < terminator) {
        size_t left = (size_t)(terminator - at);
        const form_key *key = &f->keys[first];
        doc_value value;
        if (first >= end || !as_before(f, key, at, left, &value)) {
            key = as_key(f, first, end, at, left, &value);
            if (key == NULL)
                return false;
            first = (uint32_t)(key - f->keys);
        }
        f->present |= (uint64_t)1 << first;
        f->values[first] = value;
        if ((key->id && doc_check_id(&value, NULL) != TANSU_OK) ||
            (!value_is_plain(&value) && !value_fits(f, key, &value, depth)))
            return false;
        at = value.data + value.size;
        first = key->next;
    }
    return true;
}

/* ---- Learning a form ---- */

/* insert_key -- makes a key the one at a place, and those from there on the next ones. The caller
 * corrects where the levels end that contain it. False when there is no room, or the key has rules
 * of its own. */
static bool insert_key(form *f, uint32_t at, const doc_iter *iter, bool id) {
    known_element element = known_element_of(iter);
    uint32_t rest = known_element_rest(&element);
    if (f->count == FORM_KEYS || f->bytes + rest > FORM_BYTES || iter->key[0] == '$')
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        f->keys[i].next += i >= at || f->keys[i].next > at;
    memmove(f->keys + at + 1, f->keys + at, (f->count - at) * sizeof *f->keys);
    f->keys[at] =
        (form_key){.element = element, .rest = f->bytes, .next = (uint16_t)(at + 1), .id = id};
    memcpy(f->rest + f->bytes, iter->value.data - rest, rest);
    f->bytes = (uint16_t)(f->bytes + rest);
    f->count++;
    return true;
}

static bool learn_level(form *f, uint32_t first, uint32_t *end, const doc_value *doc,
                        uint32_t depth);

/* learn_below -- adds the keys of what a value contains to those up to *end. */
static bool learn_below(form *f, uint32_t first, uint32_t *end, const doc_value *value,
                        uint32_t depth) {
    doc_iter iter;
    if (depth >= FORM_DEPTH)
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
 * False when they do not fit, or their order is another one: a key may be there only once. The form
 * is not valid then. */
static bool learn_level(form *f, uint32_t first, uint32_t *end, const doc_value *doc,
                        uint32_t depth) {
    uint32_t at = first;
    doc_iter iter;
    doc_iter_value(&iter, doc);
    while (doc_iter_next(&iter)) {
        const uint8_t *element = (const uint8_t *)iter.key - 1;
        size_t left = (size_t)(iter.end - element);
        const form_key *key = key_at(f, at, *end, element, left);
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
static void forget(form *f) {
    f->count = f->bytes = 0;
    f->changes++;
}

/* learn -- adds the keys of a valid document; if that cannot be done, its keys replace them. */
static void learn(form *f, const uint8_t *doc, size_t size) {
    const doc_value whole = {doc, (uint32_t)size, DOC_DOCUMENT};
    uint32_t end = f->count;
    f->changes++;
    if (learn_level(f, 0, &end, &whole, 1))
        return;
    forget(f);
    end = 0;
    if (!learn_level(f, 0, &end, &whole, 1))
        forget(f);
}

tansu_status form_check(form *f, const uint8_t *doc, size_t size, bool *fits, tansu_error *error) {
    bool tried = !backoff_passes_over(&f->trying);
    f->present = 0;
    *fits = tried && doc != NULL && size <= TANSU_MAX_DOCUMENT_SIZE &&
            level_fits(f, 0, f->count, doc, size, 1);
    if (*fits) {
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

/* ---- Values of the document at hand ---- */

/* is_part -- whether a key is a part of a path. */
static bool is_part(const form *f, const form_key *key, const path_part *part) {
    char name[KNOWN_ELEMENT_WORD];
    uint32_t rest = known_element_rest(&key->element);
    memcpy(name, &key->element.word, sizeof name);
    uint32_t inside = key->element.size - rest - 1; /* with the NUL, unless that is in the rest */
    if (key->element.size != part->size + 2)
        return false;
    if (rest == 0)
        return memcmp(name + 1, part->name, part->size) == 0;
    return memcmp(name + 1, part->name, inside) == 0 &&
           memcmp(f->rest + key->rest, part->name + inside, rest - 1) == 0;
}

/* find_place -- searches for a path. */
static void find_place(const form *f, form_place *place, const path *path) {
    uint32_t first = 0, end = f->count;
    *place = (form_place){.changes = f->changes};
    for (uint32_t depth = 0; depth < path->count && depth < FORM_DEPTH; depth++) {
        while (first < end && !is_part(f, &f->keys[first], &path->parts[depth]))
            first = f->keys[first].next;
        if (first >= end)
            return;
        place->keys[depth] = (uint8_t)first;
        end = f->keys[first].next;
        first++;
    }
    place->depth = path->count <= FORM_DEPTH ? path->count : 0;
}

bool form_find(const form *f, form_place *place, const path *path, doc_value *value) {
    if (place->changes != f->changes)
        find_place(f, place, path);
    if (place->depth == 0)
        return false;
    /* Where each before the last is a document and not an array, what is noted of the next is in
     * it, for a key is there only once. */
    for (uint32_t i = 0; i < place->depth; i++) {
        uint32_t key = place->keys[i];
        if ((f->present >> key & 1) == 0 ||
            (i + 1 < place->depth && f->values[key].type != DOC_DOCUMENT))
            return false;
    }
    *value = f->values[place->keys[place->depth - 1]];
    return true;
}

/* ---- Forms of several owners ---- */

form *form_of(form_table *table, uint32_t owner) {
    form *f = &table->slots[owner % FORM_SLOTS];
    if (turn_continues(&f->turn, owner))
        return f;
    if (turn_waits(&f->turn))
        return NULL;
    forget(f);
    turn_begin(&f->turn, owner);
    f->trying = (backoff){0};
    return f;
}
