/*
 * support/workload/log_workload.c -- commits whose bytes follow from their numbers.
 */
#include "support/workload/log_workload.h"

#include "log/segment.h"
#include "support/check.h"
#include "support/fault/file_faults.h"

#include <string.h>

tansu_error log_workload_error;

tansu_status log_workload_open(const char *folder, bool read_only, log **l) {
    log_options options = {
        .calls = &file_faults_fs, .folder = folder, .read_only = read_only, .segment_size = MIB};
    memset(options.uuid, 7, sizeof options.uuid);
    return log_open(&options, l, &log_workload_error);
}

/* log_workload_byte -- what the payload of a commit's record is filled with. */
static uint8_t log_workload_byte(uint64_t sequence, uint32_t record) {
    return (uint8_t)(sequence * 31 + record * 7 + 1);
}

tansu_status log_workload_record(log *l, uint64_t sequence, uint32_t number, uint32_t size) {
    uint64_t offset, total = RECORD_HEADER_SIZE + align8(size);
    uint8_t *bytes;
    tansu_status status = log_append(l, total, &offset, &bytes, &log_workload_error);
    if (status != TANSU_OK)
        return status;
    record_header header = {
        .size = (uint32_t)total, .type = RECORD_PUT, .where = record_where(1, number)};
    record_header_put(bytes, &header, sequence, 0);
    memset(bytes + RECORD_HEADER_SIZE, log_workload_byte(sequence, number), align8(size));
    return TANSU_OK;
}

void log_workload_commit(log *l, uint64_t sequence, uint32_t records, uint32_t size) {
    for (uint32_t i = 0; i < records; i++)
        REQUIRE(CHECK_OK(log_workload_record(l, sequence, i, size), &log_workload_error));
    log_location frame;
    CHECK_OK(log_commit(l, sequence, &frame, NULL), NULL);
}

tansu_status log_workload_visit(void *context, const frame_header *frame, log_location location,
                                tansu_error *why) {
    (void)location;
    (void)why;
    log_workload_seen *s = context;
    s->wrong = s->wrong || frame->sequence != s->last + 1;
    s->last = frame->sequence;
    s->frames++;
    const uint8_t *at = (const uint8_t *)frame + FRAME_HEADER_SIZE;
    for (uint32_t i = 0; i < frame->count; i++) {
        const record_header *record = (const record_header *)at;
        s->wrong = s->wrong || record_rid(record) != i;
        for (uint32_t k = RECORD_HEADER_SIZE; k < record->size; k++)
            s->wrong = s->wrong || at[k] != log_workload_byte(frame->sequence, i);
        at += record->size;
        s->records++;
    }
    return TANSU_OK;
}

tansu_status log_workload_replay(const char *folder, bool read_only, uint64_t sure,
                                 log_workload_seen *s, log **l) {
    bool reached = false;
    *s = (log_workload_seen){0};
    *l = NULL;
    tansu_status status = log_workload_open(folder, read_only, l);
    if (status != TANSU_OK)
        return status;
    status = log_replay(*l, 0, 0, sure, log_workload_visit, s, NULL, NULL, &reached,
                        &log_workload_error);
    if (status != TANSU_OK) {
        log_close(*l, NULL);
        *l = NULL;
        return status;
    }
    CHECK(reached);
    CHECK(!s->wrong);
    return status;
}

int64_t log_workload_count(const char *folder, uint64_t sure) {
    log_workload_seen s;
    log *l;
    tansu_status status = log_workload_replay(folder, true, sure, &s, &l);
    log_close(l, NULL);
    return status == TANSU_OK ? (int64_t)s.frames : -(int64_t)status;
}

log *log_workload_start(const char *folder) {
    log_workload_seen s;
    log *l;
    file_faults_reset();
    REQUIRE(CHECK_OK(log_workload_replay(folder, false, 0, &s, &l), &log_workload_error));
    CHECK_INT(0, s.frames);
    return l;
}

void log_workload_kill(log *l) {
    l->read_only = true;
    log_close(l, NULL);
}

bool log_workload_zero_after_head(const log *l) {
    const segment *head = segment_head(l);
    bool zero = true;
    for (uint64_t i = head->used; i < head->allocated; i++)
        zero = zero && head->base[i] == 0;
    return zero;
}
