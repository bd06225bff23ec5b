/*
 * store/checkpoint/log_state.c -- what the META record says of the log.
 */
#include "store/checkpoint/log_state.h"

#include "bson/document.h"
#include "log/scan.h"
#include "store/database_internal.h"

#include <stdlib.h>

/* append_extents -- each segment up to the snapshot, and how long its file is at least. */
static void append_extents(database *db, const log_extent *extents, uint32_t count, writer *meta) {
    size_t list = writer_open(meta, "extents", DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t room = log_capacity(db->log, extents[i].number);
        if (extents[i].end < room)
            room = extents[i].end;
        size_t one = writer_open_index(meta, i, DOC_DOCUMENT);
        writer_int64(meta, "segment", extents[i].number);
        writer_int64(meta, "end", (int64_t)room);
        writer_end(meta, one);
    }
    writer_end(meta, list);
}

void log_state_append(database *db, const snapshot *v, writer *meta) {
    log_extent *extents = NULL;
    uint32_t count = 0;
    uint64_t seen = __atomic_load_n(&db->log->appended, __ATOMIC_ACQUIRE);
    if (seen < v->sequence)
        seen = v->sequence;
    if (log_extents(db->log, v->sequence, v->position, &extents, &count, NULL) == TANSU_E_MEMORY) {
        meta->failed = true;
        return;
    }
    writer_int64(meta, "witnessed", (int64_t)seen);
    append_extents(db, extents, count, meta);
    free(extents);
}

/* number_of -- a whole number of a document; false without one. */
static bool number_of(const uint8_t *doc, size_t size, const char *key, int64_t *number) {
    doc_value value;
    return doc_find(doc, size, key, strlen(key), &value) && doc_as_int64(&value, number);
}

/* extent_matches -- whether a segment is there with as many bytes as a part of the META says. One
 * that is there and not active is handled by compaction. */
static bool extent_matches(database *db, const doc_value *part) {
    int64_t number, end;
    if (part->type != DOC_DOCUMENT || !number_of(part->data, part->size, "segment", &number) ||
        !number_of(part->data, part->size, "end", &end) || number <= 0 || number > UINT32_MAX)
        return false;
    uint64_t room = log_capacity(db->log, (uint32_t)number);
    return room != 0 ? room >= (uint64_t)end : log_has_segment(db->log, (uint32_t)number);
}

bool log_state_matches(database *db, const uint8_t *meta, size_t size) {
    doc_value list;
    int64_t seen;
    if (!number_of(meta, size, "witnessed", &seen) || !doc_find(meta, size, "extents", 7, &list) ||
        list.type != DOC_ARRAY)
        return false;
    db->log->expected_end = (uint64_t)seen;
    bool holds = true;
    doc_iter iter;
    for (doc_iter_value(&iter, &list); holds && doc_iter_next(&iter);)
        holds = extent_matches(db, &iter.value);
    return holds;
}
