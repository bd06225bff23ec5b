/*
 * test_reader_registry.c -- who reads a database while another process writes, what that keeps on
 * the disk, and the limit of it (docs/readers.md).
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCUMENTS 500
#define MEBIBYTE ((uint64_t)1024 * 1024)

static tansu_options writer_options(const char *path) {
    tansu_options options = call_options(path);
    options.segment_size = MEBIBYTE;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.compaction_percent = 0;
    return options;
}

static tansu_options reader_options(const char *path) {
    tansu_options options = writer_options(path);
    options.allow_writer = 1;
    return options;
}

static tansu_db *open_writer(const char *path) {
    tansu_options options = writer_options(path);
    return call_open_with(&options);
}

static tansu_db *open_reader(const char *path) {
    tansu_options options = reader_options(path);
    return call_open_with(&options);
}

/* fill -- about one MiB of documents, each in place of the one before. */
static void fill(tansu_db *db, int round) {
    char json[2200], pad[2100];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < DOCUMENTS; i++) {
        snprintf(json, sizeof json, "{'_id': %d, 'n': %d, 'pad': '%s'}", i, round, pad);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, json), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* replace_all -- new versions of everything; the old segments are compacted and removed. */
static void replace_all(tansu_db *db, int rounds) {
    static int round;
    for (int i = 0; i < rounds; i++)
        fill(db, ++round);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
}

/* reader_count -- how many stats tells of. */
static int reader_count(tansu_db *db) {
    char path[40];
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "readers.%d.process", i);
        if (call_statistic(db, path) < 0)
            return i;
    }
}

/* files_in -- how many names the folder of the readers has. */
static int files_in(const char *folder) {
    DIR *dir = opendir(folder_join(folder, "readers"));
    int count = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return count;
}

/* ---- The registry ---- */

static void readers_are_listed_while_they_are_open(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder), *readers[20];
    fill(db, 0);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_INT(0, reader_count(db));
    for (int i = 0; i < 20; i++) {
        readers[i] = open_reader(folder);
        CHECK_INT(i + 1, reader_count(db));
        CHECK_INT(i + 1, reader_count(readers[0]));
    }
    CHECK_INT(getpid(), call_statistic(db, "readers.7.process"));
    CHECK_INT(call_statistic(db, "sequence"), call_statistic(db, "readers.7.sequence"));
    CHECK_INT(call_statistic(readers[0], "indexFileBytes"),
              call_statistic(db, "readers.7.pinnedBytes"));
    for (int i = 0; i < 20; i++)
        call_close(readers[i]);
    CHECK_INT(0, reader_count(db));
    CHECK_INT(0, files_in(folder));
    call_close(db);
    folder_end(folder);
}

