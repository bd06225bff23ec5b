/*
 * support/model/query_model_operators.c -- the model's operators on strings, arrays, types and
 * keys. Letter case is known of ASCII, of a umlaut and of sharp s: tests keep to them. Regular
 * expressions are POSIX's.
 */
#include "support/model/query_model_internal.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

model_mode model_now;

/* ---- Strings ---- */

/* folded -- a copy without regard to letter case. */
static char *folded(const char *text, size_t size, size_t *result_size) {
    char *out = bson_malloc(2 * size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i],
                      next = i + 1 < size ? (unsigned char)text[i + 1] : 0;
        if (c >= 'A' && c <= 'Z') {
            out[n++] = (char)(c + 32);
        } else if (c == 0xC3 && next == 0x84) {
            out[n++] = (char)0xC3;
            out[n++] = (char)0xA4;
            i++;
        } else if (c == 0xC3 && next == 0x9F) {
            out[n++] = 's';
            out[n++] = 's';
            i++;
        } else {
            out[n++] = text[i];
        }
    }
    out[n] = 0;
    *result_size = n;
    return out;
}

/* order_plain -- by bytes, or with runs of digits as numbers. */
static int order_plain(const char *a, size_t a_size, const char *b, size_t b_size, bool numeric) {
    size_t i = 0, j = 0;
    while (i < a_size && j < b_size) {
        if (numeric && strchr("0123456789", a[i]) && a[i] && strchr("0123456789", b[j]) && b[j]) {
            size_t x, y;
            while (i < a_size && a[i] == '0')
                i++;
            while (j < b_size && b[j] == '0')
                j++;
            for (x = i; x < a_size && a[x] >= '0' && a[x] <= '9';)
                x++;
            for (y = j; y < b_size && b[y] >= '0' && b[y] <= '9';)
                y++;
            if (x - i != y - j)
                return x - i < y - j ? -1 : 1;
            int order = memcmp(a + i, b + j, x - i);
            if (order != 0)
                return order;
            i = x;
            j = y;
            continue;
        }
        if (a[i] != b[j])
            return (unsigned char)a[i] < (unsigned char)b[j] ? -1 : 1;
        i++;
        j++;
    }
    return (int)(i < a_size) - (int)(j < b_size);
}

int model_order_texts(const char *a, size_t a_size, const char *b, size_t b_size) {
    if (!model_now.feed_model && !model_now.icase)
        return order_plain(a, a_size, b, b_size, model_now.numeric);
    char *x = folded(a, a_size, &a_size), *y = folded(b, b_size, &b_size);
    int order = order_plain(x, a_size, y, b_size, model_now.numeric);
    bson_free(x);
    bson_free(y);
    return order;
}

/* copy_text -- a string or symbol, folded inside $icase; NULL when the value is neither. */
static char *copy_text(const bson_iter_t *value) {
    const char *text;
    uint32_t size;
    size_t length;
    if (value && BSON_ITER_HOLDS_UTF8(value))
        text = bson_iter_utf8(value, &size);
    else if (value && BSON_ITER_HOLDS_SYMBOL(value))
        text = bson_iter_symbol(value, &size);
    else
        return NULL;
    return model_now.icase ? folded(text, size, &length) : bson_strndup(text, size);
}

/* has_word -- whether a text between blanks and commas is the word. */
static bool has_word(const char *text, const char *word) {
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        char after = at[strlen(word)];
        if ((at == text || strchr(" ,\t\n", at[-1])) && (after == 0 || strchr(" ,\t\n", after)))
            return true;
    }
    return false;
}

