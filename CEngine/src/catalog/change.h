/*
 * catalog/change.h -- a write transaction at work: its own version of the catalog and the indexes, and
 * the records of its frame. Part catalog.
 *
 * Every change is checked first, then put into the indexes of a private version (path copying leaves
 * the published ones alone) and into the unfinished frame. Commit writes the frame's header, stores
 * the places and publishes the version, none of which can fail; abort drops all three. Replay at
 * opening runs the same code with records that are in the log already.
 */
#ifndef TANSU_CATALOG_CHANGE_H
#define TANSU_CATALOG_CHANGE_H

#include "catalog/database.h"
#include "catalog/pending.h"

/* One step that a savepoint can take back. */
typedef struct change_step {
    enum { STEP_PUT, STEP_DELETE, STEP_CREATE_COLLECTION } kind;
    uint32_t collection;
    uint64_t docno;
    uint64_t before; /* what pending said before; 0 when the document was as committed */
    doc_ref old_ref; /* the version before, 0 when there was none */
    doc_ref new_ref; /* the version put, 0 for a deletion */
} change_step;

typedef struct change {
    database *db;
    version *base; /* the head; not to be looked at after publishing */
    version *next; /* private */
    uint64_t sequence;
    uint64_t epoch;
    uint64_t faults; /* log_faults() when it began */
    bool unread;     /* what was read of the log does not matter to it */
    tree_writer writer;
    retire_list retired; /* freed when the commit's predecessors are let go */
    retire_list made;    /* freed when the change is aborted */
    pending pending;
    change_step *steps;
    size_t step_count;
    size_t step_room;
    tree *dropped; /* trees of dropped indexes: what becomes of them is known at the end */
    size_t dropped_count;
    size_t dropped_room;
    uint64_t frame_size; /* of the log's frame, for savepoints */
    uint32_t records;
    bool changed;
    bool keep_steps; /* savepoints are wanted */
    bool broken;     /* a failure in the middle of a change: it can only be aborted */
    bool replay;
    bool several; /* in replay: what the frame has put is noted in `pending` */
    bool exact; /* in replay: places hold exactly what has been replayed (no cabinet was loaded) */
    bool lenient; /* in replay: of a log that was compacted, so that not all of history is there */
    uint64_t passed_over; /* in replay: numbers of documents that no record has */
    uint32_t next_collection;
    uint32_t next_index;
    index_entries old_entries;
    index_entries *new_entries; /* a set for each index of the collection at hand */
    uint32_t entry_sets;
    tansu_buffer key;
    tansu_buffer scratch;
} change;

/* change_begin -- starts on the head version; the caller has the writer's turn. */
tansu_status change_begin(database *db, change **result, tansu_error *error);

/* change_discard -- frees the spare struct of a database that is closing; fine on NULL. */
void change_discard(change *c);

/* change_commit -- ends it for good, frees it and gives the writer's turn to the next; only then waits
 * for the disk, if the durability asks for it. *sequence is 0 when nothing was changed. */
tansu_status change_commit(change *c, tansu_durability durability, uint64_t *sequence,
                           tansu_error *error);

/* change_abort -- drops it and frees it, and ends the writer's turn. */
void change_abort(change *c);

/* change_view -- for reading in the change. */
view change_view(const change *c);

/* Savepoints: a mark to go back to within the change. */
typedef struct change_mark {
    size_t steps;
    uint64_t frame_size;
    uint32_t records;
    bool changed;
} change_mark;
change_mark change_save_mark(const change *c);
/* change_roll_back -- takes back puts, deletes and collection creations since the mark. Numbers given
 * out stay so: the chunks of a collection that was taken back are removed from the cabinet by its
 * number. When rolling back fails the change is broken. */
void change_roll_back(change *c, change_mark mark);
/* change_forget_steps -- a call has succeeded: nobody goes back to its mark any more. */
void change_forget_steps(change *c, change_mark mark);

/* change_usable -- MISUSE when the change is broken. */
tansu_status change_usable(const change *c, tansu_error *error);

/* ---- Documents (catalog/change_document.c) ---- */

/*
 * change_save -- checks and saves one document; *collection may move. `id` (may be NULL) receives the
 * `_id` as BSON {"_id": …} appended. Errors: those of tansu_save().
 */
tansu_status change_save(change *c, const char *collection, const uint8_t *doc, size_t size,
                         tansu_save_mode mode, doc_value *id, tansu_error *error);

