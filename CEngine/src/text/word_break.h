/*
 * text/word_break.h -- dividing text into words by the default rules of Unicode Standard Annex 29,
 * section 4.1.1.
 */
#ifndef TANSU_TEXT_WORD_BREAK_H
#define TANSU_TEXT_WORD_BREAK_H

#include "text/word_class.h"

#include <stddef.h>

/* word_end -- where the segment of well-formed UTF-8 text that begins at `at` (less than `size`)
 * ends. *classes is the set of the classes of its characters; a segment without letters, digits
 * and the like is what stands between words. */
size_t word_end(const uint8_t *text, size_t size, size_t at, uint32_t *classes);

#endif
