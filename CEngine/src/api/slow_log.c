/*
 * api/slow_log.c -- passes slow operations to the function that the options name.
 */
#include "api/slow_log.h"

#include "bson/json/json.h"
#include "util/buffer.h"

/* Bytes of a query's text that an event shows. */
#define QUERY_TEXT 1000

void slow_log_set(database *db, const tansu_options *options) {
    if (options->slow_operation_ms == 0)
        return;
    db->slow_log.function = options->log;
    db->slow_log.context = options->log_context;
    db->slow_log.milliseconds = options->slow_operation_ms;
}

/* query_text -- the query as JSON, cut off between two characters; false without one. */
static bool query_text(tansu_document query, tansu_buffer *text) {
    if (query.data == NULL || check_bson(query, false, "query", NULL) != TANSU_OK ||
        !json_write_document(text, query.data, query.size, false) ||
        !buffer_append_byte(text, '\0'))
        return false;
    if (text->size > QUERY_TEXT + 1) {
        size_t end = QUERY_TEXT;
        while (end > 0 && (text->data[end] & 0xC0) == 0x80)
            end--;
        text->data[end] = '\0';
    }
    return true;
}

void slow_log_report(const slow_log *timer, uint64_t nanoseconds, tansu_log_kind kind,
                     tansu_status status, const char *collection, tansu_document query) {
    uint64_t milliseconds = nanoseconds / 1000000;
    if (milliseconds < timer->milliseconds)
        return;
    tansu_buffer text = TANSU_BUFFER_INIT;
    bool has_text = query_text(query, &text);
    const tansu_log_event event = {.struct_size = sizeof event,
                                   .kind = kind,
                                   .status = status,
                                   .milliseconds = milliseconds,
                                   .collection = collection,
                                   .query = has_text ? (const char *)text.data : NULL};
    timer->function(timer->context, &event);
    tansu_buffer_free(&text);
}
