/*
 * index/block_store/block_store_recover.c -- rolling back a transaction of an earlier release of
 * the library, which let Tokyo Cabinet write the file and whose process crashed.
 *
 * `path`.wal then contains what the transaction has overwritten: the file's size, then items of an
 * offset (8 bytes), a size (4 bytes) and the old bytes, the head first. A process that crashed
 * while it wrote there left an incomplete item at the end; the bytes of that item were not
 * overwritten yet.
 */
#include "index/block_store/block_store_internal.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

#define WAL_FIRST 8u
#define WAL_ITEM 12u
/* A larger one is not worth the memory: the file is then rebuilt. */
#define WAL_MOST ((size_t)256 << 20)

/* item_size -- bytes of the item at `at`; 0: it is not whole. */
static size_t item_size(const block_store *bs, const tansu_buffer *wal, size_t at) {
    if (wal->size - at < WAL_ITEM)
        return 0;
    const uint8_t *size = wal->data + at + 8;
    size_t bytes = bs->big_endian ? load_be32(size) : load_u32(size);
    return bytes <= wal->size - at - WAL_ITEM ? WAL_ITEM + bytes : 0;
}

/* restore -- puts everything back, the latest first; -1 with errno. */
static int restore(block_store *bs, const tansu_buffer *wal, const size_t *items, size_t count) {
    while (count-- > 0) {
        const uint8_t *item = wal->data + items[count];
        size_t size = item_size(bs, wal, items[count]) - WAL_ITEM;
        if (fs_write_all(bs->calls, bs->fd, item + WAL_ITEM, size, block_store_word(bs, item)) != 0)
            return -1;
    }
    return bs->calls->truncate(bs->fd, block_store_word(bs, wal->data));
}

/* roll_back -- by a whole .wal. */
static tansu_status roll_back(block_store *bs, const tansu_buffer *wal, tansu_error *error) {
    size_t *items = NULL, count = 0, capacity = 0;
    uint64_t end = wal->size < WAL_FIRST ? 0 : block_store_word(bs, wal->data);
    for (size_t at = WAL_FIRST, size; at < wal->size && (size = item_size(bs, wal, at)) != 0;
         at += size) {
        uint64_t offset = block_store_word(bs, wal->data + at);
        if (offset > end || size - WAL_ITEM > end - offset) {
            free(items);
            return block_store_damaged(bs, offset, error);
        }
        if (!ARRAY_RESERVE(items, count, capacity, 1)) {
            free(items);
            return error_memory(error);
        }
        items[count++] = at;
    }
    /* Without the head nothing was overwritten yet. */
    tansu_status status = count == 0 || restore(bs, wal, items, count) == 0
                              ? TANSU_OK
                              : error_errno(error, bs->path, "restore", errno);
    free(items);
    return status;
}

tansu_status recover_rollback(block_store *bs, tansu_error *error) {
    char *path = malloc(strlen(bs->path) + sizeof ".wal");
    if (path == NULL)
        return error_memory(error);
    strcpy(path, bs->path);
    strcat(path, ".wal");
    tansu_buffer wal = TANSU_BUFFER_INIT;
    tansu_status status = fs_read_file(bs->calls, path, WAL_MOST, &wal, error);
    if (status == TANSU_E_NOT_FOUND || (status == TANSU_OK && wal.size == 0 && bs->read_only))
        status = TANSU_DONE;
    else if (status == TANSU_E_TOO_LARGE)
        status = block_store_damaged(bs, 0, error);
    else if (status == TANSU_OK && bs->read_only)
        status = error_set(error, TANSU_E_READ_ONLY, bs->path,
                           "The index file was not closed; open the database for writing once");
    else if (status == TANSU_OK)
        status = roll_back(bs, &wal, error);
    if (status == TANSU_OK && bs->calls->unlink(bs->calls, path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    tansu_buffer_free(&wal);
    free(path);
    return status;
}
