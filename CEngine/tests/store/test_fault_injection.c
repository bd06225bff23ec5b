/*
 * test_fault_injection.c -- every file call and every allocation of the engine fails once, in each
 * kind of call: there is a typed error and no leak, the database can be read afterwards, holds what
 * it held before (or, where the call succeeded all the same, what it should hold now), and can be
 * written to again at the latest after reopening it.
 *
 * Each call of the list is done once undisturbed, to count its file calls and allocations, and then
 * on a fresh copy of the same database for each of them. Calls with very many are tried at evenly
 * spread ones; TANSU_FAULTS sets at how many (60).
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_USUALLY 60

/* What is tried. Documents are made beforehand, so that only the engine's own calls count. */
static struct {
    bson_t *empty, *one, *more[20], *replacement, *query, *update, *upsert, *hints, *group, *keys,
        *id, *feed;
} given;

static void prepare(void) {
    given.empty = bson_from_text("{}");
    given.one = bson_from_text("{'_id': 900, 'n': 900, 'u': 900}");
    for (int i = 0; i < 20; i++) {
        given.more[i] = BCON_NEW("_id", BCON_INT32(i % 2 ? i : 500 + i), "n", BCON_INT32(i), "u",
                                 BCON_INT32(2000 + i));
        if (i % 7 == 0) {
            uint8_t *pad = calloc(1, 30000);
            REQUIRE(pad != NULL);
            BSON_APPEND_BINARY(given.more[i], "pad", BSON_SUBTYPE_BINARY, pad, 30000);
            free(pad);
        }
    }
    given.replacement = bson_from_text("{'_id': 7, 'n': -7, 'u': 7, 'new': [1, 2, {'a': 'b'}]}");
    given.query = bson_from_text("{'n': {'$gte': 3}, 'u': {'$lt': 30}}");
    given.update = bson_from_text("{'$inc': {'n': 100}, '$push': {'list': 1}}");
    given.upsert = bson_from_text("{'_id': 4711, '$upsert': {'n': 1}}");
    given.hints = bson_from_text("{'$orderby': {'s': -1, 'n': 1}, '$fields': {'n': 1, 's': 1}}");
    given.group =
        bson_from_text("{'by': 's', 'fields': {'sum': {'$sum': 'n'}, 'all': {'$count': true}}}");
    given.keys = bson_from_text("{'s': 1, 'n': -1}");
    given.id = bson_from_text("{'_id': 7}");
    given.feed = bson_from_text("{'collections': ['c', 'd'], 'before': true, 'after': true}");
}

