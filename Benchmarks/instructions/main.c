/*
 * main.c -- one hot path of the engine at a time, on fixed documents, for a tool that counts
 * instructions.
 *
 * `Benchmarks/run-instructions` runs this under callgrind, which counts only what happens inside
 * measured(): filling the database before is not counted, nor are other threads. The program
 * prints how many operations it measured; the script divides.
 */
#include "bench.h"
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 8000   /* in the database before a path is measured */
#define OPERATIONS 2000  /* measured ones */
#define EQUALITIES 200   /* measured queries of GENERATOR_PER_NAME documents */
#define WARM_UP 20       /* operations before: the first of a kind allocate what later ones use */
#define LOG_COMMITS 2000 /* that opening replays */

struct run {
    const struct path *path;
    const char *folder;
    struct store *store;
    struct generator generator;
    struct corpus corpus;
    uint32_t *numbers; /* random documents */
    size_t operations; /* that were measured */
    char error[BENCH_ERROR_SIZE];
};

/* A path that is measured. */
struct path {
    const char *name;
    int indexes;
    bool follows; /* in a reader beside the store that writes */
    bool replays; /* on the database that `prepare` left, and not on one of its own */
    size_t operations;
    int (*run)(struct run *run, size_t first, size_t count);
};

/* open_store -- opens or creates the database; `follows`: to read it, while another store of this
 * process writes. */
static int open_store(struct run *run, bool follows) {
    struct settings settings = {.durability = DURABILITY_PROCESS, .follows = follows};
    return tansu_engine.open(run->folder, &settings, &run->store, run->error);
}

/* commit_each -- documents, one a commit. */
static int commit_each(struct run *run, size_t first, size_t count) {
    for (size_t i = first; i < first + count; i++)
        if (tansu_engine.insert(run->store, &run->corpus.documents[DOCUMENTS + i], 1) != 0)
            return -1;
    return 0;
}

/* save_all -- documents in one transaction. */
static int save_all(struct run *run, size_t first, size_t count) {
    const struct document *documents = run->corpus.documents + DOCUMENTS + first;
    return tansu_engine.begin(run->store) != 0 ||
                   tansu_engine.insert(run->store, documents, count) != 0 ||
                   tansu_engine.commit(run->store) != 0
               ? -1
               : 0;
}

/* get_each -- random documents by id. */
static int get_each(struct run *run, size_t first, size_t count) {
    struct sink sink = {.documents = 0};
    for (size_t i = first; i < first + count; i++)
        if (tansu_engine.get(run->store, (int64_t)run->numbers[i] + 1, &sink) != 0)
            return -1;
    return 0;
}

/* equal_each -- queries by an indexed field. */
static int equal_each(struct run *run, size_t first, size_t count) {
    struct sink sink = {.documents = 0};
    char text[GENERATOR_TEXT_SIZE];
    for (size_t i = first; i < first + count; i++) {
        struct query query = {.kind = QUERY_NAME, .text = text};
        generator_name(run->generator.names[run->numbers[i]], text);
        if (tansu_engine.find(run->store, &query, &sink) != 0)
            return -1;
    }
    return 0;
}

/* count_each -- counts by an index on a path of two parts. */
static int count_each(struct run *run, size_t first, size_t count) {
    char text[GENERATOR_TEXT_SIZE];
    for (size_t i = first; i < first + count; i++) {
        struct query query = {.kind = QUERY_CITY, .text = text};
        int64_t found = 0;
        generator_city((uint32_t)i % GENERATOR_CITIES, text);
        if (tansu_engine.count(run->store, &query, &found) != 0 || found == 0)
            return -1;
    }
    return 0;
}

/* scan -- one query that no index serves, over all documents. */
static int scan(struct run *run, size_t first, size_t count) {
    struct sink sink = {.documents = 0};
    char text[GENERATOR_TEXT_SIZE];
    struct query query = {.kind = QUERY_ZIP, .text = text};
    (void)count;
    generator_zip((uint32_t)first % GENERATOR_ZIPS, text);
    return tansu_engine.find(run->store, &query, &sink);
}

/* remove_all -- random documents in one transaction. */
static int remove_all(struct run *run, size_t first, size_t count) {
    if (tansu_engine.begin(run->store) != 0)
        return -1;
    for (size_t i = first; i < first + count; i++)
        if (tansu_engine.remove(run->store, (int64_t)run->numbers[i] + 1) != 0)
            return -1;
    return tansu_engine.commit(run->store);
}

/* replay -- opens the database that a process left without closing it. */
static int replay(struct run *run, size_t first, size_t count) {
    (void)first;
    (void)count;
    return open_store(run, false);
}

/* replay_count -- the same, and the first count by an index. */
static int replay_count(struct run *run, size_t first, size_t count) {
    return replay(run, first, count) != 0 ? -1 : count_each(run, 0, 1);
}

