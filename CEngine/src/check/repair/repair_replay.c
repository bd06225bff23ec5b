/*
 * check/repair/repair_replay.c -- replaying the records of the history in the order of commits.
 *
 * All records of a frame with a valid checksum are applied. Records that no checksum protects are
 * applied where their commit is missing, if they are consistent with what is known of their
 * document by then.
 */
#include "bson/document.h"
#include "bson/value.h"
#include "check/repair/repair_internal.h"
#include "log/scan.h"
#include "store/collection.h"
#include "store/collection_options.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* The state of the replay. */
typedef struct replay {
    repair *r;
    uint8_t *bytes; /* of the run that was read last */
    size_t run;
    size_t next; /* orphan */
    repair_reader reader;
    repair_reader known; /* reads the newest record of a document so far */
} replay;

/* Record ids that no document was ever given, for documents whose own can't be right. */
#define STRAY_RID ((uint64_t)1 << 39)

/* note -- a problem of a record; `message` is a sentence. */
static void note(replay *k, log_location location, uint64_t size, const char *message) {
    char name[64];
    repair_segment_name(k->r, repair_number(location), name);
    problem_location where = {
        .file = name, .offset = (int64_t)repair_offset(location), .size = (int64_t)size};
    problem_list_add(&k->r->problems, &where, "%s (\"%s\", offset %u)", message, name,
                     repair_offset(location));
}

/* same_id -- whether two records are of documents with one `_id`. */
static bool same_id(const record_header *a, const record_header *b) {
    doc_value x, y;
    const uint8_t *p = record_payload(a), *q = record_payload(b);
    return doc_find_id(p, load_u32(p), &x) && doc_find_id(q, load_u32(q), &y) &&
           value_compare(&x, &y) == 0;
}

/* follows -- whether a record that no checksum protects is consistent with the newest known record
 * of its document; otherwise its record id, which decides what it replaces, may be corrupt. *older:
 * it is from before that record. */
static tansu_status follows(replay *k, const record_header *record, log_location known, bool *fits,
                            bool *older, tansu_error *error) {
    const record_header *before;
    tansu_status status;
    log_location previous = record_previous(record);
    *fits = *older = false;
    if (known == 0) {
        *fits = record->type == RECORD_PUT;
        return TANSU_OK;
    }
    if (repair_read_record(&k->known, known, &before, &status, error)) {
        *older = record_visible_from(before) > record_visible_from(record);
        *fits = before->where == record->where && same_id(before, record) &&
                (previous != 0 || record_same_commit(before, record));
    }
    if (status != TANSU_OK || !*fits || previous == 0 ||
        (previous & LOCATION_MASK) == (known & LOCATION_MASK))
        return status;
    /* The record that it replaced may be lost, and then its location says nothing. */
    if (repair_read_record(&k->known, previous, &before, &status, error))
        *fits = before->where == record->where;
    return status;
}

/* take_unprotected -- a put or a deletion that no checksum protects. */
static tansu_status take_unprotected(replay *k, const record_header *record, log_location location,
                                     tansu_error *error) {
    repair *r = k->r;
    bool fits, older;
    uint64_t where = record->where;
    tansu_status status =
        follows(k, record, pending_find(&r->locations, where), &fits, &older, error);
    if (status != TANSU_OK || (fits && older))
        return status;
    if (!fits && record->type == RECORD_DELETE) {
        note(k, location, record->size, "An inconsistent deletion was left out");
        return TANSU_OK;
    }
    if (!fits) /* as a document of its own; one with the same `_id` is found later */
        where = record_where(record_collection(record), STRAY_RID + r->strays++);
    if (!pending_reserve(&r->locations))
        return error_memory(error);
    pending_set(&r->locations, where, location | LOCATION_UNPROTECTED);
    return TANSU_OK;
}

