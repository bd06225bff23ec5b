/*
 * test_read_errors.c -- pages of the mapped log that can't be read or written: the status is IO, no
 * signal ends the program, and what lies elsewhere is read as before.
 */
#include "store/database.h"
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/fault/cut_log.h"
#include "support/folder.h"
#include "util/sigbus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void documents_elsewhere_are_read(void) {
    char *folder = cut_log_database();
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    for (int round = 0; round < 2; round++) { /* with the fault, and with what it left */
        int lost = cut_log_count_lost(db, NULL);
        CHECK(lost >= CUT_LOG_LOST_LEAST && lost <= CUT_LOG_LOST_MOST);
    }
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    int lost = cut_log_count_lost(db, txn);
    CHECK(lost >= CUT_LOG_LOST_LEAST && lost <= CUT_LOG_LOST_MOST);
    tansu_txn_abort(txn);
    call_close(db);
    folder_end(folder);
}

/* step_all -- all steps of a cursor: right documents, then an IO. */
static void step_all(tansu_db *db, const char *query, const char *hints) {
    tansu_cursor *cursor = call_cursor(db, NULL, "c", query, hints);
    tansu_document doc;
    tansu_status status;
    int steps = 0;
    while ((status = tansu_cursor_next(cursor, &doc, &call_error)) == TANSU_OK)
        if (hints == NULL) {
            bson_t view;
            bson_iter_t iter;
            REQUIRE(bson_init_static(&view, doc.data, doc.size) &&
                    bson_iter_init_find(&iter, &view, "_id"));
            cut_log_check_document(doc.data, doc.size, bson_iter_int32(&iter));
            steps++;
        }
    CHECK_STATUS(TANSU_E_IO, status);
    CHECK(hints != NULL || steps > 0);
    tansu_cursor_close(cursor);
}

/* no_bytes -- a dump's target that takes everything. */
static int no_bytes(void *context, const void *bytes, size_t size) {
    (void)context;
    (void)bytes;
    (void)size;
    return 0;
}

/* distinct -- the values of a path that has no index. */
static tansu_status distinct(tansu_db *db, tansu_buffer *result) {
    return tansu_distinct(db, NULL, "c", "b", TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, result,
                          &call_error);
}

/* update_all -- an update of every document. */
static tansu_status update_all(tansu_db *db, tansu_txn *txn) {
    bson_t *query = bson_new(), *update = BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}");
    tansu_status status = tansu_update(db, txn, "c", document_of(query), document_of(update),
                                       TANSU_NO_DOCUMENT, NULL, &call_error);
    bson_destroy(query);
    bson_destroy(update);
    return status;
}

