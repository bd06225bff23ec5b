/*
 * test_json.c -- JSON is read strictly and written so that it reads back as the same BSON: libbson
 * as a judge, and cases of our own. (test_json_vectors.c has the public ones.)
 */
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"

#include <bson/bson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* to_bson -- the status of reading a text. */
static tansu_status to_bson(const char *json, tansu_buffer *bson, tansu_error *error) {
    return tansu_json_to_bson(json, SIZE_MAX, bson, error);
}

/* refused -- whether a text is refused. */
static bool refused(const char *json) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_status status = to_bson(json, &bson, NULL);
    tansu_buffer_free(&bson);
    return status != TANSU_OK;
}

/* writes -- a text, read and written again, becomes `expected`. */
static void writes(const char *expected, const char *json, int canonical) {
    tansu_buffer bson = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
    tansu_error error;
    if (CHECK_OK(to_bson(json, &bson, &error), &error) &&
        CHECK_OK(
            tansu_bson_to_json((tansu_document){bson.data, bson.size}, canonical, &text, &error),
            &error))
        CHECK_TEXT(expected, (const char *)text.data);
    tansu_buffer_free(&bson);
    tansu_buffer_free(&text);
}

/* fails_at -- a text is refused at that byte with a message that has `words` in it. */
static void fails_at(const char *json, tansu_status status, int64_t offset, const char *words) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_error error = {.offset = -2};
    CHECK_STATUS(status, to_bson(json, &bson, &error));
    CHECK_INT(offset, error.offset);
    if (!CHECK(strstr(error.message, words) != NULL))
        check_note("%s: %s", json, error.message);
    CHECK_INT(0, bson.size);
    tansu_buffer_free(&bson);
}

/* errors_have_their_offset -- byte, line and column, and what is expected. */
static void errors_have_their_offset(void) {
    fails_at("{\"a\": 1,\n \"\xC3\xA9\": tru}", TANSU_E_INVALID_JSON, 16,
             "Line 2, column 7: A value");
    fails_at("{\"a\": 1} x", TANSU_E_INVALID_JSON, 9, "after the end");
    fails_at("{\"a\": 1}{\"a\": 1}", TANSU_E_INVALID_JSON, 8, "after the end");
    fails_at("{\"a\": NaN}", TANSU_E_INVALID_JSON, 6, "A value is expected");
    fails_at("{\"a\": \"\xFF\"}", TANSU_E_INVALID_JSON, 7, "UTF-8");
    fails_at("{\"a\": \"12345678\xC3\"}", TANSU_E_INVALID_JSON, 15, "UTF-8");
    fails_at("{\"a\": \"12\n\"}", TANSU_E_INVALID_JSON, 9, "control character");
    fails_at("{\"a\": \"1", TANSU_E_INVALID_JSON, 8, "the text ends");
    fails_at("{\"a\": \"\\x\"}", TANSU_E_INVALID_JSON, 7, "escape");
    fails_at("{\"a\": \"\\ud800\"}", TANSU_E_INVALID_JSON, 7, "surrogate");
    fails_at("{\"a\\u0000\": 1}", TANSU_E_INVALID_JSON, 3, "NUL");
    fails_at("{\"a\": 1e400}", TANSU_E_INVALID_JSON, 6, "exceeds the range of a double");
    fails_at("{\"a\": 1,}", TANSU_E_INVALID_JSON, 8, "A key in quotes");
    fails_at("{\"a\" 1}", TANSU_E_INVALID_JSON, 5, "A colon");
    fails_at("{\"a\": [1 2]}", TANSU_E_INVALID_JSON, 9, "A comma or ]");
    fails_at("", TANSU_E_INVALID_JSON, 0, "A document is expected");
    fails_at("[1]", TANSU_E_INVALID_JSON, 0, "A document is expected");
    fails_at("7", TANSU_E_INVALID_JSON, 0, "A document is expected");
    fails_at("{\"$oid\": \"0123456789abcdef01234567\"}", TANSU_E_INVALID_JSON, 0, "a single value");
    fails_at("{\"a\": {\"$oid\": \"0\"}}", TANSU_E_INVALID_JSON, 6, "24 hexadecimal");
}

