/*
 * test_schema_differential.c -- random schemas and documents: the violations that
 * tansu_schema_check() finds are those of the model in schema_model.h, path, rule and order; with a
 * limit they are the first of them. A save into a collection with the schema as its validator
 * succeeds when the model knows of no violation, and else fails with the first one and stores
 * nothing; the validator is set when all documents satisfy it. Invalid schemas are refused, with
 * the path of the keyword.
 *
 * The first difference is made small (case_reduction.h) and printed.
 *
 * TANSU_SEED=n repeats a run. TANSU_ROUNDS=n is how many schemas there are, with DOCUMENTS
 * documents each.
 */
#include "query/schema/schema.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"
#include "support/model/schema_model.h"
#include "support/random/case_reduction.h"
#include "support/random/random.h"
#include "support/random/random_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS 4000
#define DOCUMENTS 10
#define SHRINK_STEPS 5000

static const char *const rules[] = {"type",
                                    "bsonType",
                                    "enum",
                                    "required",
                                    "additionalProperties",
                                    "minimum",
                                    "maximum",
                                    "minLength",
                                    "exclusiveMinimum",
                                    "exclusiveMaximum",
                                    "maxLength",
                                    "pattern",
                                    "minItems",
                                    "minProperties",
                                    "maxProperties",
                                    "maxItems",
                                    "uniqueItems",
                                    "anyOf",
                                    "oneOf",
                                    "not"};
#define RULES (sizeof rules / sizeof *rules)

/* What a run was about. */
static struct {
    uint64_t valid, invalid, saved, refused, set, not_set;
    uint64_t first[RULES]; /* how many documents each rule was the first violation of */
} counts;

/* A schema, its documents, and what the model says of each. */
typedef struct example {
    bson_t *schema;
    bson_t *documents[DOCUMENTS];
    text expected[DOCUMENTS];
} example;

/* ---- Violations ---- */

/* lines_of -- the engine's violations as the model writes them; how many there are. */
static uint64_t lines_of(const tansu_buffer *violations, text *found) {
    bson_t answer;
    bson_iter_t iter, one;
    uint64_t count = 0;
    REQUIRE(bson_init_static(&answer, violations->data, violations->size));
    REQUIRE(bson_iter_init_find(&iter, &answer, "violations") && bson_iter_recurse(&iter, &one));
    for (; bson_iter_next(&one); count++) {
        bson_iter_t path, rule;
        REQUIRE(bson_iter_recurse(&one, &path) && bson_iter_find(&path, "path"));
        REQUIRE(bson_iter_recurse(&one, &rule) && bson_iter_find(&rule, "rule"));
        put(found, "%s: %s\n", bson_iter_utf8(&path, NULL), bson_iter_utf8(&rule, NULL));
    }
    return count;
}

/* check -- the violations of a document, at most `limit`; false when the call fails. */
static bool check(const tansu_schema *schema, const bson_t *doc, uint64_t limit, text *found,
                  uint64_t *count) {
    tansu_buffer violations = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_schema_check(schema, document_of(doc), limit, &violations, &call_error);
    found->size = 0;
    found->bytes[0] = 0;
    if (status == TANSU_OK)
        *count = lines_of(&violations, found);
    tansu_buffer_free(&violations);
    return status == TANSU_OK;
}

/* check_as_model -- whether engine and model say the same of a document; `expected` becomes what
 * the model says. */
static bool check_as_model(const bson_t *raw, const tansu_schema *schema, const bson_t *doc,
                           text *expected) {
    text found, part;
    uint64_t count, of_part;
    expected->size = 0;
    expected->bytes[0] = 0;
    schema_model_check(raw, doc, expected);
    if (!check(schema, doc, 0, &found, &count) || strcmp(found.bytes, expected->bytes) != 0)
        return false;
    for (uint64_t limit = 1; limit <= 3; limit++) {
        if (!check(schema, doc, limit, &part, &of_part) ||
            of_part != (count < limit ? count : limit) ||
            strncmp(found.bytes, part.bytes, part.size) != 0)
            return false;
    }
    return true;
}

/* note_rule -- counts the rule of the first violation. */
static void note_rule(const text *expected) {
    const char *end = strchr(expected->bytes, '\n'), *rule = expected->bytes;
    *(expected->size == 0 ? &counts.valid : &counts.invalid) += 1;
    if (end == NULL)
        return;
    while (strstr(rule, ": ") != NULL && strstr(rule, ": ") < end)
        rule = strstr(rule, ": ") + 2;
    for (size_t i = 0; i < RULES; i++)
        counts.first[i] += strlen(rules[i]) == (size_t)(end - rule) &&
                           memcmp(rules[i], rule, strlen(rules[i])) == 0;
}

