/*
 * log/rewrite.c -- rewriting a run of segments.
 *
 * The file is written under a temporary name and renamed when it is complete on the disk: a file
 * with a segment's name has no torn end.
 */
#include "log/rewrite.h"

#include "log/compressed/compressed_segment.h"
#include "log/scan.h"
#include "log/sealed_segment.h"
#include "log/segment_reader.h"
#include "util/array.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define OUT_BUFFER (256u * 1024u)

struct log_compaction {
    log *l;
    segment **run;
    uint32_t count;
    uint64_t first;
    uint64_t last;
    uint64_t synced; /* without the commits up to here the new segment lacks documents */

    /* Where reading is. */
    uint32_t at;
    uint64_t offset;
    uint64_t expected; /* at least this is the next frame's number */
    log_reader reader; /* of the segment at `at` */
    bool reading;      /* it is open */

    /* What is written. */
    segment *made;
    char *unfinished; /* path; NULL in a memory store */
    bool named;       /* the file has its own name */
    uint8_t *buffer;
    uint64_t buffered;    /* bytes in it, which go before `written` */
    uint64_t written;     /* where the file ends, with what is buffered */
    block_writer *blocks; /* of a compressed segment: what is written of its image; or NULL */
    log_compaction_compresses compresses;
    void *context; /* of that */

    uint32_t *kept; /* offsets of records within the current frame */
    uint32_t kept_capacity;
};

uint32_t log_compact_number(const log_compaction *c) {
    return c->made->number;
}

uint64_t log_compact_first(const log_compaction *c) {
    return c->first;
}

tansu_status log_seal(log *l, tansu_error *error) {
    segment *fresh, *old = segment_head(l);
    l->urgent = true;
    tansu_status status = segment_create(l, l->appended + 1, 0, 0, &fresh, error);
    l->urgent = false;
    if (status == TANSU_OK && old != NULL && old->sealed != NULL)
        segment_seal(l, old);
    return status;
}

/* ---- Beginning ---- */

/* take_run -- finds the segments and the commits that they cover. */
static tansu_status take_run(log_compaction *c, const uint32_t *numbers, tansu_error *error) {
    log *l = c->l;
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    uint32_t index = segment_index(l, numbers[0]);
    if (index == UINT32_MAX || index + c->count >= l->active.count) {
        status =
            error_set(error, TANSU_E_INVALID_STATE, l->folder, "These segments can't be compacted");
    } else {
        memcpy(c->run, l->active.items + index, c->count * sizeof *c->run);
        c->first = c->run[0]->first;
        c->last = l->active.items[index + c->count]->first - 1;
    }
    pthread_mutex_unlock(&l->mutex);
    return status;
}

/* write_out -- bytes at an offset of the new file. */
static tansu_status write_out(log_compaction *c, const uint8_t *bytes, uint64_t size,
                              uint64_t offset, tansu_error *error) {
    if (fs_write_all(c->l->calls, c->made->fd, bytes, size, offset) != 0)
        return error_errno(error, c->unfinished, "write", errno);
    return TANSU_OK;
}

/* flush -- writes what is buffered. */
static tansu_status flush(log_compaction *c, tansu_error *error) {
    tansu_status status = write_out(c, c->buffer, c->buffered, c->written - c->buffered, error);
    if (status == TANSU_OK)
        c->buffered = 0;
    return status;
}

/* append -- appends bytes to the new file; a block_sink. */
static tansu_status append(void *context, const void *bytes, uint64_t size, tansu_error *error) {
    log_compaction *c = context;
    tansu_status status = TANSU_OK;
    if (c->buffered + size > OUT_BUFFER)
        status = flush(c, error);
    if (status == TANSU_OK && size > OUT_BUFFER) {
        status = write_out(c, bytes, size, c->written, error);
    } else if (status == TANSU_OK) {
        memcpy(c->buffer + c->buffered, bytes, size);
        c->buffered += size;
    }
    if (status == TANSU_OK)
        c->written += size;
    return status;
}

/* use_blocks -- writes blocks. */
static tansu_status use_blocks(log_compaction *c, enum codec codec, tansu_error *error) {
    bool sealed = sealed_log(c->l);
    c->blocks = block_writer_new(codec, c->l->crc_seed, append, c);
    if (c->blocks == NULL)
        return error_memory(error);
    c->written = sealed ? SEALED_BLOCKS : COMPRESSED_BLOCKS;
    return sealed ? block_writer_seal(c->blocks, c->l->keys, c->made->number, error) : TANSU_OK;
}

