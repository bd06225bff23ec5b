/*
 * test_open.c -- opening and closing: locks, wrong folders, damaged files, read-only, temporary and
 * memory stores, durability, lost indexes.
 */
#include "catalog/database.h"
#include "log/record.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/fault.h"
#include "toolkit/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* try_open -- the status of opening with these options, closed again at once. */
static tansu_status try_open(const tansu_options *options) {
    tansu_db *db = NULL;
    tansu_status status = tansu_open(options, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    if (status == TANSU_OK)
        call_close(db);
    return status;
}

/* try_path -- the same at a path. */
static tansu_status try_path(const char *path) {
    tansu_options options = call_options(path);
    return try_open(&options);
}

/* open_with_faults -- over the calls that fail when told to. */
static tansu_db *open_with_faults(const tansu_options *options) {
    database *db = NULL;
    REQUIRE(CHECK_OK(database_open(options, &fault_calls, NULL, &db, &call_error), &call_error));
    return (tansu_db *)db;
}

/* fill -- some documents and indexes. */
static void fill(tansu_db *db) {
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < 50; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i % 10));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
}

/* check_filled -- what fill() wrote is there, by scan and by index. */
static void check_filled(tansu_db *db) {
    CHECK_INT(50, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT("{ \"_id\" : 3, \"n\" : 3 } { \"_id\" : 13, \"n\" : 3 } { \"_id\" : 23, \"n\" : 3 } "
               "{ \"_id\" : 33, \"n\" : 3 } { \"_id\" : 43, \"n\" : 3 }",
               call_find(db, NULL, "c", "{'n': 3}", NULL));
    CHECK_TEXT("{ \"_id\" : 7, \"n\" : 7 }", call_get(db, NULL, "c", "{'_id': 7}"));
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"entries\" : 50") != NULL);
}

/* filled_folder -- a closed database. */
static char *filled_folder(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    fill(db);
    call_close(db);
    return folder;
}

/* unclean_folder -- a database as a killed process leaves it; `checkpoint`: with index files. */
static char *unclean_folder(bool checkpoint) {
    char *folder = folder_new(), *copy = folder_new();
    tansu_db *db = call_open(folder);
    fill(db);
    if (checkpoint)
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "late", TANSU_SAVE, "{'_id': 1}"), &call_error);
    rmdir(copy);
    folder_copy(folder, copy);
    call_close(db);
    folder_end(folder);
    return copy;
}

/* ---- Options and paths ---- */

static void options_that_make_no_sense_are_refused(void) {
    char *folder = folder_new();
    tansu_options good = call_options(folder), bad;
    tansu_db *db;
    CHECK_STATUS(TANSU_E_MISUSE, tansu_open(NULL, &db, NULL));
    CHECK_STATUS(TANSU_E_MISUSE, tansu_open(&good, NULL, NULL));
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&(tansu_options){.path = folder}));
    bad = good, bad.path = "";
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.path = NULL;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.segment_size = 1000;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.segment_size = UINT64_MAX;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.store = (tansu_store)9;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.durability = (tansu_durability)-1;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.durability = TANSU_DURABILITY_INTERVAL, bad.interval_ms = 0;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    bad = good, bad.store = TANSU_STORE_MEMORY, bad.read_only = 1;
    CHECK_STATUS(TANSU_E_MISUSE, try_open(&bad));
    CHECK(call_error.message[0] != 0);
    CHECK(!file_exists(folder_join(folder, "MANIFEST")));
    good.checkpoint_bytes = 0; /* after every commit: slow, but it makes sense */
    CHECK_OK(try_open(&good), &call_error);
    folder_end(folder);
}

static void paths_that_are_no_database_are_refused(void) {
    char *folder = folder_new();
    CHECK_STATUS(TANSU_E_IO, try_path(folder_join(folder, "no/such/folder")));
    CHECK_INT(ENOENT, call_error.sys_errno);
    file_write(folder_join(folder, "file"), "text", 4);
    CHECK_STATUS(TANSU_E_EXISTS, try_path(folder_join(folder, "file")));
    CHECK_STATUS(TANSU_E_EXISTS, try_path(folder)); /* it has other things in it */
    CHECK(!file_exists(folder_join(folder, "LOCK")));
    tansu_options options = call_options(folder_join(folder, "none"));
    options.must_exist = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    options.must_exist = 0;
    options.read_only = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    CHECK(!file_exists(folder_join(folder, "none")));
    mkdir(folder_join(folder, "empty"), 0755);
    options = call_options(folder_join(folder, "empty"));
    options.must_exist = 1;
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_open(&options));
    options.must_exist = 0;
    CHECK_OK(try_open(&options), &call_error);
    options.must_exist = 1;
    CHECK_OK(try_open(&options), &call_error);
    folder_end(folder);
}

