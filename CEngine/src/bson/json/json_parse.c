/*
 * bson/json/json_parse.c -- parses JSON text to BSON in one pass.
 */
#include "bson/json/json_internal.h"

#include "bson/writer.h"
#include "util/array.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Objects inside an object that represents a type, such as {"$date": {"$numberLong": "1"}}, are not
 * levels of the document, so the text may be that much deeper. */
#define WRAPPER_LEVELS 3
#define FEW_KEYS 24 /* keys of an object that are compared with each other; more are sorted */

/* A key of an object that is being read. */
typedef struct json_key {
    uint32_t offset; /* in the output */
    uint32_t size;
    uint32_t hash;
    uint32_t number; /* position among the keys of the object */
    size_t position; /* in the text */
} json_key;

typedef struct reader {
    const char *text;
    const char *next;
    const char *end;
    size_t limit;
    uint32_t depth; /* limit of the levels of the document */
    bool v1;        /* the forms of extended JSON v1 count */
    bool single;    /* the text represents a single value */
    writer w;
    tansu_buffer *out; /* of the writer */
    tansu_buffer scratch;
    json_key *keys; /* of the open objects, the innermost last */
    size_t key_count;
    size_t key_capacity;
    tansu_status status;
    tansu_error *error;
} reader;

static bool read_value(reader *r, uint32_t level, uint32_t nesting, uint8_t *type);

/* fail -- sets the error at a position in the text. Returns false. */
static bool fail(reader *r, tansu_status code, const char *position, const char *context,
                 const char *format, ...) PRINTF_LIKE(5, 6);
static bool fail(reader *r, tansu_status code, const char *position, const char *context,
                 const char *format, ...) {
    r->status = code;
    if (r->error == NULL)
        return false;
    size_t line = 1, column = 1;
    for (const char *p = r->text; p < position; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            column++;
        }
    }
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(message, sizeof message, format, arguments) < 0)
        message[0] = '\0';
    va_end(arguments);
    error_at(r->error, code, context, position - r->text, "Line %zu, column %zu: %s", line, column,
             message);
    return false;
}

/* invalid -- sets the error for a violation of the grammar. */
static bool invalid(reader *r, const char *position, const char *message) {
    if (position < r->end && *position == '\0')
        return fail(r, TANSU_E_INVALID_JSON, position, NULL, "%s, but there is a NUL byte",
                    message);
    return fail(r, TANSU_E_INVALID_JSON, position, NULL, "%s%s", message,
                position >= r->end ? ", but the text ends" : "");
}

/* exhausted -- sets the error for exhausted memory. */
static bool exhausted(reader *r) {
    r->status = error_memory(r->error);
    return false;
}

/* skip_space -- skips white space. */
static inline void skip_space(reader *r) {
    const char *p = r->next;
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    r->next = p;
}

/* at -- whether the next byte is `byte`. */
static inline bool at(const reader *r, char byte) {
    return r->next < r->end && *r->next == byte;
}

/* ---- Strings ---- */

/* plain_end -- the first quote, backslash or control character from `p` on; *high collects the top
 * bits of all bytes before it. */
static inline const char *plain_end(const char *p, const char *end, uint64_t *high) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    while (end - p >= 8) {
        uint64_t word = load_u64(p);
        uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
        /* Exact up to the first byte found, which is sufficient. */
        uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                          ((word - ones * 0x20) & ~word)) &
                         tops;
        if (found != 0) {
            unsigned bytes = (unsigned)__builtin_ctzll(found) >> 3;
            if (bytes > 0)
                *high |= word << (64 - 8 * bytes) & tops;
            return p + bytes;
        }
        *high |= word & tops;
        p += 8;
    }
    for (; p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20; p++)
        *high |= (unsigned char)*p & 0x80;
    return p;
}

