/*
 * base/retire.h -- lists of objects that a commit has replaced and that may be freed once no reader
 * can see them any more. Part base; may call nothing but the C library.
 *
 * A writer collects what it replaces in its list; the commit hands the list to the version that it
 * follows; the list runs when that version and all before it are no longer held (catalog/version.h).
 */
#ifndef TANSU_BASE_RETIRE_H
#define TANSU_BASE_RETIRE_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*retire_free)(void *context, void *object);

typedef struct retire_item {
    retire_free free;
    void *context;
    void *object;
} retire_item;

typedef struct retire_list {
    retire_item *items;
    size_t count;
    size_t capacity;
} retire_list;

/* retire_reserve -- makes room for `more` items, so that retire_add() can't fail; false when
 * memory is exhausted. */
bool retire_reserve(retire_list *list, size_t more);

/* retire_add -- appends one; false when memory is exhausted. */
bool retire_add(retire_list *list, retire_free free_object, void *context, void *object);

/* retire_run -- frees every object and the list's memory, leaving it empty. */
void retire_run(retire_list *list);

/* retire_memory -- a retire_free over free(); the context is not used. */
void retire_memory(void *context, void *object);

/* retire_forget -- frees the list's memory but none of the objects (an aborted transaction). */
void retire_forget(retire_list *list);

#endif
