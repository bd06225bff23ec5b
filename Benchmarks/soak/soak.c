/*
 * soak.c -- a sustained load: writers change a set of documents of constant size, readers get them,
 * and once a second the process's metrics and the latencies of calls are sampled.
 *
 * Each writer has documents of its own and keeps a reference model of them: at the end the database
 * is compared with it, and every document that is read meanwhile is checked.
 */
#include "documents.h"
#include "latency.h"
#include "metrics.h"
#include "options.h"
#include "system.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 16

static const char about[] =
    "Runs a sustained load and samples memory, disk and latencies once a second into a file of\n"
    "comma-separated values. Ends with 1 when a result was wrong, 2 when memory exceeds the "
    "limit.\n";

static const struct option_help help[] = {
    {"--minutes", "how long (15)"},
    {"--seconds", "the same in seconds"},
    {"--documents", "how many there are (20000)"},
    {"--writers", "threads that save, update and remove (2)"},
    {"--readers", "threads that get and count (1)"},
    {"--indexes", "0 to 3 (3)"},
    {"--durability", "full, process or interval (full)"},
    {"--hold", "FROM-TO: a snapshot is held for that part of the run, in percent (none)"},
    {"--limit-mb", "ends when the process takes more memory (0: no limit)"},
    ENGINE_OPTIONS,
    {"--dir", "folder in which the database's is made (/tmp)"},
    {"--out", "file of samples (soak.csv)"},
    {NULL, NULL}};

static struct {
    struct load_options options;
    tansu_db *db;
    int32_t
        *changes; /* reference model, by id: n of the document, or -1 - n of one that was removed */
    atomic_bool stop, failed;
    struct latency writes, reads, all_writes, all_reads;
    tansu_txn *snapshot;
    struct totals snapshot_totals;
} run = {.options = {.seconds = 900,
                     .documents = 20000,
                     .writers = 2,
                     .readers = 1,
                     .indexes = 3,
                     .compaction_percent = UINT64_MAX,
                     .folder = "/tmp",
                     .out = "soak.csv"}};

/* fail -- ends the run. */
static void fail(const char *what, const tansu_error *error) {
    report_failure(what, error);
    atomic_store(&run.failed, true);
}

static bool running(void) {
    return !atomic_load(&run.stop) && !atomic_load(&run.failed);
}

static uint64_t nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Writers and readers -------------------------------------------------------------------- */

/* save / update / remove_one -- one change of a document that this thread alone changes. */
static tansu_status save(int32_t id, int32_t n, tansu_error *error) {
    struct bson_writer w;
    make_document(&w, id, n);
    tansu_document d = {w.data, w.size};
    return tansu_save(run.db, NULL, COLLECTION, &d, 1, TANSU_SAVE, NULL, error);
}

static tansu_status update(int32_t id, int32_t n, tansu_error *error) {
    struct bson_writer query, operators;
    make_id(&query, id);
    make_update(&operators, id, n);
    return tansu_update(run.db, NULL, COLLECTION, (tansu_document){query.data, query.size},
                        (tansu_document){operators.data, operators.size}, TANSU_NO_DOCUMENT, NULL,
                        error);
}

static tansu_status remove_one(int32_t id, tansu_error *error) {
    struct bson_writer w;
    int removed = 0;
    make_id(&w, id);
    tansu_status status = tansu_remove_id(run.db, NULL, COLLECTION,
                                          (tansu_document){w.data, w.size}, &removed, error);
    if (status == TANSU_OK && removed != 1) {
        fprintf(stderr, "soak: document %d exists and could not be removed\n", id);
        atomic_store(&run.failed, true);
    }
    return status;
}

static void *write_continuously(void *context) {
    uint64_t number = (uint64_t)(uintptr_t)context, random = 88172645463325252u + number;
    uint64_t own = run.options.documents / run.options.writers;
    while (running()) {
        int32_t id = (int32_t)(next_random(&random) % own * run.options.writers + number);
        uint32_t kind = (uint32_t)(next_random(&random) >> 33) % 100;
        int32_t n = run.changes[id];
        bool there = n >= 0;
        int32_t next = (there ? n : -1 - n) + 1;
        tansu_error error = {0};
        uint64_t before = nanoseconds();
        tansu_status status = there && kind < 10   ? remove_one(id, &error)
                              : there && kind < 50 ? update(id, next, &error)
                                                   : save(id, next, &error);
        latency_add(&run.writes, nanoseconds() - before);
        if (status != TANSU_OK)
            fail("writing", &error);
        else
            run.changes[id] = there && kind < 10 ? -1 - n : next;
    }
    return NULL;
}

