/*
 * catalog/repair_scan.c -- reading every segment for what can be taken of it.
 *
 * A frame whose checksum is right is taken whole. Where none is, records are looked for one by one:
 * such that make sense, and whose commit is one that is missing there.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "base/value.h"
#include "catalog/repair_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes between two calls of the progress function. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* One segment being read. */
typedef struct scan {
    repair *r;
    const repair_segment *s;
    const uint8_t *bytes;
    uint64_t end;
    uint64_t low;        /* the last commit that was taken */
    uint64_t next_first; /* the first commit of the next segment; UINT64_MAX: there is none */
    bool told;           /* what is missing up to the next segment has been told */
    repair_reader reader;
} scan;

/* Numbers that no document was ever given, for those whose own can't be right. */
#define STRAY_DOCNO ((uint64_t)1 << 39)

/* note -- a problem at an offset of the segment. */
static void note(scan *k, uint64_t offset, uint64_t size, const char *message) {
    char name[32];
    segment_name(k->s->number, name);
    finding where = {.file = name, .offset = (int64_t)offset, .size = (int64_t)size};
    findings_add(&k->r->problems, &where, "%s, offset %llu: %s", name, (unsigned long long)offset,
                 message);
}

/* same_id -- whether two records are of documents with one `_id`. */
static bool same_id(const record_header *a, const record_header *b) {
    doc_value x, y;
    const uint8_t *p = record_payload(a), *q = record_payload(b);
    return doc_find(p, load_u32(p), "_id", 3, &x) && doc_find(q, load_u32(q), "_id", 3, &y) &&
           value_compare(&x, &y) == 0;
}

/* follows -- whether a record that no checksum protects goes on with what is known of its document: else
 * its number, which decides what it replaces, may be what is damaged. *older: it is from before that. */
static tansu_status follows(scan *k, const record_header *record, log_place known, bool *fits,
                            bool *older, tansu_error *error) {
    const record_header *before;
    tansu_status status;
    *fits = *older = false;
    if (known == 0) {
        *fits = record->type == RECORD_PUT;
        return TANSU_OK;
    }
    if (repair_read(&k->reader, known, &before, &status, error)) {
        *older = before->sequence > record->sequence;
        *fits = before->where == record->where && same_id(before, record) &&
                (record->previous != 0 || before->sequence == record->sequence);
    }
    if (status != TANSU_OK || !*fits || record->previous == 0 ||
        (record->previous & PLACE_MASK) == (known & PLACE_MASK))
        return status;
    /* What it replaced may have been lost, and then its place says nothing. */
    if (repair_read(&k->reader, record->previous, &before, &status, error))
        *fits = before->where == record->where;
    return status;
}

/* take_unsure -- a put or a deletion that no checksum protects. */
static tansu_status take_unsure(scan *k, const record_header *record, log_place place,
                                tansu_error *error) {
    repair *r = k->r;
    bool fits, older;
    uint64_t where = record->where;
    tansu_status status = follows(k, record, pending_find(&r->places, where), &fits, &older, error);
    if (status != TANSU_OK || (fits && older))
        return status;
    if (!fits && record->type == RECORD_DELETE) {
        note(k, (uint32_t)place & PLACE_MASK, record->size,
             "a deletion does not fit what is known of its document and was left out");
        return TANSU_OK;
    }
    if (!fits) /* as a document of its own; one with the same `_id` is told from it later */
        where = record_where(record_collection(record), STRAY_DOCNO + r->strays++);
    if (!pending_reserve(&r->places))
        return error_memory(error);
    pending_set(&r->places, where, place | PLACE_UNSURE);
    return TANSU_OK;
}

/* take_document -- a put or a deletion. */
static tansu_status take_document(scan *k, const record_header *record, log_place place, bool sure,
                                  tansu_error *error) {
    if (record->type == RECORD_DELETE)
        place |= PLACE_DELETED;
    if (!sure)
        return take_unsure(k, record, place, error);
    if (!pending_reserve(&k->r->places))
        return error_memory(error);
    pending_set(&k->r->places, record->where, place);
    return TANSU_OK;
}

