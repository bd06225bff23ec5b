/*
 * query/exec/external_sort.h -- an external merge sort of byte records.
 *
 * Records are sorted by key, in the order of memcmp(), and those with equal keys by their tie
 * breakers. When they exceed the memory limit, they are sorted and written to a temporary file as a
 * run. At the end all runs are merged, many at a time, in as many passes as needed. The files hold
 * at most twice the data that was added.
 */
#ifndef TANSU_QUERY_EXEC_EXTERNAL_SORT_H
#define TANSU_QUERY_EXEC_EXTERNAL_SORT_H

#include "query/util/deadline.h"
#include "store/read_context.h"

/* ---- Temporary files for sorts and groups that exceed their memory limit ---- */

/*
 * A file has no name. It is created without one (O_TMPFILE), or its name is removed at once, so
 * that it disappears with the process, however that ends. It is in the folder of the database, or
 * for memory stores and folders that are not writable in TMPDIR, or /tmp. All calls go through the
 * file calls of the database (util/fs.h).
 */

/* What may not exceed its memory, for the error that says so. */
typedef struct spill_refusal {
    const char *context; /* of the error */
    const char *what;    /* what exceeds the limit */
    size_t limit;
    const char *advice; /* what to do other than permitting temporary files */
} spill_refusal;

/* spill_refuse -- the error of a call that would need temporary files, which its hints forbid:
 * TOO_LARGE. */
tansu_status spill_refuse(const spill_refusal *refusal, tansu_error *error);

/* Not open when zero-initialised with fd -1. Bytes are appended, and read at any offset. */
typedef struct spill_file {
    const struct fs *calls;
    int fd;
    uint64_t size;
} spill_file;

/* spill_open -- errors: IO, FULL, MEMORY, UNSUPPORTED (the read context has no file calls). */
tansu_status spill_open(spill_file *f, const read_context *rctx, tansu_error *error);

/* spill_append -- errors: IO, FULL. */
tansu_status spill_append(spill_file *f, const void *bytes, size_t size, tansu_error *error);

/* spill_read -- reads bytes that were appended. Errors: IO. */
tansu_status spill_read(const spill_file *f, void *bytes, size_t size, uint64_t offset,
                        tansu_error *error);

/* spill_clear -- truncates the file. Errors: IO. */
tansu_status spill_clear(spill_file *f, tansu_error *error);

/* spill_close -- a file that is not open is allowed. */
void spill_close(spill_file *f);

typedef struct sort_record {
    const uint8_t *key;
    size_t key_size;
    uint64_t tie_breaker;
    const uint8_t *payload;
    size_t payload_size;
} sort_record;

typedef struct external_sort_options {
    const read_context *rctx; /* for temporary files; outlives the sort */
    const deadline *deadline; /* outlives the sort */
    size_t memory;            /* limit, before it spills */
    bool may_spill;           /* false: exceeding the limit is an error, */
    spill_refusal refusal;    /* which this describes */
} external_sort_options;

typedef struct external_sort external_sort;

/* external_sort_new -- NULL when memory is exhausted. */
external_sort *external_sort_new(const external_sort_options *how);
void external_sort_free(external_sort *s);

/* external_sort_add -- adds a record and copies its bytes. Errors: MEMORY, TOO_LARGE, IO, FULL,
 * TIMEOUT, CANCELLED. */
tansu_status external_sort_add(external_sort *s, const sort_record *record, tansu_error *error);

/* external_sort_finish -- sorts what was added. Errors: as above. */
tansu_status external_sort_finish(external_sort *s, tansu_error *error);

/* external_sort_next -- the next record in order, valid until the next call. TANSU_DONE at the end.
 * Errors: as above. */
tansu_status external_sort_next(external_sort *s, sort_record *record, tansu_error *error);

/* external_sort_spilled -- bytes written to temporary files so far. */
uint64_t external_sort_spilled(const external_sort *s);

#endif
