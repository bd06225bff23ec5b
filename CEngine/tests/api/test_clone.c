/*
 * test_clone.c -- a database copied into a new one: from any store to any other, as of one commit,
 * and nothing left of a copy that was not finished.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/workload/sample_database.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* clone_to -- without progress; ends the program when it fails. */
static tansu_db *clone_to(tansu_db *db, const tansu_options *target) {
    tansu_db *copy = NULL;
    REQUIRE(CHECK_OK(tansu_clone(db, target, NULL, NULL, &copy, &call_error), &call_error));
    REQUIRE(copy != NULL);
    return copy;
}

/* options_of -- for a store of that kind. */
static tansu_options options_of(tansu_store store, const char *path) {
    tansu_options options = call_options(path);
    options.store = store;
    return options;
}

/* From memory to disk, on to memory, to a temporary store and to disk again: each is the same, and
 * changing one changes no other. */
static void a_chain_of_copies_holds_the_same(void) {
    random_source source = random_start(1);
    char *folder = folder_new();
    tansu_db *dbs[5];
    store_model models[5] = {{.most_pad = 20000}};
    tansu_options targets[5] = {
        options_of(TANSU_STORE_MEMORY, NULL),
        options_of(TANSU_STORE_PERSISTENT, path_in(folder, "one")),
        options_of(TANSU_STORE_MEMORY, NULL),
        options_of(TANSU_STORE_TEMPORARY, folder),
        options_of(TANSU_STORE_PERSISTENT, path_in(folder, "two")),
    };
    dbs[0] = call_open_with(&targets[0]);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 150; k++)
            store_model_step(&models[i], &source, dbs[i]);
        store_model_check(&models[i], &source, dbs[i], NULL);
        if (i == 4)
            break;
        models[i + 1] = models[i];
        dbs[i + 1] = clone_to(dbs[i], &targets[i + 1]);
        models[i + 1].commits = (uint64_t)call_statistic(dbs[i + 1], "sequence");
        store_model_check(&models[i + 1], &source, dbs[i + 1], NULL);
    }
    for (int i = 0; i < 5; i++) {
        store_model_check(&models[i], &source, dbs[i], NULL);
        call_close(dbs[i]);
    }
    for (int i = 1; i < 5; i += 3) {
        tansu_db *db = call_open(targets[i].path);
        store_model_check(&models[i], &source, db, NULL);
        call_close(db);
    }
    folder_end(folder);
}

static void options_and_indexes_come_along(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_ensure(db, NULL, "here", "{'local': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "people", NULL, "{'name': 1, 'age': -1}",
                        "{'sparse': true, 'caseInsensitive': true}"),
             &call_error);
    CHECK_OK(call_index(db, NULL, "people", "adults", "{'tags': 1}",
                        "{'unique': true, 'partialFilter': {'age': {'$gte': 18}}}"),
             &call_error);
    CHECK_OK(call_save(db, NULL, "people", TANSU_SAVE,
                       "{'_id': 2, 'name': 'Ann', 'age': 20, 'tags': ['a', 'b']}"),
             &call_error);
    CHECK_OK(call_save(db, NULL, "people", TANSU_SAVE, "{'_id': 1, 'name': 'bob', 'age': 3}"),
             &call_error);
    tansu_options memory = options_of(TANSU_STORE_MEMORY, NULL);
    tansu_db *copy = clone_to(db, &memory);
    CHECK_TEXT(call_collections(db, NULL), call_collections(copy, NULL));
    CHECK_TEXT(call_indexes(db, NULL, "people"), call_indexes(copy, NULL, "people"));
    CHECK_TEXT(call_find(db, NULL, "people", "{}", "{}"),
               call_find(copy, NULL, "people", "{}", "{}"));
    CHECK_STATUS(TANSU_E_NOT_UNIQUE,
                 call_save(copy, NULL, "people", TANSU_SAVE, "{'_id': 3, 'age': 30, 'tags': 'b'}"));
    call_close(copy);
    call_close(db);
}

/* What a progress function does: writes to the source, and ends the task at a call. */
typedef struct watch {
    tansu_db *db;
    unsigned calls;
    unsigned stop_at;
    uint64_t done;
} watch;

static int look_on(void *context, uint64_t done, uint64_t total) {
    watch *w = context;
    CHECK(done >= w->done && done <= total);
    w->done = done;
    if (w->db != NULL)
        CHECK_OK(call_save(w->db, NULL, "late", TANSU_INSERT, "{'n': 1}"), &call_error);
    return ++w->calls != w->stop_at;
}

static void a_copy_is_as_of_one_commit(void) {
    tansu_db *db = call_open(NULL);
    sample_fill(db);
    watch w = {.db = db};
    tansu_options memory = options_of(TANSU_STORE_MEMORY, NULL);
    tansu_db *copy = NULL;
    CHECK_OK(tansu_clone(db, &memory, look_on, &w, &copy, &call_error), &call_error);
    CHECK(w.calls > 1);
    CHECK_INT(50, w.done);
    sample_check(copy);
    CHECK_INT(0, call_count(copy, NULL, "late", "{}"));
    CHECK_INT(w.calls, call_count(db, NULL, "late", "{}"));
    call_close(copy);
    call_close(db);
}

