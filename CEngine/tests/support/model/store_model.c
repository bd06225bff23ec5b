/*
 * support/model/store_model.c -- random operations on a database and its model.
 */
#include "support/model/store_model.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/model/store_model_internal.h"

#include <string.h>

static const char *const names[STORE_MODEL_COLLECTIONS] = {"cities", "people", "Ærø", "z"};
static const char *const index_names[STORE_MODEL_INDEXES] = {"n", "u", "ns", "tags", "all"};
static const char *const index_keys[STORE_MODEL_INDEXES] = {
    "{'n': 1}", "{'u': 1}", "{'n': -1, 's': 1}", "{'tags': 1}", "{'**': 1}"};
static const char *const index_options[STORE_MODEL_INDEXES] = {NULL, "{'unique': true}", NULL, NULL,
                                                               "{'except': ['pad']}"};

const char *store_model_name(unsigned collection) {
    return names[collection];
}

const char *store_model_index_name(unsigned index) {
    return index_names[index];
}

bson_t *store_model_bson(int32_t id, const store_model_document *d) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    bson_t *doc = bson_new(), tags;
    char s[3] = {letters[d->n % 26], letters[d->u % 26], 0};
    BSON_APPEND_INT32(doc, "_id", id);
    BSON_APPEND_INT32(doc, "n", d->n);
    BSON_APPEND_INT64(doc, "u", d->u);
    BSON_APPEND_UTF8(doc, "s", s);
    BSON_APPEND_ARRAY_BEGIN(doc, "tags", &tags);
    BSON_APPEND_INT32(&tags, "0", d->n % 5);
    BSON_APPEND_INT32(&tags, "1", d->u % 7);
    bson_append_array_end(doc, &tags);
    uint8_t *pad = bson_malloc0((size_t)d->pad + 1);
    memset(pad, d->n, (size_t)d->pad);
    BSON_APPEND_BINARY(doc, "pad", BSON_SUBTYPE_BINARY, pad, (uint32_t)d->pad);
    bson_free(pad);
    return doc;
}

/* random_content -- values of few kinds, so that many documents share them. */
static store_model_document random_content(const store_model *m, random_source *source,
                                           int32_t id) {
    store_model_document d = {.n = (int32_t)random_below(source, 20), .u = 1000 + id};
    if (random_chance(source, 20))
        d.u = 1000 + (int32_t)random_below(source, STORE_MODEL_IDS * 3);
    d.pad = (int32_t)random_below(source, 60);
    if (m->most_pad > 0 && random_chance(source, 5))
        d.pad = (int32_t)random_below(source, (uint64_t)m->most_pad);
    return d;
}

/* unique_clash -- whether the unique index forbids a document. */
static bool unique_clash(const store_model_collection *c, int32_t id, int32_t u) {
    for (int32_t i = 0; c->indexes[1] && i < STORE_MODEL_IDS; i++)
        if (i != id && c->documents[i].order != 0 && c->documents[i].u == u)
            return true;
    return false;
}

/* put -- what saving one document comes to. */
static tansu_status put(store_model_collection *c, int32_t id, store_model_document d,
                        tansu_save_mode mode) {
    store_model_document *there = &c->documents[id];
    if (mode == TANSU_INSERT && there->order != 0)
        return TANSU_E_EXISTS;
    if (mode == TANSU_REPLACE && there->order == 0)
        return TANSU_E_NOT_FOUND;
    if (unique_clash(c, id, d.u))
        return TANSU_E_NOT_UNIQUE;
    d.order = there->order != 0 ? there->order : ++c->last_order;
    *there = d;
    c->there = true;
    return TANSU_OK;
}

