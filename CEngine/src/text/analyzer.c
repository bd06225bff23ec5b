/*
 * text/analyzer.c -- words, their parts and pairs of characters as terms.
 */
#include "text/analyzer.h"

#include "text/fold.h"
#include "text/stemmer.h"
#include "text/word_break.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdlib.h>

#define LETTERS (WORD_SET(WORD_LETTER) | WORD_SET(WORD_HEBREW))
#define DIGITS WORD_SET(WORD_NUMERIC)
#define EMOJI (WORD_SET(WORD_PICTOGRAPH) | WORD_SET(WORD_REGIONAL))

/* Most words of a text are among the last few thousand: their terms are kept, since stemming takes
 * ten times as long as finding one here. */
#define KEPT_TERMS 16384
#define KEPT_WORD_MAX 23

/* A word in words of the processor, its size in the last byte. All zero: none. */
typedef struct kept_word {
    uint64_t part[(KEPT_WORD_MAX + 1) / 8];
} kept_word;

typedef struct kept_term {
    kept_word word;
    uint8_t term_size;
    uint8_t term[KEPT_WORD_MAX];
} kept_term;

struct text_analyzer {
    stemmer *stemmer; /* NULL: none */
    tansu_buffer word;
    kept_term *kept; /* with a stemmer: KEPT_TERMS of them, by a hash of the word */
};

void text_tokens_clear(text_tokens *tokens) {
    tokens->count = 0;
    tokens->terms.size = 0;
    tokens->positions = 0;
}

void text_tokens_free(text_tokens *tokens) {
    free(tokens->items);
    tansu_buffer_free(&tokens->terms);
    *tokens = (text_tokens){.items = NULL};
}

void text_analyzer_free(text_analyzer *a) {
    if (!a)
        return;
    stemmer_free(a->stemmer);
    tansu_buffer_free(&a->word);
    free(a->kept);
    free(a);
}

tansu_status text_analyzer_new(const char *language, text_analyzer **result, tansu_error *error) {
    text_analyzer *a = *result = calloc(1, sizeof *a);
    if (!a)
        return error_memory(error);
    tansu_status status = stemmer_new(language, &a->stemmer, error);
    if (status == TANSU_OK && a->stemmer) {
        a->kept = calloc(KEPT_TERMS, sizeof *a->kept);
        status = a->kept ? TANSU_OK : error_memory(error);
    }
    if (status != TANSU_OK) {
        text_analyzer_free(a);
        *result = NULL;
    }
    return status;
}

/* Analysing one text. */
typedef struct analysis {
    text_analyzer *a;
    const uint8_t *text;
    enum text_purpose purpose;
    text_tokens *tokens;
    /* The last character of a script without spaces. */
    size_t unit_start, unit_end;
    uint32_t units; /* how many there are without a gap; 0: none */
    bool failed;
} analysis;

/* kept_key -- a word as it is compared. */
static inline kept_word kept_key(const uint8_t *word, size_t size) {
    kept_word key = {{0}};
    memcpy(key.part, word, size);
    ((uint8_t *)key.part)[KEPT_WORD_MAX] = (uint8_t)size;
    return key;
}

/* kept_of -- where the term of a word is kept, or would be. */
static inline kept_term *kept_of(const text_analyzer *a, const kept_word *key) {
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = key->part[0] * odd ^ key->part[1] * (odd + 2) ^ key->part[2] * (odd + 4);
    hash = (hash ^ hash >> 32) * odd;
    return &a->kept[hash >> 48 & (KEPT_TERMS - 1)];
}

/* kept_is -- whether a place has the term of a word. */
static inline bool kept_is(const kept_term *kept, const kept_word *key) {
    return ((kept->word.part[0] ^ key->part[0]) | (kept->word.part[1] ^ key->part[1]) |
            (kept->word.part[2] ^ key->part[2])) == 0;
}

/* put_stem -- appends the folded stem of a word; false when memory is exhausted. */
static bool put_stem(text_analyzer *a, const uint8_t *word, size_t size, tansu_buffer *terms) {
    kept_word key = kept_key(word, size <= KEPT_WORD_MAX ? size : 0);
    kept_term *kept = size <= KEPT_WORD_MAX ? kept_of(a, &key) : NULL;
    size_t before = terms->size, stem_size;
    if (kept && kept_is(kept, &key))
        return buffer_append(terms, kept->term, kept->term_size);
    a->word.size = 0;
    if (!fold_word(&a->word, word, size, FOLD_CASE))
        return false;
    const uint8_t *stem = stemmer_apply(a->stemmer, a->word.data, a->word.size, &stem_size);
    if (!stem || !fold_word(terms, stem, stem_size, FOLD_ALL))
        return false;
    stem_size = terms->size - before;
    if (kept && stem_size <= KEPT_WORD_MAX) {
        kept->word = key;
        kept->term_size = (uint8_t)stem_size;
        memcpy(kept->term, terms->data + before, stem_size);
    }
    return true;
}

/* put -- appends the term of a part of the text, at a position. */
static void put(analysis *an, size_t start, size_t end, uint32_t position, bool stem) {
    text_tokens *tokens = an->tokens;
    size_t before = tokens->terms.size;
    const uint8_t *word = an->text + start;
    if (!ARRAY_RESERVE(tokens->items, tokens->count, tokens->capacity, 1) ||
        !(stem && an->a->stemmer ? put_stem(an->a, word, end - start, &tokens->terms)
                                 : fold_word(&tokens->terms, word, end - start, FOLD_ALL))) {
        an->failed = true;
        return;
    }
    if (tokens->terms.size != before)
        tokens->items[tokens->count++] =
            (text_token){(uint32_t)before, (uint32_t)(tokens->terms.size - before), position,
                         (uint32_t)start, (uint32_t)end};
}

