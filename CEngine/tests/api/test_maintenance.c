/*
 * test_maintenance.c -- what tansu.h and docs/durability.md promise of long tasks: what a cancelled
 * or killed compaction, backup, restore, repair or clone leaves, which tasks exclude one another,
 * and what open snapshots see concurrently. Written from the header and the documentation alone,
 * over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/rewrite_workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* after -- a progress that cancels its task at a certain call, counted from 1. */
static int after(void *context, uint64_t done, uint64_t total) {
    int *calls = context;
    (void)done, (void)total;
    return --*calls > 0;
}

/* ---- Compaction ---- */

static void compaction_reclaims_space_and_keeps_what_snapshots_see(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    rewrite_all(db, 5, 1);
    tansu_txn *first = call_begin(db, TANSU_TXN_READ);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    rewrite_all(db, 5, 2);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    tansu_txn *second = call_begin(db, TANSU_TXN_READ);
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    rewrite_check(db, first, 1);
    rewrite_check(db, second, 2);
    int seen = 0;
    for (const char *text; (text = call_next(cursor))[0] == '{'; seen++)
        CHECK(strstr(text, "\"n\" : 1,") != NULL);
    CHECK_INT(REWRITE_DOCUMENTS, seen);
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    tansu_cursor_close(cursor);
    tansu_txn_abort(first);
    tansu_txn_abort(second);
    int64_t before = call_statistic(db, "logBytes");
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK(call_statistic(db, "logBytes") <= before);
    CHECK(call_statistic(db, "logBytes") <= 3 << 20); /* nothing is alive */
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

static void a_feed_from_the_beginning_delivers_the_contents_after_compaction(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    tansu_feed *feed = NULL;
    tansu_change change;
    bool seen[REWRITE_DOCUMENTS] = {false};
    int count = 0;
    rewrite_all(db, 4, 1);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_OK(tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &feed, &call_error), &call_error);
    tansu_change_init(&change);
    while (tansu_feed_next(feed, 0, &change, &call_error) == TANSU_OK) {
        bson_t id;
        bson_iter_t iter;
        if (change.id.data == NULL || !bson_init_static(&id, change.id.data, change.id.size) ||
            !bson_iter_init_find(&iter, &id, "_id"))
            continue;
        int32_t at = bson_iter_int32(&iter);
        if (CHECK(at >= 0 && at < REWRITE_DOCUMENTS) && !seen[at]) {
            seen[at] = true;
            count++;
        }
    }
    CHECK_INT(REWRITE_DOCUMENTS, count);
    tansu_feed_close(feed);
    call_close(db);
    folder_end(folder);
}

/* ---- Cancelled at every step ---- */

/* A task with a progress that cancels it at its calls one after the other, until it comes
 * through. */
typedef tansu_status (*task)(tansu_db *db, const char *from, const char *to, int *calls);

static tansu_status task_backup_folder(tansu_db *db, const char *from, const char *to, int *calls) {
    (void)from;
    return tansu_backup(db, to, TANSU_BACKUP_FOLDER, after, calls, NULL, &call_error);
}

static tansu_status task_backup_file(tansu_db *db, const char *from, const char *to, int *calls) {
    (void)from;
    return tansu_backup(db, to, TANSU_BACKUP_FILE, after, calls, NULL, &call_error);
}

static tansu_status task_restore(tansu_db *db, const char *from, const char *to, int *calls) {
    (void)db;
    return tansu_restore(from, to, after, calls, NULL, &call_error);
}

static tansu_status task_repair(tansu_db *db, const char *from, const char *to, int *calls) {
    (void)db;
    return tansu_repair(from, to, after, calls, NULL, &call_error);
}

static tansu_status task_clone(tansu_db *db, const char *from, const char *to, int *calls) {
    tansu_db *copy = NULL;
    tansu_options options = call_options(to);
    (void)from;
    tansu_status status = tansu_clone(db, &options, after, calls, &copy, &call_error);
    CHECK((status == TANSU_OK) == (copy != NULL));
    tansu_close(copy);
    return status;
}

