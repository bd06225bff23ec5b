/*
 * test_sqlite.c -- the extension of SQLite (CEngine/sqlite): what a table shows, snapshots, errors,
 * and the examples of docs/sql.md.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_SQLITE3

#include <sqlite3.h>

int sqlite3_tansusqlite_init(sqlite3 *db, char **message, const void *api);

/* A database with one collection, and a connection of SQLite beside it. */
typedef struct fixture {
    char *folder;
    const char *path;
    tansu_db *db;
    sqlite3 *sql;
} fixture;

static sqlite3 *connect_sqlite(void) {
    sqlite3 *sql;
    char *message = NULL;
    REQUIRE(sqlite3_open(":memory:", &sql) == SQLITE_OK);
    REQUIRE(sqlite3_tansusqlite_init(sql, &message, NULL) == SQLITE_OK);
    return sql;
}

static fixture begin(void) {
    fixture f;
    f.folder = folder_new();
    f.path = strdup(folder_join(f.folder, "t.tansu"));
    f.db = call_open(f.path);
    f.sql = connect_sqlite();
    return f;
}

static void end(fixture *f) {
    CHECK_INT(SQLITE_OK, sqlite3_close(f->sql));
    if (f->db)
        call_close(f->db);
    folder_end(f->folder);
    free((char *)f->path);
}

static void save(fixture *f, const char *json) {
    CHECK_OK(call_save(f->db, NULL, "people", TANSU_SAVE, json), &call_error);
}

