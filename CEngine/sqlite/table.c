/*
 * sqlite/table.c -- the module `tansu` of virtual tables, each of which shows a collection.
 *
 * A cursor reads documents as the engine finds them, and takes values out of the current one when
 * SQLite asks for a column, so that a LIMIT ends the work early and unused columns cost nothing.
 */
#include "table.h"

#include "columns.h"
#include "database.h"
#include "hash.h"
#include "pushdown.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a column in a snapshot. */
enum { INDEXED = 1, UNIQUE = 2, SINGLE = 4 };

typedef struct table {
    sqlite3_vtab base;
    sql_database *database;
    char *collection;
    sql_columns columns;
    uint8_t *facts;    /* of each column */
    uint64_t snapshot; /* the one that the facts are of */
    bool utf8;         /* texts are compared by their UTF-8 bytes */
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    bool reading; /* the snapshot is in use */
    bool end;
    tansu_cursor *documents;
    tansu_document document;
    sql_query query;
    int order;        /* as make_order() has it */
    int64_t read;     /* documents of the query so far */
    int64_t chunk;    /* how many the part that is read has at most; 0: all */
    int64_t part_end; /* where it ends */
} cursor;

/* fail -- sets the table's error. */
static int fail(table *t, tansu_status status, const tansu_error *error) {
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = sql_message(t->collection, status, error);
    return sql_code(status);
}

/* --- Connecting --- */

/* unquote -- an argument of CREATE VIRTUAL TABLE as SQLite reads a name or a text. */
static char *unquote(const char *text) {
    char close = *text == '[' ? ']' : *text;
    if (!*text || !strchr("'\"`[", *text))
        return sqlite3_mprintf("%s", text);
    char *result = sqlite3_malloc64(strlen(text) + 1);
    char *to = result;
    for (const char *at = text + 1; result && *at; at++) {
        if (*at == close) {
            if (at[1] != close || close == ']')
                break;
            at++;
        }
        *to++ = *at;
    }
    if (result)
        *to = 0;
    return result;
}

static int disconnect(sqlite3_vtab *base) {
    table *t = (table *)base;
    if (t->database)
        sql_database_release(t->database);
    sql_columns_free(&t->columns);
    sqlite3_free(t->collection);
    sqlite3_free(t->facts);
    sqlite3_free(t);
    return SQLITE_OK;
}

/* has_utf8 -- whether the encoding of the connection's databases is UTF-8. */
static bool has_utf8(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    bool result = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_ROW &&
                  sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "UTF-8") == 0;
    sqlite3_finalize(statement);
    return result;
}

/* declare -- finds the columns and tells SQLite of them. */
static int declare(table *t, sqlite3 *db, char **message) {
    tansu_error error = {0};
    tansu_status status = sql_snapshot_begin(t->database, &error);
    if (status == TANSU_OK) {
        status = sql_columns_find(&t->columns, t->database, t->collection, &error);
        sql_snapshot_end(t->database);
    }
    if (status != TANSU_OK) {
        *message = sql_message(t->collection, status, &error);
        return sql_code(status);
    }
    t->facts = sqlite3_malloc64(t->columns.count);
    char *declaration = sql_columns_declaration(&t->columns);
    int code = t->facts && declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (code != SQLITE_OK && code != SQLITE_NOMEM)
        *message = sqlite3_mprintf("tansu: %s: %s", t->collection, sqlite3_errmsg(db));
    return code;
}

