/*
 * test_sqlite_differential.c -- random statements of SQL answer alike from a collection and from a
 * table of SQLite with the same rows: what the extension passes on to the engine, and the orders
 * that it takes from indexes, cost no row.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#ifdef WITH_SQLITE3

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sqlite3_tansusqlite_init(sqlite3 *db, char **message, const void *api);

enum { STATEMENTS = 300, DATABASES = 12, MAX_ROWS = 4000 };

#define PICK(source, list) (list)[random_below((source), sizeof(list) / sizeof *(list))]

static const char *const texts[] = {"",
                                    "a",
                                    "ab",
                                    "abc",
                                    "Abc",
                                    "b",
                                    "B",
                                    "ber",
                                    "Berlin",
                                    "berg",
                                    "5",
                                    "5.0",
                                    " 5",
                                    "5x",
                                    "1e0",
                                    "007",
                                    "2024",
                                    "{",
                                    "[1, 2]",
                                    "[",
                                    "ä",
                                    "äb",
                                    "z",
                                    "~",
                                    "-1",
                                    "+1",
                                    ".5",
                                    "NaN",
                                    "true",
                                    "1e23",
                                    "2024-01-02",
                                    "2024-01-02T00:00:00.000Z",
                                    "0123456789abcdef01234567"};
static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "5",
                                      "-1",
                                      "7",
                                      "2024",
                                      "0.5",
                                      "0.1",
                                      "1.5",
                                      "5.0",
                                      "1e23",
                                      "9007199254740993",
                                      "9007199254740992.0",
                                      "9223372036854775807",
                                      "1e300"};
static const char *const others[] = {"null",
                                     "true",
                                     "false",
                                     "{'$date': '1999-12-31T23:59:59.999Z'}",
                                     "{'$date': '2024-01-02T00:00:00Z'}",
                                     "{'$date': '2024-02-29T12:30:00.5Z'}",
                                     "{'$date': {'$numberLong': '-99999999999999999'}}",
                                     "{'$date': {'$numberLong': '99999999999999999'}}",
                                     "{'$date': {'$numberLong': '-62167219200000'}}",
                                     "{'$oid': '0123456789abcdef01234567'}",
                                     "{'$oid': '507000000000000000000000'}",
                                     "{'$oid': '1e0000000000000000000000'}",
                                     "{'$binary': {'base64': '', 'subType': '00'}}",
                                     "{'$binary': {'base64': 'YWJj', 'subType': '80'}}",
                                     "{'$numberDecimal': '0.1'}",
                                     "{'$numberDecimal': '5.0'}",
                                     "{'$numberDecimal': '9007199254740993'}",
                                     "{'$numberDecimal': '1E+400'}",
                                     "{'$numberDecimal': 'NaN'}",
                                     "{'$numberDecimal': '12345678901234567890123456789012'}",
                                     "{'$numberDouble': 'NaN'}",
                                     "{'$numberDouble': '-Infinity'}",
                                     "{'$minKey': 1}",
                                     "{'$maxKey': 1}",
                                     "{'$undefined': true}",
                                     "{'$timestamp': {'t': 5, 'i': 1}}",
                                     "{'$regularExpression': {'pattern': 'a', 'options': ''}}",
                                     "{'$symbol': 'ab'}",
                                     "{'$code': 'x'}"};
static const char *const nested[] = {
    "[]", "[1, 'a']", "[null]", "[[5]]", "{}", "{'x': 1}", "{'x': 'a', 'y': [1]}", "[{'x': 5}]"};
static const char *const patterns[] = {
    "a%", "A%", "ber*", "Ber*", "5%",  "5*", "2024-%", "2024*", "{%",    "[%", "[[]*", "%x",
    "~%", "-%", "n%",   "*",    "a_c", "z%", "1e*",    "1%",    "0123%", "ä%", "ä*"};

/* What a database has: the more alike its values are, the more is served by indexes. */
typedef struct shape {
    bool plain;      /* no arrays */
    unsigned simple; /* per cent of the values of `n` that are small numbers */
} shape;

static void add_value(sqlite3_str *text, random_source *r, const shape *s) {
    uint64_t kind = random_below(r, 100);
    if (kind < 35)
        sqlite3_str_appendf(text, "'%s'", PICK(r, texts));
    else if (kind < 60)
        sqlite3_str_appendall(text, PICK(r, numbers));
    else if (kind < 90 || s->plain)
        sqlite3_str_appendall(text, PICK(r, others));
    else
        sqlite3_str_appendall(text, PICK(r, nested));
}

