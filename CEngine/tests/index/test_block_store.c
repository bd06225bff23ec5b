/*
 * test_block_store.c -- the file of index blocks: what is committed is there whatever happens, and
 * nothing else is; damage and a second opener are errors.
 */
#include "index/block_store/block_store.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static tansu_error error;
static keyring *keys;               /* NULL: the records are not encrypted */
static char path[1024], copy[1024]; /* in a temporary folder */

static block_store *open_block_store(bool create) {
    block_store *bs = NULL;
    CHECK_OK(block_store_open(&fs_system, path, create ? BLOCK_STORE_CREATE : 0, keys, &bs, &error),
             &error);
    REQUIRE(bs != NULL);
    return bs;
}

static block_store *new_block_store(void) {
    CHECK_OK(block_store_delete(&fs_system, path, &error), &error);
    return open_block_store(true);
}

/* ---- Generations: the state after commit g is a function of g ---- */

#define NUMBERS 400

/* value_of -- the record with that number after commit g; 0: there is none. */
static size_t value_of(uint32_t generation, uint64_t number, uint8_t *value) {
    /* The last generation up to this one that wrote the record. */
    uint32_t written = 0;
    for (uint32_t g = generation; g > 0 && written == 0; g--)
        if (random_from(g * 1000003u + number).state * 0x9E3779B97F4A7C15u >> 61 == 0)
            written = g;
    if (written == 0)
        return 0;
    random_source random = random_from(written * 7919u + number);
    if (random_chance(&random, 20))
        return 0;
    size_t size = 8 + random_below(&random, random_chance(&random, 3) ? 20000 : 2000);
    memset(value, (int)(written & 0xFF), size);
    store_u32(value, written);
    store_u32(value + 4, (uint32_t)number);
    return size;
}

/* write_generation -- what commit g changes, up to but without the commit. */
static tansu_status write_generation(block_store *bs, uint32_t generation, uint64_t numbers) {
    uint8_t value[24000];
    tansu_status status = block_store_begin(bs, &error);
    for (uint64_t n = 0; status == TANSU_OK && n < numbers; n++) {
        if (random_from(generation * 1000003u + n).state * 0x9E3779B97F4A7C15u >> 61 != 0)
            continue;
        size_t size = value_of(generation, n, value);
        status = size == 0 ? block_store_remove(bs, BLOCK_STORE_BLOCK, n, &error)
                           : block_store_put(bs, BLOCK_STORE_BLOCK, n, value, size, &error);
    }
    store_u32(value, generation);
    if (status == TANSU_OK)
        status = block_store_put(bs, BLOCK_STORE_META, 0, value, 4, &error);
    return status;
}

/* generation_of -- the state that the file says it has. */
static uint32_t generation_of(block_store *bs) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_status status = block_store_get(bs, BLOCK_STORE_META, 0, &record, &error);
    uint32_t generation = 0;
    if (status != TANSU_E_NOT_FOUND && CHECK_OK(status, &error) && CHECK_INT(4, record.size))
        generation = load_u32(record.data);
    tansu_buffer_free(&record);
    return generation;
}

/* holds -- the file has exactly what commit g left. */
static void holds(block_store *bs, uint32_t generation) {
    uint8_t value[24000];
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (uint64_t n = 0; n < NUMBERS; n++) {
        size_t size = value_of(generation, n, value);
        tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, n, &record, &error);
        bool same = size == 0 ? CHECK_STATUS(TANSU_E_NOT_FOUND, status)
                              : CHECK_OK(status, &error) &&
                                    CHECK_BYTES(value, size, record.data, record.size);
        if (!same)
            break;
    }
    tansu_buffer_free(&record);
}

