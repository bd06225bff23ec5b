/*
 * test_corruption.c -- damaged, newer, lost and old files: refused with where and why, or, when
 * they are indexes, made again.
 */
#include "api/handles.h"
#include "log/format.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/crashed_database.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void another_format_is_refused(void) {
    char *folder = sample_folder();
    const char *name = folder_join(folder, "MANIFEST");
    replace_text(name, "database 2\n", "database 1\n");
    CHECK_STATUS(TANSU_E_VERSION, call_try_open(folder));
    CHECK(strstr(call_error.message, "has format 1") != NULL);
    CHECK(strstr(call_error.message, "load the dump") != NULL);
    replace_text(name, "database 1\n", "database 2\n");
    CHECK_OK(call_try_open(folder), &call_error);
    folder_end(folder);
}

/* What the library wrote before its first format, with the right checksum. */
static void a_development_format_is_refused(void) {
    static const char text[] = "tansu 4\n"
                               "uuid 7cc14490b7c05ecb340bdf76e20c6647\n"
                               "index clean\n"
                               "boot c9be13d4-0580-4f06-b2fd-b38815c87c85\n"
                               "end 20002\n"
                               "crc 00000000\n";
    char *folder = sample_folder();
    file_write(folder_join(folder, "MANIFEST"), text, sizeof text - 1);
    uint64_t before = sample_checksum(folder);
    CHECK_STATUS(TANSU_E_VERSION, call_try_open(folder));
    CHECK(strstr(call_error.message, "development format 4") != NULL);
    CHECK(strstr(call_error.message, "load the dump") != NULL);
    CHECK_INT(before, sample_checksum(folder));
    folder_end(folder);
}

/* reseal -- puts a number into a segment's header, and its checksum. */
static void reseal(const char *path, size_t at, uint16_t number) {
    segment_header header;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    memcpy(&header, bytes.data, sizeof header);
    memcpy((uint8_t *)&header + at, &number, sizeof number);
    header.crc = 0;
    header.crc = checksum(0, &header, sizeof header);
    file_patch(path, 0, &header, sizeof header);
    tansu_buffer_free(&bytes);
}

static void a_segment_of_another_format_is_refused(void) {
    char *folder = sample_folder();
    char *name = strdup(folder_join(folder, "log/00000001.seg"));
    reseal(name, offsetof(segment_header, format), LOG_FORMAT + 1);
    CHECK_STATUS(TANSU_E_VERSION, call_try_open(folder));
    reseal(name, offsetof(segment_header, format), LOG_FORMAT);
    reseal(name, offsetof(segment_header, kind), SEGMENT_COMPRESSED + 1);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
    reseal(name, offsetof(segment_header, kind), SEGMENT_WRITTEN);
    CHECK_OK(call_try_open(folder), &call_error);
    free(name);
    folder_end(folder);
}

static void a_damaged_manifest_is_refused(void) {
    char *folder = sample_folder();
    const char *name = folder_join(folder, "MANIFEST");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    for (size_t i = 0; i < bytes.size; i++) {
        file_flip(name, i, (unsigned)(i % 8));
        tansu_status status = call_try_open(folder);
        /* A format that became another one is refused as such. */
        if (!CHECK(status == TANSU_E_CORRUPT || (status == TANSU_E_VERSION && i < 17)))
            check_note("    %s, byte %zu", tansu_status_name(status), i);
        file_write(name, bytes.data, bytes.size);
    }
    for (size_t size = 0; size < bytes.size; size += 7) {
        file_write(name, bytes.data, size);
        CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
    }
    file_cut(name, 1 << 20);
    CHECK(call_try_open(folder) != TANSU_OK);
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder)); /* never a new database over an old log */
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
        tansu_status status = call_try_open(folder);
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
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
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
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
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

/* write_boot -- makes the MANIFEST say that the index files were open when the machine had that
 * boot id. */
