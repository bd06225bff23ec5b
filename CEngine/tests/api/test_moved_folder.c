/*
 * test_moved_folder.c -- a handle whose folder was moved, removed or replaced says so, and touches
 * nothing of what is at the path by then. Written from tansu.h, over the public API only.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/other_process.h"
#include "support/workload/sample_database.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEW_DOCUMENT "{'_id': 'new'}"

/* What becomes of the folder of an open database. */
typedef enum fate {
    FATE_MOVED,
    FATE_REMOVED,
    FATE_REPLACED,       /* removed, and another process makes a new database there */
    FATE_RESTORED,       /* removed, and a backup is restored there */
    FATE_LINKED,         /* moved, and a symbolic link to another database is there */
    FATE_PARENT_MOVED,   /* a folder above it was moved */
    FATE_PARENT_LINKED,  /* and a symbolic link to another place is there */
    FATE_LOG_REPLACED,   /* the folder `log` is of another database */
    FATE_INDEX_REPLACED, /* the folder `index` is of another database */
    /* The folders stay, and a handle that writes says so. */
    FATE_FILES_REPLACED,    /* by others of the same names, as rsync does */
    FATE_FILES_OVERWRITTEN, /* as cp does */
    FATE_OLDER_FILES,       /* with those of an older copy of the same database */
    FATE_MANIFEST_REMOVED,
    FATE_SEGMENTS_REMOVED,
    FATES
} fate;

#define FOLDER_FATES FATE_FILES_REPLACED

static const char *const fate_names[] = {"moved",
                                         "removed",
                                         "replaced",
                                         "restored",
                                         "linked",
                                         "parent moved",
                                         "parent linked",
                                         "log replaced",
                                         "index replaced",
                                         "files replaced",
                                         "files overwritten",
                                         "older files",
                                         "MANIFEST removed",
                                         "segments removed"};

/* Paths in a folder for a test. `watched`: what must stay as it is after the folder's fate. */
typedef struct place {
    char *root;
    char parent[400], path[450], aside[400], other[400], backup[400], watched[460];
} place;

/* The other database and its backup, made once. */
static char *made;

static void make_other(void) {
    made = folder_new();
    char other[400], file[400];
    snprintf(other, sizeof other, "%s/other", made);
    snprintf(file, sizeof file, "%s/backup", made);
    REQUIRE(other_process_save(other, NEW_DOCUMENT) == TANSU_OK);
    tansu_db *db = call_open(other);
    REQUIRE(backup(db, file, TANSU_BACKUP_FILE) == TANSU_OK);
    call_close(db);
}

static place place_new(void) {
    place p = {.root = folder_new()};
    folder_remove(p.root);
    folder_copy(made, p.root);
    snprintf(p.parent, sizeof p.parent, "%s/parent", p.root);
    snprintf(p.path, sizeof p.path, "%s/parent/db.tansu", p.root);
    snprintf(p.aside, sizeof p.aside, "%s/aside", p.root);
    snprintf(p.other, sizeof p.other, "%s/other", p.root);
    snprintf(p.backup, sizeof p.backup, "%s/backup", p.root);
    REQUIRE(mkdir(p.parent, 0755) == 0);
    snprintf(p.watched, sizeof p.watched, "%s", p.path);
    return p;
}

/* replace_part -- a folder of the database becomes that of the other one. */
static void replace_part(place *p, const char *name) {
    char part[512], from[512];
    snprintf(part, sizeof part, "%s/%s", p->path, name);
    snprintf(from, sizeof from, "%s/%s", p->other, name);
    folder_remove(part);
    folder_copy(from, part);
    strcat(p->watched, "/");
    strcat(p->watched, name);
}

/* in_folders -- runs a shell command with the database's folder, and another one. */
static void in_folders(const place *p, const char *other, const char *commands) {
    char command[2048];
    snprintf(command, sizeof command, "set -e; db=%s other=%s; %s", p->path, other, commands);
    REQUIRE(system(command) == 0);
}