/* refuses_a_key_twice -- in objects of few keys and of many, and not in different objects. */
static void refuses_a_key_twice(void) {
    fails_at("{\"a\": 1, \"b\": {\"a\": 1, \"a\": 2}}", TANSU_E_INVALID_JSON, 23,
             "\"a\" comes twice");
    fails_at("{\"\\u0061\": 1, \"a\": 2}", TANSU_E_INVALID_JSON, 14, "\"a\" comes twice");
    writes("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}",
           "{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}", 0);
    char text[4096] = "{";
    int64_t offset = 0;
    for (int i = 0; i < 200; i++) {
        if (i == 150)
            offset = (int64_t)strlen(text);
        sprintf(text + strlen(text), "\"k%d\": %d, ", i == 150 ? 20 : i, i);
    }
    strcat(text, "\"z\": 0}");
    fails_at(text, TANSU_E_INVALID_JSON, offset, "\"k20\" comes twice");
}

/* nested -- a text of this many documents inside each other around `inner`. */
static char *nested(int depth, const char *inner) {
    char *text = malloc((size_t)depth * 8 + strlen(inner) + 1), *to = text;
    for (int i = 0; i < depth; i++)
        to += sprintf(to, "{\"a\": ");
    to += sprintf(to, "%s", inner);
    for (int i = 0; i < depth; i++)
        *to++ = '}';
    *to = '\0';
    return text;
}

