/*
 * log/scan.c -- reading the bytes of segments without trusting them.
 */
#include "log/scan.h"

#include "bson/document.h"
#include "log/frame.h"
#include "log/segment.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <stdlib.h>

/* Zeros are skipped by so many bytes, a cache line. */
#define ZEROS_STEP 64u

const frame_header *scan_frame(uint32_t crc_seed, const uint8_t *bytes, uint64_t size,
                               uint64_t offset) {
    if (offset % 8 != 0 || offset > size || size - offset < FRAME_HEADER_SIZE)
        return NULL;
    const frame_header *frame = (const frame_header *)(bytes + offset);
    if (!frame_magic_known(frame->magic) || frame->size < FRAME_HEADER_SIZE ||
        frame->size % 8 != 0 || frame->size > size - offset || !frame_records_valid(frame))
        return NULL;
    /* The CRC last: it costs most, and few false headers pass the checks before it. */
    uint32_t crc = checksum(crc_seed, bytes + offset + 8, frame->size - 8);
    return crc == frame->crc ? frame : NULL;
}

uint64_t scan_zeros(const uint8_t *bytes, uint64_t size, uint64_t offset) {
    if (offset + 8 > size || load_u64(bytes + offset) != 0)
        return offset;
    for (; offset + ZEROS_STEP <= size; offset += ZEROS_STEP) {
        uint64_t words = 0;
        for (unsigned i = 0; i < ZEROS_STEP; i += 8)
            words |= load_u64(bytes + offset + i);
        if (words != 0)
            break;
    }
    while (offset + 8 <= size && load_u64(bytes + offset) == 0)
        offset += 8;
    return offset;
}

uint64_t scan_find(uint32_t crc_seed, const uint8_t *bytes, uint64_t size, uint64_t offset,
                   uint64_t least) {
    for (; offset <= size && size - offset >= FRAME_HEADER_SIZE; offset += 8) {
        if (!frame_magic_known(load_u32(bytes + offset)))
            continue;
        const frame_header *frame = scan_frame(crc_seed, bytes, size, offset);
        if (frame != NULL && frame->sequence >= least)
            return offset;
    }
    return size;
}

/* text_there -- whether a payload has a string under that key. */
static bool text_there(const uint8_t *payload, uint32_t size, const char *key) {
    doc_value value;
    return doc_find(payload, size, key, strlen(key), &value) && value.type == DOC_STRING;
}

const char *scan_record(const record_header *record, uint64_t room, uint64_t sequence) {
    if (room < RECORD_SIZE_LEAST || record->size % 8 != 0 || record->size > room ||
        record->size < RECORD_SIZE_LEAST)
        return "has an invalid size";
    uint64_t front = record_front(record);
    if (record->size < front + 5)
        return "has more metadata than its size allows";
    if (record->type < RECORD_PUT || record->type > RECORD_COLLECTION_OPTIONS)
        return "is of an unknown type";
    if (record_is_insert(record) && (record->type != RECORD_PUT || record->flags != RECORD_INSERT))
        return "has the short header of another kind of record";
    if ((!record_is_insert(record) && record_visible_from(record) == 0) ||
        (sequence != 0 && !record_is_of(record, sequence)))
        return "belongs to another commit";
    bool document = record->type == RECORD_PUT || record->type == RECORD_DELETE;
    if (record_collection(record) == 0 && record->type != RECORD_COMPACTION)
        return "belongs to no collection";
    const uint8_t *payload = record_payload(record);
    uint32_t size = load_u32(payload);
    if (size < 5 || size > record->size - front || align8(size) != record->size - front)
        return "contains a document of another size";
    doc_check_mode mode = record->type == RECORD_PUT ? DOC_CHECK_STORE : DOC_CHECK_BSON;
    if (doc_check(payload, size, mode, NULL) != TANSU_OK)
        return "contains no valid document";
    /* What distinguishes a document from the catalog's records, should the type be damaged. */
    doc_value id;
    bool with_id = doc_find_id(payload, size, &id);
    if (document && !with_id)
        return "contains a document without \"_id\"";
    if (record->type == RECORD_DELETE && id.data + id.size + 1 != payload + size)
        return "is a deletion and contains more than an \"_id\"";
    if (!document && (with_id || record_rid(record) != 0))
        return "is of the catalog and contains a document";
    if (!document && record->type != RECORD_COMPACTION && !text_there(payload, size, "name"))
        return "contains no name";
    return NULL;
}

