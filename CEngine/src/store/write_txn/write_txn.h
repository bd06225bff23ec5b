/*
 * store/write_txn/write_txn.h -- a write transaction: its private snapshot and the records of its
 * frame.
 *
 * Every change is validated first, then applied to the indexes of a private snapshot (path copying
 * leaves the published ones alone) and appended to the unfinished frame. Commit writes the frame's
 * header, stores the locations and publishes the snapshot, none of which can fail; abort discards
 * all three. Recovery runs the same code with records that are already in the log.
 */
#ifndef TANSU_STORE_WRITE_TXN_WRITE_TXN_H
#define TANSU_STORE_WRITE_TXN_WRITE_TXN_H

#include "index/index_batch.h"
#include "store/database.h"
#include "store/pending.h"
#include "store/read_context.h"
#include "store/snapshot.h"

/* One step that a savepoint can undo. */
typedef struct write_txn_step {
    enum { STEP_PUT, STEP_DELETE, STEP_CREATE_COLLECTION } kind;
    uint32_t collection;
    uint64_t rid;
    uint64_t before; /* what `pending` contained before; 0 when the document was as committed */
    doc_ref old_ref; /* the previous version, 0 when there was none */
    doc_ref new_ref; /* the version put, 0 for a deletion */
} write_txn_step;

/* What a save does otherwise than the options of its collection say. */
enum save_how {
    SAVE_KEEPS_DATES = 1, /* dates that a document has are not replaced */
    SAVE_NO_DATES = 2,    /* it gets none */
    SAVE_UNTRACKED = 4,   /* the change is not noted (store/tracking) */
    SAVE_RESTORED = 8,    /* it was saved in a collection with the same options: only a strict
                                validator checks it */
    SAVE_COPY = SAVE_NO_DATES | SAVE_UNTRACKED
};

/* What the entries of documents in one index are made with. */
typedef struct entry_set {
    index_entries new_entries;
} entry_set;

typedef struct write_txn {
    /* What recovery has as well: a private snapshot, and what applies records to it. */
    database *db;
    snapshot *base; /* the head; not used after publishing */
    snapshot *next; /* private */
    uint64_t epoch;
    retire_list retired; /* freed when the commit's predecessors are released */
    retire_list made;    /* freed when the transaction is aborted */
    log_pins pins;       /* of what it reads */
    size_t dropped_count;
    uint32_t next_collection;
    uint32_t next_index;
    index_batch *batches; /* one for each index of the collection whose entries wait */
    uint32_t batch_count;
    uint32_t batched; /* that collection; 0: no entries wait */
    size_t batched_bytes;
    bool changed;
    bool broken;  /* a call failed half-way: the transaction can only be aborted */
    bool replay;  /* recovery applies what is in the log, and nothing is written */
    bool lenient; /* in replay: of a log that was compacted, so that not all of history is there */
    /* What only a transaction has that writes: its frame in the log, and savepoints. */
    uint64_t sequence;
    uint64_t faults;          /* log_faults() when it began */
    bool ignores_read_faults; /* its result does not depend on what was read of the log */
    bool drops_declared;      /* declared_indexes_suspend() */
    bool keep_steps;          /* savepoints are wanted */
    size_t step_count;
    uint64_t frame_size;      /* of the log's frame, for savepoints */
    uint64_t frame_documents; /* of these, what is dead where no document lives */
    uint64_t dropped_bytes;   /* of the documents of dropped collections */
    uint32_t records;
    /* What follows is kept from one transaction to the next (write_txn_give_back()): memory, and
     * where the last one worked. */
    pending pending;
    tree_writer writer;
    write_txn_step *steps;
    size_t step_capacity;
    tree *dropped; /* trees of dropped indexes: freed or kept when the transaction ends */
    size_t dropped_capacity;
    index_entries old_entries;
    entry_set *sets; /* one for each index of the current collection */
    uint32_t set_count;
    tansu_buffer key;
    tansu_buffer scratch;
    tansu_buffer stamped;  /* the document last saved, with its dates, if it got any */
    tansu_buffer noted;    /* the `_id` last noted as changed */
    tansu_buffer warnings; /* of the current call (validation_warn()) */
    uint32_t warning_count;
} write_txn;

/* write_txn_begin -- starts on the head snapshot; the caller has the write lock. */
tansu_status write_txn_begin(database *db, write_txn **result, tansu_error *error);

/* write_txn_discard -- frees the spare struct of a database that is closing; fine on NULL. */
void write_txn_discard(write_txn *wtxn);

/* write_txn_commit -- commits, frees it and releases the write lock; only then waits
 * for the disk, if the durability asks for it. *sequence is 0 when nothing was changed. */
tansu_status write_txn_commit(write_txn *wtxn, tansu_durability durability, uint64_t *sequence,
                              tansu_error *error);

/* write_txn_publish_replayed -- the end of one that recovery made: publishes its snapshot, and
 * frees it. */
tansu_status write_txn_publish_replayed(write_txn *wtxn, tansu_error *error);

/* write_txn_abort -- discards it, frees it and releases the write lock. */
void write_txn_abort(write_txn *wtxn);

/* write_txn_read_context -- for reading in the transaction. */
read_context write_txn_read_context(write_txn *wtxn);