/* bounds_depth -- what is read may be stored; objects that stand for a type are no level. */
static void bounds_depth(void) {
    static const struct {
        int depth;
        const char *inner;
        bool fits;
    } cases[] = {
        {100, "1", true},
        {101, "1", false},
        {99, "[1]", true},
        {100, "[1]", false},
        {100, "{}", false},
        {100, "{\"$date\": {\"$numberLong\": \"1\"}}", true},
        {100, "{\"$timestamp\": {\"t\": 1, \"i\": 1}}", true},
        {100,
         "{\"$dbPointer\": {\"$ref\": \"a\", \"$id\": {\"$oid\": \"0123456789abcdef01234567\"}}}",
         true},
        {99, "{\"$code\": \"\", \"$scope\": {}}", true},
        {100, "{\"$code\": \"\", \"$scope\": {}}", false},
        {99, "{\"$code\": \"\", \"$scope\": {\"a\": {}}}", false},
        {10, "{\"$date\": {\"$date\": {\"$date\": {\"$date\": {\"$date\": 1}}}}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_buffer bson = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
        char *json = nested(cases[i].depth, cases[i].inner);
        if (!CHECK((to_bson(json, &bson, NULL) == TANSU_OK) == cases[i].fits))
            check_note("%d levels around %s", cases[i].depth, cases[i].inner);
        if (bson.size != 0)
            CHECK_STATUS(TANSU_OK, tansu_bson_to_json((tansu_document){bson.data, bson.size}, 1,
                                                      &text, NULL));
        tansu_buffer_free(&bson);
        tansu_buffer_free(&text);
        free(json);
    }
    /* No depth of text is too much for the stack. */
    char *deep = malloc(200001);
    memset(deep, '[', 200000);
    deep[200000] = '\0';
    CHECK(refused(deep));
    for (size_t i = 0; i + 5 <= 200000; i += 5)
        memcpy(deep + i, "{\"\":{", 5);
    CHECK(refused(deep));
    free(deep);
    char *wrapped = malloc(200001);
    for (size_t i = 0; i < 20000; i++)
        memcpy(wrapped + 9 * i, "{\"$oid\": ", 9);
    wrapped[180000] = '\0';
    CHECK(refused(wrapped));
    free(wrapped);
}

/* bounds_size -- a document of more than 16 MiB is refused, one of just that is not. */
static void bounds_size(void) {
    size_t room = TANSU_MAX_DOCUMENT_SIZE - 13; /* without size, type, key, length and two ends */
    char *text = malloc(room + 64);
    tansu_buffer bson = TANSU_BUFFER_INIT;
    for (size_t more = 0; more < 2; more++) {
        memcpy(text, "{\"a\": \"", 7);
        memset(text + 7, 'x', room + more);
        strcpy(text + 7 + room + more, "\"}");
        CHECK_STATUS(more == 0 ? TANSU_OK : TANSU_E_TOO_LARGE, to_bson(text, &bson, NULL));
    }
    /* Small numbers take more bytes in an array than in the text. */
    size_t count = 0;
    text[count++] = '{';
    memcpy(text + count, "\"a\":[0", 6);
    count += 6;
    while (count < 4000000) {
        text[count++] = ',';
        text[count++] = '0';
    }
    strcpy(text + count, "]}");
    CHECK_STATUS(TANSU_E_TOO_LARGE, to_bson(text, &bson, NULL));
    tansu_buffer_free(&bson);
    free(text);
}

/* chooses_number_types -- int32, int64 and double by size and by how they are written. */
static void chooses_number_types(void) {
    writes("{\"a\": {\"$numberInt\": \"2147483647\"}, \"b\": {\"$numberLong\": \"2147483648\"}, "
           "\"c\": {\"$numberLong\": \"-9223372036854775808\"}, "
           "\"d\": {\"$numberDouble\": \"9.223372036854776E+18\"}, "
           "\"e\": {\"$numberDouble\": \"1.0\"}, \"f\": {\"$numberDouble\": \"100.0\"}}",
           "{\"a\": 2147483647, \"b\": 2147483648, \"c\": -9223372036854775808, "
           "\"d\": 9223372036854775808, \"e\": 1.0, \"f\": 1e2}",
           1);
    writes(
        "{\"a\": 0.1, \"b\": -0.0, \"c\": 0.00001, \"d\": 5.0E-324, \"e\": "
        "1.7976931348623157E+308}",
        "{\"a\": 0.1, \"b\": -0.0, \"c\": 0.00001, \"d\": 5e-324, \"e\": 1.7976931348623157e308}",
        0);
}

/* doubles_come_back -- random bits, written and read, are the same bits; few digits stay few. */
static void doubles_come_back(void) {
    random_source random = random_start(1);
    tansu_buffer bson = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_next(&random);
        double number;
        if (i % 3 == 0)
            number = (double)random_between(&random, -1000000000, 1000000000) /
                     pow(10, (double)random_below(&random, 12));
        else if (i % 3 == 1)
            number = (double)(int64_t)(bits >> random_below(&random, 64)) *
                     pow(10, (double)random_between(&random, -30, 30));
        else
            memcpy(&number, &bits, 8);
        if (!isfinite(number))
            continue;
        bson_t *document = BCON_NEW("d", BCON_DOUBLE(number));
        char expected[64], twin[64];
        REQUIRE(tansu_bson_to_json(document_of(document), 0, &text, NULL) == TANSU_OK);
        REQUIRE(to_bson((const char *)text.data, &bson, NULL) == TANSU_OK);
        if (!CHECK(bson.size == document->len &&
                   memcmp(bson.data, bson_get_data(document), bson.size) == 0))
            check_note("%.17g became %s", number, (const char *)text.data);
        /* No more digits than the shortest form that printf finds. */
        for (int precision = 1; precision <= 17; precision++) {
            snprintf(expected, sizeof expected, "%.*g", precision, number);
            if (strtod(expected, NULL) == number)
                break;
        }
        size_t digits = 0, least = 0;
        snprintf(twin, sizeof twin, "%s", (const char *)text.data + 6);
        for (const char *p = twin; *p != '\0' && *p != 'E'; p++)
            digits += *p >= '1' && *p <= '9';
        for (const char *p = expected; *p != '\0' && *p != 'e'; p++)
            least += *p >= '1' && *p <= '9';
        if (!CHECK(digits <= least + 2))
            check_note("%s is written as %s", expected, twin);
        bson_destroy(document);
    }
    tansu_buffer_free(&bson);
    tansu_buffer_free(&text);
}

/* no_locale_changes_numbers -- where a comma is the decimal point, JSON still has its own. */
static void no_locale_changes_numbers(void) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        check_note("no locale with a decimal comma is installed: checked in the plain one");
    writes("{\"a\": 1.5, \"b\": 1.2345678901234566E+40, \"c\": 0.30000000000000004}",
           "{\"a\": 1.5, \"b\": 1.2345678901234567e40, \"c\": 0.30000000000000004}", 0);
    setlocale(LC_NUMERIC, "C");
}

