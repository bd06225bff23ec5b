/*
 * support/random/random_bson.c -- random BSON.
 */
#include "support/random/random_bson.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* hostile_int64 -- a whole number, often next to a border. */
static int64_t hostile_int64(random_source *source) {
    static const int64_t borders[] = {0,
                                      1,
                                      INT32_MAX,
                                      INT64_C(1) << 53,
                                      INT64_C(1) << 54,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_C(1) << 62,
                                      100,
                                      INT64_C(1000000000000000000),
                                      10,
                                      4294967296,
                                      INT64_C(123456789),
                                      255};
    uint64_t number;
    switch (random_below(source, 4)) {
    case 0: number = (uint64_t)random_between(source, -3, 3); break;
    case 1: number = random_next(source) >> random_below(source, 64); break;
    default:
        number = (uint64_t)borders[random_below(source, sizeof borders / sizeof *borders)] +
                 (uint64_t)random_between(source, -2, 2);
    }
    return (int64_t)(random_chance(source, 30) ? 0 - number : number);
}

/* hostile_double -- a double, often next to a border. */
static double hostile_double(random_source *source) {
    static const double borders[] = {0.0,
                                     0.1,
                                     0.5,
                                     1.5,
                                     2.5,
                                     1e22,
                                     1e23,
                                     DBL_MAX,
                                     DBL_MIN,
                                     5e-324,
                                     0.3,
                                     1e-300,
                                     1e300,
                                     19.99,
                                     1e15,
                                     INFINITY,
                                     4.35e-10,
                                     1e18,
                                     0.000625,
                                     9007199254740992.0,
                                     1e-22,
                                     1e-23,
                                     9223372036854775808.0};
    double number;
    uint64_t bits;
    switch (random_below(source, 4)) {
    case 0: number = (double)hostile_int64(source); break;
    case 1:
        bits = random_next(source);
        memcpy(&number, &bits, 8);
        break;
    case 2: number = (double)random_between(source, -1000, 1000) / 8; break;
    default: number = borders[random_below(source, sizeof borders / sizeof *borders)];
    }
    if (random_chance(source, 20))
        number = nextafter(number, random_chance(source, 50) ? INFINITY : -INFINITY);
    if (random_chance(source, 2))
        number = NAN;
    return random_chance(source, 25) ? -number : number;
}

/* append_decimal -- appends a decimal128: a number of another type exactly or nearly, a border, or
 * random bits. */
