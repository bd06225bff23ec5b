/*
 * sqlite/pushdown.h -- conditions of SQL as a query that finds at least their documents.
 *
 * SQLite checks every row again, so a query may find more than a condition allows, and must never
 * find less. It is a list of what is surely not wanted ($nor): a value of a kind that the planner
 * of Tansu has in one place of an index becomes a bound, and what the list does not name, such as a
 * kind that SQL does not have, is found.
 *
 * What makes SQL's comparisons differ from Tansu's: every text is greater than every number, and
 * every blob than every text; a bool is a number, and a date, an ObjectId, a document and an array
 * are texts; a text that looks like a number is compared as one when the other side is a column with
 * the affinity of numbers; and decimals are rounded.
 */
#ifndef TANSU_SQLITE_PUSHDOWN_H
#define TANSU_SQLITE_PUSHDOWN_H

#include "bson.h"
#include "columns.h"
#include "sqlite_api.h"

/* A condition's operator, as the text that xBestIndex passes to xFilter has it. */
enum {
    SQL_OP_EQ = '=',
    SQL_OP_IS = 'i',
    SQL_OP_IN = '@',
    SQL_OP_LOWER = '>', /* > and >= */
    SQL_OP_UPPER = '<', /* < and <= */
    SQL_OP_NULL = 'n',
    SQL_OP_LIKE = '%',
    SQL_OP_GLOB = '*'
};

/* A query that is being made. */
typedef struct sql_query {
    sql_writer writer;
    size_t start; /* of the query */
    size_t list;  /* of its $and */
    unsigned conditions;
    bool nothing; /* no row satisfies the conditions */
} sql_query;

/* sql_query_begin -- begins a query without conditions. */
void sql_query_begin(sql_query *query);

/* sql_query_add -- adds a condition on a column that has a path. `single`: no document of the
 * snapshot has an array at the path. */
void sql_query_add(sql_query *query, const sql_column *column, bool single, char op,
                   sqlite3_value *value);

/* sql_query_add_list -- adds the condition that a column has one of the values of a list, as
 * sqlite3_vtab_in_first() has it; nothing when there are more than `most`. Returns a code of SQLite. */
int sql_query_add_list(sql_query *query, const sql_column *column, size_t most,
                       sqlite3_value *list);

/* What has the same order in Tansu as in SQL, beside null and numbers: one of these kinds alone. */
typedef enum sql_order { SQL_ORDER_STRINGS, SQL_ORDER_DATES, SQL_ORDER_OIDS, SQL_ORDERS } sql_order;

/* sql_query_add_unordered -- adds the condition that a column has any other value. */
void sql_query_add_unordered(sql_query *query, const sql_column *column, sql_order order);

/* sql_query_end -- ends the query. sql_query_document -- it, in the writer's memory. */
void sql_query_end(sql_query *query);
tansu_document sql_query_document(const sql_query *query);

#endif