/* replay_use -- the same, and a write, for which all indexes are brought up to date. */
static int replay_use(struct run *run, size_t first, size_t count) {
    return replay(run, first, count) != 0 ? -1 : commit_each(run, LOG_COMMITS, 1);
}

static const struct path paths[] = {
    {"save-0", 0, false, false, OPERATIONS, save_all},
    {"save-2", 2, false, false, OPERATIONS, save_all},
    {"commit", 0, false, false, OPERATIONS, commit_each},
    {"get", 2, false, false, OPERATIONS, get_each},
    {"get-follow", 2, true, false, OPERATIONS, get_each},
    {"equal-10", 2, false, false, EQUALITIES, equal_each},
    {"count", 2, false, false, EQUALITIES, count_each},
    {"scan", 0, false, false, DOCUMENTS, scan},
    {"remove", 2, false, false, OPERATIONS, remove_all},
    {"replay", 2, false, true, LOG_COMMITS, replay},
    {"replay-count", 2, false, true, LOG_COMMITS, replay_count},
    {"replay-use", 2, false, true, LOG_COMMITS, replay_use},
};
#define PATHS (sizeof paths / sizeof paths[0])

/* measured -- what callgrind counts; a function of its own in every build. */
__attribute__((noinline)) int measured(struct run *run);
int measured(struct run *run) {
    return run->path->run(run, WARM_UP, run->path->operations);
}

/* make_documents -- the ones in the database, and the ones to be saved. */
static int make_documents(struct run *run) {
    size_t count =
        DOCUMENTS + (OPERATIONS + WARM_UP + GENERATOR_STEP) / GENERATOR_STEP * GENERATOR_STEP;
    if (generator_init(&run->generator, count) == 0 &&
        corpus_make(&run->generator, 0, count, 0, &run->corpus) == 0)
        run->numbers = random_numbers(DOCUMENTS, DOCUMENTS, 1);
    if (run->numbers != NULL)
        return 0;
    snprintf(run->error, sizeof run->error, "out of memory");
    return -1;
}

/* fill -- a new database with its indexes and documents. */
static int fill(struct run *run, int indexes) {
    if (open_store(run, false) != 0)
        return -1;
    if ((indexes > 0 && tansu_engine.index_create(run->store, FIELD_NAME) != 0) ||
        (indexes > 1 && tansu_engine.index_create(run->store, FIELD_CITY) != 0) ||
        tansu_engine.begin(run->store) != 0 ||
        tansu_engine.insert(run->store, run->corpus.documents, DOCUMENTS) != 0 ||
        tansu_engine.commit(run->store) != 0)
        return -1;
    return tansu_engine.quiesce(run->store);
}

/* prepare -- the database for those that replay: filled, checkpointed, and commits after that. It is not
 * closed: the process ends. */
static int prepare(struct run *run) {
    return fill(run, 2) != 0 ? -1 : commit_each(run, 0, LOG_COMMITS);
}

/* warm_up -- the database, and what the first operations of a kind allocate. A reader has loaded what
 * the operations read. */
static int warm_up(struct run *run) {
    const struct path *path = run->path;
    if (fill(run, path->indexes) != 0 || (path->follows && open_store(run, true) != 0))
        return -1;
    return path->run(run, 0, path->follows ? WARM_UP + path->operations : WARM_UP);
}

/* run_path -- sets up, warms up, and measures. */
static int run_path(struct run *run) {
    if ((!run->path->replays && warm_up(run) != 0) || measured(run) != 0)
        return -1;
    printf("%zu\n", run->path->operations);
    return 0;
}

/* path_named -- NULL when there is none. */
static const struct path *path_named(const char *name) {
    for (size_t i = 0; i < PATHS; i++)
        if (strcmp(paths[i].name, name) == 0)
            return &paths[i];
    return NULL;
}

/* main -- instructions PATH FOLDER, or prepare FOLDER, or --list. */
int main(int argc, char **argv) {
    struct run run = {.folder = argc == 3 ? argv[2] : NULL};
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < PATHS; i++)
            printf("%s\n", paths[i].name);
        return 0;
    }
    bool prepares = argc == 3 && strcmp(argv[1], "prepare") == 0;
    run.path = argc == 3 ? path_named(argv[1]) : NULL;
    if (!prepares && run.path == NULL) {
        fprintf(stderr, "usage: instructions PATH FOLDER | prepare FOLDER | --list\n");
        return 2;
    }
    if (make_documents(&run) != 0 || (prepares ? prepare(&run) : run_path(&run)) != 0) {
        fprintf(stderr, "instructions: %s\n",
                run.store != NULL && run.error[0] == '\0' ? run.store->error : run.error);
        return 1;
    }
    fflush(stdout);
    /* Without closing: for `replay` this is the point, for the others only time. */
    _exit(0);
}
