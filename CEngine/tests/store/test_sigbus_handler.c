/*
 * test_sigbus_handler.c -- the guard of the log's pages and the program's own SIGBUS handlers: each
 * gets its own faults, whichever was set first, and what is nobody's ends the program.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/cut_log.h"
#include "support/folder.h"
#include "util/sigbus_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static atomic_int own_faults, other_calls;
static struct sigaction previous;
static uint8_t *volatile own_page;

/* own_fault -- the program's handler: takes what is its own, and passes the rest on. */
static void own_fault(int number, siginfo_t *info, void *context) {
    if ((uint8_t *)info->si_addr >= own_page && (uint8_t *)info->si_addr < own_page + 4096) {
        atomic_fetch_add(&own_faults, 1);
        siglongjmp(back, 1);
    }
    atomic_fetch_add(&other_calls, 1);
    if ((previous.sa_flags & SA_SIGINFO) != 0)
        previous.sa_sigaction(number, info, context);
}

/* map_own -- a page of the program's that can't be read. */
static void map_own(void) {
    char path[] = "/tmp/tansu-own-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    unlink(path);
    own_page = mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(own_page != MAP_FAILED);
    close(fd);
}

/* touch_own -- how often the program's handler was called for it. */
static int touch_own(void) {
    int before = atomic_load(&own_faults);
    if (sigsetjmp(back, 1) == 0)
        (void)*(volatile uint8_t *)own_page;
    return atomic_load(&own_faults) - before;
}

/* put_handler -- sets the program's. */
static void put_handler(void) {
    struct sigaction action = {.sa_sigaction = own_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    REQUIRE(sigaction(SIGBUS, &action, &previous) == 0);
}

/* handler_now -- the handler that is in place. */
static void (*handler_now(void))(int, siginfo_t *, void *) {
    struct sigaction now;
    REQUIRE(sigaction(SIGBUS, NULL, &now) == 0);
    return (now.sa_flags & SA_SIGINFO) != 0 ? now.sa_sigaction : NULL;
}

/* check_both -- the program's fault is its own, and the log's ours. */
static void check_both(tansu_db *db) {
    CHECK_INT(1, touch_own());
    int lost = cut_log_count_lost(db, NULL);
    CHECK(lost >= CUT_LOG_LOST_LEAST && lost <= CUT_LOG_LOST_MOST);
    CHECK_INT(1, touch_own());
}

static void a_handler_from_before_gets_its_own(void) {
    struct sigaction first;
    REQUIRE(sigaction(SIGBUS, NULL, &first) == 0);
    put_handler();
    char *folder = cut_log_database();
    CHECK(handler_now() == own_fault); /* no database is open */
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    CHECK(handler_now() != own_fault);
    atomic_store(&other_calls, 0);
    check_both(db);
    CHECK_INT(0, other_calls);
    call_close(db);
    CHECK(handler_now() == own_fault);
    CHECK_INT(1, touch_own());
    folder_end(folder);
    REQUIRE(sigaction(SIGBUS, &first, NULL) == 0);
}

static void a_handler_from_after_passes_on(void) {
    struct sigaction first;
    REQUIRE(sigaction(SIGBUS, NULL, &first) == 0);
    char *folder = cut_log_database(), *copy = folder_new();
    folder_remove(copy);
    folder_copy(folder, copy);
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    put_handler();
    atomic_store(&other_calls, 0);
    check_both(db);
    CHECK(other_calls > 0);
    call_close(db);
    CHECK(handler_now() == own_fault); /* it stays where it is, and so does ours after it */
    CHECK_INT(1, touch_own());
    /* Ours before it, once more: no circle. */
    db = cut_log_open(copy, CUT_LOG_SEGMENT, CUT_LOG_AT);
    CHECK(handler_now() != own_fault);
    check_both(db);
    call_close(db);
    CHECK(handler_now() == own_fault);
    REQUIRE(sigaction(SIGBUS, &first, NULL) == 0);
    folder_end(copy);
    folder_end(folder);
}

/* in_child -- how a child process ended that did this: its exit code, or minus the signal. */
static int in_child(void (*task)(const char *), const char *folder) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        task(folder);
        _exit(0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* by_default -- as if no handler had ever been set, that of a sanitizer included. */
static void by_default(void) {
    signal(SIGBUS, SIG_DFL);
}

static void fault_elsewhere(const char *folder) {
    by_default();
    tansu_db *db = cut_log_open(folder, CUT_LOG_SEGMENT, CUT_LOG_AT);
    cut_log_count_lost(db, NULL);
    (void)*(volatile uint8_t *)own_page;
}

static void signal_from_outside(const char *folder) {
    by_default();
    call_open(folder);
    kill(getpid(), SIGBUS);
}

static void ignored_signal_from_outside(const char *folder) {
    signal(SIGBUS, SIG_IGN);
    call_open(folder);
    kill(getpid(), SIGBUS);
}

static void read_unguarded(const char *folder) {
    by_default();
    tansu_options options = call_options(folder);
    options.read_mode = TANSU_READ_UNGUARDED;
    tansu_db *db = call_open_with(&options);
    if (handler_now() != NULL)
        _exit(1);
    REQUIRE(truncate(folder_join(folder, CUT_LOG_SEGMENT), CUT_LOG_AT) == 0);
    cut_log_count_lost(db, NULL);
}

static void what_is_not_ours_ends_the_program_as_ever(void) {
    char *folder = cut_log_database(), *copy = folder_new();
    static void (*const tasks[])(const char *) = {fault_elsewhere, signal_from_outside,
                                                  read_unguarded, ignored_signal_from_outside};
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        folder_remove(copy);
        folder_copy(folder, copy);
        CHECK_INT(i == 3 ? 0 : -SIGBUS, in_child(tasks[i], copy));
    }
    folder_end(copy);
    folder_end(folder);
}

static void many_mappings_come_and_go(void) {
    enum { MANY = 300, SIZE = 65536 };
    static uint8_t *maps[MANY];
    guard_tally tally = {0};
    char path[] = "/tmp/tansu-many-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    unlink(path);
    for (int i = 0; i < MANY; i++) {
        maps[i] = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
        REQUIRE(maps[i] != MAP_FAILED && guard_add(maps[i], SIZE, (uint32_t)i, &tally));
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(i, guard_faults(&tally));
        CHECK(guard_readable(maps[i], SIZE));
        CHECK_INT(0, *(volatile uint8_t *)(maps[i] + 40000));
        CHECK_INT(0, *(volatile uint8_t *)(maps[i] + 40001));
        CHECK_INT(i + 1, guard_faults(&tally));
        CHECK_INT(i, tally.last >> 32);
        CHECK(!guard_readable(maps[i] + 39000, 2000) && guard_readable(maps[i], 30000));
        if (i % 3 == 0) {
            guard_remove(maps[i]);
            munmap(maps[i], SIZE);
        }
    }
    for (int i = 0; i < MANY; i++)
        if (i % 3 != 0) {
            guard_remove(maps[i]);
            munmap(maps[i], SIZE);
        }
    close(fd);
}

int main(void) {
    map_own();
    RUN(many_mappings_come_and_go);
    RUN(a_handler_from_before_gets_its_own);
    RUN(a_handler_from_after_passes_on);
    RUN(what_is_not_ours_ends_the_program_as_ever);
    return check_finish();
}
