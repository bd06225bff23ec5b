/*
 * test_json_vectors.c -- public vectors for JSON and BSON: the BSON corpus and the JSON parsing
 * test suite.
 */
#include "support/bson_corpus.h"
#include "support/check.h"
#include "support/hex.h"
#include "support/repo_file.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARSING "Tests/TansuBSONTests/Resources/json-parsing"

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

/* ---- The BSON corpus ---- */

/* squeeze -- takes white space out of a JSON text but for its strings, and writes escapes of
 * characters that need none as UTF-8: what is left says the same in any writer's habit. */
static char *squeeze(const char *json) {
    char *result = malloc(strlen(json) + 1), *to = result;
    bool string = false;
    for (const char *p = json; *p != '\0'; p++) {
        unsigned unit = 0;
        if (!string && strchr(" \t\r\n", *p) != NULL)
            continue;
        if (*p == '"')
            string = !string;
        if (*p == '\\' && p[1] == 'u' && sscanf(p + 2, "%4x", &unit) == 1 && unit >= 0x80) {
            if (unit >= 0x800)
                *to++ = (char)(0xE0 | unit >> 12);
            *to++ = (char)(unit >= 0x800 ? 0x80 | (unit >> 6 & 0x3F) : 0xC0 | unit >> 6);
            *to++ = (char)(0x80 | (unit & 0x3F));
            p += 5;
            continue;
        }
        *to++ = *p;
        if (*p == '\\')
            *to++ = *++p;
    }
    *to = '\0';
    return result;
}

/* says_the_same -- two JSON texts differ in nothing but white space and escapes. */
static bool says_the_same(const char *expected, const char *actual) {
    char *a = squeeze(expected), *b = squeeze(actual);
    bool same = strcmp(a, b) == 0;
    if (!same)
        check_note("expected %s, is %s", a, b);
    free(a);
    free(b);
    return same;
}

/* corpus_writes -- BSON becomes that text. */
static void corpus_writes(const char *hex, int canonical, const char *json) {
    size_t size;
    uint8_t *bytes = bytes_from_hex(hex, &size);
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_error error;
    if (CHECK_OK(tansu_bson_to_json((tansu_document){bytes, size}, canonical, &text, &error),
                 &error))
        CHECK(says_the_same(json, (const char *)text.data));
    tansu_buffer_free(&text);
    free(bytes);
}

/* corpus_reads -- a text becomes that BSON. */
static void corpus_reads(const char *json, const char *hex) {
    size_t size;
    uint8_t *bytes = bytes_from_hex(hex, &size);
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_error error;
    if (CHECK_OK(to_bson(json, &bson, &error), &error))
        CHECK_BYTES(bytes, size, bson.data, bson.size);
    tansu_buffer_free(&bson);
    free(bytes);
}

/* is_lossy -- whether a case's text does not have all of its value. */
static bool is_lossy(const bson_t *test) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, test, "lossy") && bson_iter_as_bool(&iter);
}

static unsigned corpus_valid, corpus_refused;

/* A case of libbson alone: it expects digits of a coefficient of 10^34 and more, which IEEE 754 reads
 * as zero. */
static const char beyond_34_digits[] = "Scientific - Longest";

/* valid_case -- all forms that a case has. */
static void valid_case(const bson_t *test) {
    const char *bson = corpus_member(test, "canonical_bson");
    const char *json = corpus_member(test, "canonical_extjson");
    const char *relaxed = corpus_member(test, "relaxed_extjson");
    const char *other_bson = corpus_member(test, "degenerate_bson");
    const char *other_json = corpus_member(test, "degenerate_extjson");
    corpus_valid++;
    corpus_writes(bson, 1, json);
    if (!is_lossy(test))
        corpus_reads(json, bson);
    if (relaxed != NULL) {
        corpus_writes(bson, 0, relaxed);
        tansu_buffer again = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
        tansu_error error;
        if (CHECK_OK(to_bson(relaxed, &again, &error), &error) &&
            CHECK_OK(tansu_bson_to_json((tansu_document){again.data, again.size}, 0, &text, &error),
                     &error))
            CHECK(says_the_same(relaxed, (const char *)text.data));
        tansu_buffer_free(&again);
        tansu_buffer_free(&text);
    }
    if (other_bson != NULL && strcmp(corpus_member(test, "description"), beyond_34_digits) != 0)
        corpus_writes(other_bson, 1, json);
    if (other_json != NULL && !is_lossy(test))
        corpus_reads(other_json, bson);
}

