/*
 * text/word_break.c -- the rules WB3 to WB16 of Unicode Standard Annex 29.
 */
#include "text/word_break.h"

#include "util/utf8.h"

#define LINE_ENDS (WORD_SET(WORD_CR) | WORD_SET(WORD_LF) | WORD_SET(WORD_NEWLINE))
#define LETTERS (WORD_SET(WORD_LETTER) | WORD_SET(WORD_HEBREW) | WORD_SET(WORD_HANGUL))
#define MID_NUM_LET (WORD_SET(WORD_MID_NUM_LET) | WORD_SET(WORD_SINGLE_QUOTE))
#define IN_LETTERS (WORD_SET(WORD_MID_LETTER) | MID_NUM_LET)
#define IN_NUMBERS (WORD_SET(WORD_MID_NUM) | MID_NUM_LET)
#define NUMERIC WORD_SET(WORD_NUMERIC)
#define KATAKANA WORD_SET(WORD_KATAKANA)
#define EXTEND_NUM_LET WORD_SET(WORD_EXTEND_NUM_LET)

/* read_class -- the class of the character at `*at`, as a set, and moves behind it. */
static uint32_t read_class(const uint8_t *text, size_t size, size_t *at) {
    uint32_t character = text[*at];
    if (character < 0x80) {
        ++*at;
        return WORD_SET(word_ascii_classes[character]);
    }
    size_t step = utf8_decode(text + *at, size - *at, &character);
    *at += step == 0 ? 1 : step;
    return WORD_SET(step == 0 ? WORD_OTHER : word_class_of(character));
}

/* followed_by -- whether the next character from `at` on that is not ignored is of one of the
 * classes. */
static bool followed_by(const uint8_t *text, size_t size, size_t at, uint32_t classes) {
    while (at < size) {
        uint32_t next = read_class(text, size, &at);
        if (!(next & WORD_IGNORED))
            return (next & classes) != 0;
    }
    return false;
}

/* joins -- whether a character is in one word with the one before, by the rules WB5 to WB13b; `at`
 * is behind it. *open: the next one belongs to the word too, since this one stands between two. */
static bool joins(uint32_t before, uint32_t next, const uint8_t *text, size_t size, size_t at,
                  bool *open) {
    const uint32_t word = LETTERS | NUMERIC;
    if ((before & word) && (next & word))
        return true;
    *open = ((before & LETTERS) && (next & IN_LETTERS) && followed_by(text, size, at, LETTERS)) ||
            ((before & NUMERIC) && (next & IN_NUMBERS) && followed_by(text, size, at, NUMERIC)) ||
            ((before & WORD_SET(WORD_HEBREW)) && (next & WORD_SET(WORD_DOUBLE_QUOTE)) &&
             followed_by(text, size, at, WORD_SET(WORD_HEBREW)));
    return *open || ((before & WORD_SET(WORD_HEBREW)) && (next & WORD_SET(WORD_SINGLE_QUOTE))) ||
           ((before & KATAKANA) && (next & KATAKANA)) ||
           ((before & (word | KATAKANA | EXTEND_NUM_LET)) && (next & EXTEND_NUM_LET)) ||
           ((before & EXTEND_NUM_LET) && (next & (word | KATAKANA)));
}

size_t word_end(const uint8_t *text, size_t size, size_t at, uint32_t *classes) {
    uint32_t before = read_class(text, size, &at), last = before;
    uint32_t regional = before & WORD_SET(WORD_REGIONAL) ? 1 : 0;
    bool open = false;
    *classes = before;
    while (at < size) {
        size_t end = at;
        uint32_t next = read_class(text, size, &at);
        bool join = open;
        if ((last | next) & LINE_ENDS) {
            join = last == WORD_SET(WORD_CR) && next == WORD_SET(WORD_LF);
        } else if (next & WORD_IGNORED) {
            last = next;
            *classes |= next;
            continue;
        } else if (last == WORD_SET(WORD_ZWJ) && next == WORD_SET(WORD_PICTOGRAPH)) {
            join = true;
        } else if (last == WORD_SET(WORD_SPACE) && next == WORD_SET(WORD_SPACE)) {
            join = true;
        } else if (before == next && next == WORD_SET(WORD_REGIONAL)) {
            join = regional++ % 2 == 1;
        } else if (!open) {
            join = joins(before, next, text, size, at, &open);
        } else {
            open = false;
        }
        if (!join)
            return end;
        before = last = next;
        *classes |= next;
    }
    return size;
}
