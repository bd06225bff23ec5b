/*
 * test_snapshot_lifetime.c -- what a commit replaced is freed as soon as no snapshot is left that
 * could see it: not earlier, and not later because of older or newer snapshots.
 */
#include "api/handles.h"
#include "store/collection.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/random/random.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Versions and objects of one run. */
#define EPOCHS 3000
#define HELD 12
#define OBJECTS_EACH 6

/* An object that commits of some epochs can see: those from `birth` on and before `death`. */
typedef struct object {
    uint64_t birth, death; /* death 0: no commit has replaced it */
    bool freed;
} object;

static object objects[EPOCHS * OBJECTS_EACH];
static size_t object_count;

static void free_object(void *context, void *o) {
    (void)context;
    CHECK(!((object *)o)->freed);
    ((object *)o)->freed = true;
}

/* Epochs that somebody can still see: held ones, and all from the visible one on. */
typedef struct living {
    uint64_t held[HELD];
    snapshot *snapshots[HELD];
    uint64_t visible, head;
} living;

/* seen -- whether a living snapshot is from `birth` up to before `death`. */
static bool seen(const living *l, const object *o) {
    if (o->death > l->visible) /* all snapshots from the visible one to the head are there */
        return true;
    for (int i = 0; i < HELD; i++)
        if (l->snapshots[i] != NULL && l->held[i] >= o->birth && l->held[i] < o->death)
            return true;
    return false;
}

/* commit -- replaces some objects that are not yet replaced, and makes new ones. */
static void commit(database *db, random_source *source, living *l, bool visible) {
    retire_list retired = {NULL, 0, 0};
    uint64_t epoch = l->head + 1;
    for (uint64_t i = random_below(source, OBJECTS_EACH); i > 0 && object_count > 0; i--) {
        /* Mostly young ones, as with blocks of a tree. */
        size_t back = (size_t)random_below(source, random_chance(source, 80) ? 20 : object_count);
        object *o = &objects[object_count - 1 - (back < object_count ? back : 0)];
        if (o->death != 0)
            continue;
        o->death = epoch;
        REQUIRE(retire_add_born(&retired, free_object, NULL, o, o->birth));
    }
    for (uint64_t i = random_below(source, OBJECTS_EACH); i > 0; i--)
        objects[object_count++] = (object){.birth = epoch};
    snapshot *v = snapshot_new();
    REQUIRE(v != NULL);
    v->epoch = v->sequence = epoch;
    snapshot_publish(db, v, &retired, visible);
    l->head = epoch;
    if (visible)
        l->visible = epoch;
}

/* check_all -- each object against what the living snapshots see. */
static void check_all(const living *l) {
    for (size_t i = 0; i < object_count; i++) {
        const object *o = &objects[i];
        bool needed = o->death == 0 || seen(l, o);
        if (!CHECK(o->freed == !needed)) {
            check_note("born %llu, replaced %llu, visible %llu, head %llu, freed %d",
                       (unsigned long long)o->birth, (unsigned long long)o->death,
                       (unsigned long long)l->visible, (unsigned long long)l->head, o->freed);
            return;
        }
    }
}

/* play -- commits, shows, holds and releases at random. `waits`: commits are shown later, some at a
 * time, as with writers that share a sync. */
static void play(uint64_t seed, bool waits) {
    random_source source = random_start(seed);
    tansu_db *handle = call_open(NULL);
    database *db = db_inner(handle);
    living l = {.visible = 0};
    object_count = 0;
    l.visible = l.head = db->snapshots.head->epoch;
    uint64_t held_looks = 0;
    while (l.head < EPOCHS - 1 && check_failures() == 0) {
        uint64_t slot = random_below(&source, HELD);
        switch (random_below(&source, 5)) {
        case 0:
            if (l.snapshots[slot] == NULL) {
                bool newest = random_chance(&source, 20);
                l.snapshots[slot] = newest ? snapshot_acquire_head(db) : snapshot_acquire(db);
                l.held[slot] = newest ? l.head : l.visible;
                CHECK_INT(l.held[slot], l.snapshots[slot]->epoch);
                break;
            }
            if (random_chance(&source, 60)) {
                snapshot_release(db, l.snapshots[slot]);
                l.snapshots[slot] = NULL;
            }
            held_looks++;
            break;
        case 1:
            if (waits && l.head > l.visible) {
                l.visible += 1 + random_below(&source, l.head - l.visible);
                snapshot_make_visible(db, l.visible);
                break;
            } /* fall through */
        default:
            commit(db, &source, &l, !waits || (l.head == l.visible && random_chance(&source, 30)));
        }
        if (random_chance(&source, 10))
            check_all(&l);
    }
    snapshot_make_visible(db, l.head);
    l.visible = l.head;
    for (int i = 0; i < HELD; i++) {
        if (l.snapshots[i] == NULL)
            continue;
        snapshot_release(db, l.snapshots[i]);
        l.snapshots[i] = NULL;
        check_all(&l);
    }
    CHECK(held_looks > 100);
    CHECK(db->snapshots.oldest == db->snapshots.visible &&
          db->snapshots.visible == db->snapshots.head);
    call_close(handle);
}

