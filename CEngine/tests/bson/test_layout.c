/*
 * test_layout.c -- a layout finds of each path what a search finds, or nothing: in documents of a few
 * forms that alternate, with keys that begin like the paths' parts, and in bytes that are no BSON. Each
 * document is in memory of exactly its size, so that a sanitizer sees what is read outside.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many sets of paths are tried (3000).
 */
#include "bson/layout.h"
#include "support/check.h"
#include "support/random/random_form.h"

#include <stdlib.h>
#include <string.h>

#define FORMS 3
#define DOCUMENTS 40
#define DEFAULT_ROUNDS 3000

/* search -- whether a path has a value that is not behind an array. */
static bool search(const path *path, const uint8_t *doc, size_t size, doc_value *value) {
    *value = (doc_value){doc, (uint32_t)size, DOC_DOCUMENT};
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        if (value->type != DOC_DOCUMENT ||
            !doc_find(value->data, value->size, part->name, part->size, value))
            return false;
    }
    return true;
}

/* Paths that differ. */
typedef struct path_list {
    path made[LAYOUT_PATHS];
    const path *list[LAYOUT_PATHS];
    uint32_t count;
} path_list;

/* make_paths -- of one to three random keys each. */
static void make_paths(random_source *r, path_list *p) {
    uint64_t wanted = 2 + random_below(r, 3);
    p->count = 0;
    while (p->count < wanted) {
        char text[128] = "";
        for (uint64_t i = 0, parts = 1 + random_below(r, 3); i < parts; i++) {
            strcat(text, i == 0 ? "" : ".");
            strcat(text, random_form_key(r));
        }
        path *made = &p->made[p->count];
        REQUIRE(path_parse_keys(made, NULL, text, strlen(text), NULL) == TANSU_OK);
        bool again = false;
        for (uint32_t i = 0; i < p->count; i++)
            again = again || path_equal(p->list[i], made);
        if (again) {
            path_free(made);
            wanted--;
            continue;
        }
        p->list[p->count++] = made;
    }
}

/* walk -- checks all that a layout finds in a document; returns how many values that is. */
static uint32_t walk(const layout *l, const path_list *p, const uint8_t *doc, size_t size) {
    layout_walk w;
    doc_value value, wanted;
    uint32_t seen = 0, count = 0;
    int number;
    if (!layout_walk_begin(&w, l, doc, size))
        return 0;
    for (; (number = layout_walk_next(&w, &value)) >= 0; count++) {
        if (!CHECK((uint32_t)number < p->count) || !CHECK((seen >> number & 1) == 0) ||
            !CHECK(search(p->list[number], doc, size, &wanted)) ||
            !CHECK(value.data == wanted.data) || !CHECK_INT(wanted.size, value.size) ||
            !CHECK_INT(wanted.type, value.type))
            break;
        seen |= UINT32_C(1) << number;
    }
    return count;
}

/* one_round -- some paths, and documents of some forms; counts what a search and a layout find. */
static bool one_round(uint64_t round, uint64_t *searched, uint64_t *found) {
    static random_form forms[FORMS];
    static layout l;
    random_source r = random_start(round);
    path_list p;
    tansu_buffer doc = {0};
    uint64_t before = check_failures();
    unsigned spoiled = random_chance(&r, 50) ? 20 : 0;
    for (uint64_t i = 0; i < FORMS; i++)
        random_form_make(&r, &forms[i], random_chance(&r, 10) ? RANDOM_FORM_ELEMENTS : 6, false);
    make_paths(&r, &p);
    layout_begin(&l, &l);
    for (int i = 0; check_failures() == before && i < DOCUMENTS; i++) {
        writer w = {.out = &doc};
        doc.size = 0;
        random_form_write(&r, &w, &forms[random_chance(&r, 70) ? 0 : random_below(&r, FORMS)],
                          (random_form_values){.valid = false});
        REQUIRE(!w.failed);
        if (random_chance(&r, spoiled))
            random_form_spoil(&r, &doc);
        uint8_t *exact = malloc(doc.size != 0 ? doc.size : 1);
        REQUIRE(exact != NULL);
        if (doc.size != 0)
            memcpy(exact, doc.data, doc.size);
        uint32_t values = walk(&l, &p, exact, doc.size);
        for (uint32_t j = 0; j < p.count; j++) {
            doc_value value;
            *searched += search(p.list[j], exact, doc.size, &value);
        }
        *found += values;
        if (values < p.count)
            layout_learn(&l, p.list, p.count, exact, doc.size);
        free(exact);
    }
    for (uint32_t i = 0; i < p.count; i++)
        path_free(&p.made[i]);
    tansu_buffer_free(&doc);
    return check_failures() == before;
}

static void a_layout_finds_what_a_search_finds(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS), searched = 0, found = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round, &searched, &found)) {
            check_note("round %llu", (unsigned long long)round);
            return;
        }
    }
    CHECK(found > searched / 10);
    check_note("%llu of %llu values found", (unsigned long long)found,
               (unsigned long long)searched);
}

int main(void) {
    RUN(a_layout_finds_what_a_search_finds);
    return check_finish();
}
