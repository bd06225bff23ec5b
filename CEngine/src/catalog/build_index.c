/*
 * catalog/build_index.c -- making an index on a collection that others read and write meanwhile.
 *
 * The tree is built from a version that is held, without the writer's turn. Then it is brought up to
 * newer versions, round after round, each with fewer changed documents than the one before; the last
 * round and the commit alone are done in the writer's turn.
 *
 * Which documents changed is seen from their places: the log only grows, so the record of a commit
 * that followed a version lies at or behind that version's end. A record that was moved there
 * without a change is found to be the same document and skipped.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/change.h"
#include "catalog/collection.h"
#include "catalog/conflict.h"
#include "index/build.h"

#include <stdlib.h>

/* Collections of up to so many documents are read in the writer's turn. */
#define BUILD_AT_ONCE 256
/* So many changed documents are left for the writer's turn, */
#define ROUND_FEW 500
/* unless writers are quicker than catching up: then there are so many rounds. */
#define ROUNDS_MOST 10
/* Documents between two calls of the progress function. */
#define PROGRESS_EVERY 512

typedef struct aside {
    database *db;
    const index_definition *definition;
    uint32_t collection;
    tansu_build_progress progress;
    void *context;
    uint64_t done;
    uint64_t total;

    version *from; /* held: the entries are those of its documents */
    tree_writer writer;
    retire_list retired; /* stays empty: every block is the writer's own */
    tree entries;
    bool multikey;
    bool in_turn; /* others wait: nobody is told, or asked, anything */

    view_scan scan;
    index_entries made;
    uint64_t *changed; /* docnos */
    size_t changed_count;
    size_t changed_room;
} aside;

/* state_of -- the collection in a version, NULL when it was dropped. */
static const collection_state *state_of(const aside *a, const version *v) {
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->collections[i]->id == a->collection)
            return v->collections[i];
    }
    return NULL;
}

/* view_of -- reading as of a version. */
static view view_of(const aside *a, const version *v) {
    return (view){.log = a->db->log, .trees = a->db->trees, .sequence = v->sequence};
}

/* tell -- calls the progress function, and looks whether the database is being closed. */
static tansu_status tell(const aside *a, tansu_error *error) {
    if (a->in_turn)
        return TANSU_OK;
    tansu_status status = database_check_open(a->db, error);
    if (status == TANSU_OK && a->progress != NULL && !a->progress(a->context, a->done, a->total))
        status = error_set(error, TANSU_E_CANCELLED, a->definition->name,
                           "The building of index '%s' was cancelled; nothing of it is left.",
                           a->definition->name);
    return status;
}

/* ---- The first pass ---- */