static void a_cancelled_task_leaves_nothing(void) {
    static const task tasks[] = {task_backup_folder, task_backup_file, task_restore, task_repair,
                                 task_clone};
    char *folder = folder_new(), *work = folder_new();
    const char *from = path_in(work, "from"), *to = path_in(work, "to");
    tansu_db *db = call_open(folder);
    rewrite_all(db, 4, 7);
    CHECK_OK(backup(db, from, TANSU_BACKUP_FOLDER), &call_error);
    for (size_t t = 0; t < sizeof tasks / sizeof tasks[0]; t++) {
        int cancelled = 0;
        tansu_status status = TANSU_E_CANCELLED;
        for (int at = 1; status == TANSU_E_CANCELLED && at < 100000; at += 1 + at / 4) {
            int calls = at;
            status = tasks[t](db, from, to, &calls);
            if (status == TANSU_E_CANCELLED) {
                cancelled++;
                CHECK(nothing_at(to));
            }
        }
        CHECK_STATUS(TANSU_OK, status);
        CHECK(cancelled > 0);
        if (t == 1) {
            CHECK_OK(restore(to, path_in(work, "restored")), &call_error);
            rewrite_check_closed(path_in(work, "restored"), 7);
            remove_at(path_in(work, "restored"));
        } else {
            rewrite_check_closed(to, 7);
        }
        remove_at(to);
    }
    rewrite_check(db, NULL, 7);
    call_close(db);
    folder_end(work);
    folder_end(folder);
}

static void cancelled_compactions_and_verifications_change_nothing(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    rewrite_all(db, 5, 1);
    int cancelled = 0;
    for (int at = 1; at < 60; at += 1 + at / 8) {
        int calls = at;
        tansu_status status = tansu_verify(db, after, &calls, NULL, &call_error);
        CHECK_STATUS(calls > 0 ? TANSU_OK : TANSU_E_CANCELLED, status);
        cancelled += status == TANSU_E_CANCELLED;
        calls = at;
        status = tansu_compact(db, after, &calls, NULL, &call_error);
        CHECK_STATUS(calls > 0 ? TANSU_OK : TANSU_E_CANCELLED, status);
        cancelled += status == TANSU_E_CANCELLED;
        rewrite_check(db, NULL, 1);
        if (at % 3 == 0)
            rewrite_all(db, 2, 1);
        maintenance_clean(db);
    }
    CHECK(cancelled > 2);
    call_close(db);
    rewrite_check_closed(folder, 1);
    folder_end(folder);
}

/* ---- Killed at a step ---- */

/* kill_at -- a progress at whose call the process kills itself. */
static int kill_at(void *context, uint64_t done, uint64_t total) {
    int *calls = context;
    (void)done, (void)total;
    if (--*calls == 0)
        raise(SIGKILL);
    return 1;
}

/* killed -- opens the database in another process, which is killed at a call of the task's
 * progress; false when the task ended before. Kind: 0 and 1 backups, 2 compaction, 3 restore, 4
 * repair. */
