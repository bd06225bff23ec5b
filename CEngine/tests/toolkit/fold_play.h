/*
 * toolkit/fold_play.h -- a database at work at random, and what it was at every commit, for tests that
 * compare that with what a change feed tells.
 */
#ifndef TOOLKIT_FOLD_PLAY_H
#define TOOLKIT_FOLD_PLAY_H

#include "fold.h"
#include "random.h"

#include <bson/bson.h>

#define PLAY_COMMITS 400

typedef struct play {
    tansu_db *db;
    fold now;
    fold history[PLAY_COMMITS + 1];
    uint64_t sequence;
    random_source random;
    bson_t pad;    /* part of every document */
    bool compacts; /* a compaction is a commit, too */
} play;

/* play_begin -- opens an empty database (`folder` NULL: in memory) whose documents have so much filling. */
void play_begin(play *p, const char *folder, uint64_t stream, uint32_t pad);
void play_end(play *p);

/* play_commit -- one commit of some steps, or one that is given up. */
void play_commit(play *p);

#endif
