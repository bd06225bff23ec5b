/*
 * log/sealed_check.c -- verifying the files of an encrypted database's segments.
 */
#include "log/sealed_check.h"

#include "log/scan.h"
#include "log/sealed_segment.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

typedef struct checking {
    log *l;
    const log_extent *e;
    const uint8_t *image;
    bool decoded, last;
    tansu_buffer file;
    tansu_buffer content; /* of a block */
    sealed_fault fault;
    void *context;
} checking;

/* read_file -- all of the segment's file; k->file stays without memory when it is gone. */
static tansu_status read_file(checking *k, tansu_error *error) {
    char *path = segment_file(k->l->folder, k->e->number), name[32];
    if (path == NULL)
        return error_memory(error);
    tansu_status status = fs_read_file(k->l->calls, path, UINT64_MAX, &k->file, error);
    free(path);
    if (status != TANSU_E_NOT_FOUND)
        return status;
    segment_name(k->e->number, name);
    return k->l->concurrent ? TANSU_OK : error_errno(error, name, "open", ENOENT);
}

/* check_header -- by the one that the image begins with. */
static void check_header(const checking *k) {
    segment_header header, plain;
    if (k->file.size >= sizeof header) {
        memcpy(&header, k->file.data, sizeof header);
        plain = segment_header_plain(&header);
        if (scan_header(&header) && (header.kind & SEGMENT_SEALED) != 0 &&
            memcmp(&plain, k->image, sizeof plain) == 0)
            return;
    }
    k->fault(k->context, 0, SEGMENT_HEADER_SIZE, "The header of an encrypted segment is corrupt");
}

/* open_block -- decrypts the block at a position into k->content, if it is one of the segment;
 * *valid. Errors: MEMORY. */
static tansu_status open_block(checking *k, uint64_t position, sealed_header *header, bool *valid,
                               tansu_error *error) {
    *valid = false;
    if (!sealed_header_at(k->file.data, k->file.size, position, header))
        return TANSU_OK;
    k->content.size = 0;
    if (!buffer_reserve(&k->content, header->size))
        return error_memory(error);
    tansu_status status = sealed_block_open(k->l->keys, k->e->number, header,
                                            k->file.data + position, k->content.data);
    *valid = status == TANSU_OK;
    return status == TANSU_E_MEMORY ? error_memory(error) : TANSU_OK;
}

/* padded -- whether the bytes after a block are zeros, as they were written. */
static bool padded(const checking *k, uint64_t position, const sealed_header *header) {
    uint64_t at = position + SEALED_HEADER_SIZE + header->stored;
    for (uint64_t end = position + sealed_size(header->stored); at < end; at++)
        if (at >= k->file.size || k->file.data[at] != 0)
            return false;
    return true;
}

/* check_block -- whether the block at a position is that of the image from an offset on. */
static tansu_status check_block(checking *k, uint64_t position, uint64_t offset,
                                sealed_header *header, bool *valid, tansu_error *error) {
    tansu_status status = open_block(k, position, header, valid, error);
    *valid = *valid && header->codec != SEALED_TABLE && header->offset == offset &&
             header->size != 0 && header->size <= k->e->end - offset &&
             padded(k, position, header) &&
             (k->decoded || memcmp(k->content.data, k->image + offset, header->size) == 0);
    return status;
}

/* next_block -- the position of the first block after a corrupt one that is valid and of a later
 * part of the image, which *offset becomes; the size of the file when there is none. */
static tansu_status next_block(checking *k, uint64_t *position, uint64_t *offset,
                               tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t at = *position + 8, end = k->file.size - k->file.size % 8;
    for (; status == TANSU_OK && at < end; at += 8) {
        sealed_header header;
        bool valid = false;
        if (sealed_header_at(k->file.data, k->file.size, at, &header) && header.offset > *offset &&
            header.offset < k->e->end)
            status = check_block(k, at, header.offset, &header, &valid, error);
        if (!valid)
            continue;
        *offset = header.offset;
        break;
    }
    *position = at < end ? at : k->file.size;
    return status;
}