/* open_output -- the new segment's file, or memory. */
static tansu_status open_output(log_compaction *c, tansu_error *error) {
    log *l = c->l;
    segment *s = c->made;
    s->number = segment_next_number(l);
    s->first = c->first;
    s->last = c->last;
    s->used = c->written = SEGMENT_HEADER_SIZE;
    tansu_status status = segment_table(l, s->number, error);
    if (status != TANSU_OK)
        return status;
    if (l->folder == NULL) {
        s->mapped = SEGMENT_HEADER_SIZE;
        for (uint32_t i = 0; i < c->count; i++)
            s->mapped += c->run[i]->used;
        s->base = l->calls->map(-1, s->mapped, true);
        return s->base == NULL ? error_errno(error, NULL, "map", errno) : TANSU_OK;
    }
    c->buffer = malloc(OUT_BUFFER);
    c->unfinished = segment_unfinished_path(l, s->number);
    if (c->buffer == NULL || c->unfinished == NULL)
        return error_memory(error);
    s->fd = l->calls->open(l->calls, c->unfinished, O_RDWR | O_CREAT | O_TRUNC, FS_MODE);
    if (s->fd < 0)
        return error_errno(error, c->unfinished, "open", errno);
    return sealed_log(l) ? use_blocks(c, CODEC_NONE, error) : TANSU_OK;
}

tansu_status log_compact_begin(log *l, const uint32_t *numbers, uint32_t count, uint64_t synced,
                               log_compaction **result, tansu_error *error) {
    log_compaction *c = calloc(1, sizeof *c);
    if (c == NULL)
        return error_memory(error);
    c->l = l;
    c->synced = synced;
    c->count = count;
    c->run = malloc(count * sizeof *c->run);
    c->made = calloc(1, sizeof *c->made);
    tansu_status status = TANSU_OK;
    if (c->run == NULL || c->made == NULL) {
        status = error_memory(error);
    } else {
        c->made->fd = -1;
        status = take_run(c, numbers, error);
    }
    if (status == TANSU_OK)
        status = open_output(c, error);
    if (status != TANSU_OK) {
        log_compact_cancel(c);
        return status;
    }
    c->offset = SEGMENT_HEADER_SIZE;
    c->expected = c->first;
    *result = c;
    return TANSU_OK;
}

/* release -- frees everything but the new segment. */
static void release(log_compaction *c) {
    block_writer_free(c->blocks);
    reader_close(&c->reader);
    free(c->unfinished);
    free(c->buffer);
    free(c->kept);
    free(c->run);
    free(c);
}

void log_compact_cancel(log_compaction *c) {
    if (c == NULL)
        return;
    if (c->named)
        segment_unlink(c->l, c->made->number, NULL);
    else if (c->unfinished != NULL && c->made->fd >= 0)
        c->l->calls->unlink(c->l->calls, c->unfinished);
    segment_close(c->l, c->made);
    release(c);
}

/* ---- Copying ---- */

tansu_status log_compact_compress(log_compaction *c, enum codec codec,
                                  log_compaction_compresses compresses, void *context,
                                  tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (c->blocks == NULL)
        status = use_blocks(c, codec, error);
    else if (!block_writer_use(c->blocks, codec))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    c->compresses = compresses;
    c->context = context;
    return TANSU_OK;
}

/* put -- appends bytes to the new segment. */
static tansu_status put(log_compaction *c, const void *bytes, uint64_t size, tansu_error *error) {
    segment *s = c->made;
    tansu_status status = TANSU_OK;
    if (c->l->folder == NULL)
        memcpy(s->base + s->used, bytes, size);
    else
        status = append(c, bytes, size, error);
    if (status == TANSU_OK)
        s->used += size;
    return status;
}

/* put_record -- appends a record. */
static tansu_status put_record(log_compaction *c, const uint8_t *bytes, tansu_error *error) {
    const record_header *record = (const record_header *)(const void *)bytes;
    if (c->blocks == NULL)
        return put(c, bytes, record->size, error);
    bool wanted = c->compresses != NULL && c->compresses(c->context, record_collection(record));
    tansu_status status = block_writer_add(c->blocks, bytes, record->size, wanted, error);
    if (status == TANSU_OK)
        c->made->used += record->size;
    return status;
}

/* put_header -- appends the header of a frame. */
static tansu_status put_header(log_compaction *c, const frame_header *header, tansu_error *error) {
    if (c->blocks == NULL)
        return put(c, header, sizeof *header, error);
    tansu_status status = block_writer_add(c->blocks, header, sizeof *header, false, error);
    if (status == TANSU_OK)
        c->made->used += sizeof *header;
    return status;
}