/* next_document -- shows the build the documents of the held version. */
static tansu_status next_document(void *context, uint64_t *docno, const uint8_t **doc,
                                  uint32_t *size, tansu_error *error) {
    aside *a = context;
    doc_ref ref;
    tansu_status status = a->done % PROGRESS_EVERY == 0 ? tell(a, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = view_scan_next(&a->scan, docno, &ref, doc, size, error);
    a->done += status == TANSU_OK;
    return status;
}

/* check_first -- asked while their entries are sorted. */
static tansu_status check_first(void *context, tansu_error *error) {
    return tell(context, error);
}

/* build_first -- the tree of the held version. */
static tansu_status build_first(aside *a, tansu_error *error) {
    const collection_state *state = state_of(a, a->from);
    view v = view_of(a, a->from);
    index_conflict conflict = {.docno = 0};
    view_scan_init(&a->scan, &v, state);
    a->total = state->count;
    const index_source source = {next_document, check_first, a};
    tansu_status status = index_build(&a->writer, a->definition, &source, &a->entries, &a->multikey,
                                      &conflict, error);
    if (status == TANSU_E_NOT_UNIQUE)
        conflict_of_build(&v, state, a->definition, &conflict, error);
    tansu_buffer_free(&conflict.entry);
    a->scan.view = NULL;
    return status;
}

/* ---- Catching up ---- */

/* note_changed -- adds a docno to those that may have changed; false when memory is exhausted. */
static bool note_changed(aside *a, uint64_t docno) {
    if (a->changed_count == a->changed_room) {
        size_t room = a->changed_room == 0 ? 1024 : a->changed_room * 2;
        uint64_t *list = realloc(a->changed, room * sizeof *list);
        if (list == NULL)
            return false;
        a->changed = list;
        a->changed_room = room;
    }
    a->changed[a->changed_count++] = docno;
    return true;
}

/* find_changed -- the docnos whose places lie behind the held version. */
static tansu_status find_changed(aside *a, const collection_state *now, tansu_error *error) {
    a->changed_count = 0;
    for (uint64_t first = 0; first < now->next_docno; first += PLACES_CHUNK) {
        const uint64_t *words;
        tansu_status status = places_chunk(now->places, first / PLACES_CHUNK, &words, error);
        if (status != TANSU_OK)
            return status;
        for (uint64_t i = 0; words != NULL && i < PLACES_CHUNK && first + i < now->next_docno;
             i++) {
            if (places_load(&words[i]) >= a->from->position && !note_changed(a, first + i))
                return error_memory(error);
        }
    }
    return TANSU_OK;
}

/* find -- a document's version; *ref 0 when there is none. */
static tansu_status find(const view *v, const collection_state *state, uint64_t docno, doc_ref *ref,
                         tansu_error *error) {
    *ref = 0;
    tansu_status status = view_find(v, state, docno, ref, error);
    if (status == TANSU_DONE)
        *ref = 0;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* remove_old -- takes the entries of the changed documents out, and forgets docnos that did not
 * change. */
static tansu_status remove_old(aside *a, const view *then, const collection_state *before,
                               const view *now, const collection_state *after, tansu_error *error) {
    size_t kept = 0;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; i < a->changed_count; i++) {
        doc_ref old_ref, new_ref;
        status = i % PROGRESS_EVERY == PROGRESS_EVERY - 1 ? tell(a, error) : TANSU_OK;
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
        const uint8_t *doc = view_document(then, old_ref, &size);
        status = index_entries_make(&a->made, a->definition, doc, size, a->changed[i], error);
        for (uint32_t k = 0; status == TANSU_OK && k < a->made.count; k++)
            status =
                tree_remove(&a->writer, &a->entries, a->made.bytes.data + a->made.list[k].offset,
                            a->made.list[k].size, NULL, error);
        if (status != TANSU_OK)
            return status;
    }
    a->changed_count = kept;
    return TANSU_OK;
}

/* insert_new -- one document's entries. */
static tansu_status insert_new(aside *a, const collection_state *state, const uint8_t *doc,
                               uint32_t size, uint64_t docno, tansu_error *error) {
    tansu_status status = index_entries_make(&a->made, a->definition, doc, size, docno, error);
    for (uint32_t k = 0; status == TANSU_OK && k < a->made.count; k++) {
        const uint8_t *entry = a->made.bytes.data + a->made.list[k].offset;
        size_t entry_size = a->made.list[k].size;
        bool found = false;
        uint64_t holder = docno;
        if (a->definition->unique)
            status = tree_find_prefix(a->db->trees, &a->entries, entry,
                                      entry_size - INDEX_TAIL_SIZE, &found, &holder, error);
        if (status == TANSU_OK && found && holder != docno)
            status =
                conflict_error(state->name, a->definition, doc, size, entry, entry_size, error);
        if (status == TANSU_OK)
            status = tree_insert(&a->writer, &a->entries, entry, entry_size, NULL, error);
    }
    a->multikey = a->multikey || a->made.multikey;
    return status;
}

/*
 * catch_up -- brings the entries from the held version to a newer one. All old entries go before the
 * first new one comes, so that a value which moved from one document to another meets itself not: what
 * a unique index refuses is a value that two documents have in the newer version.
 */
static tansu_status catch_up(aside *a, const view *now, const collection_state *after,
                             tansu_error *error) {
    const collection_state *before = state_of(a, a->from);
    view then = view_of(a, a->from);
    tansu_status status = find_changed(a, after, error);
    if (status == TANSU_OK)
        status = remove_old(a, &then, before, now, after, error);
    for (size_t i = 0; status == TANSU_OK && i < a->changed_count; i++) {
        doc_ref ref;
        uint32_t size;
        if (i % PROGRESS_EVERY == PROGRESS_EVERY - 1)
            status = tell(a, error);
        if (status == TANSU_OK)
            status = find(now, after, a->changed[i], &ref, error);
        if (status != TANSU_OK || ref == 0)
            continue;
        const uint8_t *doc = view_document(now, ref, &size);
        status = insert_new(a, after, doc, size, a->changed[i], error);
    }
    return status;
}

/* catch_up_rounds -- until few changes are left, or the collection was dropped. */
static tansu_status catch_up_rounds(aside *a, tansu_error *error) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        tansu_status status = tell(a, error);
        if (status != TANSU_OK)
            return status;
        version *to = database_hold(a->db);
        const collection_state *after = state_of(a, to);
        if (after == NULL || to->sequence <= a->from->sequence) {
            database_release(a->db, to);
            return TANSU_OK;
        }
        view now = view_of(a, to);
        status = catch_up(a, &now, after, error);
        database_release(a->db, a->from);
        a->from = to;
        if (status != TANSU_OK || a->changed_count <= ROUND_FEW)
            return status;
    }
    return TANSU_OK;
}

