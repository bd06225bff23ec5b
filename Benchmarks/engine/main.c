/*
 * main.c -- the command line of the benchmark: Tansu, SQLite and LMDB, row by row, A B A B,
 * in one run.
 *
 * Exit codes: 0 all rows ran and the engines gave the same answers (whatever the times), 1 an
 * engine failed or the answers differ, 2 wrong usage.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct arguments {
    size_t documents;
    size_t repetitions;
    const char *rows; /* comma-separated keys, or NULL for all */
    const char *folder;
    unsigned subjects; /* which engines */
    bool json;
    bool keep;
    bool sqlite_exclusive;
    bool processor_time;
    uint64_t cache_bytes;
};

/* print_usage -- what --help prints. */
static void print_usage(FILE *file) {
    size_t count;
    const struct row *rows = rows_all(&count);
    fprintf(file, "usage: bench [options]\n"
                  "Compares Tansu with SQLite and LMDB on the same generated documents.\n\n"
                  "  --docs N            documents (default 200000; rounded up to 400s)\n"
                  "  --reps N            repetitions of each row, A B A B (default 3, at most 99)\n"
                  "  --rows a,b,c        only these rows\n"
                  "  --only ENGINE       only tansu, only sqlite or only lmdb: for profiling\n"
                  "  --dir FOLDER        where the databases go (default TMPDIR or /tmp)\n"
                  "  --sqlite-exclusive  SQLite with locking_mode=EXCLUSIVE\n"
                  "  --cache MIB         cache of blocks and pages, for all but LMDB\n"
                  "  --processor         processor time of rows that wait for no disk\n"
                  "  --json              JSON instead of a table\n"
                  "  --keep              leave the databases there\n"
                  "  --help              this text\n\nrows:\n");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "  %-18s  %s\n", rows[i].key, rows[i].title);
}

/* parse_number -- a positive whole number of an option; 0 when it is not one. */
static size_t parse_number(const char *text) {
    char *end = NULL;
    errno = 0;
    unsigned long number = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    return end != NULL && *end == '\0' && errno == 0 && number <= 100000000 ? number : 0;
}

/* parse_option -- takes one option; returns how many arguments it used, or 0. */
static int parse_option(struct arguments *arguments, const char *option, const char *value) {
    if (strcmp(option, "--json") == 0) {
        arguments->json = true;
        return 1;
    }
    if (strcmp(option, "--keep") == 0) {
        arguments->keep = true;
        return 1;
    }
    if (strcmp(option, "--sqlite-exclusive") == 0) {
        arguments->sqlite_exclusive = true;
        return 1;
    }
    if (strcmp(option, "--processor") == 0) {
        arguments->processor_time = true;
        return 1;
    }
    if (value == NULL)
        return 0;
    if (strcmp(option, "--cache") == 0) {
        arguments->cache_bytes = (uint64_t)parse_number(value) << 20;
        return arguments->cache_bytes > 0 ? 2 : 0;
    }
    if (strcmp(option, "--docs") == 0) {
        size_t steps = (parse_number(value) + GENERATOR_STEP - 1) / GENERATOR_STEP;
        arguments->documents = steps * GENERATOR_STEP;
        return steps > 0 ? 2 : 0;
    }
    if (strcmp(option, "--reps") == 0) {
        arguments->repetitions = parse_number(value);
        return arguments->repetitions > 0 && arguments->repetitions <= REPORT_REPETITIONS ? 2 : 0;
    }
    if (strcmp(option, "--rows") == 0) {
        arguments->rows = value;
        return 2;
    }
    if (strcmp(option, "--dir") == 0) {
        arguments->folder = value;
        return 2;
    }
    if (strcmp(option, "--only") == 0) {
        arguments->subjects = 0;
        for (unsigned s = 0; s < ENGINES; s++)
            if (strcasecmp(value, engines[s]->name) == 0)
                arguments->subjects = 1u << s;
        return arguments->subjects != 0 ? 2 : 0;
    }
    return 0;
}

/* is_wanted -- whether a row's key is in the comma-separated list. */
static bool is_wanted(const char *list, const char *key) {
    size_t length = strlen(key);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return list == NULL;
}

/* check_rows -- the number of keys in the list that name no row. */
static int check_rows(const char *list) {
    int unknown = 0;
    size_t count;
    const struct row *rows = rows_all(&count);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known =
                known || (strlen(rows[i].key) == length && strncmp(rows[i].key, at, length) == 0);
        if (!known) {
            fprintf(stderr, "bench: no row is called '%.*s'\n", (int)length, at);
            unknown++;
        }
        at += length + (at[length] == ',');
    }
    return unknown;
}

/* check_answers -- compares what the engines have answered. */
static int check_answers(const struct row *row, const struct outcome outcomes[ENGINES],
                         unsigned ran) {
    int first = -1;
    for (int s = 0; s < ENGINES; s++) {
        if ((ran & (1u << s)) == 0)
            continue;
        if (first >= 0 && outcomes[s].check != outcomes[first].check) {
            fprintf(stderr, "bench: %s: the answers of %s and %s differ\n", row->key,
                    engines[first]->name, engines[s]->name);
            return -1;
        }
        first = first < 0 ? s : first;
    }
    return 0;
}

