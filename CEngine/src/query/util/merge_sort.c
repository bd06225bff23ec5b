/*
 * query/util/merge_sort.c -- short runs are sorted by qsort() and then merged in pairs, each pass
 * from one array into the other. The steps of both are short, so that the deadline is checked in
 * time.
 */
#include "query/util/merge_sort.h"
#include "util/error.h"
#include <stdlib.h>
#include <string.h>

/* A sort in progress. */
typedef struct sorting {
    size_t count;
    size_t size;
    int (*compare)(const void *, const void *);
    const deadline *deadline;
    size_t left; /* items until the next check of the deadline */
    tansu_error *error;
} sorting;

/* step -- counts items and checks the deadline when due. */
static inline tansu_status step(sorting *s, size_t items) {
    if (s->left > items) {
        s->left -= items;
        return TANSU_OK;
    }
    s->left = SORT_STEP;
    return deadline_check(s->deadline, s->error);
}

/* sort_runs -- sorts the short runs. */
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

/* merge -- merges two adjacent runs, which end at `middle` and `end`. */
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
    /* Also after an error: no item may be lost. */
    memcpy(to, left, (size_t)(middle - left));
    memcpy(to + (middle - left), right, (size_t)(end - right));
    return status;
}

/* merge_runs -- one pass: merges all pairs of runs of one length. */
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

tansu_status merge_sort(void *items, size_t count, size_t size,
                        int (*compare)(const void *, const void *), const deadline *deadline,
                        tansu_error *error) {
    sorting s = {.count = count,
                 .size = size,
                 .compare = compare,
                 .deadline = deadline,
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
