/*
 * check/verify/verify.c -- verifying everything that is stored: the order of the phases, the block
 * store's own records, and the report.
 */
#include "check/verify/verify.h"

#include "check/verify/verify_internal.h"
#include "compact/compact.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/files.h"
#include "store/handle.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- The block store's own records ---- */

/* check_stored -- one record of the block store; a record that does not exist is no problem here.
 * */
static tansu_status check_stored(verification *c, enum block_store_kind kind, uint64_t number,
                                 const char *collection, tansu_error *error) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_error found;
    pthread_mutex_lock(&c->db->checkpoints.mutex);
    tansu_status status =
        c->db->bs == NULL ? TANSU_OK : block_store_get(c->db->bs, kind, number, &record, &found);
    pthread_mutex_unlock(&c->db->checkpoints.mutex);
    tansu_buffer_free(&record);
    if (status == TANSU_E_CORRUPT) {
        problem_location where = {
            .file = BLOCK_STORE_FILE, .offset = -1, .size = -1, .collection = collection};
        problem_list_add(&c->problems, &where, "%s", found.message);
        return TANSU_OK;
    }
    if (status == TANSU_OK || status == TANSU_E_NOT_FOUND)
        return TANSU_OK;
    if (error != NULL)
        *error = found;
    return status;
}

/* verify_block_store -- META and the stored location tables; blocks of trees are read with the
 * trees. */
static tansu_status verify_block_store(verification *c, tansu_error *error) {
    tansu_status status = check_stored(c, BLOCK_STORE_META, 0, NULL, error);
    for (uint32_t i = 0; status == TANSU_OK && i < c->db->catalog.count; i++)
        status = check_stored(c, BLOCK_STORE_CATALOG, i, NULL, error);
    const collection_state *state;
    catalog_cursor all = snapshot_from(c->v, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL) {
        uint64_t chunks = (state->next_rid + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
        for (uint64_t k = locations_next_chunk(state->locations, 0, chunks);
             status == TANSU_OK && k < chunks;
             k = locations_next_chunk(state->locations, k + 1, chunks)) {
            status = check_stored(c, BLOCK_STORE_LOCATIONS, (uint64_t)state->id << 40 | k,
                                  state->name, error);
            if (status == TANSU_OK && k % 64 == 0)
                status = verify_progress(c, 0, error);
        }
    }
    return status;
}

/* ---- All of it ---- */

/* entry_count -- of an index; of one that is not current, whose tree nobody may read, an entry for
 * each document. */
static uint64_t entry_count(const collection_state *state, uint32_t number) {
    if (index_waits(state, number))
        return state->count;
    return number == 0 ? state->ids.count : state->indexes[number - 1].entries.count;
}

/* measure -- how much work there is. */
static void measure(verification *c) {
    for (uint32_t i = 0; i < c->extent_count; i++)
        c->total += c->extents[i].end;
    const collection_state *state;
    catalog_cursor all = snapshot_from(c->v, NULL);
    while ((state = snapshot_next(&all)) != NULL) {
        c->total += state->count * DOCUMENT_WORK;
        for (uint32_t number = 0; number <= state->index_count; number++)
            c->total += entry_count(state, number) * ENTRY_WORK;
    }
}

/* write_report -- the report of a complete verification. */
static tansu_status write_report(verification *c, tansu_buffer *result, tansu_error *error) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    writer w = {.out = &report};
    size_t document = writer_begin(&w);
    writer_bool(&w, "ok", c->problems.count == 0);
    writer_int64(&w, "segments", (int64_t)c->extent_count);
    writer_int64(&w, "frames", (int64_t)c->frames);
    writer_int64(&w, "records", (int64_t)c->records);
    writer_int64(&w, "documents", (int64_t)c->documents);
    writer_int64(&w, "entries", (int64_t)c->entries);
    writer_int64(&w, "damagedDocuments", (int64_t)c->corrupt_documents);
    report_list_append(&c->collections, &w, "byCollection");
    problem_list_append(&c->problems, &w);
    writer_end(&w, document);
    bool done = !w.failed && (result == NULL || buffer_set(result, report.data, report.size));
    tansu_buffer_free(&report);
    return done ? TANSU_OK : error_memory(error);
}

/* problem_status -- what the problems are: corruption, or bytes of the log that the system could
 * not write and has dropped from memory. */
static tansu_status problem_status(const verification *c, tansu_error *error) {
    const tansu_error *first = &c->problems.first;
    if ((c->log_corrupt || c->corrupt_documents != 0) && log_cannot_be_written(c->db->log))
        return error_at(error, TANSU_E_IO, first->context, first->offset,
                        "The system could not write the log and has dropped what seems to be "
                        "corrupt; check the disk, close the database, open it again and verify it "
                        "again");
    if (error != NULL)
        *error = *first;
    return TANSU_E_CORRUPT;
}

