/*
 * fixture.h -- the databases that rows run on: one loaded database an engine, shared by the rows
 * that read and update, and empty ones for the rows that fill an empty database. Calls the engines
 * only through `struct engine`.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "bench.h"
#include "generator.h"
#include "system.h"

/* One engine and its loaded database. */
struct subject {
    const struct engine *engine;
    struct store *store;     /* the loaded database, or NULL while it is closed */
    bool loaded;             /* its files are there */
    struct folder_size size; /* of its files, after loading and a clean close */
    char folder[BENCH_PATH_SIZE / 2];
    char empty_folder[BENCH_PATH_SIZE / 2];
};

struct fixture {
    struct generator generator;
    struct corpus corpus; /* all documents as they are inserted */
    struct settings settings;
    bool processor_time; /* of rows that do not wait for the disk, instead of the clock's */
    const char *program; /* how to start this program again, for child processes */
    char folder[BENCH_PATH_SIZE / 4];
    unsigned repetition; /* the running one; rows draw their random ids from it */
    char error[BENCH_ERROR_SIZE];
};

/* What a row measured for one engine. `check` is what both engines must agree on. */
struct outcome {
    double value;
    uint64_t check;
};

/* Notes why a row failed and returns -1; with a store, its own message. */
int fixture_fail(struct fixture *fixture, const struct store *store, const char *message);

/* Opens the loaded database, filling it at the first call: all documents, indexes on name,
 * address.city and age, durability `process`. */
int fixture_open_loaded(struct fixture *fixture, struct subject *subject, struct store **store);
int fixture_close_loaded(struct fixture *fixture, struct subject *subject);

/* A new, empty database in a folder of its own, and its end, files and all. */
int fixture_open_empty(struct fixture *fixture, struct subject *subject, enum durability durability,
                       struct store **store);
int fixture_remove_empty(struct fixture *fixture, struct subject *subject, struct store *store);

/* Finishes deferred work of the engine and writes of the kernel, outside the timing. */
int fixture_quiesce(struct fixture *fixture, struct store *store);

/* The time for a row that does not wait for the disk, in seconds. */
double fixture_seconds(const struct fixture *fixture);

/* Fails unless the database holds exactly that many documents. */
int fixture_expect_count(struct fixture *fixture, struct store *store, size_t expected);

/* The workload of the memory row, and the writer that kills itself: run in child processes. */
int child_memory(const struct engine *engine, const char *folder, size_t count);
int child_kill(const struct engine *engine, const char *folder, size_t count);

/* The file in its folder where the child leaves its peak memory in bytes. */
#define CHILD_PEAK_FILE "peak"

/* How many documents the writer that kills itself commits one by one, after a checkpoint. */
size_t child_kill_tail(size_t count);

#endif
