/*
 * test_store_differential.c -- random work on a database and on a plain model of it, the two
 * compared again and again: also within transactions, after aborts, checkpoints and reopenings, and
 * after the folder of the indexes was deleted.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"
#include "support/timing.h"

#include <stdlib.h>
#include <time.h>

/* How long one store is worked on, in seconds; TANSU_MODEL_SECONDS makes it longer. */
static double seconds_a_store(void) {
    const char *text = getenv("TANSU_MODEL_SECONDS");
    return text != NULL ? strtod(text, NULL) : 2.0;
}

/* check_all -- documents, indexes and the sequence number. */
static void check_all(const store_model *m, random_source *source, tansu_db *db) {
    store_model_check(m, source, db, NULL);
    CHECK_INT(m->commits, call_statistic(db, "sequence"));
}

/* work -- steps of all kinds on one store; `path` NULL: in memory. */
static void work(const char *path, uint64_t stream, uint64_t checkpoint_bytes,
                 uint64_t cache_bytes) {
    random_source source = random_start(stream);
    store_model m = {.most_pad = 60000};
    tansu_options options = call_options(path);
    options.checkpoint_bytes = checkpoint_bytes;
    options.index_cache_bytes = cache_bytes;
    tansu_db *db = call_open_with(&options);
    double until = timing_now() + seconds_a_store();
    uint64_t steps = 0, openings = 0;
    uint64_t failed_before = check_failures();
    while (timing_now() < until && check_failures() == failed_before) {
        unsigned kind = (unsigned)random_below(&source, 400);
        steps++;
        if (kind == 0 && path != NULL) {
            check_all(&m, &source, db);
            call_close(db);
            if (random_chance(&source, 40))
                folder_remove(folder_join(path, "index"));
            db = call_open_with(&options);
            check_all(&m, &source, db);
            openings++;
        } else if (kind < 4) {
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        } else if (kind < 8) {
            check_all(&m, &source, db);
        } else {
            store_model_step(&m, &source, db);
        }
    }
    check_all(&m, &source, db);
    call_close(db);
    check_note("%s: %llu steps, %llu commits, %llu reopenings", path == NULL ? "memory" : "folder",
               (unsigned long long)steps, (unsigned long long)m.commits,
               (unsigned long long)openings);
}

static void a_memory_store_equals_the_model(void) {
    work(NULL, 1, (uint64_t)64 << 20, (uint64_t)64 << 20);
}

static void a_folder_equals_the_model(void) {
    char *folder = folder_new();
    work(folder, 2, (uint64_t)64 << 20, (uint64_t)64 << 20);
    folder_end(folder);
}

static void a_folder_with_checkpoints_and_evictions_equals_the_model(void) {
    char *folder = folder_new();
    work(folder, 3, 20000, 1);
    folder_end(folder);
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(a_memory_store_equals_the_model);
    RUN(a_folder_equals_the_model);
    RUN(a_folder_with_checkpoints_and_evictions_equals_the_model);
    return check_finish();
}
