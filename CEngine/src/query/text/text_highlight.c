/*
 * query/text/text_highlight.c -- the places of a text that a search finds, and its best snippets.
 *
 * The text is a document of one field. Its places are those of all leaves that are not excluded; a
 * snippet is a window of words that has most of them.
 */
#include "query/text/text_highlight.h"

#include "query/text/text_condition.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* A word has at most so many parts that a snippet looks for. */
#define PARTS 8

/* A place that a leaf is at: bytes, and the positions of its words. */
typedef struct text_mark {
    text_range range;
    uint32_t first, last;
    uint32_t leaf;
} text_mark;

typedef struct highlighter {
    const text_query *q;
    const text_highlight_options *options;
    text_document d;
    text_found found;
    text_mark *marks;
    uint32_t count, capacity;
    uint32_t *leaves; /* how often each leaf is in a window */
    tansu_error *error;
} highlighter;

void text_highlights_free(text_highlights *result) {
    free(result->ranges);
    *result = (text_highlights){.ranges = NULL};
}

/* ---- Places ---- */

static tansu_status too_many(const highlighter *h) {
    return error_set(h->error, TANSU_E_TOO_LARGE, "text",
                     "The search finds more than %d places in the text", TEXT_MAX_PLACES);
}

/* mark -- notes that a leaf is at these tokens, and at what is between them. */
static tansu_status mark(highlighter *h, const text_node *leaf, uint32_t from, uint32_t to) {
    const text_token *a = &h->d.tokens.items[from], *b = &h->d.tokens.items[to];
    if (h->count == TEXT_MAX_PLACES)
        return too_many(h);
    if (!ARRAY_RESERVE(h->marks, h->count, h->capacity, 1))
        return error_memory(h->error);
    uint32_t end = b->end > a->end ? b->end : a->end, most = h->options->words;
    uint32_t last =
        b->position - a->position < most || most == 0 ? b->position : a->position + most - 1;
    h->marks[h->count++] = (text_mark){{a->start, end}, a->position, last, leaf->number};
    return TANSU_OK;
}

/* mark_phrase -- each place of a phrase, from the first word to the last. */
static tansu_status mark_phrase(highlighter *h, const text_node *leaf,
                                const uint32_t *const *positions, const uint32_t *counts) {
    const text_slot *slots = h->found.slots;
    uint32_t end = leaf->word_count - 1;
    text_walk w = {.first = 0};
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && text_next(leaf, positions, counts, &w))
        status = mark(h, leaf, slots[leaf->words[0].slot].tokens[w.at[0]],
                      slots[leaf->words[end].slot].tokens[w.at[end]]);
    return status;
}

/* mark_near -- each word of the places where all are near one another, once. */
static tansu_status mark_near(highlighter *h, const text_node *leaf,
                              const uint32_t *const *positions, const uint32_t *counts) {
    const text_word *words = leaf->words;
    uint32_t marked[TEXT_MAX_PHRASE] = {0};
    text_walk w = {.first = 0};
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && text_next(leaf, positions, counts, &w)) {
        uint32_t last = positions[0][w.at[0]] + leaf->within;
        for (uint32_t i = 0; status == TANSU_OK && i < leaf->word_count; i++) {
            uint32_t at = w.at[i] > marked[i] ? w.at[i] : marked[i], end = w.at[i] + 1;
            /* Without an order every place within the distance is one, and of equal words one has
             * them all: that after the first word of the leaf, or the first one. */
            bool every = !leaf->ordered && i > 0;
            if (every && words[i].position > (words[i].slot == words[0].slot))
                continue;
            for (; status == TANSU_OK && at < counts[i] &&
                   (every ? positions[i][at] <= last : at < end);
                 at++) {
                uint32_t token = h->found.slots[words[i].slot].tokens[at];
                status = mark(h, leaf, token, token);
            }
            marked[i] = at > marked[i] ? at : marked[i];
        }
    }
    return status;
}

/* mark_leaf -- each place of a leaf. */
static tansu_status mark_leaf(highlighter *h, const text_node *leaf) {
    const uint32_t *positions[TEXT_MAX_PHRASE];
    uint32_t counts[TEXT_MAX_PHRASE];
    const text_slot *slot = &h->found.slots[leaf->words[0].slot];
    tansu_status status = TANSU_OK;
    text_positions(leaf, &h->found, positions, counts);
    if (leaf->kind == TEXT_PHRASE)
        return mark_phrase(h, leaf, positions, counts);
    if (leaf->kind == TEXT_NEAR)
        return mark_near(h, leaf, positions, counts);
    for (uint32_t i = 0; status == TANSU_OK && i < slot->count; i++)
        status = mark(h, leaf, slot->tokens[i], slot->tokens[i]);
    return status;
}

