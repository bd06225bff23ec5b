/*
 * test_value.c -- the order of values: exact, total, and the same in place and as keys.
 */
#include "bson/number.h"
#include "bson/value.h"
#include "support/check.h"
#include "support/random/random_bson.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* first_value -- a document's first value, in place. */
static doc_value first_value(const bson_t *doc) {
    doc_iter iter;
    REQUIRE(doc_iter_init(&iter, bson_get_data(doc), doc->len) && doc_iter_next(&iter));
    return iter.value;
}

/* sign_of -- -1, 0 or 1. */
static int sign_of(int order) {
    return (order > 0) - (order < 0);
}

/* compare_keys -- the order of two keys; they may not be the beginning of one another. */
static int compare_keys(const tansu_buffer *a, const tansu_buffer *b) {
    size_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->data, b->data, common);
    CHECK(order != 0 || a->size == b->size);
    return sign_of(order);
}

/* show -- prints two values that do not behave. */
static void show(const bson_t *a, const bson_t *b) {
    char *a_text = bson_as_canonical_extended_json(a, NULL);
    char *b_text = bson_as_canonical_extended_json(b, NULL);
    if (check_failures() < 20)
        check_note("    with %s and %s", a_text ? a_text : "?", b_text ? b_text : "?");
    bson_free(a_text);
    bson_free(b_text);
}

/* check_pair -- comparison and both keys of two values agree; returns the order. */
static int check_pair(const bson_t *a_doc, const bson_t *b_doc) {
    static tansu_buffer a_key, b_key;
    doc_value a = first_value(a_doc);
    doc_value b = first_value(b_doc);
    int order = sign_of(value_compare(&a, &b));
    bool good = CHECK_INT(-order, sign_of(value_compare(&b, &a)));
    for (int descending = 0; descending < 2; descending++) {
        a_key.size = b_key.size = 0;
        REQUIRE(value_key(&a_key, &a, descending) && value_key(&b_key, &b, descending));
        good &= CHECK_INT(descending ? -order : order, compare_keys(&a_key, &b_key));
    }
    if (!good)
        show(a_doc, b_doc);
    return order;
}

/* Any two values. */
static void keys_and_comparison_agree(void) {
    random_source source = random_start(1);
    bson_t a = BSON_INITIALIZER;
    bson_t b = BSON_INITIALIZER;
    unsigned equal = 0;
    for (int i = 0; i < 120000; i++) {
        bson_reinit(&a);
        bson_reinit(&b);
        random_append_value(&source, &a, "v", 1, 3);
        random_append_value(&source, &b, "v", 1, 3);
        equal += check_pair(&a, &b) == 0;
        CHECK_INT(0, check_pair(&a, &a));
    }
    CHECK(equal > 1000); /* or the pairs would prove little */
    bson_destroy(&a);
    bson_destroy(&b);
}

/* Two numbers of any types. */
static void keys_and_comparison_agree_on_numbers(void) {
    random_source source = random_start(2);
    bson_t a = BSON_INITIALIZER;
    bson_t b = BSON_INITIALIZER;
    unsigned equal = 0;
    for (int i = 0; i < 200000; i++) {
        bson_reinit(&a);
        bson_reinit(&b);
        random_append_number(&source, &a, "v", 1);
        random_append_number(&source, &b, "v", 1);
        equal += check_pair(&a, &b) == 0;
    }
    CHECK(equal > 1000);
    bson_destroy(&a);
    bson_destroy(&b);
}

/* The model of a number: its exact decimal digits, taken from printf and from libbson's texts. */
typedef struct model {
    int class;         /* NaN 0, -inf 1, negative 2, zero 3, positive 4, +inf 5 */
    int exponent;      /* of the first digit */
    char digits[1100]; /* without zeros at the end */
} model;

/* model_digits -- fills in a model from the digits of a scientific or plain number text. */
static void model_digits(model *model, const char *text) {
    bool negative = *text == '-';
    int point = -1;
    int count = 0;
    int exponent = 0;
    text += negative;
    for (; *text != '\0' && *text != 'E' && *text != 'e'; text++) {
        if (*text == '.')
            point = count;
        else
            model->digits[count++] = *text;
    }
    if (*text != '\0')
        exponent = atoi(text + 1);
    if (point < 0)
        point = count;
    int zeros = 0;
    while (zeros < count && model->digits[zeros] == '0')
        zeros++;
    memmove(model->digits, model->digits + zeros, (size_t)(count - zeros));
    count -= zeros;
    model->exponent = exponent + point - zeros;
    while (count > 0 && model->digits[count - 1] == '0')
        count--;
    model->digits[count] = '\0';
    model->class = count == 0 ? 3 : negative ? 2 : 4;
}

