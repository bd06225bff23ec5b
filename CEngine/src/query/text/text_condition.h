/*
 * query/text/text_condition.h -- what text_query_parse() makes and text_query_bind() reads: the items
 * of a search as they were written, and what these files share. Private to query/text.
 */
#ifndef TANSU_QUERY_TEXT_TEXT_CONDITION_H
#define TANSU_QUERY_TEXT_TEXT_CONDITION_H

#include "query/text/text_query.h"

/* Limits of a search. */
#define TEXT_MAX_NESTING 32
#define TEXT_MAX_LEAVES 1000
#define TEXT_MAX_STRING ((size_t)64 * 1024)
#define TEXT_MAX_BOOST 1e6
#define TEXT_MAX_SAME 8
/* Places in a text that are highlighted. */
#define TEXT_MAX_PLACES 1000000
/* Words of a text that are looked at for that. */
#define TEXT_MAX_TOKENS ((uint32_t)1 << 24)

enum text_item_kind {
    ITEM_WORDS, /* words of a string, each for itself */
    ITEM_WORD,  /* one word, whose parts stand next to one another */
    ITEM_PHRASE,
    ITEM_PREFIX,
    ITEM_FUZZY,
    ITEM_NEAR,
    ITEM_GROUP
};

/* The lists of a group. */
enum text_list { LIST_ALL, LIST_ANY, LIST_NOT, LIST_OPTIONAL, LISTS };

/* A string of the operand. */
typedef struct text_piece {
    const char *bytes;
    size_t size;
} text_piece;

typedef struct text_item text_item;
struct text_item {
    text_item *next; /* in its list */
    enum text_item_kind kind;
    const char *key; /* for messages: "phrase"; NULL: the item is a part of a string */
    int32_t index;   /* for messages: in the array of its list; -1: there is none */
    bool spread;     /* PREFIX of a string: words before it are items of their own */
    text_piece *pieces;
    uint32_t piece_count; /* one, but of NEAR and GROUP */
    uint32_t distance, same, within;
    bool ordered;
    double boost;
    text_piece *paths;
    uint32_t path_count; /* 0: those of the item around it */
    text_item *lists[LISTS];
    text_item **ends[LISTS]; /* where the next item of a list goes */
};

struct text_condition {
    text_item *root;
    const char *language;     /* NULL: the index's */
    const char *language_key; /* for messages */
    double k1, b;
    bool case_sensitive, diacritic_sensitive;
    bool mongo; /* $search: a search that only excludes finds nothing */
};

/* text_place -- puts the list and the number in it (-1: none) before the context of an error. Returns
 * the status. */
tansu_status text_place(tansu_status status, const char *list, int32_t index, tansu_error *error);

/* The text of a field that has no index, for highlights. */
typedef struct text_target {
    const char *path; /* only what may be there is looked for; NULL: all */
} text_target;

/* text_query_bind_to -- text_query_bind(), or with a target (may be NULL) to that: `definition` then has
 * one field, and says the language. */
tansu_status text_query_bind_to(const text_condition *condition, const index_definition *definition,
                                const text_target *target, text_document *d, arena *memory,
                                text_query **result, tansu_error *error);

/* Where a word is in a field. */
typedef struct text_slot {
    uint32_t *positions; /* of words of PHRASE and NEAR */
    uint32_t *tokens;    /* in text_document.tokens, when they are asked for */
    uint32_t count, capacity, token_capacity;
} text_slot;

/* text_find -- where the words of all leaves are in some strings of one field: found->slots. `tokens`:
 * in which tokens, too. False when memory is exhausted or, then found->full, the tokens are more
 * than TEXT_MAX_TOKENS. */
bool text_find(const text_query *q, const text_document *d, uint32_t first_string,
               uint32_t end_string, bool tokens, text_found *found);

/* text_positions -- those of the words of a leaf, for text_next(). */
void text_positions(const text_node *leaf, const text_found *found, const uint32_t **positions,
                    uint32_t *counts);

/* A walk through the places of a PHRASE or NEAR. Zeroed, it is before the first. */
typedef struct text_walk {
    uint32_t first;               /* the number of the first word's position to be tried next */
    uint32_t at[TEXT_MAX_PHRASE]; /* the positions of the words; of NEAR that is not ordered, the
                                     first that is near enough */
} text_walk;

/* text_next -- to the next place; false when there is none. */
bool text_next(const text_node *leaf, const uint32_t *const *positions, const uint32_t *counts,
               text_walk *w);

/* text_exact_form -- appends what words have in common that an exact search takes for the same: letter
 * case unless `case_sensitive`, and accents unless `diacritic_sensitive`, are left out. False when
 * memory is exhausted. */
bool text_exact_form(tansu_buffer *out, const uint8_t *word, size_t size, bool case_sensitive,
                     bool diacritic_sensitive);

/* text_is_unit -- whether a token of a text is of a script without spaces. */
bool text_is_unit(const uint8_t *text, const text_token *token);

/* text_cut -- the size of the first so many characters of a word, with the marks on them. *count is
 * how many there are, which may be less. */
size_t text_cut(const uint8_t *word, size_t size, uint32_t most, uint32_t *count);

/* text_hash -- of a term, for text_query.buckets. */
static inline uint32_t text_hash(const uint8_t *term, size_t size) {
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ term[i]) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(hash >> 32);
}

#endif
