/*
 * store/checkpoint/stored_catalog.c -- which records of collections there are, and which of them a
 * checkpoint has to write.
 */
#include "store/checkpoint/stored_catalog.h"

#include "bson/document.h"
#include "store/database_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* The member of META with a bit for each record. */
#define RECORDS "catalog"

/* ---- What was changed ---- */

bool stored_catalog_reserve(database *db, uint32_t collection) {
    uint32_t count = collection / STORED_CATALOG_COLLECTIONS + 1;
    stored_catalog *c = &db->catalog;
    if (count <= c->count)
        return true;
    /* A checkpoint reads the marks meanwhile. */
    pthread_mutex_lock(&db->snapshots.mutex);
    bool reserved = ARRAY_RESERVE(c->records, c->count, c->capacity, count - c->count);
    for (; reserved && c->count < count; c->count++)
        c->records[c->count] = (stored_record){.epoch = 0};
    pthread_mutex_unlock(&db->snapshots.mutex);
    return reserved;
}

void stored_catalog_mark(database *db, uint32_t collection, uint64_t epoch) {
    __atomic_store_n(&db->catalog.records[collection / STORED_CATALOG_COLLECTIONS].epoch, epoch,
                     __ATOMIC_RELAXED);
}

tansu_status stored_catalog_changed(database *db, uint32_t **records, uint32_t *count,
                                    tansu_error *error) {
    const stored_catalog *c = &db->catalog;
    pthread_mutex_lock(&db->snapshots.mutex);
    uint32_t *list = malloc((c->count + 1) * sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < c->count; i++)
        if (__atomic_load_n(&c->records[i].epoch, __ATOMIC_RELAXED) > c->epoch)
            list[(*count)++] = i;
    pthread_mutex_unlock(&db->snapshots.mutex);
    *records = list;
    return list == NULL ? error_memory(error) : TANSU_OK;
}

/* ---- What there is ---- */

void stored_catalog_set(database *db, uint32_t record, bool there) {
    pthread_mutex_lock(&db->snapshots.mutex);
    db->catalog.records[record].there = there;
    pthread_mutex_unlock(&db->snapshots.mutex);
}

void stored_catalog_append(database *db, writer *meta) {
    pthread_mutex_lock(&db->snapshots.mutex);
    const stored_catalog *c = &db->catalog;
    size_t size = (c->count + 7) / 8;
    uint8_t *bits = calloc(1, size + 1);
    for (uint32_t i = 0; bits != NULL && i < c->count; i++)
        bits[i / 8] |= (uint8_t)(c->records[i].there << i % 8);
    pthread_mutex_unlock(&db->snapshots.mutex);
    if (bits != NULL)
        writer_binary(meta, RECORDS, DOC_SUBTYPE_GENERIC, bits, size);
    else
        meta->failed = true;
    free(bits);
}

tansu_status stored_catalog_read(database *db, const uint8_t *meta, size_t size,
                                 tansu_error *error) {
    uint32_t record = 0;
    for (; (record = stored_catalog_next(meta, size, record)) != UINT32_MAX; record++) {
        if (record > RECORD_MAX_COLLECTION / STORED_CATALOG_COLLECTIONS)
            return TANSU_E_CORRUPT;
        if (!stored_catalog_reserve(db, record * STORED_CATALOG_COLLECTIONS))
            return error_memory(error);
        db->catalog.records[record].there = true;
    }
    return TANSU_OK;
}

void stored_catalog_forget(database *db) {
    for (uint32_t i = 0; i < db->catalog.count; i++)
        db->catalog.records[i].there = false;
    db->catalog.epoch = 0;
}

void stored_catalog_free(database *db) {
    free(db->catalog.records);
}

/* ---- Reading ---- */

bool meta_check(const uint8_t *doc, size_t size) {
    return doc_check(doc, size, DOC_CHECK_OWN, NULL) == TANSU_OK;
}

uint32_t stored_catalog_next(const uint8_t *meta, size_t size, uint32_t from) {
    doc_value bits;
    if (!doc_find(meta, size, RECORDS, strlen(RECORDS), &bits) || bits.type != DOC_BINARY)
        return UINT32_MAX;
    for (; from / 8 < bits.size - 5; from++)
        if ((bits.data[5 + from / 8] >> from % 8 & 1) != 0)
            return from;
    return UINT32_MAX;
}

/* each_of -- shows the collections of one record. */
static tansu_status each_of(const uint8_t *doc, size_t size, uint32_t record,
                            stored_collection_visitor visit, void *context, tansu_error *error) {
    doc_value list;
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (!doc_find(doc, size, "collections", 11, &list) || list.type != DOC_ARRAY)
        return TANSU_E_CORRUPT;
    for (doc_iter_value(&iter, &list); status == TANSU_OK && doc_iter_next(&iter);)
        status = visit(context, record, &iter.value, error);
    return status;
}

tansu_status stored_catalog_each(block_store *bs, const uint8_t *meta, size_t size,
                                 stored_collection_visitor visit, void *context,
                                 tansu_error *error) {
    tansu_buffer doc = TANSU_BUFFER_INIT;
    tansu_status result = TANSU_OK, status = TANSU_OK;
    uint32_t record = 0;
    for (; (record = stored_catalog_next(meta, size, record)) != UINT32_MAX; record++) {
        status = block_store_get(bs, BLOCK_STORE_CATALOG, record, &doc, error);
        if (status == TANSU_OK && meta_check(doc.data, doc.size))
            status = each_of(doc.data, doc.size, record, visit, context, error);
        else if (status != TANSU_E_MEMORY)
            status = TANSU_E_CORRUPT;
        if (status == TANSU_E_CORRUPT)
            result = status;
        else if (status != TANSU_OK)
            break;
        status = TANSU_OK;
    }
    tansu_buffer_free(&doc);
    return status != TANSU_OK ? status : result;
}
