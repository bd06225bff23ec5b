/*
 * query/update/update_target.c -- resolves paths with `$`, `$[]` and `$[name]` to targets in one
 * document, and detects conflicts. Targets are changed in sorted order, so new fields are in the
 * order of their names, numbers first and by value.
 */
#include "bson/writer.h"
#include "query/match/first_element.h"
#include "query/update/update_internal.h"
#include "query/util/key_set.h"

#include <stdio.h>
#include <stdlib.h>

/* part_compare -- array positions first, by number, then names by bytes. */
static int part_compare(const path_part *a, const path_part *b) {
    if (a->index >= 0 && b->index >= 0)
        return a->index < b->index ? -1 : a->index > b->index;
    if (a->index >= 0 || b->index >= 0)
        return a->index >= 0 ? -1 : 1;
    int order = memcmp(a->name, b->name, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : a->size < b->size ? -1 : a->size > b->size;
}

/* target_compare -- by parts; a target that contains another comes first. */
static int target_compare(const void *left, const void *right) {
    const target *a = left, *b = right;
    uint32_t count = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < count; i++) {
        int order = part_compare(&a->parts[i], &b->parts[i]);
        if (order != 0)
            return order;
    }
    return a->count < b->count ? -1 : a->count > b->count;
}

/* text_of -- a target as a dotted path. */
static void text_of(const target *t, char *text, size_t capacity) {
    size_t size = 0;
    for (uint32_t i = 0; i < t->count && size < capacity; i++) {
        int more = snprintf(text + size, capacity - size, i == 0 ? "%s" : ".%s", t->parts[i].name);
        size += (size_t)more;
    }
}

tansu_status targets_check(target *targets, uint32_t count, tansu_error *error) {
    if (count > 1)
        qsort(targets, count, sizeof *targets, target_compare);
    /* Targets within a target directly follow it. */
    for (uint32_t i = 1; i < count; i++) {
        const target *a = &targets[i - 1], *b = &targets[i];
        target cut = *b;
        if (a->count > b->count)
            continue;
        cut.count = a->count;
        if (target_compare(a, &cut) != 0)
            continue;
        char first[160], second[160];
        text_of(a, first, sizeof first);
        text_of(b, second, sizeof second);
        return bad_context(
            error, second,
            "\"%s\" of \"%s\" and \"%s\" of \"%s\" conflict; an update can change a path "
            "only once",
            a->operation->name, first, b->operation->name, second);
    }
    return TANSU_OK;
}

/* A lookup of a key or position, and its result. */
typedef struct step {
    const uint8_t *in; /* the document's bytes */
    const char *name;
    uint32_t name_size;
    doc_value child;
} step;

/* An element of an array that passes a filter. */
typedef struct passing {
    path_part part; /* its position */
    doc_value value;
} passing;

/* The elements that pass, as they were found for the last array. Consecutive operators often have
 * the same array and filter, and the document does not change before all targets are found. */
typedef struct passed_elements {
    const uint8_t *in; /* the array's bytes; NULL: none */
    const array_filter *filter;
    passing *list;
    uint32_t count;
    uint32_t capacity;
} passed_elements;

/* A search in one document. */
typedef struct search {
    arena *memory;
    target *targets;
    uint32_t count;
    uint32_t capacity;
    const update_case *how;
    const uint8_t *doc;
    size_t size;
    const operation *operation;
    path_part parts[TANSU_MAX_DEPTH + 1];
    step steps[TANSU_MAX_DEPTH + 1];             /* the last lookup at each depth */
    passed_elements passed[TANSU_MAX_DEPTH + 1]; /* likewise */
    tansu_error *error;
    path_part *last_parts; /* the array of the last `$`; NULL: none */
    uint32_t last_count;
    bool last_known;
    uint32_t last_position;
    const path **query_paths; /* NULL: not listed yet */
    uint32_t query_path_count;
    bool other_known; /* an array on one of them has an element that matched */
    uint32_t other_position;
} search;

