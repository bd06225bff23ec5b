/*
 * test_verify.c -- verify finds nothing in whatever a database went through, everything that is
 * wrong, and can be watched, stopped and run concurrently with writers.
 */
#include "api/handles.h"
#include "log/scan.h"
#include "store/write_txn/write_txn.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/random/random.h"
#include "support/workload/sample_database.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nothing wrong ---- */

static void whatever_was_done_verifies(void) {
    for (int memory = 0; memory < 2; memory++) {
        random_source random = random_start((uint64_t)memory);
        char *folder = folder_new();
        tansu_options options = call_options(memory != 0 ? NULL : folder);
        options.index_cache_bytes = 64 * 1024;
        tansu_db *db = call_open_with(&options);
        store_model m = {.most_pad = 600};
        for (int i = 0; i < 900 && check_failures() == 0; i++) {
            store_model_step(&m, &random, db);
            if (i % 150 == 77)
                maintenance_clean(db);
            if (memory == 0 && i % 200 == 199)
                CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
            if (memory == 0 && i % 300 == 299) {
                call_close(db);
                if (i > 600)
                    folder_remove(folder_join(folder, "index"));
                db = call_open_with(&options);
                maintenance_clean(db);
            }
        }
        maintenance_clean(db);
        uint64_t documents = 0;
        for (unsigned i = 0; i < STORE_MODEL_COLLECTIONS; i++)
            documents += store_model_count(&m, i);
        CHECK_INT(documents, maintenance_number("documents"));
        CHECK_INT(m.commits, maintenance_number("frames"));
        CHECK(maintenance_number("records") >= maintenance_number("frames"));
        CHECK(maintenance_number("entries") >= (int64_t)documents);
        CHECK(maintenance_contains("\"ok\": true"));
        call_close(db);
        folder_end(folder);
    }
}

static void an_empty_database_verifies(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    maintenance_clean(db);
    CHECK_INT(0, maintenance_number("segments"));
    CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
    maintenance_clean(db);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_verify(NULL, NULL, NULL, NULL, &call_error));
    call_close(db);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    db = call_open_with(&options);
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Progress ---- */

typedef struct watch {
    uint64_t calls, done, total, stop_at;
    bool backwards;
} watch;

static int watching(void *context, uint64_t done, uint64_t total) {
    watch *w = context;
    w->calls++;
    w->backwards = w->backwards || done < w->done || done > total;
    w->done = done;
    w->total = total;
    return w->calls != w->stop_at;
}

