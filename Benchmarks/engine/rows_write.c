/*
 * rows_write.c -- the rows that write, and those that look at what was written: size, memory,
 * reopening after a kill.
 */
#include "rows.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FULL_COMMITS 1000
#define PROCESS_COMMITS 20000
#define CHANGES 20000

/* smaller -- the smaller of two sizes. */
static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* clock_seconds -- the clock's time, for what waits for the disk. */
static double clock_seconds(const struct fixture *fixture) {
    (void)fixture;
    return system_seconds();
}

/* row_commit -- one document a commit into an empty collection. */
int row_commit(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome) {
    enum durability durability = (enum durability)row->argument;
    size_t wanted = durability == DURABILITY_FULL ? FULL_COMMITS : PROCESS_COMMITS;
    size_t count = smaller(wanted, fixture->corpus.count);
    double (*seconds)(const struct fixture *) =
        durability == DURABILITY_FULL ? clock_seconds : fixture_seconds;
    struct store *store;
    if (fixture_open_empty(fixture, subject, durability, &store) != 0 ||
        fixture_quiesce(fixture, store) != 0)
        return -1;
    double start = seconds(fixture);
    for (size_t i = 0; i < count; i++)
        if (store->engine->insert(store, &fixture->corpus.documents[i], 1) != 0)
            return fixture_fail(fixture, store, NULL);
    outcome->value = (seconds(fixture) - start) / (double)count * 1e6;
    outcome->check = count;
    if (fixture_expect_count(fixture, store, count) != 0)
        return -1;
    return fixture_remove_empty(fixture, subject, store);
}

/* open_for_bulk -- an empty database with the row's number of indexes. */
static int open_for_bulk(struct fixture *fixture, struct subject *subject, int indexes,
                         struct store **store) {
    if (fixture_open_empty(fixture, subject, DURABILITY_FULL, store) != 0)
        return -1;
    if ((indexes > 0 && subject->engine->index_create(*store, FIELD_NAME) != 0) ||
        (indexes > 1 && subject->engine->index_create(*store, FIELD_CITY) != 0))
        return fixture_fail(fixture, *store, NULL);
    return fixture_quiesce(fixture, *store);
}

/* bulk_insert -- all documents in one transaction. */
static int bulk_insert(struct fixture *fixture, struct store *store) {
    const struct engine *engine = store->engine;
    if (engine->begin(store) != 0 ||
        engine->insert(store, fixture->corpus.documents, fixture->corpus.count) != 0 ||
        engine->commit(store) != 0)
        return fixture_fail(fixture, store, NULL);
    return 0;
}

/* row_bulk -- a durable bulk insert into row->argument indexes. */
int row_bulk(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome) {
    struct store *store;
    if (open_for_bulk(fixture, subject, row->argument, &store) != 0)
        return -1;
    double start = fixture_seconds(fixture);
    if (bulk_insert(fixture, store) != 0)
        return -1;
    outcome->value = (fixture_seconds(fixture) - start) * 1e3;
    outcome->check = fixture->corpus.count;
    if (fixture_expect_count(fixture, store, fixture->corpus.count) != 0)
        return -1;
    return fixture_remove_empty(fixture, subject, store);
}

/* row_bulk_close -- the same with everything that either engine puts off until it is closed. */
int row_bulk_close(struct fixture *fixture, struct subject *subject, const struct row *row,
                   struct outcome *outcome) {
    struct settings settings = fixture->settings;
    struct store *store;
    if (open_for_bulk(fixture, subject, row->argument, &store) != 0)
        return -1;
    double start = fixture_seconds(fixture);
    if (bulk_insert(fixture, store) != 0 || subject->engine->close(store, fixture->error) != 0)
        return -1;
    outcome->value = (fixture_seconds(fixture) - start) * 1e3;
    outcome->check = fixture->corpus.count;
    if (subject->engine->open(subject->empty_folder, &settings, &store, fixture->error) != 0 ||
        fixture_expect_count(fixture, store, fixture->corpus.count) != 0)
        return -1;
    return fixture_remove_empty(fixture, subject, store);
}

/* check_changes -- reads the changed documents back; their ids and number go into the check. */
static int check_changes(struct fixture *fixture, struct store *store, const struct corpus *changed,
                         uint64_t *check) {
    struct sink sink = {.identify = true};
    for (size_t i = 0; i < changed->count; i++)
        if (store->engine->get(store, changed->documents[i].id, &sink) != 0)
            return fixture_fail(fixture, store, NULL);
    *check = sink.sequence;
    return fixture_expect_count(fixture, store, fixture->corpus.count);
}

/* row_update -- replaces random documents: another age, which is indexed, and another email. With
 * an argument, all in one transaction. */
int row_update(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome) {
    size_t count = smaller(CHANGES, fixture->corpus.count / 2);
    uint32_t version = fixture->repetition * 2 + (uint32_t)row->argument + 1;
    struct corpus changed = {.count = 0};
    struct store *store;
    int result = -1;
    uint32_t *numbers = random_numbers(fixture->corpus.count, count, 200 + version);
    if (numbers == NULL ||
        corpus_pick(&fixture->generator, numbers, count, version, &changed) != 0) {
        fixture_fail(fixture, NULL, "out of memory");
        goto done;
    }
    if (fixture_open_loaded(fixture, subject, &store) != 0 || fixture_quiesce(fixture, store) != 0)
        goto done;
    double start = system_seconds();
    if (row->argument != 0 && subject->engine->begin(store) != 0)
        goto err;
    for (size_t i = 0; i < count; i++)
        if (subject->engine->replace(store, &changed.documents[i]) != 0)
            goto err;
    if (row->argument != 0 && subject->engine->commit(store) != 0)
        goto err;
    outcome->value = (system_seconds() - start) / (double)count * 1e6;
    result = check_changes(fixture, store, &changed, &outcome->check);
    goto done;
err:
    fixture_fail(fixture, store, NULL);
done:
    corpus_free(&changed);
    free(numbers);
    return result;
}

