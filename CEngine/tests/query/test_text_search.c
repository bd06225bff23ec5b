/*
 * test_text_search.c -- searches by an index of words against a look at every document: random
 * documents, updates, removals and searches; the same matches, scores and order of the best, whatever
 * the definition of the index.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many collections are searched (8).
 */
#include "api/handles.h"
#include "query/text/text_search.h"
#include "store/index_backlog/index_backlog.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/differential/plain_search.h"
#include "support/fault/fault_injection.h"
#include "support/random/random_search.h"
#include "support/text.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROUNDS 8
#define SEARCHES 39

static tansu_error error;

/* ---- Documents ---- */

/* save_document -- with strings here and there. */
static void save_document(random_source *r, const vocabulary *v, tansu_db *db, tansu_txn *txn,
                          uint32_t id) {
    static text t;
    t.size = 0;
    put(&t, "{'_id':%u,'n':%u", id, id % 7);
    if (random_chance(r, 80)) {
        put(&t, ",'a':'");
        put_words(r, v, &t, 8);
        put(&t, "'");
    }
    if (random_chance(r, 70)) {
        put(&t, ",'b':['");
        put_words(r, v, &t, 10);
        put(&t, "',5,'");
        put_words(r, v, &t, random_chance(r, 3) ? 200 : 10);
        put(&t, "']");
    }
    if (random_chance(r, 60)) {
        put(&t, ",'c':{'d':'");
        put_words(r, v, &t, 20);
        put(&t, "'}");
    }
    put(&t, "}");
    REQUIRE(CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, t.bytes), &call_error));
}

/* change_documents -- replaces and removes some, and adds others. */
static void change_documents(random_source *r, const vocabulary *v, tansu_db *db, uint32_t *ids,
                             uint32_t changes) {
    char id[20];
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t number = (uint32_t)random_below(r, *ids);
        switch (random_below(r, 4)) {
        case 0:
            snprintf(id, sizeof id, "{'_id':%u}", number);
            call_remove_id(db, txn, "c", id, NULL);
            break;
        case 1: save_document(r, v, db, txn, number); break;
        default: save_document(r, v, db, txn, (*ids)++);
        }
    }
    REQUIRE(CHECK_OK(tansu_txn_commit(txn, NULL, &error), &error));
}

/* ---- Searches ---- */

/* What is searched. */
typedef struct searched {
    read_call call;
    const collection_state *state;
    const collection_index *index;
    plain_collection plain;
    deadline deadline;
} searched;

static void searched_begin(searched *s, tansu_db *db) {
    REQUIRE(CHECK_OK(read_call_begin(&s->call, db, NULL, &error), &error));
    s->state = snapshot_collection(s->call.snapshot, "c");
    REQUIRE(s->state != NULL);
    REQUIRE(CHECK_OK(indexes_current(s->state, &error), &error));
    s->index = &s->state->indexes[s->state->index_count - 1];
    s->deadline = (deadline){.milliseconds = 0};
    plain_read(&s->plain, s->index->definition, &s->call.rctx, s->state);
}

static void searched_end(searched *s) {
    plain_free(&s->plain);
    CHECK_OK(read_call_end(&s->call, TANSU_OK, &error), &error);
}

static text_search *new_search(searched *s, const text_query *q) {
    text_search *search = NULL;
    REQUIRE(CHECK_OK(text_search_new(q, &s->call.rctx, s->state, &s->index->entries, &s->deadline,
                                     &search, &error),
                     &error));
    return search;
}

/* ---- The best ---- */

static int compare_hits(const void *left, const void *right) {
    const text_hit *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->rid < b->rid ? -1 : a->rid > b->rid;
}

/* A filter that notes what it is asked. */
typedef struct noting_filter {
    uint64_t modulus; /* record ids that are divisible are left out; 0: none */
    uint64_t asked[4096], count;
} noting_filter;

static bool accepts(const noting_filter *f, uint64_t rid) {
    return f->modulus == 0 || rid % f->modulus != 0;
}

static tansu_status note(void *context, uint64_t rid, bool *accepted, tansu_error *e) {
    noting_filter *f = context;
    (void)e;
    f->asked[f->count++ % 4096] = rid;
    *accepted = accepts(f, rid);
    return TANSU_OK;
}

/* expected_top -- the best of all matches, and what a filter is asked. */
static uint32_t expected_top(const text_hit *all, uint32_t count, uint32_t most, noting_filter *f,
                             text_hit *best) {
    uint32_t found = 0;
    f->count = 0;
    for (uint32_t i = 0; i < count && most > 0; i++) {
        bool enters = found < most || all[i].score > best[found - 1].score;
        if (!enters)
            continue;
        f->asked[f->count++ % 4096] = all[i].rid;
        if (!accepts(f, all[i].rid))
            continue;
        found -= found == most;
        uint32_t at = found++;
        for (; at > 0 && compare_hits(&all[i], &best[at - 1]) < 0; at--)
            best[at] = best[at - 1];
        best[at] = all[i];
    }
    return found;
}

