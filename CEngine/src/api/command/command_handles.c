/*
 * api/command/command_handles.c -- JSON commands that find documents: all in one response, or in
 * batches.
 */
#include "api/command/command.h"
#include "api/handles.h"
#include "api/session.h"
#include "util/buffer.h"
#include "util/error.h"

/* put_found -- appends up to `batch` documents of a cursor. DONE at the end of the cursor. */
static tansu_status put_found(command *c, tansu_cursor *cursor, int64_t batch, tansu_error *error) {
    tansu_document document;
    tansu_status status = TANSU_OK;
    if (!command_put(c, ", \"documents\": ["))
        return error_memory(error);
    for (int64_t i = 0; i < batch && status == TANSU_OK; i++) {
        status = tansu_cursor_next(cursor, &document, error);
        if (status == TANSU_OK &&
            ((i > 0 && !command_put(c, ", ")) ||
             !json_write_document(c->answer, document.data, document.size, c->canonical)))
            return error_memory(error);
    }
    if ((status == TANSU_OK || status == TANSU_DONE) && !command_put(c, "]"))
        return error_memory(error);
    return status;
}

/* put_no_cursor -- appends that there are no more documents. */
static tansu_status put_no_cursor(command *c, tansu_error *error) {
    return command_put(c, ", \"cursor\": null") ? TANSU_OK : error_memory(error);
}

/* find_batch -- the first documents, and a cursor for the others. */
static tansu_status find_batch(command *c, tansu_cursor *cursor, tansu_error *error) {
    int64_t batch, number;
    tansu_status status = command_batch(c, &batch, error);
    if (status == TANSU_OK)
        status = put_found(c, cursor, batch, error);
    if (status == TANSU_OK)
        status = session_add(c->db, SESSION_CURSOR, cursor, c->txn_number, &number, error);
    if (status == TANSU_OK)
        return command_put_count(c, ", \"cursor\": ", number, error);
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? put_no_cursor(c, error) : status;
}

/* batch_in_transaction -- the error of a command of a transaction that would leave a cursor open. */
static tansu_status batch_in_transaction(tansu_error *error) {
    return error_set(error, TANSU_E_INVALID_COMMAND, "batch",
                     "A command of \"transaction\" can't leave a cursor open; leave out "
                     "\"batch\", or use \"begin\"");
}