static void save_documents(tansu_db *db, random_source *r, const shape *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        if (random_chance(r, 80))
            sqlite3_str_appendf(text, "{'_id': %u", i);
        else if (random_chance(r, 50))
            sqlite3_str_appendf(text, "{'_id': '%u'", i);
        else
            sqlite3_str_appendf(text, "{'_id': {'$oid': '%024x'}", i);
        for (const char *field = "abc"; *field; field++)
            if (random_chance(r, 85)) {
                sqlite3_str_appendf(text, ", '%c': ", *field);
                add_value(text, r, s);
            }
        sqlite3_str_appendall(text, ", 'n': ");
        if (random_chance(r, s->simple))
            sqlite3_str_appendf(text, "%d", (int)random_below(r, 20));
        else
            add_value(text, r, s);
        if (random_chance(r, 50)) {
            sqlite3_str_appendall(text, ", 'o': {'y': 1, 'x': ");
            add_value(text, r, s);
            sqlite3_str_appendchar(text, 1, '}');
        } else if (!s->plain && random_chance(r, 10)) {
            sqlite3_str_appendall(text, ", 'o': [{'x': 1}]");
        }
        sqlite3_str_appendchar(text, 1, '}');
        char *json = sqlite3_str_finish(text);
        CHECK_OK(call_save(db, NULL, "t", TANSU_SAVE, json), &call_error);
        sqlite3_free(json);
    }
}

/* --- Statements --- */

static const char *const columns[] = {"_id", "a", "b", "c", "n", "\"o.x\"", "\"o.y\""};

static void add_literal(sqlite3_str *text, random_source *r) {
    static const char *const types[] = {"INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB"};
    static const char *const dates[] = {"2024",        "2024-01", "2024-01-02",
                                        "2024-02-29T", "[1",      "{\""};
    static const char *const rest[] = {"NULL",
                                       "x''",
                                       "x'616263'",
                                       "9e999",
                                       "-9e999",
                                       "(SELECT i FROM k LIMIT 1)",
                                       "(SELECT m FROM k LIMIT 1)"};
    uint64_t kind = random_below(r, 100);
    if (kind < 35)
        sqlite3_str_appendf(text, "%Q", PICK(r, texts));
    else if (kind < 60)
        sqlite3_str_appendall(text, PICK(r, numbers));
    else if (kind < 70)
        sqlite3_str_appendf(text, "%Q", PICK(r, dates));
    else if (kind < 78)
        sqlite3_str_appendf(text, "CAST(%Q AS %s)", PICK(r, texts), PICK(r, types));
    else if (kind < 88)
        sqlite3_str_appendf(text, "(SELECT %s FROM r LIMIT 1 OFFSET %d)", PICK(r, columns),
                            (int)random_below(r, 30));
    else
        sqlite3_str_appendall(text, PICK(r, rest));
}

/* add_condition -- a condition on columns of a table ("" or an alias and a dot), but one: SQLite takes
 * rows whose column equals a constant for equal, which after a conversion they need not be. */
static void add_condition(sqlite3_str *text, random_source *r, const char *table, const char *but,
                          unsigned depth) {
    static const char *const compare[] = {"=", "<", ">", "<=", ">=", "<>", "IS", "IS NOT"};
    const char *column = PICK(r, columns);
    if (column == but)
        column = column == columns[0] ? columns[1] : columns[0];
    uint64_t kind = random_below(r, 100);
    if (depth < 2 && kind < 20) {
        sqlite3_str_appendchar(text, 1, '(');
        add_condition(text, r, table, but, depth + 1);
        sqlite3_str_appendall(text, random_chance(r, 60) ? " AND " : " OR ");
        add_condition(text, r, table, but, depth + 1);
        sqlite3_str_appendchar(text, 1, ')');
    } else if (kind < 60) {
        sqlite3_str_appendf(text, "%s%s %s ", table, column, PICK(r, compare));
        add_literal(text, r);
        if (random_chance(r, 5))
            sqlite3_str_appendall(text, " COLLATE NOCASE");
    } else if (kind < 68) {
        sqlite3_str_appendf(text, "%s%s BETWEEN ", table, column);
        add_literal(text, r);
        sqlite3_str_appendall(text, " AND ");
        add_literal(text, r);
    } else if (kind < 78) {
        sqlite3_str_appendf(text, "%s%s IN (", table, column);
        for (uint64_t i = random_below(r, 4); i > 0; i--) {
            add_literal(text, r);
            sqlite3_str_appendall(text, ", ");
        }
        add_literal(text, r);
        sqlite3_str_appendchar(text, 1, ')');
    } else if (kind < 82) {
        sqlite3_str_appendf(text, "%s%s IN (SELECT %c FROM k)", table, column,
                            "irtbm"[random_below(r, 5)]);
    } else if (kind < 92) {
        sqlite3_str_appendf(text, "%s%s %s %Q", table, column,
                            random_chance(r, 50) ? "LIKE" : "GLOB", PICK(r, patterns));
    } else {
        sqlite3_str_appendf(text, "%s%s IS %sNULL", table, column,
                            random_chance(r, 70) ? "" : "NOT ");
    }
}