/* note_kept -- remembers a record of the current frame. */
static bool note_kept(log_compaction *c, uint32_t n, uint32_t offset) {
    if (!ARRAY_RESERVE(c->kept, n, c->kept_capacity, 1))
        return false;
    c->kept[n] = offset;
    return true;
}

/* write_part -- a frame with those records alone that are kept. */
static tansu_status write_part(log_compaction *c, const frame_header *frame, uint32_t count,
                               uint64_t size, tansu_error *error) {
    const uint8_t *bytes = (const uint8_t *)frame;
    frame_header header = *frame;
    header.size = (uint32_t)size;
    header.count = count;
    if (header.synced < c->synced)
        header.synced = c->synced;
    uint32_t crc = checksum(c->l->crc_seed, (const uint8_t *)&header + 8, FRAME_HEADER_SIZE - 8);
    for (uint32_t i = 0; i < count; i++)
        crc = checksum(crc, bytes + c->kept[i], load_u32(bytes + c->kept[i]));
    header.crc = crc;
    tansu_status status = put_header(c, &header, error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++)
        status = put_record(c, bytes + c->kept[i], error);
    return status;
}

/* copy_frame -- what is kept of one frame. */
static tansu_status copy_frame(log_compaction *c, const segment *s, const frame_header *frame,
                               log_compaction_filter filter, void *context, tansu_error *error) {
    log_location from = (uint64_t)s->number << 32 | c->offset;
    log_location to = (uint64_t)c->made->number << 32 | c->made->used;
    uint64_t size = FRAME_HEADER_SIZE;
    uint32_t count = 0;
    for (uint32_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        bool keep = false;
        tansu_status status = filter(context, record, from + at, to + size, &keep, error);
        if (status == TANSU_OK && keep && !note_kept(c, count, at))
            status = error_memory(error);
        if (status != TANSU_OK)
            return status;
        count += keep;
        size += keep ? record->size : 0;
        at += record_step(record);
    }
    if (count == 0)
        return TANSU_OK;
    if (c->made->used + size > UINT32_MAX)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "A compacted segment would become too large");
    return count == frame->count && c->blocks == NULL ? put(c, frame, frame->size, error)
                                                      : write_part(c, frame, count, size, error);
}

/* next_frame -- the frame that is due; *frame NULL at the run's end. */
static tansu_status next_frame(log_compaction *c, const segment **from, const frame_header **frame,
                               tansu_error *error) {
    *frame = NULL;
    while (c->at < c->count) {
        const segment *s = c->run[c->at];
        uint64_t last = s->last != 0           ? s->last
                        : c->at + 1 < c->count ? c->run[c->at + 1]->first - 1
                                               : c->last;
        bool more = s->last != 0 ? c->offset < s->used : c->expected <= last;
        if (!more) {
            c->at++;
            c->reading = false;
            c->offset = SEGMENT_HEADER_SIZE;
            c->expected = last + 1;
            continue;
        }
        const frame_header *next;
        tansu_status status = TANSU_OK;
        if (!c->reading)
            status = reader_open(&c->reader, c->l, s->number, s->base, segment_room(s), error);
        c->reading = status == TANSU_OK;
        if (status == TANSU_OK)
            status = reader_frame(&c->reader, c->offset, &next, error);
        if (status != TANSU_OK)
            return status;
        if (next == NULL || next->sequence > last ||
            (s->last != 0 ? next->sequence < c->expected : next->sequence != c->expected))
            return frame_damaged_error(s->number, c->offset, c->expected, error);
        *from = s;
        *frame = next;
        return TANSU_OK;
    }
    return TANSU_OK;
}

tansu_status log_compact_step(log_compaction *c, uint64_t bytes, log_compaction_filter filter,
                              void *context, uint64_t *done, tansu_error *error) {
    uint64_t read = 0, began = c->written - c->buffered;
    while (read < bytes) {
        const segment *s = NULL;
        const frame_header *frame;
        tansu_status status = next_frame(c, &s, &frame, error);
        if (status == TANSU_OK && frame != NULL)
            status = copy_frame(c, s, frame, filter, context, error);
        if (status != TANSU_OK)
            return status;
        if (frame == NULL)
            return TANSU_DONE;
        c->offset += frame->size;
        c->expected = frame->sequence + 1;
        read += frame->size;
        *done += frame->size;
    }
    uint64_t end = c->written - c->buffered;
    if (c->made->fd >= 0 && end > began)
        c->l->calls->start_writeback(c->made->fd, began, end - began);
    return TANSU_OK;
}

/* ---- The end ---- */

