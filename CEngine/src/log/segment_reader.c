/*
 * log/segment_reader.c -- reading a segment's file with read().
 */
#include "log/segment_reader.h"

#include "log/scan.h"
#include "log/sealed_segment.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* So much is read at a time; a larger frame, in one piece. */
#define WINDOW (1024u * 1024u)

/* failed -- the error for a call on the segment's file. */
static tansu_status failed(const log_reader *r, const char *what, int number, tansu_error *error) {
    char name[32];
    segment_name(r->number, name);
    return error_errno(error, name, what, number);
}

/* release -- closes the file. */
static void release(log_reader *r) {
    if (r->l != NULL && r->fd >= 0)
        r->l->calls->close(r->fd);
    r->fd = -1;
    r->size = 0;
}

tansu_status reader_open(log_reader *r, log *l, uint32_t number, const uint8_t *mapped,
                         uint64_t end, tansu_error *error) {
    release(r);
    r->l = l;
    r->number = number;
    r->end = end;
    uint64_t room;
    const uint8_t *memory = log_memory(log_entry(l, number), &room);
    r->compressed = log_compressed(memory);
    r->start = 0;
    /* The form of a segment of an encrypted database may have changed. */
    bool image = sealed_log(l) && r->compressed == NULL;
    bool in_memory = l->folder == NULL || l->concurrent || image;
    r->mapped = !in_memory || r->compressed != NULL ? NULL : image ? memory : mapped;
    if (in_memory)
        return TANSU_OK;
    char *path = segment_file(l->folder, number);
    if (path == NULL)
        return error_memory(error);
    r->fd = l->calls->open(l->calls, path, O_RDONLY, 0);
    int problem = errno;
    free(path);
    return r->fd < 0 ? failed(r, "open", problem, error) : TANSU_OK;
}

void reader_close(log_reader *r) {
    release(r);
    free(r->window);
    tansu_buffer_free(&r->stored);
    *r = (log_reader){0};
}

/* enlarge -- capacity for a window of that size. */
static bool enlarge(log_reader *r, uint64_t size) {
    if (size <= r->capacity)
        return true;
    uint8_t *window = realloc(r->window, size);
    if (window == NULL)
        return false;
    r->window = window;
    r->capacity = size;
    return true;
}

/* read_some -- reads at least `least` bytes of the file, and `most` at most. */
static tansu_status read_some(const log_reader *r, uint8_t *bytes, uint64_t offset, uint64_t least,
                              uint64_t most, uint64_t *got, tansu_error *error) {
    for (*got = 0; *got < least;) {
        errno = 0;
        ssize_t n =
            r->l->calls->read(r->fd, bytes + *got, (size_t)(most - *got), (off_t)(offset + *got));
        if (n <= 0)
            return failed(r, "read", n == 0 || errno == 0 ? EIO : errno, error);
        *got += (uint64_t)n;
    }
    return TANSU_OK;
}

/* read_block -- a block of a compressed segment as it is stored. */
static tansu_status read_block(log_reader *r, uint32_t block, const uint8_t **stored,
                               tansu_error *error) {
    const compressed_segment *s = r->compressed;
    uint64_t size = compressed_stored(s, block), at = (uint64_t)s->table[block].position * 8, got;
    *stored = s->file + at;
    if (r->fd < 0)
        return TANSU_OK;
    r->stored.size = 0;
    if (!buffer_reserve(&r->stored, size))
        return error_memory(error);
    *stored = r->stored.data;
    return read_some(r, r->stored.data, at, size, size, &got, error);
}

/* read_header -- what the image of a segment that is read by blocks begins with. */
static tansu_status read_header(const log_reader *r, segment_header *header, tansu_error *error) {
    uint64_t faults = guard_faults(&r->l->tally), got;
    if (r->fd < 0) {
        *header = segment_image_header(r->compressed);
        return guard_faults(&r->l->tally) == faults ? TANSU_OK : log_read_error(r->l, error);
    }
    segment_header stored;
    tansu_status status =
        read_some(r, (uint8_t *)&stored, 0, sizeof stored, sizeof stored, &got, error);
    if (status == TANSU_OK)
        *header = segment_header_plain(&stored);
    return status;
}