static void commits_stay_and_aborts_leave_nothing(void) {
    block_store *bs = new_block_store();
    for (uint32_t g = 1; g <= 12; g++) {
        CHECK_OK(write_generation(bs, g, NUMBERS), &error);
        if (g % 3 == 0) { /* once given up, once done */
            block_store_abort(bs);
            holds(bs, g - 1);
            CHECK_OK(write_generation(bs, g, NUMBERS), &error);
        }
        CHECK_OK(block_store_commit(bs, &error), &error);
        holds(bs, g);
        if (g % 4 == 0) {
            CHECK_OK(block_store_close(bs, &error), &error);
            bs = open_block_store(false);
            CHECK_INT(g, generation_of(bs));
        }
    }
    /* Closing in the middle of a transaction is giving it up. */
    CHECK_OK(write_generation(bs, 13, NUMBERS), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    bs = open_block_store(false);
    CHECK_INT(12, generation_of(bs));
    holds(bs, 12);
    CHECK_STATUS(TANSU_E_INVALID_STATE, block_store_put(bs, BLOCK_STORE_BLOCK, 1, "x", 1, &error));
    CHECK_STATUS(TANSU_E_INVALID_STATE, block_store_commit(bs, &error));
    CHECK_OK(block_store_close(bs, &error), &error);
}

static void the_file_does_not_grow_without_end(void) {
    block_store *bs = new_block_store();
    uint64_t early = 0;
    for (uint32_t g = 1; g <= 150; g++) {
        CHECK_OK(write_generation(bs, g, NUMBERS), &error);
        CHECK_OK(block_store_commit(bs, &error), &error);
        if (g == 40)
            early = block_store_size(bs);
    }
    CHECK(block_store_size(bs) < early * 2);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* Records of a live set are overwritten again and again, a part of them with each commit; at
 * times the file is closed in between. TANSU_ROUNDS sets how many commits (60). */
static void overwriting_does_not_make_the_file_larger(void) {
    enum { LIVE = 2000, EACH = 700 };
    unsigned rounds = (unsigned)random_rounds("TANSU_ROUNDS", 60);
    block_store *bs = new_block_store();
    random_source random = random_start(6);
    static uint32_t sizes[LIVE];
    memset(sizes, 0, sizeof sizes);
    uint64_t live = 0, most = 0;
    uint8_t value[4096] = {1};
    for (unsigned round = 0; round <= rounds && check_failures() == 0; round++) {
        CHECK_OK(block_store_begin(bs, &error), &error);
        for (unsigned i = 0; i < (round == 0 ? LIVE : EACH); i++) {
            uint64_t n = round == 0 ? i : random_below(&random, LIVE);
            size_t size = 200 + random_below(&random, 3800);
            live += size - sizes[n];
            sizes[n] = (uint32_t)size;
            CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, n, value, size, &error), &error);
        }
        CHECK_OK(block_store_commit(bs, &error), &error);
        if (block_store_size(bs) > most)
            most = block_store_size(bs);
        if (round % 7 == 3) {
            CHECK_OK(block_store_close(bs, &error), &error);
            bs = open_block_store(false);
        }
    }
    check_note("%u commits of %d records: at most %.2f times the live bytes", rounds, EACH,
               (double)most / (double)live);
    CHECK(most < live * 5 / 2);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* ---- Readers concurrently with the writer ---- */

static struct {
    block_store *bs;
    atomic_uint committed; /* the last generation that is sure */
    atomic_bool ended;
    atomic_uint reads;
} shared;

/* is_of -- whether a record is as one of some generations left it. */
static bool is_of(uint64_t number, uint32_t from, uint32_t to, tansu_status status,
                  const tansu_buffer *record) {
    uint8_t value[24000];
    for (uint32_t g = from; g <= to; g++) {
        size_t size = value_of(g, number, value);
        if (size == 0 ? status == TANSU_E_NOT_FOUND
                      : status == TANSU_OK && record->size == size &&
                            memcmp(record->data, value, size) == 0)
            return true;
    }
    return false;
}

static void *keep_reading(void *context) {
    random_source random = random_from((uint64_t)(uintptr_t)context);
    tansu_buffer record = TANSU_BUFFER_INIT;
    while (!shared.ended && check_failures() == 0) {
        uint64_t number = random_below(&random, NUMBERS);
        uint32_t from = shared.committed;
        tansu_status status = block_store_get(shared.bs, BLOCK_STORE_BLOCK, number, &record, NULL);
        /* One that has just been made visible may not be noted yet. */
        CHECK(is_of(number, from, shared.committed + 1, status, &record));
        atomic_fetch_add(&shared.reads, 1);
    }
    tansu_buffer_free(&record);
    return NULL;
}

static void readers_see_commits_and_nothing_between(void) {
    enum { READERS = 3, GENERATIONS = 40 };
    pthread_t readers[READERS];
    shared.bs = new_block_store();
    CHECK_OK(write_generation(shared.bs, 1, NUMBERS), &error);
    CHECK_OK(block_store_commit(shared.bs, &error), &error);
    shared.committed = 1;
    shared.reads = 0;
    shared.ended = false;
    for (uintptr_t i = 0; i < READERS; i++)
        REQUIRE(pthread_create(&readers[i], NULL, keep_reading, (void *)(i + 1)) == 0);
    for (uint32_t g = 2; g <= GENERATIONS && check_failures() == 0; g++) {
        if (g % 5 == 0) {
            CHECK_OK(write_generation(shared.bs, g, NUMBERS / 2), &error);
            block_store_abort(shared.bs);
        }
        if (g % 7 == 0)
            CHECK_OK(block_store_shrink(shared.bs, NULL, &error), &error);
        CHECK_OK(write_generation(shared.bs, g, NUMBERS), &error);
        CHECK_OK(block_store_commit(shared.bs, &error), &error);
        shared.committed = g;
    }
    shared.ended = true;
    for (int i = 0; i < READERS; i++)
        REQUIRE(pthread_join(readers[i], NULL) == 0);
    CHECK(shared.reads > GENERATIONS);
    holds(shared.bs, GENERATIONS);
    CHECK_OK(block_store_close(shared.bs, &error), &error);
}

/* ---- Crashes ---- */

/* be_killed -- a child that commits generations and is killed (by itself: SIGKILL) at a chosen
 * time. */
static void be_killed(uint32_t from, int moment, uint64_t numbers) {
    block_store *bs;
    if (block_store_open(&fs_system, path, 0, keys, &bs, &error) != TANSU_OK)
        _exit(3);
    if (moment == 0) /* open, and nothing else */
        raise(SIGKILL);
    for (uint32_t g = from; g < from + 2; g++)
        if (write_generation(bs, g, NUMBERS) != TANSU_OK ||
            block_store_commit(bs, &error) != TANSU_OK)
            _exit(4);
    if (moment == 1) /* between transactions */
        raise(SIGKILL);
    if (moment == 3 || moment == 4) { /* after one that was given up */
        if (write_generation(bs, from + 2, NUMBERS) != TANSU_OK)
            _exit(5);
        block_store_abort(bs);
        if (moment == 3)
            raise(SIGKILL);
    }
    write_generation(bs, from + 2, numbers);
    raise(SIGKILL); /* in the middle of one, with few or many records */
}

static void a_killed_process_leaves_the_last_commit(void) {
    block_store *bs = new_block_store();
    CHECK_OK(block_store_close(bs, &error), &error);
    random_source random = random_start(3);
    uint32_t generation = 0;
    for (int round = 0; round < 25 && check_failures() == 0; round++) {
        int moment = round % 5;
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            be_killed(generation + 1, moment, random_below(&random, NUMBERS + 1));
        int how;
        REQUIRE(waitpid(child, &how, 0) == child);
        CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        if (moment != 0)
            generation += 2;
        random_next(&random);
        if (round % 4 == 3) /* the next to open it, and to restore it, is killed as well */
            continue;
        bs = open_block_store(false);
        CHECK_INT(generation, generation_of(bs));
        holds(bs, generation);
        if (round % 2 == 0) {
            CHECK_OK(write_generation(bs, ++generation, NUMBERS), &error);
            CHECK_OK(block_store_commit(bs, &error), &error);
            holds(bs, generation);
        }
        CHECK_OK(block_store_close(bs, &error), &error);
    }
}

static void a_process_killed_at_any_time_leaves_a_commit(void) {
    block_store *bs = new_block_store();
    CHECK_OK(block_store_close(bs, &error), &error);
    random_source random = random_start(4);
    uint32_t last = 0;
    for (int round = 0; round < 25 && check_failures() == 0; round++) {
        int report[2];
        REQUIRE(pipe(report) == 0);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            if (block_store_open(&fs_system, path, 0, keys, &bs, &error) != TANSU_OK)
                _exit(3);
            for (uint32_t g = last + 1;; g++)
                if (write_generation(bs, g, NUMBERS) != TANSU_OK ||
                    block_store_commit(bs, &error) != TANSU_OK || write(report[1], &g, 4) != 4)
                    _exit(4);
        }
        close(report[1]);
        usleep(500 + (useconds_t)random_below(&random, 15000));
        kill(child, SIGKILL);
        int how;
        REQUIRE(waitpid(child, &how, 0) == child);
        CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        uint32_t acknowledged = last, g;
        while (read(report[0], &g, 4) == 4)
            acknowledged = g;
        close(report[0]);
        bs = open_block_store(false);
        last = generation_of(bs);
        CHECK(last == acknowledged || last == acknowledged + 1);
        holds(bs, last);
        CHECK_OK(block_store_close(bs, &error), &error);
    }
}

