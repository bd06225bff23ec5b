/*
 * test_dump.c -- dump and load: documents of every type come back bit for bit, with their order,
 * collections, options and indexes, and what is wrong in a text is reported with its line.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/random/random_bson.h"
#include "support/workload/sample_database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that is written to, or read from in pieces of random size. */
typedef struct text {
    char *bytes;
    size_t size;
    size_t at;
    size_t most;     /* of it may be taken; 0: all */
    unsigned pieces; /* greatest size of one; 0: what is asked for */
    random_source source;
} text;

static int take(void *context, const void *bytes, size_t size) {
    text *t = context;
    if (t->most != 0 && t->size + size > t->most)
        return 0;
    t->bytes = realloc(t->bytes, t->size + size + 1);
    REQUIRE(t->bytes != NULL);
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    t->bytes[t->size] = 0;
    return 1;
}

static ptrdiff_t give(void *context, void *bytes, size_t room) {
    text *t = context;
    size_t size = t->size - t->at;
    if (t->most != 0 && t->at >= t->most)
        return -1;
    if (t->pieces != 0 && size > t->pieces)
        size = 1 + random_below(&t->source, t->pieces);
    if (size > room)
        size = room;
    memcpy(bytes, t->bytes + t->at, size);
    t->at += size;
    return (ptrdiff_t)size;
}

/* of -- a text with single quotes for double ones. */
static text of(const char *string) {
    text t = {0};
    take(&t, string, strlen(string));
    for (size_t i = 0; i < t.size; i++)
        if (t.bytes[i] == '\'')
            t.bytes[i] = '"';
    return t;
}

/* dump_with / load_with -- a dump or load with options as JSON (NULL: none). */
static tansu_status dump_with(tansu_db *db, tansu_txn *txn, text *t, const char *options) {
    bson_t *own = NULL;
    if (options != NULL) {
        text json = of(options);
        own = bson_new_from_json((const uint8_t *)json.bytes, (ssize_t)json.size, NULL);
        REQUIRE(own != NULL);
        free(json.bytes);
    }
    tansu_status status =
        tansu_dump(db, txn, take, t, document_of(own), NULL, NULL, NULL, &call_error);
    bson_destroy(own);
    return status;
}

static tansu_buffer load_report;

static tansu_status load_with(tansu_db *db, text *t, const char *options) {
    bson_t *own = NULL;
    if (options != NULL) {
        text json = of(options);
        own = bson_new_from_json((const uint8_t *)json.bytes, (ssize_t)json.size, NULL);
        REQUIRE(own != NULL);
        free(json.bytes);
    }
    t->at = 0;
    tansu_status status =
        tansu_load(db, give, t, document_of(own), NULL, NULL, &load_report, &call_error);
    bson_destroy(own);
    return status;
}

/* loaded -- a number of the last load's report. */
static int64_t loaded(const char *name) {
    bson_t view;
    bson_iter_t at;
    REQUIRE(bson_init_static(&view, load_report.data, load_report.size));
    REQUIRE(bson_iter_init_find(&at, &view, name));
    return bson_iter_int64(&at);
}

/* same_documents -- byte for byte and in the same order. */
static void same_documents(tansu_db *a, tansu_db *b, const char *collection) {
    tansu_cursor *one = call_cursor(a, NULL, collection, "{}", "{}");
    tansu_cursor *two = call_cursor(b, NULL, collection, "{}", "{}");
    tansu_document x, y;
    tansu_status status;
    do {
        status = tansu_cursor_next(one, &x, NULL);
        CHECK_STATUS(status, tansu_cursor_next(two, &y, NULL));
        if (status == TANSU_OK && !CHECK_BYTES(x.data, x.size, y.data, y.size))
            break;
    } while (status == TANSU_OK);
    tansu_cursor_close(one);
    tansu_cursor_close(two);
}

/* ---- There and back ---- */

/* make_sayable -- extended JSON has one NaN, and no second way to write a decimal128: gives such
 * values the bits that it has words for. */
