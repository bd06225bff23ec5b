/*
 * test_readers_crash.c -- one process writes, with checkpoints, compactions, index builds, dropped
 * collections and clean ends, and four processes read the database meanwhile. All of them are
 * killed at random, again and again. What a reader sees is the content after exactly one commit:
 * none that was acknowledged before it opened, or refreshed, is missing, none is half there, the
 * indexes agree with the documents, and what a transaction reads stays the same whatever is written
 * and refreshed meanwhile. In the end nothing is lost, and no file is left over.
 *
 * The content follows from the number of commits alone, which the database records.
 *
 * TANSU_SEED repeats the choices of a run, TANSU_CRASHES sets how many processes are killed (60).
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS_USUALLY 60
#define READERS 4
#define IDS 200
#define SIDE_PERIOD 40 /* steps after which the collection "side" comes or goes */

/* What the database holds after that many steps. */
typedef struct content {
    uint64_t step;
    bool there[IDS];
    int32_t n[IDS];
    int32_t pad[IDS];
    int64_t side; /* the step that made the collection "side"; 0: there is none */
} content;

/* What the processes share. */
static struct shared {
    atomic_uint_fast64_t begun, acknowledged; /* steps */
    atomic_uint_fast64_t openings, refreshes, replacements, held, checkpoints, compactions, ends;
    atomic_uint_fast64_t verified, tails;
} * shared;

static const char *store_path;
static uint64_t store_seed;

/* fail -- ends the child; the parent sees the code. */
static void fail(int code, const char *what) {
    fprintf(stderr, "    process %ld: code %d: %s\n", (long)getpid(), code, what);
    _exit(code);
}

/* must -- a call of a child that may not fail. */
static void must(tansu_status status, int code) {
    if (status != TANSU_OK) {
        fprintf(stderr, "    %s: %s\n", tansu_status_name(status), call_error.message);
        fail(code, "a call failed");
    }
}

/* pause_up_to -- sleeps. */
static void pause_up_to(random_source *source, uint64_t nanoseconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)random_below(source, nanoseconds)}, NULL);
}

/* ---- Slow file calls ---- */

/* In half of the lives and openings each file call may take long, and a write is done in two steps:
 * so that the processes meet in the middle of what they do. */
static _Thread_local random_source slowness;

static void linger(void) {
    if (random_chance(&slowness, 20))
        pause_up_to(&slowness, random_chance(&slowness, 5) ? 10000000 : 1000000);
}

static int slow_open(const fs *calls, const char *path, int flags, int mode) {
    linger();
    return fs_system.open(calls, path, flags, mode);
}

static ssize_t slow_read(int fd, void *bytes, size_t size, off_t offset) {
    linger();
    return fs_system.read(fd, bytes, size, offset);
}

static ssize_t slow_write(int fd, const void *bytes, size_t size, off_t offset) {
    linger();
    return fs_system.write(fd, bytes, size > 64 ? size / 2 : size, offset);
}

static int slow_unlink(const fs *calls, const char *path) {
    linger();
    return fs_system.unlink(calls, path);
}

static int slow_rename(const fs *calls, const char *from, const char *to) {
    linger();
    return fs_system.rename(calls, from, to);
}

static void *slow_map(int fd, uint64_t size, bool writable) {
    linger();
    return fs_system.map(fd, size, writable);
}

/* open_slowly -- tansu_open(), but for these calls. */
static tansu_status open_slowly(const tansu_options *options, random_source *source,
                                tansu_db **db) {
    static fs calls;
    calls = fs_system;
    calls.open = slow_open;
    calls.read = slow_read;
    calls.write = slow_write;
    calls.unlink = slow_unlink;
    calls.rename = slow_rename;
    calls.map = slow_map;
    slowness = random_from(random_next(source));
    return random_chance(source, 50)
               ? handle_open(options, &calls, &engine_query_hooks, db, &call_error)
               : tansu_open(options, db, &call_error);
}

/* ---- Steps ---- */

