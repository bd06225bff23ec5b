/*
 * test_read_errors.c -- pages of the mapped log that can't be read or written: the status is IO, no signal
 * ends the program, what lies elsewhere is read as before, and the program's own faults stay its own.
 *
 * The file is cut under the open database: its pages then raise the same SIGBUS as those of a device
 * that fails (tests/device/ has one).
 */
#include "base/guard.h"
#include "catalog/database.h"
#include "toolkit/call.h"
#include "toolkit/check.h"
#include "toolkit/folder.h"

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

/* Documents of 4 kB: some 250 to a segment of 1 MiB. */
#define DOCUMENTS 1000
#define FILLING 4000

/* A segment in the middle, and the page up to which it is cut. */
#define CUT_SEGMENT "log/00000002.seg"
#define CUT_AT 65536

/* save_one -- a document whose every value follows from its number. */
static tansu_status save_one(tansu_db *db, tansu_txn *txn, int number) {
    uint8_t filling[FILLING];
    memset(filling, number % 251 + 1, sizeof filling);
    bson_t *doc = BCON_NEW("_id", BCON_INT32(number), "n", BCON_INT32(number % 100), "b",
                           BCON_BIN(BSON_SUBTYPE_BINARY, filling, FILLING));
    tansu_status status = call_save_bson(db, txn, "c", TANSU_SAVE, doc);
    bson_destroy(doc);
    return status;
}

/* check_document -- a document that was read is the one that was saved. */
static void check_document(const void *data, size_t size, int number) {
    bson_t doc;
    bson_iter_t iter;
    REQUIRE(bson_init_static(&doc, data, size));
    CHECK(bson_iter_init_find(&iter, &doc, "_id") && bson_iter_int32(&iter) == number);
    CHECK(bson_iter_init_find(&iter, &doc, "n") && bson_iter_int32(&iter) == number % 100);
    REQUIRE(bson_iter_init_find(&iter, &doc, "b") && BSON_ITER_HOLDS_BINARY(&iter));
    bson_subtype_t kind;
    uint32_t length;
    const uint8_t *bytes;
    bson_iter_binary(&iter, &kind, &length, &bytes);
    REQUIRE(length == FILLING);
    for (uint32_t i = 0; i < length; i++)
        if (bytes[i] != number % 251 + 1) {
            CHECK_INT(number % 251 + 1, bytes[i]);
            return;
        }
}

/* new_database -- several segments, all on the disk. */
static char *new_database(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    for (int i = 0; i < DOCUMENTS; i++)
        REQUIRE(CHECK_OK(save_one(db, NULL, i), &call_error));
    call_close(db);
    REQUIRE(file_exists(folder_join(folder, "log/00000004.seg")));
    return folder;
}

/* open_cut -- opens it and cuts a segment. */
static tansu_db *open_cut(const char *folder, const char *segment, uint64_t at) {
    tansu_db *db = call_open(folder);
    REQUIRE(file_size(folder_join(folder, segment)) > at + 100000);
    REQUIRE(truncate(folder_join(folder, segment), (off_t)at) == 0);
    return db;
}

/* get_one -- one document by its `_id`, checked when it is there. */
static tansu_status get_one(tansu_db *db, tansu_txn *txn, int number, tansu_buffer *result) {
    bson_t *id = BCON_NEW("_id", BCON_INT32(number));
    tansu_status status = tansu_get(db, txn, "c", bson_get_data(id), id->len, result, &call_error);
    bson_destroy(id);
    if (status == TANSU_OK)
        check_document(result->data, result->size, number);
    return status;
}

/* get_all -- how many documents can't be read; those that can are right. */
static int get_all(tansu_db *db, tansu_txn *txn) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    int lost = 0;
    for (int i = 0; i < DOCUMENTS; i++) {
        tansu_status status = get_one(db, txn, i, &result);
        if (status != TANSU_OK) {
            CHECK_STATUS(TANSU_E_IO, status);
            CHECK_INT(EIO, call_error.sys_errno);
            CHECK_TEXT(CUT_SEGMENT, call_error.context);
            CHECK(call_error.offset >= CUT_AT);
            lost++;
        }
    }
    tansu_buffer_free(&result);
    return lost;
}

