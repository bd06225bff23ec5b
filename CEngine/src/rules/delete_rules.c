/*
 * rules/delete_rules.c -- removing documents together with what the delete rules make of it.
 *
 * The documents that are removed are a work list in the order of their discovery. It is worked
 * through in portions of documents of one collection, each with one query for each reference to
 * that collection; what the rule "cascade" removes is appended.
 */
#include "rules/rules.h"

#include "bson/json/json.h"
#include "bson/writer.h"
#include "log/format.h"
#include "query/query.h"
#include "query/update/update.h"
#include "rules/rules_internal.h"
#include "store/database_internal.h"
#include "store/references/reference_list.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

/* A query has at most that many ids: a longer list uses no index. */
#define PORTION_IDS 10000
#define PORTION_BYTES ((size_t)1 << 20)

/* One removal while it is determined and carried out. */
typedef struct removal {
    write_txn *wtxn;
    const deadline *time;
    tansu_error *error;
    read_context rctx;
    document_set removed; /* those from `next` on are yet to be looked up */
    size_t next;
    document_set nullified; /* they hold a reference with the rule "nullify" */
    denial *denials;
    size_t denial_count;
    size_t denial_capacity;
    uint32_t dropped; /* the collection that is dropped; 0: none */
    tansu_buffer ids; /* of a portion, a BSON array */
} removal;

bool delete_rules_concern(const snapshot *v, const char *collection) {
    if (v->holders.count == 0)
        return false;
    const collection_state *holder;
    catalog_cursor holders = catalog_from(&v->holders, order_of_holders, NULL);
    while ((holder = snapshot_next_holder(v, &holders)) != NULL) {
        const reference_list *list = holder->references;
        for (uint32_t k = 0; k < list->count; k++)
            if (list->items[k].rule != DELETE_IGNORE && strcmp(list->items[k].to, collection) == 0)
                return true;
    }
    return false;
}

/* removal_free -- ends what a removal holds. */
static void removal_free(removal *r) {
    document_set_free(&r->removed);
    document_set_free(&r->nullified);
    free(r->denials);
    tansu_buffer_free(&r->ids);
}

/* check -- whether the call has to end. */
static tansu_status check(const removal *r) {
    return deadline_check(r->time, r->error);
}

/* ---- Determining ---- */

/* append_id -- adds the `_id` of a document to the portion; nothing for one that is not there. */
static tansu_status append_id(removal *r, writer *w, uint32_t number, const collection_state *state,
                              uint64_t rid) {
    doc_ref ref;
    uint32_t size;
    doc_value id;
    tansu_status status = read_find(&r->rctx, state, rid, &ref, r->error);
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    const uint8_t *doc = read_document(&r->rctx, ref, &size);
    if (doc_find_id(doc, size, &id))
        writer_index_value(w, number, &id);
    return TANSU_OK;
}

/* take_portion -- the ids of the next documents of the work list that are of one collection. */
static tansu_status take_portion(removal *r, const collection_state **state) {
    r->ids.size = 0;
    writer w = {.out = &r->ids};
    size_t list = writer_begin(&w);
    *state = snapshot_collection_by_id(r->wtxn->next, r->removed.items[r->next].collection);
    tansu_status status = TANSU_OK;
    uint32_t count = 0;
    for (; status == TANSU_OK && r->next < r->removed.count && count < PORTION_IDS &&
           r->ids.size < PORTION_BYTES;
         r->next++, count++) {
        const document_place *at = &r->removed.items[r->next];
        if (at->collection != (*state)->id)
            break;
        status = append_id(r, &w, count, *state, at->rid);
    }
    if (status != TANSU_OK)
        return status;
    return writer_finish(&w, list) ? TANSU_OK : error_memory(r->error);
}

/* note_referrer -- what a rule makes of a document that refers to one that is removed. */
static tansu_status note_referrer(removal *r, const collection_state *holder, const reference *by,
                                  uint64_t rid) {
    const document_place place = {.collection = holder->id, .rid = rid};
    bool noted = true;
    if (by->rule == DELETE_CASCADE) {
        noted = document_set_add(&r->removed, place);
    } else if (by->rule == DELETE_NULLIFY) {
        noted = document_set_add(&r->nullified, place);
    } else if (!document_set_has(&r->removed, place)) {
        noted = ARRAY_RESERVE(r->denials, r->denial_count, r->denial_capacity, 1);
        if (noted)
            r->denials[r->denial_count++] = (denial){.place = place, .by = by};
    }
    return noted ? TANSU_OK : error_memory(r->error);
}

