/*
 * children.c -- what runs in a process of its own: the workload whose peak memory is taken, and
 * the writer that ends by kill -9.
 */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define CHILD_BATCH 1000
#define CHILD_QUERIES 200
#define CHILD_UPDATES 2000

/* child_fail -- prints why the child cannot go on; its exit code is 1. */
static int child_fail(const char *message) {
    fprintf(stderr, "child process: %s\n", message);
    return 1;
}

/* child_kill_tail -- how many documents are committed one by one before the kill. */
size_t child_kill_tail(size_t count) {
    return count / 10;
}

/* child_fill -- inserts documents batch by batch, so that the child's memory is the engine's. */
static int child_fill(struct store *store, const struct generator *generator, size_t count) {
    for (size_t done = 0; done < count;) {
        struct corpus corpus;
        size_t batch = count - done < CHILD_BATCH ? count - done : CHILD_BATCH;
        if (corpus_make(generator, done, batch, 0, &corpus) != 0)
            return child_fail("out of memory");
        int result = store->engine->insert(store, corpus.documents, corpus.count);
        corpus_free(&corpus);
        if (result != 0)
            return child_fail(store->error);
        done += batch;
    }
    return 0;
}

/* child_start -- opens the database and fills it, with two indexes, in one transaction. */
static int child_start(const struct engine *engine, const char *folder, enum durability durability,
                       const struct generator *generator, size_t count, struct store **store) {
    struct settings settings = {.durability = durability};
    char error[BENCH_ERROR_SIZE];
    if (engine->open(folder, &settings, store, error) != 0)
        return child_fail(error);
    if (engine->index_create(*store, FIELD_NAME) != 0 ||
        engine->index_create(*store, FIELD_CITY) != 0 || engine->begin(*store) != 0)
        return child_fail((*store)->error);
    if (child_fill(*store, generator, count) != 0)
        return 1;
    return engine->commit(*store) != 0 ? child_fail((*store)->error) : 0;
}

/* child_read -- a run of queries of every kind. */
static int child_read(struct store *store, const struct generator *generator) {
    struct sink sink = {.documents = 0};
    char text[GENERATOR_TEXT_SIZE];
    struct query top = {.kind = QUERY_TOP_EMAIL};
    for (uint32_t i = 0; i < CHILD_QUERIES; i++) {
        struct query query = {.kind = i % 2 == 0 ? QUERY_NAME : QUERY_CITY, .text = text};
        if (i % 2 == 0)
            generator_name(generator->names[i], text);
        else
            generator_city(generator->cities[i], text);
        if (store->engine->find(store, &query, &sink) != 0 ||
            store->engine->get(store, (int64_t)i + 1, &sink) != 0)
            return child_fail(store->error);
    }
    uint64_t expected =
        CHILD_QUERIES / 2 * (GENERATOR_PER_NAME + generator->count / 80) + CHILD_QUERIES;
    if (sink.documents != expected)
        return child_fail("a query returned the wrong number of documents");
    return store->engine->find(store, &top, &sink) != 0 ? child_fail(store->error) : 0;
}

/* child_report_peak -- leaves this process's peak memory for the parent. */
static int child_report_peak(const char *folder) {
    char path[BENCH_PATH_SIZE];
    int written = 0;
    snprintf(path, sizeof path, "%s/%s", folder, CHILD_PEAK_FILE);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        written = fprintf(file, "%llu", (unsigned long long)system_peak_memory());
        written = fclose(file) == 0 ? written : 0;
    }
    return written > 0 ? 0 : child_fail("cannot write its peak memory");
}

/* child_memory -- fill, read, update, close: the workload of the memory row. */
int child_memory(const struct engine *engine, const char *folder, size_t count) {
    struct generator generator;
    struct corpus changed;
    struct store *store = NULL;
    char error[BENCH_ERROR_SIZE];
    size_t updates = count < CHILD_UPDATES ? count : CHILD_UPDATES;
    if (generator_init(&generator, count) != 0 ||
        corpus_make(&generator, 0, updates, 1, &changed) != 0)
        return child_fail("out of memory");
    if (child_start(engine, folder, DURABILITY_PROCESS, &generator, count, &store) != 0 ||
        child_read(store, &generator) != 0)
        return 1;
    for (size_t i = 0; i < changed.count; i++)
        if (engine->replace(store, &changed.documents[i]) != 0)
            return child_fail(store->error);
    corpus_free(&changed);
    generator_free(&generator);
    return engine->close(store, error) != 0 ? child_fail(error) : child_report_peak(folder);
}

/* child_kill -- fill, checkpoint, commit a tail one by one, and die without closing. */
int child_kill(const struct engine *engine, const char *folder, size_t count) {
    struct generator generator;
    struct corpus tail;
    struct store *store = NULL;
    size_t single = child_kill_tail(count);
    if (generator_init(&generator, count) != 0 ||
        corpus_make(&generator, count - single, single, 0, &tail) != 0)
        return child_fail("out of memory");
    if (child_start(engine, folder, DURABILITY_PROCESS, &generator, count - single, &store) != 0)
        return 1;
    if (engine->quiesce(store) != 0)
        return child_fail(store->error);
    for (size_t i = 0; i < single; i++)
        if (engine->insert(store, &tail.documents[i], 1) != 0)
            return child_fail(store->error);
    kill(getpid(), SIGKILL);
    return child_fail("SIGKILL did not end the process");
}
