/*
 * test_document.c -- reading raw BSON and the check at the door, compared with libbson.
 */
#include "bson/document.h"
#include "support/bson_corpus.h"
#include "support/check.h"
#include "support/hex.h"
#include "support/random/random_bson.h"
#include "support/repo_file.h"
#include "util/error.h"
#include "util/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool libbson_accepts(const uint8_t *bytes, size_t size);

/* libbson_utf8 -- libbson's verdict on a text. */
static bool libbson_utf8(const char *text, size_t size) {
    return bson_utf8_validate(text, size, true);
}

/* libbson_accepts_value -- libbson's verdict on what its iterator is at. */
static bool libbson_accepts_value(const bson_iter_t *iter) {
    uint32_t size, more;
    const uint8_t *bytes;
    const char *text;
    switch (bson_iter_type(iter)) {
    case BSON_TYPE_UTF8: text = bson_iter_utf8(iter, &size); return libbson_utf8(text, size);
    case BSON_TYPE_SYMBOL: text = bson_iter_symbol(iter, &size); return libbson_utf8(text, size);
    case BSON_TYPE_CODE: text = bson_iter_code(iter, &size); return libbson_utf8(text, size);
    case BSON_TYPE_DBPOINTER:
        bson_iter_dbpointer(iter, &size, &text, NULL);
        return libbson_utf8(text, size);
    case BSON_TYPE_REGEX: {
        const char *options;
        text = bson_iter_regex(iter, &options);
        return libbson_utf8(text, strlen(text)) && libbson_utf8(options, strlen(options));
    }
    case BSON_TYPE_DOCUMENT:
        bson_iter_document(iter, &size, &bytes);
        return libbson_accepts(bytes, size);
    case BSON_TYPE_ARRAY: bson_iter_array(iter, &size, &bytes); return libbson_accepts(bytes, size);
    case BSON_TYPE_CODEWSCOPE:
        text = bson_iter_codewscope(iter, &size, &more, &bytes);
        /* The one thing that its iterator does not look at is this text's terminator. */
        return text[size] == '\0' && libbson_utf8(text, size) && libbson_accepts(bytes, more);
    default: return true;
    }
}

/* libbson_accepts -- libbson's verdict on bytes: its own bson_validate() (of 1.23) passes over bad
 * texts and over inner documents of a wrong size, so this asks its iterator and its UTF-8 check. */
static bool libbson_accepts(const uint8_t *bytes, size_t size) {
    bson_t doc;
    bson_iter_t iter;
    if (bytes == NULL || !bson_init_static(&doc, bytes, size) || !bson_iter_init(&iter, &doc))
        return false;
    while (bson_iter_next(&iter)) {
        if (!libbson_utf8(bson_iter_key(&iter), strlen(bson_iter_key(&iter))) ||
            !libbson_accepts_value(&iter))
            return false;
    }
    return iter.err_off == 0;
}

/* has_long_nul -- whether C0 80 occurs, libbson's second way to write NUL, which is not UTF-8. */
static bool has_long_nul(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 1 < size; i++) {
        if (bytes[i] == 0xC0 && bytes[i + 1] == 0x80)
            return true;
    }
    return false;
}

/* Looks into every element; false when a walk ended early. */
static bool walk_all(const uint8_t *doc, size_t size) {
    doc_iter iter;
    if (!doc_iter_init(&iter, doc, size))
        return false;
    while (doc_iter_next(&iter)) {
        if (iter.key[iter.key_size] != '\0')
            return false;
        if ((iter.value.type == DOC_DOCUMENT || iter.value.type == DOC_ARRAY) &&
            !walk_all(iter.value.data, iter.value.size))
            return false;
    }
    return !iter.malformed;
}

/* exact_copy -- bytes in an allocation of their own size, so that the sanitizer sees any step
 * beyond them. */
static uint8_t *exact_copy(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size != 0 ? size : 1);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes, size);
    return copy;
}

static void random_documents_are_accepted(void) {
    random_source source = random_start(1);
    for (int i = 0; i < 20000; i++) {
        bson_t *doc = random_document(&source);
        tansu_error error;
        uint8_t *copy = exact_copy(bson_get_data(doc), doc->len);
        CHECK_OK(doc_check(copy, doc->len, DOC_CHECK_STORE, &error), &error);
        CHECK(walk_all(copy, doc->len));
        free(copy);
        bson_destroy(doc);
    }
}