/* model_of -- the model of a number value. */
static void model_of(model *model, const bson_t *doc) {
    bson_iter_t iter;
    char text[1100];
    REQUIRE(bson_iter_init_find(&iter, doc, "v"));
    switch (bson_iter_type(&iter)) {
    case BSON_TYPE_DOUBLE: {
        double number = bson_iter_double(&iter);
        if (isnan(number) || isinf(number)) {
            model->class = isnan(number) ? 0 : number < 0 ? 1 : 5;
            return;
        }
        snprintf(text, sizeof text, "%.780e", number);
        break;
    }
    case BSON_TYPE_DECIMAL128: {
        bson_decimal128_t decimal;
        char decimal_text[BSON_DECIMAL128_STRING];
        bson_iter_decimal128(&iter, &decimal);
        bson_decimal128_to_string(&decimal, decimal_text);
        if (strstr(decimal_text, "NaN") != NULL || strstr(decimal_text, "Inf") != NULL) {
            model->class = strstr(decimal_text, "NaN") != NULL ? 0 : decimal_text[0] == '-' ? 1 : 5;
            return;
        }
        /* Coefficients of 10^34 and more are no valid encoding but a zero, by IEEE 754; libbson's
         * text shows their digits all the same. */
        uint64_t high = decimal.high & UINT64_C(0x1FFFFFFFFFFFF);
        bool valid =
            high < UINT64_C(0x1ED09BEAD87C0) ||
            (high == UINT64_C(0x1ED09BEAD87C0) && decimal.low <= UINT64_C(0x378D8E63FFFFFFFF));
        snprintf(text, sizeof text, "%s", valid ? decimal_text : "0");
        break;
    }
    default: snprintf(text, sizeof text, "%" PRId64, bson_iter_as_int64(&iter));
    }
    model_digits(model, text);
}

/* model_compare -- the order of two models. */
static int model_compare(const model *a, const model *b) {
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->class != 2 && a->class != 4)
        return 0;
    int order = sign_of(a->exponent - b->exponent);
    if (order == 0)
        order = sign_of(strcmp(a->digits, b->digits));
    return a->class == 2 ? -order : order;
}

/* Against digits that other code made. */
static void numbers_compare_exactly(void) {
    static model a_model, b_model;
    random_source source = random_start(3);
    bson_t a = BSON_INITIALIZER;
    bson_t b = BSON_INITIALIZER;
    for (int i = 0; i < 30000; i++) {
        bson_reinit(&a);
        bson_reinit(&b);
        random_append_number(&source, &a, "v", 1);
        random_append_number(&source, &b, "v", 1);
        model_of(&a_model, &a);
        model_of(&b_model, &b);
        doc_value a_value = first_value(&a);
        doc_value b_value = first_value(&b);
        if (!CHECK_INT(model_compare(&a_model, &b_model),
                       sign_of(number_compare(&a_value, &b_value))))
            show(&a, &b);
    }
    bson_destroy(&a);
    bson_destroy(&b);
}

/* A double, and decimals that agree with it in up to 34 digits. */
static void decimals_next_to_doubles_compare_exactly(void) {
    static model a_model, b_model;
    random_source source = random_start(4);
    bson_t a = BSON_INITIALIZER;
    bson_t b = BSON_INITIALIZER;
    for (int i = 0; i < 15000; i++) {
        uint64_t bits = random_next(&source);
        double number;
        if (random_chance(&source, 30))
            bits &= UINT64_C(0x800FFFFFFFFFFFFF); /* less than the least normal one */
        memcpy(&number, &bits, 8);
        if (!isfinite(number))
            continue;
        char text[64];
        bson_decimal128_t decimal;
        snprintf(text, sizeof text, "%.*e", (int)random_between(&source, 15, 33), number);
        REQUIRE(bson_decimal128_from_string(text, &decimal));
        bson_reinit(&a);
        bson_reinit(&b);
        bson_append_double(&a, "v", 1, number);
        bson_append_decimal128(&b, "v", 1, &decimal);
        model_of(&a_model, &a);
        model_of(&b_model, &b);
        if (!CHECK_INT(model_compare(&a_model, &b_model), check_pair(&a, &b)))
            show(&a, &b);
    }
    bson_destroy(&a);
    bson_destroy(&b);
}

