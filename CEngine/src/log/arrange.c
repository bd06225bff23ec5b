/*
 * log/arrange.c -- which segments make up the log.
 *
 * A compaction leaves for a while both the segments that it read and the one that it wrote. The order
 * of the log is that of first commits; a compacted segment stands for all segments with lower numbers
 * that begin within the commits that it covers.
 */
#include "base/error.h"
#include "log/segment.h"

#include <stdlib.h>

tansu_status segment_missing(const log *l, uint32_t number, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, l->folder, "segment %08u.seg of the log is missing",
                     number);
}

/* list_has -- whether a segment with that number is in a list. */
static bool list_has(const segment_list *list, uint32_t number) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->number == number)
            return true;
    return false;
}

/* outdated -- whether a newer compacted segment in force covers a commit that `s` does, too: a
 * compaction before it did not come to its end then. */
static bool outdated(const log *l, const segment *s) {
    for (uint32_t i = 0; i < l->force.count; i++) {
        const segment *other = l->force.items[i];
        if (other->last != 0 && other->number > s->number && other->first <= s->last &&
            s->first <= other->last)
            return true;
    }
    return false;
}

bool doomed_reserve(log *l, uint32_t more) {
    if (l->doomed_count + more <= l->doomed_room)
        return true;
    uint32_t room = (l->doomed_count + more) * 2;
    uint32_t *list = realloc(l->doomed, room * sizeof *list);
    if (list == NULL)
        return false;
    l->doomed = list;
    l->doomed_room = room;
    return true;
}

/* supersede -- takes what a compacted segment stands for out of force; there is room. */
static void supersede(log *l, const segment *s) {
    for (uint32_t i = l->force.count; i > 0; i--) {
        segment *old = l->force.items[i - 1];
        if (old->number >= s->number || old->first < s->first || old->first > s->last)
            continue;
        list_remove(&l->force, i - 1);
        l->superseded.items[l->superseded.count++] = old;
        l->doomed[l->doomed_count++] = old->number;
    }
}

/* enforce -- puts the item of the aside list at that index in force, in place of what it covers. */
static tansu_status enforce(log *l, uint32_t index, tansu_error *error) {
    segment *s = l->aside.items[index];
    if (!list_reserve(&l->force, 1) || !list_reserve(&l->superseded, l->force.count) ||
        !doomed_reserve(l, l->force.count))
        return error_memory(error);
    list_remove(&l->aside, index);
    supersede(l, s);
    list_insert(&l->force, s);
    return TANSU_OK;
}

/* newest_below -- the index of the highest number below `limit` in the aside list, or UINT32_MAX. */
static uint32_t newest_below(const log *l, uint32_t limit) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < l->aside.count; i++)
        if (l->aside.items[i]->number < limit &&
            (best == UINT32_MAX || l->aside.items[i]->number > l->aside.items[best]->number))
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

tansu_status log_arrange(log *l, const uint32_t *named, size_t count, tansu_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (list_has(&l->force, named[i]) || list_has(&l->aside, named[i]))
            continue;
        tansu_status status = segment_missing(l, named[i], error);
        return named[i] < l->last_number ? status : TANSU_E_NOT_FOUND;
    }
    uint32_t limit = UINT32_MAX;
    for (uint32_t i; (i = newest_below(l, limit)) != UINT32_MAX;) {
        const segment *s = l->aside.items[i];
        limit = s->number;
        if (named == NULL ? outdated(l, s) : !is_named(named, count, s->number))
            continue;
        tansu_status status = enforce(l, i, error);
        if (status != TANSU_OK)
            return status;
    }
    for (uint32_t i = 0; i + 1 < l->force.count; i++) {
        const segment *s = l->force.items[i], *next = l->force.items[i + 1];
        if (s->last != 0 && next->first != s->last + 1)
            return error_set(error, TANSU_E_CORRUPT, l->folder,
                             "the segment of the log that begins with commit %llu is missing",
                             (unsigned long long)(s->last + 1));
    }
    return TANSU_OK;
}

tansu_status log_adopt(log *l, uint32_t number, bool *adopted, tansu_error *error) {
    *adopted = false;
    for (uint32_t i = 0; i < l->aside.count; i++) {
        if (l->aside.items[i]->number == number) {
            *adopted = true;
            return enforce(l, i, error);
        }
    }
    return TANSU_OK;
}

