/*
 * test_highlight.c -- the places in a text that a search finds, and snippets of the text.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many searches are tried.
 */
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/libraries.h"
#include "support/random/random.h"
#include "support/text.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 3000

/* highlight -- tansu_highlight() of JSON, or its error. The result is to be freed. */
static tansu_status highlight(const char *text, size_t size, const char *search,
                              const char *options, tansu_buffer *result, tansu_error *error) {
    bson_t *s = bson_from_text(search), *o = bson_from_text(options);
    tansu_status status =
        tansu_highlight(text, size, document_of(s), document_of(o), result, error);
    bson_destroy(s);
    bson_destroy(o);
    return status;
}

/* range_of -- the members "start" and "end" of a document. */
static void range_of(bson_iter_t *iter, int64_t *start, int64_t *end) {
    bson_iter_t child;
    REQUIRE(bson_iter_recurse(iter, &child) && bson_iter_find(&child, "start"));
    *start = bson_iter_int64(&child);
    REQUIRE(bson_iter_recurse(iter, &child) && bson_iter_find(&child, "end"));
    *end = bson_iter_int64(&child);
}

/* put_marked -- the bytes from `at` to `end` of a text, with brackets around the ranges. */
static void put_marked(text *t, const char *string, int64_t at, int64_t end, bson_iter_t *ranges) {
    while (bson_iter_next(ranges)) {
        int64_t first, last;
        range_of(ranges, &first, &last);
        REQUIRE(CHECK(at <= first && first < last && last <= end));
        put(t, "%.*s[%.*s]", (int)(first - at), string + at, (int)(last - first), string + first);
        at = last;
    }
    put(t, "%.*s", (int)(end - at), string + at);
}

/* shown -- a text with its places in brackets, then its snippets after " | "; or the error. */
static const char *shown(const char *string, const char *search, const char *options) {
    static text t;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t doc;
    bson_iter_t iter, list, snippet, ranges;
    t.size = 0;
    tansu_status status = highlight(string, SIZE_MAX, search, options, &result, &error);
    if (status != TANSU_OK) {
        put(&t, "%s at %s", tansu_status_name(status), error.context);
        tansu_buffer_free(&result);
        return t.bytes;
    }
    REQUIRE(bson_init_static(&doc, result.data, result.size));
    REQUIRE(bson_iter_init_find(&iter, &doc, "ranges") && bson_iter_recurse(&iter, &list));
    put_marked(&t, string, 0, (int64_t)strlen(string), &list);
    REQUIRE(bson_iter_init_find(&iter, &doc, "snippets") && bson_iter_recurse(&iter, &list));
    int64_t last = 0;
    while (bson_iter_next(&list)) {
        int64_t start, end;
        range_of(&list, &start, &end);
        REQUIRE(bson_iter_recurse(&list, &snippet) && bson_iter_find(&snippet, "ranges") &&
                bson_iter_recurse(&snippet, &ranges));
        REQUIRE(CHECK(last <= start && start < end));
        put(&t, " | ");
        put_marked(&t, string, start, end, &ranges);
        last = end;
    }
    tansu_buffer_free(&result);
    return t.bytes;
}

typedef struct sample {
    const char *text, *search, *result;
} sample;

