/*
 * test_cabinet_trouble.c -- every file call and every allocation of the block store fails: once, several in
 * a row, from then on, and half done. No call ends the process or takes long, the status is of the call
 * that failed and never CORRUPT, readers go on seeing the last commit, the next transaction succeeds when
 * the trouble is over, and whenever the process ends, the file holds the last commit.
 *
 * TANSU_TROUBLES sets at how many places of each run there is trouble (60).
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "index/cabinet.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/trouble.h"

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
static tansu_status write_generation(cabinet *cab, uint32_t g) {
    uint8_t value[VALUE_MOST];
    tansu_status status = cabinet_begin(cab, &error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t n = 0; status == TANSU_OK && n < NUMBERS; n++) {
        if ((g * 7 + n) % 4 != 0)
            continue;
        size_t size = value_of(g, n, value);
        status = size == 0 ? cabinet_remove(cab, CABINET_BLOCK, n, &error)
                           : cabinet_put(cab, CABINET_BLOCK, n, value, size, &error);
    }
    store_u32(value, g);
    if (status == TANSU_OK)
        status = cabinet_put(cab, CABINET_META, 0, value, 4, &error);
    if (status == TANSU_OK)
        return cabinet_commit(cab, &error);
    cabinet_abort(cab);
    return status;
}

/* generation_of -- what the file says that it holds, while there is no trouble. */
static uint32_t generation_of(cabinet *cab) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    uint32_t g = 0;
    if (CHECK_OK(cabinet_get(cab, CABINET_META, 0, &record, &error), &error) &&
        CHECK_INT(4, record.size))
        g = load_u32(record.data);
    tansu_buffer_free(&record);
    return g;
}

