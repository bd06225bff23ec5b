/*
 * catalog/feed_frame.c -- the changes of one commit (see feed.h): of each document the last one, compared
 * with what there was before the commit.
 */
#include "base/buffer.h"
#include "base/doc.h"
#include "base/error.h"
#include "catalog/feed.h"
#include "log/walk.h"

/* A commit of up to so many bytes is copied, and up to so many bytes of what was before. */
#define COPY_MOST (1024u * 1024u)

const char *feed_record_text(const record_header *record, const char *key) {
    uint64_t front = RECORD_HEADER_SIZE + (uint64_t)record->meta_words * 8;
    doc_value value;
    if (!doc_find(record_payload(record), record->size - front, key, strlen(key), &value) ||
        value.type != DOC_STRING)
        return NULL;
    size_t length;
    const char *text = doc_string(&value, &length);
    return length >= 1 && length <= TANSU_MAX_NAME && strlen(text) == length ? text : NULL;
}

/* record_at -- the record that is next. */
static const record_header *record_at(const feed *f) {
    return (const record_header *)((const uint8_t *)f->at.frame + f->at.next);
}

/* damaged -- the error for it. */
static tansu_status damaged(const feed *f, const char *fault, tansu_error *error) {
    return feed_damage(f->at.number, f->at.offset + f->at.next, fault, error);
}

/* ---- Which records are told ---- */

/* is_catalog -- whether a record tells of a collection as a whole. */
static bool is_catalog(const record_header *record) {
    return record->type == RECORD_COLLECTION_CREATE || record->type == RECORD_COLLECTION_DROP ||
           record->type == RECORD_COLLECTION_RENAME;
}

/* had_before -- whether there was a document before the commit. */
static bool had_before(const record_header *record) {
    return record->previous != 0 && (record->previous & PLACE_DELETED) == 0;
}

/* apply_names -- what a collection is called behind a record. */
static tansu_status apply_names(feed *f, const record_header *record, tansu_error *error) {
    uint32_t id = record_collection(record);
    const char *name =
        feed_record_text(record, record->type == RECORD_COLLECTION_RENAME ? "to" : "name");
    if (record->type == RECORD_COLLECTION_DROP)
        feed_names_drop(&f->names, id);
    else if (name == NULL)
        return damaged(f, "holds no name", error);
    else if (!feed_names_set(&f->names, id, name, true))
        return error_memory(error);
    return TANSU_OK;
}

/* wants_catalog -- whether a change of a collection is told. */
static tansu_status wants_catalog(feed *f, const record_header *record, bool *wanted,
                                  tansu_error *error) {
    bool renamed = record->type == RECORD_COLLECTION_RENAME;
    const char *name = feed_record_text(record, "name");
    const char *to = renamed ? feed_record_text(record, "to") : NULL;
    if (name == NULL || (renamed && to == NULL))
        return damaged(f, "holds no name", error);
    *wanted = feed_names_want(&f->names, name) || (renamed && feed_names_want(&f->names, to));
    return TANSU_OK;
}

/* wants_document -- whether a put or delete is told: it is the document's last one in the commit, and
 * there is a document now or was one before. */
static tansu_status wants_document(feed *f, const record_header *record, bool *wanted,
                                   tansu_error *error) {
    const feed_name *name = feed_names_find(&f->names, record_collection(record));
    if (name == NULL)
        return damaged(f, "is of a collection that does not exist", error);
    *wanted = name->wanted && (record->type == RECORD_PUT || had_before(record)) &&
              (!f->at.several || pending_find(&f->newest, record->where) == f->at.next);
    return TANSU_OK;
}

/* forward -- goes behind the record that is next. */
static void forward(feed *f) {
    f->at.next += record_step(record_at(f));
    f->at.ordinal++;
}

