/*
 * query/text/text_query.h -- what a $text condition looks for.
 *
 * It is parsed when the query is (text_query_parse()), without an index; and prepared for an index
 * of words (text_query_bind()), whose language makes the words terms.
 *
 * A prepared search is a tree. A document matches a leaf where that is in one of its fields; ALL
 * where it matches every child, ANY where one; a node has `without`, none of which a match may
 * match. Nodes that only count (`optional`) make no match, but what they find adds to the score.
 *
 * The score is BM25F (Robertson, Zaragoza and Taylor 2004: one count and one length over the weighted
 * fields), the sum over the leaves that a document matches and that are not below a `without`, of
 *
 *     boost * idf * c * (k1 + 1) / (c + k1 * (1 - b + b * length / mean length))
 *
 * c: how often the leaf is in the document, times the weight of the field, over the leaf's fields.
 * length: text_document_length(). idf of a term that n of N documents have (in any field):
 * ln(1 + (N - n + 0.5) / (n + 0.5)). A prefix and what is fuzzy count as one term, which the
 * documents of all their terms have; a phrase and words near one another have the sum of their
 * terms' idf, each term as often as it is there.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_QUERY_H
#define TANSU_QUERY_TEXT_TEXT_QUERY_H

#include "index/text_document.h"
#include "util/arena.h"

/* A phrase has at most so many words, as have words that are near one another. */
#define TEXT_MAX_PHRASE 100

/* A $text condition without an index. */
typedef struct text_condition text_condition;

enum text_kind {
    TEXT_TERM,
    TEXT_PREFIX, /* terms that begin with a string */
    TEXT_FUZZY,  /* terms within an edit distance (Damerau's, of adjacent transpositions) */
    TEXT_PHRASE, /* terms at their distances from one another */
    TEXT_NEAR,   /* terms at most `within` positions apart */
    TEXT_ALL,
    TEXT_ANY,
    TEXT_NOTHING /* what no document has, such as a search for signs only */
};

/* A term of a leaf. */
typedef struct text_word {
    const uint8_t *bytes;
    uint32_t size;
    /* PHRASE: its distance from the first term; NEAR: how many of the words before it are the same;
     * PREFIX: how many characters it has. */
    uint32_t position;
    const uint8_t *form; /* of an exact leaf: what a word of a document has in common with it */
    uint32_t form_size;
    uint32_t slot; /* equal words of all leaves have the same */
} text_word;

typedef struct text_node {
    enum text_kind kind;
    double boost;
    /* Leaves. */
    uint32_t fields; /* bit i: field i of the index */
    uint32_t number; /* of the leaf, from 0, in the order of the tree */
    text_word *words;
    uint32_t word_count; /* one, but of PHRASE and NEAR */
    uint32_t distance;   /* FUZZY: 1 or 2 */
    uint32_t same;       /* FUZZY: so many characters at the beginning are as they are */
    uint32_t within;     /* NEAR */
    bool ordered;        /* NEAR: in their order */
    bool exact;          /* $caseSensitive or $diacriticSensitive: documents are to be read */
    const char *text;    /* as it was written, for explain */
    /* ALL and ANY. */
    struct text_node **children, **without, **optional;
    uint32_t child_count, without_count, optional_count;
} text_node;

/* A word that leaves have, to be found by its term. */
typedef struct text_sought {
    const text_node *leaf; /* one of them */
    const text_word *word;
    bool together; /* one of them is a PHRASE or NEAR */
    uint32_t next; /* slot of another one with the same hash, plus one; 0: none */
} text_sought;

/* A search, prepared for one index. */
typedef struct text_query {
    const index_definition *definition;
    text_node *root;
    uint32_t leaves;
    double k1, b;
    bool case_sensitive, diacritic_sensitive;
    bool needs_document;
    const text_node **list; /* the leaves, by their numbers */
    /* Private: how text_query_test() finds the leaves of a term. */
    text_sought *sought; /* by their slots */
    uint32_t slots;
    uint32_t *buckets; /* slots plus one, by the hash of the term */
    uint32_t bucket_mask;
    uint32_t compared; /* likewise the first one that no hash finds: PREFIX and FUZZY */
} text_query;

/* text_query_parse -- the operand of $text, which is kept by reference. Errors: INVALID_QUERY,
 * TOO_LARGE, MEMORY. */
tansu_status text_query_parse(const uint8_t *operand, size_t size, arena *memory,
                              text_condition **result, tansu_error *error);

/* text_query_bind -- prepares a search. `d` has the analyzers. Errors: INVALID_QUERY (a path that the
 * index has not; a language that is unknown), UNSUPPORTED, TOO_LARGE, MEMORY. */
tansu_status text_query_bind(const text_condition *condition, const index_definition *definition,
                             text_document *d, arena *memory, text_query **result,
                             tansu_error *error);

/* text_query_needs_document -- whether the index alone cannot say which documents match: case or
 * accents count, or positions are missing. */
bool text_query_needs_document(const text_query *q);

/* ---- One document, without the postings of the index ---- */

/* What a document has of a search; reused from one to the next. Zeroed, it is empty. */
typedef struct text_found {
    bool matches;
    uint64_t *counts; /* of each leaf: the weighted count */
    uint32_t capacity;
    struct text_slot *slots; /* private, as are the following */
    uint32_t slot_capacity, tokens;
    bool full;
    tansu_buffer form;
} text_found;

/* text_query_test -- of a document that text_document_read() has read. False when memory is
 * exhausted. */
bool text_query_test(const text_query *q, const text_document *d, text_found *found);
void text_found_free(text_found *found);

/* ---- Positions: shared by documents and postings ---- */

/* text_phrase_count -- how many positions begin a phrase: `positions[i]` are those of words[i],
 * ascending. text_near_count -- how many positions of the first word have each of the others at most
 * `within` away, equal words at places of their own; `ordered`: each after the one before, the last at most
 * `within` after the first. */
uint32_t text_phrase_count(const text_node *leaf, const uint32_t *const *positions,
                           const uint32_t *counts);
uint32_t text_near_count(const text_node *leaf, const uint32_t *const *positions,
                         const uint32_t *counts);

/* text_near_edits -- whether a term is within the edit distance of a fuzzy leaf: the fewest
 * characters that are inserted, removed, replaced, or swapped with a neighbour, none of them twice. */
bool text_near_edits(const text_node *leaf, const uint8_t *term, size_t size);

/* The formula of a score. text_factor -- what documents have in common: the score of a leaf that is
 * there without end. text_norm -- what leaves have in common. text_score -- what a leaf adds to the
 * score of a document that has it so often. */
static inline double text_factor(const text_query *q, double idf, double boost) {
    return boost * idf * (q->k1 + 1);
}
static inline double text_norm(const text_query *q, double length, double mean) {
    return q->k1 * (1 - q->b + q->b * (mean > 0 ? length / mean : 1));
}
static inline double text_score(double factor, double count, double norm) {
    return count > 0 ? factor * count / (count + norm) : 0;
}
/* text_idf -- of a term that so many of all documents have. */
double text_idf(uint64_t having, uint64_t documents);

#endif
