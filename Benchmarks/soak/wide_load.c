/*
 * wide_load.c -- inserting many documents of twenty fields with as many indexes.
 */
#include "bson_writer.h"
#include "metrics.h"
#include "options.h"
#include "system.h"

#include <inttypes.h>
#include <stdlib.h>

#define FIELDS 20
#define COLLECTION "wide"
#define MOST_BATCH 1000

static const char about[] =
    "Inserts documents of twenty fields into up to twenty indexes, and samples memory once a\n"
    "second. Ends with 1 when a result was wrong, 2 when memory exceeds the limit.\n";

static const struct option_help help[] = {
    {"--documents", "how many (860000)"},
    {"--indexes", "0 to 20 (20)"},
    {"--batch", "documents a call, 1 to 1000 (100)"},
    {"--durability", "full, process or interval (process)"},
    {"--limit-mb", "ends when the process takes more memory (0: no limit)"},
    ENGINE_OPTIONS,
    {"--dir", "folder in which the database's is made (/tmp)"},
    {"--out", "file of samples (wide-load.csv)"},
    {NULL, NULL}};

static struct {
    struct load_options options;
    tansu_db *db;
    struct samples samples;
} run = {.options = {.documents = 860000,
                     .indexes = 20,
                     .batch = 100,
                     .durability = TANSU_DURABILITY_PROCESS,
                     .compaction_percent = UINT64_MAX,
                     .folder = "/tmp",
                     .out = "wide-load.csv"}};

/* value_of -- a field of a document, below a million. */
static uint32_t value_of(uint64_t id, int field) {
    uint64_t z = (id * FIELDS + (uint64_t)field) * 0x9E3779B97F4A7C15u + 1;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % 1000000);
}

/* make_value -- appends a field: every third is one of a hundred thousand texts, the others are
 * numbers. */
static void make_value(struct bson_writer *w, const char *key, uint64_t id, int field) {
    char text[32];
    if (field % 3 != 2) {
        bson_writer_int32(w, key, (int32_t)value_of(id, field));
        return;
    }
    snprintf(text, sizeof text, "v%u", value_of(id, field) % 100000);
    bson_writer_text(w, key, text);
}

static void make_document(struct bson_writer *w, uint64_t id) {
    bson_writer_begin(w);
    bson_writer_int64(w, "_id", (int64_t)id);
    for (int i = 0; i < FIELDS; i++) {
        char key[16];
        snprintf(key, sizeof key, "f%d", i);
        make_value(w, key, id, i);
    }
    bson_writer_close(w);
}

static tansu_status create_indexes(tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t i = 0; i < run.options.indexes && status == TANSU_OK; i++) {
        struct bson_writer keys;
        char key[16];
        snprintf(key, sizeof key, "f%d", (int)i);
        bson_writer_begin(&keys);
        bson_writer_int32(&keys, key, 1);
        bson_writer_close(&keys);
        status = tansu_index_create(run.db, NULL, COLLECTION, NULL,
                                    (tansu_document){keys.data, keys.size}, TANSU_NO_DOCUMENT, NULL,
                                    NULL, error);
    }
    return status;
}

/* sample -- the metrics after `documents`; 0, or 2 when memory exceeds the limit. */
static int sample(uint64_t documents, double begin) {
    char own[64];
    snprintf(own, sizeof own, "%" PRIu64 ",%.2f", documents, system_seconds() - begin);
    return samples_add(&run.samples, own, run.db) != 0 ? 2 : 0;
}

static int load(void) {
    struct bson_writer *w = malloc(MOST_BATCH * sizeof *w);
    tansu_document list[MOST_BATCH];
    tansu_error error = {0};
    double begin = system_seconds(), last = begin;
    int code = w == NULL ? 1 : sample(0, begin);
    for (uint64_t id = 0; id < run.options.documents && code == 0;) {
        size_t count = 0;
        while (count < run.options.batch && id < run.options.documents) {
            make_document(&w[count], id++);
            list[count] = (tansu_document){w[count].data, w[count].size};
            count++;
        }
        if (tansu_save(run.db, NULL, COLLECTION, list, count, TANSU_INSERT, NULL, &error) !=
            TANSU_OK)
            code = report_failure("inserting", &error);
        else if (system_seconds() - last >= 1 || id == run.options.documents) {
            last = system_seconds();
            code = sample(id, begin);
        }
    }
    free(w);
    printf("loading: %.1f s\n", system_seconds() - begin);
    return code;
}

/* check_index -- compares the count of a value by an index with the count over all documents. */
static int check_index(int field) {
    struct bson_writer query;
    tansu_error error = {0};
    char key[16];
    int64_t found = -1, expected = 0;
    uint64_t asked = run.options.documents / 2;
    uint32_t modulus = field % 3 == 2 ? 100000 : 1000000;
    snprintf(key, sizeof key, "f%d", field);
    bson_writer_begin(&query);
    make_value(&query, key, asked, field);
    bson_writer_close(&query);
    for (uint64_t id = 0; id < run.options.documents; id++)
        expected += value_of(id, field) % modulus == value_of(asked, field) % modulus;
    if (tansu_count(run.db, NULL, COLLECTION, (tansu_document){query.data, query.size},
                    TANSU_NO_DOCUMENT, &found, &error) != TANSU_OK)
        return report_failure("counting", &error);
    if (found == expected)
        return 0;
    fprintf(stderr, "wide-load: %lld documents by index f%d, %lld were saved\n", (long long)found,
            field, (long long)expected);
    return 1;
}

static int run_all(const char *path) {
    tansu_error error = {0};
    if (create_indexes(&error) != TANSU_OK)
        return report_failure("creating indexes", &error);
    if (samples_begin(&run.samples, run.options.out, path, "documents,seconds", run.db,
                      run.options.limit_mb * 1000000) != 0)
        return 1;
    int code = load();
    samples_end(&run.samples);
    for (int i = 0; code == 0 && i < (int)run.options.indexes; i += 7)
        code = check_index(i);
    return code;
}

int main(int argc, char **argv) {
    char path[1024];
    tansu_error error = {0};
    int code = options_parse(argc, argv, "wide-load", about, help, &run.options);
    if (code >= 0)
        return code;
    if (run.options.documents == 0 || run.options.indexes > FIELDS || run.options.batch == 0 ||
        run.options.batch > MOST_BATCH) {
        fprintf(stderr, "wide-load: documents, indexes or batch out of bounds; see --help\n");
        return 64;
    }
    if (options_open(&run.options, path, &run.db, &error) != TANSU_OK)
        return report_failure("opening", &error);
    code = run_all(path);
    double begin = system_seconds();
    if (tansu_shutdown(run.db, &error) != TANSU_OK)
        code = report_failure("shutdown", &error);
    struct memory m = memory_now();
    printf("shutdown: %.1f s; most anonymous memory %.1f MB, most resident %.1f MB\n",
           system_seconds() - begin, (double)run.samples.peak_memory / 1e6, (double)m.peak / 1e6);
    folder_remove(path);
    return code;
}
