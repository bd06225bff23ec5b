/*
 * catalog/repair_write.c -- filling the new database with what was found.
 */
#include "base/doc.h"
#include "base/error.h"
#include "catalog/repair_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* A commit of the new database takes up to so many documents, and so many bytes and one document. */
#define BATCH_DOCUMENTS 1000
#define BATCH_BYTES ((uint64_t)4 << 20)

/* The documents of one collection on their way. */
typedef struct transfer {
    repair *r;
    repair_collection *c;
    pending_slot *slots; /* the first `kept` are those that were saved, by their new docnos */
    uint64_t kept;
    change *change; /* NULL between two commits */
    uint32_t batch_documents;
    uint64_t batch_bytes;
    repair_reader reader;
    tansu_buffer key;
} transfer;

/* by_where -- for sorting places: by collection documents, then deletions, each in the order of docnos. */
static int by_where(const void *a, const void *b) {
    const pending_slot *x = a, *y = b;
    if (x->where >> 40 != y->where >> 40)
        return x->where < y->where ? -1 : 1;
    if (((x->at ^ y->at) & PLACE_DELETED) != 0)
        return (x->at & PLACE_DELETED) == 0 ? -1 : 1;
    return x->where < y->where ? -1 : x->where > y->where;
}

/* sort_places -- turns the table of places into a sorted list of documents; and of deletions, where they are to
 * tell of others that were lost. */
static uint64_t sort_places(repair *r) {
    uint64_t count = 0;
    for (uint64_t i = 0; r->places.slots != NULL && i <= r->places.mask; i++)
        if (r->places.slots[i].where != 0 &&
            (r->last_lost != 0 || r->doubted || (r->places.slots[i].at & PLACE_DELETED) == 0))
            r->places.slots[count++] = r->places.slots[i];
    if (count > 1)
        qsort(r->places.slots, count, sizeof *r->places.slots, by_where);
    return count;
}

/* note -- a problem with a document. */
static void note(transfer *t, log_place place, const char *message) {
    char name[64];
    repair_name(t->r, repair_number(place), name);
    finding where = {.file = name,
                     .offset = (int64_t)repair_offset(place),
                     .size = t->reader.record.size == 0 ? -1 : (int64_t)t->reader.record.size,
                     .collection = t->c->name};
    findings_add(&t->r->problems, &where, "%s", message);
}

/* ---- Saving ---- */

/* begin_batch -- the change that documents go into. */
static tansu_status begin_batch(transfer *t, tansu_error *error) {
    if (t->change != NULL)
        return TANSU_OK;
    database *db = t->r->db;
    tansu_status status = database_begin_writing(db, NULL, error);
    if (status != TANSU_OK)
        return status;
    status = change_begin(db, &t->change, error);
    if (status != TANSU_OK) {
        t->change = NULL;
        database_end_writing(db);
    }
    t->batch_documents = 0;
    t->batch_bytes = 0;
    return status;
}

/* end_batch -- commits it, or drops it after an error. */
static tansu_status end_batch(transfer *t, tansu_status status, tansu_error *error) {
    change *c = t->change;
    t->change = NULL;
    if (c == NULL)
        return status;
    if (status == TANSU_OK)
        return change_commit(c, TANSU_DURABILITY_PROCESS, NULL, error);
    change_abort(c);
    return status;
}

/* id_text -- a document's `_id` as JSON, for messages. */
static void id_text(const uint8_t *doc, char *text, size_t size) {
    doc_value id;
    bson_t view, one = BSON_INITIALIZER;
    bson_iter_t iter;
    snprintf(text, size, "?");
    if (doc_find(doc, load_u32(doc), "_id", 3, &id) &&
        bson_init_static(&view, doc, load_u32(doc)) && bson_iter_init_find(&iter, &view, "_id") &&
        BSON_APPEND_VALUE(&one, "_id", bson_iter_value(&iter))) {
        char *json = bson_as_relaxed_extended_json(&one, NULL);
        if (json != NULL)
            snprintf(text, size, "%.160s", json);
        bson_free(json);
    }
    bson_destroy(&one);
}

/* find_twin -- a document with the same `_id` that was saved before; *place 0 when there is none. */
static tansu_status find_twin(transfer *t, const uint8_t *doc, uint64_t *docno, log_place *place,
                              tansu_error *error) {
    doc_value id;
    bool found;
    *place = 0;
    if (!doc_find(doc, load_u32(doc), "_id", 3, &id))
        return TANSU_OK;
    const collection_state *state = version_collection(t->change->next, t->c->name);
    if (state == NULL)
        return TANSU_OK;
    tansu_status status =
        change_find_id(t->r->db->trees, state, &id, &t->key, &found, docno, error);
    if (status == TANSU_OK && found && *docno < t->kept)
        *place = t->slots[*docno].at;
    return status;
}

/* twin_wins -- of two documents with one `_id`, whether the one saved before is the right one: of one that a
 * checksum protects and one that none does the first, for in the other the `_id` may be damaged, and
 * otherwise the newer. */
