/*
 * test_log_end.c -- where the log of a database ends: after a kill all that was written has to be
 * there, after a loss of power what was known to be on the disk, and nothing that may hold commits
 * is removed.
 */
#include "log/format.h"
#include "log/tail.h"
#include "query/query_hooks.h"
#include "store/database.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "util/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* killed_in_second -- a killed database whose log has gone on to a second segment; *first: the
 * commit that begins it. */
static char *killed_in_second(tansu_durability durability, uint64_t *first) {
    static uint8_t filling[3000];
    char *folder = folder_new(), *copy = folder_new();
    rmdir(copy);
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    options.durability = durability;
    tansu_db *db = call_open_with(&options);
    for (int i = 0; i < 400; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "b",
                               BCON_BIN(BSON_SUBTYPE_BINARY, filling, sizeof filling));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
        if (i == 20) /* the index files are open from here on */
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    folder_copy(folder, copy);
    call_close(db);
    folder_end(folder);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(copy, "log/00000002.seg"), &bytes);
    *first = ((const segment_header *)(const void *)bytes.data)->base;
    tansu_buffer_free(&bytes);
    CHECK(!file_exists(folder_join(copy, "log/00000003.seg")));
    return copy;
}

/* refused_and_left_alone -- opening fails, and nothing of the log is changed or removed by it. */
static void refused_and_left_alone(const char *folder) {
    uint64_t size = file_size(folder_join(folder, "log/00000002.seg"));
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
        CHECK_TEXT("log/00000002.seg", call_error.context);
        CHECK(strstr(call_error.message, "tansu repair") != NULL);
    }
    CHECK_INT(size, file_size(folder_join(folder, "log/00000002.seg")));
    CHECK(!file_exists(folder_join(folder, "set-aside")));
}

/* A segment of acknowledged commits is not removed because its first block can't be read. */
static void a_segment_without_its_first_block_is_refused(void) {
    static const uint8_t zeros[4096];
    for (int full = 0; full < 2; full++) {
        for (int lost = 0; lost < 2; lost++) { /* the power was lost since */
            uint64_t first;
            char *folder = killed_in_second(
                full != 0 ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS, &first);
            file_patch(folder_join(folder, "log/00000002.seg"), 0, zeros, sizeof zeros);
            if (lost != 0)
                tail_file_lose_power(folder_join(folder, "log"), false);
            if (full != 0 || lost == 0) {
                refused_and_left_alone(folder);
            } else {
                /* None of it was known to be on the disk: it is the end, and what there is goes
                 * aside. */
                tansu_db *db = call_open(folder);
                CHECK_INT(first - 1, call_statistic(db, "sequence"));
                call_close(db);
                tansu_buffer bytes = TANSU_BUFFER_INIT;
                file_read(folder_join(folder, "set-aside/00000002.seg"), &bytes);
                CHECK(bytes.size > 8192 && memcmp(bytes.data, zeros, sizeof zeros) == 0);
                CHECK(memcmp(bytes.data + 4096, zeros, sizeof zeros) != 0);
                tansu_buffer_free(&bytes);
            }
            folder_end(folder);
        }
    }
}

/* Of a killed process all that was written is there, so an end that is missing in whatever way
 * is damage. */
static void a_killed_log_that_lost_its_end_is_refused(void) {
    uint64_t first;
    char *folder = killed_in_second(TANSU_DURABILITY_PROCESS, &first);
    char *name = strdup(folder_join(folder, "log/00000002.seg"));
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    uint64_t end = bytes.size;
    while (bytes.data[end - 1] == 0)
        end--;
    static const uint64_t from_end[] = {1, 100, 3000, 40000};
    for (size_t i = 0; i < sizeof from_end / sizeof from_end[0]; i++) {
        for (int cut = 0; cut < 2; cut++) {
            uint64_t at = end - from_end[i];
            uint8_t *kept = calloc(1, bytes.size);
            memcpy(kept, bytes.data, at);
            file_write(name, kept, cut != 0 ? at : bytes.size);
            refused_and_left_alone(folder);
            free(kept);
        }
    }
    remove(name);
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
    file_write(name, bytes.data, bytes.size);
    CHECK_OK(call_try_open(folder), &call_error);
    tansu_buffer_free(&bytes);
    free(name);
    folder_end(folder);
}

/* What is cut off after a torn end after power loss may hold commits that nobody was promised: a
 * copy is kept. */
static void valid_frames_after_a_torn_end_are_set_aside(void) {
    uint64_t first;
    char *folder = killed_in_second(TANSU_DURABILITY_PROCESS, &first);
    tail_file_lose_power(folder_join(folder, "log"), false);
    char *name = strdup(folder_join(folder, "log/00000001.seg"));
    tansu_buffer before = TANSU_BUFFER_INIT, kept = TANSU_BUFFER_INIT;
    file_flip(name, 500000, 3);
    file_read(name, &before);
    tansu_db *db = call_open(folder);
    CHECK(call_statistic(db, "sequence") < (int64_t)first);
    call_close(db);
    file_read(folder_join(folder, "set-aside/00000001.seg"), &kept);
    CHECK(kept.size == before.size && memcmp(kept.data, before.data, kept.size) == 0);
    CHECK(file_exists(folder_join(folder, "set-aside/00000002.seg")));
    CHECK(!file_exists(folder_join(folder, "log/00000002.seg")));
    /* It is in nobody's way. */
    db = call_open(folder);
    maintenance_clean(db);
    call_close(db);
    tansu_buffer_free(&before);
    tansu_buffer_free(&kept);
    free(name);
    folder_end(folder);
}