static void an_error_is_left_alone_on_success(void) {
    char *folder = filled_folder();
    tansu_error error;
    memset(&error, 0x5A, sizeof error);
    tansu_error before = error;
    tansu_db *db = NULL;
    folder_remove(folder_join(folder, "index")); /* that is no error */
    tansu_options options = call_options(folder);
    CHECK_STATUS(TANSU_OK, tansu_open(&options, &db, &error));
    CHECK_BYTES(&before, sizeof before, &error, sizeof error);
    call_close(db);
    folder_end(folder);
}

/* ---- Locks ---- */

static void one_handle_at_a_time(void) {
    char *folder = filled_folder();
    tansu_db *db = call_open(folder);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    tansu_options options = call_options(folder);
    options.read_only = 1;
    CHECK_STATUS(TANSU_E_LOCKED, try_open(&options));
    check_filled(db);
    call_close(db);
    CHECK_OK(try_path(folder), &call_error);
    folder_end(folder);
}

static void one_process_at_a_time(void) {
    char *folder = filled_folder();
    int ready[2], done[2];
    char byte = 0;
    REQUIRE(pipe(ready) == 0 && pipe(done) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_db *db = NULL;
        tansu_options options = call_options(folder);
        tansu_status status = tansu_open(&options, &db, NULL);
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(2);
        _exit(status == TANSU_OK ? 0 : 1); /* without closing */
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    REQUIRE(write(done[1], &byte, 1) == 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tansu_db *db = call_open(folder);
    check_filled(db);
    call_close(db);
    for (int i = 0; i < 2; i++)
        close(ready[i]), close(done[i]);
    folder_end(folder);
}

/* ---- Read-only ---- */

/* check_read_only -- all that a read-only handle refuses. */
static void check_read_only(tansu_db *db) {
    check_filled(db);
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 99}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_remove_id(db, NULL, "c", "{'_id': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_index(db, NULL, "c", "x", "{'x': 1}", NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_READ_ONLY, tansu_checkpoint(db, NULL));
    txn = call_begin(db, TANSU_TXN_READ);
    CHECK_INT(50, call_count(db, txn, "c", "{}"));
    CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, txn, "c", TANSU_SAVE, "{'_id': 99}"));
    tansu_txn_abort(txn);
    CHECK_OK(tansu_sync(db, NULL), NULL);
}

/* checksum -- of all files of a database's log and MANIFEST. */
static uint64_t checksum(const char *folder) {
    static const char *const names[] = {"MANIFEST", "log/00000001.seg"};
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    uint64_t sum = 0;
    for (size_t i = 0; i < 2; i++) {
        file_read(folder_join(folder, names[i]), &bytes);
        for (size_t k = 0; k < bytes.size; k++)
            sum = sum * 31 + bytes.data[k];
    }
    tansu_buffer_free(&bytes);
    return sum;
}

static void several_may_read(void) {
    char *folders[] = {filled_folder(), unclean_folder(false), unclean_folder(true)};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        tansu_options options = call_options(folders[i]);
        options.read_only = 1;
        uint64_t before = checksum(folders[i]);
        tansu_db *a = call_open_with(&options), *b = call_open_with(&options);
        check_read_only(a);
        check_read_only(b);
        CHECK_INT(i == 0 ? 0 : 1, call_count(a, NULL, "late", "{}"));
        CHECK_STATUS(TANSU_E_LOCKED, try_path(folders[i]));
        call_close(a);
        check_filled(b);
        call_close(b);
        CHECK_INT(before, checksum(folders[i]));
        a = call_open(folders[i]);
        check_filled(a);
        CHECK_INT(i == 0 ? 0 : 1, call_count(a, NULL, "late", "{}"));
        call_close(a);
        folder_end(folders[i]);
    }
}

static void a_torn_log_can_be_read_without_being_mended(void) {
    char *folder = unclean_folder(false);
    const char *name = folder_join(folder, "log/00000001.seg");
    tansu_options options = call_options(folder);
    options.read_only = 1;
    tansu_db *db = call_open_with(&options);
    int64_t sequence = call_figure(db, "sequence");
    call_close(db);
    /* The last commit's document goes. */
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    size_t end = bytes.size;
    while (end > 0 && bytes.data[end - 1] == 0)
        end--;
    file_flip(name, end - 1, 0);
    uint64_t before = checksum(folder);
    db = call_open_with(&options);
    CHECK_INT(sequence - 1, call_figure(db, "sequence"));
    check_filled(db);
    CHECK_INT(0, call_count(db, NULL, "late", "{}"));
    call_close(db);
    CHECK_INT(before, checksum(folder));
    tansu_buffer_free(&bytes);
    folder_end(folder);
}

