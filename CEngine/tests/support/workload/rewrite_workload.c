/*
 * support/workload/rewrite_workload.c -- saves and checks the documents.
 */
#include "support/workload/rewrite_workload.h"

#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

void rewrite_all(tansu_db *db, int rounds, int n) {
    char pad[2048];
    memset(pad, 'p', sizeof pad - 1);
    pad[sizeof pad - 1] = 0;
    for (int round = 1; round <= rounds; round++)
        for (int id = 0; id < REWRITE_DOCUMENTS; id++) {
            bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "n",
                                   BCON_INT32(round == rounds ? n : -round), "pad", BCON_UTF8(pad));
            CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
            bson_destroy(doc);
        }
}

bool rewrite_check(tansu_db *db, tansu_txn *txn, int n) {
    char query[32];
    snprintf(query, sizeof query, "{'n': %d}", n);
    bool all = CHECK_INT(REWRITE_DOCUMENTS, call_count(db, txn, "c", "{}"));
    return CHECK_INT(REWRITE_DOCUMENTS, call_count(db, txn, "c", query)) && all;
}

bool rewrite_check_closed(const char *path, int n) {
    tansu_db *db = NULL;
    tansu_options options = call_options(path);
    options.must_exist = 1;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return false;
    bool holds = rewrite_check(db, NULL, n);
    holds &= maintenance_clean(db);
    call_close(db);
    return holds;
}
