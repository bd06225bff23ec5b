/*
 * query/text/text_matches.c -- the documents of all terms that begin with a prefix, or are near a word.
 *
 * The documents of the terms are gathered one term after the other. When the memory is used up, or
 * at the end, they are sorted, and those of the same document become one. The memory grows where that
 * leaves more than half of them.
 */
#include "query/text/text_matching.h"
#include "query/text/text_search_internal.h"

#include "util/array.h"
#include "util/error.h"

typedef struct gathering {
    const text_node *node;
    const deadline *deadline;
    size_t limit; /* bytes */
    text_matches_item *items, *spare;
    size_t count, capacity; /* of both */
} gathering;

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define FEWEST_ITEMS 1024

/* sort_digit -- a pass of a radix sort, into the spare memory, which then is the other one. */
static void sort_digit(gathering *g, unsigned shift) {
    size_t starts[DIGITS] = {0}, sum = 0;
    text_matches_item *from = g->items, *to = g->spare;
    for (size_t i = 0; i < g->count; i++)
        starts[from[i].rid >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < g->count; i++)
        to[starts[from[i].rid >> shift & (DIGITS - 1)]++] = from[i];
    g->items = to;
    g->spare = from;
}

/* sort -- by record id, up to a highest one. */
static tansu_status sort(gathering *g, uint64_t highest, tansu_error *error) {
    size_t count = 0;
    for (unsigned shift = 0; shift < 64 && highest >> shift != 0; shift += DIGIT_BITS) {
        tansu_status status = deadline_check(g->deadline, error);
        if (status != TANSU_OK)
            return status;
        sort_digit(g, shift);
    }
    for (size_t i = 0; i < g->count; i++) {
        text_matches_item item = g->items[i];
        if (count > 0 && g->items[count - 1].rid == item.rid)
            g->items[count - 1].weighted += item.weighted;
        else
            g->items[count++] = item;
    }
    g->count = count;
    return TANSU_OK;
}

/* spread -- the same where the spare memory has a number for each record id: twice the count, and one
 * where there is a document. */
static void spread(gathering *g, uint64_t highest) {
    uint64_t *numbers = (uint64_t *)g->spare;
    memset(numbers, 0, ((size_t)highest + 1) * sizeof *numbers);
    for (size_t i = 0; i < g->count; i++) {
        uint64_t *number = &numbers[g->items[i].rid];
        *number = (*number + 2 * g->items[i].weighted) | 1;
    }
    g->count = 0;
    for (uint64_t rid = 0; rid <= highest; rid++)
        if (numbers[rid] != 0)
            g->items[g->count++] = (text_matches_item){rid, numbers[rid] / 2};
}

/* combine -- sorts the items, and makes those of a document one. */
static tansu_status combine(gathering *g, tansu_error *error) {
    const size_t numbers = g->capacity * sizeof *g->spare / sizeof(uint64_t);
    uint64_t highest = 0;
    for (size_t i = 0; i < g->count; i++)
        highest = g->items[i].rid > highest ? g->items[i].rid : highest;
    if (highest >= numbers)
        return sort(g, highest, error);
    spread(g, highest);
    return deadline_check(g->deadline, error);
}

/* make_room -- for one more item at least. */
static tansu_status make_room(gathering *g, tansu_error *error) {
    tansu_status status = g->count != 0 ? combine(g, error) : TANSU_OK;
    if (status != TANSU_OK || (g->capacity != 0 && g->count <= g->capacity / 2))
        return status;
    const size_t most = g->limit / (2 * sizeof *g->items);
    size_t capacity = g->capacity == 0 ? FEWEST_ITEMS : 2 * g->capacity;
    capacity = capacity < most ? capacity : most;
    /* With little room, all would be sorted for few that are new. */
    if (capacity - g->count <= capacity / 8)
        return error_set(error, TANSU_E_TOO_LARGE, "$text",
                         "The words that \"%s\" stands for are in too many documents; write more "
                         "of its characters, or raise \"group_memory_bytes\"",
                         g->node->text);
    if (capacity == g->capacity)
        return TANSU_OK;
    text_matches_item *items = realloc(g->items, capacity * sizeof *items);
    g->items = items ? items : g->items;
    text_matches_item *spare = items ? malloc(capacity * sizeof *spare) : NULL;
    if (!spare)
        return error_memory(error);
    free(g->spare);
    g->spare = spare;
    g->capacity = capacity;
    return TANSU_OK;
}

/* add_term -- the documents of a term. */
static tansu_status add_term(gathering *g, const text_reader *reader, const uint8_t *term,
                             size_t size, postings *p, tansu_error *error) {
    postings_end(p);
    tansu_status status = postings_begin(p, reader, term, size, error);
    while (status == TANSU_OK && p->rid != NO_RID) {
        if (g->count == g->capacity)
            status = make_room(g, error);
        if (status != TANSU_OK)
            break;
        g->items[g->count++] = (text_matches_item){p->rid, postings_weighted(p, g->node->fields)};
        status = postings_next(p, error);
    }
    return status;
}

/* finish -- the list of what was gathered. */
static tansu_status finish(gathering *g, text_matches *list, tansu_error *error) {
    tansu_status status = combine(g, error);
    if (status != TANSU_OK)
        return status;
    *list = (text_matches){.items = g->items, .documents = g->count};
    for (size_t i = 0; i < g->count; i++) {
        text_matches_item item = g->items[i];
        g->items[list->count] = item;
        list->count += item.weighted != 0;
        list->most = item.weighted > list->most ? item.weighted : list->most;
    }
    g->items = NULL;
    return TANSU_OK;
}

tansu_status text_matches_make(const text_reader *reader, const text_node *node, size_t limit,
                               const deadline *deadline, text_matches *list, tansu_buffer *only,
                               tansu_error *error) {
    text_matching m;
    postings p = {.rid = NO_RID};
    gathering g = {.node = node, .deadline = deadline, .limit = limit};
    *list = (text_matches){.items = NULL};
    only->size = 0;
    tansu_status status = text_matching_begin(&m, reader, node, deadline, error);
    if (status == TANSU_OK && m.terms.term) {
        if (!buffer_append(only, m.terms.term, m.terms.size))
            status = error_memory(error);
        else
            status = text_matching_next(&m, error);
    }
    if (status == TANSU_OK && m.terms.term) {
        status = add_term(&g, reader, only->data, only->size, &p, error);
        only->size = 0;
    }
    while (status == TANSU_OK && m.terms.term) {
        status = add_term(&g, reader, m.terms.term, m.terms.size, &p, error);
        if (status == TANSU_OK)
            status = text_matching_next(&m, error);
    }
    if (status == TANSU_OK && only->size == 0)
        status = finish(&g, list, error);
    postings_end(&p);
    text_matching_end(&m);
    free(g.items);
    free(g.spare);
    return status;
}
