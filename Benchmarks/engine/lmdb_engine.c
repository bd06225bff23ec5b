/*
 * lmdb_engine.c -- LMDB as a hand-written document store: one B+ tree from id to BSON, and for each
 * index one from key to id with sorted duplicates (MDB_DUPSORT). Queries, filters and the upkeep of
 * indexes are code of the application, as LMDB has none: this file is the least of it.
 */
#ifdef BENCH_LMDB
#include "bench.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Address space only: the file grows with what is written. */
#define MAP_SIZE ((size_t)8 << 30)

static const char *const index_names[FIELD_COUNT] = {"name", "city", "age"};

struct lmdb_store {
    struct store store;
    MDB_env *env;
    MDB_txn *writer; /* NULL: each write is a commit of its own */
    MDB_txn *reader; /* reset between reads, as LMDB recommends */
    MDB_dbi documents;
    MDB_dbi indexes[FIELD_COUNT];
    bool indexed[FIELD_COUNT];
};

/* lmdb_check -- returns 0 for MDB_SUCCESS, or -1 and keeps the error's text. */
static int lmdb_check(struct lmdb_store *self, int code) {
    if (code == MDB_SUCCESS)
        return 0;
    snprintf(self->store.error, BENCH_ERROR_SIZE, "LMDB: %s", mdb_strerror(code));
    return -1;
}

/* ---- Fields of a document ---- */

/* element_size -- the bytes of an element's value, of the types that occur here. */
static size_t element_size(uint8_t type, const uint8_t *value) {
    int32_t size;
    memcpy(&size, value, sizeof size);
    switch (type) {
    case 0x02: return 4 + (size_t)size; /* text */
    case 0x03:
    case 0x04: return (size_t)size; /* document, array */
    case 0x10: return 4;            /* int32 */
    default: return 8;              /* int64, double, date */
    }
}

/* find_value -- the value of a field of a document, or NULL. */
static const uint8_t *find_value(const uint8_t *document, const char *name) {
    const uint8_t *at = document + 4;
    while (*at != 0) {
        const char *key = (const char *)at + 1;
        const uint8_t *value = at + 1 + strlen(key) + 1;
        if (strcmp(key, name) == 0)
            return value;
        at = value + element_size(*at, value);
    }
    return NULL;
}

/* find_address -- the value of a field of the document `address`, or NULL. */
static const uint8_t *find_address(const uint8_t *document, const char *name) {
    const uint8_t *address = find_value(document, "address");
    return address == NULL ? NULL : find_value(address, name);
}

/* text_key -- a text value as a key: its bytes without the NUL. */
static MDB_val text_key(const uint8_t *value) {
    int32_t size = 1;
    if (value != NULL)
        memcpy(&size, value, sizeof size);
    return (MDB_val){(size_t)size - 1, value == NULL ? (void *)"" : (void *)(value + 4)};
}

/* field_key -- the key of a document in an index; `age` holds the number of that field. */
static MDB_val field_key(const uint8_t *document, enum field field, unsigned *age) {
    if (field == FIELD_NAME)
        return text_key(find_value(document, "name"));
    if (field == FIELD_CITY)
        return text_key(find_address(document, "city"));
    const uint8_t *value = find_value(document, "age");
    *age = 0;
    if (value != NULL)
        memcpy(age, value, sizeof *age);
    return (MDB_val){sizeof *age, age};
}

/* ---- Opening and transactions ---- */

/* open_index -- opens, or creates, the tree of an index. MDB_NOTFOUND when there is none. */
static int open_index(struct lmdb_store *self, MDB_txn *txn, enum field field, unsigned create) {
    unsigned flags = MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP | create;
    if (field == FIELD_AGE)
        flags |= MDB_INTEGERKEY;
    int code = mdb_dbi_open(txn, index_names[field], flags, &self->indexes[field]);
    if (code == MDB_SUCCESS)
        self->indexed[field] = true;
    return code;
}

/* open_trees -- opens the trees that there are, and creates that of the documents. */
static int open_trees(struct lmdb_store *self) {
    MDB_txn *txn;
    int code = mdb_txn_begin(self->env, NULL, MDB_RDONLY, &txn);
    if (code != MDB_SUCCESS)
        return lmdb_check(self, code);
    code = mdb_dbi_open(txn, "documents", MDB_INTEGERKEY, &self->documents);
    if (code == MDB_NOTFOUND) {
        mdb_txn_abort(txn);
        code = mdb_txn_begin(self->env, NULL, 0, &txn);
        if (code != MDB_SUCCESS)
            return lmdb_check(self, code);
        code = mdb_dbi_open(txn, "documents", MDB_INTEGERKEY | MDB_CREATE, &self->documents);
    }
    for (int field = 0; code == MDB_SUCCESS && field < FIELD_COUNT; field++) {
        code = open_index(self, txn, (enum field)field, 0);
        if (code == MDB_NOTFOUND)
            code = MDB_SUCCESS;
    }
    if (code == MDB_SUCCESS) /* also of a read transaction: it keeps the handles open */
        return lmdb_check(self, mdb_txn_commit(txn));
    mdb_txn_abort(txn);
    return lmdb_check(self, code);
}

