/*
 * test_older_format.c -- a log that was written before inserts had a header of their own
 * (tests/vectors/format-2: a head and a compacted segment): it is read, written, killed, compacted,
 * backed up and repaired, and what earlier versions wrote stays as it was until compaction.
 */
#include "log/format.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VECTORS "CEngine/tests/vectors/format-2/"

/* What the fixture contains. */
static const char documents[] =
    "{ \"_id\" : 3, \"n\" : 103 } { \"_id\" : 4, \"n\" : 104 } { \"_id\" : 5, \"n\" : 105 } "
    "{ \"_id\" : 6, \"n\" : 106 } { \"_id\" : 7, \"n\" : 107 } { \"_id\" : 8, \"n\" : 208 } "
    "{ \"_id\" : 9, \"n\" : 209 } { \"_id\" : 10, \"n\" : 210 } { \"_id\" : 11, \"n\" : 211 } "
    "{ \"_id\" : 12, \"n\" : 212 } { \"_id\" : 13, \"n\" : 213 } { \"_id\" : 14, \"n\" : 214 } "
    "{ \"_id\" : 15, \"n\" : 215 }";

/* older_folder -- a new folder with that database. */
static char *older_folder(void) {
    static const char *const files[][2] = {{"MANIFEST", "MANIFEST"},
                                           {"00000002.seg", "log/00000002.seg"},
                                           {"00000003.seg", "log/00000003.seg"}};
    char *folder = folder_new();
    REQUIRE(mkdir(folder_join(folder, "log"), 0755) == 0);
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        size_t size;
        snprintf(path, sizeof path, VECTORS "%s", files[i][0]);
        char *content = repo_file_read(path, &size);
        file_write(folder_join(folder, files[i][1]), content, size);
        free(content);
    }
    return folder;
}

/* format_of -- of a segment; 0 when there is none. */
static uint32_t format_of(const char *folder, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    if (!file_exists(folder_join(folder, name)))
        return 0;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, name), &bytes);
    uint32_t format = load_u32(bytes.data + offsetof(segment_header, format));
    tansu_buffer_free(&bytes);
    return format;
}

/* change -- one change of each kind to what earlier versions wrote, and an insert. */
static void change(tansu_db *db) {
    CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id': 16, 'n': 316}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 3, 'n': 303}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 15, 'n': 315}"), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 4}", NULL), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 14}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_REPLACE, "{'_id': 16, 'n': 416}"), &call_error);
    CHECK_OK(call_save(db, NULL, "e", TANSU_INSERT, "{'_id': 1}"), &call_error);
}

/* check_changed -- what is there after them. */
static void check_changed(tansu_db *db) {
    CHECK_TEXT(
        "{ \"_id\" : 3, \"n\" : 303 } { \"_id\" : 5, \"n\" : 105 } { \"_id\" : 6, \"n\" : 106 } "
        "{ \"_id\" : 7, \"n\" : 107 } { \"_id\" : 8, \"n\" : 208 } { \"_id\" : 9, \"n\" : 209 } "
        "{ \"_id\" : 10, \"n\" : 210 } { \"_id\" : 11, \"n\" : 211 } { \"_id\" : 12, \"n\" : 212 } "
        "{ \"_id\" : 13, \"n\" : 213 } { \"_id\" : 15, \"n\" : 315 } { \"_id\" : 16, \"n\" : 416 }",
        call_find(db, NULL, "c", "{}", NULL));
    CHECK_TEXT("{ \"_id\" : 15, \"n\" : 315 }", call_find(db, NULL, "c", "{'n': 315}", NULL));
    CHECK_INT(1, call_count(db, NULL, "d", "{}"));
    CHECK_INT(1, call_count(db, NULL, "e", "{}"));
    maintenance_clean(db);
}

static void it_is_read_and_left_as_it_is(void) {
    char *folder = older_folder();
    for (int i = 0; i < 2; i++) {
        tansu_db *db = call_open(folder);
        CHECK_TEXT(documents, call_find(db, NULL, "c", "{}", NULL));
        CHECK_TEXT("{ \"_id\" : 12, \"n\" : 212 }", call_find(db, NULL, "c", "{'n': 212}", NULL));
        CHECK_INT(1, call_count(db, NULL, "d", "{}"));
        maintenance_clean(db);
        call_close(db);
    }
    CHECK_INT(LOG_FORMAT_FULL, format_of(folder, 2));
    CHECK_INT(LOG_FORMAT_FULL_COMPACTED, format_of(folder, 3));
    CHECK_INT(0, format_of(folder, 4));
    folder_end(folder);
}

