/*
 * test_growth.c -- short sessions do not make the files grow: what docs/durability.md says of the
 * size of a database (Reclaiming space), after many openings in which little is written, each of
 * them closed, or ended without that.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SESSIONS 14
#define DOCUMENTS 500
#define PADDING 4000
#define MB ((uint64_t)1000000)
/* What the documents of one collection take, about. */
#define LIVE (DOCUMENTS * (uint64_t)(PADDING + 100))

/* tree_size -- bytes of all files in a folder. */
static uint64_t tree_size(const char *folder) {
    char *path = strdup(folder);
    REQUIRE(path != NULL);
    DIR *dir = opendir(path);
    REQUIRE(dir != NULL);
    uint64_t sum = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat s;
        char *at = strdup(folder_join(path, e->d_name));
        REQUIRE(at != NULL);
        if (lstat(at, &s) == 0)
            sum += S_ISDIR(s.st_mode) ? tree_size(at) : (uint64_t)s.st_size;
        free(at);
    }
    closedir(dir);
    free(path);
    return sum;
}

/* save -- documents {_id, n, pad}, in one transaction. */
static void save(tansu_db *db, const char *collection, int from, int count, int n) {
    static char padding[PADDING + 1];
    memset(padding, 'a' + n % 26, PADDING);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < count; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", from + i);
        BSON_APPEND_INT32(&doc, "n", n + i);
        BSON_APPEND_UTF8(&doc, "pad", padding);
        CHECK_OK(call_save_bson(db, txn, collection, TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* ---- What a session does; `run` counts them ---- */

static void replaces(tansu_db *db, int run) {
    save(db, "c", 0, DOCUMENTS, run);
}

static void replaces_some(tansu_db *db, int run) {
    if (run == 0)
        save(db, "c", 0, DOCUMENTS, run);
    save(db, "c", run % 2 * 250, 250, run);
}

static void removes(tansu_db *db, int run) {
    int64_t removed;
    CHECK_OK(call_remove(db, NULL, "c", "{}", &removed), &call_error);
    save(db, "c", run * DOCUMENTS, DOCUMENTS, run);
}

static void removes_all(tansu_db *db, int run) {
    int64_t removed;
    save(db, "c", run * DOCUMENTS, DOCUMENTS, run);
    CHECK_OK(call_remove(db, NULL, "c", "{}", &removed), &call_error);
}

static void builds_indexes(tansu_db *db, int run) {
    save(db, "c", 0, DOCUMENTS, run);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "pad", "{'pad': 1}", NULL), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "n", &call_error), &call_error);
    CHECK_OK(tansu_index_drop(db, NULL, "c", "pad", &call_error), &call_error);
}

static void drops_collections(tansu_db *db, int run) {
    char name[16];
    if (run > 0) {
        snprintf(name, sizeof name, "c%d", run - 1);
        CHECK_OK(tansu_collection_drop(db, NULL, name, &call_error), &call_error);
    }
    snprintf(name, sizeof name, "c%d", run);
    save(db, name, 0, DOCUMENTS, run);
    CHECK_OK(call_index(db, NULL, name, "pad", "{'pad': 1}", NULL), &call_error);
}

static void fills_several(tansu_db *db, int run) {
    if (run == 0)
        save(db, "stays", 0, DOCUMENTS, run);
    save(db, "a", 0, DOCUMENTS / 4, run);
    save(db, "b", 0, DOCUMENTS / 4, run);
    save(db, "queue", run * 100, 100, run);
    int64_t removed;
    CHECK_OK(call_remove(db, NULL, "queue", "{}", &removed), &call_error);
}

/* A transaction that does not fit into the segment, and is not committed, leaves nothing in it. */
static void leaves_a_large_transaction(tansu_db *db, int run) {
    static char padding[16000001];
    memset(padding, 'x', sizeof padding - 1);
    save(db, "c", run % 2 * 250, 250, run);
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < 5; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", -i);
        BSON_APPEND_UTF8(&doc, "pad", padding);
        CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    if (run % 2 == 0) /* otherwise it is open when the process ends */
        tansu_txn_abort(txn);
}

static void checkpoints(tansu_db *db, int run) {
    save(db, "c", 0, DOCUMENTS, run);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
}

static void holds_a_snapshot(tansu_db *db, int run) {
    save(db, "c", 0, DOCUMENTS, run);
    tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", NULL);
    (void)call_next(cursor);
    save(db, "c", 0, DOCUMENTS, run + 1);
    (void)call_next(cursor);
    tansu_cursor_close(cursor);
}

static const struct kind {
    const char *name;
    void (*session)(tansu_db *db, int run);
    uint64_t live; /* bytes of documents at the end of a session, at most */
} kinds[] = {{"replaces", replaces, LIVE},
             {"replaces some", replaces_some, LIVE},
             {"removes", removes, LIVE},
             {"removes all", removes_all, 0},
             {"builds indexes", builds_indexes, LIVE},
             {"drops collections", drops_collections, LIVE},
             {"several collections", fills_several, LIVE * 3 / 2},
             {"checkpoints", checkpoints, LIVE},
             {"holds a snapshot", holds_a_snapshot, LIVE}};

