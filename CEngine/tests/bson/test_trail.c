/*
 * test_trail.c -- a trail finds what a search finds, whatever the documents before were: documents
 * of a few forms that alternate, keys that begin like the path's parts, longer ones than a step has
 * room for, all types, forms that end early, and bytes that are no BSON. Each document is in memory
 * of exactly its size, so that a sanitizer sees what is read outside.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many paths are tried (3000).
 */
#include "bson/trail.h"
#include "support/check.h"
#include "support/random/random_form.h"

#include <stdlib.h>
#include <string.h>

#define FORMS 4
#define DOCUMENTS 60
#define DEFAULT_ROUNDS 3000

/* search -- what trail_find() is to find, by doc_find(). */
static enum trail_end search(const path *path, const uint8_t *doc, size_t size, doc_value *value) {
    *value = (doc_value){doc, (uint32_t)size, DOC_DOCUMENT};
    for (uint32_t i = 0; i < path->count; i++) {
        const path_part *part = &path->parts[i];
        if (value->type == DOC_ARRAY)
            return TRAIL_ARRAY;
        if (value->type != DOC_DOCUMENT ||
            !doc_find(value->data, value->size, part->name, part->size, value))
            return i == 0 ? TRAIL_NO_FIELD : TRAIL_MISSING;
    }
    return TRAIL_FOUND;
}

/* same -- whether a trail and a search agree on a document. */
static bool same(trail *t, const path *path, const tansu_buffer *doc, enum trail_end *expected) {
    uint8_t *exact = malloc(doc->size != 0 ? doc->size : 1);
    doc_value found = {NULL, 0, DOC_MISSING}, wanted;
    REQUIRE(exact != NULL);
    if (doc->size != 0)
        memcpy(exact, doc->data, doc->size);
    *expected = search(path, exact, doc->size, &wanted);
    bool agree = CHECK_INT(*expected, trail_find(t, path, exact, doc->size, &found));
    if (*expected == TRAIL_FOUND)
        agree = agree && CHECK(found.data == wanted.data) && CHECK_INT(wanted.size, found.size) &&
                CHECK_INT(wanted.type, found.type);
    free(exact);
    return agree;
}

/* make_path -- one to three random keys; returns the first. */
static const char *make_path(random_source *r, path *result) {
    char text[128] = "";
    const char *first = NULL;
    for (uint64_t i = 0, parts = 1 + random_below(r, 3); i < parts; i++) {
        const char *key = random_form_key(r);
        strcat(text, i == 0 ? "" : ".");
        strcat(text, key);
        first = i == 0 ? key : first;
    }
    REQUIRE(path_parse_keys(result, NULL, text, strlen(text), NULL) == TANSU_OK);
    return first;
}

/* one_round -- a path, and documents of some forms. */
static bool one_round(uint64_t round, uint64_t ends[TRAIL_ARRAY + 1]) {
    static random_form forms[FORMS];
    static trail t;
    random_source r = random_start(round);
    uint64_t form_count = 1 + random_below(&r, FORMS);
    unsigned spoiled = random_chance(&r, 50) ? 20 : 0;
    path path = {0};
    tansu_buffer doc = {0};
    bool agree = true;
    for (uint64_t i = 0; i < form_count; i++) {
        /* Often one that has the first elements of the form before. */
        uint32_t most = random_chance(&r, 10) ? RANDOM_FORM_ELEMENTS : 6;
        if (i != 0 && random_chance(&r, 60)) {
            forms[i] = forms[i - 1];
            forms[i].elements[random_below(&r, forms[i].top)].type = DOC_INT32;
            forms[i].elements[random_below(&r, forms[i].top)].key = random_form_key(&r);
            forms[i].top -= forms[i].top > 1;
            continue;
        }
        random_form_make(&r, &forms[i], most, false);
    }
    const char *first = make_path(&r, &path);
    /* Seldom one by chance: an array where the path goes on. */
    if (random_chance(&r, 25))
        forms[0].elements[0] = (random_form_element){.key = first, .type = DOC_ARRAY};
    memset(&t, 0, sizeof t);
    trail_begin(&t, &t);
    for (int i = 0; agree && i < DOCUMENTS; i++) {
        const random_form *f = &forms[random_chance(&r, 50) ? 0 : random_below(&r, form_count)];
        writer w = {.out = &doc};
        enum trail_end end;
        doc.size = 0;
        random_form_write(&r, &w, f, (random_form_values){.valid = false});
        REQUIRE(!w.failed);
        if (random_chance(&r, spoiled))
            random_form_spoil(&r, &doc);
        agree = same(&t, &path, &doc, &end);
        ends[end]++;
    }
    if (!agree)
        check_note("round %llu, path \"%s\"", (unsigned long long)round, path.text);
    path_free(&path);
    tansu_buffer_free(&doc);
    return agree;
}

static void a_trail_finds_what_a_search_finds(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    uint64_t ends[TRAIL_ARRAY + 1] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round, ends))
            return;
    }
    for (int i = 0; i <= TRAIL_ARRAY; i++)
        CHECK(ends[i] > rounds / 10);
}

/* put -- appends an int32. */
static void put(writer *w, const char *key, int32_t number) {
    uint8_t bytes[4];
    store_u32(bytes, (uint32_t)number);
    writer_head(w, DOC_INT32, key, strlen(key));
    writer_bytes(w, bytes, 4);
}

/* The second level has the first part's name, and cannot be remembered as a whole: its steps must
 * not be taken for those of the first level. */
static void levels_are_not_mixed_up(void) {
    static trail t;
    static const char long_key[] = "a_key_that_is_longer_than_a_step_has_room_for";
    path path = {0};
    tansu_buffer first = {0}, second = {0};
    writer a = {.out = &first}, b = {.out = &second};
    enum trail_end end;
    REQUIRE(path_parse_keys(&path, NULL, "x.y", 3, NULL) == TANSU_OK);
    size_t start = writer_begin(&a);
    put(&a, long_key, 1);
    writer_head(&a, DOC_DOCUMENT, "x", 1);
    size_t level = writer_begin(&a);
    put(&a, "x", 2);
    put(&a, "y", 3);
    writer_end(&a, level);
    writer_end(&a, start);
    start = writer_begin(&b);
    put(&b, "x", 4);
    put(&b, "y", 5);
    writer_end(&b, start);
    trail_begin(&t, &t);
    for (int i = 0; i < 10; i++) {
        CHECK(same(&t, &path, &first, &end));
        CHECK_INT(TRAIL_FOUND, end);
        CHECK(same(&t, &path, &second, &end));
        CHECK_INT(TRAIL_MISSING, end);
    }
    path_free(&path);
    tansu_buffer_free(&first);
    tansu_buffer_free(&second);
}

int main(void) {
    RUN(a_trail_finds_what_a_search_finds);
    RUN(levels_are_not_mixed_up);
    return check_finish();
}
