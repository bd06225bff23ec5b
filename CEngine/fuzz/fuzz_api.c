/*
 * fuzz_api.c -- calls of the public API in any order, with hostile BSON: wrong lengths, deep
 * nesting, duplicate keys, invalid UTF-8, embedded NULs. Each call returns a status; and whatever
 * was stored is valid, is found by its `_id`, and is counted as often as it is found.
 *
 * Each step takes a byte for the call, one for the transaction, and what the call needs.
 */
#include "generate.h"

#define MOST_STEPS 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The handles of one run. */
typedef struct session {
    tansu_db *db;
    tansu_txn *read, *write;
    tansu_cursor *cursor;
    tansu_txn *cursor_of; /* whose the cursor is */
    tansu_buffer result;
} session;

static const char *const names[] = {"c", "d", "", "$x", "a\x01", "\xff", "a name with spaces"};

/* name_of -- a collection's or index's name. */
static const char *name_of(fuzz_bytes *bytes) {
    unsigned i = fuzz_choose(bytes, 16);
    return i < 8 ? names[0] : names[i % (sizeof names / sizeof *names)];
}

/* document_of -- a hostile document, or one that was made. *made is to be destroyed. */
static tansu_document document_of(fuzz_bytes *bytes, bson_t *(*make)(fuzz_bytes *), bson_t **made) {
    *made = NULL;
    switch (fuzz_choose(bytes, 4)) {
    case 0: return (tansu_document){NULL, 0};
    case 1: return fuzz_take_document(bytes);
    default: *made = make(bytes); return fuzz_of(*made);
    }
}

/* any_document -- one to store. */
static bson_t *any_document(fuzz_bytes *bytes) {
    return fuzz_document(bytes, (int32_t)fuzz_choose(bytes, 12));
}

static bson_t *any_options(fuzz_bytes *bytes) {
    return fuzz_index_options(bytes, true);
}

/* reference_option -- one of some references between the collections, by paths that documents have.
 * */
static void reference_option(fuzz_bytes *bytes, bson_t *list, const char *key) {
    static const char *const paths[] = {"a", "b", "a.b", "c", "_id", "a.0"};
    static const char *const rules[] = {"cascade", "nullify", "deny", "ignore", "cascade"};
    /* The macros of libbson use their arguments twice. */
    const char *path = paths[fuzz_choose(bytes, 6)], *to = names[fuzz_choose(bytes, 2)];
    const char *rule = rules[fuzz_choose(bytes, 5)];
    bson_t one;
    BSON_APPEND_DOCUMENT_BEGIN(list, key, &one);
    BSON_APPEND_UTF8(&one, "path", path);
    BSON_APPEND_UTF8(&one, "to", to);
    BSON_APPEND_UTF8(&one, "onDelete", rule);
    bson_append_document_end(list, &one);
}

/* collection_options -- references, timestamps, or others. */
static bson_t *collection_options(fuzz_bytes *bytes) {
    static const char *const keys[] = {"0", "1", "2"};
    bson_t *options = bson_new(), list;
    if (fuzz_choose(bytes, 3) != 0) {
        BSON_APPEND_ARRAY_BEGIN(options, "references", &list);
        for (unsigned i = fuzz_choose(bytes, 4); i > 0; i--)
            reference_option(bytes, &list, keys[i - 1]);
        bson_append_array_end(options, &list);
    }
    if (fuzz_choose(bytes, 3) == 0)
        BSON_APPEND_BOOL(options, "timestamps", fuzz_choose(bytes, 2) != 0);
    const char *compression = fuzz_choose(bytes, 2) != 0 ? "lz4" : "none";
    if (fuzz_choose(bytes, 6) == 0)
        BSON_APPEND_UTF8(options, "compression", compression);
    return options;
}

/* end_cursor -- before its transaction ends. */
static void end_cursor(session *s, const tansu_txn *of, bool any) {
    if (s->cursor != NULL && (any || s->cursor_of == of)) {
        tansu_cursor_close(s->cursor);
        s->cursor = NULL;
    }
}

/* end_transaction -- commits or aborts one of the two. */
static void end_transaction(session *s, tansu_txn **txn, bool commit) {
    if (*txn == NULL)
        return;
    end_cursor(s, *txn, false);
    if (commit)
        tansu_txn_commit(*txn, NULL, NULL);
    else
        tansu_txn_abort(*txn);
    *txn = NULL;
}

