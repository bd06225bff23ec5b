/*
 * test_api_documents.c -- saving, getting and removing documents: modes, ids, bounds, and every
 * error that tansu.h lists for these calls.
 */
#include "support/calls/call.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static tansu_db *db;

/* fresh -- an empty memory store for the next test. */
static void fresh(void) {
    if (db != NULL)
        call_close(db);
    db = call_open(NULL);
}

/* save -- in the collection "c". */
static tansu_status save(const char *json) {
    return call_save(db, NULL, "c", TANSU_SAVE, json);
}

/* sequence -- how many commits there were. */
static int64_t sequence(void) {
    return call_statistic(db, "sequence");
}

static void save_inserts_and_replaces(void) {
    fresh();
    CHECK_OK(save("{'_id': 1, 'a': 'x'}"), &call_error);
    CHECK_OK(save("{'a': 'y', '_id': 1, 'b': [1, {'c': null}]}"), &call_error);
    CHECK_TEXT("{ \"a\" : \"y\", \"_id\" : 1, \"b\" : [ 1, { \"c\" : null } ] }",
               call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    CHECK_INT(2, sequence());
}

static void insert_and_replace_are_strict(void) {
    fresh();
    CHECK_STATUS(TANSU_E_NOT_FOUND, call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_NOT_FOUND, call_save(db, NULL, "c", TANSU_REPLACE, "{'a': 1}"));
    CHECK_TEXT("{ \"collections\" : [  ] }", call_collections(db, NULL)); /* nor was it created */
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1, 'v': 1}"), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1, 'v': 2}"));
    CHECK_INT(0, call_error.offset);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 1 }", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_OK(call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 1, 'v': 3}"), &call_error);
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : 3 }", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_INT(2, sequence());
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 call_save(db, NULL, "c", (tansu_save_mode)4, "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 call_save(db, NULL, "c", (tansu_save_mode)-1, "{'_id': 1}"));
}

static void equal_numbers_are_one_id(void) {
    fresh();
    static const char *const ones[] = {
        "{'_id': 1, 'k': 'int32'}",
        "{'_id': {'$numberLong': '1'}, 'k': 'int64'}",
        "{'_id': {'$numberDouble': '1.0'}, 'k': 'double'}",
        "{'_id': {'$numberDecimal': '1.00'}, 'k': 'decimal'}",
    };
    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(save(ones[i]), &call_error);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
        for (size_t k = 0; k < 4; k++) {
            CHECK(strstr(call_get(db, NULL, "c", ones[k]), "\"k\"") != NULL);
            CHECK_STATUS(TANSU_E_EXISTS, call_save(db, NULL, "c", TANSU_INSERT, ones[k]));
        }
    }
    int removed = -1;
    CHECK_OK(call_remove_id(db, NULL, "c", "{'': 1}", &removed), &call_error);
    CHECK_INT(1, removed);
    /* Near is not equal, and 0 is -0. */
    CHECK_OK(save("{'_id': {'$numberLong': '9007199254740993'}}"), &call_error);
    CHECK_OK(save("{'_id': {'$numberDouble': '9007199254740992'}}"), &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    CHECK_OK(save("{'_id': 0}"), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS,
                 call_save(db, NULL, "c", TANSU_INSERT, "{'_id': {'$numberDouble': '-0.0'}}"));
}

