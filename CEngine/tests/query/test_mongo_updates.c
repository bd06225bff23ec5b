/*
 * test_mongo_updates.c -- the updates, replacements and removals among the cases of MongoDB 4.4 in
 * tests/vectors/mongo have the answers that they have there, but for the differences listed here.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/model/query_model.h"
#include "support/repo_file.h"

#include <stdlib.h>
#include <string.h>

#define VECTORS "CEngine/tests/vectors/mongo/engine-cases.json"

/* A case that comes to something else here, on purpose. */
static const struct difference {
    const char *test;
    const char *reason;
    const char *documents; /* what the collection holds then; NULL: the update is refused */
} differences[] = {
    {"test_update_max.py::test_update_max_2",
     "rule 8: a bool stands above all numbers, so that true takes the place of 1 (the case cannot "
     "tell the two apart: to Python they are equal)",
     "{'a':true}"},
    {"test_update.py::test_update_with_dollar_prefixed_field_2",
     "keys that begin with $ are stored, as in MongoDB since its version 5",
     "{'a':1,'b':{'$ey':[5]}}"},
};

/* What is run at the moment. */
static const char *name;

/* difference_of -- the difference of the case at hand, or NULL. */
static const struct difference *difference_of(void) {
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        if (strcmp(differences[i].test, name) == 0)
            return &differences[i];
    }
    return NULL;
}

/* member -- a document or array by its key; false when there is none. */
static bool member(const bson_t *doc, const char *key, bson_t *result) {
    bson_iter_t iter;
    const uint8_t *data;
    uint32_t size;
    if (!bson_iter_init_find(&iter, doc, key))
        return false;
    if (BSON_ITER_HOLDS_ARRAY(&iter))
        bson_iter_array(&iter, &size, &data);
    else if (BSON_ITER_HOLDS_DOCUMENT(&iter))
        bson_iter_document(&iter, &size, &data);
    else
        return false;
    REQUIRE(bson_init_static(result, data, size));
    return true;
}

/* text -- a text by its key. */
static const char *text(const bson_t *doc, const char *key) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, key) ? bson_iter_utf8(&iter, NULL) : "";
}

/* without_id -- a copy without `_id`. */
static bson_t *without_id(const bson_t *doc) {
    bson_t *copy = bson_new();
    bson_copy_to_excluding_noinit(doc, copy, "_id", NULL);
    return copy;
}

/* same -- whether two documents are equal, as the query language compares values. */
static bool same(const bson_t *a, const bson_t *b) {
    bson_t left = BSON_INITIALIZER, right = BSON_INITIALIZER;
    bson_iter_t l, r;
    bson_append_document(&left, "d", 1, a);
    bson_append_document(&right, "d", 1, b);
    bool equal = bson_iter_init_find(&l, &left, "d") && bson_iter_init_find(&r, &right, "d") &&
                 model_compare(&l, &r) == 0;
    bson_destroy(&left);
    bson_destroy(&right);
    return equal;
}

/* same_but_time -- the same for documents whose field `a` is the time of the update. */
static bool same_but_time(const bson_t *a, const bson_t *b) {
    bson_iter_t l, r;
    return bson_iter_init_find(&l, a, "a") && bson_iter_init_find(&r, b, "a") &&
           bson_iter_type(&l) == bson_iter_type(&r) && bson_count_keys(a) == bson_count_keys(b);
}

/* check_documents -- the collection holds these documents, in their order. */
static void check_documents(tansu_db *db, const bson_t *expected) {
    tansu_cursor *cursor = call_cursor(db, NULL, "c", NULL, NULL);
    tansu_document document;
    bson_iter_t iter;
    bool more = bson_iter_init(&iter, expected);
    while (bson_iter_next(&iter)) {
        bson_t want, got;
        const uint8_t *data;
        uint32_t size;
        bson_iter_document(&iter, &size, &data);
        REQUIRE(bson_init_static(&want, data, size));
        more = more && tansu_cursor_next(cursor, &document, NULL) == TANSU_OK;
        if (!CHECK(more))
            break;
        REQUIRE(bson_init_static(&got, document.data, document.size));
        bson_t *plain_want = without_id(&want), *plain_got = without_id(&got);
        bool timed = strstr(name, "currentDate") != NULL;
        bool equal = timed ? same_but_time(plain_got, plain_want) : same(plain_got, plain_want);
        if (!CHECK(equal)) {
            char *w = bson_as_canonical_extended_json(plain_want, NULL);
            char *g = bson_as_canonical_extended_json(plain_got, NULL);
            check_note("%s\nshould be %s\nis        %s", name, w, g);
            bson_free(w);
            bson_free(g);
        }
        bson_destroy(plain_want);
        bson_destroy(plain_got);
    }
    CHECK_STATUS(TANSU_DONE, tansu_cursor_next(cursor, &document, NULL));
    tansu_cursor_close(cursor);
}

