/*
 * log/segment_grow.c -- allocating disk space to a segment's file, and populating its pages.
 */
#include "log/reserve.h"
#include "log/segment.h"
#include "util/error.h"

#include <errno.h>
#include <unistd.h>

/* Steps in which a file grows: small databases stay small, large ones call rarely. */
#define GROW_LEAST (256u * 1024u)
#define GROW_MOST (4u * 1024u * 1024u)

/* What the last bytes of a disk are taken by. */
#define LEAST_STEP 4096u

/* Pages are brought in by this many bytes: little enough that a sync, which writes them all, hardly
 * notices. */
#define POPULATE_STEP (256u * 1024u)

/* With fewer unsynced commits than this, commits are synced one by one, or by some threads at a
 * time. */
#define FEW_UNSYNCED 256u

bool segment_not_cut(const log *l, const segment *s) {
    uint64_t least = __atomic_load_n(&s->allocated, __ATOMIC_RELAXED), size;
    /* A size that can't be had says nothing. */
    return s->fd < 0 || l->calls->size(s->fd, &size) != 0 || size >= least;
}

/* cut_off -- the error for a file that has become shorter: what was written there is lost. */
static tansu_status cut_off(log *l, const segment *s, tansu_error *error) {
    char name[32];
    segment_name(s->number, name);
    log_fail(l, EIO);
    return error_errno(error, name, "find the end of", EIO);
}

/* allocate_step -- grows the file to *size, or to `end` when the disk is nearly full (*size is then
 * less); errno or 0. A write that frees no space leaves the reserve alone, and refills it first
 * when it was spent. */
static int allocate_step(log *l, const segment *s, uint64_t end, uint64_t *size) {
    int number = l->urgent ? 0 : reserve_keep(l);
    if (number != 0)
        return number;
    /* Of what the reserve has left no more is taken than is needed. */
    bool spent = l->urgent && reserve_is_spent(l);
    if (!spent && l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0)
        return 0;
    number = errno;
    /* Near the end of the disk the step may not fit where the need does. */
    uint64_t least = (end + LEAST_STEP - 1) / LEAST_STEP * LEAST_STEP;
    *size = least < s->mapped ? least : s->mapped;
    if (l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0)
        return 0;
    if (!l->urgent || reserve_spend(l, false) == 0)
        return spent ? errno : number;
    return l->calls->allocate(s->fd, s->allocated, *size - s->allocated) == 0 ? 0 : errno;
}

tansu_status segment_grow(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->allocated)
        return TANSU_OK;
    if (!segment_not_cut(l, s))
        return cut_off(l, s, error);
    uint64_t step = s->allocated / 2;
    if (step < GROW_LEAST)
        step = GROW_LEAST;
    if (step > GROW_MOST)
        step = GROW_MOST;
    uint64_t size = s->allocated + step;
    if (size < end)
        size = end;
    if (size > s->mapped)
        size = s->mapped;
    int number = s->fd < 0 ? 0 : allocate_step(l, s, end, &size);
    if (number != 0) {
        char name[32];
        segment_name(s->number, name);
        return error_errno(error, name, "grow", number);
    }
    __atomic_store_n(&s->allocated, size, __ATOMIC_RELAXED); /* read by log_measure() */
    return TANSU_OK;
}

/* populate_piece -- how many bytes to populate by one call. Pages that are made together become one
 * piece of the page cache (a folio), which the kernel writes as a whole although one byte of it was
 * changed. So a large frame gets large pieces, which are made quickly, and small commits that are
 * synced each on its own get pages. */
static uint64_t populate_piece(const log *l, uint64_t frame_size) {
    uint64_t unsynced = l->appended - __atomic_load_n(&l->synced, __ATOMIC_ACQUIRE);
    if (unsynced >= FEW_UNSYNCED || frame_size > SEGMENT_MAP_UNIT)
        return POPULATE_STEP;
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 && SEGMENT_MAP_UNIT % (uint64_t)page == 0 ? (uint64_t)page : SEGMENT_MAP_UNIT;
}

tansu_status segment_populate(log *l, segment *s, uint64_t end, tansu_error *error) {
    if (end <= s->populated)
        return TANSU_OK;
    if (!segment_not_cut(l, s))
        return cut_off(l, s, error);
    uint64_t written = s->populated > s->used ? s->populated : s->used;
    uint64_t from = written / SEGMENT_MAP_UNIT * SEGMENT_MAP_UNIT;
    uint64_t to = (end + POPULATE_STEP - 1) / SEGMENT_MAP_UNIT * SEGMENT_MAP_UNIT;
    if (to > s->allocated)
        to = s->allocated; /* never a page that the file does not have */
    uint64_t piece = populate_piece(l, end - s->used);
    from += (written - from) / piece * piece; /* pieces before are there already */
    for (uint64_t at = from; at < to; at += piece) {
        uint64_t next = to - at < piece ? to : at + piece;
        l->calls->populate(s->fd, s->base, at, at > written ? at : written, next);
    }
    s->populated = to > end ? to : end;
    return TANSU_OK;
}