static void ids_of_all_allowed_kinds(void) {
    fresh();
    static const char *const ids[] = {
        "{'_id': 'text'}",
        "{'_id': ''}",
        "{'_id': true}",
        "{'_id': false}",
        "{'_id': {'a': 1, 'b': [1]}}",
        "{'_id': {'b': [1], 'a': 1}}",
        "{'_id': {}}",
        "{'_id': {'$oid': '0123456789abcdef01234567'}}",
        "{'_id': {'$date': {'$numberLong': '5'}}}",
        "{'_id': {'$timestamp': {'t': 5, 'i': 1}}}",
        "{'_id': {'$binary': {'base64': 'AAEC', 'subType': '00'}}}",
        "{'_id': {'$binary': {'base64': 'AAEC', 'subType': '80'}}}",
        "{'_id': {'$numberDouble': 'NaN'}}",
        "{'_id': {'$numberDouble': 'Infinity'}}",
        "{'_id': -5}",
        "{'_id': 5}",
    };
    size_t count = sizeof ids / sizeof ids[0];
    for (size_t i = 0; i < count; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, ids[i]), &call_error);
    CHECK_INT(count, call_count(db, NULL, "c", "{}"));
    for (size_t i = 0; i < count; i++) {
        CHECK_STATUS(TANSU_E_EXISTS, call_save(db, NULL, "c", TANSU_INSERT, ids[i]));
        CHECK(call_get(db, NULL, "c", ids[i])[0] == '{');
        int removed = 0;
        CHECK_OK(call_remove_id(db, NULL, "c", ids[i], &removed), &call_error);
        CHECK_INT(1, removed);
        CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", ids[i]));
        CHECK_INT(count - i - 1, call_count(db, NULL, "c", "{}"));
    }
}

static void ids_of_other_kinds_are_refused(void) {
    fresh();
    static const char *const ids[] = {
        "{'_id': []}",
        "{'_id': [1]}",
        "{'_id': {'$regularExpression': {'pattern': 'a', 'options': ''}}}",
        "{'_id': {'$undefined': true}}",
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CHECK_STATUS(TANSU_E_INVALID_ID, save(ids[i]));
        CHECK_TEXT("INVALID_ID", call_get(db, NULL, "c", ids[i]));
        CHECK_STATUS(TANSU_E_INVALID_ID, call_remove_id(db, NULL, "c", ids[i], NULL));
    }
    CHECK_TEXT("INVALID_ID", call_get(db, NULL, "c", "{}"));
    CHECK_STATUS(TANSU_E_INVALID_ID, call_remove_id(db, NULL, "c", "{}", NULL));
    CHECK_INT(0, sequence());
}

static void a_missing_id_is_generated_and_comes_first(void) {
    fresh();
    bson_t *doc = BCON_NEW("a", BCON_INT32(1), "b", "{", "_id", BCON_INT32(9), "}");
    tansu_document documents[3] = {{bson_get_data(doc), doc->len},
                                   {bson_get_data(doc), doc->len},
                                   {bson_get_data(doc), doc->len}};
    tansu_buffer ids = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_save(db, NULL, "c", documents, 3, TANSU_SAVE, &ids, &call_error), &call_error);
    bson_t list;
    bson_iter_t iter, each;
    REQUIRE(bson_init_static(&list, ids.data, ids.size));
    CHECK(bson_validate(&list, BSON_VALIDATE_NONE, NULL));
    REQUIRE(bson_iter_init_find(&iter, &list, "ids") && BSON_ITER_HOLDS_ARRAY(&iter));
    REQUIRE(bson_iter_recurse(&iter, &each));
    int count = 0;
    while (bson_iter_next(&each)) {
        REQUIRE(BSON_ITER_HOLDS_OID(&each));
        char key[16], json[96], expected[160], oid[25];
        snprintf(key, sizeof key, "%d", count++);
        CHECK_TEXT(key, bson_iter_key(&each));
        bson_oid_to_string(bson_iter_oid(&each), oid);
        snprintf(json, sizeof json, "{'_id': {'$oid': '%s'}}", oid);
        snprintf(expected, sizeof expected,
                 "{ \"_id\" : { \"$oid\" : \"%s\" }, \"a\" : 1, \"b\" : { \"_id\" : 9 } }", oid);
        CHECK_TEXT(expected, call_get(db, NULL, "c", json));
    }
    CHECK_INT(3, count);
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1, sequence());
    tansu_buffer_free(&ids);
    bson_destroy(doc);
}

