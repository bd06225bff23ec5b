/*
 * base/guard.h -- mapped files whose pages can't be read. Part base.
 *
 * A mapped page that the file system fails to bring in (a read error of the device, a file that somebody
 * cut) raises SIGBUS where the memory is touched. For the mappings that are guarded a handler puts a
 * page of zeros there, and counts: the touching code goes on, frees and unlocks what it holds, and whoever
 * gives an answer out asks first whether the count has changed, or whether a page of the answer is one of
 * zeros. Faults anywhere else go to the handler that the program had before.
 *
 * The handler is in place as long as there is a guarded mapping. It takes no lock and allocates nothing.
 */
#ifndef TANSU_BASE_GUARD_H
#define TANSU_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner's count; the handler's, read atomically. It counts before zeros can be seen. */
typedef struct guard_tally {
    uint64_t faults; /* pages that could not be read */
    uint64_t last;   /* the newest of them: the mapping's tag << 32 | offset */
} guard_tally;

/* guard_add -- guards a mapping that begins at a page; `tally` stays until guard_remove(). False when memory is
 * exhausted or the system refuses a handler. */
bool guard_add(const void *start, size_t size, uint32_t tag, guard_tally *tally);

/* guard_remove -- to be called before the mapping goes; fine for one that is not guarded. */
void guard_remove(const void *start);

/* guard_faults -- how many pages could not be read so far. To be asked behind the reading. */
static inline uint64_t guard_faults(const guard_tally *tally) {
#ifdef __SANITIZE_THREAD__ /* which knows no fences */
    __asm__ volatile("" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
    return __atomic_load_n(&tally->faults, __ATOMIC_RELAXED);
}

/* guard_touch -- reads from every page of some bytes that begin in one that was read already: what is to be shown
 * in place is there then, or has been counted. */
static inline void guard_touch(const void *start, size_t size) {
    const volatile uint8_t *bytes = start;
    /* No system has smaller pages. */
    for (size_t at = 4096 - (uintptr_t)start % 4096; at < size; at += 4096)
        (void)bytes[at];
}

/* guard_sound -- whether no page of these bytes is one of zeros. It looks at all mappings: to be asked only when
 * there were faults. */
bool guard_sound(const void *start, size_t size);

#endif
