/*
 * test_open_json.c -- options in JSON form: every member, and what is wrong with one.
 */
#include "api/handles.h"
#include "crypt/crypt.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>

/* try_json -- opens with single quotes for double ones, and closes again at once. */
static tansu_status try_json(const char *json) {
    char text[1000];
    tansu_db *db = NULL;
    size_t size = strlen(json);
    for (size_t i = 0; i <= size; i++)
        text[i] = json[i] == '\'' ? '"' : json[i];
    tansu_status status = tansu_open_json(text, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    if (status == TANSU_OK)
        call_close(db);
    return status;
}

static void every_member_is_taken_over(void) {
    char *folder = folder_new(), text[1000];
    tansu_db *db = NULL;
    snprintf(text, sizeof text,
             "{\"store\": \"persistent\", \"path\": \"%s\", \"readOnly\": false, "
             "\"mustExist\": false, \"durability\": \"interval\", \"intervalMs\": 7, "
             "\"busyTimeoutMs\": 8, \"segmentSize\": 2097152, \"checkpointBytes\": 10, "
             "\"indexCacheBytes\": 20, \"compactionPercent\": 30, \"compactionShare\": 40, "
             "\"lockTimeoutMs\": 50, \"sortMemoryBytes\": 70000, \"groupMemoryBytes\": 80000, "
             "\"transactionMemoryBytes\": 90000, \"readMode\": \"unguarded\"}",
             folder_join(folder, "db"));
    REQUIRE(CHECK_OK(tansu_open_json(text, &db, &call_error), &call_error));
    const database *d = db_inner(db);
    CHECK_INT(TANSU_STORE_PERSISTENT, d->options.store);
    CHECK_INT(TANSU_DURABILITY_INTERVAL, d->options.durability);
    CHECK_INT(7, d->options.interval_ms);
    CHECK_INT(8, d->options.busy_timeout_ms);
    CHECK_INT(10, d->options.checkpoint_bytes);
    CHECK_INT(20, d->options.index_cache_bytes);
    CHECK_INT(30, d->options.compaction_percent);
    CHECK_INT(40, d->options.compaction_share);
    CHECK_INT(70000, d->options.sort_memory_bytes);
    CHECK_INT(80000, d->options.group_memory_bytes);
    CHECK_INT(90000, d->options.transaction_memory_bytes);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    call_close(db);
    snprintf(text, sizeof text, "{'path': '%s', 'readOnly': true, 'mustExist': true}",
             folder_join(folder, "db"));
    CHECK_OK(try_json(text), &call_error);
    snprintf(text, sizeof text, "{'path': '%s', 'mustExist': true}", folder_join(folder, "none"));
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_json(text));
    folder_end(folder);
}

#define BASE64_KEY \
    "{'$binary': {'base64': 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=', 'subType': '00'}}"

