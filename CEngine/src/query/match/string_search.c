/*
 * query/match/string_search.c -- the automaton of Aho and Corasick. A node is a prefix of some of
 * the strings; the nodes are in order of length, those of one parent in the order of their bytes.
 * Where a text leaves the prefixes, its fallback is the longest prefix that it still ends with. So
 * the search reads each byte of the text once, however many strings there are and however they
 * repeat themselves.
 */
#include "query/match/string_search.h"

typedef struct search_node {
    uint32_t fallback; /* while the nodes are made: the first string with this prefix */
    uint32_t first;    /* child; while the nodes are made: after the last string */
    uint16_t count;    /* of children */
    uint8_t byte;      /* the last one of the prefix */
    bool found;        /* a text that ends with the prefix contains a string */
} search_node;

struct string_search {
    uint32_t count;
    search_node *nodes;
};

#define NO_NODE 0  /* the root is nobody's child */
#define PIECE 4096 /* bytes between two looks at the deadline */

/* count_nodes -- the number of prefixes that the strings have, the empty one among them. */
static size_t count_nodes(const doc_value *operands, uint32_t count) {
    size_t total = 1, last_size = 0;
    const char *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        size_t size, common = 0;
        const char *text = doc_string(&operands[i], &size);
        while (common < size && common < last_size && text[common] == last[common])
            common++;
        total += size - common;
        last = text;
        last_size = size;
    }
    return total;
}

/* add_children -- of one node, whose prefix has `depth` bytes. */
static void add_children(string_search *s, uint32_t at, const doc_value *operands, size_t depth) {
    search_node *node = &s->nodes[at];
    uint32_t from = node->fallback, to = node->first;
    size_t size;
    (void)doc_string(&operands[from], &size);
    node->first = s->count;
    /* No other string begins with this one. */
    node->found = size == depth;
    for (uint32_t i = from; i < to && !node->found; i++) {
        uint8_t byte = (uint8_t)doc_string(&operands[i], &size)[depth];
        if (node->count == 0 || s->nodes[s->count - 1].byte != byte) {
            s->nodes[s->count++] = (search_node){.fallback = i, .byte = byte};
            node->count++;
        }
        s->nodes[s->count - 1].first = i + 1;
    }
}

/* child_of -- the child of a node by its byte, or NO_NODE. */
static uint32_t child_of(const string_search *s, uint32_t at, uint8_t byte) {
    uint32_t low = s->nodes[at].first, high = low + s->nodes[at].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->nodes[middle].byte == byte)
            return middle;
        if (s->nodes[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_NODE;
}

/* next_of -- the node after one more byte: the longest prefix that the text now ends with. */
static uint32_t next_of(const string_search *s, uint32_t at, uint8_t byte) {
    for (;;) {
        uint32_t next = child_of(s, at, byte);
        if (next != NO_NODE || at == 0)
            return next;
        at = s->nodes[at].fallback;
    }
}

/* set_fallbacks -- of the children of a node; its own is set. */
static void set_fallbacks(string_search *s, uint32_t at) {
    for (uint32_t i = 0; i < s->nodes[at].count; i++) {
        search_node *child = &s->nodes[s->nodes[at].first + i];
        child->fallback = at == 0 ? 0 : next_of(s, s->nodes[at].fallback, child->byte);
        child->found = child->found || s->nodes[child->fallback].found;
    }
}

const string_search *string_search_new(arena *memory, const doc_value *operands, uint32_t count) {
    size_t total = count_nodes(operands, count), depth = 0;
    string_search *s = arena_alloc(memory, sizeof *s);
    if (!s || total > UINT32_MAX)
        return NULL;
    s->nodes = arena_alloc(memory, total * sizeof *s->nodes);
    if (!s->nodes)
        return NULL;
    s->nodes[0].first = count;
    s->count = 1;
    for (uint32_t at = 0, level_end = 1; at < s->count; at++) {
        if (at == level_end) {
            depth++;
            level_end = s->count;
        }
        add_children(s, at, operands, depth);
    }
    s->nodes[0].fallback = 0;
    for (uint32_t at = 0; at < s->count; at++)
        set_fallbacks(s, at);
    return s;
}

bool string_search_finds(const string_search *s, match_context *c, const char *text, size_t size) {
    uint32_t node = 0;
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE == 0 && !match_read(c, size - i < PIECE ? size - i : PIECE))
            return false;
        node = next_of(s, node, (uint8_t)text[i]);
        if (s->nodes[node].found)
            return true;
    }
    return false;
}