/* reads_times -- all that RFC 3339 has, and none that is no time. */
static void reads_times(void) {
    writes("{\"a\": {\"$date\": \"2024-02-29T22:30:00Z\"}}",
           "{\"a\": {\"$date\": \"2024-03-01T00:00:00+01:30\"}}", 0);
    writes("{\"a\": {\"$date\": {\"$numberLong\": \"-62167219200000\"}}}",
           "{\"a\": {\"$date\": \"0000-01-01T00:00:00Z\"}}", 0);
    writes("{\"a\": {\"$date\": \"9999-12-31T23:59:59.999Z\"}}",
           "{\"a\": {\"$date\": {\"$numberLong\": \"253402300799999\"}}}", 0);
    writes("{\"a\": {\"$date\": \"2000-01-01T00:00:00.120Z\"}}",
           "{\"a\": {\"$date\": \"2000-01-01T00:00:00.1200009-0000\"}}", 0);
    static const char *const wrong[] = {
        "2023-02-29T00:00:00Z",     "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z",     "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",     "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00",      "2024-01-01",
        "2024-01-01T00:00:00.Z",    "2024-01-01T00:00:00Zx",
        "2024-1-1T00:00:00Z",       "1900-02-29T00:00:00Z",
        "2024-01-01T00:00:00+2500", "",
        " 2024-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"a\": {\"$date\": \"%s\"}}", wrong[i]);
        if (!CHECK(refused(text)))
            check_note("%s", text);
    }
    CHECK(refused("{\"a\": {\"$date\": 5000000000}}"));
}

/* leaves_operators_alone -- names of the query language are no types. */
static void leaves_operators_alone(void) {
    static const char *const queries[] = {
        "{\"a\": {\"$regex\": \"^x\", \"$options\": \"i\"}}",
        "{\"a\": {\"$type\": \"string\"}}",
        "{\"$and\": [{\"a\": {\"$gt\": 1}}]}",
        "{\"a\": {\"$ref\": \"b\", \"$id\": 1, \"$db\": \"c\"}}",
        "{\"a\": {\"b\": 1, \"$oid\": 2}}",
        "{\"$id\": 1}",
        "{\"a\": {\"$\": 1, \"\": 2}}",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        writes(queries[i], queries[i], 0);
}

/* has_long_decimal -- whether libbson wrote a decimal of more than 34 digits, which it does for
 * coefficients that are too large for the format (IEEE 754 has them be zero). Of a negative one it
 * cuts the 35th off. */
static bool has_long_decimal(const char *json) {
    static const char head[] = "\"$numberDecimal\" : \"";
    for (const char *p = json; (p = strstr(p, head)) != NULL;) {
        p += sizeof head - 1;
        size_t digits = *p == '-';
        p += strspn(p, "-0.");
        for (; *p != '"' && *p != 'E'; p++)
            digits += *p != '.';
        if (digits > 34)
            return true;
    }
    return false;
}

/* too_large_decimals_are_zero -- they are written so that they can be read again. */
static void too_large_decimals_are_zero(void) {
    static const struct {
        bson_decimal128_t decimal; /* low, high */
        const char *text;
    } cases[] = {
        {{0x004145C86AE16667, 0x5FFDF402FAB0A3BD}, "0E+6110"},
        {{1, 0x0003FFAC1DEA4A5F}, "0E-6175"},
        {{0, 0x6C00000000000000}, "0E-32"},
        {{5, 0xB040000000000000}, "-5"},
    };
    tansu_buffer text = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_decimal128_t decimal = cases[i].decimal;
        char expected[100];
        bson_t *document = BCON_NEW("a", BCON_DECIMAL128(&decimal));
        snprintf(expected, sizeof expected, "{\"a\": {\"$numberDecimal\": \"%s\"}}", cases[i].text);
        CHECK_STATUS(TANSU_OK, tansu_bson_to_json(document_of(document), 0, &text, NULL));
        CHECK_TEXT(expected, (const char *)text.data);
        CHECK(!refused((const char *)text.data));
        bson_destroy(document);
    }
    tansu_buffer_free(&text);
}