/* put -- one document. */
static void put(tansu_db *db, tansu_txn *txn, const char *collection, bson_t *doc) {
    tansu_document d = document_of(doc);
    must(tansu_save(db, txn, collection, &d, 1, TANSU_SAVE, NULL, &call_error), 10);
    bson_destroy(doc);
}

/* one_change -- of those that a step consists of; db NULL: of the content alone. */
static void one_change(content *c, random_source *source, tansu_db *db, tansu_txn *txn) {
    static const uint8_t filling[20000];
    int32_t id = (int32_t)random_below(source, IDS), n = (int32_t)random_below(source, 50);
    int32_t pad = (int32_t)random_below(source, random_chance(source, 30) ? sizeof filling : 300);
    c->there[id] = random_chance(source, 85);
    c->n[id] = n;
    c->pad[id] = pad;
    if (db == NULL)
        return;
    if (c->there[id]) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "n", BCON_INT32(n), "pad",
                               BCON_BIN(BSON_SUBTYPE_BINARY, filling, (uint32_t)pad));
        put(db, txn, "c", doc);
    } else {
        bson_t *key = BCON_NEW("_id", BCON_INT32(id));
        must(tansu_remove_id(db, txn, "c", document_of(key), NULL, &call_error), 11);
        bson_destroy(key);
    }
}

/* change_side -- the collection that comes and goes. */
static void change_side(content *c, tansu_db *db, tansu_txn *txn) {
    if (c->step % SIDE_PERIOD != 0)
        return;
    bool comes = c->side == 0;
    c->side = comes ? (int64_t)c->step : 0;
    if (db != NULL && comes)
        put(db, txn, "side", BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT64(c->side)));
    else if (db != NULL)
        must(tansu_collection_drop(db, txn, "side", &call_error), 12);
}

/* step -- the next commit. */
static void step(content *c, tansu_db *db) {
    random_source source = random_from(store_seed + c->step * 7919u);
    tansu_txn *txn = NULL;
    if (db != NULL)
        must(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &call_error), 13);
    unsigned changes = 1 + (unsigned)random_below(&source, 6);
    c->step++;
    for (unsigned i = 0; i < changes; i++)
        one_change(c, &source, db, txn);
    change_side(c, db, txn);
    if (db == NULL)
        return;
    put(db, txn, "state", BCON_NEW("_id", BCON_INT32(0), "step", BCON_INT64((int64_t)c->step)));
    must(tansu_txn_commit(txn, NULL, &call_error), 14);
}

/* stored_step -- the number that the database records; 0 without one. */
static uint64_t stored_step(tansu_db *db, tansu_txn *txn) {
    bson_t *id = BCON_NEW("_id", BCON_INT32(0));
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_get(db, txn, "state", document_of(id), &result, &call_error);
    uint64_t found = 0;
    bson_t doc;
    bson_iter_t iter;
    if (status != TANSU_E_NOT_FOUND)
        must(status, 15);
    if (status == TANSU_OK && bson_init_static(&doc, result.data, result.size) &&
        bson_iter_init_find(&iter, &doc, "step"))
        found = (uint64_t)bson_iter_int64(&iter);
    tansu_buffer_free(&result);
    bson_destroy(id);
    return found;
}

/* advance -- brings a content up to a step, which may be an earlier one. */
static void advance(content *c, uint64_t to) {
    if (to < c->step)
        *c = (content){.step = 0};
    while (c->step < to)
        step(c, NULL);
}

/* ---- What is there ---- */

