/*
 * catalog/compact_replay.c -- a compaction that opening meets in the log's tail, because the process
 * was killed before the checkpoint that followed.
 */
#include "base/doc.h"
#include "base/error.h"
#include "catalog/compact.h"
#include "log/walk.h"

#include <stdlib.h>

typedef struct adoption {
    change *c;
    uint32_t number;
    uint32_t *replaced;
    uint32_t count;
} adoption;

/* corrupt -- a record that makes no sense here. */
static tansu_status corrupt(log_place place, tansu_error *error) {
    char name[32];
    segment_name((uint32_t)(place >> 32), name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)(uint32_t)place,
                    "a compaction that does not fit to the segments at %s, offset %u", name,
                    (uint32_t)place);
}

/* read_record -- the numbers in the payload. */
static tansu_status read_record(adoption *a, const record_header *record, log_place place,
                                tansu_error *error) {
    const uint8_t *payload = record_payload(record);
    uint32_t room = record->size - RECORD_HEADER_SIZE - record->meta_words * 8u;
    uint32_t size = load_u32(payload);
    doc_value segment, list;
    int64_t number;
    if (size < 5 || size > room || !doc_find(payload, size, "segment", 7, &segment) ||
        !doc_as_int64(&segment, &number) || number <= 0 || number > UINT32_MAX ||
        !doc_find(payload, size, "replaces", 8, &list) || list.type != DOC_ARRAY)
        return corrupt(place, error);
    a->number = (uint32_t)number;
    a->replaced = malloc((size_t)size * sizeof *a->replaced); /* an item takes more than one byte */
    if (a->replaced == NULL)
        return error_memory(error);
    doc_iter iter;
    for (doc_iter_value(&iter, &list); doc_iter_next(&iter);) {
        if (!doc_as_int64(&iter.value, &number) || number <= 0 || number > UINT32_MAX)
            return corrupt(place, error);
        a->replaced[a->count++] = (uint32_t)number;
    }
    return TANSU_OK;
}

/* is_replaced -- whether a place lies in one of the old segments. */
static bool is_replaced(const adoption *a, log_place place) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->replaced[i] == (uint32_t)(place >> 32))
            return true;
    return false;
}

/* Sees one document or deletion of a segment; `word` is what the places say. */
typedef tansu_status (*seer)(adoption *a, const collection_state *state,
                             const record_header *record, log_place place, log_place word,
                             tansu_error *error);

/* see_records -- the documents and deletions of a frame whose collections are still there. */
static tansu_status see_records(adoption *a, const frame_header *frame, log_place place, seer see,
                                tansu_error *error) {
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < frame->count; i++) {
        const record_header *record = (const record_header *)at;
        const collection_state *state =
            record->type == RECORD_PUT || record->type == RECORD_DELETE
                ? change_collection_by_id(a->c, record_collection(record))
                : NULL;
        log_place word = 0;
        if (state != NULL)
            status = places_get(state->places, record_docno(record), &word, error);
        if (status == TANSU_OK && is_replaced(a, word))
            status = see(a, state, record, place, word, error);
        at += record_step(record);
        place += record->size;
    }
    return status;
}

/* adopt_record -- a record of the new segment: the place swings to it from the same one in an old. */
static tansu_status adopt_record(adoption *a, const collection_state *state,
                                 const record_header *record, log_place place, log_place word,
                                 tansu_error *error) {
    (void)error;
    const record_header *old = log_record(a->c->db->log, word);
    bool deleted = record->type == RECORD_DELETE;
    if (old->where != record->where || old->sequence != record->sequence ||
        ((word & PLACE_DELETED) != 0) != deleted)
        return TANSU_OK;
    places_swing(state->places, record_docno(record), word,
                 deleted ? place | PLACE_DELETED : place);
    if (!deleted) {
        usage_add(places_live(state->places), a->number, record->size);
        usage_add(a->c->db->written, a->number, record->size);
    }
    return TANSU_OK;
}

/* clear_record -- a record of an old segment that the places still name: a deletion that was left out. */
static tansu_status clear_record(adoption *a, const collection_state *state,
                                 const record_header *record, log_place place, log_place word,
                                 tansu_error *error) {
    (void)a;
    if ((word & PLACE_MASK) != place)
        return TANSU_OK;
    if (record->type != RECORD_DELETE)
        return corrupt(place, error);
    places_swing(state->places, record_docno(record), word, 0);
    return TANSU_OK;
}

/* adopt_frame -- a log_visitor over the new segment. */
static tansu_status adopt_frame(void *context, const frame_header *frame, log_place place,
                                tansu_error *error) {
    return see_records(context, frame, place, adopt_record, error);
}

/* clear_frame -- a log_visitor over an old segment. */
static tansu_status clear_frame(void *context, const frame_header *frame, log_place place,
                                tansu_error *error) {
    return see_records(context, frame, place, clear_record, error);
}

tansu_status compact_replay(change *c, const record_header *record, log_place place,
                            tansu_error *error) {
    adoption a = {.c = c};
    bool adopted = false;
    tansu_status status = read_record(&a, record, place, error);
    if (status == TANSU_OK)
        status = log_adopt(c->db->log, a.number, &adopted, error);
    if (status == TANSU_OK && !adopted)
        status = corrupt(place, error);
    if (status == TANSU_OK)
        status = log_walk(c->db->log, a.number, adopt_frame, &a, error);
    for (uint32_t i = 0; status == TANSU_OK && i < a.count; i++)
        status = log_walk(c->db->log, a.replaced[i], clear_frame, &a, error);
    for (uint32_t i = 0; status == TANSU_OK && i < a.count; i++) {
        usage_forget(c->db->written, a.replaced[i]);
        for (uint32_t k = 0; k < c->next->count; k++)
            usage_forget(places_live(c->next->collections[k]->places), a.replaced[i]);
    }
    if (status == TANSU_E_NOT_FOUND)
        status = corrupt(place, error);
    free(a.replaced);
    return status;
}
