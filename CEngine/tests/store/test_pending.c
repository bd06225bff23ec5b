/*
 * test_pending.c -- what a write transaction remembers of the documents that it changed, against a
 * plain array, whatever mixture of inserted and changed ones it is.
 */
#include "store/pending.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <string.h>

#define COLLECTIONS 3u
#define RIDS 6000u

typedef struct model {
    uint64_t at[COLLECTIONS][RIDS];
    uint32_t next[COLLECTIONS]; /* the record id of the next document that is inserted */
    bool any;
} model;

static void check_all(const pending *p, const model *m) {
    CHECK(pending_empty(p) == !m->any);
    for (uint32_t c = 0; c < COLLECTIONS; c++)
        for (uint32_t rid = 0; rid < RIDS; rid++)
            REQUIRE(pending_find(p, record_where(c + 1, rid)) == m->at[c][rid]);
}

/* change_some -- inserts documents into one collection or all, and changes others, some of them of
 * those that were inserted. */
static void change_some(pending *p, model *m, random_source *source, int steps) {
    unsigned mostly = (unsigned)random_below(source, COLLECTIONS);
    unsigned inserted = (unsigned)random_below(source, 101);
    for (int i = 0; i < steps; i++) {
        unsigned c =
            random_chance(source, 70) ? mostly : (unsigned)random_below(source, COLLECTIONS);
        uint64_t at = random_chance(source, 10) ? 0 : 1 + random_below(source, 1u << 30);
        if (random_chance(source, 10))
            at |= LOCATION_DELETED;
        uint32_t rid = m->next[c];
        if (random_chance(source, inserted) && rid < RIDS) {
            REQUIRE(pending_reserve_new(p, record_where(c + 1, rid)));
            pending_add(p, record_where(c + 1, rid), at);
            m->next[c]++;
        } else {
            rid = (uint32_t)random_below(source, m->next[c]);
            REQUIRE(pending_reserve(p));
            pending_set(p, record_where(c + 1, rid), at);
        }
        m->at[c][rid] = at;
        m->any = true;
    }
}

static void it_has_what_was_put_in(void) {
    random_source source = random_start(1);
    pending p = {0};
    model *m = calloc(1, sizeof *m);
    REQUIRE(m != NULL);
    for (int round = 0; round < 60; round++) {
        memset(m, 0, sizeof *m);
        for (uint32_t c = 0; c < COLLECTIONS; c++)
            m->next[c] = 1 + (uint32_t)random_below(&source, 1000); /* as committed */
        check_all(&p, m);
        int parts = (int)random_below(&source, 4);
        for (int part = 0; part < parts; part++) {
            change_some(&p, m, &source, (int)random_below(&source, 3000));
            check_all(&p, m);
        }
        pending_clear(&p);
    }
    free(m);
    pending_free(&p);
}

/* So that a large load neither hashes nor grows a table. */
static void inserted_documents_are_in_no_slot(void) {
    pending p = {0};
    for (uint64_t rid = 70; rid < 5000; rid++) {
        REQUIRE(pending_reserve_new(&p, record_where(2, rid)));
        pending_add(&p, record_where(2, rid), rid);
    }
    CHECK(p.slots == NULL && p.count == 0);
    CHECK_INT(4930, p.run_count);
    CHECK_INT(0, pending_find(&p, record_where(2, 69)));
    CHECK_INT(70, pending_find(&p, record_where(2, 70)));
    CHECK_INT(4999, pending_find(&p, record_where(2, 4999)));
    CHECK_INT(0, pending_find(&p, record_where(2, 5000)));
    CHECK_INT(0, pending_find(&p, record_where(3, 70)));
    pending_free(&p);
}

int main(void) {
    RUN(it_has_what_was_put_in);
    RUN(inserted_documents_are_in_no_slot);
    return check_finish();
}
