/*
 * catalog/repair_witness.c -- what the index files say: how far the log went, for of a database that was not
 * closed the MANIFEST says nothing, and commits that are missing at the end leave no trace in it; and which
 * documents there were at their checkpoint, and where.
 *
 * Numbers of documents are never given out twice, so a deletion that they know of is a fact, however old the
 * block that says so. Nothing else that they say decides what is taken: a document that was found is newer
 * than what they know, or it is what they know, or a newer version of it is lost.
 */
#include "base/buffer.h"
#include "base/doc.h"
#include "base/error.h"
#include "catalog/collection.h"
#include "catalog/repair_parts.h"
#include "index/places.h"
#include "index/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define CABINET_NAME "blocks.tch"
#define COPY_STEP ((size_t)256 * 1024)

/* So many chunks of places are looked for in vain, and one more for each word that the file has room for: a forged
 * number of documents costs no more than that. */
#define CHUNKS_ABSENT 65536

/* copy_bytes -- all of a file into another. False when that could not be done. */
static bool copy_bytes(const fs *calls, int from, int to, uint8_t *step) {
    for (off_t at = 0;;) {
        ssize_t got = calls->read(from, step, COPY_STEP, at);
        if (got <= 0)
            return got == 0;
        if (fs_write_all(calls, to, step, (size_t)got, (uint64_t)at) != 0)
            return false;
        at += got;
    }
}

/* The cabinet, and what may lie beside it. */
static const char *const names[] = {CABINET_NAME, CABINET_NAME ".wal", CABINET_NAME ".redo.0",
                                    CABINET_NAME ".redo.1"};

/* copy_file -- a file of the damaged database's index folder into the new database's; one that is not there
 * is none there either. */
static bool copy_file(const repair *r, const char *index, const char *folder, const char *name) {
    char *from = fs_join(index, name), *to = fs_join(folder, name);
    uint8_t *step = malloc(COPY_STEP);
    bool done = false;
    if (from != NULL && to != NULL && step != NULL) {
        int in = r->calls->open(from, O_RDONLY, 0);
        done = in < 0 && errno == ENOENT;
        int out = in < 0 ? -1 : r->calls->open(to, O_RDWR | O_CREAT | O_TRUNC, 0644);
        done = done || (out >= 0 && copy_bytes(r->calls, in, out, step));
        if (in >= 0)
            r->calls->close(in);
        if (out >= 0)
            r->calls->close(out);
    }
    free(step);
    free(from);
    free(to);
    return done;
}

/* number_of -- a whole number of the META; false without one. */
static bool number_of(const uint8_t *doc, size_t size, const char *key, uint64_t *result) {
    doc_value value;
    int64_t number;
    if (!doc_find(doc, size, key, strlen(key), &value) || !doc_as_int64(&value, &number) ||
        number < 0)
        return false;
    *result = (uint64_t)number;
    return true;
}

/* usable -- whether a META is one of this database. */
static bool usable(const repair *r, const tansu_buffer *meta) {
    doc_value uuid;
    return doc_check(meta->data, meta->size, DOC_CHECK_BSON, NULL) == TANSU_OK &&
           doc_find(meta->data, meta->size, "uuid", 4, &uuid) && uuid.type == DOC_BINARY &&
           uuid.size == 21 && memcmp(uuid.data + 5, r->uuid, 16) == 0;
}

/* read_meta -- what the copied cabinet says of the log. */
static void read_meta(repair *r) {
    tansu_buffer meta = TANSU_BUFFER_INIT;
    uint64_t seen;
    bool good = cabinet_get(r->witness, CABINET_META, 0, &meta, NULL) == TANSU_OK &&
                usable(r, &meta) && number_of(meta.data, meta.size, "sequence", &r->checkpoint);
    if (good && number_of(meta.data, meta.size, "witnessed", &seen) && seen > r->end_sequence)
        r->end_sequence = seen;
    tansu_buffer_free(&meta);
    if (good)
        return;
    cabinet_close(r->witness, NULL);
    r->witness = NULL;
}

