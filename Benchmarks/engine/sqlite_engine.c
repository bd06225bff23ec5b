/*
 * sqlite_engine.c -- SQLite as an application that knows it well would use it for JSON documents:
 * WAL, statements prepared once, expression indexes, 64 MB of page cache, memory-mapped reads, one
 * connection without a mutex. `_id` is the rowid (INTEGER PRIMARY KEY): the fastest key it has.
 *
 * With BENCH_AMALGAMATION, compiled together with the source of an encrypting relative, whose symbols
 * stay in this object: several of them fit into one program.
 */
#ifdef BENCH_AMALGAMATION
#define SQLITE_API static
#include <sqlite3.c>
#else
#include <sqlite3.h>
#endif

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_INSERT,
    STATEMENT_REPLACE,
    STATEMENT_REMOVE,
    STATEMENT_GET,
    STATEMENT_FIND, /* and one more for every kind of query */
    STATEMENT_COUNT = STATEMENT_FIND + QUERY_KIND_COUNT,
    STATEMENT_TOTAL = STATEMENT_COUNT + QUERY_KIND_COUNT
};

#define WHERE_NAME " WHERE json_extract(doc, '$.name') = ?1"
#define WHERE_CITY " WHERE json_extract(doc, '$.address.city') = ?1"
#define WHERE_ZIP " WHERE json_extract(doc, '$.address.zip') = ?1"
#define WHERE_AGE " WHERE json_extract(doc, '$.age') BETWEEN ?1 AND ?2"
#define WHERE_NAMESAKE                                                                    \
    " WHERE json_extract(doc, '$.name') IN (SELECT json_extract(doc, '$.name') FROM docs" \
    " WHERE json_extract(doc, '$.address.city') = ?1"                                     \
    " AND json_extract(doc, '$.age') BETWEEN ?2 AND ?3)"
#define BY_EMAIL " ORDER BY json_extract(doc, '$.email') LIMIT 10"

static const char *const statement_texts[STATEMENT_TOTAL] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_INSERT] = "INSERT INTO docs(_id, doc) VALUES(?1, ?2)",
    [STATEMENT_REPLACE] = "UPDATE docs SET doc = ?2 WHERE _id = ?1",
    [STATEMENT_REMOVE] = "DELETE FROM docs WHERE _id = ?1",
    [STATEMENT_GET] = "SELECT doc FROM docs WHERE _id = ?1",
    [STATEMENT_FIND + QUERY_ALL] = "SELECT doc FROM docs",
    [STATEMENT_FIND + QUERY_NAME] = "SELECT doc FROM docs" WHERE_NAME,
    [STATEMENT_FIND + QUERY_CITY] = "SELECT doc FROM docs" WHERE_CITY,
    [STATEMENT_FIND + QUERY_ZIP] = "SELECT doc FROM docs" WHERE_ZIP,
    [STATEMENT_FIND + QUERY_AGE] = "SELECT doc FROM docs" WHERE_AGE,
    [STATEMENT_FIND + QUERY_NAMESAKES] = "SELECT doc FROM docs" WHERE_NAMESAKE,
    [STATEMENT_FIND + QUERY_TOP_EMAIL] = "SELECT doc FROM docs" BY_EMAIL,
    [STATEMENT_COUNT + QUERY_ALL] = "SELECT count(*) FROM docs",
    [STATEMENT_COUNT + QUERY_NAME] = "SELECT count(*) FROM docs" WHERE_NAME,
    [STATEMENT_COUNT + QUERY_CITY] = "SELECT count(*) FROM docs" WHERE_CITY,
    [STATEMENT_COUNT + QUERY_ZIP] = "SELECT count(*) FROM docs" WHERE_ZIP,
    [STATEMENT_COUNT + QUERY_AGE] = "SELECT count(*) FROM docs" WHERE_AGE,
    [STATEMENT_COUNT + QUERY_NAMESAKES] = "SELECT count(*) FROM docs" WHERE_NAMESAKE,
    [STATEMENT_COUNT + QUERY_TOP_EMAIL] = "SELECT 10",
};

