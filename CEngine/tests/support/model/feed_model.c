/*
 * support/model/feed_model.c -- applies events, and reads and compares states.
 */
#include "support/model/feed_model.h"

#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

const char *const feed_model_names[FEED_MODEL_NAMES] = {"ants", "bees", "cats", "dogs"};

void feed_model_clear(feed_model *f) {
    memset(f->there, 0, sizeof f->there);
    memset(f->n, 0xff, sizeof f->n);
}

/* slot_of -- which of the names it is. */
static int slot_of(const char *name) {
    for (int i = 0; i < FEED_MODEL_NAMES; i++)
        if (strcmp(name, feed_model_names[i]) == 0)
            return i;
    check_note("a collection '%s'", name);
    REQUIRE(false);
    return 0;
}

/* number_of -- an int32 of a document. */
static int32_t number_of(tansu_document doc, const char *key) {
    bson_t view;
    bson_iter_t iter;
    REQUIRE(doc.data != NULL && bson_init_static(&view, doc.data, doc.size));
    REQUIRE(bson_iter_init_find(&iter, &view, key) && BSON_ITER_HOLDS_INT32(&iter));
    return bson_iter_int32(&iter);
}

/* apply_document -- an insert, update or delete. */
static void apply_document(feed_model *f, const tansu_change *change, int slot, bool strict) {
    int32_t id = number_of(change->id, "_id");
    REQUIRE(id >= 0 && id < FEED_MODEL_IDS);
    int32_t *n = &f->n[slot][id];
    bool had = *n != -1, deletes = change->kind == TANSU_CHANGE_REMOVE;
    if (strict) {
        CHECK(f->there[slot]);
        CHECK_INT(had, change->kind != TANSU_CHANGE_INSERT);
        if (CHECK_INT(had, change->before.data != NULL) && had) {
            CHECK_INT(*n, number_of(change->before, "n"));
            CHECK_INT(id, number_of(change->before, "_id"));
        }
    }
    CHECK_INT(deletes, change->after.data == NULL);
    CHECK(change->new_name == NULL);
    if (!deletes)
        CHECK_INT(id, number_of(change->after, "_id"));
    *n = deletes ? -1 : number_of(change->after, "n");
}

void feed_model_apply(feed_model *f, const tansu_change *change, bool strict) {
    int slot = slot_of(change->collection), to;
    switch (change->kind) {
    case TANSU_CHANGE_COLLECTION_CREATED:
        CHECK(!strict || !f->there[slot]);
        f->there[slot] = true;
        break;
    case TANSU_CHANGE_COLLECTION_DROPPED:
        CHECK(!strict || f->there[slot]);
        f->there[slot] = false;
        memset(f->n[slot], 0xff, sizeof f->n[slot]);
        break;
    case TANSU_CHANGE_COLLECTION_RENAMED:
        to = slot_of(change->new_name);
        CHECK(!strict || (f->there[slot] && !f->there[to]));
        f->there[to] = f->there[slot];
        f->there[slot] = false;
        memcpy(f->n[to], f->n[slot], sizeof f->n[to]);
        memset(f->n[slot], 0xff, sizeof f->n[slot]);
        break;
    default: apply_document(f, change, slot, strict);
    }
}

void feed_model_read(feed_model *f, tansu_db *db, tansu_txn *txn) {
    feed_model_clear(f);
    tansu_buffer list = TANSU_BUFFER_INIT;
    REQUIRE(CHECK_OK(tansu_collection_list(db, txn, &list, &call_error), &call_error));
    bson_t view;
    bson_iter_t iter, items, one;
    REQUIRE(bson_init_static(&view, list.data, list.size));
    REQUIRE(bson_iter_init_find(&iter, &view, "collections") && bson_iter_recurse(&iter, &items));
    while (bson_iter_next(&items)) {
        REQUIRE(bson_iter_recurse(&items, &one) && bson_iter_find(&one, "name"));
        int slot = slot_of(bson_iter_utf8(&one, NULL));
        f->there[slot] = true;
        tansu_cursor *cursor = call_cursor(db, txn, feed_model_names[slot], "{}", NULL);
        tansu_document doc;
        while (tansu_cursor_next(cursor, &doc, NULL) == TANSU_OK)
            f->n[slot][number_of(doc, "_id")] = number_of(doc, "n");
        tansu_cursor_close(cursor);
    }
    tansu_buffer_free(&list);
}

bool feed_model_equal(const feed_model *expected, const feed_model *actual) {
    for (int i = 0; i < FEED_MODEL_NAMES; i++) {
        if (expected->there[i] != actual->there[i]) {
            check_note("%s: expected %d, is %d", feed_model_names[i], expected->there[i],
                       actual->there[i]);
            return false;
        }
        for (int k = 0; k < FEED_MODEL_IDS; k++) {
            if (expected->n[i][k] != actual->n[i][k]) {
                check_note("%s %d: expected %d, is %d", feed_model_names[i], k, expected->n[i][k],
                           actual->n[i][k]);
                return false;
            }
        }
    }
    return true;
}

int feed_model_drain(feed_model *f, tansu_feed *feed, bool strict, uint64_t *sequence) {
    tansu_change change;
    tansu_status status;
    int count = 0;
    tansu_change_init(&change);
    while ((status = tansu_feed_next(feed, 0, &change, &call_error)) == TANSU_OK) {
        feed_model_apply(f, &change, strict);
        if (sequence != NULL)
            *sequence = change.sequence;
        count++;
    }
    CHECK_OK(status == TANSU_DONE ? TANSU_OK : status, &call_error);
    return count;
}

tansu_feed *feed_model_open_feed(tansu_db *db, uint64_t since, const char *options) {
    bson_t *bson = bson_from_text(options);
    tansu_feed *feed = NULL;
    REQUIRE(
        CHECK_OK(tansu_feed_open(db, since, document_of(bson), &feed, &call_error), &call_error));
    if (bson != NULL)
        bson_destroy(bson);
    return feed;
}