static void make_sayable(bson_iter_t *iter) {
    bson_iter_t inner;
    while (bson_iter_next(iter)) {
        bson_decimal128_t decimal;
        char text[BSON_DECIMAL128_STRING];
        if (BSON_ITER_HOLDS_DOUBLE(iter) && isnan(bson_iter_double(iter)))
            bson_iter_overwrite_double(iter, NAN);
        if (bson_iter_decimal128(iter, &decimal)) {
            bson_decimal128_to_string(&decimal, text);
            if (!bson_decimal128_from_string(text, &decimal)) /* a zero with digits left over */
                REQUIRE(bson_decimal128_from_string("0", &decimal));
            bson_iter_overwrite_decimal128(iter, &decimal);
        }
        if (BSON_ITER_HOLDS_CODEWSCOPE(iter)) {
            uint32_t size, scope_size;
            const uint8_t *scope;
            bson_t doc;
            (void)bson_iter_codewscope(iter, &size, &scope_size, &scope);
            REQUIRE(bson_init_static(&doc, scope, scope_size) && bson_iter_init(&inner, &doc));
            make_sayable(&inner);
        } else if (bson_iter_recurse(iter, &inner)) {
            make_sayable(&inner);
        }
    }
}

static void random_documents_come_back_bit_for_bit(void) {
    random_source source = random_start(1);
    static const char *const names[] = {"a", "b with space", "\xC3\xA9\xE2\x82\xAC", "quote\"d"};
    for (int round = 0; round < 12; round++) {
        tansu_db *db = call_open(NULL), *back = call_open(NULL);
        for (int i = 0; i < 400; i++) {
            bson_t *doc = random_document(&source);
            bson_iter_t iter;
            REQUIRE(bson_iter_init(&iter, doc));
            make_sayable(&iter);
            call_save_bson(db, NULL, names[random_below(&source, 4)], TANSU_SAVE, doc);
            bson_destroy(doc);
        }
        CHECK_OK(call_ensure(db, NULL, "empty", "{'local': true}"), &call_error);
        call_index(db, NULL, "a", NULL, "{'a': 1}", NULL);
        call_index(db, NULL, "a", "second", "{'b': -1, 'c.d': 1}",
                   "{'sparse': true, 'caseInsensitive': true}");
        text first = {0}, second = {0};
        CHECK_OK(dump_with(db, NULL, &first, NULL), &call_error);
        first.source = source;
        first.pieces = round % 2 == 0 ? 0 : 300;
        CHECK_OK(load_with(back, &first, round % 3 == 0 ? "{'atomic': true}" : NULL), &call_error);
        CHECK_OK(dump_with(back, NULL, &second, NULL), &call_error);
        CHECK_BYTES(first.bytes, first.size, second.bytes, second.size);
        for (int i = 0; i < 4; i++)
            same_documents(db, back, names[i]);
        CHECK_TEXT(call_collections(db, NULL), call_collections(back, NULL));
        CHECK_TEXT(call_indexes(db, NULL, "a"), call_indexes(back, NULL, "a"));
        free(first.bytes);
        free(second.bytes);
        call_close(back);
        call_close(db);
    }
}

