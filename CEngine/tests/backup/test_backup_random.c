/*
 * test_backup_random.c -- whatever a database has been through, a backup that was taken of it
 * restores, opens, verifies and has the same text as the database itself: random calls of all kinds
 * that write, with documents of every type, savepoints that are taken back, calls that are refused,
 * and compactions that are cancelled.
 *
 * TANSU_SEED repeats the choices of a run, TANSU_ROUNDS sets how many databases there are (6).
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random_bson.h"
#include "support/random/random_query.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_USUALLY 6
#define STEPS 25
#define SAVEPOINTS_MOST 4

static struct { unsigned backups, commits, rolled_back, refused, compactions; } tally;

static const char *const names[] = {"a", "b", "c", "Ærø"};

/* some_name -- of a collection. */
static const char *some_name(random_source *r) {
    return names[random_below(r, 4)];
}

/* may -- a call that may be refused, but not fail. */
static void may(tansu_status status) {
    tally.refused += status != TANSU_OK;
    switch (status) {
    case TANSU_E_IO:
    case TANSU_E_CORRUPT:
    case TANSU_E_SYNC_FAILED:
    case TANSU_E_FULL:
    case TANSU_E_MEMORY: CHECK_OK(status, &call_error); break;
    default: break;
    }
}

/* ---- Calls ---- */

/* save -- a document of any kind under one of few `_id`s of several types. */
static void save(random_source *r, tansu_db *db, tansu_txn *txn) {
    static const tansu_save_mode modes[] = {TANSU_SAVE, TANSU_INSERT, TANSU_REPLACE};
    bson_t *doc = random_chance(r, 50) ? random_document(r)
                                       : random_case_document(r, (int)random_below(r, 30), false);
    bson_t whole = BSON_INITIALIZER;
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, doc, "_id")) {
        if (random_chance(r, 30))
            random_append_value(r, &whole, "_id", 3, 2);
        else
            BSON_APPEND_INT32(&whole, "_id", (int32_t)random_below(r, 60));
    }
    bson_concat(&whole, doc);
    if (random_chance(r, 8)) {
        static const uint8_t filling[300000];
        BSON_APPEND_BINARY(&whole, "pad", BSON_SUBTYPE_BINARY, filling,
                           (uint32_t)random_below(r, sizeof filling));
    }
    may(call_save_bson(db, txn, some_name(r), modes[random_below(r, 3)], &whole));
    bson_destroy(&whole);
    bson_destroy(doc);
}

/* update -- some documents. */
static void update(random_source *r, tansu_db *db, tansu_txn *txn) {
    bson_t query = BSON_INITIALIZER;
    random_selector(r, &query, 1);
    bson_t *change = random_chance(r, 50)
                         ? BCON_NEW("$set", "{", "a", BCON_INT32((int)random_below(r, 9)), "}")
                         : BCON_NEW("$unset", "{", "b", BCON_INT32(1), "}", "$push", "{", "list",
                                    BCON_INT32((int)random_below(r, 9)), "}");
    may(tansu_update(db, txn, some_name(r), document_of(&query), document_of(change),
                     TANSU_NO_DOCUMENT, NULL, &call_error));
    bson_destroy(change);
    bson_destroy(&query);
}

/* drop_some -- documents that a query finds. */
static void drop_some(random_source *r, tansu_db *db, tansu_txn *txn) {
    bson_t query = BSON_INITIALIZER;
    random_selector(r, &query, 1);
    may(tansu_remove(db, txn, some_name(r), document_of(&query), TANSU_NO_DOCUMENT, NULL,
                     &call_error));
    bson_destroy(&query);
}

/* index_some -- makes an index, or drops one. */
static void index_some(random_source *r, tansu_db *db, tansu_txn *txn) {
    static const char *const index_names[] = {"i", "j", "k"};
    const char *name = index_names[random_below(r, 3)];
    if (random_chance(r, 40)) {
        may(tansu_index_drop(db, txn, some_name(r), name, &call_error));
        return;
    }
    bson_t *keys, *options;
    random_index(r, &keys, &options);
    may(tansu_index_create(db, txn, some_name(r), name, document_of(keys), document_of(options),
                           NULL, NULL, &call_error));
    bson_destroy(keys);
    bson_destroy(options);
}

/* change_catalog -- collections that come, go and get other names. */
static void change_catalog(random_source *r, tansu_db *db, tansu_txn *txn) {
    switch (random_below(r, 3)) {
    case 0: may(call_ensure(db, txn, some_name(r), NULL)); break;
    case 1: may(tansu_collection_drop(db, txn, some_name(r), &call_error)); break;
    default: may(tansu_collection_rename(db, txn, some_name(r), some_name(r), &call_error));
    }
}

/* one_call -- something that writes. */
static void one_call(random_source *r, tansu_db *db, tansu_txn *txn) {
    uint64_t kind = random_below(r, 40);
    if (kind < 30)
        save(r, db, txn);
    else if (kind < 34)
        update(r, db, txn);
    else if (kind < 36)
        drop_some(r, db, txn);
    else if (kind < 39)
        index_some(r, db, txn);
    else
        change_catalog(r, db, txn);
}

