/*
 * query/pipeline/grouping.c -- documents to groups, groups to documents.
 */
#include "query/pipeline/grouping.h"

#include "query/pipeline/value_hash.h"
#include "util/array.h"
#include "util/huge_pages.h"

#include <string.h>

typedef struct pipeline_group {
    struct pipeline_group *next; /* in order of arrival */
    uint64_t number;             /* of arrival */
    const uint8_t *key;
    uint32_t key_size;
    uint8_t tag;
    bool spilled; /* documents of it are in the external sort */
    doc_value id;
    /* Aligned by the arena: the states follow. */
} pipeline_group;

/* The states of a group. */
#define GROUP_HEAD \
    ((sizeof(pipeline_group) + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t))

/* A place in the hash table. The hash is here, so that a group is looked at only when it is the
 * one. */
typedef struct group_slot {
    uint64_t hash;
    pipeline_group *group; /* NULL: it is empty */
} group_slot;

/* Where a run is. */
enum grouping_phase { PHASE_READ, PHASE_GROUPS, PHASE_SORTED };

struct grouping {
    value_reader *parts; /* of the group key */
    const char **names;  /* NULL: the key is the first part itself */
    doc_value *values;   /* of the parts, for the document at hand */
    uint32_t part_count;
    bool of_query; /* missing and undefined parts are null */
    bool elements; /* a document is in the group of each element of its only part */
    bool always;   /* there is a group even of no documents */
    accumulated_fields fields;

    accumulating c;
    tansu_buffer id, key, part; /* of the document at hand */
    arena memory;               /* of the groups */
    group_slot *slots;          /* open addressing; a power of two */
    uint32_t slot_count;
    uint32_t count;
    pipeline_group *first, **last;

    enum grouping_phase phase;
    external_sort *spill;  /* of what exceeds the memory */
    external_sort *sorted; /* groups that were made from it, by arrival */
    sort_record record;    /* the next of the sort at hand */
    bool has_record;
    uint64_t arrived; /* documents */
};

/* ---- Compiling ---- */

/* compile_part -- the next expression of the group key. */
static tansu_status compile_part(stage *s, grouping *g, const doc_value *spec) {
    const expression *e;
    tansu_status status = stage_expression(s, "_id", spec, &e);
    return status == TANSU_OK ? value_reader_init(s, e, &g->parts[g->part_count++]) : status;
}

/* compile_key -- the group key: an expression, or a document of expressions. */
static tansu_status compile_key(stage *s, grouping *g, const doc_value *id) {
    doc_iter iter;
    uint32_t count = 0;
    bool document = id->type == DOC_DOCUMENT && doc_iter_value(&iter, id) && doc_iter_next(&iter) &&
                    iter.key[0] != '$';
    if (document) {
        for (doc_iter_value(&iter, id); doc_iter_next(&iter);)
            count++;
        g->names = stage_alloc(s, count * sizeof *g->names);
        g->values = stage_alloc(s, count * sizeof *g->values);
    }
    g->parts = stage_alloc(s, (count + 1) * sizeof *g->parts);
    if (!g->parts || (document && (!g->names || !g->values)))
        return TANSU_E_MEMORY;
    if (!document)
        return compile_part(s, g, id);
    /* What is wrong with the document as an expression is so here. */
    const expression *whole;
    tansu_status status = stage_expression(s, "_id", id, &whole);
    for (doc_iter_value(&iter, id); status == TANSU_OK && doc_iter_next(&iter);) {
        if (doc_is_number(&iter.value) || iter.value.type == DOC_BOOL)
            return stage_error(s, "_id",
                               "Field \"%.100s\" is a number or a bool; to group by a constant, "
                               "use $literal",
                               iter.key);
        g->names[g->part_count] = arena_copy(&s->p->memory, iter.key, iter.key_size);
        if (!g->names[g->part_count])
            return error_memory(s->p->error);
        status = compile_part(s, g, &iter.value);
    }
    return status;
}

