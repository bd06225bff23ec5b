/*
 * store/tracking/change_tracking.c -- noting which documents were changed.
 */
#include "store/tracking/change_tracking.h"

#include "util/error.h"

#include <stdlib.h>

tansu_status change_tracking_parse(const doc_value *option, void **result, tansu_error *error) {
    *result = NULL;
    if (option->type == DOC_NULL || (option->type == DOC_BOOL && !doc_bool(option)))
        return TANSU_OK;
    size_t length = 0;
    const char *name = option->type == DOC_STRING ? doc_string(option, &length) : "";
    if (length == 0 || length > TANSU_MAX_NAME || memchr(name, 0, length) != NULL)
        return error_set(error, TANSU_E_INVALID_QUERY, "changeTracking",
                         "The option \"changeTracking\" must be the name of a collection, of at "
                         "most %d bytes, or false",
                         TANSU_MAX_NAME);
    change_tracking *tracking = calloc(1, sizeof *tracking);
    if (tracking == NULL)
        return error_memory(error);
    memcpy(tracking->to, name, length);
    *result = tracking;
    return TANSU_OK;
}

bool change_tracking_equal(const void *left, const void *right) {
    const change_tracking *a = left, *b = right;
    return a == NULL || b == NULL ? a == b : strcmp(a->to, b->to) == 0;
}

void change_tracking_write(const void *option, writer *w) {
    const change_tracking *tracking = option;
    if (tracking == NULL)
        writer_bool(w, "changeTracking", false);
    else
        writer_string(w, "changeTracking", tracking->to);
}