/* matches -- a POSIX regular expression. */
static bool matches(const char *text, const char *pattern, const char *options) {
    regex_t regex;
    int flags = REG_EXTENDED | REG_NOSUB;
    if (model_now.icase || (options && strchr(options, 'i')))
        flags |= REG_ICASE;
    if (regcomp(&regex, pattern, flags) != 0)
        abort();
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

/* text_passes -- an operator on strings with one operand. */
static bool text_passes(const char *text, const char *op, const char *part) {
    size_t size = strlen(text), part_size = strlen(part);
    if (strcmp(op, "$begin") == 0)
        return strncmp(text, part, part_size) == 0;
    if (strcmp(op, "$endsWith") == 0)
        return size >= part_size && strcmp(text + size - part_size, part) == 0;
    if (strcmp(op, "$contains") == 0)
        return strstr(text, part) != NULL;
    return has_word(text, part);
}

/* any_text -- with an operand, or any of several. */
static bool any_text(const bson_iter_t *value, const char *op, const bson_iter_t *operand) {
    bson_iter_t each;
    if (BSON_ITER_HOLDS_ARRAY(operand)) {
        bson_iter_recurse(operand, &each);
        while (bson_iter_next(&each)) {
            if (any_text(value, op, &each))
                return true;
        }
        return false;
    }
    char *text = copy_text(value), *part = copy_text(operand);
    bool result = text && text_passes(text, op, part);
    bson_free(text);
    bson_free(part);
    return result;
}

/* regex_passes -- $regex, or a value of that type. */
static bool regex_passes(const bson_iter_t *value, const bson_iter_t *operand) {
    const char *options = model_now.options, *pattern;
    uint32_t size;
    if (BSON_ITER_HOLDS_REGEX(operand))
        pattern = bson_iter_regex(operand, &options);
    else
        pattern = bson_iter_utf8(operand, &size);
    bool icase = model_now.icase;
    if (value && BSON_ITER_HOLDS_REGEX(value)) {
        const char *own;
        return !icase && strcmp(bson_iter_regex(value, &own), pattern) == 0 &&
               strcmp(own, options ? options : "") == 0;
    }
    model_now.icase = false;
    char *text = copy_text(value);
    model_now.icase = icase;
    bool result = text && matches(text, pattern, options);
    bson_free(text);
    return result;
}

/* ---- Elements and keys ---- */

/* asks_itself -- whether a condition is of operators. */
static bool asks_itself(const bson_iter_t *condition) {
    bson_iter_t first;
    if (!bson_iter_recurse(condition, &first) || !bson_iter_next(&first))
        return false;
    return bson_iter_key(&first)[0] == '$';
}

/* one_holds -- a condition of operators, on one value. */
static bool one_holds(const bson_iter_t *value, const bson_iter_t *condition) {
    bson_iter_t op;
    bson_iter_recurse(condition, &op);
    while (bson_iter_next(&op)) {
        const char *name = bson_iter_key(&op);
        bson_iter_t beside;
        bool result;
        if (strcmp(name, "$options") == 0)
            continue;
        bson_iter_recurse(condition, &beside);
        model_now.options =
            bson_iter_find(&beside, "$options") ? bson_iter_utf8(&beside, NULL) : NULL;
        if (strcmp(name, "$not") == 0)
            result = !one_holds(value, &op);
        else if (strcmp(name, "$ne") == 0)
            result = !model_passes(value, "$eq", &op);
        else if (strcmp(name, "$nin") == 0)
            result = !model_passes(value, "$in", &op);
        else
            result = model_passes(value, name, &op);
        if (!result)
            return false;
    }
    return true;
}

/* element_holds -- of operators or of fields. */
static bool element_holds(const bson_iter_t *value, const bson_iter_t *condition) {
    if (asks_itself(condition))
        return one_holds(value, condition);
    const uint8_t *data;
    uint32_t size;
    bson_t doc, selector;
    if (BSON_ITER_HOLDS_DOCUMENT(value))
        bson_iter_document(value, &size, &data);
    else if (BSON_ITER_HOLDS_ARRAY(value))
        bson_iter_array(value, &size, &data);
    else
        return false;
    bson_init_static(&doc, data, size);
    bson_iter_document(condition, &size, &data);
    bson_init_static(&selector, data, size);
    return model_matches(&doc, &selector);
}

/* elements_hold -- $elemMatch, $allMatch, $size. */
static bool elements_hold(const bson_iter_t *value, const char *op, const bson_iter_t *operand) {
    bson_iter_t each;
    int64_t count = 0, good = 0;
    if (!value || !BSON_ITER_HOLDS_ARRAY(value))
        return false;
    bson_iter_recurse(value, &each);
    for (; bson_iter_next(&each); count++)
        good += strcmp(op, "$size") != 0 && element_holds(&each, operand);
    if (strcmp(op, "$size") == 0)
        return count == bson_iter_as_int64(operand);
    return strcmp(op, "$elemMatch") == 0 ? good > 0 : count > 0 && good == count;
}

/* key_holds -- $keyMapMatch. */
static bool key_holds(const bson_iter_t *value, const bson_iter_t *operand) {
    bson_iter_t each, key;
    if (!value || !BSON_ITER_HOLDS_DOCUMENT(value))
        return false;
    bson_iter_recurse(value, &each);
    while (bson_iter_next(&each)) {
        bson_t holder = BSON_INITIALIZER;
        bson_append_utf8(&holder, "k", 1, bson_iter_key(&each), -1);
        bson_iter_init_find(&key, &holder, "k");
        bool result = one_holds(&key, operand);
        bson_destroy(&holder);
        if (result)
            return true;
    }
    return false;
}

/* ---- Types and numbers ---- */

/* is_type -- one name or number. */
static bool is_type(const bson_iter_t *value, const bson_iter_t *type) {
    static const struct {
        const char *name;
        bson_type_t type;
    } names[] = {{"string", BSON_TYPE_UTF8},   {"object", BSON_TYPE_DOCUMENT},
                 {"array", BSON_TYPE_ARRAY},   {"bool", BSON_TYPE_BOOL},
                 {"null", BSON_TYPE_NULL},     {"int", BSON_TYPE_INT32},
                 {"date", BSON_TYPE_DATE_TIME}};
    bson_iter_t each;
    if (!value)
        return false;
    bson_type_t is = bson_iter_type(value);
    if (BSON_ITER_HOLDS_ARRAY(type)) {
        bson_iter_recurse(type, &each);
        while (bson_iter_next(&each)) {
            if (is_type(value, &each))
                return true;
        }
        return false;
    }
    if (BSON_ITER_HOLDS_NUMBER(type))
        return (int64_t)is == bson_iter_as_int64(type);
    const char *name = bson_iter_utf8(type, NULL);
    if (strcmp(name, "number") == 0)
        return is == BSON_TYPE_INT32 || is == BSON_TYPE_INT64 || is == BSON_TYPE_DOUBLE ||
               is == BSON_TYPE_DECIMAL128;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].type == is;
    }
    abort();
}

