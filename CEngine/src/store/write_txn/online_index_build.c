/*
 * store/write_txn/online_index_build.c -- building an index on a collection while others read and
 * write it.
 *
 * The tree is built from a snapshot, without the write lock. Then it is brought up to newer
 * snapshots in rounds, each with fewer changed documents than the one before; only the last round
 * and the commit hold the write lock.
 *
 * Changed documents are found by their locations: the log only grows, so the record of a commit
 * that followed a snapshot lies at or after that snapshot's end. A record that compaction moved
 * there is found to be the same document and skipped.
 */
#include "index/index_build.h"
#include "store/collection.h"
#include "store/database_internal.h"
#include "store/handle.h"
#include "store/write_lock.h"
#include "store/write_txn/write_txn.h"
#include "store/write_txn/write_txn_internal.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* Collections of up to that many documents are read with the write lock held. */
#define BUILD_AT_ONCE 256
/* That many changed documents are left for the write lock, */
#define ROUND_FEW 500
/* unless writers are quicker than catching up: then there are that many rounds. */
#define ROUNDS_MOST 10
/* What is gathered takes at most so much memory. */
#define BATCH_BYTES ((size_t)16 * 1024 * 1024)
/* Documents between two calls of the progress function. */
#define PROGRESS_EVERY 512

typedef struct online_build {
    database *db;
    const index_definition *definition;
    uint32_t collection;
    tansu_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;

    snapshot *from; /* held: the entries are those of its documents */
    tree_writer writer;
    retire_list retired; /* stays empty: every block is the writer's own */
    tree entries;
    bool multikey;
    bool write_locked; /* others wait: no progress is reported and no cancellation is checked */

    table_scan scan;
    index_entries made;
    index_batch batch; /* of an index of words: what is to be changed */
    uint64_t *changed; /* record ids */
    size_t changed_count;
    size_t changed_capacity;
    log_pins pins; /* of what is read without the write lock */
} online_build;

/* state_of -- the collection in a snapshot, NULL when it was dropped. */
static const collection_state *state_of(const online_build *a, const snapshot *v) {
    return snapshot_collection_by_id(v, a->collection);
}

/* context_of -- reading as of a snapshot. */
static read_context context_of(online_build *a, snapshot *v) {
    return (read_context){.log = a->db->log,
                          .pins = &a->pins,
                          .trees = a->db->trees,
                          .sequence = v->sequence,
                          .kept = &v->kept};
}

/* report_progress -- calls the progress function, and checks whether the database is being
 * closed. */
static tansu_status report_progress(const online_build *a, tansu_error *error) {
    if (a->write_locked)
        return TANSU_OK;
    tansu_status status = handle_check_open(a->db, error);
    if (status == TANSU_OK && a->progress != NULL && !a->progress(a->context, a->done, a->total))
        status = error_set(error, TANSU_E_CANCELLED, a->definition->name,
                           "The building of index \"%s\" was cancelled; nothing of it remains",
                           a->definition->name);
    return status;
}

/* ---- The first pass ---- */

