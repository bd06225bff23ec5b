/*
 * test_reader_feeds_crash.c -- what docs/readers.md and tansu.h promise to processes that read for
 * long while another one writes, checkpoints, compacts, ends and is killed: change feeds, cursors
 * that are held while the handle goes on, and indexes that agree with scans.
 *
 * The content follows from the number of its commit alone, which the database records. A reader has
 * a copy of the content that only the events of its feed change. After each it is the content
 * of exactly the next one, unless a compaction has dropped what was replaced later (docs/
 * observation.md): then it has to be right when everything is delivered. A feed may end with
 * NOT_FOUND where removals were dropped, and the copy is made again.
 *
 * TANSU_SEED repeats the choices of a run, TANSU_CRASHES sets how many processes are killed (50).
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS_USUALLY 50
#define READERS 3
#define IDS 100
#define CURSORS 4
#define TAIL 50 /* documents of the collection "tail": of the last commits */
#define TAIL_BITS ((int64_t)1 << 16)

/* What the database holds after that many commits of documents: `n`, 0 where there is none. */
typedef struct content {
    int64_t step;
    int32_t n[IDS];
} content;

/* What the processes share. */
static struct shared {
    atomic_int_fast64_t begun, acknowledged;
    atomic_uint_fast64_t delivered, skipping, incomplete, held, compared, reopened, compactions,
        ends;
} * shared;

static const char *store_path;
static uint64_t store_seed;

/* fail -- ends the child; the parent sees it. */
_Noreturn static void fail(const char *what) {
    fprintf(stderr, "    process %ld: %s (%s)\n", (long)getpid(), what, call_error.message);
    _exit(1);
}

/* must -- a call of a child that may not fail. */
static void must(tansu_status status, const char *call) {
    if (status != TANSU_OK)
        fail(call);
}

static void pause_up_to(random_source *source, uint64_t nanoseconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)random_below(source, nanoseconds)}, NULL);
}

/* ---- The content ---- */

/* change_next -- the changes of the next commit: ids, and their new `n`. */
static unsigned change_next(content *c, int32_t ids[8]) {
    random_source source = random_from(store_seed + (uint64_t)++c->step * 7919u);
    unsigned count = 1 + (unsigned)random_below(&source, 7);
    for (unsigned i = 0; i < count; i++) {
        ids[i] = (int32_t)random_below(&source, IDS);
        c->n[ids[i]] = random_chance(&source, 30) ? 0 : 1 + (int32_t)random_below(&source, 30);
    }
    return count;
}

/* content_at -- of a commit; `c` may be of a later one. */
static void content_at(content *c, int64_t step) {
    int32_t ids[8];
    if (step < c->step)
        *c = (content){.step = 0};
    while (c->step < step)
        change_next(c, ids);
}

/* put -- a document with some bytes, so that segments fill up. */
static void put(tansu_db *db, tansu_txn *txn, const char *collection, bson_t *doc) {
    tansu_document d = document_of(doc);
    must(tansu_save(db, txn, collection, &d, 1, TANSU_SAVE, NULL, &call_error), "save");
    bson_destroy(doc);
}

/* commit_next -- the next commit. */
static void commit_next(content *c, tansu_db *db) {
    static const uint8_t filling[4000];
    int32_t ids[8];
    tansu_txn *txn = NULL;
    unsigned count = change_next(c, ids);
    must(tansu_txn_begin(db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &txn, &call_error),
         "begin");
    for (unsigned i = 0; i < count; i++) {
        if (c->n[ids[i]] != 0) {
            put(db, txn, "c",
                BCON_NEW("_id", BCON_INT32(ids[i]), "n", BCON_INT32(c->n[ids[i]]), "pad",
                         BCON_BIN(BSON_SUBTYPE_BINARY, filling, (uint32_t)(ids[i] % 100 * 40))));
            continue;
        }
        bson_t *id = BCON_NEW("_id", BCON_INT32(ids[i]));
        must(tansu_remove_id(db, txn, "c", document_of(id), NULL, &call_error), "remove");
        bson_destroy(id);
    }
    /* Each of these is removed once and never comes back: a removal that is missed is seen. */
    put(db, txn, "tail", BCON_NEW("_id", BCON_INT64(c->step)));
    if (c->step > TAIL) {
        bson_t *id = BCON_NEW("_id", BCON_INT64(c->step - TAIL));
        must(tansu_remove_id(db, txn, "tail", document_of(id), NULL, &call_error), "remove");
        bson_destroy(id);
    }
    put(db, txn, "state", BCON_NEW("_id", BCON_INT32(0), "step", BCON_INT64(c->step)));
    must(tansu_txn_commit(txn, NULL, &call_error), "commit");
}

