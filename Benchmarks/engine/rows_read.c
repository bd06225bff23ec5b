/*
 * rows_read.c -- the rows that only read the loaded database. Each first checks a few answers by
 * their ids, untimed, which also warms up, and then times a fixed number of calls.
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED_QUERIES 10
#define RANGE_AGES 4
#define COUNT_AGES 40
#define REOPENS 20

/* expected_documents -- how many documents a find of this kind returns; 0 when that varies. */
static uint64_t expected_documents(const struct fixture *fixture, enum query_kind kind) {
    uint64_t count = fixture->generator.count;
    switch (kind) {
    case QUERY_NAME: return GENERATOR_PER_NAME;
    case QUERY_CITY: return count / GENERATOR_CITIES;
    case QUERY_ZIP: return count / GENERATOR_ZIPS;
    case QUERY_AGE: return count / GENERATOR_AGES * RANGE_AGES;
    case QUERY_TOP_EMAIL: return 10;
    case QUERY_NAMESAKES: return 0;
    case QUERY_ALL:
    case QUERY_KIND_COUNT: break;
    }
    return count;
}

/* query_at -- the i-th query of a kind; `text` holds its operand. */
static struct query query_at(const struct fixture *fixture, enum query_kind kind, uint32_t i,
                             int32_t ages, char text[GENERATOR_TEXT_SIZE]) {
    struct query query = {.kind = kind};
    size_t count = fixture->generator.count;
    uint32_t draw = i * 7919u + fixture->repetition * 104729u;
    if (kind == QUERY_NAME)
        generator_name(draw % (uint32_t)(count / GENERATOR_PER_NAME), text);
    else if (kind == QUERY_CITY || kind == QUERY_NAMESAKES)
        generator_city(draw % GENERATOR_CITIES, text);
    else if (kind == QUERY_ZIP)
        generator_zip(draw % GENERATOR_ZIPS, text);
    if (kind == QUERY_NAME || kind == QUERY_CITY || kind == QUERY_NAMESAKES || kind == QUERY_ZIP)
        query.text = text;
    query.low = GENERATOR_YOUNGEST + (int32_t)(draw % (uint32_t)(GENERATOR_AGES - ages + 1));
    query.high = query.low + ages - 1;
    return query;
}

/* run_finds -- runs some queries of a kind into a sink. */
static int run_finds(struct fixture *fixture, struct store *store, enum query_kind kind,
                     uint32_t queries, struct sink *sink) {
    char text[GENERATOR_TEXT_SIZE];
    for (uint32_t i = 0; i < queries; i++) {
        struct query query = query_at(fixture, kind, i, RANGE_AGES, text);
        if (store->engine->find(store, &query, sink) != 0)
            return fixture_fail(fixture, store, NULL);
    }
    uint64_t expected = expected_documents(fixture, kind);
    if (sink->documents == queries * expected || expected == 0)
        return 0;
    snprintf(fixture->error, sizeof fixture->error, "%s returned %llu documents instead of %llu",
             store->engine->name, (unsigned long long)sink->documents,
             (unsigned long long)(queries * expected));
    return -1;
}

/* row_find -- a query whose documents are all read; row->argument is the kind. */
int row_find(struct fixture *fixture, struct subject *subject, const struct row *row,
             struct outcome *outcome) {
    static const uint32_t amounts[QUERY_KIND_COUNT] = {
        [QUERY_NAME] = 20000, [QUERY_CITY] = 320,      [QUERY_ZIP] = 4,
        [QUERY_AGE] = 40,     [QUERY_NAMESAKES] = 320, [QUERY_TOP_EMAIL] = 4,
    };
    enum query_kind kind = (enum query_kind)row->argument;
    uint32_t queries = amounts[kind];
    uint32_t checked = queries < CHECKED_QUERIES ? 1 : CHECKED_QUERIES;
    struct sink check = {.identify = true}, sink = {.identify = false};
    struct store *store;
    if (fixture_open_loaded(fixture, subject, &store) != 0 ||
        run_finds(fixture, store, kind, checked, &check) != 0)
        return -1;
    double start = fixture_seconds(fixture);
    if (run_finds(fixture, store, kind, queries, &sink) != 0)
        return -1;
    double seconds = fixture_seconds(fixture) - start;
    outcome->value = seconds / queries * (strcmp(row->unit, "ms") == 0 ? 1e3 : 1e6);
    outcome->check = kind == QUERY_TOP_EMAIL ? check.sequence : check.set;
    return 0;
}