/* follow -- the documents that refer to the portion's by one reference. */
static tansu_status follow(removal *r, const collection_state *holder, const reference *by) {
    uint64_t *rids;
    size_t count;
    tansu_status status = referrers_find(by, holder, &r->rctx, &r->ids, &rids, &count, r->error);
    for (size_t i = 0; status == TANSU_OK && i < count; i++)
        status = note_referrer(r, holder, by, rids[i]);
    free(rids);
    return status;
}

/* follow_all -- the same by all references to a collection. */
static tansu_status follow_all(removal *r, const collection_state *state) {
    const snapshot *v = r->wtxn->next;
    tansu_status status = TANSU_OK;
    const collection_state *holder;
    catalog_cursor holders = catalog_from(&v->holders, order_of_holders, NULL);
    while (status == TANSU_OK && (holder = snapshot_next_holder(v, &holders)) != NULL) {
        const reference_list *list = holder->references;
        if (holder->id == r->dropped)
            continue;
        for (uint32_t k = 0; status == TANSU_OK && k < list->count; k++)
            if (list->items[k].rule != DELETE_IGNORE && strcmp(list->items[k].to, state->name) == 0)
                status = follow(r, holder, &list->items[k]);
    }
    return status;
}

/* determine -- works through the work list. */
static tansu_status determine(removal *r) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && r->next < r->removed.count) {
        const uint32_t collection = r->removed.items[r->next].collection;
        const collection_state *state = snapshot_collection_by_id(r->wtxn->next, collection);
        if (!delete_rules_concern(r->wtxn->next, state->name)) {
            while (r->next < r->removed.count && r->removed.items[r->next].collection == collection)
                r->next++;
            continue;
        }
        status = check(r);
        if (status == TANSU_OK)
            status = take_portion(r, &state);
        if (status == TANSU_OK)
            status = follow_all(r, state);
    }
    return status == TANSU_OK ? deny_check(r->denials, r->denial_count, &r->removed, r->wtxn->next,
                                           &r->rctx, r->error)
                              : status;
}

/* ---- Changing ---- */

/* is_removed -- whether a value is the `_id` of a document that is removed. */
static tansu_status is_removed(void *context, const collection_state *target,
                               const doc_value *value, bool *goes, tansu_error *error) {
    const removal *r = context;
    bool found = false;
    uint64_t rid = 0;
    if (target == NULL)
        return TANSU_OK;
    tansu_status status =
        write_txn_find_id(r->wtxn->db->trees, target, value, &r->wtxn->key, &found, &rid, error);
    *goes = status == TANSU_OK && found &&
            document_set_has(&r->removed, (document_place){target->id, rid});
    return status;
}

/* change_referrers -- takes what refers to removed documents out of those that stay. */
static tansu_status change_referrers(removal *r) {
    nullifier n = {.test = is_removed, .context = r};
    tansu_status status = TANSU_OK;
    uint64_t values = 0;
    for (size_t i = 0; status == TANSU_OK && i < r->nullified.count; i++) {
        const document_place place = r->nullified.items[i];
        if (i % CHANGE_STEP == 0)
            status = check(r);
        if (status == TANSU_OK && !document_set_has(&r->removed, place))
            status = nullify_document(&n, r->wtxn, place, &values, r->error);
    }
    nullifier_free(&n);
    return status;
}

/* change -- first the values, for which the documents that are removed are looked up, then the
 * removals. */
static tansu_status change(removal *r) {
    tansu_status status = change_referrers(r);
    for (size_t i = 0; status == TANSU_OK && i < r->removed.count; i++) {
        const document_place place = r->removed.items[i];
        if (i % CHANGE_STEP == 0)
            status = check(r);
        if (status != TANSU_OK || place.collection == r->dropped)
            continue;
        const collection_state *state = snapshot_collection_by_id(r->wtxn->next, place.collection);
        status = write_txn_remove(r->wtxn, state->name, place.rid, r->error);
        if (status == TANSU_DONE)
            status = TANSU_OK;
    }
    return status;
}

