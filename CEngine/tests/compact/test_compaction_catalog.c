/*
 * test_compaction_catalog.c -- records of indexes and options that have no effect any more: they do
 * not make the log grow, and without them the log still makes the same database.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/libraries.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* open_small -- a database whose segments are small, which is compacted from that share of dead
 * bytes on; 0: on demand. */
static tansu_db *open_small(const char *folder, uint32_t percent) {
    tansu_options options = call_options(folder);
    options.segment_size = MIB;
    options.compaction_percent = percent;
    return call_open_with(&options);
}

/* A third of a segment, about. */
#define LARGE 340000

/* save_large -- a document of that size. */
static void save_large(tansu_db *db, int id) {
    static uint8_t filling[LARGE];
    bson_t *doc = BCON_NEW("_id", BCON_INT32(id), "pad",
                           BCON_BIN(BSON_SUBTYPE_BINARY, filling, sizeof filling));
    CHECK_OK(call_save_bson(db, NULL, "stays", TANSU_SAVE, doc), &call_error);
    bson_destroy(doc);
}

/* save_stays -- documents that fill the first segment and stay, so that it is not rewritten. */
static void save_stays(tansu_db *db) {
    for (int i = 0; i < 3; i++)
        save_large(db, -i);
}

/* ---- Growth ---- */

/* change_settings -- what a program may do whenever it starts: 12 kB of records. */
static void change_settings(tansu_db *db, int run) {
    static char text[3000], json[4000];
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 2; i++) {
        snprintf(json, sizeof json, "{'partialFilter': {'text': '%s'}}", text);
        CHECK_OK(call_index(db, NULL, "c", i == 0 ? "n" : "m", "{'n': 1}", json), &call_error);
    }
    CHECK_OK(tansu_index_drop(db, NULL, "c", "n", &call_error), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "m", &call_error), &call_error);
    snprintf(json, sizeof json,
             "{'compression': 'lz4', 'references': [{'path': '%.900s', 'to': 'to'}], "
             "'timestamps': {'created': 'c%d'}}",
             text, run);
    CHECK_OK(call_ensure(db, NULL, "c", json), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c",
                         "{'compression': 'none', 'references': [], 'timestamps': false}"),
             &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "d", "c", &call_error), &call_error);
}

/* sessions -- the largest size of the log after a session. */
static uint64_t sessions(const char *folder, int count) {
    uint64_t most = 0;
    for (int run = 0; run < count; run++) {
        tansu_db *db = open_small(folder, 50);
        change_settings(db, run);
        call_close(db);
        uint64_t now = log_size(folder);
        most = now > most ? now : most;
    }
    return most;
}

/* The log has twice the documents and 1 MiB at most, and 200 bytes of each session's renames. */
static void sessions_that_change_settings_do_not_make_the_log_grow(void) {
    for (int behind = 0; behind < 2; behind++) {
        char *folder = folder_new();
        tansu_db *db = open_small(folder, 50);
        if (behind)
            save_stays(db);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
        call_close(db);
        uint64_t before = behind ? log_size(folder) : 0, most = sessions(folder, 300);
        check_note("%llu bytes, %llu at most", (unsigned long long)before,
                   (unsigned long long)most);
        CHECK(most <= before + MIB + 200000);
        folder_end(folder);
    }
}

/* ---- The same database ---- */

/* A random history of a catalog. */
typedef struct life {
    random_source random;
    tansu_db *db;
} life;

/* one_of -- a random text of a list that ends with NULL. */
static const char *one_of(life *l, const char *const *list) {
    size_t count = 0;
    while (list[count] != NULL)
        count++;
    return list[random_below(&l->random, count)];
}

static const char *const collections[] = {"a", "b", "c", NULL};
static const char *const indexes[] = {"i", "j", "k", NULL};
static const char *const keys[] = {"{'n': 1}", "{'m': -1}", "{'n': 1, 'm': 1}", NULL};
static const char *const options[] = {"{'compression': 'lz4'}",
                                      "{'compression': 'none'}",
                                      "{'references': [{'path': 'm', 'to': 'b'}]}",
                                      "{'references': [{'path': 'm', 'to': 'c'}]}",
                                      "{'references': []}",
                                      "{'timestamps': true}",
                                      "{'timestamps': {'created': 'made'}}",
                                      "{'timestamps': false}",
                                      NULL};

