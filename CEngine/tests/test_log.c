/*
 * test_log.c -- the log by itself: frames and segments, torn ends and damage at every byte, group
 * commit, syncs that fail, and a full disk.
 */
#include "base/error.h"
#include "log/log.h"
#include "log/segment.h"
#include "toolkit/check.h"
#include "toolkit/fault.h"
#include "toolkit/folder.h"
#include "toolkit/marks.h"
#include "toolkit/random.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((uint64_t)1 << 20)

static tansu_error error;

/* ---- The least that makes a log useful: records that tell their commit ---- */

/* log_at -- opens a log in a folder (NULL: in memory). */
static tansu_status log_at(const char *folder, bool read_only, log **l) {
    log_options options = {
        .calls = &fault_calls, .folder = folder, .read_only = read_only, .segment_size = MIB};
    memset(options.uuid, 7, sizeof options.uuid);
    return log_open(&options, l, &error);
}

/* byte_of -- what the payload of a commit's record is filled with. */
static uint8_t byte_of(uint64_t sequence, uint32_t record) {
    return (uint8_t)(sequence * 31 + record * 7 + 1);
}

/* add_record -- a record of `size` bytes of payload in the frame being built. */
static tansu_status add_record(log *l, uint64_t sequence, uint32_t number, uint32_t size) {
    uint64_t offset, total = RECORD_HEADER_SIZE + align8(size);
    uint8_t *bytes;
    tansu_status status = log_append(l, total, &offset, &bytes, &error);
    if (status != TANSU_OK)
        return status;
    record_header header = {.size = (uint32_t)total,
                            .type = RECORD_PUT,
                            .where = record_where(1, number),
                            .sequence = sequence};
    memcpy(bytes, &header, sizeof header);
    memset(bytes + RECORD_HEADER_SIZE, byte_of(sequence, number), align8(size));
    return TANSU_OK;
}

/* add_commit -- a commit of so many records of that size each. */
static void add_commit(log *l, uint64_t sequence, uint32_t records, uint32_t size) {
    for (uint32_t i = 0; i < records; i++)
        REQUIRE(CHECK_OK(add_record(l, sequence, i, size), &error));
    log_place frame;
    CHECK_OK(log_commit(l, sequence, &frame, NULL), NULL);
}

/* What a replay saw. */
typedef struct seen {
    uint64_t frames;
    uint64_t records;
    uint64_t last;
    bool wrong;
} seen;

/* see_frame -- checks that the frame holds what add_commit() wrote. */
static tansu_status see_frame(void *context, const frame_header *frame, log_place place,
                              tansu_error *why) {
    (void)place;
    (void)why;
    seen *s = context;
    s->wrong = s->wrong || frame->sequence != s->last + 1;
    s->last = frame->sequence;
    s->frames++;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    for (uint32_t i = 0; i < frame->count; i++) {
        const record_header *record = (const record_header *)at;
        s->wrong = s->wrong || record_docno(record) != i;
        for (uint32_t k = RECORD_HEADER_SIZE; k < record->size; k++)
            s->wrong = s->wrong || at[k] != byte_of(frame->sequence, i);
        at += record->size;
        s->records++;
    }
    return TANSU_OK;
}

/* replay -- opens the log, walks it, and leaves it open. The status of opening or of the walk. */
static tansu_status replay(const char *folder, bool read_only, uint64_t sure, seen *s, log **l) {
    bool reached = false;
    *s = (seen){0};
    *l = NULL;
    tansu_status status = log_at(folder, read_only, l);
    if (status != TANSU_OK)
        return status;
    status = log_replay(*l, 0, 0, sure, see_frame, s, NULL, NULL, &reached, &error);
    if (status != TANSU_OK) {
        log_close(*l, NULL);
        *l = NULL;
        return status;
    }
    CHECK(reached);
    CHECK(!s->wrong);
    return status;
}

/* count_frames -- how many commits a log holds, opened read-only; or minus the status. */
static int64_t count_frames(const char *folder, uint64_t sure) {
    seen s;
    log *l;
    tansu_status status = replay(folder, true, sure, &s, &l);
    log_close(l, NULL);
    return status == TANSU_OK ? (int64_t)s.frames : -(int64_t)status;
}

