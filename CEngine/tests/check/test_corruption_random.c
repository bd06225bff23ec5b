/*
 * test_corruption_random.c -- damage to every kind of file, at every place that is laid out and at
 * random ones: it is detected, or it is harmless; nothing crashes and no answer is wrong; and
 * repair brings back every document whose bytes were not touched.
 *
 * TANSU_ROUNDS rounds of each kind (the environment; 40 without).
 */
#include "index/block_store/block_store.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/random/random.h"
#include "support/workload/record_inventory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MOST 32

/* What a scan and each index is asked for. */
static const char *const queries[] = {"{}", "{'n': {'$gte': 7}}", "{'u': {'$lt': 1050}}",
                                      "{'tags': 3}"};
#define QUERIES (sizeof queries / sizeof queries[0])

/* How many documents of a collection each query selects. */
typedef struct counts {
    const char *collection; /* a name in the inventory */
    int64_t selected[QUERIES];
} counts;

/* How a database was left. */
enum left { CLOSED, COMPACTED, KILLED, KILLED_IN_CHECKPOINT, LEFT_KINDS };
static const char *const left_names[] = {"closed", "compacted", "killed", "killed in a checkpoint"};

/* A database that is damaged again and again: its files in a folder, and what it holds. */
typedef struct original {
    char *folder;
    inventory held;
    enum left left;
    char files[FILES_MOST][64]; /* by their paths in the folder */
    size_t file_count;
    counts counts[STORE_MODEL_COLLECTIONS];
    size_t collections;
} original;

/* What was done to a file. */
typedef struct damage {
    const char *file;
    uint32_t segment;  /* the number in its name, 0: it is no segment */
    uint64_t from, to; /* bytes that are not what they were */
    char story[160];
} damage;

static unsigned rounds(void) {
    return (unsigned)random_rounds("TANSU_ROUNDS", 40);
}

/* list_files -- the names of all files. */
static void list_files(original *o) {
    static const char *const folders[] = {"", "log/", "index/"};
    for (size_t i = 0; i < 3; i++) {
        DIR *folder = opendir(folder_join(o->folder, folders[i]));
        REQUIRE(folder != NULL);
        struct dirent *entry;
        while ((entry = readdir(folder)) != NULL)
            if (entry->d_name[0] != '.' && strcmp(entry->d_name, "log") != 0 &&
                strcmp(entry->d_name, "index") != 0) {
                REQUIRE(o->file_count < FILES_MOST);
                snprintf(o->files[o->file_count++], sizeof o->files[0], "%s%.40s", folders[i],
                         entry->d_name);
            }
        closedir(folder);
    }
}

/* begin_checkpoint -- leaves the block store of a folder in the middle of a transaction. */
static void begin_checkpoint(const char *from, const char *to) {
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT;
    CHECK_OK(block_store_open(&fs_system, folder_join(from, "index/blocks.tch"), 0, NULL, &bs,
                              &call_error),
             &call_error);
    CHECK_OK(block_store_begin(bs, &call_error), &call_error);
    CHECK_OK(block_store_get(bs, BLOCK_STORE_META, 0, &meta, &call_error), &call_error);
    for (uint64_t i = 1; i < 30; i++)
        CHECK_OK(i % 3 == 0
                     ? block_store_remove(bs, BLOCK_STORE_BLOCK, i, &call_error)
                     : block_store_put(bs, BLOCK_STORE_BLOCK, i, meta.data, meta.size, &call_error),
                 &call_error);
    folder_copy(from, to);
    block_store_abort(bs);
    CHECK_OK(block_store_close(bs, &call_error), &call_error);
    tansu_buffer_free(&meta);
    CHECK(file_exists(folder_join(to, "index/blocks.tch.redo.0")));
}

/* leave -- the folder of an open database, as it is left; the database is closed. */
static char *leave(char *folder, tansu_db *db, enum left left) {
    if (left == CLOSED || left == COMPACTED) {
        call_close(db);
        return folder;
    }
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(folder, copy);
    call_close(db);
    folder_end(folder);
    if (left == KILLED)
        return copy;
    char *again = folder_new();
    rmdir(again);
    begin_checkpoint(copy, again);
    folder_end(copy);
    return again;
}

