/*
 * toolkit/world_tell.c -- a difference told by the smallest case that still shows it.
 */
#include "check.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

/* How a case is played again, and what must come of it. */
typedef struct replay {
    bool stored, small;
    const world_difference *wanted;
    world_counts counts;
} replay;

/* sub_document -- a part's field; false when it is no document. */
static bool sub_document(const bson_t *part, const char *name, bson_t *inner) {
    const uint8_t *data;
    uint32_t size;
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, part, name) || !BSON_ITER_HOLDS_DOCUMENT(&iter))
        return false;
    bson_iter_document(&iter, &size, &data);
    return bson_init_static(inner, data, size);
}

/* play_index -- creates it; without a name, keys or options the case makes no sense. */
static bool play_index(world *w, const bson_t *part) {
    bson_t keys, options;
    bson_iter_t name;
    if (!bson_iter_init_find(&name, part, "name") || !BSON_ITER_HOLDS_UTF8(&name) ||
        !sub_document(part, "keys", &keys) || !sub_document(part, "options", &options))
        return false;
    return world_index_new(w, bson_iter_utf8(&name, NULL), &keys, &options);
}

/* flag_of -- a field that is true or false. */
static bool flag_of(const bson_t *part, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, part, name) && bson_iter_as_bool(&iter);
}

/* play_again -- drops and builds the index of that name. */
static bool play_again(world *w, const bson_t *part) {
    bson_iter_t name;
    if (!bson_iter_init_find(&name, part, "name") || !BSON_ITER_HOLDS_UTF8(&name))
        return false;
    for (size_t i = 0; i < w->index_count; i++) {
        if (strcmp(w->indexes[i].name, bson_iter_utf8(&name, NULL)) == 0)
            return world_index_again(w, i, flag_of(part, "background"));
    }
    return false;
}

/* play_remove -- removes what its query finds. */
static bool play_remove(world *w, const bson_t *part) {
    bson_t query, hints;
    return sub_document(part, "query", &query) && sub_document(part, "hints", &hints) &&
           world_remove(w, &query, &hints);
}

/* play_part -- one step. */
static bool play_part(world *w, const shrink_part *part) {
    if (strcmp(part->role, "document") == 0)
        return world_save(w, part->value);
    if (strcmp(part->role, "index") == 0)
        return play_index(w, part->value);
    if (strcmp(part->role, "again") == 0)
        return play_again(w, part->value);
    if (strcmp(part->role, "remove") == 0)
        return play_remove(w, part->value);
    return w->folder && world_reopen(w, flag_of(part->value, "rebuild"));
}

/* play -- the parts one after the other in a new world, up to the first difference or to one that
 * makes no sense. */
static void play(world *w, const shrink_case *c, replay *r) {
    const bson_t *query = NULL, *hints = NULL;
    bool same = true;
    world_open(w, r->stored, r->small, &r->counts);
    w->plays = true;
    for (size_t i = 0; same && i < c->count; i++) {
        const shrink_part *part = &c->parts[i];
        if (strcmp(part->role, "query") == 0)
            query = part->value;
        else if (strcmp(part->role, "hints") == 0)
            hints = part->value;
        else
            same = play_part(w, part);
    }
    if (same && query && hints)
        world_ask(w, query, hints);
}

/* shows -- whether a case shows the difference again, and not another one. */
static bool shows(const shrink_case *c, void *context) {
    replay *r = context;
    world w;
    play(&w, c, r);
    const world_difference *met = &w.difference;
    bool result = met->what && strcmp(met->what, r->wanted->what) == 0 &&
                  met->status == r->wanted->status &&
                  (met->status == TANSU_OK || strcmp(met->engine, r->wanted->engine) == 0);
    world_close(&w);
    return result;
}

