/*
 * bson/backoff.h -- exponential back-off for optional fast paths (skips 1, 3, 7 … 64 attempts after
 * failures).
 */
#ifndef TANSU_BSON_BACKOFF_H
#define TANSU_BSON_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_MAX_WAIT 64

/* Zeroed, it has nothing to wait for. */
typedef struct backoff {
    uint32_t wait;  /* occasions that are still to be passed over */
    uint32_t waits; /* how many there are after the next failure */
} backoff;

/* backoff_passes_over -- whether this occasion is to be passed over. */
static inline bool backoff_passes_over(backoff *b) {
    if (b->wait == 0)
        return false;
    b->wait--;
    return true;
}

/* backoff_failed -- twice as many occasions are passed over as after the last failure. */
static inline void backoff_failed(backoff *b) {
    b->wait = b->waits;
    b->waits = b->waits < BACKOFF_MAX_WAIT ? b->waits * 2 + 1 : b->waits;
}

/* backoff_succeeded -- half as many will be. */
static inline void backoff_succeeded(backoff *b) {
    b->waits /= 2;
}

#endif
