/*
 * bson/case_foldings.h -- the case foldings of single characters: CaseFolding.txt of Unicode 15.0,
 * statuses C and F.
 *
 * Keys of indexes are folded text, and a database is read by other builds of the engine and on
 * other systems. So the table is part of the file format: it stays as it is when Unicode changes.
 */
#ifndef TANSU_BSON_CASE_FOLDINGS_H
#define TANSU_BSON_CASE_FOLDINGS_H

#include <stdint.h>

#define CASE_FOLDING_MOST 3 /* characters in the folding of one */

/* case_folding -- stores the folding of a character and returns how many characters it has; 0, with
 * nothing stored, when it is the character itself. */
uint32_t case_folding(uint32_t character, uint32_t *folded);

#endif