/* read_hex -- the four hexadecimal digits of an escape. */
static bool read_hex(reader *r, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, r->next++) {
        char c = r->next < r->end ? *r->next : 0;
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return invalid(r, r->next, "After \\u four hexadecimal digits are expected");
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* put_character -- appends a character as UTF-8. */
static bool put_character(reader *r, uint32_t c) {
    uint8_t bytes[4];
    size_t size = utf8_encode(c, bytes);
    return buffer_append(r->out, bytes, size) || exhausted(r);
}

/* read_escape -- the escape after a backslash. `key`: the character NUL is not allowed. */
static bool read_escape(reader *r, bool key) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *position = r->next - 1;
    char c = r->next < r->end ? *r->next : 0;
    const char *name = c != 0 ? strchr(names, c) : NULL;
    if (name != NULL) {
        r->next++;
        return buffer_append_byte(r->out, (uint8_t)meanings[name - names]) || exhausted(r);
    }
    if (c != 'u')
        return invalid(r, position, "Unknown escape");
    r->next++;
    uint32_t unit, second;
    if (!read_hex(r, &unit))
        return false;
    if (key && unit == 0)
        return invalid(r, position, "A key may not hold the character NUL");
    if (unit >= 0xDC00 && unit < 0xE000)
        return invalid(r, position, "Second half of a surrogate pair is not preceded by the first");
    if (unit >= 0xD800 && unit < 0xDC00) {
        if (r->end - r->next < 2 || r->next[0] != '\\' || r->next[1] != 'u')
            return invalid(r, position,
                           "First half of a surrogate pair is not followed by the second");
        r->next += 2;
        if (!read_hex(r, &second))
            return false;
        if (second < 0xDC00 || second >= 0xE000)
            return invalid(r, position,
                           "First half of a surrogate pair is not followed by the second");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
    }
    return put_character(r, unit);
}

/* read_text -- appends the characters of a string, after its opening quote, and a NUL byte. */
static bool read_text(reader *r, bool key) {
    const char *open = r->next - 1;
    for (;;) {
        uint64_t high = 0;
        const char *end = plain_end(r->next, r->end, &high);
        size_t size = (size_t)(end - r->next);
        if (high != 0) {
            size_t good = utf8_valid((const uint8_t *)r->next, size);
            if (good != size)
                return invalid(r, r->next + good, "Text is not valid UTF-8");
        }
        if (size > r->limit || r->out->size > r->limit - size)
            return fail(r, TANSU_E_TOO_LARGE, open, NULL,
                        "Document exceeds %zu bytes; split it into several", r->limit);
        if (!buffer_append(r->out, r->next, size))
            return exhausted(r);
        r->next = end;
        if (end == r->end)
            return invalid(r, end, "String has no end, a quote is expected");
        r->next++;
        if (*end == '"')
            return buffer_append_byte(r->out, 0) || exhausted(r);
        if (*end != '\\')
            return invalid(r, end, "A control character in a string must be written as an escape");
        if (!read_escape(r, key))
            return false;
    }
}

/* read_string -- a BSON string. */
static bool read_string(reader *r) {
    size_t start = writer_begin(&r->w);
    if (r->w.failed)
        return exhausted(r);
    if (!read_text(r, false))
        return false;
    store_u32(r->out->data + start, (uint32_t)(r->out->size - start - 4));
    return true;
}

/* ---- Numbers and words ---- */

/* read_number -- an int32 or int64 if it fits and has neither fraction nor exponent, else a
 * double. */
static bool read_number(reader *r, uint8_t *type) {
    bool integer;
    const char *from = r->next;
    const char *end = json_scan_number(from, r->end, &integer);
    if (end == NULL)
        return invalid(r, from, "A value is expected");
    r->next = end;
    uint8_t bytes[8];
    int64_t whole;
    if (integer && json_parse_integer(from, (size_t)(end - from), &whole)) {
        bool small = whole >= INT32_MIN && whole <= INT32_MAX;
        *type = small ? DOC_INT32 : DOC_INT64;
        store_u64(bytes, (uint64_t)whole);
        return buffer_append(r->out, bytes, small ? 4 : 8) || exhausted(r);
    }
    double number;
    switch (json_parse_double(from, (size_t)(end - from), &number)) {
    case JSON_DOUBLE_MEMORY: return exhausted(r);
    case JSON_DOUBLE_RANGE: return invalid(r, from, "Number exceeds the range of a double");
    case JSON_DOUBLE_OK: break;
    }
    *type = DOC_DOUBLE;
    memcpy(bytes, &number, 8);
    return buffer_append(r->out, bytes, 8) || exhausted(r);
}