/* large -- whether there are documents enough, with collections that come and go. */
static bool large(tansu_db *db) {
    static const char *const names[] = {"people", "cities", "z", "Ærø"};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        count += call_count(db, NULL, names[i], "{}");
    return count > 80;
}

/* count_all -- the answers of the intact database. */
static void count_all(original *o, tansu_db *db) {
    for (size_t i = 0; i < o->held.count; i++) {
        const char *collection = o->held.documents[i].collection;
        if (i > 0 && strcmp(collection, o->held.documents[i - 1].collection) == 0)
            continue;
        REQUIRE(o->collections < STORE_MODEL_COLLECTIONS);
        counts *c = &o->counts[o->collections++];
        c->collection = collection;
        for (size_t k = 0; k < QUERIES; k++) {
            c->selected[k] = call_count(db, NULL, collection, queries[k]);
            CHECK(c->selected[k] >= 0);
        }
    }
}

/* original_make -- a random history over this many steps. */
static void original_make(original *o, random_source *random, enum left left, int steps,
                          int most_pad) {
    *o = (original){.left = left};
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    options.compaction_percent = 0;
    tansu_db *db = call_open_with(&options);
    store_model m = {.most_pad = most_pad};
    for (int i = 0; i < steps || (steps >= 500 && !large(db)); i++) {
        store_model_step(&m, random, db);
        if (i == steps / 2)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    }
    if (left == COMPACTED) {
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        m.commits = (uint64_t)call_statistic(db, "sequence"); /* it makes commits of its own */
        for (int i = 0; i < steps / 4; i++)
            store_model_step(&m, random, db);
    }
    /* Collections go as well. */
    while (steps >= 500 && !large(db))
        store_model_step(&m, random, db);
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    /* Of what comes after it, a process that was killed has left all in the page cache as well. */
    for (int i = 0; left >= KILLED && (i < 10 || (steps >= 500 && !large(db))); i++)
        store_model_step(&m, random, db);
    inventory_take(&o->held, db);
    count_all(o, db);
    o->folder = leave(folder, db, left);
    CHECK(o->held.present > 60 || steps < 500);
    list_files(o);
}

static void original_end(original *o) {
    inventory_free(&o->held);
    folder_end(o->folder);
}

/* damage_of -- nothing done to a file yet. */
static damage damage_of(const char *file) {
    damage d = {.file = file};
    sscanf(file, "log/%8u", &d.segment);
    return d;
}

/* flip -- one bit. */
static void flip(damage *d, const char *path, uint64_t at, unsigned bit) {
    d->from = at;
    d->to = at + 1;
    file_flip(path, at, bit);
    snprintf(d->story, sizeof d->story, "bit %u of byte %llu", bit, (unsigned long long)at);
}

/* cut -- the end of a file away. */
static void cut(damage *d, const char *path, uint64_t at) {
    uint64_t size = file_size(path);
    d->from = at;
    d->to = size;
    file_cut(path, at);
    snprintf(d->story, sizeof d->story, "cut to %llu of %llu", (unsigned long long)at,
             (unsigned long long)size);
}

/* overwrite -- some bytes: zeros, as of a sector that was never written, or anything; after the
 * end as well. */
static void overwrite(damage *d, random_source *random, const char *path, uint64_t at,
                      uint64_t most) {
    uint8_t bytes[512];
    uint64_t size = file_size(path), count = 1 + random_below(random, sizeof bytes);
    if (count > most)
        count = most;
    bool zero = random_chance(random, 50);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = zero || random_chance(random, 50) ? 0 : (uint8_t)random_next(random);
    d->from = at;
    d->to = at + count;
    if (d->to > size)
        file_cut(path, d->to);
    file_patch(path, at, bytes, count);
    snprintf(d->story, sizeof d->story, "%llu bytes at %llu", (unsigned long long)count,
             (unsigned long long)at);
}

/* hurt -- damages one file of a folder at random. */
static damage hurt(const original *o, random_source *random, const char *folder) {
    damage d = damage_of(o->files[random_below(random, o->file_count)]);
    char *path = strdup(folder_join(folder, d.file));
    uint64_t size = file_size(path), at = size == 0 ? 0 : random_below(random, size);
    /* The beginnings of files are what all else hangs on. */
    if (size != 0 && random_chance(random, 25))
        at = random_below(random, size < 400 ? size : 400);
    switch (size == 0 ? 6 : random_below(random, 7)) {
    case 0:
    case 1:
    case 2: flip(&d, path, at, (unsigned)random_below(random, 8)); break;
    case 3:
    case 4: overwrite(&d, random, path, at, size - at); break;
    case 5: cut(&d, path, at); break;
    default: overwrite(&d, random, path, size, UINT64_MAX);
    }
    free(path);
    return d;
}

