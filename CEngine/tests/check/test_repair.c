/*
 * test_repair.c -- repair takes everything that can be read into a new database, says what it could
 * not, leaves the old one as it is, and leaves nothing when it fails.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/random/random.h"
#include "support/workload/record_inventory.h"
#include "support/workload/sample_database.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* target -- a path where nothing is, in a folder for folder_end(). */
static const char *target(const char *folder) {
    return folder_join(folder, "repaired");
}

/* open_checked -- the result of a repair, verified. */
static tansu_db *open_checked(const char *path) {
    tansu_db *db = call_open(path);
    maintenance_clean(db);
    return db;
}

/* ---- Undamaged ---- */

/* made_by -- a database with a random history, closed; the model says what it holds. */
static char *made_by(store_model *m, random_source *random, int steps, bool unclean) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    tansu_db *db = call_open_with(&options);
    for (int i = 0; i < steps; i++)
        store_model_step(m, random, db);
    if (!unclean) {
        call_close(db);
        return folder;
    }
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(folder, copy);
    call_close(db);
    folder_end(folder);
    return copy;
}

static void an_undamaged_database_is_taken_whole(void) {
    for (int unclean = 0; unclean < 2; unclean++) {
        random_source random = random_start((uint64_t)unclean);
        store_model m = {.most_pad = 30000};
        char *folder = made_by(&m, &random, 1500, unclean != 0), *other = folder_new();
        CHECK(file_exists(folder_join(folder, "log/00000002.seg")));
        uint64_t before = sample_checksum(folder);
        CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
        CHECK_INT(before, sample_checksum(folder));
        if (!CHECK_INT(0, maintenance_number("problemCount")))
            check_note("    %s", maintenance_text());
        CHECK_INT(0, maintenance_number("lostBytes"));
        CHECK_INT(0, maintenance_number("unprotected"));
        uint64_t documents = 0;
        for (unsigned i = 0; i < STORE_MODEL_COLLECTIONS; i++)
            documents += store_model_count(&m, i);
        CHECK_INT(documents, maintenance_number("documents"));
        tansu_db *db = open_checked(target(other));
        store_model_check(&m, &random, db, NULL);
        call_close(db);
        folder_end(folder);
        folder_end(other);
    }
}

static void files_that_are_not_needed_may_be_gone(void) {
    static const uint8_t zeros[SEGMENT_HEADER_SIZE];
    for (int gone = 0; gone < 2; gone++) {
        random_source random = random_start(3);
        store_model m = {.most_pad = 30000};
        char *folder = made_by(&m, &random, 900, false), *other = folder_new();
        folder_remove(folder_join(folder, "index"));
        remove(folder_join(folder, "LOCK"));
        remove(folder_join(folder, "MANIFEST"));
        /* All headers of the log: whose it is can be told from nothing but what is left of them,
         * or from the file TAIL. */
        if (gone) {
            file_patch(folder_join(folder, "log/00000001.seg"), 0, zeros, sizeof zeros);
            file_patch(folder_join(folder, "log/00000002.seg"), 0, zeros, sizeof zeros);
        } else {
            file_flip(folder_join(folder, "log/00000001.seg"), 12, 3);
            file_flip(folder_join(folder, "log/00000002.seg"), 33, 1);
        }
        CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
        CHECK_INT(0, maintenance_number("lostBytes"));
        CHECK_INT(0, maintenance_number("unprotected"));
        CHECK(maintenance_contains("MANIFEST"));
        CHECK(maintenance_contains("has a corrupt header") == !gone);
        tansu_db *db = open_checked(target(other));
        store_model_check(&m, &random, db, NULL);
        call_close(db);
        folder_end(folder);
        folder_end(other);
    }
}