/* copy_file -- of `size` bytes at most. */
static void copy_file(const char *from, const char *to, off_t size) {
    uint8_t *bytes = malloc((size_t)size + 1);
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    REQUIRE(bytes != NULL && in >= 0 && out >= 0);
    ssize_t got = read(in, bytes, (size_t)size);
    REQUIRE(got >= 0 && write(out, bytes, (size_t)got) == got);
    close(in);
    close(out);
    free(bytes);
}

/* A bound on the size of files stands for a full disk: writes fail, and nothing else. */
static void a_failed_write_loses_nothing(void) {
    block_store *bs = new_block_store();
    CHECK_OK(write_generation(bs, 1, NUMBERS), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, bound;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    bound = before;
    bound.rlim_cur = block_store_size(bs) + 20000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &bound) == 0);
    tansu_status status = TANSU_OK;
    uint8_t big[8192] = {1};
    CHECK_OK(block_store_begin(bs, &error), &error);
    for (uint64_t n = 0; n < 1000 && status == TANSU_OK; n++)
        status = block_store_put(bs, BLOCK_STORE_BLOCK, n, big, sizeof(big), &error);
    if (!CHECK(status == TANSU_E_IO || status == TANSU_E_FULL))
        check_note("status %d: %s", (int)status, error.message);
    block_store_abort(bs);
    holds(bs, 1);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    holds(bs, 1);
    CHECK_OK(write_generation(bs, 2, NUMBERS), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    bs = open_block_store(false);
    holds(bs, 2);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* ---- Openers ---- */

static void opening_reports_what_is_wrong(void) {
    block_store *bs = new_block_store(), *second;
    CHECK_STATUS(TANSU_E_LOCKED, block_store_open(&fs_system, path, 0, keys, &second, &error));
    CHECK(strstr(error.context, path) != NULL);
    CHECK_OK(write_generation(bs, 1, NUMBERS), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);

    struct stat before, after;
    REQUIRE(stat(path, &before) == 0);
    CHECK_OK(block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, keys, &bs, &error), &error);
    holds(bs, 1);
    CHECK_STATUS(TANSU_E_READ_ONLY, block_store_begin(bs, &error));
    CHECK_OK(block_store_close(bs, &error), &error);
    REQUIRE(stat(path, &after) == 0);
    CHECK_INT(before.st_mtime, after.st_mtime);
    CHECK_INT(before.st_size, after.st_size);

    unlink(path);
    CHECK_STATUS(TANSU_E_NOT_FOUND, block_store_open(&fs_system, path, 0, keys, &bs, &error));
    CHECK_STATUS(TANSU_E_NOT_FOUND,
                 block_store_open(&fs_system, path, BLOCK_STORE_CREATE | BLOCK_STORE_READ_ONLY,
                                  keys, &bs, &error));
    CHECK_STATUS(TANSU_E_NOT_FOUND,
                 block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, keys, &bs, &error));
    CHECK_OK(block_store_close(NULL, &error), &error);
}

