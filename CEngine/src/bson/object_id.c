/*
 * bson/object_id.c -- generating ObjectIds.
 *
 * The only global mutable state: an ObjectId is unique because the process has one random number
 * and one counter, whichever databases it has open. There is no lock, because one that another
 * thread holds at the time of a fork would never be released in the child.
 */
#include "crypt/crypt.h"
#include "tansu.h"
#include "util/bytes.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t seeded_for; /* the process that process_random belongs to */
static _Atomic uint64_t process_random;
static _Atomic uint64_t counter;

/* fresh_random -- random bits from the system, or, where it has none, from clock and addresses. */
static uint64_t fresh_random(void) {
    uint64_t bits;
    if (crypt_random(&bits, sizeof bits, NULL) == TANSU_OK)
        return bits;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    bits = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    bits ^= (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)&now;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* tansu_oid_generate -- writes seconds, this process's random number and the counter. */
void tansu_oid_generate(uint8_t oid[12]) {
    if (oid == NULL)
        return;
    int64_t process = (int64_t)getpid();
    if (atomic_load_explicit(&seeded_for, memory_order_acquire) != process) {
        /* Two threads may both get here after a fork. Either number is new, and the counter
         * continues, so no id is generated twice. */
        atomic_store_explicit(&process_random, fresh_random(), memory_order_relaxed);
        atomic_fetch_add_explicit(&counter, fresh_random() & 0xFFFFFF, memory_order_relaxed);
        atomic_store_explicit(&seeded_for, process, memory_order_release);
    }
    uint64_t count = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    /* The carry of the three bytes of the counter goes into the random number, so more than 16
     * million ids a second remain unique. */
    uint64_t random = atomic_load_explicit(&process_random, memory_order_relaxed) + (count >> 24);
    store_be32(oid, (uint32_t)time(NULL));
    store_be32(oid + 4, (uint32_t)(random >> 8));
    oid[8] = (uint8_t)random;
    oid[9] = (uint8_t)(count >> 16);
    oid[10] = (uint8_t)(count >> 8);
    oid[11] = (uint8_t)count;
}