/* mark_node -- the places of all leaves of a tree that are not excluded. */
static tansu_status mark_node(highlighter *h, const text_node *node) {
    tansu_status status = TANSU_OK;
    if (node->kind < TEXT_ALL)
        return mark_leaf(h, node);
    for (uint32_t i = 0; status == TANSU_OK && i < node->child_count; i++)
        status = mark_node(h, node->children[i]);
    for (uint32_t i = 0; status == TANSU_OK && i < node->optional_count; i++)
        status = mark_node(h, node->optional[i]);
    return status;
}

/* compare_marks -- for qsort(). Positions ascend with bytes. */
static int compare_marks(const void *a, const void *b) {
    const text_mark *x = a, *y = b;
    if (x->range.start != y->range.start)
        return x->range.start < y->range.start ? -1 : 1;
    return x->range.end < y->range.end ? -1 : x->range.end > y->range.end;
}

/* merge_marks -- the ranges, of the sorted marks. */
static tansu_status merge_marks(const highlighter *h, text_highlights *result) {
    uint32_t count = 0;
    result->ranges = h->count != 0 ? malloc(h->count * sizeof *result->ranges) : NULL;
    if (h->count != 0 && !result->ranges)
        return error_memory(h->error);
    for (uint32_t i = 0; i < h->count; i++) {
        const text_range *range = &h->marks[i].range;
        if (count == 0 || range->start >= result->ranges[count - 1].end)
            result->ranges[count++] = *range;
        else if (range->end > result->ranges[count - 1].end)
            result->ranges[count - 1].end = range->end;
    }
    result->count = count;
    return TANSU_OK;
}

/* ---- Snippets ---- */

/* A window of words. */
typedef struct text_window {
    uint32_t first, end; /* positions */
} text_window;

/* The marks of a window, and how many leaves they are of. */
typedef struct text_best {
    uint32_t from, to, leaves;
} text_best;

/* seek_window -- finds the best window between two positions, from its first mark to its last. The
 * marks from number *at on are those that begin there or later; *at is set to the first that does not
 * begin before `high`. */
static void seek_window(highlighter *h, uint32_t *at, uint32_t low, uint32_t high,
                        text_best *best) {
    uint32_t from = *at, to, leaves = 0;
    while (from < h->count && h->marks[from].first < low)
        from++;
    memset(h->leaves, 0, h->q->leaves * sizeof *h->leaves);
    for (to = from; from < h->count && h->marks[from].first < high; from++) {
        const text_mark *first = &h->marks[from];
        uint32_t limit =
            high - first->first > h->options->words ? first->first + h->options->words : high;
        for (; to < h->count && h->marks[to].last < limit; to++)
            leaves += h->leaves[h->marks[to].leaf]++ == 0;
        if (to == from) { /* it does not fit in before `high` */
            to++;
            continue;
        }
        if (leaves > best->leaves || (leaves == best->leaves && to - from > best->to - best->from))
            *best = (text_best){from, to, leaves};
        leaves -= --h->leaves[first->leaf] == 0;
    }
    *at = from;
}

