/*
 * test_compression.c -- a collection whose documents are compressed gives the same answers as one
 * whose documents are not: after compactions, changes, reopenings and rebuilt indexes, to cursors
 * that were open before, and with a cache that keeps no block. Its files are smaller. What is
 * corrupt in them is found, and the rest is salvaged.
 */
#include "api/handles.h"
#include "log/compressed/codec.h"
#include "log/format.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/repo_file.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- The two collections ---- */

static const char *const both[] = {"plain", "packed"};

/* open_cached -- with a bound for the blocks in memory. */
static tansu_db *open_cached(const char *folder, uint64_t cache) {
    tansu_options options = call_options(folder);
    options.block_cache_bytes = cache;
    return call_open_with(&options);
}

/* compact -- on demand. */
static void compact(tansu_db *db) {
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
}

/* save_both -- a document in both collections. Its text resembles that of others. */
static void save_both(tansu_db *db, tansu_txn *txn, int id, int n, unsigned size) {
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    for (unsigned i = 0; i < size; i++)
        text[i] = (char)('a' + (i * (unsigned)(n % 7 + 1) + (unsigned)id / 5) % 23);
    text[size] = 0;
    for (int i = 0; i < 2; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", id);
        BSON_APPEND_INT32(&doc, "n", n);
        BSON_APPEND_UTF8(&doc, "text", text);
        CHECK_OK(call_save_bson(db, txn, both[i], TANSU_SAVE, &doc), &call_error);
        bson_destroy(&doc);
    }
    free(text);
}

/* fill_both -- documents with ids from `from` on, of sizes from small to larger than a block. */
static void fill_both(tansu_db *db, int from, int count) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = from; i < from + count; i++)
        save_both(db, txn, i, i, i % 97 == 96 ? 3 * BLOCK_BYTES : 40 + (unsigned)i % 300);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

