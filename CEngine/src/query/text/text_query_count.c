/*
 * query/text/text_query_count.c -- how often a leaf is among positions, whether a term is one of a
 * fuzzy leaf, and what a leaf scores.
 *
 * Positions take one pass: each word has a cursor, which never goes back.
 */
#include "query/text/text_condition.h"

#include "text/fold.h"
#include "util/utf8.h"

#include <math.h>
#include <string.h>

/* next_phrase -- text_next() of a phrase. */
static bool next_phrase(const text_node *leaf, const uint32_t *const *positions,
                        const uint32_t *counts, text_walk *w) {
    while (w->first < counts[0]) {
        uint32_t word = 1, *at = w->at;
        at[0] = w->first++;
        for (; word < leaf->word_count; word++) {
            uint32_t sought = positions[0][at[0]] + leaf->words[word].position;
            while (at[word] < counts[word] && positions[word][at[word]] < sought)
                at[word]++;
            if (at[word] == counts[word])
                return false;
            if (positions[word][at[word]] != sought)
                break;
        }
        if (word == leaf->word_count)
            return true;
    }
    return false;
}

/* next_ordered -- text_next() of words near one another in their order: the first place of each after
 * the one before leaves most room for those that follow. */
static bool next_ordered(const text_node *leaf, const uint32_t *const *positions,
                         const uint32_t *counts, text_walk *w) {
    while (w->first < counts[0]) {
        uint32_t word = 1, *at = w->at;
        at[0] = w->first++;
        uint32_t begin = positions[0][at[0]], last = begin;
        for (; word < leaf->word_count && last - begin <= leaf->within; word++) {
            while (at[word] < counts[word] && positions[word][at[word]] <= last)
                at[word]++;
            if (at[word] == counts[word])
                return false;
            last = positions[word][at[word]];
        }
        if (word == leaf->word_count && last - begin <= leaf->within)
            return true;
    }
    return false;
}

/* next_near -- text_next() of words near one another in any order. */
static bool next_near(const text_node *leaf, const uint32_t *const *positions,
                      const uint32_t *counts, text_walk *w) {
    while (w->first < counts[0]) {
        uint32_t word = 1, *at = w->at;
        at[0] = w->first++;
        uint32_t middle = positions[0][at[0]];
        uint32_t begin = middle > leaf->within ? middle - leaf->within : 0;
        for (; word < leaf->word_count; word++) {
            while (at[word] < counts[word] && positions[word][at[word]] < begin)
                at[word]++;
            /* A word that is there several times has as many places. */
            uint32_t repeated = leaf->words[word].position;
            if (repeated >= counts[word] - at[word])
                return false;
            if (positions[word][at[word] + repeated] > middle + leaf->within)
                break;
        }
        if (word == leaf->word_count)
            return true;
    }
    return false;
}

bool text_next(const text_node *leaf, const uint32_t *const *positions, const uint32_t *counts,
               text_walk *w) {
    return leaf->kind == TEXT_PHRASE ? next_phrase(leaf, positions, counts, w)
           : leaf->ordered           ? next_ordered(leaf, positions, counts, w)
                                     : next_near(leaf, positions, counts, w);
}

/* begin -- before the first place. There is room for many words, of which a leaf has few. */
static void begin(text_walk *w, const text_node *leaf) {
    w->first = 0;
    memset(w->at, 0, leaf->word_count * sizeof *w->at);
}

uint32_t text_phrase_count(const text_node *leaf, const uint32_t *const *positions,
                           const uint32_t *counts) {
    text_walk w;
    uint32_t found = 0;
    begin(&w, leaf);
    while (next_phrase(leaf, positions, counts, &w))
        found++;
    return found;
}

uint32_t text_near_count(const text_node *leaf, const uint32_t *const *positions,
                         const uint32_t *counts) {
    text_walk w;
    uint32_t found = 0;
    begin(&w, leaf);
    while (leaf->ordered ? next_ordered(leaf, positions, counts, &w)
                         : next_near(leaf, positions, counts, &w))
        found++;
    return found;
}

