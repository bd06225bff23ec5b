/*
 * test_log_corruption.c -- the log by itself: torn ends and damage at every byte, missing and stale
 * segments.
 */
#include "log/log.h"
#include "log/segment.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/log_workload.h"
#include "util/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* small_log -- ten commits of one segment, as they are found after power loss; ends[i]: where
 * commit i ends. */
static char *small_log(uint64_t ends[11], bool synced) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    ends[0] = SEGMENT_HEADER_SIZE;
    for (uint64_t i = 1; i <= 10; i++) {
        log_workload_commit(l, i, 1 + i % 3, 24);
        ends[i] = (uint32_t)log_position(l);
        if (synced)
            CHECK_OK(log_sync(l, i, &log_workload_error), &log_workload_error);
    }
    log_close(l, NULL);
    tail_file_lose_power(folder, false);
    return folder;
}

static void a_log_cut_at_any_byte_keeps_its_prefix(void) {
    uint64_t ends[11];
    char *folder = small_log(ends, false);
    const char *name = folder_join(folder, "00000001.seg");
    tansu_buffer whole = TANSU_BUFFER_INIT;
    file_read(name, &whole);
    CHECK_INT(ends[10], whole.size);
    for (uint64_t size = ends[7]; size <= ends[10]; size++) {
        uint64_t expected = 7;
        while (expected < 10 && ends[expected + 1] <= size)
            expected++;
        /* Both what a file system does that lost the size, and one that lost the bytes. */
        for (int zeros = 0; zeros < 2; zeros++) {
            file_write(name, whole.data, size);
            if (zeros != 0)
                file_cut(name, ends[10] + 4096);
            log_workload_seen s;
            log *l;
            REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
            CHECK_INT(expected, s.frames);
            CHECK(log_workload_zero_after_head(l));
            log_workload_commit(l, expected + 1, 1, 16);
            log_workload_kill(l);
            CHECK_INT(expected + 1, log_workload_count(folder, 0));
            tail_file_lose_power(folder, false);
        }
    }
    file_write(name, whole.data, ends[9] + 8);
    CHECK_INT(9, log_workload_count(folder, 9));
    CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, 10));
    CHECK_TEXT("log/00000001.seg", log_workload_error.context);
    CHECK_INT(ends[9], log_workload_error.offset);
    tansu_buffer_free(&whole);
    folder_end(folder);
}

static void a_flipped_bit_ends_the_log_or_is_damage(void) {
    uint64_t ends[11];
    char *folder = small_log(ends, false);
    const char *name = folder_join(folder, "00000001.seg");
    for (uint64_t at = ends[4]; at < ends[10]; at++) {
        uint64_t before = 4;
        while (ends[before + 1] <= at)
            before++;
        file_flip(name, at, (unsigned)(at % 8));
        CHECK_INT(before, log_workload_count(folder, before));
        CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, before + 1));
        CHECK_INT(ends[before], log_workload_error.offset);
        file_flip(name, at, (unsigned)(at % 8));
    }
    CHECK_INT(10, log_workload_count(folder, 10));
    folder_end(folder);
}

static void corruption_is_proved_by_later_commits(void) {
    uint64_t ends[11];
    char *folder = small_log(ends, true);
    const char *name = folder_join(folder, "00000001.seg");
    /* Commits 2 to 10 say that the one before each was on the disk: nothing else has to know. */
    for (uint64_t at = SEGMENT_HEADER_SIZE; at < ends[9]; at += 3) {
        file_flip(name, at, 2);
        CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, 0));
        CHECK(log_workload_error.offset <= (int64_t)at &&
              log_workload_error.offset >= SEGMENT_HEADER_SIZE);
        CHECK_TEXT("log/00000001.seg", log_workload_error.context);
        /* Nothing was changed by looking, and opening to write refuses, too. */
        log_workload_seen s;
        log *l;
        CHECK_STATUS(TANSU_E_CORRUPT, log_workload_replay(folder, false, 0, &s, &l));
        file_flip(name, at, 2);
    }
    CHECK_INT(10, log_workload_count(folder, 0));
    /* The last one may be torn: no later one knows of it. */
    file_flip(name, ends[9] + 40, 2);
    CHECK_INT(9, log_workload_count(folder, 0));
    folder_end(folder);
}