/* drop_repeated -- removes the last term if it is the one before as well. */
static void drop_repeated(analysis *an) {
    text_tokens *tokens = an->tokens;
    const text_token *last = tokens->items + tokens->count - 1;
    if (tokens->count >= 2 && last[-1].term_size == last->term_size &&
        last[-1].position == last->position &&
        memcmp(tokens->terms.data + last[-1].term, tokens->terms.data + last->term,
               last->term_size) == 0) {
        tokens->terms.size = last->term;
        tokens->count--;
    }
}

/* ---- Scripts without spaces ---- */

/* end_units -- the text goes on with something else: a single character is a term of a search. */
static void end_units(analysis *an) {
    if (an->units == 1 && an->purpose == TEXT_SEARCH)
        put(an, an->unit_start, an->unit_end, an->tokens->positions - 1, false);
    an->units = 0;
}

/* put_unit -- a character with the marks on it, and the pair that it makes with the one before. */
static void put_unit(analysis *an, size_t start, size_t end) {
    if (an->units != 0 && an->unit_end != start)
        end_units(an);
    if (an->units != 0)
        put(an, an->unit_start, end, an->tokens->positions - 1, false);
    if (an->purpose == TEXT_INDEX)
        put(an, start, end, an->tokens->positions, false);
    an->tokens->positions++;
    an->unit_start = start;
    an->unit_end = end;
    an->units++;
}

/* ---- Words ---- */

/* put_parts -- the parts of a word with signs in it. A single letter beside an apostrophe is an
 * article or an ending. */
static void put_parts(analysis *an, size_t start, size_t end, bool apostrophes) {
    size_t part = start, at = start;
    uint32_t letters = 0, position = an->tokens->positions, parts = 0;
    while (at <= end) {
        uint32_t c = 0;
        size_t step = at < end ? utf8_decode(an->text + at, end - at, &c) : 1;
        uint32_t class = at < end ? WORD_SET(word_class_of(c)) : 0;
        if (class & (LETTERS | DIGITS | WORD_IGNORED)) {
            letters += (class & WORD_IGNORED) == 0;
        } else {
            if (letters > 1 || (letters == 1 && !apostrophes)) {
                if (an->purpose == TEXT_INDEX)
                    put(an, part, at, position + parts, true);
                if (an->purpose == TEXT_INDEX && parts == 0)
                    drop_repeated(an);
                parts++;
            }
            part = at + step;
            letters = 0;
        }
        at += step;
    }
    an->tokens->positions += parts > 1 ? parts : 1;
}

/* put_word -- letters and digits, with signs between them. */
static void put_word(analysis *an, size_t start, size_t end, bool signs, bool apostrophes) {
    bool plain = !signs || apostrophes;
    end_units(an);
    put(an, start, end, an->tokens->positions, plain);
    if (signs)
        put_parts(an, start, end, apostrophes);
    else
        an->tokens->positions++;
}

/* put_segment -- what is between two breaks: mostly a word. It may have several scripts. */
static void put_segment(analysis *an, size_t start, size_t end) {
    size_t word = start, at = start;
    uint32_t content = 0;
    bool signs = false, others = false;
    while (at < end) {
        uint32_t c;
        size_t next = at + utf8_decode(an->text + at, end - at, &c);
        uint32_t class = WORD_SET(word_class_of(c));
        if (!(class & WORD_UNITS)) {
            if (class & (LETTERS | DIGITS | EMOJI)) {
                content |= class;
            } else if (!(class & WORD_IGNORED)) {
                signs = true;
                others |= !word_is_apostrophe(c);
            }
            at = next;
            continue;
        }
        if (content)
            put_word(an, word, at, signs, !others);
        /* With what stands on the character: marks, and the vowels of Korean in parts. */
        while (next < end) {
            size_t step = utf8_decode(an->text + next, end - next, &c);
            bool jamo = (c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FF);
            if (!jamo && !(WORD_SET(word_class_of(c)) & WORD_IGNORED))
                break;
            next += step;
        }
        put_unit(an, at, next);
        word = at = next;
        content = 0;
        signs = others = false;
    }
    if (content)
        put_word(an, word, end, signs, !others);
}

/* ascii_word -- the end of a word of ASCII letters and digits alone; `at`: it is none, or goes on
 * with something else. */
static size_t ascii_word(const uint8_t *text, size_t size, size_t at) {
    size_t end = at;
    while (end < size && ((text[end] | 0x20u) - 'a' < 26u || text[end] - (uint32_t)'0' < 10u))
        end++;
    return end < size && text[end] != ' ' && text[end] != '\n' ? at : end;
}

bool text_analyze(text_analyzer *a, const uint8_t *text, size_t size, enum text_purpose purpose,
                  text_tokens *tokens) {
    analysis an = {.a = a, .text = text, .purpose = purpose, .tokens = tokens};
    for (size_t at = 0; at < size && !an.failed;) {
        uint32_t classes;
        size_t end = ascii_word(text, size, at);
        if (end != at) {
            put_word(&an, at, end, false, false);
        } else {
            end = word_end(text, size, at, &classes);
            if (classes & (WORD_UNITS | LETTERS | DIGITS | EMOJI))
                put_segment(&an, at, end);
            else if (an.unit_end != at || !(classes & WORD_IGNORED))
                end_units(&an);
        }
        at = end;
    }
    if (!an.failed)
        end_units(&an);
    return !an.failed;
}
