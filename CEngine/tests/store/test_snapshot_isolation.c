/*
 * test_snapshot_isolation.c -- readers that hold a snapshot while a writer changes, drops and
 * creates, checkpoints run and blocks are evicted: alone, step by step, and as many threads at
 * once.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/timing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* small_cache -- options under which much happens: checkpoints often, hardly a block in memory. */
static tansu_options small_cache(const char *path) {
    tansu_options options = call_options(path);
    options.checkpoint_bytes = 30000;
    options.index_cache_bytes = 1;
    return options;
}

/* ---- Step by step ---- */

#define HELD 6

static void read_transactions_keep_their_snapshot(void) {
    char *folder = folder_new();
    random_source source = random_start(1);
    tansu_options options = small_cache(folder);
    tansu_db *db = call_open_with(&options);
    store_model m = {.most_pad = 3000};
    store_model *expected = calloc(HELD, sizeof *expected);
    REQUIRE(expected != NULL);
    tansu_txn *held[HELD] = {NULL};
    double until = timing_now() + 2.0;
    uint64_t looks = 0;
    while (timing_now() < until && check_failures() == 0) {
        for (uint64_t steps = random_below(&source, 40); steps > 0; steps--)
            store_model_step(&m, &source, db);
        if (random_chance(&source, 20))
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        uint64_t i = random_below(&source, HELD);
        if (held[i] == NULL) {
            held[i] = call_begin(db, TANSU_TXN_READ);
            expected[i] = m;
        } else {
            store_model_check(&expected[i], &source, db, held[i]);
            looks++;
            if (random_chance(&source, 50)) {
                tansu_txn_abort(held[i]);
                held[i] = NULL;
            }
        }
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i] != NULL)
            store_model_check(&expected[i], &source, db, held[i]);
        tansu_txn_abort(held[i]);
    }
    store_model_check(&m, &source, db, NULL);
    check_note("%llu looks at held snapshots, %llu commits", (unsigned long long)looks,
               (unsigned long long)m.commits);
    CHECK(looks > 0);
    call_close(db);
    free(expected);
    folder_end(folder);
}

static void cursors_keep_their_snapshot(void) {
    static const char *const queries[] = {"{}", "{'v': {'$gte': 0}}", "{'v': 1}"};
    static const char *const hints[] = {NULL, "{'$orderby': {'v': 1}}", "{'$orderby': {'v': -1}}",
                                        "{'$orderby': {'s': 1}}"};
    char *folder = folder_new();
    tansu_options options = small_cache(folder);
    for (size_t q = 0; q < 3; q++) {
        for (size_t h = 0; h < 4; h++) {
            tansu_db *db = call_open_with(&options);
            CHECK_OK(call_index(db, NULL, "c", "v", "{'v': 1}", NULL), &call_error);
            for (int i = 0; i < 3000; i++) {
                bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "v", BCON_INT32(1), "s", "before");
                CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
                bson_destroy(doc);
            }
            tansu_cursor *cursor = call_cursor(db, NULL, "c", queries[q], hints[h]);
            int seen = 0;
            tansu_document document;
            tansu_status status;
            while ((status = tansu_cursor_next(cursor, &document, &call_error)) == TANSU_OK) {
                bson_t doc;
                bson_iter_t iter;
                REQUIRE(bson_init_static(&doc, document.data, document.size));
                CHECK(bson_iter_init_find(&iter, &doc, "s") &&
                      strcmp(bson_iter_utf8(&iter, NULL), "before") == 0);
                seen++;
                if (seen == 10)
                    CHECK_OK(call_remove(db, NULL, "c", "{'_id': {'$gte': 2000}}", NULL),
                             &call_error);
                if (seen == 20)
                    for (int i = 0; i < 500; i++) {
                        bson_t *after =
                            BCON_NEW("_id", BCON_INT32(i), "v", BCON_INT32(i), "s", "after");
                        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, after), &call_error);
                        bson_destroy(after);
                    }
                if (seen == 30)
                    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
                if (seen == 40)
                    CHECK_OK(tansu_index_drop(db, NULL, "c", "v", NULL), NULL);
                if (seen == 50)
                    CHECK_OK(tansu_collection_drop(db, NULL, "c", NULL), NULL);
                if (seen == 60) {
                    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 's': 'other'}"),
                             &call_error);
                    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
                }
            }
            CHECK_STATUS(TANSU_DONE, status);
            CHECK_INT(3000, seen);
            tansu_cursor_close(cursor);
            CHECK_INT(1, call_count(db, NULL, "c", "{}"));
            CHECK_OK(tansu_collection_drop(db, NULL, "c", NULL), NULL);
            call_close(db);
        }
    }
    folder_end(folder);
}

