/*
 * main.c -- databases of growing size beside each other: gets, queries, opening and memory; and one
 * that is several times larger than the memory that its process may use.
 */
#include "growth.h"
#include "system.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SIZES 8
/* What a process needs in any case, and the part of the limit that index blocks may take. */
#define LEAST_LIMIT ((uint64_t)24 * 1024 * 1024)
#define CACHE_PART 4
/* The part of the calls that are made then, for most of them wait for the disk. */
#define LIMITED_PART 100

static struct {
    uint64_t sizes[MOST_SIZES];
    int size_count;
    const char *places, *folder;
    uint64_t calls;
    bool json;
} options = {
    .sizes = {100000, 1000000, 5000000}, .size_count = 3, .folder = "/tmp", .calls = 20000};

enum step { FILL, MEASURE, DIE, OPEN, LIMITED };

/* work -- one step, in a process of its own. */
static void work(enum step step, const struct data *d, uint64_t limit, struct figures *f) {
    const char *why = "";
    switch (step) {
    case FILL: fill(d, f); break;
    case MEASURE: measure(d, options.calls, 0, f); break;
    case DIE: commit_and_die(d, f); break;
    case OPEN: measure_opening(d, f); break;
    case LIMITED:
        if (limit_enter(limit, &why))
            measure(d, options.calls / LIMITED_PART + 1, limit / CACHE_PART, f);
        else
            fprintf(stderr, "growth: %s: the row is left out\n", why);
    }
}

/* run_step -- runs it in a child, which changes the figures; false when it failed, or did not end
 * as it should. */
static bool run_step(enum step step, const struct data *d, uint64_t limit, struct figures *f) {
    int ends[2], status;
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        f->right = false;
        work(step, d, limit, f);
        _exit(write(ends[1], f, sizeof *f) == (ssize_t)sizeof *f ? 0 : 1);
    }
    close(ends[1]);
    struct figures made;
    ssize_t got = child < 0 ? 0 : read(ends[0], &made, sizeof made);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    limit_leave((int)child);
    if (step == DIE)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (got != (ssize_t)sizeof made) {
        fprintf(stderr, "growth: a process ended early%s\n",
                WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? ", for want of memory" : "");
        return false;
    }
    *f = made;
    return f->right;
}

static bool first_row = true;

static void print_row(const char *name, const struct figures *f, uint64_t limit) {
    if (options.json) {
        printf("%s    {\"data\": \"%s\", \"documents\": %" PRIu64 ", \"memoryLimit\": %" PRIu64
               ", \"fillSeconds\": %.2f, \"diskBytes\": %" PRIu64
               ", \"getMicroseconds\": %.2f, \"get99Microseconds\": %.2f, "
               "\"queryMicroseconds\": %.2f, \"rangeMicroseconds\": %.1f, "
               "\"openCleanMicroseconds\": %.0f, \"openKilledMicroseconds\": %.0f, "
               "\"anonymousBytes\": %" PRIu64 ", \"residentBytes\": %" PRIu64 "}",
               first_row ? "" : ",\n", name, f->documents, limit, f->fill_seconds, f->disk, f->get,
               f->get_99, f->query, f->range, f->open_clean, f->open_killed, f->anonymous,
               f->resident);
    } else {
        if (first_row)
            printf("%-14s %10s %9s %8s %8s %8s %9s %9s %10s %10s %9s %9s %9s\n", "data",
                   "documents", "limit MB", "fill s", "get us", "99 % us", "query us", "range us",
                   "open ms", "killed ms", "anon MB", "res. MB", "disk MB");
        printf("%-14s %10" PRIu64 " %9.0f %8.1f %8.2f %8.1f %9.2f %9.0f %10.2f %10.2f %9.1f %9.1f "
               "%9.0f\n",
               name, f->documents, (double)limit / 1e6, f->fill_seconds, f->get, f->get_99,
               f->query, f->range, f->open_clean / 1e3, f->open_killed / 1e3,
               (double)f->anonymous / 1e6, (double)f->resident / 1e6, (double)f->disk / 1e6);
    }
    first_row = false;
}

