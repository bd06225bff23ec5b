/*
 * support/calls/backup_calls.c -- backups, restores and what they leave.
 */
#include "support/calls/backup_calls.h"

#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const tansu_backup_form backup_forms[2] = {TANSU_BACKUP_FOLDER, TANSU_BACKUP_FILE};

#define PATHS 256
#define PATH_SIZE 256

const char *path_in(const char *folder, const char *name) {
    static char paths[PATHS][PATH_SIZE];
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unsigned i = 0;
    while (paths[i][0] != 0 && strcmp(paths[i], path) != 0)
        REQUIRE(++i < PATHS);
    return strcpy(paths[i], path);
}

const char *part_of(const char *to) {
    char folder[PATH_SIZE], name[64];
    const char *slash = strrchr(to, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - to), to);
    snprintf(name, sizeof name, "%s.tansu-part", slash + 1);
    return path_in(folder, name);
}

bool nothing_at(const char *to) {
    return !file_exists(to) && !file_exists(part_of(to));
}

void remove_at(const char *path) {
    if (unlink(path) != 0)
        folder_remove(path);
}

tansu_status backup(tansu_db *db, const char *to, tansu_backup_form form) {
    return tansu_backup(db, to, form, NULL, NULL, NULL, &call_error);
}

tansu_status backup_plain(tansu_db *db, const char *to, tansu_backup_form form) {
    return tansu_backup_plain(db, to, form, NULL, NULL, NULL, &call_error);
}

tansu_status restore(const char *from, const char *to) {
    return tansu_restore(from, to, NULL, NULL, NULL, &call_error);
}

bool refused(const char *from, const char *to) {
    tansu_status status = restore(from, to);
    bool right = CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION);
    return CHECK(nothing_at(to)) && right;
}
