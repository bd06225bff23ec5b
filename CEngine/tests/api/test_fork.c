/*
 * test_fork.c -- a child of fork(2) that goes on using the handles of its parent: every call says
 * so, closing touches no file, and nothing of it reaches the parent's database.
 */
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCUMENTS 500

/* What a process had open when it forked. */
typedef struct handles {
    const char *folder;
    tansu_db *db;
    tansu_txn *reading, *writing;
    tansu_cursor *cursor;
    tansu_feed *feed;
} handles;

/* Whether a call of the child was refused as it has to be. */
#define REFUSED(call)                                      \
    do {                                                   \
        memset(&call_error, 0, sizeof call_error);         \
        CHECK_STATUS(TANSU_E_INVALID_STATE, (call));       \
        CHECK(strstr(call_error.message, "fork") != NULL); \
    } while (0)

/* no_bytes -- a tansu_read_bytes of nothing. */
static ptrdiff_t no_bytes(void *context, void *bytes, size_t capacity) {
    (void)context, (void)bytes, (void)capacity;
    return 0;
}

/* take_bytes -- a tansu_write_bytes. */
static int take_bytes(void *context, const void *bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    return 0;
}

/* use_database -- every call that takes a database. */
static void use_database(tansu_db *db, tansu_txn *txn) {
    const tansu_document none = TANSU_NO_DOCUMENT;
    bson_t *documents[] = {bson_from_text("{'_id': 1}"), bson_from_text("{'$set': {'a': 1}}"),
                           bson_from_text("{'fields': {'n': {'$count': true}}}")};
    const tansu_document id = document_of(documents[0]), set = document_of(documents[1]);
    const tansu_document group = document_of(documents[2]);
    tansu_buffer b = TANSU_BUFFER_INIT;
    tansu_error *error = &call_error;
    tansu_cursor *cursor = NULL;
    tansu_document one = id;
    int64_t n = 0;
    int gone = 0;
    REFUSED(tansu_collection_ensure(db, txn, "new", none, error));
    REFUSED(tansu_collection_drop(db, txn, "c", error));
    REFUSED(tansu_collection_rename(db, txn, "c", "d", error));
    REFUSED(tansu_collection_list(db, txn, &b, error));
    REFUSED(tansu_collection_info(db, txn, "c", &b, error));
    REFUSED(tansu_collection_referrers(db, txn, "c", &b, error));
    REFUSED(tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, &b, error));
    REFUSED(call_save(db, txn, "c", TANSU_INSERT, "{'a': 1}"));
    REFUSED(tansu_update(db, txn, "c", none, set, none, &b, error));
    REFUSED(
        tansu_find_and_modify(db, txn, "c", none, set, none, TANSU_MODIFY_RETURN_AFTER, &b, error));
    REFUSED(tansu_remove(db, txn, "c", none, none, &n, error));
    REFUSED(tansu_remove_id(db, txn, "c", id, &gone, error));
    REFUSED(tansu_get(db, txn, "c", id, &b, error));
    REFUSED(tansu_find(db, txn, "c", none, none, &cursor, error));
    REFUSED(tansu_count(db, txn, "c", none, none, &n, error));
    REFUSED(tansu_explain(db, txn, "c", none, none, &b, error));
    REFUSED(tansu_distinct(db, txn, "c", "a", none, none, &b, error));
    REFUSED(tansu_aggregate(db, txn, "c", none, group, none, &b, error));
    REFUSED(call_index(db, txn, "c", "fresh", "{'z': 1}", NULL));
    REFUSED(tansu_index_drop(db, txn, "c", "n", error));
    REFUSED(tansu_index_list(db, txn, "c", &b, error));
    REFUSED(tansu_dump(db, txn, take_bytes, NULL, none, NULL, NULL, &b, error));
    tansu_buffer_free(&b);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        bson_destroy(documents[i]);
}

