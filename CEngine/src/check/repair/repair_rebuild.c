/*
 * check/repair/repair_rebuild.c -- filling the new database: the newest version of every document
 * that was found, then the indexes.
 */
#include "check/repair/repair_internal.h"

#include "bson/document.h"
#include "bson/json/json.h"
#include "store/collection_options.h"
#include "store/database_internal.h"
#include "store/write_lock.h"
#include "store/write_txn/write_txn.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* A commit of the new database ends with this many documents or bytes. */
#define BATCH_DOCUMENTS 1000
#define BATCH_BYTES ((uint64_t)4 << 20)

/* Documents that are listed one by one; all are counted. */
#define SUSPECTS_LISTED 1000

/* The documents of a collection, which are saved in commits of their own. */
typedef struct transfer {
    repair *r;
    repair_collection *c;
    pending_slot *slots; /* the first `kept` are those that were saved, by their new record ids */
    uint64_t kept;
    write_txn *wtxn; /* NULL between two commits */
    uint32_t batch_documents;
    uint64_t batch_bytes;
    repair_reader reader;
    tansu_buffer key;
} transfer;

/* by_where -- for sorting: by collection; in it documents, then deletions, each by record id. */
static int by_where(const void *a, const void *b) {
    const pending_slot *x = a, *y = b;
    if (where_collection(x->where) != where_collection(y->where))
        return x->where < y->where ? -1 : 1;
    if (((x->at ^ y->at) & LOCATION_DELETED) != 0)
        return (x->at & LOCATION_DELETED) == 0 ? -1 : 1;
    return x->where < y->where ? -1 : x->where > y->where;
}

/* sort_locations -- makes the table of locations a sorted list of documents, and of deletions where
 * earlier deletions may be lost. */
static uint64_t sort_locations(repair *r) {
    uint64_t count = 0;
    for (uint64_t i = 0; r->locations.slots != NULL && i <= r->locations.mask; i++)
        if (r->locations.slots[i].where != 0 &&
            (r->last_missing != 0 || r->uncertain ||
             (r->locations.slots[i].at & LOCATION_DELETED) == 0))
            r->locations.slots[count++] = r->locations.slots[i];
    if (count > 1)
        qsort(r->locations.slots, count, sizeof *r->locations.slots, by_where);
    return count;
}

/* note -- a problem of a document. */
static void note(transfer *t, log_location location, const char *message) {
    char name[64];
    repair_segment_name(t->r, repair_number(location), name);
    problem_location where = {.file = name,
                              .offset = (int64_t)repair_offset(location),
                              .size =
                                  t->reader.record.size == 0 ? -1 : (int64_t)t->reader.record.size,
                              .collection = t->c->name};
    problem_list_add(&t->r->problems, &where, "%s", message);
}

/* ---- Saving ---- */

/* begin_batch -- begins a write transaction unless there is one. */
static tansu_status begin_batch(transfer *t, tansu_error *error) {
    if (t->wtxn != NULL)
        return TANSU_OK;
    database *db = t->r->db;
    tansu_status status = write_lock_acquire(db, NULL, error);
    if (status != TANSU_OK)
        return status;
    status = write_txn_begin(db, &t->wtxn, error);
    if (status != TANSU_OK) {
        t->wtxn = NULL;
        write_lock_release(db);
    }
    t->batch_documents = 0;
    t->batch_bytes = 0;
    return status;
}

/* end_batch -- commits it, or rolls it back after an error. */
static tansu_status end_batch(transfer *t, tansu_status status, tansu_error *error) {
    write_txn *c = t->wtxn;
    t->wtxn = NULL;
    if (c == NULL)
        return status;
    if (status == TANSU_OK)
        return write_txn_commit(c, TANSU_DURABILITY_PROCESS, NULL, error);
    write_txn_abort(c);
    return status;
}