/* take_document -- a put or a deletion. */
static tansu_status take_document(replay *k, const record_header *record, log_location location,
                                  bool checksummed, tansu_error *error) {
    if (record->type == RECORD_DELETE)
        location |= LOCATION_DELETED;
    if (!checksummed)
        return take_unprotected(k, record, location, error);
    if (!pending_reserve(&k->r->locations))
        return error_memory(error);
    pending_set(&k->r->locations, record->where, location);
    return TANSU_OK;
}

/* take_record -- any valid record. */
static tansu_status take_record(replay *k, const record_header *record, log_location location,
                                bool checksummed, tansu_error *error) {
    repair *r = k->r;
    if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
        return take_document(k, record, location, checksummed, error);
    if (record->type == RECORD_COMPACTION)
        return TANSU_OK;
    if (!ARRAY_RESERVE(r->records, r->record_count, r->record_capacity, 1))
        return error_memory(error);
    const uint8_t *payload = record_payload(record);
    repair_record *taken = &r->records[r->record_count];
    *taken = (repair_record){.sequence = record_visible_from(record),
                             .type = record->type,
                             .collection = record_collection(record),
                             .location = checksummed ? location : location | LOCATION_UNPROTECTED};
    if (!buffer_set(&taken->payload, payload, load_u32(payload)))
        return error_memory(error);
    r->record_count++;
    return TANSU_OK;
}

/* removes -- whether a record only removes something. */
static bool removes(const record_header *record) {
    return record->type == RECORD_DELETE || record->type == RECORD_COLLECTION_DROP ||
           record->type == RECORD_INDEX_DROP;
}

/* mark_outdated -- a version that compaction has dropped: older versions are not current, either.
 * It may be the last one that is left of the document if a later one is lost. */
static tansu_status mark_outdated(replay *k, const record_header *record, uint64_t commit,
                                  log_location location, tansu_error *error) {
    repair *r = k->r;
    const record_header *known;
    tansu_status status;
    log_location at = pending_find(&r->locations, record->where);
    if (at == 0 || (at & LOCATION_DELETED) != 0 ||
        !repair_read_record(&k->known, at, &known, &status, error))
        return at == 0 || (at & LOCATION_DELETED) != 0 ? TANSU_OK : status;
    if (repair_commit(r, at, known) >= commit)
        return TANSU_OK;
    pending_set(&r->locations, record->where,
                r->last_missing > commit ? location | LOCATION_UNCERTAIN : at | LOCATION_DELETED);
    return TANSU_OK;
}

/* take_frame -- the records of a frame with a valid checksum, or only its deletions. */
static tansu_status take_frame(replay *k, const frame_header *frame, log_location location,
                               const repair_slice *slice, tansu_error *error) {
    bool removals = slice->removals;
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = scan_record(record, frame->size - at, frame->sequence);
        if (fault == NULL && (!removals || removes(record))) {
            status = take_record(
                k, record, slice->uncertain ? (location + at) | LOCATION_UNCERTAIN : location + at,
                true, error);
        } else if (fault == NULL && record->type == RECORD_PUT) {
            status = mark_outdated(k, record, frame->sequence, location + at, error);
        } else if (fault != NULL && !removals) {
            char message[160];
            snprintf(message, sizeof message, "A record that %s was left out", fault);
            note(k, location + at, record->size, message);
            k->r->lost_bytes += record->size;
        }
        at += record->size;
    }
    return status;
}

/* ---- Records that no checksum protects ---- */

/* by_commit -- for sorting them. */
static int by_commit(const void *a, const void *b) {
    const repair_orphan *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* date_inserts -- fills in the commits of those that are inserts. */
static tansu_status date_inserts(replay *k, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < k->r->orphan_count; i++) {
        repair_orphan *orphan = &k->r->orphans[i];
        const record_header *record;
        if (orphan->sequence == 0 &&
            repair_read_record(&k->reader, orphan->location, &record, &status, error))
            orphan->sequence = repair_commit(k->r, orphan->location, record);
    }
    return status;
}

