/*
 * main.c -- how reads scale with the number of readers, and durable commits with that of writers.
 *
 * One thread and several run alternately in short slices, so that a machine that becomes slower
 * affects both. Two ratios are printed: of the calls a second, which needs idle processors, and of
 * the processor time of a call. The second says what the threads cost each other (waiting for locks
 * and for each other's cache lines) on a machine that other work shares as well.
 */
#include "bson_writer.h"
#include "system.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tansu.h>
#include <time.h>
#include <unistd.h>

#define COLLECTION "c"
#define GROUP 10 /* documents of one value of "k" */
#define MOST_THREADS 64
#define MOST_SLICES 1000

static struct {
    uint64_t documents;
    int readers, writers, slices;
    double seconds;
    const char *folder;
    bool json;
} options = {.documents = 100000,
             .readers = 2,
             .writers = 8,
             .slices = 15,
             .seconds = 0.1,
             .folder = "/tmp"};

enum work { GET, FIND, COMMIT };

static tansu_db *db;
static atomic_uint_fast64_t next_id;

/* A thread of a slice. */
struct worker {
    pthread_t thread;
    enum work work;
    uint64_t random;
    uint64_t calls;
    double until; /* when it ends; it looks itself, for real-time threads leave the one that started
                     them no processor */
    double cpu;   /* seconds of processor time */
    bool wrong;
};

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1Du;
}

static void make_document(struct bson_writer *w, int64_t id) {
    char text[160];
    memset(text, 'a' + (int)(id % 26), sizeof text);
    text[sizeof text - 1] = 0;
    bson_writer_begin(w);
    bson_writer_int64(w, "_id", id);
    bson_writer_int64(w, "k", id / GROUP);
    bson_writer_text(w, "text", text);
    bson_writer_close(w);
}

static void make_number(struct bson_writer *w, const char *key, int64_t number) {
    bson_writer_begin(w);
    bson_writer_int64(w, key, number);
    bson_writer_close(w);
}

/* is_document -- whether bytes are the document with that id. */
static bool is_document(const void *data, size_t size, int64_t id) {
    struct bson_writer w;
    make_document(&w, id);
    return size == w.size && memcmp(data, w.data, size) == 0;
}

/* get -- a random document; every thousandth is compared with what was saved. */
static bool get(struct worker *w, tansu_buffer *result) {
    struct bson_writer id;
    int64_t number = (int64_t)(next_random(&w->random) % options.documents);
    make_number(&id, "_id", number);
    if (tansu_get(db, NULL, COLLECTION, (tansu_document){id.data, id.size}, result, NULL) !=
        TANSU_OK)
        return false;
    return w->calls % 1000 != 0 || is_document(result->data, result->size, number);
}

/* find -- ten documents by an index. */
static bool find(struct worker *w) {
    struct bson_writer query;
    tansu_cursor *cursor = NULL;
    tansu_document d;
    int64_t group = (int64_t)(next_random(&w->random) % (options.documents / GROUP)), found = 0;
    make_number(&query, "k", group);
    tansu_status status = tansu_find(db, NULL, COLLECTION, (tansu_document){query.data, query.size},
                                     TANSU_NO_DOCUMENT, &cursor, NULL);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &d, NULL)) == TANSU_OK) {
        if (w->calls % 1000 == 0 && !is_document(d.data, d.size, group * GROUP + found))
            status = TANSU_E_CORRUPT;
        found++;
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE && found == GROUP;
}

/* commit -- one more document, on the disk when the call returns. */
static bool commit(void) {
    struct bson_writer w;
    make_document(&w, (int64_t)atomic_fetch_add(&next_id, 1));
    tansu_document d = {w.data, w.size};
    return tansu_save(db, NULL, "commits", &d, 1, TANSU_INSERT, NULL, NULL) == TANSU_OK;
}

static void *run_worker(void *context) {
    struct worker *w = context;
    tansu_buffer result = TANSU_BUFFER_INIT;
    double begin = cpu_seconds();
    while (!w->wrong && (w->calls % 16 != 0 || system_seconds() < w->until)) {
        w->wrong = !(w->work == GET ? get(w, &result) : w->work == FIND ? find(w) : commit());
        w->calls++;
    }
    w->cpu = cpu_seconds() - begin;
    tansu_buffer_free(&result);
    return NULL;
}

