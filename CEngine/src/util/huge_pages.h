/*
 * util/huge_pages.h -- large pages for large tables that are read at random, where the system has them
 * for those who ask.
 */
#ifndef TANSU_UTIL_HUGE_PAGES_H
#define TANSU_UTIL_HUGE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* memory_advise_huge -- asks for large pages in memory that was allocated and not used yet. */
static inline void memory_advise_huge(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)2 * 1024 * 1024;
    uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

#endif