/* save_some -- one call of tansu_save() with up to `most` documents. */
static bool save_some(store_model *m, random_source *source, unsigned number, unsigned most,
                      tansu_db *db, tansu_txn *txn) {
    store_model_collection *c = &m->collections[number];
    store_model_collection after = *c;
    unsigned kind = (unsigned)random_below(source, 10);
    tansu_save_mode mode = kind == 0 ? TANSU_INSERT : kind == 1 ? TANSU_REPLACE : TANSU_SAVE;
    bson_t *docs[16];
    tansu_document documents[16];
    unsigned count = 1 + (unsigned)random_below(source, most);
    tansu_status expected = TANSU_OK;
    int64_t fault = -1;
    for (unsigned i = 0; i < count; i++) {
        int32_t id = (int32_t)random_below(source, STORE_MODEL_IDS);
        store_model_document d = random_content(m, source, id);
        if (expected == TANSU_OK) {
            expected = put(&after, id, d, mode);
            fault = i;
        }
        if (db != NULL) {
            docs[i] = store_model_bson(id, &d);
            documents[i] = document_of(docs[i]);
        }
    }
    if (db != NULL) {
        tansu_error error = {.code = TANSU_OK};
        CHECK_STATUS(expected,
                     tansu_save(db, txn, names[number], documents, count, mode, NULL, &error));
        if (expected != TANSU_OK)
            CHECK_INT(fault, error.offset);
        for (unsigned i = 0; i < count; i++)
            bson_destroy(docs[i]);
    }
    if (expected == TANSU_OK)
        *c = after;
    return expected == TANSU_OK;
}

/* remove_one -- one call of tansu_remove_id(). */
static bool remove_one(store_model *m, random_source *source, unsigned number, tansu_db *db,
                       tansu_txn *txn) {
    int32_t id = (int32_t)random_below(source, STORE_MODEL_IDS);
    store_model_document *d = &m->collections[number].documents[id];
    bool there = d->order != 0;
    d->order = 0;
    if (db != NULL) {
        int removed = -1;
        bson_t *doc = BCON_NEW("_id", BCON_INT32(id));
        CHECK_OK(tansu_remove_id(db, txn, names[number], document_of(doc), &removed, &call_error),
                 &call_error);
        CHECK_INT(there, removed);
        bson_destroy(doc);
    }
    return there;
}

/* remove_some -- one call of tansu_remove(): all with one value of n or of u. */
static bool remove_some(store_model *m, random_source *source, unsigned number, tansu_db *db,
                        tansu_txn *txn) {
    bool by_n = random_chance(source, 40);
    int32_t value = by_n ? (int32_t)random_below(source, 20)
                         : 1000 + (int32_t)random_below(source, STORE_MODEL_IDS);
    int64_t expected = 0;
    for (int32_t i = 0; i < STORE_MODEL_IDS; i++) {
        store_model_document *d = &m->collections[number].documents[i];
        if (d->order == 0 || (by_n ? d->n : d->u) != value)
            continue;
        d->order = 0;
        expected++;
    }
    if (db != NULL) {
        int64_t removed = -1;
        bson_t *query = by_n ? BCON_NEW("n", BCON_INT32(value)) : BCON_NEW("u", BCON_INT32(value));
        CHECK_OK(tansu_remove(db, txn, names[number], document_of(query), TANSU_NO_DOCUMENT,
                              &removed, &call_error),
                 &call_error);
        CHECK_INT(expected, removed);
        bson_destroy(query);
    }
    return expected != 0;
}

/* values_repeat -- whether a unique index over `u` is impossible. */
static bool values_repeat(const store_model_collection *c) {
    for (int32_t i = 0; i < STORE_MODEL_IDS; i++)
        for (int32_t k = i + 1; k < STORE_MODEL_IDS; k++)
            if (c->documents[i].order != 0 && c->documents[k].order != 0 &&
                c->documents[i].u == c->documents[k].u)
                return true;
    return false;
}

/* step_create_index -- one that may be there already, or be impossible. */
static bool step_create_index(store_model *m, random_source *source, unsigned number, tansu_db *db,
                              tansu_txn *txn) {
    store_model_collection *c = &m->collections[number];
    unsigned i = (unsigned)random_below(source, STORE_MODEL_INDEXES);
    tansu_status expected =
        i == 1 && !c->indexes[i] && values_repeat(c) ? TANSU_E_NOT_UNIQUE : TANSU_OK;
    bool changes = expected == TANSU_OK && !c->indexes[i];
    if (expected == TANSU_OK)
        c->there = c->indexes[i] = true;
    if (db != NULL)
        CHECK_STATUS(expected, call_index(db, txn, names[number], index_names[i], index_keys[i],
                                          index_options[i]));
    return changes;
}