/* use_all -- every call with each of the handles. */
static void use_all(const handles *h) {
    tansu_error *error = &call_error;
    tansu_buffer b = TANSU_BUFFER_INIT;
    tansu_txn *txn = NULL;
    tansu_feed *feed = NULL;
    tansu_db *copy = NULL;
    tansu_document document;
    tansu_change change;
    uint64_t sequence;
    char *response = NULL;
    tansu_change_init(&change);
    use_database(h->db, NULL);
    use_database(h->db, h->reading);
    use_database(h->db, h->writing);
    REFUSED(tansu_sync(h->db, error));
    REFUSED(tansu_checkpoint(h->db, error));
    REFUSED(tansu_stats(h->db, &b, error));
    REFUSED(tansu_storage(h->db, &b, error));
    REFUSED(tansu_txn_begin(h->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, error));
    REFUSED(tansu_txn_begin(h->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, error));
    REFUSED(tansu_txn_prepare(h->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, error));
    REFUSED(tansu_compact(h->db, NULL, NULL, &b, error));
    REFUSED(tansu_verify(h->db, NULL, NULL, &b, error));
    REFUSED(tansu_load(h->db, no_bytes, NULL, TANSU_NO_DOCUMENT, NULL, NULL, &b, error));
    REFUSED(tansu_feed_open(h->db, 0, TANSU_NO_DOCUMENT, &feed, error));
    char to[1024];
    snprintf(to, sizeof to, "%s.copy", h->folder);
    REFUSED(tansu_backup(h->db, to, TANSU_BACKUP_FOLDER, NULL, NULL, &b, error));
    REFUSED(tansu_backup(h->db, to, TANSU_BACKUP_FILE, NULL, NULL, &b, error));
    tansu_options options = call_options(to);
    REFUSED(tansu_clone(h->db, &options, NULL, NULL, &copy, error));
    CHECK(!file_exists(to));
    CHECK_STATUS(
        TANSU_E_INVALID_STATE,
        tansu_execute_json(h->db, "{\"op\": \"count\", \"collection\": \"c\"}", &response));
    CHECK(response != NULL && strstr(response, "fork") != NULL);
    tansu_free(response);

    REFUSED(tansu_txn_start(h->writing, error));
    REFUSED(tansu_savepoint_begin(h->writing, error));
    REFUSED(tansu_txn_check_documents(h->writing, error));
    REFUSED(tansu_savepoint_release(h->writing, error));
    REFUSED(tansu_savepoint_roll_back(h->writing, error));
    REFUSED(tansu_cursor_next(h->cursor, &document, error));
    REFUSED(tansu_feed_next(h->feed, -1, &change, error));
    REFUSED(tansu_feed_skip(h->feed, -1, &sequence, error));
    tansu_txn_cancel(h->writing);
    tansu_cursor_cancel(h->cursor);
    tansu_feed_cancel(h->feed);
}

/* end_all -- by one of the ways in which handles end. */
static void end_all(const handles *h, int way) {
    if (way == 0) {
        REFUSED(tansu_txn_commit(h->writing, NULL, &call_error));
        REFUSED(tansu_txn_commit(h->reading, NULL, &call_error));
    } else {
        tansu_txn_abort(h->writing);
        tansu_txn_abort(h->reading);
    }
    tansu_cursor_close(h->cursor);
    tansu_feed_close(h->feed);
    if (way == 0)
        CHECK_OK(tansu_shutdown(h->db, &call_error), &call_error);
    else
        tansu_close(h->db);
}

/* in_child -- runs it in a forked process, and takes over whether its checks passed. */
static void in_child(void (*body)(const handles *, int), const handles *h, int way) {
    int status = 0;
    uint64_t before = check_failures();
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60); /* a lock that another thread of the parent held would never come free */
        body(h, way);
        fflush(stdout);
        _exit(check_failures() != before);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        check_note("    the child ended with status %x", status);
}

/* misuse -- everything, then the ends. */
static void misuse(const handles *h, int way) {
    use_all(h);
    end_all(h, way);
}

/* open_anew -- what a child should do: a database of its own. */
static void open_anew(const handles *h, int way) {
    if (way == 0) /* the parent has it */
        CHECK_STATUS(TANSU_E_LOCKED, call_try_open(h->folder));
    char other[1024];
    snprintf(other, sizeof other, "%s.child", h->folder);
    tansu_db *db = call_open(other);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_remove(other);
}

