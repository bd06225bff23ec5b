/*
 * device/inspect.c -- compares what is left of a database, and its backups, with what was acknowledged.
 */
#include "workload.h"

#include "ledger.h"
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY 256
#define SLOT 0

/* What the ledger says of a thread at the moment. */
struct known {
    uint64_t full; /* these steps at least are on the disk */
    uint64_t any;  /* the last that was acknowledged in any way */
};

static struct known known[STEP_THREADS];
static ledger_record *records;
static size_t record_count;

/* forget_later -- acknowledgements of steps that an opening did not find: they were soft, and were lost. */
static void forget_later(size_t before, uint32_t thread, uint64_t step) {
    for (size_t i = 0; i < before; i++)
        if (records[i].thread == thread && records[i].step > step &&
            (records[i].kind == LEDGER_FULL || records[i].kind == LEDGER_SOFT))
            records[i].kind = 0;
}

/* read_ledger -- what must be there, and what may. */
static bool read_ledger(const char *path, uint64_t moment) {
    if (!ledger_read(path, moment, &records, &record_count))
        return false;
    for (size_t i = 0; i < record_count; i++) {
        const ledger_record *r = &records[i];
        struct known *k = &known[r->thread % STEP_THREADS];
        if (r->kind == LEDGER_OPENED) {
            if (r->step < k->full)
                fault("thread %u was at step %" PRIu64 " when the database was opened again, and "
                      "%" PRIu64 " had been acknowledged",
                      r->thread, r->step, k->full);
            forget_later(i, r->thread, r->step);
            k->any = r->step;
        } else if (r->kind == LEDGER_FULL || r->kind == LEDGER_SOFT) {
            k->any = r->step;
            if (r->kind == LEDGER_FULL)
                k->full = r->step;
        }
    }
    return true;
}

/* compare_steps -- the work of one thread in a database or backup as of commit `sequence`. */
static void compare_steps(tansu_db *db, const char *what, uint64_t seed, uint32_t t,
                          uint64_t sequence, step_world *actual) {
    step_world expected;
    tansu_error error = {0};
    char why[WHY];
    tansu_status status = step_read(db, NULL, t, actual, why, &error);
    if (status != TANSU_OK) {
        fault("%s: reading thread %u's collection: %s: %s", what, t, tansu_status_name(status),
              error.message);
        return;
    }
    if (why[0] != 0) {
        fault("%s: thread %u: %s", what, t, why);
        return;
    }
    if (actual->step > 50000000) {
        fault("%s: thread %u is at step %" PRIu64, what, t, actual->step);
        return;
    }
    step_world_at(seed, t, actual->step, &expected);
    if (!step_same(&expected, actual, why))
        fault("%s: thread %u: %s", what, t, why);
    for (size_t i = 0; i < record_count; i++) {
        const ledger_record *r = &records[i];
        if (r->thread != t || r->sequence == 0 || r->kind == 0 || r->kind == LEDGER_BACKUP)
            continue;
        if (r->sequence <= sequence ? r->step > actual->step : r->step <= actual->step) {
            fault("%s: it is as of commit %" PRIu64 ", thread %u at step %" PRIu64
                  ", and that thread's step %" PRIu64 " was commit %" PRIu64,
                  what, sequence, t, actual->step, r->step, r->sequence);
            return;
        }
    }
}

/* open_named -- opens a database; a fault when it does not. */
static tansu_db *open_named(const char *what, const char *path) {
    tansu_options options;
    tansu_error error = {0};
    tansu_db *db = NULL;
    set_options(&options, path, TANSU_DURABILITY_FULL);
    options.must_exist = 1;
    watch_call(SLOT, "open");
    tansu_status status = tansu_open(&options, &db, &error);
    watch_back(SLOT);
    if (status == TANSU_OK)
        return db;
    fault("%s does not open: %s (errno %d): %s [%s]", what, tansu_status_name(status),
          error.sys_errno, error.message, error.context);
    return NULL;
}