/* killed_write -- the system's, which ends the process in the middle of a copy. */
static ssize_t killed_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (size >= 256 * 1024 && offset > 0)
        _exit(7);
    return fs_system.write(fd, bytes, size, offset);
}

/* A copy that is not complete does not lie there under a segment's name. */
static void a_copy_that_is_interrupted_leaves_nothing(void) {
    uint64_t first;
    char *folder = killed_in_second(TANSU_DURABILITY_PROCESS, &first);
    tail_file_lose_power(folder_join(folder, "log"), false);
    file_flip(folder_join(folder, "log/00000001.seg"), 500000, 3);
    uint64_t size = file_size(folder_join(folder, "log/00000001.seg"));
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            fs calls = fs_system;
            calls.write = killed_write;
            tansu_options options = call_options(folder);
            database *db;
            database_open(&options, &calls, &engine_query_hooks, &db, NULL);
            _exit(0);
        }
        int result;
        REQUIRE(waitpid(child, &result, 0) == child);
        CHECK(WIFEXITED(result) && WEXITSTATUS(result) == 7);
        CHECK(!file_exists(folder_join(folder, "set-aside/00000001.seg")));
    }
    tansu_db *db = call_open(folder);
    CHECK(maintenance_clean(db));
    call_close(db);
    CHECK_INT(size, file_size(folder_join(folder, "set-aside/00000001.seg")));
    CHECK(!file_exists(folder_join(folder, "set-aside/00000001.seg.1")));
    CHECK(!file_exists(folder_join(folder, "set-aside/copy.part")));
    folder_end(folder);
}

/* A disk that lost power while the machine was on, or a snapshot of it: the boot id is the same,
 * and what was never acknowledged may be torn. What a mark on the disk says was synced may not. */
static void a_torn_end_within_one_boot_is_no_damage(void) {
    for (int synced = 0; synced < 2; synced++) {
        uint64_t first;
        char *folder = killed_in_second(TANSU_DURABILITY_PROCESS, &first), cache[64];
        char *log = strdup(folder_join(folder, "log"));
        fs_boot_id(cache);
        strcat(cache, " 0123456789abcdef"); /* this start of the machine, another mount */
        tail_file_lose_power(log, synced != 0);
        tail_file_set_cache(log, cache);
        file_flip(folder_join(log, "00000002.seg"), 70, 1);
        CHECK_OK(call_try_open(folder), &call_error);
        folder_end(folder);
        free(log);
    }
    uint64_t first;
    char *folder = killed_in_second(TANSU_DURABILITY_FULL, &first);
    tail_file_lose_power(folder_join(folder, "log"), true);
    uint64_t written, synced, state;
    CHECK(tail_file_read(folder_join(folder, "log"), &written, &synced, &state) && synced > first);
    file_cut(folder_join(folder, "log/00000002.seg"), 100); /* no later frame tells of it */
    CHECK_STATUS(TANSU_E_CORRUPT, call_try_open(folder));
    folder_end(folder);
}

/* ends_before_a_lost_page -- a page in the middle of the second segment is lost, and the log ends
 * before it. What was on the disk is not given up: with durability full it is refused. */
static void ends_before_a_lost_page(char *folder, tansu_durability durability, uint64_t first,
                                    uint64_t written) {
    static const uint8_t zeros[4096];
    file_patch(folder_join(folder, "log/00000002.seg"), 3 * sizeof zeros, zeros, sizeof zeros);
    if (durability == TANSU_DURABILITY_FULL) {
        refused_and_left_alone(folder);
    } else {
        tansu_db *db = call_open(folder);
        int64_t sequence = call_statistic(db, "sequence");
        CHECK(sequence >= (int64_t)first && sequence < (int64_t)written);
        maintenance_clean(db);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
        call_close(db);
        /* Later commits that were not lost are there for those who need them. */
        CHECK(file_exists(folder_join(folder, "set-aside/00000002.seg")));
    }
    folder_end(folder);
}

static const tansu_durability durabilities[] = {TANSU_DURABILITY_PROCESS, TANSU_DURABILITY_FULL};

/* After a sync that failed the system may drop from memory what it could not write: the page cache
 * is the same, and still it proves nothing of what was not synced. Of a process that was killed
 * during a sync nobody knows whether it failed. */
static void after_a_failed_sync_what_was_only_written_may_be_lost(void) {
    static const uint64_t states[] = {TAIL_SYNCING, TAIL_FAILED};
    for (size_t i = 0; i < 4; i++) {
        uint64_t first, written, synced, state;
        char *folder = killed_in_second(durabilities[i % 2], &first);
        char *log = strdup(folder_join(folder, "log"));
        CHECK(tail_file_read(log, &written, &synced, &state) && written > first);
        CHECK((i % 2 != 0) == (synced > first));
        tail_file_set_state(log, states[i / 2]);
        ends_before_a_lost_page(folder, durabilities[i % 2], first, written);
        free(log);
    }
}