/* touched -- whether the damage reaches a document's newest record. */
static bool touched(const damage *d, const inventory_record *doc) {
    return d->segment == doc->segment && d->from < doc->offset + doc->size && d->to > doc->offset;
}

/* ---- Opening and reading ---- */

/* read_all -- asks for everything, in all ways. Damage to indexes may make an answer an error,
 * never a wrong one; damage to documents is reported by verify. */
static void read_all(const original *o, tansu_db *db, const damage *d) {
    tansu_buffer found = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < o->held.count; i++) {
        const inventory_record *doc = &o->held.documents[i];
        tansu_status status =
            tansu_get(db, NULL, doc->collection, (tansu_document){doc->id, doc->id_size}, &found,
                      &call_error);
        bool same = status == TANSU_OK && found.size == doc->bson_size &&
                    memcmp(found.data, doc->bson, found.size) == 0;
        if (status == TANSU_E_CORRUPT || touched(d, doc) || (doc->removed && status == TANSU_OK))
            continue; /* another document may have taken the removed one's `_id` */
        CHECK(doc->removed ? status == TANSU_E_NOT_FOUND : same);
    }
    tansu_buffer_free(&found);
    /* A damaged index makes an answer an error or is rebuilt. Damage to the log may cost
     * documents, so that only the intact log has known answers. */
    for (size_t i = 0; d->segment == 0 && i < o->collections; i++)
        for (size_t k = 0; k < QUERIES; k++) {
            int64_t count = call_count(db, NULL, o->counts[i].collection, queries[k]);
            if (count != -(int64_t)TANSU_E_CORRUPT && !CHECK_INT(o->counts[i].selected[k], count))
                check_note("    %s of %s", queries[k], o->counts[i].collection);
        }
}

/* noticed -- opens a damaged database; whether somebody said that it is damaged. If nobody did,
 * all is as it was. */
static bool noticed(const original *o, const char *folder, const damage *d) {
    tansu_options options = call_options(folder);
    options.segment_size = 1 << 20;
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status != TANSU_OK) {
        CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION);
        CHECK(call_error.context[0] != 0);
        /* An index is never a reason to refuse. */
        CHECK(strncmp(d->file, "index", 5) != 0 && strcmp(d->file, "LOCK") != 0);
        /* And it is refused again. */
        CHECK(tansu_open(&options, &db, &call_error) == status);
        return true;
    }
    read_all(o, db, d);
    status = maintenance_verify(db);
    CHECK(status == TANSU_OK || status == TANSU_E_CORRUPT);
    CHECK((status == TANSU_OK) == (maintenance_number("problemCount") == 0));
    if (status == TANSU_OK)
        CHECK(inventory_matches(&o->held, db));
    else
        CHECK(maintenance_contains("\"file\": \""));
    CHECK(tansu_shutdown(db, &call_error) != TANSU_E_BUSY);
    if (status == TANSU_E_CORRUPT && d->segment == 0) {
        /* What was found in an index is rebuilt at the next opening. */
        db = call_open_with(&options);
        maintenance_clean(db);
        CHECK(inventory_matches(&o->held, db));
        call_close(db);
    }
    return status == TANSU_E_CORRUPT;
}

/* ---- Repair ---- */

/* displaced -- whether what was found in a document's place is one of its collection whose `_id`
 * the damage has made equal: repair cannot know which of the two is right. */
static bool displaced(const original *o, const damage *d, const inventory_record *doc,
                      const tansu_buffer *found) {
    for (size_t i = 0; i < o->held.count; i++) {
        const inventory_record *other = &o->held.documents[i];
        uint64_t differing = 0;
        if (!touched(d, other) || strcmp(other->collection, doc->collection) != 0 ||
            other->bson_size != found->size)
            continue;
        for (size_t k = 0; k < found->size; k++)
            differing += found->data[k] != other->bson[k];
        if (differing <= d->to - d->from)
            return true;
    }
    return false;
}