/* start -- an empty log. */
static log *start(const char *folder) {
    seen s;
    log *l;
    fault_reset();
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(0, s.frames);
    return l;
}

/* drop -- ends a log as a killed process does: nothing is trimmed. */
static void drop(log *l) {
    l->read_only = true;
    log_close(l, NULL);
}

/* ---- Frames and segments ---- */

static void frames_come_back_in_order(void) {
    char *folder = folder_new();
    log *l = start(folder);
    for (uint64_t i = 1; i <= 500; i++)
        add_commit(l, i, 1 + i % 5, (uint32_t)(5 + i * 37 % 900));
    CHECK_OK(log_close(l, &error), &error);
    CHECK_INT(500, count_frames(folder, 0));
    CHECK_INT(500, count_frames(folder, 500));
    CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, 501));
    folder_end(folder);
}

static void a_closed_log_takes_no_more_room_than_it_needs(void) {
    char *folder = folder_new();
    log *l = start(folder);
    add_commit(l, 1, 1, 40);
    CHECK(file_size(folder_join(folder, "00000001.seg")) > 4096);
    log_close(l, NULL);
    CHECK_INT(SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE + RECORD_HEADER_SIZE + 40,
              file_size(folder_join(folder, "00000001.seg")));
    seen s;
    REQUIRE(CHECK_OK(replay(folder, false, 1, &s, &l), &error));
    add_commit(l, 2, 1, 40);
    log_close(l, NULL);
    CHECK_INT(2, count_frames(folder, 2));
    folder_end(folder);
}

static void segments_roll_over(void) {
    char *folder = folder_new();
    log *l = start(folder);
    uint64_t sequence = 0;
    while (log_measure(l).segments < 5)
        add_commit(l, ++sequence, 2, 30000);
    CHECK(log_measure(l).bytes <= 5 * MIB);
    drop(l);
    CHECK_INT(sequence, count_frames(folder, 0));
    seen s;
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(2 * sequence, s.records);
    add_commit(l, sequence + 1, 1, 100);
    log_close(l, NULL);
    CHECK_INT(sequence + 1, count_frames(folder, 0));
    folder_end(folder);
}

static void a_frame_may_be_larger_than_a_segment(void) {
    char *folder = folder_new();
    log *l = start(folder);
    add_commit(l, 1, 3, 1000);
    add_commit(l, 2, 60, 100000); /* six segments' worth, record by record */
    add_commit(l, 3, 1, 1000);
    add_commit(l, 4, 1, 5000000); /* in one piece */
    add_commit(l, 5, 1, 8);
    drop(l);
    CHECK_INT(5, count_frames(folder, 0));
    seen s;
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(66, s.records);
    add_commit(l, 6, 1, 2000000);
    log_close(l, NULL);
    CHECK_INT(6, count_frames(folder, 0));
    folder_end(folder);
}

static void a_memory_log_does_the_same(void) {
    log *l = NULL;
    REQUIRE(CHECK_OK(log_at(NULL, false, &l), &error));
    for (uint64_t i = 1; i <= 100; i++)
        add_commit(l, i, 2, 20000);
    CHECK(log_measure(l).segments > 3);
    CHECK_OK(log_sync(l, 100, &error), &error);
    CHECK_OK(log_close(l, &error), &error);
}

/* zero_behind -- whether everything behind the head is zero. */
static bool zero_behind(const log *l) {
    const segment *head = segment_head(l);
    bool zero = true;
    for (uint64_t i = head->used; i < head->allocated; i++)
        zero = zero && head->base[i] == 0;
    return zero;
}

static void an_aborted_frame_leaves_zeros(void) {
    char *folder = folder_new();
    log *l = start(folder);
    add_commit(l, 1, 1, 100);
    for (uint32_t i = 0; i < 10; i++)
        CHECK_OK(add_record(l, 2, i, 5000), &error);
    CHECK(!zero_behind(l));
    log_abort(l);
    CHECK(zero_behind(l));
    log_abort(l); /* of nothing is no harm */
    add_commit(l, 2, 1, 100);
    /* A frame that has moved leaves nothing where it was, either. */
    for (uint32_t i = 0; i < 30; i++)
        CHECK_OK(add_record(l, 3, i, 50000), &error);
    CHECK_INT(2, log_measure(l).segments);
    const segment *old = segment_get(l, 1);
    for (uint64_t i = old->used; i < old->allocated; i++)
        if (!CHECK_INT(0, old->base[i]))
            break;
    log_abort(l);
    CHECK(zero_behind(l));
    add_commit(l, 3, 1, 100);
    drop(l);
    CHECK_INT(3, count_frames(folder, 0));
    folder_end(folder);
}

