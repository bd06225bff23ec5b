/*
 * store/open/instances.c -- instances of a handle that reads while another process writes.
 *
 * root->instances.current, and the number of calls in each instance, are guarded by the root's
 * mutex. An instance counts one of its own handles for all calls and for being the current one, and
 * the root one for each instance.
 */
#include "store/open/instances.h"

#include "log/follow/follow.h"
#include "log/scan.h"
#include "store/files.h"
#include "store/handle.h"
#include "store/open/database_folder.h"
#include "store/open/open.h"
#include "store/recovery/recovery.h"
#include "store/write_lock.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* An instance is replaced, if there is a newer checkpoint, when more than this part of
 * options.index_cache_bytes is in blocks that only it has, and that is more than the least. */
#define DIRTY_PART 2
#define DIRTY_LEAST ((uint64_t)1024 * 1024)

/* It is replaced as well when its snapshots keep more than that of removed segments, and more than
 * it reads. */
#define KEEPS_LEAST ((uint64_t)4 * 1024 * 1024)

/* ---- Instances ---- */

/* close_instance -- an instance that nobody uses any more. */
static tansu_status close_instance(database *instance, tansu_error *error) {
    database *root = instance->root;
    instance_pins_remove(instance);
    tansu_status status = database_close(instance, error);
    handle_release(root);
    return status;
}

/* install -- makes an instance the current one; NULL: the root has none any more. False when the
 * handle is being closed, and takes no other one. */
static bool install(database *root, database *instance) {
    pthread_mutex_lock(&root->mutex);
    database *old = root->instances.current;
    bool taken = instance == NULL || !__atomic_load_n(&root->handles.closing, __ATOMIC_RELAXED);
    if (taken && instance != NULL) {
        instance->close = close_instance;
        instance->handles.count = 1;
        root->handles.count++;
        root->instances.all->expired = false;
    }
    bool unused = taken && old != NULL && old->instances.calls_inside == 0;
    if (taken)
        root->instances.current = instance;
    if (taken && old != NULL) {
        pthread_mutex_lock(&old->mutex);
        __atomic_store_n(&old->handles.closing, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&old->mutex);
    }
    pthread_mutex_unlock(&root->mutex);
    if (unused)
        handle_release(old);
    return taken;
}

/* expire -- gives up an instance that keeps too much on the disk, if it is the current one still:
 * its last user frees it. */
static void expire(database *root, database *instance) {
    pthread_mutex_lock(&root->mutex);
    if (root->instances.current == instance) {
        root->instances.current = NULL;
        root->instances.all->expired = true;
        root->instances.all->expired_commit = instance->snapshots.head->sequence;
        pthread_mutex_lock(&instance->mutex);
        __atomic_store_n(&instance->handles.closing, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&instance->mutex);
    }
    pthread_mutex_unlock(&root->mutex);
}

/* no_instance -- the error for a call that finds none. */
static tansu_status no_instance(database *root, tansu_error *error) {
    tansu_status status = handle_check_open(root, error);
    if (status == TANSU_OK)
        status = error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                           "The snapshot was given up, because it kept more on the disk than "
                           "max_pinned_bytes; refresh the database");
    return status;
}

/* pin -- the current instance, until instances_leave(); NULL when the handle is being closed, or
 * the instance was given up. */
static database *pin(database *root) {
    pthread_mutex_lock(&root->mutex);
    database *instance =
        __atomic_load_n(&root->handles.closing, __ATOMIC_RELAXED) ? NULL : root->instances.current;
    if (instance != NULL)
        instance->instances.calls_inside++;
    pthread_mutex_unlock(&root->mutex);
    return instance;
}

tansu_status instances_enter(database *root, database **instance, tansu_error *error) {
    bool looked = !root->options.follow;
    for (;;) {
        database *d = pin(root);
        tansu_status status = TANSU_OK;
        if (d == NULL && looked)
            return no_instance(root, error);
        if (root->options.follow && (status = folder_check_often(root, error)) != TANSU_OK) {
            if (d != NULL)
                instances_leave(d);
            return status;
        }
        if (d != NULL && (looked || log_follow_unchanged(d->log))) {
            *instance = d;
            status = instance_pins_check(d, NULL, error);
            if (status == TANSU_OK)
                return TANSU_OK;
            expire(root, d);
            instances_leave(d);
            if (looked)
                return status;
            continue; /* one that follows goes to a newer instance */
        }
        looked = true;
        status = instances_refresh(root, NULL, NULL, error);
        if (d != NULL)
            instances_leave(d);
        if (status != TANSU_OK)
            return status;
    }
}

