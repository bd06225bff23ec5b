/*
 * index/text_document.c -- finding the strings of a document, and analysing them.
 */
#include "index/text_document.h"

#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* An analyzer, by its language. */
typedef struct text_language {
    char name[TEXT_MAX_LANGUAGE + 1];
    text_analyzer *analyzer;
} text_language;

void text_document_free(text_document *d) {
    text_tokens_free(&d->tokens);
    free(d->strings);
    for (uint32_t i = 0; i < d->language_count; i++)
        text_analyzer_free(d->languages[i].analyzer);
    free(d->languages);
    *d = (text_document){.strings = NULL};
}

tansu_status text_document_analyzer(text_document *d, const char *language,
                                    text_analyzer **analyzer, tansu_error *error) {
    for (uint32_t i = 0; i < d->language_count; i++) {
        *analyzer = d->languages[i].analyzer;
        if (strcmp(d->languages[i].name, language) == 0)
            return TANSU_OK;
    }
    if (!ARRAY_RESERVE(d->languages, d->language_count, d->language_capacity, 1))
        return error_memory(error);
    tansu_status status = text_analyzer_new(language, analyzer, error);
    if (status != TANSU_OK)
        return status;
    text_language *kept = &d->languages[d->language_count++];
    strncpy(kept->name, language, TEXT_MAX_LANGUAGE);
    kept->name[TEXT_MAX_LANGUAGE] = 0;
    kept->analyzer = *analyzer;
    return TANSU_OK;
}

/* A walk through the strings of a field. */
typedef struct field_walk {
    text_document *d;
    text_analyzer *analyzer;
    uint32_t field;
    tansu_status status;
    tansu_error *error;
} field_walk;

/* add_string -- the terms of one string. */
static bool add_string(field_walk *w, const doc_value *value) {
    text_document *d = w->d;
    size_t size;
    const uint8_t *bytes = (const uint8_t *)doc_string(value, &size);
    uint32_t before = d->tokens.positions;
    bool gap = before != 0;
    if (before > TEXT_MAX_POSITION - TEXT_STRING_GAP - (uint32_t)size) {
        w->status = error_set(w->error, TANSU_E_TOO_LARGE, NULL,
                              "The document has too many strings for an index of words");
        return false;
    }
    if (!ARRAY_RESERVE(d->strings, d->string_count, d->string_capacity, 1)) {
        w->status = error_memory(w->error);
        return false;
    }
    text_string *string = &d->strings[d->string_count];
    *string = (text_string){bytes, (uint32_t)size, w->field, (uint32_t)d->tokens.count, 0};
    d->tokens.positions += gap ? TEXT_STRING_GAP : 0;
    if (!text_analyze(w->analyzer, bytes, size, TEXT_INDEX, &d->tokens)) {
        w->status = error_memory(w->error);
        return false;
    }
    string->count = (uint32_t)d->tokens.count - string->first;
    uint32_t words = d->tokens.positions - before - (gap ? TEXT_STRING_GAP : 0);
    d->words[w->field] += words;
    if (words == 0)
        d->tokens.positions = before;
    if (string->count != 0)
        d->string_count++;
    return true;
}

/* visit -- a value at the path, and the elements of an array there. */
static bool visit(void *context, const doc_value *value) {
    field_walk *w = context;
    doc_iter iter;
    if (value->type == DOC_STRING)
        return add_string(w, value);
    if (value->type != DOC_ARRAY || !doc_iter_value(&iter, value))
        return true;
    while (doc_iter_next(&iter))
        if (iter.value.type == DOC_STRING && !add_string(w, &iter.value))
            return false;
    return true;
}

/* visit_all -- every string of a document or an array, at any depth but that of `_id`. */
static bool visit_all(field_walk *w, const uint8_t *doc, size_t size, uint32_t depth) {
    doc_iter iter;
    if (depth > TANSU_MAX_DEPTH || !doc_iter_init(&iter, doc, size))
        return true;
    while (doc_iter_next(&iter)) {
        const doc_value *value = &iter.value;
        bool nested = value->type == DOC_DOCUMENT || value->type == DOC_ARRAY;
        if (depth == 0 && strcmp(iter.key, "_id") == 0)
            continue;
        if (value->type == DOC_STRING
                ? !add_string(w, value)
                : nested && !visit_all(w, value->data, value->size, depth + 1))
            return false;
    }
    return true;
}

/* language_of -- the language that a document names, or the index's. */
static tansu_status language_of(text_document *d, const index_definition *definition,
                                const uint8_t *doc, size_t size, text_analyzer **analyzer,
                                tansu_error *error) {
    const text_index *text = definition->text;
    doc_value value;
    size_t length = 0;
    char name[TEXT_MAX_LANGUAGE + 1];
    if (text->language_field.count != 0 && path_get(&text->language_field, doc, size, &value) &&
        value.type == DOC_STRING) {
        const char *bytes = doc_string(&value, &length);
        if (length != 0 && length <= TEXT_MAX_LANGUAGE && !memchr(bytes, 0, length)) {
            memcpy(name, bytes, length);
            name[length] = 0;
            tansu_error unknown = {0};
            tansu_status status = text_document_analyzer(d, name, analyzer, &unknown);
            if (status == TANSU_OK || status == TANSU_E_MEMORY || status == TANSU_E_UNSUPPORTED) {
                if (status != TANSU_OK && error)
                    *error = unknown;
                return status;
            }
        }
    }
    return text_document_analyzer(d, text->language, analyzer, error);
}

tansu_status text_document_read(text_document *d, const index_definition *definition,
                                const uint8_t *doc, size_t size, tansu_error *error) {
    field_walk w = {.d = d, .error = error};
    text_tokens_clear(&d->tokens);
    d->string_count = 0;
    memset(d->words, 0, sizeof d->words);
    w.status = language_of(d, definition, doc, size, &w.analyzer, error);
    for (uint32_t i = 0; w.status == TANSU_OK && i < text_fields(definition); i++) {
        w.field = i;
        d->tokens.positions = 0;
        if (definition->text->everything)
            (void)visit_all(&w, doc, size, 0);
        else
            (void)path_walk(&definition->paths[i], doc, size, visit, &w, NULL);
    }
    return w.status;
}

uint64_t text_document_length(const text_document *d, const index_definition *definition) {
    uint64_t length = 0;
    for (uint32_t i = 0; i < text_fields(definition); i++)
        length += (uint64_t)d->words[i] * definition->text->weights[i];
    return length;
}
