/*
 * test_promises_moving.c -- an open database is the folder that was opened, whatever its path leads to later: when the program changes
 * its working folder, and when the folder is moved and another takes its place. Written from tansu.h alone, over the public API only.
 */
#include "toolkit/backing_up.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/churn.h"
#include "toolkit/folder.h"
#include "toolkit/stranger.h"
#include "toolkit/upkeep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char before[1024];

static void a_database_stays_where_it_is_when_the_program_moves(void) {
    char *folder = folder_new(), *elsewhere = folder_new();
    REQUIRE(chdir(folder) == 0);
    tansu_db *db = call_open("db");
    churn(db, 1, 1);
    REQUIRE(chdir(elsewhere) == 0);
    churn(db, 4, 2); /* new segments */
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    churn_holds(db, NULL, 2);
    upkeep_clean(db);
    call_close(db);
    CHECK(!file_exists(path_in(elsewhere, "db")));
    REQUIRE(chdir(before) == 0);
    churn_holds_at(path_in(folder, "db"), 2);
    folder_end(elsewhere);
    folder_end(folder);
}

static void another_database_of_that_name_is_left_alone(void) {
    char *folder = folder_new(), *elsewhere = folder_new();
    REQUIRE(chdir(elsewhere) == 0);
    tansu_db *other = call_open("db");
    churn(other, 1, 7);
    call_close(other);
    REQUIRE(chdir(folder) == 0);
    tansu_db *db = call_open("db");
    churn(db, 1, 1);
    REQUIRE(chdir(elsewhere) == 0);
    for (int i = 0; i < 4; i++) {
        churn(db, 1, 2);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    call_close(db);
    REQUIRE(chdir(before) == 0);
    churn_holds_at(path_in(elsewhere, "db"), 7);
    churn_holds_at(path_in(folder, "db"), 2);
    folder_end(elsewhere);
    folder_end(folder);
}

/* save_what_can_be -- documents {_id: 0, 1, 2, ...} of 2 KiB in the collection "d" until one is refused, at most so many; how many. */
static int save_what_can_be(tansu_db *db, int most) {
    char pad[2048];
    int saved = 0;
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (bool refused = false; !refused && saved < most; saved += !refused) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(saved), "pad", BCON_UTF8(pad));
        refused = call_save_bson(db, NULL, "d", TANSU_SAVE, doc) != TANSU_OK;
        bson_destroy(doc);
    }
    return saved;
}

/* An open database's folder is moved away, and a backup restored to its place: from then on the handle may refuse to write, but what it
 * acknowledges is in the folder that it has open, and nothing of it in the other. */
static void a_backup_restored_in_its_place_is_another_database(void) {
    char *work = folder_new();
    const char *path = path_in(work, "db"), *moved = path_in(work, "moved");
    tansu_db *db = call_open(path);
    churn(db, 1, 1);
    CHECK_OK(backup(db, path_in(work, "backup"), TANSU_BACKUP_FOLDER), &call_error);
    REQUIRE(rename(path, moved) == 0);
    CHECK_OK(restore(path_in(work, "backup"), path), &call_error);
    int saved = save_what_can_be(db, 1500);
    tansu_checkpoint(db, NULL); /* either way: it may not be possible any more */
    tansu_close(db);
    churn_holds_at(path, 1);
    if (CHECK_STATUS(TANSU_OK, stranger_open(moved, 0))) {
        db = call_open(moved);
        churn_holds(db, NULL, 1);
        CHECK_INT(saved, call_count(db, NULL, "d", "{}"));
        upkeep_clean(db);
        call_close(db);
    }
    folder_end(work);
}

int main(void) {
    stranger_start();
    REQUIRE(getcwd(before, sizeof before) != NULL);
    RUN(a_database_stays_where_it_is_when_the_program_moves);
    RUN(another_database_of_that_name_is_left_alone);
    RUN(a_backup_restored_in_its_place_is_another_database);
    stranger_end();
    return check_finish();
}