/* is_missing -- whether the commit of an orphan is one that is missing: a known one, or one at the
 * log's end, where it may be the last of several. */
static bool is_missing(const repair *r, const repair_orphan *orphan) {
    uint64_t first, last;
    if (repair_count_missing(r, orphan->sequence, orphan->sequence, &first, &last) != 0)
        return true;
    const repair_gap *gap = &r->gaps[orphan->gap];
    uint64_t most = (gap->to - gap->from) / (FRAME_HEADER_SIZE + RECORD_SIZE_LEAST);
    return gap->high == UINT64_MAX && !gap->unfinished && orphan->sequence > r->last_known &&
           orphan->sequence <= r->last_known + 1 + most;
}

/* take_orphans -- applies those of commits before `limit`. */
static tansu_status take_orphans(replay *k, uint64_t limit, tansu_error *error) {
    repair *r = k->r;
    tansu_status status = TANSU_OK;
    for (; status == TANSU_OK && k->next < r->orphan_count && r->orphans[k->next].sequence < limit;
         k->next++) {
        const repair_orphan *orphan = &r->orphans[k->next];
        const record_header *record;
        if (is_missing(r, orphan) &&
            repair_read_record(&k->reader, orphan->location, &record, &status, error) &&
            record_is_of(record, orphan->sequence)) {
            repair_gap *gap = &r->gaps[orphan->gap];
            uint64_t end = repair_offset(orphan->location) + record->size;
            /* A record may end with zeros. */
            if (end > gap->to)
                gap->to = (uint32_t)end;
            gap->taken++;
            gap->taken_bytes += record->size;
            status = take_record(k, record, orphan->location, false, error);
        }
    }
    return status;
}

/* ---- The history ---- */

/* load_run -- reads a run's bytes unless they are in memory. */
static tansu_status load_run(replay *k, size_t index, tansu_error *error) {
    const repair_run *run = &k->r->runs[index];
    if (k->bytes != NULL && k->run == index)
        return TANSU_OK;
    free(k->bytes);
    k->bytes = NULL;
    k->run = index;
    return repair_read_segment(k->r, &k->r->segments[run->segment], run->from, run->to - run->from,
                               &k->bytes, error);
}

/* replay_slice -- the frames of a run from one commit to another. */
static tansu_status replay_slice(replay *k, const repair_slice *slice, tansu_error *error) {
    repair *r = k->r;
    const repair_run *run = &r->runs[slice->run];
    uint64_t size = run->to - run->from, reported = 0;
    tansu_status status = load_run(k, slice->run, error);
    log_location location = (uint64_t)r->segments[run->segment].number << 32 | run->from;
    for (uint64_t at = 0; status == TANSU_OK && at < size;) {
        const frame_header *frame = scan_frame(r->crc_seed, k->bytes, size, at);
        if (frame == NULL) {
            note(k, location + at, size - at,
                 "Frames that were read before can't be read any more");
            r->lost_bytes += size - at;
            break;
        }
        if (frame->sequence > slice->last)
            break;
        if (frame->sequence >= slice->first)
            status = take_frame(k, frame, location + at, slice, error);
        at += frame->size;
        if (status == TANSU_OK && at - reported >= PROGRESS_BYTES) {
            status = repair_progress(r, at - reported, error);
            reported = at;
        }
    }
    return status;
}

tansu_status repair_replay(repair *r, tansu_error *error) {
    replay k = {.r = r, .reader = repair_reader_of(r), .known = repair_reader_of(r)};
    tansu_status status = date_inserts(&k, error);
    if (r->orphan_count > 1)
        qsort(r->orphans, r->orphan_count, sizeof *r->orphans, by_commit);
    bool removals = false;
    for (size_t i = 0; status == TANSU_OK && i < r->slice_count; i++) {
        const repair_slice *slice = &r->slices[i];
        removals = removals || slice->removals;
        status = take_orphans(&k, removals ? UINT64_MAX : slice->first, error);
        if (status == TANSU_OK)
            status = replay_slice(&k, slice, error);
    }
    if (status == TANSU_OK)
        status = take_orphans(&k, UINT64_MAX, error);
    free(k.bytes);
    repair_reader_end(&k.reader);
    repair_reader_end(&k.known);
    return status;
}

