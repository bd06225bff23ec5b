/*
 * tansu_collation.h -- ICU's root collation without ICU's headers.
 *
 * ICU's functions are macros that add ICU's version to a name (ucol_open_72), which Swift cannot call, and its types clash
 * with those that Foundation brings along. So these functions have only plain types.
 */
#ifndef TANSU_COLLATION_H
#define TANSU_COLLATION_H

#include <stdint.h>

/* tansu_collation_open -- a collator of the root locale; null and ICU's error code when there is none. */
void *tansu_collation_open(int32_t *error);

/* tansu_collation_close -- frees a collator. */
void tansu_collation_close(void *collator);

/*
 * tansu_collation_compare -- less than, equal to or greater than 0, for two texts in UTF-8.
 *
 * Several threads may use one collator at the same time. The error code is 0 unless ICU fails.
 */
int32_t tansu_collation_compare(const void *collator, const char *a, int32_t a_size, const char *b,
                                int32_t b_size, int32_t *error);

/*
 * tansu_collation_key -- the sort key of a text in UTF-8: bytes, compared as such, have the order of the texts.
 *
 * The key ends with the only 0 in it. At most `capacity` bytes are written; the result is the size of the whole key, or 0 with
 * an error code. Several threads may use one collator at the same time.
 */
int32_t tansu_collation_key(const void *collator, const char *text, int32_t size, uint8_t *key,
                            int32_t capacity, int32_t *error);

/* tansu_collation_error_name -- ICU's name of an error code. */
const char *tansu_collation_error_name(int32_t error);

#endif