/* create -- the two collections, one of them compressed. */
static void create(tansu_db *db) {
    CHECK_OK(call_ensure(db, NULL, "plain", "{}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "packed", "{'compression': 'lz4'}"), &call_error);
    for (int i = 0; i < 2; i++)
        CHECK_OK(call_index(db, NULL, both[i], "n", "{'n': 1}", NULL), &call_error);
}

/* same_answers -- cursors over both give the same documents, byte for byte. */
static void same_answers(tansu_db *db, tansu_txn *txn, const char *query, const char *hints) {
    tansu_cursor *a = call_cursor(db, txn, both[0], query, hints);
    tansu_cursor *b = call_cursor(db, txn, both[1], query, hints);
    tansu_document x, y;
    tansu_status p = TANSU_OK, q = TANSU_OK;
    while (p == TANSU_OK && q == TANSU_OK) {
        p = tansu_cursor_next(a, &x, &call_error);
        q = tansu_cursor_next(b, &y, &call_error);
        CHECK_STATUS(p, q);
        if (p == TANSU_OK && q == TANSU_OK && (x.size != y.size || memcmp(x.data, y.data, x.size)))
            CHECK_BYTES(x.data, x.size, y.data, y.size);
    }
    CHECK_STATUS(TANSU_DONE, p);
    tansu_cursor_close(a);
    tansu_cursor_close(b);
}

static void same_state(tansu_db *db) {
    same_answers(db, NULL, "{}", NULL);
    same_answers(db, NULL, "{'n': {'$gte': 100}}", "{'$orderby': {'n': 1}}");
    same_answers(db, NULL, "{}", "{'$orderby': {'text': -1, '_id': 1}}");
    same_answers(db, NULL, "{'text': {'$begin': 'a'}}", "{'$fields': {'n': 1}}");
    for (int i = 0; i < 2; i++)
        CHECK_INT(call_count(db, NULL, both[0], "{'n': {'$lt': 500}}"),
                  call_count(db, NULL, both[i], "{'n': {'$lt': 500}}"));
}

/* find_compressed -- the path of a compressed segment in the log, or NULL. */
static const char *find_compressed(const char *folder) {
    static char path[1024];
    char *log = strdup(folder_join(folder, "log"));
    DIR *dir = opendir(log);
    const char *found = NULL;
    REQUIRE(dir != NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        if (strstr(e->d_name, ".seg") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", log, e->d_name);
        file_read(path, &bytes);
        bool is = bytes.size > SEGMENT_HEADER_SIZE &&
                  ((segment_header *)(void *)bytes.data)->kind == SEGMENT_COMPRESSED;
        tansu_buffer_free(&bytes);
        if (is) {
            found = path;
            break;
        }
    }
    closedir(dir);
    free(log);
    return found;
}

/* make_store -- a closed store with a compressed segment. */
static void make_store(const char *folder, int documents) {
    tansu_db *db = call_open(folder);
    create(db);
    for (int i = 0; i < documents; i += 200)
        fill_both(db, i, documents - i < 200 ? documents - i : 200);
    compact(db);
    call_close(db);
    REQUIRE(find_compressed(folder) != NULL);
}

/* ---- Answers ---- */

/* change -- some random work on both. */
static void change(tansu_db *db, random_source *source) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int k = 0; k < 60; k++) {
        int id = (int)random_below(source, 900), n = (int)random_below(source, 1000);
        char text[64];
        if (random_chance(source, 60)) {
            unsigned size =
                random_chance(source, 3) ? 2 * BLOCK_BYTES : (unsigned)random_below(source, 600);
            save_both(db, txn, id, n, size);
            continue;
        }
        snprintf(text, sizeof text, "{'_id': %d}", id);
        int removed[2] = {0};
        for (int i = 0; i < 2; i++)
            CHECK_OK(call_remove_id(db, txn, both[i], text, &removed[i]), &call_error);
        CHECK_INT(removed[0], removed[1]);
        same_answers(db, txn, text, NULL);
    }
    if (random_chance(source, 20))
        tansu_txn_abort(txn);
    else
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
}

static void random_work_gives_the_same_answers(void) {
    random_source source = random_start(1);
    for (int round = 0; round < 6; round++) {
        char *folder = folder_new();
        uint64_t cache = round % 2 == 0 ? 0 : 100000;
        tansu_db *db = open_cached(folder, cache);
        create(db);
        fill_both(db, 0, 600);
        for (int step = 0; step < 25 && check_failures() == 0; step++) {
            change(db, &source);
            unsigned kind = (unsigned)random_below(&source, 8);
            if (kind < 3)
                compact(db);
            if (kind == 3 || kind == 4) {
                call_close(db);
                if (kind == 4)
                    folder_remove(folder_join(folder, "index"));
                db = open_cached(folder, cache);
            }
            if (kind == 5)
                CHECK(maintenance_clean(db));
            same_state(db);
        }
        CHECK(maintenance_clean(db));
        call_close(db);
        folder_end(folder);
    }
}

static void joins_and_updates_read_compressed_documents(void) {
    char *folder = folder_new();
    make_store(folder, 400);
    tansu_db *db = open_cached(folder, 0);
    for (int i = 0; i < 2; i++) {
        char list[64 * 8] = "{'_id': 1, 'of': [", json[64 * 8 + 16];
        for (int k = 0; k < 60; k++)
            snprintf(list + strlen(list), 8, "%d,", k * 6);
        list[strlen(list) - 1] = 0;
        snprintf(json, sizeof json, "%s], 'with': '%s'}", list, both[i]);
        CHECK_OK(call_save(db, NULL, i == 0 ? "a" : "b", TANSU_SAVE, json), &call_error);
    }
    CHECK_OK(call_ensure(db, NULL, "b", "{'compression': 'lz4'}"), &call_error);
    compact(db);
    char *joined = strdup(call_find(db, NULL, "a", "{}",
                                    "{'$do': {'of': {'$join': 'plain'}}, "
                                    "'$fields': {'of': 1}}"));
    CHECK(strlen(joined) > 10000);
    CHECK_TEXT(joined, call_find(db, NULL, "b", "{}",
                                 "{'$do': {'of': {'$join': 'packed'}}, "
                                 "'$fields': {'of': 1}}"));
    free(joined);
    for (int i = 0; i < 2; i++) {
        tansu_buffer query = TANSU_BUFFER_INIT, update = TANSU_BUFFER_INIT;
        const char *q = "{\"n\": {\"$lt\": 200}}", *u = "{\"$inc\": {\"n\": 1000}}";
        CHECK_OK(tansu_json_to_bson(q, strlen(q), &query, &call_error), &call_error);
        CHECK_OK(tansu_json_to_bson(u, strlen(u), &update, &call_error), &call_error);
        CHECK_OK(tansu_update(db, NULL, both[i], (tansu_document){query.data, query.size},
                              (tansu_document){update.data, update.size}, (tansu_document){0}, NULL,
                              &call_error),
                 &call_error);
        tansu_buffer_free(&query);
        tansu_buffer_free(&update);
    }
    same_state(db);
    CHECK_OK(call_index(db, NULL, "plain", "text", "{'text': 1}", NULL), &call_error);
    CHECK_OK(call_index(db, NULL, "packed", "text", "{'text': 1}", NULL), &call_error);
    same_state(db);
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

static void open_cursors_and_snapshots_keep_what_they_see(void) {
    char *folder = folder_new();
    make_store(folder, 600);
    tansu_db *db = open_cached(folder, 0);
    tansu_txn *txn = call_begin(db, TANSU_TXN_READ);
    tansu_cursor *a = call_cursor(db, NULL, "plain", "{}", NULL);
    tansu_cursor *b = call_cursor(db, NULL, "packed", "{}", NULL);
    tansu_document x = {0}, y = {0};
    for (int i = 0; i < 600; i++) {
        CHECK_OK(tansu_cursor_next(a, &x, &call_error), &call_error);
        CHECK_OK(tansu_cursor_next(b, &y, &call_error), &call_error);
        if (i % 150 == 70) {
            char query[64];
            snprintf(query, sizeof query, "{'n': {'$gte': %d, '$lt': %d}}", i, i + 100);
            for (int k = 0; k < 2; k++)
                CHECK_OK(call_remove(db, NULL, both[k], query, NULL), &call_error);
            compact(db);
            same_state(db); /* every block is evicted by it but those in use */
        }
        CHECK_BYTES(x.data, x.size, y.data, y.size);
        if (check_failures() != 0)
            break;
    }
    CHECK_STATUS(TANSU_DONE, tansu_cursor_next(b, &y, &call_error));
    same_answers(db, txn, "{}", NULL);
    CHECK_INT(600, call_count(db, txn, "packed", "{}"));
    tansu_cursor_close(a);
    tansu_cursor_close(b);
    tansu_txn_abort(txn);
    compact(db);
    same_state(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Several threads ---- */

typedef struct sharing {
    tansu_db *db;
    unsigned number;
    int64_t wrong;
    bool *stop;
} sharing;

/* read_on -- gets and scans, until it is told to end. */
static void *read_on(void *context) {
    sharing *s = context;
    random_source source = random_start(100 + s->number);
    tansu_buffer document = TANSU_BUFFER_INIT;
    tansu_error error;
    while (!__atomic_load_n(s->stop, __ATOMIC_ACQUIRE)) {
        uint8_t id[14] = {14, 0, 0, 0, 0x10, '_', 'i', 'd', 0};
        int32_t number = (int32_t)random_below(&source, 500);
        memcpy(id + 9, &number, 4);
        tansu_status status =
            tansu_get(s->db, NULL, "packed", (tansu_document){id, sizeof id}, &document, &error);
        bson_t view;
        bson_iter_t iter;
        bool good = status == TANSU_OK && bson_init_static(&view, document.data, document.size) &&
                    bson_iter_init_find(&iter, &view, "_id") && bson_iter_int32(&iter) == number;
        if (!good)
            __atomic_fetch_add(&s->wrong, 1, __ATOMIC_RELAXED);
        if (number % 50 == 0 && call_count(s->db, NULL, "packed", "{'text': 'none'}") != 0)
            __atomic_fetch_add(&s->wrong, 1, __ATOMIC_RELAXED);
    }
    tansu_buffer_free(&document);
    return NULL;
}

static void readers_share_a_cache_that_keeps_nothing(void) {
    char *folder = folder_new();
    make_store(folder, 500);
    tansu_db *db = open_cached(folder, 0);
    bool stop = false;
    sharing readers[3];
    pthread_t threads[3];
    for (unsigned i = 0; i < 3; i++) {
        readers[i] = (sharing){.db = db, .number = i, .stop = &stop};
        REQUIRE(pthread_create(&threads[i], NULL, read_on, &readers[i]) == 0);
    }
    random_source source = random_start(2);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 40; k++)
            save_both(db, NULL, (int)random_below(&source, 500), k, 200);
        compact(db);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(0, readers[i].wrong);
    }
    same_state(db);
    call_close(db);
    folder_end(folder);
}

/* ---- Options and files ---- */

static void files_are_smaller_and_an_option_away(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_OK(call_ensure(db, NULL, "packed", "{}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "plain", "{}"), &call_error);
    for (int i = 0; i < 3000; i += 300)
        fill_both(db, i, 300);
    compact(db);
    int64_t raw = call_statistic(db, "logBytes");
    CHECK_INT(-1, call_statistic(db, "compressedBytes"));
    CHECK(find_compressed(folder) == NULL);
    for (int i = 0; i < 2; i++)
        CHECK_OK(call_ensure(db, NULL, both[i], "{'compression': 'lz4'}"), &call_error);
    CHECK(strstr(call_collections(db, NULL), "\"compression\" : \"lz4\"") != NULL);
    compact(db);
    int64_t small = call_statistic(db, "logBytes");
    CHECK(small < raw / 2);
    CHECK(call_statistic(db, "compressedBytes") * 2 < call_statistic(db, "compressedFromBytes"));
    CHECK(find_compressed(folder) != NULL);
    int64_t done = call_statistic(db, "compactions");
    compact(db);
    CHECK_INT(done, call_statistic(db, "compactions")); /* all of it is compressed */
    same_state(db);
    call_close(db);
    db = call_open(folder);
    same_state(db);
    for (int i = 0; i < 2; i++)
        CHECK_OK(call_ensure(db, NULL, both[i], "{'compression': 'none'}"), &call_error);
    compact(db);
    CHECK(find_compressed(folder) == NULL);
    CHECK(strstr(call_collections(db, NULL), "compression") == NULL);
    same_state(db);
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

static void the_option_is_kept(void) {
    char *folder = folder_new(), *store = strdup(folder_join(folder, "store"));
    tansu_db *db = call_open(store);
    CHECK_OK(call_ensure(db, NULL, "c", "{'local': true, 'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_ensure(db, NULL, "c", "{'local': true}"), &call_error);
    CHECK_STATUS(TANSU_E_EXISTS, call_ensure(db, NULL, "c", "{'local': false}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", "{'compression': 'best'}"));
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_ensure(db, NULL, "c", "{'compression': 1}"));
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(call_ensure(db, txn, "c", "{'compression': 'none'}"), &call_error);
    tansu_txn_abort(txn);
    txn = call_begin(db, TANSU_TXN_WRITE);
    CHECK_OK(tansu_savepoint_begin(txn, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, call_ensure(db, txn, "c", "{'compression': 'none'}"));
    CHECK_OK(call_ensure(db, txn, "fresh", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(tansu_savepoint_roll_back(txn, &call_error), &call_error);
    CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    const char *expected = "{ \"collections\" : [ { \"name\" : \"c\", \"documents\" : 0, "
                           "\"options\" : { \"local\" : true, \"compression\" : \"lz4\" } } ] }";
    for (int i = 0; i < 3; i++) {
        CHECK_TEXT(expected, call_collections(db, NULL));
        call_close(db);
        if (i == 1)
            folder_remove(folder_join(store, "index"));
        db = call_open(store);
    }
    for (int i = 0; i < 2; i++) {
        const char *copy = path_in(folder, i == 0 ? "backup" : "backup.tansu");
        CHECK_OK(backup(db, copy, backup_forms[i]), &call_error);
        CHECK_OK(restore(copy, path_in(folder, "restored")), &call_error);
        tansu_db *other = call_open(path_in(folder, "restored"));
        CHECK_TEXT(expected, call_collections(other, NULL));
        call_close(other);
        folder_remove(path_in(folder, "restored"));
    }
    CHECK_OK(tansu_collection_rename(db, NULL, "c", "d", &call_error), &call_error);
    CHECK(strstr(call_collections(db, NULL), "\"compression\" : \"lz4\"") != NULL);
    call_close(db);
    CHECK_OK(maintenance_repair(store, path_in(folder, "repaired")), &call_error);
    db = call_open(path_in(folder, "repaired"));
    CHECK(strstr(call_collections(db, NULL), "\"compression\" : \"lz4\"") != NULL);
    call_close(db);
    free(store);
    folder_end(folder);
}

static void backups_are_not_compressed_and_readers_need_nothing(void) {
    char *folder = folder_new(), *store = strdup(folder_join(folder, "store"));
    make_store(store, 500);
    tansu_db *db = call_open(store);
    tansu_options options = call_options(store);
    options.allow_writer = 1;
    tansu_db *reader = call_open_with(&options);
    for (int i = 0; i < 2; i++) {
        const char *copy = path_in(folder, i == 0 ? "backup" : "backup.tansu");
        CHECK_OK(backup(db, copy, backup_forms[i]), &call_error);
        if (i == 0)
            CHECK(find_compressed(copy) == NULL);
        CHECK_OK(restore(copy, path_in(folder, "restored")), &call_error);
        tansu_db *other = call_open(path_in(folder, "restored"));
        same_state(other);
        compact(other);
        CHECK(find_compressed(path_in(folder, "restored")) != NULL);
        same_state(other);
        call_close(other);
        folder_remove(path_in(folder, "restored"));
    }
    /* The files of a closed database are a backup as well. */
    for (int k = 0; k < 100; k++)
        save_both(db, NULL, k, k, 100);
    compact(db);
    same_state(reader); /* though its segments are removed */
    call_close(reader);
    call_close(db);
    CHECK_OK(restore(store, path_in(folder, "restored")), &call_error);
    db = call_open(path_in(folder, "restored"));
    same_state(db);
    CHECK(maintenance_clean(db));
    call_close(db);
    free(store);
    folder_end(folder);
}

static void feeds_deliver_what_is_compressed(void) {
    char *folder = folder_new();
    make_store(folder, 300);
    tansu_db *db = open_cached(folder, 0);
    for (int i = 0; i < 20; i++)
        save_both(db, NULL, i, 7, 50);
    tansu_feed *feed;
    tansu_buffer options = TANSU_BUFFER_INIT;
    const char *json = "{\"before\": true}";
    CHECK_OK(tansu_json_to_bson(json, strlen(json), &options, &call_error), &call_error);
    CHECK_OK(
        tansu_feed_open(db, 0, (tansu_document){options.data, options.size}, &feed, &call_error),
        &call_error);
    int inserted[2] = {0}, updated[2] = {0}, before = 0;
    tansu_change event;
    tansu_change_init(&event);
    while (tansu_feed_next(feed, 0, &event, &call_error) == TANSU_OK) {
        int which = strcmp(event.collection, "packed") == 0;
        inserted[which] += event.kind == TANSU_CHANGE_INSERT;
        updated[which] += event.kind == TANSU_CHANGE_UPDATE;
        bson_t view;
        bson_iter_t iter;
        if (event.kind == TANSU_CHANGE_UPDATE && event.before.data != NULL &&
            bson_init_static(&view, event.before.data, event.before.size) &&
            bson_iter_init_find(&iter, &view, "text"))
            before++;
    }
    for (int i = 0; i < 2; i++) {
        CHECK_INT(300, inserted[i]);
        CHECK_INT(20, updated[i]);
    }
    CHECK_INT(40, before);
    tansu_feed_close(feed);
    tansu_buffer_free(&options);
    call_close(db);
    folder_end(folder);
}

/* ---- Corruption ---- */

/* read_all -- reads every document of the packed collection; how many could be read. */
static int read_all(tansu_db *db) {
    int good = 0;
    for (int id = 0; id < 300; id++) {
        char text[32];
        snprintf(text, sizeof text, "{'_id': %d}", id);
        const char *got = call_get(db, NULL, "packed", text);
        if (got[0] == '{')
            good++;
        else
            CHECK_TEXT("CORRUPT", got);
    }
    return good;
}

/* check_flipped -- opens, reads, verifies and repairs a store in which one bit is wrong. */
static void check_flipped(const char *folder, const char *store, const char *name, uint64_t at) {
    tansu_db *db;
    tansu_options options = call_options(store);
    tansu_status status = tansu_open(&options, &db, &call_error);
    bool seen = status == TANSU_E_CORRUPT || status == TANSU_E_VERSION;
    CHECK(seen || status == TANSU_OK);
    if (status == TANSU_OK) {
        int good = read_all(db);
        if (good != 300) {
            seen = true;
            CHECK(strstr(call_error.message, name) != NULL || call_error.offset >= 0);
        }
        status = maintenance_verify(db);
        seen = seen || status == TANSU_E_CORRUPT;
        tansu_shutdown(db, &call_error);
    }
    if (!seen)
        check_note("    the bit at %llu of %s was not noticed", (unsigned long long)at, name);
    CHECK(seen);
    const char *to = path_in(folder, "repaired");
    status = maintenance_repair(store, to);
    if (status == TANSU_E_VERSION)
        return;
    if (CHECK_OK(status, &call_error)) {
        db = call_open(to);
        CHECK_INT(300, call_count(db, NULL, "plain", "{}") > 150 ? 300 : 0);
        CHECK(call_count(db, NULL, "packed", "{}") > 150);
        CHECK(maintenance_clean(db));
        call_close(db);
        folder_remove(to);
    }
}

static void every_part_of_a_segment_is_checked(void) {
    char *folder = folder_new(), *store = strdup(folder_join(folder, "store"));
    char *copy = strdup(folder_join(folder, "copy"));
    make_store(store, 300);
    const char *path = find_compressed(store);
    uint64_t size = file_size(path);
    char name[16];
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    random_source source = random_start(3);
    compressed_header header;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    memcpy(&header, bytes.data + SEGMENT_HEADER_SIZE, sizeof header);
    CHECK(header.count > 2);
    /* The first bytes of everything, and random ones; zeros between blocks mean nothing. */
    for (int i = 0; i < 48 && check_failures() == 0; i++) {
        uint64_t at = i < 10   ? (uint64_t)i * 8
                      : i < 16 ? SEGMENT_HEADER_SIZE + (uint64_t)(i - 10) * 4
                      : i < 22 ? COMPRESSED_BLOCKS + (uint64_t)(i - 16) * 4
                      : i < 26 ? header.table + (uint64_t)(i - 22) * 4
                               : random_below(&source, size);
        if (i >= 26 && at < header.table && bytes.data[at] == 0)
            continue;
        folder_copy(store, copy);
        file_flip(strstr(find_compressed(copy), copy), at, (unsigned)random_below(&source, 8));
        check_flipped(folder, copy, name, at);
        folder_remove(copy);
    }
    tansu_buffer_free(&bytes);
    free(store);
    free(copy);
    folder_end(folder);
}

/* Without its header, and with the MANIFEST of another database: its blocks say whose it is. */
static void a_header_that_is_lost_is_not_needed(void) {
    static const uint8_t zeros[4096];
    char *folder = folder_new(), *store = strdup(folder_join(folder, "store"));
    char *stranger = strdup(folder_join(folder, "stranger")),
         *to = strdup(folder_join(folder, "to"));
    make_store(store, 300);
    make_store(stranger, 300);
    tansu_buffer manifest = TANSU_BUFFER_INIT;
    file_read(folder_join(stranger, "MANIFEST"), &manifest);
    file_write(folder_join(store, "MANIFEST"), manifest.data, manifest.size);
    tansu_buffer_free(&manifest);
    remove(folder_join(store, "log/TAIL"));
    /* Of the whole log; then also the first block. */
    for (int round = 0; round < 2; round++) {
        file_patch(find_compressed(store), SEGMENT_HEADER_SIZE / 2, zeros, SEGMENT_HEADER_SIZE / 2);
        if (round == 1)
            file_patch(find_compressed(store), SEGMENT_HEADER_SIZE, zeros, sizeof zeros);
        CHECK_OK(maintenance_repair(store, to), &call_error);
        int64_t documents = maintenance_number("documents");
        CHECK(round == 0 ? documents == 600 : documents > 300);
        tansu_db *db = call_open(to);
        CHECK(maintenance_clean(db));
        call_close(db);
        folder_remove(to);
    }
    free(to);
    free(stranger);
    free(store);
    folder_end(folder);
}

static void a_segment_of_another_codec_is_rejected(void) {
    char *folder = folder_new();
    make_store(folder, 300);
    char *path = strdup(find_compressed(folder));
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    compressed_header header;
    memcpy(&header, bytes.data + SEGMENT_HEADER_SIZE, sizeof header);
    header.codecs |= 4;
    header.crc = 0;
    uint32_t seed = (uint32_t)crc32_z(0, bytes.data + 16, 16);
    header.crc = (uint32_t)crc32_z(seed, (const uint8_t *)&header, sizeof header);
    file_patch(path, SEGMENT_HEADER_SIZE, &header, sizeof header);
    CHECK_STATUS(TANSU_E_UNSUPPORTED, call_try_open(folder));
    CHECK(strstr(call_error.message, "does not have") != NULL);
    tansu_buffer_free(&bytes);
    free(path);
    folder_end(folder);
}

/* ---- Calls and allocations that fail ---- */

/* read_some -- gets a document, and reads all; the first status that is not OK. */
static tansu_status read_some(tansu_db *db) {
    static const uint8_t id[14] = {14, 0, 0, 0, 0x10, '_', 'i', 'd', 0, 150, 0, 0, 0, 0};
    static const uint8_t query[] = {16, 0, 0, 0, 2, 'n', 'o', 0, 3, 0, 0, 0, 'n', 'o', 0, 0};
    tansu_buffer document = TANSU_BUFFER_INIT;
    int64_t count;
    tansu_status status =
        tansu_get(db, NULL, "packed", (tansu_document){id, sizeof id}, &document, &call_error);
    if (status == TANSU_OK)
        status = tansu_count(db, NULL, "packed", (tansu_document){query, sizeof query},
                             (tansu_document){0}, &count, &call_error);
    tansu_buffer_free(&document);
    return status;
}

static void allocations_that_fail_cost_one_call(void) {
    if (!fault_has_memory())
        return;
    char *folder = folder_new();
    make_store(folder, 300);
    tansu_db *db = open_cached(folder, 0);
    bool more = true;
    for (unsigned n = 1; more && check_failures() == 0; n++) {
        fault_start(FAULT_MEMORY, n, false, 0);
        tansu_status status = read_some(db);
        more = fault_occurred();
        fault_stop();
        CHECK(status == TANSU_OK || (more && status == TANSU_E_MEMORY));
        CHECK_OK(read_some(db), &call_error);
    }
    more = true;
    for (unsigned n = 1; more && check_failures() == 0; n += 1 + n / 6) {
        for (int i = 0; i < 20; i++)
            save_both(db, NULL, i, (int)n, 3000);
        fault_start(FAULT_MEMORY, n, false, 0);
        tansu_status status = tansu_compact(db, NULL, NULL, NULL, &call_error);
        more = fault_occurred();
        fault_stop();
        CHECK(status == TANSU_OK || (more && status == TANSU_E_MEMORY));
        same_answers(db, NULL, "{}", NULL);
    }
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

static void file_calls_that_fail_are_reported(void) {
    char *folder = folder_new();
    make_store(folder, 300);
    tansu_options options = call_options(folder);
    options.block_cache_bytes = 0;
    bool more = true;
    for (unsigned n = 1; more && check_failures() == 0; n++) {
        tansu_db *db = NULL;
        fault_start(FAULT_FILES, n, false, EIO);
        tansu_status status =
            handle_open(&options, &fault_fs, &engine_query_hooks, &db, &call_error);
        if (status == TANSU_OK)
            status = read_some(db);
        if (status == TANSU_OK)
            status = maintenance_verify(db);
        if (status == TANSU_OK)
            status = tansu_compact(db, NULL, NULL, NULL, &call_error);
        more = fault_occurred();
        fault_stop();
        CHECK(status == TANSU_OK || more);
        CHECK(status != TANSU_E_CORRUPT);
        if (db != NULL)
            tansu_shutdown(db, &call_error);
    }
    tansu_db *db = call_open(folder);
    same_state(db);
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

/* ---- A database that a build with LZ4 made ---- */

#define VECTOR "CEngine/tests/vectors/compressed/"
static const char *const vector_files[] = {"MANIFEST", "log/00000004.seg", "log/00000005.seg"};
enum { VECTOR_FILES = sizeof vector_files / sizeof *vector_files, VECTOR_DOCUMENTS = 40 };

/* make_vector -- writes the database of which these files are kept. */
static void make_vector(const char *folder) {
    tansu_db *db = call_open(folder);
    char *large = malloc(400000);
    REQUIRE(large != NULL);
    CHECK_OK(call_ensure(db, NULL, "packed", "{'compression': 'lz4'}"), &call_error);
    for (int i = 0; i < 7; i++) {
        sprintf(large, "{'_id': %d, 'text': '%0300000d'}", i, i);
        CHECK_OK(call_save(db, NULL, "plain", TANSU_SAVE, large), &call_error);
        for (int k = 0; i == 2 && k < VECTOR_DOCUMENTS; k++) {
            sprintf(large, "{'_id': %d, 'text': 'The same text, which is worth compressing'}", k);
            CHECK_OK(call_save(db, NULL, "packed", TANSU_SAVE, large), &call_error);
        }
    }
    CHECK_OK(call_remove(db, NULL, "plain", "{}", NULL), &call_error);
    compact(db);
    call_close(db);
    free(large);
}

/* copy_vector -- the database in a new folder. */
static char *copy_vector(void) {
    char *folder = folder_new();
    REQUIRE(mkdir(folder_join(folder, "log"), 0777) == 0);
    for (int i = 0; i < VECTOR_FILES; i++) {
        char path[128];
        size_t size;
        snprintf(path, sizeof path, VECTOR "%s", vector_files[i]);
        char *bytes = repo_file_read(path, &size);
        file_write(folder_join(folder, vector_files[i]), bytes, size);
        free(bytes);
    }
    return folder;
}

/* is_vector -- whether the files in a folder are still those that were copied. */
static bool is_vector(const char *folder) {
    bool same = true;
    for (int i = 0; i < VECTOR_FILES; i++) {
        char path[128];
        size_t size;
        tansu_buffer now = TANSU_BUFFER_INIT;
        snprintf(path, sizeof path, VECTOR "%s", vector_files[i]);
        char *bytes = repo_file_read(path, &size);
        file_read(folder_join(folder, vector_files[i]), &now);
        same = CHECK_BYTES(bytes, size, now.data, now.size) && same;
        tansu_buffer_free(&now);
        free(bytes);
    }
    return same;
}

static void a_database_of_another_build_is_read(void) {
    char *folder = copy_vector();
    CHECK(find_compressed(folder) != NULL);
    tansu_db *db = call_open(folder);
    CHECK_INT(VECTOR_DOCUMENTS, call_count(db, NULL, "packed", "{}"));
    CHECK_TEXT("{ \"_id\" : 7, \"text\" : \"The same text, which is worth compressing\" }",
               call_get(db, NULL, "packed", "{'_id': 7}"));
    CHECK(maintenance_clean(db));
    call_close(db);
    folder_end(folder);
}

/* ---- Without LZ4 ---- */

static void a_library_without_lz4_says_so(void) {
    char *folder = folder_new();
    tansu_db *db = call_open(folder);
    CHECK_STATUS(TANSU_E_UNSUPPORTED, call_ensure(db, NULL, "c", "{'compression': 'lz4'}"));
    CHECK(strstr(call_error.message, "LZ4") != NULL);
    CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'none'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"), &call_error);
    compact(db);
    CHECK_INT(1, call_count(db, NULL, "c", "{}"));
    call_close(db);
    folder_end(folder);
}

/* needs_lz4 -- whether an error names the codec and the library. */
static void needs_lz4(tansu_status status, const tansu_error *error) {
    CHECK_INT(TANSU_E_UNSUPPORTED, status);
    CHECK_TEXT("lz4", error->context);
    CHECK(strstr(error->message, "LZ4") != NULL && strstr(error->message, "liblz4") != NULL);
}

/* Every way to open it, and what would make another database of it. */
static void a_database_of_another_build_is_left_as_it_is(void) {
    char *folder = copy_vector(), *other = folder_new(), *to = strdup(folder_join(other, "to"));
    for (int round = 0; round < 4; round++) {
        tansu_options options = call_options(folder);
        tansu_db *db = NULL;
        tansu_error error;
        options.read_only = round % 2;
        options.allow_writer = round == 3;
        needs_lz4(tansu_open(&options, &db, &error), &error);
        CHECK(db == NULL && is_vector(folder));
    }
    needs_lz4(maintenance_repair(folder, to), &call_error);
    CHECK(is_vector(folder));
    free(to);
    folder_end(other);
    folder_end(folder);
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    if (getenv("TANSU_VECTOR") != NULL) {
        make_vector(getenv("TANSU_VECTOR"));
        return check_finish();
    }
    if (!codec_available(CODEC_LZ4)) {
        RUN(a_library_without_lz4_says_so);
        RUN(a_database_of_another_build_is_left_as_it_is);
        check_skip("The library has no LZ4, so nothing is compressed");
        return check_finish();
    }
    RUN(a_database_of_another_build_is_read);
    RUN(random_work_gives_the_same_answers);
    RUN(joins_and_updates_read_compressed_documents);
    RUN(open_cursors_and_snapshots_keep_what_they_see);
    RUN(readers_share_a_cache_that_keeps_nothing);
    RUN(files_are_smaller_and_an_option_away);
    RUN(the_option_is_kept);
    RUN(backups_are_not_compressed_and_readers_need_nothing);
    RUN(feeds_deliver_what_is_compressed);
    RUN(every_part_of_a_segment_is_checked);
    RUN(a_header_that_is_lost_is_not_needed);
    RUN(a_segment_of_another_codec_is_rejected);
    RUN(allocations_that_fail_cost_one_call);
    RUN(file_calls_that_fail_are_reported);
    return check_finish();
}
