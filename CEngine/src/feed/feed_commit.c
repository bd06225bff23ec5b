/*
 * feed/feed_commit.c -- the events of one commit: one for each document, by the last record of the
 * document in the commit and the version before the commit.
 */
#include "bson/writer.h"
#include "feed/feed_internal.h"
#include "store/database_internal.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

/* A commit of up to this size is copied, and pre-images of up to this size. */
#define COPY_MOST (1024u * 1024u)

const char *feed_record_text(const record_header *record, const char *key) {
    doc_value value;
    if (!doc_find(record_payload(record), record->size - record_front(record), key, strlen(key),
                  &value) ||
        value.type != DOC_STRING)
        return NULL;
    size_t length;
    const char *text = doc_string(&value, &length);
    return length >= 1 && length <= TANSU_MAX_NAME && strlen(text) == length ? text : NULL;
}

/* corrupt_record -- the error for a record; `fault` is the middle of the sentence. */
static tansu_status corrupt_record(uint32_t number, uint64_t offset, const char *fault,
                                   tansu_error *error) {
    char name[32];
    segment_name(number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "A record of the log %s (\"%s\", offset %llu); restore a backup or salvage "
                    "what is readable",
                    fault, name, (unsigned long long)offset);
}

/* record_at -- the next record. */
static const record_header *record_at(const feed *f) {
    return (const record_header *)((const uint8_t *)f->commit.frame + f->commit.next);
}

/* corrupt -- the error for the next record. */
static tansu_status corrupt(const feed *f, const char *fault, tansu_error *error) {
    return corrupt_record(f->commit.number, f->commit.offset + f->commit.next, fault, error);
}

/* end_commit -- all events of the commit are delivered. */
static void end_commit(feed *f) {
    feed_advance(&f->position, f->commit.frame);
    f->hint = (log_location)f->commit.number << 32 | (uint32_t)f->position.offset;
    f->commit.frame = NULL;
}

/* ---- Which records are events ---- */

/* is_catalog -- whether a record creates, drops or renames a collection. */
static bool is_catalog(const record_header *record) {
    return record->type == RECORD_COLLECTION_CREATE || record->type == RECORD_COLLECTION_DROP ||
           record->type == RECORD_COLLECTION_RENAME;
}

/* had_before -- whether the document existed before the commit. */
static bool had_before(const record_header *record) {
    log_location previous = record_previous(record);
    return previous != 0 && (previous & LOCATION_DELETED) == 0;
}

/* apply_names -- the name of a collection after a record. */
static tansu_status apply_names(feed *f, const record_header *record, tansu_error *error) {
    uint32_t id = record_collection(record);
    const char *name =
        feed_record_text(record, record->type == RECORD_COLLECTION_RENAME ? "to" : "name");
    if (record->type == RECORD_COLLECTION_DROP)
        feed_names_drop(&f->names, id);
    else if (name == NULL)
        return corrupt(f, "has no name", error);
    else if (!feed_names_set(&f->names, id, name))
        return error_memory(error);
    return TANSU_OK;
}

/* wants_catalog -- whether a record about a collection is an event of the feed. */
static tansu_status wants_catalog(feed *f, const record_header *record, bool *wanted,
                                  tansu_error *error) {
    bool renamed = record->type == RECORD_COLLECTION_RENAME;
    const char *name = feed_record_text(record, "name");
    const char *to = renamed ? feed_record_text(record, "to") : NULL;
    if (name == NULL || (renamed && to == NULL))
        return corrupt(f, "has no name", error);
    *wanted = feed_names_want(&f->names, name) || (renamed && feed_names_want(&f->names, to));
    return TANSU_OK;
}

/* wants_document -- whether a put or a deletion is an event: it is the last record of its document
 * in the commit, and the document exists or existed before. */