/* read_word -- true, false or null. */
static bool read_word(reader *r, const char *word, uint8_t type, uint8_t value, uint8_t *result) {
    size_t size = strlen(word);
    if ((size_t)(r->end - r->next) < size || memcmp(r->next, word, size) != 0)
        return invalid(r, r->next, "A value is expected");
    r->next += size;
    *result = type;
    return type == DOC_NULL || buffer_append_byte(r->out, value) || exhausted(r);
}

/* ---- Keys ---- */

/* twice -- sets the error for a duplicate key. */
static bool twice(reader *r, const json_key *key) {
    const char *name = (const char *)r->out->data + key->offset;
    return fail(r, TANSU_E_INVALID_JSON, r->text + key->position, name,
                "Key \"%.200s\" comes twice in one object; remove one of them", name);
}

/* note_key -- adds a key that was just written and compares it with the others of the object. */
static bool note_key(reader *r, size_t first, size_t offset, const char *position) {
    if (!ARRAY_RESERVE(r->keys, r->key_count, r->key_capacity, 1))
        return exhausted(r);
    const uint8_t *bytes = r->out->data + offset;
    json_key *key = &r->keys[r->key_count];
    key->offset = (uint32_t)offset;
    key->size = (uint32_t)(r->out->size - offset - 1);
    key->number = (uint32_t)(r->key_count - first);
    key->position = (size_t)(position - r->text);
    uint32_t hash = key->size;
    for (uint32_t i = 0; i < key->size; i++)
        hash = (hash ^ bytes[i]) * 0x01000193u;
    key->hash = hash;
    r->key_count++;
    if (key->number >= FEW_KEYS)
        return true;
    for (const json_key *other = r->keys + first; other < key; other++) {
        if (other->hash == hash && other->size == key->size &&
            memcmp(r->out->data + other->offset, bytes, key->size) == 0)
            return twice(r, key);
    }
    return true;
}

/* A key for sorting: qsort() passes no context. */
typedef struct sorted_key {
    const uint8_t *bytes;
    const json_key *key;
} sorted_key;

/* compare_keys -- by their bytes, then by their position. */
static int compare_keys(const void *a, const void *b) {
    const sorted_key *left = a, *right = b;
    uint32_t common = left->key->size < right->key->size ? left->key->size : right->key->size;
    int order = memcmp(left->bytes, right->bytes, common);
    if (order != 0)
        return order;
    if (left->key->size != right->key->size)
        return left->key->size < right->key->size ? -1 : 1;
    return left->key->number < right->key->number ? -1 : 1;
}

/* check_keys -- searches for a duplicate key in an object of many. */
static bool check_keys(reader *r, size_t first) {
    size_t count = r->key_count - first;
    if (count <= FEW_KEYS)
        return true;
    sorted_key *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return exhausted(r);
    for (size_t i = 0; i < count; i++) {
        const json_key *key = &r->keys[first + i];
        sorted[i] = (sorted_key){r->out->data + key->offset, key};
    }
    qsort(sorted, count, sizeof *sorted, compare_keys);
    const json_key *repeated = NULL;
    for (size_t i = 1; i < count; i++) {
        const json_key *before = sorted[i - 1].key, *key = sorted[i].key;
        if (before->size == key->size &&
            memcmp(sorted[i - 1].bytes, sorted[i].bytes, key->size) == 0 &&
            (repeated == NULL || key->number < repeated->number))
            repeated = key;
    }
    free(sorted);
    return repeated == NULL || twice(r, repeated);
}

/* ---- Objects and arrays ---- */

/* open_level -- begins a document or array in the output; *start is its position. */
static bool open_level(reader *r, uint32_t level, uint32_t nesting, size_t *start) {
    if (level > r->depth || nesting > r->depth + WRAPPER_LEVELS)
        return fail(r, TANSU_E_TOO_LARGE, r->next, NULL,
                    "Objects and arrays are nested more than %u levels deep; flatten the document",
                    r->depth);
    *start = writer_begin(&r->w);
    return !r->w.failed || exhausted(r);
}