/* A read-only opener sees the last commit of a process that was killed, and changes nothing. */
static void a_read_only_opener_completes_in_memory(void) {
    block_store *bs = new_block_store();
    CHECK_OK(block_store_close(bs, &error), &error);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        be_killed(1, 2, NUMBERS / 2);
    int how;
    REQUIRE(waitpid(child, &how, 0) == child);
    tansu_buffer before = TANSU_BUFFER_INIT, after = TANSU_BUFFER_INIT;
    file_read(path, &before);
    CHECK_OK(block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, keys, &bs, &error), &error);
    holds(bs, 2);
    CHECK_STATUS(TANSU_E_READ_ONLY, block_store_shrink(bs, NULL, &error));
    CHECK_OK(block_store_close(bs, &error), &error);
    file_read(path, &after);
    CHECK_BYTES(before.data, before.size, after.data, after.size);
    tansu_buffer_free(&before);
    tansu_buffer_free(&after);
    bs = open_block_store(false);
    holds(bs, 2);
    CHECK_OK(block_store_close(bs, &error), &error);
    CHECK_OK(block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, keys, &bs, &error), &error);
    holds(bs, 2);
    CHECK_OK(block_store_close(bs, &error), &error);
}

static void damage_is_an_error(void) {
    block_store *bs = new_block_store();
    CHECK_OK(write_generation(bs, 1, NUMBERS), &error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, block_store_begin(bs, &error));
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    struct stat info;
    REQUIRE(stat(path, &info) == 0);
    random_source random = random_start(5);

    /* Values of records: between the buckets and the end lie little else. */
    int damaged = 0;
    for (int round = 0; round < 30; round++) {
        copy_file(path, copy, info.st_size);
        int fd = open(copy, O_RDWR);
        REQUIRE(fd >= 0);
        uint8_t value[24000];
        uint64_t number;
        size_t size;
        do
            size = value_of(1, number = random_below(&random, NUMBERS), value);
        while (size < 600);
        /* Finds the record by its bytes and turns one bit of it. */
        uint8_t *all = malloc((size_t)info.st_size);
        REQUIRE(all != NULL && read(fd, all, (size_t)info.st_size) == info.st_size);
        uint8_t *at = memmem(all, (size_t)info.st_size, value, size);
        if (CHECK(at != NULL)) {
            off_t where = (off_t)(at - all) + (off_t)random_below(&random, size);
            uint8_t byte = (uint8_t)(all[where] ^ (1u << random_below(&random, 8)));
            REQUIRE(pwrite(fd, &byte, 1, where) == 1);
        }
        free(all);
        close(fd);
        block_store *other;
        tansu_buffer record = TANSU_BUFFER_INIT;
        if (CHECK_OK(block_store_open(&fs_system, copy, 0, keys, &other, &error), &error)) {
            tansu_status status =
                block_store_get(other, BLOCK_STORE_BLOCK, number, &record, &error);
            damaged += CHECK_STATUS(TANSU_E_CORRUPT, status);
            CHECK_OK(block_store_close(other, &error), &error);
        }
        tansu_buffer_free(&record);
    }
    CHECK_INT(30, damaged);

    /* Heads, and files that were cut short. */
    for (off_t at = 0; at < 48; at++) {
        if ((at >= 14 && at < 32) || at == 33 || (at >= 37 && at < 40))
            continue; /* version text, flags and padding */
        copy_file(path, copy, info.st_size);
        int fd = open(copy, O_RDWR);
        uint8_t byte;
        REQUIRE(fd >= 0 && pread(fd, &byte, 1, at) == 1);
        byte ^= 0x15;
        REQUIRE(pwrite(fd, &byte, 1, at) == 1);
        close(fd);
        block_store *other;
        CHECK_STATUS(TANSU_E_CORRUPT, block_store_open(&fs_system, copy, 0, keys, &other, &error));
    }
    for (off_t size = 1; size < info.st_size; size += info.st_size / 13) {
        copy_file(path, copy, size);
        block_store *other;
        CHECK_STATUS(TANSU_E_CORRUPT, block_store_open(&fs_system, copy, 0, keys, &other, &error));
    }
    unlink(copy);
}