/* id_text -- a document's `_id` as JSON, for messages. */
static void id_text(const uint8_t *doc, char *text, size_t size) {
    doc_value id;
    tansu_buffer json = TANSU_BUFFER_INIT;
    if (doc_find_id(doc, load_u32(doc), &id) && json_write_value(&json, &id, false))
        snprintf(text, size, "%.*s", (int)json.size, (const char *)json.data);
    else
        snprintf(text, size, "?");
    tansu_buffer_free(&json);
}

/* find_duplicate -- a document with the same `_id` that was saved before; *location 0: there is
 * none. */
static tansu_status find_duplicate(transfer *t, const uint8_t *doc, uint64_t *rid,
                                   log_location *location, tansu_error *error) {
    doc_value id;
    bool found;
    *location = 0;
    if (!doc_find_id(doc, load_u32(doc), &id))
        return TANSU_OK;
    const collection_state *state = snapshot_collection(t->wtxn->next, t->c->name);
    if (state == NULL)
        return TANSU_OK;
    tansu_status status =
        write_txn_find_id(t->r->db->trees, state, &id, &t->key, &found, rid, error);
    if (status == TANSU_OK && found && *rid < t->kept)
        *location = t->slots[*rid].at;
    return status;
}

/* duplicate_wins -- of two documents with one `_id`, whether the one saved before is right. A
 * document that a checksum protects wins over one that none does, whose `_id` may be corrupt.
 * Otherwise the newer one wins. */
static tansu_status duplicate_wins(transfer *t, log_location duplicate, const pending_slot *slot,
                                   uint64_t own, bool replaces, bool *wins, tansu_error *error) {
    /* An unprotected record that replaces an earlier one is consistent with it, and newer. */
    bool consistent = (slot->at & LOCATION_UNPROTECTED) != 0 && replaces;
    if (((duplicate ^ slot->at) & LOCATION_UNPROTECTED) != 0 && !consistent) {
        *wins = (slot->at & LOCATION_UNPROTECTED) != 0;
        return TANSU_OK;
    }
    repair_reader reader = repair_reader_of(t->r);
    const record_header *record;
    tansu_status status;
    *wins = repair_read_record(&reader, duplicate, &record, &status, error) &&
            repair_commit(t->r, duplicate, record) >= own;
    repair_reader_end(&reader);
    return status;
}

/* is_known -- whether the index files know a document as present. */
static bool is_known(log_location location) {
    return (location & (LOCATION_CONFIRMED | LOCATION_OUTDATED)) != 0;
}

/* reason_for -- why a document may differ from what it was; its record is of commit `sequence`. */
static uint64_t reason_for(const repair *r, const pending_slot *slot, uint64_t sequence) {
    uint64_t seen = sequence;
    bool confirmed = (slot->at & LOCATION_CONFIRMED) != 0;
    if (confirmed && seen < r->checkpoint)
        seen = r->checkpoint;
    bool uncertain = (slot->at & LOCATION_UNCERTAIN) != 0 && !confirmed;
    enum repair_reason reason = (slot->at & LOCATION_UNPROTECTED) != 0 ? REASON_UNPROTECTED
                                : (slot->at & LOCATION_OUTDATED) != 0  ? REASON_OLDER
                                : uncertain || seen < r->last_missing  ? REASON_UNCERTAIN
                                                                       : REASON_NONE;
    return (uint64_t)reason << LOCATION_REASON_SHIFT;
}

/* is_later -- whether a deletion is of a later document than the one that was saved. Record ids
 * rise, but one that no checksum protects may be wrong. */
static tansu_status is_later(transfer *t, const pending_slot *deletion, uint64_t sequence,
                             const pending_slot *saved, bool *later, tansu_error *error) {
    const record_header *record;
    tansu_status status = TANSU_OK;
    *later = saved->where < deletion->where;
    if ((saved->at & LOCATION_UNPROTECTED) == 0)
        return TANSU_OK;
    if (is_known(saved->at) && sequence <= t->r->checkpoint) {
        *later = false; /* it was there after the deletion, so its `_id` was another one */
        return TANSU_OK;
    }
    repair_reader reader = repair_reader_of(t->r);
    *later = repair_read_record(&reader, saved->at, &record, &status, error) &&
             repair_commit(t->r, saved->at, record) < sequence;
    repair_reader_end(&reader);
    return status;
}

