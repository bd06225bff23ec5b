/*
 * query/text/text_leaf.c -- the documents of one leaf of a search: of a term, of several that are
 * all there, or of a list.
 */
#include "query/text/text_search_internal.h"

#include "util/array.h"
#include "util/bisect.h"
#include "util/error.h"

/* The terms of a phrase, to be put in the order of how many documents have them. */
typedef struct word_frequency {
    uint64_t documents;
    uint32_t word; /* of the node */
} word_frequency;

static int compare_frequencies(const void *left, const void *right) {
    const word_frequency *a = left, *b = right;
    if (a->documents != b->documents)
        return a->documents < b->documents ? -1 : 1;
    return a->word < b->word ? -1 : a->word > b->word;
}

static bool same_word(const text_word *a, const text_word *b) {
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* open_words -- postings of each different word. *idf: of all words. */
static tansu_status open_words(text_search *s, text_leaf *leaf, const text_word *words,
                               uint32_t count, double *idf, tansu_error *error) {
    word_frequency *order = arena_alloc(&s->memory, count * sizeof *order);
    uint32_t *first = arena_alloc(&s->memory, count * sizeof *first); /* the same word */
    tansu_status status = TANSU_OK;
    uint32_t different = 0;
    leaf->word_of = arena_alloc(&s->memory, count * sizeof *leaf->word_of);
    if (!order || !first || !leaf->word_of)
        return error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        while (!same_word(&words[first[i]], &words[i]))
            first[i]++;
        if (first[i] == i) {
            order[different].word = i;
            status = text_term_documents(&s->reader, words[i].bytes, words[i].size,
                                         &order[different++].documents, error);
        }
        if (status == TANSU_OK)
            status = text_search_check(s, TEXT_STEPS / 64, error);
        if (status != TANSU_OK)
            return status;
    }
    qsort(order, different, sizeof *order, compare_frequencies);
    leaf->words = arena_alloc(&s->memory, different * sizeof *leaf->words);
    if (!leaf->words)
        return error_memory(error);
    leaf->documents = order[0].documents;
    for (uint32_t i = 0; i < different && status == TANSU_OK; i++) {
        const text_word *word = &words[order[i].word];
        status = postings_begin(&leaf->words[leaf->word_count++], &s->reader, word->bytes,
                                word->size, error);
    }
    for (uint32_t i = 0; i < count; i++) {
        while (order[leaf->word_of[i]].word != first[i])
            leaf->word_of[i]++;
        *idf += text_idf(order[leaf->word_of[i]].documents, s->reader.documents);
    }
    return status;
}

/* open_list -- the documents of a prefix or of a fuzzy word. */
static tansu_status open_list(text_search *s, text_leaf *leaf, text_matches *list, double *idf,
                              tansu_error *error) {
    tansu_buffer only = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_OK;
    if (list->documents == 0)
        status = text_matches_make(&s->reader, leaf->node, s->rctx->group_memory, s->deadline, list,
                                   &only, error);
    if (status == TANSU_OK && only.size != 0) {
        const text_word word = {.bytes = only.data, .size = (uint32_t)only.size};
        leaf->kind = TEXT_TERM;
        status = open_words(s, leaf, &word, 1, idf, error);
    } else {
        leaf->list = list;
        leaf->documents = list->count;
        *idf = text_idf(list->documents, s->reader.documents);
    }
    tansu_buffer_free(&only);
    return status;
}

tansu_status text_leaf_open(text_search *s, text_leaf *leaf, const text_node *node,
                            text_matches *list, tansu_error *error) {
    tansu_status status = TANSU_OK;
    double idf = 0;
    *leaf = (text_leaf){.node = node, .kind = node->kind, .counted = NO_RID};
    if (node->kind == TEXT_PREFIX || node->kind == TEXT_FUZZY)
        status = open_list(s, leaf, list, &idf, error);
    else if (node->kind != TEXT_NOTHING)
        status = open_words(s, leaf, node->words, node->word_count, &idf, error);
    leaf->factor = text_factor(s->query, idf, node->boost);
    /* A count without end has that score, which a list never comes near. */
    leaf->most =
        leaf->list ? text_leaf_score(leaf, list->most, text_search_norm(s, 0)) : leaf->factor;
    return status;
}

