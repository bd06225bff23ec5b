/*
 * query/text/text_complete.c -- completions of a prefix, and words near one that no document has.
 */
#include "query/text/text_complete.h"

#include "query/text/text_matching.h"
#include "text/word_class.h"
#include "util/array.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

/* A beginning that more entries of the index have is one of those whose words are kept. */
#define MANY_ENTRIES 4000
/* So many words of each. */
#define KEPT_WORDS 64
/* Beginnings of up to so many characters. */
#define KEPT_CHARACTERS 6
/* They are found again after so many commits, and one for each ten documents. */
#define COMMITS_LEAST 1000
/* Words that are looked at between two checks of the deadline. */
#define CHECK_EVERY 1024
/* How many documents of a term are read to find the word that was meant. */
#define FORMS_READ 8
#define FORM_DOCUMENT_MOST ((uint32_t)64 * 1024)
/* Each word of a text takes milliseconds. */
#define SUGGEST_WORDS 100
/* A word of less characters has no suggestions that are two edits away. */
#define FAR_CHARACTERS 5

/* ---- The best of many words ---- */

/* A word, which is in a buffer. */
typedef struct ranked_word {
    size_t offset;
    uint32_t size;
    uint32_t distance; /* of a suggestion */
    uint64_t documents;
} ranked_word;

/* Up to `limit` words, the best first: the nearest, and of these the most frequent. */
typedef struct ranking {
    ranked_word items[KEPT_WORDS + 1];
    uint32_t count, limit;
    uint64_t seen; /* words that were offered */
    tansu_buffer bytes;
} ranking;

/* rank_before -- whether a word is better; equally good ones are in the order of their bytes, in which
 * they are offered. */
static bool rank_before(const ranked_word *a, const ranked_word *b) {
    return a->distance != b->distance ? a->distance < b->distance : a->documents > b->documents;
}

/* offer -- adds a word if it is among the best. False when memory is exhausted. */
static bool offer(ranking *r, const uint8_t *word, size_t size, uint64_t documents,
                  uint32_t distance) {
    ranked_word item = {.size = (uint32_t)size, .distance = distance, .documents = documents};
    uint32_t at = r->count;
    r->seen++;
    while (at > 0 && rank_before(&item, &r->items[at - 1]))
        at--;
    if (at == r->limit)
        return true;
    item.offset = r->bytes.size;
    if (!buffer_append(&r->bytes, word, size))
        return false;
    memmove(r->items + at + 1, r->items + at, (r->count - at) * sizeof item);
    r->items[at] = item;
    r->count += r->count < r->limit;
    return true;
}

/* ---- What is kept of beginnings that many words have ---- */

typedef struct kept_beginning {
    size_t offset; /* in the table's bytes */
    uint32_t size;
    uint32_t first, count; /* of its words */
} kept_beginning;

typedef struct completion_table {
    struct completion_table *next;
    uint32_t index;     /* the number of its definition */
    uint64_t documents; /* of the index when it was made */
    uint64_t sequence;  /* the commit of that snapshot */
    kept_beginning *beginnings;
    size_t beginning_count, beginning_capacity;
    ranked_word *words;
    size_t word_count, word_capacity;
    tansu_buffer bytes;
} completion_table;

void completion_cache_init(completion_cache *cache) {
    pthread_mutex_init(&cache->mutex, NULL);
    cache->tables = NULL;
}

/* table_clear -- forgets what a table has. */
static void table_clear(completion_table *t) {
    free(t->beginnings);
    free(t->words);
    tansu_buffer_free(&t->bytes);
    t->beginnings = NULL;
    t->words = NULL;
    t->beginning_count = t->beginning_capacity = t->word_count = t->word_capacity = 0;
    t->documents = 0;
}

void completion_cache_free(completion_cache *cache) {
    for (completion_table *t = cache->tables, *next; t; t = next) {
        next = t->next;
        table_clear(t);
        free(t);
    }
    cache->tables = NULL;
    pthread_mutex_destroy(&cache->mutex);
}

/* characters_size -- the bytes of the first characters of a word; 0 if it has fewer. */
static size_t characters_size(const uint8_t *word, size_t size, uint32_t characters) {
    for (size_t at = 0; at < size; at++)
        if ((word[at] & 0xC0) != 0x80 && characters-- == 0)
            return at;
    return characters == 0 ? size : 0;
}

