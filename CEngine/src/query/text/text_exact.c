/*
 * query/text/text_exact.c -- comparing words with their letter case, their accents, or both.
 *
 * Terms have neither. So words are compared as they were written, without stems.
 */
#include "query/text/text_condition.h"

#include "bson/case_foldings.h"
#include "text/fold.h"
#include "text/word_class.h"
#include "util/utf8.h"

/* is_mark -- whether a character belongs to the one before. */
static bool is_mark(uint32_t character) {
    return (WORD_SET(word_class_of(character)) & WORD_IGNORED) != 0;
}

size_t text_cut(const uint8_t *word, size_t size, uint32_t most, uint32_t *count) {
    size_t at = 0;
    *count = 0;
    while (at < size) {
        uint32_t c;
        size_t step = utf8_decode(word + at, size - at, &c);
        if (!is_mark(c) && (*count)++ == most) {
            *count = most;
            break;
        }
        at += step;
    }
    return at;
}

/* put_case -- appends for each letter of the folded word whether it was changed. */
static bool put_case(tansu_buffer *out, const uint8_t *word, size_t size) {
    uint32_t folded[CASE_FOLDING_MOST], characters = 0;
    for (size_t at = 0; at < size && characters < WORD_CHARACTERS_MAX; characters++) {
        uint32_t c, letters = 0;
        size_t before = out->size, step = utf8_decode(word + at, size - at, &c);
        uint8_t changed = case_folding(c, folded) != 0;
        if (!is_mark(c) && !fold_word(out, word + at, step, FOLD_ALL))
            return false;
        for (size_t i = before; i < out->size; i++)
            letters += (out->data[i] & 0xC0) != 0x80;
        if (letters != 0)
            memset(out->data + before, changed, letters);
        out->size = before + letters;
        at += step;
    }
    return true;
}

bool text_exact_form(tansu_buffer *out, const uint8_t *word, size_t size, bool case_sensitive,
                     bool diacritic_sensitive) {
    return fold_word(out, word, size, diacritic_sensitive ? FOLD_CASE : FOLD_ALL) &&
           (!case_sensitive || (buffer_append_byte(out, 0xFF) && put_case(out, word, size)));
}