/* ---- The calls ---- */

/* remove_alone -- removes documents that no reference concerns. */
static tansu_status remove_alone(write_txn *wtxn, const char *collection, const uint64_t *rids,
                                 size_t count, const deadline *time, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < count; i++) {
        if (i % CHANGE_STEP == 0 || interrupt_asked(time->interrupt))
            status = deadline_check(time, error);
        if (status == TANSU_OK)
            status = write_txn_remove(wtxn, collection, rids[i], error);
        if (status == TANSU_DONE)
            status = TANSU_OK;
    }
    return status;
}

/* removal_begin -- a removal in a transaction. */
static removal removal_begin(write_txn *wtxn, const deadline *time, tansu_error *error) {
    removal r = {.wtxn = wtxn, .time = time, .error = error, .rctx = write_txn_read_context(wtxn)};
    r.rctx.interrupt = time->interrupt;
    return r;
}

tansu_status delete_rules_remove(write_txn *wtxn, const char *collection, const uint64_t *rids,
                                 size_t count, const deadline *time, tansu_error *error) {
    const collection_state *state = snapshot_collection(wtxn->next, collection);
    if (state == NULL || count == 0)
        return TANSU_OK;
    if (!delete_rules_concern(wtxn->next, collection))
        return remove_alone(wtxn, collection, rids, count, time, error);
    removal r = removal_begin(wtxn, time, error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < count; i++)
        if (!document_set_add(&r.removed, (document_place){state->id, rids[i]}))
            status = error_memory(error);
    if (status == TANSU_OK)
        status = determine(&r);
    if (status == TANSU_OK)
        status = change(&r);
    removal_free(&r);
    return status;
}

/* add_all -- every document of a collection. */
static tansu_status add_all(removal *r, const collection_state *state) {
    table_scan scan;
    table_scan_init(&scan, &r->rctx, state);
    uint64_t rid;
    doc_ref ref;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status;
    for (size_t i = 0;
         (status = table_scan_next(&scan, &rid, &ref, &doc, &size, r->error)) == TANSU_OK; i++) {
        if (i % CHANGE_STEP == 0)
            status = check(r);
        if (status == TANSU_OK && !document_set_add(&r->removed, (document_place){state->id, rid}))
            status = error_memory(r->error);
        if (status != TANSU_OK)
            break;
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status delete_rules_drop(write_txn *wtxn, const char *collection, const deadline *time,
                               tansu_error *error) {
    const collection_state *state = snapshot_collection(wtxn->next, collection);
    if (state == NULL)
        return snapshot_missing(collection, error);
    tansu_status status = TANSU_OK;
    if (state->count != 0 && delete_rules_concern(wtxn->next, collection)) {
        removal r = removal_begin(wtxn, time, error);
        r.dropped = state->id;
        status = add_all(&r, state);
        if (status == TANSU_OK)
            status = determine(&r);
        if (status == TANSU_OK)
            status = change(&r);
        removal_free(&r);
    }
    return status == TANSU_OK ? write_txn_collection_drop(wtxn, collection, error) : status;
}

/* ---- Taking references out of a document ---- */

/*
 * The path is followed as path_walk() does.
 */

/* One document as it is rewritten by one reference. */
typedef struct rewriting {
    writer w;
    const nullifier *by;
    const path *path;
    const collection_state *target;
    uint64_t values; /* taken out */
    tansu_status status;
    tansu_error *error;
} rewriting;

static void rewrite_elements(rewriting *r, const doc_value *from, uint32_t part);

/* goes -- whether a value is to be taken out. */
static bool goes(rewriting *r, const doc_value *value) {
    bool is_one = false;
    if (r->status != TANSU_OK || value->type == DOC_NULL || value->type == DOC_UNDEFINED)
        return false;
    r->status = r->by->test(r->by->context, r->target, value, &is_one, r->error);
    r->values += is_one;
    return is_one;
}

/* rewrite_array_end -- an array at the end of the path. */
static void rewrite_array_end(rewriting *r, const doc_value *array) {
    doc_iter iter;
    uint32_t kept = 0;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter);)
        if (!goes(r, &iter.value))
            writer_index_value(&r->w, kept++, &iter.value);
}

