/*
 * test_spill.c -- sorts and groups that memory can't hold give byte for byte what they give in
 * memory. The memory is made small, so that little data is spilled: random documents of all types,
 * orders over several paths, collations, windows, groups with every aggregate, distinct values; in
 * memory stores, in folders and in write transactions.
 *
 * Then: the option to fail instead; every file call failing in turn, and every allocation; a full
 * disk; cancelling while runs are written and merged; other writers, and the transaction itself,
 * going on meanwhile; and nothing that stays in the folder, also of a process that is killed, also
 * where the file system knows no file without a name.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many databases are compared (15).
 */
#include "api/handles.h"
#include "query/exec/external_sort.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/random/random_operator.h"
#include "support/random/random_query.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOCUMENTS 400
#define QUERIES 30
#define DEFAULT_ROUNDS 15

/* memory -- what sorts and groups may take from now on, less than an option allows; 0: what they do
 * by default. */
static void memory(tansu_db *db, size_t sorts, size_t groups) {
    tansu_options usual;
    tansu_options_init(&usual);
    database *d = db_inner(db);
    d->options.sort_memory_bytes = sorts != 0 ? sorts : (size_t)usual.sort_memory_bytes;
    d->options.group_memory_bytes = groups != 0 ? groups : (size_t)usual.group_memory_bytes;
}

/* ---- Asking ---- */

/* A call: a query's documents, groups or distinct values. */
typedef struct asked {
    bson_t *query, *hints;
    bson_t *group;    /* NULL: none */
    const char *path; /* of distinct values; NULL: none */
} asked;

static tansu_error last_error;