/* What a slice has measured. */
struct slice {
    double rate; /* calls a second, of all threads together */
    double cpu;  /* microseconds of processor time of a call */
};

/* run_slice -- so many threads for a while; false after a wrong result. */
static bool run_slice(enum work work, int threads, struct slice *s) {
    static struct worker workers[MOST_THREADS];
    uint64_t calls = 0;
    double cpu = 0, begin = system_seconds();
    bool right = true;
    int started = 0;
    for (; started < threads; started++) {
        workers[started] = (struct worker){.work = work,
                                           .until = begin + options.seconds,
                                           .random = 88172645463325252u + (uint64_t)started * 7919};
        if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        calls += workers[i].calls;
        cpu += workers[i].cpu;
        right = right && !workers[i].wrong;
    }
    *s = (struct slice){(double)calls / (system_seconds() - begin), cpu / (double)calls * 1e6};
    return right && started == threads && calls != 0;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static bool first_row = true;

/* measure -- a row: one thread and several, alternately. */
static bool measure(const char *name, enum work work, int threads) {
    static double rates[2][MOST_SLICES], cpus[2][MOST_SLICES], scales[MOST_SLICES],
        costs[MOST_SLICES];
    for (int i = 0; i < options.slices; i++) {
        struct slice s[2];
        for (int k = 0; k < 2; k++) {
            if (!run_slice(work, k == 0 ? 1 : threads, &s[k])) {
                fprintf(stderr, "concurrency: %s: a call failed or gave a wrong result\n", name);
                return false;
            }
            rates[k][i] = s[k].rate;
            cpus[k][i] = s[k].cpu;
        }
        scales[i] = s[1].rate / s[0].rate;
        costs[i] = s[1].cpu / s[0].cpu;
    }
    double one = median(rates[0], options.slices), all = median(rates[1], options.slices);
    double cpu_one = median(cpus[0], options.slices), cpu_all = median(cpus[1], options.slices);
    double scale = median(scales, options.slices), cost = median(costs, options.slices);
    if (options.json)
        printf("%s    {\"row\": \"%s\", \"threads\": %d, \"callsPerSecond\": [%.0f, %.0f], "
               "\"cpuMicroseconds\": [%.3f, %.3f], \"scale\": %.3f, \"bestScale\": %.3f, "
               "\"cpuRatio\": %.3f}",
               first_row ? "" : ",\n", name, threads, one, all, cpu_one, cpu_all, scale,
               scales[options.slices - 1], cost);
    else
        printf("%-12s %8d %12.0f %12.0f %8.2f %8.2f %10.2f %10.2f %8.2f\n", name, threads, one, all,
               scale, scales[options.slices - 1], cpu_one, cpu_all, cost);
    first_row = false;
    fflush(stdout);
    return true;
}

/* fill -- the documents, with an index on "k". */
static bool fill(void) {
    struct bson_writer keys;
    tansu_txn *txn = NULL;
    make_number(&keys, "k", 1);
    tansu_status status =
        tansu_index_create(db, NULL, COLLECTION, NULL, (tansu_document){keys.data, keys.size},
                           TANSU_NO_DOCUMENT, NULL, NULL, NULL);
    if (status == TANSU_OK)
        status = tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, NULL);
    for (uint64_t id = 0; status == TANSU_OK && id < options.documents; id++) {
        struct bson_writer w;
        make_document(&w, (int64_t)id);
        tansu_document d = {w.data, w.size};
        status = tansu_save(db, txn, COLLECTION, &d, 1, TANSU_INSERT, NULL, NULL);
    }
    if (status == TANSU_OK) {
        status = tansu_txn_commit(txn, NULL, NULL);
        txn = NULL;
    }
    tansu_txn_abort(txn);
    return status == TANSU_OK && tansu_checkpoint(db, NULL) == TANSU_OK;
}

