/*
 * util/retire.c -- lists of replaced objects.
 */
#include "util/retire.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* retire_reserve -- reserves capacity for `more` items after those that are there. */
bool retire_reserve(retire_list *list, size_t more) {
    if (list->capacity == 0 && more < RETIRE_FEW)
        more = RETIRE_FEW;
    return ARRAY_RESERVE(list->items, list->count, list->capacity, more);
}

/* retire_add -- without a birth, an object is as old as the oldest snapshot. */
bool retire_add(retire_list *list, retire_free free_object, void *context, void *object) {
    return retire_add_born(list, free_object, context, object, 0);
}

/* retire_add_born -- appends one object with the function that ends it. */
bool retire_add_born(retire_list *list, retire_free free_object, void *context, void *object,
                     uint64_t birth) {
    if (list->count == list->capacity && !retire_reserve(list, 1))
        return false;
    list->items[list->count++] = (retire_item){free_object, context, object, birth};
    return true;
}

/* retire_run_born_after -- keeps the order of those that stay. */
void retire_run_born_after(retire_list *list, uint64_t epoch) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const retire_item *item = &list->items[i];
        if (item->birth > epoch)
            item->free(item->context, item->object);
        else
            list->items[kept++] = *item;
    }
    list->count = kept;
    if (kept == 0)
        retire_forget(list);
}

/* retire_move -- an empty list takes over the other's memory. */
bool retire_move(retire_list *to, retire_list *from) {
    if (to->count == 0) {
        retire_forget(to);
        *to = *from;
        *from = (retire_list){NULL, 0, 0};
        return true;
    }
    if (!retire_reserve(to, from->count))
        return false;
    if (from->count != 0)
        memcpy(to->items + to->count, from->items, from->count * sizeof(*from->items));
    to->count += from->count;
    retire_forget(from);
    return true;
}

/* retire_empty -- in the order in which the objects were added. */
void retire_empty(retire_list *list) {
    for (size_t i = 0; i < list->count; i++)
        list->items[i].free(list->items[i].context, list->items[i].object);
    list->count = 0;
}

/* retire_run -- and the list. */
void retire_run(retire_list *list) {
    retire_empty(list);
    retire_forget(list);
}

/* retire_forget -- frees the list and leaves the objects alone. */
void retire_forget(retire_list *list) {
    free(list->items);
    *list = (retire_list){NULL, 0, 0};
}

/* retire_memory -- frees an object that is one piece of memory. */
void retire_memory(void *context, void *object) {
    (void)context;
    free(object);
}
