/*
 * query/expression/operators_string.c -- strings: their lengths, parts, places of parts, case,
 * and replacing.
 *
 * Positions are bytes or code points. Strings are valid UTF-8.
 */
#include "query/expression/date_text.h"
#include "query/expression/expression_internal.h"
#include "query/expression/number_text.h"

#include "bson/calendar.h"
#include "bson/decimal_text.h"
#include "bson/number.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

/* Text in place. */
typedef struct text_view {
    const char *at;
    size_t size;
} text_view;

/* string_of -- the text of a value that must be a string. `what` for errors. */
static tansu_status string_of(evaluation *ev, const expression *e, const doc_value *value,
                              const char *what, text_view *t) {
    if (value->type != DOC_STRING)
        return evaluation_error(ev, e, "Type of the %s is \"%s\"; it must be \"string\"", what,
                                type_name(value));
    t->at = doc_string(value, &t->size);
    return evaluation_step(ev, 1 + t->size / 64);
}

/* is_continuation -- whether a byte is one of a character's, but not its first. */
static bool is_continuation(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* character_size -- the size of the character whose first byte is at a place of a text. */
static size_t character_size(const text_view *t, size_t at) {
    size_t end = at + 1;
    while (end < t->size && is_continuation(t->at[end]))
        end++;
    return end - at;
}

/* count_characters -- the number of code points of a text. */
static size_t count_characters(const text_view *t) {
    size_t count = 0;
    for (size_t i = 0; i < t->size; i++)
        count += !is_continuation(t->at[i]);
    return count;
}

/* find -- the place of a text in another one, from a place on; false when there is none. */
static bool find(const text_view *t, size_t from, const text_view *part, size_t *place) {
    if (part->size > t->size || from > t->size - part->size)
        return false;
    if (part->size == 0) {
        *place = from;
        return true;
    }
    /* memmem() is linear. A loop of memchr() and memcmp() is not: "aaaab" in a text of "a". */
    const char *at = memmem(t->at + from, t->size - from, part->at, part->size);
    *place = at ? (size_t)(at - t->at) : 0;
    return at != NULL;
}

/* find_cost -- the steps that one search may take. */
static uint64_t find_cost(const text_view *t, const text_view *part) {
    return 1 + (t->size + part->size) / 64;
}

/* string_room -- a string of `size` bytes, which are to be written; NULL when there is no memory for
 * it. */
static char *string_room(evaluation *ev, size_t size, doc_value *result) {
    uint8_t *bytes = size < INT32_MAX - 5 ? arena_alloc(&ev->memory, size + 5) : NULL;
    if (!bytes)
        return NULL;
    store_u32(bytes, (uint32_t)size + 1);
    *result = (doc_value){bytes, (uint32_t)size + 5, DOC_STRING};
    return (char *)bytes + 4;
}

/* ---- Values as strings ---- */

#define COERCED_SIZE 64

/* write_timestamp -- "Jan  1 00:00:00:42": the month, day and time in UTC, and the increment. */
static size_t write_timestamp(const doc_value *value, char buffer[COERCED_SIZE]) {
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    uint32_t seconds = load_u32(value->data + 4), increment = load_u32(value->data);
    calendar_date date = calendar_date_of(seconds / 86400);
    return (size_t)snprintf(buffer, COERCED_SIZE, "%s %2d %02u:%02u:%02u:%u",
                            months[date.month - 1], date.day, (unsigned)(seconds / 3600 % 24),
                            (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
                            (unsigned)increment);
}

/* coerce -- the text of a string, a number, a date or a timestamp; null has an empty one. `buffer`
 * may hold it. */
static tansu_status coerce(evaluation *ev, const expression *e, const doc_value *value,
                           char buffer[COERCED_SIZE], text_view *t) {
    tansu_status status = TANSU_OK;
    *t = (text_view){buffer, 0};
    switch (value->type) {
    case DOC_MISSING:
    case DOC_NULL:
    case DOC_UNDEFINED: break;
    case DOC_STRING:
    case DOC_SYMBOL:
    case DOC_CODE:
        t->at = doc_string(value, &t->size);
        status = evaluation_step(ev, 1 + t->size / 64);
        break;
    case DOC_DOUBLE: t->size = number_text_short(doc_double(value), buffer); break;
    case DOC_INT32: t->size = number_text_integer(doc_int32(value), buffer); break;
    case DOC_INT64: t->size = number_text_integer(doc_int64(value), buffer); break;
    case DOC_DECIMAL128:
        decimal_text_write(value->data, buffer);
        t->size = strlen(buffer);
        break;
    case DOC_DATE:
        status = date_text_write(ev, e, doc_int64(value), buffer);
        t->size = DATE_TEXT_SIZE - 1;
        break;
    case DOC_TIMESTAMP: t->size = write_timestamp(value, buffer); break;
    default:
        return evaluation_error(ev, e,
                                "Value of type \"%s\" has no text; give a string, a number or a "
                                "date",
                                type_name(value));
    }
    return status;
}

/* coerced_argument -- the same of an operand. */
static tansu_status coerced_argument(evaluation *ev, const expression *e, uint32_t i,
                                     char buffer[COERCED_SIZE], text_view *t) {
    doc_value value;
    tansu_status status = argument(ev, e, i, &value);
    return status == TANSU_OK ? coerce(ev, e, &value, buffer, t) : status;
}

/* ---- Case ---- */

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* change_case -- to upper case, or by the variant to lower case; ASCII letters only. */
static tansu_status change_case(evaluation *ev, const expression *e, doc_value *result) {
    char buffer[COERCED_SIZE];
    text_view t;
    tansu_status status = coerced_argument(ev, e, 0, buffer, &t);
    if (status != TANSU_OK)
        return status;
    char *to = string_room(ev, t.size, result);
    if (!to)
        return evaluation_too_large(ev, e);
    for (size_t i = 0; i < t.size; i++)
        to[i] = e->op->variant ? lower(t.at[i]) : upper(t.at[i]);
    return TANSU_OK;
}

/* compare_caseless -- the order of two texts whose ASCII letters are in upper case. */
static tansu_status compare_caseless(evaluation *ev, const expression *e, doc_value *result) {
    char buffers[2][COERCED_SIZE];
    text_view a, b;
    tansu_status status = coerced_argument(ev, e, 0, buffers[0], &a);
    if (status == TANSU_OK)
        status = coerced_argument(ev, e, 1, buffers[1], &b);
    if (status != TANSU_OK)
        return status;
    size_t common = a.size < b.size ? a.size : b.size;
    int order = (a.size > b.size) - (a.size < b.size);
    for (size_t i = 0; i < common; i++) {
        unsigned char x = (unsigned char)upper(a.at[i]), y = (unsigned char)upper(b.at[i]);
        if (x != y) {
            order = x > y ? 1 : -1;
            break;
        }
    }
    return result_int32(ev, order, result);
}

/* ---- Joining and splitting ---- */

static tansu_status concat(evaluation *ev, const expression *e, doc_value *result) {
    text_view *parts = arena_alloc(&ev->memory, e->count * sizeof *parts + 1);
    size_t size = 0;
    if (!parts)
        return evaluation_too_large(ev, e);
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value value;
        tansu_status status = argument(ev, e, i, &value);
        if (status == TANSU_OK && is_nullish(&value))
            return result_null(result);
        if (status == TANSU_OK)
            status = string_of(ev, e, &value, "operand", &parts[i]);
        if (status != TANSU_OK)
            return status;
        size += parts[i].size;
    }
    char *to = string_room(ev, size, result);
    if (!to)
        return evaluation_too_large(ev, e);
    for (uint32_t i = 0; i < e->count; i++) {
        memcpy(to, parts[i].at, parts[i].size);
        to += parts[i].size;
    }
    return TANSU_OK;
}

/* add_text -- adds a string to an array that is being built. */
static tansu_status add_text(evaluation *ev, build *b, const char *at, size_t size) {
    writer_index_head(&b->w, DOC_STRING, b->count++);
    size_t start = writer_begin_string(&b->w);
    writer_bytes(&b->w, at, size);
    writer_end_string(&b->w, start);
    return evaluation_step(ev, 1);
}

static tansu_status split(evaluation *ev, const expression *e, doc_value *result) {
    doc_value values[2];
    text_view t, separator;
    tansu_status status = argument(ev, e, 0, &values[0]);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &values[1]);
    if (status == TANSU_OK && (is_nullish(&values[0]) || is_nullish(&values[1])))
        return result_null(result);
    if (status == TANSU_OK)
        status = string_of(ev, e, &values[0], "first operand", &t);
    if (status == TANSU_OK)
        status = string_of(ev, e, &values[1], "separator", &separator);
    if (status != TANSU_OK)
        return status;
    if (separator.size == 0)
        return evaluation_error(ev, e, "Separator is empty; give a text of one character or more");
    status = evaluation_step(ev, find_cost(&t, &separator));
    size_t from = 0, place;
    build b;
    build_begin(ev, &b);
    while (status == TANSU_OK && find(&t, from, &separator, &place)) {
        status = add_text(ev, &b, t.at + from, place - from);
        from = place + separator.size;
    }
    if (status == TANSU_OK)
        status = add_text(ev, &b, t.at + from, t.size - from);
    if (status == TANSU_OK)
        return build_end(ev, e, &b, DOC_ARRAY, result);
    build_cancel(ev, &b);
    return status;
}

