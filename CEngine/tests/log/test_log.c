/*
 * test_log.c -- the log by itself: frames, segments, savepoints and where a replay starts.
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

static void frames_come_back_in_order(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    for (uint64_t i = 1; i <= 500; i++)
        log_workload_commit(l, i, 1 + i % 5, (uint32_t)(5 + i * 37 % 900));
    CHECK_OK(log_close(l, &log_workload_error), &log_workload_error);
    CHECK_INT(500, log_workload_count(folder, 0));
    CHECK_INT(500, log_workload_count(folder, 500));
    CHECK_INT(-TANSU_E_CORRUPT, log_workload_count(folder, 501));
    folder_end(folder);
}

static void a_closed_log_takes_no_more_space_than_it_needs(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    log_workload_commit(l, 1, 1, 40);
    CHECK(file_size(folder_join(folder, "00000001.seg")) > 4096);
    log_close(l, NULL);
    CHECK_INT(SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE + RECORD_HEADER_SIZE + 40,
              file_size(folder_join(folder, "00000001.seg")));
    log_workload_seen s;
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 1, &s, &l), &log_workload_error));
    log_workload_commit(l, 2, 1, 40);
    log_close(l, NULL);
    CHECK_INT(2, log_workload_count(folder, 2));
    folder_end(folder);
}

static void segments_roll_over(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    uint64_t sequence = 0;
    while (log_measure(l).segments < 5)
        log_workload_commit(l, ++sequence, 2, 30000);
    CHECK(log_measure(l).bytes <= 5 * MIB);
    log_workload_kill(l);
    CHECK_INT(sequence, log_workload_count(folder, 0));
    log_workload_seen s;
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(2 * sequence, s.records);
    log_workload_commit(l, sequence + 1, 1, 100);
    log_close(l, NULL);
    CHECK_INT(sequence + 1, log_workload_count(folder, 0));
    folder_end(folder);
}

/* How far the pages of the head were made by writing zeros to its file. */
static struct written_pages {
    const uint8_t *mapped;
    uint64_t end;
    uint64_t further; /* calls for a segment after its first */
} written_pages;

static void note_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    if (written_pages.mapped != mapped) { /* another segment */
        written_pages.mapped = mapped;
        written_pages.end = fresh;
    } else {
        written_pages.further++;
    }
    CHECK(begin <= fresh && fresh < end);
    CHECK_INT(written_pages.end, fresh); /* a page between the two is made by a fault */
    for (uint64_t i = fresh; i < end; i++)
        REQUIRE(mapped[i] == 0); /* what is there already would be overwritten */
    written_pages.end = end;
    fs_system.populate(fd, mapped, begin, fresh, end);
}

static void no_page_of_a_growing_segment_is_left_to_a_fault(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    fs calls = *l->calls;
    calls.populate = note_populate;
    l->calls = &calls;
    l->segment_size = 16 * MIB; /* the steps become larger, and end at any page */
    written_pages = (struct written_pages){0};
    uint64_t sequence = 0;
    while (log_measure(l).segments < 2) {
        uint64_t size = 20 + sequence * 7919 % 16000;
        log_workload_commit(l, ++sequence, 3, (uint32_t)size);
    }
    CHECK(written_pages.further > 10);
    log_workload_kill(l);
    CHECK_INT(sequence, log_workload_count(folder, 0));
    folder_end(folder);
}

static void a_frame_may_be_larger_than_a_segment(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    log_workload_commit(l, 1, 3, 1000);
    log_workload_commit(l, 2, 60, 100000); /* six segments' worth, record by record */
    log_workload_commit(l, 3, 1, 1000);
    log_workload_commit(l, 4, 1, 5000000); /* in one piece */
    log_workload_commit(l, 5, 1, 8);
    log_workload_kill(l);
    CHECK_INT(5, log_workload_count(folder, 0));
    log_workload_seen s;
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(66, s.records);
    log_workload_commit(l, 6, 1, 2000000);
    log_close(l, NULL);
    CHECK_INT(6, log_workload_count(folder, 0));
    folder_end(folder);
}

static void a_memory_log_does_the_same(void) {
    log *l = NULL;
    REQUIRE(CHECK_OK(log_workload_open(NULL, false, &l), &log_workload_error));
    for (uint64_t i = 1; i <= 100; i++)
        log_workload_commit(l, i, 2, 20000);
    CHECK(log_measure(l).segments > 3);
    CHECK_OK(log_sync(l, 100, &log_workload_error), &log_workload_error);
    CHECK_OK(log_close(l, &log_workload_error), &log_workload_error);
}