static void objects_live_as_long_as_they_are_seen(void) {
    for (uint64_t seed = 1; seed <= 6 && check_failures() == 0; seed++) {
        play(seed, false);
        play(seed, true);
    }
}

/* ---- Readers on several threads ---- */

#define READERS 6
#define COMMITS 20000
#define HANDED 8

/* Object i is seen by the snapshot of the i-th commit only. */
static struct {
    database *db;
    atomic_bool freed[COMMITS + 1];
    uint64_t first; /* epoch of the snapshot before the commits */
    atomic_bool over;
    snapshot *_Atomic handed[HANDED]; /* snapshots that move from thread to thread */
    atomic_uint_fast64_t acquired, mistakes;
} shared;

static void free_shared(void *context, void *object) {
    (void)context;
    atomic_store((atomic_bool *)object, true);
}

/* look -- a snapshot that is held sees its object. */
static void look(const snapshot *v) {
    if (v != NULL && atomic_load(&shared.freed[v->epoch - shared.first]))
        atomic_fetch_add(&shared.mistakes, 1);
}

/* read_on -- acquires and releases, several at a time, and hands some over. */
static void *read_on(void *context) {
    random_source source = random_start((uint64_t)(uintptr_t)context);
    snapshot *held[6] = {NULL};
    while (!atomic_load(&shared.over)) {
        snapshot **one = &held[random_below(&source, random_chance(&source, 70) ? 1 : 6)];
        look(*one);
        if (*one == NULL) {
            *one = random_chance(&source, 5) ? snapshot_acquire_head(shared.db)
                                             : snapshot_acquire(shared.db);
            atomic_fetch_add(&shared.acquired, 1);
        } else if (random_chance(&source, 20)) {
            *one = atomic_exchange(&shared.handed[random_below(&source, HANDED)], *one);
        } else {
            snapshot_release(shared.db, *one);
            *one = NULL;
        }
        look(*one);
    }
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i] != NULL)
            snapshot_release(shared.db, held[i]);
    return NULL;
}

/* What a thread holds, wherever it was acquired, is not freed, and everything is once nobody holds
 * it. */
static void snapshots_move_between_threads(void) {
    tansu_db *handle = call_open(NULL);
    pthread_t readers[READERS];
    shared.db = db_inner(handle);
    shared.first = shared.db->snapshots.head->epoch;
    for (uintptr_t i = 0; i < READERS; i++)
        REQUIRE(pthread_create(&readers[i], NULL, read_on, (void *)(i + 1)) == 0);
    while (atomic_load(&shared.acquired) < READERS * 10)
        sched_yield();
    for (uint64_t i = 0; i < COMMITS; i++) {
        if (i % 64 == 0)
            sched_yield();
        retire_list retired = {NULL, 0, 0};
        uint64_t epoch = shared.first + i;
        REQUIRE(retire_add_born(&retired, free_shared, NULL, &shared.freed[i], epoch));
        snapshot *v = snapshot_new();
        REQUIRE(v != NULL);
        v->epoch = v->sequence = epoch + 1;
        bool visible = i % 3 != 0;
        snapshot_publish(shared.db, v, &retired, visible);
        if (!visible)
            snapshot_make_visible(shared.db, v->sequence);
    }
    atomic_store(&shared.over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    for (int i = 0; i < HANDED; i++)
        if (shared.handed[i] != NULL)
            snapshot_release(shared.db, shared.handed[i]);
    CHECK_INT(0, atomic_load(&shared.mistakes));
    uint64_t freed = 0;
    for (uint64_t i = 0; i < COMMITS; i++)
        freed += atomic_load(&shared.freed[i]);
    CHECK_INT(COMMITS, freed);
    CHECK(shared.db->snapshots.oldest == shared.db->snapshots.visible &&
          shared.db->snapshots.visible == shared.db->snapshots.head);
    call_close(handle);
}

int main(void) {
    RUN(objects_live_as_long_as_they_are_seen);
    RUN(snapshots_move_between_threads);
    return check_finish();
}