static const char *const index_names[FIELD_COUNT] = {"docs_name", "docs_city", "docs_age"};
static const char *const index_paths[FIELD_COUNT] = {"$.name", "$.address.city", "$.age"};

struct sqlite_store {
    struct store store;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_TOTAL];
};

/* sqlite_fail -- notes SQLite's own message and returns -1. */
static int sqlite_fail(struct sqlite_store *self) {
    snprintf(self->store.error, BENCH_ERROR_SIZE, "SQLite: %s", sqlite3_errmsg(self->db));
    return -1;
}

/* sqlite_run -- runs SQL text whose rows nobody needs. */
static int sqlite_run(struct sqlite_store *self, const char *sql) {
    return sqlite3_exec(self->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(self);
}

/* sqlite_statement -- the prepared statement, prepared at its first use. */
static sqlite3_stmt *sqlite_statement(struct sqlite_store *self, int number) {
    if (self->statements[number] == NULL &&
        sqlite3_prepare_v3(self->db, statement_texts[number], -1, SQLITE_PREPARE_PERSISTENT,
                           &self->statements[number], NULL) != SQLITE_OK)
        sqlite_fail(self);
    return self->statements[number];
}

/* sqlite_step_once -- runs a bound statement that returns no row. */
static int sqlite_step_once(struct sqlite_store *self, sqlite3_stmt *statement) {
    int result = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return result == SQLITE_DONE && reset == SQLITE_OK ? 0 : sqlite_fail(self);
}

/* sqlite_close -- ends the statements and the connection, which writes the WAL back. */
static int sqlite_close(struct store *store, char *error) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    int result = 0;
    for (int i = 0; i < STATEMENT_TOTAL; i++)
        sqlite3_finalize(self->statements[i]);
    if (sqlite3_close(self->db) != SQLITE_OK) {
        snprintf(error, BENCH_ERROR_SIZE, "SQLite: the connection is still in use");
        result = -1;
    }
    free(self);
    return result;
}

/* sqlite_set_cache -- the size of the page cache, where it is not the default of this file. */
static int sqlite_set_cache(struct sqlite_store *self, const struct settings *settings) {
    char sql[64];
    uint64_t bytes = settings->cache_bytes > 0 ? settings->cache_bytes : 65536 * 1024;
    snprintf(sql, sizeof sql, "PRAGMA cache_size=-%llu", (unsigned long long)(bytes / 1024));
    return sqlite_run(self, sql);
}

/* sqlite_open_as -- opens or creates the database of a folder with its table; `key` is what sets the
 * key, or empty. */
static int sqlite_open_as(const struct engine *engine, const char *key, const char *folder,
                          const struct settings *settings, struct store **store, char *error) {
    char path[BENCH_PATH_SIZE + 16];
    struct sqlite_store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, BENCH_ERROR_SIZE, "SQLite: out of memory");
        return -1;
    }
    self->store.engine = engine;
    snprintf(path, sizeof path, "%s/bench.sqlite", folder);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &self->db, flags, NULL) != SQLITE_OK) {
        sqlite_fail(self);
        goto err;
    }
    if (sqlite_run(self, key) != 0 ||
        (settings->sqlite_exclusive && sqlite_run(self, "PRAGMA locking_mode=EXCLUSIVE") != 0) ||
        sqlite_run(self, "PRAGMA journal_mode=WAL; PRAGMA mmap_size=268435456;"
                         "PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=4000;") != 0 ||
        sqlite_set_cache(self, settings) != 0 ||
        sqlite_run(self, settings->durability == DURABILITY_FULL ? "PRAGMA synchronous=FULL"
                                                                 : "PRAGMA synchronous=NORMAL") ||
        sqlite_run(self, "CREATE TABLE IF NOT EXISTS docs("
                         "_id INTEGER PRIMARY KEY, doc TEXT NOT NULL)") != 0)
        goto err;
    *store = &self->store;
    return 0;
err:
    snprintf(error, BENCH_ERROR_SIZE, "%s", self->store.error);
    sqlite3_close(self->db);
    free(self);
    return -1;
}