static void a_savepoint_takes_back_the_end_of_a_frame(void) {
    char *folder = folder_new();
    log *l = start(folder);
    CHECK_OK(add_record(l, 1, 0, 64), &error);
    uint64_t size = l->frame_size;
    for (uint32_t i = 1; i < 40; i++) /* into another segment */
        CHECK_OK(add_record(l, 1, i, 60000), &error);
    log_shrink(l, size, 1);
    CHECK_OK(add_record(l, 1, 1, 64), &error);
    log_place frame;
    CHECK_OK(log_commit(l, 1, &frame, NULL), NULL);
    CHECK(zero_behind(l));
    CHECK_OK(add_record(l, 2, 0, 64), &error);
    log_shrink(l, 0, 0);
    CHECK(zero_behind(l));
    add_commit(l, 2, 2, 64);
    drop(l);
    seen s;
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(2, s.frames);
    CHECK_INT(4, s.records);
    log_close(l, NULL);
    folder_end(folder);
}

static void a_frame_has_a_greatest_size(void) {
    log *l = NULL;
    REQUIRE(CHECK_OK(log_at(NULL, false, &l), &error));
    uint64_t offset;
    uint8_t *bytes;
    CHECK_STATUS(TANSU_E_TOO_LARGE,
                 log_append(l, TANSU_MAX_TRANSACTION_SIZE, &offset, &bytes, &error));
    add_commit(l, 1, 1, 8);
    CHECK_OK(add_record(l, 2, 0, 8), &error);
    CHECK_STATUS(TANSU_E_TOO_LARGE, log_append(l, UINT64_C(1) << 31, &offset, &bytes, &error));
    CHECK_OK(add_record(l, 2, 1, 8), &error); /* the frame so far has stayed */
    log_place frame;
    CHECK_OK(log_commit(l, 2, &frame, NULL), NULL);
    log_close(l, NULL);
}

static void replay_starts_where_it_is_told(void) {
    char *folder = folder_new();
    log *l = start(folder);
    uint64_t positions[40];
    for (uint64_t i = 1; i < 40; i++) {
        add_commit(l, i, 1, 70000);
        positions[i] = log_position(l);
    }
    log_close(l, NULL);
    for (uint64_t from = 1; from < 40; from++) {
        seen s = {.last = from};
        bool reached = false;
        REQUIRE(CHECK_OK(log_at(folder, true, &l), &error));
        CHECK_OK(
            log_replay(l, from, positions[from], 39, see_frame, &s, NULL, NULL, &reached, &error),
            &error);
        CHECK(reached && !s.wrong);
        CHECK_INT(39 - from, s.frames);
        log_close(l, NULL);
    }
    /* An index that is ahead of the log. */
    static const uint64_t ahead[] = {(uint64_t)99 << 32 | 64, (uint64_t)1 << 32 | 0x7FFFFFF8,
                                     (uint64_t)1 << 32 | 8};
    for (size_t i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
        seen s = {.last = 50};
        bool reached = true;
        REQUIRE(CHECK_OK(log_at(folder, true, &l), &error));
        CHECK_OK(log_replay(l, 50, ahead[i], 0, see_frame, &s, NULL, NULL, &reached, &error),
                 &error);
        CHECK(!reached);
        log_close(l, NULL);
    }
    folder_end(folder);
}

/* ---- Torn ends and damage ---- */

