/*
 * test_word_break.c -- words of text: Unicode's own cases, and the classes of all characters next to
 * their categories in utf8proc.
 */
#include "support/check.h"
#include "support/random/random.h"
#include "support/repo_file.h"
#include "text/word_break.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#define VECTORS "CEngine/tests/vectors/unicode/WordBreakTest.txt.gz"
#define ROUNDS 20000

/* One line of the vectors: characters and the breaks between them. */
typedef struct word_case {
    uint8_t text[256];
    size_t size;
    size_t breaks[64];
    size_t count;
} word_case;

/* read_case -- reads a line, "÷ 0061 × 0062 ÷"; false for a comment. */
static bool read_case(char *line, word_case *c) {
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    *c = (word_case){.size = 0};
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (strcmp(word, "÷") == 0)
            c->breaks[c->count++] = c->size;
        else if (strcmp(word, "×") != 0)
            c->size += utf8_encode((uint32_t)strtoul(word, NULL, 16), c->text + c->size);
    }
    return c->size != 0;
}

/* breaks_as_unicode_does -- the cases of WordBreakTest.txt. */
static void breaks_as_unicode_does(void) {
    size_t size;
    char *file = repo_file_inflate(VECTORS, &size), *rest = NULL;
    unsigned cases = 0;
    for (char *line = strtok_r(file, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        word_case c;
        uint32_t classes;
        size_t at = 0, count = 0;
        if (!read_case(line, &c))
            continue;
        cases++;
        CHECK_INT(0, c.breaks[count++]);
        while (at < c.size && count < c.count) {
            at = word_end(c.text, c.size, at, &classes);
            if (!CHECK_INT(c.breaks[count++], at))
                check_note("%s", line);
        }
        CHECK_INT(c.size, at);
        CHECK_INT(c.count, count);
    }
    CHECK_INT(1823, cases);
    free(file);
}

/* is_possible -- whether characters of a category may have a class. */
static bool is_possible(utf8proc_category_t category, enum word_class class) {
    switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return class == WORD_LETTER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return (class >= WORD_LETTER && class <= WORD_COMPLEX && class != WORD_NUMERIC) ||
               class == WORD_EXTEND; /* two marks of narrow Katakana are Lm */
    case UTF8PROC_CATEGORY_ND: return class == WORD_NUMERIC;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return class == WORD_EXTEND;
    default: return class != WORD_HEBREW && class != WORD_COMPLEX;
    }
}

/* knows_every_character -- none of the letters, digits and marks of Unicode has a class that they
 * cannot have. */
static void knows_every_character(void) {
    unsigned letters = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        utf8proc_category_t category =
            (utf8proc_category_t)utf8proc_get_property((utf8proc_int32_t)c)->category;
        enum word_class class = word_class_of(c);
        letters += class >= WORD_LETTER && class <= WORD_COMPLEX;
        if (category != UTF8PROC_CATEGORY_CN && !CHECK(is_possible(category, class)))
            check_note("U+%04X is of class %d", (unsigned)c, class);
    }
    CHECK(letters > 130000);
}

/* ends_behind_a_character -- of any text; each segment has something. */
static void ends_behind_a_character(void) {
    random_source r = random_start(1);
    for (uint64_t i = random_rounds("TANSU_ROUNDS", ROUNDS); i > 0; i--) {
        static const uint32_t scopes[] = {0x80, 0x600, 0x3100, 0x10000, 0x110000};
        uint8_t text[128];
        size_t size = 0;
        uint32_t classes;
        while (size < 100) {
            uint32_t c = (uint32_t)random_below(&r, scopes[random_below(&r, 5)]);
            if (c < 0xD800 || c >= 0xE000)
                size += utf8_encode(c, text + size);
        }
        for (size_t at = 0; at < size;) {
            size_t end = word_end(text, size, at, &classes);
            if (!CHECK(end > at && end <= size && classes != 0) ||
                !CHECK(end == size || (text[end] & 0xC0) != 0x80))
                return;
            at = end;
        }
    }
}

int main(void) {
    RUN(breaks_as_unicode_does);
    RUN(knows_every_character);
    RUN(ends_behind_a_character);
    return check_finish();
}