/* take_record -- any record that makes sense. */
static tansu_status take_record(scan *k, const record_header *record, uint64_t offset, bool sure,
                                tansu_error *error) {
    repair *r = k->r;
    log_place place = (uint64_t)k->s->number << 32 | offset;
    if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
        return take_document(k, record, place, sure, error);
    if (record->type == RECORD_COMPACTION)
        return TANSU_OK;
    if (r->record_count == r->record_room) {
        size_t room = r->record_room == 0 ? 64 : r->record_room * 2;
        repair_record *list = realloc(r->records, room * sizeof *list);
        if (list == NULL)
            return error_memory(error);
        r->records = list;
        r->record_room = room;
    }
    const uint8_t *payload = record_payload(record);
    repair_record *taken = &r->records[r->record_count];
    *taken = (repair_record){.sequence = record->sequence,
                             .type = record->type,
                             .collection = record_collection(record),
                             .place = sure ? place : place | PLACE_UNSURE};
    if (!buffer_set(&taken->payload, payload, load_u32(payload)))
        return error_memory(error);
    r->record_count++;
    return TANSU_OK;
}

/* take_frame -- the records of a frame whose checksum is right. */
static tansu_status take_frame(scan *k, const frame_header *frame, uint64_t offset,
                               tansu_error *error) {
    uint64_t at = FRAME_HEADER_SIZE;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && at < frame->size) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        const char *fault = walk_record(record, frame->size - at, frame->sequence);
        if (fault == NULL) {
            status = take_record(k, record, offset + at, true, error);
        } else {
            char message[160];
            snprintf(message, sizeof message, "a record %s and was left out", fault);
            note(k, offset + at, record->size, message);
            k->r->lost_bytes += record->size;
        }
        at += record->size;
    }
    return status;
}

/* salvage -- the bytes from an offset to another, where commits behind `low` up to `high` are missing; from
 * `zeros` on they are zero, which the end of a record may be as well. */
static tansu_status salvage(scan *k, uint64_t from, uint64_t zeros, uint64_t to, uint64_t high,
                            tansu_error *error) {
    /* So many commits fit in at most. */
    uint64_t most = k->low + 1 + (zeros - from) / (FRAME_HEADER_SIZE + RECORD_HEADER_SIZE);
    uint64_t taken = 0, taken_bytes = 0;
    tansu_status status = TANSU_OK;
    for (uint64_t at = from; status == TANSU_OK;) {
        at = walk_salvage(k->bytes, at, to);
        if (at >= to)
            break;
        const record_header *record = (const record_header *)(k->bytes + at);
        if (record->sequence <= k->low || record->sequence > high || record->sequence > most) {
            at += 8;
            continue;
        }
        status = take_record(k, record, at, false, error);
        taken++;
        taken_bytes += record->size;
        at += record->size;
        if (at > zeros)
            zeros = at;
    }
    char commits[96], message[256];
    uint64_t last = high < most ? high : most;
    if (last == k->low + 1 || k->s->last != 0 || high == UINT64_MAX)
        snprintf(commits, sizeof commits, "commit %llu%s", (unsigned long long)k->low + 1,
                 k->s->last != 0 ? " or a later one" : "");
    else
        snprintf(commits, sizeof commits, "commits %llu to %llu", (unsigned long long)k->low + 1,
                 (unsigned long long)high);
    snprintf(
        message, sizeof message,
        "damage in %s: %llu records were taken that no checksum protects, %llu bytes were lost",
        commits, (unsigned long long)taken, (unsigned long long)(zeros - from - taken_bytes));
    k->r->lost_bytes += zeros - from - taken_bytes;
    note(k, from, zeros - from, message);
    return status;
}

/* zero_from -- where the zeros at the end of the bytes begin, not before `offset`. */
static uint64_t zero_from(const scan *k, uint64_t offset) {
    uint64_t end = k->end;
    while (end > offset && k->bytes[end - 1] == 0)
        end--;
    end = align8(end);
    return end < k->end ? end : k->end;
}

/* tail_counts -- whether bytes behind the last frame of the last segment were a commit: the header of a
 * frame is written last, and is zero in one that was never finished. */
static bool tail_counts(const scan *k, uint64_t offset, uint64_t end) {
    if (k->r->end_sequence > k->low)
        return true;
    for (uint64_t i = offset; i < end && i < offset + FRAME_HEADER_SIZE; i++)
        if (k->bytes[i] != 0)
            return true;
    return false;
}

