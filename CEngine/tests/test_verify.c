/*
 * test_verify.c -- verify finds nothing in whatever a database went through, everything that is wrong,
 * and can be watched, stopped and run beside writers.
 */
#include "catalog/change.h"
#include "log/walk.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"
#include "toolkit/mirror.h"
#include "toolkit/random.h"
#include "toolkit/sample.h"
#include "toolkit/upkeep.h"

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
        mirror m = {.most_pad = 600};
        for (int i = 0; i < 900 && check_failures() == 0; i++) {
            mirror_step(&m, &random, db);
            if (i % 150 == 77)
                upkeep_clean(db);
            if (memory == 0 && i % 200 == 199)
                CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
            if (memory == 0 && i % 300 == 299) {
                call_close(db);
                if (i > 600)
                    folder_remove(folder_join(folder, "index"));
                db = call_open_with(&options);
                upkeep_clean(db);
            }
        }
        upkeep_clean(db);
        uint64_t documents = 0;
        for (unsigned i = 0; i < MIRROR_COLLECTIONS; i++)
            documents += mirror_count(&m, i);
        CHECK_INT(documents, upkeep_figure("documents"));
        CHECK_INT(m.commits, upkeep_figure("frames"));
        CHECK(upkeep_figure("records") >= upkeep_figure("frames"));
        CHECK(upkeep_figure("entries") >= (int64_t)documents);
        CHECK(upkeep_tells("\"ok\": true"));
        call_close(db);
        folder_end(folder);
    }
}

static void an_empty_database_verifies(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    upkeep_clean(db);
    CHECK_INT(0, upkeep_figure("segments"));
    CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
    upkeep_clean(db);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_MISUSE, tansu_verify(NULL, NULL, NULL, NULL, &call_error));
    call_close(db);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    db = call_open_with(&options);
    upkeep_clean(db);
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

