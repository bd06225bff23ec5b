/*
 * engines.c -- the engines that were built in.
 */
#include "bench.h"

const struct engine *const engines[ENGINES] = {
    &tansu_engine,
    &sqlite_engine,
#ifdef BENCH_LMDB
    &lmdb_engine,
#endif
};