/* one_session -- opens, works, and closes or not, in a process of its own. */
static void one_session(const char *folder, const struct kind *kind, int run, bool closed) {
    uint64_t failures = check_failures();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tansu_options options;
        tansu_options_init(&options);
        options.path = folder;
        options.durability = TANSU_DURABILITY_PROCESS;
        tansu_db *db = call_open_with(&options);
        kind->session(db, run);
        if (closed)
            call_close(db);
        _exit(check_failures() == failures ? 0 : 1);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* sessions -- the largest size of the files after a session of a kind. */
static uint64_t sessions(const char *folder, const struct kind *kind, bool closed) {
    uint64_t most = 0;
    for (int run = 0; run < SESSIONS; run++) {
        one_session(folder, kind, run, closed);
        uint64_t now = tree_size(folder);
        most = now > most ? now : most;
    }
    check_note("%s: %.1f MB at most", kind->name, (double)most / 1e6);
    return most;
}

static void closed_sessions_do_not_make_the_files_grow(void) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *folder = folder_new();
        /* where closing takes longer than two seconds, it leaves what one session wrote */
        CHECK(sessions(folder, &kinds[k], true) <= 2 * kinds[k].live + 2 * LIVE + 5 * MB);
        folder_end(folder);
    }
}

static void sessions_that_are_not_closed_do_not_make_the_files_grow(void) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *folder = folder_new();
        uint64_t written = 2 * LIVE; /* by one session, at most */
        CHECK(sessions(folder, &kinds[k], false) <= 3 * kinds[k].live + written + 25 * MB);
        folder_end(folder);
    }
}

/* The log ends with what a process that did not end its transaction has taken for it. */
static void large_transactions_that_never_end_do_not_make_the_files_grow(void) {
    static const struct kind kind = {"large transactions", leaves_a_large_transaction, LIVE};
    char *folder = folder_new();
    CHECK(sessions(folder, &kind, false) <= 2 * 80 * MB + 16 * MB);
    folder_end(folder);
}

/* A reader of another process keeps what it has mapped, and the names are removed all the same. */
static void sessions_beside_a_reader_do_not_make_the_files_grow(void) {
    char *folder = folder_new();
    one_session(folder, &kinds[0], 0, true);
    tansu_options options = call_options(folder);
    options.allow_writer = 1;
    tansu_db *reader = call_open_with(&options);
    CHECK(sessions(folder, &kinds[0], true) <= 4 * LIVE + 5 * MB);
    CHECK_INT(DOCUMENTS, call_count(reader, NULL, "c", "{'n': {'$gte': 0}}"));
    call_close(reader);
    folder_end(folder);
}

/* waits_for -- whether the background brings the files of an open database down to a size. */
static bool waits_for(const char *folder, uint64_t size) {
    for (int i = 0; i < 3000 && tree_size(folder) > size; i++)
        usleep(10000);
    check_note("%.1f MB", (double)tree_size(folder) / 1e6);
    return tree_size(folder) <= size;
}

/* open_default -- with the options that every program has. */
static tansu_db *open_default(const char *folder, uint32_t percent) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = folder;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.compaction_percent = percent;
    return call_open_with(&options);
}

/* What a long process removes is less than it takes for a checkpoint. */
static void a_long_process_gives_back_what_it_removes(void) {
    for (int how = 0; how < 3; how++) {
        char *folder = folder_new();
        tansu_db *db = open_default(folder, 50);
        for (int i = 0; i < 24; i++)
            save(db, "c", i * DOCUMENTS, DOCUMENTS, i);
        CHECK(tree_size(folder) > 24 * LIVE * 9 / 10);
        int64_t removed;
        if (how == 0)
            CHECK_OK(call_remove(db, NULL, "c", "{}", &removed), &call_error);
        else if (how == 1)
            CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
        else
            for (int i = 0; i < 24 * DOCUMENTS; i++) {
                char json[64];
                snprintf(json, sizeof json, "{'_id': %d}", i);
                CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
            }
        CHECK(waits_for(folder, 16 * MB + 5 * MB));
        call_close(db);
        db = open_default(folder, 50); /* closing may have left some, where it takes long */
        CHECK(waits_for(folder, 5 * MB));
        call_close(db);
        folder_end(folder);
    }
}

static void openings_and_checkpoints_ask_for_compaction(void) {
    for (int how = 0; how < 2; how++) {
        char *folder = folder_new();
        tansu_db *db = open_default(folder, how == 0 ? 0 : 50);
        for (int i = 0; i < 10; i++)
            save(db, "c", 0, DOCUMENTS, i);
        CHECK(tree_size(folder) > 9 * LIVE);
        if (how == 0) {
            call_close(db);
            CHECK(tree_size(folder) > 9 * LIVE);
            db = open_default(folder, 50);
        } else {
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        }
        CHECK(waits_for(folder, 2 * LIVE + 5 * MB));
        call_close(db);
        folder_end(folder);
    }
}

