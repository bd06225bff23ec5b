/*
 * query/update_apply.c -- one document updated: each place is found in the tree, or made, and its
 * operator applied.
 */
#include "query/update_parts.h"

#include <stdio.h>

static const uint8_t empty_bytes[5] = {5};
static const doc_value empty_document = {empty_bytes, 5, DOC_DOCUMENT};
static const doc_value empty_array = {empty_bytes, 5, DOC_ARRAY};
static const doc_value null_value = {empty_bytes, 0, DOC_NULL};

/* ---- Places ---- */

/* fill_up -- nulls up to a position, so that an element can be set there. */
static tansu_status fill_up(arena *memory, item *array, int32_t position, const char *context,
                            tansu_error *error) {
    if (position - (int64_t)array->count > MAX_FILLING)
        return bad_context(error, context,
                           "The array has %u elements: at most %d nulls are put in front of a new "
                           "one.",
                           array->count, MAX_FILLING);
    while ((int64_t)array->count < position) {
        item *null = item_new(memory, &null_value);
        if (null == NULL || !item_insert(memory, array, array->count, null))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* in_the_way -- whether nothing can be at the part of this item. */
static bool in_the_way(const item *at, const path_part *part) {
    return at->value.type != DOC_DOCUMENT && (at->value.type != DOC_ARRAY || part->index < 0);
}

/* not_there -- the error for it. */
static tansu_status not_there(const item *at, const path_part *part, const char *context,
                              tansu_error *error) {
    return bad_context(error, context,
                       at->value.type == DOC_ARRAY
                           ? "There is an array on the path: \"%.60s\" is no position in it; $[] "
                             "leads to all elements."
                           : "There is a value on the path that is no document and no array, and "
                             "so has no field \"%.60s\".",
                       part->name);
}

/* place_child -- the child at a part; a new null when there is none. */
static tansu_status place_child(arena *memory, item *parent, const path_part *part,
                                const char *context, item **child, bool *is_new,
                                tansu_error *error) {
    uint32_t at;
    if (in_the_way(parent, part))
        return not_there(parent, part, context, error);
    if (!item_open(memory, parent))
        return error_memory(error);
    *child = item_find(memory, parent, part, &at);
    *is_new = *child == NULL;
    if (!*is_new)
        return TANSU_OK;
    if (parent->value.type == DOC_ARRAY) {
        tansu_status status = fill_up(memory, parent, part->index, context, error);
        if (status != TANSU_OK)
            return status;
    }
    *child = item_new(memory, &null_value);
    if (*child == NULL)
        return error_memory(error);
    (*child)->key = part->name;
    (*child)->key_size = part->size;
    return item_insert(memory, parent, parent->count, *child) ? TANSU_OK : error_memory(error);
}

tansu_status place_make(arena *memory, item *root, const path_part *parts, uint32_t count,
                        const char *context, item **result, bool *is_new, tansu_error *error) {
    item *at = root;
    for (uint32_t i = 0; i < count; i++) {
        item *child = NULL;
        tansu_status status = place_child(memory, at, &parts[i], context, &child, is_new, error);
        if (status != TANSU_OK)
            return status;
        if (*is_new && i + 1 < count)
            item_set(child, &empty_document);
        at = child;
    }
    *result = at;
    return TANSU_OK;
}

/* A place that is looked for, and not made. */
typedef struct place {
    item *parent;
    item *item;  /* NULL: there is nothing */
    uint32_t at; /* in the parent */
} place;

/* place_look -- finds it. `strict`: a scalar, or an array without a position, on the way is an
 * error. */
static tansu_status place_look(applying *a, const target *t, bool strict, place *p) {
    char context[sizeof a->error->context];
    p->item = a->root;
    for (uint32_t i = 0; i < t->count; i++) {
        p->parent = p->item;
        p->item = NULL;
        if (in_the_way(p->parent, &t->parts[i])) {
            snprintf(context, sizeof context, "%s.%s", t->operation->name,
                     t->operation->path->text);
            return strict ? not_there(p->parent, &t->parts[i], context, a->error) : TANSU_OK;
        }
        if (!item_open(&a->memory, p->parent))
            return error_memory(a->error);
        p->item = item_find(&a->memory, p->parent, &t->parts[i], &p->at);
        if (p->item == NULL)
            return TANSU_OK;
    }
    return TANSU_OK;
}

/* ---- Operators on single values ---- */

/* keep_number -- makes an item a number. */
static tansu_status keep_number(applying *a, item *at, const number *n) {
    number *copy = arena_copy(&a->memory, n, sizeof *n);
    if (copy == NULL)
        return error_memory(a->error);
    doc_value value = number_value(copy);
    item_set(at, &value);
    return TANSU_OK;
}

/* calculate -- $inc and $mul. */
static tansu_status calculate(applying *a, const operation *o, item *at, bool is_new) {
    number result;
    if (is_new) {
        if (o->kind == OPERATOR_INC) {
            item_set(at, &o->operand);
            return TANSU_OK;
        }
        number_zero(o->operand.type, &result);
        return keep_number(a, at, &result);
    }
    if (!doc_is_number(&at->value))
        return bad_update(a->error, o, "The value in the document is not a number.");
    enum number_fault fault = o->kind == OPERATOR_INC
                                  ? number_add(&at->value, &o->operand, &result)
                                  : number_multiply(&at->value, &o->operand, &result);
    switch (fault) {
    case NUMBER_OVERFLOW: return bad_update(a->error, o, "The result is too large for its type.");
    case NUMBER_INEXACT:
        return bad_update(a->error, o,
                          "An int64 beyond 2^53 is combined with a double and would lose digits: "
                          "use a whole number or a decimal128.");
    default: return keep_number(a, at, &result);
    }
}

/* combine_bits -- $bit. */
static tansu_status combine_bits(applying *a, const operation *o, item *at, bool is_new) {
    doc_iter iter;
    int64_t bits = 0;
    bool wide = false;
    if (!is_new && at->value.type != DOC_INT32 && at->value.type != DOC_INT64)
        return bad_update(a->error, o, "The value in the document is not an int32 or int64.");
    if (!is_new) {
        wide = at->value.type == DOC_INT64;
        bits = wide ? doc_int64(&at->value) : doc_int32(&at->value);
    }
    doc_iter_value(&iter, &o->operand);
    while (doc_iter_next(&iter)) {
        int64_t mask =
            iter.value.type == DOC_INT64 ? doc_int64(&iter.value) : doc_int32(&iter.value);
        wide = wide || iter.value.type == DOC_INT64;
        bits = iter.key[0] == 'a' ? bits & mask : iter.key[0] == 'o' ? bits | mask : bits ^ mask;
    }
    number result;
    if (wide)
        number_int64(bits, &result);
    else
        number_int32((int32_t)bits, &result);
    return keep_number(a, at, &result);
}

/* set_time -- $currentDate. */
static tansu_status set_time(applying *a, const operation *o, item *at) {
    number time;
    uint64_t now = a->how->now;
    number_int64((int64_t)(o->timestamp ? (now / 1000) << 32 | 1 : now), &time);
    time.type = o->timestamp ? DOC_TIMESTAMP : DOC_DATE;
    return keep_number(a, at, &time);
}

/* keep_extreme -- $min and $max. */
static tansu_status keep_extreme(applying *a, const operation *o, item *at, bool is_new) {
    doc_value value;
    if (!item_raw(&a->memory, at, &value))
        return error_memory(a->error);
    int order = 0;
    if (!is_new && !collation_compare(a->update->collation, a->forms, &o->operand, &value, &order))
        return error_memory(a->error);
    if (is_new || (o->kind == OPERATOR_MIN ? order < 0 : order > 0))
        item_set(at, &o->operand);
    return TANSU_OK;
}

/* change_item -- the operators that make what is not there. */
static tansu_status change_item(applying *a, const operation *o, item *at, bool is_new) {
    switch (o->kind) {
    case OPERATOR_INC:
    case OPERATOR_MUL: return calculate(a, o, at, is_new);
    case OPERATOR_MIN:
    case OPERATOR_MAX: return keep_extreme(a, o, at, is_new);
    case OPERATOR_CURRENT_DATE: return set_time(a, o, at);
    case OPERATOR_BIT: return combine_bits(a, o, at, is_new);
    case OPERATOR_PUSH:
    case OPERATOR_PUSH_ALL:
    case OPERATOR_ADD_TO_SET:
    case OPERATOR_ADD_TO_SET_ALL:
        if (is_new)
            item_set(at, &empty_array);
        return array_apply(a, o, at);
    default: item_set(at, &o->operand); return TANSU_OK;
    }
}

/* ---- Operators that only take away ---- */

/* unset -- takes a field away; an array's element becomes null, so that the others stay where they
 * are. */
static tansu_status unset(applying *a, const target *t) {
    place p;
    tansu_status status = place_look(a, t, false, &p);
    if (status != TANSU_OK || p.item == NULL)
        return status;
    if (p.parent->value.type == DOC_ARRAY)
        item_set(p.item, &null_value);
    else
        item_remove(p.parent, p.at);
    return TANSU_OK;
}

/* through_array -- whether there is an array on the way to a place. */
static bool through_array(applying *a, const target *t) {
    item *at = a->root;
    uint32_t number;
    for (uint32_t i = 0; i < t->count && at != NULL; i++) {
        if (at->value.type == DOC_ARRAY)
            return true;
        at = at->open ? item_find(&a->memory, at, &t->parts[i], &number) : NULL;
    }
    return false;
}

/* rename_field -- moves a value to another place; `t` is where to. */
static tansu_status rename_field(applying *a, const target *t) {
    const operation *o = t->operation;
    const target source = {.operation = o, .parts = o->path->parts, .count = o->path->count};
    char context[sizeof a->error->context];
    place p;
    tansu_status status = place_look(a, &source, true, &p);
    if (status != TANSU_OK || p.item == NULL)
        return status;
    place there;
    status = place_look(a, t, true, &there);
    if (status != TANSU_OK)
        return status;
    if (through_array(a, &source) || through_array(a, t))
        return bad_update(a->error, o, "A field of an array can't be renamed, nor become one.");
    item moved = *p.item;
    item_remove(p.parent, p.at);
    item *to;
    bool is_new;
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    status = place_make(&a->memory, a->root, t->parts, t->count, context, &to, &is_new, a->error);
    if (status != TANSU_OK)
        return status;
    moved.key = to->key;
    moved.key_size = to->key_size;
    *to = moved;
    return TANSU_OK;
}

/* ---- All of it ---- */

/* apply_target -- one operator at one place. */
static tansu_status apply_target(applying *a, const target *t) {
    const operation *o = t->operation;
    char context[sizeof a->error->context];
    place p;
    tansu_status status;
    if (t->source || (o->kind == OPERATOR_SET_ON_INSERT && !a->how->inserting))
        return TANSU_OK;
    switch (o->kind) {
    case OPERATOR_UNSET: return unset(a, t);
    case OPERATOR_RENAME: return rename_field(a, t);
    case OPERATOR_PULL:
    case OPERATOR_PULL_ALL:
    case OPERATOR_POP:
        status = place_look(a, t, true, &p);
        return status == TANSU_OK && p.item != NULL ? array_apply(a, o, p.item) : status;
    default: break;
    }
    item *at;
    bool is_new;
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    status = place_make(&a->memory, a->root, t->parts, t->count, context, &at, &is_new, a->error);
    return status == TANSU_OK ? change_item(a, o, at, is_new) : status;
}

/* find_id -- the `_id` of the document, or NULL. */
static item *find_id(applying *a, uint32_t *at) {
    static const path_part part = {.name = "_id", .size = 3, .index = -1};
    return item_find(&a->memory, a->root, &part, at);
}

/* keep_id -- refuses another `_id` than the one before; an equal one of another type gives way. */
static tansu_status keep_id(applying *a, const uint8_t *doc, size_t size) {
    doc_value before, now;
    uint32_t at;
    item *id = find_id(a, &at);
    if (!doc_find(doc, size, "_id", 3, &before))
        return TANSU_OK;
    if (id != NULL && !item_raw(&a->memory, id, &now))
        return error_memory(a->error);
    if (id == NULL || value_compare(&before, &now) != 0)
        return error_set(a->error, TANSU_E_INVALID_ID, "_id",
                         "The update would change the `_id`, which stays as long as the document: "
                         "save the document under the new `_id` and remove this one.");
    item_set(id, &before);
    return TANSU_OK;
}

/* replace -- the new document behind the old `_id`. */
static tansu_status replace(applying *a, const uint8_t *doc, size_t size) {
    doc_value whole = {
        .data = a->update->document, .size = (uint32_t)a->update->size, .type = DOC_DOCUMENT};
    doc_value id;
    uint32_t at;
    item_set(a->root, &whole);
    if (!item_open(&a->memory, a->root))
        return error_memory(a->error);
    item *given = find_id(a, &at);
    if (given == NULL && doc_find(doc, size, "_id", 3, &id)) {
        given = item_new(&a->memory, &id);
        at = a->root->count;
        if (given == NULL)
            return error_memory(a->error);
        given->key = "_id";
        given->key_size = 3;
        if (!item_insert(&a->memory, a->root, at, given))
            return error_memory(a->error);
    }
    if (given == NULL)
        return TANSU_OK;
    item_remove(a->root, at);
    return item_insert(&a->memory, a->root, 0, given) ? TANSU_OK : error_memory(a->error);
}

/* apply_all -- every operator at its places. */
static tansu_status apply_all(applying *a, const uint8_t *doc, size_t size) {
    target *targets;
    uint32_t count;
    tansu_status status =
        targets_find(a->update, &a->memory, doc, size, a->how, &targets, &count, a->error);
    for (uint32_t i = 0; status == TANSU_OK && i < count; i++) {
        status = match_step(a->how->context, 1) ? apply_target(a, &targets[i])
                                                : match_context_status(a->how->context, a->error);
    }
    return status;
}

/* id_first -- an inserted document begins with its `_id`. */
static tansu_status id_first(applying *a) {
    uint32_t at;
    item *id = find_id(a, &at);
    if (id == NULL || at == 0)
        return TANSU_OK;
    item_remove(a->root, at);
    return item_insert(&a->memory, a->root, 0, id) ? TANSU_OK : error_memory(a->error);
}

tansu_status update_apply(const update *u, const uint8_t *doc, size_t size, const update_case *how,
                          tansu_buffer *out, tansu_error *error) {
    doc_value whole = {.data = doc, .size = (uint32_t)size, .type = DOC_DOCUMENT};
    applying a = {.update = u, .how = how, .memory = {.limit = APPLY_MEMORY}, .error = error};
    tansu_status status = TANSU_OK;
    a.root = item_new(&a.memory, &whole);
    if (a.root == NULL || !item_open(&a.memory, a.root))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = u->facts.replaces ? replace(&a, doc, size) : apply_all(&a, doc, size);
    if (status == TANSU_OK)
        status = keep_id(&a, doc, size);
    if (status == TANSU_OK && how->inserting)
        status = id_first(&a);
    if (status == TANSU_OK)
        status = item_write(a.root, out, error);
    if (status == TANSU_E_MEMORY && a.memory.full)
        status =
            error_set(error, TANSU_E_TOO_LARGE, "update",
                      "Updating one document would take more than %zu MiB of memory: use fewer "
                      "operators at once.",
                      APPLY_MEMORY / (1024 * 1024));
    tansu_buffer_free(&a.forms[0]);
    tansu_buffer_free(&a.forms[1]);
    arena_free(&a.memory);
    return status;
}