void instances_leave(database *instance) {
    database *root = instance->root;
    pthread_mutex_lock(&root->mutex);
    bool last = --instance->instances.calls_inside == 0 && instance != root->instances.current;
    pthread_mutex_unlock(&root->mutex);
    if (last)
        handle_release(instance);
}

tansu_status database_enter_handle(database *db, database **instance, tansu_error *error) {
    tansu_status status = handle_check_open(db, error);
    if (status == TANSU_OK)
        status = database_enter(db, instance, error);
    if (status != TANSU_OK)
        return status;
    status = handle_acquire(*instance, error);
    database_leave(*instance);
    return status;
}

uint64_t instances_handles(const database *root) {
    database *instance = root->instances.current;
    if (instance == NULL)
        return root->handles.count;
    pthread_mutex_lock(&instance->mutex);
    uint64_t handles = root->handles.count + instance->handles.count - 2;
    pthread_mutex_unlock(&instance->mutex);
    return handles;
}

instances_statistics instances_measure(const database *root) {
    const struct instances *s = root->instances.all;
    return (instances_statistics){.refreshes = __atomic_load_n(&s->refreshes, __ATOMIC_RELAXED),
                                  .replacements =
                                      __atomic_load_n(&s->replacements, __ATOMIC_RELAXED)};
}

/* ---- Opening and closing ---- */

/* free_root -- the root's database_close(), when it has no instance any more. */
static tansu_status free_root(database *root, tansu_error *error) {
    (void)error;
    instance_pins_leave(root);
    pthread_mutex_destroy(&root->instances.all->pins_mutex);
    pthread_mutex_destroy(&root->instances.all->mutex);
    free(root->instances.all);
    root->instances.all = NULL;
    return database_close(root, NULL);
}

/* add -- an instance of the root; on failure it is closed. */
static tansu_status add(database *root, database *instance, tansu_error *error) {
    instance->root = root;
    tansu_status status = instance_pins_add(root, instance, error);
    if (status != TANSU_OK) {
        instance->root = instance;
        database_close(instance, NULL);
    }
    return status;
}

tansu_status instances_open(const tansu_options *options, const fs *calls, const query_hooks *hooks,
                            database **result, tansu_error *error) {
    database *root;
    tansu_status status = options_check(options, error);
    if (status == TANSU_OK)
        status = database_new(options, calls, &root, error);
    if (status != TANSU_OK)
        return status;
    root->discard = true;
    root->hooks = hooks;
    struct instances *r = calloc(1, sizeof *r);
    if (r == NULL || pthread_mutex_init(&r->mutex, NULL) != 0 ||
        pthread_mutex_init(&r->pins_mutex, NULL) != 0) {
        free(r);
        database_close(root, NULL);
        return error_memory(error);
    }
    root->instances.all = r;
    root->close = free_root;
    database *instance = NULL;
    r->options = *options;
    status = folder_set(root, options->path, error);
    if (status == TANSU_OK) {
        r->options.path = root->files.folder;
        (void)folder_anchor(root, NULL); /* opening says what is wrong */
        status = folder_anchor_parts(root, error);
    }
    if (status == TANSU_OK)
        status =
            open_concurrent(&r->options, root->files.calls, hooks, &root->keys, &instance, error);
    if (status != TANSU_OK) {
        free_root(root, NULL);
        return status;
    }
    r->options.progress = NULL;
    r->options.key = NULL; /* other instances use the root's keys */
    r->options.key_size = 0;
    root->instances.current = NULL;
    status = add(root, instance, error);
    if (status != TANSU_OK) {
        free_root(root, NULL);
        return status;
    }
    install(root, instance);
    instance_pins_enter(root);
    *result = root;
    return TANSU_OK;
}

void instances_close(database *root) {
    pthread_mutex_lock(&root->mutex);
    root->handles.count++; /* where there is no instance, nobody else's end frees the root */
    pthread_mutex_unlock(&root->mutex);
    install(root, NULL);
    handle_release(root);
}

void instances_end(database *root) {
    __atomic_store_n(&root->handles.closing, true, __ATOMIC_RELAXED);
    instances_close(root);
}

/* ---- Refreshing ---- */