/* What lies behind the cut, less what lies in the page that the cut went through. */
#define LOST_LEAST 200
#define LOST_MOST 260

static void documents_elsewhere_are_read(void) {
    char *folder = new_database();
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
    for (int round = 0; round < 2; round++) { /* with the fault, and with what it left */
        int lost = get_all(db, NULL);
        CHECK(lost >= LOST_LEAST && lost <= LOST_MOST);
    }
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    int lost = get_all(db, txn);
    CHECK(lost >= LOST_LEAST && lost <= LOST_MOST);
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
            check_document(doc.data, doc.size, bson_iter_int32(&iter));
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
    return tansu_distinct(db, NULL, "c", "b", NULL, 0, NULL, 0, result, &call_error);
}

/* update_all -- an update of every document. */
static tansu_status update_all(tansu_db *db, tansu_txn *txn) {
    bson_t *query = bson_new(), *update = BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}");
    tansu_status status =
        tansu_update(db, txn, "c", bson_get_data(query), query->len, bson_get_data(update),
                     update->len, NULL, 0, NULL, &call_error);
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
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
    CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}")); /* of the index alone */
    CHECK_STATUS(TANSU_E_IO, distinct(db, &result));
    CHECK_STATUS(TANSU_E_IO, update_all(db, NULL));
    CHECK_STATUS(TANSU_E_IO, call_remove(db, NULL, "c", "{'b': {'$exists': true}}", NULL));
    CHECK_STATUS(TANSU_E_IO, call_index(db, NULL, "c", "b", "{'b': 1}", NULL));
    CHECK_STATUS(TANSU_E_IO,
                 tansu_dump(db, NULL, no_bytes, NULL, NULL, 0, NULL, NULL, NULL, &call_error));
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
    tansu_status status = tansu_feed_open(db, 0, NULL, 0, &feed, &call_error);
    tansu_change change;
    tansu_change_init(&change);
    for (int i = 0; status == TANSU_OK && i < 2 * DOCUMENTS; i++)
        status = tansu_feed_next(feed, 0, &change, &call_error);
    CHECK_STATUS(TANSU_E_IO, status);
    tansu_feed_close(feed);
    /* A transaction that met it is not kept; the next is. */
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_STATUS(TANSU_E_IO, update_all(db, txn));
    tansu_txn_abort(txn);
    CHECK_OK(save_one(db, NULL, DOCUMENTS), &call_error);
    CHECK_OK(get_one(db, NULL, DOCUMENTS, &result), &call_error);
    CHECK_OK(get_one(db, NULL, 0, &result), &call_error);
    CHECK_OK(call_remove_id(db, NULL, "c", "{'_id': 1000}", NULL), &call_error);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    tansu_buffer_free(&result);
}

static void every_call_says_io(void) {
    char *folder = new_database();
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
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
    return tansu_dump(db, NULL, no_bytes, NULL, NULL, 0, NULL, NULL, NULL, &call_error);
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
    tansu_status status = tansu_feed_open(db, 0, NULL, 0, &feed, &call_error);
    for (int i = 0; status == TANSU_OK && i < 2 * DOCUMENTS; i++)
        status = tansu_feed_next(feed, 0, &change, &call_error);
    tansu_feed_close(feed);
    return status;
}
static tansu_status first_compaction(tansu_db *db) {
    tansu_status status = TANSU_OK;
    for (int i = 257; status == TANSU_OK && i < 271; i++) /* in the segment, before the cut */
        status = save_one(db, NULL, i);
    return status == TANSU_OK ? tansu_compact(db, NULL, NULL, NULL, &call_error) : status;
}

static void whoever_meets_it_first_says_io(void) {
    static tansu_status (*const calls[])(tansu_db *) = {
        first_cursor, first_sort,  first_count, first_distinct, first_update,
        first_remove, first_index, first_dump,  first_verify,   first_feed,
    };
    char *folder = new_database(), *copy = folder_new();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        folder_remove(copy);
        folder_copy(folder, copy);
        tansu_db *db = open_cut(copy, CUT_SEGMENT, CUT_AT);
        CHECK_STATUS(TANSU_E_IO, calls[i](db));
        /* Nothing was changed, and the rest can be read. */
        CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
        CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}"));
        int lost = get_all(db, NULL);
        CHECK(lost >= LOST_LEAST && lost <= LOST_MOST);
        call_close(db);
    }
    folder_end(copy);
    folder_end(folder);
}