static int lmdb_open(const char *folder, const struct settings *settings, struct store **store,
                     char *error) {
    struct lmdb_store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, BENCH_ERROR_SIZE, "LMDB: out of memory");
        return -1;
    }
    self->store.engine = &lmdb_engine;
    /* Without a sync the kernel keeps the pages when the process dies. */
    unsigned flags = settings->durability == DURABILITY_FULL ? 0 : MDB_NOSYNC;
    if (lmdb_check(self, mdb_env_create(&self->env)) == 0 &&
        lmdb_check(self, mdb_env_set_mapsize(self->env, MAP_SIZE)) == 0 &&
        lmdb_check(self, mdb_env_set_maxdbs(self->env, 1 + FIELD_COUNT)) == 0 &&
        lmdb_check(self, mdb_env_open(self->env, folder, flags, 0600)) == 0 &&
        open_trees(self) == 0 &&
        lmdb_check(self, mdb_txn_begin(self->env, NULL, MDB_RDONLY, &self->reader)) == 0) {
        mdb_txn_reset(self->reader);
        *store = &self->store;
        return 0;
    }
    snprintf(error, BENCH_ERROR_SIZE, "%s", self->store.error);
    if (self->env != NULL)
        mdb_env_close(self->env);
    free(self);
    return -1;
}

/* lmdb_quiesce -- syncs what MDB_NOSYNC left to the system. */
static int lmdb_quiesce(struct store *store) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    return lmdb_check(self, mdb_env_sync(self->env, 1));
}

static int lmdb_close(struct store *store, char *error) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    if (self->writer != NULL)
        mdb_txn_abort(self->writer);
    int result = lmdb_quiesce(store);
    if (result != 0)
        snprintf(error, BENCH_ERROR_SIZE, "%s", self->store.error);
    mdb_txn_abort(self->reader);
    mdb_env_close(self->env);
    free(self);
    return result;
}

static int lmdb_begin(struct store *store) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    return lmdb_check(self, mdb_txn_begin(self->env, NULL, 0, &self->writer));
}

static int lmdb_commit(struct store *store) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    MDB_txn *txn = self->writer;
    self->writer = NULL;
    return lmdb_check(self, mdb_txn_commit(txn));
}

/* ---- Writing ---- */

/* A change of documents within a transaction; MDB_SUCCESS or an error. */
typedef int (*change)(struct lmdb_store *self, MDB_txn *txn, const void *argument);

/* run_change -- makes a change in the open transaction, or in one of its own. */
static int run_change(struct lmdb_store *self, change body, const void *argument) {
    MDB_txn *txn = self->writer;
    int code = txn != NULL ? MDB_SUCCESS : mdb_txn_begin(self->env, NULL, 0, &txn);
    if (code != MDB_SUCCESS)
        return lmdb_check(self, code);
    code = body(self, txn, argument);
    if (self->writer == NULL && code == MDB_SUCCESS)
        code = mdb_txn_commit(txn);
    else if (self->writer == NULL)
        mdb_txn_abort(txn);
    return lmdb_check(self, code);
}

/* change_entries -- adds a document to the indexes, or takes it out of them. */
static int change_entries(struct lmdb_store *self, MDB_txn *txn, size_t id, const uint8_t *bson,
                          bool adding) {
    MDB_val value = {sizeof id, &id};
    unsigned age;
    int code = MDB_SUCCESS;
    for (int field = 0; code == MDB_SUCCESS && field < FIELD_COUNT; field++) {
        if (!self->indexed[field])
            continue;
        MDB_val key = field_key(bson, (enum field)field, &age);
        code = adding ? mdb_put(txn, self->indexes[field], &key, &value, 0)
                      : mdb_del(txn, self->indexes[field], &key, &value);
    }
    return code;
}

static int insert_one(struct lmdb_store *self, MDB_txn *txn, const void *argument) {
    const struct document *document = argument;
    size_t id = (size_t)document->id;
    MDB_val key = {sizeof id, &id}, value = {document->bson_size, (void *)document->bson};
    /* Ascending ids are appended, which fills the pages. */
    int code = mdb_put(txn, self->documents, &key, &value, MDB_APPEND);
    if (code == MDB_KEYEXIST)
        code = mdb_put(txn, self->documents, &key, &value, MDB_NOOVERWRITE);
    return code != MDB_SUCCESS ? code : change_entries(self, txn, id, document->bson, true);
}