/* ---- Damaged and newer files ---- */

/* replace_text -- puts another text of the same length into a file. */
static void replace_text(const char *path, const char *old, const char *fresh) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    char *at = strstr((char *)bytes.data, old);
    REQUIRE(at != NULL && strlen(old) == strlen(fresh));
    memcpy(at, fresh, strlen(fresh));
    file_write(path, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

static void a_newer_format_is_refused(void) {
    char *folder = filled_folder();
    replace_text(folder_join(folder, "MANIFEST"), "tansu 1\n", "tansu 2\n");
    CHECK_STATUS(TANSU_E_VERSION, try_path(folder));
    CHECK(strstr(call_error.message, "newer") != NULL);
    replace_text(folder_join(folder, "MANIFEST"), "tansu 2\n", "tansu 1\n");
    CHECK_OK(try_path(folder), &call_error);
    folder_end(folder);
}

static void a_damaged_manifest_is_refused(void) {
    char *folder = filled_folder();
    const char *name = folder_join(folder, "MANIFEST");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        file_flip(name, i, (unsigned)(i % 8));
        tansu_status status = try_path(folder);
        /* A format that became another one is refused as such. */
        if (!CHECK(status == TANSU_E_CORRUPT || (status == TANSU_E_VERSION && i < 8)))
            check_note("    %s, byte %zu", tansu_status_name(status), i);
        file_write(name, bytes.data, bytes.size);
    }
    for (size_t size = 0; size < bytes.size; size += 7) {
        file_write(name, bytes.data, size);
        CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    }
    file_cut(name, 1 << 20);
    CHECK(try_path(folder) != TANSU_OK);
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder)); /* never a new database over an old log */
    file_write(name, bytes.data, bytes.size);
    tansu_db *db = call_open(folder);
    check_filled(db);
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(folder);
}

static void a_damaged_log_is_refused_and_left_alone(void) {
    char *folder = filled_folder();
    char *name = strdup(folder_join(folder, "log/00000001.seg"));
    uint64_t size = file_size(name);
    for (uint64_t at = 0; at < size; at += 1 + size / 60) {
        if (at % 8 < 4 && at >= SEGMENT_HEADER_SIZE)
            folder_remove(folder_join(folder, "index"));
        file_flip(name, at, 6);
        uint64_t before = checksum(folder);
        tansu_status status = try_path(folder);
        if (file_exists(folder_join(folder, "index/blocks.tch")) && status == TANSU_OK) {
            /* A clean database with whole indexes does not read its log at opening. */
            file_flip(name, at, 6);
            continue;
        }
        CHECK_STATUS(TANSU_E_CORRUPT, status);
        CHECK(call_error.context[0] != 0);
        CHECK_INT(before, checksum(folder));
        file_flip(name, at, 6);
    }
    folder_remove(folder_join(folder, "index"));
    file_flip(name, size / 2, 6);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    CHECK_TEXT("log/00000001.seg", call_error.context);
    CHECK(call_error.offset > 0 && call_error.offset <= (int64_t)size / 2);
    file_flip(name, size / 2, 6);
    tansu_db *db = call_open(folder);
    check_filled(db);
    call_close(db);
    free(name);
    folder_end(folder);
}

static void lost_commits_of_a_cleanly_closed_log_are_noticed(void) {
    char *folder = filled_folder();
    const char *name = folder_join(folder, "log/00000001.seg");
    file_cut(name, file_size(name) - 8);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    folder_end(folder);
}

/* ---- Indexes are derived data ---- */

static void lost_or_damaged_indexes_are_made_again(void) {
    char *folder = filled_folder();
    folder_remove(folder_join(folder, "index"));
    tansu_db *db = call_open(folder);
    check_filled(db);
    call_close(db);
    const char *name = folder_join(folder, "index/blocks.tch");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    file_write(name, "no cabinet at all", 17);
    db = call_open(folder);
    check_filled(db);
    call_close(db);
    static const uint64_t cuts[] = {0, 1, 255, 256, 4096};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        file_cut(name, cuts[i]);
        db = call_open(folder);
        check_filled(db);
        call_close(db);
    }
    /* One of another database. */
    char *other = folder_new();
    db = call_open(other);
    CHECK_OK(call_save(db, NULL, "x", TANSU_SAVE, "{'_id': 1}"), &call_error);
    call_close(db);
    file_read(folder_join(other, "index/blocks.tch"), &bytes);
    file_write(name, bytes.data, bytes.size);
    db = call_open(folder);
    check_filled(db);
    CHECK_INT(0, call_count(db, NULL, "x", "{}"));
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(other);
    folder_end(folder);
}

