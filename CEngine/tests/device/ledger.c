/*
 * device/ledger.c -- the file of acknowledgements.
 */
#include "ledger.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

uint64_t ledger_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool ledger_open(const char *path) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return file >= 0;
}

void ledger_add(enum ledger_kind kind, uint32_t thread, uint64_t step, uint64_t sequence) {
    ledger_record r = {ledger_now(), (uint32_t)kind, thread, step, sequence};
    if (write(file, &r, sizeof r) != (ssize_t)sizeof r) {
        perror("ledger");
        _exit(70);
    }
}

bool ledger_read(const char *path, uint64_t moment, ledger_record **records, size_t *count) {
    FILE *f = fopen(path, "rb");
    ledger_record r;
    size_t room = 0;
    *records = NULL;
    *count = 0;
    if (f == NULL)
        return false;
    while (fread(&r, sizeof r, 1, f) == 1) {
        if (r.nanoseconds >= moment)
            continue;
        if (*count == room) {
            room = room * 2 + 1024;
            ledger_record *more = realloc(*records, room * sizeof *more);
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