/* Bytes changed at random: the verdict is libbson's, and reading stays within the bytes. */
static void verdicts_on_damaged_documents_are_libbsons(void) {
    random_source source = random_start(2);
    static const uint8_t likely[] = {0,    1,    2,    3,    4,    5,    8,    0x0B, 0x0C,
                                     0x0D, 0x0F, 0x13, 0x7F, 0xFF, 0x80, 0xC0, 0xED, 0xF4};
    unsigned accepted = 0;
    unsigned refused = 0;
    for (int i = 0; i < 60000; i++) {
        bson_t *doc = random_document(&source);
        size_t size = doc->len;
        uint8_t *copy = exact_copy(bson_get_data(doc), size);
        for (uint64_t n = 1 + random_below(&source, 3); n > 0; n--) {
            uint8_t *place = copy + random_below(&source, size);
            if (random_chance(&source, 40))
                *place = likely[random_below(&source, sizeof likely)];
            else if (random_chance(&source, 50))
                *place = (uint8_t)(*place + random_between(&source, -2, 2));
            else
                *place ^= (uint8_t)(1u << random_below(&source, 8));
        }
        tansu_error error;
        tansu_status status = doc_check(copy, size, DOC_CHECK_BSON, &error);
        bool libbson = libbson_accepts(copy, size);
        if (status == TANSU_OK) {
            accepted++;
            CHECK(libbson);
            CHECK(walk_all(copy, size));
        } else {
            refused++;
            CHECK_STATUS(TANSU_E_INVALID_BSON, status);
            CHECK(error.offset >= 0 && error.offset <= (int64_t)size);
            if (!CHECK(!libbson || has_long_nul(copy, size)))
                check_note("    %s (at %" PRId64 ", %s)", error.message, error.offset,
                           error.context);
            walk_all(copy, size);
            doc_check(copy, size, DOC_CHECK_STORE, NULL);
        }
        free(copy);
        bson_destroy(doc);
    }
    CHECK(accepted > 1000 && refused > 1000);
}

/* check_hex -- the verdict on bytes given in hex. */
static tansu_status check_hex(const char *hex, doc_check_mode mode, tansu_error *error) {
    size_t size;
    uint8_t *bytes = bytes_from_hex(hex, &size);
    tansu_status status = doc_check(bytes, size, mode, error);
    walk_all(bytes, size);
    free(bytes);
    return status;
}

