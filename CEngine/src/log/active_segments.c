/*
 * log/active_segments.c -- which segments make up the log.
 *
 * For a while after a compaction both the segments that it read and the one that it wrote exist.
 * The log's order is that of the segments' first commits; a compacted segment replaces all segments
 * with lower numbers that begin within the commits that it covers.
 */
#include "log/segment.h"
#include "log/tail.h"
#include "util/array.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

/* ---- Lists ---- */

bool list_reserve(segment_list *list, uint32_t more) {
    return ARRAY_RESERVE(list->items, list->count, list->capacity, more);
}

void list_insert(segment_list *list, segment *s) {
    uint32_t at = list->count;
    while (at > 0 &&
           (list->items[at - 1]->first > s->first ||
            (list->items[at - 1]->first == s->first && list->items[at - 1]->number > s->number)))
        at--;
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = s;
    list->count++;
}

void list_remove(segment_list *list, uint32_t index) {
    list->count--;
    memmove(list->items + index, list->items + index + 1,
            (list->count - index) * sizeof *list->items);
}

void list_close(log *l, segment_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        segment_close(l, list->items[i]);
    free(list->items);
    *list = (segment_list){0};
}

/* ---- Which segments are active ---- */

tansu_status segment_missing(const log *l, uint32_t number, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, l->folder,
                     "Segment \"%08u.seg\" of the log is missing; restore a backup or salvage what "
                     "is readable with \"tansu repair\"",
                     number);
}

/* list_has -- whether a segment with that number is in a list. */
static bool list_has(const segment_list *list, uint32_t number) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->number == number)
            return true;
    return false;
}

/* outdated -- whether a newer active compacted segment covers a commit that `s` covers, too: then
 * the compaction that wrote `s` did not complete. */
static bool outdated(const log *l, const segment *s) {
    for (uint32_t i = 0; i < l->active.count; i++) {
        const segment *other = l->active.items[i];
        if (other->last != 0 && other->number > s->number && other->first <= s->last &&
            s->first <= other->last)
            return true;
    }
    return false;
}

bool obsolete_reserve(log *l, uint32_t more) {
    return ARRAY_RESERVE(l->obsolete, l->obsolete_count, l->obsolete_capacity, more);
}

/* supersede -- deactivates the segments that a compacted one replaces; the capacity is reserved. */
static void supersede(log *l, const segment *s) {
    for (uint32_t i = l->active.count; i > 0; i--) {
        segment *old = l->active.items[i - 1];
        if (old->number >= s->number || old->first < s->first || old->first > s->last)
            continue;
        list_remove(&l->active, i - 1);
        l->superseded.items[l->superseded.count++] = old;
        l->obsolete[l->obsolete_count++] = old->number;
    }
}

/* enforce -- activates the item of the inactive list at that index, instead of what it covers. */
static tansu_status enforce(log *l, uint32_t index, tansu_error *error) {
    segment *s = l->inactive.items[index];
    if (!list_reserve(&l->active, 1) || !list_reserve(&l->superseded, l->active.count) ||
        !obsolete_reserve(l, l->active.count))
        return error_memory(error);
    list_remove(&l->inactive, index);
    supersede(l, s);
    list_insert(&l->active, s);
    return TANSU_OK;
}

/* newest_below -- the index of the highest number below `limit` in the inactive list, or
 * UINT32_MAX. */
static uint32_t newest_below(const log *l, uint32_t limit) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < l->inactive.count; i++)
        if (l->inactive.items[i]->number < limit &&
            (best == UINT32_MAX || l->inactive.items[i]->number > l->inactive.items[best]->number))
            best = i;
    return best;
}

/* is_named -- whether a number is in a list that a checkpoint made. */
static bool is_named(const uint32_t *named, size_t count, uint32_t number) {
    for (size_t i = 0; i < count; i++)
        if (named[i] == number)
            return true;
    return false;
}

tansu_status log_activate_segments(log *l, const uint32_t *named, size_t count,
                                   tansu_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (list_has(&l->active, named[i]) || list_has(&l->inactive, named[i]))
            continue;
        tansu_status status = segment_missing(l, named[i], error);
        return named[i] < l->last_number ? status : TANSU_E_NOT_FOUND;
    }
    uint32_t limit = UINT32_MAX;
    for (uint32_t i; (i = newest_below(l, limit)) != UINT32_MAX;) {
        const segment *s = l->inactive.items[i];
        limit = s->number;
        if (named == NULL ? outdated(l, s) : !is_named(named, count, s->number))
            continue;
        tansu_status status = enforce(l, i, error);
        if (status != TANSU_OK)
            return status;
    }
    for (uint32_t i = 0; i + 1 < l->active.count; i++) {
        const segment *s = l->active.items[i], *next = l->active.items[i + 1];
        if (s->last != 0 && next->first != s->last + 1)
            return error_set(error, TANSU_E_CORRUPT, l->folder,
                             "The segment of the log that begins with commit %llu is missing; "
                             "restore a backup or salvage what is readable with \"tansu repair\"",
                             (unsigned long long)(s->last + 1));
    }
    return TANSU_OK;
}

tansu_status log_activate(log *l, uint32_t number, bool *adopted, tansu_error *error) {
    *adopted = false;
    for (uint32_t i = 0; i < l->inactive.count; i++) {
        if (l->inactive.items[i]->number == number) {
            *adopted = true;
            pthread_mutex_lock(&l->mutex); /* of a reader that follows, others use the list */
            tansu_status status = enforce(l, i, error);
            pthread_mutex_unlock(&l->mutex);
            return status;
        }
    }
    return TANSU_OK;
}