/* next_document -- shows the build the documents of the held snapshot. */
static tansu_status next_document(void *context, uint64_t *rid, const uint8_t **doc, uint32_t *size,
                                  tansu_error *error) {
    online_build *a = context;
    doc_ref ref;
    tansu_status status = a->done % PROGRESS_EVERY == 0 ? report_progress(a, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = table_scan_next(&a->scan, rid, &ref, doc, size, error);
    a->done += status == TANSU_OK;
    return status;
}

/* go_on -- asked while the entries are sorted, and while the build waits for the write lock. */
static tansu_status go_on(void *context, tansu_error *error) {
    return report_progress(context, error);
}

/* build_first -- the tree of the held snapshot. */
static tansu_status build_first(online_build *a, tansu_error *error) {
    const collection_state *state = state_of(a, a->from);
    read_context v = context_of(a, a->from);
    index_conflict conflict = {.rid = 0};
    table_scan_init(&a->scan, &v, state);
    a->total = state->count;
    const index_source source = {.next = next_document, .check = go_on, .context = a};
    tansu_status status = index_build(&a->writer, a->definition, &source, &a->entries, &a->multikey,
                                      &conflict, error);
    if (status == TANSU_E_NOT_UNIQUE)
        unique_conflict_of_build(&v, state, a->definition, &conflict, error);
    tansu_buffer_free(&conflict.entry);
    a->scan.rctx = NULL;
    return status;
}

/* ---- Catching up ---- */

/* note_changed -- adds a record id to those that may have changed; false when memory is
 * exhausted. */
static bool note_changed(online_build *a, uint64_t rid) {
    if (!ARRAY_RESERVE(a->changed, a->changed_count, a->changed_capacity, 1))
        return false;
    a->changed[a->changed_count++] = rid;
    return true;
}

/* find_changed -- the record ids whose locations lie after the held snapshot. */
static tansu_status find_changed(online_build *a, const collection_state *now, tansu_error *error) {
    a->changed_count = 0;
    uint64_t end;
    for (uint64_t first = 0; first < now->next_rid; first = end) {
        const aligned_u64 *words;
        tansu_status status = locations_words(now->locations, first, &words, &end, error);
        if (status != TANSU_OK)
            return status;
        for (uint64_t i = 0; words != NULL && first + i < end && first + i < now->next_rid; i++) {
            if (locations_load(&words[i]) >= a->from->position && !note_changed(a, first + i))
                return error_memory(error);
        }
    }
    return TANSU_OK;
}

/* find -- a document's version; *ref 0 when there is none. */
static tansu_status find(const read_context *v, const collection_state *state, uint64_t rid,
                         doc_ref *ref, tansu_error *error) {
    *ref = 0;
    tansu_status status = read_find(v, state, rid, ref, error);
    if (status == TANSU_DONE)
        *ref = 0;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* change_made -- removes the entries of a document or adds them. Those of words are gathered. */
static tansu_status change_made(online_build *a, bool removes, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < a->made.count; i++) {
        const uint8_t *entry = a->made.bytes.data + a->made.list[i].offset;
        uint32_t size = a->made.list[i].size;
        if (a->definition->text)
            status =
                index_batch_add(&a->batch, entry, size, removes) ? TANSU_OK : error_memory(error);
        else
            status = removes ? tree_remove(&a->writer, &a->entries, entry, size, NULL, error)
                             : tree_insert(&a->writer, &a->entries, entry, size, NULL, error);
    }
    if (status == TANSU_OK && index_batch_memory(&a->batch) >= BATCH_BYTES)
        status = index_batch_apply(&a->batch, a->definition, &a->writer, &a->entries, error);
    return status;
}

/* remove_old -- takes the entries of the changed documents out, and forgets record ids that did not
 * change. */
static tansu_status remove_old(online_build *a, const read_context *then,
                               const collection_state *before, const read_context *now,
                               const collection_state *after, tansu_error *error) {
    size_t kept = 0;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; i < a->changed_count; i++) {
        doc_ref old_ref, new_ref;
        status = i % PROGRESS_EVERY == PROGRESS_EVERY - 1 ? report_progress(a, error) : TANSU_OK;
        if (status == TANSU_OK)
            status = find(then, before, a->changed[i], &old_ref, error);
        if (status == TANSU_OK)
            status = find(now, after, a->changed[i], &new_ref, error);
        if (status != TANSU_OK)
            return status;
        if (old_ref == new_ref)
            continue;
        a->changed[kept++] = a->changed[i];
        if (old_ref == 0)
            continue;
        uint32_t size;
        const uint8_t *doc = read_document(then, old_ref, &size);
        status = index_entries_make(&a->made, a->definition, doc, size, a->changed[i], error);
        if (status == TANSU_OK)
            status = change_made(a, true, error);
        if (status != TANSU_OK)
            return status;
    }
    a->changed_count = kept;
    return TANSU_OK;
}

/* insert_new -- one document's entries. */
static tansu_status insert_new(online_build *a, const collection_state *state, const uint8_t *doc,
                               uint32_t size, uint64_t rid, tansu_error *error) {
    tansu_status status = index_entries_make(&a->made, a->definition, doc, size, rid, error);
    for (uint32_t k = 0; status == TANSU_OK && a->definition->unique && k < a->made.count; k++) {
        const uint8_t *entry = a->made.bytes.data + a->made.list[k].offset;
        size_t entry_size = a->made.list[k].size;
        bool found = false;
        uint64_t holder = rid;
        status = tree_find_prefix(a->db->trees, &a->entries, entry, entry_size - RID_SUFFIX_SIZE,
                                  &found, &holder, error);
        if (status == TANSU_OK && found && holder != rid)
            status = unique_conflict_error(state->name, a->definition, doc, size, entry, entry_size,
                                           error);
    }
    if (status == TANSU_OK)
        status = change_made(a, false, error);
    a->multikey = a->multikey || a->made.multikey;
    return status;
}

/*
 * catch_up -- brings the entries from the held snapshot to a newer one. All old entries are removed
 * before the first new one is added, so that a value which moved from one document to another does
 * not conflict with itself: a unique index rejects a value that two documents have in the newer
 * snapshot.
 */
static tansu_status catch_up(online_build *a, const read_context *now,
                             const collection_state *after, tansu_error *error) {
    const collection_state *before = state_of(a, a->from);
    read_context then = context_of(a, a->from);
    tansu_status status = find_changed(a, after, error);
    if (status == TANSU_OK)
        status = remove_old(a, &then, before, now, after, error);
    for (size_t i = 0; status == TANSU_OK && i < a->changed_count; i++) {
        doc_ref ref;
        uint32_t size;
        if (i % PROGRESS_EVERY == PROGRESS_EVERY - 1)
            status = report_progress(a, error);
        if (status == TANSU_OK)
            status = find(now, after, a->changed[i], &ref, error);
        if (status != TANSU_OK || ref == 0)
            continue;
        const uint8_t *doc = read_document(now, ref, &size);
        status = insert_new(a, after, doc, size, a->changed[i], error);
    }
    if (status == TANSU_OK && a->batch.count != 0)
        status = index_batch_apply(&a->batch, a->definition, &a->writer, &a->entries, error);
    return status;
}

