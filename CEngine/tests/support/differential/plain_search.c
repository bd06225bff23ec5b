/*
 * support/differential/plain_search.c -- searching every document.
 */
#include "support/differential/plain_search.h"

#include "support/check.h"
#include "util/buffer.h"

#include <math.h>
#include <stdlib.h>

static tansu_error error;

void plain_read(plain_collection *p, const index_definition *definition, const read_context *rctx,
                const collection_state *state) {
    table_scan scan;
    doc_ref ref;
    const uint8_t *doc;
    uint32_t size;
    uint64_t rid, length = 0;
    *p = (plain_collection){.items = calloc(state->count + 1, sizeof(plain_document))};
    table_scan_init(&scan, rctx, state);
    while (table_scan_next(&scan, &rid, &ref, &doc, &size, &error) == TANSU_OK) {
        plain_document *d = &p->items[p->count];
        d->rid = rid;
        buffer_set(&d->bytes, doc, size);
        REQUIRE(CHECK_OK(
            text_document_read(&d->words, definition, d->bytes.data, d->bytes.size, &error),
            &error));
        if (d->words.string_count == 0) {
            text_document_free(&d->words);
            tansu_buffer_free(&d->bytes);
            continue;
        }
        length += text_document_length(&d->words, definition);
        p->count++;
    }
    p->length = p->count == 0 ? 0 : (double)length / p->count;
}

void plain_free(plain_collection *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        text_document_free(&p->items[i].words);
        tansu_buffer_free(&p->items[i].bytes);
    }
    free(p->items);
}

/* is_of -- whether a term is one of a word's. */
static bool is_of(const text_node *leaf, const text_word *word, const uint8_t *term, size_t size) {
    if (leaf->kind == TEXT_FUZZY)
        return text_near_edits(leaf, term, size);
    return (leaf->kind == TEXT_PREFIX ? size >= word->size : size == word->size) &&
           memcmp(word->bytes, term, word->size) == 0;
}

/* plain_idf -- of a leaf: its documents are counted. */
static double plain_idf(const plain_collection *p, const text_node *leaf) {
    double idf = 0;
    for (uint32_t w = 0; w < leaf->word_count; w++) {
        uint32_t having = 0;
        for (uint32_t i = 0; i < p->count; i++) {
            const text_tokens *tokens = &p->items[i].words.tokens;
            bool has = false;
            for (size_t j = 0; j < tokens->count && !has; j++)
                has = is_of(leaf, &leaf->words[w], tokens->terms.data + tokens->items[j].term,
                            tokens->items[j].term_size);
            having += has;
        }
        idf += log(1 + (p->count - having + 0.5) / (having + 0.5));
    }
    return idf;
}

/* gather_leaves -- those that make the score, with their idf. */
static void gather_leaves(const plain_collection *p, const text_node *node,
                          const text_node **leaves, double *idf) {
    if (node->kind < TEXT_ALL) {
        leaves[node->number] = node;
        idf[node->number] = plain_idf(p, node);
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        gather_leaves(p, node->children[i], leaves, idf);
    for (uint32_t i = 0; i < node->optional_count; i++)
        gather_leaves(p, node->optional[i], leaves, idf);
}

uint32_t plain_search(const plain_collection *p, const text_query *q, text_hit *hits) {
    const text_node **leaves = calloc(q->leaves + 1, sizeof(text_node *));
    double *idf = calloc(q->leaves + 1, sizeof *idf);
    text_found found = {.counts = NULL};
    uint32_t count = 0;
    gather_leaves(p, q->root, leaves, idf);
    for (uint32_t i = 0; i < p->count; i++) {
        const plain_document *d = &p->items[i];
        double length = (double)text_document_length(&d->words, q->definition), score = 0;
        REQUIRE(text_query_test(q, &d->words, &found));
        if (!found.matches)
            continue;
        for (uint32_t j = 0; j < q->leaves; j++) {
            double c = (double)found.counts[j];
            if (leaves[j] && c > 0)
                score += leaves[j]->boost * idf[j] * c * (q->k1 + 1) /
                         (c + q->k1 * (1 - q->b + q->b * length / p->length));
        }
        hits[count++] = (text_hit){d->rid, score};
    }
    text_found_free(&found);
    free(leaves);
    free(idf);
    return count;
}
