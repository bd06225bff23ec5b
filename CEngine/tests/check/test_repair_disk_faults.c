/*
 * test_repair_disk_faults.c -- repair after what disks do: blocks that were written to another
 * place, changed places, kept an older content or were never written, torn sectors, flipped bits,
 * segments that are cut, missing, or there twice. Every version of every document is known, and so
 * is which of them whole frames still hold, so what repair may and must bring back is known as
 * well.
 *
 * TANSU_ROUNDS rounds for each way in which a database was left (the environment; 25 without).
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/version_history.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MOST 24
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

/* What a round did. */
typedef struct round {
    const original *o;
    random_source *random;
    char *copy;
    bool manifest; /* they are as they were */
    bool index;
    bool back; /* a segment that was replaced is back */
    char story[600];
} round;

/* What came of all rounds. */
static struct {
    uint64_t rounds, documents, there, older, deleted, unprotected, named, lost, uncertain;
} sums;

static unsigned rounds(void) {
    const char *text = getenv("TANSU_ROUNDS");
    unsigned long n = text == NULL ? 25 : strtoul(text, NULL, 10);
    return n == 0 ? 1 : (unsigned)n;
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

/* ---- Damage ---- */

/* segments_of -- the numbers of the segments of a folder. */
static unsigned segments_of(const char *folder, unsigned numbers[SEGMENTS_MOST]) {
    unsigned count = 0;
    for (unsigned n = 1; n < 100 && count < SEGMENTS_MOST; n++) {
        char name[32];
        snprintf(name, sizeof name, "log/%08u.seg", n);
        if (file_exists(folder_join(folder, name)) && file_size(folder_join(folder, name)) > 0)
            numbers[count++] = n;
    }
    return count;
}

/* segment_path -- of one in a folder, in a ring of texts. */
static const char *segment_path(const char *folder, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    return folder_join(folder, name);
}

/* pick -- a segment of a folder at random. */
static unsigned pick(round *w, const char *folder) {
    unsigned numbers[SEGMENTS_MOST], count = segments_of(folder, numbers);
    return count == 0 ? 0 : numbers[random_below(w->random, count)];
}

/* used_of -- how much of a segment's file is not zeros that nobody wrote. */
static uint64_t used_of(const tansu_buffer *file) {
    uint64_t size = file->size;
    while (size > 0 && file->data[size - 1] == 0)
        size--;
    return size;
}

/* A block of a file, in memory. */
typedef struct block {
    unsigned segment;
    uint64_t offset;
    uint8_t bytes[4096];
} block;

/* take_block -- reads one at random, or the one at an offset. */
static bool take_block(round *w, const char *folder, unsigned segment, uint64_t size,
                       uint64_t offset, block *b) {
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0 || !file_exists(segment_path(folder, segment)))
        return false;
    file_read(segment_path(folder, segment), &file);
    uint64_t count = (used_of(&file) + size - 1) / size;
    *b = (block){.segment = segment, .offset = offset};
    if (offset == UINT64_MAX)
        b->offset = random_below(w->random, count) * size;
    bool there = count != 0 && b->offset + size <= file.size;
    if (there)
        memcpy(b->bytes, file.data + b->offset, size);
    tansu_buffer_free(&file);
    return there;
}

/* put_block -- writes one over a place. */
static void put_block(round *w, const block *content, unsigned segment, uint64_t offset,
                      uint64_t size) {
    file_patch(segment_path(w->copy, segment), offset, content->bytes, size);
}

/* tell -- adds to the story. */
__attribute__((format(printf, 2, 3))) static void tell(round *w, const char *format, ...) {
    va_list arguments;
    size_t length = strlen(w->story);
    va_start(arguments, format);
    vsnprintf(w->story + length, sizeof w->story - length, format, arguments);
    va_end(arguments);
}

/* move_block -- a misdirected write, or two blocks that change places. */
static void move_block(round *w, uint64_t size, bool swap) {
    block from, to;
    if (!take_block(w, w->copy, pick(w, w->copy), size, UINT64_MAX, &from) ||
        !take_block(w, w->copy, pick(w, w->copy), size, UINT64_MAX, &to))
        return;
    put_block(w, &from, to.segment, to.offset, size);
    if (swap)
        put_block(w, &to, from.segment, from.offset, size);
    tell(w, " %s %llu bytes at %u:%llu to %u:%llu;", swap ? "swap" : "copy",
         (unsigned long long)size, from.segment, (unsigned long long)from.offset, to.segment,
         (unsigned long long)to.offset);
}