/* keep -- adds a beginning with its best words to a table, if many have it. */
static bool keep(completion_table *t, const ranking *r, const uint8_t *beginning, size_t size) {
    if (r->seen <= MANY_ENTRIES / 4)
        return true;
    if (!ARRAY_RESERVE(t->beginnings, t->beginning_count, t->beginning_capacity, 1) ||
        !ARRAY_RESERVE(t->words, t->word_count, t->word_capacity, r->count))
        return false;
    t->beginnings[t->beginning_count++] =
        (kept_beginning){t->bytes.size, (uint32_t)size, (uint32_t)t->word_count, r->count};
    if (!buffer_append(&t->bytes, beginning, size))
        return false;
    for (uint32_t i = 0; i < r->count; i++) {
        ranked_word word = r->items[i];
        word.offset = t->bytes.size;
        if (!buffer_append(&t->bytes, r->bytes.data + r->items[i].offset, word.size))
            return false;
        t->words[t->word_count++] = word;
    }
    return true;
}

/* note_word -- offers a word to the rankings of its beginnings; those that it does not have are
 * complete. `before`: the word before. */
static bool note_word(completion_table *t, ranking *rankings, const tansu_buffer *before,
                      const tansu_buffer *word, uint64_t documents) {
    bool noted = true;
    for (uint32_t i = 0; noted && i < KEPT_CHARACTERS; i++) {
        size_t old = characters_size(before->data, before->size, i + 1);
        size_t now = characters_size(word->data, word->size, i + 1);
        if (old != 0 && (old != now || memcmp(before->data, word->data, old) != 0)) {
            noted = keep(t, &rankings[i], before->data, old);
            rankings[i].count = 0;
            rankings[i].seen = 0;
            rankings[i].bytes.size = 0;
        }
        if (noted && now != 0)
            noted = offer(&rankings[i], word->data, word->size, documents, 0);
    }
    return noted;
}

/* fill -- makes a table: one way through all words. */
static tansu_status fill(completion_table *t, const suggesting *s, const text_reader *reader,
                         tansu_error *error) {
    text_terms terms = {.reader = NULL};
    tansu_buffer before = TANSU_BUFFER_INIT, none = TANSU_BUFFER_INIT;
    ranking *rankings = calloc(KEPT_CHARACTERS, sizeof *rankings);
    uint64_t looked = 0;
    table_clear(t);
    tansu_status status =
        rankings ? text_terms_seek(&terms, reader, NULL, 0, error) : error_memory(error);
    for (uint32_t i = 0; rankings && i < KEPT_CHARACTERS; i++)
        rankings[i].limit = KEPT_WORDS;
    while (status == TANSU_OK && terms.term) {
        uint64_t documents;
        status = text_terms_count(&terms, &documents, error);
        if (status == TANSU_OK && (!note_word(t, rankings, &before, &terms.key, documents) ||
                                   !buffer_set(&before, terms.key.data, terms.key.size)))
            status = error_memory(error);
        if (status == TANSU_OK && ++looked % CHECK_EVERY == 0)
            status = deadline_check(s->deadline, error);
    }
    if (status == TANSU_OK && !note_word(t, rankings, &before, &none, 0))
        status = error_memory(error);
    for (uint32_t i = 0; rankings && i < KEPT_CHARACTERS; i++)
        tansu_buffer_free(&rankings[i].bytes);
    free(rankings);
    tansu_buffer_free(&before);
    text_terms_end(&terms);
    t->documents = status == TANSU_OK ? reader->documents : 0;
    t->sequence = s->rctx->sequence;
    return status;
}

/* table_of -- the table of an index; the cache is locked. */
static tansu_status table_of(const suggesting *s, const text_reader *reader,
                             completion_table **result, tansu_error *error) {
    completion_table *t = s->cache->tables;
    while (t && t->index != s->index->definition->id)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            return error_memory(error);
        t->index = s->index->definition->id;
        t->next = s->cache->tables;
        s->cache->tables = t;
    }
    *result = t;
    uint64_t most = t->documents > reader->documents ? t->documents : reader->documents;
    uint64_t least = t->documents < reader->documents ? t->documents : reader->documents;
    uint64_t commits = s->rctx->sequence - t->sequence;
    bool old = most - least > most / 10 ||
               (commits > most / 10 + COMMITS_LEAST && s->rctx->sequence > t->sequence);
    return old ? fill(t, s, reader, error) : TANSU_OK;
}