/* number_in -- a field of a document. */
static int64_t number_in(const tansu_document *d, const char *field) {
    bson_t doc;
    bson_iter_t iter;
    if (!bson_init_static(&doc, d->data, d->size) || !bson_iter_init_find(&iter, &doc, field))
        fail("a document is not one of those that were written");
    return bson_iter_as_int64(&iter);
}

/* stored_step -- what the database records; 0 without a commit. */
static int64_t stored_step(tansu_db *db, tansu_txn *txn) {
    bson_t *id = BCON_NEW("_id", BCON_INT32(0));
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status = tansu_get(db, txn, "state", document_of(id), &result, &call_error);
    if (status != TANSU_E_NOT_FOUND)
        must(status, "get");
    int64_t step = 0;
    if (status == TANSU_OK)
        step = number_in(&(tansu_document){result.data, result.size}, "step");
    tansu_buffer_free(&result);
    bson_destroy(id);
    return step;
}

/* ---- Reading ---- */

/* open_cursor -- over documents with `n` of at least 1, in insertion order. */
static tansu_cursor *open_cursor(tansu_db *db, tansu_txn *txn, bool index) {
    bson_t *query = BCON_NEW("n", "{", "$gte", BCON_INT32(1), "}");
    bson_t *hints = BCON_NEW("$index", BCON_BOOL(false));
    tansu_cursor *cursor;
    must(tansu_find(db, txn, "c", document_of(query), document_of(index ? NULL : hints), &cursor,
                    &call_error),
         "find");
    bson_destroy(query);
    bson_destroy(hints);
    return cursor;
}

/* read_all -- the rest of a cursor: all documents of a content, each once; their order in `order`,
 * which may be NULL. */
static void read_all(tansu_cursor *cursor, const content *c, int32_t order[IDS]) {
    bool seen[IDS] = {false};
    tansu_document d;
    tansu_status status;
    int count = 0;
    while ((status = tansu_cursor_next(cursor, &d, &call_error)) == TANSU_OK) {
        int64_t id = number_in(&d, "_id");
        if (id < 0 || id >= IDS || c->n[id] == 0 || seen[id])
            fail("there is a document that should not be there, or twice");
        if (number_in(&d, "n") != c->n[id])
            fail("a document is one of another commit");
        seen[id] = true;
        if (order != NULL)
            order[count] = (int32_t)id;
        count++;
    }
    must(status == TANSU_DONE ? TANSU_OK : status, "next");
    for (int i = 0; i < IDS; i++)
        if (seen[i] != (c->n[i] != 0))
            fail("a document was not found");
    tansu_cursor_close(cursor);
}

/* A reader: its handle, the feed, and the copy that the feed keeps up to date. */
typedef struct reader {
    tansu_db *db;
    bool follow;
    random_source source;
    tansu_feed *feed;
    content copy;         /* changed by events alone */
    int64_t step;         /* of the commit that the feed has delivered last; 0: none */
    bool tail[TAIL_BITS]; /* the copy's ids in "tail" */
    int64_t tail_count;
    bool between; /* the copy is not a content that ever existed */
    content model;
    struct {
        tansu_cursor *cursor;
        tansu_txn *txn; /* NULL: the cursor has its own snapshot */
        content c;
    } held[CURSORS];
} reader;

