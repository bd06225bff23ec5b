/*
 * test_storage.c -- what tansu.h promises of tansu_storage(), over the public API only: sums that
 * agree with tansu_stats(), and counts of queries.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the tests look at of one report. */
typedef struct totals {
    int64_t segments, bytes, live, dead; /* of the log */
    int64_t documents;                   /* bytes of all collections */
    int64_t entries, blocks, indexes;    /* of all indexes; bytes */
    char names[512];                     /* of the indexes, in order, a space after each */
} totals;

/* number_of -- a member of a document as a whole number; -1 when it is not there. */
static int64_t number_of(const bson_iter_t *document, const char *name) {
    bson_iter_t member;
    return bson_iter_recurse(document, &member) && bson_iter_find(&member, name)
               ? bson_iter_as_int64(&member)
               : -1;
}

/* add_indexes -- of one collection. */
static void add_indexes(totals *sum, const bson_iter_t *collection) {
    bson_iter_t member, index, name;
    REQUIRE(bson_iter_recurse(collection, &member) && bson_iter_find(&member, "indexes") &&
            bson_iter_recurse(&member, &index));
    while (bson_iter_next(&index)) {
        sum->entries += number_of(&index, "entries");
        sum->blocks += number_of(&index, "blocks");
        sum->indexes += number_of(&index, "bytes");
        REQUIRE(bson_iter_recurse(&index, &name) && bson_iter_find(&name, "name"));
        size_t size = strlen(sum->names);
        snprintf(sum->names + size, sizeof sum->names - size, "%s ", bson_iter_utf8(&name, NULL));
    }
}

/* storage_of -- the sums of a report. */
static totals storage_of(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    totals sum = {.names = ""};
    bson_t doc;
    bson_iter_t iter, each;
    CHECK_OK(tansu_storage(db, &result, &call_error), &call_error);
    REQUIRE(bson_init_static(&doc, result.data, result.size));
    REQUIRE(bson_iter_init_find(&iter, &doc, "segments") && bson_iter_recurse(&iter, &each));
    for (; bson_iter_next(&each); sum.segments++) {
        sum.bytes += number_of(&each, "bytes");
        sum.live += number_of(&each, "liveBytes");
        sum.dead += number_of(&each, "deadBytes");
        CHECK(number_of(&each, "segment") > 0);
    }
    REQUIRE(bson_iter_init_find(&iter, &doc, "collections") && bson_iter_recurse(&iter, &each));
    while (bson_iter_next(&each)) {
        sum.documents += number_of(&each, "bytes");
        add_indexes(&sum, &each);
    }
    tansu_buffer_free(&result);
    return sum;
}

/* save_many -- documents of about 300 bytes. */
static void save_many(tansu_db *db, const char *collection, int from, int to) {
    char text[400], filler[281];
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = from; i < to; i++) {
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'm': %d, 't': 'word%d %s'}", i, i % 100,
                 i % 7, i % 50, filler);
        CHECK_OK(call_save(db, txn, collection, TANSU_SAVE, text), &call_error);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* check_sums -- a report agrees with the statistics. */
static totals check_sums(tansu_db *db) {
    totals sum = storage_of(db);
    CHECK_INT(call_statistic(db, "logSegments"), sum.segments);
    CHECK_INT(call_statistic(db, "logBytes"), sum.bytes);
    CHECK_INT(call_statistic(db, "deadBytes"), sum.dead);
    CHECK_INT(sum.documents, sum.live);
    return sum;
}

static void sums_agree_with_the_statistics(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    check_sums(db);
    CHECK_OK(call_index(db, NULL, "c", "by_n", "{'n': 1}", NULL), &call_error);
    save_many(db, "c", 0, 5000);
    save_many(db, "d", 0, 1000);
    totals full = check_sums(db);
    CHECK_TEXT("_id by_n _id ", full.names);
    CHECK_INT(5000 * 2 + 1000, full.entries);
    CHECK(full.dead < 1000); /* of the catalog */
    CHECK(full.documents > 6000 * 300 && full.documents < 6000 * 450);
    CHECK(full.blocks > 100);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    full = check_sums(db);
    /* The file has other records beside the blocks. */
    CHECK(full.indexes > 0 && full.indexes <= call_statistic(db, "indexFileBytes"));

    save_many(db, "c", 0, 5000);
    totals twice = check_sums(db);
    /* A replacing record refers to the one that it replaces. */
    CHECK(twice.documents >= full.documents && twice.documents < full.documents * 11 / 10);
    CHECK(twice.dead > 5000 * 300);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    CHECK(check_sums(db).dead < twice.dead / 100);

    CHECK_OK(tansu_collection_drop(db, NULL, "d", &call_error), &call_error);
    CHECK_TEXT("_id by_n ", check_sums(db).names);
    call_close(db);
    db = call_open(folder);
    totals again = check_sums(db);
    CHECK_INT(10000, again.entries);
    CHECK(again.blocks > 90 && again.blocks < full.blocks);
    call_close(db);
    folder_end(folder);
}