/* kept_words -- the best words with a beginning that many have; *known false: there are none. */
static tansu_status kept_words(const suggesting *s, const text_reader *reader,
                               const tansu_buffer *beginning, ranking *r, bool *known,
                               tansu_error *error) {
    completion_table *t = NULL;
    *known = false;
    pthread_mutex_lock(&s->cache->mutex);
    tansu_status status = table_of(s, reader, &t, error);
    for (size_t i = 0; status == TANSU_OK && !*known && i < t->beginning_count; i++) {
        const kept_beginning *b = &t->beginnings[i];
        if (b->size != beginning->size ||
            memcmp(t->bytes.data + b->offset, beginning->data, b->size) != 0)
            continue;
        *known = true;
        for (uint32_t k = 0; status == TANSU_OK && k < b->count; k++) {
            const ranked_word *word = &t->words[b->first + k];
            const uint8_t *term = t->bytes.data + word->offset;
            uint64_t documents;
            status = text_term_documents(reader, term, word->size, &documents, error);
            if (status == TANSU_OK && documents != 0 && !offer(r, term, word->size, documents, 0))
                status = error_memory(error);
        }
    }
    pthread_mutex_unlock(&s->cache->mutex);
    return status;
}

/* ---- Completions ---- */

/* all_words -- offers every word with a beginning. */
static tansu_status all_words(const suggesting *s, const text_reader *reader,
                              const tansu_buffer *beginning, ranking *r, tansu_error *error) {
    text_terms terms = {.reader = NULL};
    uint64_t looked = 0;
    tansu_status status = text_terms_seek(&terms, reader, beginning->data, beginning->size, error);
    while (status == TANSU_OK && terms.term && terms.size >= beginning->size &&
           memcmp(terms.term, beginning->data, beginning->size) == 0) {
        uint64_t documents;
        status = text_terms_count(&terms, &documents, error);
        if (status == TANSU_OK && !offer(r, terms.key.data, terms.key.size, documents, 0))
            status = error_memory(error);
        if (status == TANSU_OK && ++looked % CHECK_EVERY == 0)
            status = deadline_check(s->deadline, error);
    }
    text_terms_end(&terms);
    return status;
}

/* count_entries -- how many entries of the index have a beginning. */
static tansu_status count_entries(const text_reader *reader, const tansu_buffer *beginning,
                                  uint64_t *count, tansu_error *error) {
    tansu_buffer end = TANSU_BUFFER_INIT;
    if (!buffer_append(&end, beginning->data, beginning->size))
        return error_memory(error);
    bool bounded = key_successor(&end);
    tree_range range = {beginning->data, beginning->size, end.data, bounded ? end.size : 0};
    tansu_status status = tree_count(reader->store, reader->entries, &range, count, error);
    tansu_buffer_free(&end);
    return status;
}

/* offer_term -- offers one term, if a document has it. */
static tansu_status offer_term(const text_reader *reader, const uint8_t *term, size_t size,
                               ranking *r, tansu_error *error) {
    uint64_t documents;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->items[i].size == size && memcmp(r->bytes.data + r->items[i].offset, term, size) == 0)
            return TANSU_OK;
    tansu_status status = text_term_documents(reader, term, size, &documents, error);
    if (status == TANSU_OK && documents != 0 && !offer(r, term, size, documents, 0))
        status = error_memory(error);
    return status;
}

/* A stem of less characters is not taken for that of a word that is typed. */
#define STEM_CHARACTERS 3

/* offer_stems -- offers the terms that a word with that beginning may have in an index of stems: those
 * that the beginning goes on from, and its own stem. */
static tansu_status offer_stems(const text_reader *reader, text_document *d,
                                const tansu_buffer *beginning, ranking *r, tansu_error *error) {
    text_analyzer *analyzer;
    tansu_status status =
        text_document_analyzer(d, reader->definition->text->language, &analyzer, error);
    for (uint32_t n = STEM_CHARACTERS; status == TANSU_OK; n++) {
        size_t size = characters_size(beginning->data, beginning->size, n);
        if (size == 0 || size == beginning->size)
            break;
        status = offer_term(reader, beginning->data, size, r, error);
    }
    if (status != TANSU_OK)
        return status;
    text_tokens_clear(&d->tokens);
    if (!text_analyze(analyzer, beginning->data, beginning->size, TEXT_SEARCH, &d->tokens))
        return error_memory(error);
    const text_token *token = d->tokens.items;
    tansu_buffer stem = TANSU_BUFFER_INIT;
    if (d->tokens.count != 1)
        return TANSU_OK;
    status = buffer_append(&stem, d->tokens.terms.data + token->term, token->term_size)
                 ? offer_term(reader, stem.data, stem.size, r, error)
                 : error_memory(error);
    tansu_buffer_free(&stem);
    return status;
}

