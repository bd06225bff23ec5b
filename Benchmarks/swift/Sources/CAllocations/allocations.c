#include "allocations.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__)

#include <errno.h>

/* Not atomic: only one thread measures, and allocations of others would only make the count too high. */
static uint64_t count;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* malloc -- the library's, counted */
void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

/* calloc -- the library's, counted */
void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

/* realloc -- the library's, counted */
void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}

/* aligned_alloc -- the library's, counted */
void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

/* posix_memalign -- the library's, counted */
int posix_memalign(void **result, size_t alignment, size_t size) {
    count++;
    void *memory = __libc_memalign(alignment, size);
    if (!memory) {
        return ENOMEM;
    }
    *result = memory;
    return 0;
}

/* allocations_are_counted -- whether this system lets a program put its own malloc before the library's */
bool allocations_are_counted(void) {
    return true;
}

/* allocations_so_far -- the number of allocations since the program began, 0 where they are not counted */
uint64_t allocations_so_far(void) {
    return count;
}

#else

/* allocations_are_counted -- whether this system lets a program put its own malloc before the library's */
bool allocations_are_counted(void) {
    return false;
}

/* allocations_so_far -- the number of allocations since the program began, 0 where they are not counted */
uint64_t allocations_so_far(void) {
    return 0;
}

#endif
