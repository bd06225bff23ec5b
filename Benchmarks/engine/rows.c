#include "rows.h"

#include <string.h>

/* Rows that only read come first, so that they all see the database as it was loaded. */
static const struct row rows[] = {
#ifdef BENCH_ENCRYPTION
    {"commit-full", "durable commit, one document", "us", 1.05, false, DURABILITY_FULL, FLOOR_NONE,
     row_commit},
    {"commit-process", "commit that survives kill -9", "us", 0, false, DURABILITY_PROCESS,
     FLOOR_NONE, row_commit},
    {"bulk-0", "bulk insert, one transaction, 0 indexes", "ms", 1.3, false, 0, FLOOR_NONE,
     row_bulk},
    {"bulk-2", "bulk insert, one transaction, 2 indexes", "ms", 1.3, false, 2, FLOOR_NONE,
     row_bulk},
    {"get", "get by id", "us", 1.1, false, 0, FLOOR_NONE, row_get},
    {"equal-10", "indexed equality, 10 documents", "us", 1.1, false, QUERY_NAME, FLOOR_NONE,
     row_find},
    {"equal-city", "indexed equality, 1/80 of all", "us", 1.1, false, QUERY_CITY, FLOOR_NONE,
     row_find},
    {"scan", "scan, 1 % match", "ms", 1.5, false, QUERY_ZIP, FLOOR_NONE, row_find},
    {"get-cold", "get by id, cache of 8 MiB", "us", 0, false, 8, FLOOR_NONE, row_get_cold},
    {"reopen", "reopen clean, and a get", "us", 0, false, 0, FLOOR_NONE, row_reopen},
    {"size", "files, disk blocks", "MB", 0, true, 0, FLOOR_NONE, row_size},
};
#else
    {"commit-full", "durable commit, one document", "us", 1.5, false, DURABILITY_FULL, FLOOR_SYNCED,
     row_commit},
    {"commit-process", "commit that survives kill -9", "us", 30, false, DURABILITY_PROCESS,
     FLOOR_WRITTEN, row_commit},
    {"bulk-0", "bulk insert, one transaction, 0 indexes", "ms", 4, false, 0, FLOOR_BULK, row_bulk},
    {"bulk-2", "bulk insert, one transaction, 2 indexes", "ms", 4, false, 2, FLOOR_BULK, row_bulk},
    {"bulk-2-close", "the same and a clean close", "ms", 0, false, 2, FLOOR_BULK, row_bulk_close},
    {"get", "get by id", "us", 4, false, 0, FLOOR_PROBE, row_get},
    {"scan", "scan, 1 % match", "ms", 10, false, QUERY_ZIP, FLOOR_READ, row_find},
    {"equal-10", "indexed equality, 10 documents", "us", 4, false, QUERY_NAME, FLOOR_NAME,
     row_find},
    {"equal-city", "indexed equality, 1/80 of all", "us", 4, false, QUERY_CITY, FLOOR_CITY,
     row_find},
    {"range", "indexed range, 5 % of all", "ms", 8, false, QUERY_AGE, FLOOR_AGES, row_find},
    {"count-city", "count by index, 1/80 of all", "us", 100, false, QUERY_CITY, FLOOR_NONE,
     row_count},
    {"count-range", "count by index, half of all", "us", 100, false, QUERY_AGE, FLOOR_NONE,
     row_count},
    {"subquery", "names of a subquery, about 1000", "us", 0, false, QUERY_NAMESAKES, FLOOR_NONE,
     row_find},
    {"top-10", "top 10 of a full sort", "ms", 5, false, QUERY_TOP_EMAIL, FLOOR_READ, row_find},
    {"index", "build an index", "ms", 3.5, false, FIELD_NAME, FLOOR_READ, row_index},
    {"reopen", "reopen clean, and a get", "us", 0, false, 0, FLOOR_NONE, row_reopen},
    {"reopen-killed", "reopen after kill -9, and a count", "ms", 0, false, 0, FLOOR_TAIL,
     row_reopen_killed},
    {"update", "update by id, one commit each", "us", 4.5, false, 0, FLOOR_WRITTEN, row_update},
    {"update-batch", "update by id, one transaction", "us", 4.5, false, 1, FLOOR_WRITTEN,
     row_update},
    {"delete", "remove by id, one commit each", "us", 0, false, 0, FLOOR_NONE, row_remove},
    {"delete-batch", "remove by id, one transaction", "us", 0, false, 1, FLOOR_NONE, row_remove},
    {"size", "files, disk blocks", "MB", 0, true, 0, FLOOR_SIZE, row_size},
    {"size-apparent", "files, sum of lengths", "MB", 0, true, 1, FLOOR_SIZE, row_size},
    {"memory", "peak memory of a process", "MB", 0, true, 0, FLOOR_NONE, row_memory},
};
#endif

bool row_suits(const struct row *row, const struct engine *engine) {
    bool has_no_loop = row->run == row_find &&
                       (row->argument == QUERY_TOP_EMAIL || row->argument == QUERY_NAMESAKES);
    return strcmp(engine->key, "lmdb") != 0 || (!has_no_loop && row->run != row_memory);
}

/* rows_all -- all rows in the order in which they run. */
const struct row *rows_all(size_t *count) {
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
