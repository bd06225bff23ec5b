/*
 * support/model/version_history.c -- commits versions and finds them in log files. It finds
 * frames with code of its own, because it is the reference for what repair finds.
 */
#include "support/model/version_history.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const names[HISTORY_COLLECTIONS] = {"orders", "people", "things"};

const char *history_collection_name(unsigned collection) {
    return names[collection];
}

/* ---- Working ---- */

/* What a commit does to one document. */
typedef struct deed {
    unsigned collection, id;
    bool remove;
    bson_t *doc;
} deed;

/* new_version -- of a document. */
static bson_t *new_version(version_history *c, random_source *random, unsigned collection,
                           unsigned id) {
    static const uint8_t filling[9000];
    uint32_t pad = (uint32_t)random_below(random, 300);
    if (random_chance(random, 8))
        pad = (uint32_t)random_below(random, sizeof filling);
    bson_t *doc = bson_new();
    BSON_APPEND_INT32(doc, "_id", (int32_t)id);
    BSON_APPEND_INT32(doc, "c", (int32_t)collection);
    BSON_APPEND_INT32(doc, "v", ++c->next_value);
    BSON_APPEND_BINARY(doc, "pad", BSON_SUBTYPE_BINARY, filling, pad);
    return doc;
}

/* plan -- something to do to a document: removing is rarer than saving. */
static deed plan(version_history *c, random_source *random) {
    deed d = {.collection = (unsigned)random_below(random, HISTORY_COLLECTIONS),
              .id = (unsigned)random_below(random, HISTORY_IDS),
              .remove = random_chance(random, 25)};
    if (!d.remove)
        d.doc = new_version(c, random, d.collection, d.id);
    return d;
}

/* is_there -- whether a document was there after all commits so far. */
static bool is_there(const history_document *d) {
    return d->count != 0 && !d->versions[d->count - 1].removed;
}

/* perform -- does it; false when there was nothing to remove. */
static bool perform(tansu_db *db, tansu_txn *txn, const deed *d) {
    int removed = 1;
    if (d->remove) {
        bson_t *id = BCON_NEW("_id", BCON_INT32((int32_t)d->id));
        CHECK_OK(
            tansu_remove_id(db, txn, names[d->collection], document_of(id), &removed, &call_error),
            &call_error);
        bson_destroy(id);
    } else {
        CHECK_OK(call_save_bson(db, txn, names[d->collection], TANSU_SAVE, d->doc), &call_error);
    }
    return removed != 0;
}

/* record_deed -- notes a version that was committed. Of several in one commit the last counts. */
static void record_deed(version_history *c, const deed *d) {
    history_document *doc = &c->documents[d->collection][d->id];
    bool there = is_there(doc);
    if (d->remove && !there)
        return;
    bool again = doc->count != 0 && doc->versions[doc->count - 1].sequence == c->last;
    if (!again) {
        doc->versions = realloc(doc->versions, (doc->count + 1) * sizeof *doc->versions);
        REQUIRE(doc->versions != NULL);
        doc->versions[doc->count++] = (history_version){.sequence = c->last};
    }
    history_version *v = &doc->versions[doc->count - 1];
    free(v->bson);
    v->bson = NULL;
    v->removed = d->remove;
    v->inserted = v->inserted || d->remove || !there;
    if (d->remove)
        return;
    v->size = d->doc->len;
    v->bson = malloc(v->size);
    REQUIRE(v->bson != NULL);
    memcpy(v->bson, bson_get_data(d->doc), v->size);
}

void history_step(version_history *c, random_source *random, tansu_db *db) {
    deed deeds[6];
    size_t count = random_chance(random, 60) ? 1 : 1 + random_below(random, 6);
    bool abort = count > 1 && random_chance(random, 10);
    tansu_txn *txn = count == 1 ? NULL : call_begin(db, TANSU_TXN_WRITE);
    for (size_t i = 0; i < count; i++) {
        deeds[i] = plan(c, random);
        perform(db, txn, &deeds[i]);
    }
    if (abort)
        tansu_txn_abort(txn);
    else if (txn != NULL)
        CHECK_OK(tansu_txn_commit(txn, NULL, &call_error), &call_error);
    c->last = (uint64_t)call_statistic(db, "sequence");
    for (size_t i = 0; i < count; i++) {
        if (!abort)
            record_deed(c, &deeds[i]);
        if (deeds[i].doc != NULL)
            bson_destroy(deeds[i].doc);
    }
}