/* drop_index -- one that may not be there. */
static bool drop_index(store_model *m, random_source *source, unsigned number, tansu_db *db,
                       tansu_txn *txn) {
    store_model_collection *c = &m->collections[number];
    unsigned i = (unsigned)random_below(source, STORE_MODEL_INDEXES);
    bool there = c->indexes[i];
    c->indexes[i] = false;
    if (db != NULL)
        CHECK_STATUS(there ? TANSU_OK : TANSU_E_NOT_FOUND,
                     tansu_index_drop(db, txn, names[number], index_names[i], NULL));
    return there;
}

/* drop_collection -- with its documents and indexes. */
static bool drop_collection(store_model *m, unsigned number, tansu_db *db, tansu_txn *txn) {
    bool there = m->collections[number].there;
    m->collections[number] = (store_model_collection){0};
    if (db != NULL)
        CHECK_STATUS(there ? TANSU_OK : TANSU_E_NOT_FOUND,
                     tansu_collection_drop(db, txn, names[number], NULL));
    return there;
}

/* rename_collection -- to a name that may be taken. */
static bool rename_collection(store_model *m, random_source *source, unsigned number, tansu_db *db,
                              tansu_txn *txn) {
    unsigned to = (unsigned)random_below(source, STORE_MODEL_COLLECTIONS);
    store_model_collection *from = &m->collections[number];
    tansu_status expected = !from->there               ? TANSU_E_NOT_FOUND
                            : m->collections[to].there ? TANSU_E_EXISTS
                                                       : TANSU_OK;
    if (expected == TANSU_OK) {
        m->collections[to] = *from;
        *from = (store_model_collection){0};
    }
    if (db != NULL)
        CHECK_STATUS(expected, tansu_collection_rename(db, txn, names[number], names[to], NULL));
    return expected == TANSU_OK;
}

/* ensure_collection -- one that may be there. */
static bool ensure_collection(store_model *m, unsigned number, tansu_db *db, tansu_txn *txn) {
    bool there = m->collections[number].there;
    m->collections[number].there = true;
    if (db != NULL)
        CHECK_OK(call_ensure(db, txn, names[number], NULL), &call_error);
    return !there;
}

bool store_model_operation(store_model *m, random_source *source, tansu_db *db, tansu_txn *txn) {
    unsigned number = (unsigned)random_below(source, STORE_MODEL_COLLECTIONS);
    unsigned kind = (unsigned)random_below(source, 100);
    if (kind < 50)
        return save_some(m, source, number, 1, db, txn);
    if (kind < 62)
        return save_some(m, source, number, 16, db, txn);
    if (kind < 76)
        return remove_one(m, source, number, db, txn);
    if (kind < 86)
        return remove_some(m, source, number, db, txn);
    if (kind < 92)
        return step_create_index(m, source, number, db, txn);
    if (kind < 95)
        return drop_index(m, source, number, db, txn);
    if (kind < 96)
        return drop_collection(m, number, db, txn);
    if (kind < 98)
        return rename_collection(m, source, number, db, txn);
    return ensure_collection(m, number, db, txn);
}

/* transaction -- several operations that end together, one way or the other. */
static void transaction(store_model *m, random_source *source, tansu_db *db) {
    store_model after = *m;
    tansu_txn *txn = db == NULL ? NULL : call_begin(db, TANSU_TXN_WRITE);
    unsigned count = (unsigned)random_below(source, 12);
    bool changed = false, commit = random_chance(source, 75);
    for (unsigned i = 0; i < count; i++)
        changed = store_model_operation(&after, source, db, txn) || changed;
    uint64_t look = random_below(source, 10);
    random_source looks = {.state = random_next(source)};
    if (db != NULL && look == 0)
        store_model_check(&after, &looks, db, txn);
    if (!commit) {
        tansu_txn_abort(txn);
        return;
    }
    *m = after;
    m->commits += changed;
    if (db != NULL) {
        uint64_t sequence = UINT64_MAX;
        CHECK_OK(tansu_txn_commit(txn, &sequence, &call_error), &call_error);
        CHECK_INT(changed ? m->commits : 0, sequence);
    }
}

void store_model_step(store_model *m, random_source *source, tansu_db *db) {
    if (random_chance(source, 30))
        transaction(m, source, db);
    else
        m->commits += store_model_operation(m, source, db, NULL);
}