static void keys(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        return;
    }
    char *folder = folder_new(), path[600], text[2000], *answer = NULL;
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(text, sizeof text, "{'path': '%s', 'key': " BASE64_KEY "}", path);
    CHECK_OK(try_json(text), &call_error);
    snprintf(text, sizeof text, "{'path': '%s'}", path);
    CHECK_STATUS(TANSU_E_ENCRYPTED, try_json(text));
    tansu_options options = call_options(path);
    options.key = "01234567890123456789012345678901";
    options.key_size = 32;
    tansu_db *db = call_open_with(&options);
    CHECK_STATUS(
        TANSU_E_INVALID_COMMAND,
        tansu_execute_json(db, "{\"op\": \"rekey\", \"options\": {\"path\": \"\"}}", &answer));
    tansu_free(answer);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_execute_json(db, "{\"op\": \"rekey\", \"options\": {}}", &answer));
    tansu_free(answer);
    CHECK_STATUS(TANSU_OK,
                 tansu_execute_json(db,
                                    "{\"op\": \"rekey\", \"options\": "
                                    "{\"passphrase\": \"abc\", \"keyIterations\": 256001}}",
                                    &answer));
    CHECK_TEXT("{\"ok\": true}", answer);
    tansu_free(answer);
    CHECK_STATUS(TANSU_OK,
                 tansu_execute_json(db,
                                    "{\"op\": \"rekey\", \"everything\": true, \"options\": "
                                    "{\"passphrase\": \"abc\"}}",
                                    &answer));
    CHECK_TEXT("{\"ok\": true}", answer);
    tansu_free(answer);
    call_close(db);
    snprintf(text, sizeof text, "{'path': '%s', 'passphrase': 'abd'}", path);
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_json(text));
    snprintf(text, sizeof text, "{'path': '%s', 'passphrase': 'abc'}", path);
    CHECK_OK(try_json(text), &call_error);
    static const char repairing[] = "{\"op\": \"repair\", \"from\": \"%s\", \"to\": "
                                    "\"%s.repaired\", \"key\": {\"passphrase\": \"%s\"}}";
    snprintf(text, sizeof text, repairing, path, path, "abd");
    CHECK_STATUS(TANSU_E_WRONG_KEY, tansu_execute_json(NULL, text, &answer));
    tansu_free(answer);
    snprintf(text, sizeof text, repairing, path, path, "abc");
    CHECK_STATUS(TANSU_OK, tansu_execute_json(NULL, text, &answer));
    tansu_free(answer);
    snprintf(text, sizeof text, "{'path': '%s.repaired', 'passphrase': 'abc'}", path);
    CHECK_OK(try_json(text), &call_error);
    snprintf(text, sizeof text, "{'path': '%s', 'passphrase': 1}", path);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_json(text));
    snprintf(text, sizeof text, "{'path': '%s', 'key': 'abc'}", path);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_json(text));
    snprintf(text, sizeof text, "{'path': '%s', 'passphrase': 'abc', 'key': " BASE64_KEY "}", path);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_json(text));
    folder_end(folder);
}

/* run -- the status of a command; the database may be NULL. */
static tansu_status run(tansu_db *db, const char *format, const char *one, const char *two) {
    char text[1500], *answer = NULL;
    snprintf(text, sizeof text, format, one, two);
    for (char *c = text; *c != 0; c++)
        *c = *c == '\'' ? '"' : *c;
    tansu_status status = tansu_execute_json(db, text, &answer);
    tansu_free(answer);
    return status;
}

static void keys_of_copies(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        return;
    }
    char *folder = folder_new(), to[600], restored[600], dump[600];
    snprintf(to, sizeof to, "%s/to", folder);
    snprintf(restored, sizeof restored, "%s/restored", folder);
    snprintf(dump, sizeof dump, "%s/dump", folder);
    tansu_db *db = call_open(NULL);
#define KEY "'key': {'key': " BASE64_KEY "}"
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_COMMAND,
                 run(db, "{'op': 'backup', 'to': '%s', 'plain': true, " KEY "}", to, ""));
    CHECK_STATUS(TANSU_E_INVALID_COMMAND,
                 run(db, "{'op': 'backup', 'to': '%s', 'key': {'path': ''}}", to, ""));
    CHECK_STATUS(TANSU_OK, run(db, "{'op': 'backup', 'to': '%s', 'plain': true}", to, ""));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 run(NULL, "{'op': 'restore', 'from': '%s', 'to': '%s', " KEY "}", to, restored));
    folder_remove(to);
    CHECK_STATUS(TANSU_OK,
                 run(db, "{'op': 'backup', 'to': '%s', 'form': 'file', " KEY "}", to, ""));
    CHECK_STATUS(TANSU_E_WRONG_KEY, run(NULL,
                                        "{'op': 'restore', 'from': '%s', 'to': '%s', "
                                        "'key': {'passphrase': 'x'}}",
                                        to, restored));
    CHECK_STATUS(TANSU_OK,
                 run(NULL, "{'op': 'restore', 'from': '%s', 'to': '%s', " KEY "}", to, restored));
    CHECK_STATUS(TANSU_OK, run(db, "{'op': 'dump', 'to': '%s', " KEY "}", dump, ""));
    CHECK_STATUS(TANSU_E_ENCRYPTED, run(db, "{'op': 'load', 'from': '%s'}", dump, ""));
    CHECK_STATUS(
        TANSU_OK,
        run(db, "{'op': 'load', 'from': '%s', 'options': {'mode': 'save'}, " KEY "}", dump, ""));
    call_close(db);
    folder_end(folder);
}

