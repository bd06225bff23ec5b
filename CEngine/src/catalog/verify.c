/*
 * catalog/verify.c -- checking everything that is stored: the course of it, places, and the report.
 */
#include "catalog/verify.h"

#include "base/error.h"
#include "catalog/compact.h"
#include "catalog/verify_parts.h"

#include <stdlib.h>

/* Units of progress, in bytes of the log's weight: a document, and an entry of an index. */
#define DOCUMENT_WORK 128
#define ENTRY_WORK 32

tansu_status verify_tell(verification *c, uint64_t work, tansu_error *error) {
    c->done += work;
    if (c->done > c->total)
        c->done = c->total;
    tansu_status status = database_check_open(c->db, error);
    if (status == TANSU_OK && c->progress != NULL && !c->progress(c->context, c->done, c->total))
        status = error_set(error, TANSU_E_CANCELLED, NULL, "The check was cancelled.");
    return status;
}

/* ---- Places ---- */

/* room_of -- how many bytes of a segment may be looked at, 0 when there is none; looked up anew when it is not
 * known to have `least`, for the head grows. */
static tansu_status room_of(verification *c, uint32_t number, uint64_t least, uint64_t *room,
                            tansu_error *error) {
    size_t low = 0, high = c->room_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->rooms[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool known = low < c->room_count && c->rooms[low].number == number;
    *room = known ? c->rooms[low].size : 0;
    if (*room >= least)
        return TANSU_OK;
    *room = log_room(c->db->log, number);
    if (known || *room == 0) {
        if (known)
            c->rooms[low].size = *room;
        return TANSU_OK;
    }
    verify_room *rooms = realloc(c->rooms, (c->room_count + 1) * sizeof *rooms);
    if (rooms == NULL)
        return error_memory(error);
    memmove(rooms + low + 1, rooms + low, (c->room_count - low) * sizeof *rooms);
    rooms[low] = (verify_room){number, *room};
    c->rooms = rooms;
    c->room_count++;
    return TANSU_OK;
}

/* record_at -- the record at a place, if it is one of that docno; otherwise NULL and what is wrong. */
static tansu_status record_at(verification *c, log_place place, uint64_t where,
                              const record_header **record, const char **fault,
                              tansu_error *error) {
    uint32_t number = (uint32_t)(place >> 32);
    uint64_t offset = (uint32_t)place & PLACE_MASK, room;
    *record = NULL;
    *fault = NULL;
    tansu_status status = room_of(c, number, offset + RECORD_HEADER_SIZE, &room, error);
    if (status != TANSU_OK)
        return status;
    /* A link to a version before may lead to a segment that is out of force and not gone yet. */
    bool outside = room == 0 && log_known(c->db->log, number);
    if (room == 0 && !outside)
        *fault = "lies in a segment that is not there";
    else if (!outside && (offset < SEGMENT_HEADER_SIZE || offset + RECORD_HEADER_SIZE > room))
        *fault = "lies outside its segment";
    if (*fault != NULL)
        return TANSU_OK;
    const record_header *r = log_record(c->db->log, place);
    /* The head may have grown since its end was last asked for. */
    if (!outside && r->size > room - offset) {
        status = room_of(c, number, offset + r->size, &room, error);
        if (status != TANSU_OK)
            return status;
    }
    if (r->where != where)
        *fault = "leads to something else than a record of the document";
    else if (r->type != ((place & PLACE_DELETED) != 0 ? RECORD_DELETE : RECORD_PUT))
        *fault = "leads to a record of another type";
    else if ((!outside && r->size > room - offset) ||
             r->size < RECORD_HEADER_SIZE + (uint64_t)r->meta_words * 8 + 5)
        *fault = "leads to a record of a size that makes no sense";
    else
        *record = r;
    return TANSU_OK;
}

tansu_status verify_resolve(verification *c, const collection_state *state, uint64_t docno,
                            uint64_t word, verify_holding *holding, tansu_error *error) {
    *holding = (verify_holding){.place = word};
    uint64_t newer = UINT64_MAX;
    while (holding->place != 0) {
        const record_header *record;
        tansu_status status = record_at(c, holding->place, record_where(state->id, docno), &record,
                                        &holding->fault, error);
        if (status != TANSU_OK || record == NULL)
            return status;
        if (record->sequence >= newer) {
            holding->fault = "leads back to a newer version";
            return TANSU_OK;
        }
        if (record->sequence <= c->v->sequence) {
            holding->record = record;
            return TANSU_OK;
        }
        newer = record->sequence;
        holding->place = record->previous;
    }
    return TANSU_OK;
}

/* ---- The cabinet's own records ---- */

/* check_stored -- one record of the cabinet; not being there is no fault here. */
static tansu_status check_stored(verification *c, enum cabinet_kind kind, uint64_t number,
                                 const char *collection, tansu_error *error) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_error found;
    pthread_mutex_lock(&c->db->checkpoint_mutex);
    tansu_status status =
        c->db->cab == NULL ? TANSU_OK : cabinet_get(c->db->cab, kind, number, &record, &found);
    pthread_mutex_unlock(&c->db->checkpoint_mutex);
    tansu_buffer_free(&record);
    if (status == TANSU_E_CORRUPT) {
        finding where = {.file = CABINET_FILE, .offset = -1, .size = -1, .collection = collection};
        findings_add(&c->problems, &where, "%s", found.message);
        return TANSU_OK;
    }
    if (status == TANSU_OK || status == TANSU_E_NOT_FOUND)
        return TANSU_OK;
    if (error != NULL)
        *error = found;
    return status;
}

