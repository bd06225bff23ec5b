/*
 * test_power_loss.c -- whatever a disk may hold after the power failed at any time, a database
 * opens and holds exactly a commit boundary, none older than the last commit that a caller knew to
 * be on the disk.
 *
 * The database runs on the disk of simulated_disk.h. at random times, before a file call by any
 * thread, one of the states that are possible then is made, opened with the system's calls and
 * compared with the model as of that commit. A life ends with such a state, and the next begins on
 * it. Now and then a sync fails, and the database goes on when it has been opened again: what was
 * lost of the page cache then must not be missing below a later commit.
 *
 * TANSU_SEED repeats a run; TANSU_LOSSES sets how many states are tried (300).
 */
#include "api/handles.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/simulated_disk.h"
#include "support/folder.h"
#include "support/model/store_model.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LOSSES_USUALLY 300
#define STEPS_MOST 400
#define COMPACTION_COMMITS 8 /* more than a compaction of this little makes */

static struct {
    random_source source; /* of the times and states; used under the disk's calls by one thread */
    pthread_mutex_t mutex;
    const char *folder;
    store_model *history;       /* by number of the commit */
    store_model scratch;        /* what the last state that was looked at held */
    atomic_ullong acknowledged; /* the last commit known to be on the disk */
    atomic_ullong attempted;
    unsigned rarely; /* one of this many file calls is looked at */
    bool looking;
    /* What the run came to. */
    unsigned losses, without_folder, behind, ahead, failed_syncs, kept, rebuilt;
} run = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* look_at -- opens a state and checks it: it holds a commit boundary from `least` on. */
static uint64_t look_at(const char *path, unsigned long long least) {
    tansu_options options = call_options(path);
    tansu_db *db = NULL;
    unsigned long long most = run.attempted;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error)) {
        check_note("    the state is kept in %s", path);
        exit(check_finish());
    }
    uint64_t sequence = (uint64_t)call_statistic(db, "sequence");
    if (!CHECK(sequence >= least && sequence <= most))
        check_note("    commit %llu, and it should be from %llu to %llu; the state is in %s",
                   (unsigned long long)sequence, least, most, path);
    else {
        random_source source = random_from(sequence);
        store_model_check(&run.history[sequence], &source, db, NULL);
    }
    run.kept += call_statistic(db, "checkpointSequence") != 0;
    run.rebuilt += db_inner(db)->checkpoints.rebuilt[0] != 0;
    run.behind += sequence < most;
    run.ahead += sequence > least;
    call_close(db);
    if (check_failures() != 0) {
        check_note("    the state is in %s", path);
        exit(check_finish());
    }
    return sequence;
}

/* lose -- one state of now, checked; "" when there is nothing in it. */
static const char *lose(uint64_t *sequence) {
    static unsigned number;
    static char path[300]; /* until the next state */
    char name[32];
    snprintf(name, sizeof name, "state%u", number++);
    snprintf(path, sizeof path, "%s", folder_join(run.folder, name));
    run.losses++;
    *sequence = 0;
    /* A thread may go on while this one looks: what it is reported from here on is not for this
     * state. */
    unsigned long long least = run.acknowledged;
    if (!disk_lose_power(&run.source, path)) {
        run.without_folder++;
        CHECK_INT(0, least);
        return "";
    }
    *sequence = look_at(path, least);
    return path;
}

/* before_call -- called by the disk before each of its calls. */
static void before_call(void *context) {
    (void)context;
    pthread_mutex_lock(&run.mutex);
    if (run.looking && random_below(&run.source, run.rarely) == 0) {
        uint64_t sequence;
        const char *path = lose(&sequence);
        if (path[0] != 0)
            folder_remove(path);
    }
    pthread_mutex_unlock(&run.mutex);
}

/* open_on_disk -- the database on the disk that can lose power. */
static tansu_db *open_on_disk(const char *path, random_source *source) {
    tansu_options options = call_options(path);
    options.durability =
        random_chance(source, 70) ? TANSU_DURABILITY_FULL : TANSU_DURABILITY_PROCESS;
    options.checkpoint_bytes =
        random_chance(source, 70) ? 1 + random_below(source, 60000) : (uint64_t)64 << 20;
    tansu_db *db = NULL;
    if (!CHECK_OK(handle_open(&options, &simulated_disk_fs, NULL, &db, &call_error), &call_error))
        exit(check_finish());
    return db;
}

/* one_step -- a commit, which is acknowledged when the durability says so. */
static void one_step(store_model *m, random_source *source, tansu_db *db) {
    random_source same = *source;
    store_model after = *m;
    store_model_step(&after, &same, NULL);
    run.history[after.commits] = after;
    run.attempted = after.commits;
    store_model_step(m, source, db);
    if (db_inner(db)->options.durability == TANSU_DURABILITY_FULL)
        run.acknowledged = m->commits;
}