static void ids_are_reported_in_order_and_only_on_success(void) {
    fresh();
    bson_t *a = BCON_NEW("_id", "x"), *b = BCON_NEW("v", BCON_INT32(1), "_id", BCON_INT32(2));
    bson_t *c = BCON_NEW("_id", "[", "]");
    tansu_document documents[3] = {
        {bson_get_data(a), a->len}, {bson_get_data(b), b->len}, {bson_get_data(c), c->len}};
    tansu_buffer ids = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_save(db, NULL, "c", documents, 2, TANSU_SAVE, &ids, &call_error), &call_error);
    bson_t list;
    REQUIRE(bson_init_static(&list, ids.data, ids.size));
    char *json = bson_as_relaxed_extended_json(&list, NULL);
    CHECK_TEXT("{ \"ids\" : [ \"x\", 2 ] }", json);
    bson_free(json);
    CHECK_STATUS(TANSU_E_INVALID_ID,
                 tansu_save(db, NULL, "c", documents, 3, TANSU_SAVE, &ids, &call_error));
    CHECK_INT(2, call_error.offset);
    CHECK_INT(0, ids.size);
    CHECK_OK(tansu_save(db, NULL, "c", NULL, 0, TANSU_SAVE, &ids, &call_error), &call_error);
    REQUIRE(bson_init_static(&list, ids.data, ids.size));
    json = bson_as_relaxed_extended_json(&list, NULL);
    CHECK_TEXT("{ \"ids\" : [  ] }", json);
    bson_free(json);
    tansu_buffer_free(&ids);
    bson_destroy(a);
    bson_destroy(b);
    bson_destroy(c);
}

static void one_document_gives_its_id_as_other_calls_take_it(void) {
    fresh();
    bson_t *numbered = BCON_NEW("v", BCON_INT32(1), "_id", BCON_INT64(7));
    bson_t *unnamed = BCON_NEW("v", BCON_INT32(2)), *refused = BCON_NEW("_id", "[", "]");
    tansu_buffer id = TANSU_BUFFER_INIT, found = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_save_one(db, NULL, "c", document_of(numbered), TANSU_INSERT, &id, &call_error),
             &call_error);
    bson_t saved;
    REQUIRE(bson_init_static(&saved, id.data, id.size));
    char *json = bson_as_relaxed_extended_json(&saved, NULL);
    CHECK_TEXT("{ \"_id\" : 7 }", json);
    bson_free(json);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_save_one(db, NULL, "c", document_of(numbered), TANSU_INSERT,
                                                &id, &call_error));
    CHECK_INT(-1, call_error.offset);
    CHECK_INT(0, id.size);
    CHECK_STATUS(TANSU_E_INVALID_ID, tansu_save_one(db, NULL, "c", document_of(refused), TANSU_SAVE,
                                                    NULL, &call_error));
    CHECK_OK(tansu_save_one(db, NULL, "c", document_of(unnamed), TANSU_SAVE, &id, &call_error),
             &call_error);
    CHECK_OK(tansu_get(db, NULL, "c", (tansu_document){id.data, id.size}, &found, &call_error),
             &call_error);
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    CHECK_INT(2, sequence());
    tansu_buffer_free(&found);
    tansu_buffer_free(&id);
    bson_destroy(numbered);
    bson_destroy(unnamed);
    bson_destroy(refused);
}

