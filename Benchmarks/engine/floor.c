#include "floor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER_SIZE 32 /* of a record: what a log needs beside the document */
#define SYNCED_WRITES 500
#define WRITES 20000
#define PROBES 200000
#define FINDS 200
#define AGES 4

/* A file with disk space for what is written, mapped. Its pages are not in memory yet, but in
 * FLOOR_SYNCED. */
struct segment {
    uint8_t *bytes;
    size_t size;
    int fd;
    char path[BENCH_PATH_SIZE];
};

/* Keeps the compiler from leaving out reads of which nobody wants the result. */
static volatile uint64_t result_sink;

/* checksum -- eight bytes a step: no checksum that finds errors as well takes less. */
static uint64_t checksum(const uint8_t *bytes, size_t size) {
    uint64_t sum = size, word = 0;
    for (; size >= 8; size -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0x9fb21c651e98df25u;
    }
    word = 0;
    memcpy(&word, bytes, size);
    return (sum ^ word) * 0x9fb21c651e98df25u;
}

/* write_pages -- zeros into the whole file, page by page: what is synced afterwards is then a page,
 * and neither more of the file nor a change of its extents. */
static int write_pages(const struct segment *segment) {
    static const uint8_t zeros[4096];
    for (size_t at = 0; at < segment->size; at += sizeof zeros) {
        size_t size = segment->size - at < sizeof zeros ? segment->size - at : sizeof zeros;
        if (pwrite(segment->fd, zeros, size, (off_t)at) != (ssize_t)size)
            return -1;
    }
    return fsync(segment->fd);
}

