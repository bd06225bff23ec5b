/*
 * test_delete_rules_differential.c -- random references between random documents, removed in every
 * way, beside a plain model that applies the delete rules one document after the other; with and
 * without indexes, in transactions, with reopening in between.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS 120
#define STEPS 60
#define COLLECTIONS 3
#define DOCUMENTS 24 /* ids 0 … of each collection */
#define FIELDS 3
#define VALUES 3

static const char *const names[COLLECTIONS] = {"one", "two", "three"};
/* A value, an array of values, and an array of documents with a value. */
static const char *const paths[FIELDS] = {"a", "b", "c.r"};
static const char *const rules[] = {"ignore", "nullify", "cascade", "deny"};

/* One value of a reference; -1: null. */
typedef struct field {
    bool there;
    int count;
    int values[VALUES];
} field;

typedef struct document {
    bool there;
    field fields[FIELDS];
} document;

typedef struct reference_rule {
    bool there;
    int to;
    int rule;
} reference_rule;

typedef struct model {
    reference_rule links[COLLECTIONS][FIELDS];
    document documents[COLLECTIONS][DOCUMENTS];
} model;

/* ---- The model ---- */

/* refers -- whether a document has a value in a field. */
static bool refers(const document *d, int f, int id) {
    for (int i = 0; i < d->fields[f].count; i++)
        if (d->fields[f].there && d->fields[f].values[i] == id)
            return true;
    return false;
}

/* mark -- what a removal removes: everything that leads to it by "cascade". */
static void mark(const model *m, bool gone[COLLECTIONS][DOCUMENTS], int c, int id) {
    if (gone[c][id] || !m->documents[c][id].there)
        return;
    gone[c][id] = true;
    for (int h = 0; h < COLLECTIONS; h++)
        for (int f = 0; f < FIELDS; f++)
            for (int i = 0; i < DOCUMENTS; i++)
                if (m->links[h][f].there && m->links[h][f].to == c && m->links[h][f].rule == 2 &&
                    m->documents[h][i].there && refers(&m->documents[h][i], f, id))
                    mark(m, gone, h, i);
}

/* take_out -- an id out of a field by "nullify". */
static void take_out(field *f, int number, int id) {
    if (number == 1) { /* an array */
        int kept = 0;
        for (int i = 0; i < f->count; i++)
            if (f->values[i] != id)
                f->values[kept++] = f->values[i];
        f->count = kept;
    } else {
        for (int i = 0; i < f->count; i++)
            if (f->values[i] == id)
                f->values[i] = -1;
    }
}

/* model_remove -- removes the documents; false when a reference denies it, and nothing changes. */
static bool model_remove(model *m, int c, const bool *which) {
    bool gone[COLLECTIONS][DOCUMENTS] = {{false}};
    for (int id = 0; id < DOCUMENTS; id++)
        if (which[id])
            mark(m, gone, c, id);
    for (int pass = 0; pass < 2; pass++) {
        for (int h = 0; h < COLLECTIONS; h++) {
            for (int i = 0; i < DOCUMENTS; i++) {
                document *d = &m->documents[h][i];
                for (int f = 0; f < FIELDS && d->there && !gone[h][i]; f++) {
                    const reference_rule *l = &m->links[h][f];
                    for (int id = 0; l->there && id < DOCUMENTS; id++) {
                        if (!gone[l->to][id] || !refers(d, f, id))
                            continue;
                        if (l->rule == 3)
                            return false;
                        if (pass == 1 && l->rule == 1)
                            take_out(&d->fields[f], f, id);
                    }
                }
            }
        }
    }
    for (int h = 0; h < COLLECTIONS; h++)
        for (int i = 0; i < DOCUMENTS; i++)
            if (gone[h][i])
                m->documents[h][i].there = false;
    return true;
}

/* ---- Documents ---- */

/* append_value -- an id, as one of the numbers that equal it. */
static void append_value(bson_t *to, const char *key, int value) {
    if (value < 0)
        bson_append_null(to, key, -1);
    else if (value % 3 == 1)
        bson_append_double(to, key, -1, value);
    else
        bson_append_int32(to, key, -1, value);
}

/* build -- the BSON of a document of the model. */
static bson_t *build(const document *d, int id) {
    bson_t *doc = bson_new(), list, one;
    char key[16];
    bson_append_int32(doc, "_id", -1, id);
    if (d->fields[0].there)
        append_value(doc, "a", d->fields[0].values[0]);
    if (d->fields[1].there) {
        bson_append_array_begin(doc, "b", -1, &list);
        for (int i = 0; i < d->fields[1].count; i++) {
            snprintf(key, sizeof key, "%d", i);
            append_value(&list, key, d->fields[1].values[i]);
        }
        bson_append_array_end(doc, &list);
    }
    if (d->fields[2].there) {
        bson_append_array_begin(doc, "c", -1, &list);
        for (int i = 0; i < d->fields[2].count; i++) {
            snprintf(key, sizeof key, "%d", i);
            bson_append_document_begin(&list, key, -1, &one);
            bson_append_int32(&one, "n", -1, i);
            append_value(&one, "r", d->fields[2].values[i]);
            bson_append_document_end(&list, &one);
        }
        bson_append_array_end(doc, &list);
    }
    return doc;
}

