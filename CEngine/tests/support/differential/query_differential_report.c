/*
 * support/differential/query_differential_report.c -- reports a difference by the smallest case
 * that still shows it.
 */
#include "support/check.h"
#include "support/differential/query_differential.h"

#include <stdio.h>
#include <string.h>

/* How a case is played again, and what must come of it. */
typedef struct replay {
    bool stored, small;
    const differential_mismatch *wanted;
    differential_counts counts;
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

/* run_index -- creates it; without a name, keys or options the case makes no sense. */
static bool run_index(differential *w, const bson_t *part) {
    bson_t keys, options;
    bson_iter_t name;
    if (!bson_iter_init_find(&name, part, "name") || !BSON_ITER_HOLDS_UTF8(&name) ||
        !sub_document(part, "keys", &keys) || !sub_document(part, "options", &options))
        return false;
    return differential_create_index(w, bson_iter_utf8(&name, NULL), &keys, &options);
}

/* flag_of -- a field that is true or false. */
static bool flag_of(const bson_t *part, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, part, name) && bson_iter_as_bool(&iter);
}

/* run_again -- drops and builds the index of that name. */
static bool run_again(differential *w, const bson_t *part) {
    bson_iter_t name;
    if (!bson_iter_init_find(&name, part, "name") || !BSON_ITER_HOLDS_UTF8(&name))
        return false;
    for (size_t i = 0; i < w->index_count; i++) {
        if (strcmp(w->indexes[i].name, bson_iter_utf8(&name, NULL)) == 0)
            return differential_rebuild_index(w, i, flag_of(part, "background"));
    }
    return false;
}

/* run_remove -- removes what its query finds. */
static bool run_remove(differential *w, const bson_t *part) {
    bson_t query, hints;
    return sub_document(part, "query", &query) && sub_document(part, "hints", &hints) &&
           differential_remove(w, &query, &hints);
}

/* run_part -- one step. */
static bool run_part(differential *w, const reduction_part *part) {
    if (strcmp(part->role, "document") == 0)
        return differential_save(w, part->value);
    if (strcmp(part->role, "index") == 0)
        return run_index(w, part->value);
    if (strcmp(part->role, "again") == 0)
        return run_again(w, part->value);
    if (strcmp(part->role, "remove") == 0)
        return run_remove(w, part->value);
    return w->folder && differential_reopen(w, flag_of(part->value, "rebuild"));
}

/* play -- the parts one after the other in a new collection, up to the first difference or to
 * one that makes no sense. */
static void play(differential *w, const reduction_case *c, replay *r) {
    const bson_t *query = NULL, *hints = NULL;
    bool same = true;
    differential_open(w, r->stored, r->small, &r->counts);
    w->plays = true;
    for (size_t i = 0; same && i < c->count; i++) {
        const reduction_part *part = &c->parts[i];
        if (strcmp(part->role, "query") == 0)
            query = part->value;
        else if (strcmp(part->role, "hints") == 0)
            hints = part->value;
        else
            same = run_part(w, part);
    }
    if (same && query && hints)
        differential_query(w, query, hints);
}

/* shows -- whether a case shows the difference again, and not another one. */
static bool shows(const reduction_case *c, void *context) {
    replay *r = context;
    differential w;
    play(&w, c, r);
    const differential_mismatch *met = &w.difference;
    bool result = met->what && strcmp(met->what, r->wanted->what) == 0 &&
                  met->status == r->wanted->status &&
                  (met->status == TANSU_OK || strcmp(met->engine, r->wanted->engine) == 0);
    differential_close(&w);
    return result;
}

/* add_documents / add_indexes -- what the collection has, as parts. */
static void add_documents(reduction_case *c, const differential *w) {
    for (size_t i = 0; i < w->count; i++)
        reduction_add(c, "document", w->docs[i], true);
}
static void add_indexes(reduction_case *c, const differential *w) {
    for (size_t i = 0; i < w->index_count; i++) {
        const differential_index *index = &w->indexes[i];
        bson_t *part = BCON_NEW("name", BCON_UTF8(index->name), "keys", BCON_DOCUMENT(index->keys),
                                "options", BCON_DOCUMENT(index->options));
        reduction_add(c, "index", part, true);
        bson_destroy(part);
    }
}

