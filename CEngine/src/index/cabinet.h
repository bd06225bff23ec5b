/*
 * index/cabinet.h -- the Tokyo Cabinet file that keeps index blocks between openings. Part index; may
 * call base and Tokyo Cabinet (TCHDB).
 *
 * The cabinet is derived data: it can be deleted at any time when the database is closed. Records
 * are addressed by a kind and a number and carry a CRC-32, for Tokyo Cabinet has none. All of a
 * checkpoint is one Tokyo Cabinet transaction (without TSYNC: it protects from a killed process;
 * for power loss there is the MANIFEST's mark, see docs/durability.md).
 */
#ifndef TANSU_INDEX_CABINET_H
#define TANSU_INDEX_CABINET_H

#include "tansu.h"
#include <stdbool.h>

typedef struct cabinet cabinet;

enum cabinet_kind {
    CABINET_META = 'm',  /* number 0: the state that the blocks make up (catalog/checkpoint.h) */
    CABINET_BLOCK = 'b', /* a tree block, by block number */
    CABINET_PLACES = 'p' /* a chunk of places, by collection << 40 | chunk */
};

/* cabinet_open -- opens or (create) makes the file. After a killed process Tokyo Cabinet rolls an
 * unfinished transaction back here. read_only opens without writing anything. Errors: IO, CORRUPT,
 * NOT_FOUND. */
tansu_status cabinet_open(const char *path, bool create, bool read_only, cabinet **result,
                          tansu_error *error);

/* cabinet_close -- errors: IO. The handle is freed in any case. Fine on NULL. */
tansu_status cabinet_close(cabinet *cab, tansu_error *error);

/* cabinet_get -- reads one record, its CRC checked. Safe from any thread, also while another one is
 * in a transaction. Errors: NOT_FOUND, CORRUPT. */
tansu_status cabinet_get(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                         tansu_buffer *record, tansu_error *error);

/* One writer at a time from begin to commit or abort. */
tansu_status cabinet_begin(cabinet *cab, tansu_error *error);
tansu_status cabinet_put(cabinet *cab, enum cabinet_kind kind, uint64_t number, const void *record,
                         size_t size, tansu_error *error);
tansu_status cabinet_remove(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                            tansu_error *error); /* no such record is no error */
tansu_status cabinet_commit(cabinet *cab, tansu_error *error);
void cabinet_abort(cabinet *cab);

/* cabinet_sync -- forces everything committed to the disk. Errors: IO. */
tansu_status cabinet_sync(cabinet *cab, tansu_error *error);

/* cabinet_wasteful -- whether much of the file is free. No transaction is under way. */
bool cabinet_wasteful(cabinet *cab);

/* cabinet_shrink -- writes all records to a new file and puts it in the old one's place; readers go on
 * meanwhile. No transaction is under way. Errors: IO, FULL, CORRUPT, MEMORY (the old file stays). */
tansu_status cabinet_shrink(cabinet *cab, tansu_error *error);

/* cabinet_doubt -- notes that the file holds what it should not, or lacks what it should hold. Any thread. */
void cabinet_doubt(cabinet *cab);

/* cabinet_doubted -- whether that was noted, or a record was read that did not check out. Any thread. */
bool cabinet_doubted(const cabinet *cab);

/* cabinet_size -- bytes of the file. */
uint64_t cabinet_size(cabinet *cab);

#endif
