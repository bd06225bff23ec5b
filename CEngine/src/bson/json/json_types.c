/*
 * bson/json/json_types.c -- the objects of extended JSON that represent BSON types.
 *
 * The parser has written such an object as a document, from which the value is made. All members of
 * the type must be present, once, in any order, and no others.
 */
#include "bson/decimal_text.h"
#include "bson/json/json_internal.h"
#include "bson/object_id.h"

#include "util/buffer.h"

#include <math.h>

/* The value, and what it is made from. */
typedef struct wrapped {
    doc_value first; /* the value of the first key */
    const uint8_t *doc;
    size_t size;
    bool braces;
    tansu_buffer *value;
    bool memory;
} wrapped;

typedef const char *(*unwrapper)(wrapped *w);

static const char wants_text[] = "a text in quotes is expected";

/* put -- appends to the value. */
static const char *put(wrapped *w, const void *bytes, size_t size) {
    if (!buffer_append(w->value, bytes, size))
        w->memory = true;
    return NULL;
}

/* put_number -- appends the low bytes of a number. */
static const char *put_number(wrapped *w, uint64_t number, size_t size) {
    uint8_t bytes[8];
    store_u64(bytes, number);
    return put(w, bytes, size);
}

/* members -- gets the members of a document by name. All must be present, and no others. */
static bool members(const uint8_t *doc, size_t size, const char *const *names, size_t count,
                    doc_value *values) {
    doc_iter iter;
    size_t found = 0;
    if (!doc_iter_init(&iter, doc, size))
        return false;
    while (doc_iter_next(&iter)) {
        size_t i = 0;
        while (i < count && strcmp(names[i], iter.key) != 0)
            i++;
        if (i == count)
            return false;
        values[i] = iter.value;
        found++;
    }
    return found == count;
}

/* inner_members -- the same for the document that the first key has. */
static bool inner_members(const wrapped *w, const char *const *names, size_t count,
                          doc_value *values) {
    return w->first.type == DOC_DOCUMENT &&
           members(w->first.data, w->first.size, names, count, values);
}

/* put_hex -- appends the bytes of hexadecimal digits. */
static bool put_hex(wrapped *w, const char *text, size_t digits) {
    for (size_t i = 0; i < digits; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return false;
        put_number(w, (uint64_t)(high << 4 | low), 1);
    }
    return true;
}

/* make_oid -- {"$oid": "24 digits"}. */
static const char *make_oid(wrapped *w) {
    size_t size;
    if (w->first.type != DOC_STRING)
        return wants_text;
    const char *text = doc_string(&w->first, &size);
    return size == 24 && put_hex(w, text, 24) ? NULL : "24 hexadecimal digits are expected";
}

/* make_text -- {"$symbol": "…"}: a value that is encoded like a string. */
static const char *make_text(wrapped *w) {
    return w->first.type == DOC_STRING ? put(w, w->first.data, w->first.size) : wants_text;
}

/* whole_number -- the text of a whole number within bounds. */
static const char *whole_number(wrapped *w, int64_t least, int64_t most, size_t bytes) {
    size_t size;
    int64_t number;
    bool integer;
    if (w->first.type != DOC_STRING)
        return "a number in quotes is expected";
    const char *text = doc_string(&w->first, &size);
    if (json_scan_number(text, text + size, &integer) != text + size || !integer)
        return "use a whole number";
    if (!json_parse_integer(text, size, &number) || number < least || number > most)
        return "use a number within the range of the type";
    return put_number(w, (uint64_t)number, bytes);
}

/* make_int -- {"$numberInt": "…"}. */
static const char *make_int(wrapped *w) {
    return whole_number(w, INT32_MIN, INT32_MAX, 4);
}

/* make_long -- {"$numberLong": "…"}. */
static const char *make_long(wrapped *w) {
    return whole_number(w, INT64_MIN, INT64_MAX, 8);
}

/* make_double -- {"$numberDouble": "…"}, a number or one of three words. */
static const char *make_double(wrapped *w) {
    size_t size;
    double number;
    bool integer;
    if (w->first.type != DOC_STRING)
        return "a number in quotes is expected";
    const char *text = doc_string(&w->first, &size);
    if (size == 3 && memcmp(text, "NaN", 3) == 0) {
        number = NAN;
    } else if (size == 8 && memcmp(text, "Infinity", 8) == 0) {
        number = INFINITY;
    } else if (size == 9 && memcmp(text, "-Infinity", 9) == 0) {
        number = -INFINITY;
    } else if (json_scan_number(text, text + size, &integer) != text + size) {
        return "use a number, NaN, Infinity or -Infinity";
    } else {
        switch (json_parse_double(text, size, &number)) {
        case JSON_DOUBLE_MEMORY: w->memory = true; return NULL;
        case JSON_DOUBLE_RANGE: return "use a number within the range of a double";
        case JSON_DOUBLE_OK: break;
        }
    }
    return put(w, &number, sizeof number);
}