/* sync_new_file -- the last bytes, the header, and the name. */
static tansu_status sync_new_file(log_compaction *c, const segment_header *header,
                                  tansu_error *error) {
    log *l = c->l;
    compressed_header blocks;
    tansu_status status = TANSU_OK;
    if (sealed_log(l))
        status = block_writer_finish_sealed(c->blocks, header, error);
    else if (c->blocks != NULL)
        status = block_writer_finish(c->blocks, &blocks, error);
    if (status == TANSU_OK)
        status = flush(c, error);
    if (status == TANSU_OK && c->blocks != NULL && !sealed_log(l))
        status = write_out(c, (const uint8_t *)&blocks, sizeof blocks, SEGMENT_HEADER_SIZE, error);
    if (status == TANSU_OK)
        status = write_out(c, (const uint8_t *)header, sizeof *header, 0, error);
    if (status != TANSU_OK)
        return status;
    if (l->calls->sync(c->made->fd, NULL, 0) != 0)
        return error_errno(error, c->unfinished, "sync", errno);
    char *path = segment_path(l, c->made->number);
    if (path == NULL)
        return error_memory(error);
    if (l->calls->rename(l->calls, c->unfinished, path) != 0)
        status = error_errno(error, path, "rename", errno);
    else
        c->named = true;
    if (status == TANSU_OK && l->calls->sync_folder(l->calls, l->folder) != 0)
        status = error_errno(error, l->folder, "sync", errno);
    free(path);
    return status;
}

tansu_status log_compact_finish(log_compaction *c, bool reduced, tansu_error *error) {
    log *l = c->l;
    segment *s = c->made;
    bool compressed = c->blocks != NULL && !sealed_log(l);
    uint16_t kind = compressed ? SEGMENT_COMPRESSED : SEGMENT_COMPACTED;
    for (uint32_t i = 0; i < c->count; i++)
        reduced = reduced || c->run[i]->reduced;
    s->reduced = reduced;
    segment_header header = segment_header_fill(l, s->number, c->first, c->last, s->used,
                                                reduced ? kind | SEGMENT_REDUCED : kind);
    if (l->folder == NULL) {
        s->allocated = s->used;
        memcpy(s->base, &header, sizeof header);
        return TANSU_OK;
    }
    tansu_status status = sync_new_file(c, &header, error);
    if (status != TANSU_OK)
        return status;
    s->allocated = c->written;
    s->mapped = segment_map_size(s->allocated);
    status = segment_map(l, s, false, error);
    if (status == TANSU_OK && c->blocks != NULL)
        status = segment_open_blocks(l, s, &header, error);
    if (status == TANSU_OK)
        segment_close_file(l, s);
    return status;
}

/* retire_segment -- a retire_free for what is mapped of an old segment. */
static void retire_segment(void *context, void *object) {
    log *l = context;
    segment *s = object;
    pthread_mutex_lock(&l->mutex);
    for (uint32_t i = 0; i < l->replaced.count; i++)
        if (l->replaced.items[i] == s)
            list_remove(&l->replaced, i);
    pthread_mutex_unlock(&l->mutex);
    pthread_rwlock_wrlock(&l->passing);
    segment_close(l, s);
    pthread_rwlock_unlock(&l->passing);
}

tansu_status log_compact_install(log_compaction *c, uint64_t sequence, uint64_t birth,
                                 retire_list *retired, tansu_error *error) {
    log *l = c->l;
    pthread_mutex_lock(&l->mutex);
    /* A round of syncing has its own list of segments, which stay open so long. */
    segment_wait_unsynced(l);
    if (!list_reserve(&l->active, 1) || !list_reserve(&l->replaced, c->count) ||
        !obsolete_reserve(l, c->count)) {
        pthread_mutex_unlock(&l->mutex);
        return error_memory(error);
    }
    segment_publish(l, c->made);
    uint32_t index = segment_index(l, c->run[0]->number);
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->run[i]->number == l->sync_segment) /* all of it is on the disk */
            l->sync_segment = l->active.items[index + 1]->number;
        list_remove(&l->active, index);
        l->obsolete[l->obsolete_count++] = c->run[i]->number;
        c->run[i]->needed_from = birth == 0 ? 0 : c->run[i]->first;
        c->run[i]->needed_before = sequence;
        l->replaced.items[l->replaced.count++] = c->run[i];
        retire_add_born(retired, retire_segment, l, c->run[i], birth);
    }
    list_insert(&l->active, c->made);
    pthread_mutex_unlock(&l->mutex);
    release(c);
    return TANSU_OK;
}
