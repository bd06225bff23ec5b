/*
 * text/fold.h -- the forms of a word in which texts are compared.
 */
#ifndef TANSU_TEXT_FOLD_H
#define TANSU_TEXT_FOLD_H

#include "util/buffer.h"

/* More characters of a word are left out of its term. */
#define WORD_CHARACTERS_MAX 128

enum fold_form {
    /* Letter case is folded, characters are composed: what a stemmer takes. */
    FOLD_CASE,
    /* And compatibility characters are replaced (NFKC), accents removed: those of Latin, Greek and
     * Cyrillic letters, the points of Hebrew and the short vowels of Arabic. */
    FOLD_ALL
};

/* fold_word -- appends a form of at most WORD_CHARACTERS_MAX characters of a word of well-formed
 * UTF-8. False when memory is exhausted. */
bool fold_word(tansu_buffer *out, const uint8_t *word, size_t size, enum fold_form form);

#endif
