/*
 * support/model/store_model_check.c -- whether a database holds what its model holds.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/model/store_model_internal.h"

#include <stdlib.h>
#include <string.h>

/* The ids of documents in the order of their first insertion. */
typedef struct id_list {
    int32_t ids[STORE_MODEL_IDS];
    unsigned count;
} id_list;

/* A question: documents whose field has a value or more, up to another. */
typedef struct question {
    enum { ALL, BY_N, BY_U, BY_TAG, BY_N_AND_S } kind;
    int32_t low;
    int32_t high;
} question;

/* answers -- whether a document of the model belongs to the answer. */
static bool answers(const store_model_document *d, const question *q) {
    switch (q->kind) {
    case BY_N: return d->n >= q->low && d->n <= q->high;
    case BY_U: return d->u >= q->low && d->u <= q->high;
    case BY_TAG: return d->n % 5 == q->low || d->u % 7 == q->low;
    case BY_N_AND_S: return d->n == q->low && d->u % 26 == q->high % 26;
    default: return true;
    }
}

/* query_of -- the question as a query. */
static bson_t *query_of(const question *q) {
    char s[3] = {(char)('a' + q->low % 26), (char)('a' + q->high % 26), 0};
    switch (q->kind) {
    case BY_N:
        if (q->low == q->high)
            return BCON_NEW("n", BCON_INT32(q->low));
        return BCON_NEW("n", "{", "$gte", BCON_INT32(q->low), "$lte", BCON_INT32(q->high), "}");
    case BY_U:
        return BCON_NEW("u", "{", "$gte", BCON_INT32(q->low), "$lte", BCON_DOUBLE(q->high), "}");
    case BY_TAG: return BCON_NEW("tags", BCON_INT32(q->low));
    case BY_N_AND_S: return BCON_NEW("n", BCON_INT32(q->low), "s", BCON_UTF8(s));
    default: return bson_new();
    }
}

/* expected_ids -- the model's answer. */
static void expected_ids(const store_model_collection *c, const question *q, id_list *list) {
    list->count = 0;
    for (int32_t id = 0; id < STORE_MODEL_IDS; id++) {
        if (c->documents[id].order == 0 || !answers(&c->documents[id], q))
            continue;
        unsigned at = list->count++;
        for (; at > 0 && c->documents[list->ids[at - 1]].order > c->documents[id].order; at--)
            list->ids[at] = list->ids[at - 1];
        list->ids[at] = id;
    }
}

/* check_question -- the database's documents are the model's, in the same order and byte for
 * byte. */
static void check_question(const store_model *m, unsigned number, const question *q, tansu_db *db,
                           tansu_txn *txn) {
    const store_model_collection *c = &m->collections[number];
    id_list expected;
    expected_ids(c, q, &expected);
    bson_t *query = query_of(q);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_status status = tansu_find(db, txn, store_model_name(number), document_of(query),
                                     TANSU_NO_DOCUMENT, &cursor, &call_error);
    unsigned i = 0;
    while (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, &call_error);
        if (status != TANSU_OK || !CHECK(i < expected.count))
            break;
        bson_t *doc = store_model_bson(expected.ids[i], &c->documents[expected.ids[i]]);
        if (!CHECK_BYTES(bson_get_data(doc), doc->len, document.data, document.size))
            check_note("    collection %u, question %d from %d to %d, document %u of %u", number,
                       (int)q->kind, q->low, q->high, i, expected.count);
        bson_destroy(doc);
        i++;
    }
    CHECK_STATUS(TANSU_DONE, status);
    if (!CHECK_INT(expected.count, i))
        check_note("    collection %u, question %d from %d to %d", number, (int)q->kind, q->low,
                   q->high);
    tansu_cursor_close(cursor);
    int64_t count = -1;
    CHECK_OK(tansu_count(db, txn, store_model_name(number), document_of(query), TANSU_NO_DOCUMENT,
                         &count, &call_error),
             &call_error);
    CHECK_INT(expected.count, count);
    bson_destroy(query);
}

/* entries_of -- how many entries an index has. */
static int64_t entries_of(const store_model_collection *c, unsigned index) {
    int64_t entries = 0;
    for (int32_t id = 0; id < STORE_MODEL_IDS; id++) {
        const store_model_document *d = &c->documents[id];
        if (d->order != 0) /* of an array: itself and its different elements */
            entries += index < 3 ? 1 : (d->n % 5 == d->u % 7 ? 2 : 3) + (index == 4 ? 3 : 0);
    }
    return entries;
}

