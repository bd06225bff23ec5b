/*
 * text/stemmer.h -- reducing words of a language to their stems (Snowball's algorithms).
 */
#ifndef TANSU_TEXT_STEMMER_H
#define TANSU_TEXT_STEMMER_H

#include "util/buffer.h"

typedef struct stemmer stemmer;

/*
 * stemmer_new -- for a language: a code of ISO 639 ("en", "eng") or Snowball's name ("english"), of
 * any letter case. *result is NULL for "none", which leaves words as they are. Errors: INVALID_QUERY
 * (unknown language; the message lists them), UNSUPPORTED (a build without libstemmer), MEMORY.
 */
tansu_status stemmer_new(const char *language, stemmer **result, tansu_error *error);
void stemmer_free(stemmer *s);

/* stemmer_apply -- the stem of a folded word (FOLD_CASE), which lives until the next call. NULL when
 * memory is exhausted. */
const uint8_t *stemmer_apply(stemmer *s, const uint8_t *word, size_t size, size_t *stem_size);

#endif