/* copy_over -- a file of another database takes the place of one. */
static void copy_over(const char *from, const char *to, const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(from, name), &bytes);
    file_write(folder_join(to, name), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

static void files_of_another_database_do_not_decide(void) {
    static const char *const foreign[][3] = {
        {"MANIFEST"}, {"MANIFEST", "log/TAIL"}, {"MANIFEST", "index/blocks.tch"}, {"log/TAIL"}};
    char *stranger = sample_folder();
    for (size_t k = 0; k < sizeof foreign / sizeof foreign[0]; k++)
        for (int large = 0; large < 2; large++) {
            random_source random = random_start(k);
            store_model m = {.most_pad = 30000};
            char *folder = made_by(&m, &random, large ? 900 : 40, k % 2 != 0);
            char *other = folder_new();
            for (size_t i = 0; i < 3 && foreign[k][i] != NULL; i++)
                copy_over(stranger, folder, foreign[k][i]);
            CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
            CHECK(maintenance_contains("The MANIFEST is of another database") ==
                  (strcmp(foreign[k][0], "MANIFEST") == 0));
            tansu_db *db = open_checked(target(other));
            store_model_check(&m, &random, db, NULL);
            call_close(db);
            /* A segment of the stranger among several is left out as before. */
            if (large && k == 0) {
                folder_remove(target(other));
                tansu_buffer bytes = TANSU_BUFFER_INIT;
                file_read(folder_join(stranger, "log/00000001.seg"), &bytes);
                file_write(folder_join(folder, "log/00000099.seg"), bytes.data, bytes.size);
                tansu_buffer_free(&bytes);
                CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
                db = open_checked(target(other));
                store_model_check(&m, &random, db, NULL);
                call_close(db);
            }
            folder_end(folder);
            folder_end(other);
        }
    folder_end(stranger);
}

static void a_manifest_without_any_segment_names_the_database(void) {
    char *folder = sample_folder(), *other = folder_new();
    folder_remove(folder_join(folder, "log"));
    CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
    CHECK_INT(0, maintenance_number("documents"));
    CHECK(!maintenance_contains("of another database"));
    folder_end(folder);
    folder_end(other);
}

/* ---- Damaged ---- */

/* salvaged -- repairs a folder into another, and opens the result. */
static tansu_db *salvaged(const char *folder, const char *other) {
    CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
    return call_open(target(other));
}

static void one_damaged_document_costs_only_itself(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    bson_t *docs[20];
    tansu_document documents[20];
    for (int i = 0; i < 20; i++) {
        docs[i] = BCON_NEW("_id", BCON_INT32(i), "text", BCON_UTF8("a text of some length"));
        documents[i] = document_of(docs[i]);
    }
    CHECK_OK(tansu_save(db, NULL, "c", documents, 20, TANSU_SAVE, NULL, &call_error), &call_error);
    for (int i = 0; i < 20; i++)
        bson_destroy(docs[i]);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 100}"), &call_error);
    inventory l;
    inventory_take(&l, db);
    call_close(db);
    /* The key's terminator of "text": no BSON document any more. */
    file_patch(folder_join(folder, "log/00000001.seg"), l.documents[7].offset + 24, "\xFF\xFF", 2);
    db = salvaged(folder, other);
    maintenance_clean(db);
    CHECK_INT(20, call_count(db, NULL, "c", "{}"));
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "{'_id': %d}", i);
        CHECK((strcmp(call_get(db, NULL, "c", id), "NOT_FOUND") == 0) == (i == 7));
    }
    call_close(db);
    folder_remove(target(other));
    CHECK_OK(maintenance_repair(folder, target(other)), &call_error);
    CHECK_INT(20, maintenance_number("documents"));
    CHECK_INT(19, maintenance_number("unprotected"));
    CHECK(maintenance_number("lostBytes") >= (int64_t)l.documents[7].size);
    /* The damage, and that the name of the collection is in the same commit. */
    CHECK_INT(2, maintenance_number("problemCount"));
    CHECK(maintenance_contains("log/00000001.seg"));
    CHECK(maintenance_contains("19 records that no checksum protects") ||
          maintenance_contains("20 records that no checksum protects"));
    CHECK(maintenance_contains(
        "the collection \\\"c\\\" is read from a record that no checksum protects"));
    CHECK(maintenance_number("problems.0.offset") <= (int64_t)l.documents[7].offset);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