static void a_compaction_says_io_and_changes_nothing(void) {
    char *folder = new_database();
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
    CHECK_STATUS(TANSU_E_IO, first_compaction(db));
    int lost = get_all(db, NULL);
    CHECK(lost >= LOST_LEAST && lost <= LOST_MOST);
    call_close(db);
    folder_end(folder);
}

/* ---- Opening ---- */

/* What is cut as soon as it is mapped, by its inode. */
static ino_t cut_inode;
static const char *cut_folder;

/* map_and_cut -- a file that goes between the look at its size and the reading. */
static void *map_and_cut(int fd, size_t size, bool writable) {
    void *address = fs_system.map(fd, size, writable);
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_ino == cut_inode)
        REQUIRE(truncate(folder_join(cut_folder, CUT_SEGMENT), CUT_AT) == 0);
    return address;
}

static void what_opening_cannot_read_is_not_the_logs_end(void) {
    char *folder = folder_new(), *copy = folder_new();
    tansu_db *db = call_open(folder);
    for (int i = 0; i < DOCUMENTS; i++)
        REQUIRE(CHECK_OK(save_one(db, NULL, i), &call_error));
    folder_remove(copy);
    folder_copy(folder, copy); /* as a killed process leaves it: all of it is replayed */
    call_close(db);
    tansu_buffer whole = TANSU_BUFFER_INIT;
    file_read(folder_join(copy, CUT_SEGMENT), &whole);
    struct stat info;
    REQUIRE(stat(folder_join(copy, CUT_SEGMENT), &info) == 0);
    cut_inode = info.st_ino;
    cut_folder = copy;
    fs calls = fs_system;
    calls.map = map_and_cut;
    tansu_options options = call_options(copy);
    for (int read_only = 0; read_only < 2; read_only++) {
        database *inner = NULL;
        options.read_only = read_only;
        CHECK_STATUS(TANSU_E_IO, database_open(&options, &calls, NULL, &inner, &call_error));
        CHECK_TEXT(CUT_SEGMENT, call_error.context);
        CHECK_INT(CUT_AT, file_size(folder_join(copy, CUT_SEGMENT)));
        CHECK(file_exists(folder_join(copy, "log/00000004.seg")));
        file_write(folder_join(copy, CUT_SEGMENT), whole.data, whole.size);
    }
    db = call_open(copy);
    CHECK_INT(0, get_all(db, NULL));
    call_close(db);
    tansu_buffer_free(&whole);
    folder_end(copy);
    folder_end(folder);
}

/* ---- The head ---- */

static void a_commit_into_lost_pages_is_not_acknowledged(void) {
    char *folder = new_database();
    tansu_db *db = call_open(folder);
    const char *head = "log/00000004.seg";
    REQUIRE(!file_exists(folder_join(folder, "log/00000005.seg")));
    REQUIRE(truncate(folder_join(folder, head), 8192) == 0);
    CHECK_STATUS(TANSU_E_IO, save_one(db, NULL, DOCUMENTS));
    CHECK_STATUS(TANSU_E_FAILED, save_one(db, NULL, DOCUMENTS));
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_STATUS(TANSU_E_NOT_FOUND, get_one(db, NULL, DOCUMENTS, &result));
    for (int i = 0; i < 700; i++)
        CHECK_OK(get_one(db, NULL, i, &result), &call_error);
    CHECK_STATUS(TANSU_E_IO, get_one(db, NULL, DOCUMENTS - 1, &result));
    CHECK_INT(10, call_count(db, NULL, "c", "{'n': 7}"));
    tansu_buffer_free(&result);
    tansu_close(db);
    /* What lay behind the cut is gone for good. */
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

/* read_on -- gets documents until told to stop; all that come are right. */
static void *read_on(void *context) {
    reader *r = context;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    for (int i = 0; !atomic_load(r->stop) || i < DOCUMENTS; i++) {
        bson_t *id = BCON_NEW("_id", BCON_INT32(i % DOCUMENTS));
        tansu_status status =
            tansu_get(r->db, NULL, "c", bson_get_data(id), id->len, &result, &error);
        bson_destroy(id);
        if (status == TANSU_OK)
            check_document(result.data, result.size, i % DOCUMENTS);
        else
            CHECK_STATUS(TANSU_E_IO, status);
        r->right += status == TANSU_OK;
        r->lost += status != TANSU_OK;
    }
    tansu_buffer_free(&result);
    return NULL;
}

static void threads_read_while_pages_go(void) {
    char *folder = new_database();
    tansu_db *db = call_open(folder);
    atomic_bool stop = false;
    reader readers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        readers[i] = (reader){.db = db, .stop = &stop};
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &readers[i]) == 0);
    }
    const char *path = folder_join(folder, CUT_SEGMENT);
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

