/*
 * test_repair_compacted.c -- repair of logs that compaction has rewritten: what their segments lack
 * was dropped on purpose or was lost, and repair must not take the one for the other.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MOST 200

/* A database whose first commits were compacted, closed. */
typedef struct compacted_database {
    char *folder;
    char *before;       /* the same when all documents had been saved once */
    char *removed;      /* and when some of them had been removed */
    uint32_t compacted; /* number of the segment */
    uint32_t head;
    tansu_buffer bytes;           /* of the compacted segment */
    uint64_t frames[FRAMES_MOST]; /* their offsets in it */
    size_t count;
} compacted_database;

/* The documents of its collection "c": `_id` 10 to 59, the odd ones saved twice, and 100 to 109,
 * saved after compaction. Those with `_id` 0 to 9 were removed before. */
#define DOCUMENTS 60

/* save_values -- commits `from` to `to` - 1 in steps of `step`, each of which gives one document
 * the value `n`. */
static void save_values(tansu_db *db, int from, int to, int step, int n) {
    for (int i = from; i < to; i += step) {
        bson_t *doc = BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(n));
        CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
        bson_destroy(doc);
    }
}

/* segment_path -- of a segment in a folder. */
static const char *segment_path(const char *folder, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    return folder_join(folder, name);
}

/* find_segments -- reads the segments of the database. */
static void find_segments(compacted_database *d) {
    for (uint32_t n = 1; n < 20; n++) {
        if (!file_exists(segment_path(d->folder, n)))
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(segment_path(d->folder, n), &bytes);
        if (((const segment_header *)bytes.data)->last == 0) {
            d->head = n;
            tansu_buffer_free(&bytes);
            continue;
        }
        REQUIRE(d->compacted == 0);
        d->compacted = n;
        d->bytes = bytes;
    }
    REQUIRE(d->compacted != 0 && d->head != 0);
    for (uint64_t at = SEGMENT_HEADER_SIZE; at < d->bytes.size && d->count < FRAMES_MOST;) {
        d->frames[d->count++] = at;
        at += ((const frame_header *)(d->bytes.data + at))->size;
    }
    REQUIRE(d->count > 40 && d->count < FRAMES_MOST);
}

static compacted_database made(void) {
    compacted_database d = {
        .folder = folder_new(), .before = folder_new(), .removed = folder_new()};
    tansu_db *db = call_open(d.folder);
    save_values(db, 0, 60, 1, 1);
    rmdir(d.before);
    folder_copy(d.folder, d.before);
    for (int i = 0; i < 10; i++) {
        char query[32];
        snprintf(query, sizeof query, "{'_id': %d}", i);
        CHECK_OK(call_remove(db, NULL, "c", query, NULL), &call_error);
    }
    rmdir(d.removed);
    folder_copy(d.folder, d.removed);
    save_values(db, 11, 60, 2, 2);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    save_values(db, 100, 110, 1, 3);
    call_close(db);
    find_segments(&d);
    return d;
}

static void end(compacted_database *d) {
    tansu_buffer_free(&d->bytes);
    folder_end(d->folder);
    folder_end(d->before);
    folder_end(d->removed);
}

/* frame_of -- the index of the compacted segment's frame with a document. */
static size_t frame_of(const compacted_database *d, int32_t id) {
    for (size_t i = 0; i < d->count; i++) {
        const record_header *record =
            (const record_header *)(d->bytes.data + d->frames[i] + FRAME_HEADER_SIZE);
        bson_t view;
        bson_iter_t at;
        const uint8_t *payload = record_payload(record);
        if (record->type == RECORD_PUT && bson_init_static(&view, payload, load_u32(payload)) &&
            bson_iter_init_find(&at, &view, "_id") && bson_iter_int32(&at) == id)
            return i;
    }
    REQUIRE(false);
    return 0;
}

/* frame_at -- one of its frames. */
static const frame_header *frame_at(const compacted_database *d, size_t i) {
    return (const frame_header *)(d->bytes.data + d->frames[i]);
}

/* put_frame -- writes a frame over another one of the same size. */
static void put_frame(const compacted_database *d, const frame_header *frame, size_t to) {
    REQUIRE(frame->size == frame_at(d, to)->size);
    file_patch(segment_path(d->folder, d->compacted), d->frames[to], frame, frame->size);
}

/* salvaged -- repairs the database into another, and opens the result. */
static tansu_db *salvaged(const compacted_database *d, const char *other) {
    CHECK_OK(maintenance_repair(d->folder, folder_join(other, "r")), &call_error);
    return call_open(folder_join(other, "r"));
}

