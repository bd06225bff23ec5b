/*
 * store/background/background.c -- the background threads: interval syncs and checkpoints,
 * compactions, removals of expired documents.
 */
#include "store/background/background.h"

#include "store/checkpoint/checkpoint.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/memory.h"
#include "util/clock.h"
#include "util/file_size_limit.h"

/* A record counts as so many bytes at least: replaying one takes about as long whatever its size.
 * Without that, opening a killed database after 700,000 commits of 72 bytes took nine times as
 * long. */
#define REPLAY_LEAST 256u

/* sync_interval -- makes what was committed survive power loss. A failure shows at the next
 * write. */
static void sync_interval(database *db) {
    snapshot *v = snapshot_acquire_head(db);
    uint64_t sequence = v->sequence;
    snapshot_release(db, v);
    if (folder_check(db, NULL) == TANSU_OK)
        log_sync(db->log, sequence, NULL);
}

/* work -- waits for requests until it is to stop. */
static void *work(void *context) {
    database *db = context;
    clock_time until = 0;
    limit_leave_out();
    bool waiting = false; /* a commit waits to be synced at `until` */
    pthread_mutex_lock(&db->mutex);
    while (!db->worker.stop) {
        bool due = false;
        if (!waiting && db->worker.sync_wanted) {
            until = clock_in(db->options.interval_ms);
            waiting = true;
        }
        if (!db->worker.checkpoint_wanted && waiting)
            due = clock_wait(&db->worker.wanted, &db->mutex, until);
        else if (!db->worker.checkpoint_wanted)
            pthread_cond_wait(&db->worker.wanted, &db->mutex);
        if (due) { /* commits from here on wait for the next time */
            __atomic_store_n(&db->worker.sync_wanted, false, __ATOMIC_RELAXED);
            waiting = false;
        }
        bool checkpoint = db->worker.checkpoint_wanted && !db->worker.stop;
        db->worker.checkpoint_wanted = false;
        if (checkpoint) /* writers that wait for it see no gap */
            __atomic_store_n(&db->checkpoints.busy, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&db->mutex);
        if (due)
            sync_interval(db);
        /* One that fails is tried again after as many bytes more, and at closing. */
        if (checkpoint && checkpoint_write(db, NULL) == TANSU_OK)
            compactor_request(db);
        bool again = checkpoint && memory_checkpoint_due(db);
        pthread_mutex_lock(&db->mutex);
        db->worker.checkpoint_wanted |= again;
    }
    pthread_mutex_unlock(&db->mutex);
    return NULL;
}

/* request -- sets one of the worker's requests and wakes it, or starts it with the first one: most
 * openings never need a thread. False when no thread could be started. */
static bool request(database *db, bool *wanted) {
    pthread_mutex_lock(&db->mutex);
    if (!db->worker.running && !db->worker.stop)
        db->worker.running = pthread_create(&db->worker.thread, NULL, work, db) == 0;
    bool running = db->worker.running;
    if (running) {
        __atomic_store_n(wanted, true, __ATOMIC_RELAXED);
        pthread_cond_signal(&db->worker.wanted);
    }
    pthread_mutex_unlock(&db->mutex);
    return running;
}

void worker_stop(database *db) {
    pthread_mutex_lock(&db->mutex);
    db->worker.stop = true; /* a compaction that ends now starts it no more, either */
    bool running = db->worker.running;
    pthread_cond_signal(&db->worker.wanted);
    pthread_mutex_unlock(&db->mutex);
    if (running)
        pthread_join(db->worker.thread, NULL);
    pthread_mutex_lock(&db->mutex);
    db->worker.running = false;
    pthread_mutex_unlock(&db->mutex);
}

/* replay_bytes -- what replaying a commit counts as. */
static uint64_t replay_bytes(uint64_t bytes, uint64_t records) {
    return bytes < records * REPLAY_LEAST ? records * REPLAY_LEAST : bytes;
}

void worker_note_replayed(database *db, uint64_t bytes, uint64_t records) {
    db->worker.log_written += replay_bytes(bytes, records);
}

