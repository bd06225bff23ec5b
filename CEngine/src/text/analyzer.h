/*
 * text/analyzer.h -- from text to the terms that a text index has, and that a search looks for.
 *
 * A word of Annex 29 (text/word_break.h) is one term, folded (text/fold.h) and reduced to its stem.
 * A word with signs between letters or digits ("foo_bar", "v1.2", "l'amour") is a term as a whole,
 * and each of its parts is one. Chinese, Japanese, Korean, Thai and their like, which have no
 * spaces between words, give each character and each pair of neighbours. Emoji are words.
 */
#ifndef TANSU_TEXT_ANALYZER_H
#define TANSU_TEXT_ANALYZER_H

#include "util/array.h"
#include "util/buffer.h"

/* One term of a text. Words are numbered from 0: whole words and the pairs of characters have the
 * number of their first part. */
typedef struct text_token {
    uint32_t term, term_size; /* in text_tokens.terms */
    uint32_t position;
    uint32_t start, end; /* bytes of the text */
} text_token;

/* The terms of a text, in the order of their positions. */
typedef struct text_tokens {
    text_token *items;
    size_t count, capacity;
    tansu_buffer terms;
    uint32_t positions; /* how many words the text has */
} text_tokens;

enum text_purpose {
    TEXT_INDEX, /* all terms, by which a search can find the text */
    TEXT_SEARCH /* those that a text must have: whole words, pairs without their characters */
};

typedef struct text_analyzer text_analyzer;

/* text_analyzer_new -- of a language. Errors: those of stemmer_new(). */
tansu_status text_analyzer_new(const char *language, text_analyzer **result, tansu_error *error);
void text_analyzer_free(text_analyzer *a);

/* text_analyze -- appends the terms of well-formed UTF-8 text; positions go on from those that are
 * there. False when memory is exhausted. */
bool text_analyze(text_analyzer *a, const uint8_t *text, size_t size, enum text_purpose purpose,
                  text_tokens *tokens);

/* text_tokens_clear -- leaves no terms, but keeps the memory. */
void text_tokens_clear(text_tokens *tokens);
void text_tokens_free(text_tokens *tokens);

#endif