void text_leaf_close(text_leaf *leaf) {
    for (uint32_t i = 0; i < leaf->word_count; i++)
        postings_end(&leaf->words[i]);
    leaf->word_count = 0;
}

/* ---- Candidates ---- */

/* seek_words -- to the first document that has all words. */
static tansu_status seek_words(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; i < leaf->word_count;) {
        postings *p = &leaf->words[i];
        status = postings_seek(p, rid, error);
        if (status == TANSU_OK)
            status = text_search_check(s, 1, error);
        if (status != TANSU_OK)
            return status;
        if (p->rid == NO_RID) {
            rid = NO_RID;
            break;
        }
        i = p->rid == rid ? i + 1 : i == 0 ? 1 : 0;
        rid = p->rid;
    }
    leaf->rid = rid;
    return status;
}

/* seek_list -- to the first document of the list that is not less; near ones are found soon. */
static void seek_list(text_leaf *leaf, uint64_t rid) {
    const text_matches_item *items = leaf->list->items;
    size_t low = leaf->at, left = leaf->list->count - low, step = 1;
    while (step < left && items[low + step].rid < rid) {
        low += step;
        left -= step;
        step *= 2;
    }
    left = step < left ? step : left;
    leaf->at = low + BISECT(items + low, left, text_matches_item, rid, rid);
    leaf->rid = leaf->at < leaf->list->count ? items[leaf->at].rid : NO_RID;
}

tansu_status text_leaf_move(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (leaf->kind == TEXT_TERM) {
        status = postings_seek(&leaf->words[0], rid, error);
        leaf->rid = leaf->words[0].rid;
    } else if (leaf->list) {
        seek_list(leaf, rid);
    } else if (leaf->kind == TEXT_NOTHING) {
        leaf->rid = NO_RID;
    } else {
        status = seek_words(s, leaf, rid, error);
    }
    leaf->placed = status == TANSU_OK;
    return status;
}

/* ---- Counts ---- */

/* field_most -- how often the words of a phrase may be there in a field of the current document: as
 * often as the rarest is, or near one another, the first. */
static uint32_t field_most(const text_leaf *leaf, uint32_t field) {
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < leaf->word_count && fewest != 0; i++) {
        uint32_t count = postings_count(&leaf->words[i], field);
        fewest = count < fewest ? count : fewest;
    }
    return leaf->kind == TEXT_PHRASE || fewest == 0
               ? fewest
               : postings_count(&leaf->words[leaf->word_of[0]], field);
}

/* count_field -- how often the words of a phrase are there in a field of the current document. */
static tansu_status count_field(text_search *s, text_leaf *leaf, uint32_t field, uint32_t *count,
                                tansu_error *error) {
    const text_node *node = leaf->node;
    const uint32_t *of_cursor[TEXT_MAX_PHRASE], *positions[TEXT_MAX_PHRASE];
    uint32_t counts[TEXT_MAX_PHRASE];
    size_t used = 0;
    *count = 0;
    if (field_most(leaf, field) == 0)
        return TANSU_OK;
    for (uint32_t i = 0; i < leaf->word_count; i++)
        used += postings_count(&leaf->words[i], field);
    if (!ARRAY_RESERVE(s->positions, 0, s->position_capacity, used))
        return error_memory(error);
    used = 0;
    for (uint32_t i = 0; i < leaf->word_count; i++) {
        postings *p = &leaf->words[i];
        of_cursor[i] = s->positions + used;
        tansu_status status = postings_positions(p, field, s->positions + used, error);
        if (status != TANSU_OK)
            return status;
        used += postings_count(p, field);
    }
    for (uint32_t i = 0; i < node->word_count; i++) {
        counts[i] = postings_count(&leaf->words[leaf->word_of[i]], field);
        positions[i] = of_cursor[leaf->word_of[i]];
    }
    *count = leaf->kind == TEXT_PHRASE ? text_phrase_count(node, positions, counts)
                                       : text_near_count(node, positions, counts);
    return TANSU_OK;
}