/* close_level -- ends the document or array that begins at `start`. */
static bool close_level(reader *r, size_t start) {
    writer_end(&r->w, start);
    if (r->w.failed)
        return exhausted(r);
    if (r->out->size > r->limit)
        return fail(r, TANSU_E_TOO_LARGE, r->next, NULL,
                    "Document exceeds %zu bytes; split it into several", r->limit);
    return true;
}

/* read_array -- an array; the text is at the bracket. The type of an element is known, and written,
 * after its value. */
static bool read_array(reader *r, uint32_t level, uint32_t nesting) {
    size_t start = 0;
    uint32_t count = 0;
    if (!open_level(r, level, nesting, &start))
        return false;
    r->next++;
    skip_space(r);
    if (!at(r, ']')) {
        for (;;) {
            size_t element = r->out->size;
            if (r->out->size > r->limit)
                return close_level(r, start);
            writer_index_head(&r->w, 0, count++);
            if (r->w.failed)
                return exhausted(r);
            uint8_t type;
            if (!read_value(r, level + 1, nesting + 1, &type))
                return false;
            r->out->data[element] = type;
            skip_space(r);
            if (!at(r, ','))
                break;
            r->next++;
            skip_space(r);
        }
    }
    if (!at(r, ']'))
        return invalid(r, r->next, "A comma or ] is expected");
    r->next++;
    return close_level(r, start);
}

/* The state of an object while it is read. */
typedef struct object {
    size_t start; /* in the output */
    size_t first; /* of its keys */
    bool wrapper; /* its first key says that it represents a type, or may do so (v1) */
    bool value;   /* it says so */
    bool braces;  /* its first value is an object */
} object;

/* read_member -- a key, a colon, a value. */
static bool read_member(reader *r, object *o, uint32_t level, uint32_t nesting) {
    size_t element = r->out->size;
    const char *position = r->next;
    if (!at(r, '"'))
        return invalid(r, position, "A key in quotes is expected");
    r->next++;
    if (!buffer_append_byte(r->out, 0))
        return exhausted(r);
    bool is_first = r->key_count == o->first;
    if (!read_text(r, true) || !note_key(r, o->first, element + 1, position))
        return false;
    skip_space(r);
    if (!at(r, ':'))
        return invalid(r, r->next, "A colon is expected");
    r->next++;
    skip_space(r);
    if (is_first) {
        /* An escape of `$` says that the key is one. */
        const char *key = (const char *)r->out->data + element + 1;
        size_t size = r->out->size - element - 2;
        bool plain = *key == '$' && position[1] == '$';
        o->wrapper = nesting > 1 && plain && json_is_wrapper(key, size, r->v1);
        o->value = o->wrapper && json_is_wrapper(key, size, false);
        r->single = r->single || (nesting == 1 && plain && json_is_wrapper(key, size, false));
        o->braces = at(r, '{');
    }
    if (is_first && !o->wrapper && level > r->depth)
        return open_level(r, level, nesting, &element); /* too deep: sets the error */
    uint32_t below = level + 1;
    if (o->value)
        below = strcmp((const char *)r->out->data + element + 1, "$scope") == 0 ? level : level - 1;
    uint8_t type;
    if (!read_value(r, below, nesting + 1, &type))
        return false;
    r->out->data[element] = type;
    return true;
}

/* unwrap -- replaces an object by the value that it represents. */
static bool unwrap(reader *r, const object *o, const char *position, uint8_t *type) {
    bool memory = false;
    const char *fault = json_unwrap(r->out->data + o->start, r->out->size - o->start, o->braces,
                                    r->v1, &r->scratch, type, &memory);
    if (memory)
        return exhausted(r);
    if (fault != NULL) {
        const char *key = (const char *)r->out->data + o->start + 5;
        return fail(r, TANSU_E_INVALID_JSON, position, key, "Value of \"%s\" is invalid; %s", key,
                    fault);
    }
    r->out->size = o->start;
    return buffer_append(r->out, r->scratch.data, r->scratch.size) || exhausted(r);
}

