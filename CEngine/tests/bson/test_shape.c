/*
 * test_shape.c -- with a shape a document is valid exactly when it is without, and the error is the
 * same, whatever the documents before were: documents of a few shapes that alternate, some of their
 * keys left out, keys that are there twice or in another order, values of other types, invalid
 * bytes, and more keys and levels than a shape has room for. Each document is in memory of exactly its size, so that a sanitizer sees what is read
 * outside.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many sets of shapes are tried (3000).
 */
#include "bson/validate/shape.h"
#include "support/check.h"
#include "support/random/random_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS 4
#define DOCUMENTS 60
#define DEFAULT_ROUNDS 3000

/* What the documents of a run came to. */
typedef struct tally {
    uint64_t valid, invalid, by_form;
} tally;

/* ---- Verdicts ---- */

/* agrees -- whether a shape's verdict is the one without a shape. */
static bool agrees(shape *f, const tansu_buffer *doc, tally *t) {
    uint8_t *exact = malloc(doc->size != 0 ? doc->size : 1);
    tansu_error expected = {.offset = 0}, error = {.offset = 0};
    REQUIRE(exact != NULL);
    if (doc->size != 0)
        memcpy(exact, doc->data, doc->size);
    backoff before = f->trying;
    tansu_status status = doc_check(exact, doc->size, DOC_CHECK_STORE, &expected);
    bool agree = CHECK_INT(status, shape_check(f, exact, doc->size, &error));
    if (status != TANSU_OK)
        agree = agree && CHECK_TEXT(expected.message, error.message) &&
                CHECK_TEXT(expected.context, error.context) &&
                CHECK_INT(expected.offset, error.offset);
    t->valid += status == TANSU_OK;
    t->invalid += status != TANSU_OK;
    /* What is validated without the shape makes it learn, and a wait grow, or ends one. */
    t->by_form += status == TANSU_OK && before.wait == 0 && f->trying.wait == 0 &&
                  f->trying.waits == before.waits / 2;
    free(exact);
    return agree;
}

/* vary -- another shape that differs in an element or two. */
static void vary(random_source *r, random_form *f) {
    random_form_element *first = &f->elements[random_below(r, f->top)];
    random_form_element *second = &f->elements[random_below(r, f->top)];
    random_form_element kept = *first;
    switch (random_below(r, 4)) {
    case 0: first->type = DOC_INT32; break;
    case 1: first->key = random_form_key(r); break;
    case 2: /* in another order */
        *first = *second;
        *second = kept;
        break;
    default: f->top -= f->top > 1;
    }
}

/* one_round -- documents of some shapes. */
static bool one_round(uint64_t round, tally *t) {
    static random_form forms[FORMS];
    static shape f;
    random_source r = random_start(round);
    uint64_t form_count = 1 + random_below(&r, FORMS);
    unsigned spoiled = random_chance(&r, 50) ? 20 : 0, omitted = random_chance(&r, 50) ? 10 : 0;
    tansu_buffer doc = {0};
    bool agree = true;
    for (uint64_t i = 0; i < form_count; i++) {
        if (i != 0 && random_chance(&r, 70)) {
            forms[i] = forms[i - 1];
            vary(&r, &forms[i]);
            continue;
        }
        random_form_make(&r, &forms[i], random_chance(&r, 10) ? RANDOM_FORM_ELEMENTS : 6, true);
    }
    memset(&f, 0, sizeof f);
    for (int i = 0; agree && i < DOCUMENTS; i++) {
        const random_form *like = &forms[random_chance(&r, 50) ? 0 : random_below(&r, form_count)];
        writer w = {.out = &doc};
        doc.size = 0;
        random_form_write(&r, &w, like, (random_form_values){.valid = true, .omitted = omitted});
        REQUIRE(!w.failed);
        if (random_chance(&r, spoiled))
            random_form_spoil(&r, &doc);
        agree = agrees(&f, &doc, t);
    }
    if (!agree)
        check_note("round %llu", (unsigned long long)round);
    tansu_buffer_free(&doc);
    return agree;
}

static void a_form_gives_the_same_verdict(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    tally t = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round, &t))
            return;
    }
    CHECK(t.valid > t.invalid);
    CHECK(t.invalid > rounds);
    CHECK(t.by_form > t.valid / 4);
}

/* put -- appends an int32. */
static void put(writer *w, const char *key) {
    uint8_t bytes[4] = {1};
    writer_head(w, DOC_INT32, key, strlen(key));
    writer_bytes(w, bytes, 4);
}

/* check_keys -- a document with these keys, separated by spaces; "(" and ")" enclose what is in the
 * document before. */