/* transaction_step -- begins or ends one. */
static void transaction_step(session *s, fuzz_bytes *bytes) {
    switch (fuzz_choose(bytes, 5)) {
    case 0:
        if (s->write == NULL)
            tansu_txn_begin(s->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &s->write, NULL);
        break;
    case 1:
        if (s->read == NULL)
            tansu_txn_begin(s->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &s->read, NULL);
        break;
    case 2: end_transaction(s, &s->write, true); break;
    case 3: end_transaction(s, &s->write, false); break;
    default: end_transaction(s, &s->read, false);
    }
}

/* cursor_step -- opens, moves or closes the cursor. */
static void cursor_step(session *s, fuzz_bytes *bytes, tansu_txn *txn) {
    bson_t *made_query, *made_hints;
    if (s->cursor == NULL) {
        tansu_document query = document_of(bytes, fuzz_query, &made_query);
        tansu_document hints = document_of(bytes, fuzz_hints, &made_hints);
        if (tansu_find(s->db, txn, name_of(bytes), query, hints, &s->cursor, NULL) != TANSU_OK)
            s->cursor = NULL;
        s->cursor_of = txn;
        bson_destroy(made_query);
        bson_destroy(made_hints);
        return;
    }
    tansu_document document;
    unsigned steps = fuzz_choose(bytes, 6);
    for (unsigned i = 0; i < steps; i++)
        if (tansu_cursor_next(s->cursor, &document, NULL) == TANSU_OK)
            fuzz_require(tansu_bson_to_json(document, 1, &s->result, NULL) == TANSU_OK,
                         "a found document is no JSON");
    if (steps == 0)
        end_cursor(s, NULL, true);
}

/* write_step -- one call that changes something. */
static void write_step(session *s, fuzz_bytes *bytes, tansu_txn *txn, unsigned call) {
    const char *name = name_of(bytes);
    bson_t *made_a, *made_b, *made_c;
    tansu_document a = {NULL, 0}, b = a, c = a;
    made_a = made_b = made_c = NULL;
    switch (call) {
    case 0: {
        tansu_document documents[2];
        documents[0] = document_of(bytes, any_document, &made_a);
        documents[1] = document_of(bytes, any_document, &made_b);
        tansu_save(s->db, txn, name, documents, 1 + fuzz_choose(bytes, 2),
                   (tansu_save_mode)fuzz_choose(bytes, 5), &s->result, NULL);
        break;
    }
    case 1:
        a = document_of(bytes, fuzz_query, &made_a);
        b = document_of(bytes, fuzz_update, &made_b);
        c = document_of(bytes, fuzz_hints, &made_c);
        tansu_update(s->db, txn, name, a, b, c, &s->result, NULL);
        break;
    case 2:
        a = document_of(bytes, fuzz_query, &made_a);
        b = document_of(bytes, fuzz_update, &made_b);
        tansu_find_and_modify(s->db, txn, name, a, b, TANSU_NO_DOCUMENT,
                              (tansu_modify_mode)fuzz_choose(bytes, 4), &s->result, NULL);
        break;
    case 3:
        a = document_of(bytes, fuzz_query, &made_a);
        tansu_remove(s->db, txn, name, a, TANSU_NO_DOCUMENT, NULL, NULL);
        break;
    case 4:
        a = document_of(bytes, any_document, &made_a);
        tansu_remove_id(s->db, txn, name, a, NULL, NULL);
        break;
    case 5:
        a = document_of(bytes, fuzz_index_keys, &made_a);
        b = document_of(bytes, any_options, &made_b);
        tansu_index_create(s->db, txn, name, name_of(bytes), a, b, NULL, NULL, NULL);
        break;
    case 6: tansu_index_drop(s->db, txn, name, name_of(bytes), NULL); break;
    case 7:
        a = document_of(bytes, collection_options, &made_a);
        tansu_collection_ensure(s->db, txn, name, a, NULL);
        break;
    case 8:
        tansu_collection_drop(s->db, txn, name, NULL);
        made_a = BCON_NEW("repair", BCON_BOOL(true));
        tansu_dangling_references(s->db, txn, fuzz_of(made_a), &s->result, NULL);
        break;
    default: tansu_collection_rename(s->db, txn, name, name_of(bytes), NULL);
    }
    bson_destroy(made_a);
    bson_destroy(made_b);
    bson_destroy(made_c);
}

