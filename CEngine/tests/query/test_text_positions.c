/*
 * test_text_positions.c -- phrases, words near one another and edit distances, compared with what
 * tries everything.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many are tried.
 */
#include "query/text/text_query.h"
#include "support/check.h"
#include "support/random/random.h"
#include "util/utf8.h"

#include <string.h>

#define ROUNDS 20000
#define MOST_WORDS 5
#define MOST_POSITIONS 24

/* A leaf with the positions of its words. */
typedef struct sample {
    text_node leaf;
    text_word words[MOST_WORDS];
    uint8_t names[MOST_WORDS]; /* equal words have equal positions */
    uint32_t lists[MOST_WORDS][MOST_POSITIONS], counts[MOST_WORDS];
    const uint32_t *positions[MOST_WORDS];
} sample;

/* make_sample -- a few words in a short text. */
static void make_sample(random_source *r, sample *s) {
    uint64_t density = 1 + random_below(r, 90);
    s->leaf = (text_node){.words = s->words,
                          .word_count = 2 + (uint32_t)random_below(r, MOST_WORDS - 1),
                          .within = 1 + (uint32_t)random_below(r, 8),
                          .ordered = random_chance(r, 50)};
    for (uint32_t i = 0; i < s->leaf.word_count; i++) {
        s->names[i] = (uint8_t)random_below(r, 4);
        s->words[i] = (text_word){.bytes = &s->names[i], .size = 1};
        s->positions[i] = s->lists[i];
        s->counts[i] = 0;
        for (uint32_t j = 0; j < i; j++)
            s->words[i].position += s->names[j] == s->names[i];
        uint32_t same = 0;
        while (s->names[same] != s->names[i])
            same++;
        for (uint32_t at = 0; at < MOST_POSITIONS && same == i; at++)
            if (random_chance(r, (unsigned)density))
                s->lists[i][s->counts[i]++] = at;
        memcpy(s->lists[i], s->lists[same], sizeof s->lists[i]);
        s->counts[i] = s->counts[same];
    }
}

/* has -- whether a word is at a position. */
static bool has(const sample *s, uint32_t word, int64_t position) {
    for (uint32_t i = 0; i < s->counts[word]; i++)
        if (s->lists[word][i] == position)
            return true;
    return false;
}

/* phrase_model -- text_phrase_count() by its definition. */
static uint32_t phrase_model(const sample *s) {
    uint32_t found = 0;
    for (int64_t at = 0; at < MOST_POSITIONS; at++) {
        bool all = true;
        for (uint32_t i = 0; i < s->leaf.word_count; i++)
            all = all && has(s, i, at + s->words[i].position);
        found += all;
    }
    return found;
}

/* can_place -- whether the words from number `word` on have places near the first one. */
static bool can_place(const sample *s, uint32_t word, int64_t first, int64_t *places) {
    if (word == s->leaf.word_count)
        return true;
    for (int64_t at = first - s->leaf.within; at <= first + s->leaf.within; at++) {
        bool free = !s->leaf.ordered || at > places[word - 1];
        for (uint32_t i = 0; i < word; i++)
            free = free && (s->names[i] != s->names[word] || places[i] != at);
        places[word] = at;
        if (free && has(s, word, at) && can_place(s, word + 1, first, places))
            return true;
    }
    return false;
}

/* near_model -- text_near_count() by its definition. */
static uint32_t near_model(const sample *s) {
    uint32_t found = 0;
    for (int64_t at = 0; at < MOST_POSITIONS; at++) {
        int64_t places[MOST_WORDS] = {at};
        found += has(s, 0, at) && can_place(s, 1, at, places);
    }
    return found;
}

static void counts_as_the_model_does(void) {
    random_source r = random_start(1);
    sample s;
    uint64_t phrases = 0, near = 0;
    for (uint64_t i = random_rounds("TANSU_ROUNDS", ROUNDS); i > 0; i--) {
        make_sample(&r, &s);
        uint32_t count = text_near_count(&s.leaf, s.positions, s.counts);
        near += count != 0;
        if (!CHECK_INT(near_model(&s), count))
            break;
        for (uint32_t j = 0; j < s.leaf.word_count; j++)
            s.words[j].position = j == 0 ? 0 : s.words[j - 1].position + random_chance(&r, 80);
        count = text_phrase_count(&s.leaf, s.positions, s.counts);
        phrases += count != 0;
        if (!CHECK_INT(phrase_model(&s), count))
            break;
    }
    CHECK(phrases > 0 && near > 0);
}

/* Positions are near their limit. */
static void counts_far_positions(void) {
    text_word words[] = {{.bytes = (const uint8_t *)"a", .size = 1},
                         {.bytes = (const uint8_t *)"b", .size = 1, .position = 1}};
    text_node leaf = {.words = words, .word_count = 2, .within = TEXT_MAX_NEAR};
    uint32_t first[] = {0, TEXT_MAX_POSITION - 2}, second[] = {999, TEXT_MAX_POSITION - 1};
    const uint32_t *positions[] = {first, second};
    const uint32_t counts[] = {2, 2};
    CHECK_INT(1, text_phrase_count(&leaf, positions, counts));
    words[1].position = 0;
    CHECK_INT(2, text_near_count(&leaf, positions, counts));
    leaf.ordered = true;
    CHECK_INT(2, text_near_count(&leaf, positions, counts));
}

/* ---- Edit distance ---- */

#define MOST_CHARACTERS 10