/* close_checked -- verifies the result, of which the report is not needed any more. */
static void close_checked(tansu_db *db) {
    maintenance_clean(db);
    call_close(db);
}

/* check_absent -- the document is not there. */
static void check_absent(tansu_db *db, int id) {
    char text[32];
    snprintf(text, sizeof text, "{'_id': %d}", id);
    CHECK_TEXT("NOT_FOUND", call_get(db, NULL, "c", text));
}

/* last_frame -- of a segment that has no others after it. */
static const frame_header *last_frame(const tansu_buffer *bytes) {
    const frame_header *last = NULL;
    for (uint64_t at = SEGMENT_HEADER_SIZE; at + FRAME_HEADER_SIZE <= bytes->size;) {
        const frame_header *frame = (const frame_header *)(bytes->data + at);
        if (frame->magic != FRAME_MAGIC)
            break;
        last = frame;
        at += frame->size;
    }
    REQUIRE(last != NULL);
    return last;
}

/* A frame that is there twice, and before both of them one that belongs to a later segment. */
static void frames_over_others_cost_only_those(void) {
    for (int index = 0; index < 2; index++) {
        compacted_database d = made();
        char *other = folder_new();
        tansu_buffer head = TANSU_BUFFER_INIT;
        file_read(segment_path(d.folder, d.head), &head);
        if (index == 0)
            folder_remove(folder_join(d.folder, "index"));
        put_frame(&d, last_frame(&head), frame_of(&d, 16));
        put_frame(&d, frame_at(&d, frame_of(&d, 24)), frame_of(&d, 40));
        tansu_db *db = salvaged(&d, other);
        CHECK_INT(DOCUMENTS - 2, call_count(db, NULL, "c", "{}"));
        check_absent(db, 16);
        check_absent(db, 40);
        CHECK_INT(index == 0 ? 0 : 2, maintenance_number("lostDocuments"));
        CHECK(maintenance_number("lostCommits") >= 2);
        close_checked(db);
        tansu_buffer_free(&head);
        folder_end(other);
        end(&d);
    }
}

