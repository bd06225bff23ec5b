/*
 * test_encryption_trace.c -- nothing that an encrypted database writes to any file has eight bytes in
 * a row of its documents or of the names of its collections, fields and indexes. Without a key the
 * same work writes them into every kind of file that can have them, so that the search is known to
 * see them.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "support/calls/aggregate_calls.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/file_trace.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 1500
#define BLOBS 64
#define BLOB_SIZE 256
#define LARGE_SIZE 300000
#define TEXT_SIZE 48
#define NAME_SIZE 20

static const uint8_t key[33] = "thirty-two bytes of a random key";
static const uint8_t next_key[33] = "another 32 bytes of a random key";

/* ---- What is secret ---- */

/* Names of the collection, of its fields and of its indexes: random, so that nothing else has eight
 * bytes in a row of them. */
enum name { COLLECTION, OTHER_COLLECTION, TEXT_FIELD, BLOB_FIELD, TEXT_INDEX, BLOB_INDEX, NAMES };
static char names[NAMES][NAME_SIZE + 1];
static char texts[DOCUMENTS][TEXT_SIZE + 1];
/* Bytes that no compression makes shorter, which would hide them. */
static uint8_t blobs[BLOBS][BLOB_SIZE];
static uint8_t large[LARGE_SIZE];

static void random_text(random_source *source, char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + random_below(source, 26));
    text[size] = 0;
}

static void make_secrets(void) {
    random_source source = random_from(7);
    for (int i = 0; i < NAMES; i++) {
        random_text(&source, names[i], NAME_SIZE);
        file_trace_secret(names[i], NAME_SIZE);
    }
    for (int i = 0; i < DOCUMENTS; i++) {
        random_text(&source, texts[i], TEXT_SIZE);
        file_trace_secret(texts[i], TEXT_SIZE);
    }
    for (int i = 0; i < BLOBS; i++) {
        for (int j = 0; j < BLOB_SIZE; j++)
            blobs[i][j] = (uint8_t)random_next(&source);
        file_trace_secret(blobs[i], BLOB_SIZE);
    }
    for (int i = 0; i < LARGE_SIZE; i++)
        large[i] = (uint8_t)random_next(&source);
    file_trace_secret(large, LARGE_SIZE);
}

/* ---- The work ---- */

static bool encrypted;
static char *folder;
static char home[512];

static tansu_options options_at(const char *path) {
    tansu_options options = call_options(path);
    options.key = encrypted ? key : NULL;
    options.key_size = encrypted ? 32 : 0;
    options.segment_size = 1024 * 1024;
    options.checkpoint_bytes = (uint64_t)1 << 40;
    options.sort_memory_bytes = options.group_memory_bytes = 64 * 1024;
    return options;
}

static tansu_db *open_at(const char *path) {
    tansu_options options = options_at(path);
    return call_open_with(&options);
}

static const char *at(const char *name) {
    return path_in(folder, name);
}

/* save_document -- the document of an id, with a part of the secrets that `round` chooses. */
static void save_document(tansu_db *db, tansu_txn *txn, int id, int round) {
    bson_t doc = BSON_INITIALIZER;
    bson_append_int32(&doc, "_id", -1, id);
    bson_append_utf8(&doc, names[TEXT_FIELD], -1, texts[(id + round) % DOCUMENTS], -1);
    bson_append_binary(&doc, names[BLOB_FIELD], -1, BSON_SUBTYPE_BINARY,
                       blobs[(id + round) % BLOBS], BLOB_SIZE);
    CHECK_OK(call_save_bson(db, txn, names[COLLECTION], TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
}

/* save_large -- a document of which the file of a backup has a part as it is. */
static void save_large(tansu_db *db) {
    bson_t doc = BSON_INITIALIZER;
    bson_append_int32(&doc, "_id", -1, -1);
    bson_append_binary(&doc, "large", -1, BSON_SUBTYPE_BINARY, large, LARGE_SIZE);
    CHECK_OK(call_save_bson(db, NULL, names[OTHER_COLLECTION], TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
}

/* make_indexes -- on the text, and on the start of the blob. */
static void make_indexes(tansu_db *db) {
    static const enum name indexes[2][2] = {{TEXT_INDEX, TEXT_FIELD}, {BLOB_INDEX, BLOB_FIELD}};
    for (int i = 0; i < 2; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "{'%s': 1}", names[indexes[i][1]]);
        CHECK_OK(call_index(db, NULL, names[COLLECTION], names[indexes[i][0]], keys, NULL),
                 &call_error);
    }
}

/* change -- inserts, updates, removals, a large transaction and one that is rolled back. */
static void change(tansu_db *db) {
    for (int id = 0; id < DOCUMENTS; id++)
        save_document(db, NULL, id, 0);
    for (int id = 0; id < DOCUMENTS; id += 3)
        save_document(db, NULL, id, 1);
    for (int id = 0; id < DOCUMENTS; id += 5) {
        char text[32];
        snprintf(text, sizeof text, "{'_id': %d}", id);
        CHECK_OK(call_remove_id(db, NULL, names[COLLECTION], text, NULL), &call_error);
    }
    for (int commit = 1; commit >= 0; commit--) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int id = 0; id < 2 * DOCUMENTS; id++)
            save_document(db, txn, id, 2 + commit);
        file_trace_search();
        if (commit)
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        else
            tansu_txn_abort(txn);
    }
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
}

/* spill -- a sort and a group that exceed their memory, while their files are there. */
static void spill(tansu_db *db, const char *sorts, const char *groups) {
    char text[200], hints[100];
    file_trace_stage(sorts);
    snprintf(hints, sizeof hints, "{'$orderby': {'%s': 1, '_id': 1}, '$index': '_id'}",
             names[TEXT_FIELD]);
    snprintf(text, sizeof text, "{'_id': {'$gte': 0}}");
    tansu_cursor *cursor = call_cursor(db, NULL, names[COLLECTION], text, hints);
    CHECK(strncmp(call_next(cursor), "{ \"_id\"", 7) == 0);
    file_trace_search();
    tansu_cursor_close(cursor);
    file_trace_stage(groups);
    snprintf(text, sizeof text, "{\"by\": \"%s\", \"fields\": {\"last\": {\"$max\": \"%s\"}}}",
             names[TEXT_FIELD], names[BLOB_FIELD]);
    bson_error_t problem;
    bson_t *group = bson_new_from_json((const uint8_t *)text, -1, &problem);
    REQUIRE(group != NULL);
    tansu_buffer answer = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_aggregate(db, NULL, names[COLLECTION], TANSU_NO_DOCUMENT, document_of(group),
                             TANSU_NO_DOCUMENT, &answer, &call_error),
             &call_error);
    bson_destroy(group);
    tansu_buffer_free(&answer);
}