/* replace -- opens the files again. The mutex is held. */
static tansu_status replace(database *root, database *old, tansu_error *error) {
    struct instances *r = root->instances.all;
    database *fresh = NULL;
    limit_guard guard;
    limit_enter(&guard);
    tansu_status status =
        open_concurrent(&r->options, root->files.calls, root->hooks, &root->keys, &fresh, error);
    limit_leave(&guard);
    if (status == TANSU_OK)
        status = add(root, fresh, error);
    if (status != TANSU_OK)
        return status;
    r->unusable = false;
    r->dirty_limit = 0;
    __atomic_add_fetch(&r->replacements, 1, __ATOMIC_RELAXED);
    if (old != NULL)
        commit_wait_wake(old); /* its feeds go on in the new one */
    if (!install(root, fresh)) {
        instance_pins_remove(fresh);
        fresh->root = fresh;
        database_close(fresh, NULL);
        return handle_check_open(root, error);
    }
    return TANSU_OK;
}

/* lock_segments -- keeps those that need the segments as they are waiting; false when there is one.
 * Then a compaction cannot be applied. */
static bool lock_segments(database *instance) {
    pthread_mutex_lock(&instance->mutex);
    bool free = instance->maintenance.running == MAINTENANCE_NONE;
    if (free)
        instance->maintenance.running = MAINTENANCE_BACKGROUND;
    pthread_mutex_unlock(&instance->mutex);
    return free;
}

static void unlock_segments(database *instance) {
    pthread_mutex_lock(&instance->mutex);
    instance->maintenance.running = MAINTENANCE_NONE;
    pthread_cond_broadcast(&instance->changed);
    pthread_mutex_unlock(&instance->mutex);
}

/* raise_floor -- feeds that have not delivered what a compaction may have dropped cannot go on. */
static void raise_floor(database *instance) {
    uint64_t floor = log_compacted_to(instance->log);
    pthread_mutex_lock(&instance->feeds.mutex);
    if (floor > instance->feeds.floor)
        instance->feeds.floor = floor;
    pthread_mutex_unlock(&instance->feeds.mutex);
}

/* advance -- applies the commits up to `to`; false when that is not possible. */
static bool advance(database *instance, uint64_t to) {
    bool reached = false;
    bool locked = lock_segments(instance);
    instance->instances.keeps_segments = !locked;
    tansu_status status = recovery_follow(instance, to, &reached, NULL);
    if (locked)
        unlock_segments(instance);
    if (status != TANSU_OK || !reached)
        return false;
    raise_floor(instance);
    return true;
}

/* is_large -- whether an instance has so much in memory alone that a newer checkpoint would help,
 * and there is one. */
static bool is_large(struct instances *r, const database *instance) {
    uint64_t dirty = tree_store_dirty(instance->trees),
             bound = instance->options.index_cache_bytes / DIRTY_PART;
    if (bound < DIRTY_LEAST)
        bound = DIRTY_LEAST;
    if (dirty < bound || dirty < r->dirty_limit)
        return false;
    r->dirty_limit = dirty + bound / 4;
    return files_stamp_check(instance, NULL) == TANSU_E_BUSY;
}

/* keeps_much -- whether snapshots of an instance keep more of removed segments than all that it
 * reads: the next one has an instance of its own, and the old ones keep what this one has now, and
 * no more. */
static bool keeps_much(const database *instance) {
    return __atomic_load_n(&instance->log->retired, __ATOMIC_RELAXED) >
           log_measure(instance->log).bytes + KEEPS_LEAST;
}

/* log_end -- the last commit of the log, where the marks do not say it: nobody has written since
 * the last clean end. */
static tansu_status log_end(const database *root, uint64_t *to, tansu_error *error) {
    manifest m;
    tansu_status status = manifest_read(root->files.calls, root->files.folder, &m, error);
    if (status == TANSU_OK && root->keys != NULL)
        status = manifest_authenticate(&m, root->files.folder, root->keys, true, error);
    *to = status == TANSU_OK ? m.end_sequence : 0;
    return status;
}

/* refresh -- instances_refresh() with the mutex held. `instance`: the current one. */
static tansu_status refresh(database *root, database *instance, tansu_error *error) {
    struct instances *r = root->instances.all;
    log_seen seen;
    uint64_t to, now = instance->snapshots.head->sequence;
    tansu_status status = folder_check_often(root, error);
    if (status != TANSU_OK)
        return status;
    if (r->unusable || !log_follow_look(instance->log, &seen, &to))
        return replace(root, instance, error);
    bool marked = to != 0;
    status = marked ? TANSU_OK : log_end(root, &to, error);
    if (status != TANSU_OK)
        return status;
    if (marked && to < now) /* commits have been taken out of the log */
        return replace(root, instance, error);
    if (to > now && !advance(instance, to)) {
        r->unusable = true;
        return replace(root, instance, error);
    }
    log_follow_seen(instance->log, &seen);
    if (to > now && (is_large(r, instance) || keeps_much(instance)))
        (void)replace(root, instance, NULL); /* it goes on with the instance that it has */
    return TANSU_OK;
}

