/*
 * held_snapshot.c -- the cost of one snapshot that is held while documents are replaced: memory
 * over updates.
 */
#include "documents.h"
#include "metrics.h"
#include "options.h"
#include "system.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define SAMPLES 50

static const char about[] =
    "Holds one read transaction while documents of a fixed set are replaced, and samples memory\n"
    "fifty times on the way. Ends with 1 when a result was wrong, 2 when memory exceeds the "
    "limit.\n";

static const struct option_help help[] = {
    {"--documents", "how many there are (20000)"},
    {"--updates", "how many are replaced (1000000)"},
    {"--indexes", "0 to 3 (3)"},
    {"--held", "1: a snapshot is held; 0: none, to compare with (1)"},
    {"--durability", "full, process or interval (process)"},
    {"--limit-mb", "ends when the process takes more memory (0: no limit)"},
    ENGINE_OPTIONS,
    {"--dir", "folder in which the database's is made (/tmp)"},
    {"--out", "file of samples (held-snapshot.csv)"},
    {NULL, NULL}};

static struct {
    struct load_options options;
    tansu_db *db;
    tansu_txn *snapshot;
    struct samples samples;
    int32_t *changes;
} run = {.options = {.documents = 20000,
                     .updates = 1000000,
                     .indexes = 3,
                     .hold = 1,
                     .durability = TANSU_DURABILITY_PROCESS,
                     .compaction_percent = UINT64_MAX,
                     .folder = "/tmp",
                     .out = "held-snapshot.csv"}};

static tansu_status save(int32_t id, tansu_error *error) {
    struct bson_writer w;
    make_document(&w, id, ++run.changes[id]);
    tansu_document d = {w.data, w.size};
    return tansu_save(run.db, NULL, COLLECTION, &d, 1, TANSU_SAVE, NULL, error);
}

/* sample -- the metrics after `updates`; 0, or 2 when memory exceeds the limit. */
static int sample(uint64_t updates, double begin) {
    char own[64];
    snprintf(own, sizeof own, "%" PRIu64 ",%.2f", updates, system_seconds() - begin);
    int over = samples_add(&run.samples, own, run.db) != 0;
    if (updates % (run.options.updates / 10 + (run.options.updates < 10)) == 0 || over) {
        struct memory m = memory_now();
        printf("%9" PRIu64 " updates, %6.1f s: anonymous %6.1f MB, resident %6.1f MB, log %6.1f "
               "MB\n",
               updates, system_seconds() - begin, (double)m.anonymous / 1e6,
               (double)m.resident / 1e6, stats_value(run.db, "logBytes", 0) / 1e6);
    }
    return over ? 2 : 0;
}

/* work -- the updates. */
static int work(void) {
    uint64_t random = 88172645463325252u;
    uint64_t every = run.options.updates / SAMPLES + (run.options.updates < SAMPLES);
    tansu_error error = {0};
    double begin = system_seconds();
    int code = sample(0, begin);
    for (uint64_t i = 1; i <= run.options.updates && code == 0; i++) {
        if (save((int32_t)(next_random(&random) % run.options.documents), &error) != TANSU_OK)
            return report_failure("saving", &error);
        if (i % every == 0)
            code = sample(i, begin);
    }
    return code;
}

/* check_snapshot -- the snapshot still has every document as it was at its beginning, in each
 * index, too. */
static int check_snapshot(void) {
    struct totals c;
    tansu_error error = {0};
    if (scan_totals(run.db, run.snapshot, &c, NULL, NULL) != 0)
        return 1;
    int wrong = c.documents != (int64_t)run.options.documents || c.changes != 0;
    for (uint64_t i = 0; i < run.options.indexes; i++) {
        int64_t count = -1;
        if (count_by_index(run.db, run.snapshot, document_paths[i], &count, &error) != TANSU_OK)
            return report_failure("counting", &error);
        wrong |= count != c.documents;
    }
    if (wrong)
        fprintf(stderr, "held-snapshot: the snapshot has changed\n");
    return wrong;
}

/* release -- releases the snapshot, and prints the memory in use three seconds later. */
static void release(void) {
    tansu_txn_abort(run.snapshot);
    run.snapshot = NULL;
    for (int i = 0; i < 3; i++)
        sleep(1);
    struct memory m = memory_now();
    printf("after the release of the snapshot: anonymous %.1f MB, resident %.1f MB\n",
           (double)m.anonymous / 1e6, (double)m.resident / 1e6);
}

/* run_all -- the whole run; the exit code. */
static int run_all(const char *path) {
    tansu_error error = {0};
    if (create_indexes(run.db, (int)run.options.indexes, &error) != TANSU_OK)
        return report_failure("creating indexes", &error);
    if (insert_documents(run.db, run.options.documents, &error) != TANSU_OK)
        return report_failure("inserting documents", &error);
    if (run.options.hold && tansu_txn_begin(run.db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT,
                                            &run.snapshot, &error) != TANSU_OK)
        return report_failure("acquiring a snapshot", &error);
    if (samples_begin(&run.samples, run.options.out, path, "updates,seconds", run.db,
                      run.options.limit_mb * 1000000) != 0)
        return 1;
    int code = work();
    samples_end(&run.samples);
    if (run.options.hold) {
        if (check_snapshot() != 0)
            code = 1;
        release();
    }
    if (code == 0 && tansu_verify(run.db, NULL, NULL, NULL, &error) != TANSU_OK)
        code = report_failure("verify", &error);
    return code;
}

int main(int argc, char **argv) {
    char path[1024];
    tansu_error error = {0};
    int code = options_parse(argc, argv, "held-snapshot", about, help, &run.options);
    if (code >= 0)
        return code;
    if (run.options.documents == 0 || run.options.documents > INT32_MAX ||
        run.options.indexes > DOCUMENT_INDEXES) {
        fprintf(stderr, "held-snapshot: documents or indexes out of bounds; see --help\n");
        return 64;
    }
    run.changes = calloc(run.options.documents, sizeof *run.changes);
    if (run.changes == NULL || options_open(&run.options, path, &run.db, &error) != TANSU_OK) {
        free(run.changes);
        return report_failure("opening", &error);
    }
    code = run_all(path);
    tansu_txn_abort(run.snapshot);
    if (tansu_shutdown(run.db, &error) != TANSU_OK)
        code = report_failure("shutdown", &error);
    folder_remove(path);
    free(run.changes);
    return code;
}