/* check_blocks -- all of them up to the end of the extent; *position: where they end. */
static tansu_status check_blocks(checking *k, uint64_t *position, tansu_error *error) {
    uint64_t offset = SEGMENT_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    *position = SEALED_BLOCKS;
    while (status == TANSU_OK && offset < k->e->end) {
        sealed_header header;
        bool valid;
        status = check_block(k, *position, offset, &header, &valid, error);
        if (status == TANSU_OK && valid) {
            offset += header.size;
            *position += sealed_size(header.stored);
        } else if (status == TANSU_OK) {
            uint64_t from = *position;
            status = next_block(k, position, &offset, error);
            k->fault(k->context, from, *position > from ? *position - from : 0,
                     "A block of an encrypted segment is corrupt");
            if (*position >= k->file.size)
                break;
        }
    }
    return status;
}

/* table_is -- whether the table at a position, and the end of the file, are as they were read. */
static tansu_status table_is(checking *k, const compressed_segment *s, bool *same,
                             tansu_error *error) {
    sealed_header header;
    sealed_table table;
    sealed_trailer trailer;
    bool valid = false;
    tansu_status status = open_block(k, s->size, &header, &valid, error);
    *same = valid && header.codec == SEALED_TABLE && padded(k, s->size, &header) &&
            header.size == sizeof table + (uint64_t)s->count * sizeof *s->table &&
            k->file.size == s->size + sealed_size(header.stored) + sizeof trailer;
    if (!*same)
        return status;
    memcpy(&table, k->content.data, sizeof table);
    memcpy(&trailer, k->file.data + k->file.size - sizeof trailer, sizeof trailer);
    *same = memcmp(table.header, k->file.data, sizeof table.header) == 0 && table.end == s->end &&
            memcmp(k->content.data + sizeof table, s->table, s->count * sizeof *s->table) == 0 &&
            memcmp(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic) == 0 &&
            trailer.table == s->size;
    return TANSU_OK;
}

/* stored_blocks -- how the segment is read, if its file has a table that was read. */
static const compressed_segment *stored_blocks(const log *l, uint32_t number) {
    const compressed_segment *s = log_compressed_of(l, number);
    return s != NULL && s->stored ? s : NULL;
}

/* ends_well -- whether nothing follows the last block of a segment whose table was not read, or a
 * table does. */
static tansu_status ends_well(checking *k, uint64_t position, bool *well, tansu_error *error) {
    sealed_header header;
    uint64_t end = k->file.size - k->file.size % 8;
    if (position >= end || scan_zeros(k->file.data, end, position) >= end) {
        *well = true;
        return TANSU_OK;
    }
    tansu_status status = open_block(k, position, &header, well, error);
    *well = *well && header.codec == SEALED_TABLE;
    return status;
}

/* check_end -- what follows the blocks, while this process writes the database. In the segment that
 * the log ends in without a table, that may be of a commit that a crash interrupted. The writer cuts
 * a table off before it writes on. */
static tansu_status check_end(checking *k, const compressed_segment *blocks, uint64_t position,
                              tansu_error *error) {
    bool well = true;
    tansu_status status = TANSU_OK;
    if (blocks != NULL)
        status = table_is(k, blocks, &well, error);
    else if (!k->last)
        status = ends_well(k, position, &well, error);
    if (status == TANSU_OK && !well && stored_blocks(k->l, k->e->number) == blocks)
        k->fault(k->context, position, k->file.size > position ? k->file.size - position : 0,
                 "The table of an encrypted segment is corrupt");
    return status;
}

tansu_status sealed_check(log *l, const log_extent *e, bool last, const uint8_t *image,
                          bool decoded, sealed_fault fault, void *context, tansu_error *error) {
    checking k = {.l = l,
                  .e = e,
                  .image = image,
                  .decoded = decoded,
                  .last = last,
                  .fault = fault,
                  .context = context};
    const compressed_segment *blocks = stored_blocks(l, e->number);
    uint64_t position;
    tansu_status status = read_file(&k, error);
    if (status == TANSU_OK && k.file.data != NULL) {
        check_header(&k);
        status = check_blocks(&k, &position, error);
        if (status == TANSU_OK && !l->read_only)
            status = check_end(&k, blocks, position, error);
    }
    tansu_buffer_free(&k.content);
    tansu_buffer_free(&k.file);
    return status;
}
