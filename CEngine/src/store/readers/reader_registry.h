/*
 * store/readers/reader_registry.h -- the processes that read a database while another one
 * writes, as they say of themselves (docs/readers.md).
 *
 * Each handle with allow_writer has a small file in the folder `readers`, which it keeps locked
 * (flock). The system releases the lock when the process ends, however it ends: a file that can be
 * locked is of a reader that is gone, and is removed by whoever lists them next. The registry is
 * for people and limits: nothing depends on an entry being there. Where none can be written, as on
 * a read-only file system, the reader goes on without.
 */
#ifndef TANSU_STORE_READERS_READER_REGISTRY_H
#define TANSU_STORE_READERS_READER_REGISTRY_H

#include "util/fs.h"

#include <stdint.h>

#define READERS_FOLDER "readers"

/* What a reader says of itself. */
typedef struct reader_report {
    uint64_t process;
    int64_t opened;    /* milliseconds since 1970 */
    uint64_t commit;   /* of its newest snapshot */
    uint64_t copied;   /* bytes of its copies of the index file */
    uint64_t mapped;   /* bytes of the segments that it has mapped */
    uint64_t removed;  /* of them, those whose files had been removed when it said so */
    uint64_t removals; /* bytes that writers had removed by then, by the file TAIL */
} reader_report;

typedef struct reader_entry reader_entry;

/* reader_enter -- the entry of a reader; NULL where none can be made. */
reader_entry *reader_enter(const fs *calls, const char *database, const reader_report *report);

/* reader_update -- says something else; fine on NULL. */
void reader_update(reader_entry *entry, const reader_report *report);

/* reader_leave -- removes the entry; fine on NULL. */
void reader_leave(reader_entry *entry);

/* Called for one reader. */
typedef void (*reader_visitor)(void *context, const reader_report *report);

/* readers_list -- calls the visitor for each living reader, and removes the entries of those that
 * are gone, as far as that can be done. The visitor may be NULL. */
void readers_list(const fs *calls, const char *database, reader_visitor visitor, void *context);

/* reader_pinned -- the bytes on the disk that only that reader still needs, at most.
 * `removals`: by the file TAIL now. */
uint64_t reader_pinned(const reader_report *report, uint64_t removals);

#endif