/* Every call that needs what is not there. */
static void try_every_call(tansu_db *db, const char *folder) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    step_all(db, "{}", NULL);
    step_all(db, "{'n': {'$gte': 0}}", NULL);
    CHECK_INT(-TANSU_E_IO, call_count(db, NULL, "c", "{'b': 1}"));
    CHECK_INT(CUT_LOG_DOCUMENTS, call_count(db, NULL, "c", "{}"));
    CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}")); /* of the index alone */
    CHECK_STATUS(TANSU_E_IO, distinct(db, &result));
    CHECK_STATUS(TANSU_E_IO, update_all(db, NULL));
    CHECK_STATUS(TANSU_E_IO, call_remove(db, NULL, "c", "{'b': {'$exists': true}}", NULL));
    CHECK_STATUS(TANSU_E_IO, call_index(db, NULL, "c", "b", "{'b': 1}", NULL));
    CHECK_STATUS(TANSU_E_IO, tansu_dump(db, NULL, no_bytes, NULL, TANSU_NO_DOCUMENT, NULL, NULL,
                                        NULL, &call_error));
    CHECK_STATUS(TANSU_E_IO, tansu_verify(db, NULL, NULL, &result, &call_error));
    const char *backup = folder_join(folder, "../backup-of-cut");
    folder_remove(backup);
    CHECK_STATUS(TANSU_E_IO,
                 tansu_backup(db, backup, TANSU_BACKUP_FOLDER, NULL, NULL, NULL, &call_error));
    CHECK(!file_exists(backup));
    tansu_options memory;
    tansu_options_init(&memory);
    memory.store = TANSU_STORE_MEMORY;
    tansu_db *copy = NULL;
    CHECK_STATUS(TANSU_E_IO, tansu_clone(db, &memory, NULL, NULL, &copy, &call_error));
    CHECK(copy == NULL);
    tansu_feed *feed = NULL;
    tansu_status status = tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &feed, &call_error);
    tansu_change change;
    tansu_change_init(&change);
    for (int i = 0; status == TANSU_OK && i < 2 * CUT_LOG_DOCUMENTS; i++)
        status = tansu_feed_next(feed, 0, &change, &call_error);
    CHECK_STATUS(TANSU_E_IO, status);
    tansu_feed_close(feed);
    /* A transaction that met it is not kept; the next is. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_IO, update_all(db, txn));
    tansu_txn_abort(txn);
    CHECK_OK(cut_log_save(db, NULL, CUT_LOG_DOCUMENTS), &call_error);
    CHECK_OK(cut_log_get(db, NULL, CUT_LOG_DOCUMENTS, &result), &call_error);
    CHECK_OK(cut_log_get(db, NULL, 0, &result), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1000}", NULL), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_buffer_free(&result);
}

static void every_call_says_io(void) {
    char *folder = cut_log_database();
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    for (int round = 0; round < 2; round++)
        try_every_call(db, folder);
    call_close(db);
    folder_end(folder);
}

/* One call each that is the first to meet the pages. */
static tansu_status first_cursor(tansu_db *db) {
    step_all(db, "{}", NULL);
    return TANSU_E_IO;
}
static tansu_status first_sort(tansu_db *db) {
    step_all(db, "{}", "{'$orderby': {'b': 1}}");
    return TANSU_E_IO;
}
static tansu_status first_count(tansu_db *db) {
    return (tansu_status)-call_count(db, NULL, "c", "{'b': 1}");
}
static tansu_status first_distinct(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = distinct(db, &result);
    tansu_buffer_free(&result);
    return status;
}
static tansu_status first_update(tansu_db *db) {
    return update_all(db, NULL);
}
static tansu_status first_remove(tansu_db *db) {
    return call_remove(db, NULL, "c", "{'n': {'$gte': 0}}", NULL);
}
static tansu_status first_index(tansu_db *db) {
    return call_index(db, NULL, "c", "b", "{'b': 1}", NULL);
}
static tansu_status first_dump(tansu_db *db) {
    return tansu_dump(db, NULL, no_bytes, NULL, TANSU_NO_DOCUMENT, NULL, NULL, NULL, &call_error);
}
static tansu_status first_verify(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_verify(db, NULL, NULL, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}
static tansu_status first_feed(tansu_db *db) {
    tansu_feed *feed = NULL;
    tansu_change change;
    tansu_change_init(&change);
    tansu_status status = tansu_feed_open(db, 0, TANSU_NO_DOCUMENT, &feed, &call_error);
    for (int i = 0; status == TANSU_OK && i < 2 * CUT_LOG_DOCUMENTS; i++)
        status = tansu_feed_next(feed, 0, &change, &call_error);
    tansu_feed_close(feed);
    return status;
}
static tansu_status first_compaction(tansu_db *db) {
    tansu_status status = TANSU_OK;
    for (int i = 257; status == TANSU_OK && i < 271; i++) /* in the segment, before the cut */
        status = cut_log_save(db, NULL, i);
    return status == TANSU_OK ? tansu_compact(db, NULL, NULL, NULL, &call_error) : status;
}

static void whoever_meets_it_first_says_io(void) {
    static tansu_status (*const calls[])(tansu_db *) = {
        first_cursor, first_sort,  first_count, first_distinct, first_update,
        first_remove, first_index, first_dump,  first_verify,   first_feed,
    };
    char *folder = cut_log_database(), *copy = folder_new();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        folder_remove(copy);
        folder_copy(folder, copy);
        tansu_db *db = cut_log_open(copy, CUT_LOG_SEGMENT, CUT_LOG_AT);
        CHECK_STATUS(TANSU_E_IO, calls[i](db));
        /* Nothing was changed, and the rest can be read. */
        CHECK_INT(CUT_LOG_DOCUMENTS, call_count(db, NULL, "c", "{}"));
        CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}"));
        int lost = cut_log_count_lost(db, NULL);
        CHECK(lost >= CUT_LOG_LOST_LEAST && lost <= CUT_LOG_LOST_MOST);
        call_close(db);
    }
    folder_end(copy);
    folder_end(folder);
}

static void a_compaction_says_io_and_changes_nothing(void) {
    char *folder = cut_log_database();
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    CHECK_STATUS(TANSU_E_IO, first_compaction(db));
    int lost = cut_log_count_lost(db, NULL);
    CHECK(lost >= CUT_LOG_LOST_LEAST && lost <= CUT_LOG_LOST_MOST);
    call_close(db);
    folder_end(folder);
}

/* ---- Opening ---- */

/* What is cut as soon as it is mapped, by its inode. */
static ino_t cut_inode;
static const char *cut_folder;

/* map_and_cut -- a file that goes between the look at its size and the reading. */
static void *map_and_cut(int fd, uint64_t size, bool writable) {
    void *address = fs_system.map(fd, size, writable);
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_ino == cut_inode)
        REQUIRE(truncate(folder_join(cut_folder, CUT_LOG_SEGMENT), CUT_LOG_AT) == 0);
    return address;
}

