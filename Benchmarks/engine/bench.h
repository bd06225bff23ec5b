/*
 * bench.h -- what all parts of the benchmark share: documents, queries, the sink that reads every
 * result, and the interface that an engine under test offers, so that each row is written once and
 * run for all. May be included everywhere; includes nothing of either engine.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ERROR_SIZE 512
#define BENCH_PATH_SIZE 1024

/* One document in both forms, ready-made, so that no engine's time contains making it. */
struct document {
    int64_t id;
    const uint8_t *bson;
    size_t bson_size;
    const char *json;
    size_t json_size;
};

/* The fields that rows index. */
enum field { FIELD_NAME, FIELD_CITY, FIELD_AGE, FIELD_COUNT };

enum query_kind {
    QUERY_ALL,
    QUERY_NAME,      /* name = text */
    QUERY_CITY,      /* address.city = text */
    QUERY_ZIP,       /* address.zip = text, never indexed */
    QUERY_AGE,       /* low <= age <= high */
    QUERY_NAMESAKES, /* name of someone with address.city = text and low <= age <= high */
    QUERY_TOP_EMAIL, /* the first ten of all documents by email, never indexed */
    QUERY_KIND_COUNT
};

struct query {
    enum query_kind kind;
    const char *text;
    int32_t low;
    int32_t high;
};

/* Receives each document that an engine returns. Reading one byte of every cache line makes
 * an engine that returns pointers pay for its memory traffic like one that returns copies. */
struct sink {
    uint64_t documents;
    uint64_t bytes;
    uint64_t touched;
    bool identify;     /* also read the ids: only in passes that are not timed */
    uint64_t set;      /* of the ids, whatever their order */
    uint64_t sequence; /* of the ids, in their order */
};

static inline void sink_take(struct sink *sink, const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint64_t touched = 0;
    for (size_t i = 0; i < size; i += 64)
        touched += bytes[i];
    sink->touched += touched;
    sink->bytes += size;
    sink->documents++;
}

void sink_identify(struct sink *sink, int64_t id);

/* What a commit that returned survives. */
enum durability { DURABILITY_FULL, DURABILITY_PROCESS };

struct settings {
    enum durability durability;
    bool sqlite_exclusive; /* PRAGMA locking_mode=EXCLUSIVE; the other engine ignores it */
    bool follows;          /* reads while another opening writes, Tansu's only */
    uint64_t cache_bytes;  /* of blocks or pages; 0: as README.md says. LMDB has none */
};

/* An open database. Each engine's own struct begins with this one. */
struct store {
    const struct engine *engine;
    char error[BENCH_ERROR_SIZE];
};

/* An engine under test. Every function returns 0, or -1 with store->error filled in (open and
 * close: with the caller's buffer of BENCH_ERROR_SIZE filled in). */
struct engine {
    const char *name;
    const char *key; /* what its fields are called in the JSON */
    const char *(*version)(void);
    int (*open)(const char *folder, const struct settings *settings, struct store **store,
                char *error);
    int (*close)(struct store *store, char *error);
    int (*begin)(struct store *store);
    int (*commit)(struct store *store);
    int (*insert)(struct store *store, const struct document *documents, size_t count);
    int (*replace)(struct store *store, const struct document *document);
    int (*remove)(struct store *store, int64_t id);
    int (*get)(struct store *store, int64_t id, struct sink *sink);
    int (*find)(struct store *store, const struct query *query, struct sink *sink);
    int (*count)(struct store *store, const struct query *query, int64_t *count);
    int (*index_create)(struct store *store, enum field field);
    int (*index_drop)(struct store *store, enum field field);
    /* Finishes deferred work, so that it is not counted in the time of the other engine. */
    int (*quiesce)(struct store *store);
};

extern const struct engine sqlite_engine;
extern const struct engine tansu_engine;

/* The key of encrypted databases, of 32 bytes, which no engine derives from a passphrase. */
#define BENCH_KEY_HEX "8f14e45fceea167a5a36dedd4bea2543c9f0f895fb98ab9159f51fd0297e236d"

/* The engines that were built in: Tansu, SQLite and, where its library is installed, LMDB. A set of
 * them is a mask of these bits. */
#define TANSU_BIT 1u
#define SQLITE_BIT 2u
#define LMDB_BIT 4u
#ifdef BENCH_ENCRYPTION
/* Instead of them: Tansu without and with encryption, and SQLite's encrypting relatives. */
extern const struct engine encrypted_engine, sqlcipher_engine, sqlite3mc_engine, chacha20_engine;
#define ENGINES 5
#elif defined BENCH_LMDB
extern const struct engine lmdb_engine;
#define ENGINES 3
#else
#define ENGINES 2
#endif
extern const struct engine *const engines[ENGINES];

#endif