static void an_aborted_frame_leaves_zeros(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    log_workload_commit(l, 1, 1, 100);
    for (uint32_t i = 0; i < 10; i++)
        CHECK_OK(log_workload_record(l, 2, i, 5000), &log_workload_error);
    CHECK(!log_workload_zero_after_head(l));
    log_abort(l);
    CHECK(log_workload_zero_after_head(l));
    log_abort(l); /* of nothing is no harm */
    log_workload_commit(l, 2, 1, 100);
    /* A frame that has moved leaves nothing where it was, either. */
    for (uint32_t i = 0; i < 30; i++)
        CHECK_OK(log_workload_record(l, 3, i, 50000), &log_workload_error);
    CHECK_INT(2, log_measure(l).segments);
    const segment *old = segment_get(l, 1);
    for (uint64_t i = old->used; i < old->allocated; i++)
        if (!CHECK_INT(0, old->base[i]))
            break;
    log_abort(l);
    CHECK(log_workload_zero_after_head(l));
    log_workload_commit(l, 3, 1, 100);
    log_workload_kill(l);
    CHECK_INT(3, log_workload_count(folder, 0));
    folder_end(folder);
}

static void a_savepoint_takes_back_the_end_of_a_frame(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    CHECK_OK(log_workload_record(l, 1, 0, 64), &log_workload_error);
    uint64_t size = l->frame_size;
    for (uint32_t i = 1; i < 40; i++) /* into another segment */
        CHECK_OK(log_workload_record(l, 1, i, 60000), &log_workload_error);
    log_shrink(l, size, 1);
    CHECK_OK(log_workload_record(l, 1, 1, 64), &log_workload_error);
    log_location frame;
    CHECK_OK(log_commit(l, 1, &frame, NULL), NULL);
    CHECK(log_workload_zero_after_head(l));
    CHECK_OK(log_workload_record(l, 2, 0, 64), &log_workload_error);
    log_shrink(l, 0, 0);
    CHECK(log_workload_zero_after_head(l));
    log_workload_commit(l, 2, 2, 64);
    log_workload_kill(l);
    log_workload_seen s;
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(2, s.frames);
    CHECK_INT(4, s.records);
    log_close(l, NULL);
    folder_end(folder);
}

static void a_frame_has_a_greatest_size(void) {
    log *l = NULL;
    REQUIRE(CHECK_OK(log_workload_open(NULL, false, &l), &log_workload_error));
    uint64_t offset;
    uint8_t *bytes;
    CHECK_STATUS(TANSU_E_TOO_LARGE,
                 log_append(l, TANSU_MAX_TRANSACTION_SIZE, &offset, &bytes, &log_workload_error));
    log_workload_commit(l, 1, 1, 8);
    CHECK_OK(log_workload_record(l, 2, 0, 8), &log_workload_error);
    CHECK_STATUS(TANSU_E_TOO_LARGE,
                 log_append(l, UINT64_C(1) << 31, &offset, &bytes, &log_workload_error));
    CHECK_OK(log_workload_record(l, 2, 1, 8),
             &log_workload_error); /* the frame so far has stayed */
    log_location frame;
    CHECK_OK(log_commit(l, 2, &frame, NULL), NULL);
    log_close(l, NULL);
}

static void replay_starts_at_the_given_position(void) {
    char *folder = folder_new();
    log *l = log_workload_start(folder);
    uint64_t positions[40];
    for (uint64_t i = 1; i < 40; i++) {
        log_workload_commit(l, i, 1, 70000);
        positions[i] = log_position(l);
    }
    log_close(l, NULL);
    for (uint64_t from = 1; from < 40; from++) {
        log_workload_seen s = {.last = from};
        bool reached = false;
        REQUIRE(CHECK_OK(log_workload_open(folder, true, &l), &log_workload_error));
        CHECK_OK(log_replay(l, from, positions[from], 39, log_workload_visit, &s, NULL, NULL,
                            &reached, &log_workload_error),
                 &log_workload_error);
        CHECK(reached && !s.wrong);
        CHECK_INT(39 - from, s.frames);
        log_close(l, NULL);
    }
    /* An index that is ahead of the log. */
    static const uint64_t ahead[] = {(uint64_t)99 << 32 | 64, (uint64_t)1 << 32 | 0x7FFFFFF8,
                                     (uint64_t)1 << 32 | 8};
    for (size_t i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
        log_workload_seen s = {.last = 50};
        bool reached = true;
        REQUIRE(CHECK_OK(log_workload_open(folder, true, &l), &log_workload_error));
        CHECK_OK(log_replay(l, 50, ahead[i], 0, log_workload_visit, &s, NULL, NULL, &reached,
                            &log_workload_error),
                 &log_workload_error);
        CHECK(!reached);
        log_close(l, NULL);
    }
    folder_end(folder);
}

int main(void) {
    RUN(frames_come_back_in_order);
    RUN(a_closed_log_takes_no_more_space_than_it_needs);
    RUN(segments_roll_over);
    RUN(no_page_of_a_growing_segment_is_left_to_a_fault);
    RUN(a_frame_may_be_larger_than_a_segment);
    RUN(a_memory_log_does_the_same);
    RUN(an_aborted_frame_leaves_zeros);
    RUN(a_savepoint_takes_back_the_end_of_a_frame);
    RUN(a_frame_has_a_greatest_size);
    RUN(replay_starts_at_the_given_position);
    return check_finish();
}