static void headers_of_segments_are_checked(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    for (uint64_t i = 1; i <= 30; i++)
        log_workload_commit(l, i, 1, 100000);
    CHECK(log_measure(l).segments >= 3);
    log_close(l, NULL);
    const char *name = folder_join(folder, "00000002.seg");
    for (uint64_t at = 0; at < SEGMENT_HEADER_SIZE; at += 3) {
        file_flip(name, at, 5);
        CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, 0));
        CHECK_TEXT(name, log_workload_error.context);
        file_flip(name, at, 5);
    }
    CHECK_INT(30, log_workload_count(folder, 30));
    folder_end(folder);
}

static void a_missing_segment_is_damage(void) {
    static const char *const missing[] = {"00000001.seg", "00000002.seg"};
    for (size_t i = 0; i < 2; i++) {
        char *folder = folder_new();
        log *l = log_workload_start(folder);
        for (uint64_t k = 1; k <= 30; k++)
            log_workload_commit(l, k, 1, 100000);
        log_close(l, NULL);
        remove(folder_join(folder, missing[i]));
        CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, 0));
        log_workload_seen s;
        CHECK_STATUS(TANSU_E_CORRUPT, log_workload_replay(folder, false, 0, &s, &l));
        CHECK(file_size(folder_join(folder, "00000003.seg")) > 0);
        folder_end(folder);
    }
}

static void a_segment_whose_header_was_never_written_is_begun_again(void) {
    static const uint64_t sizes[] = {0, 40, 64, 262144};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint64_t commits = 0; commits <= 12; commits += 12) {
            char *folder = folder_new();
            log *l = log_workload_start(folder);
            for (uint64_t k = 1; k <= commits; k++)
                log_workload_commit(l, k, 1, 1000);
            log_close(l, NULL);
            const char *name = folder_join(folder, commits == 0 ? "00000001.seg" : "00000002.seg");
            file_write(name, NULL, 0);
            file_cut(name, sizes[i]);
            CHECK_INT(commits, log_workload_count(folder, commits));
            log_workload_seen s;
            REQUIRE(
                CHECK_OK(log_workload_replay(folder, false, commits, &s, &l), &log_workload_error));
            for (uint64_t k = commits + 1; k <= commits + 20; k++)
                log_workload_commit(l, k, 1, 100000);
            log_close(l, NULL);
            CHECK_INT(commits + 20, log_workload_count(folder, commits + 20));
            folder_end(folder);
        }
    }
}

static void a_stale_frame_never_comes_back(void) {
    /* Commits 6 to 10 lie on the disk but 5 was torn away. A new 5 of the same size takes its
     * place: the old 6 would fit after it. */
    uint64_t ends[11];
    char *folder = small_log(ends, false);
    const char *name = folder_join(folder, "00000001.seg");
    file_flip(name, ends[4] + 50, 1);
    log_workload_seen s;
    log *l;
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(4, s.frames);
    CHECK(log_workload_zero_after_head(l));
    log_workload_commit(l, 5, 1 + 5 % 3, 24);
    CHECK_INT(ends[5], (uint32_t)log_position(l));
    log_workload_kill(l);
    CHECK_INT(5, log_workload_count(folder, 0));
    folder_end(folder);

    /* The same over the border of a segment. */
    folder = folder_new();
    l = log_workload_start(folder);
    for (uint64_t i = 1; i <= 25; i++)
        log_workload_commit(l, i, 1, 100000);
    log_workload_kill(l);
    tail_file_lose_power(folder, false);
    CHECK(file_exists(folder_join(folder, "00000003.seg")));
    file_flip(folder_join(folder, "00000001.seg"), 500000, 1);
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(4, s.frames);
    CHECK(!file_exists(folder_join(folder, "00000002.seg")));
    for (uint64_t i = 5; i <= 10; i++)
        log_workload_commit(l, i, 1, 100000);
    log_workload_kill(l);
    CHECK_INT(10, log_workload_count(folder, 0));
    folder_end(folder);
}

int main(void) {
    RUN(a_log_cut_at_any_byte_keeps_its_prefix);
    RUN(a_flipped_bit_ends_the_log_or_is_damage);
    RUN(corruption_is_proved_by_later_commits);
    RUN(headers_of_segments_are_checked);
    RUN(a_missing_segment_is_damage);
    RUN(a_segment_whose_header_was_never_written_is_begun_again);
    RUN(a_stale_frame_never_comes_back);
    return check_finish();
}