/* row_remove -- deletes random documents, and puts them back untimed. */
int row_remove(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome) {
    const struct engine *engine = subject->engine;
    size_t count = smaller(CHANGES, fixture->corpus.count / 2);
    struct corpus removed = {.count = 0};
    struct store *store;
    int result = -1;
    uint32_t *numbers = random_numbers(fixture->corpus.count, count,
                                       300 + fixture->repetition * 2 + (uint32_t)row->argument);
    if (numbers == NULL || corpus_pick(&fixture->generator, numbers, count, 0, &removed) != 0) {
        fixture_fail(fixture, NULL, "out of memory");
        goto done;
    }
    if (fixture_open_loaded(fixture, subject, &store) != 0 || fixture_quiesce(fixture, store) != 0)
        goto done;
    double start = system_seconds();
    if (row->argument != 0 && engine->begin(store) != 0)
        goto err;
    for (size_t i = 0; i < count; i++)
        if (engine->remove(store, removed.documents[i].id) != 0)
            goto err;
    if (row->argument != 0 && engine->commit(store) != 0)
        goto err;
    outcome->value = (system_seconds() - start) / (double)count * 1e6;
    if (fixture_expect_count(fixture, store, fixture->corpus.count - count) != 0)
        goto done;
    if (engine->begin(store) != 0 || engine->insert(store, removed.documents, count) != 0 ||
        engine->commit(store) != 0)
        goto err;
    result = check_changes(fixture, store, &removed, &outcome->check);
    goto done;
err:
    fixture_fail(fixture, store, NULL);
done:
    corpus_free(&removed);
    free(numbers);
    return result;
}

/* row_size -- the loaded database's files after a clean close. */
int row_size(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome) {
    struct store *store;
    if (fixture_open_loaded(fixture, subject, &store) != 0)
        return -1;
    uint64_t bytes = row->argument == 0 ? subject->size.allocated : subject->size.apparent;
    outcome->value = (double)bytes / 1e6;
    outcome->check = 0;
    return 0;
}

/* run_child -- runs this program on a fresh folder with a task for one engine. */
static int run_child(struct fixture *fixture, struct subject *subject, const char *task,
                     struct child_result *result) {
    char count[32];
    snprintf(count, sizeof count, "%zu", fixture->generator.count);
    snprintf(subject->empty_folder, sizeof subject->empty_folder, "%s/%s-child", fixture->folder,
             subject->engine->name);
    if (mkdir(subject->empty_folder, 0700) != 0)
        return fixture_fail(fixture, NULL, "cannot create a folder for the database");
    char *arguments[] = {
        (char *)fixture->program, "--child", (char *)task, (char *)subject->engine->name,
        subject->empty_folder,    count,     NULL};
    return child_run(arguments, result) == 0
               ? 0
               : fixture_fail(fixture, NULL, "cannot start a process");
}

/* row_reopen_killed -- opens what a killed writer left and counts by index. */
int row_reopen_killed(struct fixture *fixture, struct subject *subject, const struct row *row,
                      struct outcome *outcome) {
    struct settings settings = fixture->settings;
    struct child_result child;
    struct store *store;
    char city[GENERATOR_TEXT_SIZE];
    struct query query = {.kind = QUERY_CITY, .text = city};
    int64_t count = 0;
    (void)row;
    generator_city(fixture->generator.cities[0], city);
    if (run_child(fixture, subject, "kill", &child) != 0)
        return -1;
    if (child.signal != SIGKILL)
        return fixture_fail(fixture, NULL, "the writer ended before it was killed");
    sync();
    double start = system_seconds();
    if (subject->engine->open(subject->empty_folder, &settings, &store, fixture->error) != 0)
        return -1;
    if (subject->engine->count(store, &query, &count) != 0)
        return fixture_fail(fixture, store, NULL);
    outcome->value = (system_seconds() - start) * 1e3;
    outcome->check = (uint64_t)count;
    if (count != (int64_t)(fixture->generator.count / GENERATOR_CITIES))
        return fixture_fail(fixture, NULL, "the index lost documents of the killed writer");
    if (fixture_expect_count(fixture, store, fixture->generator.count) != 0)
        return -1;
    return fixture_remove_empty(fixture, subject, store);
}

/* row_memory -- the most memory that a process with the whole workload had. */
int row_memory(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome) {
    struct child_result child;
    char path[BENCH_PATH_SIZE];
    unsigned long long peak = 0;
    (void)row;
    if (run_child(fixture, subject, "memory", &child) != 0)
        return -1;
    if (child.exit_code != 0)
        return fixture_fail(fixture, NULL, "the process whose memory is measured failed");
    snprintf(path, sizeof path, "%s/%s", subject->empty_folder, CHILD_PEAK_FILE);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%llu", &peak) != 1)
        peak = 0;
    if (file != NULL)
        fclose(file);
    if (peak == 0)
        return fixture_fail(fixture, NULL, "the system does not report the memory of the process");
    outcome->value = (double)peak / 1e6;
    outcome->check = 0;
    return fixture_remove_empty(fixture, subject, NULL);
}
