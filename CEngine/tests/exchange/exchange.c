/*
 * exchange.c -- databases that one build of the engine makes and another one opens, as on another
 * processor or with another C library. `.ci/check-system exchange` runs it.
 *
 *     exchange make FOLDER     makes databases in a new folder: with compression and without, closed
 *                              and as a process leaves them that ends without closing
 *     exchange check FOLDER    compares their documents byte by byte, asks by each index, verifies,
 *                              writes on and compacts
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCUMENTS 3000
#define WRITTEN_ON 100 /* by check */

static const struct form {
    const char *name;
    bool compressed, closed;
} forms[] = {{"plain", false, true},
             {"plain-left", false, false},
             {"compressed", true, true},
             {"compressed-left", true, false}};
#define FORMS (sizeof forms / sizeof *forms)

/* ---- Documents ---- */

/* append_id -- ids of all kinds. */
static void append_id(bson_t *doc, int i) {
    char text[16];
    snprintf(text, sizeof text, "k%d", i);
    switch (i % 4) {
    case 0: BSON_APPEND_INT32(doc, "_id", i); break;
    case 1: BSON_APPEND_INT64(doc, "_id", (int64_t)i << 32); break;
    case 2: BSON_APPEND_DOUBLE(doc, "_id", i + 0.5); break;
    default: BSON_APPEND_UTF8(doc, "_id", text);
    }
}

/* make_document -- the document of a number. */
static void make_document(bson_t *doc, int i) {
    char text[120];
    bson_t below, list;
    bson_decimal128_t decimal;
    bson_init(doc);
    append_id(doc, i);
    BSON_APPEND_INT32(doc, "i", i);
    BSON_APPEND_INT32(doc, "n", i % 10);
    BSON_APPEND_DOUBLE(doc, "x", (i - DOCUMENTS / 2) * 0.25);
    snprintf(text, sizeof text, "%08x \xC3\xA9 %0*d", (unsigned)i * 2654435761u, i % 80, i);
    BSON_APPEND_UTF8(doc, "s", text);
    BSON_APPEND_BINARY(doc, "b", BSON_SUBTYPE_BINARY, (const uint8_t *)text, (uint32_t)i % 16);
    BSON_APPEND_DATE_TIME(doc, "t", (i - DOCUMENTS / 2) * (int64_t)86400000 * 365);
    snprintf(text, sizeof text, "-%d.%03dE+%d", i, i % 1000, i % 300);
    REQUIRE(bson_decimal128_from_string(text, &decimal));
    BSON_APPEND_DECIMAL128(doc, "d", &decimal);
    BSON_APPEND_DOCUMENT_BEGIN(doc, "o", &below);
    BSON_APPEND_ARRAY_BEGIN(&below, "list", &list);
    BSON_APPEND_INT32(&list, "0", i % 20);
    BSON_APPEND_INT64(&list, "1", (int64_t)(i % 20 + 1));
    bson_append_array_end(&below, &list);
    bson_append_document_end(doc, &below);
}

/* is_there -- whether the document of a number is in what make_database() leaves. */
static bool is_there(int i) {
    return i % 7 != 3;
}

/* save -- the documents from one number to another. */
static void save(tansu_db *db, int from, int to) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = from; i < to; i++) {
        bson_t doc;
        make_document(&doc, i);
        CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* ---- make ---- */

/* make_database -- compacted parts, index files, and commits after them. */
static void make_database(const char *path, const struct form *form) {
    tansu_db *db = call_open(path);
    CHECK_OK(call_ensure(db, NULL, "c", form->compressed ? "{'compression': 'lz4'}" : "{}"),
             &call_error);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1, 'x': -1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "s", "{'s': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "d", "{'d': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "list", "{'o.list': -1}", NULL), &call_error);
    save(db, 0, DOCUMENTS / 2);
    CHECK_OK(call_remove(db, NULL, "c", "{'i': {'$mod': [7, 3]}}", NULL), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    for (int i = DOCUMENTS / 2; i < DOCUMENTS; i += 50) {
        save(db, i, i + 50);
        if (i == DOCUMENTS / 4 * 3)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    CHECK_OK(call_remove(db, NULL, "c", "{'i': {'$mod': [7, 3]}}", NULL), &call_error);
    if (form->closed)
        call_close(db);
}

static const char *folder;

static void make(void) {
    REQUIRE(mkdir(folder, 0700) == 0);
    for (size_t k = 0; k < FORMS; k++) {
        int status = 0;
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            make_database(folder_join(folder, forms[k].name), &forms[k]);
            _exit(check_failures() == 0 ? 0 : 1);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- check ---- */

/* check_documents -- all up to a number, and no others. */
static void check_documents(tansu_db *db, int most) {
    tansu_document document;
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    int found = 0, expected = 0;
    for (int i = 0; i < most; i++)
        expected += i >= DOCUMENTS || is_there(i);
    while (tansu_cursor_next(cursor, &document, &call_error) == TANSU_OK) {
        bson_t read, made;
        bson_iter_t iter;
        REQUIRE(bson_init_static(&read, document.data, document.size) &&
                bson_iter_init_find(&iter, &read, "i"));
        make_document(&made, bson_iter_int32(&iter));
        CHECK_BYTES(bson_get_data(&made), made.len, document.data, document.size);
        bson_destroy(&made);
        found++;
    }
    tansu_cursor_close(cursor);
    CHECK_INT(expected, found);
}

/* check_indexes -- every one answers as a scan does. */
static void check_indexes(tansu_db *db) {
    static const char *const questions[][2] = {
        {"n", "{'n': 4, 'x': {'$lt': 10}}"},
        {"s", "{'s': {'$gte': '4', '$lt': '9'}}"},
        {"d", "{'d': {'$gt': {'$numberDecimal': '-1E+100'}}}"},
        {"list", "{'o.list': {'$in': [3, 17]}}"},
    };
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        char hints[80];
        snprintf(hints, sizeof hints, "{'$index': '%s', '$orderby': {'i': 1}}", questions[k][0]);
        char *by_index = strdup(call_find(db, NULL, "c", questions[k][1], hints));
        CHECK_TEXT(
            call_find(db, NULL, "c", questions[k][1], "{'$index': false, '$orderby': {'i': 1}}"),
            by_index);
        CHECK(by_index != NULL && *by_index == '{');
        free(by_index);
    }
}

static void check(void) {
    for (size_t k = 0; k < FORMS; k++) {
        const char *path = folder_join(folder, forms[k].name);
        tansu_db *db = call_open(path);
        check_documents(db, DOCUMENTS);
        check_indexes(db);
        CHECK(maintenance_clean(db));
        save(db, DOCUMENTS, DOCUMENTS + WRITTEN_ON);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
        db = call_open(path);
        check_documents(db, DOCUMENTS + WRITTEN_ON);
        check_indexes(db);
        CHECK(maintenance_clean(db));
        call_close(db);
        if (check_failures() != 0)
            check_note("    %s", path);
    }
}

int main(int argc, char **argv) {
    bool makes = argc == 3 && strcmp(argv[1], "make") == 0;
    if (!makes && (argc != 3 || strcmp(argv[1], "check") != 0)) {
        fprintf(stderr, "usage: exchange make|check FOLDER\n");
        return 2;
    }
    folder = argv[2];
    if (makes)
        RUN(make);
    else
        RUN(check);
    return check_finish();
}
