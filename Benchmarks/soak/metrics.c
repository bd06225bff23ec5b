#include "metrics.h"

#include "system.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The process --------------------------------------------------------------------------- */

#if defined(__linux__)
struct memory memory_now(void) {
    static const char *const names[] = {"VmRSS:", "RssAnon:", "VmHWM:"};
    struct memory m = {0, 0, 0};
    uint64_t *const values[] = {&m.resident, &m.anonymous, &m.peak};
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        for (size_t i = 0; i < 3; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                *values[i] = strtoull(line + strlen(names[i]), NULL, 10) * 1024;
    if (f != NULL)
        fclose(f);
    return m;
}
#else
struct memory memory_now(void) {
    return (struct memory){0, 0, system_peak_memory()};
}
#endif

int descriptors_now(void) {
    DIR *d = opendir("/dev/fd");
    int count = -3; /* ".", ".." and the folder itself */
    if (d == NULL)
        return -1;
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

/* ---- tansu_stats() ------------------------------------------------------------------------- */

/* element_size -- bytes of a value by its type; 0 for those that tansu_stats() has not. */
static size_t element_size(uint8_t type, const uint8_t *value) {
    uint32_t length;
    memcpy(&length, value, sizeof length);
    switch (type) {
    case 0x01: /* double */
    case 0x09: /* date */
    case 0x12: /* int64 */ return 8;
    case 0x02: /* text */ return 4 + (size_t)length;
    case 0x03: /* document */
    case 0x04: /* array */ return length;
    case 0x05: /* binary */ return 5 + (size_t)length;
    case 0x08: /* truth */ return 1;
    case 0x10: /* int32 */ return 4;
    default: return 0;
    }
}

/* number_of -- a number or truth; 0 when it is none. */
static int number_of(uint8_t type, const uint8_t *value, double *number) {
    int32_t small;
    int64_t large;
    if (type == 0x01) {
        memcpy(number, value, sizeof *number);
    } else if (type == 0x10) {
        memcpy(&small, value, sizeof small);
        *number = small;
    } else if (type == 0x12) {
        memcpy(&large, value, sizeof large);
        *number = (double)large;
    } else if (type == 0x08) {
        *number = *value;
    } else {
        return 0;
    }
    return 1;
}

size_t stats_now(tansu_db *db, struct stat stats[STATS_MOST]) {
    tansu_buffer b = TANSU_BUFFER_INIT;
    size_t count = 0;
    if (tansu_stats(db, &b, NULL) == TANSU_OK && b.size > 5) {
        const uint8_t *at = b.data + 4, *end = b.data + b.size - 1;
        while (at < end && count < STATS_MOST) {
            uint8_t type = *at;
            const char *name = (const char *)at + 1;
            const uint8_t *value = (const uint8_t *)name + strlen(name) + 1;
            if (number_of(type, value, &stats[count].value)) {
                snprintf(stats[count].name, STATS_NAME, "%s", name);
                count++;
            }
            size_t size = type == 0x0A ? 0 : element_size(type, value);
            if (size == 0 && type != 0x0A)
                break;
            at = value + size;
        }
    }
    tansu_buffer_free(&b);
    return count;
}

double stats_value(tansu_db *db, const char *name, double otherwise) {
    struct stat stats[STATS_MOST];
    size_t count = stats_now(db, stats);
    for (size_t i = 0; i < count; i++)
        if (strcmp(stats[i].name, name) == 0)
            return stats[i].value;
    return otherwise;
}

/* ---- The file ------------------------------------------------------------------------------ */

int samples_begin(struct samples *s, const char *path, const char *folder, const char *columns,
                  tansu_db *db, uint64_t limit) {
    struct stat stats[STATS_MOST];
    s->folder = folder;
    s->limit = limit;
    s->peak_memory = 0;
    s->name_count = stats_now(db, stats);
    if ((s->file = fopen(path, "w")) == NULL) {
        perror(path);
        return -1;
    }
    fprintf(s->file, "%s,residentBytes,anonymousBytes,peakBytes,descriptors,diskBytes", columns);
    for (size_t i = 0; i < s->name_count; i++) {
        memcpy(s->names[i], stats[i].name, STATS_NAME);
        fprintf(s->file, ",%s", s->names[i]);
    }
    fputc('\n', s->file);
    return 0;
}

/* add_stats -- the columns of tansu_stats(), each under its name. */
static void add_stats(struct samples *s, tansu_db *db) {
    struct stat stats[STATS_MOST];
    size_t count = stats_now(db, stats);
    for (size_t i = 0; i < s->name_count; i++) {
        size_t at = 0;
        while (at < count && strcmp(stats[at].name, s->names[i]) != 0)
            at++;
        if (at < count)
            fprintf(s->file, ",%.0f", stats[at].value);
        else
            fputc(',', s->file);
    }
}

int samples_add(struct samples *s, const char *own, tansu_db *db) {
    struct folder_size disk = {0, 0};
    struct memory m = memory_now();
    uint64_t counted = m.anonymous > 0 ? m.anonymous : m.peak;
    folder_size(s->folder, &disk); /* files come and go meanwhile: as much as could be read */
    fprintf(s->file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64, own, m.resident,
            m.anonymous, m.peak, descriptors_now(), disk.allocated);
    add_stats(s, db);
    fputc('\n', s->file);
    if (counted > s->peak_memory)
        s->peak_memory = counted;
    if (fflush(s->file) != 0) {
        perror("samples");
        return -1;
    }
    if (s->limit > 0 && counted > s->limit) {
        fprintf(stderr, "stopped: %.0f MB of memory, and the limit is %.0f MB\n",
                (double)counted / 1e6, (double)s->limit / 1e6);
        return -1;
    }
    return 0;
}

void samples_end(struct samples *s) {
    if (s->file != NULL)
        fclose(s->file);
    s->file = NULL;
}
