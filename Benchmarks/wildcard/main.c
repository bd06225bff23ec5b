/*
 * main.c -- what a wildcard index costs and saves, next to indexes on single paths: documents of
 * five fields and an `_id`, inserted in transactions of a thousand and one by one, without an
 * index, with one on the city, with one on each field, and with a wildcard index; the size of the
 * index files; and queries by each.
 *
 * Processor time of the whole process counts (checkpoints included), since other work on the
 * machine changes it least. The databases take turns, and medians are printed. A wrong answer ends
 * the program with exit code 1.
 */
#include "bson_writer.h"
#include "system.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tansu.h>

#define COLLECTION "c"
#define CITIES 2000
#define BATCH 1000
#define MOST_ROUNDS 25

static uint32_t documents = 100000, singles = 20000, calls = 20000, rounds = 5;
static const char *place = "/tmp";

enum subject { NONE, CITY, FIELDS, WILDCARD, SUBJECTS };
static const char *const subject_names[] = {"no index", "one index", "five indexes",
                                            "wildcard index"};

enum measure { WRITE, WRITE_SINGLE, SIZE, EQUAL, RANGE, ANYWHERE, MEASURES };
static double results[SUBJECTS][MEASURES][MOST_ROUNDS];

/* fail -- ends the program. */
static void fail(const char *what) {
    fprintf(stderr, "wildcard: %s\n", what);
    exit(1);
}

/* must -- ends the program unless a call succeeded. */
static void must(tansu_status status, const char *what, const tansu_error *error) {
    if (status == TANSU_OK)
        return;
    fprintf(stderr, "wildcard: %s: %s\n", what, error->message);
    exit(1);
}

/* cpu -- seconds of processor time of this process. */
static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* mix -- a number that looks random. */
static uint32_t mix(uint32_t n) {
    n = (n ^ (n >> 16)) * 0x45D9F3Bu;
    n = (n ^ (n >> 16)) * 0x45D9F3Bu;
    return n ^ (n >> 16);
}

/* document -- the document with a number. */
static void document(struct bson_writer *w, uint32_t n) {
    char text[40];
    bson_writer_begin(w);
    bson_writer_int32(w, "_id", (int32_t)n);
    snprintf(text, sizeof text, "name-%08" PRIx32, mix(n));
    bson_writer_text(w, "name", text);
    snprintf(text, sizeof text, "city-%04" PRIu32, mix(n + 7) % CITIES);
    bson_writer_text(w, "city", text);
    bson_writer_int32(w, "age", (int32_t)(mix(n + 13) % 100));
    bson_writer_int64(w, "joined", 1600000000000 + (int64_t)mix(n + 17) * 40);
    bson_writer_int32(w, "score", (int32_t)(mix(n + 23) % 1000000));
    bson_writer_close(w);
}

/* create -- an index on one path. */
static void create(tansu_db *db, const char *path) {
    struct bson_writer keys;
    tansu_error error;
    bson_writer_begin(&keys);
    bson_writer_int32(&keys, path, 1);
    bson_writer_close(&keys);
    must(tansu_index_create(db, NULL, COLLECTION, path, (tansu_document){keys.data, keys.size},
                            TANSU_NO_DOCUMENT, NULL, NULL, &error),
         "create index", &error);
}

/* insert -- documents from one number to another, so many in a transaction; 1: without one. */
static void insert(tansu_db *db, uint32_t first, uint32_t last, uint32_t batch) {
    static struct bson_writer writers[BATCH];
    tansu_document list[BATCH];
    tansu_error error;
    for (uint32_t n = first; n < last; n += batch) {
        for (uint32_t i = 0; i < batch; i++) {
            document(&writers[i], n + i);
            list[i] = (tansu_document){writers[i].data, writers[i].size};
        }
        must(tansu_save(db, NULL, COLLECTION, list, batch, TANSU_INSERT, NULL, &error), "insert",
             &error);
    }
}

/* count -- how many documents a query has. */
static uint64_t count(tansu_db *db, const struct bson_writer *query) {
    tansu_error error;
    tansu_cursor *cursor;
    tansu_document d;
    uint64_t found = 0;
    must(tansu_find(db, NULL, COLLECTION, (tansu_document){query->data, query->size},
                    TANSU_NO_DOCUMENT, &cursor, &error),
         "find", &error);
    while (tansu_cursor_next(cursor, &d, &error) == TANSU_OK)
        found++;
    tansu_cursor_close(cursor);
    return found;
}

/* ask -- microseconds of a query, of one kind, and the sum of what they found. */
static double ask(tansu_db *db, enum measure kind, uint32_t times, uint64_t *found) {
    struct bson_writer q;
    char text[40];
    double start = cpu();
    *found = 0;
    for (uint32_t i = 0; i < times; i++) {
        uint32_t city = mix(i) % CITIES;
        bson_writer_begin(&q);
        if (kind == RANGE) {
            bson_writer_open_document(&q, "city");
            snprintf(text, sizeof text, "city-%04" PRIu32, city);
            bson_writer_text(&q, "$gte", text);
            snprintf(text, sizeof text, "city-%04" PRIu32, city + 2);
            bson_writer_text(&q, "$lt", text);
            bson_writer_close(&q);
        } else {
            snprintf(text, sizeof text, "city-%04" PRIu32, city);
            bson_writer_text(&q, kind == ANYWHERE ? "**" : "city", text);
        }
        bson_writer_close(&q);
        *found += count(db, &q);
    }
    return 1e6 * (cpu() - start) / times;
}