/* ---- The words of terms ---- */

/* form_in -- where a document that was read has a word with that term and, folded, that beginning. */
static bool form_in(const text_document *d, text_analyzer *plain, text_tokens *folded,
                    const uint8_t *term, size_t size, const tansu_buffer *beginning,
                    const uint8_t **form, size_t *form_size) {
    for (uint32_t i = 0; i < d->string_count; i++) {
        const text_string *string = &d->strings[i];
        for (uint32_t k = 0; k < string->count; k++) {
            const text_token *token = &d->tokens.items[string->first + k];
            if (token->term_size != size ||
                memcmp(d->tokens.terms.data + token->term, term, size) != 0)
                continue;
            *form = string->bytes + token->start;
            *form_size = token->end - token->start;
            text_tokens_clear(folded);
            if (text_analyze(plain, *form, *form_size, TEXT_SEARCH, folded) && folded->count == 1 &&
                folded->items[0].term_size >= beginning->size &&
                (beginning->size == 0 ||
                 memcmp(folded->terms.data, beginning->data, beginning->size) == 0))
                return true;
        }
    }
    return false;
}

/* put_form -- appends a word without its format characters: a text of other words would be reordered
 * by those that set its direction. False when memory is exhausted. */
static bool put_form(tansu_buffer *form, const uint8_t *word, size_t size) {
    for (size_t at = 0, step; at < size; at += step) {
        uint32_t character;
        step = utf8_decode(word + at, size - at, &character);
        if (word_class_of(character) != WORD_FORMAT && !buffer_append(form, word + at, step))
            return false;
    }
    return true;
}

/* find_form -- a word as a document has it, whose term that is; *form empty: none was found. */
static tansu_status find_form(const suggesting *s, const text_reader *reader, text_document *d,
                              const uint8_t *term, size_t size, const tansu_buffer *beginning,
                              tansu_buffer *form, tansu_error *error) {
    postings p = {.rid = NO_RID};
    text_tokens folded = {.items = NULL};
    text_analyzer *plain;
    form->size = 0;
    tansu_status status = text_document_analyzer(d, "none", &plain, error);
    if (status == TANSU_OK)
        status = postings_begin(&p, reader, term, size, error);
    for (int i = 0; status == TANSU_OK && i < FORMS_READ && p.rid != NO_RID; i++) {
        doc_ref ref;
        const uint8_t *doc, *found;
        uint32_t doc_size;
        size_t found_size;
        status = read_find_document(s->rctx, s->collection, p.rid, &ref, &doc, &doc_size, error);
        if (status == TANSU_OK && doc_size <= FORM_DOCUMENT_MOST) {
            status = text_document_read(d, reader->definition, doc, doc_size, error);
            if (status == TANSU_OK &&
                form_in(d, plain, &folded, term, size, beginning, &found, &found_size)) {
                if (!put_form(form, found, found_size))
                    status = error_memory(error);
                break;
            }
        }
        if (status == TANSU_OK)
            status = postings_next(&p, error);
    }
    postings_end(&p);
    text_tokens_free(&folded);
    return status;
}

/* put_word -- appends {"text", "documents"} with how many documents have the term, and its distance
 * unless that is 0. */
static tansu_status put_word(const text_reader *reader, const ranking *r, uint32_t i,
                             const tansu_buffer *form, uint32_t number, writer *w,
                             tansu_error *error) {
    const ranked_word *word = &r->items[i];
    uint64_t documents;
    tansu_status status =
        text_term_documents(reader, r->bytes.data + word->offset, word->size, &documents, error);
    if (status != TANSU_OK)
        return status;
    size_t document = writer_open_index(w, number, DOC_DOCUMENT);
    writer_head(w, DOC_STRING, "text", 4);
    size_t text = writer_begin_string(w);
    writer_bytes(w, form->data, form->size);
    writer_end_string(w, text);
    writer_int64(w, "documents", (int64_t)documents);
    if (word->distance != 0)
        writer_int32(w, "distance", (int32_t)word->distance);
    writer_end(w, document);
    return TANSU_OK;
}

