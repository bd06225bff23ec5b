/*
 * util/crc/crc.c -- CRC-32 (polynomial EDB88320, reflected).
 *
 * Every byte that is written passes through here once, and every byte that recovery reads. zlib's
 * portable code takes 3.5 instructions a byte, an eighth of a bulk insert and a fifth of a replay.
 * x86 folds 64 bytes at a time by carry-less multiplication, as in "Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ Instruction" (Gopal and others, Intel, 2009), from which the
 * constants are: 16 bytes in three instructions. ARM has an instruction for this very polynomial.
 */
#include "util/crc/crc.h"

#include "util/bytes.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

#if defined(__x86_64__)

#define FOLD_LEAST 64u /* fewer bytes are not worth the reduction at the end */
#define FOLDED __attribute__((target("pclmul,sse4.1")))

/* fold -- moves 128 bits forward by the distance of the constants, onto the bytes there. */
FOLDED static inline __m128i fold(__m128i bits, __m128i constants, __m128i onto) {
    __m128i low = _mm_clmulepi64_si128(bits, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(bits, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

FOLDED static inline __m128i load(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* reduce -- the CRC's register from the last 128 bits: to 96, to 64, and by Barrett to 32. */
FOLDED static uint32_t reduce(__m128i bits, __m128i by_16) {
    const __m128i by_8 = _mm_set_epi64x(0, 0x163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    const __m128i low_words = _mm_setr_epi32(-1, 0, -1, 0);
    bits = _mm_xor_si128(_mm_srli_si128(bits, 8), _mm_clmulepi64_si128(bits, by_16, 0x10));
    __m128i rest = _mm_srli_si128(bits, 4);
    bits = _mm_xor_si128(rest, _mm_clmulepi64_si128(_mm_and_si128(bits, low_words), by_8, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(bits, low_words), polynomial, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), polynomial, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(bits, quotient), 1);
}

/* crc_folded -- the register after `size` bytes, a multiple of 16 and at least FOLD_LEAST. */
FOLDED static uint32_t crc_folded(uint32_t reg, const uint8_t *bytes, size_t size) {
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const uint8_t *end = bytes + size;
    __m128i a = _mm_xor_si128(load(bytes), _mm_cvtsi32_si128((int)reg));
    __m128i b = load(bytes + 16), c = load(bytes + 32), d = load(bytes + 48);
    for (bytes += 64; end - bytes >= 64; bytes += 64) {
        a = fold(a, by_64, load(bytes));
        b = fold(b, by_64, load(bytes + 16));
        c = fold(c, by_64, load(bytes + 32));
        d = fold(d, by_64, load(bytes + 48));
    }
    a = fold(fold(fold(a, by_16, b), by_16, c), by_16, d);
    for (; bytes < end; bytes += 16)
        a = fold(a, by_16, load(bytes));
    return reduce(a, by_16);
}

uint32_t crc_of(uint32_t crc, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    if (size >= FOLD_LEAST && at != NULL && __builtin_cpu_supports("pclmul") &&
        __builtin_cpu_supports("sse4.1")) {
        size_t whole = size & ~(size_t)15;
        crc = ~crc_folded(~crc, at, whole);
        at += whole;
        size -= whole;
    }
    return size == 0 && at != NULL ? crc : (uint32_t)crc32_z(crc, at, size);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

uint32_t crc_of(uint32_t crc, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    uint32_t reg = ~crc;
    if (bytes == NULL)
        return 0;
    for (; size >= 8; size -= 8, at += 8)
        reg = __crc32d(reg, load_u64(at));
    for (; size > 0; size--)
        reg = __crc32b(reg, *at++);
    return ~reg;
}

#else

uint32_t crc_of(uint32_t crc, const void *bytes, size_t size) {
    return (uint32_t)crc32_z(crc, bytes, size);
}

#endif