/* ---- Lengths and parts ---- */

enum text_unit { UNIT_BYTES, UNIT_CHARACTERS };

static tansu_status length(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    text_view t = {0};
    tansu_status status = argument(ev, e, 0, &value);
    if (status == TANSU_OK)
        status = string_of(ev, e, &value, "operand", &t);
    if (status != TANSU_OK)
        return status;
    return result_int32(ev, (int32_t)(e->op->variant == UNIT_BYTES ? t.size : count_characters(&t)),
                        result);
}

/* position -- a number of bytes: a double without its fraction, a decimal rounded; INT64_MIN for a
 * decimal that is too large. */
static tansu_status position(evaluation *ev, const expression *e, uint32_t i, const char *what,
                             int64_t *number) {
    doc_value value;
    tansu_status status = argument(ev, e, i, &value);
    if (status != TANSU_OK)
        return status;
    if (!doc_is_number(&value))
        return evaluation_error(ev, e, "Type of the %s is \"%s\"; it must be a number", what,
                                type_name(&value));
    if (number_whole(&value, FRACTION_HALF_EVEN, number))
        return TANSU_OK;
    *number = INT64_MIN;
    return value.type == DOC_DECIMAL128
               ? TANSU_OK
               : evaluation_error(ev, e, "The %s is too large; it must be a whole number", what);
}

