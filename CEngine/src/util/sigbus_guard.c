/*
 * util/sigbus_guard.c -- the SIGBUS handler of guarded mappings.
 *
 * The handler replaces pages and does not jump: the code that touches them holds locks and memory.
 */
#include "util/sigbus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- The mappings ---- */

/* One mapping. Never freed: a handler may be examining it. */
typedef struct slot {
    uintptr_t start; /* 0: free. Stored last and cleared first */
    size_t size;
    aligned_u64 *bad; /* a bit a page */
    guard_tally *tally;
    uint32_t tag;
} slot;

#define BLOCK_SLOTS 128u

typedef struct block {
    slot slots[BLOCK_SLOTS];
    struct block *next;
} block;

static block first_block;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t guarded; /* mappings; the mutex is held */
static uintptr_t page_size;

/* slot_find -- the mapping that an address lies in; NULL when there is none. Takes no lock. */
static slot *slot_find(uintptr_t address) {
    for (block *b = &first_block; b != NULL; b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE))
        for (uint32_t i = 0; i < BLOCK_SLOTS; i++) {
            slot *s = &b->slots[i];
            uintptr_t start = __atomic_load_n(&s->start, __ATOMIC_ACQUIRE);
            if (start == 0 || address < start ||
                address - start >= __atomic_load_n(&s->size, __ATOMIC_ACQUIRE))
                continue;
            /* Both are of the same mapping if it is still the same. */
            if (__atomic_load_n(&s->start, __ATOMIC_ACQUIRE) == start)
                return s;
        }
    return NULL;
}

/* slot_free -- a free slot; NULL when memory is exhausted. The mutex is held. */
static slot *slot_free(void) {
    for (block *b = &first_block;; b = b->next) {
        for (uint32_t i = 0; i < BLOCK_SLOTS; i++)
            if (b->slots[i].start == 0)
                return &b->slots[i];
        if (b->next != NULL)
            continue;
        block *more = calloc(1, sizeof *more);
        if (more == NULL)
            return NULL;
        __atomic_store_n(&b->next, more, __ATOMIC_RELEASE);
    }
}

/* bad_words -- how many words the bits of a mapping take. */
static size_t bad_words(size_t size) {
    return ((size + page_size - 1) / page_size + 63) / 64;
}

