/*
 * test_repair_disk_faults.c -- repair after what disks do: blocks that were written to another
 * place, changed places, kept an older content or were never written, torn sectors, flipped bits,
 * segments that are cut, missing, or there twice. Every version of every document is known, and so
 * is which of them whole frames still hold, so what repair may and must bring back is known as
 * well.
 *
 * TANSU_ROUNDS rounds for each way in which a database was left (the environment; 25 without).
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/disk_faults.h"
#include "support/folder.h"
#include "support/model/version_history.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_SIZE (1 << 20)

/* How a database was left. */
enum left { CLOSED, KILLED, COMPACTED, LEFT_KINDS };
static const char *const left_names[] = {"closed", "killed", "compacted"};

/* A database that is damaged again and again. */
typedef struct original {
    enum left left;
    char *folder;
    char *earlier; /* the same some commits before, and before compaction */
    version_history known;
} original;

/* A round: a copy of the original, and what was done to it. */
typedef struct round {
    const original *o;
    char *copy;
    disk_faults faults;
} round;

/* What came of all rounds. */
static struct {
    uint64_t rounds, documents, there, older, deleted, unprotected, named, lost, uncertain;
} sums;

static unsigned rounds(void) {
    return (unsigned)random_rounds("TANSU_ROUNDS", 25);
}

/* ---- The original ---- */

/* copy_folder -- into a new one. */
static char *copy_folder(const char *folder) {
    char *copy = folder_new();
    rmdir(copy);
    folder_copy(folder, copy);
    return copy;
}

/* original_make -- a random history. */
static void original_make(original *o, random_source *random, enum left left) {
    *o = (original){.left = left};
    char *folder = folder_new();
    tansu_options options = call_options(folder);
    options.segment_size = SEGMENT_SIZE;
    tansu_db *db = call_open_with(&options);
    for (unsigned i = 0; i < HISTORY_COLLECTIONS; i++)
        CHECK_OK(call_ensure(db, NULL, history_collection_name(i), NULL), &call_error);
    CHECK_OK(call_index(db, NULL, history_collection_name(0), "v", "{'v': 1}", NULL), &call_error);
    o->known.last = (uint64_t)call_statistic(db, "sequence");
    int steps = 1400 + (int)random_below(random, 400);
    for (int i = 0; i < steps; i++) {
        history_step(&o->known, random, db);
        if (i == steps / 2 || i == steps * 3 / 4)
            CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
        if (i == steps * 3 / 4)
            o->earlier = copy_folder(folder);
        if (left == COMPACTED && (i == steps * 3 / 4 || i == steps * 7 / 8))
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    }
    o->known.last = (uint64_t)call_statistic(db, "sequence");
    /* Without it nothing tells of commits that are cut off at the end of a log that was not
     * closed. */
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    if (left == KILLED)
        o->folder = copy_folder(folder);
    call_close(db);
    if (left == KILLED)
        folder_end(folder);
    else
        o->folder = folder;
}

static void original_end(original *o) {
    history_free(&o->known);
    folder_end(o->folder);
    folder_end(o->earlier);
}

/* ---- The result ---- */

/* What the report says of a document; "" when it does not name it. */
static const char *named_as(const char *collection, int32_t id) {
    static char reason[32];
    char path[64];
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "suspects.%d._id", i);
        int64_t at = maintenance_number(path);
        if (at == -1)
            return "";
        snprintf(path, sizeof path, "suspects.%d.collection", i);
        if (at != id || strcmp(maintenance_string(path), collection) != 0)
            continue;
        snprintf(path, sizeof path, "suspects.%d.reason", i);
        snprintf(reason, sizeof reason, "%s", maintenance_string(path));
        return reason;
    }
}

/* What was found of the documents. */
typedef struct outcome {
    const history_version *found[HISTORY_COLLECTIONS][HISTORY_IDS];
    bool changed[HISTORY_COLLECTIONS][HISTORY_IDS]; /* one with a wrong value, which was named */
    char names[HISTORY_COLLECTIONS][64];            /* of collections whose definition is corrupt */
    uint64_t documents;
    uint64_t lost; /* the last document with an `_id` was not removed, and nothing of it is there */
} outcome;