/* fill_blocks -- fill() for a compressed segment: whole blocks. */
static tansu_status fill_blocks(log_reader *r, uint64_t offset, uint64_t size, uint64_t want,
                                tansu_error *error) {
    const compressed_segment *s = r->compressed;
    uint32_t first = compressed_find(s, offset), end = first;
    r->start = s->table[first].offset;
    while (end < s->count && s->table[end].offset < offset + want)
        end++;
    if (!enlarge(r, s->table[end].offset - r->start))
        return error_memory(error);
    for (uint32_t i = first; i < end; i++) {
        const uint8_t *stored;
        uint64_t faults = guard_faults(&r->l->tally);
        tansu_status status = read_block(r, i, &stored, error);
        if (status != TANSU_OK)
            return status;
        if (!compressed_decode(s, i, stored, false, r->window + r->size)) {
            if (guard_faults(&r->l->tally) != faults)
                return log_read_error(r->l, error);
            /* What lies before may be all that is asked for. */
            return r->start + r->size >= offset + size ? TANSU_OK : compressed_corrupt(s, i, error);
        }
        r->size += compressed_size(s, i);
    }
    return TANSU_OK;
}

/* fill -- reads at least that many bytes from an offset on. */
static tansu_status fill(log_reader *r, uint64_t offset, uint64_t size, tansu_error *error) {
    uint64_t want = size < WINDOW ? WINDOW : size;
    if (want > r->end - offset)
        want = r->end - offset;
    r->size = 0;
    if (r->compressed != NULL && offset >= SEGMENT_HEADER_SIZE)
        return fill_blocks(r, offset, size, want, error);
    if (r->compressed != NULL) /* only the header of the image is no block */
        want = SEGMENT_HEADER_SIZE;
    if (!enlarge(r, want))
        return error_memory(error);
    r->start = offset;
    if (r->compressed != NULL) {
        segment_header header;
        tansu_status status = read_header(r, &header, error);
        if (status != TANSU_OK)
            return status;
        memcpy(r->window, (const uint8_t *)&header + offset, want - offset);
        r->size = want - offset;
        return TANSU_OK;
    }
    return read_some(r, r->window, offset, size, want, &r->size, error);
}

tansu_status reader_at(log_reader *r, uint64_t offset, uint64_t size, const uint8_t **bytes,
                       tansu_error *error) {
    if (r->mapped != NULL) {
        *bytes = r->mapped + offset;
        return TANSU_OK;
    }
    *bytes = NULL;
    if (offset < r->start || offset + size > r->start + r->size) {
        tansu_status status = fill(r, offset, size, error);
        if (status != TANSU_OK)
            return status;
    }
    *bytes = r->window + (offset - r->start);
    return TANSU_OK;
}

tansu_status reader_frame(log_reader *r, uint64_t offset, const frame_header **frame,
                          tansu_error *error) {
    const uint8_t *bytes;
    *frame = NULL;
    if (offset % 8 != 0 || offset > r->end || r->end - offset < FRAME_HEADER_SIZE)
        return TANSU_OK;
    tansu_status status = reader_at(r, offset, FRAME_HEADER_SIZE, &bytes, error);
    if (status != TANSU_OK)
        return status;
    uint32_t magic = load_u32(bytes), size = load_u32(bytes + offsetof(frame_header, size));
    if (magic != FRAME_MAGIC || size < FRAME_HEADER_SIZE || size > r->end - offset)
        return TANSU_OK;
    status = reader_at(r, offset, size, &bytes, error);
    if (status == TANSU_OK)
        *frame = scan_frame(r->l->crc_seed, bytes, size, 0);
    return status;
}

/* ---- All of a segment ---- */

/* decompress -- the image of a compressed segment. */
static tansu_status decompress(const log *l, const compressed_segment *s, bool lenient,
                               uint8_t *image, tansu_error *error) {
    uint64_t faults = guard_faults(&l->tally);
    segment_header header = segment_image_header(s);
    memcpy(image, &header, sizeof header);
    if (!lenient && guard_faults(&l->tally) != faults)
        return log_read_error(l, error);
    for (uint32_t i = 0; i < s->count; i++) {
        uint8_t *out = image + s->table[i].offset;
        if (compressed_decode(s, i, s->file + (uint64_t)s->table[i].position * 8, false, out))
            continue;
        if (guard_faults(&l->tally) != faults)
            return log_read_error(l, error);
        if (!lenient)
            return compressed_corrupt(s, i, error);
        memset(out, 0, compressed_size(s, i));
    }
    return TANSU_OK;
}

tansu_status image_open(log *l, uint32_t number, const uint8_t *mapped, bool lenient,
                        segment_image *image, tansu_error *error) {
    uint64_t room;
    const uint8_t *memory = log_memory(log_entry(l, number), &room);
    const compressed_segment *s = log_compressed(memory);
    /* That of a segment of an encrypted database may have come into memory meanwhile. */
    *image = (segment_image){.bytes = sealed_log(l) && s == NULL ? memory : mapped};
    if (s == NULL)
        return TANSU_OK;
    image->owned = malloc((size_t)s->end);
    if (image->owned == NULL)
        return error_memory(error);
    image->bytes = image->owned;
    tansu_status status = decompress(l, s, lenient, image->owned, error);
    if (status != TANSU_OK)
        image_close(image);
    return status;
}