/* run_row -- runs a row for all engines in turn and compares their answers. */
static int run_row(struct fixture *fixture, struct subject subjects[ENGINES],
                   const struct arguments *arguments, struct report_line *line) {
    const struct row *row = line->row;
    line->repetitions = row->once ? 1 : arguments->repetitions;
    line->subjects = arguments->subjects;
    for (unsigned s = 0; s < ENGINES; s++)
        if (!row_suits(row, engines[s]))
            line->subjects &= ~(1u << s);
    for (unsigned r = 0; r < line->repetitions; r++) {
        struct outcome outcomes[ENGINES] = {{0, 0}};
        fixture->repetition = r;
        for (int s = 0; s < ENGINES; s++) {
            if ((line->subjects & (1u << s)) == 0)
                continue;
            if (row->run(fixture, &subjects[s], row, &outcomes[s]) != 0) {
                fprintf(stderr, "bench: %s, %s: %s\n", row->key, subjects[s].engine->name,
                        fixture->error);
                return -1;
            }
            line->samples[s][r] = outcomes[s].value;
        }
        if (check_answers(row, outcomes, line->subjects) != 0)
            return -1;
        if (row->floor != FLOOR_NONE &&
            floor_measure(fixture, row->floor, row->unit, &line->floor[r]) != 0) {
            fprintf(stderr, "bench: %s, floor: %s\n", row->key, fixture->error);
            return -1;
        }
    }
    return 0;
}

/* run_rows -- runs the wanted rows and reports them. */
static int run_rows(struct fixture *fixture, const struct arguments *arguments) {
    struct subject subjects[ENGINES] = {{.engine = NULL}};
    size_t count, done = 0;
    int result = 0;
    const struct row *rows = rows_all(&count);
    struct report_line *lines = calloc(count, sizeof *lines);
    if (lines == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    for (int s = 0; s < ENGINES; s++)
        subjects[s].engine = engines[s];
    if ((arguments->subjects & LMDB_BIT) == 0 && ENGINES < 3)
        fprintf(stderr, "bench: without LMDB; for its columns: apt-get install liblmdb-dev\n");
    if (!arguments->json) {
        report_versions();
        printf(", %zu documents of about %zu bytes (BSON) or %zu (JSON)\n"
               "time or size: smaller is better; ratio: SQLite / Tansu, larger is better\n"
               "floor: what the machine needs at least, by plain loops; above: Tansu / floor\n\n",
               fixture->corpus.count, fixture->corpus.documents[0].bson_size,
               fixture->corpus.documents[0].json_size);
        report_table_head(arguments->subjects);
    }
    for (size_t i = 0; i < count && result == 0; i++) {
        if (!is_wanted(arguments->rows, rows[i].key))
            continue;
        lines[done].row = &rows[i];
        result = run_row(fixture, subjects, arguments, &lines[done]);
        if (result == 0 && !arguments->json)
            report_table_line(&lines[done], arguments->subjects);
        done += result == 0;
    }
    for (int s = 0; s < ENGINES; s++)
        if (fixture_close_loaded(fixture, &subjects[s]) != 0) {
            fprintf(stderr, "bench: %s\n", fixture->error);
            result = -1;
        }
    if (arguments->json)
        report_json(lines, done, fixture->corpus.count);
    free(lines);
    return result;
}

/* run_bench -- makes the documents and the temporary folder, runs, and cleans up. */
static int run_bench(const char *program, const struct arguments *arguments) {
    struct fixture fixture = {.program = program,
                              .processor_time = arguments->processor_time,
                              .settings = {.sqlite_exclusive = arguments->sqlite_exclusive,
                                           .cache_bytes = arguments->cache_bytes}};
    int result = -1;
    int length =
        snprintf(fixture.folder, sizeof fixture.folder, "%s/tansu-bench-XXXXXX", arguments->folder);
    if (length < 0 || (size_t)length >= sizeof fixture.folder || mkdtemp(fixture.folder) == NULL) {
        fprintf(stderr, "bench: cannot create a folder in %s\n", arguments->folder);
        return 1;
    }
    if (generator_init(&fixture.generator, arguments->documents) != 0 ||
        corpus_make(&fixture.generator, 0, arguments->documents, 0, &fixture.corpus) != 0)
        fprintf(stderr, "bench: out of memory\n");
    else
        result = run_rows(&fixture, arguments);
    corpus_free(&fixture.corpus);
    generator_free(&fixture.generator);
    if (arguments->keep)
        fprintf(stderr, "the databases are in %s\n", fixture.folder);
    else if (folder_remove(fixture.folder) != 0)
        fprintf(stderr, "bench: cannot remove %s\n", fixture.folder);
    return result == 0 ? 0 : 1;
}

/* run_child -- what a child process of a row does. */
static int run_child(char **values) {
    const struct engine *engine = engines[0];
    for (int s = 0; s < ENGINES; s++)
        if (strcmp(values[1], engines[s]->name) == 0)
            engine = engines[s];
    size_t count = parse_number(values[3]);
    if (strcmp(values[0], "kill") == 0)
        return child_kill(engine, values[2], count);
    return child_memory(engine, values[2], count);
}

/* main -- reads the command line. */
int main(int argc, char **argv) {
    const char *temporary = getenv("TMPDIR");
    struct arguments arguments = {.documents = 200000, .repetitions = 3};
    arguments.subjects = (1u << ENGINES) - 1;
    arguments.folder = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp";
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return run_child(argv + 2);
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            return 0;
        }
        int used = parse_option(&arguments, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (used == 0) {
            fprintf(stderr, "bench: '%s' is not an option, or its value is missing or wrong\n\n",
                    argv[i]);
            print_usage(stderr);
            return 2;
        }
        i += used;
    }
    return check_rows(arguments.rows) != 0 ? 2 : run_bench(argv[0], &arguments);
}