/* check_top -- the best so many of all matches. */
static bool check_top(searched *s, const text_query *q, const text_hit *all, uint32_t count,
                      uint32_t most, uint64_t modulus, bool filtered) {
    static noting_filter expected_calls, calls;
    text_hit *expected = calloc(most + 1, sizeof *expected), *hits = calloc(most + 1, sizeof *hits);
    uint32_t found = 0;
    expected_calls.modulus = calls.modulus = modulus;
    calls.count = 0;
    uint32_t expected_count = expected_top(all, count, most, &expected_calls, expected);
    text_search *search = new_search(s, q);
    bool same = CHECK_OK(
        text_search_top(search, most, filtered ? note : NULL, &calls, hits, &found, &error),
        &error);
    same = CHECK_INT(expected_count, found) && same;
    for (uint32_t i = 0; i < found && same; i++) {
        same = CHECK_INT(expected[i].rid, hits[i].rid) && same;
        same = CHECK(expected[i].score == hits[i].score) && same;
    }
    if (filtered) {
        same = CHECK_INT(expected_calls.count, calls.count) && same;
        for (uint64_t i = 0; i < calls.count && i < 4096 && same; i++)
            same = CHECK_INT(expected_calls.asked[i], calls.asked[i]);
    }
    if (!same)
        check_note("the best %u of %u, modulus %u", most, count, (unsigned)modulus);
    text_search_free(search);
    free(expected);
    free(hits);
    return same;
}

/* ---- The comparison ---- */

/* near -- whether two scores are equal but for what additions lose. */
static bool near(double a, double b) {
    return a - b <= 1e-9 * a && b - a <= 1e-9 * a;
}

/* check_next -- all matches; the scores come to `hits`. */
static bool check_next(searched *s, const text_query *q, text_hit *hits, uint32_t count) {
    bool same = true;
    for (int scored = 0; scored < 2; scored++) {
        text_search *search = new_search(s, q);
        text_hit hit;
        tansu_status status;
        uint32_t at = 0;
        same = CHECK(text_search_bound(search) >= count) && same;
        while ((status = text_search_next(search, scored, &hit, &error)) == TANSU_OK) {
            same = CHECK(at < count) && same;
            if (!same)
                break;
            same = CHECK_INT(hits[at].rid, hit.rid) && same;
            if (scored) {
                same = CHECK(near(hits[at].score, hit.score)) && same;
                hits[at].score = hit.score;
            }
            at++;
        }
        if (same) {
            same = CHECK_STATUS(TANSU_DONE, status) && same;
            same = CHECK_INT(count, at) && same;
        }
        text_search_free(search);
    }
    return same;
}

/* A search that is bound to an index. */
typedef struct bound_search {
    bson_t *operand;
    arena memory;
    text_document analyzers;
    text_query *query;
} bound_search;

static void bind_search(bound_search *b, const index_definition *definition, const char *json) {
    text_condition *condition;
    *b = (bound_search){.operand = bson_from_text(json)};
    REQUIRE(CHECK_OK(text_query_parse(bson_get_data(b->operand), b->operand->len, &b->memory,
                                      &condition, &error),
                     &error));
    REQUIRE(CHECK_OK(
        text_query_bind(condition, definition, &b->analyzers, &b->memory, &b->query, &error),
        &error));
}

static void bound_free(bound_search *b) {
    bson_destroy(b->operand);
    text_document_free(&b->analyzers);
    arena_free(&b->memory);
}

/* check_search -- one search, of both kinds. */
static void check_search(random_source *r, searched *s, const char *json) {
    bound_search b;
    text_hit *hits = calloc(s->plain.count + 1, sizeof *hits);
    bind_search(&b, s->index->definition, json);
    uint32_t count = plain_search(&s->plain, b.query, hits);
    bool same = check_next(s, b.query, hits, count);
    const uint32_t mosts[] = {0, 1, 2, 3, 10, (uint32_t)random_below(r, 300), count, count + 5};
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts && same; i++) {
        same = check_top(s, b.query, hits, count, mosts[i], 0, false);
        same = same && check_top(s, b.query, hits, count, mosts[i], random_below(r, 5), true);
    }
    if (!same)
        check_note("search: %s", json);
    free(hits);
    bound_free(&b);
}

static const char *const indexes[][2] = {
    {"{'a':'text','b':'text','c.d':'text'}", "{'weights':{'a':10,'c.d':3}}"},
    {"{'a':'text','b':'text','c.d':'text'}", "{'positions':false}"},
    {"{'a':'text','b':'text','c.d':'text'}", NULL},
    {"{'**':'text'}", NULL},
    {"{'**':'text'}", "{'positions':false}"},
};