static void append_decimal(random_source *source, bson_t *doc, const char *key, int key_size) {
    static const char *const borders[] = {"NaN",
                                          "-NaN",
                                          "Infinity",
                                          "-Infinity",
                                          "0",
                                          "-0",
                                          "0E+6000",
                                          "0E-6176",
                                          "1E-6176",
                                          "-1E-6176",
                                          "9.999999999999999999999999999999999E+6144",
                                          "1.797693134862315708E+308",
                                          "1.7976931348623157081452742373170436E+308",
                                          "1.797693134862315707E+308",
                                          "1E+309",
                                          "4.940656458412465441765687928682214E-324",
                                          "4.940656458412465441765687928682213E-324",
                                          "1E-323",
                                          "1E-324",
                                          "1E-325",
                                          "2E-324",
                                          "0.1",
                                          "0.10000",
                                          "1E+2",
                                          "100",
                                          "1.0",
                                          "-1.00",
                                          "9007199254740993",
                                          "9007199254740992.5",
                                          "9007199254740992.000000000000000001",
                                          "9223372036854775807.5",
                                          "9223372036854775808",
                                          "-9223372036854775809",
                                          "0.5",
                                          "0.50",
                                          "0.1000000000000000055511151231257827",
                                          "0.1000000000000000055511151231257828",
                                          "19.99"};
    char text[80];
    bson_decimal128_t decimal;
    int64_t whole;
    switch (random_below(source, 6)) {
    case 0:
        snprintf(text, sizeof text, "%s",
                 borders[random_below(source, sizeof borders / sizeof *borders)]);
        break;
    case 1: { /* the same value as an integer, perhaps with another exponent */
        whole = hostile_int64(source);
        unsigned zeros = (unsigned)random_below(source, 10);
        if (random_chance(source, 50))
            snprintf(text, sizeof text, "%" PRId64 ".%.*s", whole, (int)zeros, "0000000000");
        else
            snprintf(text, sizeof text, "%" PRId64 "E%+d", whole,
                     (int)random_between(source, -20, 20));
        break;
    }
    case 2: /* next to an integer */
        snprintf(text, sizeof text, "%" PRId64 ".%" PRIu64, hostile_int64(source),
                 random_below(source, 3) * 5);
        break;
    case 3: /* a double's beginning: a little below or above it, or itself */
        snprintf(text, sizeof text, "%.*e", (int)random_below(source, 34), hostile_double(source));
        break;
    case 4: snprintf(text, sizeof text, "%.17g", hostile_double(source)); break;
    default:
        decimal.low = random_next(source) >> random_below(source, 64);
        decimal.high = random_next(source);
        if (random_chance(source, 70)) /* in bounds, near a double's range */
            decimal.high = (random_next(source) & UINT64_C(0x80001FFFFFFFFFFF)) |
                           (uint64_t)(6176 + random_between(source, -380, 320)) << 49;
        bson_append_decimal128(doc, key, key_size, &decimal);
        return;
    }
    if (!bson_decimal128_from_string(text, &decimal)) {
        decimal.high = UINT64_C(6176) << 49;
        decimal.low = random_below(source, 1000);
    }
    bson_append_decimal128(doc, key, key_size, &decimal);
}

/* random_append_number -- appends a number of any type. */
void random_append_number(random_source *source, bson_t *doc, const char *key, int key_size) {
    switch (random_below(source, 4)) {
    case 0: bson_append_int32(doc, key, key_size, (int32_t)hostile_int64(source)); break;
    case 1: bson_append_int64(doc, key, key_size, hostile_int64(source)); break;
    case 2: bson_append_double(doc, key, key_size, hostile_double(source)); break;
    default: append_decimal(source, doc, key, key_size);
    }
}

/* random_text -- writes a random text. */
size_t random_text(random_source *source, char *text, size_t most) {
    static const char *const characters[] = {"a", "b", "a",  "A",    " ",
                                             "é", "ß", "漢", "𝄞",    "\x7F",
                                             "z", "0", ".",  "\x01", "\xEF\xBF\xBF"};
    size_t size = 0;
    for (uint64_t left = random_below(source, most + 1); left > 0; left--) {
        if (random_chance(source, 5)) {
            text[size++] = '\0';
            continue;
        }
        const char *character =
            characters[random_below(source, sizeof characters / sizeof *characters)];
        memcpy(text + size, character, strlen(character));
        size += strlen(character);
    }
    text[size] = '\0';
    return size;
}

/* append_text -- appends a string, symbol or code. */
static void append_text(random_source *source, bson_t *doc, const char *key, int key_size) {
    char text[4 * 12 + 1];
    size_t size = random_text(source, text, random_chance(source, 80) ? 3 : 12);
    switch (random_below(source, 6)) {
    case 0: bson_append_symbol(doc, key, key_size, text, (int)size); break;
    case 1: bson_append_code(doc, key, key_size, text); break;
    default: bson_append_utf8(doc, key, key_size, text, (int)size);
    }
}

