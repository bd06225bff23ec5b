/*
 * check/verify/verify.c -- verifying everything that is stored: the order of the phases, the block
 * store's own records, and the report.
 */
#include "check/verify/verify.h"

#include "check/verify/verify_collection.h"
#include "check/verify/verify_log.h"
#include "compact/compact.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/handle.h"
#include "store/index_files.h"
#include "store/maintenance.h"
#include "util/buffer.h"
#include "util/error.h"

/* ---- The block store's own records ---- */

/* check_stored -- one record of the block store; a record that does not exist is no problem here.
 * */
static tansu_status check_stored(verification *c, enum block_store_kind kind, uint64_t number,
                                 const char *collection, tansu_error *error) {
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_error found;
    pthread_mutex_lock(&c->db->checkpoint_mutex);
    tansu_status status =
        c->db->bs == NULL ? TANSU_OK : block_store_get(c->db->bs, kind, number, &record, &found);
    pthread_mutex_unlock(&c->db->checkpoint_mutex);
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