/* ---- Edit distance ---- */

/* The characters of a term, of which each may be replaced by several (text/fold.h). */
#define EDIT_CHARACTERS (4 * WORD_CHARACTERS_MAX)
/* Greater than each distance that is asked for. */
#define TOO_FAR 3
/* A row of the table has so many columns: lengths that differ by more are farther apart. */
#define EDIT_BAND (2 * (TOO_FAR - 1) + 1)

/* decode -- the characters of a term; false when they are too many. */
static bool decode(const uint8_t *bytes, size_t size, uint32_t *characters, uint32_t *count) {
    *count = 0;
    for (size_t at = 0; at < size;) {
        if (*count == EDIT_CHARACTERS)
            return false;
        size_t step = utf8_decode(bytes + at, size - at, &characters[(*count)++]);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/*
 * distance -- of two words, TOO_FAR if it is more than `most`: the fewest characters to be inserted,
 * removed, replaced, or swapped with a neighbour, none of them twice (optimal string alignment, as
 * Lucene has it). Of each row of the table only the columns next to the diagonal are made: column d
 * of row i is that of b[i + d - (TOO_FAR - 1)].
 */
static uint32_t distance(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count,
                         uint32_t most) {
    uint32_t rows[3][EDIT_BAND + 2];
    for (uint32_t i = 0; i <= a_count; i++) {
        /* A column more at either side, which is far. */
        uint32_t *row = rows[i % 3] + 1;
        const uint32_t *above = rows[(i + 2) % 3] + 1, *before = rows[(i + 1) % 3] + 1;
        uint32_t nearest = TOO_FAR;
        row[-1] = row[EDIT_BAND] = TOO_FAR;
        for (int d = 0; d < EDIT_BAND; d++) {
            int64_t j = (int64_t)i + d - (TOO_FAR - 1);
            row[d] = TOO_FAR;
            if (j < 0 || j > b_count)
                continue;
            if (i == 0) {
                row[d] = least((uint32_t)j, TOO_FAR);
            } else {
                row[d] = least(row[d], row[d - 1] + 1);
                row[d] = least(row[d], above[d + 1] + 1);
                if (j > 0)
                    row[d] = least(row[d], above[d] + (a[i - 1] != b[j - 1]));
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                    row[d] = least(row[d], before[d] + 1);
            }
            nearest = least(nearest, row[d]);
        }
        if (nearest > most)
            return TOO_FAR;
    }
    int64_t d = (int64_t)b_count - a_count + (TOO_FAR - 1);
    return d < 0 || d >= EDIT_BAND ? TOO_FAR : rows[a_count % 3][d + 1];
}

/* fuzzy_begin -- whether a term begins with the characters that are to be the same. */
static bool fuzzy_begin(const text_node *leaf, const uint8_t *term, size_t size) {
    const text_word *word = &leaf->words[0];
    size_t at = 0;
    uint32_t character;
    for (uint32_t i = 0; i < leaf->same && at < word->size; i++)
        at += utf8_decode(word->bytes + at, word->size - at, &character);
    return size >= at && memcmp(word->bytes, term, at) == 0;
}

bool text_near_edits(const text_node *leaf, const uint8_t *term, size_t size) {
    const text_word *word = &leaf->words[0];
    uint32_t a[EDIT_CHARACTERS], b[EDIT_CHARACTERS], a_count, b_count;
    /* An edit is of one character, which has up to four bytes. */
    size_t difference = size > word->size ? size - word->size : word->size - size;
    if (difference > 4 * leaf->distance || !fuzzy_begin(leaf, term, size) ||
        !decode(word->bytes, word->size, a, &a_count) || !decode(term, size, b, &b_count))
        return false;
    return distance(a, a_count, b, b_count, leaf->distance) <= leaf->distance;
}

/* ---- Scores ---- */

double text_idf(uint64_t having, uint64_t documents) {
    uint64_t lacking = documents > having ? documents - having : 0;
    return log1p(((double)lacking + 0.5) / ((double)having + 0.5));
}
