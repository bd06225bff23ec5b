/*
 * fuzz_update.c -- any update: nothing crashes; the result is the same with an index and without; a
 * failed update changes nothing; and it leaves valid documents, and indexes that agree with them.
 *
 * The first byte selects how the others are read: as BSON documents one after the other, unchanged
 * (query, update, hints, then documents to store), or as choices that generate the same.
 */
#include "generate.h"

#define MOST_DOCUMENTS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What one input asks. */
typedef struct request {
    tansu_document query;
    tansu_document update;
    tansu_document hints;
} request;

/* The result of an update. */
typedef struct outcome {
    tansu_status status;
    tansu_buffer counts;
    tansu_buffer documents;
} outcome;

/* all -- every document, found without an index or by the one that there is. */
static void all(tansu_db *db, tansu_txn *txn, const char *index, tansu_buffer *documents) {
    fuzz_require(fuzz_find(db, txn, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, NULL, documents) ==
                     TANSU_OK,
                 "documents can't be read");
    for (size_t at = 0; at < documents->size;) {
        uint32_t size = documents->data[at] | (uint32_t)documents->data[at + 1] << 8 |
                        (uint32_t)documents->data[at + 2] << 16 |
                        (uint32_t)documents->data[at + 3] << 24;
        fuzz_require(tansu_validate((tansu_document){documents->data + at, size}, NULL) == TANSU_OK,
                     "an update makes a document that may not be stored");
        at += size;
    }
    if (index == NULL)
        return;
    tansu_buffer sorted[2] = {TANSU_BUFFER_INIT, TANSU_BUFFER_INIT};
    bson_t *hints = BCON_NEW("$orderby", "{", "a", BCON_INT32(1), "}");
    bson_t *plain = BCON_NEW("$orderby", "{", "a", BCON_INT32(1), "}", "$index", BCON_BOOL(false));
    tansu_status by = fuzz_find(db, txn, TANSU_NO_DOCUMENT, fuzz_of(hints), index, &sorted[0]);
    tansu_status without = fuzz_find(db, txn, TANSU_NO_DOCUMENT, fuzz_of(plain), NULL, &sorted[1]);
    fuzz_require(by == TANSU_OK && without == TANSU_OK && fuzz_same(&sorted[0], &sorted[1]),
                 "after an update an index differs from the documents");
    bson_destroy(hints);
    bson_destroy(plain);
    tansu_buffer_free(&sorted[0]);
    tansu_buffer_free(&sorted[1]);
}

/* run -- updates in a transaction that is then dropped. */
static void run(tansu_db *db, const request *r, const char *index, const tansu_buffer *before,
                outcome *o) {
    tansu_txn *txn = NULL;
    fuzz_require(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL) ==
                     TANSU_OK,
                 "no transaction");
    o->status = tansu_update(db, txn, "c", r->query, r->update, r->hints, &o->counts, NULL);
    all(db, txn, index, &o->documents);
    if (o->status != TANSU_OK)
        fuzz_require(fuzz_same(before, &o->documents), "an update that failed changed something");
    tansu_txn_abort(txn);
}

/* comparable -- whether nothing in an answer is new in each run: a time, or an id. */
static bool comparable(const request *r, const outcome *o) {
    bson_t counts;
    bson_iter_t iter, ids;
    if (r->update.size != 0 && memmem(r->update.data, r->update.size, "$currentDate", 12) != NULL)
        return false;
    if (o->status != TANSU_OK || !bson_init_static(&counts, o->counts.data, o->counts.size))
        return true;
    fuzz_require(bson_iter_init_find(&iter, &counts, "upserted") && bson_iter_recurse(&iter, &ids),
                 "the counts of an update have no ids");
    return !bson_iter_next(&ids);
}

/* compare -- the update without an index, with one, and as a commit. */
static void compare(tansu_db *db, const request *r) {
    static const uint8_t keys[] = "\x0c\0\0\0\x10"
                                  "a\0\1\0\0\0";
    tansu_buffer before = TANSU_BUFFER_INIT;
    outcome plain = {0}, indexed = {0};
    all(db, NULL, NULL, &before);
    run(db, r, NULL, &before, &plain);
    if (tansu_index_create(db, NULL, "c", "by_a", (tansu_document){keys, sizeof keys},
                           TANSU_NO_DOCUMENT, NULL, NULL, NULL) == TANSU_OK) {
        run(db, r, "by_a", &before, &indexed);
        fuzz_require(plain.status == indexed.status, "an index changes the status of an update");
        if (comparable(r, &plain)) {
            fuzz_require(plain.status != TANSU_OK || fuzz_same(&plain.counts, &indexed.counts),
                         "an index changes the counts of an update");
            fuzz_require(fuzz_same(&plain.documents, &indexed.documents),
                         "an index changes what an update does");
        }
        tansu_status status =
            tansu_update(db, NULL, "c", r->query, r->update, r->hints, &indexed.counts, NULL);
        fuzz_require(status == plain.status, "a commit differs from a transaction");
        all(db, NULL, "by_a", &indexed.documents);
    }
    tansu_buffer_free(&before);
    tansu_buffer_free(&plain.counts);
    tansu_buffer_free(&plain.documents);
    tansu_buffer_free(&indexed.counts);
    tansu_buffer_free(&indexed.documents);
}

/* as_it_comes -- BSON documents as they are. */
static void as_it_comes(tansu_db *db, fuzz_bytes *bytes) {
    request r = {.query = fuzz_take_document(bytes),
                 .update = fuzz_take_document(bytes),
                 .hints = fuzz_take_document(bytes)};
    for (unsigned i = 0; i < MOST_DOCUMENTS && bytes->size != 0; i++)
        fuzz_save(db, fuzz_take_document(bytes));
    compare(db, &r);
}

/* append_filter -- sometimes the array filter that some updates need, and $upsert. */
static void append_update_hints(fuzz_bytes *bytes, bson_t *hints) {
    bson_t *filters = BCON_NEW("0", "{", "i", "{", "$gt", BCON_INT32(1), "}", "}");
    unsigned which = fuzz_choose(bytes, 8);
    if (which & 1)
        bson_append_array(hints, "$arrayFilters", -1, filters);
    if (which & 2)
        bson_append_bool(hints, "$upsert", -1, true);
    if (which & 4)
        bson_append_int32(hints, "$max", -1, (int32_t)fuzz_choose(bytes, 3));
    bson_destroy(filters);
}

/* as_choices -- all documents made by choices. */
static void as_choices(tansu_db *db, fuzz_bytes *bytes) {
    bson_t *query = fuzz_query(bytes), *update = fuzz_update(bytes), hints = BSON_INITIALIZER;
    append_update_hints(bytes, &hints);
    for (int32_t id = 0; id < MOST_DOCUMENTS && (bytes->size != 0 || id < 2); id++) {
        bson_t *doc = fuzz_document(bytes, id);
        fuzz_save(db, fuzz_of(doc));
        bson_destroy(doc);
    }
    request r = {fuzz_of(query), fuzz_of(update), fuzz_of(&hints)};
    compare(db, &r);
    bson_destroy(query);
    bson_destroy(update);
    bson_destroy(&hints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    tansu_db *db = fuzz_open();
    (fuzz_choose(&bytes, 2) != 0 ? as_it_comes : as_choices)(db, &bytes);
    fuzz_close(db);
    return 0;
}
