/*
 * sqlite/table.h -- the module `tansu` of virtual tables, each of which shows a collection.
 */
#ifndef TANSU_SQLITE_TABLE_H
#define TANSU_SQLITE_TABLE_H

#include "sqlite_api.h"

/* sql_module -- its client data is a sql_registry. */
extern const sqlite3_module sql_module;

#endif
