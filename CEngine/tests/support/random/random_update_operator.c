/*
 * support/random/random_update_operator.c -- values, conditions, paths and operators. See
 * random_update.h.
 */
#include "support/check.h"
#include "support/random/random_bson.h"
#include "support/random/random_update.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* append_text_decimal -- one of the decimals of a list. */
static void append_text_decimal(random_source *r, bson_t *doc, const char *key,
                                const char *const *texts, unsigned count) {
    bson_decimal128_t decimal;
    REQUIRE(bson_decimal128_from_string(texts[random_below(r, count)], &decimal));
    bson_append_decimal128(doc, key, -1, &decimal);
}

/* append_long_decimal -- one with as many digits as there may be, or one that makes halves of
 * it. */
static void append_long_decimal(random_source *r, bson_t *doc, const char *key) {
    static const char *const texts[] = {"1234567890123456789012345678901234",
                                        "9999999999999999999999999999999999",
                                        "-9999999999999999999999999999999998",
                                        "1000000000000000000000000000000001",
                                        "0.5",
                                        "-0.5",
                                        "1.5",
                                        "0.05",
                                        "5E+33",
                                        "1E+34"};
    append_text_decimal(r, doc, key, texts, COUNT(texts));
}

/* index_key -- the key of an element. */
static const char *index_key(unsigned i, char text[12]) {
    snprintf(text, 12, "%u", i);
    return text;
}

/* append_decimal -- a small decimal that is exact as a double. */
static void append_decimal(random_source *r, bson_t *doc, const char *key) {
    static const char *const texts[] = {"0", "1", "1.0", "2.50", "-3", "0.5", "1E+1", "-0.25"};
    append_text_decimal(r, doc, key, texts, COUNT(texts));
}

const char *random_update_text(random_source *r) {
    static const char *const texts[] = {"x", "X", "yz", "Yz", "a9", "a10", "A9", ""};
    return texts[random_below(r, COUNT(texts))];
}

void random_update_scalar(random_source *r, bson_t *doc, const char *key) {
    int64_t number = random_between(r, -3, 6);
    bson_oid_t oid;
    memset(oid.bytes, number > 1, sizeof oid.bytes);
    switch (random_below(r, 18)) {
    case 0: bson_append_int64(doc, key, -1, number); break;
    case 1: bson_append_double(doc, key, -1, (double)number); break;
    case 2: bson_append_double(doc, key, -1, (double)number / 2); break;
    case 3:
    case 4:
    case 11: bson_append_utf8(doc, key, -1, random_update_text(r), -1); break;
    case 5: bson_append_null(doc, key, -1); break;
    case 6: bson_append_bool(doc, key, -1, number > 1); break;
    case 7:
        bson_append_int64(doc, key, -1, number > 1 ? INT64_MAX - number : INT64_MIN + (number & 1));
        break;
    case 8: bson_append_int32(doc, key, -1, number > 1 ? INT32_MAX : INT32_MIN); break;
    case 9: append_decimal(r, doc, key); break;
    case 10:
        if (number > 4)
            bson_append_oid(doc, key, -1, &oid);
        else if (number > 2)
            bson_append_timestamp(doc, key, -1, (uint32_t)number, 1);
        else if (number > 0)
            bson_append_binary(doc, key, -1, BSON_SUBTYPE_BINARY, oid.bytes, (uint32_t)number);
        else
            bson_append_date_time(doc, key, -1, number);
        break;
    default: bson_append_int32(doc, key, -1, (int32_t)number); break;
    }
}

void random_update_value(random_source *r, bson_t *doc, const char *key, unsigned depth) {
    static const char *const names[] = {"a", "b", "c", "0"};
    bson_t inner;
    char number[12];
    uint64_t kind = depth == 0 ? 9 : random_below(r, 10);
    if (kind < 3) {
        unsigned from = (unsigned)random_below(r, 3);
        bson_append_document_begin(doc, key, -1, &inner);
        for (unsigned i = from; i < 4 && i < from + 2; i++)
            random_update_value(r, &inner, names[i], depth - 1);
        bson_append_document_end(doc, &inner);
    } else if (kind < 7) {
        unsigned count = (unsigned)random_below(r, 4);
        bson_append_array_begin(doc, key, -1, &inner);
        for (unsigned i = 0; i < count; i++)
            random_update_value(r, &inner, index_key(i, number), depth - 1);
        bson_append_array_end(doc, &inner);
    } else {
        random_update_scalar(r, doc, key);
    }
}