uint64_t scan_salvage(const uint8_t *bytes, uint64_t offset, uint64_t end) {
    for (; offset + RECORD_SIZE_LEAST <= end; offset += 8) {
        const record_header *record = (const record_header *)(bytes + offset);
        /* The cheap questions first: nearly all locations are no records. */
        if (record->size < RECORD_SIZE_LEAST || record->size > end - offset || record->type == 0 ||
            record->type > RECORD_COLLECTION_OPTIONS || record->flags > RECORD_INSERT)
            continue;
        if (scan_record(record, end - offset, 0) == NULL)
            return offset;
    }
    return end;
}

bool scan_header(const segment_header *header) {
    segment_header copy = *header;
    copy.crc = 0;
    return memcmp(header->magic, SEGMENT_MAGIC, sizeof header->magic) == 0 &&
           header->crc == checksum(0, &copy, sizeof copy);
}

uint64_t log_capacity(log *l, uint32_t number) {
    pthread_mutex_lock(&l->mutex);
    const segment *s = segment_get(l, number);
    uint64_t room = s == NULL ? 0 : segment_room(s);
    pthread_mutex_unlock(&l->mutex);
    return room;
}

const record_header *log_no_record(uint64_t *room) {
    static const uint64_t zeros[(RECORD_HEADER_SIZE + 8) / 8];
    *room = sizeof zeros;
    return (const record_header *)zeros;
}

const record_header *log_compressed_record(const compressed_segment *s, log_pins *pins,
                                           uint64_t offset, uint64_t *room) {
    const record_header *record =
        (const record_header *)(const void *)compressed_at(s, pins, offset, room);
    if (record != NULL && *room >= RECORD_SIZE_LEAST && record->size <= *room &&
        record->size >= record_front(record) + 5)
        return record;
    if (record != NULL)
        compressed_bad(s, offset);
    return log_no_record(room);
}

const record_header *log_examine(log *l, log_pins *pins, log_location location, uint64_t *room,
                                 bool *there) {
    uint64_t offset = (uint32_t)location & LOCATION_MASK;
    pthread_mutex_lock(&l->mutex);
    const segment *s = segment_get(l, (uint32_t)(location >> 32));
    const uint8_t *bytes = s == NULL ? NULL : s->base;
    const compressed_segment *compressed = s == NULL ? NULL : s->compressed;
    uint64_t end = s == NULL ? 0 : segment_room(s);
    pthread_mutex_unlock(&l->mutex);
    *there = s != NULL;
    if (offset < SEGMENT_HEADER_SIZE || offset + RECORD_SIZE_LEAST > end)
        return NULL;
    if (compressed != NULL)
        return log_compressed_record(compressed, pins, offset, room);
    *room = end - offset;
    return (const record_header *)(bytes + offset);
}

tansu_status log_from(log *l, uint64_t sequence, log_extent **list, uint32_t *count,
                      tansu_error *error) {
    pthread_mutex_lock(&l->mutex);
    uint32_t n = l->active.count, from = n == 0 ? 0 : n - 1;
    while (from > 0 && l->active.items[from]->first > sequence)
        from--;
    log_extent *made = malloc((n - from + 1) * sizeof *made);
    for (uint32_t i = from; made != NULL && i < n; i++) {
        const segment *s = l->active.items[i];
        uint64_t next = i + 1 < n ? l->active.items[i + 1]->first - 1 : UINT64_MAX;
        made[i - from] = (log_extent){
            .number = s->number,
            .compacted = s->last != 0,
            .compressed = s->compressed != NULL,
            .bytes = segment_bytes(s),
            .end = s->last != 0 ? s->used : __atomic_load_n(&s->allocated, __ATOMIC_RELAXED),
            .first = s->first,
            .last = s->last != 0 ? s->last : next};
    }
    pthread_mutex_unlock(&l->mutex);
    *list = made;
    *count = made == NULL ? 0 : n - from;
    return made == NULL ? error_memory(error) : TANSU_OK;
}

uint64_t log_compacted_to(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint64_t last = l->active.count == 0 ? 0 : l->active.items[0]->last;
    pthread_mutex_unlock(&l->mutex);
    return last;
}

uint32_t log_segment_count(log *l) {
    pthread_mutex_lock(&l->mutex);
    uint32_t count = l->active.count + l->inactive.count + l->superseded.count;
    pthread_mutex_unlock(&l->mutex);
    return count;
}

bool log_has_segment(const log *l, uint32_t number) {
    uint64_t size;
    return log_memory(log_entry(l, number), &size) != NULL;
}