static tansu_status substring_bytes(evaluation *ev, const expression *e, doc_value *result) {
    char buffer[COERCED_SIZE];
    text_view t;
    int64_t start, count;
    tansu_status status = coerced_argument(ev, e, 0, buffer, &t);
    if (status == TANSU_OK)
        status = position(ev, e, 1, "start", &start);
    if (status == TANSU_OK)
        status = position(ev, e, 2, "length", &count);
    if (status != TANSU_OK)
        return status;
    if (start < 0)
        return evaluation_error(ev, e,
                                "Start %lld is negative; it is the number of bytes before "
                                "the part",
                                (long long)start);
    if ((uint64_t)start >= t.size)
        return result_string(ev, "", 0, result);
    size_t left = t.size - (size_t)start;
    size_t size = count < 0 || (uint64_t)count > left ? left : (size_t)count;
    if (is_continuation(t.at[start]) ||
        (size < left && is_continuation(t.at[start + (int64_t)size])))
        return evaluation_error(ev, e,
                                "Part of %lld bytes from byte %lld on begins or ends within "
                                "a character; use $substrCP",
                                (long long)size, (long long)start);
    return result_string(ev, t.at + start, size, result);
}

/* code_points -- a number of code points, which must be a whole int32 that is not negative. */
static tansu_status code_points(evaluation *ev, const expression *e, uint32_t i, const char *what,
                                int64_t *number) {
    doc_value value;
    tansu_status status = argument(ev, e, i, &value);
    if (status != TANSU_OK)
        return status;
    if (doc_is_number(&value) && doc_as_int64(&value, number) && *number >= 0 &&
        *number <= INT32_MAX)
        return TANSU_OK;
    return evaluation_error(ev, e, "The %s must be a whole number from 0 to 2147483647", what);
}

static tansu_status substring_characters(evaluation *ev, const expression *e, doc_value *result) {
    char buffer[COERCED_SIZE];
    text_view t;
    int64_t start, count;
    size_t from = 0;
    tansu_status status = coerced_argument(ev, e, 0, buffer, &t);
    if (status == TANSU_OK)
        status = code_points(ev, e, 1, "start", &start);
    if (status == TANSU_OK)
        status = code_points(ev, e, 2, "length", &count);
    if (status != TANSU_OK)
        return status;
    for (; start > 0 && from < t.size; start--)
        from += character_size(&t, from);
    size_t end = from;
    for (; count > 0 && end < t.size; count--)
        end += character_size(&t, end);
    return result_string(ev, t.at + from, end - from, result);
}