/* remove_copy -- takes a file of the copy away again. */
static tansu_status remove_copy(const repair *r, const char *folder, const char *name,
                                tansu_error *error) {
    char *path = fs_join(folder, name);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (r->calls->unlink(path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    free(path);
    return status;
}

/* current -- whether the index files are of the log as it was last: power loss may have left them ahead of it. */
static bool current(const repair *r) {
    char boot[64];
    fs_cache_id(r->from, boot);
    return r->manifest_read && !r->manifest.index_damaged &&
           (!r->manifest.index_open || strcmp(boot, r->manifest.boot) == 0);
}

/* ask_marks -- what the log's own marks say of its end. */
static void ask_marks(repair *r) {
    char *log = fs_join(r->from, "log");
    uint64_t marked = log == NULL ? 0 : log_marked_end(r->calls, log, r->uuid);
    free(log);
    if (marked > r->end_sequence)
        r->end_sequence = marked;
}

void repair_witness_open(repair *r, const char *folder) {
    ask_marks(r);
    if (!current(r))
        return;
    char *index = fs_join(r->from, "index"), *path = fs_join(folder, CABINET_NAME);
    /* In a copy, for what an earlier version of the library did not close must be written in order to be
     * read. */
    bool copied = index != NULL && path != NULL;
    for (size_t i = 0; copied && i < sizeof names / sizeof *names; i++)
        copied = copy_file(r, index, folder, names[i]);
    if (copied && cabinet_open(r->calls, path, 0, &r->witness, NULL) == TANSU_OK)
        read_meta(r);
    free(index);
    free(path);
}

tansu_status repair_witness_close(repair *r, const char *folder, tansu_error *error) {
    cabinet_close(r->witness, NULL);
    r->witness = NULL;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < sizeof names / sizeof *names; i++)
        status = remove_copy(r, folder, names[i], error);
    return status;
}

/* ---- Documents ---- */

/* Going through the documents of a collection. */
typedef struct questioning {
    repair *r;
    uint32_t collection;
    uint64_t lost;
    repair_reader found;
    repair_reader named;
} questioning;

/* segment_of -- the segment with a number, NULL when it was not there. */
static const repair_segment *segment_of(const repair *r, uint32_t number) {
    for (size_t i = 0; i < r->segment_count; i++)
        if (r->segments[i].number == number && !r->segments[i].left_out)
            return &r->segments[i];
    return NULL;
}

/* at_home -- whether a record lies where it was written. */
static bool at_home(const repair *r, log_place place) {
    const repair_segment *s = segment_of(r, repair_number(place));
    size_t low = 0, high = s == NULL ? 0 : s->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->runs[s->run + middle].to <= repair_offset(place))
            low = middle + 1;
        else
            high = middle;
    }
    return s != NULL && low < s->run_count && r->runs[s->run + low].from < repair_offset(place) &&
           r->runs[s->run + low].home;
}

/* ask_place -- what follows when the index files name another place than the one that a record was found at. */
static tansu_status ask_place(questioning *q, uint64_t where, log_place found, log_place named,
                              uint64_t *mark, tansu_error *error) {
    const repair *r = q->r;
    const record_header *record, *newest;
    tansu_status status;
    *mark = 0;
    if (!repair_read(&q->found, found, &record, &status, error))
        return status;
    uint64_t sequence = record->sequence;
    bool there = repair_read(&q->named, named, &newest, &status, error) && newest->where == where;
    if (there && newest->sequence == sequence)
        *mark = PLACE_CONFIRMED;
    else if (there && newest->sequence > sequence)
        *mark = PLACE_OUTDATED;
    if (there || status != TANSU_OK)
        return status;
    /* The record that is named is gone. It is another one, and so a newer one, if this one lies where it
     * always did and no compaction has taken it there. */
    const repair_segment *s = segment_of(r, repair_number(named));
    if (sequence <= r->checkpoint && sequence < r->last_lost && at_home(r, found) && s != NULL &&
        s->header && (s->last == 0 || sequence < s->first || sequence > s->last))
        *mark = PLACE_OUTDATED;
    return TANSU_OK;
}

