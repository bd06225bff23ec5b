/*
 * support/workload/sample_database.c -- fills and checks it.
 */
#include "support/workload/sample_database.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <string.h>
#include <unistd.h>

/* sample_fill -- some documents and indexes. */
void sample_fill(tansu_db *db) {
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < 50; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i % 10));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
}

/* sample_check -- what sample_fill() wrote is there, by scan and by index. */
void sample_check(tansu_db *db) {
    CHECK_INT(50, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT("{ \"_id\" : 3, \"n\" : 3 } { \"_id\" : 13, \"n\" : 3 } { \"_id\" : 23, \"n\" : 3 } "
               "{ \"_id\" : 33, \"n\" : 3 } { \"_id\" : 43, \"n\" : 3 }",
               call_find(db, NULL, "c", "{'n': 3}", NULL));
    CHECK_TEXT("{ \"_id\" : 7, \"n\" : 7 }", call_get(db, NULL, "c", "{'_id': 7}"));
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"entries\" : 50") != NULL);
}

/* sample_folder -- a closed database. */
char *sample_folder(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    sample_fill(db);
    call_close(db);
    return folder;
}

/* sample_unclean -- a database as a killed process leaves it; `checkpoint`: with index files. */
char *sample_unclean(bool checkpoint) {
    char *folder = folder_new(), *copy = folder_new();
    tansu_db *db = call_open(folder);
    sample_fill(db);
    if (checkpoint)
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "late", TANSU_SAVE, "{'_id': 1}"), &call_error);
    rmdir(copy);
    folder_copy(folder, copy);
    call_close(db);
    folder_end(folder);
    return copy;
}

/* sample_checksum -- of all files of a database's log and MANIFEST. */
uint64_t sample_checksum(const char *folder) {
    static const char *const names[] = {"MANIFEST", "log/00000001.seg"};
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    uint64_t sum = 0;
    for (size_t i = 0; i < 2; i++) {
        file_read(folder_join(folder, names[i]), &bytes);
        for (size_t k = 0; k < bytes.size; k++)
            sum = sum * 31 + bytes.data[k];
    }
    tansu_buffer_free(&bytes);
    return sum;
}
