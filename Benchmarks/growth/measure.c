/*
 * measure.c -- gets by id, queries by index and ranges of a filled database, at random places of
 * it, and the memory of the process after them.
 */
#include "bson_writer.h"
#include "growth.h"
#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLED 20000 /* documents whose ids and keys are read first */

struct sample {
    uint8_t id[32]; /* {_id: …} */
    uint32_t id_size;
    int64_t key;
};

/* A database that is being measured. */
struct measured {
    const struct data *data;
    tansu_db *db;
    struct sample *samples;
    uint64_t count;
    uint64_t random;
};

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Du;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* id_size -- of the `_id` that a document begins with: an int64 or an ObjectID; 0: it has none. */
static size_t id_size(tansu_document d) {
    const uint8_t *bytes = d.data;
    if (d.size < 4 + 5 + 12 + 1 || memcmp(bytes + 5, "_id", 4) != 0)
        return 0;
    return bytes[4] == 0x12 ? 8 : bytes[4] == 0x07 ? 12 : 0;
}

/* key_value -- the int32 or int64 of the indexed key, which follows the `_id`. */
static bool key_value(const struct data *data, tansu_document d, int64_t *value) {
    const char *name = key_of(data);
    const uint8_t *element = (const uint8_t *)d.data + 4 + 5 + id_size(d);
    size_t length = strlen(name) + 1;
    if (id_size(d) == 0 || d.size < 4 + 5 + 12 + 1 + length + 8 ||
        memcmp(element + 1, name, length) != 0)
        return false;
    if (*element == 0x12) {
        memcpy(value, element + 1 + length, sizeof *value);
        return true;
    }
    int32_t number;
    memcpy(&number, element + 1 + length, sizeof number);
    *value = number;
    return *element == 0x10;
}

/* set_id -- {_id: …} of a document. */
static bool set_id(struct sample *s, tansu_document d) {
    size_t size = id_size(d);
    if (size == 0)
        return false;
    uint32_t whole = (uint32_t)(4 + 5 + size + 1);
    memcpy(s->id, &whole, 4);
    memcpy(s->id + 4, (const uint8_t *)d.data + 4, 5 + size);
    s->id[whole - 1] = 0;
    s->id_size = whole;
    return true;
}

/* take_samples -- ids and keys from all over the collection. */
static bool take_samples(struct measured *m) {
    tansu_cursor *cursor = NULL;
    tansu_document d;
    uint64_t every = m->data->documents / SAMPLED + 1, at = 0;
    m->samples = malloc(SAMPLED * sizeof *m->samples);
    if (m->samples == NULL)
        return false;
    tansu_status status =
        tansu_find(m->db, NULL, COLLECTION, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor, NULL);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &d, NULL)) == TANSU_OK) {
        if (at++ % every != 0 || m->count == SAMPLED)
            continue;
        struct sample *s = &m->samples[m->count];
        if (set_id(s, d) && key_value(m->data, d, &s->key))
            m->count++;
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE && m->count != 0;
}

/* get -- a sampled document by its id; checks that it is the one. */
static bool get(struct measured *m, tansu_buffer *result) {
    const struct sample *s = &m->samples[next_random(&m->random) % m->count];
    int64_t key;
    return tansu_get(m->db, NULL, COLLECTION, (tansu_document){s->id, s->id_size}, result, NULL) ==
               TANSU_OK &&
           key_value(m->data, (tansu_document){result->data, result->size}, &key) && key == s->key;
}

/* query -- documents with keys from a sampled one on, below it plus `keys`; checks each. */
static bool query(struct measured *m, int64_t keys) {
    const struct sample *s = &m->samples[next_random(&m->random) % m->count];
    struct bson_writer w;
    tansu_cursor *cursor = NULL;
    tansu_document d;
    uint64_t found = 0;
    bool right = true;
    bson_writer_begin(&w);
    bson_writer_open_document(&w, key_of(m->data));
    bson_writer_int64(&w, "$gte", s->key);
    bson_writer_int64(&w, "$lt", s->key + keys);
    bson_writer_close(&w);
    bson_writer_close(&w);
    tansu_status status = tansu_find(m->db, NULL, COLLECTION, (tansu_document){w.data, w.size},
                                     TANSU_NO_DOCUMENT, &cursor, NULL);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &d, NULL)) == TANSU_OK) {
        int64_t key;
        right = right && key_value(m->data, d, &key) && key >= s->key && key < s->key + keys;
        found++;
    }
    tansu_cursor_close(cursor);
    return right && status == TANSU_DONE && found != 0;
}

