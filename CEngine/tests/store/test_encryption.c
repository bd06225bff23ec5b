/*
 * test_encryption.c -- the keys of encrypted databases: the files KEY and MANIFEST, with which key
 * a database opens, and how that is replaced.
 */
#include "api/handles.h"
#include "crypt/crypt.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/fault/simulated_disk.h"
#include "support/folder.h"
#include "util/checksum/checksum.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST_ITERATIONS 256000u

static const uint8_t key[33] = "thirty-two bytes of a random key";
static const uint8_t other_key[33] = "thirty-two bytes of another one!";

/* Where a test works, and the database in it. */
static char *folder;
static char home[512];

static void begin(void) {
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
}

static void end(void) {
    folder_end(folder);
}

static tansu_options with_key(const char *at, const void *bytes, size_t size, tansu_key_kind kind) {
    tansu_options options = call_options(at);
    options.key = bytes;
    options.key_size = size;
    options.key_kind = kind;
    return options;
}

static tansu_options with_bytes(const char *at, const uint8_t bytes[32]) {
    return with_key(at, bytes, 32, TANSU_KEY_BYTES);
}

static tansu_options with_passphrase(const char *at, const char *text) {
    return with_key(at, text, strlen(text), TANSU_KEY_PASSPHRASE);
}

/* try_options -- the status of opening, closed again at once. */
static tansu_status try_options(const tansu_options *options) {
    tansu_db *db = NULL;
    tansu_status status = tansu_open(options, &db, &call_error);
    CHECK((db != NULL) == (status == TANSU_OK));
    tansu_close(db);
    return status;
}

static tansu_status try_bytes(const char *at, const uint8_t bytes[32]) {
    tansu_options options = with_bytes(at, bytes);
    return try_options(&options);
}

static tansu_status try_passphrase(const char *at, const char *text) {
    tansu_options options = with_passphrase(at, text);
    return try_options(&options);
}

/* make -- a database with a document. */
static void make(const tansu_options *options) {
    tansu_db *db = call_open_with(options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1, 'text': 'secret'}"), &call_error);
    call_close(db);
}

static void make_bytes(const char *at) {
    tansu_options options = with_bytes(at, key);
    make(&options);
}

/* holds -- whether the database opens and has its document. */
static bool holds(const tansu_options *options) {
    tansu_db *db = NULL;
    bool there =
        CHECK_OK(tansu_open(options, &db, &call_error), &call_error) &&
        CHECK_TEXT("{ \"_id\" : 1, \"text\" : \"secret\" }", call_get(db, NULL, "c", "{'_id': 1}"));
    tansu_close(db);
    return there;
}

static bool holds_bytes(const char *at, const uint8_t bytes[32]) {
    tansu_options options = with_bytes(at, bytes);
    return holds(&options);
}

/* ---- Keys ---- */

static void opens_with_its_key_only(void) {
    begin();
    make_bytes(home);
    tansu_buffer manifest = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT, now = TANSU_BUFFER_INIT;
    file_read(folder_join(home, "MANIFEST"), &manifest);
    file_read(folder_join(home, "KEY"), &text);
    CHECK_STATUS(TANSU_E_ENCRYPTED, call_try_open(home));
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_bytes(home, other_key));
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_passphrase(home, "thirty-two bytes of a random key"));
    CHECK(strstr(call_error.message, "a passphrase was given") != NULL);
    file_read(folder_join(home, "MANIFEST"), &now);
    CHECK_BYTES(manifest.data, manifest.size, now.data, now.size);
    file_read(folder_join(home, "KEY"), &now);
    CHECK_BYTES(text.data, text.size, now.data, now.size);
    CHECK(holds_bytes(home, key));
    tansu_buffer_free(&manifest);
    tansu_buffer_free(&text);
    tansu_buffer_free(&now);
    end();
}

static void opens_with_its_passphrase_only(void) {
    begin();
    tansu_options options = with_passphrase(home, "correct horse");
    make(&options);
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(home, "KEY"), &text);
    CHECK(strstr((char *)text.data, "\nkdf pbkdf2-hmac-sha512 256000\n") != NULL);
    tansu_buffer_free(&text);
    CHECK_STATUS(TANSU_E_ENCRYPTED, call_try_open(home));
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_passphrase(home, "correct horse "));
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_bytes(home, key));
    options.key_iterations = LEAST_ITERATIONS + 5; /* of a new passphrase only */
    CHECK(holds(&options));
    end();
}