/* measure_subject -- one database. Its answers are in *found. */
static void measure_subject(enum subject s, uint32_t round, uint64_t found[MEASURES]) {
    static const char *const paths[] = {"city", "name", "age", "joined", "score"};
    char folder[4096], index[4200];
    tansu_options o;
    tansu_error error;
    tansu_db *db;
    struct folder_size size;
    double *out = &results[s][0][round];
    snprintf(folder, sizeof folder, "%s/tansu-wildcard-benchmark", place);
    snprintf(index, sizeof index, "%s/index", folder);
    (void)folder_remove(folder);
    tansu_options_init(&o);
    o.path = folder;
    o.durability = TANSU_DURABILITY_PROCESS;
    must(tansu_open(&o, &db, &error), "open", &error);
    if (s == WILDCARD)
        create(db, "**");
    for (uint32_t i = 0; i < (s == CITY ? 1u : s == FIELDS ? 5u : 0u); i++)
        create(db, paths[i]);
    double start = cpu();
    insert(db, 0, documents, BATCH);
    must(tansu_checkpoint(db, &error), "checkpoint", &error);
    out[WRITE * MOST_ROUNDS] = 1e6 * (cpu() - start) / documents;
    if (folder_size(index, &size) != 0)
        fail("the size of the index files is not known");
    out[SIZE * MOST_ROUNDS] = (double)size.apparent / documents;
    for (enum measure m = EQUAL; m <= ANYWHERE; m++) {
        bool scans = s == NONE || (m == ANYWHERE && s != WILDCARD);
        uint32_t times = scans ? 20 : calls;
        uint64_t ignored;
        (void)ask(db, m, 20, &found[m]);
        out[m * MOST_ROUNDS] = ask(db, m, times, &ignored);
    }
    start = cpu();
    insert(db, documents, documents + singles, 1);
    out[WRITE_SINGLE * MOST_ROUNDS] = 1e6 * (cpu() - start) / singles;
    must(tansu_shutdown(db, &error), "close", &error);
    (void)folder_remove(folder);
}

/* compare_doubles -- for qsort(). */
static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* median -- of the rounds. */
static double median(enum subject s, enum measure m) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, results[s][m], rounds * sizeof *sorted);
    qsort(sorted, rounds, sizeof *sorted, compare_doubles);
    return sorted[rounds / 2];
}

/* print_table -- the medians, and what the wildcard index costs in single indexes. */
static void print_table(void) {
    printf("| microseconds, bytes a document | batches | singly | index files | equality | range | "
           "`**` |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (enum subject s = 0; s < SUBJECTS; s++)
        printf("| %s | %.2f | %.2f | %.0f | %.2f | %.2f | %.2f |\n", subject_names[s],
               median(s, WRITE), median(s, WRITE_SINGLE), median(s, SIZE), median(s, EQUAL),
               median(s, RANGE), median(s, ANYWHERE));
    for (enum measure m = WRITE; m <= SIZE; m++) {
        static const char *const names[] = {"in batches", "singly", "size"};
        double cost = median(WILDCARD, m) - median(NONE, m);
        printf("%s: %.2f times one index, %.2f times five\n", names[m],
               cost / (median(CITY, m) - median(NONE, m)),
               cost / (median(FIELDS, m) - median(NONE, m)));
    }
    printf("equality: %.2f times that by the index on the path\n",
           median(WILDCARD, EQUAL) / median(CITY, EQUAL));
}

/* number_of -- the value of an option. */
static uint32_t number_of(const char *text, uint32_t most) {
    unsigned long number = text != NULL ? strtoul(text, NULL, 10) : 0;
    if (number == 0 || number > most)
        fail("an option needs a number; see --help");
    return (uint32_t)number;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--documents") == 0)
            documents = number_of(value, 10000000);
        else if (strcmp(argv[i], "--calls") == 0)
            calls = number_of(value, 10000000);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = number_of(value, MOST_ROUNDS);
        else if (strcmp(argv[i], "--dir") == 0 && value != NULL)
            place = value;
        else {
            printf("run-wildcard [--documents 100000] [--calls 20000] [--rounds 5] [--dir /tmp]\n"
                   "Wildcard indexes next to indexes on single paths.\n");
            return strcmp(argv[i], "--help") == 0 ? 0 : 2;
        }
    }
    documents -= documents % BATCH;
    if (documents == 0)
        documents = BATCH;
    if (singles > documents)
        singles = documents;
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t expected[MEASURES] = {0}, found[MEASURES] = {0};
        for (enum subject s = 0; s < SUBJECTS; s++) {
            measure_subject(s, round, s == NONE ? expected : found);
            if (s != NONE && memcmp(expected, found, sizeof found) != 0)
                fail("an index changed an answer");
        }
    }
    print_table();
    return 0;
}
