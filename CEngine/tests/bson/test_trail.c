/*
 * test_trail.c -- a trail finds what a search finds, whatever the documents before were: documents
 * of a few forms that alternate, keys that begin like the path's parts, longer ones than a step has
 * room for, all types, forms that end early, and bytes that are no BSON. Each document is in memory
 * of exactly its size, so that a sanitizer sees what is read outside.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many paths are tried (3000).
 */
#include "bson/trail.h"
#include "bson/writer.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdlib.h>
#include <string.h>

#define FORMS 4
#define ELEMENTS 30 /* more than a trail has steps */
#define DOCUMENTS 60
#define DEFAULT_ROUNDS 3000

static const char *const keys[] = {
    "",
    "a",
    "b",
    "ab",
    "abcdef",
    "abcdefg",
    "abcdefh",
    "abcdefgh",
    "abcdefghi",
    "zip",
    "address",
    "address_of_the_company",
    "0",
    "1",
    "address_of_the_company_and_more", /* with type and NUL one too many */
    "address_of_the_company_and_mor"};
#define KEYS (sizeof keys / sizeof *keys)

static const uint8_t types[] = {
    DOC_DOUBLE, DOC_STRING, DOC_DOCUMENT,   DOC_ARRAY,     DOC_BINARY,  DOC_UNDEFINED, DOC_OID,
    DOC_BOOL,   DOC_DATE,   DOC_NULL,       DOC_REGEX,     DOC_CODE,    DOC_DBPOINTER, DOC_SYMBOL,
    DOC_INT32,  DOC_INT64,  DOC_CODE_SCOPE, DOC_TIMESTAMP, DOC_MIN_KEY, DOC_DECIMAL128};

/* An element of a form; documents and arrays have others, which begin at `first`. */
typedef struct element {
    const char *key;
    uint8_t type;
    uint32_t first, count;
} element;

typedef struct form {
    element elements[ELEMENTS];
    uint32_t count, top;
} form;

/* make_level -- random elements, and some levels of others in them. */
static uint32_t make_level(random_source *r, form *f, uint32_t most, int depth) {
    uint32_t count = (uint32_t)random_below(r, most + 1), first = f->count;
    if (count > ELEMENTS - f->count)
        count = ELEMENTS - f->count;
    f->count += count;
    for (uint32_t i = first; i < first + count; i++) {
        element *e = &f->elements[i];
        *e = (element){.key = keys[random_below(r, KEYS)],
                       .type = random_chance(r, 40) ? DOC_DOCUMENT
                                                    : types[random_below(r, sizeof types)]};
        if (depth < 3 && (e->type == DOC_DOCUMENT || e->type == DOC_ARRAY)) {
            e->first = f->count;
            e->count = make_level(r, f, most, depth + 1);
        }
    }
    return count;
}

/* write_value -- a value of a random length, its bytes random too. */
static void write_value(random_source *r, writer *w, uint8_t type) {
    uint8_t bytes[40];
    uint8_t rule = doc_value_sizes[type];
    uint32_t own = (uint32_t)random_below(r, 12) + 1, size = rule & DOC_SIZE_FIXED;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(r);
    if (type == DOC_REGEX) {
        writer_bytes(w, "a\0i", 4);
        return;
    }
    if (type == DOC_CODE_SCOPE)
        own += 5;
    if (rule & DOC_SIZE_PREFIXED) {
        store_u32(bytes, own);
        size += own;
    }
    writer_bytes(w, bytes, size);
}

/* write_level -- elements of a form as a document. */
static void write_level(random_source *r, writer *w, const form *f, uint32_t first,
                        uint32_t count) {
    size_t start = writer_begin(w);
    for (uint32_t i = first; i < first + count; i++) {
        const element *e = &f->elements[i];
        writer_head(w, e->type, e->key, strlen(e->key));
        if (e->type == DOC_DOCUMENT || e->type == DOC_ARRAY)
            write_level(r, w, f, e->first, e->count);
        else
            write_value(r, w, e->type);
    }
    writer_end(w, start);
}

/* spoil -- cuts a document off, or changes some of its bytes. */
static void spoil(random_source *r, tansu_buffer *doc) {
    if (random_chance(r, 40)) {
        doc->size = random_below(r, doc->size + 1);
        if (doc->size >= 5 && random_chance(r, 80)) { /* the size says so, and an end is there */
            store_u32(doc->data, (uint32_t)doc->size);
            doc->data[doc->size - 1] = 0;
        }
        return;
    }
    for (uint64_t left = 1 + random_below(r, 3); left > 0 && doc->size != 0; left--) {
        static const uint8_t likely[] = {0, 1, 2, 3, 4, 5, 16, 127, 128, 255};
        uint8_t *byte = &doc->data[random_below(r, doc->size)];
        *byte =
            random_chance(r, 70) ? likely[random_below(r, sizeof likely)] : (uint8_t)random_next(r);
    }
}

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

/* make_path -- one to three random keys. */
static void make_path(random_source *r, path *result) {
    char text[128] = "";
    for (uint64_t i = 0, parts = 1 + random_below(r, 3); i < parts; i++) {
        strcat(text, i == 0 ? "" : ".");
        strcat(text, keys[random_below(r, KEYS)]);
    }
    REQUIRE(path_parse_keys(result, text, strlen(text), NULL) == TANSU_OK);
}

/* one_round -- a path, and documents of some forms. */
static bool one_round(uint64_t round, uint64_t ends[TRAIL_ARRAY + 1]) {
    static form forms[FORMS];
    static trail t;
    random_source r = random_start(round);
    uint64_t form_count = 1 + random_below(&r, FORMS);
    unsigned spoiled = random_chance(&r, 50) ? 20 : 0;
    path path = {0};
    tansu_buffer doc = {0};
    bool agree = true;
    for (uint64_t i = 0; i < form_count; i++) {
        /* Often one that has the first elements of the form before. */
        uint32_t most = random_chance(&r, 10) ? ELEMENTS : 6;
        if (i != 0 && random_chance(&r, 60)) {
            forms[i] = forms[i - 1];
            forms[i].elements[random_below(&r, forms[i].top)].type = DOC_INT32;
            forms[i].elements[random_below(&r, forms[i].top)].key = keys[random_below(&r, KEYS)];
            forms[i].top -= forms[i].top > 1;
            continue;
        }
        forms[i].count = 0;
        forms[i].top = make_level(&r, &forms[i], most, 0);
        if (forms[i].top == 0) {
            forms[i].elements[0] = (element){.key = "a", .type = DOC_INT64};
            forms[i].count = forms[i].top = 1;
        }
    }
    make_path(&r, &path);
    memset(&t, 0, sizeof t);
    trail_begin(&t, &t);
    for (int i = 0; agree && i < DOCUMENTS; i++) {
        const form *f = &forms[random_chance(&r, 50) ? 0 : random_below(&r, form_count)];
        writer w = {.out = &doc};
        enum trail_end end;
        doc.size = 0;
        write_level(&r, &w, f, 0, f->top);
        REQUIRE(!w.failed);
        if (random_chance(&r, spoiled))
            spoil(&r, &doc);
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
    const char *text = getenv("TANSU_ROUNDS");
    uint64_t rounds = text ? strtoull(text, NULL, 10) : DEFAULT_ROUNDS;
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
    REQUIRE(path_parse_keys(&path, "x.y", 3, NULL) == TANSU_OK);
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