/* token_at -- the number of the first token at a position or behind it. */
static size_t token_at(const text_tokens *tokens, uint32_t position) {
    size_t low = 0, high = tokens->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tokens->items[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* is_near -- whether a word of several parts that ends at a position may begin with a token. */
static bool is_near(const text_token *token, uint32_t position) {
    return token->position + PARTS > position;
}

/* is_edge -- whether no word goes on from before a position to it. */
static bool is_edge(const highlighter *h, uint32_t position) {
    const text_token *items = h->d.tokens.items;
    size_t at = token_at(&h->d.tokens, position);
    for (size_t i = at; at < h->d.tokens.count && i > 0 && is_near(&items[i - 1], position); i--)
        if (items[i - 1].end > items[at].start &&
            !text_is_unit(h->d.strings[0].bytes, &items[i - 1]))
            return false;
    return true;
}

/* widen -- gives a window its number of words, as many before as behind where there is room, and then
 * the other parts of words that it has parts of. */
static void widen(const highlighter *h, text_window *window, uint32_t low, uint32_t high) {
    uint32_t most = h->options->words, spare = most - (window->end - window->first);
    uint32_t before = window->first - low < spare / 2 ? window->first - low : spare / 2;
    uint32_t behind = high - window->end;
    if (behind < spare - before) {
        before = spare - behind < window->first - low ? spare - behind : window->first - low;
        window->end = high;
    } else {
        window->end += spare - before;
    }
    window->first -= before;
    while (window->first > low && !is_edge(h, window->first))
        window->first--;
    while (window->end < high && !is_edge(h, window->end))
        window->end++;
}

/* choose_windows -- the best windows, one after the other, in the order of the text. */
static uint32_t choose_windows(highlighter *h, text_window *windows) {
    uint32_t count = 0, words = h->d.tokens.positions;
    while (count < h->options->snippets) {
        text_best best = {0, 0, 0};
        uint32_t at = 0, place = 0;
        for (uint32_t i = 0; i <= count; i++) {
            text_best before = best;
            seek_window(h, &at, i == 0 ? 0 : windows[i - 1].end,
                        i == count ? words : windows[i].first, &best);
            place = best.to != before.to || best.from != before.from ? i : place;
        }
        if (best.leaves == 0)
            break;
        text_window window = {h->marks[best.from].first, 0};
        for (uint32_t i = best.from; i < best.to; i++)
            window.end = h->marks[i].last >= window.end ? h->marks[i].last + 1 : window.end;
        widen(h, &window, place == 0 ? 0 : windows[place - 1].end,
              place == count ? words : windows[place].first);
        memmove(windows + place + 1, windows + place, (count++ - place) * sizeof *windows);
        windows[place] = window;
    }
    return count;
}

/* bytes_of -- the bytes of a window. */
static text_range bytes_of(const text_tokens *tokens, const text_window *window) {
    const text_token *items = tokens->items;
    size_t first = token_at(tokens, window->first), end = token_at(tokens, window->end);
    text_range range = {items[first].start, 0};
    for (size_t i = end; i > first && (range.end == 0 || is_near(&items[i - 1], window->end)); i--)
        if (items[i - 1].end > range.end)
            range.end = items[i - 1].end;
    /* A pair of characters may go on behind the window. */
    if (end < tokens->count && items[end].start < range.end)
        range.end = items[end].start;
    return range;
}

/* choose_snippets -- the bytes of the best windows. */
static tansu_status choose_snippets(highlighter *h, text_highlights *result) {
    text_window windows[TEXT_MAX_SNIPPETS];
    if (h->options->snippets == 0 || h->count == 0)
        return TANSU_OK;
    h->leaves = malloc(h->q->leaves * sizeof *h->leaves);
    if (!h->leaves)
        return error_memory(h->error);
    result->snippet_count = choose_windows(h, windows);
    for (uint32_t i = 0; i < result->snippet_count; i++)
        result->snippets[i] = bytes_of(&h->d.tokens, &windows[i]);
    return TANSU_OK;
}

/* ---- The text ---- */

/* read_text -- makes the text the only string of a document. */
static tansu_status read_text(highlighter *h, const uint8_t *text, size_t size,
                              const char *language) {
    text_document *d = &h->d;
    text_analyzer *analyzer;
    tansu_status status = text_document_analyzer(d, language, &analyzer, h->error);
    if (status != TANSU_OK)
        return status;
    if (!ARRAY_RESERVE(d->strings, 0, d->string_capacity, 1) ||
        !text_analyze(analyzer, text, size, TEXT_INDEX, &d->tokens))
        return error_memory(h->error);
    d->string_count = 1;
    d->strings[0] = (text_string){text, (uint32_t)size, 0, 0, (uint32_t)d->tokens.count};
    return TANSU_OK;
}

tansu_status text_highlight(const uint8_t *text, size_t size, const uint8_t *search,
                            size_t search_size, const text_highlight_options *options,
                            text_highlights *result, tansu_error *error) {
    highlighter h = {.options = options, .error = error};
    arena memory = {.chunks = NULL};
    text_index index = {.weights = {1}};
    index_definition definition = {.path_count = 1, .text = &index};
    const text_target target = {options->path};
    text_condition *condition;
    text_query *q = NULL;
    *result = (text_highlights){.ranges = NULL};
    tansu_status status = text_query_parse(search, search_size, &memory, &condition, error);
    const char *language = options->language;
    if (status == TANSU_OK && !language)
        language = condition->language ? condition->language : "none";
    if (status == TANSU_OK)
        status = read_text(&h, text, size, language);
    if (status == TANSU_OK)
        (void)strncpy(index.language, language, TEXT_MAX_LANGUAGE);
    if (status == TANSU_OK)
        status = text_query_bind_to(condition, &definition, &target, &h.d, &memory, &q, error);
    h.q = q;
    if (status == TANSU_OK && !text_find(q, &h.d, 0, 1, true, &h.found))
        status = h.found.full ? too_many(&h) : error_memory(error);
    if (status == TANSU_OK)
        status = mark_node(&h, q->root);
    if (status == TANSU_OK && h.count != 0)
        qsort(h.marks, h.count, sizeof *h.marks, compare_marks);
    if (status == TANSU_OK)
        status = merge_marks(&h, result);
    if (status == TANSU_OK)
        status = choose_snippets(&h, result);
    free(h.leaves);
    free(h.marks);
    text_found_free(&h.found);
    text_document_free(&h.d);
    arena_free(&memory);
    return status;
}
