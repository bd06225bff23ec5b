/*
 * main.c -- how long a reader and a writer wait during checkpoints and compactions.
 *
 * One thread gets documents by id, each get timed on its own; one replaces documents; one does
 * maintenance. What runs concurrently with the reader changes from slice to slice, round robin, so
 * that a machine that gets slower meanwhile slows all alike. Every document that is read is checked
 * to be the one asked for.
 */
#include "bson_writer.h"
#include "system.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tansu.h>
#include <unistd.h>

enum concurrent { NOTHING, WRITER, CHECKPOINTS, COMPACTIONS, BACKGROUND, CONCURRENT_COUNT };

static const char *const names[CONCURRENT_COUNT] = {
    "nothing", "a writer", "writer, checkpoints continuously", "writer, compactions continuously",
    "writer, checkpoints and compaction as by default"};

#define ROUNDS 5
#define SAMPLES_MOST 4000000u

static struct {
    tansu_db *db;
    uint32_t documents;
    double slice_seconds;
    enum concurrent concurrent; /* atomic */
    bool stop;                  /* atomic */
    uint64_t commits;           /* atomic */
    uint64_t rounds_done;       /* atomic */
    bool failed;                /* atomic */
} run;

/* fail -- ends the measurement. */
static void fail(const char *what, const tansu_error *error) {
    fprintf(stderr, "maintenance: %s: %s\n", what, error->message);
    __atomic_store_n(&run.failed, true, __ATOMIC_RELAXED);
}

static enum concurrent current(void) {
    return __atomic_load_n(&run.concurrent, __ATOMIC_RELAXED);
}

static bool going_on(void) {
    return !__atomic_load_n(&run.stop, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&run.failed, __ATOMIC_RELAXED);
}

/* next_random -- xorshift; every thread has its own state. */
static uint32_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static void make_document(struct bson_writer *w, int64_t id, int32_t n) {
    char text[64];
    bson_writer_begin(w);
    bson_writer_int64(w, "_id", id);
    bson_writer_int32(w, "n", n);
    snprintf(text, sizeof text, "somebody-%lld@example.com", (long long)id);
    bson_writer_text(w, "email", text);
    bson_writer_text(w, "note",
                     "a text of some length, as documents have one, so that it takes its "
                     "room in the log");
    bson_writer_close(w);
}

static void *write_on(void *context) {
    uint64_t state = 88172645463325252u;
    struct bson_writer w;
    tansu_error error;
    (void)context;
    while (going_on()) {
        if (current() == NOTHING) {
            usleep(1000);
            continue;
        }
        make_document(&w, next_random(&state) % run.documents, (int32_t)next_random(&state));
        tansu_document d = {w.data, w.size};
        if (tansu_save(run.db, NULL, "c", &d, 1, TANSU_SAVE, NULL, &error) != TANSU_OK)
            fail("save", &error);
        __atomic_add_fetch(&run.commits, 1, __ATOMIC_RELAXED);
        usleep(20); /* a busy application, not one that does nothing but write */
    }
    return NULL;
}