tansu_status grouping_compile(stage *s, const doc_value *spec, grouping **result) {
    doc_value id;
    grouping *g = *result = stage_alloc(s, sizeof *g);
    if (!g)
        return TANSU_E_MEMORY;
    g->c.s = s;
    g->last = &g->first;
    if (spec->type != DOC_DOCUMENT)
        return stage_error(s, NULL, "Takes a document with \"_id\" and accumulators");
    if (!doc_find(spec->data, spec->size, "_id", 3, &id))
        return stage_error(s, NULL, "Member \"_id\" is required; null makes one group");
    tansu_status status = compile_key(s, g, &id);
    return status == TANSU_OK ? accumulated_fields_compile(s, NULL, spec, &g->fields) : status;
}

tansu_status grouping_of_query(stage *s, const grouping_key *key, const accumulated_fields *fields,
                               grouping **result) {
    grouping *g = *result = stage_alloc(s, sizeof *g);
    if (!g)
        return TANSU_E_MEMORY;
    *g = (grouping){.parts = key->parts,
                    .names = key->count > 1 ? key->names : NULL,
                    .part_count = key->count,
                    .of_query = true,
                    .elements = key->count == 1 && key->parts[0].elements,
                    .always = key->count == 0,
                    .fields = *fields,
                    .c.s = s};
    g->last = &g->first;
    g->values = stage_alloc(s, (key->count + 1) * sizeof *g->values);
    return g->values ? TANSU_OK : TANSU_E_MEMORY;
}

const value_reader *grouping_part(const grouping *g) {
    return g->part_count == 1 && !g->names ? &g->parts[0] : NULL;
}

bool grouping_is_constant(const grouping *g) {
    const value_reader *part = grouping_part(g);
    doc_value constant;
    return g->part_count == 0 ||
           (part && part->expression && expression_constant(part->expression, &constant));
}

const accumulated_fields *grouping_accumulated(const grouping *g) {
    return &g->fields;
}

/* ---- The key of a document ---- */

/* evaluate_parts -- the values of several parts, and their key. */
static tansu_status evaluate_parts(stage *s, grouping *g, const doc_value *doc, hashed_value *key) {
    evaluation *ev = &s->p->ev;
    g->key.size = 0;
    for (uint32_t i = 0; i < g->part_count; i++) {
        doc_value *value = &g->values[i];
        hashed_value part;
        tansu_status status = value_read(ev, &g->parts[i], doc, value);
        if (status != TANSU_OK)
            return status;
        /* As in MongoDB, a single field is null where others are left out. */
        if (value->type == DOC_MISSING && (g->part_count == 1 || g->of_query))
            value->type = DOC_NULL;
        if (value->type == DOC_UNDEFINED && g->of_query)
            value->type = DOC_NULL;
        if (!hashed_value_of(ev, value, &g->part, &part) || !hashed_value_append(&g->key, &part))
            return error_memory(s->p->error);
    }
    key->tag = DOC_DOCUMENT;
    key->bytes = g->key.data;
    key->size = (uint32_t)g->key.size;
    return TANSU_OK;
}

