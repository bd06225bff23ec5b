/*
 * test_index_batches.c -- in a large transaction index entries wait and are inserted together:
 * nobody sees that, whatever is read, changed, taken back, created or dropped in between.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS 6000
#define VALUES 40
#define NONE 0xFF

/* What the collection holds: the value of each id, or NONE. */
typedef struct model {
    uint8_t value[IDS];
    uint32_t next; /* id that was never used */
} model;

static tansu_db *db;
static random_source source;

static void save(model *m, tansu_txn *txn, uint32_t id) {
    char text[128];
    unsigned value = (unsigned)random_below(&source, VALUES);
    snprintf(text, sizeof text, "{'_id': %u, 'a': %u, 't': ['x%u', 'y%u'], 'u': %u}", id, value,
             value, value, id);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, text), &call_error);
    m->value[id] = (uint8_t)value;
    if (id >= m->next)
        m->next = id + 1;
}

static void drop(model *m, tansu_txn *txn, uint32_t id) {
    char text[64];
    int removed;
    snprintf(text, sizeof text, "{'_id': %u}", id);
    CHECK_OK(call_remove_id(db, txn, "c", text, &removed), &call_error);
    CHECK_INT(m->value[id] != NONE, removed);
    m->value[id] = NONE;
}

/* check_value -- by an index on a number, on an array and by a unique one. */
static void check_value(const model *m, tansu_txn *txn, unsigned value) {
    char text[64];
    int64_t expected = 0;
    uint32_t some = IDS;
    for (uint32_t id = 0; id < m->next; id++)
        if (m->value[id] == value) {
            expected++;
            some = id;
        }
    snprintf(text, sizeof text, "{'a': %u}", value);
    CHECK_INT(expected, call_count(db, txn, "c", text));
    snprintf(text, sizeof text, "{'t': 'y%u'}", value);
    CHECK_INT(expected, call_count(db, txn, "c", text));
    snprintf(text, sizeof text, "{'**': 'x%u'}", value);
    CHECK_INT(expected, call_count(db, txn, "c", text));
    snprintf(text, sizeof text, "{'u': %u}", some);
    CHECK_INT(some < IDS, call_count(db, txn, "c", text));
}

static void check_all(const model *m, tansu_txn *txn) {
    for (unsigned value = 0; value < VALUES; value++)
        check_value(m, txn, value);
}

static void create_indexes(tansu_txn *txn) {
    CHECK_OK(call_index(db, txn, "c", "a", "{'a': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, txn, "c", "t", "{'t': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, txn, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, txn, "c", "w", "{'**': 1}", NULL), &call_error);
}

/* savepoint -- some work of which all or nothing stays. */
static void savepoint(model *m, tansu_txn *txn) {
    model before = *m;
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    for (int i = 0; i < 30 && m->next < IDS; i++)
        save(m, txn, m->next);
    if (m->next > 0)
        drop(m, txn, (uint32_t)random_below(&source, m->next));
    if (random_chance(&source, 50)) {
        CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
        *m = before;
    } else {
        CHECK_OK(tansu_savepoint_release(txn, &call_error), &call_error);
    }
}

/* step -- mostly a new document, so that entries wait; seldom anything else. */
static void step(model *m, tansu_txn *txn) {
    switch (random_below(&source, 400)) {
    case 0: save(m, txn, (uint32_t)random_below(&source, m->next + 1)); break;
    case 1:
        if (m->next > 0)
            drop(m, txn, (uint32_t)random_below(&source, m->next));
        break;
    case 2: check_value(m, txn, (unsigned)random_below(&source, VALUES)); break;
    case 3: savepoint(m, txn); break;
    case 4:
        CHECK_OK(tansu_index_drop(db, txn, "c", "a", &call_error), &call_error);
        CHECK_OK(call_index(db, txn, "c", "a", "{'a': 1}", NULL), &call_error);
        break;
    case 5: CHECK_OK(call_save(db, txn, "other", TANSU_SAVE, "{'a': 1}"), &call_error); break;
    case 6: {
        int64_t removed, expected = 0;
        for (uint32_t id = 0; id < m->next; id++)
            if (m->value[id] == 7) {
                m->value[id] = NONE;
                expected++;
            }
        CHECK_OK(call_remove(db, txn, "c", "{'a': 7}", &removed), &call_error);
        CHECK_INT(expected, removed);
        break;
    }
    default: save(m, txn, m->next); break;
    }
}

static void everything_sees_what_waits(void) {
    source = random_start(1);
    char *folder = folder_new();
    char path[512];
    snprintf(path, sizeof path, "%s", folder_join(folder, "db"));
    db = call_open(path);
    model m;
    memset(&m, 0, sizeof m);
    memset(m.value, NONE, sizeof m.value);
    create_indexes(NULL);
    CHECK_OK(call_index(db, NULL, "other", "a", "{'a': 1}", NULL), &call_error);
    while (m.next < IDS - 50) {
        model before = m;
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        unsigned steps = 300 + (unsigned)random_below(&source, 1200);
        for (unsigned i = 0; i < steps && m.next < IDS - 50; i++)
            step(&m, txn);
        if (random_chance(&source, 20)) {
            tansu_txn_abort(txn);
            m = before;
            if (m.next > IDS / 2)
                break;
        } else {
            CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        }
        check_all(&m, NULL);
    }
    call_close(db);
    folder_remove(folder_join(path, "index")); /* all of it is replayed, in one transaction */
    db = call_open(path);
    check_all(&m, NULL);
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

static void a_collection_dropped_while_entries_wait_is_gone(void) {
    source = random_start(2);
    db = call_open(NULL);
    model m;
    memset(&m, 0, sizeof m);
    memset(m.value, NONE, sizeof m.value);
    create_indexes(NULL);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    while (m.next < 600)
        save(&m, txn, m.next);
    CHECK_OK(tansu_collection_drop(db, txn, "c", &call_error), &call_error);
    m.next = 0;
    memset(m.value, NONE, sizeof m.value);
    create_indexes(txn);
    while (m.next < 600)
        save(&m, txn, m.next);
    CHECK_OK(tansu_collection_rename(db, txn, "c", "d", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, txn, "d", "c", &call_error), &call_error);
    check_all(&m, txn);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    check_all(&m, NULL);
    call_close(db);
}

int main(void) {
    RUN(everything_sees_what_waits);
    RUN(a_collection_dropped_while_entries_wait_is_gone);
    return check_finish();
}