/* ask_document -- what the index files say of one. */
static tansu_status ask_document(questioning *q, uint64_t docno, uint64_t word,
                                 tansu_error *error) {
    repair *r = q->r;
    uint64_t where = record_where(q->collection, docno);
    uint64_t found = pending_find(&r->places, where);
    if ((found & PLACE_DELETED) != 0)
        return TANSU_OK;
    if (word == 0) {
        /* Compaction has forgotten the deletion, too, or the document came later. */
        if ((found & PLACE_DOUBTED) != 0)
            pending_set(&r->places, where, found | PLACE_DELETED);
        return TANSU_OK;
    }
    if (found == 0) {
        q->lost += (word & PLACE_DELETED) == 0;
        return TANSU_OK;
    }
    uint64_t mark = PLACE_CONFIRMED;
    if ((word & PLACE_DELETED) != 0) {
        mark = PLACE_DELETED;
    } else if ((word & PLACE_MASK) != (found & PLACE_MASK)) {
        tansu_status status = ask_place(q, where, found, word, &mark, error);
        if (status != TANSU_OK)
            return status;
    }
    pending_set(&r->places, where, found | mark); /* it is there, so this takes no room */
    return TANSU_OK;
}

/* note_loss -- what became of a collection. */
static bool note_loss(repair *r, const questioning *q, const doc_value *part) {
    doc_value name, local;
    size_t length;
    repair_loss *list = realloc(r->losses, (r->loss_count + 1) * sizeof *list);
    if (list == NULL)
        return false;
    r->losses = list;
    repair_loss *loss = &list[r->loss_count++];
    *loss = (repair_loss){.collection = q->collection, .documents = q->lost};
    loss->local = doc_find(part->data, part->size, "local", 5, &local) && local.type == DOC_BOOL &&
                  doc_bool(&local);
    if (doc_find(part->data, part->size, "name", 4, &name) && name.type == DOC_STRING &&
        name_check(doc_string(&name, &length), "collection", NULL) == TANSU_OK)
        snprintf(loss->name, sizeof loss->name, "%s", doc_string(&name, &length));
    return true;
}

const repair_loss *repair_loss_of(const repair *r, uint32_t collection) {
    for (size_t i = 0; i < r->loss_count; i++)
        if (r->losses[i].collection == collection)
            return &r->losses[i];
    return NULL;
}

/* ask_collection -- all documents of one, a stored chunk of places at a time. */
static tansu_status ask_collection(repair *r, const doc_value *part, tansu_error *error) {
    uint64_t id, end;
    if (part->type != DOC_DOCUMENT || !number_of(part->data, part->size, "id", &id) ||
        !number_of(part->data, part->size, "nextDocno", &end) || id == 0 ||
        id > RECORD_MAX_COLLECTION || end > INDEX_MAX_DOCNO)
        return TANSU_OK;
    questioning q = {.r = r,
                     .collection = (uint32_t)id,
                     .found = {.r = r, .fd = -1},
                     .named = {.r = r, .fd = -1}};
    tansu_buffer chunk = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    uint64_t absent = 0, most = CHUNKS_ABSENT + cabinet_size(r->witness) / sizeof(uint64_t);
    for (uint64_t i = 0; status == TANSU_OK && i * PLACES_CHUNK < end && absent < most; i++) {
        chunk.size = 0;
        bool there =
            cabinet_get(r->witness, CABINET_PLACES, id << 40 | i, &chunk, NULL) == TANSU_OK &&
            chunk.size == PLACES_CHUNK * sizeof(uint64_t);
        absent += !there;
        if (there)
            for (uint64_t k = 0; status == TANSU_OK && k < PLACES_CHUNK; k++)
                status =
                    ask_document(&q, i * PLACES_CHUNK + k, load_u64(chunk.data + 8 * k), error);
        if (status == TANSU_OK && i % 64 == 0)
            status = repair_tell(r, 0, error);
    }
    if (status == TANSU_OK && !note_loss(r, &q, part))
        status = error_memory(error);
    tansu_buffer_free(&chunk);
    repair_reader_end(&q.found);
    repair_reader_end(&q.named);
    return status;
}

tansu_status repair_witness_ask(repair *r, tansu_error *error) {
    tansu_buffer meta = TANSU_BUFFER_INIT;
    doc_value list;
    doc_iter iter;
    tansu_status status = TANSU_OK;
    /* Without a commit that is missing, the log says it all. */
    if (r->witness != NULL && (r->last_lost != 0 || r->doubted) &&
        cabinet_get(r->witness, CABINET_META, 0, &meta, NULL) == TANSU_OK && usable(r, &meta) &&
        doc_find(meta.data, meta.size, "collections", 11, &list) && list.type == DOC_ARRAY)
        for (doc_iter_value(&iter, &list); status == TANSU_OK && doc_iter_next(&iter);)
            status = ask_collection(r, &iter.value, error);
    tansu_buffer_free(&meta);
    return status;
}
