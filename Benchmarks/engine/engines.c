/*
 * engines.c -- the engines that were built in.
 */
#include "bench.h"

const struct engine *const engines[ENGINES] = {
    &tansu_engine,
#ifdef BENCH_ENCRYPTION
    &encrypted_engine, &sqlcipher_engine, &sqlite3mc_engine, &chacha20_engine,
#else
    &sqlite_engine,
#ifdef BENCH_LMDB
    &lmdb_engine,
#endif
#endif
};