/* compare_document -- one document of the collection. */
static int32_t compare_document(const content *c, const tansu_document *d) {
    bson_t doc;
    bson_iter_t id, n, pad;
    uint32_t size = 0;
    const uint8_t *bytes;
    bson_subtype_t subtype;
    if (!bson_init_static(&doc, d->data, d->size) || !bson_iter_init_find(&id, &doc, "_id") ||
        !bson_iter_init_find(&n, &doc, "n") || !bson_iter_init_find(&pad, &doc, "pad"))
        fail(30, "a document is not one of those that were written");
    int32_t i = bson_iter_int32(&id);
    bson_iter_binary(&pad, &subtype, &size, &bytes);
    if (i < 0 || i >= IDS || !c->there[i])
        fail(31, "there is a document that should not be there");
    if (c->n[i] != bson_iter_int32(&n) || (uint32_t)c->pad[i] != size)
        fail(32, "a document is one of another commit");
    return i;
}

/* compare_found -- the documents with `n` up to a bound, found by an index if there is one. */
static void compare_found(const content *c, tansu_db *db, tansu_txn *txn, int32_t most) {
    bson_t *query = BCON_NEW("n", "{", "$lte", BCON_INT32(most), "}");
    bool seen[IDS] = {false};
    tansu_cursor *cursor = NULL;
    tansu_document d;
    tansu_status status;
    must(tansu_find(db, txn, "c", document_of(query), TANSU_NO_DOCUMENT, &cursor, &call_error), 16);
    while ((status = tansu_cursor_next(cursor, &d, &call_error)) == TANSU_OK) {
        int32_t i = compare_document(c, &d);
        if (seen[i])
            fail(33, "a document was found twice");
        seen[i] = true;
    }
    must(status == TANSU_DONE ? TANSU_OK : status, 17);
    tansu_cursor_close(cursor);
    bson_destroy(query);
    for (int i = 0; i < IDS; i++)
        if (seen[i] != (c->there[i] && c->n[i] <= most))
            fail(34,
                 seen[i] ? "a document was found that does not match" : "a document was not found");
}

/* compare_ids -- some documents by `_id`. */
static void compare_ids(const content *c, tansu_db *db, tansu_txn *txn, random_source *source) {
    for (int k = 0; k < 20; k++) {
        int32_t i = (int32_t)random_below(source, IDS);
        bson_t *id = BCON_NEW("_id", BCON_INT32(i));
        tansu_buffer result = TANSU_BUFFER_INIT;
        tansu_status status = tansu_get(db, txn, "c", document_of(id), &result, &call_error);
        must(status == TANSU_E_NOT_FOUND ? TANSU_OK : status, 18);
        if ((status == TANSU_OK) != c->there[i])
            fail(35, "a document is in the _id index and not in its commit, or the reverse");
        if (status == TANSU_OK)
            compare_document(c, &(tansu_document){result.data, result.size});
        tansu_buffer_free(&result);
        bson_destroy(id);
    }
}

/* compare_in -- all of it with the content after a step, in one transaction. */
static void compare_in(const content *c, tansu_db *db, tansu_txn *txn, random_source *source) {
    if (stored_step(db, txn) != c->step)
        fail(36, "the number of steps has changed under an open reader");
    compare_found(c, db, txn, 50);
    compare_found(c, db, txn, (int32_t)random_below(source, 50));
    compare_ids(c, db, txn, source);
    bson_t *query = BCON_NEW("n", BCON_INT64(c->side));
    int64_t count = 0, all = 0;
    must(tansu_count(db, txn, "side", document_of(query), TANSU_NO_DOCUMENT, &count, &call_error),
         19);
    must(tansu_count(db, txn, "side", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &all, &call_error), 20);
    bson_destroy(query);
    if (count != (c->side != 0) || all != count)
        fail(37, "a dropped collection is there, or one is not");
}

/* begin_reading -- a read transaction. */
static tansu_txn *begin_reading(tansu_db *db) {
    tansu_txn *txn;
    must(tansu_txn_begin(db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, &call_error), 26);
    return txn;
}

/* compare -- the same in a transaction of its own. */
static void compare(const content *c, tansu_db *db, random_source *source) {
    tansu_txn *txn = begin_reading(db);
    compare_in(c, db, txn, source);
    tansu_txn_abort(txn);
}

/* ---- The reading processes ---- */

