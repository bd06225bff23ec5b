/*
 * test_repair_proofs.c -- what proves to repair that a document was removed, that its `_id` is not
 * the one in a record that no checksum protects, or what a collection is called: later records, and
 * the index files.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/record_inventory.h"

#include <string.h>

/* Where the value of `_id` begins in a record. */
#define ID_OFFSET 25

/* segment_of -- the only segment of a database. */
static const char *segment_of(const char *folder) {
    return folder_join(folder, "log/00000001.seg");
}

/* salvaged -- repairs a folder into another, and opens the result. */
static tansu_db *salvaged(const char *folder, const char *other) {
    CHECK_OK(maintenance_repair(folder, folder_join(other, "repaired")), &call_error);
    return call_open(folder_join(other, "repaired"));
}

/* ---- Removed documents ---- */

static void a_deletion_that_was_lost_is_asked_of_the_index(void) {
    for (int index = 0; index < 2; index++) {
        char *folder = folder_new(), *other = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
        CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
        inventory l;
        inventory_take(&l, db);
        REQUIRE(l.documents[0].removed);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
        call_close(db);
        file_patch(segment_of(folder), l.documents[0].offset, "\xFF\xFF", 2);
        if (index == 0)
            folder_remove(folder_join(folder, "index"));
        db = salvaged(folder, other);
        CHECK_INT(1, maintenance_number("lostCommits"));
        CHECK_INT(index == 0 ? 3 : 2, maintenance_number("documents"));
        CHECK_INT(index == 0 ? 2 : 0, maintenance_number("uncertainDocuments"));
        CHECK_INT(index == 0 ? 2 : 0, maintenance_number("byCollection.0.uncertain"));
        const char *named = "{\"collection\": \"c\", \"_id\": 1, \"reason\": \"uncertain\"}";
        CHECK(maintenance_contains(named) == (index == 0));
        call_close(db);
        inventory_free(&l);
        folder_end(folder);
        folder_end(other);
    }
}

static void of_a_document_that_was_deleted_later_no_earlier_one_comes_back(void) {
    char *folder = folder_new(), *other = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    inventory l;
    inventory_take(&l, db);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 2}"), &call_error);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 1}", NULL), &call_error);
    call_close(db);
    /* The first deletion is lost; the second one tells all the same. */
    file_patch(segment_of(folder), l.documents[0].offset, "\xFF\xFF", 2);
    folder_remove(folder_join(folder, "index"));
    db = salvaged(folder, other);
    CHECK_INT(1, maintenance_number("lostCommits"));
    CHECK_INT(0, maintenance_number("documents"));
    CHECK_INT(0, call_count(db, NULL, "c", "{}"));
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

/* ---- Corrupt ids ---- */

/* three_documents -- saves `_id` 1 to 3, and takes an inventory of them. */
static tansu_db *three_documents(const char *folder, inventory *l) {
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 3}"), &call_error);
    inventory_take(l, db);
    REQUIRE(l->count == 3);
    return db;
}

/* change_id -- gives the second of them another `_id`, as of flipped bits. */
static void change_id(const char *folder, const inventory *l, char id) {
    file_patch(segment_of(folder), l->documents[1].offset + ID_OFFSET, &id, 1);
}

static void a_document_whose_id_became_that_of_another_is_lost(void) {
    char *folder = folder_new(), *other = folder_new();
    inventory l;
    call_close(three_documents(folder, &l));
    change_id(folder, &l, 3);
    tansu_db *db = salvaged(folder, other);
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 3 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(2, maintenance_number("documents"));
    CHECK_INT(0, maintenance_number("unprotected"));
    CHECK_INT(1, maintenance_number("lostDocuments"));
    CHECK_INT(1, maintenance_number("byCollection.0.lost"));
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

/* The index files know the document as present after that removal. */
static void a_document_whose_id_became_that_of_a_removed_one_is_kept(void) {
    char *folder = folder_new(), *other = folder_new();
    inventory l;
    tansu_db *db = three_documents(folder, &l);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 3}", NULL), &call_error);
    call_close(db);
    change_id(folder, &l, 3);
    db = salvaged(folder, other);
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 3 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(2, maintenance_number("documents"));
    CHECK_INT(1, maintenance_number("unprotected"));
    CHECK(maintenance_contains("{\"collection\": \"c\", \"_id\": 3, \"reason\": \"unprotected\"}"));
    CHECK_INT(0, maintenance_number("lostDocuments"));
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    folder_end(folder);
    folder_end(other);
}