/* open_small -- a database whose segments are small. */
static tansu_db *open_small(const char *folder) {
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    options.compaction_percent = 50;
    options.durability = TANSU_DURABILITY_PROCESS;
    return call_open_with(&options);
}

/* pass_through -- documents of a queue, or a collection of them, that are removed again. */
static void pass_through(tansu_db *db, int run, int from) {
    char json[64], name[16];
    snprintf(name, sizeof name, "q%d", run);
    for (int round = 0; round < 10; round++) {
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        for (int i = 0; i < 400; i++) {
            snprintf(json, sizeof json, "{'_id': %d}", from + i);
            CHECK_OK(call_save(db, txn, run % 2 == 0 ? "queue" : name, TANSU_SAVE, json),
                     &call_error);
        }
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
        if (run % 2 == 0)
            CHECK_OK(call_remove(db, NULL, "queue", "{'_id': {'$gte': 0}}", NULL), &call_error);
        else
            CHECK_OK(tansu_collection_drop(db, NULL, name, &call_error), &call_error);
    }
}

/* Removals of what lies behind documents that stay, so that their segments are never rewritten. A
 * document before it stays removed, also when the indexes are made from the log. */
static void removals_behind_documents_do_not_stay(void) {
    char *folder = folder_new();
    tansu_db *db = open_small(folder);
    CHECK_OK(call_save(db, NULL, "queue", TANSU_SAVE, "{'_id': -1}"), &call_error);
    save(db, "stays", 0, DOCUMENTS, 0);
    save(db, "stays", DOCUMENTS, DOCUMENTS, 0);
    pass_through(db, 0, 0);
    CHECK_OK(call_save(db, NULL, "queue", TANSU_SAVE, "{'_id': -1, 'n': 2}"), &call_error);
    pass_through(db, 0, 1000);
    CHECK_OK(call_remove_id(db, NULL, "queue", "{'_id': -1}", NULL), &call_error);
    call_close(db);
    uint64_t first = 0, now = 0;
    for (int run = 0; run < 2 * SESSIONS; run++) {
        db = open_small(folder);
        pass_through(db, run, 2000 + run * 1000);
        call_close(db);
        now = (uint64_t)tree_size(folder_join(folder, "log"));
        first = run == 3 ? now : first;
    }
    if (!CHECK(now <= first + MB))
        check_note("    %llu bytes, then %llu", (unsigned long long)first, (unsigned long long)now);
    folder_remove(folder_join(folder, "index"));
    db = open_small(folder);
    CHECK_INT(0, call_count(db, NULL, "queue", "{}"));
    CHECK_INT(2 * DOCUMENTS, call_count(db, NULL, "stays", "{}"));
    maintenance_clean(db);
    call_close(db);
    folder_end(folder);
}

static void the_reserve_becomes_smaller_with_the_log(void) {
    char *folder = folder_new();
    tansu_db *db = open_default(folder, 50);
    for (int i = 0; i < 8; i++)
        save(db, "c", i * DOCUMENTS, DOCUMENTS, i);
    call_close(db);
    CHECK_INT(2 << 20, file_size(folder_join(folder, "log/reserve")));
    db = open_default(folder, 50);
    CHECK_OK(tansu_collection_drop(db, NULL, "c", &call_error), &call_error);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    CHECK_INT(64 << 10, file_size(folder_join(folder, "log/reserve")));
    folder_end(folder);
}

/* The index file has the blocks of indexes that are there no more. */
static void the_index_file_becomes_smaller(void) {
    char *folder = folder_new();
    tansu_db *db = open_default(folder, 50);
    for (int i = 0; i < 3; i++)
        save(db, "c", i * DOCUMENTS, DOCUMENTS, i);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "i%d", i);
        CHECK_OK(call_index(db, NULL, "c", name, "{'pad': 1, 'n': 1}", NULL), &call_error);
    }
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    const char *file = "index/blocks.tch";
    uint64_t before = file_size(folder_join(folder, file));
    CHECK(before > 2 * MB);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "i%d", i);
        CHECK_OK(tansu_index_drop(db, NULL, "c", name, &call_error), &call_error);
    }
    call_close(db);
    db = open_default(folder, 50);
    call_close(db);
    CHECK(file_size(folder_join(folder, file)) <= before / 4 + 2 * MB);
    folder_end(folder);
}

int main(void) {
    RUN(closed_sessions_do_not_make_the_files_grow);
    RUN(sessions_that_are_not_closed_do_not_make_the_files_grow);
    RUN(large_transactions_that_never_end_do_not_make_the_files_grow);
    RUN(sessions_beside_a_reader_do_not_make_the_files_grow);
    RUN(a_long_process_gives_back_what_it_removes);
    RUN(openings_and_checkpoints_ask_for_compaction);
    RUN(removals_behind_documents_do_not_stay);
    RUN(the_reserve_becomes_smaller_with_the_log);
    RUN(the_index_file_becomes_smaller);
    return check_finish();
}