/* command_find -- the documents that match: all of them, or in batches. */
tansu_status command_find(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_cursor *cursor;
    if (command_has(c, MEMBER_BATCH) && c->txn != NULL && c->txn_number == 0)
        return batch_in_transaction(error);
    tansu_status status = tansu_find(c->db, c->txn, command_text(c, MEMBER_COLLECTION),
                                     value_document(query), value_document(hints), &cursor, error);
    if (status != TANSU_OK)
        return status;
    if (command_has(c, MEMBER_BATCH))
        return find_batch(c, cursor, error);
    status = put_found(c, cursor, INT64_MAX, error);
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* command_pipeline -- the documents that a pipeline makes: all of them, or in batches. */
tansu_status command_pipeline(command *c, tansu_error *error) {
    const doc_value *stages = &c->given[MEMBER_PIPELINE], *hints = &c->given[MEMBER_HINTS];
    tansu_cursor *cursor;
    if (command_has(c, MEMBER_GROUP) || command_has(c, MEMBER_QUERY))
        return error_set(error, TANSU_E_INVALID_COMMAND,
                         command_has(c, MEMBER_GROUP) ? "group" : "query",
                         "A pipeline says this by its stages $group and $match");
    if (command_has(c, MEMBER_BATCH) && c->txn != NULL && c->txn_number == 0)
        return batch_in_transaction(error);
    tansu_status status =
        tansu_pipeline(c->db, c->txn, command_text(c, MEMBER_COLLECTION), value_document(stages),
                       value_document(hints), &cursor, error);
    if (status != TANSU_OK)
        return status;
    if (command_has(c, MEMBER_BATCH))
        return find_batch(c, cursor, error);
    status = put_found(c, cursor, INT64_MAX, error);
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* command_next -- the next batch of a cursor, which ends with its last document or an error. */
tansu_status command_next(command *c, tansu_error *error) {
    int64_t batch, number = command_number(c, MEMBER_CURSOR, 0);
    void *cursor;
    tansu_status status = command_batch(c, &batch, error);
    if (status == TANSU_OK)
        status = session_take(c->db, SESSION_CURSOR, number, &cursor, error);
    if (status != TANSU_OK)
        return status;
    status = put_found(c, cursor, batch, error);
    if (status == TANSU_OK) {
        session_put_back(c->db, number);
        return command_put_count(c, ", \"cursor\": ", number, error);
    }
    tansu_cursor_close(cursor);
    session_forget(c->db, number);
    return status == TANSU_DONE ? put_no_cursor(c, error) : status;
}

/* command_close_cursor -- before its end. */
tansu_status command_close_cursor(command *c, tansu_error *error) {
    int64_t number = command_number(c, MEMBER_CURSOR, 0);
    void *cursor;
    tansu_status status = session_take(c->db, SESSION_CURSOR, number, &cursor, error);
    if (status != TANSU_OK)
        return status;
    tansu_cursor_close(cursor);
    session_forget(c->db, number);
    return TANSU_OK;
}

/* ---- JSON commands for change feeds ---- */

/* since_of -- the commit that a feed begins after: 0 without the member. */
static tansu_status since_of(const command *c, uint64_t *since, tansu_error *error) {
    const doc_value *value = &c->given[MEMBER_SINCE];
    size_t size;
    int64_t number = 0;
    *since = 0;
    if (value->type == DOC_STRING && strcmp(doc_string(value, &size), "now") == 0) {
        *since = TANSU_FEED_NOW;
        return TANSU_OK;
    }
    if (value->type != DOC_MISSING &&
        (value->type == DOC_BOOL || !doc_as_int64(value, &number) || number < 0))
        return error_set(error, TANSU_E_INVALID_COMMAND, "since",
                         "The member \"since\" must be the number of a commit or \"now\"");
    *since = (uint64_t)number;
    return TANSU_OK;
}

/* command_open_feed -- the changes after a commit. */
tansu_status command_open_feed(command *c, tansu_error *error) {
    uint64_t since;
    int64_t number;
    tansu_feed *feed = NULL;
    tansu_status status = since_of(c, &since, error);
    if (status == TANSU_OK)
        status =
            tansu_feed_open(c->db, since, value_document(&c->given[MEMBER_OPTIONS]), &feed, error);
    if (status != TANSU_OK)
        return status;
    status = session_add(c->db, SESSION_FEED, feed, 0, &number, error);
    if (status != TANSU_OK) {
        tansu_feed_close(feed);
        return status;
    }
    return command_put_count(c, ", \"feed\": ", number, error);
}

/* put_text -- appends a member whose value is a text; nothing for NULL. */
static bool put_text(command *c, const char *head, const char *text) {
    return text == NULL ||
           (command_put(c, head) && json_write_string(c->answer, text, strlen(text)));
}

/* put_part -- appends a member whose value is a document; nothing when there is none. */
static bool put_part(command *c, const char *head, tansu_document document) {
    return document.data == NULL ||
           (command_put(c, head) &&
            json_write_document(c->answer, document.data, document.size, c->canonical));
}

/* put_change -- appends an event. */
static bool put_change(command *c, const tansu_change *change) {
    static const char *const kinds[] = {
        [TANSU_CHANGE_INSERT] = "insert",
        [TANSU_CHANGE_UPDATE] = "update",
        [TANSU_CHANGE_REMOVE] = "remove",
        [TANSU_CHANGE_COLLECTION_CREATED] = "createCollection",
        [TANSU_CHANGE_COLLECTION_DROPPED] = "dropCollection",
        [TANSU_CHANGE_COLLECTION_RENAMED] = "renameCollection",
    };
    doc_iter iter;
    if (!command_put(c, "{\"sequence\": ") ||
        !json_write_integer(c->answer, (int64_t)change->sequence) ||
        !put_text(c, ", \"kind\": ", kinds[change->kind]) ||
        !put_text(c, ", \"collection\": ", change->collection) ||
        !put_text(c, ", \"to\": ", change->new_name))
        return false;
    if (change->id.data != NULL && doc_iter_init(&iter, change->id.data, change->id.size) &&
        doc_iter_next(&iter) &&
        (!command_put(c, ", \"id\": ") || !json_write_value(c->answer, &iter.value, c->canonical)))
        return false;
    return put_part(c, ", \"before\": ", change->before) &&
           put_part(c, ", \"after\": ", change->after) &&
           command_put(c, change->last ? ", \"last\": true}" : ", \"last\": false}");
}

/* put_changes -- appends events: waits for the first one only. */
static tansu_status put_changes(command *c, tansu_feed *feed, int64_t batch, tansu_error *error) {
    int64_t timeout = command_number(c, MEMBER_TIMEOUT, 0);
    tansu_change change;
    tansu_change_init(&change);
    if (!command_put(c, ", \"changes\": ["))
        return error_memory(error);
    for (int64_t i = 0; i < batch; i++, timeout = 0) {
        tansu_status status = tansu_feed_next(feed, timeout, &change, error);
        if (status == TANSU_DONE)
            break;
        if (status != TANSU_OK)
            return status;
        if ((i > 0 && !command_put(c, ", ")) || !put_change(c, &change))
            return error_memory(error);
    }
    return command_put(c, "]") ? TANSU_OK : error_memory(error);
}

/* command_next_changes -- up to a batch of events. */
tansu_status command_next_changes(command *c, tansu_error *error) {
    int64_t batch, number = command_number(c, MEMBER_FEED, 0);
    void *feed;
    tansu_status status = command_batch(c, &batch, error);
    if (status == TANSU_OK)
        status = session_take(c->db, SESSION_FEED, number, &feed, error);
    if (status != TANSU_OK)
        return status;
    status = put_changes(c, feed, batch, error);
    session_put_back(c->db, number);
    return status;
}

tansu_status command_close_feed(command *c, tansu_error *error) {
    int64_t number = command_number(c, MEMBER_FEED, 0);
    void *feed;
    tansu_status status = session_take(c->db, SESSION_FEED, number, &feed, error);
    if (status != TANSU_OK)
        return status;
    tansu_feed_close(feed);
    session_forget(c->db, number);
    return TANSU_OK;
}

/* ---- JSON commands for a transaction of several requests ---- */

/* choose -- which of the texts a member is, or `otherwise`; -1 when it is none of them. */
static int choose(const command *c, unsigned member, const char *const *texts, int otherwise) {
    const char *text = command_text(c, member);
    if (text == NULL)
        return otherwise;
    for (int i = 0; texts[i] != NULL; i++)
        if (strcmp(texts[i], text) == 0)
            return i;
    return -1;
}

/* command_begin -- a transaction that lasts until "commit" or "abort". */
tansu_status command_begin(command *c, tansu_error *error) {
    enum { READ_CHECKED = TANSU_TXN_WRITE + 1 };
    static const char *const modes[] = {"read", "write", "readChecked", NULL};
    static const char *const durabilities[] = {"default", "full", "process", "interval", NULL};
    int mode = choose(c, MEMBER_MODE, modes, TANSU_TXN_WRITE);
    int durability = choose(c, MEMBER_DURABILITY, durabilities, TANSU_DURABILITY_DEFAULT);
    if (mode < 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "mode",
                         "The member \"mode\" must be \"read\", \"readChecked\" or \"write\"");
    if (durability < 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "durability",
                         "The member \"durability\" must be \"full\", \"process\" or \"interval\"");
    tansu_txn *txn = NULL;
    int64_t number;
    bool checked = mode == READ_CHECKED;
    tansu_status status = tansu_txn_begin(c->db, checked ? TANSU_TXN_READ : (tansu_txn_mode)mode,
                                          (tansu_durability)durability, &txn, error);
    if (status != TANSU_OK)
        return status;
    if (checked)
        status = tansu_txn_check_documents(txn, error);
    if (status == TANSU_OK)
        status = session_add(c->db, SESSION_TXN, txn, 0, &number, error);
    if (status != TANSU_OK) {
        tansu_txn_abort(txn);
        return status;
    }
    return command_put_count(c, ", \"transaction\": ", number, error);
}

/* end_transaction -- with its cursors. */
static tansu_status end_transaction(command *c, bool commits, uint64_t *sequence,
                                    tansu_error *error) {
    int64_t number = command_number(c, MEMBER_TRANSACTION, 0);
    void *txn;
    tansu_status status = session_take(c->db, SESSION_TXN, number, &txn, error);
    if (status != TANSU_OK)
        return status;
    session_ending(c->db, number);
    session_end_cursors(c->db, number);
    if (commits)
        status = tansu_txn_commit(txn, sequence, error);
    else
        tansu_txn_abort(txn);
    session_forget(c->db, number);
    return status;
}

/* command_commit -- the response has the number of the commit, 0 when nothing was changed. */
tansu_status command_commit(command *c, tansu_error *error) {
    uint64_t sequence = 0;
    tansu_status status = end_transaction(c, true, &sequence, error);
    return status == TANSU_OK ? command_put_count(c, ", \"sequence\": ", (int64_t)sequence, error)
                              : status;
}

tansu_status command_abort(command *c, tansu_error *error) {
    return end_transaction(c, false, NULL, error);
}

/* command_cancel -- ends what another thread's command does in a transaction. */
tansu_status command_cancel(command *c, tansu_error *error) {
    return session_cancel(c->db, command_number(c, MEMBER_TRANSACTION, 0), error);
}

tansu_status command_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_begin(c->txn, error);
}

tansu_status command_release_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_release(c->txn, error);
}

tansu_status command_roll_back_savepoint(command *c, tansu_error *error) {
    return tansu_savepoint_roll_back(c->txn, error);
}
