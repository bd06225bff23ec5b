/*
 * query/text/text_search_internal.h -- what the files of text_search.h share: the leaves of a
 * search as ways through the documents of the index, and the tree over them.
 *
 * Documents are found in two steps. A leaf and a node of the tree stand at a candidate, which is
 * found by record ids alone (text_leaf_seek(), text_tree_seek()). Whether it matches, which may need
 * positions and fields, is asked when all that has to be at it is (text_leaf_count(),
 * text_tree_matches()).
 */
#ifndef TANSU_QUERY_TEXT_TEXT_SEARCH_INTERNAL_H
#define TANSU_QUERY_TEXT_TEXT_SEARCH_INTERNAL_H

#include "query/text/text_search.h"

#include <float.h>

/* ---- The documents of a prefix, or of a fuzzy word ---- */

typedef struct text_matches_item {
    uint64_t rid;
    uint64_t weighted; /* the count of all terms in the fields of the leaf */
} text_matches_item;

/* In the order of record ids. */
typedef struct text_matches {
    text_matches_item *items; /* those with a count */
    size_t count;
    uint64_t documents; /* with one of the terms in any field */
    uint64_t most;      /* the highest weighted count */
} text_matches;

/*
 * text_matches_make -- the documents of a prefix or fuzzy leaf; where the index has only one such term,
 * that is copied to *only instead. `limit`: bytes of memory. Errors: TOO_LARGE, MEMORY, IO, CORRUPT,
 * TIMEOUT, CANCELLED.
 */
tansu_status text_matches_make(const text_reader *reader, const text_node *node, size_t limit,
                               const deadline *deadline, text_matches *list, tansu_buffer *only,
                               tansu_error *error);

/* ---- Leaves ---- */

/* A leaf, on its way through the documents. */
typedef struct text_leaf {
    const text_node *node;
    enum text_kind kind; /* TEXT_TERM also for a prefix of one term */
    postings *words;     /* of each different term, the rarest first; none of a list */
    uint32_t word_count;
    uint32_t *word_of;        /* PHRASE, NEAR: which of them each word of the node is */
    const text_matches *list; /* PREFIX, FUZZY */
    size_t at;                /* in the list */
    uint64_t documents;       /* that it has at most */
    double factor;            /* text_factor() */

    bool placed;      /* `rid` is a candidate; otherwise none is before it */
    uint64_t rid;     /* NO_RID: the end */
    uint64_t counted; /* the document that `count` is of; NO_RID: none */
    uint64_t count;   /* weighted; more than there is where text_search.reads */

    uint64_t key; /* text_search_score(): no document from the last one on is before it */

    /* text_leaf_bound(): a document of this leaf from `from` to `last` scores `bound` at most, and
     * there is none from where it was asked for to `from`. */
    bool bounded;
    uint64_t from, last;
    double bound;
    uint32_t impact_count; /* TERM: of the chunk; a list: one of no length */
    struct {
        uint64_t weighted;
        double norm;
    } impacts[TEXT_MAX_IMPACTS];
    double most; /* the same for all documents */

    /* text_search_top(). */
    bool here;    /* it may have documents in the window */
    double now;   /* the most that they score */
    double score; /* of the document that is looked at */
} text_leaf;

/* A node of the search. */
typedef struct text_tree {
    enum text_kind kind;
    text_leaf *leaf;
    struct text_tree **children; /* ALL: the rarest first; ANY: a heap by `rid` */
    struct text_tree **without;
    uint32_t child_count, without_count;
    uint64_t documents; /* that it has at most */
    bool placed;
    uint64_t rid; /* the candidate; NO_RID: the end */
} text_tree;

struct text_search {
    const text_query *query;
    const read_context *rctx;
    const collection_state *collection;
    const deadline *deadline;
    text_reader reader;
    arena memory;
    double mean;       /* length of a document */
    bool reads;        /* text_query_needs_document(): candidates are read */
    text_leaf *leaves; /* for each leaf of the query: the one of the tree */
    text_leaf *others; /* of leaves that the tree may pass before they are scored */
    uint32_t other_count;
    text_matches *lists; /* of each leaf of the query */
    text_tree *root;
    text_leaf **scored; /* the leaves that make the score, in their order */
    uint32_t scored_count;
    text_leaf **heap; /* the same by their `key` */
    text_lengths lengths;
    uint64_t next;       /* the first record id that text_search_next() has not looked at */
    uint32_t steps;      /* left until the next check of the deadline */
    uint32_t *positions; /* of the words of a phrase */
    size_t position_capacity;
    text_document document; /* where candidates are read */
    text_found found;
};

