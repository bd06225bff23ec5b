/*
 * support/random/case_reduction.c -- tries smaller cases.
 */
#include "support/random/case_reduction.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A reduction under way. */
typedef struct run {
    reduction_case *c;
    reduction_fails fails;
    void *context;
    size_t steps, most;
} run;

void reduction_add(reduction_case *c, const char *role, const bson_t *value, bool whole) {
    c->parts = bson_realloc(c->parts, (c->count + 1) * sizeof *c->parts);
    c->parts[c->count++] = (reduction_part){role, bson_copy(value), whole};
}

void reduction_free(reduction_case *c) {
    for (size_t i = 0; i < c->count; i++)
        bson_destroy(c->parts[i].value);
    bson_free(c->parts);
    *c = (reduction_case){NULL, 0};
}

void reduction_print(const reduction_case *c) {
    for (size_t i = 0; i < c->count; i++) {
        char *json = bson_as_canonical_extended_json(c->parts[i].value, NULL);
        check_note("%s %s", c->parts[i].role, json);
        bson_free(json);
    }
}

/* still_fails -- one step; false also when there is none left. */
static bool still_fails(run *r, const reduction_case *smaller) {
    if (r->steps == r->most)
        return false;
    r->steps++;
    return r->fails(smaller, r->context);
}

/* ---- Whole parts ---- */

/* without -- tries the case without the parts that may go among `size` ones from `first`. */
static bool without(run *r, size_t first, size_t size) {
    reduction_case less = {bson_malloc(r->c->count * sizeof *less.parts), 0};
    for (size_t i = 0; i < r->c->count; i++) {
        if (i < first || i >= first + size || !r->c->parts[i].whole)
            less.parts[less.count++] = r->c->parts[i];
    }
    if (less.count == r->c->count || !still_fails(r, &less)) {
        bson_free(less.parts);
        return false;
    }
    for (size_t i = first; i < first + size && i < r->c->count; i++) {
        if (r->c->parts[i].whole)
            bson_destroy(r->c->parts[i].value);
    }
    bson_free(r->c->parts);
    *r->c = less;
    return true;
}

/* drop_parts -- takes parts away, many at once first. */
static bool drop_parts(run *r) {
    bool any = false;
    for (size_t size = (r->c->count + 1) / 2; size > 0; size /= 2) {
        for (size_t first = 0; first < r->c->count;) {
            if (without(r, first, size))
                any = true;
            else
                first += size;
        }
    }
    return any;
}

/* ---- Fields and elements ---- */

/* What becomes of one field or element. */
typedef enum way {
    DROP,   /* it goes */
    LIFT,   /* the child takes its place: {a: {b: 1}} becomes {a: 1} */
    SPREAD, /* the fields of the child, a document, do: {$or: [{a: 1}]} becomes {a: 1} */
    OPEN    /* its own fields do: {a: {b: 1}} becomes {b: 1} */
} way;

/* One change; fields and elements are numbered as they stand, a parent before its children. */
typedef struct edit {
    way way;
    size_t at, child;
    size_t next; /* the number of the next one that is met */
    bool done;   /* the number was met, and what it has could be changed so */
} edit;

/* is_container -- a document or an array. */
static bool is_container(const bson_iter_t *value) {
    return BSON_ITER_HOLDS_DOCUMENT(value) || BSON_ITER_HOLDS_ARRAY(value);
}

/* put -- appends a value as it is; an array's elements are renumbered. */
static void put(bson_t *out, const char *key, const bson_iter_t *value, bool array) {
    char number[16];
    if (array) {
        snprintf(number, sizeof number, "%u", (unsigned)bson_count_keys(out));
        key = number;
    }
    REQUIRE(bson_append_iter(out, key, -1, value));
}

/* put_all -- appends everything that is in a document. */
static void put_all(bson_t *out, const bson_iter_t *document, bool array) {
    bson_iter_t each;
    REQUIRE(bson_iter_recurse(document, &each));
    while (bson_iter_next(&each))
        put(out, bson_iter_key(&each), &each, array);
}