static void plain_databases_refuse_a_key(void) {
    begin();
    tansu_options options = call_options(home);
    make(&options);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, try_bytes(home, key));
    CHECK(strstr(call_error.message, "not encrypted") != NULL);
    CHECK(!file_exists(folder_join(home, "KEY")));
    CHECK(holds(&options));
    end();
}

static void builds_without_ciphers_refuse_a_key(void) {
    begin();
    CHECK_STATUS(TANSU_E_UNSUPPORTED, try_bytes(home, key));
    CHECK(!file_exists(home));
    end();
}

/* ---- Files that were changed ---- */

/* each_bit -- every bit of a file is noticed when it is flipped, and nothing is changed. */
static void each_bit(const char *name) {
    char file[600];
    snprintf(file, sizeof file, "%s/%s", home, name);
    uint64_t size = file_size(file);
    tansu_options options = with_bytes(home, key);
    options.must_exist = 1;
    for (uint64_t i = 0; i < size * 8; i++) {
        tansu_db *db = NULL;
        file_flip(file, i / 8, i % 8);
        tansu_status status = tansu_open(&options, &db, &call_error);
        if (!CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION))
            check_note("%s, bit %d: %s", name, (int)i, tansu_status_name(status));
        tansu_close(db);
        file_flip(file, i / 8, i % 8);
    }
}

static void changed_bits_are_noticed(void) {
    begin();
    make_bytes(home);
    each_bit("KEY");
    each_bit("MANIFEST");
    CHECK(holds_bytes(home, key));
    end();
}

static void cut_files_are_noticed(void) {
    begin();
    static const char *const names[] = {"KEY", "MANIFEST"};
    make_bytes(home);
    for (int i = 0; i < 2; i++) {
        char file[600];
        snprintf(file, sizeof file, "%s/%s", home, names[i]);
        tansu_buffer text = TANSU_BUFFER_INIT;
        file_read(file, &text);
        for (size_t size = 0; size < text.size; size++) {
            file_write(file, text.data, size);
            CHECK_STATUS(TANSU_E_CORRUPT, try_bytes(home, key));
        }
        file_write(file, text.data, text.size);
        tansu_buffer_free(&text);
    }
    CHECK(holds_bytes(home, key));
    end();
}

/* forge -- replaces a part of a file's text, and makes its CRC right. */
static void forge(const char *file, const char *from, const char *to) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    char forged[2048];
    file_read(file, &text);
    const char *body = (const char *)text.data, *at = strstr(body, from);
    REQUIRE(at != NULL);
    int length =
        snprintf(forged, sizeof forged, "%.*s%s%s", (int)(at - body), body, to, at + strlen(from));
    char *crc = strstr(forged, "\ncrc ") + 1;
    length = (int)(crc - forged);
    length += sprintf(crc, "crc %08x\n", checksum(0, forged, (size_t)length));
    file_write(file, forged, (size_t)length);
    tansu_buffer_free(&text);
}

/* forged -- opening after forge(), of a copy. */
static tansu_status forged(const char *name, const char *from, const char *to) {
    char copy[600];
    snprintf(copy, sizeof copy, "%s.forged", home);
    folder_copy(home, copy);
    forge(folder_join(copy, name), from, to);
    tansu_status status = try_bytes(copy, key);
    folder_remove(copy);
    return status;
}