static void unprepare(void) {
    bson_t *all[] = {given.empty,  given.one,    given.replacement, given.query,
                     given.update, given.upsert, given.hints,       given.group,
                     given.keys,   given.id,     given.feed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bson_destroy(all[i]);
    for (int i = 0; i < 20; i++)
        bson_destroy(given.more[i]);
}

/* ---- The calls ---- */

static tansu_status save_one(tansu_db *db) {
    tansu_document d = document_of(given.one);
    return tansu_save(db, NULL, "c", &d, 1, TANSU_INSERT, NULL, &call_error);
}

static tansu_status save_many(tansu_db *db) {
    tansu_document d[20];
    tansu_buffer ids = TANSU_BUFFER_INIT;
    for (int i = 0; i < 20; i++)
        d[i] = document_of(given.more[i]);
    tansu_status status = tansu_save(db, NULL, "c", d, 20, TANSU_SAVE, &ids, &call_error);
    tansu_buffer_free(&ids);
    return status;
}

static tansu_status replace_one(tansu_db *db) {
    tansu_document d = document_of(given.replacement);
    return tansu_save(db, NULL, "c", &d, 1, TANSU_REPLACE, NULL, &call_error);
}

static tansu_status update_many(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_update(db, NULL, "c", document_of(given.query), document_of(given.update),
                     TANSU_NO_DOCUMENT, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status modify_one(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_find_and_modify(db, NULL, "c", document_of(given.id), document_of(given.update),
                              TANSU_NO_DOCUMENT, TANSU_MODIFY_RETURN_AFTER, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status remove_many(tansu_db *db) {
    return tansu_remove(db, NULL, "c", document_of(given.query), TANSU_NO_DOCUMENT, NULL,
                        &call_error);
}

static tansu_status remove_one(tansu_db *db) {
    return tansu_remove_id(db, NULL, "c", document_of(given.id), NULL, &call_error);
}

static tansu_status transaction(tansu_db *db) {
    tansu_txn *txn;
    tansu_document one = document_of(given.one), other = document_of(given.replacement);
    tansu_status status =
        tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_FULL, &txn, &call_error);
    if (status != TANSU_OK)
        return status;
    status = tansu_save(db, txn, "fresh", &one, 1, TANSU_SAVE, NULL, &call_error);
    /* An `_id` that is taken: the call is taken back, the transaction goes on. */
    if (status == TANSU_OK &&
        tansu_save(db, txn, "c", &other, 1, TANSU_INSERT, NULL, &call_error) == TANSU_E_MEMORY)
        status = TANSU_E_MEMORY;
    if (status == TANSU_OK)
        status = tansu_remove(db, txn, "c", document_of(given.query), TANSU_NO_DOCUMENT, NULL,
                              &call_error);
    if (status == TANSU_OK)
        status = tansu_save(db, txn, "c", &one, 1, TANSU_SAVE, NULL, &call_error);
    if (status == TANSU_OK)
        return tansu_txn_commit(txn, NULL, &call_error);
    tansu_txn_abort(txn);
    return status;
}

static tansu_status create_one_index(tansu_db *db) {
    return tansu_index_create(db, NULL, "c", "sn", document_of(given.keys), TANSU_NO_DOCUMENT, NULL,
                              NULL, &call_error);
}

static tansu_status create_wildcard_index(tansu_db *db) {
    bson_t *keys = BCON_NEW("**", BCON_INT32(1));
    bson_t *options = BCON_NEW("except", "[", "u", "]");
    tansu_status status = tansu_index_create(db, NULL, "c", "all", document_of(keys),
                                             document_of(options), NULL, NULL, &call_error);
    bson_destroy(keys);
    bson_destroy(options);
    return status;
}

/* count_anywhere -- by the paths of the wildcard index. */
static tansu_status count_anywhere(tansu_db *db) {
    int64_t n = 0;
    bson_t *query = BCON_NEW("**", "s3");
    bson_t *hints = BCON_NEW("$index", "w");
    tansu_status status =
        tansu_count(db, NULL, "c", document_of(query), document_of(hints), &n, &call_error);
    bson_destroy(query);
    bson_destroy(hints);
    if (status == TANSU_OK)
        CHECK_INT(8, n);
    return status;
}

static tansu_status create_index_inside(tansu_db *db) {
    tansu_txn *txn;
    tansu_status status =
        tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &call_error);
    if (status != TANSU_OK)
        return status;
    status = tansu_index_create(db, txn, "c", "sn", document_of(given.keys), TANSU_NO_DOCUMENT,
                                NULL, NULL, &call_error);
    if (status == TANSU_OK)
        return tansu_txn_commit(txn, NULL, &call_error);
    tansu_txn_abort(txn);
    return status;
}

static tansu_status drop_index(tansu_db *db) {
    return tansu_index_drop(db, NULL, "c", "n", &call_error);
}

static tansu_status ensure(tansu_db *db) {
    return tansu_collection_ensure(db, NULL, "another", TANSU_NO_DOCUMENT, &call_error);
}

static tansu_status drop(tansu_db *db) {
    return tansu_collection_drop(db, NULL, "c", &call_error);
}

static tansu_status rename_it(tansu_db *db) {
    return tansu_collection_rename(db, NULL, "c", "renamed", &call_error);
}

static tansu_status checkpoint(tansu_db *db) {
    return tansu_checkpoint(db, &call_error);
}

static tansu_status compact(tansu_db *db) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_compact(db, NULL, NULL, &report, &call_error);
    bson_t view;
    bson_iter_t iter;
    if (status == TANSU_OK)
        CHECK(bson_init_static(&view, report.data, report.size) &&
              bson_iter_init_find(&iter, &view, "segments") && bson_iter_as_int64(&iter) > 0);
    tansu_buffer_free(&report);
    return status;
}

static tansu_status verify(tansu_db *db) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_verify(db, NULL, NULL, &report, &call_error);
    tansu_buffer_free(&report);
    return status;
}

static tansu_status force(tansu_db *db) {
    tansu_document one = document_of(given.one);
    tansu_status status = tansu_save(db, NULL, "c", &one, 1, TANSU_SAVE, NULL, &call_error);
    return status == TANSU_OK ? tansu_sync(db, &call_error) : status;
}

static tansu_status find(tansu_db *db) {
    tansu_cursor *cursor;
    tansu_document d;
    int found = 0;
    tansu_status status = tansu_find(db, NULL, "c", document_of(given.query),
                                     document_of(given.hints), &cursor, &call_error);
    if (status != TANSU_OK)
        return status;
    while ((status = tansu_cursor_next(cursor, &d, &call_error)) == TANSU_OK)
        found++;
    tansu_cursor_close(cursor);
    if (status == TANSU_DONE)
        CHECK_INT(27, found);
    return status == TANSU_DONE ? TANSU_OK : status;
}

static tansu_status aggregate(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_aggregate(db, NULL, "c", document_of(given.query), document_of(given.group),
                        TANSU_NO_DOCUMENT, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status distinct(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_distinct(db, NULL, "c", "s", document_of(given.query),
                                         TANSU_NO_DOCUMENT, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status explain(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_explain(db, NULL, "c", document_of(given.query),
                                        document_of(given.hints), &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

static tansu_status count(tansu_db *db) {
    int64_t n;
    tansu_status status =
        tansu_count(db, NULL, "c", document_of(given.query), TANSU_NO_DOCUMENT, &n, &call_error);
    if (status == TANSU_OK)
        CHECK_INT(27, n);
    return status;
}

static tansu_status statistics(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_stats(db, &result, &call_error);
    tansu_buffer_free(&result);
    return status;
}

/* read_feed -- all changes, each once, also when a fault was injected in between. */
static tansu_status read_feed(tansu_db *db) {
    tansu_feed *feed = NULL;
    tansu_change change;
    tansu_change_init(&change);
    tansu_status status = tansu_feed_open(db, 0, document_of(given.feed), &feed, &call_error);
    if (status != TANSU_OK)
        return status;
    int delivered = 0;
    tansu_error error;
    for (tansu_status next = TANSU_OK; next != TANSU_DONE;) {
        next = tansu_feed_next(feed, 0, &change, &error);
        delivered += next == TANSU_OK;
        if (next != TANSU_OK && next != TANSU_DONE) {
            if (status != TANSU_OK) /* a lasting fault */
                break;
            status = next;
            call_error = error;
        }
        if (next == TANSU_DONE)
            CHECK_INT(40 + 20 + 5 + 2, delivered); /* those of fill() */
    }
    tansu_feed_close(feed);
    return status;
}

static tansu_status command(tansu_db *db) {
    char *answer = NULL;
    tansu_status status =
        tansu_execute_json(db,
                           "{\"op\": \"update\", \"collection\": \"c\", \"query\": {\"_id\": 7}, "
                           "\"update\": {\"$set\": {\"n\": 1}}}",
                           &answer);
    /* What is wrong stands in the answer, of which there is none without memory. */
    call_error = (tansu_error){.code = status, .message = "a command"};
    tansu_free(answer);
    return status;
}

/* A call, and how it goes wrong. */
typedef struct tried {
    const char *name;
    tansu_status (*run)(tansu_db *db); /* NULL: opening itself; see below */
    bool full;                         /* with durability `full` */
    bool unclean;                      /* on the database of a killed process */
    bool no_index;                     /* whose index files are gone */
    bool closing;                      /* it is the close that is tried */
} tried;

static const tried all[] = {
    {.name = "save one", .run = save_one},
    {.name = "save one, full", .run = save_one, .full = true},
    {.name = "save many", .run = save_many},
    {.name = "save many, unclean", .run = save_many, .unclean = true},
    {.name = "replace one", .run = replace_one},
    {.name = "update many", .run = update_many, .full = true},
    {.name = "modify one", .run = modify_one},
    {.name = "remove many", .run = remove_many},
    {.name = "remove one", .run = remove_one},
    {.name = "transaction", .run = transaction},
    {.name = "create index", .run = create_one_index},
    {.name = "create wildcard index", .run = create_wildcard_index},
    {.name = "create index inside", .run = create_index_inside},
    {.name = "drop index", .run = drop_index},
    {.name = "ensure", .run = ensure},
    {.name = "drop", .run = drop},
    {.name = "rename", .run = rename_it},
    {.name = "checkpoint", .run = checkpoint, .unclean = true},
    {.name = "compact", .run = compact, .full = true},
    {.name = "compact, unclean", .run = compact, .full = true, .unclean = true},
    {.name = "verify", .run = verify},
    {.name = "sync", .run = force},
    {.name = "find", .run = find},
    {.name = "aggregate", .run = aggregate},
    {.name = "distinct", .run = distinct},
    {.name = "explain", .run = explain},
    {.name = "count", .run = count},
    {.name = "count anywhere", .run = count_anywhere},
    {.name = "stats", .run = statistics},
    {.name = "feed", .run = read_feed},
    {.name = "command", .run = command},
    {.name = "open"},
    {.name = "open, unclean", .unclean = true},
    {.name = "open, no index", .unclean = true, .no_index = true},
    {.name = "close", .closing = true},
    {.name = "close, unclean", .closing = true, .unclean = true},
};

/* ---- Databases ---- */

static struct {
    char *folder;
    char clean[300], unclean[300], work[300];
} folders;

/* fill -- documents with two indexes, over a checkpoint and commits after it. */
static void fill(tansu_db *db) {
    char text[200];
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "u", "{'u': 1}", "{'unique': true}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", "w", "{'**': 1}", NULL), &call_error);
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'u': %d, 's': 's%d'}", i, i, i, i % 5);
        CHECK_OK(call_save(db, NULL, i % 8 == 7 ? "d" : "c", TANSU_SAVE, text), &call_error);
        if (i % 2 == 0) /* so that there is something to be compacted */
            CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
        if (i == 25)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    for (int i = 7; i < 40; i += 8) {
        snprintf(text, sizeof text, "{'_id': %d, 'n': %d, 'u': %d, 's': 's%d'}", i, i, i, i % 5);
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, text), &call_error);
    }
}

static void make_folders(void) {
    folders.folder = folder_new();
    snprintf(folders.clean, sizeof folders.clean, "%s", folder_join(folders.folder, "clean"));
    snprintf(folders.unclean, sizeof folders.unclean, "%s", folder_join(folders.folder, "unclean"));
    snprintf(folders.work, sizeof folders.work, "%s", folder_join(folders.folder, "work"));
    tansu_db *db = call_open(folders.clean);
    fill(db);
    folder_copy(folders.clean, folders.unclean); /* as a killed process would leave it */
    call_close(db);
}

/* contents -- all collections with documents in order and indexes, as a text of the caller's. */
static char *contents(tansu_db *db) {
    static const char *const names[] = {"another", "c", "d", "fresh", "renamed"};
    size_t size = 1 << 18, used = 0;
    char *text = malloc(size);
    REQUIRE(text != NULL);
    used += (size_t)snprintf(text, size, "%s", call_collections(db, NULL));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *indexes = call_indexes(db, NULL, names[i]);
        used += (size_t)snprintf(
            text + used, size - used, "\n%s\n%s", indexes,
            call_find(db, NULL, names[i], "{}", "{'$index': '', '$fields': {'pad': 0}}"));
        /* By the indexes that every state has or has not. */
        used += (size_t)snprintf(text + used, size - used, "\n%lld %lld %lld",
                                 (long long)call_count(db, NULL, names[i], "{'n': {'$gte': 5}}"),
                                 (long long)call_count(db, NULL, names[i], "{'u': {'$lt': 20}}"),
                                 (long long)call_count(db, NULL, names[i], "{'s': 's1'}"));
        REQUIRE(used < size);
    }
    return text;
}

/* begin -- a fresh copy of the database that the call is tried on. */
static tansu_options begin(const tried *t) {
    folder_remove(folders.work);
    folder_copy(t->unclean ? folders.unclean : folders.clean, folders.work);
    if (t->no_index)
        folder_remove(folder_join(folders.work, "index"));
    tansu_options options = call_options(folders.work);
    options.durability = t->full ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
    return options;
}

/* try -- opens, does the call and, for those that are about it, closes, with faults where it is
 * wanted. *db stays open when it can. */
static tansu_status try(const tried *t, const tansu_options *options, fault_kind kind, unsigned nth,
                        bool lasting, unsigned *calls, tansu_db **db) {
    bool opening = t->run == NULL && !t->closing;
    if (opening)
        fault_start(kind, nth, lasting, lasting ? ENOSPC : EIO);
    tansu_status status = handle_open(options, &fault_fs, &engine_query_hooks, db, &call_error);
    if (opening)
        *calls = fault_stop();
    if (opening)
        return status;
    REQUIRE(CHECK_OK(status, &call_error));
    if (t->closing && t->unclean) /* so that there is something to write */
        CHECK_OK(save_one(*db), &call_error);
    fault_start(kind, nth, lasting, lasting ? ENOSPC : EIO);
    if (t->closing) {
        status = tansu_shutdown(*db, &call_error);
        *db = NULL;
    } else {
        status = t->run(*db);
    }
    *calls = fault_stop();
    return status;
}

/* What a call makes of the database. */
typedef struct outcome {
    char *before;
    char *after;
    unsigned calls;
} outcome;

/* undisturbed -- the call as it should be. */
static outcome undisturbed(const tried *t, fault_kind kind) {
    outcome o;
    tansu_options options = begin(t);
    tansu_db *db = call_open_with(&options);
    if (t->closing && t->unclean)
        CHECK_OK(save_one(db), &call_error);
    o.before = contents(db);
    call_close(db);
    options = begin(t);
    CHECK_OK(try(t, &options, kind, 0, false, &o.calls, &db), &call_error);
    if (db == NULL)
        db = call_open_with(&options);
    o.after = contents(db);
    call_close(db);
    return o;
}

/* typed -- whether a status is one that a failing system call or allocation may come to. */
static bool typed(fault_kind kind, tansu_status status) {
    if (kind == FAULT_MEMORY)
        return status == TANSU_E_MEMORY;
    return status == TANSU_E_IO || status == TANSU_E_FULL || status == TANSU_E_SYNC_FAILED;
}

/* same_as -- whether the contents are one of two texts. */
static void same_as(tansu_db *db, const char *one, const char *other) {
    char *now = contents(db);
    if (strcmp(now, one) != 0 && (other == NULL || strcmp(now, other) != 0))
        CHECK_TEXT(one, now);
    free(now);
}

/* one_fault -- the call with its nth file call or allocation failing. */
static void one_fault(const tried *t, const outcome *o, fault_kind kind, unsigned nth,
                      bool lasting) {
    tansu_options options = begin(t);
    tansu_db *db;
    unsigned calls;
    uint64_t failures = check_failures();
    call_error = (tansu_error){.code = TANSU_OK};
    tansu_status status = try(t, &options, kind, nth, lasting, &calls, &db);
    bool met = fault_occurred();
    if (status != TANSU_OK) {
        CHECK(met);
        if (!CHECK(typed(kind, status)))
            check_note("    %s: %s", tansu_status_name(status), call_error.message);
        CHECK_INT(status, call_error.code);
        CHECK(call_error.message[0] != 0);
    }
    /* A commit whose sync failed may be there or not; so may one that was done when its call could
     * only fail to say what came of it. */
    bool unsure = status != TANSU_OK && status != TANSU_E_MEMORY &&
                  (t->full || t->run == force || t->run == transaction);
    const char *expected = status == TANSU_OK ? o->after : o->before;
    if (db != NULL) {
        same_as(db, expected, unsure ? o->after : NULL);
        if (status != TANSU_OK && kind == FAULT_MEMORY)
            CHECK_OK(call_save(db, NULL, "after", TANSU_SAVE, "{'_id': 1}"), &call_error);
        tansu_status closed = tansu_shutdown(db, NULL);
        /* A checkpoint syncs the log first, and a log whose sync failed takes no more. */
        CHECK(closed == TANSU_OK || unsure || t->run == checkpoint);
    }
    db = call_open(folders.work);
    CHECK_OK(call_save(db, NULL, "after", TANSU_SAVE, "{'_id': 2}"), &call_error);
    CHECK_OK(tansu_collection_drop(db, NULL, "after", &call_error), &call_error);
    same_as(db, expected, unsure ? o->after : NULL);
    call_close(db);
    if (check_failures() != failures)
        check_note("    %s: %s %u of %u%s, which came to %s: %s", t->name,
                   kind == FAULT_FILES ? "file call" : "allocation", nth, o->calls,
                   lasting ? " and all later ones" : "", tansu_status_name(status),
                   call_error.message);
}

/* all_faults -- of one kind, in every call of the list. */
static void all_faults(fault_kind kind, bool lasting) {
    const char *only = getenv("TANSU_ONLY");
    unsigned most = (unsigned)random_rounds("TANSU_FAULTS", TRIES_USUALLY);
    unsigned tries = 0, calls = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (only != NULL && strcmp(only, all[i].name) != 0)
            continue;
        outcome o = undisturbed(&all[i], kind);
        calls += o.calls;
        unsigned step = o.calls <= most ? 1 : (o.calls + most - 1) / most;
        for (unsigned nth = 1; nth <= o.calls; nth += step, tries++)
            one_fault(&all[i], &o, kind, nth, lasting);
        free(o.before);
        free(o.after);
    }
    CHECK(only != NULL || calls > 50);
    check_note("%u of %u %s made to fail%s", tries, calls,
               kind == FAULT_FILES ? "file calls" : "allocations",
               lasting ? ", with all later ones" : "");
}

static void every_file_call_may_fail(void) {
    all_faults(FAULT_FILES, false);
}

static void the_disk_may_fail_for_good(void) {
    all_faults(FAULT_FILES, true);
}

static void every_allocation_may_fail(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    all_faults(FAULT_MEMORY, false);
}

static void memory_may_stay_exhausted(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    all_faults(FAULT_MEMORY, true);
}

int main(void) {
    prepare();
    make_folders();
    RUN(every_file_call_may_fail);
    RUN(the_disk_may_fail_for_good);
    RUN(every_allocation_may_fail);
    RUN(memory_may_stay_exhausted);
    folder_end(folders.folder);
    unprepare();
    return check_finish();
}