/* ---- Encrypted records ---- */

/* stored -- a record as it lies in the file; the caller frees it. */
static tansu_buffer stored(uint64_t number) {
    block_store *bs = NULL;
    tansu_buffer value = TANSU_BUFFER_INIT;
    CHECK_OK(block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, NULL, &bs, &error), &error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_BLOCK, number, &value, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
    return value;
}

/* forge -- puts bytes into the file as a record, with a checksum that is right. */
static void forge(uint64_t number, const void *bytes, size_t size) {
    block_store *bs = NULL;
    CHECK_OK(block_store_open(&fs_system, path, 0, NULL, &bs, &error), &error);
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, number, bytes, size, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
}

/* read_one -- what reading a record comes to; one that is read is `expected`. */
static tansu_status read_one(uint64_t number, const void *expected, size_t size) {
    block_store *bs = NULL;
    tansu_buffer record = TANSU_BUFFER_INIT;
    CHECK_OK(block_store_open(&fs_system, path, BLOCK_STORE_READ_ONLY, keys, &bs, &error), &error);
    tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, number, &record, &error);
    if (status == TANSU_OK)
        CHECK_BYTES(expected, size, record.data, record.size);
    CHECK_INT(status == TANSU_E_CORRUPT, block_store_is_damaged(bs));
    CHECK_OK(block_store_close(bs, &error), &error);
    tansu_buffer_free(&record);
    return status;
}