static int segment_open(struct fixture *fixture, struct segment *segment, size_t size,
                        enum floor_kind kind) {
    segment->size = size;
    snprintf(segment->path, sizeof segment->path, "%s/floor", fixture->folder);
    segment->fd = open(segment->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (segment->fd < 0 || posix_fallocate(segment->fd, 0, (off_t)size) != 0)
        return fixture_fail(fixture, NULL, "cannot create the file of the floor");
    if (kind == FLOOR_SYNCED && write_pages(segment) != 0)
        return fixture_fail(fixture, NULL, "cannot fill the file of the floor");
    segment->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
    if (segment->bytes == MAP_FAILED)
        return fixture_fail(fixture, NULL, "cannot map the file of the floor");
    sync();
    return 0;
}

static void segment_close(struct segment *segment) {
    munmap(segment->bytes, segment->size);
    close(segment->fd);
    unlink(segment->path);
}

/* record_size -- what a document takes in the log. */
static size_t record_size(const struct document *document) {
    return (HEADER_SIZE + document->bson_size + 7) / 8 * 8;
}

/* segment_write -- one record; returns the offset after it. */
static size_t segment_write(struct segment *segment, size_t at, const struct document *document) {
    uint64_t header[HEADER_SIZE / 8] = {document->bson_size, (uint64_t)document->id};
    header[3] = checksum(document->bson, document->bson_size);
    memcpy(segment->bytes + at, header, sizeof header);
    memcpy(segment->bytes + at + sizeof header, document->bson, document->bson_size);
    return at + record_size(document);
}

/* write_floor -- documents into a file, synced after each, at the end or not at all; in seconds. */
static int write_floor(struct fixture *fixture, size_t count, enum floor_kind kind,
                       double *seconds) {
    struct segment segment = {.fd = -1};
    size_t size = 0, at = 0;
    int failed = 0;
    for (size_t i = 0; i < count; i++)
        size += record_size(&fixture->corpus.documents[i]);
    if (segment_open(fixture, &segment, size, kind) != 0)
        return -1;
    double start = system_seconds();
    for (size_t i = 0; i < count; i++) {
        at = segment_write(&segment, at, &fixture->corpus.documents[i]);
        if (kind == FLOOR_SYNCED)
            failed |= fdatasync(segment.fd);
    }
    if (kind == FLOOR_BULK)
        failed |= fdatasync(segment.fd);
    *seconds = system_seconds() - start;
    segment_close(&segment);
    return failed == 0 ? 0 : fixture_fail(fixture, NULL, "cannot sync the file of the floor");
}

/* probe_floor -- a word at a random address among all documents, `count` times. Each address
 * depends on the word before, so that the processor does not fetch several at once. */
static double probe_floor(const struct corpus *corpus, size_t count) {
    const uint8_t *first = corpus->documents[0].bson;
    const struct document *last = &corpus->documents[corpus->count - 1];
    size_t size = (size_t)(last->bson - first);
    uint64_t state = 1, word = 0;
    double start = system_seconds();
    for (size_t i = 0; i < count; i++) {
        state = (state ^ (word & 0xff)) * 6364136223846793005u + 1442695040888963407u;
        memcpy(&word, first + (size_t)(((unsigned __int128)state * size) >> 64), 8);
    }
    result_sink = word;
    return system_seconds() - start;
}

/* read_floor -- the bytes of all documents in their order. */
static double read_floor(const struct corpus *corpus) {
    uint64_t sum = 0;
    double start = system_seconds();
    for (size_t i = 0; i < corpus->count; i++) {
        const struct document *document = &corpus->documents[i];
        for (size_t at = 0; at + 8 <= document->bson_size; at += 8) {
            uint64_t word;
            memcpy(&word, document->bson + at, 8);
            sum += word;
        }
    }
    result_sink = sum;
    return system_seconds() - start;
}

/* tail_floor -- checksums of the last documents. */
static double tail_floor(const struct corpus *corpus, size_t count) {
    uint64_t sum = 0;
    double start = system_seconds();
    for (size_t i = corpus->count - count; i < corpus->count; i++)
        sum += checksum(corpus->documents[i].bson, corpus->documents[i].bson_size);
    result_sink = sum;
    return system_seconds() - start;
}

/* few_floor -- so many random documents, every cache line of each; the mean of some finds. */
static int few_floor(struct fixture *fixture, size_t each, double *seconds) {
    struct sink sink = {.documents = 0};
    size_t finds = each > 100 ? FINDS / 10 : FINDS;
    uint32_t *numbers = random_numbers(fixture->corpus.count, each, 400 + fixture->repetition);
    if (numbers == NULL)
        return fixture_fail(fixture, NULL, "out of memory");
    double start = system_seconds();
    for (size_t k = 0; k < finds; k++)
        for (size_t i = 0; i < each; i++) {
            size_t n = (numbers[i] + k * 7919) % fixture->corpus.count;
            const struct document *document = &fixture->corpus.documents[n];
            sink_take(&sink, document->bson, document->bson_size);
        }
    *seconds = (system_seconds() - start) / (double)finds;
    result_sink = sink.touched;
    free(numbers);
    return 0;
}

/* seconds_of -- the measurement, for one of what the row counts. */
static int seconds_of(struct fixture *fixture, enum floor_kind kind, double *seconds) {
    const struct corpus *corpus = &fixture->corpus;
    size_t count = kind == FLOOR_SYNCED ? SYNCED_WRITES : WRITES;
    if (count > corpus->count)
        count = corpus->count;
    switch (kind) {
    case FLOOR_SYNCED:
    case FLOOR_WRITTEN:
        if (write_floor(fixture, count, kind, seconds) != 0)
            return -1;
        *seconds /= (double)count;
        return 0;
    case FLOOR_BULK: return write_floor(fixture, corpus->count, kind, seconds);
    case FLOOR_PROBE: *seconds = probe_floor(corpus, PROBES) / PROBES; return 0;
    case FLOOR_READ: *seconds = read_floor(corpus); return 0;
    case FLOOR_TAIL: *seconds = tail_floor(corpus, child_kill_tail(corpus->count)); return 0;
    case FLOOR_NAME: return few_floor(fixture, GENERATOR_PER_NAME, seconds);
    case FLOOR_CITY: return few_floor(fixture, corpus->count / GENERATOR_CITIES, seconds);
    case FLOOR_AGES: return few_floor(fixture, corpus->count / GENERATOR_AGES * AGES, seconds);
    case FLOOR_NONE:
    case FLOOR_SIZE: break;
    }
    *seconds = 0;
    return 0;
}

/* floor_measure -- in the row's unit. */
int floor_measure(struct fixture *fixture, enum floor_kind kind, const char *unit, double *value) {
    double seconds;
    if (kind == FLOOR_SIZE) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < fixture->corpus.count; i++)
            bytes += fixture->corpus.documents[i].bson_size;
        *value = (double)bytes / 1e6;
        return 0;
    }
    if (seconds_of(fixture, kind, &seconds) != 0)
        return -1;
    *value = seconds * (strcmp(unit, "ms") == 0 ? 1e3 : 1e6);
    return 0;
}