static void a_lost_version_leaves_the_one_before(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    inventory l;
    inventory_take(&l, db);
    call_close(db);
    const char zeros[64] = {0};
    file_patch(folder_join(folder, "log/00000001.seg"), l.documents[0].offset, zeros, 64);
    db = salvaged(folder, other);
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 1 } { \"_id\" : 2 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK(maintenance_contains("corruption in commits 2 to 3"));
    CHECK_INT(2, maintenance_number("lostCommits"));
    CHECK_INT(1, maintenance_number("olderDocuments"));
    CHECK(maintenance_contains("{\"collection\": \"c\", \"_id\": 1, \"reason\": \"older\"}"));
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

static void a_missing_segment_is_reported(void) {
    random_source random = random_start(4);
    store_model m = {.most_pad = 60000};
    char *folder = made_by(&m, &random, 2500, false), *other = folder_new();
    REQUIRE(file_exists(folder_join(folder, "log/00000003.seg")));
    remove(folder_join(folder, "log/00000002.seg"));
    tansu_db *db = salvaged(folder, other);
    CHECK(maintenance_contains("before this segment are missing"));
    CHECK(maintenance_contains("log/00000003.seg"));
    maintenance_clean(db);
    call_close(db);
    folder_remove(target(other));
    remove(folder_join(folder, "log/00000001.seg"));
    db = salvaged(folder, other);
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
    folder_end(other);
}

static void of_documents_with_one_id_the_newest_is_kept(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    inventory l;
    inventory_take(&l, db);
    CHECK(l.documents[0].removed);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
    call_close(db);
    file_patch(folder_join(folder, "log/00000001.seg"), l.documents[0].offset, "\xFF\xFF\xFF\xFF",
               4);
    folder_remove(folder_join(folder, "index"));
    db = salvaged(folder, other);
    CHECK(maintenance_contains("the same _id"));
    CHECK_INT(2, maintenance_number("documents"));
    CHECK_TEXT("{ \"_id\" : 1, \"n\" : 2 } { \"_id\" : 2 }", call_find(db, NULL, "c", "{}", NULL));
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

static void a_unique_index_that_no_longer_fits_is_made_without_that(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'u': 5}"), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    inventory l;
    inventory_take(&l, db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2, 'u': 5}"), &call_error);
    call_close(db);
    file_patch(folder_join(folder, "log/00000001.seg"), l.documents[0].offset, "\xFF\xFF\xFF\xFF",
               4);
    folder_remove(folder_join(folder, "index"));
    db = salvaged(folder, other);
    CHECK(maintenance_contains("is not unique any more"));
    CHECK_INT(1, maintenance_number("indexes"));
    CHECK_INT(2, call_count(db, NULL, "c", "{'u': 5}"));
    CHECK(strstr(call_indexes(db, NULL, "c"), "\"unique\" : false") != NULL);
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

static void dropped_and_renamed_things_stay_so(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    sample_fill(db);
    CHECK_OK(call_save(db, NULL, "gone", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "x", "{'x': 1}", NULL), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "x", &call_error), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "gone", &call_error), &call_error);
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK_OK(call_save(db, NULL, "gone", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "mine", "{'local': true}"), &call_error);
    char before[4096];
    snprintf(before, sizeof before, "%s %s", call_collections(db, NULL),
             call_indexes(db, NULL, "d"));
    call_close(db);
    db = salvaged(folder, other);
    CHECK_INT(0, maintenance_number("problemCount"));
    CHECK_INT(3, maintenance_number("collections"));
    char after[4096];
    snprintf(after, sizeof after, "%s %s", call_collections(db, NULL), call_indexes(db, NULL, "d"));
    CHECK_TEXT(before, after);
    CHECK_TEXT("{ \"_id\" : 2 }", call_find(db, NULL, "gone", "{}", NULL));
    call_close(db);
    folder_end(folder);
    folder_end(other);
}

