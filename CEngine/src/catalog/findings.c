/*
 * catalog/findings.c -- the problems that verify and repair meet (see findings.h).
 */
#include "catalog/findings.h"

#include "base/buffer.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void findings_init(findings *f) {
    *f = (findings){.count = 0};
    bson_init(&f->list);
}

void findings_free(findings *f) {
    bson_destroy(&f->list);
}

/* append -- one problem as a member of the list. */
static bool append(findings *f, const finding *where, const char *message) {
    char key[16];
    const char *at;
    bson_t one;
    size_t length = bson_uint32_to_string((uint32_t)f->count, &at, key, sizeof key);
    return bson_append_document_begin(&f->list, at, (int)length, &one) &&
           (where->file == NULL || BSON_APPEND_UTF8(&one, "file", where->file)) &&
           (where->offset < 0 || BSON_APPEND_INT64(&one, "offset", where->offset)) &&
           (where->size < 0 || BSON_APPEND_INT64(&one, "size", where->size)) &&
           (where->collection == NULL || BSON_APPEND_UTF8(&one, "collection", where->collection)) &&
           (where->index == NULL || BSON_APPEND_UTF8(&one, "index", where->index)) &&
           BSON_APPEND_UTF8(&one, "message", message) && bson_append_document_end(&f->list, &one);
}

void findings_add(findings *f, const finding *where, const char *format, ...) {
    char message[sizeof f->first.message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (f->count == 0)
        error_at(&f->first, TANSU_E_CORRUPT,
                 where->file != NULL    ? where->file
                 : where->index != NULL ? where->index
                                        : where->collection,
                 where->offset, "%s", message);
    if (f->count < FINDINGS_TOLD && !append(f, where, message))
        f->no_memory = true;
    f->count++;
}

bool findings_report(findings *f, bson_t *report, tansu_buffer *result) {
    return !f->no_memory && BSON_APPEND_ARRAY(report, "problems", &f->list) &&
           BSON_APPEND_INT64(report, "problemCount", (int64_t)f->count) &&
           (result == NULL || buffer_set(result, bson_get_data(report), report->len));
}
