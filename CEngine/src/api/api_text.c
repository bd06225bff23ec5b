/*
 * api/api_text.c -- the terms of a text.
 */
#include "api/handles.h"
#include "bson/writer.h"
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

tansu_status tansu_analyze(const char *text, size_t length, tansu_document options,
                           tansu_buffer *result, tansu_error *error) {
    analyze_options read;
    text_analyzer *analyzer = NULL;
    text_tokens tokens = {.items = NULL};
    if (text == NULL || result == NULL)
        return null_argument(text == NULL ? "text" : "result", error);
    tansu_status status = read_options(options, &read, error);
    if (length == SIZE_MAX)
        length = strlen(text);
    if (status == TANSU_OK && length > TANSU_MAX_DOCUMENT_SIZE)
        status = error_set(error, TANSU_E_TOO_LARGE, "text", "The text exceeds %d MiB",
                           TANSU_MAX_DOCUMENT_SIZE / (1024 * 1024));
    size_t valid = status == TANSU_OK ? utf8_valid((const uint8_t *)text, length) : length;
    if (valid != length) {
        status = error_set(error, TANSU_E_INVALID_ARGUMENT, "text", "The text is not UTF-8");
        if (error != NULL)
            error->offset = (int64_t)valid;
    }
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
