/*
 * query/text/text_query_test.c -- whether a document matches a search, by its words.
 *
 * Each term of the document is looked up in the table of the search (text_query.buckets): one pass
 * finds the words of all leaves.
 */
#include "query/text/text_condition.h"

#include "util/array.h"

#include <stdlib.h>

void text_found_free(text_found *found) {
    for (uint32_t i = 0; i < found->slot_capacity; i++) {
        free(found->slots[i].positions);
        free(found->slots[i].tokens);
    }
    free(found->slots);
    free(found->counts);
    tansu_buffer_free(&found->form);
    *found = (text_found){.counts = NULL};
}

/* reserve -- room for the leaves and words of a search. */
static bool reserve(const text_query *q, text_found *found) {
    uint32_t before = found->slot_capacity;
    if (!ARRAY_RESERVE(found->counts, 0, found->capacity, q->leaves) ||
        !ARRAY_RESERVE(found->slots, 0, found->slot_capacity, q->slots))
        return false;
    if (found->slot_capacity != before)
        memset(found->slots + before, 0, (found->slot_capacity - before) * sizeof *found->slots);
    return true;
}

/* A term of a document. */
typedef struct text_occurrence {
    const uint8_t *term, *written;
    uint32_t size, written_size;
    uint32_t position;
    uint32_t token; /* its number */
} text_occurrence;

/* has_form -- *has: whether a word is, or begins, exactly like that of an exact leaf. False when
 * memory is exhausted. */
static bool has_form(const text_query *q, text_found *found, const text_sought *sought,
                     const text_occurrence *o, bool *has) {
    uint32_t count;
    size_t size = o->written_size;
    found->form.size = 0;
    if (sought->leaf->kind == TEXT_PREFIX)
        size = text_cut(o->written, size, sought->word->position, &count);
    if (!text_exact_form(&found->form, o->written, size, q->case_sensitive, q->diacritic_sensitive))
        return false;
    *has = found->form.size == sought->word->form_size &&
           memcmp(found->form.data, sought->word->form, found->form.size) == 0;
    return true;
}

/* has_term -- whether a term is one of a word's. */
static bool has_term(const text_sought *sought, const text_occurrence *o) {
    const text_word *word = sought->word;
    if (sought->leaf->kind == TEXT_FUZZY)
        return text_near_edits(sought->leaf, o->term, o->size);
    return (sought->leaf->kind == TEXT_PREFIX ? word->size <= o->size : word->size == o->size) &&
           memcmp(word->bytes, o->term, word->size) == 0;
}

/* put -- notes an occurrence of a word. False when memory is exhausted, or there are too many. */
static bool put(text_found *found, const text_sought *sought, text_slot *slot,
                const text_occurrence *o, bool tokens) {
    if (sought->together) {
        if (!ARRAY_RESERVE(slot->positions, slot->count, slot->capacity, 1))
            return false;
        slot->positions[slot->count] = o->position;
    }
    if (tokens) {
        found->full = found->tokens++ == TEXT_MAX_TOKENS;
        if (found->full || !ARRAY_RESERVE(slot->tokens, slot->count, slot->token_capacity, 1))
            return false;
        slot->tokens[slot->count] = o->token;
    }
    slot->count++;
    return true;
}

/* find_sought -- the words that a term is an occurrence of. */
static bool find_sought(const text_query *q, text_found *found, const text_occurrence *o,
                        bool tokens) {
    uint32_t lists[] = {q->buckets[text_hash(o->term, o->size) & q->bucket_mask], q->compared};
    for (int i = 0; i < 2; i++)
        for (uint32_t at = lists[i]; at != 0; at = q->sought[at - 1].next) {
            const text_sought *sought = &q->sought[at - 1];
            bool has = has_term(sought, o);
            if (has && sought->leaf->exact && !has_form(q, found, sought, o, &has))
                return false;
            if (has && !put(found, sought, &found->slots[at - 1], o, tokens))
                return false;
        }
    return true;
}

bool text_find(const text_query *q, const text_document *d, uint32_t first_string,
               uint32_t end_string, bool tokens, text_found *found) {
    if (!reserve(q, found))
        return false;
    for (uint32_t i = 0; i < q->slots; i++)
        found->slots[i].count = 0;
    found->tokens = 0;
    found->full = false;
    for (uint32_t i = first_string; i < end_string; i++) {
        const text_string *string = &d->strings[i];
        for (uint32_t j = string->first; j < string->first + string->count; j++) {
            const text_token *token = &d->tokens.items[j];
            text_occurrence o = {.term = d->tokens.terms.data + token->term,
                                 .written = string->bytes + token->start,
                                 .size = token->term_size,
                                 .written_size = token->end - token->start,
                                 .position = token->position,
                                 .token = j};
            if (!find_sought(q, found, &o, tokens))
                return false;
        }
    }
    return true;
}

void text_positions(const text_node *leaf, const text_found *found, const uint32_t **positions,
                    uint32_t *counts) {
    for (uint32_t i = 0; i < leaf->word_count; i++) {
        positions[i] = found->slots[leaf->words[i].slot].positions;
        counts[i] = found->slots[leaf->words[i].slot].count;
    }
}

/* leaf_count -- how often a leaf is in the field whose words were found. */
static uint32_t leaf_count(const text_node *leaf, const text_found *found) {
    const uint32_t *positions[TEXT_MAX_PHRASE];
    uint32_t counts[TEXT_MAX_PHRASE];
    if (leaf->kind != TEXT_PHRASE && leaf->kind != TEXT_NEAR)
        return found->slots[leaf->words[0].slot].count;
    text_positions(leaf, found, positions, counts);
    return leaf->kind == TEXT_PHRASE ? text_phrase_count(leaf, positions, counts)
                                     : text_near_count(leaf, positions, counts);
}

/* matches -- whether the leaves that were found make a match. */
static bool matches(const text_node *node, const text_found *found) {
    bool match = node->kind == TEXT_ALL;
    if (node->kind < TEXT_ALL)
        return found->counts[node->number] != 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (matches(node->children[i], found) != match) {
            match = !match;
            break;
        }
    for (uint32_t i = 0; match && i < node->without_count; i++)
        match = !matches(node->without[i], found);
    return match;
}

bool text_query_test(const text_query *q, const text_document *d, text_found *found) {
    if (!reserve(q, found))
        return false;
    for (uint32_t i = 0; i < q->leaves; i++)
        found->counts[i] = 0;
    for (uint32_t first = 0, end; first < d->string_count; first = end) {
        uint32_t field = d->strings[first].field;
        for (end = first + 1; end < d->string_count && d->strings[end].field == field;)
            end++;
        if (!text_find(q, d, first, end, false, found))
            return false;
        for (uint32_t i = 0; i < q->leaves; i++)
            if (q->list[i]->fields >> field & 1)
                found->counts[i] +=
                    (uint64_t)leaf_count(q->list[i], found) * q->definition->text->weights[field];
    }
    found->matches = matches(q->root, found);
    return true;
}