static void meet(place *p, fate f) {
    char beside[512];
    switch (f) {
    case FATE_MOVED: REQUIRE(rename(p->path, p->aside) == 0); break;
    case FATE_REMOVED: folder_remove(p->path); break;
    case FATE_REPLACED:
        folder_remove(p->path);
        REQUIRE(other_process_save(p->path, NEW_DOCUMENT) == TANSU_OK);
        break;
    case FATE_RESTORED:
        folder_remove(p->path);
        REQUIRE(restore(p->backup, p->path) == TANSU_OK);
        break;
    case FATE_LINKED:
        REQUIRE(rename(p->path, p->aside) == 0 && symlink(p->other, p->path) == 0);
        break;
    case FATE_PARENT_MOVED: REQUIRE(rename(p->parent, p->aside) == 0); break;
    case FATE_PARENT_LINKED:
        REQUIRE(rename(p->parent, p->aside) == 0 && symlink(p->root, p->parent) == 0);
        snprintf(beside, sizeof beside, "%s/db.tansu", p->root);
        folder_copy(p->other, beside);
        break;
    case FATE_LOG_REPLACED: replace_part(p, "log"); break;
    case FATE_INDEX_REPLACED: replace_part(p, "index"); break;
    case FATE_FILES_REPLACED:
        in_folders(p, p->other,
                   "cd $db; rm -f log/* index/* MANIFEST KEY; cd $other; "
                   "for f in $(ls KEY 2>/dev/null) MANIFEST log/* index/*; do cp $f $db/$f.tmp; mv "
                   "$db/$f.tmp $db/$f; done");
        break;
    case FATE_FILES_OVERWRITTEN: in_folders(p, p->other, "cp -r $other/. $db/"); break;
    case FATE_OLDER_FILES: in_folders(p, p->aside, "cp -r $other/. $db/"); break;
    case FATE_MANIFEST_REMOVED: in_folders(p, p->other, "rm $db/MANIFEST"); break;
    case FATE_SEGMENTS_REMOVED: in_folders(p, p->other, "rm $db/log/*.seg"); break;
    case FATES: break;
    }
}

/* has_other -- whether a database is at the path after that. */
static bool has_other(fate f) {
    return f == FATE_REPLACED || f == FATE_RESTORED || f == FATE_LINKED ||
           f == FATE_PARENT_LINKED || f == FATE_FILES_REPLACED || f == FATE_FILES_OVERWRITTEN;
}

/* state_of -- a checksum of the names and bytes of all files at a path. */
static uint64_t state_of(const char *path) {
    char command[1024], line[64] = "";
    snprintf(command, sizeof command,
             "cd %s 2>/dev/null && { find -L . -type f -exec cksum {} + ; } | sort | cksum", path);
    FILE *pipe = popen(command, "r");
    REQUIRE(pipe != NULL);
    if (fgets(line, sizeof line, pipe) == NULL)
        line[0] = 0;
    pclose(pipe);
    return strtoull(line, NULL, 10);
}

static void wait_for_tick(void) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

static void check_other(const place *p, fate f) {
    tansu_db *db = NULL;
    if (!has_other(f))
        return;
    if (CHECK_OK(tansu_open_path(p->path, &db, &call_error), &call_error))
        CHECK_TEXT("{ \"_id\" : \"new\" }", call_get(db, NULL, "c", NEW_DOCUMENT));
    call_close(db);
}

/* One life of a handle: what it wrote before, and whether it waits for the disk. */
static void live(fate f, tansu_durability durability, bool checkpointed) {
    place p = place_new();
    if (f == FATE_OLDER_FILES) {
        REQUIRE(other_process_save(p.path, "{'_id': 'oldest'}") == TANSU_OK);
        folder_copy(p.path, p.aside);
    }
    tansu_options options = call_options(p.path);
    options.durability = durability;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 'old'}"), &call_error);
    if (checkpointed)
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 'half'}"), &call_error);

    meet(&p, f);
    if (durability != TANSU_DURABILITY_FULL)
        wait_for_tick();
    uint64_t state = state_of(p.watched);
    CHECK_STATUS(TANSU_E_MOVED, tansu_txn_commit(txn, NULL, &call_error));
    CHECK(strncmp(call_error.context, p.path, strlen(p.path)) == 0);
    CHECK_STATUS(TANSU_E_MOVED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 'late'}"));
    CHECK_STATUS(TANSU_E_MOVED, call_index(db, NULL, "c", "n", "{'n': 1}", NULL));
    CHECK_STATUS(TANSU_E_MOVED, tansu_checkpoint(db, NULL));
    CHECK_STATUS(TANSU_E_MOVED, tansu_sync(db, NULL));
    CHECK_STATUS(TANSU_E_MOVED, tansu_compact(db, NULL, NULL, NULL, NULL));
    if (f != FATE_FILES_OVERWRITTEN && f != FATE_OLDER_FILES) {
        CHECK_TEXT("{ \"_id\" : \"old\" }", call_get(db, NULL, "c", "{'_id': 'old'}"));
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    }
    CHECK_STATUS(TANSU_E_MOVED, tansu_shutdown(db, &call_error));
    if (!CHECK(state == state_of(p.watched)))
        check_note("%s, durability %d", fate_names[f], (int)durability);
    check_other(&p, f);
    if (f == FATE_MOVED) {
        db = call_open(p.aside);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
        call_close(db);
    }
    folder_end(p.root);
}

static void a_handle_touches_nothing_but_its_own_folder(void) {
    for (int f = 0; f < FATES; f++)
        live((fate)f, f % 3 == 2 ? TANSU_DURABILITY_PROCESS : TANSU_DURABILITY_FULL, f % 2 == 0);
}