static void memory_stores_have_blocks_of_memory(void) {
    tansu_options options;
    tansu_options_init(&options);
    options.store = TANSU_STORE_MEMORY;
    tansu_db *db;
    CHECK_OK(tansu_open(&options, &db, &call_error), &call_error);
    save_many(db, "c", 0, 3000);
    totals sum = check_sums(db);
    CHECK_INT(3000, sum.entries);
    CHECK_INT(sum.blocks * 2048, sum.indexes);
    call_close(db);
}

/* uses_of -- of an index, by its name; -1 when it is not there. */
static int64_t uses_of(tansu_db *db, const char *name) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_iter_t iter, each, member, index, text;
    int64_t uses = -1;
    CHECK_OK(tansu_storage(db, &result, &call_error), &call_error);
    REQUIRE(bson_init_static(&doc, result.data, result.size));
    REQUIRE(bson_iter_init_find(&iter, &doc, "collections") && bson_iter_recurse(&iter, &each));
    while (bson_iter_next(&each)) {
        REQUIRE(bson_iter_recurse(&each, &member) && bson_iter_find(&member, "indexes") &&
                bson_iter_recurse(&member, &index));
        while (bson_iter_next(&index)) {
            REQUIRE(bson_iter_recurse(&index, &text) && bson_iter_find(&text, "name"));
            if (strcmp(bson_iter_utf8(&text, NULL), name) == 0)
                uses = number_of(&index, "uses");
        }
    }
    tansu_buffer_free(&result);
    return uses;
}

static void uses_count_queries_but_not_explain(void) {
    tansu_options options;
    tansu_options_init(&options);
    options.store = TANSU_STORE_MEMORY;
    tansu_db *db;
    CHECK_OK(tansu_open(&options, &db, &call_error), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "by_n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "by_m", "{'m': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "words", "{'t': 'text'}", NULL), &call_error);
    save_many(db, "c", 0, 2000);
    CHECK_INT(0, uses_of(db, "by_n"));
    CHECK_INT(-1, uses_of(db, "_id"));

    static const struct {
        const char *query, *hints;
        int n, m, words; /* uses */
    } cases[] = {
        {"{'n': 5}", "{}", 1, 0, 0},
        {"{'_id': 5}", "{}", 0, 0, 0},
        {"{'n': 5}", "{'$index': 'by_n'}", 1, 0, 0},
        {"{'n': 5}", "{'$explain': true}", 0, 0, 0},
        {"{'n': 5}", "{'$onlycount': true}", 1, 0, 0},
        {"{'n': {'$in': [1, 2, 3]}}", "{}", 1, 0, 0},
        {"{'$or': [{'n': 1, 'x': 1}, {'n': 2, 'y': 1}]}", "{}", 1, 0, 0},
        {"{'$or': [{'n': 1}, {'m': 2}]}", "{}", 1, 1, 0},
        {"{}", "{'$orderby': {'n': 1}, '$max': 1}", 1, 0, 0},
        {"{'$text': {'$search': 'word3'}}", "{}", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t n = uses_of(db, "by_n"), m = uses_of(db, "by_m"), words = uses_of(db, "words");
        call_find(db, NULL, "c", cases[i].query, cases[i].hints);
        CHECK_INT(cases[i].n, uses_of(db, "by_n") - n);
        CHECK_INT(cases[i].m, uses_of(db, "by_m") - m);
        CHECK_INT(cases[i].words, uses_of(db, "words") - words);
    }
    /* A change of the collection does not reset them; a new index begins at 0. */
    int64_t before = uses_of(db, "by_n");
    CHECK_OK(call_index(db, NULL, "c", "more", "{'t': 1}", NULL), &call_error);
    CHECK_INT(before, uses_of(db, "by_n"));
    CHECK_INT(0, uses_of(db, "more"));
    call_close(db);
}

int main(void) {
    RUN(sums_agree_with_the_statistics);
    RUN(memory_stores_have_blocks_of_memory);
    RUN(uses_count_queries_but_not_explain);
    return check_finish();
}
