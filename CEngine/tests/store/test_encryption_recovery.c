/*
 * test_encryption_recovery.c -- what opening for writing makes of an encrypted log with a block that
 * cannot be decrypted: the block costs the documents in it, and nothing that lies behind it.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "log/tail.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "util/buffer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAD 900

static const uint8_t key[33] = "thirty-two bytes of a random key";

/* Where a test works, and its database. */
static char *folder;
static char home[512];

static tansu_options options_of(const char *path) {
    tansu_options options = call_options(path);
    options.key = key;
    options.key_size = 32;
    options.segment_size = 1024 * 1024;
    options.checkpoint_bytes = (uint64_t)1 << 40;
    return options;
}

static tansu_db *open_home(void) {
    const tansu_options options = options_of(home);
    return call_open_with(&options);
}

/* save_some -- documents from `from` up to `to`, each in a commit of its own. */
static void save_some(tansu_db *db, int from, int to) {
    static char pad[PAD + 1];
    memset(pad, 'p', PAD);
    for (int id = from; id < to; id++) {
        char json[PAD + 64];
        snprintf(json, sizeof json, "{'_id': %d, 'pad': '%s'}", id, pad);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
}

/* lost -- how many of the documents up to `to` cannot be read, as CORRUPT; any other answer is a
 * failure. */
static int lost(tansu_db *db, int to) {
    int count = 0;
    for (int id = 0; id < to; id++) {
        char text[32], begin[48];
        snprintf(text, sizeof text, "{'_id': %d}", id);
        snprintf(begin, sizeof begin, "{ \"_id\" : %d, \"pad\" : \"ppp", id);
        const char *found = call_get(db, NULL, "c", text);
        if (strcmp(found, "CORRUPT") == 0)
            count++;
        else if (!CHECK(strncmp(found, begin, strlen(begin)) == 0))
            check_note("    document %d is %.60s", id, found);
    }
    return count;
}

/* block_at -- where the first block of a segment begins that does not begin before `least`. */
static uint64_t block_at(const char *segment, uint64_t least) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    sealed_header header;
    uint64_t at = SEALED_BLOCKS;
    file_read(folder_join(home, segment), &bytes);
    while (at < least && sealed_header_at(bytes.data, bytes.size, at, &header))
        at += sealed_size(header.stored);
    REQUIRE(sealed_header_at(bytes.data, bytes.size, at, &header));
    tansu_buffer_free(&bytes);
    return at;
}

/* table_at -- where the table of a segment begins; 0: it has none. */
static uint64_t table_at(const char *segment) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    sealed_trailer trailer = {0};
    file_read(folder_join(home, segment), &bytes);
    REQUIRE(bytes.size > sizeof trailer);
    memcpy(&trailer, bytes.data + bytes.size - sizeof trailer, sizeof trailer);
    tansu_buffer_free(&bytes);
    return memcmp(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic) == 0 ? trailer.table
                                                                                  : 0;
}

static void begin(void) {
    folder = folder_new();
    snprintf(home, sizeof home, "%s/db", folder);
}

/* killed -- the database is as when the process was killed now. */
static void killed(tansu_db *db) {
    char copy[600];
    snprintf(copy, sizeof copy, "%s-copy", home);
    folder_copy(home, copy);
    call_close(db);
    folder_remove(home);
    REQUIRE(rename(copy, home) == 0);
}

/* What the marks say of the last sync: that it ended, was interrupted, or failed, after which the
 * bytes at the end of the log are written again, in place or into a new file. */
enum sync_state { SYNC_ENDED, SYNC_INTERRUPTED, SYNC_FAILED, SYNC_STATES };

static void set_sync_state(enum sync_state state) {
    if (state == SYNC_INTERRUPTED)
        tail_file_set_state(folder_join(home, "log"), TAIL_SYNCING);
    if (state == SYNC_FAILED)
        tail_file_set_state(folder_join(home, "log"), TAIL_FAILED);
}

/* check_use -- opens the database again and again, and writes: of the documents up to `to`, and of new
 * ones, no more are lost than those in one block. */