/* order_of -- the order of two values in JSON form. */
static int order_of(const char *a_json, const char *b_json) {
    char text[512];
    bson_error_t error;
    snprintf(text, sizeof text, "{\"v\": %s}", a_json);
    bson_t *a = bson_new_from_json((const uint8_t *)text, -1, &error);
    snprintf(text, sizeof text, "{\"v\": %s}", b_json);
    bson_t *b = bson_new_from_json((const uint8_t *)text, -1, &error);
    REQUIRE(a != NULL && b != NULL);
    int order = check_pair(a, b);
    bson_destroy(a);
    bson_destroy(b);
    return order;
}

/* Rule 8 of the query language, and what follows it. */
static void kinds_stand_in_their_order(void) {
    static const char *const kinds[] = {
        "{\"$minKey\": 1}",
        "null",
        "{\"$numberDouble\": \"NaN\"}",
        "{\"$numberDouble\": \"-Infinity\"}",
        "-1",
        "0",
        "1",
        "{\"$numberDouble\": \"Infinity\"}",
        "\"\"",
        "\"a\"",
        "{}",
        "{\"a\": 1}",
        "[]",
        "[1]",
        "{\"$binary\": {\"base64\": \"\", \"subType\": \"00\"}}",
        "{\"$oid\": \"000000000000000000000000\"}",
        "false",
        "true",
        "{\"$date\": {\"$numberLong\": \"-1\"}}",
        "{\"$date\": {\"$numberLong\": \"0\"}}",
        "{\"$timestamp\": {\"t\": 0, \"i\": 4294967295}}",
        "{\"$timestamp\": {\"t\": 1, \"i\": 0}}",
        "{\"$regularExpression\": {\"pattern\": \"\", \"options\": \"\"}}",
        "{\"$dbPointer\": {\"$ref\": \"\", \"$id\": {\"$oid\": \"000000000000000000000000\"}}}",
        "{\"$code\": \"\"}",
        "{\"$code\": \"\", \"$scope\": {}}",
        "{\"$maxKey\": 1}"};
    const size_t count = sizeof kinds / sizeof *kinds;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (!CHECK_INT(sign_of((int)i - (int)j), order_of(kinds[i], kinds[j])))
                check_note("    %s and %s", kinds[i], kinds[j]);
        }
    }
}

/* What the type does not change, and what it does. */
static void equal_values_of_different_types_are_equal(void) {
    CHECK_INT(0, order_of("1", "{\"$numberDouble\": \"1.0\"}"));
    CHECK_INT(0, order_of("1", "{\"$numberLong\": \"1\"}"));
    CHECK_INT(0, order_of("100", "{\"$numberDecimal\": \"1E2\"}"));
    CHECK_INT(0, order_of("0", "{\"$numberDouble\": \"-0.0\"}"));
    CHECK_INT(0, order_of("0", "{\"$numberDecimal\": \"-0E+100\"}"));
    CHECK_INT(0, order_of("0.5", "{\"$numberDecimal\": \"0.500\"}"));
    CHECK_INT(0, order_of("{\"$numberDouble\": \"NaN\"}", "{\"$numberDecimal\": \"NaN\"}"));
    CHECK_INT(0, order_of("{\"$undefined\": true}", "null"));
    CHECK_INT(0, order_of("{\"$symbol\": \"x\"}", "\"x\""));
    CHECK_INT(0, order_of("{\"a\": 1}", "{\"a\": {\"$numberDouble\": \"1.0\"}}"));
    /* the double 0.1 is 0.1000000000000000055... */
    CHECK_INT(1, order_of("0.1", "{\"$numberDecimal\": \"0.1\"}"));
    CHECK_INT(-1, order_of("0.3", "{\"$numberDecimal\": \"0.3\"}"));
    /* 2^53 + 1 is no double */
    CHECK_INT(1, order_of("{\"$numberLong\": \"9007199254740993\"}", "9007199254740992.0"));
    CHECK_INT(-1, order_of("{\"$numberLong\": \"9223372036854775807\"}", "9223372036854775808.0"));
    CHECK_INT(0, order_of("{\"$numberLong\": \"-9223372036854775808\"}", "-9223372036854775808.0"));
    CHECK_INT(-1, order_of("true", "{\"$date\": {\"$numberLong\": \"-9223372036854775808\"}}"));
}

