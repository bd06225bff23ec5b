/*
 * test_crash_concurrent.c -- a process with several writing threads, checkpoints, index builds,
 * backups, and compactions that are cancelled at random, is killed at random times, again and
 * again. After each crash every commit that a thread knew of is there, at most one more of each
 * thread, nothing half, and the indexes agree with the documents. Every backup that has its name,
 * acknowledged or not, restores, opens, verifies, and holds what was committed when it was made.
 *
 * Each thread has a collection of its own, whose content follows from the number of its steps
 * alone, and writes that number into a collection of all threads in the same commit: so what is
 * found says which content is due. Acknowledged steps and backups come through a pipe.
 *
 * TANSU_SEED repeats the choices of a run, TANSU_CRASHES sets how many lives there are (25).
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CRASHES_USUALLY 25
#define LIVES_OF_A_STORE 12
#define THREADS 4
#define IDS 80
#define BACKUPS_MOST 12 /* of one life */

/* What a thread's collection holds after this many steps. */
typedef struct content {
    uint64_t step;
    bool there[IDS];
    int32_t n[IDS];
    int32_t pad[IDS];
} content;

static struct {
    unsigned kills, opening, more, checkpoints, compacted, cancelled, backups, unacknowledged;
    uint64_t steps;
} tally;

/* What a child is to do. */
typedef struct life {
    tansu_options options;
    uint64_t seed; /* of the store: the steps follow from it */
    content contents[THREADS];
    const char *backups; /* folder for them */
    int report;
    tansu_db *db;
    atomic_uint_fast64_t steps[THREADS]; /* acknowledged */
} life;

/* What was acknowledged, as it goes through the pipe (whole, being smaller than PIPE_BUF). */
typedef struct message {
    enum { OPENED, STEPPED, COMPACTED, CANCELLED, BACKED_UP } what;
    unsigned number; /* of the thread, or of the backup */
    uint64_t steps
        [THREADS]; /* acknowledged before the backup began; of a step: the first is its number */
    uint64_t later[THREADS]; /* and when it had ended */
} message;

/* What the parent knows of the backups of one life. */
typedef struct backup_list {
    bool acknowledged[BACKUPS_MOST];
    message bounds[BACKUPS_MOST];
} backup_list;

/* backup_name -- where a backup goes; every other one is a folder. */
static const char *backup_name(const life *l, unsigned number) {
    char name[16];
    snprintf(name, sizeof name, "%u", number);
    return path_in(l->backups, name);
}

/* ---- Steps ---- */

/* must -- a call that may not fail; the child ends with a code that says where. */
static void must(tansu_status status, int code) {
    if (status == TANSU_OK)
        return;
    fprintf(stderr, "    code %d: %s: %s\n", code, tansu_status_name(status), call_error.message);
    _exit(code);
}

/* save -- one document of a thread's collection. */
static void save(tansu_db *db, tansu_txn *txn, const char *name, int32_t id, int32_t n,
                 int32_t pad) {
    bson_t doc = BSON_INITIALIZER;
    tansu_error error;
    static const uint8_t filling[40000];
    BSON_APPEND_INT32(&doc, "_id", id);
    BSON_APPEND_INT32(&doc, "n", n);
    BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, (uint32_t)pad);
    tansu_document d = document_of(&doc);
    must(tansu_save(db, txn, name, &d, 1, TANSU_SAVE, NULL, &error), 10);
    bson_destroy(&doc);
}

/* increment -- adds one to `n` of the documents from `least` on, by update operators. */
static void increment(tansu_db *db, tansu_txn *txn, const char *name, int32_t least) {
    bson_t *query = BCON_NEW("n", "{", "$gte", BCON_INT32(least), "}");
    bson_t *update = BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}");
    tansu_error error;
    must(tansu_update(db, txn, name, document_of(query), document_of(update), TANSU_NO_DOCUMENT,
                      NULL, &error),
         11);
    bson_destroy(query);
    bson_destroy(update);
}

/* remove_below -- the documents with a smaller `n`. */
static void remove_below(tansu_db *db, tansu_txn *txn, const char *name, int32_t most) {
    bson_t *query = BCON_NEW("n", "{", "$lt", BCON_INT32(most), "}");
    tansu_error error;
    must(tansu_remove(db, txn, name, document_of(query), TANSU_NO_DOCUMENT, NULL, &error), 12);
    bson_destroy(query);
}

