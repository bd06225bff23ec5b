/*
 * check/repair/repair_read.c -- reading the segments of a corrupt database.
 */
#include "check/repair/repair_internal.h"
#include "log/scan.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of one read, and of one read after that has failed. */
#define READ_STEP ((size_t)1 << 20)
#define READ_LEAST ((size_t)4096)

/* ---- Segments ---- */

void repair_read_bytes(repair *r, const repair_segment *s, int fd, uint8_t *bytes, uint64_t offset,
                       size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = r->calls->read(fd, bytes + done, size - done, (off_t)(offset + done));
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got == 0) {
            memset(bytes + done, 0, size - done);
            return;
        }
        size_t step = READ_LEAST - (offset + done) % READ_LEAST;
        if (step > size - done)
            step = size - done;
        got = r->calls->read(fd, bytes + done, step, (off_t)(offset + done));
        if (got != (ssize_t)step) {
            char name[64];
            repair_segment_name(r, s->number, name);
            problem_location where = {
                .file = name, .offset = (int64_t)(offset + done), .size = (int64_t)step};
            problem_list_add(&r->problems, &where, "Can't read %zu bytes of \"%s\" at offset %llu",
                             step, name, (unsigned long long)(offset + done));
            memset(bytes + done, 0, step);
        }
        done += step;
    }
}

tansu_status repair_read_segment(repair *r, const repair_segment *s, uint64_t from, uint64_t size,
                                 uint8_t **bytes, tansu_error *error) {
    char name[64];
    repair_segment_name(r, s->number, name);
    uint8_t *made = malloc((size_t)size + 8);
    tansu_status status = made == NULL ? error_memory(error) : TANSU_OK;
    int fd = status == TANSU_OK ? repair_segment_open(r, s->number) : -1;
    if (status == TANSU_OK && fd < 0)
        status = error_errno(error, name, "open", errno);
    if (status == TANSU_OK && s->image != NULL) {
        repair_block_reader reader = {.r = r, .s = s, .fd = fd};
        status = repair_image_read(&reader, from, size, made, error);
        repair_block_reader_end(&reader);
        size = 0;
    }
    for (uint64_t at = 0; status == TANSU_OK && at < size; at += READ_STEP)
        repair_read_bytes(r, s, fd, made + at, from + at,
                          size - at < READ_STEP ? (size_t)(size - at) : READ_STEP);
    if (fd >= 0)
        r->calls->close(fd);
    if (status == TANSU_OK)
        *bytes = made;
    else
        free(made);
    return status;
}

/* ---- Records ---- */

/* move_to -- opens the segment of that number; false when that fails. */
static bool move_to(repair_block_reader *blocks, uint32_t number) {
    if (blocks->s == NULL || blocks->s->number != number) {
        if (blocks->fd >= 0)
            blocks->r->calls->close(blocks->fd);
        blocks->block = NULL;
        blocks->s = repair_segment_find(blocks->r, number);
        blocks->fd = repair_segment_open(blocks->r, number);
    }
    return blocks->s != NULL && blocks->fd >= 0;
}

/* read_bytes -- `size` bytes from a location on, into reader->record; *there: it has all. Errors:
 * MEMORY. */
static tansu_status read_bytes(repair_reader *reader, log_location location, size_t size,
                               bool *there, tansu_error *error) {
    uint64_t offset = repair_offset(location);
    size_t done = 0;
    *there = false;
    if (!move_to(&reader->blocks, repair_number(location)))
        return TANSU_OK;
    const repair_segment *s = reader->blocks.s;
    if (s->image != NULL) {
        if (offset > s->size || size > s->size - offset)
            return TANSU_OK;
        tansu_status status =
            repair_image_read(&reader->blocks, offset, size, reader->record.data, error);
        *there = status == TANSU_OK;
        reader->record.size = *there ? size : 0;
        return status;
    }
    while (done < size) {
        ssize_t got = reader->blocks.r->calls->read(reader->blocks.fd, reader->record.data + done,
                                                    size - done, (off_t)(offset + done));
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    reader->record.size = done;
    *there = done == size;
    return TANSU_OK;
}

bool repair_read_record(repair_reader *reader, log_location location, const record_header **record,
                        tansu_status *status, tansu_error *error) {
    bool there;
    *record = NULL;
    reader->record.size = 0;
    *status = buffer_reserve(&reader->record, RECORD_SIZE_LEAST)
                  ? read_bytes(reader, location, RECORD_SIZE_LEAST, &there, error)
                  : error_memory(error);
    if (*status != TANSU_OK || !there)
        return false;
    uint32_t size = ((const record_header *)(const void *)reader->record.data)->size;
    /* The largest that scan_record() could accept. */
    if (size > RECORD_HEADER_SIZE + UINT16_MAX * 8u + TANSU_MAX_DOCUMENT_SIZE + 8u)
        return false;
    reader->record.size = 0;
    *status = buffer_reserve(&reader->record, size)
                  ? read_bytes(reader, location, size, &there, error)
                  : error_memory(error);
    if (*status != TANSU_OK || !there)
        return false;
    *record = (const record_header *)(const void *)reader->record.data;
    return scan_record(*record, size, 0) == NULL;
}

void repair_reader_end(repair_reader *reader) {
    if (reader->blocks.fd >= 0)
        reader->blocks.r->calls->close(reader->blocks.fd);
    repair_block_reader_end(&reader->blocks);
    tansu_buffer_free(&reader->record);
    reader->blocks.fd = -1;
}

/* ---- Commits ---- */

/* The low bits tell so many commits apart; half of them are a mark's. */
#define COMMITS_APART ((uint64_t)1 << 16)

/* mark_add -- adds a mark. */
static bool mark_add(repair *r, log_location location, uint64_t commit) {
    if (!ARRAY_RESERVE(r->marks, r->mark_count, r->mark_capacity, 1))
        return false;
    r->marks[r->mark_count++] = (repair_mark){.location = location, .commit = commit};
    return true;
}

bool repair_mark_frame(repair *r, log_location location, uint64_t commit, bool begins) {
    const repair_mark *last = r->mark_count == 0 ? NULL : &r->marks[r->mark_count - 1];
    return (!begins && commit - last->commit < COMMITS_APART / 2) || mark_add(r, location, commit);
}

/* by_location -- for sorting them. */
static int by_location(const void *a, const void *b) {
    const repair_mark *x = a, *y = b;
    return x->location < y->location ? -1 : x->location > y->location;
}

tansu_status repair_mark_gaps(repair *r, tansu_error *error) {
    for (size_t i = 0; i < r->gap_count; i++) {
        const repair_gap *gap = &r->gaps[i];
        uint64_t least = gap->low + 1;
        /* Nothing is known of what comes before a gap at the beginning of a segment without a
         * header. */
        if (gap->low == 0 && gap->high != UINT64_MAX && gap->high > COMMITS_APART)
            least = gap->high - COMMITS_APART;
        if (!mark_add(r, (uint64_t)r->segments[gap->segment].number << 32 | gap->from, least))
            return error_memory(error);
    }
    if (r->mark_count > 1)
        qsort(r->marks, r->mark_count, sizeof *r->marks, by_location);
    return TANSU_OK;
}

uint64_t repair_commit(const repair *r, log_location location, const record_header *record) {
    uint64_t at = (uint64_t)repair_number(location) << 32 | repair_offset(location);
    size_t next = BISECT(r->marks, r->mark_count, repair_mark, location, at + 1);
    bool marked = next > 0 && r->marks[next - 1].location >> 32 == at >> 32;
    return record_commit(record, marked ? r->marks[next - 1].commit : 1);
}