/* verify_cabinet -- META and the stored places; blocks are read with their trees. */
static tansu_status verify_cabinet(verification *c, tansu_error *error) {
    tansu_status status = check_stored(c, CABINET_META, 0, NULL, error);
    for (uint32_t i = 0; status == TANSU_OK && i < c->v->count; i++) {
        const collection_state *state = c->v->collections[i];
        uint64_t chunks = (state->next_docno + PLACES_CHUNK - 1) / PLACES_CHUNK;
        for (uint64_t k = places_next_chunk(state->places, 0, chunks);
             status == TANSU_OK && k < chunks;
             k = places_next_chunk(state->places, k + 1, chunks)) {
            status =
                check_stored(c, CABINET_PLACES, (uint64_t)state->id << 40 | k, state->name, error);
            if (status == TANSU_OK && k % 64 == 0)
                status = verify_tell(c, 0, error);
        }
    }
    return status;
}

/* ---- The course ---- */

/* measure -- how much there is to do. */
static void measure(verification *c) {
    for (uint32_t i = 0; i < c->extent_count; i++)
        c->total += c->extents[i].end;
    for (uint32_t i = 0; i < c->v->count; i++) {
        const collection_state *state = c->v->collections[i];
        c->total += state->count * DOCUMENT_WORK + state->ids.count * ENTRY_WORK;
        for (uint32_t k = 0; k < state->index_count; k++)
            c->total += state->indexes[k].entries.count * ENTRY_WORK;
    }
}

/* tell_report -- the report of a check that came to its end. */
static tansu_status tell_report(verification *c, tansu_buffer *result, tansu_error *error) {
    bson_t report = BSON_INITIALIZER;
    bool done = BSON_APPEND_BOOL(&report, "ok", c->problems.count == 0) &&
                BSON_APPEND_INT64(&report, "segments", (int64_t)c->extent_count) &&
                BSON_APPEND_INT64(&report, "frames", (int64_t)c->frames) &&
                BSON_APPEND_INT64(&report, "records", (int64_t)c->records) &&
                BSON_APPEND_INT64(&report, "documents", (int64_t)c->documents) &&
                BSON_APPEND_INT64(&report, "entries", (int64_t)c->entries) &&
                BSON_APPEND_INT64(&report, "damagedDocuments", (int64_t)c->damaged) &&
                BSON_APPEND_ARRAY(&report, "byCollection", &c->collections) &&
                findings_report(&c->problems, &report, result);
    bson_destroy(&report);
    return done ? TANSU_OK : error_memory(error);
}

tansu_status database_verify(database *db, tansu_task_progress progress, void *context,
                             tansu_buffer *report, tansu_error *error) {
    tansu_status status = upkeep_begin(db, error);
    if (status != TANSU_OK)
        return status;
    version *v = database_hold(db);
    verification c = {.db = db, .v = v, .progress = progress, .context = context};
    findings_init(&c.problems);
    uint64_t faults = log_faults(db->log);
    bson_init(&c.collections);
    status = log_extents(db->log, v->sequence, v->position, &c.extents, &c.extent_count, error);
    if (status == TANSU_OK) {
        measure(&c);
        status = verify_tell(&c, 0, error);
    }
    if (status == TANSU_OK)
        status = verify_log(&c, error);
    if (status == TANSU_OK)
        status = verify_cabinet(&c, error);
    for (uint32_t i = 0; status == TANSU_OK && i < v->count; i++)
        status = verify_collection(&c, v->collections[i], error);
    if (status == TANSU_OK)
        status = verify_tell(&c, c.total, error);
    if (status == TANSU_OK)
        status = tell_report(&c, report, error);
    if (status == TANSU_OK && c.problems.count != 0) {
        if (error != NULL)
            *error = c.problems.first;
        status = TANSU_E_CORRUPT;
    }
    /* What is missing for want of reading is no damage. */
    status = log_check(db->log, status == TANSU_OK ? faults : 0, status, error);
    /* What the log can mend; a damaged log could not be read to do so. */
    bool indexes_wrong = status == TANSU_E_CORRUPT && !c.log_damaged;
    findings_free(&c.problems);
    bson_destroy(&c.collections);
    free(c.extents);
    free(c.rooms);
    free(c.stretches);
    database_release(db, v);
    upkeep_end(db);
    if (indexes_wrong)
        checkpoint_doubt(db);
    return status;
}