/* one_change -- one of the changes that a step is made of, on the content and (unless it is
 * NULL) on the database. */
static void one_change(content *c, random_source *source, tansu_db *db, tansu_txn *txn,
                       const char *name) {
    int32_t id = (int32_t)random_below(source, IDS);
    int32_t n = (int32_t)random_below(source, 100);
    int32_t pad = (int32_t)random_below(source, random_chance(source, 10) ? 40000 : 200);
    unsigned kind = (unsigned)random_below(source, 20);
    if (kind < 17) {
        c->there[id] = true;
        c->n[id] = n;
        c->pad[id] = pad;
        if (db != NULL)
            save(db, txn, name, id, n, pad);
    } else if (kind < 19) {
        for (int i = 0; i < IDS; i++)
            c->n[i] += c->n[i] >= n;
        if (db != NULL)
            increment(db, txn, name, n);
    } else {
        for (int i = 0; i < IDS; i++)
            c->there[i] = c->there[i] && c->n[i] >= n / 3;
        if (db != NULL)
            remove_below(db, txn, name, n / 3);
    }
}

/* step -- a thread's next commit. */
static void step(const life *l, content *c, unsigned thread, tansu_db *db) {
    random_source source = random_from(l->seed + thread * 1000003u + c->step * 7919u);
    char name[16];
    tansu_error error;
    tansu_txn *txn = NULL;
    snprintf(name, sizeof name, "t%u", thread);
    if (db != NULL)
        must(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error), 13);
    unsigned changes = 1 + (unsigned)random_below(&source, 6);
    for (unsigned i = 0; i < changes; i++)
        one_change(c, &source, db, txn, name);
    c->step++;
    if (db == NULL)
        return;
    bson_t *mark =
        BCON_NEW("_id", BCON_INT32((int32_t)thread), "step", BCON_INT64((int64_t)c->step));
    tansu_document d = document_of(mark);
    must(tansu_save(db, txn, "steps", &d, 1, TANSU_SAVE, NULL, &error), 14);
    bson_destroy(mark);
    must(tansu_txn_commit(txn, NULL, &error), 15);
}

/* ---- The child ---- */

/* tell -- a message to the parent. */
static void tell(const life *l, const message *m) {
    if (write(l->report, m, sizeof *m) != (ssize_t)sizeof *m)
        _exit(16);
}

/* write_on -- a writing thread. */
typedef struct writer {
    life *l;
    unsigned thread;
} writer;

static void *write_on(void *context) {
    writer *w = context;
    content *c = &w->l->contents[w->thread];
    for (;;) {
        step(w->l, c, w->thread, w->l->db);
        message m = {.what = STEPPED, .number = w->thread, .steps = {c->step}};
        tell(w->l, &m);
        w->l->steps[w->thread] = c->step;
    }
    return NULL;
}

/* cancel_at -- a progress function that ends the task at the call that the context counts down
 * to. */
static int cancel_at(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    unsigned *left = context;
    return *left == 0 || --*left != 0;
}

/* compact -- which may be cancelled, and gives way to a backup. */
static void compact(const life *l, random_source *source) {
    unsigned left = random_chance(source, 60) ? 1 + (unsigned)random_below(source, 3) : 0;
    tansu_status status = tansu_compact(l->db, cancel_at, &left, NULL, &call_error);
    message m = {.what = status == TANSU_OK ? COMPACTED : CANCELLED};
    if (status == TANSU_E_BUSY)
        return;
    must(status == TANSU_E_CANCELLED ? TANSU_OK : status, 21);
    tell(l, &m);
}

/* back_up_on -- the thread that takes backups. */
static void *back_up_on(void *context) {
    writer *w = context;
    life *l = w->l;
    random_source source = random_from(l->seed + w->thread);
    for (unsigned i = 0; i < BACKUPS_MOST;) {
        message m = {.what = BACKED_UP, .number = i};
        nanosleep(&(struct timespec){.tv_nsec = (long)random_below(&source, 4000000)}, NULL);
        for (unsigned k = 0; k < THREADS; k++)
            m.steps[k] = l->steps[k];
        tansu_error error;
        tansu_status status =
            tansu_backup(l->db, backup_name(l, i), backup_forms[i % 2], NULL, NULL, NULL, &error);
        if (status == TANSU_E_BUSY) /* a compaction that was asked for */
            continue;
        if (status != TANSU_OK)
            fprintf(stderr, "    backup: %s\n", error.message);
        must(status, 24);
        for (unsigned k = 0; k < THREADS; k++)
            m.later[k] = l->steps[k];
        tell(l, &m);
        i++;
    }
    return NULL;
}