/* writes_what_libbson_writes -- random documents: our canonical text and libbson's say the same,
 * and read back as the document itself, but for the two things that text does not keep: the bits
 * of a NaN and the order of regex options. Relaxed text is read as well. (libbson's reader is no
 * judge: 1.23 takes the key of a $code in an array from memory that it has freed.) */
static void writes_what_libbson_writes(void) {
    random_source random = random_start(2);
    tansu_buffer text = TANSU_BUFFER_INIT, ours = TANSU_BUFFER_INIT, theirs = TANSU_BUFFER_INIT;
    unsigned same = 0;
    for (int i = 0; i < 3000; i++) {
        bson_t *document = random_document(&random);
        const uint8_t *data = bson_get_data(document);
        tansu_error error;
        char *judge = bson_as_canonical_extended_json(document, NULL);
        REQUIRE(judge != NULL);
        REQUIRE(CHECK_OK(
            tansu_bson_to_json((tansu_document){data, document->len}, 1, &text, &error), &error));
        if (CHECK_OK(to_bson((const char *)text.data, &ours, &error), &error) &&
            !has_long_decimal(judge) && CHECK_OK(to_bson(judge, &theirs, &error), &error) &&
            !CHECK_BYTES(theirs.data, theirs.size, ours.data, ours.size))
            check_note("%s\n%s", judge, (const char *)text.data);
        same += ours.size == document->len && memcmp(ours.data, data, ours.size) == 0;
        CHECK_INT(document->len, ours.size);
        REQUIRE(tansu_bson_to_json((tansu_document){data, document->len}, 0, &text, NULL) ==
                TANSU_OK);
        CHECK_OK(to_bson((const char *)text.data, &ours, &error), &error);
        bson_free(judge);
        bson_destroy(document);
    }
    CHECK(same > 2000);
    tansu_buffer_free(&text);
    tansu_buffer_free(&ours);
    tansu_buffer_free(&theirs);
}

/* minds_its_parameters -- lengths, NULL, and buffers that are used again. */
static void minds_its_parameters(void) {
    tansu_buffer bson = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
    static const uint8_t empty[] = {5, 0, 0, 0, 0};
    CHECK_STATUS(TANSU_OK, tansu_json_to_bson("{}garbage", 2, &bson, NULL));
    CHECK_BYTES(empty, sizeof empty, bson.data, bson.size);
    CHECK_STATUS(TANSU_E_INVALID_JSON, tansu_json_to_bson("{}\0", 3, &bson, NULL));
    CHECK_STATUS(TANSU_E_INVALID_JSON, tansu_json_to_bson(NULL, 0, &bson, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_json_to_bson(NULL, SIZE_MAX, &bson, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_json_to_bson("{}", 2, NULL, NULL));
    CHECK_STATUS(TANSU_OK,
                 tansu_bson_to_json((tansu_document){empty, sizeof empty}, 1, &text, NULL));
    CHECK_TEXT("{}", (const char *)text.data);
    CHECK_INT(2, text.size);
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_bson_to_json((tansu_document){empty, 4}, 1, &text, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_bson_to_json((tansu_document){empty, 5}, 1, NULL, NULL));
    /* Whatever a text is cut off at, nothing after its end is read. */
    static const char whole[] = "{\"a\": [1.5e3, \"x\\u00e9\xC3\xA9\", true, null, {\"$oid\": "
                                "\"0123456789abcdef01234567\"}]}";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char *copy = malloc(size + (size == 0));
        memcpy(copy, whole, size);
        CHECK_STATUS(TANSU_E_INVALID_JSON, tansu_json_to_bson(copy, size, &bson, NULL));
        free(copy);
    }
    tansu_buffer_free(&bson);
    tansu_buffer_free(&text);
}

int main(void) {
    RUN(errors_have_their_offset);
    RUN(refuses_a_key_twice);
    RUN(bounds_depth);
    RUN(bounds_size);
    RUN(chooses_number_types);
    RUN(doubles_come_back);
    RUN(no_locale_changes_numbers);
    RUN(reads_times);
    RUN(leaves_operators_alone);
    RUN(too_large_decimals_are_zero);
    RUN(writes_what_libbson_writes);
    RUN(minds_its_parameters);
    return check_finish();
}
