/*
 * toolkit/churn.c -- see churn.h.
 */
#include "churn.h"

#include "call.h"
#include "check.h"
#include "upkeep.h"

#include <stdio.h>
#include <string.h>

void churn(tansu_db *db, int rounds, int n) {
    char pad[2048];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (int round = 1; round <= rounds; round++)
        for (int id = 0; id < CHURN_LIVE; id++) {
            bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "n",
                                   BCON_INT32(round == rounds ? n : -round), "pad", BCON_UTF8(pad));
            CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
            bson_destroy(doc);
        }
}

bool churn_holds(tansu_db *db, tansu_txn *txn, int n) {
    char query[32];
    snprintf(query, sizeof query, "{'n': %d}", n);
    bool all = CHECK_INT(CHURN_LIVE, call_count(db, txn, "c", "{}"));
    return CHECK_INT(CHURN_LIVE, call_count(db, txn, "c", query)) && all;
}

bool churn_holds_at(const char *path, int n) {
    tansu_db *db = NULL;
    tansu_options options = call_options(path);
    options.must_exist = 1;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return false;
    bool holds = churn_holds(db, NULL, n);
    holds &= upkeep_clean(db);
    call_close(db);
    return holds;
}