bool guard_readable(const void *start, size_t size) {
    uintptr_t address = (uintptr_t)start;
    const slot *s = slot_find(address);
    if (s == NULL || size == 0)
        return true;
    uintptr_t offset = address - s->start;
    if (size > s->size - offset)
        size = s->size - offset;
    for (uintptr_t i = offset / page_size; i <= (offset + size - 1) / page_size; i++)
        if (__atomic_load_n(&s->bad[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1)
            return false;
    return true;
}

/* ---- The handler ---- */

/* zeros -- puts pages of zeros at an address. */
static bool zeros(uintptr_t address, size_t size) {
    return mmap((void *)address, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED,
                -1, 0) != MAP_FAILED;
}

/* replace -- takes a fault at an address; false when it is not one of a guarded mapping. */
static bool replace(uintptr_t address) {
    slot *s = slot_find(address);
    if (s == NULL)
        return false;
    uintptr_t page = (address - s->start) / page_size;
    /* First the count of the fault, then the zeros. */
    __atomic_fetch_or(&s->bad[page / 64], (uint64_t)1 << page % 64, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->tally->last, (uint64_t)s->tag << 32 | page * page_size, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&s->tally->faults, 1, __ATOMIC_SEQ_CST);
    if (zeros(s->start + page * page_size, page_size))
        return true;
    /* The kernel allows no further mapping; replacing the whole needs none. */
    for (size_t i = 0; i < bad_words(s->size); i++)
        __atomic_store_n(&s->bad[i], UINT64_MAX, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&s->tally->faults, 1, __ATOMIC_SEQ_CST);
    return zeros(s->start, s->size);
}

/* The signals that a page raises that can't be read. */
static const int signals[] = {
    SIGBUS,
#ifdef __APPLE__
    SIGSEGV,
#endif
};
#define SIGNALS (sizeof signals / sizeof signals[0])

/* A program may install its own handler over ours and remove ours or not when we uninstall: then
 * ours stays installed, and the next one is another function, so that each has one successor and
 * there is no cycle. */
#define LEVELS 8

typedef struct level {
    struct sigaction before; /* what was there */
    bool spent;              /* SA_RESETHAND: it was for one signal only, which has arrived */
} level;

static level levels[SIGNALS][LEVELS];
static int depth[SIGNALS]; /* levels in use; the mutex is held */

/* by_default -- lets a signal do what it does without a handler. */
static void by_default(int number, const siginfo_t *info) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
    /* A fault repeats when its instruction is repeated; a signal that somebody sent does not. */
    if (info->si_code <= 0)
        (void)raise(number);
}

/* pass_on -- passes a signal to the handler that was installed before. */
static void pass_on(level *l, int number, siginfo_t *info, void *context) {
    const struct sigaction *before = &l->before;
    bool spent = __atomic_load_n(&l->spent, __ATOMIC_RELAXED);
    bool sent = info->si_code <= 0;
    if (!spent && (before->sa_flags & SA_SIGINFO) == 0 && before->sa_handler == SIG_IGN && sent)
        return;
    if (spent || ((before->sa_flags & SA_SIGINFO) == 0 &&
                  (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN))) {
        by_default(number, info);
        return;
    }
    if ((before->sa_flags & (int)SA_RESETHAND) != 0)
        __atomic_store_n(&l->spent, true, __ATOMIC_RELAXED);
    sigset_t mask;
    bool masked = pthread_sigmask(SIG_BLOCK, &before->sa_mask, &mask) == 0;
    if ((before->sa_flags & SA_SIGINFO) != 0)
        before->sa_sigaction(number, info, context);
    else
        before->sa_handler(number);
    if (masked)
        (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* is_fault -- whether a signal is caused by memory whose page could not be loaded. */
static bool is_fault(int number, const siginfo_t *info) {
    return info->si_code > 0 && (number != SIGBUS || info->si_code != BUS_ADRALN);
}

/* handle -- what all levels do. */
static void handle(int at, int number, siginfo_t *info, void *context) {
    int saved = errno;
    if (!is_fault(number, info) || !replace((uintptr_t)info->si_addr))
        for (size_t i = 0; i < SIGNALS; i++)
            if (signals[i] == number)
                pass_on(&levels[i][at], number, info, context);
    errno = saved;
}

#define HANDLER(n)                                                       \
    static void handle_##n(int number, siginfo_t *info, void *context) { \
        handle(n, number, info, context);                                \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
HANDLER(4)
HANDLER(5)
HANDLER(6)
HANDLER(7)

static void (*const handlers[LEVELS])(int, siginfo_t *, void *) = {
    handle_0, handle_1, handle_2, handle_3, handle_4, handle_5, handle_6, handle_7,
};

/* is_ours -- the level of a handler that is one of ours, or -1. */
static int is_ours(const struct sigaction *action) {
    for (int i = 0; (action->sa_flags & SA_SIGINFO) != 0 && i < LEVELS; i++)
        if (action->sa_sigaction == handlers[i])
            return i;
    return -1;
}

/* install -- installs the handler of one signal. False when the system refuses. */
static bool install(size_t i) {
    struct sigaction now;
    if (sigaction(signals[i], NULL, &now) != 0)
        return false;
    /* With every level under a handler of the program, the lowest are asked by those above. */
    if (is_ours(&now) >= 0 || depth[i] == LEVELS)
        return true;
    struct sigaction action = {.sa_sigaction = handlers[depth[i]],
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    levels[i][depth[i]] = (level){.before = now};
    if (sigaction(signals[i], &action, NULL) != 0)
        return false;
    depth[i]++;
    return true;
}

/* uninstall -- restores a signal's handler, unless somebody has installed another one over ours. */
static void uninstall(size_t i) {
    struct sigaction now;
    if (depth[i] == 0 || sigaction(signals[i], NULL, &now) != 0 || is_ours(&now) != depth[i] - 1)
        return;
    level *top = &levels[i][depth[i] - 1];
    struct sigaction before = top->before;
    if (top->spent)
        before = (struct sigaction){.sa_handler = SIG_DFL};
    if (sigaction(signals[i], &before, NULL) == 0)
        depth[i]--;
}

/* ---- Beginning and ending ---- */

bool guard_add(const void *start, size_t size, uint32_t tag, guard_tally *tally) {
    bool done = false;
    pthread_mutex_lock(&mutex);
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    slot *s = slot_free();
    uint64_t *bad = s == NULL ? NULL : calloc(bad_words(size), sizeof *bad);
    if (bad != NULL) {
        done = true;
        for (size_t i = 0; guarded == 0 && i < SIGNALS; i++)
            done = install(i) && done;
        guarded++;
        s->bad = bad;
        s->tally = tally;
        s->tag = tag;
        __atomic_store_n(&s->size, size, __ATOMIC_RELEASE);
        __atomic_store_n(&s->start, (uintptr_t)start, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    if (bad != NULL && !done)
        guard_remove(start);
    return done;
}

void guard_remove(const void *start) {
    pthread_mutex_lock(&mutex);
    slot *s = guarded == 0 ? NULL : slot_find((uintptr_t)start);
    if (s != NULL) {
        __atomic_store_n(&s->start, 0, __ATOMIC_SEQ_CST);
        free(s->bad);
        s->bad = NULL;
        guarded--;
        for (size_t i = 0; guarded == 0 && i < SIGNALS; i++)
            uninstall(i);
    }
    pthread_mutex_unlock(&mutex);
}