static void old_indexes_are_brought_up_to_date(void) {
    char *folder = filled_folder(), *old = folder_new();
    rmdir(old);
    folder_copy(folder_join(folder, "index"), old);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 3}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 4, 'n': 3}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "id_n", "{'_id': 1, 'n': 1}", NULL), &call_error);
    call_close(db);
    folder_remove(folder_join(folder, "index"));
    folder_copy(old, folder_join(folder, "index"));
    db = call_open(folder);
    CHECK_TEXT("{ \"_id\" : 4, \"n\" : 3 }", call_find(db, NULL, "c", "{'n': 3}", NULL));
    CHECK_INT(45, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
    folder_end(old);
}

static void indexes_of_an_earlier_start_of_the_machine_are_not_trusted(void) {
    char *folder = unclean_folder(true);
    const char *name = folder_join(folder, "MANIFEST");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    CHECK(strstr((char *)bytes.data, "index open") != NULL);
    tansu_buffer_free(&bytes);
    manifest m;
    database *db = NULL;
    tansu_options options = call_options(folder);
    REQUIRE(CHECK_OK(database_open(&options, &fs_system, NULL, &db, &call_error), &call_error));
    m = db->manifest;
    char boot[64];
    fs_boot_id(boot);
    CHECK_TEXT(boot, m.boot);
    check_filled((tansu_db *)db);
    call_close((tansu_db *)db);
    folder_end(folder);
}

/* ---- Stores ---- */

static void a_temporary_store_is_removed(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options), *second = call_open_with(&options);
    fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    check_filled(db);
    CHECK_INT(0, call_count(second, NULL, "c", "{}"));
    call_close(db);
    call_close(second);
    CHECK_INT(0, rmdir(folder)); /* nothing is left in it */
    options.path = folder;       /* and now it is not there */
    CHECK_STATUS(TANSU_E_IO, try_open(&options));
    free(folder);
}

static void a_memory_store_has_no_files(void) {
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(tansu_open_path(NULL, &db), NULL));
    fill(db);
    check_filled(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK_INT(-1, call_figure(db, "path"));
    call_close(db);
}

static void a_path_is_enough(void) {
    char *folder = folder_new();
    tansu_db *db = NULL;
    const char *path = folder_join(folder, "new");
    REQUIRE(CHECK_OK(tansu_open_path(path, &db), NULL));
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_close(db);
    REQUIRE(CHECK_OK(tansu_open_path(path, &db), NULL));
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    tansu_close(db);
    tansu_close(NULL);
    CHECK_OK(tansu_shutdown(NULL, NULL), NULL);
    folder_end(folder);
}

/* ---- Closing with open handles ---- */

static void shutdown_refuses_while_handles_are_open(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    fill(db);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    check_filled(db); /* nothing was closed */
    tansu_cursor_close(cursor);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, &call_error));
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

