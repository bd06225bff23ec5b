/*
 * util/heap.c -- returning free memory of the C library's allocator to the system.
 */
#include "util/heap.h"

#include <stdlib.h> /* says whether the C library is glibc */

#if defined(__APPLE__)
#include <malloc/malloc.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

void heap_trim(void) {
#if defined(__APPLE__)
    malloc_zone_pressure_relief(NULL, 0);
#elif defined(__GLIBC__)
    malloc_trim(0);
#endif
}