static void same_as_without_an_index(void) {
    static vocabulary v;
    static text search;
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    for (uint64_t round = 0; round < rounds && check_failures() == 0; round++) {
        random_source r = random_start(round);
        tansu_db *db = memory_db_open();
        uint32_t ids = 1;
        size_t index = round % (sizeof indexes / sizeof *indexes);
        bool few = random_chance(&r, 20);
        random_words(&r, &v, 3 + (uint32_t)random_below(&r, WORDS_MOST - 3));
        change_documents(&r, &v, db, &ids, (uint32_t)random_below(&r, few ? 3 : 6000));
        create_index(db, "t", indexes[index][0], indexes[index][1]);
        for (int change = 0; change < 3; change++) {
            searched s;
            change_documents(&r, &v, db, &ids, (uint32_t)random_below(&r, few ? 3 : 1000));
            searched_begin(&s, db);
            for (int i = 0; i < SEARCHES / 3 && check_failures() == 0; i++) {
                random_search(&r, &v, &search, index < 3);
                check_search(&r, &s, search.bytes);
            }
            searched_end(&s);
        }
        memory_db_close(db);
    }
}

/* ---- Limits ---- */

/* many_documents -- of which each has one of two words, and one of many. */
static tansu_db *many_documents(uint32_t count, const char *options) {
    char json[100];
    tansu_db *db = memory_db_open();
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(json, sizeof json, "{'_id':%u,'a':'%s word%u both ends'}", i,
                 i % 2 == 0 ? "even" : "odd", i % 500);
        REQUIRE(CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, json), &call_error));
    }
    REQUIRE(CHECK_OK(tansu_txn_commit(txn, NULL, &error), &error));
    create_index(db, "t", "{'a':'text'}", options);
    return db;
}

/* run_search -- to its end: `most` 0: all matches. */
static tansu_status run_search(searched *s, const text_query *q, uint32_t most) {
    text_search *search = NULL;
    text_hit hits[10];
    uint32_t count;
    tansu_status status = text_search_new(q, &s->call.rctx, s->state, &s->index->entries,
                                          &s->deadline, &search, &error);
    if (status != TANSU_OK)
        return status;
    if (most != 0)
        status = text_search_top(search, most, NULL, NULL, hits, &count, &error);
    while (most == 0 && status == TANSU_OK)
        status = text_search_next(search, true, hits, &error);
    text_search_free(search);
    return status == TANSU_DONE ? TANSU_OK : status;
}

static void stops_when_cancelled(void) {
    static const char *const searches[] = {"{'word':'both'}",
                                           "{'all':['even','odd']}",
                                           "{'any':['even','odd']}",
                                           "{'all':['both',{'any':['even','odd']}]}",
                                           "{'phrase':'both ends'}",
                                           "{'prefix':'wor'}",
                                           "{'fuzzy':'word1','distance':2}"};
    tansu_db *db = many_documents(10000, NULL);
    searched s;
    interrupt stop = {.outer = NULL};
    searched_begin(&s, db);
    s.deadline.interrupt = &stop;
    interrupt_ask(&stop);
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        bound_search b;
        bind_search(&b, s.index->definition, searches[i]);
        if (!CHECK_STATUS(TANSU_E_CANCELLED, run_search(&s, b.query, 0)) ||
            !CHECK_STATUS(TANSU_E_CANCELLED, run_search(&s, b.query, 10)))
            check_note("%s", searches[i]);
        bound_free(&b);
    }
    searched_end(&s);
    memory_db_close(db);
}

static void limits_the_documents_of_a_prefix(void) {
    tansu_db *db = many_documents(5000, NULL);
    searched s;
    bound_search b;
    searched_begin(&s, db);
    bind_search(&b, s.index->definition, "{'prefix':'wo'}");
    s.call.rctx.group_memory = 1 << 16;
    CHECK_STATUS(TANSU_E_TOO_LARGE, run_search(&s, b.query, 10));
    CHECK_TEXT("$text", error.context);
    s.call.rctx.group_memory = 1 << 19;
    CHECK_OK(run_search(&s, b.query, 10), &error);
    bound_free(&b);
    searched_end(&s);
    memory_db_close(db);
}

static void survives_failing_allocations(void) {
    static const char *const searches[] = {
        "{'all':['both',{'phrase':'both ends'}],'any':['even',{'prefix':'word1'}],'not':['word7']}",
        "{'any':[{'all':['even','both']},{'fuzzy':'evem'},{'near':['even','ends']}]}",
    };
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail");
        return;
    }
    for (int positions = 0; positions < 2; positions++) {
        tansu_db *db = many_documents(2000, positions ? NULL : "{'positions':false}");
        searched s;
        searched_begin(&s, db);
        for (uint32_t i = 0; i < 4; i++) {
            bound_search b;
            bool failed = true;
            bind_search(&b, s.index->definition, searches[i / 2]);
            for (unsigned nth = 1; failed; nth++) {
                fault_start(FAULT_OWN_MEMORY, nth, false, 0);
                tansu_status status = run_search(&s, b.query, i % 2 == 0 ? 0 : 10);
                failed = fault_occurred();
                fault_stop();
                if (!CHECK_STATUS(failed ? TANSU_E_MEMORY : TANSU_OK, status))
                    check_note("allocation %u", nth);
            }
            bound_free(&b);
        }
        searched_end(&s);
        memory_db_close(db);
    }
}

int main(void) {
    RUN(stops_when_cancelled);
    RUN(limits_the_documents_of_a_prefix);
    RUN(survives_failing_allocations);
    RUN(same_as_without_an_index);
    return check_finish();
}
