/*
 * query/text/text_list.c -- the documents of all terms that begin with a prefix, or are near a word.
 *
 * The terms are found in their order. Near ones are those whose row of the table of edit distances
 * ends with few enough; terms with the same beginning share the rows of its characters, and where
 * a row has only more, all terms with that beginning are passed over.
 *
 * The documents of the terms are gathered one term after the other. When the memory is used up, or
 * at the end, they are sorted, and those of the same document become one. The memory grows where that
 * leaves more than half of them.
 */
#include "query/text/text_search_internal.h"

#include "util/array.h"
#include "util/error.h"
#include "util/utf8.h"

/* ---- The terms ---- */

/* A character of the term before, which later terms may have as well. */
typedef struct edit_step {
    uint32_t character;
    uint32_t end;  /* its end in the term */
    uint8_t least; /* of the row */
} edit_step;

#define TERM_STEPS 128 /* between two checks of the deadline */

/* The terms of a leaf, one after the other. */
typedef struct matching_terms {
    const text_reader *reader;
    const text_node *node;
    const deadline *deadline;
    uint32_t looked; /* at so many terms */
    text_terms terms;
    tansu_buffer begin; /* of all of them */
    /* FUZZY. */
    uint32_t *word; /* its characters */
    size_t word_size, word_capacity;
    edit_step *steps; /* of the term before, as far as it was read */
    size_t step_count, step_capacity;
    uint8_t *rows; /* of the table of edit distances: one before the first step, one after each */
    size_t row_capacity;
    tansu_buffer skipped; /* the last of what all terms with the beginning are less than */
} matching_terms;

static void terms_end(matching_terms *m) {
    text_terms_end(&m->terms);
    tansu_buffer_free(&m->begin);
    tansu_buffer_free(&m->skipped);
    free(m->word);
    free(m->steps);
    free(m->rows);
}

/* decode_word -- the characters of a fuzzy word, and where those end that are to be as they are. */
static bool decode_word(matching_terms *m, size_t *same) {
    const text_word *word = &m->node->words[0];
    *same = 0;
    for (size_t at = 0; at < word->size;) {
        uint32_t character;
        size_t step = utf8_decode(word->bytes + at, word->size - at, &character);
        if (step == 0)
            break;
        if (!ARRAY_RESERVE(m->word, m->word_size, m->word_capacity, 1))
            return false;
        m->word[m->word_size++] = character;
        at += step;
        if (m->word_size <= m->node->same)
            *same = at;
    }
    return true;
}

static uint8_t *row_of(const matching_terms *m, size_t number) {
    return m->rows + number * (m->word_size + 1);
}

/* reserve_rows -- makes room for the rows of so many characters. */
static bool reserve_rows(matching_terms *m, size_t count) {
    size_t size = (count + 1) * (m->word_size + 1);
    return ARRAY_RESERVE(m->rows, 0, m->row_capacity, size);
}

static uint8_t least(unsigned a, unsigned b) {
    return (uint8_t)(a < b ? a : b);
}

/* add_row -- the row after step number `i`: the distances of what the term has so far from each
 * beginning of the word, at most one more than are allowed. */
static void add_row(matching_terms *m, size_t i) {
    const uint32_t *word = m->word, character = m->steps[i].character;
    const uint8_t *above = row_of(m, i), *before = i > 0 ? row_of(m, i - 1) : NULL;
    uint8_t *row = row_of(m, i + 1), far = (uint8_t)(m->node->distance + 1);
    row[0] = least(above[0] + 1u, far);
    m->steps[i].least = row[0];
    for (size_t j = 1; j <= m->word_size; j++) {
        uint8_t d =
            least(above[j - 1] + (word[j - 1] != character), least(above[j], row[j - 1]) + 1u);
        if (before && j > 1 && word[j - 2] == character && word[j - 1] == m->steps[i - 1].character)
            d = least(d, before[j - 2] + 1u);
        row[j] = least(d, far);
        m->steps[i].least = least(m->steps[i].least, row[j]);
    }
}

/* read_term -- the rows of the current term; *near: it is near the word. *dead: how many of its
 * bytes no near term begins with; 0: there may be near ones behind it. */
static bool read_term(matching_terms *m, bool *near, size_t *dead) {
    const uint8_t *term = m->terms.term;
    size_t size = m->terms.size, depth = 0, at = 0;
    bool shared = true;
    *near = false;
    *dead = 0;
    while (at < size) {
        uint32_t character;
        size_t step = utf8_decode(term + at, size - at, &character);
        if (step == 0)
            return true;
        shared = shared && depth < m->step_count && m->steps[depth].character == character;
        if (!shared) {
            m->step_count = depth;
            if (!ARRAY_RESERVE(m->steps, depth, m->step_capacity, 1) || !reserve_rows(m, depth + 1))
                return false;
            m->steps[depth] = (edit_step){character, (uint32_t)(at + step), 0};
            add_row(m, depth);
            m->step_count = depth + 1;
        }
        at += step;
        if (m->steps[depth++].least > m->node->distance) {
            *dead = at;
            return true;
        }
    }
    *near = row_of(m, depth)[m->word_size] <= m->node->distance;
    return true;
}

/* settle -- goes on from the current term to the first one of the leaf; m->terms.term is NULL at the
 * end. */