/* add_target -- adds a target: the parts so far and the rest of the operator's path. */
static tansu_status add_target(search *s, uint32_t depth) {
    const path *p = s->operation->path;
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity == 0 ? 16 : s->capacity * 2;
        target *targets = arena_alloc(s->memory, capacity * sizeof *targets);
        if (targets == NULL)
            return error_memory(s->error);
        if (s->count != 0)
            memcpy(targets, s->targets, s->count * sizeof *targets);
        s->targets = targets;
        s->capacity = capacity;
    }
    path_part *parts = arena_alloc(s->memory, p->count * sizeof *parts);
    if (parts == NULL)
        return error_memory(s->error);
    memcpy(parts, s->parts, depth * sizeof *parts);
    memcpy(parts + depth, p->parts + depth, (p->count - depth) * sizeof *parts);
    s->targets[s->count++] = (target){.operation = s->operation, .parts = parts, .count = p->count};
    return TANSU_OK;
}

/* position_part -- a position in an array as a part of a path. */
static tansu_status position_part(search *s, int64_t position, path_part *part) {
    char text[24];
    int size = snprintf(text, sizeof text, "%lld", (long long)position);
    part->name = arena_copy(s->memory, text, (size_t)size);
    part->size = (uint32_t)size;
    part->index = (int32_t)position;
    return part->name != NULL ? TANSU_OK : error_memory(s->error);
}

static tansu_status resolve(search *s, uint32_t depth, const doc_value *at);

/* resolve_part -- continues below a part that is known. */
static tansu_status resolve_part(search *s, uint32_t depth, const doc_value *at) {
    const path_part *part = &s->parts[depth];
    step *last = &s->steps[depth];
    doc_value child = {.type = DOC_MISSING};
    if (at->type != DOC_DOCUMENT && (at->type != DOC_ARRAY || part->index < 0))
        return resolve(s, depth + 1, &child);
    /* Consecutive operators often share the first parts. */
    if (last->in != at->data || last->name_size != part->size ||
        memcmp(last->name, part->name, part->size) != 0) {
        doc_find(at->data, at->size, part->name, part->size, &child);
        *last = (step){at->data, part->name, part->size, child};
    }
    child = last->child;
    return resolve(s, depth + 1, &child);
}

/* add_passing -- adds an element to those that pass. */
static tansu_status add_passing(search *s, passed_elements *p, int64_t position,
                                const doc_value *value) {
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity == 0 ? 16 : p->capacity * 2;
        passing *list = arena_alloc(s->memory, capacity * sizeof *list);
        if (list == NULL)
            return error_memory(s->error);
        if (p->count != 0)
            memcpy(list, p->list, p->count * sizeof *list);
        p->list = list;
        p->capacity = capacity;
    }
    passing *added = &p->list[p->count++];
    added->value = *value;
    return position_part(s, position, &added->part);
}

/* pass_elements -- finds the elements of an array that pass a filter, or all of them. */
static tansu_status pass_elements(search *s, passed_elements *p, const array_filter *filter,
                                  const doc_value *array) {
    doc_iter iter;
    int64_t number = 0;
    if (p->in == array->data && p->filter == filter)
        return TANSU_OK;
    p->in = NULL;
    p->count = 0;
    doc_iter_value(&iter, array);
    for (; doc_iter_next(&iter); number++) {
        bool passes = true;
        tansu_status status = match_step(s->how->context, 1)
                                  ? TANSU_OK
                                  : match_context_status(s->how->context, s->error);
        if (status == TANSU_OK && filter != NULL)
            status = filter_passes(filter, s->how->context, &iter.value, &passes, s->error);
        if (status == TANSU_OK && passes)
            status = add_passing(s, p, number, &iter.value);
        if (status != TANSU_OK)
            return status;
    }
    p->in = array->data;
    p->filter = filter;
    return TANSU_OK;
}

/* resolve_elements -- continues with all elements of an array, or with those that a filter
 * passes. */
