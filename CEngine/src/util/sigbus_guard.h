/*
 * util/sigbus_guard.h -- guards mapped files against pages that can't be read.
 *
 * A mapped page that the file system fails to load (a read error of the device, a truncated file)
 * raises SIGBUS where the memory is touched. For guarded mappings a handler maps a page of zeros
 * there and counts the fault. The touching code continues and releases its locks and memory;
 * whoever returns a result first checks whether the count has changed, or whether the result
 * contains such a page. Faults elsewhere go to the handler that the program had installed before.
 *
 * The handler is installed as long as there is a guarded mapping. It takes no lock and allocates
 * nothing.
 */
#ifndef TANSU_UTIL_SIGBUS_GUARD_H
#define TANSU_UTIL_SIGBUS_GUARD_H

#include "util/aligned_u64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner's count; the handler's, read atomically. It counts before zeros can be seen. */
typedef struct guard_tally {
    aligned_u64 faults; /* pages that could not be read */
    aligned_u64 last;   /* the newest of them: the mapping's tag << 32 | offset */
} guard_tally;

/* guard_add -- guards a mapping that begins at a page; `tally` stays until guard_remove(). False
 * when memory is exhausted or the system refuses a handler. */
bool guard_add(const void *start, size_t size, uint32_t tag, guard_tally *tally);

/* guard_remove -- to be called before the mapping is unmapped; fine for one that is not guarded. */
void guard_remove(const void *start);

/* guard_faults -- how many pages could not be read so far. To be called after reading. */
static inline uint64_t guard_faults(const guard_tally *tally) {
#ifdef __SANITIZE_THREAD__ /* which knows no fences */
    __asm__ volatile("" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
    return __atomic_load_n(&tally->faults, __ATOMIC_RELAXED);
}

/* guard_touch -- reads from every page of some bytes that begin in a page that was read already:
 * afterwards all of them are loaded, or counted as faults. */
static inline void guard_touch(const void *start, size_t size) {
    const volatile uint8_t *bytes = start;
    /* No system has smaller pages. */
    for (size_t at = 4096 - (uintptr_t)start % 4096; at < size; at += 4096)
        (void)bytes[at];
}

/* guard_readable -- whether no page of these bytes is one of zeros. It examines all mappings: to be
 * asked only when there were faults. */
bool guard_readable(const void *start, size_t size);

#endif