static void write_boot(const char *folder, const char *boot) {
    manifest m;
    REQUIRE(CHECK_OK(manifest_read(&fs_system, folder, &m, &call_error), &call_error));
    CHECK(m.index_open);
    crashed_set_manifest(folder, "boot", boot);
}

/* as_closed -- closes the index files, so that nothing in them says whether they are whole. */
static void as_closed(const char *folder) {
    block_store *bs;
    CHECK_OK(block_store_open(&fs_system, folder_join(folder, "index/blocks.tch"), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
}

static void indexes_of_an_earlier_start_of_the_machine_are_kept_when_they_are_whole(void) {
    char *folder = sample_unclean(true);
    char boot[64];
    fs_cache_id(folder, boot);
    for (int other = 0; other < 3; other++) {
        write_boot(folder, other != 0 ? "another start" : boot);
        char *copy = folder_new();
        rmdir(copy);
        folder_copy(folder, copy);
        if (other == 2)
            as_closed(copy);
        tansu_db *db = call_open(copy);
        CHECK((call_statistic(db, "checkpointSequence") == 0) == (other == 2));
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
    int64_t checkpoint = call_statistic(db, "checkpointSequence");
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
    CHECK_INT(checkpoint, call_statistic(db, "checkpointSequence"));
    CHECK_INT(46, call_count(db, NULL, "c", "{}"));
    CHECK_TEXT(
        "{ \"_id\" : 1, \"n\" : 51 } { \"_id\" : 3, \"n\" : 53 } { \"_id\" : 2, \"n\" : 52 }",
        call_find(db, NULL, "c", "{'n': {'$gte': 50}}", NULL));
    CHECK_INT(46, call_statistic(db, "collections.0.indexes.0.entries"));
    CHECK_INT(46, call_statistic(db, "collections.0.indexes.1.entries"));
    call_close(db);
    folder_end(folder);
    folder_end(copy);
}

/* ---- Indexes that are found to be wrong while the database is open ---- */

/* rebuilt_because -- whether the statistics say that opening rebuilt the index files, and why. */
static bool rebuilt_because(tansu_db *db, const char *why) {
    tansu_buffer stats = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_stats(db, &stats, &call_error), &call_error);
    CHECK_OK(tansu_bson_to_json((tansu_document){stats.data, stats.size}, 0, &text, &call_error),
             &call_error);
    const char *at = strstr((const char *)text.data, "\"indexesRebuilt\"");
    bool right = why == NULL ? at == NULL : at != NULL && strstr(at, why) != NULL;
    if (!right)
        check_note("    %s", (const char *)text.data);
    tansu_buffer_free(&stats);
    tansu_buffer_free(&text);
    return right;
}

static void the_reason_for_rebuilding_indexes_is_reported(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    CHECK(rebuilt_because(db, NULL));
    call_close(db);
    folder_remove(folder_join(folder, "index"));
    db = call_open(folder);
    CHECK(rebuilt_because(db, "missing"));
    call_close(db);
    file_cut(folder_join(folder, "index/blocks.tch"), 1000);
    db = call_open(folder);
    CHECK(rebuilt_because(db, "corrupt"));
    sample_check(db);
    call_close(db);
    folder_end(folder);
    folder = sample_unclean(true);
    write_boot(folder, "another start");
    as_closed(folder);
    db = call_open(folder);
    CHECK(rebuilt_because(db, "The machine stopped"));
    call_close(db);
    db = call_open(folder);
    CHECK(rebuilt_because(db, NULL));
    call_close(db);
    folder_end(folder);
}

/* damage_blocks -- writes over the stored blocks of all trees, which leaves META and locations
 * as they are. */
static void damage_blocks(const char *folder) {
    block_store *bs;
    tansu_buffer record = TANSU_BUFFER_INIT, bytes = TANSU_BUFFER_INIT;
    const char *path = strdup(folder_join(folder, "index/blocks.tch"));
    CHECK_OK(block_store_open(&fs_system, path, 0, NULL, &bs, &call_error), &call_error);
    file_read(path, &bytes);
    int damaged = 0;
    for (uint64_t number = 1; number < 100; number++) {
        if (block_store_get(bs, BLOCK_STORE_BLOCK, number, &record, NULL) != TANSU_OK)
            continue;
        const uint8_t *at = memmem(bytes.data, bytes.size, record.data, record.size);
        REQUIRE(at != NULL);
        file_flip(path, (uint64_t)(at - bytes.data) + record.size / 2, 5);
        damaged++;
    }
    CHECK(damaged > 1);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    tansu_buffer_free(&record);
    tansu_buffer_free(&bytes);
    free((char *)path);
}

/* looks_damaged -- reading by index is an error, scanning goes on. */
static void looks_damaged(tansu_db *db) {
    CHECK_TEXT("CORRUPT", call_get(db, NULL, "c", "{'_id': 7}"));
    CHECK(call_count(db, NULL, "c", "{'n': 3}") < 0);
    CHECK_INT(50, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1, call_statistic(db, "indexesDamaged"));
}

static void corruption_that_is_read_is_an_error_and_rebuilt_by_the_next_opening(void) {
    char *folder = sample_folder();
    damage_blocks(folder);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    tansu_db *db = call_open_with(&options);
    looks_damaged(db);
    CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    db = call_open(folder);
    CHECK(rebuilt_because(db, NULL));
    looks_damaged(db);
    /* Nothing is made worse by it, and nothing is written over it. */
    CHECK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}") == TANSU_E_CORRUPT);
    CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 100}"), &call_error);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_checkpoint(db, &call_error));
    CHECK(strstr(call_error.message, "rebuilt") != NULL);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_compact(db, NULL, NULL, NULL, &call_error));
    /* It is known after a crash as well. */
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(folder, copy);
    CHECK_OK(tansu_shutdown(db, &call_error), &call_error);
    for (int killed = 0; killed < 2; killed++) {
        options.path = killed != 0 ? copy : folder;
        options.read_only = 1;
        db = call_open_with(&options);
        CHECK(rebuilt_because(db, "found to be damaged"));
        sample_check(db);
        call_close(db);
        options.read_only = 0;
        db = call_open_with(&options);
        CHECK(rebuilt_because(db, "found to be damaged"));
        sample_check(db);
        CHECK_INT(1, call_count(db, NULL, "d", "{}"));
        maintenance_clean(db);
        call_close(db);
        db = call_open_with(&options);
        CHECK(rebuilt_because(db, NULL));
        sample_check(db);
        call_close(db);
    }
    folder_end(copy);
    folder_end(folder);
}