/* What a reader holds while it goes on to newer commits. */
typedef struct old_reading {
    content c;
    tansu_txn *txn; /* NULL: nothing */
} old_reading;

/* read_newest -- begins to read, compares, and checks that it is what has to be seen now. `least`:
 * steps that were acknowledged before. */
static tansu_txn *read_newest(content *c, tansu_db *db, random_source *source, uint64_t least,
                              uint64_t *last) {
    tansu_txn *txn = begin_reading(db);
    uint64_t most = shared->begun, stored = stored_step(db, txn);
    if (stored < least || stored < *last || stored > most) {
        fprintf(stderr, "    from %llu (before: %llu) to %llu steps were due, and %llu are there\n",
                (unsigned long long)least, (unsigned long long)*last, (unsigned long long)most,
                (unsigned long long)stored);
        fail(38, "a commit is missing or was not made yet");
    }
    *last = stored;
    advance(c, stored);
    compare_in(c, db, txn, source);
    return txn;
}

/* end_old -- what is held is as it was. */
static void end_old(old_reading *old, tansu_db *db, random_source *source) {
    if (old->txn == NULL)
        return;
    compare_in(&old->c, db, old->txn, source);
    tansu_txn_abort(old->txn);
    old->txn = NULL;
    shared->held++;
}

/* go_on -- newer commits in the same handle, by refreshing or following. */
static void go_on(content *c, tansu_db *db, bool follow, random_source *source, uint64_t *last) {
    unsigned rounds = (unsigned)random_below(source, random_chance(source, 20) ? 400 : 20);
    old_reading old = {.txn = NULL};
    for (unsigned i = 0; i < rounds; i++) {
        alarm(120);
        if (random_chance(source, 50))
            pause_up_to(source, random_chance(source, 5) ? 100000000 : 3000000);
        uint64_t least = shared->acknowledged, sequence = 0;
        int changed = 0;
        if (!follow)
            must(tansu_refresh(db, &changed, &sequence, &call_error), 24);
        tansu_txn *txn = read_newest(c, db, source, least, last);
        shared->refreshes += follow || changed;
        if (random_chance(source, 10)) {
            end_old(&old, db, source);
            old = (old_reading){.c = *c, .txn = txn};
        } else {
            tansu_txn_abort(txn);
        }
        if (random_chance(source, 2))
            must(tansu_verify(db, NULL, NULL, NULL, &call_error), 25);
    }
    end_old(&old, db, source);
}

/* read_once -- opens, compares, goes on to newer commits, and closes. */
static void read_once(content *c, random_source *source, uint64_t *last) {
    tansu_options options = call_options(store_path);
    tansu_db *db = NULL;
    options.allow_writer = 1;
    options.follow = random_chance(source, 30);
    options.index_cache_bytes = random_chance(source, 50) ? 1 : (uint64_t)64 << 20;
    uint64_t least = shared->acknowledged;
    must(open_slowly(&options, source, &db), 21);
    tansu_txn_abort(read_newest(c, db, source, least, last));
    shared->tails += call_statistic(db, "checkpointSequence") != call_statistic(db, "sequence");
    if (!options.follow && random_chance(source, 30)) {
        pause_up_to(source, 40000000);
        compare(c, db, source);
        shared->held++;
    }
    if (random_chance(source, 15)) {
        must(tansu_verify(db, NULL, NULL, NULL, &call_error), 22);
        shared->verified++;
    }
    if (random_chance(source, 60))
        go_on(c, db, options.follow, source, last);
    shared->replacements += (uint64_t)call_statistic(db, "reopenings");
    must(tansu_shutdown(db, &call_error), 23);
    shared->openings++;
}

/* read_on -- until it is killed. */
static void read_on(uint64_t seed) {
    random_source source = random_from(seed);
    content c = {.step = 0};
    uint64_t last = 0;
    for (;;) {
        alarm(120); /* a reader that waits for anything is stopped, and counts as failed */
        read_once(&c, &source, &last);
        if (random_chance(&source, 30))
            pause_up_to(&source, 3000000);
    }
}