static void progress_is_told_and_can_stop_it(void) {
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
    upkeep_clean(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Beside writers ---- */

typedef struct beside {
    tansu_db *db;
    atomic_bool stop;
    atomic_uint whole; /* verifications that came to their end */
} beside;

/* verifying -- on end; while the other thread is at it this one is told to try again. */
static void *verifying(void *context) {
    beside *b = context;
    tansu_error error;
    while (!atomic_load(&b->stop)) {
        tansu_buffer report = TANSU_BUFFER_INIT;
        tansu_status status = tansu_verify(b->db, NULL, NULL, &report, &error);
        atomic_fetch_add(&b->whole, status == TANSU_OK);
        if (status != TANSU_E_BUSY && !CHECK_OK(status, &error) && report.size != 0) {
            tansu_buffer text = TANSU_BUFFER_INIT;
            tansu_bson_to_json(report.data, report.size, 0, &text, NULL);
            check_note("    %s", (const char *)text.data);
            tansu_buffer_free(&text);
        }
        tansu_buffer_free(&report);
    }
    return NULL;
}

static void it_runs_beside_writers_and_checkpoints(void) {
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
    mirror m = {.most_pad = 4000};
    for (int i = 0; i < 1500 && check_failures() == 0; i++)
        mirror_step(&m, &random, b.db);
    atomic_store(&b.stop, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK(atomic_load(&b.whole) > 0);
    upkeep_clean(b.db);
    call_close(b.db);
    folder_end(folder);
}

/* ---- Wrong indexes ---- */

/* The newest version's collection, to be falsified: nothing else goes on meanwhile. */
static collection_state *state_of(tansu_db *db, const char *name) {
    database *d = (database *)db;
    version *v = database_hold(d);
    collection_state *state = (collection_state *)version_collection(v, name);
    database_release(d, v);
    REQUIRE(state != NULL);
    return state;
}

/* change_entry -- takes an entry out of a tree or puts one in. */
static void change_entry(tansu_db *db, tree *t, const void *key, size_t size, bool remove) {
    database *d = (database *)db;
    retire_list retired = {0};
    tree_writer writer = {.store = d->trees, .epoch = UINT64_MAX, .retired = &retired};
    bool flag;
    CHECK_OK(remove ? tree_remove(&writer, t, key, size, &flag, &call_error)
                    : tree_insert(&writer, t, key, size, &flag, &call_error),
             &call_error);
    CHECK(flag == remove);
    retire_run(&retired); /* nobody holds an older version */
}

/* first_entry -- the first entry of a tree. */
static void first_entry(tansu_db *db, const tree *t, tansu_buffer *key) {
    tree_cursor cursor;
    bool valid;
    tree_cursor_init(&cursor, ((database *)db)->trees, t);
    CHECK_OK(tree_cursor_seek_rank(&cursor, 0, &valid, &call_error), &call_error);
    REQUIRE(valid && tree_cursor_key(&cursor, key));
    tree_cursor_end(&cursor);
}

/* in_memory -- a memory store with the sample. */
static tansu_db *in_memory(void) {
    tansu_db *db = call_open(NULL);
    sample_fill(db);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'_id': -1}", "{'unique': true}"), &call_error);
    upkeep_clean(db);
    return db;
}

static void entries_that_are_missing_or_too_many_are_found(void) {
    for (int which = 0; which < 3; which++) {
        static const char *const names[] = {"\"_id\"", "\"n\"", "\"u\""};
        tansu_db *db = in_memory();
        collection_state *state = state_of(db, "c");
        tree *t = which == 0 ? &state->ids : &state->indexes[which - 1].entries;
        tansu_buffer key = TANSU_BUFFER_INIT;
        first_entry(db, t, &key);

        change_entry(db, t, key.data, key.size, true);
        CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
        CHECK(upkeep_tells("has no entry for one of its values"));
        CHECK(upkeep_tells(names[which]));
        CHECK(upkeep_tells("\"ok\": false"));
        CHECK(call_error.message[0] != 0);

        /* As many as there should be, but one of them is another document's. */
        uint8_t *tail = key.data + key.size - INDEX_TAIL_SIZE;
        uint64_t docno = tail_docno(tail);
        uint32_t form = tail_form(tail);
        tail_put(tail, docno ^ 1, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
        CHECK(upkeep_tells("has no entry for one of its values"));
        CHECK(upkeep_tells("has an entry for a value that it does not hold"));

        /* One too many: two documents with one value in a unique index. */
        tail_put(tail, docno, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
        CHECK(upkeep_tells("has a value that another document has, too") == (which != 1));
        tail_put(tail, docno ^ 1, form);
        change_entry(db, t, key.data, key.size, true);
        upkeep_clean(db);

        /* Of a document that was never there. */
        tail_put(tail, 999, form);
        change_entry(db, t, key.data, key.size, false);
        CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
        CHECK(upkeep_tells("was never given out"));
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
    upkeep_clean(db);
    state = state_of(db, "c");
    change_entry(db, &state->indexes[0].entries, key.data, key.size, false);
    CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
    CHECK(upkeep_tells("is not there and has an entry"));
    CHECK_INT(1, upkeep_figure("problemCount"));
    tansu_buffer_free(&key);
    call_close(db);
}

static void wrong_counts_and_flags_are_found(void) {
    tansu_db *db = in_memory();
    collection_state *state = state_of(db, "c");
    state->count++;
    CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
    CHECK(upkeep_tells("counts 51 documents and has 50"));
    state->count--;
    upkeep_clean(db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': [1, 2]}"), &call_error);
    upkeep_clean(db);
    state = state_of(db, "c");
    CHECK(state->indexes[0].multikey);
    state->indexes[0].multikey = false;
    CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
    CHECK(upkeep_tells("has an array, of which the index does not know"));
    call_close(db);
}

/* ---- Wrong places ---- */

static void places_that_lead_astray_are_found(void) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 7, 'n': 7, 'x': 1}"), &call_error);
    collection_state *state = state_of(db, "c");
    uint64_t good, other;
    CHECK_OK(places_get(state->places, 7, &good, &call_error), &call_error);
    CHECK_OK(places_get(state->places, 8, &other, &call_error), &call_error);
    uint64_t older = log_record(((database *)db)->log, good)->previous;
    const struct {
        uint64_t place;
        const char *message;
    } cases[] = {
        {other, "leads to something else"},
        {good + 8, "leads to something else"},
        {good | PLACE_DELETED, "another type"},
        {(uint64_t)99 << 32 | 64, "a segment that is not there"},
        {good | 0xFFFFFFF8u, "outside its segment"},
        {0, "is newer than what the places say"},
        {older, "is newer than what the places say"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        places_set(state->places, 7, cases[i].place);
        CHECK_STATUS(TANSU_E_CORRUPT, upkeep_verify(db));
        if (!CHECK(upkeep_tells(cases[i].message)))
            check_note("    case %zu: %s", i, upkeep_text());
        /* Reading is an error, too, where the place is one of this segment. */
        if (i < 2)
            CHECK_TEXT("CORRUPT", call_get(db, NULL, "c", "{'_id': 7}"));
    }
    places_set(state->places, 7, good);
    upkeep_clean(db);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(whatever_was_done_verifies);
    RUN(an_empty_database_verifies);
    RUN(progress_is_told_and_can_stop_it);
    RUN(it_runs_beside_writers_and_checkpoints);
    RUN(entries_that_are_missing_or_too_many_are_found);
    RUN(entries_of_removed_documents_are_found);
    RUN(wrong_counts_and_flags_are_found);
    RUN(places_that_lead_astray_are_found);
    return check_finish();
}
