/*
 * log/scan.c -- reading the bytes of segments without trusting them.
 */
#include "log/scan.h"

#include "bson/document.h"
#include "log/segment.h"
#include "util/array.h"
#include "util/bisect.h"
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
    if (frame->magic != FRAME_MAGIC || frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
        frame->size > size - offset || !frame_records_valid(frame))
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
        if (load_u32(bytes + offset) != FRAME_MAGIC)
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
    doc_check_mode mode = record->type == RECORD_PUT ? DOC_CHECK_STORE : DOC_CHECK_OWN;
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

/* listed -- the segment of that number in a list; NULL when there is none. */
static const segment *listed(const segment_list *list, uint32_t number) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->number == number)
            return list->items[i];
    return NULL;
}

const uint8_t *log_mapped(log *l, uint32_t number, uint64_t *end) {
    pthread_mutex_lock(&l->mutex);
    const segment *s = segment_get(l, number);
    if (s == NULL)
        s = listed(&l->superseded, number);
    const uint8_t *bytes = s == NULL || s->compressed != NULL ? NULL : s->base;
    *end = bytes == NULL ? 0 : segment_room(s);
    pthread_mutex_unlock(&l->mutex);
    return bytes;
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
    uint64_t last = 0;
    for (uint32_t i = 0; i < l->active.count; i++)
        if (i == 0 || l->active.items[i]->reduced)
            last = l->active.items[i]->last;
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

/* ---- Records of a snapshot ---- */

/* Bytes of a segment that are in no valid frame. */
typedef struct intact_gap {
    uint64_t from, to;
} intact_gap;

struct intact_segment {
    uint32_t number;
    uint64_t to; /* the end of what was checked */
    intact_gap *gaps;
    size_t count, capacity;
};

/* note_gap -- one more range of a segment. */
static tansu_status note_gap(intact_segment *s, uint64_t from, uint64_t to, tansu_error *error) {
    if (!ARRAY_RESERVE(s->gaps, s->count, s->capacity, 1))
        return error_memory(error);
    s->gaps[s->count++] = (intact_gap){from, to};
    return TANSU_OK;
}

/* check_segment -- the frames of a segment that were not checked, up to the snapshot's position. */
static tansu_status check_segment(const log_intact *checked, intact_segment *s,
                                  tansu_error *error) {
    uint64_t end, at = s->to;
    const uint8_t *bytes = log_mapped(checked->l, s->number, &end);
    if (s->number == (uint32_t)(checked->position >> 32) && end > (uint32_t)checked->position)
        end = (uint32_t)checked->position;
    tansu_status status = TANSU_OK;
    while (bytes != NULL && at < end && status == TANSU_OK) {
        const frame_header *frame = scan_frame(checked->l->crc_seed, bytes, end, at);
        uint64_t next = frame != NULL ? at + frame->size
                                      : scan_find(checked->l->crc_seed, bytes, end, at + 8, 0);
        if (frame == NULL)
            status = note_gap(s, at, next, error);
        at = next;
        if (status == TANSU_OK)
            s->to = at;
    }
    if (bytes == NULL) /* compressed */
        s->to = UINT64_MAX;
    return status;
}

/* find -- the index of the first segment whose number is not lower. */
static size_t find(const log_intact *checked, uint32_t number) {
    return BISECT(checked->segments, checked->count, intact_segment, number, number);
}

/* is_at -- whether the segment at an index has that number. */
static bool is_at(const log_intact *checked, size_t at, uint32_t number) {
    return at < checked->count && checked->segments[at].number == number;
}

/* add -- checks a segment, and puts it at an index. */
static tansu_status add(log_intact *checked, size_t at, uint32_t number, tansu_error *error) {
    intact_segment fresh = {.number = number, .to = SEGMENT_HEADER_SIZE};
    if (!ARRAY_RESERVE(checked->segments, checked->count, checked->capacity, 1))
        return error_memory(error);
    tansu_status status = check_segment(checked, &fresh, error);
    if (status != TANSU_OK) {
        free(fresh.gaps);
        return status;
    }
    memmove(checked->segments + at + 1, checked->segments + at,
            (checked->count - at) * sizeof *checked->segments);
    checked->segments[at] = fresh;
    checked->count++;
    return TANSU_OK;
}

/* intact_at -- log_intact_at() of what is not shared, or with the mutex held. */
static tansu_status intact_at(log_intact *checked, log_location location, bool *intact,
                              tansu_error *error) {
    uint32_t number = (uint32_t)(location >> 32);
    uint64_t offset = (uint32_t)location & LOCATION_MASK;
    *intact = true;
    if (!is_at(checked, checked->last, number))
        checked->last = find(checked, number);
    if (!is_at(checked, checked->last, number)) {
        tansu_status status = add(checked, checked->last, number, error);
        if (status != TANSU_OK)
            return status;
    }
    intact_segment *s = &checked->segments[checked->last];
    if (offset >= s->to) { /* written since */
        tansu_status status = check_segment(checked, s, error);
        if (status != TANSU_OK)
            return status;
    }
    for (size_t i = 0; i < s->count && s->gaps[i].from <= offset; i++)
        *intact = *intact && offset >= s->gaps[i].to;
    return TANSU_OK;
}

tansu_status log_intact_at(log_intact *checked, log_location location, bool *intact,
                           tansu_error *error) {
    if (!checked->shared)
        return intact_at(checked, location, intact, error);
    log *l = checked->l;
    pthread_mutex_lock(&l->checked_mutex);
    if (l->checked == NULL && (l->checked = calloc(1, sizeof *l->checked)) != NULL)
        l->checked->l = l;
    tansu_status status = l->checked == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK) {
        l->checked->position = checked->position;
        status = intact_at(l->checked, location, intact, error);
    }
    pthread_mutex_unlock(&l->checked_mutex);
    return status;
}

