/*
 * api/load/load_lines.c -- lines out of a caller's source.
 */
#include "api/dump_format.h"

#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* A long line's memory is not kept for the next. */
#define LINE_KEPT (4u * 1024u * 1024u)

/* fill -- reads more, when all lines were returned. */
static tansu_status fill(line_source *l, tansu_error *error) {
    if (l->at < l->size || l->ended)
        return TANSU_OK;
    if (l->bytes == NULL && (l->bytes = malloc(LINE_CHUNK)) == NULL)
        return error_memory(error);
    ptrdiff_t got = l->read(l->context, l->bytes, LINE_CHUNK);
    if (got < 0 || got > (ptrdiff_t)LINE_CHUNK)
        return error_set(error, TANSU_E_IO, NULL, "The read function of the load failed");
    l->at = 0;
    l->size = (size_t)got;
    l->ended = got == 0;
    return TANSU_OK;
}

/* line_next -- the next line, blank or not; TANSU_DONE at the end. */
static tansu_status line_next(line_source *l, const char **text, size_t *size, tansu_error *error) {
    if (l->line.capacity > LINE_KEPT)
        tansu_buffer_free(&l->line);
    l->line.size = 0;
    for (bool begun = false;; begun = true) {
        tansu_status status = fill(l, error);
        if (status != TANSU_OK)
            return status;
        if (l->ended && l->line.size == 0 && !begun)
            return TANSU_DONE;
        const uint8_t *from = l->bytes + l->at;
        size_t left = l->ended ? 0 : l->size - l->at;
        const uint8_t *stop = left == 0 ? NULL : memchr(from, '\n', left);
        size_t part = stop == NULL ? left : (size_t)(stop - from);
        l->at += part + (stop != NULL);
        if (stop != NULL && l->line.size == 0) { /* the usual case: nothing is copied */
            *text = (const char *)from;
            *size = part;
            return TANSU_OK;
        }
        if (part > LINE_MOST - l->line.size)
            return error_set(error, TANSU_E_TOO_LARGE, NULL,
                             "The line is longer than the text of any document");
        if (!buffer_append(&l->line, from, part))
            return error_memory(error);
        if (stop != NULL || l->ended) {
            *text = (const char *)l->line.data;
            *size = l->line.size;
            return TANSU_OK;
        }
    }
}

tansu_status lines_next(line_source *lines, const char **text, size_t *size, tansu_error *error) {
    for (;;) {
        tansu_status status = line_next(lines, text, size, error);
        if (status == TANSU_DONE)
            return status;
        lines->number++;
        if (status != TANSU_OK)
            return status;
        if (lines->number == 1 && *size >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0) {
            *text += 3; /* a byte order mark */
            *size -= 3;
        }
        for (size_t i = 0; i < *size; i++)
            if (!strchr(" \t\r", (*text)[i]) || (*text)[i] == 0)
                return TANSU_OK;
    }
}

void lines_free(line_source *lines) {
    free(lines->bytes);
    tansu_buffer_free(&lines->line);
}