static void single_faults_are_refused(void) {
    static const struct {
        const char *what, *hex;
    } faults[] = {
        {"nothing", ""},
        {"a size without its document", "05000000"},
        {"a size of four", "0400000000"},
        {"a size that is greater", "0600000000"},
        {"a size that is smaller", "050000000000"},
        {"a negative size", "FFFFFFFF00"},
        {"no terminator", "0500000001"},
        {"a key without an end", "0800000010610000"},
        {"an unknown type", "080000001461000000"},
        {"a double cut short", "0C000000016100000000000000"},
        {"a bool of 2", "090000000861000200"},
        {"a string of size zero", "0D000000026100000000000000"},
        {"a string without its NUL", "0E000000026100010000006161"
                                     "00"},
        {"a string that is too long", "0E00000002610003000000620000"},
        {"a string with a negative size", "0E000000026100FFFFFFFF620000"},
        {"a string that is no UTF-8", "0E00000002610002000000E90000"},
        {"a key that is no UTF-8", "080000000AE9000000"},
        {"a surrogate", "1000000002610004000000EDA0800000"},
        {"a long form of a slash", "0F00000002610003000000C0AF0000"},
        {"a code point beyond the last", "1100000002610005000000F49080800000"},
        {"a binary with a negative length", "0D000000056100FFFFFFFF0000"},
        {"a binary of subtype 2, inner length wrong", "120000000561000500000002020000000000"},
        {"a regex without options", "0A0000000B6100620000"},
        {"an inner document of another size", "0D0000000361000600000000"
                                              "00"},
        {"a code with scope that leaves a rest",
         "170000000F61000F00000001000000000500000000000000"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        tansu_error error;
        if (!CHECK_STATUS(TANSU_E_INVALID_BSON, check_hex(faults[i].hex, DOC_CHECK_BSON, &error)))
            check_note("    %s", faults[i].what);
    }
    CHECK_STATUS(TANSU_OK, check_hex("0500000000", DOC_CHECK_STORE, NULL));
    CHECK_STATUS(TANSU_OK, check_hex("090000000861000100", DOC_CHECK_STORE, NULL));
    CHECK_STATUS(TANSU_OK, check_hex("130000000561000600000002020000000000"
                                     "00",
                                     DOC_CHECK_STORE, NULL));
    CHECK_STATUS(TANSU_E_INVALID_BSON, doc_check(NULL, 0, DOC_CHECK_BSON, NULL));
}

/* check_json -- the verdict on a document in JSON form. */
static tansu_status check_json(const char *json, doc_check_mode mode, tansu_error *error) {
    bson_error_t reason;
    bson_t *doc = bson_new_from_json((const uint8_t *)json, -1, &reason);
    if (doc == NULL)
        check_note("%s: %s", json, reason.message);
    REQUIRE(doc != NULL);
    tansu_status status = doc_check(bson_get_data(doc), doc->len, mode, error);
    bson_destroy(doc);
    return status;
}

static void documents_that_may_not_be_stored_are_refused(void) {
    static const struct {
        tansu_status status;
        const char *json, *context;
    } cases[] = {
        {TANSU_OK, "{\"a\": 1, \"b\": {\"a\": 1}, \"a.b\": 1, \"\": 2}", ""},
        {TANSU_E_INVALID_DOCUMENT, "{\"a\": 1, \"b\": 2, \"a\": 3}", "a"},
        {TANSU_E_INVALID_DOCUMENT, "{\"x\": [{\"b\": 1, \"b\": 2}]}", "x.0.b"},
        {TANSU_E_INVALID_DOCUMENT,
         "{\"a long name 1\": 1, \"a long name 2\": 1, \"a long name 1\": 1}", "a long name 1"},
        {TANSU_OK, "{\"a long name XX with an end\": 1, \"a long name YY with an end\": 1}", ""},
        {TANSU_OK, "{\"$set\": 1}", ""},
        {TANSU_OK, "{\"a\": {\"$gt\": 1}, \"b\": [{\"$\": {\"$$x\": 2}}]}", ""},
        {TANSU_OK, "{\"a\": {\"_id\": {\"$x\": 1}}}", ""},
        {TANSU_E_INVALID_DOCUMENT, "{\"a\": {\"$x\": 1, \"$x\": 1}}", "a.$x"},
        {TANSU_E_INVALID_DOCUMENT, "{\"_id\": {\"$gt\": 1}}", "_id.$gt"},
        {TANSU_E_INVALID_DOCUMENT, "{\"_id\": {\"a\": [{\"b\": {\"$x\": 1}}]}}", "_id.a.0.b.$x"},
        {TANSU_OK, "{\"_id\": {\"$ref\": \"c\", \"$id\": 1, \"$db\": \"d\", \"more\": 1}}", ""},
        {TANSU_OK, "{\"_id\": {\"a\": [{\"$ref\": \"c\", \"$id\": 1}]}}", ""},
        {TANSU_E_INVALID_DOCUMENT, "{\"_id\": {\"x\": 1, \"$ref\": \"c\"}}", "_id.$ref"},
        {TANSU_E_INVALID_DOCUMENT, "{\"_id\": {\"$ref\": \"c\", \"$x\": 1}}", "_id.$x"},
        {TANSU_E_INVALID_DOCUMENT, "{\"_id\": {\"$id\": 1}}", "_id.$id"},
        {TANSU_E_INVALID_ID, "{\"_id\": [1]}", "_id"},
        {TANSU_OK, "{\"x\": 1, \"_id\": null}", ""},
        {TANSU_E_INVALID_ID, "{\"_id\": {\"$undefined\": true}}", "_id"},
        {TANSU_E_INVALID_ID,
         "{\"_id\": {\"$regularExpression\": {\"pattern\": \"a\", \"options\": \"\"}}}", "_id"},
        {TANSU_OK, "{\"_id\": {\"a\": [1]}}", ""},
        {TANSU_OK, "{\"x\": {\"_id\": null}}", ""},
        {TANSU_OK, "{\"f\": {\"$code\": \"\", \"$scope\": {\"$jquery\": 1}}}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_error error;
        error_set(&error, TANSU_OK, "", "%s", "");
        tansu_status status = check_json(cases[i].json, DOC_CHECK_STORE, &error);
        if (!CHECK_STATUS(cases[i].status, status) || !CHECK_TEXT(cases[i].context, error.context))
            check_note("    %s", cases[i].json);
        if (cases[i].status != TANSU_E_INVALID_ID)
            CHECK_STATUS(TANSU_OK, check_json(cases[i].json, DOC_CHECK_BSON, NULL));
    }
}

/* Around the 64 keys up to which no table is needed, and many more. */
static void a_repeated_key_is_found_among_many(void) {
    random_source source = random_start(3);
    static const int counts[] = {2, 3, 10, 63, 64, 65, 66, 127, 128, 129, 1000, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (int variant = 0; variant < 4; variant++) {
            int first = (int)random_below(&source, (uint64_t)counts[c]);
            int second = (int)random_below(&source, (uint64_t)counts[c]);
            bson_t doc = BSON_INITIALIZER;
            for (int i = 0; i < counts[c]; i++) {
                char key[64];
                int number = variant > 1 && i == second ? first : i;
                int size = snprintf(key, sizeof key, variant % 2 ? "%d" : "key%024dkey", number);
                bson_append_int32(&doc, key, size, i);
            }
            bool twice = variant > 1 && first != second;
            CHECK_STATUS(twice ? TANSU_E_INVALID_DOCUMENT : TANSU_OK,
                         doc_check(bson_get_data(&doc), doc.len, DOC_CHECK_STORE, NULL));
            CHECK_STATUS(TANSU_OK, doc_check(bson_get_data(&doc), doc.len, DOC_CHECK_BSON, NULL));
            bson_destroy(&doc);
        }
    }
}

/* nested -- documents (or arrays) inside each other, `depth` of them with the root. */
static uint8_t *nested(uint32_t depth, uint8_t type, size_t *size) {
    /* each level: size, type, key "0"; at the end all terminators */
    *size = (size_t)depth * 5 + (size_t)(depth - 1) * 3;
    uint8_t *bytes = malloc(*size);
    REQUIRE(bytes != NULL);
    uint8_t *out = bytes;
    for (uint32_t i = 0; i < depth; i++) {
        store_u32(out, (uint32_t)(*size - (size_t)i * 8));
        out += 4;
        if (i + 1 < depth) {
            memcpy(out, (uint8_t[]){type, '0', 0}, 3);
            out += 3;
        }
    }
    /* inner sizes leave out one terminator for each level around them */
    for (uint32_t i = 0; i < depth; i++)
        store_u32(bytes + (size_t)i * 7, (uint32_t)(*size - (size_t)i * 8));
    memset(out, 0, depth);
    return bytes;
}

static void depth_and_size_are_bounded(void) {
    for (int type = DOC_DOCUMENT; type <= DOC_ARRAY; type++) {
        size_t size;
        uint8_t *bytes = nested(TANSU_MAX_DEPTH, (uint8_t)type, &size);
        tansu_error error;
        CHECK_OK(doc_check(bytes, size, DOC_CHECK_STORE, &error), &error);
        CHECK(libbson_accepts(bytes, size));
        free(bytes);
        bytes = nested(TANSU_MAX_DEPTH + 1, (uint8_t)type, &size);
        CHECK_STATUS(TANSU_E_TOO_LARGE, doc_check(bytes, size, DOC_CHECK_STORE, &error));
        free(bytes);
        bytes = nested(1000000, (uint8_t)type, &size);
        CHECK_STATUS(TANSU_E_TOO_LARGE, doc_check(bytes, size, DOC_CHECK_BSON, &error));
        free(bytes);
    }
    size_t size = TANSU_MAX_DOCUMENT_SIZE + 1;
    uint8_t *bytes = calloc(1, size);
    REQUIRE(bytes != NULL);
    for (; size >= TANSU_MAX_DOCUMENT_SIZE; size--) {
        store_u32(bytes, (uint32_t)size);
        bytes[4] = DOC_BINARY;
        bytes[5] = 'a';
        store_u32(bytes + 7, (uint32_t)(size - 13));
        CHECK_STATUS(size > TANSU_MAX_DOCUMENT_SIZE ? TANSU_E_TOO_LARGE : TANSU_OK,
                     doc_check(bytes, size, DOC_CHECK_STORE, NULL));
    }
    free(bytes);
}

/* corpus_bytes -- a case's document in one of its forms. */
static bool corpus_bytes(const bson_iter_t *cases, const char *form, uint8_t **bytes,
                         size_t *size) {
    bson_iter_t field;
    if (!bson_iter_recurse(cases, &field) || !bson_iter_find(&field, form))
        return false;
    *bytes = bytes_from_hex(bson_iter_utf8(&field, NULL), size);
    return true;
}

static int corpus_cases;

/* corpus_file -- compares our verdicts with those of one file of the corpus. */
static void corpus_file(const char *name, const char *content, size_t size) {
    if (strstr(name, ".json") == NULL)
        return;
    bson_error_t reason;
    bson_t *corpus = bson_new_from_json((const uint8_t *)content, (ssize_t)size, &reason);
    REQUIRE(corpus != NULL);
    static const char *const lists[] = {"valid", "valid", "decodeErrors"};
    static const char *const forms[] = {"canonical_bson", "degenerate_bson", "bson"};
    for (int i = 0; i < 3; i++) {
        bson_iter_t list, cases;
        if (!bson_iter_init_find(&list, corpus, lists[i]) || !bson_iter_recurse(&list, &cases))
            continue;
        while (bson_iter_next(&cases)) {
            uint8_t *bytes;
            size_t length;
            if (!corpus_bytes(&cases, forms[i], &bytes, &length))
                continue;
            corpus_cases++;
            tansu_error error;
            if (!CHECK((doc_check(bytes, length, DOC_CHECK_BSON, &error) == TANSU_OK) == (i < 2)))
                check_note("    %s, %s %s", name, lists[i], bson_iter_key(&cases));
            free(bytes);
        }
    }
    bson_destroy(corpus);
}

static void the_bson_corpus_is_judged_right(void) {
    repo_file_each(BSON_CORPUS, corpus_file);
    CHECK(corpus_cases > 700);
}

static void single_values_are_read(void) {
    bson_t *doc = BCON_NEW("a", BCON_INT32(-7), "b", BCON_INT64(INT64_MIN), "c", BCON_DOUBLE(1.5),
                           "d", BCON_BOOL(true), "e", BCON_UTF8("text"), "f", BCON_UTF8(""));
    const uint8_t *bytes = bson_get_data(doc);
    doc_value value;
    bool flag;
    int64_t whole;
    size_t size;
    CHECK(doc_find(bytes, doc->len, "a", 1, &value) && doc_int32(&value) == -7);
    CHECK(doc_as_bool(&value, &flag) && flag);
    CHECK(doc_as_int64(&value, &whole) && whole == -7);
    CHECK(doc_find(bytes, doc->len, "b", 1, &value) && doc_int64(&value) == INT64_MIN);
    CHECK(doc_find(bytes, doc->len, "c", 1, &value) && doc_double(&value) == 1.5);
    CHECK(doc_is_number(&value) && !doc_as_int64(&value, &whole));
    CHECK(doc_find(bytes, doc->len, "d", 1, &value) && doc_bool(&value));
    CHECK(!doc_is_number(&value) && !doc_as_int64(&value, &whole));
    CHECK(doc_find(bytes, doc->len, "e", 1, &value));
    CHECK(!doc_as_bool(&value, &flag));
    const char *text = doc_string(&value, &size);
    CHECK_BYTES("text", 4, text, size);
    CHECK(doc_find(bytes, doc->len, "f", 1, &value));
    doc_string(&value, &size);
    CHECK_INT(0, size);
    CHECK(!doc_find(bytes, doc->len, "g", 1, &value) && value.type == DOC_MISSING);
    bson_destroy(doc);
}

static void utf8_is_judged_like_libbson(void) {
    random_source source = random_start(4);
    for (int i = 0; i < 30000; i++) {
        char text[4 * 12 + 1];
        size_t size = random_text(&source, text, 12);
        CHECK_INT(size, utf8_valid((const uint8_t *)text, size));
        if (size == 0)
            continue;
        text[random_below(&source, size)] ^= (char)(1u << random_below(&source, 8));
        size_t good = utf8_valid((const uint8_t *)text, size);
        if (!has_long_nul((const uint8_t *)text, size))
            CHECK((good == size) == bson_utf8_validate(text, size, true));
        CHECK_INT(good, utf8_valid((const uint8_t *)text, good));
    }
}

static void errors_are_filled_in(void) {
    tansu_error error;
    CHECK_STATUS(TANSU_E_FULL, error_errno(&error, "some/file", "write", ENOSPC));
    CHECK_INT(ENOSPC, error.sys_errno);
    CHECK_INT(-1, error.offset);
    CHECK_TEXT("some/file", error.context);
    CHECK(strncmp(error.message, "Could not write \"some/file\": ", 28) == 0);
    CHECK_STATUS(TANSU_E_READ_ONLY, error_errno(NULL, NULL, "open", EROFS));
    CHECK_STATUS(TANSU_E_IO, error_errno(&error, NULL, "read", EIO));
    CHECK_STATUS(TANSU_E_MEMORY, error_memory(&error));
    CHECK_INT(0, error.sys_errno);
    char text[3 * 200 + 1];
    for (int i = 0; i < 200; i++)
        memcpy(text + 3 * i, "漢", 4);
    for (int shift = 0; shift < 3; shift++) {
        error_at(&error, TANSU_E_CORRUPT, text, 7, "%.*s%s", shift, "ab", text);
        CHECK_INT(strlen(error.message),
                  utf8_valid((uint8_t *)error.message, strlen(error.message)));
        CHECK_INT(strlen(error.context),
                  utf8_valid((uint8_t *)error.context, strlen(error.context)));
        CHECK(strlen(error.message) >= sizeof error.message - 4);
        CHECK_INT(7, error.offset);
    }
    CHECK_TEXT("NOT_UNIQUE", tansu_status_name(TANSU_E_NOT_UNIQUE));
    CHECK_TEXT("UNKNOWN", tansu_status_name((tansu_status)999));
}

enum { OIDS_EACH = 20000, OID_THREADS = 4 };
static uint8_t oids[(OID_THREADS + 1) * OIDS_EACH][12];

/* make_oids -- one thread's share. */
static void *make_oids(void *place) {
    uint8_t(*own)[12] = place;
    for (int i = 0; i < OIDS_EACH; i++)
        tansu_oid_generate(own[i]);
    return NULL;
}

/* compare_oids -- for qsort(). */
static int compare_oids(const void *a, const void *b) {
    return memcmp(a, b, 12);
}

/* By threads at once, and by a child after fork. */
static void object_ids_are_all_different(void) {
    pthread_t threads[OID_THREADS];
    for (int i = 0; i < OID_THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, make_oids, oids[i * OIDS_EACH]) == 0);
    for (int i = 0; i < OID_THREADS; i++)
        pthread_join(threads[i], NULL);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        uint8_t(*own)[12] = oids + OID_THREADS * OIDS_EACH;
        make_oids(own);
        const uint8_t *out = own[0];
        size_t left = OIDS_EACH * 12;
        while (left > 0) {
            ssize_t written = write(ends[1], out, left);
            if (written <= 0)
                _exit(1);
            out += written;
            left -= (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    uint8_t *in = oids[OID_THREADS * OIDS_EACH];
    size_t left = OIDS_EACH * 12;
    for (ssize_t got; left > 0 && (got = read(ends[0], in, left)) > 0; left -= (size_t)got)
        in += got;
    CHECK_INT(0, left);
    close(ends[0]);
    waitpid(child, NULL, 0);
    /* The child's random number is another one: not the parent's counter alone keeps them apart. */
    CHECK(memcmp(oids[0] + 4, oids[OID_THREADS * OIDS_EACH] + 4, 5) != 0);
    size_t count = sizeof oids / sizeof *oids;
    qsort(oids, count, sizeof *oids, compare_oids);
    size_t repeated = 0;
    for (size_t i = 1; i < count; i++)
        repeated += memcmp(oids[i - 1], oids[i], 12) == 0;
    CHECK_INT(0, repeated);
}

int main(void) {
    RUN(random_documents_are_accepted);
    RUN(verdicts_on_damaged_documents_are_libbsons);
    RUN(single_faults_are_refused);
    RUN(documents_that_may_not_be_stored_are_refused);
    RUN(a_repeated_key_is_found_among_many);
    RUN(depth_and_size_are_bounded);
    RUN(the_bson_corpus_is_judged_right);
    RUN(single_values_are_read);
    RUN(utf8_is_judged_like_libbson);
    RUN(errors_are_filled_in);
    RUN(object_ids_are_all_different);
    return check_finish();
}
