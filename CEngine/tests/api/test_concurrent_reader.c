/*
 * test_concurrent_reader.c -- opening a database while another process writes it
 * (tansu_options.allow_writer, docs/readers.md).
 */
#include "api/handles.h"
#include "log/format.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/sample_database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* try_concurrent -- opens, whoever writes. */
static tansu_status try_concurrent(const char *path, tansu_db **db) {
    tansu_options options = call_options(path);
    options.allow_writer = 1;
    return tansu_open(&options, db, &call_error);
}

/* open_concurrent -- the same, when it must succeed. */
static tansu_db *open_concurrent(const char *path) {
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(try_concurrent(path, &db), &call_error));
    return db;
}

/* fill -- documents {_id, n} from a number on, each with some bytes, in collection "c". */
static void fill(tansu_db *db, int from, int count) {
    char json[600], pad[500];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (int i = from; i < from + count; i++) {
        snprintf(json, sizeof json, "{'_id': %d, 'n': %d, 'pad': '%s'}", i, i % 10, pad);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
}

/* check_filled -- all of them are there, and an index agrees. */
static void check_filled(tansu_db *db, int count) {
    CHECK_INT(count, call_count(db, NULL, "c", "{}"));
    CHECK_INT(count / 10, call_count(db, NULL, "c", "{'n': 3}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'_id': 0}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 9, 'pad': {'$exists': true}, '_id': 19}"));
    CHECK(maintenance_clean(db));
}

/* ---- What a reader sees ---- */

static void a_reader_sees_the_commits_before_its_opening(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    fill(db, 0, 100);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    fill(db, 100, 100); /* a tail that the reader replays */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 'open', 'n': 3}"), &call_error);
    tansu_db *reader = open_concurrent(folder);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    check_filled(reader, 200);
    CHECK_INT(100 + 1, call_statistic(reader, "sequence") -
                           call_statistic(reader, "checkpointSequence") + 1);
    CHECK_TEXT("NOT_FOUND", call_get(reader, NULL, "c", "{'_id': 'open'}"));
    CHECK_INT(201, call_count(db, NULL, "c", "{}"));
    tansu_db *later = open_concurrent(folder);
    CHECK_INT(201, call_count(later, NULL, "c", "{}"));
    call_close(later);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* The files that a reader has open are removed, rewritten and closed under it. */
static void nothing_that_a_writer_does_changes_what_a_reader_sees(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = (uint64_t)1 << 20;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    fill(db, 0, 5000);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_db *reader = open_concurrent(folder);
    for (int round = 0; round < 3; round++) {
        fill(db, 0, 5000);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        check_filled(reader, 5000);
    }
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    check_filled(reader, 5000);
    call_close(db);
    check_filled(reader, 5000);
    folder_remove(folder_join(folder, "index"));
    db = call_open(folder); /* which builds new index files */
    fill(db, 0, 10);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    check_filled(reader, 5000);
    tansu_db *later = open_concurrent(folder);
    CHECK_INT(10, call_count(later, NULL, "c", "{}"));
    call_close(later);
    call_close(db);
    call_close(reader);
    folder_end(folder);
}

/* What reads a whole database works on files that are not there any more, too. */
static void a_reader_can_be_backed_up_and_cloned(void) {
    char *folder = folder_new(), *work = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = (uint64_t)1 << 20;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    fill(db, 0, 5000);
    tansu_db *reader = open_concurrent(folder);
    fill(db, 0, 5000);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    fill(db, 5000, 10);
    for (int i = 0; i < 2; i++) {
        const char *to = path_in(work, i == 0 ? "folder" : "file"), *whole = path_in(work, "whole");
        CHECK_OK(backup(reader, to, backup_forms[i]), &call_error);
        CHECK_OK(restore(to, whole), &call_error);
        tansu_db *restored = call_open(whole);
        check_filled(restored, 5000);
        call_close(restored);
        remove_at(whole);
    }
    tansu_options target = call_options(path_in(work, "clone"));
    tansu_db *cloned = NULL;
    if (CHECK_OK(tansu_clone(reader, &target, NULL, NULL, &cloned, &call_error), &call_error)) {
        check_filled(cloned, 5000);
        call_close(cloned);
    }
    call_close(reader);
    call_close(db);
    folder_end(work);
    folder_end(folder);
}

/* ---- A writer between two calls of an opening ---- */

/* What the writer does before the file call with the number `at` of an opening. */
static struct {
    tansu_db *db;
    unsigned calls, at, round;
    enum { NEW_SEGMENTS, COMPACTION, REBUILT_INDEX, CLEAN_END, WAYS } way;
    const tansu_options *options;
} between;

/* burst -- commits that fill new segments, checkpoints, and what the way is about. */
static void burst(void) {
    between.round++;
    fill(between.db, 0, 1500);
    CHECK_OK(tansu_checkpoint(between.db, &call_error), &call_error);
    if (between.way == COMPACTION)
        CHECK_OK(tansu_compact(between.db, NULL, NULL, NULL, &call_error), &call_error);
    fill(between.db, 0, 1500);
    if (between.way == REBUILT_INDEX) {
        CHECK_OK(tansu_index_drop(between.db, NULL, "c", "n", &call_error), &call_error);
        CHECK_OK(call_index(between.db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    }
    CHECK_OK(tansu_checkpoint(between.db, &call_error), &call_error);
    if (between.way == CLEAN_END) {
        call_close(between.db);
        between.db = call_open_with(between.options);
    }
    if (between.way == REBUILT_INDEX) { /* in the tail, too */
        CHECK_OK(tansu_index_drop(between.db, NULL, "c", "n", &call_error), &call_error);
        CHECK_OK(call_index(between.db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    }
    fill(between.db, 0, 20);
}

/* step_in -- counts a file call. */
static void step_in(void) {
    if (++between.calls == between.at)
        burst();
}

static int open_between(const fs *calls, const char *path, int flags, int mode) {
    step_in();
    return fs_system.open(calls, path, flags, mode);
}

static ssize_t read_between(int fd, void *bytes, size_t size, off_t offset) {
    step_in();
    return fs_system.read(fd, bytes, size, offset);
}

static void *map_between(int fd, uint64_t size, bool writable) {
    step_in();
    return fs_system.map(fd, size, writable);
}

static void a_writer_may_do_anything_between_two_calls(void) {
    fs calls = fs_system;
    calls.open = open_between;
    calls.read = read_between;
    calls.map = map_between;
    for (between.way = NEW_SEGMENTS; between.way < WAYS; between.way++) {
        char *folder = folder_new();
        tansu_options options = call_options(folder), reading = options;
        options.segment_size = (uint64_t)1 << 20;
        reading.allow_writer = 1;
        between.options = &options;
        between.db = call_open_with(&options);
        CHECK_OK(call_index(between.db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
        fill(between.db, 0, 1500);
        unsigned first = 0;
        for (between.at = 0; between.at <= first && check_failures() == 0;
             between.at += 1 + (unsigned)between.way) {
            tansu_db *reader = NULL;
            between.calls = 0;
            if (CHECK_OK(handle_open(&reading, &calls, &engine_query_hooks, &reader, &call_error),
                         &call_error)) {
                check_filled(reader, 1500);
                call_close(reader);
            }
            if (between.at == 0)
                first = between.calls;
            if (check_failures() != 0)
                check_note("    way %d, call %u of %u", (int)between.way, between.at, first);
        }
        call_close(between.db);
        folder_end(folder);
    }
    CHECK(between.round > 50);
}

/* ---- Locks ---- */

static void readers_and_the_writer_do_not_lock_each_other_out(void) {
    char *folder = sample_folder();
    tansu_db *first = open_concurrent(folder);
    tansu_db *db = call_open(folder); /* while one reads */
    tansu_db *second = open_concurrent(folder);
    CHECK_STATUS(TANSU_E_LOCKED, call_try_open(folder));
    tansu_options options = call_options(folder);
    options.read_only = 1;
    tansu_db *none = NULL;
    CHECK_STATUS(TANSU_E_LOCKED, tansu_open(&options, &none, &call_error));
    sample_check(first);
    sample_check(second);
    call_close(db);
    CHECK_OK(tansu_open(&options, &none, &call_error), &call_error);
    tansu_db *third = open_concurrent(folder); /* while another one keeps writers out */
    sample_check(third);
    call_close(third);
    call_close(none);
    CHECK_OK(call_try_open(folder), &call_error);
    call_close(first);
    call_close(second);
    folder_end(folder);
}

static void another_process_reads_concurrently(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "late", TANSU_SAVE, "{'_id': 1}"), &call_error);
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_db *reader = NULL;
        bool well = try_concurrent(folder, &reader) == TANSU_OK &&
                    call_count(reader, NULL, "c", "{}") == 50 &&
                    call_count(reader, NULL, "late", "{}") == 1;
        tansu_close(reader);
        _exit(well ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    call_close(db);
    folder_end(folder);
}

/* ---- Never writes ---- */

static void nothing_is_written(void) {
    char *folders[] = {sample_folder(), sample_unclean(false), sample_unclean(true)};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        CHECK(remove(folder_join(folders[i], "LOCK")) == 0);
        uint64_t before = sample_checksum(folders[i]);
        tansu_db *db = open_concurrent(folders[i]), *other = open_concurrent(folders[i]);
        tansu_txn *txn = NULL;
        sample_check(db);
        sample_check(other);
        CHECK_INT(i == 0 ? 0 : 1, call_count(db, NULL, "late", "{}"));
        CHECK_STATUS(TANSU_E_READ_ONLY, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 99}"));
        CHECK_STATUS(TANSU_E_READ_ONLY, call_index(db, NULL, "c", "x", "{'x': 1}", NULL));
        CHECK_STATUS(TANSU_E_READ_ONLY, tansu_txn_begin(db, TANSU_TXN_WRITE, 0, &txn, NULL));
        CHECK_STATUS(TANSU_E_READ_ONLY, tansu_checkpoint(db, NULL));
        CHECK_STATUS(TANSU_E_READ_ONLY, tansu_compact(db, NULL, NULL, NULL, NULL));
        CHECK_OK(tansu_sync(db, NULL), NULL);
        call_close(other);
        call_close(db);
        CHECK_INT(before, sample_checksum(folders[i]));
        CHECK(!file_exists(folder_join(folders[i], "LOCK")));
        folder_end(folders[i]);
    }
}

/* A read-only file system: only the temporary copy can be made, elsewhere. */
static const char *sealed;

static int open_sealed(const fs *calls, const char *path, int flags, int mode) {
    if (strncmp(path, sealed, strlen(sealed)) == 0 && (flags & O_ACCMODE) != O_RDONLY) {
        errno = EROFS;
        return -1;
    }
    return fs_system.open(calls, path, flags, mode);
}

static void a_read_only_file_system_is_enough(void) {
    char *folder = sample_unclean(true);
    fs calls = fs_system;
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    calls.open = open_sealed;
    sealed = folder;
    options.allow_writer = 1;
    if (CHECK_OK(handle_open(&options, &calls, &engine_query_hooks, &db, &call_error),
                 &call_error)) {
        sample_check(db);
        call_close(db);
    }
    folder_end(folder);
}

/* ---- Options ---- */

static void options_that_make_no_sense_are_rejected(void) {
    char *folder = folder_new();
    tansu_db *db = NULL;
    tansu_options options = call_options(NULL);
    options.allow_writer = 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&options, &db, &call_error));
    options.store = TANSU_STORE_TEMPORARY;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_open(&options, &db, &call_error));
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_concurrent(folder, &db));
    CHECK_STATUS(TANSU_E_NOT_FOUND, try_concurrent(folder_join(folder, "nothing"), &db));
    CHECK(!file_exists(folder_join(folder, "nothing")));
    file_write(folder_join(folder, "file"), "Dear Bob", 8);
    CHECK_STATUS(TANSU_E_EXISTS, try_concurrent(folder_join(folder, "file"), &db));
    CHECK_STATUS(TANSU_E_EXISTS, try_concurrent(folder, &db));
    folder_end(folder);
}

static void json_options_have_it_too(void) {
    char *folder = sample_folder(), json[512];
    tansu_db *db = call_open(folder), *reader = NULL;
    snprintf(json, sizeof json, "{\"path\": \"%s\", \"allowWriter\": true}", folder);
    if (CHECK_OK(tansu_open_json(json, &reader, &call_error), &call_error)) {
        sample_check(reader);
        tansu_buffer stats = TANSU_BUFFER_INIT;
        bson_t doc;
        bson_iter_t iter;
        CHECK_OK(tansu_stats(reader, &stats, &call_error), &call_error);
        CHECK(bson_init_static(&doc, stats.data, stats.size) &&
              bson_iter_init_find(&iter, &doc, "allowWriter") && bson_iter_bool(&iter));
        tansu_buffer_free(&stats);
        call_close(reader);
    }
    call_close(db);
    folder_end(folder);
}

/* ---- Damage and failures ---- */

static void damaged_index_files_are_rebuilt_in_memory(void) {
    char *folder = sample_folder();
    file_flip(folder_join(folder, "index/blocks.tch"), 60, 3);
    tansu_db *reader = open_concurrent(folder);
    sample_check(reader);
    call_close(reader);
    folder_remove(folder_join(folder, "index"));
    reader = open_concurrent(folder);
    sample_check(reader);
    CHECK(!file_exists(folder_join(folder, "index")));
    call_close(reader);
    REQUIRE(mkdir(folder_join(folder, "index"), 0755) == 0);
    REQUIRE(mkfifo(folder_join(folder, "index/blocks.tch"), 0644) == 0);
    REQUIRE(mkdir(folder_join(folder, "index/blocks.tch.redo.0"), 0755) == 0);
    reader = open_concurrent(folder);
    sample_check(reader);
    call_close(reader);
    folder_end(folder);
}

/* damage_last_frame -- one that the writer has recorded as written. */
static void damage_last_frame(const char *folder) {
    const char *segment = folder_join(folder, "log/00000001.seg");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment, &bytes);
    size_t last = 0;
    for (size_t i = 64; i + 4 <= bytes.size; i += 8)
        if (load_u32(bytes.data + i) == FRAME_MAGIC)
            last = i;
    REQUIRE(last != 0);
    file_flip(segment, last + 40, 1);
    tansu_buffer_free(&bytes);
}