/* still_differs -- for the reducer: a schema that is still valid, and a document. */
static bool still_differs(const reduction_case *smaller, void *context) {
    tansu_schema *schema;
    text expected;
    (void)context;
    if (smaller->count != 2 ||
        tansu_schema_new(document_of(smaller->parts[0].value), &schema, NULL) != TANSU_OK)
        return false;
    bool same = check_as_model(smaller->parts[0].value, schema, smaller->parts[1].value, &expected);
    tansu_schema_free(schema);
    return !same;
}

/* report -- prints the smallest case with both answers. */
static void report(const bson_t *raw, const bson_t *doc) {
    reduction_case c = {NULL, 0};
    tansu_schema *schema;
    text expected, found;
    uint64_t count;
    reduction_add(&c, "schema", raw, false);
    reduction_add(&c, "document", doc, false);
    reduce_case(&c, still_differs, NULL, SHRINK_STEPS);
    reduction_print(&c);
    if (CHECK_OK(tansu_schema_new(document_of(c.parts[0].value), &schema, &call_error),
                 &call_error)) {
        check_as_model(c.parts[0].value, schema, c.parts[1].value, &expected);
        check(schema, c.parts[1].value, 0, &found, &count);
        check_note("model:\n%sengine:\n%s", expected.bytes, found.bytes);
        tansu_schema_free(schema);
    }
    reduction_free(&c);
}

/* violations_are_the_models -- of all documents of an example. */
static bool violations_are_the_models(example *e) {
    tansu_schema *schema;
    bool same =
        CHECK_OK(tansu_schema_new(document_of(e->schema), &schema, &call_error), &call_error);
    for (int i = 0; same && i < DOCUMENTS; i++) {
        same = CHECK(check_as_model(e->schema, schema, e->documents[i], &e->expected[i]));
        note_rule(&e->expected[i]);
        if (!same)
            report(e->schema, e->documents[i]);
    }
    tansu_schema_free(schema);
    return same;
}

/* ---- Validators ---- */

/* set_validator -- of the collection "c", in {"$jsonSchema": ...} or, where it cannot be taken for a
 * query, as it is. */
static tansu_status set_validator(random_source *r, tansu_db *db, const bson_t *schema) {
    bson_t options = BSON_INITIALIZER, wrapped = BSON_INITIALIZER;
    BSON_APPEND_DOCUMENT(&wrapped, "$jsonSchema", schema);
    const doc_value value = {bson_get_data(schema), schema->len, DOC_DOCUMENT};
    const char *keyword, *other;
    bool plain = schema_tell(&value, &keyword, &other) == IS_SCHEMA && random_chance(r, 50);
    BSON_APPEND_DOCUMENT(&options, "validator", plain ? schema : &wrapped);
    tansu_status status =
        tansu_collection_ensure(db, NULL, "c", document_of(&options), &call_error);
    bson_destroy(&options);
    bson_destroy(&wrapped);
    return status;
}

/* drop -- the collection, which need not be there. */
static void drop(tansu_db *db) {
    tansu_status status = tansu_collection_drop(db, NULL, "c", &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_NOT_FOUND);
}

/* expect_saved -- what the model says of a document as it would be stored: with an `_id`, if need be
 * one that no schema has. */
static void expect_saved(const bson_t *schema, const bson_t *doc, text *expected) {
    bson_t stored = BSON_INITIALIZER;
    if (!bson_has_field(doc, "_id"))
        BSON_APPEND_OID(&stored, "_id", &(bson_oid_t){{1}});
    bson_concat(&stored, doc);
    expected->size = 0;
    expected->bytes[0] = 0;
    schema_model_check(schema, &stored, expected);
    bson_destroy(&stored);
}

/* save -- documents in one call, sometimes in a transaction, which is then committed. */
static tansu_status save(random_source *r, tansu_db *db, bson_t *const *documents, size_t count) {
    tansu_document list[DOCUMENTS];
    for (size_t i = 0; i < count; i++)
        list[i] = document_of(documents[i]);
    if (random_chance(r, 70))
        return tansu_save(db, NULL, "c", list, count, TANSU_SAVE, NULL, &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    tansu_status status = tansu_save(db, txn, "c", list, count, TANSU_SAVE, NULL, &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, NULL), &call_error);
    return status;
}

/* save_some -- saves documents and compares with the model; how many of them were stored. */
static size_t save_some(random_source *r, tansu_db *db, const example *e, size_t from,
                        size_t count) {
    text expected;
    size_t good = 0;
    for (; good < count; good++) {
        expect_saved(e->schema, e->documents[from + good], &expected);
        if (expected.size != 0)
            break;
    }
    tansu_status status = save(r, db, e->documents + from, count);
    if (good == count) {
        counts.saved++;
        CHECK_OK(status, &call_error);
        return count;
    }
    counts.refused++;
    *strchr(expected.bytes, '\n') = 0;
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT, status);
    CHECK_TEXT(expected.bytes, call_error.context);
    CHECK_INT(good, call_error.offset);
    return 0;
}

