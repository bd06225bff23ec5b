/*
 * backup/restore_segment.c -- writing one segment of a restored log.
 */
#include "backup/restore_segment.h"

#include "log/scan.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* An offset has 32 bits. */
#define SEGMENT_BYTES_MOST UINT32_MAX
#define SEGMENT_NUMBER_MOST 99999999u /* eight digits */

tansu_status restore_segment_begin(restore_segment *s, uint64_t number, tansu_error *error) {
    const fs *calls = s->staged->calls;
    char name[32];
    if (number == 0 || number > SEGMENT_NUMBER_MOST)
        return error_set(error, TANSU_E_CORRUPT, NULL,
                         "The backup has a log segment with the invalid number %llu",
                         (unsigned long long)number);
    segment_name((uint32_t)number, name);
    s->path = fs_join(s->staged->path, name);
    if (s->path == NULL)
        return error_memory(error);
    s->offset = 0;
    s->fd = calls->open(calls, s->path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (s->fd >= 0)
        return TANSU_OK;
    int why = errno;
    return why == EEXIST ? error_set(error, TANSU_E_CORRUPT, name,
                                     "The backup has the log segment \"%s\" twice", name)
                         : error_errno(error, s->path, "create", why);
}

tansu_status restore_segment_bytes(restore_segment *s, const void *bytes, size_t size,
                                   tansu_error *error) {
    if (size > SEGMENT_BYTES_MOST - s->offset)
        return error_set(error, TANSU_E_CORRUPT, NULL,
                         "The backup has a log segment that is larger than a segment can be");
    if (fs_write_all(s->staged->calls, s->fd, bytes, size, s->offset) != 0)
        return error_errno(error, s->path, "write", errno);
    s->offset += size;
    return TANSU_OK;
}

tansu_status restore_segment_end(restore_segment *s, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (s->staged->calls->sync(s->fd, NULL, 0) != 0)
        status = error_errno(error, s->path, "sync", errno);
    restore_segment_drop(s);
    return status;
}

void restore_segment_drop(restore_segment *s) {
    if (s->fd >= 0)
        s->staged->calls->close(s->fd);
    s->fd = -1;
    free(s->path);
    s->path = NULL;
}