/* add_reopen -- closing and opening again. */
static void add_reopen(reduction_case *c, bool rebuild) {
    bson_t *part = BCON_NEW("rebuild", BCON_BOOL(rebuild));
    reduction_add(c, "reopen", part, true);
    bson_destroy(part);
}

/* print_answers -- what was asked and said. */
static void print_answers(const differential_mismatch *d) {
    char *hints = d->asked ? bson_as_canonical_extended_json(d->asked, NULL) : NULL;
    check_note("%s%s%s: %s\n  engine: %s\n  model: %s", d->what, hints ? " with hints " : "",
               hints ? hints : "", tansu_status_name(d->status), d->engine, d->model);
    bson_free(hints);
}

/* print_case -- the parts and the answers that it gives. */
static void print_case(const reduction_case *c, replay *r) {
    differential w;
    reduction_print(c);
    play(&w, c, r);
    print_answers(&w.difference);
    differential_close(&w);
}

/* How the case is put together: first from what is there, then from all that was done. */
typedef enum way { IN_MEMORY, INDEXES_FIRST, REOPENED, REBUILT, HISTORY, WAYS } way;

/* make_case -- by one of the ways. */
static reduction_case make_case(const differential *w, way way) {
    static const char *const questions[] = {"explain", "find", "count"};
    const reduction_case *history = &w->history;
    const differential_mismatch *d = &w->difference;
    reduction_case c = {NULL, 0};
    bool question = false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        question = question || strcmp(d->what, questions[i]) == 0;
    if (way == HISTORY) {
        for (size_t i = 0; i < history->count; i++)
            reduction_add(&c, history->parts[i].role, history->parts[i].value, true);
    } else {
        if (way == INDEXES_FIRST)
            add_indexes(&c, w);
        add_documents(&c, w);
        if (way != INDEXES_FIRST)
            add_indexes(&c, w);
        if (way == REOPENED || way == REBUILT)
            add_reopen(&c, way == REBUILT);
        if (!question && history->count > 0) {
            const reduction_part *last = &history->parts[history->count - 1];
            reduction_add(&c, last->role, last->value, true);
        }
    }
    if (question) {
        reduction_add(&c, "hints", d->hints, false);
        reduction_add(&c, "query", d->query, false);
    }
    return c;
}

/* find_smallest -- the case by the first of the ways that shows the difference again; by the
 * last of them, all that was done, and false when none does. */
static bool find_smallest(const differential *w, size_t steps, reduction_case *c, replay *r,
                          size_t *taken) {
    *r = (replay){.wanted = &w->difference, .small = w->options.index_cache_bytes == 1};
    for (way way = IN_MEMORY;; way++) {
        *c = make_case(w, way);
        r->stored = way == REOPENED || way == REBUILT || (way == HISTORY && w->folder);
        bool shown = shows(c, r);
        if (shown)
            *taken = reduce_case(c, shows, r, steps);
        if (shown || way == HISTORY)
            return shown;
        reduction_free(c);
    }
}

bool differential_minimise(const differential *w, size_t steps, reduction_case *c) {
    replay r;
    size_t taken;
    return find_smallest(w, steps, c, &r, &taken);
}

void differential_report(const differential *w, size_t steps) {
    replay r;
    size_t taken;
    reduction_case c;
    if (find_smallest(w, steps, &c, &r, &taken)) {
        check_note("smallest case, in %s, after %zu steps:", r.stored ? "a folder" : "memory",
                   taken);
        print_case(&c, &r);
    } else {
        check_note("not met again; all that was done:");
        reduction_print(&c);
        print_answers(&w->difference);
    }
    reduction_free(&c);
}