static void a_batch_is_all_or_nothing(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(save("{'_id': 1, 'u': 1}"), &call_error);
    int64_t before = sequence();
    bson_t *docs[4] = {BCON_NEW("_id", BCON_INT32(2), "u", BCON_INT32(2)),
                       BCON_NEW("_id", BCON_INT32(1), "u", BCON_INT32(3)),
                       BCON_NEW("_id", BCON_INT32(4), "u", BCON_INT32(1)),
                       BCON_NEW("_id", BCON_INT32(5), "u", BCON_INT32(2))};
    tansu_document documents[4];
    for (int i = 0; i < 4; i++)
        documents[i] = document_of(docs[i]);
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 tansu_save(db, NULL, "c", documents, 4, TANSU_SAVE, NULL, &call_error));
    CHECK_INT(3, call_error.offset); /* the third frees what the second had taken */
    CHECK_TEXT("u", call_error.context);
    CHECK_INT(before, sequence());
    CHECK_TEXT("{ \"_id\" : 1, \"u\" : 1 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_TEXT("", call_find(db, NULL, "c", "{'u': {'$gte': 2}}", NULL));
    CHECK_OK(tansu_save(db, NULL, "c", documents, 3, TANSU_SAVE, NULL, &call_error), &call_error);
    CHECK_INT(before + 1, sequence());
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
    /* A collection that the call would have created. */
    CHECK_STATUS(TANSU_E_NOT_FOUND,
                 tansu_save(db, NULL, "d", documents, 4, TANSU_REPLACE, NULL, &call_error));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_collection_drop(db, NULL, "d", NULL));
    for (int i = 0; i < 4; i++)
        bson_destroy(docs[i]);
}

static void documents_that_may_not_be_stored(void) {
    fresh();
    static const struct {
        tansu_status status;
        const char *json;
    } cases[] = {
        {TANSU_E_INVALID_DOCUMENT, "{'_id': {'$x': 1}}"},
        {TANSU_E_INVALID_DOCUMENT, "{'_id': {'a': [{'$x': 1}]}}"},
        {TANSU_OK, "{'_id': 1, '$set': 1, 'a': {'$x': 1, 'b': [{'$x': {'$y': 1}}]}}"},
        {TANSU_OK, "{'_id': 1, 'a.b': 1, 'a$': 2, '': 3, 'a': {'.': 1}}"},
        {TANSU_OK, "{'_id': 2, 'ref': {'$ref': 'c', '$id': 5, '$db': 'd'}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STATUS(cases[i].status, save(cases[i].json));
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    int64_t before = sequence();
    bson_t *twice = BCON_NEW("_id", BCON_INT32(3), "a", BCON_INT32(1), "a", BCON_INT32(1));
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, call_save_bson(db, NULL, "c", TANSU_SAVE, twice));
    bson_destroy(twice);
    twice = BCON_NEW("_id", BCON_INT32(3), "x", "[", "{", "b", BCON_INT32(1), "b", BCON_INT32(1),
                     "}", "]");
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, call_save_bson(db, NULL, "c", TANSU_SAVE, twice));
    bson_destroy(twice);
    twice = BCON_NEW("_id", BCON_INT32(3), "_id", BCON_INT32(4));
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, call_save_bson(db, NULL, "c", TANSU_SAVE, twice));
    bson_destroy(twice);
    CHECK_INT(before, sequence());
}

static void bytes_that_are_no_document(void) {
    fresh();
    bson_t *doc = BCON_NEW("_id", BCON_INT32(1), "s", "text", "a", "[", BCON_INT32(1), "]");
    size_t size = doc->len;
    uint8_t *bytes = malloc(size + 1);
    REQUIRE(bytes != NULL);
    memcpy(bytes, bson_get_data(doc), size);
    tansu_document document = {bytes, 0};
    for (size_t length = 0; length <= size + 1; length++) {
        document.size = length;
        bytes[size] = 0;
        CHECK_STATUS(length == size ? TANSU_OK : TANSU_E_INVALID_BSON,
                     tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &call_error));
    }
    document.size = size;
    uint64_t refused = 0;
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            tansu_status status =
                tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &call_error);
            bson_t same;
            if (status == TANSU_OK)
                CHECK(bson_init_static(&same, bytes, size) &&
                      bson_validate(&same, BSON_VALIDATE_NONE, NULL));
            refused += status != TANSU_OK;
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    CHECK(refused > size);
    document.data = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_save(db, NULL, "c", NULL, 1, TANSU_SAVE, NULL, NULL));
    document.data = bytes;
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_get(db, NULL, "c", (tansu_document){bytes, 4}, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON,
                 tansu_remove_id(db, NULL, "c", (tansu_document){bytes, 4}, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON, tansu_remove(db, NULL, "c", (tansu_document){bytes, 4},
                                                    TANSU_NO_DOCUMENT, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_get(db, NULL, "c", TANSU_NO_DOCUMENT, &result, NULL));
    tansu_buffer_free(&result);
    free(bytes);
    bson_destroy(doc);
}

/* A NUL in a key, as the Swift library passes it on, is named; other bytes that are no UTF-8 are
 * not. */
static void a_nul_in_a_key_is_named(void) {
    static const char *const keys[] = {"x\xC0\x80y", "\xC0\x80", "x\xC0", "x\xC0\x81"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(1), "a", "{", keys[i], BCON_INT32(1), "}");
        tansu_document document = {bson_get_data(doc), doc->len};
        CHECK_STATUS(TANSU_E_INVALID_BSON,
                     tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &call_error));
        CHECK((strstr(call_error.message, "NUL") != NULL) == (i < 2));
        CHECK_STATUS(TANSU_E_INVALID_BSON,
                     tansu_remove(db, NULL, "c", document, TANSU_NO_DOCUMENT, NULL, &call_error));
        CHECK_STATUS(TANSU_E_INVALID_BSON,
                     tansu_remove(db, NULL, "c", TANSU_NO_DOCUMENT, document, NULL, &call_error));
        bson_destroy(doc);
    }
}

