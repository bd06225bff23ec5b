/*
 * support/random/random_search.h -- random words, texts of them, and searches for them ($text).
 */
#ifndef SUPPORT_RANDOM_SEARCH_H
#define SUPPORT_RANDOM_SEARCH_H

#include "support/random/random.h"
#include "support/text.h"

#define WORDS_MOST 400

/* Words of few letters, so that many are near one another and have beginnings in common. */
typedef struct vocabulary {
    char words[WORDS_MOST][40];
    uint32_t count;
} vocabulary;

/* random_words -- a vocabulary of so many words. */
void random_words(random_source *r, vocabulary *v, uint32_t count);

/* random_word -- the first ones are far more frequent than the last. */
const char *random_word(random_source *r, const vocabulary *v);

/* put_words -- appends a text of at most so many words. */
void put_words(random_source *r, const vocabulary *v, text *t, uint32_t most);

/* random_search -- the operand of $text, in either form, with single quotes; with `paths` a, b and
 * c.d. */
void random_search(random_source *r, const vocabulary *v, text *t, bool paths);

#endif
