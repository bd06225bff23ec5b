/*
 * held_snapshot.c -- what one snapshot costs that is held while documents are replaced: memory over updates.
 */
#include "documents.h"
#include "gauges.h"
#include "options.h"
#include "system.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define SAMPLES 50

static const char about[] =
    "Holds one read transaction while documents of a fixed set are replaced, and samples memory\n"
    "fifty times on the way. Ends with 1 when an answer was wrong, 2 when memory went over the "
    "limit.\n";

static const struct option_help help[] = {
    {"--documents", "how many there are (20000)"},
    {"--updates", "how many are replaced (1000000)"},
    {"--indexes", "0 to 3 (3)"},
    {"--held", "1: a snapshot is held; 0: none, to compare with (1)"},
    {"--durability", "full, process or interval (process)"},
    {"--limit-mb", "ends when the process takes more memory (0: no limit)"},
    {"--checkpoint-bytes", "as the engine's options; by default as these"},
    {"--compaction-percent", ""},
    {"--segment-size", ""},
    {"--index-cache-bytes", ""},
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

static int told(const char *what, const tansu_error *error) {
    fprintf(stderr, "held-snapshot: %s: %s: %s\n", what, tansu_status_name(error->code),
            error->message);
    return 1;
}

static tansu_status save(int32_t id, tansu_error *error) {
    struct bson_writer w;
    make_document(&w, id, run.changes[id]++);
    tansu_document d = {w.data, w.size};
    return tansu_save(run.db, NULL, COLLECTION, &d, 1, TANSU_SAVE, NULL, error);
}

/* sample -- memory after so many updates; 0, or 2 when it is over the limit. */
static int sample(uint64_t updates, double begin) {
    char own[64];
    snprintf(own, sizeof own, "%" PRIu64 ",%.2f", updates, system_seconds() - begin);
    int over = samples_add(&run.samples, own, run.db) != 0;
    if (updates % (run.options.updates / 10 + (run.options.updates < 10)) == 0 || over) {
        struct memory m = memory_now();
        printf("%9" PRIu64 " updates, %6.1f s: anonymous %6.1f MB, resident %6.1f MB, log %6.1f "
               "MB\n",
               updates, system_seconds() - begin, (double)m.anonymous / 1e6,
               (double)m.resident / 1e6, stats_figure(run.db, "logBytes", 0) / 1e6);
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
            return told("saving", &error);
        if (i % every == 0)
            code = sample(i, begin);
    }
    return code;
}

/* check_snapshot -- it holds every document as it was when it was begun, in each index too. */
static int check_snapshot(void) {
    struct census c;
    tansu_error error = {0};
    if (take_census(run.db, run.snapshot, &c, NULL, NULL) != 0)
        return 1;
    int wrong = c.documents != (int64_t)run.options.documents || c.changes != 0;
    for (uint64_t i = 0; i < run.options.indexes; i++) {
        int64_t count = -1;
        if (count_by_index(run.db, run.snapshot, document_paths[i], &count, &error) != TANSU_OK)
            return told("counting", &error);
        wrong |= count != c.documents;
    }
    if (wrong)
        fprintf(stderr, "held-snapshot: the snapshot is not what it was\n");
    return wrong;
}

/* release -- ends the snapshot, and looks how much memory is left after a while. */
static void release(void) {
    tansu_txn_abort(run.snapshot);
    run.snapshot = NULL;
    for (int i = 0; i < 3; i++)
        sleep(1);
    struct memory m = memory_now();
    printf("after the snapshot has ended: anonymous %.1f MB, resident %.1f MB\n",
           (double)m.anonymous / 1e6, (double)m.resident / 1e6);
}

/* run_all -- from the documents to the end; the exit code. */
static int run_all(const char *path) {
    tansu_error error = {0};
    if (create_indexes(run.db, (int)run.options.indexes, &error) != TANSU_OK)
        return told("creating indexes", &error);
    for (uint64_t i = 0; i < run.options.documents; i++)
        if (save((int32_t)i, &error) != TANSU_OK)
            return told("filling", &error);
    if (run.options.hold && tansu_txn_begin(run.db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT,
                                            &run.snapshot, &error) != TANSU_OK)
        return told("taking a snapshot", &error);
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
        code = told("verify", &error);
    return code;
}

int main(int argc, char **argv) {
    char path[1024];
    tansu_error error = {0};
    int code = options_parse(argc, argv, about, help, &run.options);
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
        return told("opening", &error);
    }
    code = run_all(path);
    tansu_txn_abort(run.snapshot);
    if (tansu_shutdown(run.db, &error) != TANSU_OK)
        code = told("shutdown", &error);
    folder_remove(path);
    free(run.changes);
    return code;
}