/* Kind of value before key, key before value, the shorter first. */
static void documents_and_arrays_compare_element_by_element(void) {
    CHECK_INT(-1, order_of("{\"b\": 1}", "{\"a\": \"x\"}"));
    CHECK_INT(-1, order_of("{\"a\": 2}", "{\"b\": 1}"));
    CHECK_INT(-1, order_of("{\"a\": 1}", "{\"aa\": 1}"));
    CHECK_INT(-1, order_of("{\"a\": 1}", "{\"a\": 2}"));
    CHECK_INT(-1, order_of("{\"a\": 1}", "{\"a\": 1, \"b\": null}"));
    CHECK_INT(-1, order_of("[1, 2]", "[1, 3]"));
    CHECK_INT(-1, order_of("[1]", "[1, null]"));
    CHECK_INT(1, order_of("[2]", "[1, 2]"));
    CHECK_INT(-1, order_of("[[]]", "[[[]]]"));
    CHECK_INT(-1, order_of("\"a\"", "\"a\\u0000\""));
    CHECK_INT(-1, order_of("\"a\\u0000\"", "\"a\\u0001\""));
    CHECK_INT(-1, order_of("\"z\"", "\"\\u00e4\""));
}

/* A prefix's key is the beginning of the keys of the strings that begin so, and of no other. */
static void prefix_keys_find_the_strings_that_begin_so(void) {
    random_source source = random_start(5);
    tansu_buffer key = TANSU_BUFFER_INIT;
    tansu_buffer prefix_key = TANSU_BUFFER_INIT;
    for (int i = 0; i < 20000; i++) {
        char text[32], prefix[16];
        size_t size = random_text(&source, text, 6);
        size_t prefix_size = random_text(&source, prefix, 2);
        bson_t doc = BSON_INITIALIZER;
        bson_append_utf8(&doc, "v", 1, text, (int)size);
        doc_value value = first_value(&doc);
        key.size = prefix_key.size = 0;
        REQUIRE(value_key(&key, &value, false));
        REQUIRE(value_key_prefix_string(&prefix_key, prefix, prefix_size));
        bool begins = prefix_size <= size && memcmp(text, prefix, prefix_size) == 0;
        CHECK(begins == (prefix_key.size <= key.size &&
                         memcmp(key.data, prefix_key.data, prefix_key.size) == 0));
        bson_destroy(&doc);
    }
    tansu_buffer_free(&key);
    tansu_buffer_free(&prefix_key);
}

/* Numbers are read as int64 exactly when they are one. */
static void whole_numbers_are_read_as_int64(void) {
    static model number_model, whole_model;
    random_source source = random_start(6);
    bson_t doc = BSON_INITIALIZER;
    for (int i = 0; i < 20000; i++) {
        bson_reinit(&doc);
        random_append_number(&source, &doc, "v", 1);
        doc_value value = first_value(&doc);
        int64_t whole;
        model_of(&number_model, &doc);
        if (doc_as_int64(&value, &whole)) {
            bson_reinit(&doc);
            bson_append_int64(&doc, "v", 1, whole);
            model_of(&whole_model, &doc);
            CHECK_INT(0, model_compare(&number_model, &whole_model));
            continue;
        }
        /* Not one: a fraction, or out of range. */
        bool fraction =
            number_model.class % 2 == 0 && (int)strlen(number_model.digits) > number_model.exponent;
        bool finite = number_model.class >= 2 && number_model.class <= 4;
        model_digits(&whole_model,
                     number_model.class == 2 ? "-9223372036854775809" : "9223372036854775808");
        int beyond = model_compare(&number_model, &whole_model);
        CHECK(!finite || fraction || (number_model.class == 2 ? beyond <= 0 : beyond >= 0));
    }
    bson_destroy(&doc);
}

int main(void) {
    RUN(keys_and_comparison_agree);
    RUN(keys_and_comparison_agree_on_numbers);
    RUN(numbers_compare_exactly);
    RUN(decimals_next_to_doubles_compare_exactly);
    RUN(kinds_stand_in_their_order);
    RUN(equal_values_of_different_types_are_equal);
    RUN(documents_and_arrays_compare_element_by_element);
    RUN(prefix_keys_find_the_strings_that_begin_so);
    RUN(whole_numbers_are_read_as_int64);
    return check_finish();
}