static void depth_has_a_bound(void) {
    fresh();
    for (int depth = TANSU_MAX_DEPTH - 2; depth < TANSU_MAX_DEPTH + 3; depth++) {
        bson_t *doc = BCON_NEW("v", BCON_INT32(1)); /* the innermost of `depth` levels */
        for (int i = 1; i < depth; i++) {
            bson_t *outer = bson_new();
            if (i == depth - 1)
                BSON_APPEND_INT32(outer, "_id", depth);
            BSON_APPEND_DOCUMENT(outer, "v", doc);
            bson_destroy(doc);
            doc = outer;
        }
        CHECK_STATUS(depth <= TANSU_MAX_DEPTH ? TANSU_OK : TANSU_E_TOO_LARGE,
                     call_save_bson(db, NULL, "c", TANSU_SAVE, doc));
        bson_destroy(doc);
    }
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
}

/* append_keys -- this many keys of five letters. */
static void append_keys(bson_t *doc, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char key[6] = {0};
        for (uint32_t k = 0, rest = i; k < 5; k++, rest /= 26)
            key[k] = (char)('a' + rest % 26);
        BSON_APPEND_NULL(doc, key);
    }
}

static void keys_have_a_bound(void) {
    fresh();
    for (int inner = 0; inner < 2; inner++) {
        for (uint32_t more = 0; more < 2; more++) {
            bson_t *doc = bson_new(), sub;
            BSON_APPEND_INT32(doc, "_id", inner);
            if (inner)
                BSON_APPEND_DOCUMENT_BEGIN(doc, "sub", &sub);
            append_keys(inner ? &sub : doc, TANSU_MAX_KEYS + more - (inner ? 0 : 1));
            if (inner)
                bson_append_document_end(doc, &sub);
            CHECK_STATUS(more ? TANSU_E_TOO_LARGE : TANSU_OK,
                         call_save_bson(db, NULL, "c", TANSU_INSERT, doc));
            bson_destroy(doc);
        }
    }
    CHECK_INT(2, call_count(db, NULL, "c", "{}"));
    bson_t *doc = bson_new(), array; /* elements of an array have no names */
    char key[16];
    const char *at;
    BSON_APPEND_INT32(doc, "_id", 2);
    BSON_APPEND_ARRAY_BEGIN(doc, "a", &array);
    for (uint32_t i = 0; i < TANSU_MAX_KEYS + 1; i++) {
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        bson_append_null(&array, at, (int)length);
    }
    bson_append_array_end(doc, &array);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_INSERT, doc), &call_error);
    bson_destroy(doc);
}