/* ask -- the whole answer, one byte after the other. */
static tansu_status ask(tansu_db *db, tansu_txn *txn, const asked *a, tansu_buffer *answer) {
    tansu_document query = document_of(a->query), hints = document_of(a->hints);
    answer->size = 0;
    if (a->path)
        return tansu_distinct(db, txn, "c", a->path, query, hints, answer, &last_error);
    if (a->group)
        return tansu_aggregate(db, txn, "c", query, document_of(a->group), hints, answer,
                               &last_error);
    tansu_cursor *cursor;
    tansu_document document;
    tansu_status status = tansu_find(db, txn, "c", query, hints, &cursor, &last_error);
    if (status != TANSU_OK)
        return status;
    while ((status = tansu_cursor_next(cursor, &document, &last_error)) == TANSU_OK) {
        /* This allocation may be made to fail as well. */
        if (!buffer_append(answer, document.data, document.size)) {
            status = TANSU_E_MEMORY;
            break;
        }
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* spilled_by -- bytes that a call spills, as its explanation says. */
static int64_t spilled_by(tansu_db *db, const asked *a) {
    tansu_buffer plan = TANSU_BUFFER_INIT;
    bson_t hints, doc;
    bson_iter_t iter, found;
    int64_t bytes = 0;
    bson_copy_to(a->hints, &hints);
    BSON_APPEND_BOOL(&hints, "$explain", true);
    const asked explained = {a->query, &hints, a->group, a->path};
    CHECK_STATUS(TANSU_OK, ask(db, NULL, &explained, &plan));
    if (CHECK(bson_init_static(&doc, plan.data, plan.size))) {
        const char *place = a->group || a->path ? "aggregate.spilledBytes" : "spilledBytes";
        if (bson_iter_init(&iter, &doc) && bson_iter_find_descendant(&iter, place, &found))
            bytes = bson_iter_as_int64(&found);
    }
    bson_destroy(&hints);
    tansu_buffer_free(&plan);
    return bytes;
}

/* ---- Random calls ---- */

/* random_ask -- a query with hints; maybe groups or distinct values. */
static asked random_ask(random_source *r) {
    static const char *const paths[] = {"a", "b", "c", "u", "a.b", "a.0", "zz"};
    static const char *const aggregates[] = {"$count", "$sum",   "$avg",  "$min",
                                             "$max",   "$first", "$last", "$distinct"};
    asked a = {.query = bson_new(), .hints = bson_new()};
    int kind = (int)random_below(r, 3);
    bson_t order, group, by, fields, field;
    if (random_chance(r, 30))
        random_selector(r, a.query, 1);
    if (random_chance(r, 40))
        random_collation(r, a.hints);
    if (random_chance(r, 30))
        BSON_APPEND_INT32(a.hints, "$skip", (int32_t)random_below(r, 40));
    if (random_chance(r, 30))
        BSON_APPEND_INT32(a.hints, "$max", (int32_t)random_below(r, 80));
    if (kind == 1)
        a.path = paths[random_below(r, 6)];
    if (kind == 1)
        return a;
    if (kind == 2) {
        a.group = bson_new();
        bson_init(&group);
        unsigned count = (unsigned)random_below(r, 3);
        if (count != 0) {
            BSON_APPEND_DOCUMENT_BEGIN(a.group, "by", &by);
            for (unsigned i = 0; i < count; i++)
                bson_append_utf8(&by, i == 0 ? "x" : "y", 1,
                                 paths[(random_below(r, 3) + 3 * i) % 7], -1);
            bson_append_document_end(a.group, &by);
        }
        BSON_APPEND_DOCUMENT_BEGIN(a.group, "fields", &fields);
        for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
            char name[12];
            const char *path = paths[random_below(r, 5)];
            snprintf(name, sizeof name, "f%zu", i);
            BSON_APPEND_DOCUMENT_BEGIN(&fields, name, &field);
            BSON_APPEND_UTF8(&field, aggregates[i], path);
            bson_append_document_end(&fields, &field);
        }
        bson_append_document_end(a.group, &fields);
        bson_destroy(&group);
        if (random_chance(r, 50))
            return a;
    }
    BSON_APPEND_DOCUMENT_BEGIN(a.hints, "$orderby", &order);
    if (kind == 2)
        BSON_APPEND_INT32(&order, random_chance(r, 50) ? "f0" : "f3",
                          random_chance(r, 50) ? 1 : -1);
    else
        for (size_t i = random_below(r, 4); i < 4; i++)
            BSON_APPEND_INT32(&order, paths[i], random_chance(r, 50) ? 1 : -1);
    bson_append_document_end(a.hints, &order);
    return a;
}

/* asked_free -- ends a call. */
static void asked_free(asked *a) {
    bson_destroy(a->query);
    bson_destroy(a->hints);
    if (a->group)
        bson_destroy(a->group);
}

/* fill -- random documents, some of them with long texts. */
static void fill(random_source *r, tansu_db *db, tansu_txn *txn, int from, int to) {
    for (int i = from; i < to; i++) {
        bson_t *doc = random_case_document(r, i, random_chance(r, 30));
        char text[400];
        memset(text, 'a' + (int)random_below(r, 3), sizeof text);
        text[sizeof text - 1] = 0;
        if (random_chance(r, 20) && !bson_has_field(doc, "zz"))
            bson_append_utf8(doc, "zz", 2, text + random_below(r, sizeof text), -1);
        REQUIRE(CHECK_OK(call_save_bson(db, txn, "c", TANSU_SAVE, doc), &call_error));
        bson_destroy(doc);
    }
}

static uint64_t compared, spilled, in_groups, in_values;

/* compare -- the same call with much memory and with little. */
static bool compare(random_source *r, tansu_db *db, tansu_txn *txn) {
    asked a = random_ask(r);
    tansu_buffer expected = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
    memory(db, 0, 0);
    tansu_status status = ask(db, txn, &a, &expected);
    /* One group with sums of decimals takes 30 kB and more. */
    memory(db, 200 + random_below(r, 4000),
           a.group ? 40000 + random_below(r, 40000) : 300 + random_below(r, 1500));
    bool same = CHECK_STATUS(status, ask(db, txn, &a, &answer)) &&
                CHECK_BYTES(expected.data, expected.size, answer.data, answer.size);
    if (same && txn == NULL && status == TANSU_OK && spilled_by(db, &a) > 0) {
        spilled++;
        in_groups += a.group != NULL;
        in_values += a.path != NULL;
    }
    memory(db, 0, 0);
    compared++;
    if (!same) {
        char *query = bson_as_canonical_extended_json(a.query, NULL);
        char *hints = bson_as_canonical_extended_json(a.hints, NULL);
        check_note("%s %s, TANSU_SEED=%" PRIu64, query, hints, random_seed());
        bson_free(query);
        bson_free(hints);
    }
    tansu_buffer_free(&expected);
    tansu_buffer_free(&answer);
    asked_free(&a);
    return same;
}

static void spilled_answers_are_the_same(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    bool same = true;
    for (uint64_t round = 0; same && round < rounds; round++) {
        random_source r = random_start(round);
        char *folder = random_chance(&r, 30) ? folder_new() : NULL;
        tansu_db *db = call_open(folder);
        /* Little more than a hundred different values would not fill groups: these are few and
         * large. */
        fill(&r, db, NULL, 0, DOCUMENTS);
        for (unsigned i = (unsigned)random_below(&r, 4); i < 4; i++) {
            bson_t *keys, *options;
            char name[12];
            snprintf(name, sizeof name, "i%u", i);
            random_index(&r, &keys, &options);
            /* One that the documents violate is not there, nor one that those to come may. */
            if (options == NULL || !bson_has_field(options, "unique"))
                tansu_index_create(db, NULL, "c", name, document_of(keys), document_of(options),
                                   NULL, NULL, &last_error);
            bson_destroy(keys);
            bson_destroy(options);
        }
        for (int i = 0; same && i < QUERIES; i++)
            same = compare(&r, db, NULL);
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        fill(&r, db, txn, DOCUMENTS / 2, DOCUMENTS + 20);
        for (int i = 0; same && i < 5; i++)
            same = compare(&r, db, txn);
        tansu_txn_abort(txn);
        call_close(db);
        if (folder)
            folder_end(folder);
    }
    if (rounds >= DEFAULT_ROUNDS)
        CHECK(spilled > compared / 10 && in_groups > 10 && in_values > 0);
}

/* ---- Larger data, and the option ---- */

/* many -- documents {_id: i, k: a number that many have, s: a text of its own}. */
static void many(tansu_db *db, int count) {
    for (int i = 0; i < count; i++) {
        bson_t doc = BSON_INITIALIZER;
        char text[64];
        snprintf(text, sizeof text, "text %d with some length to it", i * 7919 % count);
        BSON_APPEND_INT32(&doc, "_id", i);
        BSON_APPEND_INT32(&doc, "k", i % 97);
        BSON_APPEND_UTF8(&doc, "s", text);
        REQUIRE(call_save_bson(db, NULL, "c", TANSU_SAVE, &doc) == TANSU_OK);
        bson_destroy(&doc);
    }
}

/* ask_of -- a call made of JSON. */
static asked ask_of(const char *hints, const char *group, const char *path) {
    return (asked){bson_from_text("{}"), bson_from_text(hints),
                   group ? bson_from_text(group) : NULL, path};
}

static const struct {
    const char *hints, *group, *path;
} large_calls[] = {
    {"{'$orderby':{'s':1}", NULL, NULL},
    {"{'$orderby':{'k':-1,'s':1},'$skip':100", NULL, NULL},
    {"{'$orderby':{'s':-1},'$max':500", NULL, NULL},
    {"{'$skip':0", "{'by':'s','fields':{'n':{'$count':true},'f':{'$first':'_id'}}}", NULL},
    {"{'$orderby':{'d':-1},'$max':5", "{'by':'k','fields':{'d':{'$distinct':'s'}}}", NULL},
    {"{'$skip':5", "{'by':['k','s'],'fields':{'d':{'$distinct':'s'},'a':{'$avg':'k'}}}", NULL},
    {"{'$max':3000", NULL, "s"},
};
#define LARGE_CALLS (sizeof large_calls / sizeof *large_calls)

/* large -- one of them. */
static asked large(size_t i, bool disk) {
    char hints[200];
    snprintf(hints, sizeof hints, "%s%s}", large_calls[i].hints,
             disk ? "" : ",'$allowDiskUse':false");
    return ask_of(hints, large_calls[i].group, large_calls[i].path);
}

static void runs_are_merged_in_passes_and_the_option_refuses(void) {
    tansu_db *db = call_open(NULL);
    many(db, 4000);
    for (size_t i = 0; i < LARGE_CALLS; i++) {
        asked a = large(i, true), refused = large(i, false);
        tansu_buffer expected = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
        memory(db, 0, 0);
        CHECK_STATUS(TANSU_OK, ask(db, NULL, &refused, &expected));
        CHECK_INT(0, spilled_by(db, &a));
        memory(db, 9000, 120000);
        CHECK_STATUS(TANSU_OK, ask(db, NULL, &a, &answer));
        CHECK_BYTES(expected.data, expected.size, answer.data, answer.size);
        /* 4,000 texts, and over 200 kB of them: a dozen runs and more, two at a time. */
        CHECK(spilled_by(db, &a) > 150000);
        CHECK_STATUS(TANSU_E_TOO_LARGE, ask(db, NULL, &refused, &answer));
        CHECK(strstr(last_error.message, "$allowDiskUse") != NULL);
        memory(db, 0, 0);
        tansu_buffer_free(&expected);
        tansu_buffer_free(&answer);
        asked_free(&a);
        asked_free(&refused);
    }
    call_close(db);
}

static void the_hint_is_a_flag(void) {
    tansu_db *db = memory_db_open();
    save_text(db, "{'_id':1}");
    CHECK_TEXT("1", find_ids(db, "{}", "{'$allowDiskUse':true}"));
    CHECK_TEXT("1", find_ids(db, "{}", "{'$allowDiskUse':0}"));
    CHECK_TEXT("INVALID_QUERY hints.$allowDiskUse", find_ids(db, "{}", "{'$allowDiskUse':'x'}"));
    memory_db_close(db);
}

/* ---- Failing calls ---- */

/* open_with -- a database over other file calls. */
static tansu_db *open_with(const char *folder, const fs *calls) {
    tansu_options options = call_options(folder);
    tansu_db *d = NULL;
    options.checkpoint_bytes = (uint64_t)1 << 40; /* no file call that the test did not make */
    REQUIRE(
        CHECK_OK(handle_open(&options, calls, &engine_query_hooks, &d, &last_error), &last_error));
    return d;
}

/* try_each -- fails the first, the second … call of a kind while large calls run; each failure
 * comes out, and the database goes on. */
static void try_each(fault_kind kind, int number, bool lasting, tansu_status expected) {
    char *folder = folder_new();
    tansu_db *db = open_with(folder, &fault_fs);
    unsigned failures = 0;
    many(db, 600);
    for (size_t i = 0; i < LARGE_CALLS; i++) {
        asked a = large(i, true);
        tansu_buffer whole = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
        memory(db, 3000, 90000);
        CHECK_STATUS(TANSU_OK, ask(db, NULL, &a, &whole));
        bool met = true;
        /* Of the allocations, which are many, every few. */
        for (unsigned nth = 1; met; nth += kind == FAULT_FILES ? 1 : 1 + nth / 20) {
            fault_start(kind, nth, lasting, number);
            tansu_status status = ask(db, NULL, &a, &answer);
            met = fault_occurred();
            fault_stop();
            if (status == TANSU_OK)
                CHECK_BYTES(whole.data, whole.size, answer.data, answer.size);
            else
                failures++;
            if (status != TANSU_OK && !CHECK_STATUS(expected, status))
                check_note("call %zu, %u", i, nth);
        }
        CHECK_STATUS(TANSU_OK, ask(db, NULL, &a, &answer));
        CHECK_BYTES(whole.data, whole.size, answer.data, answer.size);
        memory(db, 0, 0);
        tansu_buffer_free(&whole);
        tansu_buffer_free(&answer);
        asked_free(&a);
    }
    CHECK(failures > 20);
    CHECK_STATUS(TANSU_OK, call_save(db, NULL, "c", TANSU_SAVE, "{'_id':-1}"));
    call_close(db);
    folder_end(folder);
}

static void every_failing_file_call_is_reported(void) {
    try_each(FAULT_FILES, EIO, false, TANSU_E_IO);
    try_each(FAULT_FILES, ENOSPC, true, TANSU_E_FULL);
}

static void every_failing_allocation_is_reported(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    try_each(FAULT_OWN_MEMORY, 0, false, TANSU_E_MEMORY);
}

/* ---- What happens meanwhile ---- */

static tansu_cursor *to_cancel;
static unsigned cancel_at, calls_seen;
static bool no_unnamed, kill_at_write;

static ssize_t watched_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (to_cancel && ++calls_seen == cancel_at)
        tansu_cursor_cancel(to_cancel);
    if (kill_at_write)
        raise(SIGKILL);
    return fs_system.write(fd, bytes, size, offset);
}