tansu_status database_verify(database *db, tansu_progress progress, void *context,
                             tansu_buffer *report, tansu_error *error) {
    tansu_status status = maintenance_begin(db, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    verification c = {.db = db, .v = v, .progress = progress, .context = context};
    uint64_t faults = log_faults(db->log);
    status = log_extents(db->log, v->sequence, v->position, &c.extents, &c.extent_count, error);
    if (status == TANSU_OK) {
        measure(&c);
        status = verify_progress(&c, 0, error);
    }
    if (status == TANSU_OK)
        status = verify_log(&c, error);
    if (status == TANSU_OK)
        status = verify_block_store(&c, error);
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while (status == TANSU_OK && (state = snapshot_next(&all)) != NULL)
        status = verify_collection(&c, state, error);
    if (status == TANSU_OK)
        status = verify_progress(&c, c.total, error);
    if (status == TANSU_OK)
        status = write_report(&c, report, error);
    if (status == TANSU_OK && c.problems.count != 0)
        status = problem_status(&c, error);
    /* Bytes that the system could not read are an I/O error, and no corruption. */
    status = log_check(db->log, status == TANSU_OK ? faults : 0, status, error);
    /* The index files can be rebuilt from the log, unless the log is corrupt, too. */
    bool indexes_wrong = status == TANSU_E_CORRUPT && !c.log_corrupt;
    verify_free(&c);
    snapshot_release(db, v);
    maintenance_end(db);
    if (indexes_wrong)
        index_files_mark_damaged(db);
    return status;
}

/* ---- Progress of a verification, and the way from a record id to its record ---- */

void verify_free(verification *c) {
    log_pins_release(&c->pins);
    problem_list_free(&c->problems);
    report_list_free(&c->collections);
    free(c->extents);
    free(c->segments);
    free(c->corrupt_ranges);
}

tansu_status verify_progress(verification *c, uint64_t work, tansu_error *error) {
    c->done += work;
    if (c->done > c->total)
        c->done = c->total;
    tansu_status status = handle_check_open(c->db, error);
    if (status == TANSU_OK && c->progress != NULL && !c->progress(c->context, c->done, c->total))
        status = error_set(error, TANSU_E_CANCELLED, NULL, "The verification was cancelled");
    return status;
}

/* ---- Locations ---- */

/* readable_bytes -- how many bytes of a segment may be read, 0 when there is no such segment. It is
 * looked up again when fewer than `least` are known, because the head segment grows. */
static tansu_status readable_bytes(verification *c, uint32_t number, uint64_t least,
                                   uint64_t *readable, tansu_error *error) {
    size_t at = BISECT(c->segments, c->segment_count, verify_segment, number, number);
    bool known = at < c->segment_count && c->segments[at].number == number;
    *readable = known ? c->segments[at].size : 0;
    if (*readable >= least)
        return TANSU_OK;
    *readable = log_capacity(c->db->log, number);
    if (known || *readable == 0) {
        if (known)
            c->segments[at].size = *readable;
        return TANSU_OK;
    }
    if (!ARRAY_RESERVE(c->segments, c->segment_count, c->segment_capacity, 1))
        return error_memory(error);
    verify_segment *place = c->segments + at;
    memmove(place + 1, place, (c->segment_count - at) * sizeof *place);
    *place = (verify_segment){number, *readable};
    c->segment_count++;
    return TANSU_OK;
}

/* record_at -- the record at a location if it is one of that record id; otherwise NULL and what is
 * wrong. */
static tansu_status record_at(verification *c, log_location location, uint64_t where,
                              const record_header **record, const char **fault,
                              tansu_error *error) {
    uint32_t number = (uint32_t)(location >> 32);
    uint64_t offset = (uint32_t)location & LOCATION_MASK, readable;
    *record = NULL;
    *fault = NULL;
    tansu_status status = readable_bytes(c, number, offset + RECORD_SIZE_LEAST, &readable, error);
    if (status != TANSU_OK)
        return status;
    /* A link to an older version may lead to a segment that compaction has replaced and not removed
     * yet. */
    bool outside = readable == 0 && log_has_segment(c->db->log, number);
    if (readable == 0 && !outside)
        *fault = "lies in a segment that does not exist";
    else if (!outside && (offset < SEGMENT_HEADER_SIZE || offset + RECORD_SIZE_LEAST > readable))
        *fault = "lies outside its segment";
    if (*fault != NULL)
        return TANSU_OK;
    uint64_t room;
    const record_header *r = log_record(c->db->log, &c->pins, location, &room);
    /* The head segment may have grown since. */
    if (!outside && r->size > readable - offset) {
        status = readable_bytes(c, number, offset + r->size, &readable, error);
        if (status != TANSU_OK)
            return status;
    }
    if (r->where != where)
        *fault = "leads to a record of another document";
    else if (r->type != ((location & LOCATION_DELETED) != 0 ? RECORD_DELETE : RECORD_PUT))
        *fault = "leads to a record of another type";
    else if ((!outside && r->size > readable - offset) || r->size > room ||
             r->size < (uint64_t)record_front(r) + 5)
        *fault = "leads to a record of an invalid size";
    else
        *record = r;
    return TANSU_OK;
}

tansu_status verify_resolve(verification *c, const collection_state *state, uint64_t rid,
                            uint64_t word, verify_resolved *resolved, tansu_error *error) {
    *resolved = (verify_resolved){.location = word};
    uint64_t newer = UINT64_MAX;
    while (resolved->location != 0) {
        const record_header *record;
        tansu_status status = record_at(c, resolved->location, record_where(state->id, rid),
                                        &record, &resolved->fault, error);
        if (status != TANSU_OK || record == NULL)
            return status;
        uint64_t from = record_visible_from(record);
        if (from >= newer) {
            resolved->fault = "leads back to a newer version";
            return TANSU_OK;
        }
        if (from <= c->v->sequence) {
            resolved->record = record;
            return TANSU_OK;
        }
        newer = from;
        resolved->location = record_previous(record);
    }
    return TANSU_OK;
}
