/*
 * test_analyzer.c -- the terms of texts.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many texts are tried.
 */
#include "support/check.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "support/text.h"
#include "text/analyzer.h"
#include "text/stemmer.h"
#include "util/utf8.h"

#include <string.h>

#define ROUNDS 20000

/* analyzer_of -- of a language that there is. */
static text_analyzer *analyzer_of(const char *language) {
    text_analyzer *a;
    tansu_error error;
    REQUIRE(text_analyzer_new(language, &a, &error) == TANSU_OK);
    return a;
}

/* terms_of -- the terms of a text with their positions, "0:the 1:fox | 2". */
static const char *terms_of(text_analyzer *a, const char *text, enum text_purpose purpose) {
    static struct text line;
    text_tokens tokens = {.items = NULL};
    line.size = 0;
    REQUIRE(text_analyze(a, (const uint8_t *)text, strlen(text), purpose, &tokens));
    for (size_t i = 0; i < tokens.count; i++)
        put(&line, "%u:%.*s ", tokens.items[i].position, (int)tokens.items[i].term_size,
            (const char *)tokens.terms.data + tokens.items[i].term);
    put(&line, "| %u", tokens.positions);
    text_tokens_free(&tokens);
    return line.bytes;
}

/* divides_text -- into words, their parts, and pairs of characters. */
static void divides_text(void) {
    static const char *const cases[][2] = {
        {"", "| 0"},
        {" \n .,-!", "| 0"},
        {"The quick, brown fox", "0:the 1:quick 2:brown 3:fox | 4"},
        {"foo_bar baz", "0:foo_bar 0:foo 1:bar 2:baz | 3"},
        {"v1.2", "0:v1.2 0:v1 1:2 | 2"},
        {"1,234.5", "0:1,234.5 0:1 1:234 2:5 | 3"},
        {"__init__", "0:__init__ 0:init | 1"},
        {"example.com", "0:example.com 0:example 1:com | 2"},
        {"state-of-the-art", "0:state 1:of 2:the 3:art | 4"},
        {"can't", "0:can't 0:can | 1"},
        {"l'amour", "0:l'amour 0:amour | 1"},
        {"東京都 中", "0:東 0:東京 1:京 1:京都 2:都 3:中 | 4"},
        {"한국어 x", "0:한 0:한국 1:국 1:국어 2:어 3:x | 4"},
        {"カメラ2台", "0:カ 0:カメ 1:メ 1:メラ 2:ラ 3:2 4:台 | 5"},
        {"ไทย", "0:ไ 0:ไท 1:ท 1:ทย 2:ย | 3"},
        {"K팝스", "0:k 1:팝 1:팝스 2:스 | 3"},
        {"🎉 ok 🇩🇪", "0:🎉 1:ok 2:🇩🇪 | 3"},
    };
    text_analyzer *a = analyzer_of("none");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i][1], terms_of(a, cases[i][0], TEXT_INDEX));
    CHECK_TEXT("0:東京 1:京都 3:中 | 4", terms_of(a, "東京都 中", TEXT_SEARCH));
    CHECK_TEXT("0:foo_bar 2:v1.2 4:x | 5", terms_of(a, "foo_bar v1.2 x", TEXT_SEARCH));
    text_analyzer_free(a);
}

/* stems_words -- of a language, given by its name or its code. */
static void stems_words(void) {
    tansu_error error;
    text_analyzer *a;
    if (!library_stemmer()) {
        CHECK_STATUS(TANSU_E_UNSUPPORTED, text_analyzer_new("en", &a, &error));
        CHECK(a == NULL);
        return;
    }
    a = analyzer_of("en");
    CHECK_TEXT("0:fox 1:run 2:jump 3:dog | 4",
               terms_of(a, "Foxes running JUMPED dog's", TEXT_INDEX));
    CHECK_TEXT("0:fox 1:run 2:jump 3:dog | 4",
               terms_of(a, "Foxes running JUMPED dog’s", TEXT_INDEX));
    text_analyzer_free(a);
    a = analyzer_of("German");
    CHECK_TEXT("0:haus 1:schon | 2", terms_of(a, "Häuser schöne", TEXT_INDEX));
    CHECK_TEXT("0:haus 1:schon | 2", terms_of(a, "Ha\u0308user scho\u0308ne", TEXT_INDEX));
    text_analyzer_free(a);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, text_analyzer_new("klingon", &a, &error));
    CHECK_TEXT("language", error.context);
    CHECK(strstr(error.message, "english") != NULL);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, text_analyzer_new("", &a, &error));
}