static void check_use(int to) {
    for (int round = 0; round < 3; round++) {
        tansu_db *db = open_home();
        int gone = lost(db, to);
        if (!CHECK(gone >= 1 && gone <= 18)) /* a group of blocks, where they are read so */
            check_note("    opening %d: %d of %d documents are lost", round, gone, to);
        save_some(db, to, to + 10);
        to += 10;
        CHECK(lost(db, to) <=
              gone); /* with all of the segment in memory, blocks are read one by one */
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        CHECK(maintenance_contains("block"));
        call_close(db);
    }
}

/* A crash leaves the last segment without a table; the block lies before the checkpoint. */
static void a_block_before_the_checkpoint_costs_itself(void) {
    for (int state = SYNC_ENDED; state < SYNC_STATES; state++) {
        begin();
        tansu_db *db = open_home();
        save_some(db, 0, 300);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        save_some(db, 300, 400);
        killed(db);
        file_flip(folder_join(home, "log/00000001.seg"),
                  block_at("log/00000001.seg", 100000) + SEALED_HEADER_SIZE + 50, 3);
        set_sync_state(state);
        check_use(400);
        folder_end(folder);
    }
}

/* The checkpoint is just before the crash, and the block among the last before it. */
static void a_block_just_before_the_end_costs_itself(void) {
    begin();
    tansu_db *db = open_home();
    save_some(db, 0, 300);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    killed(db);
    file_flip(folder_join(home, "log/00000001.seg"),
              block_at("log/00000001.seg", 290000) + SEALED_HEADER_SIZE + 50, 3);
    check_use(300);
    folder_end(folder);
}

/* A segment before the last that has no table yet gets one over all of its blocks. */
static void a_segment_without_a_table_keeps_its_blocks(void) {
    for (int state = SYNC_ENDED; state < SYNC_STATES; state++) {
        for (int checkpoint = 300; checkpoint <= 1800; checkpoint += 1500) {
            begin();
            tansu_db *db = open_home();
            save_some(db, 0, checkpoint);
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
            save_some(db, checkpoint, 2000);
            killed(db);
            uint64_t table = table_at("log/00000001.seg");
            REQUIRE(table != 0);
            file_cut(folder_join(home, "log/00000001.seg"), table);
            file_flip(folder_join(home, "log/00000001.seg"),
                      block_at("log/00000001.seg", 100000) + SEALED_HEADER_SIZE + 50, 3);
            set_sync_state(state);
            check_use(2000);
            CHECK(table_at("log/00000001.seg") == table);
            folder_end(folder);
        }
    }
}

/* Power loss may tear a table after the next segment was begun. */
static void a_torn_table_is_written_anew(void) {
    begin();
    tansu_db *db = open_home();
    save_some(db, 0, 1800);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    save_some(db, 1800, 2000);
    killed(db);
    uint64_t table = table_at("log/00000001.seg");
    REQUIRE(table != 0);
    file_flip(folder_join(home, "log/00000001.seg"), table + SEALED_HEADER_SIZE + 20, 3);
    tail_file_lose_power(folder_join(home, "log"), true);
    for (int round = 0; round < 2; round++) {
        db = open_home();
        maintenance_clean(db);
        CHECK_INT(0, lost(db, 2000));
        call_close(db);
        CHECK(table_at("log/00000001.seg") == table);
    }
    folder_end(folder);
}

/* After a clean end a short last segment is continued, for which all of it is decrypted. */
static void a_short_segment_is_continued_after_a_bad_block(void) {
    for (int last = 0; last < 2; last++) {
        begin();
        tansu_db *db = open_home();
        save_some(db, 0, 60);
        call_close(db);
        uint64_t at = SEALED_BLOCKS, table = table_at("log/00000001.seg");
        for (uint64_t next = at; next < (last ? table : 30000);
             next = block_at("log/00000001.seg", at + 8))
            at = next;
        file_flip(folder_join(home, "log/00000001.seg"), at + SEALED_HEADER_SIZE + 50, 3);
        check_use(60);
        CHECK(!file_exists(folder_join(home, "log/00000002.seg")));
        folder_end(folder);
    }
}