/* make_statement -- a statement on the table @. *ordered: its rows have one order. */
static char *make_statement(random_source *r, bool *ordered) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    uint64_t kind = random_below(r, 100);
    *ordered = false;
    if (kind < 50) {
        sqlite3_str_appendf(text, "SELECT %s, %s, document FROM @ WHERE ", PICK(r, columns),
                            PICK(r, columns));
        add_condition(text, r, "", NULL, 0);
        if (random_chance(r, 50)) {
            sqlite3_str_appendall(text, " AND ");
            add_condition(text, r, "", NULL, 0);
        }
    } else if (kind < 70) {
        /* Equal values are in any order: only they are shown. */
        const char *column = PICK(r, columns);
        *ordered = true;
        sqlite3_str_appendf(text, "SELECT %s FROM @ WHERE ", column);
        add_condition(text, r, "", column, 0);
        sqlite3_str_appendf(text, " ORDER BY %s%s", column, random_chance(r, 50) ? " DESC" : "");
        if (random_chance(r, 60))
            sqlite3_str_appendf(text, " LIMIT %d OFFSET %d", (int)random_below(r, 150),
                                (int)random_below(r, 5));
    } else if (kind < 80) {
        const char *column = PICK(r, columns);
        *ordered = true;
        sqlite3_str_appendf(text, "SELECT %s, count(*) FROM @ WHERE ", column);
        add_condition(text, r, "", column, 0);
        sqlite3_str_appendall(text, " GROUP BY 1 ORDER BY 1");
    } else if (kind < 90) {
        static const char *const compare[] = {"=", "=", "<", ">="};
        sqlite3_str_appendf(text,
                            "SELECT k.rowid, x.document FROM k JOIN @ x ON x.%s %s k.%c WHERE ",
                            PICK(r, columns), PICK(r, compare), "irtbm"[random_below(r, 5)]);
        add_condition(text, r, "x.", NULL, 0);
    } else {
        sqlite3_str_appendf(text,
                            "SELECT x.document, y._id FROM @ x JOIN @ y ON x.%s = y.%s WHERE ",
                            PICK(r, columns), PICK(r, columns));
        add_condition(text, r, "x.", NULL, 0);
    }
    return sqlite3_str_finish(text);
}

/* --- Comparing --- */

typedef struct rows {
    char *items[MAX_ROWS];
    size_t count;
    int code;
} rows;

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* add_shown -- a value's type and bytes. `alike`: numbers that are equal look alike, for SQL shows
 * any of those that are in one group or place. */
static void add_shown(sqlite3_str *text, sqlite3_stmt *prepared, int column, bool alike) {
    int type = sqlite3_column_type(prepared, column);
    if (alike && (type == SQLITE_INTEGER || type == SQLITE_FLOAT)) {
        sqlite3_str_appendf(text, "%!.15g|", sqlite3_column_double(prepared, column));
        return;
    }
    const void *bytes = sqlite3_column_text(prepared, column);
    sqlite3_str_appendf(text, "%d:%.*s|", type, sqlite3_column_bytes(prepared, column),
                        bytes ? bytes : "");
}

/* run -- the rows of a statement with a table in place of @. */
static void run(sqlite3 *sql, const char *statement, const char *table, bool ordered,
                rows *result) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (const char *at = statement; *at; at++) {
        if (*at == '@')
            sqlite3_str_appendall(text, table);
        else
            sqlite3_str_appendchar(text, 1, *at);
    }
    char *own = sqlite3_str_finish(text);
    sqlite3_stmt *prepared = NULL;
    result->count = 0;
    result->code = sqlite3_prepare_v2(sql, own, -1, &prepared, NULL);
    while (result->code == SQLITE_OK || result->code == SQLITE_ROW) {
        result->code = sqlite3_step(prepared);
        if (result->code != SQLITE_ROW || result->count == MAX_ROWS)
            break;
        text = sqlite3_str_new(NULL);
        for (int i = 0; i < sqlite3_column_count(prepared); i++)
            add_shown(text, prepared, i, ordered);
        result->items[result->count++] = sqlite3_str_finish(text);
    }
    if (!CHECK(result->code == SQLITE_DONE || result->code == SQLITE_ROW))
        check_note("    %s: %s", sqlite3_errmsg(sql), own);
    sqlite3_finalize(prepared);
    sqlite3_free(own);
    if (!ordered && result->count)
        qsort(result->items, result->count, sizeof *result->items, by_text);
}

