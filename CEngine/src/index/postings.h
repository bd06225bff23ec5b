/*
 * index/postings.h -- reading an index of words: the documents that have a term, how often and
 * where; the lengths of documents; the terms in order.
 *
 * Everything is as of one snapshot, whose tree the caller keeps alive. The index is current
 * (store/index_backlog/index_backlog.h).
 */
#ifndef TANSU_INDEX_POSTINGS_H
#define TANSU_INDEX_POSTINGS_H

#include "index/definition.h"
#include "index/text_chunk.h"
#include "index/tree/tree.h"

/* An index of words, as of a snapshot. */
typedef struct text_reader {
    tree_store *store;
    const tree *entries;
    const index_definition *definition;
    text_form form;
    uint64_t documents; /* that have a term */
    uint64_t length;    /* of all of them together (text_document_length()) */
} text_reader;

/* text_reader_open -- nothing is to be closed. Errors: MEMORY, IO, CORRUPT. */
tansu_status text_reader_open(text_reader *reader, tree_store *store, const tree *entries,
                              const index_definition *definition, tansu_error *error);

/* ---- The documents that have a term ---- */

/* The documents of one term, in the order of their record ids. Chunks of up to TEXT_CHUNK_MOST
 * documents can be passed over without being decoded. */
typedef struct postings {
    const text_reader *reader;
    tree_cursor cursor;
    tansu_buffer prefix; /* of the term's entries */
    tansu_buffer entry;  /* of the current chunk */
    text_chunk chunk;
    bool decoded;          /* the chunk's documents and counts are */
    uint32_t at;           /* in the chunk */
    uint64_t rid;          /* the current document's; NO_RID: the end */
    uint32_t positions_of; /* up to which document of the chunk positions were passed */
} postings;

/* postings_begin -- at the first document of a term. *p is zeroed or was ended. postings_end() is
 * due whatever the result. Errors: MEMORY, IO, CORRUPT. */
tansu_status postings_begin(postings *p, const text_reader *reader, const uint8_t *term,
                            size_t size, tansu_error *error);
void postings_end(postings *p);

/* postings_next, postings_seek -- to the next document; to the first one whose record id is not less
 * (nothing happens where that is the current one or before it). Errors: MEMORY, IO, CORRUPT. */
tansu_status postings_next(postings *p, tansu_error *error);
tansu_status postings_move(postings *p, uint64_t rid, tansu_error *error);
static inline tansu_status postings_seek(postings *p, uint64_t rid, tansu_error *error) {
    uint32_t next = p->at + 1;
    if (p->decoded && p->rid < rid && next < p->chunk.count && p->chunk.rids[next] >= rid) {
        p->at = next;
        p->rid = p->chunk.rids[next];
        return TANSU_OK;
    }
    return p->decoded && p->rid >= rid ? TANSU_OK : postings_move(p, rid, error);
}

/*
 * postings_shallow -- finds the chunk that has the first document whose record id is not less, but
 * decodes nothing: p->rid is then no document's, only a lower bound, and postings_seek() comes
 * before anything else is asked. *last: the last record id of the chunk, NO_RID at the end of
 * the term; *impacts, *count: text_chunk.impacts of it, of which the most a document of the chunk
 * can score is the greatest.
 */
tansu_status postings_shallow(postings *p, uint64_t rid, uint64_t *last,
                              const text_impact **impacts, uint32_t *count, tansu_error *error);

/* postings_count -- how often the current document has the term in a field. postings_weighted -- in
 * all of them, with their weights; for a set of fields (bit i: field i). */
static inline uint32_t postings_count(const postings *p, uint32_t field) {
    return p->chunk.counts[p->at * p->reader->form.fields + field];
}
static inline uint64_t postings_weighted(const postings *p, uint32_t fields) {
    const text_form *form = &p->reader->form;
    const uint32_t *counts = p->chunk.counts + p->at * form->fields;
    uint64_t weighted = 0;
    for (uint32_t i = 0; i < form->fields; i++)
        if (fields >> i & 1)
            weighted += (uint64_t)counts[i] * form->weights[i];
    return weighted;
}

/* postings_positions -- where the current document has the term in a field, ascending;
 * postings_count() of them, into `positions`. The index has positions. Fields of a document are
 * asked for in any order, documents in theirs. Errors: CORRUPT. */
tansu_status postings_positions(postings *p, uint32_t field, uint32_t *positions,
                                tansu_error *error);

/* text_term_documents -- how many documents have a term. Errors: MEMORY, IO, CORRUPT. */
tansu_status text_term_documents(const text_reader *reader, const uint8_t *term, size_t size,
                                 uint64_t *count, tansu_error *error);

/* ---- The lengths of documents ---- */

/* Zeroed, it is at no document. Best asked in the order of record ids. */
typedef struct text_lengths {
    tree_cursor cursor;
    tansu_buffer entry;
    uint64_t block; /* whose entry that is, plus one; 0: none */
    bool there;     /* the block has an entry */
} text_lengths;

/* text_length -- of a document that has a term. Errors: MEMORY, IO, CORRUPT. */
tansu_status text_length(text_lengths *lengths, const text_reader *reader, uint64_t rid,
                         uint32_t *length, tansu_error *error);
void text_lengths_end(text_lengths *lengths);

/* ---- Terms ---- */

/* A way through the terms, in the order of their bytes. Zeroed, it is nowhere. */
typedef struct text_terms {
    const text_reader *reader;
    tree_cursor cursor;
    tansu_buffer entry;
    tansu_buffer key;
    const uint8_t *term; /* the current one, until the next call; NULL: the end */
    size_t size;
} text_terms;

/* text_terms_seek -- to the first term that is not less than these bytes. text_terms_next -- to the
 * next one. text_terms_end() is due whatever the result. Errors: MEMORY, IO, CORRUPT. */
tansu_status text_terms_seek(text_terms *terms, const text_reader *reader, const uint8_t *from,
                             size_t size, tansu_error *error);
tansu_status text_terms_next(text_terms *terms, tansu_error *error);
/* text_terms_count -- the same, and how many documents had the term before, which terms->key has then
 * been set to. */
tansu_status text_terms_count(text_terms *terms, uint64_t *documents, tansu_error *error);
void text_terms_end(text_terms *terms);

#endif