/* ---- The collections and indexes of the new database, by the catalog's records ---- */

/*
 * A collection that has lost its name gets one.
 */

/* catalog_by_commit -- for sorting the catalog's records. */
static int catalog_by_commit(const void *a, const void *b) {
    const repair_record *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* slot_of -- the index of a collection in the list, or where it belongs. */
static size_t slot_of(const repair *r, uint32_t id) {
    return BISECT(r->collections, r->collection_count, repair_collection, id, id);
}

repair_collection *repair_find_collection(const repair *r, uint32_t id) {
    size_t slot = slot_of(r, id);
    return slot < r->collection_count && r->collections[slot].id == id ? &r->collections[slot]
                                                                       : NULL;
}

/* collection_make -- the collection with an id, which is added if need be; NULL: memory. */
static repair_collection *collection_make(repair *r, uint32_t id) {
    repair_collection *found = repair_find_collection(r, id);
    if (found != NULL)
        return found;
    size_t slot = slot_of(r, id);
    if (!ARRAY_RESERVE(r->collections, r->collection_count, r->collection_capacity, 1))
        return NULL;
    repair_collection *list = r->collections;
    memmove(list + slot + 1, list + slot, (r->collection_count - slot) * sizeof *list);
    list[slot] = (repair_collection){.id = id};
    r->collection_count++;
    return &list[slot];
}

/* text_of -- a name in a record's payload; NULL when there is no valid one. */
static const char *text_of(const repair_record *record, const char *key) {
    doc_value value;
    if (!doc_find(record->payload.data, record->payload.size, key, strlen(key), &value) ||
        value.type != DOC_STRING)
        return NULL;
    size_t length;
    const char *text = doc_string(&value, &length);
    return strlen(text) == length && name_check(text, "collection", NULL) == TANSU_OK ? text : NULL;
}

/* set_name -- gives a collection its name. */
static void set_name(repair_collection *c, const char *name, uint64_t sequence) {
    snprintf(c->name, sizeof c->name, "%s", name);
    c->named = true;
    c->named_by = sequence;
    c->doubtful = false;
}

/* name_by -- gives a collection the name in a record. */
static void name_by(repair_collection *c, const char *name, const repair_record *record) {
    set_name(c, name, record->sequence);
    c->doubtful = (record->location & LOCATION_UNPROTECTED) != 0;
}

/* index_find -- the index with a name, or NULL. */
static repair_index *index_find(const repair_collection *c, const char *name) {
    for (size_t i = 0; i < c->index_count; i++)
        if (strcmp(c->indexes[i].name, name) == 0)
            return &c->indexes[i];
    return NULL;
}

/* index_put -- an index that was created. False when memory is exhausted. */
static bool index_put(repair_collection *c, const char *name, const repair_record *record) {
    repair_index *index = index_find(c, name);
    if (index == NULL) {
        if (!ARRAY_RESERVE(c->indexes, c->index_count, c->index_capacity, 1))
            return false;
        index = &c->indexes[c->index_count++];
        snprintf(index->name, sizeof index->name, "%s", name);
    }
    index->record = record;
    return true;
}

/* index_remove -- an index that was dropped. */
static void index_remove(repair_collection *c, const char *name) {
    repair_index *index = index_find(c, name);
    if (index == NULL)
        return;
    size_t rest = (size_t)(c->indexes + c->index_count - index - 1);
    memmove(index, index + 1, rest * sizeof *index);
    c->index_count--;
}

/* note_catalog -- a problem of a record of the catalog. */
static void note_catalog(repair *r, const repair_record *record, const char *message) {
    char name[64];
    repair_segment_name(r, repair_number(record->location), name);
    problem_location where = {
        .file = name, .offset = (int64_t)repair_offset(record->location), .size = -1};
    problem_list_add(&r->problems, &where, "%s", message);
}

/* apply -- applies a record of the catalog. */
static tansu_status apply(repair *r, const repair_record *record, tansu_error *error) {
    const char *name = text_of(record, "name");
    if (name == NULL) {
        note_catalog(r, record, "A record of the catalog has no valid name and was left out");
        return TANSU_OK;
    }
    repair_collection *c = collection_make(r, record->collection);
    if (c == NULL)
        return error_memory(error);
    if ((record->location & LOCATION_UNPROTECTED) != 0) {
        char message[256];
        snprintf(message, sizeof message,
                 "The definition of %s \"%s\" is read from a record that no checksum protects",
                 record->type == RECORD_INDEX_CREATE || record->type == RECORD_INDEX_DROP
                     ? "the index"
                     : "the collection",
                 name);
        note_catalog(r, record, message);
    }
    doc_value local, option;
    const char *to;
    switch (record->type) {
    case RECORD_COLLECTION_CREATE:
        if (!c->named)
            name_by(c, name, record);
        c->local = doc_find(record->payload.data, record->payload.size, "local", 5, &local) &&
                   local.type == DOC_BOOL && doc_bool(&local);
        break;
    case RECORD_COLLECTION_DROP:
        /* One that no checksum protects must at least have the name of what it drops. */
        if ((record->location & LOCATION_UNPROTECTED) != 0 &&
            (!c->named || strcmp(c->name, name) != 0))
            note_catalog(r, record, "An inconsistent record that drops a collection was left out");
        else
            c->dropped = true;
        break;
    case RECORD_COLLECTION_RENAME:
        if ((to = text_of(record, "to")) != NULL)
            name_by(c, to, record);
        break;
    case RECORD_INDEX_CREATE:
        if (!index_put(c, name, record))
            return error_memory(error);
        break;
    case RECORD_INDEX_DROP: index_remove(c, name); break;
    case RECORD_COLLECTION_OPTIONS:
        if ((to = text_of(record, "compression")) != NULL)
            (void)codec_of_name(to, &c->codec);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (doc_find(record->payload.data, record->payload.size, collection_options[i].name,
                         strlen(collection_options[i].name), &option))
                c->options[i] = record;
        break;
    default: break;
    }
    return TANSU_OK;
}

/* by_name -- the order of r->names. */
static int by_name(const void *item, const void *key) {
    return strcmp(((const repair_collection *)item)->name, key);
}

/* with_name -- the collection that has the name; NULL: none. */
static repair_collection *with_name(const repair *r, const char *name) {
    return catalog_find(&r->names, by_name, name);
}

/* enter_name -- notes that a collection has its name, unless another one has it. */
static void enter_name(repair *r, repair_collection *c) {
    const catalog_writer writer = {.order = by_name};
    if (with_name(r, c->name) == NULL)
        catalog_insert(&r->names, &writer, c->name, c);
}

/* leave_name -- before a collection gets another name, or none. */
static void leave_name(repair *r, repair_collection *c) {
    retire_list none = {NULL, 0, 0};
    const catalog_writer writer = {.order = by_name, .retired = &none};
    if (with_name(r, c->name) == c)
        catalog_remove(&r->names, &writer, c->name);
    retire_forget(&none);
    c->named = false;
}

/* make_name -- gives a collection a generated name; `why` follows its number. */
static void make_name(repair *r, repair_collection *c, const char *why) {
    char name[TANSU_MAX_NAME + 1];
    int length = snprintf(name, sizeof name, "recovered_%u", c->id);
    while (with_name(r, name) != NULL && length < TANSU_MAX_NAME) {
        name[length++] = '_';
        name[length] = 0;
    }
    problem_location where = {.offset = -1, .size = -1, .collection = name};
    problem_list_add(&r->problems, &where, "Collection number %u %s; its name is now \"%s\"", c->id,
                     why, name);
    leave_name(r, c);
    set_name(c, name, UINT64_MAX);
    enter_name(r, c);
}

/* take_known_name -- gives a collection without a name the one that the index files have, if they
 * do and no other has it. `why` follows its number. */
static bool take_known_name(repair *r, repair_collection *c, const char *why) {
    const repair_known_collection *known = repair_known_collection_find(r, c->id);
    if (known == NULL || known->name[0] == 0 || with_name(r, known->name) != NULL)
        return false;
    problem_location where = {.offset = -1, .size = -1, .collection = known->name};
    problem_list_add(&r->problems, &where,
                     "Collection number %u %s; its name is now \"%s\", as in the index files",
                     c->id, why, known->name);
    leave_name(r, c);
    set_name(c, known->name, UINT64_MAX);
    enter_name(r, c);
    c->local = known->local;
    return true;
}

/* take_current_name -- gives a collection whose name no checksum protects the one that the index
 * files have as of a later commit. */
static void take_current_name(repair *r, repair_collection *c) {
    const repair_known_collection *known = repair_known_collection_find(r, c->id);
    if (!c->doubtful || known == NULL || c->named_by > r->checkpoint ||
        strcmp(known->name, c->name) == 0)
        return;
    (void)take_known_name(r, c, "has a corrupt name in the log");
}

/* part_names -- of two collections with one name, which the second one has noted, the later one
 * keeps it. */
static void part_names(repair *r, repair_collection *c, repair_collection *noted) {
    bool wins = c->named_by > noted->named_by || (c->named_by == noted->named_by && c < noted);
    if (wins)
        leave_name(r, noted);
    enter_name(r, c);
    make_name(r, wins ? noted : c, "has the name of a later collection");
}

/* settle_names -- gives every collection a name of its own. */
static void settle_names(repair *r) {
    for (size_t i = 0; i < r->collection_count; i++)
        if (r->collections[i].named && !r->collections[i].dropped)
            enter_name(r, &r->collections[i]);
    for (size_t i = 0; i < r->collection_count; i++)
        if (r->collections[i].named && !r->collections[i].dropped)
            take_current_name(r, &r->collections[i]);
    for (size_t i = 0; i < r->collection_count; i++) {
        repair_collection *c = &r->collections[i];
        repair_collection *noted = c->named && !c->dropped ? with_name(r, c->name) : c;
        if (noted == NULL)
            enter_name(r, c);
        else if (noted != c)
            part_names(r, c, noted);
    }
    for (size_t i = 0; i < r->collection_count; i++)
        if (!r->collections[i].named && !r->collections[i].dropped &&
            !take_known_name(r, &r->collections[i], "has no name in the log"))
            make_name(r, &r->collections[i], "has no name");
}

tansu_status repair_build_catalog(repair *r, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (r->record_count > 1)
        qsort(r->records, r->record_count, sizeof *r->records, catalog_by_commit);
    for (size_t i = 0; status == TANSU_OK && i < r->record_count; i++)
        status = apply(r, &r->records[i], error);
    uint32_t last = 0;
    for (uint64_t i = 0; status == TANSU_OK && r->locations.slots != NULL && i <= r->locations.mask;
         i++) {
        const pending_slot *slot = &r->locations.slots[i];
        uint32_t id = where_collection(slot->where);
        if (slot->where == 0 || (slot->at & LOCATION_DELETED) != 0 || id == last)
            continue;
        last = id;
        if (collection_make(r, id) == NULL)
            status = error_memory(error);
    }
    if (status == TANSU_OK)
        settle_names(r);
    return status;
}