/* one_of_each -- the values that texts lose most easily. */
static bson_t *one_of_each(void) {
    bson_t *doc = bson_new();
    bson_oid_t oid;
    bson_decimal128_t decimal;
    bson_t scope = BSON_INITIALIZER;
    bson_oid_init_from_string(&oid, "0123456789abcdef01234567");
    BSON_APPEND_INT32(&scope, "x", 1);
    BSON_APPEND_INT32(doc, "_id", 1);
    BSON_APPEND_INT32(doc, "int32", INT32_MIN);
    BSON_APPEND_INT64(doc, "int64", INT64_MIN);
    BSON_APPEND_INT64(doc, "small int64", 1);
    BSON_APPEND_DOUBLE(doc, "whole double", 1.0);
    BSON_APPEND_DOUBLE(doc, "minus zero", -0.0);
    BSON_APPEND_DOUBLE(doc, "tiny", 4.9406564584124654e-324);
    BSON_APPEND_DOUBLE(doc, "huge", 1.7976931348623157e308);
    BSON_APPEND_DOUBLE(doc, "third", 1.0 / 3);
    BSON_APPEND_DOUBLE(doc, "nan", NAN);
    BSON_APPEND_DOUBLE(doc, "inf", -INFINITY);
    static const char *const decimals[] = {"1.10",
                                           "-0",
                                           "0E+6111",
                                           "NaN",
                                           "-Infinity",
                                           "1E-6176",
                                           "9.999999999999999999999999999999999E+6144"};
    for (int i = 0; i < 7; i++) {
        char key[24];
        snprintf(key, sizeof key, "decimal%d", i);
        REQUIRE(bson_decimal128_from_string(decimals[i], &decimal));
        BSON_APPEND_DECIMAL128(doc, key, &decimal);
    }
    BSON_APPEND_DATE_TIME(doc, "first date", INT64_MIN);
    BSON_APPEND_DATE_TIME(doc, "last date", INT64_MAX);
    BSON_APPEND_DATE_TIME(doc, "before", -1);
    BSON_APPEND_DATE_TIME(doc, "year 10000", 253402300800000);
    BSON_APPEND_OID(doc, "oid", &oid);
    BSON_APPEND_BOOL(doc, "yes", true);
    BSON_APPEND_NULL(doc, "null");
    BSON_APPEND_UNDEFINED(doc, "undefined");
    BSON_APPEND_MINKEY(doc, "min");
    BSON_APPEND_MAXKEY(doc, "max");
    BSON_APPEND_REGEX(doc, "regex", "a\"\\/b", "imsx");
    BSON_APPEND_TIMESTAMP(doc, "timestamp", UINT32_MAX, UINT32_MAX);
    BSON_APPEND_CODE(doc, "code", "f(\"\n\")");
    BSON_APPEND_CODE_WITH_SCOPE(doc, "code with scope", "x", &scope);
    BSON_APPEND_SYMBOL(doc, "symbol", "s");
    BSON_APPEND_DBPOINTER(doc, "pointer", "c.d", &oid);
    static const bson_subtype_t subtypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x80, 0xFF};
    for (size_t i = 0; i < sizeof subtypes / sizeof subtypes[0]; i++) {
        char key[24];
        snprintf(key, sizeof key, "binary%zu", i);
        BSON_APPEND_BINARY(doc, key, subtypes[i], (const uint8_t *)"\0\1\2\xFF 0123456789a", 16);
    }
    BSON_APPEND_BINARY(doc, "no bytes", 0, (const uint8_t *)"", 0);
    bson_append_utf8(doc, "text", -1, "a\0b\x01\x1F\x7F\"\\/\xE2\x80\xA8\xF0\x9F\x98\x80", 16);
    bson_append_utf8(doc, "", -1, "", 0);
    bson_t part = BSON_INITIALIZER, empty = BSON_INITIALIZER;
    BSON_APPEND_UTF8(&part, "$ref", "c");
    BSON_APPEND_OID(&part, "$id", &oid);
    BSON_APPEND_UTF8(&part, "$db", "d");
    BSON_APPEND_DOCUMENT(doc, "reference", &part);
    BSON_APPEND_DOCUMENT(doc, "nothing", &empty);
    BSON_APPEND_ARRAY(doc, "none", &empty);
    bson_destroy(&scope);
    bson_destroy(&part);
    return doc;
}

static void every_type_comes_back(void) {
    tansu_db *db = call_open(NULL), *back = call_open(NULL);
    bson_t *doc = one_of_each();
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
    text t = {0};
    CHECK_OK(dump_with(db, NULL, &t, NULL), &call_error);
    CHECK_OK(load_with(back, &t, NULL), &call_error);
    same_documents(db, back, "c");
    tansu_buffer found = TANSU_BUFFER_INIT;
    bson_t *id = BCON_NEW("_id", BCON_INT32(1));
    CHECK_OK(tansu_get(back, NULL, "c", document_of(id), &found, &call_error), &call_error);
    CHECK_BYTES(bson_get_data(doc), doc->len, found.data, found.size);
    tansu_buffer_free(&found);
    bson_destroy(id);
    bson_destroy(doc);
    free(t.bytes);
    call_close(back);
    call_close(db);
}