void worker_note_commit(database *db, uint64_t bytes, uint64_t records, bool sync_later) {
    bool memory = db->options.store == TANSU_STORE_MEMORY;
    if (!memory)
        bytes = replay_bytes(bytes, records);
    if (!memory && sync_later && !__atomic_load_n(&db->worker.sync_wanted, __ATOMIC_RELAXED) &&
        !request(db, &db->worker.sync_wanted))
        sync_interval(db); /* sooner than promised */
    uint64_t written = __atomic_add_fetch(&db->worker.log_written, bytes, __ATOMIC_RELAXED);
    uint64_t since = __atomic_load_n(&db->worker.checkpoint_at, __ATOMIC_RELAXED);
    if (written - since < db->options.checkpoint_bytes) {
        if (memory_checkpoint_due(db))
            request(db, &db->worker.checkpoint_wanted);
        return;
    }
    /* The next request follows after as many bytes again, whether this checkpoint succeeds or
     * not. */
    __atomic_store_n(&db->worker.checkpoint_at, written, __ATOMIC_RELAXED);
    if (!memory)
        request(db, &db->worker.checkpoint_wanted);
    else
        compactor_request(db);
}

/* ---- The thread that compacts in the background ---- */

/* A log of fewer bytes is not compacted. */
#define LOG_LEAST ((uint64_t)1024 * 1024)

/* So many bytes of removed documents request a compaction. What replaces others is
 * written, and requests one as a segment is sealed. */
#define REMOVED_DUE ((uint64_t)16 * 1024 * 1024)

/* How long closing waits for a compaction. */
#define CLOSING_NS ((uint64_t)2000000000)

/* may_go_on -- whether the thread need not end its current work. The state mutex is held. */
static bool may_go_on(const database *db) {
    return !db->compactor.stop && db->maintenance.waiting == 0 &&
           (db->compactor.until == 0 || clock_now() < db->compactor.until);
}

/* compact_work -- waits for requests until it is to stop. */
static void *compact_work(void *context) {
    database *db = context;
    limit_leave_out();
    pthread_mutex_lock(&db->mutex);
    while (!db->compactor.stop) {
        if (!db->compactor.compaction_wanted) {
            if (db->compactor.until != 0)
                break;
            pthread_cond_wait(&db->compactor.wanted, &db->mutex);
            continue;
        }
        db->compactor.compaction_wanted = false;
        /* While a task that a user called is running, this waits for the next request. */
        if (db->maintenance.running != MAINTENANCE_NONE || !may_go_on(db))
            continue;
        db->maintenance.running = MAINTENANCE_BACKGROUND;
        pthread_mutex_unlock(&db->mutex);
        db->compactor.calls->run(db);
        pthread_mutex_lock(&db->mutex);
        db->maintenance.running = MAINTENANCE_NONE;
        __atomic_store_n(&db->compactor.catching_up, false, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&db->changed);
    }
    pthread_mutex_unlock(&db->mutex);
    return NULL;
}

void compactor_enable(database *db, const compactor_calls *calls) {
    db->compactor.calls = calls;
}

/* request_compaction -- wakes the thread, or starts it. The state mutex is held. */
static void request_compaction(database *db) {
    if (!db->compactor.running && !db->compactor.stop)
        db->compactor.running = pthread_create(&db->compactor.thread, NULL, compact_work, db) == 0;
    db->compactor.compaction_wanted = true;
    pthread_cond_signal(&db->compactor.wanted);
}

void compactor_request(database *db) {
    if (db->compactor.calls == NULL || log_measure(db->log).bytes < LOG_LEAST)
        return;
    pthread_mutex_lock(&db->mutex);
    request_compaction(db);
    pthread_mutex_unlock(&db->mutex);
}

void compactor_catch_up(database *db) {
    pthread_mutex_lock(&db->mutex);
    request_compaction(db);
    __atomic_store_n(&db->compactor.catching_up, db->compactor.running, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&db->mutex);
}

void compactor_note_commit(database *db, uint64_t removed, bool sealed) {
    if (__atomic_add_fetch(&db->compactor.removed_bytes, removed, __ATOMIC_RELAXED) < REMOVED_DUE &&
        !sealed)
        return;
    __atomic_store_n(&db->compactor.removed_bytes, 0, __ATOMIC_RELAXED);
    compactor_request(db);
}

