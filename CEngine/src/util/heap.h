/*
 * util/heap.h -- returning free memory of the C library's allocator to the system, and keeping some
 * from it.
 */
#ifndef TANSU_UTIL_HEAP_H
#define TANSU_UTIL_HEAP_H

/* heap_trim -- returns free memory to the system, where the allocator has a call for that:
 * otherwise it keeps what was freed. Takes milliseconds, so only after much was freed. */
void heap_trim(void);

/* HEAP_KEEPS -- whether what was freed may be kept for the next of its kind, where the allocator's
 * time counts. With AddressSanitizer nothing is, so that it sees what is used after its end. */
#if defined(__SANITIZE_ADDRESS__)
#define HEAP_KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_KEEPS 0
#endif
#endif
#ifndef HEAP_KEEPS
#define HEAP_KEEPS 1
#endif

#endif
