/*
 * store/snapshot.c -- acquiring, publishing and freeing snapshots.
 */
#include "store/snapshot.h"

#include "store/collection.h"
#include "store/database_internal.h"
#include "store/pending.h"
#include "store/write_lock.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/heap.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* As much index memory freed at one time is worth giving back to the system. */
#define TRIM_BYTES ((uint64_t)16 * 1024 * 1024)

int order_of_states(const void *item, const void *key) {
    return strcmp(((const collection_state *)item)->name, key);
}

int order_of_numbers(const void *item, const void *key) {
    uint32_t id = ((const collection_name *)item)->id, other = *(const uint32_t *)key;
    return (id > other) - (id < other);
}

int order_of_holders(const void *item, const void *key) {
    return strcmp(((const collection_name *)item)->text, key);
}

snapshot *snapshot_new(void) {
    return zeroed_alloc(sizeof(snapshot));
}

/* kept_free -- frees the versions that are kept for a snapshot. */
static void kept_free(snapshot *v) {
    if (v->kept != NULL)
        pending_free(v->kept);
    free(v->kept);
    v->kept = NULL;
}

void snapshot_free(snapshot *v) {
    kept_free(v);
    free(v);
}

/* spare_free -- and the memory of its retire list, which is empty; fine on NULL. */
static void spare_free(snapshot *v) {
    if (v == NULL)
        return;
    retire_forget(&v->retired);
    snapshot_free(v);
}

snapshot *snapshot_take(database *db, const snapshot *base, uint64_t epoch) {
    snapshot *v = __atomic_exchange_n(&db->snapshots.spare, NULL, __ATOMIC_ACQUIRE);
    if (v == NULL && (v = snapshot_new()) == NULL)
        return NULL;
    retire_list retired = v->retired;
    memset(v, 0, offsetof(snapshot, states));
    v->retired = retired;
    v->count = base->count;
    v->expiring = base->expiring;
    v->epoch = epoch;
    catalog_copy(&v->states, &base->states, epoch);
    catalog_copy(&v->numbers, &base->numbers, epoch);
    catalog_copy(&v->holders, &base->holders, epoch);
    return v;
}

void snapshot_discard(snapshot *v, uint64_t epoch, retire_free see, void *context) {
    catalog_end(&v->states, epoch, see, context);
    catalog_end(&v->numbers, epoch, NULL, NULL);
    catalog_end(&v->holders, epoch, NULL, NULL);
    snapshot_free(v);
}

/* snapshot_end -- snapshot_free() of one whose retired objects are freed or have moved. Each commit
 * takes a snapshot and mostly ends one: its memory is kept for the next. */
static void snapshot_end(database *db, snapshot *v) {
    kept_free(v);
    if (v->retired.capacity > RETIRE_FEW)
        retire_forget(&v->retired);
    spare_free(HEAP_KEEPS ? __atomic_exchange_n(&db->snapshots.spare, v, __ATOMIC_ACQ_REL) : v);
}

const collection_state *snapshot_collection(const snapshot *v, const char *name) {
    return catalog_find(&v->states, order_of_states, name);
}

tansu_status snapshot_find(const snapshot *v, const char *name, const collection_state **state,
                           tansu_error *error) {
    *state = snapshot_collection(v, name);
    return *state != NULL ? TANSU_OK : name_check(name, "collection", error);
}

tansu_status snapshot_missing(const char *name, tansu_error *error) {
    tansu_status status = name_check(name, "collection", error);
    return status == TANSU_OK ? error_set(error, TANSU_E_NOT_FOUND, name,
                                          "Collection \"%s\" does not exist; create it first", name)
                              : status;
}

const collection_state *snapshot_collection_by_id(const snapshot *v, uint32_t id) {
    /* On one page a search is no faster. */
    for (uint32_t i = 0; v->states.level == 0 && i < v->count; i++) {
        const collection_state *state = v->states.items[i];
        if (state->id == id)
            return state;
    }
    const collection_name *named =
        v->states.level == 0 ? NULL : catalog_find(&v->numbers, order_of_numbers, &id);
    return named == NULL ? NULL : snapshot_collection(v, named->text);
}

uint64_t snapshot_documents(const snapshot *v) {
    uint64_t count = 0;
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while ((state = snapshot_next(&all)) != NULL)
        count += state->count;
    return count;
}