/* ---- Many threads ---- */

#define ACCOUNTS 40
#define TOTAL (ACCOUNTS * 100)

/* What the threads share. */
typedef struct bank {
    tansu_db *db;
    uint64_t seed;
    atomic_bool stop;
    atomic_uint_fast64_t transfers;
    atomic_uint_fast64_t looks;
} bank;

/* save_account -- {_id, balance, half}, where `half` has an index. */
static void save_account(bank *b, tansu_txn *txn, int id, int balance) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "balance", BCON_INT32(balance), "half",
                           BCON_INT32(balance / 2));
    tansu_document document = document_of(doc);
    CHECK_OK(tansu_save(b->db, txn, "accounts", &document, 1, TANSU_SAVE, NULL, NULL), NULL);
    bson_destroy(doc);
}

/* balance_of -- of one document. */
static int balance_of(const void *data, size_t size) {
    bson_t doc;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&doc, data, size) && bson_iter_init_find(&iter, &doc, "balance"));
    return bson_iter_int32(&iter);
}

/* read_balance -- of one account. */
static int read_balance(bank *b, tansu_txn *txn, int id) {
    bson_t *key = BCON_NEW("_id", BCON_INT32(id));
    tansu_buffer result = TANSU_BUFFER_INIT;
    int balance = 0;
    if (CHECK_OK(tansu_get(b->db, txn, "accounts", document_of(key), &result, NULL), NULL))
        balance = balance_of(result.data, result.size);
    tansu_buffer_free(&result);
    bson_destroy(key);
    return balance;
}

/* transfer -- moves money until asked to stop; now and then an account is closed and opened
 * again, an index made and dropped, a transfer taken back. */
static void *transfer(void *context) {
    bank *b = context;
    random_source source = random_from(b->seed + 1000);
    while (!b->stop) {
        tansu_txn *txn = NULL;
        tansu_durability durability =
            random_chance(&source, 10) ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
        if (!CHECK_OK(tansu_txn_begin(b->db, TANSU_TXN_WRITE, durability, &txn, NULL), NULL))
            return NULL;
        int from = (int)random_below(&source, ACCOUNTS), to = (int)random_below(&source, ACCOUNTS);
        int sum = (int)random_below(&source, 10);
        if (random_chance(&source, 5)) {
            bson_t *key = BCON_NEW("_id", BCON_INT32(from));
            int balance = read_balance(b, txn, from);
            CHECK_OK(tansu_remove_id(b->db, txn, "accounts", document_of(key), NULL, NULL), NULL);
            bson_destroy(key);
            save_account(b, txn, from, balance);
        }
        if (random_chance(&source, 2)) {
            bson_t *keys = BCON_NEW("balance", BCON_INT32(1));
            CHECK_OK(tansu_index_create(b->db, txn, "accounts", "balance", document_of(keys),
                                        TANSU_NO_DOCUMENT, NULL, NULL, NULL),
                     NULL);
            bson_destroy(keys);
        } else if (random_chance(&source, 2)) {
            tansu_index_drop(b->db, txn, "accounts", "balance", NULL);
        }
        if (from != to) {
            save_account(b, txn, from, read_balance(b, txn, from) - sum);
            save_account(b, txn, to, read_balance(b, txn, to) + sum);
        }
        if (random_chance(&source, 10)) {
            tansu_txn_abort(txn);
            continue;
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, NULL), NULL);
        b->transfers++;
    }
    return NULL;
}

/* sum_of -- of all accounts that a query gives; *count: how many. */
static int64_t sum_of(bank *b, tansu_txn *txn, const bson_t *query, const bson_t *hints,
                      int *count) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    int64_t sum = 0;
    *count = 0;
    tansu_status status =
        tansu_find(b->db, txn, "accounts", document_of(query), document_of(hints), &cursor, NULL);
    while (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, NULL);
        if (status == TANSU_OK) {
            sum += balance_of(document.data, document.size);
            *count += 1;
        }
    }
    CHECK_STATUS(TANSU_DONE, status);
    tansu_cursor_close(cursor);
    return sum;
}

