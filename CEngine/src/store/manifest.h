/*
 * store/manifest.h -- the MANIFEST file: the identity of a database and the known state of its
 * files.
 *
 * A few lines of text with a CRC, replaced as a whole (write new, sync, rename):
 *
 *   tansu database 2
 *   uuid 32 hex digits
 *   index clean | open | damaged
 *   boot text
 *   end sequence
 *   compacted no | yes
 *   cipher aes-256-gcm (of an encrypted database)
 *   mac 64 hex digits (likewise; keyring_mac() of all before this line)
 *   crc 8 hex digits (of all before this line)
 */
#ifndef TANSU_STORE_MANIFEST_H
#define TANSU_STORE_MANIFEST_H

#include "crypt/keyring.h"
#include "store/database.h"

#include <pthread.h>

/* The format of a database's files, in the first line. */
#define MANIFEST_FORMAT 2u

typedef struct manifest {
    uint8_t uuid[16];
    bool index_open;       /* index files were being written and may not be whole on the disk */
    bool index_damaged;    /* they were found to be damaged: the next opening rebuilds them */
    char boot[64];         /* of the machine's start when they were */
    uint64_t end_sequence; /* the log is on the disk up to this commit */
    bool compacted; /* a compaction was begun: the numbers of the log's segments may have gaps */
    bool encrypted;
    uint8_t mac[32]; /* of an encrypted one */
} manifest;

/* manifest_read -- reads it; whoever has the keys of an encrypted one calls manifest_authenticate()
 * as well. Errors: NOT_FOUND, CORRUPT, VERSION, IO. */
tansu_status manifest_read(const fs *calls, const char *folder, manifest *m, tansu_error *error);

/* manifest_write -- replaces it. Errors: IO, FULL, READ_ONLY. */
tansu_status manifest_write(const fs *calls, const char *folder, const manifest *m,
                            tansu_error *error);

/* manifest_seal -- makes the code of an encrypted one, before it is written. Errors: MEMORY. */
tansu_status manifest_seal(manifest *m, keyring *keys, tansu_error *error);

/* manifest_authenticate -- whether who wrote an encrypted one had the keys. `earlier`: they were read
 * earlier, and may have been replaced since. Errors: CORRUPT, or `earlier` WRONG_KEY; MEMORY. */
tansu_status manifest_authenticate(const manifest *m, const char *folder, keyring *keys,
                                   bool earlier, tansu_error *error);

/* manifest_new -- a fresh one with a random uuid. Errors: IO (no source of random bytes). */
tansu_status manifest_new(manifest *m, tansu_error *error);

/* The MANIFEST of an open database. */
typedef struct manifest_file {
    manifest known; /* guarded by checkpoints.mutex; also used at opening and closing */
    /* Whether the file is still this handle's (manifest_moved()); guarded by `mutex`, which is held
     * as well by who writes the file and then `known`. */
    pthread_mutex_t mutex;
    manifest tried;       /* what was last written, or failed to be */
    fs_identity identity; /* of the file that holds one of them; zeros: not known */
} manifest_file;

/* manifest_replace -- writes a database's MANIFEST anew. The checkpoint mutex is held, or the
 * database is being opened or closed. Errors: those of manifest_write(), MOVED. */
tansu_status manifest_replace(database *db, const manifest *m, tansu_error *error);

/* manifest_is_own -- what was just read into db->manifest.known, or written from there, is the file
 * that manifest_moved() expects. */
void manifest_is_own(database *db);

/* manifest_moved -- whether another MANIFEST than this handle wrote or read is in the folder of a
 * database that is open for writing, or none. Says no while another thread writes it. Errors: IO,
 * MEMORY. */
tansu_status manifest_moved(database *db, bool *moved, tansu_error *error);

/* manifest_mark_compacted -- records in a database's MANIFEST that a compaction begins. Errors:
 * FULL, IO, MOVED. */
tansu_status manifest_mark_compacted(database *db, tansu_error *error);

#endif