/* make_id -- `_id` as a document of the values of the parts. */
static tansu_status make_id(stage *s, grouping *g, doc_value *id) {
    writer w = {.out = &g->id};
    g->id.size = 0;
    size_t start = writer_begin(&w);
    for (uint32_t i = 0; i < g->part_count; i++) {
        if (g->values[i].type != DOC_MISSING)
            writer_value(&w, g->names[i], &g->values[i]);
    }
    writer_end(&w, start);
    *id = (doc_value){g->id.data, (uint32_t)g->id.size, DOC_DOCUMENT};
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

/* evaluate_key -- the key of the document that is set, and its `_id`, unless make_id() makes that.
 */
static tansu_status evaluate_key(stage *s, grouping *g, const doc_value *doc, hashed_value *key,
                                 doc_value *id) {
    if (g->names)
        return evaluate_parts(s, g, doc, key);
    tansu_status status = TANSU_OK;
    if (g->part_count != 0)
        status = value_read(&s->p->ev, &g->parts[0], doc, id);
    if (status != TANSU_OK)
        return status;
    if (id->type == DOC_MISSING || (id->type == DOC_UNDEFINED && g->of_query))
        id->type = DOC_NULL;
    return hashed_value_of(&s->p->ev, id, &g->key, key) ? TANSU_OK : error_memory(s->p->error);
}

/* ---- The table ---- */

/* find_slot -- the slot of a key, or the empty one where it belongs. */
static inline group_slot *find_slot(const grouping *g, const hashed_value *key, uint64_t hash) {
    for (uint32_t i = (uint32_t)hash;; i++) {
        group_slot *slot = &g->slots[i & (g->slot_count - 1)];
        const pipeline_group *at = slot->group;
        if (!at || (slot->hash == hash && at->key_size == key->size && at->tag == key->tag &&
                    hashed_value_equal(at->key, key->bytes, key->size)))
            return slot;
    }
}

/* grow_table -- at most half of the slots are taken. */
static tansu_status grow_table(stage *s, grouping *g) {
    uint32_t count = g->slot_count == 0 ? 64 : g->slot_count * 2;
    group_slot *slots = count > UINT32_MAX / 4 ? NULL : calloc(count, sizeof *slots);
    if (!slots)
        return error_memory(s->p->error);
    memory_advise_huge(slots, count * sizeof *slots);
    for (uint32_t j = 0; j < g->slot_count; j++) {
        uint32_t i = (uint32_t)g->slots[j].hash;
        if (!g->slots[j].group)
            continue;
        while (slots[i & (count - 1)].group)
            i++;
        slots[i & (count - 1)] = g->slots[j];
    }
    free(g->slots);
    g->slots = slots;
    g->slot_count = count;
    return TANSU_OK;
}

/* used_memory -- of the groups, their states and the table. */
static size_t used_memory(const grouping *g) {
    return g->memory.used + g->c.used + g->slot_count * sizeof *g->slots;
}

/* new_group -- a group that is in no table, with its states ready. */
static tansu_status new_group(stage *s, grouping *g, const hashed_value *key, const doc_value *id,
                              pipeline_group **result) {
    pipeline_group *at = arena_alloc(&g->memory, GROUP_HEAD + g->fields.size);
    uint8_t *bytes = arena_copy(&g->memory, id->data, id->size);
    if (!at || !bytes)
        return error_memory(s->p->error);
    *at =
        (pipeline_group){.key_size = key->size, .tag = key->tag, .id = {bytes, id->size, id->type}};
    /* The bytes of the key are mostly in those of the value. */
    uintptr_t offset = (uintptr_t)key->bytes - (uintptr_t)id->data;
    if (offset <= id->size && key->size <= id->size - offset)
        at->key = bytes + offset;
    else
        at->key = arena_copy(&g->memory, key->bytes, key->size);
    *result = at;
    return at->key ? TANSU_OK : error_memory(s->p->error);
}

/* begin_states -- evaluates what the states of a new group need of its `_id`. */
static tansu_status begin_states(stage *s, grouping *g, pipeline_group *at) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    bool document = at->id.type == DOC_DOCUMENT;
    evaluation_document(&s->p->ev, document ? at->id.data : empty, document ? at->id.size : 5);
    return accumulated_begin(&g->c, &g->fields, (uint8_t *)at + GROUP_HEAD);
}

/* add_group -- a group in the table, the last one to arrive. */
static tansu_status add_group(stage *s, grouping *g, const hashed_value *key, uint64_t hash,
                              const doc_value *id, const doc_value *doc, pipeline_group **result) {
    tansu_status status = TANSU_OK;
    if (g->count >= g->slot_count / 2)
        status = grow_table(s, g);
    if (status == TANSU_OK)
        status = new_group(s, g, key, id, result);
    if (status != TANSU_OK)
        return status;
    (*result)->number = g->count++;
    *find_slot(g, key, hash) = (group_slot){hash, *result};
    *g->last = *result;
    g->last = &(*result)->next;
    status = begin_states(s, g, *result);
    evaluation_document(&s->p->ev, doc->data, doc->size);
    return status;
}