/* add_row -- appends a row as the shell of SQLite shows it: values with "|" between. */
static int add_row(void *context, int count, char **values, char **names) {
    sqlite3_str *text = context;
    (void)names;
    if (sqlite3_str_length(text))
        sqlite3_str_appendchar(text, 1, '\n');
    for (int i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s%s", i ? "|" : "", values[i] ? values[i] : "");
    return 0;
}

/* ask -- the rows of a statement, or its error. Valid until the next call. */
static const char *ask(sqlite3 *sql, const char *statement) {
    static char *last;
    char *message = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int code = sqlite3_exec(sql, statement, add_row, text, &message);
    sqlite3_free(last);
    last = sqlite3_str_finish(text);
    if (code != SQLITE_OK) {
        sqlite3_free(last);
        last = message;
    }
    return last ? last : "";
}

/* attach -- creates the table `p` of the collection `people`. */
static void attach(const fixture *f) {
    char statement[4096];
    snprintf(statement, sizeof statement, "CREATE VIRTUAL TABLE temp.p USING tansu('%s', 'people')",
             f->path);
    CHECK_TEXT("", ask(f->sql, statement));
}

static void values_are_as_documented(void) {
    fixture f = begin();
    save(&f,
         "{'_id': 1, 'i': 5, 'l': {'$numberLong': '9007199254740993'}, 'd': 0.5, 't': 'x', "
         "'n': null, 'b': true, 'w': {'$date': '2026-11-28T09:30:00Z'}, "
         "'o': {'$oid': '0123456789abcdef01234567'}, 'y': {'$binary': {'base64': 'QUI=', "
         "'subType': '00'}}, 'm': {'$numberDecimal': '12.50'}, 'v': {'$numberDecimal': '1E+3'}, "
         "'a': [1, {'k': 2}], 'q': {'$numberDouble': 'NaN'}, "
         "'z': {'$date': {'$numberLong': '253402300800000'}}, 'u': {'$undefined': true}}");
    attach(&f);
    CHECK_TEXT("integer|5", ask(f.sql, "SELECT typeof(i), i FROM p"));
    CHECK_TEXT("integer|9007199254740993", ask(f.sql, "SELECT typeof(l), l FROM p"));
    CHECK_TEXT("real|0.5", ask(f.sql, "SELECT typeof(d), d FROM p"));
    CHECK_TEXT("text|x", ask(f.sql, "SELECT typeof(t), t FROM p"));
    CHECK_TEXT("null|null|null", ask(f.sql, "SELECT typeof(n), typeof(q), typeof(u) FROM p"));
    CHECK_TEXT("integer|1", ask(f.sql, "SELECT typeof(b), b FROM p"));
    CHECK_TEXT("text|2026-11-28T09:30:00.000Z", ask(f.sql, "SELECT typeof(w), w FROM p"));
    CHECK_TEXT("text|0123456789abcdef01234567", ask(f.sql, "SELECT typeof(o), o FROM p"));
    CHECK_TEXT("blob|4142", ask(f.sql, "SELECT typeof(y), hex(y) FROM p"));
    CHECK_TEXT("real|12.5", ask(f.sql, "SELECT typeof(m), m FROM p"));
    CHECK_TEXT("integer|1000", ask(f.sql, "SELECT typeof(v), v FROM p"));
    CHECK_TEXT("[1, {\"k\": 2}]|2", ask(f.sql, "SELECT a, json_extract(a, '$[1].k') FROM p"));
    CHECK_TEXT("{\"$date\": {\"$numberLong\": \"253402300800000\"}}",
               ask(f.sql, "SELECT z FROM p"));
    CHECK_TEXT("1|5", ask(f.sql, "SELECT json_valid(document), json_extract(document, '$.i') "
                                 "FROM p"));
    CHECK_TEXT("2026-11-28", ask(f.sql, "SELECT date(w) FROM p"));
    end(&f);
}

static void columns_come_from_documents_schemas_and_indexes(void) {
    fixture f = begin();
    CHECK_OK(call_ensure(f.db, NULL, "people",
                         "{'validator': {'$jsonSchema': {'properties': {'declared': {}, 'deep': "
                         "{'properties': {'er': {'bsonType': 'int'}}}}}}}"),
             &call_error);
    CHECK_OK(call_index(f.db, NULL, "people", NULL, "{'rare.field': 1}", "{}"), &call_error);
    save(&f, "{'_id': 1, 'owner': {'city': 'Paris', 'name': {'last': 'L'}}, 'Name': 1, 'name': 2, "
             "'document': 3, 'empty': {}, 'a\\\"b': 4, '': 5, 'x.y': 6, '7': 8}");
    attach(&f);
    CHECK_TEXT("_id\ndeclared\ndeep.er\nowner.city\nowner.name.last\nName\nname_2\ndocument_2\n"
               "empty\na\"b\n_\nx.y\n7\nrare.field\ndocument",
               ask(f.sql, "SELECT name FROM pragma_table_xinfo('p')"));
    CHECK_TEXT("Paris|L|1|2|3|{}|4|5|6|8",
               ask(f.sql, "SELECT \"owner.city\", \"owner.name.last\", name, name_2, document_2, "
                          "empty, \"a\"\"b\", \"_\", \"x.y\", \"7\" FROM p"));
    CHECK_TEXT("1", ask(f.sql, "SELECT _id FROM p WHERE \"x.y\" = 6 AND \"7\" = 8 AND \"_\" = 5 "
                               "AND \"a\"\"b\" = 4"));
    end(&f);
}

static void rowids_are_those_of_every_connection(void) {
    fixture f = begin();
    save(&f, "{'_id': 1}");
    save(&f, "{'_id': '1'}");
    save(&f, "{'_id': true}");
    attach(&f);
    CHECK_TEXT("3", ask(f.sql, "SELECT count(DISTINCT rowid) FROM p"));
    CHECK_TEXT("3", ask(f.sql, "SELECT count(*) FROM p WHERE _id = 1 OR _id = '1'"));
    char *first = strdup(ask(f.sql, "SELECT group_concat(rowid) FROM p"));
    CHECK_INT(SQLITE_OK, sqlite3_close(f.sql));
    f.sql = connect_sqlite();
    attach(&f);
    CHECK_TEXT(first, ask(f.sql, "SELECT group_concat(rowid) FROM p"));
    free(first);
    end(&f);
}

static void a_map_is_one_column(void) {
    fixture f = begin();
    char json[4096] = "{'_id': 1, 'map': {";
    for (int i = 0; i < 60; i++)
        snprintf(json + strlen(json), sizeof json - strlen(json), "%s'k%d': 1", i ? ", " : "", i);
    strcat(json, "}}");
    save(&f, json);
    attach(&f);
    CHECK_TEXT("_id\nmap\ndocument", ask(f.sql, "SELECT name FROM pragma_table_xinfo('p')"));
    CHECK_TEXT("1", ask(f.sql, "SELECT json_extract(map, '$.k59') FROM p"));
    end(&f);
}

static void a_statement_sees_one_snapshot(void) {
    fixture f = begin();
    save(&f, "{'_id': 1}");
    attach(&f);
    sqlite3_stmt *statement;
    REQUIRE(sqlite3_prepare_v2(f.sql, "SELECT a._id, (SELECT count(*) FROM p) FROM p a", -1,
                               &statement, NULL) == SQLITE_OK);
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    save(&f, "{'_id': 2}");
    CHECK_TEXT("1", ask(f.sql, "SELECT count(*) FROM p")); /* joins the one that runs */
    CHECK_INT(1, sqlite3_column_int(statement, 1));
    CHECK_INT(SQLITE_DONE, sqlite3_step(statement));
    sqlite3_finalize(statement);
    CHECK_TEXT("2", ask(f.sql, "SELECT count(*) FROM p"));
    end(&f);
}

static void a_collection_may_be_dropped_while_a_statement_runs(void) {
    fixture f = begin();
    save(&f, "{'_id': 1}");
    save(&f, "{'_id': 2}");
    attach(&f);
    sqlite3_stmt *statement;
    REQUIRE(sqlite3_prepare_v2(f.sql, "SELECT _id FROM p", -1, &statement, NULL) == SQLITE_OK);
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    CHECK_OK(tansu_collection_drop(f.db, NULL, "people", &call_error), &call_error);
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    CHECK_INT(SQLITE_DONE, sqlite3_step(statement));
    CHECK_INT(SQLITE_ERROR, sqlite3_step(statement));
    sqlite3_finalize(statement);
    CHECK(strstr(ask(f.sql, "SELECT * FROM p"), "NOT_FOUND") != NULL);
    CHECK_TEXT("", ask(f.sql, "DROP TABLE p"));
    end(&f);
}

static void an_order_holds_after_a_commit_that_changes_it(void) {
    fixture f = begin();
    CHECK_OK(call_index(f.db, NULL, "people", NULL, "{'n': 1}", "{}"), &call_error);
    save(&f, "{'_id': 1, 'n': 3}");
    save(&f, "{'_id': 2, 'n': 'text'}");
    attach(&f);
    CHECK(strstr(ask(f.sql, "EXPLAIN QUERY PLAN SELECT n FROM p ORDER BY n"), "TEMP") == NULL);
    sqlite3_stmt *statement;
    REQUIRE(sqlite3_prepare_v2(f.sql, "SELECT n FROM p ORDER BY n", -1, &statement, NULL) ==
            SQLITE_OK);
    save(&f, "{'_id': 3, 'n': true}"); /* 1 in SQL, and after all texts in Tansu */
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    CHECK_INT(1, sqlite3_column_int(statement, 0));
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    CHECK_INT(3, sqlite3_column_int(statement, 0));
    CHECK_INT(SQLITE_ROW, sqlite3_step(statement));
    CHECK_INT(SQLITE_DONE, sqlite3_step(statement));
    sqlite3_finalize(statement);
    end(&f);
}

static void errors_say_what_to_do(void) {
    fixture f = begin();
    save(&f, "{'_id': 1}");
    char text[4096];
    CHECK(strstr(ask(f.sql, "CREATE VIRTUAL TABLE p USING tansu"), "USING tansu('app.tansu'") !=
          NULL);
    CHECK(strstr(ask(f.sql, "CREATE VIRTUAL TABLE p USING tansu('/no/such', 'x')"), "NOT_FOUND") !=
          NULL);
    CHECK(strstr(ask(f.sql, "CREATE VIRTUAL TABLE p USING tansu('', 'x')"), "empty") != NULL);
    snprintf(text, sizeof text, "CREATE VIRTUAL TABLE p USING tansu('%s', 'nobody')", f.path);
    CHECK(strstr(ask(f.sql, text), "NOT_FOUND") != NULL);
    snprintf(text, sizeof text, "CREATE VIRTUAL TABLE p USING tansu('%s', '$x')", f.path);
    CHECK(strstr(ask(f.sql, text), "INVALID_NAME") != NULL);
    snprintf(text, sizeof text, "CREATE VIRTUAL TABLE p USING tansu('%s', people, '/no/key')",
             f.path);
    CHECK(strstr(ask(f.sql, text), "key file \"/no/key\" cannot be read") != NULL);
    CHECK(strstr(ask(f.sql, "SELECT tansu_attach('/no/such')"), "NOT_FOUND") != NULL);
    CHECK(strstr(ask(f.sql, "SELECT tansu_attach()"), "takes the path") != NULL);
    CHECK(strstr(ask(f.sql, "SELECT tansu_attach(NULL)"), "takes the path") != NULL);
    attach(&f);
    CHECK(strstr(ask(f.sql, "DELETE FROM p"), "may not be modified") != NULL);
    end(&f);
}

static void a_condition_may_be_of_any_size(void) {
    fixture f = begin();
    save(&f, "{'_id': 1, 'text': 'x'}");
    CHECK_OK(call_index(f.db, NULL, "people", NULL, "{'text': 1}", "{}"), &call_error);
    attach(&f);
    CHECK_TEXT("1|0", ask(f.sql, "SELECT count(*), sum(text = hex(zeroblob(9000000))) FROM p WHERE "
                                 "text < 'y' || hex(zeroblob(9000000))"));
    CHECK_TEXT("1",
               ask(f.sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                          "4000) SELECT _id FROM p WHERE text IN (SELECT hex(zeroblob(4000 + "
                          "i)) FROM n UNION ALL SELECT 'x')"));
    CHECK_TEXT("1",
               ask(f.sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                          "6000) SELECT _id FROM p WHERE _id IN (SELECT i FROM n)"));
    CHECK_TEXT("1",
               ask(f.sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                          "4900) SELECT _id FROM p WHERE _id IN (SELECT i FROM n)"));
    end(&f);
}

static void all_collections_are_attached_or_none(void) {
    fixture f = begin();
    save(&f, "{'_id': 1}");
    CHECK_OK(call_save(f.db, NULL, "it's \"odd\"", TANSU_SAVE, "{'_id': 7}"), &call_error);
    char text[4096];
    snprintf(text, sizeof text, "SELECT tansu_attach('%s')", f.path);
    CHECK_TEXT("2", ask(f.sql, text));
    CHECK_TEXT("7", ask(f.sql, "SELECT _id FROM \"it's \"\"odd\"\"\""));
    CHECK(strstr(ask(f.sql, text), "already exists") != NULL);
    snprintf(text, sizeof text, "SELECT tansu_attach('%s', '', 'x_')", f.path);
    CHECK_TEXT("", ask(f.sql, "CREATE TEMP TABLE x_people(a)"));
    CHECK(strstr(ask(f.sql, text), "already exists") != NULL);
    CHECK_TEXT("0", ask(f.sql, "SELECT count(*) FROM temp.sqlite_schema WHERE name LIKE 'x\\_it%' "
                               "ESCAPE '\\'"));
    CHECK_TEXT("", ask(f.sql, "DROP TABLE x_people"));
    CHECK_TEXT("2", ask(f.sql, text));
    end(&f);
}

static void an_encrypted_database_needs_its_key_file(void) {
    fixture f = begin();
    call_close(f.db);
    f.db = NULL;
    folder_remove(f.path);
    tansu_options options = call_options(f.path);
    options.key = "01234567890123456789012345678901";
    options.key_size = 32;
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_save(db, NULL, "people", TANSU_SAVE, "{'_id': 1}"), &call_error);
    const char *key = folder_join(f.folder, "key"), *hex = folder_join(f.folder, "hex");
    const char *bad = folder_join(f.folder, "bad");
    file_write(key, "01234567890123456789012345678901", 32);
    file_write(hex, "3031323334353637383930313233343536373839303132333435363738393031\n", 65);
    file_write(bad, "0123", 4);
    char text[4096];
    snprintf(text, sizeof text, "SELECT tansu_attach('%s')", f.path);
    CHECK(strstr(ask(f.sql, text), "is encrypted; name the file of its key") != NULL);
    snprintf(text, sizeof text, "SELECT tansu_attach('%s', '%s')", f.path, bad);
    CHECK(strstr(ask(f.sql, text), "neither 32 bytes nor 64") != NULL);
    snprintf(text, sizeof text, "SELECT tansu_attach('%s', '%s')", f.path, key);
    CHECK_TEXT("1", ask(f.sql, text));
    snprintf(text, sizeof text, "SELECT tansu_attach('%s', '%s', 'h')", f.path, hex);
    CHECK_TEXT("1", ask(f.sql, text));
    CHECK_TEXT("1", ask(f.sql, "SELECT _id FROM people JOIN hpeople USING (_id)"));
    call_close(db);
    end(&f);
}