/* filled -- a database with an index. */
static tansu_db *filled(const tansu_options *options) {
    tansu_db *db = call_open_with(options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++) {
        char json[60];
        snprintf(json, sizeof json, "{'_id': %d, 'n': %d}", i, i % 7);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
    return db;
}

/* use_and_fork -- the parent works on while its children misuse what it has open. */
static void use_and_fork(const tansu_options *options, const char *folder, int way) {
    handles h = {.folder = folder, .db = filled(options)};
    h.reading = call_begin(h.db, TANSU_TXN_READ);
    h.writing = call_begin(h.db, TANSU_TXN_WRITE);
    CHECK_OK(call_save(h.db, h.writing, "c", TANSU_SAVE, "{'_id': 'written'}"), &call_error);
    CHECK_OK(tansu_savepoint_begin(h.writing, &call_error), &call_error);
    h.cursor = call_cursor(h.db, NULL, "c", "{}", NULL);
    CHECK_OK(tansu_feed_open(h.db, 0, TANSU_NO_DOCUMENT, &h.feed, &call_error), &call_error);
    in_child(misuse, &h, way);
    CHECK_OK(call_save(h.db, h.writing, "c", TANSU_SAVE, "{'_id': 'later'}"), &call_error);
    CHECK_OK(tansu_savepoint_release(h.writing, &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(h.writing, NULL, &call_error), &call_error);
    CHECK_INT(DOCUMENTS, call_count(h.db, h.reading, "c", "{}"));
    tansu_txn_abort(h.reading);
    int seen = 0;
    for (tansu_document d; tansu_cursor_next(h.cursor, &d, NULL) == TANSU_OK; seen++)
        ;
    CHECK_INT(DOCUMENTS, seen);
    tansu_cursor_close(h.cursor);
    tansu_change change;
    tansu_change_init(&change);
    CHECK_OK(tansu_feed_next(h.feed, 0, &change, &call_error), &call_error);
    tansu_feed_close(h.feed);
    in_child(open_anew, &h, options->store == TANSU_STORE_TEMPORARY);
    CHECK_INT(DOCUMENTS + 2, call_count(h.db, NULL, "c", "{}"));
    CHECK(maintenance_clean(h.db));
    call_close(h.db);
}

static void a_child_is_refused_and_the_parent_works_on(void) {
    for (int way = 0; way < 2; way++) {
        char *folder = folder_new();
        tansu_options options = call_options(folder);
        use_and_fork(&options, folder, way);
        tansu_db *db = call_open(folder);
        CHECK_INT(DOCUMENTS + 2, call_count(db, NULL, "c", "{}"));
        CHECK(maintenance_clean(db));
        call_close(db);
        folder_end(folder);
    }
}

/* Only the process that made it may remove the folder of a temporary database. */
static void a_child_leaves_a_temporary_database(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.store = TANSU_STORE_TEMPORARY;
    use_and_fork(&options, path_in(folder, "none"), 1);
    folder_end(folder);
}

/* A thread that keeps the mutexes of the database busy. */
typedef struct busy {
    tansu_db *db;
    bool stop;
} busy;

static void *write_on(void *context) {
    busy *b = context;
    for (int i = 0; !__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE); i++) {
        uint8_t document[] = {14, 0, 0, 0, 16, '_', 'i', 'd', 0, (uint8_t)i, 0, 0, 0, 0};
        tansu_document one = {document, sizeof document};
        tansu_save(b->db, NULL, "busy", &one, 1, TANSU_SAVE, NULL, NULL);
    }
    return NULL;
}

/* close_only -- without any other call. */
static void close_only(const handles *h, int way) {
    if (way == 0)
        tansu_close(h->db);
    else
        REFUSED(tansu_stats(h->db, &(tansu_buffer)TANSU_BUFFER_INIT, &call_error));
}

/* The child has none of the other threads, and the locks that they held stay locked. */
static void a_child_waits_for_no_lock_of_another_thread(void) {
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.compaction_percent = 30;
    busy b = {.db = call_open_with(&options)};
    handles h = {.folder = folder, .db = b.db};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_on, &b) == 0);
    for (int i = 0; i < 60; i++)
        in_child(close_only, &h, i % 2);
    __atomic_store_n(&b.stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(maintenance_clean(b.db));
    call_close(b.db);
    folder_end(folder);
}

int main(void) {
    RUN(a_child_is_refused_and_the_parent_works_on);
    RUN(a_child_leaves_a_temporary_database);
    RUN(a_child_waits_for_no_lock_of_another_thread);
    return check_finish();
}
