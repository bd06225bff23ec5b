/*
 * support/calls/copy_calls.c -- copies of a database.
 */
#include "support/calls/copy_calls.h"

#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/dump_calls.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>

void copies_open(tansu_db *db, const char *folder, const char *name, tansu_db *copies[COPIES]) {
    char path[400], other[400], restored[400];
    snprintf(path, sizeof path, "%s", path_in(folder, name));
    snprintf(other, sizeof other, "%s", path_in(folder, "killed"));
    folder_copy(path, other);
    copies[0] = call_open(other);
    tansu_options memory = call_options(NULL);
    CHECK_OK(tansu_clone(db, &memory, NULL, NULL, &copies[1], &call_error), &call_error);
    tansu_buffer dump = dump_all(db);
    copies[2] = call_open(NULL);
    CHECK_OK(load_text(copies[2], dump.data, dump.size, "{}"), &call_error);
    tansu_buffer_free(&dump);
    snprintf(other, sizeof other, "%s", path_in(folder, "backup"));
    CHECK_OK(backup(db, other, TANSU_BACKUP_FILE), &call_error);
    snprintf(restored, sizeof restored, "%s", path_in(folder, "restored"));
    CHECK_OK(restore(other, restored), &call_error);
    copies[3] = call_open(restored);
    call_close(db);
    snprintf(other, sizeof other, "%s", path_in(folder, "repaired"));
    CHECK_OK(maintenance_repair(path, other), &call_error);
    CHECK_INT(0, maintenance_number("problemCount"));
    copies[4] = call_open(other);
}
