/*
 * test_temporary_store.c -- the folder of a temporary database goes with its process, however that
 * ends, and nobody else's folder does.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* save -- saves a document. */
static void save(tansu_db *db, const char *document) {
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c", TANSU_SAVE, document));
}

/* open_in -- a temporary database in a folder, with a document. */
static tansu_db *open_in(const char *folder) {
    tansu_options options = call_options(folder);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options);
    save(db, "{'_id': 1}");
    return db;
}

/* names -- how many names a folder has. */
static int names(const char *folder) {
    DIR *listed = opendir(folder);
    int count = 0;
    CHECK(listed != NULL);
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(listed);
    return count;
}

/* end_of -- waits for a child, which must have exited normally. */
static void end_of(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void it_is_removed_at_exit(void) {
    char *folder = folder_new();
    pid_t child = fork();
    if (child == 0) {
        open_in(folder);
        open_in(folder);
        call_close(open_in(folder));
        exit(0);
    }
    end_of(child);
    CHECK_INT(0, names(folder));
    folder_end(folder);
}

static void after_a_crash_the_next_one_removes_it(void) {
    char *folder = folder_new();
    pid_t child = fork();
    if (child == 0) {
        open_in(folder);
        _exit(0);
    }
    end_of(child);
    CHECK_INT(1, names(folder));
    tansu_db *db = open_in(folder);
    CHECK_INT(1, names(folder));
    call_close(db);
    CHECK_INT(0, names(folder));
    folder_end(folder);
}

static void one_that_is_open_stays(void) {
    char *folder = folder_new();
    int ready[2], end[2];
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    pid_t child = fork();
    if (child == 0) {
        tansu_db *db = open_in(folder);
        CHECK(write(ready[1], "r", 1) == 1 && read(end[0], &byte, 1) == 1);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
        save(db, "{'_id': 2}");
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        call_close(db);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    tansu_db *db = open_in(folder), *second = open_in(folder);
    CHECK_INT(3, names(folder));
    CHECK(write(end[1], "e", 1) == 1);
    end_of(child);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    call_close(second);
    CHECK_INT(0, names(folder));
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(end[i]);
    }
    folder_end(folder);
}

static void a_forked_child_leaves_that_of_its_parent(void) {
    char *folder = folder_new();
    tansu_db *db = open_in(folder);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    end_of(child);
    CHECK_INT(1, names(folder));
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    CHECK_INT(0, names(folder));
    folder_end(folder);
}

static void other_folders_stay(void) {
    char *folder = folder_new();
    char path[4096], empty[4096];
    snprintf(path, sizeof path, "%s/tansu-temporary-abcdef", folder);
    tansu_options options = call_options(path);
    tansu_db *db = call_open_with(&options);
    save(db, "{'_id': 1}");
    call_close(db);
    snprintf(empty, sizeof empty, "%s/tansu-temporary-empty1", folder);
    CHECK_INT(0, mkdir(empty, 0700));
    call_close(open_in(folder));
    CHECK_INT(2, names(folder));
    db = call_open_with(&options);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(it_is_removed_at_exit);
    RUN(after_a_crash_the_next_one_removes_it);
    RUN(one_that_is_open_stays);
    RUN(a_forked_child_leaves_that_of_its_parent);
    RUN(other_folders_stay);
    return check_finish();
}