void compactor_finish(database *db) {
    bool due = db->compactor.calls != NULL && db->compactor.calls->due(db);
    pthread_mutex_lock(&db->mutex);
    if (due) {
        db->compactor.until = clock_after(clock_now(), CLOSING_NS);
        request_compaction(db);
    } else {
        db->compactor.stop = true;
        pthread_cond_signal(&db->compactor.wanted);
    }
    pthread_mutex_unlock(&db->mutex);
    compactor_join(db);
}

void compactor_stop(database *db) {
    pthread_mutex_lock(&db->mutex);
    db->compactor.stop = true;
    pthread_cond_signal(&db->compactor.wanted);
    pthread_mutex_unlock(&db->mutex);
}

void compactor_join(database *db) {
    if (!db->compactor.running)
        return;
    pthread_join(db->compactor.thread, NULL);
    db->compactor.running = false;
}

bool compactor_wait(database *db, uint64_t nanoseconds) {
    clock_time until = clock_after(clock_now(), nanoseconds);
    bool late = false;
    pthread_mutex_lock(&db->mutex);
    while (may_go_on(db) && db->compactor.until == 0 && !db->compactor.catching_up && !late)
        late = clock_wait(&db->compactor.wanted, &db->mutex, until);
    bool go_on = may_go_on(db);
    pthread_mutex_unlock(&db->mutex);
    return go_on;
}

/* ---- The thread that removes expired documents ---- */

/* From the end of a pass to the next one: an expired document is removed within a minute even if a
 * pass takes as long as that. */
#define PASS_INTERVAL_NS ((uint64_t)30 * 1000000000)

/* expire_work -- makes passes until it is to stop. */
static void *expire_work(void *context) {
    database *db = context;
    limit_leave_out();
    pthread_mutex_lock(&db->mutex);
    clock_time since = clock_now();
    bool any = false;
    while (!interrupt_asked(&db->expirer.stop)) {
        clock_time next = any ? clock_after(since, db->expirer.interval) : CLOCK_NEVER;
        if (!db->expirer.pass_wanted && clock_now() < next) {
            (void)clock_wait(&db->expirer.wanted, &db->mutex, next);
            continue;
        }
        db->expirer.pass_wanted = false;
        pthread_mutex_unlock(&db->mutex);
        any = db->expirer.run(db);
        since = clock_now();
        pthread_mutex_lock(&db->mutex);
    }
    pthread_mutex_unlock(&db->mutex);
    return NULL;
}

void expirer_enable(database *db, bool (*run)(database *db)) {
    db->expirer.run = run;
    db->expirer.interval = PASS_INTERVAL_NS;
}

void expirer_request(database *db) {
    if (db->expirer.run == NULL)
        return;
    pthread_mutex_lock(&db->mutex);
    if (!db->expirer.running && !interrupt_asked(&db->expirer.stop))
        db->expirer.running = pthread_create(&db->expirer.thread, NULL, expire_work, db) == 0;
    db->expirer.pass_wanted = true;
    pthread_cond_signal(&db->expirer.wanted);
    pthread_mutex_unlock(&db->mutex);
}

void expirer_stop(database *db) {
    pthread_mutex_lock(&db->mutex);
    interrupt_ask(&db->expirer.stop);
    bool running = db->expirer.running;
    db->expirer.running = false;
    pthread_cond_signal(&db->expirer.wanted);
    pthread_cond_broadcast(&db->changed); /* it may wait for the write lock */
    pthread_mutex_unlock(&db->mutex);
    if (running)
        pthread_join(db->expirer.thread, NULL);
}

bool expirer_wait(database *db, uint64_t nanoseconds) {
    clock_time until = clock_after(clock_now(), nanoseconds);
    bool late = false;
    pthread_mutex_lock(&db->mutex);
    while (!interrupt_asked(&db->expirer.stop) && !late)
        late = clock_wait(&db->expirer.wanted, &db->mutex, until);
    pthread_mutex_unlock(&db->mutex);
    return late;
}
