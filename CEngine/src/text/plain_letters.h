/*
 * text/plain_letters.h -- letters without accents and without special forms, and letters with them:
 * from UnicodeData.txt of Unicode 15.0.
 *
 * Terms of text indexes are plain letters, and a database is read by other builds of the engine and
 * on other systems. So the tables are part of the file format: they stay as they are when Unicode
 * changes.
 */
#ifndef TANSU_TEXT_PLAIN_LETTERS_H
#define TANSU_TEXT_PLAIN_LETTERS_H

#include <stdint.h>

#define PLAIN_LETTERS_MOST 4 /* of one character */

/* plain_letters -- stores the letters of a character that is its own case folding (the
 * compatibility decomposition without accents: a for \u00E4, k for a full-width k), and returns how
 * many there are; 0, with nothing stored, when it is plain itself. Ten letters that do not decompose are
 * among them, since people search for o, l, ae and so on: those with a stroke, the two ligatures, eth,
 * thorn and the i without a dot. Not among them are Arabic presentation forms, compatibility
 * ideographs and signs that are no letters. */
uint32_t plain_letters(uint32_t character, uint32_t *letters);

/* composed_letter -- the small Latin, Greek, Cyrillic or Arabic letter with a mark, of those below
 * U+0700; 0: there is none. */
uint32_t composed_letter(uint32_t letter, uint32_t mark);

#endif