/* read_step -- one call that only asks. */
static void read_step(session *s, fuzz_bytes *bytes, tansu_txn *txn, unsigned call) {
    const char *name = name_of(bytes);
    bson_t *made_a, *made_b;
    tansu_document a = document_of(bytes, fuzz_query, &made_a);
    tansu_document b = document_of(bytes, fuzz_hints, &made_b);
    int64_t count;
    switch (call) {
    case 0: {
        size_t next;
        tansu_get(s->db, txn, name, a, &s->result, NULL);
        tansu_get_many(s->db, txn, name, a, fuzz_choose(bytes, 3), &s->result, &next, NULL);
        break;
    }
    case 1:
        tansu_count(s->db, txn, name, a, b, &count, NULL);
        tansu_query_collections(s->db, txn, name, a, b, &s->result, NULL);
        break;
    case 2: tansu_distinct(s->db, txn, name, name_of(bytes), a, b, &s->result, NULL); break;
    case 3: tansu_aggregate(s->db, txn, name, TANSU_NO_DOCUMENT, a, b, &s->result, NULL); break;
    case 4: tansu_explain(s->db, txn, name, a, b, &s->result, NULL); break;
    case 5: tansu_collection_list(s->db, txn, &s->result, NULL); break;
    case 6: tansu_index_list(s->db, txn, name, &s->result, NULL); break;
    case 7:
        tansu_stats(s->db, &s->result, NULL);
        tansu_dangling_references(s->db, txn, a, &s->result, NULL);
        break;
    default: tansu_validate(a, NULL); tansu_bson_to_json(a, 0, &s->result, NULL);
    }
    bson_destroy(made_a);
    bson_destroy(made_b);
}

/* check_documents -- what a collection holds is valid and is found by its `_id`. */
static void check_documents(session *s, const char *name) {
    tansu_cursor *cursor;
    tansu_document document;
    int64_t found = 0, counted = 0;
    fuzz_require(tansu_find(s->db, NULL, name, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor,
                            NULL) == TANSU_OK,
                 "a collection cannot be read");
    while (tansu_cursor_next(cursor, &document, NULL) == TANSU_OK) {
        bson_t doc, id;
        bson_iter_t iter;
        fuzz_require(
            bson_init_static(&doc, document.data, document.size) &&
                bson_validate(&doc, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL),
            "a stored document is no BSON");
        fuzz_require(tansu_validate(document, NULL) == TANSU_OK,
                     "a stored document may not be stored");
        fuzz_require(bson_iter_init_find(&iter, &doc, "_id"), "a document has no _id");
        bson_init(&id);
        BSON_APPEND_VALUE(&id, "_id", bson_iter_value(&iter));
        fuzz_require(tansu_get(s->db, NULL, name, fuzz_of(&id), &s->result, NULL) == TANSU_OK &&
                         s->result.size == document.size &&
                         memcmp(s->result.data, document.data, document.size) == 0,
                     "a document is not found by its _id");
        bson_destroy(&id);
        found++;
    }
    tansu_cursor_close(cursor);
    fuzz_require(tansu_count(s->db, NULL, name, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &counted,
                             NULL) == TANSU_OK &&
                     counted == found,
                 "the count is wrong");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    session s = {.db = fuzz_open()};
    for (unsigned i = 0; i < MOST_STEPS && bytes.size != 0; i++) {
        unsigned call = fuzz_choose(&bytes, 24);
        tansu_txn *txn = NULL;
        switch (fuzz_choose(&bytes, 3)) {
        case 1: txn = s.read; break;
        case 2: txn = s.write; break;
        default: break;
        }
        /* A change of the write transaction ends what its cursor may look at. */
        if (call < 10)
            write_step(&s, &bytes, txn, call);
        else if (call < 19)
            read_step(&s, &bytes, txn, call - 10);
        else if (call < 21)
            transaction_step(&s, &bytes);
        else
            cursor_step(&s, &bytes, txn);
    }
    end_cursor(&s, NULL, true);
    end_transaction(&s, &s.write, true);
    end_transaction(&s, &s.read, false);
    check_documents(&s, "c");
    check_documents(&s, "d");
    tansu_buffer_free(&s.result);
    fuzz_close(s.db);
    return 0;
}