/* disturb -- checkpoints, compactions, indexes that come and go, for as long as the process
 * lives. */
static void disturb(life *l, random_source *source) {
    static const char *const keys[] = {"{'n': 1}", "{'n': -1, '_id': 1}"};
    char name[16];
    for (;;) {
        snprintf(name, sizeof name, "t%u", (unsigned)random_below(source, THREADS));
        unsigned which = (unsigned)random_below(source, 2);
        switch (random_below(source, 6)) {
        case 0: must(tansu_checkpoint(l->db, NULL), 20); break;
        case 1:
        case 2: compact(l, source); break;
        case 3:
            must(call_index(l->db, NULL, name, which ? "b" : "a", keys[which], NULL), 22);
            break;
        case 4: {
            tansu_status status =
                tansu_index_drop(l->db, NULL, name, which ? "b" : "a", &call_error);
            must(status == TANSU_E_NOT_FOUND ? TANSU_OK : status, 23);
            break;
        }
        default:
            nanosleep(&(struct timespec){.tv_nsec = (long)random_below(source, 3000000)}, NULL);
        }
    }
}

/* live -- until it is killed. */
static void live(life *l, uint64_t seed) {
    random_source source = random_from(seed);
    writer writers[THREADS + 1];
    pthread_t threads[THREADS + 1];
    must(tansu_open(&l->options, &l->db, &call_error), 3);
    message opened = {.what = OPENED};
    tell(l, &opened);
    for (unsigned i = 0; i < THREADS; i++)
        l->steps[i] = l->contents[i].step;
    for (unsigned i = 0; i <= THREADS; i++) {
        writers[i] = (writer){l, i};
        if (pthread_create(&threads[i], NULL, i < THREADS ? write_on : back_up_on, &writers[i]) !=
            0)
            _exit(5);
    }
    disturb(l, &source);
}

/* ---- The parent ---- */

/* now_us -- of a clock that only goes on. */
static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* note_message -- takes what the child reported. */
static void note_message(const message *m, uint64_t *acknowledged, backup_list *backups) {
    tally.compacted += m->what == COMPACTED;
    tally.cancelled += m->what == CANCELLED;
    if (m->what == STEPPED && m->number < THREADS)
        acknowledged[m->number] = m->steps[0];
    if (m->what == BACKED_UP && m->number < BACKUPS_MOST) {
        backups->acknowledged[m->number] = true;
        backups->bounds[m->number] = *m;
    }
}

/* run_and_kill -- one life; what was acknowledged, by thread, and which backups. False when it
 * was not even opened. */
static bool run_and_kill(life *l, random_source *source, uint64_t *acknowledged,
                         backup_list *backups) {
    int ends[2];
    unsigned delay_us = random_chance(source, 15) ? (unsigned)random_below(source, 5000)
                                                  : (unsigned)random_below(source, 200000);
    uint64_t seed = random_next(source);
    REQUIRE(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        l->report = ends[1];
        live(l, seed);
    }
    close(ends[1]);
    /* The pipe is emptied meanwhile, for more steps may come than it holds. */
    uint64_t end = now_us() + delay_us;
    bool opened = false, killed = false;
    message m;
    for (;;) {
        uint64_t now = now_us();
        struct pollfd waiting = {.fd = ends[0], .events = POLLIN};
        if (!killed && now >= end) {
            kill(child, SIGKILL);
            killed = true;
        }
        if (poll(&waiting, 1, killed ? -1 : (int)((end - now) / 1000) + 1) <= 0)
            continue;
        if (read(ends[0], &m, sizeof m) != (ssize_t)sizeof m)
            break;
        opened = true;
        note_message(&m, acknowledged, backups);
    }
    close(ends[0]);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
        check_note("    the child ended by itself with code %d", WEXITSTATUS(status));
    return opened;
}

/* stored_step -- the number of steps that the database says a thread has done. */
static uint64_t stored_step(tansu_db *db, unsigned thread) {
    bson_t *id = BCON_NEW("_id", BCON_INT32((int32_t)thread));
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_get(db, NULL, "steps", document_of(id), &result, NULL);
    uint64_t found = 0;
    bson_t doc;
    bson_iter_t iter;
    CHECK(status == TANSU_OK || status == TANSU_E_NOT_FOUND);
    if (status == TANSU_OK && bson_init_static(&doc, result.data, result.size) &&
        bson_iter_init_find(&iter, &doc, "step"))
        found = (uint64_t)bson_iter_int64(&iter);
    tansu_buffer_free(&result);
    bson_destroy(id);
    return found;
}