static void forged_files_are_refused(void) {
    begin();
    make_bytes(home);
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "index clean", "index open"));
    CHECK(strstr(call_error.message, "does not have its key") != NULL);
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "\nend ", "\nend 1"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "compacted no", "compacted yes"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "compacted no", "compacted nix"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "aes-256-gcm", "none"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("MANIFEST", "crc", "more\ncrc"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, forged("MANIFEST", "cipher", "hidden"));
    CHECK_STATUS(TANSU_E_WRONG_KEY, forged("KEY", "key 1 ", "key 2 "));
    CHECK_STATUS(TANSU_E_WRONG_KEY, forged("KEY", "none", "pbkdf2-hmac-sha512 256000"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("KEY", "none", "pbkdf2-hmac-sha512 1"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("KEY", "none", "pbkdf2-hmac-sha512 4294967295"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("KEY", "none", "scrypt"));
    CHECK_STATUS(TANSU_E_VERSION, forged("KEY", "tansu key 1", "tansu key 2"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("KEY", "uuid ", "uuid 0"));
    CHECK_STATUS(TANSU_E_CORRUPT, forged("KEY", "\nkey ", "\nkex "));
    CHECK(holds_bytes(home, key));
    end();
}

/* The same key line twice, with the checksum that belongs to that. */
static void a_data_key_is_there_once(void) {
    begin();
    make_bytes(home);
    tansu_buffer text = TANSU_BUFFER_INIT;
    char path[600], twice[2048], line[64];
    snprintf(path, sizeof path, "%s/KEY", home);
    file_read(path, &text);
    const char *first = strstr((const char *)text.data, "key 1 ");
    const char *stop = strstr((const char *)text.data, "crc ");
    REQUIRE(first != NULL && stop != NULL);
    int length = snprintf(twice, sizeof twice, "%.*s%.*s", (int)(stop - (const char *)text.data),
                          (const char *)text.data, (int)(stop - first), first);
    snprintf(line, sizeof line, "crc %08x\n", checksum(0, twice, (size_t)length));
    strcat(twice, line);
    file_write(path, twice, strlen(twice));
    CHECK_STATUS(TANSU_E_CORRUPT, try_bytes(home, key));
    tansu_buffer_free(&text);
    end();
}

/* After a crash the marks in TAIL, which are not authenticated, may be gone. */
static void what_a_checkpoint_has_seen_cannot_be_cut_off(void) {
    begin();
    make_bytes(home);
    char path[600];
    pid_t child = fork();
    if (child == 0) {
        tansu_options options = with_bytes(home, key);
        tansu_db *db = NULL;
        bool made = tansu_open(&options, &db, NULL) == TANSU_OK;
        for (int i = 100; made && i < 400; i++) {
            char text[64];
            snprintf(text, sizeof text, "{'_id': %d}", i);
            made = call_save(db, NULL, "c", TANSU_SAVE, text) == TANSU_OK;
        }
        made = made && tansu_checkpoint(db, NULL) == TANSU_OK;
        kill(getpid(), made ? SIGKILL : SIGABRT);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    snprintf(path, sizeof path, "%s/log/TAIL", home);
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof path, "%s/index", home);
    folder_remove(path);
    CHECK_STATUS(TANSU_OK, try_bytes(home, key));
    snprintf(path, sizeof path, "%s/log/TAIL", home);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/index", home);
    folder_remove(path);
    snprintf(path, sizeof path, "%s/log/00000001.seg", home);
    file_cut(path, file_size(path) / 2 / 8 * 8);
    CHECK_STATUS(TANSU_E_CORRUPT, try_bytes(home, key));
    end();
}

static void other_databases_files_are_refused(void) {
    begin();
    char stranger[512];
    snprintf(stranger, sizeof stranger, "%s/stranger", folder);
    make_bytes(home);
    make_bytes(stranger);
    tansu_buffer own = TANSU_BUFFER_INIT, strange = TANSU_BUFFER_INIT;
    file_read(folder_join(home, "KEY"), &own);
    file_read(folder_join(stranger, "KEY"), &strange);
    file_write(folder_join(home, "KEY"), strange.data, strange.size);
    CHECK_STATUS(TANSU_E_CORRUPT, try_bytes(home, key));
    CHECK(strstr(call_error.message, "another database") != NULL);
    remove(folder_join(home, "KEY"));
    CHECK_STATUS(TANSU_E_CORRUPT, try_bytes(home, key));
    CHECK(strstr(call_error.message, "is missing") != NULL);
    CHECK(strstr(call_error.message, "cannot be read without it") != NULL);
    file_write(folder_join(home, "KEY"), own.data, own.size);
    CHECK(holds_bytes(home, key));
    tansu_buffer_free(&own);
    tansu_buffer_free(&strange);
    end();
}

/* ---- Failures ---- */

/* open_faulty -- opens over file calls that can fail. */
static tansu_status open_faulty(const tansu_options *options, tansu_db **db) {
    return handle_open(options, &fault_fs, &engine_query_hooks, db, &call_error);
}

/* create_with_fault -- how many calls creating a database makes; the nth fails. */
static unsigned create_with_fault(fault_kind kind, unsigned nth, bool lasting) {
    begin();
    tansu_options options = with_bytes(home, key);
    tansu_db *db = NULL;
    fault_start(kind, nth, lasting, EIO);
    tansu_status status = open_faulty(&options, &db);
    if (status != TANSU_OK) {
        unsigned calls = fault_stop();
        CHECK(db == NULL && (kind == FAULT_FILES || status == TANSU_E_MEMORY));
        CHECK_STATUS(TANSU_OK, try_bytes(home, key));
        CHECK_STATUS(TANSU_E_WRONG_KEY, try_bytes(home, other_key));
        end();
        return calls;
    }
    unsigned calls = fault_stop();
    tansu_close(db);
    CHECK_STATUS(TANSU_OK, try_bytes(home, key));
    end();
    return calls;
}

static void creation_that_fails_leaves_none_or_an_encrypted_one(void) {
    for (int kind = FAULT_FILES; kind <= FAULT_MEMORY; kind++) {
        if (kind == FAULT_MEMORY && !fault_has_memory())
            continue;
        for (int lasting = 0; lasting < 2; lasting++) {
            unsigned calls = create_with_fault(kind, 0, false);
            for (unsigned n = 1; n <= calls; n++)
                create_with_fault(kind, n, lasting);
        }
    }
}

/* rekey_with_fault -- one of the two keys opens the database, and after success the new one. */
static unsigned rekey_with_fault(fault_kind kind, unsigned nth, bool lasting) {
    begin();
    make_bytes(home);
    tansu_options options = with_bytes(home, key);
    tansu_db *db = NULL;
    CHECK_OK(open_faulty(&options, &db), &call_error);
    fault_start(kind, nth, lasting, EIO);
    tansu_status status = rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, &call_error);
    unsigned calls = fault_stop();
    CHECK((status == TANSU_OK) == (nth == 0 || !fault_occurred()));
    char copy[600]; /* as it is when the process is killed now */
    snprintf(copy, sizeof copy, "%s.copy", home);
    folder_copy(home, copy);
    tansu_status old = try_bytes(copy, key), new = try_bytes(copy, other_key);
    CHECK((old == TANSU_OK && new == TANSU_E_WRONG_KEY) ||
          (old == TANSU_E_WRONG_KEY && new == TANSU_OK));
    CHECK(status != TANSU_OK || new == TANSU_OK);
    CHECK_OK(rekey_with(db, key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
    tansu_close(db);
    CHECK(holds_bytes(home, key));
    end();
    return calls;
}

static void rekeying_that_fails_leaves_one_of_the_keys(void) {
    for (int kind = FAULT_FILES; kind <= FAULT_MEMORY; kind++) {
        if (kind == FAULT_MEMORY && !fault_has_memory())
            continue;
        for (int lasting = 0; lasting < 2; lasting++) {
            unsigned calls = rekey_with_fault(kind, 0, false);
            CHECK(calls > 0);
            for (unsigned n = 1; n <= calls; n++)
                rekey_with_fault(kind, n, lasting);
        }
    }
}

/* ---- Power loss ---- */

static const user_key keys[] = {{.bytes = key, .size = 32}, {.bytes = other_key, .size = 32}};

/* What a state of the disk may be by now. The disk is used by several threads. */
static struct {
    pthread_mutex_t mutex;
    random_source source;
    bool looking;
    bool created;
    tansu_status rekeyed; /* OK: it was; MEMORY: it is being done; DONE: not yet */
    unsigned states, with_key, with_other;
} loss = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* from_now_on -- what the states are compared with. */
static void from_now_on(bool looking, bool created, tansu_status rekeyed) {
    pthread_mutex_lock(&loss.mutex);
    loss.looking = looking;
    loss.created = created;
    loss.rekeyed = rekeyed;
    pthread_mutex_unlock(&loss.mutex);
}

/* look_at_state -- one of the states of now opens with one of the keys, or holds no database. The
 * mutex is held. */
static void look_at_state(void) {
    static unsigned number;
    char state[600];
    snprintf(state, sizeof state, "%s/state%u", folder, number++);
    loss.states++;
    if (!disk_lose_power(&loss.source, state)) {
        CHECK(!loss.created);
        return;
    }
    tansu_options options = with_bytes(state, key), other = with_bytes(state, other_key);
    options.must_exist = other.must_exist = 1;
    tansu_status status = try_options(&options), second = try_options(&other);
    loss.with_key += status == TANSU_OK;
    loss.with_other += second == TANSU_OK;
    if (status == TANSU_E_NOT_FOUND)
        CHECK(!loss.created && try_bytes(state, key) == TANSU_OK);
    else
        CHECK((status == TANSU_OK && second == TANSU_E_WRONG_KEY && loss.rekeyed != TANSU_OK) ||
              (status == TANSU_E_WRONG_KEY && second == TANSU_OK && loss.rekeyed != TANSU_DONE));
    folder_remove(state);
}

/* before_call -- called by the disk before each of its calls. */
static void before_call(void *context) {
    (void)context;
    pthread_mutex_lock(&loss.mutex);
    if (loss.looking)
        look_at_state();
    pthread_mutex_unlock(&loss.mutex);
}

static void keys_survive_power_loss(void) {
    loss.source = random_start(1);
    for (int round = 0; round < 20; round++) {
        begin();
        disk_start(home, before_call, NULL);
        disk_set_keys(keys, 2);
        from_now_on(true, false, TANSU_DONE);
        tansu_options options = with_bytes(home, key);
        options.durability = TANSU_DURABILITY_FULL;
        tansu_db *db = NULL;
        REQUIRE(CHECK_OK(handle_open(&options, &simulated_disk_fs, NULL, &db, &call_error),
                         &call_error));
        from_now_on(true, true, TANSU_DONE);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1}"), &call_error);
        from_now_on(true, true, TANSU_E_MEMORY);
        CHECK_OK(rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
        from_now_on(true, true, TANSU_OK);
        before_call(NULL);
        from_now_on(false, true, TANSU_OK);
        call_close(db);
        disk_end();
        end();
    }
    CHECK(loss.states > 200 && loss.with_key > 100 && loss.with_other > 20);
}

/* ---- Changing the key ---- */

static void rekeying(void) {
    begin();
    make_bytes(home);
    tansu_options options = with_bytes(home, key);
    tansu_db *db = call_open_with(&options);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, rekey_with(db, key, 31, TANSU_KEY_BYTES, 0, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 rekey_with(db, "x", 1, TANSU_KEY_PASSPHRASE, LEAST_ITERATIONS - 1, NULL));
    CHECK_OK(rekey_with(db, "a passphrase", 12, TANSU_KEY_PASSPHRASE, 0, &call_error), &call_error);
    CHECK_OK(
        rekey_with(db, "a passphrase", 12, TANSU_KEY_PASSPHRASE, LEAST_ITERATIONS + 1, &call_error),
        &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 2}"), &call_error);
    CHECK_OK(tansu_checkpoint(db, NULL), NULL);
    call_close(db);
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(home, "KEY"), &text);
    CHECK(strstr((char *)text.data, "\nkdf pbkdf2-hmac-sha512 256001\n") != NULL);
    tansu_buffer_free(&text);
    CHECK(!file_exists(folder_join(home, "KEY.new")));
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_bytes(home, key));
    options = with_passphrase(home, "a passphrase");
    CHECK(holds(&options));
    end();
}

static void rekeying_is_refused(void) {
    begin();
    tansu_options options = call_options(home);
    tansu_db *db = call_open_with(&options);
    CHECK_STATUS(TANSU_E_INVALID_STATE, rekey_with(db, key, 32, TANSU_KEY_BYTES, 0, NULL));
    call_close(db);
    folder_remove(home);
    make_bytes(home);
    options = with_bytes(home, key);
    options.read_only = 1;
    db = call_open_with(&options);
    CHECK_STATUS(TANSU_E_READ_ONLY, rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, NULL));
    call_close(db);
    options.allow_writer = 1;
    db = call_open_with(&options);
    CHECK_STATUS(TANSU_E_READ_ONLY, rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, NULL));
    call_close(db);
    options = with_bytes(home, key);
    db = call_open_with(&options);
    char moved[600];
    snprintf(moved, sizeof moved, "%s.moved", home);
    REQUIRE(rename(home, moved) == 0);
    CHECK_STATUS(TANSU_E_MOVED, rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, NULL));
    tansu_close(db);
    CHECK(holds_bytes(moved, key));
    end();
}