/* read_object -- an object; the text is at the brace. */
static bool read_object(reader *r, uint32_t level, uint32_t nesting, uint8_t *type) {
    object o = {.first = r->key_count};
    const char *position = r->next;
    /* One more level is allowed, since it may represent a scalar; the first key decides. */
    if (!open_level(r, nesting > 1 ? level - 1 : level, nesting, &o.start))
        return false;
    r->next++;
    skip_space(r);
    if (at(r, '}')) {
        if (level > r->depth)
            return open_level(r, level, nesting, &o.start); /* too deep: sets the error */
    } else {
        for (;;) {
            if (r->out->size > r->limit)
                return close_level(r, o.start);
            if (!read_member(r, &o, level, nesting))
                return false;
            skip_space(r);
            if (!at(r, ','))
                break;
            r->next++;
            skip_space(r);
        }
        if (!at(r, '}'))
            return invalid(r, r->next, "A comma or } is expected");
    }
    r->next++;
    if (!check_keys(r, o.first) || !close_level(r, o.start))
        return false;
    r->key_count = o.first;
    *type = DOC_DOCUMENT;
    return !o.wrapper || unwrap(r, &o, position, type);
}

/* read_value -- any value, at a level of the document and a nesting of the text. */
static bool read_value(reader *r, uint32_t level, uint32_t nesting, uint8_t *type) {
    switch (r->next < r->end ? *r->next : '\0') {
    case '"':
        r->next++;
        *type = DOC_STRING;
        return read_string(r);
    case '{': return read_object(r, level, nesting, type);
    case '[': *type = DOC_ARRAY; return read_array(r, level, nesting);
    case 't': return read_word(r, "true", DOC_BOOL, 1, type);
    case 'f': return read_word(r, "false", DOC_BOOL, 0, type);
    case 'n': return read_word(r, "null", DOC_NULL, 0, type);
    default: return read_number(r, type);
    }
}

/* read_root -- the object that is the whole text. */
static bool read_root(reader *r) {
    uint8_t type;
    skip_space(r);
    if (!at(r, '{')) {
        if (r->next < r->end && read_value(r, 1, 1, &type))
            return fail(r, TANSU_E_INVALID_JSON, r->text, NULL,
                        "A document is expected, that is, an object in braces");
        return r->status == TANSU_OK
                   ? invalid(r, r->next, "A document is expected, that is, an object in braces")
                   : false;
    }
    if (!read_value(r, 1, 1, &type))
        return false;
    skip_space(r);
    if (r->next != r->end)
        return invalid(r, r->next, "Text after the end of the object; remove it");
    const char *key = (const char *)r->out->data + 5;
    if (r->single)
        return fail(r, TANSU_E_INVALID_JSON, r->text, key,
                    "Key \"%s\" makes this a single value, but a document is expected", key);
    return true;
}

/* parse -- reads the text into the buffer of a reader. */
static tansu_status parse(reader r, const char *text, size_t length, tansu_buffer *result) {
    r.text = r.next = text;
    r.end = text + length;
    r.w = (writer){.out = result};
    r.out = result;
    result->size = 0;
    if (!read_root(&r))
        result->size = 0;
    tansu_buffer_free(&r.scratch);
    free(r.keys);
    return r.status;
}

tansu_status json_parse(const char *text, size_t length, size_t limit, uint32_t depth,
                        tansu_buffer *result, tansu_error *error) {
    reader r = {.limit = limit, .depth = depth, .status = TANSU_OK, .error = error};
    return parse(r, text, length, result);
}

tansu_status json_parse_stored(const char *text, size_t length, tansu_buffer *result,
                               tansu_error *error) {
    reader r = {.limit = TANSU_MAX_DOCUMENT_SIZE,
                .depth = TANSU_MAX_DEPTH,
                .v1 = true,
                .status = TANSU_OK,
                .error = error};
    return parse(r, text, length, result);
}
