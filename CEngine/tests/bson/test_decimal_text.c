/*
 * test_decimal_text.c -- decimal128 values as text: the engine's own code agrees with the BSON
 * corpus and with libbson.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many values and texts are tried (200000).
 */
#include "bson/decimal.h"
#include "bson/decimal_text.h"
#include "support/bson_corpus.h"
#include "support/check.h"
#include "support/hex.h"
#include "support/random/random.h"
#include "support/repo_file.h"
#include "util/bytes.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS 200000
#define MOST 200 /* bytes of a random text */

/* ---- The BSON corpus ---- */

static unsigned corpus_valid, corpus_refused;

/* number_of -- the number in {"d": {"$numberDecimal": "…"}}, which the caller frees. */
static char *number_of(const char *json) {
    const char *head = strstr(json, "\"$numberDecimal\"");
    REQUIRE(head != NULL);
    const char *start = strchr(strchr(head, ':'), '"') + 1;
    return strndup(start, strcspn(start, "\""));
}

/* reads_as -- a text becomes those bytes. */
static void reads_as(const char *json, const uint8_t *expected) {
    uint8_t bytes[16];
    char *text = number_of(json);
    if (!CHECK(decimal_text_read(text, strlen(text), bytes)) ||
        !CHECK_BYTES(expected, 16, bytes, 16))
        check_note("%s", text);
    free(text);
}

/* valid_case -- a case with a value. */
static void valid_case(const bson_t *test) {
    size_t size;
    char written[DECIMAL_TEXT_SIZE];
    uint8_t *bson = bytes_from_hex(corpus_member(test, "canonical_bson"), &size);
    const char *json = corpus_member(test, "canonical_extjson");
    const char *other = corpus_member(test, "degenerate_extjson");
    bson_iter_t iter;
    bool lossy = bson_iter_init_find(&iter, test, "lossy") && bson_iter_as_bool(&iter);
    /* The document has one field, "d": its value begins behind the size, the type and the key. */
    REQUIRE(size == 4 + 3 + 16 + 1 && bson[4] == BSON_TYPE_DECIMAL128);
    char *text = number_of(json);
    decimal_format(bson + 7, written);
    CHECK_TEXT(text, written);
    if (!lossy)
        reads_as(json, bson + 7);
    if (!lossy && other != NULL)
        reads_as(other, bson + 7);
    free(text);
    free(bson);
    corpus_valid++;
}

/* invalid_case -- a text that is refused. */
static void invalid_case(const bson_t *test) {
    uint8_t bytes[16];
    const char *json = corpus_member(test, "string");
    char *text = json[0] == '{' ? number_of(json) : strdup(json);
    if (!CHECK(!decimal_text_read(text, strlen(text), bytes)))
        check_note("%s", text);
    free(text);
    corpus_refused++;
}

static void corpus_file(const char *name, const char *content, size_t size) {
    if (strncmp(name, "decimal128-", 11) != 0)
        return;
    bson_t *file = bson_new_from_json((const uint8_t *)content, (ssize_t)size, NULL);
    REQUIRE(file != NULL);
    corpus_each_case(file, "valid", valid_case);
    corpus_each_case(file, "parseErrors", invalid_case);
    bson_destroy(file);
}

static void keeps_the_corpus(void) {
    repo_file_each(BSON_CORPUS, corpus_file);
    CHECK(corpus_valid >= 500 && corpus_refused >= 100);
}

/* ---- Single texts ---- */