void random_update_list(random_source *r, bson_t *doc, const char *key) {
    bson_t list;
    char number[12];
    unsigned count = (unsigned)random_below(r, random_chance(r, 15) ? 8 : 3);
    bson_append_array_begin(doc, key, -1, &list);
    for (unsigned i = 0; i < count; i++)
        random_update_value(r, &list, index_key(i, number), 1);
    bson_append_array_end(doc, &list);
}

/* append_operators -- {$gt: …} and its like. */
static void append_operators(random_source *r, bson_t *doc, const char *key) {
    static const char *const names[] = {"$gt", "$gte", "$lt", "$lte", "$eq", "$ne"};
    static const char *const types[] = {"number", "string", "object", "array", "null", "bool"};
    bson_t inner, list;
    bson_append_document_begin(doc, key, -1, &inner);
    switch (random_below(r, 8)) {
    case 0:
        bson_append_array_begin(&inner, random_chance(r, 60) ? "$in" : "$nin", -1, &list);
        random_update_scalar(r, &list, "0");
        random_update_scalar(r, &list, "1");
        bson_append_array_end(&inner, &list);
        break;
    case 1: bson_append_utf8(&inner, "$type", -1, types[random_below(r, COUNT(types))], -1); break;
    case 2: bson_append_utf8(&inner, "$begin", -1, random_chance(r, 50) ? "a" : "x", -1); break;
    case 3:
        bson_append_int32(&inner, "$gte", -1, (int32_t)random_between(r, -3, 2));
        bson_append_int32(&inner, "$lt", -1, (int32_t)random_between(r, 0, 6));
        break;
    default: random_update_scalar(r, &inner, names[random_below(r, COUNT(names))]);
    }
    bson_append_document_end(doc, &inner);
}

void random_update_condition(random_source *r, bson_t *doc, const char *key) {
    if (random_chance(r, 50))
        append_operators(r, doc, key);
    else
        random_update_scalar(r, doc, key);
}

void random_update_filter(random_source *r, bson_t *doc, const char *key) {
    bson_t inner;
    if (random_chance(r, 85)) {
        random_update_condition(r, doc, key);
        return;
    }
    bson_append_document_begin(doc, key, -1, &inner);
    random_update_scalar(r, &inner, random_chance(r, 50) ? "a" : "b");
    bson_append_document_end(doc, &inner);
}

const char *random_update_path(random_source *r, char text[80]) {
    static const char *const first[] = {"a", "b", "c", "d", "e", "f", "a", "b", "s", "k", "x\\.y"};
    static const char *const next[] = {"a", "b", "c", "0", "1", "2", "4", "u"};
    snprintf(text, 80, "%s", first[random_below(r, COUNT(first))]);
    for (uint64_t more = random_below(r, 5); more > 2; more -= 2) {
        strcat(text, ".");
        strcat(text, next[random_below(r, COUNT(next))]);
    }
    return text;
}

/* append_each -- {$each: […]} and perhaps more. */
static void append_each(random_source *r, bson_t *doc, const char *key, bool push) {
    bson_t inner, paths;
    bson_append_document_begin(doc, key, -1, &inner);
    random_update_list(r, &inner, "$each");
    if (push && random_chance(r, 40))
        bson_append_int32(&inner, "$position", -1, (int32_t)random_between(r, -3, 3));
    if (push && random_chance(r, 40))
        bson_append_int64(&inner, "$slice", -1, random_between(r, -3, 3));
    if (push && random_chance(r, 20)) {
        bson_append_int32(&inner, "$sort", -1, random_chance(r, 50) ? 1 : -1);
    } else if (push && random_chance(r, 20)) {
        bson_append_document_begin(&inner, "$sort", -1, &paths);
        bson_append_int32(&paths, random_chance(r, 50) ? "a" : "b", -1,
                          random_chance(r, 50) ? 1 : -1);
        bson_append_int32(&paths, random_chance(r, 50) ? "c" : "b.0", -1, 1);
        bson_append_document_end(&inner, &paths);
    }
    if (random_chance(r, 2))
        bson_append_int32(&inner, "$upto", -1, 1);
    bson_append_document_end(doc, &inner);
}

