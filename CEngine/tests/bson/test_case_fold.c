/*
 * test_case_fold.c -- case folding: every character as utf8proc folds it, and bytes that are not
 * UTF-8 as they are.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many texts are tried (100000).
 */
#include "bson/case_fold.h"
#include "bson/case_foldings.h"
#include "support/check.h"
#include "support/random/random.h"
#include "util/buffer.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#define DEFAULT_ROUNDS 100000
#define MOST 24 /* bytes of a random text */

/* judge_character -- folds the character at `text` by utf8proc and returns its size; a byte that
 * begins none is copied. */
static size_t judge_character(const uint8_t *text, size_t size, uint8_t *out, size_t *length) {
    utf8proc_int32_t character, folded[8];
    int boundary = 0;
    utf8proc_ssize_t step = utf8proc_iterate(text, (utf8proc_ssize_t)size, &character);
    *length = 0;
    if (step <= 0) {
        out[(*length)++] = *text;
        return 1;
    }
    utf8proc_ssize_t count =
        utf8proc_decompose_char(character, folded, 8, UTF8PROC_CASEFOLD, &boundary);
    REQUIRE(count >= 0 && count <= 8);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        *length += (size_t)utf8proc_encode_char(folded[i], out + *length);
    return (size_t)step;
}

/* version_of_utf8proc -- the major version of its Unicode. */
static int version_of_utf8proc(void) {
    return atoi(utf8proc_unicode_version());
}

/* is_judged -- whether utf8proc knows a character as ours does: by an older Unicode it may be
 * unassigned, by a newer one it may have got a folding. */
static bool is_judged(uint32_t c, uint32_t count) {
    bool assigned = utf8proc_get_property((utf8proc_int32_t)c)->category != UTF8PROC_CATEGORY_CN;
    int version = version_of_utf8proc();
    return version == 15 || (version < 15 ? assigned : count > 0);
}

/* folds_every_character -- all scalars, and nothing behind them. */
static void folds_every_character(void) {
    tansu_buffer out = TANSU_BUFFER_INIT;
    unsigned changed = 0, several = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint8_t text[4], expected[32];
        uint32_t folded[CASE_FOLDING_MOST];
        if (c >= 0xD800 && c < 0xE000)
            continue;
        size_t size = utf8_encode(c, text), length;
        uint32_t count = case_folding(c, folded);
        changed += count > 0;
        several += count > 1;
        out.size = 0;
        REQUIRE(fold_text(&out, (const char *)text, size));
        judge_character(text, size, expected, &length);
        if (is_judged(c, count) && !CHECK_BYTES(expected, length, out.data, out.size))
            check_note("U+%04X", (unsigned)c);
    }
    CHECK_INT(1530, changed);
    CHECK_INT(104, several);
    tansu_buffer_free(&out);
}

/* is_stable -- the folding of a folding is itself. */
static void is_stable(void) {
    for (uint32_t c = 0; c < 0x110000; c++) {
        uint32_t folded[CASE_FOLDING_MOST], again[CASE_FOLDING_MOST];
        for (uint32_t i = case_folding(c, folded); i > 0; i--) {
            if (!CHECK_INT(0, case_folding(folded[i - 1], again)))
                check_note("U+%04X", (unsigned)c);
        }
    }
}

/* folds_alike -- our folding of a text and utf8proc's. */
static bool folds_alike(const uint8_t *text, size_t size) {
    static tansu_buffer expected, folded;
    /* Memory of exactly its size, so that a sanitizer sees what is read behind it. */
    uint8_t *exact = malloc(size != 0 ? size : 1), one[32];
    REQUIRE(exact != NULL);
    memcpy(exact, text, size);
    expected.size = folded.size = 0;
    for (size_t at = 0, length; at < size;) {
        at += judge_character(exact + at, size - at, one, &length);
        REQUIRE(buffer_append(&expected, one, length));
    }
    bool same = CHECK(fold_text(&folded, (const char *)exact, size)) &&
                CHECK_BYTES(expected.data, expected.size, folded.data, folded.size);
    free(exact);
    return same;
}

/* copies_what_is_no_utf8 -- every sequence of up to three bytes, and of four with the bounds of
 * each byte. */
static void copies_what_is_no_utf8(void) {
    static const uint8_t bounds[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                     0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                     0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF};
    const size_t count = sizeof bounds;
    for (uint32_t i = 0; i < 0x10000; i++) {
        if (!folds_alike((const uint8_t[]){(uint8_t)(i >> 8), (uint8_t)i}, 2))
            return;
    }
    for (size_t i = 0; i < count * count * count * count; i++) {
        const uint8_t text[] = {bounds[i % count], bounds[i / count % count],
                                bounds[i / count / count % count],
                                bounds[i / count / count / count]};
        if (!folds_alike(text, 4) || !folds_alike(text, 3) || !folds_alike(text, 1))
            return;
    }
}

/* folds_random_texts -- characters of all sizes, and changed bytes. */
static void folds_random_texts(void) {
    random_source r = random_start(1);
    if (version_of_utf8proc() != 15) {
        check_skip("utf8proc has another version of Unicode: %s", utf8proc_unicode_version());
        return;
    }
    for (uint64_t i = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS); i > 0; i--) {
        static const uint32_t scopes[] = {0x80, 0x250, 0x600, 0x3000, 0x10000, 0x110000};
        uint8_t text[MOST + 4];
        size_t size = 0, most = random_below(&r, MOST + 1);
        while (size < most) {
            uint32_t c = (uint32_t)random_below(&r, scopes[random_below(&r, 6)]);
            if (c < 0xD800 || c >= 0xE000)
                size += utf8_encode(c, text + size);
        }
        if (size > 0 && random_chance(&r, 50))
            text[random_below(&r, size)] = (uint8_t)random_next(&r);
        if (!folds_alike(text, size))
            return;
    }
}

int main(void) {
    RUN(folds_every_character);
    RUN(is_stable);
    RUN(copies_what_is_no_utf8);
    RUN(folds_random_texts);
    return check_finish();
}
