/*
 * catalog/versions.c -- holding, publishing and freeing versions.
 */
#include "catalog/database.h"

#include "catalog/collection.h"
#include "catalog/feed.h"
#include "catalog/memory.h"

#include <stdlib.h>

const collection_state *version_collection(const version *v, const char *name) {
    bool found;
    uint32_t slot = version_slot(v, name, &found);
    return found ? v->collections[slot] : NULL;
}

const collection_state *version_collection_by_id(const version *v, uint32_t id) {
    for (uint32_t i = 0; i < v->count; i++)
        if (v->collections[i]->id == id)
            return v->collections[i];
    return NULL;
}

version *database_hold(database *db) {
    pthread_mutex_lock(&db->version_mutex);
    version *v = db->visible;
    v->holders++;
    pthread_mutex_unlock(&db->version_mutex);
    return v;
}

version *database_hold_head(database *db) {
    pthread_mutex_lock(&db->version_mutex);
    version *v = db->head;
    v->holders++;
    pthread_mutex_unlock(&db->version_mutex);
    return v;
}

/* is_over -- whether nobody can ever see a version again; the mutex is held. */
static bool is_over(const database *db, const version *v) {
    return v->holders == 0 && v->epoch < db->visible->epoch;
}

/* unlink_version -- takes a version that is over out of the list and puts it on `ended`. What it
 * replaced may have to go to the version before it, which is held for that. The mutex is held. */
static void unlink_version(database *db, version *v, version **ended) {
    version *before = v->previous;
    if (before != NULL) {
        before->next = v->next;
        before->holders++;
    } else {
        db->oldest = v->next;
    }
    v->next->previous = before;
    v->next = *ended;
    *ended = v;
}

/* hand_over -- gives what is left of a version's retired objects to the one before it, and lets that
 * go; false when the struct is needed further. The mutex is held. */
static bool hand_over(database *db, version *v, version **ended) {
    version *before = v->previous;
    bool joined = v->retired.count == 0 || retire_move(&before->retired, &v->retired);
    if (!joined) {
        v->more = before->more;
        before->more = v;
    }
    before->holders--;
    if (is_over(db, before))
        unlink_version(db, before, ended);
    return joined;
}

/* take_more -- puts the versions whose objects a version carries on `ended`, each by itself. The mutex
 * is held. */
static void take_more(version *v, version **ended) {
    while (v->more != NULL) {
        version *one = v->more;
        v->more = one->more;
        one->more = NULL;
        one->previous = v->previous;
        if (one->previous != NULL)
            one->previous->holders++;
        one->next = *ended;
        *ended = one;
    }
}

/* end_versions -- frees versions that are over with what nobody sees any more. The freeing is done
 * without the mutex, for it may take long after a snapshot that was held for long. */
static void end_versions(database *db, version *ended) {
    if (ended == NULL)
        return;
    uint64_t memory = tree_store_memory(db->trees);
    while (ended != NULL) {
        version *v = ended;
        ended = v->next;
        if (v->previous == NULL) {
            retire_run(&v->retired);
        } else {
            retire_run_born_after(&v->retired, v->previous->epoch);
            tree_trim_retired(&v->retired);
        }
        bool done = true;
        if (v->previous != NULL || v->more != NULL) {
            pthread_mutex_lock(&db->version_mutex);
            take_more(v, &ended);
            if (v->previous != NULL)
                done = hand_over(db, v, &ended);
            pthread_mutex_unlock(&db->version_mutex);
        }
        if (done)
            version_free(v);
    }
    memory_note_freed(memory, tree_store_memory(db->trees));
}

/* take_ended -- unlinks those of the versions from `v` up to the visible one that are over. The mutex
 * is held. */
static version *take_ended(database *db, version *v) {
    version *ended = NULL;
    while (v != db->visible) {
        version *next = v->next;
        if (is_over(db, v))
            unlink_version(db, v, &ended);
        v = next;
    }
    return ended;
}

void database_release(database *db, version *v) {
    version *ended = NULL;
    pthread_mutex_lock(&db->version_mutex);
    v->holders--;
    if (is_over(db, v))
        unlink_version(db, v, &ended);
    pthread_mutex_unlock(&db->version_mutex);
    end_versions(db, ended);
}

void database_publish(database *db, version *v, retire_list *retired, bool visible) {
    version *ended = NULL;
    pthread_mutex_lock(&db->version_mutex);
    db->head->retired = *retired;
    *retired = (retire_list){0};
    db->head->next = v;
    v->previous = db->head;
    db->head = v;
    if (visible) {
        version *before = db->visible;
        db->visible = v;
        ended = take_ended(db, before);
    }
    pthread_mutex_unlock(&db->version_mutex);
    if (visible)
        feed_note_commit(db);
    end_versions(db, ended);
}

void database_show(database *db, uint64_t sequence) {
    pthread_mutex_lock(&db->version_mutex);
    version *before = db->visible;
    while (db->visible->next != NULL && db->visible->next->sequence <= sequence)
        db->visible = db->visible->next;
    version *ended = take_ended(db, before);
    pthread_mutex_unlock(&db->version_mutex);
    feed_note_commit(db);
    end_versions(db, ended);
}

uint32_t database_count_held(database *db, uint64_t *oldest) {
    uint32_t count = 0;
    pthread_mutex_lock(&db->version_mutex);
    *oldest = db->oldest->sequence;
    for (const version *v = db->oldest; v != db->visible; v = v->next)
        count++;
    pthread_mutex_unlock(&db->version_mutex);
    return count;
}

/* free_version -- at closing: with all that it carries. */
static void free_version(version *v) {
    while (v != NULL) {
        version *more = v->more;
        retire_run(&v->retired);
        version_free(v);
        v = more;
    }
}

void database_versions_free(database *db) {
    version *v = db->oldest;
    while (v != NULL && v != db->head) {
        version *next = v->next;
        free_version(v);
        v = next;
    }
    if (v != NULL) {
        for (uint32_t i = 0; i < v->count; i++)
            collection_release(db->trees, v->collections[i]);
        free_version(v);
    }
    db->oldest = db->visible = db->head = NULL;
}
