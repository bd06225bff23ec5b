/*
 * support/workload/forged_use.c -- every kind of call on a database whose files were forged.
 */
#include "support/workload/forged_use.h"

#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"

tansu_options forged_options(const char *folder) {
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    return options;
}

/* read_feed -- all that a feed from the beginning delivers. */
static void read_feed(tansu_db *db) {
    tansu_feed *feed;
    tansu_change change;
    if (tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &feed, &call_error) != TANSU_OK)
        return;
    while (tansu_feed_next(feed, 0, &change, &call_error) == TANSU_OK) {
    }
    tansu_feed_close(feed);
}

/* read_query -- every document of a query as JSON; it may be anything. */
static void read_query(tansu_db *db, tansu_txn *txn, const char *json) {
    tansu_buffer query = TANSU_BUFFER_INIT, text = TANSU_BUFFER_INIT;
    tansu_cursor *cursor;
    tansu_document document;
    CHECK_OK(tansu_json_to_bson(json, SIZE_MAX, &query, &call_error), &call_error);
    if (tansu_find(db, txn, "c", (tansu_document){query.data, query.size}, TANSU_NO_DOCUMENT,
                   &cursor, &call_error) == TANSU_OK) {
        while (tansu_cursor_next(cursor, &document, &call_error) == TANSU_OK)
            tansu_bson_to_json(document, 1, &text, &call_error);
        tansu_cursor_close(cursor);
    }
    tansu_buffer_free(&query);
    tansu_buffer_free(&text);
}

/* use -- what may be done with an open database, with any status. */
static void use(tansu_db *db) {
    tansu_txn *before = call_begin(db, TANSU_TXN_READ);
    read_query(db, NULL, "{}");
    read_query(db, NULL, "{\"n\": {\"$gte\": 3}}");
    read_query(db, NULL, "{\"a.b\": \"text\"}");
    read_query(db, NULL, "{\"_id\": 3}");
    read_query(db, NULL, "{\"_id\": \"last\"}");
    call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3, 'n': 77}");
    call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 'last', 'n': 78}");
    call_remove(db, NULL, "c", "{'n': 8}", NULL);
    read_query(db, before, "{}");
    read_query(db, before, "{\"_id\": \"last\"}");
    tansu_txn_abort(before);
    read_feed(db);
    maintenance_verify(db);
    tansu_compact(db, NULL, NULL, NULL, &call_error);
    read_query(db, NULL, "{}");
    tansu_shutdown(db, NULL);
}

void forged_use(const char *folder) {
    tansu_options options = forged_options(folder);
    for (options.read_only = 2; options.read_only-- > 0;) {
        tansu_db *db = NULL;
        tansu_status status = tansu_open(&options, &db, &call_error);
        CHECK(status == TANSU_OK ? db != NULL : call_error.message[0] != 0);
        if (status == TANSU_OK)
            use(db);
    }
}
