/*
 * text/word_class.h -- the class of a character by which text is divided into words: its
 * Word_Break property (Unicode Standard Annex 29, table 3), with the letters of scripts without
 * spaces told apart.
 */
#ifndef TANSU_TEXT_WORD_CLASS_H
#define TANSU_TEXT_WORD_CLASS_H

#include <stdbool.h>
#include <stdint.h>

/* Hangul is of Annex 29's class ALetter; ideographs, letters of complex scripts and emoji are of its
 * class Other. */
enum word_class {
    WORD_OTHER,
    WORD_LETTER,
    WORD_HEBREW,
    WORD_HANGUL,
    WORD_NUMERIC,
    WORD_KATAKANA,
    WORD_IDEOGRAPH,  /* also Hiragana */
    WORD_COMPLEX,    /* letters of Thai, Lao, Khmer, Burmese and others */
    WORD_PICTOGRAPH, /* emoji */
    WORD_EXTEND_NUM_LET,
    WORD_MID_LETTER,
    WORD_MID_NUM,
    WORD_MID_NUM_LET,
    WORD_SINGLE_QUOTE,
    WORD_DOUBLE_QUOTE,
    WORD_REGIONAL,
    WORD_EXTEND,
    WORD_FORMAT,
    WORD_ZWJ,
    WORD_SPACE,
    WORD_CR,
    WORD_LF,
    WORD_NEWLINE
};

/* A set of classes. */
#define WORD_SET(class) (1u << (class))

/* What the rules look through (WB4): it belongs to the character before. */
#define WORD_IGNORED (WORD_SET(WORD_EXTEND) | WORD_SET(WORD_FORMAT) | WORD_SET(WORD_ZWJ))

/* Scripts without spaces between words, of which each character is a term. */
#define WORD_UNITS                                                                \
    (WORD_SET(WORD_HANGUL) | WORD_SET(WORD_KATAKANA) | WORD_SET(WORD_IDEOGRAPH) | \
     WORD_SET(WORD_COMPLEX))

/* The classes of ASCII. */
extern const uint8_t word_ascii_classes[128];

/* word_class_of_other -- the class of a character that is not ASCII. */
enum word_class word_class_of_other(uint32_t character);

/* word_class_of -- the class of a character. */
static inline enum word_class word_class_of(uint32_t character) {
    return character < 0x80 ? (enum word_class)word_ascii_classes[character]
                            : word_class_of_other(character);
}

/* word_is_apostrophe -- whether a character is one, which stands in words of many languages. */
static inline bool word_is_apostrophe(uint32_t character) {
    return character == '\'' || character == 0x2018 || character == 0x2019 || character == 0xFF07;
}

#endif
