/*
 * sqlite/sqlite_api.h -- SQLite's functions: those of the program that loads the extension, or with
 * SQLITE_CORE those that it is linked with.
 */
#ifndef TANSU_SQLITE_SQLITE_API_H
#define TANSU_SQLITE_SQLITE_API_H

#include <sqlite3ext.h>

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api; /* extension.c */
#endif

#endif
