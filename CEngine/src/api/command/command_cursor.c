/*
 * api/command/command_cursor.c -- JSON commands that find documents: all in one response, or in
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

/* command_find -- the documents that match: all of them, or in batches. */
tansu_status command_find(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_cursor *cursor;
    if (command_has(c, MEMBER_BATCH) && c->txn != NULL && c->txn_number == 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "batch",
                         "A command of \"transaction\" can't leave a cursor open; leave out "
                         "\"batch\", or use \"begin\"");
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
