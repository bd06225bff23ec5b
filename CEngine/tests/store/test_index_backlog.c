/*
 * test_index_backlog.c -- what a killed process left in the log after its last checkpoint comes
 * into each index when the index is first used: by whom and in what order makes no difference, nor
 * does a first use that fails. A copy of the files of an open database is what a killed process
 * leaves.
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "store/collection.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/random/random.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_USUALLY 20
#define IDS 3000
#define GROUPS 20

/* left_by_kill -- a copy of an open database's folder. */
static const char *left_by_kill(const char *from, const char *to) {
    folder_remove(to);
    folder_copy(from, to);
    return to;
}

/* ---- Random work, compared with a model ---- */

/* use_first -- one of the uses that bring indexes up to date. */
static void use_first(store_model *m, random_source *source, tansu_db *db) {
    tansu_txn *txn;
    switch (random_below(source, 7)) {
    case 0: store_model_step(m, source, db); break;
    case 1: store_model_check(m, source, db, NULL); break;
    case 2: maintenance_clean(db); break;
    case 3: CHECK_OK(tansu_checkpoint(db, &call_error), &call_error); break;
    case 4:
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        m->commits = (uint64_t)call_statistic(db, "sequence"); /* it may be a commit */
        break;
    case 5:
        txn = call_begin(db, TANSU_TXN_READ); /* of the snapshot that recovery made */
        store_model before = *m;
        for (unsigned i = 0; i < 3; i++)
            store_model_step(m, source, db);
        store_model_check(&before, source, db, txn);
        tansu_txn_abort(txn);
        break;
    default: break; /* nobody before it is closed */
    }
}

static void random_work_survives_kills(void) {
    unsigned rounds = (unsigned)random_rounds("TANSU_ROUNDS", ROUNDS_USUALLY);
    random_source source = random_start(1);
    for (unsigned round = 0; round < rounds && check_failures() == 0; round++) {
        char *folder = folder_new();
        char path[512], left[512];
        snprintf(path, sizeof path, "%s/db", folder);
        snprintf(left, sizeof left, "%s/left", folder);
        store_model m = {.most_pad = 200};
        tansu_db *db = call_open(path);
        for (uint64_t i = random_below(&source, 60); i > 0; i--)
            store_model_step(&m, &source, db);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        for (unsigned kills = 0; kills < 4 && check_failures() == 0; kills++) {
            for (uint64_t i = random_below(&source, 60); i > 0; i--)
                store_model_step(&m, &source, db);
            left_by_kill(path, left);
            call_close(db);
            folder_remove(path);
            folder_copy(left, path);
            db = call_open(path);
            CHECK_INT(m.commits, call_statistic(db, "sequence"));
            for (uint64_t i = random_below(&source, 3); i > 0; i--)
                use_first(&m, &source, db);
        }
        store_model_check(&m, &source, db, NULL);
        maintenance_clean(db);
        call_close(db);
        db = call_open(path);
        store_model_check(&m, &source, db, NULL);
        maintenance_clean(db);
        call_close(db);
        folder_end(folder);
    }
}

/* ---- A database whose answers are known ---- */

static void save(tansu_db *db, int id, int group) {
    char text[160];
    snprintf(text, sizeof text, "{'_id': %d, 'a': %d, 'b': %d, 't': ['x%d', 'y%d'], 'u': %d}", id,
             group, group, group, group, id);
    REQUIRE(CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error));
}

/* make -- in the end each of the groups 0 to GROUPS - 1 has as many documents. Two thirds of the
 * documents were there at the checkpoint, some of them in other groups; some are removed after
 * it. */
