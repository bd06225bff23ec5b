/*
 * api/api_platform.c -- what the program supplies.
 */
#include "api/handles.h"
#include "crypt/crypt.h"
#include "query/match/regex_code.h"
#include "util/error.h"

#include <stddef.h>
#include <string.h>

/* What the struct of the first programs had. */
#define PLATFORM_LEAST offsetof(tansu_platform, gcm_seal)

tansu_status tansu_platform_set(const tansu_platform *platform, tansu_error *error) {
    if (platform == NULL)
        return null_argument("platform", error);
    if (platform->struct_size < PLATFORM_LEAST)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set struct_size to sizeof(tansu_platform)");
    if (platform->regex_compile == NULL || platform->regex_matches == NULL ||
        platform->regex_free == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set all three functions for regular expressions");
    tansu_platform whole = {0};
    memcpy(&whole, platform,
           platform->struct_size < sizeof whole ? platform->struct_size : sizeof whole);
    if ((whole.gcm_seal == NULL) != (whole.gcm_open == NULL))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set both functions for ciphers, or none");
    if ((whole.regex_groups == NULL) != (whole.regex_find == NULL))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set both functions that tell where regular expressions match, or none");
    tansu_status status = regex_platform_set(&whole, error);
    if (status == TANSU_OK || status == TANSU_E_UNSUPPORTED)
        crypt_platform_set(&whole);
    return status;
}
