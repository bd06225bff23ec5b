/*
 * sqlite/database.c -- the databases that a connection of SQLite reads, and their snapshots.
 */
#include "database.h"

#include "bson.h"
#include "hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 32 };

int sql_code(tansu_status status) {
    switch (status) {
    case TANSU_OK:
    case TANSU_DONE: return SQLITE_OK;
    case TANSU_E_MEMORY: return SQLITE_NOMEM;
    case TANSU_E_CORRUPT:
    case TANSU_E_INVALID_BSON: return SQLITE_CORRUPT_VTAB;
    case TANSU_E_IO: return SQLITE_IOERR;
    case TANSU_E_FULL: return SQLITE_FULL;
    case TANSU_E_BUSY:
    case TANSU_E_LOCKED: return SQLITE_BUSY;
    default: return SQLITE_ERROR;
    }
}

char *sql_message(const char *about, tansu_status status, const tansu_error *error) {
    if (status == TANSU_E_MEMORY)
        return NULL;
    return sqlite3_mprintf("tansu: %s%s%s (%s)", about ? about : "", about ? ": " : "",
                           error->message[0] ? error->message : "The call failed",
                           tansu_status_name(status));
}

/* hex_value -- a hexadecimal digit's value; -1 if it is none. */
static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* read_key -- the key in a file: 32 bytes, or 64 hexadecimal digits, as the command line has it. */
static bool read_key(const char *path, uint8_t key[KEY_SIZE], char **message) {
    char text[2 * KEY_SIZE + 3];
    FILE *file = fopen(path, "rb");
    if (!file) {
        *message =
            sqlite3_mprintf("tansu: The key file \"%s\" cannot be read: %s", path, strerror(errno));
        return false;
    }
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the key stays in a buffer */
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    bool valid = size == KEY_SIZE;
    if (valid) {
        memcpy(key, text, KEY_SIZE);
    } else {
        while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
            size--;
        valid = size == (size_t)2 * KEY_SIZE;
        for (size_t i = 0; valid && i < KEY_SIZE; i++) {
            int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
            valid = high >= 0 && low >= 0;
            key[i] = (uint8_t)(valid ? high << 4 | low : 0);
        }
    }
    memset(text, 0, sizeof text);
    if (!valid)
        *message = sqlite3_mprintf("tansu: The key file \"%s\" has neither 32 bytes nor 64 "
                                   "hexadecimal digits",
                                   path);
    return valid;
}

void sql_registry_release(void *data) {
    sql_registry *registry = data;
    if (--registry->users == 0)
        sqlite3_free(registry);
}

void sql_database_release(sql_database *database) {
    if (--database->users > 0)
        return;
    sql_database **link = &database->registry->first;
    while (*link != database)
        link = &(*link)->next;
    *link = database->next;
    tansu_close(database->db);
    sql_registry_release(database->registry);
    sqlite3_free(database->path);
    sqlite3_free(database->key_file);
    sqlite3_free(database);
}

/* make_hash_key -- makes the key of rowids of what names the database. */
static tansu_status make_hash_key(sql_database *database, tansu_error *error) {
    tansu_buffer stats = TANSU_BUFFER_INIT;
    sql_element uuid;
    tansu_status status = tansu_stats(database->db, &stats, error);
    if (status == TANSU_OK && sql_find_key(stats.data, stats.size, "uuid", &uuid))
        for (uint8_t i = 0; i < 2; i++)
            database->hash_key[i] = sql_hash((const uint64_t[]){0, 0}, i, uuid.value, uuid.size);
    tansu_buffer_free(&stats);
    return status;
}

/* open_reader -- opens the engine's handle. */
static bool open_reader(sql_database *database, char **message) {
    tansu_options options;
    tansu_error error = {0};
    uint8_t key[KEY_SIZE];
    tansu_options_init(&options);
    options.path = database->path;
    options.allow_writer = 1;
    options.follow = 1;
    if (database->key_file[0]) {
        if (!read_key(database->key_file, key, message))
            return false;
        options.key = key;
        options.key_size = sizeof key;
    }
    tansu_status status = tansu_open(&options, &database->db, &error);
    memset(key, 0, sizeof key);
    if (status == TANSU_OK) {
        status = make_hash_key(database, &error);
        if (status != TANSU_OK)
            tansu_close(database->db);
    }
    if (status == TANSU_E_ENCRYPTED)
        *message = sqlite3_mprintf("tansu: The database \"%s\" is encrypted; name the file of its "
                                   "key after the collection, or after the path of tansu_attach",
                                   database->path);
    else if (status != TANSU_OK)
        *message = sql_message(database->path, status, &error);
    return status == TANSU_OK;
}

sql_database *sql_database_open(sql_registry *registry, const char *path, const char *key_file,
                                char **message) {
    *message = NULL;
    if (!key_file)
        key_file = "";
    for (sql_database *known = registry->first; known; known = known->next)
        if (strcmp(known->path, path) == 0 && strcmp(known->key_file, key_file) == 0) {
            known->users++;
            return known;
        }
    if (!path[0]) {
        *message = sqlite3_mprintf("tansu: The path of the database is empty");
        return NULL;
    }
    sql_database *database = sqlite3_malloc64(sizeof *database);
    if (!database)
        return NULL;
    *database = (sql_database){.registry = registry, .users = 1};
    database->path = sqlite3_mprintf("%s", path);
    database->key_file = sqlite3_mprintf("%s", key_file);
    if (!database->path || !database->key_file || !open_reader(database, message)) {
        sqlite3_free(database->path);
        sqlite3_free(database->key_file);
        sqlite3_free(database);
        return NULL;
    }
    database->next = registry->first;
    registry->first = database;
    registry->users++;
    return database;
}

tansu_status sql_snapshot_begin(sql_database *database, tansu_error *error) {
    if (database->cursors == 0) {
        tansu_status status = tansu_txn_begin(database->db, TANSU_TXN_READ,
                                              TANSU_DURABILITY_DEFAULT, &database->snapshot, error);
        if (status != TANSU_OK)
            return status;
        database->snapshots++;
    }
    database->cursors++;
    return TANSU_OK;
}

void sql_snapshot_end(sql_database *database) {
    if (--database->cursors == 0) {
        tansu_txn_abort(database->snapshot);
        database->snapshot = NULL;
    }
}