/* append_rare -- appends a value of the kinds that few documents have. */
static void append_rare(random_source *source, bson_t *doc, const char *key, int key_size,
                        int depth) {
    static const char *const patterns[] = {"", "a", "^a", "ä", "b*"};
    static const char *const options[] = {"", "i", "im"};
    static const bson_subtype_t subtypes[] = {BSON_SUBTYPE_BINARY, BSON_SUBTYPE_BINARY_DEPRECATED,
                                              BSON_SUBTYPE_UUID, BSON_SUBTYPE_USER};
    uint8_t bytes[12];
    bson_oid_t oid;
    memset(bytes, (int)random_below(source, 3) * 0x7F, sizeof bytes);
    bytes[11] = (uint8_t)random_below(source, 3);
    bson_oid_init_from_data(&oid, bytes);
    switch (random_below(source, 10)) {
    case 0:
        bson_append_regex(doc, key, key_size, patterns[random_below(source, 5)],
                          options[random_below(source, 3)]);
        break;
    case 1:
        bson_append_dbpointer(doc, key, key_size, patterns[random_below(source, 5)], &oid);
        break;
    case 2: {
        bson_t scope = BSON_INITIALIZER;
        random_append_fields(source, &scope, depth > 0 ? 2 : 0, depth - 1);
        bson_append_code_with_scope(doc, key, key_size, patterns[random_below(source, 5)], &scope);
        bson_destroy(&scope);
        break;
    }
    case 3: bson_append_undefined(doc, key, key_size); break;
    case 4: bson_append_minkey(doc, key, key_size); break;
    case 5: bson_append_maxkey(doc, key, key_size); break;
    case 6:
        bson_append_timestamp(doc, key, key_size, (uint32_t)random_between(source, -1, 1),
                              (uint32_t)random_between(source, -1, 1));
        break;
    case 7:
        bson_append_binary(doc, key, key_size, subtypes[random_below(source, 4)], bytes + 10,
                           (uint32_t)random_below(source, 3));
        break;
    case 8: bson_append_date_time(doc, key, key_size, random_between(source, -2, 2)); break;
    default: bson_append_oid(doc, key, key_size, &oid);
    }
}

/* random_append_value -- appends a value of any kind. */
void random_append_value(random_source *source, bson_t *doc, const char *key, int key_size,
                         int depth) {
    bson_t inner;
    switch (random_below(source, depth > 0 ? 11 : 7)) {
    case 0:
    case 1: random_append_number(source, doc, key, key_size); break;
    case 2: append_text(source, doc, key, key_size); break;
    case 3: append_rare(source, doc, key, key_size, depth); break;
    case 4: bson_append_bool(doc, key, key_size, random_chance(source, 50)); break;
    case 5: bson_append_int32(doc, key, key_size, (int32_t)random_below(source, 3)); break;
    case 6: bson_append_null(doc, key, key_size); break;
    case 7:
    case 8:
        bson_append_document_begin(doc, key, key_size, &inner);
        random_append_fields(source, &inner, 4, depth - 1);
        bson_append_document_end(doc, &inner);
        break;
    default: {
        uint64_t count = random_below(source, 5);
        bson_append_array_begin(doc, key, key_size, &inner);
        for (uint32_t i = 0; i < count; i++) {
            char name[16];
            int size = snprintf(name, sizeof name, "%u", (unsigned)i);
            random_append_value(source, &inner, name, size, depth - 1);
        }
        bson_append_array_end(doc, &inner);
    }
    }
}

/* random_append_fields -- appends fields with different names. */
void random_append_fields(random_source *source, bson_t *doc, unsigned most, int depth) {
    static const char *const names[] = {"a",  "b", "c",    "aa",           "0",
                                        "1",  "",  "é",    "a long name",  "a.b",
                                        "漢", "d", "city", "another name", "name"};
    const unsigned count = sizeof names / sizeof *names;
    unsigned start = (unsigned)random_below(source, random_chance(source, 60) ? 3 : count);
    unsigned step = random_chance(source, 70) ? 1 : 2; /* both prime to the count: no name twice */
    uint64_t fields = random_below(source, (uint64_t)most + 1);
    for (unsigned i = 0; i < fields && i < count; i++) {
        const char *name = names[(start + i * step) % count];
        random_append_value(source, doc, name, (int)strlen(name), depth);
    }
}

/* random_document -- a new document that may be stored. */
bson_t *random_document(random_source *source) {
    bson_t *doc = bson_new();
    random_append_fields(source, doc, 8, 4);
    return doc;
}