static void a_damaged_database_is_an_error(void) {
    fixture f = begin();
    save(&f, "{'_id': 1, 'text': 'some text that is long enough to be found in the file'}");
    call_close(f.db);
    f.db = NULL;
    file_flip(folder_join(f.path, "MANIFEST"), 3, 1);
    char text[4096];
    snprintf(text, sizeof text, "CREATE VIRTUAL TABLE p USING tansu('%s', 'people')", f.path);
    CHECK(strstr(ask(f.sql, text), "tansu: ") != NULL);
    end(&f);
}

/* The SQLite of macOS loads nothing. */
static void sqlite_loads_the_library(void) {
#ifdef __APPLE__
    check_skip("the SQLite of the system has no loadable extensions");
#else
    fixture f = begin();
    save(&f, "{'_id': 7}");
    sqlite3 *sql;
    char *message = NULL, text[4096];
    REQUIRE(sqlite3_open(":memory:", &sql) == SQLITE_OK);
    CHECK_INT(SQLITE_OK, sqlite3_enable_load_extension(sql, 1));
    if (!CHECK_INT(SQLITE_OK, sqlite3_load_extension(sql, EXTENSION, NULL, &message)))
        check_note("    %s", message);
    sqlite3_free(message);
    snprintf(text, sizeof text, "SELECT tansu_attach('%s')", f.path);
    CHECK_TEXT("1", ask(sql, text));
    CHECK_TEXT("7", ask(sql, "SELECT _id FROM people"));
    CHECK_INT(SQLITE_OK, sqlite3_close(sql));
    end(&f);
#endif
}