/* row_count -- a count that an index can answer. */
int row_count(struct fixture *fixture, struct subject *subject, const struct row *row,
              struct outcome *outcome) {
    enum query_kind kind = (enum query_kind)row->argument;
    uint32_t queries = kind == QUERY_CITY ? 2000 : 100;
    uint64_t each =
        fixture->generator.count / GENERATOR_AGES * (kind == QUERY_CITY ? 1 : COUNT_AGES);
    uint64_t total = 0;
    char text[GENERATOR_TEXT_SIZE];
    struct store *store;
    if (fixture_open_loaded(fixture, subject, &store) != 0)
        return -1;
    double start = fixture_seconds(fixture);
    for (uint32_t i = 0; i < queries; i++) {
        struct query query = query_at(fixture, kind, i, COUNT_AGES, text);
        int64_t count = 0;
        if (store->engine->count(store, &query, &count) != 0)
            return fixture_fail(fixture, store, NULL);
        total += (uint64_t)count;
    }
    outcome->value = (fixture_seconds(fixture) - start) / queries * 1e6;
    outcome->check = total;
    return total == each * queries ? 0 : fixture_fail(fixture, NULL, "a count is wrong");
}

/* row_get -- documents by id in random order, each call on its own. */
int row_get(struct fixture *fixture, struct subject *subject, const struct row *row,
            struct outcome *outcome) {
    size_t count = fixture->corpus.count / (row->argument == 0 ? 2 : 20);
    struct sink check = {.identify = true}, sink = {.identify = false};
    struct store *store;
    int result = -1;
    uint32_t *numbers;
    if (fixture_open_loaded(fixture, subject, &store) != 0)
        return -1;
    numbers = random_numbers(fixture->corpus.count, count, 100 + fixture->repetition);
    if (numbers == NULL)
        return fixture_fail(fixture, NULL, "out of memory");
    for (size_t i = 0; i < count / 10; i++)
        if (store->engine->get(store, (int64_t)numbers[i] + 1, &check) != 0)
            goto err;
    double start = fixture_seconds(fixture);
    for (size_t i = 0; i < count; i++)
        if (store->engine->get(store, (int64_t)numbers[i] + 1, &sink) != 0)
            goto err;
    outcome->value = (fixture_seconds(fixture) - start) / (double)count * 1e6;
    outcome->check = check.sequence + sink.documents;
    result = sink.documents == count ? 0 : fixture_fail(fixture, NULL, "get found no document");
    free(numbers);
    return result;
err:
    free(numbers);
    return fixture_fail(fixture, store, NULL);
}

/* row_get_cold -- the same of a database that was opened with a cache of row->argument MiB. */
int row_get_cold(struct fixture *fixture, struct subject *subject, const struct row *row,
                 struct outcome *outcome) {
    uint64_t cache_bytes = fixture->settings.cache_bytes;
    fixture->settings.cache_bytes = (uint64_t)row->argument << 20;
    int result = fixture_close_loaded(fixture, subject);
    if (result == 0)
        result = row_get(fixture, subject, row, outcome);
    fixture->settings.cache_bytes = cache_bytes;
    return result == 0 ? fixture_close_loaded(fixture, subject) : result;
}

/* row_index -- drops an index, untimed, and builds it again. */
int row_index(struct fixture *fixture, struct subject *subject, const struct row *row,
              struct outcome *outcome) {
    enum field field = (enum field)row->argument;
    struct sink check = {.identify = true};
    struct store *store;
    if (fixture_open_loaded(fixture, subject, &store) != 0)
        return -1;
    if (store->engine->index_drop(store, field) != 0)
        return fixture_fail(fixture, store, NULL);
    if (fixture_quiesce(fixture, store) != 0)
        return -1;
    double start = system_seconds();
    if (store->engine->index_create(store, field) != 0)
        return fixture_fail(fixture, store, NULL);
    outcome->value = (system_seconds() - start) * 1e3;
    if (run_finds(fixture, store, QUERY_NAME, CHECKED_QUERIES, &check) != 0)
        return -1;
    outcome->check = check.set;
    return fixture_quiesce(fixture, store);
}

/* row_reopen -- opens a database that was closed cleanly and reads one document. */
int row_reopen(struct fixture *fixture, struct subject *subject, const struct row *row,
               struct outcome *outcome) {
    struct sink sink = {.identify = true};
    struct store *store;
    double seconds = 0;
    (void)row;
    if (fixture_open_loaded(fixture, subject, &store) != 0)
        return -1;
    for (int64_t i = 0; i < REOPENS; i++) {
        if (fixture_close_loaded(fixture, subject) != 0)
            return -1;
        double start = system_seconds();
        if (fixture_open_loaded(fixture, subject, &store) != 0)
            return -1;
        if (store->engine->get(store, 1 + i * (int64_t)fixture->corpus.count / REOPENS, &sink) != 0)
            return fixture_fail(fixture, store, NULL);
        seconds += system_seconds() - start;
    }
    outcome->value = seconds / REOPENS * 1e6;
    outcome->check = sink.sequence;
    return 0;
}
