/*
 * util/retire.h -- lists of objects that a commit replaced and that are freed once no reader can
 * reach them (epoch-based reclamation).
 *
 * The writer collects what it replaces in its own list; the commit hands the list to the snapshot
 * that it succeeds. Each object also records the epoch of its birth: an older snapshot cannot reach
 * it. So an object can be freed when no snapshot between its birth and its replacement is left,
 * even if older ones are still held (store/snapshot.c).
 */
#ifndef TANSU_UTIL_RETIRE_H
#define TANSU_UTIL_RETIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*retire_free)(void *context, void *object);

typedef struct retire_item {
    retire_free free;
    void *context;
    void *object;
    uint64_t birth; /* no snapshot of an earlier epoch can see it; 0: any may */
} retire_item;

typedef struct retire_list {
    retire_item *items;
    size_t count;
    size_t capacity;
} retire_list;

/* The capacity of a list at first: what a small transaction replaces. */
#define RETIRE_FEW 32

/* retire_reserve -- reserves capacity for `more` items, so that retire_add() can't fail; false when
 * memory is exhausted. */
bool retire_reserve(retire_list *list, size_t more);

/* retire_add -- appends one that any earlier snapshot may see; false when memory is exhausted. */
bool retire_add(retire_list *list, retire_free free_object, void *context, void *object);

/* retire_add_born -- appends one that snapshots before the epoch `birth` can't see. */
bool retire_add_born(retire_list *list, retire_free free_object, void *context, void *object,
                     uint64_t birth);

/* retire_run_born_after -- frees every object that a snapshot of that epoch can't see; the others
 * stay on the list. */
void retire_run_born_after(retire_list *list, uint64_t epoch);

/* retire_move -- appends all of `from`, which is then empty; false when memory is exhausted: both
 * lists are as they were. */
bool retire_move(retire_list *to, retire_list *from);

/* retire_run -- frees every object and the list's memory, leaving it empty. retire_empty -- the
 * same, but the memory stays with the list. */
void retire_run(retire_list *list);
void retire_empty(retire_list *list);

/* retire_memory -- a retire_free over free(); the context is not used. */
void retire_memory(void *context, void *object);

/* retire_forget -- frees the list's memory but none of the objects (an aborted transaction). */
void retire_forget(retire_list *list);

#endif