/* in_range -- whether an `_id` is one that there were documents of. */
static bool in_range(const bson_iter_t *id) {
    return BSON_ITER_HOLDS_INT32(id) && bson_iter_int32(id) >= 0 &&
           bson_iter_int32(id) < HISTORY_IDS;
}

/* is_called -- whether a collection is that one, perhaps by the name that it got when it had
 * lost its own. */
static bool is_called(const char *name, unsigned owner) {
    char other[32];
    snprintf(other, sizeof other, "recovered_%u", owner + 1);
    return strcmp(name, history_collection_name(owner)) == 0 || strcmp(name, other) == 0;
}

/* is_renamed -- whether the report says that the definition of a collection may be corrupt; its
 * name may then be wrong. */
static bool is_renamed(const char *name) {
    char text[160];
    snprintf(text, sizeof text,
             "The definition of the collection \\\"%.60s\\\" is read from a record that no", name);
    return maintenance_contains(text);
}

/* take_document -- one that was brought back. */
static void take_document(const round *w, outcome *out, const char *collection,
                          const tansu_document *doc) {
    unsigned owner, id;
    bson_t view;
    bson_iter_t at;
    out->documents++;
    sums.documents++;
    REQUIRE(bson_init_static(&view, doc->data, doc->size) &&
            bson_iter_init_find(&at, &view, "_id"));
    const char *name =
        BSON_ITER_HOLDS_INT32(&at) ? named_as(collection, bson_iter_int32(&at)) : "?";
    sums.named += name[0] != 0;
    const history_version *v = history_find(&w->o->known, doc->data, doc->size, &owner, &id);
    if (v == NULL) { /* a value in it is wrong */
        sums.unprotected++;
        for (owner = 0; owner < HISTORY_COLLECTIONS; owner++)
            if (is_called(collection, owner) && in_range(&at))
                out->changed[owner][bson_iter_int32(&at)] = true;
        CHECK(strcmp(name, "unprotected") == 0 || name[0] == '?');
        return;
    }
    if (!is_called(collection, owner) && is_renamed(collection))
        snprintf(out->names[owner], sizeof out->names[owner], "%s", collection);
    else if (!is_called(collection, owner)) { /* the number of its collection is wrong */
        sums.unprotected++;
        CHECK_TEXT("unprotected", name);
        return;
    }
    if (!v->whole) {
        sums.unprotected++;
        if (!CHECK_TEXT("unprotected", name))
            check_note("    '%s' %u of commit %llu", collection, id,
                       (unsigned long long)v->sequence);
    }
    const history_version *twin = out->found[owner][id];
    if (twin != NULL && strcmp(name, "unprotected") != 0)
        CHECK(!twin->whole);
    if (twin == NULL || v->whole)
        out->found[owner][id] = v;
}

/* is_known -- whether repair can know that a commit was there. */
static bool is_known(const round *w, uint64_t sequence) {
    return sequence <= w->o->known.highest ||
           (w->faults.manifest && (w->o->left != KILLED || w->faults.index));
}

/* report_versions -- all of a document, for a failure. */
static void report_versions(const history_document *d) {
    char text[600] = "";
    for (size_t i = 0; i < d->count && strlen(text) < sizeof text - 40; i++)
        snprintf(text + strlen(text), 40, " %llu%s%s%s",
                 (unsigned long long)d->versions[i].sequence, d->versions[i].removed ? "-" : "+",
                 d->versions[i].whole ? "" : " lost", d->versions[i].dead ? " dead" : "");
    check_note("    its commits:%s", text);
}

/* is_lost -- whether the last document with an `_id` was not removed, and neither it nor an earlier
 * version of it was found. An earlier document with that `_id` is none. */
static bool is_lost(const history_document *d, const history_version *found) {
    const history_version *end = d->versions + d->count;
    bool lost = found == NULL;
    for (const history_version *v = found; v != NULL && ++v < end;)
        lost = lost || v->inserted;
    return lost && !end[-1].removed;
}