/* pass_damage -- from a place that is no frame to the next that is; *offset is there then. */
static tansu_status pass_damage(scan *k, uint64_t *offset, tansu_error *error) {
    uint64_t seed = k->r->crc_seed, from = *offset;
    uint64_t to = walk_find((uint32_t)seed, k->bytes, k->end, from + 8, k->low + 1);
    const frame_header *found = walk_frame((uint32_t)seed, k->bytes, k->end, to);
    *offset = found == NULL ? k->end : to;
    uint64_t zeros = found == NULL ? zero_from(k, from) : to;
    bool sparse = k->s->last != 0;
    uint64_t high = found != NULL                 ? found->sequence - 1
                    : sparse                      ? k->s->last
                    : k->next_first == UINT64_MAX ? UINT64_MAX
                                                  : k->next_first - 1;
    bool missing = found != NULL || k->next_first != UINT64_MAX || sparse
                       ? high > k->low
                       : tail_counts(k, from, zeros);
    if (!missing || zeros <= from)
        return TANSU_OK;
    k->told = true;
    return salvage(k, from, zeros, to, high, error);
}

/* scan_bytes -- all of a segment that was read. */
static tansu_status scan_bytes(scan *k, tansu_error *error) {
    uint64_t offset = SEGMENT_HEADER_SIZE, told = 0;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && offset < k->end) {
        const frame_header *frame = walk_frame(k->r->crc_seed, k->bytes, k->end, offset);
        if (frame != NULL && frame->sequence > k->low) {
            if (frame->sequence > k->low + 1 && k->s->last == 0) {
                char message[96];
                snprintf(message, sizeof message, "the commits %llu to %llu are missing before it",
                         (unsigned long long)k->low + 1, (unsigned long long)frame->sequence - 1);
                if (!k->told)
                    note(k, offset, 0, message);
            }
            status = take_frame(k, frame, offset, error);
            k->told = false;
            k->low = frame->sequence;
            offset += frame->size;
        } else {
            status = pass_damage(k, &offset, error);
        }
        if (status == TANSU_OK && offset - told >= PROGRESS_BYTES) {
            status = repair_tell(k->r, offset - told, error);
            told = offset;
        }
    }
    return status == TANSU_OK && told < k->s->size ? repair_tell(k->r, k->s->size - told, error)
                                                   : status;
}

/* scan_segment -- reads one; *low: the last commit that was seen, before and after. */
static tansu_status scan_segment(repair *r, const repair_segment *s, uint64_t next_first,
                                 uint64_t *low, tansu_error *error) {
    uint8_t *bytes;
    tansu_status status = repair_load(r, s, &bytes, error);
    if (status != TANSU_OK)
        return status;
    scan k = {.r = r,
              .s = s,
              .bytes = bytes,
              .end = s->size,
              .low = *low,
              .next_first = next_first,
              .reader = {.r = r, .fd = -1}};
    if (s->last != 0 && s->end < k.end)
        k.end = s->end;
    if (s->first != UINT64_MAX && s->first - 1 != *low) {
        char message[96];
        snprintf(message, sizeof message,
                 "the commits %llu to %llu before this segment are missing",
                 (unsigned long long)*low + 1, (unsigned long long)s->first - 1);
        if (s->first - 1 > *low)
            note(&k, 0, 0, message);
        k.low = s->first - 1;
    }
    status = scan_bytes(&k, error);
    *low = s->last != 0 ? s->last : k.low;
    /* What damage was told of is not told as missing once more. */
    if (k.told && next_first != UINT64_MAX && next_first > *low)
        *low = next_first - 1;
    if (k.told && next_first == UINT64_MAX && r->end_sequence > *low)
        *low = r->end_sequence;
    repair_reader_end(&k.reader);
    free(bytes);
    return status;
}

tansu_status repair_scan(repair *r, tansu_error *error) {
    uint64_t low = 0;
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++) {
        if (r->segments[i].left_out)
            continue;
        uint64_t next = UINT64_MAX;
        for (size_t n = i + 1; next == UINT64_MAX && n < r->segment_count; n++)
            if (!r->segments[n].left_out)
                next = r->segments[n].first;
        status = scan_segment(r, &r->segments[i], next, &low, error);
    }
    if (status == TANSU_OK && r->end_sequence > low) {
        finding where = {.file = "log", .offset = -1, .size = -1};
        findings_add(&r->problems, &where, "the commits %llu to %llu are missing at the log's end",
                     (unsigned long long)low + 1, (unsigned long long)r->end_sequence);
    }
    return status;
}
