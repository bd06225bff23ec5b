/*
 * base/heap.h -- what the C library's allocator is asked for beside memory. Part base.
 */
#ifndef TANSU_BASE_HEAP_H
#define TANSU_BASE_HEAP_H

/* heap_return -- gives free memory back to the system, where the allocator has a call for that: it
 * keeps what was freed otherwise. Takes milliseconds, so only after much was freed. */
void heap_return(void);

#endif