/* compare -- the statement's rows from the collection are those from SQLite's table. */
static void compare(sqlite3 *sql, const char *statement, bool ordered) {
    static rows expected, found;
    run(sql, statement, "r", ordered, &expected);
    run(sql, statement, "v", ordered, &found);
    bool complete = expected.code == SQLITE_DONE && found.code == SQLITE_DONE;
    bool equal = !complete || expected.count == found.count;
    for (size_t i = 0; complete && equal && i < found.count; i++)
        equal = strcmp(expected.items[i], found.items[i]) == 0;
    if (!CHECK(equal))
        check_note("    %zu rows instead of %zu: %s", found.count, expected.count, statement);
    while (expected.count > 0)
        sqlite3_free(expected.items[--expected.count]);
    while (found.count > 0)
        sqlite3_free(found.items[--found.count]);
}

static void execute(sqlite3 *sql, const char *statement) {
    char *message = NULL;
    if (!CHECK(sqlite3_exec(sql, statement, NULL, NULL, &message) == SQLITE_OK))
        check_note("    %s: %s", message, statement);
    sqlite3_free(message);
}

/* make_tables -- `v` is the collection, `r` a table with the same rows, `k` has columns with
 * affinities. */
static void make_tables(sqlite3 *sql, const char *path, random_source *r) {
    char statement[4096];
    snprintf(statement, sizeof statement, "CREATE VIRTUAL TABLE v USING tansu('%s', 't')", path);
    execute(sql, statement);
    execute(sql, "CREATE TABLE r(_id, a, b, c, n, \"o.x\", \"o.y\", document)");
    execute(sql, "INSERT INTO r SELECT _id, a, b, c, n, \"o.x\", \"o.y\", document FROM v");
    execute(sql, "CREATE TABLE k(i INTEGER, r REAL, t TEXT, b BLOB, m NUMERIC)");
    for (unsigned i = 0; i < 8; i++) {
        char *row = sqlite3_mprintf("INSERT INTO k VALUES (%d, %s, %Q, x'41', %Q)",
                                    (int)random_below(r, 10), PICK(r, numbers), PICK(r, texts),
                                    PICK(r, texts));
        execute(sql, row);
        sqlite3_free(row);
    }
}

static void compare_in_one_database(random_source *r) {
    static const char *const indexed[] = {"{'a': 1}", "{'n': -1}", "{'o.x': 1}",
                                          "{'c': 1, 'n': 1}"};
    char *folder = folder_new();
    const char *path = folder_join(folder, "t.tansu");
    tansu_db *db = call_open(path);
    shape s = {.plain = random_chance(r, 50), .simple = random_chance(r, 50) ? 100 : 80};
    /* So that each column is there. */
    CHECK_OK(call_save(db, NULL, "t", TANSU_SAVE,
                       "{'_id': -1, 'a': 1, 'b': 1, 'c': 1, 'n': 1, 'o': {'x': 1, 'y': 1}}"),
             &call_error);
    save_documents(db, r, &s, random_chance(r, 50) ? 30 : 150);
    for (unsigned i = 0; i < 4; i++)
        if (random_chance(r, 60))
            CHECK_OK(call_index(db, NULL, "t", NULL, indexed[i],
                                random_chance(r, 30) ? "{'sparse': true}" : "{}"),
                     &call_error);
    sqlite3 *sql;
    char *message = NULL;
    REQUIRE(sqlite3_open(":memory:", &sql) == SQLITE_OK);
    REQUIRE(sqlite3_tansusqlite_init(sql, &message, NULL) == SQLITE_OK);
    if (random_chance(r, 10))
        execute(sql, "PRAGMA encoding = 'UTF-16le'");
    make_tables(sql, path, r);
    for (unsigned i = 0; i < STATEMENTS; i++) {
        bool ordered;
        char *statement = make_statement(r, &ordered);
        compare(sql, statement, ordered);
        sqlite3_free(statement);
    }
    CHECK_INT(SQLITE_OK, sqlite3_close(sql));
    call_close(db);
    folder_end(folder);
}

static void statements_answer_as_from_a_table_of_sqlite(void) {
    random_source r = random_start(0);
    for (uint64_t round = random_rounds("TANSU_ROUNDS", DATABASES); round > 0; round--)
        compare_in_one_database(&r);
}

#else

static void statements_answer_as_from_a_table_of_sqlite(void) {
    random_source r = random_start(0);
    CHECK(random_below(&r, 1) == 0);
    check_skip("the extension of SQLite is not built: there is no sqlite3ext.h of 3.38 or later");
}

#endif

int main(void) {
    RUN(statements_answer_as_from_a_table_of_sqlite);
    return check_finish();
}
