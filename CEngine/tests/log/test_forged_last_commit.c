/*
 * test_forged_last_commit.c -- a compacted segment that says it covers all commits that there can
 * be: it is refused, and not opened for commits that have no number.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_FILE "log/00000001.seg"

/* forge -- a database whose log says that it covers the commits up to `last`. */
static char *forge(uint64_t last) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    call_close(db);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, LOG_FILE), &bytes);
    segment_header header;
    memcpy(&header, bytes.data, sizeof header);
    header.kind = SEGMENT_COMPACTED;
    header.last = last;
    header.end = bytes.size;
    header.crc = 0;
    header.crc = checksum(0, &header, sizeof header);
    file_patch(folder_join(folder, LOG_FILE), 0, &header, sizeof header);
    folder_remove(folder_join(folder, "index"));
    tansu_buffer_free(&bytes);
    return folder;
}

static void a_number_that_no_commit_has_is_refused(void) {
    static const uint64_t numbers[] = {COMMIT_MOST + 1, (uint64_t)1 << 62, UINT64_MAX - 1,
                                       UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char *folder = forge(numbers[i]);
        tansu_options options = call_options(folder);
        tansu_db *db;
        CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
        folder_end(folder);
    }
}

static void a_commit_that_was_made_is_there_afterwards(void) {
    for (int left = 0; left < 3; left++) {
        char *folder = forge(COMMIT_MOST - (uint64_t)left);
        for (int opened = 0; opened < 2; opened++) {
            tansu_db *db = call_open(folder);
            CHECK_INT(1 + (opened > 0 ? left : 0), call_count(db, NULL, "c", "{}"));
            for (int i = 2; opened == 0 && i < 5; i++) {
                char text[32];
                snprintf(text, sizeof text, "{'_id': %d}", i);
                CHECK_STATUS(i - 2 < left ? TANSU_OK : TANSU_E_TOO_LARGE,
                             call_save(db, NULL, "c", TANSU_SAVE, text));
            }
            call_close(db);
        }
        folder_end(folder);
    }
}

int main(void) {
    RUN(a_number_that_no_commit_has_is_refused);
    RUN(a_commit_that_was_made_is_there_afterwards);
    return check_finish();
}
