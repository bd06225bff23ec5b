/*
 * store/kept/kept_versions.c -- looking up what older snapshots see of a document.
 */
#include "store/kept/kept_versions.h"

#include "store/database_internal.h"
#include "store/pending.h"
#include "store/read_context.h"

void kept_begin(kept_versions *k, database *db, uint64_t first) {
    *k = (kept_versions){.db = db};
    pthread_mutex_lock(&db->snapshots.mutex);
    for (snapshot *v = db->snapshots.oldest; v != NULL && v->sequence < first; v = v->next) {
        if (k->count == KEPT_SNAPSHOTS) {
            k->incomplete = true;
            break;
        }
        v->references++;
        k->held[k->count++].snapshot = v;
    }
    pthread_mutex_unlock(&db->snapshots.mutex);
}

/* keep -- the version of one snapshot; false when that fails. */
static bool keep(kept_versions *k, uint32_t i, const record_header *record) {
    snapshot *v = k->held[i].snapshot;
    uint32_t id = record_collection(record);
    if (k->held[i].last == NULL || k->held[i].last->id != id)
        k->held[i].last = snapshot_collection_by_id(v, id);
    if (k->held[i].last == NULL || record_rid(record) >= k->held[i].last->next_rid)
        return true;
    const read_context rctx = {.log = k->db->log, .sequence = v->sequence, .kept = &v->kept};
    return read_keep_version(&rctx, record_previous(record), record->where, KEPT_VERSIONS);
}

void kept_note(kept_versions *k, const record_header *record) {
    /* Snapshots before an insert do not have its record id. */
    if ((record->type != RECORD_PUT && record->type != RECORD_DELETE) || record_is_insert(record))
        return;
    for (uint32_t i = 0; i < k->count && !k->incomplete; i++)
        k->incomplete = !keep(k, i, record);
}

uint64_t kept_birth(const kept_versions *k) {
    return k->incomplete || k->count == 0 ? 0 : k->held[k->count - 1].snapshot->epoch + 1;
}

void kept_end(kept_versions *k) {
    for (uint32_t i = 0; i < k->count; i++)
        snapshot_release(k->db, k->held[i].snapshot);
    k->count = 0;
}
