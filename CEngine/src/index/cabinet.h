/*
 * index/cabinet.h -- the file that keeps index blocks between openings. Part index; may call base.
 *
 * The file is a Tokyo Cabinet hash database, read and written by our own code (docs/decisions/0001).
 * It is derived data: it can be deleted at any time when the database is closed. Records are
 * addressed by a kind and a number and carry a CRC-32. All of a checkpoint is one transaction, which
 * is on the disk when it was committed: after a kill or a loss of power the last one that was
 * committed is there whole.
 *
 * Errors of calls on the file are IO (or FULL, READ_ONLY, MEMORY by their errno); CORRUPT is said of
 * bytes that do not check out, and of nothing else.
 */
#ifndef TANSU_INDEX_CABINET_H
#define TANSU_INDEX_CABINET_H

#include "base/fs.h"

typedef struct cabinet cabinet;

enum cabinet_kind {
    CABINET_META = 'm',  /* number 0: the state that the blocks make up (catalog/checkpoint.h) */
    CABINET_BLOCK = 'b', /* a tree block, by block number */
    CABINET_PLACES = 'p' /* a chunk of places, by collection << 40 | chunk */
};

enum cabinet_flags {
    CABINET_CREATE = 1,    /* make the file when it is not there */
    CABINET_READ_ONLY = 2, /* write nothing at all */
    CABINET_LOST =
        4, /* power was lost since it was last written: CORRUPT unless it is provably whole */
    CABINET_PASSING =
        8 /* of a database that goes when it is closed: nothing is forced to the disk */
};

/* cabinet_open -- opens or makes the file. What a killed process or a loss of power left half done is
 * undone or completed, in memory at once and in the file with the first transaction. Errors: IO,
 * CORRUPT, NOT_FOUND, LOCKED; READ_ONLY (an earlier version of the library was killed, and its
 * unfinished transaction must be taken back in the file). */
tansu_status cabinet_open(const fs *calls, const char *path, unsigned flags, cabinet **result,
                          tansu_error *error);

/* cabinet_close -- leaves a file that Tokyo Cabinet itself can open, on the disk. After an error the next
 * opening finds the last commit all the same. Errors: IO, FULL. The handle is freed in any case. Fine
 * on NULL. */
tansu_status cabinet_close(cabinet *cab, tansu_error *error);

/* cabinet_get -- reads one record, its CRC checked. Safe from any thread, also while another one is
 * in a transaction. After an error the buffer is empty, and has no memory. Errors: NOT_FOUND, CORRUPT, IO,
 * MEMORY. */
tansu_status cabinet_get(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                         tansu_buffer *record, tansu_error *error);

/* One writer at a time from begin to commit or abort. A transaction of which a call failed can only be
 * given up; the next one may succeed. */
tansu_status cabinet_begin(cabinet *cab, tansu_error *error);
tansu_status cabinet_put(cabinet *cab, enum cabinet_kind kind, uint64_t number, const void *record,
                         size_t size, tansu_error *error);
tansu_status cabinet_remove(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                            tansu_error *error); /* no such record is no error */
/* cabinet_commit -- on the disk when it returns OK. After an error the transaction is given up. */
tansu_status cabinet_commit(cabinet *cab, tansu_error *error);
void cabinet_abort(cabinet *cab);

/* cabinet_wasteful -- whether much of the file is free. No transaction is under way. */
bool cabinet_wasteful(cabinet *cab);

/* cabinet_shrink -- writes all records to a new file and puts it in the old one's place; readers go on
 * meanwhile. No transaction is under way. Errors: IO, FULL, CORRUPT, MEMORY (the old file stays). */
tansu_status cabinet_shrink(cabinet *cab, tansu_error *error);

/* cabinet_delete -- removes a closed cabinet's files, as far as they are there. Errors: IO. */
tansu_status cabinet_delete(const fs *calls, const char *path, tansu_error *error);

/* cabinet_doubt -- notes that the file holds what it should not, or lacks what it should hold. Any thread. */
void cabinet_doubt(cabinet *cab);

/* cabinet_doubted -- whether that was noted, or a record was read that did not check out. Any thread. */
bool cabinet_doubted(const cabinet *cab);

/* cabinet_size -- bytes of the file. */
uint64_t cabinet_size(cabinet *cab);

#endif
