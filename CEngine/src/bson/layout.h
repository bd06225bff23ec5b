/*
 * bson/layout.h -- caches where the previous document had the values of several paths, so that one pass
 * finds them all without a search.
 *
 * As in a trail (bson/trail.h), only bytes that were compared are relied upon. The values come in the
 * order of the document, so that whoever has seen enough stops there.
 */
#ifndef TANSU_BSON_LAYOUT_H
#define TANSU_BSON_LAYOUT_H

#include "bson/known_element.h"
#include "bson/path.h"

#define LAYOUT_STEPS 24
#define LAYOUT_BYTES 32 /* of a type and a key with its NUL */
#define LAYOUT_PATHS 8
#define LAYOUT_DEPTH 4 /* parts of a path */

/* What is done at an element. */
enum layout_act {
    LAYOUT_PASS,
    LAYOUT_FIND,  /* it is the value of a path */
    LAYOUT_ENTER, /* the document that it is has some */
    LAYOUT_LEAVE  /* no element: that document has no more */
};

typedef struct layout_step {
    known_element element;
    uint8_t rest[LAYOUT_BYTES - KNOWN_ELEMENT_WORD];
    uint8_t act;
    uint8_t path;
} layout_step;

/* Memory for a layout. Zeroed, it has no owner. */
typedef struct layout {
    const void *owner; /* for whoever shares it: who uses it */
    backoff learning;  /* documents that differ from the ones before */
    uint32_t count;
    layout_step steps[LAYOUT_STEPS + 1];
} layout;

/* layout_begin -- an empty layout. */
void layout_begin(layout *l, const void *owner);

/* layout_learn -- makes a document the one that others are expected to be like, unless too many have
 * differed lately. At most LAYOUT_PATHS different paths, each of at most LAYOUT_DEPTH parts. */
void layout_learn(layout *l, const path *const *paths, uint32_t count, const uint8_t *doc,
                  size_t size);

/* Where a pass over a document is. */
typedef struct layout_walk {
    const layout_step *step;
    const uint8_t *next, *end;
    uint32_t depth;
    struct {
        const uint8_t *next, *end;
    } outer[LAYOUT_DEPTH];
} layout_walk;

/* layout_walk_begin -- false if there is no document. */
static inline bool layout_walk_begin(layout_walk *w, const layout *l, const uint8_t *doc,
                                     size_t size) {
    doc_iter iter;
    if (!doc_iter_init(&iter, doc, size))
        return false;
    w->step = l->steps;
    w->next = iter.next;
    w->end = iter.end;
    w->depth = 0;
    return true;
}

/* layout_walk_next -- the number of the next path, and its value; -1 where the document differs, or
 * nothing more is known. */
static inline int layout_walk_next(layout_walk *w, doc_value *value) {
    for (;;) {
        const layout_step *step = w->step++;
        doc_iter iter;
        uint64_t size;
        if (step->act == LAYOUT_LEAVE) {
            w->next = w->outer[--w->depth].next;
            w->end = w->outer[w->depth].end;
            continue;
        }
        if (!known_element_fits(&step->element, step->rest, w->next, (uint64_t)(w->end - w->next),
                                &size))
            return -1;
        const uint8_t *bytes = w->next + step->element.size;
        w->next = bytes + size;
        if (step->act == LAYOUT_FIND) {
            *value = (doc_value){bytes, (uint32_t)size, (uint8_t)step->element.word};
            return step->path;
        }
        if (step->act == LAYOUT_ENTER) {
            w->outer[w->depth].next = w->next;
            w->outer[w->depth++].end = w->end;
            if (!doc_iter_init(&iter, bytes, size))
                return -1;
            w->next = iter.next;
            w->end = iter.end;
        }
    }
}

#endif