static void an_unfinished_commit_is_not_taken(void) {
    char *folder = folder_new(), *copy = folder_new(), *other = folder_new();
    rmdir(copy);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    folder_copy(folder, copy);
    tansu_txn_abort(txn);
    call_close(db);
    db = salvaged(copy, other);
    CHECK_INT(0, maintenance_number("problemCount"));
    CHECK_TEXT("{ \"_id\" : 1 }", call_find(db, NULL, "c", "{}", NULL));
    call_close(db);
    folder_end(folder);
    folder_end(copy);
    folder_end(other);
}

static void segments_that_are_no_files_are_left_out(void) {
    char *folder = sample_folder(), *other = folder_new();
    REQUIRE(mkdir(folder_join(folder, "log/00000007.seg"), 0755) == 0);
    REQUIRE(symlink("nowhere", folder_join(folder, "log/00000008.seg")) == 0);
    for (int i = 0; i < 2; i++) {
        tansu_db *db = salvaged(folder, other);
        CHECK(maintenance_contains("log/00000007.seg") && maintenance_contains("log/00000008.seg"));
        CHECK(maintenance_contains("can't be opened"));
        sample_check(db);
        call_close(db);
        folder_remove(target(other));
        remove(folder_join(folder, "MANIFEST")); /* whose they are has to be asked of all */
    }
    folder_end(folder);
    folder_end(other);
}

/* ---- Misplaced ---- */

/* filled -- a closed database of 1,500 documents of about 900 bytes in commits of their own. */
static char *filled(void) {
    char *folder = folder_new(), pad[901];
    memset(pad, 'p', 900);
    pad[900] = 0;
    tansu_db *db = call_open(folder);
    for (int i = 0; i < 1500; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "pad", BCON_UTF8(pad));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_INSERT, doc), &call_error);
        bson_destroy(doc);
    }
    call_close(db);
    return folder;
}

static void a_misplaced_block_costs_what_it_lies_over(void) {
    static const uint64_t blocks[][2] = {{10, 100}, {100, 10}, {0, 60}, {60, 0}, {70, 71}};
    char *whole = filled(), *folder = folder_new(), *other = folder_new();
    for (size_t i = 0; i < 2 * sizeof blocks / sizeof blocks[0]; i++) {
        uint64_t from = blocks[i / 2][0] * 4096, to = blocks[i / 2][1] * 4096;
        bool swap = i % 2 != 0;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        rmdir(folder);
        folder_copy(whole, folder);
        const char *segment = folder_join(folder, "log/00000001.seg");
        file_read(segment, &bytes);
        file_patch(segment, to, bytes.data + from, 4096);
        if (swap)
            file_patch(segment, from, bytes.data + to, 4096);
        tansu_buffer_free(&bytes);
        tansu_db *db = salvaged(folder, other);
        int64_t lost = 1500 - maintenance_number("documents"), most = swap ? 12 : 6;
        CHECK(lost <= most);
        CHECK_INT(lost, maintenance_number("lostDocuments"));
        CHECK(maintenance_number("lostCommits") >= lost &&
              maintenance_number("lostCommits") <= most);
        CHECK(maintenance_number("uncertainDocuments") <= 12);
        maintenance_clean(db);
        call_close(db);
        folder_remove(target(other));
        /* Verify says as much of what it finds. */
        tansu_options options = call_options(folder);
        if (tansu_open(&options, &db, &call_error) == TANSU_OK) {
            CHECK_STATUS(TANSU_E_CORRUPT, maintenance_verify(db));
            CHECK(maintenance_number("damagedDocuments") > 0 &&
                  maintenance_number("damagedDocuments") <= most);
            CHECK_INT(maintenance_number("damagedDocuments"),
                      maintenance_number("byCollection.0.damaged"));
            CHECK(maintenance_number("problemCount") < 40);
            call_close(db);
        } else {
            CHECK(from == 0 || to == 0);
        }
        folder_remove(folder);
    }
    folder_end(whole);
    free(folder);
    folder_end(other);
}

