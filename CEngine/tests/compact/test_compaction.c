/*
 * test_compaction.c -- compaction reclaims space and changes nothing else: contents, indexes and
 * held snapshots stay as they were, in every kind of store, whatever happens before and meanwhile.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"

#include <stdlib.h>
#include <string.h>

/* save_padded -- documents {_id, n, pad} with ids from `from` on. */
static void save_padded(tansu_db *db, const char *collection, int from, int count, int n,
                        size_t pad) {
    uint8_t *filling = calloc(1, pad + 1);
    REQUIRE(filling != NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < count; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", from + i);
        BSON_APPEND_INT32(&doc, "n", n + i);
        BSON_APPEND_BINARY(&doc, "pad", BSON_SUBTYPE_BINARY, filling, (uint32_t)pad);
        CHECK_OK(call_save_bson(db, txn, collection, TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    free(filling);
}

/* compact -- on demand; a number of its report. */
static int64_t compact(tansu_db *db, const char *field) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    int64_t number = -1;
    if (CHECK_OK(tansu_compact(db, NULL, NULL, &report, &call_error), &call_error)) {
        bson_t view;
        bson_iter_t iter;
        REQUIRE(bson_init_static(&view, report.data, report.size));
        if (CHECK(bson_iter_init_find(&iter, &view, field)))
            number = bson_iter_int64(&iter);
    }
    tansu_buffer_free(&report);
    return number;
}

/* forget_index -- makes the next opening read the whole log. */
static void forget_index(const char *folder) {
    folder_remove(folder_join(folder, "index"));
}

/* ---- Space is reclaimed ---- */

/* fill_and_thin -- many documents, of which few stay. */
static void fill_and_thin(tansu_db *db) {
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < 40; i++)
        save_padded(db, "c", i * 500, 500, i * 500, 400);
    int64_t removed;
    CHECK_OK(call_remove(db, NULL, "c", "{'n': {'$gte': 1000}}", &removed), &call_error);
    CHECK_INT(19000, removed);
}

/* check_thin -- what fill_and_thin() has left. */
static void check_thin(tansu_db *db) {
    CHECK_INT(1000, call_count(db, NULL, "c", "{}"));
    CHECK_INT(1000, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'n': 999}"));
    CHECK_INT(1, call_count(db, NULL, "c", "{'_id': 17}"));
    CHECK_INT(0, call_count(db, NULL, "c", "{'n': 1000}"));
}

static void space_of_removed_documents_is_reclaimed(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    fill_and_thin(db);
    uint64_t before = log_size(folder);
    CHECK(call_statistic(db, "deadBytes") > 7000000);
    CHECK(compact(db, "records") >= 19000 * 2);
    uint64_t after = log_size(folder);
    CHECK(before > 8000000 && after < 900000);
    check_note("%llu bytes of log became %llu", (unsigned long long)before,
               (unsigned long long)after);
    CHECK(call_statistic(db, "logBytes") == (int64_t)after);
    CHECK(file_size(folder_join(folder, "log/reserve")) < after); /* it has become smaller, too */
    CHECK(call_statistic(db, "deadBytes") < 100000);
    CHECK(call_statistic(db, "compactions") > 0);
    check_thin(db);
    CHECK_OK(call_save(db, NULL, "late", TANSU_INSERT, "{'_id': 1, 'n': -1}"), &call_error);
    call_close(db);
    for (int again = 0; again < 2; again++) {
        db = call_open(folder);
        check_thin(db);
        CHECK_INT(1, call_count(db, NULL, "late", "{'n': -1}"));
        call_close(db);
        forget_index(folder);
    }
    folder_end(folder);
}

/* replace_meanwhile -- a progress function: once something is copied, replaces and removes
 * documents. */
static int replace_meanwhile(void *context, uint64_t done, uint64_t total) {
    tansu_db **db = context;
    (void)total;
    if (*db == NULL || done == 0)
        return 1;
    int64_t removed;
    save_padded(*db, "c", 0, 900, 50000, 10);
    CHECK_OK(call_remove(*db, NULL, "c", "{'n': {'$lt': 1000}}", &removed), &call_error);
    CHECK_INT(100, removed);
    *db = NULL;
    return 1;
}

/* What was written after a record was copied wins over the copy. */
static void documents_changed_during_a_compaction_keep_their_newest_version(void) {
    for (int stored = 0; stored < 2; stored++) {
        char *folder = stored ? folder_new() : NULL;
        tansu_db *db = call_open(folder), *once = db;
        fill_and_thin(db);
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        CHECK_OK(tansu_compact(db, replace_meanwhile, &once, NULL, &call_error), &call_error);
        CHECK(once == NULL);
        for (int reopened = 0; reopened <= stored; reopened++) {
            CHECK_INT(900, call_count(db, NULL, "c", "{}"));
            CHECK_INT(0, call_count(db, NULL, "c", "{'n': {'$lt': 50000}}"));
            CHECK_INT(900, call_count(db, NULL, "c", "{'n': {'$gte': 50000}}"));
            CHECK_INT(900, call_count(db, NULL, "c", "{'_id': {'$lt': 900}}"));
            const char *found = call_get(db, NULL, "c", "{'_id': 7}");
            CHECK(strstr(found, "\"n\" : 50007,") != NULL);
            CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", "{'_id': 950}"));
            CHECK_OK(maintenance_verify(db), &call_error);
            if (reopened < stored) {
                call_close(db);
                db = call_open(folder);
            }
        }
        call_close(db);
        if (stored)
            folder_end(folder);
    }
}

static void memory_stores_reclaim_space_as_well(void) {
    tansu_db *db = call_open(NULL);
    fill_and_thin(db);
    int64_t before = call_statistic(db, "logBytes");
    CHECK(compact(db, "bytesAfter") < before / 2);
    CHECK(call_statistic(db, "logBytes") < before / 2);
    check_thin(db);
    call_close(db);
}

static void a_second_compaction_finds_nothing_to_do(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    fill_and_thin(db);
    CHECK(compact(db, "segments") > 0);
    CHECK_INT(0, compact(db, "segments"));
    CHECK_INT(0, compact(db, "segments"));
    call_close(db);
    db = call_open(folder);
    CHECK_INT(0, compact(db, "segments"));
    call_close(db);
    folder_end(folder);
}

static void space_of_a_dropped_collection_is_reclaimed(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    save_padded(db, "gone", 0, 4000, 0, 400);
    save_padded(db, "stays", 0, 10, 0, 400);
    CHECK_OK(tansu_collection_drop(db, NULL, "gone", &call_error), &call_error);
    compact(db, "records");
    CHECK(log_size(folder) < 400000); /* the head alone has 256 KiB */
    for (int again = 0; again < 2; again++) {
        CHECK_INT(10, call_count(db, NULL, "stays", "{}"));
        CHECK_INT(again == 0 ? 0 : 5, call_count(db, NULL, "gone", "{}"));
        save_padded(db, "gone", 0, 5, 0, 10);
        CHECK_INT(5, call_count(db, NULL, "gone", "{}"));
        call_close(db);
        forget_index(folder);
        db = call_open(folder);
        CHECK_INT(5, call_count(db, NULL, "gone", "{}"));
    }
    call_close(db);
    folder_end(folder);
}

static void the_block_store_shrinks(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "m", "{'n': -1, '_id': 1}", NULL), &call_error);
    for (int i = 0; i < 100; i++)
        save_padded(db, "c", i * 1000, 1000, i * 1000, 10);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'n': {'$gte': 1000}}", NULL), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    int64_t before = call_statistic(db, "indexFileBytes");
    compact(db, "records");
    CHECK(call_statistic(db, "indexFileBytes") < before / 2);
    CHECK_INT(1000, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    save_padded(db, "c", 0, 1000, 5, 10);
    call_close(db);
    db = call_open(folder);
    CHECK_INT(995, call_count(db, NULL, "c", "{'n': {'$gte': 10}}"));
    call_close(db);
    CHECK(!file_exists(folder_join(folder, "index/blocks.tch.new")));
    folder_end(folder);
}