static int take_dump(void *context, const void *bytes, size_t size) {
    (void)context;
    file_trace_bytes("text", bytes, size);
    return 1;
}

/* copy -- backups, restores, a dump and a clone. */
static void copy(tansu_db *db) {
    const tansu_key user = {.bytes = key, .size = 32, .kind = TANSU_KEY_BYTES};
    static const char *const backups[] = {"backup folder", "backup file"};
    static const char *const restores[] = {"restore of a folder", "restore of a file"};
    for (int i = 0; i < 2; i++) {
        file_trace_stage(backups[i]);
        const char *from = at(backups[i]), *to = at(restores[i]);
        CHECK_OK(tansu_backup(db, from, backup_forms[i], NULL, NULL, NULL, &call_error),
                 &call_error);
        file_trace_stage(restores[i]);
        tansu_status status =
            encrypted ? tansu_restore_encrypted(from, to, &user, NULL, NULL, NULL, &call_error)
                      : tansu_restore(from, to, NULL, NULL, NULL, &call_error);
        CHECK_OK(status, &call_error);
    }
    file_trace_stage("dump");
    tansu_status status = encrypted
                              ? tansu_dump_encrypted(db, NULL, take_dump, NULL, TANSU_NO_DOCUMENT,
                                                     &user, NULL, NULL, NULL, &call_error)
                              : tansu_dump(db, NULL, take_dump, NULL, TANSU_NO_DOCUMENT, NULL, NULL,
                                           NULL, &call_error);
    CHECK_OK(status, &call_error);
    file_trace_stage("clone");
    tansu_options options = options_at(at("clone"));
    tansu_db *clone = NULL;
    CHECK_OK(tansu_clone(db, &options, NULL, NULL, &clone, &call_error), &call_error);
    call_close(clone);
}

/* read_beside -- another opening reads while this one writes, with its copy of the index file. */
static void read_beside(void) {
    char text[200];
    file_trace_stage("reader");
    tansu_options options = options_at(home);
    options.read_only = options.allow_writer = 1;
    tansu_db *reader = call_open_with(&options);
    snprintf(text, sizeof text, "{'%s': '%s'}", names[TEXT_FIELD], texts[7]);
    CHECK(call_count(reader, NULL, names[COLLECTION], text) > 0);
    file_trace_search();
    call_close(reader);
}

/* recover -- opens what a crash left of the log, of which a commit is torn and others follow it. */
static void recover(const char *crashed) {
    file_trace_stage("set-aside");
    const char *first = folder_join(crashed, "log/00000001.seg");
    uint64_t middle = 600000;
    if (encrypted) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        sealed_header header;
        uint64_t place = SEALED_BLOCKS;
        file_read(first, &bytes);
        while (place < middle && sealed_header_at(bytes.data, bytes.size, place, &header))
            place += sealed_size(header.stored);
        middle = place + SEALED_HEADER_SIZE + 8;
        tansu_buffer_free(&bytes);
    }
    file_flip(first, middle, 1);
    tail_file_lose_power(folder_join(crashed, "log"), false);
    tansu_db *db = open_at(crashed);
    CHECK(file_exists(folder_join(crashed, "set-aside/00000001.seg")));
    call_close(db);
}