/* check_indexes -- those and no others, with as many entries as there should be. */
static void check_indexes(const store_model *m, unsigned number, tansu_db *db, tansu_txn *txn) {
    const store_model_collection *c = &m->collections[number];
    tansu_buffer result = TANSU_BUFFER_INIT;
    if (!CHECK_OK(tansu_index_list(db, txn, store_model_name(number), &result, &call_error),
                  &call_error))
        return;
    bson_t list;
    bson_iter_t iter, indexes, field;
    bool seen[STORE_MODEL_INDEXES] = {false};
    REQUIRE(bson_init_static(&list, result.data, result.size));
    REQUIRE(bson_iter_init_find(&iter, &list, "indexes") && bson_iter_recurse(&iter, &indexes));
    while (bson_iter_next(&indexes)) {
        REQUIRE(bson_iter_recurse(&indexes, &field) && bson_iter_find(&field, "name"));
        unsigned i = 0;
        while (i < STORE_MODEL_INDEXES &&
               strcmp(bson_iter_utf8(&field, NULL), store_model_index_name(i)) != 0)
            i++;
        if (!CHECK(i < STORE_MODEL_INDEXES) || !CHECK(!seen[i]))
            continue;
        seen[i] = true;
        REQUIRE(bson_iter_recurse(&indexes, &field) && bson_iter_find(&field, "unique"));
        CHECK_INT(i == 1, bson_iter_bool(&field));
        REQUIRE(bson_iter_recurse(&indexes, &field) && bson_iter_find(&field, "entries"));
        if (!CHECK_INT(entries_of(c, i), bson_iter_int64(&field)))
            check_note("    collection %u, index %u", number, i);
    }
    for (unsigned i = 0; i < STORE_MODEL_INDEXES; i++)
        CHECK_INT(c->indexes[i], seen[i]);
    tansu_buffer_free(&result);
}

/* check_collections -- those and no others, with as many documents as there should be. */
static void check_collections(const store_model *m, tansu_db *db, tansu_txn *txn) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    if (!CHECK_OK(tansu_collection_list(db, txn, &result, &call_error), &call_error))
        return;
    bson_t list;
    bson_iter_t iter, collections, field;
    bool seen[STORE_MODEL_COLLECTIONS] = {false};
    REQUIRE(bson_init_static(&list, result.data, result.size));
    REQUIRE(bson_iter_init_find(&iter, &list, "collections") &&
            bson_iter_recurse(&iter, &collections));
    while (bson_iter_next(&collections)) {
        REQUIRE(bson_iter_recurse(&collections, &field) && bson_iter_find(&field, "name"));
        unsigned i = 0;
        while (i < STORE_MODEL_COLLECTIONS &&
               strcmp(bson_iter_utf8(&field, NULL), store_model_name(i)) != 0)
            i++;
        if (!CHECK(i < STORE_MODEL_COLLECTIONS) || !CHECK(!seen[i]))
            continue;
        seen[i] = true;
        REQUIRE(bson_iter_recurse(&collections, &field) && bson_iter_find(&field, "documents"));
        CHECK_INT(store_model_count(m, i), bson_iter_int64(&field));
    }
    for (unsigned i = 0; i < STORE_MODEL_COLLECTIONS; i++)
        CHECK_INT(m->collections[i].there, seen[i]);
    tansu_buffer_free(&result);
}

uint64_t store_model_count(const store_model *m, unsigned collection) {
    uint64_t count = 0;
    for (int32_t id = 0; id < STORE_MODEL_IDS; id++)
        count += m->collections[collection].documents[id].order != 0;
    return count;
}

/* check_ids -- looking up by `_id`, what is there and what is not. */
static void check_ids(const store_model *m, unsigned number, tansu_db *db, tansu_txn *txn) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    for (int32_t id = 0; id < STORE_MODEL_IDS; id++) {
        const store_model_document *d = &m->collections[number].documents[id];
        bson_t *key = BCON_NEW("_id", BCON_INT64(id)), *doc = store_model_bson(id, d);
        tansu_status status =
            tansu_get(db, txn, store_model_name(number), document_of(key), &result, NULL);
        CHECK_STATUS(d->order != 0 ? TANSU_OK : TANSU_E_NOT_FOUND, status);
        if (d->order != 0 && status == TANSU_OK)
            CHECK_BYTES(bson_get_data(doc), doc->len, result.data, result.size);
        bson_destroy(key);
        bson_destroy(doc);
    }
    tansu_buffer_free(&result);
}

void store_model_check(const store_model *m, random_source *source, tansu_db *db, tansu_txn *txn) {
    check_collections(m, db, txn);
    for (unsigned number = 0; number < STORE_MODEL_COLLECTIONS; number++) {
        if (m->collections[number].there)
            check_indexes(m, number, db, txn);
        else
            CHECK_STATUS(TANSU_E_NOT_FOUND,
                         tansu_index_list(db, txn, store_model_name(number),
                                          &(tansu_buffer)TANSU_BUFFER_INIT, NULL));
        check_ids(m, number, db, txn);
        int32_t n = (int32_t)random_below(source, 20);
        int32_t u = 1000 + (int32_t)random_below(source, STORE_MODEL_IDS);
        question questions[] = {{ALL, 0, 0},       {BY_N, n, n},      {BY_N, n, n + 4},
                                {BY_U, u, u},      {BY_U, u, u + 30}, {BY_TAG, n % 7, 0},
                                {BY_N_AND_S, n, u}};
        for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
            check_question(m, number, &questions[i], db, txn);
    }
}