/* put_back -- the segment that compaction has replaced, as it was in an earlier copy. */
static void put_back(const compacted_database *d, const char *earlier) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment_path(earlier, 1), &bytes);
    REQUIRE(!file_exists(segment_path(d->folder, 1)));
    file_write(segment_path(d->folder, 1), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

/* Which of the two overwrote another frame can't be told: the one before or the one after is lost,
 * and was not dropped by compaction. An earlier segment may still have it. */
static void a_frame_over_the_next_is_a_loss(void) {
    for (int way = 0; way < 4; way++) {
        bool forward = way % 2 != 0, back = way / 2 != 0;
        compacted_database d = made();
        char *other = folder_new();
        size_t from = frame_of(&d, 30), to = forward ? from + 1 : from - 1;
        put_frame(&d, frame_at(&d, from), to);
        if (back)
            put_back(&d, d.before);
        tansu_db *db = salvaged(&d, other);
        CHECK_INT(back ? DOCUMENTS : DOCUMENTS - 1, call_count(db, NULL, "c", "{}"));
        CHECK_INT(back ? 0 : 1, maintenance_number("lostDocuments"));
        CHECK(back || maintenance_number("lostCommits") >= 1);
        close_checked(db);
        folder_end(other);
        end(&d);
    }
}

static void an_intact_compacted_segment_counts_under_any_number(void) {
    compacted_database d = made();
    char *other = folder_new();
    put_back(&d, d.before);
    folder_remove(folder_join(d.folder, "index"));
    file_write(segment_path(d.folder, 45), d.bytes.data, d.bytes.size);
    remove(segment_path(d.folder, d.compacted));
    tansu_db *db = salvaged(&d, other);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
    CHECK_INT(25, call_count(db, NULL, "c", "{'n': 1}"));
    CHECK_INT(0, maintenance_number("lostCommits"));
    CHECK_INT(0, maintenance_number("uncertainDocuments"));
    CHECK_INT(0, maintenance_number("olderDocuments"));
    close_checked(db);
    folder_end(other);
    end(&d);
}

/* What the segment has replaced is not proved without its header; the index files know it. */
static void a_compacted_segment_without_a_header_leaves_doubts(void) {
    static const uint8_t zeros[SEGMENT_HEADER_SIZE];
    for (int index = 0; index < 2; index++) {
        compacted_database d = made();
        char *other = folder_new();
        put_back(&d, d.before);
        if (index == 0)
            folder_remove(folder_join(d.folder, "index"));
        file_patch(segment_path(d.folder, d.compacted), 0, zeros, sizeof zeros);
        tansu_db *db = salvaged(&d, other);
        CHECK_INT(index == 0 ? DOCUMENTS + 10 : DOCUMENTS, call_count(db, NULL, "c", "{}"));
        CHECK_INT(25, call_count(db, NULL, "c", "{'n': {'$eq': 2}}"));
        for (int i = 0; i < 10; i++) {
            char named[80];
            snprintf(named, sizeof named,
                     "{\"collection\": \"c\", \"_id\": %d, \"reason\": \"uncertain\"}", i);
            CHECK(maintenance_contains(named) == (index == 0));
        }
        close_checked(db);
        folder_end(other);
        end(&d);
    }
}

/* blank_frames -- zeros over the frames of some commits of the segment that is back. */
static void blank_frames(const compacted_database *d, uint64_t first, uint64_t last) {
    static const uint8_t zeros[4096];
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(segment_path(d->folder, 1), &bytes);
    for (uint64_t at = SEGMENT_HEADER_SIZE; at + FRAME_HEADER_SIZE <= bytes.size;) {
        const frame_header *frame = (const frame_header *)(bytes.data + at);
        if (frame->magic != FRAME_MAGIC)
            break;
        REQUIRE(frame->size <= sizeof zeros);
        if (frame->sequence >= first && frame->sequence <= last)
            file_patch(segment_path(d->folder, 1), at, zeros, frame->size);
        at += frame->size;
    }
    tansu_buffer_free(&bytes);
}

/* Compaction has dropped the deletions; an earlier segment, which has fewer of the commits, proves
 * them. */
static void deletions_count_that_compaction_has_dropped(void) {
    static const uint8_t zeros[4096];
    compacted_database d = made();
    char *other = folder_new();
    put_back(&d, d.removed);
    folder_remove(folder_join(d.folder, "index"));
    REQUIRE(d.frames[4] < sizeof zeros);
    file_patch(segment_path(d.folder, d.compacted), 0, zeros, d.frames[4]);
    blank_frames(&d, 20, 50);
    tansu_db *db = salvaged(&d, other);
    CHECK_INT(DOCUMENTS, call_count(db, NULL, "c", "{}"));
    for (int i = 0; i < 10; i++)
        check_absent(db, i);
    close_checked(db);
    folder_end(other);
    end(&d);
}

/* frame_with -- the frame of a commit in a segment. */
static const frame_header *frame_with(const tansu_buffer *bytes, uint64_t commit) {
    uint64_t at = SEGMENT_HEADER_SIZE;
    while (((const frame_header *)(bytes->data + at))->sequence != commit) {
        REQUIRE(((const frame_header *)(bytes->data + at))->magic == FRAME_MAGIC);
        at += ((const frame_header *)(bytes->data + at))->size;
    }
    return (const frame_header *)(bytes->data + at);
}

/* An older content of a block may fit in between: only the index files tell, and they may be old,
 * too. */
static void a_document_that_the_index_files_do_not_know_is_uncertain(void) {
    static const uint8_t zeros[4096];
    compacted_database d = made();
    char *other = folder_new();
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    put_back(&d, d.before);
    file_read(segment_path(d.folder, 1), &bytes);
    put_frame(&d, frame_with(&bytes, 7), frame_of(&d, 10)); /* `_id` 6 */
    size_t next = frame_of(&d, 12);
    file_patch(segment_path(d.folder, d.compacted), d.frames[next], zeros,
               frame_at(&d, next)->size);
    tansu_db *db = salvaged(&d, other);
    CHECK_INT(DOCUMENTS + 1, call_count(db, NULL, "c", "{}"));
    CHECK(maintenance_contains("{\"collection\": \"c\", \"_id\": 6, \"reason\": \"uncertain\"}"));
    close_checked(db);
    tansu_buffer_free(&bytes);
    folder_end(other);
    end(&d);
}

int main(void) {
    RUN(frames_over_others_cost_only_those);
    RUN(a_frame_over_the_next_is_a_loss);
    RUN(an_intact_compacted_segment_counts_under_any_number);
    RUN(a_compacted_segment_without_a_header_leaves_doubts);
    RUN(deletions_count_that_compaction_has_dropped);
    RUN(a_document_that_the_index_files_do_not_know_is_uncertain);
    return check_finish();
}