static tansu_status resolve_elements(search *s, uint32_t depth, const doc_value *at) {
    const operation *o = s->operation;
    const array_filter *filter = o->dynamics[depth] == DYNAMIC_FILTERED ? o->filters[depth] : NULL;
    if (at->type == DOC_MISSING)
        return bad_update(s->error, o,
                          "Path leads to the elements of an array that the document does not have; "
                          "create it with \"$set\" first");
    if (at->type != DOC_ARRAY)
        return bad_update(
            s->error, o,
            "Path leads to the elements of an array, but the value in the document is "
            "not an array; set it to one with \"$set\"");
    passed_elements *p = &s->passed[depth];
    tansu_status status = pass_elements(s, p, filter, at);
    for (uint32_t i = 0; status == TANSU_OK && i < p->count; i++) {
        s->parts[depth] = p->list[i].part;
        status = match_step(s->how->context, 1) ? resolve(s, depth + 1, &p->list[i].value)
                                                : match_context_status(s->how->context, s->error);
    }
    return status;
}

/* find_element -- the position of the first element by which the query matched an array. */
static bool find_element(search *s, const path *array, uint32_t *position) {
    return match_first_element(s->how->matched->root, s->how->context, s->doc, s->size, array, true,
                               position);
}

/* list_paths -- the paths of the query in the order in which they were written, which is the
 * reverse of the linked list. */
static bool list_paths(search *s) {
    uint32_t count = 0;
    for (const path_link *link = s->how->matched->paths; link != NULL; link = link->next)
        count++;
    s->query_paths = arena_alloc(s->memory, (count + 1) * sizeof *s->query_paths);
    if (s->query_paths == NULL)
        return false;
    s->query_path_count = count;
    for (const path_link *link = s->how->matched->paths; link != NULL; link = link->next)
        s->query_paths[--count] = &link->path;
    return true;
}

/* find_on_query_paths -- the same for the first array on any path of the query. It does not depend
 * on the operator. */
static tansu_status find_on_query_paths(search *s) {
    if (s->query_paths != NULL)
        return TANSU_OK;
    if (!list_paths(s))
        return error_memory(s->error);
    for (uint32_t i = 0; i < s->query_path_count && !s->other_known; i++) {
        path front = *s->query_paths[i];
        for (front.count = 1; front.count <= s->query_paths[i]->count && !s->other_known;
             front.count++) {
            s->other_known =
                match_step(s->how->context, 1) && find_element(s, &front, &s->other_position);
        }
    }
    return match_context_status(s->how->context, s->error);
}

/* find_in_array -- the position in the array before the `$`. Consecutive operators often have the
 * same array. */
static tansu_status find_in_array(search *s, const path *array) {
    const path last = {.parts = s->last_parts, .count = s->last_count};
    if (s->last_parts == NULL || !path_equal(&last, array)) {
        s->last_parts = arena_alloc(s->memory, array->count * sizeof *s->last_parts);
        if (s->last_parts == NULL)
            return error_memory(s->error);
        memcpy(s->last_parts, array->parts, array->count * sizeof *s->last_parts);
        s->last_count = array->count;
        s->last_known = find_element(s, array, &s->last_position);
    }
    return match_context_status(s->how->context, s->error);
}

/* first_element -- resolves `$`: to a position in the array before it, if the query has a condition
 * on that array; otherwise in the first array on which it has one, as with two parallel arrays. */
static tansu_status first_element(search *s, uint32_t depth) {
    const operation *o = s->operation;
    const path array = {.parts = s->parts, .count = depth, .text = o->path->text};
    uint32_t position = 0;
    bool known = false;
    if (s->how->matched != NULL) {
        tansu_status status = find_in_array(s, &array);
        if (status == TANSU_OK && !s->last_known)
            status = find_on_query_paths(s);
        if (status != TANSU_OK)
            return status;
        known = s->last_known || s->other_known;
        position = s->last_known ? s->last_position : s->other_position;
    }
    if (!known)
        return bad_update(
            s->error, o,
            "Path has a $, but the query has no condition that determines the element; "
            "add one, or use \"$[]\" or \"$[name]\"");
    return position_part(s, position, &s->parts[depth]);
}

