/*
 * device/workload.c -- writers, readers and maintenance on a database whose device may fail.
 *
 * Commands, a line each on standard input, and answers:
 *   read-errors     from now on calls that read may return IO
 *   faults          from now on calls that write may fail
 *   healthy         neither, from now on
 *   drop-caches     drops the kernel's cached pages of the database's files
 *   close           stops the threads and shuts the database down: "closed STATUS"
 *   open            opens the database and starts the threads: "opened STATUS"
 *   quit            ends the process, whatever is open: "quit", with counts
 */
#include "workload.h"

#include "ack_log.h"
#include "steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READERS 2
#define WHY 256
#define MOST_BACKUPS 6

/* Slots of the watchdog. */
enum { SLOT_MAIN = 0, SLOT_WRITER = 1, SLOT_READER = 5, SLOT_MAINTENANCE = 8 };

static struct {
    tansu_db *db;
    const char *path, *backups;
    uint64_t seed;
    tansu_durability durability;
    atomic_bool stop, device_fails, read_errors;
    atomic_bool
        failed; /* SYNC_FAILED was returned: nothing may be written until it is opened again */
    atomic_uint_fast64_t steps, reads, maintenance_count, refused;
    uint64_t backup_number, backup_end; /* the next, and the one that is not made any more */
    uint64_t random;
    pthread_t threads[STEP_THREADS + READERS + 1];
} run;

static const tansu_key key = {
    .bytes = "thirty-two bytes of a device key", .size = 32, .kind = TANSU_KEY_BYTES};
static bool encrypted;

bool set_form(const char *form) {
    encrypted = strcmp(form, "encrypted") == 0;
    return encrypted || strcmp(form, "plain") == 0;
}

const tansu_key *the_key(void) {
    return encrypted ? &key : NULL;
}

void set_options(tansu_options *options, const char *path, tansu_durability durability) {
    tansu_options_init(options);
    options->path = path;
    options->durability = durability;
    options->interval_ms = 20;
    options->segment_size = 1 << 20;
    options->checkpoint_bytes = 256 << 10;
    options->index_cache_bytes = 64 << 10;
    options->compaction_percent = 25;
    options->compaction_share = 100;
    if (encrypted) {
        options->key = key.bytes;
        options->key_size = key.size;
        options->key_kind = key.kind;
    }
}

int64_t stat_value(tansu_db *db, const char *name, int64_t otherwise) {
    tansu_buffer b = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_iter_t iter;
    int64_t value = otherwise;
    if (tansu_stats(db, &b, NULL) == TANSU_OK && bson_init_static(&doc, b.data, b.size) &&
        bson_iter_init_find(&iter, &doc, name) &&
        (BSON_ITER_HOLDS_NUMBER(&iter) || BSON_ITER_HOLDS_BOOL(&iter)))
        value = bson_iter_as_int64(&iter);
    tansu_buffer_free(&b);
    return value;
}

/* ---- What a call may return ---------------------------------------------------------------- */

/* report_status -- a status that the call may not return. */
static void report_status(const char *call, tansu_status status, const tansu_error *error) {
    fault("%s%s: %s (errno %d): %s [%s]", call,
          atomic_load(&run.device_fails) ? ", while the device fails" : "",
          tansu_status_name(status), error->sys_errno, error->message, error->context);
}

/* corruption_is_known -- a failing device may have corrupted the index files; the database says so
 * until it is opened again. */
static bool corruption_is_known(tansu_status status) {
    return status == TANSU_E_CORRUPT && atomic_load(&run.device_fails) &&
           stat_value(run.db, "indexesDamaged", 0) != 0;
}

/* read_may_fail -- whether a call that reads may return this status: reads of the device fail, or a
 * write did. Then the file system may drop from memory what it could not write, and the database
 * accepts no more writes. */
static bool read_may_fail(tansu_status status) {
    return status == TANSU_E_IO &&
           (atomic_load(&run.read_errors) ||
            (atomic_load(&run.device_fails) && tansu_sync(run.db, NULL) != TANSU_OK));
}

