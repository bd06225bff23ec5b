/*
 * options.h -- the command line that the loads share: each lists the options that it accepts.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>
#include <tansu.h>

/* The options of all loads; each accepts some of them. */
struct load_options {
    double seconds;
    uint64_t documents, updates, batch;
    uint64_t writers, readers, indexes;
    double hold_from, hold_to; /* of the run, in percent; equal: no snapshot is held */
    uint64_t hold;             /* whether one is held at all */
    uint64_t limit_mb;         /* of memory; 0: none */
    const char *work;          /* what a load does, where it has the choice */
    const char *folder;        /* for the database */
    const char *out;           /* the file of samples */
    tansu_durability durability;
    /* 0 or UINT64_MAX: as by default */
    uint64_t checkpoint_bytes, compaction_percent, compaction_share, segment_size, cache_bytes;
};

/* The options of the engine, in every load's list. */
#define ENGINE_OPTIONS                                                                      \
    {"--checkpoint-bytes", "as the engine's options; by default as these"},                 \
        {"--compaction-percent", ""}, {"--compaction-share", ""}, {"--segment-size", ""}, { \
        "--index-cache-bytes", ""                                                           \
    }

struct option_help {
    const char *name; /* with its dashes */
    const char *what;
};

/* options_parse -- parses the arguments that `help` lists (up to a NULL name). -1: continue;
 * otherwise the exit code, after the help or an error was printed. `program` begins the messages of
 * report_failure(). */
int options_parse(int argc, char **argv, const char *program, const char *about,
                  const struct option_help *help, struct load_options *o);

/* options_open -- creates a new folder in o->folder, writes its path to `path` and opens a database
 * in it. */
tansu_status options_open(const struct load_options *o, char path[1024], tansu_db **db,
                          tansu_error *error);

/* report_failure -- prints what has failed and why; returns 1. */
int report_failure(const char *what, const tansu_error *error);

#endif