/* resolve -- finds the targets below a value; `at` is DOC_MISSING where there is none. The length
 * of the path bounds the recursion. */
static tansu_status resolve(search *s, uint32_t depth, const doc_value *at) {
    const operation *o = s->operation;
    uint32_t next = depth;
    while (next < o->path->count && (o->dynamics == NULL || o->dynamics[next] == DYNAMIC_NONE))
        next++;
    if (next == o->path->count)
        return add_target(s, depth);
    tansu_status status = TANSU_OK;
    switch (o->dynamics[depth]) {
    case DYNAMIC_NONE: s->parts[depth] = o->path->parts[depth]; return resolve_part(s, depth, at);
    case DYNAMIC_FIRST:
        status = first_element(s, depth);
        return status == TANSU_OK ? resolve_part(s, depth, at) : status;
    default: return resolve_elements(s, depth, at);
    }
}

tansu_status targets_find(const update *u, arena *memory, const uint8_t *doc, size_t size,
                          const update_case *how, target **targets, uint32_t *count,
                          tansu_error *error) {
    if (!u->dynamic) {
        *targets = u->targets;
        *count = u->target_count;
        return TANSU_OK;
    }
    search s = {.memory = memory, .how = how, .doc = doc, .size = size, .error = error};
    doc_value whole = {.data = doc, .size = (uint32_t)size, .type = DOC_DOCUMENT};
    for (const operation *o = u->first; o != NULL; o = o->next) {
        if (o->kind == OPERATOR_SET_ON_INSERT && !how->inserting)
            continue;
        s.operation = o;
        tansu_status status = resolve(&s, 0, &whole);
        if (status == TANSU_OK && o->kind == OPERATOR_RENAME) {
            status = add_target(&s, 0);
            if (status == TANSU_OK) {
                target *to = &s.targets[s.count - 1];
                to->source = true;
                s.targets[s.count - 2].parts = o->to->parts;
                s.targets[s.count - 2].count = o->to->count;
            }
        }
        if (status != TANSU_OK)
            return status;
    }
    *targets = s.targets;
    *count = s.count;
    return targets_check(s.targets, s.count, error);
}

/* ---- A document as a tree of items, expanded only where it changes ---- */

item *item_new(arena *memory, const doc_value *value) {
    item *i = arena_alloc(memory, sizeof *i);
    if (i != NULL)
        i->value = *value;
    return i;
}

/* reserve -- ensures capacity for one more child. */
static bool reserve(arena *memory, item *parent) {
    if (parent->count < parent->capacity)
        return true;
    uint32_t capacity = parent->capacity < 8 ? 16 : parent->capacity * 2;
    item **children = arena_alloc(memory, capacity * sizeof *children);
    if (children == NULL)
        return false;
    if (parent->count != 0)
        memcpy(children, parent->children, parent->count * sizeof *children);
    parent->children = children;
    parent->capacity = capacity;
    return true;
}

bool item_open(arena *memory, item *i) {
    doc_iter iter;
    if (i->open)
        return true;
    doc_iter_value(&iter, &i->value);
    while (doc_iter_next(&iter)) {
        item *child = item_new(memory, &iter.value);
        if (child == NULL || !reserve(memory, i))
            return false;
        child->key = iter.key;
        child->key_size = iter.key_size;
        i->children[i->count++] = child;
    }
    i->open = true;
    return true;
}

#define FEW_CHILDREN 16 /* are searched one by one */

/* A key and its position among the children. */
typedef struct named {
    key_set_item head;
    uint32_t at;
} named;

/* put_name -- adds the position of a key. `replace`: also when the key has one. */
static bool put_name(arena *memory, item *i, uint32_t at, bool replace) {
    const item *child = i->children[at];
    bool added;
    size_t used = 0;
    named *n = (named *)key_set_add(i->by_name, memory, (const uint8_t *)child->key,
                                    child->key_size + 1, sizeof *n, &added, &used);
    if (n == NULL)
        return false;
    if (added || replace)
        n->at = at;
    return true;
}

