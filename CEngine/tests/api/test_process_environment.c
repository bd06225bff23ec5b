/*
 * test_process_environment.c -- what a database must bear of the process that it lives in: signals
 * that interrupt its calls, descriptors that run out, children that live on, threads that end or
 * have a small stack. Over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/workload/rewrite_workload.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Signals ---- */

static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

/* Signals that interrupt system calls, a thousand a second: no call may end with an error for
 * that. */
static void signals_interrupt_nothing(void) {
    char *folder = folder_new(), *work = folder_new();
    struct sigaction action = {.sa_handler = count_alarm}, before; /* without SA_RESTART */
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    tansu_options options = call_options(folder);
    REQUIRE(sigaction(SIGALRM, &action, &before) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    int round = 0;
    while (++round <= 4 || (alarms <= 100 && round < 100)) {
        tansu_db *db = NULL;
        if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
            break;
        rewrite_all(db, 3, round);
        for (int i = 0; i < 20; i++)
            CHECK_OK(tansu_sync(db, &call_error), &call_error);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        for (int form = 0; form < 2; form++) {
            const char *to = path_in(work, "backup"), *restored = path_in(work, "restored");
            CHECK_OK(backup(db, to, backup_forms[form]), &call_error);
            CHECK_OK(restore(to, restored), &call_error);
            rewrite_check_closed(restored, round);
            remove_at(to);
            remove_at(restored);
        }
        rewrite_check(db, NULL, round);
        maintenance_clean(db);
        CHECK_STATUS(TANSU_OK, tansu_shutdown(db, &call_error));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    CHECK(alarms > 100);
    rewrite_check_closed(folder, round - 1);
    folder_end(work);
    folder_end(folder);
}

/* ---- Descriptors ---- */

/* With no descriptor left what needs one is refused, and all goes on when there are some again. */
static void a_process_without_descriptors_loses_nothing(void) {
    char *folder = folder_new();
    struct rlimit before, none;
    tansu_db *db = call_open(folder);
    rewrite_all(db, 1, 1);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 3;
    for (int round = 0; round < 3; round++) {
        REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
        tansu_status status = TANSU_OK;
        for (int i = 0; i < 60000 && status == TANSU_OK; i++)
            status = call_save(db, NULL, "d", TANSU_SAVE,
                               "{'_id': 1, 'pad': 'some bytes, and then more'}");
        CHECK_STATUS(TANSU_E_IO, status); /* at a new segment */
        CHECK_STATUS(TANSU_E_IO, backup(db, path_in(folder, "../none"), TANSU_BACKUP_FILE));
        CHECK_STATUS(TANSU_E_IO, tansu_checkpoint(db, &call_error));
        CHECK_STATUS(TANSU_E_IO, tansu_compact(db, NULL, NULL, NULL, &call_error));
        CHECK_INT(REWRITE_DOCUMENTS, call_count(db, NULL, "c", "{}")); /* segments are mapped */
        REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
        rewrite_check(db, NULL, 1);
        CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        maintenance_clean(db);
    }
    call_close(db);
    rewrite_check_closed(folder, 1);
    folder_end(folder);
}

/* ---- Children and threads ---- */

static void a_child_that_lives_on_does_not_keep_the_lock(void) {
    char *folder = folder_new();
    int status = 0;
    tansu_db *db = call_open(folder);
    rewrite_all(db, 1, 1);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    call_close(db);
    CHECK_STATUS(TANSU_OK, other_process_open(folder, 0));
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, &status, 0) == child);
    rewrite_check_closed(folder, 1);
    folder_end(folder);
}

/* begin_and_end -- a thread that begins a transaction, hands it on, and ends. */
static void *begin_and_end(void *context) {
    tansu_txn *txn = NULL;
    CHECK_STATUS(TANSU_OK,
                 tansu_txn_begin(context, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL));
    return txn;
}

static void a_transaction_outlives_the_thread_that_began_it(void) {
    tansu_db *db = call_open(NULL);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *txn = NULL;
        REQUIRE(pthread_create(&thread, NULL, begin_and_end, db) == 0);
        pthread_join(thread, &txn);
        REQUIRE(txn != NULL);
        CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        if (i % 2 == 0)
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        else
            tansu_txn_abort(txn);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    }
    call_close(db);
}

/* As little stack as a system gives. ThreadSanitizer's frames are several times as large. */
#ifdef __SANITIZE_THREAD__
#define SMALL_STACK (4 * 1024 * 1024)
#else
#define SMALL_STACK (512 * 1024)
#endif

/* deep_work -- on a thread with a small stack. */
static void *deep_work(void *context) {
    tansu_db *db = context;
    bson_t *doc = BCON_NEW("a", BCON_INT32(1)), *query = BCON_NEW("x", BCON_INT32(1));
    for (int i = 1; i < TANSU_MAX_DEPTH; i++) {
        bson_t *outer = bson_new();
        bson_append_document(outer, "a", -1, doc);
        bson_destroy(doc);
        doc = outer;
    }
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
    for (int i = 0; i < 2000; i++) { /* far deeper than a query may be */
        bson_t *outer = bson_new(), list;
        bson_append_array_begin(outer, i % 2 == 0 ? "$and" : "$nor", -1, &list);
        bson_append_document(&list, "0", -1, query);
        bson_append_array_end(outer, &list);
        bson_destroy(query);
        query = outer;
        if (i % 45 == 0 || i > 1990) { /* each level takes two of TANSU_MAX_DEPTH */
            int64_t count = 0;
            CHECK_STATUS(i <= 45 ? TANSU_OK : TANSU_E_TOO_LARGE,
                         tansu_count(db, NULL, "c", document_of(query), TANSU_NO_DOCUMENT, &count,
                                     &call_error));
        }
    }
    maintenance_clean(db);
    bson_destroy(doc);
    bson_destroy(query);
    return NULL;
}

static void a_thread_needs_no_large_stack(void) {
    tansu_db *db = call_open(NULL);
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0 &&
            pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
    REQUIRE(pthread_create(&thread, &attributes, deep_work, db) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    call_close(db);
}

int main(void) {
    other_process_start();
    RUN(signals_interrupt_nothing);
    RUN(a_process_without_descriptors_loses_nothing);
    RUN(a_child_that_lives_on_does_not_keep_the_lock);
    RUN(a_transaction_outlives_the_thread_that_began_it);
    RUN(a_thread_needs_no_large_stack);
    other_process_end();
    return check_finish();
}