/* rewrite_array -- an array before the end: each document in it is entered. */
static void rewrite_array(rewriting *r, const doc_value *array, uint32_t part) {
    doc_iter iter;
    uint32_t number = 0;
    for (doc_iter_value(&iter, array); doc_iter_next(&iter); number++) {
        if (iter.value.type != DOC_DOCUMENT) {
            writer_index_value(&r->w, number, &iter.value);
            continue;
        }
        size_t start = writer_open_index(&r->w, number, DOC_DOCUMENT);
        rewrite_elements(r, &iter.value, part);
        writer_end(&r->w, start);
    }
}

/* rewrite_value -- the value of the part before `part`. */
static void rewrite_value(rewriting *r, const doc_iter *at, uint32_t part) {
    const doc_value *value = &at->value;
    bool last = part == r->path->count;
    if (value->type == DOC_ARRAY || (value->type == DOC_DOCUMENT && !last)) {
        writer_head(&r->w, value->type, at->key, at->key_size);
        size_t start = writer_begin(&r->w);
        if (value->type == DOC_DOCUMENT)
            rewrite_elements(r, value, part);
        else if (last)
            rewrite_array_end(r, value);
        else
            rewrite_array(r, value, part);
        writer_end(&r->w, start);
    } else if (last && goes(r, value)) {
        writer_head(&r->w, DOC_NULL, at->key, at->key_size);
    } else {
        writer_copy(&r->w, at);
    }
}

/* rewrite_elements -- the elements of a document. */
static void rewrite_elements(rewriting *r, const doc_value *from, uint32_t part) {
    const path_part *name = &r->path->parts[part];
    doc_iter iter;
    for (doc_iter_value(&iter, from); doc_iter_next(&iter);) {
        if (iter.key_size == name->size && memcmp(iter.key, name->name, name->size) == 0)
            rewrite_value(r, &iter, part + 1);
        else
            writer_copy(&r->w, &iter);
    }
}

/* rewrite -- takes values out of `before`, by one reference. */
static tansu_status rewrite(nullifier *n, const snapshot *v, const reference *by, uint64_t *values,
                            tansu_error *error) {
    n->after.size = 0;
    rewriting r = {.w = {.out = &n->after},
                   .by = n,
                   .path = &by->path,
                   .target = snapshot_collection(v, by->to),
                   .error = error};
    const doc_value whole = {n->before.data, (uint32_t)n->before.size, DOC_DOCUMENT};
    size_t start = writer_begin(&r.w);
    rewrite_elements(&r, &whole, 0);
    if (!writer_finish(&r.w, start))
        return error_memory(error);
    if (r.status != TANSU_OK || r.values == 0)
        return r.status;
    const tansu_buffer swapped = n->before;
    n->before = n->after;
    n->after = swapped;
    *values += r.values;
    return TANSU_OK;
}

tansu_status nullify_document(nullifier *n, write_txn *wtxn, document_place place, uint64_t *values,
                              tansu_error *error) {
    const collection_state *state = snapshot_collection_by_id(wtxn->next, place.collection);
    const read_context v = write_txn_read_context(wtxn);
    doc_ref ref;
    uint32_t size;
    tansu_status status = read_find(&v, state, place.rid, &ref, error);
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    const uint8_t *doc = read_document(&v, ref, &size);
    if (!buffer_set(&n->before, doc, size))
        return error_memory(error);
    uint64_t taken = 0;
    for (uint32_t i = 0; status == TANSU_OK && i < state->references->count; i++)
        if (state->references->items[i].rule == DELETE_NULLIFY)
            status = rewrite(n, wtxn->next, &state->references->items[i], &taken, error);
    *values += taken;
    return status == TANSU_OK && taken != 0
               ? write_txn_save(wtxn, state->name, n->before.data, n->before.size, TANSU_REPLACE, 0,
                                NULL, error)
               : status;
}

void nullifier_free(nullifier *n) {
    tansu_buffer_free(&n->before);
    tansu_buffer_free(&n->after);
}

/* ---- Referrers ---- */

