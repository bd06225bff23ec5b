/*
 * query/sort_steps.c -- see sort_steps.h. Short runs are sorted by qsort(), then merged pair by pair,
 * each pass from one array into the other: both have short steps to ask the watch between.
 */
#include "query/sort_steps.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* One sort on its way. */
typedef struct sorting {
    size_t count;
    size_t size;
    int (*compare)(const void *, const void *);
    const watch *watch;
    size_t left; /* items until the watch is asked */
    tansu_error *error;
} sorting;

/* step -- counts items; asks the watch when it is time. */
static inline tansu_status step(sorting *s, size_t items) {
    if (s->left > items) {
        s->left -= items;
        return TANSU_OK;
    }
    s->left = SORT_STEP;
    return watch_check(s->watch, s->error);
}

/* sort_runs -- the short runs. */
static tansu_status sort_runs(sorting *s, uint8_t *items) {
    tansu_status status = TANSU_OK;
    for (size_t at = 0; status == TANSU_OK && at < s->count; at += SORT_STEP) {
        size_t run = s->count - at < SORT_STEP ? s->count - at : SORT_STEP;
        status = step(s, run);
        if (status == TANSU_OK)
            qsort(items + at * s->size, run, s->size, s->compare);
    }
    return status;
}

/* merge -- two runs, one behind the other and ending at `middle` and `end`, into one. */
static tansu_status merge(sorting *s, const uint8_t *from, const uint8_t *middle,
                          const uint8_t *end, uint8_t *to) {
    const uint8_t *left = from, *right = middle;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && left != middle && right != end) {
        const uint8_t **less = s->compare(left, right) <= 0 ? &left : &right;
        memcpy(to, *less, s->size);
        *less += s->size;
        to += s->size;
        status = step(s, 1);
    }
    /* Also after an error, so that no item is lost. */
    memcpy(to, left, (size_t)(middle - left));
    memcpy(to + (middle - left), right, (size_t)(end - right));
    return status;
}

/* merge_runs -- one pass: all pairs of runs of a length. */
static tansu_status merge_runs(sorting *s, const uint8_t *from, uint8_t *to, size_t run) {
    tansu_status status = TANSU_OK;
    for (size_t at = 0; at < s->count; at += 2 * run) {
        size_t middle = s->count - at < run ? s->count : at + run;
        size_t end = s->count - middle < run ? s->count : middle + run;
        if (status == TANSU_OK)
            status = merge(s, from + at * s->size, from + middle * s->size, from + end * s->size,
                           to + at * s->size);
        else
            memcpy(to + at * s->size, from + at * s->size, (end - at) * s->size);
    }
    return status;
}

/* sort_steps -- see sort_steps.h. */
tansu_status sort_steps(void *items, size_t count, size_t size,
                        int (*compare)(const void *, const void *), const watch *w,
                        tansu_error *error) {
    sorting s = {.count = count,
                 .size = size,
                 .compare = compare,
                 .watch = w,
                 .left = SORT_STEP,
                 .error = error};
    if (count <= SORT_STEP) {
        if (count > 1)
            qsort(items, count, size, compare);
        return TANSU_OK;
    }
    uint8_t *other = malloc(count * size), *from = items, *to = other;
    if (other == NULL)
        return error_memory(error);
    tansu_status status = sort_runs(&s, items);
    for (size_t run = SORT_STEP; status == TANSU_OK && run < count; run *= 2) {
        status = merge_runs(&s, from, to, run);
        uint8_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * size);
    free(other);
    return status;
}