/* check_difference -- the collection holds what the list of differences says. */
static void check_difference(tansu_db *db, const struct difference *difference) {
    bson_t list = BSON_INITIALIZER;
    char *copy = bson_strdup(difference->documents);
    uint32_t count = 0;
    for (char *part = copy, *next; part != NULL; part = next) {
        next = strstr(part, "} {");
        if (next != NULL) {
            next[1] = '\0';
            next += 2;
        }
        bson_t *doc = bson_from_text(part);
        char key[12];
        const char *number;
        bson_uint32_to_string(count++, &number, key, sizeof key);
        bson_append_document(&list, number, -1, doc);
        bson_destroy(doc);
    }
    bson_free(copy);
    check_documents(db, &list);
    bson_destroy(&list);
}

/* run_update -- asks for what the case asks. */
static tansu_status run_update(tansu_db *db, const bson_t *one, const char *kind) {
    bson_t args, kw, first, second, hints = BSON_INITIALIZER, filters;
    bson_iter_t iter;
    REQUIRE(member(one, "args", &args));
    REQUIRE(member(one, "kw", &kw));
    REQUIRE(member(&args, "0", &first));
    bool has_second = member(&args, "1", &second);
    bool replaces = strcmp(kind, "replace") == 0;
    if (strcmp(kind, "delete") == 0) {
        int64_t removed = 0;
        tansu_status status = tansu_remove(db, NULL, "c", document_of(&first), TANSU_NO_DOCUMENT,
                                           &removed, &call_error);
        CHECK_INT(2, removed);
        return status;
    }
    if (bson_iter_init_find(&iter, &kw, "upsert"))
        bson_append_bool(&hints, "$upsert", -1, bson_iter_as_bool(&iter));
    if (member(&kw, "array_filters", &filters))
        bson_append_array(&hints, "$arrayFilters", -1, &filters);
    if (replaces)
        bson_append_int32(&hints, "$max", -1, 1);
    const bson_t *query = replaces ? &first : has_second ? &second : NULL;
    bson_t named = BSON_INITIALIZER;
    if (replaces)
        BSON_APPEND_DOCUMENT(&named, "$replace", &second);
    const bson_t *update = replaces ? &named : &first;
    tansu_status status = tansu_update(db, NULL, "c", document_of(query), document_of(update),
                                       document_of(&hints), NULL, &call_error);
    bson_destroy(&hints);
    bson_destroy(&named);
    return status;
}

/* run_case -- one case in a database of its own. */
static void run_case(const bson_t *one, const char *kind) {
    tansu_db *db = call_open(NULL);
    const struct difference *difference = difference_of();
    bson_t docs, result;
    bson_iter_t iter;
    REQUIRE(member(one, "docs", &docs) && bson_iter_init(&iter, &docs));
    while (bson_iter_next(&iter)) {
        const uint8_t *data;
        uint32_t size;
        bson_t doc;
        bson_iter_document(&iter, &size, &data);
        REQUIRE(bson_init_static(&doc, data, size));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_INSERT, &doc), &call_error);
    }
    tansu_status status = run_update(db, one, kind);
    bool refused =
        difference != NULL ? difference->documents == NULL : bson_has_field(one, "error");
    if (!CHECK((status != TANSU_OK) == refused))
        check_note("%s: %s (%s)", name, tansu_status_name(status),
                   status == TANSU_OK ? text(one, "error") : call_error.message);
    if (status != TANSU_OK)
        CHECK(status == TANSU_E_INVALID_QUERY || status == TANSU_E_INVALID_ID ||
              status == TANSU_E_INVALID_DOCUMENT);
    else if (difference != NULL)
        check_difference(db, difference);
    else if (member(one, "result", &result))
        check_documents(db, &result);
    call_close(db);
}

static void updates_are_as_mongodb_s(void) {
    size_t size;
    unsigned counts[3] = {0};
    static const char *const kinds[] = {"update", "replace", "delete"};
    char *json = repo_file_read(VECTORS, &size);
    REQUIRE(json != NULL);
    /* By the engine's reader: libbson's takes operators such as $type for kinds of values. */
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    bson_t all, cases;
    bson_iter_t iter;
    CHECK_OK(tansu_json_to_bson(json, size, &bytes, &call_error), &call_error);
    REQUIRE(bson_init_static(&all, bytes.data, bytes.size));
    REQUIRE(member(&all, "cases", &cases) && bson_iter_init(&iter, &cases));
    while (bson_iter_next(&iter)) {
        const uint8_t *data;
        uint32_t length;
        bson_t one;
        bson_iter_document(&iter, &length, &data);
        REQUIRE(bson_init_static(&one, data, length));
        name = text(&one, "test");
        for (unsigned i = 0; i < 3; i++) {
            if (strcmp(text(&one, "kind"), kinds[i]) != 0)
                continue;
            counts[i]++;
            run_case(&one, kinds[i]);
        }
    }
    CHECK_INT(97, counts[0]);
    CHECK_INT(2, counts[1]);
    CHECK_INT(1, counts[2]);
    tansu_buffer_free(&bytes);
    free(json);
}

int main(void) {
    RUN(updates_are_as_mongodb_s);
    return check_finish();
}