/* make_names -- builds the set of the keys of a document with many. Without memory there is
 * none. */
static void make_names(arena *memory, item *i) {
    i->by_name = arena_alloc(memory, sizeof *i->by_name);
    for (uint32_t at = 0; i->by_name != NULL && at < i->count; at++) {
        if (i->children[at] != NULL && !put_name(memory, i, at, false))
            i->by_name = NULL;
    }
}

item *item_find(arena *memory, item *i, const path_part *part, uint32_t *at) {
    if (i->value.type == DOC_ARRAY) {
        *at = (uint32_t)part->index;
        return part->index >= 0 && *at < i->count ? i->children[*at] : NULL;
    }
    if (i->by_name == NULL && i->count > FEW_CHILDREN)
        make_names(memory, i);
    if (i->by_name != NULL) {
        const named *n = (const named *)key_set_find_name(i->by_name, part->name, part->size);
        *at = n != NULL ? n->at : i->count;
        return n != NULL ? i->children[n->at] : NULL;
    }
    for (*at = 0; *at < i->count; ++*at) {
        const item *child = i->children[*at];
        if (child != NULL && child->key_size == part->size &&
            memcmp(child->key, part->name, part->size) == 0)
            return i->children[*at];
    }
    return NULL;
}

bool item_insert(arena *memory, item *parent, uint32_t at, item *child) {
    if (!reserve(memory, parent))
        return false;
    memmove(parent->children + at + 1, parent->children + at,
            (parent->count - at) * sizeof *parent->children);
    parent->children[at] = child;
    /* The set of keys stays valid as long as children are only appended. */
    if (at != parent->count++)
        parent->by_name = NULL;
    return parent->by_name == NULL || put_name(memory, parent, at, true);
}

void item_remove(item *parent, uint32_t at) {
    if (parent->by_name != NULL) {
        parent->children[at] = NULL;
        return;
    }
    parent->count--;
    memmove(parent->children + at, parent->children + at + 1,
            (parent->count - at) * sizeof *parent->children);
}

void item_set(item *i, const doc_value *value) {
    i->value = *value;
    i->open = false;
    i->children = NULL;
    i->count = i->capacity = 0;
    i->by_name = NULL;
}

/* An operand may be copied to many elements, so writing stops at the limit. */
#define MAX_ITEM_SIZE ((size_t)TANSU_MAX_DOCUMENT_SIZE)

/* write_value -- appends the value of an item whose type and key are written. The depth of the
 * document and of the paths bounds the recursion. */
static void write_value(const item *i, writer *w) {
    if (!i->open) {
        writer_bytes(w, i->value.data, i->value.size);
        return;
    }
    size_t start = writer_begin(w);
    for (uint32_t n = 0; n < i->count && !w->failed; n++) {
        const item *child = i->children[n];
        if (child == NULL)
            continue;
        if (i->value.type == DOC_ARRAY)
            writer_index_head(w, child->value.type, n);
        else
            writer_head(w, child->value.type, child->key, child->key_size);
        write_value(child, w);
    }
    writer_end(w, start);
}

bool item_raw(arena *memory, const item *i, doc_value *value) {
    *value = i->value;
    if (!i->open)
        return true;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    writer w = {.out = &bytes, .limit = MAX_ITEM_SIZE};
    write_value(i, &w);
    bool done = !w.failed;
    value->size = (uint32_t)bytes.size;
    value->data = done ? arena_copy(memory, bytes.data, bytes.size) : NULL;
    tansu_buffer_free(&bytes);
    return value->data != NULL;
}

tansu_status item_write(const item *root, tansu_buffer *out, tansu_error *error) {
    out->size = 0;
    writer w = {.out = out, .limit = MAX_ITEM_SIZE};
    write_value(root, &w);
    if (w.over_limit)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "Updated document would exceed %d bytes; split it into several documents",
                         TANSU_MAX_DOCUMENT_SIZE);
    return w.failed ? error_memory(error) : TANSU_OK;
}