/* repair_copy -- of a closed database. */
static void repair_copy(void) {
    const tansu_key user = {.bytes = key, .size = 32, .kind = TANSU_KEY_BYTES};
    file_trace_stage("repair");
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status =
        encrypted
            ? tansu_repair_encrypted(home, at("repaired"), &user, NULL, NULL, &report, &call_error)
            : tansu_repair(home, at("repaired"), NULL, NULL, &report, &call_error);
    CHECK_OK(status, &call_error);
    tansu_buffer_free(&report);
}

/* change_keys -- the user's, then the data key as well. */
static void change_keys(tansu_db *db) {
    const tansu_key next = {.bytes = next_key, .size = 32, .kind = TANSU_KEY_BYTES};
    const tansu_key user = {.bytes = key, .size = 32, .kind = TANSU_KEY_BYTES};
    file_trace_stage("rekey");
    CHECK_OK(tansu_rekey(db, &next, &call_error), &call_error);
    file_trace_stage("rekey everything");
    CHECK_OK(tansu_rekey_everything(db, &user, NULL, NULL, &call_error), &call_error);
}

/* convert -- encrypts a database that was not, or decrypts one that was, which is made untraced. */
static void convert(void) {
    const tansu_key user = {.bytes = key, .size = 32, .kind = TANSU_KEY_BYTES};
    const char *path = at("converted");
    bool to = encrypted;
    encrypted = !encrypted;
    file_trace_stage("converted");
    file_trace_ignore(true);
    tansu_db *db = open_at(path);
    make_indexes(db);
    for (int id = 0; id < DOCUMENTS; id++)
        save_document(db, NULL, id, 0);
    call_close(db);
    encrypted = to;
    file_trace_ignore(false);
    CHECK_OK(to ? tansu_encrypt(path, &user, NULL, NULL, &call_error)
                : tansu_decrypt(path, &user, NULL, NULL, &call_error),
             &call_error);
}

/* use_temporary -- a store that is removed when it is closed. */
static void use_temporary(void) {
    file_trace_stage("temporary store");
    tansu_options options = options_at(folder);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options);
    make_indexes(db);
    change(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    file_trace_search();
    spill(db, "sort of a temporary store", "group of a temporary store");
    call_close(db);
}

/* work -- all of it, in stages. */
static void work(void) {
    char crashed[600], options[64];
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
    snprintf(crashed, sizeof crashed, "%s/crashed", folder);
    file_trace_begin();
    file_trace_stage("log");
    tansu_db *db = open_at(home);
    CHECK_OK(call_ensure(db, NULL, names[OTHER_COLLECTION], "{}"), &call_error);
    save_large(db);
    make_indexes(db);
    change(db);
    folder_copy(home, crashed);
    file_trace_stage("checkpoint");
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    spill(db, "sort", "group");
    read_beside();
    file_trace_stage("compaction");
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    file_trace_stage("compression");
    snprintf(options, sizeof options, "{'compression': 'lz4'}");
    CHECK_OK(call_ensure(db, NULL, names[COLLECTION], options), &call_error);
    for (int id = 0; id < DOCUMENTS; id += 2)
        save_document(db, NULL, id, 5);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    copy(db);
    if (encrypted)
        change_keys(db);
    maintenance_clean(db);
    file_trace_stage("close");
    save_document(db, NULL, 1, 9);
    call_close(db);
    repair_copy();
    recover(crashed);
    use_temporary();
    convert();
    file_trace_end();
    folder_end(folder);
}

/* ---- What is checked ---- */

static void nothing_is_written_in_plain(void) {
    size_t count;
    encrypted = true;
    work();
    const file_trace_kind *kinds = file_trace_kinds(&count);
    CHECK(count > 40);
    for (size_t i = 0; i < count; i++)
        if (!CHECK_INT(0, kinds[i].found))
            check_note("    %s: %s", kinds[i].name, kinds[i].first);
}

/* Each kind of file that shows the documents or names of a database that is not encrypted. */
static const char *const shown[] = {
    "log: segment",
    "log: index file",
    "sort: temporary file",
    "group: temporary file",
    "reader: temporary file",
    "compaction: new segment",
    "compression: new segment",
    "backup folder: segment",
    "backup file: backup file.tansu-part",
    "restore of a folder: segment",
    "restore of a file: segment",
    "dump: text",
    "clone: segment",
    "clone: index file",
    "repair: segment",
    "set-aside: set aside",
    "temporary store: segment",
    "temporary store: index file",
    "sort of a temporary store: temporary file",
    "group of a temporary store: temporary file",
    "converted: segment",
};

static void without_a_key_it_is_seen(void) {
    size_t count;
    encrypted = false;
    work();
    const file_trace_kind *kinds = file_trace_kinds(&count);
    for (size_t k = 0; k < sizeof shown / sizeof shown[0]; k++) {
        uint64_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += strcmp(kinds[i].name, shown[k]) == 0 ? kinds[i].found : 0;
        if (!CHECK(found > 0))
            check_note("    nothing was found in \"%s\"", shown[k]);
    }
}

int main(void) {
    if (!crypt_available() || !file_trace_available()) {
        check_skip(crypt_available() ? "the linker cannot wrap" : "the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    make_secrets();
    RUN(nothing_is_written_in_plain);
    RUN(without_a_key_it_is_seen);
    return check_finish();
}