static tansu_status wants_document(feed *f, const record_header *record, bool *wanted,
                                   tansu_error *error) {
    const feed_name *name = feed_names_find(&f->names, record_collection(record));
    if (name == NULL && f->names.filter == NULL)
        return corrupt(f, "is of a collection that does not exist", error);
    *wanted = name != NULL && name->wanted && (record->type == RECORD_PUT || had_before(record)) &&
              (!f->commit.several || pending_find(&f->newest, record->where) == f->commit.next);
    return TANSU_OK;
}

/* skip_record -- moves to the record after the next. */
static void skip_record(feed *f) {
    f->commit.next += record_step(record_at(f));
    f->commit.ordinal++;
}

/* find_event -- moves to the first record that is an event; DONE when there is none. */
static tansu_status find_event(feed *f, tansu_error *error) {
    for (; f->commit.next < f->commit.frame->size; skip_record(f)) {
        const record_header *record = record_at(f);
        bool wanted = false;
        tansu_status status = TANSU_OK;
        if (is_catalog(record))
            status = wants_catalog(f, record, &wanted, error);
        else if (record->type == RECORD_PUT || record->type == RECORD_DELETE)
            status = wants_document(f, record, &wanted, error);
        if (status != TANSU_OK || wanted)
            return status;
        if (is_catalog(record))
            status = apply_names(f, record, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_DONE;
}

/* note_newest -- the last record of each document. */
static tansu_status note_newest(feed *f, const frame_header *frame, tansu_error *error) {
    pending_clear(&f->newest);
    for (uint32_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        if (record->type == RECORD_PUT || record->type == RECORD_DELETE) {
            if (!pending_reserve(&f->newest))
                return error_memory(error);
            pending_set(&f->newest, record->where, at);
        }
        at += record_step(record);
    }
    return TANSU_OK;
}

/* ---- Pre-images ---- */

/* find_pre_image -- the document before the commit of a record, in the log; *doc NULL: there was
 * none, or compaction has removed it. */
static tansu_status find_pre_image(feed *f, const record_header *record, const uint8_t **doc,
                                   uint32_t *size, tansu_error *error) {
    *doc = NULL;
    *size = 0;
    if (!had_before(record))
        return TANSU_OK;
    log_location previous = record_previous(record);
    uint32_t number = (uint32_t)(previous >> 32);
    uint64_t offset = (uint32_t)previous & LOCATION_MASK, room;
    bool there;
    const record_header *old = log_examine(f->db->log, &f->pins, previous, &room, &there);
    if (!there)
        return TANSU_OK;
    if (old == NULL)
        return corrupt(f, "names an older version that is not in the log", error);
    const char *fault = scan_record(old, room, 0);
    if (fault == NULL &&
        (old->type != RECORD_PUT || record_visible_from(old) >= record_visible_from(record)))
        fault = "is not the older version that a newer record names";
    if (fault != NULL)
        return corrupt_record(number, offset, fault, error);
    *doc = record_document(old, room, record->where, size);
    return *doc != NULL ? TANSU_OK
                        : corrupt_record(number, offset, "is of another document", error);
}

/* copy_pre_images -- copies the pre-images of the current commit; DONE when they are too large. */
static tansu_status copy_pre_images(feed *f, const frame_header *frame, tansu_error *error) {
    f->pre_images.size = f->pre_image_offsets.size = 0;
    for (uint32_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        uint32_t where = UINT32_MAX, size = 0;
        const uint8_t *doc = NULL;
        if ((record->type == RECORD_PUT || record->type == RECORD_DELETE) &&
            (!f->commit.several || pending_find(&f->newest, record->where) == at)) {
            tansu_status status = find_pre_image(f, record, &doc, &size, error);
            if (status != TANSU_OK)
                return status;
        }
        if (doc != NULL)
            where = (uint32_t)f->pre_images.size;
        if (f->pre_images.size + size > COPY_MOST)
            return TANSU_DONE;
        if (!buffer_append(&f->pre_images, doc, size) ||
            !buffer_append(&f->pre_image_offsets, &where, sizeof where))
            return error_memory(error);
        at += record_step(record);
    }
    return TANSU_OK;
}

/* copy_small -- copies the current frame unless it is large. */
static tansu_status copy_small(feed *f, tansu_error *error) {
    const frame_header *frame = f->commit.frame;
    if (frame->size > COPY_MOST)
        return TANSU_OK;
    tansu_status status = f->before ? copy_pre_images(f, frame, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    if (!buffer_set(&f->copy, frame, frame->size))
        return error_memory(error);
    f->commit.frame = (const frame_header *)f->copy.data;
    f->commit.copied = true;
    return TANSU_OK;
}

tansu_status feed_begin_commit(feed *f, const frame_header *frame, uint32_t number, uint64_t offset,
                               tansu_error *error) {
    f->commit = (feed_commit){.frame = frame,
                              .number = number,
                              .offset = offset,
                              .next = FRAME_HEADER_SIZE,
                              .several = frame->count > 1};
    tansu_status status = f->commit.several ? note_newest(f, frame, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = find_event(f, error);
    if (status == TANSU_OK)
        status = copy_small(f, error);
    if (status != TANSU_OK)
        f->commit.frame = NULL;
    return status;
}

/* ---- Events ---- */

/* fill_id -- {"_id": …} of the document in a put. */
static tansu_status fill_id(feed *f, tansu_document doc, tansu_change *change, tansu_error *error) {
    doc_value id;
    doc_find_id(doc.data, doc.size, &id); /* scan_record() has found it */
    if (!writer_single(&f->id, "_id", &id))
        return error_memory(error);
    change->id = (tansu_document){f->id.data, f->id.size};
    return TANSU_OK;
}

/* fill_before -- the pre-image, if the feed delivers pre-images. */
static tansu_status fill_before(feed *f, const record_header *record, tansu_change *change,
                                tansu_error *error) {
    if (!f->before)
        return TANSU_OK;
    if (f->commit.copied) {
        uint32_t where =
            load_u32(f->pre_image_offsets.data + (size_t)f->commit.ordinal * sizeof where);
        if (where != UINT32_MAX)
            change->before =
                (tansu_document){f->pre_images.data + where, load_u32(f->pre_images.data + where)};
        return TANSU_OK;
    }
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = find_pre_image(f, record, &doc, &size, error);
    if (status == TANSU_OK && doc != NULL)
        change->before = (tansu_document){doc, size};
    return status;
}

/* fill_document -- a put or a deletion. */
static tansu_status fill_document(feed *f, const record_header *record, tansu_change *change,
                                  tansu_error *error) {
    const feed_name *name = feed_names_find(&f->names, record_collection(record));
    if (name == NULL)
        return corrupt(f, "is of a collection that does not exist", error);
    size_t length = strnlen(name->text, TANSU_MAX_NAME);
    memcpy(f->name, name->text, length);
    f->name[length] = 0;
    const uint8_t *payload = record_payload(record);
    tansu_document doc = {payload, load_u32(payload)};
    tansu_status status = TANSU_OK;
    if (record->type == RECORD_DELETE) {
        change->kind = TANSU_CHANGE_REMOVE;
        change->id = doc;
    } else {
        change->kind = had_before(record) ? TANSU_CHANGE_UPDATE : TANSU_CHANGE_INSERT;
        if (f->after)
            change->after = doc;
        status = fill_id(f, doc, change, error);
    }
    return status == TANSU_OK ? fill_before(f, record, change, error) : status;
}

/* fill_catalog -- a collection that was created, dropped or renamed. */
static tansu_status fill_catalog(feed *f, const record_header *record, tansu_change *change,
                                 tansu_error *error) {
    const char *name = feed_record_text(record, "name");
    if (name == NULL)
        return corrupt(f, "has no name", error);
    memcpy(f->name, name, strlen(name) + 1);
    change->kind = record->type == RECORD_COLLECTION_CREATE ? TANSU_CHANGE_COLLECTION_CREATED
                   : record->type == RECORD_COLLECTION_DROP ? TANSU_CHANGE_COLLECTION_DROPPED
                                                            : TANSU_CHANGE_COLLECTION_RENAMED;
    if (record->type != RECORD_COLLECTION_RENAME)
        return TANSU_OK;
    const char *to = feed_record_text(record, "to");
    if (to == NULL)
        return corrupt(f, "has no name", error);
    memcpy(f->new_name, to, strlen(to) + 1);
    change->new_name = f->new_name;
    return TANSU_OK;
}

tansu_status feed_find_event(feed *f, tansu_error *error) {
    tansu_status status = find_event(f, error);
    f->commit.searching = status != TANSU_OK && status != TANSU_DONE;
    if (status == TANSU_DONE)
        end_commit(f);
    return status;
}

tansu_status feed_fill_event(feed *f, tansu_change *change, tansu_error *error) {
    const record_header *record = record_at(f);
    const char *fault =
        scan_record(record, f->commit.frame->size - f->commit.next, f->commit.frame->sequence);
    if (fault != NULL)
        return corrupt(f, fault, error);
    *change = (tansu_change){.struct_size = sizeof *change,
                             .sequence = f->commit.frame->sequence,
                             .collection = f->name};
    tansu_status status;
    if (is_catalog(record)) {
        status = fill_catalog(f, record, change, error);
        if (status == TANSU_OK)
            status = apply_names(f, record, error);
    } else {
        status = fill_document(f, record, change, error);
    }
    if (status != TANSU_OK)
        return status;
    skip_record(f);
    status = feed_find_event(f, NULL);
    change->last = status == TANSU_DONE;
    return TANSU_OK;
}

/* ---- Reading the commits of the log from a feed's position on ---- */

/* missing_commit -- the error for a commit that is not where it must be. */
static tansu_status missing_commit(const log_extent *e, uint64_t offset, uint64_t sequence,
                                   tansu_error *error) {
    char name[32];
    segment_name(e->number, name);
    return error_at(error, TANSU_E_CORRUPT, name, (int64_t)offset,
                    "Commit %llu is corrupt (\"%s\", offset %llu); restore a backup or salvage "
                    "what is readable",
                    (unsigned long long)sequence, name, (unsigned long long)offset);
}

tansu_status feed_acquire(feed *f, tansu_error *error) {
    f->snapshot = snapshot_acquire(f->db);
    f->position.extent = 0;
    f->position.offset = 0;
    if (f->snapshot->sequence <= f->position.delivered)
        return TANSU_DONE;
    return log_from(f->db->log, f->position.delivered + 1, &f->extents, &f->extent_count, error);
}

void feed_release(feed *f) {
    if (f->snapshot == NULL)
        return;
    log_pins_release(&f->pins);
    image_close(&f->image);
    f->image_number = 0;
    free(f->extents);
    f->extents = NULL;
    f->extent_count = 0;
    snapshot_release(f->db, f->snapshot);
    f->snapshot = NULL;
}

/* frames_of -- the bytes of a segment: those in memory, or of its blocks. What is skipped may be
 * corrupt. */
static tansu_status frames_of(feed *f, const log_extent *e, const uint8_t **bytes,
                              tansu_error *error) {
    tansu_status status = TANSU_OK;
    *bytes = e->bytes;
    if (e->bytes != NULL)
        return TANSU_OK;
    if (f->image_number != e->number) {
        image_close(&f->image);
        f->image_number = 0;
        status = image_open(f->db->log, e->number, NULL, true, &f->image, error);
        if (status == TANSU_OK)
            f->image_number = e->number;
    }
    *bytes = f->image.bytes;
    return status;
}

/* seek -- sets the offset of the first frame in the current segment that is not delivered. Only
 * frame headers are read: corruption in what is skipped is nobody's problem. */
static tansu_status seek(const feed *f, const uint8_t *bytes, feed_position *p,
                         tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    if ((uint32_t)(f->hint >> 32) == e->number) {
        p->offset = (uint32_t)f->hint;
        return TANSU_OK;
    }
    p->offset = SEGMENT_HEADER_SIZE;
    for (uint64_t passed = e->first - 1; passed < p->delivered && p->offset < e->end;) {
        const frame_header *frame = (const frame_header *)(bytes + p->offset);
        if (e->end - p->offset < FRAME_HEADER_SIZE || frame->magic != FRAME_MAGIC ||
            frame->size < FRAME_HEADER_SIZE || frame->size % 8 != 0 ||
            frame->size > e->end - p->offset || frame->sequence <= passed)
            return missing_commit(e, p->offset, passed + 1, error);
        if (frame->sequence > p->delivered)
            break;
        passed = frame->sequence;
        p->offset += frame->size;
    }
    return TANSU_OK;
}

/* frame_in_segment -- the next frame in the current segment; DONE at its end, or that of the
 * snapshot. */
static tansu_status frame_in_segment(feed *f, feed_position *p, const frame_header **frame,
                                     tansu_error *error) {
    const log_extent *e = &f->extents[p->extent];
    const uint8_t *bytes;
    tansu_status status = frames_of(f, e, &bytes, error);
    if (status == TANSU_OK && p->offset == 0)
        status = seek(f, bytes, p, error);
    if (status != TANSU_OK)
        return status;
    uint64_t due = p->delivered + 1;
    if (due > f->snapshot->sequence || (e->compacted ? p->offset >= e->end : due > e->last))
        return TANSU_DONE;
    *frame = scan_frame(f->db->log->crc_seed, bytes, e->end, p->offset);
    if (*frame == NULL || (*frame)->sequence > e->last ||
        (e->compacted ? (*frame)->sequence < due : (*frame)->sequence != due))
        return missing_commit(e, p->offset, due, error);
    return (*frame)->sequence > f->snapshot->sequence ? TANSU_DONE : TANSU_OK;
}

/* next_frame -- the next frame of the snapshot; DONE at its end. */
static tansu_status next_frame(feed *f, feed_position *p, const frame_header **frame,
                               tansu_error *error) {
    while (p->extent < f->extent_count) {
        tansu_status status = frame_in_segment(f, p, frame, error);
        if (status != TANSU_DONE)
            return status;
        /* Compaction may have dropped the last commits of the segment. */
        uint64_t last = f->extents[p->extent].last;
        if (last >= f->snapshot->sequence)
            break;
        feed_set_delivered(p, last);
        p->extent++;
        p->offset = SEGMENT_HEADER_SIZE;
    }
    feed_set_delivered(p, f->snapshot->sequence);
    return TANSU_DONE;
}

/* find_names_in -- the first record that names a collection names it for all records before. */
static bool find_names_in(feed *f, const record_header *record) {
    if (record->type != RECORD_COLLECTION_DROP && record->type != RECORD_COLLECTION_RENAME)
        return true;
    const char *name = feed_record_text(record, "name");
    return name == NULL || feed_names_note(&f->names, record_collection(record), name);
}

tansu_status feed_find_names(feed *f, tansu_error *error) {
    bool complete = f->position.delivered == 0;
    for (uint32_t i = 0; i < f->extent_count; i++)
        complete = complete && !f->extents[i].compacted;
    if (complete) /* the log has the creation of every collection */
        return TANSU_OK;
    feed_position p = f->position;
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &p, &frame, error)) == TANSU_OK) {
        const uint8_t *at = (const uint8_t *)frame, *end = at + frame->size;
        for (at += FRAME_HEADER_SIZE; at < end; at += record_step((const record_header *)at))
            if (!find_names_in(f, (const record_header *)at))
                return error_memory(error);
        feed_advance(&p, frame);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status feed_next_commit(feed *f, tansu_error *error) {
    const frame_header *frame;
    tansu_status status;
    while ((status = next_frame(f, &f->position, &frame, error)) == TANSU_OK) {
        status = feed_begin_commit(f, frame, f->extents[f->position.extent].number,
                                   f->position.offset, error);
        if (status != TANSU_DONE || interrupt_asked(&f->interrupt))
            return status;
        feed_advance(&f->position, frame);
        f->hint = (log_location)f->commit.number << 32 | (uint32_t)f->position.offset;
    }
    if (status == TANSU_DONE)
        f->hint = f->snapshot->position;
    return status;
}