/* old_block -- a block of an earlier time: the same one whose last write was lost, or any. */
static void old_block(round *w, uint64_t size, bool same) {
    block old, now;
    if (!take_block(w, w->copy, pick(w, w->copy), size, UINT64_MAX, &now))
        return;
    unsigned segment = same ? now.segment : pick(w, w->o->earlier);
    if (!take_block(w, w->o->earlier, segment, size, same ? now.offset : UINT64_MAX, &old))
        return;
    put_block(w, &old, now.segment, now.offset, size);
    tell(w, " earlier %llu bytes of %u:%llu at %u:%llu;", (unsigned long long)size, old.segment,
         (unsigned long long)old.offset, now.segment, (unsigned long long)now.offset);
}

/* blank_block -- zeros in all of a block or in a part, as of a torn write. */
static void blank_block(round *w, uint64_t size, bool torn) {
    block b;
    if (!take_block(w, w->copy, pick(w, w->copy), size, UINT64_MAX, &b))
        return;
    uint64_t from = torn ? random_below(w->random, size) : 0;
    memset(b.bytes + from, 0, size - from);
    put_block(w, &b, b.segment, b.offset, size);
    tell(w, " zeros at %u:%llu;", b.segment, (unsigned long long)(b.offset + from));
}

/* flip_bits -- a few close to each other. */
static void flip_bits(round *w) {
    block b;
    if (!take_block(w, w->copy, pick(w, w->copy), 512, UINT64_MAX, &b))
        return;
    for (uint64_t n = 1 + random_below(w->random, 3); n > 0; n--)
        b.bytes[random_below(w->random, 512)] ^= (uint8_t)(1u << random_below(w->random, 8));
    put_block(w, &b, b.segment, b.offset, 512);
    tell(w, " bits at %u:%llu;", b.segment, (unsigned long long)b.offset);
}

/* over_frame -- a frame where another one of the same size was, so that nothing looks torn. */
static void over_frame(round *w) {
    unsigned segment = pick(w, w->copy);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0)
        return;
    file_read(segment_path(w->copy, segment), &file);
    uint64_t offsets[4096], count = 0, at = SEGMENT_HEADER_SIZE;
    while (at + FRAME_HEADER_SIZE < file.size && count < 4096) {
        const frame_header *h = (const frame_header *)(file.data + at);
        if (h->magic != FRAME_MAGIC || h->size < FRAME_HEADER_SIZE || h->size > file.size - at)
            break;
        offsets[count++] = at;
        at += h->size;
    }
    uint64_t start = random_below(w->random, count);
    for (uint64_t i = start; i + 1 < count; i++) {
        uint64_t other = i + 1 + random_below(w->random, count - i - 1);
        const frame_header *h = (const frame_header *)(file.data + offsets[i]);
        const frame_header *k = (const frame_header *)(file.data + offsets[other]);
        if (h->size != k->size)
            continue;
        bool down = random_chance(w->random, 50);
        uint64_t from = down ? offsets[other] : offsets[i], to = down ? offsets[i] : offsets[other];
        file_patch(segment_path(w->copy, segment), to, file.data + from, h->size);
        tell(w, " frame of %u bytes from %u:%llu to %llu;", h->size, segment,
             (unsigned long long)from, (unsigned long long)to);
        break;
    }
    tansu_buffer_free(&file);
}

/* hurt_segment -- a whole file. */
static void hurt_segment(round *w) {
    unsigned segment = pick(w, w->copy);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0)
        return;
    file_read(segment_path(w->copy, segment), &file);
    switch (random_below(w->random, 4)) {
    case 0:
        file_cut(segment_path(w->copy, segment), random_below(w->random, used_of(&file) + 1));
        tell(w, " %u cut;", segment);
        break;
    case 1:
        remove(segment_path(w->copy, segment));
        tell(w, " %u missing;", segment);
        break;
    case 2:
        file_write(segment_path(w->copy, 40 + segment), file.data, file.size);
        tell(w, " %u twice;", segment);
        break;
    default:
        file_write(segment_path(w->copy, 40 + segment), file.data, file.size);
        remove(segment_path(w->copy, segment));
        tell(w, " %u under another number;", segment);
    }
    tansu_buffer_free(&file);
}