static ssize_t watched_read(int fd, void *bytes, size_t size, off_t offset) {
    if (to_cancel && ++calls_seen == cancel_at)
        tansu_cursor_cancel(to_cancel);
    return fs_system.read(fd, bytes, size, offset);
}

static int watched_open(const fs *calls, const char *path, int flags, int mode) {
#ifdef O_TMPFILE
    if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
#endif
    return fs_system.open(calls, path, flags, mode);
}

/* watched -- the system's calls with these in place of its own. */
static fs watched_calls(void) {
    fs calls = fs_system;
    calls.open = watched_open;
    calls.read = watched_read;
    calls.write = watched_write;
    return calls;
}

static void cancelling_ends_writing_and_merging(void) {
    char *folder = folder_new();
    const fs calls = watched_calls();
    tansu_db *db = open_with(folder, &calls);
    many(db, 3000);
    memory(db, 9000, 0);
    unsigned cancelled = 0;
    for (cancel_at = 1; cancel_at < 1000; cancel_at += 1 + cancel_at / 4) {
        tansu_document document;
        tansu_cursor *cursor = call_cursor(db, NULL, "c", "{}", "{'$orderby':{'s':1}}");
        calls_seen = 0;
        to_cancel = cursor;
        tansu_status status;
        while ((status = tansu_cursor_next(cursor, &document, &last_error)) == TANSU_OK)
            ;
        to_cancel = NULL;
        cancelled += calls_seen >= cancel_at;
        CHECK_STATUS(calls_seen >= cancel_at ? TANSU_E_CANCELLED : TANSU_DONE, status);
        tansu_cursor_close(cursor);
        if (calls_seen < cancel_at)
            break;
    }
    CHECK(cancelled > 8);
    memory(db, 0, 0);
    call_close(db);
    folder_end(folder);
}

