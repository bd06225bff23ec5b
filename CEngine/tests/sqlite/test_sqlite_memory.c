/*
 * test_sqlite_memory.c -- in the extension of SQLite every allocation may fail, SQLite's as well as
 * the engine's: a statement then has its rows, or an error and no row too many.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"

#ifdef WITH_SQLITE3

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sqlite3_tansusqlite_init(sqlite3 *db, char **message, const void *api);

static const char *const statements[] = {
    "SELECT a, \"o.x\", document FROM p WHERE a IN (1, 'x', '2024-01-01') OR \"o.x\" IS NULL",
    "SELECT count(*) FROM p WHERE a > 1 AND a < 'z' AND t GLOB 'a*'",
    "SELECT a FROM p ORDER BY a DESC LIMIT 2",
    "SELECT d, n, b FROM p WHERE _id = 1",
};

/* --- Allocations of SQLite --- */

static sqlite3_mem_methods plain;
static unsigned long allocations, failing;

static bool fails(void) {
    return ++allocations == failing;
}
static void *failing_malloc(int size) {
    return fails() ? NULL : plain.xMalloc(size);
}
static void *failing_realloc(void *memory, int size) {
    return fails() ? NULL : plain.xRealloc(memory, size);
}

static void install(void) {
    REQUIRE(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) == SQLITE_OK);
    sqlite3_mem_methods methods = plain;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    REQUIRE(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK);
}

/* --- The work --- */

static int count_row(void *context, int count, char **values, char **names) {
    (void)count, (void)values, (void)names;
    ++*(unsigned *)context;
    return 0;
}

/* run -- executes a statement; its rows are counted. */
static int run(sqlite3 *sql, const char *statement, unsigned *rows) {
    char *message = NULL;
    *rows = 0;
    int code = sqlite3_exec(sql, statement, count_row, rows, &message);
    sqlite3_free(message);
    return code;
}

/* work -- attaches, asks and closes. Whether a call failed; what did not has as many rows as
 * `expected` says, which is set the first time. */
static bool work(const char *path, unsigned *expected, bool first) {
    char attach[4096];
    snprintf(attach, sizeof attach, "SELECT tansu_attach('%s', '', '')", path);
    sqlite3 *sql = NULL;
    char *message = NULL;
    unsigned rows;
    bool failed = sqlite3_open(":memory:", &sql) != SQLITE_OK ||
                  sqlite3_tansusqlite_init(sql, &message, NULL) != SQLITE_OK ||
                  run(sql, attach, &rows) != SQLITE_OK;
    sqlite3_free(message);
    for (size_t i = 0; !failed && i < sizeof statements / sizeof statements[0]; i++) {
        failed = run(sql, statements[i], &rows) != SQLITE_OK;
        if (first)
            expected[i] = rows;
        CHECK(failed ? rows <= expected[i] : rows == expected[i]);
    }
    CHECK_INT(SQLITE_OK, sqlite3_close(sql));
    return failed;
}

typedef void (*trial)(const char *path);

static void with_database(trial t) {
    char *folder = folder_new();
    const char *path = folder_join(folder, "t.tansu");
    tansu_db *db = call_open(path);
    CHECK_OK(call_index(db, NULL, "p", NULL, "{'a': 1}", "{}"), &call_error);
    CHECK_OK(call_save(db, NULL, "p", TANSU_SAVE,
                       "{'_id': 1, 'a': 5, 't': 'ab', 'o': {'x': [1]}, 'd': {'$date': "
                       "'2024-01-01T00:00:00Z'}, 'n': {'$numberDecimal': '1.5'}, 'b': {'$binary': "
                       "{'base64': 'QQ==', 'subType': '00'}}}"),
             &call_error);
    CHECK_OK(call_save(db, NULL, "p", TANSU_SAVE, "{'_id': 2, 'a': 'x', 't': 'b'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "p", TANSU_SAVE, "{'_id': 3, 'a': 1, 't': 'ac'}"), &call_error);
    t(path);
    call_close(db);
    folder_end(folder);
}

static void try_each_of_sqlite(const char *path) {
    unsigned expected[sizeof statements / sizeof statements[0]];
    allocations = failing = 0;
    CHECK(!work(path, expected, true));
    unsigned long all = allocations;
    for (unsigned long i = 1; i <= all; i++) {
        allocations = 0;
        failing = i;
        work(path, expected, false);
    }
    failing = 0;
    CHECK(!work(path, expected, false));
}

static void allocations_of_sqlite_fail(void) {
    with_database(try_each_of_sqlite);
}

static void try_each_of_the_engine(const char *path) {
    unsigned expected[sizeof statements / sizeof statements[0]];
    fault_start(FAULT_MEMORY, 0, false, 0);
    CHECK(!work(path, expected, true));
    unsigned all = fault_stop();
    for (unsigned i = 1; i <= all; i++) {
        fault_start(FAULT_MEMORY, i, false, 0);
        work(path, expected, false);
        fault_stop();
    }
    CHECK(!work(path, expected, false));
}

static void allocations_of_the_engine_fail(void) {
    if (!fault_has_memory()) {
        check_skip("the linker has no wrapping");
        return;
    }
    with_database(try_each_of_the_engine);
}

int main(void) {
    install();
    RUN(allocations_of_sqlite_fail);
    RUN(allocations_of_the_engine_fail);
    return check_finish();
}

#else

static void allocations_fail(void) {
    CHECK(fault_stop() == 0);
    check_skip("the extension of SQLite is not built: there is no sqlite3ext.h of 3.38 or later");
}

int main(void) {
    RUN(allocations_fail);
    return check_finish();
}

#endif