/* leaves -- $mod, of whole numbers; fractions are cut off. */
static bool leaves(const bson_iter_t *value, const bson_iter_t *operand) {
    bson_iter_t each;
    int64_t numbers[2] = {0, 0};
    double real;
    if (!value)
        return false;
    bson_iter_recurse(operand, &each);
    for (int i = 0; i < 2 && bson_iter_next(&each); i++)
        numbers[i] = BSON_ITER_HOLDS_DOUBLE(&each) ? (int64_t)bson_iter_double(&each)
                                                   : bson_iter_as_int64(&each);
    if (BSON_ITER_HOLDS_INT32(value) || BSON_ITER_HOLDS_INT64(value))
        return bson_iter_as_int64(value) % numbers[0] == numbers[1];
    if (BSON_ITER_HOLDS_DOUBLE(value)) {
        real = bson_iter_double(value);
    } else if (BSON_ITER_HOLDS_DECIMAL128(value)) {
        bson_decimal128_t decimal;
        char text[BSON_DECIMAL128_STRING];
        bson_iter_decimal128(value, &decimal);
        bson_decimal128_to_string(&decimal, text);
        real = strtod(text, NULL);
    } else {
        return false;
    }
    if (!(real > -9e18 && real < 9e18))
        return false;
    return (int64_t)real % numbers[0] == numbers[1];
}