/* count_words -- a phrase, in all fields of the leaf. */
static tansu_status count_words(text_search *s, text_leaf *leaf, tansu_error *error) {
    const text_form *form = &s->reader.form;
    tansu_status status = TANSU_OK;
    leaf->count = 0;
    for (uint32_t i = 0; i < form->fields && status == TANSU_OK; i++) {
        uint32_t count = 0;
        if ((leaf->node->fields >> i & 1) != 0)
            status = count_field(s, leaf, i, &count, error);
        leaf->count += (uint64_t)count * form->weights[i];
    }
    return status;
}

uint64_t text_leaf_most_of(const text_search *s, const text_leaf *leaf) {
    const text_form *form = &s->reader.form;
    uint64_t most = 0;
    if (leaf->list)
        return leaf->list->items[leaf->at].weighted;
    for (uint32_t i = 0; i < form->fields; i++)
        if ((leaf->node->fields >> i & 1) != 0)
            most += (uint64_t)field_most(leaf, i) * form->weights[i];
    return most;
}

tansu_status text_leaf_count(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error) {
    if (leaf->counted == rid)
        return TANSU_OK;
    tansu_status status = text_leaf_seek(s, leaf, rid, error);
    if (status != TANSU_OK)
        return status;
    leaf->count = leaf->rid == rid ? text_leaf_most(s, leaf) : 0;
    if (leaf->count != 0 && text_leaf_positions(leaf) && !s->reads)
        status = count_words(s, leaf, error);
    leaf->counted = status == TANSU_OK ? rid : NO_RID;
    return status;
}

/* ---- Bounds ---- */

/* take_impacts -- what a document with one of these impacts scores at most, and for a leaf of one term
 * the impacts. */
static double take_impacts(const text_search *s, text_leaf *leaf, const text_impact *impacts,
                           uint32_t count) {
    double bound = 0;
    leaf->impact_count = leaf->kind == TEXT_TERM ? count : 0;
    for (uint32_t i = 0; i < count; i++) {
        double norm = text_search_norm(s, impacts[i].length);
        double score = text_leaf_score(leaf, impacts[i].weighted, norm);
        leaf->impacts[i].weighted = impacts[i].weighted;
        leaf->impacts[i].norm = norm;
        bound = score > bound ? score : bound;
    }
    return bound;
}

tansu_status text_leaf_bound(text_search *s, text_leaf *leaf, uint64_t rid, tansu_error *error) {
    if (leaf->bounded && rid <= leaf->last)
        return TANSU_OK;
    leaf->bounded = true;
    leaf->from = rid;
    leaf->last = NO_RID;
    leaf->bound = leaf->most;
    if (leaf->list) {
        leaf->impact_count = 1; /* of no length */
        leaf->impacts[0].weighted = leaf->list->most;
        leaf->impacts[0].norm = text_search_norm(s, 0);
        return TANSU_OK;
    }
    leaf->placed = false;
    leaf->from = leaf->kind == TEXT_NOTHING ? NO_RID : rid;
    for (uint32_t i = 0; i < leaf->word_count; i++) {
        const text_impact *impacts;
        uint32_t count;
        uint64_t last;
        postings *p = &leaf->words[i];
        tansu_status status = postings_shallow(p, rid, &last, &impacts, &count, error);
        if (status != TANSU_OK) {
            leaf->bounded = false;
            return status;
        }
        leaf->from = p->rid > leaf->from ? p->rid : leaf->from;
        leaf->last = last < leaf->last ? last : leaf->last;
        /* Words near the first one are counted where that is. */
        if (leaf->kind == TEXT_NEAR && i != leaf->word_of[0])
            continue;
        double bound = take_impacts(s, leaf, impacts, count);
        leaf->bound = bound < leaf->bound ? bound : leaf->bound;
    }
    if (leaf->from > leaf->last) { /* chunks of two words have no record ids in common */
        leaf->last = leaf->from - 1;
        leaf->bound = 0;
    }
    return TANSU_OK;
}