/* put_completions -- the words of the best terms that begin as the typed one does. */
static tansu_status put_completions(const suggesting *s, const text_reader *reader,
                                    text_document *d, const tansu_buffer *beginning,
                                    const ranking *r, writer *w, tansu_error *error) {
    tansu_buffer form = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    uint32_t number = 0;
    for (uint32_t i = 0; status == TANSU_OK && i < r->count && number < s->limit; i++) {
        status = find_form(s, reader, d, r->bytes.data + r->items[i].offset, r->items[i].size,
                           beginning, &form, error);
        if (status == TANSU_OK && form.size != 0)
            status = put_word(reader, r, i, &form, number++, w, error);
    }
    tansu_buffer_free(&form);
    return status;
}

/* complete -- completions of a beginning. */
static tansu_status complete(const suggesting *s, const text_reader *reader, text_document *d,
                             const tansu_buffer *beginning, ranking *r, writer *w,
                             tansu_error *error) {
    bool known = false;
    uint64_t entries;
    r->limit = KEPT_WORDS;
    tansu_status status = count_entries(reader, beginning, &entries, error);
    if (status == TANSU_OK && entries > MANY_ENTRIES)
        status = kept_words(s, reader, beginning, r, &known, error);
    if (status == TANSU_OK && !known)
        status = all_words(s, reader, beginning, r, error);
    if (status == TANSU_OK && strcmp(reader->definition->text->language, "none") != 0)
        status = offer_stems(reader, d, beginning, r, error);
    return status == TANSU_OK ? put_completions(s, reader, d, beginning, r, w, error) : status;
}

tansu_status text_complete(const suggesting *s, const uint8_t *text, size_t size, writer *w,
                           tansu_error *error) {
    text_document d = {.strings = NULL};
    text_reader reader;
    text_analyzer *plain;
    tansu_buffer beginning = TANSU_BUFFER_INIT;
    ranking *r = calloc(1, sizeof *r);
    size_t start = size;
    tansu_status status = r ? text_reader_open(&reader, s->rctx->trees, &s->index->entries,
                                               s->index->definition, error)
                            : error_memory(error);
    if (status == TANSU_OK)
        status = text_document_analyzer(&d, "none", &plain, error);
    if (status == TANSU_OK && !text_analyze(plain, text, size, TEXT_SEARCH, &d.tokens))
        status = error_memory(error);
    if (status == TANSU_OK && d.tokens.count != 0) {
        const text_token *last = &d.tokens.items[d.tokens.count - 1];
        if (last->end == size) {
            start = last->start;
            if (!buffer_append(&beginning, d.tokens.terms.data + last->term, last->term_size))
                status = error_memory(error);
        }
    }
    writer_int64(w, "start", (int64_t)start);
    size_t list = writer_open(w, "completions", DOC_ARRAY);
    if (status == TANSU_OK && beginning.size != 0)
        status = complete(s, &reader, &d, &beginning, r, w, error);
    writer_end(w, list);
    text_document_free(&d);
    tansu_buffer_free(&beginning);
    if (r)
        tansu_buffer_free(&r->bytes);
    free(r);
    return status;
}

/* ---- Suggestions ---- */

/* offer_near -- offers the terms that are so many edits away from a term. */
static tansu_status offer_near(const suggesting *s, const text_reader *reader, const uint8_t *term,
                               uint32_t size, uint32_t distance, ranking *r, tansu_error *error) {
    text_word word = {.bytes = term, .size = size};
    const text_node node = {
        .kind = TEXT_FUZZY, .words = &word, .word_count = 1, .distance = distance};
    text_matching m;
    tansu_status status = text_matching_begin(&m, reader, &node, s->deadline, error);
    while (status == TANSU_OK && m.terms.term) {
        uint64_t documents;
        status = text_term_documents(reader, m.terms.term, m.terms.size, &documents, error);
        if (status == TANSU_OK && !offer(r, m.terms.term, m.terms.size, documents, distance))
            status = error_memory(error);
        if (status == TANSU_OK)
            status = text_matching_next(&m, error);
    }
    text_matching_end(&m);
    return status;
}

/* Suggesting other words for those of a text. */
typedef struct correction {
    const suggesting *s;
    text_reader reader;
    text_document d;
    text_tokens tokens;
    tansu_buffer text; /* corrected up to `done` */
    tansu_buffer form, first;
    size_t done;
    ranking *r;
} correction;