/* ---- Readers keep their snapshot ---- */

static void open_cursors_and_transactions_see_what_was_there(void) {
    for (int memory = 0; memory < 2; memory++) {
        char *folder = folder_new();
        tansu_db *db = call_open(memory ? NULL : folder);
        for (int i = 0; i < 10; i++)
            save_padded(db, "c", i * 500, 500, i * 500, 400);
        tansu_txn *held = call_begin(db, TANSU_TXN_READ);
        tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
        CHECK(call_next(cursor)[0] == '{');
        for (int round = 0; round < 3; round++) {
            CHECK_OK(call_remove(db, NULL, "c",
                                 round == 0   ? "{'n': {'$gte': 3000}}"
                                 : round == 1 ? "{'n': {'$lt': 1000}}"
                                              : "{}",
                                 NULL),
                     &call_error);
            compact(db, "records");
            CHECK_INT(5000, call_count(db, held, "c", "{}"));
            CHECK_INT(5000, call_count(db, held, "c", "{'n': {'$gte': 0}}"));
        }
        CHECK_INT(0, call_count(db, NULL, "c", "{}"));
        int64_t seen = 1;
        while (call_next(cursor)[0] == '{')
            seen++;
        CHECK_INT(5000, seen);
        tansu_cursor_close(cursor);
        tansu_txn_abort(held);
        /* Deletions that a reader needed can go now. */
        save_padded(db, "c", 0, 1, 0, 1);
        compact(db, "records");
        if (!memory)
            CHECK(log_size(folder) < 400000);
        call_close(db);
        folder_end(folder);
    }
}