static void *keep_up(void *context) {
    tansu_error error = {0};
    (void)context;
    while (going_on()) {
        tansu_status status = TANSU_OK;
        if (current() == CHECKPOINTS)
            status = tansu_checkpoint(run.db, &error);
        else if (current() == COMPACTIONS)
            status = tansu_compact(run.db, NULL, NULL, NULL, &error);
        else
            usleep(1000);
        if (status != TANSU_OK)
            fail("maintenance", &error);
        if (current() == CHECKPOINTS || current() == COMPACTIONS)
            __atomic_add_fetch(&run.rounds_done, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

struct rates {
    double p50, p99, p999, most;       /* microseconds of a get */
    double gets, commits, rounds_done; /* a second */
};

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* read_slice -- gets documents for a while. */
static void read_slice(enum concurrent what, uint32_t *samples, uint64_t *state, struct rates *f) {
    struct bson_writer id;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    size_t count = 0;
    __atomic_store_n(&run.concurrent, what, __ATOMIC_RELAXED);
    usleep(50000);
    uint64_t commits = __atomic_load_n(&run.commits, __ATOMIC_RELAXED);
    uint64_t rounds_done = __atomic_load_n(&run.rounds_done, __ATOMIC_RELAXED);
    double begin = system_seconds(), now = begin;
    while (now < begin + run.slice_seconds && count < SAMPLES_MOST && going_on()) {
        int64_t wanted = next_random(state) % run.documents, found = -1;
        bson_writer_begin(&id);
        bson_writer_int64(&id, "_id", wanted);
        bson_writer_close(&id);
        double before = system_seconds();
        tansu_status status =
            tansu_get(run.db, NULL, "c", (tansu_document){id.data, id.size}, &result, &error);
        now = system_seconds();
        if (status != TANSU_OK)
            fail("get", &error);
        else /* size, type, "_id\0", and then the id */
            memcpy(&found, result.data + 9, sizeof found);
        if (status == TANSU_OK && found != wanted) {
            fprintf(stderr, "maintenance: document %lld was asked for, %lld came\n",
                    (long long)wanted, (long long)found);
            __atomic_store_n(&run.failed, true, __ATOMIC_RELAXED);
        }
        samples[count++] = (uint32_t)((now - before) * 1e9);
    }
    tansu_buffer_free(&result);
    double took = now - begin;
    f->gets = (double)count / took;
    f->commits = (double)(__atomic_load_n(&run.commits, __ATOMIC_RELAXED) - commits) / took;
    f->rounds_done =
        (double)(__atomic_load_n(&run.rounds_done, __ATOMIC_RELAXED) - rounds_done) / took;
    if (count == 0)
        return;
    qsort(samples, count, sizeof *samples, by_value);
    f->p50 = samples[count / 2] / 1000.0;
    f->p99 = samples[count * 99 / 100] / 1000.0;
    f->p999 = samples[count / 1000 * 999] / 1000.0;
    f->most = samples[count - 1] / 1000.0;
}

/* median -- of one number over the rounds. */
static double median(const struct rates *list, size_t offset) {
    double values[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        memcpy(&values[i], (const char *)&list[i] + offset, sizeof values[i]);
    qsort(values, ROUNDS, sizeof values[0], by_double);
    return values[ROUNDS / 2];
}

/* fill -- the documents, in commits of a thousand. */
static bool fill(void) {
    tansu_error error;
    tansu_txn *txn = NULL;
    for (uint32_t i = 0; i < run.documents; i++) {
        struct bson_writer w;
        make_document(&w, i, (int32_t)i);
        tansu_document d = {w.data, w.size};
        if ((txn == NULL && tansu_txn_begin(run.db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn,
                                            &error) != TANSU_OK) ||
            tansu_save(run.db, txn, "c", &d, 1, TANSU_INSERT, NULL, &error) != TANSU_OK) {
            fail("fill", &error);
            return false;
        }
        if (i % 1000 == 999 || i + 1 == run.documents) {
            if (tansu_txn_commit(txn, NULL, &error) != TANSU_OK) {
                fail("fill", &error);
                return false;
            }
            txn = NULL;
        }
    }
    return true;
}

/* compact_half -- how fast a database is compacted of which half is dead. */
static void compact_half(const char *folder) {
    struct folder_size before, after;
    tansu_error error;
    if (tansu_compact(run.db, NULL, NULL, NULL, &error) != TANSU_OK) {
        fail("compact", &error);
        return;
    }
    for (uint32_t i = 0; i < run.documents; i++) {
        struct bson_writer w;
        make_document(&w, i, -(int32_t)i);
        tansu_document d = {w.data, w.size};
        if (tansu_save(run.db, NULL, "c", &d, 1, TANSU_SAVE, NULL, &error) != TANSU_OK) {
            fail("save", &error);
            return;
        }
    }
    folder_size(folder, &before);
    double begin = system_seconds();
    if (tansu_compact(run.db, NULL, NULL, NULL, &error) != TANSU_OK)
        fail("compact", &error);
    double took = system_seconds() - begin;
    folder_size(folder, &after);
    printf("\nEvery document replaced, then compacted on demand: %.0f MB became %.0f MB in %.2f s, "
           "%.0f "
           "MB/s of log read.\n",
           (double)before.allocated / 1e6, (double)after.allocated / 1e6, took,
           (double)before.allocated / 1e6 / took);
}

/* measure -- all slices, and the table. */
static void measure(void) {
    static struct rates table[CONCURRENT_COUNT][ROUNDS];
    uint32_t *samples = malloc(SAMPLES_MOST * sizeof *samples);
    uint64_t state = 1181783497276652981u;
    pthread_t threads[2];
    if (samples == NULL || pthread_create(&threads[0], NULL, write_on, NULL) != 0 ||
        pthread_create(&threads[1], NULL, keep_up, NULL) != 0) {
        fprintf(stderr, "maintenance: no memory\n");
        exit(1);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int b = 0; b < CONCURRENT_COUNT; b++)
            read_slice((enum concurrent)b, samples, &state, &table[b][round]);
    __atomic_store_n(&run.stop, true, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(samples);
    printf("| concurrent with the reader | get, median | 99 %% | 99.9 %% | longest | gets/s | "
           "commits/s | "
           "maintenance/s |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (int b = 0; b < CONCURRENT_COUNT; b++)
        printf("| %s | %.1f us | %.1f us | %.1f us | %.0f us | %.0f | %.0f | %.1f |\n", names[b],
               median(table[b], offsetof(struct rates, p50)),
               median(table[b], offsetof(struct rates, p99)),
               median(table[b], offsetof(struct rates, p999)),
               median(table[b], offsetof(struct rates, most)),
               median(table[b], offsetof(struct rates, gets)),
               median(table[b], offsetof(struct rates, commits)),
               median(table[b], offsetof(struct rates, rounds_done)));
}

int main(int argc, char **argv) {
    char folder[1024];
    tansu_error error;
    if (argc > 4) {
        fprintf(stderr, "usage: maintenance [DOCUMENTS] [FOLDER] [SECONDS OF A SLICE]\n");
        return 64;
    }
    run.documents = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
    run.slice_seconds = argc > 3 ? strtod(argv[3], NULL) : 1.5;
    snprintf(folder, sizeof folder, "%s/maintenance-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (run.documents == 0 || mkdtemp(folder) == NULL) {
        fprintf(stderr, "maintenance: %s\n", run.documents == 0 ? "no documents" : "no folder");
        return 1;
    }
    tansu_options options;
    tansu_options_init(&options);
    options.path = folder;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.segment_size = (uint64_t)8 << 20;
    options.checkpoint_bytes = (uint64_t)4 << 20; /* so that they come in every slice */
    if (tansu_open(&options, &run.db, &error) != TANSU_OK) {
        fail("open", &error);
    } else {
        if (fill()) {
            measure();
            compact_half(folder);
        }
        if (tansu_shutdown(run.db, &error) != TANSU_OK)
            fail("close", &error);
    }
    folder_remove(folder);
    return run.failed;
}
