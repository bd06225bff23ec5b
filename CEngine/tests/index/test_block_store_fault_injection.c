/*
 * test_block_store_fault_injection.c -- every file call and every allocation of the block store
 * fails: once, several in a row, from then on, and half done. No call ends the process or takes
 * long, the status is of the call that failed and never CORRUPT, readers go on seeing the last
 * commit, the next transaction succeeds when the fault is over, and whenever the process ends, the
 * file holds the last commit.
 *
 * TANSU_FAULTS sets at how many calls of each run a fault is injected (60).
 */
#include "index/block_store/block_store.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_USUALLY 60
#define NUMBERS 48u
#define VALUE_MOST 3000u
#define WATCHDOG 10

static tansu_error error;
static keyring *keys; /* NULL: the records are not encrypted */
static struct {
    char *folder;
    char closed[300], killed[300], work[300], left[300]; /* folders */
    char path[320];                                      /* in `work` */
} files;

/* value_of -- a record as of generation g; 0: there is none. */
static size_t value_of(uint32_t g, uint32_t n, uint8_t *value) {
    while (g > 0 && (g * 7 + n) % 4 != 0)
        g--;
    if (g == 0 || (g + n) % 9 == 0)
        return 0;
    size_t size = 8 + (g * 131 + n * 577) % (VALUE_MOST - 8);
    memset(value, (int)(g + n), size);
    return size;
}

/* write_generation -- a transaction. */
static tansu_status write_generation(block_store *bs, uint32_t g) {
    uint8_t value[VALUE_MOST];
    tansu_status status = block_store_begin(bs, &error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t n = 0; status == TANSU_OK && n < NUMBERS; n++) {
        if ((g * 7 + n) % 4 != 0)
            continue;
        size_t size = value_of(g, n, value);
        status = size == 0 ? block_store_remove(bs, BLOCK_STORE_BLOCK, n, &error)
                           : block_store_put(bs, BLOCK_STORE_BLOCK, n, value, size, &error);
    }
    store_u32(value, g);
    if (status == TANSU_OK)
        status = block_store_put(bs, BLOCK_STORE_META, 0, value, 4, &error);
    if (status == TANSU_OK)
        return block_store_commit(bs, &error);
    block_store_abort(bs);
    return status;
}

/* generation_of -- what the file says that it holds, while no fault is injected. */
static uint32_t generation_of(block_store *bs) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    uint32_t g = 0;
    if (CHECK_OK(block_store_get(bs, BLOCK_STORE_META, 0, &record, &error), &error) &&
        CHECK_INT(4, record.size))
        g = load_u32(record.data);
    tansu_buffer_free(&record);
    return g;
}

/* holds -- exactly a generation. */
static void holds(block_store *bs, uint32_t g) {
    uint8_t value[VALUE_MOST];
    tansu_buffer record = TANSU_BUFFER_INIT;
    CHECK_INT(g, generation_of(bs));
    for (uint32_t n = 0; n < NUMBERS; n++) {
        size_t size = value_of(g, n, value);
        tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, n, &record, &error);
        if (size == 0
                ? !CHECK_STATUS(TANSU_E_NOT_FOUND, status)
                : !CHECK_OK(status, &error) || !CHECK_BYTES(value, size, record.data, record.size))
            break;
    }
    tansu_buffer_free(&record);
}

/* ---- What is tried ---- */

typedef struct mode {
    const char *name;
    fault_kind kind;
    unsigned length;
    bool half;
    int number;
} mode;

static const mode modes[] = {
    {"fails once", FAULT_FILES, 1, false, EIO},
    {"and the two after it fail", FAULT_FILES, 3, false, EIO},
    {"and twenty after it fail", FAULT_FILES, 21, false, EIO},
    {"and all after it fail", FAULT_FILES, UINT_MAX, false, EIO},
    {"and all after it find the disk full", FAULT_FILES, UINT_MAX, false, ENOSPC},
    {"is half done and the next one fails", FAULT_FILES, 2, true, EIO},
    {"is half done and all after it fail", FAULT_FILES, UINT_MAX, true, ENOSPC},
    {"(an allocation) fails", FAULT_MEMORY, 1, false, 0},
    {"(an allocation) and all after it fail", FAULT_MEMORY, UINT_MAX, false, 0},
};

/* What is known in a run. */
typedef struct run {
    const mode *mode;
    uint32_t committed; /* the last generation that was */
    uint32_t possible;  /* the last that may be in the file */
    uint32_t next;
} run;

/* expected -- whether a status is one that the fault may cause. */
static void expected(const run *r, tansu_status status) {
    bool right = status == TANSU_OK ||
                 (r->mode->kind == FAULT_MEMORY ? status == TANSU_E_MEMORY
                  : r->mode->number == ENOSPC   ? status == TANSU_E_FULL || status == TANSU_E_IO
                                                : status == TANSU_E_IO);
    if (!CHECK(right) || !CHECK(status == TANSU_OK || fault_occurred()))
        check_note("    %s: %s", tansu_status_name(status), error.message);
}

/* commit -- the next generation, with or without success. */
static void commit(run *r, block_store *bs) {
    tansu_status status = write_generation(bs, r->next);
    expected(r, status);
    r->possible = r->next;
    if (status == TANSU_OK)
        r->committed = r->next++;
}

/* read_some -- records, which are right when they can be read. */
static void read_some(run *r, block_store *bs) {
    uint8_t value[VALUE_MOST];
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (uint32_t n = 0; n < NUMBERS; n += 5) {
        size_t size = value_of(r->committed, n, value);
        tansu_status status = block_store_get(bs, BLOCK_STORE_BLOCK, n, &record, &error);
        if (status == TANSU_E_NOT_FOUND)
            CHECK_INT(0, size);
        else if (status == TANSU_OK)
            CHECK_BYTES(value, size, record.data, record.size);
        else
            expected(r, status);
    }
    tansu_buffer_free(&record);
}