/* save_values -- commits `from` to `to` - 1, each of which gives one document the value `n`. */
static void save_values(tansu_db *db, int from, int to, int n) {
    for (int i = from; i < to; i++) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(n));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
}

/* end_of_log -- where the frames of the first segment of a closed database end. */
static uint64_t end_of_log(const char *folder) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, "log/00000001.seg"), &bytes);
    uint64_t at = SEGMENT_HEADER_SIZE;
    while (at + FRAME_HEADER_SIZE <= bytes.size && load_u32(bytes.data + at) == FRAME_MAGIC)
        at += load_u32(bytes.data + at + 8);
    tansu_buffer_free(&bytes);
    return at;
}

/* After a power loss, commits may take the numbers of others that were lost; a block with these may
 * come back later. The longest run of commits is the log. */
static void of_two_runs_with_the_same_commits_the_longest_is_taken(void) {
    char *folder = folder_new(), *lost = folder_new(), *other = folder_new();
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_db *db = call_open(folder);
    save_values(db, 0, 10, 1);
    call_close(db);
    uint64_t common = end_of_log(folder);
    rmdir(lost);
    folder_copy(folder, lost);
    db = call_open(lost);
    save_values(db, 3, 5, 666);
    call_close(db);
    db = call_open(folder);
    save_values(db, 5, 25, 2);
    call_close(db);
    file_read(folder_join(lost, "log/00000001.seg"), &bytes);
    uint64_t size = end_of_log(lost) - common;
    file_patch(folder_join(folder, "log/00000001.seg"), end_of_log(folder) + 512,
               bytes.data + common, size);
    db = salvaged(folder, other);
    CHECK_INT(25, call_count(db, NULL, "c", "{}"));
    CHECK_INT(0, call_count(db, NULL, "c", "{'n': 666}"));
    CHECK_INT(5, call_count(db, NULL, "c", "{'n': 1}"));
    CHECK_INT(20, call_count(db, NULL, "c", "{'n': 2}"));
    maintenance_clean(db);
    call_close(db);
    tansu_buffer_free(&bytes);
    folder_end(other);
    folder_end(lost);
    folder_end(folder);
}

/* Two frames at the log's end changed places, and all between and after them is corrupt. What
 * follows the second one is no commit of its own. */
static void what_follows_a_misplaced_frame_is_no_commit(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    uint8_t garbage[4096];
    memset(garbage, 0xFF, sizeof garbage);
    tansu_db *db = call_open(folder);
    save_values(db, 0, 40, 1);
    call_close(db);
    uint64_t end = end_of_log(folder), at = SEGMENT_HEADER_SIZE, size = 0;
    const char *segment = folder_join(folder, "log/00000001.seg");
    file_read(segment, &bytes);
    for (; at < end; at += size)
        size = load_u32(bytes.data + at + 8);
    REQUIRE(10 * size < sizeof garbage);
    file_patch(segment, end - 10 * size, bytes.data + end - size, size);
    file_patch(segment, end - 9 * size, garbage, 8 * size);
    file_patch(segment, end - size, bytes.data + end - 10 * size, size);
    file_patch(segment, end, garbage, size);
    tansu_buffer_free(&bytes);
    db = salvaged(folder, other);
    CHECK_INT(32, call_count(db, NULL, "c", "{}"));
    CHECK_INT(8, maintenance_number("lostCommits"));
    call_close(db);
    folder_end(other);
    folder_end(folder);
}

/* A misdirected write put the frame of a version over that of the newest one, where the index files
 * name it. */
