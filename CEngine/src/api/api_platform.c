/*
 * api/api_platform.c -- what the program supplies.
 */
#include "api/handles.h"
#include "query/match/regex_code.h"
#include "util/error.h"

tansu_status tansu_platform_set(const tansu_platform *platform, tansu_error *error) {
    if (platform == NULL)
        return null_argument("platform", error);
    if (platform->struct_size < sizeof *platform)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set struct_size to sizeof(tansu_platform)");
    if (platform->regex_compile == NULL || platform->regex_matches == NULL ||
        platform->regex_free == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "platform",
                         "Set all three functions for regular expressions");
    return regex_platform_set(platform, error);
}