/* check_content -- a thread's collection, document by document. */
static void check_content(tansu_db *db, unsigned thread, const content *c) {
    char name[16];
    snprintf(name, sizeof name, "t%u", thread);
    tansu_cursor *cursor = call_cursor(db, NULL, name, "{}", "{}");
    tansu_document d;
    unsigned found = 0, due = 0;
    while (tansu_cursor_next(cursor, &d, &call_error) == TANSU_OK) {
        bson_t doc;
        bson_iter_t id, n, pad;
        uint32_t size = 0;
        const uint8_t *bytes;
        bson_subtype_t subtype;
        if (!CHECK(bson_init_static(&doc, d.data, d.size) &&
                   bson_iter_init_find(&id, &doc, "_id") && bson_iter_init_find(&n, &doc, "n") &&
                   bson_iter_init_find(&pad, &doc, "pad")))
            break;
        int32_t i = bson_iter_int32(&id);
        bson_iter_binary(&pad, &subtype, &size, &bytes);
        if (!CHECK(i >= 0 && i < IDS && c->there[i]))
            break;
        CHECK_INT(c->n[i], bson_iter_int32(&n));
        CHECK_INT(c->pad[i], size);
        found++;
    }
    tansu_cursor_close(cursor);
    for (int i = 0; i < IDS; i++)
        due += c->there[i];
    CHECK_INT(due, found);
}

/* check_copy -- opens a copy of the database, in which each thread has done at least and at most
 * this many steps, all of them or none in each of its collections' documents. `contents` are
 * those that the life began with. */
static void check_copy(const life *l, const char *path, const uint64_t *least, const uint64_t *most,
                       bool read_only) {
    tansu_options options = call_options(path);
    options.read_only = read_only;
    tansu_db *db = NULL;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return;
    for (unsigned i = 0; i < THREADS; i++) {
        content c = l->contents[i];
        uint64_t stored = stored_step(db, i);
        if (!CHECK(stored >= least[i] && stored <= most[i]))
            check_note("    thread %u: from %llu to %llu steps may be in the backup and %llu are",
                       i, (unsigned long long)least[i], (unsigned long long)most[i],
                       (unsigned long long)stored);
        while (c.step < stored && c.step < most[i])
            step(l, &c, i, NULL);
        check_content(db, i, &c);
    }
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
}

/* look_at_backup -- restores one, opens a folder where it lies, and removes both. */
static void look_at_backup(const life *l, const char *from, bool folder, const uint64_t *least,
                           const uint64_t *most, random_source *source) {
    const char *to = path_in(l->backups, "restored");
    if (CHECK_OK(restore(from, to), &call_error))
        check_copy(l, to, least, most, false);
    if (folder)
        check_copy(l, from, least, most, random_chance(source, 50));
    if (check_failures() == 0) {
        remove_at(to);
        remove_at(from);
    }
}

/* look_at_backups -- all of a life: what has its name is whole, whether that was acknowledged or
 * not. */
static void look_at_backups(const life *l, const backup_list *backups, const uint64_t *acknowledged,
                            random_source *source) {
    uint64_t first[THREADS], last[THREADS];
    for (unsigned k = 0; k < THREADS; k++) {
        first[k] = l->contents[k].step;
        last[k] = acknowledged[k] + 1;
    }
    for (unsigned i = 0; i < BACKUPS_MOST && check_failures() == 0; i++) {
        const char *from = backup_name(l, i);
        bool known = backups->acknowledged[i];
        remove_at(part_of(from));
        if (!file_exists(from)) {
            CHECK(!known);
            continue;
        }
        uint64_t most[THREADS];
        for (unsigned k = 0; k < THREADS; k++)
            most[k] = known ? backups->bounds[i].later[k] + 1 : last[k];
        look_at_backup(l, from, backup_forms[i % 2] == TANSU_BACKUP_FOLDER,
                       known ? backups->bounds[i].steps : first, most, source);
        tally.backups++;
        tally.unacknowledged += !known;
    }
}