/* sized_document -- one of exactly this many bytes, with or without an `_id`. */
static bson_t *sized_document(size_t size, bool id) {
    bson_t *doc = bson_new();
    if (id)
        BSON_APPEND_INT32(doc, "_id", 1);
    size_t rest = size - doc->len - 8; /* type, "b\0", size, subtype */
    uint8_t *bytes = calloc(1, rest);
    REQUIRE(bytes != NULL);
    BSON_APPEND_BINARY(doc, "b", BSON_SUBTYPE_BINARY, bytes, (uint32_t)rest);
    REQUIRE(doc->len == size);
    free(bytes);
    return doc;
}

static void size_has_a_bound(void) {
    static const struct {
        size_t size;
        bool id;
        tansu_status status;
    } cases[] = {
        {TANSU_MAX_DOCUMENT_SIZE, true, TANSU_OK},
        {TANSU_MAX_DOCUMENT_SIZE + 1, true, TANSU_E_TOO_LARGE},
        {TANSU_MAX_DOCUMENT_SIZE - 17, false, TANSU_OK},
        {TANSU_MAX_DOCUMENT_SIZE - 16, false, TANSU_E_TOO_LARGE},
        {TANSU_MAX_DOCUMENT_SIZE, false, TANSU_E_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fresh();
        bson_t *doc = sized_document(cases[i].size, cases[i].id);
        CHECK_STATUS(cases[i].status, call_save_bson(db, NULL, "c", TANSU_SAVE, doc));
        CHECK_INT(cases[i].status == TANSU_OK, call_count(db, NULL, "c", "{}"));
        if (cases[i].status == TANSU_OK && cases[i].id) {
            tansu_buffer result = TANSU_BUFFER_INIT;
            bson_t *id = BCON_NEW("_id", BCON_INT32(1));
            CHECK_OK(tansu_get(db, NULL, "c", document_of(id), &result, NULL), NULL);
            CHECK_BYTES(bson_get_data(doc), doc->len, result.data, result.size);
            tansu_buffer_free(&result);
            bson_destroy(id);
        }
        bson_destroy(doc);
    }
}

static void remove_takes_what_matches(void) {
    fresh();
    for (int i = 0; i < 20; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i % 4));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
    int64_t removed = -1, before = sequence();
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 3}", &removed), &call_error);
    CHECK_INT(5, removed);
    CHECK_INT(before + 1, sequence());
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 3}", &removed), &call_error);
    CHECK_INT(0, removed);
    CHECK_INT(before + 1, sequence()); /* nothing changed: no commit */
    CHECK_OK(call_remove(db, NULL, "nowhere", "{}", &removed), &call_error);
    CHECK_INT(0, removed);
    removed = 7;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_remove(db, NULL, "c", "{'n': {'$foo': 1}}", &removed));
    CHECK_INT(0, removed);
    CHECK_OK(call_remove(db, NULL, "c", NULL, &removed), &call_error);
    CHECK_INT(15, removed);
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK(strstr(call_collections(db, NULL), "\"name\" : \"c\"") != NULL);
}

static void what_was_removed_is_gone(void) {
    fresh();
    int removed = -1;
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1}", &removed), &call_error);
    CHECK_INT(0, removed);
    CHECK_OK(save("{'_id': 1, 'v': 1}"), &call_error);
    CHECK_OK(save("{'_id': 2, 'v': 1}"), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1}", &removed), &call_error);
    CHECK_INT(1, removed);
    CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    CHECK_OK(save("{'_id': 1, 'v': 2}"), &call_error);
    /* It was inserted again: it is now the last. */
    CHECK_TEXT("{ \"_id\" : 2, \"v\" : 1 } { \"_id\" : 1, \"v\" : 2 }",
               call_find(db, NULL, "c", "{}", NULL));
    CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "nowhere", "{'_id': 1}"));
}