static void wrong_members_are_named(void) {
    CHECK_OK(try_json("{'store': 'memory'}"), &call_error);
    CHECK_OK(try_json("{'store': 'temporary', 'durability': 'process'}"), &call_error);
    static const char *const wrong[][2] = {
        {"{'store': 'memory', 'paht': 'x'}", "paht"},
        {"{'store': 'disk'}", "store"},
        {"{'store': 1}", "store"},
        {"{'store': 'memory', 'durability': 'default'}", "durability"},
        {"{'store': 'memory', 'readOnly': 1}", "readOnly"},
        {"{'store': 'memory', 'intervalMs': 1.5}", "intervalMs"},
        {"{'store': 'memory', 'intervalMs': -1}", "intervalMs"},
        {"{'store': 'memory', 'intervalMs': 4294967296}", "intervalMs"},
        {"{'store': 'memory', 'segmentSize': '1'}", "segmentSize"},
        {"{'store': 'memory', 'readMode': 'none'}", "readMode"},
        {"{'path': null}", "path"},
        {"{'path': 'a\\u0000b'}", "path"},
        {"{'store': 'memory', 'slowOperationMs': 1}", "slowOperationMs"},
        {"{'store': 'memory', 'segmentSize': 1}", "options"}, /* told by tansu_open() */
        {"{}", "options"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_json(wrong[i][0]));
        CHECK_TEXT(wrong[i][1], call_error.context);
    }
    CHECK_STATUS(TANSU_E_INVALID_JSON, try_json("{'store': }"));
    CHECK_STATUS(TANSU_E_INVALID_JSON, try_json("[]"));
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open_json(NULL, &db, NULL)); /* no path */
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open_json("{}", NULL, NULL));
}

static void opening_a_path_says_what_is_wrong(void) {
    char *folder = folder_new();
    tansu_db *db = NULL, *second = NULL;
    REQUIRE(CHECK_OK(tansu_open_path(folder_join(folder, "db"), &db, &call_error), &call_error));
    memset(&call_error, 0, sizeof call_error);
    CHECK_STATUS(TANSU_E_LOCKED, tansu_open_path(folder_join(folder, "db"), &second, &call_error));
    CHECK_STATUS(TANSU_E_LOCKED, call_error.code);
    CHECK(call_error.message[0] != 0);
    CHECK(second == NULL);
    call_close(db);
    folder_end(folder);
}

/* stop -- a progress function that cancels. */
static int stop(void *context, uint64_t done, uint64_t total) {
    CHECK(done <= total);
    ++*(unsigned *)context;
    return 0;
}

static void opening_can_be_cancelled(void) {
    char *folder = folder_new();
    unsigned calls = 0;
    tansu_options options = call_options(folder);
    tansu_db *db = call_open_with(&options);
    for (unsigned i = 0; i < 3000; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'a': 1}"), &call_error);
    call_close(db);
    folder_remove(folder_join(folder, "index")); /* all of the log is replayed */
    options.progress = stop;
    options.progress_context = &calls;
    db = NULL;
    for (unsigned i = 1; i <= 3; i++) {
        CHECK_STATUS(TANSU_E_CANCELLED, tansu_open(&options, &db, &call_error));
        CHECK(db == NULL);
        CHECK_INT(i, calls);
    }
    options.progress = NULL;
    db = call_open_with(&options);
    CHECK_INT(3000, call_count(db, NULL, "c", "{}"));
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(every_member_is_taken_over);
    RUN(keys);
    RUN(keys_of_copies);
    RUN(wrong_members_are_named);
    RUN(opening_a_path_says_what_is_wrong);
    RUN(opening_can_be_cancelled);
    return check_finish();
}