/* sqlite_begin -- begins a write transaction. */
static int sqlite_begin(struct store *store) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_statement(self, STATEMENT_BEGIN);
    return statement == NULL ? -1 : sqlite_step_once(self, statement);
}

/* sqlite_commit -- commits it. */
static int sqlite_commit(struct store *store) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_statement(self, STATEMENT_COMMIT);
    return statement == NULL ? -1 : sqlite_step_once(self, statement);
}

/* sqlite_put -- runs INSERT or UPDATE with one document. */
static int sqlite_put(struct sqlite_store *self, int number, const struct document *document) {
    sqlite3_stmt *statement = sqlite_statement(self, number);
    if (statement == NULL)
        return -1;
    sqlite3_bind_int64(statement, 1, document->id);
    sqlite3_bind_text(statement, 2, document->json, (int)document->json_size, SQLITE_STATIC);
    return sqlite_step_once(self, statement);
}

/* sqlite_insert -- inserts documents; several of them belong into begin and commit. */
static int sqlite_insert(struct store *store, const struct document *documents, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (sqlite_put((struct sqlite_store *)store, STATEMENT_INSERT, &documents[i]) != 0)
            return -1;
    return 0;
}

/* sqlite_expect_change -- fails unless the last statement changed one row. */
static int sqlite_expect_change(struct sqlite_store *self) {
    if (sqlite3_changes(self->db) == 1)
        return 0;
    snprintf(self->store.error, BENCH_ERROR_SIZE, "SQLite: a document is missing");
    return -1;
}

/* sqlite_replace -- replaces the document with the same id. */
static int sqlite_replace(struct store *store, const struct document *document) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    return sqlite_put(self, STATEMENT_REPLACE, document) != 0 ? -1 : sqlite_expect_change(self);
}

/* sqlite_remove -- deletes a document by id. */
static int sqlite_remove(struct store *store, int64_t id) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_statement(self, STATEMENT_REMOVE);
    if (statement == NULL)
        return -1;
    sqlite3_bind_int64(statement, 1, id);
    return sqlite_step_once(self, statement) != 0 ? -1 : sqlite_expect_change(self);
}

/* sqlite_pour -- steps through a bound SELECT and pours its documents into the sink. */
static int sqlite_pour(struct sqlite_store *self, sqlite3_stmt *statement, struct sink *sink) {
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        size_t size = (size_t)sqlite3_column_bytes(statement, 0);
        if (text == NULL)
            break;
        sink_take(sink, text, size);
        if (sink->identify)
            sink_identify(sink, strtoll(text + strlen("{\"_id\":"), NULL, 10));
    }
    int reset = sqlite3_reset(statement);
    return result == SQLITE_DONE && reset == SQLITE_OK ? 0 : sqlite_fail(self);
}

/* sqlite_get -- reads one document by id. */
static int sqlite_get(struct store *store, int64_t id, struct sink *sink) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_statement(self, STATEMENT_GET);
    if (statement == NULL)
        return -1;
    sqlite3_bind_int64(statement, 1, id);
    return sqlite_pour(self, statement, sink);
}

/* sqlite_bind -- the statement of a query, with its values bound. */
static sqlite3_stmt *sqlite_bind(struct sqlite_store *self, int base, const struct query *query) {
    sqlite3_stmt *statement = sqlite_statement(self, base + (int)query->kind);
    if (statement == NULL)
        return NULL;
    if (query->kind == QUERY_AGE) {
        sqlite3_bind_int(statement, 1, query->low);
        sqlite3_bind_int(statement, 2, query->high);
    } else if (query->text != NULL) {
        sqlite3_bind_text(statement, 1, query->text, -1, SQLITE_STATIC);
    }
    if (query->kind == QUERY_NAMESAKES) {
        sqlite3_bind_int(statement, 2, query->low);
        sqlite3_bind_int(statement, 3, query->high);
    }
    return statement;
}

/* sqlite_find -- runs a query and reads all its documents. */
static int sqlite_find(struct store *store, const struct query *query, struct sink *sink) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_bind(self, STATEMENT_FIND, query);
    return statement == NULL ? -1 : sqlite_pour(self, statement, sink);
}

