/*
 * bson/validate/validate.c -- validation: whether bytes are a valid document, and one that may be
 * stored.
 */
#include "bson/validate/value_check.h"

#include "util/error.h"

#include <stdlib.h>

/* Up to this many keys of a level are compared without an allocation. */
#define FEW_KEYS 64

/* The state of one validation. */
typedef struct check {
    const uint8_t *doc;
    bool store;
    uint32_t deepest; /* level */
    tansu_error *error;
} check;

/* Levels that the library has around a document of a user in its own ones, at most. */
#define OWN_LEVELS 16

/* One document or array being checked; the chain of parents is the path for messages. */
typedef struct level {
    const struct level *parent;
    doc_iter iter;
    uint32_t depth; /* the root's is 1 */
    bool id;        /* within an `_id`, whose keys do not begin with `$` */
    bool names;     /* a document whose keys are field names: not an array, not a code's scope */
    bool distinct;  /* duplicate keys are invalid */
    bool reference; /* begins with $ref, as a DBRef does */
} level;

/* The keys of one level, to find duplicates. */
typedef struct level_keys {
    uint64_t seen[4]; /* a bit for each hash: one that is clear proves that a key is new */
    uint32_t count;
    uint32_t hashes[FEW_KEYS];
    uint32_t offsets[FEW_KEYS];
} level_keys;

static tansu_status check_level(const check *check, const level *parent, const uint8_t *doc,
                                size_t size, uint8_t type);

/* write_path -- writes the keys from the root to the current key of a level, separated by dots. */
static size_t write_path(const level *level, char *text, size_t capacity) {
    size_t used = level->parent != NULL ? write_path(level->parent, text, capacity) : 0;
    const char *key = level->iter.key;
    size_t size = level->iter.key_size;
    if (key == NULL || used + 1 >= capacity)
        return used;
    if (used > 0)
        text[used++] = '.';
    if (utf8_valid((const uint8_t *)key, size) != size) {
        key = "?";
        size = 1;
    }
    if (size > capacity - 1 - used)
        size = capacity - 1 - used;
    memcpy(text + used, key, size);
    text[used + size] = '\0';
    return used + size;
}

/* refuse -- sets the error at a position in the document. */
static tansu_status refuse(const check *check, const level *level, const void *position,
                           tansu_status code, const char *reason) {
    char text[sizeof check->error->context] = "";
    if (check->error != NULL && level != NULL)
        write_path(level, text, sizeof text);
    return error_at(check->error, code, text, (const uint8_t *)position - check->doc, "%s", reason);
}

/* check_text -- a length, that many bytes of UTF-8 and a NUL, at the beginning of `left` bytes;
 * *used is their size. */
static tansu_status check_text(const check *check, const level *level, const uint8_t *data,
                               size_t left, size_t *used) {
    uint32_t size = left >= 5 ? load_u32(data) : 0;
    if (size == 0 || size > left - 4 || data[4 + size - 1] != 0)
        return refuse(
            check, level, data, TANSU_E_INVALID_BSON,
            "Length of a string does not lead to its terminating NUL byte; rebuild the document");
    size_t bad = utf8_valid(data + 4, size - 1);
    if (bad != size - 1)
        return refuse(check, level, data + 4 + bad, TANSU_E_INVALID_BSON,
                      "String is not valid UTF-8; encode it as UTF-8");
    *used = 4 + (size_t)size;
    return TANSU_OK;
}

/* check_regex -- the UTF-8 of pattern and options; the iterator has found their ends. */
static tansu_status check_regex(const check *check, const level *level, const doc_value *value) {
    const uint8_t *pattern = value->data;
    size_t pattern_size = strlen((const char *)pattern);
    const uint8_t *options = pattern + pattern_size + 1;
    size_t options_size = strlen((const char *)options);
    size_t bad = utf8_valid(pattern, pattern_size);
    if (bad != pattern_size)
        return refuse(check, level, pattern + bad, TANSU_E_INVALID_BSON,
                      "Pattern of a regex is not valid UTF-8; encode it as UTF-8");
    bad = utf8_valid(options, options_size);
    if (bad != options_size)
        return refuse(check, level, options + bad, TANSU_E_INVALID_BSON,
                      "Options of a regex are not valid UTF-8; encode them as UTF-8");
    return TANSU_OK;
}