/* ---- The writing process ---- */

typedef struct disturbance {
    tansu_db *db;
    random_source source;
    atomic_bool stop;
} disturbance;

/* disturb -- checkpoints, compactions, indexes that come and go. */
static void *disturb(void *context) {
    disturbance *d = context;
    tansu_status status;
    while (!d->stop) {
        pause_up_to(&d->source, 4000000);
        switch (random_below(&d->source, 5)) {
        case 0:
        case 1:
            must(tansu_checkpoint(d->db, &call_error), 40);
            shared->checkpoints++;
            break;
        case 2:
            must(tansu_compact(d->db, NULL, NULL, NULL, &call_error), 41);
            shared->compactions++;
            break;
        case 3: must(call_index(d->db, NULL, "c", "n", "{'n': 1}", NULL), 42); break;
        default:
            status = tansu_index_drop(d->db, NULL, "c", "n", &call_error);
            must(status == TANSU_E_NOT_FOUND ? TANSU_OK : status, 43);
        }
    }
    return NULL;
}

/* options_of -- of a life of the writer. */
static tansu_options options_of(random_source *source) {
    tansu_options options = call_options(store_path);
    options.durability =
        random_chance(source, 25) ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
    options.checkpoint_bytes =
        random_chance(source, 50) ? 1 + random_below(source, 300000) : (uint64_t)64 << 20;
    options.index_cache_bytes = random_chance(source, 50) ? 1 : (uint64_t)64 << 20;
    options.compaction_percent = random_chance(source, 50) ? 10 : 0;
    return options;
}

/* write_on -- until it is killed, or ends by itself. */
static void write_on(uint64_t seed) {
    random_source source = random_from(seed);
    disturbance d = {.source = random_from(seed + 1)};
    tansu_options options = options_of(&source);
    content c = {.step = 0};
    pthread_t thread;
    must(open_slowly(&options, &source, &d.db), 3);
    uint64_t stored = stored_step(d.db, NULL);
    if (stored < shared->acknowledged || stored > shared->begun)
        fail(4, "the writer found another commit than the last");
    advance(&c, stored);
    shared->begun = shared->acknowledged = stored;
    must(call_ensure(d.db, NULL, "c", NULL), 5);
    if (pthread_create(&thread, NULL, disturb, &d) != 0)
        fail(6, "no thread");
    uint64_t steps = random_chance(&source, 30) ? random_below(&source, 3000) : UINT64_MAX;
    for (uint64_t i = 0; i < steps; i++) {
        shared->begun = c.step + 1;
        step(&c, d.db);
        shared->acknowledged = c.step;
        if (random_chance(&source, 5))
            pause_up_to(&source, 2000000);
    }
    d.stop = true;
    pthread_join(thread, NULL);
    must(tansu_shutdown(d.db, &call_error), 7);
    shared->ends++;
    _exit(0);
}

/* ---- The parent ---- */

/* begin -- a process; number 0 writes. */
static pid_t begin(unsigned number, uint64_t seed) {
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0 && number == 0)
        write_on(seed);
    if (child == 0)
        read_on(seed);
    return child;
}