/* small_log -- ten commits of one segment, as they are found after power loss; ends[i]: where commit i ends. */
static char *small_log(uint64_t ends[11], bool synced) {
    char *folder = folder_new();
    log *l = start(folder);
    ends[0] = SEGMENT_HEADER_SIZE;
    for (uint64_t i = 1; i <= 10; i++) {
        add_commit(l, i, 1 + i % 3, 24);
        ends[i] = (uint32_t)log_position(l);
        if (synced)
            CHECK_OK(log_sync(l, i, &error), &error);
    }
    log_close(l, NULL);
    marks_lose_power(folder, false);
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
            seen s;
            log *l;
            REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
            CHECK_INT(expected, s.frames);
            CHECK(zero_behind(l));
            add_commit(l, expected + 1, 1, 16);
            drop(l);
            CHECK_INT(expected + 1, count_frames(folder, 0));
            marks_lose_power(folder, false);
        }
    }
    file_write(name, whole.data, ends[9] + 8);
    CHECK_INT(9, count_frames(folder, 9));
    CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, 10));
    CHECK_TEXT("log/00000001.seg", error.context);
    CHECK_INT(ends[9], error.offset);
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
        CHECK_INT(before, count_frames(folder, before));
        CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, before + 1));
        CHECK_INT(ends[before], error.offset);
        file_flip(name, at, (unsigned)(at % 8));
    }
    CHECK_INT(10, count_frames(folder, 10));
    folder_end(folder);
}

static void damage_is_told_by_later_commits(void) {
    uint64_t ends[11];
    char *folder = small_log(ends, true);
    const char *name = folder_join(folder, "00000001.seg");
    /* Commits 2 to 10 say that the one before each was on the disk: nothing else has to know. */
    for (uint64_t at = SEGMENT_HEADER_SIZE; at < ends[9]; at += 3) {
        file_flip(name, at, 2);
        CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, 0));
        CHECK(error.offset <= (int64_t)at && error.offset >= SEGMENT_HEADER_SIZE);
        CHECK_TEXT("log/00000001.seg", error.context);
        /* Nothing was changed by looking, and opening to write refuses, too. */
        seen s;
        log *l;
        CHECK_STATUS(TANSU_E_CORRUPT, replay(folder, false, 0, &s, &l));
        file_flip(name, at, 2);
    }
    CHECK_INT(10, count_frames(folder, 0));
    /* The last one may be torn: no later one knows of it. */
    file_flip(name, ends[9] + 40, 2);
    CHECK_INT(9, count_frames(folder, 0));
    folder_end(folder);
}

static void headers_of_segments_are_checked(void) {
    char *folder = folder_new();
    log *l = start(folder);
    for (uint64_t i = 1; i <= 30; i++)
        add_commit(l, i, 1, 100000);
    CHECK(log_measure(l).segments >= 3);
    log_close(l, NULL);
    const char *name = folder_join(folder, "00000002.seg");
    for (uint64_t at = 0; at < SEGMENT_HEADER_SIZE; at += 3) {
        file_flip(name, at, 5);
        CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, 0));
        CHECK_TEXT(name, error.context);
        file_flip(name, at, 5);
    }
    CHECK_INT(30, count_frames(folder, 30));
    folder_end(folder);
}

static void a_missing_segment_is_damage(void) {
    static const char *const missing[] = {"00000001.seg", "00000002.seg"};
    for (size_t i = 0; i < 2; i++) {
        char *folder = folder_new();
        log *l = start(folder);
        for (uint64_t k = 1; k <= 30; k++)
            add_commit(l, k, 1, 100000);
        log_close(l, NULL);
        remove(folder_join(folder, missing[i]));
        CHECK_INT(-TANSU_E_CORRUPT, count_frames(folder, 0));
        seen s;
        CHECK_STATUS(TANSU_E_CORRUPT, replay(folder, false, 0, &s, &l));
        CHECK(file_size(folder_join(folder, "00000003.seg")) > 0);
        folder_end(folder);
    }
}

static void a_segment_whose_header_was_never_written_is_made_anew(void) {
    static const uint64_t sizes[] = {0, 40, 64, 262144};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint64_t commits = 0; commits <= 12; commits += 12) {
            char *folder = folder_new();
            log *l = start(folder);
            for (uint64_t k = 1; k <= commits; k++)
                add_commit(l, k, 1, 1000);
            log_close(l, NULL);
            const char *name = folder_join(folder, commits == 0 ? "00000001.seg" : "00000002.seg");
            file_write(name, NULL, 0);
            file_cut(name, sizes[i]);
            CHECK_INT(commits, count_frames(folder, commits));
            seen s;
            REQUIRE(CHECK_OK(replay(folder, false, commits, &s, &l), &error));
            for (uint64_t k = commits + 1; k <= commits + 20; k++)
                add_commit(l, k, 1, 100000);
            log_close(l, NULL);
            CHECK_INT(commits + 20, count_frames(folder, commits + 20));
            folder_end(folder);
        }
    }
}