static int lmdb_insert(struct store *store, const struct document *documents, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (run_change((struct lmdb_store *)store, insert_one, &documents[i]) != 0)
            return -1;
    return 0;
}

static int remove_one(struct lmdb_store *self, MDB_txn *txn, const void *argument) {
    size_t id = *(const size_t *)argument;
    MDB_val key = {sizeof id, &id}, old;
    int code = mdb_get(txn, self->documents, &key, &old);
    if (code == MDB_SUCCESS)
        code = change_entries(self, txn, id, old.mv_data, false);
    return code != MDB_SUCCESS ? code : mdb_del(txn, self->documents, &key, NULL);
}

static int lmdb_remove(struct store *store, int64_t id) {
    size_t number = (size_t)id;
    return run_change((struct lmdb_store *)store, remove_one, &number);
}

/* replace_one -- only entries that differ are changed, as the other engines do. */
static int replace_one(struct lmdb_store *self, MDB_txn *txn, const void *argument) {
    const struct document *document = argument;
    size_t id = (size_t)document->id;
    MDB_val key = {sizeof id, &id}, old;
    MDB_val value = {document->bson_size, (void *)document->bson}, entry = key;
    int code = mdb_get(txn, self->documents, &key, &old);
    for (int field = 0; code == MDB_SUCCESS && field < FIELD_COUNT; field++) {
        unsigned ages[2];
        if (!self->indexed[field])
            continue;
        MDB_val before = field_key(old.mv_data, (enum field)field, &ages[0]);
        MDB_val after = field_key(document->bson, (enum field)field, &ages[1]);
        if (before.mv_size == after.mv_size &&
            memcmp(before.mv_data, after.mv_data, before.mv_size) == 0)
            continue;
        code = mdb_del(txn, self->indexes[field], &before, &entry);
        if (code == MDB_SUCCESS)
            code = mdb_put(txn, self->indexes[field], &after, &entry, 0);
        if (code == MDB_SUCCESS) /* a change may move what a get returned */
            code = mdb_get(txn, self->documents, &key, &old);
    }
    return code != MDB_SUCCESS ? code : mdb_put(txn, self->documents, &key, &value, 0);
}

static int lmdb_replace(struct store *store, const struct document *document) {
    return run_change((struct lmdb_store *)store, replace_one, document);
}