/* random_document -- with references to some of the ids. */
static document random_document(random_source *r) {
    document d = {.there = true};
    for (int f = 0; f < FIELDS; f++) {
        d.fields[f].there = random_chance(r, f == 0 ? 60 : 35);
        d.fields[f].count = f == 0 ? 1 : (int)random_below(r, VALUES + 1);
        for (int i = 0; i < d.fields[f].count; i++)
            d.fields[f].values[i] = random_chance(r, 5) ? -1 : (int)random_below(r, DOCUMENTS);
    }
    return d;
}

/* ---- The engine beside it ---- */

/* compare -- every document of the model is stored as it is, and no other. */
static bool compare(const model *m, tansu_db *db, tansu_txn *txn) {
    uint64_t failures = check_failures();
    for (int c = 0; c < COLLECTIONS; c++) {
        int64_t count = 0;
        for (int id = 0; id < DOCUMENTS; id++) {
            bson_t key = BSON_INITIALIZER;
            bson_append_int32(&key, "_id", -1, id);
            tansu_buffer stored = TANSU_BUFFER_INIT;
            tansu_status status =
                tansu_get(db, txn, names[c], document_of(&key), &stored, &call_error);
            if (m->documents[c][id].there) {
                bson_t *expected = build(&m->documents[c][id], id);
                CHECK_OK(status, &call_error);
                CHECK_BYTES(bson_get_data(expected), expected->len, stored.data, stored.size);
                bson_destroy(expected);
                count++;
            } else {
                CHECK_STATUS(TANSU_E_NOT_FOUND, status);
            }
            tansu_buffer_free(&stored);
            bson_destroy(&key);
        }
        CHECK_INT(count, call_count(db, txn, names[c], "{}"));
    }
    return check_failures() == failures;
}

