/*
 * log/set_aside.c -- segments that recovery removes from the log although they may contain commits.
 */
#include "log/set_aside.h"

#include "log/scan.h"
#include "log/sealed_segment.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define COPY_STEP ((size_t)256 * 1024)
/* That many files of one segment's name are kept; a log that is cut more often than that needs an
 * administrator. */
#define NAMES_MOST 1000
/* A copy that is being made. What a process that was killed has left of one is overwritten when the
 * log is cut again, which is what the next opening does. */
#define PART_NAME "copy.part"

bool bytes_not_zero(const uint8_t *bytes, uint64_t size, uint64_t offset) {
    for (offset = scan_zeros(bytes, size, offset); offset < size; offset++)
        if (bytes[offset] != 0)
            return true;
    return false;
}

/* free_path -- a name for a segment's file that the folder does not have yet, in new memory. */
static tansu_status free_path(const log *l, uint32_t number, char **result, tansu_error *error) {
    for (unsigned i = 0; i < NAMES_MOST; i++) {
        char name[48];
        snprintf(name, sizeof name, i == 0 ? "%08u.seg" : "%08u.seg.%u", number, i);
        char *path = fs_join(l->set_aside_folder, name);
        if (path == NULL)
            return error_memory(error);
        int fd = l->calls->open(l->calls, path, O_RDONLY, 0);
        if (fd < 0 && errno == ENOENT) {
            *result = path;
            return TANSU_OK;
        }
        tansu_status status = fd < 0 ? error_errno(error, path, "check for", errno) : TANSU_OK;
        if (fd >= 0)
            l->calls->close(fd);
        free(path);
        if (status != TANSU_OK)
            return status;
    }
    return error_set(error, TANSU_E_EXISTS, l->set_aside_folder,
                     "The folder \"%s\" holds too many files; move them elsewhere and open again",
                     l->set_aside_folder);
}

/* make_folder -- the folder, its own name on the disk. */
static tansu_status make_folder(const log *l, tansu_error *error) {
    if (l->calls->mkdir(l->calls, l->set_aside_folder, 0755) == 0)
        return fs_sync_parent(l->calls, l->set_aside_folder, error);
    return errno == EEXIST ? TANSU_OK
                           : error_errno(error, l->set_aside_folder, "create the folder", errno);
}

tansu_status set_aside_move(log *l, uint32_t number, tansu_error *error) {
    char *from = segment_path(l, number), *to = NULL;
    tansu_status status = from == NULL ? error_memory(error) : make_folder(l, error);
    if (status == TANSU_OK)
        status = free_path(l, number, &to, error);
    if (status == TANSU_OK && l->calls->rename(l->calls, from, to) != 0)
        status = error_errno(error, from, "move", errno);
    else if (status == TANSU_OK && (l->calls->sync_folder(l->calls, l->set_aside_folder) != 0 ||
                                    l->calls->sync_folder(l->calls, l->folder) != 0))
        status = error_errno(error, l->set_aside_folder, "sync", errno);
    free(from);
    free(to);
    return status;
}

/* copy_to -- the bytes of a segment's file into a new one. */
static tansu_status copy_to(const log *l, const segment *s, const char *path, tansu_error *error) {
    uint8_t *step = malloc(COPY_STEP);
    int fd =
        step == NULL ? -1 : l->calls->open(l->calls, path, O_RDWR | O_CREAT | O_TRUNC, FS_MODE);
    tansu_status status = step == NULL ? error_memory(error)
                          : fd < 0     ? error_errno(error, path, "open", errno)
                                       : TANSU_OK;
    for (uint64_t at = 0; status == TANSU_OK && at < s->allocated; at += COPY_STEP) {
        size_t size = s->allocated - at < COPY_STEP ? (size_t)(s->allocated - at) : COPY_STEP;
        memcpy(step, s->base + at, size);
        if (fs_write_all(l->calls, fd, step, size, at) != 0)
            status = error_errno(error, path, "write", errno);
    }
    if (status == TANSU_OK && l->calls->sync(fd, NULL, 0) != 0)
        status = error_errno(error, path, "sync", errno);
    if (fd >= 0) {
        l->calls->close(fd);
        if (status != TANSU_OK)
            l->calls->unlink(l->calls, path);
    }
    free(step);
    return status;
}