static void make(const char *path) {
    tansu_db *db = call_open(path);
    CHECK_OK(call_index(db, NULL, "c", "a", "{'a': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "b", "{'b': -1, 'a': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "t", "{'t': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "s", "{'s': 1}", "{'sparse': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "w", "{'**': 1}", NULL), &call_error);
    CHECK_OK(
        call_index(db, NULL, "c", "p", "{'u': 1, 'a': 1}", "{'partialFilter': {'a': {'$lt': 5}}}"),
        &call_error);
    for (int id = 0; id < IDS * 2 / 3; id++)
        save(db, id, id % 7 == 0 ? GROUPS : id % GROUPS);
    for (int id = IDS; id < IDS + 100; id++)
        save(db, id, 3);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    for (int id = IDS - 1; id >= 0; id--)
        if (id >= IDS * 2 / 3 || id % 7 == 0)
            save(db, id, id % GROUPS);
    for (int id = IDS; id < IDS + 200; id++) {
        char text[64];
        int removed;
        if (id >= IDS + 100)
            save(db, id, 3);
        snprintf(text, sizeof text, "{'_id': %d}", id);
        CHECK_OK(call_remove_id(db, NULL, "c", text, &removed), &call_error);
    }
    char left[512];
    snprintf(left, sizeof left, "%s.left", path);
    left_by_kill(path, left);
    call_close(db);
    folder_remove(path);
    REQUIRE(rename(left, path) == 0);
}

/* The queries, each by an index of its own. */
static const char *const queries[] = {"{'a': 4}", "{'b': 4}",   "{'t': 'y4'}",
                                      "{'u': 4}", "{'_id': 4}", "{'s': {'$exists': true}}"};
#define QUERIES (sizeof queries / sizeof *queries)

static int64_t answer(size_t query) {
    static const int64_t answers[] = {IDS / GROUPS, IDS / GROUPS, IDS / GROUPS, 1, 1, 0};
    return answers[query];
}

/* ---- Counts by indexes that are not current ---- */

/* Counts by ranges of each kind of index, of which some have entries in several intervals, and some
 * become multikey after the checkpoint. */
static const char *const counted[] = {
    "{'a': 4}",
    "{'a': {'$gt': 3, '$lte': 7}}",
    "{'a': {'$in': [1, 5, 9, 77]}}",
    "{'b': 4, 'a': {'$lt': 10}}",
    "{'b': {'$gte': 17}}",
    "{'t': 'y4'}",
    "{'t': {'$gt': 'x1', '$lt': 'x9'}}",
    "{'u': {'$lt': 100}}",
    "{'u': 2900}",
    "{'_id': {'$gte': 2500, '$lt': 3150}}",
    "{'_id': {'$in': [1, 3, 5, 3001, 9999]}}",
    "{'m': {'$gt': 2, '$lt': 5}}",
    "{'m': 3}",
    "{'s': {'$exists': true}}",
    "{'u': {'$gt': 5}, 'a': {'$lt': 3}}",
    "{'a': 4, 'u': {'$gt': 1000}}",
    "{'$or': [{'a': 4}, {'u': 5}]}",
};
#define COUNTED (sizeof counted / sizeof *counted)

/* count_window -- a count with hints, or minus the status. */
static int64_t count_window(tansu_db *db, const char *query, const char *hints) {
    bson_t *asked = bson_from_text(query), *how = bson_from_text(hints);
    int64_t count = 0;
    tansu_status status =
        tansu_count(db, NULL, "c", document_of(asked), document_of(how), &count, &call_error);
    bson_destroy(asked);
    bson_destroy(how);
    return status == TANSU_OK ? count : -(int64_t)status;
}

/* make_counted -- also with an index that becomes multikey by the last changes, in which documents
 * get and lose entries, and some change several times. */
static void make_counted(const char *path) {
    char left[530];
    make(path);
    tansu_db *db = call_open(path);
    CHECK_OK(call_index(db, NULL, "c", "m", "{'m': 1}", NULL), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    for (int id = 0; id < 300; id++) {
        char text[160];
        snprintf(text, sizeof text,
                 id == 299 ? "{'_id': %d, 'a': %d, 'u': %d, 'm': [1, 9]}"
                           : "{'_id': %d, 'a': %d, 'u': %d, 'm': 3}",
                 id, id % 5, id);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
        if (id % 3 == 0)
            save(db, id, id % 11);
        if (id % 7 == 0) {
            int removed;
            snprintf(text, sizeof text, "{'_id': %d}", id);
            CHECK_OK(call_remove_id(db, NULL, "c", text, &removed), &call_error);
        }
    }
    snprintf(left, sizeof left, "%s.left", path);
    left_by_kill(path, left);
    call_close(db);
    folder_remove(path);
    REQUIRE(rename(left, path) == 0);
}

/* waits -- whether an index of the collection is not current. */
static bool waits(tansu_db *db, uint32_t number) {
    const snapshot *v = db_inner(db)->instances.current->snapshots.head;
    const collection_state *state = snapshot_collection(v, "c");
    return state != NULL && index_waits(state, number);
}

static void a_first_count_leaves_the_index(void) {
    char *folder = folder_new();
    char path[512];
    snprintf(path, sizeof path, "%s/db", folder);
    make(path);
    tansu_db *db = call_open(path);
    CHECK(waits(db, 1));
    CHECK_INT(answer(0), call_count(db, NULL, "c", queries[0]));
    CHECK(waits(db, 1));
    CHECK_INT(answer(0), call_count(db, NULL, "c", queries[0]));
    CHECK(!waits(db, 1));
    CHECK(waits(db, 0));
    CHECK_INT(1, call_count(db, NULL, "c", "{'_id': 4}"));
    CHECK(waits(db, 0));
    CHECK_INT(answer(2), call_count(db, NULL, "c", queries[2])); /* a multikey index */
    CHECK(!waits(db, 3));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

/* The first count of an index is answered without bringing it up to date, the second one by the
 * index: both are what a table scan counts, whichever query comes first. */
static void first_counts_are_those_of_a_table_scan(void) {
    char *folder = folder_new();
    char path[512], copy[512];
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    make_counted(path);
    for (size_t first = 0; first < COUNTED && check_failures() == 0; first++) {
        tansu_db *db = call_open(left_by_kill(path, copy));
        int64_t matches = call_count(db, NULL, "c", counted[first]);
        CHECK_INT(count_window(db, counted[first], "{'$index': false}"), matches);
        CHECK_INT(matches, call_count(db, NULL, "c", counted[first]));
        for (size_t i = 0; i < COUNTED; i++)
            CHECK_INT(count_window(db, counted[i], "{'$index': false}"),
                      call_count(db, NULL, "c", counted[i]));
        maintenance_clean(db);
        call_close(db);
        db = call_open(left_by_kill(path, copy));
        int64_t left = matches > 2 ? matches - 2 : 0;
        CHECK_INT(left < 30 ? left : 30,
                  count_window(db, counted[first], "{'$skip': 2, '$max': 30}"));
        call_close(db);
    }
    folder_end(folder);
}

/* Values that differ little: in type, in the middle, in case, or only by being there. */
static const char *const alike[] = {
    "1",
    "1.0",
    "{'$numberLong': '1'}",
    "{'$numberDecimal': '1'}",
    "'1'",
    "true",
    "0",
    "-0.0",
    "{'$numberDouble': 'NaN'}",
    "null",
    "",
    "''",
    "'a'",
    "'A'",
    "'\\u00e9'",
    "{}",
    "{'a': 1}",
    "{'$date': {'$numberLong': '1'}}",
    "{'$oid': '000000000000000000000001'}",
    "{'$oid': '000000000000000000000002'}",
    "'beginning one  end of it'",
    "'beginning two  end of it'",
    "'as long as what is remembered'",
    "'as long as what is remembered.'",
    "'longer than anything that is remembered here'",
};
#define ALIKE (sizeof alike / sizeof *alike)

/* The fields, each with an index of its own. */
static const char alike_fields[] = "vxyzq";

/* save_alike -- a document with the value in each of the fields. */
static void save_alike(tansu_db *db, int id, const char *value) {
    char text[512];
    int size = snprintf(text, sizeof text, "{'_id': %d", id);
    for (const char *field = alike_fields; *value != 0 && *field != 0; field++)
        size += snprintf(text + size, sizeof text - (size_t)size, ", '%c': %s", *field, value);
    snprintf(text + size, sizeof text - (size_t)size, "}");
    REQUIRE(CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error));
}

/* make_alike -- documents that get such values after the checkpoint, in place of others. */
static void make_alike(const char *path, const char *left) {
    tansu_db *db = call_open(path);
    CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "x", "{'x': -1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "y", "{'y': 1}", "{'sparse': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "z", "{'z': 1}", "{'caseInsensitive': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "q", "{'q': 1}", "{'partialFilter': {'_id': {'$lt': 200}}}"),
             &call_error);
    for (int id = 0; id < 200; id++)
        save_alike(db, id, alike[id * 7 % ALIKE]);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    for (int id = 100; id < 400; id++)
        save_alike(db, id, alike[id * 3 % ALIKE]);
    left_by_kill(path, left);
    call_close(db);
}

static void first_counts_distinguish_values(void) {
    static const char *const conditions[] = {"%s", "{'$gte': %s}", "{'$in': [%s, 'b']}"};
    char *folder = folder_new();
    char path[512], left[512], copy[512];
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(left, sizeof left, "%s/left", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    make_alike(path, left);
    tansu_db *db = call_open(left_by_kill(left, copy));
    for (const char *field = alike_fields; *field != 0; field++) {
        char query[64];
        snprintf(query, sizeof query, "{'%c': {'$gte': {'$minKey': 1}}}", *field);
        CHECK_INT(count_window(db, query, "{'$index': false}"), call_count(db, NULL, "c", query));
    }
    call_close(db);
    for (size_t i = 0; i < ALIKE * 3 && check_failures() == 0; i++) {
        const char *value = *alike[i / 3] == 0 ? "{'$exists': false}" : alike[i / 3];
        if (*alike[i / 3] == 0 && i % 3 != 0)
            continue;
        db = call_open(left_by_kill(left, copy));
        for (const char *field = alike_fields; *field != 0; field++) {
            char condition[128], query[256];
            snprintf(condition, sizeof condition, conditions[i % 3], value);
            snprintf(query, sizeof query,
                     *field == 'q' ? "{'%c': %s, '_id': {'$lt': 200}}" : "{'%c': %s}", *field,
                     condition);
            int64_t matches = call_count(db, NULL, "c", query);
            if (!CHECK_INT(count_window(db, query, "{'$index': false}"), matches))
                fprintf(stderr, "%s\n", query);
        }
        call_close(db);
    }
    folder_end(folder);
}

/* ---- Threads ---- */

typedef struct reader {
    tansu_db *db;
    pthread_barrier_t *start;
    size_t first; /* query */
    int64_t wrong;
} reader;

/* read_all -- asks all queries, beginning with another one than other threads. */
static void *read_all(void *context) {
    reader *r = context;
    pthread_barrier_wait(r->start);
    for (size_t i = 0; i < QUERIES; i++) {
        size_t query = (r->first + i) % QUERIES;
        r->wrong += call_count(r->db, NULL, "c", queries[query]) != answer(query);
    }
    return NULL;
}

/* write_some -- saves documents as they are, and one in a collection of its own. */
static void *write_some(void *context) {
    reader *r = context;
    pthread_barrier_wait(r->start);
    tansu_error error;
    for (int id = 0; id < 40; id++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(100000 + id), "a", BCON_INT32(1000), "u",
                               BCON_INT32(100000 + id));
        tansu_document d = document_of(doc);
        r->wrong += tansu_save(r->db, NULL, id == 0 ? "d" : "c", &d, 1, TANSU_SAVE, NULL, &error) !=
                    TANSU_OK;
        bson_destroy(doc);
    }
    return NULL;
}

static void many_threads_use_the_indexes_first(void) {
    char *folder = folder_new();
    char path[512], copy[512];
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    make(path);
    random_source source = random_start(2);
    for (unsigned round = 0; round < 8; round++) {
        tansu_db *db = call_open(left_by_kill(path, copy));
        bool writes = random_chance(&source, 60);
        enum { THREADS = 5 };
        reader readers[THREADS];
        pthread_t threads[THREADS];
        pthread_barrier_t start;
        REQUIRE(pthread_barrier_init(&start, NULL, THREADS) == 0);
        for (unsigned i = 0; i < THREADS; i++) {
            readers[i] = (reader){
                .db = db, .start = &start, .first = (size_t)random_below(&source, QUERIES)};
            REQUIRE(pthread_create(&threads[i], NULL, i == 0 && writes ? write_some : read_all,
                                   &readers[i]) == 0);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_INT(0, readers[i].wrong);
        }
        pthread_barrier_destroy(&start);
        maintenance_clean(db);
        call_close(db);
    }
    folder_end(folder);
}

/* ---- Opening read-only ---- */

static void readers_see_the_backlog(void) {
    char *folder = folder_new();
    char path[512];
    snprintf(path, sizeof path, "%s/db", folder);
    make(path);
    for (unsigned allow_writer = 0; allow_writer < 2; allow_writer++) {
        tansu_options options = call_options(path);
        options.read_only = 1;
        options.allow_writer = (int)allow_writer;
        tansu_db *db = call_open_with(&options);
        for (size_t i = 0; i < QUERIES; i++)
            CHECK_INT(answer(i), call_count(db, NULL, "c", queries[i]));
        CHECK_INT(IDS, call_count(db, NULL, "c", "{}"));
        maintenance_clean(db);
        call_close(db);
    }
    folder_end(folder);
}

/* ---- Faults ---- */

/* open_with_faults -- so that file calls can be made to fail. */
static tansu_db *open_with_faults(const char *path) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, &fault_fs, &engine_query_hooks, &db, &call_error),
                     &call_error));
    return db;
}

