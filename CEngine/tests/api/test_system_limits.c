/*
 * test_system_limits.c -- what stands in the way of a database (files that
 * are none, a LOCK that was deleted, many segments), and what a query or an
 * index definition may ask for. Written from tansu.h and the documentation
 * alone.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/crashed_database.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/workload/rewrite_workload.h"
#include "support/workload/sample_database.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 5 /* seconds */

/* ---- Files that are none ---- */

enum way { OPEN, OPEN_READ_ONLY, RESTORE, REPAIR, WAYS };

/* A pipe without a writer: opening it for reading would wait forever. The call is made in another
 * process, which ends after a while, and returns its status. */
static void check_returns(enum way way, const char *path, const char *to, const char *what,
                          tansu_status expected) {
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_options options = call_options(path);
        tansu_db *db = NULL;
        tansu_status result;
        alarm(PATIENCE);
        options.read_only = way == OPEN_READ_ONLY;
        if (way <= OPEN_READ_ONLY)
            result = tansu_open(&options, &db, NULL);
        else if (way == RESTORE)
            result = tansu_restore(path, to, NULL, NULL, NULL, NULL);
        else
            result = tansu_repair(path, to, NULL, NULL, NULL, NULL);
        _exit((int)result);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(WIFEXITED(status)) || !CHECK_STATUS(expected, (tansu_status)WEXITSTATUS(status)))
        check_note("    %s, way %d", what, (int)way);
}

static void a_pipe_in_place_of_a_file_does_not_block(void) {
    /* Repair reads what it can, but takes the lock. Indexes are rebuilt from the log. */
    static const struct {
        const char *name;
        tansu_status expected[WAYS];
    } files[] = {
        {"MANIFEST", {TANSU_E_IO, TANSU_E_IO, TANSU_E_IO, TANSU_OK}},
        {"LOCK", {TANSU_E_IO, TANSU_E_IO, TANSU_E_IO, TANSU_E_IO}},
        {"log/00000001.seg", {TANSU_E_IO, TANSU_E_IO, TANSU_E_IO, TANSU_OK}},
        {"index/blocks.tch", {TANSU_OK, TANSU_OK, TANSU_OK, TANSU_OK}},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (enum way way = OPEN; way < WAYS; way++) {
            char *folder = sample_folder(), *work = folder_new();
            const char *path = folder_join(folder, files[i].name);
            REQUIRE(unlink(path) == 0 && mkfifo(path, 0600) == 0);
            check_returns(way, folder, path_in(work, "to"), files[i].name, files[i].expected[way]);
            folder_end(work);
            unlink(path);
            folder_end(folder);
        }
    static const tansu_status expected[WAYS] = {TANSU_E_EXISTS, TANSU_E_EXISTS, TANSU_E_IO,
                                                TANSU_E_NOT_FOUND};
    char *work = folder_new();
    const char *path = path_in(work, "pipe");
    REQUIRE(mkfifo(path, 0600) == 0);
    for (enum way way = OPEN; way < WAYS; way++)
        check_returns(way, path, path_in(work, "to"), "the path itself", expected[way]);
    unlink(path);
    folder_end(work);
}

/* ---- One writer ---- */

static void a_deleted_lock_lets_no_second_writer_in(void) {
    char *folder = sample_folder();
    tansu_options options = call_options(folder);
    tansu_db *db = call_open(folder);
    REQUIRE(unlink(folder_join(folder, "LOCK")) == 0);
    tansu_db *second = NULL;
    CHECK(tansu_open(&options, &second, NULL) != TANSU_OK);
    tansu_close(second);
    /* A stranger may be let in when the first then notices; they may not both
   * write. */
    bool other_wrote = other_process_save(folder, "{'_id': 777}") == TANSU_OK;
    tansu_status first = call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 778}");
    CHECK(!(other_wrote && first == TANSU_OK));
    tansu_close(db);
    db = call_open(folder);
    CHECK_INT(50 + other_wrote + (first == TANSU_OK), call_count(db, NULL, "c", "{}"));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Descriptors ---- */

static int descriptors(void) {
    int count = -3;
    DIR *folder = opendir("/dev/fd");
    REQUIRE(folder != NULL);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void descriptors_do_not_grow_with_segments(void) {
    char *folder = folder_new();
    int before = descriptors();
    tansu_db *db = call_open(folder);
    rewrite_all(db, 64, 1);
    CHECK(call_statistic(db, "logSegments") > 30);
    CHECK(descriptors() - before < 24);
    call_close(db);
    db = call_open(folder);
    rewrite_check(db, NULL, 1);
    CHECK(descriptors() - before < 24);
    call_close(db);
    CHECK_INT(before, descriptors());
    folder_end(folder);
}

/* ---- Queries and definitions ---- */

/* branches -- {"$or": [{"n": 0}, {"n": 1}, ...]}. */
static bson_t *branches(int count) {
    bson_t *query = bson_new(), list, branch;
    char key[16];
    bson_append_array_begin(query, "$or", -1, &list);
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_document_begin(&list, key, -1, &branch);
        bson_append_int32(&branch, "n", -1, i);
        bson_append_document_end(&list, &branch);
    }
    bson_append_array_end(query, &list);
    return query;
}

static void a_limit_on_time_holds_while_a_query_is_planned(void) {
    tansu_db *db = call_open(NULL);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < 200; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
    bson_t *query = branches(8000), *hints = BCON_NEW("$maxTimeMS", BCON_INT32(1));
    int64_t count = -1;
    /* Reading 8000 conditions alone takes longer than the limit. */
    CHECK_STATUS(TANSU_E_TIMEOUT, tansu_count(db, NULL, "c", document_of(query), document_of(hints),
                                              &count, &call_error));
    CHECK_OK(tansu_count(db, NULL, "c", document_of(query), TANSU_NO_DOCUMENT, &count, &call_error),
             &call_error);
    CHECK_INT(200, count);
    bson_destroy(query);
    bson_destroy(hints);
    call_close(db);
}

int main(void) {
    other_process_start();
    RUN(a_pipe_in_place_of_a_file_does_not_block);
    RUN(a_deleted_lock_lets_no_second_writer_in);
    RUN(descriptors_do_not_grow_with_segments);
    RUN(a_limit_on_time_holds_while_a_query_is_planned);
    other_process_end();
    return check_finish();
}