static void closing_without_another_write_touches_nothing_either(void) {
    for (int f = 0; f < FATES; f++) {
        place p = place_new();
        tansu_db *db = call_open(p.path);
        if (f == FATE_OLDER_FILES)
            folder_copy(p.path, p.aside);
        sample_fill(db);
        meet(&p, (fate)f);
        uint64_t state = state_of(p.watched);
        CHECK_STATUS(TANSU_E_MOVED, tansu_shutdown(db, &call_error));
        CHECK(state == state_of(p.watched));
        check_other(&p, (fate)f);
        folder_end(p.root);
    }
}

/* What takes place before the next check goes to the folder that was opened, wherever it is. */
static void what_a_large_transaction_writes_goes_to_the_old_folder(void) {
    place p = place_new();
    tansu_options options = call_options(p.path);
    options.segment_size = 1024 * 1024;
    options.durability = TANSU_DURABILITY_FULL;
    tansu_db *db = call_open_with(&options);
    sample_fill(db);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "big", TANSU_SAVE, "{'_id': 999}"), &call_error);
    meet(&p, FATE_LINKED);
    uint64_t state = state_of(p.watched);
    for (int i = 0; i < 4000; i++) {
        char json[1024];
        snprintf(json, sizeof json, "{'_id': %d, 'text': '%900d'}", 1000 + i, i);
        if (call_save(db, txn, "big", TANSU_SAVE, json) != TANSU_OK)
            break;
    }
    CHECK_STATUS(TANSU_E_MOVED, tansu_txn_commit(txn, NULL, NULL));
    CHECK(state == state_of(p.watched));
    CHECK_STATUS(TANSU_E_MOVED, tansu_shutdown(db, NULL));
    CHECK(state == state_of(p.watched));
    db = call_open(p.aside);
    sample_check(db);
    call_close(db);
    folder_end(p.root);
}

static void a_folder_that_comes_back_can_be_written_again(void) {
    place p = place_new();
    tansu_options options = call_options(p.path);
    options.durability = TANSU_DURABILITY_FULL;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    REQUIRE(rename(p.path, p.aside) == 0);
    CHECK_STATUS(TANSU_E_MOVED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"));
    REQUIRE(rename(p.aside, p.path) == 0);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    /* A link to the folder at its old path is the same folder. */
    REQUIRE(rename(p.path, p.aside) == 0 && symlink(p.aside, p.path) == 0);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 4}"), &call_error);
    call_close(db);
    db = call_open(p.path);
    CHECK_INT(3, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(p.root);
}

static void a_reader_of_another_process_says_so_when_it_refreshes(void) {
    for (int f = 0; f < FOLDER_FATES; f++) {
        place p = place_new();
        REQUIRE(other_process_save(p.path, "{'_id': 'old'}") == TANSU_OK);
        tansu_options options = call_options(p.path);
        options.allow_writer = 1;
        options.follow = f % 2;
        tansu_db *db = call_open_with(&options);
        CHECK_INT(1, call_count(db, NULL, "c", "{}"));
        meet(&p, (fate)f);
        wait_for_tick();
        uint64_t state = state_of(p.watched);
        CHECK_STATUS(TANSU_E_MOVED, tansu_refresh(db, NULL, NULL, &call_error));
        if (!options.follow)
            CHECK_TEXT("{ \"_id\" : \"old\" }", call_get(db, NULL, "c", "{'_id': 'old'}"));
        CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
        CHECK(state == state_of(p.watched));
        check_other(&p, (fate)f);
        folder_end(p.root);
    }
}

static void a_temporary_database_removes_its_own_folder_only(void) {
    char *root = folder_new();
    tansu_options options = call_options(root);
    options.store = TANSU_STORE_TEMPORARY;
    tansu_db *db = call_open_with(&options);
    sample_fill(db);
    glob_t names;
    REQUIRE(glob(folder_join(root, "tansu-*"), 0, NULL, &names) == 0 && names.gl_pathc == 1);
    const char *path = names.gl_pathv[0];
    REQUIRE(rename(path, folder_join(root, "aside")) == 0);
    REQUIRE(other_process_save(path, NEW_DOCUMENT) == TANSU_OK);
    CHECK_STATUS(TANSU_E_MOVED, tansu_shutdown(db, NULL));
    db = call_open(path);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    globfree(&names);
    folder_end(root);
}

int main(void) {
    other_process_start();
    make_other();
    RUN(a_handle_touches_nothing_but_its_own_folder);
    RUN(closing_without_another_write_touches_nothing_either);
    RUN(what_a_large_transaction_writes_goes_to_the_old_folder);
    RUN(a_folder_that_comes_back_can_be_written_again);
    RUN(a_reader_of_another_process_says_so_when_it_refreshes);
    RUN(a_temporary_database_removes_its_own_folder_only);
    other_process_end();
    folder_end(made);
    return check_finish();
}
