/*
 * sqlite/database.h -- the databases that a connection of SQLite reads, and their snapshots.
 *
 * All tables of one path share a handle, which is a reader beside a writer (docs/readers.md), and
 * while a statement runs one snapshot: it begins with the first cursor and ends with the last.
 */
#ifndef TANSU_SQLITE_DATABASE_H
#define TANSU_SQLITE_DATABASE_H

#include "sqlite_api.h"
#include "tansu.h"

#include <stdbool.h>

typedef struct sql_database {
    struct sql_database *next;
    struct sql_registry *registry;
    char *path;
    char *key_file; /* "" without */
    tansu_db *db;
    tansu_txn *snapshot; /* while there are cursors */
    unsigned cursors;
    unsigned users;
    uint64_t hash_key[2]; /* of rowids: made of the database's uuid */
    uint64_t snapshots;   /* how many there were: the number of the one that is open */
} sql_database;

/* The open databases of one connection; lives as long as the connection or one of its tables. */
typedef struct sql_registry {
    sql_database *first;
    unsigned users;
} sql_registry;

/* sql_registry_release -- ends one use of a registry. */
void sql_registry_release(void *registry);

/* sql_database_open -- the database at a path, opened unless it is already; sql_database_release()
 * ends the use. `key_file` may be NULL. Returns NULL and *message, to be freed by sqlite3_free(),
 * which is NULL when memory is exhausted. */
sql_database *sql_database_open(sql_registry *registry, const char *path, const char *key_file,
                                char **message);
void sql_database_release(sql_database *database);

/* sql_snapshot_begin -- begins the use of the snapshot, which is of the newest commit when nobody
 * uses it yet; sql_snapshot_end() ends it. */
tansu_status sql_snapshot_begin(sql_database *database, tansu_error *error);
void sql_snapshot_end(sql_database *database);

/* sql_message -- an error as SQLite shows it: the engine's sentence. For sqlite3_free(). */
char *sql_message(const char *about, tansu_status status, const tansu_error *error);

/* sql_code -- SQLite's code for an error of the engine. */
int sql_code(tansu_status status);

#endif