static tansu_status settle(matching_terms *m, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && m->terms.term) {
        if (m->terms.size < m->begin.size ||
            (m->begin.size != 0 && memcmp(m->terms.term, m->begin.data, m->begin.size) != 0))
            m->terms.term = NULL;
        if (!m->terms.term || m->node->kind == TEXT_PREFIX)
            break;
        bool near;
        size_t dead;
        if (++m->looked % TERM_STEPS == 0 &&
            (status = deadline_check(m->deadline, error)) != TANSU_OK)
            break;
        if (!read_term(m, &near, &dead))
            return error_memory(error);
        if (near)
            break;
        if (dead == 0) {
            status = text_terms_next(&m->terms, error);
            continue;
        }
        /* No byte of UTF-8 is 0xFF. */
        if (!buffer_set(&m->skipped, m->terms.term, dead))
            return error_memory(error);
        m->skipped.data[dead - 1]++;
        status = text_terms_seek(&m->terms, m->reader, m->skipped.data, dead, error);
    }
    return status;
}

/* terms_begin -- to the first term of a leaf. */
static tansu_status terms_begin(matching_terms *m, const text_reader *reader, const text_node *node,
                                const deadline *deadline, tansu_error *error) {
    const text_word *word = &node->words[0];
    size_t same = word->size;
    *m = (matching_terms){.reader = reader, .node = node, .deadline = deadline};
    if (node->kind == TEXT_FUZZY) {
        if (!decode_word(m, &same) || !reserve_rows(m, 0))
            return error_memory(error);
        for (size_t j = 0; j <= m->word_size; j++)
            m->rows[j] = least((unsigned)j, node->distance + 1);
    }
    if (!buffer_append(&m->begin, word->bytes, same))
        return error_memory(error);
    tansu_status status = text_terms_seek(&m->terms, reader, m->begin.data, m->begin.size, error);
    return status == TANSU_OK ? settle(m, error) : status;
}

static tansu_status terms_next(matching_terms *m, tansu_error *error) {
    tansu_status status = text_terms_next(&m->terms, error);
    return status == TANSU_OK ? settle(m, error) : status;
}

/* ---- Their documents ---- */

typedef struct gathering {
    const text_node *node;
    const deadline *deadline;
    size_t limit; /* bytes */
    text_list_item *items, *spare;
    size_t count, capacity; /* of both */
} gathering;

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define FEWEST_ITEMS 1024

/* sort_digit -- a pass of a radix sort, into the spare memory, which then is the other one. */
static void sort_digit(gathering *g, unsigned shift) {
    size_t starts[DIGITS] = {0}, sum = 0;
    text_list_item *from = g->items, *to = g->spare;
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
        text_list_item item = g->items[i];
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
            g->items[g->count++] = (text_list_item){rid, numbers[rid] / 2};
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
    size_t capacity = g->capacity == 0 ? FEWEST_ITEMS : 2 * g->capacity;
    if (capacity > g->limit / (2 * sizeof *g->items))
        return error_set(error, TANSU_E_TOO_LARGE, "$text",
                         "The words that \"%s\" stands for are in too many documents; write more "
                         "of its characters, or raise \"group_memory_bytes\"",
                         g->node->text);
    text_list_item *items = realloc(g->items, capacity * sizeof *items);
    g->items = items ? items : g->items;
    text_list_item *spare = items ? malloc(capacity * sizeof *spare) : NULL;
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
    while (status == TANSU_OK && p->rid != TEXT_NO_RID) {
        if (g->count == g->capacity)
            status = make_room(g, error);
        if (status != TANSU_OK)
            break;
        g->items[g->count++] = (text_list_item){p->rid, postings_weighted(p, g->node->fields)};
        status = postings_next(p, error);
    }
    return status;
}

/* finish -- the list of what was gathered. */
static tansu_status finish(gathering *g, text_list *list, tansu_error *error) {
    tansu_status status = combine(g, error);
    if (status != TANSU_OK)
        return status;
    *list = (text_list){.items = g->items, .documents = g->count};
    for (size_t i = 0; i < g->count; i++) {
        text_list_item item = g->items[i];
        g->items[list->count] = item;
        list->count += item.weighted != 0;
        list->most = item.weighted > list->most ? item.weighted : list->most;
    }
    g->items = NULL;
    return TANSU_OK;
}

tansu_status text_list_make(const text_reader *reader, const text_node *node, size_t limit,
                            const deadline *deadline, text_list *list, tansu_buffer *only,
                            tansu_error *error) {
    matching_terms m;
    postings p = {.rid = TEXT_NO_RID};
    gathering g = {.node = node, .deadline = deadline, .limit = limit};
    *list = (text_list){.items = NULL};
    only->size = 0;
    tansu_status status = terms_begin(&m, reader, node, deadline, error);
    if (status == TANSU_OK && m.terms.term) {
        if (!buffer_append(only, m.terms.term, m.terms.size))
            status = error_memory(error);
        else
            status = terms_next(&m, error);
    }
    if (status == TANSU_OK && m.terms.term) {
        status = add_term(&g, reader, only->data, only->size, &p, error);
        only->size = 0;
    }
    while (status == TANSU_OK && m.terms.term) {
        status = add_term(&g, reader, m.terms.term, m.terms.size, &p, error);
        if (status == TANSU_OK)
            status = terms_next(&m, error);
    }
    if (status == TANSU_OK && only->size == 0)
        status = finish(&g, list, error);
    postings_end(&p);
    terms_end(&m);
    free(g.items);
    free(g.spare);
    return status;
}
