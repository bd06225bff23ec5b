/*
 * util/aligned_u64.h -- a number of 64 bits that threads or processes share.
 *
 * i386 aligns uint64_t to 4 bytes in structs. Of such a one, a load may see two halves, or the
 * compiler calls libatomic for it, whose locks other processes and signal handlers do not know.
 */
#ifndef TANSU_UTIL_ALIGNED_U64_H
#define TANSU_UTIL_ALIGNED_U64_H

#include <stdint.h>

typedef uint64_t aligned_u64 __attribute__((aligned(8)));

#endif
