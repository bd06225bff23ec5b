/*
 * base/retire.h -- lists of objects that a commit has replaced and that may be freed once no reader
 * can see them any more. Part base; may call nothing but the C library.
 *
 * A writer collects what it replaces in its list; the commit hands the list to the version that it
 * follows. Each object also says since which epoch it exists: a version can see it only if it is not
 * older than that. So an object can be freed when no version between its birth and its replacement
 * is left, whatever older ones are still held (catalog/versions.c).
 */
#ifndef TANSU_BASE_RETIRE_H
#define TANSU_BASE_RETIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*retire_free)(void *context, void *object);

typedef struct retire_item {
    retire_free free;
    void *context;
    void *object;
    uint64_t birth; /* no version of an earlier epoch can see it; 0: any may */
} retire_item;

typedef struct retire_list {
    retire_item *items;
    size_t count;
    size_t capacity;
} retire_list;

/* retire_reserve -- makes room for `more` items, so that retire_add() can't fail; false when
 * memory is exhausted. */
bool retire_reserve(retire_list *list, size_t more);

/* retire_add -- appends one that any earlier version may see; false when memory is exhausted. */
bool retire_add(retire_list *list, retire_free free_object, void *context, void *object);

/* retire_add_born -- appends one that versions before the epoch `birth` can't see. */
bool retire_add_born(retire_list *list, retire_free free_object, void *context, void *object,
                     uint64_t birth);

/* retire_run_born_after -- frees every object that a version of that epoch can't see; the others stay
 * on the list. */
void retire_run_born_after(retire_list *list, uint64_t epoch);

/* retire_move -- appends all of `from`, which is then empty; false when memory is exhausted: both
 * lists are as they were. */
bool retire_move(retire_list *to, retire_list *from);

/* retire_run -- frees every object and the list's memory, leaving it empty. */
void retire_run(retire_list *list);

/* retire_memory -- a retire_free over free(); the context is not used. */
void retire_memory(void *context, void *object);

/* retire_forget -- frees the list's memory but none of the objects (an aborted transaction). */
void retire_forget(retire_list *list);

#endif
