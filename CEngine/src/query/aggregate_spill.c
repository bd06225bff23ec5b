/*
 * query/aggregate_spill.c -- groups that memory can't hold.
 *
 * Then every match is noted by the key of its group and its docno, and these are sorted (run_sort.h), with
 * temporary files if need be. Documents of one group then come one after the other, in insertion order, so that
 * each group is made by itself, as it would have been among all others: only one is in memory at a time. And of
 * one group, or where there is only one, the values of $distinct are spilled: sorted by their keys, and of equal
 * ones by the order in which they came.
 */
#include "query/aggregate_parts.h"
#include <stdlib.h>

/* Groups between two looks at the watch. */
#define GROUP_STEP 1024

static const char too_large[] = "The groups take more memory than they may (256 MiB): narrow the "
                                "query, group by paths with fewer values, or "
                                "allow temporary files by leaving out $allowDiskUse.";

/* place_of -- what errors are about. */
static const char *place_of(const aggregation *a) {
    return a->values ? "distinct" : "group";
}

/* too_long -- see aggregate_parts.h. */
tansu_status too_long(aggregation *a) {
    return error_set(
        a->error, TANSU_E_TOO_LARGE, place_of(a),
        "The answer is longer than %zu MiB: narrow the query, or ask for less of it with $skip "
        "and $max.",
        AGGREGATE_MEMORY / (1024 * 1024));
}

/* sort_of -- an external sort for this aggregation. */
static run_sort *sort_of(const aggregation *a, size_t memory) {
    const run_sort_how how = {.view = a->view,
                              .watch = &a->watch,
                              .memory = memory,
                              .may_spill = !a->q->hints.no_disk,
                              .context = place_of(a),
                              .message = too_large};
    return run_sort_new(&how);
}

/* ---- Values of $distinct ---- */

/* spill_values -- moves the values that an accumulator holds to its sort. */
static tansu_status spill_values(aggregation *a, accumulator *from) {
    tansu_buffer *payload = &a->scratch;
    tansu_status status = TANSU_OK;
    if (!from->more)
        from->more = sort_of(a, spill_group_memory / 4 / a->field_count);
    if (!from->more)
        return error_memory(a->error);
    uint64_t before = run_sort_spilled(from->more);
    for (keyset_item *item = from->values.first; status == TANSU_OK && item; item = item->next) {
        const distinct_item *d = (const distinct_item *)item;
        if (!buffer_set(payload, &d->value.type, 1) ||
            !buffer_append(payload, d->value.data, d->value.size))
            return error_memory(a->error);
        const run_record r = {item->key, item->key_size, d->number, payload->data, payload->size};
        status = run_sort_add(from->more, &r, a->error);
    }
    a->spilled += run_sort_spilled(from->more) - before;
    from->values = (keyset){.count = 0};
    return status;
}

/* within_memory -- see aggregate_parts.h. */
tansu_status within_memory(aggregation *a) {
    if (a->used + a->value_used <= spill_group_memory)
        return TANSU_OK;
    bool one = a->by_count == 0 || a->sorting;
    if (!a->q->hints.no_disk && one && !a->from_index && a->value_used != 0) {
        group *g = (group *)a->groups.first;
        for (uint32_t i = 0; i < a->field_count; i++) {
            tansu_status status = a->fields[i].figure == FIGURE_DISTINCT
                                      ? spill_values(a, &g->accumulators[i])
                                      : TANSU_OK;
            if (status != TANSU_OK)
                return status;
        }
        arena_free(&a->value_memory);
        a->value_used = 0;
        if (a->used <= spill_group_memory)
            return TANSU_OK;
    }
    a->again = !a->q->hints.no_disk && (!one || a->from_index);
    return error_set(a->error, TANSU_E_TOO_LARGE, place_of(a), "%s", too_large);
}

/* begin_distinct -- sorts what is to be given. */
static tansu_status begin_distinct(aggregation *a, accumulator *from, distinct_place *place) {
    place->begun = true;
    if (!from->more)
        return keyset_sorted(&from->values, &a->watch, &place->sorted, a->error);
    tansu_status status = spill_values(a, from);
    uint64_t before = run_sort_spilled(from->more);
    if (status == TANSU_OK)
        status = run_sort_finish(from->more, a->error);
    a->spilled += run_sort_spilled(from->more) - before;
    return status;
}

/* next_distinct -- see aggregate_parts.h. */
tansu_status next_distinct(aggregation *a, accumulator *from, distinct_place *place,
                           doc_value *value) {
    tansu_status status = place->begun ? TANSU_OK : begin_distinct(a, from, place);
    if (status != TANSU_OK)
        return status;
    if (!from->more) {
        if (place->next == from->values.count)
            return TANSU_DONE;
        *value = ((const distinct_item *)place->sorted[place->next++])->value;
        return TANSU_OK;
    }
    run_record r;
    bool same;
    do {
        status = run_sort_next(from->more, &r, a->error);
        if (status != TANSU_OK)
            return status;
        /* Of equal ones the first that came is the first here. */
        same = place->next != 0 && place->last.size == r.key_size &&
               memcmp(place->last.data, r.key, r.key_size) == 0;
    } while (same);
    place->next++;
    if (!buffer_set(&place->last, r.key, r.key_size))
        return error_memory(a->error);
    *value = (doc_value){r.payload + 1, (uint32_t)r.payload_size - 1, r.payload[0]};
    return TANSU_OK;
}

/* distinct_end -- see aggregate_parts.h. */
void distinct_end(distinct_place *place) {
    free(place->sorted);
    tansu_buffer_free(&place->last);
}

/* ---- Groups one by one ---- */