/* Blocks in each other's place are read where they say that they belong, and nothing is cut off. */
static void exchanged_blocks_lose_nothing(void) {
    begin();
    tansu_db *db = open_home();
    save_some(db, 0, 300);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    killed(db);
    tansu_buffer before = TANSU_BUFFER_INIT, after = TANSU_BUFFER_INIT;
    /* A commit that begins a group of blocks may be cut at its end. */
    uint64_t one = 100000, two, end;
    do {
        one = block_at("log/00000001.seg", one + 8);
        two = block_at("log/00000001.seg", one + 8);
        end = block_at("log/00000001.seg", two + 8);
    } while (two - one != end - two);
    file_read(folder_join(home, "log/00000001.seg"), &before);
    file_patch(folder_join(home, "log/00000001.seg"), one, before.data + two, two - one);
    file_patch(folder_join(home, "log/00000001.seg"), two, before.data + one, two - one);
    db = open_home();
    CHECK(lost(db, 300) <= 2);
    CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
    call_close(db);
    file_read(folder_join(home, "log/00000001.seg"), &after);
    CHECK(after.size >= end && memcmp(after.data + end, before.data + end, 100000) == 0);
    tansu_buffer_free(&before);
    tansu_buffer_free(&after);
    folder_end(folder);
}

/* A page that the system cannot read is no corruption, of encrypted and of compressed segments. */
static void a_header_that_cannot_be_read_is_no_corruption(void) {
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        begin();
        tansu_options options = call_options(home);
        options.key = encrypted ? key : NULL;
        options.key_size = encrypted ? 32 : 0;
        tansu_db *db = call_open_with(&options);
        CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
        save_some(db, 0, 100);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
        db = call_open_with(&options);
        char name[32] = "";
        for (int i = 1; name[0] == 0 && i < 10; i++) {
            snprintf(name, sizeof name, "log/%08d.seg", i);
            if (!file_exists(folder_join(home, name)))
                name[0] = 0;
        }
        CHECK(truncate(folder_join(home, name), 0) == 0);
        char copy[600];
        snprintf(copy, sizeof copy, "%s/copy", folder);
        CHECK_STATUS(TANSU_E_IO,
                     tansu_backup(db, copy, TANSU_BACKUP_FOLDER, NULL, NULL, NULL, &call_error));
        CHECK(!file_exists(copy));
        tansu_close(db);
        folder_end(folder);
    }
}

/* ---- What an opening has seen cannot be taken back ---- */

#define SESSIONS 5
#define OF_SESSION 40

/* The log after each session, and where its blocks end. */
static tansu_buffer logs[SESSIONS];
static uint64_t ends[SESSIONS];