/* A reader whose newest snapshot is a later one says so. */
static void entries_follow_refreshes(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder), *reader = open_reader(folder);
    for (int round = 0; round < 4; round++) {
        fill(db, round);
        CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
        CHECK_INT(call_statistic(db, "sequence"), call_statistic(db, "readers.0.sequence"));
    }
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* read_until_killed -- a process that reads; returns when it has opened the database. */
static pid_t read_until_killed(const char *folder) {
    int ready[2];
    char byte;
    REQUIRE(pipe(ready) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_options options = reader_options(folder);
        tansu_db *db = NULL;
        if (tansu_open(&options, &db, NULL) != TANSU_OK || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void a_reader_that_is_killed_is_gone(void) {
    char *folder = folder_new();
    tansu_options options = writer_options(folder);
    /* The readers begin first: they share no descriptor with the writer. */
    tansu_db *db = call_open_with(&options);
    fill(db, 0);
    call_close(db);
    pid_t children[3];
    for (int i = 0; i < 3; i++)
        children[i] = read_until_killed(folder);
    db = call_open_with(&options);
    CHECK_INT(3, reader_count(db));
    CHECK_INT(3, files_in(folder));
    for (int i = 0; i < 3; i++) {
        kill(children[i], SIGKILL);
        REQUIRE(waitpid(children[i], NULL, 0) == children[i]);
        if (i == 0) {
            CHECK_INT(2, reader_count(db)); /* whoever lists removes */
            CHECK_INT(2, files_in(folder));
        }
    }
    fill(db, 1);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_INT(0, files_in(folder));
    call_close(db);
    folder_end(folder);
}

/* What is in the folder and is no entry harms nobody, and is not removed. */
static void other_files_are_left_alone(void) {
    static const char junk[] =
        "no entry at all, and long enough to be taken for one if nobody looks "
        "at what it says, not even at the first bytes of it";
    char *folder = folder_new(), path[4096];
    tansu_db *db = open_writer(folder), *reader = open_reader(folder);
    snprintf(path, sizeof path, "%s/readers/", folder);
    char *name = path + strlen(path);
    strcpy(name, "notes.txt");
    file_write(path, junk, sizeof junk);
    strcpy(name, "12-34.txt");
    file_write(path, junk, sizeof junk);
    strcpy(name, "77-1");
    REQUIRE(mkdir(path, 0755) == 0);
    strcpy(name, "78-1");
    REQUIRE(mkfifo(path, 0644) == 0);
    /* One that somebody has locked, with bytes that are no report. */
    strcpy(name, "79-1");
    file_write(path, junk, sizeof junk);
    int locked = open(path, O_RDWR);
    REQUIRE(locked >= 0 && flock(locked, LOCK_EX | LOCK_NB) == 0);
    /* One that nobody has locked. */
    strcpy(name, "80-1");
    file_write(path, junk, sizeof junk);
    strcpy(name, "81-1.new");
    file_write(path, "", 0);
    CHECK_INT(1, reader_count(db));
    CHECK(!file_exists(folder_join(folder, "readers/80-1")));
    CHECK(!file_exists(folder_join(folder, "readers/81-1.new")));
    CHECK(file_exists(folder_join(folder, "readers/notes.txt")));
    CHECK(file_exists(folder_join(folder, "readers/12-34.txt")));
    CHECK(file_exists(folder_join(folder, "readers/79-1")));
    CHECK(maintenance_clean(db));
    close(locked);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* A damaged entry of a living reader is not believed; its next report is. */
static void damaged_entries_are_not_believed(void) {
    char *folder = folder_new(), path[4096];
    tansu_db *db = open_writer(folder), *reader = open_reader(folder);
    fill(db, 0);
    DIR *dir = opendir(folder_join(folder, "readers"));
    REQUIRE(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/readers/%s", folder, entry->d_name);
    closedir(dir);
    for (unsigned bit = 0; bit < file_size(path) * 8; bit += 7) {
        file_flip(path, bit / 8, bit % 8);
        CHECK_INT(0, reader_count(db));
        file_flip(path, bit / 8, bit % 8);
        CHECK_INT(1, reader_count(db));
    }
    int fd = open(path, O_WRONLY | O_TRUNC);
    REQUIRE(fd >= 0);
    close(fd);
    CHECK_INT(0, reader_count(db));
    usleep(120000);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_INT(1, reader_count(db));
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* Where no entry can be made, a reader reads all the same. */
static void readers_need_no_entry(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 3);
    file_write(folder_join(folder, "readers"), "a file", 6);
    tansu_db *reader = open_reader(folder);
    CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{'n': 3}"));
    CHECK_INT(0, reader_count(db));
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    call_close(reader);
    call_close(db);
    db = open_writer(folder);
    call_close(db);
    folder_end(folder);
}

/* ---- What is kept on the disk ---- */

static void what_a_reader_keeps_is_told(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_db *reader = open_reader(folder);
    int64_t copy = call_statistic(db, "readers.0.pinnedBytes"), most = 0;
    for (int i = 0; i < 5; i++) {
        replace_all(db, 2);
        int64_t pinned = call_statistic(db, "readers.0.pinnedBytes");
        CHECK(pinned >= most);
        most = pinned;
    }
    /* The segments that the reader had mapped, and no more, however much is removed. */
    CHECK(most >= copy + (int64_t)MEBIBYTE);
    CHECK(most <= copy + 3 * (int64_t)MEBIBYTE);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(db, "readers.0.pinnedBytes") < copy + (int64_t)MEBIBYTE);
    /* An older transaction keeps what it sees. */
    tansu_txn *txn = call_begin(reader, TANSU_TXN_READ);
    replace_all(db, 4);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(db, "readers.0.pinnedBytes") >= copy + (int64_t)MEBIBYTE / 2);
    tansu_txn_abort(txn);
    replace_all(db, 1);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(db, "readers.0.pinnedBytes") < copy + 2 * (int64_t)MEBIBYTE);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* ---- The limit ---- */

/* check_given_up -- each way to read fails, and says what to do. */
static void check_given_up(tansu_db *reader) {
    int64_t count;
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_count(reader, NULL, "c", (tansu_document){0},
                                                (tansu_document){0}, &count, &call_error));
    CHECK_TEXT("max_pinned_bytes", call_error.context);
    CHECK(strstr(call_error.message, "refresh") != NULL);
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_txn_begin(reader, TANSU_TXN_READ,
                                                    TANSU_DURABILITY_DEFAULT, &txn, &call_error));
}

/* open_large -- with segments of which the last one grows by megabytes after a reader mapped it. */
static tansu_db *open_large(const char *path, bool reads, uint64_t most) {
    tansu_options options = reads ? reader_options(path) : writer_options(path);
    options.segment_size = reads ? MEBIBYTE : 16 * MEBIBYTE;
    options.max_pinned_bytes = most;
    return call_open_with(&options);
}

/* What the last segment gets after the reader has mapped it is kept as well. */
static void the_growth_of_the_last_segment_counts(void) {
    char *folder = folder_new();
    tansu_db *db = open_large(folder, false, 0);
    fill(db, 0);
    tansu_db *limited = open_large(folder, true, 2 * MEBIBYTE);
    tansu_db *reader = open_large(folder, true, 0);
    int64_t copies = 2 * call_statistic(reader, "indexFileBytes");
    for (int round = 0; round < 8; round++)
        fill(db, round);
    CHECK_INT(1, call_statistic(db, "logSegments"));
    replace_all(db, 0);
    /* Both as the writer sees them, and after they have looked for themselves. */
    for (int looked = 0; looked < 2; looked++) {
        for (int i = 0; i < 2; i++) {
            char path[40];
            snprintf(path, sizeof path, "readers.%d.pinnedBytes", i);
            int64_t pinned = call_statistic(db, path);
            CHECK(pinned >= 8 * (int64_t)MEBIBYTE || (looked && pinned == 0));
            CHECK(pinned <= 16 * (int64_t)MEBIBYTE + copies);
        }
        check_given_up(limited);
        CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{}"));
    }
    CHECK_OK(tansu_refresh(limited, NULL, NULL, &call_error), &call_error);
    CHECK_INT(DOCUMENTS, call_count(limited, NULL, "c", "{}"));
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(reader, "readers.0.pinnedBytes") < 2 * (int64_t)MEBIBYTE + copies);
    call_close(limited);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

/* limit_is_kept -- by a limit of the writer or of the reader itself. */
static void limit_is_kept(bool writers) {
    char *folder = folder_new();
    tansu_options options = writer_options(folder);
    options.max_pinned_bytes = writers ? 3 * MEBIBYTE : 0;
    tansu_db *db = call_open_with(&options);
    for (int round = 0; round < 6; round++)
        fill(db, round);
    options = reader_options(folder);
    options.max_pinned_bytes = writers ? 0 : 3 * MEBIBYTE;
    tansu_db *reader = call_open_with(&options);
    tansu_cursor *cursor = call_cursor(reader, NULL, "c", "{}", NULL);
    tansu_txn *txn = call_begin(reader, TANSU_TXN_READ);
    CHECK(call_next(cursor) != NULL);
    CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{}"));
    replace_all(db, 4);
    check_given_up(reader);
    check_given_up(reader);
    /* What is open has the same limit. */
    tansu_document document;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_cursor_next(cursor, &document, &call_error));
    int64_t count;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_count(reader, txn, "c", (tansu_document){0},
                                                (tansu_document){0}, &count, &call_error));
    tansu_cursor_close(cursor);
    tansu_txn_abort(txn);
    CHECK(call_statistic(db, "readers.0.pinnedBytes") == 0);
    int changed = 0;
    CHECK_OK(tansu_refresh(reader, &changed, NULL, &call_error), &call_error);
    CHECK_INT(1, changed);
    CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{}"));
    CHECK(maintenance_clean(reader));
    for (int round = 0; round < 6; round++)
        fill(db, round);
    CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
    replace_all(db, 1);
    check_given_up(reader);
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