/* What becomes of groups as they are made. */
typedef struct sorted_output {
    writer *w;         /* NULL: nothing is written */
    run_sort *ordered; /* by $orderby; NULL: there is none */
    uint64_t given;    /* groups written */
    tansu_buffer doc;
    tansu_buffer key;
    tansu_buffer forms[2];
} sorted_output;

/* note_documents -- every match, by the key of its group. */
static tansu_status note_documents(aggregation *a, run_sort *keys) {
    query_run *run;
    hit h;
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = run_begin(a->q, a->view, a->collection, PLAN_DOCUMENTS, &run, a->error);
    if (status == TANSU_OK)
        run->watch = a->watch;
    while (status == TANSU_OK) {
        uint8_t ref[8];
        status = run_hit(run, &h, &doc, &size, a->error);
        if (status != TANSU_OK)
            break;
        if (!group_key(a, doc, size)) {
            status = error_memory(a->error);
            break;
        }
        store_u64(ref, h.ref);
        const run_record r = {a->key.data, a->key.size, h.docno, ref, sizeof ref};
        status = run_sort_add(keys, &r, a->error);
    }
    if (status == TANSU_DONE)
        status = a->explain
                     ? explain_write(run, milliseconds_now() - a->started, &a->plan, a->error)
                     : TANSU_OK;
    query_end(run);
    return status == TANSU_OK ? run_sort_finish(keys, a->error) : status;
}

/* give -- writes a group to the answer, unless $skip or $max leave it out. */
static tansu_status give(aggregation *a, sorted_output *o, uint64_t at, const uint8_t *doc) {
    if (!o->w || at < a->skip || o->given >= a->max)
        return TANSU_OK;
    char key[12];
    const doc_value value = {doc, load_u32(doc), DOC_DOCUMENT};
    writer_value(o->w, writer_index_key(key, (uint32_t)o->given++), &value);
    if (o->w->failed)
        return error_memory(a->error);
    return o->w->out->size > AGGREGATE_MEMORY ? too_long(a) : TANSU_OK;
}

/* end_group -- the group that was being made is done. */
static tansu_status end_group(aggregation *a, sorted_output *o) {
    group *g = (group *)a->groups.first;
    writer w = {.out = &o->doc};
    if (!g)
        return TANSU_OK;
    o->doc.size = 0;
    tansu_status status = write_group(a, g, &w);
    groups_clear(a);
    uint64_t number = a->group_number++;
    if (status == TANSU_OK && number % GROUP_STEP == 0)
        status = watch_check(&a->watch, a->error);
    if (status != TANSU_OK || !o->ordered)
        return status == TANSU_OK ? give(a, o, number, o->doc.data) : status;
    o->key.size = 0;
    if (!sort_key(a->order, a->order_count, a->q->collation, o->forms, o->doc.data, o->doc.size,
                  &o->key))
        return error_memory(a->error);
    const run_record r = {o->key.data, o->key.size, number, o->doc.data, o->doc.size};
    return run_sort_add(o->ordered, &r, a->error);
}

/* make_groups -- one after the other. */
static tansu_status make_groups(aggregation *a, run_sort *keys, sorted_output *o) {
    run_record r;
    tansu_status status;
    while ((status = run_sort_next(keys, &r, a->error)) == TANSU_OK) {
        const keyset_item *present = a->groups.first;
        if (present &&
            (present->key_size != r.key_size || memcmp(present->key, r.key, r.key_size) != 0))
            status = end_group(a, o);
        uint32_t size;
        const uint8_t *doc = view_document(a->view, load_u64(r.payload), &size);
        group *g;
        if (status == TANSU_OK)
            status = group_of(a, doc, size, &g);
        for (uint32_t i = 0; status == TANSU_OK && i < a->field_count; i++)
            status = accumulate(a, &a->fields[i], &g->accumulators[i], doc, size, 1);
        if (status == TANSU_OK)
            status = within_memory(a);
        if (status != TANSU_OK)
            return status;
    }
    return status == TANSU_DONE ? end_group(a, o) : status;
}

/* give_ordered -- the groups in the order of $orderby; equal ones in that of their keys. */
static tansu_status give_ordered(aggregation *a, sorted_output *o) {
    run_record r;
    tansu_status status = run_sort_finish(o->ordered, a->error);
    for (uint64_t at = 0; status == TANSU_OK && o->given < a->max; at++) {
        status = run_sort_next(o->ordered, &r, a->error);
        if (status == TANSU_OK)
            status = give(a, o, at, r.payload);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* write_sorted -- see aggregate_parts.h. */
tansu_status write_sorted(aggregation *a, writer *w) {
    sorted_output o = {.w = w};
    run_sort *keys = sort_of(a, spill_group_memory / 4);
    if (w && a->order_count != 0)
        o.ordered = sort_of(a, spill_group_memory / 4);
    tansu_status status =
        keys && (o.ordered || !w || a->order_count == 0) ? TANSU_OK : error_memory(a->error);
    size_t array = w ? writer_open(w, "groups", DOC_ARRAY) : 0;
    if (status == TANSU_OK)
        status = note_documents(a, keys);
    if (status == TANSU_OK)
        status = make_groups(a, keys, &o);
    if (status == TANSU_OK && o.ordered)
        status = give_ordered(a, &o);
    if (w)
        writer_end(w, array);
    a->spilled +=
        (keys ? run_sort_spilled(keys) : 0) + (o.ordered ? run_sort_spilled(o.ordered) : 0);
    run_sort_free(keys);
    run_sort_free(o.ordered);
    tansu_buffer_free(&o.doc);
    tansu_buffer_free(&o.key);
    tansu_buffer_free(&o.forms[0]);
    tansu_buffer_free(&o.forms[1]);
    return status;
}
