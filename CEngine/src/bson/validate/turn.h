/*
 * bson/validate/turn.h -- whose turn it is to use memory that fits one at a time: it stays with
 * whoever uses it, and goes to another one when that has been asked for often enough in between.
 */
#ifndef TANSU_BSON_VALIDATE_TURN_H
#define TANSU_BSON_VALIDATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_MAX_OTHERS 32

/* Zeroed, it is nobody's. */
typedef struct turn {
    uint64_t owner;  /* 0: nobody */
    uint32_t others; /* calls for other owners since the last one for this */
} turn;

/* turn_continues -- whether it is this owner's already. */
static inline bool turn_continues(turn *t, uint64_t owner) {
    if (t->owner != owner)
        return false;
    t->others = 0;
    return true;
}

/* turn_waits -- whether another owner keeps it for now. */
static inline bool turn_waits(turn *t) {
    return t->owner != 0 && ++t->others < TURN_MAX_OTHERS;
}

/* turn_begin -- makes it this owner's. */
static inline void turn_begin(turn *t, uint64_t owner) {
    *t = (turn){.owner = owner};
}

#endif
