/*
 * query/text/text_highlight.h -- what a search finds in a text, and the parts of it that are worth
 * showing. It needs no index.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_HIGHLIGHT_H
#define TANSU_QUERY_TEXT_TEXT_HIGHLIGHT_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

#define TEXT_MAX_SNIPPETS 100
#define TEXT_MAX_SNIPPET_WORDS 1000

/* Bytes of a text, `end` excluded. */
typedef struct text_range {
    uint32_t start, end;
} text_range;

typedef struct text_highlight_options {
    const char *language; /* of the text; NULL: the search's, or else none */
    const char *path; /* of the text: what is looked for elsewhere is left out; NULL: nothing is */
    uint32_t snippets, words; /* how many, and of how many words */
} text_highlight_options;

/* What was found, in the order of the text. */
typedef struct text_highlights {
    text_range *ranges; /* which do not overlap */
    uint32_t count;
    text_range snippets[TEXT_MAX_SNIPPETS];
    uint32_t snippet_count;
} text_highlights;

/* text_highlight -- of well-formed UTF-8. text_highlights_free() is due whatever the result. Errors:
 * those of text_query_parse() and text_query_bind(); TOO_LARGE (more places than are kept), MEMORY. */
tansu_status text_highlight(const uint8_t *text, size_t size, const uint8_t *search,
                            size_t search_size, const text_highlight_options *options,
                            text_highlights *result, tansu_error *error);
void text_highlights_free(text_highlights *result);

#endif