/* check_code_scope -- the size, the code and the scope document, which fill the value exactly. */
static tansu_status check_code_scope(const check *check, const level *level,
                                     const doc_value *value) {
    if (value->size < 14)
        return refuse(check, level, value->data, TANSU_E_INVALID_BSON,
                      "Code with scope is too short for both; rebuild the document");
    size_t used;
    tansu_status status = check_text(check, level, value->data + 4, value->size - 4, &used);
    if (status != TANSU_OK)
        return status;
    return check_level(check, level, value->data + 4 + used, value->size - 4 - used,
                       DOC_CODE_SCOPE);
}

/* check_value -- what the iterator has not checked. */
static tansu_status check_value(const check *check, const level *level, const doc_value *value) {
    size_t used;
    switch (value->type) {
    case DOC_STRING:
    case DOC_CODE:
    case DOC_SYMBOL: return check_text(check, level, value->data, value->size, &used);
    case DOC_DOCUMENT:
    case DOC_ARRAY: return check_level(check, level, value->data, value->size, value->type);
    case DOC_BINARY:
        /* The old subtype 2 repeats its length. */
        if (value->data[4] == 2 &&
            (value->size < 9 || load_u32(value->data + 5) != value->size - 9))
            return refuse(check, level, value->data, TANSU_E_INVALID_BSON,
                          "Inner length of a binary of subtype 2 is wrong; rebuild the document");
        return TANSU_OK;
    case DOC_BOOL:
        if (value->data[0] > 1)
            return refuse(check, level, value->data, TANSU_E_INVALID_BSON,
                          "Byte of a bool is neither 0 nor 1; rebuild the document");
        return TANSU_OK;
    case DOC_REGEX: return check_regex(check, level, value);
    case DOC_DBPOINTER:
        if (value->size < 17)
            return refuse(check, level, value->data, TANSU_E_INVALID_BSON,
                          "A dbPointer is too short; rebuild the document");
        return check_text(check, level, value->data, value->size - 12, &used);
    case DOC_CODE_SCOPE: return check_code_scope(check, level, value);
    default: return TANSU_OK;
    }
}

/* read_key -- a hash of a key's ends and length, and all its bytes or-ed into *bits. Keys with the
 * same hash are compared, so that the hash need not see what lies between the ends. */
static inline uint64_t read_key(const doc_iter *iter, uint64_t *bits) {
    const uint8_t *key = (const uint8_t *)iter->key;
    uint32_t size = iter->key_size;
    uint64_t first = 0;
    uint64_t last = 0;
    if (size >= 8) {
        first = load_u64(key);
        last = load_u64(key + size - 8);
        *bits = first | last;
        for (uint32_t at = 8; at + 8 < size; at += 8)
            *bits |= load_u64(key + at);
    } else {
        if (iter->end - key >= 7) /* `end` itself is a byte that may be read */
            first = load_u64(key) & (((uint64_t)1 << (8 * size)) - 1);
        else
            memcpy(&first, key, size);
        *bits = first;
    }
    return (first ^ (last * 0x9FB21C651E98DF25u) ^ size) * 0x9E3779B97F4A7C15u;
}

/* same_key -- whether a key equals the one at an offset. */
static bool same_key(const check *check, const char *key, uint32_t size, uint32_t offset) {
    /* With its terminator, so that the other cannot be longer. */
    return memcmp(check->doc + offset, key, (size_t)size + 1) == 0;
}

/* level_keys_add -- adds the current key; false if it is a duplicate. Considers the first FEW_KEYS
 * only. */
static inline bool level_keys_add(level_keys *set, const check *check, const doc_iter *iter,
                                  uint64_t hash) {
    uint32_t count = set->count++;
    if (count >= FEW_KEYS)
        return true;
    uint32_t short_hash = (uint32_t)(hash >> 24);
    uint64_t bit = (uint64_t)1 << (hash >> 58);
    uint64_t *word = &set->seen[(hash >> 56) & 3];
    if (*word & bit) {
        for (uint32_t i = 0; i < count; i++) {
            if (set->hashes[i] == short_hash &&
                same_key(check, iter->key, iter->key_size, set->offsets[i]))
                return false;
        }
    }
    *word |= bit;
    set->hashes[count] = short_hash;
    set->offsets[count] = (uint32_t)((const uint8_t *)iter->key - check->doc);
    return true;
}

/* hash_bytes -- a hash of a whole key, seeded differently in each process, so that nobody can
 * prepare colliding keys. */