static tansu_status twin_wins(transfer *t, log_place twin, const pending_slot *slot, uint64_t own,
                              bool replaces, bool *wins, tansu_error *error) {
    /* But for a later document's newest version: that goes on with one that was there after the other. */
    bool goes_on = (slot->at & PLACE_UNSURE) != 0 && replaces;
    if (((twin ^ slot->at) & PLACE_UNSURE) != 0 && !goes_on) {
        *wins = (slot->at & PLACE_UNSURE) != 0;
        return TANSU_OK;
    }
    repair_reader reader = {.r = t->r, .fd = -1};
    const record_header *record;
    tansu_status status;
    *wins = repair_read(&reader, twin, &record, &status, error) && record->sequence >= own;
    repair_reader_end(&reader);
    return status;
}

/* doubt_of -- why a document may not be what it was; its record is of that commit. */
static uint64_t doubt_of(const repair *r, const pending_slot *slot, uint64_t sequence) {
    uint64_t seen = sequence;
    bool confirmed = (slot->at & PLACE_CONFIRMED) != 0;
    if (confirmed && seen < r->checkpoint)
        seen = r->checkpoint;
    bool doubted = (slot->at & PLACE_DOUBTED) != 0 && !confirmed;
    enum repair_doubt doubt = (slot->at & PLACE_UNSURE) != 0     ? DOUBT_UNPROTECTED
                              : (slot->at & PLACE_OUTDATED) != 0 ? DOUBT_OLDER
                              : doubted || seen < r->last_lost   ? DOUBT_UNCERTAIN
                                                                 : DOUBT_NONE;
    return (uint64_t)doubt << PLACE_DOUBT_SHIFT;
}

/* is_later -- whether a deletion is of a later document than the one that was saved. Numbers of documents rise,
 * but one that no checksum protects may be wrong. */
static tansu_status is_later(transfer *t, const pending_slot *deletion, uint64_t sequence,
                             const pending_slot *saved, bool *later, tansu_error *error) {
    const record_header *record;
    tansu_status status = TANSU_OK;
    *later = saved->where < deletion->where;
    if ((saved->at & PLACE_UNSURE) == 0)
        return TANSU_OK;
    repair_reader reader = {.r = t->r, .fd = -1};
    *later =
        repair_read(&reader, saved->at, &record, &status, error) && record->sequence < sequence;
    repair_reader_end(&reader);
    return status;
}

/* remove_twin -- of an `_id` whose later document was deleted, an earlier one is not there any more, either: its
 * own deletion was lost. A deletion that no checksum protects was taken only where it goes on with a record of
 * that document, which tells as much. */
static tansu_status remove_twin(transfer *t, const pending_slot *slot, const record_header *record,
                                tansu_error *error) {
    uint64_t docno;
    log_place twin;
    bool later = false;
    tansu_status status = find_twin(t, record_payload(record), &docno, &twin, error);
    if (status == TANSU_OK && twin != 0)
        status = is_later(t, slot, record->sequence, &t->slots[docno], &later, error);
    if (status != TANSU_OK || !later)
        return status;
    status = change_remove(t->change, t->c->name, docno, error);
    if (status != TANSU_OK)
        return status;
    t->slots[docno].at = 0;
    t->r->documents--;
    t->c->documents--;
    t->r->unprotected -= (twin & PLACE_UNSURE) != 0;
    return TANSU_OK;
}

/* save_document -- the document in a record. */
static tansu_status save_document(transfer *t, const pending_slot *slot,
                                  const record_header *record, tansu_error *error) {
    const uint8_t *doc = record_payload(record);
    uint64_t docno;
    log_place twin;
    bool wins = false;
    char message[256], id[192];
    tansu_status status = find_twin(t, doc, &docno, &twin, error);
    if (status == TANSU_OK && twin != 0) {
        status = twin_wins(t, twin, slot, record->sequence, record->previous != 0, &wins, error);
        id_text(doc, id, sizeof id);
        snprintf(message, sizeof message, "%s document with the same `_id` was left out: %.160s",
                 ((twin ^ slot->at) & PLACE_UNSURE) != 0 ? "another, unprotected" : "an older", id);
        if (status == TANSU_OK)
            note(t, wins ? slot->at : twin, message);
    }
    if (status != TANSU_OK || wins)
        return status;
    tansu_error own;
    status = change_save(t->change, t->c->name, doc, load_u32(doc), TANSU_SAVE, NULL, &own);
    if (status == TANSU_OK) {
        if (twin == 0)
            docno = t->kept++;
        t->slots[docno] = *slot;
        t->slots[docno].at |= doubt_of(t->r, slot, record->sequence);
        t->r->documents += twin == 0;
        t->c->documents += twin == 0;
        t->r->unprotected += (slot->at & PLACE_UNSURE) != 0;
        t->r->unprotected -= (twin & PLACE_UNSURE) != 0;
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
    bool there = repair_read(&t->reader, slot->at, &record, &status, error);
    if (status != TANSU_OK)
        return status;
    bool deleted = (slot->at & PLACE_DELETED) != 0;
    if (!there) {
        if (!deleted)
            note(t, slot->at, "a document can't be read any more and was left out");
        return TANSU_OK;
    }
    status = begin_batch(t, error);
    if (status == TANSU_OK)
        status =
            deleted ? remove_twin(t, slot, record, error) : save_document(t, slot, record, error);
    t->batch_documents++;
    t->batch_bytes += t->reader.record.size;
    if (status == TANSU_OK &&
        (t->batch_documents >= BATCH_DOCUMENTS || t->batch_bytes >= BATCH_BYTES)) {
        uint64_t work = t->batch_bytes;
        status = end_batch(t, TANSU_OK, error);
        if (status == TANSU_OK)
            status = repair_tell(t->r, work, error);
    }
    return status;
}

/* name_doubts -- counts the documents that were saved and may not be what they were, and names the first. */
static tansu_status name_doubts(transfer *t, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t i = 0; status == TANSU_OK && i < t->kept; i++) {
        uint64_t at = t->slots[i].at;
        enum repair_doubt doubt = (enum repair_doubt)((at & PLACE_DOUBT) >> PLACE_DOUBT_SHIFT);
        const record_header *record;
        if (at == 0 || doubt == DOUBT_NONE)
            continue;
        t->c->doubt[doubt]++;
        if (t->r->doubts.told < DOUBTS_TOLD && repair_read(&t->reader, at, &record, &status, error))
            repair_doubt_name(t->r, t->c, doubt, record_payload(record));
    }
    return status;
}