static void indexes_that_verify_finds_wrong_are_made_again(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    database *inner = db_inner(db);
    snapshot *v = snapshot_acquire(inner);
    const collection_state *state = snapshot_collection(v, "c");
    uint64_t place;
    CHECK_OK(locations_get(state->locations, 7, &place, &call_error), &call_error);
    locations_set(state->locations, 7, 0); /* of these bytes every checksum is right */
    snapshot_release(inner, v);
    CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", "{'_id': 7}"));
    CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
    CHECK_INT(1, call_statistic(db, "indexesDamaged"));
    call_close(db);
    db = call_open(folder);
    CHECK(rebuilt_because(db, "found to be damaged"));
    sample_check(db);
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

static void a_log_that_lost_its_end_is_refused_again_and_again(void) {
    for (int blank = 0; blank < 2; blank++) {
        char *folder = sample_unclean(true), *other = folder_new();
        file_cut(folder_join(folder, "log/00000001.seg"), blank != 0 ? 0 : SEGMENT_HEADER_SIZE);
        for (int i = 0; i < 3; i++) {
            CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
            CHECK(strncmp(call_error.context, "log", 3) == 0 && call_error.offset >= 0);
            CHECK_OK(maintenance_repair(folder, folder_join(other, "r")), &call_error);
            CHECK(maintenance_contains("at the end of the log are missing"));
            folder_remove(folder_join(other, "r"));
        }
        folder_end(folder);
        folder_end(other);
    }
}

/* A process may be killed in the middle of writing the header of a new segment. */
static void a_header_that_was_not_written_to_its_end_is_no_damage(void) {
    char *folders[] = {sample_folder(), sample_unclean(true)};
    for (size_t i = 0; i < 2; i++) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        const char *next = "log/00000002.seg";
        file_read(folder_join(folders[i], "log/00000001.seg"), &bytes);
        REQUIRE(bytes.size > SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE &&
                !file_exists(folder_join(folders[i], next)));
        for (size_t part = 0; part < SEGMENT_HEADER_SIZE; part += 8) {
            uint8_t fresh[4096] = {0};
            memcpy(fresh, bytes.data, part);
            file_write(folder_join(folders[i], next), fresh, sizeof fresh);
            tansu_options options = call_options(folders[i]);
            options.read_only = 1;
            tansu_db *db = call_open_with(&options);
            sample_check(db);
            call_close(db);
            db = call_open(folders[i]);
            sample_check(db);
            CHECK(!file_exists(folder_join(folders[i], next)));
            call_close(db);
        }
        /* With a commit after it, it was whole once. */
        bytes.data[20] ^= 1;
        file_write(folder_join(folders[i], next), bytes.data, bytes.size);
        CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folders[i]));
        tansu_buffer_free(&bytes);
        folder_end(folders[i]);
    }
}

