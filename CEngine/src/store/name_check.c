/*
 * store/name_check.c -- which names collections and indexes may have.
 */
#include "store/name_check.h"

#include "util/error.h"
#include "util/utf8.h"

#include <string.h>

tansu_status name_check(const char *name, const char *what, tansu_error *error) {
    if (name == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, what,
                         "The name of the %s is NULL; give it one", what);
    if (name[0] == 0)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s is empty; give it one", what);
    size_t length = strlen(name);
    if (length > TANSU_MAX_NAME)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s has %zu bytes; use at most %d", what, length,
                         TANSU_MAX_NAME);
    if (utf8_valid((const uint8_t *)name, length) != length)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s is not valid UTF-8; choose another name", what);
    if (name[0] == '$')
        return error_set(error, TANSU_E_INVALID_NAME, name,
                         "The name of the %s begins with \"$\"; choose another name", what);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return error_set(error, TANSU_E_INVALID_NAME, what,
                             "The name of the %s contains a control character; choose another name",
                             what);
    return TANSU_OK;
}
