/*
 * api/api_text.c -- the terms of a text, and what a search finds in it.
 */
#include "api/handles.h"
#include "bson/writer.h"
#include "query/plan/text_access.h"
#include "query/text/text_complete.h"
#include "query/text/text_highlight.h"
#include "store/index_backlog/index_backlog.h"
#include "text/analyzer.h"
#include "util/error.h"
#include "util/utf8.h"

#include <string.h>

/* What the options say. */
typedef struct analyze_options {
    const char *language;
    enum text_purpose purpose;
} analyze_options;

/* read_options -- the options, which may be none. */
static tansu_status read_options(tansu_document options, analyze_options *result,
                                 tansu_error *error) {
    doc_iter iter;
    *result = (analyze_options){.language = "none", .purpose = TEXT_INDEX};
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        size_t size = 0;
        const char *text = iter.value.type == DOC_STRING ? doc_string(&iter.value, &size) : "";
        if (strcmp(iter.key, "language") == 0 && strlen(text) == size && size != 0)
            result->language = text;
        else if (strcmp(iter.key, "purpose") == 0 && strcmp(text, "index") == 0)
            result->purpose = TEXT_INDEX;
        else if (strcmp(iter.key, "purpose") == 0 && strcmp(text, "search") == 0)
            result->purpose = TEXT_SEARCH;
        else
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "Option is unknown, or its value is of a wrong kind: there are "
                             "\"language\", a text, and \"purpose\", \"index\" or \"search\"");
    }
    return TANSU_OK;
}

/* put_terms -- {"words": n, "terms": [{"term", "position", "start", "end"}]}. */
static bool put_terms(const text_tokens *tokens, tansu_buffer *result) {
    writer w = {.out = result};
    result->size = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "words", tokens->positions);
    size_t list = writer_open(&w, "terms", DOC_ARRAY);
    for (size_t i = 0; i < tokens->count; i++) {
        const text_token *token = &tokens->items[i];
        size_t item = writer_open_index(&w, (uint32_t)i, DOC_DOCUMENT);
        writer_head(&w, DOC_STRING, "term", 4);
        size_t term = writer_begin_string(&w);
        writer_bytes(&w, tokens->terms.data + token->term, token->term_size);
        writer_end_string(&w, term);
        writer_int64(&w, "position", token->position);
        writer_int64(&w, "start", token->start);
        writer_int64(&w, "end", token->end);
        writer_end(&w, item);
    }
    writer_end(&w, list);
    writer_end(&w, document);
    return !w.failed;
}

/* check_text -- that a text is UTF-8 and not too large; a length of SIZE_MAX is found. */
static tansu_status check_text(const char *text, size_t *length, tansu_error *error) {
    if (*length == SIZE_MAX)
        *length = strlen(text);
    if (*length > TANSU_MAX_DOCUMENT_SIZE)
        return error_set(error, TANSU_E_TOO_LARGE, "text", "The text exceeds %d MiB",
                         TANSU_MAX_DOCUMENT_SIZE / (1024 * 1024));
    size_t valid = utf8_valid((const uint8_t *)text, *length);
    return valid == *length ? TANSU_OK
                            : error_at(error, TANSU_E_INVALID_ARGUMENT, "text", (int64_t)valid,
                                       "The text is not UTF-8");
}

tansu_status tansu_analyze(const char *text, size_t length, tansu_document options,
                           tansu_buffer *result, tansu_error *error) {
    analyze_options read;
    text_analyzer *analyzer = NULL;
    text_tokens tokens = {.items = NULL};
    if (text == NULL || result == NULL)
        return null_argument(text == NULL ? "text" : "result", error);
    tansu_status status = read_options(options, &read, error);
    if (status == TANSU_OK)
        status = check_text(text, &length, error);
    if (status == TANSU_OK)
        status = text_analyzer_new(read.language, &analyzer, error);
    if (status == TANSU_OK &&
        (!text_analyze(analyzer, (const uint8_t *)text, length, read.purpose, &tokens) ||
         !put_terms(&tokens, result)))
        status = error_memory(error);
    text_tokens_free(&tokens);
    text_analyzer_free(analyzer);
    return status;
}

/* ---- Highlights ---- */

