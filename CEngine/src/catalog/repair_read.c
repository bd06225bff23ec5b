/*
 * catalog/repair_read.c -- single records out of the segments of a damaged database.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/repair_parts.h"

#include <fcntl.h>
#include <stdlib.h>

/* read_bytes -- so many bytes from a place on. */
static bool read_bytes(repair_reader *reader, log_place place, size_t size) {
    const fs *calls = reader->r->calls;
    uint32_t number = repair_number(place);
    off_t offset = (off_t)repair_offset(place);
    if (reader->fd < 0 || reader->number != number) {
        repair_reader_end(&(repair_reader){.r = reader->r, .fd = reader->fd});
        char *path = repair_path(reader->r, number);
        reader->fd = path == NULL ? -1 : calls->open(path, O_RDONLY, 0);
        reader->number = number;
        free(path);
    }
    size_t done = 0;
    while (reader->fd >= 0 && done < size) {
        ssize_t got =
            calls->read(reader->fd, reader->record.data + done, size - done, offset + (off_t)done);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    reader->record.size = done;
    return done == size;
}

bool repair_read(repair_reader *reader, log_place place, const record_header **record,
                 tansu_status *status, tansu_error *error) {
    *status = TANSU_OK;
    *record = NULL;
    reader->record.size = 0;
    if (!buffer_reserve(&reader->record, RECORD_HEADER_SIZE)) {
        *status = error_memory(error);
        return false;
    }
    if (!read_bytes(reader, place, RECORD_HEADER_SIZE))
        return false;
    uint32_t size = ((const record_header *)(const void *)reader->record.data)->size;
    /* The largest that walk_record() could accept. */
    if (size > RECORD_HEADER_SIZE + UINT16_MAX * 8u + TANSU_MAX_DOCUMENT_SIZE + 8u)
        return false;
    reader->record.size = 0;
    if (!buffer_reserve(&reader->record, size)) {
        *status = error_memory(error);
        return false;
    }
    if (!read_bytes(reader, place, size))
        return false;
    *record = (const record_header *)(const void *)reader->record.data;
    return walk_record(*record, size, 0) == NULL;
}

void repair_reader_end(repair_reader *reader) {
    if (reader->fd >= 0)
        reader->r->calls->close(reader->fd);
    tansu_buffer_free(&reader->record);
    reader->fd = -1;
}