/* compare -- a new transaction: a committed state, new enough, the same by index and scan. */
static void compare(reader *r, int64_t least, content *found) {
    int32_t by_index[IDS] = {0}, by_scan[IDS] = {0};
    tansu_txn *txn;
    must(tansu_txn_begin(r->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &txn, &call_error),
         "begin to read");
    int64_t most = shared->begun, step = stored_step(r->db, txn);
    if (step < least || step > most)
        fail("a commit is missing, or was not made yet");
    content_at(&r->model, step);
    read_all(open_cursor(r->db, txn, true), &r->model, by_index);
    read_all(open_cursor(r->db, txn, false), &r->model, by_scan);
    if (memcmp(by_index, by_scan, sizeof by_index) != 0)
        fail("an index changes the order of an answer");
    tansu_txn_abort(txn);
    *found = r->model;
    shared->compared++;
}

/* set_tail -- whether a document is in the copy's "tail". */
static void set_tail(reader *r, int64_t id, bool there) {
    bool *bit = &r->tail[id % TAIL_BITS];
    r->tail_count += there - *bit;
    *bit = there;
}

/* begin_feed -- a feed of the present, and a copy of what is there. */
static void begin_feed(reader *r) {
    bson_t *options = BCON_NEW("after", BCON_BOOL(true));
    must(tansu_feed_open(r->db, TANSU_FEED_NOW, document_of(options), &r->feed, &call_error),
         "open a feed");
    bson_destroy(options);
    compare(r, 0, &r->copy);
    memset(r->tail, 0, sizeof r->tail);
    r->tail_count = 0;
    for (int64_t id = r->copy.step; id > 0 && id > r->copy.step - TAIL; id--)
        set_tail(r, id, true);
    r->step = 0;
    r->between = false;
}

/* is_right -- whether the copy is the content of its commit. */
static bool is_right(reader *r) {
    int64_t step = r->copy.step, found = 0;
    content_at(&r->model, step);
    for (int64_t id = step; id > 0 && id > step - TAIL; id--)
        found += r->tail[id % TAIL_BITS];
    return memcmp(r->copy.n, r->model.n, sizeof r->copy.n) == 0 && found == r->tail_count &&
           found == (step < TAIL ? step : TAIL);
}

/* end_commit -- the feed has delivered a commit. */
static void end_commit(reader *r, int64_t step) {
    if (step <= r->step)
        fail("a feed delivers a commit twice, or goes back");
    r->step = step;
    if (step < r->copy.step) { /* it began before the copy was made */
        r->between = true;
        return;
    }
    bool next = step == r->copy.step + 1 && !r->between;
    r->copy.step = step;
    r->between = !is_right(r);
    if (next && !r->between)
        shared->delivered++;
    else
        shared->skipping++;
}

/* take_events -- what the feed has, up to `most` commits; false when it cannot go on. */
static bool take_events(reader *r, int most, int timeout_ms) {
    int64_t step = 0;
    tansu_change change;
    tansu_change_init(&change);
    for (int commits = 0; commits < most;) {
        tansu_status status = tansu_feed_next(r->feed, timeout_ms, &change, &call_error);
        if (status == TANSU_DONE && !is_right(r))
            fail("the events of a feed do not make the content");
        if (status == TANSU_DONE || status == TANSU_E_NOT_FOUND)
            return status == TANSU_DONE;
        must(status, "next event");
        if (strcmp(change.collection, "state") == 0 && change.after.data != NULL)
            step = number_in(&change.after, "step");
        if (strcmp(change.collection, "c") == 0 && change.id.data != NULL)
            r->copy.n[number_in(&change.id, "_id")] =
                change.kind == TANSU_CHANGE_REMOVE ? 0 : (int32_t)number_in(&change.after, "n");
        if (strcmp(change.collection, "tail") == 0 && change.id.data != NULL)
            set_tail(r, number_in(&change.id, "_id"), change.kind != TANSU_CHANGE_REMOVE);
        if (!change.last)
            continue;
        if (step != 0)
            end_commit(r, step);
        step = 0;
        commits++;
    }
    return true;
}