static void a_reader_has_a_limit_of_its_own(void) {
    limit_is_kept(false);
}

static void a_writer_limits_its_readers(void) {
    limit_is_kept(true);
}

/* One that follows goes to a newer state instead. */
static void followers_go_on(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_options options = reader_options(folder);
    options.follow = 1;
    options.max_pinned_bytes = 4 * MEBIBYTE;
    tansu_db *reader = call_open_with(&options);
    for (int i = 0; i < 10; i++) {
        tansu_txn *txn = call_begin(reader, TANSU_TXN_READ);
        replace_all(db, 6);
        CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{}"));
        CHECK(call_statistic(reader, "readers.0.pinnedBytes") <= (int64_t)(16 * MEBIBYTE));
        tansu_txn_abort(txn);
    }
    call_close(reader);
    call_close(db);
    folder_end(folder);
}

static void a_limit_below_the_copy_is_an_error(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder), *reader = NULL;
    fill(db, 0);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_options options = reader_options(folder);
    options.max_pinned_bytes = 1;
    CHECK_STATUS(TANSU_E_TOO_LARGE, tansu_open(&options, &reader, &call_error));
    CHECK(reader == NULL);
    CHECK_INT(0, reader_count(db));
    CHECK_INT(0, files_in(folder));
    call_close(db);
    folder_end(folder);
}