/* session -- a process that saves documents, and is killed; only the first one writes a checkpoint. */
static void session(int number) {
    pid_t child = fork();
    if (child == 0) {
        tansu_db *db = open_home();
        save_some(db, number * OF_SESSION, (number + 1) * OF_SESSION);
        bool done = number > 0 || tansu_checkpoint(db, NULL) == TANSU_OK;
        kill(getpid(), done ? SIGKILL : SIGABRT);
    }
    int status = 0;
    sealed_header header;
    REQUIRE(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    tansu_buffer *log = &logs[number];
    file_read(folder_join(home, "log/00000001.seg"), log);
    for (ends[number] = SEALED_BLOCKS;
         sealed_header_at(log->data, log->size, ends[number], &header);)
        ends[number] += sealed_size(header.stored);
}

/* attacked -- the documents of a copy of the database whose log ends where it did after `last`
 * sessions, and continues with what the sessions from `from` up to `to` wrote, or minus the status of
 * opening. Neither marks nor an index are there. */
static int64_t attacked(int last, int from, int to) {
    char copy[600];
    tansu_db *db = NULL;
    tansu_buffer log = TANSU_BUFFER_INIT;
    snprintf(copy, sizeof copy, "%s-attacked", home);
    folder_copy(home, copy);
    folder_remove(folder_join(copy, "index"));
    REQUIRE(unlink(folder_join(copy, "log/TAIL")) == 0);
    REQUIRE(buffer_append(&log, logs[last - 1].data, ends[last - 1]));
    if (from < to)
        REQUIRE(
            buffer_append(&log, logs[to - 1].data + ends[from - 1], ends[to - 1] - ends[from - 1]));
    file_write(folder_join(copy, "log/00000001.seg"), log.data, log.size);
    const tansu_options options = options_of(copy);
    tansu_status status = tansu_open(&options, &db, &call_error);
    int64_t count = status == TANSU_OK ? call_count(db, NULL, "c", "{}") : -(int64_t)status;
    tansu_close(db);
    tansu_buffer_free(&log);
    folder_remove(copy);
    return count;
}

static void what_an_opening_has_seen_cannot_be_taken_back(void) {
    char missing[64];
    begin();
    for (int i = 0; i < SESSIONS; i++)
        session(i);
    /* The first document makes the collection: one commit more than documents. */
    for (int last = 1; last < SESSIONS - 1; last++) {
        CHECK_INT(-TANSU_E_CORRUPT, attacked(last, 0, 0));
        snprintf(missing, sizeof missing, "Commit %d was written", last * OF_SESSION + 1);
        if (!CHECK(strstr(call_error.message, missing) != NULL))
            check_note("    the message is: %s", call_error.message);
        for (int from = 1; from < SESSIONS; from++)
            for (int to = from + 1; to <= SESSIONS; to++) {
                /* Nothing is missing of what the last opening saw: blocks that come twice do no harm. */
                bool all = from <= last && to >= SESSIONS - 1;
                CHECK_INT(all ? to * OF_SESSION : -TANSU_E_CORRUPT, attacked(last, from, to));
            }
    }
    CHECK_INT((SESSIONS - 1) * OF_SESSION, attacked(SESSIONS - 1, 0, 0));
    CHECK_INT(SESSIONS * OF_SESSION, attacked(SESSIONS, 0, 0));
    for (int i = 0; i < SESSIONS; i++)
        tansu_buffer_free(&logs[i]);
    folder_end(folder);
}

/* A compacted segment lacks what later commits replaced: the log cannot end before those. */
static void a_compacted_segment_needs_the_commits_after_it(void) {
    begin();
    tansu_buffer manifest = TANSU_BUFFER_INIT;
    tansu_options options = options_of(home);
    options.compaction_percent = 50;
    tansu_db *db = call_open_with(&options);
    save_some(db, 0, 10);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    file_read(folder_join(home, "MANIFEST"), &manifest);
    save_some(db, 10, 1200);
    save_some(db, 0, 800);
    call_close(db);
    file_write(folder_join(home, "MANIFEST"), manifest.data, manifest.size);
    tansu_buffer_free(&manifest);
    folder_remove(folder_join(home, "index"));
    REQUIRE(unlink(folder_join(home, "log/TAIL")) == 0);
    int compacted = 0, cut = 0;
    for (int number = 1; number < 10; number++) {
        char name[32];
        snprintf(name, sizeof name, "log/%08d.seg", number);
        if (!file_exists(folder_join(home, name)))
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(folder_join(home, name), &bytes);
        bool is_compacted = (bytes.data[10] & 1) != 0;
        tansu_buffer_free(&bytes);
        compacted += is_compacted;
        if (!is_compacted)
            cut += unlink(folder_join(home, name)) == 0;
    }
    CHECK(compacted == 1 && cut > 0);
    options = options_of(home);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
    tansu_close(db);
    folder_end(folder);
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(a_block_before_the_checkpoint_costs_itself);
    RUN(a_block_just_before_the_end_costs_itself);
    RUN(a_segment_without_a_table_keeps_its_blocks);
    RUN(a_torn_table_is_written_anew);
    RUN(a_short_segment_is_continued_after_a_bad_block);
    RUN(exchanged_blocks_lose_nothing);
    RUN(a_header_that_cannot_be_read_is_no_corruption);
    RUN(what_an_opening_has_seen_cannot_be_taken_back);
    RUN(a_compacted_segment_needs_the_commits_after_it);
    return check_finish();
}