/* put_back -- a segment that compaction has replaced, as of a removal that was lost. */
static void put_back(round *w) {
    unsigned segment = pick(w, w->o->earlier);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0 || file_exists(segment_path(w->copy, segment)))
        return;
    file_read(segment_path(w->o->earlier, segment), &file);
    file_write(segment_path(w->copy, segment), file.data, file.size);
    tansu_buffer_free(&file);
    w->back = true;
    tell(w, " %u is back;", segment);
}

/* hurt_index -- a block of the index files, or all of them. */
static void hurt_index(round *w) {
    const char *path = folder_join(w->copy, "index/blocks.tch");
    uint8_t zeros[4096] = {0};
    w->index = false;
    if (random_chance(w->random, 50) || !file_exists(path)) {
        folder_remove(folder_join(w->copy, "index"));
        tell(w, " no index;");
        return;
    }
    uint64_t at = random_below(w->random, file_size(path) / 4096) * 4096;
    file_patch(path, at, zeros, sizeof zeros);
    tell(w, " zeros in the index at %llu;", (unsigned long long)at);
}

/* hurt -- one fault. */
static void hurt(round *w) {
    uint64_t size = random_chance(w->random, 50) ? 512 : 4096;
    switch (random_below(w->random, 20)) {
    case 0:
    case 1:
    case 2:
    case 3: move_block(w, size, false); break;
    case 4:
    case 5:
    case 6: move_block(w, size, true); break;
    case 7:
    case 8: old_block(w, size, true); break;
    case 9: old_block(w, size, false); break;
    case 10:
    case 11: blank_block(w, size, false); break;
    case 12: blank_block(w, size, true); break;
    case 13:
    case 14: flip_bits(w); break;
    case 15: over_frame(w); break;
    case 16: hurt_segment(w); break;
    case 17: put_back(w); break;
    case 18: hurt_index(w); break;
    default:
        remove(folder_join(w->copy, "MANIFEST"));
        w->manifest = false;
        tell(w, " no MANIFEST;");
    }
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
    uint64_t documents;
    uint64_t missing; /* the newest version is a document, and there is none */
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
    if (!is_called(collection, owner)) { /* the number of its collection is wrong */
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
    return sequence <= w->o->known.highest || (w->manifest && (w->o->left != KILLED || w->index));
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
    if (found == NULL) {
        /* Everything that is whole is there, and where the newest is not, the one before, unless
         * it was deleted in between, which the index files or a record without a checksum may
         * tell. */
        out->missing += !newest->removed && !out->changed[owner][id];
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
    /* With the index files, what is missing is known exactly; unless an earlier document with
     * the `_id` of one that is missing came back in its place. */
    if (w->index && w->manifest && sum[1] == 0 && !w->back)
        CHECK_INT(out->missing, sum[4]);
    else if (w->index && w->manifest && sum[1] == 0)
        CHECK(out->missing <= (uint64_t)sum[4]);
    uint64_t commits = 0;
    for (uint64_t i = 1; i <= w->o->known.last; i++)
        commits += !w->o->known.whole[i];
    if (w->o->left == CLOSED && w->manifest)
        CHECK_INT(commits, maintenance_number("lostCommits"));
    if (commits != 0 && w->manifest && w->o->left == CLOSED)
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
    unsigned numbers[SEGMENTS_MOST];
    if (status == TANSU_E_NOT_FOUND && !w->manifest && segments_of(w->copy, numbers) == 0) {
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
            round w = {.o = &o,
                       .random = &random,
                       .copy = copy_folder(o.folder),
                       .manifest = true,
                       .index = true};
            uint64_t failures = check_failures();
            for (uint64_t n = 1 + random_below(&random, 3); n > 0; n--)
                hurt(&w);
            examine(&w);
            if (check_failures() != failures)
                check_note("    round %u, %s:%s", i, left_names[left], w.story);
            folder_end(w.copy);
            sums.rounds++;
        }
        original_end(&o);
    }
    if (getenv("TANSU_ROUNDS") != NULL)
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