/* let_go -- of a cursor, which has to be as it was. */
static void let_go(reader *r, unsigned i) {
    if (r->held[i].cursor != NULL) {
        read_all(r->held[i].cursor, &r->held[i].c, NULL);
        tansu_txn_abort(r->held[i].txn);
        shared->held++;
    }
    r->held[i].cursor = NULL;
    r->held[i].txn = NULL;
}

/* hold -- lets go of one cursor, and opens another. */
static void hold(reader *r) {
    unsigned i = (unsigned)random_below(&r->source, CURSORS);
    let_go(r, i);
    if (random_chance(&r->source, 20))
        return;
    /* A follower goes on between two calls. */
    if (r->follow || random_chance(&r->source, 50))
        must(tansu_txn_begin(r->db, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &r->held[i].txn,
                             &call_error),
             "begin to read");
    r->held[i].c = r->model;
    content_at(&r->held[i].c, stored_step(r->db, r->held[i].txn));
    r->held[i].cursor = open_cursor(r->db, r->held[i].txn, random_chance(&r->source, 50));
}

/* catch_up -- everything that had been acknowledged before has to be delivered now. */
static void catch_up(reader *r) {
    int64_t due = shared->acknowledged;
    if (!r->follow)
        must(tansu_refresh(r->db, NULL, NULL, &call_error), "refresh");
    if (take_events(r, 1000000, 100)) {
        if (r->copy.step < due)
            fail("a feed does not deliver what was committed");
        return;
    }
    shared->incomplete++;
    tansu_feed_close(r->feed);
    begin_feed(r);
}

/* read_on -- until it is killed. */
_Noreturn static void read_on(uint64_t seed) {
    static reader r;
    r.source = random_from(seed);
    for (;;) {
        alarm(120); /* a reader that waits for anything is stopped, and counts as failed */
        tansu_options options = call_options(store_path);
        options.allow_writer = 1;
        options.follow = r.follow = random_chance(&r.source, 50);
        options.index_cache_bytes = random_chance(&r.source, 50) ? 1 : (uint64_t)64 << 20;
        must(tansu_open(&options, &r.db, &call_error), "open");
        begin_feed(&r);
        for (unsigned i = (unsigned)random_below(&r.source, 400); i > 0; i--) {
            int64_t least = shared->acknowledged;
            content found;
            if (random_chance(&r.source, 20))
                pause_up_to(&r.source, random_chance(&r.source, 10) ? 200000000 : 5000000);
            switch (random_below(&r.source, 4)) {
            case 0: hold(&r); break;
            case 1: compare(&r, r.follow ? least : 0, &found); break;
            case 2: catch_up(&r); break;
            default:
                if (!take_events(&r, 1 + (int)random_below(&r.source, 5), 0)) {
                    shared->incomplete++;
                    tansu_feed_close(r.feed);
                    begin_feed(&r);
                }
            }
        }
        for (unsigned i = 0; i < CURSORS; i++)
            let_go(&r, i);
        tansu_feed_close(r.feed);
        shared->reopened += (uint64_t)call_statistic(r.db, "reopenings");
        must(tansu_shutdown(r.db, &call_error), "close");
    }
}

/* ---- Writing ---- */

/* write_on -- until it is killed, or ends. */
_Noreturn static void write_on(uint64_t seed) {
    random_source source = random_from(seed);
    tansu_options options = call_options(store_path);
    content c = {.step = 0};
    tansu_db *db;
    options.segment_size = (uint64_t)1 << 20;
    options.durability = TANSU_DURABILITY_PROCESS;
    options.compaction_percent = random_chance(&source, 50) ? 10 : 0;
    alarm(120);
    must(tansu_open(&options, &db, &call_error), "open to write");
    int64_t stored = stored_step(db, NULL);
    if (stored < shared->acknowledged || stored > shared->begun)
        fail("the writer found another commit than the last");
    content_at(&c, stored);
    shared->begun = shared->acknowledged = stored;
    unsigned steps = random_chance(&source, 30) ? (unsigned)random_below(&source, 1500) : 1000000;
    for (; steps > 0; steps--) {
        shared->begun = c.step + 1;
        commit_next(&c, db);
        shared->acknowledged = c.step;
        if (random_chance(&source, 3))
            pause_up_to(&source, 3000000);
        if (!random_chance(&source, 1))
            continue;
        tansu_status status;
        switch (random_below(&source, 4)) {
        case 0: must(tansu_checkpoint(db, &call_error), "checkpoint"); break;
        case 1:
            must(tansu_compact(db, NULL, NULL, NULL, &call_error), "compact");
            shared->compactions++;
            break;
        case 2: must(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), "create an index"); break;
        default:
            status = tansu_index_drop(db, NULL, "c", "n", &call_error);
            must(status == TANSU_E_NOT_FOUND ? TANSU_OK : status, "drop an index");
        }
    }
    must(tansu_shutdown(db, &call_error), "end");
    shared->ends++;
    _exit(0);
}