/* read_one -- gets a document and checks it. */
static void read_one(int32_t wanted, tansu_buffer *result) {
    struct bson_writer w;
    tansu_error error = {0};
    int32_t id = -1, n = -1;
    make_id(&w, wanted);
    uint64_t before = nanoseconds();
    tansu_status status =
        tansu_get(run.db, NULL, COLLECTION, (tansu_document){w.data, w.size}, result, &error);
    latency_add(&run.reads, nanoseconds() - before);
    if (status != TANSU_OK && status != TANSU_E_NOT_FOUND) {
        fail("reading", &error);
    } else if (status == TANSU_OK &&
               (!document_check(result->data, result->size, &id, &n) || id != wanted)) {
        fprintf(stderr, "soak: a get of document %d returned one that was never saved\n", wanted);
        atomic_store(&run.failed, true);
    }
}

static void *read_continuously(void *context) {
    uint64_t random = 1181783497276652981u + (uint64_t)(uintptr_t)context, count = 0;
    tansu_buffer result = TANSU_BUFFER_INIT;
    while (running()) {
        read_one((int32_t)(next_random(&random) % run.options.documents), &result);
        if (++count % 500 == 0 && run.options.indexes > 0) {
            tansu_error error = {0};
            int64_t found = 0;
            if (count_by_index(run.db, NULL, document_paths[0], &found, &error) != TANSU_OK)
                fail("counting", &error);
        }
        usleep(50); /* an application does not only read */
    }
    tansu_buffer_free(&result);
    return NULL;
}

/* ---- The snapshot --------------------------------------------------------------------------- */

/* update_snapshot -- acquires and releases the snapshot at its times, and checks that it does not
 * change. */
static void update_snapshot(double part, bool *taken) {
    struct totals now;
    tansu_error error = {0};
    if (!*taken && part >= run.options.hold_from && part < run.options.hold_to) {
        *taken = true;
        if (tansu_txn_begin(run.db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &run.snapshot,
                            &error) != TANSU_OK)
            fail("acquiring a snapshot", &error);
        else if (scan_totals(run.db, run.snapshot, &run.snapshot_totals, NULL, NULL) != 0)
            atomic_store(&run.failed, true);
    } else if (run.snapshot != NULL && (part >= run.options.hold_to || !running())) {
        if (scan_totals(run.db, run.snapshot, &now, NULL, NULL) != 0 ||
            now.documents != run.snapshot_totals.documents ||
            now.changes != run.snapshot_totals.changes) {
            fprintf(stderr, "soak: the snapshot has changed\n");
            atomic_store(&run.failed, true);
        }
        tansu_txn_abort(run.snapshot);
        run.snapshot = NULL;
    }
}

/* ---- Before and after ----------------------------------------------------------------------- */

static bool fill(void) {
    tansu_error error = {0};
    if (create_indexes(run.db, (int)run.options.indexes, &error) != TANSU_OK)
        fail("creating indexes", &error);
    else if (insert_documents(run.db, run.options.documents, &error) != TANSU_OK)
        fail("inserting documents", &error);
    return !atomic_load(&run.failed);
}

/* verify_document -- compares a document with the model, and marks it as seen there. */
static void verify_document(void *context, int32_t id, int32_t n) {
    int32_t *expected = context;
    if (id < 0 || (uint64_t)id >= run.options.documents || expected[id] != n) {
        fprintf(stderr, "soak: document %d with %d changes should not exist\n", id, n);
        atomic_store(&run.failed, true);
        return;
    }
    expected[id] = -1;
}

/* verify_all -- compares the database with the model: documents by a scan, indexes by their counts.
 * */
static void verify_all(void) {
    struct totals c;
    tansu_error error = {0};
    if (scan_totals(run.db, NULL, &c, verify_document, run.changes) != 0)
        atomic_store(&run.failed, true);
    for (uint64_t id = 0; id < run.options.documents; id++)
        if (run.changes[id] >= 0) {
            fprintf(stderr, "soak: document %llu is missing\n", (unsigned long long)id);
            atomic_store(&run.failed, true);
            break;
        }
    for (uint64_t i = 0; i < run.options.indexes; i++) {
        int64_t count = -1;
        if (count_by_index(run.db, NULL, document_paths[i], &count, &error) != TANSU_OK)
            fail("counting", &error);
        else if (count != c.documents) {
            fprintf(stderr, "soak: index %s holds %lld documents of %lld\n", document_paths[i],
                    (long long)count, (long long)c.documents);
            atomic_store(&run.failed, true);
        }
    }
}

