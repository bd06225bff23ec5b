/*
 * index/cabinet_recover.c -- files that an earlier version of the library, which let Tokyo Cabinet write
 * them, left in the middle of a transaction when its process was killed.
 *
 * `path`.wal then holds what the transaction has overwritten: the file's size, then items of an offset
 * (8 bytes), a size (4 bytes) and the bytes that lay there, the first of them the head. A process that
 * was killed while it wrote there left a part of an item at the end; what belongs to that was not
 * overwritten yet.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "index/cabinet_parts.h"

#include <errno.h>
#include <stdlib.h>

#define WAL_FIRST 8u
#define WAL_ITEM 12u
/* A larger one is not worth the memory: the file is then made anew. */
#define WAL_MOST ((size_t)256 << 20)

/* item_size -- bytes of the item at `at`; 0: it is not whole. */
static size_t item_size(const cabinet *cab, const tansu_buffer *wal, size_t at) {
    if (wal->size - at < WAL_ITEM)
        return 0;
    const uint8_t *size = wal->data + at + 8;
    size_t bytes = cab->big_endian ? load_be32(size) : load_u32(size);
    return bytes <= wal->size - at - WAL_ITEM ? WAL_ITEM + bytes : 0;
}

/* restore -- puts everything back, the latest first; -1 with errno. */
static int restore(cabinet *cab, const tansu_buffer *wal, const size_t *items, size_t count) {
    while (count-- > 0) {
        const uint8_t *item = wal->data + items[count];
        size_t size = item_size(cab, wal, items[count]) - WAL_ITEM;
        if (fs_write_all(cab->calls, cab->fd, item + WAL_ITEM, size, cabinet_word(cab, item)) != 0)
            return -1;
    }
    return cab->calls->truncate(cab->fd, cabinet_word(cab, wal->data));
}

/* roll_back -- by a whole .wal. */
static tansu_status roll_back(cabinet *cab, const tansu_buffer *wal, tansu_error *error) {
    size_t *items = NULL, count = 0, room = 0;
    uint64_t end = wal->size < WAL_FIRST ? 0 : cabinet_word(cab, wal->data);
    for (size_t at = WAL_FIRST, size; at < wal->size && (size = item_size(cab, wal, at)) != 0;
         at += size) {
        uint64_t offset = cabinet_word(cab, wal->data + at);
        if (offset > end || size - WAL_ITEM > end - offset) {
            free(items);
            return cabinet_damaged(cab, offset, error);
        }
        if (count == room) {
            size_t *more = realloc(items, (room + 1024) * sizeof *items);
            if (more == NULL) {
                free(items);
                return error_memory(error);
            }
            items = more;
            room += 1024;
        }
        items[count++] = at;
    }
    /* Without the head nothing was overwritten yet. */
    tansu_status status = count == 0 || restore(cab, wal, items, count) == 0
                              ? TANSU_OK
                              : error_errno(error, cab->path, "restore", errno);
    free(items);
    return status;
}

tansu_status recover_rollback(cabinet *cab, tansu_error *error) {
    char *path = malloc(strlen(cab->path) + sizeof ".wal");
    if (path == NULL)
        return error_memory(error);
    strcpy(path, cab->path);
    strcat(path, ".wal");
    tansu_buffer wal = TANSU_BUFFER_INIT;
    tansu_status status = fs_read_file(cab->calls, path, WAL_MOST, &wal, error);
    if (status == TANSU_E_NOT_FOUND || (status == TANSU_OK && wal.size == 0 && cab->read_only))
        status = TANSU_DONE;
    else if (status == TANSU_E_TOO_LARGE)
        status = cabinet_damaged(cab, 0, error);
    else if (status == TANSU_OK && cab->read_only)
        status = error_set(error, TANSU_E_READ_ONLY, cab->path,
                           "The index file was not closed; open the database for writing once.");
    else if (status == TANSU_OK)
        status = roll_back(cab, &wal, error);
    if (status == TANSU_OK && cab->calls->unlink(path) != 0 && errno != ENOENT)
        status = error_errno(error, path, "remove", errno);
    tansu_buffer_free(&wal);
    free(path);
    return status;
}