/* find_told -- goes to the first record that is told; DONE when there is none. */
static tansu_status find_told(feed *f, tansu_error *error) {
    for (; f->at.next < f->at.frame->size; forward(f)) {
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

/* note_newest -- which record of each document is its last one. */
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

/* ---- What was before ---- */

/* find_before -- the document before a record's commit, in the log; *doc NULL when there was none, or
 * its room was given back. */
static tansu_status find_before(feed *f, const record_header *record, const uint8_t **doc,
                                uint32_t *size, tansu_error *error) {
    *doc = NULL;
    *size = 0;
    if (!had_before(record))
        return TANSU_OK;
    uint32_t number = (uint32_t)(record->previous >> 32);
    uint64_t offset = (uint32_t)record->previous & PLACE_MASK, room;
    const uint8_t *bytes = log_bytes(f->db->log, number, &room);
    if (bytes == NULL)
        return TANSU_OK;
    if (offset < SEGMENT_HEADER_SIZE || offset + RECORD_HEADER_SIZE > room)
        return damaged(f, "names a version before that is not in the log", error);
    const record_header *old = (const record_header *)(bytes + offset);
    const char *fault = walk_record(old, room - offset, 0);
    if (fault == NULL && (old->type != RECORD_PUT || old->sequence >= record->sequence))
        fault = "is not the version before that it is taken for";
    if (fault != NULL)
        return feed_damage(number, offset, fault, error);
    *doc = record_document(old, record->where, size);
    return *doc != NULL ? TANSU_OK : feed_damage(number, offset, "is of another document", error);
}

/* copy_befores -- copies what was before the documents of the frame at hand; DONE when that is much. */
static tansu_status copy_befores(feed *f, const frame_header *frame, tansu_error *error) {
    f->befores.size = f->before_list.size = 0;
    for (uint32_t at = FRAME_HEADER_SIZE; at < frame->size;) {
        const record_header *record = (const record_header *)((const uint8_t *)frame + at);
        uint32_t where = UINT32_MAX, size = 0;
        const uint8_t *doc = NULL;
        if ((record->type == RECORD_PUT || record->type == RECORD_DELETE) &&
            (!f->at.several || pending_find(&f->newest, record->where) == at)) {
            tansu_status status = find_before(f, record, &doc, &size, error);
            if (status != TANSU_OK)
                return status;
        }
        if (doc != NULL)
            where = (uint32_t)f->befores.size;
        if (f->befores.size + size > COPY_MOST)
            return TANSU_DONE;
        if (!buffer_append(&f->befores, doc, size) ||
            !buffer_append(&f->before_list, &where, sizeof where))
            return error_memory(error);
        at += record_step(record);
    }
    return TANSU_OK;
}

/* copy_small -- copies the frame at hand unless it is large. */
static tansu_status copy_small(feed *f, tansu_error *error) {
    const frame_header *frame = f->at.frame;
    if (frame->size > COPY_MOST)
        return TANSU_OK;
    tansu_status status = f->before ? copy_befores(f, frame, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    if (!buffer_set(&f->copy, frame, frame->size))
        return error_memory(error);
    f->at.frame = (const frame_header *)f->copy.data;
    f->at.copied = true;
    return TANSU_OK;
}

tansu_status feed_frame_begin(feed *f, const frame_header *frame, uint32_t number, uint64_t offset,
                              tansu_error *error) {
    f->at = (feed_frame){.frame = frame,
                         .number = number,
                         .offset = offset,
                         .next = FRAME_HEADER_SIZE,
                         .several = frame->count > 1};
    tansu_status status = f->at.several ? note_newest(f, frame, error) : TANSU_OK;
    if (status == TANSU_OK)
        status = find_told(f, error);
    if (status == TANSU_OK)
        status = copy_small(f, error);
    if (status != TANSU_OK)
        f->at.frame = NULL;
    return status;
}

/* ---- Showing one ---- */

/* show_id -- {"_id": …} of the document that a put holds. */
static tansu_status show_id(feed *f, tansu_document doc, tansu_change *change, tansu_error *error) {
    doc_value id;
    doc_find(doc.data, doc.size, "_id", 3, &id); /* walk_record() has seen it */
    uint8_t head[9] = {0, 0, 0, 0, id.type, '_', 'i', 'd', 0};
    store_u32(head, (uint32_t)(sizeof head + id.size + 1));
    if (!buffer_set(&f->id, head, sizeof head) || !buffer_append(&f->id, id.data, id.size) ||
        !buffer_append_byte(&f->id, 0))
        return error_memory(error);
    change->id = (tansu_document){f->id.data, f->id.size};
    return TANSU_OK;
}

/* show_before -- what was before, if that is wanted. */
static tansu_status show_before(feed *f, const record_header *record, tansu_change *change,
                                tansu_error *error) {
    if (!f->before)
        return TANSU_OK;
    if (f->at.copied) {
        uint32_t where = load_u32(f->before_list.data + (size_t)f->at.ordinal * sizeof where);
        if (where != UINT32_MAX)
            change->before =
                (tansu_document){f->befores.data + where, load_u32(f->befores.data + where)};
        return TANSU_OK;
    }
    const uint8_t *doc;
    uint32_t size;
    tansu_status status = find_before(f, record, &doc, &size, error);
    if (status == TANSU_OK && doc != NULL)
        change->before = (tansu_document){doc, size};
    return status;
}

/* show_document -- a put or delete. */
static tansu_status show_document(feed *f, const record_header *record, tansu_change *change,
                                  tansu_error *error) {
    const feed_name *name = feed_names_find(&f->names, record_collection(record));
    if (name == NULL)
        return damaged(f, "is of a collection that does not exist", error);
    memcpy(f->name, name->name, sizeof f->name);
    const uint8_t *payload = record_payload(record);
    tansu_document doc = {payload, load_u32(payload)};
    tansu_status status = TANSU_OK;
    if (record->type == RECORD_DELETE) {
        change->kind = TANSU_CHANGE_DELETE;
        change->id = doc;
    } else {
        change->kind = had_before(record) ? TANSU_CHANGE_UPDATE : TANSU_CHANGE_INSERT;
        if (f->after)
            change->after = doc;
        status = show_id(f, doc, change, error);
    }
    return status == TANSU_OK ? show_before(f, record, change, error) : status;
}

/* show_catalog -- a collection that was created, dropped or renamed. */
static tansu_status show_catalog(feed *f, const record_header *record, tansu_change *change,
                                 tansu_error *error) {
    const char *name = feed_record_text(record, "name");
    if (name == NULL)
        return damaged(f, "holds no name", error);
    memcpy(f->name, name, strlen(name) + 1);
    change->kind = record->type == RECORD_COLLECTION_CREATE ? TANSU_CHANGE_COLLECTION_CREATED
                   : record->type == RECORD_COLLECTION_DROP ? TANSU_CHANGE_COLLECTION_DROPPED
                                                            : TANSU_CHANGE_COLLECTION_RENAMED;
    if (record->type != RECORD_COLLECTION_RENAME)
        return TANSU_OK;
    const char *to = feed_record_text(record, "to");
    if (to == NULL)
        return damaged(f, "holds no name", error);
    memcpy(f->new_name, to, strlen(to) + 1);
    change->new_name = f->new_name;
    return TANSU_OK;
}

tansu_status feed_frame_search(feed *f, tansu_error *error) {
    tansu_status status = find_told(f, error);
    f->at.searching = status != TANSU_OK && status != TANSU_DONE;
    if (status == TANSU_DONE)
        feed_frame_end(f);
    return status;
}

tansu_status feed_frame_show(feed *f, tansu_change *change, tansu_error *error) {
    const record_header *record = record_at(f);
    const char *fault = walk_record(record, f->at.frame->size - f->at.next, f->at.frame->sequence);
    if (fault != NULL)
        return damaged(f, fault, error);
    *change = (tansu_change){
        .struct_size = sizeof *change, .sequence = f->at.frame->sequence, .collection = f->name};
    tansu_status status;
    if (is_catalog(record)) {
        status = show_catalog(f, record, change, error);
        if (status == TANSU_OK)
            status = apply_names(f, record, error);
    } else {
        status = show_document(f, record, change, error);
    }
    if (status != TANSU_OK)
        return status;
    forward(f);
    status = feed_frame_search(f, NULL);
    change->last = status == TANSU_DONE;
    return TANSU_OK;
}
