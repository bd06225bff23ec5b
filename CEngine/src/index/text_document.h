/*
 * index/text_document.h -- the words of one document, as an index of words has them.
 *
 * Its definition has paths of strings, which are its fields. A field has the strings at its path, elements of arrays too, with
 * so many positions between two of them that no phrase goes across.
 */
#ifndef TANSU_INDEX_TEXT_DOCUMENT_H
#define TANSU_INDEX_TEXT_DOCUMENT_H

#include "index/definition.h"
#include "text/analyzer.h"

/* Positions between two strings of a field. */
#define TEXT_STRING_GAP 1024
/* Words that are near one another are at most so many positions apart. */
#define TEXT_MAX_NEAR 1000
/* Positions are less than this. */
#define TEXT_MAX_POSITION ((uint32_t)1 << 31)

/* One string of a document. */
typedef struct text_string {
    const uint8_t *bytes; /* in the document */
    uint32_t size;
    uint32_t field;
    uint32_t first, count; /* its terms, in tokens.items */
} text_string;

/* The words of a document; reused from one to the next. Zeroed, it is empty. */
typedef struct text_document {
    text_tokens tokens; /* of all strings; positions count from 0 in each field */
    text_string *strings;
    uint32_t string_count, string_capacity;
    uint32_t words[TANSU_MAX_INDEX_PATHS]; /* of each field, those without terms included */
    struct text_language *languages;       /* analyzers that were used */
    uint32_t language_count, language_capacity;
} text_document;

/* text_fields -- how many fields an index has. */
static inline uint32_t text_fields(const index_definition *definition) {
    return definition->text->everything ? 1 : definition->path_count;
}

/*
 * text_document_read -- the terms of a document in an index of words, whatever its partial filter.
 * Its language is that at the path languageField, if the engine knows it, else the index's. Errors:
 * UNSUPPORTED (a build without stems), TOO_LARGE (more positions than can be), MEMORY.
 */
tansu_status text_document_read(text_document *d, const index_definition *definition,
                                const uint8_t *doc, size_t size, tansu_error *error);

/* text_document_length -- its words, with the weights of the fields: what BM25 calls its length. */
uint64_t text_document_length(const text_document *d, const index_definition *definition);

/* text_document_analyzer -- the analyzer of a language, which lives as long as `d`. Errors: those of
 * text_analyzer_new(). */
tansu_status text_document_analyzer(text_document *d, const char *language,
                                    text_analyzer **analyzer, tansu_error *error);

void text_document_free(text_document *d);

#endif
