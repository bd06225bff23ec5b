/*
 * options.h -- the command line that the three loads share: each has a table of what it knows.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>
#include <tansu.h>

/* What the loads can be told; each knows some of it. */
struct load_options {
    double seconds;
    uint64_t documents, updates, batch;
    uint64_t writers, readers, indexes;
    double hold_from, hold_to; /* of the run, in percent; equal: no snapshot is held */
    uint64_t hold;             /* whether one is held at all */
    uint64_t limit_mb;         /* of memory; 0: none */
    const char *folder;        /* for the database */
    const char *out;           /* the file of samples */
    tansu_durability durability;
    /* 0 or UINT64_MAX: as by default */
    uint64_t checkpoint_bytes, compaction_percent, compaction_share, segment_size, cache_bytes;
};

struct option_help {
    const char *name; /* with its dashes */
    const char *what;
};

/* options_parse -- takes in the arguments that `help` names (up to a NULL name). -1: go on; otherwise the exit
 * code to end with, after the help or an error was printed. */
int options_parse(int argc, char **argv, const char *about, const struct option_help *help,
                  struct load_options *o);

/* options_open -- makes a new folder below o->folder, writes its path to `path` and opens a database in it. */
tansu_status options_open(const struct load_options *o, char path[1024], tansu_db **db,
                          tansu_error *error);

#endif