/* What the BSON corpus lacks, and what libbson 1.23 does otherwise. */
static void reads_exactly(void) {
    static const struct {
        const char *text;
        const char *value; /* NULL: it is refused */
    } cases[] = {
        {"1.", "1"},
        {".5", "0.5"},
        {"+Inf", "Infinity"},
        {"-infinity", "-Infinity"},
        {"-nAn", "NaN"},
        {"", NULL},
        {"+", NULL},
        {".", NULL},
        {"-.E1", NULL},
        {"1E", NULL},
        {"1E+-5", NULL},
        {"--1", NULL},
        {"-+1", NULL},
        {"1 ", NULL},
        {" 1", NULL},
        {"1.2.3", NULL},
        {"0x1", NULL},
        {"infinit", NULL},
        {"NaN1", NULL},
        /* The range of exponents. */
        {"1E+6144", "1.000000000000000000000000000000000E+6144"},
        {"1E+6145", NULL},
        {"10E-6177", "1E-6176"},
        {"10.0E-6177", "1E-6176"},
        {"1E-6177", NULL},
        {"1E-20000", NULL},
        {"-0E+9999", "-0E+6111"},
        {"0E-2147483648", "0E-6176"},
        {"0E-2147483649", NULL},
        /* Digits that are dropped are zeros. */
        {"12345678901234567890123456789012340", "1.234567890123456789012345678901234E+34"},
        {"12345678901234567890123456789012341", NULL},
        {"0.0012345678901234567890123456789012340", "0.001234567890123456789012345678901234"},
        {"0.0000000000111111111111111111111111110000000001", NULL},
        {"1234567890123456789012345678901234000.00", "1.234567890123456789012345678901234E+36"},
        {"1E 5", NULL},
        {"0E2147483648", NULL},
        {"1E99999999999999999999", NULL},
        {"1E00000000000000000005", "1E+5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[16];
        char written[DECIMAL_TEXT_SIZE];
        bool taken = decimal_text_read(cases[i].text, strlen(cases[i].text), bytes);
        if (taken)
            decimal_format(bytes, written);
        if (!CHECK_TEXT(cases[i].value, taken ? written : NULL))
            check_note("\"%s\"", cases[i].text);
    }
}

/* minds_its_limits -- a text ends at its size, may hold no NUL, and not be too long. */
static void minds_its_limits(void) {
    uint8_t bytes[16];
    char written[DECIMAL_TEXT_SIZE], zeros[DECIMAL_TEXT_MOST + 2];
    CHECK(decimal_text_read("12E3", 2, bytes));
    decimal_format(bytes, written);
    CHECK_TEXT("12", written);
    CHECK(!decimal_text_read("1\0", 2, bytes));
    CHECK(!decimal_text_read("", 0, bytes));
    memset(zeros, '0', sizeof zeros - 1);
    zeros[sizeof zeros - 1] = '\0';
    CHECK(!decimal_text_read(zeros, DECIMAL_TEXT_MOST + 1, bytes));
    CHECK(decimal_text_read(zeros + 1, DECIMAL_TEXT_MOST, bytes));
}

/* too_large_coefficients_are_zero -- 10^34 and more, also where libbson could read the digits that
 * it writes for them. */
static void too_large_coefficients_are_zero(void) {
    static const struct {
        uint64_t low, high;
        const char *text;
    } cases[] = {
        {0x378D8E63FFFFFFFF, 0x3041ED09BEAD87C0, "9999999999999999999999999999999999"},
        {0x378D8E6400000000, 0x3041ED09BEAD87C0, "0"},
        {0xFFFFFFFFFFFFFFFF, 0xB041FFFFFFFFFFFF, "-0"},
        {0, 0x6C00000000000000, "0E-32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[16];
        char text[DECIMAL_TEXT_SIZE];
        store_u64(bytes, cases[i].low);
        store_u64(bytes + 8, cases[i].high);
        decimal_format(bytes, text);
        CHECK_TEXT(cases[i].text, text);
        decimal_text_write(bytes, text);
        CHECK_TEXT(cases[i].text, text);
    }
}

/* ---- Against libbson ---- */

/* random_decimal -- bytes of all kinds; often of few digits and with a small exponent. */
static void random_decimal(random_source *r, uint8_t *bytes) {
    decimal value = {.kind = DECIMAL_FINITE, .negative = random_chance(r, 50)};
    store_u64(bytes, random_next(r));
    store_u64(bytes + 8, random_next(r));
    if (random_chance(r, 20))
        return;
    for (uint64_t digits = random_below(r, DECIMAL_MAX_DIGITS + 1); digits > 0; digits--)
        value.coefficient = u128_append(value.coefficient,
                                        random_chance(r, 30) ? 0 : (uint32_t)random_below(r, 10));
    value.exponent = (int32_t)(random_chance(r, 80)
                                   ? random_between(r, -45, 5)
                                   : random_between(r, DECIMAL_MIN_EXPONENT, DECIMAL_MAX_EXPONENT));
    decimal_write(&value, bytes);
}

/* libbson_text -- what libbson writes for a canonical value. */
static void libbson_text(const uint8_t *bytes, char *text) {
    uint8_t canonical[16];
    decimal value;
    decimal_read(&value, bytes);
    decimal_write(&value, canonical);
    bson_decimal128_t number = {.low = load_u64(canonical), .high = load_u64(canonical + 8)};
    bson_decimal128_to_string(&number, text);
}

/* writes_what_libbson_writes -- and reads it back. */
static void writes_what_libbson_writes(void) {
    random_source r = random_start(1);
    for (uint64_t i = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS); i > 0; i--) {
        uint8_t bytes[16], again[16];
        char text[DECIMAL_TEXT_SIZE], expected[BSON_DECIMAL128_STRING];
        decimal value;
        random_decimal(&r, bytes);
        decimal_format(bytes, text);
        libbson_text(bytes, expected);
        if (!CHECK_TEXT(expected, text))
            return;
        decimal_read(&value, bytes);
        decimal_write(&value, bytes);
        if (!CHECK(decimal_text_read(text, strlen(text), again)) ||
            (value.kind != DECIMAL_NAN && !CHECK_BYTES(bytes, 16, again, 16)))
            return;
    }
}

/* add_digits -- appends digits, of which some are zeros in a row. */
static void add_digits(random_source *r, char *text, uint64_t count) {
    bool zeros = random_chance(r, 30);
    for (char *to = text + strlen(text); count > 0; count--, *++to = '\0') {
        if (random_chance(r, 10))
            zeros = !zeros;
        *to = zeros ? '0' : (char)('0' + random_below(r, 10));
    }
}

/* random_number -- a text that is mostly a number. */
static void random_number(random_source *r, char *text) {
    static const char *const signs[] = {"", "", "", "-", "+"};
    *text = '\0';
    strcat(text, signs[random_below(r, 5)]);
    if (random_chance(r, 30))
        strcat(text, &"000000"[random_below(r, 7)]);
    add_digits(r, text, random_chance(r, 30) ? 30 + random_below(r, 16) : random_below(r, 8));
    if (random_chance(r, 50)) {
        strcat(text, ".");
        add_digits(r, text, random_chance(r, 30) ? random_below(r, 46) : random_below(r, 8));
    }
    if (random_chance(r, 50)) {
        int64_t near[] = {0, 6111, -6176, 6144, -6143, 16384, -16384};
        int64_t exponent = near[random_below(r, 7)] + random_between(r, -50, 50);
        sprintf(text + strlen(text), random_chance(r, 50) ? "E%d" : "e%+d", (int)exponent);
    }
}

/* mutate -- changes, removes or inserts a character. */
static void mutate(random_source *r, char *text) {
    static const char letters[] = "0123456789..++--eEinfINFtyaN x";
    size_t size = strlen(text), at = random_below(r, size + 1);
    char letter = letters[random_below(r, sizeof letters - 1)];
    switch (random_below(r, 3)) {
    case 0:
        if (at < size)
            text[at] = letter;
        break;
    case 1: memmove(text + at, text + at + (at < size), size - at + (at == size)); break;
    default: memmove(text + at + 1, text + at, size - at + 1); text[at] = letter;
    }
}

/* libbson_is_right -- whether a text is none of those that libbson 1.23 misreads
 * (bson/decimal_text.h). */
static bool libbson_is_right(const char *text) {
    size_t zeros = 0, digits = 0, whole = 0; /* zeros in front, and digits from the first other */
    bool point = false;
    text += strspn(text, "+-");
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        point = point || *text == '.';
        digits += *text != '.' && (digits > 0 || *text != '0');
        zeros += *text == '0' && digits == 0;
        whole = point ? whole : digits;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        size_t sign = *text == '+' || *text == '-';
        if (*text == ' ' || strlen(text + sign + strspn(text + sign, "0")) > 9 ||
            (point && atoi(text) < DECIMAL_MIN_EXPONENT + MOST))
            return false;
    }
    return digits <= DECIMAL_MAX_DIGITS || (zeros == 0 && (!point || whole <= DECIMAL_MAX_DIGITS));
}

