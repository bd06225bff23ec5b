/*
 * test_forged_compaction.c -- the record of a compaction that somebody has made: in the segment
 * that the compacted one replaces, or with a long list of segments.
 */
#include "log/format.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/apart.h"
#include "support/workload/forged_use.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* put_segment -- a segment's file. */
static void put_segment(const char *folder, segment_header header, uint32_t number,
                        const void *bytes, size_t size) {
    char name[32];
    tansu_buffer segment = TANSU_BUFFER_INIT;
    header.number = number;
    header.crc = 0;
    header.crc = checksum(0, &header, sizeof header);
    buffer_append(&segment, &header, sizeof header);
    buffer_append(&segment, bytes, size);
    snprintf(name, sizeof name, "log/%08u.seg", (unsigned)number);
    file_write(folder_join(folder, name), segment.data, segment.size);
    tansu_buffer_free(&segment);
}

/* put_compaction -- appends a commit to the bytes of a segment: segment 3 replaces segment 1, which
 * is said `times` times. */
static void put_compaction(tansu_buffer *bytes, const uint8_t uuid[16], uint64_t sequence,
                           unsigned times) {
    tansu_buffer json = TANSU_BUFFER_INIT, payload = TANSU_BUFFER_INIT;
    buffer_append(&json, "{\"segment\": 3, \"replaces\": [1", 29);
    for (unsigned i = 1; i < times; i++)
        buffer_append(&json, ",1", 2);
    buffer_append(&json, "]}", 3);
    CHECK_OK(tansu_json_to_bson((const char *)json.data, SIZE_MAX, &payload, &call_error),
             &call_error);
    uint32_t record_size = RECORD_HEADER_SIZE + (uint32_t)align8(payload.size);
    frame_header frame = {.magic = FRAME_MAGIC,
                          .size = FRAME_HEADER_SIZE + record_size,
                          .count = 1,
                          .sequence = sequence};
    record_header record = {.size = record_size, .type = RECORD_COMPACTION};
    uint8_t *made = calloc(1, frame.size);
    memcpy(made, &frame, sizeof frame);
    record_header_put(made + FRAME_HEADER_SIZE, &record, sequence, 0);
    memcpy(made + FRAME_HEADER_SIZE + RECORD_HEADER_SIZE, payload.data, payload.size);
    store_u32(made + 4, checksum(checksum(0, uuid, 16), made + 8, frame.size - 8));
    buffer_append(bytes, made, frame.size);
    free(made);
    tansu_buffer_free(&json);
    tansu_buffer_free(&payload);
}

/* forge -- a closed database, then the commit of a compaction: in the segment that it replaces, or
 * in one of its own. */
static char *forge(bool within, unsigned times) {
    char *folder = folder_new();
    tansu_options options = forged_options(folder);
    tansu_db *db = call_open_with(&options);
    for (int i = 0; i < 200; i++)
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1}"), &call_error);
    call_close(db);
    tansu_buffer bytes = TANSU_BUFFER_INIT, frame = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, "log/00000001.seg"), &bytes);
    uint64_t end = SEGMENT_HEADER_SIZE, last = 0;
    while (end + FRAME_HEADER_SIZE <= bytes.size && load_u32(bytes.data + end) == FRAME_MAGIC) {
        last = load_u64(bytes.data + end + 16);
        end += load_u32(bytes.data + end + 8);
    }
    REQUIRE(last != 0);
    segment_header header, compacted, next;
    memcpy(&header, bytes.data, sizeof header);
    compacted = next = header;
    compacted.kind = SEGMENT_COMPACTED; /* it has what the other one has */
    compacted.last = last;
    compacted.end = end;
    put_segment(folder, compacted, 3, bytes.data + SEGMENT_HEADER_SIZE, end - SEGMENT_HEADER_SIZE);
    put_compaction(&frame, header.uuid, last + 1, times);
    next.base = last + 1;
    if (!within)
        put_segment(folder, next, 2, frame.data, frame.size);
    bytes.size = end;
    if (within)
        buffer_append(&bytes, frame.data, frame.size);
    file_write(folder_join(folder, "log/00000001.seg"), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
    tansu_buffer_free(&frame);
    return folder;
}

static void a_compaction_may_replace_the_segment_that_it_is_in(void) {
    char *folder = forge(true, 1);
    CHECK(apart(forged_use, folder));
    folder_end(folder);
}

static void a_compaction_may_replace_a_segment_many_times(void) {
    char *folder = forge(false, 1);
    CHECK(apart(forged_use, folder));
    folder_end(folder);
    folder = forge(false, 100000);
    CHECK(apart(forged_use, folder));
    folder_end(folder);
}

int main(void) {
    RUN(a_compaction_may_replace_the_segment_that_it_is_in);
    RUN(a_compaction_may_replace_a_segment_many_times);
    return check_finish();
}
