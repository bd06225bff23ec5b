/*
 * test_null_arguments.c -- every public function with NULL for each of its pointers, and with empty
 * names: it does what tansu.h says, INVALID_ARGUMENT where it says nothing else. The table has
 * every pointer of the header, which is read.
 */
#include "crypt/crypt.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/repo_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONE TANSU_NO_DOCUMENT
#define DURABLE TANSU_DURABILITY_DEFAULT

/* What the table has: "function parameter". */
static char cases[400][64];
static size_t case_count;

static void note(const char *parameter, const char *call) {
    size_t length = strcspn(call, "(");
    REQUIRE(case_count < sizeof cases / sizeof cases[0]);
    snprintf(cases[case_count++], sizeof cases[0], "%.*s %s", (int)length, call, parameter);
}

/* NEEDS -- with NULL for this parameter the call fails. TAKES -- it succeeds. IGNORES -- the same
 * of one that returns nothing. */
#define IS(expected, parameter, call) \
    (note(#parameter, #call), CHECK_STATUS(TANSU_E_##expected, call))
#define NEEDS(parameter, call) IS(INVALID_ARGUMENT, parameter, call)
#define TAKES(parameter, call) (note(#parameter, #call), CHECK_STATUS(TANSU_OK, call))
#define IGNORES(parameter, call) (note(#parameter, #call), call, CHECK(true))

static tansu_db *db;
static tansu_buffer out;
static uint8_t id_bytes[] = {14, 0, 0, 0, 0x10, '_', 'i', 'd', 0, 1, 0, 0, 0, 0};
static uint8_t keys_bytes[] = {12, 0, 0, 0, 0x10, 'k', 0, 1, 0, 0, 0, 0};
static uint8_t set_bytes[] = {25, 0,    0,   0,   3,   '$', 's', 'e', 't', 0, 14, 0, 0,
                              0,  0x10, 'n', 'n', 'n', 0,   1,   0,   0,   0, 0,  0};
static uint8_t search_bytes[] = {17, 0, 0, 0, 2, 'w', 'o', 'r', 'd', 0, 2, 0, 0, 0, 'a', 0, 0};
static uint8_t words_bytes[] = {17, 0, 0, 0, 2, 'k', 0, 5, 0, 0, 0, 't', 'e', 'x', 't', 0, 0};
#define WORDS ((tansu_document){words_bytes, sizeof words_bytes})
#define SEARCH ((tansu_document){search_bytes, sizeof search_bytes})
#define ID ((tansu_document){id_bytes, sizeof id_bytes})
#define KEYS ((tansu_document){keys_bytes, sizeof keys_bytes})
#define SET ((tansu_document){set_bytes, sizeof set_bytes})

static int write_nothing(void *context, const void *bytes, size_t size) {
    (void)context;
    (void)bytes;
    (void)size;
    return 1;
}

static ptrdiff_t read_nothing(void *context, void *bytes, size_t capacity) {
    (void)context;
    (void)bytes;
    (void)capacity;
    return 0;
}

static void opening_and_closing(void) {
    tansu_options options = call_options(NULL);
    tansu_db *other = NULL;
    IGNORES(buffer, tansu_buffer_free(NULL));
    IGNORES(memory, tansu_free(NULL));
    IGNORES(options, tansu_options_init(NULL));
    NEEDS(options, tansu_open(NULL, &other, NULL));
    NEEDS(db, tansu_open(&options, NULL, NULL));
    TAKES(path, tansu_open_path(NULL, &other, NULL));
    tansu_close(other);
    NEEDS(db, tansu_open_path(NULL, NULL, NULL));
    NEEDS(options, tansu_open_json(NULL, &other, NULL)); /* as {}: the path is missing */
    NEEDS(db, tansu_open_json("{\"store\": \"memory\"}", NULL, NULL));
    TAKES(db, tansu_shutdown(NULL, NULL));
    IGNORES(db, tansu_close(NULL));
    NEEDS(db, tansu_refresh(NULL, NULL, NULL, NULL));
    TAKES(changed, tansu_refresh(db, NULL, NULL, NULL));
    TAKES(sequence, tansu_refresh(db, NULL, NULL, NULL));
    NEEDS(db, tansu_sync(NULL, NULL));
    NEEDS(db, tansu_checkpoint(NULL, NULL));
    /* Of an encrypted one, and of files: test_rekey_everything.c, test_convert.c. */
    note("progress", "tansu_rekey_everything(");
    note("progress", "tansu_encrypt(");
    note("progress", "tansu_decrypt(");
    const tansu_key secret = {.bytes = "key", .size = 3, .kind = TANSU_KEY_PASSPHRASE};
    NEEDS(db, tansu_rekey(NULL, &secret, NULL));
    NEEDS(key, tansu_rekey(db, NULL, NULL));
    NEEDS(db, tansu_rekey_everything(NULL, &secret, NULL, NULL, NULL));
    NEEDS(key, tansu_rekey_everything(db, NULL, NULL, NULL, NULL));
    NEEDS(path, tansu_encrypt(NULL, &secret, NULL, NULL, NULL));
    NEEDS(key, tansu_encrypt("none", NULL, NULL, NULL, NULL));
    NEEDS(path, tansu_decrypt(NULL, &secret, NULL, NULL, NULL));
    NEEDS(key, tansu_decrypt("none", NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_stats(NULL, &out, NULL));
    NEEDS(result, tansu_stats(db, NULL, NULL));
    NEEDS(db, tansu_storage(NULL, &out, NULL));
    NEEDS(result, tansu_storage(db, NULL, NULL));
}

static void transactions(void) {
    tansu_txn *txn = NULL;
    NEEDS(db, tansu_txn_begin(NULL, TANSU_TXN_READ, DURABLE, &txn, NULL));
    NEEDS(txn, tansu_txn_begin(db, TANSU_TXN_READ, DURABLE, NULL, NULL));
    NEEDS(db, tansu_txn_prepare(NULL, TANSU_TXN_READ, DURABLE, &txn, NULL));
    NEEDS(txn, tansu_txn_prepare(db, TANSU_TXN_READ, DURABLE, NULL, NULL));
    NEEDS(txn, tansu_txn_start(NULL, NULL));
    NEEDS(txn, tansu_txn_commit(NULL, NULL, NULL));
    txn = call_begin(db, TANSU_TXN_WRITE);
    TAKES(sequence, tansu_txn_commit(txn, NULL, NULL));
    IGNORES(txn, tansu_txn_cancel(NULL));
    IGNORES(txn, tansu_txn_abort(NULL));
    NEEDS(txn, tansu_txn_check_documents(NULL, NULL));
    NEEDS(txn, tansu_savepoint_begin(NULL, NULL));
    NEEDS(txn, tansu_savepoint_release(NULL, NULL));
    NEEDS(txn, tansu_savepoint_roll_back(NULL, NULL));
}

static void collections_and_indexes(void) {
    NEEDS(db, tansu_collection_ensure(NULL, NULL, "c", NONE, NULL));
    NEEDS(name, tansu_collection_ensure(db, NULL, NULL, NONE, NULL));
    TAKES(txn, tansu_collection_ensure(db, NULL, "c", NONE, NULL));
    TAKES(options, tansu_collection_ensure(db, NULL, "c", NONE, NULL));
    NEEDS(db, tansu_collection_drop(NULL, NULL, "c", NULL));
    NEEDS(name, tansu_collection_drop(db, NULL, NULL, NULL));
    CHECK_OK(tansu_collection_ensure(db, NULL, "other", NONE, NULL), NULL);
    TAKES(txn, tansu_collection_drop(db, NULL, "other", NULL));
    NEEDS(db, tansu_collection_rename(NULL, NULL, "c", "d", NULL));
    NEEDS(name, tansu_collection_rename(db, NULL, NULL, "d", NULL));
    NEEDS(new_name, tansu_collection_rename(db, NULL, "c", NULL, NULL));
    CHECK_OK(tansu_collection_ensure(db, NULL, "old", NONE, NULL), NULL);
    TAKES(txn, tansu_collection_rename(db, NULL, "old", "new", NULL));
    NEEDS(db, tansu_collection_list(NULL, NULL, &out, NULL));
    NEEDS(result, tansu_collection_list(db, NULL, NULL, NULL));
    TAKES(txn, tansu_collection_list(db, NULL, &out, NULL));
    NEEDS(db, tansu_collection_info(NULL, NULL, "c", &out, NULL));
    NEEDS(name, tansu_collection_info(db, NULL, NULL, &out, NULL));
    NEEDS(result, tansu_collection_info(db, NULL, "c", NULL, NULL));
    TAKES(txn, tansu_collection_info(db, NULL, "c", &out, NULL));
    NEEDS(db, tansu_collection_referrers(NULL, NULL, "c", &out, NULL));
    NEEDS(name, tansu_collection_referrers(db, NULL, NULL, &out, NULL));
    NEEDS(result, tansu_collection_referrers(db, NULL, "c", NULL, NULL));
    TAKES(txn, tansu_collection_referrers(db, NULL, "c", &out, NULL));
    NEEDS(db, tansu_dangling_references(NULL, NULL, NONE, &out, NULL));
    NEEDS(result, tansu_dangling_references(db, NULL, NONE, NULL, NULL));
    TAKES(txn, tansu_dangling_references(db, NULL, NONE, &out, NULL));
    TAKES(options, tansu_dangling_references(db, NULL, NONE, &out, NULL));
    NEEDS(db, tansu_index_create(NULL, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(collection, tansu_index_create(db, NULL, NULL, NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(keys, tansu_index_create(db, NULL, "c", NULL, NONE, NONE, NULL, NULL, NULL));
    TAKES(txn, tansu_index_create(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    TAKES(name, tansu_index_create(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    TAKES(options, tansu_index_create(db, NULL, "c", "", KEYS, NONE, NULL, NULL, NULL));
    TAKES(progress, tansu_index_create(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(db, tansu_index_declare(NULL, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(collection, tansu_index_declare(db, NULL, NULL, NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(keys, tansu_index_declare(db, NULL, "c", NULL, NONE, NONE, NULL, NULL, NULL));
    TAKES(txn, tansu_index_declare(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    TAKES(name, tansu_index_declare(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    TAKES(options, tansu_index_declare(db, NULL, "c", "", KEYS, NONE, NULL, NULL, NULL));
    TAKES(progress, tansu_index_declare(db, NULL, "c", NULL, KEYS, NONE, NULL, NULL, NULL));
    NEEDS(db, tansu_index_drop(NULL, NULL, "c", "k_1", NULL));
    NEEDS(collection, tansu_index_drop(db, NULL, NULL, "k_1", NULL));
    NEEDS(name, tansu_index_drop(db, NULL, "c", NULL, NULL));
    TAKES(txn, tansu_index_drop(db, NULL, "c", "k_1", NULL));
    NEEDS(db, tansu_index_list(NULL, NULL, "c", &out, NULL));
    NEEDS(collection, tansu_index_list(db, NULL, NULL, &out, NULL));
    NEEDS(result, tansu_index_list(db, NULL, "c", NULL, NULL));
    TAKES(txn, tansu_index_list(db, NULL, "c", &out, NULL));
}

static void writing(void) {
    const tansu_document one = ID, none = NONE;
    NEEDS(db, tansu_save(NULL, NULL, "c", &one, 1, TANSU_SAVE, NULL, NULL));
    NEEDS(collection, tansu_save(db, NULL, NULL, &one, 1, TANSU_SAVE, NULL, NULL));
    NEEDS(documents, tansu_save(db, NULL, "c", NULL, 1, TANSU_SAVE, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_save(db, NULL, "c", &none, 1, TANSU_SAVE, NULL, NULL));
    TAKES(txn, tansu_save(db, NULL, "c", &one, 1, TANSU_SAVE, NULL, NULL));
    TAKES(ids, tansu_save(db, NULL, "c", &one, 1, TANSU_SAVE, NULL, NULL));
    NEEDS(db, tansu_save_one(NULL, NULL, "c", one, TANSU_SAVE, NULL, NULL));
    NEEDS(collection, tansu_save_one(db, NULL, NULL, one, TANSU_SAVE, NULL, NULL));
    NEEDS(document, tansu_save_one(db, NULL, "c", none, TANSU_SAVE, NULL, NULL));
    TAKES(txn, tansu_save_one(db, NULL, "c", one, TANSU_SAVE, NULL, NULL));
    TAKES(id, tansu_save_one(db, NULL, "c", one, TANSU_SAVE, NULL, NULL));
    NEEDS(db, tansu_update(NULL, NULL, "c", NONE, SET, NONE, NULL, NULL));
    NEEDS(collection, tansu_update(db, NULL, NULL, NONE, SET, NONE, NULL, NULL));
    NEEDS(update, tansu_update(db, NULL, "c", NONE, NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_update(db, NULL, "c", NONE, SET, NONE, NULL, NULL));
    TAKES(query, tansu_update(db, NULL, "c", NONE, SET, NONE, NULL, NULL));
    TAKES(hints, tansu_update(db, NULL, "c", ID, SET, NONE, NULL, NULL));
    TAKES(result, tansu_update(db, NULL, "c", ID, SET, NONE, NULL, NULL));
    const tansu_modify_mode after = TANSU_MODIFY_RETURN_AFTER;
    NEEDS(db, tansu_find_and_modify(NULL, NULL, "c", ID, SET, NONE, after, NULL, NULL));
    NEEDS(collection, tansu_find_and_modify(db, NULL, NULL, ID, SET, NONE, after, NULL, NULL));
    NEEDS(update, tansu_find_and_modify(db, NULL, "c", ID, NONE, NONE, after, NULL, NULL));
    TAKES(txn, tansu_find_and_modify(db, NULL, "c", ID, SET, NONE, after, NULL, NULL));
    TAKES(query, tansu_find_and_modify(db, NULL, "c", NONE, SET, NONE, after, NULL, NULL));
    TAKES(hints, tansu_find_and_modify(db, NULL, "c", ID, SET, NONE, after, NULL, NULL));
    TAKES(result, tansu_find_and_modify(db, NULL, "c", ID, SET, NONE, after, NULL, NULL));
    NEEDS(db, tansu_remove(NULL, NULL, "c", NONE, NONE, NULL, NULL));
    NEEDS(collection, tansu_remove(db, NULL, NULL, NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_remove(db, NULL, "none", ID, NONE, NULL, NULL));
    TAKES(query, tansu_remove(db, NULL, "none", NONE, NONE, NULL, NULL));
    const tansu_document nowhere = {NULL, 50};
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_remove(db, NULL, "c", nowhere, NONE, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_remove(db, NULL, "c", NONE, nowhere, NULL, NULL));
    TAKES(hints, tansu_remove(db, NULL, "none", ID, NONE, NULL, NULL));
    TAKES(removed, tansu_remove(db, NULL, "none", ID, NONE, NULL, NULL));
    NEEDS(db, tansu_remove_id(NULL, NULL, "c", ID, NULL, NULL));
    NEEDS(collection, tansu_remove_id(db, NULL, NULL, ID, NULL, NULL));
    NEEDS(id, tansu_remove_id(db, NULL, "c", NONE, NULL, NULL));
    TAKES(txn, tansu_remove_id(db, NULL, "none", ID, NULL, NULL));
    TAKES(removed, tansu_remove_id(db, NULL, "none", ID, NULL, NULL));
}

static void reading(void) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    int64_t count;
    size_t next;
    NEEDS(db, tansu_get(NULL, NULL, "c", ID, &out, NULL));
    NEEDS(collection, tansu_get(db, NULL, NULL, ID, &out, NULL));
    NEEDS(id, tansu_get(db, NULL, "c", NONE, &out, NULL));
    NEEDS(result, tansu_get(db, NULL, "c", ID, NULL, NULL));
    TAKES(txn, tansu_get(db, NULL, "c", ID, &out, NULL));
    NEEDS(db, tansu_get_many(NULL, NULL, "c", ID, 0, &out, &next, NULL));
    NEEDS(collection, tansu_get_many(db, NULL, NULL, ID, 0, &out, &next, NULL));
    NEEDS(ids, tansu_get_many(db, NULL, "c", NONE, 0, &out, &next, NULL));
    NEEDS(result, tansu_get_many(db, NULL, "c", ID, 0, NULL, &next, NULL));
    NEEDS(next, tansu_get_many(db, NULL, "c", ID, 0, &out, NULL, NULL));
    TAKES(txn, tansu_get_many(db, NULL, "c", ID, 0, &out, &next, NULL));
    NEEDS(db, tansu_find(NULL, NULL, "c", NONE, NONE, &cursor, NULL));
    NEEDS(collection, tansu_find(db, NULL, NULL, NONE, NONE, &cursor, NULL));
    NEEDS(cursor, tansu_find(db, NULL, "c", NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_find(db, NULL, "c", ID, NONE, &cursor, NULL));
    tansu_cursor_close(cursor);
    TAKES(query, tansu_find(db, NULL, "c", NONE, NONE, &cursor, NULL));
    tansu_cursor_close(cursor);
    TAKES(hints, tansu_find(db, NULL, "c", ID, NONE, &cursor, NULL));
    NEEDS(cursor, tansu_cursor_next(NULL, &document, NULL));
    NEEDS(document, tansu_cursor_next(cursor, NULL, NULL));
    tansu_cursor_close(cursor);
    IGNORES(cursor, tansu_cursor_cancel(NULL));
    IGNORES(cursor, tansu_cursor_end_timeout(NULL));
    IGNORES(cursor, tansu_cursor_close(NULL));
    NEEDS(db, tansu_count(NULL, NULL, "c", NONE, NONE, &count, NULL));
    NEEDS(collection, tansu_count(db, NULL, NULL, NONE, NONE, &count, NULL));
    NEEDS(count, tansu_count(db, NULL, "c", NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_count(db, NULL, "c", ID, NONE, &count, NULL));
    TAKES(query, tansu_count(db, NULL, "c", NONE, NONE, &count, NULL));
    TAKES(hints, tansu_count(db, NULL, "c", ID, NONE, &count, NULL));
    NEEDS(db, tansu_query_collections(NULL, NULL, "c", NONE, NONE, &out, NULL));
    NEEDS(collection, tansu_query_collections(db, NULL, NULL, NONE, NONE, &out, NULL));
    NEEDS(result, tansu_query_collections(db, NULL, "c", NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_query_collections(db, NULL, "c", ID, NONE, &out, NULL));
    TAKES(query, tansu_query_collections(db, NULL, "c", NONE, NONE, &out, NULL));
    TAKES(hints, tansu_query_collections(db, NULL, "c", ID, NONE, &out, NULL));
    NEEDS(db, tansu_explain(NULL, NULL, "c", NONE, NONE, &out, NULL));
    NEEDS(collection, tansu_explain(db, NULL, NULL, NONE, NONE, &out, NULL));
    NEEDS(result, tansu_explain(db, NULL, "c", NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_explain(db, NULL, "c", ID, NONE, &out, NULL));
    TAKES(query, tansu_explain(db, NULL, "c", NONE, NONE, &out, NULL));
    TAKES(hints, tansu_explain(db, NULL, "c", ID, NONE, &out, NULL));
    NEEDS(db, tansu_distinct(NULL, NULL, "c", "n", NONE, NONE, &out, NULL));
    NEEDS(collection, tansu_distinct(db, NULL, NULL, "n", NONE, NONE, &out, NULL));
    NEEDS(path, tansu_distinct(db, NULL, "c", NULL, NONE, NONE, &out, NULL));
    NEEDS(result, tansu_distinct(db, NULL, "c", "n", NONE, NONE, NULL, NULL));
    TAKES(txn, tansu_distinct(db, NULL, "c", "n", ID, NONE, &out, NULL));
    TAKES(query, tansu_distinct(db, NULL, "c", "n", NONE, NONE, &out, NULL));
    TAKES(hints, tansu_distinct(db, NULL, "c", "n", ID, NONE, &out, NULL));
    NEEDS(db, tansu_aggregate(NULL, NULL, "c", NONE, NONE, NONE, &out, NULL));
    NEEDS(collection, tansu_aggregate(db, NULL, NULL, NONE, NONE, NONE, &out, NULL));
    NEEDS(result, tansu_aggregate(db, NULL, "c", NONE, NONE, NONE, NULL, NULL));
    NEEDS(group, tansu_aggregate(db, NULL, "c", NONE, NONE, NONE, &out, NULL));
    tansu_buffer group = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_json_to_bson("{\"by\": \"n\"}", SIZE_MAX, &group, NULL), NULL);
    const tansu_document by = {group.data, group.size};
    TAKES(txn, tansu_aggregate(db, NULL, "c", ID, by, NONE, &out, NULL));
    TAKES(query, tansu_aggregate(db, NULL, "c", NONE, by, NONE, &out, NULL));
    TAKES(hints, tansu_aggregate(db, NULL, "c", ID, by, NONE, &out, NULL));
    tansu_buffer_free(&group);
}

static void pipelines(void) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_cursor *cursor;
    CHECK_OK(tansu_json_to_bson("{\"0\": {\"$documents\": []}}", SIZE_MAX, &bytes, NULL), NULL);
    const tansu_document stages = {bytes.data, bytes.size};
    NEEDS(db, tansu_pipeline(NULL, NULL, NULL, stages, NONE, &cursor, NULL));
    NEEDS(stages, tansu_pipeline(db, NULL, "c", NONE, NONE, &cursor, NULL));
    NEEDS(cursor, tansu_pipeline(db, NULL, NULL, stages, NONE, NULL, NULL));
    TAKES(txn, tansu_pipeline(db, NULL, NULL, stages, NONE, &cursor, NULL));
    tansu_cursor_close(cursor);
    TAKES(collection, tansu_pipeline(db, NULL, NULL, stages, NONE, &cursor, NULL));
    tansu_cursor_close(cursor);
    TAKES(hints, tansu_pipeline(db, NULL, NULL, stages, NONE, &cursor, NULL));
    tansu_cursor_close(cursor);
    tansu_buffer_free(&bytes);
}

static void matching_and_converting(void) {
    tansu_matcher *matcher = NULL;
    int matches;
    char *response = NULL;
    NEEDS(matcher, tansu_matcher_new(NONE, NULL, NULL));
    TAKES(query, tansu_matcher_new(NONE, &matcher, NULL));
    NEEDS(matcher, tansu_matcher_ask(NULL, ID, &matches, NULL));
    NEEDS(document, tansu_matcher_ask(matcher, NONE, &matches, NULL));
    NEEDS(matches, tansu_matcher_ask(matcher, ID, NULL, NULL));
    tansu_matcher_free(matcher);
    IGNORES(matcher, tansu_matcher_free(NULL));

    tansu_schema *schema = NULL;
    tansu_buffer violations = TANSU_BUFFER_INIT;
    NEEDS(platform, tansu_platform_set(NULL, NULL));
    NEEDS(schema, tansu_schema_new(NONE, &schema, NULL));
    NEEDS(result, tansu_schema_new(((tansu_document){(const uint8_t *)"\5\0\0\0", 5}), NULL, NULL));
    CHECK_OK(tansu_schema_new(((tansu_document){(const uint8_t *)"\5\0\0\0", 5}), &schema, NULL),
             NULL);
    NEEDS(schema, tansu_schema_check(NULL, ID, 0, &violations, NULL));
    NEEDS(document, tansu_schema_check(schema, NONE, 0, &violations, NULL));
    NEEDS(violations, tansu_schema_check(schema, ID, 0, NULL, NULL));
    tansu_schema_free(schema);
    IGNORES(schema, tansu_schema_free(NULL));
    tansu_buffer_free(&violations);
    IGNORES(oid, tansu_oid_generate(NULL));
    NEEDS(text, tansu_analyze(NULL, 0, NONE, &out, NULL));
    NEEDS(result, tansu_analyze("", 0, NONE, NULL, NULL));
    TAKES(options, tansu_analyze("", 0, NONE, &out, NULL));
    NEEDS(text, tansu_highlight(NULL, 0, SEARCH, NONE, &out, NULL));
    NEEDS(search, tansu_highlight("", 0, NONE, NONE, &out, NULL));
    NEEDS(result, tansu_highlight("", 0, SEARCH, NONE, NULL, NULL));
    TAKES(options, tansu_highlight("", 0, SEARCH, NONE, &out, NULL));
    CHECK_OK(tansu_index_create(db, NULL, "words", NULL, WORDS, NONE, NULL, NULL, NULL), NULL);
    NEEDS(db, tansu_complete(NULL, NULL, "c", "", 0, NONE, &out, NULL));
    NEEDS(collection, tansu_complete(db, NULL, NULL, "", 0, NONE, &out, NULL));
    NEEDS(text, tansu_complete(db, NULL, "c", NULL, 0, NONE, &out, NULL));
    NEEDS(result, tansu_complete(db, NULL, "c", "", 0, NONE, NULL, NULL));
    TAKES(txn, tansu_complete(db, NULL, "words", "", 0, NONE, &out, NULL));
    TAKES(options, tansu_complete(db, NULL, "words", "", 0, NONE, &out, NULL));
    NEEDS(db, tansu_suggest(NULL, NULL, "c", "", 0, NONE, &out, NULL));
    NEEDS(collection, tansu_suggest(db, NULL, NULL, "", 0, NONE, &out, NULL));
    NEEDS(text, tansu_suggest(db, NULL, "c", NULL, 0, NONE, &out, NULL));
    NEEDS(result, tansu_suggest(db, NULL, "c", "", 0, NONE, NULL, NULL));
    TAKES(txn, tansu_suggest(db, NULL, "words", "", 0, NONE, &out, NULL));
    TAKES(options, tansu_suggest(db, NULL, "words", "", 0, NONE, &out, NULL));
    NEEDS(document, tansu_validate(NONE, NULL));
    NEEDS(json, tansu_json_to_bson(NULL, SIZE_MAX, &out, NULL));
    NEEDS(result, tansu_json_to_bson("{}", SIZE_MAX, NULL, NULL));
    NEEDS(document, tansu_bson_to_json(NONE, 0, &out, NULL));
    NEEDS(result, tansu_bson_to_json(ID, 0, NULL, NULL));
    NEEDS(db, tansu_execute_json(NULL, "{\"op\": \"stats\"}", &response));
    tansu_free(response);
    NEEDS(request, tansu_execute_json(db, NULL, &response));
    tansu_free(response);
    NEEDS(response, tansu_execute_json(db, "{\"op\": \"stats\"}", NULL));
}

static void feeds(void) {
    tansu_feed *feed = NULL;
    tansu_change event;
    tansu_change_init(&event);
    IGNORES(change, tansu_change_init(NULL));
    NEEDS(db, tansu_feed_open(NULL, 0, NONE, &feed, NULL));
    NEEDS(feed, tansu_feed_open(db, 0, NONE, NULL, NULL));
    TAKES(options, tansu_feed_open(db, 0, NONE, &feed, NULL));
    NEEDS(feed, tansu_feed_next(NULL, 0, &event, NULL));
    NEEDS(change, tansu_feed_next(feed, 0, NULL, NULL));
    NEEDS(feed, tansu_feed_skip(NULL, 0, NULL, NULL));
    TAKES(sequence, tansu_feed_skip(feed, 0, NULL, NULL));
    IGNORES(feed, tansu_feed_position(NULL));
    IGNORES(feed, tansu_feed_cancel(NULL));
    tansu_feed_close(feed);
    IGNORES(feed, tansu_feed_close(NULL));
}

/* encrypted_copies -- backups and dumps with keys of their own; the first two paths have backups. */
static void encrypted_copies(const char *const to[4]) {
    static const char bytes[] = "thirty-two bytes of a random key";
    const tansu_key key = {.bytes = bytes, .size = 32}, empty = {.size = 32};
    const tansu_backup_form form = TANSU_BACKUP_FILE;
    folder_remove(to[2]);
    NEEDS(db, tansu_backup_plain(NULL, to[3], form, NULL, NULL, NULL, NULL));
    NEEDS(to, tansu_backup_plain(db, NULL, form, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_backup_plain(db, to[3], form, NULL, NULL, NULL, NULL));
    unlink(to[3]);
    TAKES(report, tansu_backup_plain(db, to[3], form, NULL, NULL, NULL, NULL));
    unlink(to[3]);
    NEEDS(key, tansu_backup_encrypted(db, to[3], form, NULL, NULL, NULL, NULL, NULL));
    NEEDS(key, tansu_repair_encrypted(to[0], to[2], NULL, NULL, NULL, NULL, NULL));
    NEEDS(key, tansu_restore_encrypted(to[0], to[2], NULL, NULL, NULL, NULL, NULL));
    NEEDS(key,
          tansu_dump_encrypted(db, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL, NULL));
    NEEDS(key, tansu_load_encrypted(db, read_nothing, NULL, NONE, NULL, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_backup_encrypted(db, to[3], form, &empty, NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_dump_encrypted(NULL, NULL, write_nothing, NULL, NONE, &key, NULL, NULL, NULL,
                                   NULL));
    NEEDS(write, tansu_dump_encrypted(db, NULL, NULL, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_load_encrypted(NULL, read_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    NEEDS(read, tansu_load_encrypted(db, NULL, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    tansu_dump_reader *reader = NULL;
    size_t got;
    NEEDS(read, tansu_dump_reader_open(NULL, NULL, &key, &reader, NULL));
    NEEDS(key, tansu_dump_reader_open(read_nothing, NULL, NULL, &reader, NULL));
    NEEDS(reader, tansu_dump_reader_open(read_nothing, NULL, &key, NULL, NULL));
    NEEDS(reader, tansu_dump_reader_read(NULL, &got, sizeof got, &got, NULL));
    IGNORES(reader, tansu_dump_reader_close(NULL));
    /* The others need a dump. */
    note("bytes", "tansu_dump_reader_read(");
    note("got", "tansu_dump_reader_read(");
    /* The same with a build that has no ciphers. */
    const bool can = crypt_available();
    const tansu_status done = can ? TANSU_OK : TANSU_E_UNSUPPORTED;
    const tansu_status null = can ? TANSU_E_INVALID_ARGUMENT : TANSU_E_UNSUPPORTED;
#define COMES_TO(expected, parameter, call) (note(#parameter, #call), CHECK_STATUS(expected, call))
    COMES_TO(done, report,
             tansu_backup_encrypted(db, to[2], TANSU_BACKUP_FOLDER, &key, NULL, NULL, NULL, NULL));
    COMES_TO(null, from, tansu_repair_encrypted(NULL, to[3], &key, NULL, NULL, NULL, NULL));
    COMES_TO(null, to, tansu_repair_encrypted(to[2], NULL, &key, NULL, NULL, NULL, NULL));
    COMES_TO(done, progress, tansu_repair_encrypted(to[2], to[3], &key, NULL, NULL, NULL, NULL));
    folder_remove(to[3]);
    COMES_TO(done, report, tansu_repair_encrypted(to[2], to[3], &key, NULL, NULL, NULL, NULL));
    folder_remove(to[3]);
    folder_remove(to[2]);
    COMES_TO(null, db, tansu_backup_encrypted(NULL, to[3], form, &key, NULL, NULL, NULL, NULL));
    COMES_TO(null, to, tansu_backup_encrypted(db, NULL, form, &key, NULL, NULL, NULL, NULL));
    COMES_TO(done, progress, tansu_backup_encrypted(db, to[3], form, &key, NULL, NULL, NULL, NULL));
    COMES_TO(null, from, tansu_restore_encrypted(NULL, to[2], &key, NULL, NULL, NULL, NULL));
    COMES_TO(null, to, tansu_restore_encrypted(to[3], NULL, &key, NULL, NULL, NULL, NULL));
    COMES_TO(done, progress, tansu_restore_encrypted(to[3], to[2], &key, NULL, NULL, NULL, NULL));
    folder_remove(to[2]);
    COMES_TO(done, report, tansu_restore_encrypted(to[3], to[2], &key, NULL, NULL, NULL, NULL));
    folder_remove(to[2]);
    unlink(to[3]);
    COMES_TO(done, report, tansu_backup_encrypted(db, to[3], form, &key, NULL, NULL, NULL, NULL));
    unlink(to[3]);
    COMES_TO(
        done, txn,
        tansu_dump_encrypted(db, NULL, write_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    COMES_TO(
        done, options,
        tansu_dump_encrypted(db, NULL, write_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    COMES_TO(
        done, progress,
        tansu_dump_encrypted(db, NULL, write_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    COMES_TO(
        done, report,
        tansu_dump_encrypted(db, NULL, write_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    /* Nothing is no encrypted dump. */
    const tansu_status cut = can ? TANSU_E_CORRUPT : TANSU_E_UNSUPPORTED;
    COMES_TO(cut, options,
             tansu_load_encrypted(db, read_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    COMES_TO(cut, progress,
             tansu_load_encrypted(db, read_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
    COMES_TO(cut, report,
             tansu_load_encrypted(db, read_nothing, NULL, NONE, &key, NULL, NULL, NULL, NULL));
}

static void maintenance(void) {
    tansu_options memory = call_options(NULL);
    tansu_db *copy = NULL;
    char *folder = folder_new(), name[4][32];
    const char *to[4];
    for (int i = 0; i < 4; i++) {
        snprintf(name[i], sizeof name[i], "to%d", i);
        to[i] = strdup(folder_join(folder, name[i]));
    }
    NEEDS(db, tansu_compact(NULL, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_compact(db, NULL, NULL, NULL, NULL));
    TAKES(report, tansu_compact(db, NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_expire(NULL, NULL, NULL));
    TAKES(removed, tansu_expire(db, NULL, NULL));
    NEEDS(db, tansu_verify(NULL, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_verify(db, NULL, NULL, NULL, NULL));
    TAKES(report, tansu_verify(db, NULL, NULL, NULL, NULL));
    const tansu_backup_form form = TANSU_BACKUP_FOLDER;
    NEEDS(db, tansu_backup(NULL, to[0], form, NULL, NULL, NULL, NULL));
    NEEDS(to, tansu_backup(db, NULL, form, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_backup(db, to[0], form, NULL, NULL, NULL, NULL));
    TAKES(report, tansu_backup(db, to[1], TANSU_BACKUP_FILE, NULL, NULL, NULL, NULL));
    NEEDS(from, tansu_restore(NULL, to[2], NULL, NULL, NULL, NULL));
    NEEDS(to, tansu_restore(to[0], NULL, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_restore(to[0], to[2], NULL, NULL, NULL, NULL));
    folder_remove(to[2]);
    TAKES(report, tansu_restore(to[1], to[2], NULL, NULL, NULL, NULL));
    encrypted_copies(to);
    NEEDS(from, tansu_repair(NULL, to[3], NULL, NULL, NULL, NULL));
    NEEDS(to, tansu_repair(to[0], NULL, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_repair(to[0], to[3], NULL, NULL, NULL, NULL));
    folder_remove(to[3]);
    TAKES(report, tansu_repair(to[0], to[3], NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_clone(NULL, &memory, NULL, NULL, &copy, NULL));
    NEEDS(target, tansu_clone(db, NULL, NULL, NULL, &copy, NULL));
    NEEDS(copy, tansu_clone(db, &memory, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_clone(db, &memory, NULL, NULL, &copy, NULL));
    tansu_close(copy);
    NEEDS(db, tansu_dump(NULL, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    NEEDS(write, tansu_dump(db, NULL, NULL, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(txn, tansu_dump(db, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(options, tansu_dump(db, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_dump(db, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(report, tansu_dump(db, NULL, write_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    NEEDS(db, tansu_load(NULL, read_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    NEEDS(read, tansu_load(db, NULL, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(options, tansu_load(db, read_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(progress, tansu_load(db, read_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    TAKES(report, tansu_load(db, read_nothing, NULL, NONE, NULL, NULL, NULL, NULL));
    for (int i = 0; i < 4; i++)
        free((char *)to[i]);
    folder_end(folder);
}

/* No collection has an empty name. */
static void empty_names(void) {
    const tansu_document one = ID;
    tansu_cursor *cursor;
    int64_t count;
    size_t next;
#define UNNAMED(call) CHECK_STATUS(TANSU_E_INVALID_NAME, call)
    UNNAMED(tansu_collection_ensure(db, NULL, "", NONE, NULL));
    UNNAMED(tansu_collection_drop(db, NULL, "", NULL));
    UNNAMED(tansu_collection_rename(db, NULL, "", "d", NULL));
    UNNAMED(tansu_collection_rename(db, NULL, "c", "", NULL));
    UNNAMED(tansu_save(db, NULL, "", &one, 1, TANSU_SAVE, NULL, NULL));
    UNNAMED(tansu_update(db, NULL, "", NONE, SET, NONE, NULL, NULL));
    UNNAMED(
        tansu_find_and_modify(db, NULL, "", ID, SET, NONE, TANSU_MODIFY_RETURN_AFTER, NULL, NULL));
    UNNAMED(tansu_remove(db, NULL, "", NONE, NONE, NULL, NULL));
    UNNAMED(tansu_remove_id(db, NULL, "", ID, NULL, NULL));
    UNNAMED(tansu_get(db, NULL, "", ID, &out, NULL));
    UNNAMED(tansu_get_many(db, NULL, "", ID, 0, &out, &next, NULL));
    UNNAMED(tansu_find(db, NULL, "", NONE, NONE, &cursor, NULL));
    UNNAMED(tansu_count(db, NULL, "", NONE, NONE, &count, NULL));
    UNNAMED(tansu_query_collections(db, NULL, "", NONE, NONE, &out, NULL));
    UNNAMED(tansu_explain(db, NULL, "", NONE, NONE, &out, NULL));
    UNNAMED(tansu_distinct(db, NULL, "", "n", NONE, NONE, &out, NULL));
    UNNAMED(tansu_index_create(db, NULL, "", NULL, KEYS, NONE, NULL, NULL, NULL));
    UNNAMED(tansu_index_declare(db, NULL, "", NULL, KEYS, NONE, NULL, NULL, NULL));
    UNNAMED(tansu_index_drop(db, NULL, "", "k_1", NULL));
    UNNAMED(tansu_index_list(db, NULL, "", &out, NULL));
    CHECK_STATUS(TANSU_E_NOT_FOUND, tansu_index_drop(db, NULL, "c", "", NULL));
    CHECK(tansu_open_json("", &(tansu_db *){NULL}, NULL) != TANSU_OK);
    CHECK(tansu_json_to_bson("", SIZE_MAX, &out, NULL) == TANSU_E_INVALID_JSON);
    CHECK(tansu_backup(db, "", TANSU_BACKUP_FILE, NULL, NULL, NULL, NULL) != TANSU_OK);
    CHECK(tansu_restore("", "", NULL, NULL, NULL, NULL) != TANSU_OK);
    CHECK(tansu_repair("", "", NULL, NULL, NULL, NULL) != TANSU_OK);
}

/* A document of some bytes at NULL. */
static void documents_without_bytes(void) {
    const tansu_document nowhere = {NULL, 20};
    tansu_cursor *cursor;
    tansu_matcher *matcher;
    int64_t count;
    CHECK(tansu_validate(nowhere, NULL) != TANSU_OK);
    CHECK(tansu_bson_to_json(nowhere, 0, &out, NULL) != TANSU_OK);
    CHECK(tansu_matcher_new(nowhere, &matcher, NULL) != TANSU_OK);
    CHECK(tansu_save(db, NULL, "c", &nowhere, 1, TANSU_SAVE, NULL, NULL) != TANSU_OK);
    CHECK(tansu_find(db, NULL, "c", nowhere, NONE, &cursor, NULL) != TANSU_OK);
    CHECK(tansu_find(db, NULL, "c", NONE, nowhere, &cursor, NULL) != TANSU_OK);
    CHECK(tansu_count(db, NULL, "c", nowhere, NONE, &count, NULL) != TANSU_OK);
    CHECK(tansu_get(db, NULL, "c", nowhere, &out, NULL) != TANSU_OK);
    CHECK(tansu_remove(db, NULL, "c", nowhere, NONE, NULL, NULL) != TANSU_OK);
    CHECK(tansu_update(db, NULL, "c", nowhere, SET, NONE, NULL, NULL) != TANSU_OK);
    CHECK(tansu_update(db, NULL, "c", NONE, nowhere, NONE, NULL, NULL) != TANSU_OK);
    CHECK(tansu_collection_ensure(db, NULL, "c", nowhere, NULL) != TANSU_OK);
    CHECK(tansu_index_create(db, NULL, "c", NULL, nowhere, NONE, NULL, NULL, NULL) != TANSU_OK);
    CHECK(tansu_index_create(db, NULL, "c", NULL, KEYS, nowhere, NULL, NULL, NULL) != TANSU_OK);
}

/* in_table -- whether the table has a pointer of a function. */
static bool in_table(const char *function, const char *parameter) {
    char text[160];
    snprintf(text, sizeof text, "%s %s", function, parameter);
    for (size_t i = 0; i < case_count; i++)
        if (strcmp(cases[i], text) == 0)
            return true;
    check_note("%s", text);
    return false;
}

/* check_parameter -- one parameter, as the header has it: if it can be NULL, the table has it. The
 * error is optional in all functions, and contexts are the caller's. */
static void check_parameter(const char *function, char *parameter) {
    bool pointer = strchr(parameter, '*') != NULL || strchr(parameter, '[') != NULL ||
                   strstr(parameter, "tansu_document ") != NULL ||
                   strstr(parameter, "tansu_progress ") != NULL ||
                   strstr(parameter, "_bytes ") != NULL;
    parameter[strcspn(parameter, "[")] = 0;
    size_t at = strlen(parameter);
    while (at > 0 && (isalnum((unsigned char)parameter[at - 1]) || parameter[at - 1] == '_'))
        at--;
    const char *name = parameter + at;
    if (pointer && strcmp(name, "error") != 0 && strstr(name, "context") == NULL)
        CHECK(in_table(function, name));
}

static void the_table_has_every_pointer_of_the_header(void) {
    char *header = repo_file_read("CEngine/include/tansu.h", &(size_t){0}), *at = header;
    size_t functions = 0;
    while ((at = strstr(at, "\nTANSU_API ")) != NULL) {
        char *open = strchr(at, '('), *end = strstr(at, ");"), function[64];
        REQUIRE(open != NULL && end != NULL && open < end);
        char *start = open;
        while (start > at && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
            start--;
        snprintf(function, sizeof function, "%.*s", (int)(open - start), start);
        *end = 0;
        for (char *parameter = strtok(open + 1, ","); parameter != NULL;
             parameter = strtok(NULL, ","))
            check_parameter(function, parameter);
        functions++;
        at = end + 1;
    }
    CHECK(functions > 60);
    free(header);
}

int main(void) {
    char *folder = folder_new();
    db = call_open(folder);
    RUN(opening_and_closing);
    RUN(transactions);
    RUN(collections_and_indexes);
    RUN(writing);
    RUN(reading);
    RUN(pipelines);
    RUN(matching_and_converting);
    RUN(feeds);
    RUN(maintenance);
    RUN(empty_names);
    RUN(documents_without_bytes);
    RUN(the_table_has_every_pointer_of_the_header);
    tansu_buffer_free(&out);
    call_close(db);
    folder_end(folder);
    return check_finish();
}
