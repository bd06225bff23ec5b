/*
 * check/repair/repair_state.c -- what all phases of a repair use: progress, and the names of
 * segment files.
 */
#include "check/repair/repair_state.h"

#include "log/scan.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

void repair_free(repair *r) {
    for (size_t i = 0; i < r->record_count; i++)
        tansu_buffer_free(&r->records[i].payload);
    for (size_t i = 0; i < r->collection_count; i++)
        free(r->collections[i].indexes);
    for (size_t i = 0; i < r->segment_count; i++) {
        free(r->segments[i].file);
        if (r->segments[i].image >= 0)
            r->calls->close(r->segments[i].image);
    }
    free(r->records);
    catalog_end(&r->names, UINT64_MAX, NULL, NULL);
    free(r->collections);
    free(r->segments);
    free(r->runs);
    free(r->gaps);
    free(r->marks);
    free(r->orphans);
    free(r->slices);
    free(r->missing);
    free(r->known_collections);
    report_list_free(&r->suspects);
    free(r->log_folder);
    pending_free(&r->locations);
    problem_list_free(&r->problems);
}

tansu_status repair_progress(repair *r, uint64_t work, tansu_error *error) {
    r->done += work;
    if (r->done > r->total)
        r->done = r->total;
    if (r->progress != NULL && !r->progress(r->context, r->done, r->total))
        return error_set(error, TANSU_E_CANCELLED, r->from,
                         "The repair was cancelled; no file of the new database is left");
    return TANSU_OK;
}

/* leftover_file -- the file of a leftover; NULL when the number is that of a segment. */
static const char *leftover_file(const repair *r, uint32_t number) {
    for (size_t i = 0; number >= REPAIR_LEFTOVER && i < r->segment_count; i++)
        if (r->segments[i].number == number)
            return r->segments[i].file;
    return NULL;
}

char *repair_segment_path(const repair *r, uint32_t number) {
    const char *file = leftover_file(r, number);
    return file != NULL ? fs_join(r->from, file) : segment_file(r->log_folder, number);
}

int repair_segment_open(const repair *r, uint32_t number) {
    for (size_t i = 0; i < r->segment_count; i++)
        if (r->segments[i].number == number && r->segments[i].image >= 0)
            return fcntl(r->segments[i].image, F_DUPFD_CLOEXEC, 0);
    char *path = repair_segment_path(r, number);
    if (path == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = r->calls->open(r->calls, path, O_RDONLY, 0);
    int problem = errno;
    free(path);
    errno = problem;
    return fd;
}

void repair_segment_name(const repair *r, uint32_t number, char name[64]) {
    const char *file = leftover_file(r, number);
    if (file != NULL)
        snprintf(name, 64, "%s", file);
    else
        segment_name(number, name);
}