/* What a writer has recorded as written is not passed over, though the end of the log may be in
 * progress. */
static void a_damaged_log_is_an_error(void) {
    char *folder = sample_unclean(false);
    tansu_db *reader = NULL;
    damage_last_frame(folder);
    CHECK_STATUS(TANSU_E_CORRUPT, try_concurrent(folder, &reader));
    CHECK(strstr(call_error.message, "00000001.seg") != NULL);
    folder_end(folder);
}

/* ---- A file that is missing for a moment ---- */

/* When an opening opens index files, the one with the number `at` is not there. */
static struct { unsigned calls, at; } missing;

static int open_unless_missing(const fs *calls, const char *path, int flags, int mode) {
    if (strstr(path, "/index/") != NULL && ++missing.calls == missing.at) {
        errno = ENOENT;
        return -1;
    }
    return fs_system.open(calls, path, flags, mode);
}

/* A writer removes journals and begins them again while an opening fails, so that the files differ
 * from those at its beginning at one moment and equal them at the next: it is a failure still. */
static void files_that_come_back_do_not_make_a_failure_a_success(void) {
    char *folder = sample_unclean(false);
    damage_last_frame(folder);
    tansu_options options = call_options(folder);
    options.allow_writer = 1;
    fs calls = fs_system;
    calls.open = open_unless_missing;
    unsigned each = UINT_MAX;
    for (missing.at = 0; missing.at <= each; missing.at++) {
        tansu_db *db = NULL;
        missing.calls = 0;
        tansu_status status = handle_open(&options, &calls, &engine_query_hooks, &db, &call_error);
        if (missing.at == 0)
            each = missing.calls / 8; /* an opening is tried that often */
        CHECK_STATUS(TANSU_E_CORRUPT, status);
        CHECK(db == NULL);
    }
    CHECK(each > 6);
    folder_end(folder);
}

