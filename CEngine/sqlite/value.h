/*
 * sqlite/value.h -- the values of documents as values of SQL.
 */
#ifndef TANSU_SQLITE_VALUE_H
#define TANSU_SQLITE_VALUE_H

#include "bson.h"
#include "sqlite_api.h"

#define SQL_DATE_MIN (-62167219200000) /* 0000-01-01T00:00:00.000Z */
#define SQL_DATE_MAX 253402300799999   /* 9999-12-31T23:59:59.999Z */

/* sql_result -- makes an element the result of a function or a column:
 *
 *   null, undefined, NaN         NULL
 *   int32, int64, bool           INTEGER
 *   double                       REAL
 *   decimal128                   INTEGER if it is a whole one, else the nearest REAL: as text it
 *                                would be greater than every number
 *   string, symbol               TEXT
 *   date of the years 0 to 9999  TEXT, such as 2026-11-28T09:30:00.000Z, in the order of time
 *   ObjectId                     TEXT of 24 hexadecimal digits
 *   binary                       BLOB
 *   document, array              TEXT, JSON
 *   all else                     TEXT, JSON such as {"$timestamp": ...}
 */
void sql_result(sqlite3_context *context, const sql_element *element);

/* sql_result_document -- makes a whole document the result, as JSON. */
void sql_result_document(sqlite3_context *context, tansu_document document);

/* sql_days -- days from 1970-01-01 to a date, which may be in any year. */
int64_t sql_days(int64_t year, unsigned month, unsigned day);

#endif