static void names_are_checked(void) {
    fresh();
    char long_name[TANSU_MAX_NAME + 2];
    memset(long_name, 'n', sizeof long_name);
    long_name[TANSU_MAX_NAME] = 0;
    CHECK_OK(call_save(db, NULL, long_name, TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(1, call_count(db, NULL, long_name, "{}"));
    long_name[TANSU_MAX_NAME] = 'n';
    long_name[TANSU_MAX_NAME + 1] = 0;
    const char *bad[] = {"", "$c", "a\nb", "\x80", "\xC0\xAF", long_name};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(TANSU_E_INVALID_NAME, call_save(db, NULL, bad[i], TANSU_SAVE, "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, call_save(db, NULL, NULL, TANSU_SAVE, "{'_id': 1}"));
    CHECK_INT(1, sequence());
    CHECK_OK(call_save(db, NULL, "städte und dörfer/☃", TANSU_SAVE, "{'_id': 1}"), &call_error);
}

static void a_null_handle_is_an_invalid_argument(void) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(1));
    tansu_document document = document_of(doc);
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_cursor *cursor;
    tansu_txn *txn;
    int64_t count;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_save(NULL, NULL, "c", &document, 1, TANSU_SAVE, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_remove(NULL, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_remove_id(NULL, NULL, "c", document, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_get(NULL, NULL, "c", document, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_find(NULL, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_count(NULL, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_explain(NULL, NULL, "c", TANSU_NO_DOCUMENT,
                                                         TANSU_NO_DOCUMENT, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_txn_begin(NULL, TANSU_TXN_READ, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_txn_commit(NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_stats(NULL, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_sync(NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_checkpoint(NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_collection_list(NULL, NULL, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_collection_drop(NULL, NULL, "c", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_cursor_next(NULL, &document, NULL));
    fresh();
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_get(db, NULL, NULL, document, &result, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_get(db, NULL, "c", document, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_find(db, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_count(db, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, NULL, NULL));
    tansu_txn_abort(NULL);
    tansu_cursor_close(NULL);
    bson_destroy(doc);
}

static void too_many_index_entries_are_refused(void) {
    fresh();
    CHECK_OK(call_index(db, NULL, "c", "a", "{'a': 1}", NULL), &call_error);
    bson_t *doc = BCON_NEW("_id", BCON_INT32(1)), list;
    BSON_APPEND_ARRAY_BEGIN(doc, "a", &list);
    for (int i = 0; i < TANSU_DEFAULT_INDEX_ENTRIES + 1; i++) {
        char key[12];
        snprintf(key, sizeof key, "%d", i);
        BSON_APPEND_INT32(&list, key, i);
    }
    bson_append_array_end(doc, &list);
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_save_bson(db, NULL, "c", TANSU_SAVE, doc));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    CHECK_OK(call_save_bson(db, NULL, "d", TANSU_SAVE, doc), &call_error);
    CHECK_STATUS(TANSU_E_TOO_LARGE, call_index(db, NULL, "d", "a", "{'a': 1}", NULL));
    CHECK_TEXT("{ \"indexes\" : [  ] }", call_indexes(db, NULL, "d"));
    bson_destroy(doc);
}

int main(void) {
    RUN(save_inserts_and_replaces);
    RUN(insert_and_replace_are_strict);
    RUN(equal_numbers_are_one_id);
    RUN(ids_of_all_allowed_kinds);
    RUN(ids_of_other_kinds_are_refused);
    RUN(a_missing_id_is_generated_and_comes_first);
    RUN(ids_are_reported_in_order_and_only_on_success);
    RUN(one_document_gives_its_id_as_other_calls_take_it);
    RUN(a_batch_is_all_or_nothing);
    RUN(documents_that_may_not_be_stored);
    RUN(bytes_that_are_no_document);
    RUN(a_nul_in_a_key_is_named);
    RUN(depth_has_a_bound);
    RUN(keys_have_a_bound);
    RUN(size_has_a_bound);
    RUN(remove_takes_what_matches);
    RUN(what_was_removed_is_gone);
    RUN(names_are_checked);
    RUN(a_null_handle_is_an_invalid_argument);
    RUN(too_many_index_entries_are_refused);
    call_close(db);
    return check_finish();
}
