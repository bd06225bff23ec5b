/*
 * device/ack_log.c -- the log of acknowledgements.
 */
#include "ack_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

uint64_t ack_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool ack_log_open(const char *path) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return file >= 0;
}

void ack_log_add(enum ack_kind kind, uint32_t thread, uint64_t step, uint64_t sequence) {
    ack_record r = {ack_now(), (uint32_t)kind, thread, step, sequence};
    if (write(file, &r, sizeof r) != (ssize_t)sizeof r) {
        perror("acknowledgement log");
        _exit(70);
    }
}

bool ack_log_read(const char *path, uint64_t before, ack_record **records, size_t *count) {
    FILE *f = fopen(path, "rb");
    ack_record r;
    size_t capacity = 0;
    *records = NULL;
    *count = 0;
    if (f == NULL)
        return false;
    while (fread(&r, sizeof r, 1, f) == 1) {
        if (r.nanoseconds >= before)
            continue;
        if (*count == capacity) {
            capacity = capacity * 2 + 1024;
            ack_record *more = realloc(*records, capacity * sizeof *more);
            if (more == NULL) {
                fclose(f);
                return false;
            }
            *records = more;
        }
        (*records)[(*count)++] = r;
    }
    return fclose(f) == 0;
}