/* fails_at -- the first use of an index in which a call fails; false when there were fewer. */
static bool fails_at(const char *path, fault_kind kind, unsigned nth, size_t query) {
    tansu_db *db = open_with_faults(path);
    bson_t *asked = bson_from_text(queries[query]);
    int64_t count = 0;
    fault_start(kind, nth, false, EIO);
    tansu_status status =
        tansu_count(db, NULL, "c", document_of(asked), TANSU_NO_DOCUMENT, &count, &call_error);
    bool occurred = fault_occurred();
    fault_stop();
    bson_destroy(asked);
    if (status == TANSU_OK)
        CHECK_INT(answer(query), count);
    else
        CHECK_INT(kind == FAULT_MEMORY ? TANSU_E_MEMORY : TANSU_E_IO, status);
    /* It was not changed by what failed, and can be used. */
    for (size_t i = 0; i < QUERIES; i++)
        CHECK_INT(answer((query + i) % QUERIES),
                  call_count(db, NULL, "c", queries[(query + i) % QUERIES]));
    maintenance_clean(db);
    save(db, 4, 4);
    CHECK_INT(answer(0), call_count(db, NULL, "c", queries[0]));
    call_close(db);
    return occurred;
}

static void a_first_use_that_fails_can_be_repeated(void) {
    char *folder = folder_new();
    char path[512], copy[512];
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    make(path);
    for (size_t query = 0; query < QUERIES && check_failures() == 0; query++) {
        fault_kind kinds[] = {FAULT_MEMORY, FAULT_FILES};
        for (size_t k = 0; k < 2; k++) {
            unsigned nth = 1;
            while (fails_at(left_by_kill(path, copy), kinds[k], nth, query))
                nth += 1 + nth / 2;
            CHECK(nth > 1 || (kinds[k] == FAULT_MEMORY && !fault_has_memory()));
        }
    }
    folder_end(folder);
}

int main(void) {
    RUN(random_work_survives_kills);
    RUN(a_first_count_leaves_the_index);
    RUN(first_counts_are_those_of_a_table_scan);
    RUN(first_counts_distinguish_values);
    RUN(many_threads_use_the_indexes_first);
    RUN(readers_see_the_backlog);
    RUN(a_first_use_that_fails_can_be_repeated);
    return check_finish();
}