static uint64_t hash_bytes(const uint8_t *bytes, uint32_t size, uint64_t seed) {
    uint64_t hash = seed ^ size;
    uint64_t word = 0;
    for (; size >= 8; size -= 8, bytes += 8) {
        hash = (hash ^ load_u64(bytes)) * 0x9FB21C651E98DF25u;
        hash ^= hash >> 29;
    }
    if (size != 0)
        memcpy(&word, bytes, size);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

/* check_many_keys -- searches for a duplicate among many keys, with a hash table. */
static tansu_status check_many_keys(const check *check, level *level, const uint8_t *doc,
                                    size_t size, uint32_t count) {
    size_t slots = 256;
    while (slots < (size_t)count * 2)
        slots *= 2;
    uint32_t *table = calloc(slots, sizeof *table);
    if (table == NULL)
        return error_memory(check->error);
    uint64_t seed =
        (uint64_t)(uintptr_t)table * 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)&check_many_keys;
    tansu_status status = TANSU_OK;
    doc_iter_init(&level->iter, doc, size);
    while (status == TANSU_OK && doc_iter_next(&level->iter)) {
        const doc_iter *iter = &level->iter;
        size_t slot = hash_bytes((const uint8_t *)iter->key, iter->key_size, seed) & (slots - 1);
        /* Offset 0 is the document's size, never a key. */
        while (table[slot] != 0 && !same_key(check, iter->key, iter->key_size, table[slot]))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] != 0)
            status = refuse(check, level, iter->key, TANSU_E_INVALID_DOCUMENT,
                            "Document has the same key twice; rename or remove one of them");
        table[slot] = (uint32_t)((const uint8_t *)iter->key - check->doc);
    }
    free(table);
    return status;
}

/* key_is -- whether the current key has this name. */
static inline bool key_is(const doc_iter *iter, const char *name, uint32_t size) {
    return iter->key_size == size && memcmp(iter->key, name, size) == 0;
}

/* has_rules -- whether check_name() has anything to say about the current key. */
static inline bool has_rules(const level *level, const doc_iter *iter) {
    return level->names &&
           ((level->id && iter->key[0] == '$') || (level->depth == 1 && iter->key_size == 3));
}

/* check_name -- the rules for field names and `_id` of a document that may be stored. */
static tansu_status check_name(const check *check, level *level, bool first) {
    const doc_iter *iter = &level->iter;
    if (level->id && iter->key[0] == '$') {
        if (first && key_is(iter, "$ref", 4))
            level->reference = true;
        else if (!level->reference || !(key_is(iter, "$id", 3) || key_is(iter, "$db", 3)))
            return refuse(check, level, iter->key, TANSU_E_INVALID_DOCUMENT,
                          "Key in an \"_id\" begins with $, so that no query could name the value; "
                          "rename it");
    } else if (level->depth == 1 && key_is(iter, "_id", 3)) {
        tansu_error error;
        tansu_status status = doc_check_id(&iter->value, &error);
        if (status != TANSU_OK)
            return refuse(check, level, iter->key, status, error.message);
    }
    return TANSU_OK;
}

/* key_fault -- the error of a key that is not UTF-8. A NUL in a key arrives as C0 80, as in
 * Java's and Tcl's encoding, because a zero byte would end the key. */
static tansu_status key_fault(const check *check, const level *level) {
    const uint8_t *key = (const uint8_t *)level->iter.key;
    const uint8_t *bad = key + utf8_valid(key, level->iter.key_size);
    bool nul = bad[0] == 0xC0 && bad[1] == 0x80; /* A zero byte is after the key. */
    return refuse(check, level, bad, TANSU_E_INVALID_BSON,
                  nul ? "Key has a NUL character; remove it"
                      : "Key is not valid UTF-8; encode it as UTF-8");
}

/* check_elements -- the elements of a level. The iterator is a local one, which the compiler keeps
 * in registers, and becomes the level's where somebody needs it: for a message's path, and before
 * a value that may be nested is entered. */
static tansu_status check_elements(const check *check, level *level, level_keys *keys,
                                   const uint8_t **element) {
    doc_iter iter = level->iter;
    bool first = true;
    *element = iter.next;
    while (doc_iter_next(&iter)) {
        uint64_t bits;
        tansu_status status = TANSU_OK;
        uint64_t hash = read_key(&iter, &bits);
        if ((bits & 0x8080808080808080u) != 0 &&
            utf8_valid((const uint8_t *)iter.key, iter.key_size) != iter.key_size) {
            level->iter = iter;
            return key_fault(check, level);
        }
        if (!value_is_plain(&iter.value)) {
            level->iter = iter;
            status = check_value(check, level, &level->iter.value);
        }
        if (status == TANSU_OK && has_rules(level, &iter)) {
            level->iter = iter;
            status = check_name(check, level, first);
        }
        if (status != TANSU_OK)
            return status;
        if (level->distinct && !level_keys_add(keys, check, &iter, hash)) {
            level->iter = iter;
            return refuse(check, level, iter.key, TANSU_E_INVALID_DOCUMENT,
                          "Document has the same key twice; rename or remove one of them");
        }
        *element = iter.next;
        first = false;
    }
    level->iter.malformed = iter.malformed;
    return TANSU_OK;
}

