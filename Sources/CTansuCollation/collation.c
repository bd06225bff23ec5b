/*
 * collation.c -- ICU's root collation. Empty without the trait TansuSync, so that ICU is not needed.
 */
#ifdef TANSU_SYNC
#include "tansu_collation.h"
#include <unicode/ucol.h>

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

const char *tansu_collation_error_name(int32_t error) {
    return u_errorName((UErrorCode)error);
}
#endif
