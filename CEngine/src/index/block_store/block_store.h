/*
 * index/block_store/block_store.h -- the file that stores index blocks and location chunks between
 * openings.
 *
 * The file is a Tokyo Cabinet hash database, read and written by our own code
 * (docs/decisions/0001). It is derived data: it can be deleted at any time when the database is
 * closed. Records are addressed by a kind and a number and carry a CRC-32. A checkpoint is one
 * transaction, durable when block_store_commit() returns: after a crash or power loss the file
 * holds the last committed transaction, complete.
 *
 * Failed calls on the file return IO (or FULL, READ_ONLY, MEMORY by their errno); CORRUPT means
 * invalid bytes and nothing else.
 */
#ifndef TANSU_INDEX_BLOCK_STORE_BLOCK_STORE_H
#define TANSU_INDEX_BLOCK_STORE_BLOCK_STORE_H

#include "crypt/keyring.h"
#include "util/fs.h"

typedef struct block_store block_store;

/* Numbers of records. Its owner frees the list. */
typedef struct block_numbers {
    uint64_t *list;
    size_t count;
    size_t capacity;
} block_numbers;

enum block_store_kind {
    BLOCK_STORE_META = 'm', /* number 0: the state that the blocks make up (catalog/checkpoint.h) */
    BLOCK_STORE_CATALOG = 'c',  /* up to 64 collections (store/checkpoint/stored_catalog.h) */
    BLOCK_STORE_BLOCK = 'b',    /* a tree block, by block number */
    BLOCK_STORE_LOCATIONS = 'p' /* a chunk of locations, by collection << 40 | chunk */
};

enum block_store_flags {
    BLOCK_STORE_CREATE = 1,    /* make the file when it is not there */
    BLOCK_STORE_READ_ONLY = 2, /* write nothing at all */
    BLOCK_STORE_POWER_LOST =
        4, /* power was lost since it was last written: CORRUPT unless it is provably whole */
    BLOCK_STORE_TEMPORARY = 8, /* of a database that goes when it is closed: nothing is synced */
    /* with READ_ONLY: takes no lock and works on a copy, for another process may be writing; what
       is read is the last commit if the journals were the same before and after opening */
    BLOCK_STORE_COPY = 16
};

/* block_store_open -- opens or creates the file. A transaction that a crash or power loss
 * interrupted is rolled back or completed, in memory at once and in the file with the first
 * transaction. With keys, which outlive the handle, the records are encrypted, each under its key;
 * the structure of the file is not. Errors: IO, CORRUPT, NOT_FOUND, LOCKED. */
tansu_status block_store_open(const fs *calls, const char *path, unsigned flags, keyring *keys,
                              block_store **result, tansu_error *error);

/* block_store_close -- leaves a file that Tokyo Cabinet itself can open, on the disk. After an
 * error the next opening finds the last commit all the same. Errors: IO, FULL. The handle is freed
 * in any case. Fine on NULL. */
tansu_status block_store_close(block_store *bs, tansu_error *error);

/* block_store_abandon -- frees the handle, outside a transaction, and leaves the files as they are:
 * they have become those of another database. Fine on NULL. */
void block_store_abandon(block_store *bs);

/* block_store_get -- reads one record, its CRC (and its tag, when it is encrypted) checked. Safe from any thread, also while another
 * one is in a transaction. After an error the buffer is empty, and has no memory. Errors:
 * NOT_FOUND, CORRUPT, IO, MEMORY. */
tansu_status block_store_get(block_store *bs, enum block_store_kind kind, uint64_t number,
                             tansu_buffer *record, tansu_error *error);

/* One writer at a time from begin to commit or abort. A transaction of which a call failed can only
 * be aborted; the next one may succeed. */
tansu_status block_store_begin(block_store *bs, tansu_error *error);
tansu_status block_store_put(block_store *bs, enum block_store_kind kind, uint64_t number,
                             const void *record, size_t size, tansu_error *error);
tansu_status block_store_remove(block_store *bs, enum block_store_kind kind, uint64_t number,
                                tansu_error *error); /* no such record is no error */
/* block_store_commit -- the transaction is durable when it returns OK. After an error it is
 * aborted. */
tansu_status block_store_commit(block_store *bs, tansu_error *error);
void block_store_abort(block_store *bs);

/* block_store_wasteful -- whether much of the file is free. No transaction is in progress. */
bool block_store_wasteful(const block_store *bs);

/* A caller that can be asked whether to go on: its error ends the work. */
typedef struct block_store_caller {
    tansu_status (*ask)(void *context, tansu_error *error);
    void *context;
} block_store_caller;

/* block_store_shrink -- writes all records to a new file and replaces the old one with it; readers
 * continue meanwhile. No transaction is in progress. The caller, which may be NULL, is asked for
 * each record. Errors: IO, FULL, CORRUPT, MEMORY, the caller's (the old file stays). */
tansu_status block_store_shrink(block_store *bs, const block_store_caller *caller,
                                tansu_error *error);

/* block_store_delete -- removes a closed block store's files, as far as they are there. Errors:
 * IO. */
tansu_status block_store_delete(const fs *calls, const char *path, tansu_error *error);

/* block_store_mark_damaged -- notes that the file holds what it should not, or lacks what it should
 * hold. Any thread. */
void block_store_mark_damaged(block_store *bs);

/* block_store_is_damaged -- whether that was noted, or a record was read that was invalid. Any
 * thread. */
bool block_store_is_damaged(const block_store *bs);

/* block_store_size -- bytes of the file. */
uint64_t block_store_size(block_store *bs);

/* block_store_records -- how many records the last commit has. Any thread. */
uint64_t block_store_records(block_store *bs);

/* block_store_numbers -- appends the numbers of all records of one kind, in no order. No
 * transaction is in progress. Errors: IO, CORRUPT, MEMORY. */
tansu_status block_store_numbers(block_store *bs, enum block_store_kind kind,
                                 block_numbers *numbers, tansu_error *error);

#endif
