#include "documents.h"

#include <stdio.h>
#include <string.h>

const char *const document_paths[DOCUMENT_INDEXES] = {"a", "n", "s"};

uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Du;
}

/* mix -- a number that follows from the id and n. */
static uint32_t mix(int32_t id, int32_t n) {
    uint64_t z = ((uint64_t)(uint32_t)id << 32 | (uint32_t)n) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)(z >> 32);
}

static int32_t value_of(int32_t id, int32_t n) {
    return (int32_t)(mix(id, n) % 1000000);
}

static void name_of(int32_t value, char name[32]) {
    snprintf(name, 32, "name %d", value % 5000);
}

void make_document(struct bson_writer *w, int32_t id, int32_t n) {
    char name[32], padding[512];
    int32_t value = value_of(id, n);
    size_t size = 100 + mix(id, 0) % 400; /* the same after an update */
    name_of(value, name);
    memset(padding, 'p', size);
    padding[size] = 0;
    bson_writer_begin(w);
    bson_writer_int32(w, "_id", id);
    bson_writer_int32(w, "a", value);
    bson_writer_int32(w, "n", n);
    bson_writer_text(w, "s", name);
    bson_writer_text(w, "pad", padding);
    bson_writer_close(w);
}

void make_update(struct bson_writer *w, int32_t id, int32_t n) {
    char name[32];
    int32_t value = value_of(id, n);
    name_of(value, name);
    bson_writer_begin(w);
    bson_writer_open_document(w, "$set");
    bson_writer_int32(w, "a", value);
    bson_writer_text(w, "s", name);
    bson_writer_close(w);
    bson_writer_open_document(w, "$inc");
    bson_writer_int32(w, "n", 1);
    bson_writer_close(w);
    bson_writer_close(w);
}

void make_id(struct bson_writer *w, int32_t id) {
    bson_writer_begin(w);
    bson_writer_int32(w, "_id", id);
    bson_writer_close(w);
}

/* The first three elements are int32 with known keys, so that they lie where they lie. */
#define ID_AT (4 + 1 + 4)
#define N_AT (ID_AT + 4 + 1 + 2 + 4 + 1 + 2)

int document_check(const void *data, size_t size, int32_t *id, int32_t *n) {
    struct bson_writer expected;
    if (size < N_AT + 4)
        return 0;
    memcpy(id, (const uint8_t *)data + ID_AT, sizeof *id);
    memcpy(n, (const uint8_t *)data + N_AT, sizeof *n);
    make_document(&expected, *id, *n);
    return size == expected.size && memcmp(data, expected.data, size) == 0;
}

tansu_status create_indexes(tansu_db *db, int count, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (int i = 0; i < count && status == TANSU_OK; i++) {
        struct bson_writer keys;
        bson_writer_begin(&keys);
        bson_writer_int32(&keys, document_paths[i], 1);
        bson_writer_close(&keys);
        status = tansu_index_create(db, NULL, COLLECTION, document_paths[i],
                                    (tansu_document){keys.data, keys.size}, TANSU_NO_DOCUMENT, NULL,
                                    NULL, error);
    }
    return status;
}

tansu_status count_by_index(tansu_db *db, tansu_txn *txn, const char *path, int64_t *count,
                            tansu_error *error) {
    struct bson_writer query, hints;
    bson_writer_begin(&query);
    bson_writer_open_document(&query, path);
    if (strcmp(path, "s") == 0)
        bson_writer_text(&query, "$gte", "");
    else
        bson_writer_int32(&query, "$gte", 0);
    bson_writer_close(&query);
    bson_writer_close(&query);
    bson_writer_begin(&hints);
    bson_writer_text(&hints, "$index", path);
    bson_writer_close(&hints);
    return tansu_count(db, txn, COLLECTION, (tansu_document){query.data, query.size},
                       (tansu_document){hints.data, hints.size}, count, error);
}

int scan_totals(tansu_db *db, tansu_txn *txn, struct totals *c,
                void (*seen)(void *context, int32_t id, int32_t n), void *context) {
    tansu_cursor *cursor = NULL;
    tansu_document d;
    tansu_error error = {0};
    int wrong = 0;
    *c = (struct totals){0, 0};
    tansu_status status =
        tansu_find(db, txn, COLLECTION, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor, &error);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &d, &error)) == TANSU_OK) {
        int32_t id = -1, n = -1;
        if (!document_check(d.data, d.size, &id, &n)) {
            fprintf(stderr, "document %d has other bytes than any that was saved\n", id);
            wrong = -1;
            continue;
        }
        c->documents++;
        c->changes += n;
        if (seen != NULL)
            seen(context, id, n);
    }
    tansu_cursor_close(cursor);
    if (status == TANSU_DONE)
        return wrong;
    fprintf(stderr, "reading everything: %s: %s\n", tansu_status_name(status), error.message);
    return -1;
}

tansu_status insert_documents(tansu_db *db, uint64_t count, tansu_error *error) {
    tansu_txn *txn = NULL;
    tansu_status status = TANSU_OK;
    for (uint64_t i = 0; status == TANSU_OK && i < count; i++) {
        struct bson_writer w;
        make_document(&w, (int32_t)i, 0);
        tansu_document d = {w.data, w.size};
        if (txn == NULL)
            status = tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, error);
        if (status == TANSU_OK)
            status = tansu_save(db, txn, COLLECTION, &d, 1, TANSU_INSERT, NULL, error);
        if (status == TANSU_OK && (i % 1000 == 999 || i + 1 == count)) {
            status = tansu_txn_commit(txn, NULL, error);
            txn = NULL;
        }
    }
    tansu_txn_abort(txn);
    return status;
}
