/*
 * catalog/versions.c -- holding, publishing and freeing versions.
 */
#include "catalog/database.h"

#include "catalog/collection.h"
#include "catalog/feed.h"

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

/* take_unheld -- unlinks the oldest versions that nobody holds, as a list; the mutex is held. */
static version *take_unheld(database *db) {
    version *first = db->oldest, *last = NULL;
    while (db->oldest != db->visible && db->oldest->holders == 0) {
        last = db->oldest;
        db->oldest = last->next;
    }
    if (last == NULL)
        return NULL;
    last->next = NULL;
    return first;
}

/* version_end -- frees a version with what its follower replaced. */
static void version_end(version *v) {
    retire_run(&v->retired);
    retire_run(&v->evicted);
    version_free(v);
}

/* free_list -- frees unlinked versions, each with what its follower replaced. */
static void free_list(version *v) {
    while (v != NULL) {
        version *next = v->next;
        version_end(v);
        v = next;
    }
}

void database_release(database *db, version *v) {
    pthread_mutex_lock(&db->version_mutex);
    v->holders--;
    version *unheld = v == db->oldest ? take_unheld(db) : NULL;
    pthread_mutex_unlock(&db->version_mutex);
    free_list(unheld);
}

void database_publish(database *db, version *v, retire_list *retired, bool visible) {
    pthread_mutex_lock(&db->version_mutex);
    db->head->retired = *retired;
    *retired = (retire_list){0};
    db->head->next = v;
    db->head = v;
    if (visible)
        db->visible = v;
    version *unheld = take_unheld(db);
    pthread_mutex_unlock(&db->version_mutex);
    if (visible)
        feed_note_commit(db);
    free_list(unheld);
}

void database_show(database *db, uint64_t sequence) {
    pthread_mutex_lock(&db->version_mutex);
    while (db->visible->next != NULL && db->visible->next->sequence <= sequence)
        db->visible = db->visible->next;
    version *unheld = take_unheld(db);
    pthread_mutex_unlock(&db->version_mutex);
    feed_note_commit(db);
    free_list(unheld);
}

bool database_retire_later(database *db, retire_list *retired) {
    pthread_mutex_lock(&db->version_mutex);
    retire_list *evicted = &db->head->evicted;
    bool room = retire_reserve(evicted, retired->count);
    for (size_t i = 0; room && i < retired->count; i++)
        evicted->items[evicted->count++] = retired->items[i];
    pthread_mutex_unlock(&db->version_mutex);
    if (room)
        retire_forget(retired);
    return room;
}

void database_versions_free(database *db) {
    version *v = db->oldest;
    while (v != NULL && v != db->head) {
        version *next = v->next;
        version_end(v);
        v = next;
    }
    if (v != NULL) {
        for (uint32_t i = 0; i < v->count; i++)
            collection_release(db->trees, v->collections[i]);
        version_end(v);
    }
    db->oldest = db->visible = db->head = NULL;
}