/* finish -- verifies, compacts and closes the database, and prints how long each takes. */
static void finish(const char *path) {
    struct folder_size disk = {0, 0};
    tansu_error error = {0};
    double begin = system_seconds();
    if (tansu_verify(run.db, NULL, NULL, NULL, &error) != TANSU_OK)
        fail("verify", &error);
    double verified = system_seconds();
    if (tansu_compact(run.db, NULL, NULL, NULL, &error) != TANSU_OK)
        fail("compact", &error);
    double compacted = system_seconds();
    folder_size(path, &disk);
    if (tansu_shutdown(run.db, &error) != TANSU_OK)
        fail("shutdown", &error);
    printf("verify %.2f s, compact %.2f s to %.1f MB, shutdown %.2f s\n", verified - begin,
           compacted - verified, (double)disk.allocated / 1e6, system_seconds() - compacted);
}

/* ---- Sampling ------------------------------------------------------------------------------- */

/* sample -- writes a line of samples; 0, or -1 to end the run. */
static int sample(struct samples *s, double at, double since_last) {
    char own[512];
    struct latency_summary w = latency_take(&run.writes, &run.all_writes);
    struct latency_summary r = latency_take(&run.reads, &run.all_reads);
    snprintf(own, sizeof own, "%.2f,%.0f,%.2f,%.2f,%.2f,%.2f,%.0f,%.2f,%.2f,%.2f,%.2f,%d", at,
             (double)w.calls / since_last, w.p50, w.p99, w.p999, w.most,
             (double)r.calls / since_last, r.p50, r.p99, r.p999, r.most, run.snapshot != NULL);
    return samples_add(s, own, run.db);
}

/* load -- starts the threads and samples until the end of the run; 2 when memory exceeds the limit.
 * */
static int load(const char *path) {
    pthread_t threads[MOST_THREADS];
    struct samples s;
    bool taken = false;
    size_t count = 0;
    int over = 0;
    if (samples_begin(&s, run.options.out, path,
                      "seconds,writesPerSecond,writeP50us,writeP99us,writeP999us,writeMaxUs,"
                      "readsPerSecond,readP50us,readP99us,readP999us,readMaxUs,snapshotHeld",
                      run.db, run.options.limit_mb * 1000000) != 0) {
        atomic_store(&run.failed, true);
        return 1;
    }
    for (uintptr_t i = 0; i < run.options.writers + run.options.readers; i++)
        if (pthread_create(&threads[count], NULL,
                           i < run.options.writers ? write_continuously : read_continuously,
                           (void *)i) != 0)
            atomic_store(&run.failed, true);
        else
            count++;
    double begin = system_seconds(), last = begin, now = begin;
    while (running() && now < begin + run.options.seconds && !over) {
        double left = begin + run.options.seconds - now;
        usleep(left < 1 ? (useconds_t)(left * 1e6) + 1 : 990000);
        now = system_seconds();
        if (run.options.hold_to > 0)
            update_snapshot((now - begin) * 100 / run.options.seconds, &taken);
        over = sample(&s, now - begin, now - last) != 0;
        last = now;
    }
    atomic_store(&run.stop, true);
    update_snapshot(100, &taken);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    samples_end(&s);
    printf("%.0f s, peak memory %.1f MB\n", now - begin, (double)s.peak_memory / 1e6);
    return over ? 2 : 0;
}

static void print_latency(const char *what, struct latency *l) {
    struct latency_summary f = latency_take(l, NULL);
    printf("%s: %llu, p50 %.1f us, p99 %.1f us, p99.9 %.1f us, longest %.1f ms\n", what,
           (unsigned long long)f.calls, f.p50, f.p99, f.p999, f.most / 1000);
}

int main(int argc, char **argv) {
    char path[1024];
    tansu_error error = {0};
    int code = options_parse(argc, argv, "soak", about, help, &run.options);
    if (code >= 0)
        return code;
    if (run.options.writers == 0 || run.options.writers + run.options.readers > MOST_THREADS ||
        run.options.indexes > DOCUMENT_INDEXES || run.options.documents < run.options.writers ||
        run.options.documents > INT32_MAX) {
        fprintf(stderr, "soak: writers, readers, indexes or documents out of bounds; see --help\n");
        return 64;
    }
    run.changes = calloc(run.options.documents, sizeof *run.changes);
    if (run.changes == NULL) {
        fprintf(stderr, "soak: out of memory\n");
        return 1;
    }
    if (options_open(&run.options, path, &run.db, &error) != TANSU_OK) {
        fail("opening", &error);
    } else {
        code = fill() ? load(path) : 1;
        if (!atomic_load(&run.failed))
            verify_all();
        print_latency("writes", &run.all_writes);
        print_latency("reads", &run.all_reads);
        finish(path);
        folder_remove(path);
    }
    free(run.changes);
    return atomic_load(&run.failed) ? 1 : code;
}