/* bit_of -- one bit of a value: 0, 1, or -1 of a value that has none. */
static int bit_of(const bson_iter_t *value, int64_t position) {
    bson_subtype_t subtype;
    uint32_t size;
    const uint8_t *bytes;
    if (BSON_ITER_HOLDS_BINARY(value)) {
        bson_iter_binary(value, &subtype, &size, &bytes);
        return position / 8 < size ? bytes[position / 8] >> position % 8 & 1 : 0;
    }
    if (!BSON_ITER_HOLDS_INT32(value) && !BSON_ITER_HOLDS_INT64(value)) {
        double real = 0.5;
        bson_decimal128_t decimal;
        char text[BSON_DECIMAL128_STRING];
        if (BSON_ITER_HOLDS_DOUBLE(value)) {
            real = bson_iter_double(value);
        } else if (bson_iter_decimal128(value, &decimal)) {
            bson_decimal128_to_string(&decimal, text);
            real = strtod(text, NULL);
        }
        if (!(real > -9e18 && real < 9e18) || (double)(int64_t)real != real)
            return -1;
        return (int64_t)real >> (position > 63 ? 63 : position) & 1;
    }
    return bson_iter_as_int64(value) >> (position > 63 ? 63 : position) & 1;
}

/* bits_hold -- the tests of bits: of a list of positions, or of a number. */
static bool bits_hold(const bson_iter_t *value, const char *op, const bson_iter_t *operand) {
    bool all = strncmp(op, "$bitsAll", 8) == 0, result = all;
    int wanted = strstr(op, "Set") != NULL;
    bson_iter_t each;
    if (!value || bit_of(value, 0) < 0)
        return false;
    if (BSON_ITER_HOLDS_ARRAY(operand)) {
        bson_iter_recurse(operand, &each);
        while (bson_iter_next(&each)) {
            bool fine = bit_of(value, bson_iter_as_int64(&each)) == wanted;
            result = all ? result && fine : result || fine;
        }
        return result;
    }
    for (int64_t i = 0; i < 63; i++) {
        bool fine = bit_of(value, i) == wanted;
        if (bson_iter_as_int64(operand) >> i & 1)
            result = all ? result && fine : result || fine;
    }
    return result;
}

/* lies_between -- $bt, in either order. */
static bool lies_between(const bson_iter_t *value, const bson_iter_t *operand) {
    bson_iter_t a, b;
    bson_iter_recurse(operand, &a);
    bson_iter_next(&a);
    b = a;
    bson_iter_next(&b);
    return (model_passes(value, "$gte", &a) && model_passes(value, "$lte", &b)) ||
           (model_passes(value, "$gte", &b) && model_passes(value, "$lte", &a));
}

/* ---- All of them ---- */

bool model_speaks_of_arrays(const char *op) {
    return strcmp(op, "$size") == 0 || strcmp(op, "$elemMatch") == 0 ||
           strcmp(op, "$allMatch") == 0;
}

bool model_special(const bson_iter_t *value, const char *op, const bson_iter_t *operand,
                   bool *known) {
    *known = true;
    if (BSON_ITER_HOLDS_REGEX(operand) || strcmp(op, "$regex") == 0)
        return regex_passes(value, operand);
    if (strcmp(op, "$begin") == 0 || strcmp(op, "$endsWith") == 0 || strcmp(op, "$contains") == 0 ||
        strcmp(op, "$stror") == 0)
        return any_text(value, op, operand);
    if (model_speaks_of_arrays(op))
        return elements_hold(value, op, operand);
    if (strcmp(op, "$keyMapMatch") == 0)
        return key_holds(value, operand);
    if (strcmp(op, "$type") == 0)
        return is_type(value, operand);
    if (strcmp(op, "$mod") == 0)
        return leaves(value, operand);
    if (strncmp(op, "$bits", 5) == 0)
        return bits_hold(value, op, operand);
    if (strcmp(op, "$bt") == 0)
        return lies_between(value, operand);
    *known = false;
    return false;
}
