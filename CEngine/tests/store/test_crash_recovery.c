/*
 * test_crash_recovery.c -- a process that writes is killed at random times, again and again, and
 * after each crash the database holds every commit that it had acknowledged, at most one more (the
 * one under way, whole), and answers every question as before: by indexes as by scans.
 *
 * The child does random work whose outcome depends on a random source alone, and reports each
 * acknowledged commit through a pipe. The parent repeats the same work on a model and compares.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CRASHES_USUALLY 60
/* Deaths that one database goes through; then a new one begins. */
#define KILLS_A_STORE 20

/* What the kills of one run came to. */
static struct {
    unsigned kills;
    unsigned in_opening;   /* before the child had opened the database */
    unsigned one_more;     /* the commit under way was there */
    unsigned kept;         /* the index files were whole enough to go on from */
    uint64_t acknowledged; /* commits */
} tally;

/* How a life of the child goes. */
typedef struct life {
    tansu_options options;
    uint64_t seed;
    unsigned delay_us; /* from its beginning to its end */
} life;

/* live -- what the child does until it is killed. Never returns. */
static void live(const life *l, store_model *m, int report) {
    random_source source = random_from(l->seed);
    uint64_t steps = 0;
    tansu_db *db = NULL;
    if (tansu_open(&l->options, &db, NULL) != TANSU_OK)
        _exit(3);
    for (;;) {
        /* The number of steps that are over; 0 means that the database is open. */
        if (write(report, &steps, sizeof steps) != (ssize_t)sizeof steps)
            _exit(4);
        store_model_step(m, &source, db);
        if (check_failures() != 0)
            _exit(5);
        steps++;
    }
}

/* pause_us -- sleeps. */
static void pause_us(unsigned us) {
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L}, NULL);
}

/* run_and_kill -- one life; *steps is how many the child reported, -1 when not even the opening. */
static void run_and_kill(const life *l, const store_model *m, int64_t *steps) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        store_model own = *m;
        live(l, &own, ends[1]);
    }
    close(ends[1]);
    /* Nothing is read before its end: a full pipe would only make the child wait. */
    pause_us(l->delay_us);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (!WIFSIGNALED(status))
        check_note("    the child ended by itself with code %d", WEXITSTATUS(status));
    *steps = -1;
    uint64_t reported;
    while (read(ends[0], &reported, sizeof reported) == (ssize_t)sizeof reported)
        *steps = (int64_t)reported;
    close(ends[0]);
}

/* follow -- does on the model what the child did: the steps that it reported, and the one after
 * them when the database has a commit more. */
static void follow(const life *l, store_model *m, int64_t steps, int64_t sequence) {
    random_source source = random_from(l->seed);
    for (int64_t i = 0; i < steps; i++)
        store_model_step(m, &source, NULL);
    tally.acknowledged += (uint64_t)(steps > 0 ? steps : 0);
    CHECK((int64_t)m->commits <= sequence);
    while (steps >= 0 && (int64_t)m->commits < sequence) {
        store_model before = *m;
        store_model_step(m, &source, NULL);
        if (!CHECK(m->commits == before.commits + 1))
            break;
        tally.one_more++;
        break;
    }
    CHECK_INT(m->commits, sequence);
}

/* random_life -- one of many kinds. */
static life random_life(random_source *source, const char *folder) {
    life l = {.options = call_options(folder), .seed = random_next(source)};
    l.options.durability =
        random_chance(source, 30) ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
    l.options.checkpoint_bytes =
        random_chance(source, 70) ? 1 + random_below(source, 60000) : (uint64_t)64 << 20;
    l.options.index_cache_bytes = random_chance(source, 50) ? 1 : (uint64_t)64 << 20;
    l.delay_us = random_chance(source, 25) ? (unsigned)random_below(source, 4000)
                                           : (unsigned)random_below(source, 60000);
    return l;
}

/* one_kill -- a life, its end, and the look at what it left. */
static void one_kill(random_source *source, const char *folder, store_model *m) {
    life l = random_life(source, folder);
    int64_t steps;
    run_and_kill(&l, m, &steps);
    tally.kills++;
    tally.in_opening += steps < 0;
    tansu_options options = call_options(folder);
    options.read_only = random_chance(source, 20);
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (options.read_only && status == TANSU_E_NOT_FOUND && steps < 0) {
        options.read_only = 0; /* it was killed before it had made anything */
        status = tansu_open(&options, &db, &call_error);
    }
    REQUIRE(CHECK_OK(status, &call_error));
    tally.kept += call_statistic(db, "checkpointSequence") > 0;
    follow(&l, m, steps, call_statistic(db, "sequence"));
    store_model_check(m, source, db, NULL);
    if (!options.read_only && random_chance(source, 30))
        CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    call_close(db);
    if (random_chance(source, 5))
        folder_remove(folder_join(folder, "index"));
}

static void acknowledged_commits_survive_crashes(void) {
    unsigned kills = (unsigned)random_rounds("TANSU_CRASHES", CRASHES_USUALLY);
    random_source source = random_start(1);
    while (tally.kills < kills && check_failures() == 0) {
        char *folder = folder_new();
        store_model m = {.most_pad = 20000};
        for (unsigned i = 0; i < KILLS_A_STORE && tally.kills < kills; i++) {
            one_kill(&source, folder, &m);
            if (check_failures() != 0) {
                check_note("    kill %u of the store in %s, which is kept", i, folder);
                free(folder);
                return;
            }
        }
        folder_end(folder);
    }
    check_note("%u kills (%u while opening), %llu steps acknowledged, %u times one commit more, "
               "%u times from a checkpoint",
               tally.kills, tally.in_opening, (unsigned long long)tally.acknowledged,
               tally.one_more, tally.kept);
    if (kills >= CRASHES_USUALLY / 4) { /* in the time of fewer, little may happen */
        /* A test that kills a child which has done nothing would prove nothing. */
        CHECK(tally.acknowledged > tally.kills);
        /* Nor would one that rebuilds all indexes each time prove that they survive. */
        CHECK(tally.kept > tally.kills / 3);
    }
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(acknowledged_commits_survive_crashes);
    return check_finish();
}