/* The system may drop the page of the marks too: then it reads as zeros, or as it was when it was
 * last written to the disk, and says nothing of the sync that failed. */
static void marks_that_were_lost_prove_nothing(void) {
    static const uint8_t zeros[TAIL_FILE_SIZE];
    for (size_t i = 0; i < 6; i++) {
        uint64_t first, written, synced, state;
        char *folder = killed_in_second(durabilities[i % 2], &first);
        char *log = strdup(folder_join(folder, "log"));
        CHECK(tail_file_read(log, &written, &synced, &state) && written > first + 20);
        if (i / 2 == 0)
            file_patch(folder_join(log, "TAIL"), 0, zeros, sizeof zeros);
        else /* before the page that is lost, or after it */
            tail_file_set_written(log, i / 2 == 1 ? first : first + 20);
        ends_before_a_lost_page(folder, durabilities[i % 2], first, written);
        free(log);
    }
}

/* Marks that are older than the log say nothing of syncs: what is not known to be on the disk is
 * written again. Those that are as old as it, or lack the commit in progress, do. */
static void an_end_that_old_marks_tell_of_is_written_again(void) {
    for (uint64_t older = 0; older < 4; older++) {
        uint64_t first, written, synced, state;
        char *folder = killed_in_second(TANSU_DURABILITY_PROCESS, &first);
        char *log = strdup(folder_join(folder, "log"));
        CHECK(tail_file_read(log, &written, &synced, &state) && state == TAIL_IDLE);
        uint64_t resets = tail_file_resets(log);
        tail_file_set_written(log, older == 3 ? 0 : written - older); /* 0: of a clean end */
        tansu_db *db = call_open(folder);
        CHECK_INT(written, call_statistic(db, "sequence"));
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
        CHECK_INT(resets + (older >= 2), tail_file_resets(log));
        call_close(db);
        free(log);
        folder_end(folder);
    }
}

/* make_hole -- takes the disk space of a part of a file away, so that it reads as zeros. */
static void make_hole(const char *path, uint64_t from, uint64_t size) {
    int fd = open(path, O_RDWR);
    REQUIRE(fd >= 0);
#ifdef FALLOC_FL_PUNCH_HOLE
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)size) != 0)
        check_note("no hole can be made; zeros are written");
#endif
    uint8_t *zeros = calloc(1, size);
    uint8_t *there = malloc(size);
    REQUIRE(pread(fd, there, size, (off_t)from) == (ssize_t)size);
    if (memcmp(zeros, there, size) != 0)
        REQUIRE(pwrite(fd, zeros, size, (off_t)from) == (ssize_t)size);
    free(zeros);
    free(there);
    close(fd);
}

/* Where the log seems to end is a hole, which opening does not read, but what follows shows that
 * commits were lost; when nothing follows, it is the end. */
static void commits_after_a_hole_are_found(void) {
    for (int more = 0; more < 2; more++) {
        uint64_t first;
        char *folder = killed_in_second(TANSU_DURABILITY_FULL, &first);
        char *name = strdup(folder_join(folder, "log/00000002.seg"));
        uint64_t size = file_size(name);
        REQUIRE(size > 200000);
        remove(folder_join(folder, "log/TAIL")); /* only the frames tell */
        if (more == 0) {
            make_hole(name, 65536, 65536);
            refused_and_left_alone(folder);
            /* The same with what follows the hole: the last commit alone. */
            tansu_buffer bytes = TANSU_BUFFER_INIT;
            file_read(name, &bytes);
            uint64_t end = bytes.size;
            while (bytes.data[end - 1] == 0)
                end--;
            uint64_t last = (end - 5000) / 4096 * 4096;
            make_hole(name, 131072, last - 131072);
            refused_and_left_alone(folder);
            tansu_buffer_free(&bytes);
        } else {
            make_hole(name, 65536, size - 65536);
            tansu_db *db = call_open(folder);
            int64_t sequence = call_statistic(db, "sequence");
            CHECK(sequence >= (int64_t)first && sequence < 401);
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1000}"), &call_error);
            call_close(db);
            db = call_open(folder);
            CHECK_INT(sequence + 1, call_statistic(db, "sequence"));
            call_close(db);
        }
        free(name);
        folder_end(folder);
    }
}

int main(void) {
    RUN(a_segment_without_its_first_block_is_refused);
    RUN(a_killed_log_that_lost_its_end_is_refused);
    RUN(valid_frames_after_a_torn_end_are_set_aside);
    RUN(a_copy_that_is_interrupted_leaves_nothing);
    RUN(after_a_failed_sync_what_was_only_written_may_be_lost);
    RUN(marks_that_were_lost_prove_nothing);
    RUN(an_end_that_old_marks_tell_of_is_written_again);
    RUN(commits_after_a_hole_are_found);
    RUN(a_torn_end_within_one_boot_is_no_damage);
    return check_finish();
}