/* newest -- the commit that a call would see. */
static uint64_t newest(database *instance) {
    snapshot *v = snapshot_acquire(instance);
    uint64_t sequence = v->sequence;
    snapshot_release(instance, v);
    return sequence;
}

/* refresh_counted -- instances_refresh() of a handle that stays while it runs. */
static tansu_status refresh_counted(database *root, bool *changed, uint64_t *sequence,
                                    tansu_error *error) {
    struct instances *r = root->instances.all;
    pthread_mutex_lock(&r->mutex);
    database *instance = pin(root);
    tansu_status status = instance == NULL ? handle_check_open(root, error) : TANSU_OK;
    if (status == TANSU_OK) {
        uint64_t before = instance == NULL ? r->expired_commit : newest(instance);
        *sequence = before;
        status = instance == NULL ? replace(root, NULL, error) : refresh(root, instance, error);
        database *after = pin(root);
        if (after != NULL) {
            *sequence = newest(after);
            instance_pins_refreshed(root, after, *sequence);
            instances_leave(after);
        }
        *changed = *sequence != before;
        if (instance != NULL)
            instances_leave(instance);
    }
    pthread_mutex_unlock(&r->mutex);
    if (*changed)
        __atomic_add_fetch(&r->refreshes, 1, __ATOMIC_RELAXED);
    return status;
}

tansu_status instances_refresh(database *db, bool *changed, uint64_t *sequence,
                               tansu_error *error) {
    bool newer = false;
    uint64_t number = 0;
    tansu_status status = handle_acquire(db, error);
    if (status != TANSU_OK)
        return status;
    if (db->instances.all != NULL)
        status = refresh_counted(db, &newer, &number, error);
    else
        number = newest(db);
    handle_release(db);
    if (changed != NULL)
        *changed = newer;
    if (sequence != NULL)
        *sequence = number;
    return status;
}

/* ---- What the instances of a reader keep on the disk ---- */

/*
 * An instance is measured again only when the file TAIL says that segments have been removed since,
 * or that another writer has begun, which may have removed some before it counted.
 */

/* ---- Measuring ---- */

/* is_current -- whether nothing was removed since the instance was measured. */
static bool is_current(const instance_pins *pins, const log_removals *now) {
    return __atomic_load_n(&pins->bytes, __ATOMIC_RELAXED) == now->bytes &&
           __atomic_load_n(&pins->sessions, __ATOMIC_RELAXED) == now->sessions;
}

/* measure -- an instance; its log must not be changing. */
static void measure(database *instance) {
    log_removals now = log_follow_removals(instance->log);
    uint64_t removed;
    log_follow_measure(instance->log, &instance->instances.pins.mapped, &removed);
    __atomic_store_n(&instance->instances.pins.removed, removed, __ATOMIC_RELAXED);
    __atomic_store_n(&instance->instances.pins.bytes, now.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&instance->instances.pins.sessions, now.sessions, __ATOMIC_RELAXED);
}

/* pinned -- the bytes that an instance keeps, when it was last measured. */
static uint64_t pinned(const database *instance) {
    return instance->instances.pins.copied +
           __atomic_load_n(&instance->instances.pins.removed, __ATOMIC_RELAXED);
}

/* limit_of -- the smaller one of this reader's and the writer's limit; 0: there is none. */
static uint64_t limit_of(const struct instances *s, const log_removals *now) {
    uint64_t own = s->options.max_pinned_bytes;
    if (now->limit != 0 && (own == 0 || now->limit < own))
        return now->limit;
    return own;
}

/* ---- The entry ---- */

/* report -- tells what all instances keep. The pins mutex is held. */
static void report(struct instances *s) {
    reader_report *r = &s->report;
    r->copied = r->mapped = r->removed = 0;
    r->removals = UINT64_MAX;
    for (const database *instance = s->first_instance; instance != NULL;
         instance = instance->instances.next) {
        r->copied += instance->instances.pins.copied;
        r->mapped += instance->instances.pins.mapped;
        r->removed += __atomic_load_n(&instance->instances.pins.removed, __ATOMIC_RELAXED);
        uint64_t bytes = __atomic_load_n(&instance->instances.pins.bytes, __ATOMIC_RELAXED);
        if (bytes < r->removals)
            r->removals = bytes;
    }
    reader_update(s->entry, r);
}