void history_free(version_history *c) {
    for (unsigned i = 0; i < HISTORY_COLLECTIONS; i++)
        for (unsigned k = 0; k < HISTORY_IDS; k++) {
            history_document *d = &c->documents[i][k];
            for (size_t n = 0; n < d->count; n++)
                free(d->versions[n].bson);
            free(d->versions);
        }
    free(c->whole);
}

const history_version *history_find(const version_history *c, const void *bson, size_t size,
                                    unsigned *collection, unsigned *id) {
    bson_t view;
    bson_iter_t at;
    if (!bson_init_static(&view, bson, size) || !bson_iter_init_find(&at, &view, "_id") ||
        !BSON_ITER_HOLDS_INT32(&at))
        return NULL;
    int32_t number = bson_iter_int32(&at);
    if (number < 0 || number >= HISTORY_IDS || !bson_iter_init_find(&at, &view, "c") ||
        !BSON_ITER_HOLDS_INT32(&at))
        return NULL;
    int32_t owner = bson_iter_int32(&at);
    if (owner < 0 || owner >= HISTORY_COLLECTIONS)
        return NULL;
    *collection = (unsigned)owner;
    *id = (unsigned)number;
    const history_document *d = &c->documents[owner][number];
    for (size_t i = 0; i < d->count; i++)
        if (d->versions[i].size == size && d->versions[i].bson != NULL &&
            memcmp(d->versions[i].bson, bson, size) == 0)
            return &d->versions[i];
    return NULL;
}

/* ---- Looking ---- */

/* Sees a record in a whole frame. */
typedef void (*record_user)(void *context, const record_header *record, uint64_t commit);

/* whole_frame -- the size of a frame, 0 when it is not whole. */
static uint32_t whole_frame(const uint8_t *bytes, size_t room, uint32_t seed) {
    frame_header h;
    if (room < sizeof h)
        return 0;
    memcpy(&h, bytes, sizeof h);
    if (h.magic != FRAME_MAGIC || h.size < FRAME_HEADER_SIZE || h.size > room || h.size % 8 != 0)
        return 0;
    return crc32(seed, bytes + 8, h.size - 8) == h.crc ? h.size : 0;
}

/* each_frame -- at whatever place of a file. */
static void each_frame(const tansu_buffer *file, uint32_t seed, record_user user, void *context) {
    for (size_t at = 0; at + FRAME_HEADER_SIZE <= file->size;) {
        uint32_t size = whole_frame(file->data + at, file->size - at, seed);
        for (size_t i = FRAME_HEADER_SIZE; i < size;) {
            const record_header *record = (const record_header *)(file->data + at + i);
            user(context, record, load_u64(file->data + at + offsetof(frame_header, sequence)));
            i += record->size;
        }
        at += size == 0 ? 8 : size;
    }
}

/* version_of -- the version that a record made; NULL when it is of the catalog. */
static history_version *version_of(version_history *c, const record_header *record,
                                   uint64_t commit) {
    bson_t view;
    bson_iter_t at;
    const uint8_t *payload = record_payload(record);
    if ((record->type != RECORD_PUT && record->type != RECORD_DELETE) ||
        !bson_init_static(&view, payload, load_u32(payload)) ||
        !bson_iter_init_find(&at, &view, "_id"))
        return NULL;
    /* The collections are made in their order. */
    unsigned id = (unsigned)bson_iter_int32(&at), owner = record_collection(record) - 1;
    REQUIRE(id < HISTORY_IDS && owner < HISTORY_COLLECTIONS);
    history_document *d = &c->documents[owner][id];
    for (size_t i = 0; i < d->count; i++)
        if (d->versions[i].sequence == commit)
            return &d->versions[i];
    return NULL;
}