/* ---- Places ---- */

/* places -- the operands of $indexOfBytes and $indexOfCP: the texts, and the bounds, of which the
 * second one is INT32_MAX when it is not given. *missing: there is no text to search in. */
static tansu_status places(evaluation *ev, const expression *e, text_view *t, text_view *part,
                           int64_t *from, int64_t *to, bool *missing) {
    doc_value value;
    *from = 0;
    *to = INT32_MAX;
    tansu_status status = argument(ev, e, 0, &value);
    *missing = status == TANSU_OK && is_nullish(&value);
    if (status != TANSU_OK || *missing)
        return status;
    status = string_of(ev, e, &value, "first operand", t);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &value);
    if (status == TANSU_OK)
        status = string_of(ev, e, &value, "second operand", part);
    if (status == TANSU_OK && e->count > 2)
        status = code_points(ev, e, 2, "start", from);
    if (status == TANSU_OK && e->count > 3)
        status = code_points(ev, e, 3, "end", to);
    return status == TANSU_OK ? evaluation_step(ev, find_cost(t, part)) : status;
}

static tansu_status index_of_bytes(evaluation *ev, const expression *e, doc_value *result) {
    text_view t = {0}, part;
    int64_t from, to;
    bool missing;
    size_t place;
    tansu_status status = places(ev, e, &t, &part, &from, &to, &missing);
    if (status != TANSU_OK || missing)
        return missing ? result_null(result) : status;
    t.size = (uint64_t)to < t.size ? (size_t)to : t.size;
    bool found = from <= to && find(&t, (size_t)from, &part, &place);
    return result_int32(ev, found ? (int32_t)place : -1, result);
}

/* The part must begin before the end, and may extend beyond it. */
static tansu_status index_of_characters(evaluation *ev, const expression *e, doc_value *result) {
    text_view t = {0}, part;
    int64_t from, to, at = 0;
    bool missing;
    tansu_status status = places(ev, e, &t, &part, &from, &to, &missing);
    if (status != TANSU_OK || missing)
        return missing ? result_null(result) : status;
    if (t.size == 0 && part.size == 0)
        return result_int32(ev, 0, result);
    size_t byte = 0, place;
    for (; byte < t.size && at < from; at++)
        byte += character_size(&t, byte);
    if (!find(&t, byte, &part, &place) || place >= t.size)
        return result_int32(ev, -1, result);
    for (; byte < place; at++)
        byte += character_size(&t, byte);
    return result_int32(ev, at < to ? (int32_t)at : -1, result);
}

/* ---- Trimming ---- */

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

/* has_character -- whether one of a text's characters is this one. */
static bool has_character(const text_view *t, const char *character, size_t size) {
    for (size_t at = 0, own; at < t->size; at += own) {
        own = character_size(t, at);
        if (own == size && memcmp(t->at + at, character, size) == 0)
            return true;
    }
    return false;
}

static tansu_status trim(evaluation *ev, const expression *e, doc_value *result) {
    /* NUL and white space. */
    static const char white[] = "\0 \t\n\v\f\r\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
                                "\u2006\u2007\u2008\u2009\u200A";
    text_view t, characters = {white, sizeof white - 1};
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status == TANSU_OK && is_nullish(&value))
        return result_null(result);
    if (status == TANSU_OK)
        status = string_of(ev, e, &value, "\"input\"", &t);
    if (status == TANSU_OK && e->args[1]) {
        status = argument(ev, e, 1, &value);
        if (status == TANSU_OK && is_nullish(&value))
            return result_null(result);
        if (status == TANSU_OK)
            status = string_of(ev, e, &value, "\"chars\"", &characters);
    }
    size_t from = 0, end = status == TANSU_OK ? t.size : 0;
    while (status == TANSU_OK && (e->op->variant & TRIM_LEFT) && from < end) {
        size_t size = character_size(&t, from);
        if (!has_character(&characters, t.at + from, size))
            break;
        from += size;
        status = evaluation_step(ev, 1 + characters.size / 64);
    }
    while (status == TANSU_OK && (e->op->variant & TRIM_RIGHT) && from < end) {
        size_t first = end - 1;
        while (first > from && is_continuation(t.at[first]))
            first--;
        if (!has_character(&characters, t.at + first, end - first))
            break;
        end = first;
        status = evaluation_step(ev, 1 + characters.size / 64);
    }
    return status == TANSU_OK ? result_string(ev, t.at + from, end - from, result) : status;
}