/* ended_well -- whether a process was killed, or (the writer) ended as it should. */
static bool ended_well(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    check_note("    a process ended with code %d, signal %d",
               WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return false;
}

/* revive -- begins processes that have ended by themselves again; false when one failed. */
static bool revive(pid_t *processes, random_source *source) {
    for (unsigned i = 0; i <= READERS; i++) {
        int status = 0;
        if (waitpid(processes[i], &status, WNOHANG) != processes[i])
            continue;
        processes[i] = 0;
        if (!CHECK(ended_well(status)))
            return false;
        processes[i] = begin(i, random_next(source));
    }
    return true;
}

/* kill_one -- false when it had failed before. */
static bool kill_one(pid_t *process) {
    int status = 0;
    kill(*process, SIGKILL);
    REQUIRE(waitpid(*process, &status, 0) == *process);
    *process = 0;
    return CHECK(ended_well(status));
}

/* check_names -- a folder has nothing but what belongs there. */
static void check_names(const char *folder, const char *const *names, const char *suffix) {
    DIR *dir = opendir(folder);
    REQUIRE(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name, *dot = strrchr(name, '.');
        bool known = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                     (suffix != NULL && dot != NULL && strcmp(dot, suffix) == 0);
        for (size_t i = 0; names[i] != NULL; i++)
            known = known || strcmp(name, names[i]) == 0;
        if (!CHECK(known))
            check_note("    \"%s\" was left in %s", name, folder);
    }
    closedir(dir);
}

/* check_end -- nothing is lost, and nothing is left over. */
static void check_end(void) {
    static const char *const root[] = {"KEY",   "LOCK",    "MANIFEST",  "log",
                                       "index", "readers", "set-aside", NULL};
    static const char *const log[] = {"TAIL", "reserve", NULL};
    static const char *const index[] = {"blocks.tch", NULL};
    static const char *const readers[] = {NULL};
    tansu_options options = call_options(store_path);
    random_source source = random_from(1);
    content c = {.step = 0};
    tansu_db *db = call_open_with(&options);
    uint64_t stored = stored_step(db, NULL);
    CHECK(stored >= shared->acknowledged && stored <= shared->begun);
    advance(&c, stored);
    compare(&c, db, &source);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    check_names(store_path, root, NULL);
    check_names(folder_join(store_path, "log"), log, ".seg");
    check_names(folder_join(store_path, "index"), index, NULL);
    check_names(folder_join(store_path, "readers"), readers, NULL);
}

static void concurrent_readers_see_whole_commits(void) {
    unsigned kills = (unsigned)random_rounds("TANSU_CRASHES", KILLS_USUALLY);
    random_source source = random_start(1);
    pid_t processes[READERS + 1];
    char *folder = folder_new();
    store_path = folder;
    store_seed = random_next(&source);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    call_close(call_open(folder));
    bool well = true;
    for (unsigned i = 0; i <= READERS; i++)
        processes[i] = begin(i, random_next(&source));
    for (unsigned i = 0; well && i < kills; i++) {
        pause_up_to(&source, 150000000);
        unsigned which =
            random_chance(&source, 40) ? 0 : (unsigned)random_between(&source, 1, READERS);
        well = revive(processes, &source);
        if (well)
            well = kill_one(&processes[which]);
        if (well)
            processes[which] = begin(which, random_next(&source));
    }
    for (unsigned i = 0; i <= READERS; i++)
        if (processes[i] > 0)
            well = kill_one(&processes[i]) && well;
    if (well)
        check_end();
    check_note(
        "%u kills, %llu commits, %llu openings of readers (%llu with a tail to replay), %llu "
        "held, %llu verified",
        kills, (unsigned long long)shared->acknowledged, (unsigned long long)shared->openings,
        (unsigned long long)shared->tails, (unsigned long long)shared->held,
        (unsigned long long)shared->verified);
    check_note("%llu refreshes that found commits, %llu states that were replaced",
               (unsigned long long)shared->refreshes, (unsigned long long)shared->replacements);
    check_note("%llu checkpoints and %llu compactions that were asked for, %llu clean ends",
               (unsigned long long)shared->checkpoints, (unsigned long long)shared->compactions,
               (unsigned long long)shared->ends);
    if (kills >= KILLS_USUALLY / 4) { /* in the time of fewer, little may happen */
        CHECK(shared->openings > kills / 4);
        CHECK(shared->tails > 0);
        CHECK(shared->refreshes > kills);
        CHECK(shared->checkpoints > 0 && shared->compactions > 0);
    }
    munmap(shared, sizeof *shared);
    if (check_failures() == 0) {
        folder_end(folder);
    } else {
        check_note("    the database is kept in %s", folder);
        free(folder);
    }
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(concurrent_readers_see_whole_commits);
    return check_finish();
}
