/*
 * support/random/random_operator.c -- random operands for each operator.
 */
#include "support/random/random_operator.h"

#include <stdio.h>

const char *random_short_text(random_source *r) {
    static const char *const texts[] = {"",    "a",   "ab",       "abc", "b",  "\xC3\xA4", "AB",
                                        "b a", "a,B", "\xC3\x84", "a10", "A9", "a010",     "bab"};
    return texts[random_below(r, sizeof texts / sizeof *texts)];
}

/* put_texts -- an array of one to three strings. */
static void put_texts(random_source *r, bson_t *doc, const char *key, bool words) {
    static const char *const tokens[] = {"a", "b", "ab", "B"};
    bson_t list;
    uint64_t count = 1 + random_below(r, 3);
    bson_append_array_begin(doc, key, -1, &list);
    for (uint64_t i = 0; i < count; i++) {
        char name[12];
        snprintf(name, sizeof name, "%d", (int)i);
        bson_append_utf8(&list, name, -1, words ? tokens[random_below(r, 4)] : random_short_text(r),
                         -1);
    }
    bson_append_array_end(doc, &list);
}

/* put_scalar -- a number or a string. */
static void put_scalar(random_source *r, bson_t *doc, const char *key) {
    if (random_chance(r, 50))
        bson_append_utf8(doc, key, -1, random_short_text(r), -1);
    else if (random_chance(r, 50))
        bson_append_double(doc, key, -1, (double)random_between(r, -4, 8) / 2);
    else
        bson_append_int32(doc, key, -1, (int32_t)random_between(r, -2, 4));
}

/* put_compare -- a comparison with a number or a string. */
static void put_compare(random_source *r, bson_t *doc) {
    static const char *const names[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"};
    put_scalar(r, doc, names[random_below(r, 6)]);
}

static const char *const patterns[] = {"^a",      "^ab?", "b$",   "a.*b", "^(a|b)+$", "^ab*c",
                                       "^a[0-9]", "^\\.", "a{2}", "",     "^ab+",     "^a$"};
#define PATTERNS (sizeof patterns / sizeof *patterns)

void random_regex_value(random_source *r, bson_t *doc, const char *key) {
    bson_append_regex(doc, key, -1, patterns[random_below(r, PATTERNS)],
                      random_chance(r, 25) ? "i" : "");
}

/* put_between -- two values of one kind. */
static void put_between(random_source *r, bson_t *doc) {
    bson_t list;
    bool texts = random_chance(r, 40);
    bson_append_array_begin(doc, "$bt", -1, &list);
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "0" : "1";
        if (texts)
            bson_append_utf8(&list, key, 1, random_short_text(r), -1);
        else
            bson_append_int32(&list, key, 1, (int32_t)random_between(r, -2, 4));
    }
    bson_append_array_end(doc, &list);
}

/* put_icase -- a string, or an operator on strings. */
static void put_icase(random_source *r, bson_t *doc) {
    static const char *const names[] = {"$eq",       "$ne", "$gt",  "$lte",   "$begin", "$contains",
                                        "$endsWith", "$in", "$nin", "$regex", "$stror"};
    bson_t inner;
    if (random_chance(r, 30)) {
        bson_append_utf8(doc, "$icase", -1, random_short_text(r), -1);
        return;
    }
    bson_append_document_begin(doc, "$icase", -1, &inner);
    uint64_t which = random_below(r, 11);
    if (which < 7)
        bson_append_utf8(&inner, names[which], -1, random_short_text(r), -1);
    else if (which == 9)
        bson_append_utf8(&inner, "$regex", -1, patterns[random_below(r, PATTERNS)], -1);
    else
        put_texts(r, &inner, names[which], which == 10);
    bson_append_document_end(doc, &inner);
}

/* put_inner -- the condition of $elemMatch and its like. */
static void put_inner(random_source *r, bson_t *doc, const char *key) {
    bson_t inner, deeper;
    bson_append_document_begin(doc, key, -1, &inner);
    switch (random_below(r, 6)) {
    case 0: /* fields */
    case 1: put_scalar(r, &inner, random_chance(r, 50) ? "a" : "b"); break;
    case 2:
        bson_append_document_begin(&inner, random_chance(r, 50) ? "a.b" : "c", -1, &deeper);
        put_compare(r, &deeper);
        bson_append_document_end(&inner, &deeper);
        break;
    case 3: /* two operators that one element must pass */
        bson_append_int32(&inner, "$gte", -1, (int32_t)random_between(r, -2, 2));
        bson_append_int32(&inner, "$lt", -1, (int32_t)random_between(r, 0, 5));
        break;
    case 4: random_operator(r, &inner, random_below(r, 6)); break;
    default: put_compare(r, &inner);
    }
    bson_append_document_end(doc, &inner);
}

