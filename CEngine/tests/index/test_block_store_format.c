/*
 * test_block_store_format.c -- the block store's file is a Tokyo Cabinet hash database: what we
 * write, Tokyo Cabinet reads, and what it wrote, we read. Skipped where Tokyo Cabinet writes numbers
 * in the other byte order than Debian's.
 */
#include "index/block_store/block_store.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tchdb.h>
#include <unistd.h>
#include <zlib.h>

#define NUMBERS_MOST 40000
#define VALUE_MOST 9000

static tansu_error error;
static char path[1024]; /* in a temporary folder */

/* What the file should hold: the seed of each record's bytes; 0: there is none. */
static uint32_t model[NUMBERS_MOST];

/* value_of -- the record that a seed stands for. */
static size_t value_of(uint32_t seed, uint8_t *value) {
    random_source random = random_from(seed);
    size_t size = random_below(&random, random_chance(&random, 5) ? VALUE_MOST : 700);
    for (size_t i = 0; i < size; i++)
        value[i] = (uint8_t)(seed * 31 + i * 7 + (i >> 8));
    return size;
}

/* stored_of -- key and value as they are in the file. */
static size_t stored_of(uint64_t number, uint32_t seed, uint8_t key[9], uint8_t *value) {
    size_t size = value_of(seed, value);
    key[0] = BLOCK_STORE_BLOCK;
    store_u64(key + 1, number);
    store_u32(value + size, (uint32_t)crc32_z(crc32_z(0, key, 9), value, size));
    return size + 4;
}

static unsigned model_count(uint64_t numbers) {
    unsigned count = 0;
    for (uint64_t n = 0; n < numbers; n++)
        count += model[n] != 0;
    return count;
}

/* ---- Our side ---- */

static block_store *ours(unsigned flags) {
    block_store *bs = NULL;
    CHECK_OK(block_store_open(&fs_system, path, flags, NULL, &bs, &error), &error);
    REQUIRE(bs != NULL);
    return bs;
}