/* holds -- exactly a generation. */
static void holds(cabinet *cab, uint32_t g) {
    uint8_t value[VALUE_MOST];
    tansu_buffer record = TANSU_BUFFER_INIT;
    CHECK_INT(g, generation_of(cab));
    for (uint32_t n = 0; n < NUMBERS; n++) {
        size_t size = value_of(g, n, value);
        tansu_status status = cabinet_get(cab, CABINET_BLOCK, n, &record, &error);
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
    trouble_kind kind;
    unsigned length;
    bool half;
    int number;
} mode;

static const mode modes[] = {
    {"fails once", TROUBLE_FILES, 1, false, EIO},
    {"and the two after it fail", TROUBLE_FILES, 3, false, EIO},
    {"and twenty after it fail", TROUBLE_FILES, 21, false, EIO},
    {"and all after it fail", TROUBLE_FILES, UINT_MAX, false, EIO},
    {"and all after it find the disk full", TROUBLE_FILES, UINT_MAX, false, ENOSPC},
    {"is half done and the next one fails", TROUBLE_FILES, 2, true, EIO},
    {"is half done and all after it fail", TROUBLE_FILES, UINT_MAX, true, ENOSPC},
    {"(an allocation) fails", TROUBLE_MEMORY, 1, false, 0},
    {"(an allocation) and all after it fail", TROUBLE_MEMORY, UINT_MAX, false, 0},
};

/* What is known in a run. */
typedef struct run {
    const mode *mode;
    uint32_t committed; /* the last generation that was */
    uint32_t possible;  /* the last that may be in the file */
    uint32_t next;
} run;

/* expected -- whether a status is one that the trouble may come to. */
static void expected(const run *r, tansu_status status) {
    bool right = status == TANSU_OK ||
                 (r->mode->kind == TROUBLE_MEMORY ? status == TANSU_E_MEMORY
                  : r->mode->number == ENOSPC     ? status == TANSU_E_FULL || status == TANSU_E_IO
                                                  : status == TANSU_E_IO);
    if (!CHECK(right) || !CHECK(status == TANSU_OK || trouble_met()))
        check_note("    %s: %s", tansu_status_name(status), error.message);
}

/* commit -- the next generation, with or without success. */
static void commit(run *r, cabinet *cab) {
    tansu_status status = write_generation(cab, r->next);
    expected(r, status);
    r->possible = r->next;
    if (status == TANSU_OK)
        r->committed = r->next++;
}

/* read_some -- records, which are right when they can be read. */
static void read_some(run *r, cabinet *cab) {
    uint8_t value[VALUE_MOST];
    tansu_buffer record = TANSU_BUFFER_INIT;
    for (uint32_t n = 0; n < NUMBERS; n += 5) {
        size_t size = value_of(r->committed, n, value);
        tansu_status status = cabinet_get(cab, CABINET_BLOCK, n, &record, &error);
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
static void use(run *r, cabinet *cab) {
    read_some(r, cab);
    commit(r, cab);
    read_some(r, cab);
    commit(r, cab);
    expected(r, cabinet_shrink(cab, &error));
    read_some(r, cab);
    commit(r, cab);
    commit(r, cab);
    (void)cabinet_wasteful(cab);
    read_some(r, cab);
    CHECK(!cabinet_doubted(cab));
}

/* look_at -- a folder's file, after the end of a process. */
static void look_at(const char *folder, const run *r) {
    char path[320];
    cabinet *cab = NULL;
    snprintf(path, sizeof path, "%s/blocks.tch", folder);
    for (int again = 0; again < 2; again++) {
        if (!CHECK_OK(cabinet_open(&trouble_calls, path, again == 0 ? CABINET_READ_ONLY : 0, &cab,
                                   &error),
                      &error))
            return;
        uint32_t g = generation_of(cab);
        if (!CHECK(g == r->committed || g == r->possible))
            check_note("    generation %u, not %u or %u", g, r->committed, r->possible);
        holds(cab, g);
        if (again == 1) {
            CHECK_OK(write_generation(cab, g + 1), &error);
            holds(cab, g + 1);
        }
        CHECK_OK(cabinet_close(cab, &error), &error);
    }
}

/* one_trouble -- a whole life with trouble from the nth call on. Returns how many calls there were. */
static unsigned one_trouble(const mode *m, bool killed, unsigned nth) {
    run r = {.mode = m, .committed = 3, .possible = 3, .next = 4};
    cabinet *cab = NULL;
    uint64_t failures = check_failures();
    folder_remove(files.work);
    folder_copy(killed ? files.killed : files.closed, files.work);
    alarm(WATCHDOG);
    trouble_start_burst(m->kind, nth, m->length, m->half, m->number);
    tansu_status status = cabinet_open(&trouble_calls, files.path, 0, &cab, &error);
    expected(&r, status);
    if (status == TANSU_OK)
        use(&r, cab);
    /* The process may end here ... */
    unsigned calls = trouble_stop();
    folder_remove(files.left);
    folder_copy(files.work, files.left);
    look_at(files.left, &r);
    if (status == TANSU_OK && nth % 2 == 0) { /* ... or go on when the trouble is over ... */
        holds(cab, r.committed);
        CHECK_OK(write_generation(cab, r.next), &error);
        r.committed = r.possible = r.next;
        holds(cab, r.committed);
        CHECK_OK(cabinet_close(cab, &error), &error);
    } else if (status == TANSU_OK) { /* ... or close the file in the middle of it. */
        unsigned closing = nth > calls ? nth - calls : nth == 0 ? 0 : 1 + nth % 12;
        trouble_start_burst(m->kind, closing, m->length, m->half, m->number);
        expected(&r, cabinet_close(cab, &error));
        calls += trouble_stop();
    }
    look_at(files.work, &r);
    alarm(0);
    if (check_failures() != failures)
        check_note("    call %u %s (%s)", nth, m->name, killed ? "killed" : "closed");
    return calls;
}

static void every_call_may_fail(void) {
    const char *wanted = getenv("TANSU_TROUBLES");
    unsigned most = wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : TRIES_USUALLY;
    unsigned tries = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (modes[i].kind == TROUBLE_MEMORY && !trouble_has_memory())
            continue;
        for (int killed = 0; killed < 2; killed++) {
            unsigned calls = one_trouble(&modes[i], killed != 0, 0);
            CHECK(calls > 30);
            unsigned step = calls <= most ? 1 : (calls + most - 1) / most;
            for (unsigned nth = 1; nth <= calls && check_failures() < 20; nth += step, tries++)
                one_trouble(&modes[i], killed != 0, nth);
        }
    }
    check_note("%u runs with trouble", tries);
}

int main(void) {
    files.folder = folder_new();
    snprintf(files.closed, sizeof files.closed, "%s", folder_join(files.folder, "closed"));
    snprintf(files.killed, sizeof files.killed, "%s", folder_join(files.folder, "killed"));
    snprintf(files.work, sizeof files.work, "%s", folder_join(files.folder, "work"));
    snprintf(files.left, sizeof files.left, "%s", folder_join(files.folder, "left"));
    snprintf(files.path, sizeof files.path, "%s/blocks.tch", files.work);
    trouble_pretend_syncs(true);
    REQUIRE(fs_system.mkdir(files.work, 0755) == 0);
    cabinet *cab;
    REQUIRE(cabinet_open(&trouble_calls, files.path, CABINET_CREATE, &cab, &error) == TANSU_OK);
    for (uint32_t g = 1; g <= 3; g++)
        CHECK_OK(write_generation(cab, g), &error);
    folder_copy(files.work, files.killed);
    CHECK_OK(cabinet_close(cab, &error), &error);
    folder_copy(files.work, files.closed);
    RUN(every_call_may_fail);
    folder_end(files.folder);
    return check_finish();
}