void image_close(segment_image *image) {
    free(image->owned);
    *image = (segment_image){0};
}

/* ---- Copying the log's bytes, segment by segment, for a backup ---- */

/* A segment that is being copied. */
typedef struct copying {
    const log_extent *e;
    const log_copy_target *target;
    log_reader reader;
    uint8_t *buffer; /* small frames, handed over together */
    uint64_t buffered;
} copying;

/* damage -- the error for bytes that are invalid. */
static tansu_status damage(const log_extent *e, uint64_t offset, uint64_t sequence,
                           tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu is corrupt at \"%s\", offset %llu; verify the database and "
                    "salvage what is readable",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}

/* flush -- hands over what is buffered. */
static tansu_status flush(copying *c, tansu_error *error) {
    uint64_t size = c->buffered;
    c->buffered = 0;
    return size == 0 ? TANSU_OK
                     : c->target->bytes(c->target->context, c->buffer, (size_t)size, error);
}

/* put -- hands bytes over, in steps. */
static tansu_status put(copying *c, const uint8_t *bytes, uint64_t size, tansu_error *error) {
    tansu_status status = c->buffered + size > LOG_COPY_STEP ? flush(c, error) : TANSU_OK;
    while (status == TANSU_OK && size > LOG_COPY_STEP) {
        status = c->target->bytes(c->target->context, bytes, LOG_COPY_STEP, error);
        bytes += LOG_COPY_STEP;
        size -= LOG_COPY_STEP;
    }
    if (status == TANSU_OK) {
        memcpy(c->buffer + c->buffered, bytes, size);
        c->buffered += size;
    }
    return status;
}

/* copy_header -- a segment's header, if it is valid and is of this database and number. */
static tansu_status copy_header(copying *c, const log *l, tansu_error *error) {
    const uint8_t *bytes;
    tansu_status status = reader_at(&c->reader, 0, SEGMENT_HEADER_SIZE, &bytes, error);
    if (status != TANSU_OK)
        return status;
    segment_header header;
    memcpy(&header, bytes, sizeof header);
    if (!scan_header(&header) || header.number != c->e->number ||
        memcmp(header.uuid, l->uuid, sizeof header.uuid) != 0)
        return damage(c->e, 0, c->e->first, error);
    status = c->target->begin(c->target->context, c->e, error);
    return status == TANSU_OK ? put(c, bytes, SEGMENT_HEADER_SIZE, error) : status;
}

/* first_fault -- the offset in a frame of the first record that is not valid; 0: all are. */
static uint64_t first_fault(const frame_header *frame) {
    for (uint64_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        if (scan_record(record, frame->size - at, frame->sequence) != NULL)
            return at;
        at += record_step(record);
    }
    return 0;
}

/* copy_frames -- a segment's frames and their records, checked. */
static tansu_status copy_frames(copying *c, tansu_error *error) {
    const log_extent *e = c->e;
    uint64_t at = SEGMENT_HEADER_SIZE, covered = e->first - 1;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (e->compacted ? at < e->end : covered < e->last)) {
        const frame_header *frame;
        status = reader_frame(&c->reader, at, &frame, error);
        if (status != TANSU_OK)
            return status;
        if (frame == NULL || frame->sequence <= covered || frame->sequence > e->last ||
            (!e->compacted && frame->sequence != covered + 1))
            return damage(e, at, covered + 1, error);
        uint64_t fault = first_fault(frame);
        if (fault != 0)
            return damage(e, at + fault, frame->sequence, error);
        at += frame->size;
        covered = frame->sequence;
        status = put(c, (const uint8_t *)frame, frame->size, error);
    }
    return status == TANSU_OK ? flush(c, error) : status;
}

tansu_status log_copy(log *l, uint64_t sequence, uint64_t position, const log_copy_target *target,
                      tansu_error *error) {
    log_extent *list = NULL;
    uint32_t count = 0;
    if (sequence == 0)
        return TANSU_OK;
    tansu_status status = log_extents(l, sequence, position, &list, &count, error);
    copying c = {.target = target, .buffer = malloc(LOG_COPY_STEP)};
    if (status == TANSU_OK && c.buffer == NULL)
        status = error_memory(error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++) {
        c.e = &list[i];
        status = reader_open(&c.reader, l, c.e->number, c.e->bytes, c.e->end, error);
        if (status == TANSU_OK)
            status = copy_header(&c, l, error);
        if (status == TANSU_OK)
            status = copy_frames(&c, error);
        if (status == TANSU_OK)
            status = target->end(target->context, error);
    }
    reader_close(&c.reader);
    free(c.buffer);
    free(list);
    return status;
}
