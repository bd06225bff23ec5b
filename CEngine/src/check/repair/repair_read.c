/*
 * check/repair/repair_read.c -- reading the segments of a corrupt database.
 */
#include "check/repair/repair_internal.h"
#include "log/compressed/codec.h"
#include "log/compressed/compressed_segment.h"
#include "log/scan.h"
#include "util/array.h"
#include "util/bisect.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <zlib.h>

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

/* read_bytes -- `size` bytes from a location on, into reader->record. */
static bool read_bytes(repair_reader *reader, log_location location, size_t size) {
    const fs *calls = reader->r->calls;
    uint32_t number = repair_number(location);
    off_t offset = (off_t)repair_offset(location);
    if (reader->fd < 0 || reader->number != number) {
        repair_reader_end(&(repair_reader){.r = reader->r, .fd = reader->fd});
        reader->fd = repair_segment_open(reader->r, number);
        reader->number = number;
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

bool repair_read_record(repair_reader *reader, log_location location, const record_header **record,
                        tansu_status *status, tansu_error *error) {
    *status = TANSU_OK;
    *record = NULL;
    reader->record.size = 0;
    if (!buffer_reserve(&reader->record, RECORD_SIZE_LEAST)) {
        *status = error_memory(error);
        return false;
    }
    if (!read_bytes(reader, location, RECORD_SIZE_LEAST))
        return false;
    uint32_t size = ((const record_header *)(const void *)reader->record.data)->size;
    /* The largest that scan_record() could accept. */
    if (size > RECORD_HEADER_SIZE + UINT16_MAX * 8u + TANSU_MAX_DOCUMENT_SIZE + 8u)
        return false;
    reader->record.size = 0;
    if (!buffer_reserve(&reader->record, size)) {
        *status = error_memory(error);
        return false;
    }
    if (!read_bytes(reader, location, size))
        return false;
    *record = (const record_header *)(const void *)reader->record.data;
    return scan_record(*record, size, 0) == NULL;
}

void repair_reader_end(repair_reader *reader) {
    if (reader->fd >= 0)
        reader->r->calls->close(reader->fd);
    tansu_buffer_free(&reader->record);
    reader->fd = -1;
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

/* ---- Decompressing what is intact of a compressed segment ---- */

/*
 * The table of the segment is not needed: each block has a header that says where it belongs. So
 * blocks are searched for from the first position on, and after each gap. A segment whose header is
 * corrupt is a compressed one if it has a valid block.
 */

typedef struct making {
    repair *r;
    repair_segment *s;
    const uint8_t *bytes; /* of the file */
    uint32_t crc_seed;
    uint64_t end;  /* of the image, as far as is known */
    uint64_t next; /* where the next block belongs in the image */
    uint8_t *out;  /* a block */
    size_t capacity;
} making;

/* note_gap -- a part of the image is lost; the file's bytes from `position` on are no block. */
static void note_gap(making *m, uint64_t position, uint64_t to) {
    char name[64];
    repair_segment_name(m->r, m->s->number, name);
    problem_location where = {.file = name, .offset = (int64_t)position, .size = -1};
    problem_list_add(&m->r->problems, &where,
                     "Blocks of the compressed segment \"%s\" are corrupt at offset %llu: %llu "
                     "bytes of its records are lost",
                     name, (unsigned long long)position, (unsigned long long)(to - m->next));
}

/* write_part -- bytes at an offset of the image. */
static tansu_status write_part(const making *m, const void *bytes, uint64_t size, uint64_t offset,
                               tansu_error *error) {
    return fs_write_all(m->r->calls, m->s->image, bytes, size, offset) == 0
               ? TANSU_OK
               : error_errno(error, "temporary file", "write", errno);
}

/* put_block -- decompresses a valid block into the image. One whose bytes are not a block's all the
 * same is left out. */
static tansu_status put_block(making *m, const block_header *header, uint64_t position,
                              tansu_error *error) {
    if (!codec_available((enum codec)header->codec))
        return codec_missing("The segment", (enum codec)header->codec, error);
    if (header->size > m->capacity) {
        uint8_t *out = realloc(m->out, header->size);
        if (out == NULL)
            return error_memory(error);
        m->out = out;
        m->capacity = header->size;
    }
    const uint8_t *stored = m->bytes + position + BLOCK_HEADER_SIZE;
    if (header->offset < m->next ||
        !codec_decompress((enum codec)header->codec, stored, header->stored, m->out, header->size))
        return TANSU_OK;
    if (header->offset > m->next)
        note_gap(m, position, header->offset);
    m->next = (uint64_t)header->offset + header->size;
    return write_part(m, m->out, header->size, header->offset, error);
}

/* put_blocks -- all blocks that are intact. */
static tansu_status put_blocks(making *m, tansu_error *error) {
    uint64_t position = COMPRESSED_BLOCKS, last = position;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && position < m->s->size) {
        const block_header *header = block_valid(m->crc_seed, m->bytes, m->s->size, position);
        if (header == NULL) {
            position += 8;
            continue;
        }
        status = put_block(m, header, position, error);
        position += align8(BLOCK_HEADER_SIZE + (uint64_t)header->stored);
        last = position;
    }
    if (status == TANSU_OK && m->next < m->end)
        note_gap(m, last, m->end);
    if (m->next > m->end)
        m->end = m->next;
    return status;
}

/* seed_of -- of the checksums of a database. */
static uint32_t seed_of(const uint8_t uuid[16]) {
    return (uint32_t)crc32_z(0, uuid, 16);
}

bool repair_image_block(const uint8_t *bytes, uint64_t size, const uint8_t uuid[16]) {
    uint32_t seed = seed_of(uuid);
    uint64_t position = COMPRESSED_BLOCKS;
    while (position < size && block_valid(seed, bytes, size, position) == NULL)
        position += 8;
    /* A frame may hold bytes that are a block's, and a block the frames of what it stores. */
    return position < size && scan_find(seed, bytes, position, SEGMENT_HEADER_SIZE, 1) >= position;
}

tansu_status repair_image_make(repair *r, repair_segment *s, int fd, const uint8_t uuid[16],
                               segment_header *header, tansu_error *error) {
    bool whole = scan_header(header);
    if (whole && segment_kind_of(header) != SEGMENT_COMPRESSED)
        return TANSU_OK;
    uint8_t *bytes = malloc((size_t)s->size + 8);
    if (bytes == NULL)
        return error_memory(error);
    repair_read_bytes(r, s, fd, bytes, 0, (size_t)s->size);
    if (!whole && !repair_image_block(bytes, s->size, uuid)) {
        free(bytes);
        return TANSU_OK;
    }
    making m = {.r = r,
                .s = s,
                .bytes = bytes,
                .crc_seed = seed_of(uuid),
                .end = SEGMENT_HEADER_SIZE,
                .next = SEGMENT_HEADER_SIZE};
    if (whole && header->end > m.end && header->end <= UINT32_MAX) {
        m.end = header->end;
        header->kind = SEGMENT_COMPACTED;
        header->crc = 0;
        header->crc = (uint32_t)crc32(0, (const Bytef *)header, sizeof *header);
    }
    tansu_status status = fs_open_temporary(r->calls, r->temporary, &s->image, error);
    if (status == TANSU_OK)
        status = write_part(&m, header, sizeof *header, 0, error);
    if (status == TANSU_OK)
        status = put_blocks(&m, error);
    if (status == TANSU_OK && r->calls->truncate(s->image, m.end) != 0)
        status = error_errno(error, "temporary file", "extend", errno);
    s->size = m.end;
    free(m.out);
    free(bytes);
    return status;
}