/* run_examples -- the lines that begin with "sqlite> ", each with the rows that follow it. */
static unsigned run_examples(sqlite3 *sql, char *page) {
    unsigned count = 0;
    static const char prompt[] = "sqlite> ";
    char *at = page;
    while ((at = strstr(at, prompt)) != NULL) {
        char *line = at + sizeof prompt - 1;
        char *rest = strchr(line, '\n');
        REQUIRE(rest != NULL);
        *rest++ = 0;
        char *next = strstr(rest, prompt), *fence = strstr(rest, "```");
        char *stop = next && next < fence ? next : fence;
        REQUIRE(stop != NULL);
        char expected[8192];
        size_t size = (size_t)(stop - rest);
        REQUIRE(size < sizeof expected);
        memcpy(expected, rest, size);
        expected[size && rest[size - 1] == '\n' ? size - 1 : size] = 0;
        if (!CHECK_TEXT(expected, line[0] == '.' ? "" : ask(sql, line)))
            check_note("    %s", line);
        count++;
        at = stop;
    }
    return count;
}

static void examples_of_the_page_are_true(void) {
    fixture f = begin();
    size_t size;
    char *page = repo_file_read("docs/sql.md", &size);
    char here[4096];
    REQUIRE(getcwd(here, sizeof here) != NULL && chdir(f.folder) == 0);
    tansu_db *db = call_open("shop.tansu");
    char *at = strstr(page, "```json\n");
    REQUIRE(at != NULL);
    for (at += 8; strncmp(at, "```", 3) != 0;) {
        char *line_end = strchr(at, '\n');
        REQUIRE(line_end != NULL);
        *line_end = 0;
        char *response = NULL;
        CHECK_STATUS(TANSU_OK, tansu_execute_json(db, at, &response));
        tansu_free(response);
        *line_end = '\n';
        at = line_end + 1;
    }
    CHECK(run_examples(f.sql, page) >= 8);
    REQUIRE(chdir(here) == 0);
    free(page);
    CHECK_INT(SQLITE_OK, sqlite3_close(f.sql));
    f.sql = NULL;
    call_close(db);
    end(&f);
}

int main(void) {
    RUN(values_are_as_documented);
    RUN(columns_come_from_documents_schemas_and_indexes);
    RUN(a_map_is_one_column);
    RUN(rowids_are_those_of_every_connection);
    RUN(a_statement_sees_one_snapshot);
    RUN(a_collection_may_be_dropped_while_a_statement_runs);
    RUN(an_order_holds_after_a_commit_that_changes_it);
    RUN(errors_say_what_to_do);
    RUN(a_condition_may_be_of_any_size);
    RUN(all_collections_are_attached_or_none);
    if (library_crypto())
        RUN(an_encrypted_database_needs_its_key_file);
    RUN(a_damaged_database_is_an_error);
    RUN(sqlite_loads_the_library);
    RUN(examples_of_the_page_are_true);
    return check_finish();
}

#else

static void tables_of_sqlite(void) {
    size_t size;
    char *page = repo_file_read("docs/sql.md", &size);
    CHECK(strstr(page, "\nsqlite> ") != NULL);
    free(page);
    check_skip("the extension of SQLite is not built: there is no sqlite3ext.h of 3.38 or later");
}

int main(void) {
    RUN(tables_of_sqlite);
    return check_finish();
}

#endif
