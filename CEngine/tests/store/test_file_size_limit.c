/*
 * test_file_size_limit.c -- a process that may make no files beyond some size (RLIMIT_FSIZE): the
 * system's signal would end it, and every call of the engine comes to an error instead; what was
 * acknowledged stays.
 *
 * Each limit is tried in a process of its own, which leaves the signal as it found it.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMITS_MOST 4000
#define INDEXED 20000 /* documents with texts that no block store makes short */

static volatile sig_atomic_t handled;

static void handle(int number) {
    (void)number;
    handled = 1;
}

/* save_one -- a document of some 2 KB. */
static tansu_status save_one(tansu_db *db, int id) {
    static uint8_t filling[2000];
    bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "n", BCON_INT32(id % 7), "b",
                           BCON_BIN(BSON_SUBTYPE_BINARY, filling, sizeof filling));
    tansu_status status = call_save_bson(db, NULL, "c", TANSU_INSERT, doc);
    bson_destroy(doc);
    return status;
}

/* fails_as_documented -- whether a call succeeded or reported the limit. */
static bool fails_as_documented(tansu_status status) {
    return CHECK(status == TANSU_OK || status == TANSU_E_FULL || status == TANSU_E_IO);
}

/* work_under -- what the process with the limit does: commits until one is refused, checkpoints,
 * compacts, closes and opens again. The commits that were acknowledged go through the pipe. */
static void work_under(const char *folder, uint64_t limit, bool handler, int report) {
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    struct rlimit most = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
    struct sigaction act = {.sa_handler = handler ? handle : SIG_DFL}, after;
    sigset_t mask;
    options.checkpoint_bytes = 200000;
    int32_t acknowledged = 0;
    REQUIRE(sigaction(SIGXFSZ, &act, NULL) == 0 && setrlimit(RLIMIT_FSIZE, &most) == 0);
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (fails_as_documented(status) && status == TANSU_OK) {
        while (acknowledged < COMMITS_MOST && (status = save_one(db, acknowledged)) == TANSU_OK)
            acknowledged++;
        CHECK_STATUS(TANSU_E_FULL, status);
        CHECK(call_error.message[0] != 0);
        CHECK_INT(acknowledged, call_count(db, NULL, "c", "{}"));
        fails_as_documented(tansu_checkpoint(db, &call_error));
        fails_as_documented(tansu_compact(db, NULL, NULL, NULL, &call_error));
        fails_as_documented(tansu_shutdown(db, &call_error));
        if (fails_as_documented(tansu_open(&options, &db, &call_error)) &&
            call_error.code == TANSU_OK)
            tansu_close(db);
    }
    /* Nothing of the program's has changed. */
    CHECK(!handled);
    CHECK(sigaction(SIGXFSZ, NULL, &after) == 0 && after.sa_handler == act.sa_handler);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGXFSZ) == 0);
    CHECK(sigpending(&mask) == 0 && sigismember(&mask, SIGXFSZ) == 0);
    if (write(report, &acknowledged, sizeof acknowledged) != (ssize_t)sizeof acknowledged)
        _exit(2);
    _exit(check_failures() == 0 ? 0 : 1);
}

/* one_limit -- a new database under that limit, looked at without it. How many commits it took. */
static int32_t one_limit(uint64_t limit, bool handler) {
    char *folder = folder_new();
    int ends[2], status = 0;
    int32_t acknowledged = 0;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        work_under(folder_join(folder, "db"), limit, handler, ends[1]);
    close(ends[1]);
    bool reported =
        read(ends[0], &acknowledged, sizeof acknowledged) == (ssize_t)sizeof acknowledged;
    close(ends[0]);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(reported && WIFEXITED(status) && WEXITSTATUS(status) == 0))
        check_note("    a limit of %llu bytes: status %d, signal %d", (unsigned long long)limit,
                   WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    tansu_options options = call_options(folder_join(folder, "db"));
    tansu_db *db = NULL;
    if (CHECK_OK(tansu_open(&options, &db, &call_error), &call_error)) {
        CHECK_INT(acknowledged, call_count(db, NULL, "c", "{}"));
        CHECK_OK(save_one(db, COMMITS_MOST), &call_error);
        CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
    }
    folder_end(folder);
    return acknowledged;
}

static void a_limit_on_file_sizes_is_an_error_not_the_end(void) {
    static const uint64_t limits[] = {0, 100, 5000, 100000, 300000, 700000, 900000};
    int32_t before = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int32_t took = one_limit(limits[i], i % 2 != 0);
        CHECK(took >= before);
        before = took;
    }
    CHECK(before > 300); /* otherwise little was tried */
}

/* grow_index_files -- commits whose segments stay below the limit while the index files outgrow
 * it. */
static void grow_index_files(const char *folder, uint64_t limit) {
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    struct rlimit most = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
    options.segment_size = 1 << 20;
    CHECK_OK(tansu_open(&options, &db, &call_error), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "t", "{'t': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "tn", "{'t': -1, 'n': 1}", NULL), &call_error);
    /* What started this may have had the signal ignored. */
    REQUIRE(signal(SIGXFSZ, SIG_DFL) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &most) == 0);
    random_source random = random_start(1);
    for (int batch = 0; batch < INDEXED / 500; batch++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 500; i++) {
            char text[64];
            snprintf(text, sizeof text, "%016llx%016llx%016llx",
                     (unsigned long long)random_next(&random),
                     (unsigned long long)random_next(&random),
                     (unsigned long long)random_next(&random));
            bson_t *doc = BCON_NEW("n", BCON_INT32(i), "t", BCON_UTF8(text));
            CHECK_OK(call_save_bson(db, txn, "c", TANSU_INSERT, doc), &call_error);
            bson_destroy(doc);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    }
    tansu_status status = tansu_checkpoint(db, &call_error);
    CHECK(status != TANSU_OK && fails_as_documented(status));
    CHECK_INT(INDEXED, call_count(db, NULL, "c", "{}"));
    fails_as_documented(tansu_shutdown(db, &call_error));
    _exit(check_failures() == 0 ? 0 : 1);
}

static void index_files_that_meet_the_limit_are_an_error_too(void) {
    char *folder = folder_new();
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        grow_index_files(folder_join(folder, "db"), (1 << 20) + 4096);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        check_note("    signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    tansu_db *db = call_open(folder_join(folder, "db"));
    CHECK_INT(INDEXED, call_count(db, NULL, "c", "{}"));
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(index_files_that_meet_the_limit_are_an_error_too);
    RUN(a_limit_on_file_sizes_is_an_error_not_the_end);
    return check_finish();
}
