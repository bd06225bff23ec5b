#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* mkdtemp on macOS */

#define USAGE 64

static const char *program_name;

/* number -- a whole number; 0 when the text is none. */
static int number(const char *text, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && *text != '-';
}

/* fraction -- a number that is not negative, with a factor; 0 when the text is none. */
static int fraction(const char *text, double factor, double *value) {
    char *end = NULL;
    *value = strtod(text, &end) * factor;
    return end != text && *end == 0 && *value >= 0;
}

static int durability(const char *text, tansu_durability *value) {
    static const char *const names[] = {"full", "process", "interval"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            return (*value = (tansu_durability)(i + 1)) != 0;
    return 0;
}

/* part -- "FROM-TO", in percent. */
static int part(const char *text, struct load_options *o) {
    char rest;
    return sscanf(text, "%lf-%lf%c", &o->hold_from, &o->hold_to, &rest) == 2 && o->hold_from >= 0 &&
           o->hold_from < o->hold_to && o->hold_to <= 100;
}

/* set -- sets one option; 0 when its value is invalid. */
static int set(const char *name, const char *value, struct load_options *o) {
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {{"--documents", &o->documents},
                   {"--updates", &o->updates},
                   {"--batch", &o->batch},
                   {"--writers", &o->writers},
                   {"--readers", &o->readers},
                   {"--indexes", &o->indexes},
                   {"--held", &o->hold},
                   {"--limit-mb", &o->limit_mb},
                   {"--checkpoint-bytes", &o->checkpoint_bytes},
                   {"--compaction-percent", &o->compaction_percent},
                   {"--compaction-share", &o->compaction_share},
                   {"--segment-size", &o->segment_size},
                   {"--index-cache-bytes", &o->cache_bytes}};
    if (strcmp(name, "--minutes") == 0)
        return fraction(value, 60, &o->seconds);
    if (strcmp(name, "--seconds") == 0)
        return fraction(value, 1, &o->seconds);
    if (strcmp(name, "--durability") == 0)
        return durability(value, &o->durability);
    if (strcmp(name, "--hold") == 0)
        return part(value, o);
    if (strcmp(name, "--work") == 0)
        return (o->work = value) != NULL;
    if (strcmp(name, "--dir") == 0)
        return (o->folder = value) != NULL;
    if (strcmp(name, "--out") == 0)
        return (o->out = value) != NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return number(value, numbers[i].value);
    return 0;
}

static int known(const char *name, const struct option_help *help) {
    for (; help->name != NULL; help++)
        if (strcmp(name, help->name) == 0)
            return 1;
    return 0;
}

int options_parse(int argc, char **argv, const char *program, const char *about,
                  const struct option_help *help, struct load_options *o) {
    program_name = program;
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s\n", about);
            for (; help->name != NULL; help++)
                printf("  %-22s %s\n", help->name, help->what);
            return 0;
        }
        if (!known(argv[i], help)) {
            fprintf(stderr, "%s: \"%s\" is not an option; --help lists them\n", program, argv[i]);
            return USAGE;
        }
        if (i + 1 == argc || !set(argv[i], argv[i + 1], o)) {
            fprintf(stderr, "%s: %s does not accept the value \"%s\"; see --help\n", program,
                    argv[i], i + 1 == argc ? "" : argv[i + 1]);
            return USAGE;
        }
    }
    return -1;
}

tansu_status options_open(const struct load_options *o, char path[1024], tansu_db **db,
                          tansu_error *error) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = path;
    options.durability = o->durability;
    if (o->checkpoint_bytes > 0)
        options.checkpoint_bytes = o->checkpoint_bytes;
    if (o->segment_size > 0)
        options.segment_size = o->segment_size;
    if (o->cache_bytes > 0)
        options.index_cache_bytes = o->cache_bytes;
    if (o->compaction_percent != UINT64_MAX)
        options.compaction_percent = (uint32_t)o->compaction_percent;
    if (o->compaction_share > 0)
        options.compaction_share = (uint32_t)o->compaction_share;
    int length = snprintf(path, 1024, "%s/tansu-soak-XXXXXX", o->folder);
    if (length < 0 || length >= 1024 || mkdtemp(path) == NULL) {
        snprintf(error->message, sizeof error->message, "Can't create a folder in \"%s\": %s",
                 o->folder, strerror(errno));
        return error->code = TANSU_E_IO;
    }
    return tansu_open(&options, db, error);
}

int report_failure(const char *what, const tansu_error *error) {
    fprintf(stderr, "%s: %s: %s: %s\n", program_name, what, tansu_status_name(error->code),
            error->message);
    return 1;
}