/* compact_once -- a compaction, whose commits change nothing. */
static void compact_once(store_model *m, tansu_db *db) {
    for (int i = 0; i < COMPACTION_COMMITS; i++) {
        store_model same = *m;
        same.commits = run.attempted + 1;
        run.history[same.commits] = same;
        run.attempted = same.commits;
    }
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    m->commits = (uint64_t)call_statistic(db, "sequence");
    CHECK(m->commits <= run.attempted);
    run.acknowledged = run.attempted = m->commits;
}

/* end_dead -- ends the handle of a process that was killed: nothing more is written. */
static void end_dead(tansu_db *db) {
    db_inner(db)->discard = true;
    db_inner(db)->log->read_only = true;
    call_close(db);
}

/* fail_a_sync -- has a sync fail, if one has something to do, and opens the database again,
 * which was closed or whose process was killed. */
static tansu_db *fail_a_sync(const char *path, random_source *source, tansu_db *db) {
    disk_fail_sync(true);
    tansu_status status = tansu_sync(db, &call_error);
    if (disk_fail_sync(false)) /* a checkpoint concurrently with this may have met it, too */
        return db;
    run.failed_syncs++;
    if (status != TANSU_OK) {
        CHECK_STATUS(TANSU_E_IO, status);
        CHECK_STATUS(TANSU_E_SYNC_FAILED, call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1}"));
    }
    if (random_chance(source, 50))
        end_dead(db);
    else
        CHECK(tansu_shutdown(db, &call_error) == status);
    return open_on_disk(path, source);
}

/* live -- some steps with checkpoints, compactions, syncs and clean ends between them, and a
 * loss of power. The path of the state that is left, or "". */
static const char *live(const char *path, store_model *m, uint64_t *left) {
    random_source source = random_start(2 + run.losses);
    disk_start(path, before_call, NULL);
    run.looking = true;
    tansu_db *db = open_on_disk(path, &source);
    unsigned steps = (unsigned)random_below(&source, STEPS_MOST / 4);
    for (unsigned i = 0; i < steps; i++) {
        one_step(m, &source, db);
        if (random_chance(&source, 2))
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        if (random_chance(&source, 3))
            compact_once(m, db);
        if (random_chance(&source, 3) && CHECK_OK(tansu_sync(db, &call_error), &call_error))
            run.acknowledged = m->commits;
        if (random_chance(&source, 4))
            db = fail_a_sync(path, &source, db);
        if (random_chance(&source, 2)) {
            call_close(db);
            run.acknowledged = m->commits;
            db = open_on_disk(path, &source);
        }
    }
    pthread_mutex_lock(&run.mutex);
    run.looking = false;
    const char *state = lose(left);
    pthread_mutex_unlock(&run.mutex);
    call_close(db);
    disk_end();
    return state;
}

static void commits_survive_power_loss(void) {
    unsigned losses = (unsigned)random_rounds("TANSU_LOSSES", LOSSES_USUALLY);
    run.source = random_start(1);
    run.rarely = 60;
    run.history = calloc(STEPS_MOST * 2, sizeof *run.history);
    REQUIRE(run.history != NULL);
    while (run.losses < losses) {
        char *folder = folder_new();
        run.folder = folder;
        run.acknowledged = run.attempted = 0;
        store_model m = {.most_pad = 20000};
        run.history[0] = m;
        char path[300];
        snprintf(path, sizeof path, "%s", folder_join(folder, "db"));
        /* A life makes at most STEPS_MOST / 4 commits. */
        while (m.commits < STEPS_MOST && run.losses < losses) {
            uint64_t left;
            const char *state = live(path, &m, &left);
            folder_remove(path);
            if (state[0] == 0)
                break;
            m = run.history[left];
            run.acknowledged = run.attempted = left;
            snprintf(path, sizeof path, "%s", state);
        }
        folder_end(folder);
    }
    check_note(
        "%u losses of power: %u left nothing, %u an older commit than the last, %u more than "
        "was acknowledged; %u syncs failed",
        run.losses, run.without_folder, run.behind, run.ahead, run.failed_syncs);
    check_note("index files: %u times kept, %u times rebuilt", run.kept, run.rebuilt);
    /* One of twenty was spoilt beyond what power loss does. */
    CHECK(run.rebuilt < run.losses / 8 + 5);
    if (losses >= LOSSES_USUALLY / 4) /* a few may all lose nothing */
        CHECK(run.behind > 0 && run.ahead > 0 && run.failed_syncs > 0);
    free(run.history);
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(commits_survive_power_loss);
    return check_finish();
}
