/*
 * test_backup_after_cancelled_compaction.c -- a backup that was acknowledged can be restored,
 * and opened when it is a folder, whatever compactions were cancelled before.
 * Written from tansu.h and docs/durability.md alone.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/rewrite_workload.h"

struct moving_on {
    tansu_db *db;
    int calls;
};

/* write_and_cancel -- writers move on by some segments before the task is
 * cancelled. */
static int write_and_cancel(void *context, uint64_t done, uint64_t total) {
    struct moving_on *m = context;
    (void)done, (void)total;
    if (--m->calls > 0)
        return 1;
    rewrite_all(m->db, 3, 2);
    return 0;
}

static void backups_after_cancelled_compactions_are_whole(void) {
    for (int at = 1; at < 12; at += 2) {
        char *folder = folder_new(), *work = folder_new();
        tansu_db *db = call_open(folder);
        struct moving_on moving = {db, at};
        rewrite_all(db, 8, 1);
        tansu_status status = tansu_compact(db, write_and_cancel, &moving, NULL, &call_error);
        CHECK(status == TANSU_OK || status == TANSU_E_CANCELLED);
        int n = moving.calls > 0 ? 1 : 2;
        rewrite_check(db, NULL, n);
        for (int form = 0; form < 2; form++) {
            const char *to = path_in(work, "backup"), *restored = path_in(work, "restored");
            CHECK_OK(backup(db, to, backup_forms[form]), &call_error);
            if (CHECK_OK(restore(to, restored), &call_error))
                rewrite_check_closed(restored, n);
            if (backup_forms[form] == TANSU_BACKUP_FOLDER)
                rewrite_check_closed(to, n);
            remove_at(to);
            remove_at(restored);
        }
        maintenance_clean(db);
        call_close(db);
        rewrite_check_closed(folder, n);
        folder_end(work);
        folder_end(folder);
    }
}

int main(void) {
    RUN(backups_after_cancelled_compactions_are_whole);
    return check_finish();
}
