/*
 * test_many_strings.c -- $contains with many strings finds what each of them does. The strings and
 * the texts have few different bytes, so that many begin alike, end in what others begin with, and
 * repeat themselves.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many sets of strings are tried (300).
 */
#include "query/match/merged_test.h"
#include "query/match/string_operands.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STRINGS 200
#define LONGEST 60
#define TEXTS 30
#define DEFAULT_ROUNDS 300

/* A string as a value. */
typedef struct string_value {
    uint8_t bytes[LONGEST + 6];
    char text[LONGEST + 1];
} string_value;

/* make_text -- a text of at most so many bytes out of the first few of "abAäö". */
static size_t make_text(random_source *r, char *text, size_t most) {
    static const char *const pieces[] = {"a", "b", "A", "\xC3\xA4", "\xC3\xB6", "c"};
    size_t letters = 1 + random_below(r, 6), size = 0;
    for (uint64_t left = 1 + random_below(r, most); left > 0; left--) {
        const char *piece = pieces[random_below(r, letters)];
        if (size + strlen(piece) > most)
            break;
        memcpy(text + size, piece, strlen(piece));
        size += strlen(piece);
    }
    text[size] = '\0';
    return size;
}

/* value_of -- a text as the value that a query has. */
static doc_value value_of(string_value *v) {
    size_t size = strlen(v->text);
    store_u32(v->bytes, (uint32_t)size + 1);
    memcpy(v->bytes + 4, v->text, size + 1);
    return (doc_value){v->bytes, (uint32_t)size + 5, DOC_STRING};
}

/* one_round -- one set of strings, and some texts. */
static bool one_round(uint64_t round, uint64_t *found) {
    static string_value strings[MOST_STRINGS];
    static doc_value operands[MOST_STRINGS];
    random_source r = random_start(round);
    arena memory = {0};
    bool same = true;
    uint32_t count = 2 + (uint32_t)random_below(&r, MOST_STRINGS - 2);
    size_t longest = 1 + random_below(&r, LONGEST);
    for (uint32_t i = 0; i < count; i++) {
        make_text(&r, strings[i].text, longest);
        if (strings[i].text[0] == '\0')
            strcpy(strings[i].text, "c");
        operands[i] = value_of(&strings[i]);
    }
    test t = {.op = TEST_CONTAINS, .operands = operands, .operand_count = count};
    strings_sort(&t);
    const string_search *search = string_search_new(&memory, t.operands, t.operand_count);
    REQUIRE(search != NULL);
    for (int i = 0; i < TEXTS && same; i++) {
        char text[400];
        size_t size = make_text(&r, text, 1 + random_below(&r, sizeof text - 2));
        bool expected = false;
        for (uint32_t k = 0; k < count; k++)
            expected = expected || strstr(text, strings[k].text) != NULL;
        match_context context = {.status = TANSU_OK};
        same = CHECK_INT(expected, string_search_finds(search, &context, text, size));
        *found += expected;
        match_context_free(&context);
        if (!same)
            check_note("text %s, %" PRIu32 " strings, TANSU_SEED=%" PRIu64, text, count,
                       random_seed());
    }
    arena_free(&memory);
    return same;
}

static void many_strings_are_found_as_each_of_them(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS), found = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        if (!one_round(round, &found))
            return;
    }
    /* Some are found, and some are not. */
    CHECK(found > rounds && found < rounds * (TEXTS - 1));
}

/* Strings with every byte, and texts longer than what is read between two looks at the deadline. */
static void every_byte_and_long_texts_are_searched(void) {
    tansu_db *db = memory_db_open();
    bson_t query = BSON_INITIALIZER, condition, list, doc = BSON_INITIALIZER;
    static char text[100001];
    memset(text, 'a', sizeof text - 1);
    memcpy(text + sizeof text - 5, "\xF0\x9F\x90\x88", 4);
    BSON_APPEND_INT32(&doc, "_id", 1);
    BSON_APPEND_UTF8(&doc, "t", text);
    save_bson(db, &doc);
    BSON_APPEND_DOCUMENT_BEGIN(&query, "t", &condition);
    BSON_APPEND_ARRAY_BEGIN(&condition, "$contains", &list);
    for (int i = 0; i < 100; i++) {
        char key[16], string[64];
        snprintf(key, sizeof key, "%d", i);
        memset(string, 'a', 50);
        snprintf(string + 50, sizeof string - 50, "%c%d", 'b' + i % 20, i);
        bson_append_utf8(&list, key, -1, i == 99 ? "a\xF0\x9F\x90\x88" : string, -1);
    }
    bson_append_array_end(&condition, &list);
    bson_append_document_end(&query, &condition);
    int64_t count;
    CHECK_OK(tansu_count(db, NULL, "c", document_of(&query), TANSU_NO_DOCUMENT, &count, NULL),
             NULL);
    CHECK_INT(1, count);
    bson_destroy(&query);
    bson_destroy(&doc);
    memory_db_close(db);
}

int main(void) {
    RUN(many_strings_are_found_as_each_of_them);
    RUN(every_byte_and_long_texts_are_searched);
    return check_finish();
}