/* remove_duplicate -- removes a saved document whose `_id` was deleted later with another record
 * id: its own deletion was lost. A deletion that no checksum protects is applied only where it is
 * consistent with a record of that document, which proves as much. A document without a checksum
 * that the index files know as deleted proves nothing: its `_id` may be corrupt. */
static tansu_status remove_duplicate(transfer *t, const pending_slot *slot,
                                     const record_header *record, tansu_error *error) {
    uint64_t rid;
    log_location duplicate;
    bool later = false;
    if ((slot->at & LOCATION_UNPROTECTED) != 0 && record->type == RECORD_PUT)
        return TANSU_OK;
    tansu_status status = find_duplicate(t, record_payload(record), &rid, &duplicate, error);
    if (status == TANSU_OK && duplicate != 0)
        status =
            is_later(t, slot, repair_commit(t->r, slot->at, record), &t->slots[rid], &later, error);
    if (status != TANSU_OK || !later)
        return status;
    status = write_txn_remove(t->wtxn, t->c->name, rid, error);
    if (status != TANSU_OK)
        return status;
    t->slots[rid].at = 0;
    t->r->documents--;
    t->c->documents--;
    t->r->unprotected -= (duplicate & LOCATION_UNPROTECTED) != 0;
    return TANSU_OK;
}

/* save_document -- saves the document of a record. */
static tansu_status save_document(transfer *t, const pending_slot *slot,
                                  const record_header *record, tansu_error *error) {
    const uint8_t *doc = record_payload(record);
    uint64_t rid, commit = repair_commit(t->r, slot->at, record);
    log_location duplicate;
    bool wins = false;
    char message[256], id[192];
    tansu_status status = find_duplicate(t, doc, &rid, &duplicate, error);
    if (status == TANSU_OK && duplicate != 0) {
        status =
            duplicate_wins(t, duplicate, slot, commit, record_previous(record) != 0, &wins, error);
        id_text(doc, id, sizeof id);
        snprintf(message, sizeof message, "%s document with the same _id was left out: %.160s",
                 ((duplicate ^ slot->at) & LOCATION_UNPROTECTED) != 0 ? "An unprotected"
                                                                      : "An older",
                 id);
        if (status == TANSU_OK)
            note(t, wins ? slot->at : duplicate, message);
        /* Two that were present had two ids: the other one is corrupt. */
        t->c->lost += is_known(slot->at) && is_known(duplicate);
    }
    if (status != TANSU_OK || wins)
        return status;
    tansu_error own;
    status =
        write_txn_save(t->wtxn, t->c->name, doc, load_u32(doc), TANSU_SAVE, SAVE_COPY, NULL, &own);
    if (status == TANSU_OK) {
        if (duplicate == 0)
            rid = t->kept++;
        t->slots[rid] = *slot;
        t->slots[rid].at |= reason_for(t->r, slot, commit);
        t->r->documents += duplicate == 0;
        t->c->documents += duplicate == 0;
        t->r->unprotected += (slot->at & LOCATION_UNPROTECTED) != 0;
        t->r->unprotected -= (duplicate & LOCATION_UNPROTECTED) != 0;
        return TANSU_OK;
    }
    if (status == TANSU_E_INVALID_BSON || status == TANSU_E_INVALID_DOCUMENT ||
        status == TANSU_E_INVALID_ID || status == TANSU_E_TOO_LARGE) {
        note(t, slot->at, own.message);
        return TANSU_OK;
    }
    if (error != NULL)
        *error = own;
    return status;
}