/* make_decimal -- {"$numberDecimal": "…"}. */
static const char *make_decimal(wrapped *w) {
    size_t size;
    uint8_t bytes[16];
    if (w->first.type != DOC_STRING)
        return "a number in quotes is expected";
    const char *text = doc_string(&w->first, &size);
    if (!decimal_text_read(text, size, bytes))
        return "use a number that fits a decimal128";
    return put(w, bytes, sizeof bytes);
}

/* base64_digit -- its value, or -1. */
static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* put_base64 -- appends the bytes of base64 with padding. */
static bool put_base64(wrapped *w, const char *text, size_t size) {
    if (size % 4 != 0)
        return false;
    for (size_t i = 0; i < size; i += 4) {
        bool last = i + 4 == size;
        int padding = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        uint32_t bits = 0;
        for (int k = 0; k < 4; k++) {
            int digit = k < 4 - padding ? base64_digit(text[i + (size_t)k]) : 0;
            if (digit < 0)
                return false;
            bits = bits << 6 | (uint32_t)digit;
        }
        if ((padding == 1 && (bits & 0xFF) != 0) || (padding == 2 && (bits & 0xFFFF) != 0))
            return false;
        uint8_t bytes[3] = {(uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits};
        put(w, bytes, (size_t)(3 - padding));
    }
    return true;
}

/* put_binary -- appends a binary of a text in base64 and a subtype of hexadecimal digits. */
static const char *put_binary(wrapped *w, const doc_value *base64, uint8_t subtype) {
    size_t size;
    const char *text = doc_string(base64, &size);
    put_number(w, 0, 4);
    put(w, &subtype, 1);
    if (subtype == 2)
        put_number(w, 0, 4); /* the length a second time */
    if (!put_base64(w, text, size))
        return "use base64 with padding";
    if (!w->memory) {
        store_u32(w->value->data, (uint32_t)(w->value->size - 5));
        if (subtype == 2)
            store_u32(w->value->data + 5, (uint32_t)(w->value->size - 9));
    }
    return NULL;
}

/* read_subtype -- the subtype of a text of one or two hexadecimal digits. */
static bool read_subtype(const doc_value *value, uint8_t *subtype) {
    size_t size;
    const char *text = doc_string(value, &size);
    int high = size == 2 ? hex_digit(text[0]) : 0;
    int low = size == 1 || size == 2 ? hex_digit(text[size - 1]) : -1;
    if (high < 0 || low < 0)
        return false;
    *subtype = (uint8_t)(high << 4 | low);
    return true;
}

/* make_binary -- {"$binary": {"base64": "…", "subType": "00"}}. */
static const char *make_binary(wrapped *w) {
    static const char *const names[] = {"base64", "subType"};
    doc_value values[2];
    uint8_t subtype;
    if (!inner_members(w, names, 2, values) || values[0].type != DOC_STRING ||
        values[1].type != DOC_STRING)
        return "{\"base64\": \"…\", \"subType\": \"00\"} is expected";
    if (!read_subtype(&values[1], &subtype))
        return "use a subType of one or two hexadecimal digits";
    return put_binary(w, &values[0], subtype);
}

/* make_uuid -- {"$uuid": "8-4-4-4-12 digits"}: a binary of subtype 4. */
static const char *make_uuid(wrapped *w) {
    static const uint8_t head[] = {16, 0, 0, 0, 4};
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t size;
    if (w->first.type != DOC_STRING)
        return wants_text;
    const char *text = doc_string(&w->first, &size);
    if (size == 36) {
        put(w, head, sizeof head);
        for (size_t i = 0; i < 5; i++) {
            if (!put_hex(w, text, groups[i]) || (i < 4 && text[groups[i]] != '-'))
                break;
            if (i == 4)
                return NULL;
            text += groups[i] + 1;
        }
    }
    return "hexadecimal digits in groups of 8-4-4-4-12 are expected";
}

/* make_code -- {"$code": "…"} or {"$code": "…", "$scope": {…}}. */
static const char *make_code(wrapped *w) {
    static const char *const names[] = {"$code", "$scope"};
    doc_value values[2];
    if (members(w->doc, w->size, names, 1, values))
        return values[0].type == DOC_STRING ? put(w, values[0].data, values[0].size) : wants_text;
    if (!members(w->doc, w->size, names, 2, values) || values[0].type != DOC_STRING ||
        values[1].type != DOC_DOCUMENT)
        return "{\"$code\": \"…\"} or {\"$code\": \"…\", \"$scope\": {…}} is expected";
    put_number(w, 4 + (uint64_t)values[0].size + values[1].size, 4);
    put(w, values[0].data, values[0].size);
    return put(w, values[1].data, values[1].size);
}

/* put_unsigned -- appends a whole number of 32 bits without sign. */
static bool put_unsigned(wrapped *w, const doc_value *value) {
    int64_t number;
    if ((value->type != DOC_INT32 && value->type != DOC_INT64) || !doc_as_int64(value, &number) ||
        number < 0 || number > UINT32_MAX)
        return false;
    put_number(w, (uint64_t)number, 4);
    return true;
}

/* make_timestamp -- {"$timestamp": {"t": n, "i": n}}. */
static const char *make_timestamp(wrapped *w) {
    static const char *const names[] = {"t", "i"};
    doc_value values[2];
    return inner_members(w, names, 2, values) && put_unsigned(w, &values[1]) &&
                   put_unsigned(w, &values[0])
               ? NULL
               : "{\"t\": n, \"i\": n} with whole numbers of 32 bits is expected";
}

/* put_plain -- appends a text without NUL, and its terminator. */
static bool put_plain(wrapped *w, const doc_value *value) {
    size_t size;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : NULL;
    if (text == NULL || strlen(text) != size)
        return false;
    put(w, text, size + 1);
    return true;
}

/* put_regex -- appends a regular expression; false without two texts. */
static bool put_regex(wrapped *w, const doc_value *pattern, const doc_value *options) {
    if (!put_plain(w, pattern) || !put_plain(w, options))
        return false;
    size_t size = options->size - 5;
    if (!w->memory)
        json_sort_options((char *)w->value->data + w->value->size - size - 1, size);
    return true;
}

/* make_regex -- {"$regularExpression": {"pattern": "…", "options": "…"}}. */
static const char *make_regex(wrapped *w) {
    static const char *const names[] = {"pattern", "options"};
    doc_value values[2];
    return inner_members(w, names, 2, values) && put_regex(w, &values[0], &values[1])
               ? NULL
               : "{\"pattern\": \"…\", \"options\": \"…\"} without the character NUL is expected";
}

/* make_pointer -- {"$dbPointer": {"$ref": "…", "$id": {"$oid": "…"}}}. */
static const char *make_pointer(wrapped *w) {
    static const char *const names[] = {"$ref", "$id"};
    doc_value values[2];
    if (!inner_members(w, names, 2, values) || values[0].type != DOC_STRING ||
        values[1].type != DOC_OID)
        return "{\"$ref\": \"…\", \"$id\": {\"$oid\": \"…\"}} is expected";
    put(w, values[0].data, values[0].size);
    return put(w, values[1].data, values[1].size);
}

/* make_date -- {"$date": "2012-12-24T12:15:30.501Z"} or {"$date": {"$numberLong": "…"}}. */
static const char *make_date(wrapped *w) {
    size_t size;
    int64_t milliseconds;
    if (w->first.type == DOC_INT64 && w->braces)
        return put(w, w->first.data, 8);
    if (w->first.type == DOC_STRING) {
        const char *text = doc_string(&w->first, &size);
        if (json_parse_date(text, size, &milliseconds))
            return put_number(w, (uint64_t)milliseconds, 8);
    }
    return "a time such as \"2012-12-24T12:15:30.501Z\", or {\"$numberLong\": \"milliseconds\"}, "
           "is expected";
}

/* make_end -- {"$minKey": 1} or {"$maxKey": 1}. */
static const char *make_end(wrapped *w) {
    return w->first.type == DOC_INT32 && doc_int32(&w->first) == 1 ? NULL : "1 is expected";
}

/* make_undefined -- {"$undefined": true}. */
static const char *make_undefined(wrapped *w) {
    return w->first.type == DOC_BOOL && doc_bool(&w->first) ? NULL : "true is expected";
}

static const struct {
    const char *key;
    unwrapper make;
    uint8_t type;
    bool alone; /* it is the object's only key */
} wrappers[] = {
    {"$oid", make_oid, DOC_OID, true},
    {"$date", make_date, DOC_DATE, true},
    {"$numberLong", make_long, DOC_INT64, true},
    {"$numberInt", make_int, DOC_INT32, true},
    {"$numberDouble", make_double, DOC_DOUBLE, true},
    {"$numberDecimal", make_decimal, DOC_DECIMAL128, true},
    {"$binary", make_binary, DOC_BINARY, true},
    {"$uuid", make_uuid, DOC_BINARY, true},
    {"$regularExpression", make_regex, DOC_REGEX, true},
    {"$timestamp", make_timestamp, DOC_TIMESTAMP, true},
    {"$code", make_code, DOC_CODE, false},
    {"$scope", make_code, DOC_CODE, false},
    {"$symbol", make_text, DOC_SYMBOL, true},
    {"$dbPointer", make_pointer, DOC_DBPOINTER, true},
    {"$minKey", make_end, DOC_MIN_KEY, true},
    {"$maxKey", make_end, DOC_MAX_KEY, true},
    {"$undefined", make_undefined, DOC_UNDEFINED, true},
};

/* The keys of extended JSON v1 that are operators of the query language elsewhere. */
static const char *const v1_keys[] = {"$regex", "$options", "$type"};

/* unwrap_v1 -- makes the value of an object that has a form of extended JSON v1; false when it has
 * none. */
static bool unwrap_v1(wrapped *w, const char *key, uint8_t *type) {
    static const char *const date[] = {"$date"}, *const binary[] = {"$binary", "$type"},
                             *const regex[] = {"$regex", "$options"};
    doc_value values[2];
    int64_t number;
    uint8_t subtype;
    w->value->size = 0;
    if (strcmp(key, "$date") == 0) {
        *type = DOC_DATE;
        return !w->braces && members(w->doc, w->size, date, 1, values) &&
               (values[0].type == DOC_INT32 || values[0].type == DOC_INT64) &&
               doc_as_int64(&values[0], &number) && put_number(w, (uint64_t)number, 8) == NULL;
    }
    if (members(w->doc, w->size, binary, 2, values)) {
        *type = DOC_BINARY;
        if (values[0].type != DOC_STRING)
            return false;
        if (values[1].type == DOC_INT32 && doc_int32(&values[1]) >= 0 &&
            doc_int32(&values[1]) <= UINT8_MAX)
            subtype = (uint8_t)doc_int32(&values[1]);
        else if (values[1].type != DOC_STRING || !read_subtype(&values[1], &subtype))
            return false;
        return put_binary(w, &values[0], subtype) == NULL;
    }
    *type = DOC_REGEX;
    return members(w->doc, w->size, regex, 2, values) && put_regex(w, &values[0], &values[1]);
}

/* Options that are not ASCII are unknown, and their bytes must not be separated. */
void json_sort_options(char *options, size_t size) {
    size_t counts[128] = {0};
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)options[i] >= 128)
            return;
        counts[(unsigned char)options[i]]++;
    }
    for (size_t value = 0, at = 0; value < 128; value++)
        for (; counts[value] > 0; counts[value]--)
            options[at++] = (char)value;
}

