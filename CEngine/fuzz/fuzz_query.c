/*
 * fuzz_query.c -- any query: nothing crashes, and an index does not change a result.
 *
 * The first byte selects how the others are read: as BSON documents one after the other, unchanged
 * (query, hints, keys and options of an index, then documents to store), or as choices that
 * generate the same. The query runs without the indexes, with them as the planner decides, and once
 * for each index with a hint that requires it.
 */
#include "generate.h"

#define INDEXES 2
#define MOST_DOCUMENTS 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[INDEXES] = {"first", "second"};

/* What one input asks. */
typedef struct question {
    tansu_document query;
    tansu_document hints;
    bool generated; /* of its parts none is hostile */
} question;

/* holds_text -- whether a document may have a key of that name. A plan ($explain) differs from run
 * to run, and a count ($onlycount) is one document. */
static bool holds_text(tansu_document document, const char *text) {
    return document.size != 0 && memmem(document.data, document.size, text, strlen(text)) != NULL;
}

/* ask -- the answer must be that without an index, unless one of the two ended at a bound; and an
 * index that would lose documents is refused when the hints demand it. */
static void ask(tansu_db *db, const question *q, const char *index, tansu_status expected,
                const tansu_buffer *answer) {
    tansu_buffer again = TANSU_BUFFER_INIT;
    tansu_status status = fuzz_find(db, NULL, q->query, q->hints, index, &again);
    if (q->generated && (index == NULL || status != TANSU_E_INVALID_QUERY))
        fuzz_require(status == expected, "an index changes the status of a query");
    if (status == TANSU_OK && expected == TANSU_OK && !holds_text(q->hints, "$explain"))
        fuzz_require(fuzz_same(&again, answer), "an index changes the answer of a query");
    tansu_buffer_free(&again);
}

/* count -- the number of documents that the query finds; its plan can be explained. */
static void count(tansu_db *db, const question *q, const tansu_buffer *answer) {
    int64_t counted = 0, found = 0;
    if (tansu_count(db, NULL, "c", q->query, q->hints, &counted, NULL) == TANSU_OK &&
        !holds_text(q->hints, "$explain") && !holds_text(q->hints, "$onlycount")) {
        for (size_t at = 0; at < answer->size; found++)
            at += answer->data[at] | (size_t)answer->data[at + 1] << 8 |
                  (size_t)answer->data[at + 2] << 16 | (size_t)answer->data[at + 3] << 24;
        fuzz_require(found == counted, "a count differs from the number of documents");
    }
    tansu_buffer plan = TANSU_BUFFER_INIT;
    if (tansu_explain(db, NULL, "c", q->query, q->hints, &plan, NULL) == TANSU_OK) {
        bson_t doc;
        fuzz_require(bson_init_static(&doc, plan.data, plan.size) &&
                         bson_validate(&doc, BSON_VALIDATE_NONE, NULL),
                     "a plan is no BSON");
    }
    tansu_buffer_free(&plan);
}

/* compare -- the query without indexes, and with them. */
static void compare(tansu_db *db, const question *q, const tansu_document *keys,
                    const tansu_document *options) {
    tansu_buffer answer = TANSU_BUFFER_INIT;
    bool made[INDEXES];
    tansu_status status = fuzz_find(db, NULL, q->query, q->hints, NULL, &answer);
    for (unsigned i = 0; i < INDEXES; i++)
        made[i] = tansu_index_create(db, NULL, "c", names[i], keys[i], options[i], NULL, NULL,
                                     NULL) == TANSU_OK;
    ask(db, q, NULL, status, &answer);
    for (unsigned i = 0; i < INDEXES; i++) {
        if (made[i] && q->generated)
            ask(db, q, names[i], status, &answer);
    }
    if (status == TANSU_OK)
        count(db, q, &answer);
    tansu_buffer_free(&answer);
}

/* as_it_comes -- BSON documents as they are. */
static void as_it_comes(tansu_db *db, fuzz_bytes *bytes) {
    question q = {.query = fuzz_take_document(bytes), .hints = fuzz_take_document(bytes)};
    tansu_document keys[INDEXES], options[INDEXES];
    for (unsigned i = 0; i < INDEXES; i++) {
        keys[i] = fuzz_take_document(bytes);
        options[i] = fuzz_take_document(bytes);
    }
    for (unsigned i = 0; i < MOST_DOCUMENTS && bytes->size != 0; i++)
        fuzz_save(db, fuzz_take_document(bytes));
    compare(db, &q, keys, options);
}

/* as_choices -- all documents made by choices. */
static void as_choices(tansu_db *db, fuzz_bytes *bytes) {
    bson_t *query = fuzz_query(bytes), *hints = fuzz_hints(bytes), *made[2 * INDEXES];
    question q = {.query = fuzz_of(query), .hints = fuzz_of(hints), .generated = true};
    tansu_document keys[INDEXES], options[INDEXES];
    for (unsigned i = 0; i < INDEXES; i++) {
        keys[i] = fuzz_of(made[2 * i] = fuzz_index_keys(bytes));
        options[i] = fuzz_of(made[2 * i + 1] = fuzz_index_options(bytes, true));
    }
    for (int32_t id = 0; id < MOST_DOCUMENTS && (bytes->size != 0 || id < 2); id++) {
        bson_t *doc = fuzz_document(bytes, id);
        fuzz_save(db, fuzz_of(doc));
        bson_destroy(doc);
    }
    compare(db, &q, keys, options);
    for (unsigned i = 0; i < 2 * INDEXES; i++)
        bson_destroy(made[i]);
    bson_destroy(query);
    bson_destroy(hints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    tansu_db *db = fuzz_open();
    (fuzz_choose(&bytes, 2) != 0 ? as_it_comes : as_choices)(db, &bytes);
    fuzz_close(db);
    return 0;
}
