/*
 * api/api_feed.c -- change feeds.
 */
#include "feed/feed.h"

#include "api/handles.h"
#include "store/collection.h"
#include "util/error.h"

#include <stdlib.h>

struct tansu_feed {
    feed inner;
};

/* unknown -- the error for an unknown option, or one with an invalid value. */
static tansu_status unknown(const char *key, const char *fault, tansu_error *error) {
    return error_set(error, TANSU_E_INVALID_QUERY, key, "The feed option \"%s\" %s", key, fault);
}

/* read_names -- the option "collections"; *names is new memory, the texts are in the options. */
static tansu_status read_names(const doc_value *value, const char ***names, feed_options *options,
                               tansu_error *error) {
    if (value->type != DOC_ARRAY)
        return unknown("collections", "must be an array of names", error);
    free(*names);
    options->count = 0;
    *names = malloc(value->size * sizeof **names); /* an item takes more than one byte */
    if (*names == NULL)
        return error_memory(error);
    options->collections = *names;
    doc_iter iter;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);) {
        size_t length;
        const char *text = iter.value.type == DOC_STRING ? doc_string(&iter.value, &length) : NULL;
        if (text == NULL || strlen(text) != length)
            return unknown("collections", "must be an array of names", error);
        tansu_status status = name_check(text, "collection", error);
        if (status != TANSU_OK)
            return status;
        (*names)[options->count++] = text;
    }
    return TANSU_OK;
}

/* read_options -- which events the feed delivers, and with what. */
static tansu_status read_options(tansu_document given, const char ***names, feed_options *options,
                                 tansu_error *error) {
    tansu_status status = check_bson(given, true, "options", error);
    doc_iter iter;
    if (status != TANSU_OK || given.data == NULL || !doc_iter_init(&iter, given.data, given.size))
        return status;
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        bool *flag = strcmp(iter.key, "before") == 0  ? &options->before
                     : strcmp(iter.key, "after") == 0 ? &options->after
                                                      : NULL;
        if (strcmp(iter.key, "collections") == 0)
            status = read_names(&iter.value, names, options, error);
        else if (flag == NULL)
            status = unknown(
                iter.key,
                "does not exist; the options are \"collections\", \"before\" and \"after\"", error);
        else if (!doc_as_bool(&iter.value, flag))
            status = unknown(iter.key, "must be true or false", error);
    }
    return status;
}

tansu_status tansu_feed_open(tansu_db *db, uint64_t since, tansu_document options,
                             tansu_feed **feed, tansu_error *error) {
    if (db == NULL || feed == NULL)
        return null_argument(db == NULL ? "db" : "feed", error);
    *feed = NULL;
    const char **names = NULL;
    feed_options parsed = {.collections = NULL};
    tansu_status status = read_options(options, &names, &parsed, error);
    struct feed *inner = NULL;
    if (status == TANSU_OK)
        status = feed_open(db_inner(db), since, &parsed, &inner, error);
    *feed = (tansu_feed *)inner;
    free(names);
    return status;
}

void tansu_change_init(tansu_change *change) {
    if (change != NULL)
        *change = (tansu_change){.struct_size = sizeof *change};
}

tansu_status tansu_feed_next(tansu_feed *feed, int64_t timeout_ms, tansu_change *change,
                             tansu_error *error) {
    if (feed == NULL || change == NULL)
        return null_argument(feed == NULL ? "feed" : "change", error);
    if (change->struct_size < sizeof *change)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "change",
                         "The change was not initialized; call tansu_change_init() first");
    uint32_t size = change->struct_size; /* a newer caller's has members that stay as they are */
    tansu_status status = feed_next(&feed->inner, timeout_ms, change, error);
    change->struct_size = size;
    return status;
}

tansu_status tansu_feed_skip(tansu_feed *feed, int64_t timeout_ms, uint64_t *sequence,
                             tansu_error *error) {
    if (feed == NULL)
        return null_argument("feed", error);
    uint64_t newest = 0;
    tansu_status status = feed_skip(&feed->inner, timeout_ms, &newest, error);
    if (status == TANSU_OK && sequence != NULL)
        *sequence = newest;
    return status;
}

uint64_t tansu_feed_position(const tansu_feed *feed) {
    return feed == NULL ? 0 : feed->inner.position.delivered;
}

void tansu_feed_cancel(tansu_feed *feed) {
    if (feed != NULL)
        feed_cancel(&feed->inner);
}

void tansu_feed_close(tansu_feed *feed) {
    feed_close((struct feed *)feed);
}