/* put_one -- writes a record in an opening of its own. */
static void put_one(uint64_t number, const void *bytes, size_t size) {
    block_store *bs = open_block_store(false);
    CHECK_OK(block_store_begin(bs, &error), &error);
    CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, number, bytes, size, &error), &error);
    CHECK_OK(block_store_commit(bs, &error), &error);
    CHECK_OK(block_store_close(bs, &error), &error);
}

static void a_record_that_was_changed_or_moved_is_refused(void) {
    static const char text[] = "what a record says";
    CHECK_OK(block_store_close(new_block_store(), &error), &error);
    put_one(1, text, sizeof text);
    put_one(2, text, sizeof text);
    tansu_buffer one = stored(1), two = stored(2);
    CHECK_INT(sizeof text + SEAL_OVERHEAD, one.size);
    /* Each opening has a key of its own. */
    CHECK(memcmp(one.data, two.data, sizeof(seal_mark)) != 0);
    CHECK_STATUS(TANSU_OK, read_one(1, text, sizeof text));
    for (size_t bit = 0; bit < 8 * one.size; bit++) {
        one.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        forge(1, one.data, one.size);
        CHECK_STATUS(TANSU_E_CORRUPT, read_one(1, text, sizeof text));
        one.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < one.size; size++) {
        forge(1, one.data, size);
        CHECK_STATUS(TANSU_E_CORRUPT, read_one(1, text, sizeof text));
    }
    forge(1, two.data, two.size);
    CHECK_STATUS(TANSU_E_CORRUPT, read_one(1, text, sizeof text));
    forge(1, one.data, one.size);
    CHECK_STATUS(TANSU_OK, read_one(1, text, sizeof text));
    tansu_buffer_free(&one);
    tansu_buffer_free(&two);
}