/* ---- Spilling ---- */

/* put_sized -- appends type, size and bytes. */
static bool put_sized(tansu_buffer *out, uint8_t type, const uint8_t *bytes, size_t size) {
    uint8_t head[5];
    head[0] = type;
    store_u32(head + 1, (uint32_t)size);
    return buffer_append(out, head, sizeof head) && buffer_append(out, bytes, size);
}

/* take_sized -- reads them again. */
static doc_value take_sized(const uint8_t **at) {
    const uint8_t *head = *at;
    const doc_value value = {head + 5, load_u32(head + 1), head[0]};
    *at += 5 + value.size;
    return value;
}

/* put_number -- appends a number so that the order of the bytes is that of the numbers. */
static bool put_number(tansu_buffer *out, uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        if (!buffer_append_byte(out, (uint8_t)(number >> shift)))
            return false;
    }
    return true;
}

/* spill_document -- what a document adds, under the number of its group in the table, or under its
 * group key behind all those. */
static tansu_status spill_document(stage *s, grouping *g, const pipeline_group *in,
                                   const hashed_value *key, const doc_value *id,
                                   const doc_value *doc) {
    tansu_buffer *order = &g->part, *payload = &g->c.result;
    order->size = 0;
    payload->size = 0;
    if (!put_number(order, in ? in->number : UINT64_MAX) ||
        (!in &&
         (!buffer_append_byte(order, key->tag) || !buffer_append(order, key->bytes, key->size))) ||
        !put_sized(payload, id->type, id->data, in ? 0 : id->size))
        return error_memory(s->p->error);
    for (uint32_t i = 0; i < g->fields.count; i++) {
        const accumulation *a = &g->fields.fields[i].accumulation;
        accumulator_input input = {.order_size = 0};
        tansu_status status = accumulation_evaluate(&g->c, a, doc, &input);
        if (status != TANSU_OK)
            return status;
        if (!put_sized(payload, input.value.type, input.value.data, input.value.size) ||
            (a->sort_by && !put_sized(payload, 0, input.order, input.order_size)))
            return error_memory(s->p->error);
    }
    const sort_record r = {order->data, order->size, g->arrived, payload->data, payload->size};
    return external_sort_add(g->spill, &r, s->p->error);
}

