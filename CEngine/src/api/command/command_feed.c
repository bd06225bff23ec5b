/*
 * api/command/command_feed.c -- JSON commands for change feeds.
 */
#include "api/command/command.h"
#include "api/handles.h"
#include "api/session.h"
#include "util/buffer.h"
#include "util/error.h"

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