/* is_refusal -- whether a call that writes may return this status on a failing device. */
static bool is_refusal(tansu_status status) {
    return status == TANSU_E_IO || status == TANSU_E_FULL || status == TANSU_E_SYNC_FAILED ||
           status == TANSU_E_READ_ONLY;
}

/* check_write -- whether a call that writes may return this status; notes SYNC_FAILED, after which
 * none may succeed. */
static void check_write(const char *call, tansu_status status, bool was_failed,
                        const tansu_error *error) {
    if (status == TANSU_OK) {
        if (was_failed)
            fault("%s succeeded after SYNC_FAILED, and without opening again", call);
        return;
    }
    atomic_fetch_add(&run.refused, 1);
    if (!atomic_load(&run.device_fails) || !is_refusal(status))
        report_status(call, status, error);
    if (status == TANSU_E_SYNC_FAILED)
        atomic_store(&run.failed, true);
}

/* check_read -- the same for a call that reads. Corruption of index files by a failing device may
 * be reported. */
static void check_read(const char *call, tansu_status status, const tansu_error *error) {
    if (status == TANSU_OK || status == TANSU_DONE)
        return;
    atomic_fetch_add(&run.refused, 1);
    if (read_may_fail(status) || corruption_is_known(status))
        return;
    report_status(call, status, error);
}

/* ---- Writers ------------------------------------------------------------------------------- */

static void *write_continuously(void *context) {
    uint32_t t = (uint32_t)(uintptr_t)context;
    unsigned slot = SLOT_WRITER + t;
    step_model model, next;
    tansu_error error = {0};
    char why[WHY];
    step s;
    watchdog_enter(slot, "reading at the beginning");
    tansu_status status = step_read(run.db, NULL, t, &model, why, &error);
    watchdog_leave(slot);
    if (status != TANSU_OK) {
        check_read("reading at the beginning", status, &error);
        return NULL;
    }
    step_model_at(run.seed, t, model.step, &next);
    if (why[0] != 0 || !step_same(&next, &model, why)) {
        fault("thread %u, at the beginning: %s", t, why);
        return NULL;
    }
    ack_log_add(ACK_OPENED, t, model.step, 0);
    while (!atomic_load(&run.stop)) {
        uint64_t sequence = 0;
        bool was_failed = atomic_load(&run.failed);
        step_make(run.seed, t, model.step + 1, &s);
        next = model;
        step_apply(&next, &s);
        watchdog_enter(slot, "writing");
        memset(&error, 0, sizeof error);
        status = step_run(run.db, t, &s, &next, TANSU_DURABILITY_DEFAULT, &sequence, &error);
        watchdog_leave(slot);
        check_write("writing", status, was_failed, &error);
        if (status == TANSU_OK) {
            ack_log_add(run.durability == TANSU_DURABILITY_FULL ? ACK_FULL : ACK_PROCESS, t,
                        next.step, sequence);
            model = next;
            atomic_fetch_add(&run.steps, 1);
        } else if (status == TANSU_E_IO) {
            break; /* it may have been committed, or not: the next opening shows it */
        } else {
            usleep(20000);
        }
        if (run.durability != TANSU_DURABILITY_FULL)
            usleep(500);
    }
    return NULL;
}

/* ---- Readers ------------------------------------------------------------------------------- */

/* count_by_index -- counts a thread's documents by an index. */
static tansu_status count_by_index(tansu_txn *txn, uint32_t t, uint64_t round,
                                   const step_model *model, char *why, tansu_error *error) {
    static const char *const paths[] = {"v", "n"};
    const char *path = paths[round % 2];
    char name[16];
    int64_t found = 0, expected = 0;
    bson_t *query = BCON_NEW(path, "{", "$gte", BCON_INT32(0), "}");
    bson_t *hints = BCON_NEW("$index", BCON_UTF8(path));
    tansu_status status = tansu_count(run.db, txn, step_collection(t, name), document_of(query),
                                      document_of(hints), &found, error);
    bson_destroy(query);
    bson_destroy(hints);
    for (size_t i = 0; i < STEP_IDS; i++)
        expected += model->cells[i].there;
    if (status == TANSU_OK && found != expected)
        snprintf(why, WHY, "%" PRId64 " documents by index %s, %" PRId64 " exist", found, path,
                 expected);
    return status;
}