/* What the threads share. */
typedef struct reading {
    tansu_db *db;
    bool stop; /* atomic */
} reading;

/* read_on -- reads and refreshes; what it sees is whole, or given up. */
static void *read_on(void *context) {
    reading *r = context;
    while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
        int64_t count = 0;
        tansu_error error;
        tansu_document all = (tansu_document){0};
        tansu_status status =
            tansu_count(r->db, NULL, "c", all, (tansu_document){0}, &count, &error);
        if (status == TANSU_OK) {
            CHECK_INT(DOCUMENTS, count);
        } else if (CHECK_STATUS(TANSU_E_TOO_LARGE, status)) {
            CHECK_OK(tansu_refresh(r->db, NULL, NULL, &error), &error);
        }
    }
    return NULL;
}

static void threads_share_the_limit(void) {
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_options options = reader_options(folder);
    options.max_pinned_bytes = MEBIBYTE;
    reading r = {.db = call_open_with(&options)};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &r) == 0);
    for (int i = 0; i < 20; i++)
        replace_all(db, 2);
    __atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(tansu_refresh(r.db, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(r.db, "reopenings") != 0);
    call_close(r.db);
    call_close(db);
    folder_end(folder);
}

/* ---- Failures ---- */

/* allowed -- whether a call that fails may give that status. */
static bool allowed(tansu_status status) {
    return status == TANSU_OK || status == TANSU_E_IO || status == TANSU_E_MEMORY ||
           status == TANSU_E_FULL || status == TANSU_E_CORRUPT;
}

/* fail_each -- opens and refreshes a reader; of the calls of one kind another one fails each time.
 */
static void fail_each(fault_kind kind, unsigned step) {
    random_source source = random_start((uint64_t)kind);
    char *folder = folder_new();
    tansu_db *db = open_writer(folder);
    fill(db, 0);
    tansu_options options = reader_options(folder);
    options.max_pinned_bytes = 2 * MEBIBYTE;
    unsigned calls = 0; /* counted when none fails */
    for (unsigned n = 0; n <= calls; n += step * random_step(&source)) {
        tansu_db *reader = NULL;
        int number = n % 2 == 0 ? ENOSPC : EIO;
        fault_start(kind, n, false, number);
        tansu_status status = handle_open(&options, &fault_fs, &engine_query_hooks, &reader, NULL);
        unsigned made = fault_stop();
        calls = made > calls ? made : calls;
        CHECK(allowed(status));
        if (status == TANSU_OK) {
            replace_all(db, 1);
            fault_start(kind, n, false, number);
            status = tansu_refresh(reader, NULL, NULL, NULL);
            made = fault_stop();
            calls = made > calls ? made : calls;
            CHECK(allowed(status));
            CHECK_OK(tansu_refresh(reader, NULL, NULL, &call_error), &call_error);
            CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{}"));
            call_close(reader);
        }
        CHECK_INT(0, reader_count(db));
    }
    CHECK(calls > 10);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_INT(0, files_in(folder));
    call_close(db);
    folder_end(folder);
}

static void failing_calls_leave_no_entry(void) {
    fail_each(FAULT_FILES, 1);
    if (fault_has_memory())
        fail_each(FAULT_MEMORY, 11);
}

int main(void) {
    RUN(a_reader_that_is_killed_is_gone);
    RUN(readers_are_listed_while_they_are_open);
    RUN(entries_follow_refreshes);
    RUN(other_files_are_left_alone);
    RUN(damaged_entries_are_not_believed);
    RUN(readers_need_no_entry);
    RUN(what_a_reader_keeps_is_told);
    RUN(the_growth_of_the_last_segment_counts);
    RUN(a_reader_has_a_limit_of_its_own);
    RUN(a_writer_limits_its_readers);
    RUN(followers_go_on);
    RUN(a_limit_below_the_copy_is_an_error);
    RUN(threads_share_the_limit);
    RUN(failing_calls_leave_no_entry);
    return check_finish();
}