bool json_is_wrapper(const char *key, size_t size, bool v1) {
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (strlen(wrappers[i].key) == size && memcmp(wrappers[i].key, key, size) == 0)
            return true;
    }
    for (size_t i = 0; v1 && i < sizeof v1_keys / sizeof *v1_keys; i++) {
        if (strlen(v1_keys[i]) == size && memcmp(v1_keys[i], key, size) == 0)
            return true;
    }
    return false;
}

const char *json_unwrap(const uint8_t *doc, size_t size, bool braces, bool v1, tansu_buffer *value,
                        uint8_t *type, bool *memory) {
    wrapped w = {.doc = doc, .size = size, .braces = braces, .value = value};
    doc_iter iter;
    size_t i = 0, count = sizeof wrappers / sizeof *wrappers;
    value->size = 0;
    if (!doc_iter_init(&iter, doc, size) || !doc_iter_next(&iter))
        return "a document is expected";
    w.first = iter.value;
    if (v1 && unwrap_v1(&w, iter.key, type)) {
        *memory = w.memory;
        return NULL;
    }
    while (i < count && strcmp(wrappers[i].key, iter.key) != 0)
        i++;
    value->size = 0;
    if (i == count) { /* of v1, and no value: a document */
        *type = DOC_DOCUMENT;
        *memory = w.memory || !buffer_append(value, doc, size);
        return NULL;
    }
    if (wrappers[i].alone && doc_iter_next(&iter))
        return "remove the other keys";
    const char *fault = wrappers[i].make(&w);
    *memory = w.memory;
    *type = wrappers[i].type;
    /* The size at the beginning of a code does not include itself, that of a code with scope
     * does. */
    if (fault == NULL && !w.memory && wrappers[i].make == make_code &&
        load_u32(value->data) == value->size)
        *type = DOC_CODE_SCOPE;
    return fault;
}
