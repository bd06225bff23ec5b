/*
 * Counting of heap allocations. On glibc the benchmark defines its own malloc, which counts the calls and forwards them.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* allocations_are_counted -- whether this system lets a program put its own malloc before the library's */
bool allocations_are_counted(void);

/* allocations_so_far -- the number of allocations since the program began, 0 where they are not counted */
uint64_t allocations_so_far(void);

#endif