static void a_cancelled_copy_is_taken_away(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(NULL);
    sample_fill(db);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 1}"), &call_error);
    const char *fresh = path_in(folder, "fresh"), *empty = path_in(folder, "empty");
    REQUIRE(mkdir(empty, 0755) == 0);
    for (int where = 0; where < 4; where++) {
        tansu_options targets[4] = {
            options_of(TANSU_STORE_PERSISTENT, fresh), options_of(TANSU_STORE_PERSISTENT, empty),
            options_of(TANSU_STORE_MEMORY, NULL), options_of(TANSU_STORE_TEMPORARY, empty)};
        tansu_status status = TANSU_E_CANCELLED;
        for (unsigned n = 1; status == TANSU_E_CANCELLED; n++) {
            watch w = {.stop_at = n};
            tansu_db *copy = NULL;
            status = tansu_clone(db, &targets[where], look_on, &w, &copy, &call_error);
            if (status == TANSU_OK) {
                CHECK(n > 3);
                sample_check(copy);
                call_close(copy);
                break;
            }
            CHECK_STATUS(TANSU_E_CANCELLED, status);
            CHECK(copy == NULL);
            if (where == 0)
                CHECK(!file_exists(fresh));
            CHECK(file_exists(empty) && !file_exists(path_in(empty, "MANIFEST")) &&
                  !file_exists(path_in(empty, "log")));
        }
        if (where == 1) {
            folder_remove(empty);
            REQUIRE(mkdir(empty, 0755) == 0);
        }
    }
    call_close(db);
    folder_end(folder);
}

/* kill_at -- a tansu_progress that ends its process. */
static int kill_at(void *context, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    if (--*(int *)context == 0)
        kill(getpid(), SIGKILL);
    return 1;
}

static void a_killed_copy_is_replaced_by_the_next(void) {
    char *there = sample_folder(), *folder = folder_new();
    tansu_options target = options_of(TANSU_STORE_PERSISTENT, path_in(folder, "copy"));
    for (int at = 1; at <= 2; at++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int left = at;
            tansu_db *db = call_open(there), *copy = NULL;
            (void)tansu_clone(db, &target, kill_at, &left, &copy, NULL);
            _exit(0);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && !file_exists(path_in(folder, "copy")));
    }
    tansu_db *db = call_open(there), *copy = NULL;
    if (CHECK_OK(tansu_clone(db, &target, NULL, NULL, &copy, &call_error), &call_error))
        sample_check(copy);
    CHECK_OK(call_save(copy, NULL, "c", TANSU_SAVE, "{'_id': 'more'}"), &call_error);
    call_close(copy);
    call_close(db);
    copy = call_open(path_in(folder, "copy"));
    CHECK_INT(51, call_count(copy, NULL, "c", "{}"));
    call_close(copy);
    folder_remove(path_in(folder, "copy"));
    CHECK(rmdir(folder) == 0);
    free(folder);
    folder_end(there);
}

static void what_is_there_is_not_copied_over(void) {
    char *there = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(NULL), *copy = NULL;
    tansu_options target = options_of(TANSU_STORE_PERSISTENT, there);
    uint64_t before = sample_checksum(there);
    CHECK_STATUS(TANSU_E_EXISTS, tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    CHECK_INT(before, sample_checksum(there));
    file_write(path_in(folder, "mine"), "precious", 8);
    target.path = folder; /* a folder with other things */
    CHECK_STATUS(TANSU_E_EXISTS, tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    CHECK_INT(8, file_size(path_in(folder, "mine")));
    target.path = path_in(folder, "mine");
    CHECK_STATUS(TANSU_E_EXISTS, tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    target.path = path_in(folder, "new");
    target.read_only = 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    target.read_only = 0;
    target.must_exist = 1;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    target.must_exist = 0;
    target.path = NULL;
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(db, &target, NULL, NULL, &copy, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_clone(db, NULL, NULL, NULL, &copy, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_clone(NULL, &target, NULL, NULL, &copy, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_clone(db, &target, NULL, NULL, NULL, &call_error));
    CHECK(!file_exists(path_in(folder, "new")) && copy == NULL);
    call_close(db);
    folder_end(folder);
    folder_end(there);
}

int main(void) {
    RUN(a_chain_of_copies_holds_the_same);
    RUN(options_and_indexes_come_along);
    RUN(a_copy_is_as_of_one_commit);
    RUN(a_cancelled_copy_is_taken_away);
    RUN(a_killed_copy_is_replaced_by_the_next);
    RUN(what_is_there_is_not_copied_over);
    return check_finish();
}