/* spill_names -- names in the folder that are of temporary files. */
static int spill_names(const char *folder) {
    DIR *names = opendir(folder);
    int count = 0;
    REQUIRE(names != NULL);
    for (struct dirent *entry; (entry = readdir(names)) != NULL;)
        count += strstr(entry->d_name, "spill") != NULL;
    closedir(names);
    return count;
}

/* An answer under way: other commits, and those of the transaction itself, change nothing of it;
 * and there is no name of a file to be seen. */
static void answers_stay_as_they_were(void) {
    for (int turn = 0; turn < 4; turn++) {
        char *folder = folder_new();
        const fs calls = watched_calls();
        no_unnamed = turn % 2 == 1;
        tansu_db *db = open_with(folder, &calls);
        many(db, 800);
        memory(db, 4000, 0);
        tansu_txn *txn = turn < 2 ? NULL : call_begin(db, TANSU_TXN_WRITE);
        tansu_cursor *cursor = call_cursor(db, txn, "c", "{}", "{'$orderby':{'s':1}}");
        char before[64] = "";
        int count = 0;
        tansu_document document;
        tansu_status status;
        while ((status = tansu_cursor_next(cursor, &document, &last_error)) == TANSU_OK) {
            bson_t doc;
            bson_iter_t iter;
            REQUIRE(bson_init_static(&doc, document.data, document.size));
            REQUIRE(bson_iter_init_find(&iter, &doc, "s"));
            CHECK(strcmp(before, bson_iter_utf8(&iter, NULL)) < 0);
            snprintf(before, sizeof before, "%s", bson_iter_utf8(&iter, NULL));
            if (++count % 100 == 1) {
                char json[64];
                int64_t removed;
                snprintf(json, sizeof json, "{'_id':%d,'s':'another'}", 900 + count);
                CHECK_STATUS(TANSU_OK, call_save(db, txn, "c", TANSU_SAVE, json));
                snprintf(json, sizeof json, "{'_id':%d}", 799 - count);
                CHECK_STATUS(TANSU_OK, call_remove(db, txn, "c", json, &removed));
                CHECK_INT(1, removed);
                CHECK_INT(0, spill_names(folder));
            }
        }
        CHECK_STATUS(TANSU_DONE, status);
        CHECK_INT(800, count);
        tansu_cursor_close(cursor);
        if (txn)
            tansu_txn_abort(txn);
        memory(db, 0, 0);
        call_close(db);
        folder_end(folder);
    }
    no_unnamed = false;
}

