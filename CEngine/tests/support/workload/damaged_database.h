/*
 * support/workload/damaged_database.h -- an encrypted database whose files are changed, and whether
 * anything notices it.
 *
 * It has segments that were written, compacted and compressed, and index files that they are newer
 * than; it was closed, or its process was killed. One at a time.
 */
#ifndef SUPPORT_DAMAGED_DATABASE_H
#define SUPPORT_DAMAGED_DATABASE_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* As many documents at most. */
#define DAMAGED_DOCUMENTS 240
#define DAMAGED_FILES_MOST 32

typedef struct damaged_file {
    char name[64]; /* within the database's folder */
    uint64_t size;
} damaged_file;

typedef struct damaged_database {
    char *folder;                           /* where the test works */
    char whole[512];                        /* the database as it is, */
    char home[512];                         /* as it is damaged, */
    char older[3][512];                     /* and as it was earlier */
    int documents;                          /* as many it has had */
    int large;                              /* bytes of the large ones */
    damaged_file files[DAMAGED_FILES_MOST]; /* by name; those that have bytes */
    int file_count;
    int lost;                       /* documents that the last damaged_examine() could not read */
    int numbers[DAMAGED_DOCUMENTS]; /* `n` of each document by `_id`; 0 when it was removed */
} damaged_database;

extern damaged_database damaged;

/* damaged_begin -- builds it, closed or killed. damaged_end: removes the folder. */
void damaged_begin(bool closed, int documents, int large);
void damaged_end(void);

/* damaged_options -- those of every opening, with the key. */
tansu_options damaged_options(const char *at);

/* damaged_save -- saves a document with that `n` and that many bytes more. */
void damaged_save(tansu_db *db, int id, int n, int size);

/* damaged_size -- the bytes that the document has. */
int damaged_size(int id);

/* damaged_write -- saves each document of a part anew, and removes some. */
void damaged_write(tansu_db *db, int from, int to, int n);

/* damaged_examine -- whether the damaged database is opened, read and verified with an error;
 * `reading`: nothing is written. A wrong answer is a failed check. */
bool damaged_examine(const char *what, bool reading);

/* damaged_restore -- makes the damaged database whole again. damaged_restore_file: one of its files. */
void damaged_restore(void);
void damaged_restore_file(const char *name);

bool damaged_is_segment(const char *name);

/* damaged_blocks_end -- where the blocks of a segment that was closed end; 0: it was not. */
uint64_t damaged_blocks_end(const char *name);

#endif