/* ---- The program's own faults ---- */

static sigjmp_buf back;
static atomic_int own_faults, other_calls;
static struct sigaction behind;
static uint8_t *volatile own_page;

/* own_fault -- the program's handler: takes what is its own, and passes the rest on. */
static void own_fault(int number, siginfo_t *info, void *context) {
    if ((uint8_t *)info->si_addr >= own_page && (uint8_t *)info->si_addr < own_page + 4096) {
        atomic_fetch_add(&own_faults, 1);
        siglongjmp(back, 1);
    }
    atomic_fetch_add(&other_calls, 1);
    if ((behind.sa_flags & SA_SIGINFO) != 0)
        behind.sa_sigaction(number, info, context);
}

/* map_own -- a page of the program's that can't be read. */
static void map_own(void) {
    char path[] = "/tmp/tansu-own-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    unlink(path);
    own_page = mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(own_page != MAP_FAILED);
    close(fd);
}

/* touch_own -- how often the program's handler was called for it. */
static int touch_own(void) {
    int before = atomic_load(&own_faults);
    if (sigsetjmp(back, 1) == 0)
        (void)*(volatile uint8_t *)own_page;
    return atomic_load(&own_faults) - before;
}

/* put_handler -- sets the program's. */
static void put_handler(void) {
    struct sigaction action = {.sa_sigaction = own_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    REQUIRE(sigaction(SIGBUS, &action, &behind) == 0);
}

/* handler_now -- the handler that is in place. */
static void (*handler_now(void))(int, siginfo_t *, void *) {
    struct sigaction now;
    REQUIRE(sigaction(SIGBUS, NULL, &now) == 0);
    return (now.sa_flags & SA_SIGINFO) != 0 ? now.sa_sigaction : NULL;
}

/* check_both -- the program's fault is its own, and the log's ours. */
static void check_both(tansu_db *db) {
    CHECK_INT(1, touch_own());
    int lost = get_all(db, NULL);
    CHECK(lost >= LOST_LEAST && lost <= LOST_MOST);
    CHECK_INT(1, touch_own());
}

static void a_handler_from_before_gets_its_own(void) {
    struct sigaction first;
    REQUIRE(sigaction(SIGBUS, NULL, &first) == 0);
    put_handler();
    char *folder = new_database();
    CHECK(handler_now() == own_fault); /* no database is open */
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
    CHECK(handler_now() != own_fault);
    atomic_store(&other_calls, 0);
    check_both(db);
    CHECK_INT(0, other_calls);
    call_close(db);
    CHECK(handler_now() == own_fault);
    CHECK_INT(1, touch_own());
    folder_end(folder);
    REQUIRE(sigaction(SIGBUS, &first, NULL) == 0);
}

static void a_handler_from_after_passes_on(void) {
    struct sigaction first;
    REQUIRE(sigaction(SIGBUS, NULL, &first) == 0);
    char *folder = new_database(), *copy = folder_new();
    folder_remove(copy);
    folder_copy(folder, copy);
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
    put_handler();
    atomic_store(&other_calls, 0);
    check_both(db);
    CHECK(other_calls > 0);
    call_close(db);
    CHECK(handler_now() == own_fault); /* it stays where it is, and so does ours behind it */
    CHECK_INT(1, touch_own());
    /* Ours before it, once more: no circle. */
    db = open_cut(copy, CUT_SEGMENT, CUT_AT);
    CHECK(handler_now() != own_fault);
    check_both(db);
    call_close(db);
    CHECK(handler_now() == own_fault);
    REQUIRE(sigaction(SIGBUS, &first, NULL) == 0);
    folder_end(copy);
    folder_end(folder);
}

/* in_child -- how a child process ended that did this: its exit code, or minus the signal. */
static int in_child(void (*task)(const char *), const char *folder) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        task(folder);
        _exit(0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* by_default -- as if no handler had ever been set, that of a sanitizer included. */
static void by_default(void) {
    signal(SIGBUS, SIG_DFL);
}

static void fault_elsewhere(const char *folder) {
    by_default();
    tansu_db *db = open_cut(folder, CUT_SEGMENT, CUT_AT);
    get_all(db, NULL);
    (void)*(volatile uint8_t *)own_page;
}

static void signal_from_outside(const char *folder) {
    by_default();
    call_open(folder);
    kill(getpid(), SIGBUS);
}

static void ignored_signal_from_outside(const char *folder) {
    signal(SIGBUS, SIG_IGN);
    call_open(folder);
    kill(getpid(), SIGBUS);
}

static void read_unguarded(const char *folder) {
    by_default();
    tansu_options options = call_options(folder);
    options.read_mode = TANSU_READ_UNGUARDED;
    tansu_db *db = call_open_with(&options);
    if (handler_now() != NULL)
        _exit(1);
    REQUIRE(truncate(folder_join(folder, CUT_SEGMENT), CUT_AT) == 0);
    get_all(db, NULL);
}

static void what_is_not_ours_ends_the_program_as_ever(void) {
    char *folder = new_database(), *copy = folder_new();
    static void (*const tasks[])(const char *) = {fault_elsewhere, signal_from_outside,
                                                  read_unguarded, ignored_signal_from_outside};
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        folder_remove(copy);
        folder_copy(folder, copy);
        CHECK_INT(i == 3 ? 0 : -SIGBUS, in_child(tasks[i], copy));
    }
    folder_end(copy);
    folder_end(folder);
}

static void many_mappings_come_and_go(void) {
    enum { MANY = 300, SIZE = 65536 };
    static uint8_t *maps[MANY];
    guard_tally tally = {0};
    char path[] = "/tmp/tansu-many-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    unlink(path);
    for (int i = 0; i < MANY; i++) {
        maps[i] = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
        REQUIRE(maps[i] != MAP_FAILED && guard_add(maps[i], SIZE, (uint32_t)i, &tally));
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(i, guard_faults(&tally));
        CHECK(guard_sound(maps[i], SIZE));
        CHECK_INT(0, *(volatile uint8_t *)(maps[i] + 40000));
        CHECK_INT(0, *(volatile uint8_t *)(maps[i] + 40001));
        CHECK_INT(i + 1, guard_faults(&tally));
        CHECK_INT(i, tally.last >> 32);
        CHECK(!guard_sound(maps[i] + 39000, 2000) && guard_sound(maps[i], 30000));
        if (i % 3 == 0) {
            guard_remove(maps[i]);
            munmap(maps[i], SIZE);
        }
    }
    for (int i = 0; i < MANY; i++)
        if (i % 3 != 0) {
            guard_remove(maps[i]);
            munmap(maps[i], SIZE);
        }
    close(fd);
}

int main(void) {
    map_own();
    RUN(many_mappings_come_and_go);
    RUN(documents_elsewhere_are_read);
    RUN(every_call_says_io);
    RUN(whoever_meets_it_first_says_io);
    RUN(a_compaction_says_io_and_changes_nothing);
    RUN(what_opening_cannot_read_is_not_the_logs_end);
    RUN(a_commit_into_lost_pages_is_not_acknowledged);
    RUN(threads_read_while_pages_go);
    RUN(a_handler_from_before_gets_its_own);
    RUN(a_handler_from_after_passes_on);
    RUN(what_is_not_ours_ends_the_program_as_ever);
    return check_finish();
}