/* judge -- whether what was found of a document is what has to be found. */
static void judge(const round *w, outcome *out, unsigned owner, unsigned id) {
    const history_document *d = &w->o->known.documents[owner][id];
    const history_version *found = out->found[owner][id];
    if (d->count == 0) {
        CHECK(found == NULL);
        return;
    }
    const history_version *newest = &d->versions[d->count - 1], *whole = NULL;
    bool removed = false; /* after the newest that is whole */
    for (size_t i = 0; i < d->count; i++) {
        removed = removed || d->versions[i].inserted;
        if (d->versions[i].whole && (!d->versions[i].dead || d->versions[i].removed)) {
            whole = &d->versions[i];
            removed = false;
        }
    }
    out->lost += is_lost(d, found) && !out->changed[owner][id];
    if (found == NULL) {
        /* Everything that is whole is there, and where the newest is not, the one before, unless
         * it was deleted in between, which the index files or a record without a checksum may
         * tell. */
        bool all = out->changed[owner][id] || newest->removed || whole == NULL || whole->removed ||
                   removed || !whole->kept;
        if (!CHECK(all)) {
            report_versions(d);
            check_note("    '%s' %u of commit %llu of %llu does not exist",
                       history_collection_name(owner), id, (unsigned long long)whole->sequence,
                       (unsigned long long)newest->sequence);
        }
        return;
    }
    sums.there++;
    /* Nothing that is proved to be older, and nothing that is proved to be deleted. */
    bool late =
        (whole == NULL || found->sequence >= whole->sequence) && (!found->dead || !found->whole);
    if (!CHECK(late)) {
        report_versions(d);
        check_note("    '%s' %u of commit %llu%s came back, of %llu there is %s",
                   history_collection_name(owner), id, (unsigned long long)found->sequence,
                   found->dead ? " (dead)" : "",
                   (unsigned long long)(whole == NULL ? 0 : whole->sequence),
                   whole != NULL && whole->removed ? "the deletion" : "a newer one");
    }
    if (found == newest)
        return;
    sums.older += !newest->removed;
    sums.deleted += newest->removed;
    /* And what is not the newest is named. */
    if (!is_known(w, found[1].sequence))
        return;
    const char *name = named_as(history_collection_name(owner), (int32_t)id);
    char other[32];
    snprintf(other, sizeof other, "recovered_%u", owner + 1);
    if (name[0] == 0)
        name = named_as(other, (int32_t)id);
    if (name[0] == 0)
        name = named_as(out->names[owner], (int32_t)id);
    if (!CHECK(name[0] != 0))
        check_note("    '%s' %u of commit %llu of %llu is not named",
                   history_collection_name(owner), id, (unsigned long long)found->sequence,
                   (unsigned long long)newest->sequence);
}

/* check_sums -- the numbers of the report with each other and with what was found. */
static void check_sums(const round *w, const outcome *out) {
    static const char *const names[] = {"documents", "unprotected", "older", "uncertain", "lost"};
    static const char *const totals[] = {"documents", "unprotected", "olderDocuments",
                                         "uncertainDocuments", "lostDocuments"};
    int64_t sum[5] = {0}, suspects = 0;
    char path[64];
    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "byCollection.%d.documents", i);
        if (maintenance_number(path) == -1)
            break;
        for (int k = 0; k < 5; k++) {
            snprintf(path, sizeof path, "byCollection.%d.%s", i, names[k]);
            sum[k] += maintenance_number(path);
        }
    }
    for (int k = 0; k < 5; k++)
        CHECK_INT(sum[k], maintenance_number(totals[k]));
    CHECK_INT(out->documents, sum[0]);
    for (;; suspects++) {
        snprintf(path, sizeof path, "suspects.%lld._id", (long long)suspects);
        if (maintenance_number(path) == -1)
            break;
    }
    CHECK_INT(sum[1] + sum[2] + sum[3], suspects);
    sums.lost += (uint64_t)sum[4];
    sums.uncertain += (uint64_t)sum[3];
    /* With the index files, what is lost is known exactly. */
    if (w->faults.index && w->faults.manifest && sum[1] == 0)
        CHECK_INT(out->lost, sum[4]);
    uint64_t commits = 0;
    for (uint64_t i = 1; i <= w->o->known.last; i++)
        commits += !w->o->known.whole[i];
    if (w->o->left == CLOSED && w->faults.manifest)
        CHECK_INT(commits, maintenance_number("lostCommits"));
    if (commits != 0 && w->faults.manifest && w->o->left == CLOSED)
        CHECK(maintenance_number("problemCount") > 0);
}