/* append_bits -- of $bit. */
static void append_bits(random_source *r, bson_t *doc, const char *key) {
    static const char *const ways[] = {"and", "or", "xor"};
    bson_t inner;
    unsigned first = (unsigned)random_below(r, 3);
    bson_append_document_begin(doc, key, -1, &inner);
    if (random_chance(r, 20))
        bson_append_int64(&inner, ways[first], -1, (int64_t)random_next(r));
    else
        bson_append_int32(&inner, ways[first], -1, (int32_t)random_between(r, -2, 7));
    if (random_chance(r, 20))
        bson_append_int32(&inner, ways[(first + 1) % 3], -1, (int32_t)random_below(r, 8));
    bson_append_document_end(doc, &inner);
}

/* append_pull -- a value, operators on elements, or a query of their fields. */
static void append_pull(random_source *r, bson_t *doc, const char *key) {
    bson_t inner;
    switch (random_below(r, 5)) {
    case 0: append_operators(r, doc, key); break;
    case 1:
        bson_append_document_begin(doc, key, -1, &inner);
        random_update_filter(r, &inner, random_chance(r, 60) ? "a" : "b");
        if (random_chance(r, 30))
            random_update_filter(r, &inner, "c");
        bson_append_document_end(doc, &inner);
        break;
    case 2: random_update_list(r, doc, key); break;
    default: random_update_scalar(r, doc, key);
    }
}

/* append_operand -- what suits an operator. */
static void append_operand(random_source *r, bson_t *doc, const char *name, const char *path) {
    char to[80];
    bson_t inner;
    if (random_chance(r, 1) && path[0] != 'n') {
        random_update_scalar(r, doc, path);
    } else if (path[0] == 'n' && strcmp(name, "$bit") != 0 && random_chance(r, 25)) {
        append_long_decimal(r, doc, path);
    } else if (path[0] == 'n' && strcmp(name, "$bit") != 0) {
        random_append_number(r, doc, path, -1);
    } else if (strcmp(name, "$inc") == 0 || strcmp(name, "$mul") == 0) {
        switch (random_below(r, 8)) {
        case 0: bson_append_double(doc, path, -1, (double)random_between(r, -3, 3) / 2); break;
        case 1: bson_append_int64(doc, path, -1, random_between(r, -3, 3)); break;
        case 2: append_decimal(r, doc, path); break;
        default: bson_append_int32(doc, path, -1, (int32_t)random_between(r, -3, 3));
        }
    } else if (strcmp(name, "$rename") == 0) {
        bson_append_utf8(doc, path, -1, random_update_path(r, to), -1);
    } else if (strcmp(name, "$pop") == 0) {
        bson_append_int32(doc, path, -1, random_chance(r, 50) ? 1 : -1);
    } else if (strcmp(name, "$bit") == 0) {
        append_bits(r, doc, path);
    } else if (strcmp(name, "$currentDate") == 0) {
        if (random_chance(r, 50)) {
            bson_append_bool(doc, path, -1, true);
            return;
        }
        bson_append_document_begin(doc, path, -1, &inner);
        bson_append_utf8(&inner, "$type", -1, random_chance(r, 50) ? "date" : "timestamp", -1);
        bson_append_document_end(doc, &inner);
    } else if (strcmp(name, "$pullAll") == 0 || strcmp(name, "$pushAll") == 0 ||
               strcmp(name, "$addToSetAll") == 0) {
        random_update_list(r, doc, path);
    } else if (strcmp(name, "$pull") == 0) {
        append_pull(r, doc, path);
    } else if ((strcmp(name, "$push") == 0 || strcmp(name, "$addToSet") == 0) &&
               random_chance(r, 60)) {
        append_each(r, doc, path, name[1] == 'p');
    } else {
        random_update_value(r, doc, path, 2);
    }
}

