/*
 * fill.c -- making a database: documents of about 190 bytes with two indexes, or a file of real
 * ones with one.
 */
#include "bson_writer.h"
#include "growth.h"
#include "system.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BATCH 10000

const char *key_of(const struct data *d) {
    return d->places != NULL ? "geonameid" : "k";
}

/* make_document -- one of `count`; GROUP of them, all over the log, have the same key. */
static void make_document(struct bson_writer *w, uint64_t id, uint64_t count) {
    char text[124];
    memset(text, 'a' + (int)(id % 26), sizeof text);
    text[sizeof text - 1] = 0;
    bson_writer_begin(w);
    bson_writer_int64(w, "_id", (int64_t)id);
    bson_writer_int64(w, "k", (int64_t)(id * 7919 % (count / GROUP)));
    bson_writer_int32(w, "age", (int32_t)(id % 80));
    bson_writer_text(w, "text", text);
    bson_writer_close(w);
}

/* failed -- prints why. */
static bool failed(const char *what, const tansu_error *error) {
    fprintf(stderr, "growth: %s: %s: %s\n", what, tansu_status_name(error->code), error->message);
    return false;
}

static bool create_index(tansu_db *db, const char *path) {
    struct bson_writer keys;
    tansu_error error = {0};
    bson_writer_begin(&keys);
    bson_writer_int32(&keys, path, 1);
    bson_writer_close(&keys);
    return tansu_index_create(db, NULL, COLLECTION, path, (tansu_document){keys.data, keys.size},
                              TANSU_NO_DOCUMENT, NULL, NULL, &error) == TANSU_OK ||
           failed("creating an index", &error);
}

static bool insert_all(tansu_db *db, uint64_t count) {
    tansu_error error = {0};
    for (uint64_t id = 0; id < count;) {
        tansu_txn *txn = NULL;
        if (tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_PROCESS, &txn, &error) !=
            TANSU_OK)
            return failed("beginning", &error);
        for (uint64_t end = id + BATCH; id < end && id < count; id++) {
            struct bson_writer w;
            make_document(&w, id, count);
            tansu_document one = {w.data, w.size};
            if (tansu_save(db, txn, COLLECTION, &one, 1, TANSU_INSERT, NULL, &error) != TANSU_OK) {
                tansu_txn_abort(txn);
                return failed("saving", &error);
            }
        }
        if (tansu_txn_commit(txn, NULL, &error) != TANSU_OK)
            return failed("committing", &error);
    }
    return true;
}

static ptrdiff_t read_file(void *context, void *bytes, size_t size) {
    size_t got = fread(bytes, 1, size, context);
    return got == 0 && ferror((FILE *)context) ? -1 : (ptrdiff_t)got;
}

/* load_all -- the file, GROUP times: each time its documents get ids of their own. */
static bool load_all(tansu_db *db, const char *path) {
    struct bson_writer options;
    tansu_error error = {0};
    bson_writer_begin(&options);
    bson_writer_text(&options, "collection", COLLECTION);
    bson_writer_close(&options);
    for (int i = 0; i < GROUP; i++) {
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            fprintf(stderr, "growth: cannot open \"%s\"\n", path);
            return false;
        }
        tansu_status status =
            tansu_load(db, read_file, file, (tansu_document){options.data, options.size}, NULL,
                       NULL, NULL, &error);
        fclose(file);
        if (status != TANSU_OK)
            return failed("loading", &error);
    }
    return true;
}

void fill(const struct data *d, struct figures *f) {
    tansu_db *db = NULL;
    tansu_error error = {0};
    double begin = system_seconds();
    if (tansu_open_path(d->folder, &db, &error) != TANSU_OK) {
        failed("opening", &error);
        return;
    }
    f->right = create_index(db, key_of(d)) && (d->places != NULL || create_index(db, "age")) &&
               (d->places != NULL ? load_all(db, d->places) : insert_all(db, d->documents));
    if (tansu_shutdown(db, &error) != TANSU_OK)
        f->right = failed("closing", &error);
    f->fill_seconds = system_seconds() - begin;
}

void commit_and_die(const struct data *d, struct figures *f) {
    tansu_options options;
    tansu_db *db = NULL;
    tansu_error error = {0};
    tansu_options_init(&options);
    options.path = d->folder;
    options.durability = TANSU_DURABILITY_PROCESS;
    f->right = false;
    if (tansu_open(&options, &db, &error) != TANSU_OK) {
        failed("opening", &error);
        return;
    }
    for (int i = 0; i < 1000; i++) {
        struct bson_writer w;
        make_document(&w, (uint64_t)1000000000 + (uint64_t)i, d->documents);
        tansu_document one = {w.data, w.size};
        if (tansu_save(db, NULL, COLLECTION, &one, 1, TANSU_INSERT, NULL, &error) != TANSU_OK) {
            failed("saving", &error);
            return;
        }
    }
    raise(SIGKILL);
}
