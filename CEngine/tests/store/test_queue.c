/*
 * test_queue.c -- a queue, which has few documents behind many that were removed: the oldest is
 * found by the index instead of a scan, and scans in a transaction that has changed documents skip
 * what compaction has emptied, and nothing else.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>

#define ROUNDS 12
#define PUT 1500 /* documents in each round, more than a chunk of the location table has */

static void the_oldest_is_found_by_the_index(void) {
    tansu_db *db = memory_db_open();
    for (int i = 0; i < 3000; i++) {
        char json[40];
        snprintf(json, sizeof json, "{'_id':%d}", i);
        save_text(db, json);
    }
    CHECK(call_remove(db, NULL, "c", "{'_id':{'$lt':2998}}", NULL) == TANSU_OK);
    CHECK_TEXT("\"_id\"", plan_field(db, "{}", "{'$orderby':{'_id':1},'$max':1}", "plan.index"));
    CHECK_TEXT("2998", find_ids(db, "{}", "{'$orderby':{'_id':1},'$max':1}"));
    CHECK_TEXT("\"scan\"", plan_field(db, "{}", NULL, "plan.kind"));
    memory_db_close(db);
}

/* put -- a round of documents in one commit, of which all but the first are removed in another. */
static void put(tansu_db *db, int first) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = first; i < first + PUT; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id':%d,'round':%d}", i, first / PUT);
        CHECK(call_save(db, txn, "c", TANSU_INSERT, json) == TANSU_OK);
    }
    CHECK(tansu_txn_commit(txn, NULL, NULL) == TANSU_OK);
    char query[80];
    snprintf(query, sizeof query, "{'_id':{'$gt':%d,'$lt':%d}}", first, first + PUT);
    CHECK(call_remove(db, NULL, "c", query, NULL) == TANSU_OK);
}

/* ids_in -- the `_id`s that a scan finds in a transaction. */
static const char *ids_in(tansu_db *db, tansu_txn *txn) {
    return call_find(db, txn, "c", "{'round':{'$exists':true}}", "{'$fields':{'_id':1}}");
}

static void a_scan_among_changes_skips_what_is_empty(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder_join(folder, "q.tansu"));
    tansu_db *db = call_open_with(&options);
    char expected[2000] = "";
    size_t used = 0;
    for (int round = 0; round < ROUNDS; round++) {
        put(db, round * PUT);
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s{ \"_id\" : %d }",
                                 round == 0 ? "" : " ", round * PUT);
    }
    for (int times = 0; times < 2; times++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        CHECK(call_save(db, txn, "other", TANSU_SAVE, "{'_id':1}") == TANSU_OK);
        CHECK_TEXT(expected, ids_in(db, txn));
        CHECK(call_save(db, txn, "c", TANSU_INSERT, "{'_id':'last','round':99}") == TANSU_OK);
        CHECK(call_remove_id(db, txn, "c", "{'_id':0}", NULL) == TANSU_OK);
        char changed[2100];
        snprintf(changed, sizeof changed, "%s { \"_id\" : \"last\" }",
                 expected + sizeof "{ \"_id\" : 0 }");
        CHECK_TEXT(changed, ids_in(db, txn));
        tansu_txn_abort(txn);
        CHECK_TEXT(expected, ids_in(db, NULL));
        /* Once more with chunks that are not in memory, and gaps among them. */
        CHECK(tansu_compact(db, NULL, NULL, NULL, NULL) == TANSU_OK);
        call_close(db);
        db = call_open_with(&options);
    }
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(the_oldest_is_found_by_the_index);
    RUN(a_scan_among_changes_skips_what_is_empty);
    return check_finish();
}