/* child_of -- the child of that number; false when there are fewer. */
static bool child_of(const bson_iter_t *parent, size_t number, bson_iter_t *child) {
    if (!is_container(parent))
        return false;
    REQUIRE(bson_iter_recurse(parent, child));
    while (bson_iter_next(child)) {
        if (number-- == 0)
            return true;
    }
    return false;
}

/* put_changed -- the field that the edit is of. */
static void put_changed(bson_t *out, const bson_iter_t *field, bool array, edit *e) {
    bson_iter_t child = *field;
    e->done = e->way == DROP || e->way == OPEN || child_of(field, e->child, &child);
    if (e->way == OPEN || e->way == SPREAD)
        e->done = e->done && BSON_ITER_HOLDS_DOCUMENT(&child);
    if (e->done && e->way == LIFT)
        put(out, bson_iter_key(field), &child, array);
    else if (e->done && e->way != DROP)
        put_all(out, &child, array);
}

/* put_edited -- appends what the iterator walks, with the edit. */
static void put_edited(bson_t *out, bson_iter_t fields, bool array, edit *e) {
    while (bson_iter_next(&fields)) {
        bson_iter_t inside;
        if (e->next++ == e->at) {
            put_changed(out, &fields, array, e);
            continue;
        }
        if (!is_container(&fields)) {
            put(out, bson_iter_key(&fields), &fields, array);
            continue;
        }
        bson_t inner = BSON_INITIALIZER, holder = BSON_INITIALIZER;
        bson_iter_t value;
        bool list = BSON_ITER_HOLDS_ARRAY(&fields);
        REQUIRE(bson_iter_recurse(&fields, &inside));
        put_edited(&inner, inside, list, e);
        if (list)
            bson_append_array(&holder, "v", 1, &inner);
        else
            bson_append_document(&holder, "v", 1, &inner);
        REQUIRE(bson_iter_init_find(&value, &holder, "v"));
        put(out, bson_iter_key(&fields), &value, array);
        bson_destroy(&inner);
        bson_destroy(&holder);
    }
}

/* try_edit -- keeps the edit when the case still fails; *there: whether there was such a thing. */
static bool try_edit(run *r, size_t part, edit *e, bool *there) {
    bson_t *old = r->c->parts[part].value, *changed = bson_new();
    bson_iter_t fields;
    REQUIRE(bson_iter_init(&fields, old));
    put_edited(changed, fields, false, e);
    *there = e->at < e->next;
    r->c->parts[part].value = changed;
    if (e->done && still_fails(r, r->c)) {
        bson_destroy(old);
        return true;
    }
    r->c->parts[part].value = old;
    bson_destroy(changed);
    return false;
}

/* reduce_field -- drops one field, or puts something smaller in its place. */
static bool reduce_field(run *r, size_t part, size_t at, bool *there) {
    static const way ways[] = {DROP, OPEN};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        edit e = {.way = ways[i], .at = at};
        if (try_edit(r, part, &e, there))
            return true;
        if (!*there)
            return false;
    }
    for (size_t child = 0;; child++) {
        edit lift = {.way = LIFT, .at = at, .child = child};
        edit spread = {.way = SPREAD, .at = at, .child = child};
        if (try_edit(r, part, &lift, there) || try_edit(r, part, &spread, there))
            return true;
        if (!lift.done)
            return false;
    }
}

/* reduce_part -- takes fields and elements of one part away, outer ones first. */
static bool reduce_part(run *r, size_t part) {
    bool any = false, there = true;
    for (size_t at = 0; there && r->steps < r->most;) {
        if (reduce_field(r, part, at, &there))
            any = true;
        else
            at++;
    }
    return any;
}

size_t reduce_case(reduction_case *c, reduction_fails fails, void *context, size_t steps) {
    run r = {c, fails, context, 0, steps};
    bool less = still_fails(&r, c);
    while (less && r.steps < r.most) {
        less = drop_parts(&r);
        for (size_t i = 0; i < c->count; i++)
            less = reduce_part(&r, i) || less;
    }
    return r.steps;
}