/* verify_and_close -- nothing may be wrong. */
static void verify_and_close(const char *what, tansu_db *db) {
    tansu_error error = {0};
    watch_call(SLOT, "verify");
    tansu_status status = tansu_verify(db, NULL, NULL, NULL, &error);
    if (status != TANSU_OK)
        fault("%s: verify: %s: %s [%s]", what, tansu_status_name(status), error.message,
              error.context);
    watch_call(SLOT, "shutdown");
    status = tansu_shutdown(db, &error);
    watch_back(SLOT);
    if (status != TANSU_OK)
        fault("%s: shutdown: %s: %s", what, tansu_status_name(status), error.message);
}

/* look_at -- opens a database or backup that is to be as of one commit. */
static void look_at(const char *what, const char *path, uint64_t seed, uint64_t sequence) {
    step_world world;
    tansu_db *db = open_named(what, path);
    if (db == NULL)
        return;
    for (uint32_t t = 0; t < STEP_THREADS; t++)
        compare_steps(db, what, seed, t, sequence, &world);
    verify_and_close(what, db);
}

/* look_at_backup -- restores one, and opens one that is a folder. */
static void look_at_backup(const ledger_record *r, uint64_t seed, const char *backups,
                           const char *scratch) {
    char from[1024], to[1024], what[64];
    tansu_error error = {0};
    snprintf(from, sizeof from, "%s/b%" PRIu64, backups, r->step);
    snprintf(to, sizeof to, "%s/r%" PRIu64, scratch, r->step);
    snprintf(what, sizeof what, "backup %" PRIu64 " (%s)", r->step,
             r->step % 2 == 0 ? "folder" : "file");
    watch_call(SLOT, "restore");
    tansu_status status = tansu_restore(from, to, NULL, NULL, NULL, &error);
    watch_back(SLOT);
    if (status != TANSU_OK)
        fault("%s does not restore: %s: %s [%s]", what, tansu_status_name(status), error.message,
              error.context);
    else
        look_at(what, to, seed, r->sequence);
    if (r->step % 2 == 0)
        look_at(what, from, seed, r->sequence);
}

/* look_at_database -- the database itself: it must have all that was acknowledged, and go on working. */
static void look_at_database(tansu_db *db, uint64_t seed, bool soft) {
    uint64_t sequence = (uint64_t)figure(db, "sequence", 0);
    step_world world;
    tansu_error error = {0};
    for (uint32_t t = 0; t < STEP_THREADS; t++) {
        uint64_t least = soft ? known[t].any : known[t].full;
        compare_steps(db, "the database", seed, t, sequence, &world);
        if (world.step < least || world.step > known[t].any + 1)
            fault("thread %u is at step %" PRIu64 ": %" PRIu64 " must be there, %" PRIu64
                  " were acknowledged in all",
                  t, world.step, least, known[t].any);
        step next;
        uint64_t number = 0;
        step_make(seed, t, world.step + 1, &next);
        step_apply(&world, &next);
        tansu_status status =
            step_run(db, t, &next, &world, TANSU_DURABILITY_DEFAULT, &number, &error);
        if (status != TANSU_OK)
            fault("the next step of thread %u: %s: %s", t, tansu_status_name(status),
                  error.message);
    }
    verify_and_close("the database", db);
}

int workload_inspect(const char *path, const char *ledger, uint64_t seed, uint64_t moment,
                     bool soft, const char *backups, const char *scratch) {
    if (!read_ledger(ledger, moment)) {
        perror("ledger");
        return EXIT_HARNESS;
    }
    tansu_db *db = open_named("the database", path);
    if (db != NULL)
        look_at_database(db, seed, soft);
    unsigned backup_count = 0;
    for (size_t i = 0; i < record_count; i++)
        if (records[i].kind == LEDGER_BACKUP && ++backup_count > 0)
            look_at_backup(&records[i], seed, backups, scratch);
    printf("inspected %zu acknowledgements, %u backups\n", record_count, backup_count);
    free(records);
    return faults_so_far() == 0 ? EXIT_FINE : EXIT_FAULT;
}