/* transfer_document -- reads and saves one. */
static tansu_status transfer_document(transfer *t, const pending_slot *slot, tansu_error *error) {
    const record_header *record;
    tansu_status status;
    bool there = repair_read_record(&t->reader, slot->at, &record, &status, error);
    if (status != TANSU_OK)
        return status;
    bool deleted = (slot->at & LOCATION_DELETED) != 0;
    if (!there) {
        if (!deleted)
            note(t, slot->at, "A document can't be read any more and was left out");
        return TANSU_OK;
    }
    status = begin_batch(t, error);
    if (status == TANSU_OK)
        status = deleted ? remove_duplicate(t, slot, record, error)
                         : save_document(t, slot, record, error);
    t->batch_documents++;
    t->batch_bytes += t->reader.record.size;
    if (status == TANSU_OK &&
        (t->batch_documents >= BATCH_DOCUMENTS || t->batch_bytes >= BATCH_BYTES)) {
        uint64_t work = t->batch_bytes;
        status = end_batch(t, TANSU_OK, error);
        if (status == TANSU_OK)
            status = repair_progress(t->r, work, error);
    }
    return status;
}

static const char *const reason_names[REASON_COUNT] = {[REASON_UNPROTECTED] = "unprotected",
                                                       [REASON_OLDER] = "older",
                                                       [REASON_UNCERTAIN] = "uncertain"};

/* suspect_add -- lists a document of a collection. */
static void suspect_add(repair *r, const repair_collection *c, enum repair_reason reason,
                        const uint8_t *doc) {
    doc_value id;
    writer w;
    if (!doc_find_id(doc, load_u32(doc), &id))
        return;
    size_t document = report_list_begin(&r->suspects, &w);
    writer_string(&w, "collection", c->name);
    writer_value(&w, "_id", &id);
    writer_string(&w, "reason", reason_names[reason]);
    report_list_end(&r->suspects, &w, document);
}
/* list_suspects -- counts the saved documents that may differ from what they were, and lists the
 * first. */
static tansu_status list_suspects(transfer *t, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t i = 0; status == TANSU_OK && i < t->kept; i++) {
        uint64_t at = t->slots[i].at;
        enum repair_reason reason =
            (enum repair_reason)((at & LOCATION_REASON) >> LOCATION_REASON_SHIFT);
        const record_header *record;
        if (at == 0 || reason == REASON_NONE)
            continue;
        t->c->suspects[reason]++;
        if (t->r->suspects.count < SUSPECTS_LISTED &&
            repair_read_record(&t->reader, at, &record, &status, error))
            suspect_add(t->r, t->c, reason, record_payload(record));
    }
    return status;
}

/* transfer_option -- sets an option of the collection. One that is invalid is a problem. */
static tansu_status transfer_option(transfer *t, enum option_number number, tansu_error *error) {
    const collection_option *kind = &collection_options[number];
    const tansu_buffer *payload = &t->c->options[number]->payload;
    doc_value value;
    void *option = NULL;
    doc_find(payload->data, payload->size, kind->name, strlen(kind->name), &value);
    tansu_error fault;
    tansu_status status = kind->parse(&value, &option, &fault);
    if (status == TANSU_OK)
        status = write_txn_collection_option(t->wtxn, t->c->name, number, option, &fault);
    if (status != TANSU_E_INVALID_QUERY && status != TANSU_E_INVALID_NAME) {
        if (status != TANSU_OK && error != NULL)
            *error = fault;
        return status;
    }
    problem_location where = {.offset = -1, .size = -1, .collection = t->c->name};
    problem_list_add(&t->r->problems, &where, "The option \"%s\" of the collection is left out: %s",
                     kind->name, fault.message);
    return TANSU_OK;
}