/* ---- The commit ---- */

/* has_index -- whether there is an index of the definition's name. */
static bool has_index(const collection_state *state, const index_definition *definition) {
    for (uint32_t i = 0; i < state->index_count; i++) {
        if (strcmp(state->indexes[i].definition->name, definition->name) == 0)
            return true;
    }
    return false;
}

/* adopt -- the last round and the new index, in a change. Takes the definition over. What else became
 * of the collection meanwhile (dropped, renamed, an index of the same name) is for the plain way. */
static tansu_status adopt(aside *a, change *c, const char *collection, index_definition *definition,
                          tansu_error *error) {
    const collection_state *state = version_collection(c->next, collection);
    if (a->from == NULL || state == NULL || state->id != a->collection ||
        has_index(state, definition) || state->index_count >= TANSU_MAX_INDEXES)
        return change_index_create(c, collection, definition, NULL, error);
    view now = change_view(c);
    a->in_turn = true;
    tansu_status status = catch_up(a, &now, state, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = change_index_adopt(c, collection, definition, &a->entries, a->multikey, error);
    if (status == TANSU_OK)
        a->entries = (tree){NULL, 0};
    return status;
}

/* commit_index -- in the writer's turn. Takes the definition over. */
static tansu_status commit_index(aside *a, const char *collection, index_definition *definition,
                                 tansu_error *error) {
    database *db = a->db;
    change *c;
    tansu_status status = database_begin_writing(db, NULL, error);
    if (status == TANSU_OK) {
        status = change_begin(db, &c, error);
        if (status != TANSU_OK)
            database_end_writing(db);
    }
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    status = adopt(a, c, collection, definition, error);
    if (status == TANSU_OK)
        return change_commit(c, db->durability, NULL, error);
    change_abort(c);
    return status;
}

/* begin -- holds a version with enough documents to make building aside worth while; a->from stays
 * NULL otherwise. */
static void begin(aside *a, const char *collection) {
    version *v = database_hold(a->db);
    const collection_state *state = version_collection(v, collection);
    if (state == NULL || state->count <= BUILD_AT_ONCE || has_index(state, a->definition)) {
        database_release(a->db, v);
        return;
    }
    a->collection = state->id;
    a->from = v;
}

tansu_status index_build_aside(database *db, const char *collection, index_definition *definition,
                               tansu_build_progress progress, void *context, tansu_error *error) {
    /* No change has the epoch 0: to those that follow the commit, these blocks are shared ones. */
    aside a = {.db = db, .definition = definition, .progress = progress, .context = context};
    a.writer = (tree_writer){.store = db->trees, .epoch = 0, .retired = &a.retired};
    tansu_status status = database_check_turn(db, error);
    uint64_t faults = log_faults(db->log);
    if (status == TANSU_OK) {
        begin(&a, collection);
        if (a.from != NULL)
            status = build_first(&a, error);
        if (status == TANSU_OK && a.from != NULL)
            status = catch_up_rounds(&a, error);
        else if (status == TANSU_OK)
            status = tell(&a, error);
    }
    status = log_check(db->log, faults, status, error);
    if (status == TANSU_OK)
        status = commit_index(&a, collection, definition, error);
    else
        index_definition_free(definition);
    tree_discard(&a.writer, &a.entries);
    retire_run(&a.retired);
    if (a.from != NULL)
        database_release(db, a.from);
    index_entries_free(&a.made);
    free(a.changed);
    return status;
}
