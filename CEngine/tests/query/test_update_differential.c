/*
 * test_update_differential.c -- random updates of random documents come to what a plain model says:
 * without indexes, with indexes, with a unique one, and after the database was opened again. A
 * difference is made small and printed.
 *
 * TANSU_ROUNDS: how many calls (default 12000); TANSU_SEED repeats a run.
 */
#include "support/check.h"
#include "support/differential/update_differential.h"
#include "support/random/random.h"
#include "support/random/random_update.h"

#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 12
#define CALLS 60
#define SHRINK_STEPS 3000

/* random_case -- a setup, documents and calls. */
static void random_case(random_source *r, reduction_case *c) {
    bson_t setup = BSON_INITIALIZER;
    bool unique = random_chance(r, 40), timed = random_chance(r, 60);
    bson_append_int64(&setup, "seed", -1, (int64_t)random_next(r));
    bson_append_int32(&setup, "unique", -1, unique ? (int32_t)random_below(r, 5) : -1);
    bson_append_bool(&setup, "persistent", -1, random_chance(r, 30));
    reduction_add(c, UPDATE_PLAY_SETUP, &setup, false);
    bson_destroy(&setup);
    for (int32_t i = 0; i < DOCUMENTS; i++) {
        bson_t *doc = random_update_document(r, i);
        reduction_add(c, UPDATE_PLAY_DOCUMENT, doc, true);
        bson_destroy(doc);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        bson_t *call = random_update_call(r, timed);
        reduction_add(c, UPDATE_PLAY_CALL, call, true);
        bson_destroy(call);
    }
}

/* still_differs -- for the reducer: in the same way, as the first words of the note tell. */
static bool still_differs(const reduction_case *smaller, void *context) {
    static update_differential_result result;
    const char *note = context;
    update_differential(smaller, &result);
    return result.differs && !result.senseless &&
           strncmp(result.note, note, strcspn(note, "{0123456789\n")) == 0;
}

/* show -- makes a case small and prints it with its difference. */
static void show(reduction_case *c, update_differential_result *result) {
    static update_differential_result again;
    check_note("%s", result->note);
    for (; c->count > result->parts && result->parts != 0; c->count--)
        bson_destroy(c->parts[c->count - 1].value);
    size_t tried = reduce_case(c, still_differs, result->note, SHRINK_STEPS);
    update_differential(c, &again);
    check_note("The smallest case after %zu tries:", tried);
    reduction_print(c);
    check_note("%s", again.note);
}

static void updates_are_as_the_model_s(void) {
    static update_differential_result result;
    unsigned long rounds = (unsigned long)random_rounds("TANSU_ROUNDS", 12000);
    unsigned long compared = 0, applied = 0, refused = 0, questions = 0;
    random_source source = random_start(1);
    bool good = true;
    while (compared < rounds && good) {
        reduction_case c = {NULL, 0};
        random_case(&source, &c);
        update_differential(&c, &result);
        good = CHECK(!result.differs) && CHECK(!result.senseless);
        compared += result.compared;
        applied += result.applied;
        refused += result.refused;
        questions += result.asked;
        if (result.differs)
            show(&c, &result);
        reduction_free(&c);
    }
    check_note(
        "%lu updates compared: %lu applied, %lu refused by both, the others matched nothing; "
        "%lu queries of indexes",
        compared, applied, refused, questions);
    /* Many random calls are refused or match nothing; enough must go through. */
    CHECK(!good || applied * 5 > compared);
}

int main(void) {
    RUN(updates_are_as_the_model_s);
    return check_finish();
}
