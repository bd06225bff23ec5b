/*
 * api/dump_format.h -- the names of a dump's control lines (docs/dump-format.md), and reading
 * lines. Private to api/api_dump.c, api/api_load.c and api/load/load_*.c.
 */
#ifndef TANSU_API_DUMP_FORMAT_H
#define TANSU_API_DUMP_FORMAT_H

#include "tansu.h"

#include <stdbool.h>

/* A line whose first key begins with `$` is no document: one that has such a key is written with
 * the escape of `$`. */
#define DUMP_HEADER "$dump"
#define DUMP_COLLECTION "$collection"
#define DUMP_END "$end"
#define DUMP_FORMAT 1

/* The longest line that is read: the text of the largest document, mostly of escapes. */
#define LINE_MOST ((size_t)TANSU_MAX_DOCUMENT_SIZE * 8)

/* Lines out of a caller's source. */
typedef struct line_source {
    tansu_read_bytes read;
    void *context;
    uint64_t number; /* of the line last returned, from 1 */
    uint8_t *bytes;  /* of LINE_CHUNK */
    size_t size;     /* bytes in it */
    size_t at;       /* of them taken */
    bool ended;
    tansu_buffer line; /* one that does not lie in `bytes` as a whole */
} line_source;

#define LINE_CHUNK (256u * 1024u)

/* lines_next -- the next line that is not blank, without its end; valid until the next call.
 * TANSU_DONE after the last. Errors: IO (the source failed), TOO_LARGE, MEMORY. */
tansu_status lines_next(line_source *lines, const char **text, size_t *size, tansu_error *error);

/* lines_free -- what the source holds. */
void lines_free(line_source *lines);

#endif