/* add_spilled -- adds a record to the states of its group. */
static tansu_status add_spilled(grouping *g, pipeline_group *to) {
    const uint8_t *at = g->record.payload;
    take_sized(&at);
    for (uint32_t i = 0; i < g->fields.count; i++) {
        const accumulated_field *field = &g->fields.fields[i];
        accumulator_input input = {.value = take_sized(&at)};
        if (field->accumulation.sort_by) {
            const doc_value order = take_sized(&at);
            input.order = order.data;
            input.order_size = order.size;
        }
        tansu_status status = accumulation_add(&g->c, &field->accumulation,
                                               (uint8_t *)to + GROUP_HEAD + field->offset, &input);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

/* next_record -- the next record of a sort. */
static tansu_status next_record(stage *s, grouping *g, external_sort *from) {
    tansu_status status = external_sort_next(from, &g->record, s->p->error);
    g->has_record = status == TANSU_OK;
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* ---- Reading ---- */

/* advice -- how groups may take less memory. */
static const char *advice(const grouping *g) {
    return g->of_query ? "narrow the query, group by paths with fewer values"
                       : "let fewer documents reach it, by $match before it";
}

/* within_memory -- whether the groups may grow; begins to spill when they may not. */
static tansu_status within_memory(stage *s, grouping *g) {
    size_t limit = pipeline_memory(s->p);
    if (s->p->no_disk && used_memory(g) > limit) {
        const spill_refusal refusal = {
            .context = s->kind->name, .what = "Grouping", .limit = limit, .advice = advice(g)};
        return spill_refuse(&refusal, s->p->error);
    }
    if (s->p->no_disk || g->spill || used_memory(g) <= limit / 4 * 3)
        return TANSU_OK;
    g->spill = stage_sort(s, limit / 8);
    return g->spill ? TANSU_OK : error_memory(s->p->error);
}

/* add_to_group -- adds the document that is set to the group of a key. */
static tansu_status add_to_group(stage *s, grouping *g, const doc_value *doc,
                                 const hashed_value *key, const doc_value *given) {
    doc_value id = *given;
    tansu_status status = TANSU_OK;
    g->arrived++;
    uint64_t hash = value_hash((uint64_t)(uintptr_t)g, key->tag, key->bytes, key->size);
    pipeline_group *to = g->slot_count != 0 ? find_slot(g, key, hash)->group : NULL;
    if (!to && g->names) {
        status = make_id(s, g, &id);
        if (status != TANSU_OK)
            return status;
    }
    bool full = g->spill && used_memory(g) > pipeline_memory(s->p) / 8 * 7;
    if ((!to && g->spill) || (to && (to->spilled || full))) {
        if (to)
            to->spilled = true;
        return spill_document(s, g, to, key, &id, doc);
    }
    if (!to)
        status = add_group(s, g, key, hash, &id, doc, &to);
    if (status == TANSU_OK)
        status = accumulated_add(&g->c, &g->fields, (uint8_t *)to + GROUP_HEAD, doc);
    return status == TANSU_OK ? within_memory(s, g) : status;
}

/* add_document -- adds the document that is set to its group. */
static tansu_status add_document(stage *s, grouping *g, const doc_value *doc) {
    hashed_value key;
    doc_value id = {NULL, 0, DOC_MISSING};
    tansu_status status = evaluate_key(s, g, doc, &key, &id);
    return status == TANSU_OK ? add_to_group(s, g, doc, &key, &id) : status;
}

/* add_element -- adds the document that is set to the group of a value. */
static tansu_status add_element(stage *s, grouping *g, const doc_value *doc,
                                const doc_value *value) {
    static const doc_value null = {NULL, 0, DOC_NULL};
    hashed_value key;
    if (value->type == DOC_UNDEFINED)
        value = &null;
    if (!hashed_value_of(&s->p->ev, value, &g->key, &key))
        return error_memory(s->p->error);
    return add_to_group(s, g, doc, &key, value);
}

/* add_elements -- adds the document that is set to the group of each value. */
static tansu_status add_elements(stage *s, grouping *g, const doc_value *doc) {
    doc_value found;
    doc_iter iter;
    tansu_status status = value_read(&s->p->ev, &g->parts[0], doc, &found);
    if (status != TANSU_OK || found.type == DOC_MISSING)
        return status;
    if (found.type != DOC_ARRAY)
        return add_element(s, g, doc, &found);
    for (doc_iter_value(&iter, &found); status == TANSU_OK && doc_iter_next(&iter);)
        status = add_element(s, g, doc, &iter.value);
    return status;
}

/* group_of -- the group of the document that is set, which is made if it is not there. */
static tansu_status group_of(stage *s, grouping *g, const doc_value *doc, pipeline_group **result) {
    hashed_value key;
    doc_value id = {NULL, 0, DOC_MISSING};
    tansu_status status = evaluate_key(s, g, doc, &key, &id);
    if (status != TANSU_OK)
        return status;
    uint64_t hash = value_hash((uint64_t)(uintptr_t)g, key.tag, key.bytes, key.size);
    *result = g->slot_count != 0 ? find_slot(g, &key, hash)->group : NULL;
    return *result ? TANSU_OK : add_group(s, g, &key, hash, &id, doc, result);
}

tansu_status grouping_add(stage *s, grouping *g, const doc_value *doc, uint64_t count, bool *fits) {
    pipeline_group *to;
    evaluation_document(&s->p->ev, doc->data, doc->size);
    tansu_status status = group_of(s, g, doc, &to);
    for (uint32_t i = 0; status == TANSU_OK && i < g->fields.count; i++)
        *(int64_t *)((uint8_t *)to + GROUP_HEAD + g->fields.fields[i].offset) += (int64_t)count;
    *fits = used_memory(g) <= pipeline_memory(s->p) / 4 * 3;
    return status;
}

tansu_status grouping_only(stage *s, grouping *g, uint8_t **states) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    const doc_value nothing = {empty, sizeof empty, DOC_DOCUMENT};
    pipeline_group *to;
    evaluation_document(&s->p->ev, empty, sizeof empty);
    tansu_status status = group_of(s, g, &nothing, &to);
    *states = status == TANSU_OK ? (uint8_t *)to + GROUP_HEAD : NULL;
    return status;
}

tansu_status grouping_filled(stage *s, grouping *g) {
    uint8_t *states;
    g->phase = PHASE_GROUPS;
    return g->always ? grouping_only(s, g, &states) : TANSU_OK;
}

/* read_all -- the documents of the stage before. */
static tansu_status read_all(stage *s, grouping *g) {
    doc_value doc;
    tansu_status status;
    while ((status = stage_next(s, &doc)) == TANSU_OK) {
        evaluation_document(&s->p->ev, doc.data, doc.size);
        status = g->elements ? add_elements(s, g, &doc) : add_document(s, g, &doc);
        if (status != TANSU_OK)
            return status;
    }
    if (status != TANSU_DONE)
        return status;
    status = grouping_filled(s, g);
    if (status == TANSU_OK && g->spill) {
        status = external_sort_finish(g->spill, s->p->error);
        if (status == TANSU_OK)
            status = next_record(s, g, g->spill);
    }
    return status;
}

/* ---- Results ---- */

/* write_group -- a group as a document, in s->out. Its states are freed. */
static tansu_status write_group(stage *s, grouping *g, pipeline_group *at, doc_value *doc) {
    writer w = {.out = &s->out};
    s->out.size = 0;
    size_t start = writer_begin(&w);
    writer_value(&w, "_id", &at->id);
    tansu_status status = accumulated_write(&g->c, &g->fields, (uint8_t *)at + GROUP_HEAD, &w);
    writer_end(&w, start);
    if (status != TANSU_OK || !g->of_query)
        return status == TANSU_OK ? stage_show(s, &w, doc) : status;
    /* It becomes no document, and is not limited to what one may have. */
    *doc = (doc_value){s->out.data, (uint32_t)s->out.size, DOC_DOCUMENT};
    return w.failed ? error_memory(s->p->error) : TANSU_OK;
}

/* complete -- adds the records that belong to a group: those whose sort key is `order`. */
static tansu_status complete(stage *s, grouping *g, pipeline_group *to, const tansu_buffer *order) {
    size_t before = g->c.used, limit = pipeline_memory(s->p) / 2;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && g->has_record && g->record.key_size == order->size &&
           memcmp(g->record.key, order->data, order->size) == 0) {
        status = add_spilled(g, to);
        if (status == TANSU_OK)
            status = accumulated_within(&g->c, g->c.used - before, limit);
        if (status == TANSU_OK)
            status = next_record(s, g, g->spill);
        if (status == TANSU_OK)
            status = stage_step(s);
    }
    return status;
}

/* next_group -- the next group of the table. */
static tansu_status next_group(stage *s, grouping *g, doc_value *doc) {
    pipeline_group *at = g->first;
    tansu_status status = stage_step(s);
    if (status == TANSU_OK && at->spilled) {
        g->part.size = 0;
        status = put_number(&g->part, at->number) ? complete(s, g, at, &g->part)
                                                  : error_memory(s->p->error);
    }
    if (status == TANSU_OK)
        status = write_group(s, g, at, doc);
    if (status != TANSU_OK)
        return status;
    accumulated_end(&g->fields, (uint8_t *)at + GROUP_HEAD);
    g->first = at->next;
    return status;
}

/* free_groups -- frees all groups, their states and the table. */
static void free_groups(grouping *g) {
    for (pipeline_group *at = g->first; at; at = at->next)
        accumulated_end(&g->fields, (uint8_t *)at + GROUP_HEAD);
    arena_free(&g->memory);
    free(g->slots);
    g->slots = NULL;
    g->slot_count = g->count = 0;
    g->first = NULL;
    g->last = &g->first;
    g->c.used = 0;
}

/* make_group -- makes a group of the records of its key, and adds it to those that are sorted by
 * arrival. */
static tansu_status make_group(stage *s, grouping *g) {
    const uint8_t *at = g->record.payload;
    uint64_t arrived = g->record.tie_breaker;
    doc_value id = take_sized(&at), doc;
    const hashed_value key = {.bytes = g->record.key, .size = 0, .tag = DOC_MISSING};
    free_groups(g);
    if (!buffer_set(&g->part, g->record.key, g->record.key_size))
        return error_memory(s->p->error);
    tansu_status status = new_group(s, g, &key, &id, &g->first);
    if (status != TANSU_OK) {
        /* Its states are not there. */
        g->first = NULL;
        return status;
    }
    status = begin_states(s, g, g->first);
    if (status == TANSU_OK)
        status = complete(s, g, g->first, &g->part);
    if (status == TANSU_OK)
        status = write_group(s, g, g->first, &doc);
    if (status != TANSU_OK)
        return status;
    g->part.size = 0;
    if (!put_number(&g->part, arrived))
        return error_memory(s->p->error);
    const sort_record r = {g->part.data, g->part.size, 0, doc.data, doc.size};
    return external_sort_add(g->sorted, &r, s->p->error);
}

/* make_others -- makes the groups that are not in the table. */
static tansu_status make_others(stage *s, grouping *g) {
    tansu_status status = TANSU_OK;
    free_groups(g);
    if (!g->has_record) {
        g->phase = PHASE_SORTED;
        return TANSU_OK;
    }
    g->sorted = stage_sort(s, pipeline_memory(s->p) / 4);
    if (!g->sorted)
        return error_memory(s->p->error);
    while (status == TANSU_OK && g->has_record)
        status = make_group(s, g);
    free_groups(g);
    g->phase = PHASE_SORTED;
    return status == TANSU_OK ? external_sort_finish(g->sorted, s->p->error) : status;
}

tansu_status grouping_next(stage *s, grouping *g, doc_value *doc) {
    tansu_status status = g->phase == PHASE_READ ? read_all(s, g) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    if (g->phase == PHASE_GROUPS) {
        if (g->first)
            return next_group(s, g, doc);
        status = make_others(s, g);
    }
    if (status != TANSU_OK || !g->sorted)
        return status == TANSU_OK ? TANSU_DONE : status;
    status = external_sort_next(g->sorted, &g->record, s->p->error);
    if (status == TANSU_OK)
        *doc = (doc_value){g->record.payload, (uint32_t)g->record.payload_size, DOC_DOCUMENT};
    return status;
}

/* end_sort -- frees a sort. */
static void end_sort(grouping *g, external_sort **sort) {
    if (*sort)
        g->c.s->p->spilled += external_sort_spilled(*sort);
    external_sort_free(*sort);
    *sort = NULL;
}

void grouping_end(grouping *g) {
    free_groups(g);
    end_sort(g, &g->spill);
    end_sort(g, &g->sorted);
    g->phase = PHASE_READ;
    g->has_record = false;
    g->arrived = 0;
}

void grouping_free(grouping *g) {
    if (!g)
        return;
    accumulating_free(&g->c);
    tansu_buffer_free(&g->id);
    tansu_buffer_free(&g->key);
    tansu_buffer_free(&g->part);
}