/* ---- Readers, and other stores ---- */

static void readers_go_on_after_the_key_was_changed(void) {
    begin();
    make_bytes(home);
    tansu_options options = with_bytes(home, key), reading = options;
    uint8_t passed[32];
    memcpy(passed, key, sizeof passed);
    reading.key = passed;
    reading.allow_writer = 1;
    tansu_db *db = call_open_with(&options), *reader = call_open_with(&reading);
    memset(passed, 0, sizeof passed); /* it was copied */
    CHECK_OK(rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 2}"), &call_error);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_TEXT("{ \"_id\" : 2 }", call_get(reader, NULL, "c", "{'_id': 2}"));
    call_close(db);
    options = with_bytes(home, other_key);
    db = call_open_with(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 3}"), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db); /* its log ends: the reader opens the files again */
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_TEXT("{ \"_id\" : 3 }", call_get(reader, NULL, "c", "{'_id': 3}"));
    call_close(reader);
    reading.key = key;
    CHECK_STATUS(TANSU_E_WRONG_KEY, try_options(&reading));
    reading.key = NULL, reading.key_size = 0;
    CHECK_STATUS(TANSU_E_ENCRYPTED, try_options(&reading));
    options.read_only = 1;
    CHECK(holds(&options));
    end();
}

static void stores_that_nobody_opens_again_write_no_key(void) {
    begin();
    for (tansu_store store = TANSU_STORE_TEMPORARY; store <= TANSU_STORE_MEMORY; store++) {
        tansu_options options = with_bytes(folder, key);
        tansu_buffer stats = TANSU_BUFFER_INIT;
        options.store = store;
        tansu_db *db = call_open_with(&options);
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 1}"), &call_error);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        CHECK_OK(rekey_with(db, other_key, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
        CHECK_OK(tansu_stats(db, &stats, &call_error), &call_error);
        bson_t view;
        bson_iter_t iter;
        REQUIRE(bson_init_static(&view, stats.data, stats.size));
        REQUIRE(bson_iter_init_find(&iter, &view, "encrypted"));
        CHECK_TEXT("aes-256-gcm", bson_iter_utf8(&iter, NULL));
        if (store == TANSU_STORE_TEMPORARY) {
            REQUIRE(bson_iter_init_find(&iter, &view, "path"));
            const char *temporary = bson_iter_utf8(&iter, NULL);
            CHECK(file_exists(folder_join(temporary, "MANIFEST")));
            CHECK(!file_exists(folder_join(temporary, "KEY")));
        }
        tansu_buffer_free(&stats);
        call_close(db);
    }
    end();
}