/* note_whole -- a record_user. */
static void note_whole(void *context, const record_header *record, uint64_t commit) {
    version_history *c = context;
    c->whole[commit] = true;
    if (commit > c->highest)
        c->highest = commit;
    history_version *v = version_of(c, record, commit);
    /* The last record of a commit decides, and an earlier one in the same frame says nothing
     * else. */
    if (v != NULL)
        v->whole = true;
}

/* note_original -- a record_user over the undamaged log. */
static void note_original(void *context, const record_header *record, uint64_t commit) {
    history_version *v = version_of(context, record, commit);
    if (v != NULL)
        v->kept = true;
}

/* note_kept -- a record_user over a whole compacted segment. */
static void note_kept(void *context, const record_header *record, uint64_t commit) {
    history_version *v = version_of(context, record, commit);
    if (v != NULL)
        v->dead = false;
}

/* mark_versions -- clears marks, or marks those as dead that a compacted segment covers. */
static void mark_versions(version_history *c, uint64_t first, uint64_t last, bool dead) {
    for (unsigned i = 0; i < HISTORY_COLLECTIONS; i++)
        for (unsigned k = 0; k < HISTORY_IDS; k++)
            for (size_t n = 0; n < c->documents[i][k].count; n++) {
                history_version *v = &c->documents[i][k].versions[n];
                if (v->sequence < first || v->sequence > last)
                    continue;
                v->dead = dead;
                v->kept = dead && v->kept;
                v->whole = dead && v->whole;
            }
}

/* read_segment -- the file at one of the names in a folder's log; false when it is no segment. */
static bool read_segment(const char *folder, const char *name, tansu_buffer *file) {
    char path[320];
    snprintf(path, sizeof path, "log/%.255s", name);
    file->size = 0;
    if (strlen(name) < 12 || strcmp(name + 8, ".seg") != 0 ||
        !file_exists(folder_join(folder, path)))
        return false;
    file_read(folder_join(folder, path), file);
    return file->size >= SEGMENT_HEADER_SIZE;
}

/* note_compacted -- a compacted segment that is as it was. */
static void note_compacted(version_history *c, const tansu_buffer *file, const tansu_buffer *was,
                           uint32_t seed) {
    const segment_header *h = (const segment_header *)was->data;
    if (was->size != file->size || h->last == 0 || memcmp(was->data, file->data, was->size) != 0)
        return;
    mark_versions(c, h->base, h->last, true);
    each_frame(file, seed, note_kept, c);
}

void history_find_whole_frames(version_history *c, const char *folder, const char *original) {
    tansu_buffer file = TANSU_BUFFER_INIT, was = TANSU_BUFFER_INIT;
    free(c->whole);
    c->whole = calloc(c->last + 2, sizeof *c->whole);
    REQUIRE(c->whole != NULL);
    c->highest = 0;
    mark_versions(c, 0, UINT64_MAX, false);
    char log[1024];
    snprintf(log, sizeof log, "%s", folder_join(folder, "log"));
    uint32_t seed = 0;
    for (int pass = 0; pass < 3; pass++) {
        DIR *list = opendir(pass == 0 ? folder_join(original, "log") : log);
        REQUIRE(list != NULL);
        struct dirent *entry;
        while ((entry = readdir(list)) != NULL) {
            if (!read_segment(pass == 0 ? original : folder, entry->d_name, &file))
                continue;
            if (pass == 0) {
                seed = (uint32_t)crc32(0, file.data + 16, 16);
                each_frame(&file, seed, note_original, c);
            } else if (pass == 1) {
                each_frame(&file, seed, note_whole, c);
            } else if (read_segment(original, entry->d_name, &was)) {
                note_compacted(c, &file, &was, seed);
            }
        }
        closedir(list);
    }
    tansu_buffer_free(&file);
    tansu_buffer_free(&was);
}