void instance_pins_enter(database *root) {
    struct instances *s = root->instances.all;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&s->pins_mutex);
    s->report.process = (uint64_t)getpid();
    s->report.opened = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    s->entry = reader_enter(root->files.calls, root->files.folder, &s->report);
    pthread_mutex_unlock(&s->pins_mutex);
}

void instance_pins_leave(database *root) {
    reader_leave(root->instances.all->entry);
    root->instances.all->entry = NULL;
}

/* ---- Limits ---- */

/* exceeded -- the error for an instance that keeps too much. */
static tansu_status exceeded(uint64_t bytes, uint64_t limit, tansu_error *error) {
    return error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                     "The snapshot keeps %" PRIu64 " bytes on the disk that nobody else needs, and "
                     "max_pinned_bytes is %" PRIu64 "; refresh the database, and end older "
                     "transactions and cursors, or set a larger limit",
                     bytes, limit);
}

tansu_status instance_pins_add(database *root, database *instance, tansu_error *error) {
    struct instances *s = root->instances.all;
    log_removals now = log_follow_removals(instance->log);
    uint64_t limit = limit_of(s, &now);
    instance->instances.pins.copied = instance->bs == NULL ? 0 : block_store_size(instance->bs);
    if (limit != 0 && instance->instances.pins.copied > limit)
        return exceeded(instance->instances.pins.copied, limit, error);
    measure(instance);
    pthread_mutex_lock(&s->pins_mutex);
    instance->instances.next = s->first_instance;
    s->first_instance = instance;
    s->report.commit = instance->snapshots.head->sequence;
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
    return TANSU_OK;
}

void instance_pins_remove(database *instance) {
    struct instances *s = instance->root->instances.all;
    pthread_mutex_lock(&s->pins_mutex);
    for (database **at = &s->first_instance; *at != NULL; at = &(*at)->instances.next) {
        if (*at == instance) {
            *at = instance->instances.next;
            break;
        }
    }
    report(s);
    pthread_mutex_unlock(&s->pins_mutex);
}

void instance_pins_refreshed(database *root, database *instance, uint64_t commit) {
    struct instances *s = root->instances.all;
    log_removals now = log_follow_removals(instance->log);
    pthread_mutex_lock(&s->pins_mutex);
    bool removed = !is_current(&instance->instances.pins, &now);
    if (removed)
        measure(instance);
    else if (commit != s->report.commit) /* it may have mapped more */
        log_follow_measure(instance->log, &instance->instances.pins.mapped, NULL);
    if (removed || commit != s->report.commit) {
        s->report.commit = commit;
        report(s);
    }
    pthread_mutex_unlock(&s->pins_mutex);
}

tansu_status snapshot_pins_exceeded(database *db, const snapshot *v, tansu_error *error) {
    uint64_t bytes = log_pinned(db->log, v->sequence), limit = db->options.max_pinned_bytes;
    if (bytes <= limit)
        return TANSU_OK;
    return error_set(error, TANSU_E_TOO_LARGE, "max_pinned_bytes",
                     "The snapshot keeps %" PRIu64 " bytes on the disk that nobody else needs, and "
                     "max_pinned_bytes is %" PRIu64
                     "; end the transaction, cursor or feed and begin "
                     "another one, or set a larger limit",
                     bytes, limit);
}

tansu_status instance_pins_exceeded(database *instance, tansu_error *error) {
    struct instances *s = instance->root->instances.all;
    log_removals now = log_follow_removals(instance->log);
    uint64_t limit = limit_of(s, &now);
    if (limit == 0)
        return TANSU_OK;
    /* A refresh under way measures by itself. */
    if (!is_current(&instance->instances.pins, &now) && pthread_mutex_trylock(&s->mutex) == 0) {
        pthread_mutex_lock(&s->pins_mutex);
        measure(instance);
        report(s);
        pthread_mutex_unlock(&s->pins_mutex);
        pthread_mutex_unlock(&s->mutex);
    }
    uint64_t bytes = pinned(instance);
    return bytes <= limit ? TANSU_OK : exceeded(bytes, limit, error);
}