/* ---- Random work ---- */

#define HELD 4

typedef struct held_moment {
    tansu_txn *txn;
    store_model then;
} held_moment;

/* follow_sequence -- a compaction is a commit that the model knows nothing of. */
static void follow_sequence(store_model *m, tansu_db *db) {
    m->commits = (uint64_t)call_statistic(db, "sequence");
}

/* let_go -- ends a held snapshot, with a last look. */
static void let_go(held_moment *h, random_source *source, tansu_db *db) {
    if (h->txn == NULL)
        return;
    store_model_check(&h->then, source, db, h->txn);
    tansu_txn_abort(h->txn);
    h->txn = NULL;
}

/* random_work -- a store's life: random steps, compactions, held snapshots, openings. */
static void random_work(const char *folder, uint64_t stream, int steps) {
    random_source source = random_start(stream);
    static store_model m;
    static held_moment held[HELD];
    m = (store_model){.most_pad = 3000};
    tansu_options options = call_options(folder);
    options.checkpoint_bytes = 200000;
    options.index_cache_bytes = random_chance(&source, 50) ? 1 : 1 << 20;
    tansu_db *db = call_open_with(&options);
    int compactions = 0;
    for (int i = 0; i < steps && check_failures() == 0; i++) {
        store_model_step(&m, &source, db);
        uint64_t what = random_below(&source, 400);
        held_moment *h = &held[random_below(&source, HELD)];
        if (what < 4) {
            compact(db, "records");
            follow_sequence(&m, db);
            compactions++;
            store_model_check(&m, &source, db, NULL);
        } else if (what < 20) {
            let_go(h, &source, db);
            h->txn = call_begin(db, TANSU_TXN_READ);
            h->then = m;
        } else if (what < 30) {
            let_go(h, &source, db);
        } else if (what == 30 && folder != NULL) {
            for (int k = 0; k < HELD; k++)
                let_go(&held[k], &source, db);
            call_close(db);
            if (random_chance(&source, 60))
                forget_index(folder);
            if (random_chance(&source, 30)) {
                options.read_only = 1;
                db = call_open_with(&options);
                store_model_check(&m, &source, db, NULL);
                call_close(db);
                options.read_only = 0;
            }
            db = call_open_with(&options);
            store_model_check(&m, &source, db, NULL);
        }
    }
    for (int k = 0; k < HELD; k++)
        let_go(&held[k], &source, db);
    store_model_check(&m, &source, db, NULL);
    call_close(db);
    check_note("%s: %d compactions", folder == NULL ? "memory" : "folder", compactions);
}

static void random_work_in_memory(void) {
    random_work(NULL, 1, 8000);
}

static void random_work_in_folders(void) {
    for (uint64_t i = 0; i < 4; i++) {
        char *folder = folder_new();
        random_work(folder, 10 + i, 4000);
        folder_end(folder);
    }
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(space_of_removed_documents_is_reclaimed);
    RUN(documents_changed_during_a_compaction_keep_their_newest_version);
    RUN(memory_stores_reclaim_space_as_well);
    RUN(a_second_compaction_finds_nothing_to_do);
    RUN(space_of_a_dropped_collection_is_reclaimed);
    RUN(the_block_store_shrinks);
    RUN(open_cursors_and_transactions_see_what_was_there);
    RUN(random_work_in_memory);
    RUN(random_work_in_folders);
    return check_finish();
}
