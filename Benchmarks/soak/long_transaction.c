/*
 * long_transaction.c -- one write transaction that inserts, replaces or removes many documents:
 * what it keeps in memory until its commit, for each document that it changed.
 */
#include "documents.h"
#include "metrics.h"
#include "options.h"
#include "system.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define CALL 100

static const char about[] =
    "Changes all documents in one write transaction, and samples memory as it proceeds. Ends with\n"
    "1 when a result was wrong, 2 when memory exceeds the limit.\n";

static const struct option_help help[] = {
    {"--work", "insert, replace or remove (insert)"},
    {"--documents", "how many (500000)"},
    {"--indexes", "0 to 3 (3)"},
    {"--limit-mb", "ends when the process takes more memory (0: no limit)"},
    ENGINE_OPTIONS,
    {"--dir", "folder in which the database's is made (/tmp)"},
    {"--out", "file of samples (long-transaction.csv)"},
    {NULL, NULL}};

static struct {
    struct load_options options;
    tansu_db *db;
    struct samples samples;
    uint64_t changed;
} run = {.options = {.documents = 500000,
                     .indexes = 3,
                     .durability = TANSU_DURABILITY_PROCESS,
                     .compaction_percent = UINT64_MAX,
                     .folder = "/tmp",
                     .work = "insert",
                     .out = "long-transaction.csv"}};

/* sample -- a line after `changed` documents; 0, or 2 when memory exceeds the limit. */
static int sample(double begin) {
    char own[96];
    snprintf(own, sizeof own, "%" PRIu64 ",%.2f", run.changed, system_seconds() - begin);
    return samples_add(&run.samples, own, run.db) != 0 ? 2 : 0;
}

static tansu_status change(tansu_txn *txn, int32_t id, tansu_error *error) {
    struct bson_writer w;
    if (strcmp(run.options.work, "remove") == 0) {
        make_id(&w, id);
        return tansu_remove_id(run.db, txn, COLLECTION, (tansu_document){w.data, w.size}, NULL,
                               error);
    }
    bool replace = strcmp(run.options.work, "replace") == 0;
    make_document(&w, id, replace ? 1 : 0);
    tansu_document d = {w.data, w.size};
    return tansu_save(run.db, txn, COLLECTION, &d, 1, replace ? TANSU_REPLACE : TANSU_INSERT, NULL,
                      error);
}

/* change_all -- every document in one transaction, which it commits. */
static int change_all(void) {
    tansu_txn *txn = NULL;
    tansu_error error = {0};
    double begin = system_seconds(), last = begin;
    if (tansu_txn_begin(run.db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &error) !=
        TANSU_OK)
        return report_failure("beginning", &error);
    uint64_t before = memory_now().anonymous;
    int code = sample(begin);
    while (code == 0 && run.changed < run.options.documents) {
        if (change(txn, (int32_t)run.changed, &error) != TANSU_OK) {
            code = report_failure("changing", &error);
            break;
        }
        run.changed++;
        if (run.changed % CALL == 0 && system_seconds() - last >= 1) {
            last = system_seconds();
            code = sample(begin);
        }
    }
    uint64_t after = memory_now().anonymous;
    if (code == 0)
        code = sample(begin);
    printf("%s of %" PRIu64 " documents, %" PRIu64 " indexes: %.1f s, %.1f MB, %.0f bytes each\n",
           run.options.work, run.changed, run.options.indexes, system_seconds() - begin,
           (double)(after - before) / 1e6, (double)(after - before) / (double)run.changed);
    if (code != 0) {
        tansu_txn_abort(txn);
        return code;
    }
    if (tansu_txn_commit(txn, NULL, &error) != TANSU_OK)
        return report_failure("committing", &error);
    return sample(begin);
}

/* check -- all documents are as the transaction left them, in every index. */
static int check(void) {
    struct totals c;
    tansu_error error = {0};
    bool removed = strcmp(run.options.work, "remove") == 0;
    bool replaced = strcmp(run.options.work, "replace") == 0;
    int64_t documents = removed ? 0 : (int64_t)run.options.documents;
    if (scan_totals(run.db, NULL, &c, NULL, NULL) != 0)
        return 1;
    int wrong = c.documents != documents || c.changes != (replaced ? documents : 0);
    for (uint64_t i = 0; i < run.options.indexes; i++) {
        int64_t count = -1;
        if (count_by_index(run.db, NULL, document_paths[i], &count, &error) != TANSU_OK)
            return report_failure("counting", &error);
        wrong |= count != documents;
    }
    if (wrong)
        fprintf(stderr, "long-transaction: the documents are not those of the transaction\n");
    return wrong;
}

static int run_all(const char *path) {
    tansu_error error = {0};
    if (create_indexes(run.db, (int)run.options.indexes, &error) != TANSU_OK)
        return report_failure("creating indexes", &error);
    if (strcmp(run.options.work, "insert") != 0 &&
        insert_documents(run.db, run.options.documents, &error) != TANSU_OK)
        return report_failure("inserting documents", &error);
    if (tansu_checkpoint(run.db, &error) != TANSU_OK)
        return report_failure("checkpoint", &error);
    if (samples_begin(&run.samples, run.options.out, path, "documents,seconds", run.db,
                      run.options.limit_mb * 1000000) != 0)
        return 1;
    int code = change_all();
    if (code == 0)
        code = check();
    if (code == 0 && tansu_checkpoint(run.db, &error) != TANSU_OK)
        code = report_failure("checkpoint", &error);
    samples_end(&run.samples);
    printf("after a checkpoint: anonymous %.1f MB; most anonymous memory %.1f MB\n",
           (double)memory_now().anonymous / 1e6, (double)run.samples.peak_memory / 1e6);
    return code;
}

/* known_work -- whether there is such a load. */
static bool known_work(const char *work) {
    return strcmp(work, "insert") == 0 || strcmp(work, "replace") == 0 ||
           strcmp(work, "remove") == 0;
}

int main(int argc, char **argv) {
    char path[1024];
    tansu_error error = {0};
    int code = options_parse(argc, argv, "long-transaction", about, help, &run.options);
    if (code >= 0)
        return code;
    if (run.options.documents == 0 || run.options.documents > INT32_MAX ||
        run.options.indexes > DOCUMENT_INDEXES || !known_work(run.options.work)) {
        fprintf(stderr, "long-transaction: work, documents or indexes out of bounds; see --help\n");
        return 64;
    }
    if (options_open(&run.options, path, &run.db, &error) != TANSU_OK)
        return report_failure("opening", &error);
    code = run_all(path);
    if (tansu_shutdown(run.db, &error) != TANSU_OK)
        code = report_failure("shutdown", &error);
    folder_remove(path);
    return code;
}
