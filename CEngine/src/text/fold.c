/*
 * text/fold.c -- folding words, character by character.
 */
#include "text/fold.h"

#include "bson/case_foldings.h"
#include "text/plain_letters.h"
#include "text/word_class.h"
#include "util/utf8.h"

/* is_accent -- whether a mark does not distinguish words. Marks of other scripts are vowels. */
static bool is_accent(uint32_t c) {
    return (c >= 0x0300 && c <= 0x036F) || /* Latin, Greek, Cyrillic */
           (c >= 0x0591 && c <= 0x05C7 && c != 0x05BE && c != 0x05C0 && c != 0x05C3 &&
            c != 0x05C6) || /* Hebrew points */
           (c >= 0x064B && c <= 0x0655) ||
           c == 0x0670 || /* Arabic vowels and hamzas */
           c == 0x0640 || /* Arabic lengthening */
           (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
           (c >= 0x20D0 && c <= 0x20F0) || (c >= 0xFE20 && c <= 0xFE2F);
}

/* is_invisible -- whether a character only says how others are shown: soft hyphens, joiners,
 * variation selectors. */
static bool is_invisible(uint32_t c) {
    return word_class_of(c) == WORD_FORMAT || c == 0x200C || c == 0x200D ||
           (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
}

/* composed_syllable -- a Korean syllable of what stands before and a vowel or a final consonant; 0:
 * they make none. The Unicode Standard, section 3.12. */
static uint32_t composed_syllable(uint32_t before, uint32_t c) {
    if (before >= 0x1100 && before <= 0x1112 && c >= 0x1161 && c <= 0x1175)
        return 0xAC00 + ((before - 0x1100) * 21 + (c - 0x1161)) * 28;
    if (before >= 0xAC00 && before <= 0xD7A3 && (before - 0xAC00) % 28 == 0 && c >= 0x11A8 &&
        c <= 0x11C2)
        return before + (c - 0x11A7);
    return 0;
}

/* composed_kana -- a letter of Hiragana or Katakana with the voiced or the semi-voiced mark; 0: there
 * is none. */
static uint32_t composed_kana(uint32_t letter, uint32_t mark) {
    uint32_t hiragana = letter >= 0x30A1 ? letter - 0x60 : letter;
    bool voiced = mark == 0x3099;
    bool row_h = hiragana >= 0x306F && hiragana <= 0x307B && (hiragana - 0x306F) % 3 == 0;
    if (mark != 0x3099 && mark != 0x309A)
        return 0;
    if (row_h)
        return letter + (voiced ? 1 : 2);
    if (voiced && ((hiragana >= 0x304B && hiragana <= 0x3061 && hiragana % 2 == 1) ||
                   hiragana == 0x3064 || hiragana == 0x3066 || hiragana == 0x3068))
        return letter + 1;
    if (voiced && hiragana == 0x3046)
        return letter + 0x4E;
    return voiced && letter >= 0x30EF && letter <= 0x30F2 ? letter + 8
           : voiced && letter == 0x30FD                   ? 0x30FE
           : voiced && letter == 0x309D                   ? 0x309E
                                                          : 0;
}

/* A word that is written. */
typedef struct folding {
    tansu_buffer *out;
    enum fold_form form;
    uint32_t last;  /* the last character that was written; 0: none */
    size_t last_at; /* where it begins */
} folding;

/* put -- writes a folded character, or composes it with the last one. */
static bool put(folding *f, uint32_t c) {
    uint32_t composed = 0;
    uint8_t bytes[4];
    if (f->last != 0)
        composed = composed_syllable(f->last, c);
    if (composed == 0 && f->last != 0)
        composed = composed_kana(f->last, c);
    if (composed == 0 && f->last != 0 && f->form == FOLD_CASE)
        composed = composed_letter(f->last, c);
    if (composed != 0)
        f->out->size = f->last_at;
    f->last = composed != 0 ? composed : c;
    f->last_at = f->out->size;
    return buffer_append(f->out, bytes, utf8_encode(f->last, bytes));
}

/* fold_character -- writes the folding of a character. */
static bool fold_character(folding *f, uint32_t c) {
    uint32_t folded[CASE_FOLDING_MOST], letters[PLAIN_LETTERS_MOST];
    /* Stemmers know the small letters ß, ΐ, ΰ and և, whose foldings are longer. */
    bool kept = f->form == FOLD_CASE && (c == 0x00DF || c == 0x0390 || c == 0x03B0 || c == 0x0587);
    uint32_t count = kept ? 0 : case_folding(c, folded);
    bool fine = true;
    if (count == 0)
        folded[count++] = c;
    for (uint32_t i = 0; fine && i < count; i++) {
        uint32_t plain = 0;
        if (word_is_apostrophe(folded[i]))
            folded[i] = '\'';
        /* Joiners are part of words in scripts of India and Nepal. */
        bool joiner = f->form == FOLD_CASE && (folded[i] == 0x200C || folded[i] == 0x200D);
        if ((is_invisible(folded[i]) && !joiner) || (f->form == FOLD_ALL && is_accent(folded[i])))
            continue;
        if (f->form == FOLD_ALL)
            plain = plain_letters(folded[i], letters);
        if (plain == 0)
            letters[plain++] = folded[i];
        for (uint32_t j = 0; fine && j < plain; j++)
            fine = put(f, letters[j]);
    }
    return fine;
}

bool fold_word(tansu_buffer *out, const uint8_t *word, size_t size, enum fold_form form) {
    folding f = {.out = out, .form = form};
    uint32_t count = 0;
    if (!buffer_reserve(out, size))
        return false;
    for (size_t at = 0; at < size && count < WORD_CHARACTERS_MAX; count++) {
        uint32_t c = word[at];
        if (c >= 0x80) {
            at += utf8_decode(word + at, size - at, &c);
            if (!fold_character(&f, c))
                return false;
            continue;
        }
        at++;
        f.last = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
        f.last_at = out->size;
        if (!buffer_append_byte(out, (uint8_t)f.last))
            return false;
    }
    return true;
}