enum work { GET, QUERY, RANGE };

/* time_calls -- the median and the 99th percentile, in microseconds. */
static bool time_calls(struct measured *m, enum work work, uint64_t calls, double *half,
                       double *most) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    double *times = malloc(calls * sizeof *times);
    bool right = times != NULL;
    for (uint64_t i = 0; right && i < calls; i++) {
        double begin = system_seconds();
        right = work == GET ? get(m, &result) : query(m, work == QUERY ? 1 : 100);
        times[i] = (system_seconds() - begin) * 1e6;
    }
    if (right) {
        qsort(times, calls, sizeof *times, compare);
        *half = times[calls / 2];
        if (most != NULL)
            *most = times[calls * 99 / 100];
    }
    free(times);
    tansu_buffer_free(&result);
    return right;
}

/* memory_now -- of this process, where /proc/self/status has it. */
static void memory_now(struct figures *f) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long kilobytes;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssAnon: %lu", &kilobytes) == 1)
            f->anonymous = (uint64_t)kilobytes * 1024;
        if (sscanf(line, "VmRSS: %lu", &kilobytes) == 1)
            f->resident = (uint64_t)kilobytes * 1024;
    }
    if (file != NULL)
        fclose(file);
}

/* open_and_get -- opens the database and gets its first document; the time in *microseconds. */
static bool open_and_get(const struct data *d, uint64_t cache, tansu_db **db,
                         double *microseconds) {
    tansu_options options;
    tansu_error error = {0};
    tansu_cursor *cursor = NULL;
    tansu_document first;
    tansu_options_init(&options);
    options.path = d->folder;
    options.must_exist = 1;
    if (cache != 0)
        options.index_cache_bytes = cache;
    double begin = system_seconds();
    tansu_status status = tansu_open(&options, db, &error);
    if (status == TANSU_OK)
        status = tansu_find(*db, NULL, COLLECTION, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor,
                            &error);
    if (status == TANSU_OK)
        status = tansu_cursor_next(cursor, &first, &error);
    *microseconds = (system_seconds() - begin) * 1e6;
    tansu_cursor_close(cursor);
    if (status != TANSU_OK)
        fprintf(stderr, "growth: opening: %s: %s\n", tansu_status_name(status), error.message);
    return status == TANSU_OK;
}

void measure(const struct data *d, uint64_t calls, uint64_t cache, struct figures *f) {
    struct measured m = {.data = d, .random = 88172645463325252u};
    struct folder_size size = {0};
    int64_t count = -1;
    f->right = open_and_get(d, cache, &m.db, &f->open_clean) && take_samples(&m) &&
               time_calls(&m, GET, calls, &f->get, &f->get_99) &&
               time_calls(&m, QUERY, calls, &f->query, NULL) &&
               time_calls(&m, RANGE, calls / 20 + 1, &f->range, NULL) &&
               tansu_count(m.db, NULL, COLLECTION, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count,
                           NULL) == TANSU_OK;
    memory_now(f);
    f->right = f->right && (d->places != NULL || (uint64_t)count == d->documents);
    f->documents = (uint64_t)count;
    if (folder_size(d->folder, &size) == 0)
        f->disk = size.allocated;
    if (m.db != NULL)
        f->right = tansu_shutdown(m.db, NULL) == TANSU_OK && f->right;
    free(m.samples);
}

void measure_opening(const struct data *d, struct figures *f) {
    tansu_db *db = NULL;
    int64_t count = -1;
    f->right = open_and_get(d, 0, &db, &f->open_killed) &&
               tansu_count(db, NULL, COLLECTION, TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &count,
                           NULL) == TANSU_OK &&
               (d->places != NULL || (uint64_t)count == d->documents + 1000);
    if (db != NULL)
        f->right = tansu_shutdown(db, NULL) == TANSU_OK && f->right;
}