void log_drop_inactive(log *l) {
    for (uint32_t i = 0; i < l->inactive.count && !l->read_only; i++)
        segment_unlink(l, l->inactive.items[i]->number,
                       NULL); /* one that stays is outdated permanently */
    list_close(l, &l->inactive);
}

void log_remove_obsolete(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t left = 0;
    for (uint32_t i = 0; i < l->obsolete_count; i++) {
        uint64_t size = l->tail != NULL ? segment_file_size(l, l->obsolete[i]) : 0;
        if (l->folder != NULL && segment_unlink(l, l->obsolete[i], NULL) != TANSU_OK)
            l->obsolete[left++] = l->obsolete[i];
        else if (l->tail != NULL)
            tail_removed(l, size);
    }
    bool removed = left < l->obsolete_count;
    l->obsolete_count = left;
    pthread_mutex_unlock(&l->mutex);
    list_close(l, &l->superseded);
    if (removed && l->folder != NULL)
        l->calls->sync_folder(l->calls, l->folder);
}

tansu_status log_sync_removed(log *l, tansu_error *error) {
    pthread_mutex_lock(&l->mutex);
    uint32_t left = l->obsolete_count;
    pthread_mutex_unlock(&l->mutex);
    if (left != 0)
        return error_set(error, TANSU_E_IO, l->folder,
                         "A segment that was replaced could not be removed; try again");
    return l->folder == NULL || l->calls->sync_folder(l->calls, l->folder) == 0
               ? TANSU_OK
               : error_errno(error, l->folder, "sync", errno);
}

uint32_t *log_numbers(log *l, uint32_t *count) {
    pthread_mutex_lock(&l->mutex);
    uint32_t *numbers = malloc((l->active.count + 1) * sizeof *numbers);
    *count = 0;
    for (uint32_t i = 0; numbers != NULL && i < l->active.count; i++) {
        const segment *s = l->active.items[i];
        if (s->last != 0 || s->first <= __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE))
            numbers[(*count)++] = s->number;
    }
    pthread_mutex_unlock(&l->mutex);
    return numbers;
}

bool log_compacted(const log *l) {
    for (uint32_t i = 0; i < l->active.count; i++)
        if (l->active.items[i]->last != 0)
            return true;
    return false;
}

/* More records than fit into any segment, and more insertions than are ever rolled back. */
#define RIDS_OF_SEGMENT ((uint64_t)1 << 26)
#define RIDS_ROLLED_BACK ((uint64_t)1 << 30)

uint64_t log_max_rid(const log *l) {
    return RIDS_ROLLED_BACK + l->last_number * RIDS_OF_SEGMENT;
}

tansu_status log_sealed(log *l, bool with_head, log_extent **list, uint32_t *count,
                        tansu_error *error) {
    pthread_mutex_lock(&l->mutex);
    uint32_t n = l->active.count;
    log_extent *made = malloc((n + 1) * sizeof *made);
    *count = with_head || n == 0 ? n : n - 1;
    for (uint32_t i = 0; made != NULL && i < *count; i++) {
        const segment *s = l->active.items[i];
        made[i] = (log_extent){.number = s->number,
                               .compacted = s->last != 0,
                               .compressed = segment_compressed(s),
                               .bytes = segment_bytes(s),
                               .end = s->used,
                               .first = s->first,
                               .last = i + 1 < n ? l->active.items[i + 1]->first - 1 : l->appended};
    }
    pthread_mutex_unlock(&l->mutex);
    *list = made;
    return made == NULL ? error_memory(error) : TANSU_OK;
}

/* extent_end -- the index of the segment that a commit ended in, and where; UINT32_MAX when no
 * active one has it. A compaction that could not be synced any more is active and seen by no
 * snapshot: of the newest one, which ended where the run did, it holds just what that snapshot
 * needs. */
static uint32_t extent_end(const log *l, uint64_t sequence, uint64_t position, uint64_t *end) {
    uint32_t index = segment_index(l, (uint32_t)(position >> 32));
    *end = (uint32_t)position;
    for (uint32_t i = 0; index == UINT32_MAX && i < l->active.count; i++) {
        const segment *s = l->active.items[i];
        if (s->last != 0 && s->last == sequence) {
            index = i;
            *end = s->used;
        }
    }
    return index;
}

tansu_status log_extents(log *l, uint64_t sequence, uint64_t position, log_extent **list,
                         uint32_t *count, tansu_error *error) {
    tansu_status status = TANSU_OK;
    *list = NULL;
    *count = 0;
    if (position == 0)
        return TANSU_OK;
    pthread_mutex_lock(&l->mutex);
    uint64_t end;
    uint32_t last = extent_end(l, sequence, position, &end);
    log_extent *made = last == UINT32_MAX ? NULL : malloc((last + 1) * sizeof *made);
    if (last == UINT32_MAX)
        status = error_set(error, TANSU_E_NOT_FOUND, l->folder,
                           "The log has been compacted since; begin again");
    else if (made == NULL)
        status = error_memory(error);
    for (uint32_t i = 0; status == TANSU_OK && i <= last; i++) {
        const segment *s = l->active.items[i];
        uint64_t next = i < last ? l->active.items[i + 1]->first : sequence + 1;
        made[i] = (log_extent){.number = s->number,
                               .compacted = s->last != 0,
                               .compressed = segment_compressed(s),
                               .bytes = segment_bytes(s),
                               .end = i < last ? s->used : end,
                               .first = s->first,
                               .last = s->last != 0 ? s->last : next - 1};
    }
    pthread_mutex_unlock(&l->mutex);
    if (status == TANSU_OK) {
        *list = made;
        *count = last + 1;
    }
    return status;
}
