/*
 * interrupt.c -- Ctrl-C in a long call of the main thread.
 */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define PART_NS 1000000 /* nanoseconds between two looks at the handler of SIGINT */

static pthread_t main_thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all that is not atomic */
static interrupt_call *running;                           /* the innermost one */
static atomic_bool asked;
static struct sigaction previous; /* what SIGINT did before */
static int wake[2] = {-1, -1};
static bool watching;  /* there is a watcher in this process */
static bool installed; /* once */
static unsigned forks;

/* on_signal -- does what SIGINT did before, and wakes the watcher. */
static void on_signal(int number, siginfo_t *info, void *context) {
    int saved = errno;
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, context);
    else
        previous.sa_handler(number);
    /* After Python's, which notes it: when the call returns, Python knows why. */
    atomic_store(&asked, true);
    ssize_t written = write(wake[1], "", 1); /* a full pipe wakes as well */
    (void)written;
    errno = saved;
}

/* watch -- the watcher: cancels the running call whenever SIGINT came. */
static void *watch(void *unused) {
    (void)unused;
    char byte;
    for (;;) {
        ssize_t count = read(wake[0], &byte, 1);
        if (count == 0 || (count < 0 && errno != EINTR))
            return NULL;
        pthread_mutex_lock(&mutex);
        if (running != NULL && atomic_load(&asked)) {
            tansu_txn_cancel(running->txn);
            tansu_cursor_cancel(running->cursor);
        }
        pthread_mutex_unlock(&mutex);
    }
}

/* in_child -- after fork(): there is one thread, which is in no call, and no watcher. */
static void in_child(void) {
    pthread_mutex_init(&mutex, NULL);
    running = NULL;
    watching = false;
    forks++;
    main_thread = pthread_self();
}

void interrupt_init(uintptr_t thread) {
    main_thread = (pthread_t)thread;
    pthread_atfork(NULL, NULL, in_child);
}

/* start_watcher -- once a process. Returns whether there is one. */
static bool start_watcher(void) {
    if (watching)
        return true;
    if (wake[0] >= 0) { /* those of the parent */
        close(wake[0]);
        close(wake[1]);
    }
    if (pipe(wake) != 0)
        return false;
    fcntl(wake[0], F_SETFD, FD_CLOEXEC);
    fcntl(wake[1], F_SETFD, FD_CLOEXEC);
    fcntl(wake[1], F_SETFL, O_NONBLOCK);
    sigset_t all, before;
    sigfillset(&all);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watching = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (watching)
        pthread_detach(thread);
    return watching;
}

/* is_previous -- whether it is the handler that we call: the first that we met, Python's in
 * general. Others that were set later may call us, and are left. */
static bool is_previous(const struct sigaction *action) {
    bool info = (action->sa_flags & SA_SIGINFO) != 0;
    if (info != ((previous.sa_flags & SA_SIGINFO) != 0))
        return false;
    return info ? action->sa_sigaction == previous.sa_sigaction
                : action->sa_handler == previous.sa_handler;
}

void interrupt_install(void) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_mutex_lock(&mutex);
    if (sigaction(SIGINT, NULL, &now) == 0) {
        bool handled = (now.sa_flags & SA_SIGINFO) != 0 ||
                       (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
        if ((installed ? is_previous(&now) : handled) && start_watcher()) {
            previous = now;
            ours.sa_mask = now.sa_mask;
            installed = sigaction(SIGINT, &ours, NULL) == 0;
        }
    }
    pthread_mutex_unlock(&mutex);
}

bool interrupt_is_main(void) {
    return pthread_equal(pthread_self(), main_thread);
}

/* install_again -- for programs that set a handler of their own later, as notebooks do for each
 * cell. Looking takes a system call, so that the short calls of a millisecond do it once. */
static void install_again(void) {
    static time_t second;
    static long part; /* of it */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec == second && now.tv_nsec / PART_NS == part)
        return;
    second = now.tv_sec;
    part = now.tv_nsec / PART_NS;
    interrupt_install();
}

void interrupt_begin(interrupt_call *call, tansu_txn *txn, tansu_cursor *cursor) {
    *call = (interrupt_call){.active = interrupt_is_main(), .txn = txn, .cursor = cursor};
    if (!call->active)
        return;
    install_again();
    pthread_mutex_lock(&mutex);
    call->outer = running;
    if (running == NULL)
        atomic_store(&asked, false);
    running = call;
    pthread_mutex_unlock(&mutex);
}

void interrupt_end(interrupt_call *call) {
    if (!call->active)
        return;
    pthread_mutex_lock(&mutex);
    running = call->outer;
    pthread_mutex_unlock(&mutex);
}

bool interrupt_asked(void) {
    return interrupt_is_main() && atomic_load(&asked);
}

unsigned interrupt_forks(void) {
    return forks;
}
