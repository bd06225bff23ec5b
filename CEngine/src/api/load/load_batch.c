/*
 * api/load/load_batch.c -- saving the documents that a load has gathered, and naming the line at
 * fault.
 */
#include "api/load/load.h"
#include "util/error.h"

#include <string.h>

tansu_status load_at(uint64_t line, tansu_status status, tansu_error *error) {
    switch (status) {
    case TANSU_OK:
    case TANSU_E_MEMORY:
    case TANSU_E_IO:
    case TANSU_E_FULL:
    case TANSU_E_SYNC_FAILED:
    case TANSU_E_MOVED:
    case TANSU_E_BUSY:
    case TANSU_E_READ_ONLY:
    case TANSU_E_CLOSED:
    case TANSU_E_CANCELLED: return status;
    default: break;
    }
    if (error != NULL) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        error_at(error, status, error->context, (int64_t)line, "Line %llu: %s",
                 (unsigned long long)line, message);
    }
    return status;
}

/* save_documents -- saves the batch in a write transaction; *saved, *skipped: how many. */
static tansu_status save_documents(load *l, write_txn *c, uint64_t *saved, uint64_t *skipped,
                                   tansu_error *error) {
    const uint8_t *at = l->batch.data;
    for (uint32_t i = 0; i < l->batch_count; i++) {
        uint32_t size = load_u32(at);
        tansu_status status = write_txn_save(c, l->collection, at, size, l->mode, NULL, error);
        if (status == TANSU_E_EXISTS && l->skip)
            ++*skipped;
        else if (status != TANSU_OK)
            return load_at(l->batch_lines[i], status, error);
        else
            ++*saved;
        at += size;
    }
    return TANSU_OK;
}

tansu_status load_save(load *l, tansu_error *error) {
    if (l->batch_count == 0)
        return TANSU_OK;
    write_call w;
    tansu_status status = write_call_begin_saves(&w, l->db, l->txn, error);
    if (status != TANSU_OK)
        return status;
    uint64_t saved = 0, skipped = 0;
    w.wtxn->stamping = l->dump               ? STAMPING_COPIES
                       : l->keeps_timestamps ? STAMPING_KEEPS
                                             : STAMPING_SETS;
    status = save_documents(l, w.wtxn, &saved, &skipped, error);
    w.wtxn->stamping = STAMPING_SETS;
    bool keep = status == TANSU_OK || (w.own && write_txn_usable(w.wtxn, NULL) == TANSU_OK);
    tansu_status end =
        write_call_end(&w, keep ? TANSU_OK : status, status == TANSU_OK ? error : NULL);
    if (end == TANSU_OK) {
        l->documents += saved;
        l->skipped += skipped;
    }
    l->batch.size = 0;
    l->batch_count = 0;
    return status == TANSU_OK ? end : status;
}
