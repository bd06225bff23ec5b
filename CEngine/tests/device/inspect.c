/*
 * device/inspect.c -- compares a database after faults or power loss, and its backups, with what
 * was acknowledged.
 */
#include "workload.h"

#include "ack_log.h"
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY 256
#define SLOT 0

/* The acknowledgements of a thread. */
struct acknowledged {
    uint64_t full; /* these steps at least are on the disk */
    uint64_t any;  /* the last that was acknowledged in any way */
};

static struct acknowledged acknowledged[STEP_THREADS];
static ack_record *records;
static size_t record_count;

/* discard_later -- drops acknowledgements of steps that an opening did not find: they survived the
 * process only, and were lost. */
static void discard_later(size_t before, uint32_t thread, uint64_t step) {
    for (size_t i = 0; i < before; i++)
        if (records[i].thread == thread && records[i].step > step &&
            (records[i].kind == ACK_FULL || records[i].kind == ACK_PROCESS))
            records[i].kind = 0;
}

/* read_ack_log -- the steps that must exist, and those that may. */
static bool read_ack_log(const char *path, uint64_t before) {
    if (!ack_log_read(path, before, &records, &record_count))
        return false;
    for (size_t i = 0; i < record_count; i++) {
        const ack_record *r = &records[i];
        struct acknowledged *k = &acknowledged[r->thread % STEP_THREADS];
        if (r->kind == ACK_OPENED) {
            if (r->step < k->full)
                fault("thread %u was at step %" PRIu64 " when the database was opened again, and "
                      "%" PRIu64 " had been acknowledged",
                      r->thread, r->step, k->full);
            discard_later(i, r->thread, r->step);
            k->any = r->step;
        } else if (r->kind == ACK_FULL || r->kind == ACK_PROCESS) {
            k->any = r->step;
            if (r->kind == ACK_FULL)
                k->full = r->step;
        }
    }
    return true;
}

/* compare_steps -- compares the collection of a thread in a database or backup as of commit
 * `sequence`. */
static void compare_steps(tansu_db *db, const char *what, uint64_t seed, uint32_t t,
                          uint64_t sequence, step_model *actual) {
    step_model expected;
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
    step_model_at(seed, t, actual->step, &expected);
    if (!step_same(&expected, actual, why))
        fault("%s: thread %u: %s", what, t, why);
    for (size_t i = 0; i < record_count; i++) {
        const ack_record *r = &records[i];
        if (r->thread != t || r->sequence == 0 || r->kind == 0 || r->kind == ACK_BACKUP)
            continue;
        if (r->sequence <= sequence ? r->step > actual->step : r->step <= actual->step) {
            fault("%s: it is as of commit %" PRIu64 ", thread %u at step %" PRIu64
                  ", and that thread's step %" PRIu64 " was commit %" PRIu64,
                  what, sequence, t, actual->step, r->step, r->sequence);
            return;
        }
    }
}

/* open_named -- opens a database; a fault when that fails. */
static tansu_db *open_named(const char *what, const char *path) {
    tansu_options options;
    tansu_error error = {0};
    tansu_db *db = NULL;
    set_options(&options, path, TANSU_DURABILITY_FULL);
    options.must_exist = 1;
    watchdog_enter(SLOT, "open");
    tansu_status status = tansu_open(&options, &db, &error);
    watchdog_leave(SLOT);
    if (status == TANSU_OK)
        return db;
    fault("%s does not open: %s (errno %d): %s [%s]", what, tansu_status_name(status),
          error.sys_errno, error.message, error.context);
    return NULL;
}

/* verify_and_close -- nothing may be wrong. */
static void verify_and_close(const char *what, tansu_db *db) {
    tansu_error error = {0};
    watchdog_enter(SLOT, "verify");
    tansu_status status = tansu_verify(db, NULL, NULL, NULL, &error);
    if (status != TANSU_OK)
        fault("%s: verify: %s: %s [%s]", what, tansu_status_name(status), error.message,
              error.context);
    watchdog_enter(SLOT, "shutdown");
    status = tansu_shutdown(db, &error);
    watchdog_leave(SLOT);
    if (status != TANSU_OK)
        fault("%s: shutdown: %s: %s", what, tansu_status_name(status), error.message);
}