/* near_terms -- the best terms near one that no document has; none where a document has it. */
static tansu_status near_terms(correction *c, const text_token *token, tansu_error *error) {
    const uint8_t *term = c->tokens.terms.data + token->term;
    uint64_t documents;
    c->r->count = 0;
    c->r->bytes.size = 0;
    c->r->limit = c->s->limit;
    tansu_status status =
        text_term_documents(&c->reader, term, token->term_size, &documents, error);
    if (status != TANSU_OK || documents != 0)
        return status;
    status = offer_near(c->s, &c->reader, term, token->term_size, 1, c->r, error);
    if (status == TANSU_OK && c->r->count == 0 &&
        characters_size(term, token->term_size, FAR_CHARACTERS) != 0)
        status = offer_near(c->s, &c->reader, term, token->term_size, 2, c->r, error);
    return status;
}

/* correct -- the suggestions for one word. */
static tansu_status correct(correction *c, const uint8_t *text, const text_token *token,
                            uint32_t *number, writer *w, tansu_error *error) {
    const tansu_buffer any = TANSU_BUFFER_INIT;
    tansu_status status = near_terms(c, token, error);
    if (status != TANSU_OK || c->r->count == 0)
        return status;
    size_t document = writer_open_index(w, (*number)++, DOC_DOCUMENT);
    writer_int64(w, "start", token->start);
    writer_int64(w, "end", token->end);
    size_t list = writer_open(w, "suggestions", DOC_ARRAY);
    c->first.size = 0;
    for (uint32_t i = 0, put = 0; status == TANSU_OK && i < c->r->count; i++) {
        const ranked_word *word = &c->r->items[i];
        status = find_form(c->s, &c->reader, &c->d, c->r->bytes.data + word->offset, word->size,
                           &any, &c->form, error);
        if (status != TANSU_OK || c->form.size == 0)
            continue;
        status = put_word(&c->reader, c->r, i, &c->form, put++, w, error);
        if (c->first.size == 0 && !buffer_append(&c->first, c->form.data, c->form.size))
            status = error_memory(error);
    }
    writer_end(w, list);
    writer_end(w, document);
    if (status == TANSU_OK && c->first.size != 0 && token->start >= c->done) {
        if (!buffer_append(&c->text, text + c->done, token->start - c->done) ||
            !buffer_append(&c->text, c->first.data, c->first.size))
            return error_memory(error);
        c->done = token->end;
    }
    return status;
}

tansu_status text_suggest(const suggesting *s, const uint8_t *text, size_t size, writer *w,
                          tansu_error *error) {
    correction c = {.s = s, .r = calloc(1, sizeof *c.r)};
    text_analyzer *analyzer;
    uint32_t number = 0;
    tansu_status status = c.r ? text_reader_open(&c.reader, s->rctx->trees, &s->index->entries,
                                                 s->index->definition, error)
                              : error_memory(error);
    if (status == TANSU_OK)
        status =
            text_document_analyzer(&c.d, s->index->definition->text->language, &analyzer, error);
    if (status == TANSU_OK && !text_analyze(analyzer, text, size, TEXT_SEARCH, &c.tokens))
        status = error_memory(error);
    if (status == TANSU_OK && c.tokens.count > SUGGEST_WORDS)
        status = error_set(error, TANSU_E_TOO_LARGE, "text",
                           "The text has more than %d words; suggestions are for searches",
                           SUGGEST_WORDS);
    size_t list = writer_open(w, "words", DOC_ARRAY);
    for (size_t i = 0; status == TANSU_OK && i < c.tokens.count; i++)
        status = correct(&c, text, &c.tokens.items[i], &number, w, error);
    writer_end(w, list);
    if (status == TANSU_OK && !buffer_append(&c.text, text + c.done, size - c.done))
        status = error_memory(error);
    if (status == TANSU_OK) {
        writer_head(w, DOC_STRING, "text", 4);
        size_t corrected = writer_begin_string(w);
        writer_bytes(w, c.text.data, c.text.size);
        writer_end_string(w, corrected);
    }
    text_document_free(&c.d);
    text_tokens_free(&c.tokens);
    tansu_buffer_free(&c.text);
    tansu_buffer_free(&c.form);
    tansu_buffer_free(&c.first);
    if (c.r)
        tansu_buffer_free(&c.r->bytes);
    free(c.r);
    return status;
}
