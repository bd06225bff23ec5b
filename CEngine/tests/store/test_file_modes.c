/*
 * test_file_modes.c -- the permissions that the owner of a database gave its files stay, whatever
 * the umask of the process that writes: new files get those of the MANIFEST.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char secret[] = "thirty-two bytes of a random key";
static const tansu_key other_key = {
    .bytes = "thirty-two bytes of another one!", .size = 32, .kind = TANSU_KEY_BYTES};

/* Where a test works, and the database in it. */
static char *folder;
static char home[512];

static tansu_options options_of(bool encrypted) {
    tansu_options options = call_options(home);
    options.segment_size = 1024 * 1024;
    options.key = encrypted ? secret : NULL;
    options.key_size = encrypted ? 32 : 0;
    return options;
}

/* mode_of -- the permissions of a file. */
static int mode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int)(info.st_mode & 0777) : -1;
}

/* each_file -- gives all files below a folder these permissions, or checks that they have them. How
 * many there are. */
static int each_file(const char *path, int mode, bool give) {
    int count = 0;
    DIR *list = opendir(path);
    REQUIRE(list != NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        char file[1024];
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        REQUIRE(stat(file, &info) == 0);
        if (S_ISDIR(info.st_mode)) {
            count += each_file(file, mode, give);
            continue;
        }
        count++;
        if (give)
            REQUIRE(chmod(file, (mode_t)mode) == 0);
        else if (!CHECK_INT(mode, mode_of(file)))
            check_note("    of %s", file);
    }
    closedir(list);
    return count;
}

/* save_much -- more than a segment. */
static void save_much(tansu_db *db, int from) {
    static char json[20000];
    for (int i = from; i < from + 100; i++) {
        int at = snprintf(json, sizeof json, "{'_id': %d, 'pad': '", i);
        memset(json + at, 'a' + i % 26, 15000);
        strcpy(json + at + 15000, "'}");
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
}

/* use -- makes every kind of file anew, and checks their permissions. */
static void use(bool encrypted, int mode) {
    tansu_options options = options_of(encrypted);
    tansu_db *db = call_open_with(&options);
    options.allow_writer = 1;
    tansu_db *reader = call_open_with(&options);
    save_much(db, 100);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    save_much(db, 100);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    if (encrypted)
        CHECK_OK(tansu_rekey(db, &other_key, &call_error), &call_error);
    char copy[600];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    CHECK_OK(tansu_backup(db, copy, TANSU_BACKUP_FOLDER, NULL, NULL, NULL, &call_error),
             &call_error);
    CHECK(each_file(copy, mode, false) > 3);
    CHECK(each_file(home, mode, false) > 6);
    call_close(reader);
    call_close(db);
    CHECK(each_file(home, mode, false) > 5);
}

static void new_files_have_the_permissions_of_the_manifest(void) {
    static const int modes[][2] = {{0600, 022}, {0660, 077}, {0644, 0}};
    for (int encrypted = 0; encrypted < (library_crypto() ? 2 : 1); encrypted++)
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            mode_t before = umask(022);
            folder = folder_new();
            snprintf(home, sizeof home, "%s/db", folder);
            tansu_options options = options_of(encrypted);
            tansu_db *db = call_open_with(&options);
            save_much(db, 0);
            call_close(db);
            each_file(home, 0644, false);
            each_file(home, modes[i][0], true);
            umask((mode_t)modes[i][1]);
            REQUIRE(unlink(folder_join(home, "LOCK")) == 0);
            use(encrypted, modes[i][0]);
            umask(before);
            folder_end(folder);
        }
}

/* What one file was given stays when that is replaced, and the owner can write in any case. */
static void a_file_that_is_replaced_keeps_its_own(void) {
    if (!library_crypto())
        return;
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
    tansu_options options = options_of(true);
    tansu_db *db = call_open_with(&options);
    save_much(db, 0);
    REQUIRE(chmod(folder_join(home, "KEY"), 0600) == 0);
    CHECK_OK(tansu_rekey(db, &other_key, &call_error), &call_error);
    CHECK_INT(0600, mode_of(folder_join(home, "KEY")));
    REQUIRE(chmod(folder_join(home, "KEY"), 0400) == 0);
    CHECK_OK(tansu_rekey(db, &other_key, &call_error), &call_error);
    CHECK_INT(0600, mode_of(folder_join(home, "KEY")));
    REQUIRE(chmod(folder_join(home, "LOCK"), 0666) == 0);
    call_close(db);
    options.key = other_key.bytes;
    db = call_open_with(&options);
    CHECK_INT(0666, mode_of(folder_join(home, "LOCK")));
    CHECK_INT(0644, mode_of(folder_join(home, "MANIFEST")));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(new_files_have_the_permissions_of_the_manifest);
    RUN(a_file_that_is_replaced_keeps_its_own);
    return check_finish();
}