/* fail_each -- opens again and again; of the calls of one kind another one fails each time. */
static void fail_each(const char *folder, fault_kind kind, bool lasting, unsigned step) {
    random_source source = random_start((uint64_t)kind);
    tansu_options options = call_options(folder);
    options.allow_writer = 1;
    unsigned calls = 0;
    tansu_status expected = kind == FAULT_FILES ? TANSU_E_IO : TANSU_E_MEMORY;
    for (unsigned n = 0; n <= calls; n += n == 0 ? 1 : step * random_step(&source)) {
        tansu_db *db = NULL;
        fault_start(kind, n, lasting, EIO);
        tansu_status status = handle_open(&options, &fault_fs, &engine_query_hooks, &db, NULL);
        unsigned made = fault_stop();
        if (n == 0)
            calls = made;
        if (status == TANSU_OK) {
            sample_check(db);
            call_close(db);
        } else if (!CHECK(n != 0 && status == expected)) {
            check_note("    call %u: %s", n, tansu_status_name(status));
        }
    }
    CHECK(calls > 10);
}

static void failing_calls_are_errors_and_leave_nothing(void) {
    char *folder = sample_unclean(true);
    fail_each(folder, FAULT_FILES, false, 1);
    fail_each(folder, FAULT_FILES, true, 5);
    if (fault_has_memory()) {
        fail_each(folder, FAULT_MEMORY, false, 1);
        fail_each(folder, FAULT_MEMORY, true, 5);
    }
    folder_end(folder);
}

int main(void) {
    RUN(a_reader_sees_the_commits_before_its_opening);
    RUN(nothing_that_a_writer_does_changes_what_a_reader_sees);
    RUN(a_reader_can_be_backed_up_and_cloned);
    RUN(a_writer_may_do_anything_between_two_calls);
    RUN(readers_and_the_writer_do_not_lock_each_other_out);
    RUN(another_process_reads_concurrently);
    RUN(nothing_is_written);
    RUN(a_read_only_file_system_is_enough);
    RUN(options_that_make_no_sense_are_rejected);
    RUN(json_options_have_it_too);
    RUN(damaged_index_files_are_rebuilt_in_memory);
    RUN(a_damaged_log_is_an_error);
    RUN(files_that_come_back_do_not_make_a_failure_a_success);
    RUN(failing_calls_are_errors_and_leave_nothing);
    return check_finish();
}