static int connect_table(sqlite3 *db, void *registry, int argc, const char *const *argv,
                         sqlite3_vtab **result, char **message) {
    if (argc < 5 || argc > 6) {
        *message = sqlite3_mprintf("tansu: A table has the path of a database, a collection and "
                                   "perhaps a key file: USING tansu('app.tansu', 'people')");
        return SQLITE_ERROR;
    }
    table *t = sqlite3_malloc64(sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->utf8 = has_utf8(db);
    t->collection = unquote(argv[4]);
    char *path = unquote(argv[3]);
    char *key_file = unquote(argc > 5 ? argv[5] : "");
    int code = SQLITE_NOMEM;
    if (t->collection && path && key_file) {
        t->database = sql_database_open(registry, path, key_file, message);
        if (t->database)
            code = declare(t, db, message);
        else if (*message)
            code = SQLITE_ERROR;
    }
    sqlite3_free(path);
    sqlite3_free(key_file);
    if (code != SQLITE_OK) {
        disconnect(&t->base);
        return code;
    }
    *result = &t->base;
    return SQLITE_OK;
}

/* create_table -- another function than connect_table(): a module in which they are the same one
 * has a table without being asked for it. */
static int create_table(sqlite3 *db, void *registry, int argc, const char *const *argv,
                        sqlite3_vtab **result, char **message) {
    return connect_table(db, registry, argc, argv, result, message);
}

/* --- Facts of columns --- */

/* learn_index -- notes what an index says of the column that it begins with. */
static void learn_index(table *t, const sql_element *index) {
    sql_element keys, element, key;
    if (!sql_find_key(index->value, index->size, "keys", &keys) ||
        sql_find_key(index->value, index->size, "partialFilter", &element))
        return;
    bool multikey = !sql_find_key(index->value, index->size, "multikey", &element) ||
                    element.type != SQL_BSON_BOOL || element.value[0];
    bool unique = sql_find_key(index->value, index->size, "unique", &element) &&
                  element.type == SQL_BSON_BOOL && element.value[0];
    bool folded = sql_find_key(index->value, index->size, "caseInsensitive", &element);
    sql_reader reader = sql_reader_of(keys.value, keys.size);
    for (unsigned position = 0; sql_next(&reader, &key); position++) {
        if (key.type == SQL_BSON_STRING) /* of words */
            return;
        for (unsigned i = 0; i < t->columns.count; i++) {
            const sql_column *column = &t->columns.items[i];
            if (!column->path || strcmp(column->path, key.key) != 0)
                continue;
            if (!multikey)
                t->facts[i] |= SINGLE;
            if (position == 0 && !folded)
                t->facts[i] |= INDEXED;
            if (position == 0 && unique && reader.at >= reader.end)
                t->facts[i] |= UNIQUE;
        }
    }
}

/* learn -- the facts of the columns in the snapshot that is open. */
static tansu_status learn(table *t, tansu_error *error) {
    if (t->snapshot == t->database->snapshots)
        return TANSU_OK;
    tansu_buffer list = TANSU_BUFFER_INIT;
    sql_element indexes, index;
    tansu_status status =
        tansu_index_list(t->database->db, t->database->snapshot, t->collection, &list, error);
    memset(t->facts, 0, t->columns.count);
    t->facts[0] = INDEXED | UNIQUE | SINGLE; /* `_id` */
    if (status == TANSU_OK && sql_find_key(list.data, list.size, "indexes", &indexes)) {
        sql_reader reader = sql_reader_of(indexes.value, indexes.size);
        while (sql_next(&reader, &index))
            learn_index(t, &index);
        t->snapshot = t->database->snapshots;
    }
    tansu_buffer_free(&list);
    return status;
}

/* count_documents -- how many documents the collection has. */
static tansu_status count_documents(table *t, double *count, tansu_error *error) {
    tansu_buffer info = TANSU_BUFFER_INIT;
    sql_element documents;
    tansu_status status =
        tansu_collection_info(t->database->db, t->database->snapshot, t->collection, &info, error);
    if (status == TANSU_OK && sql_find_key(info.data, info.size, "documents", &documents))
        *count = (double)sql_number(&documents);
    tansu_buffer_free(&info);
    return status;
}

/* has_other -- whether a column has a value that is out of an order. */
static tansu_status has_other(table *t, int column, sql_order order, bool *result,
                              tansu_error *error) {
    tansu_cursor *others = NULL;
    tansu_document document;
    sql_query query;
    sql_query_begin(&query);
    sql_query_add_unordered(&query, &t->columns.items[column], order);
    sql_query_end(&query);
    tansu_status status =
        query.writer.failed
            ? TANSU_E_MEMORY
            : tansu_find(t->database->db, t->database->snapshot, t->collection,
                         sql_query_document(&query), TANSU_NO_DOCUMENT, &others, error);
    if (status == TANSU_OK)
        status = tansu_cursor_next(others, &document, error);
    *result = status == TANSU_OK;
    tansu_cursor_close(others);
    sql_writer_free(&query.writer);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* has_order -- whether the order of Tansu by a column is that of SQL in the snapshot that is open:
 * an index knows that no value is of a kind that comes elsewhere. */
static tansu_status has_order(table *t, int column, bool *result, tansu_error *error) {
    tansu_status status = TANSU_OK;
    *result = false;
    if (column < 0 || (unsigned)column >= t->columns.count || !t->utf8 ||
        (t->facts[column] & (INDEXED | SINGLE)) != (INDEXED | SINGLE))
        return TANSU_OK;
    for (sql_order order = 0; order < SQL_ORDERS && !*result && status == TANSU_OK; order++) {
        bool other = true;
        status = has_other(t, column, order, &other, error);
        *result = !other;
    }
    return status;
}

/* --- Planning --- */

/* operator_of -- the operator by which a constraint is passed on; 0 if it is not. */
static char operator_of(const table *t, sqlite3_index_info *info, int i) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (!c->usable || c->iColumn < 0 || (unsigned)c->iColumn >= t->columns.count ||
        !t->columns.items[c->iColumn].path)
        return 0;
    switch (c->op) {
    case SQLITE_INDEX_CONSTRAINT_LIKE: return SQL_OP_LIKE;
    case SQLITE_INDEX_CONSTRAINT_GLOB: return t->utf8 ? SQL_OP_GLOB : 0;
    case SQLITE_INDEX_CONSTRAINT_ISNULL: return SQL_OP_NULL;
    default: break;
    }
    if (strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return 0;
    switch (c->op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        /* One by one, SQLite would compare the values of a list without their affinity. */
        return sqlite3_vtab_in(info, i, 1) ? SQL_OP_IN : SQL_OP_EQ;
    case SQLITE_INDEX_CONSTRAINT_IS: return SQL_OP_IS;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: return t->utf8 ? SQL_OP_LOWER : 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return t->utf8 ? SQL_OP_UPPER : 0;
    default: return 0;
    }
}

/* share_of -- the part of the documents that a condition leaves, as far as one can guess. */
static double share_of(char op, uint8_t facts, double count) {
    switch (op) {
    case SQL_OP_EQ:
    case SQL_OP_IS: return facts & UNIQUE ? 1 / count : facts & INDEXED ? 0.005 : 0.1;
    case SQL_OP_IN: return facts & INDEXED ? 0.02 : 0.25;
    case SQL_OP_NULL: return 0.1;
    default: return 0.25;
    }
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    table *t = (table *)base;
    tansu_error error = {0};
    double count = 0;
    bool ordered = false, limited = false;
    tansu_status status = sql_snapshot_begin(t->database, &error);
    if (status == TANSU_OK) {
        status = learn(t, &error);
        if (status == TANSU_OK && info->nOrderBy == 1)
            status = has_order(t, info->aOrderBy[0].iColumn, &ordered, &error);
        if (status == TANSU_OK)
            status = count_documents(t, &count, &error);
        sql_snapshot_end(t->database);
    }
    if (status != TANSU_OK)
        return fail(t, status, &error);
    if (count < 1)
        count = 1;
    double rows = count, read = count;
    int arguments = 0;
    sqlite3_str *plan = sqlite3_str_new(NULL);
    for (int i = 0; i < info->nConstraint; i++) {
        limited = limited || info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT;
        char op = operator_of(t, info, i);
        if (!op)
            continue;
        uint8_t facts = t->facts[info->aConstraint[i].iColumn];
        double share = share_of(op, facts, count);
        rows *= share;
        if (facts & INDEXED)
            read *= share;
        info->aConstraintUsage[i].argvIndex = ++arguments;
        sqlite3_str_appendf(plan, "%c%d", op, info->aConstraint[i].iColumn);
    }
    if (ordered) {
        info->orderByConsumed = 1;
        info->idxNum = 2 * (1 + 2 * info->aOrderBy[0].iColumn + (info->aOrderBy[0].desc ? 1 : 0)) +
                       (limited ? 1 : 0);
    }
    info->idxStr = sqlite3_str_finish(plan);
    info->needToFreeIdxStr = 1;
    if (arguments && !info->idxStr)
        return SQLITE_NOMEM;
    if (rows < 1)
        rows = 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = 10 + read + 2 * rows; /* a scan tests all, and shows SQLite some */
    return SQLITE_OK;
}

/* --- Reading --- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result) {
    (void)base;
    cursor *c = sqlite3_malloc64(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (cursor){.end = true};
    *result = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    cursor *c = (cursor *)base;
    tansu_cursor_close(c->documents);
    sql_writer_free(&c->query.writer);
    if (c->reading)
        sql_snapshot_end(((table *)base->pVtab)->database);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* Values of an IN that are looked for in an index, and that are tested in each document. */
enum { MOST_FOUND = 5000, MOST_TESTED = 50 };

/* Documents of the first part of an ordered query with a LIMIT. */
enum { FIRST_PART = 100 };

/* make_query -- the query of the conditions that best_index() has chosen. */
static int make_query(const table *t, sql_query *query, const char *plan, int argc,
                      sqlite3_value **argv) {
    int code = SQLITE_OK;
    sql_query_begin(query);
    for (int i = 0; plan && i < argc && *plan && code == SQLITE_OK; i++) {
        char op = *plan;
        char *after;
        unsigned long column = strtoul(plan + 1, &after, 10);
        bool indexed = t->facts[column] & INDEXED;
        if (op == SQL_OP_IN)
            code = sql_query_add_list(query, &t->columns.items[column],
                                      indexed ? MOST_FOUND : MOST_TESTED, argv[i]);
        else
            sql_query_add(query, &t->columns.items[column], t->facts[column] & SINGLE, op, argv[i]);
        plan = after;
    }
    sql_query_end(query);
    if (code == SQLITE_OK && query->writer.too_large)
        query->conditions = 0; /* all documents: SQLite tests them */
    else if (query->writer.failed)
        code = SQLITE_NOMEM;
    return code;
}

/* make_hints -- the hints for the order that best_index() has promised with a number, and for the
 * part that is to be read. */
static void make_hints(const table *t, const cursor *c, sql_writer *hints) {
    if (!c->order && !c->chunk)
        return;
    size_t start = sql_begin(hints, 0, NULL);
    if (c->order) {
        size_t order = sql_begin(hints, SQL_BSON_DOCUMENT, "$orderby");
        sql_write_int64(hints, SQL_BSON_INT64, t->columns.items[(c->order - 1) / 2].path,
                        c->order % 2 ? 1 : -1);
        sql_end(hints, order);
    }
    if (c->chunk) {
        sql_write_int64(hints, SQL_BSON_INT64, "$skip", c->read);
        sql_write_int64(hints, SQL_BSON_INT64, "$max", c->chunk);
    }
    sql_end(hints, start);
}

/* find -- opens the engine's cursor for the part of the query that is to be read. */
static tansu_status find(table *t, cursor *c, tansu_error *error) {
    sql_writer hints = {0};
    make_hints(t, c, &hints);
    tansu_cursor_close(c->documents);
    c->documents = NULL;
    tansu_status status =
        hints.failed ? TANSU_E_MEMORY
                     : tansu_find(t->database->db, t->database->snapshot, t->collection,
                                  sql_query_document(&c->query),
                                  (tansu_document){hints.data, hints.size}, &c->documents, error);
    sql_writer_free(&hints);
    return status;
}

/* next -- with a LIMIT, of the documents in an order only the first are wanted, but how many is not
 * known: SQLite may drop some. They are read in parts, each ten times as long as the one before, so
 * that the engine takes the few from an index instead of sorting all. */
static int next(sqlite3_vtab_cursor *base) {
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    tansu_error error = {0};
    tansu_status status = tansu_cursor_next(c->documents, &c->document, &error);
    if (status == TANSU_DONE && c->chunk && c->read == c->part_end) {
        c->chunk *= 10;
        c->part_end = c->read + c->chunk;
        status = find(t, c, &error);
        if (status == TANSU_OK)
            status = tansu_cursor_next(c->documents, &c->document, &error);
    }
    c->read++;
    c->end = status != TANSU_OK;
    return c->end && status != TANSU_DONE ? fail(t, status, &error) : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                  sqlite3_value **argv) {
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    tansu_error error = {0};
    tansu_status status = TANSU_OK;
    bool ordered = true;
    tansu_cursor_close(c->documents);
    c->documents = NULL;
    sql_writer_free(&c->query.writer);
    c->end = true;
    c->order = number / 2;
    c->read = 0;
    c->chunk = c->part_end = number % 2 ? FIRST_PART : 0;
    if (!c->reading) {
        status = sql_snapshot_begin(t->database, &error);
        c->reading = status == TANSU_OK;
    }
    if (status == TANSU_OK)
        status = learn(t, &error);
    if (status == TANSU_OK && c->order)
        status = has_order(t, (c->order - 1) / 2, &ordered, &error);
    if (status != TANSU_OK)
        return fail(t, status, &error);
    if (!ordered)
        return SQLITE_SCHEMA; /* a commit since then: SQLite prepares the statement again */
    int code = make_query(t, &c->query, plan, argc, argv);
    if (code != SQLITE_OK || c->query.nothing)
        return code;
    status = find(t, c, &error);
    if (status == TANSU_E_TOO_LARGE || status == TANSU_E_INVALID_QUERY) {
        c->query.conditions = 0; /* more than the engine takes: SQLite tests all documents */
        status = find(t, c, &error);
    }
    return status == TANSU_OK ? next(base) : fail(t, status, &error);
}

static int eof(sqlite3_vtab_cursor *base) {
    return ((cursor *)base)->end;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    const cursor *c = (const cursor *)base;
    const sql_columns *columns = &((const table *)base->pVtab)->columns;
    sql_element element;
    if ((unsigned)number == columns->count)
        sql_result_document(context, c->document);
    else if (sql_find(c->document, columns->items[number].keys, columns->items[number].depth,
                      &element))
        sql_result(context, &element);
    return SQLITE_OK;
}

/* row_id -- a hash of the `_id`, which is the same in each connection: SQLite recognises a row that it
 * has met within a statement by it, and programs such as Datasette make links of it. */
static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *result) {
    const cursor *c = (const cursor *)base;
    sql_element id = {0};
    if (!sql_find_key(c->document.data, c->document.size, "_id", &id))
        id = (sql_element){0};
    *result = (sqlite3_int64)sql_hash(((const table *)base->pVtab)->database->hash_key, id.type,
                                      id.value, id.size);
    return SQLITE_OK;
}

const sqlite3_module sql_module = {.iVersion = 1,
                                   .xCreate = create_table,
                                   .xConnect = connect_table,
                                   .xBestIndex = best_index,
                                   .xDisconnect = disconnect,
                                   .xDestroy = disconnect,
                                   .xOpen = open_cursor,
                                   .xClose = close_cursor,
                                   .xFilter = filter,
                                   .xNext = next,
                                   .xEof = eof,
                                   .xColumn = column_value,
                                   .xRowid = row_id};
