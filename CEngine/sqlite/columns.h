/*
 * sqlite/columns.h -- the columns of a collection: fields of its validator, of a sample of its
 * documents and of its indexes.
 *
 * The first column is `_id`. A nested document becomes a column for each field below it, with a
 * dotted name; where its keys are many, as in a map, or it is deep, it is one column with JSON. So
 * is an array. The last column, which is hidden, is `document`.
 */
#ifndef TANSU_SQLITE_COLUMNS_H
#define TANSU_SQLITE_COLUMNS_H

#include "database.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sql_column {
    char *name; /* of the column: differs from all others, whatever the case */
    char *keys; /* the path: NUL-terminated keys in a row */
    unsigned depth;
    char *path; /* as queries write it; NULL where a query would see more than the column: the path
                   has a number, for example, which is also a position in an array */
} sql_column;

typedef struct sql_columns {
    sql_column *items; /* without `document` */
    unsigned count;
} sql_columns;

/* sql_columns_find -- finds the columns of a collection in a snapshot. Errors: those of reading, and
 * TANSU_E_MEMORY. */
tansu_status sql_columns_find(sql_columns *columns, sql_database *database, const char *collection,
                              tansu_error *error);
void sql_columns_free(sql_columns *columns);

/* sql_columns_declaration -- the CREATE TABLE that sqlite3_declare_vtab() gets; NULL when memory is
 * exhausted. For sqlite3_free(). */
char *sql_columns_declaration(const sql_columns *columns);

#endif