/* we_hold -- exactly what the model says. */
static void we_hold(uint64_t numbers) {
    block_store *bs = ours(BLOCK_STORE_READ_ONLY);
    tansu_buffer record = TANSU_BUFFER_INIT;
    uint8_t value[VALUE_MOST];
    for (uint64_t n = 0; n < numbers; n++) {
        tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, n, &record, &error);
        if (model[n] == 0
                ? !CHECK_STATUS(TANSU_E_NOT_FOUND, status)
                : !CHECK_OK(status, &error) ||
                      !CHECK_BYTES(value, value_of(model[n], value), record.data, record.size))
            break;
    }
    tansu_buffer_free(&record);
    CHECK(!block_store_is_damaged(bs));
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* we_change -- some transactions, one of them given up. */
static void we_change(random_source *random, uint64_t numbers, unsigned changes) {
    block_store *bs = ours(BLOCK_STORE_CREATE);
    uint8_t value[VALUE_MOST];
    for (int transaction = 0; transaction < 4; transaction++) {
        bool kept = transaction != 2;
        CHECK_OK(block_store_begin(bs, &error), &error);
        for (unsigned i = 0; i < changes; i++) {
            uint64_t n = random_below(random, numbers);
            uint32_t seed = random_chance(random, 25) ? 0 : (uint32_t)random_next(random) | 1;
            size_t size = value_of(seed, value);
            CHECK_OK(seed == 0 ? block_store_remove(bs, BLOCK_STORE_BLOCK, n, &error)
                               : block_store_put(bs, BLOCK_STORE_BLOCK, n, value, size, &error),
                     &error);
            if (kept)
                model[n] = seed;
        }
        if (kept)
            CHECK_OK(block_store_commit(bs, &error), &error);
        else
            block_store_abort(bs);
    }
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* ---- Tokyo Cabinet's side ---- */

static TCHDB *theirs(int mode) {
    TCHDB *hdb = tchdbnew();
    REQUIRE(hdb != NULL && tchdbsetxmsiz(hdb, 0) &&
            tchdbtune(hdb, 8191, 6, 12, HDBTLARGE)); /* what ours has */
    if (!CHECK(tchdbopen(hdb, path, mode)))
        check_note("    Tokyo Cabinet: %s", tchdberrmsg(tchdbecode(hdb)));
    return hdb;
}

/* they_hold -- Tokyo Cabinet sees exactly what the model says, by key and one after the other. */
static void they_hold(uint64_t numbers) {
    TCHDB *hdb = theirs(HDBOREADER);
    unsigned count = model_count(numbers), seen = 0;
    CHECK_INT(count, tchdbrnum(hdb));
    uint8_t key[9], value[VALUE_MOST + 4];
    for (uint64_t n = 0; n < numbers; n++) {
        int size = 0;
        size_t wanted = stored_of(n, model[n], key, value);
        void *got = tchdbget(hdb, key, 9, &size);
        bool right = model[n] == 0
                         ? CHECK(got == NULL && tchdbecode(hdb) == TCENOREC)
                         : CHECK(got != NULL) && CHECK_BYTES(value, wanted, got, (size_t)size);
        free(got);
        if (!right)
            break;
    }
    CHECK(tchdbiterinit(hdb));
    int size;
    for (uint8_t *next; (next = tchdbiternext(hdb, &size)) != NULL; free(next), seen++)
        if (!CHECK(size == 9 && load_u64(next + 1) < numbers && model[load_u64(next + 1)] != 0)) {
            free(next);
            break;
        }
    CHECK_INT(count, seen);
    CHECK(tchdbclose(hdb));
    tchdbdel(hdb);
}

/* they_put -- one change. */
static void they_put(TCHDB *hdb, uint64_t n, uint32_t seed) {
    uint8_t key[9], value[VALUE_MOST + 4];
    size_t size = stored_of(n, seed, key, value);
    if (seed == 0)
        CHECK(tchdbout(hdb, key, 9) || tchdbecode(hdb) == TCENOREC);
    else
        CHECK(tchdbput(hdb, key, 9, value, (int)size));
}

/* they_change -- some transactions; `give_up`: one of them is given up, and Tokyo Cabinet then
 * forgets what was free. */
static void they_change(random_source *random, uint64_t numbers, unsigned changes, bool give_up) {
    for (int transaction = 0; transaction < 4; transaction++) {
        bool kept = !give_up || transaction != 2;
        TCHDB *hdb = theirs(HDBOWRITER | HDBOCREAT);
        CHECK(tchdbtranbegin(hdb));
        for (unsigned i = 0; i < changes; i++) {
            uint64_t n = random_below(random, numbers);
            uint32_t seed = random_chance(random, 25) ? 0 : (uint32_t)random_next(random) | 1;
            they_put(hdb, n, seed);
            if (kept)
                model[n] = seed;
        }
        CHECK(kept ? tchdbtrancommit(hdb) : tchdbtranabort(hdb));
        CHECK(tchdbclose(hdb));
        tchdbdel(hdb);
    }
}

static void start(void) {
    CHECK_OK(block_store_delete(&fs_system, path, &error), &error);
    memset(model, 0, sizeof model);
}

/* ---- Tests ---- */

static void both_read_what_the_other_wrote(void) {
    int rounds = (int)random_rounds("TANSU_ROUNDS", 8);
    for (int first = 0; first < 2; first++) {
        start();
        random_source random = random_start(11 + (uint64_t)first);
        for (int round = 0; round < rounds && check_failures() == 0; round++) {
            uint64_t numbers = round < 4 ? 60 : 3000;
            unsigned changes = 20 + (unsigned)random_below(&random, (uint64_t)numbers);
            if (round % 2 == first)
                we_change(&random, numbers, changes);
            else
                they_change(&random, numbers, changes, true);
            we_hold(3000);
            they_hold(3000);
        }
    }
}

static void a_file_with_more_buckets_is_one_of_theirs_too(void) {
    start();
    random_source random = random_start(12);
    uint64_t before = 0;
    for (int round = 0; round < 3 && check_failures() == 0; round++) {
        we_change(&random, NUMBERS_MOST, 9000);
        TCHDB *hdb = theirs(HDBOREADER);
        CHECK(tchdbbnum(hdb) >= before);
        before = tchdbbnum(hdb);
        CHECK(tchdbclose(hdb));
        tchdbdel(hdb);
    }
    CHECK(before > 8191);
    we_hold(NUMBERS_MOST);
    they_hold(NUMBERS_MOST);
    they_change(&random, NUMBERS_MOST, 500, true);
    we_hold(NUMBERS_MOST);
    block_store *bs = ours(0);
    CHECK_OK(block_store_shrink(bs, NULL, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    we_hold(NUMBERS_MOST);
    they_hold(NUMBERS_MOST);
}

static void free_blocks_are_used_again_whoever_freed_them(void) {
    start();
    random_source random = random_start(13);
    uint64_t early = 0;
    for (int round = 0; round < 60 && check_failures() == 0; round++) {
        if (round % 2 == 0)
            we_change(&random, 400, 200);
        else
            they_change(&random, 400, 200, false);
        if (round == 15)
            early = file_size(path);
    }
    CHECK(file_size(path) < early * 3 / 2);
    we_hold(400);
    they_hold(400);
}

/* ---- Killed while Tokyo Cabinet was writing ---- */

/* leave_unfinished -- a process is killed in the middle of a transaction of Tokyo Cabinet. */
static void leave_unfinished(uint64_t seed) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        random_source random = random_from(seed);
        TCHDB *hdb = theirs(HDBOWRITER);
        if (!tchdbtranbegin(hdb))
            _exit(3);
        for (unsigned i = 0; i < 300; i++)
            they_put(hdb, random_below(&random, 500),
                     random_chance(&random, 25) ? 0 : (uint32_t)random_next(&random) | 1);
        raise(SIGKILL);
    }
    int how;
    REQUIRE(waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

/* What is half written by them is no file of ours: it is rebuilt from the log. */
static void an_unfinished_transaction_of_theirs_is_corrupt(void) {
    start();
    random_source random = random_start(15);
    they_change(&random, 500, 400, true);
    leave_unfinished(random_next(&random));
    for (int read_only = 0; read_only < 2; read_only++) {
        block_store *bs = NULL;
        CHECK_STATUS(TANSU_E_CORRUPT,
                     block_store_open(&fs_system, path, read_only ? BLOCK_STORE_READ_ONLY : 0, NULL,
                                      &bs, &error));
    }
}

/* A file that we are writing is none for Tokyo Cabinet. */
static void they_refuse_a_file_that_is_being_written(void) {
    start();
    random_source random = random_start(16);
    we_change(&random, 100, 60);
    block_store *bs = ours(0);
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    TCHDB *hdb = tchdbnew();
    REQUIRE(hdb != NULL);
    CHECK(!tchdbopen(hdb, path, HDBOREADER));
    CHECK_INT(TCEMETA, tchdbecode(hdb));
    tchdbdel(hdb);
    CHECK_OK(block_store_close(bs, &error), &error);
    they_hold(100);
}

/* same_byte_order -- whether Tokyo Cabinet writes big-endian numbers here. */
static bool same_byte_order(void) {
    tansu_buffer file = TANSU_BUFFER_INIT;
    TCHDB *hdb = theirs(HDBOWRITER | HDBOCREAT);
    REQUIRE(tchdbclose(hdb));
    tchdbdel(hdb);
    file_read(path, &file);
    bool same = load_be64(file.data + 40) == 8191;
    tansu_buffer_free(&file);
    unlink(path);
    return same;
}

int main(void) {
    char *folder = folder_new();
    snprintf(path, sizeof path, "%s/blocks.tch", folder);
    if (!same_byte_order()) {
        check_note("skipped: Tokyo Cabinet writes little-endian numbers here");
        folder_end(folder);
        return check_finish();
    }
    RUN(both_read_what_the_other_wrote);
    RUN(a_file_with_more_buckets_is_one_of_theirs_too);
    RUN(free_blocks_are_used_again_whoever_freed_them);
    RUN(an_unfinished_transaction_of_theirs_is_corrupt);
    RUN(they_refuse_a_file_that_is_being_written);
    folder_end(folder);
    return check_finish();
}