/* audit -- the money is all there, however one looks. */
static void *audit(void *context) {
    bank *b = context;
    bson_t *all = bson_new(), *plain = bson_new();
    bson_t *by_index = BCON_NEW("half", "{", "$gte", BCON_INT32(-1000000), "}");
    bson_t *by_balance = BCON_NEW("balance", "{", "$gte", BCON_INT32(-1000000), "}");
    bson_t *ordered = BCON_NEW("$orderby", "{", "half", BCON_INT32(-1), "}");
    while (!b->stop) {
        int count;
        CHECK_INT(TOTAL, sum_of(b, NULL, all, plain, &count));
        CHECK_INT(ACCOUNTS, count);
        CHECK_INT(TOTAL, sum_of(b, NULL, by_index, plain, &count));
        CHECK_INT(ACCOUNTS, count);
        tansu_txn *txn = NULL;
        if (!CHECK_OK(tansu_txn_begin(b->db, TANSU_TXN_READ, 0, &txn, NULL), NULL))
            break;
        int64_t sum = 0;
        for (int i = 0; i < ACCOUNTS; i++)
            sum += read_balance(b, txn, i);
        CHECK_INT(TOTAL, sum);
        CHECK_INT(TOTAL, sum_of(b, txn, by_balance, ordered, &count));
        CHECK_INT(ACCOUNTS, count);
        int64_t counted = 0;
        CHECK_OK(tansu_count(b->db, txn, "accounts", document_of(by_index), TANSU_NO_DOCUMENT,
                             &counted, NULL),
                 NULL);
        CHECK_INT(ACCOUNTS, counted);
        tansu_txn_abort(txn);
        b->looks++;
    }
    bson_destroy(all);
    bson_destroy(plain);
    bson_destroy(by_index);
    bson_destroy(by_balance);
    bson_destroy(ordered);
    return NULL;
}

/* disturb -- checkpoints, statistics, lists and syncs, one after the other. */
static void *disturb(void *context) {
    bank *b = context;
    tansu_buffer result = TANSU_BUFFER_INIT;
    while (!b->stop) {
        CHECK_OK(tansu_checkpoint(b->db, NULL), NULL);
        CHECK_OK(tansu_stats(b->db, &result, NULL), NULL);
        CHECK_OK(tansu_collection_list(b->db, NULL, &result, NULL), NULL);
        CHECK_OK(tansu_index_list(b->db, NULL, "accounts", &result, NULL), NULL);
        CHECK_OK(tansu_sync(b->db, NULL), NULL);
    }
    tansu_buffer_free(&result);
    return NULL;
}

/* run_bank -- all threads for a while on one store, and a last look. */
static void run_bank(const char *path, double seconds) {
    bank b = {.seed = random_seed()};
    tansu_options options = small_cache(path);
    options.compaction_percent = 30;
    options.compaction_share = 100;
    b.db = call_open_with(&options);
    CHECK_OK(call_index(b.db, NULL, "accounts", "half", "{'half': 1}", NULL), &call_error);
    tansu_txn *txn = call_begin(b.db, TANSU_TXN_WRITE);
    for (int i = 0; i < ACCOUNTS; i++)
        save_account(&b, txn, i, 100);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    static void *(*const work[])(void *) = {transfer, transfer, audit, audit, audit, disturb};
    pthread_t threads[sizeof work / sizeof work[0]];
    size_t count = sizeof work / sizeof work[0];
    for (size_t i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work[i], &b) == 0);
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
              NULL);
    b.stop = true;
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    check_note("%s: %llu transfers, %llu looks", path == NULL ? "memory" : "folder",
               (unsigned long long)b.transfers, (unsigned long long)b.looks);
    CHECK(b.transfers > 0 && b.looks > 0);
    call_close(b.db);
}

static void money_is_neither_made_nor_lost_in_memory(void) {
    run_bank(NULL, 1.0);
}

static void money_is_neither_made_nor_lost_in_a_folder(void) {
    char *folder = folder_new();
    run_bank(folder, 2.5);
    tansu_db *db = call_open(folder);
    bank b = {.db = db};
    int64_t sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += read_balance(&b, NULL, i);
    CHECK_INT(TOTAL, sum);
    CHECK_INT(ACCOUNTS, call_count(db, NULL, "accounts", "{}"));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(read_transactions_keep_their_snapshot);
    RUN(cursors_keep_their_snapshot);
    RUN(money_is_neither_made_nor_lost_in_memory);
    RUN(money_is_neither_made_nor_lost_in_a_folder);
    return check_finish();
}