/* A savepoint: a mark to roll back to. */
typedef struct write_txn_mark {
    size_t steps;
    uint64_t frame_size;
    uint64_t frame_documents;
    uint32_t records;
    bool changed;
} write_txn_mark;
write_txn_mark write_txn_save_mark(const write_txn *wtxn);
/* write_txn_roll_back -- undoes puts, deletes and collection creations since the mark. Assigned
 * numbers are not reused: the chunks of a collection whose creation was undone are removed from the
 * block store by its number. When rolling back fails the transaction is broken. */
void write_txn_roll_back(write_txn *wtxn, write_txn_mark mark);
/* write_txn_forget_steps -- a call has succeeded: its mark is not rolled back to any more. */
void write_txn_forget_steps(write_txn *wtxn, write_txn_mark mark);

/* write_txn_flush -- makes the changes of indexes that wait (write_txn_batch.c): before anything
 * reads an index of the transaction's own snapshot. A transaction in which that fails is broken.
 * Errors: MEMORY, IO. */
tansu_status write_txn_flush(write_txn *wtxn, tansu_error *error);

/* write_txn_usable -- INVALID_STATE when the transaction is broken. */
tansu_status write_txn_usable(const write_txn *wtxn, tansu_error *error);

/* ---- Documents (write_txn_document.c) ---- */

/*
 * write_txn_save -- checks and saves one document; *collection may move. `how` is of save_how. `id`
 * (may be NULL) receives the `_id`, which is valid until the next change. Errors: those of
 * tansu_save().
 */
tansu_status write_txn_save(write_txn *wtxn, const char *collection, const uint8_t *doc,
                            size_t size, tansu_save_mode mode, unsigned how, doc_value *id,
                            tansu_error *error);

/* write_txn_remove -- removes the document with that record id; TANSU_DONE when there is none. */
tansu_status write_txn_remove(write_txn *wtxn, const char *collection, uint64_t rid,
                              tansu_error *error);

/* write_txn_find_id -- the record id of an `_id` as of a snapshot; *found false when there is
 * none. */
tansu_status write_txn_find_id(tree_store *trees, const collection_state *collection,
                               const doc_value *id, tansu_buffer *key, bool *found, uint64_t *rid,
                               tansu_error *error);

/* write_txn_look_up_id -- the same in a transaction that may then change that document, or save one
 * with that `_id`, which wtxn->key is the key of afterwards. */
tansu_status write_txn_look_up_id(write_txn *wtxn, const collection_state *collection,
                                  const doc_value *id, bool *found, uint64_t *rid,
                                  tansu_error *error);

/* write_txn_collection_compress -- how the documents of a collection are compressed from the next
 * compaction on. Errors: NOT_FOUND, UNSUPPORTED (this build lacks the codec), and those of a
 * record. */
tansu_status write_txn_collection_compress(write_txn *wtxn, const char *name, enum codec codec,
                                           tansu_error *error);

/* write_txn_collection_option -- replaces an option of a collection (NULL: it is not set any more)
 * unless it is equal. Owns `option` whatever the result. Errors: NOT_FOUND, INVALID_NAME (of a
 * collection in it), and those of a record. */
tansu_status write_txn_collection_option(write_txn *wtxn, const char *name,
                                         enum option_number number, void *option,
                                         tansu_error *error);

/* ---- Collections and indexes (write_txn_catalog.c) ---- */

tansu_status write_txn_collection_ensure(write_txn *wtxn, const char *name, bool local,
                                         bool any_options, tansu_error *error);
tansu_status write_txn_collection_drop(write_txn *wtxn, const char *name, tansu_error *error);
tansu_status write_txn_collection_rename(write_txn *wtxn, const char *name, const char *to,
                                         tansu_error *error);
/* What cancels the build of an index, and reports its progress. */
typedef struct index_build_control {
    const interrupt *stop;
    tansu_progress progress; /* may be NULL */
    void *context;
} index_build_control;

/* write_txn_index_create -- owns `definition` whatever the result. `control` may be NULL. */
tansu_status write_txn_index_create(write_txn *wtxn, const char *collection,
                                    index_definition *definition,
                                    const index_build_control *control, tansu_error *error);
/* write_txn_index_attach -- the same with a tree that was built before (below) and
 * holds exactly the entries of the documents as this transaction sees them; there is no index of
 * that name. Takes the tree over when it succeeds, and the definition whatever the result. */
tansu_status write_txn_index_attach(write_txn *wtxn, const char *collection,
                                    index_definition *definition, const tree *entries,
                                    bool multikey, tansu_error *error);
tansu_status write_txn_index_drop(write_txn *wtxn, const char *collection, const char *name,
                                  tansu_error *error);

/* ---- Building an index while others write ---- */

/*
 * Creating an index while others continue to write.
 */

/*
 * index_build_online -- creates an index in a commit of its own. A collection with more than a few
 * documents is read as of one commit while others continue writing; only what changed since then is
 * done with the write lock held. `progress` may be NULL. Takes the definition over. Errors: those
 * of tansu_index_build().
 */
tansu_status index_build_online(database *db, const char *collection, index_definition *definition,
                                tansu_progress progress, void *context, tansu_error *error);

#endif