/* check_level -- validates one document or array and, by check_value(), its contents. `type` is the
 * type of the enclosing value. */
static tansu_status check_level(const check *check, const level *parent, const uint8_t *doc,
                                size_t size, uint8_t type) {
    level level;
    level.parent = parent;
    level.depth = parent != NULL ? parent->depth + 1 : 1;
    level.id =
        parent != NULL && (parent->id || (parent->depth == 1 && key_is(&parent->iter, "_id", 3)));
    level.reference = false;
    level.distinct = check->store && type != DOC_ARRAY;
    level.names = check->store && type == DOC_DOCUMENT;
    level.iter.key = NULL;
    if (level.depth > check->deepest)
        return refuse(
            check, parent, doc, TANSU_E_TOO_LARGE,
            "Documents and arrays are nested more than 100 levels deep; flatten the document");
    if (size < 5 || load_u32(doc) != size || !doc_iter_init(&level.iter, doc, size))
        return refuse(
            check, parent, doc, TANSU_E_INVALID_BSON,
            "Size of a document does not lead to its terminating NUL byte; rebuild the document");
    level_keys keys;
    memset(keys.seen, 0, sizeof keys.seen);
    keys.count = 0;
    const uint8_t *element;
    tansu_status status = check_elements(check, &level, &keys, &element);
    if (status != TANSU_OK)
        return status;
    if (level.iter.malformed)
        return refuse(
            check, parent, element, TANSU_E_INVALID_BSON,
            "Element has an unknown type, an unterminated key, or a value that exceeds its "
            "document; rebuild the document");
    if (keys.count > TANSU_MAX_KEYS)
        return refuse(check, parent, doc, TANSU_E_TOO_LARGE,
                      "Document has more than 1048576 keys; use an array, or several documents");
    if (keys.count > FEW_KEYS)
        return check_many_keys(check, &level, doc, size, keys.count);
    return TANSU_OK;
}

tansu_status doc_check(const uint8_t *doc, size_t size, doc_check_mode mode, tansu_error *error) {
    bool own = mode == DOC_CHECK_OWN;
    check check = {doc, mode == DOC_CHECK_STORE, TANSU_MAX_DEPTH + (own ? OWN_LEVELS : 0), error};
    if (size > TANSU_MAX_DOCUMENT_SIZE && !own)
        return error_at(error, TANSU_E_TOO_LARGE, NULL, 0,
                        "Document has %zu bytes, and the maximum is %d; split it into several",
                        size, TANSU_MAX_DOCUMENT_SIZE);
    if (doc == NULL)
        return error_at(error, TANSU_E_INVALID_BSON, NULL, 0, "Document is missing; pass BSON");
    return check_level(&check, NULL, doc, size, DOC_DOCUMENT);
}

bool value_may_be_stored(const doc_value *value, uint32_t depth, bool id) {
    check check = {value->data, true, TANSU_MAX_DEPTH, NULL};
    level level = {.depth = depth, .id = id};
    return check_value(&check, &level, value) == TANSU_OK;
}

tansu_status doc_check_id(const doc_value *id, tansu_error *error) {
    const char *kind;
    switch (id->type) {
    case DOC_MISSING: kind = "missing"; break;
    case DOC_ARRAY: kind = "an array"; break;
    case DOC_REGEX: kind = "a regex"; break;
    case DOC_UNDEFINED: kind = "undefined"; break;
    default: return TANSU_OK;
    }
    return error_set(
        error, TANSU_E_INVALID_ID, "_id",
        "Value of \"_id\" is %s; use another kind of value, or leave \"_id\" out to get an "
        "ObjectId",
        kind);
}

tansu_status tansu_validate(tansu_document bson, tansu_error *error) {
    if (bson.data == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "document",
                         "Argument \"document\" is NULL; pass a document");
    return doc_check(bson.data, bson.size, DOC_CHECK_STORE, error);
}
