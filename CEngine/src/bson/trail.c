/*
 * bson/trail.c -- where the document before had a path's value, tried first in the next.
 */
#include "bson/trail.h"

#define MAX_WAIT 64

/* finish -- makes a step the last one: none fits after it. */
static void finish(trail *t, uint32_t count) {
    t->count = count;
    t->steps[count].least = UINT32_MAX;
}

void trail_begin(trail *t, const void *owner) {
    t->owner = owner;
    t->wait = t->waits = 0;
    finish(t, 0);
}

/* step_fits -- whether the element at `at`, where `left` bytes follow up to the NUL that ends the
 * document, is as in a step and valid, by the rules of doc_iter_next(). *size: of its value. */
static inline bool step_fits(const trail_step *step, const uint8_t *at, uint64_t left,
                             uint64_t *size) {
    if (left < step->least || ((load_u64(at) ^ load_u64(step->bytes)) & step->mask) != 0)
        return false;
    if (step->size > 8 && !bytes_equal(at + 8, step->bytes + 8, step->size - 8u))
        return false;
    *size = (uint64_t)(load_u32(at + step->size) & step->own_mask) + step->fixed;
    return *size >= step->least_value && step->size + *size <= left;
}

/* remember -- makes an element the next step; false when it cannot be one. */
static bool remember(trail *t, const doc_iter *iter, bool part) {
    uint8_t rule = doc_value_sizes[iter->value.type];
    uint32_t size = iter->key_size + 2;
    if (t->count == TRAIL_STEPS || size > TRAIL_BYTES || (rule & DOC_SIZE_ODD) != 0)
        return false;
    bool prefixed = (rule & DOC_SIZE_PREFIXED) != 0;
    trail_step *step = &t->steps[t->count];
    /* Eight bytes are read of type and key, and four of the value; one of them may be the NUL after
     * the last element. */
    uint32_t least = size + (prefixed ? 5 : 3);
    *step = (trail_step){.mask = size >= 8 ? UINT64_MAX : UINT64_MAX >> (64 - 8 * size),
                         .least = least < 7 ? 7 : least,
                         .own_mask = prefixed ? UINT32_MAX : 0,
                         .size = (uint8_t)size,
                         .fixed = rule & DOC_SIZE_FIXED,
                         .least_value = prefixed ? 5 : 0,
                         .part = part};
    memcpy(step->bytes, iter->value.data - size, size);
    finish(t, t->count + 1);
    return true;
}

/* learns -- whether a document that is not as step `at` is remembered from there on. */
static bool learns(trail *t, uint32_t at) {
    if (t->wait != 0) {
        t->wait--;
        return false;
    }
    finish(t, at);
    t->wait = t->waits;
    t->waits = t->waits < MAX_WAIT ? t->waits * 2 + 1 : t->waits;
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
    while (step->least != UINT32_MAX) {
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
        while (step_fits(step, next, (uint64_t)(end - next), &value_size)) {
            next += step->size;
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
        type = step->bytes[0];
        doc = next;
        size = value_size;
        step++;
    }
    if (!differs && t->waits != 0)
        t->waits /= 2;
    *value = (doc_value){doc, (uint32_t)size, type};
    return TRAIL_FOUND;
}