/* put_random -- text of several scripts. */
static size_t put_random(random_source *r, uint8_t *text, size_t most) {
    static const uint32_t first[] = {0x20,   0x20,   0x61,    0x61,    0xC0,   0x300,  0x400,
                                     0x5D0,  0x64B,  0xE01,   0x1100,  0x2010, 0x3041, 0x30A1,
                                     0x4E00, 0xAC00, 0x1F1E6, 0x1F600, 0x0,    0x915};
    size_t size = 0;
    while (size + 4 < most) {
        uint32_t c = first[random_below(r, 20)] + (uint32_t)random_below(r, 26);
        if (random_chance(r, 10))
            c = (uint32_t) "'._:,"[random_below(r, 5)];
        size += utf8_encode(c, text + size);
    }
    return size;
}

/* same_term -- whether two tokens have one term and one place. */
static bool same_term(const text_tokens *a, const text_token *x, const text_tokens *b,
                      const text_token *y) {
    return x->position == y->position && x->start == y->start && x->end == y->end &&
           x->term_size == y->term_size &&
           memcmp(a->terms.data + x->term, b->terms.data + y->term, x->term_size) == 0;
}

/* check_tokens -- what is so of all terms. */
static bool check_tokens(const text_tokens *tokens, size_t size) {
    uint32_t position = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        const text_token *t = &tokens->items[i];
        if (!CHECK(t->start < t->end && t->end <= size && t->term_size > 0) ||
            !CHECK(t->position >= position && t->position < tokens->positions))
            return false;
        position = t->position;
    }
    return true;
}

/* is_found_by_itself -- a search for a text looks for nothing that the index of it lacks, and a text
 * behind another has the same terms. */
static void is_found_by_itself(void) {
    random_source r = random_start(2);
    text_analyzer *a = analyzer_of("none");
    text_tokens index = {.items = NULL}, search = {.items = NULL}, both = {.items = NULL};
    for (uint64_t i = random_rounds("TANSU_ROUNDS", ROUNDS); i > 0; i--) {
        uint8_t text[200];
        size_t first = put_random(&r, text, 80), next = 0;
        text[first++] = '\n';
        size_t size = first + put_random(&r, text + first, 80);
        text_tokens_clear(&index);
        text_tokens_clear(&search);
        text_tokens_clear(&both);
        REQUIRE(text_analyze(a, text, size, TEXT_INDEX, &both) &&
                text_analyze(a, text, size, TEXT_SEARCH, &search) &&
                text_analyze(a, text, first, TEXT_INDEX, &index) &&
                text_analyze(a, text + first, size - first, TEXT_INDEX, &index));
        if (!check_tokens(&both, size))
            break;
        for (size_t j = 0; j < search.count; j++) {
            for (next = 0; next < both.count; next++) {
                if (same_term(&both, &both.items[next], &search, &search.items[j]))
                    break;
            }
            CHECK(next < both.count);
        }
        if (!CHECK_BYTES(both.terms.data, both.terms.size, index.terms.data, index.terms.size) ||
            !CHECK_INT(both.positions, index.positions)) {
            check_note("%.*s", (int)size, (const char *)text);
            break;
        }
    }
    text_tokens_free(&index);
    text_tokens_free(&search);
    text_tokens_free(&both);
    text_analyzer_free(a);
}

int main(void) {
    RUN(divides_text);
    RUN(stems_words);
    RUN(is_found_by_itself);
    return check_finish();
}