/* saves_are_the_models -- of all documents, some in one call, into a collection with a validator. */
static void saves_are_the_models(random_source *r, tansu_db *db, const example *e) {
    size_t stored = 0;
    CHECK_OK(set_validator(r, db, e->schema), &call_error);
    for (size_t from = 0, count; from < DOCUMENTS; from += count) {
        count = 1 + random_below(r, DOCUMENTS - from < 3 ? DOCUMENTS - from : 3);
        stored += save_some(r, db, e, from, count);
        CHECK_INT(stored, call_count(db, NULL, "c", "{}"));
    }
    drop(db);
}

/* validators_need_valid_documents -- one is set when the documents that are there satisfy it. */
static void validators_need_valid_documents(random_source *r, tansu_db *db, const example *e) {
    size_t count = random_below(r, 4);
    bool valid = true;
    for (size_t i = 0; i < count; i++) {
        text expected;
        expect_saved(e->schema, e->documents[i], &expected);
        valid = valid && expected.size == 0;
    }
    if (count > 0)
        CHECK_OK(save(r, db, e->documents, count), &call_error);
    CHECK_STATUS(valid ? TANSU_OK : TANSU_E_INVALID_DOCUMENT, set_validator(r, db, e->schema));
    *(valid ? &counts.set : &counts.not_set) += 1;
    drop(db);
}

/* ---- Tests ---- */

/* one_round -- one schema; false when the model differs. */
static bool one_round(uint64_t round, tansu_db *db) {
    static example e;
    random_source r = random_start(round);
    uint64_t failures = check_failures();
    e.schema = random_schema(&r);
    for (int i = 0; i < DOCUMENTS; i++)
        e.documents[i] = random_schema_document(&r, i);
    if (violations_are_the_models(&e)) {
        saves_are_the_models(&r, db, &e);
        validators_need_valid_documents(&r, db, &e);
    }
    bool same = check_failures() == failures;
    if (!same) {
        char *json = bson_as_canonical_extended_json(e.schema, NULL);
        check_note("TANSU_SEED=%" PRIu64 ", round %" PRIu64 ", schema %s", random_seed(), round,
                   json);
        bson_free(json);
    }
    bson_destroy(e.schema);
    for (int i = 0; i < DOCUMENTS; i++)
        bson_destroy(e.documents[i]);
    return same;
}

static void schemas_mean_what_the_model_says(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    tansu_db *db = memory_db_open();
    bool same = true;
    for (uint64_t round = 0; same && round < rounds; round++)
        same = one_round(round, db);
    memory_db_close(db);
    if (!same || rounds < DEFAULT_ROUNDS)
        return;
    /* What the run is for was in it. */
    CHECK(counts.valid > rounds && counts.invalid > rounds);
    CHECK(counts.saved > rounds && counts.refused > rounds);
    CHECK(counts.set > 0 && counts.not_set > 0);
    for (size_t i = 0; i < RULES; i++) {
        if (!CHECK(counts.first[i] > 0))
            check_note("no document violates %s first", rules[i]);
    }
}

/* check_refused -- whether an invalid schema has the context of its keyword, or of what is in its
 * value. */
static bool check_refused(tansu_status status, const char *path) {
    size_t size = strlen(path);
    return CHECK_STATUS(TANSU_E_INVALID_QUERY, status) &&
           CHECK(strncmp(path, call_error.context, size) == 0) &&
           CHECK(strchr(".", call_error.context[size]) != NULL);
}

static void invalid_schemas_are_refused(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    random_source r = random_start(UINT64_MAX);
    tansu_db *db = memory_db_open();
    bool same = true;
    for (uint64_t i = 0; same && i < rounds; i++) {
        char path[400];
        bson_t *raw = random_invalid_schema(&r, path, sizeof path);
        tansu_schema *schema;
        same = check_refused(tansu_schema_new(document_of(raw), &schema, &call_error), path) &&
               CHECK(schema == NULL) && check_refused(set_validator(&r, db, raw), path) &&
               CHECK_TEXT("NOT_FOUND", call_collection(db, NULL, "c"));
        if (!same) {
            char *json = bson_as_canonical_extended_json(raw, NULL);
            check_note("%s: %s, %s", path, call_error.context, json);
            bson_free(json);
            tansu_schema_free(schema);
        }
        bson_destroy(raw);
    }
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(schemas_mean_what_the_model_says);
    RUN(invalid_schemas_are_refused);
    check_note("%" PRIu64 " valid and %" PRIu64 " invalid documents; %" PRIu64 " saves, %" PRIu64
               " refused; %" PRIu64 " validators set, %" PRIu64 " not",
               counts.valid, counts.invalid, counts.saved, counts.refused, counts.set,
               counts.not_set);
    return check_finish();
}
