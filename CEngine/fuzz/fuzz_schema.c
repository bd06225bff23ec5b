/*
 * fuzz_schema.c -- any schema and any document: nothing crashes; what is valid with a limit is
 * valid without one, and the violations with a limit are the first ones; a collection with the
 * schema as its validator stores the document when it is valid, and only then.
 *
 * The first byte selects how the others are read: as BSON documents one after the other, unchanged,
 * or as two lines of JSON.
 */
#include "generate.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a check found. */
typedef struct verdict {
    tansu_status status;
    tansu_buffer violations;
    unsigned count;
    char first[300]; /* "path: rule", cut off */
} verdict;

/* text_of -- a text of a violation. */
static const char *text_of(const bson_iter_t *violation, const char *name) {
    bson_iter_t text;
    fuzz_require(bson_iter_recurse(violation, &text) && bson_iter_find(&text, name) &&
                     BSON_ITER_HOLDS_UTF8(&text),
                 "a violation is incomplete");
    return bson_iter_utf8(&text, NULL);
}

/* read_violations -- counts the violations and notes the first. */
static void read_violations(verdict *v) {
    bson_t answer;
    bson_iter_t iter, one;
    fuzz_require(
        bson_init_static(&answer, v->violations.data, v->violations.size) &&
            bson_validate(&answer, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL) &&
            bson_iter_init_find(&iter, &answer, "violations") && bson_iter_recurse(&iter, &one),
        "violations are no BSON");
    for (; bson_iter_next(&one); v->count++)
        if (v->count == 0)
            snprintf(v->first, sizeof v->first, "%s: %s", text_of(&one, "path"),
                     text_of(&one, "rule"));
}

/* check -- the violations of a document, at most `limit`. The caller frees them. */
static verdict check(const tansu_schema *schema, tansu_document document, uint64_t limit) {
    verdict v = {.violations = TANSU_BUFFER_INIT};
    v.status = tansu_schema_check(schema, document, limit, &v.violations, NULL);
    if (v.status == TANSU_OK)
        read_violations(&v);
    return v;
}

/* check_limits -- the verdict without a limit is that with one, unless it took too long. */
static void check_limits(const tansu_schema *schema, tansu_document document) {
    verdict all = check(schema, document, 0);
    for (unsigned limit = 1; limit <= 2; limit++) {
        verdict some = check(schema, document, limit);
        if (all.status == TANSU_OK)
            fuzz_require(some.status == TANSU_OK &&
                             some.count == (all.count < limit ? all.count : limit) &&
                             strcmp(some.first, all.first) == 0,
                         "a limit changes the violations");
        else
            fuzz_require(some.status == all.status ||
                             (all.status == TANSU_E_INVALID_QUERY && some.count == limit),
                         "a limit changes the status of a check");
        tansu_buffer_free(&some.violations);
    }
    tansu_buffer_free(&all.violations);
}

/* with_id -- the document as it is stored; it has an `_id` then. */
static bson_t *with_id(tansu_document document) {
    bson_t given, *stored = bson_new();
    fuzz_require(bson_init_static(&given, document.data, document.size),
                 "a valid document is no BSON");
    if (!bson_has_field(&given, "_id"))
        BSON_APPEND_INT32(stored, "_id", 1);
    bson_concat(stored, &given);
    return stored;
}

/* check_save -- a validator lets a document be stored when it is valid. */
static void check_save(const tansu_schema *schema, tansu_document raw, tansu_document document) {
    tansu_db *db = fuzz_open();
    tansu_error error;
    int64_t count = 0;
    bson_t options = BSON_INITIALIZER, rules, *stored = with_id(document);
    document = fuzz_of(stored);
    fuzz_require(bson_init_static(&rules, raw.data, raw.size), "a compiled schema is no BSON");
    /* By itself a schema may be one that is taken for a query, as with a property "$gt". */
    if (bson_has_field(&rules, "$jsonSchema"))
        BSON_APPEND_DOCUMENT(&options, "validator", &rules);
    else
        BCON_APPEND(&options, "validator", "{", "$jsonSchema", BCON_DOCUMENT(&rules), "}");
    fuzz_require(tansu_collection_ensure(db, NULL, "c", fuzz_of(&options), NULL) == TANSU_OK,
                 "a schema is no validator");
    tansu_status status = tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error);
    verdict v = check(schema, document, 1);
    fuzz_require(status == (v.status != TANSU_OK ? v.status
                            : v.count != 0       ? TANSU_E_INVALID_DOCUMENT
                                                 : TANSU_OK),
                 "a validator and its schema differ");
    if (status == TANSU_E_INVALID_DOCUMENT)
        fuzz_require(strncmp(error.context, v.first, 100) == 0,
                     "the error of a save is not the first violation");
    fuzz_require(tansu_count(db, NULL, "c", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count, NULL) ==
                         TANSU_OK &&
                     count == (status == TANSU_OK),
                 "a refused document is stored");
    tansu_buffer_free(&v.violations);
    bson_destroy(stored);
    bson_destroy(&options);
    fuzz_close(db);
}

/* check_both -- compiles the schema and checks the document. */
static void check_both(tansu_document raw, tansu_document document) {
    tansu_schema *schema = NULL;
    tansu_status status = tansu_schema_new(raw, &schema, NULL);
    fuzz_require((status == TANSU_OK) == (schema != NULL), "a refused schema has a handle");
    if (status == TANSU_OK) {
        check_limits(schema, document);
        if (tansu_validate(document, NULL) == TANSU_OK)
            check_save(schema, raw, document);
    }
    tansu_schema_free(schema);
}

/* as_json -- two lines. */
static void as_json(const fuzz_bytes *bytes) {
    tansu_buffer schema = TANSU_BUFFER_INIT, document = TANSU_BUFFER_INIT;
    const uint8_t *line = bytes->size == 0 ? NULL : memchr(bytes->data, '\n', bytes->size);
    size_t size = line == NULL ? bytes->size : (size_t)(line - bytes->data);
    size_t rest = bytes->size - size;
    if (rest > 0 &&
        tansu_json_to_bson((const char *)bytes->data, size, &schema, NULL) == TANSU_OK &&
        tansu_json_to_bson((const char *)line + 1, rest - 1, &document, NULL) == TANSU_OK)
        check_both((tansu_document){schema.data, schema.size},
                   (tansu_document){document.data, document.size});
    tansu_buffer_free(&schema);
    tansu_buffer_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    if (fuzz_choose(&bytes, 2) != 0) {
        tansu_document schema = fuzz_take_document(&bytes);
        check_both(schema, fuzz_take_document(&bytes));
    } else {
        as_json(&bytes);
    }
    return 0;
}