static void a_version_that_lies_over_the_newest_one_is_older(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    save_values(db, 0, 1, 1);
    save_values(db, 0, 1, 2);
    inventory before, newest;
    inventory_take(&before, db);
    save_values(db, 0, 1, 3);
    inventory_take(&newest, db);
    save_values(db, 1, 2, 1);
    call_close(db);
    const char *segment = folder_join(folder, "log/00000001.seg");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment, &bytes);
    uint64_t from = before.documents[0].offset - FRAME_HEADER_SIZE,
             to = newest.documents[0].offset - FRAME_HEADER_SIZE;
    uint32_t size = load_u32(bytes.data + from + 8);
    CHECK_INT(size, load_u32(bytes.data + to + 8));
    file_patch(segment, to, bytes.data + from, size);
    db = salvaged(folder, other);
    CHECK_TEXT("{ \"_id\" : 0, \"n\" : 2 } { \"_id\" : 1, \"n\" : 1 }",
               call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(1, maintenance_number("lostCommits"));
    CHECK_INT(1, maintenance_number("olderDocuments"));
    CHECK(maintenance_contains("{\"collection\": \"c\", \"_id\": 0, \"reason\": \"older\"}"));
    call_close(db);
    tansu_buffer_free(&bytes);
    inventory_free(&before);
    inventory_free(&newest);
    folder_end(folder);
    folder_end(other);
}

static void a_segment_that_is_somewhere_else_is_read(void) {
    static const char *const places[] = {"log/aside/00000001.seg", "aside/00000001.seg",
                                         "log/00000001.seg.new", "log/00000009.seg"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        random_source random = random_start(20 + i);
        store_model m = {.most_pad = 30000};
        char *folder = made_by(&m, &random, 1200, false), *other = folder_new();
        CHECK(file_exists(folder_join(folder, "log/00000002.seg")));
        mkdir(folder_join(folder, "log/aside"), 0755);
        mkdir(folder_join(folder, "aside"), 0755);
        REQUIRE(rename(folder_join(folder, "log/00000001.seg"), folder_join(folder, places[i])) ==
                0);
        tansu_db *db = salvaged(folder, other);
        CHECK_INT(0, maintenance_number("lostCommits"));
        CHECK_INT(0, maintenance_number("lostBytes"));
        store_model_check(&m, &random, db, NULL);
        maintenance_clean(db);
        call_close(db);
        folder_end(folder);
        folder_end(other);
    }
}

/* ---- Refused ---- */

static int stop_at; /* calls of the progress function until it says stop; 0: never */
static int calls_made;

static int counting(void *context, uint64_t done, uint64_t total) {
    *(bool *)context = *(bool *)context && done <= total;
    return ++calls_made != stop_at;
}

/* nothing_left -- whether the folder for results is empty. */
static bool nothing_left(const char *other) {
    return rmdir(other) == 0;
}

static void errors_leave_nothing(void) {
    char *folder = sample_folder(), *other = folder_new();
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, maintenance_repair(NULL, "x"));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, maintenance_repair("x", NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, maintenance_repair("x", ""));
    CHECK_STATUS(TANSU_E_EXISTS, maintenance_repair(folder, other));
    CHECK_STATUS(TANSU_E_EXISTS, maintenance_repair(folder, folder));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 maintenance_repair(folder, folder_join(folder, "MANIFEST")));
    char *empty = folder_new();
    CHECK_STATUS(TANSU_E_NOT_FOUND, maintenance_repair(empty, target(other)));
    CHECK_STATUS(TANSU_E_NOT_FOUND, maintenance_repair(folder_join(empty, "none"), target(other)));
    CHECK_STATUS(TANSU_E_NOT_FOUND,
                 maintenance_repair(folder_join(folder, "MANIFEST"), target(other)));
    folder_end(empty);
    CHECK(maintenance_repair(folder, folder_join(other, "no/such/folder")) != TANSU_OK);
    tansu_db *db = call_open(folder);
    CHECK_STATUS(TANSU_E_LOCKED, maintenance_repair(folder, target(other)));
    call_close(db);

    bool sane = true;
    stop_at = 0;
    CHECK_OK(tansu_repair(folder, target(other), counting, &sane, NULL, &call_error), &call_error);
    CHECK(sane);
    int all = calls_made;
    CHECK(all > 2);
    folder_remove(target(other));
    for (stop_at = 1; stop_at <= all; stop_at++) {
        calls_made = 0;
        CHECK_STATUS(TANSU_E_CANCELLED,
                     tansu_repair(folder, target(other), counting, &sane, NULL, &call_error));
        CHECK(!file_exists(target(other)));
    }
    db = salvaged(folder, other);
    sample_check(db);
    call_close(db);
    folder_remove(target(other));
    CHECK(nothing_left(other));
    free(other);
    folder_end(folder);
}