/* try_and_regret -- many documents that a savepoint takes back: their numbers are passed over. */
static void try_and_regret(random_source *r, tansu_db *db, tansu_txn *txn) {
    const char *name = some_name(r);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    for (int i = 0; i < 400; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", 1000 + i);
        may(call_save_bson(db, txn, name, TANSU_SAVE, &doc));
        bson_destroy(&doc);
    }
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    tally.rolled_back++;
}

/* transact -- calls with savepoints between, of which many are taken back. */
static void transact(random_source *r, tansu_db *db) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    int open = 0;
    for (uint64_t i = random_below(r, 40); i > 0; i--) {
        if (open < SAVEPOINTS_MOST && random_chance(r, 15)) {
            CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
            open++;
        } else if (open > 0 && random_chance(r, 15)) {
            bool back = random_chance(r, 70);
            CHECK_OK(back ? tansu_savepoint_roll_back(txn, &call_error)
                          : tansu_savepoint_release(txn, &call_error),
                     &call_error);
            tally.rolled_back += back;
            open--;
        } else if (random_chance(r, 2)) {
            try_and_regret(r, db, txn);
        } else {
            one_call(r, db, txn);
        }
    }
    if (random_chance(r, 10)) {
        tansu_txn_abort(txn);
        return;
    }
    may(tansu_txn_commit(txn, NULL, &call_error));
    tally.commits++;
}

/* cancel_soon -- a progress function that ends a task at the call that the context counts down
 * to. */
static int cancel_soon(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    unsigned *left = context;
    return *left == 0 || --*left != 0;
}

/* one_step -- a transaction, a call of its own, or something that changes no content. */
static tansu_db *one_step(random_source *r, tansu_db *db, const char *path) {
    uint64_t kind = random_below(r, 20);
    unsigned left = (unsigned)random_below(r, 3);
    if (kind < 12) {
        transact(r, db);
    } else if (kind < 16) {
        one_call(r, db, NULL);
    } else if (kind < 18) {
        may(tansu_compact(db, cancel_soon, &left, NULL, &call_error));
        tally.compactions++;
    } else if (kind == 18) {
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    } else if (path != NULL) {
        call_close(db);
        db = call_open(path);
    }
    return db;
}

/* ---- Comparing ---- */

/* take -- the receiver of a dump. */
static int take(void *context, const void *bytes, size_t size) {
    return buffer_append(context, bytes, size);
}

/* text_of -- all of a database as text. */
static tansu_buffer text_of(tansu_db *db) {
    tansu_buffer text = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_dump(db, NULL, take, &text, TANSU_NO_DOCUMENT, NULL, NULL, NULL, &call_error),
             &call_error);
    return text;
}

/* check_text -- a copy has the same, and nothing is wrong with it. */
static void check_text_of(const char *path, const tansu_buffer *expected) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return;
    tansu_buffer text = text_of(db);
    CHECK(text.size == expected->size && memcmp(text.data, expected->data, text.size) == 0);
    CHECK(maintenance_clean(db));
    tansu_buffer_free(&text);
    call_close(db);
}

/* check_backups -- one of each form. */
static void check_backups(tansu_db *db, const char *folder) {
    tansu_buffer text = text_of(db);
    for (int f = 0; f < 2; f++) {
        const char *from = path_in(folder, "backup"), *to = path_in(folder, "restored");
        CHECK_OK(backup(db, from, backup_forms[f]), &call_error);
        if (CHECK_OK(restore(from, to), &call_error))
            check_text_of(to, &text);
        if (f == 0)
            check_text_of(from, &text);
        folder_remove(to);
        remove_at(from);
        tally.backups++;
    }
    tansu_buffer_free(&text);
}

static void a_backup_dumps_what_the_database_does(void) {
    unsigned rounds = (unsigned)random_rounds("TANSU_ROUNDS", ROUNDS_USUALLY);
    random_source r = random_start(1);
    char *folder = folder_new();
    for (unsigned round = 0; round < rounds && check_failures() == 0; round++) {
        const char *path = round % 4 == 3 ? NULL : path_in(folder, "db");
        tansu_db *db = call_open(path);
        for (int i = 0; i < STEPS && check_failures() == 0; i++) {
            db = one_step(&r, db, path);
            if (random_chance(&r, 15))
                check_backups(db, folder);
        }
        if (check_failures() == 0)
            check_backups(db, folder);
        call_close(db);
        folder_remove(path_in(folder, "db"));
    }
    folder_end(folder);
    check_note("%u backups, %u commits, %u savepoints taken back, %u calls refused, %u compactions",
               tally.backups, tally.commits, tally.rolled_back, tally.refused, tally.compactions);
    CHECK(tally.rolled_back > 0 && tally.refused > 0 && tally.compactions > 0);
}

int main(void) {
    RUN(a_backup_dumps_what_the_database_does);
    return check_finish();
}