static bool killed(const char *folder, const char *from, const char *to, int kind, int at) {
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_options options = call_options(folder);
        tansu_db *db = NULL;
        if (kind < 3 && tansu_open(&options, &db, NULL) != TANSU_OK)
            _exit(1);
        if (kind < 2)
            tansu_backup(db, to, backup_forms[kind], kill_at, &at, NULL, NULL);
        else if (kind == 2)
            tansu_compact(db, kill_at, &at, NULL, NULL);
        else if (kind == 3)
            tansu_restore(from, to, kill_at, &at, NULL, NULL);
        else
            tansu_repair(from, to, kill_at, &at, NULL, NULL);
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void a_killed_task_leaves_nothing_with_that_name(void) {
    for (int kind = 0; kind < 5; kind++) {
        char *folder = folder_new(), *work = folder_new();
        const char *from = path_in(work, "from"), *to = path_in(work, "to");
        tansu_db *db = call_open(folder);
        int kills = 0;
        rewrite_all(db, 4, 3);
        CHECK_OK(backup(db, from, TANSU_BACKUP_FOLDER), &call_error);
        call_close(db);
        for (int at = 1; at < 40 && killed(folder, from, to, kind, at); at += 1 + at / 3) {
            kills++;
            CHECK(!file_exists(to));
            if (kind == 2)
                rewrite_check_closed(folder, 3);
        }
        CHECK(kills > 0);
        /* And the next one to the same name goes through. */
        remove_at(to);
        if (kind < 3) {
            db = call_open(folder);
            rewrite_check(db, NULL, 3);
            CHECK_OK(kind < 2 ? backup(db, to, backup_forms[kind])
                              : tansu_compact(db, NULL, NULL, NULL, &call_error),
                     &call_error);
            call_close(db);
        } else if (kind == 3) {
            CHECK_OK(restore(from, to), &call_error);
        } else {
            CHECK_STATUS(TANSU_OK, maintenance_repair(from, to));
        }
        if (kind != 1 && kind != 2)
            rewrite_check_closed(to, 3);
        folder_end(work);
        folder_end(folder);
    }
}

/* ---- One at a time ---- */

struct busy {
    tansu_db *db;
    const char *work;
    int calls;
};

/* others_are_busy -- called within a task: the other tasks are BUSY, reading and writing go on. */
static int others_are_busy(void *context, uint64_t done, uint64_t total) {
    struct busy *b = context;
    (void)done, (void)total;
    if (b->calls++ > 0)
        return 1;
    const char *to = path_in(b->work, "other");
    CHECK_STATUS(TANSU_E_BUSY, tansu_compact(b->db, NULL, NULL, NULL, NULL));
    CHECK_STATUS(TANSU_E_BUSY, tansu_verify(b->db, NULL, NULL, NULL, NULL));
    for (int form = 0; form < 2; form++) {
        CHECK_STATUS(TANSU_E_BUSY,
                     tansu_backup(b->db, to, backup_forms[form], NULL, NULL, NULL, NULL));
        CHECK(nothing_at(to));
    }
    CHECK_INT(REWRITE_DOCUMENTS, call_count(b->db, NULL, "c", "{}"));
    CHECK_OK(call_save(b->db, NULL, "beside", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(1, call_count(b->db, NULL, "beside", "{}"));
    return 1;
}

static void tasks_exclude_one_another_and_nobody_else(void) {
    char *folder = folder_new(), *work = folder_new();
    tansu_db *db = call_open(folder);
    struct busy b = {db, work, 0};
    rewrite_all(db, 4, 1);
    CHECK_OK(tansu_compact(db, others_are_busy, &b, NULL, &call_error), &call_error);
    CHECK(b.calls > 0);
    b.calls = 0;
    CHECK_OK(tansu_verify(db, others_are_busy, &b, NULL, &call_error), &call_error);
    CHECK(b.calls > 0);
    for (int form = 0; form < 2; form++) {
        const char *to = path_in(work, form == 0 ? "folder" : "file");
        b.calls = 0;
        CHECK_OK(tansu_backup(db, to, backup_forms[form], others_are_busy, &b, NULL, &call_error),
                 &call_error);
        CHECK(b.calls > 0);
    }
    maintenance_clean(db);
    call_close(db);
    folder_end(work);
    folder_end(folder);
}

/* ---- What is in the way ---- */

static void what_is_at_the_target_stays(void) {
    char *folder = folder_new(), *work = folder_new();
    const char *file = path_in(work, "file"), *empty = path_in(work, "empty");
    const char *other = path_in(work, "other"), *from = path_in(work, "from");
    tansu_db *db = call_open(folder), *copy = NULL;
    rewrite_all(db, 1, 1);
    file_write(file, "mine", 4);
    char *made = folder_new();
    REQUIRE(rename(made, empty) == 0);
    free(made);
    CHECK_OK(backup(db, from, TANSU_BACKUP_FOLDER), &call_error);
    CHECK_OK(backup(db, other, TANSU_BACKUP_FOLDER), &call_error);
    const char *const taken[] = {file, empty, other};
    for (size_t i = 0; i < 3; i++) {
        for (int form = 0; form < 2; form++)
            CHECK_STATUS(TANSU_E_EXISTS, backup(db, taken[i], backup_forms[form]));
        CHECK_STATUS(TANSU_E_EXISTS, restore(from, taken[i]));
        CHECK_STATUS(TANSU_E_EXISTS, maintenance_repair(from, taken[i]));
    }
    tansu_options options = call_options(other);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_clone(db, &options, NULL, NULL, &copy, NULL));
    tansu_buffer b = TANSU_BUFFER_INIT;
    file_read(file, &b);
    CHECK_BYTES("mine", 4, b.data, b.size);
    tansu_buffer_free(&b);
    call_close(db);
    rewrite_check_closed(other, 1);
    folder_end(work);
    folder_end(folder);
}

static void an_open_database_is_no_source(void) {
    char *folder = folder_new(), *work = folder_new();
    const char *to = path_in(work, "to");
    tansu_db *db = call_open(folder);
    rewrite_all(db, 1, 1);
    CHECK_STATUS(TANSU_E_LOCKED, restore(folder, to));
    CHECK_STATUS(TANSU_E_LOCKED, maintenance_repair(folder, to));
    CHECK(nothing_at(to));
    rewrite_check(db, NULL, 1);
    call_close(db);
    CHECK_STATUS(TANSU_E_NOT_FOUND, restore(path_in(work, "none"), to));
    CHECK_STATUS(TANSU_E_NOT_FOUND, maintenance_repair(path_in(work, "none"), to));
    CHECK_STATUS(TANSU_E_NOT_FOUND, maintenance_repair(work, to));
    CHECK(nothing_at(to));
    folder_end(work);
    folder_end(folder);
}

static void a_backup_is_of_one_commit(void) {
    char *folder = folder_new(), *work = folder_new();
    const char *to = path_in(work, "to");
    tansu_db *db = call_open(folder);
    tansu_buffer report = TANSU_BUFFER_INIT;
    struct busy b = {db, work, 0};
    bson_t doc;
    bson_iter_t iter;
    rewrite_all(db, 3, 1);
    int64_t sequence = call_statistic(db, "sequence");
    CHECK_OK(tansu_backup(db, to, TANSU_BACKUP_FOLDER, others_are_busy, &b, &report, &call_error),
             &call_error);
    REQUIRE(bson_init_static(&doc, report.data, report.size));
    CHECK(bson_iter_init_find(&iter, &doc, "sequence"));
    int64_t reported = bson_iter_as_int64(&iter);
    CHECK(bson_iter_init_find(&iter, &doc, "documents"));
    int64_t documents = bson_iter_as_int64(&iter);
    CHECK(reported >= sequence && reported <= call_statistic(db, "sequence"));
    call_close(db);
    db = call_open(to);
    CHECK_INT(reported, call_statistic(db, "sequence"));
    CHECK_INT(documents, call_count(db, NULL, "c", "{}") + call_count(db, NULL, "beside", "{}"));
    CHECK_INT(REWRITE_DOCUMENTS, call_count(db, NULL, "c", "{}"));
    call_close(db);
    tansu_buffer_free(&report);
    folder_end(work);
    folder_end(folder);
}

/* ---- Text ---- */

static int refuse_bytes(void *context, const void *bytes, size_t size) {
    int *calls = context;
    (void)bytes, (void)size;
    return --*calls > 0;
}

struct source {
    const char *text;
    size_t at;
    bool fails;
};

static ptrdiff_t give_bytes(void *context, void *bytes, size_t room) {
    struct source *s = context;
    size_t left = strlen(s->text) - s->at;
    if (left == 0)
        return s->fails ? -1 : 0;
    size_t size = left < room ? left : room;
    memcpy(bytes, s->text + s->at, size);
    s->at += size;
    return (ptrdiff_t)size;
}

static void a_load_that_fails_keeps_nothing_when_atomic(void) {
    tansu_db *db = call_open(NULL);
    bson_t *options = BCON_NEW("collection", BCON_UTF8("c"), "atomic", BCON_BOOL(true));
    static const struct {
        const char *text;
        bool fails;
        tansu_status status;
        int64_t line;
    } cases[] = {{"{\"_id\": 1}\n{\"_id\": 2}\n{\"_id\": \n", false, TANSU_E_INVALID_JSON, 3},
                 {"{\"_id\": 1}\n{\"_id\": 1}\n", false, TANSU_E_EXISTS, 2},
                 {"{\"_id\": 1}\n", true, TANSU_E_IO, -2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct source source = {cases[i].text, 0, cases[i].fails};
        CHECK_STATUS(cases[i].status, tansu_load(db, give_bytes, &source, document_of(options),
                                                 NULL, NULL, NULL, &call_error));
        if (cases[i].line >= 0)
            CHECK_INT(cases[i].line, call_error.offset);
        CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    }
    int calls = 1;
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_STATUS(TANSU_E_IO, tansu_dump(db, NULL, refuse_bytes, &calls, TANSU_NO_DOCUMENT, NULL,
                                        NULL, NULL, &call_error));
    bson_destroy(options);
    call_close(db);
}

int main(void) {
    RUN(compaction_reclaims_space_and_keeps_what_snapshots_see);
    RUN(a_feed_from_the_beginning_delivers_the_contents_after_compaction);
    RUN(a_cancelled_task_leaves_nothing);
    RUN(cancelled_compactions_and_verifications_change_nothing);
    RUN(a_killed_task_leaves_nothing_with_that_name);
    RUN(tasks_exclude_one_another_and_nobody_else);
    RUN(what_is_at_the_target_stays);
    RUN(an_open_database_is_no_source);
    RUN(a_backup_is_of_one_commit);
    RUN(a_load_that_fails_keeps_nothing_when_atomic);
    return check_finish();
}