/* A word as characters and as UTF-8. */
typedef struct word {
    uint32_t characters[MOST_CHARACTERS];
    uint32_t count;
    uint8_t bytes[4 * MOST_CHARACTERS];
    size_t size;
} word;

static void encode(word *w) {
    w->size = 0;
    for (uint32_t i = 0; i < w->count; i++)
        w->size += utf8_encode(w->characters[i], w->bytes + w->size);
}

/* random_character -- of few, so that words are alike; of one to four bytes. */
static uint32_t random_character(random_source *r) {
    static const uint32_t all[] = {'a', 'b', 'c', 0xE4, 0x4E00, 0x1F600};
    return all[random_below(r, sizeof all / sizeof *all)];
}

/* edit -- changes a word in some places. */
static void edit(random_source *r, const word *from, word *to) {
    *to = *from;
    for (uint64_t i = random_below(r, 5); i > 0; i--) {
        uint32_t at = (uint32_t)random_below(r, to->count + 1);
        uint64_t how = random_below(r, 4);
        uint32_t *c = to->characters;
        if (how == 0 && to->count < MOST_CHARACTERS) {
            memmove(c + at + 1, c + at, (to->count++ - at) * sizeof *c);
            c[at] = random_character(r);
        } else if (how == 1 && at < to->count) {
            memmove(c + at, c + at + 1, (--to->count - at) * sizeof *c);
        } else if (how == 2 && at < to->count) {
            c[at] = random_character(r);
        } else if (how == 3 && at + 1 < to->count) {
            uint32_t swapped = c[at];
            c[at] = c[at + 1];
            c[at + 1] = swapped;
        }
    }
    encode(to);
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* distance_model -- by the whole table. */
static uint32_t distance_model(const word *a, const word *b) {
    uint32_t t[MOST_CHARACTERS + 1][MOST_CHARACTERS + 1];
    for (uint32_t i = 0; i <= a->count; i++)
        for (uint32_t j = 0; j <= b->count; j++) {
            t[i][j] = i == 0 ? j : j == 0 ? i : UINT32_MAX;
            if (i == 0 || j == 0)
                continue;
            const uint32_t *x = &a->characters[i - 1], *y = &b->characters[j - 1];
            t[i][j] = least(least(t[i - 1][j], t[i][j - 1]) + 1, t[i - 1][j - 1] + (*x != *y));
            if (i > 1 && j > 1 && x[0] == y[-1] && x[-1] == y[0])
                t[i][j] = least(t[i][j], t[i - 2][j - 2] + 1);
        }
    return t[a->count][b->count];
}

static void finds_edits_as_the_model_does(void) {
    random_source r = random_start(2);
    uint64_t near = 0;
    for (uint64_t i = random_rounds("TANSU_ROUNDS", ROUNDS); i > 0; i--) {
        word a = {.count = 1 + (uint32_t)random_below(&r, MOST_CHARACTERS)}, b;
        for (uint32_t j = 0; j < a.count; j++)
            a.characters[j] = random_character(&r);
        encode(&a);
        edit(&r, &a, &b);
        text_word own = {.bytes = a.bytes, .size = (uint32_t)a.size};
        text_node leaf = {.kind = TEXT_FUZZY,
                          .words = &own,
                          .word_count = 1,
                          .distance = 1 + (uint32_t)random_below(&r, 2),
                          .same = (uint32_t)random_below(&r, 4)};
        bool expected = distance_model(&a, &b) <= leaf.distance;
        for (uint32_t j = 0; j < leaf.same && j < a.count; j++)
            expected = expected && j < b.count && a.characters[j] == b.characters[j];
        near += expected;
        if (!CHECK(expected == text_near_edits(&leaf, b.bytes, b.size))) {
            check_note("%.*s and %.*s", (int)a.size, (const char *)a.bytes, (int)b.size,
                       (const char *)b.bytes);
            break;
        }
    }
    CHECK(near > 0);
}

/* near_edits -- of two words. */
static bool near_edits(const char *a, const char *b, uint32_t distance) {
    text_word own = {.bytes = (const uint8_t *)a, .size = (uint32_t)strlen(a)};
    text_node leaf = {.words = &own, .word_count = 1, .distance = distance};
    return text_near_edits(&leaf, (const uint8_t *)b, strlen(b));
}

static void counts_edits_of_characters(void) {
    CHECK(near_edits("roast", "roast", 1));
    CHECK(near_edits("roast", "rosat", 1));
    CHECK(near_edits("roast", "oast", 1));
    CHECK(near_edits("roast", "roasts", 1));
    CHECK(near_edits("roast", "toast", 1));
    CHECK(!near_edits("roast", "toasts", 1));
    CHECK(near_edits("roast", "toasts", 2));
    CHECK(!near_edits("ca", "abc", 2)); /* a swap, and a letter between the two */
    CHECK(near_edits("a", "", 1));
    CHECK(near_edits("a", "東", 1));
    CHECK(!near_edits("ab", "東京都", 2));
    char a[600], b[600];
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    a[511] = b[512] = 0;
    CHECK(near_edits(a, b, 1));
    b[100] = 'b';
    CHECK(near_edits(a, b, 1) && !near_edits(b, a, 1 - 1));
    b[512] = 'a';
    b[513] = 0;
    CHECK(!near_edits(a, b, 2)); /* no term is so long */
}

int main(void) {
    RUN(counts_as_the_model_does);
    RUN(counts_far_positions);
    RUN(finds_edits_as_the_model_does);
    RUN(counts_edits_of_characters);
    return check_finish();
}