/* expect -- a change that may be refused for what is there, or is not. */
static void expect(tansu_status status) {
    CHECK(status == TANSU_OK || status == TANSU_E_EXISTS || status == TANSU_E_NOT_FOUND);
}

/* step -- a change, mostly of a catalog. */
static void step(life *l) {
    const char *name = one_of(l, collections);
    char json[80];
    switch (random_below(&l->random, 13)) {
    case 0:
    case 1:
    case 2: expect(call_index(l->db, NULL, name, one_of(l, indexes), one_of(l, keys), NULL)); break;
    case 3:
    case 4:
    case 5: expect(tansu_index_drop(l->db, NULL, name, one_of(l, indexes), &call_error)); break;
    case 6:
    case 7:
    case 8: expect(call_ensure(l->db, NULL, name, one_of(l, options))); break;
    case 9:
        if (random_chance(&l->random, 30))
            expect(tansu_collection_drop(l->db, NULL, name, &call_error));
        else
            expect(tansu_collection_rename(l->db, NULL, name, one_of(l, collections), &call_error));
        break;
    case 10: /* most replace others, so that segments before and after it are rewritten alone */
        if (random_chance(&l->random, 30))
            save_large(l->db, (int)random_below(&l->random, 8));
        break;
    default:
        snprintf(json, sizeof json, "{'_id': %d, 'n': %d, 'm': %d}",
                 (int)random_below(&l->random, 20), (int)random_below(&l->random, 9),
                 (int)random_below(&l->random, 9));
        CHECK_OK(call_save(l->db, NULL, name, TANSU_SAVE, json), &call_error);
    }
}

/* describe -- everything of the catalog, and the documents. */
static char *describe(tansu_db *db) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    REQUIRE(out != NULL);
    fprintf(out, "%s", call_collections(db, NULL));
    for (size_t i = 0; collections[i] != NULL; i++) {
        fprintf(out, "\n%s: %s", collections[i], call_indexes(db, NULL, collections[i]));
        fprintf(out, "\n%s", call_find(db, NULL, collections[i], "{}", NULL));
        fprintf(out, "\n%s", call_find(db, NULL, collections[i], "{'n': {'$gte': 3}}", NULL));
    }
    fclose(out);
    return text;
}

static void without_them_the_log_makes_the_same_database(void) {
    unsigned rounds = (unsigned)random_rounds("TANSU_ROUNDS", 40);
    for (unsigned round = 0; round < rounds && check_failures() == 0; round++) {
        char *folder = folder_new();
        life l = {.random = random_start(round), .db = open_small(folder, 0)};
        if (random_chance(&l.random, 50))
            save_stays(l.db);
        for (int opening = 0; opening < 12; opening++) {
            for (uint64_t n = random_below(&l.random, 60); n > 0; n--)
                step(&l);
            if (random_chance(&l.random, 60))
                CHECK_OK(tansu_compact(l.db, NULL, NULL, NULL, &call_error), &call_error);
            for (uint64_t n = random_below(&l.random, 20); n > 0; n--)
                step(&l);
            char *before = describe(l.db);
            call_close(l.db);
            if (random_chance(&l.random, 60))
                folder_remove(folder_join(folder, "index"));
            l.db = open_small(folder, 0);
            char *after = describe(l.db);
            CHECK_TEXT(before, after);
            free(before);
            free(after);
        }
        maintenance_clean(l.db);
        call_close(l.db);
        folder_end(folder);
    }
}

/* What is left of indexes that were created and dropped, and of options that were set again. */
static void nothing_is_left_of_what_ended(void) {
    for (int behind = 0; behind < 2; behind++) {
        char *folder = folder_new();
        tansu_db *db = open_small(folder, 0);
        if (behind)
            save_stays(db);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
        CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        for (int i = 0; i < 100; i++)
            change_settings(db, i);
        CHECK_OK(call_ensure(db, NULL, "c", "{'timestamps': true}"), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
        uint64_t first = behind ? MIB : 0, renames = 100 * 2 * (uint64_t)100;
        check_note("%llu bytes", (unsigned long long)log_size(folder));
        CHECK(log_size(folder) <= first + renames + 2000);
        folder_end(folder);
    }
}

int main(void) {
    if (!library_lz4())
        return check_finish();
    RUN(sessions_that_change_settings_do_not_make_the_log_grow);
    RUN(nothing_is_left_of_what_ended);
    RUN(without_them_the_log_makes_the_same_database);
    return check_finish();
}