/* reads_what_libbson_reads -- numbers, and texts that were some. */
static void reads_what_libbson_reads(void) {
    static const char *const words[] = {"Infinity", "-inf", "NaN", "+nan", "0", "-INFINITY"};
    random_source r = random_start(2);
    unsigned accepted = 0, refused = 0;
    for (uint64_t i = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS); i > 0; i--) {
        char text[MOST];
        uint8_t bytes[16] = {0}, expected[16];
        bson_decimal128_t number = {0, 0};
        if (random_chance(&r, 5))
            strcpy(text, words[random_below(&r, 6)]);
        else
            random_number(&r, text);
        for (uint64_t changes = random_chance(&r, 40) ? 1 + random_below(&r, 3) : 0; changes > 0;
             changes--)
            mutate(&r, text);
        if (*text == '\0' || !libbson_is_right(text))
            continue;
        bool taken = bson_decimal128_from_string(text, &number);
        store_u64(expected, number.low);
        store_u64(expected + 8, number.high);
        accepted += taken;
        refused += !taken;
        if (!CHECK_INT(taken, decimal_text_read(text, strlen(text), bytes)) ||
            (taken && !CHECK_BYTES(expected, 16, bytes, 16))) {
            check_note("\"%s\"", text);
            return;
        }
    }
    CHECK(accepted > 0 && refused > 0);
}

int main(void) {
    RUN(keeps_the_corpus);
    RUN(reads_exactly);
    RUN(minds_its_limits);
    RUN(too_large_coefficients_are_zero);
    RUN(writes_what_libbson_writes);
    RUN(reads_what_libbson_reads);
    return check_finish();
}