void log_intact_end_shared(log *l) {
    if (l->checked != NULL)
        log_intact_end(l->checked);
    free(l->checked);
    l->checked = NULL;
}

void log_intact_end(log_intact *checked) {
    for (size_t i = 0; i < checked->count; i++)
        free(checked->segments[i].gaps);
    free(checked->segments);
    *checked = (log_intact){0};
}

/* ---- Validating one frame in a mapped segment ---- */

const frame_header *frame_in(const log *l, const uint8_t *bytes, uint64_t size, uint64_t offset) {
    if (offset + FRAME_HEADER_SIZE > size)
        return NULL;
    const frame_header *frame = (const frame_header *)(bytes + offset);
    if (frame->magic != FRAME_MAGIC || frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
        frame->size > size - offset)
        return NULL;
    uint32_t crc = checksum(l->crc_seed, bytes + offset + 8, frame->size - 8);
    return crc == frame->crc ? frame : NULL;
}

const frame_header *frame_at(const log *l, const segment *s, uint64_t offset) {
    return frame_in(l, s->base, s->allocated, offset);
}

bool frame_proves(const log *l, const frame_header *frame, uint64_t sequence) {
    return frame->synced >= sequence || (l->concurrent && l->found.page_cache_holds);
}

bool frame_records_valid(const frame_header *frame) {
    uint64_t at = FRAME_HEADER_SIZE;
    uint32_t count = 0;
    while (at < frame->size) {
        if (frame->size - at < RECORD_SIZE_LEAST)
            return false;
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        uint64_t least = (uint64_t)record_front(record) + 5;
        if (record->size % 8 != 0 || record->size < least || record->size > frame->size - at)
            return false;
        at += record->size;
        count++;
    }
    return count == frame->count;
}

tansu_status frame_damaged_error(uint32_t number, uint64_t offset, uint64_t sequence,
                                 tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu was written and is corrupt at \"%s\", offset %llu; restore a "
                    "backup or salvage "
                    "what is readable with \"tansu repair\"",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}