/* Texts that the corpus refuses and that are documents here: `$regex` is an operator of the query
 * language, not a type, and its operands are the query's to judge. */
static const char *const query_texts[] = {
    "Null byte in legacy $regex string",
    "Null byte in legacy $options string",
};

/* invalid_bytes -- a document that must be refused. */
static void invalid_bytes(const bson_t *test) {
    size_t size;
    uint8_t *bson = bytes_from_hex(corpus_member(test, "bson"), &size);
    tansu_buffer text = TANSU_BUFFER_INIT;
    corpus_refused++;
    if (!CHECK_STATUS(TANSU_E_INVALID_BSON,
                      tansu_bson_to_json((tansu_document){bson, size}, 1, &text, NULL)))
        check_note("%s", corpus_member(test, "description"));
    tansu_buffer_free(&text);
    free(bson);
}

/* invalid_text -- a text that must be refused. */
static void invalid_text(const bson_t *test) {
    const char *description = corpus_member(test, "description");
    corpus_refused++;
    for (size_t i = 0; i < sizeof query_texts / sizeof *query_texts; i++) {
        if (strcmp(query_texts[i], description) == 0) {
            CHECK(!refused(corpus_member(test, "string")));
            return;
        }
    }
    const char *json = corpus_member(test, "string");
    /* The texts of decimal128-*.json are those of the numbers alone. */
    char *whole = malloc(strlen(json) + 64);
    sprintf(whole, json[0] == '{' ? "%s" : "{\"d\": {\"$numberDecimal\": \"%s\"}}", json);
    if (!CHECK(refused(whole)))
        check_note("%s: %s", description, whole);
    free(whole);
}

/* corpus_file -- one file. */
static void corpus_file(const char *name, const char *content, size_t size) {
    if (strstr(name, ".json") == NULL)
        return;
    bson_error_t error;
    bson_t *file = bson_new_from_json((const uint8_t *)content, (ssize_t)size, &error);
    if (!CHECK(file != NULL)) {
        check_note("%s: %s", name, error.message);
        return;
    }
    corpus_each_case(file, "valid", valid_case);
    corpus_each_case(file, "decodeErrors", invalid_bytes);
    corpus_each_case(file, "parseErrors", invalid_text);
    bson_destroy(file);
}

/* keeps_the_corpus -- every case of the BSON corpus. */
static void keeps_the_corpus(void) {
    repo_file_each(BSON_CORPUS, corpus_file);
    CHECK_INT(734, corpus_valid);
    CHECK_INT(258, corpus_refused);
}

/* ---- The JSON parsing test suite ---- */

/* Texts that JSON allows and that we refuse, because a document can't have them. */
static const char *const not_documents[] = {
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
    "y_object_escaped_null_in_key.json",
};

/* parsing_file -- one text: by itself, and as the value of a member. */
static void parsing_file(const char *name, const char *content, size_t size) {
    if (strstr(name, ".json") == NULL)
        return;
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_error error = {.message = ""};
    char *whole = malloc(size + 32);
    size_t length = 0;
    memcpy(whole, "{\"v\": ", 6);
    memcpy(whole + 6, content, size);
    whole[6 + size] = '}';
    length = size + 7;
    bool alone = tansu_json_to_bson(content, size, &bson, &error) == TANSU_OK;
    bool within = tansu_json_to_bson(whole, length, &bson, &error) == TANSU_OK;
    bool accepted = name[0] == 'y';
    for (size_t i = 0; i < sizeof not_documents / sizeof *not_documents; i++)
        accepted = accepted && strcmp(name, not_documents[i]) != 0;
    if (name[0] != 'i') {
        const char *first = content + strspn(content, " \t\r\n");
        if (!CHECK(within == accepted) || !CHECK(alone == (accepted && *first == '{')))
            check_note("%s: %s", name, error.message);
    }
    if (name[0] == 'y' && *content != '{' && !alone)
        CHECK_STATUS(TANSU_E_INVALID_JSON, tansu_json_to_bson(content, size, &bson, NULL));
    tansu_buffer_free(&bson);
    free(whole);
}

/* keeps_to_the_grammar -- every text of the suite. */
static void keeps_to_the_grammar(void) {
    CHECK(repo_file_each(PARSING, parsing_file) >= 318);
}

int main(void) {
    RUN(keeps_the_corpus);
    RUN(keeps_to_the_grammar);
    return check_finish();
}