/* back_up_and_look -- a backup of what a life has left, whose contents are known. */
static void back_up_and_look(life *l, tansu_db *db, random_source *source) {
    unsigned which = (unsigned)random_below(source, 2);
    const char *to = backup_name(l, which);
    uint64_t steps[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        steps[i] = l->contents[i].step;
    if (!CHECK_OK(backup(db, to, backup_forms[which]), &call_error))
        return;
    look_at_backup(l, to, backup_forms[which] == TANSU_BACKUP_FOLDER, steps, steps, source);
    tally.backups++;
}

/* look -- opens what a life has left, and brings the contents up to it. */
static void look(life *l, const uint64_t *acknowledged, random_source *source) {
    tansu_options options = l->options;
    options.read_only = random_chance(source, 15);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    uint64_t steps = 0;
    for (unsigned i = 0; i < THREADS; i++)
        steps += acknowledged[i];
    if (options.read_only && status == TANSU_E_NOT_FOUND && steps == 0)
        return; /* it was killed before it had made anything */
    REQUIRE(CHECK_OK(status, &call_error));
    tally.checkpoints += call_statistic(db, "checkpointSequence") > 0;
    for (unsigned i = 0; i < THREADS; i++) {
        content *c = &l->contents[i];
        uint64_t stored = stored_step(db, i), before = c->step;
        if (!CHECK(stored >= acknowledged[i] && stored <= acknowledged[i] + 1))
            check_note("    thread %u: %llu steps were acknowledged and %llu are there", i,
                       (unsigned long long)acknowledged[i], (unsigned long long)stored);
        tally.more += stored > acknowledged[i];
        while (c->step < stored && c->step < acknowledged[i] + 2)
            step(l, c, i, NULL);
        tally.steps += c->step - before;
        check_content(db, i, c);
    }
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    if (random_chance(source, 25))
        back_up_and_look(l, db, source);
    call_close(db);
}

static void commits_of_several_threads_survive_crashes(void) {
    unsigned kills = (unsigned)random_rounds("TANSU_CRASHES", CRASHES_USUALLY);
    random_source source = random_start(1);
    char *backups_folder = folder_new();
    while (tally.kills < kills && check_failures() == 0) {
        char *folder = folder_new();
        life l = {.seed = random_next(&source), .backups = backups_folder};
        for (unsigned i = 0; i < LIVES_OF_A_STORE && tally.kills < kills; i++) {
            uint64_t acknowledged[THREADS];
            backup_list backups = {.acknowledged = {false}};
            l.options = call_options(folder);
            l.options.durability =
                random_chance(&source, 30) ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
            l.options.checkpoint_bytes =
                random_chance(&source, 70) ? 1 + random_below(&source, 300000) : (uint64_t)64 << 20;
            l.options.index_cache_bytes = random_chance(&source, 50) ? 1 : (uint64_t)64 << 20;
            l.options.compaction_percent = random_chance(&source, 50) ? 10 : 0;
            l.options.compaction_share = 50;
            for (unsigned k = 0; k < THREADS; k++)
                acknowledged[k] = l.contents[k].step;
            tally.opening += !run_and_kill(&l, &source, acknowledged, &backups);
            tally.kills++;
            look_at_backups(&l, &backups, acknowledged, &source);
            if (check_failures() == 0)
                look(&l, acknowledged, &source);
            if (check_failures() != 0) {
                check_note("    kill %u of the store in %s, whose backups are in %s; both are kept",
                           i, folder, backups_folder);
                free(backups_folder);
                free(folder);
                return;
            }
            if (random_chance(&source, 5))
                folder_remove(folder_join(folder, "index"));
        }
        folder_end(folder);
    }
    folder_end(backups_folder);
    check_note("%u kills (%u while opening), %llu commits, %u times one more than acknowledged, %u "
               "times from a checkpoint",
               tally.kills, tally.opening, (unsigned long long)tally.steps, tally.more,
               tally.checkpoints);
    check_note("%u compactions and %u that were cancelled, %u backups, of which %u had not been "
               "acknowledged",
               tally.compacted, tally.cancelled, tally.backups, tally.unacknowledged);
    if (kills >= CRASHES_USUALLY / 4) { /* in the time of fewer, little may happen */
        CHECK(tally.steps > tally.kills);
        CHECK(tally.checkpoints > tally.kills / 3);
        CHECK(tally.backups > 0);
        CHECK(tally.compacted + tally.cancelled > 0);
    }
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(commits_of_several_threads_survive_crashes);
    return check_finish();
}