/* committed -- all documents of the writers are there. */
static bool committed(void) {
    int64_t count = -1;
    return options.writers == 0 || (tansu_count(db, NULL, "commits", TANSU_NO_DOCUMENT,
                                                TANSU_NO_DOCUMENT, &count, NULL) == TANSU_OK &&
                                    (uint64_t)count == atomic_load(&next_id));
}

static bool run_all(void) {
    char machine[256];
    if (!fill())
        return false;
    system_describe(machine, sizeof machine);
    if (options.json)
        printf("{\n  \"machine\": \"%s\",\n  \"documents\": %" PRIu64 ",\n  \"rows\": [\n", machine,
               options.documents);
    else
        printf("%s\n%-12s %8s %12s %12s %8s %8s %10s %10s %8s\n", machine, "row", "threads",
               "one, 1/s", "all, 1/s", "scale", "best", "one, us", "all, us", "cpu");
    bool right = true;
    if (options.readers > 0)
        right = measure("get", GET, options.readers) && measure("equal-10", FIND, options.readers);
    if (right && options.writers > 0)
        right = measure("commit-full", COMMIT, options.writers) && committed();
    if (options.json)
        printf("\n  ]\n}\n");
    return right;
}

static void help(void) {
    printf(
        "Measures reads with one and with several readers, and durable commits with one and with\n"
        "several writers. Ends with 1 when a result was wrong.\n\n"
        "  --documents N   how many there are (100000)\n"
        "  --readers N     threads that read (2); 0: no rows of reads\n"
        "  --writers N     threads that commit (8); 0: no row of commits\n"
        "  --slices N      of each number of threads, up to 1000 (15)\n"
        "  --seconds S     of a slice (0.1)\n"
        "  --dir FOLDER    in which the database's folder is made (/tmp)\n"
        "  --json          for programs\n\n"
        "scale is the rate of all threads divided by that of one (the median of the pairs, and\n"
        "the best), cpu the same of the processor time of a call.\n");
}

/* set -- one option with its value; false when it is invalid. */
static bool set(const char *name, const char *value) {
    char *end = NULL;
    double number = strtod(value, &end);
    bool valid = *value != 0 && *end == 0 && number >= 0;
    if (strcmp(name, "--dir") == 0)
        return (options.folder = value) != NULL;
    if (strcmp(name, "--documents") == 0)
        options.documents = (uint64_t)number;
    else if (strcmp(name, "--readers") == 0)
        options.readers = (int)number;
    else if (strcmp(name, "--writers") == 0)
        options.writers = (int)number;
    else if (strcmp(name, "--slices") == 0)
        options.slices = (int)number;
    else if (strcmp(name, "--seconds") == 0)
        options.seconds = number;
    else
        return false;
    return valid && options.documents < 1000000000 && options.readers <= MOST_THREADS &&
           options.writers <= MOST_THREADS && options.slices <= MOST_SLICES && options.seconds < 60;
}

int main(int argc, char **argv) {
    char path[1024];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0) {
            options.json = true;
            continue;
        }
        if (i + 1 == argc || !set(argv[i], argv[i + 1])) {
            fprintf(stderr,
                    "concurrency: \"%s\" is not an option, or its value is invalid; see "
                    "--help\n",
                    argv[i]);
            return 64;
        }
        i++;
    }
    if (options.documents < GROUP || options.slices < 1) {
        fprintf(stderr, "concurrency: too few documents or slices; see --help\n");
        return 64;
    }
    options.documents -= options.documents % GROUP;
    snprintf(path, sizeof path, "%s/tansu-concurrency-XXXXXX", options.folder);
    tansu_error error = {0};
    if (mkdtemp(path) == NULL || tansu_open_path(path, &db, &error) != TANSU_OK) {
        fprintf(stderr, "concurrency: cannot open \"%s\": %s\n", path, error.message);
        return 1;
    }
    bool right = run_all();
    if (tansu_shutdown(db, &error) != TANSU_OK) {
        fprintf(stderr, "concurrency: shutdown: %s\n", error.message);
        right = false;
    }
    folder_remove(path);
    return right ? 0 : 1;
}