/* use -- everything that is done with an open file. */
static void use(run *r, block_store *bs) {
    read_some(r, bs);
    commit(r, bs);
    read_some(r, bs);
    commit(r, bs);
    expected(r, block_store_shrink(bs, NULL, &error));
    read_some(r, bs);
    commit(r, bs);
    commit(r, bs);
    (void)block_store_wasteful(bs);
    read_some(r, bs);
    CHECK(!block_store_is_damaged(bs));
}

/* look_at -- a folder's file, after the end of a process. */
static void look_at(const char *folder, const run *r) {
    char path[320];
    block_store *bs = NULL;
    snprintf(path, sizeof path, "%s/blocks.tch", folder);
    for (int again = 0; again < 2; again++) {
        if (!CHECK_OK(block_store_open(&fault_fs, path, again == 0 ? BLOCK_STORE_READ_ONLY : 0,
                                       keys, &bs, &error),
                      &error))
            return;
        uint32_t g = generation_of(bs);
        if (!CHECK(g == r->committed || g == r->possible))
            check_note("    generation %u, not %u or %u", g, r->committed, r->possible);
        holds(bs, g);
        if (again == 1) {
            CHECK_OK(write_generation(bs, g + 1), &error);
            holds(bs, g + 1);
        }
        CHECK_OK(block_store_close(bs, &error), &error);
    }
}

/* one_fault -- a whole life with faults from the nth call on. Returns how many calls there were. */
static unsigned one_fault(const mode *m, bool killed, unsigned nth) {
    run r = {.mode = m, .committed = 3, .possible = 3, .next = 4};
    block_store *bs = NULL;
    uint64_t failures = check_failures();
    folder_remove(files.work);
    folder_copy(killed ? files.killed : files.closed, files.work);
    alarm(WATCHDOG);
    fault_start_burst(m->kind, nth, m->length, m->half, m->number);
    tansu_status status = block_store_open(&fault_fs, files.path, 0, keys, &bs, &error);
    expected(&r, status);
    if (status == TANSU_OK)
        use(&r, bs);
    /* The process may end here ... */
    unsigned calls = fault_stop();
    folder_remove(files.left);
    folder_copy(files.work, files.left);
    look_at(files.left, &r);
    if (status == TANSU_OK && nth % 2 == 0) { /* ... or go on when the fault is over ... */
        holds(bs, r.committed);
        CHECK_OK(write_generation(bs, r.next), &error);
        r.committed = r.possible = r.next;
        holds(bs, r.committed);
        CHECK_OK(block_store_close(bs, &error), &error);
    } else if (status == TANSU_OK) { /* ... or close the file in the middle of it. */
        unsigned closing = nth > calls ? nth - calls : nth == 0 ? 0 : 1 + nth % 12;
        fault_start_burst(m->kind, closing, m->length, m->half, m->number);
        expected(&r, block_store_close(bs, &error));
        calls += fault_stop();
    }
    look_at(files.work, &r);
    alarm(0);
    if (check_failures() != failures)
        check_note("    call %u %s (%s)", nth, m->name, killed ? "killed" : "closed");
    return calls;
}

static void every_call_may_fail(void) {
    unsigned most = (unsigned)random_rounds("TANSU_FAULTS", TRIES_USUALLY);
    unsigned tries = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (modes[i].kind == FAULT_MEMORY && !fault_has_memory())
            continue;
        for (int killed = 0; killed < 2; killed++) {
            unsigned calls = one_fault(&modes[i], killed != 0, 0);
            CHECK(calls > 30);
            unsigned step = calls <= most ? 1 : (calls + most - 1) / most;
            for (unsigned nth = 1; nth <= calls && check_failures() < 20; nth += step, tries++)
                one_fault(&modes[i], killed != 0, nth);
        }
    }
    check_note("%u runs with trouble", tries);
}

/* make_files -- files of a process that closed them, and of one that was killed. */
static void make_files(void) {
    block_store *bs;
    folder_remove(files.closed);
    folder_remove(files.killed);
    folder_remove(files.work);
    REQUIRE(fs_system.mkdir(&fs_system, files.work, 0755) == 0);
    REQUIRE(block_store_open(&fault_fs, files.path, BLOCK_STORE_CREATE, keys, &bs, &error) ==
            TANSU_OK);
    for (uint32_t g = 1; g <= 3; g++)
        CHECK_OK(write_generation(bs, g), &error);
    folder_copy(files.work, files.killed);
    CHECK_OK(block_store_close(bs, &error), &error);
    folder_copy(files.work, files.closed);
}

int main(void) {
    files.folder = folder_new();
    snprintf(files.closed, sizeof files.closed, "%s", folder_join(files.folder, "closed"));
    snprintf(files.killed, sizeof files.killed, "%s", folder_join(files.folder, "killed"));
    snprintf(files.work, sizeof files.work, "%s", folder_join(files.folder, "work"));
    snprintf(files.left, sizeof files.left, "%s", folder_join(files.folder, "left"));
    snprintf(files.path, sizeof files.path, "%s/blocks.tch", files.work);
    fault_skip_syncs(true);
    make_files();
    RUN(every_call_may_fail);
    if (library_crypto()) {
        static const uint8_t id[16] = {1}, key[CRYPT_KEY_SIZE] = {2};
        keys = keyring_new(id);
        REQUIRE(keys != NULL && keyring_add(keys, 1, key));
        make_files();
        RUN(every_call_may_fail);
        keyring_free(keys);
    }
    folder_end(files.folder);
    return check_finish();
}