/* read_all -- every document of every collection. */
static void read_all(const round *w, outcome *out, tansu_db *db) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t view;
    bson_iter_t iter, one, name;
    CHECK_OK(tansu_collection_list(db, NULL, &list, &call_error), &call_error);
    REQUIRE(bson_init_static(&view, list.data, list.size) &&
            bson_iter_init_find(&iter, &view, "collections") && bson_iter_recurse(&iter, &one));
    while (bson_iter_next(&one)) {
        REQUIRE(bson_iter_recurse(&one, &name) && bson_iter_find(&name, "name"));
        const char *collection = bson_iter_utf8(&name, NULL);
        tansu_cursor *cursor = call_cursor(db, NULL, collection, "{}", NULL);
        tansu_document doc;
        while (tansu_cursor_next(cursor, &doc, &call_error) == TANSU_OK)
            take_document(w, out, collection, &doc);
        tansu_cursor_close(cursor);
    }
    tansu_buffer_free(&list);
}

/* examine -- repairs what was damaged, and judges the result. */
static void examine(round *w) {
    char *other = folder_new();
    outcome out = {.documents = 0};
    history_find_whole_frames((version_history *)&w->o->known, w->copy, w->o->folder);
    tansu_status status = maintenance_repair(w->copy, folder_join(other, "r"));
    /* Without MANIFEST and segments there is no database. */
    unsigned numbers[DISK_FAULTS_SEGMENTS];
    if (status == TANSU_E_NOT_FOUND && !w->faults.manifest &&
        disk_faults_segments(w->copy, numbers) == 0) {
        folder_end(other);
        return;
    }
    if (CHECK_OK(status, &call_error)) {
        tansu_db *db = call_open(folder_join(other, "r"));
        read_all(w, &out, db);
        for (unsigned i = 0; i < HISTORY_COLLECTIONS; i++)
            for (unsigned k = 0; k < HISTORY_IDS; k++)
                judge(w, &out, i, k);
        check_sums(w, &out);
        maintenance_clean(db);
        call_close(db);
    }
    folder_end(other);
}

static void what_disks_do_costs_what_it_touches(void) {
    for (int left = 0; left < LEFT_KINDS; left++) {
        random_source random = random_start((uint64_t)left);
        original o;
        original_make(&o, &random, (enum left)left);
        for (unsigned i = 0; i < rounds() && check_failures() < 20; i++) {
            if (i % 200 == 199) {
                original_end(&o);
                original_make(&o, &random, (enum left)left);
            }
            round w = {.o = &o, .copy = copy_folder(o.folder)};
            w.faults = (disk_faults){.random = &random,
                                     .folder = w.copy,
                                     .earlier = o.earlier,
                                     .manifest = true,
                                     .index = true};
            uint64_t failures = check_failures();
            for (uint64_t n = 1 + random_below(&random, 3); n > 0; n--)
                disk_faults_make(&w.faults);
            examine(&w);
            if (check_failures() != failures)
                check_note("    round %u, %s:%s", i, left_names[left], w.faults.story);
            folder_end(w.copy);
            sums.rounds++;
        }
        original_end(&o);
    }
    check_note("%llu rounds: %llu documents brought back, %llu lost; %llu as an older version, "
               "%llu deleted "
               "ones, %llu unprotected, %llu uncertain, %llu named",
               (unsigned long long)sums.rounds, (unsigned long long)sums.documents,
               (unsigned long long)sums.lost, (unsigned long long)sums.older,
               (unsigned long long)sums.deleted, (unsigned long long)sums.unprotected,
               (unsigned long long)sums.uncertain, (unsigned long long)sums.named);
    CHECK(sums.there > 100 * sums.rounds);
}

int main(void) {
    RUN(what_disks_do_costs_what_it_touches);
    return check_finish();
}