/* repaired -- salvages a damaged database and looks for every document that was not touched. */
static void repaired(const original *o, const char *folder, const char *to, const damage *d) {
    if (!CHECK_OK(maintenance_repair(folder, to), &call_error))
        return;
    uint64_t lost = 0;
    int64_t reported = maintenance_number("problemCount");
    tansu_db *db = call_open(to);
    tansu_buffer found = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < o->held.count; i++) {
        const inventory_record *doc = &o->held.documents[i];
        tansu_status status = inventory_find(doc, db, &found);
        bool same = status == TANSU_OK && found.size == doc->bson_size &&
                    memcmp(found.data, doc->bson, found.size) == 0;
        lost += !doc->removed && !same;
        if (touched(d, doc) || doc->removed ||
            (status == TANSU_OK && !same && displaced(o, d, doc, &found)))
            continue;
        if (!CHECK(same))
            check_note("    %s: record at %u, %llu, size %llu: %s", doc->collection, doc->segment,
                       (unsigned long long)doc->offset, (unsigned long long)doc->size,
                       tansu_status_name(status));
    }
    CHECK(lost == 0 || reported > 0);
    tansu_buffer_free(&found);
    maintenance_clean(db);
    call_close(db);
}

/* ---- Rounds ---- */

/* examine -- one damage: repaired, and noticed or harmless. True when it was noticed. */
static bool examine(const original *o, const char *copy, const damage *d, uint64_t failures) {
    char *other = folder_new();
    repaired(o, copy, folder_join(other, "r"), d);
    bool reported = noticed(o, copy, d);
    if (check_failures() != failures)
        check_note("    %s: %s, %s", left_names[o->left], d->file, d->story);
    folder_end(other);
    return reported;
}

/* copy_of -- the original's files in a folder of their own. */
static char *copy_of(const original *o) {
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(o->folder, copy);
    return copy;
}

static void random_corruption_is_detected_or_harmless_and_repaired(void) {
    unsigned count = rounds(), reported = 0;
    for (int left = 0; left < LEFT_KINDS; left++) {
        random_source random = random_start((uint64_t)left);
        original o;
        original_make(&o, &random, (enum left)left, 1200, 20000);
        CHECK(o.file_count >= 5);
        for (unsigned round = 0; round < count && check_failures() < 20; round++) {
            uint64_t failures = check_failures();
            char *copy = copy_of(&o);
            damage d = hurt(&o, &random, copy);
            reported += examine(&o, copy, &d, failures);
            folder_end(copy);
        }
        original_end(&o);
    }
    CHECK(reported > count / 2);
}

/* next_offset -- the next place that is looked at: all of what files begin with, and a part of
 * the rest. */
static uint64_t next_offset(random_source *random, uint64_t at) {
    return at + 1 + random_below(random, at < 64 ? 3 : 50000 / rounds());
}

static void corruption_at_every_offset_is_detected_or_harmless_and_repaired(void) {
    for (int left = 0; left < LEFT_KINDS; left++) {
        random_source random = random_start((uint64_t)left + 10);
        original o;
        original_make(&o, &random, (enum left)left, 60, 100);
        for (size_t i = 0; i < o.file_count; i++) {
            uint64_t size = file_size(folder_join(o.folder, o.files[i]));
            /* After the log's end there is nothing but zeros. */
            if (strncmp(o.files[i], "log/", 4) == 0 && size > 40000)
                size = 40000;
            for (uint64_t at = 0; at < size && check_failures() < 20;
                 at = next_offset(&random, at)) {
                uint64_t failures = check_failures();
                char *copy = copy_of(&o);
                damage d = damage_of(o.files[i]);
                char *path = strdup(folder_join(copy, d.file));
                if (random_chance(&random, 20))
                    cut(&d, path, at);
                else
                    flip(&d, path, at, (unsigned)random_below(&random, 8));
                examine(&o, copy, &d, failures);
                free(path);
                folder_end(copy);
            }
        }
        original_end(&o);
    }
}

int main(void) {
    RUN(random_corruption_is_detected_or_harmless_and_repaired);
    RUN(corruption_at_every_offset_is_detected_or_harmless_and_repaired);
    return check_finish();
}