/* limit_of -- a third of what the database takes on the disk. */
static uint64_t limit_of(const struct figures *f) {
    return f->disk / 3 < LEAST_LIMIT ? LEAST_LIMIT : f->disk / 3;
}

/* run_size -- all steps of one database, and its rows. */
static bool run_size(struct data *d, const char *name) {
    char folder[1024];
    struct figures f = {0};
    snprintf(folder, sizeof folder, "%s/tansu-growth-XXXXXX", options.folder);
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "growth: cannot create a folder in \"%s\"\n", options.folder);
        return false;
    }
    d->folder = folder;
    bool right = run_step(FILL, d, 0, &f) && run_step(MEASURE, d, 0, &f);
    struct figures limited = {0};
    if (right) {
        drop_pages(folder);
        uint64_t limit = limit_of(&f);
        bool served = run_step(LIMITED, d, limit, &limited);
        right = run_step(DIE, d, 0, &f) && run_step(OPEN, d, 0, &f);
        if (right)
            print_row(name, &f, 0);
        if (served)
            print_row(name, &limited, limit);
    }
    if (!right)
        fprintf(stderr, "growth: %s: a step failed or gave a wrong result\n", name);
    folder_remove(folder);
    return right;
}

static void help(void) {
    printf(
        "Fills databases of growing size, and measures gets, queries and opening of each, and\n"
        "again with a third of the database's size as memory. Ends with 1 when a result was\n"
        "wrong.\n\n"
        "  --documents LIST  sizes, with commas between (100000,1000000,5000000)\n"
        "  --places FILE     newline-delimited JSON with \"geonameid\", loaded ten times, as well\n"
        "  --calls N         gets and queries of each (20000)\n"
        "  --dir FOLDER      in which the databases are made, one at a time (/tmp)\n"
        "  --json            for programs\n\n"
        "The limited rows need a control group of Linux that this process may create; a limit\n"
        "of the address space would count the mapped files.\n");
}

static bool set_sizes(const char *text) {
    options.size_count = 0;
    while (*text != 0 && options.size_count < MOST_SIZES) {
        char *end;
        uint64_t size = strtoull(text, &end, 10);
        if (end == text || size < 1000 || (*end != 0 && *end != ','))
            return false;
        options.sizes[options.size_count++] = size;
        text = *end == ',' ? end + 1 : end;
    }
    return options.size_count > 0 && *text == 0;
}

static bool set(const char *name, const char *value) {
    if (strcmp(name, "--documents") == 0)
        return set_sizes(value);
    if (strcmp(name, "--places") == 0)
        return (options.places = value) != NULL;
    if (strcmp(name, "--dir") == 0)
        return (options.folder = value) != NULL;
    char *end = NULL;
    if (strcmp(name, "--calls") != 0)
        return false;
    options.calls = strtoull(value, &end, 10);
    return *end == 0 && options.calls > 0 && options.calls < 100000000;
}

int main(int argc, char **argv) {
    char machine[256];
    bool right = true;
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
                    "growth: \"%s\" is not an option, or its value is invalid; see --help\n",
                    argv[i]);
            return 64;
        }
        i++;
    }
    system_describe(machine, sizeof machine);
    printf(options.json ? "{\n  \"machine\": \"%s\",\n  \"rows\": [\n" : "%s\n", machine);
    for (int i = 0; right && i < options.size_count; i++)
        right = run_size(&(struct data){.documents = options.sizes[i]}, "190 bytes");
    if (right && options.places != NULL)
        right = run_size(&(struct data){.documents = 2000000, .places = options.places}, "places");
    if (options.json)
        printf("\n  ]\n}\n");
    return right ? 0 : 1;
}
