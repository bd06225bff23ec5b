/*
 * bson/trail.c -- where the document before had a path's value, tried first in the next.
 */
#include "bson/trail.h"

/* finish -- makes a step the last one: none fits after it. */
static void finish(trail *t, uint32_t count) {
    t->count = count;
    t->steps[count].element.least = UINT32_MAX;
}

void trail_begin(trail *t, const void *owner) {
    t->owner = owner;
    t->remembering = (backoff){0};
    finish(t, 0);
}

/* remember -- makes an element the next step; false when it cannot be one. */
static bool remember(trail *t, const doc_iter *iter, bool part) {
    known_element element = known_element_of(iter);
    if (t->count == TRAIL_STEPS || element.size > TRAIL_BYTES || element.least == UINT32_MAX)
        return false;
    trail_step *step = &t->steps[t->count];
    step->element = element;
    step->part = part;
    uint32_t rest = known_element_rest(&element);
    memcpy(step->rest, iter->value.data - rest, rest);
    finish(t, t->count + 1);
    return true;
}

/* learns -- whether a document that is not as step `at` is remembered from there on. */
static bool learns(trail *t, uint32_t at) {
    if (backoff_passes_over(&t->remembering))
        return false;
    finish(t, at);
    backoff_failed(&t->remembering);
    return true;
}

/* search -- looks for a part from where the iterator is. `*learning`: the elements become steps, as
 * long as they can. */
static bool search(trail *t, const path_part *part, doc_iter *iter, bool *learning) {
    while (doc_iter_next(iter)) {
        bool is_part =
            iter->key_size == part->size && memcmp(iter->key, part->name, part->size) == 0;
        *learning = *learning && remember(t, iter, is_part);
        if (is_part)
            return true;
    }
    return false;
}

/* after_part -- where the steps of the level below begin. */
static const trail_step *after_part(const trail_step *step) {
    while (step->element.least != UINT32_MAX) {
        if ((step++)->part)
            break;
    }
    return step;
}

enum trail_end trail_find(trail *t, const path *path, const uint8_t *doc, size_t size,
                          doc_value *value) {
    const trail_step *step = t->steps;
    bool differs = false, learning = false;
    uint8_t type = DOC_DOCUMENT;
    for (uint32_t i = 0; i < path->count; i++) {
        doc_iter iter;
        if (type == DOC_ARRAY)
            return TRAIL_ARRAY;
        if (type != DOC_DOCUMENT || !doc_iter_init(&iter, doc, size))
            return i == 0 ? TRAIL_NO_FIELD : TRAIL_MISSING;
        const uint8_t *next = iter.next, *end = iter.end;
        uint64_t value_size;
        while (known_element_fits(&step->element, step->rest, next, (uint64_t)(end - next),
                                  &value_size)) {
            next += step->element.size;
            if (step->part)
                goto found;
            next += value_size;
            step++;
        }
        iter.next = next;
        if (!differs && next < end) {
            differs = true;
            learning = learns(t, (uint32_t)(step - t->steps));
        }
        if (!search(t, &path->parts[i], &iter, &learning))
            return i == 0 ? TRAIL_NO_FIELD : TRAIL_MISSING;
        step = learning ? &t->steps[t->count] : after_part(step);
        type = iter.value.type;
        doc = iter.value.data;
        size = iter.value.size;
        continue;
    found:
        type = (uint8_t)step->element.word;
        doc = next;
        size = value_size;
        step++;
    }
    if (!differs)
        backoff_succeeded(&t->remembering);
    *value = (doc_value){doc, (uint32_t)size, type};
    return TRAIL_FOUND;
}
