/*
 * query/text/text_matching.c -- finding terms.
 *
 * They are found in their order. Near ones are those whose row of the table of edit distances ends
 * with few enough; terms with the same beginning share the rows of its characters. Where a row has
 * only more, the next term that may be near is sought: once all edits are made, a term only goes on as
 * the word does.
 */
#include "query/text/text_matching.h"

#include "util/array.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

/* A character of the term before, which later terms may have as well. */
typedef struct edit_step {
    uint32_t character;
    uint32_t end;  /* its end in the term */
    uint8_t least; /* of the row */
} edit_step;

#define TERM_STEPS 128 /* between two checks of the deadline */

void text_matching_end(text_matching *m) {
    text_terms_end(&m->terms);
    tansu_buffer_free(&m->begin);
    tansu_buffer_free(&m->skipped);
    free(m->word);
    free(m->steps);
    free(m->rows);
}

/* decode_word -- the characters of a fuzzy word, and where those end that are to be as they are. */
static bool decode_word(text_matching *m, size_t *same) {
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

static uint8_t *row_of(const text_matching *m, size_t number) {
    return m->rows + number * (m->word_size + 1);
}

/* reserve_rows -- makes room for the rows of so many characters. */
static bool reserve_rows(text_matching *m, size_t count) {
    size_t size = (count + 1) * (m->word_size + 1);
    return ARRAY_RESERVE(m->rows, 0, m->row_capacity, size);
}

static uint8_t least(unsigned a, unsigned b) {
    return (uint8_t)(a < b ? a : b);
}

/* add_row -- the row after step number `i`: the distances of what the term has so far from each
 * beginning of the word, at most one more than are allowed. */
static void add_row(text_matching *m, size_t i) {
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

/* likely_after -- the least character behind another one that may follow so many steps where all edits
 * have been made: the word goes on with it, or has it before the last step's. False: there is none. */
static bool likely_after(const text_matching *m, size_t depth, uint32_t after, uint32_t *next) {
    const uint32_t *word = m->word, distance = m->node->distance;
    const uint8_t *row = row_of(m, depth), *before = depth > 0 ? row_of(m, depth - 1) : NULL;
    *next = UINT32_MAX;
    for (size_t j = 0; j < m->word_size; j++) {
        bool goes_on = row[j] <= distance;
        bool swapped = before && j + 1 < m->word_size && before[j] < distance &&
                       word[j + 1] == m->steps[depth - 1].character;
        if ((goes_on || swapped) && word[j] > after && word[j] < *next)
            *next = word[j];
    }
    return *next != UINT32_MAX;
}

/* skip -- makes m->skipped the least beginning that terms near the word may have behind that of the
 * current term which ends with the last step. False when memory is exhausted; none: it is empty. */
static bool skip(text_matching *m) {
    m->skipped.size = 0;
    for (size_t depth = m->step_count; depth-- > 0;) {
        uint32_t character = m->steps[depth].character, next = character + 1;
        bool open = depth == 0 || m->steps[depth - 1].least < m->node->distance;
        uint8_t bytes[4];
        if (!open && !likely_after(m, depth, character, &next))
            continue;
        /* There are no characters between these. */
        next = next == 0xD800 ? 0xE000 : next;
        if (next > 0x10FFFF)
            continue;
        size_t size = utf8_encode(next, bytes);
        return buffer_append(&m->skipped, m->terms.term, depth > 0 ? m->steps[depth - 1].end : 0) &&
               buffer_append(&m->skipped, bytes, size);
    }
    return true;
}

/* read_term -- the rows of the current term. *near: it is near the word. *dead: no term is that begins
 * with the steps that were made. False when memory is exhausted. */
static bool read_term(text_matching *m, bool *near, bool *dead) {
    const uint8_t *term = m->terms.term;
    size_t size = m->terms.size, depth = 0, at = 0;
    *near = *dead = false;
    while (at < size) {
        uint32_t character;
        size_t step = utf8_decode(term + at, size - at, &character);
        if (step == 0)
            return true;
        if (depth == m->step_count || m->steps[depth].character != character) {
            m->step_count = depth;
            if (!ARRAY_RESERVE(m->steps, depth, m->step_capacity, 1) || !reserve_rows(m, depth + 1))
                return false;
            m->steps[depth] = (edit_step){character, (uint32_t)(at + step), 0};
            add_row(m, depth);
            m->step_count = depth + 1;
        }
        at += step;
        *dead = m->steps[depth++].least > m->node->distance;
        if (*dead) {
            m->step_count = depth;
            return true;
        }
    }
    *near = row_of(m, depth)[m->word_size] <= m->node->distance;
    return true;
}

/* settle -- goes on from the current term to the first one of the leaf; m->terms.term is NULL at the
 * end. */
static tansu_status settle(text_matching *m, tansu_error *error) {
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && m->terms.term) {
        if (m->terms.size < m->begin.size ||
            (m->begin.size != 0 && memcmp(m->terms.term, m->begin.data, m->begin.size) != 0))
            m->terms.term = NULL;
        if (!m->terms.term || m->node->kind == TEXT_PREFIX)
            break;
        bool near, dead;
        if (++m->looked % TERM_STEPS == 0 &&
            (status = deadline_check(m->deadline, error)) != TANSU_OK)
            break;
        if (!read_term(m, &near, &dead))
            return error_memory(error);
        if (near)
            break;
        if (!dead) {
            status = text_terms_next(&m->terms, error);
            continue;
        }
        if (!skip(m))
            return error_memory(error);
        if (m->skipped.size == 0)
            m->terms.term = NULL;
        else
            status = text_terms_seek(&m->terms, m->reader, m->skipped.data, m->skipped.size, error);
    }
    return status;
}

tansu_status text_matching_begin(text_matching *m, const text_reader *reader, const text_node *node,
                                 const deadline *deadline, tansu_error *error) {
    const text_word *word = &node->words[0];
    size_t same = word->size;
    *m = (text_matching){.reader = reader, .node = node, .deadline = deadline};
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

tansu_status text_matching_next(text_matching *m, tansu_error *error) {
    tansu_status status = text_terms_next(&m->terms, error);
    return status == TANSU_OK ? settle(m, error) : status;
}