static void *read_continuously(void *context) {
    unsigned slot = SLOT_READER + (unsigned)(uintptr_t)context;
    uint64_t round = (uintptr_t)context;
    step_model model;
    char why[WHY];
    while (!atomic_load(&run.stop)) {
        uint32_t t = (uint32_t)(round++ % STEP_THREADS);
        tansu_txn *txn = NULL;
        tansu_error error = {0};
        why[0] = 0;
        watchdog_enter(slot, "reading");
        tansu_status status =
            tansu_txn_begin(run.db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, &error);
        if (status == TANSU_OK)
            status = step_read(run.db, txn, t, &model, why, &error);
        if (status == TANSU_OK && why[0] == 0)
            status = count_by_index(txn, t, round, &model, why, &error);
        tansu_txn_abort(txn);
        watchdog_leave(slot);
        check_read("reading", status, &error);
        if (status == TANSU_OK && why[0] != 0)
            fault("reading thread %u's collection: %s", t, why);
        atomic_fetch_add(&run.reads, 1);
        usleep(1000);
    }
    return NULL;
}

/* ---- Maintenance --------------------------------------------------------------------------- */

static uint64_t next_random(void) {
    run.random ^= run.random << 13;
    run.random ^= run.random >> 7;
    run.random ^= run.random << 17;
    return run.random;
}

/* progress -- the progress function of a task: cancels it after a number of calls. */
static int progress(void *context, uint64_t done, uint64_t total) {
    int *calls = context;
    (void)done, (void)total;
    return atomic_load(&run.stop) ? 0 : --*calls != 0;
}

/* problems_of_indexes -- whether all problems in a report of verify are of index files. */
static bool problems_of_indexes(const tansu_buffer *report) {
    bson_t doc;
    bson_iter_t iter, problem, member;
    bool other = false;
    if (!bson_init_static(&doc, report->data, report->size) ||
        !bson_iter_init_find(&iter, &doc, "problems") || !bson_iter_recurse(&iter, &problem))
        return false;
    while (bson_iter_next(&problem))
        if (!bson_iter_recurse(&problem, &member) || !bson_iter_find(&member, "file") ||
            !BSON_ITER_HOLDS_UTF8(&member) ||
            strncmp(bson_iter_utf8(&member, NULL), "index/", 6) != 0)
            other = true;
    return !other;
}

/* verify_now -- problems may only be of index files, and only after the device has failed. */
static void verify_now(int calls) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_error error = {0};
    tansu_status status = tansu_verify(run.db, progress, &calls, &report, &error);
    bool excused = status == TANSU_E_CANCELLED || read_may_fail(status) ||
                   (status == TANSU_E_CORRUPT && atomic_load(&run.device_fails) &&
                    problems_of_indexes(&report));
    if (status != TANSU_OK && !excused)
        report_status("verify", status, &error);
    tansu_buffer_free(&report);
}

/* backup_now -- a backup; only acknowledged ones are in the acknowledgement log. */
static tansu_status backup_now(int calls, tansu_error *error) {
    char to[1024];
    tansu_buffer report = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_iter_t iter;
    uint64_t number = run.backup_number++;
    snprintf(to, sizeof to, "%s/b%" PRIu64, run.backups, number);
    tansu_status status =
        tansu_backup(run.db, to, number % 2 == 0 ? TANSU_BACKUP_FOLDER : TANSU_BACKUP_FILE,
                     progress, &calls, &report, error);
    if (status == TANSU_OK && bson_init_static(&doc, report.data, report.size) &&
        bson_iter_init_find(&iter, &doc, "sequence"))
        ack_log_add(ACK_BACKUP, 0, number, (uint64_t)bson_iter_as_int64(&iter));
    tansu_buffer_free(&report);
    return status;
}