/* transfer_collection -- creates a collection and saves its documents. */
static tansu_status transfer_collection(repair *r, repair_collection *c, pending_slot *slots,
                                        uint64_t count, tansu_error *error) {
    transfer t = {.r = r, .c = c, .slots = slots, .reader = repair_reader_of(r)};
    tansu_status status = begin_batch(&t, error);
    if (status == TANSU_OK)
        status = write_txn_collection_ensure(t.wtxn, c->name, c->local, true, error);
    if (status == TANSU_OK && codec_available(c->codec))
        status = write_txn_collection_compress(t.wtxn, c->name, c->codec, error);
    for (uint64_t i = 0; status == TANSU_OK && i < count; i++) {
        pending_slot slot = slots[i]; /* those that are saved move to the front */
        status = transfer_document(&t, &slot, error);
    }
    /* Documents are kept that a schema would reject. */
    if (status == TANSU_OK)
        status = begin_batch(&t, error);
    for (int i = 0; status == TANSU_OK && i < OPTION_COUNT; i++)
        if (c->options[i] != NULL)
            status = transfer_option(&t, i, error);
    status = end_batch(&t, status, error);
    if (status == TANSU_OK)
        status = list_suspects(&t, error);
    repair_reader_end(&t.reader);
    tansu_buffer_free(&t.key);
    r->collections_made += status == TANSU_OK;
    return status;
}

/* ---- Indexes ---- */

/* parse_index -- the definition in a record. */
static tansu_status parse_index(const repair *r, const repair_index *index,
                                index_definition **definition, tansu_error *error) {
    const tansu_buffer *payload = &index->record->payload;
    doc_value keys, options;
    if (!doc_find(payload->data, payload->size, "keys", 4, &keys) || keys.type != DOC_DOCUMENT)
        return error_set(error, TANSU_E_INVALID_INDEX, index->name, "It has no keys");
    bool plain = !doc_find(payload->data, payload->size, "options", 7, &options) ||
                 options.type != DOC_DOCUMENT;
    tansu_status status =
        index_definition_parse(index->name, keys.data, keys.size, plain ? NULL : options.data,
                               plain ? 0 : options.size, definition, error);
    if (status != TANSU_OK)
        return status;
    status = index_definition_compile(*definition, r->hooks, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* build_index -- builds an index; one whose values are not unique any more is built as a plain one.
 * */
static tansu_status build_index(repair *r, const repair_collection *c, const repair_index *index,
                                tansu_error *error) {
    problem_location where = {
        .offset = -1, .size = -1, .collection = c->name, .index = index->name};
    index_definition *definition;
    tansu_error found;
    tansu_status status = parse_index(r, index, &definition, &found);
    if (status == TANSU_OK)
        status = index_build_online(r->db, c->name, definition, NULL, NULL, &found);
    if (status == TANSU_E_NOT_UNIQUE) {
        problem_list_add(&r->problems, &where, "The index is not unique any more: %s",
                         found.message);
        status = parse_index(r, index, &definition, &found);
        if (status == TANSU_OK) {
            definition->unique = false;
            status = index_build_online(r->db, c->name, definition, NULL, NULL, &found);
        }
    }
    if (status == TANSU_E_INVALID_INDEX || status == TANSU_E_INVALID_NAME ||
        status == TANSU_E_INVALID_BSON || status == TANSU_E_TOO_LARGE ||
        status == TANSU_E_UNSUPPORTED) {
        problem_list_add(&r->problems, &where, "The index was left out: %s", found.message);
        return TANSU_OK;
    }
    if (status != TANSU_OK && error != NULL)
        *error = found;
    r->indexes_made += status == TANSU_OK;
    return status;
}

tansu_status repair_rebuild(repair *r, tansu_error *error) {
    uint64_t count = sort_locations(r), at = 0;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->collection_count; i++) {
        repair_collection *c = &r->collections[i];
        while (at < count && where_collection(r->locations.slots[at].where) < c->id)
            at++;
        uint64_t first = at;
        while (at < count && where_collection(r->locations.slots[at].where) == c->id)
            at++;
        if (c->dropped)
            continue;
        status = transfer_collection(r, c, r->locations.slots + first, at - first, error);
        for (size_t k = 0; status == TANSU_OK && k < c->index_count; k++) {
            status = build_index(r, c, &c->indexes[k], error);
            if (status == TANSU_OK)
                status = repair_progress(r, 0, error);
        }
    }
    return status;
}
