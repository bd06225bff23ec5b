/*
 * test_standard_streams.c -- in a program that has closed its standard files no file of the
 * database may become one of them: what the program, or any library, writes to its standard error
 * would overwrite commits. Over the public API only.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/rewrite_workload.h"

#include <sys/wait.h>
#include <unistd.h>

/* write_past -- a program that writes to its standard output and errors, which it has closed. */
static int write_past(const char *folder) {
    static const char text[] =
        "a line for the standard output, or of an error message, that belongs in no database\n";
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    int refused = 0;
    for (int i = 0; i < 3; i++)
        close(i);
    if (tansu_open(&options, &db, NULL) != TANSU_OK)
        return 1;
    for (int id = 0; id < REWRITE_DOCUMENTS * 6; id++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "n", BCON_INT32(1));
        if (call_save_bson(db, NULL, "d", TANSU_SAVE, doc) != TANSU_OK)
            return 1;
        bson_destroy(doc);
        if (id % 500 == 0 && tansu_checkpoint(db, NULL) != TANSU_OK)
            return 1;
        for (int i = 0; i < 3; i++)
            refused += write(i, text, sizeof text - 1) < 0; /* as it should be, or to nowhere */
    }
    (void)refused; /* what counts is the database, which the parent looks at */
    return tansu_shutdown(db, NULL) == TANSU_OK ? 0 : 1;
}

static void closed_standard_files_do_not_become_files_of_the_database(void) {
    char *folder = folder_new();
    int status = 0;
    tansu_db *db = call_open(folder);
    rewrite_all(db, 1, 1);
    call_close(db);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(write_past(folder));
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewrite_check_closed(folder, 1);
    folder_end(folder);
}

int main(void) {
    RUN(closed_standard_files_do_not_become_files_of_the_database);
    return check_finish();
}