static void corruption_after_the_checkpoint_is_no_torn_end_while_the_machine_was_on(void) {
    char *folder = folder_new(), *copy = folder_new();
    rmdir(copy);
    tansu_db *db = call_open(folder); /* nothing is forced to the disk */
    sample_fill(db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    uint64_t at = SEGMENT_HEADER_SIZE;
    for (int i = 0; i < 5; i++)
        CHECK_OK(call_save(db, NULL, "late", TANSU_SAVE, "{'n': 1}"), &call_error);
    folder_copy(folder, copy);
    call_close(db);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(copy, "log/00000001.seg"), &bytes);
    for (int commit = 1; commit < 54; commit++)
        at += ((const frame_header *)(const void *)(bytes.data + at))->size;
    tansu_buffer_free(&bytes);
    file_flip(folder_join(copy, "log/00000001.seg"), at + 40, 3);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(copy));
    CHECK_INT((int64_t)at, call_error.offset);
    write_boot(copy, "another start"); /* then they may never have reached the disk */
    tail_file_lose_power(folder_join(copy, "log"), true);
    CHECK_OK(call_try_open(copy), &call_error);
    folder_end(folder);
    folder_end(copy);
}

int main(void) {
    RUN(another_format_is_refused);
    RUN(a_development_format_is_refused);
    RUN(a_segment_of_another_format_is_refused);
    RUN(a_damaged_manifest_is_refused);
    RUN(a_damaged_log_is_refused_and_left_alone);
    RUN(lost_commits_of_a_cleanly_closed_log_are_noticed);
    RUN(lost_or_damaged_indexes_are_made_again);
    RUN(old_indexes_are_brought_up_to_date);
    RUN(reopening_after_a_crash_starts_at_the_checkpoint);
    RUN(indexes_of_an_earlier_start_of_the_machine_are_kept_when_they_are_whole);
    RUN(the_reason_for_rebuilding_indexes_is_reported);
    RUN(corruption_that_is_read_is_an_error_and_rebuilt_by_the_next_opening);
    RUN(indexes_that_verify_finds_wrong_are_made_again);
    RUN(a_log_that_lost_its_end_is_refused_again_and_again);
    RUN(a_header_that_was_not_written_to_its_end_is_no_damage);
    RUN(corruption_after_the_checkpoint_is_no_torn_end_while_the_machine_was_on);
    return check_finish();
}
