/*
 * test_damage.c -- damaged, newer, lost and old files: refused with where and why, or, when they are
 * indexes, made again.
 */
#include "catalog/database.h"
#include "catalog/manifest.h"
#include "log/record.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* try_path -- the status of opening a folder, closed again at once. */
static tansu_status try_path(const char *path) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    CHECK((status == TANSU_OK) == (db != NULL));
    if (status == TANSU_OK)
        call_close(db);
    return status;
}

/* ---- Damaged and newer files ---- */

/* replace_text -- puts another text of the same length into a file. */
static void replace_text(const char *path, const char *old, const char *fresh) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    char *at = strstr((char *)bytes.data, old);
    REQUIRE(at != NULL && strlen(old) == strlen(fresh));
    memcpy(at, fresh, strlen(fresh));
    file_write(path, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

static void a_newer_format_is_refused(void) {
    char *folder = sample_folder();
    replace_text(folder_join(folder, "MANIFEST"), "tansu 1\n", "tansu 2\n");
    CHECK_STATUS(TANSU_E_VERSION, try_path(folder));
    CHECK(strstr(call_error.message, "newer") != NULL);
    replace_text(folder_join(folder, "MANIFEST"), "tansu 2\n", "tansu 1\n");
    CHECK_OK(try_path(folder), &call_error);
    folder_end(folder);
}

static void a_damaged_manifest_is_refused(void) {
    char *folder = sample_folder();
    const char *name = folder_join(folder, "MANIFEST");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        file_flip(name, i, (unsigned)(i % 8));
        tansu_status status = try_path(folder);
        /* A format that became another one is refused as such. */
        if (!CHECK(status == TANSU_E_CORRUPT || (status == TANSU_E_VERSION && i < 8)))
            check_note("    %s, byte %zu", tansu_status_name(status), i);
        file_write(name, bytes.data, bytes.size);
    }
    for (size_t size = 0; size < bytes.size; size += 7) {
        file_write(name, bytes.data, size);
        CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    }
    file_cut(name, 1 << 20);
    CHECK(try_path(folder) != TANSU_OK);
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder)); /* never a new database over an old log */
    file_write(name, bytes.data, bytes.size);
    tansu_db *db = call_open(folder);
    sample_check(db);
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(folder);
}

static void a_damaged_log_is_refused_and_left_alone(void) {
    char *folder = sample_folder();
    char *name = strdup(folder_join(folder, "log/00000001.seg"));
    uint64_t size = file_size(name);
    for (uint64_t at = 0; at < size; at += 1 + size / 60) {
        if (at % 8 < 4 && at >= SEGMENT_HEADER_SIZE)
            folder_remove(folder_join(folder, "index"));
        file_flip(name, at, 6);
        uint64_t before = sample_checksum(folder);
        tansu_status status = try_path(folder);
        if (file_exists(folder_join(folder, "index/blocks.tch")) && status == TANSU_OK) {
            /* A clean database with whole indexes does not read its log at opening. */
            file_flip(name, at, 6);
            continue;
        }
        CHECK_STATUS(TANSU_E_CORRUPT, status);
        CHECK(call_error.context[0] != 0);
        CHECK_INT(before, sample_checksum(folder));
        file_flip(name, at, 6);
    }
    folder_remove(folder_join(folder, "index"));
    file_flip(name, size / 2, 6);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    CHECK_TEXT("log/00000001.seg", call_error.context);
    CHECK(call_error.offset > 0 && call_error.offset <= (int64_t)size / 2);
    file_flip(name, size / 2, 6);
    tansu_db *db = call_open(folder);
    sample_check(db);
    call_close(db);
    free(name);
    folder_end(folder);
}

static void lost_commits_of_a_cleanly_closed_log_are_noticed(void) {
    char *folder = sample_folder();
    const char *name = folder_join(folder, "log/00000001.seg");
    file_cut(name, file_size(name) - 8);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, try_path(folder));
    folder_end(folder);
}

/* ---- Indexes are derived data ---- */