#define TEXT_STEPS 4096 /* between two checks of the deadline */

/* text_search_check -- counts steps, and checks the deadline now and then. */
static inline tansu_status text_search_check(text_search *s, uint32_t steps, tansu_error *error) {
    if (s->steps > steps) {
        s->steps -= steps;
        return TANSU_OK;
    }
    s->steps = TEXT_STEPS;
    return deadline_check(s->deadline, error);
}

/* text_leaf_open -- puts a leaf before its first document; `list` is where it may put its list, or
 * has that of another leaf of the same node. text_leaf_close() is due whatever the result. */
tansu_status text_leaf_open(text_search *s, text_leaf *leaf, const text_node *node,
                            text_matches *list, tansu_error *error);
void text_leaf_close(text_leaf *leaf);

/* text_leaf_seek, text_leaf_move -- to the first candidate whose record id is not less; move: it is
 * behind where the leaf is. */
tansu_status text_leaf_move(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error);
static inline tansu_status text_leaf_seek(text_search *s, text_leaf *leaf, uint64_t rid,
                                          tansu_error *error) {
    return leaf->placed && leaf->rid >= rid ? TANSU_OK : text_leaf_move(s, leaf, rid, error);
}

/* text_leaf_count -- how often a document has the leaf: `leaf->count`. The leaf is put at the document
 * if it is before that; 0 where it is not in the document. */
tansu_status text_leaf_count(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error);

/* text_leaf_bound -- finds `bound`, `from` and `last` at a record id, which is not before those it
 * was asked for before. The leaf is then not at a document. */
tansu_status text_leaf_bound(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error);

/* text_leaf_positions -- whether counting it takes positions. */
static inline bool text_leaf_positions(const text_leaf *leaf) {
    return leaf->kind == TEXT_PHRASE || leaf->kind == TEXT_NEAR;
}

/* text_leaf_most, text_leaf_most_of -- how often a document that the leaf is at may have it; positions are
 * not looked at; of: no TERM. */
uint64_t text_leaf_most_of(const text_search *s, const text_leaf *leaf);
static inline uint64_t text_leaf_most(const text_search *s, const text_leaf *leaf) {
    return leaf->kind == TEXT_TERM ? postings_weighted(&leaf->words[0], leaf->node->fields)
                                   : text_leaf_most_of(s, leaf);
}

/* text_search_norm -- text_norm() of a document; text_leaf_score -- text_score() of a leaf. */
static inline double text_search_norm(const text_search *s, uint32_t length) {
    return text_norm(s->query, length, s->mean);
}
static inline double text_leaf_score(const text_leaf *leaf, uint64_t count, double norm) {
    return text_score(leaf->factor, (double)count, norm);
}

/* text_leaf_upper -- the most that a leaf may add to a document in the chunk of text_leaf_bound() that
 * has it so often: what it adds to the shortest such one. */
static inline double text_leaf_upper(const text_leaf *leaf, uint64_t count) {
    double norm = DBL_MAX;
    for (uint32_t i = 0; i < leaf->impact_count; i++)
        if (leaf->impacts[i].weighted >= count && leaf->impacts[i].norm < norm)
            norm = leaf->impacts[i].norm;
    return leaf->impact_count != 0 && count != 0 ? text_leaf_score(leaf, count, norm) : leaf->bound;
}

/* ---- The tree ---- */

/* text_tree_seek -- to the first candidate whose record id is not less. */
tansu_status text_tree_seek(text_search *s, text_tree *tree, uint64_t rid, tansu_error *error);

/* text_tree_matches -- whether the document that the tree is at matches; where candidates are read,
 * whether it may. */
tansu_status text_tree_matches(text_search *s, text_tree *tree, uint64_t rid, bool *matches,
                               tansu_error *error);

/* text_tree_excludes -- whether the document is one of those that a node is `without`. */
tansu_status text_tree_excludes(text_search *s, text_tree *tree, uint64_t rid, bool *excluded,
                                tansu_error *error);

/* text_search_read -- reads a candidate: whether it matches, and its score. */
tansu_status text_search_read(text_search *s, uint64_t rid, bool *matches, double *score,
                              tansu_error *error);

#endif