static void check_keys(shape *f, const char *keys, tansu_status expected, uint32_t known) {
    tansu_buffer doc = {0};
    writer w = {.out = &doc};
    size_t starts[16] = {writer_begin(&w)}, depth = 0;
    char text[1024];
    snprintf(text, sizeof text, "%s", keys);
    for (char *key = strtok(text, " "); key != NULL; key = strtok(NULL, " ")) {
        size_t size = strlen(key);
        bool opens = key[size - 1] == '(', closes = strcmp(key, ")") == 0;
        REQUIRE(depth + opens < 16 && depth >= closes);
        key[size - opens] = '\0';
        if (closes)
            writer_end(&w, starts[depth--]);
        else if (opens)
            starts[++depth] = writer_open(&w, key, DOC_DOCUMENT);
        else
            put(&w, key);
    }
    while (depth > 0)
        writer_end(&w, starts[depth--]);
    writer_end(&w, starts[0]);
    REQUIRE(!w.failed);
    tally t = {0};
    CHECK(agrees(f, &doc, &t));
    CHECK_INT(expected, doc_check(doc.data, doc.size, DOC_CHECK_STORE, NULL));
    CHECK_INT(known, f->count);
    tansu_buffer_free(&doc);
}

/* Keys that some documents lack are added where they are; so are those of documents below. */
static void a_form_has_the_keys_of_all_documents(void) {
    static shape f;
    check_keys(&f, "a d", TANSU_OK, 2);
    check_keys(&f, "a b( x ) d", TANSU_OK, 4);
    f.trying.wait = 0;
    check_keys(&f, "a b( x y ) c d e", TANSU_OK, 7);
    f.trying = (backoff){0};
    check_keys(&f, "b( y ) d", TANSU_OK, 7);
    CHECK_INT(0, f.trying.waits);
    check_keys(&f, "e", TANSU_OK, 7);
    CHECK_INT(0, f.trying.waits);
    check_keys(&f, "a b( x x ) d", TANSU_E_INVALID_DOCUMENT, 7);
    check_keys(&f, "a b( x ) d a", TANSU_E_INVALID_DOCUMENT, 7);
    check_keys(&f, "a b( x ) d d", TANSU_E_INVALID_DOCUMENT, 7);
}

/* With keys in another order a shape would have one of them twice, and find it twice. */
static void another_order_is_another_form(void) {
    static shape f;
    check_keys(&f, "a b c", TANSU_OK, 3);
    check_keys(&f, "c a", TANSU_OK, 2);
    f.trying.wait = 0;
    check_keys(&f, "a b c a", TANSU_E_INVALID_DOCUMENT, 2);
    check_keys(&f, "c a c", TANSU_E_INVALID_DOCUMENT, 2);
}

/* Documents of which no shape is made do not cost an attempt each. */
static void documents_without_a_form_are_left_alone(void) {
    static shape f;
    char key[1024];
    memset(key, 'k', sizeof key - 1); /* a name that is too long to be kept */
    key[sizeof key - 1] = '\0';
    for (int i = 0; i < 1000; i++)
        check_keys(&f, key, TANSU_OK, 0);
    CHECK(f.trying.waits > 50);
}

/* Keys that begin with `$` are like others, except within an `_id`, which no shape judges. */
static void keys_that_begin_with_a_dollar(void) {
    static shape f;
    check_keys(&f, "$a b( $x _id( $y ) )", TANSU_OK, 5);
    f.trying = (backoff){0};
    check_keys(&f, "_id( a( b ) )", TANSU_OK, 8);
    f.trying = (backoff){0};
    check_keys(&f, "_id( a( $b ) )", TANSU_E_INVALID_DOCUMENT, 8);
    check_keys(&f, "_id( $ref $id )", TANSU_OK, 8);
    CHECK_INT(0, f.trying.waits);
}

static void collections_have_forms_of_their_own(void) {
    static shape_table table;
    shape *first = shape_of(&table, 3), *second = shape_of(&table, 4);
    REQUIRE(first != NULL && second != NULL);
    CHECK(first != second);
    check_keys(first, "a b", TANSU_OK, 2);
    CHECK(shape_of(&table, 3) == first);
    CHECK_INT(2, first->count);
    /* One whose place is taken waits until the other is not in use. */
    CHECK(shape_of(&table, 3 + SHAPE_SLOTS) == NULL);
    CHECK(shape_of(&table, 3) == first);
    CHECK_INT(2, first->count);
    shape *later = NULL;
    for (int i = 0; i < 100 && later == NULL; i++)
        later = shape_of(&table, 3 + SHAPE_SLOTS);
    REQUIRE(later != NULL);
    CHECK_INT(0, later->count);
    CHECK(shape_of(&table, 3) == NULL);
}

int main(void) {
    RUN(a_form_gives_the_same_verdict);
    RUN(a_form_has_the_keys_of_all_documents);
    RUN(another_order_is_another_form);
    RUN(documents_without_a_form_are_left_alone);
    RUN(keys_that_begin_with_a_dollar);
    RUN(collections_have_forms_of_their_own);
    return check_finish();
}