/* The index files know it as removed, and not under which `_id`. */
static void a_removed_document_whose_id_became_that_of_another_removes_nothing(void) {
    char *folder = folder_new(), *other = folder_new();
    inventory l, removed;
    tansu_db *db = three_documents(folder, &l);
    CHECK_OK(call_remove(db, NULL, "c", "{'_id': 2}", NULL), &call_error);
    inventory_take(&removed, db);
    call_close(db);
    change_id(folder, &l, 1);
    for (size_t i = 0; i < removed.count; i++)
        if (removed.documents[i].removed)
            file_patch(segment_of(folder), removed.documents[i].offset, "\xFF\xFF", 2);
    db = salvaged(folder, other);
    CHECK_TEXT("{ \"_id\" : 1 } { \"_id\" : 3 }", call_find(db, NULL, "c", "{}", NULL));
    CHECK_INT(0, maintenance_number("unprotected"));
    CHECK_INT(0, maintenance_number("lostDocuments"));
    maintenance_clean(db);
    call_close(db);
    inventory_free(&l);
    inventory_free(&removed);
    folder_end(folder);
    folder_end(other);
}

/* ---- Names ---- */

static void a_collection_without_a_name_gets_one(void) {
    for (int index = 0; index < 2; index++) {
        char *folder = folder_new(), *other = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_OK(call_save(db, NULL, "recovered_1", TANSU_SAVE, "{'_id': 'other'}"), &call_error);
        call_close(db);
        file_flip(folder_join(folder, "log/00000001.seg"),
                  SEGMENT_HEADER_SIZE + FRAME_HEADER_SIZE + RECORD_HEADER_SIZE, 7);
        if (index == 0)
            folder_remove(folder_join(folder, "index"));
        db = salvaged(folder, other);
        CHECK(maintenance_contains("has no name"));
        CHECK_TEXT("{ \"_id\" : 1 }",
                   call_get(db, NULL, index == 0 ? "recovered_1_" : "c", "{'_id': 1}"));
        CHECK_TEXT("{ \"_id\" : \"other\" }",
                   call_get(db, NULL, "recovered_1", "{'_id': 'other'}"));
        call_close(db);
        folder_end(folder);
        folder_end(other);
    }
}

static void the_index_files_correct_the_name_of_a_collection(void) {
    for (int index = 0; index < 2; index++) {
        char *folder = folder_new(), *other = folder_new();
        tansu_db *db = call_open(folder);
        CHECK_OK(call_save(db, NULL, "orders", TANSU_SAVE, "{'_id': 1}"), &call_error);
        CHECK_OK(call_save(db, NULL, "orders", TANSU_SAVE, "{'_id': 2}"), &call_error);
        call_close(db);
        /* The name in the first record that has it, which creates the collection. */
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(segment_of(folder), &bytes);
        uint64_t at = 0;
        while (at + 6 < bytes.size && memcmp(bytes.data + at, "orders", 6) != 0)
            at++;
        REQUIRE(at + 6 < bytes.size);
        file_flip(segment_of(folder), at, 0);
        tansu_buffer_free(&bytes);
        if (index == 0)
            folder_remove(folder_join(folder, "index"));
        db = salvaged(folder, other);
        CHECK(maintenance_contains("is read from a record that no checksum protects"));
        CHECK_INT(2, call_count(db, NULL, index == 0 ? "nrders" : "orders", "{}"));
        call_close(db);
        folder_end(folder);
        folder_end(other);
    }
}

int main(void) {
    RUN(a_deletion_that_was_lost_is_asked_of_the_index);
    RUN(of_a_document_that_was_deleted_later_no_earlier_one_comes_back);
    RUN(a_document_whose_id_became_that_of_another_is_lost);
    RUN(a_document_whose_id_became_that_of_a_removed_one_is_kept);
    RUN(a_removed_document_whose_id_became_that_of_another_removes_nothing);
    RUN(a_collection_without_a_name_gets_one);
    RUN(the_index_files_correct_the_name_of_a_collection);
    return check_finish();
}