uint32_t collection_expiring(const collection_state *state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->index_count; i++)
        count += state->indexes[i].definition->expires;
    return count;
}

const collection_state *snapshot_next_holder(const snapshot *v, catalog_cursor *cursor) {
    const collection_name *named = catalog_next(cursor);
    return named == NULL ? NULL : snapshot_collection(v, named->text);
}

snapshot *snapshot_acquire_head(database *db) {
    pthread_mutex_lock(&db->snapshots.mutex);
    snapshot *v = db->snapshots.head;
    v->references++;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return v;
}

/* is_over -- whether no reader can ever see a snapshot again; the mutex is held. */
static bool is_over(const database *db, const snapshot *v) {
    return v->references == 0 && v->heirs == 0 && v->epoch < db->snapshots.visible->epoch &&
           !reader_slots_hold(&db->snapshots.readers, v);
}

/* unlink_snapshot -- takes a snapshot that is over out of the list and puts it on `ended`. What it
 * replaced may have to go to the snapshot before it, which is held for that. The mutex is held. */
static void unlink_snapshot(database *db, snapshot *v, snapshot **ended) {
    snapshot *before = v->previous;
    if (before != NULL) {
        before->next = v->next;
        before->heirs++;
    } else {
        db->snapshots.oldest = v->next;
    }
    v->next->previous = before;
    v->next = *ended;
    *ended = v;
}

/* hand_over -- moves what is left of a snapshot's retired objects to the one before it, and
 * releases that one; false when the struct is still needed. The mutex is held. */
static bool hand_over(database *db, snapshot *v, snapshot **ended) {
    snapshot *before = v->previous;
    bool joined = v->retired.count == 0 || retire_move(&before->retired, &v->retired);
    if (!joined) {
        v->more = before->more;
        before->more = v;
    }
    before->heirs--;
    if (is_over(db, before))
        unlink_snapshot(db, before, ended);
    return joined;
}

/* take_more -- puts the snapshots whose objects a snapshot carries on `ended`, each by itself. The
 * mutex is held. */
static void take_more(snapshot *v, snapshot **ended) {
    while (v->more != NULL) {
        snapshot *one = v->more;
        v->more = one->more;
        one->more = NULL;
        one->previous = v->previous;
        if (one->previous != NULL)
            one->previous->heirs++;
        one->next = *ended;
        *ended = one;
    }
}

/* end_snapshots -- frees snapshots that are over, with the objects that no reader can reach. The
 * freeing is done without the mutex, for it may take long after a snapshot that was held for
 * long. */
static void end_snapshots(database *db, snapshot *ended) {
    if (ended == NULL)
        return;
    uint64_t memory = tree_store_memory(db->trees);
    while (ended != NULL) {
        snapshot *v = ended;
        ended = v->next;
        if (v->previous == NULL) {
            retire_empty(&v->retired);
        } else {
            retire_run_born_after(&v->retired, v->previous->epoch);
            tree_trim_retired(&v->retired);
        }
        bool done = true;
        if (v->previous != NULL || v->more != NULL) {
            pthread_mutex_lock(&db->snapshots.mutex);
            take_more(v, &ended);
            if (v->previous != NULL)
                done = hand_over(db, v, &ended);
            pthread_mutex_unlock(&db->snapshots.mutex);
        }
        if (done)
            snapshot_end(db, v);
    }
    uint64_t left = tree_store_memory(db->trees);
    if (memory > left && memory - left >= TRIM_BYTES)
        heap_trim();
}

/* take_ended -- unlinks those of the snapshots from `v` up to the visible one that are over. The
 * mutex is held. */
static snapshot *take_ended(database *db, snapshot *v) {
    snapshot *ended = NULL;
    while (v != db->snapshots.visible) {
        snapshot *next = v->next;
        if (is_over(db, v))
            unlink_snapshot(db, v, &ended);
        v = next;
    }
    return ended;
}

/* end_passed -- frees the snapshots that were over when a reference to one in a slot has ended, for
 * who released it could not see that. */
static void end_passed(database *db) {
    pthread_mutex_lock(&db->snapshots.mutex);
    snapshot *ended = take_ended(db, db->snapshots.oldest);
    pthread_mutex_unlock(&db->snapshots.mutex);
    end_snapshots(db, ended);
}