/* ---- Replacing ---- */

/* next_place -- the next place of what is replaced; an empty text is before each character, and at
 * the end. */
static bool next_place(const text_view *t, size_t from, const text_view *part, size_t *place) {
    return from <= t->size && find(t, from, part, place);
}

/* after_place -- where the search goes on. */
static size_t after_place(const text_view *t, size_t place, const text_view *part) {
    if (part->size != 0)
        return place + part->size;
    return place < t->size ? place + character_size(t, place) : place + 1;
}

/* replace -- the first one or, by the variant, all. */
static tansu_status replace(evaluation *ev, const expression *e, doc_value *result) {
    static const char *const names[] = {"\"input\"", "\"find\"", "\"replacement\""};
    doc_value value;
    text_view texts[3] = {{NULL, 0}};
    bool null = false;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < 3; i++) {
        status = argument(ev, e, i, &value);
        if (status != TANSU_OK)
            break;
        if (is_nullish(&value))
            null = true;
        else
            status = string_of(ev, e, &value, names[i], &texts[i]);
    }
    if (status != TANSU_OK || null)
        return status == TANSU_OK ? result_null(result) : status;
    const text_view *t = &texts[0], *part = &texts[1], *by = &texts[2];
    bool all = e->op->variant != 0;
    uint64_t count = 0;
    size_t from = 0, place;
    status = evaluation_step(ev, find_cost(t, part));
    while (status == TANSU_OK && (all || count == 0) && next_place(t, from, part, &place)) {
        count++;
        from = after_place(t, place, part);
        status = evaluation_step(ev, 1 + by->size / 64);
    }
    if (status != TANSU_OK)
        return status;
    uint64_t size = t->size - count * part->size + count * by->size;
    char *to = size < INT32_MAX ? string_room(ev, (size_t)size, result) : NULL;
    if (!to) {
        ev->memory.full = ev->memory.full || size >= INT32_MAX;
        return evaluation_too_large(ev, e);
    }
    size_t copied = 0;
    for (from = 0; count > 0 && next_place(t, from, part, &place); count--) {
        memcpy(to, t->at + copied, place - copied);
        memcpy(to + (place - copied), by->at, by->size);
        to += place - copied + by->size;
        copied = place + part->size;
        from = after_place(t, place, part);
    }
    memcpy(to, t->at + copied, t->size - copied);
    return TANSU_OK;
}

const operator_info operators_string[] = {
    {.name = "$concat", .evaluate = concat, .max = ANY_COUNT},
    {.name = "$split", .evaluate = split, .min = 2, .max = 2},
    {.name = "$strLenBytes", .evaluate = length, .min = 1, .max = 1, .variant = UNIT_BYTES},
    {.name = "$strLenCP", .evaluate = length, .min = 1, .max = 1, .variant = UNIT_CHARACTERS},
    {.name = "$substr", .evaluate = substring_bytes, .min = 3, .max = 3},
    {.name = "$substrBytes", .evaluate = substring_bytes, .min = 3, .max = 3},
    {.name = "$substrCP", .evaluate = substring_characters, .min = 3, .max = 3},
    {.name = "$indexOfBytes", .evaluate = index_of_bytes, .min = 2, .max = 4},
    {.name = "$indexOfCP", .evaluate = index_of_characters, .min = 2, .max = 4},
    {.name = "$toLower", .evaluate = change_case, .min = 1, .max = 1, .variant = 1},
    {.name = "$toUpper", .evaluate = change_case, .min = 1, .max = 1, .variant = 0},
    {.name = "$strcasecmp", .evaluate = compare_caseless, .min = 2, .max = 2},
    {.name = "$trim", .evaluate = trim, .named = "input! chars", .variant = TRIM_LEFT | TRIM_RIGHT},
    {.name = "$ltrim", .evaluate = trim, .named = "input! chars", .variant = TRIM_LEFT},
    {.name = "$rtrim", .evaluate = trim, .named = "input! chars", .variant = TRIM_RIGHT},
    {.name = "$replaceOne", .evaluate = replace, .named = "input! find! replacement!"},
    {.name = "$replaceAll",
     .evaluate = replace,
     .named = "input! find! replacement!",
     .variant = 1},
    {.name = NULL},
};
