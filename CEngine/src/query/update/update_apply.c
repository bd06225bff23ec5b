/*
 * query/update/update_apply.c -- updates one document: finds or creates each target and applies its
 * operator.
 */
#include "bson/value.h"
#include "query/update/update_internal.h"

#include <stdio.h>

static const uint8_t empty_bytes[5] = {5};
static const doc_value empty_document = {empty_bytes, 5, DOC_DOCUMENT};
static const doc_value empty_array = {empty_bytes, 5, DOC_ARRAY};
static const doc_value null_value = {empty_bytes, 0, DOC_NULL};

/* ---- Targets ---- */

/* fill_up -- appends nulls up to a position, so that an element can be set there. */
static tansu_status fill_up(arena *memory, item *array, int32_t position, const char *context,
                            tansu_error *error) {
    if (position - (int64_t)array->count > MAX_FILL)
        return bad_context(
            error, context,
            "Position is too far beyond the end of the array, which has %u elements; "
            "at most %d nulls fill the gap",
            array->count, MAX_FILL);
    while ((int64_t)array->count < position) {
        item *null = item_new(memory, &null_value);
        if (null == NULL || !item_insert(memory, array, array->count, null))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* blocks -- whether an item cannot have a child at that part. */
static bool blocks(const item *at, const path_part *part) {
    return at->value.type != DOC_DOCUMENT && (at->value.type != DOC_ARRAY || part->index < 0);
}

/* bad_part -- the error for it. */
static tansu_status bad_part(const item *at, const path_part *part, const char *context,
                             tansu_error *error) {
    return bad_context(error, context,
                       at->value.type == DOC_ARRAY
                           ? "Path leads through an array, and \"%.60s\" is not a position in it; "
                             "use \"$[]\" for all elements"
                           : "Path leads through a value that is neither a document nor an array "
                             "and has no field \"%.60s\"; set the value to a document first",
                       part->name);
}

/* create_child -- finds the child at a part, or creates it as null. */
static tansu_status create_child(arena *memory, item *parent, const path_part *part,
                                 const char *context, item **child, bool *is_new,
                                 tansu_error *error) {
    uint32_t at;
    if (blocks(parent, part))
        return bad_part(parent, part, context, error);
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

tansu_status target_create(arena *memory, item *root, const path_part *parts, uint32_t count,
                           const char *context, item **result, bool *is_new, tansu_error *error) {
    item *at = root;
    for (uint32_t i = 0; i < count; i++) {
        item *child = NULL;
        tansu_status status = create_child(memory, at, &parts[i], context, &child, is_new, error);
        if (status != TANSU_OK)
            return status;
        if (*is_new && i + 1 < count)
            item_set(child, &empty_document);
        at = child;
    }
    *result = at;
    return TANSU_OK;
}

/* The item of a target. */
typedef struct target_item {
    item *parent;
    item *item;  /* NULL: none */
    uint32_t at; /* position in the parent */
} target_item;

/* target_find -- finds the item of a target without creating it. `strict`: a path through a scalar,
 * or through an array without a position, is an error. */
static tansu_status target_find(applying *a, const target *t, bool strict, target_item *p) {
    char context[sizeof a->error->context];
    p->item = a->root;
    for (uint32_t i = 0; i < t->count; i++) {
        p->parent = p->item;
        p->item = NULL;
        if (blocks(p->parent, &t->parts[i])) {
            snprintf(context, sizeof context, "%s.%s", t->operation->name,
                     t->operation->path->text);
            return strict ? bad_part(p->parent, &t->parts[i], context, a->error) : TANSU_OK;
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

/* set_number -- sets an item to a number. */
static tansu_status set_number(applying *a, item *at, const number *n) {
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
        return set_number(a, at, &result);
    }
    if (!doc_is_number(&at->value))
        return bad_update(a->error, o,
                          "Value in the document is not a number; set it to one with \"$set\"");
    enum number_fault fault = o->kind == OPERATOR_INC
                                  ? number_add(&at->value, &o->operand, &result)
                                  : number_multiply(&at->value, &o->operand, &result);
    switch (fault) {
    case NUMBER_OVERFLOW:
        return bad_update(a->error, o, "Result is too large for an int64; use a decimal128");
    case NUMBER_INEXACT:
        return bad_update(
            a->error, o,
            "An int64 beyond 2^53 would lose digits when combined with a double; use a "
            "whole number or a decimal128");
    default: break;
    }
    /* An equal number is no change: -0.0, or the zeros at the end of a decimal, stay. */
    doc_value value = number_value(&result);
    return value.type == at->value.type && value_compare(&value, &at->value) == 0
               ? TANSU_OK
               : set_number(a, at, &result);
}

/* combine_bits -- $bit. */
static tansu_status combine_bits(applying *a, const operation *o, item *at, bool is_new) {
    doc_iter iter;
    int64_t bits = 0;
    bool wide = false;
    if (!is_new && at->value.type != DOC_INT32 && at->value.type != DOC_INT64)
        return bad_update(
            a->error, o,
            "Value in the document is not an int32 or int64; set it to one with \"$set\"");
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
    return set_number(a, at, &result);
}

/* set_time -- $currentDate. */
static tansu_status set_time(applying *a, const operation *o, item *at) {
    number time;
    uint64_t now = a->how->now;
    number_int64((int64_t)(o->timestamp ? (now / 1000) << 32 | 1 : now), &time);
    time.type = o->timestamp ? DOC_TIMESTAMP : DOC_DATE;
    return set_number(a, at, &time);
}

/* keep_extreme -- $min and $max. */
static tansu_status keep_extreme(applying *a, const operation *o, item *at, bool is_new) {
    doc_value value;
    if (!item_raw(&a->memory, at, &value))
        return error_memory(a->error);
    int order = 0;
    if (!is_new &&
        !collation_compare(a->update->collation, a->collated, &o->operand, &value, &order))
        return error_memory(a->error);
    if (is_new || (o->kind == OPERATOR_MIN ? order < 0 : order > 0))
        item_set(at, &o->operand);
    return TANSU_OK;
}

/* change_item -- the operators that create missing values. */
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

/* ---- Operators that only remove ---- */

/* unset -- removes a field. An array element becomes null, so that the others keep their
 * positions. */
static tansu_status unset(applying *a, const target *t) {
    target_item p;
    tansu_status status = target_find(a, t, false, &p);
    if (status != TANSU_OK || p.item == NULL)
        return status;
    if (p.parent->value.type == DOC_ARRAY)
        item_set(p.item, &null_value);
    else
        item_remove(p.parent, p.at);
    return TANSU_OK;
}

/* through_array -- whether a target is below an array. */
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

/* rename_field -- moves a value; `t` is the destination. */
static tansu_status rename_field(applying *a, const target *t) {
    const operation *o = t->operation;
    const target source = {.operation = o, .parts = o->path->parts, .count = o->path->count};
    char context[sizeof a->error->context];
    target_item p;
    tansu_status status = target_find(a, &source, true, &p);
    if (status != TANSU_OK || p.item == NULL)
        return status;
    target_item there;
    status = target_find(a, t, true, &there);
    if (status != TANSU_OK)
        return status;
    if (through_array(a, &source) || through_array(a, t))
        return bad_update(a->error, o,
                          "\"$rename\" does not work in arrays; use \"$set\" and \"$unset\"");
    item moved = *p.item;
    item_remove(p.parent, p.at);
    item *to;
    bool is_new;
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    status =
        target_create(&a->memory, a->root, t->parts, t->count, context, &to, &is_new, a->error);
    if (status != TANSU_OK)
        return status;
    moved.key = to->key;
    moved.key_size = to->key_size;
    *to = moved;
    return TANSU_OK;
}

/* ---- The whole document ---- */

/* apply_target -- applies an operator to a target. */
static tansu_status apply_target(applying *a, const target *t) {
    const operation *o = t->operation;
    char context[sizeof a->error->context];
    target_item p;
    tansu_status status;
    if (t->source || (o->kind == OPERATOR_SET_ON_INSERT && !a->how->inserting))
        return TANSU_OK;
    switch (o->kind) {
    case OPERATOR_UNSET: return unset(a, t);
    case OPERATOR_RENAME: return rename_field(a, t);
    case OPERATOR_PULL:
    case OPERATOR_PULL_ALL:
    case OPERATOR_POP:
        status = target_find(a, t, true, &p);
        return status == TANSU_OK && p.item != NULL ? array_apply(a, o, p.item) : status;
    default: break;
    }
    item *at;
    bool is_new;
    snprintf(context, sizeof context, "%s.%s", o->name, o->path->text);
    status =
        target_create(&a->memory, a->root, t->parts, t->count, context, &at, &is_new, a->error);
    return status == TANSU_OK ? change_item(a, o, at, is_new) : status;
}

/* find_id -- the `_id` of the document, or NULL. */
static item *find_id(applying *a, uint32_t *at) {
    static const path_part part = {.name = "_id", .size = 3, .index = -1};
    return item_find(&a->memory, a->root, &part, at);
}

/* keep_id -- rejects a changed `_id`. One that is equal but of another type is restored. */
static tansu_status keep_id(applying *a, const uint8_t *doc, size_t size) {
    doc_value before, now;
    uint32_t at;
    item *id = find_id(a, &at);
    if (!doc_find_id(doc, size, &before))
        return TANSU_OK;
    if (id != NULL && !item_raw(&a->memory, id, &now))
        return error_memory(a->error);
    if (id == NULL || value_compare(&before, &now) != 0)
        return error_set(
            a->error, TANSU_E_INVALID_ID, "_id",
            "Update would change \"_id\", which is immutable; save the document with the "
            "new \"_id\" and remove this one");
    item_set(id, &before);
    return TANSU_OK;
}

/* replace -- the new document with the old `_id`, which is first. */
static tansu_status replace(applying *a, const uint8_t *doc, size_t size) {
    doc_value id;
    uint32_t at;
    item_set(a->root, &a->update->replacement);
    if (!item_open(&a->memory, a->root))
        return error_memory(a->error);
    item *given = find_id(a, &at);
    if (given == NULL && doc_find_id(doc, size, &id)) {
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

/* apply_all -- applies all operators to their targets. */
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

/* id_first -- moves the `_id` of an inserted document to the front. */
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
    tansu_buffer made = TANSU_BUFFER_INIT, kept = TANSU_BUFFER_INIT;
    if (u->pipeline != NULL) {
        status = pipeline_update(u->pipeline, doc, size, how->context->deadline, &made, error);
        if (status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE)
            error_prefix(error, "$pipeline");
        if (status == TANSU_OK && !writer_keep_id(&kept, (tansu_document){made.data, made.size},
                                                  (tansu_document){doc, size}))
            status = error_memory(error);
        tansu_buffer_free(&made);
        if (status != TANSU_OK) {
            tansu_buffer_free(&kept);
            return status;
        }
        whole = (doc_value){.data = kept.data, .size = (uint32_t)kept.size, .type = DOC_DOCUMENT};
    }
    a.root = item_new(&a.memory, &whole);
    if (a.root == NULL || !item_open(&a.memory, a.root))
        status = error_memory(error);
    if (status == TANSU_OK)
        status = u->pipeline != NULL ? TANSU_OK
                 : u->facts.replaces ? replace(&a, doc, size)
                                     : apply_all(&a, doc, size);
    if (status == TANSU_OK)
        status = keep_id(&a, doc, size);
    if (status == TANSU_OK && how->inserting)
        status = id_first(&a);
    if (status == TANSU_OK)
        status = item_write(a.root, out, error);
    if (status == TANSU_E_MEMORY && a.memory.full)
        status = error_set(error, TANSU_E_TOO_LARGE, "update",
                           "Update needs more than %zu MiB of memory for one document; use fewer "
                           "operators at once",
                           APPLY_MEMORY / (1024 * 1024));
    tansu_buffer_free(&kept);
    tansu_buffer_free(&a.collated[0]);
    tansu_buffer_free(&a.collated[1]);
    arena_free(&a.memory);
    return status;
}
