/*
 * test_promises_limits.c -- what stands in the way of a database (files that
 * are none, a LOCK that was deleted, many segments), and what a query or an
 * index definition may ask for. Written from tansu.h and the documentation
 * alone.
 */
#include "toolkit/backing_up.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/churn.h"
#include "toolkit/folder.h"
#include "toolkit/left_behind.h"
#include "toolkit/sample.h"
#include "toolkit/stranger.h"
#include "toolkit/upkeep.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 5 /* seconds */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Files that are none ---- */

enum way { OPEN, OPEN_READ_ONLY, RESTORE, REPAIR, WAYS };

/* comes_back -- whether the call returns at all, with an error; in another
 * process, which is killed when it does not. */
static void comes_back(enum way way, const char *path, const char *to, const char *what) {
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
        _exit(result > 99 ? 1 : 0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        check_note("    %s, way %d: signal %d", what, (int)way, WTERMSIG(status));
}

static void a_pipe_in_place_of_a_file_holds_nobody_up(void) {
    static const char *const names[] = {"MANIFEST", "LOCK", "log/00000001.seg", "index/blocks.tch"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (enum way way = OPEN; way < WAYS; way++) {
            char *folder = sample_folder(), *work = folder_new();
            const char *path = folder_join(folder, names[i]);
            REQUIRE(unlink(path) == 0 && mkfifo(path, 0600) == 0);
            comes_back(way, folder, path_in(work, "to"), names[i]);
            folder_end(work);
            unlink(path);
            folder_end(folder);
        }
    char *work = folder_new();
    const char *path = path_in(work, "pipe");
    REQUIRE(mkfifo(path, 0600) == 0);
    for (enum way way = OPEN; way < WAYS; way++)
        comes_back(way, path, path_in(work, "to"), "the path itself");
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
    bool other_wrote = stranger_save(folder, "{'_id': 777}") == TANSU_OK;
    tansu_status first = call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 778}");
    CHECK(!(other_wrote && first == TANSU_OK));
    tansu_close(db);
    db = call_open(folder);
    CHECK_INT(50 + other_wrote + (first == TANSU_OK), call_count(db, NULL, "c", "{}"));
    upkeep_clean(db);
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
    churn(db, 64, 1);
    CHECK(call_figure(db, "logSegments") > 30);
    CHECK(descriptors() - before < 24);
    call_close(db);
    db = call_open(folder);
    churn_holds(db, NULL, 1);
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
    bson_t *query = branches(8000), *hints = BCON_NEW("$maxTimeMS", BCON_INT32(200));
    int64_t count = -1;
    double before = seconds();
    tansu_status status = tansu_count(db, NULL, "c", bson_get_data(query), query->len,
                                      bson_get_data(hints), hints->len, &count, &call_error);
    CHECK(status == TANSU_E_TIMEOUT || (status == TANSU_OK && count == 200));
    CHECK(seconds() - before < PATIENCE);
    bson_destroy(query);
    bson_destroy(hints);
    call_close(db);
}

int main(void) {
    stranger_start();
    RUN(a_pipe_in_place_of_a_file_holds_nobody_up);
    RUN(a_deleted_lock_lets_no_second_writer_in);
    RUN(descriptors_do_not_grow_with_segments);
    RUN(a_limit_on_time_holds_while_a_query_is_planned);
    stranger_end();
    return check_finish();
}