/* A process that is killed in the midst of writing a run leaves nothing. */
static void a_kill_leaves_nothing(void) {
    for (int turn = 0; turn < 2; turn++) {
        char *folder = folder_new();
        const fs calls = watched_calls();
        tansu_db *db = open_with(folder, &calls);
        many(db, 500);
        call_close(db);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            no_unnamed = turn == 1;
            db = open_with(folder, &calls);
            asked a = large(0, true);
            tansu_buffer answer = TANSU_BUFFER_INIT;
            memory(db, 4000, 0);
            kill_at_write = true;
            ask(db, NULL, &a, &answer);
            _exit(0);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        CHECK_INT(0, spill_names(folder));
        db = open_with(folder, &calls);
        CHECK_INT(500, call_count(db, NULL, "c", "{}"));
        call_close(db);
        folder_end(folder);
    }
}

/* A folder that can't be written to: the files go to the system's place for such. */
static void read_only_folders_do_not_matter(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    many(db, 500);
    call_close(db);
    tansu_options options = call_options(folder);
    options.read_only = 1;
    REQUIRE(chmod(folder, 0500) == 0);
    db = call_open_with(&options);
    asked a = large(0, true);
    memory(db, 4000, 0);
    CHECK(spilled_by(db, &a) > 0);
    memory(db, 0, 0);
    asked_free(&a);
    call_close(db);
    REQUIRE(chmod(folder, 0700) == 0);
    folder_end(folder);
}

int main(void) {
    RUN(spilled_answers_are_the_same);
    RUN(runs_are_merged_in_passes_and_the_option_refuses);
    RUN(the_hint_is_a_flag);
    RUN(every_failing_file_call_is_reported);
    RUN(every_failing_allocation_is_reported);
    RUN(cancelling_ends_writing_and_merging);
    RUN(answers_stay_as_they_were);
    RUN(a_kill_leaves_nothing);
    RUN(read_only_folders_do_not_matter);
    check_note("%" PRIu64 " answers compared, %" PRIu64 " of which were spilled, %" PRIu64
               " of groups, %" PRIu64 " of distinct values",
               compared, spilled, in_groups, in_values);
    return check_finish();
}
