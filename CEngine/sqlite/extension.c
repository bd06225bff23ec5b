/*
 * sqlite/extension.c -- a loadable extension of SQLite that shows the collections of a Tansu
 * database as tables (docs/sql.md). It uses the public API alone.
 *
 * A collection becomes a table by CREATE VIRTUAL TABLE ... USING tansu(...), and all of them by the
 * function tansu_attach(): a table that a module has by itself could have one set of columns only.
 */
#include "bson.h"
#include "database.h"
#include "sqlite_api.h"
#include "table.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int sqlite3_tansusqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/* attach_one -- creates the table of one collection. */
static int attach_one(sqlite3 *db, const char *prefix, const char *name, const char *path,
                      const char *key_file, char **message) {
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w%w\" USING tansu(%Q, %Q, %Q)",
                                prefix, name, path, name, key_file);
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, message) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* drop_tables -- drops the first tables of a list of collections, after another one failed. */
static void drop_tables(sqlite3 *db, const char *prefix, sql_reader reader, unsigned count) {
    sql_element one, name;
    for (unsigned i = 0; i < count && sql_next(&reader, &one); i++) {
        if (!sql_find_key(one.value, one.size, "name", &name))
            continue;
        size_t size;
        char *sql = sqlite3_mprintf("DROP TABLE temp.\"%w%w\"", prefix, sql_string(&name, &size));
        if (sql)
            sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
}

/* attach_listed -- creates the tables of a list of collections, all or none. */
static int attach_listed(sqlite3 *db, const char *prefix, const tansu_buffer *list,
                         const char *path, const char *key_file, unsigned *count, char **message) {
    sql_element collections, one, name;
    *count = 0;
    if (!sql_find_key(list->data, list->size, "collections", &collections))
        return SQLITE_OK;
    sql_reader all = sql_reader_of(collections.value, collections.size);
    sql_reader reader = all;
    int code = SQLITE_OK;
    while (code == SQLITE_OK && sql_next(&reader, &one)) {
        size_t size;
        if (!sql_find_key(one.value, one.size, "name", &name) || name.type != SQL_BSON_STRING)
            continue;
        code = attach_one(db, prefix, sql_string(&name, &size), path, key_file, message);
        if (code == SQLITE_OK)
            ++*count;
    }
    if (code != SQLITE_OK)
        drop_tables(db, prefix, all, *count);
    return code;
}

/* attach -- tansu_attach(path [, key file [, prefix]]): how many tables were created. */
static void attach(sqlite3_context *context, int argc, sqlite3_value **argv) {
    sqlite3 *db = sqlite3_context_db_handle(context);
    const char *path = argc > 0 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
    const char *key_file = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
    const char *prefix = argc > 2 ? (const char *)sqlite3_value_text(argv[2]) : NULL;
    if (!path || argc > 3) {
        sqlite3_result_error(context,
                             "tansu: tansu_attach takes the path of a database, and perhaps "
                             "a key file and a prefix for the names of tables",
                             -1);
        return;
    }
    key_file = key_file ? key_file : "";
    prefix = prefix ? prefix : "";
    char *message = NULL;
    tansu_buffer list = TANSU_BUFFER_INIT;
    tansu_error error = {0};
    unsigned count = 0;
    int code = SQLITE_NOMEM;
    sql_database *database =
        sql_database_open(sqlite3_user_data(context), path, key_file, &message);
    if (database) {
        tansu_status status = tansu_collection_list(database->db, NULL, &list, &error);
        if (status == TANSU_OK) {
            code = attach_listed(db, prefix, &list, path, key_file, &count, &message);
        } else {
            code = sql_code(status);
            message = sql_message(path, status, &error);
        }
        sql_database_release(database);
    }
    tansu_buffer_free(&list);
    if (message)
        sqlite3_result_error(context, message, -1);
    else if (code != SQLITE_OK)
        sqlite3_result_error_code(context, code);
    else
        sqlite3_result_int(context, (int)count);
    sqlite3_free(message);
}

int sqlite3_tansusqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    (void)api;
    if (sqlite3_libversion_number() < 3038000) {
        *message = sqlite3_mprintf("tansu: SQLite %s is too old; 3.38 or a later one is needed",
                                   sqlite3_libversion());
        return SQLITE_ERROR;
    }
    sql_registry *registry = sqlite3_malloc64(sizeof *registry);
    if (!registry)
        return SQLITE_NOMEM;
    *registry = (sql_registry){.users = 2};
    /* The destructor is called when this fails, too. */
    int code = sqlite3_create_module_v2(db, "tansu", &sql_module, registry, sql_registry_release);
    if (code != SQLITE_OK) {
        sql_registry_release(registry);
        return code;
    }
    code = sqlite3_create_function_v2(db, "tansu_attach", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                      registry, attach, NULL, NULL, sql_registry_release);
#ifdef SQLITE_CORE
    return code;
#else
    /* The end of a connection would unload it, but what threads hold of the engine outlives that. */
    return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
#endif
}
