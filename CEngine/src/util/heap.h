/*
 * util/heap.h -- returning free memory of the C library's allocator to the system.
 */
#ifndef TANSU_UTIL_HEAP_H
#define TANSU_UTIL_HEAP_H

/* heap_trim -- returns free memory to the system, where the allocator has a call for that:
 * otherwise it keeps what was freed. Takes milliseconds, so only after much was freed. */
void heap_trim(void);

#endif