static void progress_is_reported_and_can_cancel(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    watch all = {.calls = 0};
    CHECK_OK(tansu_verify(db, watching, &all, NULL, &call_error), &call_error);
    CHECK(all.calls > 2);
    CHECK(!all.backwards);
    CHECK_INT(all.total, all.done);
    for (uint64_t i = 1; i <= all.calls; i++) {
        watch some = {.stop_at = i};
        CHECK_STATUS(TANSU_E_CANCELLED, tansu_verify(db, watching, &some, NULL, &call_error));
        CHECK_INT(i, some.calls);
    }
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Concurrently with writers ---- */

typedef struct beside {
    tansu_db *db;
    atomic_bool stop;
    atomic_uint whole; /* verifications that came to their end */
} beside;

/* verifying -- on end; while the other thread is at it this one is asked to try again. */
static void *verifying(void *context) {
    beside *b = context;
    tansu_error error;
    while (!atomic_load(&b->stop)) {
        tansu_buffer report = TANSU_BUFFER_INIT;
        tansu_status status = tansu_verify(b->db, NULL, NULL, &report, &error);
        atomic_fetch_add(&b->whole, status == TANSU_OK);
        if (status != TANSU_E_BUSY && !CHECK_OK(status, &error) && report.size != 0) {
            tansu_buffer text = TANSU_BUFFER_INIT;
            tansu_bson_to_json((tansu_document){report.data, report.size}, 0, &text, NULL);
            check_note("    %s", (const char *)text.data);
            tansu_buffer_free(&text);
        }
        tansu_buffer_free(&report);
    }
    return NULL;
}

static void it_runs_concurrently_with_writers_and_checkpoints(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    options.checkpoint_bytes = 1 << 18;
    options.index_cache_bytes = 32 * 1024;
    beside b = {.db = call_open_with(&options)};
    pthread_t threads[2];
    REQUIRE(pthread_create(&threads[0], NULL, verifying, &b) == 0);
    REQUIRE(pthread_create(&threads[1], NULL, verifying, &b) == 0);
    random_source random = random_start(7);
    store_model m = {.most_pad = 4000};
    for (int i = 0; i < 1500 && check_failures() == 0; i++)
        store_model_step(&m, &random, b.db);
    atomic_store(&b.stop, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK(atomic_load(&b.whole) > 0);
    maintenance_clean(b.db);
    call_close(b.db);
    folder_end(folder);
}

/* ---- Wrong indexes ---- */

/* The newest version's collection, to be falsified: nothing else goes on meanwhile. */
static collection_state *state_of(tansu_db *db, const char *name) {
    database *d = db_inner(db);
    snapshot *v = snapshot_acquire(d);
    collection_state *state = (collection_state *)snapshot_collection(v, name);
    snapshot_release(d, v);
    REQUIRE(state != NULL);
    return state;
}

/* change_entry -- takes an entry out of a tree or puts one in. */
static void change_entry(tansu_db *db, tree *t, const void *key, size_t size, bool remove) {
    database *d = db_inner(db);
    retire_list retired = {0};
    tree_writer writer = {.store = d->trees, .epoch = UINT64_MAX, .retired = &retired};
    bool flag;
    CHECK_OK(remove ? tree_remove(&writer, t, key, size, &flag, &call_error)
                    : tree_insert(&writer, t, key, size, &flag, &call_error),
             &call_error);
    CHECK(flag == remove);
    retire_run(&retired); /* nobody holds an older snapshot */
}

/* first_entry -- the first entry of a tree. */
static void first_entry(tansu_db *db, const tree *t, tansu_buffer *key) {
    tree_cursor cursor;
    bool valid;
    tree_cursor_init(&cursor, db_inner(db)->trees, t);
    CHECK_OK(tree_cursor_seek_rank(&cursor, 0, &valid, &call_error), &call_error);
    REQUIRE(valid && tree_cursor_key(&cursor, key));
    tree_cursor_end(&cursor);
}

/* in_memory -- a memory store with the sample. */
static tansu_db *in_memory(void) {
    tansu_db *db = call_open(NULL);
    sample_fill(db);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'_id': -1}", "{'unique': true}"), &call_error);
    maintenance_clean(db);
    return db;
}

static void missing_and_extra_entries_are_found(void) {
    for (int which = 0; which < 3; which++) {
        static const char *const names[] = {"\"_id\"", "\"n\"", "\"u\""};
        tansu_db *db = in_memory();
        collection_state *state = state_of(db, "c");
        tree *t = which == 0 ? &state->ids : &state->indexes[which - 1].entries;
        tansu_buffer key = TANSU_BUFFER_INIT;
        first_entry(db, t, &key);

        change_entry(db, t, key.data, key.size, true);
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        CHECK(maintenance_contains("has no entry for one of its values"));
        CHECK(maintenance_contains(names[which]));
        CHECK(maintenance_contains("\"ok\": false"));
        CHECK(call_error.message[0] != 0);

        /* As many as there should be, but one of them is another document's. */
        uint8_t *tail = key.data + key.size - RID_SUFFIX_SIZE;
        uint64_t rid = suffix_rid(tail);
        uint32_t form = suffix_type_tag(tail);
        suffix_put(tail, rid ^ 1, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        CHECK(maintenance_contains("has no entry for one of its values"));
        CHECK(maintenance_contains("has an entry for a value that it does not hold"));

        /* One too many: two documents with one value in a unique index. */
        suffix_put(tail, rid, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        CHECK(maintenance_contains("has a value that another document has as well") ==
              (which != 1));
        suffix_put(tail, rid ^ 1, form);
        change_entry(db, t, key.data, key.size, true);
        maintenance_clean(db);

        /* Of a document that was never there. */
        suffix_put(tail, 999, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        CHECK(maintenance_contains("was never saved"));
        tansu_buffer_free(&key);
        call_close(db);
    }
}

static void entries_of_removed_documents_are_found(void) {
    tansu_db *db = in_memory();
    collection_state *state = state_of(db, "c");
    tansu_buffer key = TANSU_BUFFER_INIT;
    first_entry(db, &state->indexes[0].entries, &key);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 0}", NULL), &call_error);
    maintenance_clean(db);
    state = state_of(db, "c");
    change_entry(db, &state->indexes[0].entries, key.data, key.size, false);
    CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
    CHECK(maintenance_contains("does not exist and has an entry"));
    CHECK_INT(1, maintenance_number("problemCount"));
    tansu_buffer_free(&key);
    call_close(db);
}

static void wrong_counts_and_flags_are_found(void) {
    tansu_db *db = in_memory();
    collection_state *state = state_of(db, "c");
    state->count++;
    CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
    CHECK(maintenance_contains("counts 51 documents and the collection has 50"));
    state->count--;
    maintenance_clean(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': [1, 2]}"), &call_error);
    maintenance_clean(db);
    state = state_of(db, "c");
    CHECK(state->indexes[0].multikey);
    state->indexes[0].multikey = false;
    CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
    CHECK(maintenance_contains("has an array that the index does not know of"));
    call_close(db);
}

/* ---- Wrong locations ---- */

static void wrong_locations_are_found(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 7, 'n': 7, 'x': 1}"), &call_error);
    collection_state *state = state_of(db, "c");
    uint64_t good, other;
    CHECK_OK(locations_get(state->locations, 7, &good, &call_error), &call_error);
    CHECK_OK(locations_get(state->locations, 8, &other, &call_error), &call_error);
    log_pins pins = {.next = 0};
    uint64_t room;
    uint64_t older = record_previous(log_record(db_inner(db)->log, &pins, good, &room));
    const struct {
        uint64_t place;
        const char *message;
    } cases[] = {
        {other, "leads to a record of another document"},
        {good + 8, "leads to a record of another document"},
        {good | LOCATION_DELETED, "another type"},
        {(uint64_t)99 << 32 | 64, "a segment that does not exist"},
        {good | 0xFFFFFFF8u, "outside its segment"},
        {0, "is newer than the one in the location table"},
        {older, "is newer than the one in the location table"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        locations_set(state->locations, 7, cases[i].place);
        CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
        if (!CHECK(maintenance_contains(cases[i].message)))
            check_note("    case %zu: %s", i, maintenance_text());
        /* Reading is an error, too, where the place is one of this segment. */
        if (i < 2)
            CHECK_TEXT("CORRUPT", call_get(db, NULL, "c", "{'_id': 7}"));
    }
    locations_set(state->locations, 7, good);
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(whatever_was_done_verifies);
    RUN(an_empty_database_verifies);
    RUN(progress_is_reported_and_can_cancel);
    RUN(it_runs_concurrently_with_writers_and_checkpoints);
    RUN(missing_and_extra_entries_are_found);
    RUN(entries_of_removed_documents_are_found);
    RUN(wrong_counts_and_flags_are_found);
    RUN(wrong_locations_are_found);
    return check_finish();
}