static void marks_what_is_found(void) {
    static const sample samples[] = {
        {"Dark roast, dark.", "{'$search':'dark'}", "[Dark] roast, [dark]."},
        {"Dark roast", "{'$search':'tea'}", "Dark roast"},
        {"", "{'$search':'tea'}", ""},
        {"Dark roast", "{'$search':'...'}", "Dark roast"},
        {"A dark roast, not dark", "{'phrase':'dark roast'}", "A [dark roast], not dark"},
        {"A dark roast, not dark", "{'$search':'\\\"dark roast\\\"'}",
         "A [dark roast], not [dark]"},
        {"a b c d", "{'any':[{'phrase':'a b'},{'phrase':'b c'}]}", "[a b c] d"},
        {"a a a b", "{'phrase':'a a'}", "[a a a] b"},
        {"a, a a b", "{'all':['a'],'not':['b']}", "[a], [a] [a] b"},
        {"only the title", "{'all':['title','body']}", "only the [title]"},
        {"work, worker or word", "{'prefix':'work'}", "[work], [worker] or word"},
        {"roast rost tost", "{'fuzzy':'roost'}", "[roast] [rost] tost"},
        {"dark x roast x x x x dark", "{'near':'dark roast','within':2}",
         "[dark] x [roast] x x x x dark"},
        {"roast dark dark x x dark", "{'near':'dark roast','within':2}",
         "[roast] [dark] [dark] x x dark"},
        {"roast dark x roast", "{'near':'dark roast','within':2,'ordered':true}",
         "roast [dark] x [roast]"},
        {"b a a a a a a x a", "{'near':'a b a a','within':2}", "[b] [a] [a] [a] [a] a a x a"},
        {"dark x dark x x x dark", "{'near':'dark dark','within':2}", "[dark] x [dark] x x x dark"},
        {"Das Café, cafés", "{'$search':'CAFE'}", "Das [Café], cafés"},
        {"Das Café, cafe", "{'$search':'café','$diacriticSensitive':true}", "Das [Café], cafe"},
        {"Café cafe", "{'word':'Cafe','caseSensitive':true}", "[Café] cafe"},
        {"東京都は東京", "{'$search':'東京都'}", "[東京都]は東京"},
        {"東京都は東京", "{'$search':'東京'}", "[東京]都は[東京]"},
        {"我喜欢喝咖啡。", "{'$search':'喜欢喝咖'}", "我[喜欢喝咖]啡。"},
        {"see foo_bar and bar", "{'$search':'bar'}", "see foo_[bar] and [bar]"},
        {"see foo_bar", "{'$search':'bar foo_bar'}", "see [foo_bar]"},
        {"l'amour est", "{'word':'amour'}", "l'[amour] est"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (!CHECK_TEXT(samples[i].result, shown(samples[i].text, samples[i].search, NULL)))
            check_note("%s", samples[i].search);
}

static void stems_are_found(void) {
    if (!library_stemmer())
        return;
    CHECK_TEXT("[Running] foxes", shown("Running foxes", "{'$search':'run'}", "{'language':'en'}"));
    CHECK_TEXT("[Running] foxes",
               shown("Running foxes", "{'$search':'run','$language':'en'}", NULL));
    CHECK_TEXT("Running foxes", shown("Running foxes", "{'$search':'run'}", NULL));
    CHECK_TEXT("[Running foxes]",
               shown("Running foxes", "{'phrase':'run fox'}", "{'language':'english'}"));
}

static void paths_leave_parts_out(void) {
    const char *search = "{'any':['a',{'word':'b','path':'title'},{'word':'c','path':['x','y']}]}";
    CHECK_TEXT("[a] [b] [c]", shown("a b c", search, NULL));
    CHECK_TEXT("[a] [b] c", shown("a b c", search, "{'path':'title'}"));
    CHECK_TEXT("[a] b [c]", shown("a b c", search, "{'path':'y'}"));
    CHECK_TEXT("[a] b c", shown("a b c", search, "{'path':'body'}"));
    CHECK_TEXT("a b c", shown("a b c", "{'word':'a','path':'title'}", "{'path':'body'}"));
}

static void snippets_have_most_words(void) {
    static const struct {
        const char *text, *search, *options, *snippets;
    } samples[] = {
        {"1 2 3 dark 5 6 7", "{'word':'dark'}", "{'snippets':1,'snippetWords':3}", "3 [dark] 5"},
        {"1 2 3 dark 5 6 7", "{'word':'dark'}", "{'snippets':3,'snippetWords':4}", "3 [dark] 5 6"},
        {"dark 2 3 4 5 6 7", "{'word':'dark'}", "{'snippets':1,'snippetWords':3}", "[dark] 2 3"},
        {"1 2 3 4 5, dark!", "{'word':'dark'}", "{'snippets':1,'snippetWords':3}", "4 5, [dark]"},
        {"1 2 dark", "{'word':'dark'}", "{'snippets':1}", "1 2 [dark]"},
        {"1 2 dark", "{'word':'tea'}", "{'snippets':1}", NULL},
        {"1 2 dark", "{'word':'dark'}", "{'snippets':0}", NULL},
        /* The most different words, then the most places. */
        {"a a a x x x x a b x x x b", "{'any':['a b']}", "{'snippets':1,'snippetWords':3}",
         "[a] [b] x"},
        {"a x x x a a x x x a", "{'any':['a b']}", "{'snippets':1,'snippetWords':3}", "[a] [a] x"},
        /* In the order of the text. */
        {"a 1 2 3 4 5 a b 8 9 a a", "{'any':['a b']}", "{'snippets':3,'snippetWords':2}",
         "[a] 1 | [a] [b] | [a] [a]"},
        {"a a a a a", "{'word':'a'}", "{'snippets':9,'snippetWords':2}", "[a] [a] | [a] [a] | [a]"},
        /* A phrase is not cut, unless it is longer than a snippet. */
        {"a 1 2 a b c 6", "{'any':['a',{'phrase':'a b c'}]}", "{'snippets':2,'snippetWords':3}",
         "[a] 1 2 | [a b c]"},
        {"1 a b c d", "{'phrase':'a b c'}", "{'snippets':1,'snippetWords':2}", "[a b]"},
        {"x 1,234.5 y", "{'word':'5'}", "{'snippets':1,'snippetWords':1}", "1,234.[5]"},
        {"x foo_bar y", "{'word':'foo'}", "{'snippets':1,'snippetWords':1}", "[foo]_bar"},
        {"我喜欢喝咖啡", "{'word':'喝'}", "{'snippets':1,'snippetWords':3}", "欢[喝]咖"},
        {"a b a b", "{'all':['a'],'not':['b']}", "{'snippets':1,'snippetWords':1}", "[a]"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const char *all = shown(samples[i].text, samples[i].search, samples[i].options);
        const char *snippets = strstr(all, " | ");
        if (!CHECK_TEXT(samples[i].snippets, snippets ? snippets + 3 : NULL))
            check_note("%s of %s", samples[i].search, samples[i].text);
    }
}

static void says_what_is_wrong(void) {
    static const sample samples[] = {
        {"x", "{}", "INVALID_QUERY at "},
        {"x", "{'any':['x',{'near':'a','within':0}]}", "INVALID_QUERY at any.1.within"},
        {"x", "{'word':'x','language':'klingon'}", "INVALID_QUERY at language"},
        {"\xFF", "{'word':'x'}", "INVALID_ARGUMENT at text"},
    };
    static const char *const options[][2] = {
        {"{'language':1}", "INVALID_QUERY at language"},
        {"{'snippets':101}", "INVALID_QUERY at snippets"},
        {"{'snippets':-1}", "INVALID_QUERY at snippets"},
        {"{'snippetWords':0}", "INVALID_QUERY at snippetWords"},
        {"{'snippetWords':1001}", "INVALID_QUERY at snippetWords"},
        {"{'path':''}", "INVALID_QUERY at path"},
        {"{'words':1}", "INVALID_QUERY at words"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (i != 2 || library_stemmer())
            CHECK_TEXT(samples[i].result, shown(samples[i].text, samples[i].search, NULL));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        CHECK_TEXT(options[i][1], shown("x", "{'word':'x'}", options[i][0]));
}

/* ---- Random texts ---- */

/* word_count -- how many words a text has, as the analysis counts them. */
static int64_t word_count(const char *string, size_t size) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_iter_t iter;
    REQUIRE(CHECK_OK(tansu_analyze(string, size, TANSU_NO_DOCUMENT, &result, NULL), NULL));
    REQUIRE(bson_init_static(&doc, result.data, result.size) &&
            bson_iter_init_find(&iter, &doc, "words"));
    int64_t count = bson_iter_int64(&iter);
    tansu_buffer_free(&result);
    return count;
}

/* Whatever text and search: ranges and snippets are in order and do not overlap (shown() checks it),
 * snippets have no more words than they may, and each has a place. */
static void holds_for_random_texts(void) {
    static const char *const parts[] = {"a ",   "b ",   "a",  "b",  "c ", "c. ",
                                        "x_y ", "東京", "東", "é ", "x ", "y "};
    static const char *const searches[] = {
        "{'$search':'a \\\"b c\\\" x_y'}",
        "{'any':['a','b*',{'phrase':'a b'},{'near':'a c','within':3}]}",
        "{'any':[{'near':'a b a','within':4,'ordered':true},'東京','y'],'not':['c']}",
        "{'any':[{'fuzzy':'ab'},'x_y',{'near':['a','a','b'],'within':5}]}",
    };
    random_source r = random_start(1);
    uint64_t found = 0;
    for (uint64_t i = random_rounds("TANSU_ROUNDS", ROUNDS); i > 0; i--) {
        char string[600] = "", options[100];
        for (uint64_t j = random_below(&r, 80); j > 0; j--)
            strcat(string, parts[random_below(&r, sizeof parts / sizeof *parts)]);
        int64_t most = random_between(&r, 1, 12);
        snprintf(options, sizeof options, "{'snippets':%d,'snippetWords':%d}",
                 (int)random_below(&r, 6), (int)most);
        const char *search = searches[random_below(&r, 4)];
        char *all = strdup(shown(string, search, options)), *at = all;
        REQUIRE(all != NULL);
        while ((at = strstr(at, " | "))) {
            char snippet[1200];
            size_t size = 0, places = 0;
            for (at += 3; *at && strncmp(at, " | ", 3) != 0; at++) {
                places += *at == '[';
                if (*at != '[' && *at != ']')
                    snippet[size++] = *at;
            }
            found++;
            /* A snippet begins and ends with whole words, of up to two parts. */
            if (!CHECK(places > 0 && word_count(snippet, size) <= most + 2))
                check_note("%s in %s: %s", search, string, all);
        }
        free(all);
    }
    CHECK(found > 0);
}

/* ---- Long texts and little memory ---- */

#define LONG ((size_t)16 << 20)

/* expect_long -- the status of a search in a long text, and how many places it finds. */
static void expect_long(const char *string, const char *search, tansu_status expected,
                        uint32_t places) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t doc;
    bson_iter_t iter, list;
    tansu_status status =
        highlight(string, LONG, search, "{'snippets':100,'snippetWords':1000}", &result, &error);
    if (CHECK_STATUS(expected, status) && status == TANSU_OK) {
        uint32_t count = 0;
        REQUIRE(bson_init_static(&doc, result.data, result.size) &&
                bson_iter_init_find(&iter, &doc, "ranges") && bson_iter_recurse(&iter, &list));
        while (bson_iter_next(&list))
            count++;
        CHECK_INT(places, count);
    }
    tansu_buffer_free(&result);
}

/* What needs more than a few steps for each word would not end. */
static void long_texts_take_linear_time(void) {
    char *string = malloc(LONG), search[1000] = "{'near':'a b", *end = search + strlen(search);
    REQUIRE(string != NULL);
    for (size_t i = 0; i < LONG; i++)
        string[i] = i % 2 == 0 ? 'a' : ' ';
    expect_long(string, "{'word':'a'}", TANSU_E_TOO_LARGE, 0);
    expect_long(string, "{'phrase':'a a a b'}", TANSU_OK, 0);
    for (size_t i = 0; i < LONG; i += 20000)
        string[i] = 'b';
    size_t places = (LONG + 19999) / 20000;
    expect_long(string, "{'phrase':'a a a a a a a a b a'}", TANSU_OK, (uint32_t)places - 1);
    expect_long(string, "{'near':'b a a a','within':1,'ordered':true}", TANSU_OK, 0);
    expect_long(string, "{'any':['b',{'near':'b b','within':1000}]}", TANSU_OK, (uint32_t)places);
    expect_long(string, "{'near':'a b','within':10}", TANSU_OK, (uint32_t)(21 * places - 10));
    expect_long(string, "{'near':'a b','within':1000}", TANSU_E_TOO_LARGE, 0);
    /* Each of the 99 is within 60 of the first. */
    for (int i = 0; i < 98; i++)
        end += snprintf(end, 4, " a");
    strcpy(end, "','within':60}");
    expect_long(string, search, TANSU_OK, (uint32_t)(241 * places - 120));
    memset(string, 'a', LONG);
    expect_long(string, "{'any':['b',{'prefix':'aa'}]}", TANSU_OK, 1);
    free(string);
}

static void survives_lack_of_memory(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail");
        return;
    }
    bson_t *search = bson_from_text("{'any':['dark \\\"dark roast\\\"',{'near':['dark','beans']},"
                                    "'be*'],'not':['light'],'caseSensitive':true}");
    bson_t *options = bson_from_text("{'snippets':3}");
    unsigned failures = 0;
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        tansu_buffer result = TANSU_BUFFER_INIT;
        fault_start(FAULT_OWN_MEMORY, nth, false, 0);
        tansu_status status =
            tansu_highlight("A dark roast of dark beans", SIZE_MAX, document_of(search),
                            document_of(options), &result, NULL);
        met = fault_occurred();
        fault_stop();
        failures += met && CHECK_STATUS(TANSU_E_MEMORY, status);
        if (!met)
            CHECK_STATUS(TANSU_OK, status);
        tansu_buffer_free(&result);
    }
    CHECK(failures > 10);
    bson_destroy(search);
    bson_destroy(options);
}

int main(void) {
    RUN(marks_what_is_found);
    RUN(stems_are_found);
    RUN(paths_leave_parts_out);
    RUN(snippets_have_most_words);
    RUN(says_what_is_wrong);
    RUN(holds_for_random_texts);
    RUN(long_texts_take_linear_time);
    RUN(survives_lack_of_memory);
    return check_finish();
}