/* read_number -- a whole number of 0, or `least`, to `most`. */
static bool read_number(const doc_value *value, int64_t least, int64_t most, uint32_t *result) {
    int64_t number;
    if (!doc_is_number(value) || !doc_as_int64(value, &number) || number < least || number > most)
        return false;
    *result = (uint32_t)number;
    return true;
}

/* read_highlight_options -- the options, which may be none. */
static tansu_status read_highlight_options(tansu_document options, text_highlight_options *result,
                                           tansu_error *error) {
    doc_iter iter;
    *result = (text_highlight_options){.words = 20};
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);) {
        size_t size = 0;
        const char *text = iter.value.type == DOC_STRING ? doc_string(&iter.value, &size) : "";
        bool named = size != 0 && strlen(text) == size;
        if (strcmp(iter.key, "language") == 0 && named)
            result->language = text;
        else if (strcmp(iter.key, "path") == 0 && named)
            result->path = text;
        else if (!(strcmp(iter.key, "snippets") == 0 &&
                   read_number(&iter.value, 0, TEXT_MAX_SNIPPETS, &result->snippets)) &&
                 !(strcmp(iter.key, "snippetWords") == 0 &&
                   read_number(&iter.value, 1, TEXT_MAX_SNIPPET_WORDS, &result->words)))
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "Option is unknown, or its value is of a wrong kind: there are "
                             "\"language\" and \"path\", texts, \"snippets\", 0 to %d, and "
                             "\"snippetWords\", 1 to %d",
                             TEXT_MAX_SNIPPETS, TEXT_MAX_SNIPPET_WORDS);
    }
    return TANSU_OK;
}

/* put_range -- the bytes of a range that are within another one. */
static void put_range(writer *w, const text_range *range, const text_range *whole) {
    writer_int64(w, "start", range->start > whole->start ? range->start : whole->start);
    writer_int64(w, "end", range->end < whole->end ? range->end : whole->end);
}

/* put_ranges -- the ranges from number *at on that a part of the text has. *at is then the first one
 * that ends behind it. */
static void put_ranges(writer *w, const text_highlights *found, const text_range *whole,
                       uint32_t *at) {
    size_t list = writer_open(w, "ranges", DOC_ARRAY);
    while (*at < found->count && found->ranges[*at].end <= whole->start)
        ++*at;
    for (uint32_t i = 0; *at < found->count && found->ranges[*at].start < whole->end; i++) {
        size_t item = writer_open_index(w, i, DOC_DOCUMENT);
        put_range(w, &found->ranges[*at], whole);
        writer_end(w, item);
        if (found->ranges[*at].end > whole->end)
            break;
        ++*at;
    }
    writer_end(w, list);
}

/* put_highlights -- {"ranges": [{"start", "end"}], "snippets": [{"start", "end", "ranges": […]}]}. */
static bool put_highlights(const text_highlights *found, tansu_buffer *result) {
    writer w = {.out = result};
    const text_range all = {0, UINT32_MAX};
    uint32_t at = 0;
    result->size = 0;
    size_t document = writer_begin(&w);
    put_ranges(&w, found, &all, &at);
    at = 0;
    size_t list = writer_open(&w, "snippets", DOC_ARRAY);
    for (uint32_t i = 0; i < found->snippet_count; i++) {
        size_t item = writer_open_index(&w, i, DOC_DOCUMENT);
        put_range(&w, &found->snippets[i], &all);
        put_ranges(&w, found, &found->snippets[i], &at);
        writer_end(&w, item);
    }
    writer_end(&w, list);
    writer_end(&w, document);
    return !w.failed;
}

tansu_status tansu_highlight(const char *text, size_t length, tansu_document search,
                             tansu_document options, tansu_buffer *result, tansu_error *error) {
    text_highlight_options read;
    text_highlights found = {.ranges = NULL};
    if (text == NULL || result == NULL)
        return null_argument(text == NULL ? "text" : "result", error);
    tansu_status status = check_bson(search, false, "search", error);
    if (status == TANSU_OK)
        status = read_highlight_options(options, &read, error);
    if (status == TANSU_OK)
        status = check_text(text, &length, error);
    if (status == TANSU_OK)
        status = text_highlight((const uint8_t *)text, length, search.data, search.size, &read,
                                &found, error);
    if (status == TANSU_OK && !put_highlights(&found, result))
        status = error_memory(error);
    text_highlights_free(&found);
    return status;
}