/* declare -- random references, also of collections that have some. */
static void declare(model *m, random_source *r, tansu_db *db) {
    int c = (int)random_below(r, COLLECTIONS);
    bson_t options = BSON_INITIALIZER, list, one;
    int count = 0;
    BSON_APPEND_ARRAY_BEGIN(&options, "references", &list);
    for (int f = 0; f < FIELDS; f++) {
        reference_rule *l = &m->links[c][f];
        *l = (reference_rule){random_chance(r, 75), (int)random_below(r, COLLECTIONS),
                              random_chance(r, 10) ? 3 : (int)random_below(r, 3)};
        if (!l->there)
            continue;
        char key[16];
        snprintf(key, sizeof key, "%d", count++);
        BSON_APPEND_DOCUMENT_BEGIN(&list, key, &one);
        BSON_APPEND_UTF8(&one, "path", paths[f]);
        BSON_APPEND_UTF8(&one, "to", names[l->to]);
        if (l->rule != 0 || random_chance(r, 50))
            BSON_APPEND_UTF8(&one, "onDelete", rules[l->rule]);
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(&options, &list);
    CHECK_OK(tansu_collection_ensure(db, NULL, names[c], document_of(&options), &call_error),
             &call_error);
    bson_destroy(&options);
    if (random_chance(r, 60))
        call_index(db, NULL, names[c], "i", random_chance(r, 50) ? "{'a': 1}" : "{'b': -1}", NULL);
    if (random_chance(r, 40))
        call_index(db, NULL, names[c], "k", "{'c.r': 1, 'a': 1}", NULL);
}

/* save -- a random document. */
static void save(model *m, random_source *r, tansu_db *db, tansu_txn *txn) {
    int c = (int)random_below(r, COLLECTIONS), id = (int)random_below(r, DOCUMENTS);
    m->documents[c][id] = random_document(r);
    bson_t *doc = build(&m->documents[c][id], id);
    CHECK_OK(call_save_bson(db, txn, names[c], TANSU_SAVE, doc), &call_error);
    bson_destroy(doc);
}

/* remove_some -- random documents of one collection, by a query, by id or by an update. */
static bool remove_some(model *m, random_source *r, tansu_db *db, tansu_txn *txn) {
    int c = (int)random_below(r, COLLECTIONS), way = (int)random_below(r, 4);
    bool which[DOCUMENTS] = {false};
    int low = (int)random_below(r, DOCUMENTS);
    int high = way == 0 || random_chance(r, 60) ? low : low + (int)random_below(r, 6);
    int64_t expected = 0, removed = 0;
    for (int id = low; id <= high && id < DOCUMENTS; id++) {
        which[id] = true;
        expected += m->documents[c][id].there;
    }
    bool allowed = model_remove(m, c, which);
    char query[80];
    snprintf(query, sizeof query, "{'_id': {'$gte': %d, '$lte': %d}}", low, high);
    tansu_status status;
    if (way == 0) {
        int one = 0;
        snprintf(query, sizeof query, "{'_id': %d}", low);
        status = call_remove_id(db, txn, names[c], query, &one);
        removed = one;
    } else if (way == 1) {
        bson_t *q = bson_new_from_json((const uint8_t *)"{}", -1, NULL), range;
        bson_append_document_begin(q, "_id", -1, &range);
        BSON_APPEND_INT32(&range, "$gte", low);
        BSON_APPEND_INT32(&range, "$lte", high);
        bson_append_document_end(q, &range);
        bson_t *update = bson_new();
        BSON_APPEND_BOOL(update, "$dropall", true);
        tansu_buffer counts = TANSU_BUFFER_INIT;
        status = tansu_update(db, txn, names[c], document_of(q), document_of(update),
                              TANSU_NO_DOCUMENT, &counts, &call_error);
        bson_t answer;
        bson_iter_t iter;
        if (status == TANSU_OK && bson_init_static(&answer, counts.data, counts.size) &&
            bson_iter_init_find(&iter, &answer, "removed"))
            removed = bson_iter_as_int64(&iter);
        tansu_buffer_free(&counts);
        bson_destroy(update);
        bson_destroy(q);
    } else {
        status = call_remove(db, txn, names[c], query, &removed);
    }
    CHECK_STATUS(allowed ? TANSU_OK : TANSU_E_REFERENCED, status);
    CHECK_INT(allowed ? expected : 0, removed);
    return expected != 0;
}

/* drop -- a whole collection. */
static void drop(model *m, random_source *r, tansu_db *db) {
    int c = (int)random_below(r, COLLECTIONS);
    bool all[DOCUMENTS];
    memset(all, true, sizeof all);
    /* References of the collection itself to itself are no obstacle. */
    bool allowed = model_remove(m, c, all);
    tansu_status status = tansu_collection_drop(db, NULL, names[c], &call_error);
    if (status == TANSU_E_NOT_FOUND)
        return;
    CHECK_STATUS(allowed ? TANSU_OK : TANSU_E_REFERENCED, status);
    if (allowed)
        memset(m->links[c], 0, sizeof m->links[c]);
}

/* transaction -- several changes, that are committed or not. */
static void transaction(model *m, random_source *r, tansu_db *db) {
    model *before = malloc(sizeof *before);
    REQUIRE(before != NULL);
    *before = *m;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = (int)random_below(r, 6); i >= 0; i--) {
        if (random_chance(r, 50))
            save(m, r, db, txn);
        else
            remove_some(m, r, db, txn);
    }
    compare(m, db, txn);
    if (random_chance(r, 60)) {
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    } else {
        tansu_txn_abort(txn);
        *m = *before;
    }
    free(before);
}

/* world -- one database. */
static void world(random_source *r, unsigned *hits) {
    static model m;
    memset(&m, 0, sizeof m);
    char *folder = random_chance(r, 15) ? folder_new() : NULL;
    const char *path = folder != NULL ? folder_join(folder, "db") : NULL;
    char *copy = path != NULL ? strdup(path) : NULL;
    tansu_db *db = call_open(copy);
    for (int i = 0; i < 2; i++)
        declare(&m, r, db);
    for (int i = 0; i < DOCUMENTS; i++)
        save(&m, r, db, NULL);
    bool same = true;
    for (int i = 0; same && i < STEPS; i++) {
        switch (random_below(r, 12)) {
        case 0: declare(&m, r, db); break;
        case 1: transaction(&m, r, db); break;
        case 2:
            if (random_chance(r, 30))
                drop(&m, r, db);
            break;
        case 3:
            if (copy != NULL) {
                call_close(db);
                db = call_open(copy);
            }
            break;
        case 4:
        case 5:
        case 6: *hits += remove_some(&m, r, db, NULL); break;
        default: save(&m, r, db, NULL); break;
        }
        same = compare(&m, db, NULL);
        if (!same)
            check_note("at step %d", i);
    }
    CHECK(maintenance_clean(db));
    call_close(db);
    free(copy);
    if (folder != NULL)
        folder_end(folder);
}

static void the_engine_does_as_the_model(void) {
    random_source r = random_start(1);
    unsigned hits = 0;
    for (int i = 0; i < WORLDS; i++) {
        uint64_t failures = check_failures();
        world(&r, &hits);
        if (check_failures() != failures) {
            check_note("in world %d", i);
            return;
        }
    }
    CHECK(hits > WORLDS);
}

int main(void) {
    RUN(the_engine_does_as_the_model);
    return check_finish();
}