tansu_status set_aside_copy(log *l, segment *s, uint64_t offset, tansu_error *error) {
    if (scan_find(l->crc_seed, s->base, s->allocated, offset, 0) >= s->allocated)
        return TANSU_OK;
    char *part = fs_join(l->set_aside_folder, PART_NAME), *to = NULL;
    tansu_status status = part == NULL ? error_memory(error) : make_folder(l, error);
    if (status == TANSU_OK)
        status = free_path(l, s->number, &to, error);
    if (status == TANSU_OK)
        status = copy_to(l, segment_disk(s), part, error);
    if (status == TANSU_OK && l->calls->rename(l->calls, part, to) != 0) {
        status = error_errno(error, part, "rename", errno);
        l->calls->unlink(l->calls, part);
    }
    if (status == TANSU_OK && l->calls->sync_folder(l->calls, l->set_aside_folder) != 0)
        status = error_errno(error, l->set_aside_folder, "sync", errno);
    free(part);
    free(to);
    return status;
}

/* any_proves -- whether a frame in the bytes of a segment proves that commits up to `expected` were
 * there. */
static bool any_proves(const log *l, const uint8_t *bytes, uint64_t size, uint64_t expected) {
    uint64_t at = scan_find(l->crc_seed, bytes, size, SEGMENT_HEADER_SIZE, expected);
    while (at < size) {
        const frame_header *frame = (const frame_header *)(bytes + at);
        if (frame_proves(l, frame, expected))
            return true;
        at = scan_find(l->crc_seed, bytes, size, at + frame->size, expected);
    }
    return false;
}

/* inspect_sealed -- any_proves() of what can be decrypted of the open file of an encrypted one, which
 * is closed. */
static tansu_status inspect_sealed(log *l, uint32_t number, int *fd, uint64_t size,
                                   uint64_t expected, bool *proves, tansu_error *error) {
    segment s = {.number = number, .fd = *fd, .mapped = l->segment_size};
    segment_header none = {0};
    if (s.mapped < size)
        s.mapped = size;
    s.mapped = segment_map_size(s.mapped);
    tansu_status status = sealed_new(l, &s, &none, size, false, error);
    if (status != TANSU_OK)
        return status;
    *fd = -1;
    status = sealed_load_later(l, &s, error);
    *proves = status == TANSU_OK && any_proves(l, s.base, s.allocated, expected);
    sealed_free(l, s.sealed);
    segment_unmap(l, &s);
    return status;
}

tansu_status headerless_inspect(log *l, uint32_t number, uint64_t expected,
                                headerless_content *content, tansu_error *error) {
    *content = (headerless_content){0};
    uint64_t size = 0;
    char *path = segment_path(l, number);
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    int fd = l->calls->open(l->calls, path, O_RDONLY, 0);
    if (fd < 0 || l->calls->size(fd, &size) != 0)
        status = error_errno(error, path, "open", errno);
    if (status == TANSU_OK && size > SEGMENT_HEADER_SIZE) {
        uint8_t *bytes = l->calls->map(fd, size, false);
        if (bytes == NULL) {
            status = error_errno(error, path, "map", errno);
        } else {
            content->holds = bytes_not_zero(bytes, size, SEGMENT_HEADER_SIZE);
            content->damaged =
                content->holds && !sealed_log(l) && any_proves(l, bytes, size, expected);
            l->calls->unmap(bytes, size);
        }
        if (status == TANSU_OK && content->holds && sealed_log(l))
            status = inspect_sealed(l, number, &fd, size, expected, &content->damaged, error);
    }
    if (fd >= 0)
        l->calls->close(fd);
    free(path);
    return status;
}