static void records_of_another_data_key_are_corrupt(void) {
    static const uint8_t id[16] = {1}, key[CRYPT_KEY_SIZE] = {9};
    CHECK_OK(block_store_close(new_block_store(), &error), &error);
    put_one(1, "text", 4);
    keyring *right = keys, *wrong = keyring_new(id);
    REQUIRE(wrong != NULL && keyring_add(wrong, 1, key));
    keys = wrong;
    CHECK_STATUS(TANSU_E_CORRUPT, read_one(1, "text", 4));
    keys = right;
    CHECK_STATUS(TANSU_OK, read_one(1, "text", 4));
    keyring_free(wrong);
}

#define TEXT "known-plaintext,"

/* reveals_nothing -- no 8 bytes of the text are in the file and its journals. */
static void reveals_nothing(void) {
    static const char *const names[] = {"", ".redo.0", ".redo.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[sizeof path + 16];
        struct stat info;
        tansu_buffer content = TANSU_BUFFER_INIT;
        snprintf(name, sizeof name, "%s%s", path, names[i]);
        if (stat(name, &info) != 0)
            continue;
        file_read(name, &content);
        for (size_t at = 0; at + 8 < 2 * sizeof TEXT - 2; at++)
            CHECK(memmem(content.data, content.size, &(TEXT TEXT)[at], 8) == NULL);
        tansu_buffer_free(&content);
    }
}

static void the_files_hold_no_plaintext(void) {
    uint8_t text[3000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)TEXT[i % (sizeof TEXT - 1)];
    block_store *bs = new_block_store();
    for (unsigned round = 0; round < 12; round++) {
        CHECK_OK(block_store_begin(bs, &error), &error);
        for (uint64_t n = round % 3; n < 200; n += 3)
            CHECK_OK(block_store_put(bs, BLOCK_STORE_BLOCK, n, text, 1 + (n * 97 + round) % 3000,
                                     &error),
                     &error);
        reveals_nothing();
        if (round % 4 == 3)
            block_store_abort(bs);
        else
            CHECK_OK(block_store_commit(bs, &error), &error);
        reveals_nothing();
        if (round % 5 == 4)
            CHECK_OK(block_store_shrink(bs, NULL, &error), &error);
    }
    CHECK_OK(block_store_close(bs, &error), &error);
    reveals_nothing();
    CHECK_STATUS(TANSU_OK, read_one(5, text, 1 + (5 * 97 + 8) % 3000));
}

/* usual_work -- what holds with and without keys. */
static void usual_work(void) {
    RUN(commits_stay_and_aborts_leave_nothing);
    RUN(the_file_does_not_grow_without_end);
    RUN(overwriting_does_not_make_the_file_larger);
    RUN(readers_see_commits_and_nothing_between);
    RUN(a_killed_process_leaves_the_last_commit);
    RUN(a_process_killed_at_any_time_leaves_a_commit);
    RUN(a_failed_write_loses_nothing);
    RUN(opening_reports_what_is_wrong);
    RUN(a_read_only_opener_completes_in_memory);
}

int main(void) {
    static const uint8_t id[16] = {1}, key[CRYPT_KEY_SIZE] = {2};
    char *folder = folder_new();
    snprintf(path, sizeof(path), "%s/blocks.tch", folder);
    snprintf(copy, sizeof(copy), "%s/copy", folder);
    usual_work();
    RUN(damage_is_an_error);
    if (library_crypto()) {
        keys = keyring_new(id);
        REQUIRE(keys != NULL && keyring_add(keys, 1, key));
        usual_work();
        RUN(a_record_that_was_changed_or_moved_is_refused);
        RUN(records_of_another_data_key_are_corrupt);
        RUN(the_files_hold_no_plaintext);
        keyring_free(keys);
    }
    folder_end(folder);
    return check_finish();
}