static void lost_or_damaged_indexes_are_made_again(void) {
    char *folder = sample_folder();
    folder_remove(folder_join(folder, "index"));
    tansu_db *db = call_open(folder);
    sample_check(db);
    call_close(db);
    const char *name = folder_join(folder, "index/blocks.tch");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    file_write(name, "no cabinet at all", 17);
    db = call_open(folder);
    sample_check(db);
    call_close(db);
    static const uint64_t cuts[] = {0, 1, 255, 256, 4096};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        file_cut(name, cuts[i]);
        db = call_open(folder);
        sample_check(db);
        call_close(db);
    }
    /* One of another database. */
    char *other = folder_new();
    db = call_open(other);
    CHECK_OK(call_save(db, NULL, "x", TANSU_SAVE, "{'_id': 1}"), &call_error);
    call_close(db);
    file_read(folder_join(other, "index/blocks.tch"), &bytes);
    file_write(name, bytes.data, bytes.size);
    db = call_open(folder);
    sample_check(db);
    CHECK_INT(0, call_count(db, NULL, "x", "{}"));
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(other);
    folder_end(folder);
}

static void old_indexes_are_brought_up_to_date(void) {
    char *folder = sample_folder(), *old = folder_new();
    rmdir(old);
    folder_copy(folder_join(folder, "index"), old);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 3}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 4, 'n': 3}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "id_n", "{'_id': 1, 'n': 1}", NULL), &call_error);
    call_close(db);
    folder_remove(folder_join(folder, "index"));
    folder_copy(old, folder_join(folder, "index"));
    db = call_open(folder);
    CHECK_TEXT("{ \"_id\" : 4, \"n\" : 3 }", call_find(db, NULL, "c", "{'n': 3}", NULL));
    CHECK_INT(45, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
    folder_end(old);
}

/* write_boot -- makes the MANIFEST say that the index files were open when the machine had that boot id. */
static void write_boot(const char *folder, const char *boot) {
    manifest m;
    REQUIRE(CHECK_OK(manifest_read(&fs_system, folder, &m, &call_error), &call_error));
    CHECK(m.index_open);
    snprintf(m.boot, sizeof m.boot, "%s", boot);
    CHECK_OK(manifest_write(&fs_system, folder, &m, &call_error), &call_error);
}

static void indexes_of_an_earlier_start_of_the_machine_are_not_trusted(void) {
    char *folder = sample_unclean(true);
    char boot[64];
    fs_boot_id(boot);
    for (int other = 0; other < 2; other++) {
        write_boot(folder, other != 0 ? "another start" : boot);
        char *copy = folder_new();
        rmdir(copy);
        folder_copy(folder, copy);
        tansu_db *db = call_open(copy);
        CHECK((call_figure(db, "checkpointSequence") == 0) == (other != 0));
        sample_check(db);
        /* The next checkpoint is of this start. */
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        manifest m;
        CHECK_OK(manifest_read(&fs_system, copy, &m, &call_error), &call_error);
        CHECK_TEXT(boot, m.boot);
        call_close(db);
        CHECK_OK(manifest_read(&fs_system, copy, &m, &call_error), &call_error);
        CHECK(!m.index_open);
        folder_end(copy);
    }
    folder_end(folder);
}

static void reopening_after_a_crash_starts_at_the_checkpoint(void) {
    char *folder = folder_new(), *copy = folder_new();
    rmdir(copy);
    tansu_db *db = call_open(folder);
    sample_fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    int64_t checkpoint = call_figure(db, "checkpointSequence");
    CHECK_INT(51, checkpoint); /* an index that made its collection, and 50 documents */
    /* Changes of what the checkpoint holds, twice over. */
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 50}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 51}"), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': 2}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2, 'n': 52}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "nn", "{'n': -1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': 53}"), &call_error);
    folder_copy(folder, copy);
    call_close(db);
    db = call_open(copy);
    CHECK_INT(checkpoint, call_figure(db, "checkpointSequence"));
    CHECK_INT(46, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT(
        "{ \"_id\" : 1, \"n\" : 51 } { \"_id\" : 3, \"n\" : 53 } { \"_id\" : 2, \"n\" : 52 }",
        call_find(db, NULL, "c", "{'n': {'$gte': 50}}", NULL));
    CHECK_INT(46, call_figure(db, "collections.0.indexes.0.entries"));
    CHECK_INT(46, call_figure(db, "collections.0.indexes.1.entries"));
    call_close(db);
    folder_end(folder);
    folder_end(copy);
}

int main(void) {
    RUN(a_newer_format_is_refused);
    RUN(a_damaged_manifest_is_refused);
    RUN(a_damaged_log_is_refused_and_left_alone);
    RUN(lost_commits_of_a_cleanly_closed_log_are_noticed);
    RUN(lost_or_damaged_indexes_are_made_again);
    RUN(old_indexes_are_brought_up_to_date);
    RUN(reopening_after_a_crash_starts_at_the_checkpoint);
    RUN(indexes_of_an_earlier_start_of_the_machine_are_not_trusted);
    return check_finish();
}
