/*
 * rules/delete_rules.c -- removing documents together with what the delete rules make of it.
 *
 * The documents that are removed are a work list in the order of their discovery. It is worked
 * through in portions of documents of one collection, each with one query for each reference to
 * that collection; what the rule "cascade" removes is appended.
 */
#include "rules/delete_rules.h"

#include "bson/writer.h"
#include "query/update/update.h"
#include "rules/deny_error.h"
#include "rules/nullify.h"
#include "rules/referrers.h"
#include "store/database_internal.h"
#include "util/array.h"
#include "util/error.h"

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