/* index_documents -- adds all documents to a new index. */
static int index_documents(struct lmdb_store *self, MDB_txn *txn, const void *argument) {
    enum field field = *(const enum field *)argument;
    MDB_cursor *cursor;
    MDB_val id, document;
    unsigned age;
    int code = open_index(self, txn, field, MDB_CREATE);
    if (code == MDB_SUCCESS)
        code = mdb_cursor_open(txn, self->documents, &cursor);
    if (code != MDB_SUCCESS)
        return code;
    while ((code = mdb_cursor_get(cursor, &id, &document, MDB_NEXT)) == MDB_SUCCESS) {
        MDB_val key = field_key(document.mv_data, field, &age);
        code = mdb_put(txn, self->indexes[field], &key, &id, 0);
        if (code != MDB_SUCCESS)
            break;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

static int lmdb_index_create(struct store *store, enum field field) {
    return run_change((struct lmdb_store *)store, index_documents, &field);
}

static int drop_index(struct lmdb_store *self, MDB_txn *txn, const void *argument) {
    enum field field = *(const enum field *)argument;
    self->indexed[field] = false;
    return mdb_drop(txn, self->indexes[field], 1);
}

static int lmdb_index_drop(struct store *store, enum field field) {
    return run_change((struct lmdb_store *)store, drop_index, &field);
}

/* ---- Reading ---- */

/* pour -- pours a document and its id into the sink. */
static void pour(struct sink *sink, const MDB_val *id, const MDB_val *document) {
    sink_take(sink, document->mv_data, document->mv_size);
    if (sink->identify) {
        int64_t number;
        memcpy(&number, id->mv_data, sizeof number);
        sink_identify(sink, number);
    }
}

/* lmdb_get -- one document by id; none is no error. */
static int lmdb_get(struct store *store, int64_t id, struct sink *sink) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    size_t number = (size_t)id;
    MDB_val key = {sizeof number, &number}, document;
    int code = mdb_txn_renew(self->reader);
    if (code == MDB_SUCCESS)
        code = mdb_get(self->reader, self->documents, &key, &document);
    if (code == MDB_SUCCESS)
        pour(sink, &key, &document);
    mdb_txn_reset(self->reader);
    return code == MDB_NOTFOUND ? 0 : lmdb_check(self, code);
}

/* scan -- all documents, or those of a zip code. */
static int scan(struct lmdb_store *self, const struct query *query, struct sink *sink) {
    MDB_cursor *cursor;
    MDB_val id, document;
    int code = mdb_cursor_open(self->reader, self->documents, &cursor);
    if (code != MDB_SUCCESS)
        return code;
    size_t length = query->text == NULL ? 0 : strlen(query->text);
    while ((code = mdb_cursor_get(cursor, &id, &document, MDB_NEXT)) == MDB_SUCCESS) {
        MDB_val zip = query->text == NULL ? (MDB_val){0, NULL}
                                          : text_key(find_address(document.mv_data, "zip"));
        if (zip.mv_size == length && (length == 0 || memcmp(zip.mv_data, query->text, length) == 0))
            pour(sink, &id, &document);
    }
    mdb_cursor_close(cursor);
    return code;
}

/* What an index scan does with what it finds. */
struct visit {
    struct sink *sink; /* NULL: counts only */
    int64_t count;
};

/* visit_key -- the documents of the key at the cursor, or their number, which LMDB stores. */
static int visit_key(struct lmdb_store *self, MDB_cursor *cursor, MDB_val *id,
                     struct visit *visit) {
    MDB_val key, document;
    int code = MDB_SUCCESS;
    if (visit->sink == NULL) {
        size_t number;
        code = mdb_cursor_count(cursor, &number);
        visit->count += (int64_t)number;
        return code;
    }
    while (code == MDB_SUCCESS) {
        code = mdb_get(self->reader, self->documents, id, &document);
        if (code != MDB_SUCCESS)
            return code;
        pour(visit->sink, id, &document);
        code = mdb_cursor_get(cursor, &key, id, MDB_NEXT_DUP);
    }
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

/* scan_index -- all keys from the lower bound of a query to its upper one. */
static int scan_index(struct lmdb_store *self, const struct query *query, struct visit *visit) {
    enum field field = query->kind == QUERY_NAME   ? FIELD_NAME
                       : query->kind == QUERY_CITY ? FIELD_CITY
                                                   : FIELD_AGE;
    unsigned low = (unsigned)query->low, age;
    MDB_cursor *cursor;
    MDB_val id, key = {sizeof low, &low};
    bool is_text = query->kind != QUERY_AGE;
    if (is_text)
        key = (MDB_val){strlen(query->text), (void *)query->text};
    int code = mdb_cursor_open(self->reader, self->indexes[field], &cursor);
    if (code != MDB_SUCCESS)
        return code;
    code = mdb_cursor_get(cursor, &key, &id, is_text ? MDB_SET_KEY : MDB_SET_RANGE);
    while (code == MDB_SUCCESS) {
        if (!is_text) {
            memcpy(&age, key.mv_data, sizeof age);
            if (age > (unsigned)query->high)
                break;
        }
        code = visit_key(self, cursor, &id, visit);
        if (code != MDB_SUCCESS || is_text)
            break;
        code = mdb_cursor_get(cursor, &key, &id, MDB_NEXT_NODUP);
    }
    mdb_cursor_close(cursor);
    return code;
}

static int lmdb_find(struct store *store, const struct query *query, struct sink *sink) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    struct visit visit = {.sink = sink};
    int code = mdb_txn_renew(self->reader);
    if (code == MDB_SUCCESS)
        code = query->kind == QUERY_ALL || query->kind == QUERY_ZIP
                   ? scan(self, query, sink)
                   : scan_index(self, query, &visit);
    mdb_txn_reset(self->reader);
    return code == MDB_NOTFOUND ? 0 : lmdb_check(self, code);
}

static int lmdb_count(struct store *store, const struct query *query, int64_t *count) {
    struct lmdb_store *self = (struct lmdb_store *)store;
    struct visit visit = {.sink = NULL};
    MDB_stat stat = {.ms_entries = 0};
    MDB_txn *own = self->reader;
    int code = self->writer != NULL ? MDB_BAD_TXN : mdb_txn_renew(own);
    if (code == MDB_SUCCESS)
        code = query->kind == QUERY_ALL ? mdb_stat(own, self->documents, &stat)
                                        : scan_index(self, query, &visit);
    mdb_txn_reset(own);
    *count = query->kind == QUERY_ALL ? (int64_t)stat.ms_entries : visit.count;
    return code == MDB_NOTFOUND ? 0 : lmdb_check(self, code);
}

/* lmdb_version_text -- "0.9.24". */
static const char *lmdb_version_text(void) {
    static char text[32];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

const struct engine lmdb_engine = {
    .name = "LMDB",
    .key = "lmdb",
    .version = lmdb_version_text,
    .open = lmdb_open,
    .close = lmdb_close,
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .insert = lmdb_insert,
    .replace = lmdb_replace,
    .remove = lmdb_remove,
    .get = lmdb_get,
    .find = lmdb_find,
    .count = lmdb_count,
    .index_create = lmdb_index_create,
    .index_drop = lmdb_index_drop,
    .quiesce = lmdb_quiesce,
};
#endif