snapshot *snapshot_acquire(database *db) {
    bool passed;
    snapshot *v = reader_slots_acquire(&db->snapshots.readers, &db->snapshots.visible, &passed);
    if (v == NULL) {
        pthread_mutex_lock(&db->snapshots.mutex);
        v = db->snapshots.visible;
        v->references++;
        pthread_mutex_unlock(&db->snapshots.mutex);
    }
    if (passed)
        end_passed(db);
    return v;
}

void snapshot_release(database *db, snapshot *v) {
    /* After the release the snapshot may be gone: only its address is compared. */
    if (reader_slots_release(&db->snapshots.readers, v)) {
        if (__atomic_load_n(&db->snapshots.visible, __ATOMIC_SEQ_CST) != v)
            end_passed(db);
        return;
    }
    snapshot *ended = NULL;
    pthread_mutex_lock(&db->snapshots.mutex);
    if (v->references != 0)
        v->references--;
    else /* it is in a slot of another thread, but not always where it was a moment ago */
        while (!reader_slots_release_any(&db->snapshots.readers, v))
            ;
    if (is_over(db, v))
        unlink_snapshot(db, v, &ended);
    pthread_mutex_unlock(&db->snapshots.mutex);
    end_snapshots(db, ended);
}

void snapshot_publish(database *db, snapshot *v, retire_list *retired, bool visible) {
    snapshot *ended = NULL;
    pthread_mutex_lock(&db->snapshots.mutex);
    db->snapshots.head->retired = *retired;
    *retired = (retire_list){0};
    db->snapshots.head->next = v;
    v->previous = db->snapshots.head;
    db->snapshots.head = v;
    snapshot *before = db->snapshots.visible;
    if (visible) {
        __atomic_store_n(&db->snapshots.visible, v, __ATOMIC_SEQ_CST);
        ended = take_ended(db, before);
    }
    pthread_mutex_unlock(&db->snapshots.mutex);
    if (visible)
        commit_wait_notify(db);
    end_snapshots(db, ended);
}

void snapshot_make_visible(database *db, uint64_t sequence) {
    pthread_mutex_lock(&db->snapshots.mutex);
    snapshot *before = db->snapshots.visible, *newest = before;
    while (newest->next != NULL && newest->next->sequence <= sequence)
        newest = newest->next;
    __atomic_store_n(&db->snapshots.visible, newest, __ATOMIC_SEQ_CST);
    snapshot *ended = take_ended(db, before);
    pthread_mutex_unlock(&db->snapshots.mutex);
    commit_wait_notify(db);
    end_snapshots(db, ended);
}

uint32_t snapshot_count_acquired(database *db, uint64_t *oldest) {
    uint32_t count = 0;
    pthread_mutex_lock(&db->snapshots.mutex);
    *oldest = db->snapshots.oldest->sequence;
    for (const snapshot *v = db->snapshots.oldest; v != db->snapshots.visible; v = v->next)
        count++;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return count;
}

uint32_t snapshot_commits(database *db, uint64_t *commits, uint32_t most) {
    uint32_t count = 0;
    pthread_mutex_lock(&db->snapshots.mutex);
    for (const snapshot *v = db->snapshots.oldest; v != db->snapshots.visible && count < most;
         v = v->next)
        commits[count++] = v->sequence;
    pthread_mutex_unlock(&db->snapshots.mutex);
    return count;
}

/* free_snapshot -- at closing: with all that it carries. */
static void free_snapshot(snapshot *v) {
    while (v != NULL) {
        snapshot *more = v->more;
        retire_run(&v->retired);
        snapshot_free(v);
        v = more;
    }
}

void snapshot_free_all(database *db) {
    snapshot *v = db->snapshots.oldest;
    while (v != NULL && v != db->snapshots.head) {
        snapshot *next = v->next;
        free_snapshot(v);
        v = next;
    }
    if (v != NULL) {
        catalog_end(&v->numbers, UINT64_MAX, NULL, NULL);
        catalog_end(&v->holders, UINT64_MAX, NULL, NULL);
        catalog_end(&v->states, UINT64_MAX, collection_release, db->trees);
        free_snapshot(v);
    }
    db->snapshots.oldest = db->snapshots.visible = db->snapshots.head = NULL;
    spare_free(db->snapshots.spare);
    db->snapshots.spare = NULL;
}
