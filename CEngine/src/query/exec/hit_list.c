/*
 * query/exec/hit_list.c -- results in memory, or in the temporary file of an external sort, whose
 * records have no key and so stay in the order of their numbers.
 */
#include "query/exec/hit_list.h"
#include "util/array.h"
#include "util/bytes.h"
#include "util/error.h"
#include <stdlib.h>

void hit_list_free(hit_list *list) {
    free(list->items);
    external_sort_free(list->external);
    list->items = NULL;
    list->external = NULL;
}

/* add_external -- the next one, to the external sort. */
static tansu_status add_external(hit_list *list, const hit *h, tansu_error *error) {
    uint8_t payload[16];
    store_u64(payload, h->rid);
    store_u64(payload + 8, h->ref);
    const sort_record r = {payload, 0, list->next++, payload, sizeof payload};
    return external_sort_add(list->external, &r, error);
}

/* spill -- from now on hits go to an external sort, those before them first. */
static tansu_status spill(hit_list *list, tansu_error *error) {
    if (!list->spill.may_spill)
        return spill_refuse(&list->spill.refusal, error);
    list->external = external_sort_new(&list->spill);
    tansu_status status = list->external ? TANSU_OK : error_memory(error);
    for (size_t i = 0; status == TANSU_OK && i < list->count; i++)
        status = add_external(list, &list->items[i], error);
    free(list->items);
    list->items = NULL;
    list->count = list->capacity = 0;
    return status;
}

tansu_status hit_list_add(hit_list *list, const hit *h, tansu_error *error) {
    /* The list doubles when it grows, and the external sort comes next to it. */
    if (!list->external && list->count == list->capacity &&
        list->capacity * 4 * sizeof *h > list->spill.memory) {
        tansu_status status = spill(list, error);
        if (status != TANSU_OK)
            return status;
    }
    if (list->external)
        return add_external(list, h, error);
    if (!ARRAY_RESERVE(list->items, list->count, list->capacity, 1))
        return error_memory(error);
    list->items[list->count++] = *h;
    return TANSU_OK;
}

tansu_status hit_list_finish(hit_list *list, tansu_error *error) {
    list->next = 0;
    return list->external ? external_sort_finish(list->external, error) : TANSU_OK;
}

tansu_status hit_list_next(hit_list *list, hit *h, tansu_error *error) {
    if (!list->external) {
        if (list->next == list->count)
            return TANSU_DONE;
        *h = list->items[list->next++];
        return TANSU_OK;
    }
    sort_record r;
    tansu_status status = external_sort_next(list->external, &r, error);
    if (status == TANSU_OK)
        *h = (hit){.rid = load_u64(r.payload), .ref = load_u64(r.payload + 8)};
    return status;
}