/* A long line, and one document more than a batch. */
static void large_and_many_documents(void) {
    tansu_db *db = call_open(NULL), *back = call_open(NULL);
    size_t size = 15 * 1024 * 1024;
    char *filling = malloc(size + 1);
    REQUIRE(filling != NULL);
    memset(filling, 1, size); /* six characters each in the text */
    filling[size] = 0;
    bson_t doc = BSON_INITIALIZER;
    BSON_APPEND_INT32(&doc, "_id", 1);
    bson_append_utf8(&doc, "s", 1, filling, (int)size);
    CHECK_OK(call_save_bson(db, NULL, "large", TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
    free(filling);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 4097; i++) {
        char json[32];
        snprintf(json, sizeof json, "{'_id': %d}", 5000 - i);
        CHECK_OK(call_save(db, txn, "many", TANSU_INSERT, json), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    text t = {0};
    CHECK_OK(dump_with(db, NULL, &t, NULL), &call_error);
    CHECK(t.size > 6 * size);
    CHECK_OK(load_with(back, &t, NULL), &call_error);
    CHECK_INT(4098, loaded("documents"));
    CHECK_INT(4102, loaded("lines"));
    same_documents(db, back, "large");
    same_documents(db, back, "many");
    free(t.bytes);
    call_close(back);
    call_close(db);
}

static void a_dump_looks_like_this(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_save(db, NULL, "b", TANSU_SAVE, "{'_id': 7, 'x': 1.5}"), &call_error);
    CHECK_OK(call_index(db, NULL, "b", NULL, "{'x': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "a", "{'local': true}"), &call_error);
    text t = {0};
    text expected = of("{'$dump': {'format': {'$numberInt': '1'}}}\n"
                       "{'$collection': {'name': 'a', 'options': {'local': true}, "
                       "'documents': {'$numberLong': '0'}, 'indexes': []}}\n"
                       "{'$collection': {'name': 'b', 'options': {'local': false}, "
                       "'documents': {'$numberLong': '1'}, 'indexes': [{'name': 'x_1', "
                       "'keys': {'x': {'$numberInt': '1'}}, 'options': {'unique': true}}]}}\n"
                       "{'_id': {'$numberInt': '7'}, 'x': {'$numberDouble': '1.5'}}\n"
                       "{'$end': {'collections': {'$numberLong': '2'}, "
                       "'documents': {'$numberLong': '1'}, 'indexes': {'$numberLong': '1'}}}\n");
    CHECK_OK(dump_with(db, NULL, &t, NULL), &call_error);
    CHECK_TEXT(expected.bytes, t.bytes);
    free(expected.bytes);
    free(t.bytes);
    call_close(db);
}

/* Documents that look like values of extended JSON, or like lines of a dump. */
static void keys_that_begin_with_a_dollar_survive(void) {
    static const char *const documents[] = {
        "{'_id': 1, 'a': {'\\u0024numberInt': '5'}}",
        "{'_id': 2, 'a': [{'\\u0024oid': 'zz'}, {'\\u0024date': {'\\u0024numberLong': '1'}}]}",
        "{'_id': 3, 'a': {'$regex': 'a', '$options': 'i'}, 'b': {'x': 1, '$oid': 2}}",
        "{'_id': 4, 'a': {'\\u0024code': '', '$scope': {}}, 'b': {'$ref': 'c', '$id': 5}}",
        "{'_id': 5, 'a': {'$code': '', '$scope': {'\\u0024oid': 1}}}",
        "{'$dump': {'format': 1}, '_id': 6}",
        "{'\\u0024end': 1, '_id': 7}",
        "{'\\u0024oid': '7', '_id': 8}",
        "{'$': 1, '_id': null, '\\\\u0024oid': {'\\\\u0024oid': 1}}",
    };
    tansu_db *db = call_open(NULL), *copy = call_open(NULL);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        text json = of(documents[i]);
        tansu_buffer bson = TANSU_BUFFER_INIT;
        CHECK_OK(tansu_json_to_bson(json.bytes, json.size, &bson, &call_error), &call_error);
        tansu_document document = {bson.data, bson.size};
        CHECK_OK(tansu_save_one(db, NULL, "c", document, TANSU_INSERT, NULL, &call_error),
                 &call_error);
        tansu_buffer_free(&bson);
        free(json.bytes);
    }
    text t = {0}, again = {0};
    CHECK_OK(dump_with(db, NULL, &t, NULL), &call_error);
    CHECK_OK(load_with(copy, &t, NULL), &call_error);
    same_documents(db, copy, "c");
    CHECK_INT(sizeof documents / sizeof *documents, call_count(copy, NULL, "c", "{}"));
    CHECK_OK(dump_with(copy, NULL, &again, NULL), &call_error);
    CHECK_BYTES(t.bytes, t.size, again.bytes, again.size);
    free(t.bytes);
    free(again.bytes);
    call_close(db);
    call_close(copy);
}

static void a_part_is_dumped(void) {
    tansu_db *db = call_open(NULL), *back = call_open(NULL);
    sample_fill(db);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 1}"), &call_error);
    text t = {0};
    CHECK_OK(dump_with(db, NULL, &t,
                       "{'collections': ['c'], 'query': {'_id': {'$lt': 10}}, 'indexes': false}"),
             &call_error);
    CHECK_OK(load_with(back, &t, NULL), &call_error);
    CHECK_INT(call_count(db, NULL, "c", "{'_id': {'$lt': 10}}"), call_count(back, NULL, "c", "{}"));
    CHECK_INT(1, loaded("collections"));
    CHECK_INT(0, loaded("indexes"));
    text rest = {0};
    CHECK_STATUS(TANSU_E_NOT_FOUND, dump_with(db, NULL, &rest, "{'collections': ['c', 'none']}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, dump_with(db, NULL, &rest, "{'query': {}}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 dump_with(db, NULL, &rest, "{'collections': ['c', 'd'], 'query': {}}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, dump_with(db, NULL, &rest, "{'collections': 'c'}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, dump_with(db, NULL, &rest, "{'collections': [1]}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, dump_with(db, NULL, &rest, "{'colections': []}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, dump_with(db, NULL, &rest, "{'indexes': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 dump_with(db, NULL, &rest, "{'collections': ['c'], 'query': {'a': {'$x': 1}}}"));
    CHECK_INT(0, rest.size);
    rest.most = 100; /* the receiver has had enough */
    CHECK_STATUS(TANSU_E_IO, dump_with(db, NULL, &rest, NULL));
    free(t.bytes);
    free(rest.bytes);
    call_close(back);
    call_close(db);
}

static void a_dump_in_a_transaction_sees_its_changes(void) {
    tansu_db *db = call_open(NULL), *back = call_open(NULL);
    sample_fill(db);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "new", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_remove(db, txn, "c", "{'_id': 1}", NULL), &call_error);
    text inside = {0}, outside = {0};
    CHECK_OK(dump_with(db, txn, &inside, NULL), &call_error);
    CHECK_OK(dump_with(db, NULL, &outside, NULL), &call_error);
    CHECK_OK(load_with(back, &inside, NULL), &call_error);
    CHECK_INT(49, call_count(back, NULL, "c", "{}"));
    CHECK_INT(1, call_count(back, NULL, "new", "{}"));
    CHECK(strstr(outside.bytes, "new") == NULL);
    tansu_txn_abort(txn);
    free(inside.bytes);
    free(outside.bytes);
    call_close(back);
    call_close(db);
}

/* ---- Plain lines ---- */

/* plain_lines_may_be_of_version_1 -- extended JSON v1, where it can only be that, as in
 * MongoDB's description of it; a byte order mark before it. In a dump it is no type. */
static void plain_lines_may_be_of_version_1(void) {
    static const struct {
        const char *v1;
        const char *v2; /* NULL: refused */
    } cases[] = {
        {"{'$date': 1356351330501}", "{'$date': {'$numberLong': '1356351330501'}}"},
        {"{'$date': -1}", "{'$date': {'$numberLong': '-1'}}"},
        {"{'$date': '2012-12-24T13:15:30.501+0100'}",
         "{'$date': {'$numberLong': '1356351330501'}}"},
        {"{'$binary': 'AQI=', '$type': '00'}", "{'$binary': {'base64': 'AQI=', 'subType': '00'}}"},
        {"{'$type': '80', '$binary': ''}", "{'$binary': {'base64': '', 'subType': '80'}}"},
        {"{'$binary': 'AQI=', '$type': 2}", "{'$binary': {'base64': 'AQI=', 'subType': '02'}}"},
        {"{'$binary': 'AQI=', '$type': '5'}", "{'$binary': {'base64': 'AQI=', 'subType': '05'}}"},
        {"{'$regex': '^a', '$options': 'xi'}",
         "{'$regularExpression': {'pattern': '^a', 'options': 'ix'}}"},
        {"{'$options': '', '$regex': ''}",
         "{'$regularExpression': {'pattern': '', 'options': ''}}"},
        {"[{'a': {'$date': 5}}]", "[{'a': {'$date': {'$numberLong': '5'}}}]"},
        {"{'$timestamp': {'t': 1, 'i': 2}}", "{'$timestamp': {'t': 1, 'i': 2}}"},
        {"{'$ref': 'c', '$id': {'$regex': 'a', '$options': ''}}",
         "{'$ref': 'c', '$id': {'$regularExpression': {'pattern': 'a', 'options': ''}}}"},
        {"{'$undefined': true}", "{'$undefined': true}"},
        {"{'$date': 1.5}", NULL},
        {"{'$date': null}", NULL},
        {"{'$date': 5, 'x': 1}", NULL},
        {"{'$date': {'$numberInt': '5'}}", NULL},
        {"{'$binary': 'AQI=', '$type': '000'}", NULL},
        {"{'$binary': 'AQI', '$type': '00'}", NULL},
        {"{'$binary': 'AQI=', '$type': 256}", NULL},
        {"{'$binary': 'AQI=', '$type': -1}", NULL},
        {"{'$binary': 'AQI=', '$type': '00', 'x': 1}", NULL},
        {"{'$binary': 'AQI='}", NULL},
        {"{'$type': '00'}", "{'\\u0024type': '00'}"},
        {"{'$type': 2}", "{'\\u0024type': 2}"},
        {"{'$regex': '^a'}", "{'\\u0024regex': '^a'}"},
        {"{'$regex': '^a', '$options': 1}", "{'\\u0024regex': '^a', '$options': 1}"},
        {"{'$regex': 'a\\u0000', '$options': ''}", "{'\\u0024regex': 'a\\u0000', '$options': ''}"},
        {"{'$regex': {'$regularExpression': {'pattern': 'a', 'options': ''}}, '$options': ''}",
         "{'\\u0024regex': {'$regularExpression': {'pattern': 'a', 'options': ''}}, "
         "'$options': ''}"},
        {"{'\\u0024regex': 'a', '$options': ''}", "{'\\u0024regex': 'a', '$options': ''}"},
        {"{'\\u0024date': 5}", "{'\\u0024date': 5}"},
        {"{'$options': 'i'}", "{'\\u0024options': 'i'}"},
        {"{'$regex': 'a', '$options': '', 'x': 1}",
         "{'\\u0024regex': 'a', '$options': '', 'x': 1}"},
    };
    tansu_db *db = call_open(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[300];
        snprintf(line, sizeof line, "\xEF\xBB\xBF{'_id': %d, 'v': %s}\n", (int)i, cases[i].v1);
        text t = of(line);
        tansu_status status = load_with(db, &t, "{'collection': 'v1'}");
        if (!CHECK((status == TANSU_OK) == (cases[i].v2 != NULL)))
            check_note("%s: %s", cases[i].v1, call_error.message);
        free(t.bytes);
        if (cases[i].v2 == NULL)
            continue;
        snprintf(line, sizeof line, "{'_id': %d, 'v': %s}\n", (int)i, cases[i].v2);
        t = of(line);
        CHECK_OK(load_with(db, &t, "{'collection': 'v2'}"), &call_error);
        free(t.bytes);
    }
    tansu_cursor *v1 = call_cursor(db, NULL, "v1", "{}", "{}");
    tansu_cursor *v2 = call_cursor(db, NULL, "v2", "{}", "{}");
    tansu_document x, y;
    while (tansu_cursor_next(v1, &x, NULL) == TANSU_OK) {
        REQUIRE(tansu_cursor_next(v2, &y, NULL) == TANSU_OK);
        CHECK_BYTES(y.data, y.size, x.data, x.size);
    }
    tansu_cursor_close(v1);
    tansu_cursor_close(v2);
    text t = of("{'$dump': {'format': 1}}\n"
                "{'$collection': {'name': 'd', 'options': {}, 'documents': 1, 'indexes': []}}\n"
                "{'_id': 1, 'v': {'$date': 5}}\n");
    CHECK_STATUS(TANSU_E_INVALID_JSON, load_with(db, &t, NULL));
    CHECK_INT(3, call_error.offset);
    free(t.bytes);
    call_close(db);
}

static void plain_lines_are_documents(void) {
    tansu_db *db = call_open(NULL);
    text t =
        of("\n  {'_id': 1, 'x': {'$numberLong': '5'}}\r\n\n{'_id': 2}\n \t\n{'name': 'no id'}");
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, NULL));
    CHECK_INT(2, call_error.offset);
    CHECK_OK(load_with(db, &t, "{'collection': 'c'}"), &call_error);
    CHECK_INT(3, loaded("documents"));
    CHECK_INT(6, loaded("lines"));
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT("{ \"_id\" : 1, \"x\" : 5 }", call_get(db, NULL, "c", "{'_id': 1}"));
    free(t.bytes);
    t = of("");
    CHECK_OK(load_with(db, &t, "{'collection': 'none'}"), &call_error);
    CHECK_INT(0, loaded("documents"));
    free(t.bytes);
    call_close(db);
}

static void what_becomes_of_ids_that_are_taken(void) {
    tansu_db *db = call_open(NULL);
    text t = of("{'_id': 1, 'n': 1}\n{'_id': 2, 'n': 1}\n{'_id': 1, 'n': 2}\n{'_id': 3}\n");
    CHECK_STATUS(TANSU_E_EXISTS, load_with(db, &t, "{'collection': 'insert'}"));
    CHECK_INT(3, call_error.offset);
    CHECK(strncmp(call_error.message, "Line 3: ", 8) == 0);
    CHECK_INT(2, loaded("documents")); /* what came before the line is kept */
    CHECK_INT(2, call_count(db, NULL, "insert", "{}"));
    CHECK_OK(load_with(db, &t, "{'collection': 'save', 'mode': 'save'}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 2 }", call_get(db, NULL, "save", "{'_id': 1}"));
    CHECK_INT(3, call_count(db, NULL, "save", "{}"));
    CHECK_OK(load_with(db, &t, "{'collection': 'skip', 'mode': 'skip'}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 1 }", call_get(db, NULL, "skip", "{'_id': 1}"));
    CHECK_INT(3, loaded("documents"));
    CHECK_INT(1, loaded("skipped"));
    CHECK_STATUS(TANSU_E_EXISTS, load_with(db, &t, "{'collection': 'atomic', 'atomic': true}"));
    CHECK_INT(0, loaded("documents"));
    CHECK_INT(0, call_count(db, NULL, "atomic", "{}"));
    CHECK(strstr(call_collections(db, NULL), "atomic") == NULL);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, "{'mode': 'replace'}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, "{'mode': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, "{'atomic': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, "{'collection': ''}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, load_with(db, &t, "{'collections': 'c'}"));
    CHECK_STATUS(TANSU_E_INVALID_NAME, load_with(db, &t, "{'collection': '$c'}"));
    free(t.bytes);
    call_close(db);
}

/* ---- What is wrong ---- */

static void bad_lines_are_reported_with_their_number(void) {
    static const struct {
        const char *lines;
        tansu_status status;
        int line;
    } cases[] = {
        {"{'_id': 1}\n{'_id': }\n", TANSU_E_INVALID_JSON, 2},
        {"{'_id': 1}\n\n\n[1]\n", TANSU_E_INVALID_JSON, 4},
        {"{'_id': 1}\n{'_id': [1]}\n", TANSU_E_INVALID_ID, 2},
        {"{'_id': 1, 'a': {'$oid': 1}}\n", TANSU_E_INVALID_JSON, 1},
        {"{'$oid': 1, '_id': 2}\n", TANSU_E_INVALID_JSON, 1},
        {"{'$dump': {'format': 1}}\n{'$x': 1}\n", TANSU_E_INVALID_JSON, 2},
        {"{'$end': {}}\n", TANSU_E_INVALID_JSON, 1},
        {"{'_id': 1}\n{'$dump': {'format': 1}}\n", TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 2}}\n", TANSU_E_VERSION, 1},
        {"{'$dump': {}}\n", TANSU_E_INVALID_JSON, 1},
        {"{'$dump': {'format': 1}, 'x': 1}\n", TANSU_E_INVALID_JSON, 1},
        {"{'$dump': 1}\n", TANSU_E_INVALID_JSON, 1},
        {"{'$dump': {'format': 1}}\n{'_id': 1}\n", TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 1}}\n{'$dump': {'format': 1}}\n", TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 1}}\n{'$collection': {'name': 'x'}}\n", TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 1}}\n{'$collection': {'name': '', 'options': {}, 'documents': 0, "
         "'indexes': []}}\n",
         TANSU_E_INVALID_NAME, 2},
        {"{'$dump': {'format': 1}}\n{'$collection': {'name': 'x', 'options': {'z': 1}, "
         "'documents': 0, 'indexes': []}}\n",
         TANSU_E_INVALID_QUERY, 2},
        {"{'$dump': {'format': 1}}\n{'$collection': {'name': 'x', 'options': {}, 'documents': 0, "
         "'indexes': [1]}}\n{'$end': {'collections': 1, 'documents': 0, 'indexes': 1}}\n",
         TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 1}}\n{'$collection': {'name': 'x', 'options': {}, 'documents': 0, "
         "'indexes': [{'name': 'i', 'keys': {}, 'options': {}}]}}\n{'$end': {'collections': 1, "
         "'documents': 0, 'indexes': 1}}\n",
         TANSU_E_INVALID_INDEX, 2},
        {"{'$dump': {'format': 1}}\n{'$end': {'collections': 0, 'documents': 0, 'indexes': 1}}\n",
         TANSU_E_INVALID_JSON, 2},
        {"{'$dump': {'format': 1}}\n{'$end': {'collections': 0, 'documents': 0, 'indexes': 0}}\n"
         "{'_id': 1}\n",
         TANSU_E_INVALID_JSON, 3},
        {"{'$dump': {'format': 1}}\n{'$end': {'collections': 0, 'documents': 0, 'indexes': 0}}\n"
         "{'$end': {'collections': 0, 'documents': 0, 'indexes': 0}}\n",
         TANSU_E_INVALID_JSON, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tansu_db *db = call_open(NULL);
        text t = of(cases[i].lines);
        if (!CHECK_STATUS(cases[i].status, load_with(db, &t, "{'collection': 'c'}")) ||
            !CHECK_INT(cases[i].line, call_error.offset))
            check_note("%s%s", cases[i].lines, call_error.message);
        free(t.bytes);
        call_close(db);
    }
}

static void a_dump_that_was_cut_is_noticed(void) {
    tansu_db *db = call_open(NULL);
    sample_fill(db);
    text whole = {0};
    CHECK_OK(dump_with(db, NULL, &whole, NULL), &call_error);
    random_source source = random_start(2);
    size_t size = whole.size;
    for (int i = 0; i < 150; i++) {
        tansu_db *back = call_open(NULL);
        whole.size = i == 0 ? size - 2 : 1 + random_below(&source, size - 2);
        CHECK_STATUS(TANSU_E_INVALID_JSON, load_with(back, &whole, NULL));
        CHECK_OK(tansu_shutdown(back, NULL), NULL);
    }
    whole.size = size;
    for (int i = 0; i < 40; i++) { /* a line is missing, or comes twice */
        tansu_db *back = call_open(NULL);
        text t = {0};
        size_t begin = random_below(&source, size);
        while (begin > 0 && whole.bytes[begin - 1] != '\n')
            begin--;
        size_t end = begin + strcspn(whole.bytes + begin, "\n") + 1;
        if (i % 2 == 0) {
            take(&t, whole.bytes, begin);
            take(&t, whole.bytes + end, size - end);
        } else {
            take(&t, whole.bytes, end);
            take(&t, whole.bytes + begin, size - begin);
        }
        tansu_status status = load_with(back, &t, i % 4 < 2 ? NULL : "{'mode': 'save'}");
        CHECK(status != TANSU_OK);
        free(t.bytes);
        call_close(back);
    }
    tansu_db *back = call_open(NULL);
    whole.most = 1000; /* and the source itself may fail */
    whole.pieces = 600;
    CHECK_STATUS(TANSU_E_IO, load_with(back, &whole, NULL));
    call_close(back);
    free(whole.bytes);
    call_close(db);
}

/* stop_at_second -- a progress function that ends the task. */
static int stop_at_second(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return ++*(int *)context < 2;
}

static void both_can_be_cancelled(void) {
    tansu_db *db = call_open(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 5000; i++)
        CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, "{'a': 1}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    text t = {0};
    int calls = 0;
    CHECK_STATUS(TANSU_E_CANCELLED, tansu_dump(db, NULL, take, &t, TANSU_NO_DOCUMENT,
                                               stop_at_second, &calls, NULL, &call_error));
    t.size = 0;
    CHECK_OK(dump_with(db, NULL, &t, NULL), &call_error);
    for (int atomic = 0; atomic < 2; atomic++) {
        tansu_db *back = call_open(NULL);
        bson_t *options = BCON_NEW("atomic", BCON_BOOL(atomic));
        calls = 0;
        t.at = 0;
        CHECK_STATUS(TANSU_E_CANCELLED,
                     tansu_load(back, give, &t, document_of(options), stop_at_second, &calls,
                                &load_report, &call_error));
        CHECK_INT(loaded("documents"), call_count(back, NULL, "c", "{}"));
        CHECK(atomic ? loaded("documents") == 0 : loaded("documents") > 0);
        bson_destroy(options);
        call_close(back);
    }
    free(t.bytes);
    call_close(db);
}

static void misuse_is_refused(void) {
    tansu_db *db = call_open(NULL);
    text t = {0};
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_dump(NULL, NULL, take, &t, TANSU_NO_DOCUMENT, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_dump(db, NULL, NULL, &t, TANSU_NO_DOCUMENT, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_load(NULL, give, &t, TANSU_NO_DOCUMENT, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_load(db, NULL, &t, TANSU_NO_DOCUMENT, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_load(db, give, &t, (tansu_document){"\x05", 1}, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON, tansu_dump(db, NULL, take, &t, (tansu_document){"\x05", 1},
                                                  NULL, NULL, NULL, NULL));
    call_close(db);
}

int main(void) {
    RUN(random_documents_come_back_bit_for_bit);
    RUN(every_type_comes_back);
    RUN(large_and_many_documents);
    RUN(a_dump_looks_like_this);
    RUN(keys_that_begin_with_a_dollar_survive);
    RUN(a_part_is_dumped);
    RUN(a_dump_in_a_transaction_sees_its_changes);
    RUN(plain_lines_are_documents);
    RUN(plain_lines_may_be_of_version_1);
    RUN(what_becomes_of_ids_that_are_taken);
    RUN(bad_lines_are_reported_with_their_number);
    RUN(a_dump_that_was_cut_is_noticed);
    RUN(both_can_be_cancelled);
    RUN(misuse_is_refused);
    tansu_buffer_free(&load_report);
    return check_finish();
}