/* ---- Suggestions ---- */

/* The most suggestions. */
#define SUGGESTIONS_MOST 50
/* Bytes of a text that somebody types, as of a search. */
#define TYPED_MOST ((size_t)64 * 1024)

/* read_limit -- the options {"limit": n}. */
static tansu_status read_limit(tansu_document options, uint32_t *limit, tansu_error *error) {
    doc_iter iter;
    *limit = 10;
    tansu_status status = check_bson(options, true, "options", error);
    if (status != TANSU_OK || options.data == NULL)
        return status;
    for (doc_iter_init(&iter, options.data, options.size); doc_iter_next(&iter);)
        if (strcmp(iter.key, "limit") != 0 || !read_number(&iter.value, 1, SUGGESTIONS_MOST, limit))
            return error_set(error, TANSU_E_INVALID_QUERY, iter.key,
                             "Option is unknown, or its value is of a wrong kind: there is "
                             "\"limit\", a number from 1 to %d",
                             SUGGESTIONS_MOST);
    return TANSU_OK;
}

/* Of text_complete.h. */
typedef tansu_status (*suggester)(const suggesting *s, const uint8_t *text, size_t size, writer *w,
                                  tansu_error *error);

/* suggest_from -- what an index of words suggests. */
static tansu_status suggest_from(suggester run, suggesting *s, const char *collection,
                                 const char *text, size_t length, tansu_buffer *result,
                                 tansu_error *error) {
    writer w = {.out = result};
    const uint32_t number = s->collection == NULL ? 0 : collection_words(s->collection);
    if (number == 0)
        return text_access_missing(collection, error);
    tansu_status status = index_current(s->collection, number, error);
    if (status != TANSU_OK)
        return status;
    s->index = &s->collection->indexes[number - 1];
    size_t document = writer_begin(&w);
    status = run(s, (const uint8_t *)text, length, &w, error);
    writer_end(&w, document);
    return status == TANSU_OK && w.failed ? error_memory(error) : status;
}

/* suggest -- tansu_complete() and tansu_suggest(). */
static tansu_status suggest(suggester run, tansu_db *db, tansu_txn *txn, const char *collection,
                            const char *text, size_t length, tansu_document options,
                            tansu_buffer *result, tansu_error *error) {
    read_call r;
    suggesting s = {.limit = 0};
    const deadline stop = deadline_begin(txn_stop(txn), 0);
    if (collection == NULL || text == NULL || result == NULL)
        return null_argument(result == NULL ? "result"
                             : text == NULL ? "text"
                                            : "collection",
                             error);
    result->size = 0;
    tansu_status status = read_limit(options, &s.limit, error);
    if (status == TANSU_OK)
        status = check_text(text, &length, error);
    if (status == TANSU_OK && length > TYPED_MOST)
        status = error_set(error, TANSU_E_TOO_LARGE, "text", "The text exceeds %zu KiB",
                           TYPED_MOST / 1024);
    if (status == TANSU_OK)
        status = read_call_begin(&r, db, txn, error);
    if (status != TANSU_OK)
        return status;
    s.cache = &db->completions;
    s.rctx = &r.rctx;
    s.collection = snapshot_collection(r.snapshot, collection);
    s.deadline = &stop;
    status = suggest_from(run, &s, collection, text, length, result, error);
    status = read_call_end(&r, status, error);
    if (status != TANSU_OK)
        result->size = 0;
    return status;
}

tansu_status tansu_complete(tansu_db *db, tansu_txn *txn, const char *collection, const char *text,
                            size_t length, tansu_document options, tansu_buffer *result,
                            tansu_error *error) {
    return suggest(text_complete, db, txn, collection, text, length, options, result, error);
}

tansu_status tansu_suggest(tansu_db *db, tansu_txn *txn, const char *collection, const char *text,
                           size_t length, tansu_document options, tansu_buffer *result,
                           tansu_error *error) {
    return suggest(text_suggest, db, txn, collection, text, length, options, result, error);
}