typedef enum action { CHECKPOINT, VERIFY, BACKUP, REKEY, REKEY_EVERYTHING, COMPACT } action;
static const char *const action_names[] = {"checkpoint", "verify",           "backup",
                                           "rekey",      "rekey everything", "compact"};

/* choose_action -- what the thread does next. */
static action choose_action(void) {
    unsigned what = (unsigned)(next_random() % 10);
    if (what < 3)
        return CHECKPOINT;
    if (what == 3)
        return VERIFY;
    if (what == 4 && run.backup_number < run.backup_end)
        return BACKUP;
    if ((what == 5 || what == 6) && the_key() != NULL)
        return what == 5 ? REKEY : REKEY_EVERYTHING;
    return COMPACT;
}

/* act -- does it; cancelled after `calls` of the progress function. */
static tansu_status act(action chosen, int calls, tansu_error *error) {
    switch (chosen) {
    case CHECKPOINT: return tansu_checkpoint(run.db, error);
    case VERIFY: verify_now(calls); return TANSU_OK;
    case BACKUP: return backup_now(calls, error);
    case REKEY: return tansu_rekey(run.db, the_key(), error);
    case REKEY_EVERYTHING:
        return tansu_rekey_everything(run.db, the_key(), progress, &calls, error);
    default: return tansu_compact(run.db, progress, &calls, NULL, error);
    }
}

static void *maintain_continuously(void *context) {
    (void)context;
    while (!atomic_load(&run.stop)) {
        tansu_error error = {0};
        action chosen = choose_action();
        int calls = next_random() % 3 == 0 ? 1 + (int)(next_random() % 40) : INT32_MAX;
        watchdog_enter(SLOT_MAINTENANCE, action_names[chosen]);
        tansu_status status = act(chosen, calls, &error);
        watchdog_leave(SLOT_MAINTENANCE);
        bool excused =
            status == TANSU_E_CANCELLED || corruption_is_known(status) || read_may_fail(status);
        if (!excused)
            check_write(action_names[chosen], status, false, &error);
        atomic_fetch_add(&run.maintenance_count, 1);
        usleep((useconds_t)(next_random() % 60000));
    }
    return NULL;
}

/* page_out -- pages out the mapped files below a path, so that the next access reads them again. */
static void page_out(const char *path) {
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0, end = 0;
        if (strstr(line, path) != NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            madvise((void *)begin, end - begin, MADV_PAGEOUT); /* a hint: may fail */
    }
    if (maps != NULL)
        fclose(maps);
}

/* drop_cached_files -- drops the cached pages of the files in a folder. */
static void drop_cached_files(const char *folder) {
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR) {
            drop_cached_files(path);
        } else if (e->d_type == DT_REG) {
            int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
            if (file >= 0) {
                posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
                close(file);
            }
        }
    }
    if (d != NULL)
        closedir(d);
}

/* ---- Commands ------------------------------------------------------------------------------ */

static void start_threads(void) {
    bool started = true;
    unsigned n = 0;
    atomic_store(&run.stop, false);
    atomic_store(&run.failed, false);
    for (uintptr_t t = 0; t < STEP_THREADS; t++)
        started &= pthread_create(&run.threads[n++], NULL, write_continuously, (void *)t) == 0;
    for (uintptr_t t = 0; t < READERS; t++)
        started &= pthread_create(&run.threads[n++], NULL, read_continuously, (void *)t) == 0;
    started &= pthread_create(&run.threads[n++], NULL, maintain_continuously, NULL) == 0;
    if (!started) {
        perror("threads");
        watchdog_exit(EXIT_HARNESS);
    }
}

