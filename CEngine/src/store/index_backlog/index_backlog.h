/*
 * store/index_backlog/index_backlog.h -- the part of the log after the checkpoint that indexes do
 * not have yet.
 *
 * Recovery brings catalog, counts and location tables up to date, and only notes which documents
 * the log after the checkpoint has changed. An index is brought up to date by whoever uses it
 * first: one index after the other, so that a query waits for none that it does not read. Until
 * then the trees of the collection's state are those of the checkpoint, and nobody may read them.
 *
 * Such a state belongs to the snapshot that recovery publishes, and to later ones for as long as
 * nobody writes to the collection: a copy of it is made only when all of its indexes are current.
 */
#ifndef TANSU_STORE_INDEX_BACKLOG_INDEX_BACKLOG_H
#define TANSU_STORE_INDEX_BACKLOG_INDEX_BACKLOG_H

#include "store/collection.h"

/* index_backlog_apply -- index_current() for a collection that has a backlog. */
tansu_status index_backlog_apply(const collection_state *state, uint32_t number,
                                 tansu_error *error);

/* index_current -- brings an index of a collection up to date. Called before anything reads its
 * tree or whether it is multikey. Any number of threads. After an error the index is as before, and
 * the next call tries again. Errors: MEMORY, IO, CORRUPT, TOO_LARGE. */
static inline tansu_status index_current(const collection_state *state, uint32_t number,
                                         tansu_error *error) {
    return __builtin_expect(state->backlog == NULL, 1) ? TANSU_OK
                                                       : index_backlog_apply(state, number, error);
}

/* What entries of an index are counted. */
typedef struct backlog_counting {
    /* Counts them in the tree of the index, which nobody changes meanwhile; *usable: they can be
     * counted so. */
    tansu_status (*stored)(void *context, bool *usable, uint64_t *count, tansu_error *error);
    /* Whether an entry is one of them. */
    bool (*inside)(const void *context, const uint8_t *entry, uint32_t size);
    void *context;
} backlog_counting;

/* index_backlog_count -- counts entries of an index that is not current without bringing it up to
 * date: those in the tree as of the checkpoint, without those that documents lost, and with those
 * that they got since. That reads each changed document, but makes, sorts and inserts nothing. Only
 * the first count of each index is answered so, for the second one would read them again. False:
 * the index is current, or to be brought up to date: also because the documents make it multikey,
 * or because anything failed, which happens again then and is reported. Any number of threads. */
bool index_backlog_count(const collection_state *state, uint32_t number,
                         const backlog_counting *counting, uint64_t *count);

/* indexes_current -- brings all indexes of a collection up to date. */
tansu_status indexes_current(const collection_state *state, tansu_error *error);

/* snapshot_indexes_current -- brings those of all collections up to date. */
tansu_status snapshot_indexes_current(const snapshot *v, tansu_error *error);

/* index_backlogs_free -- at closing, when nobody has a state with a backlog. */
void index_backlogs_free(database *db);

#endif
