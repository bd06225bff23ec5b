/*
 * support/workload/feed_workload.h -- a random workload, and the state of the database after
 * every commit, for tests that compare that with a change feed.
 */
#ifndef SUPPORT_FEED_WORKLOAD_H
#define SUPPORT_FEED_WORKLOAD_H

#include "support/model/feed_model.h"
#include "support/random/random.h"

#include <bson/bson.h>

#define FEED_WORKLOAD_COMMITS 400

typedef struct feed_workload {
    tansu_db *db;
    feed_model now;
    feed_model history[FEED_WORKLOAD_COMMITS + 1];
    uint64_t sequence;
    random_source random;
    bson_t pad;    /* part of every document */
    bool compacts; /* a compaction is a commit, too */
} feed_workload;

/* feed_workload_begin -- opens an empty database (`folder` NULL: in memory) whose documents have
 * so much filling. */
void feed_workload_begin(feed_workload *p, const char *folder, uint64_t stream, uint32_t pad);
void feed_workload_end(feed_workload *p);

/* feed_workload_commit -- one commit of some steps, or one that is given up. */
void feed_workload_commit(feed_workload *p);

#endif