/* add_documents / add_indexes -- what the world has, as parts. */
static void add_documents(shrink_case *c, const world *w) {
    for (size_t i = 0; i < w->count; i++)
        shrink_add(c, "document", w->docs[i], true);
}
static void add_indexes(shrink_case *c, const world *w) {
    for (size_t i = 0; i < w->index_count; i++) {
        const world_index *index = &w->indexes[i];
        bson_t *part = BCON_NEW("name", BCON_UTF8(index->name), "keys", BCON_DOCUMENT(index->keys),
                                "options", BCON_DOCUMENT(index->options));
        shrink_add(c, "index", part, true);
        bson_destroy(part);
    }
}

/* add_reopen -- closing and opening again. */
static void add_reopen(shrink_case *c, bool rebuild) {
    bson_t *part = BCON_NEW("rebuild", BCON_BOOL(rebuild));
    shrink_add(c, "reopen", part, true);
    bson_destroy(part);
}

/* print_answers -- what was asked and said. */
static void print_answers(const world_difference *d) {
    char *hints = d->asked ? bson_as_canonical_extended_json(d->asked, NULL) : NULL;
    check_note("%s%s%s: %s\n  engine: %s\n  model: %s", d->what, hints ? " with hints " : "",
               hints ? hints : "", tansu_status_name(d->status), d->engine, d->model);
    bson_free(hints);
}

/* print_case -- the parts and the answers that it gives. */
static void print_case(const shrink_case *c, replay *r) {
    world w;
    shrink_print(c);
    play(&w, c, r);
    print_answers(&w.difference);
    world_close(&w);
}

/* How the case is put together: first from what is there, then from all that was done. */
typedef enum way { IN_MEMORY, INDEXES_FIRST, REOPENED, REBUILT, HISTORY, WAYS } way;

/* make_case -- by one of the ways. */
static shrink_case make_case(const world *w, way way) {
    static const char *const questions[] = {"explain", "find", "count"};
    const shrink_case *history = &w->history;
    const world_difference *d = &w->difference;
    shrink_case c = {NULL, 0};
    bool question = false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        question = question || strcmp(d->what, questions[i]) == 0;
    if (way == HISTORY) {
        for (size_t i = 0; i < history->count; i++)
            shrink_add(&c, history->parts[i].role, history->parts[i].value, true);
    } else {
        if (way == INDEXES_FIRST)
            add_indexes(&c, w);
        add_documents(&c, w);
        if (way != INDEXES_FIRST)
            add_indexes(&c, w);
        if (way == REOPENED || way == REBUILT)
            add_reopen(&c, way == REBUILT);
        if (!question && history->count > 0) {
            const shrink_part *last = &history->parts[history->count - 1];
            shrink_add(&c, last->role, last->value, true);
        }
    }
    if (question) {
        shrink_add(&c, "hints", d->hints, false);
        shrink_add(&c, "query", d->query, false);
    }
    return c;
}

/* find_smallest -- the case by the first of the ways that shows the difference again; by the last of
 * them, all that was done, and false when none does. */
static bool find_smallest(const world *w, size_t steps, shrink_case *c, replay *r, size_t *taken) {
    *r = (replay){.wanted = &w->difference, .small = w->options.index_cache_bytes == 1};
    for (way way = IN_MEMORY;; way++) {
        *c = make_case(w, way);
        r->stored = way == REOPENED || way == REBUILT || (way == HISTORY && w->folder);
        bool shown = shows(c, r);
        if (shown)
            *taken = shrink(c, shows, r, steps);
        if (shown || way == HISTORY)
            return shown;
        shrink_end(c);
    }
}

/* world_smallest -- see world.h. */
bool world_smallest(const world *w, size_t steps, shrink_case *c) {
    replay r;
    size_t taken;
    return find_smallest(w, steps, c, &r, &taken);
}

/* world_tell -- see world.h. */
void world_tell(const world *w, size_t steps) {
    replay r;
    size_t taken;
    shrink_case c;
    if (find_smallest(w, steps, &c, &r, &taken)) {
        check_note("smallest case, in %s, after %zu steps:", r.stored ? "a folder" : "memory",
                   taken);
        print_case(&c, &r);
    } else {
        check_note("not met again; all that was done:");
        shrink_print(&c);
        print_answers(&w->difference);
    }
    shrink_end(&c);
}