static void a_stale_frame_never_comes_back(void) {
    /* Commits 6 to 10 lie on the disk but 5 was torn away. A new 5 of the same size takes its place: the
     * old 6 would fit behind it. */
    uint64_t ends[11];
    char *folder = small_log(ends, false);
    const char *name = folder_join(folder, "00000001.seg");
    file_flip(name, ends[4] + 50, 1);
    seen s;
    log *l;
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(4, s.frames);
    CHECK(zero_behind(l));
    add_commit(l, 5, 1 + 5 % 3, 24);
    CHECK_INT(ends[5], (uint32_t)log_position(l));
    drop(l);
    CHECK_INT(5, count_frames(folder, 0));
    folder_end(folder);

    /* The same over the border of a segment. */
    folder = folder_new();
    l = start(folder);
    for (uint64_t i = 1; i <= 25; i++)
        add_commit(l, i, 1, 100000);
    drop(l);
    marks_lose_power(folder, false);
    CHECK(file_exists(folder_join(folder, "00000003.seg")));
    file_flip(folder_join(folder, "00000001.seg"), 500000, 1);
    REQUIRE(CHECK_OK(replay(folder, false, 0, &s, &l), &error));
    CHECK_INT(4, s.frames);
    CHECK(!file_exists(folder_join(folder, "00000002.seg")));
    for (uint64_t i = 5; i <= 10; i++)
        add_commit(l, i, 1, 100000);
    drop(l);
    CHECK_INT(10, count_frames(folder, 0));
    folder_end(folder);
}

/* ---- Syncs ---- */

typedef struct syncing_writers {
    log *l;
    pthread_mutex_t turn;
    uint64_t sequence;
    uint64_t each;
} syncing_writers;

/* write_and_sync -- commits one after the other, each waiting for the disk. */
static void *write_and_sync(void *context) {
    syncing_writers *w = context;
    for (uint64_t i = 0; i < w->each; i++) {
        pthread_mutex_lock(&w->turn);
        uint64_t sequence = ++w->sequence;
        add_commit(w->l, sequence, 1, 9000);
        pthread_mutex_unlock(&w->turn);
        CHECK_OK(log_sync(w->l, sequence, NULL), NULL);
        pthread_mutex_lock(&w->l->mutex);
        CHECK(w->l->synced >= sequence);
        pthread_mutex_unlock(&w->l->mutex);
    }
    return NULL;
}

static void writers_share_syncs(void) {
    char *folder = folder_new();
    syncing_writers w = {.l = start(folder), .each = 40};
    pthread_mutex_init(&w.turn, NULL);
    faults.sync_wait_ms = 2;
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_and_sync, &w) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(320, w.sequence);
    CHECK(faults.syncs >= 40);
    CHECK(faults.syncs < 200); /* one each would be 320 */
    check_note("320 commits of 8 threads, %u syncs", (unsigned)faults.syncs);
    pthread_mutex_destroy(&w.turn);
    log_close(w.l, NULL);
    CHECK_INT(320, count_frames(folder, 320));
    folder_end(folder);
}

static void a_sync_covers_all_segments_of_a_commit(void) {
    char *folder = folder_new();
    log *l = start(folder);
    for (uint64_t i = 1; i <= 12; i++)
        add_commit(l, i, 1, 900000);
    unsigned before = faults.syncs;
    CHECK_OK(log_sync(l, 12, &error), &error);
    CHECK_INT(log_measure(l).segments, faults.syncs - before);
    before = faults.syncs;
    CHECK_OK(log_sync(l, 12, &error), &error); /* it is there */
    CHECK_INT(0, faults.syncs - before);
    add_commit(l, 13, 1, 8);
    CHECK_OK(log_sync(l, 13, &error), &error);
    CHECK(faults.syncs - before <= 2);
    log_close(l, NULL);
    folder_end(folder);
}

