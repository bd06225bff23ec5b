/*
 * store/write_txn/write_txn_options.c -- the options of collections in a transaction: compression,
 * references and timestamps.
 */
#include "store/write_txn/write_txn_internal.h"

#include "bson/writer.h"
#include "store/database_internal.h"
#include "store/name_check.h"
#include "store/references/reference_list.h"
#include "store/timestamps/timestamp_fields.h"
#include "util/error.h"

#include <stdlib.h>

tansu_status write_txn_set_codec(write_txn *wtxn, const char *name, enum codec codec,
                                 tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status == TANSU_OK && state == NULL)
        return snapshot_missing(name, error);
    if (status == TANSU_OK)
        state->codec = codec;
    return status;
}

tansu_status write_txn_collection_compress(write_txn *wtxn, const char *name, enum codec codec,
                                           tansu_error *error) {
    const collection_state *there = snapshot_collection(wtxn->next, name);
    if (there == NULL)
        return snapshot_missing(name, error);
    if (there->codec == codec)
        return TANSU_OK;
    if (!codec_available(codec))
        return codec_missing("The compression of a collection", codec, error);
    /* Makes the private copy first: what follows the record cannot fail. */
    tansu_status status = write_txn_set_codec(wtxn, name, there->codec, error);
    if (status != TANSU_OK)
        return status;
    there = snapshot_collection(wtxn->next, name);
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", name);
    writer_string(&w, "compression", codec_name(codec));
    status =
        write_txn_put_document(wtxn, RECORD_COLLECTION_OPTIONS, there->id, &w, document, error);
    return status == TANSU_OK ? write_txn_set_codec(wtxn, name, codec, error) : status;
}

/* note_holder -- whether the collection has references, for the catalog. False when memory is
 * exhausted. */
static bool note_holder(write_txn *wtxn, const collection_state *state, bool holds) {
    const catalog_writer writer = write_txn_catalog(wtxn, order_of_holders);
    if ((state->references != NULL) == holds)
        return true;
    return holds ? catalog_insert(&wtxn->next->holders, &writer, state->name, state->named)
                 : catalog_remove(&wtxn->next->holders, &writer, state->name);
}

tansu_status write_txn_set_references(write_txn *wtxn, const char *name, reference_list *list,
                                      tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status == TANSU_OK && state == NULL)
        status = snapshot_missing(name, error);
    if (status == TANSU_OK &&
        (!retire_reserve(&wtxn->made, 1) || !retire_reserve(&wtxn->retired, 1 + CATALOG_REPLACED) ||
         !note_holder(wtxn, state, list != NULL)))
        status = error_memory(error);
    if (status != TANSU_OK) {
        reference_list_free(list);
        return status;
    }
    if (state->references != NULL)
        retire_add(&wtxn->retired, reference_list_retire, NULL, (void *)state->references);
    if (list != NULL)
        retire_add(&wtxn->made, reference_list_retire, NULL, list);
    state->references = list;
    return TANSU_OK;
}

/* put_references -- records a collection's references, and sets them. Owns the list. */
static tansu_status put_references(write_txn *wtxn, const collection_state *state,
                                   reference_list *list, tansu_error *error) {
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", state->name);
    reference_list_write(list, &w);
    tansu_status status =
        write_txn_put_document(wtxn, RECORD_COLLECTION_OPTIONS, state->id, &w, document, error);
    if (status != TANSU_OK) {
        reference_list_free(list);
        return status;
    }
    status = write_txn_set_references(wtxn, state->name, list, error);
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

tansu_status write_txn_collection_refer(write_txn *wtxn, const char *name, reference_list *list,
                                        tansu_error *error) {
    const collection_state *there = snapshot_collection(wtxn->next, name);
    tansu_status status = there == NULL ? snapshot_missing(name, error) : TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && list != NULL && i < list->count; i++)
        status = name_check(list->items[i].to, "collection", error);
    bool same = status == TANSU_OK && reference_list_equal(there->references, list);
    if (status != TANSU_OK || same) {
        reference_list_free(list);
        return status;
    }
    return put_references(wtxn, there, list, error);
}

tansu_status write_txn_set_timestamps(write_txn *wtxn, const char *name, timestamp_fields *fields,
                                      tansu_error *error) {
    collection_state *state;
    tansu_status status = write_txn_collection(wtxn, name, 0, &state, error);
    if (status == TANSU_OK && state == NULL)
        status = snapshot_missing(name, error);
    if (status == TANSU_OK &&
        (!retire_reserve(&wtxn->made, 1) || !retire_reserve(&wtxn->retired, 1)))
        status = error_memory(error);
    if (status != TANSU_OK) {
        free(fields);
        return status;
    }
    if (state->timestamps != NULL)
        retire_add(&wtxn->retired, retire_memory, NULL, (void *)state->timestamps);
    if (fields != NULL)
        retire_add(&wtxn->made, retire_memory, NULL, fields);
    state->timestamps = fields;
    return TANSU_OK;
}

tansu_status write_txn_collection_stamp(write_txn *wtxn, const char *name, timestamp_fields *fields,
                                        tansu_error *error) {
    const collection_state *there = snapshot_collection(wtxn->next, name);
    tansu_status status = there == NULL ? snapshot_missing(name, error) : TANSU_OK;
    bool same = status == TANSU_OK && timestamp_fields_equal(there->timestamps, fields);
    if (status != TANSU_OK || same) {
        free(fields);
        return status;
    }
    tansu_buffer payload = TANSU_BUFFER_INIT;
    writer w = {.out = &payload};
    size_t document = writer_begin(&w);
    writer_string(&w, "name", there->name);
    timestamp_fields_write(fields, &w);
    status =
        write_txn_put_document(wtxn, RECORD_COLLECTION_OPTIONS, there->id, &w, document, error);
    if (status != TANSU_OK) {
        free(fields);
        return status;
    }
    status = write_txn_set_timestamps(wtxn, name, fields, error);
    wtxn->broken = wtxn->broken || status != TANSU_OK;
    return status;
}

tansu_status write_txn_move_references(write_txn *wtxn, const char *name, const char *to,
                                       tansu_error *error) {
    const collection_state *state;
    catalog_cursor holders = catalog_from(&wtxn->next->holders, order_of_holders, NULL);
    while ((state = snapshot_next_holder(wtxn->next, &holders)) != NULL) {
        if (!reference_list_names(state->references, name))
            continue;
        reference_list *list = reference_list_renamed(state->references, name, to);
        tansu_status status =
            list == NULL ? error_memory(error) : put_references(wtxn, state, list, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}