static void close_waits_for_the_last_handle(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    fill(db);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{'n': 3}", NULL);
    tansu_txn *reading = call_begin(db, TANSU_TXN_READ);
    tansu_txn *writing = call_begin(db, TANSU_TXN_WRITE), *more = NULL;
    tansu_close(db);
    CHECK_STATUS(TANSU_E_CLOSED, tansu_txn_begin(db, TANSU_TXN_READ, 0, &more, NULL));
    CHECK_TEXT("CLOSED", call_find(db, NULL, "c", "{}", NULL));
    CHECK_TEXT("CLOSED", call_get(db, NULL, "c", "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_CLOSED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"));
    CHECK_STATUS(TANSU_E_BUSY, tansu_shutdown(db, NULL));
    CHECK_STATUS(TANSU_E_LOCKED, try_path(folder));
    /* What is open goes on. */
    CHECK_INT(50, call_count(db, reading, "c", "{}"));
    CHECK_OK(call_save(db, writing, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
    CHECK_OK(tansu_txn_commit(writing, NULL, &call_error), &call_error);
    tansu_txn_abort(reading);
    CHECK_TEXT("{ \"_id\" : 3, \"n\" : 3 }", call_next(cursor));
    tansu_cursor_close(cursor);
    db = call_open(folder); /* now it is closed */
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

/* ---- Durability ---- */

static void only_full_commits_wait_for_the_disk(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    unsigned before = faults.syncs;
    for (int i = 0; i < 20; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before, faults.syncs);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_FULL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_INT(before + 1, faults.syncs);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK_INT(before + 2, faults.syncs);
    call_close(db);

    options.durability = TANSU_DURABILITY_DEFAULT; /* full */
    db = open_with_faults(&options);
    before = faults.syncs;
    for (int i = 0; i < 5; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(before + 5, faults.syncs);
    call_close(db);
    folder_end(folder);
}

/* synced_within -- whether a sync comes within so many milliseconds. */
static bool synced_within(unsigned before, int ms) {
    for (int i = 0; i < ms && faults.syncs == before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return faults.syncs != before;
}

static void interval_commits_are_synced_in_time(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_INTERVAL;
    options.interval_ms = 30;
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        unsigned before = faults.syncs;
        CHECK(synced_within(before, 2000));
        before = faults.syncs;
        CHECK(!synced_within(before, 80)); /* nothing to do, nothing done */
    }
    call_close(db);
    /* One transaction of that kind in a database of another. */
    options.durability = TANSU_DURABILITY_PROCESS;
    db = open_with_faults(&options);
    tansu_txn *txn = NULL;
    CHECK_OK(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_INTERVAL, &txn, NULL), NULL);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    unsigned before = faults.syncs;
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    CHECK(synced_within(before, 2000));
    call_close(db);
    folder_end(folder);
}

static void a_failed_sync_ends_writing_but_not_reading(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.durability = TANSU_DURABILITY_FULL;
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    fill(db);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"));
    CHECK_INT(EIO, call_error.sys_errno);
    faults.sync_errno = 0;
    unsigned before = faults.syncs;
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 101}"));
    CHECK_STATUS(TANSU_E_FAILED, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
    CHECK_STATUS(TANSU_E_FAILED, tansu_sync(db, NULL));
    check_filled(db); /* also without what was not acknowledged */
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    CHECK_INT(before, faults.syncs);
    db = call_open(folder);
    int64_t count = call_count(db, NULL, "c", "{}");
    CHECK(count == 50 || count == 51);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 100}", NULL), &call_error);
    check_filled(db);
    call_close(db);
    folder_end(folder);
}

static void a_full_disk_refuses_a_commit_and_keeps_the_rest(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    fill(db);
    faults.allocate_errno = ENOSPC;
    uint8_t *filling = calloc(1, 600000);
    bson_t *large = BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT32(77), "b",
                             BCON_BIN(BSON_SUBTYPE_BINARY, filling, 600000));
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, NULL, "c", TANSU_SAVE, large));
    check_filled(db);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 100, 'n': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_FULL, call_save_bson(db, txn, "c", TANSU_SAVE, large));
    CHECK_INT(1, call_count(db, txn, "c", "{'n': 1, '_id': 1}"));
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error); /* what fits is kept */
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    faults.allocate_errno = 0;
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, large), &call_error);
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 77}"));
    call_close(db);
    bson_destroy(large);
    free(filling);
    folder_end(folder);
}

static void a_manifest_that_cannot_be_written_stops_no_commit(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    fault_reset();
    tansu_db *db = open_with_faults(&options);
    fill(db);
    faults.rename_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, tansu_checkpoint(db, &call_error));
    check_filled(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_IO, tansu_shutdown(db, &call_error));
    db = call_open(folder);
    CHECK_INT(51, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(options_that_make_no_sense_are_refused);
    RUN(paths_that_are_no_database_are_refused);
    RUN(an_error_is_left_alone_on_success);
    RUN(one_handle_at_a_time);
    RUN(one_process_at_a_time);
    RUN(several_may_read);
    RUN(a_torn_log_can_be_read_without_being_mended);
    RUN(a_newer_format_is_refused);
    RUN(a_damaged_manifest_is_refused);
    RUN(a_damaged_log_is_refused_and_left_alone);
    RUN(lost_commits_of_a_cleanly_closed_log_are_noticed);
    RUN(lost_or_damaged_indexes_are_made_again);
    RUN(old_indexes_are_brought_up_to_date);
    RUN(indexes_of_an_earlier_start_of_the_machine_are_not_trusted);
    RUN(a_temporary_store_is_removed);
    RUN(a_memory_store_has_no_files);
    RUN(a_path_is_enough);
    RUN(shutdown_refuses_while_handles_are_open);
    RUN(close_waits_for_the_last_handle);
    RUN(only_full_commits_wait_for_the_disk);
    RUN(interval_commits_are_synced_in_time);
    RUN(a_failed_sync_ends_writing_but_not_reading);
    RUN(a_full_disk_refuses_a_commit_and_keeps_the_rest);
    RUN(a_manifest_that_cannot_be_written_stops_no_commit);
    return check_finish();
}