/*
 * Finding the documents that refer to given documents: an ordinary query
 * {path: {"$in": ids}}, so that it finds what the same query of a caller finds.
 */

tansu_status referrers_find(const reference *r, const collection_state *holder,
                            const read_context *rctx, const tansu_buffer *ids, uint64_t **rids,
                            size_t *count, tansu_error *error) {
    *rids = NULL;
    *count = 0;
    tansu_buffer selector = TANSU_BUFFER_INIT;
    writer w = {.out = &selector};
    const doc_value list = {ids->data, (uint32_t)ids->size, DOC_ARRAY};
    size_t document = writer_begin(&w);
    size_t condition = writer_open(&w, r->path.text, DOC_DOCUMENT);
    writer_value(&w, "$in", &list);
    writer_end(&w, condition);
    query *q = NULL;
    tansu_status status =
        writer_finish(&w, document)
            ? query_compile(selector.data, selector.size, NULL, 0, rctx->interrupt, &q, error)
            : error_memory(error);
    if (status == TANSU_OK)
        status = query_rids(q, rctx, holder, rids, count, error);
    query_free(q);
    tansu_buffer_free(&selector);
    return status;
}

/* ---- Sets of documents ---- */

/*
 * The table of a transaction's changed documents serves as the index: its keys are the same.
 */

bool document_set_has(const document_set *set, document_place place) {
    return pending_find(&set->members, record_where(place.collection, place.rid)) != 0;
}

bool document_set_add(document_set *set, document_place place) {
    if (document_set_has(set, place))
        return true;
    if (!ARRAY_RESERVE(set->items, set->count, set->capacity, 1) || !pending_reserve(&set->members))
        return false;
    set->items[set->count++] = place;
    pending_set(&set->members, record_where(place.collection, place.rid), set->count);
    return true;
}

void document_set_free(document_set *set) {
    free(set->items);
    pending_free(&set->members);
}

/* ---- The error for documents whose removal a reference denies ---- */

/* Documents that a message names. */
#define NAMED 5

/* append_referrer_id -- appends the `_id` of a document as JSON to a list; nothing if it cannot be
 * read. */
static bool append_referrer_id(const collection_state *state, const read_context *rctx,
                               uint64_t rid, tansu_buffer *text) {
    doc_ref ref;
    uint32_t size;
    doc_value id;
    if (read_find(rctx, state, rid, &ref, NULL) != TANSU_OK)
        return true;
    const uint8_t *doc = read_document(rctx, ref, &size);
    return !doc_find_id(doc, size, &id) || ((text->size == 0 || buffer_append(text, ", ", 2)) &&
                                            json_write_value(text, &id, false));
}

/* describe -- the error for `first` and the others like it. */
static tansu_status describe(const denial *first, const denial *end, const document_set *removed,
                             const snapshot *v, const read_context *rctx, tansu_error *error) {
    const collection_state *state = snapshot_collection_by_id(v, first->place.collection);
    tansu_buffer ids = TANSU_BUFFER_INIT;
    size_t count = 0;
    bool written = true;
    for (const denial *d = first; d < end; d++) {
        if (d->by != first->by || document_set_has(removed, d->place))
            continue;
        if (count++ < NAMED)
            written = written && append_referrer_id(state, rctx, d->place.rid, &ids);
    }
    char more[40] = "";
    if (count > NAMED)
        snprintf(more, sizeof more, " and %zu more", count - NAMED);
    const bool shown = written && ids.size <= 240 && buffer_append_byte(&ids, 0);
    error_set(
        error, TANSU_E_REFERENCED, state->name,
        "Documents of \"%s\" refer by \"%.60s\" to documents of \"%s\" that would be removed%s"
        "%s%s; remove or change them first",
        state->name, first->by->path.text, first->by->to, shown ? ": " : "",
        shown ? (const char *)ids.data : "", more);
    tansu_buffer_free(&ids);
    return TANSU_E_REFERENCED;
}

tansu_status deny_check(const denial *denials, size_t count, const document_set *removed,
                        const snapshot *v, const read_context *rctx, tansu_error *error) {
    for (size_t i = 0; i < count; i++)
        if (!document_set_has(removed, denials[i].place))
            return describe(&denials[i], denials + count, removed, v, rctx, error);
    return TANSU_OK;
}