static void clones_have_a_key_of_their_own(void) {
    begin();
    char to[512], plain[512];
    snprintf(to, sizeof to, "%s/copy", folder);
    snprintf(plain, sizeof plain, "%s/plain", folder);
    make_bytes(home);
    tansu_options options = with_bytes(home, key), target = with_bytes(to, other_key);
    tansu_db *db = call_open_with(&options), *copy = NULL;
    CHECK_OK(tansu_clone(db, &target, NULL, NULL, &copy, &call_error), &call_error);
    call_close(copy);
    target = call_options(plain);
    CHECK_OK(tansu_clone(db, &target, NULL, NULL, &copy, &call_error), &call_error);
    call_close(copy);
    call_close(db);
    CHECK(holds_bytes(to, other_key));
    CHECK(holds(&target));
    end();
}

static void what_cannot_be_done_yet(void) {
    begin();
    char to[512];
    snprintf(to, sizeof to, "%s/to", folder);
    make_bytes(home);
    CHECK_STATUS(TANSU_E_ENCRYPTED, tansu_repair(home, to, NULL, NULL, NULL, NULL));
    CHECK(!file_exists(to));
    end();
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        RUN(builds_without_ciphers_refuse_a_key);
        return check_finish();
    }
    RUN(opens_with_its_key_only);
    RUN(opens_with_its_passphrase_only);
    RUN(plain_databases_refuse_a_key);
    RUN(changed_bits_are_noticed);
    RUN(cut_files_are_noticed);
    RUN(forged_files_are_refused);
    RUN(a_data_key_is_there_once);
    RUN(what_a_checkpoint_has_seen_cannot_be_cut_off);
    RUN(other_databases_files_are_refused);
    RUN(creation_that_fails_leaves_none_or_an_encrypted_one);
    RUN(rekeying_that_fails_leaves_one_of_the_keys);
    RUN(keys_survive_power_loss);
    RUN(rekeying);
    RUN(rekeying_is_refused);
    RUN(readers_go_on_after_the_key_was_changed);
    RUN(stores_that_nobody_opens_again_write_no_key);
    RUN(clones_have_a_key_of_their_own);
    RUN(what_cannot_be_done_yet);
    return check_finish();
}
