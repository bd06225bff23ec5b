/*
 * test_fold.c -- the forms of words: characters as utf8proc decomposes them, and texts that are
 * canonically equivalent.
 */
#include "support/check.h"
#include "text/fold.h"
#include "text/plain_letters.h"
#include "text/word_class.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* folded -- the form of a text; NUL-terminated, until the next call. */
static const char *folded(const char *text, size_t size, enum fold_form form) {
    static tansu_buffer out;
    out.size = 0;
    REQUIRE(fold_word(&out, (const uint8_t *)text, size, form) && buffer_append_byte(&out, 0));
    return (const char *)out.data;
}

/* plain -- the form of which terms are. */
static const char *plain(const char *text) {
    return folded(text, strlen(text), FOLD_ALL);
}

/* removes_case_accents_and_forms -- of words that people write. */
static void removes_case_accents_and_forms(void) {
    static const char *const words[][2] = {
        {"ÉCOLE", "ecole"},       {"Straße", "strasse"},
        {"ΟΔΥΣΣΕΎΣ", "οδυσσευσ"}, {"İstanbul", "istanbul"},
        {"Łódź", "lodz"},         {"Tromsø", "tromso"},
        {"Ærø", "aero"},          {"Việt", "viet"},
        {"Ёлка", "елка"},         {"Ｆｕｌｌ", "full"},
        {"ﬁne", "fine"},          {"Ⅳ", "iv"},
        {"O’Neill", "o'neill"},   {"co\u00ADop", "coop"},
        {"שָׁלוֹם", "שלום"},         {"أحمد", "احمد"},
        {"ｶﾞｰﾙ", "ガール"},       {"が", "が"},
        {"한국", "한국"},         {"क़लम", "क\u093Cलम"},
        {"𝗯𝗼𝗹𝗱", "bold"},         {"", ""},
        {"\u0301", ""},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK_TEXT(words[i][1], plain(words[i][0]));
    CHECK_TEXT("école", folded("E\u0301COLE", 7, FOLD_CASE));
    CHECK_TEXT("й", folded("И\u0306", 4, FOLD_CASE));
    CHECK_TEXT("straße", folded("Straße", 7, FOLD_CASE));
    CHECK_TEXT("αεροπλοΐα", folded("Αεροπλοΐα", 18, FOLD_CASE));
    CHECK_TEXT("ալևի", folded("ալևի", 8, FOLD_CASE));
    CHECK_TEXT("क\u200Dष", folded("क\u200Dष", 9, FOLD_CASE));
}

/* is_left_out -- characters that plain_letters() does not know, or knows beyond Unicode's data. */
static bool is_left_out(uint32_t c) {
    static const uint32_t letters[] = {0xE6,  0xF0,  0xF8,  0xFE,  0x111, 0x127, 0x131,
                                       0x142, 0x153, 0x167, 0x1E3, 0x1FD, 0x1FF};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i] == c)
            return true;
    }
    return (c >= 0xFB50 && c <= 0xFEFC) || (c >= 0x1EE00 && c <= 0x1EEFF) ||
           (c >= 0x3131 && c <= 0x318E) || (c >= 0xFFA0 && c <= 0xFFDC) ||
           (c >= 0x3250 && c <= 0x33FF) || (c >= 0x2460 && c <= 0x24FF) ||
           (c >= 0x1F100 && c <= 0x1F2FF) || (c >= 0x2E80 && c <= 0x2FDF) ||
           (c >= 0x1FBF0 && c <= 0x1FBF9);
}

/* decomposed -- a character as utf8proc writes it: small, without accents, in its plain form. */
static void decomposed(uint32_t c, char *out) {
    utf8proc_int32_t parts[64];
    uint8_t text[8];
    size_t size = utf8_encode(c, text), length = 0;
    utf8proc_ssize_t count = utf8proc_decompose(text, (utf8proc_ssize_t)size, parts, 64,
                                                UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                    UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        length += utf8_encode((uint32_t)parts[i], (uint8_t *)out + length);
    out[length] = '\0';
}

/* agrees_with_utf8proc -- the folding of each letter, digit and mark, and the folding of what utf8proc
 * decomposes it to, are the same. */
static void agrees_with_utf8proc(void) {
    unsigned compared = 0;
    if (strncmp(utf8proc_unicode_version(), "15", 2) != 0) {
        check_skip("utf8proc has another version of Unicode: %s", utf8proc_unicode_version());
        return;
    }
    for (uint32_t c = 0x80; c < 0x110000; c++) {
        enum word_class class = word_class_of(c);
        char text[8] = "", parts[300], expected[300];
        utf8proc_category_t category =
            (utf8proc_category_t)utf8proc_get_property((utf8proc_int32_t)c)->category;
        if (class == WORD_OTHER || class > WORD_COMPLEX || is_left_out(c) ||
            category == UTF8PROC_CATEGORY_CN || (c >= 0xF900 && c <= 0xFAFF) ||
            (c >= 0x2F800 && c <= 0x2FA1F))
            continue;
        utf8_encode(c, (uint8_t *)text);
        decomposed(c, parts);
        strcpy(expected, plain(parts));
        compared++;
        if (!CHECK_TEXT(expected, plain(text)))
            check_note("U+%04X", (unsigned)c);
    }
    CHECK(compared > 130000);
}

/* is_stable -- the folding of a folding is itself. */
static void is_stable(void) {
    for (uint32_t c = 1; c < 0x110000; c++) {
        char text[8] = "", once[64];
        if (c >= 0xD800 && c < 0xE000)
            continue;
        utf8_encode(c, (uint8_t *)text);
        strcpy(once, plain(text));
        if (!CHECK_TEXT(once, plain(once)))
            check_note("U+%04X", (unsigned)c);
    }
}

/* cuts_long_words -- a term has a bound, and ends behind a character. */
static void cuts_long_words(void) {
    char word[4 * WORD_CHARACTERS_MAX + 40];
    size_t size = 0;
    for (unsigned i = 0; i < WORD_CHARACTERS_MAX + 10; i++)
        size += utf8_encode(0x6771, (uint8_t *)word + size);
    CHECK_INT(3 * WORD_CHARACTERS_MAX, strlen(folded(word, size, FOLD_ALL)));
    memset(word, 'A', sizeof word);
    CHECK_INT(WORD_CHARACTERS_MAX, strlen(folded(word, sizeof word, FOLD_CASE)));
}

int main(void) {
    RUN(removes_case_accents_and_forms);
    RUN(agrees_with_utf8proc);
    RUN(is_stable);
    RUN(cuts_long_words);
    return check_finish();
}
