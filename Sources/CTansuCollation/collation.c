/*
 * collation.c -- ICU's root collation. Empty without the trait TansuSync, so that ICU is not needed.
 */
#ifdef TANSU_SYNC
#include "tansu_collation.h"
#include <stdlib.h>
#include <unicode/ucol.h>
#include <unicode/ustring.h>

/* Texts of up to this many bytes need no memory of the heap. */
#define SHORT_TEXT 512

void *tansu_collation_open(int32_t *error) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *collator = ucol_open("", &status);
    if (collator && U_FAILURE(status)) {
        ucol_close(collator);
        collator = NULL;
    }
    if (collator)
        status = U_ZERO_ERROR;
    else if (U_SUCCESS(status))
        status = U_MEMORY_ALLOCATION_ERROR;
    *error = status;
    return collator;
}

void tansu_collation_close(void *collator) {
    ucol_close(collator);
}

int32_t tansu_collation_compare(const void *collator, const char *a, int32_t a_size, const char *b,
                                int32_t b_size, int32_t *error) {
    UErrorCode status = U_ZERO_ERROR;
    UCollationResult order = ucol_strcollUTF8(collator, a, a_size, b, b_size, &status);
    *error = U_FAILURE(status) ? status : U_ZERO_ERROR;
    return order;
}

int32_t tansu_collation_key(const void *collator, const char *text, int32_t size, uint8_t *key,
                            int32_t capacity, int32_t *error) {
    UChar small[SHORT_TEXT];
    UChar *units = small;
    int32_t count = 0, needed = 0;
    UErrorCode status = U_ZERO_ERROR;

    /* A text has at most as many units of UTF-16 as bytes of UTF-8. */
    if (size > SHORT_TEXT)
        units = malloc((size_t)size * sizeof *units);
    if (!units) {
        *error = U_MEMORY_ALLOCATION_ERROR;
        return 0;
    }
    u_strFromUTF8(units, size > SHORT_TEXT ? size : SHORT_TEXT, &count, text, size, &status);
    if (U_SUCCESS(status)) {
        needed = ucol_getSortKey(collator, units, count, key, capacity);
        status = needed > 0 ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
    }
    if (units != small)
        free(units);
    *error = status;
    return needed;
}

const char *tansu_collation_error_name(int32_t error) {
    return u_errorName((UErrorCode)error);
}
#endif