/* kill_at -- a tansu_progress that ends its process. */
static int kill_at(void *context, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    if (--*(int *)context == 0)
        kill(getpid(), SIGKILL);
    return 1;
}

static void a_killed_repair_is_replaced_by_the_next(void) {
    char *folder = sample_folder(), *other = folder_new();
    for (int at = 1; at <= 4; at++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int left = at;
            (void)tansu_repair(folder, target(other), kill_at, &left, NULL, NULL);
            _exit(0);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && !file_exists(target(other)));
    }
    tansu_db *db = salvaged(folder, other);
    sample_check(db);
    call_close(db);
    folder_remove(target(other));
    file_write(folder_join(other, "repaired.tansu-part"), "x", 1);
    db = salvaged(folder, other);
    sample_check(db);
    call_close(db);
    folder_remove(target(other));
    CHECK(nothing_left(other));
    free(other);
    folder_end(folder);
}

static void newer_formats_are_refused_and_damaged_ones_are_not(void) {
    char *folder = sample_folder(), *other = folder_new();
    char *name = strdup(folder_join(folder, "MANIFEST"));
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(name, &bytes);
    bytes.data[6] = '8';
    file_write(name, bytes.data, bytes.size);
    tansu_db *db = salvaged(folder, other);
    sample_check(db);
    call_close(db);
    folder_remove(target(other));
    char *mark = strstr((char *)bytes.data, "crc ");
    REQUIRE(mark != NULL);
    uint32_t crc = (uint32_t)crc32(0, bytes.data, (uInt)((uint8_t *)mark - bytes.data));
    char line[16];
    snprintf(line, sizeof line, "crc %08x", (unsigned)crc);
    memcpy(mark, line, 12);
    file_write(name, bytes.data, bytes.size);
    CHECK_STATUS(TANSU_E_VERSION, maintenance_repair(folder, target(other)));
    tansu_buffer_free(&bytes);
    free(name);
    folder_end(folder);
    folder_end(other);
}

int main(void) {
    RUN(an_undamaged_database_is_taken_whole);
    RUN(files_that_are_not_needed_may_be_gone);
    RUN(files_of_another_database_do_not_decide);
    RUN(a_manifest_without_any_segment_names_the_database);
    RUN(one_damaged_document_costs_only_itself);
    RUN(a_lost_version_leaves_the_one_before);
    RUN(a_missing_segment_is_reported);
    RUN(of_documents_with_one_id_the_newest_is_kept);
    RUN(a_unique_index_that_no_longer_fits_is_made_without_that);
    RUN(dropped_and_renamed_things_stay_so);
    RUN(an_unfinished_commit_is_not_taken);
    RUN(segments_that_are_no_files_are_left_out);
    RUN(a_misplaced_block_costs_what_it_lies_over);
    RUN(of_two_runs_with_the_same_commits_the_longest_is_taken);
    RUN(what_follows_a_misplaced_frame_is_no_commit);
    RUN(a_version_that_lies_over_the_newest_one_is_older);
    RUN(a_segment_that_is_somewhere_else_is_read);
    RUN(errors_leave_nothing);
    RUN(a_killed_repair_is_replaced_by_the_next);
    RUN(newer_formats_are_refused_and_damaged_ones_are_not);
    return check_finish();
}
