/*
 * test_query_differential.c -- an index never changes an answer, nor its order. Random documents,
 * indexes (compound, unique, sparse, partial, case-insensitive, wildcard; created among the
 * documents) and queries with hints, also after documents were replaced, removed and saved again:
 * the engine with the plan that it chooses, without an index and with each index, against the
 * reference model of query_model.h, which also says what unique indexes refuse. Indexes are dropped
 * and rebuilt;
 * some databases are in folders and are asked again after they were closed and opened, and after
 * their indexes were deleted and made again from the log.
 *
 * The first difference ends the run: it is made small (case_reduction.h) and printed, with
 * documents, indexes, query, hints and both answers, the seed and the round.
 *
 * TANSU_SEED=n repeats a run. TANSU_ROUNDS=n is how many databases are made (400, with about 250
 * answers each), so that
 *     TANSU_ROUNDS=40000 TANSU_SEED=1 .build-engine/release/test_query_differential
 * compares ten million answers.
 */
#include "support/check.h"
#include "support/differential/query_differential.h"
#include "support/libraries.h"
#include "support/model/query_model.h"
#include "support/random/random.h"
#include "support/random/random_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DOCS 60
#define MAX_INDEXES 4
#define QUERIES 60
#define DEFAULT_ROUNDS 400
#define SHRINK_STEPS 5000

static differential_counts counts;

/* save -- a random document with that `_id`. */
static bool save(random_source *r, differential *w, int id, bool plain) {
    bson_t *doc = random_case_document(r, id, plain);
    bool same = CHECK(differential_save(w, doc));
    bson_destroy(doc);
    return same;
}

/* index_new -- a random index. */
static bool index_new(random_source *r, differential *w, int number) {
    char name[16];
    bson_t *keys, *options;
    snprintf(name, sizeof name, "i%d", number);
    random_index(r, &keys, &options);
    bool same = CHECK(differential_create_index(w, name, keys, options));
    bson_destroy(keys);
    bson_destroy(options);
    return same;
}

/* make_collection -- documents, and somewhere between them the indexes. */
static bool make_collection(random_source *r, differential *w, bool plain) {
    bool stored = random_chance(r, 12);
    differential_open(w, stored, random_chance(r, 50), &counts);
    int documents = (int)random_below(r, MAX_DOCS + 1);
    int indexes = (int)random_below(r, MAX_INDEXES + 1);
    int before = (int)random_below(r, (uint64_t)documents + 1);
    bool same = true;
    for (int i = 0; same && i <= documents; i++) {
        for (int k = 0; same && i == before && k < indexes; k++)
            same = index_new(r, w, k);
        if (same && i < documents)
            same = save(r, w, i, plain);
    }
    return same;
}

/* has_folded -- whether some index is without regard to letter case. */
static bool has_folded(const differential *w) {
    for (size_t i = 0; i < w->index_count; i++) {
        if (bson_has_field(w->indexes[i].options, "caseInsensitive"))
            return true;
    }
    return false;
}

/* ask_one -- a random query, answered or (`removing`) what it finds removed. */
static bool ask_one(random_source *r, differential *w, bool removing) {
    bson_t *query = bson_new(), *hints = random_hints(r, has_folded(w));
    random_selector(r, query, removing ? 1 : 2);
    bool same = CHECK(removing ? differential_remove(w, query, hints)
                               : differential_query(w, query, hints));
    bson_destroy(query);
    bson_destroy(hints);
    return same;
}

/* change_collection -- replaces some documents, which keep their places, removes some, and makes
 * the database or one of its indexes again. */
static bool change_collection(random_source *r, differential *w, bool plain) {
    bool same = true;
    for (int id = 0; same && id < MAX_DOCS; id++) {
        /* Among them new ones, and such as were removed. */
        if (random_chance(r, id < (int)w->count ? 30 : 3))
            same = save(r, w, id, plain);
    }
    if (same && random_chance(r, 50))
        same = ask_one(r, w, true);
    if (same && w->index_count > 0 && random_chance(r, 50))
        same = CHECK(
            differential_rebuild_index(w, random_below(r, w->index_count), random_chance(r, 50)));
    if (same && w->folder)
        same = CHECK(differential_reopen(w, random_chance(r, 40)));
    return same;
}

/* one_round -- one database. */
static bool one_round(uint64_t round) {
    random_source r = random_start(round);
    bool plain = random_chance(&r, 40);
    differential w;
    bool same = make_collection(&r, &w, plain);
    for (int i = 0; same && i < QUERIES; i++) {
        if (i % 20 == 19)
            same = change_collection(&r, &w, plain);
        same = same && ask_one(&r, &w, false);
    }
    if (!same) {
        check_note("TANSU_SEED=%" PRIu64 ", round %" PRIu64, random_seed(), round);
        differential_report(&w, SHRINK_STEPS);
    }
    differential_close(&w);
    return same;
}

static void every_plan_gives_the_same_answer(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round))
            return;
    }
    if (rounds < DEFAULT_ROUNDS)
        return;
    /* What the run is for was in it. */
    CHECK(counts.lacking > counts.refused && counts.refused > 0);
    CHECK(counts.folded > 0);
    CHECK(counts.wildcard > 0);
    CHECK(counts.unique > 0 && counts.unique_refused > 0 && counts.saves_refused > 0);
    CHECK(counts.reopened > 0 && counts.rebuilt > 0 && counts.remade > 0);
}

int main(void) {
    library_regex_start();
    RUN(every_plan_gives_the_same_answer);
    check_note("%" PRIu64 " answers compared; sparse and partial indexes were of use in %" PRIu64
               " of %" PRIu64 " cases; %" PRIu64
               " answered from ranges of case-insensitive ones, %" PRIu64 " of wildcard ones",
               counts.answers, counts.lacking - counts.refused, counts.lacking, counts.folded,
               counts.wildcard);
    check_note("%" PRIu64 " unique indexes, %" PRIu64 " refused, and %" PRIu64
               " documents; %" PRIu64 " databases reopened, %" PRIu64 " made from the log, %" PRIu64
               " indexes made again",
               counts.unique, counts.unique_refused, counts.saves_refused, counts.reopened,
               counts.rebuilt, counts.remade);
    return check_finish();
}