/* transfer_collection -- makes a collection and saves its documents. */
static tansu_status transfer_collection(repair *r, repair_collection *c, pending_slot *slots,
                                        uint64_t count, tansu_error *error) {
    transfer t = {.r = r, .c = c, .slots = slots, .reader = {.r = r, .fd = -1}};
    tansu_status status = begin_batch(&t, error);
    if (status == TANSU_OK)
        status = change_collection_ensure(t.change, c->name, c->local, true, error);
    for (uint64_t i = 0; status == TANSU_OK && i < count; i++) {
        pending_slot slot = slots[i]; /* kept ones are moved to the front */
        status = transfer_document(&t, &slot, error);
    }
    status = end_batch(&t, status, error);
    if (status == TANSU_OK)
        status = name_doubts(&t, error);
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
        return error_set(error, TANSU_E_INVALID_INDEX, index->name, "it has no keys");
    bool plain = !doc_find(payload->data, payload->size, "options", 7, &options) ||
                 options.type != DOC_DOCUMENT;
    tansu_status status =
        index_definition_parse(index->name, keys.data, keys.size, plain ? NULL : options.data,
                               plain ? 0 : options.size, definition, error);
    if (status != TANSU_OK)
        return status;
    status = index_definition_compile(*definition, r->filters, error);
    if (status != TANSU_OK)
        index_definition_free(*definition);
    return status;
}

/* make_index -- one index; one whose values are no longer unique is made without that. */
static tansu_status make_index(repair *r, const repair_collection *c, const repair_index *index,
                               tansu_error *error) {
    finding where = {.offset = -1, .size = -1, .collection = c->name, .index = index->name};
    index_definition *definition;
    tansu_error found;
    tansu_status status = parse_index(r, index, &definition, &found);
    if (status == TANSU_OK)
        status = index_build_aside(r->db, c->name, definition, NULL, NULL, &found);
    if (status == TANSU_E_NOT_UNIQUE) {
        findings_add(&r->problems, &where, "the index is not unique any more: %s", found.message);
        status = parse_index(r, index, &definition, &found);
        if (status == TANSU_OK) {
            definition->unique = false;
            status = index_build_aside(r->db, c->name, definition, NULL, NULL, &found);
        }
    }
    if (status == TANSU_E_INVALID_INDEX || status == TANSU_E_INVALID_NAME ||
        status == TANSU_E_INVALID_BSON || status == TANSU_E_TOO_LARGE ||
        status == TANSU_E_UNSUPPORTED) {
        findings_add(&r->problems, &where, "the index was left out: %s", found.message);
        return TANSU_OK;
    }
    if (status != TANSU_OK && error != NULL)
        *error = found;
    r->indexes_made += status == TANSU_OK;
    return status;
}

tansu_status repair_write(repair *r, tansu_error *error) {
    uint64_t count = sort_places(r), at = 0;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->collection_count; i++) {
        repair_collection *c = &r->collections[i];
        while (at < count && r->places.slots[at].where >> 40 < c->id)
            at++;
        uint64_t first = at;
        while (at < count && r->places.slots[at].where >> 40 == c->id)
            at++;
        if (c->dropped)
            continue;
        status = transfer_collection(r, c, r->places.slots + first, at - first, error);
        for (size_t k = 0; status == TANSU_OK && k < c->index_count; k++) {
            status = make_index(r, c, &c->indexes[k], error);
            if (status == TANSU_OK)
                status = repair_tell(r, 0, error);
        }
    }
    return status;
}
