/*
 * test_working_directory.c -- an open database is the folder that was opened, also when the program
 * changes its working folder. Written from tansu.h alone, over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/workload/rewrite_workload.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char before[1024];

static void a_database_stays_where_it_is_when_the_program_moves(void) {
    char *folder = folder_new(), *elsewhere = folder_new();
    REQUIRE(chdir(folder) == 0);
    tansu_db *db = call_open("db");
    rewrite_all(db, 1, 1);
    REQUIRE(chdir(elsewhere) == 0);
    rewrite_all(db, 4, 2); /* new segments */
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    rewrite_check(db, NULL, 2);
    maintenance_clean(db);
    call_close(db);
    CHECK(!file_exists(path_in(elsewhere, "db")));
    REQUIRE(chdir(before) == 0);
    rewrite_check_closed(path_in(folder, "db"), 2);
    folder_end(elsewhere);
    folder_end(folder);
}

static void another_database_of_that_name_is_left_alone(void) {
    char *folder = folder_new(), *elsewhere = folder_new();
    REQUIRE(chdir(elsewhere) == 0);
    tansu_db *other = call_open("db");
    rewrite_all(other, 1, 7);
    call_close(other);
    REQUIRE(chdir(folder) == 0);
    tansu_db *db = call_open("db");
    rewrite_all(db, 1, 1);
    REQUIRE(chdir(elsewhere) == 0);
    for (int i = 0; i < 4; i++) {
        rewrite_all(db, 1, 2);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    call_close(db);
    REQUIRE(chdir(before) == 0);
    rewrite_check_closed(path_in(elsewhere, "db"), 7);
    rewrite_check_closed(path_in(folder, "db"), 2);
    folder_end(elsewhere);
    folder_end(folder);
}

int main(void) {
    other_process_start();
    REQUIRE(getcwd(before, sizeof before) != NULL);
    RUN(a_database_stays_where_it_is_when_the_program_moves);
    RUN(another_database_of_that_name_is_left_alone);
    other_process_end();
    return check_finish();
}
