/*
 * check/verify/verify_state.c -- progress of a verification, and the way from a record id to its
 * record.
 */
#include "check/verify/verify_state.h"

#include "store/database_internal.h"
#include "store/handle.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/error.h"

#include <stdlib.h>

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