static void what_opening_cannot_read_is_not_the_logs_end(void) {
    char *folder = folder_new(), *copy = folder_new();
    tansu_db *db = call_open(folder);
    for (int i = 0; i < CUT_LOG_DOCUMENTS; i++)
        REQUIRE(CHECK_OK(cut_log_save(db, NULL, i), &call_error));
    folder_remove(copy);
    folder_copy(folder, copy); /* as a killed process leaves it: all of it is replayed */
    call_close(db);
    tansu_buffer whole = TANSU_BUFFER_INIT;
    file_read(folder_join(copy, CUT_LOG_SEGMENT), &whole);
    struct stat info;
    REQUIRE(stat(folder_join(copy, CUT_LOG_SEGMENT), &info) == 0);
    cut_inode = info.st_ino;
    cut_folder = copy;
    fs calls = fs_system;
    calls.map = map_and_cut;
    tansu_options options = call_options(copy);
    for (int read_only = 0; read_only < 2; read_only++) {
        database *inner = NULL;
        options.read_only = read_only;
        CHECK_STATUS(TANSU_E_IO, database_open(&options, &calls, NULL, &inner, &call_error));
        CHECK_TEXT(CUT_LOG_SEGMENT, call_error.context);
        CHECK_INT(CUT_LOG_AT, file_size(folder_join(copy, CUT_LOG_SEGMENT)));
        CHECK(file_exists(folder_join(copy, "log/00000004.seg")));
        file_write(folder_join(copy, CUT_LOG_SEGMENT), whole.data, whole.size);
    }
    db = call_open(copy);
    CHECK_INT(0, cut_log_count_lost(db, NULL));
    call_close(db);
    tansu_buffer_free(&whole);
    folder_end(copy);
    folder_end(folder);
}

/* ---- The head ---- */

static void a_commit_into_lost_pages_is_not_acknowledged(void) {
    char *folder = cut_log_database();
    tansu_db *db = call_open(folder);
    const char *head = "log/00000004.seg";
    REQUIRE(!file_exists(folder_join(folder, "log/00000005.seg")));
    REQUIRE(truncate(folder_join(folder, head), 8192) == 0);
    CHECK_STATUS(TANSU_E_IO, cut_log_save(db, NULL, CUT_LOG_DOCUMENTS));
    CHECK_STATUS(TANSU_E_SYNC_FAILED, cut_log_save(db, NULL, CUT_LOG_DOCUMENTS));
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_STATUS(TANSU_E_NOT_FOUND, cut_log_get(db, NULL, CUT_LOG_DOCUMENTS, &result));
    for (int i = 0; i < 700; i++)
        CHECK_OK(cut_log_get(db, NULL, i, &result), &call_error);
    CHECK_STATUS(TANSU_E_IO, cut_log_get(db, NULL, CUT_LOG_DOCUMENTS - 1, &result));
    CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}"));
    tansu_buffer_free(&result);
    tansu_close(db);
    /* What lay after the cut is gone for good. */
    tansu_options options = call_options(folder);
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
    folder_end(folder);
}

/* ---- Threads ---- */

typedef struct reader {
    tansu_db *db;
    atomic_bool *stop;
    int right, lost;
} reader;

/* read_on -- gets documents until asked to stop; all that come are right. */
static void *read_on(void *context) {
    reader *r = context;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    for (int i = 0; !atomic_load(r->stop) || i < CUT_LOG_DOCUMENTS; i++) {
        bson_t *id = BCON_NEW("_id", BCON_INT32(i % CUT_LOG_DOCUMENTS));
        tansu_status status = tansu_get(r->db, NULL, "c", document_of(id), &result, &error);
        bson_destroy(id);
        if (status == TANSU_OK)
            cut_log_check_document(result.data, result.size, i % CUT_LOG_DOCUMENTS);
        else
            CHECK_STATUS(TANSU_E_IO, status);
        r->right += status == TANSU_OK;
        r->lost += status != TANSU_OK;
    }
    tansu_buffer_free(&result);
    return NULL;
}

static void threads_read_while_pages_go(void) {
    char *folder = cut_log_database();
    tansu_db *db = call_open(folder);
    atomic_bool stop = false;
    reader readers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        readers[i] = (reader){.db = db, .stop = &stop};
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &readers[i]) == 0);
    }
    const char *path = folder_join(folder, CUT_LOG_SEGMENT);
    for (uint64_t at = file_size(path) / 4096 * 4096; at > 4096; at -= 4096) {
        REQUIRE(truncate(path, (off_t)at) == 0);
        usleep(200);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(readers[i].right > 0 && readers[i].lost > 0);
    }
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(documents_elsewhere_are_read);
    RUN(every_call_says_io);
    RUN(whoever_meets_it_first_says_io);
    RUN(a_compaction_says_io_and_changes_nothing);
    RUN(what_opening_cannot_read_is_not_the_logs_end);
    RUN(a_commit_into_lost_pages_is_not_acknowledged);
    RUN(threads_read_while_pages_go);
    return check_finish();
}
