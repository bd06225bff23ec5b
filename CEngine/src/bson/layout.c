/*
 * bson/layout.c -- learning the layout of a document.
 */
#include "bson/layout.h"

#include <string.h>

/* finish -- makes a step the last one: no element fits it. */
static void finish(layout *l, uint32_t count) {
    l->count = count;
    l->steps[count] = (layout_step){.element = {.least = UINT32_MAX}};
}

void layout_begin(layout *l, const void *owner) {
    l->owner = owner;
    l->learning = (backoff){0};
    finish(l, 0);
}

/* remember -- makes an element the next step; false when it cannot be one. */
static bool remember(layout *l, const doc_iter *iter, enum layout_act act, uint32_t path) {
    known_element element = known_element_of(iter);
    if (l->count == LAYOUT_STEPS || element.size > LAYOUT_BYTES || element.least == UINT32_MAX)
        return false;
    layout_step *step = &l->steps[l->count];
    uint32_t rest = known_element_rest(&element);
    finish(l, l->count + 1);
    step->element = element;
    step->act = (uint8_t)act;
    step->path = (uint8_t)path;
    memcpy(step->rest, iter->value.data - rest, rest);
    return true;
}

/* What is being learnt. */
typedef struct lesson {
    layout *layout;
    const path *const *paths;
    uint32_t left; /* a bit for each path that was not found */
} lesson;

/* learn -- the elements of a document in which paths among `here` may be, as long as they can be steps;
 * false when they cannot. */
static bool learn(lesson *t, uint32_t here, uint32_t depth, const uint8_t *doc, size_t size) {
    layout *l = t->layout;
    doc_iter iter;
    bool valid = doc_iter_init(&iter, doc, size);
    while (valid && (t->left & here) != 0 && doc_iter_next(&iter)) {
        uint32_t below = 0, found = 0;
        for (uint32_t left = t->left & here; left != 0; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            const path_part *part = &t->paths[i]->parts[depth];
            if (part->size != iter.key_size || memcmp(part->name, iter.key, part->size) != 0)
                continue;
            if (depth + 1 == t->paths[i]->count)
                found |= UINT32_C(1) << i;
            else
                below |= UINT32_C(1) << i;
        }
        if (below != 0 && (found != 0 || iter.value.type != DOC_DOCUMENT))
            return false;
        enum layout_act act = found != 0 ? LAYOUT_FIND : below != 0 ? LAYOUT_ENTER : LAYOUT_PASS;
        if (!remember(l, &iter, act, found != 0 ? (uint32_t)__builtin_ctz(found) : 0))
            return false;
        t->left &= ~found;
        if (below == 0)
            continue;
        if (!learn(t, below, depth + 1, iter.value.data, iter.value.size) ||
            l->count == LAYOUT_STEPS)
            return false;
        /* Of a key that comes again, the first counts. */
        t->left &= ~below;
        finish(l, l->count + 1);
        l->steps[l->count - 1].act = LAYOUT_LEAVE;
    }
    return true;
}

void layout_learn(layout *l, const path *const *paths, uint32_t count, const uint8_t *doc,
                  size_t size) {
    if (backoff_passes_over(&l->learning))
        return;
    backoff_failed(&l->learning);
    lesson t = {.layout = l, .paths = paths, .left = UINT32_MAX >> (32 - count)};
    finish(l, 0);
    (void)learn(&t, t.left, 0, doc, size);
}