static tansu_status open_now(tansu_error *error) {
    tansu_options options;
    set_options(&options, run.path, run.durability);
    watchdog_enter(SLOT_MAIN, "open");
    tansu_status status = tansu_open(&options, &run.db, error);
    watchdog_leave(SLOT_MAIN);
    return status;
}

/* close_now -- stops the threads and closes the database. Errors are allowed after device faults
 * only. */
static tansu_status close_now(void) {
    tansu_error error = {0};
    atomic_store(&run.stop, true);
    for (unsigned i = 0; i < STEP_THREADS + READERS + 1; i++)
        pthread_join(run.threads[i], NULL);
    watchdog_enter(SLOT_MAIN, "shutdown");
    tansu_status status = tansu_shutdown(run.db, &error);
    watchdog_leave(SLOT_MAIN);
    run.db = NULL;
    if (status != TANSU_OK && (!atomic_load(&run.device_fails) || !is_refusal(status)))
        report_status("shutdown", status, &error);
    return status;
}

static void answer(const char *what, tansu_status status, const tansu_error *error) {
    printf("%s %s %s\n", what, tansu_status_name(status), status == TANSU_OK ? "" : error->message);
    fflush(stdout);
}

/* open_and_work -- prints the status of opening. */
static void open_and_work(void) {
    tansu_error error = {0};
    tansu_status status = open_now(&error);
    if (status == TANSU_OK) {
        watchdog_enter(SLOT_MAIN, "create index");
        status = step_prepare(run.db, &error);
        if (status != TANSU_OK) {
            tansu_close(run.db);
            run.db = NULL;
        }
        watchdog_leave(SLOT_MAIN);
    }
    if (status == TANSU_OK)
        start_threads();
    answer("opened", status, &error);
}

/* first_backup -- the number after all backups of earlier processes. */
static uint64_t first_backup(const char *folder) {
    uint64_t number, next = 0;
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d != NULL && (e = readdir(d)) != NULL)
        if (sscanf(e->d_name, "b%" SCNu64, &number) == 1 && number >= next)
            next = number + 1;
    if (d != NULL)
        closedir(d);
    return next;
}

int workload_run(const char *path, const char *ack_log, uint64_t seed, tansu_durability durability,
                 const char *backups) {
    char line[64];
    run.path = path;
    run.backups = backups;
    run.seed = seed;
    run.durability = durability;
    run.random = (seed ^ ack_now()) | 1;
    run.backup_number = first_backup(backups);
    run.backup_end = run.backup_number + MOST_BACKUPS;
    if (!ack_log_open(ack_log)) {
        perror("acknowledgement log");
        return EXIT_HARNESS;
    }
    while (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "quit\n") != 0) {
        if (strcmp(line, "read-errors\n") == 0) {
            atomic_store(&run.read_errors, true);
        } else if (strcmp(line, "faults\n") == 0) {
            atomic_store(&run.device_fails, true);
        } else if (strcmp(line, "healthy\n") == 0) {
            atomic_store(&run.device_fails, false);
            atomic_store(&run.read_errors, false);
        } else if (strcmp(line, "drop-caches\n") == 0) {
            page_out(path);
            drop_cached_files(path);
        } else if (strcmp(line, "close\n") == 0 && run.db != NULL) {
            answer("closed", close_now(), &(tansu_error){0});
        } else if (strcmp(line, "open\n") == 0 && run.db == NULL) {
            open_and_work();
        } else {
            fprintf(stderr, "not a command now: %s", line);
            return EXIT_HARNESS;
        }
    }
    printf("quit %" PRIu64 " steps, %" PRIu64 " reads, %" PRIu64 " maintenance calls, %" PRIu64
           " calls refused\n",
           (uint64_t)atomic_load(&run.steps), (uint64_t)atomic_load(&run.reads),
           (uint64_t)atomic_load(&run.maintenance_count), (uint64_t)atomic_load(&run.refused));
    return faults_so_far() == 0 ? EXIT_FINE : EXIT_FAULT;
}
