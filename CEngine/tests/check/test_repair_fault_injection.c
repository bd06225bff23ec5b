/*
 * test_repair_fault_injection.c -- every file call and every allocation of a repair, and of a
 * verify, fails once: there is a typed error and nothing at the target, or a result of which the
 * report says what is missing.
 */
#include "api/handles.h"
#include "check/repair/repair.h"
#include "check/verify/verify.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/workload/sample_database.h"

#include <errno.h>

/* count_of -- a number of a report. */
static int64_t count_of(const tansu_buffer *report, const char *name) {
    bson_t view;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&view, report->data, report->size) &&
            bson_iter_init_find(&iter, &view, name));
    return bson_iter_as_int64(&iter);
}

/* repair -- over the calls that may fail. */
static tansu_status repair(const char *from, const char *to, tansu_buffer *report) {
    tansu_options settings = call_options(NULL);
    const user_key none = {.bytes = NULL};
    return database_repair(from, to, &none, &fault_fs, &engine_query_hooks, &settings, NULL, NULL,
                           report, &call_error);
}

/* check_result -- a new database has everything, or its report said that it has not. */
static void check_result(const char *to, int64_t problems) {
    tansu_db *db = call_open(to);
    if (problems == 0)
        sample_check(db);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
}

/* repair_in_turn -- once for each call that it makes. */
static void repair_in_turn(fault_kind kind, bool lasting, bool unclean) {
    static const int numbers[] = {ENOSPC, EIO};
    char *from = unclean ? sample_unclean(true) : sample_folder(), *folder = folder_new();
    const char *to = path_in(folder, "to"), *part = path_in(folder, "to.tansu-part");
    tansu_buffer report = TANSU_BUFFER_INIT;
    uint64_t before = sample_checksum(from);
    bool met = true;
    for (unsigned n = 1; met; n++) {
        fault_start(kind, n, lasting, numbers[n % 2]);
        tansu_status status = repair(from, to, &report);
        fault_stop();
        met = fault_occurred();
        if (!met)
            CHECK(status == TANSU_OK && count_of(&report, "problemCount") == 0);
        if (status == TANSU_OK) {
            check_result(to, count_of(&report, "problemCount"));
        } else if (kind == FAULT_MEMORY) {
            CHECK_STATUS(TANSU_E_MEMORY, status);
        } else {
            if (!CHECK(status == TANSU_E_FULL || status == TANSU_E_IO ||
                       status == TANSU_E_SYNC_FAILED))
                check_note("    call %u: %s, %s", n, tansu_status_name(status), call_error.message);
            CHECK(call_error.message[0] != 0);
        }
        CHECK(status == TANSU_OK || !file_exists(to) || lasting);
        /* Taking the unfinished one away needs both. */
        CHECK(!file_exists(part) || lasting || kind == FAULT_MEMORY || status != TANSU_OK);
        remove_at(to);
        remove_at(part);
        CHECK(n < 3000);
    }
    CHECK_INT(before, sample_checksum(from));
    tansu_buffer_free(&report);
    folder_end(folder);
    folder_end(from);
}

/* verify_in_turn -- an error is the fault's; it is never taken for damage. */
static void verify_in_turn(fault_kind kind) {
    char *folder = sample_folder();
    tansu_db *db = call_open(folder);
    bool met = true;
    for (unsigned n = 1; met; n++) {
        tansu_buffer report = TANSU_BUFFER_INIT;
        fault_start(kind, n, false, EIO);
        tansu_status status =
            database_verify(db_inner(db), NULL, NULL, n % 2 ? &report : NULL, &call_error);
        fault_stop();
        met = fault_occurred();
        if (status != TANSU_OK)
            CHECK_STATUS(kind == FAULT_MEMORY ? TANSU_E_MEMORY : TANSU_E_IO, status);
        CHECK(met || status == TANSU_OK);
        CHECK_INT(-1, call_statistic(db, "indexesDamaged"));
        tansu_buffer_free(&report);
        CHECK(n < 3000);
    }
    sample_check(db);
    call_close(db);
    folder_end(folder);
}

static void a_file_call_that_fails_leaves_nothing(void) {
    repair_in_turn(FAULT_FILES, false, false);
    repair_in_turn(FAULT_FILES, false, true);
    verify_in_turn(FAULT_FILES);
}

static void a_disk_that_fails_for_good_leaves_nothing(void) {
    repair_in_turn(FAULT_FILES, true, true);
}

static void an_allocation_that_fails_leaves_nothing(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    repair_in_turn(FAULT_MEMORY, false, true);
    verify_in_turn(FAULT_MEMORY);
}

int main(void) {
    RUN(a_file_call_that_fails_leaves_nothing);
    RUN(a_disk_that_fails_for_good_leaves_nothing);
    RUN(an_allocation_that_fails_leaves_nothing);
    return check_finish();
}