/* is_among -- whether a list of names has this one. */
static bool is_among(const char *name, const char *const *names, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* operator_path -- where an operator is to be: often where documents have what it is for. */
static void operator_path(random_source *r, const char *name, char path[80]) {
    static const char *const of_numbers[] = {"$inc", "$mul", "$min",  "$max",
                                             "$bit", "$set", "$unset"};
    static const char *const of_arrays[] = {"$push", "$pushAll", "$addToSet", "$addToSetAll",
                                            "$pull", "$pullAll", "$pop"};
    random_update_path(r, path);
    if (is_among(name, of_numbers, COUNT(of_numbers)) && random_chance(r, 45))
        strcpy(path, random_chance(r, 60) ? "n" : "e");
    else if (is_among(name, of_arrays, COUNT(of_arrays)) && random_chance(r, 45))
        strcpy(path, "d");
    else if (random_chance(r, 10))
        strcpy(path, random_chance(r, 50) ? "u" : "k.u");
    else if (random_chance(r, 2))
        strcpy(path, "_id");
    else if (random_chance(r, 12) && strcmp(name, "$rename") != 0)
        strcat(path, random_chance(r, 50) ? ".$[]" : ".$[].a");
}

/* next_to -- a path that is in the way of another one, or might be. */
static void next_to(random_source *r, const char *other, char path[80]) {
    static const char *const parts[] = {"a", "0", "1", "$[]"};
    snprintf(path, 80, "%s", other);
    char *dot = strrchr(path, '.');
    if (random_chance(r, 30) || dot == NULL || dot == path || dot[-1] == '\\')
        snprintf(path + strlen(path), 80 - strlen(path), ".%s", parts[random_below(r, 4)]);
    else if (random_chance(r, 60))
        snprintf(dot, 80 - (size_t)(dot - path), ".%s", parts[random_below(r, 4)]);
    else
        *dot = '\0';
}

bson_t *random_update_operators(random_source *r, const char *place, bool timed) {
    static const char *const names[] = {
        "$set",    "$unset",   "$inc",         "$mul",         "$min",        "$max",
        "$rename", "$push",    "$addToSet",    "$pull",        "$pullAll",    "$pop",
        "$bit",    "$pushAll", "$addToSetAll", "$setOnInsert", "$currentDate"};
    bson_t *operations = bson_new(), inner;
    unsigned kinds = timed ? COUNT(names) : COUNT(names) - 1;
    uint64_t first = random_below(r, kinds);
    uint64_t count = 1 + random_below(r, 3) * random_below(r, 2);
    char last[80] = "";
    for (uint64_t i = 0; i < count; i++) {
        const char *name = names[(first + 5 * i) % kinds];
        char path[80];
        bson_append_document_begin(operations, name, -1, &inner);
        if (i == 0 && place != NULL && strcmp(name, "$rename") != 0) {
            snprintf(path, sizeof path, "%s%s", place,
                     random_chance(r, 50)   ? ""
                     : random_chance(r, 70) ? ".a"
                                            : ".b.$[]");
            append_operand(r, &inner, name, path);
            strcpy(last, path);
        }
        uint64_t more = i == 0 && place != NULL ? random_chance(r, 20) : 1 + random_chance(r, 30);
        for (; more > 0; more--) {
            operator_path(r, name, path);
            if (*last != '\0' && random_chance(r, 8) && strcmp(name, "$rename") != 0)
                next_to(r, last, path);
            strcpy(last, path);
            if (strncmp(name, "$currentDate", 12) != 0 || strpbrk(path, "us_") == NULL)
                append_operand(r, &inner, name, path);
        }
        bson_append_document_end(operations, &inner);
    }
    return operations;
}