/* inspect_copy -- inspects a restored database or a backup that is a folder. */
static void inspect_copy(const char *what, const char *path, uint64_t seed, uint64_t sequence) {
    step_model model;
    tansu_db *db = open_named(what, path);
    if (db == NULL)
        return;
    for (uint32_t t = 0; t < STEP_THREADS; t++)
        compare_steps(db, what, seed, t, sequence, &model);
    verify_and_close(what, db);
}

/* inspect_backup -- restores a backup, and opens one that is a folder. */
static void inspect_backup(const ack_record *r, uint64_t seed, const char *backups,
                           const char *scratch) {
    char from[1024], to[1024], what[64];
    tansu_error error = {0};
    snprintf(from, sizeof from, "%s/b%" PRIu64, backups, r->step);
    snprintf(to, sizeof to, "%s/r%" PRIu64, scratch, r->step);
    snprintf(what, sizeof what, "backup %" PRIu64 " (%s)", r->step,
             r->step % 2 == 0 ? "folder" : "file");
    watchdog_enter(SLOT, "restore");
    tansu_status status =
        the_key() != NULL ? tansu_restore_encrypted(from, to, the_key(), NULL, NULL, NULL, &error)
                          : tansu_restore(from, to, NULL, NULL, NULL, &error);
    watchdog_leave(SLOT);
    if (status != TANSU_OK)
        fault("%s does not restore: %s: %s [%s]", what, tansu_status_name(status), error.message,
              error.context);
    else
        inspect_copy(what, to, seed, r->sequence);
    if (r->step % 2 == 0)
        inspect_copy(what, from, seed, r->sequence);
}

/* inspect_database -- the database has all that was acknowledged, and accepts the next step. */
static void inspect_database(tansu_db *db, uint64_t seed, bool process_only) {
    uint64_t sequence = (uint64_t)stat_value(db, "sequence", 0);
    step_model model;
    tansu_error error = {0};
    for (uint32_t t = 0; t < STEP_THREADS; t++) {
        uint64_t least = process_only ? acknowledged[t].any : acknowledged[t].full;
        compare_steps(db, "the database", seed, t, sequence, &model);
        if (model.step < least || model.step > acknowledged[t].any + 1)
            fault("thread %u is at step %" PRIu64 ": %" PRIu64 " must exist, %" PRIu64
                  " were acknowledged in all",
                  t, model.step, least, acknowledged[t].any);
        step next;
        uint64_t number = 0;
        step_make(seed, t, model.step + 1, &next);
        step_apply(&model, &next);
        tansu_status status =
            step_run(db, t, &next, &model, TANSU_DURABILITY_DEFAULT, &number, &error);
        if (status != TANSU_OK)
            fault("the next step of thread %u: %s: %s", t, tansu_status_name(status),
                  error.message);
    }
    verify_and_close("the database", db);
}

int workload_inspect(const char *path, const char *ack_log, uint64_t seed, uint64_t before,
                     bool process_only, const char *backups, const char *scratch) {
    if (!read_ack_log(ack_log, before)) {
        perror("acknowledgement log");
        return EXIT_HARNESS;
    }
    tansu_db *db = open_named("the database", path);
    if (db != NULL)
        inspect_database(db, seed, process_only);
    unsigned backup_count = 0;
    for (size_t i = 0; i < record_count; i++)
        if (records[i].kind == ACK_BACKUP && ++backup_count > 0)
            inspect_backup(&records[i], seed, backups, scratch);
    printf("inspected %zu acknowledgements, %u backups\n", record_count, backup_count);
    free(records);
    return faults_so_far() == 0 ? EXIT_FINE : EXIT_FAULT;
}
