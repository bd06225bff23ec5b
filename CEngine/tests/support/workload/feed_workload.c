/*
 * support/workload/feed_workload.c -- random commits of collections, documents and transactions.
 */
#include "support/workload/feed_workload.h"

#include "support/calls/call.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void feed_workload_begin(feed_workload *p, const char *folder, uint64_t stream, uint32_t pad) {
    uint8_t *filling = calloc(1, pad + 1);
    REQUIRE(filling != NULL);
    p->db = call_open(folder);
    feed_model_clear(&p->now);
    p->history[0] = p->now;
    p->sequence = 0;
    p->compacts = false;
    p->random = random_start(stream);
    bson_init(&p->pad);
    BSON_APPEND_BINARY(&p->pad, "pad", BSON_SUBTYPE_BINARY, filling, pad);
    free(filling);
}

void feed_workload_end(feed_workload *p) {
    bson_destroy(&p->pad);
    call_close(p->db);
}

/* run_save -- a document with a number that none had before. */
static void run_save(feed_workload *p, tansu_txn *txn, int slot, int id) {
    static int32_t number;
    bson_t doc = BSON_INITIALIZER;
    BSON_APPEND_INT32(&doc, "_id", id);
    BSON_APPEND_INT32(&doc, "n", ++number);
    bson_concat(&doc, &p->pad);
    CHECK_OK(call_save_bson(p->db, txn, feed_model_names[slot], TANSU_SAVE, &doc), &call_error);
    bson_destroy(&doc);
    p->now.there[slot] = true;
    p->now.n[slot][id] = number;
}

/* run_remove -- a document, if it is there. */
static void run_remove(feed_workload *p, tansu_txn *txn, int slot, int id) {
    char text[32];
    int removed = 0;
    if (!p->now.there[slot])
        return;
    snprintf(text, sizeof text, "{'_id': %d}", id);
    CHECK_OK(call_remove_id(p->db, txn, feed_model_names[slot], text, &removed), &call_error);
    CHECK_INT(p->now.n[slot][id] != -1, removed);
    p->now.n[slot][id] = -1;
}

/* run_catalog -- drops, renames, or makes an index, which is no change. */
static void run_catalog(feed_workload *p, tansu_txn *txn, int slot) {
    int to = (int)random_below(&p->random, FEED_MODEL_NAMES);
    if (!p->now.there[slot]) {
        CHECK_OK(call_ensure(p->db, txn, feed_model_names[slot], NULL), &call_error);
        p->now.there[slot] = true;
    } else if (random_chance(&p->random, 40)) {
        CHECK_OK(tansu_collection_drop(p->db, txn, feed_model_names[slot], &call_error),
                 &call_error);
        p->now.there[slot] = false;
        memset(p->now.n[slot], 0xff, sizeof p->now.n[slot]);
    } else if (!p->now.there[to]) {
        CHECK_OK(tansu_collection_rename(p->db, txn, feed_model_names[slot], feed_model_names[to],
                                         &call_error),
                 &call_error);
        p->now.there[slot] = false;
        p->now.there[to] = true;
        memcpy(p->now.n[to], p->now.n[slot], sizeof p->now.n[to]);
        memset(p->now.n[slot], 0xff, sizeof p->now.n[slot]);
    } else {
        CHECK_OK(call_index(p->db, txn, feed_model_names[slot], "by_n", "{'n': 1}", NULL),
                 &call_error);
    }
}

void feed_workload_commit(feed_workload *p) {
    feed_model before = p->now;
    tansu_txn *txn = call_begin(p->db, TANSU_TXN_WRITE);
    int64_t steps = random_chance(&p->random, 10) ? 200 : random_between(&p->random, 1, 6);
    for (int64_t i = 0; i < steps; i++) {
        int slot = (int)random_below(&p->random, FEED_MODEL_NAMES);
        int id = (int)random_below(&p->random, FEED_MODEL_IDS);
        uint64_t what = random_below(&p->random, 100);
        if (what < 60)
            run_save(p, txn, slot, id);
        else if (what < 96)
            run_remove(p, txn, slot, id);
        else
            run_catalog(p, txn, slot);
    }
    if (random_chance(&p->random, 10)) {
        tansu_txn_abort(txn);
        p->now = before;
        return;
    }
    uint64_t sequence;
    CHECK_OK(tansu_txn_commit(txn, &sequence, &call_error), &call_error);
    if (sequence == 0)
        return;
    REQUIRE(sequence == p->sequence + 1 || (p->compacts && sequence > p->sequence));
    REQUIRE(sequence <= FEED_WORKLOAD_COMMITS);
    while (p->sequence < sequence - 1) /* compactions, which change nothing */
        p->history[++p->sequence] = before;
    p->history[++p->sequence] = p->now;
}