/* put_all -- values, and conditions of elements. */
static void put_all(random_source *r, bson_t *doc) {
    bson_t list, one;
    uint64_t count = random_below(r, 3);
    bson_append_array_begin(doc, "$all", -1, &list);
    for (uint64_t i = 0; i < count; i++) {
        const char *key = i == 0 ? "0" : "1";
        if (random_chance(r, 75)) {
            put_scalar(r, &list, key);
            continue;
        }
        bson_append_document_begin(&list, key, 1, &one);
        put_inner(r, &one, "$elemMatch");
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(doc, &list);
}

/* put_type -- a name, a number, or several. */
static void put_type(random_source *r, bson_t *doc) {
    static const char *const names[] = {"string", "object", "array", "bool",
                                        "null",   "int",    "date",  "number"};
    bson_t list;
    if (random_chance(r, 30)) {
        bson_append_int32(doc, "$type", -1, (int32_t)random_between(r, 1, 19));
    } else if (random_chance(r, 60)) {
        bson_append_utf8(doc, "$type", -1, names[random_below(r, 8)], -1);
    } else {
        bson_append_array_begin(doc, "$type", -1, &list);
        bson_append_utf8(&list, "0", 1, names[random_below(r, 8)], -1);
        bson_append_int32(&list, "1", 1, 18);
        bson_append_array_end(doc, &list);
    }
}

/* put_mod -- [divisor, remainder]. */
static void put_mod(random_source *r, bson_t *doc) {
    bson_t list;
    bson_append_array_begin(doc, "$mod", -1, &list);
    bson_append_double(&list, "0", 1, (double)random_between(r, 4, 7) / 2);
    bson_append_double(&list, "1", 1, (double)random_between(r, -1, 1));
    bson_append_array_end(doc, &list);
}

/* put_bits -- a test of bits, by a number or by positions. */
static void put_bits(random_source *r, bson_t *doc) {
    static const char *const names[] = {"$bitsAllSet", "$bitsAnySet", "$bitsAllClear",
                                        "$bitsAnyClear"};
    static const char *const keys[] = {"0", "1", "2"};
    const char *name = names[random_below(r, 4)];
    bson_t list;
    if (random_chance(r, 50)) {
        bson_append_int64(doc, name, -1, random_between(r, 0, 9));
        return;
    }
    bson_append_array_begin(doc, name, -1, &list);
    uint64_t count = random_below(r, 4);
    for (uint64_t i = 0; i < count; i++)
        bson_append_int32(
            &list, keys[i], 1,
            (int32_t)(random_chance(r, 80) ? random_below(r, 4) : random_below(r, 99)));
    bson_append_array_end(doc, &list);
}

/* put_keys -- a condition on keys. */
static void put_keys(random_source *r, bson_t *doc) {
    static const char *const names[] = {"$eq", "$ne", "$gt", "$begin"};
    static const char *const keys[] = {"a", "b", "c", "B"};
    bson_t inner;
    bson_append_document_begin(doc, "$keyMapMatch", -1, &inner);
    bson_append_utf8(&inner, names[random_below(r, 4)], -1, keys[random_below(r, 4)], -1);
    bson_append_document_end(doc, &inner);
}

/* random_operator -- The first six ask one value. */
void random_operator(random_source *r, bson_t *doc, uint64_t which) {
    switch (which) {
    case 0: put_between(r, doc); break;
    case 1: bson_append_utf8(doc, "$endsWith", -1, random_short_text(r), -1); break;
    case 2: bson_append_utf8(doc, "$contains", -1, random_short_text(r), -1); break;
    case 3:
        bson_append_utf8(doc, "$regex", -1, patterns[random_below(r, PATTERNS)], -1);
        if (random_chance(r, 25))
            bson_append_utf8(doc, "$options", -1, "i", -1);
        break;
    case 4: put_type(r, doc); break;
    case 5: random_chance(r, 50) ? put_mod(r, doc) : put_bits(r, doc); break;
    case 6: put_texts(r, doc, "$stror", true); break;
    case 7: put_texts(r, doc, "$strand", true); break;
    case 8: put_all(r, doc); break;
    case 9: bson_append_int32(doc, "$size", -1, (int32_t)random_below(r, 4)); break;
    case 10: put_inner(r, doc, "$allMatch"); break;
    case 11: put_keys(r, doc); break;
    case 12: put_icase(r, doc); break;
    default: put_inner(r, doc, "$elemMatch");
    }
}

void random_collation(random_source *r, bson_t *hints) {
    bson_t inner;
    bson_append_document_begin(hints, "$collation", -1, &inner);
    bson_append_bool(&inner, "caseInsensitive", -1, random_chance(r, 70));
    bson_append_bool(&inner, "numeric", -1, random_chance(r, 30));
    bson_append_document_end(hints, &inner);
}
