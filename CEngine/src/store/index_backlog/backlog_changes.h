/*
 * store/index_backlog/backlog_changes.h -- the documents of a collection that the log after the
 * checkpoint has changed, as recovery notes them, and making these changes in an index.
 */
#ifndef TANSU_STORE_INDEX_BACKLOG_BACKLOG_CHANGES_H
#define TANSU_STORE_INDEX_BACKLOG_BACKLOG_CHANGES_H

#include "log/log.h"
#include "store/index_backlog/index_backlog.h"
#include "store/snapshot.h"

/* One document that was changed. */
typedef struct backlog_change {
    uint64_t rid;
    log_location from; /* its record as of the checkpoint; 0: it did not exist */
    log_location to;   /* its newest record, with LOCATION_DELETED */
} backlog_change;

/* The changes of one collection, in the order of the log. */
typedef struct backlog_changes {
    uint32_t collection;
    bool sorted;       /* each document once, by record id */
    bool made_at_once; /* recovery does not note changes of this collection any more */
    backlog_change *items;
    size_t count;
    size_t capacity;
} backlog_changes;

/* backlog_changes_add -- notes a change. Errors: MEMORY. */
tansu_status backlog_changes_add(backlog_changes *changes, uint64_t rid, log_location from,
                                 log_location to, tansu_error *error);

/* backlog_changes_expect -- reserves room for that many, or some of them, if there is memory. */
void backlog_changes_expect(backlog_changes *changes, uint64_t count);

void backlog_changes_free(backlog_changes *changes);

/* backlog_changes_sort -- leaves one change of each document, in the order of record ids. */
void backlog_changes_sort(backlog_changes *changes);

/* backlog_changes_apply -- makes sorted changes in an index of a collection (0: `_id`, n: number
 * n - 1), of which `entries` and `multikey` are. After an error they are for tree_discard(). Errors:
 * MEMORY, IO, CORRUPT, TOO_LARGE. */
tansu_status backlog_changes_apply(const backlog_changes *changes, const log *l,
                                   tree_writer *writer, const collection_state *state,
                                   uint32_t number, tree *entries, bool *multikey,
                                   tansu_error *error);

/* backlog_changes_count -- how many more of the entries that are counted an index has after sorted
 * changes. *usable becomes false when the changes make the index multikey. Errors: MEMORY, IO,
 * CORRUPT, TOO_LARGE. */
tansu_status backlog_changes_count(const backlog_changes *changes, const log *l,
                                   const collection_state *state, uint32_t number,
                                   const backlog_counting *counting, int64_t *more, bool *usable,
                                   tansu_error *error);

/* backlog_changes_apply_all -- sorts changes, makes them in all indexes of a state of the writer's
 * own, and forgets them. */
tansu_status backlog_changes_apply_all(backlog_changes *changes, const log *l, tree_writer *writer,
                                       collection_state *state, tansu_error *error);

/* index_backlog_attach -- leaves the changes to the first users of the indexes of a state that is
 * not published yet. Its snapshot gets `epoch`, which is greater than that of any block of its
 * trees. Takes the changes over if it succeeds. Errors: MEMORY. */
tansu_status index_backlog_attach(database *db, collection_state *state, backlog_changes *changes,
                                  uint64_t epoch, tansu_error *error);

#endif