/* Earlier versions reject the new segment, and so do not misread what is in it. */
static void what_is_written_goes_to_a_new_segment(void) {
    char *folder = older_folder();
    tansu_db *db = call_open(folder);
    tansu_txn *before = call_begin(db, TANSU_TXN_READ);
    CHECK_TEXT(documents, call_find(db, before, "c", "{}", NULL));
    change(db);
    CHECK_TEXT(documents, call_find(db, before, "c", "{}", NULL));
    CHECK_INT(0, call_count(db, before, "e", "{}"));
    tansu_txn_abort(before);
    check_changed(db);
    call_close(db);
    uint64_t size = file_size(folder_join(folder, "log/00000002.seg"));
    CHECK_INT(LOG_FORMAT_FULL, format_of(folder, 2));
    CHECK_INT(LOG_FORMAT_FULL_COMPACTED, format_of(folder, 3));
    CHECK_INT(LOG_FORMAT, format_of(folder, 4));
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            folder_remove(folder_join(folder, "index"));
        db = call_open(folder);
        check_changed(db);
        CHECK_OK(call_save(db, NULL, "f", TANSU_SAVE, "{'_id': 1}"), &call_error);
        call_close(db);
        CHECK_INT(0, format_of(folder, 5));
        CHECK_INT((int64_t)size, file_size(folder_join(folder, "log/00000002.seg")));
    }
    folder_end(folder);
}

static void a_killed_writer_loses_nothing(void) {
    char *folder = older_folder();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        change(call_open(folder));
        _exit(0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    tansu_db *db = call_open(folder);
    check_changed(db);
    call_close(db);
    folder_end(folder);
}

/* A killed writer may leave the new segment without a commit, or without its header. */
static void a_segment_without_a_commit_is_continued(void) {
    for (int part = 0; part < 2; part++) {
        char *folder = older_folder();
        tansu_db *db = call_open(folder);
        change(db);
        call_close(db);
        file_cut(folder_join(folder, "log/00000004.seg"), part == 0 ? SEGMENT_HEADER_SIZE : 0);
        file_cut(folder_join(folder, "log/00000004.seg"), 4096);
        size_t size;
        char *manifest = repo_file_read(VECTORS "MANIFEST", &size);
        file_write(folder_join(folder, "MANIFEST"), manifest, size);
        free(manifest);
        unlink(folder_join(folder, "log/TAIL"));
        folder_remove(folder_join(folder, "index"));
        db = call_open(folder);
        CHECK_TEXT(documents, call_find(db, NULL, "c", "{}", NULL));
        change(db);
        check_changed(db);
        call_close(db);
        db = call_open(folder);
        check_changed(db);
        call_close(db);
        folder_end(folder);
    }
}

static void compaction_writes_the_new_format(void) {
    char *folder = older_folder();
    tansu_db *db = call_open(folder);
    change(db);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        check_changed(db);
        call_close(db);
        for (unsigned number = 1; number < 10; number++) {
            uint32_t format = format_of(folder, number);
            CHECK(format == 0 || format == LOG_FORMAT || format == LOG_FORMAT_COMPACTED);
        }
        folder_remove(folder_join(folder, "index"));
        db = call_open(folder);
        check_changed(db);
    }
    call_close(db);
    folder_end(folder);
}

static void backups_contain_both_formats(void) {
    char *folder = older_folder(), *other = folder_new();
    tansu_db *db = call_open(folder);
    change(db);
    for (size_t i = 0; i < 2; i++) {
        const char *copy = path_in(other, i == 0 ? "folder" : "file");
        const char *again = path_in(other, i == 0 ? "again" : "again too");
        CHECK_OK(backup(db, copy, backup_forms[i]), &call_error);
        REQUIRE(CHECK_OK(restore(copy, again), &call_error));
        tansu_db *restored = call_open(again);
        check_changed(restored);
        call_close(restored);
    }
    call_close(db);
    folder_end(folder);
    folder_end(other);
}

/* Of each segment one document's bytes are damaged: the others are salvaged. */
static void both_formats_are_repaired(void) {
    char *folder = older_folder(), *other = folder_new();
    tansu_db *db = call_open(folder);
    change(db);
    call_close(db);
    for (unsigned number = 2; number <= 4; number++) {
        char name[32];
        snprintf(name, sizeof name, "log/%08u.seg", number);
        uint64_t end = file_size(folder_join(folder, name));
        file_patch(folder_join(folder, name), end - 16, "\xFF\xFF\xFF\xFF", 4);
    }
    CHECK_OK(maintenance_repair(folder, folder_join(other, "r")), &call_error);
    CHECK(maintenance_number("lostCommits") >= 3);
    db = call_open(folder_join(other, "r"));
    CHECK_INT(3, call_count(db, NULL, "c", "{'n': {'$in': [303, 315, 416]}}"));
    CHECK_INT(9, call_count(db, NULL, "c",
                            "{'n': {'$in': [105, 106, 107, 208, 209, 210, 211, "
                            "212, 213]}}"));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
    folder_end(other);
}

int main(void) {
    RUN(it_is_read_and_left_as_it_is);
    RUN(what_is_written_goes_to_a_new_segment);
    RUN(a_killed_writer_loses_nothing);
    RUN(a_segment_without_a_commit_is_continued);
    RUN(compaction_writes_the_new_format);
    RUN(backups_contain_both_formats);
    RUN(both_formats_are_repaired);
    return check_finish();
}
