/*
 * query/spill.h -- temporary files for what sorts and groups can't hold in memory. Part query; may call catalog
 * and base.
 *
 * A file has no name: it is made without one (O_TMPFILE) or loses it at once, so that it is gone with the
 * process, however that ends. It lies in the database's folder; a memory store, and a folder that can't be written
 * to, have it in TMPDIR, or /tmp. All calls go through the database's table of file calls.
 */
#ifndef TANSU_QUERY_SPILL_H
#define TANSU_QUERY_SPILL_H

#include "catalog/view.h"

/* What a sort, and what groups, hold in memory before they are spilled: 100 MiB and 256 MiB. Tests make them
 * small, before the first query. */
extern size_t spill_sort_memory;
extern size_t spill_group_memory;

/* Zeroed with fd -1, it is not open. Bytes are appended, and read anywhere. */
typedef struct spill_file {
    const struct fs *calls;
    int fd;
    uint64_t size;
} spill_file;

/* spill_open -- errors: IO, FULL, MEMORY, UNSUPPORTED (the view has no place for files). */
tansu_status spill_open(spill_file *f, const view *v, tansu_error *error);

/* spill_append -- errors: IO, FULL. spill_read -- all of the bytes, which were appended before. Errors: IO. */
tansu_status spill_append(spill_file *f, const void *bytes, size_t size, tansu_error *error);
tansu_status spill_read(const spill_file *f, void *bytes, size_t size, uint64_t offset,
                        tansu_error *error);

/* spill_clear -- gives the room back; the file is then empty. Errors: IO. */
tansu_status spill_clear(spill_file *f, tansu_error *error);

/* spill_close -- fine on one that is not open. */
void spill_close(spill_file *f);

#endif