/* catch_up_rounds -- until few changes are left, or the collection was dropped. */
static tansu_status catch_up_rounds(online_build *a, tansu_error *error) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        tansu_status status = report_progress(a, error);
        if (status != TANSU_OK)
            return status;
        snapshot *to = snapshot_acquire(a->db);
        const collection_state *after = state_of(a, to);
        if (after == NULL || to->sequence <= a->from->sequence) {
            snapshot_release(a->db, to);
            return TANSU_OK;
        }
        read_context now = context_of(a, to);
        status = catch_up(a, &now, after, error);
        log_pins_release(&a->pins);
        snapshot_release(a->db, a->from);
        a->from = to;
        if (status != TANSU_OK || a->changed_count <= ROUND_FEW)
            return status;
    }
    return TANSU_OK;
}

/* ---- The commit ---- */

/* has_index -- whether there is an index of the definition's name, or an index of words besides which
 * there can be no other. */
static bool has_index(const collection_state *state, const index_definition *definition) {
    if (definition->text != NULL && collection_words(state) != 0)
        return true;
    for (uint32_t i = 0; i < state->index_count; i++) {
        if (strcmp(state->indexes[i].definition->name, definition->name) == 0)
            return true;
    }
    return false;
}

/* attach -- the last round and the new index, in one transaction. Takes the definition over. If the
 * collection was dropped or renamed meanwhile, or has an index of the same name, the ordinary way
 * reports it. */
static tansu_status attach(online_build *a, write_txn *c, const char *collection,
                           index_definition *definition, tansu_error *error) {
    const collection_state *state = snapshot_collection(c->next, collection);
    if (a->from == NULL || state == NULL || state->id != a->collection ||
        has_index(state, definition) || state->index_count >= TANSU_MAX_INDEXES)
        return write_txn_index_create(c, collection, definition, NULL, error);
    read_context now = write_txn_read_context(c);
    a->write_locked = true;
    tansu_status status = catch_up(a, &now, state, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = write_txn_index_attach(c, collection, definition, &a->entries, a->multikey, error);
    if (status == TANSU_OK)
        a->entries = (tree){NULL, 0};
    return status;
}

/* commit_index -- with the write lock held. Takes the definition over. */
static tansu_status commit_index(online_build *a, const char *collection,
                                 index_definition *definition, tansu_error *error) {
    database *db = a->db;
    write_txn *c;
    const write_lock_caller caller = {go_on, a};
    tansu_status status = write_lock_acquire_asking(db, &caller, error);
    if (status == TANSU_OK) {
        status = write_txn_begin(db, &c, error);
        if (status != TANSU_OK)
            write_lock_release(db);
    }
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = attach(a, c, collection, definition, error);
    if (status == TANSU_OK)
        return write_txn_commit(c, db->options.durability, NULL, error);
    write_txn_abort(c);
    return status;
}

/* begin -- holds a snapshot with enough documents to make an online build worth while; a->from
 * stays NULL otherwise. */
static void begin(online_build *a, const char *collection) {
    snapshot *v = snapshot_acquire(a->db);
    const collection_state *state = snapshot_collection(v, collection);
    if (state == NULL || state->count <= BUILD_AT_ONCE || has_index(state, a->definition)) {
        snapshot_release(a->db, v);
        return;
    }
    a->collection = state->id;
    a->from = v;
}

tansu_status index_build_online(database *db, const char *collection, index_definition *definition,
                                tansu_progress progress, void *context, tansu_error *error) {
    /* No change has the epoch 0: to those that follow the commit, these blocks are shared ones. */
    online_build a = {.db = db, .definition = definition, .progress = progress, .context = context};
    a.writer = (tree_writer){.store = db->trees, .epoch = 0, .retired = &a.retired};
    tansu_status status = write_lock_check(db, error);
    uint64_t faults = log_faults(db->log);
    if (status == TANSU_OK) {
        begin(&a, collection);
        if (a.from != NULL)
            status = build_first(&a, error);
        if (status == TANSU_OK && a.from != NULL)
            status = catch_up_rounds(&a, error);
        else if (status == TANSU_OK)
            status = report_progress(&a, error);
    }
    status = log_check(db->log, faults, status, error);
    if (status == TANSU_OK)
        status = commit_index(&a, collection, definition, error);
    else
        index_definition_free(definition);
    tree_discard(&a.writer, &a.entries);
    retire_run(&a.retired);
    log_pins_release(&a.pins);
    if (a.from != NULL)
        snapshot_release(db, a.from);
    index_entries_free(&a.made);
    index_batch_free(&a.batch);
    free(a.changed);
    return status;
}