/* change_remove -- removes the document with that docno; TANSU_DONE when there is none. */
tansu_status change_remove(change *c, const char *collection, uint64_t docno, tansu_error *error);

/* change_find_id -- the docno of an `_id` as of a version; *found false when there is none. */
tansu_status change_find_id(tree_store *trees, const collection_state *collection,
                            const doc_value *id, tansu_buffer *key, bool *found, uint64_t *docno,
                            tansu_error *error);

/* ---- Collections and indexes (catalog/change_catalog.c) ---- */

tansu_status change_collection_ensure(change *c, const char *name, bool local, bool any_options,
                                      tansu_error *error);
tansu_status change_collection_drop(change *c, const char *name, tansu_error *error);
tansu_status change_collection_rename(change *c, const char *name, const char *to,
                                      tansu_error *error);
/* change_index_create -- takes over `definition` (whatever the result). `stop` ends it, or is NULL. */
tansu_status change_index_create(change *c, const char *collection, index_definition *definition,
                                 const interrupt *stop, tansu_error *error);
/* change_index_adopt -- the same with a tree that was built before (catalog/build_index.c) and holds
 * exactly the entries of the documents as this change sees them; there is no index of that name. Takes
 * the tree over when it succeeds, and the definition whatever the result. */
tansu_status change_index_adopt(change *c, const char *collection, index_definition *definition,
                                const tree *entries, bool multikey, tansu_error *error);
tansu_status change_index_drop(change *c, const char *collection, const char *name,
                               tansu_error *error);

/* ---- Indexes in the background (catalog/build_index.c) ---- */

/*
 * index_build_aside -- creates an index in a commit of its own. A collection with more than a few
 * documents is read as of one commit while others go on writing; only what changed since then is
 * done in the writer's turn. `progress` may be NULL. Takes the definition over. Errors: those of
 * tansu_index_build().
 */
tansu_status index_build_aside(database *db, const char *collection, index_definition *definition,
                               tansu_build_progress progress, void *context, tansu_error *error);

/* ---- Replay (catalog/replay.c) ---- */

/* change_replay -- applies the log's tail behind the head version. Compacted segments whose installation
 * is met come into force. */
tansu_status change_replay(database *db, tansu_progress progress, void *progress_context,
                           bool exact, bool *reached, tansu_error *error);

/* ---- Within the part ---- */

/* change_collection -- the private state of a collection, NULL when there is none (*status OK) or
 * memory is exhausted. `extra`: room for more indexes. */
tansu_status change_collection(change *c, const char *name, uint32_t extra,
                               collection_state **state, tansu_error *error);
collection_state *change_collection_by_id(change *c, uint32_t id);

/* change_record -- appends a record: header, payload of `size` bytes from `bytes`. *at: where it is,
 * for pending. */
tansu_status change_record(change *c, enum record_type type, uint8_t flags, uint32_t collection,
                           uint64_t docno, uint64_t previous, const void *bytes, size_t size,
                           uint64_t *at, tansu_error *error);

/* change_count_live -- a document's newest record is at `to` now, and was at `from` (0: it is new). */
void change_count_live(database *db, collection_state *state, log_place from, log_place to);

/* change_step_add -- notes a step; the room was reserved with change_step_reserve(). */
bool change_step_reserve(change *c);
void change_step_add(change *c, change_step step);

/* change_apply_put / change_apply_delete -- the index work of a put or delete. */
tansu_status change_apply_put(change *c, collection_state *state, const uint8_t *doc, size_t size,
                              uint64_t docno, const uint8_t *old, uint32_t old_size,
                              tansu_error *error);
tansu_status change_apply_delete(change *c, collection_state *state, uint64_t docno,
                                 const uint8_t *old, uint32_t old_size, tansu_error *error);

/* change_add_collection / change_remove_collection -- puts a state into the private version, or takes
 * it out. */
tansu_status change_add_collection(change *c, uint32_t id, const char *name, bool local,
                                   tansu_error *error);
tansu_status change_remove_collection(change *c, const char *name, tansu_error *error);
tansu_status change_move_collection(change *c, const char *name, const char *to,
                                    tansu_error *error);
tansu_status change_add_index(change *c, const char *collection, index_definition *definition,
                              const interrupt *stop, tansu_error *error);
tansu_status change_remove_index(change *c, const char *collection, const char *name,
                                 tansu_error *error);

#endif