static void a_failed_sync_is_never_tried_again(void) {
    char *folder = folder_new();
    log *l = start(folder);
    add_commit(l, 1, 1, 100);
    CHECK_OK(log_sync(l, 1, &error), &error);
    add_commit(l, 2, 1, 100);
    faults.sync_errno = EIO;
    CHECK_STATUS(TANSU_E_IO, log_sync(l, 2, &error));
    CHECK_INT(EIO, error.sys_errno);
    CHECK(log_failed(l));
    faults.sync_errno = 0;
    unsigned before = faults.syncs;
    CHECK_STATUS(TANSU_E_IO, log_sync(l, 2, &error));
    CHECK_INT(before, faults.syncs);
    CHECK_OK(log_sync(l, 1, &error), &error); /* that one is on the disk */
    CHECK_OK(log_close(l, &error), &error);
    CHECK_INT(2, count_frames(folder, 0));
    folder_end(folder);
}

/* ---- A full disk ---- */

static void a_full_disk_keeps_what_was_there(void) {
    char *folder = folder_new();
    log *l = start(folder);
    uint64_t sequence = 0;
    for (int i = 0; i < 5; i++)
        add_commit(l, ++sequence, 1, 1000);
    faults.allocate_errno = ENOSPC;
    tansu_status status;
    uint32_t records = 0;
    while ((status = add_record(l, sequence + 1, records, 10000)) == TANSU_OK)
        records++;
    CHECK_STATUS(TANSU_E_FULL, status);
    CHECK_INT(ENOSPC, error.sys_errno);
    CHECK(records > 0); /* what was preallocated could be used */
    CHECK_STATUS(TANSU_E_FULL, add_record(l, sequence + 1, records, MIB));
    CHECK(!file_exists(folder_join(folder, "00000002.seg")));
    log_abort(l);
    CHECK(zero_behind(l));
    add_commit(l, ++sequence, 1, 1000); /* small ones still fit */
    faults.allocate_errno = 0;
    add_commit(l, ++sequence, 30, 100000);
    drop(l);
    CHECK_INT(sequence, count_frames(folder, sequence));
    folder_end(folder);
}

static void a_disk_that_is_full_from_the_start(void) {
    char *folder = folder_new();
    log *l = start(folder);
    faults.allocate_errno = ENOSPC;
    CHECK_STATUS(TANSU_E_FULL, add_record(l, 1, 0, 100));
    CHECK_INT(0, log_measure(l).segments);
    faults.allocate_errno = 0;
    faults.open_errno = EMFILE;
    CHECK_STATUS(TANSU_E_IO, add_record(l, 1, 0, 100));
    faults.open_errno = 0;
    add_commit(l, 1, 1, 100);
    log_close(l, NULL);
    CHECK_INT(1, count_frames(folder, 1));
    folder_end(folder);
}

int main(void) {
    RUN(frames_come_back_in_order);
    RUN(a_closed_log_takes_no_more_room_than_it_needs);
    RUN(segments_roll_over);
    RUN(a_frame_may_be_larger_than_a_segment);
    RUN(a_memory_log_does_the_same);
    RUN(an_aborted_frame_leaves_zeros);
    RUN(a_savepoint_takes_back_the_end_of_a_frame);
    RUN(a_frame_has_a_greatest_size);
    RUN(replay_starts_where_it_is_told);
    RUN(a_log_cut_at_any_byte_keeps_its_prefix);
    RUN(a_flipped_bit_ends_the_log_or_is_damage);
    RUN(damage_is_told_by_later_commits);
    RUN(headers_of_segments_are_checked);
    RUN(a_missing_segment_is_damage);
    RUN(a_segment_whose_header_was_never_written_is_made_anew);
    RUN(a_stale_frame_never_comes_back);
    RUN(writers_share_syncs);
    RUN(a_sync_covers_all_segments_of_a_commit);
    RUN(a_failed_sync_is_never_tried_again);
    RUN(a_full_disk_keeps_what_was_there);
    RUN(a_disk_that_is_full_from_the_start);
    return check_finish();
}