/* ---- The parent ---- */

/* begin -- a process; number 0 writes. */
static pid_t begin(unsigned number, uint64_t seed) {
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0 && number == 0)
        write_on(seed);
    if (child == 0)
        read_on(seed);
    return child;
}

/* ended_well -- whether it was killed, or ended as it should. */
static bool ended_well(int status) {
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* kill_one -- kills a process, or finds that it has ended; false when it had failed. */
static bool kill_one(pid_t process) {
    int status = 0;
    kill(process, SIGKILL);
    REQUIRE(waitpid(process, &status, 0) == process);
    return CHECK(ended_well(status));
}

/* revive -- begins what ended by itself again; false when one failed. */
static bool revive(pid_t *processes, random_source *source) {
    for (unsigned i = 0; i <= READERS; i++) {
        int status = 0;
        if (waitpid(processes[i], &status, WNOHANG) != processes[i])
            continue;
        processes[i] = begin(i, random_next(source));
        if (!CHECK(ended_well(status)))
            return false;
    }
    return true;
}

static void long_readers_see_each_commit(void) {
    unsigned kills = (unsigned)random_rounds("TANSU_CRASHES", KILLS_USUALLY);
    random_source source = random_start(1);
    pid_t processes[READERS + 1];
    char *folder = folder_new();
    store_path = folder;
    store_seed = random_next(&source);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_ensure(db, NULL, "c", NULL), &call_error);
    call_close(db);
    for (unsigned i = 0; i <= READERS; i++)
        processes[i] = begin(i, random_next(&source));
    bool well = true;
    for (unsigned i = 0; well && i < kills; i++) {
        pause_up_to(&source, 250000000);
        unsigned which =
            random_chance(&source, 75) ? 0 : (unsigned)random_between(&source, 1, READERS);
        well = revive(processes, &source) && kill_one(processes[which]);
        processes[which] = begin(which, random_next(&source));
    }
    for (unsigned i = 0; i <= READERS; i++)
        well = kill_one(processes[i]) && well;
    check_note(
        "%u kills, %lld commits, %llu delivered one by one, %llu otherwise, %llu feeds again",
        kills, (long long)shared->acknowledged, (unsigned long long)shared->delivered,
        (unsigned long long)shared->skipping, (unsigned long long)shared->incomplete);
    check_note("%llu cursors held, %llu comparisons, %llu reopenings, %llu compactions, %llu ends",
               (unsigned long long)shared->held, (unsigned long long)shared->compared,
               (unsigned long long)shared->reopened, (unsigned long long)shared->compactions,
               (unsigned long long)shared->ends);
    if (kills >= KILLS_USUALLY / 4) { /* in the time of fewer, little may happen */
        CHECK(shared->delivered > kills && shared->delivered > shared->skipping);
        CHECK(shared->held > 0 && shared->compared > kills && shared->compactions > 0);
    }
    munmap(shared, sizeof *shared);
    if (well) {
        folder_end(folder);
    } else {
        check_note("    the database is kept in %s", folder);
        free(folder);
    }
}

int main(void) {
    check_note("TANSU_SEED=%llu", (unsigned long long)random_seed());
    RUN(long_readers_see_each_commit);
    return check_finish();
}