void log_drop_aside(log *l) {
    for (uint32_t i = 0; i < l->aside.count && !l->read_only; i++)
        segment_unlink(l, l->aside.items[i]->number,
                       NULL); /* one that stays is outdated for good */
    list_close(l, &l->aside);
}

void log_discard(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t left = 0;
    for (uint32_t i = 0; i < l->doomed_count; i++)
        if (l->folder != NULL && segment_unlink(l, l->doomed[i], NULL) != TANSU_OK)
            l->doomed[left++] = l->doomed[i];
    bool removed = left < l->doomed_count;
    l->doomed_count = left;
    pthread_mutex_unlock(&l->mutex);
    list_close(l, &l->superseded);
    if (removed && l->folder != NULL)
        l->calls->sync_folder(l->folder);
}

uint32_t *log_numbers(log *l, uint32_t *count) {
    pthread_mutex_lock(&l->mutex);
    uint32_t *numbers = malloc((l->force.count + 1) * sizeof *numbers);
    *count = 0;
    for (uint32_t i = 0; numbers != NULL && i < l->force.count; i++) {
        const segment *s = l->force.items[i];
        if (s->last != 0 || s->first <= __atomic_load_n(&l->appended, __ATOMIC_ACQUIRE))
            numbers[(*count)++] = s->number;
    }
    pthread_mutex_unlock(&l->mutex);
    return numbers;
}

bool log_compacted(const log *l) {
    for (uint32_t i = 0; i < l->force.count; i++)
        if (l->force.items[i]->last != 0)
            return true;
    return false;
}

/* More than records fit into any segment, and more insertions than anybody rolls back. */
#define DOCNOS_OF_SEGMENT ((uint64_t)1 << 26)
#define DOCNOS_ROLLED_BACK ((uint64_t)1 << 30)

uint64_t log_docnos_most(const log *l) {
    return DOCNOS_ROLLED_BACK + l->last_number * DOCNOS_OF_SEGMENT;
}

bool log_gapped(log *l) {
    bool gapped = false;
    pthread_mutex_lock(&l->mutex);
    for (uint32_t i = 0; !gapped && i < l->force.count; i++) {
        const segment *s = l->force.items[i];
        gapped = s->last != 0 || (i > 0 && s->number != l->force.items[i - 1]->number + 1);
    }
    pthread_mutex_unlock(&l->mutex);
    return gapped;
}

tansu_status log_sealed(log *l, bool with_head, log_extent **list, uint32_t *count,
                        tansu_error *error) {
    pthread_mutex_lock(&l->mutex);
    uint32_t n = l->force.count;
    log_extent *made = malloc((n + 1) * sizeof *made);
    *count = with_head || n == 0 ? n : n - 1;
    for (uint32_t i = 0; made != NULL && i < *count; i++) {
        const segment *s = l->force.items[i];
        made[i] = (log_extent){.number = s->number,
                               .compacted = s->last != 0,
                               .bytes = s->base,
                               .end = s->used,
                               .first = s->first,
                               .last = i + 1 < n ? l->force.items[i + 1]->first - 1 : l->appended};
    }
    pthread_mutex_unlock(&l->mutex);
    *list = made;
    return made == NULL ? error_memory(error) : TANSU_OK;
}

/* extent_end -- the index of the segment that a commit ended in, and where; UINT32_MAX when none in force has
 * it. A compaction that could not be brought to the disk any more is in force and seen by no version: of the
 * newest one, which ended where the run did, it holds just what that version needs. */
static uint32_t extent_end(const log *l, uint64_t sequence, uint64_t position, uint64_t *end) {
    uint32_t index = segment_index(l, (uint32_t)(position >> 32));
    *end = (uint32_t)position;
    for (uint32_t i = 0; index == UINT32_MAX && i < l->force.count; i++) {
        const segment *s = l->force.items[i];
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
                           "the log has been compacted since; begin again");
    else if (made == NULL)
        status = error_memory(error);
    for (uint32_t i = 0; status == TANSU_OK && i <= last; i++) {
        const segment *s = l->force.items[i];
        uint64_t next = i < last ? l->force.items[i + 1]->first : sequence + 1;
        made[i] = (log_extent){.number = s->number,
                               .compacted = s->last != 0,
                               .bytes = s->base,
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