/* sqlite_count -- counts what a query selects. */
static int sqlite_count(struct store *store, const struct query *query, int64_t *count) {
    struct sqlite_store *self = (struct sqlite_store *)store;
    sqlite3_stmt *statement = sqlite_bind(self, STATEMENT_COUNT, query);
    if (statement == NULL)
        return -1;
    int result = sqlite3_step(statement);
    *count = sqlite3_column_int64(statement, 0);
    int reset = sqlite3_reset(statement);
    return result == SQLITE_ROW && reset == SQLITE_OK ? 0 : sqlite_fail(self);
}

/* sqlite_index_create -- builds an expression index. */
static int sqlite_index_create(struct store *store, enum field field) {
    char sql[256];
    snprintf(sql, sizeof sql, "CREATE INDEX %s ON docs(json_extract(doc, '%s'))",
             index_names[field], index_paths[field]);
    return sqlite_run((struct sqlite_store *)store, sql);
}

/* sqlite_index_drop -- drops it. */
static int sqlite_index_drop(struct store *store, enum field field) {
    char sql[256];
    snprintf(sql, sizeof sql, "DROP INDEX %s", index_names[field]);
    return sqlite_run((struct sqlite_store *)store, sql);
}

/* sqlite_settle -- writes the WAL back into the database file. */
static int sqlite_settle(struct store *store) {
    return sqlite_run((struct sqlite_store *)store, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* An engine with a function that opens a database: `open_it`, which is defined here, sets the key. */
#define SQLITE_ENGINE(variable, title, short_name, version_text, open_it, key_text)               \
    static int open_it(const char *folder, const struct settings *settings, struct store **store, \
                       char *error) {                                                             \
        return sqlite_open_as(&variable, key_text, folder, settings, store, error);               \
    }                                                                                             \
    const struct engine variable = {                                                              \
        .name = title,                                                                            \
        .key = short_name,                                                                        \
        .version = version_text,                                                                  \
        .open = open_it,                                                                          \
        .close = sqlite_close,                                                                    \
        .begin = sqlite_begin,                                                                    \
        .commit = sqlite_commit,                                                                  \
        .insert = sqlite_insert,                                                                  \
        .replace = sqlite_replace,                                                                \
        .remove = sqlite_remove,                                                                  \
        .get = sqlite_get,                                                                        \
        .find = sqlite_find,                                                                      \
        .count = sqlite_count,                                                                    \
        .index_create = sqlite_index_create,                                                      \
        .index_drop = sqlite_index_drop,                                                          \
        .quiesce = sqlite_settle,                                                                 \
    }

#if defined SQLITE3MC_VERSION_STRING
static const char *ciphers_version(void) {
    return sqlite3mc_version() + strlen("SQLite3 Multiple Ciphers ");
}
SQLITE_ENGINE(sqlite3mc_engine, "SQLite3MC", "sqlite3mc", ciphers_version, sqlite3mc_open,
              "PRAGMA cipher='sqlcipher'; PRAGMA key='raw:" BENCH_KEY_HEX "'");
SQLITE_ENGINE(chacha20_engine, "SQLite3MC-ChaCha20", "chacha20", ciphers_version, chacha20_open,
              "PRAGMA cipher='chacha20'; PRAGMA key='raw:" BENCH_KEY_HEX "'");
#elif defined SQLITE_HAS_CODEC
#define QUOTED(text) #text
#define VALUE_QUOTED(macro) QUOTED(macro)
static const char *cipher_version(void) {
    return VALUE_QUOTED(CIPHER_VERSION_NUMBER);
}
SQLITE_ENGINE(sqlcipher_engine, "SQLCipher", "sqlcipher", cipher_version, sqlcipher_open,
              "PRAGMA key=\"x'" BENCH_KEY_HEX "'\"");
#else
SQLITE_ENGINE(sqlite_engine, "SQLite", "sqlite", sqlite3_libversion, sqlite_open, "");
#endif
